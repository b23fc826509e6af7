/* igemm.c - products of 8-bit codes with AVX-512 VNNI: vpdpbusd adds four products of unsigned and
 * signed codes to each of 16 sums, without saturation.
 *
 * Tiles of 6 rows and 4 panels: 24 sums, 4 rows of weights and a code quad fill the registers, and
 * 24 multiply-adds stand against 10 loads. */
#include "backend/cpu/avx512/igemm.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/pack.h"

enum { IGEMM_ROWS = 6, IGEMM_PANELS = 4 };

/* - zero_a times the sums of the columns */
HG_INLINE __m512i igemm_start(const hg_igemm_tile *t, int64_t row, int64_t panel)
{
    const int8_t *sums = t->b + (panel + 1) * hg_igemm_panel_bytes(t->quads) - HG_QUAD_BYTES;
    const __m512i columns = _mm512_loadu_si512(sums);
    return _mm512_sub_epi32(_mm512_setzero_si512(),
                            _mm512_mullo_epi32(columns, _mm512_set1_epi32(t->zero_a[row])));
}

/* What the sums of some rows begin with. */
HG_INLINE void igemm_starts(const int rows, const hg_igemm_tile *t, int64_t row, int64_t panel,
                            __m512i *sum, const int step)
{
    sum[0] = igemm_start(t, row, panel);
    HG_GEMM_UNROLL
    for (int i = 1; i < rows; i++)
        sum[i * step] = t->is_single ? sum[0] : igemm_start(t, row + i, panel);
    if (t->zero_b == NULL) return;
    const __m512i zero = _mm512_loadu_si512(t->zero_b + panel * HG_PANEL);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i * step] = _mm512_sub_epi32(
            sum[i * step], _mm512_mullo_epi32(zero, _mm512_set1_epi32(t->rest[row + i])));
}

/* Weights that a tile prefetches, a line for each quad: those of the panels from `panel` on, which
 * are next; tiles of the rows before have fetched others. */
HG_INLINE const int8_t *igemm_next(const hg_igemm_tile *t, int64_t row, int64_t panel)
{
    const int64_t step = hg_igemm_panel_bytes(t->quads), i = (t->done + row) / IGEMM_ROWS;
    const int8_t *next = t->b + (panel + i) * step;
    return i < IGEMM_PANELS && next < t->b_end ? next : t->b;
}

/* Lines that the epilogue will write in some rows of a tile. */
HG_INLINE void igemm_fetch_out(const int rows, const hg_igemm_tile *t, int64_t row, int64_t panel)
{
    const char *out = t->out + row * t->out_step + panel * HG_PANEL * t->out_size;
    for (int i = 0; i < rows; i++, out += t->out_step)
        for (int64_t at = 0; at < IGEMM_PANELS * HG_PANEL * t->out_size; at += 64)
            _mm_prefetch(out + at, _MM_HINT_T0);
}

/* Adds products of `quads` quads, the first of which are at a and b; panels lie `step` apart.
 * Addresses are few: rows and panels share their registers with the next ones. */
HG_INLINE void igemm_quads(const int rows, const int panels, const uint8_t *a, int64_t lda,
                           const int8_t *b, int64_t step, int64_t quads, const bool fetches,
                           const int8_t *next, __m512i sum[IGEMM_ROWS][IGEMM_PANELS])
{
    const uint8_t *low = a + (rows > 3 ? 3 * lda : 0);
    const int8_t *right = b + (panels > 2 ? 2 * step : 0);
    for (; quads > 0; quads--) {
        __m512i w[IGEMM_PANELS];
        HG_GEMM_UNROLL
        for (int p = 0; p < panels; p++)
            w[p] = _mm512_loadu_si512((p < 2 ? b : right) + p % 2 * step);
        if (fetches) {
            _mm_prefetch((const char *)next, _MM_HINT_T1);
            next += HG_QUAD_BYTES;
        }
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            int32_t quad;
            memcpy(&quad, (i < 3 ? a : low) + i % 3 * lda, sizeof quad);
            const __m512i x = _mm512_set1_epi32(quad);
            HG_GEMM_UNROLL
            for (int p = 0; p < panels; p++)
                sum[i][p] = _mm512_dpbusd_epi32(sum[i][p], x, w[p]);
        }
        a += HG_QUAD;
        low += HG_QUAD;
        b += HG_QUAD_BYTES;
        right += HG_QUAD_BYTES;
    }
}

HG_INLINE void igemm_block(const int rows, const int panels, const hg_igemm_tile *t, int64_t row,
                           int64_t panel)
{
    const int64_t step = hg_igemm_panel_bytes(t->quads), lda = t->lda, ldc = t->ldc;
    const int8_t *b = t->b + panel * step;
    const uint8_t *a = t->a + row * lda;
    int32_t *c = t->c + row * ldc + panel * HG_PANEL;
    __m512i sum[IGEMM_ROWS][IGEMM_PANELS];
    HG_GEMM_UNROLL
    for (int p = 0; p < panels; p++)
        igemm_starts(rows, t, row, panel + p, &sum[0][p], IGEMM_PANELS);
    if (rows < 4 || panels < IGEMM_PANELS) {
        igemm_quads(rows, panels, a, lda, b, step, t->quads, false, NULL, sum);
    } else {
        /* in two halves: memory takes so many lines at once */
        const int8_t *next = igemm_next(t, row, panel + panels);
        const int64_t half = t->quads / 2;
        for (int64_t q = 0, k = 0; k < 2; k++) {
            igemm_fetch_out(rows / 2, t, row + k * rows / 2, panel);
            igemm_quads(rows, panels, a + q * HG_QUAD, lda, b + q * HG_QUAD_BYTES, step,
                        k == 0 ? half : t->quads - half, true, next + q * HG_QUAD_BYTES, sum);
            q = half;
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < panels; p++)
            _mm512_storeu_si512(c + i * ldc + p * HG_PANEL, sum[i][p]);
    }
}

#define IGEMM_BLOCK(rows, panels)                                                                  \
    static void igemm_##rows##x##panels(const hg_igemm_tile *t, int64_t row, int64_t panel)        \
    {                                                                                              \
        igemm_block(rows, panels, t, row, panel);                                                  \
    }
IGEMM_BLOCK(1, 1)
IGEMM_BLOCK(1, 2)
IGEMM_BLOCK(1, 4)
IGEMM_BLOCK(2, 1)
IGEMM_BLOCK(2, 2)
IGEMM_BLOCK(2, 4)
IGEMM_BLOCK(4, 1)
IGEMM_BLOCK(4, 2)
IGEMM_BLOCK(4, 4)
IGEMM_BLOCK(6, 1)
IGEMM_BLOCK(6, 2)
IGEMM_BLOCK(6, 4)
#undef IGEMM_BLOCK

static void igemm_rows(const hg_igemm_tile *t, int64_t panel, int wide)
{
    typedef void (*block_fn)(const hg_igemm_tile *t, int64_t row, int64_t panel);
    static const block_fn table[3][4] = {{igemm_1x1, igemm_2x1, igemm_4x1, igemm_6x1},
                                         {igemm_1x2, igemm_2x2, igemm_4x2, igemm_6x2},
                                         {igemm_1x4, igemm_2x4, igemm_4x4, igemm_6x4}};
    static const int height[4] = {1, 2, 4, 6};
    for (int64_t row = 0; row < t->rows;) {
        const int64_t left = t->rows - row;
        const int size = left >= 6 ? 3 : left >= 4 ? 2 : left >= 2 ? 1 : 0;
        table[wide][size](t, row, panel);
        row += height[size];
    }
}

static void igemm_tile(const hg_igemm_tile *t)
{
    for (int64_t panel = 0; panel < t->panels;) {
        const int64_t left = t->panels - panel;
        const int wide = left >= 4 ? 2 : left >= 2 ? 1 : 0;
        igemm_rows(t, panel, wide);
        panel += 1 << wide;
    }
}

static uint32_t igemm_sum(const uint8_t *a, int64_t count)
{
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i sum = _mm512_setzero_si512();
    int64_t i = 0;
    for (; i + 64 <= count; i += 64)
        sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(a + i), ones);
    const __mmask64 rest = (UINT64_C(1) << (count - i)) - 1;
    sum = _mm512_dpbusd_epi32(sum, _mm512_maskz_loadu_epi8(rest, a + i), ones);
    return (uint32_t)_mm512_reduce_add_epi32(sum);
}

const hg_igemm_form hg_igemm_avx512 = {.tile = igemm_tile,
                                       .sum = igemm_sum,
                                       .rows = 4 * IGEMM_ROWS,
                                       .lane = hg_lane_run_avx2,
                                       .finish = hg_igemm_finish_avx512,
                                       .lookup = hg_table_bytes_avx512,
                                       .looks = true};
