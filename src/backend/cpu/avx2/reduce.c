/* reduce.c - kernel "reduce" on AVX2: the reference loops on f32, vectorised eight wide; the same
 * bits. */
#include "backend/cpu/avx2/reduce.h"

#include "backend/cpu/avx2/lane.h"

#define T float
#define U float
#define NAME(stem) reduce_avx2_##stem
#define ABS(x) hg_abs_f32(x)
#define REDUCE_EXP(x) hg_exp_f32(x)
#include "kernel/reduce_steps.inc"

static hg_reduce_step reduce_step_avx2(hg_reduce_op op, hg_lane_type domain)
{
    const bool has_others = (HG_TYPES_LINKED & ~HG_TYPE_BIT(HOLO_F32)) != 0;
    if (domain != HG_LANE_F32 && has_others) return hg_reduce_step_reference(op, domain);
    return reduce_avx2_step(op);
}

/* The largest, or 0 where that is infinite. */
HG_INLINE float reduce_row_shift(const float *x, int64_t n)
{
    const float m = hg_reduce_row(HG_REDUCE_ROW_MAX, x, n);
    return hg_abs_f32(m) == (float)HG_INFINITY ? 0 : m;
}

/* sum(exp(x - m)) in sixteen lanes; what is not there is -inf, which adds nothing. */
static float reduce_row_exp(const float *x, int64_t n, float m)
{
    float lane[HG_REDUCE_LANES] = {0}, b[HG_REDUCE_LANES];
    for (int64_t i = 0; i < n; i += HG_REDUCE_LANES) {
        const int64_t left = n - i;
        _mm256_storeu_ps(b, left >= 8 ? _mm256_loadu_ps(x + i)
                                      : hg_reduce_row_part(HG_REDUCE_ROW_MAX, x + i, left));
        _mm256_storeu_ps(b + 8, left >= 16 ? _mm256_loadu_ps(x + i + 8)
                                           : hg_reduce_row_part(HG_REDUCE_ROW_MAX, x + i + 8,
                                                                hg_max(left - 8, 0)));
        for (int l = 0; l < HG_REDUCE_LANES; l++)
            lane[l] += hg_exp_f32(b[l] - m);
    }
    for (int w = HG_REDUCE_LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++)
            lane[l] += lane[l + w];
    return lane[0];
}

/* m + log(sum(exp(x - m))): the logarithms of sixteen rows are taken together. */
static void reduce_rows_exp(const float *x, int64_t n, int64_t stride, int64_t count, float *out)
{
    float m[HG_REDUCE_LANES] = {0}, sum[HG_REDUCE_LANES] = {0};
    for (int64_t i = 0; i < count; i += HG_REDUCE_LANES) {
        const int64_t rows = hg_min(HG_REDUCE_LANES, count - i);
        for (int64_t r = 0; r < rows; r++, x += stride) {
            m[r] = reduce_row_shift(x, n);
            sum[r] = reduce_row_exp(x, n, m[r]);
        }
        for (int l = 0; l < HG_REDUCE_LANES; l++)
            sum[l] = m[l] + hg_log_f32(sum[l]);
        memcpy(out + i, sum, (size_t)rows * sizeof *out);
    }
}

static bool reduce_rows_avx2(hg_reduce_op op, const float *x, int64_t n, int64_t stride,
                             int64_t count, float *out)
{
    if (op == HG_REDUCE_LOG_SUM_EXP) {
        reduce_rows_exp(x, n, stride, count, out);
        return true;
    }
    for (int64_t i = 0; i < count; i++, x += stride)
        switch ((int)op) {
        case HG_REDUCE_SUM:
        case HG_REDUCE_MEAN:
        case HG_REDUCE_LOG_SUM: out[i] = hg_reduce_row(HG_REDUCE_ROW_SUM, x, n); break;
        case HG_REDUCE_SUM_SQUARE:
        case HG_REDUCE_L2: out[i] = hg_reduce_row(HG_REDUCE_ROW_SQUARE, x, n); break;
        case HG_REDUCE_L1: out[i] = hg_reduce_row(HG_REDUCE_ROW_ABS, x, n); break;
        case HG_REDUCE_PROD: out[i] = hg_reduce_row(HG_REDUCE_ROW_PROD, x, n); break;
        default: return false;
        }
    return true;
}

static bool reduce_cols_avx2(hg_reduce_op op, const float *x, int64_t n, int64_t stride,
                             int64_t cols, float *out)
{
    switch ((int)op) {
    case HG_REDUCE_SUM:
    case HG_REDUCE_MEAN:
    case HG_REDUCE_LOG_SUM:
        hg_reduce_all_columns(HG_REDUCE_ROW_SUM, x, n, stride, cols, out);
        return true;
    case HG_REDUCE_SUM_SQUARE:
    case HG_REDUCE_L2:
        hg_reduce_all_columns(HG_REDUCE_ROW_SQUARE, x, n, stride, cols, out);
        return true;
    default: return false;
    }
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
