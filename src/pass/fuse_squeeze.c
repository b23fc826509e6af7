/* fuse_squeeze.c - squeeze-and-excite blocks without passes over their map: the depthwise
 * convolution in front gives the means of its rows, made while they are in cache, and the 1x1
 * convolution behind takes the gate into its weights. Sums are added in another order, so exact
 * numerics keep what is there. */
#include "op/op_nhwc.h"
#include "pass/pass.h"

enum {
    SQUEEZE_OWN = 2,       /* inputs of the 1x1 convolution that are not its epilogue's */
    SQUEEZE_OUTPUTS = 512, /* gating more weights than that costs more than scaling the map */
    SQUEEZE_PIXELS = 24    /* the same for fewer pixels */
};

/* ---- means ------------------------------------------------------------------------------- */

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

/* ---- gates ------------------------------------------------------------------------------- */

/* [images or 1, 1, 1, channels] for a map [images, .., .., channels]. */
static bool squeeze_is_gate(const hg_graph *g, hg_value_id gate, const hg_type *map)
{
    const hg_type *t = &hg_graph_value(g, gate)->type;
    return t->rank == 4 && t->dtype == HOLO_F32 &&
           (t->dim[0] == map->dim[0] || hg_dim_is(&g->dims, t->dim[0], 1)) &&
           hg_dim_is(&g->dims, t->dim[1], 1) && hg_dim_is(&g->dims, t->dim[2], 1) &&
           t->dim[3] == map->dim[3];
}

static bool squeeze_is_map(const hg_graph *g, hg_value_id v, const hg_type *map)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    if (t->rank != 4 || t->dtype != HOLO_F32) return false;
    for (int32_t k = 0; k < 4; k++)
        if (t->dim[k] != map->dim[k]) return false;
    return true;
}

/* Sizes that only a run knows may be large. */
static bool squeeze_pays(const hg_graph *g, const hg_type *map, const hg_type *out)
{
    int64_t h, w, channels;
    const bool is_known =
        hg_dim_is_const(&g->dims, map->dim[1], &h) && hg_dim_is_const(&g->dims, map->dim[2], &w);
    return hg_dim_is_const(&g->dims, out->dim[3], &channels) && channels <= SQUEEZE_OUTPUTS &&
           (!is_known || h > SQUEEZE_PIXELS || w > SQUEEZE_PIXELS || h * w > SQUEEZE_PIXELS);
}

/* Whether the input of a 1x1 convolution is a gated map that nobody else reads: map and gate. */
static hg_node_id squeeze_find_gate(const hg_graph *g, hg_node_id id, hg_value_id *map,
                                    hg_value_id *gate)
{
    const hg_node *n = hg_graph_node(g, id);
    if (!hg_nhwc_is_pointwise(n)) return 0;
    const hg_value_id x = hg_node_in(g, n, 0);
    const hg_value *v = hg_graph_value(g, x);
    if (v->node == 0 || v->type.rank != 4 || hg_graph_only_user(g, x) != id ||
        !squeeze_pays(g, &v->type, &hg_graph_value(g, n->out[0])->type))
        return 0;
    const hg_node *mul = hg_graph_node(g, v->node);
    if (!hg_op_is(mul, "Mul")) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        *gate = hg_node_in(g, mul, i);
        *map = hg_node_in(g, mul, 1 - i);
        if (squeeze_is_gate(g, *gate, &v->type) && squeeze_is_map(g, *map, &v->type))
            return v->node;
    }
    return 0;
}

static holo_status squeeze_gate(hg_graph *g, hg_node_id id, hg_node_id mul, hg_value_id map,
                                hg_value_id gate)
{
    hg_build b;
    hg_value_id *in;
    const uint32_t n_in = hg_graph_node(g, id)->n_in;
    hg_build_init(&b, g, id);
    HG_TRY(HG_NEW(g->ctx, n_in + 1, &in));
    const hg_node *n = hg_graph_node(g, id);
    in[0] = map;
    in[1] = hg_node_in(g, n, 1);
    in[2] = gate;
    for (uint32_t i = SQUEEZE_OWN; i < n_in; i++)
        in[i + 1] = hg_node_in(g, n, i);
    hg_attr attr[3];
    uint32_t n_attr = 0;
    for (uint32_t i = 0; i < n->n_attr && n_attr < HG_COUNT(attr); i++)
        if (hg_str_is(n->attr[i].name, "out_channels") || hg_str_is(n->attr[i].name, "code") ||
            hg_str_is(n->attr[i].name, "types"))
            attr[n_attr++] = n->attr[i];
    const hg_node_id made = hg_build_node(&b, "holo:ConvGated", in, n_in + 1, attr, n_attr, 1);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    hg_graph_remove_node(g, id);
    hg_graph_remove_node(g, mul);
    return b.status;
}

static holo_status squeeze_node(hg_graph *g, hg_node_id id, bool *changed)
{
    hg_value_id map, gate;
    const hg_node *n = hg_graph_node(g, id);
    const hg_node_id conv = squeeze_is_mean(g, n) ? squeeze_convolution(g, n) : 0;
    const hg_node_id mul = squeeze_find_gate(g, id, &map, &gate);
    *changed |= conv != 0 || mul != 0;
    if (conv != 0) return squeeze_mean(g, id, conv);
    return mul != 0 ? squeeze_gate(g, id, mul, map, gate) : HOLO_OK;
}

static holo_status squeeze_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        HG_TRY(squeeze_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_squeeze = {
    .name = "fuse_squeeze",
    .brief =
        "squeeze-and-excite: means are made by the depthwise convolution, gates go into weights",
    .flags = HG_PASS_TUNED,
    .run = squeeze_run,
};
