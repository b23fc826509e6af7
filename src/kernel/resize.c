/* resize.c - resize: every output is a weighted mean of input elements near its place, axis by
 * axis.
 *
 *   resize         in[0] X; in[1] roi, [2 * count] floats, may be absent unless tf_crop_and_resize
 *   resize.scales  the same and in[2] scales, [count] floats; the output's sizes depend on them
 *   both           out[0] Y, same type and rank; param see resize.h
 *
 * Nearest moves elements of any type. Linear and cubic compute in f32 (8- and 16-bit types and f32)
 * or f64 and round to nearest for integers, which saturate. Places are computed in f64; when a
 * scale is given as a fraction, x / scale is x * denominator / numerator, so that no place falls
 * below a whole number by rounding.
 *
 * The last resized axis is L; what lies behind it is contiguous (the channels of an NHWC picture).
 * A unit is one output row: all outputs that agree in the axes before L. Its input rows are first
 * combined with the weights of those axes into one line, in the order of the axes, then the line is
 * resampled along L. Taps outside the input read its edge. */
#include "kernel/resize.h"

#include "isa/lane_io.h"
#include "isa/lane_math.h"
#include "kernel/elem.h"
#include "kernel/number.h"

#define RESIZE_FLOAT_TYPES                                                                         \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))

/* ---- geometry of one axis ------------------------------------------------------------------- */

typedef struct resize_axis {
    int64_t in, out;
    int64_t numerator, denominator; /* denominator 0: scale alone is known */
    double scale, begin, end;       /* begin, end: region of interest */
    int64_t footprint;              /* taps before those outside are merged into the edge */
    int64_t taps;                   /* largest number of taps of one output */
    bool is_resized;
} resize_axis;

/* count -1: the output is the extrapolation value. */
typedef struct resize_taps {
    int64_t count;
    hg_resize_tap *tap;
} resize_taps;

typedef struct resize_shape {
    resize_axis axis[HG_MAX_RANK];
    hg_resize_mode mode;
    hg_resize_coordinate coordinate;
    hg_resize_nearest nearest;
    bool antialias, exclude;
    double cubic_a, extrapolation;
    int last;      /* L, -1 when no axis is resized */
    int64_t inner; /* elements behind L */
    bool is_wide;  /* computes in f64 */
} resize_shape;

static bool resize_is_late(const hg_args *a)
{
    return a->n_in == 3;
}

static const int64_t *resize_dim_params(const hg_args *a, int d)
{
    return a->param + HG_RESIZE_PARAM_DIMS + (int64_t)d * HG_RESIZE_DIM_PARAMS;
}

/* Scale of dimension d; 0 for one that cannot be used. */
static double resize_scale(const hg_args *a, int d)
{
    const int64_t *p = resize_dim_params(a, d);
    double scale;
    if (p[HG_RESIZE_DIM_PLACE] < 0) return 1.0;
    if (resize_is_late(a)) {
        scale = hg_number_load(&a->in[2], p[HG_RESIZE_DIM_PLACE]);
    } else if (p[HG_RESIZE_DIM_DENOMINATOR] != 0) {
        scale = (double)p[HG_RESIZE_DIM_NUMERATOR] / (double)p[HG_RESIZE_DIM_DENOMINATOR];
    } else {
        memcpy(&scale, &p[HG_RESIZE_DIM_NUMERATOR], sizeof scale);
    }
    return scale > 0.0 && scale < 1e9 ? scale : 0.0;
}

/* Number of taps of an antialiasing filter whose half width is `reach` input elements. */
static int64_t resize_footprint(hg_resize_mode mode, double scale, bool antialias)
{
    if (mode == HG_RESIZE_NEAREST) return 1;
    const double width = mode == HG_RESIZE_LINEAR ? 1.0 : 2.0;
    if (!antialias || scale >= 1.0 || scale <= 0.0) return mode == HG_RESIZE_LINEAR ? 2 : 4;
    const int64_t first = (int64_t)hg_floor_f64(-width / scale) + 1;
    return 2 - 2 * first;
}

static resize_axis resize_axis_of(const hg_args *a, int d, const resize_shape *s)
{
    const int64_t *p = resize_dim_params(a, d);
    resize_axis x = {.in = a->in[0].dim[d],
                     .out = a->out[0].dim[d],
                     .numerator = p[HG_RESIZE_DIM_NUMERATOR],
                     .denominator = resize_is_late(a) ? 0 : p[HG_RESIZE_DIM_DENOMINATOR],
                     .scale = resize_scale(a, d),
                     .begin = 0.0,
                     .end = 1.0};
    const int64_t place = p[HG_RESIZE_DIM_PLACE];
    const bool crops = s->coordinate == HG_RESIZE_CROP;
    x.is_resized = place >= 0 && (x.in != x.out || x.scale != 1.0 || crops);
    x.footprint = resize_footprint(s->mode, x.scale, s->antialias);
    x.taps = hg_max(1, hg_min(x.footprint, x.in));
    return x;
}

static resize_shape resize_shape_of(const hg_args *a)
{
    const int64_t *p = a->param;
    resize_shape s = {.mode = (hg_resize_mode)p[HG_RESIZE_PARAM_MODE],
                      .coordinate = (hg_resize_coordinate)p[HG_RESIZE_PARAM_COORDINATE],
                      .nearest = (hg_resize_nearest)p[HG_RESIZE_PARAM_NEAREST],
                      .antialias = p[HG_RESIZE_PARAM_ANTIALIAS] != 0,
                      .exclude = p[HG_RESIZE_PARAM_EXCLUDE] != 0,
                      .cubic_a = hg_param_f64(a, HG_RESIZE_PARAM_CUBIC_A),
                      .extrapolation = hg_param_f64(a, HG_RESIZE_PARAM_EXTRAPOLATION),
                      .last = -1};
    const holo_dtype dtype = a->in[0].dtype;
    s.is_wide = dtype == HOLO_F64 || hg_dtype_bits(dtype) >= 64 ||
                (hg_dtype_bits(dtype) == 32 && dtype != HOLO_F32);
    for (int d = 0; d < a->in[0].rank; d++) {
        s.axis[d] = resize_axis_of(a, d, &s);
        if (s.axis[d].is_resized) s.last = d;
    }
    /* Without a resized axis the last one is copied as a row. */
    if (s.last < 0) s.last = a->in[0].rank - 1;
    s.inner = s.last < 0 ? 1 : hg_dims_product(&a->in[0], s.last + 1, a->in[0].rank);
    return s;
}

/* ---- checks --------------------------------------------------------------------------------- */

static holo_status resize_check_dim(const hg_args *a, holo_error *e, int d)
{
    const uint32_t at = HG_RESIZE_PARAM_DIMS + (uint32_t)d * HG_RESIZE_DIM_PARAMS;
    const int64_t count = a->param[HG_RESIZE_PARAM_COUNT];
    HG_TRY(hg_check_param(a, e, at + HG_RESIZE_DIM_PLACE, "place in the list of scales", -1,
                          count - 1));
    HG_TRY(
        hg_check_param(a, e, at + HG_RESIZE_DIM_DENOMINATOR, "denominator", 0, INT64_C(1) << 52));
    HG_REQUIRE(e, a->in[0].dim[d] < INT64_C(1) << 40, HOLO_E_SHAPE,
               "dimension %d is %lld, expected less than 2^40", d, (long long)a->in[0].dim[d]);
    return HOLO_OK;
}

static holo_status resize_check_inputs(const hg_args *a, holo_error *e, bool is_late)
{
    const uint32_t n_in = is_late ? 3 : 2;
    HG_REQUIRE(e, a->n_in == n_in || (!is_late && a->n_in == 1), HOLO_E_FORMAT,
               "%u inputs, expected %u", a->n_in, n_in);
    HG_REQUIRE(e, a->n_out == 1, HOLO_E_FORMAT, "%u outputs, expected 1", a->n_out);
    HG_TRY(hg_check_param(a, e, HG_RESIZE_PARAM_MODE, "mode", HG_RESIZE_NEAREST, HG_RESIZE_CUBIC));
    HG_TRY(hg_check_param(a, e, HG_RESIZE_PARAM_COORDINATE, "coordinate transformation",
                          HG_RESIZE_HALF_PIXEL, HG_RESIZE_TF_HALF_PIXEL));
    HG_TRY(hg_check_param(a, e, HG_RESIZE_PARAM_NEAREST, "nearest mode", HG_RESIZE_ROUND_FLOOR,
                          HG_RESIZE_CEIL));
    HG_TRY(hg_check_param(a, e, HG_RESIZE_PARAM_COUNT, "number of scales", 0, HG_MAX_RANK));
    const bool nearest = a->param[HG_RESIZE_PARAM_MODE] == HG_RESIZE_NEAREST;
    HG_TRY(
        hg_check_in_type(a, e, 0, (nearest ? HG_TYPES_ANY : HG_TYPES_NUMBER) & ~HG_TYPES_NARROW));
    const holo_tensor *x = &a->in[0];
    HG_REQUIRE(e, a->n_param == HG_RESIZE_PARAM_DIMS + (uint32_t)x->rank * HG_RESIZE_DIM_PARAMS,
               HOLO_E_FORMAT, "%u parameters, expected %u", a->n_param,
               HG_RESIZE_PARAM_DIMS + (uint32_t)x->rank * HG_RESIZE_DIM_PARAMS);
    for (int d = 0; d < x->rank; d++)
        HG_TRY(resize_check_dim(a, e, d));
    const int64_t count = a->param[HG_RESIZE_PARAM_COUNT];
    if (a->param[HG_RESIZE_PARAM_COORDINATE] == HG_RESIZE_CROP) {
        HG_TRY(hg_check_in_type(a, e, 1, RESIZE_FLOAT_TYPES));
        HG_REQUIRE(e, holo_tensor_count(&a->in[1]) == 2 * count, HOLO_E_SHAPE,
                   "roi has %lld elements, expected %lld", (long long)holo_tensor_count(&a->in[1]),
                   (long long)(2 * count));
    }
    if (!is_late) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 2, RESIZE_FLOAT_TYPES));
    HG_REQUIRE(e, holo_tensor_count(&a->in[2]) == count, HOLO_E_SHAPE,
               "scales has %lld elements, expected %lld", (long long)holo_tensor_count(&a->in[2]),
               (long long)count);
    return HOLO_OK;
}

static holo_status resize_check_out(const hg_args *a, holo_error *e)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_same_type(y, x, e, "output"));
    HG_TRY(hg_check_rank(y, e, "output", x->rank, x->rank));
    for (int d = 0; d < x->rank; d++) {
        HG_REQUIRE(e, resize_dim_params(a, d)[HG_RESIZE_DIM_PLACE] >= 0 || x->dim[d] == y->dim[d],
                   HOLO_E_SHAPE, "dimension %d of the output is %lld, expected %lld", d,
                   (long long)y->dim[d], (long long)x->dim[d]);
        HG_REQUIRE(e, x->dim[d] > 0 || y->dim[d] == 0, HOLO_E_SHAPE,
                   "dimension %d cannot grow from 0 to %lld", d, (long long)y->dim[d]);
        HG_REQUIRE(e, y->dim[d] < INT64_C(1) << 40, HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected less than 2^40", d,
                   (long long)y->dim[d]);
    }
    return HOLO_OK;
}

/* The filter of an output covers at most the input twice, whatever the scale says. */
static holo_status resize_check_scale(const hg_args *a, holo_error *e, int d)
{
    const double scale = resize_scale(a, d);
    const int64_t in = a->in[0].dim[d];
    HG_REQUIRE(e, scale > 0.0 || a->out[0].dim[d] == 0, HOLO_E_ARG,
               "the scale of dimension %d is not between 0 and 1e9", d);
    HG_REQUIRE(e,
               a->param[HG_RESIZE_PARAM_ANTIALIAS] == 0 || a->out[0].dim[d] == 0 ||
                   1.0 / scale <= 2.0 * (double)in + 2.0,
               HOLO_E_ARG, "the scale %g of dimension %d is too small for %lld elements", scale, d,
               (long long)in);
    return HOLO_OK;
}

static holo_status resize_check(const hg_args *a, holo_error *e)
{
    HG_TRY(resize_check_inputs(a, e, false));
    HG_TRY(resize_check_out(a, e));
    for (int d = 0; d < a->in[0].rank; d++) {
        const double most = (double)a->in[0].dim[d] * resize_scale(a, d) + 1.0;
        HG_TRY(resize_check_scale(a, e, d));
        /* Keeps the number of taps, and with it the scratch, in proportion to the sizes. */
        HG_REQUIRE(e, (double)a->out[0].dim[d] <= most, HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, its scale allows %g", d,
                   (long long)a->out[0].dim[d], most);
    }
    return HOLO_OK;
}

static holo_status resize_scales_check(const hg_args *a, holo_error *e)
{
    HG_TRY(resize_check_inputs(a, e, true));
    return resize_check_out(a, e);
}

static holo_status resize_scales_size(const hg_args *a, holo_error *e)
{
    HG_TRY(resize_check_inputs(a, e, true));
    const holo_tensor *x = &a->in[0];
    holo_tensor *y = &a->out[0];
    const bool crops = a->param[HG_RESIZE_PARAM_COORDINATE] == HG_RESIZE_CROP;
    y->rank = x->rank;
    for (int d = 0; d < x->rank; d++) {
        const int64_t place = resize_dim_params(a, d)[HG_RESIZE_DIM_PLACE];
        const double scale = resize_scale(a, d);
        HG_REQUIRE(e, scale > 0.0, HOLO_E_DATA, "scale %lld is not between 0 and 1e9",
                   (long long)place);
        double size = (double)x->dim[d] * scale;
        if (crops && place >= 0)
            size *= hg_number_load(&a->in[1], a->param[HG_RESIZE_PARAM_COUNT] + place) -
                    hg_number_load(&a->in[1], place);
        HG_REQUIRE(e, size >= 0.0 && size < 0x1p40, HOLO_E_DATA,
                   "dimension %d would have %g elements", d, size);
        y->dim[d] = place < 0 ? x->dim[d] : (int64_t)size;
        HG_TRY(resize_check_scale(a, e, d));
    }
    return HOLO_OK;
}

/* ---- taps ----------------------------------------------------------------------------------- */

/* Place in the input of output o; NaN outside the region that tf_crop_and_resize sees. */
static double resize_place(const resize_shape *s, const resize_axis *x, int64_t o)
{
    const double in = (double)x->in, at = (double)o, width = x->scale * in;
    const bool exact = x->denominator != 0;
    const double half =
        (exact ? (2.0 * at + 1.0) * (double)x->denominator / (2.0 * (double)x->numerator)
               : (at + 0.5) / x->scale) -
        0.5;
    switch (s->coordinate) {
    case HG_RESIZE_HALF_PIXEL: return half;
    case HG_RESIZE_HALF_PIXEL_SYMMETRIC: return half + in / 2.0 * (1.0 - (double)x->out / width);
    case HG_RESIZE_PYTORCH_HALF_PIXEL: return x->out > 1 ? half : 0.0;
    case HG_RESIZE_ALIGN_CORNERS: return width == 1.0 ? 0.0 : at * (in - 1.0) / (width - 1.0);
    case HG_RESIZE_ASYMMETRIC:
        return exact ? at * (double)x->denominator / (double)x->numerator : at / x->scale;
    case HG_RESIZE_TF_HALF_PIXEL: return half + 0.5;
    case HG_RESIZE_CROP: break;
    }
    double p = x->out > 1 ? at * (x->end - x->begin) * (in - 1.0) / ((double)x->out - 1.0)
                          : (x->end - x->begin) * (in - 1.0) / 2.0;
    p += x->begin * (in - 1.0);
    return p >= 0.0 && p <= in - 1.0 ? p : (double)NAN;
}

static int64_t resize_nearest_index(hg_resize_nearest mode, double place)
{
    const double down = hg_floor_f64(place), rest = place - down;
    bool up = false;
    if (mode == HG_RESIZE_ROUND_FLOOR) up = rest > 0.5;
    if (mode == HG_RESIZE_ROUND_CEIL) up = rest >= 0.5;
    if (mode == HG_RESIZE_CEIL) up = rest > 0.0;
    return (int64_t)down + up;
}

/* Weight of an element at distance x, in units of the filter. */
static double resize_weight(const resize_shape *s, double x)
{
    const double a = s->cubic_a;
    x = hg_abs_f64(x);
    if (s->mode == HG_RESIZE_LINEAR) return x < 1.0 ? 1.0 - x : 0.0;
    if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    return x < 2.0 ? ((x - 5.0) * x + 8.0) * x * a - 4.0 * a : 0.0;
}

/* Appends a tap, or adds to the one before when both read the same element. Taps come in order. */
static void resize_add_tap(resize_taps *t, int64_t index, double weight)
{
    if (t->count > 0 && t->tap[t->count - 1].index == index)
        t->tap[t->count - 1].weight += weight;
    else
        t->tap[t->count++] = (hg_resize_tap){index, weight};
}

static void resize_find_taps(const resize_shape *s, const resize_axis *x, int64_t o, resize_taps *t)
{
    double place = resize_place(s, x, o);
    t->count = 0;
    if (place != place) {
        t->count = -1;
        return;
    }
    /* Far outside all taps read the edge; and the conversion to an integer stays defined. */
    const double far = (double)x->footprint + 1.0;
    place = place < -far ? -far : place > (double)x->in + far ? (double)x->in + far : place;
    if (s->mode == HG_RESIZE_NEAREST) {
        const int64_t i = resize_nearest_index(s->nearest, place);
        t->tap[t->count++] = (hg_resize_tap){hg_max(0, hg_min(i, x->in - 1)), 1.0};
        return;
    }
    const double stretch = s->antialias && x->scale < 1.0 ? x->scale : 1.0;
    const int64_t first = (int64_t)hg_floor_f64(place) - x->footprint / 2 + 1;
    double sum = 0.0;
    for (int64_t k = 0; k < x->footprint; k++) {
        const int64_t i = first + k;
        const double w = resize_weight(s, ((double)i - place) * stretch);
        if (w == 0.0 || (s->exclude && (i < 0 || i >= x->in))) continue;
        resize_add_tap(t, hg_max(0, hg_min(i, x->in - 1)), w);
        sum += w;
    }
    if ((s->exclude || stretch != 1.0) && sum != 0.0)
        for (int64_t k = 0; k < t->count; k++)
            t->tap[k].weight /= sum;
}

int64_t hg_resize_most_taps(const hg_args *a, int d)
{
    const resize_axis x = resize_shape_of(a).axis[d];
    return x.is_resized ? x.taps : 0;
}

int64_t hg_resize_taps_of(const hg_args *a, int d, int64_t o, hg_resize_tap *tap)
{
    const resize_shape s = resize_shape_of(a);
    resize_taps taps = {0, tap};
    resize_find_taps(&s, &s.axis[d], o, &taps);
    return taps.count;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The taps of an output along L in f32, where there are one or two; index[1] of one is -1. */
typedef struct resize_pair {
    int32_t index[2];
    float weight[2];
} resize_pair;

/* Everything a run keeps in its scratch. */
typedef struct resize_work {
    resize_taps lead[HG_MAX_RANK];   /* of the current row */
    resize_taps *table[HG_MAX_RANK]; /* of every output along an axis before L that is resized */
    resize_taps *column;             /* of every output along L */
    resize_pair *pair;               /* the same, or NULL: some have more taps, or lie outside */
    int64_t repeat;                  /* output o is element o / repeat; 0: something else */
    void *raw, *row, *line, *result;
} resize_work;

static size_t resize_taps_bytes(const resize_axis *x, int64_t count)
{
    return (size_t)count * (sizeof(resize_taps) + (size_t)x->taps * sizeof(hg_resize_tap));
}

/* Lists of taps that an axis before L needs. */
static int64_t resize_entries(const resize_axis *x)
{
    return x->is_resized ? x->out : 1;
}

static size_t resize_row_bytes(int64_t count)
{
    return hg_align_up((size_t)count * sizeof(double), HG_ALIGN);
}

static size_t resize_scratch(const hg_args *a)
{
    const resize_shape s = resize_shape_of(a);
    size_t bytes = hg_align_up(sizeof(resize_work), HG_ALIGN);
    if (s.last < 0 || holo_tensor_count(&a->out[0]) == 0) return bytes;
    for (int d = 0; d < s.last; d++)
        bytes += resize_taps_bytes(&s.axis[d], resize_entries(&s.axis[d]));
    const resize_axis *x = &s.axis[s.last];
    bytes += resize_taps_bytes(x, x->out);
    bytes = hg_align_up(bytes + (size_t)x->out * sizeof(resize_pair), HG_ALIGN);
    if (s.mode == HG_RESIZE_NEAREST) return bytes;
    return bytes + 3 * resize_row_bytes(x->in * s.inner) + resize_row_bytes(x->out * s.inner);
}

/* Hands out room for `count` lists of taps. */
static resize_taps *resize_take_taps(char **at, const resize_axis *x, int64_t count)
{
    resize_taps *list = (resize_taps *)(void *)*at;
    hg_resize_tap *tap = (hg_resize_tap *)(void *)(*at + (size_t)count * sizeof *list);
    for (int64_t i = 0; i < count; i++)
        list[i] = (resize_taps){0, tap + i * x->taps};
    *at += resize_taps_bytes(x, count);
    return list;
}

/* The taps along L once more, as far as they fit pairs. */
static void resize_find_pairs(const resize_shape *s, resize_work *w, resize_pair *pair)
{
    const resize_axis *x = &s->axis[s->last];
    bool fits = x->in < INT32_MAX;
    w->repeat = x->out / x->in;
    for (int64_t o = 0; o < x->out && fits; o++) {
        const resize_taps *t = &w->column[o];
        fits = t->count == 1 || t->count == 2;
        for (int64_t k = 0; k < 2 && fits; k++) {
            pair[o].index[k] = k < t->count ? (int32_t)t->tap[k].index : -1;
            pair[o].weight[k] = k < t->count ? (float)t->tap[k].weight : 0;
        }
        if (!fits || w->repeat == 0 || pair[o].index[0] != o / w->repeat) w->repeat = 0;
    }
    w->pair = fits ? pair : NULL;
}

static resize_work *resize_prepare(const resize_shape *s, void *scratch)
{
    resize_work *w = scratch;
    const resize_axis *x = &s->axis[s->last];
    char *base = scratch, *at = base + hg_align_up(sizeof *w, HG_ALIGN);
    for (int d = 0; d <= s->last; d++) {
        const resize_axis *y = &s->axis[d];
        const int64_t n = d == s->last ? y->out : resize_entries(y);
        resize_taps *list = resize_take_taps(&at, y, n);
        w->table[d] = list;
        w->lead[d] = list[0];
        for (int64_t o = 0; o < n && (d == s->last || y->is_resized); o++)
            resize_find_taps(s, y, o, &list[o]);
    }
    w->column = w->table[s->last];
    resize_find_pairs(s, w, (resize_pair *)(void *)at);
    at = base + hg_align_up((size_t)(at - base) + (size_t)x->out * sizeof *w->pair, HG_ALIGN);
    if (s->mode == HG_RESIZE_NEAREST) return w;
    const size_t row = resize_row_bytes(x->in * s->inner);
    w->raw = at;
    w->row = at + row;
    w->line = at + 2 * row;
    w->result = at + 3 * row;
    return w;
}

/* Taps of the axes before `axis` at place u of them; false when one of them is outside. */
static bool resize_find_lead(const resize_shape *s, const hg_args *a, int axis, int64_t u,
                             resize_work *w)
{
    bool inside = true;
    for (int d = axis - 1; d >= 0; d--) {
        const int64_t o = u % a->out[0].dim[d];
        u /= a->out[0].dim[d];
        if (s->axis[d].is_resized) {
            w->lead[d] = w->table[d][o];
        } else {
            w->lead[d].count = 1;
            w->lead[d].tap[0] = (hg_resize_tap){o, 1.0};
        }
        inside = inside && w->lead[d].count >= 0;
    }
    return inside;
}

/* Place in the input's axes before `axis` and weight of the current choice of taps. */
static int64_t resize_choice(const resize_shape *s, const resize_work *w, int axis,
                             const int64_t *at, double *weight)
{
    int64_t row = 0;
    *weight = 1.0;
    for (int d = 0; d < axis; d++) {
        row = row * s->axis[d].in + w->lead[d].tap[at[d]].index;
        *weight *= w->lead[d].tap[at[d]].weight;
    }
    return row;
}

static bool resize_next_choice(const resize_shape *s, const resize_work *w, int64_t *at)
{
    for (int d = s->last - 1; d >= 0; d--) {
        if (++at[d] < w->lead[d].count) return true;
        at[d] = 0;
    }
    return false;
}

/* n elements from `first` on as f32 or f64; points into the input when they already are. */
static const void *resize_load(const resize_shape *s, const holo_tensor *x, int64_t first,
                               int64_t n, resize_work *w)
{
    if (x->dtype == HOLO_F32) return (const float *)x->data + first;
    if (x->dtype == HOLO_F64) return (const double *)x->data + first;
    const hg_lane_type type = hg_lane_type_of(x->dtype);
    hg_lane_read(x->dtype, type == HG_LANE_F32 ? w->row : w->raw, x->data, first, 1, n);
    if (type == HG_LANE_F32) return w->row;
    for (int64_t i = 0; !s->is_wide && i < n; i++)
        ((float *)w->row)[i] = (float)((const int32_t *)w->raw)[i];
    for (int64_t i = 0; s->is_wide && i < n; i++) {
        if (type == HG_LANE_I32)
            ((double *)w->row)[i] = (double)((const int32_t *)w->raw)[i];
        else if (type == HG_LANE_I64)
            ((double *)w->row)[i] = (double)((const int64_t *)w->raw)[i];
        else
            ((double *)w->row)[i] = (double)((const uint64_t *)w->raw)[i];
    }
    return w->row;
}

/* Sums of input rows, and outputs along L as sums of places of such a sum. Zero is added first: so
 * a sum of zeros has no sign, however many there are. Two rows and two places, as linear pictures
 * have them, are one pass. */
#define RESIZE_ROWS(T, suffix)                                                                     \
    static void resize_set_##suffix(void *vline, const void *vrow, double weight, int64_t n)       \
    {                                                                                              \
        T *HG_RESTRICT line = vline;                                                               \
        const T *HG_RESTRICT row = vrow;                                                           \
        const T w = (T)weight;                                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            line[i] = (T)0 + row[i] * w;                                                           \
    }                                                                                              \
    static void resize_add_##suffix(void *vline, const void *vrow, double weight, int64_t n)       \
    {                                                                                              \
        T *HG_RESTRICT line = vline;                                                               \
        const T *HG_RESTRICT row = vrow;                                                           \
        const T w = (T)weight;                                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            line[i] += row[i] * w;                                                                 \
    }                                                                                              \
    static void resize_column_##suffix(const resize_taps *t, int64_t inner, const void *vline,     \
                                       void *vout, double outside)                                 \
    {                                                                                              \
        const T *line = vline;                                                                     \
        T *HG_RESTRICT out = vout;                                                                 \
        if (t->count == 2) {                                                                       \
            const T w = (T)t->tap[0].weight, v = (T)t->tap[1].weight;                              \
            const T *x = line + t->tap[0].index * inner, *y = line + t->tap[1].index * inner;      \
            for (int64_t c = 0; c < inner; c++)                                                    \
                out[c] = (T)0 + x[c] * w + y[c] * v;                                               \
            return;                                                                                \
        }                                                                                          \
        for (int64_t c = 0; c < inner; c++)                                                        \
            out[c] = t->count < 0 ? (T)outside : (T)0;                                             \
        for (int64_t k = 0; k < t->count; k++) {                                                   \
            const T w = (T)t->tap[k].weight, *x = line + t->tap[k].index * inner;                  \
            for (int64_t c = 0; c < inner; c++)                                                    \
                out[c] += x[c] * w;                                                                \
        }                                                                                          \
    }
RESIZE_ROWS(float, f32)
RESIZE_ROWS(double, f64)
#undef RESIZE_ROWS

/* All outputs of a row that consists of single elements. */
static void resize_pairs(const resize_pair *pair, int64_t n, const float *line, float *out)
{
    for (int64_t o = 0; o < n; o++) {
        const resize_pair *p = &pair[o];
        const float x = 0.0F + line[p->index[0]] * p->weight[0];
        out[o] = p->index[1] < 0 ? x : x + line[p->index[1]] * p->weight[1];
    }
}

/* What an integer type holds: from `low` to below `high`. */
typedef struct resize_limits {
    uint32_t bits;
    bool is_signed;
    double low, high;
} resize_limits;

static resize_limits resize_limits_of(holo_dtype dtype)
{
    const uint32_t bits = hg_dtype_bits(dtype);
    const bool is_signed = hg_dtype_is_signed_int(dtype);
    const double high = hg_pow_f64(2.0, (double)(is_signed ? bits - 1 : bits));
    return (resize_limits){bits, is_signed, is_signed ? -high : 0.0, high};
}

/* Rounds to nearest and clamps to what the integer type holds; NaN gives 0. */
static void resize_store_int(const resize_limits *l, holo_tensor *y, int64_t i, double v)
{
    const uint32_t bits = l->bits;
    const bool is_signed = l->is_signed;
    const double high = l->high, low = l->low;
    v = v != v ? 0.0 : hg_round_f64(v);
    uint64_t word;
    if (v >= high)
        word = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX;
    else if (v < low)
        word = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    else
        word = v < 0.0 ? (uint64_t)(int64_t)v : (uint64_t)v;
    if (bits == 8) ((uint8_t *)y->data)[i] = (uint8_t)word;
    if (bits == 16) ((uint16_t *)y->data)[i] = (uint16_t)word;
    if (bits == 32) ((uint32_t *)y->data)[i] = (uint32_t)word;
    if (bits == 64) ((uint64_t *)y->data)[i] = word;
}

/* The same for n results in f32, as integers of 8 and 16 bits have them. */
#define RESIZE_STORE(T, bits)                                                                      \
    static void resize_store_##bits(const resize_limits *l, const float *v, int64_t n, T *y)       \
    {                                                                                              \
        const float low = (float)l->low, high = (float)l->high - 1.0F;                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = v[i] != v[i] ? 0.0F : v[i];                                                  \
            x = x < low ? low : x;                                                                 \
            x = x > high ? high : x;                                                               \
            y[i] = (T)(int32_t)hg_round_f32(x);                                                    \
        }                                                                                          \
    }
RESIZE_STORE(uint8_t, 8)
RESIZE_STORE(uint16_t, 16)
#undef RESIZE_STORE

static void resize_store(const resize_shape *s, holo_tensor *y, int64_t first, const void *result,
                         int64_t n)
{
    if (hg_dtype_is_float(y->dtype)) {
        hg_lane_write(y->dtype, false, y->data, first, 1, result, n);
        return;
    }
    const resize_limits limits = resize_limits_of(y->dtype);
    if (limits.bits == 8)
        resize_store_8(&limits, result, n, (uint8_t *)y->data + first);
    else if (limits.bits == 16)
        resize_store_16(&limits, result, n, (uint16_t *)y->data + first);
    for (int64_t i = 0; s->is_wide && i < n; i++)
        resize_store_int(&limits, y, first + i, ((const double *)result)[i]);
}

/* The sum of all input rows that output row `u` is made of, by their weights. */
static void resize_weighted_line(const hg_args *a, const resize_shape *s, resize_work *w)
{
    const int64_t n = s->axis[s->last].in * s->inner;
    int64_t at[HG_MAX_RANK] = {0};
    bool more = true, is_first = true;
    for (int d = 0; d < s->last; d++)
        more = more && w->lead[d].count > 0;
    if (!more) memset(w->line, 0, resize_row_bytes(n));
    for (; more; more = resize_next_choice(s, w, at), is_first = false) {
        double weight;
        const int64_t row = resize_choice(s, w, s->last, at, &weight);
        const void *source = resize_load(s, &a->in[0], row * n, n, w);
        if (s->is_wide)
            (is_first ? resize_set_f64 : resize_add_f64)(w->line, source, weight, n);
        else
            (is_first ? resize_set_f32 : resize_add_f32)(w->line, source, weight, n);
    }
}

static void resize_weighted_row(const hg_args *a, const resize_shape *s, resize_work *w, int64_t u,
                                bool inside)
{
    static const resize_taps outside = {-1, NULL};
    const resize_axis *x = &s->axis[s->last];
    const int64_t first = u * x->out * s->inner;
    const bool is_direct = a->out[0].dtype == HOLO_F32;
    void *result = is_direct ? (float *)a->out[0].data + first : w->result;
    if (inside) resize_weighted_line(a, s, w);
    const bool has_pairs = inside && s->inner == 1 && !s->is_wide && w->pair != NULL;
    if (has_pairs) resize_pairs(w->pair, x->out, w->line, result);
    for (int64_t o = 0; o < x->out && !has_pairs; o++) {
        const resize_taps *t = inside ? &w->column[o] : &outside;
        if (s->is_wide)
            resize_column_f64(t, s->inner, w->line, (double *)result + o * s->inner,
                              s->extrapolation);
        else
            resize_column_f32(t, s->inner, w->line, (float *)result + o * s->inner,
                              s->extrapolation);
    }
    if (!is_direct) resize_store(s, &a->out[0], first, result, x->out * s->inner);
}

/* The extrapolation value in any number type; 0 bits in others. */
static void resize_fill(holo_tensor *y, int64_t first, int64_t n, double value)
{
    const size_t size = hg_dtype_bits(y->dtype) / 8;
    const resize_limits limits = resize_limits_of(y->dtype);
    for (int64_t i = first; i < first + n; i++) {
        const float narrow = (float)value;
        if (hg_dtype_in(y->dtype, HG_TYPES_FLOAT))
            hg_lane_write(y->dtype, false, y->data, i, 1,
                          y->dtype == HOLO_F64 ? (const void *)&value : (const void *)&narrow, 1);
        else if (hg_dtype_in(y->dtype, HG_TYPES_INT))
            resize_store_int(&limits, y, i, value);
        else
            memset((char *)y->data + (size_t)i * size, 0, size);
    }
}

/* One element for each output: dst[o] = src[index of o]. Pictures twice as large are common. */
#define RESIZE_PICK(T, bits)                                                                       \
    static void resize_pick_##bits(const resize_work *w, int64_t n, const void *vsrc, void *vdst)  \
    {                                                                                              \
        const T *HG_RESTRICT src = vsrc;                                                           \
        T *HG_RESTRICT dst = vdst;                                                                 \
        const resize_pair *pair = w->pair;                                                         \
        const int64_t twice = w->repeat == 2 ? n / 2 : 0;                                          \
        for (int64_t i = 0; i < twice; i++)                                                        \
            dst[2 * i] = dst[2 * i + 1] = src[i];                                                  \
        for (int64_t o = 2 * twice; o < n; o++)                                                    \
            dst[o] = src[pair[o].index[0]];                                                        \
    }
RESIZE_PICK(uint8_t, 8)
RESIZE_PICK(uint16_t, 16)
RESIZE_PICK(uint32_t, 32)
RESIZE_PICK(uint64_t, 64)
#undef RESIZE_PICK

typedef void resize_pick(const resize_work *w, int64_t n, const void *src, void *dst);

/* What makes rows of single elements; NULL: the way of all others. */
static resize_pick *resize_pick_of(const resize_shape *s, const resize_work *w, uint32_t bits)
{
    if (w->pair == NULL || s->inner != 1) return NULL;
    if (bits == 8) return resize_pick_8;
    if (bits == 16) return resize_pick_16;
    if (bits == 32) return resize_pick_32;
    return bits == 64 ? resize_pick_64 : NULL;
}

/* Output row u from input row `row`, which is -1 outside. */
static void resize_nearest_row(const hg_args *a, const resize_shape *s, const resize_work *w,
                               int64_t u, int64_t row)
{
    const resize_axis *x = &s->axis[s->last];
    const int64_t to = u * x->out * s->inner, from = row * x->in * s->inner;
    for (int64_t o = 0; o < x->out; o++) {
        const resize_taps *t = &w->column[o];
        if (row < 0 || t->count < 0)
            resize_fill(&a->out[0], to + o * s->inner, s->inner, s->extrapolation);
        else
            hg_elem_copy(a->out[0].data, to + o * s->inner, a->in[0].data,
                         from + t->tap[0].index * s->inner, s->inner,
                         hg_dtype_bits(a->in[0].dtype));
    }
}

/* Output rows [u, end) that differ along the axis before L alone, of which u is place o. */
static void resize_nearest_rows(const hg_args *a, const resize_shape *s, resize_work *w, int64_t u,
                                int64_t end, int64_t o)
{
    static const resize_axis single = {.in = 1, .out = 1};
    const int d = s->last == 0 ? 0 : s->last - 1;
    const resize_axis *x = s->last == 0 ? &single : &s->axis[d], *y = &s->axis[s->last];
    const int64_t at[HG_MAX_RANK] = {0};
    double ignored;
    const bool inside = resize_find_lead(s, a, d, u / x->out, w);
    const int64_t base = inside ? resize_choice(s, w, d, at, &ignored) * x->in : 0;
    const uint32_t bits = hg_dtype_bits(a->in[0].dtype);
    const size_t bytes = (size_t)(y->out * s->inner) * (bits / 8);
    const size_t in_bytes = (size_t)(y->in * s->inner) * (bits / 8);
    resize_pick *const pick = resize_pick_of(s, w, bits);
    const resize_taps *t = w->table[d];
    char *dst = (char *)a->out[0].data + (size_t)u * bytes;
    for (int64_t last = -1, row; u < end; u++, o++, dst += bytes, last = row) {
        row = base + (x->is_resized ? t[o].tap[0].index : o);
        if (!inside || (x->is_resized && t[o].count < 0)) row = -1;
        if (row >= 0 && row == last)
            memcpy(dst, dst - bytes, bytes);
        else if (row >= 0 && pick != NULL)
            pick(w, y->out, (const char *)a->in[0].data + (size_t)row * in_bytes, dst);
        else
            resize_nearest_row(a, s, w, u, row);
    }
}

static void resize_run_nearest(const hg_args *a, const resize_shape *s, resize_work *w, hg_range r)
{
    const int64_t rows = s->last == 0 ? 1 : s->axis[s->last - 1].out;
    for (int64_t u = r.begin, n; u < r.end; u += n) {
        n = hg_min(rows - u % rows, r.end - u);
        resize_nearest_rows(a, s, w, u, u + n, u % rows);
    }
}

/* The region of interest is data: it is read when it has been computed, not when sizes are settled.
 */
static void resize_read_roi(const hg_args *a, resize_shape *s)
{
    if (s->coordinate != HG_RESIZE_CROP) return;
    for (int d = 0; d < a->in[0].rank; d++) {
        const int64_t place = resize_dim_params(a, d)[HG_RESIZE_DIM_PLACE];
        if (place < 0) continue;
        s->axis[d].begin = hg_number_load(&a->in[1], place);
        s->axis[d].end = hg_number_load(&a->in[1], a->param[HG_RESIZE_PARAM_COUNT] + place);
    }
}

static int64_t resize_units(const hg_args *a)
{
    const resize_shape s = resize_shape_of(a);
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return s.last < 0 ? 1 : hg_dims_product(&a->out[0], 0, s.last);
}

static void resize_cost(const hg_args *a, hg_cost *cost)
{
    const bool moves = a->param[HG_RESIZE_PARAM_MODE] == HG_RESIZE_NEAREST;
    cost->flops = (moves ? 4.0 : 16.0) * (double)holo_tensor_count(&a->out[0]);
}

static void resize_run(const hg_args *a, hg_range r)
{
    resize_shape s = resize_shape_of(a);
    if (r.begin >= r.end) return;
    resize_read_roi(a, &s);
    if (s.last < 0) { /* rank 0 */
        hg_elem_copy(a->out[0].data, 0, a->in[0].data, 0, 1, hg_dtype_bits(a->in[0].dtype));
        return;
    }
    resize_work *w = resize_prepare(&s, r.scratch);
    if (s.mode == HG_RESIZE_NEAREST) {
        resize_run_nearest(a, &s, w, r);
        return;
    }
    for (int64_t u = r.begin; u < r.end; u++)
        resize_weighted_row(a, &s, w, u, resize_find_lead(&s, a, s.last, u, w));
}

const hg_kernel hg_kernels_resize[] = {
    {.name = "resize",
     .check = resize_check,
     .units = resize_units,
     .scratch = resize_scratch,
     .cost = resize_cost,
     .run = resize_run},
    {.name = "resize.scales",
     .flags = HG_KERNEL_LATE,
     .check = resize_scales_check,
     .size = resize_scales_size,
     .units = resize_units,
     .scratch = resize_scratch,
     .cost = resize_cost,
     .run = resize_run},
    {0},
};
