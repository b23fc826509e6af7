/* move.h - bytes that are moved, and looked up on the way: what instruction sets bring along. */
#ifndef HG_BACKEND_CPU_MOVE_H
#define HG_BACKEND_CPU_MOVE_H

#include "kernel/table_copy.h"

/* hg_copy_tile (copy_bytes.c). */
void hg_copy_tile_avx2(uint8_t *y, const uint8_t *x, hg_copy_grid g, const void *look);
/* hg_table_block (the table.c of each). */
void hg_table_block_avx2(const hg_table *t, const hg_copy_part *part);
void hg_table_block_avx512(const hg_table *t, const hg_copy_part *part);
void hg_table_block_neon(const hg_table *t, const hg_copy_part *part);
void hg_table_block_wasm(const hg_table *t, const hg_copy_part *part);

#endif
