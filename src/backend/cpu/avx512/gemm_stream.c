/* gemm_stream.c - streams of avx2/gemm.h with AVX-512: any number of rows, weights of 32 bits.
 *
 * Four rows x four panels need less than what L2 can give, so nothing has to be cut into blocks for
 * L1, and no partial sum is stored and read again. One row waits for L2, which gives a third more
 * than to loads of half a line.
 *
 * Each sum is the chain of fused multiply-adds of avx2/gemm.c, so the bits are the same. */
#include "backend/cpu/avx2/gemm.h"

enum {
    STREAM_ROWS = 4, /* of a tile */
    STREAM_VECTOR = 16,
    STREAM_NEAR = 1 << 20 /* bytes of weights that stay in L2 */
};

/* gcc loads weights once more for every row that uses them otherwise: 77 instead of 141 GFLOP/s
 * with two rows, 139 instead of 199 with four. */
#define STREAM_NOW(v) __asm__("" : "+v"(v))

/* rows x panels sums; of the rows `count` exist, the last of them stands in for the others.
 * `ahead`: the panel that is fetched into L2 on the way, or NULL. */
HG_INLINE void stream_tile(const int rows, const int panels, const int64_t count,
                           const hg_gemm_stream *s, const char *ahead)
{
    const int64_t step = s->b_step, next = s->b_panel, depth = s->k;
    const int64_t ahead_step = ahead == NULL ? 0 : step;
    if (ahead == NULL) ahead = (const char *)s->a; /* in L1: costs less than a branch */
    const char *b = s->b;
    const float *a[STREAM_ROWS];
    __m512 sum[STREAM_ROWS][HG_GEMM_STREAM_WIDE];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        a[i] = s->a + hg_min(i, count - 1) * depth;
        HG_GEMM_UNROLL
        for (int j = 0; j < panels; j++)
            sum[i][j] = _mm512_setzero_ps();
    }
    for (int64_t k = 0; k < depth; k++) {
        __m512 x[STREAM_ROWS];
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            x[i] = _mm512_set1_ps(a[i][k]);
        HG_GEMM_UNROLL
        for (int j = 0; j < panels; j++) {
            __m512 w = _mm512_loadu_ps(b + j * next);
            STREAM_NOW(w);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][j] = _mm512_fmadd_ps(x[i], w, sum[i][j]);
        }
        if (rows > 2) _mm_prefetch(ahead, _MM_HINT_T1);
        b += step;
        ahead += ahead_step;
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        float *c = s->c + hg_min(i, count - 1) * s->ld;
        HG_GEMM_UNROLL
        for (int j = 0; j < panels; j++)
            _mm512_storeu_ps(c + j * STREAM_VECTOR,
                             _mm512_mul_ps(sum[i][j], _mm512_set1_ps(s->alpha)));
    }
}

/* All rows of one tile of panels, divided evenly: L2 makes one wait as long as two or three.
 * `next`: the tile behind it, where that has to be fetched, or NULL. Tiles are not functions of
 * their own: of one row they are short. */
HG_INLINE void stream_rows(const int panels, hg_gemm_stream s, int64_t rows, const char *next)
{
    for (int64_t tiles = hg_ceil_div(rows, STREAM_ROWS); tiles > 0; tiles--) {
        const int64_t count = hg_ceil_div(rows, tiles);
        const char *ahead = next == NULL ? NULL : next + tiles % HG_GEMM_STREAM_WIDE * s.b_panel;
        if (panels < HG_GEMM_STREAM_WIDE)
            stream_tile(STREAM_ROWS, panels, count, &s, ahead);
        else if (count == 1)
            stream_tile(1, panels, 1, &s, ahead);
        else if (count == 2)
            stream_tile(2, panels, 2, &s, ahead);
        else if (count == 3)
            stream_tile(3, panels, 3, &s, ahead);
        else
            stream_tile(4, panels, 4, &s, ahead);
        s.a += count * s.k;
        s.c += count * s.ld;
        rows -= count;
    }
}

/* Tile number i of `panels` panels. What is less than a tile is computed together with panels in
 * front of it, once more. */
HG_INLINE hg_gemm_stream stream_at(const int width, hg_gemm_stream s, int64_t panels, int64_t i)
{
    const int64_t panel = hg_min(i * width, panels - width);
    s.b += panel * s.b_panel;
    s.c += panel * STREAM_VECTOR;
    return s;
}

void hg_gemm_stream_avx512(const hg_gemm_stream *s, int64_t rows, int64_t panels, bool upward)
{
    for (int64_t i = 0; i < panels && panels < HG_GEMM_STREAM_WIDE; i++)
        stream_rows(1, stream_at(1, *s, panels, i), rows, NULL);
    if (panels < HG_GEMM_STREAM_WIDE) return;
    const int64_t tiles = hg_ceil_div(panels, HG_GEMM_STREAM_WIDE);
    /* few rows do not give the time to fetch, and find what the hardware has fetched */
    const bool is_far = rows > STREAM_ROWS && panels * s->b_panel > STREAM_NEAR;
    for (int64_t i = 0; i < tiles; i++) {
        const int64_t tile = upward ? tiles - 1 - i : i;
        const int64_t next = upward ? hg_max(tile - 1, 0) : hg_min(tile + 1, tiles - 1);
        stream_rows(HG_GEMM_STREAM_WIDE, stream_at(HG_GEMM_STREAM_WIDE, *s, panels, tile), rows,
                    is_far ? stream_at(HG_GEMM_STREAM_WIDE, *s, panels, next).b : NULL);
    }
}
