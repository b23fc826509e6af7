/* det.c - Det: determinants of square matrices. */
#include "op/op.h"

static holo_status det_infer(hg_infer *n)
{
    const hg_type *x = n->in[0];
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    if (!hg_infer_equal(n, x->dim[x->rank - 1], x->dim[x->rank - 2]))
        return hg_infer_fail(n, HOLO_E_SHAPE, "the matrices are not square");
    n->out[0] = *x;
    n->out[0].rank -= 2;
    return HOLO_OK;
}

const hg_op hg_op_det = {
    .name = "Det",
    .brief = "determinants of square matrices",
    .since = 11,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = det_infer,
    .kernel = "det",
};
