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

/* Row i has its one in column i + k. With a negative k, which an index cannot be, column j has its
 * one in row j - k. */
static holo_status eyelike_lower(hg_build *b)
{
    const hg_type type = hg_graph_value(b->g, b->node->out[0])->type;
    const int64_t k = hg_node_int(b->node, "k", 0);
    const int axis = k < 0 ? 0 : 1; /* along which there is one */
    hg_value_id zero = hg_build_scalar(b, HOLO_I64, 0), one = hg_build_scalar(b, HOLO_I64, 1);
    hg_value_id size = hg_build_dims(b, &type.dim[1 - axis], 1);
    hg_value_id place = hg_build_ints(b, &(int64_t){k < 0 && k > INT64_MIN ? -k : k}, 1);
    place = hg_build_2(b, "Add", hg_build_3(b, "Range", zero, size, one), place);
    const hg_value_id in[3] = {
        place, hg_build_dims(b, &type.dim[axis], 1),
        hg_build_cast(b, hg_build_ints(b, (const int64_t[]){0, 1}, 2), type.dtype)};
    const hg_attr attr = hg_attr_make_int("axis", axis);
    hg_build_replace(b, 0, hg_build_op(b, "OneHot", in, 3, &attr, 1));
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
