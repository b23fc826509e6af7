/* reversesequence.c - reversesequence against coordinates. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_reversesequence[];

static void reversesequence_make(move_call *c, holo_dtype dtype, int64_t batch)
{
    const int64_t dim[3] = {batch == 0 ? 3 : 4, batch == 0 ? 4 : 3, 2};
    move_in(c, dtype, 3, dim);
    move_ints(c, 1, MOVE_DIMS(3), MOVE_DIMS(4, 0, 3));
    move_out(c, dtype, 3, dim);
    move_param(c, batch);
    move_param(c, 1 - batch);
}

static void reversesequence_reverses(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_STRING};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int64_t batch = 0; batch < 2; batch++) {
            move_call c = {0};
            reversesequence_make(&c, types[t], batch);
            if (!move_run(hg_kernels_reversesequence, &c)) return;
            for (int64_t i = 0; i < 24; i++) {
                int64_t at[8];
                move_coordinates(&c.out[0], i, at);
                int64_t length = ((const int64_t *)c.in[1].data)[at[batch]];
                int64_t *time = &at[1 - batch];
                if (*time < length) *time = length - 1 - *time;
                if (!CHECK(move_same(&c.out[0], i, &c.in[0], move_flat(&c.in[0], at)))) break;
            }
            move_free(&c);
        }
}

static void reversesequence_reports(void)
{
    move_call c = {0};
    reversesequence_make(&c, HOLO_F32, 0);
    ((int64_t *)c.in[1].data)[1] = 5;
    ((int64_t *)c.in[1].data)[2] = -1;
    move_run(hg_kernels_reversesequence, &c);
    CHECK_EQ_INT(c.fault.element, 1);
    CHECK_EQ_INT(c.fault.value, 5);
    CHECK_EQ_INT(c.fault.high, 4);
    move_free(&c);
}

static void reversesequence_make_good(move_call *c)
{
    reversesequence_make(c, HOLO_F32, 0);
}

static void reversesequence_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_U2, "input 0 has type uint2"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_DIM, 0, 2, 3, "output: dimension 2 is 3"},
        {MOVE_PARAM, 0, 0, 2, "batch axis is 2"},
        {MOVE_PARAM, 1, 0, 0, "time axis is 0"},
        {MOVE_IN_RANK, 1, 0, 2, "lengths has rank 2"},
        {MOVE_IN_DIM, 1, 0, 2, "2 lengths, expected 3"},
    };
    MOVE_REFUSES(hg_kernels_reversesequence, reversesequence_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    reversesequence_make_good(&c);
    move_connect(&c);
    c.in[0].rank = c.out[0].rank = 1;
    CHECK_STATUS(hg_kernels_reversesequence->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "data has rank 1");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_reversesequence[] = {
    {"reverses", reversesequence_reverses},
    {"reports", reversesequence_reports},
    {"refuses", reversesequence_refuses},
    {0},
};
