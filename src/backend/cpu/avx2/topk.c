/* topk.c - kernel "topk" on AVX2: a few of many along the last axis; the same bits.
 *
 * The k-th largest of the maxima of TOPK_GROUPS groups is at most the k-th largest of the row. What
 * reaches it is seldom much more than k elements: those are compared with each other, which takes
 * no branch (128 rows of 768, k = 10: 84 -> 31 us, of int64 145 -> 54). Where too many reach it,
 * the reference walks that row. The smallest elements are the largest ones with signs, or all bits,
 * turned. */
#include "kernel/topk.h"

#include "isa/lane_math.h"

#include <immintrin.h>

enum {
    TOPK_GROUPS = 32, /* element i belongs to group i % TOPK_GROUPS */
    TOPK_MOST = 24,   /* of k */
    TOPK_ROOM = 64    /* elements that may reach the bound */
};

/* In the order of the row; larger keys are better. */
typedef struct topk_found {
    int64_t key[TOPK_ROOM], index[TOPK_ROOM];
    int64_t count;
} topk_found;

/* -0 is 0, NaN is larger than every number. */
HG_INLINE int64_t topk_key(float v)
{
    const int32_t bits = (int32_t)hg_bits_f32(v);
    if (v != v) return INT32_MAX;
    return bits >= 0 ? bits : -(int64_t)(bits & INT32_MAX);
}

HG_INLINE uint32_t topk_below_i64(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a)));
}

#define T float
#define NAME(stem) topk_##stem##_f32
#define V __m256
#define LANES 8
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define ALL _mm256_set1_ps
#define TURN _mm256_xor_ps
#define MORE _mm256_max_ps
#define BELOW(a, b) (uint32_t) _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ))
#define KEY topk_key
#define LOWEST (-HUGE_VALF)
#define HIGHEST HUGE_VALF
#include "backend/cpu/avx2/topk_find.inc"
#undef T
#undef NAME
#undef V
#undef LANES
#undef LOAD
#undef STORE
#undef ALL
#undef TURN
#undef MORE
#undef BELOW
#undef KEY
#undef LOWEST
#undef HIGHEST

#define T int64_t
#define NAME(stem) topk_##stem##_i64
#define V __m256i
#define LANES 4
#define LOAD(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define STORE(to, v) _mm256_storeu_si256((__m256i *)(void *)(to), v)
#define ALL _mm256_set1_epi64x
#define TURN _mm256_xor_si256
#define MORE(a, b) _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b))
#define BELOW topk_below_i64
#define KEY(v) (v)
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "backend/cpu/avx2/topk_find.inc"

/* The k best of what was found, in order: to[rank] is an index in the row. Of equal ones the first
 * is better. */
static void topk_rank(const topk_found *found, int64_t k, int64_t *to)
{
    int64_t rank[TOPK_ROOM] = {0};
    for (int64_t i = 1; i < found->count; i++)
        for (int64_t j = 0; j < i; j++) {
            const bool first = found->key[j] >= found->key[i];
            rank[i] += first;
            rank[j] += !first;
        }
    for (int64_t i = 0; i < found->count; i++)
        if (rank[i] < k) to[rank[i]] = found->index[i];
}

/* Row u; false where too many elements reach the bound. */
static bool topk_row(const hg_args *a, int64_t u, int64_t n, int64_t k)
{
    const bool is_float = hg_dtype_is(a->in[0].dtype, HOLO_F32), largest = a->param[1] != 0;
    const float *floats = (const float *)a->in[0].data + u * n;
    const int64_t *words = (const int64_t *)a->in[0].data + u * n;
    topk_found found;
    int64_t index[TOPK_MOST];
    if (is_float
            ? !topk_find_f32(&found, floats, n, k, largest, _mm256_set1_ps(largest ? 0.0F : -0.0F))
            : !topk_find_i64(&found, words, n, k, largest, _mm256_set1_epi64x(largest - 1)))
        return false;
    topk_rank(&found, k, index);
    for (uint32_t j = 0; j < a->n_out; j++) {
        if (a->out[j].dtype == HOLO_NONE) continue;
        for (int64_t i = 0; i < k; i++)
            if (j == 0 && is_float)
                ((float *)a->out[0].data)[u * k + i] = floats[index[i]];
            else
                ((int64_t *)a->out[j].data)[u * k + i] = j == 0 ? words[index[i]] : index[i];
    }
    return true;
}

static void topk_run_avx2(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0];
    const int axis = (int)a->param[0];
    const int64_t n = x->dim[axis], k = a->out[a->out[0].dtype == HOLO_NONE].dim[axis];
    if (axis != x->rank - 1 || n < 4 * TOPK_GROUPS || k == 0 || k > TOPK_MOST ||
        !(hg_dtype_is(x->dtype, HOLO_F32) || hg_dtype_is(x->dtype, HOLO_I64))) {
        hg_topk_run(a, r);
        return;
    }
    for (int64_t u = r.begin; u < r.end; u++)
        if (!topk_row(a, u, n, k)) hg_topk_run(a, (hg_range){u, u + 1, r.scratch});
}

const hg_kernel hg_kernels_topk_avx2[] = {
    {.name = "topk",
     .cpu = HG_CPU_AVX2,
     .check = hg_topk_check,
     .units = hg_topk_units,
     .scratch = hg_topk_scratch,
     .run = topk_run_avx2},
    {0},
};
