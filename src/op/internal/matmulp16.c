/* matmulp16.c - holo:MatMulP16: alpha A B with B in panels of 16 columns, with an epilogue. */
#include "op/op_matmul.h"

static holo_status matmulp16_infer(hg_infer *n)
{
    double alpha;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 3, 3));
    HG_TRY(hg_attr_float(n, "alpha", 1.0, &alpha));
    hg_type *out = &n->out[0];
    *out = *n->in[0];
    HG_TRY(hg_attr_dim(n, "n", &out->dim[out->rank - 1]));
    if (!hg_infer_equal(n, n->in[0]->dim[out->rank - 1], n->in[1]->dim[1]))
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "the packed matrix does not have as many rows as A columns");
    return hg_epilogue_type(n, 2, &out->dtype);
}

static holo_status matmulp16_emit(hg_emit *e)
{
    return hg_emit_float(e, hg_node_float(e->node, "alpha", 1.0));
}

const hg_op hg_op_internal_matmulp16 = {
    .name = "MatMulP16",
    .domain = "holo",
    .brief = "matrix product with packed weights and an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = matmulp16_infer,
    .kernel = "matmul.p16",
    .emit = matmulp16_emit,
};
