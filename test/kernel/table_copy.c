/* table_copy.c - table.copy against its definition, every variant: all ways of copying, one row and
 * rows by channel, narrowed tables and classes, codes outside. */
#include "kernel/copy_cases.h"
#include "kernel/table.h"

#include "base/cpu.h"

extern const hg_kernel hg_kernels_table_copy[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_table_copy_avx2[], hg_kernels_table_copy_avx512[];
static const hg_kernel *const table_copy_all[] = {hg_kernels_table_copy, hg_kernels_table_copy_avx2,
                                                  hg_kernels_table_copy_avx512};
#elif defined(__wasm_simd128__)
extern const hg_kernel hg_kernels_table_copy_wasm[];
static const hg_kernel *const table_copy_all[] = {hg_kernels_table_copy,
                                                  hg_kernels_table_copy_wasm};
#elif defined(__aarch64__)
extern const hg_kernel hg_kernels_table_copy_neon[];
static const hg_kernel *const table_copy_all[] = {hg_kernels_table_copy,
                                                  hg_kernels_table_copy_neon};
#else
static const hg_kernel *const table_copy_all[] = {hg_kernels_table_copy};
#endif

/* Axis -1: one row for all. */
typedef struct table_copy_table {
    int64_t axis, entries, base, classes;
} table_copy_table;

/* Atlas class of a byte, from its definition in words: 11 in bits 5 and 4 counts as 00. */
static int64_t table_copy_class(int64_t byte)
{
    static const int64_t modality[4] = {0, 1, 2, 0};
    return byte / 64 * 24 + modality[byte / 16 % 4] * 8 + byte / 2 % 8;
}

static void table_copy_make(move_call *c, const copy_case *t, const table_copy_table *table)
{
    holo_tensor *x = move_in(c, HOLO_I8, 1, &t->size);
    for (int64_t i = 0; i < t->size; i++)
        ((uint8_t *)x->data)[i] = (uint8_t)(table->base + i * 7919 % table->entries);
    if (table->axis < 0)
        move_in(c, HOLO_U8, 1, MOVE_DIMS(table->entries));
    else
        move_in(c, HOLO_U8, 2, MOVE_DIMS(t->extent[table->axis], table->entries));
    for (int64_t i = 0; i < holo_tensor_count(&c->in[1]); i++)
        ((uint8_t *)c->in[1].data)[i] = (uint8_t)(i * 37 + i / 256 * 11);
    move_out(c, HOLO_U8, t->loops, t->extent);
    move_param(c, table->axis < 0 ? 0 : table->axis);
    move_param(c, table->base);
    move_param(c, table->classes);
    move_param(c, t->offset);
    for (int i = 0; i < t->loops; i++) {
        move_param(c, t->extent[i]);
        move_param(c, t->stride[i]);
    }
}

static void table_copy_compare(const move_call *c, const copy_case *t,
                               const table_copy_table *table)
{
    int64_t inner = 1;
    for (int64_t k = table->axis + 1; table->axis >= 0 && k < t->loops; k++)
        inner *= t->extent[k];
    for (int64_t i = 0; i < holo_tensor_count(&c->out[0]); i++) {
        const int64_t code = ((const uint8_t *)c->in[0].data)[copy_from(t, i)];
        const int64_t row = table->axis < 0 ? 0 : i / inner % t->extent[table->axis];
        const int64_t k = table->classes != 0 ? table_copy_class(code) : code - table->base;
        if (move_same(&c->out[0], i, &c->in[1], row * table->entries + k)) continue;
        hg_test_fail(HG_TEST_HERE, "%s, axis %d, %d entries: element %lld is wrong", t->name,
                     (int)table->axis, (int)table->entries, (long long)i);
        return;
    }
}

static void table_copy_try(const hg_kernel *k, const copy_case *t, const table_copy_table *table)
{
    move_call c = {0};
    table_copy_make(&c, t, table);
    if (move_run(k, &c)) table_copy_compare(&c, t, table);
    CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
    move_free(&c);
}

static void table_copy_matches(const hg_kernel *k)
{
    static const table_copy_table one[] = {
        {-1, 256, 0, 0}, {-1, 60, 17, 0}, {-1, 128, 128, 0}, {-1, 96, 0, 1}};
    for (size_t i = 0; i < HG_COUNT(copy_table); i++) {
        for (size_t n = 0; n < HG_COUNT(one); n++)
            table_copy_try(k, &copy_table[i], &one[n]);
        for (int64_t axis = 0; axis < copy_table[i].loops; axis++) {
            if (copy_table[i].extent[axis] > 300) continue;
            table_copy_try(k, &copy_table[i], &(table_copy_table){axis, 256, 0, 0});
            table_copy_try(k, &copy_table[i], &(table_copy_table){axis, 40, 5, 0});
        }
    }
}

static void table_copy_looks_up(void)
{
    for (size_t i = 0; i < HG_COUNT(table_copy_all); i++)
        if ((hg_cpu_features() & table_copy_all[i]->cpu) == table_copy_all[i]->cpu)
            table_copy_matches(table_copy_all[i]);
}

/* The element is that of the output. */
static void table_copy_reports(void)
{
    const copy_case t = {"", 3 * 500, 0, 2, {3, 500}, {1, 3}};
    for (size_t i = 0; i < HG_COUNT(table_copy_all); i++) {
        move_call c = {0};
        _Alignas(64) uint8_t scratch[2048];
        if ((hg_cpu_features() & table_copy_all[i]->cpu) != table_copy_all[i]->cpu) continue;
        table_copy_make(&c, &t, &(table_copy_table){-1, 60, 17, 0});
        ((uint8_t *)c.in[0].data)[3 * 40 + 1] = 16; /* element 540 */
        ((uint8_t *)c.in[0].data)[3 * 41 + 1] = 77;
        move_connect(&c);
        table_copy_all[i]->run(
            &c.args, (hg_range){0, hg_kernel_work(table_copy_all[i], &c.args).units, scratch});
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.element, 540);
        CHECK_EQ_INT(c.fault.value, 16);
        move_free(&c);
    }
}

static void table_copy_make_good(move_call *c)
{
    table_copy_make(c, &(copy_case){"", 60, 10, 2, {4, 5}, {-3, 10}},
                    &(table_copy_table){1, 256, 0, 0});
}

static void table_copy_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_IN, 0, 0, 3, "3 inputs"},
        {MOVE_N_PARAM, 0, 0, 3, "3 parameters, expected more"},
        {MOVE_N_PARAM, 0, 0, 5, "2 parameters, expected an odd number"},
        {MOVE_IN_TYPE, 0, 0, HOLO_F16, "input 0 has type float16"},
        {MOVE_IN_TYPE, 1, 0, HOLO_NONE, "input 1 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F16, "output 0 has type float16"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I8, "output has type int8"},
        {MOVE_IN_RANK, 1, 0, 3, "table has rank 3"},
        {MOVE_IN_DIM, 1, 0, 4, "table has 4 rows, expected 5"},
        {MOVE_IN_DIM, 1, 1, 257, "table has 257 entries"},
        {MOVE_IN_DIM, 1, 1, 0, "table has 0 entries"},
        {MOVE_PARAM, 0, 0, 2, "axis is 2"},
        {MOVE_PARAM, 1, 0, 1, "table has 256 entries, expected 1 to 255"},
        {MOVE_PARAM, 2, 0, 2, "classes is 2"},
        {MOVE_PARAM, 3, 0, 20, "elements 11 to 60"},
        {MOVE_IN_DIM, 0, 0, 50, "the input has 50"},
    };
    MOVE_REFUSES(hg_kernels_table_copy, table_copy_make_good, bad);
}

const hg_test_case hg_tests_kernel_table_copy[] = {
    {"looks_up", table_copy_looks_up},
    {"reports_codes", table_copy_reports},
    {"refuses", table_copy_refuses},
    {0},
};
