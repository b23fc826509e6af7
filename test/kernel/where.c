/* where.c - where and equal.string: broadcast operands of the types that lane code does not know.
 */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_where[], hg_kernels_equal[];

static void where_make(move_call *c, holo_dtype dtype)
{
    static const uint8_t condition[] = {1, 0};
    memcpy(move_in(c, HOLO_BOOL, 2, MOVE_DIMS(2, 1))->data, condition, 2);
    move_in(c, dtype, 2, MOVE_DIMS(2, 3));
    move_in(c, dtype, 1, MOVE_DIMS(3));
    move_out(c, dtype, 2, MOVE_DIMS(2, 3));
}

static void where_chooses(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_C64, HOLO_C128};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        where_make(&c, types[t]);
        if (move_run(hg_kernels_where, &c))
            for (int64_t i = 0; i < 6; i++)
                CHECK(move_same(&c.out[0], i, &c.in[i < 3 ? 1 : 2], i % 3));
        move_free(&c);
    }
}

static void where_make_good(move_call *c)
{
    where_make(c, HOLO_C64);
}

static void where_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_U4, "output 0 has type uint4"},
        {MOVE_IN_TYPE, 0, 0, HOLO_U8, "input 0 has type uint8"},
        {MOVE_IN_TYPE, 2, 0, HOLO_NONE, "input 2 is missing"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_IN_DIM, 0, 0, 3, "condition: dimension 0 is 3"},
        {MOVE_IN_DIM, 2, 0, 2, "input 2: dimension 0 is 2"},
    };
    MOVE_REFUSES(hg_kernels_where, where_make_good, bad);
}

static void where_make_equal(move_call *c)
{
    static const holo_string x[] = {{"a", 1}, {"", 0}, {"bc", 2}, {"b", 1}},
                             y[] = {{"b", 1}, {NULL, 0}};
    memcpy(move_in(c, HOLO_STRING, 2, MOVE_DIMS(2, 2))->data, x, sizeof x);
    memcpy(move_in(c, HOLO_STRING, 1, MOVE_DIMS(2))->data, y, sizeof y);
    move_out(c, HOLO_BOOL, 2, MOVE_DIMS(2, 2));
}

static void where_equal_strings(void)
{
    static const uint8_t expected[] = {0, 1, 0, 0};
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_U8, "output 0 has type uint8"},
        {MOVE_IN_TYPE, 1, 0, HOLO_C128, "input 1 has type complex128"},
        {MOVE_IN_DIM, 1, 0, 3, "input 1: dimension 0 is 3"},
    };
    move_call c = {0};
    where_make_equal(&c);
    if (move_run(hg_kernels_equal, &c)) CHECK_MEM(c.out[0].data, expected, sizeof expected);
    move_free(&c);
    MOVE_REFUSES(hg_kernels_equal, where_make_equal, bad);
}

const hg_test_case hg_tests_kernel_where[] = {
    {"chooses", where_chooses},
    {"refuses", where_refuses},
    {"equal_strings", where_equal_strings},
    {0},
};
