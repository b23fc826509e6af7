/* maxunpool.c - maxunpool against its definition. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_maxunpool[];

/* Sizes the places speak of are 1 x 2 x 4 x 4; the output may be larger. */
static void maxunpool_make(move_call *c, holo_dtype dtype)
{
    static const int64_t places[] = {5, 7, 13, 15, 16, 31, 24, 22};
    move_in(c, dtype, 4, MOVE_DIMS(1, 2, 2, 2));
    move_ints(c, 4, MOVE_DIMS(1, 2, 2, 2), places);
    move_out(c, dtype, 4, MOVE_DIMS(1, 2, 5, 4));
    value_params(c, MOVE_DIMS(1, 2, 4, 4), 4);
}

static void maxunpool_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        maxunpool_make(&c, types[t]);
        if (move_run(hg_kernels_maxunpool, &c))
            for (int64_t i = 0; i < 40; i++) {
                const int64_t place = i / 20 * 16 + i % 20; /* rows of 4: one more than pooled */
                uint64_t value[2];
                int64_t from = -1;
                for (int64_t k = 0; k < 8; k++)
                    if (i % 20 < 16 && ((int64_t *)c.in[1].data)[k] == place) from = k;
                move_get(&c.out[0], i, value);
                CHECK(from < 0 ? value[0] == 0 : move_same(&c.out[0], i, &c.in[0], from));
            }
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
        move_free(&c);
    }
}

static void maxunpool_faults(void)
{
    static const int64_t wrong[] = {-1, 32, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        move_call c = {0};
        maxunpool_make(&c, HOLO_F32);
        ((int64_t *)c.in[1].data)[3] = wrong[k];
        CHECK(move_run(hg_kernels_maxunpool, &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.element, 3);
        CHECK_EQ_INT(c.fault.value, wrong[k]);
        CHECK_EQ_INT(c.fault.high, 31);
        move_free(&c);
    }
    move_call c = {0}; /* inside the pooled sizes but not in the output */
    maxunpool_make(&c, HOLO_F32);
    c.out[0].dim[3] = 3;
    CHECK(move_run(hg_kernels_maxunpool, &c));
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    CHECK_EQ_INT(c.fault.element, 1);
    move_free(&c);
}

static void maxunpool_make_good(move_call *c)
{
    maxunpool_make(c, HOLO_F32);
}

static void maxunpool_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 3, "3 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
        {MOVE_IN_DIM, 1, 3, 3, "indices: dimension 3 is 3"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_PARAM, 0, 0, -1, "size is -1"},
        {MOVE_PARAM, 0, 0, INT64_MAX, "the sizes of the places are too large"},
    };
    MOVE_REFUSES(hg_kernels_maxunpool, maxunpool_make_good, bad);
}

const hg_test_case hg_tests_kernel_maxunpool[] = {
    {"values", maxunpool_values},
    {"faults", maxunpool_faults},
    {"refuses", maxunpool_refuses},
    {0},
};
