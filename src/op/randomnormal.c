/* randomnormal.c - RandomNormal: numbers from a normal distribution. */
#include "op/op_random.h"

static holo_status randomnormal_emit(hg_emit *e)
{
    return hg_random_emit(e, HG_RANDOM_NORMAL);
}

const hg_op hg_op_randomnormal = {
    .name = "RandomNormal",
    .brief = "numbers from a normal distribution",
    .since = 1,
    .version = 22,
    .in = {0, 0},
    .out = {1, 1},
    .flags = HG_OP_EFFECT,
    .infer = hg_random_infer,
    .kernel = "random",
    .emit = randomnormal_emit,
};
