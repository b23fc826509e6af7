/* table.c - table against its definition: every kind of code and entry, rows by channel, narrowed
 * tables, class tables, codes outside, in place. */
#include "kernel/table.h"

#include "kernel/move.h"

extern const hg_kernel hg_kernels_table[];

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
    {"refuses", table_refuses},
    {0},
};
