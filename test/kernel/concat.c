/* concat.c - concat against coordinates, for every element size. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_concat[];

static void concat_make(move_call *c, holo_dtype dtype, int axis, const int64_t sizes[3])
{
    int64_t dim[3] = {3, 4, 5}, sum = 0;
    for (int i = 0; i < 3; i++) {
        dim[axis] = sizes[i];
        move_in(c, dtype, 3, dim);
        sum += sizes[i];
    }
    dim[axis] = sum;
    move_out(c, dtype, 3, dim);
    move_param(c, axis);
}

static void concat_compare(const move_call *c, int axis)
{
    const holo_tensor *out = &c->out[0];
    for (int64_t i = 0; i < holo_tensor_count(out); i++) {
        int64_t at[8];
        uint32_t part = 0;
        move_coordinates(out, i, at);
        for (; at[axis] >= c->in[part].dim[axis]; part++)
            at[axis] -= c->in[part].dim[axis];
        if (!CHECK(move_same(out, i, &c->in[part], move_flat(&c->in[part], at)))) return;
    }
}

static void concat_places_inputs(void)
{
    static const holo_dtype types[] = {HOLO_BOOL, HOLO_BF16,   HOLO_F32,
                                       HOLO_F64,  HOLO_STRING, HOLO_U4};
    static const int64_t sizes[][3] = {{2, 3, 1}, {0, 4, 0}, {5, 0, 7},
                                       {1, 1, 1}, {0, 0, 0}, {4000, 1, 999}};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int axis = 0; axis < 3; axis++)
            for (size_t s = 0; s < HG_COUNT(sizes); s++) {
                move_call c = {0};
                concat_make(&c, types[t], axis, sizes[s]);
                if (move_run(hg_kernels_concat, &c)) concat_compare(&c, axis);
                move_free(&c);
            }
}

/* Parts of a few bytes in many rows; units end inside a row. */
static void concat_short_parts(void)
{
    enum { ROWS = 1501 };
    for (int64_t n = 0; n < 36; n++) {
        move_call c = {0};
        move_in(&c, HOLO_U8, 2, MOVE_DIMS(ROWS, n));
        move_in(&c, HOLO_U8, 2, MOVE_DIMS(ROWS, 7));
        move_in(&c, HOLO_U8, 2, MOVE_DIMS(ROWS, 36 - n));
        move_out(&c, HOLO_U8, 2, MOVE_DIMS(ROWS, 43));
        move_param(&c, 1);
        if (move_run(hg_kernels_concat, &c)) concat_compare(&c, 1);
        move_free(&c);
    }
}

static void concat_make_good(move_call *c)
{
    concat_make(c, HOLO_F32, 1, MOVE_DIMS(2, 3, 1));
}

static void concat_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 0, "0 inputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, 2, 0, HOLO_NONE, "input 2 is missing"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_MAP, "output 0 has type map"},
        {MOVE_IN_RANK, 1, 0, 2, "input has rank 2"},
        {MOVE_IN_DIM, 1, 2, 6, "dimension 2 of input 1 is 6"},
        {MOVE_IN_DIM, 1, 1, 4, "dimension 1 of the output is 6, expected 7"},
        {MOVE_OUT_DIM, 0, 1, 5, "dimension 1 of the output is 5, expected 6"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 0, 0, -1, "axis is -1"},
    };
    MOVE_REFUSES(hg_kernels_concat, concat_make_good, bad);
}

/* Each size alone is possible where another dimension is 0, their sum is not. */
static void concat_refuses_sum(void)
{
    move_call c = {0};
    holo_error e = {0};
    move_in(&c, HOLO_U8, 2, MOVE_DIMS(0, INT64_C(1) << 58));
    holo_tensor many[64];
    for (int i = 0; i < 64; i++)
        many[i] = c.in[0];
    move_out(&c, HOLO_U8, 2, MOVE_DIMS(0, 1));
    move_param(&c, 1);
    move_connect(&c);
    c.args.in = many;
    c.args.n_in = 64;
    CHECK_STATUS(hg_kernels_concat->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "too many elements");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_concat[] = {
    {"places_inputs", concat_places_inputs},
    {"short_parts", concat_short_parts},
    {"refuses", concat_refuses},
    {"refuses_sum", concat_refuses_sum},
    {0},
};
