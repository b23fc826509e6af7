/* onehot.c - onehot against its definition; a depth that is found in data. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_onehot[];

static const int64_t onehot_index[] = {0, 3, -1, 4, -4, -5};

static void onehot_make(move_call *c, holo_dtype dtype, int axis)
{
    int64_t dim[3] = {2, 3, 4};
    if (axis == 0) dim[0] = 4, dim[1] = 2, dim[2] = 3;
    if (axis == 1) dim[1] = 4, dim[2] = 3;
    move_ints(c, 2, MOVE_DIMS(2, 3), onehot_index);
    move_ints(c, 0, NULL, MOVE_DIMS(4));
    move_in(c, dtype, 1, MOVE_DIMS(2));
    move_out(c, dtype, 3, dim);
    move_param(c, axis);
}

static void onehot_compare(const move_call *c, int axis)
{
    for (int64_t i = 0; i < 24; i++) {
        int64_t at[8], index[2], n = 0;
        move_coordinates(&c->out[0], i, at);
        for (int k = 0; k < 3; k++)
            if (k != axis) index[n++] = at[k];
        int64_t place = onehot_index[index[0] * 3 + index[1]];
        if (place < 0) place += 4;
        if (!CHECK(move_same(&c->out[0], i, &c->in[2], place == at[axis]))) return;
    }
}

static void onehot_sets_one(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_STRING};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int axis = 0; axis < 3; axis++) {
            move_call c = {0};
            onehot_make(&c, types[t], axis);
            if (move_run(&hg_kernels_onehot[0], &c)) onehot_compare(&c, axis);
            move_free(&c);
        }
}

static void onehot_finds_depth(void)
{
    move_call c = {0};
    onehot_make(&c, HOLO_F32, 1);
    c.in[1].dtype = HOLO_F32;
    *(float *)c.in[1].data = 4.0f;
    c.out[0].rank = 0;
    if (move_size(&hg_kernels_onehot[1], &c) && move_run(&hg_kernels_onehot[1], &c)) {
        CHECK_EQ_INT(c.out[0].rank, 3);
        CHECK_EQ_INT(c.out[0].dim[0], 2);
        CHECK_EQ_INT(c.out[0].dim[1], 4);
        CHECK_EQ_INT(c.out[0].dim[2], 3);
        onehot_compare(&c, 1);
    }
    holo_error e = {0};
    *(float *)c.in[1].data = -1.0f;
    CHECK_STATUS(hg_kernels_onehot[1].size(&c.args, &e), HOLO_E_DATA);
    CHECK_HAS(e.message, "depth is -1");
    move_free(&c);
}

/* Indices of every type are cut off to integers. */
static void onehot_reads_any_type(void)
{
    static const holo_dtype types[] = {HOLO_U8,  HOLO_I8,  HOLO_U16, HOLO_I16, HOLO_U32, HOLO_I32,
                                       HOLO_U64, HOLO_I64, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_BF16};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        const float three = 3.5f;
        const double three64 = 3.5;
        const uint64_t whole = 3;
        const uint16_t half[2] = {hg_f32_to_f16(three), hg_f32_to_bf16(three)};
        move_call c = {0};
        holo_tensor *index = move_in(&c, types[t], 0, NULL);
        const void *from = types[t] == HOLO_F32    ? (const void *)&three
                           : types[t] == HOLO_F64  ? (const void *)&three64
                           : types[t] == HOLO_F16  ? (const void *)&half[0]
                           : types[t] == HOLO_BF16 ? (const void *)&half[1]
                                                   : (const void *)&whole;
        memcpy(index->data, from, holo_tensor_bytes(index));
        move_ints(&c, 0, NULL, MOVE_DIMS(5));
        move_in(&c, HOLO_I32, 1, MOVE_DIMS(2));
        move_out(&c, HOLO_I32, 1, MOVE_DIMS(5));
        move_param(&c, 0);
        move_run(&hg_kernels_onehot[0], &c);
        for (int64_t i = 0; i < 5; i++)
            CHECK(move_same(&c.out[0], i, &c.in[2], i == 3));
        move_free(&c);
    }
}

static void onehot_make_good(move_call *c)
{
    onehot_make(c, HOLO_F32, 1);
}

static void onehot_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_STRING, "input 0 has type string"},
        {MOVE_IN_TYPE, 1, 0, HOLO_BOOL, "input 1 has type bool"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I4, "input 2 has type int4"},
        {MOVE_IN_RANK, 1, 0, 1, "depth has 0 elements"},
        {MOVE_IN_DIM, 2, 0, 3, "values has 3 elements"},
        {MOVE_IN_RANK, 0, 0, 8, "indices has rank 8"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 0, 0, -1, "axis is -1"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_OUT_DIM, 0, 0, 3, "dimension 0 of the output is 3"},
        {MOVE_OUT_DIM, 0, 2, 2, "dimension 2 of the output is 2"},
    };
    MOVE_REFUSES(&hg_kernels_onehot[0], onehot_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    onehot_make_good(&c);
    move_connect(&c);
    c.param[0] = 9;
    CHECK_STATUS(hg_kernels_onehot[1].size(&c.args, &e), HOLO_E_ARG);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_onehot[] = {
    {"sets_one", onehot_sets_one},
    {"finds_depth", onehot_finds_depth},
    {"reads_any_type", onehot_reads_any_type},
    {"refuses", onehot_refuses},
    {0},
};
