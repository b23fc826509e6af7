/* copy_halves.c - copy.halves with AVX2: transpositions of elements of 16 bits in registers.
 *
 * Eight columns of the input are unpacked with each other three times, sixteen at once in the
 * halves of a register. */
#include "kernel/copy.h"

#include <immintrin.h>

enum { COPY_HALVES_ROWS = 8, COPY_HALVES_COLS = 16 };

/* Vector i and the one four behind it become neighbours. After three rounds element r of vector i
 * is element i of vector r. */
HG_INLINE void copy_halves_round(const __m256i *from, __m256i *to)
{
    HG_UNROLL
    for (int i = 0; i < COPY_HALVES_ROWS / 2; i++) {
        to[2 * i] = _mm256_unpacklo_epi16(from[i], from[i + 4]);
        to[2 * i + 1] = _mm256_unpackhi_epi16(from[i], from[i + 4]);
    }
}

HG_INLINE __m256i copy_halves_low(const uint16_t *x)
{
    return _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)x));
}

/* Eight rows of sixteen columns, or of eight, whose vectors have nothing in their upper halves. */
HG_INLINE void copy_halves_block(uint16_t *y, const uint16_t *x, const hg_copy_grid *g,
                                 const int cols)
{
    __m256i a[COPY_HALVES_ROWS], b[COPY_HALVES_ROWS];
    HG_UNROLL
    for (int i = 0; i < COPY_HALVES_ROWS; i++) {
        a[i] = copy_halves_low(x + i * g->stride);
        if (cols == COPY_HALVES_COLS)
            a[i] = _mm256_inserti128_si256(
                a[i], _mm_loadu_si128((const __m128i *)(const void *)(x + (i + 8) * g->stride)), 1);
    }
    copy_halves_round(a, b);
    copy_halves_round(b, a);
    copy_halves_round(a, b);
    HG_UNROLL
    for (int i = 0; i < COPY_HALVES_ROWS; i++)
        if (cols == COPY_HALVES_COLS)
            _mm256_storeu_si256((__m256i *)(void *)(y + i * g->row), b[i]);
        else
            _mm_storeu_si128((__m128i *)(void *)(y + i * g->row), _mm256_castsi256_si128(b[i]));
}

/* Eight rows. What is left of columns is done together with its neighbours once more. */
static void copy_halves_band(uint16_t *y, const uint16_t *x, const hg_copy_grid *g)
{
    int64_t i = 0;
    for (; i + COPY_HALVES_COLS <= g->n; i += COPY_HALVES_COLS)
        copy_halves_block(y + i, x + i * g->stride, g, COPY_HALVES_COLS);
    for (; i < g->n; i += COPY_HALVES_COLS / 2) {
        const int64_t at = hg_min(i, g->n - COPY_HALVES_COLS / 2);
        copy_halves_block(y + at, x + at * g->stride, g, COPY_HALVES_COLS / 2);
    }
}

static void copy_halves_tile(uint8_t *out, const uint8_t *in, hg_copy_grid g, const void *look)
{
    uint16_t *HG_RESTRICT y = (uint16_t *)(void *)out;
    const uint16_t *HG_RESTRICT x = (const uint16_t *)(const void *)in;
    (void)look;
    if (g.rows < COPY_HALVES_ROWS) {
        for (int64_t r = 0; r < g.rows; r++)
            for (int64_t i = 0; i < g.n; i++)
                y[r * g.row + i] = x[r + i * g.stride];
        return;
    }
    for (int64_t r = 0; r < g.rows; r += COPY_HALVES_ROWS) {
        const int64_t at = hg_min(r, g.rows - COPY_HALVES_ROWS);
        copy_halves_band(y + at * g.row, x + at, &g);
    }
}

static void copy_halves_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, copy_halves_tile);
}

const hg_kernel hg_kernels_copy_halves_avx2[] = {
    {.name = "copy.halves",
     .cpu = HG_CPU_AVX2,
     .check = hg_copy_halves_check,
     .units = hg_copy_call_units,
     .cost = hg_copy_cost,
     .run = copy_halves_run},
    {0},
};
