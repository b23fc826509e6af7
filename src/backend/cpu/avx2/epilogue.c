/* epilogue.c - simple epilogues with AVX2 (epilogue.h) on any number of columns. */
#include "backend/cpu/avx2/epilogue.h"
#include "backend/cpu/avx2/part8.h"

/* Less than eight columns, moved to where eight can be read. */
enum { FINISH_EDGE = 8, FINISH_EDGE_ROWS = 32 };

static const float *finish_widen(const float *from, int64_t cols, float *to)
{
    if (from == NULL) return NULL;
    _mm256_storeu_ps(to, hg_part8_load(from, cols));
    return to;
}

static void finish_edge(const hg_epilogue_simple *e, const finish_terms *t, float *c, int64_t ld,
                        int64_t rows, int64_t cols)
{
    float column[5][FINISH_EDGE], block[FINISH_EDGE_ROWS * FINISH_EDGE];
    float added[HG_EPILOGUE_RESIDUALS][FINISH_EDGE_ROWS * FINISH_EDGE];
    finish_terms wide = {.bias = finish_widen(t->bias, cols, column[0]),
                         .bias2 = finish_widen(t->bias2, cols, column[1]),
                         .gain = finish_widen(t->gain, cols, column[2]),
                         .lift = finish_widen(t->lift, cols, column[3]),
                         .slope = finish_widen(t->slope, cols, column[4])};
    for (int64_t i = 0; i < rows; i += FINISH_EDGE_ROWS) {
        const int64_t count = hg_min(FINISH_EDGE_ROWS, rows - i);
        for (int64_t k = 0; k < count; k++) {
            (void)finish_widen(c + (i + k) * ld, cols, block + k * FINISH_EDGE);
            const hg_epilogue_at at = hg_epilogue_residuals_from(e, t->residual, ld, i + k, 0);
            for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
                if (!e->residual[n].per_row)
                    (void)finish_widen(at.data[n], cols, added[n] + k * FINISH_EDGE);
        }
        wide.residual = hg_epilogue_residuals_from(e, t->residual, ld, i, 0);
        for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++)
            if (t->residual.data[n] != NULL && !e->residual[n].per_row)
                wide.residual.data[n] = added[n];
        finish_all(e, &wide, block, FINISH_EDGE, count, FINISH_EDGE);
        for (int64_t k = 0; k < count; k++)
            hg_part8_store(c + (i + k) * ld, cols, _mm256_loadu_ps(block + k * FINISH_EDGE));
    }
}

/* Rows that lie one behind the other, and nothing that differs from column to column: they are as
 * well one row, which has one edge instead of one for each. */
static bool finish_is_row(const hg_epilogue_simple *e, const float *bias, int64_t ld, int64_t cols)
{
    return ld == cols && bias == NULL && !hg_epilogue_has_columns(e) && !hg_epilogue_has_rows(e);
}

void hg_gemm_finish_avx2(const hg_epilogue_simple *e, const float *bias, const float *bias2,
                         hg_epilogue_at residual, float *c, int64_t ld, int64_t rows, int64_t col,
                         int64_t cols)
{
    if (finish_is_row(e, bias, ld, cols)) {
        cols *= rows;
        rows = 1;
    }
#if HG_HAS_AVX512
    /* a short row in two pieces takes as long as with AVX2 alone */
    if ((e->cpu & HG_CPU_AVX512) != 0 && (cols % 16 == 0 || cols >= 64)) {
        hg_gemm_finish_avx512(e, bias, bias2, residual, c, ld, rows, col, cols);
        return;
    }
#endif
    const int64_t whole = cols / FINISH_EDGE * FINISH_EDGE;
    const finish_terms t = finish_terms_of(e, bias, bias2, residual, col);
    if (whole > 0) finish_all(e, &t, c, ld, rows, whole);
    if (whole == cols) return;
    const finish_terms rest = finish_behind(e, &t, whole);
    finish_edge(e, &rest, c + whole, ld, rows, cols - whole);
}
