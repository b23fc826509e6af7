/* lane_wide.h - loops of the lane interpreter on int64, four wide, with the bits of its own. Apart
 * from those because few programs compute in int64. */
#ifndef HG_BACKEND_CPU_AVX2_LANE_WIDE_H
#define HG_BACKEND_CPU_AVX2_LANE_WIDE_H

#include "isa/lane_ops.h"

#if defined(__AVX2__)
#include <immintrin.h>

#define LANE_WIDE(name, T, R, expression)                                                          \
    static void lane_wide_##name(void *HG_RESTRICT d_, const void *HG_RESTRICT a_,                 \
                                 const void *HG_RESTRICT b_, const void *HG_RESTRICT c_,           \
                                 int64_t n)                                                        \
    {                                                                                              \
        R *HG_RESTRICT d = d_;                                                                     \
        const T *HG_RESTRICT a = a_, *HG_RESTRICT b = b_;                                          \
        (void)c_;                                                                                  \
        n &= -16; /* it is so already: tells the compiler */                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i], y = b[i];                                                            \
            (void)y;                                                                               \
            d[i] = (R)(expression);                                                                \
        }                                                                                          \
    }
LANE_WIDE(add, int64_t, int64_t, (uint64_t)x + (uint64_t)y)
LANE_WIDE(sub, int64_t, int64_t, (uint64_t)x - (uint64_t)y)
LANE_WIDE(mul, int64_t, int64_t, (uint64_t)x *(uint64_t)y)
LANE_WIDE(min, int64_t, int64_t, x < y ? x : y)
LANE_WIDE(max, int64_t, int64_t, x > y ? x : y)
LANE_WIDE(abs, int64_t, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
LANE_WIDE(eq, int64_t, int32_t, x == y)
LANE_WIDE(lt, int64_t, int32_t, x < y)
LANE_WIDE(le, int64_t, int32_t, x <= y)
LANE_WIDE(i32_i64, int64_t, int32_t, (uint32_t)x)
LANE_WIDE(i64_i32, int32_t, int64_t, x)
#undef LANE_WIDE

/* The low halves of eight numbers; `fits` loses the bits of those that int32 does not hold. */
HG_INLINE __m256i lane_wide_halves(const int64_t *a, __m256i *fits)
{
    const __m256 x = _mm256_loadu_ps((const float *)(const void *)a);
    const __m256 y = _mm256_loadu_ps((const float *)(const void *)(a + 4));
    const __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88));
    const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xdd));
    *fits = _mm256_and_si256(*fits, _mm256_cmpeq_epi32(high, _mm256_srai_epi32(low, 31)));
    return _mm256_permute4x64_epi64(low, 0xd8);
}

HG_INLINE void lane_wide_store(int64_t *d, __m256i x)
{
    __m256i *to = (__m256i *)(void *)d;
    _mm256_storeu_si256(to, _mm256_cvtepi32_epi64(_mm256_castsi256_si128(x)));
    _mm256_storeu_si256(to + 1, _mm256_cvtepi32_epi64(_mm256_extracti128_si256(x, 1)));
}

/* Quotients of int32 through doubles, which are exact; y is not 0. */
HG_INLINE __m256i lane_wide_quotient(__m256i x, __m256i y)
{
    const __m256d low = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(x)),
                                      _mm256_cvtepi32_pd(_mm256_castsi256_si128(y)));
    const __m256d high = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(x, 1)),
                                       _mm256_cvtepi32_pd(_mm256_extracti128_si256(y, 1)));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm256_cvttpd_epi32(low)),
                                   _mm256_cvttpd_epi32(high), 1);
}

/* Of eight numbers that int32 holds: x / y, its rest, or the rest with the sign of y. Of 0 all are
 * 0.
 */
HG_INLINE __m256i lane_wide_divided(__m256i x, __m256i y, const uint32_t op)
{
    const __m256i zero = _mm256_setzero_si256(), none = _mm256_cmpeq_epi32(y, zero);
    const __m256i q = lane_wide_quotient(x, _mm256_sub_epi32(y, none));
    if (op == HG_LANE_DIV) return _mm256_andnot_si256(none, q);
    const __m256i rest = _mm256_andnot_si256(none, _mm256_sub_epi32(x, _mm256_mullo_epi32(q, y)));
    if (op == HG_LANE_REM) return rest;
    const __m256i same =
        _mm256_or_si256(_mm256_cmpeq_epi32(rest, zero),
                        _mm256_cmpgt_epi32(_mm256_xor_si256(rest, y), _mm256_set1_epi32(-1)));
    return _mm256_add_epi32(rest, _mm256_andnot_si256(same, y));
}

/* Sixteen at a time, most of which int32 holds; the smallest one divided by -1 it would not. */
HG_INLINE void lane_wide_divide(void *d_, const void *a_, const void *b_, int64_t n,
                                const uint32_t op)
{
    int64_t *d = d_;
    const int64_t *a = a_, *b = b_;
    const __m256i smallest = _mm256_set1_epi32(INT32_MIN);
    for (int64_t i = 0; i < n; i += 16) {
        __m256i fits = _mm256_set1_epi32(-1);
        const __m256i x = lane_wide_halves(a + i, &fits), y = lane_wide_halves(b + i, &fits);
        const __m256i u = lane_wide_halves(a + i + 8, &fits),
                      v = lane_wide_halves(b + i + 8, &fits);
        fits = _mm256_andnot_si256(_mm256_cmpeq_epi32(x, smallest), fits);
        fits = _mm256_andnot_si256(_mm256_cmpeq_epi32(u, smallest), fits);
        if (_mm256_movemask_epi8(fits) == -1) {
            lane_wide_store(d + i, lane_wide_divided(x, y, op));
            lane_wide_store(d + i + 8, lane_wide_divided(u, v, op));
        } else {
            hg_lane_reference_fn(op, HG_LANE_I64, 0)(d + i, a + i, b + i, b + i, 16);
        }
    }
}
#define LANE_WIDE_DIVIDE(name, op)                                                                 \
    static void lane_wide_##name(void *HG_RESTRICT d, const void *HG_RESTRICT a,                   \
                                 const void *HG_RESTRICT b, const void *HG_RESTRICT c, int64_t n)  \
    {                                                                                              \
        (void)c;                                                                                   \
        lane_wide_divide(d, a, b, n, op);                                                          \
    }
LANE_WIDE_DIVIDE(div, HG_LANE_DIV)
LANE_WIDE_DIVIDE(rem, HG_LANE_REM)
LANE_WIDE_DIVIDE(mod, HG_LANE_MOD)
#undef LANE_WIDE_DIVIDE

/* Eight numbers that all fit int32, as most do, are converted as such. */
static void lane_wide_f32_i64(void *HG_RESTRICT d_, const void *HG_RESTRICT a_,
                              const void *HG_RESTRICT b_, const void *HG_RESTRICT c_, int64_t n)
{
    float *HG_RESTRICT d = d_;
    const int64_t *HG_RESTRICT a = a_;
    (void)b_, (void)c_;
    for (int64_t i = 0; i < n; i += 8) {
        __m256i fits = _mm256_set1_epi32(-1);
        const __m256i x = lane_wide_halves(a + i, &fits);
        if (_mm256_movemask_epi8(fits) == -1)
            _mm256_storeu_ps(d + i, _mm256_cvtepi32_ps(x));
        else
            for (int64_t k = i; k < i + 8; k++)
                d[k] = (float)a[k];
    }
}

/* The instructions give the smallest integer for what is out of range. */
static void lane_wide_i64_f32(void *HG_RESTRICT d_, const void *HG_RESTRICT a_,
                              const void *HG_RESTRICT b_, const void *HG_RESTRICT c_, int64_t n)
{
    int64_t *HG_RESTRICT d = d_;
    const float *HG_RESTRICT a = a_;
    (void)b_, (void)c_;
    for (int64_t i = 0; i < n; i += 8) {
        const __m256i x = _mm256_cvttps_epi32(_mm256_loadu_ps(a + i));
        const __m256i out = _mm256_cmpeq_epi32(x, _mm256_set1_epi32(INT32_MIN));
        if (_mm256_testz_si256(out, out)) {
            lane_wide_store(d + i, x);
        } else {
            for (int64_t k = i; k < i + 8; k++)
                d[k] = _mm_cvttss_si64(_mm_set_ss(a[k]));
        }
    }
}

/* The loop of an operation, or NULL; `from` is the type of a CAST's source. */
static hg_lane_fn hg_lane_wide_of(uint32_t op, uint32_t type, uint32_t from)
{
    if (op == HG_LANE_CAST) {
        if (type == HG_LANE_I64 && from == HG_LANE_I32) return lane_wide_i64_i32;
        if (type == HG_LANE_I64 && from == HG_LANE_F32) return lane_wide_i64_f32;
        if (type == HG_LANE_I32 && from == HG_LANE_I64) return lane_wide_i32_i64;
        return type == HG_LANE_F32 && from == HG_LANE_I64 ? lane_wide_f32_i64 : NULL;
    }
    if (type != HG_LANE_I64) return NULL;
    switch (op) {
    case HG_LANE_ADD: return lane_wide_add;
    case HG_LANE_SUB: return lane_wide_sub;
    case HG_LANE_MUL: return lane_wide_mul;
    case HG_LANE_DIV: return lane_wide_div;
    case HG_LANE_REM: return lane_wide_rem;
    case HG_LANE_MOD: return lane_wide_mod;
    case HG_LANE_MIN: return lane_wide_min;
    case HG_LANE_MAX: return lane_wide_max;
    case HG_LANE_ABS: return lane_wide_abs;
    case HG_LANE_EQ: return lane_wide_eq;
    case HG_LANE_LT: return lane_wide_lt;
    case HG_LANE_LE: return lane_wide_le;
    default: return NULL;
    }
}
#else
#define hg_lane_wide_of(op, type, from) ((void)(op), (void)(type), (void)(from), (hg_lane_fn)NULL)
#endif

#endif
