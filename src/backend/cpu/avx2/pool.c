/* pool.c - kernel "pool" on AVX2: largest and average of float32 pictures. With channels last, up
 * to 32 channels of one output stay in registers over all taps. With one channel, or few of them
 * and stride 1, neighbours of a row do instead: those whose windows lie inside. The order of the
 * taps, and so the bits, are the reference's.
 *
 * Fast averages whose windows overlap add the rows of a window first, once for all windows of an
 * output row, then its columns: kh + kw additions instead of kh * kw. Error bound: kh + kw
 * roundings of the sum of magnitudes, where one sum has kh * kw. */
#include "kernel/pool.h"

#include "isa/lane_math.h"
#include "kernel/conv.h"

#include "backend/cpu/vec8.h"

enum { POOL_WIDTH = 8, POOL_VECTORS = 4, POOL_EDGE = 2048 /* floats of copied windows */ };

/* gcc keeps arrays of sums in memory unless their loops are unrolled early. */
#if defined(__clang__)
#define POOL_UNROLL
#else
#define POOL_UNROLL _Pragma("GCC unroll 4")
#endif

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

/* Elements [c, c + 8 * vectors) of y: channels of one output, or neighbours of a row. */
HG_INLINE void pool_channels(const int vectors, const bool largest, const pool_window *w, int64_t c,
                             float *y)
{
    __m256 sum[POOL_VECTORS];
    POOL_UNROLL
    for (int v = 0; v < vectors; v++)
        sum[v] = _mm256_set1_ps(largest ? -(float)HG_INFINITY : 0.0F);
    for (int64_t k = 0; k < w->planes; k++)
        for (int64_t i = 0; i < w->rows; i++) {
            const float *x = w->x + k * w->plane_step + i * w->row_step + c;
            for (int64_t j = 0; j < w->cols; j++, x += w->col_step) {
                POOL_UNROLL
                for (int v = 0; v < vectors; v++) {
                    const __m256 tap = _mm256_loadu_ps(x + v * POOL_WIDTH);
                    sum[v] = largest ? pool_larger(sum[v], tap) : _mm256_add_ps(sum[v], tap);
                }
            }
        }
    POOL_UNROLL
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

HG_INLINE void pool_elements(const bool largest, const pool_window *w, int64_t count, float *y)
{
    int64_t c = 0;
    for (; c + POOL_VECTORS * POOL_WIDTH <= count; c += POOL_VECTORS * POOL_WIDTH)
        pool_channels(POOL_VECTORS, largest, w, c, y);
    for (; c < count && count >= POOL_WIDTH; c += POOL_WIDTH) /* some again: it gives the same */
        pool_channels(1, largest, w, hg_min(c, count - POOL_WIDTH), y);
    for (; c < count; c++)
        pool_channel(largest, w, c, y);
}

/* Eight floats, `step` apart. */
HG_INLINE __m256 pool_load(const float *x, int64_t step)
{
    if (step == 2) return hg_vec8_evens(x);
    float each[POOL_WIDTH];
    for (int i = 0; i < POOL_WIDTH; i++)
        each[i] = x[i * step];
    return _mm256_loadu_ps(each);
}

/* What the window gives where it is moved along the row by `step`, eight times. */
static void pool_moved(const bool largest, const pool_window *w, int64_t step, float *y)
{
    __m256 sum = _mm256_set1_ps(largest ? -(float)HG_INFINITY : 0.0F);
    for (int64_t k = 0; k < w->planes; k++)
        for (int64_t i = 0; i < w->rows; i++) {
            const float *x = w->x + k * w->plane_step + i * w->row_step;
            for (int64_t j = 0; j < w->cols; j++, x += w->col_step) {
                const __m256 tap = pool_load(x, step);
                sum = largest ? pool_larger(sum, tap) : _mm256_add_ps(sum, tap);
            }
        }
    if (!largest) sum = _mm256_div_ps(sum, _mm256_set1_ps(w->divisor));
    _mm256_storeu_ps(y, sum);
}

/* `count` elements of y: channels, or outputs for which the window is moved by `step`. */
static void pool_output(const bool largest, const pool_window *w, int64_t count, int64_t step,
                        float *y)
{
    if (step == 1 && largest) {
        pool_elements(true, w, count, y);
    } else if (step == 1) {
        pool_elements(false, w, count, y);
    } else {
        pool_window moved = *w;
        for (int64_t i = 0; i < count; i += count < POOL_WIDTH ? 1 : POOL_WIDTH) {
            if (count >= POOL_WIDTH) i = hg_min(i, count - POOL_WIDTH); /* some of them again */
            moved.x = w->x + i * step;
            if (count >= POOL_WIDTH)
                pool_moved(largest, &moved, step, y + i);
            else
                pool_channel(largest, &moved, 0, y + i);
        }
    }
}

/* Taps of output o that are inside along axis d; the place of the first. */
static int64_t pool_axis(const hg_pool_shape *s, int d, int64_t o, int64_t *first)
{
    int64_t begin, end;
    hg_pool_taps_inside(s, d, o, 0, s->in[d], &begin, &end);
    *first = o * s->stride[d] - s->pad_begin[d] + begin * s->dilation[d];
    return end - begin;
}

/* An output row: its taps along the other axes. */
typedef struct pool_line {
    const float *x; /* of the first row inside */
    float *y;
    pool_window w;
    bool is_empty;
    double count; /* of elements along the other axes, for averages */
} pool_line;

static void pool_find_line(const hg_args *a, const hg_pool_shape *s, int64_t unit, pool_line *l)
{
    const int last = s->rank - 1, rows = last - 1; /* axes of columns and rows */
    const bool is_deep = s->rank == 3;
    const int64_t row = unit % s->rows % s->out[rows], plane = unit % s->rows / s->out[rows];
    const int64_t width = s->in[last], channels = s->inner;
    const float *x = (const float *)a->in[0].data + unit / s->rows * s->in_count * channels;
    int64_t first_plane = 0, first_row;
    *l = (pool_line){.y = (float *)a->out[0].data + unit * s->width * channels, .count = 1};
    l->w.planes = is_deep ? pool_axis(s, 0, plane, &first_plane) : 1;
    l->w.rows = pool_axis(s, rows, row, &first_row);
    l->is_empty = l->w.planes == 0 || l->w.rows == 0;
    l->x = l->is_empty ? x : x + (first_plane * s->in[rows] + first_row) * width * channels;
    /* steps are inside the input where there is a second tap */
    if (is_deep && l->w.planes > 1) l->w.plane_step = s->dilation[0] * s->in[1] * width * channels;
    if (l->w.rows > 1) l->w.row_step = s->dilation[rows] * width * channels;
    if (s->mode == HG_POOL_MAX) return;
    l->count = (double)hg_pool_axis_count(s, rows, row);
    if (is_deep) l->count *= (double)hg_pool_axis_count(s, 0, plane);
}

static float pool_divisor(const hg_pool_shape *s, const pool_line *l, int64_t o)
{
    if (s->mode == HG_POOL_MAX) return 1;
    const double n = l->count * (double)hg_pool_axis_count(s, s->rank - 1, o);
    return (float)(n == 0 ? 1.0 : n);
}

/* Outputs [o, o + count) of a line. Several: they have all their columns inside, and their elements
 * are neighbours in the input too, or `step` apart. */
static void pool_run_line(const hg_pool_shape *s, const pool_line *l, int64_t o, int64_t count,
                          int64_t step)
{
    const int last = s->rank - 1;
    pool_window w = l->w;
    int64_t first;
    w.cols = pool_axis(s, last, o, &first);
    if (l->is_empty || w.cols == 0) w.planes = first = 0;
    w.col_step = w.cols > 1 ? s->dilation[last] * s->inner : 0;
    w.x = l->x + first * s->inner;
    w.divisor = pool_divisor(s, l, o);
    pool_output(s->mode == HG_POOL_MAX, &w, count * s->inner, step, l->y + o * s->inner);
}

/* Outputs [o, o + count), at most eight, of one channel, whose windows lie partly outside: windows
 * are copied, with what changes nothing around. False: they are too large. */
static bool pool_run_edge(const hg_pool_shape *s, const pool_line *l, int64_t o, int64_t count)
{
    const int last = s->rank - 1;
    const bool largest = s->mode == HG_POOL_MAX;
    const int64_t stride = s->stride[last], lines = l->w.planes * l->w.rows;
    const int64_t width = (POOL_WIDTH - 1) * stride + (s->kernel[last] - 1) * s->dilation[last] + 1;
    if (s->inner != 1 || l->is_empty || width > POOL_EDGE / lines) return false;
    float copy[POOL_EDGE], y[POOL_WIDTH];
    const int64_t first = o * stride - s->pad_begin[last]; /* column of the first copied */
    for (int64_t i = 0; i < lines; i++) {
        const float *x = l->x + i / l->w.rows * l->w.plane_step + i % l->w.rows * l->w.row_step;
        for (int64_t j = 0; j < width; j++)
            copy[i * width + j] = first + j >= 0 && first + j < s->in[last] ? x[first + j]
                                  : largest                                 ? -(float)HG_INFINITY
                                                                            : 0.0F;
    }
    const pool_window w = {.x = copy,
                           .planes = 1,
                           .rows = lines,
                           .cols = s->kernel[last],
                           .row_step = width,
                           .col_step = s->dilation[last],
                           .divisor = 1};
    pool_output(largest, &w, POOL_WIDTH, stride, y);
    for (int64_t i = 0; i < count; i++)
        l->y[o + i] = y[i] / pool_divisor(s, l, o + i);
    return true;
}

/* Outputs [o, end) at an edge. */
static void pool_run_edges(const hg_pool_shape *s, const pool_line *l, int64_t o, int64_t end)
{
    while (o < end) {
        const int64_t count = hg_min(POOL_WIDTH, end - o);
        if (pool_run_edge(s, l, o, count)) {
            o += count;
            continue;
        }
        pool_run_line(s, l, o++, 1, 1);
    }
}

/* Whether averages take less with sums of rows: loads and stores of an output row are counted. */
static bool pool_adds_rows(const hg_pool_shape *s)
{
    const int last = s->rank - 1;
    double rows = 1;
    for (int d = 0; d < last; d++)
        rows *= (double)hg_min(s->kernel[d], s->in[d]);
    const double taps = (double)s->width * (double)hg_min(s->kernel[last], s->in[last]);
    return s->mode != HG_POOL_MAX && taps * rows > (double)s->in[last] * (rows + 1) + taps;
}

/* Elements [i, i + 8 * vectors) of all rows of the window, added. */
HG_INLINE void pool_add_vectors(const int vectors, const pool_line *l, int64_t i, float *to)
{
    __m256 sum[POOL_VECTORS];
    POOL_UNROLL
    for (int v = 0; v < vectors; v++)
        sum[v] = _mm256_setzero_ps();
    for (int64_t k = 0; k < l->w.planes; k++) {
        const float *x = l->x + k * l->w.plane_step + i;
        for (int64_t j = 0; j < l->w.rows; j++, x += l->w.row_step) {
            POOL_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[v] = _mm256_add_ps(sum[v], _mm256_loadu_ps(x + v * POOL_WIDTH));
        }
    }
    POOL_UNROLL
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(to + i + v * POOL_WIDTH, sum[v]);
}

/* The rows of the window become one: `to`, with n elements, at least a vector. */
static void pool_add_rows(pool_line *l, int64_t n, float *to)
{
    int64_t i = 0;
    for (; i + POOL_VECTORS * POOL_WIDTH <= n; i += POOL_VECTORS * POOL_WIDTH)
        pool_add_vectors(POOL_VECTORS, l, i, to);
    for (; i < n; i += POOL_WIDTH)
        pool_add_vectors(1, l, hg_min(i, n - POOL_WIDTH), to);
    l->x = to;
    l->w.planes = l->w.rows = 1;
    l->w.plane_step = l->w.row_step = 0;
}

/* An output row; `sums` has room for the elements of an input row, or is NULL. */
static void pool_row_avx2(const hg_args *a, const hg_pool_shape *s, int64_t unit, float *sums)
{
    const int last = s->rank - 1;
    const int64_t stride = s->stride[last], reach = (s->kernel[last] - 1) * s->dilation[last];
    int64_t begin, end, unused;
    pool_line line;
    pool_find_line(a, s, unit, &line);
    const int64_t n = s->in[last] * s->inner;
    if (sums != NULL && !line.is_empty && n >= POOL_WIDTH) pool_add_rows(&line, n, sums);
    hg_conv_inside(s->in[last], s->width, stride, s->pad_begin[last], 0, &begin, &unused);
    hg_conv_inside(s->in[last], s->width, stride, s->pad_begin[last], reach, &unused, &end);
    if (s->inner >= POOL_WIDTH || (s->inner > 1 && stride > 1) || line.is_empty || begin >= end)
        begin = end = s->width; /* one by one */
    pool_run_edges(s, &line, 0, begin);
    if (begin < end) pool_run_line(s, &line, begin, end - begin, s->inner == 1 ? stride : 1);
    pool_run_edges(s, &line, end, s->width);
}

/* What the reference takes, and: float32, two or three spatial axes, no indices. */
static holo_status pool_check_avx2(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_kernel_pool_check(a, e));
    HG_REQUIRE(e,
               a->in[0].dtype == HOLO_F32 &&
                   (a->param[HG_POOL_PARAM_SPATIAL] == 2 || a->param[HG_POOL_PARAM_SPATIAL] == 3) &&
                   (a->n_out == 1 || a->out[1].dtype == HOLO_NONE) &&
                   a->param[HG_POOL_PARAM_MODE] != HG_POOL_LP,
               HOLO_E_UNSUPPORTED, "not tuned for this");
    return HOLO_OK;
}

static void pool_run_avx2(const hg_args *a, hg_range r)
{
    const hg_pool_shape s = hg_pool_shape_of(a);
    for (int64_t u = r.begin; u < r.end; u++)
        pool_row_avx2(a, &s, u, NULL);
}

static size_t pool_fast_scratch(const hg_args *a)
{
    const hg_pool_shape s = hg_pool_shape_of(a);
    return pool_adds_rows(&s) ? (size_t)(s.in[s.rank - 1] * s.inner) * sizeof(float) : 0;
}

static void pool_run_fast(const hg_args *a, hg_range r)
{
    const hg_pool_shape s = hg_pool_shape_of(a);
    float *sums = pool_adds_rows(&s) ? r.scratch : NULL;
    for (int64_t u = r.begin; u < r.end; u++)
        pool_row_avx2(a, &s, u, sums);
}

const hg_kernel hg_kernels_pool_avx2[] = {
    {.name = "pool",
     .cpu = HG_CPU_AVX2,
     .check = pool_check_avx2,
     .units = hg_kernel_pool_units,
     .cost = hg_kernel_pool_cost,
     .run = pool_run_avx2},
    {.name = "pool",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = pool_check_avx2,
     .units = hg_kernel_pool_units,
     .scratch = pool_fast_scratch,
     .cost = hg_kernel_pool_cost,
     .run = pool_run_fast},
    {0},
};
