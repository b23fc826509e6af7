/* eyelike.c - EyeLike: ones on a diagonal, zeros elsewhere. */
#include "op/op.h"

#define EYELIKE_TYPES (HG_TYPES_NUMBER | HG_TYPES_BOOL)

static holo_status eyelike_infer(hg_infer *n)
{
    int64_t dtype, k;
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    HG_TRY(hg_attr_int(n, "dtype", (int64_t)n->in[0]->dtype, &dtype));
    HG_TRY(hg_attr_int(n, "k", 0, &k));
    if (dtype <= 0 || dtype >= HOLO_SEQUENCE || !hg_dtype_in((holo_dtype)dtype, EYELIKE_TYPES))
        return hg_infer_fail(n, HOLO_E_TYPE, "dtype is %lld, expected a number type or bool",
                             (long long)dtype);
    n->out[0] = *n->in[0];
    n->out[0].dtype = (holo_dtype)dtype;
    return HOLO_OK;
}

/* 0 .. size - 1 */
static hg_value_id eyelike_count(hg_build *b, hg_dim size)
{
    hg_value_id zero = hg_build_scalar(b, HOLO_I64, 0), one = hg_build_scalar(b, HOLO_I64, 1);
    return hg_build_3(b, "Range", zero, hg_build_dims(b, &size, 1), one);
}

/* A column of row numbers plus k against a row of column numbers. */
static holo_status eyelike_lower(hg_build *b)
{
    const hg_type type = hg_graph_value(b->g, b->node->out[0])->type;
    hg_value_id rows = eyelike_count(b, type.dim[0]), cols = eyelike_count(b, type.dim[1]);
    hg_value_id k = hg_build_ints(b, &(int64_t){hg_node_int(b->node, "k", 0)}, 1);
    rows = hg_build_2(b, "Add", rows, k);
    rows = hg_build_2(b, "Unsqueeze", rows, hg_build_ints(b, &(int64_t){1}, 1));
    hg_build_replace(b, 0, hg_build_cast(b, hg_build_2(b, "Equal", rows, cols), type.dtype));
    return b->status;
}

const hg_op hg_op_eyelike = {
    .name = "EyeLike",
    .brief = "ones on a diagonal, zeros elsewhere",
    .since = 9,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = EYELIKE_TYPES,
    .flags = HG_OP_SHAPE_ONLY,
    .infer = eyelike_infer,
    .lower = eyelike_lower,
};
