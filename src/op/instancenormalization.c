/* instancenormalization.c - InstanceNormalization: zero mean and unit variance for each channel of
 * each sample, then scale and bias. */
#include "op/op.h"

static holo_status instancenormalization_infer(hg_infer *n)
{
    double epsilon;
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_attr_float(n, "epsilon", 1e-5, &epsilon));
    for (uint32_t i = 1; i < 3; i++) {
        HG_TRY(hg_infer_same_type(n, 0, i));
        HG_TRY(hg_infer_rank(n, i, 1, 1));
        if (!hg_infer_equal(n, n->in[i]->dim[0], n->in[0]->dim[1]))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u does not have one element a channel",
                                 i);
    }
    return hg_infer_same_as_input(n);
}

static holo_status instancenormalization_lower(hg_build *b)
{
    hg_value_id in[] = {hg_build_in(b, 0), hg_build_in(b, 1), hg_build_in(b, 2)};
    hg_dim channels = hg_build_type(b, in[0])->dim[1];
    hg_attr attr[] = {
        hg_attr_make_dims(b, "groups", &channels, 1),
        hg_attr_make_float("epsilon", hg_node_float(b->node, "epsilon", 1e-5)),
    };
    hg_build_replace(b, 0,
                     hg_build_op(b, "holo:GroupNorm", in, HG_COUNT(in), attr, HG_COUNT(attr)));
    return b->status;
}

const hg_op hg_op_instancenormalization = {
    .name = "InstanceNormalization",
    .brief = "zero mean and unit variance for each channel of each sample, then scale and bias",
    .since = 1,
    .version = 22,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = instancenormalization_infer,
    .lower = instancenormalization_lower,
};
