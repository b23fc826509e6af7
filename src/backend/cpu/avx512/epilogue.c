/* epilogue.c - simple epilogues with AVX-512: those of avx2/epilogue.h sixteen wide; what is left
 * of a row is done with AVX2. */
#include "backend/cpu/avx512/vec16.h"

#include "backend/cpu/avx2/epilogue.h"

void hg_gemm_finish_avx512(const hg_epilogue_simple *e, const float *bias, const float *bias2,
                           hg_epilogue_at residual, float *c, int64_t ld, int64_t rows, int64_t col,
                           int64_t cols)
{
    const int64_t whole = cols / HG_LANES * HG_LANES;
    const finish_terms t = finish_terms_of(e, bias, bias2, residual, col);
    if (whole > 0) finish_all(e, &t, c, ld, rows, whole);
    if (whole == cols) return;
    const finish_terms rest = finish_behind(e, &t, whole);
    hg_gemm_finish_avx2(e, rest.bias, rest.bias2, rest.residual, c + whole, ld, rows, col + whole,
                        cols - whole);
}
