/* randomuniform.c - RandomUniform: numbers from a uniform distribution. */
#include "op/op_random.h"

static holo_status randomuniform_emit(hg_emit *e)
{
    return hg_random_emit(e, HG_RANDOM_UNIFORM);
}

const hg_op hg_op_randomuniform = {
    .name = "RandomUniform",
    .brief = "numbers from a uniform distribution",
    .since = 1,
    .version = 22,
    .in = {0, 0},
    .out = {1, 1},
    .flags = HG_OP_EFFECT,
    .infer = hg_random_infer,
    .kernel = "random",
    .emit = randomuniform_emit,
};
