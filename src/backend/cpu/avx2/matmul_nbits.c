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

/* ---- one row of 4 bits ------------------------------------------------------------------------
 */

/* What a code means, its difference to the zero point, is a number from -15 to 15: its float has
 * two bytes that are not zero, and a shuffle gives either for 32 codes. Unpacking puts them in
 * place: no conversion, no subtraction, 7 instructions for sixteen codes where widening takes 14.
 * Tables for a zero point are sixteen bytes of these, so each half of a vector can have its own:
 * that half is a block of 32 codes, or both are of a larger one. */
enum { NBITS_STEP = 64, NBITS_ZEROS = 15 };

static const uint8_t nbits_top[31] = {
    0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc1, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xbf, 0,
    0x3f, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41};
static const uint8_t nbits_next[31] = {
    0x70, 0x60, 0x50, 0x40, 0x30, 0x20, 0x10, 0x00, 0xe0, 0xc0, 0xa0, 0x80, 0x40, 0x00, 0x80, 0,
    0x80, 0x00, 0x40, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70};

/* The order in which unpacking gives 64 codes: bytes 0 to 3 and 16 to 19, their low halves, and so
 * on, then the high halves. Behind the end of the row there are zeros. */
static void nbits_spread(const float *x, int64_t k, float *to)
{
    for (int64_t from = 0; from < k; from += NBITS_STEP)
        for (int64_t i = 0; i < NBITS_STEP / 2; i++) {
            const int64_t at = from + 2 * (i / 8 * 4 + i % 4 + i / 4 % 2 * 16);
            to[from + i] = at < k ? x[at] : 0;
            to[from + NBITS_STEP / 2 + i] = at + 1 < k ? x[at + 1] : 0;
        }
}

HG_INLINE __m256i nbits_halves(const uint8_t *table, int64_t low, int64_t high)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(table + NBITS_ZEROS - low));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(table + NBITS_ZEROS - high));
    return _mm256_set_m128i(b, a);
}

/* acc += x times what 32 codes, one a byte, mean */
HG_INLINE void nbits_four(const float *x, __m256i codes, __m256i top, __m256i next, __m256 *acc)
{
    const __m256i none = _mm256_setzero_si256();
    const __m256i high = _mm256_shuffle_epi8(top, codes), low = _mm256_shuffle_epi8(next, codes);
    const __m256i a = _mm256_unpacklo_epi8(low, high), b = _mm256_unpackhi_epi8(low, high);
    const __m256 w[4] = {_mm256_castsi256_ps(_mm256_unpacklo_epi16(none, a)),
                         _mm256_castsi256_ps(_mm256_unpackhi_epi16(none, a)),
                         _mm256_castsi256_ps(_mm256_unpacklo_epi16(none, b)),
                         _mm256_castsi256_ps(_mm256_unpackhi_epi16(none, b))};
    HG_GEMM_UNROLL
    for (int i = 0; i < 4; i++)
        acc[i] = _mm256_fmadd_ps(_mm256_loadu_ps(x + 8 * i), w[i], acc[i]);
}

/* 64 codes at p. */
HG_INLINE void nbits_sixty_four(const float *x, const uint8_t *p, __m256i top, __m256i next,
                                __m256 *acc)
{
    const __m256i four = _mm256_set1_epi8(15);
    const __m256i pairs = _mm256_loadu_si256((const __m256i *)(const void *)p);
    nbits_four(x, _mm256_and_si256(pairs, four), top, next, acc);
    nbits_four(x + NBITS_STEP / 2, _mm256_and_si256(_mm256_srli_epi16(pairs, 4), four), top, next,
               acc);
}

/* What 64 codes of a column need: both halves are of one block, or each of a block of 32. */
typedef struct nbits_means {
    __m256i top, next;
    __m256 by; /* scales */
} nbits_means;

HG_INLINE void nbits_means_of(const hg_args *a, const hg_nbits_shape *s, int64_t column,
                              int64_t block, const bool is_short, nbits_means *m)
{
    float scale[2], zero[2];
    hg_nbits_block(a, s, column, block, &scale[0], &zero[0]);
    scale[1] = scale[0];
    zero[1] = zero[0];
    if (is_short && block + 1 < s->blocks)
        hg_nbits_block(a, s, column, block + 1, &scale[1], &zero[1]);
    m->by = _mm256_set_m128(_mm_set1_ps(scale[1]), _mm_set1_ps(scale[0]));
    if (!hg_args_has(a, 3)) return; /* the same everywhere */
    m->top = nbits_halves(nbits_top, (int64_t)zero[0], (int64_t)zero[1]);
    m->next = nbits_halves(nbits_next, (int64_t)zero[0], (int64_t)zero[1]);
}

/* Codes [from, to) of a column times x. */
HG_INLINE __m256 nbits_stretch(const float *x, const uint8_t *codes, const nbits_means *m,
                               int64_t from, int64_t to)
{
    __m256 acc[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                     _mm256_setzero_ps()};
    for (int64_t i = from; i < to; i += NBITS_STEP)
        nbits_sixty_four(x + i, codes + i / 2, m->top, m->next, acc);
    return _mm256_add_ps(_mm256_add_ps(acc[0], acc[1]), _mm256_add_ps(acc[2], acc[3]));
}

/* The last codes of a row, fewer than 64: what is read lies in a buffer. */
static __m256 nbits_tail(const float *x, const uint8_t *codes, const nbits_means *m, int64_t row,
                         int64_t from)
{
    uint8_t tail[NBITS_STEP / 2] = {0};
    memcpy(tail, codes + from / 2, (size_t)(row - from / 2));
    return nbits_stretch(x + from, tail, m, 0, NBITS_STEP);
}

/* Four columns take turns, block by block. */
HG_INLINE void nbits_row_of_four(const hg_args *a, const hg_nbits_shape *s, const float *x,
                                 int64_t column, int64_t columns, const bool is_short, float *y)
{
    const int64_t most = is_short ? NBITS_STEP : s->block;
    const uint8_t *codes = (const uint8_t *)a->in[1].data + column * s->row;
    nbits_means m = {.top = nbits_halves(nbits_top, 8, 8), .next = nbits_halves(nbits_next, 8, 8)};
    __m256 sum[HG_NBITS_COLUMNS];
    for (int j = 0; j < HG_NBITS_COLUMNS; j++)
        sum[j] = _mm256_setzero_ps();
    for (int64_t from = 0; from < s->k; from += most) {
        const int64_t to = hg_min(from + most, s->row * 2);
        for (int64_t j = 0; j < columns; j++) {
            const uint8_t *p = codes + j * s->row;
            nbits_means_of(a, s, column + j, from / s->block, is_short, &m);
            const __m256 part = HG_LIKELY(to - from >= NBITS_STEP)
                                    ? nbits_stretch(x, p, &m, from, hg_min(to, s->k))
                                    : nbits_tail(x, p, &m, s->row, from);
            sum[j] = _mm256_fmadd_ps(part, m.by, sum[j]);
        }
    }
    for (int64_t j = 0; j < columns; j++)
        y[j] = nbits_sum(sum[j]);
}

static bool nbits_is_spread(const hg_args *a, const hg_nbits_shape *s)
{
    return hg_matmul_nbits_is_row(a, s) && s->bits == 4 && s->block >= NBITS_STEP / 2;
}

static size_t nbits_scratch(const hg_args *a)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    return nbits_is_spread(a, &s) ? hg_align_up((size_t)s.k, NBITS_STEP) * sizeof(float) : 0;
}

bool hg_matmul_nbits_is_row(const hg_args *a, const hg_nbits_shape *s)
{
    return s->m == 1 && s->bits != 2 && (!hg_args_has(a, 3) || a->in[3].dtype == HOLO_U8);
}

void hg_matmul_nbits_run_avx2(const hg_args *a, hg_range r)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    const bool is_row = hg_matmul_nbits_is_row(a, &s), is_spread = nbits_is_spread(a, &s);
    if (is_spread) nbits_spread(a->in[0].data, s.k, r.scratch);
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t column = u * HG_NBITS_COLUMNS;
        const int64_t columns = hg_min(HG_NBITS_COLUMNS, s.n - column);
        float *y = (float *)a->out[0].data + column;
        if (is_spread && s.block < NBITS_STEP)
            nbits_row_of_four(a, &s, r.scratch, column, columns, true, y);
        else if (is_spread)
            nbits_row_of_four(a, &s, r.scratch, column, columns, false, y);
        else if (is_row && s.bits == 4)
            nbits_row(a, &s, 4, column, columns, y);
        else if (is_row)
            nbits_row(a, &s, 8, column, columns, y);
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
     .scratch = nbits_scratch,
     .cost = hg_matmul_nbits_cost,
     .run = hg_matmul_nbits_run_avx2},
    {0},
};
