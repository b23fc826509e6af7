/* resize.c - resize against the standard's formulas, one axis after the other in f64. */
#include "kernel/resize.h"

#include "kernel/value.h"

extern const hg_kernel hg_kernels_resize[];

typedef struct resize_case {
    int64_t mode, coordinate, nearest, antialias, exclude;
    int rank;
    int64_t in[4], out[4];
    double scale[4]; /* 0: out / in */
} resize_case;

enum { NEAREST = HG_RESIZE_NEAREST, LINEAR = HG_RESIZE_LINEAR, CUBIC = HG_RESIZE_CUBIC };
enum { HALF, SYMMETRIC, TORCH, CORNERS, ASYMMETRIC, CROP, TF_HALF };

static const resize_case resize_cases[] = {
    {NEAREST, ASYMMETRIC, HG_RESIZE_FLOOR, 0, 0, 4, {1, 2, 3, 4}, {1, 2, 6, 8}, {1, 1, 2, 2}},
    {NEAREST, HALF, HG_RESIZE_ROUND_FLOOR, 0, 0, 4, {2, 1, 5, 7}, {2, 1, 3, 10}, {0}},
    {NEAREST, HALF, HG_RESIZE_ROUND_CEIL, 0, 0, 2, {6, 4}, {3, 7}, {0}},
    {NEAREST, ASYMMETRIC, HG_RESIZE_CEIL, 0, 0, 3, {3, 4, 5}, {5, 4, 3}, {0}},
    {NEAREST, CORNERS, HG_RESIZE_FLOOR, 0, 0, 1, {5}, {9}, {0}},
    {NEAREST, TF_HALF, HG_RESIZE_FLOOR, 0, 0, 1, {5}, {7}, {0}},
    {LINEAR, HALF, 0, 0, 0, 4, {1, 3, 4, 5}, {1, 3, 7, 3}, {0}},
    {LINEAR, SYMMETRIC, 0, 0, 0, 2, {4, 5}, {6, 6}, {1.6, 1.3}},
    {LINEAR, TORCH, 0, 0, 0, 2, {4, 5}, {1, 3}, {0}},
    {LINEAR, CORNERS, 0, 0, 0, 3, {2, 4, 5}, {2, 7, 2}, {0}},
    {LINEAR, ASYMMETRIC, 0, 0, 0, 3, {4, 5, 2}, {8, 3, 2}, {0}},
    {LINEAR, CROP, 0, 0, 0, 2, {6, 5}, {4, 9}, {0}},
    {LINEAR, HALF, 0, 1, 0, 2, {9, 10}, {4, 3}, {0}},
    {CUBIC, HALF, 0, 0, 0, 2, {5, 6}, {9, 4}, {0}},
    {CUBIC, HALF, 0, 0, 1, 2, {5, 6}, {9, 4}, {0}},
    {CUBIC, HALF, 0, 1, 1, 2, {11, 6}, {4, 9}, {0}},
    {CUBIC, ASYMMETRIC, 0, 0, 0, 4, {2, 3, 4, 2}, {3, 4, 5, 3}, {0}},
    {LINEAR, HALF, 0, 0, 0, 2, {4, 5}, {4, 5}, {0}},
    {NEAREST, HALF, 0, 0, 0, 0, {0}, {0}, {0}},
    {LINEAR, HALF, 0, 0, 0, 2, {4, 5}, {0, 3}, {0}},
    {LINEAR, HALF, 0, 0, 0, 2, {1, 1}, {3, 4}, {0}},
    {NEAREST, CROP, HG_RESIZE_FLOOR, 0, 0, 2, {6, 5}, {4, 9}, {0}}, /* rows and columns outside */
    {NEAREST, ASYMMETRIC, HG_RESIZE_FLOOR, 0, 0, 3, {2, 3, 15}, {2, 9, 30}, {1, 3, 2}},
};

static const double resize_roi[] = {0.2, -0.1, 0.9, 1.1}; /* of two axes */

static double resize_case_scale(const resize_case *p, int d)
{
    return p->scale[d] != 0.0 ? p->scale[d] : (double)p->out[d] / (double)p->in[d];
}

static void resize_make(move_call *c, const resize_case *p, holo_dtype dtype)
{
    value_in(c, dtype, p->rank, p->in, 3);
    if (p->coordinate == CROP) {
        holo_tensor *roi = value_in(c, HOLO_F64, 1, MOVE_DIMS(2 * p->rank), 1);
        memcpy(roi->data, resize_roi, sizeof resize_roi);
    }
    move_out(c, dtype, p->rank, p->out);
    const int64_t head[] = {p->mode, p->coordinate, p->nearest, p->antialias, p->exclude};
    value_params(c, head, 5);
    value_param_f64(c, -0.75);
    value_param_f64(c, 7.0);
    move_param(c, p->rank);
    for (int d = 0; d < p->rank; d++) {
        move_param(c, d);
        if (p->scale[d] != 0.0)
            value_param_f64(c, p->scale[d]);
        else
            move_param(c, p->out[d]);
        move_param(c, p->scale[d] != 0.0 ? 0 : p->in[d]);
    }
}

static double resize_place(const resize_case *p, int d, int64_t o)
{
    const double in = (double)p->in[d], x = (double)o, scale = resize_case_scale(p, d);
    const double width = scale * in, out = (double)p->out[d];
    switch (p->coordinate) {
    case HALF: return (x + 0.5) / scale - 0.5;
    case SYMMETRIC: return in / 2 * (1 - out / width) + (x + 0.5) / scale - 0.5;
    case TORCH: return out > 1 ? (x + 0.5) / scale - 0.5 : -0.5;
    case CORNERS: return width == 1 ? 0 : x * (in - 1) / (width - 1);
    case ASYMMETRIC: return x / scale;
    case TF_HALF: return (x + 0.5) / scale;
    default: break;
    }
    const double begin = resize_roi[d], end = resize_roi[2 + d];
    if (out <= 1) return 0.5 * (begin + end) * (in - 1);
    return begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1);
}

static double resize_kernel(int64_t mode, double x)
{
    const double a = -0.75;
    x = fabs(x);
    if (mode == LINEAR) return x < 1 ? 1 - x : 0;
    if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/* Weights of all input elements of axis d for output o; false outside the crop. */
static bool resize_weights(const resize_case *p, int d, int64_t o, double *w)
{
    const int64_t n = p->in[d];
    double place = resize_place(p, d, o), sum = 0;
    for (int64_t i = 0; i < n; i++)
        w[i] = 0;
    if (p->coordinate == CROP && (place < 0 || place > (double)(n - 1))) return false;
    if (fabs(place - rint(place)) < 1e-9) place = rint(place);
    if (p->mode == NEAREST) {
        const double down = floor(place), rest = place - down;
        const bool up = p->nearest == HG_RESIZE_CEIL          ? rest > 0
                        : p->nearest == HG_RESIZE_ROUND_CEIL  ? rest >= 0.5
                        : p->nearest == HG_RESIZE_ROUND_FLOOR ? rest > 0.5
                                                              : false;
        const int64_t i = (int64_t)down + up;
        w[i < 0 ? 0 : i >= n ? n - 1 : i] = 1;
        return true;
    }
    const double scale = resize_case_scale(p, d), stretch = p->antialias && scale < 1 ? scale : 1;
    for (int64_t i = -40; i < n + 40; i++) {
        const double v = resize_kernel(p->mode, ((double)i - place) * stretch);
        if (p->exclude && (i < 0 || i >= n)) continue;
        w[i < 0 ? 0 : i >= n ? n - 1 : i] += v;
        sum += v;
    }
    for (int64_t i = 0; i < n && (p->exclude || stretch != 1); i++)
        w[i] /= sum;
    return true;
}

static double resize_oracle(const resize_case *p, const holo_tensor *x, const int64_t *o)
{
    double w[4][16], sum = 0;
    for (int d = 0; d < p->rank; d++)
        if (!resize_weights(p, d, o[d], w[d])) return 7.0;
    for (int64_t i = 0; i < holo_tensor_count(x); i++) {
        int64_t at[4];
        double v = value_get(x, i);
        move_coordinates(x, i, at);
        for (int d = 0; d < p->rank; d++)
            v *= w[d][at[d]];
        sum += v;
    }
    return sum;
}

static void resize_compare(const move_call *c, const resize_case *p)
{
    for (int64_t i = 0; i < holo_tensor_count(&c->out[0]); i++) {
        int64_t at[4];
        move_coordinates(&c->out[0], i, at);
        double expected = resize_oracle(p, &c->in[0], at);
        if (hg_dtype_is_float(c->out[0].dtype)) {
            if (!value_near(&c->out[0], i, expected)) return;
        } else if (!CHECK_NEAR(value_get(&c->out[0], i), expected, 0.51)) { /* rounds to nearest */
            return;
        }
    }
}

static void resize_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16,
                                       HOLO_U8,  HOLO_I8,  HOLO_I32, HOLO_I64};
    for (size_t k = 0; k < HG_COUNT(resize_cases); k++)
        for (size_t t = 0; t < HG_COUNT(types); t++) {
            /* Cubic weights overshoot what 8 bits hold. */
            if (resize_cases[k].mode == CUBIC && (types[t] == HOLO_U8 || types[t] == HOLO_I8))
                continue;
            move_call c = {0};
            resize_make(&c, &resize_cases[k], types[t]);
            if (move_run(hg_kernels_resize, &c)) resize_compare(&c, &resize_cases[k]);
            move_free(&c);
        }
}

/* The scales are an input: the same answers, and sizes found by the kernel. */
static void resize_late(void)
{
    for (size_t k = 0; k < HG_COUNT(resize_cases); k++) {
        const resize_case *p = &resize_cases[k];
        if (p->rank == 0 || p->out[0] == 0 || p->coordinate == CROP) continue;
        resize_case q = *p;
        move_call c = {0};
        resize_make(&c, p, HOLO_F32);
        c.args.n_in = 2;
        holo_tensor *scales = value_in(&c, HOLO_F64, 1, MOVE_DIMS(p->rank), 1);
        for (int d = 0; d < p->rank; d++) {
            q.scale[d] = resize_case_scale(p, d) * (1 + 1e-9); /* floor gives the size */
            ((double *)scales->data)[d] = q.scale[d];
        }
        if (move_size(&hg_kernels_resize[1], &c) && move_run(&hg_kernels_resize[1], &c)) {
            for (int d = 0; d < p->rank; d++)
                CHECK_EQ_INT(c.out[0].dim[d], p->out[d]);
            if (p->mode != NEAREST) resize_compare(&c, &q);
        }
        move_free(&c);
    }
}

/* Bits of any type go along with nearest; integers saturate otherwise. */
static void resize_types(void)
{
    static const holo_dtype types[] = {HOLO_BOOL, HOLO_C128, HOLO_STRING, HOLO_U16, HOLO_F8E5M2};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        resize_make(&c, &resize_cases[0], types[t] == HOLO_F8E5M2 ? HOLO_U8 : HOLO_F32);
        free(c.in[0].data);
        free(c.out[0].data);
        c.in[0] = move_tensor(types[t], 4, resize_cases[0].in);
        c.out[0] = move_tensor(types[t], 4, resize_cases[0].out);
        move_fill(&c.in[0]);
        holo_error e = {0};
        move_connect(&c);
        if (types[t] == HOLO_F8E5M2) {
            CHECK_STATUS(hg_kernels_resize->check(&c.args, &e), HOLO_E_TYPE);
        } else if (move_run(hg_kernels_resize, &c)) {
            CHECK(move_same(&c.out[0], 0, &c.in[0], 0));
            CHECK(move_same(&c.out[0], 95, &c.in[0], 23));
        }
        move_free(&c);
    }
    static const resize_case wide = {CUBIC, HALF, 0, 0, 0, 1, {4}, {9}, {0}};
    move_call c = {0};
    resize_make(&c, &wide, HOLO_U8);
    const uint8_t steps[] = {0, 0, 255, 255};
    memcpy(c.in[0].data, steps, sizeof steps);
    if (move_run(hg_kernels_resize, &c)) {
        CHECK_EQ_INT(((uint8_t *)c.out[0].data)[2], 0);
        CHECK_EQ_INT(((uint8_t *)c.out[0].data)[6], 255);
    }
    move_free(&c);
}

/* Scales that are data may be anything. */
static void resize_late_refuses(void)
{
    static const double wrong[] = {0.0, -1.0, NAN, INFINITY, 1e300};
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        move_call c = {0};
        holo_error e = {0};
        resize_make(&c, &resize_cases[13], HOLO_F32);
        c.args.n_in = 2;
        holo_tensor *scales = value_in(&c, HOLO_F64, 1, MOVE_DIMS(2), 1);
        ((double *)scales->data)[0] = 1.0;
        ((double *)scales->data)[1] = wrong[k];
        move_connect(&c);
        CHECK_STATUS(hg_kernels_resize[1].size(&c.args, &e), HOLO_E_DATA);
        CHECK_HAS(e.message, "scale 1 is not between 0 and 1e9");
        move_free(&c);
    }
}

static void resize_make_good(move_call *c)
{
    resize_make(c, &resize_cases[11], HOLO_F32);
}

static void resize_make_late(move_call *c)
{
    resize_make_good(c);
    value_in(c, HOLO_F32, 1, MOVE_DIMS(2), 1);
}

/* The size of a call that make gives, with one change, is refused. */
static void resize_size_refuses(const move_call *good, const move_bad *bad, holo_status status)
{
    move_call c = *good;
    holo_error e = {0};
    move_connect(&c);
    move_break(&c, bad);
    CHECK_STATUS(hg_kernels_resize[1].size(&c.args, &e), status);
    CHECK_HAS(e.message, bad->sentence);
}

static void resize_late_sizes(void)
{
    move_call c = {0};
    resize_make_late(&c);
    ((float *)c.in[2].data)[0] = 1.0f;
    ((float *)c.in[2].data)[1] = 9e8f;
    resize_size_refuses(&c, &(move_bad){MOVE_N_IN, 0, 0, 2, "2 inputs"}, HOLO_E_FORMAT);
    resize_size_refuses(&c, &(move_bad){MOVE_IN_DIM, 0, 1, 1 << 20, "dimension 1 would have"},
                        HOLO_E_DATA);
    ((double *)c.in[1].data)[3] = -5.0; /* the region ends before it begins */
    resize_size_refuses(&c, &(move_bad){MOVE_IN_DIM, 0, 1, 5, "dimension 1 would have"},
                        HOLO_E_DATA);
    move_free(&c);
    resize_make_late(&c); /* a long region at a tiny scale: the filter would never end */
    ((float *)c.in[2].data)[0] = ((float *)c.in[2].data)[1] = 1e-6f;
    ((double *)c.in[1].data)[0] = ((double *)c.in[1].data)[1] = 0.0;
    ((double *)c.in[1].data)[2] = ((double *)c.in[1].data)[3] = 1e6;
    resize_size_refuses(
        &c, &(move_bad){MOVE_PARAM, HG_RESIZE_PARAM_ANTIALIAS, 0, 1, "is too small for 6 elements"},
        HOLO_E_ARG);
    move_free(&c);
}

/* A region of interest that is no region: everything is outside, nothing is read. */
static void resize_crop_nan(void)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        move_call c = {0};
        resize_make(&c, &resize_cases[11], HOLO_F32);
        ((double *)c.in[1].data)[k % 4] = wrong[k];
        CHECK(move_run(hg_kernels_resize, &c));
        move_free(&c);
    }
}

static void resize_make_small(move_call *c)
{
    resize_make(c, &resize_cases[12], HOLO_F32);
    c->param[HG_RESIZE_PARAM_DIMS + HG_RESIZE_DIM_DENOMINATOR] = 0;
    const double scale = 4.0 / 9.0;
    memcpy(&c->param[HG_RESIZE_PARAM_DIMS + HG_RESIZE_DIM_NUMERATOR], &scale, sizeof scale);
}

static void resize_refuses(void)
{
    enum { FIRST = HG_RESIZE_PARAM_DIMS, SECOND = FIRST + HG_RESIZE_DIM_PARAMS };
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 3, "3 inputs, expected 2"},
        {MOVE_N_IN, 0, 0, 1, "input 1 is missing"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 13, "13 parameters"},
        {MOVE_PARAM, HG_RESIZE_PARAM_MODE, 0, 3, "mode is 3"},
        {MOVE_PARAM, HG_RESIZE_PARAM_COORDINATE, 0, 7, "coordinate transformation is 7"},
        {MOVE_PARAM, HG_RESIZE_PARAM_NEAREST, 0, 4, "nearest mode is 4"},
        {MOVE_PARAM, HG_RESIZE_PARAM_COUNT, 0, 9, "number of scales is 9"},
        {MOVE_PARAM, HG_RESIZE_PARAM_COUNT, 0, 3, "roi has 4 elements, expected 6"},
        {MOVE_PARAM, FIRST + HG_RESIZE_DIM_PLACE, 0, 2, "place in the list of scales is 2"},
        {MOVE_PARAM, FIRST + HG_RESIZE_DIM_PLACE, 0, -1,
         "dimension 0 of the output is 4, expected 6"},
        {MOVE_PARAM, SECOND + HG_RESIZE_DIM_DENOMINATOR, 0, -1, "denominator is -1"},
        {MOVE_PARAM, SECOND + HG_RESIZE_DIM_NUMERATOR, 0, 0, "the scale of dimension 1"},
        {MOVE_IN_TYPE, 0, 0, HOLO_BOOL, "input 0 has type bool"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I64, "input 1 has type int64"},
        {MOVE_IN_DIM, 0, 0, INT64_C(1) << 40, "dimension 0 is 1099511627776"},
        {MOVE_IN_DIM, 0, 1, 0, "dimension 1 cannot grow from 0 to 9"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_OUT_DIM, 0, 1, INT64_C(1) << 40, "1099511627776, expected less than 2^40"},
        {MOVE_OUT_DIM, 0, 1, 11, "dimension 1 of the output is 11, its scale allows 10"},
    };
    MOVE_REFUSES(hg_kernels_resize, resize_make_good, bad);
    static const move_bad late[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs, expected 3"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I64, "input 2 has type int64"},
        {MOVE_IN_DIM, 2, 0, 3, "scales has 3 elements, expected 2"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
    };
    MOVE_REFUSES(&hg_kernels_resize[1], resize_make_late, late);
    double tiny = 1e-6;
    int64_t bits;
    memcpy(&bits, &tiny, sizeof bits);
    const move_bad small[] = {
        {MOVE_PARAM, FIRST + HG_RESIZE_DIM_NUMERATOR, 0, bits, "too small for 9 elements"}};
    MOVE_REFUSES(hg_kernels_resize, resize_make_small, small);
}

const hg_test_case hg_tests_kernel_resize[] = {
    {"values", resize_values},         {"late", resize_late},
    {"types", resize_types},           {"late_refuses", resize_late_refuses},
    {"late_sizes", resize_late_sizes}, {"crop_nan", resize_crop_nan},
    {"refuses", resize_refuses},       {0},
};
