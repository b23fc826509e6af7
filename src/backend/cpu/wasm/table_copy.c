/* table_copy.c - table.copy with SIMD of WebAssembly. */
#include "backend/cpu/move.h"

static const hg_table_copy_form table_copy_form = {.block = hg_table_block_wasm};

static void table_copy_run(const hg_args *a, hg_range r)
{
    hg_table_copy_run(a, r, &table_copy_form);
}

const hg_kernel hg_kernels_table_copy_wasm[] = {
    {.name = "table.copy",
     .cpu = HG_CPU_WASM,
     .check = hg_table_copy_check,
     .units = hg_table_copy_units,
     .scratch = hg_table_copy_scratch,
     .run = table_copy_run},
    {0},
};
