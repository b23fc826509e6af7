/* gather_p16.c - gather.p16 against coordinates in the panels; indices from the end, out of range.
 */
#include "kernel/move.h"

#include "kernel/pack.h"

extern const hg_kernel hg_kernels_gather_p16[];

enum { GATHERP16_COLUMNS = 37, GATHERP16_K = 5 };

static const int64_t gatherp16_index[] = {0, 36, -1, 17, -37, 15};

static void gatherp16_make(move_call *c, holo_dtype dtype)
{
    move_in(c, dtype, 3, MOVE_DIMS(3, GATHERP16_K, HG_PANEL));
    move_ints(c, 2, MOVE_DIMS(2, 3), gatherp16_index);
    move_out(c, dtype, 3, MOVE_DIMS(2, 3, GATHERP16_K));
    move_param(c, GATHERP16_COLUMNS);
}

static void gatherp16_picks(void)
{
    static const holo_dtype types[] = {HOLO_F16, HOLO_BF16, HOLO_F32, HOLO_F64};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        gatherp16_make(&c, types[t]);
        if (!move_run(hg_kernels_gather_p16, &c)) return;
        for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
            const int64_t index = gatherp16_index[i / GATHERP16_K];
            const int64_t column = index < 0 ? index + GATHERP16_COLUMNS : index;
            const int64_t from[3] = {column / HG_PANEL, i % GATHERP16_K, column % HG_PANEL};
            if (!CHECK(move_same(&c.out[0], i, &c.in[0], move_flat(&c.in[0], from)))) break;
        }
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
        move_free(&c);
    }
}

/* The last panel has columns that are none. */
static void gatherp16_reports(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 3, MOVE_DIMS(3, 2, HG_PANEL));
    move_ints(&c, 1, MOVE_DIMS(3), MOVE_DIMS(36, 37, -38));
    move_out(&c, HOLO_F32, 2, MOVE_DIMS(3, 2));
    move_param(&c, GATHERP16_COLUMNS);
    move_run(hg_kernels_gather_p16, &c);
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    CHECK_EQ_INT(c.fault.element, 1);
    CHECK_EQ_INT(c.fault.value, 37);
    CHECK_EQ_INT(c.fault.high, 36);
    move_free(&c);
}

static void gatherp16_make_good(move_call *c)
{
    gatherp16_make(c, HOLO_F32);
}

static void gatherp16_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 3, "3 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F16, "output has type float16"},
        {MOVE_IN_RANK, 0, 0, 2, "the panels"},
        {MOVE_IN_DIM, 0, 2, 15, "panels have 15 columns, expected 16"},
        {MOVE_PARAM, 0, 0, 49, "number of columns is 49"},
        {MOVE_PARAM, 0, 0, -1, "number of columns is -1"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_OUT_DIM, 0, 0, 3, "dimension 0 of the output is 3"},
        {MOVE_OUT_DIM, 0, 2, 6, "dimension 2 of the output is 6"},
    };
    MOVE_REFUSES(hg_kernels_gather_p16, gatherp16_make_good, bad);
}

const hg_test_case hg_tests_kernel_gather_p16[] = {
    {"picks", gatherp16_picks},
    {"reports", gatherp16_reports},
    {"refuses", gatherp16_refuses},
    {0},
};
