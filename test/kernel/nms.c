/* nms.c - nms against choosing the best box that is left, again and again. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_nms[];

enum { BATCH = 2, CLASSES = 3, BOXES = 17 };

static void nms_make(move_call *c, int64_t most, bool center, double overlap, double least,
                     uint64_t seed)
{
    value_in(c, HOLO_F32, 3, MOVE_DIMS(BATCH, BOXES, 4), seed);
    value_in(c, HOLO_F32, 3, MOVE_DIMS(BATCH, CLASSES, BOXES), seed + 1);
    for (int64_t i = 0; i < BATCH * CLASSES * BOXES; i += 4) /* some equal scores */
        value_set(&c->in[1], i, 1.0);
    if (overlap >= 0)
        value_set(value_in(c, HOLO_F32, 0, MOVE_DIMS(0), 1), 0, overlap);
    else
        value_absent(c);
    if (least > -5)
        value_set(value_in(c, HOLO_F32, 1, MOVE_DIMS(1), 1), 0, least);
    else
        value_absent(c);
    move_out(c, HOLO_I64, 2, MOVE_DIMS(BATCH * CLASSES * (most < BOXES ? most : BOXES), 3));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(1));
    value_params(c, MOVE_DIMS(most, center), 2);
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
    int64_t at = 0, *row = c->out[0].data;
    for (int64_t k = 0; k < BATCH * CLASSES; k++) {
        bool gone[BOXES] = {false};
        for (int64_t found = 0; found < c->param[0]; found++) {
            int64_t best = -1;
            for (int64_t i = 0; i < BOXES; i++) {
                const double s = value_get(&c->in[1], k * BOXES + i);
                if (gone[i] || (least > -5 && s <= least)) continue;
                if (best < 0 || s > value_get(&c->in[1], k * BOXES + best)) best = i;
            }
            if (best < 0) break;
            if (!CHECK_EQ_INT(row[3 * at], k / CLASSES) ||
                !CHECK_EQ_INT(row[3 * at + 1], k % CLASSES) || !CHECK_EQ_INT(row[3 * at + 2], best))
                return;
            at++;
            for (int64_t i = 0; i < BOXES; i++)
                gone[i] =
                    gone[i] || i == best ||
                    nms_overlap(c, k / CLASSES * BOXES + i, k / CLASSES * BOXES + best) > overlap;
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
    {"values", nms_values},
    {"nan", nms_nan},
    {"refuses", nms_refuses},
    {0},
};
