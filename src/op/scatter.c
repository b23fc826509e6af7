/* scatter.c - Scatter: the old name of ScatterElements. */
#include "op/op.h"
#include "op/op_scatter.h"
#include "op/op_upgrade.h"

static holo_status scatter_lower(hg_build *b)
{
    hg_value_id in[3] = {hg_build_in(b, 0), hg_build_in(b, 1), hg_build_in(b, 2)};
    hg_attr axis = hg_attr_make_int("axis", hg_node_int(b->node, "axis", 0));
    return hg_rewrite_as(b, "ScatterElements", in, 3, &axis, 1);
}

const hg_op hg_op_scatter = {
    .name = "Scatter",
    .brief = "the old name of ScatterElements",
    .since = 9,
    .version = 11,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = hg_scatter_infer,
    .lower = scatter_lower,
};
