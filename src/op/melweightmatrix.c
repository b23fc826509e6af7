/* melweightmatrix.c - MelWeightMatrix: from a spectrum to mel bands, by overlapping triangles. */
#include "op/op_scalar.h"

static holo_status melweightmatrix_infer(hg_infer *n)
{
    int64_t dtype;
    hg_dim bands, length;
    hg_dims *d = n->dims;
    HG_TRY(hg_attr_int(n, "output_datatype", HOLO_F32, &dtype));
    if (dtype < 0 || dtype >= 64 || !hg_dtype_in((holo_dtype)dtype, HG_TYPES_NUMBER))
        return hg_infer_fail(n, HOLO_E_MODEL, "output_datatype is %lld, expected a number type",
                             (long long)dtype);
    HG_TRY(hg_infer_scalar(n, 0, &bands));
    HG_TRY(hg_infer_scalar(n, 1, &length));
    hg_dim bins = hg_dim_add(d, hg_dim_floordiv(d, length, hg_dim_const(d, 2)), hg_dim_const(d, 1));
    n->out[0] = (hg_type){.dtype = (holo_dtype)dtype, .rank = 2, .dim = {bins, bands}};
    return HOLO_OK;
}

static holo_status melweightmatrix_emit(hg_emit *e)
{
    for (uint32_t i = 0; i < 4; i++)
        e->in[i] = hg_node_in(e->g, e->node, i + 1);
    e->n_in = 4;
    return HOLO_OK;
}

const hg_op hg_op_melweightmatrix = {
    .name = "MelWeightMatrix",
    .brief = "from a spectrum to mel bands, by overlapping triangles",
    .since = 17,
    .in = {5, 5},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64),
    .infer = melweightmatrix_infer,
    .kernel = "melweightmatrix",
    .emit = melweightmatrix_emit,
};
