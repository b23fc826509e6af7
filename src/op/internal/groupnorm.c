/* groupnorm.c - holo:GroupNorm: zero mean and unit variance over groups of channels, then scale and
 * bias by channel. Attributes: groups (a dimension), epsilon, channels_last. */
#include "op/op_matmul.h"
#include "op/op_window.h"

static holo_status groupnorm_infer(hg_infer *n)
{
    hg_dim groups;
    double epsilon;
    int64_t last;
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_attr_dim(n, "groups", &groups));
    HG_TRY(hg_attr_float(n, "epsilon", 1e-5, &epsilon));
    HG_TRY(hg_attr_int(n, "channels_last", 0, &last));
    hg_dim channels = n->in[0]->dim[last != 0 ? n->in[0]->rank - 1 : 1];
    for (uint32_t i = 1; i < n->n_in; i++) {
        if (!hg_infer_has(n, i)) continue;
        HG_TRY(hg_infer_same_type(n, 0, i));
        HG_TRY(hg_infer_rank(n, i, 1, 1));
        if (!hg_infer_may_equal(n, n->in[i]->dim[0], channels))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u does not have one element a channel",
                                 i);
    }
    return hg_infer_same_as_input(n);
}

static holo_status groupnorm_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    hg_dim groups;
    HG_TRY(hg_attr_dim(&n, "groups", &groups));
    HG_TRY(hg_emit_dim(e, groups));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, "epsilon", 1e-5)));
    return hg_emit_int(e, hg_node_int(e->node, "channels_last", 0) != 0);
}

const hg_op hg_op_internal_groupnorm = {
    .name = "GroupNorm",
    .domain = "holo",
    .brief = "zero mean and unit variance over groups of channels, then scale and bias",
    .since = 1,
    .in = {1, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_INTERNAL,
    .infer = groupnorm_infer,
    .kernel = "groupnorm",
    .emit = groupnorm_emit,
};
