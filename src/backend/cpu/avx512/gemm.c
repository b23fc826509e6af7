/* gemm.c - steps of avx2/gemm.h with AVX-512: tiles of up to 12 rows x 32 columns.
 *
 * Two panels side by side are what feeds the multiply-adds: 12 rows x 16 columns load a broadcast
 * for each of them and reach 75 % of the peak, 12 x 32 reach 92 (bench/op/matmul). A block of two
 * panels need not fit L1: 12 rows take twelve cycles for the two lines of a k.
 *
 * Each output is the chain of fused multiply-adds of the tiles of AVX2, so the bits are theirs. */
#include "backend/cpu/avx2/gemm.h"

enum {
    WIDE_ROWS = 12,
    WIDE_VECTOR = 16,
    WIDE_PANELS = 2,
    WIDE_NEAR = 6 /* pointers to rows in registers; others are loaded, where gcc would keep them in
                     vector registers, whose way back takes a port of the multiply-adds */
};

/* Sixteen weights of either type. */
HG_INLINE __m512 wide_load(const char *b, const bool is_half)
{
    if (is_half) return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)b));
    return _mm512_loadu_ps(b);
}

/* Columns of panel j that exist. */
HG_INLINE __mmask16 wide_mask(const hg_gemm_step *s, int64_t j)
{
    const int64_t cols = s->cols - j * WIDE_VECTOR;
    return (__mmask16)(cols >= WIDE_VECTOR ? 0xffff : (1U << cols) - 1);
}

/* Rows of a tile that are not simply stored. */
HG_ONCE void wide_store_tile(const hg_gemm_step *s, int64_t first, int64_t rows, int64_t panels,
                             const float *tile)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < panels; j++) {
            const __mmask16 mask = wide_mask(s, j);
            const int64_t at = (first + i) * s->ld + j * WIDE_VECTOR;
            __m512 x = _mm512_loadu_ps(tile + (i * panels + j) * WIDE_VECTOR);
            if (s->alpha != 1) x = _mm512_mul_ps(x, _mm512_set1_ps(s->alpha));
            if (s->adds) x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, s->residual + at));
            if (s->clamps) /* operands in this order keep a NaN */
                x = _mm512_min_ps(_mm512_set1_ps(s->high),
                                  _mm512_max_ps(_mm512_set1_ps(s->low), x));
            _mm512_mask_storeu_ps(s->c + at, mask, x);
        }
}

/* Every row of the tile lies in the padding. */
HG_INLINE bool wide_is_zero(int64_t rows, const float *zero, const float *const *row)
{
    if (row[0] != zero) return false; /* mostly so */
    bool is_zero = true;
    for (int64_t i = 1; i < rows; i++)
        is_zero = is_zero && row[i] == zero;
    return is_zero;
}

/* Of `rows` the first `count` exist; the last of them stands in for the others. */
HG_INLINE void wide_tile(const int rows, const int panels, const bool is_half,
                         const hg_gemm_step *s, int64_t first, int64_t count)
{
    const char *next = s->next != NULL ? s->next + first * s->next_row : s->b;
    const int64_t next_step = s->next_step, step = s->b_step, panel = s->b_panel;
    __m512 sum[WIDE_ROWS][WIDE_PANELS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        const float *from =
            s->sum == NULL ? NULL : s->sum + (first + hg_min(i, count - 1)) * s->sum_ld;
        HG_GEMM_UNROLL
        for (int j = 0; j < panels; j++)
            sum[i][j] =
                from == NULL ? _mm512_setzero_ps() : _mm512_loadu_ps(from + j * WIDE_VECTOR);
    }
    const float *const *row = s->row + first;
    const char *b = s->b;
    const float *a[WIDE_ROWS];
    const float *const volatile *far = a;
    for (int64_t t = 0; t < s->taps; t++, row += s->row_step) {
        if (wide_is_zero(count, s->zero, row)) {
            b += step * s->depth;
            continue;
        }
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            a[i] = row[hg_min(i, count - 1)] + s->offset;
        for (int64_t k = 0; k < s->depth; k++) {
            __m512 w[WIDE_PANELS];
            HG_GEMM_UNROLL
            for (int j = 0; j < panels; j++)
                w[j] = wide_load(b + j * panel, is_half);
            b += step;
            _mm_prefetch(next, _MM_HINT_T1);
            if (panels == 2) _mm_prefetch(next + panel, _MM_HINT_T1);
            next += next_step;
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++) {
                const __m512 x = _mm512_set1_ps((i < WIDE_NEAR ? a[i] : far[i])[k]);
                HG_GEMM_UNROLL
                for (int j = 0; j < panels; j++)
                    sum[i][j] = _mm512_fmadd_ps(x, w[j], sum[i][j]);
            }
        }
    }
    if (HG_LIKELY(count == rows && s->alpha == 1 && s->cols == panels * WIDE_VECTOR && !s->adds &&
                  !s->clamps)) {
        float *c = s->c + first * s->ld;
        const int64_t ld = s->ld; /* a store may alias anything: not read again */
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            HG_GEMM_UNROLL
            for (int j = 0; j < panels; j++)
                _mm512_storeu_ps(c + i * ld + j * WIDE_VECTOR, sum[i][j]);
        }
        return;
    }
    float tile[WIDE_ROWS * WIDE_PANELS * WIDE_VECTOR];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int j = 0; j < panels; j++)
            _mm512_storeu_ps(tile + (i * panels + j) * WIDE_VECTOR, sum[i][j]);
    }
    wide_store_tile(s, first, count, panels, tile);
}

typedef void (*wide_tile_fn)(const hg_gemm_step *s, int64_t first, int64_t rows);

#define WIDE_TILE(height, panels)                                                                  \
    static void wide_f32_##height##x##panels(const hg_gemm_step *s, int64_t first, int64_t rows)   \
    {                                                                                              \
        wide_tile(height, panels, false, s, first, rows);                                          \
    }                                                                                              \
    static void wide_f16_##height##x##panels(const hg_gemm_step *s, int64_t first, int64_t rows)   \
    {                                                                                              \
        if (HG_IS_LINKED(HOLO_F16)) wide_tile(height, panels, true, s, first, rows);               \
    }
WIDE_TILE(12, 1)
WIDE_TILE(8, 1)
WIDE_TILE(12, 2)
WIDE_TILE(8, 2)
WIDE_TILE(4, 2)
#undef WIDE_TILE

/* Lines the next tile starts with, as in avx2/gemm.c. */
HG_ONCE void wide_prefetch(const hg_gemm_step *s, int64_t first, int64_t rows)
{
    for (int64_t i = first; i < hg_min(first + WIDE_ROWS, rows); i++) {
        for (int64_t j = 0; j < s->cols; j += WIDE_VECTOR) {
            if (s->fetch_c) _mm_prefetch((const char *)(s->c + i * s->ld + j), _MM_HINT_T0);
            if (s->residual != NULL)
                _mm_prefetch((const char *)(s->residual + i * s->residual_row + j), _MM_HINT_T0);
        }
        if (s->fetch_a)
            for (int64_t line = 0; line < 4; line++)
                _mm_prefetch((const char *)(s->row[i] + s->offset) + line * 64, _MM_HINT_T0);
    }
}

/* Few rows: four of two panels already keep the multiply-adds busy, of one it takes eight. */
static wide_tile_fn wide_find_tile(const hg_gemm_step *s, int64_t left, int64_t *height)
{
    static const wide_tile_fn one[2][2] = {{wide_f32_8x1, wide_f32_12x1},
                                           {wide_f16_8x1, wide_f16_12x1}};
    static const wide_tile_fn two[2][3] = {{wide_f32_4x2, wide_f32_8x2, wide_f32_12x2},
                                           {wide_f16_4x2, wide_f16_8x2, wide_f16_12x2}};
    *height = hg_min(left, WIDE_ROWS);
    const int64_t more = *height > 8;
    return s->panels == 2 ? two[s->is_half][more + (*height > 4)] : one[s->is_half][more];
}

static void wide_tiles(const hg_gemm_step *s, int64_t rows)
{
    const bool fetches = s->fetch_c || s->fetch_a || s->residual != NULL;
    for (int64_t first = 0, height = 0; first < rows; first += height) {
        const wide_tile_fn tile = wide_find_tile(s, rows - first, &height);
        if (fetches) wide_prefetch(s, first + height, rows);
        tile(s, first, height);
        if (s->finish != NULL)
            hg_gemm_finish_avx2(s->finish, NULL, NULL,
                                s->residual == NULL ? NULL : s->residual + first * s->residual_row,
                                s->c + first * s->ld, s->ld, height, s->col, s->cols);
    }
}

/* Rows that end inside a vector and are not just clamped: one panel after the other with AVX2. */
static void wide_finish_part(const hg_gemm_step *step, int64_t rows)
{
    for (int64_t j = 0; j < step->cols; j += HG_GEMM_COLS) {
        hg_gemm_step one = *step;
        one.panels = 1;
        one.b = (const char *)one.b + j / HG_GEMM_COLS * one.b_panel;
        if (one.sum != NULL) one.sum += j;
        one.c += j;
        one.cols = hg_min(HG_GEMM_COLS, one.cols - j);
        one.narrow = one.cols <= HG_GEMM_COLS / 2;
        if (one.residual != NULL && !one.finish->per_row) one.residual += j;
        one.col += j;
        hg_gemm_panel_avx2(&one, rows);
    }
}

void hg_gemm_panel_avx512(const hg_gemm_step *step, int64_t rows)
{
    if (step->finish != NULL && step->cols % 8 != 0)
        wide_finish_part(step, rows);
    else
        wide_tiles(step, rows);
}
