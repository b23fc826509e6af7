/* matmul_bits.c - matmul.bits for AVX2, equal to the reference bit by bit.
 *
 * 2, 3 and 4 bits are unpacked and multiplied as unsigned numbers with the signed codes of the row,
 * in pairs of 16 bits that cannot overflow before they are widened; what stands for 0 comes off
 * with the sum of the row. 8 bits multiply |weights| with the row, which takes over their sign,
 * books the other way round. 1 bit is looked up: the row gives a table of 16 sums of 4 of its
 * codes, and one shuffle for each byte of a sum serves 32 columns. Ternary codes are unpacked like
 * 2 bits: looked up in pairs they took 1.7 times as long. */
#include "backend/cpu/avx2/matmul_bits.h"

#include "backend/cpu/vec8.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct bits_sums {
    __m256i v[4]; /* 8 columns each */
} bits_sums;

/* Adds one after the other: gcc would add all of a step as a tree, and keep its leaves on the stack
 * (half as fast). */
#if defined(__x86_64__)
#define BITS_NOW(v) __asm__ volatile("" : "+x"(v))
#define vec8_pairs_u8 _mm256_maddubs_epi16 /* elsewhere that takes 7 bits on the left */
#else
#define BITS_NOW(v) (void)0
#endif

HG_INLINE __m256i bits_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* Four codes of the row, eight times. */
HG_INLINE __m256i bits_four(const int8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return _mm256_set1_epi32(four);
}

/* ---- the row --------------------------------------------------------------------------------- */

static float bits_largest(const float *x, int64_t n, bool *finite)
{
    const __m256 clear = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    const __m256 limit = _mm256_set1_ps(FLT_MAX);
    __m256 most = _mm256_setzero_ps(), good = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    int64_t i = 0;
    float lane[8], largest = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_and_ps(_mm256_loadu_ps(x + i), clear);
        good = _mm256_and_ps(good, _mm256_cmp_ps(v, limit, _CMP_LE_OQ));
        most = _mm256_max_ps(most, v);
    }
    *finite = _mm256_movemask_ps(good) == 255;
    _mm256_storeu_ps(lane, most);
    for (int k = 0; k < 8; k++)
        largest = lane[k] > largest ? lane[k] : largest;
    for (; i < n; i++) {
        *finite &= fabsf(x[i]) <= FLT_MAX;
        largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    }
    return largest;
}

/* Codes of n numbers, rounded to even; returns their sum. */
static int32_t bits_round(const float *x, int64_t n, float inverse, int8_t *code)
{
    const __m256 by = _mm256_set1_ps(inverse);
    __m256i sum = _mm256_setzero_si256();
    int32_t lane[8], all = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i v = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), by));
        const __m128i half =
            _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
        _mm_storel_epi64((__m128i *)(void *)(code + i), _mm_packs_epi16(half, half));
        sum = _mm256_add_epi32(sum, v);
    }
    _mm256_storeu_si256((__m256i *)(void *)lane, sum);
    for (int k = 0; k < 8; k++)
        all += lane[k];
    for (; i < n; i++) {
        code[i] = (int8_t)nearbyintf(x[i] * inverse);
        all += code[i];
    }
    return all;
}

void hg_bits_quantize_avx2(const hg_bits_shape *s, const float *x, hg_bits_row *row)
{
    for (int64_t g = 0; g < s->groups; g++) {
        const int64_t from = g * s->group, n = hg_min(s->group, s->k - from);
        bool finite;
        const float most = bits_largest(x + from, n, &finite);
        const bool is_zero = !finite || most < HG_BITS_LEAST;
        row->scale[g] = !finite ? NAN : is_zero ? 0 : most / 127;
        memset(row->code + from, 0, (size_t)s->group);
        row->sum[g] = is_zero ? 0 : bits_round(x + from, n, 127 / most, row->code + from);
    }
}

#ifdef BITS_DOT
#include "backend/cpu/dotprod/matmul_bits_steps.inc"
#else

/* ---- unpacked: 32 of i, four times 8 columns --------------------------------------------------
 */

/* 16-bit sums of pairs become sums of columns. */
HG_INLINE void bits_widen(bits_sums *sums, const __m256i pair[4])
{
    const __m256i one = _mm256_set1_epi16(1);
    for (int v = 0; v < 4; v++)
        sums->v[v] = _mm256_add_epi32(sums->v[v], _mm256_madd_epi16(pair[v], one));
}

/* 8 products of at most 15 * 127 in a sum: 30,480. */
HG_INLINE void bits_step_4(const uint8_t *p, const int8_t *x, bits_sums *sums)
{
    const __m256i low = _mm256_set1_epi8(15);
    __m256i pair[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                       _mm256_setzero_si256()};
    for (int i = 0; i < HG_BITS_STEP; i += 8, p += 128) {
        const __m256i a = bits_four(x + i), b = bits_four(x + i + 4);
        for (int v = 0; v < 4; v++) {
            const __m256i w = bits_load(p + 32 * v);
            const __m256i first = _mm256_maddubs_epi16(_mm256_and_si256(w, low), a);
            const __m256i second =
                _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(w, 4), low), b);
            pair[v] = _mm256_add_epi16(pair[v], _mm256_add_epi16(first, second));
            BITS_NOW(pair[v]);
        }
    }
    bits_widen(sums, pair);
}

/* 16-bit sums, and such that are four times too large. */
typedef struct bits_pairs {
    __m256i one[4], four[4];
} bits_pairs;

HG_INLINE void bits_pairs_widen(bits_sums *sums, const bits_pairs *y)
{
    __m256i pair[4];
    for (int v = 0; v < 4; v++)
        pair[v] = _mm256_add_epi16(y->one[v], _mm256_srai_epi16(y->four[v], 2));
    bits_widen(sums, pair);
}

/* Bit `from` of every byte as bit `to`. */
HG_INLINE __m256i bits_move(__m256i w, int from, int to)
{
    const __m256i moved =
        from < to ? _mm256_slli_epi16(w, to - from) : _mm256_srli_epi16(w, from - to);
    return _mm256_and_si256(from == to ? w : moved, _mm256_set1_epi8((char)(1 << to)));
}

/* Codes of two bits, 16 of i: every second one is multiplied where it lies, as four times itself.
 * `third` is where bits of codes of three lie, from bit 4 `half` on; NULL: there are none. 4 times
 * two products of at most 4 * 7 * 127: 28,448. */
HG_INLINE void bits_pairs_2(const uint8_t *p, const uint8_t *third, int half, const int8_t *x,
                            bits_pairs *y)
{
    const __m256i low = _mm256_set1_epi8(3), high = _mm256_set1_epi8(12);
    const __m256i a = bits_four(x), b = bits_four(x + 4), c = bits_four(x + 8),
                  d = bits_four(x + 12);
    for (int v = 0; v < 4; v++) {
        const __m256i w = bits_load(p + 32 * v), u = _mm256_srli_epi16(w, 4);
        __m256i code[4] = {_mm256_and_si256(w, low), _mm256_and_si256(w, high),
                           _mm256_and_si256(u, low), _mm256_and_si256(u, high)};
        const __m256i bits = third == NULL ? w : bits_load(third + 32 * v);
        for (int t = 0; third != NULL && t < 4; t++)
            code[t] = _mm256_or_si256(code[t], bits_move(bits, 4 * half + t, t % 2 == 0 ? 2 : 4));
        y->one[v] = _mm256_add_epi16(y->one[v], _mm256_add_epi16(_mm256_maddubs_epi16(code[0], a),
                                                                 _mm256_maddubs_epi16(code[2], c)));
        y->four[v] =
            _mm256_add_epi16(y->four[v], _mm256_add_epi16(_mm256_maddubs_epi16(code[1], b),
                                                          _mm256_maddubs_epi16(code[3], d)));
        BITS_NOW(y->one[v]);
        BITS_NOW(y->four[v]);
    }
}

HG_INLINE void bits_step_2(const uint8_t *p, const int8_t *x, bits_sums *sums)
{
    bits_pairs y = {{_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                     _mm256_setzero_si256()},
                    {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                     _mm256_setzero_si256()}};
    bits_pairs_2(p, NULL, 0, x, &y);
    bits_pairs_2(p + 128, NULL, 1, x + 16, &y);
    bits_pairs_widen(sums, &y);
}

HG_INLINE void bits_step_3(const uint8_t *p, const int8_t *x, bits_sums *sums)
{
    bits_pairs y = {{_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                     _mm256_setzero_si256()},
                    {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                     _mm256_setzero_si256()}};
    bits_pairs_2(p, p + 256, 0, x, &y);
    bits_pairs_2(p + 128, p + 256, 1, x + 16, &y);
    bits_pairs_widen(sums, &y);
}

/* ---- with signs: |weights| times the row, which takes over their sign ---------------------------
 */

/* A pair is at most 2 * 128 * 127 = 32,512. */
HG_INLINE __m256i bits_signed(__m256i w, __m256i x)
{
    return vec8_pairs_u8(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
}

HG_INLINE void bits_step_8(const uint8_t *p, const int8_t *x, bits_sums *sums)
{
    for (int i = 0; i < HG_BITS_STEP; i += 4, p += 128) {
        const __m256i four = bits_four(x + i), one = _mm256_set1_epi16(1);
        for (int v = 0; v < 4; v++) {
            sums->v[v] = _mm256_add_epi32(
                sums->v[v], _mm256_madd_epi16(bits_signed(bits_load(p + 32 * v), four), one));
            BITS_NOW(sums->v[v]);
        }
    }
}

/* |row| is the same for all columns: one operation less, but -128 would have no opposite. */
HG_INLINE __m256i bits_signed_book(__m256i w, __m256i x)
{
    return _mm256_maddubs_epi16(_mm256_abs_epi8(x), _mm256_sign_epi8(w, x));
}

HG_INLINE void bits_step_book(const uint8_t *p, const int8_t *x, __m256i book, bits_sums *sums)
{
    const __m256i low = _mm256_set1_epi8(15), one = _mm256_set1_epi16(1);
    for (int i = 0; i < HG_BITS_STEP; i += 8, p += 128) {
        const __m256i a = bits_four(x + i), b = bits_four(x + i + 4);
        for (int v = 0; v < 4; v++) {
            const __m256i w = bits_load(p + 32 * v);
            const __m256i first = _mm256_shuffle_epi8(book, _mm256_and_si256(w, low));
            const __m256i second =
                _mm256_shuffle_epi8(book, _mm256_and_si256(_mm256_srli_epi16(w, 4), low));
            const __m256i sum =
                _mm256_add_epi32(_mm256_madd_epi16(bits_signed_book(first, a), one),
                                 _mm256_madd_epi16(bits_signed_book(second, b), one));
            sums->v[v] = _mm256_add_epi32(sums->v[v], sum);
            BITS_NOW(sums->v[v]);
        }
    }
}

#endif

/* ---- looked up ------------------------------------------------------------------------------- */

/* Entries of a table: the low bytes of its 16 sums, then the high ones. */
enum { BITS_TABLE = 32 };

HG_INLINE void bits_table(__m256i sum, uint8_t *out)
{
    const __m256i low = _mm256_and_si256(sum, _mm256_set1_epi16(255));
    const __m256i both = _mm256_packus_epi16(low, _mm256_srli_epi16(sum, 8));
    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permute4x64_epi64(both, 0xd8));
}

/* Sums of 4 codes under all signs: bit b of the entry is that of code b. */
HG_INLINE void bits_table_1(const int8_t *x, uint8_t *out)
{
    const __m256i a = _mm256_setr_epi16(-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1);
    const __m256i b = _mm256_setr_epi16(-1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1);
    const __m256i c = _mm256_setr_epi16(-1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1);
    const __m256i d = _mm256_setr_epi16(-1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m256i first = _mm256_add_epi16(_mm256_sign_epi16(_mm256_set1_epi16(x[0]), a),
                                           _mm256_sign_epi16(_mm256_set1_epi16(x[1]), b));
    const __m256i second = _mm256_add_epi16(_mm256_sign_epi16(_mm256_set1_epi16(x[2]), c),
                                            _mm256_sign_epi16(_mm256_set1_epi16(x[3]), d));
    bits_table(_mm256_add_epi16(first, second), out);
}

static void bits_tables(const hg_bits_shape *s, const int8_t *x, uint8_t *out)
{
    for (int64_t i = 0; i < s->groups * s->group; i += 4, out += BITS_TABLE)
        bits_table_1(x + i, out);
}

/* 16-bit sums of 32 columns: columns 0-7 and 16-23, then the others. */
typedef struct bits_looked {
    __m256i low, high;
} bits_looked;

HG_INLINE void bits_look(bits_looked *y, __m256i index, const uint8_t *table)
{
    const __m256i low =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
    const __m256i high =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(table + 16)));
    const __m256i a = _mm256_shuffle_epi8(low, index), b = _mm256_shuffle_epi8(high, index);
    y->low = _mm256_add_epi16(y->low, _mm256_unpacklo_epi8(a, b));
    y->high = _mm256_add_epi16(y->high, _mm256_unpackhi_epi8(a, b));
}

HG_INLINE void bits_looked_widen(bits_sums *sums, const bits_looked *y)
{
    const __m256i part[4] = {_mm256_cvtepi16_epi32(_mm256_castsi256_si128(y->low)),
                             _mm256_cvtepi16_epi32(_mm256_castsi256_si128(y->high)),
                             _mm256_cvtepi16_epi32(_mm256_extracti128_si256(y->low, 1)),
                             _mm256_cvtepi16_epi32(_mm256_extracti128_si256(y->high, 1))};
    for (int v = 0; v < 4; v++)
        sums->v[v] = _mm256_add_epi32(sums->v[v], part[v]);
}

/* Four loads of two indexes a byte: 8 sums of at most 508. */
HG_INLINE void bits_step_looked(const uint8_t *p, const uint8_t *table, bits_sums *sums)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    bits_looked y = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (int i = 0; i < 4; i++, p += 32, table += 2 * BITS_TABLE) {
        const __m256i w = bits_load(p);
        bits_look(&y, _mm256_and_si256(w, nibble), table);
        bits_look(&y, _mm256_and_si256(_mm256_srli_epi16(w, 4), nibble), table + BITS_TABLE);
    }
    bits_looked_widen(sums, &y);
}

/* ---- a panel --------------------------------------------------------------------------------- */

/* `kind` is constant where this is inlined. */
HG_INLINE void bits_group(const hg_bits_shape *s, hg_bits_kind kind, const uint8_t *p,
                          const int8_t *x, const uint8_t *table, __m256i book, bits_sums *sums)
{
    const size_t step = (size_t)HG_BITS_STEP * s->group_bytes / (size_t)s->group;
    for (int64_t i = 0; i < s->group; i += HG_BITS_STEP, p += step) {
        switch (kind) {
        case HG_BITS_1: bits_step_looked(p, table + i / 4 * BITS_TABLE, sums); break;
        case HG_BITS_TERNARY:
        case HG_BITS_2: bits_step_2(p, x + i, sums); break;
        case HG_BITS_3: bits_step_3(p, x + i, sums); break;
        case HG_BITS_4: bits_step_4(p, x + i, sums); break;
        case HG_BITS_BOOK: bits_step_book(p, x + i, book, sums); break;
        case HG_BITS_8:
        case HG_BITS_KINDS: bits_step_8(p, x + i, sums); break;
        }
    }
}

/* A group of one panel: y += sums * scales. */
HG_INLINE void bits_panel(const hg_args *a, const hg_bits_shape *s, hg_bits_kind kind,
                          const hg_bits_row *row, const uint8_t *tables, int64_t panel, int64_t g,
                          __m256i book, float y[HG_BITS_COLUMNS])
{
    const float *scale = hg_bits_scales(a, s, panel, g);
    bits_sums sums = {{_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                       _mm256_setzero_si256()}};
    bits_group(s, kind, hg_bits_codes(a, s, panel, g), row->code + g * s->group, tables, book,
               &sums);
    const __m256i off = _mm256_set1_epi32(hg_bits_zero(kind) * row->sum[g]);
    const __m256 by = _mm256_set1_ps(row->scale[g]);
    for (int v = 0; v < 4; v++) {
        const __m256 sum = _mm256_cvtepi32_ps(_mm256_sub_epi32(sums.v[v], off));
        const __m256 both = _mm256_mul_ps(by, _mm256_loadu_ps(scale + 8 * v));
        _mm256_storeu_ps(y + 8 * v,
                         _mm256_add_ps(_mm256_loadu_ps(y + 8 * v), _mm256_mul_ps(sum, both)));
    }
}

/* Panels [first, end) take turns, so that the tables of a group are read from L1: those of 4096 of
 * k fill it. */
HG_INLINE void bits_panels(const hg_args *a, const hg_bits_shape *s, hg_bits_kind kind,
                           const hg_bits_row *row, const uint8_t *tables, int64_t first,
                           int64_t end, float (*y)[HG_BITS_COLUMNS])
{
    __m256i book = _mm256_setzero_si256();
    if (kind == HG_BITS_BOOK)
        book = _mm256_max_epi8(_mm256_set1_epi8(-127),
                               _mm256_broadcastsi128_si256(
                                   _mm_loadu_si128((const __m128i *)(const void *)a->in[3].data)));
    memset(y, 0, (size_t)(end - first) * sizeof *y);
    for (int64_t g = 0; g < s->groups; g++)
        for (int64_t panel = first; panel < end; panel++)
            bits_panel(a, s, kind, row, tables + g * s->group / 4 * BITS_TABLE, panel, g, book,
                       y[panel - first]);
}

static void bits_panels_of(const hg_args *a, const hg_bits_shape *s, const hg_bits_row *row,
                           const uint8_t *tables, int64_t first, int64_t end,
                           float (*y)[HG_BITS_COLUMNS])
{
    switch (s->kind) {
    case HG_BITS_1: bits_panels(a, s, HG_BITS_1, row, tables, first, end, y); break;
    case HG_BITS_TERNARY: bits_panels(a, s, HG_BITS_TERNARY, row, tables, first, end, y); break;
    case HG_BITS_2: bits_panels(a, s, HG_BITS_2, row, tables, first, end, y); break;
    case HG_BITS_3: bits_panels(a, s, HG_BITS_3, row, tables, first, end, y); break;
    case HG_BITS_4: bits_panels(a, s, HG_BITS_4, row, tables, first, end, y); break;
    case HG_BITS_BOOK: bits_panels(a, s, HG_BITS_BOOK, row, tables, first, end, y); break;
    case HG_BITS_8:
    case HG_BITS_KINDS: bits_panels(a, s, HG_BITS_8, row, tables, first, end, y); break;
    }
}

size_t hg_matmul_bits_scratch_avx2(const hg_args *a)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    const size_t k = (size_t)(s.groups * s.group);
    return hg_bits_row_bytes(&s) + (s.kind == HG_BITS_1 ? k / 4 * BITS_TABLE : 0);
}

/* Panels that take turns where tables are read; other kinds stream, which prefetching likes. */
enum { BITS_TURN = 8 };

void hg_matmul_bits_run_avx2(const hg_args *a, hg_range r)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    hg_bits_row row = hg_bits_row_in(&s, r.scratch, 0);
    /* no address from no room */
    uint8_t *tables = r.scratch == NULL ? NULL : (uint8_t *)r.scratch + hg_bits_row_bytes(&s);
    const bool looked = s.kind == HG_BITS_1;
    const int64_t turn = looked ? BITS_TURN : 1;
    float y[BITS_TURN][HG_BITS_COLUMNS];
    for (int64_t m = 0; m < s.m; m++) {
        hg_bits_quantize_avx2(&s, (const float *)a->in[0].data + m * s.k, &row);
        if (looked) bits_tables(&s, row.code, tables);
        for (int64_t u = r.begin; u < r.end; u += turn) {
            const int64_t end = hg_min(u + turn, r.end), first = u * HG_BITS_COLUMNS;
            const int64_t n = hg_min(end * HG_BITS_COLUMNS, s.n) - first;
            bits_panels_of(a, &s, &row, tables, u, end, y);
            for (int64_t p = u; p < end; p++)
                hg_bits_add_offsets(a, &s, &row, p, y[p - u]);
            memcpy((float *)a->out[0].data + m * s.n + first, y, (size_t)n * sizeof y[0][0]);
        }
    }
}

const hg_kernel hg_kernels_matmul_bits_avx2[] = {
    {.name = "matmul.bits",
     .cpu = HG_CPU_AVX2,
     .check = hg_matmul_bits_check,
     .units = hg_matmul_bits_units,
     .scratch = hg_matmul_bits_scratch_avx2,
     .cost = hg_matmul_bits_cost,
     .run = hg_matmul_bits_run_avx2},
    {0},
};
