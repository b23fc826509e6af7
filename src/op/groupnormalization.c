/* groupnormalization.c - GroupNormalization: zero mean and unit variance over groups of channels,
 * then scale and bias by channel. */
#include "op/op.h"

/* GroupNormalization-18: one scale and bias a group. */
static holo_status groupnormalization_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 21) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_type *x = hg_build_type(&b, hg_build_in(&b, 0));
    int64_t groups = hg_node_int(b.node, "num_groups", 1);
    if (x->rank < 2 || groups < 1) return HOLO_OK; /* inference says so */
    hg_dim count = hg_dim_const(&g->dims, groups), channels = x->dim[1];
    hg_dim wide[] = {count, hg_dim_floordiv(&g->dims, channels, count)};
    hg_value_id shape = hg_build_dims(&b, wide, 2);
    hg_value_id axis = hg_build_ints(&b, (int64_t[]){1}, 1);
    for (uint32_t i = 1; i < 3; i++) {
        hg_value_id v = hg_build_2(&b, "Unsqueeze", hg_build_in(&b, i), axis);
        v = hg_build_reshape(&b, hg_build_2(&b, "Expand", v, shape), &channels, 1);
        if (b.status != HOLO_OK) return b.status;
        hg_graph_set_input(g, id, i, v);
    }
    return HOLO_OK;
}

static holo_status groupnormalization_infer(hg_infer *n)
{
    int64_t groups, count;
    double epsilon;
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_attr_int(n, "num_groups", 0, &groups));
    HG_TRY(hg_attr_float(n, "epsilon", 1e-5, &epsilon));
    if (groups < 1 || groups > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "num_groups is %lld, expected at least 1",
                             (long long)groups);
    if (hg_dim_is_const(n->dims, n->in[0]->dim[1], &count) && count % groups != 0)
        return hg_infer_fail(n, HOLO_E_SHAPE, "%lld channels cannot be divided into %lld groups",
                             (long long)count, (long long)groups);
    for (uint32_t i = 1; i < 3; i++) {
        HG_TRY(hg_infer_types(n, i, HG_TYPES_FLOAT));
        HG_TRY(hg_infer_rank(n, i, 1, 1));
    }
    return hg_infer_same_as_input(n);
}

static holo_status groupnormalization_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    holo_dtype dtype = hg_build_type(b, x)->dtype;
    hg_value_id in[] = {x, hg_build_cast(b, hg_build_in(b, 1), dtype),
                        hg_build_cast(b, hg_build_in(b, 2), dtype)};
    hg_attr attr[] = {
        hg_attr_make_int("groups", hg_node_int(b->node, "num_groups", 1)),
        hg_attr_make_float("epsilon", hg_node_float(b->node, "epsilon", 1e-5)),
    };
    hg_build_replace(b, 0,
                     hg_build_op(b, "holo:GroupNorm", in, HG_COUNT(in), attr, HG_COUNT(attr)));
    return b->status;
}

const hg_op hg_op_groupnormalization = {
    .name = "GroupNormalization",
    .brief = "zero mean and unit variance over groups of channels, then scale and bias",
    .since = 18,
    .version = 21,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = groupnormalization_upgrade,
    .infer = groupnormalization_infer,
    .lower = groupnormalization_lower,
};
