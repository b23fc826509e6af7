/* pool_planes.c - kernel "pool.planes" on AVX2: largest and average of float32 planes, whose rows
 * lie side by side (channels first), over one to three spatial axes.
 *
 * An input row is written once with its padding, elements that `stride` steps separate together, so
 * that each tap of eight neighbouring outputs is eight neighbours. Largest elements are found along
 * the rows first, then across them: of equal ones it is the reference's, the first of all. Sums
 * take the taps in the reference's order; padding adds 0. The bits are the reference's.
 *
 * The fast variant goes across the rows of a window first, as they lie in the input, and gives one
 * row its padding instead of each: of zeros of both signs it may take the other one, and sums err
 * by one rounding for each row and column of a window, not for each element. */
#include "kernel/pool.h"

#include "isa/lane_math.h"

#include "backend/cpu/avx2/part8.h"

enum { PLANES_WIDTH = 8, PLANES_BAND = 16, PLANES_AXES = 3, PLANES_TAPS = 64, PLANES_VECTORS = 4 };

/* Along one axis; axes that are missing have one element and one tap. */
typedef struct planes_axis {
    int64_t in, out, kernel, stride, pad, dilation;
} planes_axis;

typedef struct planes_shape {
    hg_pool_shape pool;
    planes_axis axis[PLANES_AXES]; /* depth, rows, columns */
    bool largest;
    int64_t width;            /* outputs of a row, in whole vectors */
    int64_t phase;            /* floats between the phases of a row with its padding */
    int64_t line;             /* floats of what is kept of an input row */
    int64_t lines;            /* input rows that a band needs at most, in each plane of depth */
    int64_t depths;           /* planes of depth that a window covers at most */
    int64_t tap[PLANES_TAPS]; /* where each of a row begins among the phases */
} planes_shape;

static int64_t planes_whole(int64_t n)
{
    return (n + PLANES_WIDTH - 1) / PLANES_WIDTH * PLANES_WIDTH;
}

/* Elements from the first to the last of the windows of `out` outputs. */
static int64_t planes_span(const planes_axis *x, int64_t out)
{
    return (out - 1) * x->stride + (x->kernel - 1) * x->dilation + 1;
}

static planes_shape planes_shape_of(const hg_args *a)
{
    planes_shape s = {.pool = hg_pool_shape_of(a)};
    const hg_pool_shape *p = &s.pool;
    for (int d = 0; d < PLANES_AXES; d++) {
        const int from = d - (PLANES_AXES - p->rank);
        s.axis[d] = from < 0
                        ? (planes_axis){1, 1, 1, 1, 0, 1}
                        : (planes_axis){p->in[from],     p->out[from],       p->kernel[from],
                                        p->stride[from], p->pad_begin[from], p->dilation[from]};
    }
    const planes_axis *row = &s.axis[1], *col = &s.axis[2];
    s.largest = p->mode == HG_POOL_MAX;
    s.width = planes_whole(col->out);
    s.phase = s.width + planes_whole((col->kernel - 1) * col->dilation / col->stride + 1);
    s.line = s.largest ? s.width : s.phase * col->stride;
    s.lines = hg_min(row->in, planes_span(row, hg_min(PLANES_BAND, row->out)));
    s.depths = hg_min(s.axis[0].in, s.axis[0].kernel);
    for (int64_t j = 0; j < hg_min(col->kernel, PLANES_TAPS); j++) {
        const int64_t at = j * col->dilation;
        s.tap[j] = at % col->stride * s.phase + at / col->stride;
    }
    return s;
}

/* ---- rows of the input ---------------------------------------------------------------------- */

static float planes_none(const planes_shape *s)
{
    return s->largest ? -(float)HG_INFINITY : 0.0F;
}

/* Elements that two steps separate to `even` and `odd`. */
static void planes_halve(const float *x, int64_t n, float *even, float *odd)
{
    int64_t i = 0;
    for (; i + 2 * PLANES_WIDTH <= n; i += 2 * PLANES_WIDTH) {
        const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + PLANES_WIDTH);
        const __m256d e = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
        const __m256d o = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
        _mm256_storeu_ps(even + i / 2, _mm256_castpd_ps(_mm256_permute4x64_pd(e, 0xd8)));
        _mm256_storeu_ps(odd + i / 2, _mm256_castpd_ps(_mm256_permute4x64_pd(o, 0xd8)));
    }
    for (; i < n; i++)
        (i % 2 == 0 ? even : odd)[i / 2] = x[i];
}

static void planes_fill(float *to, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i += PLANES_WIDTH)
        _mm256_storeu_ps(to + i, _mm256_set1_ps(value));
}

/* Places [begin, end) of a row with its padding hold an element and are read. */
static void planes_read(const planes_shape *s, int64_t *begin, int64_t *end)
{
    const planes_axis *c = &s->axis[2];
    *begin = hg_max(c->pad, 0);
    *end = hg_max(*begin, hg_min(c->in + c->pad, s->phase * c->stride));
}

/* phase[i % stride][i / stride] = x[i - begin], the padding is there. */
static void planes_spread(const planes_shape *s, const float *x, float *phase)
{
    const int64_t stride = s->axis[2].stride;
    int64_t begin, end;
    planes_read(s, &begin, &end);
    if (stride == 1) memcpy(phase + begin, x, (size_t)(end - begin) * sizeof *x);
    if (stride == 2)
        planes_halve(x, end - begin, phase + begin % 2 * s->phase + begin / 2,
                     phase + (begin + 1) % 2 * s->phase + (begin + 1) / 2);
    for (int64_t q = begin; stride > 2 && q < end; q++)
        phase[q % stride * s->phase + q / stride] = x[q - begin];
}

static bool planes_has_nan(const float *x, int64_t n)
{
    int64_t i = 0;
    __m256 odd = _mm256_setzero_ps();
    for (; i + PLANES_WIDTH <= n; i += PLANES_WIDTH) {
        const __m256 v = _mm256_loadu_ps(x + i);
        odd = _mm256_or_ps(odd, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
    if (i < n) {
        const __m256 v = hg_part8_load(x + i, n - i);
        odd = _mm256_or_ps(odd, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
    return _mm256_movemask_ps(odd) != 0;
}

/* The reference's choice: the new element where it is NaN or larger. */
HG_INLINE __m256 planes_larger(const bool has_nan, __m256 best, __m256 x)
{
    const __m256 larger = _mm256_max_ps(x, best); /* best where x is NaN or both are zero */
    if (!has_nan) return larger;
    return _mm256_blendv_ps(larger, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

/* The largest of each window along one row, some vectors of them. */
HG_INLINE void planes_row_vectors(const bool has_nan, const int vectors, const planes_shape *s,
                                  const float *phase, float *line)
{
    __m256 best[PLANES_VECTORS];
    for (int v = 0; v < vectors; v++)
        best[v] = _mm256_set1_ps(-(float)HG_INFINITY);
    for (int64_t j = 0; j < s->axis[2].kernel; j++)
        for (int v = 0; v < vectors; v++)
            best[v] = planes_larger(has_nan, best[v],
                                    _mm256_loadu_ps(phase + s->tap[j] + v * PLANES_WIDTH));
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(line + v * PLANES_WIDTH, best[v]);
}

HG_INLINE void planes_row_largest(const bool has_nan, const planes_shape *s, const float *phase,
                                  float *line)
{
    int64_t o = 0;
    for (; o + PLANES_VECTORS * PLANES_WIDTH <= s->width; o += PLANES_VECTORS * PLANES_WIDTH)
        planes_row_vectors(has_nan, PLANES_VECTORS, s, phase + o, line + o);
    for (; o < s->width; o += PLANES_WIDTH)
        planes_row_vectors(has_nan, 1, s, phase + o, line + o);
}

/* ---- a band of output rows ------------------------------------------------------------------- */

/* The rows that one output row reads: `count` of them from `first` on. */
typedef struct planes_taps {
    int64_t count, first;
    float lead; /* elements of the axis that count for an average */
} planes_taps;

typedef struct planes_band {
    const planes_shape *s;
    int64_t depth, depths; /* first plane of depth, and how many */
    int64_t top, bottom;   /* input rows */
    float lead;            /* elements along the depth that count for an average */
    bool has_nan;
    float *lines, *counts;
    const planes_taps *taps; /* of each output row */
} planes_band;

static void planes_load(planes_band *b, const float *x, float *phase)
{
    const planes_shape *s = b->s;
    const planes_axis *rows = &s->axis[1];
    float *line = b->lines;
    int64_t begin, end;
    planes_read(s, &begin, &end);
    for (int64_t d = 0; d < b->depths; d++)
        for (int64_t i = b->top; i < b->bottom; i++, line += s->line) {
            const int64_t depth = b->depth + d * s->axis[0].dilation;
            const float *row = x + (depth * rows->in + i) * s->axis[2].in + begin - s->axis[2].pad;
            if (begin < end) planes_spread(s, row, s->largest ? phase : line);
            if (!s->largest) continue;
            const bool has_nan = planes_has_nan(row, end - begin);
            if (has_nan)
                planes_row_largest(true, s, phase, line);
            else
                planes_row_largest(false, s, phase, line);
            b->has_nan = b->has_nan || has_nan;
        }
}

static void planes_put(float *y, int64_t o, int64_t count, __m256 v)
{
    if (o + PLANES_WIDTH <= count)
        _mm256_storeu_ps(y + o, v);
    else
        hg_part8_store(y + o, count - o, v);
}

HG_INLINE void planes_vectors(const int vectors, const bool largest, const bool has_nan,
                              const planes_band *b, const planes_taps *t, int64_t o, float *y)
{
    const planes_shape *s = b->s;
    const float *lines = b->lines + (t->count == 0 ? 0 : t->first - b->top) * s->line + o;
    const int64_t plane = (b->bottom - b->top) * s->line, step = s->axis[1].dilation * s->line;
    __m256 sum[PLANES_VECTORS];
    for (int v = 0; v < vectors; v++)
        sum[v] = _mm256_set1_ps(largest ? -(float)HG_INFINITY : 0.0F);
    for (int64_t d = 0; d < b->depths; d++) {
        const float *line = lines + d * plane;
        for (int64_t i = 0; i < t->count; i++, line += step) {
            for (int v = 0; largest && v < vectors; v++)
                sum[v] = planes_larger(has_nan, sum[v], _mm256_loadu_ps(line + v * PLANES_WIDTH));
            for (int64_t j = 0; !largest && j < s->axis[2].kernel; j++)
                for (int v = 0; v < vectors; v++)
                    sum[v] =
                        _mm256_add_ps(sum[v], _mm256_loadu_ps(line + s->tap[j] + v * PLANES_WIDTH));
        }
    }
    for (int v = 0; v < vectors; v++) {
        const int64_t at = o + v * PLANES_WIDTH;
        /* whole numbers, exact; nothing counts where a window has no element */
        const __m256 count =
            _mm256_mul_ps(_mm256_set1_ps(b->lead * t->lead), _mm256_loadu_ps(b->counts + at));
        if (!largest) sum[v] = _mm256_div_ps(sum[v], _mm256_max_ps(count, _mm256_set1_ps(1)));
        planes_put(y, at, s->axis[2].out, sum[v]);
    }
}

HG_INLINE void planes_row(const bool largest, const bool has_nan, const planes_band *b,
                          const planes_taps *t, float *y)
{
    int64_t o = 0;
    for (; o + PLANES_VECTORS * PLANES_WIDTH <= b->s->width; o += PLANES_VECTORS * PLANES_WIDTH)
        planes_vectors(PLANES_VECTORS, largest, has_nan, b, t, o, y);
    for (; o < b->s->width; o += PLANES_WIDTH)
        planes_vectors(1, largest, has_nan, b, t, o, y);
}

/* How many elements of each window count along the row. */
static void planes_counts(const planes_shape *s, float *count)
{
    for (int64_t o = 0; o < s->width; o++)
        count[o] =
            o < s->axis[2].out ? (float)hg_pool_axis_count(&s->pool, s->pool.rank - 1, o) : 1.0F;
}

/* The same along an axis before it. */
static float planes_lead(const planes_shape *s, int d, int64_t o)
{
    const int from = d - (PLANES_AXES - s->pool.rank);
    return from < 0 || s->largest ? 1.0F : (float)hg_pool_axis_count(&s->pool, from, o);
}

/* Taps of axis d (of the pool) that are inside for output o; the place of the first. */
static int64_t planes_inside(const planes_shape *s, int d, int64_t o, int64_t *first)
{
    const int from = d - (PLANES_AXES - s->pool.rank);
    *first = 0;
    if (from < 0) return 1;
    int64_t begin, end;
    hg_pool_taps_inside(&s->pool, from, o, 0, s->axis[d].in, &begin, &end);
    *first = o * s->axis[d].stride - s->axis[d].pad + begin * s->axis[d].dilation;
    return end - begin;
}

/* `rows` output rows of one plane of depth, from `row` on. */
static void planes_run_band(planes_band *b, const float *x, float *phase, int64_t depth,
                            int64_t row, int64_t rows, float *y)
{
    const planes_shape *s = b->s;
    const planes_axis *r = &s->axis[1];
    b->has_nan = false;
    b->depths = planes_inside(s, 0, depth, &b->depth);
    b->top = hg_max(0, row * r->stride - r->pad);
    b->bottom = hg_min(r->in, row * r->stride - r->pad + planes_span(r, rows));
    b->bottom = hg_max(b->top, b->bottom);
    planes_load(b, x, phase);
    b->lead = planes_lead(s, 0, depth);
    for (int64_t i = row; i < row + rows; i++, y += s->axis[2].out) {
        if (!s->largest)
            planes_row(false, false, b, &b->taps[i], y);
        else if (b->has_nan)
            planes_row(true, true, b, &b->taps[i], y);
        else
            planes_row(true, false, b, &b->taps[i], y);
    }
}

/* ---- across the rows first ------------------------------------------------------------------- */

/* Rows of a window, all of them inside. */
typedef struct planes_rows {
    const float *x;
    int64_t depths, rows, depth_step, row_step;
} planes_rows;

/* Elements [i, i + 8 * vectors) of one row that stands for all; whether there may be a NaN that was
 * lost: of the operands of max the second is the result. */
HG_INLINE bool planes_down_vectors(const int vectors, const bool largest, const bool has_nan,
                                   const planes_rows *w, int64_t i, float *to)
{
    __m256 sum[PLANES_VECTORS], odd = _mm256_setzero_ps();
    for (int v = 0; v < vectors; v++)
        sum[v] = _mm256_set1_ps(largest ? -(float)HG_INFINITY : 0.0F);
    for (int64_t d = 0; d < w->depths; d++)
        for (int64_t k = 0; k < w->rows; k++) {
            const float *x = w->x + d * w->depth_step + k * w->row_step + i;
            for (int v = 0; v < vectors; v++) {
                const __m256 tap = _mm256_loadu_ps(x + v * PLANES_WIDTH);
                if (largest && !has_nan)
                    odd = _mm256_or_ps(odd, _mm256_cmp_ps(tap, sum[v], _CMP_UNORD_Q));
                sum[v] = largest ? planes_larger(has_nan, sum[v], tap) : _mm256_add_ps(sum[v], tap);
            }
        }
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(to + i + v * PLANES_WIDTH, sum[v]);
    return largest && !has_nan && _mm256_movemask_ps(odd) != 0;
}

/* n elements, at least a vector of them. */
HG_INLINE bool planes_down(const bool largest, const bool has_nan, const planes_rows *w, int64_t n,
                           float *to)
{
    bool lost = false;
    int64_t i = 0;
    for (; i + PLANES_VECTORS * PLANES_WIDTH <= n; i += PLANES_VECTORS * PLANES_WIDTH)
        lost = planes_down_vectors(PLANES_VECTORS, largest, has_nan, w, i, to) || lost;
    for (; i < n; i += PLANES_WIDTH)
        lost = planes_down_vectors(1, largest, has_nan, w, hg_min(i, n - PLANES_WIDTH), to) || lost;
    return lost;
}

/* Outputs [o, o + 8 * vectors) of a row whose elements are spread. */
HG_INLINE void planes_across(const int vectors, const bool largest, const bool has_nan,
                             const planes_shape *s, const float *phase, const float *counts,
                             float lead, int64_t o, float *y)
{
    __m256 sum[PLANES_VECTORS];
    for (int v = 0; v < vectors; v++)
        sum[v] = _mm256_set1_ps(largest ? -(float)HG_INFINITY : 0.0F);
    for (int64_t j = 0; j < s->axis[2].kernel; j++)
        for (int v = 0; v < vectors; v++) {
            const __m256 tap = _mm256_loadu_ps(phase + s->tap[j] + o + v * PLANES_WIDTH);
            sum[v] = largest ? planes_larger(has_nan, sum[v], tap) : _mm256_add_ps(sum[v], tap);
        }
    for (int v = 0; v < vectors; v++) {
        const int64_t at = o + v * PLANES_WIDTH;
        const __m256 count = _mm256_mul_ps(_mm256_set1_ps(lead), _mm256_loadu_ps(counts + at));
        if (!largest) sum[v] = _mm256_div_ps(sum[v], _mm256_max_ps(count, _mm256_set1_ps(1)));
        planes_put(y, at, s->axis[2].out, sum[v]);
    }
}

HG_INLINE void planes_across_row(const bool largest, const bool has_nan, const planes_shape *s,
                                 const float *phase, const float *counts, float lead, float *y)
{
    int64_t o = 0;
    for (; o + PLANES_VECTORS * PLANES_WIDTH <= s->width; o += PLANES_VECTORS * PLANES_WIDTH)
        planes_across(PLANES_VECTORS, largest, has_nan, s, phase, counts, lead, o, y);
    for (; o < s->width; o += PLANES_WIDTH)
        planes_across(1, largest, has_nan, s, phase, counts, lead, o, y);
}

/* An output row. `row` has room for n elements and is not read where they are the spread row. */
static void planes_fast_row(const planes_shape *s, const planes_rows *w, int64_t n, float *row,
                            float *phase, const float *counts, float lead, float *y)
{
    if (!s->largest) (void)planes_down(false, false, w, n, row);
    const bool has_nan = s->largest && planes_down(true, false, w, n, row);
    if (has_nan) (void)planes_down(true, true, w, n, row);
    if (s->axis[2].stride != 1) planes_spread(s, row, phase);
    if (!s->largest)
        planes_across_row(false, false, s, phase, counts, lead, y);
    else if (has_nan)
        planes_across_row(true, true, s, phase, counts, lead, y);
    else
        planes_across_row(true, false, s, phase, counts, lead, y);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* What the reference takes, and: float32, one to three spatial axes, channels first, no indices,
 * windows that are not much wider than a row. */
static holo_status planes_check(const hg_args *a, holo_error *e)
{
    enum { PLANES_MOST = 1 << 20 };
    HG_TRY(hg_kernel_pool_check(a, e));
    const hg_pool_shape p = hg_pool_shape_of(a);
    const int c = p.rank - 1;
    bool fits = a->in[0].dtype == HOLO_F32 && p.rank <= PLANES_AXES && p.mode != HG_POOL_LP &&
                a->param[HG_POOL_PARAM_LAYOUT] == HG_POOL_NCHW &&
                (a->n_out == 1 || a->out[1].dtype == HOLO_NONE);
    int64_t taps = 1; /* of a window: a whole number that a float can be */
    for (int d = 0; fits && d < p.rank; d++) {
        taps *= p.kernel[d];
        fits = taps < 1 << 24 && p.kernel[d] <= PLANES_MOST && p.dilation[d] <= PLANES_MOST &&
               p.stride[d] <= PLANES_MOST && p.in[d] <= PLANES_MOST && p.out[d] <= PLANES_MOST;
    }
    fits = fits && p.kernel[c] <= PLANES_TAPS &&
           (p.out[c] - 1) * p.stride[c] + p.kernel[c] * p.dilation[c] <= 4 * p.in[c] + 64;
    HG_REQUIRE(e, fits, HOLO_E_UNSUPPORTED, "not tuned for this");
    return HOLO_OK;
}

static size_t planes_scratch(const hg_args *a)
{
    const planes_shape s = planes_shape_of(a);
    const int64_t floats =
        s.phase * s.axis[2].stride + s.width + s.depths * hg_max(s.lines, 0) * s.line;
    return (size_t)s.axis[1].out * sizeof(planes_taps) + (size_t)floats * sizeof(float);
}

/* Of all output rows. */
static void planes_find_taps(const planes_shape *s, planes_taps *taps)
{
    for (int64_t i = 0; i < s->axis[1].out; i++) {
        taps[i].count = planes_inside(s, 1, i, &taps[i].first);
        taps[i].lead = planes_lead(s, 1, i);
    }
}

static void planes_run(const hg_args *a, hg_range r)
{
    const planes_shape s = planes_shape_of(a);
    const int64_t out_rows = s.axis[1].out, out_cols = s.axis[2].out;
    planes_taps *taps = r.scratch;
    float *phase = (float *)(void *)(taps + out_rows);
    float *counts = phase + s.phase * s.axis[2].stride;
    planes_band band = {.s = &s, .counts = counts, .lines = counts + s.width, .taps = taps};
    if (r.begin >= r.end) return;
    planes_fill(phase, s.phase * s.axis[2].stride, planes_none(&s));
    planes_counts(&s, counts);
    planes_find_taps(&s, taps);
    if (!s.largest) planes_fill(band.lines, s.depths * s.lines * s.line, 0.0F);
    for (int64_t u = r.begin, n; u < r.end; u += n) {
        const int64_t row = u % out_rows;
        n = hg_min(PLANES_BAND, hg_min(out_rows - row, r.end - u));
        planes_run_band(&band, (const float *)a->in[0].data + u / s.pool.rows * s.pool.in_count,
                        phase, u % s.pool.rows / out_rows, row, n,
                        (float *)a->out[0].data + u * out_cols);
    }
}

static size_t planes_fast_scratch(const hg_args *a)
{
    const planes_shape s = planes_shape_of(a);
    const int64_t floats = s.phase * s.axis[2].stride + s.width + s.axis[2].in;
    const size_t bytes =
        (size_t)s.axis[1].out * sizeof(planes_taps) + (size_t)floats * sizeof(float);
    const size_t other = planes_scratch(a); /* for what planes_run does */
    return bytes > other ? bytes : other;
}

static void planes_fast_run(const hg_args *a, hg_range r)
{
    const planes_shape s = planes_shape_of(a);
    const planes_axis *row = &s.axis[1], *col = &s.axis[2];
    int64_t begin, end;
    planes_read(&s, &begin, &end);
    if (r.begin >= r.end) return;
    /* of two rows averages are faster as they were: 37 us, not 42 (bench/zoo op_averagepool_two) */
    const bool is_low = !s.largest && s.axis[0].kernel * row->kernel <= 2;
    if (end - begin < PLANES_WIDTH || is_low) {
        planes_run(a, r);
        return;
    }
    planes_taps *taps = r.scratch;
    float *phase = (float *)(void *)(taps + row->out), *counts = phase + s.phase * col->stride;
    float *line = col->stride == 1 ? phase + begin : counts + s.width;
    planes_fill(phase, s.phase * col->stride, planes_none(&s));
    planes_counts(&s, counts);
    planes_find_taps(&s, taps);
    float *y = (float *)a->out[0].data + r.begin * col->out;
    for (int64_t u = r.begin, n; u < r.end; u += n) {
        const int64_t first = u % row->out, depth = u % s.pool.rows / row->out;
        int64_t deep;
        planes_rows w = {.depths = planes_inside(&s, 0, depth, &deep),
                         .depth_step = s.axis[0].dilation * row->in * col->in,
                         .row_step = row->dilation * col->in};
        const float lead = planes_lead(&s, 0, depth);
        const float *x = (const float *)a->in[0].data + u / s.pool.rows * s.pool.in_count +
                         (w.depths == 0 ? 0 : deep * row->in * col->in) + begin - col->pad;
        n = hg_min(row->out - first, r.end - u);
        for (int64_t i = first; i < first + n; i++, y += col->out) {
            w.rows = taps[i].count;
            w.x = x + (w.rows == 0 ? 0 : taps[i].first * col->in);
            planes_fast_row(&s, &w, end - begin, line, phase, counts, lead * taps[i].lead, y);
        }
    }
}

const hg_kernel hg_kernels_pool_planes_avx2[] = {
    {.name = "pool.planes",
     .cpu = HG_CPU_AVX2,
     .check = planes_check,
     .units = hg_kernel_pool_units,
     .scratch = planes_scratch,
     .cost = hg_kernel_pool_cost,
     .run = planes_run},
    {.name = "pool.planes",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = planes_check,
     .units = hg_kernel_pool_units,
     .scratch = planes_fast_scratch,
     .cost = hg_kernel_pool_cost,
     .run = planes_fast_run},
    {0},
};
