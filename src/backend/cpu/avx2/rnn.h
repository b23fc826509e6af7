/* rnn.h - functions of gates on vectors: what "gru", "lstm" and "recur.p16" share. */
#ifndef HG_BACKEND_CPU_AVX2_RNN_H
#define HG_BACKEND_CPU_AVX2_RNN_H

#include "kernel/rnn.h"

#include "backend/cpu/avx2/math8.h"

#include <math.h>

/* Relu, Tanh or Sigmoid of x between -clip and clip, which may be infinite. */
HG_INLINE __m256 hg_rnn_function8(const int64_t function, const float clip, __m256 x)
{
    const __m256 half = _mm256_set1_ps(0.5f);
    if (clip < INFINITY) {
        x = _mm256_max_ps(_mm256_set1_ps(-clip), x);
        x = _mm256_min_ps(_mm256_set1_ps(clip), x);
    }
    if (function == HG_RNN_TANH) return hg_tanh8(x);
    if (function == HG_RNN_SIGMOID)
        return _mm256_fmadd_ps(half, hg_tanh8(_mm256_mul_ps(half, x)), half);
    return _mm256_max_ps(_mm256_setzero_ps(), x);
}

/* n numbers from place `at` of input i on; zeros where it is absent. */
static inline void hg_rnn_load(const hg_args *a, uint32_t i, int64_t at, float *to, int64_t n)
{
    if (hg_args_has(a, i))
        memcpy(to, (const float *)a->in[i].data + at, (size_t)n * sizeof *to);
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

/* The other way round, where output j is wanted; `from` NULL stores zeros. */
static inline void hg_rnn_store(const hg_args *a, uint32_t j, int64_t at, const float *from,
                                int64_t n)
{
    if (j >= a->n_out || a->out[j].dtype == HOLO_NONE) return;
    float *to = (float *)a->out[j].data + at;
    if (from != NULL)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

/* The tuned kernels know only these functions. */
static inline holo_status hg_rnn_check_common(const hg_args *a, holo_error *e, uint32_t end)
{
    for (uint32_t i = HG_RNN_PARAM_FUNCTIONS; i < end; i += HG_RNN_FUNCTION_PARAMS)
        HG_REQUIRE(e, a->param[i] <= HG_RNN_SIGMOID, HOLO_E_UNSUPPORTED,
                   "activation is %lld, expected at most %d", (long long)a->param[i],
                   HG_RNN_SIGMOID);
    return HOLO_OK;
}

#endif
