/* cumulate.c - cumsum and cumprod against a plain loop, in every type and direction. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_cumulate[];

static const holo_dtype cumulate_types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16,
                                            HOLO_I32, HOLO_I64, HOLO_U32, HOLO_U64};

/* Small whole numbers, exact in every type. */
static void cumulate_put(holo_tensor *t, int64_t i, int64_t value)
{
    switch ((int)t->dtype) {
    case HOLO_F32: ((float *)t->data)[i] = (float)value; break;
    case HOLO_F64: ((double *)t->data)[i] = (double)value; break;
    case HOLO_F16: ((uint16_t *)t->data)[i] = hg_f32_to_f16((float)value); break;
    case HOLO_BF16: ((uint16_t *)t->data)[i] = hg_f32_to_bf16((float)value); break;
    case HOLO_I32:
    case HOLO_U32: ((uint32_t *)t->data)[i] = (uint32_t)value; break;
    default: ((uint64_t *)t->data)[i] = (uint64_t)value; break;
    }
}

/* Numbers whose sums and products are exact in every type. */
static int64_t cumulate_number(int64_t i, bool product)
{
    return product ? 1 + i * i % 3 : i * i % 11;
}

static void cumulate_make(move_call *c, holo_dtype dtype, int64_t axis, int64_t exclusive,
                          int64_t reverse, bool product)
{
    holo_tensor *in = move_in(c, dtype, 3, MOVE_DIMS(2, 3, 4));
    move_out(c, dtype, 3, MOVE_DIMS(2, 3, 4));
    move_param(c, axis);
    move_param(c, exclusive);
    move_param(c, reverse);
    for (int64_t i = 0; i < 24; i++)
        cumulate_put(in, i, cumulate_number(i, product));
}

static void cumulate_compare(const move_call *c, bool product)
{
    const int axis = (int)c->param[0];
    holo_tensor expected = move_tensor(c->in[0].dtype, 3, c->in[0].dim);
    for (int64_t i = 0; i < 24; i++) {
        int64_t at[8], result = product;
        move_coordinates(&expected, i, at);
        const int64_t own = at[axis];
        for (at[axis] = 0; at[axis] < expected.dim[axis]; at[axis]++) {
            bool before = c->param[2] != 0 ? at[axis] > own : at[axis] < own;
            const int64_t x = cumulate_number(move_flat(&expected, at), product);
            if (before || (at[axis] == own && c->param[1] == 0))
                result = product ? result * x : result + x;
        }
        cumulate_put(&expected, i, result);
    }
    CHECK_MEM(c->out[0].data, expected.data, holo_tensor_bytes(&expected));
    free(expected.data);
}

static void cumulate_matches_loop(void)
{
    for (size_t t = 0; t < HG_COUNT(cumulate_types); t++)
        for (int64_t n = 0; n < 24; n++) {
            move_call c = {0};
            const bool product = n >= 12;
            cumulate_make(&c, cumulate_types[t], n / 4 % 3, n / 2 % 2, n % 2, product);
            if (move_run(&hg_kernels_cumulate[product ? 0 : 1], &c)) cumulate_compare(&c, product);
            move_free(&c);
        }
}

static void cumulate_wraps(void)
{
    move_call c = {0};
    holo_tensor *in = move_in(&c, HOLO_I32, 1, MOVE_DIMS(2));
    ((int32_t *)in->data)[0] = ((int32_t *)in->data)[1] = INT32_MAX;
    move_out(&c, HOLO_I32, 1, MOVE_DIMS(2));
    move_param(&c, 0);
    move_param(&c, 0);
    move_param(&c, 0);
    if (move_run(&hg_kernels_cumulate[1], &c))
        CHECK_EQ_INT(((const int32_t *)c.out[0].data)[1], -2);
    if (move_run(&hg_kernels_cumulate[0], &c)) /* (2^31 - 1)^2 */
        CHECK_EQ_INT(((const int32_t *)c.out[0].data)[1], 1);
    move_free(&c);
}

static void cumulate_make_good(move_call *c)
{
    cumulate_make(c, HOLO_F32, 1, 0, 0, false);
}

static void cumulate_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I8, "input 0 has type int8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I8, "output 0 has type int8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_DIM, 0, 0, 3, "output: dimension 0 is 3"},
        {MOVE_PARAM, 0, 0, 3, "axis is 3"},
        {MOVE_PARAM, 0, 0, -1, "axis is -1"},
        {MOVE_PARAM, 1, 0, 2, "exclusive is 2"},
        {MOVE_PARAM, 2, 0, -1, "reverse is -1"},
    };
    MOVE_REFUSES(hg_kernels_cumulate, cumulate_make_good, bad);
}

const hg_test_case hg_tests_kernel_cumulate[] = {
    {"matches_loop", cumulate_matches_loop},
    {"wraps", cumulate_wraps},
    {"refuses", cumulate_refuses},
    {0},
};
