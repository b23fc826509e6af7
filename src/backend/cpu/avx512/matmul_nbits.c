/* matmul_nbits.c - matmul.nbits of one row for AVX-512: sixteen codes of 4 bits become numbers by
 * one permutation of a register that holds all sixteen.
 *
 * 64 bytes of a column are sixteen words of eight codes. A permutation reads the low four bits of
 * each word, so eight of them, with shifts between, give 128 numbers; the row is turned to match,
 * once for all columns. A word lies within one block, so the scales of all blocks are one vector.
 *
 * Numbers are differences to 8. What a zero point z adds, scale * (8 - z) * the sum of the row's
 * part, is computed for sixteen blocks at once; the error is that of float32 sums of such numbers,
 * which are at most 8, and of that product. What has more rows, or other zero points, is left
 * to AVX2. */
#include "backend/cpu/avx2/matmul_nbits.h"
#include "backend/cpu/avx2/gemm.h"

enum {
    NBITS_VECTOR = 16,
    NBITS_WORD = 8,                          /* codes of 4 bits in a word, */
    NBITS_CHUNK = NBITS_WORD * NBITS_VECTOR, /* in a vector */
    NBITS_ALL = 0xffff
};

/* The first `count` of sixteen. */
static inline __mmask16 nbits_mask(int64_t count)
{
    return (__mmask16)(count >= NBITS_VECTOR ? NBITS_ALL : (1U << hg_max(0, count)) - 1);
}

/* Of a power of two. */
static unsigned nbits_log2(int64_t x)
{
    unsigned log = 0;
    while (x >> log > 1)
        log++;
    return log;
}

/* Scales from number `at` on, as floats. */
HG_INLINE __m512 nbits_scales(const holo_tensor *scale, int64_t at, __mmask16 mask)
{
    if (scale->dtype == HOLO_F32)
        return _mm512_maskz_loadu_ps(mask, (const float *)scale->data + at);
    const __m256i half = _mm256_maskz_loadu_epi16(mask, (const uint16_t *)scale->data + at);
    if (scale->dtype == HOLO_F16) return _mm512_cvtph_ps(half);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

/* ---- 4 bits -------------------------------------------------------------------------------- */

/* Where a row lies that was taken apart, [chunk, NBITS_WORD, NBITS_VECTOR], and the sum of each of
 * its blocks. */
typedef struct nbits_spread {
    const float *x, *sum;
    int64_t chunks;
} nbits_spread;

static int64_t nbits_padded(const hg_nbits_shape *s)
{
    return hg_ceil_div(s->k, NBITS_CHUNK) * NBITS_CHUNK;
}

static void nbits_take_apart(const hg_args *a, const hg_nbits_shape *s, float *to,
                             nbits_spread *row)
{
    const float *x = a->in[0].data;
    const int64_t whole = s->k / NBITS_CHUNK * NBITS_CHUNK;
    float *sum = to + nbits_padded(s);
    *row = (nbits_spread){.x = to, .sum = sum, .chunks = nbits_padded(s) / NBITS_CHUNK};
    for (int64_t i = 0; i < whole; i += NBITS_CHUNK)
        hg_gemm_turn_avx2(x + i, NBITS_WORD, NBITS_VECTOR, NBITS_WORD, to + i, NBITS_VECTOR);
    if (whole < s->k) {
        memset(to + whole, 0, NBITS_CHUNK * sizeof(float));
        for (int64_t i = whole; i < s->k; i++)
            to[whole + i % NBITS_WORD * NBITS_VECTOR + (i - whole) / NBITS_WORD] = x[i];
    }
    for (int64_t block = 0; hg_args_has(a, 3) && block < s->blocks; block++) {
        const int64_t end = hg_min((block + 1) * s->block, s->k);
        __m512 all = _mm512_setzero_ps();
        for (int64_t i = block * s->block; i < end; i += NBITS_VECTOR)
            all = _mm512_add_ps(all, _mm512_maskz_loadu_ps(nbits_mask(end - i), x + i));
        sum[block] = _mm512_reduce_add_ps(all);
    }
}

/* What the zero points of a column add. */
static float nbits_zeros(const hg_args *a, const hg_nbits_shape *s, const nbits_spread *row,
                         int64_t column)
{
    const uint8_t *zero = (const uint8_t *)a->in[3].data + column * s->zero_row;
    const __m128i four = _mm_set1_epi8(15);
    __m512 all = _mm512_setzero_ps();
    for (int64_t i = 0; i < s->blocks; i += NBITS_VECTOR) {
        const __mmask16 mask = nbits_mask(s->blocks - i);
        const __m128i pairs =
            _mm_maskz_loadu_epi8(nbits_mask((hg_min(s->blocks - i, 16) + 1) / 2), zero + i / 2);
        const __m128i codes = _mm_unpacklo_epi8(_mm_and_si128(pairs, four),
                                                _mm_and_si128(_mm_srli_epi16(pairs, 4), four));
        const __m512 less =
            _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32(8), _mm512_cvtepu8_epi32(codes)));
        const __m512 by = nbits_scales(&a->in[2], column * s->blocks + i, mask);
        all = _mm512_fmadd_ps(_mm512_mul_ps(by, less), _mm512_maskz_loadu_ps(mask, row->sum + i),
                              all);
    }
    return _mm512_reduce_add_ps(all);
}

/* Numbers v times the codes of 64 bytes less 8. */
HG_INLINE __m512 nbits_chunk(__m512i codes, const __m512 v[NBITS_WORD])
{
    const __m512 less = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    __m512 even = _mm512_setzero_ps(), odd = even;
    HG_GEMM_UNROLL
    for (int i = 0; i < NBITS_WORD; i += 2) {
        const __m512i low = _mm512_srli_epi32(codes, (unsigned)(4 * i));
        const __m512i high = _mm512_srli_epi32(codes, (unsigned)(4 * i + 4));
        even = _mm512_fmadd_ps(v[i], _mm512_permutexvar_ps(low, less), even);
        odd = _mm512_fmadd_ps(v[i + 1], _mm512_permutexvar_ps(high, less), odd);
    }
    return _mm512_add_ps(even, odd);
}

HG_INLINE void nbits_four(const hg_args *a, const hg_nbits_shape *s, const nbits_spread *row,
                          int64_t column, const int columns, float *y)
{
    const uint8_t *codes = (const uint8_t *)a->in[1].data + column * s->row;
    const int64_t scales = hg_max(1, NBITS_CHUNK / s->block); /* of a chunk */
    const unsigned shift = nbits_log2(s->block), word = nbits_log2(NBITS_WORD);
    /* and which of them belongs to each word */
    const __m512i order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i which =
        _mm512_srlv_epi32(order, _mm512_set1_epi32((int32_t)hg_min(shift - word, 4)));
    __m512 sum[HG_NBITS_COLUMNS];
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++)
        sum[j] = _mm512_setzero_ps();
    for (int64_t i = 0; i < row->chunks; i++) {
        __m512 v[NBITS_WORD];
        HG_GEMM_UNROLL
        for (int n = 0; n < NBITS_WORD; n++)
            v[n] = _mm512_load_ps(row->x + i * NBITS_CHUNK + n * NBITS_VECTOR);
        const int64_t block = (i * NBITS_CHUNK) >> shift, at = i * (NBITS_CHUNK / 2);
        const __mmask16 mask = nbits_mask(hg_min(scales, s->blocks - block));
        const __mmask16 words = nbits_mask((s->row - at) / 4); /* a row has whole ones */
        HG_GEMM_UNROLL
        for (int j = 0; j < columns; j++) {
            const __m512i c = _mm512_maskz_loadu_epi32(words, codes + j * s->row + at);
            const __m512 by = nbits_scales(&a->in[2], (column + j) * s->blocks + block, mask);
            sum[j] = _mm512_fmadd_ps(nbits_chunk(c, v), _mm512_permutexvar_ps(which, by), sum[j]);
        }
    }
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++) {
        y[j] = _mm512_reduce_add_ps(sum[j]);
        if (hg_args_has(a, 3)) y[j] += nbits_zeros(a, s, row, column + j);
    }
}

static void nbits_run_four(const hg_args *a, const hg_nbits_shape *s, hg_range r)
{
    nbits_spread row;
    nbits_take_apart(a, s, r.scratch, &row);
    float *y = a->out[0].data;
    int64_t column = r.begin * HG_NBITS_COLUMNS;
    const int64_t end = hg_min(r.end * HG_NBITS_COLUMNS, s->n);
    for (; column + HG_NBITS_COLUMNS <= end; column += HG_NBITS_COLUMNS)
        nbits_four(a, s, &row, column, HG_NBITS_COLUMNS, y + column);
    for (; column < end; column++)
        nbits_four(a, s, &row, column, 1, y + column);
}

/* ---- 8 bits -------------------------------------------------------------------------------- */

/* acc += sixteen numbers times codes of each column less their zero points. */
HG_INLINE void nbits_bytes(const hg_nbits_shape *s, const int columns, __m512 v,
                           const uint8_t *codes, __mmask16 mask, const __m512 zero[], __m512 acc[])
{
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++) {
        const __m128i *at = (const __m128i *)(const void *)(codes + j * s->row);
        /* not masked where nothing is left out: that takes five times as long with Zen 5 */
        const __m128i code =
            mask == NBITS_ALL ? _mm_loadu_si128(at) : _mm_maskz_loadu_epi8(mask, at);
        const __m512 w = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(code));
        acc[j] = _mm512_fmadd_ps(v, _mm512_sub_ps(w, zero[j]), acc[j]);
    }
}

/* Columns of 8 bits; the scale is applied once a block. */
HG_INLINE void nbits_eight(const hg_args *a, const hg_nbits_shape *s, int64_t column,
                           const int columns, float *y)
{
    const float *x = a->in[0].data;
    const uint8_t *codes = (const uint8_t *)a->in[1].data + column * s->row;
    __m512 sum[HG_NBITS_COLUMNS];
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++)
        sum[j] = _mm512_setzero_ps();
    for (int64_t from = 0, block = 0; from < s->k; from += s->block, block++) {
        const int64_t to = hg_min(from + s->block, s->k);
        __m512 by[HG_NBITS_COLUMNS], zero[HG_NBITS_COLUMNS], acc[2][HG_NBITS_COLUMNS];
        HG_GEMM_UNROLL
        for (int j = 0; j < columns; j++) {
            float scale, less;
            hg_nbits_block(a, s, column + j, block, &scale, &less);
            by[j] = _mm512_set1_ps(scale);
            zero[j] = _mm512_set1_ps(less);
            acc[0][j] = acc[1][j] = _mm512_setzero_ps();
        }
        int64_t i = from;
        for (; i + 2 * NBITS_VECTOR <= to; i += 2 * NBITS_VECTOR) {
            nbits_bytes(s, columns, _mm512_loadu_ps(x + i), codes + i, NBITS_ALL, zero, acc[0]);
            nbits_bytes(s, columns, _mm512_loadu_ps(x + i + NBITS_VECTOR), codes + i + NBITS_VECTOR,
                        NBITS_ALL, zero, acc[1]);
        }
        for (; i < to; i += NBITS_VECTOR) {
            const __mmask16 mask = nbits_mask(to - i);
            nbits_bytes(s, columns, _mm512_maskz_loadu_ps(mask, x + i), codes + i, mask, zero,
                        acc[0]);
        }
        HG_GEMM_UNROLL
        for (int j = 0; j < columns; j++)
            sum[j] = _mm512_fmadd_ps(_mm512_add_ps(acc[0][j], acc[1][j]), by[j], sum[j]);
    }
    HG_GEMM_UNROLL
    for (int j = 0; j < columns; j++)
        y[j] = _mm512_reduce_add_ps(sum[j]);
}

static void nbits_run_eight(const hg_args *a, const hg_nbits_shape *shape, hg_range r)
{
    hg_nbits_shape s = *shape;
    s.bits = 8; /* zero points are found without dividing */
    float *y = a->out[0].data;
    int64_t column = r.begin * HG_NBITS_COLUMNS;
    const int64_t end = hg_min(r.end * HG_NBITS_COLUMNS, s.n);
    for (; column + HG_NBITS_COLUMNS <= end; column += HG_NBITS_COLUMNS)
        nbits_eight(a, &s, column, HG_NBITS_COLUMNS, y + column);
    for (; column < end; column++)
        nbits_eight(a, &s, column, 1, y + column);
}

/* -------------------------------------------------------------------------------------------- */

static size_t nbits_scratch(const hg_args *a)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    if (!hg_matmul_nbits_is_row(a, &s)) return hg_matmul_nbits_scratch_avx2(a);
    return s.bits == 4 ? (size_t)(nbits_padded(&s) + s.blocks) * sizeof(float) : 0;
}

static void nbits_run(const hg_args *a, hg_range r)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    if (!hg_matmul_nbits_is_row(a, &s))
        hg_matmul_nbits_run_avx2(a, r);
    else if (s.bits == 4)
        nbits_run_four(a, &s, r);
    else
        nbits_run_eight(a, &s, r);
}

const hg_kernel hg_kernels_matmul_nbits_avx512[] = {
    {.name = "matmul.nbits",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2 | HG_CPU_AVX512,
     .check = hg_matmul_nbits_check,
     .units = hg_matmul_nbits_units_avx2,
     .scratch = nbits_scratch,
     .cost = hg_matmul_nbits_cost,
     .run = nbits_run},
    {0},
};
