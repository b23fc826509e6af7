/* groupnorm.c - holo:GroupNorm: zero mean and unit variance over groups of channels, then scale and
 * bias by channel. Attributes: groups (a dimension), epsilon, channels_last. */
#include "op/op_conv.h"
#include "op/op_matmul.h"
#include "op/op_norm.h"
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
        if (!hg_infer_equal(n, n->in[i]->dim[0], channels))
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

/* Scale and bias as [1, C, 1 ...]. */
static hg_value_id groupnorm_channel(hg_gradient *d, hg_value_id v, holo_dtype to)
{
    hg_type type = *hg_gradient_type(d, 0);
    for (int32_t i = 0; i < type.rank; i++)
        if (i != 1) type.dim[i] = hg_dim_const(&d->b->g->dims, 1);
    return hg_build_cast(d->b, hg_build_shaped(d->b, v, &type), to);
}

static holo_status groupnorm_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    const hg_infer n = hg_gradient_reader(d);
    const hg_type type = *hg_gradient_type(d, 0);
    const holo_dtype compute = type.dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    const double epsilon = hg_node_float(n.node, "epsilon", 1e-5);
    hg_type groups = {.rank = 3, .dim = {type.dim[0]}};
    hg_norm_parts p = {.kind = HG_NORM_LAYER, .axis = 2};
    if (hg_node_int(n.node, "channels_last", 0) != 0)
        return hg_gradient_fail(d, "its channels are the last dimension");
    HG_TRY(hg_attr_dim(&n, "groups", &groups.dim[1]));
    groups.dim[2] = hg_dim_floordiv(&b->g->dims, type.dim[1], groups.dim[1]);
    for (int32_t i = 2; i < type.rank; i++)
        groups.dim[2] = hg_dim_mul(&b->g->dims, groups.dim[2], type.dim[i]);
    hg_value_id x = hg_build_cast(b, hg_gradient_input(d, 0), compute);
    hg_build_norm_parts(b, hg_build_shaped(b, x, &groups), epsilon, &p);
    hg_value_id dy = hg_build_cast(b, d->out[0], compute), g = dy;
    if (hg_gradient_input(d, 1) != 0)
        g = hg_build_2(b, "Mul", dy, groupnorm_channel(d, hg_gradient_input(d, 1), compute));
    if (d->wanted[0]) {
        x = hg_build_norm_back(b, &p, hg_build_shaped(b, g, &groups));
        d->in[0] = hg_build_shaped(b, x, &type);
    }
    if (hg_gradient_input(d, 1) != 0 && d->wanted[1])
        d->in[1] =
            hg_build_channel_sum(b, hg_build_2(b, "Mul", dy, hg_build_shaped(b, p.unit, &type)));
    if (hg_gradient_input(d, 2) != 0 && d->wanted[2]) d->in[2] = hg_build_channel_sum(b, dy);
    return b->status;
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
    .gradient = groupnorm_gradient,
};
