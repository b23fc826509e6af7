/* erf.c - Erf: y = erf x, the error function. */
#include "op/op.h"

static hg_lane_id erf_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_ERF, in[0]);
}

const hg_op hg_op_erf = {
    .name = "Erf",
    .brief = "y = erf x, the error function",
    .since = 9,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = erf_lane,
};
