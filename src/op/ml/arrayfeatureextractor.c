/* arrayfeatureextractor.c - ArrayFeatureExtractor: elements of the last dimension by index. */
#include "op/op.h"

#define ARRAYFEATUREEXTRACTOR_TYPES                                                                \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_I64) |                       \
     HG_TYPE_BIT(HOLO_I32) | HG_TYPES_STRING)

static holo_status arrayfeatureextractor_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I64)));
    hg_type *out = &n->out[0];
    *out = *n->in[0];
    if (out->rank == 1) out->dim[out->rank++] = hg_dim_const(n->dims, 1);
    out->dim[0] = n->in[0]->rank == 1 ? hg_dim_const(n->dims, 1) : out->dim[0];
    out->dim[out->rank - 1] = hg_type_count(n->g, n->in[1]);
    return HOLO_OK;
}

/* A vector is a matrix of one row, also in the result. */
static holo_status arrayfeatureextractor_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0), index = hg_build_in(b, 1);
    const hg_attr axis = hg_attr_make_int("axis", -1);
    if (hg_build_type(b, x)->rank == 1)
        x = hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){0}, 1));
    if (hg_build_type(b, index)->rank != 1)
        index = hg_build_2(b, "Reshape", index, hg_build_ints(b, (int64_t[]){-1}, 1));
    hg_build_replace(b, 0, hg_build_op(b, "Gather", (hg_value_id[]){x, index}, 2, &axis, 1));
    return b->status;
}

const hg_op hg_op_ml_arrayfeatureextractor = {
    .name = "ArrayFeatureExtractor",
    .domain = "ai.onnx.ml",
    .brief = "elements of the last dimension by index",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = ARRAYFEATUREEXTRACTOR_TYPES,
    .infer = arrayfeatureextractor_infer,
    .lower = arrayfeatureextractor_lower,
};
