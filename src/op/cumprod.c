/* cumprod.c - CumProd: running products along one axis. */
#include "op/op_cumulate.h"

const hg_op hg_op_cumprod = {
    .name = "CumProd",
    .brief = "running products along one axis",
    .since = 26,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_CUMULATE_TYPES,
    .infer = hg_cumulate_infer,
    .kernel = "cumprod",
    .emit = hg_cumulate_emit,
};
