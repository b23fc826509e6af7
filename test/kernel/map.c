/* map.c - map.zip, map.dense and map.place: values, order, damaged maps, and what is refused. */
#include "isa/deep.h"
#include "kernel/lookup.h"
#include "kernel/move.h"

extern const hg_kernel hg_kernels_map[];
static const hg_kernel *const map_dense = &hg_kernels_map[0], *const map_place = &hg_kernels_map[1],
                              *const map_zip = &hg_kernels_map[2];

/* A map whose tensors belong to the caller. */
static void map_in(move_call *c, holo_dtype key, const void *keys, holo_dtype value,
                   const void *values, int64_t n)
{
    holo_tensor *t = &c->in[c->args.n_in++], *item = calloc(2, sizeof *item);
    *t = (holo_tensor){.data = item, .dim = {2}, .rank = 1, .dtype = HOLO_MAP};
    item[0] = (holo_tensor){.data = (void *)(uintptr_t)keys, .dim = {n}, .rank = 1, .dtype = key};
    item[1] =
        (holo_tensor){.data = (void *)(uintptr_t)values, .dim = {n}, .rank = 1, .dtype = value};
}

/* Size, memory with room for the extra bytes, check and run. */
static bool map_run(const hg_kernel *k, move_call *c)
{
    size_t extra[4] = {0};
    holo_error e = {0};
    holo_tensor *out = &c->out[0];
    move_connect(c);
    c->args.extra = extra;
    if (!CHECK_OK(k->size(&c->args, &e), &e)) return false;
    free(out->data);
    const size_t bytes =
        hg_align_up(hg_dtype_bits(out->dtype) == 0 ? (size_t)out->dim[0] * sizeof(holo_tensor)
                                                   : holo_tensor_bytes(out),
                    HG_ALIGN);
    out->data = aligned_alloc(HG_ALIGN, hg_align_up(bytes + extra[0] + 1, HG_ALIGN));
    if (!CHECK_OK(k->check(&c->args, &e), &e)) return false;
    const size_t scratch_bytes = hg_kernel_work(k, &c->args).scratch;
    void *scratch = malloc(scratch_bytes + 1);
    k->run(&c->args, (hg_range){0, 1, scratch});
    free(scratch);
    return true;
}

static void map_zips(void)
{
    static const holo_string keys[] = {{"a", 1}, {"", 0}, {"cd", 2}};
    move_call c = {0};
    float *x = move_in(&c, HOLO_F32, 2, MOVE_DIMS(2, 3))->data;
    memcpy(move_in(&c, HOLO_STRING, 1, MOVE_DIMS(3))->data, keys, sizeof keys);
    for (int i = 0; i < 6; i++)
        x[i] = (float)i;
    move_out(&c, HOLO_SEQUENCE, 1, MOVE_DIMS(0));
    if (map_run(map_zip, &c)) {
        memset(x, 0xff, 24); /* what is in the maps is a copy */
        const holo_tensor *map = c.out[0].data;
        CHECK_EQ_INT(c.out[0].dim[0], 2);
        for (int i = 0; i < 2; i++) {
            const holo_tensor *pair = map[i].data;
            CHECK_EQ_INT(map[i].dtype, HOLO_MAP);
            CHECK_EQ_INT(map[i].dim[0], 2);
            CHECK_EQ_INT(pair[0].dtype, HOLO_STRING);
            CHECK_EQ_INT(pair[1].dtype, HOLO_F32);
            CHECK_EQ_INT(pair[1].dim[0], 3);
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(((const float *)pair[1].data)[k], 3 * i + k, 0);
            CHECK_MEM(((const holo_string *)pair[0].data)[2].text, "cd", 2);
        }
        CHECK_OK(hg_deep_check(&c.out[0], NULL), NULL);
    }
    move_free(&c);
    move_in(&c, HOLO_F32, 2, MOVE_DIMS(0, 2)); /* no rows */
    move_ints(&c, 1, MOVE_DIMS(2), MOVE_DIMS(4, 5));
    move_out(&c, HOLO_SEQUENCE, 1, MOVE_DIMS(0));
    if (map_run(map_zip, &c)) CHECK_EQ_INT(c.out[0].dim[0], 0);
    move_free(&c);
}

/* Less room than size asked for: a fault, and no map without its items. */
static void map_zip_without_room(void)
{
    move_call c = {0};
    size_t extra[4] = {100};
    static _Alignas(64) uint8_t memory[1024];
    move_in(&c, HOLO_F32, 2, MOVE_DIMS(2, 3));
    move_ints(&c, 1, MOVE_DIMS(3), MOVE_DIMS(4, 5, 6));
    c.args.n_out = 1;
    c.out[0] = (holo_tensor){.data = memory, .dim = {2}, .rank = 1, .dtype = HOLO_SEQUENCE};
    move_connect(&c);
    c.args.extra = extra;
    for (extra[0] = 0; extra[0] < 200; extra[0] += 40) {
        c.fault = (hg_fault){0};
        map_zip->run(&c.args, (hg_range){0, 1, NULL});
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
        CHECK_OK(hg_deep_check(&c.out[0], NULL), NULL);
    }
    c.out[0].data = NULL;
    move_free(&c);
}

static void map_orders(void)
{
    enum { N = 300 };
    int64_t key[N];
    double value[N];
    for (int64_t i = 0; i < N; i++) {
        key[i] = (i * 7919 % N - 100) * 1000;
        value[i] = (double)key[i] / 2;
    }
    move_call c = {0};
    map_in(&c, HOLO_I64, key, HOLO_F64, value, N);
    move_out(&c, HOLO_F64, 2, MOVE_DIMS(1, 0));
    if (map_run(map_dense, &c)) {
        CHECK_EQ_INT(c.out[0].dim[0], 1);
        if (CHECK_EQ_INT(c.out[0].dim[1], N))
            for (int64_t i = 0; i < N; i++)
                CHECK_NEAR(((const double *)c.out[0].data)[i], (double)(i - 100) * 500, 0);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
    }
    move_free(&c);
}

static void map_empty_and_twice(void)
{
    move_call c = {0};
    map_in(&c, HOLO_I64, NULL, HOLO_SEQUENCE, NULL, 0); /* its values have no type */
    move_out(&c, HOLO_F32, 2, MOVE_DIMS(1, 1));
    if (map_run(map_dense, &c)) CHECK_EQ_INT(c.out[0].dim[1], 0);
    move_free(&c);
    map_in(&c, HOLO_I64, MOVE_DIMS(4, 3, 4), HOLO_I64, MOVE_DIMS(1, 2, 3), 3);
    move_out(&c, HOLO_I64, 2, MOVE_DIMS(1, 1));
    if (map_run(map_dense, &c)) {
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
        CHECK_EQ_INT(c.fault.value, 4);
    }
    move_free(&c);
}

/* ---- place
 * -------------------------------------------------------------------------------------------- */

/* Keys that are places, and a key beyond them. */
static void map_places_by_key(void)
{
    static const holo_string value[] = {{"x", 1}, {"yz", 2}};
    static const holo_string none = {"-", 1};
    move_call c = {0};
    map_in(&c, HOLO_I64, MOVE_DIMS(3, 0), HOLO_STRING, value, 2);
    memcpy(move_in(&c, HOLO_STRING, 0, NULL)->data, &none, sizeof none);
    move_param(&c, 4);
    move_param(&c, 1);
    move_out(&c, HOLO_STRING, 2, MOVE_DIMS(1, 0));
    if (map_run(map_place, &c)) {
        const holo_string *y = c.out[0].data;
        CHECK_EQ_INT(c.out[0].dim[1], 4);
        CHECK_MEM(y[0].text, "yz", 2);
        CHECK_MEM(y[1].text, "-", 1);
        CHECK_MEM(y[3].text, "x", 1);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
    }
    c.param[0] = 3;
    if (map_run(map_place, &c)) {
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.value, 3);
    }
    move_free(&c);
}

static void map_make_place(move_call *c)
{
    static const float value[] = {1, 2, 3};
    static const holo_string key[] = {{"q", 1}, {"p", 1}, {"q", 1}}, known[] = {{"p", 1}, {"r", 1}};
    map_in(c, HOLO_STRING, key, HOLO_F32, value, 3);
    *(float *)move_in(c, HOLO_F32, 1, MOVE_DIMS(1))->data = -1;
    holo_tensor *k = move_in(c, HOLO_STRING, 1, MOVE_DIMS(2));
    holo_tensor *s = move_in(c, HOLO_I32, 1, MOVE_DIMS(8));
    memcpy(k->data, known, sizeof known);
    memset(s->data, 0, holo_tensor_bytes(s));
    for (int64_t i = 0; i < 2; i++) {
        int64_t free;
        const hg_wanted w = hg_wanted_at(k, i, HOLO_STRING);
        (void)hg_table_find(k, s, &w, &free);
        ((int32_t *)s->data)[free] = (int32_t)i + 1;
    }
    move_ints(c, 1, MOVE_DIMS(2), MOVE_DIMS(2, 0));
    move_param(c, 3);
    move_param(c, 0);
    move_out(c, HOLO_F32, 2, MOVE_DIMS(1, 3));
}

static void map_places_by_table(void)
{
    move_call c = {0};
    map_make_place(&c);
    if (map_run(map_place, &c)) {
        CHECK_MEM(c.out[0].data, ((const float[]){-1, -1, 2}), 12);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
    }
    c.param[1] = 1;
    if (map_run(map_place, &c)) CHECK_EQ_INT(c.fault.kind, HG_FAULT_VALUE);
    c.fault = (hg_fault){0};
    c.param[1] = 0;
    ((int64_t *)c.in[4].data)[0] = INT64_MAX; /* a damaged table */
    if (map_run(map_place, &c)) CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
    move_free(&c);
}

/* ---- what is refused
 * -------------------------------------------------------------------------------------------- */

static void map_make_zip(move_call *c)
{
    move_in(c, HOLO_F32, 2, MOVE_DIMS(2, 3));
    move_ints(c, 1, MOVE_DIMS(3), MOVE_DIMS(4, 5, 6));
    move_out(c, HOLO_SEQUENCE, 1, MOVE_DIMS(2));
}

static void map_make_dense(move_call *c)
{
    static const int64_t keys[] = {3, 1};
    static const float values[] = {1, 2};
    map_in(c, HOLO_I64, keys, HOLO_F32, values, 2);
    move_out(c, HOLO_F32, 2, MOVE_DIMS(1, 2));
}

static void map_refuses(void)
{
    static const move_bad zip[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "input 1 has type float64"},
        {MOVE_IN_RANK, 0, 0, 3, "the table of rows has rank 3"},
        {MOVE_IN_RANK, 1, 0, 2, "the list of keys has rank 2"},
        {MOVE_IN_DIM, 1, 0, 2, "rows have 3 values for 2 keys"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_OPTIONAL, "the result is sequence"},
        {MOVE_OUT_DIM, 0, 0, 3, "the result"},
    };
    static const move_bad dense[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_SEQUENCE, "input 0 is sequence"},
        {MOVE_IN_DIM, 0, 0, 1, "a map of 1 tensors"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_SEQUENCE, "the output is sequence"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I64, "the values of a map are float32, expected int64"},
        {MOVE_OUT_DIM, 0, 1, 3, "the result"},
        {MOVE_OUT_RANK, 0, 0, 1, "the result"},
    };
    static const move_bad place[] = {
        {MOVE_N_IN, 0, 0, 3, "input 3"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "the output is int32"},
        {MOVE_PARAM, 0, 0, -1, "the number of places is -1"},
        {MOVE_PARAM, 1, 0, 2, "strict is 2"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "input 1 has type float64"},
        {MOVE_IN_DIM, 1, 0, 2, "2 values for other places"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F64, "input 2 has type float64"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I64, "the keys of a map are string"},
        {MOVE_IN_DIM, 3, 0, 6, "6 slots, expected a power of two"},
        {MOVE_IN_TYPE, 4, 0, HOLO_I32, "input 4 has type int32"},
        {MOVE_IN_DIM, 4, 0, 1, "their places"},
        {MOVE_PARAM, 0, 0, 4, "the result"},
    };
    MOVE_REFUSES(map_zip, map_make_zip, zip);
    MOVE_REFUSES(map_dense, map_make_dense, dense);
    MOVE_REFUSES(map_place, map_make_place, place);
    move_call c = {0};
    holo_error e = {0};
    map_make_dense(&c);
    move_connect(&c);
    ((holo_tensor *)c.in[0].data)[1].dim[0] = 3;
    CHECK_STATUS(map_dense->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "a map has 2 keys (rank 1) and 3 values (rank 1)");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_map[] = {
    {"zips", map_zips},
    {"zip_without_room", map_zip_without_room},
    {"orders", map_orders},
    {"empty_and_twice", map_empty_and_twice},
    {"places_by_key", map_places_by_key},
    {"places_by_table", map_places_by_table},
    {"refuses", map_refuses},
    {0},
};
