/* fuse_lookup.c - a table behind an 8-bit product or convolution whose epilogue makes codes: each
 * tile is looked up while it is in cache, and the codes before are never stored elsewhere. Tables
 * of all 256 codes only: the product may make any of them. */
#include "pass/pass.h"

static bool lookup_is_product(const hg_graph *g, hg_node_id id)
{
    if (id == 0) return false;
    const hg_node *n = hg_graph_node(g, id);
    return (hg_op_is(n, "holo:ConvNhwcI8") || hg_op_is(n, "holo:MatMulP16I8")) &&
           hg_node_attr(n, "code") != NULL && hg_node_int(n, "lookup", 0) == 0;
}

/* One row with an entry of the codes' own type for each byte. */
static bool lookup_fits(const hg_graph *g, const hg_node *n)
{
    const hg_type *codes = &hg_graph_value(g, hg_node_in(g, n, 0))->type,
                  *table = &hg_graph_value(g, hg_node_in(g, n, 1))->type;
    return (codes->dtype == HOLO_U8 || codes->dtype == HOLO_I8) && table->dtype == codes->dtype &&
           table->rank == 1 && hg_dim_is(&g->dims, table->dim[0], 256) &&
           hg_node_int(n, "base", 0) == 0 && hg_node_int(n, "classes", 0) == 0;
}

static holo_status lookup_fuse(hg_graph *g, hg_node_id producer, hg_node_id id)
{
    hg_build b;
    hg_value_id *in;
    hg_attr *attr;
    hg_build_init(&b, g, id);
    const hg_node *p = hg_graph_node(g, producer);
    const uint32_t n_in = p->n_in, n_attr = p->n_attr;
    HG_TRY(HG_NEW(g->ctx, n_in + 1, &in));
    HG_TRY(HG_NEW(g->ctx, n_attr + 1, &attr));
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = hg_node_in(g, p, i);
    in[n_in] = hg_build_in(&b, 1);
    for (uint32_t i = 0; i < n_attr; i++)
        attr[i] = p->attr[i];
    attr[n_attr] = hg_attr_make_int("lookup", 1);
    const char *name = hg_op_is(p, "holo:ConvNhwcI8") ? "holo:ConvNhwcI8" : "holo:MatMulP16I8";
    hg_node_id made = hg_build_node(&b, name, in, n_in + 1, attr, n_attr + 1, 1);
    return hg_build_fused(&b, made, producer);
}

static holo_status lookup_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first, next; id != 0; id = next) {
        const hg_node *n = hg_graph_node(g, id);
        next = n->next;
        if (!hg_op_is(n, "holo:Table") || !lookup_fits(g, n)) continue;
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
