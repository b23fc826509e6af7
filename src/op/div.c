/* div.c - Div: y = a / b; integers round to zero. */
#include "op/op.h"
#include "op/op_upgrade.h"

static hg_lane_id div_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_DIV, in[0], in[1]);
}

const hg_op hg_op_div = {
    .name = "Div",
    .brief = "y = a / b; integers round to zero",
    .since = 1,
    .version = 14,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .upgrade = hg_upgrade_broadcast,
    .infer = hg_infer_broadcast,
    .lane = div_lane,
};
