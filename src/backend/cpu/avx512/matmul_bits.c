/* matmul_bits.c - matmul.bits with AVX-512 VNNI, equal to the reference bit by bit.
 *
 * vpdpbusd multiplies unsigned codes with the signed ones of the row, four of k at once. Codes that
 * share a byte are masked but not shifted: those at bit s give sums that are 2^s too large, which
 * one shift mends once a group. So 64 weights cost one `and` and one multiply-add, whatever their
 * width; what stands for 0 comes off with the sum of the row. Bytes and books with a sign are
 * lifted by 128. Measured for 4096 x 4096 on Zen 4, groups of 128, weights in the last-level cache
 * (bench/lowbit.c): 2 bits 95 us, 3 bits 217, 4 bits 116, 8 bits 260; AVX2 takes 169, 284, 174,
 * 310.
 *
 * 1 bit stays with the lookup of AVX2: this CPU runs 512 bits as two halves, and a shuffle serves
 * four weights where the multiply-add serves one. Ternary codes in 1.6 bits (five in a byte) were
 * not built: taking them apart costs more than reading 2 bits. */
#include "backend/cpu/avx2/matmul_bits.h"

#include "backend/cpu/avx2/gemm.h"

enum {
    BITS_BLOCK = 16, /* rows that become codes at once */
    BITS_ROWS = 4,   /* rows that share a load of weights */
    BITS_SUMS = 10,  /* most sums of one column */
    BITS_LIFT = 128
};

/* What a load in place is too large by, as a shift (+ 2) of its sum; bytes take turns between two
 * sums, so that one need not wait for the other. */
HG_INLINE int bits_sum_of(hg_bits_kind kind, int quad)
{
    switch (kind) {
    case HG_BITS_TERNARY:
    case HG_BITS_2:
    case HG_BITS_3: return 2 + 2 * (quad % 4);
    case HG_BITS_4: return 2 + 4 * (quad % 2);
    case HG_BITS_1:
    case HG_BITS_BOOK:
    case HG_BITS_8:
    case HG_BITS_KINDS: break;
    }
    return 2 + 7 * (quad % 2); /* 9 counts as 2 */
}

HG_INLINE __m512i bits_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

/* Unsigned codes of 16 columns, four of k each; `quad` counts those of a step. */
HG_INLINE __m512i bits_codes(hg_bits_kind kind, const uint8_t *p, int quad, __m512i book)
{
    const __m512i low = _mm512_set1_epi8(15);
    switch (kind) {
    case HG_BITS_TERNARY:
    case HG_BITS_2:
    case HG_BITS_3:
        return _mm512_and_si512(bits_load(p + quad / 4 * 128),
                                _mm512_set1_epi8((char)(3 << 2 * (quad % 4))));
    case HG_BITS_4:
        return _mm512_and_si512(bits_load(p + quad / 2 * 128),
                                _mm512_set1_epi8((char)(15 << 4 * (quad % 2))));
    case HG_BITS_BOOK: {
        __m512i w = bits_load(p + quad / 2 * 128);
        if (quad % 2 != 0) w = _mm512_srli_epi16(w, 4);
        return _mm512_shuffle_epi8(book, _mm512_and_si512(w, low));
    }
    case HG_BITS_1:
    case HG_BITS_8:
    case HG_BITS_KINDS: break;
    }
    return _mm512_xor_si512(bits_load(p + quad * 128), _mm512_set1_epi8(-128));
}

HG_INLINE __m512i bits_four(const int8_t *x)
{
    int32_t four;
    memcpy(&four, x, sizeof four);
    return _mm512_set1_epi32(four);
}

/* 32 of k, `vectors` times 16 columns, `rows` rows whose codes lie `ld` apart. */
HG_INLINE void bits_step(hg_bits_kind kind, int rows, int vectors, const uint8_t *p,
                         const int8_t *x, size_t ld, __m512i book,
                         __m512i sum[BITS_ROWS][2][BITS_SUMS])
{
    HG_GEMM_UNROLL
    for (int quad = 0; quad < HG_BITS_STEP / 4; quad++) {
        const int s = bits_sum_of(kind, quad);
        HG_GEMM_UNROLL
        for (int v = 0; v < vectors; v++) {
            const __m512i w = bits_codes(kind, p + 64 * v, quad, book);
            HG_GEMM_UNROLL
            for (int r = 0; r < rows; r++)
                sum[r][v][s] =
                    _mm512_dpbusd_epi32(sum[r][v][s], w, bits_four(x + (size_t)r * ld + 4 * quad));
            if (kind != HG_BITS_3) continue;
            const __m512i third =
                _mm512_and_si512(bits_load(p + 256 + 64 * v), _mm512_set1_epi8((char)(1 << quad)));
            HG_GEMM_UNROLL
            for (int r = 0; r < rows; r++) /* the third bit counts 4 */
                sum[r][v][quad] = _mm512_dpbusd_epi32(sum[r][v][quad], third,
                                                      bits_four(x + (size_t)r * ld + 4 * quad));
        }
    }
}

/* Sums in place become one: those that no quad has used are zero and vanish. */
HG_INLINE __m512i bits_merge(const __m512i sum[BITS_SUMS])
{
    __m512i all = _mm512_add_epi32(sum[2], sum[9]);
    all = _mm512_add_epi32(all, _mm512_slli_epi32(sum[0], 2));
    all = _mm512_add_epi32(all, _mm512_slli_epi32(sum[1], 1));
    HG_GEMM_UNROLL
    for (int s = 3; s < 9; s++)
        all = _mm512_add_epi32(all, _mm512_srai_epi32(sum[s], (unsigned)(s - 2)));
    return all;
}

/* `rows` rows times columns [16 first, 16 (first + vectors)) of a panel: y, HG_BITS_COLUMNS apart.
 */
HG_INLINE void bits_panel(const hg_args *a, const hg_bits_shape *s, hg_bits_kind kind, int rows,
                          int vectors, const hg_bits_row *row, int64_t panel, int first,
                          __m512i book, float *y)
{
    const size_t ld = hg_bits_row_bytes(s);
    const size_t step = (size_t)HG_BITS_STEP * s->group_bytes / (size_t)s->group;
    const int zero = kind == HG_BITS_8 || kind == HG_BITS_BOOK ? BITS_LIFT : hg_bits_zero(kind);
    __m512 total[BITS_ROWS][2];
    HG_GEMM_UNROLL
    for (int r = 0; r < rows; r++)
        HG_GEMM_UNROLL
    for (int v = 0; v < vectors; v++)
        total[r][v] = _mm512_setzero_ps();
    for (int64_t g = 0; g < s->groups; g++) {
        const uint8_t *p = hg_bits_codes(a, s, panel, g) + 64 * first;
        const float *scale = hg_bits_scales(a, s, panel, g) + 16 * first;
        __m512i sum[BITS_ROWS][2][BITS_SUMS];
        HG_GEMM_UNROLL
        for (int r = 0; r < rows; r++)
            HG_GEMM_UNROLL
        for (int v = 0; v < vectors; v++)
            HG_GEMM_UNROLL
        for (int k = 0; k < BITS_SUMS; k++)
            sum[r][v][k] = _mm512_setzero_si512();
        for (int64_t i = 0; i < s->group; i += HG_BITS_STEP, p += step)
            bits_step(kind, rows, vectors, p, row->code + g * s->group + i, ld, book, sum);
        HG_GEMM_UNROLL
        for (int r = 0; r < rows; r++) {
            const __m512i off = _mm512_set1_epi32(zero * row[r].sum[g]);
            const __m512 by = _mm512_set1_ps(row[r].scale[g]);
            HG_GEMM_UNROLL
            for (int v = 0; v < vectors; v++) {
                const __m512 both = _mm512_mul_ps(by, _mm512_loadu_ps(scale + 16 * v));
                const __m512 x = _mm512_cvtepi32_ps(_mm512_sub_epi32(bits_merge(sum[r][v]), off));
                total[r][v] = _mm512_add_ps(total[r][v], _mm512_mul_ps(x, both));
            }
        }
    }
    HG_GEMM_UNROLL
    for (int r = 0; r < rows; r++)
        HG_GEMM_UNROLL
    for (int v = 0; v < vectors; v++)
        _mm512_storeu_ps(y + r * HG_BITS_COLUMNS + 16 * v, total[r][v]);
}

/* A panel for `rows` rows; `kind` is constant where this is inlined. */
HG_INLINE void bits_rows(const hg_args *a, const hg_bits_shape *s, hg_bits_kind kind, int rows,
                         const hg_bits_row *row, int64_t panel, __m512i book, float *y)
{
    if (rows == BITS_ROWS && kind != HG_BITS_3) {
        bits_panel(a, s, kind, BITS_ROWS, 1, row, panel, 0, book, y);
        bits_panel(a, s, kind, BITS_ROWS, 1, row, panel, 1, book, y + 16);
        return;
    }
    for (int r = 0; r < rows; r++)
        bits_panel(a, s, kind, 1, 2, row + r, panel, 0, book, y + r * HG_BITS_COLUMNS);
}

static void bits_tile(const hg_args *a, const hg_bits_shape *s, int rows, const hg_bits_row *row,
                      int64_t panel, __m512i book, float *y)
{
    switch (s->kind) {
    case HG_BITS_TERNARY: bits_rows(a, s, HG_BITS_TERNARY, rows, row, panel, book, y); break;
    case HG_BITS_2: bits_rows(a, s, HG_BITS_2, rows, row, panel, book, y); break;
    case HG_BITS_3: bits_rows(a, s, HG_BITS_3, rows, row, panel, book, y); break;
    case HG_BITS_4: bits_rows(a, s, HG_BITS_4, rows, row, panel, book, y); break;
    case HG_BITS_BOOK: bits_rows(a, s, HG_BITS_BOOK, rows, row, panel, book, y); break;
    case HG_BITS_1:
    case HG_BITS_8:
    case HG_BITS_KINDS: bits_rows(a, s, HG_BITS_8, rows, row, panel, book, y); break;
    }
}

/* The book as unsigned bytes, 16 of them in each quarter; -128 counts as -127, in the reference
 * too. */
static __m512i bits_book(const hg_args *a, const hg_bits_shape *s)
{
    if (s->kind != HG_BITS_BOOK) return _mm512_setzero_si512();
    const __m128i book = _mm_loadu_si128((const __m128i *)(const void *)a->in[3].data);
    return _mm512_broadcast_i32x4(
        _mm_max_epu8(_mm_xor_si128(book, _mm_set1_epi8(-128)), _mm_set1_epi8(1)));
}

static size_t bits_scratch(const hg_args *a)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    if (s.kind == HG_BITS_1) return hg_matmul_bits_scratch_avx2(a);
    return hg_bits_row_bytes(&s) * (size_t)hg_min(s.m, BITS_BLOCK);
}

static void bits_run(const hg_args *a, hg_range r)
{
    const hg_bits_shape s = hg_bits_shape_of(a);
    if (s.kind == HG_BITS_1) {
        hg_matmul_bits_run_avx2(a, r);
        return;
    }
    const __m512i book = bits_book(a, &s);
    hg_bits_row row[BITS_BLOCK];
    float y[BITS_ROWS * HG_BITS_COLUMNS];
    for (int64_t m = 0; m < s.m; m += BITS_BLOCK) {
        const int rows = (int)hg_min(BITS_BLOCK, s.m - m);
        for (int i = 0; i < rows; i++) {
            row[i] = hg_bits_row_in(&s, r.scratch, (size_t)i);
            hg_bits_quantize_avx2(&s, (const float *)a->in[0].data + (m + i) * s.k, &row[i]);
        }
        for (int64_t u = r.begin; u < r.end; u++) {
            const int64_t first = u * HG_BITS_COLUMNS;
            const size_t bytes = (size_t)hg_min(HG_BITS_COLUMNS, s.n - first) * sizeof *y;
            for (int i = 0; i < rows; i += BITS_ROWS) {
                const int count = rows - i < BITS_ROWS ? rows - i : BITS_ROWS;
                bits_tile(a, &s, count, row + i, u, book, y);
                for (int k = 0; k < count; k++) {
                    float *from = y + k * HG_BITS_COLUMNS;
                    hg_bits_add_offsets(a, &s, &row[i + k], u, from);
                    memcpy((float *)a->out[0].data + (m + i + k) * s.n + first, from, bytes);
                }
            }
        }
    }
}

const hg_kernel hg_kernels_matmul_bits_avx512[] = {
    {.name = "matmul.bits",
     .cpu = HG_CPU_AVX512,
     .check = hg_matmul_bits_check,
     .units = hg_matmul_bits_units,
     .scratch = bits_scratch,
     .cost = hg_matmul_bits_cost,
     .run = bits_run},
    {0},
};
