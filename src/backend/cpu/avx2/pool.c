/* pool.c - kernel "pool" on AVX2: largest and average of float32 pictures with channels last. All
 * taps of up to 32 channels of one output stay in registers; the order of the taps, and so the
 * bits, are the reference's. */
#include "kernel/pool.h"

#include "isa/lane_math.h"

#include "backend/cpu/vec8.h"

enum { POOL_WIDTH = 8, POOL_VECTORS = 4 };

/* The taps of one output: planes, rows and columns, channel 0. */
typedef struct pool_window {
    const float *x; /* the first tap inside */
    int64_t planes, rows, cols;
    int64_t plane_step, row_step, col_step; /* floats from one tap to the next */
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
    for (int64_t k = 0; k < w->planes; k++)
        for (int64_t i = 0; i < w->rows; i++) {
            const float *x = w->x + k * w->plane_step + i * w->row_step + c;
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
    for (int64_t i = 0; i < w->planes * w->rows; i++)
        for (int64_t j = 0; j < w->cols; j++) {
            const float x =
                w->x[i / w->rows * w->plane_step + i % w->rows * w->row_step + j * w->col_step + c];
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
    if (c < channels && channels >= POOL_WIDTH) { /* some of them again, which gives the same */
        pool_channels(1, largest, w, channels - POOL_WIDTH, y);
        return;
    }
    for (; c < channels; c++)
        pool_channel(largest, w, c, y);
}

/* Taps of output o that are inside along axis d; the place of the first. */
static int64_t pool_axis(const hg_pool_shape *s, int d, int64_t o, int64_t *first)
{
    int64_t begin, end;
    hg_pool_taps_inside(s, d, o, 0, s->in[d], &begin, &end);
    *first = o * s->stride[d] - s->pad_begin[d] + begin * s->dilation[d];
    return end - begin;
}

static void pool_row_avx2(const hg_args *a, const hg_pool_shape *s, int64_t unit)
{
    const int last = s->rank - 1, rows = last - 1; /* axes of columns and rows */
    const bool is_deep = s->rank == 3;
    const int64_t row = unit % s->rows % s->out[rows], plane = unit % s->rows / s->out[rows];
    const int64_t width = s->in[last], channels = s->inner;
    const float *x = (const float *)a->in[0].data + unit / s->rows * s->in_count * channels;
    float *y = (float *)a->out[0].data + unit * s->width * channels;
    const bool largest = s->mode == HG_POOL_MAX;
    double count = largest ? 0 : (double)hg_pool_axis_count(s, rows, row);
    if (is_deep && !largest) count *= (double)hg_pool_axis_count(s, 0, plane);
    int64_t first_plane = 0, first_row, first;
    const int64_t inside_planes = is_deep ? pool_axis(s, 0, plane, &first_plane) : 1;
    const int64_t inside_rows = pool_axis(s, rows, row, &first_row);
    pool_window w = {0};
    /* steps are inside the input where there is a second tap */
    if (is_deep && inside_planes > 1) w.plane_step = s->dilation[0] * s->in[1] * width * channels;
    if (inside_rows > 1) w.row_step = s->dilation[rows] * width * channels;
    for (int64_t o = 0; o < s->width; o++, y += channels) {
        w.cols = pool_axis(s, last, o, &first);
        const bool empty = inside_planes == 0 || inside_rows == 0 || w.cols == 0;
        w.planes = empty ? 0 : inside_planes;
        w.col_step = w.cols > 1 ? s->dilation[last] * channels : 0;
        w.rows = inside_rows;
        w.x = empty ? x : x + ((first_plane * s->in[rows] + first_row) * width + first) * channels;
        if (largest) {
            pool_output(true, &w, channels, y);
            continue;
        }
        const double n = count * (double)hg_pool_axis_count(s, last, o);
        w.divisor = (float)(n == 0 ? 1.0 : n);
        pool_output(false, &w, channels, y);
    }
}

/* What the reference takes, and: float32, two or three spatial axes, channels last, no indices. */
static holo_status pool_check_avx2(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_kernel_pool_check(a, e));
    HG_REQUIRE(e,
               a->in[0].dtype == HOLO_F32 &&
                   (a->param[HG_POOL_PARAM_SPATIAL] == 2 || a->param[HG_POOL_PARAM_SPATIAL] == 3) &&
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
