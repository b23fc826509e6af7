/* reduceprod.c - ReduceProd: the product over axes. */
#include "op/op_reduce.h"

static holo_status reduceprod_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_PROD);
}

static holo_status reduceprod_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_PROD);
}

const hg_op hg_op_reduceprod = {
    .name = "ReduceProd",
    .brief = "the product over axes",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reduceprod_emit,
    .gradient = reduceprod_gradient,
};
