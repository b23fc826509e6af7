/* variants.h - the tuned kernels of the instruction sets at hand, so that one test serves them all:
 * TUNED(stem) is the table of a stem, TUNED_DOT(stem) that of a set with dot products of bytes. Not
 * defined where there are none. */
#ifndef HG_TEST_KERNEL_VARIANTS_H
#define HG_TEST_KERNEL_VARIANTS_H

#include "base/cpu.h"
#include "isa/kernel.h"

#if defined(__x86_64__)
#define TUNED(stem) hg_kernels_##stem##_avx2
#define TUNED_CPU HG_CPU_AVX2
#define TUNED_DOT(stem) hg_kernels_##stem##_avx512
#define TUNED_DOT_CPU HG_CPU_AVX512
#elif defined(__aarch64__)
#define TUNED(stem) hg_kernels_##stem##_neon
#define TUNED_CPU HG_CPU_NEON
#define TUNED_DOT(stem) hg_kernels_##stem##_dotprod
#define TUNED_DOT_CPU HG_CPU_DOTPROD
#endif

/* All the processor has; where that is AVX-512, its tiles are used or not, whether they pay here or
 * not. */
static inline uint32_t tuned_features(bool is_wide)
{
    const uint32_t features = hg_cpu_features();
    return is_wide && (features & HG_CPU_AVX512) != 0 ? features | HG_CPU_WIDE
                                                      : features & ~(uint32_t)HG_CPU_WIDE;
}

#if defined(TUNED)
/* Whether this machine can run them. */
static inline bool tuned_runs(void)
{
    return (hg_cpu_features() & TUNED_CPU) != 0;
}

static inline bool tuned_dot_runs(void)
{
    return (hg_cpu_features() & TUNED_DOT_CPU) != 0;
}
#endif

#endif
