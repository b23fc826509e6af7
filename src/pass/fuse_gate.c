/* fuse_gate.c - the gate of a squeeze-and-excite block goes into the weights of the 1x1 convolution
 * behind it instead of over the map. Products are rounded at another place, so exact numerics keep
 * what is there. */
#include "op/op_nhwc.h"
#include "pass/pass.h"

enum {
    GATE_OWN = 2,       /* inputs of the 1x1 convolution that are not its epilogue's */
    GATE_OUTPUTS = 512, /* gating more weights than that costs more than scaling the map */
    GATE_PIXELS = 24    /* the same for fewer pixels */
};

/* [images or 1, 1, 1, channels] for a map [images, .., .., channels]. */
static bool gate_is_one(const hg_graph *g, hg_value_id gate, const hg_type *map)
{
    const hg_type *t = &hg_graph_value(g, gate)->type;
    return t->rank == 4 && t->dtype == HOLO_F32 &&
           (t->dim[0] == map->dim[0] || hg_dim_is(&g->dims, t->dim[0], 1)) &&
           hg_dim_is(&g->dims, t->dim[1], 1) && hg_dim_is(&g->dims, t->dim[2], 1) &&
           t->dim[3] == map->dim[3];
}

static bool gate_is_map(const hg_graph *g, hg_value_id v, const hg_type *map)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    if (t->rank != 4 || t->dtype != HOLO_F32) return false;
    for (int32_t k = 0; k < 4; k++)
        if (t->dim[k] != map->dim[k]) return false;
    return true;
}

/* Sizes that only a run knows may be large. */
static bool gate_pays(const hg_graph *g, const hg_type *map, const hg_type *out)
{
    int64_t h, w, channels;
    const bool is_known =
        hg_dim_is_const(&g->dims, map->dim[1], &h) && hg_dim_is_const(&g->dims, map->dim[2], &w);
    return hg_dim_is_const(&g->dims, out->dim[3], &channels) && channels <= GATE_OUTPUTS &&
           (!is_known || h > GATE_PIXELS || w > GATE_PIXELS || h * w > GATE_PIXELS);
}

/* Whether the input of a 1x1 convolution is a gated map that nobody else reads: map and gate. */
static hg_node_id gate_find(const hg_graph *g, hg_node_id id, hg_value_id *map, hg_value_id *gate)
{
    const hg_node *n = hg_graph_node(g, id);
    if (!hg_nhwc_is_pointwise(n)) return 0;
    const hg_value_id x = hg_node_in(g, n, 0);
    const hg_value *v = hg_graph_value(g, x);
    if (v->node == 0 || v->type.rank != 4 || hg_graph_only_user(g, x) != id ||
        !gate_pays(g, &v->type, &hg_graph_value(g, n->out[0])->type))
        return 0;
    const hg_node *mul = hg_graph_node(g, v->node);
    if (!hg_op_is(mul, "Mul")) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        *gate = hg_node_in(g, mul, i);
        *map = hg_node_in(g, mul, 1 - i);
        if (gate_is_one(g, *gate, &v->type) && gate_is_map(g, *map, &v->type)) return v->node;
    }
    return 0;
}

static holo_status gate_fuse(hg_graph *g, hg_node_id id, hg_node_id mul, hg_value_id map,
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
    for (uint32_t i = GATE_OWN; i < n_in; i++)
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

static holo_status gate_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        hg_value_id map, gate;
        const hg_node_id mul = gate_find(g, id, &map, &gate);
        if (mul != 0) HG_TRY(gate_fuse(g, id, mul, map, gate));
        *changed |= mul != 0;
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_gate = {
    .name = "fuse_gate",
    .brief = "the gate of a squeeze-and-excite block goes into weights",
    .flags = HG_PASS_TUNED,
    .run = gate_run,
};
