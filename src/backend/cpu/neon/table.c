/* table.c - table with NEON: 16 codes at a time, 64 entries an instruction.
 *
 * TBL gives 0 and TBX keeps what is there where the index is beyond its registers, so 256 entries
 * are one TBL and three TBX with the index moved by 64 each time: 7 instructions. */
#include "backend/cpu/vec8.h"

#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/move.h"
#include "base/atlas.h"

enum { TABLE_VECTOR = 16 };

typedef struct table_row table_row;

/* n codes, a multiple of TABLE_VECTOR; returns how many were done before one was outside. */
typedef int64_t table_look(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n);

struct table_row {
    table_look *look;
    uint8x16_t base, top;    /* top: entries - 1 */
    uint8x16x4_t part[4][4]; /* per plane */
};

/* The number of the entry of each code, or the code itself where the row is laid out by code. False
 * when one is outside. */
HG_INLINE bool table_take(const table_row *row, const uint8_t *x, uint8x16_t *k, const int wide)
{
    const uint8x16_t v = vld1q_u8(x), d = vsubq_u8(v, row->base);
    *k = wide == 16 ? v : d;
    return vmaxvq_u8(vcgtq_u8(d, row->top)) == 0;
}

/* wide: sixteens of entries, a multiple of 4. */
HG_INLINE uint8x16_t table_at(const uint8x16x4_t *part, uint8x16_t k, const int wide)
{
    uint8x16_t y = vqtbl4q_u8(part[0], k);
    HG_UNROLL
    for (int j = 1; j < wide / 4; j++) {
        k = vsubq_u8(k, vdupq_n_u8(64));
        y = vqtbx4q_u8(y, part[j], k);
    }
    return y;
}

HG_INLINE int64_t table_bytes(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    uint8x16x4_t part[4];
    uint8x16_t k;
    memcpy(part, row->part[0], (size_t)wide / 4 * sizeof part[0]);
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(row, x + i, &k, wide))) return i;
        vst1q_u8(y + i, table_at(part, k, wide));
    }
    return n;
}

HG_INLINE int64_t table_words(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    uint8x16_t k;
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        uint8x16x2_t both;
        if (HG_UNLIKELY(!table_take(row, x + i, &k, wide))) return i;
        both.val[0] = table_at(row->part[0], k, wide);
        both.val[1] = table_at(row->part[1], k, wide);
        vst2q_u8(y + 2 * i, both);
    }
    return n;
}

HG_INLINE int64_t table_dwords(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                               const int wide)
{
    uint8x16_t k;
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        uint8x16x4_t all;
        if (HG_UNLIKELY(!table_take(row, x + i, &k, wide))) return i;
        for (int b = 0; b < 4; b++)
            all.val[b] = table_at(row->part[b], k, wide);
        vst4q_u8(y + 4 * i, all);
    }
    return n;
}

#define TABLE_LOOK(size, wide)                                                                     \
    static int64_t table_##size##_##wide(const table_row *row, const uint8_t *x, uint8_t *y,       \
                                         int64_t n)                                                \
    {                                                                                              \
        return table_##size(row, x, y, n, wide);                                                   \
    }
TABLE_LOOK(bytes, 16)
TABLE_LOOK(bytes, 8)
TABLE_LOOK(bytes, 4)
TABLE_LOOK(words, 16)
TABLE_LOOK(words, 4)
TABLE_LOOK(dwords, 16)
TABLE_LOOK(dwords, 4)
#undef TABLE_LOOK

/* ---- rows ------------------------------------------------------------------------------- */

static int table_wide(const hg_table *t)
{
    if (t->by_class || t->entries > 128) return 16;
    if (t->entries > 64) return t->size == 1 ? 8 : 16;
    return 4;
}

static void table_load(table_row *row, const hg_table *t, uint8_t plane[4][256], int wide)
{
    for (uint32_t b = 0; b < 4 && b < t->size; b++)
        for (int k = 0; k < wide / 4; k++)
            row->part[b][k] = vld1q_u8_x4(plane[b] + 64 * k);
    row->base = vdupq_n_u8((uint8_t)t->base);
    row->top = vdupq_n_u8((uint8_t)(t->by_class ? 255 : t->entries - 1));
    if (t->size == 1)
        row->look = wide == 16 ? table_bytes_16 : wide == 8 ? table_bytes_8 : table_bytes_4;
    if (t->size == 2) row->look = wide == 16 ? table_words_16 : table_words_4;
    if (t->size == 4) row->look = wide == 16 ? table_dwords_16 : table_dwords_4;
}

/* Loads and stores of three take bytes of three rows in turn apart and together again. */
HG_INLINE int64_t table_turns(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    for (int64_t i = 0; i < n; i += 3 * TABLE_VECTOR) {
        uint8x16x3_t v = vld3q_u8(x + i);
        uint8x16_t most = vdupq_n_u8(0);
        for (int c = 0; c < 3; c++)
            most = vmaxq_u8(most, vsubq_u8(v.val[c], row->base));
        if (HG_UNLIKELY(vmaxvq_u8(vcgtq_u8(most, row->top)) != 0)) return i;
        for (int c = 0; c < 3; c++) {
            const uint8x16_t k = wide == 16 ? v.val[c] : vsubq_u8(v.val[c], row->base);
            v.val[c] = table_at(row[c].part[0], k, wide);
        }
        vst3q_u8(y + i, v);
    }
    return n;
}

#define TABLE_BYTES_OF hg_table_bytes_neon
#define TABLE_BLOCK hg_table_block_neon
#include "backend/cpu/table_run.inc"

const hg_kernel hg_kernels_table_neon[] = {
    {.name = "table",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_NEON,
     .check = hg_kernel_table_check,
     .units = hg_kernel_table_units,
     .run = table_run},
    {0},
};
