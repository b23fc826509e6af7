# compile.sh - models to files: the same bytes twice, nothing half-written, everything lacking listed.
. "$ROOT/test/cli/common.inc"

dense dense.onnx
unary abs.onnx Abs
unary odd.onnx NoSuchOperator

run_as 0 compile dense.onnx -o a.holo
for word in nodes moved weights arena tables time; do has out "$word"; done
run_as 0 compile dense.onnx -o b.holo -q
lines out 0
cmp -s a.holo b.holo || fail "compiling twice gave different bytes"
run_as 0 compile dense.onnx -o c.holo --no-optimize
run_as 0 compile dense.onnx -o c.holo --numerics exact --dim batch=4
run_as 0 run c.holo
has out "float32 [4, 3]"
run_as 0 compile dense.onnx -o c.holo --shape x=5x2
run_as 0 run c.holo
has out "float32 [5, 3]"
run_as 0 compile dense.onnx -o c.holo --dim 'batch<=8'
run_as 0 run c.holo --dim batch=8
has out "float32 [8, 3]"

# Several models in one file.
run_as 0 compile dense.onnx abs.onnx -o both.holo
run_as 1 run both.holo
has err "both.holo:GRAPH"
run_as 0 run both.holo:abs
has out "float32 [2, 2]"
run_as 1 run both.holo:cos
has err "no graph 'cos'"

run_as 1 compile odd.onnx -o odd.holo
has err NoSuchOperator
absent odd.holo odd.holo.*
run_as 1 compile odd.onnx --check
has err NoSuchOperator
run_as 0 compile dense.onnx --check
run_as 0 compile dense.onnx --dump-after import
has out MatMul
run_as 1 compile dense.onnx -o c.holo --dump-after no_such_pass
run_as 1 compile dense.onnx -o c.holo --disable no_such_pass

# What is read is not replaced, whatever it is called.
cp dense.onnx model.onnx
ln -s model.onnx link.onnx
for to in -o --emit-c --emit-onnx; do
    run_as 2 compile model.onnx "$to" ./model.onnx
    has err "is the model itself"
done
run_as 2 compile model.onnx -o link.onnx
run_as 2 compile model.onnx -o c.holo --report model.onnx
cmp -s dense.onnx model.onnx || fail "a compile replaced its model"

# What cannot be written leaves what was there.
cp a.holo keep.holo
run_as 1 compile odd.onnx -o keep.holo
cmp -s a.holo keep.holo || fail "a failed compile changed the old file"
run_as 1 compile dense.onnx -o no/such/folder/a.holo
has err no/such/folder
mkdir folder.holo
run_as 1 compile dense.onnx -o folder.holo
rmdir folder.holo || fail "something was left in folder.holo"

run_as 0 compile dense.onnx -o a.holo --report a.html
grep -qi '<html' a.html || fail "the report is no page"
! grep -qE '(src|href)="https?:' a.html || fail "the report needs the network"
run_as 0 inspect a.holo
has out matmul
run_as 0 inspect a.holo --json
grep -q '^{' out || fail "inspect --json prints no object"
run_as 0 inspect a.holo --program
run_as 0 inspect a.holo --html b.html
run_as 0 inspect a.holo --check -q
lines out 0

# A cut file is refused.
size=$(wc -c <a.holo)
head -c $((size / 2)) a.holo >cut.holo
run_as 1 inspect cut.holo
lines err 1
ls -- *.tmp* >/dev/null 2>&1 && fail "temporary files were left: $(ls -- *.tmp*)"
# Shapes that only fit when a Squeeze without axes took a batch of 1 away.
whole_of() { # NAME OF - a Cast to int64
    bytes 1 "$(node Cast "$1" "$2" "$1")$(bytes 5 "$(text 1 to)$(number 3 7)$(number 20 2)")"
}
unhex "$(model "$(bytes 1 "$(node Squeeze squeeze x s)")$(whole_of limit s)$(whole_of start zero)$(whole_of step one)$(
    bytes 1 "$(node Range range "start limit step" y)"
)$(text 2 counter)$(bytes 5 "$(tensor "" zero 0)")$(bytes 5 "$(tensor "" one 1)")$(
    bytes 11 "$(value x batch 1)"
)$(bytes 12 "$(value y n | sed 's/0801/0807/')")")" >counter.onnx
run_as 0 compile counter.onnx -o counter.holo
has err "batch is taken to be 1"
run_as 0 bench counter.holo --inputs 'x:float32:1,1:const=3' --cold
run_as 1 bench counter.holo --inputs 'x:float32:2,1:const=3' --cold
has err "'x'"
run_as 1 compile counter.onnx -o counter.holo --dim batch=2
has err "Range"
finish
