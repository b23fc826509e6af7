/* copy_words.c - copy.words with AVX2: transpositions of elements of 32 bits in registers.
 *
 * Sixteen by sixteen elements go by in blocks of four by eight: whole lines of the cache on both
 * sides. Those at an edge are done together with their neighbours once more. Planes that become
 * pixels (NCHW to NHWC of a picture) go eight pixels at a time. */
#include "backend/cpu/avx2/turn.h"
#include "kernel/copy.h"

enum { COPY_WORDS_ROWS = 4, COPY_WORDS_LINE = 16 };

/* Rows and columns from (r, i) on, sixteen or what there is of them. Of three rows a block reads
 * the element behind them too. */
static void copy_words_block(float *y, const float *x, const hg_copy_grid *g, int64_t r, int64_t i)
{
    const int64_t bottom = hg_max(0, g->rows - COPY_WORDS_ROWS), right = g->n - HG_COPY_SIDE;
    for (int64_t row = r; row < hg_min(r + COPY_WORDS_LINE, g->rows); row += COPY_WORDS_ROWS)
        for (int64_t col = i; col < hg_min(i + COPY_WORDS_LINE, g->n); col += HG_COPY_SIDE) {
            const int64_t top = hg_min(row, bottom), at = hg_min(col, right);
            turn_8x4(x + top + at * g->stride, g->stride, y + top * g->row + at, g->row,
                     g->rows >= COPY_WORDS_ROWS);
        }
}

/* A pixel is stored as four words; what is too many of them lies in the next one, which is stored
 * after it. */
void hg_copy_pixels_avx2(float *y, const float *x, int64_t stride, int64_t pixels, int64_t n)
{
    int64_t r = 0;
    for (; r + HG_COPY_SIDE < pixels; r += HG_COPY_SIDE, y += HG_COPY_SIDE * n) {
        __m256 p[HG_COPY_PIXEL], pair[4];
        HG_UNROLL
        for (int i = 0; i < HG_COPY_PIXEL; i++)
            p[i] = i < n ? _mm256_loadu_ps(x + i * stride + r) : _mm256_setzero_ps();
        turn_halves(p, pair); /* pixels i and i + 4 */
        HG_UNROLL
        for (int i = 0; i < 4; i++)
            _mm_storeu_ps(y + i * n, _mm256_castps256_ps128(pair[i]));
        HG_UNROLL
        for (int i = 0; i < 4; i++)
            _mm_storeu_ps(y + (i + 4) * n, _mm256_extractf128_ps(pair[i], 1));
    }
    for (; r < pixels; r++, y += n)
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i * stride + r];
}

/* Blocks follow each other along the side where neighbours are nearer, so that the other one has
 * few streams at a time: more of them, in steps of a large power of two, would drive each other out
 * of the cache. */
static void copy_words_tile(uint8_t *out, const uint8_t *in, hg_copy_grid g, const void *look)
{
    float *y = (float *)(void *)out;
    const float *x = (const float *)(const void *)in;
    (void)look;
    if (g.n <= HG_COPY_PIXEL) {
        hg_copy_pixels_avx2(y, x, g.stride, g.rows, g.n);
        return;
    }
    const int64_t columns = g.n;
    /* the last of three rows' columns has nothing behind it, where they come one after the other */
    if (g.rows < COPY_WORDS_ROWS) g.n = g.stride < g.rows || g.n <= HG_COPY_SIDE ? 0 : g.n - 1;
    const bool by_rows = g.row >= g.stride;
    const int64_t outer = by_rows ? g.rows : g.n, inner = by_rows ? g.n : g.rows;
    for (int64_t i = 0; i < outer; i += COPY_WORDS_LINE)
        for (int64_t k = 0; k < inner; k += COPY_WORDS_LINE)
            copy_words_block(y, x, &g, by_rows ? i : k, by_rows ? k : i);
    for (int64_t i = g.n; i < columns; i++)
        for (int64_t r = 0; r < g.rows; r++)
            y[r * g.row + i] = x[r + i * g.stride];
}

static void copy_words_run(const hg_args *a, hg_range r)
{
    hg_copy_run(a, r, copy_words_tile);
}

const hg_kernel hg_kernels_copy_words_avx2[] = {
    {.name = "copy.words",
     .cpu = HG_CPU_AVX2,
     .check = hg_copy_words_check,
     .units = hg_copy_call_units,
     .cost = hg_copy_cost,
     .run = copy_words_run},
    {0},
};
