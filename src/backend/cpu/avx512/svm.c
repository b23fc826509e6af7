/* svm.c - tiles of avx2/svm.h with AVX-512. */
#include "backend/cpu/avx512/vec16.h"

#include "backend/cpu/avx2/svm.h"

void hg_svm_tile_avx512(const double *x, const double *v, int64_t n, hg_svm_how how, double *to,
                        int64_t ld)
{
    hg_svm_tile(x, v, n, how, to, ld);
}
