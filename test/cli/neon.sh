# neon.sh - the kernel "table" for NEON equals the reference: cross-compiled, run by an emulator. Skipped without
# gcc-aarch64-linux-gnu and qemu-user.
. "$ROOT/test/cli/common.inc"

cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null || exit 77
command -v qemu-aarch64 >/dev/null || exit 77
echo 'X(kernel_table)' >test_list.inc
if ! $cc -std=c11 -O2 -static -D_GNU_SOURCE -Wall -Wextra -Werror -I. -I"$ROOT/include" -I"$ROOT/src" -I"$ROOT/test" \
    "$ROOT/test/test.c" "$ROOT/test/fault/checks.c" "$ROOT/test/kernel/table.c" "$ROOT/src/kernel/table.c" \
    "$ROOT/src/backend/cpu/neon/table.c" "$ROOT/src/isa/kernel.c" "$ROOT/src/base/cpu.c" "$ROOT/src/base/dtype.c" \
    "$ROOT/src/base/error.c" -lm -o tests 2>err; then
    fail "does not compile for NEON: $(cat err)"
fi
qemu-aarch64 ./tests --no-fork kernel_table >out 2>&1 || fail "$(cat out)"
has out "6 passed, 0 failed"
finish
