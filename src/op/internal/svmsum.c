/* svmsum.c - holo:SvmSum: rows weighted with one number for each column, and added up. */
#include "op/op.h"

static holo_status svmsum_infer(hg_infer *n)
{
    n->out[0] = (hg_type){.dtype = HOLO_F64, .rank = 2};
    n->out[0].dim[0] = n->in[0]->dim[0];
    n->out[0].dim[1] = hg_dim_const(n->dims, 1);
    return HOLO_OK;
}

const hg_op hg_op_internal_svmsum = {
    .name = "SvmSum",
    .domain = "holo",
    .brief = "rows weighted with one number for each column, and added up",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F64),
    .flags = HG_OP_INTERNAL,
    .infer = svmsum_infer,
    .kernel = "svm.sum",
};
