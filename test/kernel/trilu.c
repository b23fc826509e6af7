/* trilu.c - trilu against its definition. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_trilu[];

static void trilu_make(move_call *c, holo_dtype dtype, bool upper, int64_t k)
{
    move_in(c, dtype, 3, MOVE_DIMS(2, 4, 5));
    move_out(c, dtype, 3, MOVE_DIMS(2, 4, 5));
    move_param(c, upper);
    move_param(c, k);
}

static void trilu_keeps_triangle(void)
{
    static const holo_dtype types[] = {HOLO_BOOL, HOLO_F16, HOLO_F32, HOLO_I64, HOLO_C128};
    static const int64_t ks[] = {0, 1, -2, 4, 5, -4, 100, -100, INT64_MAX, INT64_MIN};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (size_t n = 0; n < 2 * HG_COUNT(ks); n++) {
            move_call c = {0};
            const int64_t k = ks[n / 2];
            const bool upper = n % 2 == 0;
            trilu_make(&c, types[t], upper, k);
            if (!move_run(hg_kernels_trilu, &c)) return;
            for (int64_t i = 0; i < 40; i++) {
                const int64_t diagonal = i % 5 - i / 5 % 4;
                uint64_t value[2];
                move_get(&c.out[0], i, value);
                bool kept = upper ? diagonal >= k : diagonal <= k;
                if (!CHECK(kept ? move_same(&c.out[0], i, &c.in[0], i)
                                : value[0] == 0 && value[1] == 0))
                    break;
            }
            move_free(&c);
        }
}

static void trilu_make_good(move_call *c)
{
    trilu_make(c, HOLO_F32, true, 0);
}

static void trilu_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_U4, "input 0 has type uint4"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_DIM, 0, 1, 5, "output: dimension 1 is 5"},
        {MOVE_PARAM, 0, 0, 2, "upper is 2"},
    };
    MOVE_REFUSES(hg_kernels_trilu, trilu_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    trilu_make_good(&c);
    move_connect(&c);
    c.in[0].rank = c.out[0].rank = 1;
    CHECK_STATUS(hg_kernels_trilu->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "input has rank 1");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_trilu[] = {
    {"keeps_triangle", trilu_keeps_triangle},
    {"refuses", trilu_refuses},
    {0},
};
