/* matmul_nbits.c - matmul.nbits for AVX2: sixteen columns of codes at a time become a panel of
 * weights in L1, and all rows pass over it as in gemm.h. Each output is one chain of fused
 * multiply-adds along k.
 *
 * One row has code of its own, four columns at a time, that reads codes as they lie: each output is
 * eight chains, added up. */
#include "backend/cpu/avx2/matmul_nbits.h"

#include "backend/cpu/avx2/gemm.h"

enum {
    NBITS_PANELS = 2,  /* least rows for which panels are made */
    NBITS_BLOCK = 192, /* most rows of a unit then */
    NBITS_TOGETHER = 2 /* and most panels */
};

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
    int64_t block = from / s->block, last = (block + 1) * s->block;
    for (int64_t at = from, end; at < to; at = end, last += s->block) {
        float scale, zero;
        __m256i code[2];
        end = hg_min(last, to);
        hg_nbits_block(a, s, column, block++, &scale, &zero);
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

/* acc += x times w [HG_NBITS_COLUMNS][HG_NBITS_DEPTH], eight of k; the rest of the lanes are 0
 * under a mask. */
static inline void nbits_step(const float *x, const float *w, const __m256i *mask,
                              __m256 acc[HG_NBITS_COLUMNS])
{
    const __m256 v = mask == NULL ? _mm256_loadu_ps(x) : _mm256_maskload_ps(x, *mask);
    HG_GEMM_UNROLL
    for (int j = 0; j < HG_NBITS_COLUMNS; j++) {
        const float *p = w + j * HG_NBITS_DEPTH;
        const __m256 b = mask == NULL ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, *mask);
        acc[j] = _mm256_fmadd_ps(v, b, acc[j]);
    }
}

/* One row of A times a few columns. */
static void nbits_unit(const hg_args *a, const hg_nbits_shape *s, int64_t column)
{
    float w[HG_NBITS_COLUMNS * HG_NBITS_DEPTH], *y = (float *)a->out[0].data + column;
    const int64_t columns = hg_min(HG_NBITS_COLUMNS, s->n - column);
    __m256 acc[HG_NBITS_COLUMNS];
    if (columns < HG_NBITS_COLUMNS) memset(w, 0, sizeof w);
    HG_GEMM_UNROLL
    for (int j = 0; j < HG_NBITS_COLUMNS; j++)
        acc[j] = _mm256_setzero_ps();
    for (int64_t from = 0; from < s->k; from += HG_NBITS_DEPTH) {
        const int64_t to = hg_min(from + HG_NBITS_DEPTH, s->k);
        const int64_t depth = to - from, whole = depth & ~(int64_t)7;
        const float *x = (const float *)a->in[0].data + from;
        nbits_columns(a, s, column, columns, from, to, w);
        for (int64_t i = 0; i < whole; i += 8)
            nbits_step(x + i, w + i, NULL, acc);
        if (whole == depth) continue;
        const __m256i mask = nbits_mask(depth - whole);
        nbits_step(x + whole, w + whole, &mask, acc);
    }
    for (int64_t j = 0; j < columns; j++)
        y[j] = nbits_sum(acc[j]);
}

/* ---- many rows ------------------------------------------------------------------------------- */

/* Scratch: weights as they lie, turned, sums, pointers to rows. Tiles of AVX-512 take two panels
 * side by side. */
typedef struct nbits_panel {
    float weights[HG_GEMM_COLS * HG_NBITS_DEPTH];
    float turned[NBITS_TOGETHER][HG_NBITS_DEPTH * HG_GEMM_COLS];
    float sum[NBITS_BLOCK * HG_GEMM_COLS * NBITS_TOGETHER];
    const float *rows[NBITS_BLOCK];
} nbits_panel;

/* Columns of a unit. */
static int64_t nbits_width(const hg_args *a)
{
    return hg_gemm_together(hg_gemm_is_wide(a)) * HG_GEMM_COLS;
}

/* Scales and zero points of a block of sixteen columns. */
typedef struct nbits_units {
    float scale[HG_GEMM_COLS], zero[HG_GEMM_COLS];
} nbits_units;

/* A row of a panel: codes of columns 0 to 7 and of columns 8 to 15. */
HG_INLINE void nbits_line(__m128i low, __m128i high, const nbits_units *u, float *to)
{
    const __m128i codes[2] = {low, high};
    HG_GEMM_UNROLL
    for (int i = 0; i < 2; i++) {
        const __m256 w = _mm256_sub_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes[i])),
                                       _mm256_loadu_ps(u->zero + 8 * i));
        _mm256_storeu_ps(to + 8 * i, _mm256_mul_ps(w, _mm256_loadu_ps(u->scale + 8 * i)));
    }
}

/* Two rows: those of the first eight bytes of each half, and of the last. */
HG_INLINE void nbits_lines(__m256i codes, const nbits_units *u, float *first, float *second)
{
    const __m128i low = _mm256_castsi256_si128(codes), high = _mm256_extracti128_si256(codes, 1);
    nbits_line(low, high, u, first);
    nbits_line(_mm_srli_si128(low, 8), _mm_srli_si128(high, 8), u, second);
}

/* Sixteen codes of 4 bits of each of sixteen columns become sixteen rows of a panel. Bytes are
 * turned, which takes a quarter of the instructions that numbers would. */
HG_INLINE void nbits_turn_four(const uint8_t *const *codes, int64_t at, const nbits_units *u,
                               float *to)
{
    const __m256i four = _mm256_set1_epi8(15);
    __m256i r[8], pair[4];
    HG_GEMM_UNROLL
    for (int i = 0; i < 8; i++)
        r[i] = _mm256_set_m128i(_mm_loadl_epi64((const __m128i *)(const void *)(codes[i + 8] + at)),
                                _mm_loadl_epi64((const __m128i *)(const void *)(codes[i] + at)));
    HG_GEMM_UNROLL
    for (int i = 0; i < 4; i++)
        pair[i] = _mm256_unpacklo_epi8(r[2 * i], r[2 * i + 1]);
    const __m256 low[2] = {_mm256_castsi256_ps(_mm256_unpacklo_epi16(pair[0], pair[1])),
                           _mm256_castsi256_ps(_mm256_unpacklo_epi16(pair[2], pair[3]))};
    const __m256 high[2] = {_mm256_castsi256_ps(_mm256_unpackhi_epi16(pair[0], pair[1])),
                            _mm256_castsi256_ps(_mm256_unpackhi_epi16(pair[2], pair[3]))};
    const __m256i bytes[4] = {_mm256_castps_si256(_mm256_unpacklo_ps(low[0], low[1])),
                              _mm256_castps_si256(_mm256_unpackhi_ps(low[0], low[1])),
                              _mm256_castps_si256(_mm256_unpacklo_ps(high[0], high[1])),
                              _mm256_castps_si256(_mm256_unpackhi_ps(high[0], high[1]))};
    HG_GEMM_UNROLL
    for (int i = 0; i < 4; i++, to += 4 * HG_GEMM_COLS) {
        nbits_lines(_mm256_and_si256(bytes[i], four), u, to, to + 2 * HG_GEMM_COLS);
        nbits_lines(_mm256_and_si256(_mm256_srli_epi16(bytes[i], 4), four), u, to + HG_GEMM_COLS,
                    to + 3 * HG_GEMM_COLS);
    }
}

/* Weights [from, to) of sixteen columns of 4 bits as a panel; the last column stands for those that
 * are not there. */
static void nbits_panel_of_four(const hg_args *a, const hg_nbits_shape *s, int64_t column,
                                int64_t from, int64_t to, float *panel)
{
    const uint8_t *codes[HG_GEMM_COLS];
    nbits_units u;
    for (int64_t j = 0; j < HG_GEMM_COLS; j++)
        codes[j] = (const uint8_t *)a->in[1].data + hg_min(column + j, s->n - 1) * s->row;
    int64_t block = from / s->block, last = (block + 1) * s->block;
    for (int64_t at = from; at < to; last += s->block, block++) {
        for (int64_t j = 0; j < HG_GEMM_COLS; j++)
            hg_nbits_block(a, s, hg_min(column + j, s->n - 1), block, &u.scale[j], &u.zero[j]);
        for (; at < hg_min(last, to); at += 16, panel += 16 * HG_GEMM_COLS)
            nbits_turn_four(codes, at / 2, &u, panel);
    }
}

/* Weights [from, to) of sixteen columns as a panel. */
static void nbits_make_panel(const hg_args *a, const hg_nbits_shape *s, int64_t column,
                             int64_t from, int64_t to, float *weights, float *turned)
{
    const int64_t columns = hg_min(HG_GEMM_COLS, s->n - column);
    if (s->bits == 4) {
        nbits_panel_of_four(a, s, column, from, to, turned);
        return;
    }
    if (columns < HG_GEMM_COLS) memset(weights, 0, HG_GEMM_COLS * HG_NBITS_DEPTH * sizeof *weights);
    nbits_columns(a, s, column, columns, from, to, weights);
    hg_gemm_turn_avx2(weights, HG_NBITS_DEPTH, HG_GEMM_COLS, to - from, turned, HG_GEMM_COLS);
}

/* Rows [row, row + rows) times the columns from `column` on. */
static void nbits_panel_run(const hg_args *a, const hg_nbits_shape *s, int64_t row, int64_t rows,
                            int64_t column, nbits_panel *p)
{
    const int64_t columns = hg_min(nbits_width(a), s->n - column);
    const int64_t panels = hg_ceil_div(columns, HG_GEMM_COLS), width = panels * HG_GEMM_COLS;
    for (int64_t i = 0; i < rows; i++)
        p->rows[i] = (const float *)a->in[0].data + (row + i) * s->k;
    for (int64_t from = 0; from == 0 || from < s->k; from += HG_NBITS_DEPTH) {
        const int64_t to = hg_min(from + HG_NBITS_DEPTH, s->k);
        const bool is_last = to == s->k;
        for (int64_t j = 0; j < panels; j++)
            nbits_make_panel(a, s, column + j * HG_GEMM_COLS, from, to, p->weights, p->turned[j]);
        const hg_gemm_step step = {.row = p->rows,
                                   .taps = 1,
                                   .depth = to - from,
                                   .offset = from,
                                   .b = p->turned,
                                   .b_step = HG_GEMM_COLS * sizeof(float),
                                   .b_panel = sizeof p->turned[0],
                                   .panels = panels,
                                   .is_wide = hg_gemm_is_wide(a),
                                   .sum = from == 0 ? NULL : p->sum,
                                   .sum_ld = width,
                                   .c = is_last ? (float *)a->out[0].data + row * s->n + column
                                                : p->sum,
                                   .ld = is_last ? s->n : width,
                                   .cols = is_last ? columns : width,
                                   .narrow = columns <= HG_GEMM_COLS / 2,
                                   .alpha = 1,
                                   .fetch_a = true};
        hg_gemm_panel(&step, rows);
    }
}

/* ---- one row --------------------------------------------------------------------------------- */

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

int64_t hg_matmul_nbits_units_avx2(const hg_args *a)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    if (s.m < NBITS_PANELS) return hg_matmul_nbits_units(a);
    return hg_cut_of(s.m, NBITS_BLOCK, HG_GEMM_ROWS).count * hg_ceil_div(s.n, nbits_width(a));
}

size_t hg_matmul_nbits_scratch_avx2(const hg_args *a)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    if (s.m >= NBITS_PANELS) return sizeof(nbits_panel);
    return nbits_is_spread(a, &s) ? hg_align_up((size_t)s.k, NBITS_STEP) * sizeof(float) : 0;
}

bool hg_matmul_nbits_is_row(const hg_args *a, const hg_nbits_shape *s)
{
    return s->m == 1 && s->bits != 2 && (!hg_args_has(a, 3) || a->in[3].dtype == HOLO_U8);
}

static void nbits_run_panels(const hg_args *a, const hg_nbits_shape *s, hg_range r)
{
    const hg_cut cut = hg_cut_of(s->m, NBITS_BLOCK, HG_GEMM_ROWS);
    const int64_t width = nbits_width(a), parts = hg_ceil_div(s->n, width);
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t row = hg_cut_at(&cut, u / parts), end = hg_cut_at(&cut, u / parts + 1);
        nbits_panel_run(a, s, row, end - row, u % parts * width, r.scratch);
    }
}

void hg_matmul_nbits_run_avx2(const hg_args *a, hg_range r)
{
    const hg_nbits_shape s = hg_matmul_nbits_shape_of(a);
    const bool is_row = hg_matmul_nbits_is_row(a, &s), is_spread = nbits_is_spread(a, &s);
    if (s.m >= NBITS_PANELS) {
        nbits_run_panels(a, &s, r);
        return;
    }
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
     .units = hg_matmul_nbits_units_avx2,
     .scratch = hg_matmul_nbits_scratch_avx2,
     .cost = hg_matmul_nbits_cost,
     .run = hg_matmul_nbits_run_avx2},
    {0},
};
