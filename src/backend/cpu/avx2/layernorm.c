/* layernorm.c - kernel "layernorm" on AVX2: the same bits as the reference.
 *
 * Rows of float32 that are whole in lanes go LAYERNORM_ROWS at a time: the lanes of a row are two
 * chains of additions, the end of a sum, a root and two divisions are one more; those of other rows
 * fill the gaps (1,024 rows of 64: 27 instead of 52 us). All else are the reference's loops,
 * vectorised eight wide. */
#include "kernel/norm.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#define NORM_READ hg_lane_read_avx2
#define NORM_WRITE hg_lane_write_avx2
#define T float
#define NAME(stem) layernorm_avx2_##stem
#define SQRT hg_sqrt_f32
#include "kernel/layernorm_run.inc"

enum { LAYERNORM_ROWS = 4, LAYERNORM_VECTORS = HG_NORM_LANES / 8 };

/* Adds HG_NORM_LANES values to the lanes, or (x - mean)^2. */
HG_INLINE void layernorm_add(const bool squares, const float *x, float mean, __m256 *sum)
{
    HG_GEMM_UNROLL
    for (int i = 0; i < LAYERNORM_VECTORS; i++) {
        const __m256 v = _mm256_loadu_ps(x + (int64_t)8 * i);
        const __m256 d = _mm256_sub_ps(v, _mm256_set1_ps(mean));
        sum[i] = _mm256_add_ps(sum[i], squares ? _mm256_mul_ps(d, d) : v);
    }
}

/* The sums of neighbouring rows. */
HG_INLINE void layernorm_sums(const bool squares, const float *x, int64_t n, const float *mean,
                              float *total)
{
    __m256 sum[LAYERNORM_ROWS][LAYERNORM_VECTORS];
    float lane[LAYERNORM_ROWS][HG_NORM_LANES] = {{0}};
    for (int64_t i = 0; i < n;) {
        HG_GEMM_UNROLL
        for (int k = 0; k < LAYERNORM_ROWS * LAYERNORM_VECTORS; k++)
            sum[k / LAYERNORM_VECTORS][k % LAYERNORM_VECTORS] = _mm256_setzero_ps();
        for (const int64_t end = hg_min(n, i + layernorm_avx2_PIECE); i < end; i += HG_NORM_LANES) {
            HG_GEMM_UNROLL
            for (int r = 0; r < LAYERNORM_ROWS; r++)
                layernorm_add(squares, x + r * n + i, mean[r], sum[r]);
        }
        HG_GEMM_UNROLL
        for (int k = 0; k < LAYERNORM_ROWS * LAYERNORM_VECTORS; k++) {
            float *to = lane[k / LAYERNORM_VECTORS] + k % LAYERNORM_VECTORS * 8;
            _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to),
                                               sum[k / LAYERNORM_VECTORS][k % LAYERNORM_VECTORS]));
        }
    }
    for (int r = 0; r < LAYERNORM_ROWS; r++)
        total[r] = layernorm_avx2_tree(lane[r]);
}

/* y = ((x - mean) * inverse) * scale + bias, eight columns of neighbouring rows. */
HG_INLINE void layernorm_columns(const hg_norm *s, const float *x, float *y, int64_t i,
                                 const float *mean, const float *inverse)
{
    const float *scale = s->scale, *bias = s->bias;
    const __m256 factor = scale != NULL ? _mm256_loadu_ps(scale + i) : _mm256_setzero_ps();
    const __m256 offset = bias != NULL ? _mm256_loadu_ps(bias + i) : _mm256_setzero_ps();
    HG_GEMM_UNROLL
    for (int r = 0; r < LAYERNORM_ROWS; r++) {
        __m256 v = _mm256_loadu_ps(x + r * s->n + i);
        v = _mm256_mul_ps(_mm256_sub_ps(v, _mm256_set1_ps(mean[r])), _mm256_set1_ps(inverse[r]));
        if (scale != NULL) v = _mm256_mul_ps(v, factor);
        if (bias != NULL) v = _mm256_add_ps(v, offset);
        _mm256_storeu_ps(y + r * s->n + i, v);
    }
}

/* Rows from `row` on; input and output may be the same. */
static void layernorm_rows(const hg_norm *s, int64_t row)
{
    const float *x = (const float *)s->x->data + row * s->n;
    float *y = (float *)s->out[0].data + row * s->n;
    float mean[LAYERNORM_ROWS] = {0}, inverse[LAYERNORM_ROWS] = {0};
    if (!s->is_rms) layernorm_sums(false, x, s->n, mean, mean);
    for (int r = 0; r < LAYERNORM_ROWS; r++)
        mean[r] /= (float)s->n;
    layernorm_sums(true, x, s->n, mean, inverse);
    for (int r = 0; r < LAYERNORM_ROWS; r++)
        inverse[r] = layernorm_avx2_inverse(s, inverse[r]);
    for (int64_t i = 0; i < s->n; i += 8)
        layernorm_columns(s, x, y, i, mean, inverse);
}

static void layernorm_run_avx2(const hg_args *a, hg_range r)
{
    if (hg_dtype_is(a->in[0].dtype, HOLO_F64)) {
        hg_kernel_layernorm_run(a, r);
        return;
    }
    const hg_norm *s = hg_layernorm_init(a, r.scratch, NORM_READ);
    /* their sums need registers */
    const bool is_whole = HG_VEC8_REGISTERS >= 16 && s->is_native && s->n % HG_NORM_LANES == 0;
    for (; is_whole && a->n_out == 1 && r.begin + LAYERNORM_ROWS <= r.end;
         r.begin += LAYERNORM_ROWS)
        layernorm_rows(s, r.begin);
    if (r.begin < r.end) layernorm_avx2_run(a, r);
}

const hg_kernel hg_kernels_layernorm_avx2[] = {
    {
        .name = "layernorm",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_layernorm_check,
        .units = hg_kernel_layernorm_units,
        .scratch = hg_kernel_layernorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = layernorm_run_avx2,
    },
    {0},
};
