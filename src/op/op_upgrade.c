/* op_upgrade.c - rewrites of old operator versions that several operators share. */
#include "op/op_upgrade.h"

#include <math.h>

holo_status hg_upgrade_broadcast(hg_graph *g, hg_node_id id, int32_t opset)
{
    const hg_node *node = hg_graph_node(g, id);
    const hg_attr *axis = hg_node_attr(node, "axis");
    if (opset >= 7 || axis == NULL || hg_node_int(node, "broadcast", 0) == 0) return HOLO_OK;
    if (node->n_in < 2) return HOLO_OK; /* inference says what is missing */
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id right = hg_build_in(&b, 1);
    int32_t rank = hg_build_type(&b, hg_build_in(&b, 0))->rank;
    int32_t right_rank = hg_build_type(&b, right)->rank;
    int64_t first = axis->i < 0 ? axis->i + rank : axis->i;
    if (rank < 0 || right_rank < 0 || first < 0 || first + right_rank > rank)
        return hg_build_fail(
            &b, HOLO_E_SHAPE,
            "axis is %lld, expected a place for the %d dimensions of input 1 among "
            "the %d of input 0",
            (long long)axis->i, right_rank, rank);
    uint32_t count = (uint32_t)(rank - first - right_rank);
    if (count == 0) return HOLO_OK;
    int64_t axes[HG_MAX_RANK];
    for (uint32_t i = 0; i < count; i++)
        axes[i] = right_rank + (int64_t)i;
    right = hg_build_2(&b, "Unsqueeze", right, hg_build_ints(&b, axes, count));
    if (b.status == HOLO_OK) hg_graph_set_input(g, id, 1, right);
    return b.status;
}

holo_status hg_rewrite_as(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                          const hg_attr *attr, uint32_t n_attr)
{
    uint32_t n_out = b->node->n_out;
    hg_node_id id = hg_build_node(b, op, in, n_in, attr, n_attr, n_out);
    for (uint32_t j = 0; j < n_out && b->status == HOLO_OK; j++)
        hg_build_replace(b, j, hg_graph_node(b->g, id)->out[j]);
    return b->status;
}

holo_status hg_upgrade_replace(hg_build *b, const char *op, const hg_value_id *in, uint32_t n_in,
                               const hg_attr *attr, uint32_t n_attr)
{
    HG_TRY(hg_rewrite_as(b, op, in, n_in, attr, n_attr));
    hg_graph_remove_node(b->g, b->id);
    return HOLO_OK;
}

holo_status hg_upgrade_ints_to_inputs(hg_graph *g, hg_node_id id, uint32_t first,
                                      const char *const *name, uint32_t count)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_node *node = b.node;
    if (node->n_in > first) return HOLO_OK;
    hg_value_id in[16] = {0};
    uint32_t n_in = first;
    for (uint32_t i = 0; i < node->n_in; i++)
        in[i] = hg_build_in(&b, i);
    for (uint32_t i = 0; i < count; i++) {
        const hg_attr *attr = name[i] == NULL ? NULL : hg_node_attr(node, name[i]);
        if (attr == NULL) continue;
        if (attr->kind != HG_ATTR_INTS)
            return hg_build_fail(&b, HOLO_E_MODEL, "attribute %s is not a list of integers",
                                 name[i]);
        in[first + i] = hg_build_ints(&b, attr->ints, (uint32_t)attr->count);
        n_in = first + i + 1;
    }
    if (n_in == first || b.status != HOLO_OK) return b.status;
    return hg_upgrade_replace(&b, b.node->op->name, in, n_in, b.node->attr, b.node->n_attr);
}

holo_status hg_upgrade_norm(hg_graph *g, hg_node_id id, int32_t opset)
{
    const hg_attr *attr = hg_node_attr(hg_graph_node(g, id), "p");
    hg_build b;
    if (opset >= 2 || attr == NULL || attr->kind != HG_ATTR_FLOAT) return HOLO_OK;
    const double p = (double)attr->f;
    hg_build_init(&b, g, id);
    if (!(p >= 1.0 && p <= 0x1p31))
        return hg_build_fail(&b, HOLO_E_MODEL, "p is %g, expected at least 1", p);
    if (p == floor(p)) return hg_graph_set_attr(g, id, hg_attr_make_int("p", (int64_t)p));
    const holo_dtype dtype = hg_build_type(&b, hg_build_in(&b, 0))->dtype;
    hg_value_id x = hg_build_1(&b, "Abs", hg_build_in(&b, 0));
    x = hg_build_2(&b, "Pow", x, hg_build_scalar(&b, dtype, p));
    HG_TRY(b.status);
    HG_TRY(hg_graph_set_attr(g, id, hg_attr_make_int("p", 1)));
    hg_node_id sum = hg_build_clone(&b, &x, 1);
    HG_TRY(b.status);
    x = hg_graph_node(g, sum)->out[0];
    x = hg_build_2(&b, "Pow", x, hg_build_scalar(&b, dtype, 1.0 / p));
    HG_TRY(b.status);
    hg_build_replace(&b, 0, x);
    hg_graph_remove_node(g, id);
    return b.status;
}
