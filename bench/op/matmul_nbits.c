/* matmul_nbits.c - matmul.nbits on the shapes language models use, one thread. */
#include "bench.h"

#include "base/cpu.h"

extern const hg_kernel hg_kernels_matmul_nbits[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_matmul_nbits_avx2[], hg_kernels_matmul_nbits_avx512[];
#endif

static const struct {
    int64_t m, n, k, bits, block;
} nbits_shapes[] = {
    {1, 4096, 4096, 4, 32},  {1, 4096, 4096, 4, 128},  {1, 2048, 2048, 4, 32},
    {1, 2048, 2048, 8, 32},  {1, 2048, 2048, 2, 64},   {16, 2048, 2048, 4, 32},
    {64, 2048, 2048, 4, 32}, {128, 2048, 2048, 8, 32},
};

static void bench_nbits(const hg_kernel *k, const char *variant, uint32_t cpu, double peak)
{
    for (size_t i = 0; i < HG_COUNT(nbits_shapes); i++) {
        const int64_t m = nbits_shapes[i].m, n = nbits_shapes[i].n, depth = nbits_shapes[i].k;
        const int64_t param[] = {nbits_shapes[i].bits, nbits_shapes[i].block};
        const int64_t blocks = depth / param[1];
        holo_tensor in[3] = {
            bench_tensor(HOLO_F32, 2, (int64_t[]){m, depth}),
            bench_tensor(HOLO_U8, 3, (int64_t[]){n, blocks, param[1] * param[0] / 8}),
            bench_tensor(HOLO_F32, 2, (int64_t[]){n, blocks}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 2, (int64_t[]){m, n});
        const hg_args a = {
            .in = in, .out = &out, .param = param, .n_in = 3, .n_out = 1, .n_param = 2, .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "nbits %s %lld bits by %lld %lldx%lldx%lld", variant,
                 (long long)param[0], (long long)param[1], (long long)m, (long long)n,
                 (long long)depth);
        bench_run(name, k, &a, peak, 0.2);
        for (int t = 0; t < 3; t++)
            free(in[t].data);
        free(out.data);
    }
}

int main(void)
{
    const double peak = bench_peak();
#if defined(__x86_64__)
    bench_nbits(hg_kernels_matmul_nbits_avx2, "avx2", HG_CPU_AVX2, peak);
    if (hg_cpu_features() & HG_CPU_AVX512)
        bench_nbits(hg_kernels_matmul_nbits_avx512, "avx512", hg_cpu_features(), peak);
#endif
    bench_nbits(hg_kernels_matmul_nbits, "reference", 0, peak);
    return 0;
}
