/* sample.c - values between the elements of a tensor. */
#include "oracle/oracle.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLE_TAPS = 64 };

/* Elements along one axis and their weights; an element of -1 is a zero. */
typedef struct sample_taps {
    int n;
    int64_t at[SAMPLE_TAPS];
    long double weight[SAMPLE_TAPS];
} sample_taps;

static void sample_tap(sample_taps *t, int64_t at, long double weight)
{
    t->at[t->n] = at;
    t->weight[t->n++] = weight;
}

/* Keys' kernel of parameter a; the tent when it is for linear interpolation. */
static long double sample_kernel(bool cubic, long double a, long double x)
{
    x = fabsl(x);
    if (!cubic) return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Sum over all axes from `axis` on of weighted elements of x; tol: of their magnitudes. */
static wide sample_sum(const ora *x, const sample_taps *taps, int axis, int64_t from)
{
    wide sum = {0};
    if (axis == x->rank) {
        wide w = x->v[from];
        if (!ora_is_float(x->type) && !ora_is_complex(x->type)) w.re = ora_real(x->type, &w);
        w.tol = fabsl(w.re) + fabsl(w.im);
        return w;
    }
    for (int k = 0; k < taps[axis].n; k++) {
        if (taps[axis].at[k] < 0) continue;
        const long double weight = taps[axis].weight[k];
        const wide w = sample_sum(x, taps, axis + 1, from * x->dim[axis] + taps[axis].at[k]);
        sum.re += weight * w.re;
        sum.im += weight * w.im;
        sum.tol += fabsl(weight) * w.tol;
    }
    return sum;
}

/* The element that single taps name. */
static wide sample_one(const ora *x, const sample_taps *taps)
{
    int64_t at[HOLO_MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        if (taps[d].at[0] < 0) return (wide){.s = {"", 0}};
        at[d] = taps[d].at[0];
    }
    return x->v[ora_ravel(x, at)];
}

/* ---- Resize ------------------------------------------------------------------------------------
 */

typedef struct resize_case {
    const char *mode, *coordinate, *nearest;
    const char *scales, *sizes, *roi, *more; /* values; more: attributes */
    const char *axes;                        /* NULL: all */
    bool antialias, exclude;
    float a, outside;
} resize_case;

/* One axis: both lengths, the scale, its part of the region. */
typedef struct resize_axis {
    int64_t in, out;
    long double scale, start, end;
} resize_axis;

static long double resize_place(const resize_case *c, const resize_axis *a, long double x)
{
    const char *how = c->coordinate;
    const long double last = (long double)(a->in - 1), in = (long double)a->in;
    const long double half = (x + 0.5L) / a->scale - 0.5L;
    if (strcmp(how, "asymmetric") == 0) return x / a->scale;
    if (strcmp(how, "half_pixel_symmetric") == 0)
        return in / 2 * (1 - (long double)a->out / (a->scale * in)) + half;
    if (strcmp(how, "pytorch_half_pixel") == 0) return a->out > 1 ? half : 0;
    if (strcmp(how, "align_corners") == 0)
        return a->out > 1 ? x * last / (long double)(a->out - 1) : 0;
    if (strcmp(how, "tf_crop_and_resize") == 0)
        return a->out > 1
                   ? a->start * last + x * (a->end - a->start) * last / (long double)(a->out - 1)
                   : 0.5L * (a->start + a->end) * last;
    return half;
}

static int64_t resize_round(const char *how, long double x)
{
    if (strcmp(how, "floor") == 0) return (int64_t)floorl(x);
    if (strcmp(how, "ceil") == 0) return (int64_t)ceill(x);
    if (strcmp(how, "round_prefer_ceil") == 0) return (int64_t)floorl(x + 0.5L);
    return (int64_t)ceill(x - 0.5L);
}

static int64_t resize_clamp(const resize_axis *a, int64_t k)
{
    return k < 0 ? 0 : k >= a->in ? a->in - 1 : k;
}

static void resize_taps(const resize_case *c, const resize_axis *a, long double x, sample_taps *t)
{
    const bool cubic = strcmp(c->mode, "cubic") == 0;
    const long double stretch = c->antialias && a->scale < 1 ? a->scale : 1;
    const long double reach = (cubic ? 2 : 1) / stretch;
    long double sum = 0;
    t->n = 0;
    if (strcmp(c->mode, "nearest") == 0) {
        sample_tap(t, resize_clamp(a, resize_round(c->nearest, x)), 1);
        return;
    }
    for (int64_t k = (int64_t)ceill(x - reach); (long double)k <= x + reach; k++) {
        const long double w = sample_kernel(cubic, c->a, ((long double)k - x) * stretch);
        if (c->exclude && (k < 0 || k >= a->in)) continue;
        sample_tap(t, resize_clamp(a, k), w);
        sum += w;
    }
    for (int k = 0; k < t->n; k++)
        t->weight[k] /= sum;
}

/* Whether rounding errors of a coordinate could choose another element. */
static bool resize_doubt(const resize_case *c, const resize_axis *a, long double x)
{
    int exponent;
    const bool exact =
        frexpl(a->scale, &exponent) == 0.5L || strcmp(c->coordinate, "align_corners") == 0;
    const long double twice = 2 * x;
    return strcmp(c->mode, "nearest") == 0 && !exact && fabsl(twice - roundl(twice)) < 1e-4L;
}

/* Lengths and scales of all axes from what the case states. */
static ora *resize_axes(const resize_case *c, const ora *x, resize_axis *axes)
{
    const char *numbers = c->scales != NULL ? c->scales : c->sizes, *names = c->axes, *roi = c->roi;
    int64_t dim[HOLO_MAX_RANK];
    int count = 0, which[HOLO_MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        axes[d] = (resize_axis){x->dim[d], x->dim[d], 1, 0, 1};
        which[d] = d;
    }
    for (char *end; names != NULL && *names != '\0'; names = *end == ',' ? end + 1 : end) {
        const int d = (int)strtol(names, &end, 10);
        which[count++] = d < 0 ? d + x->rank : d;
    }
    if (names == NULL) count = x->rank;
    for (int k = 0; k < count; k++) {
        char *end;
        resize_axis *a = &axes[which[k]];
        const long double v = strtold(numbers, &end);
        numbers = end;
        a->scale = c->scales != NULL ? v : v / (long double)a->in;
        a->out = c->scales != NULL ? (int64_t)floorl(v * (long double)a->in) : (int64_t)v;
    }
    for (int k = 0; roi != NULL && k < 2 * count; k++) {
        char *end;
        const long double v = strtold(roi, &end);
        roi = end;
        if (k < count)
            axes[which[k]].start = v;
        else
            axes[which[k - count]].end = v;
    }
    for (int d = 0; roi != NULL && c->scales != NULL && d < x->rank; d++)
        axes[d].out = (int64_t)floorl((long double)axes[d].in * (axes[d].end - axes[d].start) *
                                      axes[d].scale);
    for (int d = 0; d < x->rank; d++)
        dim[d] = axes[d].out;
    return ora_new(x->type, x->rank, dim);
}

static wide resize_value(const resize_case *c, const ora *x, const resize_axis *axes,
                         const int64_t *at, bool *doubt)
{
    sample_taps taps[5];
    bool outside = false;
    for (int d = 0; d < x->rank; d++) {
        const resize_axis *a = &axes[d];
        const bool same = a->in == a->out && a->scale == 1 && a->start == 0 && a->end == 1;
        const long double p = resize_place(c, a, (long double)at[d]);
        *doubt |= !same && resize_doubt(c, a, p);
        outside |= p < 0 || p > (long double)(a->in - 1);
        resize_taps(c, a, p, &taps[d]);
    }
    if (outside && strcmp(c->coordinate, "tf_crop_and_resize") == 0)
        return ora_wide(x->type, c->outside);
    if (strcmp(c->mode, "nearest") == 0) return sample_one(x, taps);
    const wide w = sample_sum(x, taps, 0, 0);
    return ora_near(x->type, w.re, w.tol + 0.5L, 128);
}

static int resize_count(const char *values)
{
    int n = 1;
    for (; *values != '\0'; values++)
        n += *values == ' ';
    return n;
}

static const ora *resize_list(holo_dtype type, const char *values)
{
    char dims[12];
    if (values == NULL) return NULL;
    snprintf(dims, sizeof dims, "%d", resize_count(values));
    return ora_param(ora_of(type, dims, values));
}

static void resize_check(const resize_case *c, const char *dims, holo_dtype type, holo_dtype roi)
{
    const ora *x = ora_make(type, dims, ora_is_float(type) ? ORA_UNIT : ORA_SMALL, 1);
    resize_axis axes[HOLO_MAX_RANK];
    bool doubt = false;
    ora *y = resize_axes(c, x, axes);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(y, k, at);
        y->v[k] = resize_value(c, x, axes, at, &doubt);
    }
    if (doubt) return;
    char attrs[400];
    int used = snprintf(attrs, sizeof attrs,
                        "mode=\"%s\" coordinate_transformation_mode=\"%s\" nearest_mode=\"%s\" "
                        "antialias=%d exclude_outside=%d cubic_coeff_a=%f extrapolation_value=%f",
                        c->mode, c->coordinate, c->nearest, c->antialias, c->exclude, (double)c->a,
                        (double)c->outside);
    if (c->axes != NULL)
        used += snprintf(attrs + used, sizeof attrs - (size_t)used, " axes=[%s]", c->axes);
    if (c->more != NULL) snprintf(attrs + used, sizeof attrs - (size_t)used, " %s", c->more);
    ORA_CHECK("Resize", attrs,
              ORA_IN(x, resize_list(roi, c->roi), resize_list(HOLO_F32, c->scales),
                     resize_list(HOLO_I64, c->sizes)),
              ORA_OUT(y));
}

static const char *const resize_coordinates[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"};

static void resize_nearest(const char *coordinate, holo_dtype type)
{
    static const char *const rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                         "ceil"};
    for (size_t k = 0; k < 4; k++) {
        resize_case c = {
            .mode = "nearest", .coordinate = coordinate, .nearest = rounds[k], .a = -0.75F};
        c.sizes = "1 2 7 3";
        resize_check(&c, "1,2,4,6", type, HOLO_F32);
        c.sizes = NULL;
        c.scales = "1 1 2 0.5";
        resize_check(&c, "1,2,4,6", type, HOLO_F32);
        c.scales = "4 2";
        c.axes = "-1,2";
        resize_check(&c, "1,2,3,2", type, HOLO_F32);
    }
}

static void resize_smooth(const char *mode, const char *coordinate, holo_dtype type)
{
    for (int k = 0; k < 8; k++) {
        resize_case c = {.mode = mode,
                         .coordinate = coordinate,
                         .nearest = "floor",
                         .a = -0.75F,
                         .antialias = k % 2 != 0,
                         .exclude = k / 2 % 2 != 0};
        if (k > 3) c.a = -0.5F;
        c.sizes = "1 2 7 3";
        resize_check(&c, "1,2,4,6", type, HOLO_F32);
        c.sizes = "9 1";
        c.axes = "3,1";
        resize_check(&c, "2,3,2,5", type, HOLO_F32);
        c.sizes = c.axes = NULL;
        c.scales = "1 1 0.5 2";
        resize_check(&c, "1,2,6,4", type, HOLO_F32);
        c.scales = "1 1 0.375";
        if (strcmp(coordinate, "align_corners") != 0) resize_check(&c, "1,2,8", type, HOLO_F32);
    }
}

static void resize_crops(holo_dtype type, holo_dtype roi)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    for (size_t k = 0; k < 3; k++) {
        if (k > 0 && !ora_is_float(type)) return;
        resize_case c = {.mode = modes[k],
                         .coordinate = "tf_crop_and_resize",
                         .nearest = "floor",
                         .a = -0.75F,
                         .outside = 3,
                         .sizes = "1 1 3 3",
                         .roi = "0 0 0.25 0.125 1 1 0.75 0.875"};
        resize_check(&c, "1,1,5,9", type, roi);
        c.sizes = "3 4";
        c.axes = "2,3";
        c.roi = "-0.25 0.125 0.75 1.25";
        resize_check(&c, "1,1,5,9", type, roi);
    }
}

static void sample_resize(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    {
        for (size_t k = 0; k < 5; k++) {
            resize_nearest(resize_coordinates[k], type);
            if (!ora_is_float(type)) continue;
            resize_smooth("linear", resize_coordinates[k], type);
            resize_smooth("cubic", resize_coordinates[k], type);
        }
        ORA_EACH_TYPE(roi, row->op, "T2")
        if (ora_is_float(type) || roi == HOLO_F32) resize_crops(type, roi);
    }
    /* Both policies make 4 by 6 into 8 by 12. */
    resize_case kept = {.mode = "linear",
                        .coordinate = "half_pixel",
                        .nearest = "floor",
                        .a = -0.75F,
                        .sizes = "8 12",
                        .axes = "0,1"};
    kept.more = "keep_aspect_ratio_policy=\"not_larger\"";
    resize_check(&kept, "4,6", HOLO_F32, HOLO_F32);
    kept.more = "keep_aspect_ratio_policy=\"not_smaller\"";
    resize_check(&kept, "4,6", HOLO_F32, HOLO_F32);
    resize_check(&(resize_case){.mode = "linear",
                                .coordinate = "half_pixel",
                                .nearest = "floor",
                                .a = -0.75F,
                                .scales = "1 2 2"},
                 "0,3,4", HOLO_F32, HOLO_F32);
}

/* ---- Upsample: Resize as it was before, from places that scale alone ----------------------------
 */

static void upsample_check(holo_dtype type, const char *mode, const char *dims, const char *scales,
                           int opset)
{
    const resize_case c = {
        .mode = mode, .coordinate = "asymmetric", .nearest = "floor", .scales = scales};
    const ora *x = ora_make(type, dims, ora_is_float(type) ? ORA_UNIT : ORA_SMALL, 1);
    resize_axis axes[HOLO_MAX_RANK];
    bool doubt = false;
    char attrs[120], list[60];
    ora *y = resize_axes(&c, x, axes);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(y, k, at);
        y->v[k] = resize_value(&c, x, axes, at, &doubt);
    }
    snprintf(list, sizeof list, "%s", scales);
    for (char *at = list; *at != '\0'; at++)
        if (*at == ' ') *at = ',';
    snprintf(attrs, sizeof attrs, "mode=\"%s\" scales=[%s]", mode, list);
    if (opset < 9) {
        ORA_CHECK("Upsample", attrs, ORA_IN(x), ORA_OUT(y), .opset = opset);
        return;
    }
    *strstr(attrs, " scales") = '\0';
    ORA_CHECK("Upsample", attrs, ORA_IN(x, resize_list(HOLO_F32, scales)), ORA_OUT(y),
              .opset = opset);
}

static void sample_upsample(const ora_row *row)
{
    (void)row;
    ORA_EACH_TYPE(type, "Resize", "T1")
    for (int opset = 7; opset < 10; opset += 2) {
        upsample_check(type, "nearest", "1,2,3,2", "1.0 1.0 2.0 4.0", opset);
        upsample_check(type, "nearest", "3,5", "2.0 1.0", opset);
        if (!ora_is_float(type)) continue;
        upsample_check(type, "linear", "1,2,3,4", "1.0 1.0 2.0 3.0", opset);
        upsample_check(type, "linear", "1,2,0,4", "1.0 1.0 2.0 3.0", opset);
    }
}

/* ---- GridSample --------------------------------------------------------------------------------
 */

typedef struct grid_case {
    const char *mode, *padding;
    bool align;
} grid_case;

/* Index k of an axis of n elements, mirrored at its ends until it is inside. */
static int64_t grid_mirror(int64_t k, int64_t n, bool align)
{
    if (align && n == 1) return 0;
    while (k < 0 || k >= n) {
        if (k < 0)
            k = align ? -k : -1 - k;
        else
            k = align ? 2 * (n - 1) - k : 2 * n - 1 - k;
    }
    return k;
}

static int64_t grid_index(const grid_case *c, int64_t k, int64_t n)
{
    if (k >= 0 && k < n) return k;
    if (strcmp(c->padding, "zeros") == 0) return -1;
    if (strcmp(c->padding, "border") == 0) return k < 0 ? 0 : n - 1;
    return grid_mirror(k, n, c->align);
}

static void grid_taps(const grid_case *c, int64_t n, long double g, sample_taps *t)
{
    const long double length = (long double)n;
    const long double edge = c->align ? 0 : 0.5L;
    long double x = c->align ? (g + 1) / 2 * (length - 1) : ((g + 1) * length - 1) / 2;
    const bool cubic = strcmp(c->mode, "cubic") == 0;
    t->n = 0;
    /* A place outside of the picture is its border, whatever the kernel would reach. */
    if (strcmp(c->padding, "border") == 0 && (x < -edge || x > length - 1 + edge))
        x = x < 0 ? 0 : length - 1;
    if (strcmp(c->mode, "nearest") == 0) {
        sample_tap(t, grid_index(c, (int64_t)rintl(x), n), 1);
        return;
    }
    for (int64_t k = (int64_t)floorl(x) - cubic; k <= (int64_t)floorl(x) + 1 + cubic; k++)
        sample_tap(t, grid_index(c, k, n), sample_kernel(cubic, -0.75L, (long double)k - x));
}

/* Element k of the output; its spatial place in the grid holds the coordinates, the last axis
 * first. */
static wide grid_value(const grid_case *c, const ora *x, const ora *grid, const ora *y, int64_t k)
{
    int64_t at[HOLO_MAX_RANK];
    sample_taps taps[HOLO_MAX_RANK];
    const int axes = x->rank - 2;
    int64_t place = 0;
    ora_unravel(y, k, at);
    for (int d = 0; d < x->rank; d++)
        if (d != 1) place = place * y->dim[d] + at[d];
    for (int d = 0; d < 2; d++) {
        taps[d].n = 0;
        sample_tap(&taps[d], at[d], 1);
    }
    for (int d = 0; d < axes; d++)
        grid_taps(c, x->dim[d + 2], grid->v[place * axes + axes - 1 - d].re, &taps[d + 2]);
    if (strcmp(c->mode, "nearest") == 0) return sample_one(x, taps);
    const wide w = sample_sum(x, taps, 0, 0);
    return ora_near(x->type, w.re, w.tol + 0.25L, 128);
}

/* Coordinates that are sixteenths in eighths of the axes: exact, and none half way. */
static void grid_check(const grid_case *c, const char *dims, const char *grid_dims, holo_dtype type,
                       holo_dtype coordinates)
{
    const ora *x = ora_make(type, dims, ora_is_float(type) ? ORA_UNIT : ORA_SMALL, 1);
    ora *grid = ora_shape(coordinates, grid_dims);
    int64_t dim[HOLO_MAX_RANK];
    uint32_t state = 9;
    for (int64_t k = 0; k < grid->count; k++)
        grid->v[k].re = ((long double)(ora_random(&state) % 51) * 2 - 51) / 32;
    dim[0] = x->dim[0];
    dim[1] = x->dim[1];
    for (int d = 2; d < x->rank; d++)
        dim[d] = grid->dim[d - 1];
    ora *y = ora_new(type, x->rank, dim);
    for (int64_t k = 0; k < y->count; k++)
        y->v[k] = grid_value(c, x, grid, y, k);
    char attrs[100];
    snprintf(attrs, sizeof attrs, "mode=\"%s\" padding_mode=\"%s\" align_corners=%d", c->mode,
             c->padding, c->align);
    ORA_CHECK("GridSample", attrs, ORA_IN(x, grid), ORA_OUT(y));
}

static void sample_grid(const ora_row *row)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    ORA_EACH_TYPE(type, row->op, "T1")
    for (int k = 0; k < 18; k++) {
        const grid_case c = {modes[k % 3], paddings[k / 3 % 3], k / 9 != 0};
        if (k % 3 != 0 && !ora_is_float(type)) continue;
        if (type == HOLO_STRING && k / 3 % 3 == 0) continue; /* no zero of strings */
        grid_check(&c, "2,3,4,8", "2,3,2,2", type, HOLO_F32);
        grid_check(&c, "1,2,4", "1,5,1", type, HOLO_F32);
        grid_check(&c, "1,2,2,4,8", "1,2,3,2,3", type, HOLO_F32);
        grid_check(&c, "2,0,4,8", "2,3,2,2", type, HOLO_F32);
        if (!ora_is_float(type)) continue;
        ORA_EACH_TYPE(other, row->op, "T2") grid_check(&c, "1,2,4,8", "1,3,5,2", type, other);
    }
}

/* ---- AffineGrid --------------------------------------------------------------------------------
 */

static void affine_check(holo_dtype type, const char *size, bool align)
{
    const int axes = size[0] == '5' ? 3 : 2; /* "5 ..." begins with the number of sizes */
    const ora *sizes = resize_list(HOLO_I64, size + 2);
    int64_t dim[HOLO_MAX_RANK];
    const int64_t batch = (int64_t)sizes->v[0].i;
    const ora *theta = ora_make(type, "2,2,3", ORA_UNIT, 1);
    if (axes == 3) theta = ora_make(type, "2,3,4", ORA_UNIT, 1);
    dim[0] = batch;
    for (int d = 0; d < axes; d++)
        dim[d + 1] = (int64_t)sizes->v[d + 2].i;
    dim[axes + 1] = axes;
    ora *y = ora_new(type, axes + 2, dim);
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(y, k, at);
        const wide *t = &theta->v[(at[0] * axes + at[axes + 1]) * (axes + 1)];
        long double sum = t[axes].re, magnitude = 1;
        for (int j = 0; j < axes; j++) { /* coordinate j runs along axis axes - 1 - j */
            const int64_t n = dim[axes - j], i = at[axes - j];
            const long double p = align ? 2 * (long double)i / (long double)(n - 1) - 1
                                        : (2 * (long double)i + 1) / (long double)n - 1;
            sum += t[j].re * p;
            magnitude += fabsl(t[j].re * p);
        }
        y->v[k] = ora_near(type, sum, magnitude, 16);
    }
    ORA_CHECK("AffineGrid", align ? "align_corners=1" : NULL, ORA_IN(theta, sizes), ORA_OUT(y));
}

static void sample_affine(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    for (int align = 0; align < 2; align++) {
        affine_check(type, "4 2 3 5 6", align);
        affine_check(type, "4 2 1 2 9", align);
        affine_check(type, "5 2 3 4 5 6", align);
        affine_check(type, "5 2 3 2 2 3", align);
        affine_check(type, "4 2 3 0 6", align);
    }
}

const ora_row ora_rows_sample[] = {
    {"AffineGrid", sample_affine, NULL},
    {"GridSample", sample_grid, NULL},
    {"Resize", sample_resize, NULL},
    {"Upsample", sample_upsample, NULL},
    {NULL, NULL, NULL},
};

static void sample_rows(void)
{
    ora_run(ora_rows_sample);
}

const hg_test_case hg_tests_oracle_sample[] = {{"rows", sample_rows}, {0}};
