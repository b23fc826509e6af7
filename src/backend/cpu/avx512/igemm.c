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

HG_INLINE __m512i igemm_start(const hg_igemm_tile *t, int64_t row, int64_t panel)
{
    const int8_t *sums = t->b + (panel + 1) * hg_igemm_panel_bytes(t->quads) - HG_QUAD_BYTES;
    const __m512i columns = _mm512_loadu_si512(sums);
    __m512i start = _mm512_sub_epi32(
        _mm512_setzero_si512(), _mm512_mullo_epi32(columns, _mm512_set1_epi32(t->zero_a[row])));
    if (t->zero_b == NULL) return start;
    const __m512i zero = _mm512_loadu_si512(t->zero_b + panel * HG_PANEL);
    return _mm512_sub_epi32(start, _mm512_mullo_epi32(zero, _mm512_set1_epi32(t->rest[row])));
}

HG_INLINE void igemm_block(const int rows, const int panels, const hg_igemm_tile *t, int64_t row,
                           int64_t panel)
{
    const int64_t step = hg_igemm_panel_bytes(t->quads), lda = t->lda;
    const int8_t *b = t->b + panel * step;
    const uint8_t *a = t->a + row * lda;
    __m512i sum[6][4];
    HG_GEMM_UNROLL
    for (int p = 0; p < panels; p++) {
        sum[0][p] = igemm_start(t, row, panel + p);
        HG_GEMM_UNROLL
        for (int i = 1; i < rows; i++)
            sum[i][p] = t->is_even ? sum[0][p] : igemm_start(t, row + i, panel + p);
    }
    for (int64_t q = 0; q < t->quads; q++) {
        __m512i w[4];
        HG_GEMM_UNROLL
        for (int p = 0; p < panels; p++)
            w[p] = _mm512_loadu_si512(b + p * step + q * HG_QUAD_BYTES);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            int32_t quad;
            memcpy(&quad, a + i * lda + q * HG_QUAD, sizeof quad);
            const __m512i x = _mm512_set1_epi32(quad);
            HG_GEMM_UNROLL
            for (int p = 0; p < panels; p++)
                sum[i][p] = _mm512_dpbusd_epi32(sum[i][p], x, w[p]);
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int p = 0; p < panels; p++)
            _mm512_storeu_si512(t->c + (row + i) * t->ldc + (panel + p) * HG_PANEL, sum[i][p]);
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

const hg_igemm_form hg_igemm_avx512 = {.tile = igemm_tile,
                                       .lane = hg_lane_run_avx2,
                                       .finish = hg_igemm_finish_avx512,
                                       .lookup = hg_table_bytes_avx512,
                                       .looks = true};
