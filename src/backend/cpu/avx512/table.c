/* table.c - table with AVX-512 VBMI: 64 codes at a time, 128 entries an instruction.
 *
 * 256 entries are two permutations, one for each value of bit 7, and a blend: 67 GB/s in L1 on
 * Zen 4, where 128 entries run at the speed of copying (bench/tables.c). Entries of four bytes are
 * four planes and unpacks, all of them still faster than reading entries one at a time. */
#include "backend/cpu/move.h"

#include "backend/cpu/avx512/igemm.h"
#include "base/atlas.h"

#include <immintrin.h>

enum { TABLE_VECTOR = 64, TABLE_PARTS = 4, TABLE_PART = 4 };

typedef __m512i table_vec;

#define table_zero() _mm512_setzero_si512()
#define table_sub _mm512_sub_epi8
#define table_max _mm512_max_epu8
#define table_within(most, top) (_mm512_cmpgt_epu8_mask(most, top) == 0)

HG_INLINE __m512i table_get(const uint8_t *x)
{
    return _mm512_loadu_si512(x);
}

HG_INLINE void table_put(uint8_t *y, __m512i v)
{
    _mm512_storeu_si512(y, v);
}

/* wide: sixteens of entries, 16 by code, 8 by number of entry. */
HG_INLINE __m512i table_at(const __m512i *part, __m512i k, const int wide)
{
    const __m512i low = _mm512_permutex2var_epi8(part[0], k, part[1]);
    if (wide == 8) return low;
    const __m512i high = _mm512_permutex2var_epi8(part[2], k, part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(k), low, high);
}

#include "backend/cpu/table_look.inc"

/* Codes are put in such an order that unpacking the planes within quarters gives them in turn. */
HG_INLINE int64_t table_words(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    const table_bounds bounds = table_bounds_of(row);
    __m512i part[2][4], v;
    memcpy(part, row->part, sizeof part);
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(&bounds, x + i, &v, 1, wide, true))) return i;
        v = _mm512_permutexvar_epi64(order, v);
        const __m512i b0 = table_at(part[0], v, wide);
        const __m512i b1 = table_at(part[1], v, wide);
        table_put(y + 2 * i, _mm512_unpacklo_epi8(b0, b1));
        table_put(y + 2 * i + 64, _mm512_unpackhi_epi8(b0, b1));
    }
    return n;
}

HG_INLINE int64_t table_dwords(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                               const int wide)
{
    const table_bounds bounds = table_bounds_of(row);
    __m512i part[4][4], v;
    memcpy(part, row->part, sizeof part);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(&bounds, x + i, &v, 1, wide, true))) return i;
        v = _mm512_permutexvar_epi32(order, v);
        const __m512i b0 = table_at(part[0], v, wide);
        const __m512i b1 = table_at(part[1], v, wide);
        const __m512i b2 = table_at(part[2], v, wide);
        const __m512i b3 = table_at(part[3], v, wide);
        const __m512i low0 = _mm512_unpacklo_epi8(b0, b1), low1 = _mm512_unpacklo_epi8(b2, b3);
        const __m512i high0 = _mm512_unpackhi_epi8(b0, b1), high1 = _mm512_unpackhi_epi8(b2, b3);
        table_put(y + 4 * i, _mm512_unpacklo_epi16(low0, low1));
        table_put(y + 4 * i + 64, _mm512_unpackhi_epi16(low0, low1));
        table_put(y + 4 * i + 128, _mm512_unpacklo_epi16(high0, high1));
        table_put(y + 4 * i + 192, _mm512_unpackhi_epi16(high0, high1));
    }
    return n;
}

TABLE_BYTES(16)
TABLE_BYTES(8)
TABLE_WIDER(words, 16)
TABLE_WIDER(words, 8)
TABLE_WIDER(dwords, 16)
TABLE_WIDER(dwords, 8)

/* ---- rows ------------------------------------------------------------------------------- */

static int table_wide(const hg_table *t)
{
    return t->by_class || t->entries > 128 ? 16 : 8;
}

static void table_load(table_row *row, const hg_table *t, uint8_t plane[4][256], int wide)
{
    for (uint32_t b = 0; b < 4 && b < t->size; b++)
        for (int k = 0; k < wide / 4; k++)
            row->part[b][k] = table_get(plane[b] + TABLE_VECTOR * k);
    const int64_t top = t->by_class ? 255 : t->entries - 1;
    row->base = _mm512_set1_epi8((char)t->base);
    row->top = _mm512_set1_epi8((char)top);
    if (t->size == 1)
        row->look = top == 255 ? table_bytes_all : wide == 16 ? table_bytes_16 : table_bytes_8;
    if (t->size == 2) row->look = wide == 16 ? table_words_16 : table_words_8;
    if (t->size == 4) row->look = wide == 16 ? table_dwords_16 : table_dwords_8;
}

/* ---- three rows in turn ----------------------------------------------------------------- */

/* Bytes of three vectors in turn belong to rows 0, 1 and 2. As 64 is not a multiple of 3, each
 * place of the vectors has each row once: blends by place give three vectors of one row each, and
 * the same blends put the results back. */
HG_INLINE __m512i table_pick(__m512i a, __m512i b, __m512i c)
{
    const __mmask64 one = UINT64_C(0x2492492492492492), two = UINT64_C(0x4924924924924924);
    return _mm512_mask_blend_epi8(two, _mm512_mask_blend_epi8(one, a, b), c);
}

HG_INLINE int64_t table_turns(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    const table_bounds bounds = table_bounds_of(row);
    __m512i v[3];
    for (int64_t i = 0; i < n; i += 3 * TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(&bounds, x + i, v, 3, wide, true))) return i;
        const __m512i c0 = table_at(row[0].part[0], table_pick(v[0], v[2], v[1]), wide);
        const __m512i c1 = table_at(row[1].part[0], table_pick(v[1], v[0], v[2]), wide);
        const __m512i c2 = table_at(row[2].part[0], table_pick(v[2], v[1], v[0]), wide);
        table_put(y + i, table_pick(c0, c1, c2));
        table_put(y + i + TABLE_VECTOR, table_pick(c1, c2, c0));
        table_put(y + i + 2 * TABLE_VECTOR, table_pick(c2, c0, c1));
    }
    return n;
}

#define TABLE_BYTES_OF hg_table_bytes_avx512
#define TABLE_BLOCK hg_table_block_avx512
#include "backend/cpu/table_run.inc"

const hg_kernel hg_kernels_table_avx512[] = {
    {.name = "table",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_AVX2 | HG_CPU_AVX512,
     .check = hg_kernel_table_check,
     .units = hg_kernel_table_units,
     .run = table_run},
    {0},
};
