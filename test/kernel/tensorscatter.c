/* tensorscatter.c - tensorscatter against its definition. */
#include "kernel/value.h"

extern const hg_kernel hg_kernels_tensorscatter[];

static void tensorscatter_make(move_call *c, holo_dtype dtype, int64_t axis, bool circular,
                               const int64_t *first)
{
    int64_t dim[] = {2, 3, 5, 2};
    move_in(c, dtype, 4, dim);
    dim[axis] = 2;
    move_in(c, dtype, 4, dim);
    for (uint8_t *p = c->in[1].data, *end = p + holo_tensor_bytes(&c->in[1]); p != end; p++)
        *p ^= 0x55;
    if (first != NULL) move_ints(c, 1, MOVE_DIMS(2), first);
    move_out(c, dtype, 4, MOVE_DIMS(2, 3, 5, 2));
    value_params(c, MOVE_DIMS(axis, circular), 2);
}

static void tensorscatter_compare(move_call *c, const int64_t *first)
{
    const int axis = (int)c->param[0];
    for (int64_t i = 0; i < 60; i++) {
        int64_t at[4];
        move_coordinates(&c->out[0], i, at);
        const int64_t size = c->in[0].dim[axis], begin = first == NULL ? 0 : first[at[0]];
        int64_t from = -1;
        for (int64_t k = 0; k < 2; k++)
            if ((begin + k) % size == at[axis]) from = k;
        at[axis] = from;
        if (!CHECK(from < 0 ? move_same(&c->out[0], i, &c->in[0], i)
                            : move_same(&c->out[0], i, &c->in[1], move_flat(&c->in[1], at))))
            return;
    }
}

static void tensorscatter_values(void)
{
    static const holo_dtype types[] = {HOLO_F32,  HOLO_U8,       HOLO_F16,
                                       HOLO_C128, HOLO_F8E4M3FN, HOLO_I4};
    static const int64_t first[][2] = {{0, 0}, {1, 3}, {3, 0}, {4, 9}, {100, 7}};
    for (size_t k = 0; k < HG_COUNT(types) * 5; k++) {
        move_call c = {0};
        tensorscatter_make(&c, types[k / 5], 2, k % 5 > 2, first[k % 5]);
        if (move_run(hg_kernels_tensorscatter, &c)) tensorscatter_compare(&c, first[k % 5]);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
        move_free(&c);
    }
    for (int64_t axis = 1; axis < 4; axis++) {
        move_call c = {0};
        tensorscatter_make(&c, HOLO_F32, axis, false, NULL);
        if (move_run(hg_kernels_tensorscatter, &c)) tensorscatter_compare(&c, NULL);
        move_free(&c);
    }
}

static void tensorscatter_faults(void)
{
    static const int64_t wrong[] = {-1, 4, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        move_call c = {0};
        tensorscatter_make(&c, HOLO_F32, 2, false, (const int64_t[]){0, wrong[k]});
        CHECK(move_run(hg_kernels_tensorscatter, &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.element, 1);
        CHECK_EQ_INT(c.fault.value, wrong[k]);
        CHECK_EQ_INT(c.fault.high, 3);
        move_free(&c);
    }
    move_call c = {0}; /* circular places may be as large as they like */
    tensorscatter_make(&c, HOLO_F32, 2, true, (const int64_t[]){INT64_MAX, 0});
    CHECK(move_run(hg_kernels_tensorscatter, &c));
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
    move_free(&c);
}

static void tensorscatter_make_good(move_call *c)
{
    tensorscatter_make(c, HOLO_F32, 2, false, (const int64_t[]){0, 0});
}

static void tensorscatter_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_SEQUENCE, "input 0 has type sequence"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "update has type float64"},
        {MOVE_IN_TYPE, 1, 0, HOLO_NONE, "input 1 is missing"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I32, "input 2 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_OUT_DIM, 0, 3, 3, "output: dimension 3 is 3"},
        {MOVE_IN_RANK, 1, 0, 3, "update has rank 3"},
        {MOVE_PARAM, 0, 0, 0, "axis is 0"},
        {MOVE_PARAM, 1, 0, 2, "circular is 2"},
        {MOVE_IN_DIM, 1, 2, 6, "dimension 2 of the update is 6"},
        {MOVE_IN_DIM, 1, 1, 2, "dimension 1 of the update is 2"},
        {MOVE_IN_DIM, 2, 0, 3, "3 places, expected 2"},
        {MOVE_IN_RANK, 2, 0, 0, "1 places, expected 2"},
    };
    MOVE_REFUSES(hg_kernels_tensorscatter, tensorscatter_make_good, bad);
}

const hg_test_case hg_tests_kernel_tensorscatter[] = {
    {"values", tensorscatter_values},
    {"faults", tensorscatter_faults},
    {"refuses", tensorscatter_refuses},
    {0},
};
