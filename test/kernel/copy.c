/* copy.c - copy.strided against a plain loop, for every element size and way. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_copy[];

static const holo_dtype copy_types[] = {HOLO_U8,     HOLO_F16, HOLO_F32, HOLO_I64,
                                        HOLO_STRING, HOLO_I4,  HOLO_U2};

typedef struct copy_case {
    const char *name;
    int64_t size, offset; /* of the input */
    int loops;
    int64_t extent[8], stride[8];
} copy_case;

static const copy_case copy_table[] = {
    {"one element", 5, 3, 0, {0}, {0}},
    {"a row", 100, 7, 1, {90}, {1}},
    {"rows of a slice", 1000, 33, 3, {4, 5, 6}, {200, 20, 1}},
    {"neighbours that join", 6000, 0, 3, {10, 20, 30}, {600, 30, 1}},
    {"every third, backwards", 100, 98, 1, {33}, {-3}},
    {"rows backwards", 60, 50, 2, {6, 10}, {-10, 1}},
    {"repeat one", 10, 4, 1, {50}, {0}},
    {"repeat rows", 12, 0, 3, {3, 4, 3}, {0, 3, 1}},
    {"repeat elements", 12, 0, 2, {12, 5}, {1, 0}},
    {"transpose", 77 * 35, 0, 2, {35, 77}, {1, 35}},
    {"transpose large", 300 * 270, 0, 2, {270, 300}, {1, 270}},
    {"transpose batches", 3 * 20 * 17, 0, 3, {3, 17, 20}, {340, 1, 17}},
    {"transpose around a middle", 7 * 5 * 19, 0, 3, {19, 5, 7}, {1, 19, 95}},
    {"channels last, three of them", 40 * 3, 0, 2, {3, 40}, {1, 3}},
    {"channels first, three of them", 40 * 3, 0, 2, {40, 3}, {1, 40}},
    {"heads", 2 * 9 * 4 * 8, 0, 4, {2, 4, 9, 8}, {288, 8, 32, 1}},
    {"blocks to space", 2 * 2 * 3 * 4 * 5, 0, 5, {3, 4, 2, 5, 2}, {20, 5, 120, 1, 60}},
    {"long rows in several units", 50000, 1, 2, {2, 20000}, {25000, 1}},
    {"nothing", 10, 0, 2, {3, 0}, {1, 1}},
    {"nothing from nowhere", 0, 99, 1, {0}, {7}},
};

static void copy_make(move_call *c, const copy_case *t, holo_dtype dtype)
{
    int64_t count = 1;
    move_in(c, dtype, 1, &t->size);
    move_param(c, t->offset);
    for (int i = 0; i < t->loops; i++) {
        count *= t->extent[i];
        move_param(c, t->extent[i]);
        move_param(c, t->stride[i]);
    }
    move_out(c, dtype, 1, &count);
}

static void copy_compare(const copy_case *t, const move_call *c)
{
    for (int64_t i = 0; i < c->out[0].dim[0]; i++) {
        int64_t rest = i, from = t->offset;
        for (int k = t->loops - 1; k >= 0; k--) {
            from += rest % t->extent[k] * t->stride[k];
            rest /= t->extent[k];
        }
        if (move_same(&c->out[0], i, &c->in[0], from)) continue;
        hg_test_fail(HG_TEST_HERE, "%s, %s: element %lld is wrong", t->name,
                     holo_dtype_text(c->in[0].dtype), (long long)i);
        return;
    }
}

static void copy_matches_loop(void)
{
    for (size_t i = 0; i < HG_COUNT(copy_table); i++)
        for (size_t t = 0; t < HG_COUNT(copy_types); t++) {
            move_call c = {0};
            copy_make(&c, &copy_table[i], copy_types[t]);
            if (move_run(hg_kernels_copy, &c)) copy_compare(&copy_table[i], &c);
            move_free(&c);
        }
}

static void copy_make_good(move_call *c)
{
    copy_make(c, &(copy_case){"", 60, 10, 2, {4, 5}, {-3, 10}}, HOLO_F32);
}

static void copy_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_IN, 0, 0, 0, "0 inputs"},
        {MOVE_N_OUT, 0, 0, 2, "2 outputs"},
        {MOVE_N_PARAM, 0, 0, 4, "4 parameters"},
        {MOVE_N_PARAM, 0, 0, 35, "35 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_NONE, "input 0 is missing"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I64, "output has type float32, expected the width of int64"},
        {MOVE_IN_TYPE, 0, 0, HOLO_SEQUENCE, "input 0 has type sequence"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_IN_DIM, 0, 0, INT64_MAX, "too many elements"},
        {MOVE_OUT_DIM, 0, 0, -1, "output 0 has a negative dimension"},
        {MOVE_OUT_DIM, 0, 0, 21, "output has 21 elements"},
        {MOVE_PARAM, 1, 0, -4, "-4 turns"},
        {MOVE_PARAM, 1, 0, INT64_MAX, "too many elements"},
        {MOVE_PARAM, 0, 0, 8, "elements -1 to 48"},
        {MOVE_PARAM, 0, 0, 20, "elements 11 to 60"},
        {MOVE_PARAM, 2, 0, INT64_MIN, "too large"},
        {MOVE_PARAM, 0, 0, INT64_MAX, "too large"},
        {MOVE_PARAM, 4, 0, 13, "elements 1 to 62"},
    };
    MOVE_REFUSES(hg_kernels_copy, copy_make_good, bad);
}

/* Bits of one type are elements of another as wide; text is not in its elements. */
static void copy_changes_type(void)
{
    const copy_case all = {"", 5, 0, 1, {5}, {1}};
    move_call c = {0};
    holo_error e = {0};
    copy_make(&c, &all, HOLO_I4);
    c.out[0].dtype = HOLO_F4E2M1;
    if (move_run(hg_kernels_copy, &c)) CHECK_MEM(c.out[0].data, c.in[0].data, 3);
    move_free(&c);
    copy_make(&c, &all, HOLO_STRING);
    c.out[0].dtype = HOLO_C128;
    move_connect(&c);
    CHECK_STATUS(hg_kernels_copy->check(&c.args, &e), HOLO_E_TYPE);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_copy[] = {
    {"matches_loop", copy_matches_loop},
    {"refuses", copy_refuses},
    {"changes_type", copy_changes_type},
    {0},
};
