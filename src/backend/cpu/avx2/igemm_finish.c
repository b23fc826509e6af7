/* igemm_finish.c - epilogues that are chains (kernel/igemm_finish.h) with AVX2: 32 values at a time
 * stay in four registers from the sums to the result. Each step gives the bits of its lane
 * operation: divisions divide, products are not fused with sums. */
#include "backend/cpu/avx2/igemm.h"

#include "backend/cpu/avx2/gemm.h"

#include <math.h>

enum { FINISH_WIDE = 4, FINISH_LANES = 8 };

typedef struct igemm_finish_values {
    __m256 v[FINISH_WIDE];
} igemm_finish_values;

HG_INLINE __m256 igemm_finish_data(const hg_finish_step *s, int64_t col)
{
    if (s->data == NULL) return _mm256_set1_ps(s->value.f);
    const float *x = s->data;
    return s->step == 0 ? _mm256_broadcast_ss(x) : _mm256_loadu_ps(x + col);
}

/* x > y ? x : y, but NaN where x is. */
HG_INLINE __m256 igemm_finish_limit(__m256 v, __m256 c, bool is_max, bool is_first)
{
    if (is_first) return is_max ? _mm256_max_ps(c, v) : _mm256_min_ps(c, v);
    const __m256 r = is_max ? _mm256_max_ps(v, c) : _mm256_min_ps(v, c);
    return _mm256_blendv_ps(r, v, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

HG_INLINE __m256 igemm_finish_round(__m256 v)
{
    return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

HG_INLINE __m256 igemm_finish_divide(__m256 v, const hg_finish_step *s)
{
    v = igemm_finish_round(_mm256_div_ps(v, _mm256_set1_ps(s->value.f)));
    v = _mm256_add_ps(v, _mm256_set1_ps(s->zero));
    return _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
}

/* A division costs more than all the rest: it is left to the few blocks where a product might round
 * another way (HG_FINISH_NEAR), or that are not numbers. */
HG_INLINE void igemm_finish_quant(igemm_finish_values *x, const int wide, const hg_finish_step *s)
{
    const __m256 inverse = _mm256_set1_ps(s->inverse), limit = _mm256_set1_ps(HG_FINISH_NEAR);
    const __m256 clear = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 code[FINISH_WIDE], near = _mm256_setzero_ps();
    HG_GEMM_UNROLL
    for (int k = 0; k < wide; k++) {
        const __m256 q = _mm256_mul_ps(x->v[k], inverse);
        code[k] = igemm_finish_round(q);
        const __m256 away = _mm256_and_ps(_mm256_sub_ps(q, code[k]), clear);
        near = _mm256_or_ps(near, _mm256_cmp_ps(away, limit, _CMP_NLE_UQ));
        code[k] = _mm256_add_ps(code[k], _mm256_set1_ps(s->zero));
    }
    if (_mm256_movemask_ps(near) != 0) {
        HG_GEMM_UNROLL
        for (int k = 0; k < wide; k++)
            code[k] = igemm_finish_divide(x->v[k], s);
    }
    HG_GEMM_UNROLL
    for (int k = 0; k < wide; k++) {
        const __m256 low = _mm256_max_ps(code[k], _mm256_set1_ps(s->low));
        x->v[k] = _mm256_min_ps(low, _mm256_set1_ps(s->high));
    }
}

HG_INLINE __m256 igemm_finish_wrap(__m256 v, bool is_signed)
{
    const __m256i i = _mm256_cvttps_epi32(v);
    const __m256i low = is_signed ? _mm256_srai_epi32(_mm256_slli_epi32(i, 24), 24)
                                  : _mm256_and_si256(i, _mm256_set1_epi32(255));
    return _mm256_cvtepi32_ps(low);
}

HG_INLINE __m256 igemm_finish_add_int(__m256 v, const hg_finish_step *s, int64_t col)
{
    const int32_t *x = s->data;
    const __m256i c = x == NULL      ? _mm256_set1_epi32(s->value.i)
                      : s->step == 0 ? _mm256_set1_epi32(x[0])
                                     : _mm256_loadu_si256((const __m256i *)(const void *)(x + col));
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v), c));
}

#define FINISH_EACH(expression)                                                                    \
    do {                                                                                           \
        HG_GEMM_UNROLL                                                                             \
        for (int k = 0; k < wide; k++) {                                                           \
            const __m256 v = x->v[k];                                                              \
            const int64_t at = col + k * FINISH_LANES;                                             \
            (void)at;                                                                              \
            x->v[k] = (expression);                                                                \
        }                                                                                          \
    } while (0)

HG_INLINE void igemm_finish_chain(const hg_finish_chain *c, const int wide, int64_t col,
                                  const igemm_finish_values *side, igemm_finish_values *x)
{
    for (const hg_finish_step *s = c->step; s < c->step + c->count; s++)
        switch (s->kind) {
        case HG_FINISH_ADD_INT: FINISH_EACH(igemm_finish_add_int(v, s, at)); break;
        case HG_FINISH_FLOAT: FINISH_EACH(_mm256_cvtepi32_ps(_mm256_castps_si256(v))); break;
        case HG_FINISH_ADD: FINISH_EACH(_mm256_add_ps(v, igemm_finish_data(s, at))); break;
        case HG_FINISH_SUB: FINISH_EACH(_mm256_sub_ps(v, igemm_finish_data(s, at))); break;
        case HG_FINISH_MUL: FINISH_EACH(_mm256_mul_ps(v, igemm_finish_data(s, at))); break;
        case HG_FINISH_DIV: FINISH_EACH(_mm256_div_ps(v, igemm_finish_data(s, at))); break;
        case HG_FINISH_MAX:
            FINISH_EACH(igemm_finish_limit(v, _mm256_set1_ps(s->value.f), true, s->is_first));
            break;
        case HG_FINISH_MIN:
            FINISH_EACH(igemm_finish_limit(v, _mm256_set1_ps(s->value.f), false, s->is_first));
            break;
        case HG_FINISH_ROUND: FINISH_EACH(igemm_finish_round(v)); break;
        case HG_FINISH_WRAP_U8: FINISH_EACH(igemm_finish_wrap(v, false)); break;
        case HG_FINISH_WRAP_I8: FINISH_EACH(igemm_finish_wrap(v, true)); break;
        case HG_FINISH_QUANT: igemm_finish_quant(x, wide, s); break;
        case HG_FINISH_JOIN: FINISH_EACH(_mm256_add_ps(v, side->v[k])); break;
        }
}
#undef FINISH_EACH

/* Eight elements of the other operand, as i32 bits unless they are f32. */
HG_INLINE __m256 igemm_finish_side(const hg_finish *f, int64_t i)
{
    const char *data = f->side_data;
    if (f->side_type == HOLO_F32 || f->side_type == HOLO_I32)
        return _mm256_loadu_ps((const float *)(const void *)data + i);
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(data + i));
    return _mm256_castsi256_ps(f->side_type == HOLO_U8 ? _mm256_cvtepu8_epi32(bytes)
                                                       : _mm256_cvtepi8_epi32(bytes));
}

HG_INLINE void igemm_finish_store(const hg_finish *f, const igemm_finish_values *x, const int wide,
                                  int64_t i)
{
    if (f->out_type == HOLO_F32) {
        HG_GEMM_UNROLL
        for (int k = 0; k < wide; k++)
            _mm256_storeu_ps((float *)f->out + i + k * FINISH_LANES, x->v[k]);
        return;
    }
    const __m256i mask = _mm256_set1_epi32(255);
    __m256i w[FINISH_WIDE];
    HG_GEMM_UNROLL
    for (int k = 0; k < FINISH_WIDE; k++)
        w[k] = _mm256_and_si256(_mm256_cvttps_epi32(x->v[k < wide ? k : 0]), mask);
    const __m256i bytes = _mm256_permutevar8x32_epi32(
        _mm256_packus_epi16(_mm256_packus_epi32(w[0], w[1]), _mm256_packus_epi32(w[2], w[3])),
        _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    char *to = (char *)f->out + i;
    if (wide == FINISH_WIDE)
        _mm256_storeu_si256((__m256i *)(void *)to, bytes);
    else
        _mm_storel_epi64((__m128i *)(void *)to, _mm256_castsi256_si128(bytes));
}

/* `wide` times eight values of a row; i is the first one's number in the output. */
HG_INLINE void igemm_finish_block(const hg_finish *f, const int wide, const int32_t *sum, int64_t i,
                                  int64_t col)
{
    igemm_finish_values x, side;
    HG_GEMM_UNROLL
    for (int k = 0; k < FINISH_WIDE; k++)
        side.v[k] = _mm256_setzero_ps();
    if (f->side_data != NULL) {
        HG_GEMM_UNROLL
        for (int k = 0; k < wide; k++)
            side.v[k] = igemm_finish_side(f, i + k * FINISH_LANES);
        igemm_finish_chain(&f->side, wide, col, &side, &side);
    }
    HG_GEMM_UNROLL
    for (int k = 0; k < wide; k++)
        x.v[k] = _mm256_loadu_ps((const float *)(const void *)(sum + k * FINISH_LANES));
    igemm_finish_chain(&f->main, wide, col, &side, &x);
    igemm_finish_store(f, &x, wide, i);
}

static void igemm_finish_wide(const hg_finish *f, const int32_t *sum, int64_t i, int64_t col)
{
    igemm_finish_block(f, FINISH_WIDE, sum, i, col);
}

static void igemm_finish_narrow(const hg_finish *f, const int32_t *sum, int64_t i, int64_t col)
{
    igemm_finish_block(f, 1, sum, i, col);
}

void hg_igemm_finish_avx2(const hg_finish *f, const hg_epilogue_tile *t, hg_epilogue_tile *rest)
{
    const int64_t whole = t->cols / FINISH_LANES * FINISH_LANES;
    for (int64_t r = 0; r < t->rows; r++) {
        const int32_t *sum = (const int32_t *)t->data + r * t->ld;
        const int64_t i = (t->row + r) * f->columns + t->col;
        int64_t j = 0;
        for (; j + FINISH_WIDE * FINISH_LANES <= t->cols; j += FINISH_WIDE * FINISH_LANES)
            igemm_finish_wide(f, sum + j, i + j, t->col + j);
        for (; j < whole; j += FINISH_LANES)
            igemm_finish_narrow(f, sum + j, i + j, t->col + j);
    }
    *rest = *t;
    rest->data = (int32_t *)t->data + whole;
    rest->col += whole;
    rest->cols -= whole;
}
