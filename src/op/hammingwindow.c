/* hammingwindow.c - HammingWindow: the window of Hamming. */
#include "op/op_cosines.h"

static holo_status hammingwindow_lower(hg_build *b)
{
    return hg_cosines_lower(b, (const double[]){25.0 / 46.0, 21.0 / 46.0, 0.0});
}

const hg_op hg_op_hammingwindow = {
    .name = "HammingWindow",
    .brief = "the window of Hamming",
    .since = 17,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64),
    .infer = hg_cosines_infer,
    .lower = hammingwindow_lower,
};
