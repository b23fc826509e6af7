/* lookup.c - lookup: every type of key and element, damaged tables, and what is refused. */
#include "kernel/lookup.h"
#include "kernel/move.h"

#include <math.h>

extern const hg_kernel hg_kernels_lookup[];

/* Keys with room for twice as many slots, filled the way the header says. */
static void lookup_table(move_call *c, holo_dtype dtype, int64_t n, const void *keys)
{
    int64_t slots = 4;
    while (slots < 2 * n)
        slots *= 2;
    holo_tensor *k = move_in(c, dtype, 1, &n), *s = move_in(c, HOLO_I32, 1, &slots);
    memcpy(k->data, keys, holo_tensor_bytes(k));
    memset(s->data, 0, holo_tensor_bytes(s));
    for (int64_t i = 0; i < n; i++) {
        int64_t free;
        const hg_wanted w = hg_wanted_at(k, i, dtype);
        CHECK_EQ_INT(hg_table_find(k, s, &w, &free), -1);
        ((int32_t *)s->data)[free] = (int32_t)(i + 1);
    }
    holo_tensor *said = move_in(c, HOLO_I64, 1, &n);
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)said->data)[i] = 100 + i;
}

static void lookup_run_is(move_call *c, holo_dtype dtype, const void *x, int64_t n,
                          holo_dtype key_type, int64_t n_keys, const void *keys,
                          const int64_t *expected)
{
    memcpy(move_in(c, dtype, 1, &n)->data, x, (size_t)n * hg_dtype_bits(dtype) / 8);
    lookup_table(c, key_type, n_keys, keys);
    move_out(c, HOLO_I64, 1, &n);
    move_param(c, -5);
    move_param(c, 0);
    if (move_run(hg_kernels_lookup, c)) CHECK_MEM(c->out[0].data, expected, (size_t)n * 8);
    CHECK_EQ_INT(c->fault.kind, HG_FAULT_NONE);
    move_free(c);
}

static void lookup_types(void)
{
    static const int64_t keys[] = {7, -3, INT64_MAX, INT64_MIN, 0};
    static const double numbers[] = {0.5, -INFINITY, NAN, 0.0, 3.0};
    static const holo_string texts[] = {{"b", 1}, {"", 0}, {"ba", 2}, {"a\0b", 3}};
    move_call c = {0};
    lookup_run_is(&c, HOLO_I64, (const int64_t[]){INT64_MIN, 1, 7}, 3, HOLO_I64, 5, keys,
                  (const int64_t[]){103, -5, 100});
    lookup_run_is(&c, HOLO_I32, (const int32_t[]){-3, 1, 0}, 3, HOLO_I64, 5, keys,
                  (const int64_t[]){101, -5, 104});
    lookup_run_is(&c, HOLO_I16, (const int16_t[]){7, -4}, 2, HOLO_I64, 5, keys,
                  (const int64_t[]){100, -5});
    /* Fractions are cut off; what is no integer is none of the keys. */
    lookup_run_is(&c, HOLO_F32, (const float[]){7.9f, -3.9f, NAN, 1e30f, -0.5f}, 5, HOLO_I64, 5,
                  keys, (const int64_t[]){100, 101, -5, -5, 104});
    lookup_run_is(&c, HOLO_F64, (const double[]){-0x1p63, 0x1p63}, 2, HOLO_I64, 5, keys,
                  (const int64_t[]){103, -5});
    lookup_run_is(&c, HOLO_F64, (const double[]){-0.0, -NAN, 0.25, -INFINITY}, 4, HOLO_F64, 5,
                  numbers, (const int64_t[]){103, 102, -5, 101});
    lookup_run_is(&c, HOLO_F32, (const float[]){0.5f, NAN, 3.0f}, 3, HOLO_F64, 5, numbers,
                  (const int64_t[]){100, 102, 104});
    lookup_run_is(&c, HOLO_STRING, (const holo_string[]){{"a\0b", 3}, {"a", 1}, {"", 0}, {"b", 1}},
                  4, HOLO_STRING, 4, texts, (const int64_t[]){103, -5, 101, 100});
    lookup_run_is(&c, HOLO_I64, keys, 2, HOLO_I64, 0, keys, (const int64_t[]){-5, -5});
}

static void lookup_many(void)
{
    enum { N = 1000 };
    int64_t key[N], x[2 * N], expected[2 * N];
    for (int64_t i = 0; i < N; i++)
        key[i] = i * 4096; /* equal low bits */
    for (int64_t i = 0; i < 2 * N; i++) {
        x[i] = (i * 7919 % (2 * N)) * 2048;
        expected[i] = x[i] % 4096 == 0 && x[i] / 4096 < N ? 100 + x[i] / 4096 : -5;
    }
    move_call c = {0};
    lookup_run_is(&c, HOLO_I64, x, 2 * N, HOLO_I64, N, key, expected);
}

/* Keys that lie near each other, at both ends of the numbers too. */
static void lookup_near(void)
{
    enum { N = 200 };
    static const int64_t first[] = {-7, 0, INT64_MIN, INT64_MAX - 20};
    for (size_t f = 0; f < HG_COUNT(first); f++) {
        const int64_t key[4] = {first[f] + 20, first[f] + 3, first[f], first[f] + 11};
        int64_t x[N], expected[N];
        for (int64_t i = 0; i < N; i++) {
            x[i] = (int64_t)((uint64_t)first[f] + (uint64_t)i - 60); /* goes round at the ends */
            expected[i] = x[i] == key[0]   ? 100
                          : x[i] == key[1] ? 101
                          : x[i] == key[2] ? 102
                          : x[i] == key[3] ? 103
                                           : -5;
        }
        move_call c = {0};
        lookup_run_is(&c, HOLO_I64, x, N, HOLO_I64, 4, key, expected);
    }
}

static void lookup_make(move_call *c)
{
    move_ints(c, 1, MOVE_DIMS(2), MOVE_DIMS(4, 6));
    lookup_table(c, HOLO_I64, 2, MOVE_DIMS(4, 5));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(2));
    move_param(c, -1);
    move_param(c, 1);
}

static void lookup_strict(void)
{
    move_call c = {0};
    lookup_make(&c);
    move_run(hg_kernels_lookup, &c);
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
    CHECK_EQ_INT(c.fault.element, 1);
    CHECK_EQ_INT(c.fault.value, 6);
    move_free(&c);
}

/* Slots without an end, and slots that name no key: the search ends anyway. */
static void lookup_damaged(void)
{
    static const int32_t fill[] = {1, 77, -8, INT32_MIN, INT32_MAX};
    for (size_t k = 0; k < HG_COUNT(fill); k++) {
        move_call c = {0};
        lookup_make(&c);
        for (int64_t i = 0; i < c.in[2].dim[0]; i++)
            ((int32_t *)c.in[2].data)[i] = fill[k];
        move_run(hg_kernels_lookup, &c);
        CHECK_EQ_INT(((int64_t *)c.out[0].data)[1], -1);
        move_free(&c);
    }
}

static void lookup_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 3, "3 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_STRING, "input 0 has type string"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "input 0 has type int64"},
        {MOVE_IN_TYPE, 1, 0, HOLO_STRING, "input 0 has type int64"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I64, "input 2 has type int64"},
        {MOVE_IN_TYPE, 3, 0, HOLO_F64, "input 3 has type float64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_IN_RANK, 1, 0, 0, "the list of keys has rank 0"},
        {MOVE_IN_RANK, 2, 0, 0, "the list of slots has rank 0"},
        {MOVE_IN_DIM, 2, 0, 3, "3 slots, expected a power of two"},
        {MOVE_IN_DIM, 2, 0, 0, "0 slots, expected a power of two"},
        {MOVE_IN_DIM, 3, 0, 1, "what is said"},
        {MOVE_OUT_DIM, 0, 0, 3, "the output"},
        {MOVE_PARAM, 1, 0, 2, "strict is 2"},
    };
    MOVE_REFUSES(hg_kernels_lookup, lookup_make, bad);
}

const hg_test_case hg_tests_kernel_lookup[] = {
    {"types", lookup_types},     {"many", lookup_many},
    {"near", lookup_near},       {"near", lookup_near},
    {"strict", lookup_strict},   {"damaged", lookup_damaged},
    {"refuses", lookup_refuses}, {0},
};
