/* copy_bytes.c - copy.bytes with AVX2: transpositions of bytes in registers.
 *
 * Sixteen columns of the input are unpacked with each other four times, 32 columns at once in the
 * halves of a register: 0.25 operations a byte. Pixels of three bytes are taken apart, or put
 * together, by shuffles. bench/run.sh op moves, Zen 4, 10^9 bytes a second (portable code in
 * brackets): 12,544 pixels of 64 bytes to planes 27 (1.8), 3840 x 2160 RGB to planes 12.7 (3.5) and
 * back 14 (2.7). */
#include "backend/cpu/move.h"

#include <immintrin.h>

enum { COPY_BYTES_ROWS = 16, COPY_BYTES_COLS = 32 };

#define PIXELS_NAME copy_bytes_pixels
#define pixels_look(look, c, v) ((void)(look), (void)(c), (v))
#define pixels_byte(look, c, byte) ((void)(look), (void)(c), (byte))
#include "backend/cpu/pixels.inc"

/* Vector i and the one eight behind it become neighbours. After four rounds byte r of vector i is
 * byte i of vector r. */
HG_INLINE void copy_bytes_round(const __m256i *from, __m256i *to)
{
    HG_UNROLL
    for (int i = 0; i < 8; i++) {
        to[2 * i] = _mm256_unpacklo_epi8(from[i], from[i + 8]);
        to[2 * i + 1] = _mm256_unpackhi_epi8(from[i], from[i + 8]);
    }
}

/* Sixteen rows of 32 columns, or of 16, whose vectors have nothing in their upper halves. */
HG_INLINE void copy_bytes_block(uint8_t *y, const uint8_t *x, const hg_copy_grid *g, const int cols)
{
    __m256i a[COPY_BYTES_ROWS], b[COPY_BYTES_ROWS];
    HG_UNROLL
    for (int i = 0; i < COPY_BYTES_ROWS; i++)
        a[i] = cols == COPY_BYTES_COLS ? pixels_pair(pixels_get(x + i * g->stride),
                                                     pixels_get(x + (i + 16) * g->stride))
                                       : _mm256_castsi128_si256(pixels_get(x + i * g->stride));
    copy_bytes_round(a, b);
    copy_bytes_round(b, a);
    copy_bytes_round(a, b);
    copy_bytes_round(b, a);
    HG_UNROLL
    for (int i = 0; i < COPY_BYTES_ROWS; i++)
        if (cols == COPY_BYTES_COLS)
            pixels_put(y + i * g->row, a[i]);
        else
            _mm_storeu_si128((__m128i *)(void *)(y + i * g->row), _mm256_castsi256_si128(a[i]));
}

/* Sixteen rows. What is left of columns is done together with its neighbours once more. */
static void copy_bytes_band(uint8_t *y, const uint8_t *x, const hg_copy_grid *g)
{
    int64_t i = 0;
    for (; i + COPY_BYTES_COLS <= g->n; i += COPY_BYTES_COLS)
        copy_bytes_block(y + i, x + i * g->stride, g, COPY_BYTES_COLS);
    for (; i < g->n; i += COPY_BYTES_COLS / 2) {
        const int64_t at = hg_min(i, g->n - COPY_BYTES_COLS / 2);
        copy_bytes_block(y + at, x + at * g->stride, g, COPY_BYTES_COLS / 2);
    }
}

void hg_copy_tile_avx2(uint8_t *y, const uint8_t *x, hg_copy_grid g, const void *look)
{
    if ((g.n == 3 && g.row == 3) || (g.rows == 3 && g.stride == 3)) {
        copy_bytes_pixels(y, x, g, look);
        return;
    }
    if (g.n < COPY_BYTES_ROWS || g.rows < COPY_BYTES_ROWS) {
        for (int64_t r = 0; r < g.rows; r++)
            for (int64_t i = 0; i < g.n; i++)
                y[r * g.row + i] = x[r + i * g.stride];
        return;
    }
    for (int64_t r = 0; r < g.rows; r += COPY_BYTES_ROWS) {
        const int64_t at = hg_min(r, g.rows - COPY_BYTES_ROWS);
        copy_bytes_band(y + at * g.row, x + at, &g);
    }
}

static void copy_bytes_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, hg_copy_tile_avx2);
}

const hg_kernel hg_kernels_copy_bytes_avx2[] = {
    {.name = "copy.bytes",
     .cpu = HG_CPU_AVX2,
     .check = hg_copy_bytes_check,
     .units = hg_copy_call_units,
     .cost = hg_copy_cost,
     .run = copy_bytes_run},
    {0},
};
