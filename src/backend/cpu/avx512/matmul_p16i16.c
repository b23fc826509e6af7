/* matmul_p16i16.c - matmul.p16i16 with AVX-512 VNNI: vpdpwssd adds two products of 16-bit numbers
 * to each of 16 sums. A panel is widened once for all rows of a tile. */
#include "kernel/matmul_p16i16.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm_wide.h"
#include "backend/cpu/avx2/lane.h"
#include "backend/cpu/avx512/igemm.h"
#include "kernel/pack.h"

enum { P16I16_ROWS = 12, P16I16_PAIR = 2 * HG_PANEL };

HG_INLINE void matmul_p16i16_block(const int rows, const hg_igemm_tile *t, int64_t row,
                                   int64_t panel)
{
    const uint8_t *a = t->a + row * t->lda;
    const int16_t *w = t->panel;
    const char *next = (const char *)t->b + (panel + 1) * hg_igemm_panel_bytes(t->quads);
    __m512i sum[P16I16_ROWS];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i] = _mm512_setzero_si512();
    for (int64_t p = 0; p < 2 * t->quads; p++, w += P16I16_PAIR, a += 4) {
        const __m512i weights = _mm512_loadu_si512(w);
        /* widened next: at memory speed unless it is there by then */
        _mm_prefetch(next + p * HG_QUAD_BYTES / 2, _MM_HINT_T0);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            int32_t pair;
            memcpy(&pair, a + i * t->lda, sizeof pair);
            sum[i] = _mm512_dpwssd_epi32(sum[i], _mm512_set1_epi32(pair), weights);
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        _mm512_storeu_si512(t->c + (row + i) * t->ldc + panel * HG_PANEL, sum[i]);
}

static void matmul_p16i16_tile(const hg_igemm_tile *t)
{
    if (t->rows <= HG_IGEMM_FEW) {
        hg_igemm_few_avx2(t);
        return;
    }
    for (int64_t panel = 0; panel < t->panels; panel++) {
        hg_igemm_widen_panel_avx2(t->b + panel * hg_igemm_panel_bytes(t->quads), t->quads,
                                  t->panel);
        int64_t row = 0;
        for (; row + P16I16_ROWS <= t->rows; row += P16I16_ROWS)
            matmul_p16i16_block(P16I16_ROWS, t, row, panel);
        for (; row + 4 <= t->rows; row += 4)
            matmul_p16i16_block(4, t, row, panel);
        for (; row < t->rows; row++)
            matmul_p16i16_block(1, t, row, panel);
    }
}

static const hg_igemm_form matmul_p16i16_form = {.tile = matmul_p16i16_tile,
                                                 .lane = hg_lane_run_avx2,
                                                 .finish = hg_igemm_finish_avx512,
                                                 .widens_panel = true};

static size_t matmul_p16i16_scratch(const hg_args *a)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    return hg_igemm_scratch(&g, &matmul_p16i16_form);
}

static void matmul_p16i16_run(const hg_args *a, hg_range r)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    hg_igemm_run(&g, &matmul_p16i16_form, r);
}

const hg_kernel hg_kernels_matmul_p16i16_avx512[] = {
    {.name = "matmul.p16i16",
     .cpu = HG_CPU_AVX512,
     .check = hg_matmul_p16i16_check,
     .units = hg_matmul_p16i16_units,
     .scratch = matmul_p16i16_scratch,
     .cost = hg_matmul_p16i16_cost,
     .run = matmul_p16i16_run},
    {0},
};
