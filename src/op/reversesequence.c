/* reversesequence.c - ReverseSequence: the first elements of each sequence of a batch, reversed. */
#include "op/op.h"
#include "op/op_gradient.h"

static holo_status reversesequence_infer(hg_infer *n)
{
    int64_t batch, time;
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_attr_int(n, "batch_axis", 1, &batch));
    HG_TRY(hg_attr_int(n, "time_axis", 0, &time));
    if (batch < 0 || batch > 1 || time != 1 - batch)
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "batch_axis is %lld and time_axis %lld, expected 0 and 1 or 1 and 0",
                             (long long)batch, (long long)time);
    if (!hg_infer_equal(n, n->in[1]->dim[0], n->in[0]->dim[batch]))
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "the number of lengths differs from dimension %lld of the data",
                             (long long)batch);
    return hg_infer_same_as_input(n);
}

static holo_status reversesequence_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "batch_axis", 1)));
    return hg_emit_int(e, hg_node_int(e->node, "time_axis", 0));
}

const hg_op hg_op_reversesequence = {
    .name = "ReverseSequence",
    .brief = "the first elements of each sequence of a batch, reversed",
    .since = 10,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = reversesequence_infer,
    .kernel = "reversesequence",
    .emit = reversesequence_emit,
    .gradient = hg_gradient_pick,
};
