/* share_panels.c - a table that a packed product reads too is stored once: the embedding picks its
 * rows out of the panels.
 *
 *     Gather(w, i), MatMulP16(x, PackP16(w)) -> GatherP16(PackP16(w), i), MatMulP16(x, PackP16(w))
 *
 * Packings of equal content are one weight of the file. A row takes a cache line per element, which
 * is nothing beside the product, and the file and the memory it takes are smaller by the table. */
#include "pass/pass.h"

static bool share_is_gather(const hg_graph *g, const hg_node *n)
{
    if (!hg_op_is(n, "Gather")) return false;
    const hg_value_id w = hg_node_in(g, n, 0), index = hg_node_in(g, n, 1);
    const hg_type *t = &hg_graph_value(g, w)->type;
    const int64_t axis = hg_node_int(n, "axis", 0);
    return hg_graph_is_const(g, w) && t->rank == 2 && (axis == 0 || axis == -2) &&
           (t->dtype == HOLO_F32 || t->dtype == HOLO_F16) &&
           hg_graph_value(g, index)->type.rank < HG_MAX_RANK;
}

/* All of the rows of a table as columns. */
static bool share_is_pack(const hg_node *n)
{
    return hg_op_is(n, "holo:PackP16") && n->n_in == 1 && hg_node_int(n, "trans", 0) != 0 &&
           hg_node_attr(n, "columns") == NULL;
}

static bool share_is_same(hg_graph *g, hg_value_id a, hg_value_id b)
{
    return a == b || (hg_graph_is_const(g, b) &&
                      hg_type_equal(&hg_graph_value(g, a)->type, &hg_graph_value(g, b)->type) &&
                      hg_graph_const_hash(g, a) == hg_graph_const_hash(g, b));
}

/* Some node packs the table, and nobody needs it as it is. */
static bool share_pays(hg_graph *g, hg_value_id table)
{
    bool is_packed = false;
    if (hg_graph_is_output(g, table)) return false;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        const hg_node *n = hg_graph_node(g, id);
        const bool is_pack = share_is_pack(n);
        for (uint32_t i = 0; i < n->n_in; i++) {
            const hg_value_id v = hg_node_in(g, n, i);
            if (v == 0 || hg_graph_value(g, v)->type.rank != 2) continue;
            if (is_pack && share_is_same(g, table, v)) is_packed = true;
            if (v == table && !is_pack && !share_is_gather(g, n)) return false;
        }
    }
    return is_packed;
}

static holo_status share_replace(hg_graph *g, hg_node_id id)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_value_id table = hg_build_in(&b, 0);
    const hg_attr trans = hg_attr_make_int("trans", 1),
                  n = hg_attr_make_dims(&b, "n", &hg_build_type(&b, table)->dim[0], 1);
    const hg_value_id in[2] = {hg_build_op(&b, "holo:PackP16", &table, 1, &trans, 1),
                               hg_build_in(&b, 1)};
    hg_build_replace(&b, 0, hg_build_op(&b, "holo:GatherP16", in, 2, &n, 1));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status share_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        if (share_is_gather(g, n) && share_pays(g, hg_node_in(g, n, 0))) {
            HG_TRY(share_replace(g, id));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_share_panels = {
    .name = "share_panels",
    .brief = "embeddings read the panels of the product that has the same table",
    .flags = HG_PASS_TUNED,
    .run = share_run,
};
