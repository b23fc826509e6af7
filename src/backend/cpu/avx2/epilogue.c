/* epilogue.c - simple epilogues (kernel/epilogue.h) with AVX2, on a block of output that is still
 * in L1: about half a cycle an element for a clamp, one for SiLU. Error bounds beside those of the
 * sums: SiLU, x / (1 + e^-x): 4 ulp (below 1e-36 in size: 1e-36), and |x| / 2 ulp more where
 * multiply-adds are not fused. GELU: erf as a quotient of polynomials, 5e-7 |v| in all; with tanh,
 * v (1 + tanh(u)) = 2 v / (1 + e^-2u), likewise. Scales and shifts are fused multiply-adds; a
 * division by a constant is a multiplication. */
#include "backend/cpu/avx2/gemm.h"

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
    if (act == HG_EPILOGUE_CLAMP) return finish_clamp(e, x);
    if (act == HG_EPILOGUE_SILU)
        return _mm256_div_ps(x, _mm256_add_ps(finish_exp_minus(x), _mm256_set1_ps(1)));
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

/* Scaled, activated, scaled again. */
HG_INLINE __m256 finish_value(const hg_epilogue_act act, const hg_epilogue_simple *e, __m256 x)
{
    if (e->is_scaled) x = _mm256_fmadd_ps(x, _mm256_set1_ps(e->scale), _mm256_set1_ps(e->shift));
    x = finish_act(act, e, x);
    if (e->is_final) return x;
    return _mm256_fmadd_ps(x, _mm256_set1_ps(e->factor), _mm256_set1_ps(e->offset));
}

/* What is added to a row of outputs; each may be NULL. */
typedef struct finish_terms {
    const float *bias, *bias2, *residual;
} finish_terms;

static finish_terms finish_at(const finish_terms *t, int64_t j)
{
    return (finish_terms){.bias = t->bias == NULL ? NULL : t->bias + j,
                          .bias2 = t->bias2 == NULL ? NULL : t->bias2 + j,
                          .residual = t->residual == NULL ? NULL : t->residual + j};
}

HG_INLINE __m256 finish_8(const hg_epilogue_act act, const hg_epilogue_simple *e, __m256 x,
                          const finish_terms *t, int64_t j)
{
    if (t->bias != NULL) x = _mm256_add_ps(x, _mm256_loadu_ps(t->bias + j));
    if (t->bias2 != NULL) x = _mm256_add_ps(x, _mm256_loadu_ps(t->bias2 + j));
    if (t->residual == NULL) return finish_value(act, e, x);
    const __m256 r = _mm256_loadu_ps(t->residual + j);
    if (!e->residual_last) return finish_value(act, e, _mm256_add_ps(x, r));
    return _mm256_add_ps(finish_value(act, e, x), r);
}

/* The last columns, fewer than eight. */
HG_INLINE void finish_tail(const hg_epilogue_act act, const hg_epilogue_simple *e, float *c,
                           const finish_terms *t, int64_t cols)
{
    float x[8] = {0}, b[8] = {0}, b2[8] = {0}, r[8] = {0};
    for (int64_t j = 0; j < cols; j++) {
        x[j] = c[j];
        if (t->bias != NULL) b[j] = t->bias[j];
        if (t->bias2 != NULL) b2[j] = t->bias2[j];
        if (t->residual != NULL) r[j] = t->residual[j];
    }
    const finish_terms copy = {.bias = t->bias == NULL ? NULL : b,
                               .bias2 = t->bias2 == NULL ? NULL : b2,
                               .residual = t->residual == NULL ? NULL : r};
    _mm256_storeu_ps(x, finish_8(act, e, _mm256_loadu_ps(x), &copy, 0));
    for (int64_t j = 0; j < cols; j++)
        c[j] = x[j];
}

HG_INLINE void finish_block(const hg_epilogue_act act, const hg_epilogue_simple *e, finish_terms t,
                            float *c, int64_t ld, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8)
            _mm256_storeu_ps(c + j, finish_8(act, e, _mm256_loadu_ps(c + j), &t, j));
        if (j < cols) {
            const finish_terms rest = finish_at(&t, j);
            finish_tail(act, e, c + j, &rest, cols - j);
        }
        c += ld;
        if (t.residual != NULL) t.residual += ld;
    }
}

/* Whole vectors with nothing to add and nothing to scale: asking for each would take half as long
 * as SiLU itself (3.3 against 2.1 ns for eight values). */
HG_INLINE void finish_plain(const hg_epilogue_act act, const hg_epilogue_simple *e, float *c,
                            int64_t ld, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++, c += ld)
        for (int64_t j = 0; j < cols; j += 8)
            _mm256_storeu_ps(c + j, finish_act(act, e, _mm256_loadu_ps(c + j)));
}

HG_INLINE void finish_rows(const hg_epilogue_act act, const hg_epilogue_simple *e, finish_terms t,
                           float *c, int64_t ld, int64_t rows, int64_t cols)
{
    if (cols % 8 == 0 && t.bias == NULL && t.bias2 == NULL && t.residual == NULL && !e->is_scaled &&
        e->is_final)
        finish_plain(act, e, c, ld, rows, cols);
    else
        finish_block(act, e, t, c, ld, rows, cols);
}

void hg_gemm_finish_avx2(const hg_epilogue_simple *e, const float *bias, const float *bias2,
                         const float *residual, float *c, int64_t ld, int64_t rows, int64_t cols)
{
    const finish_terms t = {bias, bias2, residual};
    switch (e->act) {
    case HG_EPILOGUE_LINEAR: finish_block(HG_EPILOGUE_LINEAR, e, t, c, ld, rows, cols); break;
    case HG_EPILOGUE_CLAMP: finish_block(HG_EPILOGUE_CLAMP, e, t, c, ld, rows, cols); break;
    case HG_EPILOGUE_SILU: finish_rows(HG_EPILOGUE_SILU, e, t, c, ld, rows, cols); break;
    case HG_EPILOGUE_HARDSWISH: finish_rows(HG_EPILOGUE_HARDSWISH, e, t, c, ld, rows, cols); break;
    case HG_EPILOGUE_GELU: finish_rows(HG_EPILOGUE_GELU, e, t, c, ld, rows, cols); break;
    case HG_EPILOGUE_GELU_TANH: finish_rows(HG_EPILOGUE_GELU_TANH, e, t, c, ld, rows, cols); break;
    }
}
