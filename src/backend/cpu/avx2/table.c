/* table.c - table with AVX2: 32 codes at a time, sixteen entries a shuffle.
 *
 * A shuffle looks at the low four bits of a code and gives 0 where bit 7 is set, so sums of
 * shuffles select: with D0 = T0 and Dk = Tk ^ Tk-1 (T the sixteens of the table),
 *
 *     T[k] = D0[k] ^ D1[k - 16] ^ D2[k - 32] ^ ...        k < 128; 22 operations for 128 entries
 *
 * because the terms beyond k have a negative index. 256 entries are four such chains of 64 steps,
 * one for each value of bits 5 and 4, joined by three blends: 36 operations. In L1 on Zen 4 they do
 * 9.4 GB/s; one chain for each half (46 operations) does 7.3, a tree of blends (35 operations) 7.5,
 * since blends by sign run once a cycle there while xor and add run four times; on Intel they are
 * two operations. 128 entries 14.7, 96 21.3, 64 30.5, 16 79.9 (bench/run.sh tables). */
#include "backend/cpu/move.h"

#include "backend/cpu/avx2/igemm.h"

#include "base/atlas.h"

#include "backend/cpu/avx2/table_whole.h"

enum { TABLE_VECTOR = 32, TABLE_PARTS = 16, TABLE_PART = 1 };

typedef __m256i table_vec;

#define table_zero() _mm256_setzero_si256()
#define table_sub _mm256_sub_epi8
#define table_max _mm256_max_epu8
#define table_within(most, top)                                                                    \
    (_mm256_testz_si256(_mm256_subs_epu8(most, top), _mm256_set1_epi8(-1)) != 0)

HG_INLINE __m256i table_get(const uint8_t *x)
{
    return _mm256_loadu_si256((const __m256i *)x);
}

HG_INLINE void table_put(uint8_t *y, __m256i v)
{
    _mm256_storeu_si256((__m256i *)y, v);
}

HG_INLINE __m256i table_chain(const __m256i *part, __m256i k, const int wide)
{
    __m256i sum = _mm256_shuffle_epi8(part[0], k);
    HG_UNROLL
    for (int j = 1; j < wide; j++) {
        k = _mm256_sub_epi8(k, _mm256_set1_epi8(16));
        sum = _mm256_xor_si256(sum, _mm256_shuffle_epi8(part[j], k));
    }
    return sum;
}

HG_INLINE __m256i table_at(const __m256i *part, __m256i k, const int wide)
{
    return wide == 16 ? lookup_whole(part, k) : table_chain(part, k, wide);
}

#include "backend/cpu/table_look.inc"

/* ---- one byte an entry ------------------------------------------------------------------ */

TABLE_BYTES(16)
TABLE_BYTES(8)
TABLE_BYTES(6)
TABLE_BYTES(4)
TABLE_BYTES(2)
TABLE_BYTES(1)

/* The high four bits of a byte decide 24 h2 + 8 d of its class, bits 3 to 1 the rest. */
static int64_t table_classes(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n)
{
    const __m256i start =
        _mm256_setr_epi8(0, 8, 16, 0, 24, 32, 40, 24, 48, 56, 64, 48, 72, 80, 88, 72, /**/
                         0, 8, 16, 0, 24, 32, 40, 24, 48, 56, 64, 48, 72, 80, 88, 72);
    const __m256i four = _mm256_set1_epi8(15), three = _mm256_set1_epi8(7);
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        const __m256i v = table_get(x + i);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), four);
        const __m256i low = _mm256_and_si256(_mm256_srli_epi16(v, 1), three);
        const __m256i k = _mm256_add_epi8(_mm256_shuffle_epi8(start, high), low);
        table_put(y + i, table_chain(row->part[0], k, 6));
    }
    return n;
}

/* ---- two and four bytes an entry -------------------------------------------------------- */

/* Codes are put in such an order that unpacking the planes within halves gives them in turn. */
HG_INLINE int64_t table_words(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    const table_bounds bounds = table_bounds_of(row);
    __m256i part[2][16], v;
    memcpy(part, row->part, sizeof part);
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(&bounds, x + i, &v, 1, wide, true))) return i;
        v = _mm256_permute4x64_epi64(v, 0xd8);
        const __m256i b0 = table_at(part[0], v, wide);
        const __m256i b1 = table_at(part[1], v, wide);
        table_put(y + 2 * i, _mm256_unpacklo_epi8(b0, b1));
        table_put(y + 2 * i + 32, _mm256_unpackhi_epi8(b0, b1));
    }
    return n;
}

HG_INLINE int64_t table_dwords(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                               const int wide)
{
    const table_bounds bounds = table_bounds_of(row);
    __m256i part[4][16], v;
    memcpy(part, row->part, sizeof part);
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    for (int64_t i = 0; i < n; i += TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(&bounds, x + i, &v, 1, wide, true))) return i;
        v = _mm256_permutevar8x32_epi32(v, order);
        const __m256i b0 = table_at(part[0], v, wide);
        const __m256i b1 = table_at(part[1], v, wide);
        const __m256i b2 = table_at(part[2], v, wide);
        const __m256i b3 = table_at(part[3], v, wide);
        const __m256i low0 = _mm256_unpacklo_epi8(b0, b1), low1 = _mm256_unpacklo_epi8(b2, b3);
        const __m256i high0 = _mm256_unpackhi_epi8(b0, b1), high1 = _mm256_unpackhi_epi8(b2, b3);
        table_put(y + 4 * i, _mm256_unpacklo_epi16(low0, low1));
        table_put(y + 4 * i + 32, _mm256_unpackhi_epi16(low0, low1));
        table_put(y + 4 * i + 64, _mm256_unpacklo_epi16(high0, high1));
        table_put(y + 4 * i + 96, _mm256_unpackhi_epi16(high0, high1));
    }
    return n;
}

TABLE_WIDER(words, 16)
TABLE_WIDER(words, 8)
TABLE_WIDER(words, 4)
TABLE_WIDER(words, 1)
TABLE_WIDER(dwords, 8)
TABLE_WIDER(dwords, 4)
TABLE_WIDER(dwords, 1)

/* ---- rows ------------------------------------------------------------------------------- */

/* Four bytes from more than 128 entries are read faster one at a time. */
static int table_wide(const hg_table *t)
{
    const int64_t sixteens = hg_ceil_div(t->entries, 16);
    if (t->size == 4 && (t->by_class || sixteens > 8)) return 0;
    if (t->by_class) return t->size == 1 ? 6 : 16;
    if (sixteens > 8) return 16;
    if (sixteens > 6 || (sixteens > 4 && t->size > 1)) return 8;
    if (sixteens > 4) return 6;
    if (sixteens > 2 || (sixteens > 1 && t->size > 1)) return 4;
    return (int)sixteens;
}

static table_look *table_choose(uint32_t size, int wide, bool all)
{
    if (size == 4) return wide == 8 ? table_dwords_8 : wide == 4 ? table_dwords_4 : table_dwords_1;
    if (size == 2 && wide == 16) return table_words_16;
    if (size == 2) return wide == 8 ? table_words_8 : wide == 4 ? table_words_4 : table_words_1;
    switch (wide) {
    case 16: return all ? table_bytes_all : table_bytes_16;
    case 8: return table_bytes_8;
    case 6: return table_bytes_6;
    case 4: return table_bytes_4;
    case 2: return table_bytes_2;
    default: return table_bytes_1;
    }
}

static void table_load(table_row *row, const hg_table *t, uint8_t plane[4][256], int wide)
{
    __m256i sixteen[16];
    for (uint32_t b = 0; b < 4 && b < t->size; b++) {
        __m256i *part = row->part[b];
        for (int k = 0; k < wide; k++)
            sixteen[k] =
                _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(plane[b] + 16 * k)));
        part[0] = sixteen[0];
        for (int k = 1; wide < 16 && k < wide; k++)
            part[k] = _mm256_xor_si256(sixteen[k], sixteen[k - 1]);
        if (wide == 16) lookup_quarters(plane[b], part);
    }
    const int64_t top = t->by_class ? 255 : t->entries - 1;
    row->base = _mm256_set1_epi8((char)t->base);
    row->top = _mm256_set1_epi8((char)top);
    row->look = t->by_class && wide == 6 ? table_classes : table_choose(t->size, wide, top == 255);
}

/* ---- three rows in turn ----------------------------------------------------------------- */

/* Bytes of three vectors in turn belong to rows 0, 1 and 2. As 32 is not a multiple of 3, each
 * place of the vectors has each row once: blends by place give three vectors of one row each, and
 * the same blends put the results back. */
HG_INLINE int64_t table_turns(const table_row *row, const uint8_t *x, uint8_t *y, int64_t n,
                              const int wide)
{
    const table_bounds bounds = table_bounds_of(row);
    __m256i v[3];
    uint8_t place[2][TABLE_VECTOR];
    for (int p = 0; p < TABLE_VECTOR; p++) {
        place[0][p] = p % 3 == 1 ? 0x80 : 0;
        place[1][p] = p % 3 == 2 ? 0x80 : 0;
    }
    const __m256i one = table_get(place[0]), two = table_get(place[1]);
    for (int64_t i = 0; i < n; i += 3 * TABLE_VECTOR) {
        if (HG_UNLIKELY(!table_take(&bounds, x + i, v, 3, wide, true))) return i;
        __m256i c0 = _mm256_blendv_epi8(_mm256_blendv_epi8(v[0], v[1], one), v[2], two);
        __m256i c1 = _mm256_blendv_epi8(_mm256_blendv_epi8(v[2], v[0], one), v[1], two);
        __m256i c2 = _mm256_blendv_epi8(_mm256_blendv_epi8(v[1], v[2], one), v[0], two);
        c0 = table_at(row[0].part[0], c0, wide);
        c1 = table_at(row[1].part[0], c1, wide);
        c2 = table_at(row[2].part[0], c2, wide);
        table_put(y + i, _mm256_blendv_epi8(_mm256_blendv_epi8(c0, c1, one), c2, two));
        table_put(y + i + TABLE_VECTOR,
                  _mm256_blendv_epi8(_mm256_blendv_epi8(c2, c0, one), c1, two));
        table_put(y + i + 2 * TABLE_VECTOR,
                  _mm256_blendv_epi8(_mm256_blendv_epi8(c1, c2, one), c0, two));
    }
    return n;
}

#define TABLE_BYTES_OF hg_table_bytes_avx2
#define TABLE_BLOCK hg_table_block_avx2
#include "backend/cpu/table_run.inc"

const hg_kernel hg_kernels_table_avx2[] = {
    {.name = "table",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_AVX2,
     .check = hg_kernel_table_check,
     .units = hg_kernel_table_units,
     .run = table_run},
    {0},
};
