/* cpu.h - what the processor at hand can do. */
#ifndef HG_BASE_CPU_H
#define HG_BASE_CPU_H

#include "base/base.h"

/* Bits HG_CPU_* of isa/kernel.h. A bit is set when processor and operating system both support
 * every instruction that the folder of that name is compiled for:
 *   AVX2     AVX2, FMA, F16C, BMI2
 *   AVX512   all of AVX2, and AVX-512 F, BW, VL, DQ, VBMI, VNNI
 *   VNNI     AVX-512 VNNI with VL
 *   NEON     what every 64-bit ARM has
 *   DOTPROD  NEON's dot products of bytes (ARMv8.2)
 *   WIDE     nothing more than AVX512: its multiply-adds take no longer than those of AVX2
 * Costs a few loads. */
uint32_t hg_cpu_features(void);

#endif
