/* blackmanwindow.c - BlackmanWindow: the window of Blackman. */
#include "op/op_cosines.h"

static holo_status blackmanwindow_lower(hg_build *b)
{
    return hg_cosines_lower(b, (const double[]){0.42, 0.5, 0.08});
}

const hg_op hg_op_blackmanwindow = {
    .name = "BlackmanWindow",
    .brief = "the window of Blackman",
    .since = 17,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64),
    .infer = hg_cosines_infer,
    .lower = blackmanwindow_lower,
};
