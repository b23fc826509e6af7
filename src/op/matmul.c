/* matmul.c - MatMul: numpy's matrix product; a vector operand is a matrix with one row or column.
 */
#include "op/op_matmul.h"

/* numpy: a vector on the left is a row, on the right a column; that dimension is dropped again. */
static holo_status matmul_infer(hg_infer *n)
{
    hg_type a = *n->in[0], b = *n->in[1];
    hg_dim one = hg_dim_const(n->dims, 1);
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    if (n->in[0]->rank == 1) a = (hg_type){.dtype = a.dtype, .rank = 2, .dim = {one, a.dim[0]}};
    if (n->in[1]->rank == 1) b = (hg_type){.dtype = b.dtype, .rank = 2, .dim = {b.dim[0], one}};
    hg_type *out = &n->out[0];
    HG_TRY(hg_matmul_shape(n, &a, &b, out));
    out->dtype = n->in[0]->dtype;
    if (n->in[1]->rank == 1) out->rank--;
    if (n->in[0]->rank == 1) {
        if (n->in[1]->rank != 1) out->dim[out->rank - 2] = out->dim[out->rank - 1];
        out->rank--;
    }
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
    int64_t axes[2];
    uint32_t n_axes = 0;
    if (left) axes[n_axes++] = -2;
    if (right) axes[n_axes++] = -1;
    hg_build_replace(b, 0, hg_build_2(b, "Squeeze", out, hg_build_ints(b, axes, n_axes)));
    return b->status;
}

static holo_status matmul_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, 0));
    HG_TRY(hg_emit_int(e, 0));
    return hg_emit_float(e, 1.0);
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
};
