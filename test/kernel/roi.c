/* roi.c - roialign and maxroipool against their definitions. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_roi[];

enum { MAXROIPOOL, ROIALIGN }; /* places in the table */

static const double roi_boxes[][4] = {{0, 0, 5, 4}, {1.3, 0.7, 4.6, 5.2}, {-3, -2, 2, 1},
                                      {3, 3, 3, 3}, {4, 4, 20, 20},       {5, 5, 1, 1}};

static void roi_make_align(move_call *c, holo_dtype dtype, int64_t mode, int64_t ratio, bool half)
{
    value_in(c, dtype, 4, MOVE_DIMS(2, 3, 6, 7), 3);
    holo_tensor *rois = value_in(c, dtype, 2, MOVE_DIMS(6, 4), 1);
    for (int64_t i = 0; i < 24; i++)
        value_set(rois, i, roi_boxes[i / 4][i % 4]);
    move_ints(c, 1, MOVE_DIMS(6), MOVE_DIMS(0, 1, 1, 0, 1, 0));
    move_out(c, dtype, 4, MOVE_DIMS(6, 3, 2, 3));
    move_param(c, mode);
    move_param(c, ratio);
    value_param_f64(c, 0.75);
    move_param(c, half);
}

/* Bilinear weight of element i for place p among n elements, as the standard's code clamps it. */
static double roi_weight(double p, int64_t i, int64_t n)
{
    if (p < -1 || p > (double)n) return 0;
    p = p < 0 ? 0 : p > (double)(n - 1) ? (double)(n - 1) : p;
    const double d = fabs(p - (double)i);
    return d < 1 ? 1 - d : 0;
}

static double roi_oracle(const move_call *c, const int64_t *at)
{
    const holo_tensor *x = &c->in[0];
    const bool half = c->param[3] != 0, largest = c->param[0] == 1;
    double box[4], bin[2], sum = 0, most = 0;
    int64_t grid[2], image = ((int64_t *)c->in[2].data)[at[0]];
    bool first = true;
    for (int k = 0; k < 4; k++)
        box[k] = value_get(&c->in[1], at[0] * 4 + k) * 0.75 - (half ? 0.5 : 0);
    for (int k = 0; k < 2; k++) {
        double length = box[2 + k] - box[k];
        if (!half && length < 1) length = 1;
        bin[k] = length / (k == 0 ? 3 : 2);
        grid[k] = c->param[1] > 0 ? c->param[1] : (int64_t)fmax(0, ceil(bin[k]));
    }
    for (int64_t s = 0; s < grid[0] * grid[1]; s++) {
        const double px =
            box[0] + bin[0] * ((double)at[3] + ((double)(s % grid[0]) + 0.5) / (double)grid[0]);
        const double py =
            box[1] + bin[1] * ((double)at[2] + ((double)(s / grid[0]) + 0.5) / (double)grid[1]);
        const bool inside = px >= -1 && px <= 7 && py >= -1 && py <= 6;
        double here = 0;
        bool any = false;
        for (int64_t i = 0; i < 42 && inside; i++) {
            const double wx = roi_weight(px, i % 7, 7), wy = roi_weight(py, i / 7, 6);
            if (wx == 0 || wy == 0) continue;
            const double v = value_get(x, (image * 3 + at[1]) * 42 + i) * wx * wy;
            sum += v;
            here = any && here > v ? here : v;
            any = true;
        }
        most = first || here > most ? here : most;
        first = false;
    }
    return largest ? most : sum / (double)(grid[0] * grid[1] > 0 ? grid[0] * grid[1] : 1);
}

/* Of the last one a bin has more samples than are found at a time. */
static const int64_t roi_ratios[] = {0, 1, 2, 20};

static void roi_align_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (size_t r = 0; r < HG_COUNT(roi_ratios); r++)
            for (int half = 0; half < 2; half++) {
                move_call c = {0};
                roi_make_align(&c, types[t], 0, roi_ratios[r], half == 1);
                if (move_run(&hg_kernels_roi[ROIALIGN], &c))
                    for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                        int64_t at[4];
                        move_coordinates(&c.out[0], i, at);
                        if (!value_near(&c.out[0], i, roi_oracle(&c, at))) break;
                    }
                move_free(&c);
            }
}

/* All elements positive: neighbours of weight 0 never win. */
static void roi_align_largest(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t k = 0; k < 8 * HG_COUNT(roi_ratios); k++) {
        move_call c = {0};
        roi_make_align(&c, types[k % 4], 1, roi_ratios[k / 8], k / 4 % 2 == 1);
        for (int64_t i = 0; i < holo_tensor_count(&c.in[0]); i++)
            value_set(&c.in[0], i, fabs(value_get(&c.in[0], i)) + 0.1);
        if (move_run(&hg_kernels_roi[ROIALIGN], &c))
            for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                int64_t at[4];
                move_coordinates(&c.out[0], i, at);
                if (!value_near(&c.out[0], i, roi_oracle(&c, at))) break;
            }
        move_free(&c);
    }
}

static void roi_align_faults(void)
{
    static const double wrong[] = {NAN, INFINITY, 1e30};
    move_call c = {0};
    roi_make_align(&c, HOLO_F32, 0, 0, true);
    ((int64_t *)c.in[2].data)[4] = 2;
    CHECK(move_run(&hg_kernels_roi[ROIALIGN], &c));
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    CHECK_EQ_INT(c.fault.element, 4);
    move_free(&c);
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        roi_make_align(&c, HOLO_F32, 0, 0, true);
        value_set(&c.in[1], 2, wrong[k]);
        CHECK(move_run(&hg_kernels_roi[ROIALIGN], &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
        move_free(&c);
    }
}

static void roi_make_max(move_call *c, holo_dtype dtype)
{
    static const double boxes[][5] = {{0, 0, 0, 5, 4}, {1, 1.5, 0.7, 4.6, 5.2}, {1, -3, -2, 2, 1},
                                      {0, 3, 3, 3, 3}, {0, 9, 9, 20, 20},       {1, 5, 5, 1, 1}};
    value_in(c, dtype, 4, MOVE_DIMS(2, 3, 6, 7), 3);
    holo_tensor *rois = value_in(c, dtype, 2, MOVE_DIMS(6, 5), 1);
    for (int64_t i = 0; i < 30; i++)
        value_set(rois, i, boxes[i / 5][i % 5]);
    move_out(c, dtype, 4, MOVE_DIMS(6, 3, 2, 3));
    value_param_f64(c, 0.75);
}

static void roi_max_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        roi_make_max(&c, types[t]);
        if (!move_run(&hg_kernels_roi[MAXROIPOOL], &c)) return;
        for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
            int64_t at[4];
            double most = -INFINITY, low[2], high[2];
            move_coordinates(&c.out[0], i, at);
            for (int k = 0; k < 2; k++) { /* x, y */
                const double begin = round(value_get(&c.in[1], at[0] * 5 + 1 + k) * 0.75);
                const double end = round(value_get(&c.in[1], at[0] * 5 + 3 + k) * 0.75);
                const double bin = fmax(end - begin + 1, 1) / (k == 0 ? 3 : 2);
                low[k] = floor((double)at[3 - k] * bin) + begin;
                high[k] = ceil((double)(at[3 - k] + 1) * bin) + begin;
            }
            const int64_t image = (int64_t)value_get(&c.in[1], at[0] * 5);
            for (int64_t j = 0; j < 42; j++)
                if ((double)(j % 7) >= low[0] && (double)(j % 7) < high[0] &&
                    (double)(j / 7) >= low[1] && (double)(j / 7) < high[1])
                    most = fmax(most, value_get(&c.in[0], (image * 3 + at[1]) * 42 + j));
            if (!value_near(&c.out[0], i, isinf(most) ? 0 : most)) break;
        }
        move_free(&c);
    }
    move_call c = {0};
    roi_make_max(&c, HOLO_F32);
    value_set(&c.in[1], 5, -1.0);
    value_set(&c.in[1], 11, NAN);
    value_set(&c.in[1], 17, INFINITY);
    CHECK(move_run(&hg_kernels_roi[MAXROIPOOL], &c));
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    CHECK_EQ_INT(c.fault.element, 1);
    move_free(&c);
}

/* NaN wins over every number, wherever it stands in a bin. */
static void roi_max_nan(void)
{
    static const int64_t places[] = {0, 1, 7, 8}; /* what the first bin of the first region holds */
    for (size_t k = 0; k < HG_COUNT(places); k++) {
        move_call c = {0};
        roi_make_max(&c, HOLO_F32);
        value_set(&c.in[0], places[k], NAN);
        CHECK(move_run(&hg_kernels_roi[MAXROIPOOL], &c));
        CHECK(isnan(value_get(&c.out[0], 0)));
        move_free(&c);
    }
}

static void roi_make_align_good(move_call *c)
{
    roi_make_align(c, HOLO_F32, 0, 1, true);
}

static void roi_make_max_good(move_call *c)
{
    roi_make_max(c, HOLO_F32);
}

static void roi_refuses(void)
{
    static const move_bad align[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 3, "3 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "rois has type float64"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I32, "input 2 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 3, "input has rank 3"},
        {MOVE_IN_RANK, 1, 0, 1, "rois has rank 1"},
        {MOVE_IN_RANK, 2, 0, 2, "images has rank 2"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_IN_DIM, 1, 1, 5, "rois has 5 columns, expected 4"},
        {MOVE_IN_DIM, 2, 0, 5, "5 images, expected 6"},
        {MOVE_OUT_DIM, 0, 0, 5, "output has 5 x 3 planes"},
        {MOVE_OUT_DIM, 0, 1, 4, "output has 6 x 4 planes"},
        {MOVE_PARAM, 0, 0, 2, "mode is 2"},
        {MOVE_PARAM, 1, 0, 5000, "sampling_ratio is 5000"},
        {MOVE_PARAM, 3, 0, 2, "half_pixel is 2"},
    };
    MOVE_REFUSES(&hg_kernels_roi[ROIALIGN], roi_make_align_good, align);
    static const move_bad max[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_DIM, 1, 1, 4, "rois has 4 columns, expected 5"},
    };
    MOVE_REFUSES(&hg_kernels_roi[MAXROIPOOL], roi_make_max_good, max);
}

const hg_test_case hg_tests_kernel_roi[] = {
    {"align_values", roi_align_values},
    {"align_largest", roi_align_largest},
    {"align_faults", roi_align_faults},
    {"max_values", roi_max_values},
    {"max_nan", roi_max_nan},
    {"refuses", roi_refuses},
    {0},
};
