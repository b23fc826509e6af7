/* nonzero.c - NonZero: the places of all elements that are not zero. */
#include "op/op.h"

static holo_status nonzero_infer(hg_infer *n)
{
    n->out[0] = (hg_type){.dtype = HOLO_I64, .rank = 2};
    n->out[0].dim[0] = hg_dim_const(n->dims, n->in[0]->rank);
    n->out[0].dim[1] = hg_infer_late_dim(n, 0, 1);
    return HOLO_OK;
}

const hg_op hg_op_nonzero = {
    .name = "NonZero",
    .brief = "the places of all elements that are not zero",
    .since = 9,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = nonzero_infer,
    .kernel = "nonzero",
};
