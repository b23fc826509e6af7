/* matmul_i8.c - matmul.i8 on AVX2: both sides are known at run time only, so nothing is packed.
 *
 * Rows of A less their zero points are widened to 16 bits, MATMUL_I8_ROWS at a time; then pairs of
 * rows of B are woven together as they are read, sixteen columns at a time, and meet pairs of A in
 * exact products. B's zero points come off at the end, with the sums of rows of A. */
#include "kernel/matmul_i8.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/vec8_int.h"

enum { MATMUL_I8_ROWS = 4, MATMUL_I8_COLS = 16 };

/* Rows that are multiplied together: pairs of 16-bit numbers, and what they add up to. */
typedef struct matmul_i8_rows {
    int16_t *wide; /* [rows][depth] */
    int64_t rows, depth;
    uint32_t sum[MATMUL_I8_ROWS];
} matmul_i8_rows;

static int64_t matmul_i8_depth(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    return (x->dim[x->rank - 1] + 1) / 2 * 2;
}

static size_t matmul_i8_scratch(const hg_args *a)
{
    return (size_t)(matmul_i8_depth(a) * MATMUL_I8_ROWS) * sizeof(int16_t);
}

/* Row `row` of a matrix of A, from element `at` on, as number i. */
static void matmul_i8_widen(const hg_args *a, int64_t batch, int64_t row, int64_t at,
                            matmul_i8_rows *r, int64_t i)
{
    const holo_tensor *x = &a->in[0];
    const int64_t k = x->dim[x->rank - 1];
    const int32_t zero = hg_matmul_i8_zero(a, 0, batch, row);
    int16_t *to = r->wide + i * r->depth;
    const uint8_t *u8 = (const uint8_t *)x->data + at;
    const int8_t *i8 = (const int8_t *)x->data + at;
    int32_t sum = 0; /* it may wrap as the product does: 2^31 / 255 codes later */
    for (int64_t j = 0; j < k; j++)
        to[j] = (int16_t)((x->dtype == HOLO_U8 ? (int32_t)u8[j] : (int32_t)i8[j]) - zero);
    for (int64_t j = k; j < r->depth; j++)
        to[j] = 0;
    r->sum[i] = 0;
    for (int64_t j = 0; j < k; j += 1 << 16, sum = 0) {
        for (int64_t l = j; l < hg_min(k, j + (1 << 16)); l++)
            sum += to[l];
        r->sum[i] += (uint32_t)sum;
    }
}

/* Sixteen codes of B as two times eight 16-bit pairs: rows k and k + 1 side by side. */
HG_INLINE void matmul_i8_weave(const uint8_t *even, const uint8_t *odd, const bool is_signed,
                               __m256i *low, __m256i *high)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)even);
    const __m128i y = _mm_loadu_si128((const __m128i *)(const void *)odd);
    const __m128i first = _mm_unpacklo_epi8(x, y), last = _mm_unpackhi_epi8(x, y);
    *low = is_signed ? _mm256_cvtepi8_epi16(first) : _mm256_cvtepu8_epi16(first);
    *high = is_signed ? _mm256_cvtepi8_epi16(last) : _mm256_cvtepu8_epi16(last);
}

/* Sixteen columns of B, ld codes from row to row, times `rows` rows of A. */
HG_INLINE void matmul_i8_tile(const int rows, const bool is_signed, const matmul_i8_rows *r,
                              const uint8_t *b, int64_t ld, int64_t k, int32_t *c, int64_t c_ld)
{
    __m256i sum[MATMUL_I8_ROWS][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = _mm256_setzero_si256();
    const int16_t *a = r->wide;
    for (int64_t j = 0; j < k; j += 2, a += 2, b += 2 * ld) {
        __m256i low, high;
        /* the number beyond the last of A is 0: any row will do */
        matmul_i8_weave(b, j + 1 < k ? b + ld : b, is_signed, &low, &high);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            int32_t pair;
            memcpy(&pair, a + i * r->depth, sizeof pair);
            const __m256i x = _mm256_set1_epi32(pair);
            sum[i][0] = _mm256_add_epi32(sum[i][0], _mm256_madd_epi16(x, low));
            sum[i][1] = _mm256_add_epi32(sum[i][1], _mm256_madd_epi16(x, high));
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        _mm256_storeu_si256((__m256i *)(void *)(c + i * c_ld), sum[i][0]);
        _mm256_storeu_si256((__m256i *)(void *)(c + i * c_ld + 8), sum[i][1]);
    }
}

typedef void (*matmul_i8_tile_fn)(const matmul_i8_rows *r, const uint8_t *b, int64_t ld, int64_t k,
                                  int32_t *c, int64_t c_ld);

#define MATMUL_I8_TILE(name, rows, is_signed)                                                      \
    static void matmul_i8_##name(const matmul_i8_rows *r, const uint8_t *b, int64_t ld, int64_t k, \
                                 int32_t *c, int64_t c_ld)                                         \
    {                                                                                              \
        matmul_i8_tile(rows, is_signed, r, b, ld, k, c, c_ld);                                     \
    }
MATMUL_I8_TILE(u8_one, 1, false)
MATMUL_I8_TILE(i8_one, 1, true)
MATMUL_I8_TILE(u8_many, MATMUL_I8_ROWS, false)
MATMUL_I8_TILE(i8_many, MATMUL_I8_ROWS, true)
#undef MATMUL_I8_TILE

/* The columns at the right edge, fewer than sixteen of a matrix that has no more: through copies of
 * B, some rows of it at a time. */
static void matmul_i8_edge(const matmul_i8_rows *r, matmul_i8_tile_fn tile, const uint8_t *b,
                           int64_t n, int64_t k, int32_t *c)
{
    enum { DEPTH = 64 };
    uint8_t part[DEPTH * MATMUL_I8_COLS] = {0};
    int32_t sum[MATMUL_I8_ROWS * MATMUL_I8_COLS];
    for (int64_t i = 0; i < r->rows; i++)
        memset(c + i * n, 0, (size_t)n * sizeof *c);
    for (int64_t j = 0; j < k; j += DEPTH) {
        const int64_t depth = hg_min(DEPTH, k - j);
        matmul_i8_rows piece = *r;
        piece.wide += j;
        for (int64_t l = 0; l < depth; l++)
            memcpy(part + l * MATMUL_I8_COLS, b + (j + l) * n, (size_t)n);
        tile(&piece, part, MATMUL_I8_COLS, depth, sum, MATMUL_I8_COLS);
        for (int64_t i = 0; i < r->rows * n; i++) {
            const int32_t add = sum[i / n * MATMUL_I8_COLS + i % n];
            c[i] = (int32_t)((uint32_t)c[i] + (uint32_t)add);
        }
    }
}

/* r's rows of C, [rows][n]. */
static void matmul_i8_product(const hg_args *a, const matmul_i8_rows *r, int64_t batch, int32_t *c)
{
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    const int64_t n = out->dim[out->rank - 1], k = x->dim[x->rank - 1];
    const uint8_t *b = (const uint8_t *)y->data + hg_matmul_i8_offset(y, out, batch);
    const bool is_signed = y->dtype == HOLO_I8, is_one = r->rows == 1;
    const matmul_i8_tile_fn tile = is_one ? (is_signed ? matmul_i8_i8_one : matmul_i8_u8_one)
                                          : (is_signed ? matmul_i8_i8_many : matmul_i8_u8_many);
    if (n < MATMUL_I8_COLS) {
        matmul_i8_edge(r, tile, b, n, k, c);
        return;
    }
    /* the last columns once more with some before them */
    for (int64_t col = 0; col < n; col += MATMUL_I8_COLS) {
        const int64_t at = hg_min(col, n - MATMUL_I8_COLS);
        tile(r, b + at, n, k, c + at, n);
    }
}

static void matmul_i8_lower(const hg_args *a, const matmul_i8_rows *r, int64_t batch, int32_t *c)
{
    const int64_t n = a->out[0].dim[a->out[0].rank - 1];
    for (int64_t j = 0; j < n; j++) {
        const uint32_t zero = (uint32_t)hg_matmul_i8_zero(a, 1, batch, j);
        for (int64_t i = 0; i < r->rows; i++)
            c[i * n + j] = (int32_t)((uint32_t)c[i * n + j] - zero * r->sum[i]);
    }
}

static void matmul_i8_run(const hg_args *a, hg_range range)
{
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    const int64_t m = out->dim[out->rank - 2], n = out->dim[out->rank - 1];
    const int64_t k = x->dim[x->rank - 1];
    matmul_i8_rows r = {.wide = range.scratch, .depth = matmul_i8_depth(a)};
    for (int64_t u = range.begin; u < range.end; u += r.rows) {
        const int64_t batch = u / m, row = u % m;
        const int64_t left = hg_min(range.end - u, m - row);
        r.rows = left >= MATMUL_I8_ROWS ? MATMUL_I8_ROWS : 1;
        const int64_t at = hg_matmul_i8_offset(x, out, batch) + row * k;
        int32_t *c = (int32_t *)out->data + u * n;
        if (k == 0) { /* there is nothing to point to */
            memset(c, 0, (size_t)(r.rows * n) * sizeof *c);
            continue;
        }
        for (int64_t i = 0; i < r.rows; i++)
            matmul_i8_widen(a, batch, row + i, at + i * k, &r, i);
        matmul_i8_product(a, &r, batch, c);
        if (hg_args_has(a, 3)) matmul_i8_lower(a, &r, batch, c);
    }
}

const hg_kernel hg_kernels_matmul_i8_avx2[] = {
    {.name = "matmul.i8",
     .cpu = HG_CPU_AVX2,
     .check = hg_matmul_i8_check,
     .units = hg_matmul_i8_units,
     .scratch = matmul_i8_scratch,
     .cost = hg_matmul_i8_cost,
     .run = matmul_i8_run},
    {0},
};
