/* gemm.h - the inner loops that matmul, matmul.p16 and conv.nhwc share: tiles of 6 rows x 16
 * columns.
 *
 * Rows of A are reached through pointers, so one loop serves a matrix (one tap), an indirect
 * convolution (a pointer for each output pixel and kernel position) and gathered rows. B comes in
 * panels of 16 columns. A product is cut into k blocks of at most HG_GEMM_DEPTH, small enough for a
 * panel's block to stay in L1 while all row tiles pass over it; partial sums travel through a
 * compact tile in scratch.
 *
 *     for each k block:  for each panel:  for each row tile:  12 accumulators, 2 loads, 6
 * broadcasts
 *
 * Whatever the tile, each output is one chain of fused multiply-adds along k, in order: the result
 * of a row does not depend on how many rows come with it. */
#ifndef HG_BACKEND_CPU_AVX2_GEMM_H
#define HG_BACKEND_CPU_AVX2_GEMM_H

#include "kernel/epilogue.h"

#include "backend/cpu/vec8.h"

/* gcc keeps accumulator arrays in memory unless their loops are unrolled early. */
#if defined(__clang__)
#define HG_GEMM_UNROLL
#else
#define HG_GEMM_UNROLL _Pragma("GCC unroll 16")
#endif

enum {
#if HG_VEC8_REGISTERS >= 16
    HG_GEMM_ROWS = 6,
#else
    HG_GEMM_ROWS = 4, /* twice 4 x 8: in V8 54 GFLOP/s fused, 42 not, where 6 x 8 has 38 and 37 */
#endif
    HG_GEMM_COLS = 16,
    HG_GEMM_WIDE_ROWS = 8,   /* of a tile with AVX-512, */
    HG_GEMM_PANELS = 3,      /* and panels, at most */
    HG_GEMM_DEPTH = 384,     /* 24 KiB of B in a 32 KiB L1; 2 % over 256 (bench/op/matmul) */
    HG_GEMM_WIDE_DEPTH = 256 /* three panels are 48 KiB, a newer L1; 192 takes 1 to 6 % longer */
};

/* One k block of one panel for a block of rows. */
typedef struct hg_gemm_step {
    const float *const *row;     /* pointer of tap t, row i is row[t * row_step + i] */
    int64_t row_step;            /* rows in the block */
    int64_t taps, depth, offset; /* k runs over taps x depth, starting at row[..] + offset */
    const float *zero;           /* a tap whose rows all point here adds nothing; NULL: none does */
    const void *b;               /* [taps * depth] rows of 16, f32, or f16 when is_half */
    int64_t b_step;              /* bytes from row to row */
    int64_t b_panel;             /* bytes to the next panel, where there are more */
    int64_t panels;              /* of this step: 2 or 3 only where it is_wide; 0 is 1 */
    bool is_half, is_wide;       /* wide: tiles of AVX-512 */
    const float *sum;            /* partial sums to start from, or NULL for zero */
    int64_t sum_ld;
    float *c;
    int64_t ld;
    int64_t cols;                /* 1 to 16 columns of c (17 to 32 of two panels, ...) are written;
                                    sum always has all */
    bool narrow;                 /* only the first 8 columns mean anything */
    float alpha;                 /* multiplies the result; 1 leaves it alone */
    bool fetch_a, fetch_c;       /* rows of A, of C are probably not in L2 yet */
    const char *next;            /* weights needed after this step: fetched on the way, or NULL */
    int64_t next_row, next_step; /* bytes of them for each row of a tile, for each k */
    int64_t next_panel;          /* from panel to panel of them */
    int64_t next_chunk;          /* is_wide: k between fetches, and the bytes of one */
    int64_t next_bytes;
    float *widened; /* where a tile leaves weights of 16 bits as floats, or NULL */
    int adds;       /* so many residuals are added before c is stored */
    bool clamps;    /* the result is limited to [low, high] before it is stored */
    float low, high;
    const hg_epilogue_simple *finish;            /* what else is done to c, or NULL */
    hg_epilogue_at residual;                     /* for element (0, 0) of c */
    int64_t residual_row[HG_EPILOGUE_RESIDUALS]; /* from row to row: ld, or 1 */
    int64_t col; /* of the output that c starts in, where finish has columns */
} hg_gemm_step;

/* Height of the next row tile: sixes, with a tail of fours and fives, which also fill the FMA
 * units; or fours, with a tail of three and two. */
static inline int64_t hg_gemm_tile_rows(int64_t left)
{
    if (left <= HG_GEMM_ROWS) return left;
    if (HG_GEMM_ROWS == 4) return left == 5 ? 3 : 4;
    if (left == 7 || left == 8) return 4;
    return left == 9 || left == 13 ? 5 : HG_GEMM_ROWS;
}

/* The residuals of a row. */
static inline hg_epilogue_at hg_gemm_residuals(const hg_gemm_step *s, int64_t row)
{
    hg_epilogue_at at = s->residual;
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
        if (at.data[n] != NULL) at.data[n] += row * s->residual_row[n];
    return at;
}

static inline bool hg_gemm_has_residual(const hg_gemm_step *s)
{
    return s->residual.data[0] != NULL || s->residual.data[1] != NULL;
}

/* Whether tiles are those of AVX-512, 8 rows x 48 columns: three panels side by side, where 6 x 16
 * floats of AVX2 would leave half of the multiply-adds. The bits are the same. Zen 4, which has no
 * more multiply-adds for it, takes 4 to 12 % longer with them (bench/op/conv). */
static inline bool hg_gemm_is_wide(const hg_args *a)
{
    return hg_has_avx512(a) && (a->cpu & HG_CPU_WIDE) != 0;
}

/* The same for matrices of so many rows. They are as fast with either on a quiet Zen 4, and beside
 * other work on the core tiles of AVX-512, with half the instructions, take 12 to 25 % less (bert,
 * minilm, whisper, two threads): they are used unless rows that are not there cost a tenth. */
static inline bool hg_gemm_is_wide_for(const hg_args *a, int64_t rows)
{
    const int64_t computed = hg_ceil_div(rows, 4) * 4;
    return hg_gemm_is_wide(a) || (hg_has_avx512(a) && rows > 4 && 10 * computed <= 11 * rows);
}

/* Rows of a whole tile. */
static inline int64_t hg_gemm_rows(bool is_wide)
{
    return is_wide ? HG_GEMM_WIDE_ROWS : HG_GEMM_ROWS;
}

/* Depth of a k block. */
static inline int64_t hg_gemm_depth(bool is_wide)
{
    return is_wide ? HG_GEMM_WIDE_DEPTH : HG_GEMM_DEPTH;
}

/* Panels side by side for kernels that prepare them for each step. */
static inline int64_t hg_gemm_together(bool is_wide)
{
    return is_wide ? 2 : 1;
}

/* Of how many panels parts of `panels` should be multiples. */
static inline int64_t hg_gemm_piece(bool is_wide, int64_t panels)
{
    if (!is_wide) return 1;
    return panels > 4 ? HG_GEMM_PANELS : 2;
}

/* How many panels the next step has, out of `left`; one alone is slow. */
static inline int64_t hg_gemm_panels(const hg_gemm_step *step, int64_t left)
{
    if (!step->is_wide) return 1;
    return left > 4 || left == 3 ? HG_GEMM_PANELS : hg_min(left, 2);
}

/* Every row of the tile lies in the padding. */
HG_INLINE bool hg_gemm_is_zero(const int64_t rows, const float *zero, const float *const *row)
{
    if (row[0] != zero) return false; /* mostly so */
    bool is_zero = true;
    for (int64_t i = 1; i < rows; i++)
        is_zero = is_zero && row[i] == zero;
    return is_zero;
}

/* Rows [0, rows) of the step. The functions of this header are defined in gemm.c. */
void hg_gemm_panel_avx2(const hg_gemm_step *step, int64_t rows);
void hg_gemm_panel_avx512(const hg_gemm_step *step, int64_t rows);

static inline void hg_gemm_panel(const hg_gemm_step *step, int64_t rows)
{
#if HG_HAS_AVX512
    if (step->is_wide && !step->narrow) { /* eight columns are a vector of AVX2 */
        hg_gemm_panel_avx512(step, rows);
        return;
    }
#endif
    hg_gemm_panel_avx2(step, rows);
}

/* Few rows, many panels, all of k at once: every weight is loaded once. */
typedef struct hg_gemm_stream {
    const float *a; /* row i at a + i * k */
    const char *b;
    int64_t b_step, b_panel; /* bytes from row to row, from panel to panel */
    bool is_half, is_wide;   /* wide: tiles of AVX-512, where weights are floats */
    int64_t k;
    float *c; /* 16 columns a panel; row i at c + i * ld */
    int64_t ld;
    float alpha;
} hg_gemm_stream;

enum {
    HG_GEMM_STREAM_ROWS = 3,
    HG_GEMM_STREAM_WIDE = 4, /* panels of a tile with AVX-512 */
#if HG_VEC8_REGISTERS >= 16
    /* f32 weights that lie in a cache: 92 % of the peak where tiles have 84; from memory it is 30
     * where tiles, which fetch ahead, have 57 (bench/op/matmul). */
    HG_GEMM_STREAM_NEAR = 4
#else
    HG_GEMM_STREAM_NEAR = HG_GEMM_STREAM_ROWS
#endif
};

/* Up to so many rows stream. With AVX-512 it is as fast as tiles for one more, also where weights
 * come from memory, and 1.5 times as fast out of L2. */
static inline int64_t hg_gemm_stream_rows(int64_t panels, bool is_wide)
{
    return HG_GEMM_STREAM_ROWS + (is_wide && panels >= HG_GEMM_STREAM_WIDE);
}

/* Panels of a unit that streams, out of `panels`; the last one takes the rest. Whole tiles: what is
 * less than one is computed together with panels in front of it (8 panels as two tiles of 6 take
 * half as long again). */
static inline int64_t hg_gemm_stream_group(int64_t panels, bool is_wide)
{
    /* of one row; of more rows it is a part of that */
    const int64_t tile = is_wide ? HG_GEMM_STREAM_WIDE : 6;
    return panels < 4 * tile ? hg_min(panels, tile) : 2 * tile;
}

/* 1 to HG_GEMM_STREAM_NEAR rows. */
void hg_gemm_stream_avx2(hg_gemm_stream s, int64_t rows, int64_t panels);
/* Any number of rows, weights of 32 bits; from the last panel on when upward. */
void hg_gemm_stream_avx512(const hg_gemm_stream *s, int64_t rows, int64_t panels, bool upward);

/* c[i * ld + j] = alpha * a[i] . b[j], with rows of k elements, rows of B at b + j * b_ld and
 * `count` of them: few rows of A by a transposed B, in place. Defined in matmul.c. */
void hg_gemm_dot_avx2(const float *const *a, int64_t rows, const float *b, int64_t b_ld, int64_t k,
                      int64_t count, float alpha, float *c, int64_t ld);

/* Applies a simple epilogue to a block of the output in place: bias[j] and element i * ld + j of a
 * residual, or element i where there is one for each row, belong to element (i, j), which is in
 * column col + j. Defined in epilogue.c; epilogue.h has the error bound. That of AVX2 calls the
 * other one where the epilogue says that it may. */
void hg_gemm_finish_avx2(const hg_epilogue_simple *e, const float *bias, const float *bias2,
                         hg_epilogue_at residual, float *c, int64_t ld, int64_t rows, int64_t col,
                         int64_t cols);
void hg_gemm_finish_avx512(const hg_epilogue_simple *e, const float *bias, const float *bias2,
                           hg_epilogue_at residual, float *c, int64_t ld, int64_t rows, int64_t col,
                           int64_t cols);

/* Rows that tiles of AVX-512 compute for `rows`: fours and eights, of one panel eights. */
static inline int64_t hg_gemm_wide_computed(const hg_gemm_step *s, int64_t rows)
{
    const int64_t multiple = s->panels > 1 ? HG_GEMM_WIDE_ROWS / 2 : HG_GEMM_WIDE_ROWS;
    return hg_ceil_div(rows, multiple) * multiple;
}

/* Fetches a block of weights as large as the step's own while `rows` rows are computed. */
static inline void hg_gemm_fetch(hg_gemm_step *s, const char *next, int64_t rows)
{
    const int64_t depth = s->taps * s->depth, bytes = depth * s->b_step;
    s->next = next;
    s->next_panel = s->b_panel;
    if (!s->is_wide) {
        s->next_row = bytes / rows;
        s->next_step = hg_min(64, s->next_row * HG_GEMM_ROWS / hg_max(1, depth) + 1);
        return;
    }
    /* A line every so many k. No fetches closer than that: they would cost a tile of four rows half
     * its time. And no more lines at once than that takes: memory would wait until the next tile.
     */
    const int64_t line = 64, least = 4;
    s->next_row = bytes / hg_gemm_wide_computed(s, rows);
    const int64_t tile = hg_max(line, s->next_row * HG_GEMM_WIDE_ROWS);
    s->next_chunk = hg_max(least, depth * line / tile);
    const int64_t lines = hg_ceil_div(s->next_chunk * tile, hg_max(1, depth) * line);
    s->next_bytes = lines * line;
}

/* First k block of a step with a simple epilogue (or NULL): the sums start with the bias, which
 * then costs nothing. `cols` columns exist from output column `col` on; edge is room for 16 values
 * a panel. */
void hg_gemm_begin_avx2(hg_gemm_step *s, const hg_epilogue_simple *e, int64_t col, int64_t cols,
                        float *edge);

/* Last k block: c lies in `out`. A residual and a clamp are done on the way out, anything else
 * right behind. */
void hg_gemm_end_avx2(hg_gemm_step *s, const hg_epilogue_simple *e, const float *out);

/* All of a simple epilogue on a block of the output that holds plain products; `col` is the output
 * column of c's first element. */
void hg_gemm_finish_all_avx2(const hg_epilogue_simple *e, const float *out, float *c, int64_t ld,
                             int64_t rows, int64_t col, int64_t cols);

/* dst[j * dst_ld + i] = src[i * src_ld + j] for i < rows, j < cols. */
void hg_gemm_turn_avx2(const float *src, int64_t src_ld, int64_t rows, int64_t cols, float *dst,
                       int64_t dst_ld);

#endif
