/* table.c - table with SIMD of WebAssembly: 16 codes at a time, sixteen entries a swizzle.
 *
 * A swizzle gives 0 where the index is 16 or more, so T[k] is T0[k] | T1[k - 16] | T2[k - 32] ...
 * Up to 128 entries this beats one code at a time, for 256 it does not: a swizzle is two
 * instructions on x86. */
#include "kernel/table.h"
#include "base/atlas.h"

#include <wasm_simd128.h>

enum { TABLE_VECTOR = 16 };

typedef struct table_row table_row;

/* n codes, a multiple of TABLE_VECTOR; returns how many were done before one was outside. */
typedef int64_t table_look(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n);

struct table_row {
    table_look *look;
    v128_t base, top;  /* top: entries - 1 */
    v128_t part[4][8]; /* per plane */
    bool by_class;
};

/* The number of the entry of each code; false when one is outside. The high four bits of a byte
 * decide 24 h2 + 8 d of its class, bits 3 to 1 the rest. */
HG_INLINE bool table_take(const table_row *row, const uint8_t *x, v128_t *k)
{
    const v128_t v = wasm_v128_load(x);
    if (row->by_class) {
        const v128_t start =
            wasm_u8x16_const(0, 8, 16, 0, 24, 32, 40, 24, 48, 56, 64, 48, 72, 80, 88, 72);
        *k = wasm_i8x16_add(wasm_i8x16_swizzle(start, wasm_u8x16_shr(v, 4)),
                            wasm_v128_and(wasm_u8x16_shr(v, 1), wasm_u8x16_splat(7)));
        return true;
    }
    *k = wasm_i8x16_sub(v, row->base);
    return !wasm_v128_any_true(wasm_u8x16_gt(*k, row->top));
}

HG_INLINE v128_t table_at(const v128_t *part, v128_t k, const int wide)
{
    v128_t y = wasm_i8x16_swizzle(part[0], k);
    for (int j = 1; j < wide; j++) {
        k = wasm_i8x16_sub(k, wasm_u8x16_splat(16));
        y = wasm_v128_or(y, wasm_i8x16_swizzle(part[j], k));
    }
    return y;
}

HG_INLINE int64_t table_bytes(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    v128_t k;
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(row, x + i, &k))) return i;
        wasm_v128_store(y + i, table_at(row->part[0], k, wide));
    }
    return n;
}

static int64_t table_words(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n)
{
    v128_t k;
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(row, x + i, &k))) return i;
        const v128_t b0 = table_at(row->part[0], k, 1), b1 = table_at(row->part[1], k, 1);
        wasm_v128_store(y + 2 * i, wasm_i8x16_shuffle(b0, b1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                                      21, 6, 22, 7, 23));
        wasm_v128_store(y + 2 * i + 16, wasm_i8x16_shuffle(b0, b1, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                           28, 13, 29, 14, 30, 15, 31));
    }
    return n;
}

#define TABLE_BYTES(wide)                                                                          \
    static int64_t table_bytes_##wide(const table_row *row, const uint8_t *x, uint8_t *y,          \
                                      int64_t n)                                                   \
    {                                                                                              \
        return table_bytes(row, x, y, n, wide);                                                    \
    }
TABLE_BYTES(8)
TABLE_BYTES(6)
TABLE_BYTES(4)
TABLE_BYTES(1)
#undef TABLE_BYTES

/* ---- rows ------------------------------------------------------------------------------- */

static int table_wide(const hg_table *t)
{
    const int64_t sixteens = hg_ceil_div(t->entries, 16);
    if (t->size != 1) return t->size == 2 && sixteens == 1 ? 1 : 0;
    if (sixteens > 8) return 0;
    return sixteens > 6 ? 8 : sixteens > 4 ? 6 : sixteens > 1 ? 4 : 1;
}

static void table_load(table_row *row, const hg_table *t, uint8_t plane[4][256], int wide)
{
    for (uint32_t b = 0; b < 4 && b < t->size; b++)
        for (int k = 0; k < wide && k < 8; k++)
            row->part[b][k] = wasm_v128_load(plane[b] + 16 * k);
    row->base = wasm_u8x16_splat((uint8_t)t->base);
    row->top = wasm_u8x16_splat((uint8_t)(t->entries - 1));
    row->by_class = t->by_class;
    if (t->size == 2)
        row->look = table_words;
    else
        row->look = wide == 8   ? table_bytes_8
                    : wide == 6 ? table_bytes_6
                    : wide == 4 ? table_bytes_4
                                : table_bytes_1;
}

/* Bytes of three vectors in turn belong to rows 0, 1 and 2. As 16 is not a multiple of 3, each
 * place of the vectors has each row once: selections by place give three vectors of one row each,
 * and the same selections put the results back. */
HG_INLINE v128_t table_pick(v128_t a, v128_t b, v128_t c)
{
    const v128_t one = wasm_u8x16_const(0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0);
    const v128_t two = wasm_u8x16_const(0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0);
    return wasm_v128_bitselect(c, wasm_v128_bitselect(b, a, one), two);
}

HG_INLINE int64_t table_turns(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    if (wide != 8) return 0;
    for (int64_t i = 0; i < n; i += 3 * TABLE_VECTOR) {
        v128_t v[3], c[3];
        for (int j = 0; j < 3; j++)
            if (HG_UNLIKELY(!table_take(&row[0], x + i + j * TABLE_VECTOR, &v[j]))) return i;
        c[0] = table_at(row[0].part[0], table_pick(v[0], v[2], v[1]), 8);
        c[1] = table_at(row[1].part[0], table_pick(v[1], v[0], v[2]), 8);
        c[2] = table_at(row[2].part[0], table_pick(v[2], v[1], v[0]), 8);
        wasm_v128_store(y + i, table_pick(c[0], c[1], c[2]));
        wasm_v128_store(y + i + TABLE_VECTOR, table_pick(c[1], c[2], c[0]));
        wasm_v128_store(y + i + 2 * TABLE_VECTOR, table_pick(c[2], c[0], c[1]));
    }
    return n;
}

#include "backend/cpu/table_run.inc"

const hg_kernel hg_kernels_table_wasm[] = {
    {.name = "table",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_WASM,
     .check = hg_kernel_table_check,
     .units = hg_kernel_table_units,
     .run = table_run},
    {0},
};
