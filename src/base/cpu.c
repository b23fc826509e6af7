/* cpu.c - cpuid and xgetbv on x86; on other processors what the compiler was told. */
#include "base/cpu.h"

/* The values of HG_CPU_* in isa/kernel.h, which this layer may not include; a test compares them.
 */
enum {
    CPU_AVX2 = 1 << 0,
    CPU_AVX512 = 1 << 1,
    CPU_NEON = 1 << 2,
    CPU_WASM = 1 << 3,
    CPU_VNNI = 1 << 4
};

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

enum {
    CPU_STATE_AVX = 0x06,   /* xmm and ymm registers are saved on a switch */
    CPU_STATE_AVX512 = 0xe6 /* and mask registers and zmm */
};

typedef struct cpu_leaf {
    uint32_t eax, ebx, ecx, edx;
} cpu_leaf;

static cpu_leaf cpu_ask(uint32_t leaf)
{
    cpu_leaf r = {0};
    if (!__get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx)) return (cpu_leaf){0};
    return r;
}

/* Register state that the operating system saves; needs OSXSAVE. */
static uint32_t cpu_saved_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool cpu_has(uint32_t word, uint32_t bits)
{
    return (word & bits) == bits;
}

uint32_t hg_cpu_features(void)
{
    const cpu_leaf one = cpu_ask(1), seven = cpu_ask(7);
    if (!cpu_has(one.ecx, bit_OSXSAVE | bit_AVX)) return 0;
    const uint32_t state = cpu_saved_state();
    uint32_t features = 0;
    if (cpu_has(state, CPU_STATE_AVX) && cpu_has(one.ecx, bit_FMA | bit_F16C) &&
        cpu_has(seven.ebx, bit_AVX2 | bit_BMI2))
        features |= CPU_AVX2;
    if (!cpu_has(state, CPU_STATE_AVX512) || !cpu_has(seven.ebx, bit_AVX512F | bit_AVX512VL))
        return features;
    if (cpu_has(seven.ecx, bit_AVX512VNNI)) features |= CPU_VNNI;
    if (features == (CPU_AVX2 | CPU_VNNI) && cpu_has(seven.ebx, bit_AVX512BW | bit_AVX512DQ) &&
        cpu_has(seven.ecx, bit_AVX512VBMI))
        features |= CPU_AVX512;
    return features;
}

#else

uint32_t hg_cpu_features(void)
{
#if defined(__aarch64__) || defined(__ARM_NEON)
    return CPU_NEON;
#elif defined(__wasm_simd128__)
    return CPU_WASM;
#else
    return 0;
#endif
}

#endif
