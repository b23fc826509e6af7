/* roi.c - roialign and maxroipool: regions of pictures brought to one size.
 *
 *   roialign    in   X [N, C, H, W], rois [R, 4] (x1, y1, x2, y2), images [R] int64
 *               param  mode (0 average, 1 largest), sampling_ratio, scale (f64), half_pixel
 *   maxroipool  in   X [N, C, H, W], rois [R, 5] (image, x1, y1, x2, y2)
 *               param  scale (f64)
 *   both        out  Y [R, C, OH, OW]; f32, f64, f16, bf16, all of one type
 *
 * Places are computed in f64, samples in f32, of f64 in f64. Where samples lie is found once for
 * all channels of a region that a run has.
 *
 * A region of an image that does not exist is an error, and so is one that would need more than
 * ROI_MAX_GRID samples along an axis of one output. */
#include "isa/lane_math.h"
#include "kernel/elem.h"
#include "kernel/number.h"

enum { ROI_MAX_GRID = 4096 };

static holo_status roi_check_common(const hg_args *a, holo_error *e, int64_t columns)
{
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0], *rois = &a->in[1], *y = &a->out[0];
    HG_TRY(hg_check_same_type(rois, x, e, "rois"));
    HG_TRY(hg_check_same_type(y, x, e, "output"));
    HG_TRY(hg_check_rank(x, e, "input", 4, 4));
    HG_TRY(hg_check_rank(rois, e, "rois", 2, 2));
    HG_TRY(hg_check_rank(y, e, "output", 4, 4));
    HG_REQUIRE(e, rois->dim[1] == columns, HOLO_E_SHAPE, "rois has %lld columns, expected %lld",
               (long long)rois->dim[1], (long long)columns);
    HG_REQUIRE(e, y->dim[0] == rois->dim[0] && y->dim[1] == x->dim[1], HOLO_E_SHAPE,
               "output has %lld x %lld planes, expected %lld x %lld", (long long)y->dim[0],
               (long long)y->dim[1], (long long)rois->dim[0], (long long)x->dim[1]);
    return HOLO_OK;
}

static holo_status roi_align_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 4));
    HG_TRY(roi_check_common(a, e, 4));
    HG_TRY(hg_check_in_type(a, e, 2, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_rank(&a->in[2], e, "images", 1, 1));
    HG_REQUIRE(e, a->in[2].dim[0] == a->in[1].dim[0], HOLO_E_SHAPE, "%lld images, expected %lld",
               (long long)a->in[2].dim[0], (long long)a->in[1].dim[0]);
    HG_TRY(hg_check_param(a, e, 0, "mode", 0, 1));
    HG_TRY(hg_check_param(a, e, 1, "sampling_ratio", 0, ROI_MAX_GRID));
    return hg_check_param(a, e, 3, "half_pixel", 0, 1);
}

static holo_status roi_max_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 1));
    return roi_check_common(a, e, 5);
}

/* One plane of the output. */
static int64_t roi_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : a->out[0].dim[0] * a->out[0].dim[1];
}

/* Element where channel c of `image` begins, or -1 and a fault. */
static int64_t roi_plane(const hg_args *a, int64_t roi, int64_t image, int64_t c)
{
    const holo_tensor *x = &a->in[0];
    if (image >= 0 && image < x->dim[0]) return (image * x->dim[1] + c) * x->dim[2] * x->dim[3];
    hg_fault_range(a->fault, "image of a region", roi, image, 0, x->dim[0] - 1);
    return -1;
}

static void roi_zero(const hg_args *a, int64_t unit)
{
    const int64_t n = a->out[0].dim[2] * a->out[0].dim[3];
    const size_t size = hg_dtype_bits(a->out[0].dtype) / 8;
    memset((char *)a->out[0].data + (size_t)(unit * n) * size, 0, (size_t)n * size);
}

/* ---- roialign ------------------------------------------------------------------------------- */

/* One axis of a region: where its bins begin, how long they are, samples in each. */
typedef struct roi_axis {
    double start, bin;
    int64_t grid, size;
} roi_axis;

static bool roi_axis_of(const hg_args *a, int64_t roi, int column, int64_t bins, int64_t size,
                        roi_axis *axis)
{
    const double scale = hg_param_f64(a, 2), shift = a->param[3] != 0 ? 0.5 : 0.0;
    const double start = hg_number_load(&a->in[1], roi * 4 + column) * scale - shift;
    const double end = hg_number_load(&a->in[1], roi * 4 + column + 2) * scale - shift;
    double length = end - start;
    if (a->param[3] == 0 && length < 1.0) length = 1.0;
    const double bin = length / (double)bins;
    const double samples = a->param[1] > 0 ? (double)a->param[1] : hg_ceil_f64(bin);
    *axis = (roi_axis){start, bin, 0, size};
    if (!(samples <= (double)ROI_MAX_GRID)) {
        hg_fault_value(a->fault, "region is too large", roi, roi);
        return false;
    }
    axis->grid = samples > 0.0 ? (int64_t)samples : 0;
    return true;
}

/* Sample i of bin b: the two neighbours and the weight of the second; false outside the picture. */
static bool roi_sample(const roi_axis *axis, int64_t b, int64_t i, int64_t *low, int64_t *high,
                       double *rest)
{
    const double step = ((double)i + 0.5) * axis->bin / (double)axis->grid;
    double p = axis->start + (double)b * axis->bin + step;
    if (!(p >= -1.0 && p <= (double)axis->size)) return false;
    p = p < 0.0 ? 0.0 : p;
    *low = (int64_t)p;
    *high = *low + 1;
    if (*low >= axis->size - 1) {
        *low = *high = axis->size - 1;
        p = (double)*low;
    }
    *rest = p - (double)*low;
    return true;
}

/* A sample of a region: up to four elements of a plane and their weights. */
typedef struct roi_tap {
    int64_t index[4];
    double weight[4];
    float narrow[4];   /* the same */
    bool begins, ends; /* it is the first, the last one of its bin */
    bool inside;
    int32_t run; /* samples from here on that follow in its bin, this one too */
} roi_tap;

enum { ROI_TAPS = 256 }; /* found at a time: they stay near while channels are walked */

/* Samples number first, first + 1, ... of a region, bin by bin; how many there are. */
static int64_t roi_find_taps(const roi_axis *v, const roi_axis *h, int64_t cols, int64_t first,
                             int64_t end, roi_tap *tap)
{
    const int64_t each = v->grid * h->grid, count = hg_min(ROI_TAPS, end - first);
    int64_t bin = first / each, at = first % each, y[2] = {0}, x[2] = {0};
    double wy = 0, wx = 0;
    bool in_rows = false;
    for (int64_t i = 0, column = at % h->grid; i < count; i++, tap++) {
        if (i == 0 || column == 0)
            in_rows = v->size > 0 && h->size > 0 &&
                      roi_sample(v, bin / cols, at / h->grid, &y[0], &y[1], &wy);
        tap->begins = at == 0;
        tap->ends = at == each - 1;
        tap->run = (int32_t)hg_min(each - at, count - i);
        tap->inside = in_rows && roi_sample(h, bin % cols, column, &x[0], &x[1], &wx);
        for (int k = 0; k < 4 && tap->inside; k++) {
            tap->index[k] = y[k >> 1] * h->size + x[k & 1];
            tap->weight[k] = ((k & 2) != 0 ? wy : 1.0 - wy) * ((k & 1) != 0 ? wx : 1.0 - wx);
            tap->narrow[k] = (float)tap->weight[k];
        }
        column = column + 1 == h->grid ? 0 : column + 1;
        at = tap->ends ? 0 : at + 1;
        bin += tap->ends;
    }
    return count;
}

#define T float
#define ACC float
#define LOAD(x) (x)
#define STORE(x) (float)(x)
#define WEIGHT narrow
#define NAME(stem) roi_f32_##stem
#include "kernel/roi_samples.inc"

#define T double
#define ACC double
#define LOAD(x) (x)
#define STORE(x) (x)
#define WEIGHT weight
#define NAME(stem) roi_f64_##stem
#include "kernel/roi_samples.inc"

#define T uint16_t
#define ACC float
#define LOAD(x) hg_f16_to_f32(x)
#define STORE(x) hg_f32_to_f16(hg_f64_to_f32_odd(x))
#define WEIGHT narrow
#define NAME(stem) roi_f16_##stem
#include "kernel/roi_samples.inc"

#define T uint16_t
#define ACC float
#define LOAD(x) hg_bf16_to_f32(x)
#define STORE(x) hg_f32_to_bf16(hg_f64_to_f32_odd(x))
#define WEIGHT narrow
#define NAME(stem) roi_bf16_##stem
#include "kernel/roi_samples.inc"

static void roi_samples(const hg_args *a, const roi_tap *tap, int64_t count, double each,
                        int64_t at, double *sum, int64_t to)
{
    const holo_dtype dtype = a->in[0].dtype;
    const size_t size = hg_dtype_bits(dtype) / 8;
    const void *x = (const char *)a->in[0].data + (size_t)at * size;
    void *y = (char *)a->out[0].data + (size_t)to * size;
    const bool largest = a->param[0] == 1;
    if (dtype == HOLO_F32) roi_f32_samples(tap, count, largest, each, x, sum, y);
    if (dtype == HOLO_F64) roi_f64_samples(tap, count, largest, each, x, sum, y);
    if (dtype == HOLO_F16) roi_f16_samples(tap, count, largest, each, x, sum, y);
    if (dtype == HOLO_BF16) roi_bf16_samples(tap, count, largest, each, x, sum, y);
}

/* Planes [first, end) of the output, all of one region. */
static void roi_align_planes(const hg_args *a, int64_t first, int64_t end, void *scratch)
{
    roi_tap *tap = scratch;
    double *sum = (double *)(void *)(tap + ROI_TAPS); /* of the bin at hand, for each channel */
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t roi = first / y->dim[1], rows = y->dim[2], cols = y->dim[3];
    const int64_t at = roi_plane(a, roi, ((const int64_t *)a->in[2].data)[roi], first % y->dim[1]);
    roi_axis v, h;
    if (at < 0 || !roi_axis_of(a, roi, 1, rows, x->dim[2], &v) ||
        !roi_axis_of(a, roi, 0, cols, x->dim[3], &h) || v.grid * h.grid == 0) {
        for (int64_t u = first; u < end; u++)
            roi_zero(a, u);
        return;
    }
    const int64_t each = v.grid * h.grid, all = rows * cols * each;
    const int64_t plane = x->dim[2] * x->dim[3];
    for (int64_t i = 0, count; i < all; i += count) {
        count = roi_find_taps(&v, &h, cols, i, all, tap);
        for (int64_t u = first; u < end; u++)
            roi_samples(a, tap, count, (double)each, at + (u - first) * plane, &sum[u - first],
                        u * rows * cols + i / each);
    }
}

static size_t roi_align_scratch(const hg_args *a)
{
    return ROI_TAPS * sizeof(roi_tap) + (size_t)a->out[0].dim[1] * sizeof(double);
}

static void roi_align_run(const hg_args *a, hg_range r)
{
    const int64_t channels = a->out[0].dim[1];
    for (int64_t u = r.begin, end; u < r.end; u = end) {
        end = hg_min(r.end, (u / channels + 1) * channels);
        roi_align_planes(a, u, end, r.scratch);
    }
}

/* ---- maxroipool ----------------------------------------------------------------------------- */

/* Rounds a half away from zero; what is far outside stays outside. */
static int64_t roi_round(double v)
{
    v = v < 0.0 ? hg_ceil_f64(v - 0.5) : hg_floor_f64(v + 0.5);
    if (!(v > -0x1p31)) return -(INT64_C(1) << 31);
    return v < 0x1p31 ? (int64_t)v : INT64_C(1) << 31;
}

/* First and one past the last element of bin b of `bins` along an axis. */
static void roi_bin(int64_t first, int64_t last, int64_t bins, int64_t b, int64_t size,
                    int64_t *begin, int64_t *end)
{
    const double length = (double)hg_max(last - first + 1, 1) / (double)bins;
    const int64_t from = (int64_t)hg_floor_f64((double)b * length) + first;
    const int64_t to = (int64_t)hg_ceil_f64((double)(b + 1) * length) + first;
    *begin = hg_min(hg_max(from, 0), size);
    *end = hg_min(hg_max(to, 0), size);
}

/* A bin: rows [top, bottom), columns [left, right). */
typedef struct roi_window {
    int64_t top, bottom, left, right;
} roi_window;

#define ROI_LARGEST(T, ACC, LOAD, suffix)                                                          \
    static double roi_largest_##suffix(const void *data, int64_t at, int64_t width,                \
                                       const roi_window *w)                                        \
    {                                                                                              \
        const T *x = (const T *)data + at;                                                         \
        ACC most = LOAD(x[w->top * width + w->left]);                                              \
        bool has_nan = false;                                                                      \
        for (int64_t i = w->top; i < w->bottom; i++)                                               \
            for (int64_t j = w->left; j < w->right; j++) {                                         \
                const ACC v = LOAD(x[i * width + j]);                                              \
                has_nan |= v != v;                                                                 \
                most = v > most ? v : most; /* no branch that is hard to foretell */               \
            }                                                                                      \
        return has_nan ? (double)NAN : (double)most;                                               \
    }
ROI_LARGEST(float, float, , f32)
ROI_LARGEST(double, double, , f64)
ROI_LARGEST(uint16_t, float, hg_f16_to_f32, f16)
ROI_LARGEST(uint16_t, float, hg_bf16_to_f32, bf16)
#undef ROI_LARGEST

static double roi_largest(const holo_tensor *x, int64_t at, const roi_window *w)
{
    if (w->top >= w->bottom || w->left >= w->right) return 0.0;
    if (x->dtype == HOLO_F32) return roi_largest_f32(x->data, at, x->dim[3], w);
    if (x->dtype == HOLO_F64) return roi_largest_f64(x->data, at, x->dim[3], w);
    if (x->dtype == HOLO_F16) return roi_largest_f16(x->data, at, x->dim[3], w);
    return roi_largest_bf16(x->data, at, x->dim[3], w);
}

/* Planes [first, end) of the output, all of one region. */
static void roi_max_planes(const hg_args *a, int64_t first, int64_t end)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t roi = first / y->dim[1], rows = y->dim[2], cols = y->dim[3];
    const double scale = hg_param_f64(a, 0);
    const int64_t image = roi_round(hg_number_load(&a->in[1], roi * 5));
    const int64_t at = roi_plane(a, roi, image, first % y->dim[1]);
    if (at < 0) {
        for (int64_t u = first; u < end; u++)
            roi_zero(a, u);
        return;
    }
    int64_t box[4];
    for (int k = 0; k < 4; k++)
        box[k] = roi_round(hg_number_load(&a->in[1], roi * 5 + 1 + k) * scale);
    for (int64_t i = 0; i < rows * cols; i++) {
        roi_window w;
        roi_bin(box[1], box[3], rows, i / cols, x->dim[2], &w.top, &w.bottom);
        roi_bin(box[0], box[2], cols, i % cols, x->dim[3], &w.left, &w.right);
        for (int64_t u = first; u < end; u++)
            hg_number_store(y, u * rows * cols + i,
                            roi_largest(x, at + (u - first) * x->dim[2] * x->dim[3], &w));
    }
}

static void roi_max_run(const hg_args *a, hg_range r)
{
    const int64_t channels = a->out[0].dim[1];
    for (int64_t u = r.begin, end; u < r.end; u = end) {
        end = hg_min(r.end, (u / channels + 1) * channels);
        roi_max_planes(a, u, end);
    }
}

const hg_kernel hg_kernels_roi[] = {
    {.name = "maxroipool", .check = roi_max_check, .units = roi_units, .run = roi_max_run},
    {.name = "roialign",
     .check = roi_align_check,
     .units = roi_units,
     .scratch = roi_align_scratch,
     .run = roi_align_run},
    {0},
};
