/* row.c - rows of a softmax with AVX-512: those of avx2/row8.h sixteen wide. */
#include "backend/cpu/avx512/vec16.h"

#include "backend/cpu/avx2/row8.h"

float hg_row_max_avx512(const float *x, int64_t n)
{
    return row_max(x, n);
}

float hg_row_exp_avx512(float *x, int64_t n, float max)
{
    return row_exp(false, x, x, n, max);
}

void hg_row_softmax_avx512(const float *x, float *y, int64_t n, bool is_log)
{
    row_softmax(x, y, n, is_log);
}
