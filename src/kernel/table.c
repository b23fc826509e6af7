/* table.c - table: what a table says about each code.
 *
 *   in[0]  codes: any shape, of 8, 16, 4 or 2 bits; a code is the bits as an unsigned number
 *   in[1]  the table: [entries] or [channels, entries] of 1, 2 or 4 bytes
 *   param  axis: dimension of in[0] that picks the row, when there are channels
 *          base: entry k belongs to code base + k
 *          classes: 1: entry k belongs to the bytes of Atlas class k instead, 96 entries
 *   out[0] out[i] = table[channel][code[i] - base], shape of in[0], type of in[1]
 *
 * A code outside [base, base + entries) is a fault; its element is left as it was. */
#include "kernel/table.h"

#include "base/atlas.h"
#include "base/half.h"

static holo_status table_check_row(const hg_args *a, holo_error *e)
{
    const holo_tensor *x = &a->in[0], *t = &a->in[1];
    HG_TRY(hg_check_rank(t, e, "table", 1, 2));
    HG_TRY(hg_check_param(a, e, HG_TABLE_AXIS, "axis", 0, hg_max(0, x->rank - 1)));
    if (t->rank == 1) return HOLO_OK;
    HG_TRY(hg_check_rank(x, e, "codes", 1, HG_MAX_RANK));
    const int64_t channels = x->dim[a->param[HG_TABLE_AXIS]];
    HG_REQUIRE(e, t->dim[0] == channels, HOLO_E_SHAPE, "table has %lld rows, expected %lld",
               (long long)t->dim[0], (long long)channels);
    return HOLO_OK;
}

holo_status hg_kernel_table_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, HG_TABLE_PARAMS));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TABLE_CODES));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TABLE_ENTRIES));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TABLE_ENTRIES));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[1], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(table_check_row(a, e));
    const int64_t entries = a->in[1].dim[a->in[1].rank - 1];
    const int64_t codes = INT64_C(1) << hg_dtype_bits(a->in[0].dtype);
    HG_TRY(hg_check_param(a, e, HG_TABLE_BASE, "base", 0, codes - 1));
    HG_TRY(hg_check_param(a, e, HG_TABLE_CLASSES, "classes", 0, 1));
    HG_REQUIRE(e, entries >= 1 && entries <= codes - a->param[HG_TABLE_BASE], HOLO_E_SHAPE,
               "table has %lld entries, expected 1 to %lld", (long long)entries,
               (long long)(codes - a->param[HG_TABLE_BASE]));
    if (a->param[HG_TABLE_CLASSES] == 0) return HOLO_OK;
    HG_REQUIRE(e, codes == 256, HOLO_E_TYPE, "classes of %s, expected bytes",
               holo_dtype_text(a->in[0].dtype));
    HG_REQUIRE(e, entries == HG_ATLAS_CLASSES && a->param[HG_TABLE_BASE] == 0, HOLO_E_SHAPE,
               "table of classes has %lld entries from %lld on, expected %d from 0 on",
               (long long)entries, (long long)a->param[HG_TABLE_BASE], HG_ATLAS_CLASSES);
    return HOLO_OK;
}

int64_t hg_kernel_table_units(const hg_args *a)
{
    return hg_ceil_div(holo_tensor_count(&a->out[0]), HG_TABLE_BLOCK);
}

hg_table hg_table_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0], *t = &a->in[1];
    const int axis = (int)a->param[HG_TABLE_AXIS];
    return (hg_table){.codes = x->data,
                      .entry = t->data,
                      .out = a->out[0].data,
                      .count = holo_tensor_count(x),
                      .channels = t->rank == 1 ? 1 : t->dim[0],
                      .inner = t->rank == 1 ? holo_tensor_count(x)
                                            : hg_dims_product(x, axis + 1, x->rank),
                      .entries = t->dim[t->rank - 1],
                      .base = a->param[HG_TABLE_BASE],
                      .bits = hg_dtype_bits(x->dtype),
                      .size = hg_dtype_bits(t->dtype) / 8,
                      .by_class = a->param[HG_TABLE_CLASSES] != 0,
                      .fault = a->fault};
}

uint32_t hg_table_code(const hg_table *t, int64_t i)
{
    if (t->bits == 8) return t->codes[i];
    if (t->bits == 16) return ((const uint16_t *)t->codes)[i];
    return hg_packed_get(t->codes, i, (int)t->bits);
}

/* Codes of whole bytes, one at a time, until one is outside: its number, or `end`. Where rows are
 * long, all codes are of one row, the first loop's: counting them takes a third of the time. */
enum { TABLE_LONG = 32 };

#define TABLE_LOOP(C, T)                                                                           \
    static int64_t table_loop_##C##_##T(const hg_table *t, int64_t i, int64_t end)                 \
    {                                                                                              \
        const C *x = (const C *)t->codes;                                                          \
        const T *row = (const T *)t->entry + i / t->inner % t->channels * t->entries;              \
        const T *last = (const T *)t->entry + (t->channels - 1) * t->entries;                      \
        T *y = (T *)t->out;                                                                        \
        const uint32_t base = (uint32_t)t->base, entries = (uint32_t)t->entries;                   \
        for (uint32_t k; t->inner >= TABLE_LONG && i < end; i++) {                                 \
            if (HG_UNLIKELY((k = x[i] - base) >= entries)) return i;                               \
            y[i] = row[k];                                                                         \
        }                                                                                          \
        for (int64_t left = t->inner - i % t->inner; i < end; i++) {                               \
            const uint32_t k = x[i] - base;                                                        \
            if (HG_UNLIKELY(k >= entries)) return i;                                               \
            y[i] = row[k];                                                                         \
            if (--left > 0) continue;                                                              \
            row = row == last ? (const T *)t->entry : row + entries;                               \
            left = t->inner;                                                                       \
        }                                                                                          \
        return i;                                                                                  \
    }
TABLE_LOOP(uint8_t, uint8_t)
TABLE_LOOP(uint8_t, uint16_t)
TABLE_LOOP(uint8_t, uint32_t)
TABLE_LOOP(uint16_t, uint8_t)
TABLE_LOOP(uint16_t, uint16_t)
TABLE_LOOP(uint16_t, uint32_t)
#undef TABLE_LOOP

/* Every code of 16 bits has an entry: nothing to check, and eight codes are taken by two loads. Of
 * halves in [-1, 1) to halves this does 3.6 * 10^9 a second in L1 and 2.5 from memory, the loop
 * above 1.8 and 1.7; gathers would do 2.8 and 2.3 with AVX2, 2.5 and 2.2 with AVX-512 (bench/run.sh
 * tables, Zen 4). */
#define TABLE_ALL(T)                                                                               \
    static int64_t table_all_##T(const hg_table *t, int64_t i, int64_t end)                        \
    {                                                                                              \
        const T *row = (const T *)t->entry + i / t->inner % t->channels * t->entries;              \
        const uint16_t *x = (const uint16_t *)t->codes;                                            \
        for (T *y = (T *)t->out; i + 8 <= end; i += 8) {                                           \
            uint64_t c[2];                                                                         \
            memcpy(c, x + i, sizeof c);                                                            \
            const T r[8] = {row[c[0] & 65535],       row[c[0] >> 16 & 65535],                      \
                            row[c[0] >> 32 & 65535], row[c[0] >> 48],                              \
                            row[c[1] & 65535],       row[c[1] >> 16 & 65535],                      \
                            row[c[1] >> 32 & 65535], row[c[1] >> 48]};                             \
            memcpy(y + i, r, sizeof r);                                                            \
        }                                                                                          \
        return i;                                                                                  \
    }
TABLE_ALL(uint8_t)
TABLE_ALL(uint16_t)
TABLE_ALL(uint32_t)
#undef TABLE_ALL

static int64_t table_all(const hg_table *t, int64_t i, int64_t end)
{
    if (t->entries != 65536 || t->inner < TABLE_LONG) return i;
    if (t->size == 1) return table_all_uint8_t(t, i, end);
    return t->size == 2 ? table_all_uint16_t(t, i, end) : table_all_uint32_t(t, i, end);
}

/* Packed codes and classes. */
static int64_t table_loop_rest(const hg_table *t, int64_t i, int64_t end)
{
    for (; i < end; i++) {
        const uint32_t code = hg_table_code(t, i);
        const int64_t row = i / t->inner % t->channels;
        const int64_t k = t->by_class ? hg_atlas_class((uint8_t)code) : (int64_t)code - t->base;
        if (HG_UNLIKELY(k < 0 || k >= t->entries)) break;
        memcpy(t->out + i * t->size, t->entry + (row * t->entries + k) * t->size, t->size);
    }
    return i;
}

static int64_t table_loop(const hg_table *t, int64_t i, int64_t end)
{
    if (t->by_class || t->bits < 8) return table_loop_rest(t, i, end);
    if (t->bits == 8) {
        if (t->size == 1) return table_loop_uint8_t_uint8_t(t, i, end);
        if (t->size == 2) return table_loop_uint8_t_uint16_t(t, i, end);
        return table_loop_uint8_t_uint32_t(t, i, end);
    }
    i = table_all(t, i, end);
    if (t->size == 1) return table_loop_uint16_t_uint8_t(t, i, end);
    if (t->size == 2) return table_loop_uint16_t_uint16_t(t, i, end);
    return table_loop_uint16_t_uint32_t(t, i, end);
}

void hg_table_each(const hg_table *t, int64_t begin, int64_t end)
{
    while (begin < end) {
        const int64_t row_end = begin + t->inner - begin % t->inner;
        const int64_t stop = t->inner < TABLE_LONG ? end : hg_min(end, row_end);
        begin = table_loop(t, begin, stop);
        if (begin == stop) continue;
        hg_fault_range(t->fault, "code", begin, hg_table_code(t, begin), t->base,
                       t->base + t->entries - 1);
        begin++;
    }
}

static void table_run(const hg_args *a, hg_range r)
{
    const hg_table t = hg_table_of(a);
    if (r.begin < r.end)
        hg_table_each(&t, r.begin * HG_TABLE_BLOCK, hg_min(r.end * HG_TABLE_BLOCK, t.count));
}

const hg_kernel hg_kernels_table[] = {
    {.name = "table",
     .flags = HG_KERNEL_INPLACE,
     .check = hg_kernel_table_check,
     .units = hg_kernel_table_units,
     .run = table_run},
    {0},
};
