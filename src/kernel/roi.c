/* roi.c - roialign and maxroipool: regions of pictures brought to one size.
 *
 *   roialign    in   X [N, C, H, W], rois [R, 4] (x1, y1, x2, y2), images [R] int64
 *               param  mode (0 average, 1 largest), sampling_ratio, scale (f64), half_pixel
 *   maxroipool  in   X [N, C, H, W], rois [R, 5] (image, x1, y1, x2, y2)
 *               param  scale (f64)
 *   both        out  Y [R, C, OH, OW]; f32, f64, f16, bf16, all of one type; computed in f64
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

/* One output: samples are averaged, or the largest weighted neighbour of all of them is taken. */
static double roi_align_bin(const hg_args *a, const roi_axis *v, const roi_axis *h, int64_t at,
                            int64_t by, int64_t bx)
{
    const bool largest = a->param[0] == 1;
    double sum = 0.0;
    bool first = true;
    for (int64_t iy = 0; iy < v->grid; iy++)
        for (int64_t ix = 0; ix < h->grid; ix++) {
            int64_t y[2], x[2];
            double wy, wx, most = 0.0;
            const bool inside = v->size > 0 && h->size > 0 &&
                                roi_sample(v, by, iy, &y[0], &y[1], &wy) &&
                                roi_sample(h, bx, ix, &x[0], &x[1], &wx);
            for (int k = 0; k < 4 && inside; k++) {
                const double w = ((k & 2) != 0 ? wy : 1.0 - wy) * ((k & 1) != 0 ? wx : 1.0 - wx);
                const double t = w * hg_number_load(&a->in[0], at + y[k >> 1] * h->size + x[k & 1]);
                if (!largest) sum += t;
                if (k == 0 || t > most) most = t;
            }
            if (largest && (first || most > sum)) sum = most;
            first = false;
        }
    return largest ? sum : sum / (double)hg_max(v->grid * h->grid, 1);
}

static void roi_align_plane(const hg_args *a, int64_t unit)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t roi = unit / y->dim[1], rows = y->dim[2], cols = y->dim[3];
    const int64_t at = roi_plane(a, roi, ((const int64_t *)a->in[2].data)[roi], unit % y->dim[1]);
    roi_axis v, h;
    if (at < 0 || !roi_axis_of(a, roi, 1, rows, x->dim[2], &v) ||
        !roi_axis_of(a, roi, 0, cols, x->dim[3], &h)) {
        roi_zero(a, unit);
        return;
    }
    for (int64_t i = 0; i < rows * cols; i++)
        hg_number_store(y, unit * rows * cols + i,
                        roi_align_bin(a, &v, &h, at, i / cols, i % cols));
}

static void roi_align_run(const hg_args *a, hg_range r)
{
    for (int64_t u = r.begin; u < r.end; u++)
        roi_align_plane(a, u);
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

static double roi_max_bin(const hg_args *a, const int64_t box[4], int64_t at, int64_t by,
                          int64_t bx)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    int64_t top, bottom, left, right;
    roi_bin(box[1], box[3], y->dim[2], by, x->dim[2], &top, &bottom);
    roi_bin(box[0], box[2], y->dim[3], bx, x->dim[3], &left, &right);
    if (top >= bottom || left >= right) return 0.0;
    double most = hg_number_load(x, at + top * x->dim[3] + left);
    for (int64_t i = top; i < bottom; i++)
        for (int64_t j = left; j < right; j++) {
            const double v = hg_number_load(x, at + i * x->dim[3] + j);
            if (v > most || v != v) most = v;
        }
    return most;
}

static void roi_max_plane(const hg_args *a, int64_t unit)
{
    const holo_tensor *y = &a->out[0];
    const int64_t roi = unit / y->dim[1], rows = y->dim[2], cols = y->dim[3];
    const double scale = hg_param_f64(a, 0);
    const int64_t image = roi_round(hg_number_load(&a->in[1], roi * 5));
    const int64_t at = roi_plane(a, roi, image, unit % y->dim[1]);
    if (at < 0) {
        roi_zero(a, unit);
        return;
    }
    int64_t box[4];
    for (int k = 0; k < 4; k++)
        box[k] = roi_round(hg_number_load(&a->in[1], roi * 5 + 1 + k) * scale);
    for (int64_t i = 0; i < rows * cols; i++)
        hg_number_store(y, unit * rows * cols + i, roi_max_bin(a, box, at, i / cols, i % cols));
}

static void roi_max_run(const hg_args *a, hg_range r)
{
    for (int64_t u = r.begin; u < r.end; u++)
        roi_max_plane(a, u);
}

const hg_kernel hg_kernels_roi[] = {
    {.name = "maxroipool", .check = roi_max_check, .units = roi_units, .run = roi_max_run},
    {.name = "roialign", .check = roi_align_check, .units = roi_units, .run = roi_align_run},
    {0},
};
