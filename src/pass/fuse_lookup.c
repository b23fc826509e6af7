/* fuse_lookup.c - a table behind an 8-bit product or convolution whose epilogue makes codes: each
 * tile is looked up while it is in cache, and the codes before are never stored elsewhere. Tables
 * of all 256 codes only: the product may make any of them. */
#include "op/op_codes.h"
#include "pass/pass.h"

static bool lookup_is_product(const hg_graph *g, hg_node_id id)
{
    if (id == 0) return false;
    const hg_node *n = hg_graph_node(g, id);
    return (hg_op_is(n, "holo:ConvNhwcI8") || hg_op_is(n, "holo:MatMulP16I8")) &&
           hg_node_attr(n, "code") != NULL && hg_node_int(n, "lookup", 0) == 0;
}

static holo_status lookup_fuse(hg_graph *g, hg_node_id producer, hg_node_id id)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_value_id x = hg_node_in(g, hg_graph_node(g, producer), 0);
    return hg_build_fused(&b, hg_build_codes_table(&b, producer, x, hg_build_in(&b, 1), "lookup"),
                          producer);
}

static holo_status lookup_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first, next; id != 0; id = next) {
        const hg_node *n = hg_graph_node(g, id);
        next = n->next;
        if (!hg_codes_table_fits(g, n)) continue;
        const hg_value_id codes = hg_node_in(g, n, 0);
        const hg_node_id producer = hg_graph_value(g, codes)->node;
        if (!lookup_is_product(g, producer) || hg_graph_only_user(g, codes) != id) continue;
        HG_TRY(lookup_fuse(g, producer, id));
        *changed = true;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_lookup = {
    .name = "fuse_lookup",
    .brief = "a table behind an 8-bit product is looked up on its tiles",
    .run = lookup_run,
};
