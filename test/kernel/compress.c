/* compress.c - compress along each axis and over all elements. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_compress[];

static void compress_make(move_call *c, holo_dtype dtype, int64_t axis, int64_t n,
                          const uint8_t *condition)
{
    move_in(c, dtype, 3, MOVE_DIMS(3, 4, 2));
    memcpy(move_in(c, HOLO_BOOL, 1, &n)->data, condition, (size_t)n);
    move_out(c, dtype, axis < 0 ? 1 : 3, axis < 0 ? MOVE_DIMS(0) : MOVE_DIMS(3, 4, 2));
    move_param(c, axis);
}

static void compress_takes(void)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_STRING};
    static const uint8_t condition[] = {0, 1, 1, 0, 1, 1, 1};
    static const int64_t taken[2][4] = {{1, 2, 4, 5}, {1, 2}};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int64_t axis = -1; axis < 2; axis++) {
            move_call c = {0};
            compress_make(&c, types[t], axis, axis < 0 ? 6 : 7, condition);
            if (!move_size(hg_kernels_compress, &c) || !move_run(hg_kernels_compress, &c)) return;
            const int64_t *from = taken[axis < 0 ? 0 : 1];
            CHECK_EQ_INT(c.out[0].dim[axis < 0 ? 0 : axis], axis < 0 ? 4 : 2);
            for (int64_t i = 0; i < holo_tensor_count(&c.out[0]); i++) {
                int64_t at[8];
                move_coordinates(&c.out[0], i, at);
                if (axis >= 0) at[axis] = from[at[axis]];
                int64_t j = axis < 0 ? from[i] : move_flat(&c.in[0], at);
                if (!CHECK(move_same(&c.out[0], i, &c.in[0], j))) break;
            }
            move_free(&c);
        }
}

static void compress_make_good(move_call *c)
{
    static const uint8_t condition[] = {1, 0};
    compress_make(c, HOLO_F32, 1, 2, condition);
}

static void compress_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_U4, "input 0 has type uint4"},
        {MOVE_IN_TYPE, 1, 0, HOLO_U8, "input 1 has type uint8"},
        {MOVE_IN_RANK, 1, 0, 2, "condition has rank 2"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 0, 0, -2, "axis is -2"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_OUT_DIM, 0, 2, 3, "dimension 2 of the output is 3"},
    };
    MOVE_REFUSES(hg_kernels_compress, compress_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    compress_make_good(&c);
    move_connect(&c);
    c.param[0] = 7;
    CHECK_STATUS(hg_kernels_compress->size(&c.args, &e), HOLO_E_ARG);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_compress[] = {
    {"takes", compress_takes},
    {"refuses", compress_refuses},
    {0},
};
