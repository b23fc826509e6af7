/* table.c - table against its definition: every kind of code and entry, rows by channel, narrowed
 * tables, class tables, codes outside, in place. */
#include "kernel/table.h"

#include "base/cpu.h"
#include "kernel/move.h"

extern const hg_kernel hg_kernels_table[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_table_avx2[], hg_kernels_table_avx512[];
static const hg_kernel *const table_tuned[] = {hg_kernels_table_avx2, hg_kernels_table_avx512};
#elif defined(__wasm_simd128__)
extern const hg_kernel hg_kernels_table_wasm[];
static const hg_kernel *const table_tuned[] = {hg_kernels_table_wasm};
#elif defined(__aarch64__)
extern const hg_kernel hg_kernels_table_neon[];
static const hg_kernel *const table_tuned[] = {hg_kernels_table_neon};
#else
static const hg_kernel *const table_tuned[] = {hg_kernels_table};
#endif

static const holo_dtype table_codes[] = {HOLO_U8,     HOLO_I8,  HOLO_BOOL, HOLO_F8E4M3FN, HOLO_U16,
                                         HOLO_I16,    HOLO_F16, HOLO_BF16, HOLO_U4,       HOLO_I4,
                                         HOLO_F4E2M1, HOLO_U2,  HOLO_I2};
static const holo_dtype table_entries[] = {HOLO_U8, HOLO_I8, HOLO_F16, HOLO_F32, HOLO_I32};

/* Coordinates of Atlas, from its definition in words: 11 in bits 5 and 4 counts as 00. */
static int64_t table_class(int64_t byte)
{
    static const int64_t modality[4] = {0, 1, 2, 0};
    return byte / 64 * 24 + modality[byte / 16 % 4] * 8 + byte / 2 % 8;
}

/* Codes [2, 3, 5] of which dimension 1 picks the row; entries of all codes from base on. */
static void table_make(move_call *c, holo_dtype codes, holo_dtype entry, int64_t rows,
                       int64_t entries, int64_t base)
{
    holo_tensor *x = move_in(c, codes, 3, MOVE_DIMS(2, 3, 5));
    const uint32_t bits = hg_dtype_bits(codes);
    for (int64_t i = 0; i < 30; i++) {
        const uint64_t code = (uint64_t)(base + i * 7919 % entries);
        if (bits < 8)
            hg_packed_set(x->data, i, (int)bits, (uint8_t)code);
        else
            memcpy((uint8_t *)x->data + (size_t)i * (bits / 8), &code, bits / 8);
    }
    if (rows == 1)
        move_in(c, entry, 1, MOVE_DIMS(entries));
    else
        move_in(c, entry, 2, MOVE_DIMS(rows, entries));
    move_out(c, entry, 3, MOVE_DIMS(2, 3, 5));
    move_param(c, 1);
    move_param(c, base);
    move_param(c, 0);
}

static void table_compare(const move_call *c, int64_t rows, int64_t entries, int64_t base)
{
    for (int64_t i = 0; i < 30; i++) {
        uint64_t code[2];
        move_get(&c->in[0], i, code);
        const int64_t row = rows == 1 ? 0 : i / 5 % 3;
        if (!CHECK(move_same(&c->out[0], i, &c->in[1], row * entries + (int64_t)code[0] - base)))
            return;
    }
}

static void table_looks_up(void)
{
    for (size_t t = 0; t < HG_COUNT(table_codes) * HG_COUNT(table_entries); t++)
        for (int64_t rows = 1; rows <= 3; rows += 2)
            for (int64_t base = 0; base < 3; base++) {
                move_call c = {0};
                const holo_dtype codes = table_codes[t / HG_COUNT(table_entries)];
                const int64_t entries = (INT64_C(1) << hg_dtype_bits(codes)) - base;
                table_make(&c, codes, table_entries[t % HG_COUNT(table_entries)], rows, entries,
                           base);
                if (move_run(hg_kernels_table, &c)) table_compare(&c, rows, entries, base);
                CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
                move_free(&c);
            }
}

/* The first of several codes outside is named, and its element is left alone. */
static void table_reports_codes(void)
{
    static const int64_t bad[] = {9, 74, 255};
    for (size_t n = 0; n < HG_COUNT(bad); n++) {
        move_call c = {0};
        table_make(&c, HOLO_U8, HOLO_U8, 1, 64, 10);
        ((uint8_t *)c.in[0].data)[29] = 0;
        ((uint8_t *)c.in[0].data)[17] = (uint8_t)bad[n];
        ((uint8_t *)c.out[0].data)[17] = 77;
        holo_error e = {0};
        move_connect(&c);
        CHECK_OK(hg_kernels_table->check(&c.args, &e), &e);
        hg_kernels_table->run(&c.args, (hg_range){0, 1, NULL});
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_STR(c.fault.what, "code");
        CHECK_EQ_INT(c.fault.element, 17);
        CHECK_EQ_INT(c.fault.value, bad[n]);
        CHECK_EQ_INT(c.fault.low, 10);
        CHECK_EQ_INT(c.fault.high, 73);
        CHECK_EQ_INT(((const uint8_t *)c.out[0].data)[17], 77);
        move_free(&c);
    }
}

static void table_make_classes(move_call *c)
{
    holo_tensor *x = move_in(c, HOLO_U8, 1, MOVE_DIMS(256));
    for (int i = 0; i < 256; i++)
        ((uint8_t *)x->data)[i] = (uint8_t)(i * 91 + 5);
    move_in(c, HOLO_I16, 1, MOVE_DIMS(96));
    move_out(c, HOLO_I16, 1, MOVE_DIMS(256));
    move_param(c, 0);
    move_param(c, 0);
    move_param(c, 1);
}

static void table_knows_classes(void)
{
    move_call c = {0};
    table_make_classes(&c);
    if (move_run(hg_kernels_table, &c))
        for (int64_t i = 0; i < 256; i++)
            CHECK(
                move_same(&c.out[0], i, &c.in[1], table_class(((const uint8_t *)c.in[0].data)[i])));
    move_free(&c);
}

/* More codes than a unit has, none at all, one of rank 0, and the result over the codes. */
static void table_any_size(void)
{
    static const int64_t sizes[] = {0, 1, HG_TABLE_BLOCK, 2 * HG_TABLE_BLOCK + 3};
    for (size_t n = 0; n < HG_COUNT(sizes); n++) {
        move_call c = {0};
        holo_tensor *x = move_in(&c, HOLO_U8, n == 1 ? 0 : 1, &sizes[n]);
        move_in(&c, HOLO_U8, 1, MOVE_DIMS(256));
        move_out(&c, HOLO_U8, n == 1 ? 0 : 1, &sizes[n]);
        for (int i = 0; i < HG_TABLE_PARAMS; i++)
            move_param(&c, 0);
        if (move_run(hg_kernels_table, &c))
            for (int64_t i = 0; i < sizes[n]; i++)
                if (!CHECK(move_same(&c.out[0], i, &c.in[1], ((uint8_t *)x->data)[i]))) break;
        holo_tensor result = c.out[0];
        c.out[0].data = x->data;
        hg_kernels_table->run(&c.args, (hg_range){0, hg_kernels_table->units(&c.args), NULL});
        CHECK_MEM(x->data, result.data, holo_tensor_bytes(&result));
        c.out[0].data = result.data;
        move_free(&c);
    }
}

/* ---- tuned variants equal the reference --------------------------------------------------- */

typedef struct table_shape {
    holo_dtype codes;
    int rank;
    int64_t dim[3];
    int64_t axis, rows;
} table_shape;

/* Plain, rows by channel first and last, and three rows in turn, in sizes that leave tails. */
static const table_shape table_shapes[] = {
    {HOLO_U8, 1, {1}, 0, 1},
    {HOLO_I8, 1, {1000}, 0, 1},
    {HOLO_U8, 1, {HG_TABLE_BLOCK * 2 + 77}, 0, 1},
    {HOLO_U8, 3, {3, 5, 213}, 1, 5},
    {HOLO_U8, 3, {2, 3, 1500}, 1, 3},
    {HOLO_U8, 3, {2, 5, 40}, 1, 5},
    {HOLO_U8, 3, {70, 101, 3}, 2, 3},
    {HOLO_U8, 2, {150, 4}, 1, 4},
    {HOLO_U4, 1, {HG_TABLE_BLOCK + 4099}, 0, 1},
    {HOLO_I4, 2, {3, 1301}, 0, 3},
    {HOLO_U2, 1, {4101}, 0, 1},
    {HOLO_I2, 2, {3, 1301}, 0, 3},
    {HOLO_F16, 2, {3, 700}, 0, 3},
    {HOLO_U16, 2, {700, 3}, 1, 3},
};
static const holo_dtype table_results[] = {HOLO_U8, HOLO_F16, HOLO_F32};

/* Codes of the table's range alone; with `bad` one that is outside, if there is one. */
static void table_fill_codes(holo_tensor *x, int64_t entries, int64_t base, bool bad)
{
    const int64_t count = holo_tensor_count(x), bits = hg_dtype_bits(x->dtype);
    const bool can = entries < INT64_C(1) << bits;
    uint32_t seed = 77;
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        int64_t code = base + (int64_t)(seed >> 8) % entries;
        if (bad && can && (i == count / 2 || i == count - 1))
            code = base != 0 && i == count / 2 ? base - 1 : base + entries;
        if (bits < 8)
            hg_packed_set(x->data, i, (int)bits, (uint8_t)code);
        else
            memcpy((uint8_t *)x->data + i * bits / 8, &code, (size_t)bits / 8);
    }
}

static void table_make_shape(move_call *c, const table_shape *s, holo_dtype entry, int64_t entries,
                             int64_t base, bool by_class)
{
    move_in(c, s->codes, s->rank, s->dim);
    holo_tensor *t = s->rows == 1 ? move_in(c, entry, 1, MOVE_DIMS(entries))
                                  : move_in(c, entry, 2, MOVE_DIMS(s->rows, entries));
    for (size_t i = 0; i < holo_tensor_bytes(t); i++)
        ((uint8_t *)t->data)[i] = (uint8_t)(i * 167 + i / 256 * 31 + 5);
    move_out(c, entry, s->rank, s->dim);
    move_param(c, s->axis);
    move_param(c, base);
    move_param(c, by_class);
    move_connect(c);
}

/* Output and fault of a kernel, out of place and, where sizes match, over the codes. */
static void table_same(const hg_kernel *k, move_call *c)
{
    holo_error e = {0};
    const hg_range all = {0, hg_kernel_work(k, &c->args).units, NULL};
    const size_t bytes = holo_tensor_bytes(&c->out[0]);
    uint8_t *expected = malloc(bytes), *codes = c->in[0].data, *out = c->out[0].data;
    if (!CHECK_OK(k->check(&c->args, &e), &e)) return;
    memset(out, 0x5a, bytes);
    hg_kernels_table->run(&c->args, all);
    const hg_fault fault = c->fault;
    memcpy(expected, out, bytes);
    memset(out, 0x5a, bytes);
    memset(&c->fault, 0, sizeof c->fault);
    k->run(&c->args, all);
    CHECK_MEM(out, expected, bytes);
    CHECK_EQ_INT(c->fault.kind, fault.kind);
    CHECK_EQ_INT(c->fault.element, fault.element);
    CHECK_EQ_INT(c->fault.value, fault.value);
    if (fault.kind == HG_FAULT_NONE && holo_tensor_bytes(&c->in[0]) == bytes) {
        uint8_t *copy = malloc(bytes);
        memcpy(copy, codes, bytes);
        c->out[0].data = c->in[0].data = copy;
        for (int64_t u = all.end; u-- > 0;)
            k->run(&c->args, (hg_range){u, u + 1, NULL});
        CHECK_MEM(copy, expected, bytes);
        c->in[0].data = codes;
        c->out[0].data = out;
        free(copy);
    }
    memset(&c->fault, 0, sizeof c->fault);
    free(expected);
}

static void table_try(const hg_kernel *k, const table_shape *s, int64_t entries, int64_t base,
                      bool by_class)
{
    for (size_t r = 0; r < HG_COUNT(table_results); r++) {
        move_call c = {0};
        table_make_shape(&c, s, table_results[r], entries, base, by_class);
        for (int bad = 0; bad < 2; bad++) {
            table_fill_codes(&c.in[0], by_class ? 256 : entries, base, bad != 0);
            table_same(k, &c);
        }
        move_free(&c);
    }
}

static void table_tuned_equal(void)
{
    static const int64_t sizes[] = {1,  2,  4,  15,  16,  17,  32,  33,   64,
                                    65, 96, 97, 128, 129, 250, 256, 65536};
    for (size_t v = 0; v < HG_COUNT(table_tuned); v++) {
        const hg_kernel *k = table_tuned[v];
        if ((k->cpu & ~hg_cpu_features()) != 0) continue;
        for (size_t s = 0; s < HG_COUNT(table_shapes); s++)
            for (size_t n = 0; n < HG_COUNT(sizes); n++) {
                const int64_t codes = INT64_C(1) << hg_dtype_bits(table_shapes[s].codes);
                if (sizes[n] > codes) continue;
                table_try(k, &table_shapes[s], sizes[n], 0, false);
                if (sizes[n] < codes)
                    table_try(k, &table_shapes[s], sizes[n], codes - sizes[n], false);
                if (sizes[n] + 2 < codes) table_try(k, &table_shapes[s], sizes[n], 1, false);
                if (sizes[n] == 96 && codes == 256) table_try(k, &table_shapes[s], 96, 0, true);
            }
    }
}

static void table_make_rows(move_call *c)
{
    table_make(c, HOLO_U8, HOLO_U8, 3, 96, 0);
}

static void table_make_scalar(move_call *c)
{
    move_in(c, HOLO_U8, 0, NULL);
    move_in(c, HOLO_U8, 1, MOVE_DIMS(256));
    move_out(c, HOLO_U8, 0, NULL);
    for (int i = 0; i < HG_TABLE_PARAMS; i++)
        move_param(c, 0);
}

static void table_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_OUT, 0, 0, 2, "2 outputs"},
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I64, "input 1 has type int64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I64, "output 0 has type int64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I8, "output has type int8"},
        {MOVE_OUT_DIM, 0, 1, 4, "output: dimension 1 is 4"},
        {MOVE_IN_RANK, 1, 0, 3, "table has rank 3"},
        {MOVE_IN_DIM, 1, 0, 2, "table has 2 rows, expected 3"},
        {MOVE_IN_DIM, 1, 1, 0, "table has 0 entries"},
        {MOVE_IN_DIM, 1, 1, 257, "table has 257 entries, expected 1 to 256"},
        {MOVE_PARAM, HG_TABLE_AXIS, 0, 3, "axis is 3"},
        {MOVE_PARAM, HG_TABLE_AXIS, 0, -1, "axis is -1"},
        {MOVE_PARAM, HG_TABLE_BASE, 0, -1, "base is -1"},
        {MOVE_PARAM, HG_TABLE_BASE, 0, 256, "base is 256"},
        {MOVE_PARAM, HG_TABLE_BASE, 0, 161, "table has 96 entries, expected 1 to 95"},
        {MOVE_PARAM, HG_TABLE_CLASSES, 0, 2, "classes is 2"},
    };
    static const move_bad bad_scalar[] = {{MOVE_IN_RANK, 1, 0, 2, "codes has rank 0"}};
    static const move_bad bad_classes[] = {
        {MOVE_IN_TYPE, 0, 0, HOLO_U16, "classes of uint16"},
        {MOVE_IN_DIM, 1, 0, 95, "table of classes has 95 entries"},
        {MOVE_PARAM, HG_TABLE_BASE, 0, 1, "96 entries from 1 on"},
    };
    MOVE_REFUSES(hg_kernels_table, table_make_rows, bad);
    MOVE_REFUSES(hg_kernels_table, table_make_scalar, bad_scalar);
    MOVE_REFUSES(hg_kernels_table, table_make_classes, bad_classes);
}

const hg_test_case hg_tests_kernel_table[] = {
    {"looks_up", table_looks_up},
    {"reports_codes", table_reports_codes},
    {"knows_classes", table_knows_classes},
    {"any_size", table_any_size},
    {"tuned_equal", table_tuned_equal},
    {"refuses", table_refuses},
    {0},
};
