/* reduce_axes.c - reduce.axes: sizes from data, then the same numbers as sums say. */
#include "kernel/reduce.h"

#include "kernel/value.h"

extern const hg_kernel hg_kernels_reduce_axes[];

static void reduce_axes_make(move_call *c, holo_dtype index, int64_t n_axes, const int64_t *axes,
                             int64_t keep, int64_t noop)
{
    value_in(c, HOLO_F32, 3, MOVE_DIMS(2, 3, 4), 1);
    holo_tensor *t = value_in(c, index, 1, &n_axes, 1);
    for (int64_t i = 0; i < n_axes; i++)
        value_set(t, i, (double)axes[i]);
    move_out(c, HOLO_F32, 0, MOVE_DIMS(0));
    value_params(c, MOVE_DIMS(HG_REDUCE_SUM, keep, noop), 3);
}

static void reduce_axes_values(void)
{
    static const int64_t axes[][3] = {{0}, {1}, {-1}, {2, 0}, {0, 1, 2}, {-3, 1}};
    static const int64_t count[] = {1, 1, 1, 2, 3, 2}, mask[] = {1, 2, 4, 5, 7, 3};
    for (int k = 0; k < 24; k++) {
        move_call c = {0};
        const int64_t keep = k / 6 % 2, m = mask[k % 6];
        reduce_axes_make(&c, k < 12 ? HOLO_I64 : HOLO_I32, count[k % 6], axes[k % 6], keep, 0);
        if (!move_size(hg_kernels_reduce_axes, &c) || !move_run(hg_kernels_reduce_axes, &c)) return;
        int rank = 0;
        for (int d = 0; d < 3; d++) {
            const bool reduced = (m >> d & 1) != 0;
            if (reduced && keep == 0) continue;
            CHECK_EQ_INT(c.out[0].dim[rank++], reduced ? 1 : 2 + d);
        }
        CHECK_EQ_INT(c.out[0].rank, rank);
        double sum[24] = {0};
        for (int64_t i = 0; i < 24; i++) {
            int64_t at[3], to = 0;
            move_coordinates(&c.in[0], i, at);
            for (int d = 0; d < 3; d++)
                if ((m >> d & 1) == 0) to = to * c.in[0].dim[d] + at[d];
            sum[to] += value_get(&c.in[0], i);
        }
        for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++)
            value_near(&c.out[0], i, sum[i]);
        move_free(&c);
    }
}

/* No axes: all, or none. */
static void reduce_axes_empty(void)
{
    for (int64_t noop = 0; noop < 2; noop++) {
        move_call c = {0};
        reduce_axes_make(&c, HOLO_I64, 0, NULL, 0, noop);
        if (move_size(hg_kernels_reduce_axes, &c) && move_run(hg_kernels_reduce_axes, &c))
            CHECK_EQ_INT(c.out[0].rank, noop == 0 ? 0 : 3);
        move_free(&c);
    }
}

static void reduce_axes_data(void)
{
    static const int64_t wrong[] = {3, -4, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        move_call c = {0};
        holo_error e = {0};
        reduce_axes_make(&c, HOLO_I64, 1, (const int64_t[]){1}, 1, 0);
        ((int64_t *)c.in[1].data)[0] = wrong[k];
        move_connect(&c);
        CHECK_STATUS(hg_kernels_reduce_axes->size(&c.args, &e), HOLO_E_DATA);
        CHECK_HAS(e.message, "expected -3 to 2");
        ((int64_t *)c.in[1].data)[0] = 1;
        if (!move_size(hg_kernels_reduce_axes, &c)) return;
        ((int64_t *)c.in[1].data)[0] = wrong[k]; /* changed between the two calls */
        CHECK(move_run(hg_kernels_reduce_axes, &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
        ((int64_t *)c.in[1].data)[0] = 2;
        c.fault.kind = HG_FAULT_NONE;
        CHECK(move_run(hg_kernels_reduce_axes, &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
        move_free(&c);
    }
}

static void reduce_axes_make_good(move_call *c)
{
    reduce_axes_make(c, HOLO_I64, 1, (const int64_t[]){1}, 1, 0);
}

static void reduce_axes_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_PARAM, 0, 0, 12, "operation is 12"},
        {MOVE_PARAM, 1, 0, 2, "keepdims is 2"},
        {MOVE_PARAM, 2, 0, 2, "noop is 2"},
        {MOVE_IN_TYPE, 0, 0, HOLO_STRING, "input 0 has type string"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_IN_RANK, 1, 0, 2, "axes has rank 2"},
        {MOVE_IN_DIM, 1, 0, 4, "4 axes, expected at most 3"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_STRING, "output 0 has type string"},
    };
    MOVE_REFUSES(hg_kernels_reduce_axes, reduce_axes_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    hg_lane_code code = {0};
    reduce_axes_make_good(&c);
    move_connect(&c);
    c.args.n_in = 1;
    CHECK_STATUS(hg_kernels_reduce_axes->size(&c.args, &e), HOLO_E_FORMAT);
    c.args.n_in = 2;
    c.args.code = &code;
    CHECK_STATUS(hg_kernels_reduce_axes->check(&c.args, &e), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "lane code");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_reduce_axes[] = {
    {"values", reduce_axes_values},
    {"empty", reduce_axes_empty},
    {"data", reduce_axes_data},
    {"refuses", reduce_axes_refuses},
    {0},
};
