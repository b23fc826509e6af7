/* featurevectorizer.c - FeatureVectorizer: columns of several matrices side by side, as float32.
 * Each input gives as many columns as inputdimensions says: the rest is cut off, what is missing is
 * 0. Without that attribute it gives all it has. */
#include "op/op_ml.h"

static holo_status featurevectorizer_infer(hg_infer *n)
{
    const int64_t *size;
    size_t count;
    HG_TRY(hg_attr_ints(n, "inputdimensions", &size, &count));
    if (count != 0 && count != n->n_in)
        return hg_infer_fail(n, HOLO_E_MODEL, "inputdimensions has %zu entries for %u inputs",
                             count, n->n_in);
    hg_dim columns = hg_dim_const(n->dims, 0);
    for (uint32_t i = 0; i < n->n_in; i++) {
        HG_TRY(hg_infer_types(n, i, HG_ML_TYPES));
        HG_TRY(hg_infer_same_type(n, i, 0));
        HG_TRY(hg_infer_rank(n, i, 1, 2));
        if (count != 0 && (size[i] < 0 || size[i] > INT32_MAX))
            return hg_infer_fail(n, HOLO_E_MODEL, "inputdimensions[%u] is %lld, expected 0 to %d",
                                 i, (long long)size[i], INT32_MAX);
        hg_dim own = n->in[i]->dim[n->in[i]->rank - 1];
        columns = hg_dim_add(n->dims, columns, count == 0 ? own : hg_dim_const(n->dims, size[i]));
    }
    n->out[0] = (hg_type){.dtype = HOLO_F32, .rank = 2};
    n->out[0].dim[0] = hg_ml_rows(n);
    n->out[0].dim[1] = columns;
    return HOLO_OK;
}

/* Exactly `size` columns of x. */
static hg_value_id featurevectorizer_fit(hg_build *b, hg_value_id x, int64_t size)
{
    hg_dims *d = &b->g->dims;
    const hg_dim own = hg_build_type(b, x)->dim[1], wanted = hg_dim_const(d, size);
    if (own == wanted || b->status != HOLO_OK) return x;
    hg_value_id cut[4] = {x, hg_build_ints(b, (int64_t[]){0}, 1), hg_build_ints(b, &size, 1),
                          hg_build_ints(b, (int64_t[]){1}, 1)};
    x = hg_build_op(b, "Slice", cut, 4, NULL, 0);
    const hg_dim none = hg_dim_const(d, 0),
                 more = hg_dim_sub(d, wanted, hg_dim_min(d, own, wanted));
    if (more == none) return x;
    return hg_build_2(b, "Pad", x, hg_build_dims(b, (hg_dim[]){none, none, none, more}, 4));
}

static holo_status featurevectorizer_lower(hg_build *b)
{
    const uint32_t n_in = b->node->n_in;
    const hg_attr axis = hg_attr_make_int("axis", 1);
    size_t count;
    const int64_t *size = hg_node_ints(b->node, "inputdimensions", &count);
    hg_value_id *part;
    HG_TRY(HG_NEW(b->ctx, n_in, &part));
    for (uint32_t i = 0; i < n_in; i++) {
        part[i] = hg_build_in(b, i);
        if (hg_build_type(b, part[i])->rank == 1)
            part[i] = hg_build_2(b, "Unsqueeze", part[i], hg_build_ints(b, (int64_t[]){0}, 1));
        part[i] = hg_build_cast(b, part[i], HOLO_F32);
        if (count != 0) part[i] = featurevectorizer_fit(b, part[i], size[i]);
    }
    hg_build_replace(b, 0, hg_build_op(b, "Concat", part, n_in, &axis, 1));
    return b->status;
}

const hg_op hg_op_ml_featurevectorizer = {
    .name = "FeatureVectorizer",
    .domain = "ai.onnx.ml",
    .brief = "columns of several matrices side by side",
    .since = 1,
    .in = {1, -1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = featurevectorizer_infer,
    .lower = featurevectorizer_lower,
};
