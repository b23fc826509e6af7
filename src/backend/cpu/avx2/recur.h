/* recur.h - the gates of "recur.p16" on vectors of eight floats or of sixteen (vec16.h), and what
 * the kernel takes from avx512/recur.c. Each element does the same operations at both widths: the
 * bits are the same. */
#ifndef HG_BACKEND_CPU_AVX2_RECUR_H
#define HG_BACKEND_CPU_AVX2_RECUR_H

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/part8.h"
#include "backend/cpu/avx2/rnn.h"

/* What all steps of a direction have in common. */
typedef struct hg_recur_gates {
    hg_rnn_kind kind;
    bool variant; /* lstm: coupled; gru: the reset comes last */
    float clip;   /* infinite: none */
    int64_t n;    /* hidden size */
    const int64_t *function;
    const float *bias, *peep; /* may be NULL */
} hg_recur_gates;

/* One step of one sequence: its row of X and of sum, its states; c of gru: see gates_reset. */
typedef struct hg_recur_row {
    const float *x, *sum;
    float *h, *c, *gated;
} hg_recur_row;

/* Up to HG_LANES floats, zeros behind the last. */
HG_INLINE __m256 gates_load(const float *x, int64_t n)
{
    return HG_LIKELY(n >= HG_LANES) ? _mm256_loadu_ps(x) : hg_part8_load(x, n);
}

HG_INLINE void gates_put(float *to, int64_t n, __m256 x)
{
    if (HG_LIKELY(n >= HG_LANES))
        _mm256_storeu_ps(to, x);
    else
        hg_part8_store(to, n, x);
}

/* x[i..] + sum[i..] */
HG_INLINE __m256 gates_sum(const hg_recur_row *r, int64_t i, int64_t left)
{
    return _mm256_add_ps(gates_load(r->x + i, left), gates_load(r->sum + i, left));
}

/* What a gate takes from the cell. */
HG_INLINE __m256 gates_peep(const float *peep, int64_t i, int64_t left, __m256 c, __m256 sum)
{
    return peep == NULL ? sum : _mm256_fmadd_ps(gates_load(peep + i, left), c, sum);
}

HG_INLINE void gates_lstm(const int64_t f, const int64_t g, const int64_t out, bool coupled,
                          const float *peep, const float clip, int64_t n, const hg_recur_row *r)
{
    const __m256 one = _mm256_set1_ps(1);
    for (int64_t i = 0; i < n; i += HG_LANES) {
        const int64_t left = n - i, at = 2 * n + i; /* of the forget gate */
        const __m256 before = gates_load(r->c + i, left);
        const __m256 in =
            hg_rnn_function8(f, clip, gates_peep(peep, i, left, before, gates_sum(r, i, left)));
        const __m256 forget =
            coupled ? _mm256_sub_ps(one, in)
                    : hg_rnn_function8(f, clip,
                                       gates_peep(peep, at, left, before, gates_sum(r, at, left)));
        const __m256 cell = hg_rnn_function8(g, clip, gates_sum(r, 3 * n + i, left));
        const __m256 c = _mm256_fmadd_ps(in, cell, _mm256_mul_ps(forget, before));
        const __m256 pass =
            hg_rnn_function8(f, clip, gates_peep(peep, n + i, left, c, gates_sum(r, n + i, left)));
        gates_put(r->c + i, left, c);
        gates_put(r->h + i, left, _mm256_mul_ps(pass, hg_rnn_function8(out, clip, c)));
    }
}

/* The gates of gru: what its next product takes, reset * h, and the update, whose sums that product
 * may overwrite. */
HG_INLINE void gates_reset(const int64_t f, const float clip, int64_t n, const hg_recur_row *r)
{
    for (int64_t i = 0; i < n; i += HG_LANES) {
        const int64_t left = n - i;
        const __m256 update = hg_rnn_function8(f, clip, gates_sum(r, i, left));
        const __m256 reset = hg_rnn_function8(f, clip, gates_sum(r, n + i, left));
        gates_put(r->c + i, left, update);
        gates_put(r->gated + i, left, _mm256_mul_ps(reset, gates_load(r->h + i, left)));
    }
}

HG_INLINE void gates_gru(const int64_t f, const int64_t g, bool linear, const float *bias,
                         const float clip, int64_t n, const hg_recur_row *r)
{
    for (int64_t i = 0; i < n; i += HG_LANES) {
        const int64_t left = n - i;
        __m256 sum = gates_load(r->sum + 2 * n + i, left);
        if (bias != NULL) sum = _mm256_add_ps(sum, gates_load(bias + i, left));
        if (linear) sum = _mm256_mul_ps(sum, hg_rnn_function8(f, clip, gates_sum(r, n + i, left)));
        const __m256 update =
            linear ? hg_rnn_function8(f, clip, gates_sum(r, i, left)) : gates_load(r->c + i, left);
        const __m256 next =
            hg_rnn_function8(g, clip, _mm256_add_ps(gates_load(r->x + 2 * n + i, left), sum));
        const __m256 rest = _mm256_mul_ps(_mm256_sub_ps(_mm256_set1_ps(1), update), next);
        gates_put(r->h + i, left, _mm256_fmadd_ps(update, gates_load(r->h + i, left), rest));
    }
}

HG_INLINE void gates_plain(const int64_t f, const float clip, int64_t n, const hg_recur_row *r)
{
    for (int64_t i = 0; i < n; i += HG_LANES)
        gates_put(r->h + i, n - i, hg_rnn_function8(f, clip, gates_sum(r, i, n - i)));
}

/* The functions that nearly every model has, and nothing else: they get code of their own. */
static inline bool gates_is_usual(const hg_recur_gates *g)
{
    bool is_usual = g->peep == NULL && g->clip == INFINITY;
    for (int64_t k = 0; k < hg_rnn_functions(g->kind); k++) {
        const bool is_gate = k == 0 && g->kind != HG_RNN_PLAIN;
        is_usual = is_usual && g->function[k * HG_RNN_FUNCTION_PARAMS] ==
                                   (is_gate ? HG_RNN_SIGMOID : HG_RNN_TANH);
    }
    return is_usual;
}

/* Usual gates, but those of gru in front of its second product. */
HG_INLINE void gates_usual(const hg_recur_gates *g, const hg_recur_row *r)
{
    if (g->kind == HG_RNN_LSTM)
        gates_lstm(HG_RNN_SIGMOID, HG_RNN_TANH, HG_RNN_TANH, g->variant, NULL, INFINITY, g->n, r);
    else if (g->kind == HG_RNN_PLAIN)
        gates_plain(HG_RNN_TANH, INFINITY, g->n, r);
    else
        gates_gru(HG_RNN_SIGMOID, HG_RNN_TANH, g->variant, g->bias, INFINITY, g->n, r);
}

/* Usual gates with AVX-512. */
void hg_recur_usual_avx512(const hg_recur_gates *g, const hg_recur_row *r);
void hg_recur_reset_avx512(const hg_recur_gates *g, const hg_recur_row *r);

#endif
