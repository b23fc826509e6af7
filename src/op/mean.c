/* mean.c - Mean: the mean of all inputs, by element. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id mean_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id sum = hg_formula_chain(f, HG_LANE_ADD, in);
    return hg_lane_2(f->b, HG_LANE_DIV, sum, hg_formula_number(f, sum, (double)f->n_in));
}

const hg_op hg_op_mean = {
    .name = "Mean",
    .brief = "the mean of all inputs, by element",
    .since = 1,
    .version = 13,
    .in = {1, -1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_broadcast,
    .lane = mean_lane,
};
