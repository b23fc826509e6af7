/* groupnorm.c - com.microsoft:GroupNorm: zero mean and unit variance over groups of channels, then
 * scale, bias and, if asked for, SiLU. */
#include "op/op.h"

enum { GROUPNORM_X, GROUPNORM_SCALE, GROUPNORM_BIAS };

static holo_status groupnorm_microsoft_infer(hg_infer *n)
{
    int64_t activation, last, groups, channels;
    double epsilon;
    HG_TRY(hg_attr_int(n, "activation", 0, &activation));
    HG_TRY(hg_attr_int(n, "channels_last", 1, &last));
    HG_TRY(hg_attr_int(n, "groups", 0, &groups));
    HG_TRY(hg_attr_float(n, "epsilon", 1e-5, &epsilon));
    HG_TRY(hg_infer_rank(n, GROUPNORM_X, 3, HG_MAX_RANK));
    for (uint32_t i = GROUPNORM_SCALE; i <= GROUPNORM_BIAS; i++) {
        HG_TRY(hg_infer_types(n, i, HG_TYPES_FLOAT));
        HG_TRY(hg_infer_rank(n, i, 1, 1));
    }
    if (activation != 0 && activation != 1)
        return hg_infer_fail(n, HOLO_E_MODEL, "activation is %lld, expected 0 (none) or 1 (SiLU)",
                             (long long)activation);
    const hg_type *x = n->in[GROUPNORM_X];
    bool known = hg_dim_is_const(n->dims, x->dim[last != 0 ? x->rank - 1 : 1], &channels);
    if (groups < 1 || (known && channels % groups != 0))
        return hg_infer_fail(n, HOLO_E_MODEL, "groups is %lld, expected a divisor of the channels",
                             (long long)groups);
    return hg_infer_same_as_input(n);
}

static holo_status groupnorm_microsoft_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, GROUPNORM_X);
    holo_dtype dtype = hg_build_type(b, x)->dtype;
    hg_value_id in[] = {x, hg_build_cast(b, hg_build_in(b, GROUPNORM_SCALE), dtype),
                        hg_build_cast(b, hg_build_in(b, GROUPNORM_BIAS), dtype)};
    hg_attr attr[] = {
        hg_attr_make_int("groups", hg_node_int(b->node, "groups", 0)),
        hg_attr_make_float("epsilon", hg_node_float(b->node, "epsilon", 1e-5)),
        hg_attr_make_int("channels_last", hg_node_int(b->node, "channels_last", 1) != 0),
    };
    hg_value_id y = hg_build_op(b, "holo:GroupNorm", in, HG_COUNT(in), attr, HG_COUNT(attr));
    if (hg_node_int(b->node, "activation", 0) == 1) y = hg_build_1(b, "Swish", y);
    hg_build_replace(b, 0, y);
    return b->status;
}

const hg_op hg_op_microsoft_groupnorm = {
    .name = "GroupNorm",
    .domain = "com.microsoft",
    .brief = "zero mean and unit variance over groups of channels, then scale, bias and SiLU",
    .since = 1,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = groupnorm_microsoft_infer,
    .lower = groupnorm_microsoft_lower,
};
