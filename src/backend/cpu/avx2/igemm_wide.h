/* igemm_wide.h - products of 16-bit numbers and 8-bit codes with AVX2. */
#ifndef HG_BACKEND_CPU_AVX2_IGEMM_WIDE_H
#define HG_BACKEND_CPU_AVX2_IGEMM_WIDE_H

#include "kernel/igemm.h"

/* Keeps the compiler from moving what makes these across what comes next. */
#if defined(__x86_64__)
#define HG_WIDE_NOW(u, v) __asm__ volatile("" : "+x"(u), "+x"(v))
#else
#define HG_WIDE_NOW(u, v) ((void)0)
#endif

/* t->a has int16_t; t->panel is there, and there are no zero points. */
void hg_igemm_wide_avx2(const hg_igemm_tile *t);
/* The same for at most HG_IGEMM_FEW rows, which it calls itself. */
enum { HG_IGEMM_FEW = 4 };
void hg_igemm_few_avx2(const hg_igemm_tile *t);
/* hg_igemm_form.meet of it. */
bool hg_igemm_meet_avx2(const int16_t *a, int64_t width, int64_t rows, int32_t *rest);
/* A panel as 16-bit numbers, [2 quads][16 columns][2 of k]. */
void hg_igemm_widen_panel_avx2(const int8_t *b, int64_t quads, int16_t *to);

#endif
