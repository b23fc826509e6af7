/* svmvote.c - holo:SvmVote: scores of all pairs of classes, and the class that wins most. */
#include "op/op.h"

static holo_status svmvote_infer(hg_infer *n)
{
    n->out[0] = (hg_type){.dtype = HOLO_F64, .rank = 2};
    n->out[0].dim[0] = n->in[0]->dim[0];
    n->out[0].dim[1] = n->in[3]->dim[0];
    n->out[1] = (hg_type){.dtype = HOLO_I64, .rank = 1};
    n->out[1].dim[0] = n->in[0]->dim[0];
    return HOLO_OK;
}

const hg_op hg_op_internal_svmvote = {
    .name = "SvmVote",
    .domain = "holo",
    .brief = "scores of all pairs of classes, and the class that wins most",
    .since = 1,
    .in = {4, 4},
    .out = {2, 2},
    .types = HG_TYPE_BIT(HOLO_F64),
    .flags = HG_OP_INTERNAL,
    .infer = svmvote_infer,
    .kernel = "svm.vote",
};
