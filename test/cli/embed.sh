# embed.sh - a model as C source, header and object file: the same bytes, linked and run; what is refused.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
run_as 0 compile dense.onnx -o my-dense.2.holo -q
size=$(wc -c <my-dense.2.holo | tr -d ' ')

for ending in c h o; do
    run_as 0 embed my-dense.2.holo -o "m.$ending"
    has err "my_dense_2 and my_dense_2_size"
    lines out 0
    run_as 0 embed my-dense.2.holo -o "again.$ending" -q
    lines err 0
    cmp -s "m.$ending" "again.$ending" || fail "two runs gave different .$ending files"
done
has m.h "extern const unsigned char my_dense_2[]; /* $size bytes, aligned to 64 */"
run_as 0 embed dense.onnx -o compiled.c -q
has compiled.c "dense_size = $size;"

# What a program finds behind the two names.
cat >show.c <<'C'
#include "m.h"
#include <stdint.h>
#include <stdio.h>
int main(void)
{
    if ((uintptr_t)my_dense_2 % 64 != 0) return 3;
    return fwrite(my_dense_2, 1, my_dense_2_size, stdout) == my_dense_2_size ? 0 : 4;
}
C
if command -v cc >/dev/null; then
    for ending in c o; do
        cc -Wall -Wextra -Werror show.c "m.$ending" -o "show_$ending" 2>err || fail "linking m.$ending: $(cat err)"
        ./"show_$ending" >bytes || fail "m.$ending: exit code $?"
        cmp -s bytes my-dense.2.holo || fail "m.$ending holds other bytes"
    done
fi
if command -v c++ >/dev/null; then
    cp m.c m.cpp && cp show.c show.cpp
    c++ -Wall -Wextra -Werror show.cpp m.cpp -o show_cpp 2>err || fail "C++: $(cat err)"
    ./show_cpp >bytes && cmp -s bytes my-dense.2.holo || fail "C++ holds other bytes"
fi
if command -v readelf >/dev/null; then
    run_as 0 embed my-dense.2.holo -o arm.o --target aarch64 --symbol weights -q
    readelf -hsSW arm.o >elf 2>warnings || fail "readelf refuses arm.o"
    lines warnings 0
    has elf AArch64
    has elf weights_size
    has elf .note.GNU-stack
fi

# The command line is at fault.
run_as 2 embed my-dense.2.holo
has err "-o OUT.c"
run_as 2 embed my-dense.2.holo -o model.txt
has err "ends in .c, .h or .o"
for name in 1x a-b 'a b' int ''; do
    run_as 2 embed my-dense.2.holo -o x.c --symbol "$name"
    has err "--symbol"
done
cp my-dense.2.holo double.holo
run_as 2 embed double.holo -o x.c
has err "give --symbol"
run_as 2 embed my-dense.2.holo -o x.o --target m68k
# The file is.
head -c 100 my-dense.2.holo >cut.holo
run_as 1 embed cut.holo -o x.c
lines err 1
run_as 1 embed missing.holo -o x.c
run_as 1 embed my-dense.2.holo -o missing/x.c
absent x.c x.o missing ./*.tmp

# A disk that is full: one sentence, and what was there before stays.
run_as 0 compile "$ROOT/examples/text2image/models/text_encoder.onnx" -o big.holo -q
echo before >big.o
code=0
trap '' XFSZ
(ulimit -f 8 && exec "$HOLOGRAM" embed big.holo -o big.o) >out 2>err || code=$?
[ "$code" -eq 1 ] || fail "a full disk: exit code $code"
lines err 1
[ "$(cat big.o)" = before ] || fail "the old file was touched"

# A signal while a reader holds the write back: nothing is left behind.
mkfifo slow.c
"$HOLOGRAM" embed big.holo -o slow.c >out 2>err &
pid=$!
exec 3<slow.c
sleep 1
kill -TERM "$pid"
cat <&3 >/dev/null
exec 3<&-
code=0
wait "$pid" || code=$?
[ "$code" -eq 143 ] || fail "an interrupted embed ended with code $code"
has err interrupted
absent ./*.tmp
finish
