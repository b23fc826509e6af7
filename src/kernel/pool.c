/* pool.c - pool, pool.planes: largest, average or p-norm of sliding windows, over any number of
 * spatial axes.
 *
 *   in[0]  X [N, C, spatial...] (layout 0) or [N, spatial..., C] (layout 1)
 *   param  see pool.h
 *   out[0] Y, as X with the spatial sizes of the output
 *   out[1] may be absent; layout 0 and largest only: i64, flat index of the largest element in X
 *
 * f32, f64, f16, bf16, computed in f32 or f64; largest also takes i8 and u8. Per output the taps
 * are visited in the order (kernel...), those outside the input skipped, so vector width and
 * threads do not change the answer. NaN wins over every number. The largest of no elements is the
 * smallest number (minus infinity), the average of none is 0. Of equal elements the first is
 * reported. */
#include "kernel/pool.h"

#include "isa/lane_io.h"
#include "isa/lane_math.h"
#include "kernel/conv.h"
#include "kernel/number.h"

#define POOL_BYTE_TYPES (HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8))

enum { POOL_LIMIT = INT32_MAX, POOL_MAX_SPATIAL = HG_MAX_RANK - 2 };

static holo_status pool_check_axis(const hg_args *a, holo_error *e, int64_t out, uint32_t at,
                                   uint32_t step)
{
    HG_TRY(hg_check_param(a, e, at, "kernel", 1, POOL_LIMIT));
    HG_TRY(hg_check_param(a, e, at + step, "stride", 1, POOL_LIMIT));
    HG_TRY(hg_check_param(a, e, at + 2 * step, "padding", -POOL_LIMIT, POOL_LIMIT));
    HG_TRY(hg_check_param(a, e, at + 3 * step, "padding", -POOL_LIMIT, POOL_LIMIT));
    HG_TRY(hg_check_param(a, e, at + 4 * step, "dilation", 1, POOL_LIMIT));
    /* out * stride + kernel * dilation + padding stays below 2^62 + 2^62 + 2^31 */
    HG_REQUIRE(e, out <= INT64_MAX / 2 / a->param[at + step], HOLO_E_SHAPE,
               "an output of %lld with stride %lld is too large", (long long)out,
               (long long)a->param[at + step]);
    return HOLO_OK;
}

static holo_status pool_check_indices(const hg_args *a, holo_error *e)
{
    if (a->n_out < 2 || a->out[1].dtype == HOLO_NONE) return HOLO_OK;
    HG_TRY(hg_check_out_type(a, e, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_same_shape(&a->out[1], &a->out[0], e, "indices"));
    HG_REQUIRE(e, a->param[HG_POOL_PARAM_MODE] == HG_POOL_MAX, HOLO_E_FORMAT,
               "mode %lld has no indices", (long long)a->param[HG_POOL_PARAM_MODE]);
    HG_REQUIRE(e, a->param[HG_POOL_PARAM_LAYOUT] == HG_POOL_NCHW, HOLO_E_FORMAT,
               "layout %lld has no indices", (long long)a->param[HG_POOL_PARAM_LAYOUT]);
    return HOLO_OK;
}

holo_status hg_kernel_pool_check(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_in == 1, HOLO_E_FORMAT, "%u inputs, expected 1", a->n_in);
    HG_REQUIRE(e, a->n_out == 1 || a->n_out == 2, HOLO_E_FORMAT, "%u outputs, expected 1 or 2",
               a->n_out);
    HG_TRY(hg_check_param(a, e, HG_POOL_PARAM_MODE, "mode", HG_POOL_MAX, HG_POOL_LP));
    HG_TRY(hg_check_param(a, e, HG_POOL_PARAM_LAYOUT, "layout", HG_POOL_NCHW, HG_POOL_NHWC));
    HG_TRY(
        hg_check_param(a, e, HG_POOL_PARAM_SPATIAL, "number of spatial axes", 1, POOL_MAX_SPATIAL));
    HG_TRY(hg_check_param(a, e, HG_POOL_PARAM_P, "p", 1, POOL_LIMIT));
    HG_TRY(hg_check_param(a, e, HG_POOL_PARAM_ORDER, "storage order", 0, 1));
    const uint32_t rank = (uint32_t)a->param[HG_POOL_PARAM_SPATIAL];
    HG_REQUIRE(e, a->n_param == HG_POOL_PARAM_LISTS + 5 * rank, HOLO_E_FORMAT,
               "%u parameters, expected %u", a->n_param, HG_POOL_PARAM_LISTS + 5 * rank);
    const bool largest = a->param[HG_POOL_PARAM_MODE] == HG_POOL_MAX;
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT | (largest ? POOL_BYTE_TYPES : 0)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_NUMBER));
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    HG_TRY(hg_check_same_type(y, x, e, "output"));
    HG_TRY(hg_check_rank(x, e, "input", (int)rank + 2, (int)rank + 2));
    HG_TRY(hg_check_rank(y, e, "output", (int)rank + 2, (int)rank + 2));
    const bool nhwc = a->param[HG_POOL_PARAM_LAYOUT] == HG_POOL_NHWC;
    const int channel = nhwc ? x->rank - 1 : 1;
    HG_REQUIRE(e, x->dim[0] == y->dim[0] && x->dim[channel] == y->dim[channel], HOLO_E_SHAPE,
               "output has %lld images of %lld channels, expected %lld of %lld",
               (long long)y->dim[0], (long long)y->dim[channel], (long long)x->dim[0],
               (long long)x->dim[channel]);
    for (uint32_t i = 0; i < rank; i++)
        HG_TRY(pool_check_axis(a, e, y->dim[(nhwc ? 1 : 2) + i], HG_POOL_PARAM_LISTS + i, rank));
    return pool_check_indices(a, e);
}

hg_pool_shape hg_pool_shape_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t step = a->param[HG_POOL_PARAM_SPATIAL];
    const int rank = (int)step;
    const bool nhwc = a->param[HG_POOL_PARAM_LAYOUT] == HG_POOL_NHWC;
    const int first = nhwc ? 1 : 2;
    const int64_t *list = a->param + HG_POOL_PARAM_LISTS;
    hg_pool_shape s = {.in = x->dim + first,
                       .out = y->dim + first,
                       .kernel = list,
                       .stride = list + step,
                       .pad_begin = list + 2 * step,
                       .pad_end = list + 3 * step,
                       .dilation = list + 4 * step,
                       .rank = rank,
                       .inner = nhwc ? x->dim[x->rank - 1] : 1,
                       .in_count = hg_dims_product(x, first, first + rank),
                       .rows = hg_dims_product(y, first, first + rank - 1),
                       .width = y->dim[first + rank - 1],
                       .mode = (hg_pool_mode)a->param[HG_POOL_PARAM_MODE]};
    return s;
}

/* An output row: all outputs that differ in the last spatial axis (and the channel) alone. */
int64_t hg_kernel_pool_units(const hg_args *a)
{
    const bool nhwc = a->param[HG_POOL_PARAM_LAYOUT] == HG_POOL_NHWC;
    return holo_tensor_count(&a->out[0]) == 0
               ? 0
               : hg_dims_product(&a->out[0], 0, a->out[0].rank - (nhwc ? 2 : 1));
}

/* Sums of a row; behind them how many elements count for each output, then an input row of f16 or
 * bf16 as f32. */
static size_t pool_row_bytes(const hg_pool_shape *s)
{
    return hg_align_up((size_t)(s->width * s->inner) * sizeof(double), HG_ALIGN);
}

static bool pool_is_average(const hg_pool_shape *s)
{
    return s->mode == HG_POOL_AVERAGE || s->mode == HG_POOL_AVERAGE_PADDED;
}

static size_t pool_count_bytes(const hg_pool_shape *s)
{
    return pool_is_average(s) ? (size_t)s->width * sizeof(double) : 0;
}

/* They are read as f32. */
static bool pool_widens(holo_dtype dtype)
{
    return dtype == HOLO_F16 || dtype == HOLO_BF16;
}

static size_t pool_scratch(const hg_args *a)
{
    const hg_pool_shape s = hg_pool_shape_of(a);
    const size_t wide = (size_t)(s.in[s.rank - 1] * s.inner) * sizeof(float);
    return pool_row_bytes(&s) + pool_count_bytes(&s) + (pool_widens(a->in[0].dtype) ? wide : 0);
}

void hg_kernel_pool_cost(const hg_args *a, hg_cost *cost)
{
    const hg_pool_shape s = hg_pool_shape_of(a);
    double taps = 1;
    for (int d = 0; d < s.rank; d++)
        taps *= (double)s.kernel[d];
    cost->flops = (double)holo_tensor_count(&a->out[0]) * taps;
}

/* One tap of an output row: outputs [begin, end) of it read input pixels at + i * step. */
typedef struct pool_line {
    int64_t begin, end, at, step;
} pool_line;

/* `row` numbers the output rows of one plane, tap[] the place in the kernel. False outside the
 * input. */
static bool pool_find_line(const hg_pool_shape *s, int64_t row, const int64_t *tap, pool_line *line)
{
    const int last = s->rank - 1;
    int64_t at = 0, plane = s->in[last];
    for (int d = last - 1; d >= 0; d--) {
        const int64_t i =
            row % s->out[d] * s->stride[d] + tap[d] * s->dilation[d] - s->pad_begin[d];
        if (i < 0 || i >= s->in[d]) return false;
        at += i * plane;
        plane *= s->in[d];
        row /= s->out[d];
    }
    const int64_t shift = tap[last] * s->dilation[last];
    hg_conv_inside(s->in[last], s->out[last], s->stride[last], s->pad_begin[last], shift,
                   &line->begin, &line->end);
    line->step = s->stride[last];
    line->at = at + line->begin * line->step + shift - s->pad_begin[last];
    return line->begin < line->end;
}

void hg_pool_taps_inside(const hg_pool_shape *s, int d, int64_t o, int64_t low, int64_t high,
                         int64_t *begin, int64_t *end)
{
    const int64_t first = o * s->stride[d] - s->pad_begin[d];
    const int64_t count = s->kernel[d];
    *begin = hg_min(count, hg_max(0, hg_ceil_div(low - first, s->dilation[d])));
    *end = hg_max(*begin, hg_min(count, hg_floor_div(high - 1 - first, s->dilation[d]) + 1));
}

/* acc[o, c] = STEP(acc, x) over one line. */
#define POOL_LINE(T, STEP, name)                                                                   \
    static void pool_##name(const hg_pool_shape *s, const pool_line *l, const void *vx,            \
                            void *vacc)                                                            \
    {                                                                                              \
        const T *x = (const T *)vx + l->at * s->inner;                                             \
        T *y = (T *)vacc + l->begin * s->inner;                                                    \
        const int64_t count = l->end - l->begin, step = l->step, inner = s->inner;                 \
        if (inner == 1 && step == 1) { /* side by side: vectors */                                 \
            for (int64_t i = 0; i < count; i++)                                                    \
                y[i] = STEP(y[i], x[i]);                                                           \
        } else if (inner == 1) {                                                                   \
            for (int64_t i = 0; i < count; i++)                                                    \
                y[i] = STEP(y[i], x[i * step]);                                                    \
        } else {                                                                                   \
            for (int64_t i = 0; i < count; i++)                                                    \
                for (int64_t c = 0; c < inner; c++)                                                \
                    y[i * inner + c] = STEP(y[i * inner + c], x[i * step * inner + c]);            \
        }                                                                                          \
    }
#define POOL_LARGER(y, x) ((x) != (x) ? (x) : (x) > (y) ? (x) : (y))
#define POOL_LARGER_INT(y, x) ((x) > (y) ? (x) : (y))
#define POOL_ADD(y, x) ((y) + (x))
POOL_LINE(float, POOL_LARGER, max_f32)
POOL_LINE(double, POOL_LARGER, max_f64)
POOL_LINE(int8_t, POOL_LARGER_INT, max_i8)
POOL_LINE(uint8_t, POOL_LARGER_INT, max_u8)
POOL_LINE(float, POOL_ADD, add_f32)
POOL_LINE(double, POOL_ADD, add_f64)
#undef POOL_LINE
#undef POOL_LARGER
#undef POOL_LARGER_INT
#undef POOL_ADD

/* Where a line has the largest elements y that have no place yet (-1); `first` is the place of the
 * line's first element. Nobody can foretell which tap it is: no branches. */
#define POOL_PLACE(T, IS_NAN, name)                                                                \
    static void pool_place_##name(const pool_line *l, const void *vx, int64_t first,               \
                                  const void *vy, int64_t *place)                                  \
    {                                                                                              \
        const T *x = (const T *)vx + l->at, *y = (const T *)vy + l->begin;                         \
        for (int64_t i = 0; i < l->end - l->begin; i++) {                                          \
            const T v = x[i * l->step];                                                            \
            int64_t *at = place + l->begin + i;                                                    \
            const int64_t is_here = (*at < 0) & ((v == y[i]) | IS_NAN(v));                         \
            *at += -is_here & (first + i * l->step - *at);                                         \
        }                                                                                          \
    }
#define POOL_NAN(v) ((v) != (v))
#define POOL_NEVER(v) 0
POOL_PLACE(float, POOL_NAN, f32)
POOL_PLACE(double, POOL_NAN, f64)
POOL_PLACE(int8_t, POOL_NEVER, i8)
POOL_PLACE(uint8_t, POOL_NEVER, u8)
#undef POOL_PLACE
#undef POOL_NAN
#undef POOL_NEVER

typedef void (*pool_place_fn)(const pool_line *l, const void *x, int64_t first, const void *y,
                              int64_t *place);

static pool_place_fn pool_pick_place(holo_dtype dtype)
{
    if (hg_dtype_is(dtype, HOLO_F64)) return pool_place_f64;
    if (hg_dtype_is(dtype, HOLO_I8)) return pool_place_i8;
    if (hg_dtype_is(dtype, HOLO_U8)) return pool_place_u8;
    return pool_place_f32;
}

typedef void (*pool_line_fn)(const hg_pool_shape *s, const pool_line *l, const void *x, void *acc);

static pool_line_fn pool_pick(holo_dtype dtype, hg_pool_mode mode)
{
    const bool largest = mode == HG_POOL_MAX;
    if (hg_dtype_is(dtype, HOLO_F64)) return largest ? pool_max_f64 : pool_add_f64;
    if (hg_dtype_is(dtype, HOLO_I8)) return pool_max_i8;
    if (hg_dtype_is(dtype, HOLO_U8)) return pool_max_u8;
    return largest ? pool_max_f32 : pool_add_f32;
}

/* Type of the accumulators: i8 and u8 stay as they are. */
static holo_dtype pool_acc_type(holo_dtype dtype)
{
    return pool_widens(dtype) ? HOLO_F32 : dtype;
}

static double pool_lowest(holo_dtype dtype)
{
    return dtype == HOLO_I8 ? -128.0 : dtype == HOLO_U8 ? 0.0 : (double)-HG_INFINITY;
}

static void pool_fill(void *acc, holo_dtype dtype, int64_t count, hg_pool_mode mode)
{
    const double value = mode == HG_POOL_MAX ? pool_lowest(dtype) : 0.0;
    if (dtype == HOLO_F32) {
        for (int64_t i = 0; i < count; i++)
            ((float *)acc)[i] = (float)value;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        hg_number_put(acc, dtype, i, value);
}

int64_t hg_pool_axis_count(const hg_pool_shape *s, int d, int64_t o)
{
    const bool padded = s->mode == HG_POOL_AVERAGE_PADDED;
    int64_t begin, end;
    hg_pool_taps_inside(s, d, o, padded ? -s->pad_begin[d] : 0,
                        s->in[d] + (padded ? s->pad_end[d] : 0), &begin, &end);
    return end - begin;
}

/* Elements that count for each output of a row, along the last axis. */
static void pool_count_row(const hg_pool_shape *s, double *count)
{
    for (int64_t o = 0; o < s->width; o++)
        count[o] = (double)hg_pool_axis_count(s, s->rank - 1, o);
}

#define POOL_DIVIDE(T, suffix)                                                                     \
    static void pool_divide_##suffix(const hg_pool_shape *s, double lead, const double *count,     \
                                     void *acc)                                                    \
    {                                                                                              \
        T *y = acc;                                                                                \
        for (int64_t o = 0; o < s->width; o++) {                                                   \
            const double n = lead * count[o];                                                      \
            const T divisor = (T)(n == 0.0 ? 1.0 : n); /* the sum of nothing is 0 */               \
            for (int64_t c = 0; c < s->inner; c++)                                                 \
                y[o * s->inner + c] /= divisor;                                                    \
        }                                                                                          \
    }
POOL_DIVIDE(float, f32)
POOL_DIVIDE(double, f64)
#undef POOL_DIVIDE

/* Divides every sum of row `row` by the number of elements that count. */
static void pool_divide(const hg_pool_shape *s, int64_t row, const double *count, void *acc,
                        holo_dtype dtype)
{
    double lead = 1.0;
    for (int d = s->rank - 2; d >= 0; d--) {
        lead *= (double)hg_pool_axis_count(s, d, row % s->out[d]);
        row /= s->out[d];
    }
    if (dtype == HOLO_F64)
        pool_divide_f64(s, lead, count, acc);
    else
        pool_divide_f32(s, lead, count, acc);
}

/* x^p for p >= 1, by squaring. */
static double pool_power(double x, int64_t p)
{
    double y = 1.0;
    for (; p > 1; p /= 2, x *= x)
        if (p % 2 == 1) y *= x;
    return y * x;
}

/* Adds |x|^p in f64 and takes the root at the end: rare enough to stay simple. */
static void pool_lp_line(const hg_pool_shape *s, const pool_line *l, const holo_tensor *x,
                         int64_t x_at, int64_t p, double *acc)
{
    for (int64_t i = 0; i < l->end - l->begin; i++)
        for (int64_t c = 0; c < s->inner; c++) {
            double v = hg_number_at(x->data, x->dtype, x_at + (l->at + i * l->step) * s->inner + c);
            v = hg_abs_f64(v);
            acc[(l->begin + i) * s->inner + c] += pool_power(v, p);
        }
}

static void pool_lp_root(double *acc, int64_t count, int64_t p)
{
    for (int64_t i = 0; i < count; i++)
        acc[i] = p == 1   ? acc[i]
                 : p == 2 ? hg_sqrt_f64(acc[i])
                          : hg_pow_f64(acc[i], 1.0 / (double)p);
}

/* Where the taps of the leading axes begin and end for one output row. */
typedef struct pool_box {
    int64_t begin[POOL_MAX_SPATIAL], end[POOL_MAX_SPATIAL];
} pool_box;

static bool pool_box_of(const hg_pool_shape *s, int64_t row, pool_box *box)
{
    const int last = s->rank - 1;
    for (int d = last - 1; d >= 0; d--) {
        hg_pool_taps_inside(s, d, row % s->out[d], 0, s->in[d], &box->begin[d], &box->end[d]);
        row /= s->out[d];
        if (box->begin[d] == box->end[d]) return false;
    }
    /* Along the row every tap may be inside for some output: those of the first to those of the
     * last. */
    int64_t ignored;
    hg_pool_taps_inside(s, last, s->width - 1, 0, s->in[last], &box->begin[last], &ignored);
    hg_pool_taps_inside(s, last, 0, 0, s->in[last], &ignored, &box->end[last]);
    return box->begin[last] < box->end[last];
}

static bool pool_box_next(const hg_pool_shape *s, const pool_box *box, int64_t *tap)
{
    for (int d = s->rank - 1; d >= 0; d--) {
        if (++tap[d] < box->end[d]) return true;
        tap[d] = box->begin[d];
    }
    return false;
}

/* All taps of a row into acc, or, with `place`, the places where X has what is in acc. */
static void pool_row_taps(const hg_args *a, const hg_pool_shape *s, int64_t unit, void *acc,
                          float *wide, int64_t *place)
{
    const holo_tensor *x = &a->in[0];
    const int64_t row = unit % s->rows, x_at = unit / s->rows * s->in_count * s->inner;
    const bool widens = pool_widens(x->dtype);
    const void *base = (const char *)x->data + (size_t)x_at * (hg_dtype_bits(x->dtype) / 8);
    pool_box box;
    if (!pool_box_of(s, row, &box)) return;
    int64_t tap[POOL_MAX_SPATIAL];
    memcpy(tap, box.begin, sizeof tap);
    do {
        pool_line line;
        if (!pool_find_line(s, row, tap, &line)) continue;
        if (s->mode == HG_POOL_LP) {
            pool_lp_line(s, &line, x, x_at, a->param[HG_POOL_PARAM_P], acc);
            continue;
        }
        const int64_t first = line.at;
        if (widens) {
            const int64_t n = (line.end - line.begin - 1) * line.step + 1;
            hg_lane_read(x->dtype, wide, base, line.at * s->inner, 1, n * s->inner);
            line.at = 0;
        }
        if (place == NULL)
            pool_pick(x->dtype, s->mode)(s, &line, widens ? wide : base, acc);
        else
            pool_pick_place(x->dtype)(&line, widens ? wide : base, first, acc, place);
    } while (pool_box_next(s, &box, tap));
}

/* `place`: of the largest elements of the row, or NULL. */
static void pool_row(const hg_args *a, const hg_pool_shape *s, int64_t unit, void *acc,
                     const double *count_row, float *wide, int64_t *place)
{
    const holo_tensor *y = &a->out[0];
    const int64_t row = unit % s->rows, count = s->width * s->inner;
    const bool lp = s->mode == HG_POOL_LP;
    const holo_dtype type = lp ? HOLO_F64 : pool_acc_type(y->dtype);
    pool_fill(acc, type, count, s->mode);
    pool_row_taps(a, s, unit, acc, wide, NULL);
    if (place != NULL) pool_row_taps(a, s, unit, acc, wide, place);
    if (pool_is_average(s)) pool_divide(s, row, count_row, acc, type);
    if (lp) pool_lp_root(acc, count, a->param[HG_POOL_PARAM_P]);
    if (type == y->dtype) {
        const size_t size = hg_dtype_bits(type) / 8;
        memcpy((char *)y->data + (size_t)(unit * count) * size, acc, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        hg_number_put(y->data, y->dtype, unit * count + i, hg_number_at(acc, type, i));
}

/* The same place counted with the first spatial axis fastest. */
static int64_t pool_column_major(const hg_pool_shape *s, int64_t at)
{
    int64_t place = 0, stride = s->in_count;
    for (int d = s->rank - 1; d >= 0; d--) {
        stride /= s->in[d];
        place += at % s->in[d] * stride;
        at /= s->in[d];
    }
    return place;
}

/* Places within a plane become those within X. */
static void pool_finish_places(const hg_args *a, const hg_pool_shape *s, int64_t unit,
                               int64_t *place)
{
    const bool columns = a->param[HG_POOL_PARAM_ORDER] == 1;
    for (int64_t o = 0; o < s->width; o++) {
        const int64_t at = place[o];
        place[o] = unit / s->rows * s->in_count;
        if (at > 0) place[o] += columns ? pool_column_major(s, at) : at; /* -1: an empty window */
    }
}

static void pool_run(const hg_args *a, hg_range r)
{
    const hg_pool_shape s = hg_pool_shape_of(a);
    const bool indices = a->n_out == 2 && a->out[1].dtype != HOLO_NONE;
    if (r.begin >= r.end) return;
    char *scratch = (char *)r.scratch + pool_row_bytes(&s);
    double *count = (double *)(void *)scratch;
    float *wide = (float *)(void *)(scratch + pool_count_bytes(&s));
    if (pool_is_average(&s)) pool_count_row(&s, count);
    for (int64_t u = r.begin; u < r.end; u++) {
        int64_t *place = indices ? (int64_t *)a->out[1].data + u * s.width : NULL;
        for (int64_t o = 0; indices && o < s.width; o++)
            place[o] = -1;
        pool_row(a, &s, u, r.scratch, count, wide, place);
        if (indices) pool_finish_places(a, &s, u, place);
    }
}

const hg_kernel hg_kernels_pool[] = {
    {.name = "pool",
     .check = hg_kernel_pool_check,
     .units = hg_kernel_pool_units,
     .scratch = pool_scratch,
     .cost = hg_kernel_pool_cost,
     .run = pool_run},
    /* the same, by a name of its own where only planes of float32 come: tuned code for them is
     * linked by programs that have some */
    {.name = "pool.planes",
     .check = hg_kernel_pool_check,
     .units = hg_kernel_pool_units,
     .scratch = pool_scratch,
     .cost = hg_kernel_pool_cost,
     .run = pool_run},
    {0},
};
