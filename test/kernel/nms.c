/* nms.c - nms against choosing the best box that is left, again and again. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_nms[];

enum { BATCH = 2, CLASSES = 3, BOXES = 17, MOST_BOXES = 700 };

static void nms_make_sized(move_call *c, holo_dtype dtype, const int64_t *size, int64_t most,
                           bool center, double overlap, double least, uint64_t seed)
{
    const int64_t batch = size[0], classes = size[1], boxes = size[2];
    value_in(c, dtype, 3, MOVE_DIMS(batch, boxes, 4), seed);
    value_in(c, dtype, 3, MOVE_DIMS(batch, classes, boxes), seed + 1);
    for (int64_t i = 0; i < batch * classes * boxes; i += 4) /* some equal scores */
        value_set(&c->in[1], i, 1.0);
    if (overlap >= 0)
        value_set(value_in(c, HOLO_F32, 0, MOVE_DIMS(0), 1), 0, overlap);
    else
        value_absent(c);
    if (least > -5)
        value_set(value_in(c, HOLO_F32, 1, MOVE_DIMS(1), 1), 0, least);
    else
        value_absent(c);
    move_out(c, HOLO_I64, 2, MOVE_DIMS(batch * classes * (most < boxes ? most : boxes), 3));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(1));
    value_params(c, MOVE_DIMS(most, center), 2);
}

static void nms_make(move_call *c, int64_t most, bool center, double overlap, double least,
                     uint64_t seed)
{
    nms_make_sized(c, HOLO_F32, MOVE_DIMS(BATCH, CLASSES, BOXES), most, center, overlap, least,
                   seed);
}

static void nms_corners(const move_call *c, int64_t box, double *low, double *high)
{
    double v[4];
    for (int k = 0; k < 4; k++)
        v[k] = value_get(&c->in[0], box * 4 + k);
    for (int k = 0; k < 2; k++) {
        const double p = c->param[1] ? v[k] - v[2 + k] / 2 : v[k];
        const double q = c->param[1] ? v[k] + v[2 + k] / 2 : v[2 + k];
        low[k] = fmin(p, q);
        high[k] = fmax(p, q);
    }
}

static double nms_overlap(const move_call *c, int64_t a, int64_t b)
{
    double low[2][2], high[2][2], common = 1, area[2] = {1, 1};
    nms_corners(c, a, low[0], high[0]);
    nms_corners(c, b, low[1], high[1]);
    for (int k = 0; k < 2; k++) {
        common *= fmax(0, fmin(high[0][k], high[1][k]) - fmax(low[0][k], low[1][k]));
        for (int i = 0; i < 2; i++)
            area[i] *= high[i][k] - low[i][k];
    }
    return common == 0 ? 0 : common / (area[0] + area[1] - common);
}

static void nms_compare(const move_call *c, double overlap, double least)
{
    static bool gone[MOST_BOXES];
    const int64_t classes = c->in[1].dim[1], boxes = c->in[1].dim[2];
    int64_t at = 0, *row = c->out[0].data;
    for (int64_t k = 0; k < c->in[1].dim[0] * classes; k++) {
        memset(gone, 0, sizeof gone);
        for (int64_t found = 0; found < c->param[0]; found++) {
            int64_t best = -1;
            for (int64_t i = 0; i < boxes; i++) {
                const double s = value_get(&c->in[1], k * boxes + i);
                if (gone[i] || isnan(s) || (least > -5 && s <= least)) continue;
                if (best < 0 || s > value_get(&c->in[1], k * boxes + best)) best = i;
            }
            if (best < 0) break;
            if (!CHECK_EQ_INT(row[3 * at], k / classes) ||
                !CHECK_EQ_INT(row[3 * at + 1], k % classes) || !CHECK_EQ_INT(row[3 * at + 2], best))
                return;
            at++;
            for (int64_t i = 0; i < boxes; i++)
                gone[i] =
                    gone[i] || i == best ||
                    nms_overlap(c, k / classes * boxes + i, k / classes * boxes + best) > overlap;
        }
    }
    CHECK_EQ_INT(*(int64_t *)c->out[1].data, at);
    for (int64_t i = 3 * at; i < holo_tensor_count(&c->out[0]); i++)
        CHECK_EQ_INT(row[i], 0);
}

static void nms_values(void)
{
    static const int64_t most[] = {0, 1, 3, BOXES, 100, INT64_MAX};
    static const double overlap[] = {-1, 0, 0.3, 1}, least[] = {-9, 0, 1.5, 3};
    for (size_t k = 0; k < 6 * 4 * 4 * 2; k++) {
        move_call c = {0};
        const double o = overlap[k / 6 % 4], l = least[k / 24 % 4];
        nms_make(&c, most[k % 6], k / 96 == 1, o, l, k);
        if (move_run(hg_kernels_nms, &c)) nms_compare(&c, o < 0 ? 0 : o, l);
        move_free(&c);
    }
}

/* Orders of scores that are hard for sorting, or for keys of 32 bits. */
static double nms_score(int64_t order, int64_t i, int64_t n, double random)
{
    switch (order) {
    case 0: return random;
    case 1: return (double)i;
    case 2: return (double)(n - i);
    case 3: return 0.5;                                  /* all equal */
    case 4: return floor(random * 4) / 4;                /* often equal */
    case 5: return 1 + (double)(i * 7919 % n) * 0x1p-45; /* different in f64 alone */
    case 6: return i % 3 == 0 ? -0.0 : i % 3 == 1 ? 0.0 : 0x1p-24;
    case 7:
        return i % 5 == 0   ? (double)NAN
               : i % 5 == 1 ? (double)INFINITY
               : i % 5 == 2 ? -(double)INFINITY
                            : (double)i;
    default: return (double)(i < n / 2 ? 2 * i : 2 * (n - i) - 1); /* an organ pipe */
    }
}

/* As many boxes as need parts, blocks that are not full, boxes without area or turned around. */
static void nms_sizes(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    static const int64_t sizes[] = {0, 1, 2, 8, 9, 16, 17, 18, 100, MOST_BOXES};
    static const double overlap[] = {0, 0.5, 1}, least[] = {-9, 0, 0.5};
    for (size_t k = 0; k < 9 * 4 * HG_COUNT(sizes); k++) {
        const int64_t order = (int64_t)k % 9, n = sizes[k / 36];
        const double o = overlap[k % 3], l = least[k / 3 % 3];
        move_call c = {0};
        nms_make_sized(&c, types[k / 9 % 4], MOVE_DIMS(1, 2, n), k % 2 == 0 ? n + 1 : 20, k % 4 > 1,
                       o, l, k);
        for (int64_t i = 0; i < 2 * n; i++)
            value_set(&c.in[1], i, nms_score(order, i % n, n, value_get(&c.in[1], i)));
        for (int64_t i = 0; i < n; i += 6) /* a line */
            value_set(&c.in[0], 4 * i + 2, c.param[1] ? 0 : value_get(&c.in[0], 4 * i));
        if (move_run(hg_kernels_nms, &c)) nms_compare(&c, o, l);
        move_free(&c);
    }
}

/* Boxes and scores that are no numbers are never chosen. */
static void nms_nan(void)
{
    move_call c = {0};
    nms_make(&c, 100, false, 0.5, -9, 3);
    for (int64_t i = 0; i < BATCH * CLASSES * BOXES; i++)
        if (i % BOXES != 2) value_set(&c.in[1], i, NAN);
    value_set(&c.in[0], 2 * 4 + 1, NAN);
    if (move_run(hg_kernels_nms, &c)) CHECK_EQ_INT(*(int64_t *)c.out[1].data, CLASSES);
    move_free(&c);
}

static void nms_make_good(move_call *c)
{
    nms_make(c, 5, false, 0.5, 0, 1);
}

static void nms_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_PARAM, 0, 0, -1, "number of boxes a class is -1"},
        {MOVE_PARAM, 1, 0, 2, "center_point is 2"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I32, "input 2 has type int32"},
        {MOVE_IN_TYPE, 3, 0, HOLO_I32, "input 3 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_TYPE, 1, 0, HOLO_I32, "output 1 has type int32"},
        {MOVE_IN_RANK, 0, 0, 2, "boxes has rank 2"},
        {MOVE_IN_RANK, 1, 0, 2, "scores has rank 2"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_IN_DIM, 0, 2, 5, "boxes have 5 numbers"},
        {MOVE_IN_DIM, 0, 1, INT64_C(1) << 32, "4294967296 boxes, expected at most 4294967295"},
        {MOVE_IN_DIM, 1, 0, 3, "scores are [3, classes, 17]"},
        {MOVE_IN_DIM, 1, 2, 16, "scores are [2, classes, 16]"},
        {MOVE_OUT_DIM, 0, 0, 29, "output is 29 x 3, expected 30 x 3"},
        {MOVE_OUT_DIM, 0, 1, 2, "output is 30 x 2"},
        {MOVE_OUT_DIM, 1, 0, 2, "the count has 2 elements"},
        {MOVE_IN_DIM, 3, 0, 2, "threshold has 2 elements"},
        {MOVE_IN_RANK, 2, 0, 1, "threshold has 0 elements"},
    };
    MOVE_REFUSES(hg_kernels_nms, nms_make_good, bad);
}

const hg_test_case hg_tests_kernel_nms[] = {
    {"values", nms_values}, {"sizes", nms_sizes}, {"nan", nms_nan}, {"refuses", nms_refuses}, {0},
};
