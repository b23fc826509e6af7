/* matmul_nbits.c - matmul.nbits for AVX2: four columns of codes at a time become weights in L1,
 * then all rows pass over them, three at a time.
 *
 * Each output is eight chains of fused multiply-adds for every HG_NBITS_DEPTH of k, added up. */
#include "backend/cpu/avx2/matmul_nbits.h"

#include "backend/cpu/avx2/gemm.h"

enum { NBITS_ROWS = 3 }; /* with four columns: 12 sums, 3 rows and 1 column in 16 registers */

/* Sixteen codes from 2 * bits bytes on, in order. */
static inline void nbits_codes(const uint8_t *p, uint32_t bits, __m256i code[2])
{
    const __m128i four = _mm_set1_epi8(15);
    __m128i bytes;
    if (bits == 2) {
        int32_t all;
        memcpy(&all, p, sizeof all);
        const __m256i word = _mm256_set1_epi32(all), mask = _mm256_set1_epi32(3);
        const __m256i shift = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
        code[0] = _mm256_and_si256(_mm256_srlv_epi32(word, shift), mask);
        code[1] = _mm256_and_si256(_mm256_srlv_epi32(_mm256_srli_epi32(word, 16), shift), mask);
        return;
    }
    if (bits == 4) {
        const __m128i pairs = _mm_loadl_epi64((const __m128i *)(const void *)p);
        bytes = _mm_unpacklo_epi8(_mm_and_si128(pairs, four),
                                  _mm_and_si128(_mm_srli_epi16(pairs, 4), four));
    } else {
        bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    }
    code[0] = _mm256_cvtepu8_epi32(bytes);
    code[1] = _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8));
}

/* Weights [from, to) of a column, up to the next multiple of 16: a block has codes that far. */
static inline void nbits_weights(const hg_args *a, const hg_nbits_shape *s, uint32_t bits,
                                 int64_t column, int64_t from, int64_t to, float *w)
{
    const uint8_t *codes = (const uint8_t *)a->in[1].data + column * s->row;
    for (int64_t at = from, end; at < to; at = end) {
        float scale, zero;
        __m256i code[2];
        end = hg_min((at / s->block + 1) * s->block, to);
        hg_nbits_block(a, s, column, at / s->block, &scale, &zero);
        const __m256 by = _mm256_set1_ps(scale), less = _mm256_set1_ps(zero);
        for (int64_t i = at; i < end; i += 16) {
            nbits_codes(codes + i * bits / 8, bits, code);
            const __m256 p = _mm256_sub_ps(_mm256_cvtepi32_ps(code[0]), less);
            const __m256 q = _mm256_sub_ps(_mm256_cvtepi32_ps(code[1]), less);
            _mm256_storeu_ps(w + i - from, _mm256_mul_ps(p, by));
            _mm256_storeu_ps(w + i - from + 8, _mm256_mul_ps(q, by));
        }
    }
}

static void nbits_columns(const hg_args *a, const hg_nbits_shape *s, int64_t column,
                          int64_t columns, int64_t from, int64_t to, float *w)
{
    for (int64_t j = 0; j < columns; j++, w += HG_NBITS_DEPTH) {
        if (s->bits == 4)
            nbits_weights(a, s, 4, column + j, from, to, w);
        else if (s->bits == 8)
            nbits_weights(a, s, 8, column + j, from, to, w);
        else
            nbits_weights(a, s, 2, column + j, from, to, w);
    }
}

static inline float nbits_sum(__m256 v)
{
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

/* Lanes below `count`. */
static inline __m256i nbits_mask(int64_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)count),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* acc += x [rows] times w [HG_NBITS_COLUMNS][HG_NBITS_DEPTH], eight of k; the rest of the lanes are
 * 0 under a mask. */
static inline void nbits_step(const float *x, int64_t ld, int rows, const float *w,
                              const __m256i *mask, __m256 acc[NBITS_ROWS][HG_NBITS_COLUMNS])
{
    __m256 v[NBITS_ROWS];
    HG_GEMM_UNROLL
    for (int r = 0; r < rows; r++)
        v[r] = mask == NULL ? _mm256_loadu_ps(x + r * ld) : _mm256_maskload_ps(x + r * ld, *mask);
    HG_GEMM_UNROLL
    for (int j = 0; j < HG_NBITS_COLUMNS; j++) {
        const float *p = w + j * HG_NBITS_DEPTH;
        const __m256 b = mask == NULL ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, *mask);
        HG_GEMM_UNROLL
        for (int r = 0; r < rows; r++)
            acc[r][j] = _mm256_fmadd_ps(v[r], b, acc[r][j]);
    }
}

/* y [rows][columns] += x times w */
static inline void nbits_tile(const float *x, const hg_nbits_shape *s, int rows, const float *w,
                              int64_t depth, int64_t columns, float *y)
{
    __m256 acc[NBITS_ROWS][HG_NBITS_COLUMNS];
    float sum[NBITS_ROWS][HG_NBITS_COLUMNS];
    const int64_t whole = depth & ~(int64_t)7;
    HG_GEMM_UNROLL
    for (int r = 0; r < rows; r++)
        HG_GEMM_UNROLL
    for (int j = 0; j < HG_NBITS_COLUMNS; j++)
        acc[r][j] = _mm256_setzero_ps();
    for (int64_t i = 0; i < whole; i += 8)
        nbits_step(x + i, s->k, rows, w + i, NULL, acc);
    if (whole != depth) {
        const __m256i mask = nbits_mask(depth - whole);
        nbits_step(x + whole, s->k, rows, w + whole, &mask, acc);
    }
    HG_GEMM_UNROLL
    for (int r = 0; r < rows; r++)
        HG_GEMM_UNROLL
    for (int j = 0; j < HG_NBITS_COLUMNS; j++)
        sum[r][j] = nbits_sum(acc[r][j]);
    for (int r = 0; r < rows; r++)
        for (int64_t j = 0; j < columns; j++)
            y[r * s->n + j] += sum[r][j];
}

static void nbits_unit(const hg_args *a, const hg_nbits_shape *s, int64_t column)
{
    float w[HG_NBITS_COLUMNS * HG_NBITS_DEPTH];
    const int64_t columns = hg_min(HG_NBITS_COLUMNS, s->n - column);
    float *y = (float *)a->out[0].data + column;
    if (columns < HG_NBITS_COLUMNS) memset(w, 0, sizeof w);
    for (int64_t m = 0; m < s->m; m++)
        memset(y + m * s->n, 0, (size_t)columns * sizeof *y);
    for (int64_t from = 0; from < s->k; from += HG_NBITS_DEPTH) {
        const int64_t to = hg_min(from + HG_NBITS_DEPTH, s->k), depth = to - from;
        const float *x = (const float *)a->in[0].data + from;
        int64_t m = 0;
        nbits_columns(a, s, column, columns, from, to, w);
        for (; m + NBITS_ROWS <= s->m; m += NBITS_ROWS)
            nbits_tile(x + m * s->k, s, NBITS_ROWS, w, depth, columns, y + m * s->n);
        for (; m < s->m; m++)
            nbits_tile(x + m * s->k, s, 1, w, depth, columns, y + m * s->n);
    }
}

/* Eight codes less their zero point, as numbers. */
static inline __m256 nbits_eight(__m128i codes, __m256i zero)
{
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_cvtepu8_epi32(codes), zero));
}

/* acc += x times (code - zero) over [from, to) of a column within one block. */
static inline void nbits_dot(const float *x, const uint8_t *codes, uint32_t bits, __m256i zero,
                             int64_t from, int64_t to, __m256 *acc)
{
    const __m128i four = _mm_set1_epi8(15);
    for (int64_t i = from; i < to; i += 16) {
        __m128i c;
        if (bits == 8) {
            c = _mm_loadu_si128((const __m128i *)(const void *)(codes + i));
        } else {
            const __m128i pairs = _mm_loadl_epi64((const __m128i *)(const void *)(codes + i / 2));
            c = _mm_unpacklo_epi8(_mm_and_si128(pairs, four),
                                  _mm_and_si128(_mm_srli_epi16(pairs, 4), four));
        }
        const __m256 p = nbits_eight(c, zero), q = nbits_eight(_mm_srli_si128(c, 8), zero);
        if (to - i >= 16) {
            acc[0] = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), p, acc[0]);
            acc[1] = _mm256_fmadd_ps(_mm256_loadu_ps(x + i + 8), q, acc[1]);
        } else {
            const __m256i low = nbits_mask(to - i), high = nbits_mask(to - i - 8);
            acc[0] = _mm256_fmadd_ps(_mm256_maskload_ps(x + i, low), p, acc[0]);
            acc[1] = _mm256_fmadd_ps(_mm256_maskload_ps(x + i + 8, high), q, acc[1]);
        }
    }
}

/* One row and weights of 4 or 8 bits with zero points that are codes too: differences are small
 * integers, and the scale is applied once a block. Four columns take turns, block by block, so that
 * none waits for the sums of another. */
static inline void nbits_row(const hg_args *a, const hg_nbits_shape *s, uint32_t bits,
                             int64_t column, int64_t columns, float *y)
{
    __m256 sum[HG_NBITS_COLUMNS];
    for (int j = 0; j < HG_NBITS_COLUMNS; j++)
        sum[j] = _mm256_setzero_ps();
    for (int64_t from = 0; from < s->k; from += s->block) {
        const int64_t to = hg_min(from + s->block, s->k);
        for (int64_t j = 0; j < columns; j++) {
            const uint8_t *codes = (const uint8_t *)a->in[1].data + (column + j) * s->row;
            __m256 part[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
            float scale, zero;
            hg_nbits_block(a, s, column + j, from / s->block, &scale, &zero);
            nbits_dot(a->in[0].data, codes, bits, _mm256_set1_epi32((int32_t)zero), from, to, part);
            sum[j] =
                _mm256_fmadd_ps(_mm256_add_ps(part[0], part[1]), _mm256_set1_ps(scale), sum[j]);
        }
    }
    for (int64_t j = 0; j < columns; j++)
        y[j] = nbits_sum(sum[j]);
}

bool hg_matmul_nbits_is_row(const hg_args *a, const hg_nbits_shape *s)
{
    return s->m == 1 && s->bits != 2 && (!hg_args_has(a, 3) || a->in[3].dtype == HOLO_U8);
}

void hg_matmul_nbits_run_avx2(const hg_args *a, hg_range r)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    const bool is_row = hg_matmul_nbits_is_row(a, &s);
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t column = u * HG_NBITS_COLUMNS;
        const int64_t columns = hg_min(HG_NBITS_COLUMNS, s.n - column);
        if (is_row && s.bits == 4)
            nbits_row(a, &s, 4, column, columns, (float *)a->out[0].data + column);
        else if (is_row)
            nbits_row(a, &s, 8, column, columns, (float *)a->out[0].data + column);
        else
            nbits_unit(a, &s, column);
    }
}

const hg_kernel hg_kernels_matmul_nbits_avx2[] = {
    {.name = "matmul.nbits",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_matmul_nbits_check,
     .units = hg_matmul_nbits_units,
     .cost = hg_matmul_nbits_cost,
     .run = hg_matmul_nbits_run_avx2},
    {0},
};
