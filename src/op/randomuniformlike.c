/* randomuniformlike.c - RandomUniformLike: numbers from a uniform distribution, in the shape of a
 * tensor. */
#include "op/op_random.h"

static holo_status randomuniformlike_emit(hg_emit *e)
{
    return hg_random_emit(e, HG_RANDOM_UNIFORM);
}

const hg_op hg_op_randomuniformlike = {
    .name = "RandomUniformLike",
    .brief = "numbers from a uniform distribution, in the shape of a tensor",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .flags = HG_OP_EFFECT,
    .infer = hg_random_infer,
    .kernel = "random",
    .emit = randomuniformlike_emit,
};
