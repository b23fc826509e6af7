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
    CPU_DOTPROD = 1 << 5
};

#if defined(__x86_64__) || defined(__i386__)

/* The compiler's runtime asks cpuid and xgetbv once, when the program starts; asking at every open
 * costs 10 us in a virtual machine, where cpuid traps. Every processor with AVX2 has F16C, which
 * clang cannot be asked. */
uint32_t hg_cpu_features(void)
{
    uint32_t features = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        features |= CPU_AVX2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl")) return features;
    if (__builtin_cpu_supports("avx512vnni")) features |= CPU_VNNI;
    if (features == (CPU_AVX2 | CPU_VNNI) && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi"))
        features |= CPU_AVX512;
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
