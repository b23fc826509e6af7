/* move.h - bytes that are moved, and looked up on the way: what instruction sets bring along. */
#ifndef HG_BACKEND_CPU_MOVE_H
#define HG_BACKEND_CPU_MOVE_H

#include "kernel/table_copy.h"

extern hg_copy_tile hg_copy_tile_avx2; /* copy_bytes.c */
/* The table.c of each. */
extern hg_table_block hg_table_block_avx2, hg_table_block_avx512, hg_table_block_neon,
    hg_table_block_wasm;

#endif
