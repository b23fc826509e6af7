/* quantize_square.c - products of the channels that matrix products read, over the samples. */
#include "compile/quantize_run.h"

#include <math.h>

bool hg_quantize_is_held(const holo_compile_options *o, size_t sample)
{
    return o->n_calibrate >= 8 && sample % 4 == 3;
}

/* Which activations have them: inputs of products alone. */
static holo_status square_begin(hg_compile *c, struct hg_quantize_run *r)
{
    for (uint32_t i = 0; i < r->q.n_activation; i++) {
        hg_quantize_channels *m = &r->q.channel[i];
        if (!m->is_last || m->is_source || m->sum == NULL || m->channels < 1) continue;
        m->block = hg_quantize_square_block(m->channels);
        if (m->block != 0)
            HG_TRY(HG_NEW(&c->ctx, (size_t)m->channels * (size_t)m->block, &m->square));
    }
    return HOLO_OK;
}

static holo_status square_add(hg_compile *c, struct hg_quantize_run *r, const hg_sampler *s)
{
    uint32_t output = r->n_output;
    for (uint32_t i = 0; i < r->q.n_activation; i++) {
        const hg_quantize_channels *m = &r->q.channel[i];
        holo_tensor t;
        if (m->block == 0) continue;
        HG_TRY(holo_session_output(s->session, output++, &t, c->ctx.error));
        const float *x = t.data;
        for (int64_t k = 0; k < m->channels * m->block; k++)
            m->square[k] += x[k];
    }
    return HOLO_OK;
}

static holo_status square_run(hg_compile *c, struct hg_quantize_run *r, hg_sampler *s)
{
    const holo_compile_options *o = c->options;
    hg_quantize q = r->q;
    q.apply = false;
    q.observe = q.square = true;
    HG_TRY(hg_quantize_sampler(c, &q, s));
    for (size_t k = 0; k < o->n_calibrate; k++) {
        if (hg_quantize_is_held(o, k)) continue;
        HG_TRY(hg_quantize_sample(c, s, k));
        HG_TRY(square_add(c, r, s));
    }
    return HOLO_OK;
}

holo_status hg_quantize_squares(hg_compile *c, struct hg_quantize_run *r)
{
    hg_sampler s = {0};
    HG_TRY(square_begin(c, r));
    HG_TRY(HG_NEW(&c->ctx, 2 * (size_t)r->q.n_layer + 1, &r->q.found));
    holo_status status = square_run(c, r, &s);
    hg_sampler_deinit(&s, &c->ctx);
    return status;
}
