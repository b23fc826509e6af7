/* matmul_bits.c - kernel "matmul.bits" with the dot products of NEON. */
#include "backend/cpu/dotprod/igemm.h"

#define BITS_DOT
#define hg_bits_quantize_avx2 hg_bits_quantize_dotprod
#define hg_matmul_bits_scratch_avx2 hg_matmul_bits_scratch_dotprod
#define hg_matmul_bits_run_avx2 hg_matmul_bits_run_dotprod
#define hg_kernels_matmul_bits_avx2 hg_kernels_matmul_bits_dotprod
#include "backend/cpu/avx2/matmul_bits.c"
