/* table.c - table with SIMD of WebAssembly: 16 codes at a time, sixteen entries a swizzle.
 *
 * A swizzle gives 0 where the index is 16 or more, so T[k] is T0[k] | T1[k - 16] | T2[k - 32] ...
 * It is two instructions on x86, where 256 entries do 2.5 GB/s in L1 so (Zen 4, Node 20), one code
 * at a time 2.2. A relaxed swizzle is one: between 16 and 127 it gives 0, or looks at the low four
 * bits, as x86 does. Then the four chains of avx2/table.c serve 256 entries, at 3.9 GB/s. */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/move.h"
#include "base/atlas.h"

enum { TABLE_VECTOR = 16 };

typedef struct table_row table_row;

/* n codes, a multiple of TABLE_VECTOR; returns how many were done before one was outside. */
typedef int64_t table_look(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n);

struct table_row {
    table_look *look;
    v128_t base, top;   /* top: entries - 1 */
    v128_t part[4][16]; /* per plane */
    bool by_class;
};

/* The number of the entry of each code, or the code itself where the row is laid out by code; false
 * when one is outside. The high four bits of a byte decide 24 h2 + 8 d of its class, bits 3 to 1
 * the rest. */
HG_INLINE bool table_take(const table_row *row, const uint8_t *x, v128_t *k, const int wide)
{
    const v128_t v = wasm_v128_load(x);
    if (row->by_class) {
        const v128_t start =
            wasm_u8x16_const(0, 8, 16, 0, 24, 32, 40, 24, 48, 56, 64, 48, 72, 80, 88, 72);
        *k = wasm_i8x16_add(wasm_i8x16_swizzle(start, wasm_u8x16_shr(v, 4)),
                            wasm_v128_and(wasm_u8x16_shr(v, 1), wasm_u8x16_splat(7)));
        return true;
    }
    const v128_t d = wasm_i8x16_sub(v, row->base);
    *k = wide == 16 ? v : d;
    return !wasm_v128_any_true(wasm_u8x16_gt(d, row->top));
}

#if defined(__wasm_relaxed_simd__)

/* Whether a relaxed swizzle looks at the low four bits of an index. */
static bool table_is_low(void)
{
    volatile uint8_t sixteen = 16; /* or the compiler answers */
    const v128_t ones = wasm_u8x16_const_splat(1);
    return wasm_v128_any_true(vec4_look(ones, wasm_u8x16_splat(sixteen)));
}

HG_INLINE v128_t table_two(v128_t low, v128_t x, v128_t high, v128_t y)
{
    return wasm_v128_xor(vec4_look(low, x), vec4_look(high, y));
}

/* The sixteens in the order of avx2/table.c: quarters 1, 0 ^ 1, 3, 2 ^ 3. */
HG_INLINE v128_t table_whole(const v128_t *part, v128_t x)
{
    const v128_t zero = wasm_u8x16_const_splat(0), quarter = wasm_u8x16_const_splat(64);
    const v128_t y = wasm_v128_xor(x, wasm_u8x16_const_splat(128));
    const v128_t x1 = wasm_u8x16_add_sat(x, quarter), y1 = wasm_u8x16_add_sat(y, quarter);
    const v128_t bit4 = wasm_i8x16_lt(wasm_i16x8_shl(x, 3), zero);
    const v128_t bit5 = wasm_i8x16_lt(wasm_i16x8_shl(x, 2), zero);
    v128_t sum[4];
    HG_UNROLL
    for (int k = 0; k < 4; k++)
        sum[k] = wasm_v128_xor(table_two(part[k], x, part[4 + k], x1),
                               table_two(part[8 + k], y, part[12 + k], y1));
    const v128_t low = __builtin_wasm_relaxed_laneselect_i8x16(sum[1], sum[0], bit4);
    const v128_t high = __builtin_wasm_relaxed_laneselect_i8x16(sum[3], sum[2], bit4);
    return __builtin_wasm_relaxed_laneselect_i8x16(high, low, bit5);
}

static void table_quarters(v128_t part[16])
{
    v128_t sixteen[16];
    memcpy(sixteen, part, sizeof sixteen);
    for (int k = 0; k < 16; k++)
        part[k] = k / 4 % 2 == 0 ? sixteen[k + 4] : wasm_v128_xor(sixteen[k], sixteen[k - 4]);
}

#else

#define table_is_low() false
#define table_whole(part, k) ((void)(part), (k))
#define table_quarters(part) ((void)(part))

#endif

/* low: in quarters, for table_whole. */
HG_INLINE v128_t table_at(const v128_t *part, v128_t k, const int wide, const bool low)
{
    if (low) return table_whole(part, k);
    v128_t y = wasm_i8x16_swizzle(part[0], k);
    HG_UNROLL
    for (int j = 1; j < wide; j++) {
        k = wasm_i8x16_sub(k, wasm_u8x16_splat(16));
        y = wasm_v128_or(y, wasm_i8x16_swizzle(part[j], k));
    }
    return y;
}

HG_INLINE int64_t table_bytes(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide, const bool low)
{
    v128_t k;
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(row, x + i, &k, wide))) return i;
        wasm_v128_store(y + i, table_at(row->part[0], k, wide, low));
    }
    return n;
}

static int64_t table_words(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n)
{
    v128_t k;
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(row, x + i, &k, 1))) return i;
        const v128_t b0 = table_at(row->part[0], k, 1, false);
        const v128_t b1 = table_at(row->part[1], k, 1, false);
        wasm_v128_store(y + 2 * i, vec4_unpacklo_i8(b0, b1));
        wasm_v128_store(y + 2 * i + 16, vec4_unpackhi_i8(b0, b1));
    }
    return n;
}

#define TABLE_BYTES(wide)                                                                          \
    static int64_t table_bytes_##wide(const table_row *row, const uint8_t *x, uint8_t *y,          \
                                      int64_t n)                                                   \
    {                                                                                              \
        return table_bytes(row, x, y, n, wide, false);                                             \
    }
TABLE_BYTES(16)
TABLE_BYTES(8)
TABLE_BYTES(6)
TABLE_BYTES(4)
TABLE_BYTES(1)
#undef TABLE_BYTES

static int64_t table_bytes_low(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n)
{
    return table_bytes(row, x, y, n, 16, true);
}

/* ---- rows ------------------------------------------------------------------------------- */

static int table_wide(const hg_table *t)
{
    const int64_t sixteens = hg_ceil_div(t->entries, 16);
    if (t->size != 1) return t->size == 2 && sixteens == 1 ? 1 : 0;
    if (sixteens > 8) return 16;
    return sixteens > 6 ? 8 : sixteens > 4 ? 6 : sixteens > 1 ? 4 : 1;
}

static void table_load(table_row *row, const hg_table *t, uint8_t plane[4][256], int wide)
{
    for (uint32_t b = 0; b < 4 && b < t->size; b++)
        for (int k = 0; k < wide; k++)
            row->part[b][k] = wasm_v128_load(plane[b] + 16 * k);
    const bool low = wide == 16 && table_is_low();
    if (low) table_quarters(row->part[0]);
    row->base = wasm_u8x16_splat((uint8_t)t->base);
    row->top = wasm_u8x16_splat((uint8_t)(t->by_class ? 255 : t->entries - 1));
    row->by_class = t->by_class && wide != 16;
    if (t->size == 2)
        row->look = table_words;
    else
        row->look = low          ? table_bytes_low
                    : wide == 16 ? table_bytes_16
                    : wide == 8  ? table_bytes_8
                    : wide == 6  ? table_bytes_6
                    : wide == 4  ? table_bytes_4
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

HG_INLINE int64_t table_turns_of(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                                 const int wide, const bool low)
{
    for (int64_t i = 0; i < n; i += 3 * TABLE_VECTOR) {
        v128_t v[3], c[3];
        for (int j = 0; j < 3; j++)
            if (HG_UNLIKELY(!table_take(&row[0], x + i + j * TABLE_VECTOR, &v[j], wide))) return i;
        c[0] = table_at(row[0].part[0], table_pick(v[0], v[2], v[1]), wide, low);
        c[1] = table_at(row[1].part[0], table_pick(v[1], v[0], v[2]), wide, low);
        c[2] = table_at(row[2].part[0], table_pick(v[2], v[1], v[0]), wide, low);
        wasm_v128_store(y + i, table_pick(c[0], c[1], c[2]));
        wasm_v128_store(y + i + TABLE_VECTOR, table_pick(c[1], c[2], c[0]));
        wasm_v128_store(y + i + 2 * TABLE_VECTOR, table_pick(c[2], c[0], c[1]));
    }
    return n;
}

HG_INLINE int64_t table_turns(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    if (wide == 16 && row->look == table_bytes_low) return table_turns_of(row, x, y, n, 16, true);
    return table_turns_of(row, x, y, n, wide, false);
}

#define TABLE_BYTES_OF hg_table_bytes_wasm
#define TABLE_BLOCK hg_table_block_wasm
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
