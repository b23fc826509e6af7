/* scatternd.c - scatternd: slices replaced in the order of the tuples. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_scatternd[];

/* data [4, 3, 2]; three tuples of `tuple` indices, the last equal to the first. */
static void scatternd_make(move_call *c, holo_dtype dtype, int tuple)
{
    static const int64_t index[] = {2, -1, 1, 0, 1, 0, 2, 2, 1};
    const int64_t dim[3] = {4, 3, 2};
    int64_t value[9], update[4] = {3};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < tuple; k++)
            value[i * tuple + k] = index[i * 3 + k];
    for (int i = tuple; i < 3; i++)
        update[1 + i - tuple] = dim[i];
    move_in(c, dtype, 3, dim);
    move_ints(c, 2, MOVE_DIMS(3, tuple), value);
    move_in(c, dtype, 4 - tuple, update);
    move_out(c, dtype, 3, dim);
}

static void scatternd_replaces(void)
{
    static const holo_dtype types[] = {HOLO_BOOL, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_STRING};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int tuple = 1; tuple <= 3; tuple++) {
            move_call c = {0};
            scatternd_make(&c, types[t], tuple);
            if (!move_run(hg_kernels_scatternd, &c)) return;
            const int64_t inner = tuple == 1 ? 6 : tuple == 2 ? 2 : 1;
            const int64_t first = tuple == 1   ? 2
                                  : tuple == 2 ? 8
                                               : 17,
                          second = tuple == 1   ? 0
                                   : tuple == 2 ? 1
                                                : 2;
            for (int64_t i = 0; i < 24; i++) {
                int64_t slice = i / inner, from = i % inner;
                bool same = slice == first    ? move_same(&c.out[0], i, &c.in[2], 2 * inner + from)
                            : slice == second ? move_same(&c.out[0], i, &c.in[2], inner + from)
                                              : move_same(&c.out[0], i, &c.in[0], i);
                if (!CHECK(same)) break;
            }
            CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
            move_free(&c);
        }
}

static void scatternd_reports(void)
{
    move_call c = {0};
    scatternd_make(&c, HOLO_F32, 2);
    ((int64_t *)c.in[1].data)[3] = 3;
    move_run(hg_kernels_scatternd, &c);
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    CHECK_EQ_INT(c.fault.element, 3);
    CHECK_EQ_INT(c.fault.high, 2);
    move_free(&c);
}

static void scatternd_make_good(move_call *c)
{
    scatternd_make(c, HOLO_F32, 2);
}

static void scatternd_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 4, "4 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_IN_RANK, 1, 0, 0, "indices has rank 0"},
        {MOVE_IN_DIM, 1, 1, 4, "tuples of 4 indices, expected at most 3"},
        {MOVE_IN_RANK, 2, 0, 1, "updates has rank 1"},
        {MOVE_IN_DIM, 2, 0, 4, "dimension 0 of the updates is 4"},
        {MOVE_IN_DIM, 2, 1, 3, "dimension 1 of the updates is 3"},
        {MOVE_OUT_DIM, 0, 0, 5, "output: dimension 0 is 5"},
    };
    MOVE_REFUSES(hg_kernels_scatternd, scatternd_make_good, bad);
}

const hg_test_case hg_tests_kernel_scatternd[] = {
    {"replaces", scatternd_replaces},
    {"reports", scatternd_reports},
    {"refuses", scatternd_refuses},
    {0},
};
