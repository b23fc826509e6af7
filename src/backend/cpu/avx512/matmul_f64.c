/* matmul_f64.c - tiles of avx2/matmul_f64.h with AVX-512. */
#include "backend/cpu/avx512/vec16.h"

#include "backend/cpu/avx2/matmul_f64.h"

void hg_f64_tile_avx512(const hg_f64_tile *t, int64_t rows)
{
    hg_f64_tile_run(t, rows);
}
