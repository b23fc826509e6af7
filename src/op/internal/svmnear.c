/* svmnear.c - holo:SvmNear: how near rows are to support vectors, the columns of its second input.
 * Attributes: kind, params (bits of three float64: gamma, c, degree). */
#include "op/op.h"

static holo_status svmnear_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    HG_TRY(hg_infer_rank(n, 1, 2, 2));
    n->out[0] = (hg_type){.dtype = HOLO_F64, .rank = 2};
    n->out[0].dim[0] = n->in[0]->dim[0];
    n->out[0].dim[1] = n->in[1]->dim[1];
    return HOLO_OK;
}

static holo_status svmnear_emit(hg_emit *e)
{
    size_t count;
    const int64_t *params = hg_node_ints(e->node, "params", &count);
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "kind", 0)));
    for (size_t i = 0; i < 3; i++)
        HG_TRY(hg_emit_int(e, i < count ? params[i] : 0));
    return HOLO_OK;
}

const hg_op hg_op_internal_svmnear = {
    .name = "SvmNear",
    .domain = "holo",
    .brief = "how near rows are to support vectors",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64),
    .flags = HG_OP_INTERNAL,
    .infer = svmnear_infer,
    .kernel = "svm.near.t",
    .emit = svmnear_emit,
};
