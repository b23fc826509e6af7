/* gather.c - gather against coordinates; indices from the end and out of range. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_gather[];

static const int64_t gather_index[] = {2, -1, 0, -4, 3, 3};

static void gather_make(move_call *c, holo_dtype dtype, int axis)
{
    int64_t dim[3] = {5, 6, 7}, out[4];
    int rank = 0;
    dim[axis] = 4;
    move_in(c, dtype, 3, dim);
    move_ints(c, 2, MOVE_DIMS(2, 3), gather_index);
    for (int i = 0; i < 3; i++) {
        if (i == axis) out[rank++] = 2;
        out[rank++] = i == axis ? 3 : dim[i];
    }
    move_out(c, dtype, 4, out);
    move_param(c, axis);
}

static void gather_picks(void)
{
    static const holo_dtype types[] = {HOLO_I8,     HOLO_F16, HOLO_F32, HOLO_F64,
                                       HOLO_STRING, HOLO_I4,  HOLO_U2};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int axis = 0; axis < 3; axis++) {
            move_call c = {0};
            gather_make(&c, types[t], axis);
            if (!move_run(hg_kernels_gather, &c)) return;
            for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                int64_t at[4], from[3];
                move_coordinates(&c.out[0], i, at);
                int64_t index = gather_index[at[axis] * 3 + at[axis + 1]];
                for (int k = 0; k < 3; k++)
                    from[k] = k < axis ? at[k] : at[k + 1];
                from[axis] = index < 0 ? index + 4 : index;
                if (!CHECK(move_same(&c.out[0], i, &c.in[0], move_flat(&c.in[0], from)))) break;
            }
            CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
            move_free(&c);
        }
}

static void gather_takes_int32(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 1, MOVE_DIMS(4));
    holo_tensor *index = move_in(&c, HOLO_I32, 0, NULL);
    *(int32_t *)index->data = -2;
    move_out(&c, HOLO_F32, 0, NULL);
    move_param(&c, 0);
    if (move_run(hg_kernels_gather, &c)) CHECK(move_same(&c.out[0], 0, &c.in[0], 2));
    move_free(&c);
}

static void gather_reports_lowest(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 1, MOVE_DIMS(4));
    move_ints(&c, 1, MOVE_DIMS(4), MOVE_DIMS(1, -5, 4, INT64_MIN));
    move_out(&c, HOLO_F32, 1, MOVE_DIMS(4));
    move_param(&c, 0);
    move_run(hg_kernels_gather, &c);
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    CHECK_EQ_INT(c.fault.element, 1);
    CHECK_EQ_INT(c.fault.value, -5);
    CHECK_EQ_INT(c.fault.low, -4);
    CHECK_EQ_INT(c.fault.high, 3);
    move_free(&c);
}

/* Single elements of the last axis, few and many, with and without one that is out of range. */
static void gather_singles(void)
{
    for (int64_t n = 1; n <= 200; n += n < 5 ? 1 : 65)
        for (int64_t bad = 0; bad < 2; bad++)
            for (int wide = 0; wide < 2; wide++) {
                const holo_dtype type = wide ? HOLO_I64 : HOLO_I32;
                move_call c = {0};
                holo_tensor *x = move_in(&c, type, 2, MOVE_DIMS(9, 11));
                holo_tensor *index = move_in(&c, HOLO_I64, 1, &n);
                int64_t *at = index->data;
                for (int64_t i = 0; i < 99; i++)
                    wide ? (((int64_t *)x->data)[i] = i) : (((int32_t *)x->data)[i] = (int32_t)i);
                for (int64_t i = 0; i < n; i++)
                    at[i] = i * 7 % 22 - 11;
                if (bad) at[n - 1] = 11;
                holo_tensor *y = move_out(&c, type, 2, MOVE_DIMS(9, n));
                move_param(&c, 1);
                const bool ran = move_run(hg_kernels_gather, &c);
                CHECK_EQ_INT(c.fault.kind, bad ? HG_FAULT_RANGE : HG_FAULT_NONE);
                for (int64_t i = 0; ran && i < 9 * n; i++) {
                    const int64_t got = wide ? ((int64_t *)y->data)[i] : ((int32_t *)y->data)[i];
                    if (bad && i % n == n - 1) continue;
                    if (!CHECK_EQ_INT(got, i / n * 11 + (at[i % n] + 11) % 11)) break;
                }
                move_free(&c);
            }
}

static void gather_of_nothing(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F32, 2, MOVE_DIMS(0, 3));
    move_ints(&c, 1, MOVE_DIMS(1), MOVE_DIMS(0));
    move_out(&c, HOLO_F32, 2, MOVE_DIMS(1, 3));
    move_param(&c, 0);
    move_run(hg_kernels_gather, &c);
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    move_free(&c);
}

static void gather_make_good(move_call *c)
{
    gather_make(c, HOLO_F32, 1);
}

static void gather_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 3, "3 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_OPTIONAL, "input 0 has type optional"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_OUT_DIM, 0, 0, 6, "dimension 0 of the output is 6"},
        {MOVE_OUT_DIM, 0, 1, 3, "dimension 1 of the output is 3"},
        {MOVE_OUT_DIM, 0, 2, 4, "dimension 2 of the output is 4"},
        {MOVE_OUT_DIM, 0, 3, 8, "dimension 3 of the output is 8"},
        {MOVE_IN_DIM, 1, 0, -2, "input 1 has a negative dimension"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 0, 0, -1, "axis is -1"},
    };
    MOVE_REFUSES(hg_kernels_gather, gather_make_good, bad);
}

const hg_test_case hg_tests_kernel_gather[] = {
    {"picks", gather_picks},
    {"takes_int32", gather_takes_int32},
    {"reports_lowest", gather_reports_lowest},
    {"singles", gather_singles},
    {"of_nothing", gather_of_nothing},
    {"refuses", gather_refuses},
    {0},
};
