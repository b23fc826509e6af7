/* splittosequence.c - SplitToSequence: the parts of a tensor along an axis. */
#include "op/op_sequence.h"

/* Number of parts, or 0; *size is what all of them have along the axis, or 0. */
static hg_dim splittosequence_count(const hg_infer *n, hg_dim all, hg_dim *size)
{
    const hg_dim *content;
    uint32_t count;
    int64_t whole, part;
    *size = 0;
    if (!hg_infer_has(n, 1)) {
        *size = hg_dim_const(n->dims, 1);
        return all;
    }
    if (n->in[1]->rank == 1) return n->in[1]->dim[0];
    if (!hg_infer_content(n, 1, &content, &count) || count != 1) return 0;
    if (hg_dim_is_const(n->dims, all, &whole) && hg_dim_is_const(n->dims, content[0], &part) &&
        part > 0 && whole % part == 0)
        *size = content[0];
    return hg_dim_ceildiv(n->dims, all, content[0]);
}

static holo_status splittosequence_infer(hg_infer *n)
{
    int32_t axis;
    int64_t keep;
    hg_type item = *n->in[0];
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_attr_axis(n, "axis", 0, item.rank, &axis));
    HG_TRY(hg_attr_int(n, "keepdims", 1, &keep));
    HG_TRY(hg_sequence_position(n, 1));
    hg_dim size, count = splittosequence_count(n, item.dim[axis], &size);
    item.dim[axis] = size;
    if (keep != 1 && !hg_infer_has(n, 1)) {
        item.rank--;
        for (int32_t k = axis; k < item.rank; k++)
            item.dim[k] = item.dim[k + 1];
    }
    HG_TRY(hg_infer_container(n, 0, HOLO_SEQUENCE, &item));
    if (count != 0) n->out[0].dim[0] = count;
    return HOLO_OK;
}

static holo_status splittosequence_emit(hg_emit *e)
{
    int64_t axis = hg_node_int(e->node, "axis", 0);
    HG_TRY(hg_emit_int(e, axis < 0 ? axis + hg_emit_type(e, 0)->rank : axis));
    return hg_emit_int(e, hg_node_int(e->node, "keepdims", 1) == 1);
}

const hg_op hg_op_splittosequence = {
    .name = "SplitToSequence",
    .brief = "the parts of a tensor along an axis",
    .since = 11,
    .version = 24,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = splittosequence_infer,
    .kernel = "sequence.split",
    .emit = splittosequence_emit,
};
