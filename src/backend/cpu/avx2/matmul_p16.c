/* matmul_p16.c - matmul.p16 with AVX2 and FMA, and the row tiles other kernels use too (gemm.h).
 *
 * A unit is a block of rows times a group of panels. Up to three rows the weights are streamed
 * once, many panels side by side, at memory bandwidth; more rows go through 6 x 16 tiles. f16
 * weights are widened in registers: two conversions beside twelve multiply-adds cost nothing on Zen
 * 4 (bench/op/matmul), while widening panels into scratch first loses 3 % at 128 rows and 40 %
 * at 4. Error bound: one rounding for each of the K fused multiply-adds, in order. */
#include "kernel/matmul_p16.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum {
    GEMM_NARROW_ROWS = 8, /* more row pointers than that do not fit the integer registers */
    MATMUL_P16_FIRST_EXTRA = 2,
    MATMUL_P16_ROW_BLOCK = 96,  /* rows of A that stay in L2: 96 x 384 floats are 144 KiB */
    MATMUL_P16_LARGE = 1 << 18, /* elements of an output beyond L2 */
    MATMUL_P16_MAX_GROUP = 12,  /* panels; keeps enough units for many threads when rows are few */
    MATMUL_P16_TILE_VALUES = 6144 /* wanted size of the block an epilogue sees */
};

/* ---- row tiles --------------------------------------------------------------------------- */

/* Eight weights of either type. */
HG_INLINE __m256 gemm_load(const char *b, const bool is_half)
{
    if (is_half) return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)b));
    return _mm256_loadu_ps((const float *)(const void *)b);
}

/* Stores one row of a tile; at the right edge only the columns that exist. */
HG_INLINE void gemm_store(const hg_gemm_step *s, int64_t row, __m256 low, __m256 high)
{
    float *c = s->c + row * s->ld;
    if (s->alpha != 1) {
        low = _mm256_mul_ps(low, _mm256_set1_ps(s->alpha));
        high = _mm256_mul_ps(high, _mm256_set1_ps(s->alpha));
    }
    if (s->adds) {
        low = _mm256_add_ps(low, _mm256_loadu_ps(s->residual + row * s->ld));
        high = _mm256_add_ps(high, _mm256_loadu_ps(s->residual + row * s->ld + 8));
    }
    if (s->clamps) {
        /* operands in this order keep a NaN */
        low = _mm256_min_ps(_mm256_set1_ps(s->high), _mm256_max_ps(_mm256_set1_ps(s->low), low));
        high = _mm256_min_ps(_mm256_set1_ps(s->high), _mm256_max_ps(_mm256_set1_ps(s->low), high));
    }
    if (HG_LIKELY(s->cols == HG_GEMM_COLS)) {
        _mm256_storeu_ps(c, low);
        _mm256_storeu_ps(c + 8, high);
        return;
    }
    if (s->cols & 8) {
        _mm256_storeu_ps(c, low);
        low = high;
        c += 8;
    }
    __m128 rest = _mm256_castps256_ps128(low);
    if (s->cols & 4) {
        _mm_storeu_ps(c, rest);
        rest = _mm256_extractf128_ps(low, 1);
        c += 4;
    }
    if (s->cols & 2) {
        _mm_storel_pi((__m64 *)(void *)c, rest);
        rest = _mm_movehl_ps(rest, rest);
        c += 2;
    }
    if (s->cols & 1) _mm_store_ss(c, rest);
}

HG_INLINE void gemm_tile(const int rows, const bool is_half, const hg_gemm_step *s, int64_t first)
{
    const char *next = s->next != NULL ? s->next + first * s->next_row : s->b;
    const int64_t next_step = s->next_step;
    __m256 sum[HG_GEMM_ROWS][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        const float *from = s->sum == NULL ? NULL : s->sum + (first + i) * s->sum_ld;
        sum[i][0] = from == NULL ? _mm256_setzero_ps() : _mm256_loadu_ps(from);
        sum[i][1] = from == NULL ? _mm256_setzero_ps() : _mm256_loadu_ps(from + 8);
    }
    const float *const *row = s->row + first;
    const char *b = s->b;
    const int64_t step = s->b_step;
    for (int64_t t = 0; t < s->taps; t++) {
        const float *a[HG_GEMM_ROWS];
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            a[i] = row[i] + s->offset;
        row += s->row_step;
        for (int64_t k = 0; k < s->depth; k++) {
            const __m256 low = gemm_load(b, is_half),
                         high = gemm_load(b + (is_half ? 16 : 32), is_half);
            b += step;
            _mm_prefetch(next, _MM_HINT_T1);
            next += next_step;
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++) {
                const __m256 x = _mm256_broadcast_ss(a[i] + k);
                sum[i][0] = _mm256_fmadd_ps(x, low, sum[i][0]);
                sum[i][1] = _mm256_fmadd_ps(x, high, sum[i][1]);
            }
        }
    }
    if (s->alpha == 1 && !s->adds && !s->clamps && s->cols == HG_GEMM_COLS) {
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            _mm256_storeu_ps(s->c + (first + i) * s->ld, sum[i][0]);
            _mm256_storeu_ps(s->c + (first + i) * s->ld + 8, sum[i][1]);
        }
        return;
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        gemm_store(s, first + i, sum[i][0], sum[i][1]);
}

/* 8 columns and more rows: a narrow panel takes little more than half the time of a whole one. */
HG_INLINE void gemm_narrow_tile(const int rows, const bool is_half, const hg_gemm_step *s,
                                int64_t first)
{
    __m256 sum[GEMM_NARROW_ROWS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i] = s->sum == NULL ? _mm256_setzero_ps()
                                : _mm256_loadu_ps(s->sum + (first + i) * s->sum_ld);
    const float *const *row = s->row + first;
    const char *b = s->b;
    const int64_t step = s->b_step;
    for (int64_t t = 0; t < s->taps; t++) {
        const float *a[GEMM_NARROW_ROWS];
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            a[i] = row[i] + s->offset;
        row += s->row_step;
        for (int64_t k = 0; k < s->depth; k++) {
            const __m256 w = gemm_load(b, is_half);
            b += step;
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i] = _mm256_fmadd_ps(_mm256_broadcast_ss(a[i] + k), w, sum[i]);
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        gemm_store(s, first + i, sum[i], _mm256_setzero_ps());
}

/* Lines the next tile starts with. Rows of C lie far apart and stores commit in order; rows of A
 * are many short streams the hardware notices late. */
HG_INLINE void gemm_prefetch(const hg_gemm_step *s, int64_t first, int64_t rows)
{
    for (int64_t i = first; i < hg_min(first + HG_GEMM_ROWS, rows); i++) {
        if (s->fetch_c) {
            _mm_prefetch((const char *)(s->c + i * s->ld), _MM_HINT_T0);
            _mm_prefetch((const char *)(s->c + i * s->ld + HG_GEMM_COLS - 1), _MM_HINT_T0);
        }
        if (s->residual != NULL) {
            _mm_prefetch((const char *)(s->residual + i * s->ld), _MM_HINT_T0);
            _mm_prefetch((const char *)(s->residual + i * s->ld + HG_GEMM_COLS - 1), _MM_HINT_T0);
        }
        if (s->fetch_a)
            for (int64_t line = 0; line < 4; line++)
                _mm_prefetch((const char *)(s->row[i] + s->offset) + line * 64, _MM_HINT_T0);
    }
}

#define GEMM_TILE(name, rows, cols)                                                                \
    static void gemm_f32_##rows##x##cols##_avx2(const hg_gemm_step *s, int64_t first)              \
    {                                                                                              \
        name(rows, false, s, first);                                                               \
    }                                                                                              \
    static void gemm_f16_##rows##x##cols##_avx2(const hg_gemm_step *s, int64_t first)              \
    {                                                                                              \
        name(rows, true, s, first);                                                                \
    }
GEMM_TILE(gemm_tile, 1, 16)
GEMM_TILE(gemm_tile, 2, 16)
GEMM_TILE(gemm_tile, 3, 16)
GEMM_TILE(gemm_tile, 4, 16)
GEMM_TILE(gemm_tile, 5, 16)
GEMM_TILE(gemm_tile, 6, 16)
GEMM_TILE(gemm_narrow_tile, 1, 8)
GEMM_TILE(gemm_narrow_tile, 4, 8)
GEMM_TILE(gemm_narrow_tile, 8, 8)
#undef GEMM_TILE

typedef void (*gemm_tile_fn)(const hg_gemm_step *s, int64_t first);

static gemm_tile_fn gemm_find_tile(const hg_gemm_step *s, int64_t left, int64_t *height)
{
    static const gemm_tile_fn whole[2][HG_GEMM_ROWS] = {
        {gemm_f32_1x16_avx2, gemm_f32_2x16_avx2, gemm_f32_3x16_avx2, gemm_f32_4x16_avx2,
         gemm_f32_5x16_avx2, gemm_f32_6x16_avx2},
        {gemm_f16_1x16_avx2, gemm_f16_2x16_avx2, gemm_f16_3x16_avx2, gemm_f16_4x16_avx2,
         gemm_f16_5x16_avx2, gemm_f16_6x16_avx2},
    };
    static const gemm_tile_fn narrow[2][GEMM_NARROW_ROWS / 4 + 1] = {
        {gemm_f32_1x8_avx2, gemm_f32_4x8_avx2, gemm_f32_8x8_avx2},
        {gemm_f16_1x8_avx2, gemm_f16_4x8_avx2, gemm_f16_8x8_avx2},
    };
    if (s->narrow) {
        const int64_t fours = hg_min(left, GEMM_NARROW_ROWS) / 4;
        *height = fours == 0 ? 1 : fours * 4;
        return narrow[s->is_half][fours];
    }
    *height = hg_gemm_tile_rows(left);
    return whole[s->is_half][*height - 1];
}

void hg_gemm_panel_avx2(const hg_gemm_step *step, int64_t rows)
{
    const bool fetches = step->fetch_c || step->fetch_a || step->residual != NULL;
    for (int64_t first = 0; first < rows;) {
        int64_t height;
        const gemm_tile_fn tile = gemm_find_tile(step, rows - first, &height);
        if (fetches) gemm_prefetch(step, first + height, rows);
        tile(step, first);
        if (step->finish != NULL)
            hg_gemm_finish_avx2(step->finish, NULL, NULL,
                                step->residual == NULL ? NULL : step->residual + first * step->ld,
                                step->c + first * step->ld, step->ld, height, step->cols);
        first += height;
    }
}

/* ---- streaming: few rows, many panels
 * ------------------------------------------------------------ */

/* rows x panels * 2 accumulators; every weight is loaded once. */
HG_INLINE void gemm_stream_tile(const int rows, const int panels, const bool is_half,
                                const hg_gemm_stream *s)
{
    const int64_t step = s->b_step, panel = s->b_panel;
    __m256 sum[3][12];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int j = 0; j < 2 * panels; j++)
            sum[i][j] = _mm256_setzero_ps();
    }
    const char *b = s->b;
    for (int64_t k = 0; k < s->k; k++) {
        __m256 x[3];
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            x[i] = _mm256_broadcast_ss(s->a + i * s->k + k);
        HG_GEMM_UNROLL
        for (int j = 0; j < 2 * panels; j++) {
            const __m256 w = gemm_load(b + j / 2 * panel +
                                           (j % 2 == 0 ? 0
                                            : is_half  ? 16
                                                       : 32),
                                       is_half);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][j] = _mm256_fmadd_ps(x[i], w, sum[i][j]);
        }
        b += step;
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int j = 0; j < 2 * panels; j++)
            _mm256_storeu_ps(s->c + i * s->ld + (int64_t)8 * j,
                             _mm256_mul_ps(sum[i][j], _mm256_set1_ps(s->alpha)));
    }
}

#define GEMM_STREAM(rows, panels, type, is_half)                                                   \
    static void gemm_##type##_##rows##x##panels##p_avx2(const hg_gemm_stream *s)                   \
    {                                                                                              \
        gemm_stream_tile(rows, panels, is_half, s);                                                \
    }
GEMM_STREAM(1, 6, f32, false)
GEMM_STREAM(1, 1, f32, false)
GEMM_STREAM(2, 3, f32, false)
GEMM_STREAM(2, 1, f32, false)
GEMM_STREAM(3, 2, f32, false)
GEMM_STREAM(3, 1, f32, false)
GEMM_STREAM(1, 6, f16, true)
GEMM_STREAM(1, 1, f16, true)
GEMM_STREAM(2, 3, f16, true)
GEMM_STREAM(2, 1, f16, true)
GEMM_STREAM(3, 2, f16, true)
GEMM_STREAM(3, 1, f16, true)
#undef GEMM_STREAM

typedef struct gemm_stream_kind {
    int64_t panels;
    void (*many)(const hg_gemm_stream *s), (*one)(const hg_gemm_stream *s);
} gemm_stream_kind;

void hg_gemm_stream_avx2(hg_gemm_stream s, int64_t rows, int64_t panels)
{
    static const gemm_stream_kind kinds[2][HG_GEMM_STREAM_ROWS] = {
        {{6, gemm_f32_1x6p_avx2, gemm_f32_1x1p_avx2},
         {3, gemm_f32_2x3p_avx2, gemm_f32_2x1p_avx2},
         {2, gemm_f32_3x2p_avx2, gemm_f32_3x1p_avx2}},
        {{6, gemm_f16_1x6p_avx2, gemm_f16_1x1p_avx2},
         {3, gemm_f16_2x3p_avx2, gemm_f16_2x1p_avx2},
         {2, gemm_f16_3x2p_avx2, gemm_f16_3x1p_avx2}},
    };
    const gemm_stream_kind kind = kinds[s.is_half][rows - 1];
    while (panels > 0) {
        const int64_t done = panels >= kind.panels ? kind.panels : 1;
        (done == 1 ? kind.one : kind.many)(&s);
        s.b += done * s.b_panel;
        s.c += done * HG_GEMM_COLS;
        panels -= done;
    }
}

/* ---- transposing
 * --------------------------------------------------------------------------------- */

HG_INLINE void gemm_turn_8x8(const float *src, int64_t src_ld, float *dst, int64_t dst_ld)
{
    __m256 r[8], t[8];
    HG_GEMM_UNROLL
    for (int i = 0; i < 4; i++) {
        /* rows i and i + 4 side by side: the last step of the usual three is done by the loads */
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(src + i * src_ld)),
                                    _mm_loadu_ps(src + (i + 4) * src_ld), 1);
        r[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(src + i * src_ld + 4)),
                                        _mm_loadu_ps(src + (i + 4) * src_ld + 4), 1);
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < 8; i += 4) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
        t[i + 2] = _mm256_unpacklo_ps(r[i + 2], r[i + 3]);
        t[i + 3] = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
        _mm256_storeu_ps(dst + i * dst_ld, _mm256_shuffle_ps(t[i], t[i + 2], 0x44));
        _mm256_storeu_ps(dst + (i + 1) * dst_ld, _mm256_shuffle_ps(t[i], t[i + 2], 0xee));
        _mm256_storeu_ps(dst + (i + 2) * dst_ld, _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44));
        _mm256_storeu_ps(dst + (i + 3) * dst_ld, _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee));
    }
}

void hg_gemm_turn_avx2(const float *src, int64_t src_ld, int64_t rows, int64_t cols, float *dst,
                       int64_t dst_ld)
{
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        int64_t j = 0;
        for (; j + 8 <= cols; j += 8)
            gemm_turn_8x8(src + i * src_ld + j, src_ld, dst + j * dst_ld + i, dst_ld);
        for (; j < cols; j++)
            for (int64_t r = i; r < i + 8; r++)
                dst[j * dst_ld + r] = src[r * src_ld + j];
    }
    for (; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            dst[j * dst_ld + i] = src[i * src_ld + j];
}

/* ---- units ------------------------------------------------------------------------------- */

typedef struct matmul_p16_plan {
    hg_matmul_p16_shape s;
    int64_t row_block, row_blocks; /* rows of a unit; how many blocks */
    int64_t group, groups;         /* panels of a unit; how many groups */
    bool rows_inner;               /* consecutive units share panels, not rows */
    bool is_large;                 /* the output does not fit in L2 */
} matmul_p16_plan;

static matmul_p16_plan matmul_p16_plan_of(const hg_args *a)
{
    matmul_p16_plan p = {.s = hg_matmul_p16_shape_of(a)};
    const int64_t m = hg_max(p.s.m, 1), panels = hg_max(p.s.panels, 1);
    p.row_blocks = hg_ceil_div(m, MATMUL_P16_ROW_BLOCK);
    p.row_block = hg_ceil_div(m, p.row_blocks);
    if (p.row_blocks > 1) p.row_block = hg_ceil_div(p.row_block, HG_GEMM_ROWS) * HG_GEMM_ROWS;
    p.row_blocks = hg_ceil_div(m, p.row_block);
    const int64_t wanted = MATMUL_P16_TILE_VALUES / HG_PANEL / p.row_block;
    p.group = hg_min(panels, hg_min(wanted, MATMUL_P16_MAX_GROUP));
    p.groups = hg_ceil_div(panels, p.group);
    p.group = hg_ceil_div(panels, p.groups);
    /* Read again from L3: B for every row block, or A for every group. */
    p.rows_inner = (double)p.row_blocks * (double)panels * HG_PANEL > (double)p.groups * (double)m;
    p.is_large = holo_tensor_count(&a->out[0]) >= MATMUL_P16_LARGE;
    return p;
}

static int64_t matmul_p16_units(const hg_args *a)
{
    const matmul_p16_plan p = matmul_p16_plan_of(a);
    return p.s.m == 0 || p.s.n == 0 ? 0 : p.row_blocks * p.groups;
}

/* Scratch: pointers to rows, sums of a unit, the epilogue's own. */
static size_t matmul_p16_pointer_bytes(const matmul_p16_plan *p)
{
    return hg_align_up((size_t)p->row_block * sizeof(float *), HG_ALIGN);
}

static size_t matmul_p16_sum_bytes(const matmul_p16_plan *p)
{
    return (size_t)(p->row_block * p->group) * HG_PANEL * sizeof(float);
}

static size_t matmul_p16_scratch(const hg_args *a)
{
    const matmul_p16_plan p = matmul_p16_plan_of(a);
    return matmul_p16_pointer_bytes(&p) + matmul_p16_sum_bytes(&p) + hg_epilogue_scratch(a);
}

/* One unit: rows [row, row + rows) times panels [panel, panel + panels). */
typedef struct matmul_p16_unit {
    const hg_args *a;
    const matmul_p16_plan *plan;
    const float **rows; /* pointers */
    float *sum;
    int64_t row, n_rows, panel, panels;
    float *c; /* result, in the output or in sum */
    int64_t ld;
    float alpha;
    const hg_epilogue_simple *finish; /* NULL: nothing, or the interpreter afterwards */
} matmul_p16_unit;

static void matmul_p16_unit_tiles(const matmul_p16_unit *u)
{
    const holo_tensor *w = &u->a->in[1];
    const int64_t k = u->plan->s.k, sum_ld = u->plan->group * HG_PANEL;
    const bool is_half = w->dtype == HOLO_F16;
    const int64_t line = is_half ? 32 : 64; /* bytes of 16 weights */
    const int64_t blocks = hg_max(1, hg_ceil_div(k, HG_GEMM_DEPTH));
    const int64_t depth = hg_ceil_div(k, blocks);
    float edge[HG_PANEL];
    for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += depth) {
        const bool is_last = k0 + depth >= k;
        hg_gemm_step step = {.row = u->rows,
                             .row_step = 0,
                             .taps = 1,
                             .depth = hg_min(depth, k - k0),
                             .offset = k0,
                             .b_step = line,
                             .is_half = is_half,
                             .ld = is_last ? u->ld : sum_ld,
                             .cols = HG_PANEL,
                             .alpha = is_last ? u->alpha : 1};
        for (int64_t p = 0; p < u->panels; p++) {
            const int64_t at = (u->panel + p) * k + k0;
            step.b = (const char *)w->data + at * line;
            const int64_t col = (u->panel + p) * HG_PANEL, cols = u->plan->s.n - col;
            step.sum = u->sum + p * HG_PANEL;
            step.sum_ld = sum_ld;
            step.narrow = cols <= HG_PANEL / 2;
            if (k0 == 0) hg_gemm_begin(&step, u->finish, col, cols, edge);
            step.c = (is_last ? u->c : u->sum) + p * HG_PANEL;
            if (is_last) hg_gemm_end(&step, u->finish, u->a->out[0].data, cols);
            if (is_last && u->c != u->sum) step.cols = hg_min(HG_PANEL, cols);
            step.fetch_a = p == 0 && step.depth >= 128;
            step.fetch_c = is_last && u->plan->is_large;
            /* next: the same block of the next panel, else the next block or the next unit */
            const int64_t panel = u->panel + p;
            const int64_t after = p + 1 < u->panels ? (panel + 1) * k + k0
                                  : !is_last        ? u->panel * k + k0 + depth
                                                    : (panel + 1) * k;
            hg_gemm_fetch(&step, (const char *)w->data + after * line, u->n_rows);
            hg_gemm_panel_avx2(&step, u->n_rows);
        }
        if (depth == 0) break;
    }
}

static void matmul_p16_unit_stream(const matmul_p16_unit *u)
{
    const hg_matmul_p16_shape *s = &u->plan->s;
    const holo_tensor *w = &u->a->in[1];
    const bool is_half = w->dtype == HOLO_F16;
    const int64_t ld = u->plan->group * HG_PANEL;
    const int64_t line = is_half ? 32 : 64; /* bytes of 16 weights */
    const hg_gemm_stream stream = {.a = u->rows[0],
                                   .b = (const char *)w->data + u->panel * s->k * line,
                                   .b_step = line,
                                   .b_panel = s->k * line,
                                   .is_half = is_half,
                                   .k = s->k,
                                   .c = u->sum,
                                   .ld = ld,
                                   .alpha = u->alpha};
    hg_gemm_stream_avx2(stream, u->n_rows, u->panels);
    if (u->c == u->sum) return;
    const int64_t cols = hg_min(u->panels * HG_PANEL, s->n - u->panel * HG_PANEL);
    for (int64_t i = 0; i < u->n_rows; i++)
        memcpy(u->c + i * u->ld, u->sum + i * ld, (size_t)cols * sizeof(float));
    hg_gemm_finish_all(u->finish, u->a->out[0].data, u->c, u->ld, u->n_rows, u->panel * HG_PANEL,
                       cols);
}

static void matmul_p16_unit_run(matmul_p16_unit *u, const hg_epilogue *ep)
{
    const hg_matmul_p16_shape *s = &u->plan->s;
    const float *a = u->a->in[0].data;
    for (int64_t i = 0; i < u->n_rows; i++)
        u->rows[i] = a + (u->row + i) * s->k;
    if (u->n_rows <= HG_GEMM_STREAM_ROWS)
        matmul_p16_unit_stream(u);
    else
        matmul_p16_unit_tiles(u);
    if (ep == NULL) return;
    const hg_epilogue_tile tile = {.data = u->sum,
                                   .ld = u->ld,
                                   .dtype = HOLO_F32,
                                   .row = u->row,
                                   .rows = u->n_rows,
                                   .col = u->panel * HG_PANEL,
                                   .cols =
                                       hg_min(u->panels * HG_PANEL, s->n - u->panel * HG_PANEL)};
    hg_epilogue_run(ep, &tile);
}

static void matmul_p16_run(const hg_args *a, hg_range r)
{
    const matmul_p16_plan p = matmul_p16_plan_of(a);
    char *scratch = r.scratch;
    matmul_p16_unit u = {.a = a, .plan = &p, .alpha = (float)hg_param_f64(a, 0)};
    u.rows = (const float **)(void *)scratch;
    u.sum = (float *)(void *)(scratch += matmul_p16_pointer_bytes(&p));
    scratch += matmul_p16_sum_bytes(&p);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    /* sums that start with the bias cannot be scaled afterwards */
    if (u.alpha == 1 && hg_epilogue_is_simple(a, MATMUL_P16_FIRST_EXTRA, &simple))
        u.finish = &simple;
    const bool has_lane = a->code != NULL && u.finish == NULL;
    if (has_lane) hg_epilogue_init(&ep, a, MATMUL_P16_FIRST_EXTRA, 1, hg_lane_run_avx2, scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t block = p.rows_inner ? i % p.row_blocks : i / p.groups;
        const int64_t group = p.rows_inner ? i / p.row_blocks : i % p.groups;
        u.row = block * p.row_block;
        u.n_rows = hg_min(p.row_block, p.s.m - u.row);
        u.panel = group * p.group;
        u.panels = hg_min(p.group, p.s.panels - u.panel);
        u.c = has_lane ? u.sum : (float *)a->out[0].data + u.row * p.s.n + u.panel * HG_PANEL;
        u.ld = has_lane ? p.group * HG_PANEL : p.s.n;
        matmul_p16_unit_run(&u, has_lane ? &ep : NULL);
    }
}

const hg_kernel hg_kernels_matmul_p16_avx2[] = {
    {.name = "matmul.p16",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_matmul_p16_check,
     .units = matmul_p16_units,
     .scratch = matmul_p16_scratch,
     .cost = hg_matmul_p16_cost,
     .run = matmul_p16_run},
    {0},
};
