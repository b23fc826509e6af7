/* gatherelements.c - gatherelements against coordinates. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_gatherelements[];

static void gatherelements_make(move_call *c, holo_dtype dtype, int axis)
{
    int64_t dim[3] = {4, 3, 5}, at[8];
    move_in(c, dtype, 3, dim);
    const int64_t size = dim[axis];
    dim[0]--, dim[2] -= 2;
    dim[axis] = 6;
    holo_tensor *index = move_in(c, HOLO_I64, 3, dim);
    for (int64_t i = 0; i < holo_tensor_count(index); i++) {
        move_coordinates(index, i, at);
        ((int64_t *)index->data)[i] = (at[0] * 5 + at[1] * 3 + at[2] * 7) % (2 * size) - size;
    }
    move_out(c, dtype, 3, dim);
    move_param(c, axis);
}

static void gatherelements_picks(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_BF16, HOLO_F32, HOLO_I64, HOLO_C128, HOLO_U4};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int axis = 0; axis < 3; axis++) {
            move_call c = {0};
            gatherelements_make(&c, types[t], axis);
            if (!move_run(hg_kernels_gatherelements, &c)) return;
            for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                int64_t at[8], index = ((const int64_t *)c.in[1].data)[i];
                move_coordinates(&c.out[0], i, at);
                at[axis] = index < 0 ? index + c.in[0].dim[axis] : index;
                if (!CHECK(move_same(&c.out[0], i, &c.in[0], move_flat(&c.in[0], at)))) break;
            }
            CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
            move_free(&c);
        }
}

static void gatherelements_reports(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 2, MOVE_DIMS(2, 2));
    move_ints(&c, 2, MOVE_DIMS(2, 2), MOVE_DIMS(0, 1, 2, -3));
    move_out(&c, HOLO_F32, 2, MOVE_DIMS(2, 2));
    move_param(&c, 1);
    move_run(hg_kernels_gatherelements, &c);
    CHECK_EQ_INT(c.fault.element, 2);
    CHECK_EQ_INT(c.fault.value, 2);
    CHECK_EQ_INT(c.fault.high, 1);
    move_free(&c);
}

/* -1 - axis: -1 is no class, 1 is one. */
static void gatherelements_labels(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 2, MOVE_DIMS(2, 2));
    move_ints(&c, 2, MOVE_DIMS(2, 1), MOVE_DIMS(1, -1));
    move_out(&c, HOLO_F32, 2, MOVE_DIMS(2, 1));
    move_param(&c, -2);
    move_run(hg_kernels_gatherelements, &c);
    CHECK(move_same(&c.out[0], 0, &c.in[0], 1));
    CHECK_EQ_INT(c.fault.element, 1);
    CHECK_EQ_INT(c.fault.value, -1);
    CHECK_EQ_INT(c.fault.low, 0);
    move_free(&c);
}

static void gatherelements_make_good(move_call *c)
{
    gatherelements_make(c, HOLO_F32, 1);
}

static void gatherelements_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_NONE, "input 0 is missing"},
        {MOVE_IN_TYPE, 1, 0, HOLO_U64, "input 1 has type uint64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_DIM, 0, 1, 7, "output: dimension 1 is 7"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_IN_RANK, 0, 0, 2, "indices has rank 3"},
        {MOVE_IN_DIM, 0, 0, 2, "dimension 0 of the indices is 3, expected at most 2"},
        {MOVE_IN_DIM, 0, 2, 2, "dimension 2 of the indices is 3, expected at most 2"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 0, 0, -4, "axis is -4"},
    };
    MOVE_REFUSES(hg_kernels_gatherelements, gatherelements_make_good, bad);
}

const hg_test_case hg_tests_kernel_gatherelements[] = {
    {"picks", gatherelements_picks},
    {"reports", gatherelements_reports},
    {"labels", gatherelements_labels},
    {"refuses", gatherelements_refuses},
    {0},
};
