/* hannwindow.c - HannWindow: the window of Hann. */
#include "op/op_cosines.h"

static holo_status hannwindow_lower(hg_build *b)
{
    return hg_cosines_lower(b, (const double[]){0.5, 0.5, 0.0});
}

const hg_op hg_op_hannwindow = {
    .name = "HannWindow",
    .brief = "the window of Hann",
    .since = 17,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64),
    .infer = hg_cosines_infer,
    .lower = hannwindow_lower,
};
