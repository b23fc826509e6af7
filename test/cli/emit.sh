#!/bin/sh
# emit.sh - hologram compile --emit-c: a C file that stands alone, and what is refused.
. "$ROOT/test/cli/common.inc"

dense dense.onnx

run_as 0 compile -q dense.onnx --dim batch=2 --numerics exact --emit-c dense.c
absent dense.holo
has dense.c "int dense(const float in_x[4], float out_y[6])"
cat >main.c <<'C'
#include <stdio.h>
int dense(const float x[4], float y[6]);
int main(void)
{
    const float x[4] = {1, 2, 3, -1};
    float y[6];
    int step = dense(x, y);
    for (int i = 0; i < 6; i++)
        printf("%g ", (double)y[i]);
    return step;
}
C
for standard in c99 c11 gnu17; do
    if ! cc -std=$standard -O2 -Wall -Wextra -Werror dense.c main.c -lm -o dense 2>err; then
        fail "dense.c does not compile as $standard: $(cat err)"
    fi
done
# x W = [1 - 2, 2, 3 + 2] and [3 + 1, 6, 9 - 1], plus [0, -1, 1], at least 0
[ "$(./dense)" = "0 1 6 4 5 9 " ] || fail "dense gave $(./dense), expected 0 1 6 4 5 9"

run_as 0 compile -q dense.onnx --dim batch=2 -o both.holo --emit-c both.c
[ -s both.holo ] && [ -s both.c ] || fail "--emit-c beside -o writes both"

run_as 1 compile -q dense.onnx --emit-c open.c
has err "dimension 0 of input 'x' is 'batch'"
has err "--dim"
absent open.c
run_as 2 compile -q dense.onnx dense.onnx --emit-c two.c
has err "--emit-c writes one model"
absent two.c
run_as 1 compile -q dense.onnx --dim batch=2 --emit-c missing/dense.c

finish
