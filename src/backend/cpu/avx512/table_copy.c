/* table_copy.c - table.copy with AVX-512 VBMI: pixels are looked up in registers. */
#include "backend/cpu/move.h"

#include <immintrin.h>

enum { TABLE_COPY_PARTS = 4 };

typedef __m512i table_copy_part;

HG_INLINE void table_copy_load(const uint8_t *entry, __m512i part[TABLE_COPY_PARTS])
{
    for (int k = 0; k < TABLE_COPY_PARTS; k++)
        part[k] = _mm512_loadu_si512(entry + 64 * k);
}

/* One permutation for each value of bit 7. */
HG_INLINE __m256i table_copy_at(const __m512i *part, __m256i v)
{
    const __m512i k = _mm512_castsi256_si512(v);
    const __m256i low = _mm512_castsi512_si256(_mm512_permutex2var_epi8(part[0], k, part[1])),
                  high = _mm512_castsi512_si256(_mm512_permutex2var_epi8(part[2], k, part[3]));
    return _mm256_blendv_epi8(low, high, v);
}

#define TABLE_COPY_BLOCK hg_table_block_avx512
#include "backend/cpu/table_copy_run.inc"

const hg_kernel hg_kernels_table_copy_avx512[] = {
    {.name = "table.copy",
     .cpu = HG_CPU_AVX2 | HG_CPU_AVX512,
     .check = hg_table_copy_check,
     .units = hg_table_copy_units,
     .scratch = hg_table_copy_scratch,
     .run = table_copy_run},
    {0},
};
