/* dropout.c - dropout.mask: numbers of a known generator, and none when nothing is dropped. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_dropout[];

static void dropout_make(move_call *c, float ratio, bool training, int64_t count)
{
    *(float *)move_in(c, HOLO_F32, 0, NULL)->data = ratio;
    *(uint8_t *)move_in(c, HOLO_BOOL, 0, NULL)->data = training;
    move_out(c, HOLO_BOOL, 1, &count);
    move_param(c, 0);
}

/* numpy.random.seed(0); numpy.random.uniform(size=10) is .549 .715 .603 .545 .424 .646 .438 .892
 * .964 .383 */
static void dropout_known_numbers(void)
{
    static const uint8_t expected[] = {0, 1, 1, 0, 0, 1, 0, 1, 1, 0};
    move_call c = {0};
    dropout_make(&c, 0.55f, true, 10);
    if (move_run(hg_kernels_dropout, &c)) CHECK_MEM(c.out[0].data, expected, sizeof expected);
    move_free(&c);
}

static void dropout_keeps_all(void)
{
    for (int training = 0; training < 2; training++) {
        move_call c = {0};
        dropout_make(&c, training != 0 ? 0.0f : 0.5f, training != 0, 100);
        move_run(hg_kernels_dropout, &c);
        for (int i = 0; i < 100; i++)
            CHECK_EQ_INT(((const uint8_t *)c.out[0].data)[i], 1);
        move_free(&c);
    }
}

/* The share of dropped elements, more numbers than the generator makes at once; a ratio of 1/2 is
 * standard. */
static void dropout_share(void)
{
    move_call c = {0};
    dropout_make(&c, 0, true, 100000);
    c.in[0].dtype = HOLO_NONE;
    int64_t kept = 0;
    if (move_run(hg_kernels_dropout, &c))
        for (int i = 0; i < 100000; i++)
            kept += ((const uint8_t *)c.out[0].data)[i];
    CHECK_NEAR((double)kept, 50000, 800);
    move_free(&c);
}

static void dropout_reports(void)
{
    move_call c = {0};
    dropout_make(&c, 1.5f, true, 4);
    move_run(hg_kernels_dropout, &c);
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
    move_free(&c);
}

static void dropout_make_good(move_call *c)
{
    dropout_make(c, 0.5f, true, 4);
}

static void dropout_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_NONE, "input 1 is missing"},
        {MOVE_IN_RANK, 0, 0, 1, "input 0 has 0 elements"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output 0 has type float32"},
    };
    MOVE_REFUSES(hg_kernels_dropout, dropout_make_good, bad);
}

const hg_test_case hg_tests_kernel_dropout[] = {
    {"known_numbers", dropout_known_numbers},
    {"keeps_all", dropout_keeps_all},
    {"share", dropout_share},
    {"reports", dropout_reports},
    {"refuses", dropout_refuses},
    {0},
};
