/* cpu.c - what the processor can do; on others than x86 and ARM with Linux what the compiler was
 * told. */
#include "base/cpu.h"

/* The values of HG_CPU_* in isa/kernel.h, which this layer may not include; a test compares them.
 */
enum {
    CPU_AVX2 = 1 << 0,
    CPU_AVX512 = 1 << 1,
    CPU_NEON = 1 << 2,
    CPU_WASM = 1 << 3,
    CPU_VNNI = 1 << 4,
    CPU_DOTPROD = 1 << 5,
    CPU_WIDE = 1 << 6
};

#if defined(__x86_64__) || defined(__i386__)

/* Asking cpuid at every open costs 10 us in a virtual machine, where it traps. The C library of GNU
 * has asked already, when the program started; where there is another, the compiler's runtime asks
 * once more, with 4 kB of code. */
#if defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define CPU_HAS(feature, name) cpu_is_active(x86_cpu_##feature)

/* The header's own function shifts 1 by 31, which an int cannot hold. */
static bool cpu_is_active(uint32_t index)
{
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(index / 128);
    return (leaf->active_array[index / 32 % 4] >> index % 32 & 1) != 0;
}
#endif
#endif
#ifndef CPU_HAS
#define CPU_HAS(feature, name) (__builtin_cpu_init(), __builtin_cpu_supports(name) != 0)
#endif

/* Every processor with AVX2 has F16C, which clang cannot be asked. */
uint32_t hg_cpu_features(void)
{
    uint32_t features = 0;
    if (CPU_HAS(AVX2, "avx2") && CPU_HAS(FMA, "fma") && CPU_HAS(BMI2, "bmi2")) features |= CPU_AVX2;
    if (!CPU_HAS(AVX512F, "avx512f") || !CPU_HAS(AVX512VL, "avx512vl")) return features;
    if (CPU_HAS(AVX512_VNNI, "avx512vnni")) features |= CPU_VNNI;
    if (features == (CPU_AVX2 | CPU_VNNI) && CPU_HAS(AVX512BW, "avx512bw") &&
        CPU_HAS(AVX512DQ, "avx512dq") && CPU_HAS(AVX512_VBMI, "avx512vbmi"))
        features |= CPU_AVX512;
    /* SSE4a is AMD's. Zen 4 does 512 bits in two halves; Zen 5, the first with VP2INTERSECT, does
     * not. */
    if ((features & CPU_AVX512) != 0 &&
        (!CPU_HAS(SSE4A, "sse4a") || CPU_HAS(AVX512_VP2INTERSECT, "avx512vp2intersect")))
        features |= CPU_WIDE;
    return features;
}

#elif defined(__aarch64__)

#if defined(__linux__)
#include <sys/auxv.h>
#endif

/* Linux tells a program when it starts. */
uint32_t hg_cpu_features(void)
{
#if defined(__linux__)
    const unsigned long dotprod = 1UL << 20; /* HWCAP_ASIMDDP */
    return (getauxval(AT_HWCAP) & dotprod) != 0 ? CPU_NEON | CPU_DOTPROD : CPU_NEON;
#elif defined(__ARM_FEATURE_DOTPROD)
    return CPU_NEON | CPU_DOTPROD;
#else
    return CPU_NEON;
#endif
}

#else

uint32_t hg_cpu_features(void)
{
#if defined(__wasm_simd128__)
    return CPU_WASM;
#else
    return 0;
#endif
}

#endif
