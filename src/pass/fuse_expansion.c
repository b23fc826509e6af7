/* fuse_expansion.c - a 1x1 convolution that only a depthwise one reads becomes part of it: the map
 * between them, as a rule the largest of a network, is never stored. Rounding of the activation
 * differs, so exact numerics keep what is there. */
#include "op/op_bias_act.h"
#include "op/op_nhwc.h"
#include "pass/pass.h"

enum {
    EXPANSION_OWN = 2,        /* inputs of the convolutions that are not their epilogue's */
    EXPANSION_CHANNELS = 512, /* more weights of a panel would not stay in L1 beside the pixels */
    /* A map that stays in L2 anyway is better computed for several panels at a time: of 112 x 112 x
     * 96 values in one takes 584 instead of 792 us, 14 x 14 x 384 120 and 124, 7 x 7 x 1152 345 and
     * 325 (mobilenet_v2, efficientnet_b0, one Zen 4 core). On Zen 5 networks with maps of 14 x 14 x
     * 256 take 2 to 4 % less with two threads when these are in one too. */
    EXPANSION_VALUES = 1 << 15
};

/* Sizes that only a run knows may be large. */
static bool expansion_is_large(const hg_graph *g, const hg_type *map)
{
    double values = 1;
    for (int32_t k = 1; k < map->rank; k++) {
        int64_t size;
        if (!hg_dim_is_const(&g->dims, map->dim[k], &size)) return true;
        values *= (double)size;
    }
    return values >= EXPANSION_VALUES;
}

static bool expansion_is_pointwise(const hg_graph *g, const hg_node *n)
{
    int64_t channels;
    return hg_nhwc_is_pointwise(n) &&
           hg_dim_is_const(&g->dims, hg_graph_value(g, hg_node_in(g, n, 0))->type.dim[3],
                           &channels) &&
           channels <= EXPANSION_CHANNELS && hg_graph_value(g, n->out[0])->type.dtype == HOLO_F32;
}

/* The 1x1 convolution whose only reader is depthwise convolution `id`, or 0. */
static hg_node_id expansion_find(const hg_graph *g, hg_node_id id, hg_bias_act *act)
{
    const hg_node *n = hg_graph_node(g, id);
    if (!hg_op_is(n, "holo:ConvDw")) return 0;
    const hg_value_id map = hg_node_in(g, n, 0);
    const hg_node_id before = hg_graph_value(g, map)->node;
    if (before == 0 || hg_graph_only_user(g, map) != id) return 0;
    const hg_node *p = hg_graph_node(g, before);
    if (!expansion_is_large(g, &hg_graph_value(g, map)->type) || !expansion_is_pointwise(g, p) ||
        !hg_bias_act_of(g, p, EXPANSION_OWN, act))
        return 0;
    return before;
}

static holo_status expansion_fuse(hg_graph *g, hg_node_id before, hg_node_id id,
                                  const hg_bias_act *act)
{
    hg_build b;
    hg_value_id *in;
    hg_attr *attr;
    hg_build_init(&b, g, id);
    const hg_node *p = hg_graph_node(g, before), *n = hg_graph_node(g, id);
    const uint32_t own = EXPANSION_OWN + 1 + HG_BIAS_ACT_COLUMNS, extra = n->n_in - EXPANSION_OWN;
    uint32_t n_attr = n->n_attr;
    HG_TRY(HG_NEW(g->ctx, own + extra, &in));
    HG_TRY(HG_NEW(g->ctx, n_attr + 1 + HG_BIAS_ACT_NUMBERS, &attr));
    in[0] = hg_node_in(g, p, 0);
    in[1] = hg_node_in(g, p, 1);
    in[2] = hg_node_in(g, n, 1);
    for (uint32_t i = 0; i < HG_BIAS_ACT_COLUMNS; i++)
        in[EXPANSION_OWN + 1 + i] = act->column[i];
    for (uint32_t i = 0; i < extra; i++)
        in[own + i] = hg_node_in(g, n, EXPANSION_OWN + i);
    for (uint32_t i = 0; i < n_attr; i++)
        attr[i] = n->attr[i];
    attr[n_attr++] = hg_attr_make_int("activation", act->kind);
    for (uint32_t i = 0; i < HG_BIAS_ACT_NUMBERS; i++)
        attr[n_attr++] = hg_attr_make_float(hg_bias_act_number[i].name, act->number[i]);
    const hg_node_id made = hg_build_node(&b, "holo:ConvPwDw", in, own + extra, attr, n_attr, 1);
    return hg_build_fused(&b, made, before);
}

static holo_status expansion_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        hg_bias_act act;
        const hg_node_id before = expansion_find(g, id, &act);
        if (before != 0) {
            HG_TRY(expansion_fuse(g, before, id, &act));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_expansion = {
    .name = "fuse_expansion",
    .brief = "a 1x1 convolution in front of a depthwise one is computed inside it",
    .flags = HG_PASS_TUNED,
    .run = expansion_run,
};
