/* quantize.c - weights, and where ranges are known activations, become codes: what the user asked
 * for with --quantize, and nothing without.
 *
 * With activations the result is an ordinary graph of QuantizeLinear and DequantizeLinear around
 * float operators, as other tools write it:
 *
 *     x -> Q -> DQ -> Conv(.., DQ(codes), DQ(bias)) -> Relu -> Q -> DQ -> ...
 *
 * Activations are unsigned bytes with a zero point, weights signed bytes with a scale per output
 * channel, neighbours at most HG_QUANTIZE_PAIR together. Between convolutions values exist as codes
 * only; a matrix product reads codes and gives floats. Without activations products become
 * MatMulNBits, and the weights of convolutions are rounded to their codes but stay floats: no
 * kernel reads them. Codes that MatMulNBits does not know go into panels at once
 * (quantize_panels.c); convolutions stay. */
#include "pass/quantize_state.h"
#include "pass/widen_half.h"

enum { QUANTIZE_SHORT = 64 };

/* ---- what there is --------------------------------------------------------------------------- */

bool hg_quantize_is_weight(const hg_graph *g, hg_value_id v, int32_t rank_min, int32_t rank_max)
{
    if (v == 0 || !hg_graph_is_const(g, v)) return false;
    const hg_type *t = &hg_graph_value(g, v)->type;
    int64_t n;
    if (t->dtype != HOLO_F32 || t->rank < rank_min || t->rank > rank_max) return false;
    for (int32_t k = 0; k < t->rank; k++)
        if (!hg_dim_is_const(&g->dims, t->dim[k], &n) || n < 1) return false;
    return hg_graph_const_is_finite(g, v); /* codes have no infinity */
}

static hg_quantize_layer_kind quantize_kind_of(const hg_graph *g, const hg_node *n)
{
    const bool fused = hg_op_is(n, "holo:MatMul"), conv = hg_op_is(n, "Conv");
    if (!fused && !conv && !hg_op_is(n, "MatMul")) return 0;
    if (hg_graph_value(g, hg_node_in(g, n, 0))->type.dtype != HOLO_F32) return 0;
    if (conv) {
        hg_value_id bias = hg_node_in(g, n, 2);
        return hg_quantize_is_weight(g, hg_node_in(g, n, 1), 3, HG_MAX_RANK) &&
                       (bias == 0 || hg_quantize_is_weight(g, bias, 1, 1))
                   ? HG_QUANTIZE_CONV
                   : 0;
    }
    if (n->n_in != 2 || (fused && hg_node_int(n, "trans_a", 0) != 0)) return 0;
    if (hg_graph_value(g, hg_node_in(g, n, 0))->type.rank < 2) return 0;
    return hg_quantize_is_weight(g, hg_node_in(g, n, 1), 2, 2) ? HG_QUANTIZE_MATMUL : 0;
}

/* Gives back some of what it is given, unchanged. */
static bool quantize_is_selection(const hg_node *n)
{
    static const char *const names[] = {"MaxPool", "Reshape",   "Flatten",  "Transpose",
                                        "Squeeze", "Unsqueeze", "Identity", "Slice"};
    for (size_t i = 0; i < HG_COUNT(names); i++)
        if (hg_op_is(n, names[i])) return true;
    return false;
}

static void quantize_add(hg_quantize_state *s, hg_value_id v, bool is_stored)
{
    if (s->number[v] == 0) {
        s->activation[s->n_activation++] = (hg_quantize_activation){.value = v};
        s->number[v] = s->n_activation;
    }
    s->activation[s->number[v] - 1].is_stored |= is_stored;
}

/* What follows a convolution and goes with it into codes: bounds, where they alone read it. */
static hg_value_id quantize_result(const hg_graph *g, hg_value_id v)
{
    for (;;) {
        hg_quantize_bound bound;
        hg_node_id user = hg_graph_only_user(g, v);
        if (user == 0 || hg_graph_node(g, user)->region != HG_REGION_MAIN) return v;
        if (!hg_quantize_is_bound(g, user, &bound) || bound.of != v) return v;
        v = hg_graph_node(g, user)->out[0];
    }
}

static bool quantize_has_reader(const hg_graph *g, hg_value_id v)
{
    for (uint32_t slot = hg_graph_value(g, v)->first_use; slot != 0; slot = g->use[slot - 1].next)
        if (g->use[slot - 1].node != 0) return true;
    return false;
}

/* The first convolution of a picture: its floats would have to become codes first, and a window
 * of a few channels is too short to make up for that. */
static bool quantize_is_short(const hg_quantize_state *s, uint32_t i)
{
    const hg_node *n = hg_graph_node(s->g, s->layer[i]);
    return s->kind[i] == HG_QUANTIZE_CONV && hg_node_int(n, "group", 1) == 1 &&
           hg_graph_value(s->g, hg_node_in(s->g, n, 0))->node == 0 &&
           hg_quantize_read(s, i).each < QUANTIZE_SHORT;
}

static void quantize_add_layer(hg_quantize_state *s, hg_node_id id, hg_quantize_layer_kind kind)
{
    const hg_graph *g = s->g;
    s->layer[s->n_layer] = id;
    s->kind[s->n_layer++] = kind;
    if (!s->q->activations) return;
    s->is_short[s->n_layer - 1] = quantize_is_short(s, s->n_layer - 1);
    hg_value_id x = hg_node_in(g, hg_graph_node(g, id), 0);
    quantize_add(s, x, kind == HG_QUANTIZE_CONV);
    s->reads[s->n_layer - 1] = s->number[x] - 1;
    if (kind != HG_QUANTIZE_CONV) return;
    hg_value_id result = quantize_result(g, hg_graph_node(g, id)->out[0]);
    if (!quantize_has_reader(g, result)) return;
    quantize_add(s, result, true);
    s->activation[s->number[result] - 1].made_by = s->n_layer;
}

/* Values are added by layer, so a view may come before what it is a view of. */
static void quantize_share_ranges(hg_quantize_state *s)
{
    for (uint32_t i = 0; i < s->n_activation; i++) {
        hg_value_id v = s->activation[i].value;
        for (hg_node_id id = hg_graph_value(s->g, v)->node; id != 0;
             id = hg_graph_value(s->g, v)->node) {
            if (!quantize_is_selection(hg_graph_node(s->g, id))) break;
            v = hg_node_in(s->g, hg_graph_node(s->g, id), 0);
            if (s->number[v] == 0 || !s->activation[s->number[v] - 1].is_stored) continue;
            s->activation[i].same_as = s->number[v];
        }
    }
}

/* What products read may be a function of another value, whose range is wanted too. */
static void quantize_add_sources(hg_quantize_state *s)
{
    const uint32_t n = s->n_activation;
    for (uint32_t i = 0; i < n; i++) {
        if (s->activation[i].is_stored) continue;
        const hg_value_id from = hg_quantize_source(s->g, s->activation[i].value);
        if (from == 0 || s->number[from] != 0) continue;
        quantize_add(s, from, false);
        s->activation[i].source = s->number[from];
    }
}

/* Weights stored as 16-bit floats, behind a Cast, are widened where they may become codes. Those of
 * convolutions do not without activations, and stay short. */
static holo_status quantize_halves(const hg_quantize_state *s, hg_node_id id)
{
    hg_graph *g = s->g;
    const bool conv = hg_op_is(hg_graph_node(g, id), "Conv");
    if (!(conv && s->q->activations) && !hg_op_is(hg_graph_node(g, id), "MatMul") &&
        !hg_op_is(hg_graph_node(g, id), "holo:MatMul"))
        return HOLO_OK;
    for (uint32_t i = 1; i < hg_graph_node(g, id)->n_in && i <= 2; i++) {
        const hg_value_id v = hg_node_in(g, hg_graph_node(g, id), i);
        const hg_node_id cast = v == 0 ? 0 : hg_graph_value(g, v)->node;
        if (cast == 0 || !hg_op_is(hg_graph_node(g, cast), "Cast")) continue;
        const hg_value_id from = hg_node_in(g, hg_graph_node(g, cast), 0);
        const hg_types half = HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16);
        if (!hg_graph_is_const(g, from) || hg_graph_value(g, v)->type.dtype != HOLO_F32 ||
            !hg_dtype_in(hg_graph_value(g, from)->type.dtype, half))
            continue;
        hg_build b;
        hg_build_init(&b, g, id);
        const hg_value_id wide = hg_build_widened(&b, from);
        HG_TRY(b.status);
        hg_graph_set_input(g, id, i, wide);
    }
    return HOLO_OK;
}

static holo_status quantize_collect(hg_quantize_state *s)
{
    hg_graph *g = s->g;
    const size_t n = g->n_node + 1;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next)
        HG_TRY(quantize_halves(s, id));
    HG_TRY(HG_NEW(g->ctx, n, &s->layer));
    HG_TRY(HG_NEW(g->ctx, n, &s->kind));
    HG_TRY(HG_NEW(g->ctx, n, &s->reads));
    HG_TRY(HG_NEW(g->ctx, n, &s->is_short));
    HG_TRY(HG_NEW(g->ctx, 2 * n, &s->activation));
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &s->number));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        hg_quantize_layer_kind kind = quantize_kind_of(g, hg_graph_node(g, id));
        if (kind != 0) quantize_add_layer(s, id, kind);
    }
    quantize_share_ranges(s);
    if (s->q->activations) quantize_add_sources(s);
    return HOLO_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

static holo_status quantize_text(hg_ctx *ctx, const char **out, hg_str text)
{
    hg_str copy = hg_str_copy(&ctx->arena, text);
    *out = copy.text;
    return copy.text == NULL ? hg_fail_nomem(ctx->error, text.length) : HOLO_OK;
}

static holo_status quantize_output(hg_graph *g, hg_value_id v, const char *kind, uint32_t i)
{
    hg_str name = hg_str_format(&g->ctx->arena, "holo.%s.%u", kind, i);
    if (name.text == NULL) return hg_fail_nomem(g->ctx->error, 32);
    return hg_graph_add_region_output(g, HG_REGION_MAIN, name, v);
}

/* X'X of the rows of an activation, by blocks of channels: [channels / block, block, block]. */
static holo_status quantize_square(hg_quantize_state *s, uint32_t i, hg_value_id *out)
{
    const hg_quantize_channels *c = &s->q->channel[i];
    hg_build b;
    hg_quantize_build_after(&b, s->g, s->activation[i].value);
    hg_value_id shape = hg_build_ints(&b, (int64_t[]){-1, c->channels / c->block, c->block}, 3);
    hg_value_id x = hg_build_2(&b, "Reshape", s->activation[i].value, shape);
    hg_attr turned = hg_attr_make_ints(&b, "perm", (int64_t[]){1, 2, 0}, 3);
    hg_attr rows = hg_attr_make_ints(&b, "perm", (int64_t[]){1, 0, 2}, 3);
    *out = hg_build_2(&b, "MatMul", hg_build_op(&b, "Transpose", &x, 1, &turned, 1),
                      hg_build_op(&b, "Transpose", &x, 1, &rows, 1));
    return b.status;
}

static holo_status quantize_observe_squares(hg_quantize_state *s)
{
    for (uint32_t i = 0; i < s->n_activation; i++) {
        if (s->q->channel[i].block == 0) continue;
        hg_value_id v;
        HG_TRY(quantize_square(s, i, &v));
        HG_TRY(quantize_output(s->g, v, "square", i));
    }
    return HOLO_OK;
}

/* Outputs by which a run shows ranges and results. */
static holo_status quantize_observe(hg_quantize_state *s)
{
    if (s->q->square) return quantize_observe_squares(s);
    for (uint32_t i = 0; !s->q->apply && i < s->n_activation; i++)
        HG_TRY(quantize_output(s->g, s->activation[i].value, "activation", i));
    for (uint32_t i = 0; i < s->n_layer; i++)
        HG_TRY(quantize_output(s->g, hg_graph_node(s->g, s->layer[i])->out[0], "layer", i));
    return HOLO_OK;
}

/* The rows of the smallest table that a value chooses from, itself or as a view; 0: from none. */
static int64_t quantize_rows(const hg_graph *g, hg_value_id v, int depth)
{
    static const char *const views[] = {"Cast",    "Reshape",  "Unsqueeze",
                                        "Squeeze", "Identity", "Transpose"};
    int64_t least = 0, n;
    for (uint32_t slot = hg_graph_value(g, v)->first_use; slot != 0; slot = g->use[slot - 1].next) {
        const hg_use *use = &g->use[slot - 1];
        if (use->node == 0) continue;
        const hg_node *node = hg_graph_node(g, use->node);
        int64_t rows = 0;
        if (hg_op_is(node, "Gather") && use->index == 1) {
            const hg_type *t = &hg_graph_value(g, hg_node_in(g, node, 0))->type;
            const int64_t axis = hg_node_int(node, "axis", 0);
            const int64_t k = axis < 0 ? axis + t->rank : axis;
            if (k >= 0 && k < t->rank && hg_dim_is_const(&g->dims, t->dim[k], &n)) rows = n;
        }
        for (size_t i = 0; i < HG_COUNT(views) && depth > 0 && use->index == 0; i++)
            if (hg_op_is(node, views[i])) rows = quantize_rows(g, node->out[0], depth - 1);
        if (rows > 0 && (least == 0 || rows < least)) least = rows;
    }
    return least;
}

static holo_status quantize_choices(const hg_graph *g, hg_quantize *q)
{
    enum { DEPTH = 4 };
    const hg_region *main = hg_graph_region(g, HG_REGION_MAIN);
    HG_TRY(HG_NEW(q->ctx, main->n_in + 1, &q->rows));
    q->n_input = main->n_in;
    for (uint32_t i = 0; i < main->n_in; i++)
        q->rows[i] = quantize_rows(g, main->in[i], DEPTH);
    return HOLO_OK;
}

static holo_status quantize_describe(hg_quantize_state *s)
{
    hg_quantize *q = s->q;
    HG_TRY(HG_NEW(q->ctx, s->n_layer + 1, &q->layer));
    q->n_layer = q->n_seen = s->n_layer;
    q->n_activation = s->n_activation;
    if (q->channel == NULL) {
        HG_TRY(HG_NEW(q->ctx, s->n_activation + 1, &q->channel));
        for (uint32_t i = 0; i < s->n_activation; i++)
            q->channel[i].is_last = !s->activation[i].is_stored;
        for (uint32_t i = 0; i < s->n_activation; i++)
            if (s->activation[i].source != 0)
                q->channel[s->activation[i].source - 1].is_source = true;
    }
    for (uint32_t i = 0; i < s->n_layer; i++) {
        const hg_node *n = hg_graph_node(s->g, s->layer[i]);
        char label[64];
        HG_TRY(quantize_text(q->ctx, &q->layer[i].node,
                             hg_node_label(s->g, s->layer[i], label, sizeof label)));
        HG_TRY(quantize_text(q->ctx, &q->layer[i].name, hg_graph_value(s->g, n->out[0])->name));
        q->layer[i].reads = s->reads[i];
        q->layer[i].each = (uint64_t)hg_quantize_read(s, i).each;
        q->layer[i].op = s->kind[i] == HG_QUANTIZE_CONV ? "Conv" : "MatMul";
        q->layer[i].form = "float";
    }
    return HOLO_OK;
}

static holo_status quantize_layer_panels(hg_quantize_state *s, uint32_t i)
{
    const hg_quantize_weights w = hg_quantize_read(s, i);
    hg_value_id made = 0;
    hg_build b;
    hg_build_init(&b, s->g, s->layer[i]);
    HG_TRY(hg_quantize_panels(&b, s->q->mode, &w, &s->q->layer[i], &made));
    hg_quantize_replace(s, i, &b, made);
    return b.status;
}

/* Some layer reads it, or a selection of it, as codes. */
static bool quantize_is_read(const hg_quantize_state *s, uint32_t activation)
{
    for (uint32_t i = 0; i < s->n_layer; i++) {
        const uint32_t reads = s->reads[i];
        if (hg_quantize_is_kept(s, i)) continue;
        if (reads == activation || s->activation[reads].same_as == activation + 1) return true;
    }
    return false;
}

/* What no layer reads as codes may still be shorter as such: the result of a convolution, unless
 * layers that are kept read it, or an Add alone, as part of the convolution's own step and without
 * rounding. */
static bool quantize_is_needed(const hg_quantize_state *s, uint32_t i)
{
    const hg_quantize_activation *a = &s->activation[i];
    if (quantize_is_read(s, i)) return true;
    if (a->made_by == 0 || hg_quantize_is_kept(s, a->made_by - 1)) return false;
    hg_node_id user = hg_graph_only_user(s->g, a->value);
    if (user != 0 && hg_op_is(hg_graph_node(s->g, user), "Add")) return false;
    for (uint32_t k = 0; k < s->n_layer; k++)
        if (s->reads[k] == i) return false;
    return true;
}

static holo_status quantize_apply(hg_quantize_state *s)
{
    for (uint32_t i = 0; i < s->n_activation; i++)
        if (quantize_is_needed(s, i)) HG_TRY(hg_quantize_activation_apply(s, i));
    for (uint32_t i = 0; i < s->n_layer; i++) {
        if (hg_quantize_is_kept(s, i)) continue;
        if (s->q->activations)
            HG_TRY(hg_quantize_static(s, i));
        else if (s->kind[i] == HG_QUANTIZE_MATMUL && hg_quantize_kind(s->q->mode) != HG_BITS_KINDS)
            HG_TRY(quantize_layer_panels(s, i));
        else if (s->kind[i] == HG_QUANTIZE_MATMUL)
            HG_TRY(hg_quantize_blocks(s, i));
        else if (hg_quantize_limit(s->q->mode) != 0)
            HG_TRY(hg_quantize_rounded(s, i));
    }
    return HOLO_OK;
}

/* A body of If, Loop or Scan: weights alone, since nothing shows ranges and results there. Its
 * layers come behind those that are known. */
static holo_status quantize_body(hg_graph *g, hg_quantize *all, bool *changed)
{
    hg_quantize own = *all;
    hg_quantize_state s = {.g = g, .q = &own};
    hg_quantize_layer *layer;
    if (all->activations || !all->apply) return HOLO_OK;
    HG_TRY(quantize_collect(&s));
    HG_TRY(quantize_describe(&s));
    HG_TRY(quantize_apply(&s));
    HG_TRY(HG_NEW(all->ctx, all->n_layer + own.n_layer + 1, &layer));
    memcpy(layer, all->layer, all->n_layer * sizeof *layer);
    memcpy(layer + all->n_layer, own.layer, own.n_layer * sizeof *layer);
    all->layer = layer;
    all->n_layer += own.n_layer;
    *changed = s.n_layer != 0;
    return HOLO_OK;
}

static holo_status quantize_run(hg_graph *g, bool *changed)
{
    hg_quantize_state s = {.g = g, .q = g->ctx->quantize};
    if (s.q == NULL) return HOLO_OK;
    if (g->is_body) return quantize_body(g, s.q, changed);
    HG_TRY(quantize_collect(&s));
    HG_TRY(quantize_describe(&s));
    if (s.q->rows == NULL) HG_TRY(quantize_choices(g, s.q));
    if (s.q->apply) HG_TRY(quantize_apply(&s));
    if (s.q->observe) HG_TRY(quantize_observe(&s));
    *changed = s.q->apply && s.n_layer != 0;
    return HOLO_OK;
}

const hg_pass hg_pass_quantize = {
    .name = "quantize",
    .brief = "weights and activations become codes, as --quantize asks",
    .flags = HG_PASS_ALWAYS,
    .run = quantize_run,
};
