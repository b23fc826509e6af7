/* choose_layout.c - convolutions and what surrounds them work on channels-last tensors: each is
 * rewritten with a Transpose before and after; push_transpose then moves these together and most of
 * them vanish. Weights are packed for the kernels; f16 weights behind a Cast stay f16. */
#include "op/op_codes.h"
#include "op/op_conv.h"
#include "op/op_pool.h"
#include "pass/pass.h"
#include "table/cert.h"

enum {
    LAYOUT_FEW = 4,    /* groups that fit a panel, at least, where some are computed together */
    LAYOUT_VECTOR = 8, /* channels that are computed together by kernels of one channel at a time */
    LAYOUT_SIDE = 4,   /* of a tile of Winograd's algorithm, */
    LAYOUT_TILES = 20, /* which so many of them pay for */
    LAYOUT_PLACES = 64 /* of a result, at least, for weights that are computed */
};

/* The last axis moved to place 1, or back. */
static hg_value_id layout_turn(hg_build *b, hg_value_id x, bool to_last)
{
    static const int64_t last[][5] = {{0, 2, 3, 1}, {0, 2, 3, 4, 1}};
    static const int64_t first[][5] = {{0, 3, 1, 2}, {0, 4, 1, 2, 3}};
    const int32_t rank = hg_build_type(b, x)->rank;
    const int64_t *perm = to_last ? last[rank == 5] : first[rank == 5];
    const hg_attr attr = hg_attr_make_ints(b, "perm", perm, rank == 5 ? 5 : 4);
    return hg_build_op(b, "Transpose", &x, 1, &attr, 1);
}

/* A 1-D tensor [n, c, l] is seen as [n, c, 1, l]. */
static hg_value_id layout_before(hg_build *b, hg_value_id x)
{
    if (hg_build_type(b, x)->rank == 3)
        x = hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){2}, 1));
    return layout_turn(b, x, true);
}

static hg_value_id layout_after(hg_build *b, hg_value_id x, int32_t rank)
{
    x = layout_turn(b, x, false);
    if (rank == 3) x = hg_build_2(b, "Squeeze", x, hg_build_ints(b, (int64_t[]){2}, 1));
    return x;
}

/* Window attributes of a 1-D node get a first axis of no effect. */
static hg_attr layout_attr(hg_build *b, const hg_attr *from, int32_t rank)
{
    if (rank != 3 || from->kind != HG_ATTR_INTS) return *from;
    int64_t values[4];
    bool is_pads = hg_str_is(from->name, "pads");
    values[0] = is_pads ? 0 : 1;
    values[1] = from->count > 0 ? from->ints[0] : 0;
    values[2] = 0;
    values[3] = from->count > 1 ? from->ints[1] : 0;
    hg_attr made = hg_attr_make_ints(b, "", values, is_pads ? 4 : 2);
    made.name = from->name;
    return made;
}

/* The constant behind the weights: itself, or the f16 one that a Cast widens. */
static hg_value_id layout_constant(const hg_graph *g, hg_value_id w)
{
    const hg_value *v = hg_graph_value(g, w);
    if (v->constant != NULL) return w;
    if (v->node == 0 || !hg_op_is(hg_graph_node(g, v->node), "Cast")) return 0;
    hg_value_id from = hg_node_in(g, hg_graph_node(g, v->node), 0);
    const hg_value *c = hg_graph_value(g, from);
    return c->constant != NULL && c->type.dtype == HOLO_F16 ? from : 0;
}

/* Weights [o, c, l] as [o, c, 1, l]: the same bytes. */
static hg_value_id layout_widen(hg_build *b, hg_value_id weights)
{
    hg_value v = *hg_graph_value(b->g, weights);
    hg_type type = v.type;
    hg_value_id made;
    if (type.rank != 3) return weights;
    if (v.constant == NULL)
        return hg_build_2(b, "Unsqueeze", weights, hg_build_ints(b, (int64_t[]){2}, 1));
    type.rank = 4;
    type.dim[3] = type.dim[2];
    type.dim[2] = hg_dim_const(&b->g->dims, 1);
    b->status = hg_graph_add_const(b->g, v.name, type, v.constant->data, v.constant->bytes, &made);
    return b->status == HOLO_OK ? made : 0;
}

static bool layout_is_depthwise(const hg_graph *g, const hg_type *w, int64_t groups)
{
    return groups > 1 && hg_dim_is(&g->dims, w->dim[0], groups) &&
           hg_dim_is(&g->dims, w->dim[1], 1);
}

/* All entries of an attribute are 1, or there are none. */
static bool layout_is_one(const hg_node *n, const char *name)
{
    size_t count;
    const int64_t *v = hg_node_ints(n, name, &count);
    for (size_t i = 0; v != NULL && i < count; i++)
        if (v[i] != 1) return false;
    return true;
}

/* 3x3 in steps of 1 over a map that is not known to be small. */
static bool layout_suits_winograd(const hg_graph *g, const hg_node *n, const hg_type *w)
{
    const hg_type *y = &hg_graph_value(g, n->out[0])->type;
    int64_t high, wide;
    if (w->rank != 4 || y->rank != 4 || !hg_dim_is(&g->dims, w->dim[2], 3) ||
        !hg_dim_is(&g->dims, w->dim[3], 3) || !layout_is_one(n, "strides") ||
        !layout_is_one(n, "dilations"))
        return false;
    return !hg_dim_is_const(&g->dims, y->dim[2], &high) ||
           !hg_dim_is_const(&g->dims, y->dim[3], &wide) ||
           hg_ceil_div(high, LAYOUT_SIDE) * hg_ceil_div(wide, LAYOUT_SIDE) >= LAYOUT_TILES;
}

/* Groups of a few channels are computed several together, as many as fit a panel, by weights that
 * are zero for the channels of the others: a panel has the columns anyway, and taps of a few
 * channels are too short for the inner loop. Where two make a panel Winograd's algorithm, which
 * needs whole ones, makes good for the zeros. How many. */
static int64_t layout_together(const hg_graph *g, const hg_node *n, const hg_type *w,
                               int64_t groups)
{
    int64_t outputs, channels;
    if (g->ctx->numerics == HOLO_EXACT || w->dtype != HOLO_F32 || groups < 2 ||
        !hg_dim_is_const(&g->dims, w->dim[0], &outputs) ||
        !hg_dim_is_const(&g->dims, w->dim[1], &channels))
        return 1;
    const int64_t each = outputs / groups, most = HG_PANEL / hg_max(1, hg_max(each, channels));
    if (most == 2 && groups % 2 == 0 && 2 * each == HG_PANEL && 2 * channels == HG_PANEL &&
        layout_suits_winograd(g, n, w))
        return 2;
    if (most < LAYOUT_FEW) return 1;
    for (int64_t m = most; m > 1; m--)
        if (groups % m == 0) return m;
    return 1;
}

/* Weights [o, c, ..] as [o, m c, ..], zero but for the channels of the output's own group. */
static hg_value_id layout_join_groups(hg_build *b, hg_value_id constant, int64_t groups, int64_t m)
{
    const hg_value v = *hg_graph_value(b->g, constant);
    hg_type type = v.type;
    int64_t outputs = 0, channels = 0;
    (void)hg_dim_is_const(&b->g->dims, type.dim[0], &outputs);
    (void)hg_dim_is_const(&b->g->dims, type.dim[1], &channels);
    const size_t row = v.constant->bytes / (size_t)outputs; /* bytes of one output */
    char *made;
    type.dim[1] = hg_dim_const(&b->g->dims, m * channels);
    b->status = HG_NEW(b->ctx, v.constant->bytes * (size_t)m, &made); /* zeros */
    for (int64_t o = 0; b->status == HOLO_OK && o < outputs; o++)
        memcpy(made + (size_t)(o * m + o / (outputs / groups) % m) * row,
               (const char *)v.constant->data + (size_t)o * row, row);
    return hg_build_const(b, type, made, v.constant->bytes * (size_t)m);
}

/* Window attributes, the size of the kernel and, if wanted, the number of outputs. */
static uint32_t layout_conv_attrs(hg_build *b, const hg_type *w, int32_t rank, bool outputs,
                                  hg_attr attr[16])
{
    uint32_t n_attr = 0;
    for (uint32_t i = 0; i < b->node->n_attr && n_attr < 12; i++)
        if (!hg_str_is(b->node->attr[i].name, "kernel_shape"))
            attr[n_attr++] = layout_attr(b, &b->node->attr[i], rank);
    int64_t kernel[3] = {1, 1, 1};
    for (int32_t k = 0; k < w->rank - 2 && k < 3; k++)
        (void)hg_dim_is_const(&b->g->dims, w->dim[2 + k], &kernel[k]);
    attr[n_attr++] = hg_attr_make_ints(b, "kernel_shape", kernel, (uint32_t)w->rank - 2);
    if (outputs) attr[n_attr++] = hg_attr_make_dims(b, "out_channels", &w->dim[0], 1);
    return n_attr;
}

static holo_status layout_conv(hg_graph *g, hg_node_id id, hg_value_id weights)
{
    hg_build b;
    hg_build_init(&b, g, id);
    int32_t rank = hg_build_type(&b, hg_build_in(&b, 0))->rank;
    int64_t groups = hg_node_int(b.node, "group", 1);
    hg_value_id w = layout_widen(&b, weights), x = layout_before(&b, hg_build_in(&b, 0));
    if (b.status != HOLO_OK) return b.status;
    const int64_t together =
        hg_graph_is_const(g, w) ? layout_together(g, b.node, hg_build_type(&b, w), groups) : 1;
    const bool depthwise = layout_is_depthwise(g, hg_build_type(&b, w), groups) &&
                           (together < groups || groups >= LAYOUT_VECTOR);
    if (together > 1 && !depthwise) {
        w = layout_join_groups(&b, w, groups, together);
        if (b.status != HOLO_OK) return b.status;
        groups /= together;
    }
    hg_type wt = *hg_build_type(&b, w);
    hg_attr group = hg_attr_make_int("group", groups), attr[16];
    hg_value_id packed = depthwise ? hg_build_op(&b, "holo:PackDw", &w, 1, NULL, 0)
                                   : hg_build_op(&b, "holo:PackConv", &w, 1, &group, 1);
    const uint32_t n_attr = layout_conv_attrs(&b, &wt, rank, !depthwise, attr);
    for (uint32_t i = 0; i < n_attr; i++)
        if (hg_str_is(attr[i].name, "group")) attr[i] = group;
    hg_value_id in[2] = {x, packed};
    hg_value_id out =
        hg_build_op(&b, depthwise ? "holo:ConvDw" : "holo:ConvNhwc", in, 2, attr, n_attr);
    if (hg_build_in(&b, 2) != 0) out = hg_build_2(&b, "Add", out, hg_build_in(&b, 2));
    hg_build_replace(&b, 0, layout_after(&b, out, rank));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* Columns of codes along k as PackConvI8 lays them out. */
static bool layout_codes(const hg_graph *g, const hg_value *w, hg_code_columns *c)
{
    int64_t dim[4];
    for (int k = 0; k < 4; k++)
        if (!hg_dim_is_const(&g->dims, w->type.dim[k], &dim[k])) return false;
    c->columns = dim[0];
    c->k = dim[1] * dim[2] * dim[3];
    c->channels = dim[1];
    c->channel_step = dim[2] * dim[3];
    c->tap_step = 1;
    c->column_step = c->k;
    return true;
}

static holo_status layout_conv_codes(hg_graph *g, hg_node_id id)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const int32_t rank = hg_build_type(&b, hg_build_in(&b, 0))->rank;
    const int64_t groups = hg_node_int(b.node, "group", 1);
    hg_code_columns codes = {.value = layout_widen(&b, hg_build_in(&b, 1))};
    hg_value_id x = layout_before(&b, hg_build_in(&b, 0)), zero = hg_build_in(&b, 3), packed;
    if (b.status != HOLO_OK) return b.status;
    const hg_type wt = *hg_build_type(&b, codes.value);
    const bool depthwise = layout_is_depthwise(g, &wt, groups);
    const bool is_fixed = layout_codes(g, hg_graph_value(g, codes.value), &codes);
    const bool pairs = is_fixed && !depthwise && hg_codes_are_pairs(g, &codes);
    hg_attr group = hg_attr_make_int("group", groups), attr[17];
    uint32_t n_attr = layout_conv_attrs(&b, &wt, rank, !depthwise, attr);
    if (depthwise) {
        packed = hg_build_op(&b, "holo:PackDw", &codes.value, 1, NULL, 0);
    } else {
        packed = hg_build_op(&b, "holo:PackConvI8", &codes.value, 1, &group, 1);
        zero = hg_build_codes_zero(&b, zero, wt.dtype, codes.columns);
        attr[n_attr++] = hg_attr_make_int("pairs", pairs);
    }
    if (is_fixed && depthwise) HG_TRY(hg_cert_add_depthwise(g, packed, id, codes.k));
    if (is_fixed && !depthwise) HG_TRY(hg_cert_add_panels(g, packed, id, codes.k, pairs));
    hg_value_id in[4] = {x, packed, hg_build_in(&b, 2), zero};
    hg_value_id out =
        hg_build_op(&b, depthwise ? "holo:ConvDwI8" : "holo:ConvNhwcI8", in, 4, attr, n_attr);
    hg_build_replace(&b, 0, layout_after(&b, out, rank));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* Constant weights of one or two spatial dims, zero points that the kernels take. */
static bool layout_takes_codes(const hg_graph *g, const hg_node *n)
{
    const hg_value *w = hg_graph_value(g, hg_node_in(g, n, 1));
    const hg_value_id zero = hg_node_in(g, n, 2);
    int64_t outputs, count;
    if (w->constant == NULL || w->constant->bytes == 0 || w->type.rank < 3 || w->type.rank > 4)
        return false;
    if (zero != 0) {
        const hg_type *t = &hg_graph_value(g, zero)->type;
        if (t->rank > 1 ||
            (t->rank == 1 && !(hg_dim_is_const(&g->dims, t->dim[0], &count) && count == 1)))
            return false;
    }
    return hg_dim_is_const(&g->dims, w->type.dim[0], &outputs) &&
           hg_codes_zero_fits(g, hg_node_in(g, n, 3), outputs);
}

/* Pools and resizing follow the convolutions; alone they are left as they are. */
static holo_status layout_pool(hg_graph *g, hg_node_id id, const char *to, int64_t mode)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_attr attr[16];
    uint32_t n_attr = 0;
    const hg_value_id in = hg_build_in(&b, 0);
    const int32_t rank = hg_build_type(&b, in)->rank;
    for (uint32_t i = 0; i < b.node->n_attr && n_attr < 15; i++)
        attr[n_attr++] = layout_attr(&b, &b.node->attr[i], rank);
    attr[n_attr++] = hg_attr_make_int("mode", mode);
    const hg_value_id x = layout_before(&b, in);
    hg_build_replace(&b, 0, layout_after(&b, hg_build_op(&b, to, &x, 1, attr, n_attr), rank));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status layout_resize(hg_graph *g, hg_node_id id)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id in[4] = {layout_before(&b, hg_build_in(&b, 0)), hg_build_in(&b, 1),
                         hg_build_in(&b, 2), hg_build_in(&b, 3)};
    const hg_node *n = hg_graph_node(g, id);
    hg_value_id out = hg_build_op(&b, "holo:ResizeNhwc", in, n->n_in, n->attr, n->n_attr);
    hg_build_replace(&b, 0, layout_after(&b, out, 4));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* Of `least` to `most` dims. */
static bool layout_is_image(const hg_graph *g, const hg_node *n, int32_t least, int32_t most)
{
    const hg_type *t = &hg_graph_value(g, hg_node_in(g, n, 0))->type;
    return t->rank >= least && t->rank <= most && t->dtype == HOLO_F32 &&
           (n->n_out == 1 || n->out[1] == 0);
}

/* Channels that fill no vector: planes are pooled faster. */
static bool layout_is_thin(const hg_graph *g, const hg_node *n)
{
    int64_t channels;
    return hg_dim_is_const(&g->dims, hg_graph_value(g, n->out[0])->type.dim[1], &channels) &&
           channels < LAYOUT_VECTOR;
}

/* Weights that are computed are packed whenever the model runs: for many places. */
static bool layout_packs_computed(const hg_graph *g, const hg_node *n)
{
    const hg_type *w = &hg_graph_value(g, hg_node_in(g, n, 1))->type;
    const hg_type *y = &hg_graph_value(g, n->out[0])->type;
    int64_t places = 1, size;
    if (w->dtype != HOLO_F32) return false;
    for (int32_t i = 0; i < w->rank; i++)
        if (!hg_dim_is_const(&g->dims, w->dim[i], &size) || size == 0) return false;
    for (int32_t i = 2; i < y->rank; i++) {
        if (!hg_dim_is_const(&g->dims, y->dim[i], &size) || size >= LAYOUT_PLACES) return true;
        places *= size;
    }
    return places >= LAYOUT_PLACES;
}

/* The weights of float32 images that are packed; 0: none are. */
static hg_value_id layout_takes_conv(const hg_graph *g, const hg_node *n)
{
    const hg_type *t = &hg_graph_value(g, hg_node_in(g, n, 0))->type;
    const hg_value_id constant = layout_constant(g, hg_node_in(g, n, 1));
    if (t->dtype != HOLO_F32 || t->rank < 3 || t->rank > 5) return 0;
    if (constant == 0) return layout_packs_computed(g, n) ? hg_node_in(g, n, 1) : 0;
    if (hg_graph_value(g, constant)->constant->bytes == 0) return 0; /* nothing to pack */
    return constant;
}

static holo_status layout_node(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    if (hg_op_is(n, "Conv")) {
        const hg_value_id weights = layout_takes_conv(g, n);
        if (weights == 0) return HOLO_OK;
        *changed = true;
        return layout_conv(g, id, weights);
    }
    if (hg_op_is(n, "ConvInteger")) {
        if (!layout_takes_codes(g, n)) return HOLO_OK;
        *changed = true;
        return layout_conv_codes(g, id);
    }
    /* Sizes that its kernel finds in the data are those of this very node. */
    if (hg_op_is(n, "Resize") && layout_is_image(g, n, 4, 4) &&
        !hg_graph_is_measured(g, n->out[0])) {
        *changed = true;
        return layout_resize(g, id);
    }
    bool max = hg_op_is(n, "MaxPool"), average = hg_op_is(n, "AveragePool");
    if ((!max && !average) || !layout_is_image(g, n, 3, 5) || layout_is_thin(g, n)) return HOLO_OK;
    *changed = true;
    hg_pool_mode padded =
        hg_node_int(n, "count_include_pad", 0) != 0 ? HG_POOL_AVERAGE_PADDED : HG_POOL_AVERAGE;
    return layout_pool(g, id, "holo:PoolNhwc", max ? HG_POOL_MAX : padded);
}

static holo_status layout_run(hg_graph *g, bool *changed)
{
    bool any = false;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next)
        any |=
            hg_op_is(hg_graph_node(g, id), "Conv") || hg_op_is(hg_graph_node(g, id), "ConvInteger");
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; any && id != 0;) {
        hg_node_id next = hg_graph_node(g, id)->next;
        HG_TRY(layout_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_choose_layout = {
    .name = "choose_layout",
    .brief = "convolutions and pools work on channels-last tensors with packed weights",
    .flags = HG_PASS_TUNED,
    .run = layout_run,
};
