/* globalaveragepool.c - GlobalAveragePool: the mean of each channel. */
#include "op/op_globalpool.h"

static holo_status globalaveragepool_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    hg_build_replace(b, 0, hg_build_reduce_range(b, "ReduceMean", x, 2, hg_build_type(b, x)->rank));
    return b->status;
}

const hg_op hg_op_globalaveragepool = {
    .name = "GlobalAveragePool",
    .brief = "the mean of each channel",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_globalpool_infer,
    .lower = globalaveragepool_lower,
};
