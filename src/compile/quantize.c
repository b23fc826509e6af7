/* quantize.c - runs samples through the float model for ranges, then through the quantised one for
 * errors.
 *
 * Both are compiled from the same source as the result, with activations and layers as additional
 * outputs; a layer is known by its number in all of them. */
#include "compile/quantize.h"

#include "base/half.h"
#include "compile/quantize_run.h"

#include <math.h>
#include <stdio.h>

enum {
    QUANTIZE_BINS = 4096,
    QUANTIZE_TRIES = 64,
    QUANTIZE_TOP = 5,
    QUANTIZE_ROUNDS = 16,
    QUANTIZE_MOVE = 32
};

/* ---- models beside the one that is made ------------------------------------------------------ */

/* Who asked is told of the models beside too, and may stop them. */
typedef struct quantize_stage {
    const holo_compile_options *options;
    uint32_t number;
} quantize_stage;

static bool quantize_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    const quantize_stage *s = user;
    char text[64];
    if (s->options->progress == NULL) return true;
    snprintf(text, sizeof text, "measuring, model %u: %s", s->number, stage);
    return s->options->progress(s->options->progress_user, text, done, total);
}

holo_status hg_quantize_sample(hg_compile *c, hg_sampler *s, size_t k)
{
    const holo_compile_options *o = c->options;
    if (o->progress != NULL && !o->progress(o->progress_user, "samples", k, o->n_calibrate))
        return hg_fail(c->ctx.error, HOLO_E_CANCELLED, "cancelled before sample %zu", k);
    return hg_sampler_run(s, &c->ctx, &o->calibrate[k], k);
}

holo_status hg_quantize_sampler(hg_compile *c, hg_quantize *q, hg_sampler *out)
{
    quantize_stage stage = {c->options, ++c->quantize->models};
    holo_compile_options options = *c->options;
    hg_compile inner;
    void *data = NULL;
    size_t size = 0;
    options.n_precompute = 0;
    options.quantize = HOLO_QUANTIZE_NONE;
    options.n_calibrate = 0;
    options.dump = NULL;
    options.progress = quantize_progress;
    options.progress_user = &stage;
    options.log = NULL;
    options.emit = NULL;
    options.flags &= ~(uint32_t)HOLO_COMPILE_CHECK_ONLY;
    holo_status status = hg_compile_init(&inner, &options, 1, c->ctx.error);
    inner.ctx.quantize = q;
    inner.source = c->source;
    if (status == HOLO_OK) status = c->source->fill(&inner, c->source);
    if (status == HOLO_OK) status = hg_compile_bytes(&inner, &data, &size);
    hg_compile_deinit(&inner);
    HG_TRY(status);
    return hg_sampler_open(out, &c->ctx, c->options->extra, data, size);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static void quantize_widen(hg_quantize_range *r, const holo_tensor *t)
{
    const float *x = t->data;
    const int64_t n = t->dtype == HOLO_F32 ? holo_tensor_count(t) : 0;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] < r->low) r->low = x[i];
        if (x[i] > r->high) r->high = x[i];
        if (!isfinite(x[i])) r->high = INFINITY; /* refused later */
    }
}

static holo_status quantize_average(hg_ctx *ctx, hg_quantize_channels *m, const holo_tensor *t)
{
    const float *x = t->data;
    const int64_t all = holo_tensor_count(t);
    const int32_t axis = m->is_last ? t->rank - 1 : 1;
    if (t->dtype != HOLO_F32 || axis < 0 || axis >= t->rank || all == 0) return HOLO_OK;
    if (m->sum == NULL) {
        m->channels = t->dim[axis];
        HG_TRY(HG_NEW(ctx, (size_t)m->channels, &m->sum));
        HG_TRY(HG_NEW(ctx, (size_t)m->channels, &m->squares));
        HG_TRY(HG_NEW(ctx, (size_t)m->channels, &m->range));
    }
    if (t->dim[axis] != m->channels) return HOLO_OK;
    int64_t inner = 1;
    for (int32_t k = axis + 1; k < t->rank; k++)
        inner *= t->dim[k];
    for (int64_t i = 0; i < all; i++) {
        const int64_t k = i / inner % m->channels;
        m->sum[k] += (double)x[i];
        m->squares[k] += (double)x[i] * (double)x[i];
        if (x[i] < m->range[k].low) m->range[k].low = x[i];
        if (x[i] > m->range[k].high) m->range[k].high = x[i];
        if (!isfinite(x[i])) m->range[k].high = INFINITY;
    }
    m->count += (uint64_t)(all / m->channels);
    return HOLO_OK;
}

static holo_status quantize_ranges(hg_compile *c, struct hg_quantize_run *r, hg_sampler *s)
{
    const holo_compile_options *o = c->options;
    for (size_t k = 0; k < o->n_calibrate; k++) {
        if (hg_quantize_is_held(o, k)) continue;
        HG_TRY(hg_quantize_sample(c, s, k));
        for (uint32_t i = 0; i < r->q.n_activation; i++) {
            holo_tensor t;
            HG_TRY(holo_session_output(s->session, r->n_output + i, &t, c->ctx.error));
            quantize_widen(&r->q.range[i], &t);
            HG_TRY(quantize_average(&c->ctx, &r->q.channel[i], &t));
        }
    }
    return HOLO_OK;
}

/* Numbers by bins of the whole range, per activation. */
static void quantize_count(uint64_t *bin, const hg_quantize_range *r, const holo_tensor *t)
{
    const float *x = t->data;
    const int64_t n = t->dtype == HOLO_F32 ? holo_tensor_count(t) : 0;
    const double width = ((double)r->high - (double)r->low) / QUANTIZE_BINS;
    for (int64_t i = 0; i < n && width > 0 && isfinite(width); i++) {
        const double at = ((double)x[i] - (double)r->low) / width;
        bin[at < 0 ? 0 : at >= QUANTIZE_BINS ? QUANTIZE_BINS - 1 : (int)at]++;
    }
}

/* Cuts off the bins at both ends that hold the rest of the percentile, half of it each. */
static void quantize_cut(const uint64_t *bin, double percentile, hg_quantize_range *r)
{
    uint64_t all = 0, below = 0, above = 0;
    int low = 0, high = QUANTIZE_BINS - 1;
    const double width = ((double)r->high - (double)r->low) / QUANTIZE_BINS;
    for (int i = 0; i < QUANTIZE_BINS; i++)
        all += bin[i];
    const double spare = (double)all * (100.0 - percentile) / 200.0;
    for (; low < high && (double)(below + bin[low]) <= spare; low++)
        below += bin[low];
    for (; high > low && (double)(above + bin[high]) <= spare; high--)
        above += bin[high];
    const hg_quantize_range whole = *r;
    r->low = (float)((double)whole.low + low * width);
    r->high = (float)((double)whole.low + (high + 1) * width);
}

/* Squared error of 256 codes over [low, high]: rounding inside, cutting off outside. */
static double quantize_cost(const uint64_t *bin, const hg_quantize_range *whole, double low,
                            double high)
{
    const double width = ((double)whole->high - (double)whole->low) / QUANTIZE_BINS;
    const double step = (high - low) / 255, inside = step * step / 12;
    double sum = 0;
    for (int i = 0; i < QUANTIZE_BINS; i++) {
        const double x = (double)whole->low + (i + 0.5) * width;
        const double d = x < low ? low - x : x > high ? x - high : 0;
        sum += (double)bin[i] * (d == 0 ? inside : d * d);
    }
    return sum;
}

/* The ends with the least squared error, one after the other. The range keeps 0, as codes do. */
static void quantize_choose(const uint64_t *bin, hg_quantize_range *r)
{
    double low = (double)r->low < 0 ? (double)r->low : 0;
    double high = (double)r->high > 0 ? (double)r->high : 0;
    if (!isfinite(low) || !isfinite(high)) return; /* refused later */
    const double ends[2] = {low, high};
    double least = quantize_cost(bin, r, low, high);
    for (int round = 0; round < 2; round++)
        for (int side = 0; side < 2; side++)
            for (int k = 1; k < QUANTIZE_TRIES; k++) {
                const double end = ends[side] * (1 - (double)k / QUANTIZE_TRIES);
                const double cost =
                    quantize_cost(bin, r, side == 0 ? end : low, side == 0 ? high : end);
                if (!(cost < least)) continue;
                least = cost;
                *(side == 0 ? &low : &high) = end;
            }
    r->low = (float)low;
    r->high = (float)high;
}

static holo_status quantize_percentile(hg_compile *c, struct hg_quantize_run *r, hg_sampler *s)
{
    const holo_compile_options *o = c->options;
    uint64_t *bin;
    if (o->percentile == 100) return HOLO_OK;
    HG_TRY(HG_NEW(&c->ctx, (size_t)r->q.n_activation * QUANTIZE_BINS + 1, &bin));
    for (size_t k = 0; k < o->n_calibrate; k++) {
        if (hg_quantize_is_held(o, k)) continue;
        HG_TRY(hg_quantize_sample(c, s, k));
        for (uint32_t i = 0; i < r->q.n_activation; i++) {
            holo_tensor t;
            HG_TRY(holo_session_output(s->session, r->n_output + i, &t, c->ctx.error));
            quantize_count(bin + (size_t)i * QUANTIZE_BINS, &r->q.range[i], &t);
        }
    }
    for (uint32_t i = 0; i < r->q.n_activation; i++) {
        if (o->percentile == 0)
            quantize_choose(bin + (size_t)i * QUANTIZE_BINS, &r->q.range[i]);
        else
            quantize_cut(bin + (size_t)i * QUANTIZE_BINS, o->percentile, &r->q.range[i]);
    }
    return HOLO_OK;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Number i of a float tensor. */
static float quantize_number(const holo_tensor *t, int64_t i)
{
    if (t->dtype == HOLO_F32) return ((const float *)t->data)[i];
    const uint16_t bits = ((const uint16_t *)t->data)[i];
    return t->dtype == HOLO_F16 ? hg_f16_to_f32(bits) : hg_bf16_to_f32(bits);
}

static bool quantize_is_comparable(const holo_tensor *a, const holo_tensor *b)
{
    const hg_types floats = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16);
    return hg_dtype_in(a->dtype, floats) && hg_dtype_in(b->dtype, floats) &&
           holo_tensor_count(a) == holo_tensor_count(b);
}

void hg_quantize_compare(hg_quantize_difference *e, const holo_tensor *a, const holo_tensor *b)
{
    const int64_t n = holo_tensor_count(a);
    if (!quantize_is_comparable(a, b)) return;
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)quantize_number(a, i), d = fabs(x - (double)quantize_number(b, i));
        e->sum += d;
        e->squares += d * d;
        e->size += x * x;
        if (!(d <= e->max)) e->max = d;
    }
    e->count += (uint64_t)n;
    e->is_measured |= n != 0;
}

/* The largest numbers of an output. */
typedef struct quantize_top {
    int count;
    double least;   /* of them */
    double inverse; /* of their sizes, on average */
    double worst;   /* relative difference */
} quantize_top;

static quantize_top quantize_find_top(const holo_tensor *a, const holo_tensor *b)
{
    const int64_t n = holo_tensor_count(a);
    quantize_top top = {0};
    float below = INFINITY;
    for (; top.count < QUANTIZE_TOP; top.count++) {
        int64_t at = -1;
        float most = 0;
        for (int64_t i = 0; i < n; i++) {
            const float size = fabsf(quantize_number(a, i));
            if (!(size < below) || !(size > most)) continue;
            at = i;
            most = size;
        }
        if (at < 0) break;
        below = most;
        const double x = (double)quantize_number(a, at), y = (double)quantize_number(b, at);
        const double d = fabs(x - y) / (double)below;
        if (!(d <= top.worst)) top.worst = d;
        top.inverse += 1 / (double)below;
    }
    top.least = top.count == 0 ? 0 : (double)below;
    top.inverse /= top.count == 0 ? 1 : top.count;
    return top;
}

/* The difference that is to be expected of the largest numbers. Five of them in a few samples show
 * little; all that are at least half as large have differences of about the same size. */
static double quantize_expect(const quantize_top *top, const holo_tensor *a, const holo_tensor *b)
{
    /* the largest size among so many normal numbers */
    static const double largest[QUANTIZE_TOP + 1] = {0, 0.798, 1.128, 1.326, 1.465, 1.569};
    double squares = 0, count = 0;
    for (int64_t i = 0, n = holo_tensor_count(a); i < n; i++) {
        const double x = (double)quantize_number(a, i), d = x - (double)quantize_number(b, i);
        if (!(fabs(x) >= top->least / 2)) continue;
        squares += d * d;
        count++;
    }
    return count == 0 ? 0 : largest[top->count] * sqrt(squares / count) * top->inverse;
}

static void quantize_compare_top(struct hg_quantize_run *r, uint32_t i, const holo_tensor *a,
                                 const holo_tensor *b)
{
    if (!quantize_is_comparable(a, b)) return;
    const quantize_top top = quantize_find_top(a, b);
    r->top[i] += top.worst;
    r->expected[i] += quantize_expect(&top, a, b);
}

/* What a layer takes as floats: multiply-adds, and numbers that are moved. */
static holo_status quantize_work(hg_compile *c, struct hg_quantize_run *r, const hg_sampler *plain,
                                 uint32_t i, int64_t results)
{
    const hg_quantize_layer *l = &r->q.layer[i];
    holo_tensor x;
    double moved = (double)results;
    if (r->q.activations) {
        HG_TRY(holo_session_output(plain->session, r->n_output + l->reads, &x, c->ctx.error));
        moved += (double)holo_tensor_count(&x);
    }
    r->work[i] = (double)results * (double)l->each + QUANTIZE_MOVE * moved;
    return HOLO_OK;
}

/* Outputs of the float model: its own, activations, layers. Of the quantised one: own, layers. */
static holo_status quantize_measure(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                                    hg_sampler *coded, const holo_sample *sample, size_t number)
{
    HG_TRY(hg_sampler_run(plain, &c->ctx, sample, number));
    HG_TRY(hg_sampler_run(coded, &c->ctx, sample, number));
    for (uint32_t i = 0; i < r->n_output + r->q.n_seen; i++) {
        const bool is_layer = i >= r->n_output;
        holo_tensor a, b;
        HG_TRY(holo_session_output(plain->session, is_layer ? i + r->q.n_activation : i, &a,
                                   c->ctx.error));
        HG_TRY(holo_session_output(coded->session, i, &b, c->ctx.error));
        hg_quantize_compare(is_layer ? &r->layer[i - r->n_output] : &r->output[i], &a, &b);
        if (!is_layer) quantize_compare_top(r, i, &a, &b);
        if (is_layer) HG_TRY(quantize_work(c, r, plain, i - r->n_output, holo_tensor_count(&a)));
    }
    return HOLO_OK;
}

static holo_status quantize_errors(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                                   hg_sampler *coded)
{
    const holo_compile_options *o = c->options;
    holo_sample random;
    bool found;
    memset(r->layer, 0, (size_t)r->q.n_seen * sizeof *r->layer);
    memset(r->output, 0, (size_t)r->n_output * sizeof *r->output);
    memset(r->top, 0, (size_t)r->n_output * sizeof *r->top);
    memset(r->expected, 0, (size_t)r->n_output * sizeof *r->expected);
    const bool some_held = o->n_calibrate != 0 && hg_quantize_is_held(o, 3);
    double samples = 0;
    for (size_t k = 0; k < o->n_calibrate; k++) {
        if (r->q.activations && some_held != hg_quantize_is_held(o, k)) continue;
        HG_TRY(quantize_measure(c, r, plain, coded, &o->calibrate[k], k));
        samples++;
    }
    for (uint32_t i = 0; i < r->n_output && samples != 0; i++) {
        r->top[i] /= samples;
        r->expected[i] /= samples;
    }
    if (o->n_calibrate != 0) return HOLO_OK;
    HG_TRY(hg_quantize_random(c, r, plain, &random, &found));
    return found ? quantize_measure(c, r, plain, coded, &random, 0) : HOLO_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static holo_status quantize_look(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain)
{
    r->q.observe = true;
    HG_TRY(hg_quantize_sampler(c, &r->q, plain));
    const uint32_t added = r->q.n_activation + r->q.n_seen;
    r->n_output = holo_model_output_count(plain->model, 0) - added;
    HG_TRY(HG_NEW(&c->ctx, r->q.n_activation + 1, &r->q.range));
    HG_TRY(HG_NEW(&c->ctx, r->q.n_layer + 1, &r->layer));
    HG_TRY(HG_NEW(&c->ctx, r->n_output + 1, &r->output));
    HG_TRY(HG_NEW(&c->ctx, r->n_output + 1, &r->top));
    HG_TRY(HG_NEW(&c->ctx, r->n_output + 1, &r->expected));
    HG_TRY(HG_NEW(&c->ctx, r->q.n_layer + 1, &r->work));
    HG_TRY(HG_NEW(&c->ctx, r->n_output + 1, &r->name));
    for (uint32_t i = 0; i < r->n_output; i++) {
        holo_port port;
        HG_TRY(holo_model_output(plain->model, 0, i, &port));
        r->name[i] = hg_str_copy(&c->ctx.arena, hg_str_from(port.name)).text;
        if (r->name[i] == NULL) return hg_fail_nomem(c->ctx.error, strlen(port.name));
    }
    if (!r->q.activations) return HOLO_OK;
    HG_TRY(quantize_ranges(c, r, plain));
    return quantize_percentile(c, r, plain);
}

static holo_status quantize_check(const hg_compile *c)
{
    const holo_compile_options *o = c->options;
    holo_error *e = c->ctx.error;
    if (o->quantize < HOLO_QUANTIZE_NONE || o->quantize > HOLO_QUANTIZE_PALETTE)
        return hg_fail(e, HOLO_E_ARG, "quantize is %d, expected 0 to %d", (int)o->quantize,
                       HOLO_QUANTIZE_PALETTE);
    if (o->quantize == HOLO_QUANTIZE_NONE && o->n_calibrate != 0)
        return hg_fail(e, HOLO_E_ARG, "samples for calibration need a way to quantise");
    if (o->emit != NULL && hg_quantize_kind(o->quantize) != HG_BITS_KINDS &&
        (o->n_calibrate == 0 || hg_quantize_limit(o->quantize) == 0))
        return hg_fail(e, HOLO_E_ARG, "weights as %s have no operator in ONNX: nothing to emit",
                       hg_quantize_name(o->quantize));
    if (o->percentile != 0 && !(o->percentile >= 50 && o->percentile <= 100))
        return hg_fail(e, HOLO_E_ARG, "percentile is %g, expected 50 to 100", o->percentile);
    if (!(o->max_error >= 0))
        return hg_fail(e, HOLO_E_ARG, "the largest error is %g, expected 0 or more", o->max_error);
    if (o->quantize != HOLO_QUANTIZE_NONE && c->n_model != 1)
        return hg_fail(e, HOLO_E_ARG, "one model is quantised at a time, %zu were given",
                       c->n_model);
    return HOLO_OK;
}

/* The quantised model and its errors. */
static holo_status quantize_try(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain)
{
    hg_sampler coded = {0};
    holo_status status = hg_quantize_sampler(c, &r->q, &coded);
    if (status == HOLO_OK) status = quantize_errors(c, r, plain, &coded);
    hg_sampler_deinit(&coded, &c->ctx);
    return status;
}

/* Layers are computed more finely while the outputs are further off than asked for. */
static holo_status quantize_refine(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain)
{
    bool more = true;
    for (int round = 0; more && round < QUANTIZE_ROUNDS; round++) {
        HG_TRY(hg_quantize_keep(c, r, plain, &more));
        if (more) HG_TRY(quantize_try(c, r, plain));
    }
    return HOLO_OK;
}

/* The same with weights of products that are rounded with regard to their inputs. */
static holo_status quantize_squares(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                                    bool any_pair)
{
    hg_quantize_keep_none(r);
    r->q.any_pair = any_pair;
    HG_TRY(hg_quantize_squares(c, r));
    HG_TRY(quantize_try(c, r, plain));
    return quantize_refine(c, r, plain);
}

/* Weights are limited in pairs if that suffices, in networks of convolutions with a few layers as
 * floats too; otherwise they use all 8 bits, and as many layers as it takes are floats. */
static holo_status quantize_code(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain)
{
    const double goal = hg_quantize_goal(c);
    HG_TRY(quantize_try(c, r, plain));
    if (!r->q.activations || !(hg_quantize_worst(r) > goal)) return HOLO_OK;
    if (!hg_quantize_is_of_products(r)) HG_TRY(quantize_squares(c, r, plain, false));
    if (hg_quantize_worst(r) > goal) HG_TRY(quantize_squares(c, r, plain, true));
    r->at_any_cost = true;
    return quantize_refine(c, r, plain);
}

holo_status hg_quantize_begin(hg_compile *c)
{
    hg_sampler plain = {0};
    struct hg_quantize_run *r;
    if (c->ctx.quantize != NULL) return HOLO_OK; /* one of the models beside */
    HG_TRY(quantize_check(c));
    if (c->options->quantize == HOLO_QUANTIZE_NONE && c->options->emit == NULL) return HOLO_OK;
    HG_TRY(HG_NEW(&c->ctx, 1, &r));
    c->quantize = r;
    /* Books and signs are for weights alone: samples only show the errors. */
    r->q = (hg_quantize){.ctx = &c->ctx,
                         .mode = c->options->quantize,
                         .activations = c->options->n_calibrate != 0 &&
                                        hg_quantize_limit(c->options->quantize) != 0};
    holo_status status = HOLO_OK;
    if (r->q.mode != HOLO_QUANTIZE_NONE) {
        status = quantize_look(c, r, &plain);
        r->q.apply = true;
        if (status == HOLO_OK) status = quantize_code(c, r, &plain);
    }
    hg_sampler_deinit(&plain, &c->ctx);
    r->q.observe = false;
    c->ctx.quantize = &r->q;
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void quantize_fill(const hg_quantize_difference *e, holo_layer_report *out)
{
    out->is_measured = e->is_measured;
    if (!e->is_measured) return;
    out->mean = e->sum / (double)e->count;
    out->max = e->max;
    out->relative = e->size == 0 ? sqrt(e->squares) : sqrt(e->squares / e->size);
}

/* "int8, 53 layers; weights 0.0061; y 0.0123": relative errors, the worst layer's and the outputs'.
 */
static holo_status quantize_summary(hg_compile *c, const struct hg_quantize_run *r, hg_graph *g)
{
    double worst = 0;
    for (uint32_t i = 0; i < r->q.n_layer; i++)
        if (r->q.layer[i].weight_error > worst) worst = r->q.layer[i].weight_error;
    hg_str text = hg_str_format(
        &c->ctx.arena, "%s%s, %u of %u layers; relative error of weights at most %.3g",
        hg_quantize_name(r->q.mode), r->q.activations ? " with activations" : " weights",
        r->q.n_layer - r->n_kept, r->q.n_layer, worst);
    for (uint32_t i = 0; i < r->n_output && text.text != NULL; i++) {
        holo_layer_report line = {0};
        quantize_fill(&r->output[i], &line);
        if (line.is_measured)
            text = hg_str_format(&c->ctx.arena,
                                 "%.*s; output %s: mean %.3g, max %.3g, relative %.3g, of the "
                                 "largest %.3g",
                                 (int)text.length, text.text, r->name[i], line.mean, line.max,
                                 line.relative, r->top[i]);
    }
    hg_meta *meta =
        hg_arena_grow(&c->ctx.arena, g->meta, g->n_meta, &g->meta_capacity, sizeof *meta);
    if (meta == NULL || text.text == NULL) return hg_fail_nomem(c->ctx.error, sizeof *meta);
    g->meta = meta;
    g->meta[g->n_meta++] = (hg_meta){hg_str_from("quantized"), text};
    return HOLO_OK;
}

holo_status hg_quantize_end(hg_compile *c, hg_graph *g)
{
    const struct hg_quantize_run *r = c->quantize;
    const holo_compile_options *o = c->options;
    if (r == NULL || r->q.mode == HOLO_QUANTIZE_NONE) return HOLO_OK;
    for (uint32_t i = 0; o->layer != NULL && i < r->q.n_layer; i++) {
        const hg_quantize_layer *l = &r->q.layer[i];
        holo_layer_report line = {.node = l->node,
                                  .op = l->op,
                                  .name = l->name,
                                  .form = l->form,
                                  .weights = l->weights,
                                  .weight_error = l->weight_error};
        if (i < r->q.n_seen) quantize_fill(&r->layer[i], &line);
        o->layer(o->layer_user, &line);
    }
    for (uint32_t i = 0; o->layer != NULL && i < r->n_output; i++) {
        holo_layer_report line = {.name = r->name[i], .top = r->top[i]};
        quantize_fill(&r->output[i], &line);
        o->layer(o->layer_user, &line);
    }
    return quantize_summary(c, r, g);
}
