/* gemm.c - steps of avx2/gemm.h with AVX-512: tiles of up to 8 rows x 48 columns.
 *
 * Three panels side by side: 8 rows x 16 columns load a broadcast for every multiply-add, and 12 x
 * 32 need more pointers to rows than there are registers (bench/op/matmul shows what these reach).
 *
 * Each output is the chain of fused multiply-adds of the tiles of AVX2, so the bits are theirs. */
#include "backend/cpu/avx2/gemm.h"

enum {
    WIDE_VECTOR = 16,
    WIDE_LINE = 64, /* bytes */
    WIDE_MANY = 16  /* rows: of more, weights of 16 bits are kept as floats */
};

/* As HG_GEMM_UNROLL, for all sums of a tile. */
#if defined(__clang__)
#define WIDE_UNROLL
#else
#define WIDE_UNROLL _Pragma("GCC unroll 24")
#endif

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

/* Operands in this order keep a NaN. */
HG_INLINE __m512 wide_clamp(__m512 low, __m512 high, __m512 x)
{
    return _mm512_min_ps(high, _mm512_max_ps(low, x));
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
            for (int n = 0; n < s->adds; n++)
                x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, s->residual.data[n] + at));
            if (s->clamps) x = wide_clamp(_mm512_set1_ps(s->low), _mm512_set1_ps(s->high), x);
            _mm512_mask_storeu_ps(s->c + at, mask, x);
        }
}

/* Weights of a tap whose products are all zero, for the tiles behind. */
HG_ONCE void wide_widen(const hg_gemm_step *s, int panels, const char *b, float *to)
{
    for (int64_t k = 0; k < s->depth; k++, b += s->b_step)
        for (int j = 0; j < panels; j++, to += WIDE_VECTOR)
            _mm512_store_ps(to, wide_load(b + j * s->b_panel, true));
}

/* Rows [first, first + rows), of which `count` exist; the last of them stands in for the others.
 * Weights of 16 bits are left at s->widened, [taps * depth, panels, 16], if that is not NULL. */
HG_INLINE void wide_tile(const int rows, const int panels, const hg_gemm_step *s, int64_t first,
                         const int64_t count)
{
    const bool is_half = HG_IS_LINKED(HOLO_F16) && s->is_half;
    const int64_t depth = s->depth, step = s->b_step, panel = s->b_panel;
    float *to = s->widened;
    /* this tile's part of what is fetched, spread over its k */
    const char *next = s->next != NULL ? s->next + first * s->next_row : s->b;
    const char *stop = s->next != NULL ? next + rows * s->next_row : next;
    const int64_t chunk = s->next != NULL ? s->next_chunk * HG_GEMM_WIDE_ROWS / rows : depth;
    const int64_t ahead = s->next_bytes;
    __m512 sum[HG_GEMM_WIDE_ROWS][HG_GEMM_PANELS];
    if (s->sum == NULL || s->sum_ld == 0) { /* copies of registers are free, loads are not */
        WIDE_UNROLL
        for (int j = 0; j < panels; j++)
            sum[0][j] =
                s->sum == NULL ? _mm512_setzero_ps() : _mm512_loadu_ps(s->sum + j * WIDE_VECTOR);
        WIDE_UNROLL
        for (int i = panels; i < rows * panels; i++)
            sum[i / panels][i % panels] = sum[0][i % panels];
    } else {
        const float *from = s->sum + first * s->sum_ld;
        WIDE_UNROLL
        for (int i = 0; i < rows; i++) {
            WIDE_UNROLL
            for (int j = 0; j < panels; j++)
                sum[i][j] = _mm512_loadu_ps(from + j * WIDE_VECTOR);
            from += i + 1 < count ? s->sum_ld : 0;
        }
    }
    const float *const *row = s->row + first;
    const char *b = s->b;
    const float *a[HG_GEMM_WIDE_ROWS];
    for (int64_t t = 0; t < s->taps; t++, row += s->row_step) {
        if (hg_gemm_is_zero(count, s->zero, row)) {
            if (is_half && to != NULL) {
                wide_widen(s, panels, b, to);
                to += depth * panels * WIDE_VECTOR;
            }
            b += step * depth;
            continue;
        }
        const float *const *at = row;
        WIDE_UNROLL
        for (int i = 0; i < rows; i++) {
            a[i] = *at + s->offset;
            at += i + 1 < count;
        }
        for (int64_t k = 0; k < depth;) {
            for (const char *end = next + hg_min(ahead, stop - next); next < end;
                 next += WIDE_LINE) {
                WIDE_UNROLL
                for (int j = 0; j < panels; j++)
                    _mm_prefetch(next + j * s->next_panel, _MM_HINT_T1);
            }
            for (const int64_t end = hg_min(depth, k + chunk); k < end; k++) {
                __m512 w[HG_GEMM_PANELS];
                WIDE_UNROLL
                for (int j = 0; j < panels; j++)
                    w[j] = wide_load(b + j * panel, is_half);
                b += step;
                if (is_half && to != NULL) {
                    WIDE_UNROLL
                    for (int j = 0; j < panels; j++, to += WIDE_VECTOR)
                        _mm512_store_ps(to, w[j]);
                }
                WIDE_UNROLL
                for (int i = 0; i < rows; i++) {
                    const __m512 x = _mm512_set1_ps(a[i][k]);
                    WIDE_UNROLL
                    for (int j = 0; j < panels; j++)
                        sum[i][j] = _mm512_fmadd_ps(x, w[j], sum[i][j]);
                }
            }
        }
    }
    if (HG_LIKELY(count == rows && s->alpha == 1 && s->cols == panels * WIDE_VECTOR &&
                  s->adds == 0)) {
        float *c = s->c + first * s->ld;
        const int64_t ld = s->ld; /* a store may alias anything: not read again */
        if (s->clamps) {
            const __m512 low = _mm512_set1_ps(s->low), high = _mm512_set1_ps(s->high);
            WIDE_UNROLL
            for (int i = 0; i < rows * panels; i++)
                sum[i / panels][i % panels] = wide_clamp(low, high, sum[i / panels][i % panels]);
        }
        WIDE_UNROLL
        for (int i = 0; i < rows * panels; i++)
            _mm512_storeu_ps(c + i / panels * ld + i % panels * WIDE_VECTOR,
                             sum[i / panels][i % panels]);
        return;
    }
    float tile[HG_GEMM_WIDE_ROWS * HG_GEMM_PANELS * WIDE_VECTOR];
    WIDE_UNROLL
    for (int i = 0; i < rows * panels; i++)
        _mm512_storeu_ps(tile + i * WIDE_VECTOR, sum[i / panels][i % panels]);
    wide_store_tile(s, first, count, panels, tile);
}

typedef void (*wide_tile_fn)(const hg_gemm_step *s, int64_t first, int64_t rows);

#define WIDE_TILE(height, panels)                                                                  \
    static void wide_##height##x##panels(const hg_gemm_step *s, int64_t first, int64_t rows)       \
    {                                                                                              \
        wide_tile(height, panels, s, first, rows);                                                 \
    }
WIDE_TILE(8, 1)
WIDE_TILE(4, 2)
WIDE_TILE(8, 2)
WIDE_TILE(4, 3)
WIDE_TILE(8, 3)
#undef WIDE_TILE

/* Lines the next tile starts with, as in avx2/gemm.c. */
HG_ONCE void wide_prefetch(const hg_gemm_step *s, int64_t first, int64_t rows)
{
    for (int64_t i = first; i < hg_min(first + HG_GEMM_WIDE_ROWS, rows); i++) {
        const hg_epilogue_at residual = hg_gemm_residuals(s, i);
        for (int64_t j = 0; j < s->cols; j += WIDE_VECTOR) {
            if (s->fetch_c) _mm_prefetch((const char *)(s->c + i * s->ld + j), _MM_HINT_T0);
            for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
                if (residual.data[n] != NULL)
                    _mm_prefetch((const char *)(residual.data[n] + j), _MM_HINT_T0);
        }
        if (s->fetch_a)
            for (int64_t line = 0; line < 4; line++)
                _mm_prefetch((const char *)(s->row[i] + s->offset) + line * 64, _MM_HINT_T0);
    }
}

/* The next tile. Four rows of two panels already keep the multiply-adds busy, of one it takes
 * eight. */
static wide_tile_fn wide_find_tile(const hg_gemm_step *s, int64_t left, int64_t *height)
{
    static const wide_tile_fn tile[HG_GEMM_PANELS][2] = {
        {wide_8x1, wide_8x1}, {wide_4x2, wide_8x2}, {wide_4x3, wide_8x3}};
    *height = hg_min(left, HG_GEMM_WIDE_ROWS);
    return tile[hg_max(s->panels, 1) - 1][left > 4];
}

/* Rows from `first` on. */
static void wide_panel(const hg_gemm_step *s, int64_t first, int64_t rows)
{
    const bool fetches = s->fetch_c || s->fetch_a || hg_gemm_has_residual(s);
    for (int64_t height = 0; first < rows; first += height) {
        const wide_tile_fn tile = wide_find_tile(s, rows - first, &height);
        if (fetches) wide_prefetch(s, first + height, rows);
        tile(s, first, height);
        if (s->finish != NULL)
            hg_gemm_finish_avx2(s->finish, NULL, NULL, hg_gemm_residuals(s, first),
                                s->c + first * s->ld, s->ld, height, s->col, s->cols);
    }
}

/* Weights that many tiles read are widened once, by the first of them: on Intel conversions take
 * ports from the multiply-adds. 24 rows take 20 to 26 % less than when they are widened before
 * that, 96 rows 9 to 12 % (Zen 5, Sapphire Rapids; bench/op/matmul f16). Apart: so large a frame
 * costs time where it is not used. */
HG_ONCE void wide_panel_half(const hg_gemm_step *s, int64_t rows)
{
    _Alignas(WIDE_LINE) float wide[HG_GEMM_PANELS * HG_GEMM_WIDE_DEPTH * WIDE_VECTOR];
    hg_gemm_step own = *s;
    own.widened = wide;
    wide_panel(&own, 0, HG_GEMM_WIDE_ROWS);
    own.b = wide;
    own.b_step = hg_max(s->panels, 1) * WIDE_LINE;
    own.b_panel = WIDE_LINE;
    own.is_half = false;
    wide_panel(&own, HG_GEMM_WIDE_ROWS, rows);
}

void hg_gemm_panel_avx512(const hg_gemm_step *s, int64_t rows)
{
    if (HG_IS_LINKED(HOLO_F16) && s->is_half && rows > WIDE_MANY &&
        s->taps * s->depth <= HG_GEMM_WIDE_DEPTH)
        wide_panel_half(s, rows);
    else
        wide_panel(s, 0, rows);
}
