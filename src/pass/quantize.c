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
#include "pass/quantize.h"

#include <float.h>
#include <math.h>

typedef enum quantize_kind { QUANTIZE_CONV = 1, QUANTIZE_MATMUL } quantize_kind;

/* A value that becomes codes. */
typedef struct quantize_activation {
    hg_value_id value;
    uint32_t
        same_as;    /* + 1: has the range of an earlier one, of which it is a view or a selection */
    bool is_stored; /* as codes only: every reader gets them */
    hg_value_id codes;   /* DQ(Q(value)), once made */
    const float *smooth; /* per channel: what it is divided by and weights are multiplied with */
} quantize_activation;

typedef struct quantize_state {
    hg_graph *g;
    hg_quantize *q;
    hg_node_id *layer;
    quantize_kind *kind;
    uint32_t *reads; /* per layer: its activation */
    uint32_t n_layer;
    quantize_activation *activation;
    uint32_t n_activation;
    uint32_t *number; /* by value: of its activation + 1 */
} quantize_state;

/* ---- what there is --------------------------------------------------------------------------- */

/* Codes have no infinity: such weights stay as they are. */
static bool quantize_is_finite(const hg_const *c)
{
    const float *w = c->data;
    for (size_t i = 0; i < c->bytes / sizeof *w; i++)
        if (!isfinite(w[i])) return false;
    return true;
}

static bool quantize_is_weight(const hg_graph *g, hg_value_id v, int32_t rank_min, int32_t rank_max)
{
    if (v == 0 || !hg_graph_is_const(g, v)) return false;
    const hg_type *t = &hg_graph_value(g, v)->type;
    int64_t n;
    if (t->dtype != HOLO_F32 || t->rank < rank_min || t->rank > rank_max) return false;
    for (int32_t k = 0; k < t->rank; k++)
        if (!hg_dim_is_const(&g->dims, t->dim[k], &n) || n < 1) return false;
    return quantize_is_finite(hg_graph_value(g, v)->constant);
}

static quantize_kind quantize_kind_of(const hg_graph *g, const hg_node *n)
{
    const bool fused = hg_op_is(n, "holo:MatMul"), conv = hg_op_is(n, "Conv");
    if (!fused && !conv && !hg_op_is(n, "MatMul")) return 0;
    if (hg_graph_value(g, hg_node_in(g, n, 0))->type.dtype != HOLO_F32) return 0;
    if (conv) {
        hg_value_id bias = hg_node_in(g, n, 2);
        return quantize_is_weight(g, hg_node_in(g, n, 1), 3, HG_MAX_RANK) &&
                       (bias == 0 || quantize_is_weight(g, bias, 1, 1))
                   ? QUANTIZE_CONV
                   : 0;
    }
    if (n->n_in != 2 || (fused && hg_node_int(n, "trans_a", 0) != 0)) return 0;
    if (hg_graph_value(g, hg_node_in(g, n, 0))->type.rank < 2) return 0;
    return quantize_is_weight(g, hg_node_in(g, n, 1), 2, 2) ? QUANTIZE_MATMUL : 0;
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

static void quantize_add(quantize_state *s, hg_value_id v, bool is_stored)
{
    if (s->number[v] == 0) {
        s->activation[s->n_activation++] = (quantize_activation){.value = v};
        s->number[v] = s->n_activation;
    }
    s->activation[s->number[v] - 1].is_stored |= is_stored;
}

/* What follows a convolution and goes with it into codes: Relu and Clip that alone read it. */
static hg_value_id quantize_result(const hg_graph *g, hg_value_id v)
{
    for (;;) {
        hg_node_id user = hg_graph_only_user(g, v);
        if (user == 0) return v;
        const hg_node *n = hg_graph_node(g, user);
        if (n->region != HG_REGION_MAIN || !(hg_op_is(n, "Relu") || hg_op_is(n, "Clip"))) return v;
        if (hg_node_in(g, n, 0) != v) return v;
        v = n->out[0];
    }
}

static bool quantize_has_reader(const hg_graph *g, hg_value_id v)
{
    for (uint32_t slot = hg_graph_value(g, v)->first_use; slot != 0; slot = g->use[slot - 1].next)
        if (g->use[slot - 1].node != 0) return true;
    return false;
}

static void quantize_add_layer(quantize_state *s, hg_node_id id, quantize_kind kind)
{
    const hg_graph *g = s->g;
    s->layer[s->n_layer] = id;
    s->kind[s->n_layer++] = kind;
    if (!s->q->activations) return;
    hg_value_id x = hg_node_in(g, hg_graph_node(g, id), 0);
    quantize_add(s, x, kind == QUANTIZE_CONV);
    s->reads[s->n_layer - 1] = s->number[x] - 1;
    if (kind != QUANTIZE_CONV) return;
    hg_value_id result = quantize_result(g, hg_graph_node(g, id)->out[0]);
    if (quantize_has_reader(g, result)) quantize_add(s, result, true);
}

/* Values are added by layer, so a view may come before what it is a view of. */
static void quantize_share_ranges(quantize_state *s)
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

static holo_status quantize_collect(quantize_state *s)
{
    hg_graph *g = s->g;
    const size_t n = g->n_node + 1;
    HG_TRY(HG_NEW(g->ctx, n, &s->layer));
    HG_TRY(HG_NEW(g->ctx, n, &s->kind));
    HG_TRY(HG_NEW(g->ctx, n, &s->reads));
    HG_TRY(HG_NEW(g->ctx, 2 * n, &s->activation));
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &s->number));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        quantize_kind kind = quantize_kind_of(g, hg_graph_node(g, id));
        if (kind != 0) quantize_add_layer(s, id, kind);
    }
    quantize_share_ranges(s);
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

/* Outputs by which a run shows ranges and results. */
static holo_status quantize_observe(quantize_state *s)
{
    for (uint32_t i = 0; !s->q->apply && i < s->n_activation; i++)
        HG_TRY(quantize_output(s->g, s->activation[i].value, "activation", i));
    for (uint32_t i = 0; i < s->n_layer; i++)
        HG_TRY(quantize_output(s->g, hg_graph_node(s->g, s->layer[i])->out[0], "layer", i));
    return HOLO_OK;
}

static holo_status quantize_describe(quantize_state *s)
{
    hg_quantize *q = s->q;
    HG_TRY(HG_NEW(q->ctx, s->n_layer + 1, &q->layer));
    q->n_layer = s->n_layer;
    q->n_activation = s->n_activation;
    if (q->channel == NULL) {
        HG_TRY(HG_NEW(q->ctx, s->n_activation + 1, &q->channel));
        for (uint32_t i = 0; i < s->n_activation; i++)
            q->channel[i].is_last = !s->activation[i].is_stored;
    }
    for (uint32_t i = 0; i < s->n_layer; i++) {
        const hg_node *n = hg_graph_node(s->g, s->layer[i]);
        char label[64];
        HG_TRY(quantize_text(q->ctx, &q->layer[i].node,
                             hg_node_label(s->g, s->layer[i], label, sizeof label)));
        HG_TRY(quantize_text(q->ctx, &q->layer[i].name, hg_graph_value(s->g, n->out[0])->name));
        q->layer[i].op = s->kind[i] == QUANTIZE_CONV ? "Conv" : "MatMul";
        q->layer[i].form = "float";
    }
    return HOLO_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

static hg_quantize_weights quantize_read(const quantize_state *s, uint32_t i)
{
    const hg_graph *g = s->g;
    const hg_node *n = hg_graph_node(g, s->layer[i]);
    const hg_value *v = hg_graph_value(g, hg_node_in(g, n, 1));
    hg_quantize_weights w = {.data = v->constant->data, .type = v->type, .alpha = 1};
    int64_t dim[2] = {0, 0}, count = (int64_t)(v->constant->bytes / sizeof(float));
    for (int k = 0; k < 2; k++)
        (void)hg_dim_is_const(&g->dims, v->type.dim[k], &dim[k]);
    const bool by_row = s->kind[i] == QUANTIZE_CONV || hg_node_int(n, "trans_b", 0) != 0;
    w.channels = by_row ? dim[0] : dim[1];
    w.each = count / w.channels;
    w.channel = by_row ? w.each : 1;
    w.step = by_row ? 1 : dim[1];
    if (s->kind[i] == QUANTIZE_MATMUL) w.alpha = (float)hg_node_float(n, "alpha", 1.0);
    return w;
}

/* ---- activations ----------------------------------------------------------------------------- */

static hg_quantize_range quantize_range(const quantize_state *s, uint32_t i, const float *smooth)
{
    const quantize_activation *a = &s->activation[i];
    const hg_quantize_channels *c = &s->q->channel[i];
    hg_quantize_range r = {0, 0};
    if (smooth == NULL) return s->q->range[a->same_as == 0 ? i : a->same_as - 1];
    for (int64_t k = 0; k < c->channels; k++) {
        const float low = c->range[k].low / smooth[k], high = c->range[k].high / smooth[k];
        if (!(low >= r.low)) r.low = low;
        if (!(high <= r.high)) r.high = high;
    }
    return r;
}

/* Scale and zero point of unsigned bytes that hold the range, with 0 exact. */
static holo_status quantize_scale(const quantize_state *s, uint32_t i, hg_quantize_code *out)
{
    const quantize_activation *a = &s->activation[i];
    const hg_quantize_range r = quantize_range(s, i, a->smooth);
    const float low = r.low < 0 ? r.low : 0, high = r.high > 0 ? r.high : 0;
    float scale = (high - low) / 255;
    if (!isfinite(scale))
        return hg_fail(s->g->ctx->error, HOLO_E_DATA,
                       "value '%.*s' is not finite in the samples: it has no range",
                       HG_STR_ARG(hg_graph_value(s->g, a->value)->name));
    if (!(scale > FLT_MIN)) scale = 1; /* always zero */
    *out = (hg_quantize_code){scale, nearbyintf(-low / scale)};
    return HOLO_OK;
}

static hg_value_id quantize_zero(hg_build *b, float zero)
{
    const uint8_t code = (uint8_t)zero;
    return hg_build_const(b, (hg_type){.dtype = HOLO_U8}, &code, 1);
}

/* Builds behind the node that makes a value, or before everything. */
static void quantize_build_after(hg_build *b, hg_graph *g, hg_value_id v)
{
    hg_node_id made = hg_graph_value(g, v)->node;
    hg_node_id first = hg_graph_region(g, HG_REGION_MAIN)->first;
    hg_build_init(b, g, made == 0 ? first : made);
    b->before = made == 0 ? first : hg_graph_node(g, made)->next;
    b->region = HG_REGION_MAIN;
}

static bool quantize_is_layer(const quantize_state *s, hg_node_id id)
{
    for (uint32_t i = 0; i < s->n_layer; i++)
        if (s->layer[i] == id) return true;
    return false;
}

/* Readers get the codes: all nodes, or input 0 of layers alone. */
static void quantize_redirect(const quantize_state *s, const quantize_activation *a,
                              hg_node_id quantize)
{
    hg_graph *g = s->g;
    for (uint32_t slot = hg_graph_value(g, a->value)->first_use, next; slot != 0; slot = next) {
        const hg_use u = g->use[slot - 1];
        next = u.next;
        if (u.node == 0 || u.node == quantize) continue;
        if (a->is_stored || (u.index == 0 && quantize_is_layer(s, u.node)))
            hg_graph_set_input(g, u.node, u.index, a->codes);
    }
}

/* Noise of the sums when channel k of the input is divided by smooth[k]: rounding of inputs times
 * weights, and rounding of weights times inputs. */
static double quantize_noise(const quantize_state *s, uint32_t i, const float *smooth)
{
    const hg_quantize_channels *c = &s->q->channel[i];
    const hg_quantize_range r = quantize_range(s, i, smooth);
    const double step = ((double)r.high - (double)r.low) / 255, count = (double)c->count;
    const double limit = hg_quantize_limit(s->q->mode);
    double noise = 0, energy = 0;
    for (int64_t k = 0; k < c->channels; k++)
        energy += c->squares[k] / count / ((double)smooth[k] * (double)smooth[k]);
    for (uint32_t n = 0; n < s->n_layer; n++) {
        if (s->reads[n] != i) continue;
        const hg_quantize_weights w = quantize_read(s, n);
        for (int64_t o = 0; o < w.channels; o++) {
            double most = 0, squares = 0;
            for (int64_t k = 0; k < w.each; k++) {
                const double x = (double)w.data[o * w.channel + k * w.step] * (double)smooth[k];
                most = fmax(most, fabs(x));
                squares += x * x;
            }
            noise += step * step * squares + most / limit * (most / limit) * energy;
        }
    }
    return noise;
}

/* Sizes of the weights that read channel k, over all products; false when one does not fit. */
static bool quantize_readers(const quantize_state *s, uint32_t i, float *most)
{
    for (uint32_t n = 0; n < s->n_layer; n++) {
        if (s->reads[n] != i) continue;
        const hg_quantize_weights w = quantize_read(s, n);
        if (w.each != s->q->channel[i].channels) return false;
        for (int64_t k = 0; k < w.each; k++)
            for (int64_t o = 0; o < w.channels; o++)
                most[k] = fmaxf(most[k], fabsf(w.data[o * w.channel + k * w.step]));
    }
    return true;
}

/* A product's input has channels far apart in size, which one scale cannot serve. Dividing each by
 * a power of its size over a power of that of its weights, and multiplying the weights with it,
 * changes nothing but the noise: of some powers the best is taken. Only where products alone read
 * the codes. */
static holo_status quantize_smooth(quantize_state *s, uint32_t i)
{
    static const double powers[] = {0, 0.3, 0.5, 0.65, 0.8, 1};
    quantize_activation *a = &s->activation[i];
    const hg_quantize_channels *c = &s->q->channel[i];
    float *weights, *smooth, *best;
    double least = INFINITY;
    if (a->is_stored || !c->is_last || c->sum == NULL || c->count == 0) return HOLO_OK;
    HG_TRY(HG_NEW(s->g->ctx, (size_t)c->channels + 1, &weights));
    HG_TRY(HG_NEW(s->g->ctx, (size_t)c->channels + 1, &smooth));
    HG_TRY(HG_NEW(s->g->ctx, (size_t)c->channels + 1, &best));
    if (!quantize_readers(s, i, weights)) return HOLO_OK;
    for (size_t p = 0; p < HG_COUNT(powers); p++) {
        for (int64_t k = 0; k < c->channels; k++) {
            const double most = (double)fmaxf(-c->range[k].low, c->range[k].high);
            const double by =
                p == 0 ? 1 : pow(most, powers[p]) / pow((double)weights[k], 1 - powers[p]);
            smooth[k] = by > 1e-6 && by < 1e6 ? (float)by : 1;
        }
        const double noise = quantize_noise(s, i, smooth);
        if (!(noise < least)) continue;
        least = noise;
        memcpy(best, smooth, (size_t)c->channels * sizeof *best);
        a->smooth = p == 0 ? NULL : best;
    }
    return HOLO_OK;
}

/* x times the inverse of what it is divided by. */
static hg_value_id quantize_smoothed(hg_build *b, const quantize_activation *a, int64_t channels)
{
    hg_type type = {.dtype = HOLO_F32, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, channels);
    if (a->smooth == NULL) return a->value;
    float *inverse = hg_arena_array(&b->ctx->arena, (size_t)channels, sizeof *inverse);
    if (inverse == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)channels * sizeof *inverse);
        return 0;
    }
    for (int64_t k = 0; k < channels; k++)
        inverse[k] = 1 / a->smooth[k];
    return hg_build_2(b, "Mul", a->value,
                      hg_build_const(b, type, inverse, (size_t)channels * sizeof *inverse));
}

static holo_status quantize_activation_apply(quantize_state *s, uint32_t i)
{
    quantize_activation *a = &s->activation[i];
    hg_quantize_code code;
    hg_build b;
    HG_TRY(quantize_smooth(s, i));
    HG_TRY(quantize_scale(s, i, &code));
    quantize_build_after(&b, s->g, a->value);
    hg_value_id in[3] = {quantize_smoothed(&b, a, s->q->channel[i].channels),
                         hg_build_const(&b, (hg_type){.dtype = HOLO_F32}, &code.scale, 4),
                         quantize_zero(&b, code.zero)};
    hg_node_id quantize = hg_build_node(&b, "QuantizeLinear", in, 3, NULL, 0, 1);
    if (quantize == 0) return b.status;
    in[0] = hg_graph_node(s->g, quantize)->out[0];
    a->codes = hg_build_op(&b, "DequantizeLinear", in, 3, NULL, 0);
    HG_TRY(b.status);
    quantize_redirect(s, a, quantize);
    return HOLO_OK;
}

/* ---- codes of weights ------------------------------------------------------------------------ */

/* Relative error of codes[c][i] * scale[c]. */
static double quantize_error(const hg_quantize_weights *w, const int8_t *codes, const float *scale)
{
    double difference = 0, size = 0;
    for (int64_t c = 0; c < w->channels; c++) {
        for (int64_t i = 0; i < w->each; i++) {
            const double x = (double)w->data[c * w->channel + i * w->step];
            const double d = x - (double)codes[c * w->channel + i * w->step] * (double)scale[c];
            difference += d * d;
            size += x * x;
        }
    }
    return size == 0 ? 0 : sqrt(difference / size);
}

/* Weights that are all rounded the same way shift the average of a channel: by the average input
 * times the rounding. What a bias can take back, it does. NULL: nothing is known. */
static holo_status quantize_shift(const quantize_state *s, uint32_t i, uint32_t activation,
                                  const hg_quantize_weights *w, const int8_t *codes,
                                  const float *scale, float **out)
{
    const hg_quantize_channels *m = &s->q->channel[activation];
    const float *smooth = s->activation[activation].smooth;
    const hg_node *n = hg_graph_node(s->g, s->layer[i]);
    const bool is_conv = s->kind[i] == QUANTIZE_CONV;
    const int64_t groups = is_conv ? hg_node_int(n, "group", 1) : 1;
    *out = NULL;
    if (m->sum == NULL || m->count == 0 || groups < 1 || m->is_last == is_conv) return HOLO_OK;
    const int64_t per_group = m->channels / groups,
                  spread = w->each / (per_group == 0 ? 1 : per_group);
    if (per_group == 0 || spread * per_group != w->each || w->channels % groups != 0)
        return HOLO_OK;
    HG_TRY(HG_NEW(s->g->ctx, (size_t)w->channels, out));
    for (int64_t c = 0; c < w->channels; c++) {
        const double *mean = m->sum + c / (w->channels / groups) * per_group;
        double sum = 0;
        for (int64_t k = 0; k < w->each; k++) {
            const int64_t at = c * w->channel + k * w->step;
            const double x = smooth == NULL ? mean[k / spread] : mean[k] / (double)smooth[k];
            sum += x * ((double)w->data[at] - (double)codes[at] * (double)scale[c]);
        }
        (*out)[c] = (float)(sum / (double)m->count) * w->alpha;
    }
    return HOLO_OK;
}

/* A vector [n] plus the shift; `bias` 0: the shift itself. */
static hg_value_id quantize_shifted(hg_build *b, hg_value_id bias, const float *shift, int64_t n)
{
    hg_type type = {.dtype = HOLO_F32, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, n);
    if (shift == NULL) return bias;
    float *sum = hg_arena_array(&b->ctx->arena, (size_t)n, sizeof *sum);
    if (sum == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)n * sizeof *sum);
        return 0;
    }
    const float *old = bias == 0 ? NULL : hg_graph_value(b->g, bias)->constant->data;
    for (int64_t c = 0; c < n; c++)
        sum[c] = (old == NULL ? 0 : old[c]) + shift[c];
    return hg_build_const(b, type, sum, (size_t)n * sizeof *sum);
}

/* The bias of a product is an Add behind it that alone reads it. */
static void quantize_shift_add(quantize_state *s, hg_build *b, uint32_t i, const float *shift,
                               int64_t n)
{
    hg_node_id id = hg_graph_only_user(s->g, hg_graph_node(s->g, s->layer[i])->out[0]);
    if (shift == NULL || id == 0 || !hg_op_is(hg_graph_node(s->g, id), "Add")) return;
    for (uint32_t k = 0; k < 2; k++) {
        hg_value_id bias = hg_node_in(s->g, hg_graph_node(s->g, id), k);
        if (!quantize_is_weight(s->g, bias, 1, 1) ||
            !hg_dim_is(&s->g->dims, hg_graph_value(s->g, bias)->type.dim[0], n))
            continue;
        bias = quantize_shifted(b, bias, shift, n);
        if (bias != 0) hg_graph_set_input(s->g, id, k, bias);
        return;
    }
}

/* int32 codes of the bias, with the scale of the sums. */
static hg_value_id quantize_bias(hg_build *b, hg_value_id bias, float scale, const float *weight,
                                 int64_t channels)
{
    const float *from = hg_graph_value(b->g, bias)->constant->data;
    const hg_type type = hg_graph_value(b->g, bias)->type;
    int32_t *codes = hg_arena_array(&b->ctx->arena, (size_t)channels, sizeof *codes);
    float *scales = hg_arena_array(&b->ctx->arena, (size_t)channels, sizeof *scales);
    if (codes == NULL || scales == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)channels * 4);
        return 0;
    }
    for (int64_t c = 0; c < channels; c++) {
        scales[c] = scale * weight[c];
        const double code = nearbyint((double)from[c] / (double)scales[c]);
        codes[c] = (int32_t)(code > INT32_MAX ? INT32_MAX : code < INT32_MIN ? INT32_MIN : code);
    }
    hg_type t = type;
    t.dtype = HOLO_I32;
    const size_t bytes = (size_t)channels * 4;
    hg_value_id in[2] = {hg_build_const(b, t, codes, bytes),
                         hg_build_const(b, type, scales, bytes)};
    hg_attr axis = hg_attr_make_int("axis", 0);
    return hg_build_op(b, "DequantizeLinear", in, 2, &axis, 1);
}

/* A bias far above the weights of its channel would leave int32: such a channel gets a larger
 * scale. */
static float quantize_least(const hg_graph *g, hg_value_id bias, int64_t c, float scale)
{
    if (bias == 0) return 0;
    const float *b = hg_graph_value(g, bias)->constant->data;
    return fabsf(b[c]) / scale / 1073741824.0f;
}

/* Numbers of a window; 0: a depthwise convolution, whose kernel multiplies 16-bit numbers. */
static int64_t quantize_taps(const quantize_state *s, uint32_t i, const hg_quantize_weights *w)
{
    int64_t channels;
    if (s->kind[i] != QUANTIZE_CONV) return 1;
    if (!hg_dim_is_const(&s->g->dims, w->type.dim[1], &channels) || channels < 1) return 1;
    return channels == 1 && hg_node_int(hg_graph_node(s->g, s->layer[i]), "group", 1) > 1
               ? 0
               : w->each / channels;
}

static holo_status quantize_channels(const quantize_state *s, uint32_t i, float x_scale,
                                     const hg_quantize_weights *w, int8_t **codes, float **scale)
{
    hg_graph *g = s->g;
    const hg_node *n = hg_graph_node(g, s->layer[i]);
    hg_value_id bias = s->kind[i] == QUANTIZE_CONV ? hg_node_in(g, n, 2) : 0;
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * w->each), codes));
    HG_TRY(HG_NEW(g->ctx, (size_t)w->channels, scale));
    for (int64_t c = 0; c < w->channels; c++)
        (*scale)[c] = hg_quantize_channel(
            s->q->mode, w->data + c * w->channel, w->each, w->step, quantize_taps(s, i, w),
            quantize_least(g, bias, c, x_scale), *codes + c * w->channel);
    return HOLO_OK;
}

/* DQ(codes): axis is that of the output channels. A product's matrix is [k, n] from now on. */
static hg_value_id quantize_dequantized(hg_build *b, const hg_quantize_weights *w, bool is_conv,
                                        int8_t *codes, float *scale)
{
    hg_type type = w->type, line = {.dtype = HOLO_F32, .rank = 1};
    const size_t count = (size_t)(w->channels * w->each);
    type.dtype = HOLO_I8;
    line.dim[0] = hg_dim_const(&b->g->dims, w->channels);
    if (!is_conv && w->step == 1) {
        int8_t *turned = hg_arena_array(&b->ctx->arena, count, 1);
        if (turned == NULL) {
            b->status = hg_fail_nomem(b->ctx->error, count);
            return 0;
        }
        for (int64_t c = 0; c < w->channels; c++)
            for (int64_t i = 0; i < w->each; i++)
                turned[i * w->channels + c] = codes[c * w->each + i];
        codes = turned;
        type.dim[0] = w->type.dim[1];
        type.dim[1] = w->type.dim[0];
    }
    for (int64_t c = 0; c < w->channels; c++)
        scale[c] *= w->alpha;
    hg_value_id in[2] = {hg_build_const(b, type, codes, count),
                         hg_build_const(b, line, scale, (size_t)w->channels * sizeof *scale)};
    hg_attr axis = hg_attr_make_int("axis", is_conv ? 0 : 1);
    return hg_build_op(b, "DequantizeLinear", in, 2, &axis, 1);
}

static void quantize_replace(quantize_state *s, uint32_t i, hg_build *b, hg_value_id made)
{
    if (b->status != HOLO_OK) return;
    hg_value *old = hg_graph_value(s->g, hg_graph_node(s->g, s->layer[i])->out[0]);
    hg_graph_value(s->g, made)->name = old->name;
    hg_build_replace(b, 0, made);
    hg_graph_remove_node(s->g, s->layer[i]);
    s->layer[i] = hg_graph_value(s->g, made)->node;
}

/* Weights times what their inputs have been divided by. */
static holo_status quantize_stretch(const quantize_state *s, uint32_t activation,
                                    hg_quantize_weights *w)
{
    const float *smooth = s->activation[activation].smooth;
    float *to;
    if (smooth == NULL) return HOLO_OK;
    HG_TRY(HG_NEW(s->g->ctx, (size_t)(w->channels * w->each), &to));
    for (int64_t c = 0; c < w->channels; c++) {
        for (int64_t k = 0; k < w->each; k++) {
            const int64_t at = c * w->channel + k * w->step;
            to[at] = w->data[at] * smooth[k];
        }
    }
    w->data = to;
    return HOLO_OK;
}

static holo_status quantize_layer_static(quantize_state *s, uint32_t i)
{
    const bool is_conv = s->kind[i] == QUANTIZE_CONV;
    hg_quantize_weights w = quantize_read(s, i);
    hg_quantize_layer *layer = &s->q->layer[i];
    hg_quantize_code code;
    int8_t *codes;
    float *scale, *shift;
    hg_build b;
    hg_build_init(&b, s->g, s->layer[i]);
    hg_value_id dq = hg_build_in(&b, 0), bias = is_conv ? hg_build_in(&b, 2) : 0;
    const uint32_t activation = s->reads[i];
    HG_TRY(quantize_scale(s, activation, &code));
    HG_TRY(quantize_stretch(s, activation, &w));
    HG_TRY(quantize_channels(s, i, code.scale, &w, &codes, &scale));
    HG_TRY(quantize_shift(s, i, activation, &w, codes, scale, &shift));
    if (is_conv) bias = quantize_shifted(&b, bias, shift, w.channels);
    if (!is_conv) quantize_shift_add(s, &b, i, shift, w.channels);
    HG_TRY(b.status);
    layer->weight_error = quantize_error(&w, codes, scale);
    layer->weights = (uint64_t)(w.channels * w.each);
    layer->form = "static";
    hg_value_id in[3] = {dq, 0, 0}, made;
    if (bias != 0) in[2] = quantize_bias(&b, bias, code.scale, scale, w.channels);
    in[1] = quantize_dequantized(&b, &w, is_conv, codes, scale);
    if (is_conv) {
        hg_node_id clone = hg_build_clone(&b, in, bias != 0 ? 3 : 2);
        if (clone == 0) return b.status;
        made = hg_graph_node(s->g, clone)->out[0];
    } else {
        made = hg_build_2(&b, "MatMul", in[0], in[1]);
    }
    quantize_replace(s, i, &b, made);
    return b.status;
}

/* ---- weights alone --------------------------------------------------------------------------- */

typedef struct quantize_blocks {
    int64_t count, bytes; /* of a column */
    uint8_t *codes, *zeros;
    float *scale, *float_zero;
    double difference, size;
} quantize_blocks;

/* One block of one column: codes side by side, the first in the low bits. */
static void quantize_block(holo_quantize mode, const hg_quantize_weights *w, int64_t c, int64_t at,
                           quantize_blocks *out)
{
    uint8_t code[HG_QUANTIZE_BLOCK] = {0};
    const uint32_t bits = hg_quantize_bits(mode);
    const int64_t first = at * HG_QUANTIZE_BLOCK, n = hg_min(HG_QUANTIZE_BLOCK, w->each - first);
    const float *from = w->data + c * w->channel + first * w->step;
    const hg_quantize_code q = hg_quantize_group(mode, from, n, w->step, code);
    uint8_t *to = out->codes + c * out->bytes + first * bits / 8;
    for (int64_t i = 0; i < HG_QUANTIZE_BLOCK; i++) {
        const int64_t bit = i * bits;
        to[bit / 8] = (uint8_t)(to[bit / 8] | code[i] << (bit % 8));
        if (i >= n) continue;
        const double x = (double)from[i * w->step];
        const double d = x - ((double)code[i] - (double)q.zero) * (double)q.scale;
        out->difference += d * d;
        out->size += x * x;
    }
    out->scale[c * out->count + at] = q.scale * w->alpha;
    out->float_zero[c * out->count + at] = q.zero;
}

static holo_status quantize_blocks_make(hg_graph *g, holo_quantize mode,
                                        const hg_quantize_weights *w, quantize_blocks *out)
{
    const uint32_t bits = hg_quantize_bits(mode);
    out->count = hg_ceil_div(w->each, HG_QUANTIZE_BLOCK);
    out->bytes = out->count * HG_QUANTIZE_BLOCK * bits / 8;
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * out->bytes), &out->codes));
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * out->count), &out->scale));
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * out->count), &out->float_zero));
    for (int64_t c = 0; c < w->channels; c++)
        for (int64_t at = 0; at < out->count; at++)
            quantize_block(mode, w, c, at, out);
    return HOLO_OK;
}

/* Zero points as an input where they are not the usual ones: packed codes of 1 for ternary. */
static hg_value_id quantize_zeros(hg_build *b, holo_quantize mode, const hg_quantize_weights *w,
                                  const quantize_blocks *blocks)
{
    hg_dims *d = &b->g->dims;
    hg_type type = {.dtype = HOLO_F32, .rank = 2};
    type.dim[0] = hg_dim_const(d, w->channels);
    type.dim[1] = hg_dim_const(d, blocks->count);
    const size_t count = (size_t)(w->channels * blocks->count);
    if (mode == HOLO_QUANTIZE_Q96)
        return hg_build_const(b, type, blocks->float_zero, count * sizeof(float));
    if (mode != HOLO_QUANTIZE_TERNARY) return 0;
    const int64_t bytes = hg_ceil_div(blocks->count, 4);
    uint8_t *zeros = hg_arena_array(&b->ctx->arena, (size_t)(w->channels * bytes), 1);
    if (zeros == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)bytes);
        return 0;
    }
    memset(zeros, 0x55, (size_t)(w->channels * bytes));
    type.dtype = HOLO_U8;
    type.dim[1] = hg_dim_const(d, bytes);
    return hg_build_const(b, type, zeros, (size_t)(w->channels * bytes));
}

/* 4 allows activations of 8 bits: next to weights of 4 bits and less their error does not show. */
static int64_t quantize_level(holo_quantize mode)
{
    return mode == HOLO_QUANTIZE_INT8 || mode == HOLO_QUANTIZE_Q96 ? 0 : 4;
}

static holo_status quantize_layer_blocks(quantize_state *s, uint32_t i)
{
    const hg_quantize_weights w = quantize_read(s, i);
    const holo_quantize mode = s->q->mode;
    const int64_t bits = hg_quantize_bits(mode);
    hg_quantize_layer *layer = &s->q->layer[i];
    quantize_blocks blocks = {0};
    hg_build b;
    HG_TRY(quantize_blocks_make(s->g, mode, &w, &blocks));
    layer->weight_error = blocks.size == 0 ? 0 : sqrt(blocks.difference / blocks.size);
    layer->weights = (uint64_t)(w.channels * w.each);
    layer->form = "blocks of 32";
    hg_build_init(&b, s->g, s->layer[i]);
    hg_dims *d = &s->g->dims;
    hg_type type = {.dtype = HOLO_U8, .rank = 3}, table = {.dtype = HOLO_F32, .rank = 2};
    type.dim[0] = table.dim[0] = hg_dim_const(d, w.channels);
    type.dim[1] = table.dim[1] = hg_dim_const(d, blocks.count);
    type.dim[2] = hg_dim_const(d, HG_QUANTIZE_BLOCK * bits / 8);
    hg_value_id in[4] = {
        hg_build_in(&b, 0),
        hg_build_const(&b, type, blocks.codes, (size_t)(w.channels * blocks.bytes)),
        hg_build_const(&b, table, blocks.scale, (size_t)(w.channels * blocks.count) * 4),
        quantize_zeros(&b, mode, &w, &blocks)};
    hg_attr attr[] = {hg_attr_make_int("K", w.each), hg_attr_make_int("N", w.channels),
                      hg_attr_make_int("bits", bits),
                      hg_attr_make_int("block_size", HG_QUANTIZE_BLOCK),
                      hg_attr_make_int("accuracy_level", quantize_level(mode))};
    hg_value_id made =
        hg_build_op(&b, "com.microsoft:MatMulNBits", in, in[3] == 0 ? 3 : 4, attr, HG_COUNT(attr));
    quantize_replace(s, i, &b, made);
    return b.status;
}

static holo_status quantize_layer_panels(quantize_state *s, uint32_t i)
{
    const hg_quantize_weights w = quantize_read(s, i);
    hg_value_id made = 0;
    hg_build b;
    hg_build_init(&b, s->g, s->layer[i]);
    HG_TRY(hg_quantize_panels(&b, s->q->mode, &w, &s->q->layer[i], &made));
    quantize_replace(s, i, &b, made);
    return b.status;
}

/* A convolution's weights become what their codes stand for. */
static holo_status quantize_layer_rounded(quantize_state *s, uint32_t i)
{
    const hg_quantize_weights w = quantize_read(s, i);
    hg_quantize_layer *layer = &s->q->layer[i];
    int8_t *codes;
    float *scale, *rounded;
    hg_value_id made;
    const size_t count = (size_t)(w.channels * w.each);
    HG_TRY(quantize_channels(s, i, 1, &w, &codes, &scale));
    HG_TRY(HG_NEW(s->g->ctx, count, &rounded));
    for (size_t k = 0; k < count; k++)
        rounded[k] = (float)codes[k] * scale[k / (size_t)w.each];
    layer->weight_error = quantize_error(&w, codes, scale);
    layer->weights = count;
    layer->form = "rounded, float";
    const hg_value *old =
        hg_graph_value(s->g, hg_node_in(s->g, hg_graph_node(s->g, s->layer[i]), 1));
    HG_TRY(hg_graph_add_const(s->g, old->name, w.type, rounded, count * sizeof(float), &made));
    hg_graph_set_input(s->g, s->layer[i], 1, made);
    return HOLO_OK;
}

static holo_status quantize_apply(quantize_state *s)
{
    for (uint32_t i = 0; i < s->n_activation; i++)
        HG_TRY(quantize_activation_apply(s, i));
    for (uint32_t i = 0; i < s->n_layer; i++) {
        if (s->q->activations)
            HG_TRY(quantize_layer_static(s, i));
        else if (s->kind[i] == QUANTIZE_MATMUL && hg_quantize_kind(s->q->mode) != HG_BITS_KINDS)
            HG_TRY(quantize_layer_panels(s, i));
        else if (s->kind[i] == QUANTIZE_MATMUL)
            HG_TRY(quantize_layer_blocks(s, i));
        else if (hg_quantize_limit(s->q->mode) != 0)
            HG_TRY(quantize_layer_rounded(s, i));
    }
    return HOLO_OK;
}

static holo_status quantize_run(hg_graph *g, bool *changed)
{
    quantize_state s = {.g = g, .q = g->ctx->quantize};
    if (s.q == NULL || g->is_body) return HOLO_OK;
    HG_TRY(quantize_collect(&s));
    HG_TRY(quantize_describe(&s));
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
