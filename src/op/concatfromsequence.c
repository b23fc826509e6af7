/* concatfromsequence.c - ConcatFromSequence: the items of a sequence along an axis, or stacked on a
 * new one. */
#include "op/op_sequence.h"

static holo_status concatfromsequence_infer(hg_infer *n)
{
    const hg_type *item;
    int64_t stack;
    int32_t axis;
    HG_TRY(hg_sequence_item(n, HOLO_SEQUENCE, &item));
    HG_TRY(hg_attr_int(n, "new_axis", 0, &stack));
    if (hg_node_attr(n->node, "axis") == NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'axis' is missing");
    n->out[0] = (hg_type){.dtype = item->dtype, .rank = HG_RANK_UNKNOWN};
    if (item->rank == HG_RANK_UNKNOWN) return HOLO_OK;
    int32_t rank = item->rank + (stack == 1);
    if (rank > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "rank %d, at most %d is supported", rank,
                             HG_MAX_RANK);
    HG_TRY(hg_attr_axis(n, "axis", 0, rank, &axis));
    n->out[0].rank = rank;
    for (int32_t k = 0; k < rank; k++)
        if (k != axis) n->out[0].dim[k] = item->dim[stack == 1 && k > axis ? k - 1 : k];
    if (stack == 1) n->out[0].dim[axis] = n->in[0]->dim[0];
    hg_infer_late_rest(n, 0);
    return HOLO_OK;
}

static holo_status concatfromsequence_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "axis", 0)));
    return hg_emit_int(e, hg_node_int(e->node, "new_axis", 0) == 1);
}

const hg_op hg_op_concatfromsequence = {
    .name = "ConcatFromSequence",
    .brief = "the items of a sequence along an axis, or stacked on a new one",
    .since = 11,
    .in = {1, 1},
    .out = {1, 1},
    .infer = concatfromsequence_infer,
    .kernel = "sequence.concat",
    .emit = concatfromsequence_emit,
};
