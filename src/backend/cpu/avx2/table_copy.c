/* table_copy.c - table.copy with AVX2: pixels are looked up in registers. */
#include "backend/cpu/move.h"

#include "backend/cpu/avx2/table_whole.h"

enum { TABLE_COPY_PARTS = 16 };

typedef __m256i table_copy_part;

#define table_copy_load lookup_quarters
#define table_copy_at lookup_whole

#define TABLE_COPY_BLOCK hg_table_block_avx2
#include "backend/cpu/table_copy_run.inc"

const hg_kernel hg_kernels_table_copy_avx2[] = {
    {.name = "table.copy",
     .cpu = HG_CPU_AVX2,
     .check = hg_table_copy_check,
     .units = hg_table_copy_units,
     .scratch = hg_table_copy_scratch,
     .run = table_copy_run},
    {0},
};
