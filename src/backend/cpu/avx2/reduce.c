/* reduce.c - kernel "reduce" on AVX2: the reference loops on f32, vectorised eight wide; the same
 * bits. */
#include "backend/cpu/avx2/reduce.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#include "backend/cpu/avx2/part8.h"

#define T float
#define U float
#define NAME(stem) reduce_avx2_##stem
#define ABS(x) hg_abs_f32(x)
#define REDUCE_EXP(x) hg_exp_f32(x)
#include "kernel/reduce_steps.inc"

/* One column: a != a || a > b ? a : b in sixteen lanes, which compilers do not keep in registers.
 */
#define REDUCE_EXTREME(stem, vector)                                                               \
    static void reduce_avx2_##stem##_16(void *HG_RESTRICT d_, const void *HG_RESTRICT x_,          \
                                        const void *HG_RESTRICT shift, int64_t width,              \
                                        int64_t count)                                             \
    {                                                                                              \
        float *d = d_;                                                                             \
        const float *x = x_;                                                                       \
        if (width != 16) {                                                                         \
            reduce_avx2_##stem(d_, x_, shift, width, count);                                       \
            return;                                                                                \
        }                                                                                          \
        __m256 a = _mm256_loadu_ps(d), b = _mm256_loadu_ps(d + 8);                                 \
        for (int64_t i = 0; i < count; i++, x += 16) {                                             \
            __m256 ma = vector(a, _mm256_loadu_ps(x)), mb = vector(b, _mm256_loadu_ps(x + 8));     \
            a = _mm256_blendv_ps(ma, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));                        \
            b = _mm256_blendv_ps(mb, b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));                        \
        }                                                                                          \
        _mm256_storeu_ps(d, a);                                                                    \
        _mm256_storeu_ps(d + 8, b);                                                                \
    }
REDUCE_EXTREME(max, _mm256_max_ps)
REDUCE_EXTREME(min, _mm256_min_ps)
#undef REDUCE_EXTREME

HG_REDUCE_EXTREMES(int32_t, reduce_avx2_i32)

static hg_reduce_step reduce_step_avx2(hg_reduce_op op, hg_lane_type domain)
{
    if (domain == HG_LANE_I32 && (HG_TYPES_LINKED & (HG_TYPES_INT | HG_TYPES_BOOL)) != 0) {
        const bool is_max = op == HG_REDUCE_MAX || op == HG_REDUCE_ARG_MAX;
        const hg_reduce_fn fn = is_max ? reduce_avx2_i32_max : reduce_avx2_i32_min;
        return (hg_reduce_step){fn, fn};
    }
    const bool has_others = (HG_TYPES_LINKED & ~HG_TYPE_BIT(HOLO_F32)) != 0;
    if (domain != HG_LANE_F32 && has_others) return hg_reduce_step_reference(op, domain);
    hg_reduce_step step = reduce_avx2_step(op);
    if (step.enter == reduce_avx2_max) step.enter = reduce_avx2_max_16;
    if (step.enter == reduce_avx2_min) step.enter = reduce_avx2_min_16;
    return step;
}

/* ---- rows of neighbours ---------------------------------------------------------------------- */

enum { REDUCE_ROW_SUM, REDUCE_ROW_SQUARE, REDUCE_ROW_MAX, REDUCE_ROW_MIN };

HG_INLINE __m256 reduce_row_enter(const int kind, __m256 a, __m256 x)
{
    if (kind == REDUCE_ROW_SUM) return _mm256_add_ps(a, x);
    if (kind == REDUCE_ROW_SQUARE) return _mm256_add_ps(a, _mm256_mul_ps(x, x));
    const __m256 m = kind == REDUCE_ROW_MAX ? _mm256_max_ps(a, x) : _mm256_min_ps(a, x);
    return _mm256_blendv_ps(m, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

HG_INLINE float reduce_row_join(const int kind, float a, float b)
{
    if (kind == REDUCE_ROW_MAX) return a != a || a > b ? a : b;
    if (kind == REDUCE_ROW_MIN) return a != a || a < b ? a : b;
    return a + b;
}

/* Fewer than eight floats, and what changes nothing. */
HG_INLINE __m256 reduce_row_part(const int kind, const float *x, int64_t n)
{
#define FILL(v)                                                                                    \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, v, v, v, v, v, v, v, v                                             \
    }
    static const float fill[2][16] = {FILL((float)HG_INFINITY), FILL(-(float)HG_INFINITY)};
#undef FILL
    const __m256 rest = hg_part8_load(x, n);
    if (kind == REDUCE_ROW_SUM || kind == REDUCE_ROW_SQUARE) return rest;
    return _mm256_xor_ps(rest, _mm256_loadu_ps(fill[kind == REDUCE_ROW_MAX] + 8 - n));
}

/* Sixteen lanes in two vectors; lanes that the last turn does not reach get what changes nothing.
 */
HG_INLINE float reduce_row(const int kind, const float *x, int64_t n)
{
    const float none = kind == REDUCE_ROW_MAX   ? -(float)HG_INFINITY
                       : kind == REDUCE_ROW_MIN ? (float)HG_INFINITY
                                                : 0;
    __m256 a = _mm256_set1_ps(none), b = a;
    for (; n >= 16; n -= 16, x += 16) {
        a = reduce_row_enter(kind, a, _mm256_loadu_ps(x));
        b = reduce_row_enter(kind, b, _mm256_loadu_ps(x + 8));
    }
    if (n >= 8) {
        a = reduce_row_enter(kind, a, _mm256_loadu_ps(x));
        b = reduce_row_enter(kind, b, reduce_row_part(kind, x + 8, n - 8));
    } else if (n > 0) {
        a = reduce_row_enter(kind, a, reduce_row_part(kind, x, n));
    }
    float lane[8];
    const __m256 sum =
        kind == REDUCE_ROW_SQUARE ? _mm256_add_ps(a, b) : reduce_row_enter(kind, a, b);
    _mm256_storeu_ps(lane, sum);
    for (int i = 0; i < 4; i++)
        lane[i] = reduce_row_join(kind, lane[i], lane[i + 4]);
    return reduce_row_join(kind, reduce_row_join(kind, lane[0], lane[2]),
                           reduce_row_join(kind, lane[1], lane[3]));
}

static bool reduce_rows_avx2(hg_reduce_op op, const float *x, int64_t n, int64_t stride,
                             int64_t count, float *out)
{
    for (int64_t i = 0; i < count; i++, x += stride)
        switch ((int)op) {
        case HG_REDUCE_SUM:
        case HG_REDUCE_MEAN:
        case HG_REDUCE_LOG_SUM: out[i] = reduce_row(REDUCE_ROW_SUM, x, n); break;
        case HG_REDUCE_SUM_SQUARE:
        case HG_REDUCE_L2: out[i] = reduce_row(REDUCE_ROW_SQUARE, x, n); break;
        case HG_REDUCE_MAX: out[i] = reduce_row(REDUCE_ROW_MAX, x, n); break;
        case HG_REDUCE_MIN: out[i] = reduce_row(REDUCE_ROW_MIN, x, n); break;
        default: return false;
        }
    return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

enum { REDUCE_COLS_LANES = 16, REDUCE_COLS_TOGETHER = 4, REDUCE_COLS_WIDTH = 8 };

/* Sixteen columns, or eight; four of the sixteen lanes at a time stay in registers. */
HG_INLINE void reduce_columns(const int kind, const int vectors, const float *x, int64_t n,
                              int64_t stride, float *out)
{
    const float none = kind == REDUCE_ROW_MAX   ? -(float)HG_INFINITY
                       : kind == REDUCE_ROW_MIN ? (float)HG_INFINITY
                                                : 0;
    __m256 lane[REDUCE_COLS_LANES][2];
    for (int64_t l = 0; l < REDUCE_COLS_LANES; l += REDUCE_COLS_TOGETHER) {
        __m256 a[REDUCE_COLS_TOGETHER][2];
        for (int k = 0; k < REDUCE_COLS_TOGETHER; k++)
            a[k][0] = a[k][1] = _mm256_set1_ps(none);
        int64_t i = l;
        for (; i + REDUCE_COLS_TOGETHER <= n; i += REDUCE_COLS_LANES)
            for (int k = 0; k < REDUCE_COLS_TOGETHER; k++)
                for (int v = 0; v < vectors; v++)
                    a[k][v] = reduce_row_enter(
                        kind, a[k][v],
                        _mm256_loadu_ps(x + (i + k) * stride + v * REDUCE_COLS_WIDTH));
        memcpy(lane[l], a, sizeof a);
        for (int64_t k = 0; k < REDUCE_COLS_TOGETHER && i + k < n; k++)
            for (int v = 0; v < vectors; v++)
                lane[l + k][v] =
                    reduce_row_enter(kind, lane[l + k][v],
                                     _mm256_loadu_ps(x + (i + k) * stride + v * REDUCE_COLS_WIDTH));
    }
    const int join = kind == REDUCE_ROW_SQUARE ? REDUCE_ROW_SUM : kind;
    for (int64_t w = REDUCE_COLS_LANES / 2; w > 0; w /= 2)
        for (int64_t l = 0; l < w; l++)
            for (int v = 0; v < vectors; v++)
                lane[l][v] = reduce_row_enter(join, lane[l][v], lane[l + w][v]);
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(out + v * REDUCE_COLS_WIDTH, lane[0][v]);
}

/* The last columns together with their neighbours once more. */
HG_INLINE void reduce_all_columns(const int kind, const float *x, int64_t n, int64_t stride,
                                  int64_t cols, float *out)
{
    int64_t c = 0;
    for (; c + 2 * REDUCE_COLS_WIDTH <= cols; c += 2 * REDUCE_COLS_WIDTH)
        reduce_columns(kind, 2, x + c, n, stride, out + c);
    for (; c < cols; c += REDUCE_COLS_WIDTH) {
        const int64_t at = hg_min(c, cols - REDUCE_COLS_WIDTH);
        reduce_columns(kind, 1, x + at, n, stride, out + at);
    }
}

static bool reduce_cols_avx2(hg_reduce_op op, const float *x, int64_t n, int64_t stride,
                             int64_t cols, float *out)
{
    switch ((int)op) {
    case HG_REDUCE_SUM:
    case HG_REDUCE_MEAN:
    case HG_REDUCE_LOG_SUM: reduce_all_columns(REDUCE_ROW_SUM, x, n, stride, cols, out); break;
    case HG_REDUCE_SUM_SQUARE:
    case HG_REDUCE_L2: reduce_all_columns(REDUCE_ROW_SQUARE, x, n, stride, cols, out); break;
    case HG_REDUCE_MAX: reduce_all_columns(REDUCE_ROW_MAX, x, n, stride, cols, out); break;
    case HG_REDUCE_MIN: reduce_all_columns(REDUCE_ROW_MIN, x, n, stride, cols, out); break;
    default: return false;
    }
    return true;
}

const hg_reduce_loops hg_reduce_loops_avx2 = {.step = reduce_step_avx2,
                                              .read = hg_lane_read_avx2,
                                              .write = hg_lane_write_avx2,
                                              .lane = hg_lane_run_avx2,
                                              .rows = reduce_rows_avx2,
                                              .cols = reduce_cols_avx2};

static void reduce_run_avx2(const hg_args *a, hg_range r)
{
    hg_kernel_reduce_run(a, r, &hg_reduce_loops_avx2);
}

const hg_kernel hg_kernels_reduce_avx2[] = {
    {
        .name = "reduce",
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_reduce_check,
        .units = hg_kernel_reduce_units,
        .scratch = hg_kernel_reduce_scratch,
        .cost = hg_kernel_reduce_cost,
        .run = reduce_run_avx2,
    },
    {0},
};
