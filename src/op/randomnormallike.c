/* randomnormallike.c - RandomNormalLike: numbers from a normal distribution, in the shape of a
 * tensor. */
#include "op/op_random.h"

static holo_status randomnormallike_emit(hg_emit *e)
{
    return hg_random_emit(e, HG_RANDOM_NORMAL);
}

const hg_op hg_op_randomnormallike = {
    .name = "RandomNormalLike",
    .brief = "numbers from a normal distribution, in the shape of a tensor",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .flags = HG_OP_EFFECT,
    .infer = hg_random_infer,
    .kernel = "random",
    .emit = randomnormallike_emit,
};
