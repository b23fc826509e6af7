/* quantize_keep.c - which layers are computed more finely, so that a quantised model keeps to the
 * error that is allowed.
 *
 * A layer has up to three levels: codes of 8 bits; inputs of 16 bits, which take twice as long with
 * 8-bit dot products; floats. Roundings of different layers are nearly independent, so the squares
 * of their errors add up. The share of each group of layers is measured: the model is compiled with
 * this group alone quantised, and run. The step that takes most away for its time comes first,
 * until the rest is small enough, an eighth of the work is float (a twentieth while weights are
 * limited in pairs, which is worth more to CPUs without 8-bit dot products), or a quarter of the
 * time of floats has been spent. Where all of that misses the error that is allowed, the error
 * counts: networks that amplify small changes have few layers that can be quantised. */
#include "compile/quantize_run.h"

#include <math.h>
#include <string.h>

enum { KEEP_SAMPLES = 2, KEEP_FLOAT = 8, KEEP_FLOAT_PAIRS = 20, KEEP_TIME = 4 };

#define KEEP_MAX_ERROR 0.01 /* of options->max_error 0 */
#define KEEP_AIM 0.85       /* of it: other inputs than the samples err differently */
#define KEEP_CHANCE 0.8     /* of what few numbers show: the rest may be chance */

/* Time against floats. */
static const double keep_time[HG_QUANTIZE_LEVELS] = {0.25, 0.5, 1};

/* The worst output, as a square. */
static double keep_square(const hg_quantize_difference *e, uint32_t n)
{
    double worst = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double square = e[i].size == 0 ? 0 : e[i].squares / e[i].size;
        if (!(square <= worst)) worst = square;
    }
    return worst;
}

static holo_status keep_compare(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                                hg_sampler *coded, hg_quantize_difference *e)
{
    const holo_compile_options *o = c->options;
    for (size_t k = 0; k < o->n_calibrate && k < KEEP_SAMPLES; k++) {
        HG_TRY(hg_sampler_run(plain, &c->ctx, &o->calibrate[k], k));
        HG_TRY(hg_sampler_run(coded, &c->ctx, &o->calibrate[k], k));
        for (uint32_t i = 0; i < r->n_output; i++) {
            holo_tensor a, b;
            HG_TRY(holo_session_output(plain->session, i, &a, c->ctx.error));
            HG_TRY(holo_session_output(coded->session, i, &b, c->ctx.error));
            hg_quantize_compare(&e[i], &a, &b);
        }
    }
    return HOLO_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* 16 bits are for inputs that products alone read. */
static bool keep_is_product(const struct hg_quantize_run *r, uint32_t layer)
{
    const hg_quantize_layer *l = &r->q.layer[layer];
    return strcmp(l->op, "MatMul") == 0 && r->q.channel[l->reads].is_last;
}

static bool keep_is_in(const struct hg_quantize_run *r, const hg_quantize_team *g, uint32_t layer)
{
    return layer == g->first || (keep_is_product(r, layer) && keep_is_product(r, g->first) &&
                                 r->q.layer[layer].reads == r->q.layer[g->first].reads);
}

static holo_status keep_groups(hg_compile *c, struct hg_quantize_run *r)
{
    HG_TRY(HG_NEW(&c->ctx, r->q.n_layer + 1, &r->keep));
    HG_TRY(HG_NEW(&c->ctx, r->q.n_activation + 1, &r->digits));
    HG_TRY(HG_NEW(&c->ctx, r->q.n_layer + 1, &r->group));
    memset(r->digits, 1, r->q.n_activation);
    for (uint32_t i = 0; i < r->q.n_layer; i++) {
        uint32_t k = 0;
        while (k < r->n_group && !keep_is_in(r, &r->group[k], i))
            k++;
        if (k == r->n_group) r->group[r->n_group++] = (hg_quantize_team){.first = i};
        r->group[k].work += r->work[i];
    }
    return HOLO_OK;
}

static void keep_set(const struct hg_quantize_run *r, const hg_quantize_team *g, int level,
                     bool *keep, uint8_t *digits)
{
    for (uint32_t i = 0; i < r->q.n_layer; i++) {
        if (!keep_is_in(r, g, i)) continue;
        keep[i] = level == HG_QUANTIZE_FLOATS;
        digits[r->q.layer[i].reads] = level == HG_QUANTIZE_DIGITS ? 2 : 1;
    }
}

/* Error of the outputs when one group alone is quantised. */
static holo_status keep_alone(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                              hg_quantize_team *g, int level)
{
    hg_quantize q = r->q;
    hg_sampler coded = {0};
    hg_quantize_difference *e;
    bool *keep;
    uint8_t *digits;
    HG_TRY(HG_NEW(&c->ctx, r->n_output + 1, &e));
    HG_TRY(HG_NEW(&c->ctx, q.n_layer + 1, &keep));
    HG_TRY(HG_NEW(&c->ctx, q.n_activation + 1, &digits));
    memset(keep, true, q.n_layer * sizeof *keep);
    memset(digits, 1, q.n_activation);
    keep_set(r, g, level, keep, digits);
    q.observe = false;
    q.keep = keep;
    q.digits = digits;
    holo_status status = hg_quantize_sampler(c, &q, &coded);
    if (status == HOLO_OK) status = keep_compare(c, r, plain, &coded, e);
    hg_sampler_deinit(&coded, &c->ctx);
    g->noise[level] = keep_square(e, r->n_output);
    return status;
}

static holo_status keep_measure(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain)
{
    HG_TRY(keep_groups(c, r));
    for (uint32_t i = 0; i < r->n_group; i++) {
        hg_quantize_team *g = &r->group[i];
        HG_TRY(keep_alone(c, r, plain, g, HG_QUANTIZE_CODES));
        g->noise[HG_QUANTIZE_DIGITS] = NAN;
        if (keep_is_product(r, g->first)) HG_TRY(keep_alone(c, r, plain, g, HG_QUANTIZE_DIGITS));
    }
    return HOLO_OK;
}

/* ---- the choice ------------------------------------------------------------------------------ */

typedef struct keep_sums {
    double work, floats, time, noise;
} keep_sums;

static keep_sums keep_add_up(const struct hg_quantize_run *r)
{
    keep_sums s = {0};
    for (uint32_t i = 0; i < r->n_group; i++) {
        const hg_quantize_team *g = &r->group[i];
        s.work += g->work;
        s.floats += g->level == HG_QUANTIZE_FLOATS ? g->work : 0;
        s.time += g->work * (keep_time[g->level] - keep_time[HG_QUANTIZE_CODES]);
        s.noise += g->noise[g->level];
    }
    return s;
}

/* Some product can still get inputs of 16 bits: floats would take the time from it. */
static bool keep_has_codes(const struct hg_quantize_run *r)
{
    for (uint32_t i = 0; i < r->n_group; i++) {
        const hg_quantize_team *g = &r->group[i];
        if (g->level == HG_QUANTIZE_CODES && g->noise[HG_QUANTIZE_DIGITS] < g->noise[g->level])
            return true;
    }
    return false;
}

bool hg_quantize_is_of_products(const struct hg_quantize_run *r)
{
    double all = 0, products = 0;
    for (uint32_t i = 0; i < r->q.n_layer; i++) {
        all += r->work[i];
        products += keep_is_product(r, i) ? r->work[i] : 0;
    }
    return products > all / 2;
}

void hg_quantize_keep_none(struct hg_quantize_run *r)
{
    r->group = NULL;
    r->n_group = r->n_kept = 0;
    r->q.keep = NULL;
    r->q.digits = NULL;
}

/* The step that brings most for its time and still fits. A hundredth of all work is as good as
 * none. */
static bool keep_next(const struct hg_quantize_run *r, const keep_sums *s, uint32_t *which,
                      int *level)
{
    double most = 0;
    const bool has_codes = keep_has_codes(r) && !r->at_any_cost;
    const double share = r->q.any_pair ? KEEP_FLOAT : KEEP_FLOAT_PAIRS;
    const double floats = r->at_any_cost ? INFINITY : s->work / share;
    const double spent = r->at_any_cost ? INFINITY : s->work / KEEP_TIME;
    for (uint32_t i = 0; i < r->n_group; i++) {
        const hg_quantize_team *g = &r->group[i];
        for (int to = g->level + 1; to < HG_QUANTIZE_LEVELS; to++) {
            const double time = g->work * (keep_time[to] - keep_time[g->level]);
            const double gain = (g->noise[g->level] - g->noise[to]) / (time + s->work / 100);
            if (!(gain > most) || s->time + time > spent) continue;
            if (to == HG_QUANTIZE_FLOATS && has_codes && keep_is_product(r, g->first)) continue;
            if (to == HG_QUANTIZE_FLOATS && s->floats + g->work > floats) continue;
            most = gain;
            *which = i;
            *level = to;
        }
    }
    return most > 0;
}

double hg_quantize_goal(const hg_compile *c)
{
    return KEEP_AIM * (c->options->max_error == 0 ? KEEP_MAX_ERROR : c->options->max_error);
}

/* NaN is larger than anything. */
static double keep_larger(double a, double b)
{
    return a >= b ? a : b;
}

double hg_quantize_worst(const struct hg_quantize_run *r)
{
    double worst = 0;
    for (uint32_t i = 0; i < r->n_output; i++)
        worst = keep_larger(worst, keep_larger(r->expected[i], KEEP_CHANCE * r->top[i]));
    return worst;
}

holo_status hg_quantize_keep(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                             bool *more)
{
    const double goal = hg_quantize_goal(c), now = hg_quantize_worst(r);
    uint32_t i = 0;
    int level = 0;
    *more = false;
    if (!(now > goal) || r->q.n_layer == 0) return HOLO_OK;
    if (r->group == NULL) HG_TRY(keep_measure(c, r, plain));
    /* What is left now gives `now`: the shares are scaled by what they have missed. Half of the
     * way, and then what that brings is measured. */
    keep_sums s = keep_add_up(r);
    const double wanted = s.noise * (1 + goal * goal / (now * now)) / 2;
    while (s.noise > wanted && keep_next(r, &s, &i, &level)) {
        r->group[i].level = level;
        keep_set(r, &r->group[i], level, r->keep, r->digits);
        s = keep_add_up(r);
        *more = true;
    }
    r->n_kept = 0;
    for (uint32_t k = 0; k < r->q.n_layer; k++)
        r->n_kept += r->keep[k];
    r->q.keep = r->keep;
    r->q.digits = r->digits;
    return HOLO_OK;
}
