/* unique.c - unique.order and unique: elements and slices, ascending and as they come. */
#include "kernel/move.h"

#include <math.h>

extern const hg_kernel hg_kernels_unique[];
static const hg_kernel *const unique_order = &hg_kernels_unique[1];

/* Both steps; the caller frees c. */
static bool unique_both(move_call *c, const holo_tensor *data, int64_t axis, int64_t sorted)
{
    move_call order = {0};
    const int64_t n = axis < 0 ? holo_tensor_count(data) : data->dim[axis];
    memcpy(move_in(&order, data->dtype, data->rank, data->dim)->data, data->data,
           holo_tensor_bytes(data));
    move_out(&order, HOLO_I64, 1, &n);
    move_param(&order, axis);
    bool good = move_run(unique_order, &order);
    memcpy(move_in(c, data->dtype, data->rank, data->dim)->data, data->data,
           holo_tensor_bytes(data));
    move_ints(c, 1, &n, order.out[0].data);
    move_param(c, axis);
    move_param(c, sorted);
    move_out(c, data->dtype, data->rank, data->dim);
    for (int i = 0; i < 3; i++)
        move_out(c, HOLO_I64, 1, &n);
    move_free(&order);
    return good && move_size(hg_kernels_unique, c) && move_run(hg_kernels_unique, c);
}

static void unique_check(const move_call *c, int64_t distinct, const int64_t *index,
                         const int64_t *inverse, const int64_t *count)
{
    CHECK_EQ_INT(c->out[1].dim[0], distinct);
    CHECK_MEM(c->out[1].data, index, (size_t)distinct * 8);
    CHECK_MEM(c->out[2].data, inverse, (size_t)c->out[2].dim[0] * 8);
    CHECK_MEM(c->out[3].data, count, (size_t)distinct * 8);
}

static void unique_elements(void)
{
    float value[] = {2, 1, NAN, 1, 3, NAN, 2, -0.0f, 0};
    const holo_tensor data = {.data = value, .dim = {9}, .rank = 1, .dtype = HOLO_F32};
    move_call c = {0};
    if (unique_both(&c, &data, -1, 1)) {
        unique_check(&c, 5, MOVE_DIMS(7, 1, 0, 4, 2), MOVE_DIMS(2, 1, 4, 1, 3, 4, 2, 0, 0),
                     MOVE_DIMS(2, 2, 2, 1, 2));
        CHECK_NEAR(((const float *)c.out[0].data)[3], 3, 0);
    }
    move_free(&c);
    if (unique_both(&c, &data, -1, 0))
        unique_check(&c, 5, MOVE_DIMS(0, 1, 2, 4, 7), MOVE_DIMS(0, 1, 2, 1, 3, 2, 0, 4, 4),
                     MOVE_DIMS(2, 2, 2, 1, 2));
    move_free(&c);
}

static void unique_slices(void)
{
    int32_t value[] = {1, 0, 0, 1, 0,
                       0, 2, 3, 4}; /* rows 0 and 1 are equal, columns 1 and 2 are not */
    const holo_tensor data = {.data = value, .dim = {3, 3}, .rank = 2, .dtype = HOLO_I32};
    move_call c = {0};
    if (unique_both(&c, &data, 0, 1)) {
        unique_check(&c, 2, MOVE_DIMS(0, 2), MOVE_DIMS(0, 0, 1), MOVE_DIMS(2, 1));
        CHECK_EQ_INT(c.out[0].dim[0], 2);
        CHECK_EQ_INT(c.out[0].dim[1], 3);
        CHECK_MEM(c.out[0].data, value + 3, 24);
    }
    move_free(&c);
    if (unique_both(&c, &data, 1, 1))
        unique_check(&c, 3, MOVE_DIMS(1, 2, 0), MOVE_DIMS(2, 0, 1), MOVE_DIMS(1, 1, 1));
    move_free(&c);
}

static void unique_strings(void)
{
    holo_string value[] = {{"b", 1}, {"ab", 2}, {"b", 1}, {"", 0}, {"a", 1}};
    const holo_tensor data = {.data = value, .dim = {5}, .rank = 1, .dtype = HOLO_STRING};
    move_call c = {0};
    if (unique_both(&c, &data, -1, 1))
        unique_check(&c, 4, MOVE_DIMS(3, 4, 1, 0), MOVE_DIMS(3, 2, 3, 0, 1), MOVE_DIMS(1, 1, 1, 2));
    move_free(&c);
}

/* Every type sorts its numbers by value: three, then the smallest there is, then three. */
static void unique_types(void)
{
    static const holo_dtype types[] = {HOLO_U8,  HOLO_I8,  HOLO_U16,  HOLO_I16,
                                       HOLO_U32, HOLO_I32, HOLO_U64,  HOLO_I64,
                                       HOLO_F64, HOLO_F16, HOLO_BF16, HOLO_BOOL};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        uint8_t value[24] = {0};
        const size_t size = hg_dtype_bits(types[t]) / 8;
        holo_tensor data = {.data = value, .dim = {3}, .rank = 1, .dtype = types[t]};
        for (size_t i = 0; i < 3; i += 2)
            value[i * size] = 1; /* a small positive number in every type */
        move_call c = {0};
        if (unique_both(&c, &data, -1, 1))
            unique_check(&c, 2, MOVE_DIMS(1, 0), MOVE_DIMS(1, 0, 1), MOVE_DIMS(1, 2));
        move_free(&c);
    }
}

static void unique_sorts_many(void)
{
    enum { N = 1000 };
    int64_t value[N];
    for (int64_t i = 0; i < N; i++)
        value[i] = i * 7919 % 313 - 150;
    const holo_tensor data = {.data = value, .dim = {N}, .rank = 1, .dtype = HOLO_I64};
    move_call c = {0};
    if (unique_both(&c, &data, -1, 1)) {
        CHECK_EQ_INT(c.out[0].dim[0], 313);
        for (int64_t i = 0; i < 313; i++)
            if (!CHECK_EQ_INT(((const int64_t *)c.out[0].data)[i], i - 150)) break;
    }
    move_free(&c);
}

/* A damaged program: an order that is none, and room for fewer slices than there are. */
static void unique_wrong_order(void)
{
    move_call c = {0};
    move_in(&c, HOLO_I32, 1, MOVE_DIMS(3));
    move_ints(&c, 1, MOVE_DIMS(3), MOVE_DIMS(INT64_MIN, 77, 2));
    move_param(&c, -1);
    move_param(&c, 1);
    move_out(&c, HOLO_I32, 1, MOVE_DIMS(1));
    c.out[1].dtype = HOLO_NONE;
    c.args.n_out = 3;
    c.out[2] = move_tensor(HOLO_I64, 1, MOVE_DIMS(3));
    move_run(hg_kernels_unique, &c);
    move_free(&c);
}

static void unique_make_order(move_call *c)
{
    move_in(c, HOLO_F32, 2, MOVE_DIMS(3, 2));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(3));
    move_param(c, 0);
}

static void unique_make_good(move_call *c)
{
    move_in(c, HOLO_F32, 2, MOVE_DIMS(3, 2));
    move_ints(c, 1, MOVE_DIMS(3), MOVE_DIMS(0, 1, 2));
    move_param(c, 0);
    move_param(c, 1);
    move_out(c, HOLO_F32, 2, MOVE_DIMS(2, 2));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(2));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(3));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(2));
}

static void unique_refuses(void)
{
    static const move_bad bad_order[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_U4, "input 0 has type uint4"},
        {MOVE_PARAM, 0, 0, 2, "axis is 2"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_RANK, 0, 0, 2, "output has rank 2"},
        {MOVE_OUT_DIM, 0, 0, 2, "output has 2 elements"},
    };
    static const move_bad bad[] = {
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_OUT, 0, 0, 5, "5 outputs"},
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_U4, "input 0 has type uint4"},
        {MOVE_PARAM, 0, 0, -2, "axis is -2"},
        {MOVE_PARAM, 1, 0, 2, "sorted is 2"},
        {MOVE_IN_DIM, 1, 0, 4, "order has 4 elements"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_OUT_DIM, 0, 1, 3, "dimension 1 of the output is 3"},
        {MOVE_OUT_DIM, 0, 0, 4, "4 distinct slices"},
        {MOVE_OUT_DIM, 1, 0, 3, "indices has 3 elements"},
        {MOVE_OUT_DIM, 2, 0, 2, "inverse has 2 elements"},
        {MOVE_OUT_DIM, 3, 0, 1, "counts has 1 elements"},
    };
    MOVE_REFUSES(unique_order, unique_make_order, bad_order);
    MOVE_REFUSES(hg_kernels_unique, unique_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    unique_make_good(&c);
    move_connect(&c);
    c.in[1].dim[0] = 2;
    CHECK_STATUS(hg_kernels_unique->size(&c.args, &e), HOLO_E_SHAPE);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_unique[] = {
    {"elements", unique_elements},     {"slices", unique_slices},
    {"strings", unique_strings},       {"types", unique_types},
    {"sorts_many", unique_sorts_many}, {"wrong_order", unique_wrong_order},
    {"refuses", unique_refuses},       {0},
};
