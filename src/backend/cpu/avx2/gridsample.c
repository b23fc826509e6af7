/* gridsample.c - kernel "gridsample" with AVX2: pictures of f32, linear.
 *
 * Places and weights are found eight at a time, then four places of one channel are summed side by
 * side. Both neighbours of a row are one load: where one of them lies outside, the pair is moved
 * inside and its weights with it. Sums are those of the reference, in f64 and in its order, so the
 * bits are too. A place whose neighbours are moved by the padding is left to the reference. */
#include "kernel/gridsample.h"

#include <immintrin.h>

enum {
    GRID_PLACES = 64,
    GRID_EIGHT = 8,
    GRID_TAPS = 4,
    GRID_MAX_SIZE =
        1 << 22 /* so that places near the edge are numbers of f32 and elements of i32 */
};

typedef struct gridsample_block {
    double weight[GRID_TAPS][GRID_PLACES]; /* 0: outside, nothing is read there */
    int32_t top[GRID_PLACES], bottom[GRID_PLACES];
    uint64_t odd; /* a bit for each place that the reference computes */
} gridsample_block;

/* Eight places along one axis. */
typedef struct gridsample_axis {
    __m256 place, base;
    __m256i index; /* of the element in front of the place */
    int odd;
} gridsample_axis;

HG_INLINE gridsample_axis gridsample_find_axis(const hg_args *a, __m256 n, int64_t size)
{
    const bool align = a->param[HG_GRID_PARAM_ALIGN] != 0;
    const float last = (float)size - 1.0F;
    const __m256 half = _mm256_set1_ps(0.5F), end = _mm256_set1_ps(last),
                 zero = _mm256_setzero_ps();
    __m256 f = _mm256_add_ps(n, _mm256_set1_ps(1.0F));
    if (align)
        f = _mm256_mul_ps(_mm256_mul_ps(f, half), end);
    else
        f = _mm256_mul_ps(
            _mm256_sub_ps(_mm256_mul_ps(f, _mm256_set1_ps((float)size)), _mm256_set1_ps(1.0F)),
            half);
    const __m256 inside =
        _mm256_and_ps(_mm256_cmp_ps(f, zero, _CMP_GE_OQ), _mm256_cmp_ps(f, end, _CMP_LE_OQ));
    const float beyond = align ? 0.0F : 0.5F; /* a border begins so far outside */
    const __m256 far = _mm256_or_ps(_mm256_cmp_ps(f, _mm256_set1_ps(-beyond), _CMP_LT_OQ),
                                    _mm256_cmp_ps(f, _mm256_set1_ps(last + beyond), _CMP_GT_OQ));
    const int64_t padding = a->param[HG_GRID_PARAM_PADDING];
    __m256 known = inside;
    if (padding == HG_GRID_BORDER) known = _mm256_or_ps(inside, far);
    gridsample_axis axis = {.odd = padding == HG_GRID_ZEROS ? 0 : 0xff ^ _mm256_movemask_ps(known)};
    /* a NaN becomes the first limit, and is outside there */
    const float room = padding == HG_GRID_BORDER ? 0.0F : 2.0F;
    axis.place =
        _mm256_min_ps(_mm256_max_ps(f, _mm256_set1_ps(-room)), _mm256_set1_ps(last + room));
    axis.base = _mm256_floor_ps(axis.place);
    axis.index = _mm256_cvttps_epi32(axis.base);
    return axis;
}

/* How far the places of half an axis lie behind their elements. */
HG_INLINE __m256d gridsample_rest(const gridsample_axis *axis, const int half)
{
    return _mm256_sub_pd(_mm256_cvtps_pd(half ? _mm256_extractf128_ps(axis->place, 1)
                                              : _mm256_castps256_ps128(axis->place)),
                         _mm256_cvtps_pd(half ? _mm256_extractf128_ps(axis->base, 1)
                                              : _mm256_castps256_ps128(axis->base)));
}

/* x where the mask is set, else 0. */
HG_INLINE __m256d gridsample_where(__m256i mask, const int half, __m256d x)
{
    const __m256i wide = _mm256_cvtepi32_epi64(half ? _mm256_extracti128_si256(mask, 1)
                                                    : _mm256_castsi256_si128(mask));
    return _mm256_and_pd(x, _mm256_castsi256_pd(wide));
}

HG_INLINE __m256i gridsample_limit(__m256i index, int64_t last)
{
    return _mm256_min_epi32(_mm256_max_epi32(index, _mm256_setzero_si256()),
                            _mm256_set1_epi32((int32_t)last));
}

/* Eight places of the grid, the first of them place i of the block. */
HG_INLINE void gridsample_find_eight(const hg_args *a, const float *grid, int64_t i,
                                     gridsample_block *b)
{
    const int64_t height = a->in[0].dim[2], width = a->in[0].dim[3];
    const __m256 g0 = _mm256_loadu_ps(grid), g1 = _mm256_loadu_ps(grid + 8);
    const __m256d evens = _mm256_castps_pd(_mm256_shuffle_ps(g0, g1, 0x88)),
                  odds = _mm256_castps_pd(_mm256_shuffle_ps(g0, g1, 0xdd));
    const gridsample_axis x =
        gridsample_find_axis(a, _mm256_castpd_ps(_mm256_permute4x64_pd(evens, 0xd8)), width);
    const gridsample_axis y =
        gridsample_find_axis(a, _mm256_castpd_ps(_mm256_permute4x64_pd(odds, 0xd8)), height);
    const __m256i one = _mm256_set1_epi32(1), none = _mm256_set1_epi32(-1);
    const __m256i below = _mm256_add_epi32(y.index, one);
    const __m256i row[2] = {gridsample_limit(y.index, height - 1),
                            gridsample_limit(below, height - 1)};
    const __m256i has_row[2] = {_mm256_cmpeq_epi32(row[0], y.index),
                                _mm256_cmpeq_epi32(row[1], below)};
    const __m256i col = gridsample_limit(x.index, width - 2),
                  moved = _mm256_sub_epi32(x.index, col);
    const __m256i stays = _mm256_cmpeq_epi32(moved, _mm256_setzero_si256()),
                  is_left = _mm256_cmpeq_epi32(moved, none),
                  is_right = _mm256_cmpeq_epi32(moved, one);
    const __m256i line = _mm256_set1_epi32((int32_t)width);
    _mm256_storeu_si256((__m256i *)(void *)(b->top + i),
                        _mm256_add_epi32(_mm256_mullo_epi32(row[0], line), col));
    _mm256_storeu_si256((__m256i *)(void *)(b->bottom + i),
                        _mm256_add_epi32(_mm256_mullo_epi32(row[1], line), col));
    b->odd |= (uint64_t)(x.odd | y.odd) << i;
    for (int half = 0; half < 2; half++) {
        const __m256d all = _mm256_set1_pd(1.0), across = gridsample_rest(&x, half),
                      down = gridsample_rest(&y, half), rest = _mm256_sub_pd(all, across);
        const __m256d high[2] = {gridsample_where(has_row[0], half, _mm256_sub_pd(all, down)),
                                 gridsample_where(has_row[1], half, down)};
        const __m256d wide[2] = {_mm256_or_pd(gridsample_where(stays, half, rest),
                                              gridsample_where(is_left, half, across)),
                                 _mm256_or_pd(gridsample_where(stays, half, across),
                                              gridsample_where(is_right, half, rest))};
        for (int k = 0; k < GRID_TAPS; k++)
            _mm256_storeu_pd(b->weight[k] + i + 4 * half, _mm256_mul_pd(high[k / 2], wide[k % 2]));
    }
}

static void gridsample_find_block(const hg_args *a, const float *grid, int64_t places,
                                  gridsample_block *b)
{
    float last[2 * GRID_EIGHT] = {0};
    b->odd = 0;
    for (int64_t i = 0; i < places; i += GRID_EIGHT) {
        const bool is_whole = i + GRID_EIGHT <= places;
        if (!is_whole) memcpy(last, grid + 2 * i, (size_t)(places - i) * 2 * sizeof *last);
        gridsample_find_eight(a, is_whole ? grid + 2 * i : last, i, b);
    }
    if (places < GRID_PLACES) b->odd &= ((uint64_t)1 << places) - 1;
}

/* Pairs at four places: their first and second elements. */
HG_INLINE void gridsample_load(const float *x, const int32_t *at, __m128 *first, __m128 *second)
{
    const __m128 none = _mm_setzero_ps();
    const __m128 ab = _mm_loadh_pi(_mm_loadl_pi(none, (const __m64 *)(const void *)(x + at[0])),
                                   (const __m64 *)(const void *)(x + at[1])),
                 cd = _mm_loadh_pi(_mm_loadl_pi(none, (const __m64 *)(const void *)(x + at[2])),
                                   (const __m64 *)(const void *)(x + at[3]));
    *first = _mm_shuffle_ps(ab, cd, 0x88);
    *second = _mm_shuffle_ps(ab, cd, 0xdd);
}

/* What has no weight adds nothing, be it infinite. */
HG_INLINE __m256d gridsample_add(__m256d sum, const double *weight, __m128 x)
{
    const __m256d w = _mm256_loadu_pd(weight);
    const __m256d counts = _mm256_cmp_pd(w, _mm256_setzero_pd(), _CMP_NEQ_UQ);
    return _mm256_add_pd(sum, _mm256_mul_pd(w, _mm256_and_pd(_mm256_cvtps_pd(x), counts)));
}

HG_INLINE __m128 gridsample_sum(const gridsample_block *b, const float *x, int64_t i)
{
    __m128 tap[GRID_TAPS];
    gridsample_load(x, b->top + i, &tap[0], &tap[1]);
    gridsample_load(x, b->bottom + i, &tap[2], &tap[3]);
    __m256d sum = _mm256_setzero_pd();
    for (int k = 0; k < GRID_TAPS; k++)
        sum = gridsample_add(sum, b->weight[k] + i, tap[k]);
    return _mm256_cvtpd_ps(sum);
}

static void gridsample_sum_block(const gridsample_block *b, const float *x, int64_t places,
                                 float *y)
{
    int64_t i = 0;
    for (; i + 4 <= places; i += 4)
        _mm_storeu_ps(y + i, gridsample_sum(b, x, i));
    if (i == places) return;
    float last[4];
    _mm_storeu_ps(last, gridsample_sum(b, x, i));
    memcpy(y + i, last, (size_t)(places - i) * sizeof *y);
}

static void gridsample_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t plane = x->dim[2] * x->dim[3], out = y->dim[2] * y->dim[3];
    if (x->dim[2] < 1 || x->dim[3] < 2 || x->dim[2] > GRID_MAX_SIZE || x->dim[3] > GRID_MAX_SIZE ||
        plane > INT32_MAX) {
        hg_gridsample_run(a, r);
        return;
    }
    gridsample_block b;
    for (int64_t u = r.begin; u < r.end;) {
        const int64_t image = u / out, at = u % out;
        const int64_t places = hg_min(GRID_PLACES, hg_min(r.end - u, out - at));
        gridsample_find_block(a, (const float *)a->in[1].data + 2 * u, places, &b);
        for (int64_t c = 0; c < x->dim[1]; c++) {
            const int64_t p = image * x->dim[1] + c;
            gridsample_sum_block(&b, (const float *)x->data + p * plane, places,
                                 (float *)y->data + p * out + at);
        }
        for (int64_t i = 0; b.odd != 0; i++, b.odd >>= 1)
            if (b.odd & 1)
                hg_gridsample_run(
                    a, (hg_range){.begin = u + i, .end = u + i + 1, .scratch = r.scratch});
        u += places;
    }
}

static holo_status gridsample_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_gridsample_check(a, e));
    HG_REQUIRE(e, hg_gridsample_is_picture(a), HOLO_E_UNSUPPORTED, "not tuned for this");
    return HOLO_OK;
}

const hg_kernel hg_kernels_gridsample_avx2[] = {
    {.name = "gridsample",
     .cpu = HG_CPU_AVX2,
     .check = gridsample_check,
     .units = hg_gridsample_units,
     .scratch = hg_gridsample_scratch,
     .run = gridsample_run},
    {0},
};
