/* cumsum.c - CumSum: running sums along one axis. */
#include "op/op_cumulate.h"

const hg_op hg_op_cumsum = {
    .name = "CumSum",
    .brief = "running sums along one axis",
    .since = 11,
    .version = 14,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_CUMULATE_TYPES,
    .infer = hg_cumulate_infer,
    .kernel = "cumsum",
    .emit = hg_cumulate_emit,
};
