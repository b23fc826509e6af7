/* softsign.c - Softsign: y = x / (1 + |x|). */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id softsign_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id size = hg_lane_1(f->b, HG_LANE_ABS, in[0]);
    size = hg_lane_2(f->b, HG_LANE_ADD, size, hg_formula_number(f, in[0], 1.0));
    return hg_lane_2(f->b, HG_LANE_DIV, in[0], size);
}

const hg_op hg_op_softsign = {
    .name = "Softsign",
    .brief = "y = x / (1 + |x|)",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = softsign_lane,
};
