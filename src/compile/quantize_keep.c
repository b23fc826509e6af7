/* quantize_keep.c - which layers stay floats, so that a quantised model keeps to the error that is
 * allowed.
 *
 * Roundings of different layers are nearly independent, so the squares of their errors add up. Each
 * layer's own share is measured: the model is compiled with this layer alone quantised, and run.
 * Those with the largest share for their work stay, until the rest is small enough or an eighth of
 * the work is float. */
#include "compile/quantize_run.h"

#include <math.h>

enum { KEEP_SAMPLES = 2, KEEP_WORK = 8 };

#define KEEP_MAX_ERROR 0.01 /* of options->max_error 0 */

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

/* Error of the outputs when layer `only` alone is quantised. */
static holo_status keep_alone(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                              bool *keep, uint32_t only)
{
    hg_quantize q = r->q;
    hg_sampler coded = {0};
    hg_quantize_difference *e;
    HG_TRY(HG_NEW(&c->ctx, r->n_output + 1, &e));
    for (uint32_t i = 0; i < q.n_layer; i++)
        keep[i] = i != only;
    q.observe = false;
    q.keep = keep;
    holo_status status = hg_quantize_sampler(c, &q, &coded);
    if (status == HOLO_OK) status = keep_compare(c, r, plain, &coded, e);
    hg_sampler_deinit(&coded, &c->ctx);
    r->noise[only] = keep_square(e, r->n_output);
    return status;
}

static holo_status keep_measure(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain)
{
    bool *keep;
    HG_TRY(HG_NEW(&c->ctx, r->q.n_layer + 1, &r->keep));
    HG_TRY(HG_NEW(&c->ctx, r->q.n_layer + 1, &r->noise));
    HG_TRY(HG_NEW(&c->ctx, r->q.n_layer + 1, &keep));
    for (uint32_t i = 0; i < r->q.n_layer; i++)
        HG_TRY(keep_alone(c, r, plain, keep, i));
    return HOLO_OK;
}

/* The layer that brings most for its work and still fits; n_layer when there is none. A hundredth
 * of all work is as good as none. */
static uint32_t keep_next(const struct hg_quantize_run *r, double all, double room)
{
    uint32_t best = r->q.n_layer;
    double most = 0;
    for (uint32_t i = 0; i < r->q.n_layer; i++) {
        const double gain = r->noise[i] / (r->work[i] + all / 100);
        if (r->keep[i] || r->work[i] > room || !(gain > most)) continue;
        most = gain;
        best = i;
    }
    return best;
}

holo_status hg_quantize_keep(hg_compile *c, struct hg_quantize_run *r, hg_sampler *plain,
                             bool *more)
{
    const double asked = c->options->max_error == 0 ? KEEP_MAX_ERROR : c->options->max_error;
    double now = 0, all = 0, kept = 0, rest = 0;
    const double goal = asked * asked;
    for (uint32_t i = 0; i < r->n_output; i++)
        if (!(r->top[i] * r->top[i] <= now)) now = r->top[i] * r->top[i];
    *more = false;
    if (!r->q.activations || !(now > goal) || r->q.n_layer == 0) return HOLO_OK;
    if (r->noise == NULL) HG_TRY(keep_measure(c, r, plain));
    for (uint32_t i = 0; i < r->q.n_layer; i++) {
        all += r->work[i];
        kept += r->keep[i] ? r->work[i] : 0;
        rest += r->keep[i] ? 0 : r->noise[i];
    }
    /* What is left now gives `now`: the shares are scaled by what they have missed. Half of the
     * way, and then what that brings is measured. */
    const double wanted = rest * (1 + goal / now) / 2;
    while (rest > wanted) {
        const uint32_t i = keep_next(r, all, all / KEEP_WORK - kept);
        if (i == r->q.n_layer) break;
        r->keep[i] = true;
        r->n_kept++;
        kept += r->work[i];
        rest -= r->noise[i];
        *more = true;
    }
    r->q.keep = r->keep;
    return HOLO_OK;
}
