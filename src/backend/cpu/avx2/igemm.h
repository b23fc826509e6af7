/* igemm.h - products of 8-bit codes with AVX2. */
#ifndef HG_BACKEND_CPU_AVX2_IGEMM_H
#define HG_BACKEND_CPU_AVX2_IGEMM_H

#include "kernel/igemm.h"

extern const hg_igemm_form hg_igemm_avx2;
void hg_igemm_finish_avx2(const hg_finish *f, const hg_epilogue_tile *tile, hg_epilogue_tile *rest);
/* out[i] = entry[codes[i]]; may be in place (table.c). */
void hg_table_bytes_avx2(const uint8_t *entry, const uint8_t *codes, uint8_t *out, int64_t count);

#endif
