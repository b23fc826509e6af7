/* epilogue.h - simple epilogues (kernel/epilogue.h) on whole vectors, eight floats or sixteen
 * (vec16.h), of a block of output that is still in L1: about half a cycle an element for a clamp,
 * one for SiLU. Error bounds beside those of the sums: SiLU, x / (1 + e^-x): 4 ulp (below 1e-36 in
 * size: 1e-36), and |x| / 2 ulp more where multiply-adds are not fused. GELU: erf as a quotient of
 * polynomials, 5e-7 |v| in all; with tanh, v (1 + tanh(u)) = 2 v / (1 + e^-2u), likewise. Scales
 * and shifts are fused multiply-adds; a division by a constant is a multiplication. */
#ifndef HG_BACKEND_CPU_AVX2_EPILOGUE_H
#define HG_BACKEND_CPU_AVX2_EPILOGUE_H

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/math8.h"

/* e^-x = 2^n 2^r with |r| <= 1/2. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low
 * bits. The polynomial is good to 8e-8; in pairs its chain is short, which counts here: few chains
 * fit the scheduler at a time. */
HG_INLINE __m256 finish_exp_minus(__m256 x)
{
    const __m256 round = _mm256_set1_ps(0x1.8p23f), log2e = _mm256_set1_ps(-1.44269504089f);
    /* operands in this order keep a NaN */
    x = _mm256_max_ps(_mm256_set1_ps(-88.0f), _mm256_min_ps(_mm256_set1_ps(87.0f), x));
    const __m256 t = _mm256_fmadd_ps(x, log2e, round);
    __m256 r = _mm256_fmsub_ps(x, log2e, _mm256_sub_ps(t, round));
    r = _mm256_fmadd_ps(x, _mm256_set1_ps(-1.925963033500e-8f), r); /* the rest of log2(e) */
    const __m256 r2 = _mm256_mul_ps(r, r);
    const __m256 low = _mm256_fmadd_ps(r, _mm256_set1_ps(0.6931469440460205f),
                                       _mm256_set1_ps(1.0000001192092896f));
    const __m256 middle = _mm256_fmadd_ps(r, _mm256_set1_ps(0.05550714582204819f),
                                          _mm256_set1_ps(0.24022117257118225f));
    const __m256 high = _mm256_fmadd_ps(r, _mm256_set1_ps(0.0013276357203722f),
                                        _mm256_set1_ps(0.009675655514001846f));
    const __m256 p = _mm256_fmadd_ps(_mm256_fmadd_ps(high, r2, middle), r2, low);
    const __m256i power = _mm256_slli_epi32(_mm256_castps_si256(t), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), power));
}

HG_INLINE __m256 finish_erf(__m256 x)
{
    x = _mm256_max_ps(_mm256_set1_ps(-4), _mm256_min_ps(_mm256_set1_ps(4), x));
    const __m256 x2 = _mm256_mul_ps(x, x);
    __m256 p = _mm256_set1_ps(-2.72614225801306e-10f);
    p = _mm256_fmadd_ps(p, x2, _mm256_set1_ps(2.77068142495902e-08f));
    p = _mm256_fmadd_ps(p, x2, _mm256_set1_ps(-2.10102402082508e-06f));
    p = _mm256_fmadd_ps(p, x2, _mm256_set1_ps(-5.69250639462346e-05f));
    p = _mm256_fmadd_ps(p, x2, _mm256_set1_ps(-7.34990630326855e-04f));
    p = _mm256_fmadd_ps(p, x2, _mm256_set1_ps(-2.95459980854025e-03f));
    p = _mm256_fmadd_ps(p, x2, _mm256_set1_ps(-1.60960333262415e-02f));
    __m256 q = _mm256_set1_ps(-1.45660718464996e-05f);
    q = _mm256_fmadd_ps(q, x2, _mm256_set1_ps(-2.13374055278905e-04f));
    q = _mm256_fmadd_ps(q, x2, _mm256_set1_ps(-1.68282697438203e-03f));
    q = _mm256_fmadd_ps(q, x2, _mm256_set1_ps(-7.37332916720468e-03f));
    q = _mm256_fmadd_ps(q, x2, _mm256_set1_ps(-1.42647390514189e-02f));
    return _mm256_div_ps(_mm256_mul_ps(x, p), q);
}

HG_INLINE __m256 finish_clamp(const hg_epilogue_simple *e, __m256 x)
{
    x = _mm256_max_ps(_mm256_set1_ps(e->low), x);
    return _mm256_min_ps(_mm256_set1_ps(e->high), x);
}

HG_INLINE __m256 finish_act(const hg_epilogue_act act, const hg_epilogue_simple *e, __m256 x)
{
    if (act == HG_EPILOGUE_TANH) return hg_tanh8(x);
    if (act == HG_EPILOGUE_SILU || act == HG_EPILOGUE_SIGMOID)
        return _mm256_div_ps(act == HG_EPILOGUE_SILU ? x : _mm256_set1_ps(1),
                             _mm256_add_ps(finish_exp_minus(x), _mm256_set1_ps(1)));
    if (act == HG_EPILOGUE_HARDSWISH) {
        const __m256 gate =
            _mm256_fmadd_ps(x, _mm256_set1_ps(e->gate_scale), _mm256_set1_ps(e->gate_shift));
        return _mm256_mul_ps(x, finish_clamp(e, gate));
    }
    if (act == HG_EPILOGUE_GELU) {
        const __m256 gate = finish_erf(_mm256_mul_ps(x, _mm256_set1_ps(e->gate_scale)));
        return _mm256_fmadd_ps(x, gate, x);
    }
    if (act == HG_EPILOGUE_GELU_TANH) {
        const __m256 slope = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(e->gate_shift),
                                             _mm256_set1_ps(e->gate_scale));
        const __m256 twice = _mm256_add_ps(x, x);
        return _mm256_div_ps(
            twice, _mm256_add_ps(finish_exp_minus(_mm256_mul_ps(twice, slope)), _mm256_set1_ps(1)));
    }
    return x;
}

/* What is added to a row of outputs; each may be NULL. */
typedef struct finish_terms {
    const float *bias, *bias2, *gain, *lift, *slope;
    hg_epilogue_at residual;
} finish_terms;

HG_INLINE const float *finish_at(const float *p, int64_t col)
{
    return p == NULL ? NULL : p + col;
}

/* Those of hg_gemm_finish_avx2. */
HG_INLINE finish_terms finish_terms_of(const hg_epilogue_simple *e, const float *bias,
                                       const float *bias2, hg_epilogue_at residual, int64_t col)
{
    return (finish_terms){.bias = bias,
                          .bias2 = bias2,
                          .residual = residual,
                          .gain = finish_at(e->gain, col),
                          .lift = finish_at(e->lift, col),
                          .slope = finish_at(e->slope, col)};
}

/* The terms of columns from `cols` on. */
HG_INLINE finish_terms finish_behind(const hg_epilogue_simple *e, const finish_terms *t,
                                     int64_t cols)
{
    return (finish_terms){.bias = finish_at(t->bias, cols),
                          .bias2 = finish_at(t->bias2, cols),
                          .residual = hg_epilogue_residuals_from(e, t->residual, 0, 0, cols),
                          .gain = finish_at(t->gain, cols),
                          .lift = finish_at(t->lift, cols),
                          .slope = finish_at(t->slope, cols)};
}

/* The terms with those residuals alone that come then. */
HG_INLINE finish_terms finish_when(const hg_epilogue_simple *e, finish_terms t, bool last)
{
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
        if ((e->residual[n].when != HG_EPILOGUE_SUMMED) != last) t.residual.data[n] = NULL;
    return t;
}

/* x and column j of a residual. */
HG_INLINE __m256 finish_residual(const hg_epilogue_residual *r, const float *data, int64_t j,
                                 __m256 x)
{
    const __m256 y = r->per_row ? _mm256_broadcast_ss(data) : _mm256_loadu_ps(data + j);
    return r->when == HG_EPILOGUE_MULTIPLIED ? _mm256_mul_ps(x, y) : _mm256_add_ps(x, y);
}

/* What comes before the activation, and the activation itself where it is a clamp or none. */
static void finish_sums(const hg_epilogue_simple *e, finish_terms t, float *c, int64_t ld,
                        int64_t rows, int64_t cols)
{
    const __m256 scale = _mm256_set1_ps(e->scale), shift = _mm256_set1_ps(e->shift);
    const bool clamps = e->act == HG_EPILOGUE_CLAMP;
    t = finish_when(e, t, false);
    for (int64_t i = 0; i < rows; i++, c += ld) {
        for (int64_t j = 0; j < cols; j += HG_LANES) {
            __m256 x = _mm256_loadu_ps(c + j);
            if (t.bias != NULL) x = _mm256_add_ps(x, _mm256_loadu_ps(t.bias + j));
            if (t.bias2 != NULL) x = _mm256_add_ps(x, _mm256_loadu_ps(t.bias2 + j));
            for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
                if (t.residual.data[n] != NULL)
                    x = finish_residual(&e->residual[n], t.residual.data[n], j, x);
            if (e->is_scaled) x = _mm256_fmadd_ps(x, scale, shift);
            _mm256_storeu_ps(c + j, clamps ? finish_clamp(e, x) : x);
        }
        t.residual = hg_epilogue_residuals_from(e, t.residual, ld, 1, 0);
    }
}

/* What comes behind the activation. */
static void finish_after(const hg_epilogue_simple *e, finish_terms t, float *c, int64_t ld,
                         int64_t rows, int64_t cols)
{
    const __m256 factor = _mm256_set1_ps(e->factor), offset = _mm256_set1_ps(e->offset);
    t = finish_when(e, t, true);
    for (int64_t i = 0; i < rows; i++, c += ld) {
        for (int64_t j = 0; j < cols; j += HG_LANES) {
            __m256 x = _mm256_loadu_ps(c + j);
            if (!e->is_final) x = _mm256_fmadd_ps(x, factor, offset);
            if (t.gain != NULL) x = _mm256_mul_ps(x, _mm256_loadu_ps(t.gain + j));
            if (t.lift != NULL) x = _mm256_add_ps(x, _mm256_loadu_ps(t.lift + j));
            for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
                if (t.residual.data[n] != NULL)
                    x = finish_residual(&e->residual[n], t.residual.data[n], j, x);
            _mm256_storeu_ps(c + j, x);
        }
        t.residual = hg_epilogue_residuals_from(e, t.residual, ld, 1, 0);
    }
}

HG_INLINE void finish_block(const hg_epilogue_act act, const hg_epilogue_simple *e, float *c,
                            int64_t ld, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++, c += ld)
        for (int64_t j = 0; j < cols; j += HG_LANES)
            _mm256_storeu_ps(c + j, finish_act(act, e, _mm256_loadu_ps(c + j)));
}

static void finish_leaky(const hg_epilogue_simple *e, const float *slope, float *c, int64_t ld,
                         int64_t rows, int64_t cols)
{
    __m256 factor = _mm256_set1_ps(e->gate_scale);
    for (int64_t i = 0; i < rows; i++, c += ld)
        for (int64_t j = 0; j < cols; j += HG_LANES) {
            if (slope != NULL) factor = _mm256_loadu_ps(slope + j);
            const __m256 x = _mm256_loadu_ps(c + j), low = _mm256_mul_ps(x, factor);
            const __m256 y = hg_vec8_choose(x, _CMP_NLT_UQ, _mm256_setzero_ps(), x, low);
            _mm256_storeu_ps(c + j, finish_clamp(e, y));
        }
}

/* Whole vectors of columns. Three passes over a few lines of L1: one loop that asks at each vector
 * what there is to do takes as long for SiLU (3.3 against 2.1 ns), and would be there once for each
 * activation. */
static void finish_all(const hg_epilogue_simple *e, const finish_terms *t, float *c, int64_t ld,
                       int64_t rows, int64_t cols)
{
    const bool is_plain = e->act <= HG_EPILOGUE_CLAMP;
    if (is_plain || e->is_scaled || t->bias != NULL || t->bias2 != NULL ||
        hg_epilogue_has_when(e, false))
        finish_sums(e, *t, c, ld, rows, cols);
    switch (e->act) {
    case HG_EPILOGUE_LINEAR:
    case HG_EPILOGUE_CLAMP: break;
    case HG_EPILOGUE_SILU: finish_block(HG_EPILOGUE_SILU, e, c, ld, rows, cols); break;
    case HG_EPILOGUE_HARDSWISH: finish_block(HG_EPILOGUE_HARDSWISH, e, c, ld, rows, cols); break;
    case HG_EPILOGUE_GELU: finish_block(HG_EPILOGUE_GELU, e, c, ld, rows, cols); break;
    case HG_EPILOGUE_GELU_TANH: finish_block(HG_EPILOGUE_GELU_TANH, e, c, ld, rows, cols); break;
    case HG_EPILOGUE_LEAKY: finish_leaky(e, t->slope, c, ld, rows, cols); break;
    case HG_EPILOGUE_TANH: finish_block(HG_EPILOGUE_TANH, e, c, ld, rows, cols); break;
    case HG_EPILOGUE_SIGMOID: finish_block(HG_EPILOGUE_SIGMOID, e, c, ld, rows, cols); break;
    }
    if (!e->is_final || hg_epilogue_has_when(e, true)) finish_after(e, *t, c, ld, rows, cols);
}

#endif
