/* matmul.c - MatMul: numpy's matrix product; a vector operand is a matrix with one row or column.
 */
#include "op/op_matmul.h"

static holo_status matmul_infer(hg_infer *n)
{
    HG_TRY(hg_infer_same_type(n, 0, 1));
    HG_TRY(hg_matmul_infer(n, n->in[0], n->in[1], &n->out[0]));
    n->out[0].dtype = n->in[0]->dtype;
    return HOLO_OK;
}

/* Matrices are left to the kernel. */
static holo_status matmul_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0), y = hg_build_in(b, 1);
    bool left = hg_build_type(b, x)->rank == 1, right = hg_build_type(b, y)->rank == 1;
    if (!left && !right) return HOLO_OK;
    if (left) x = hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){0}, 1));
    if (right) y = hg_build_2(b, "Unsqueeze", y, hg_build_ints(b, (int64_t[]){1}, 1));
    hg_value_id out = hg_build_2(b, "MatMul", x, y);
    hg_build_replace(b, 0, hg_matmul_drop(b, out, left, right));
    return b->status;
}

static holo_status matmul_emit(hg_emit *e)
{
    return hg_matmul_emit(e, false, false, 1.0);
}

const hg_op hg_op_matmul = {
    .name = "MatMul",
    .brief = "matrix product with broadcast batch dimensions",
    .since = 1,
    .version = 13,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_MATMUL_TYPES,
    .infer = matmul_infer,
    .lower = matmul_lower,
    .kernel = "matmul",
    .emit = matmul_emit,
    .gradient = hg_matmul_gradient,
};
