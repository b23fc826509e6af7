/* range.c - range in every type; sizes found in data. */
#include "kernel/move.h"

#include <math.h>

extern const hg_kernel hg_kernels_range[];

static const holo_dtype range_types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16,
                                         HOLO_I16, HOLO_I32, HOLO_I64};

static void range_put(holo_tensor *t, double value)
{
    const float f = (float)value; /* 1e300 becomes infinity */
    const int64_t i = fabs(value) < 0x1p63 ? (int64_t)value : 0;
    const uint16_t half[2] = {hg_f32_to_f16(f), hg_f32_to_bf16(f)};
    const void *from = t->dtype == HOLO_F32    ? (const void *)&f
                       : t->dtype == HOLO_F64  ? (const void *)&value
                       : t->dtype == HOLO_F16  ? (const void *)&half[0]
                       : t->dtype == HOLO_BF16 ? (const void *)&half[1]
                                               : (const void *)&i;
    memcpy(t->data, from, holo_tensor_bytes(t));
}

static double range_get(const holo_tensor *t, int64_t i)
{
    switch ((int)t->dtype) {
    case HOLO_F32: return (double)((const float *)t->data)[i];
    case HOLO_F64: return ((const double *)t->data)[i];
    case HOLO_F16: return (double)hg_f16_to_f32(((const uint16_t *)t->data)[i]);
    case HOLO_BF16: return (double)hg_bf16_to_f32(((const uint16_t *)t->data)[i]);
    case HOLO_I16: return ((const int16_t *)t->data)[i];
    case HOLO_I32: return ((const int32_t *)t->data)[i];
    default: return (double)((const int64_t *)t->data)[i];
    }
}

static void range_make(move_call *c, holo_dtype dtype, double start, double limit, double delta,
                       int64_t size)
{
    const double value[3] = {start, limit, delta};
    for (int i = 0; i < 3; i++)
        range_put(move_in(c, dtype, 0, NULL), value[i]);
    move_out(c, dtype, 1, &size);
}

static void range_counts(void)
{
    static const struct {
        double start, limit, delta;
        int64_t size;
    } table[] = {{0, 10, 1, 10}, {3, 10, 4, 2}, {10, 3, -3, 3},     {5, 5, 1, 0},
                 {5, 9, -1, 0},  {-4, 4, 8, 1}, {-100, 100, 2, 100}};
    for (size_t t = 0; t < HG_COUNT(range_types); t++)
        for (size_t i = 0; i < HG_COUNT(table); i++)
            for (int late = 0; late < 2; late++) {
                move_call c = {0};
                range_make(&c, range_types[t], table[i].start, table[i].limit, table[i].delta,
                           late != 0 ? 0 : table[i].size);
                if (late != 0 && !move_size(&hg_kernels_range[1], &c)) return;
                CHECK_EQ_INT(c.out[0].dim[0], table[i].size);
                if (!move_run(&hg_kernels_range[late], &c)) return;
                for (int64_t k = 0; k < table[i].size; k++)
                    CHECK_NEAR(range_get(&c.out[0], k), table[i].start + (double)k * table[i].delta,
                               0);
                move_free(&c);
            }
}

static void range_long(void)
{
    move_call c = {0};
    range_make(&c, HOLO_I32, 0, 10000, 1, 10000);
    if (move_run(&hg_kernels_range[0], &c))
        for (int32_t i = 0; i < 10000; i++)
            if (!CHECK_EQ_INT(((const int32_t *)c.out[0].data)[i], i)) break;
    move_free(&c);
}

static void range_refuses_size(void)
{
    static const struct {
        holo_dtype dtype;
        double start, limit, delta;
        const char *sentence;
    } table[] = {
        {HOLO_I64, 0, 9, 0, "delta is 0"},   {HOLO_I64, -9.2e18, 9.2e18, 1, "too many elements"},
        {HOLO_F32, 0, 9, 0, "delta is inf"}, {HOLO_F32, 0, INFINITY, 1, "delta is inf"},
        {HOLO_F64, 0, NAN, 1, "delta is"},   {HOLO_F64, 0, 1e300, 1, "delta is 1e+300"},
    };
    for (size_t i = 0; i < HG_COUNT(table); i++) {
        move_call c = {0};
        holo_error e = {0};
        range_make(&c, table[i].dtype, table[i].start, table[i].limit, table[i].delta, 0);
        move_connect(&c);
        CHECK_STATUS(hg_kernels_range[1].size(&c.args, &e), HOLO_E_DATA);
        CHECK_HAS(e.message, table[i].sentence);
        move_free(&c);
    }
}

static void range_make_good(move_call *c)
{
    range_make(c, HOLO_F32, 0, 3, 1, 3);
}

static void range_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_U8, "input 0 has type uint8"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F64, "input has type float64"},
        {MOVE_IN_RANK, 1, 0, 1, "input 1 has 0 elements"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_U8, "output 0 has type uint8"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output has type int32"},
        {MOVE_OUT_RANK, 0, 0, 0, "output has rank 0"},
    };
    MOVE_REFUSES(&hg_kernels_range[0], range_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    range_make_good(&c);
    move_connect(&c);
    c.in[1].rank = 1;
    CHECK_STATUS(hg_kernels_range[1].size(&c.args, &e), HOLO_E_SHAPE);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_range[] = {
    {"counts", range_counts},
    {"long", range_long},
    {"refuses_size", range_refuses_size},
    {"refuses", range_refuses},
    {0},
};
