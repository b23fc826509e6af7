/* unsqueeze.c - Unsqueeze: the same elements with dimensions of 1 inserted. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

/* Unsqueeze-1, Unsqueeze-11: the axes are an attribute. */
static holo_status unsqueeze_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 13) return HOLO_OK;
    return hg_upgrade_ints_to_inputs(g, id, 1, (const char *const[]){"axes"}, 1);
}

static holo_status unsqueeze_infer(hg_infer *n)
{
    hg_dims *d = n->dims;
    const hg_dim *content;
    uint32_t count;
    hg_axes axes;
    HG_TRY(hg_infer_need_content(n, 1, &content, &count));
    int32_t rank = n->in[0]->rank + (int32_t)count;
    if (rank > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "the new rank is %d, expected at most %d", rank,
                             HG_MAX_RANK);
    HG_TRY(hg_shape_axes(n, content, count, rank, &axes));
    n->out[0] = (hg_type){.dtype = n->in[0]->dtype, .rank = rank};
    hg_dim used = hg_dim_const(d, 0), one = hg_dim_const(d, 1); /* input dims taken so far */
    for (int32_t p = 0; p < rank; p++) {
        hg_dim is_new = hg_shape_has_axis(d, &axes, p), dim = hg_dim_const(d, -1);
        for (int32_t j = 0; j < n->in[0]->rank; j++)
            dim = hg_dim_select(d, hg_dim_eq(d, used, hg_dim_const(d, j)), n->in[0]->dim[j], dim);
        n->out[0].dim[p] = hg_dim_select(d, is_new, one, dim);
        used = hg_dim_add(d, used, hg_dim_sub(d, one, is_new));
    }
    hg_shape_require(d, axes.valid, &n->out[0]);
    hg_shape_keep_content(n);
    return HOLO_OK;
}

const hg_op hg_op_unsqueeze = {
    .name = "Unsqueeze",
    .brief = "the same elements with dimensions of 1 inserted",
    .since = 1,
    .version = 25,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .upgrade = unsqueeze_upgrade,
    .infer = unsqueeze_infer,
    .emit = hg_emit_same_elements,
    .gradient = hg_gradient_same_elements,
};
