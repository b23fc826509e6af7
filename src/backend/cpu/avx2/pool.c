/* pool.c - kernel "pool" on AVX2: largest and average of float32 pictures with channels last. All
 * taps of up to 32 channels of one output stay in registers; the order of the taps, and so the
 * bits, are the reference's. */
#include "kernel/pool.h"

#include "isa/lane_math.h"

#include "backend/cpu/vec8.h"

enum { POOL_WIDTH = 8, POOL_VECTORS = 4 };

/* The taps of one output: rows and columns of the picture, channel 0. */
typedef struct pool_window {
    const float *x; /* the first tap inside */
    int64_t rows, cols;
    int64_t row_step, col_step; /* floats from one tap to the next */
    float divisor;
} pool_window;

/* The reference's choice: the new element where it is NaN or larger. */
HG_INLINE __m256 pool_larger(__m256 best, __m256 x)
{
    const __m256 larger = _mm256_max_ps(x, best); /* best where x is NaN or both are zero */
    return _mm256_blendv_ps(larger, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

/* Channels [c, c + 8 * vectors) of one output. */
HG_INLINE void pool_channels(const int vectors, const bool largest, const pool_window *w, int64_t c,
                             float *y)
{
    __m256 sum[POOL_VECTORS];
    for (int v = 0; v < vectors; v++)
        sum[v] = _mm256_set1_ps(largest ? -(float)HG_INFINITY : 0.0F);
    for (int64_t i = 0; i < w->rows; i++) {
        const float *x = w->x + i * w->row_step + c;
        for (int64_t j = 0; j < w->cols; j++, x += w->col_step)
            for (int v = 0; v < vectors; v++) {
                const __m256 tap = _mm256_loadu_ps(x + v * POOL_WIDTH);
                sum[v] = largest ? pool_larger(sum[v], tap) : _mm256_add_ps(sum[v], tap);
            }
    }
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(y + c + v * POOL_WIDTH,
                         largest ? sum[v] : _mm256_div_ps(sum[v], _mm256_set1_ps(w->divisor)));
}

static void pool_channel(const bool largest, const pool_window *w, int64_t c, float *y)
{
    float sum = largest ? -(float)HG_INFINITY : 0.0F;
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t j = 0; j < w->cols; j++) {
            const float x = w->x[i * w->row_step + j * w->col_step + c];
            sum = !largest ? sum + x : x != x || x > sum ? x : sum;
        }
    y[c] = largest ? sum : sum / w->divisor;
}

HG_INLINE void pool_output(const bool largest, const pool_window *w, int64_t channels, float *y)
{
    int64_t c = 0;
    for (; c + POOL_VECTORS * POOL_WIDTH <= channels; c += POOL_VECTORS * POOL_WIDTH)
        pool_channels(POOL_VECTORS, largest, w, c, y);
    for (; c + POOL_WIDTH <= channels; c += POOL_WIDTH)
        pool_channels(1, largest, w, c, y);
    for (; c < channels; c++)
        pool_channel(largest, w, c, y);
}

static void pool_row_avx2(const hg_args *a, const hg_pool_shape *s, int64_t unit)
{
    const int64_t row = unit % s->rows, width = s->in[1], channels = s->inner;
    const float *x = (const float *)a->in[0].data + unit / s->rows * s->in_count * channels;
    float *y = (float *)a->out[0].data + unit * s->width * channels;
    const bool largest = s->mode == HG_POOL_MAX;
    const int64_t row_count = largest ? 0 : hg_pool_axis_count(s, 0, row);
    pool_window w = {.row_step = s->dilation[0] * width * channels,
                     .col_step = s->dilation[1] * channels};
    int64_t top, bottom, left, right;
    hg_pool_taps_inside(s, 0, row, 0, s->in[0], &top, &bottom);
    const int64_t first_row = row * s->stride[0] - s->pad_begin[0] + top * s->dilation[0];
    for (int64_t o = 0; o < s->width; o++, y += channels) {
        hg_pool_taps_inside(s, 1, o, 0, width, &left, &right);
        const int64_t first = o * s->stride[1] - s->pad_begin[1] + left * s->dilation[1];
        const bool empty = top == bottom || left == right;
        w.rows = empty ? 0 : bottom - top;
        w.cols = right - left;
        w.x = empty ? x : x + (first_row * width + first) * channels;
        if (largest) {
            pool_output(true, &w, channels, y);
            continue;
        }
        const int64_t n = row_count * hg_pool_axis_count(s, 1, o);
        w.divisor = (float)(n == 0 ? 1.0 : (double)n);
        pool_output(false, &w, channels, y);
    }
}

/* What the reference takes, and: float32, two spatial axes, channels last, no indices. */
static holo_status pool_check_avx2(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_kernel_pool_check(a, e));
    HG_REQUIRE(e,
               a->in[0].dtype == HOLO_F32 && a->param[HG_POOL_PARAM_SPATIAL] == 2 &&
                   a->param[HG_POOL_PARAM_LAYOUT] == HG_POOL_NHWC &&
                   a->param[HG_POOL_PARAM_MODE] != HG_POOL_LP,
               HOLO_E_UNSUPPORTED, "not tuned for this");
    return HOLO_OK;
}

static void pool_run_avx2(const hg_args *a, hg_range r)
{
    const hg_pool_shape s = hg_pool_shape_of(a);
    for (int64_t u = r.begin; u < r.end; u++)
        pool_row_avx2(a, &s, u);
}

const hg_kernel hg_kernels_pool_avx2[] = {
    {.name = "pool",
     .cpu = HG_CPU_AVX2,
     .check = pool_check_avx2,
     .units = hg_kernel_pool_units,
     .cost = hg_kernel_pool_cost,
     .run = pool_run_avx2},
    {0},
};
