/* quantize_activations.c - values become codes: scale and zero point, channels brought together,
 * and who reads the codes. */
#include "pass/quantize_state.h"

#include <float.h>
#include <math.h>

#define ACTIVATIONS_WIDER 1.25f /* 16 bits have room for more than samples show */

/* Codes of 16 bits. */
static bool activations_is_two(const hg_quantize_state *s, uint32_t i)
{
    return s->q->channel[i].is_source || hg_quantize_digits(s, i) == 2;
}

static hg_quantize_range activations_range(const hg_quantize_state *s, uint32_t i,
                                           const float *smooth)
{
    const hg_quantize_activation *a = &s->activation[i];
    const hg_quantize_channels *c = &s->q->channel[i];
    const bool is_two = activations_is_two(s, i);
    hg_quantize_range r = {0, 0};
    if (smooth == NULL && !is_two) return s->q->range[a->same_as == 0 ? i : a->same_as - 1];
    for (int64_t k = 0; k < c->channels; k++) {
        const float by = (smooth == NULL ? 1 : smooth[k]) / (is_two ? ACTIVATIONS_WIDER : 1);
        const float low = c->range[k].low / by, high = c->range[k].high / by;
        if (!(low >= r.low)) r.low = low;
        if (!(high <= r.high)) r.high = high;
    }
    return r;
}

/* Scale and zero point of unsigned bytes that hold the range, with 0 exact; of 16 bits, signed and
 * without a zero point. */
holo_status hg_quantize_scale(const hg_quantize_state *s, uint32_t i, hg_quantize_code *out)
{
    const hg_quantize_activation *a = &s->activation[i];
    const hg_quantize_range r = activations_range(s, i, a->smooth);
    const float low = r.low < 0 ? r.low : 0, high = r.high > 0 ? r.high : 0;
    const bool is_two = activations_is_two(s, i);
    float scale = is_two ? fmaxf(-low, high) / INT16_MAX : (high - low) / 255;
    if (!isfinite(scale))
        return hg_fail(s->g->ctx->error, HOLO_E_DATA,
                       "value '%.*s' is not finite in the samples: it has no range",
                       HG_STR_ARG(hg_graph_value(s->g, a->value)->name));
    if (!(scale > FLT_MIN)) scale = 1; /* always zero */
    *out = (hg_quantize_code){scale, is_two ? 0 : nearbyintf(-low / scale)};
    return HOLO_OK;
}

static hg_value_id activations_zero(hg_build *b, float zero, bool is_two)
{
    const uint8_t code = (uint8_t)zero;
    const int16_t none = 0;
    return is_two ? hg_build_const(b, (hg_type){.dtype = HOLO_I16}, &none, sizeof none)
                  : hg_build_const(b, (hg_type){.dtype = HOLO_U8}, &code, sizeof code);
}

void hg_quantize_build_after(hg_build *b, hg_graph *g, hg_value_id v)
{
    hg_node_id made = hg_graph_value(g, v)->node;
    hg_node_id first = hg_graph_region(g, HG_REGION_MAIN)->first;
    hg_build_init(b, g, made == 0 ? first : made);
    b->before = made == 0 ? first : hg_graph_node(g, made)->next;
    b->region = HG_REGION_MAIN;
}

static bool activations_is_layer(const hg_quantize_state *s, hg_node_id id)
{
    for (uint32_t i = 0; i < s->n_layer; i++)
        if (s->layer[i] == id) return !hg_quantize_is_kept(s, i);
    return false;
}

bool hg_quantize_is_bound(const hg_graph *g, hg_node_id id, hg_quantize_bound *out)
{
    const hg_node *n = hg_graph_node(g, id);
    const bool relu = hg_op_is(n, "Relu"), max = hg_op_is(n, "Max");
    *out = (hg_quantize_bound){hg_node_in(g, n, 0), -INFINITY, INFINITY};
    if (relu) out->least = 0;
    if (relu) return true;
    if ((!max && !hg_op_is(n, "Min")) || n->n_in != 2) return false;
    double *to = max ? &out->least : &out->most;
    if (hg_graph_const_scalar(g, hg_node_in(g, n, 1), to)) return true;
    out->of = hg_node_in(g, n, 1);
    return hg_graph_const_scalar(g, hg_node_in(g, n, 0), to);
}

/* QuantizeLinear saturates: bounds in front of it that lie outside its range do nothing, and what
 * they read goes straight into codes. Rounding keeps the order of numbers, so this is exact. */
static hg_value_id activations_source(const hg_graph *g, const hg_quantize_activation *a,
                                      const hg_quantize_code *code)
{
    hg_value_id v = a->value;
    if (!a->is_stored || hg_graph_is_output(g, v)) return v;
    for (hg_node_id id = hg_graph_value(g, v)->node; id != 0; id = hg_graph_value(g, v)->node) {
        hg_quantize_bound bound;
        if (!hg_quantize_is_bound(g, id, &bound)) break;
        const double scale = (double)code->scale, zero = (double)code->zero;
        /* well inside the halves at which codes change: the quotient is rounded to a float */
        if (bound.least / scale + zero > 0.4 || bound.most / scale + zero < 254.6) break;
        v = bound.of;
    }
    return v;
}

/* Readers get the codes: all nodes, or input 0 of layers alone. */
static void activations_redirect(const hg_quantize_state *s, const hg_quantize_activation *a,
                                 hg_node_id quantize)
{
    hg_graph *g = s->g;
    const bool is_source = s->q->channel[s->number[a->value] - 1].is_source;
    for (uint32_t slot = hg_graph_value(g, a->value)->first_use, next; slot != 0; slot = next) {
        const hg_use u = g->use[slot - 1];
        next = u.next;
        if (u.node == 0 || u.node == quantize) continue;
        if (a->is_stored || is_source || (u.index == 0 && activations_is_layer(s, u.node)))
            hg_graph_set_input(g, u.node, u.index, a->codes);
    }
}

/* Noise of the sums when channel k of the input is divided by smooth[k]: rounding of inputs times
 * weights, and rounding of weights times inputs. */
static double activations_noise(const hg_quantize_state *s, uint32_t i, const float *smooth)
{
    const hg_quantize_channels *c = &s->q->channel[i];
    const hg_quantize_range r = activations_range(s, i, smooth);
    const double steps = hg_quantize_digits(s, i) == 2 ? INT16_MAX : 255;
    const double step = ((double)r.high - (double)r.low) / steps, count = (double)c->count;
    const double limit = hg_quantize_limit(s->q->mode);
    double noise = 0, energy = 0;
    for (int64_t k = 0; k < c->channels; k++)
        energy += c->squares[k] / count / ((double)smooth[k] * (double)smooth[k]);
    for (uint32_t n = 0; n < s->n_layer; n++) {
        if (s->reads[n] != i || s->is_short[n]) continue;
        const hg_quantize_weights w = hg_quantize_read(s, n);
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
static bool activations_readers(const hg_quantize_state *s, uint32_t i, float *most)
{
    for (uint32_t n = 0; n < s->n_layer; n++) {
        if (s->reads[n] != i || s->is_short[n]) continue;
        const hg_quantize_weights w = hg_quantize_read(s, n);
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
static holo_status activations_find_smooth(const hg_quantize_state *s, uint32_t i)
{
    static const double powers[] = {0, 0.15, 0.3, 0.5, 0.65, 0.8, 1};
    const hg_quantize_activation *a = &s->activation[i];
    hg_quantize_channels *c = &s->q->channel[i];
    float *weights, *smooth, *best;
    double least = INFINITY;
    const int digits = (int)hg_quantize_digits(s, i);
    c->is_smoothed[digits - 1] = true;
    if (a->is_stored || !c->is_last || c->is_source || c->sum == NULL || c->count == 0)
        return HOLO_OK;
    HG_TRY(HG_NEW(s->g->ctx, (size_t)c->channels + 1, &weights));
    HG_TRY(HG_NEW(s->g->ctx, (size_t)c->channels + 1, &smooth));
    HG_TRY(HG_NEW(s->q->ctx, (size_t)c->channels + 1, &best));
    if (!activations_readers(s, i, weights)) return HOLO_OK;
    for (size_t p = 0; p < HG_COUNT(powers); p++) {
        for (int64_t k = 0; k < c->channels; k++) {
            const double most = (double)fmaxf(-c->range[k].low, c->range[k].high);
            const double by =
                p == 0 ? 1 : pow(most, powers[p]) / pow((double)weights[k], 1 - powers[p]);
            smooth[k] = by > 1e-6 && by < 1e6 ? (float)by : 1;
        }
        const double noise = activations_noise(s, i, smooth);
        if (!(noise < least)) continue;
        least = noise;
        memcpy(best, smooth, (size_t)c->channels * sizeof *best);
        c->smooth[digits - 1] = p == 0 ? NULL : best;
    }
    return HOLO_OK;
}

static holo_status activations_smooth(hg_quantize_state *s, uint32_t i)
{
    const hg_quantize_channels *c = &s->q->channel[i];
    const uint32_t at = hg_quantize_digits(s, i) - 1;
    if (!c->is_smoothed[at]) HG_TRY(activations_find_smooth(s, i));
    s->activation[i].smooth = c->smooth[at];
    return HOLO_OK;
}

/* x times the inverse of what it is divided by. */
static hg_value_id activations_smoothed(hg_build *b, const hg_quantize_activation *a,
                                        hg_value_id source, int64_t channels)
{
    hg_type type = {.dtype = HOLO_F32, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, channels);
    if (a->smooth == NULL) return source;
    float *inverse = hg_arena_array(&b->ctx->arena, (size_t)channels, sizeof *inverse);
    if (inverse == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)channels * sizeof *inverse);
        return 0;
    }
    for (int64_t k = 0; k < channels; k++)
        inverse[k] = 1 / a->smooth[k];
    return hg_build_2(b, "Mul", source,
                      hg_build_const(b, type, inverse, (size_t)channels * sizeof *inverse));
}

/* DQ(Q(x)); *node: the Q. */
static hg_value_id activations_codes(hg_build *b, hg_value_id x, const hg_quantize_code *code,
                                     bool is_two, hg_node_id *node)
{
    hg_value_id in[3] = {x, hg_build_const(b, (hg_type){.dtype = HOLO_F32}, &code->scale, 4),
                         activations_zero(b, code->zero, is_two)};
    *node = hg_build_node(b, "QuantizeLinear", in, 3, NULL, 0, 1);
    if (*node == 0) return 0;
    in[0] = hg_graph_node(b->g, *node)->out[0];
    return hg_build_op(b, "DequantizeLinear", in, 3, NULL, 0);
}

holo_status hg_quantize_activation_apply(hg_quantize_state *s, uint32_t i)
{
    hg_quantize_activation *a = &s->activation[i];
    hg_quantize_code code;
    hg_build b;
    HG_TRY(activations_smooth(s, i));
    HG_TRY(hg_quantize_scale(s, i, &code));
    hg_quantize_build_after(&b, s->g, a->value);
    const hg_value_id x =
        activations_smoothed(&b, a, activations_source(s->g, a, &code), s->q->channel[i].channels);
    hg_node_id quantize;
    a->codes = activations_codes(&b, x, &code, activations_is_two(s, i), &quantize);
    HG_TRY(b.status);
    activations_redirect(s, a, quantize);
    return a->source == 0 ? HOLO_OK : hg_quantize_activation_apply(s, a->source - 1);
}
