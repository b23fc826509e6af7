/* unique.c - Unique: the distinct elements or slices, in two steps: their order, then one of each.
 */
#include "op/op.h"
#include "op/op_upgrade.h"

static holo_status unique_infer(hg_infer *n)
{
    int64_t sorted;
    int32_t axis = 0;
    HG_TRY(hg_attr_int(n, "sorted", 1, &sorted));
    bool flat = hg_node_attr(n->node, "axis") == NULL;
    if (!flat) HG_TRY(hg_attr_axis(n, "axis", 0, n->in[0]->rank, &axis));
    hg_dim slices = flat ? hg_type_count(n->g, n->in[0]) : n->in[0]->dim[axis];
    for (uint32_t j = 1; j < n->n_out; j++) {
        n->out[j] = (hg_type){.dtype = HOLO_I64, .rank = 1};
        n->out[j].dim[0] = j == 2 ? slices : hg_infer_late_dim(n, j, 0);
    }
    n->out[0] = *n->in[0];
    if (flat) n->out[0].rank = 1;
    n->out[0].dim[axis] = hg_infer_late_dim(n, 0, (uint32_t)axis);
    return HOLO_OK;
}

static holo_status unique_lower(hg_build *b)
{
    const hg_attr *given = hg_node_attr(b->node, "axis");
    const hg_type *type = hg_build_type(b, hg_build_in(b, 0));
    int64_t axis = given == NULL ? -1 : given->i < 0 ? given->i + type->rank : given->i;
    hg_attr attr[] = {hg_attr_make_int("axis", axis),
                      hg_attr_make_int("sorted", hg_node_int(b->node, "sorted", 1) != 0)};
    hg_value_id in[2] = {hg_build_in(b, 0)};
    in[1] = hg_build_op(b, "holo:UniqueOrder", in, 1, attr, 1);
    return hg_rewrite_as(b, "holo:UniquePick", in, 2, attr, 2);
}

const hg_op hg_op_unique = {
    .name = "Unique",
    .brief = "the distinct elements or slices; where they are and how many",
    .since = 11,
    .in = {1, 1},
    .out = {1, 4},
    .types = HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_STRING | HG_TYPES_COMPLEX,
    .infer = unique_infer,
    .lower = unique_lower,
};
