/* matmul.c - holo:MatMul: alpha A' B' on matrices, with an epilogue. */
#include "op/op_matmul.h"

static hg_type matmul_fused_operand(const hg_infer *n, uint32_t i, bool transposed)
{
    hg_type t = *n->in[i];
    if (!transposed) return t;
    t.dim[t.rank - 2] = n->in[i]->dim[t.rank - 1];
    t.dim[t.rank - 1] = n->in[i]->dim[t.rank - 2];
    return t;
}

static holo_status matmul_fused_infer(hg_infer *n)
{
    int64_t trans_a, trans_b;
    double alpha;
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 2, HG_MAX_RANK));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    HG_TRY(hg_attr_int(n, "trans_a", 0, &trans_a));
    HG_TRY(hg_attr_int(n, "trans_b", 0, &trans_b));
    HG_TRY(hg_attr_float(n, "alpha", 1.0, &alpha));
    hg_type a = matmul_fused_operand(n, 0, trans_a != 0),
            b = matmul_fused_operand(n, 1, trans_b != 0);
    HG_TRY(hg_matmul_shape(n, &a, &b, &n->out[0]));
    return hg_epilogue_type(n, 2, &n->out[0].dtype);
}

static holo_status matmul_fused_emit(hg_emit *e)
{
    return hg_matmul_emit(e, hg_node_int(e->node, "trans_a", 0) != 0,
                          hg_node_int(e->node, "trans_b", 0) != 0,
                          hg_node_float(e->node, "alpha", 1.0));
}

const hg_op hg_op_internal_matmul = {
    .name = "MatMul",
    .domain = "holo",
    .brief = "alpha A' B' with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_MATMUL_TYPES,
    .flags = HG_OP_INTERNAL,
    .infer = matmul_fused_infer,
    .kernel = "matmul",
    .emit = matmul_fused_emit,
    .gradient = hg_matmul_gradient,
};
