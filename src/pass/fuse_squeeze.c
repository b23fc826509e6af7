/* fuse_squeeze.c - the mean over the map of a depthwise convolution, as squeeze-and-excite blocks
 * take it, becomes the mean over the means of its rows, which the convolution makes while they are
 * in cache. Sums are added in another order, so exact numerics keep what is there. */
#include "op/op_nhwc.h"
#include "pass/pass.h"

/* Over height and width of a channels-last map. */
static bool squeeze_is_mean(hg_graph *g, const hg_node *n)
{
    size_t count;
    const int64_t *axes;
    return hg_op_is(n, "ReduceMean") && hg_node_in(g, n, 1) != 0 &&
           hg_graph_const_ints(g, hg_node_in(g, n, 1), &axes, &count) && count == 2 &&
           ((axes[0] == 1 && axes[1] == 2) || (axes[0] == 2 && axes[1] == 1));
}

/* The depthwise convolution whose rows have means, or 0. */
static hg_node_id squeeze_convolution(const hg_graph *g, const hg_node *n)
{
    const hg_value *map = hg_graph_value(g, hg_node_in(g, n, 0));
    if (map->node == 0 || map->type.rank != 4 || map->type.dtype != HOLO_F32 ||
        !hg_dim_is_positive(&g->dims, map->type.dim[2]))
        return 0;
    const hg_node *p = hg_graph_node(g, map->node);
    return hg_op_is(p, "holo:ConvDw") || hg_op_is(p, "holo:ConvPwDw") ? map->node : 0;
}

/* The convolution with means as a second output. */
static holo_status squeeze_add_means(hg_graph *g, hg_node_id id, hg_node_id *out)
{
    hg_build b;
    hg_value_id *in;
    *out = id;
    const uint32_t n_in = hg_graph_node(g, id)->n_in;
    if (hg_graph_node(g, id)->n_out == 2) return HOLO_OK;
    hg_build_init(&b, g, id);
    HG_TRY(HG_NEW(g->ctx, n_in, &in));
    const hg_node *n = hg_graph_node(g, id);
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = hg_node_in(g, n, i);
    const char *name = hg_op_is(n, "holo:ConvDw") ? "holo:ConvDw" : "holo:ConvPwDw";
    *out = hg_build_node(&b, name, in, n_in, n->attr, n->n_attr, 2);
    if (*out == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, *out)->out[0]);
    hg_graph_remove_node(g, id);
    return b.status;
}

/* The mean over a map is the mean over the means of its rows, which are all as long. */
static holo_status squeeze_mean(hg_graph *g, hg_node_id id, hg_node_id before)
{
    hg_build b;
    hg_node_id conv;
    HG_TRY(squeeze_add_means(g, before, &conv));
    hg_build_init(&b, g, id);
    const hg_value_id in[2] = {hg_graph_node(g, conv)->out[1], hg_build_in(&b, 1)};
    const hg_node_id made = hg_build_clone(&b, in, 2);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status squeeze_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id conv = squeeze_is_mean(g, n) ? squeeze_convolution(g, n) : 0;
        if (conv != 0) HG_TRY(squeeze_mean(g, id, conv));
        *changed |= conv != 0;
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_squeeze = {
    .name = "fuse_squeeze",
    .brief = "means over the map of a depthwise convolution are made of those of its rows",
    .flags = HG_PASS_TUNED,
    .run = squeeze_run,
};
