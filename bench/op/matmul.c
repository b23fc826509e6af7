/* matmul.c - matmul and matmul.p16 on the shapes networks use, one thread. */
#include "bench.h"

#include "base/cpu.h"
#include "kernel/pack.h"

#include <math.h>

extern const hg_kernel hg_kernels_matmul[], hg_kernels_matmul_p16[], hg_kernels_pack[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_matmul_avx2[], hg_kernels_matmul_p16_avx2[];
#endif

typedef struct shape {
    int64_t batch, m, n, k;
} shape;

/* The last eight have little to add up, or few columns. */
static const shape packed_shapes[] = {
    {1, 1024, 1024, 1024}, {1, 512, 512, 512}, {1, 128, 384, 384}, {1, 128, 1536, 384},
    {1, 128, 384, 1536},   {1, 3136, 64, 576}, {1, 196, 512, 512}, {1, 1500, 512, 512},
    {1, 12544, 16, 64},    {1, 49, 1000, 512}, {1, 1, 1536, 384},  {1, 1, 4096, 4096},
    {1, 2, 1536, 384},     {1, 3, 1536, 384},  {1, 4, 1536, 384},  {1, 5, 1536, 384},
    {1, 6, 1536, 384},     {1, 7, 1536, 384},  {1, 8, 1536, 384},  {1, 12, 1536, 384},
    {1, 13, 1536, 384},    {1, 16, 1536, 384}, {1, 17, 1536, 384}, {1, 24, 1536, 384},
    {1, 100, 77, 333},     {1, 128, 384, 8},   {1, 128, 384, 16},  {1, 128, 384, 32},
    {1, 512, 512, 32},     {1, 12544, 32, 16}, {1, 12, 64, 32},    {1, 15, 24, 256},
    {1, 196, 24, 144},
};

static const struct {
    shape s;
    int trans_a, trans_b;
} plain_shapes[] = {
    {{1, 1024, 1024, 1024}, 0, 0}, {{1, 512, 512, 512}, 0, 0},  {{1, 512, 512, 512}, 0, 1},
    {{1, 512, 512, 512}, 1, 0},    {{1, 512, 512, 512}, 1, 1},  {{12, 128, 128, 64}, 0, 1},
    {{12, 128, 64, 128}, 0, 0},    {{12, 128, 128, 32}, 0, 0},  {{12, 128, 32, 128}, 0, 0},
    {{6, 1500, 1500, 64}, 0, 1},   {{6, 1500, 64, 1500}, 0, 0}, {{6, 1500, 1500, 64}, 0, 0},
    {{12, 1, 1500, 64}, 0, 1},     {{12, 1, 64, 1500}, 0, 0},   {{12, 1, 1500, 64}, 0, 0},
    {{12, 4, 1500, 64}, 0, 1},     {{12, 4, 64, 1500}, 0, 0},   {{1, 1, 1536, 384}, 0, 1},
    {{1, 197, 77, 64}, 0, 1},
};

static void bench_packed(const hg_kernel *k, const char *variant, uint32_t cpu, double peak,
                         holo_dtype dtype)
{
    for (size_t i = 0; i < HG_COUNT(packed_shapes); i++) {
        const shape s = packed_shapes[i];
        double one = 1;
        int64_t alpha;
        memcpy(&alpha, &one, sizeof alpha);
        holo_tensor in[2] = {
            bench_tensor(HOLO_F32, 2, (int64_t[]){s.m, s.k}),
            bench_tensor(dtype, 3, (int64_t[]){hg_panels(s.n), s.k, HG_PANEL}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 2, (int64_t[]){s.m, s.n});
        const hg_args a = {.in = in,
                           .out = &out,
                           .param = &alpha,
                           .n_in = 2,
                           .n_out = 1,
                           .n_param = 1,
                           .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "p16 %s %s %lldx%lldx%lld", variant,
                 dtype == HOLO_F16 ? "f16" : "f32", (long long)s.m, (long long)s.n, (long long)s.k);
        bench_run(name, k, &a, peak, 0.2);
        free(in[0].data);
        free(in[1].data);
        free(out.data);
    }
}

static void bench_plain(const hg_kernel *k, const char *variant, uint32_t cpu, double peak)
{
    for (size_t i = 0; i < HG_COUNT(plain_shapes); i++) {
        const shape s = plain_shapes[i].s;
        const int ta = plain_shapes[i].trans_a, tb = plain_shapes[i].trans_b;
        double one = 1;
        int64_t param[3] = {ta, tb, 0};
        memcpy(&param[2], &one, sizeof one);
        holo_tensor in[2] = {
            bench_tensor(HOLO_F32, 3, (int64_t[]){s.batch, ta ? s.k : s.m, ta ? s.m : s.k}),
            bench_tensor(HOLO_F32, 3, (int64_t[]){s.batch, tb ? s.n : s.k, tb ? s.k : s.n}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 3, (int64_t[]){s.batch, s.m, s.n});
        const hg_args a = {
            .in = in, .out = &out, .param = param, .n_in = 2, .n_out = 1, .n_param = 3, .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "%s %lldx%lldx%lldx%lld%s%s", variant, (long long)s.batch,
                 (long long)s.m, (long long)s.n, (long long)s.k, ta ? " A'" : "", tb ? " B'" : "");
        bench_run(name, k, &a, peak, 0.2);
        free(in[0].data);
        free(in[1].data);
        free(out.data);
    }
}

/* The kernel's share of the peak: the best of several turns of both, since the machine's clock and
 * its other tenants move from second to second. `seconds` is the shortest run. */
static double bench_share(const hg_kernel *k, const hg_args *a, double *seconds)
{
    enum { TURNS = 4 };
    hg_cost cost = {0};
    k->cost(a, &cost);
    double peak = 0;
    *seconds = 1e9;
    for (int i = 0; i < TURNS; i++) {
        peak = fmax(peak, bench_peak());
        *seconds = fmin(*seconds, bench_run(NULL, k, a, 0, 0.01));
    }
    return cost.flops / *seconds / 1e9 / peak;
}

/* Packed float32 with K and N from 256 to 4096: for each number of rows the slowest of those shapes
 * and the geometric mean, in per cent of the peak and, for few rows, in bytes of weights. */
static void bench_grid(const hg_kernel *k, uint32_t cpu)
{
    static const int64_t rows[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512};
    static const int64_t sizes[] = {256, 512, 1024, 2048, 4096};
    double one = 1;
    int64_t alpha;
    memcpy(&alpha, &one, sizeof alpha);
    printf("%6s %8s %8s %12s %10s\n", "M", "mean", "least", "N x K", "GB/s");
    for (size_t i = 0; i < HG_COUNT(rows); i++) {
        double least = 1e9, sum = 0, bytes = 0, time = 0;
        int64_t n_least = 0, k_least = 0;
        for (size_t j = 0; j < HG_COUNT(sizes) * HG_COUNT(sizes); j++) {
            const int64_t m = rows[i], n = sizes[j % HG_COUNT(sizes)],
                          depth = sizes[j / HG_COUNT(sizes)];
            holo_tensor in[2] = {
                bench_tensor(HOLO_F32, 2, (int64_t[]){m, depth}),
                bench_tensor(HOLO_F32, 3, (int64_t[]){hg_panels(n), depth, HG_PANEL}),
            };
            holo_tensor out = bench_tensor(HOLO_F32, 2, (int64_t[]){m, n});
            const hg_args a = {.in = in,
                               .out = &out,
                               .param = &alpha,
                               .n_in = 2,
                               .n_out = 1,
                               .n_param = 1,
                               .cpu = cpu};
            double t;
            const double rate = bench_share(k, &a, &t);
            sum += log(rate);
            bytes += 4.0 * (double)n * (double)depth;
            time += t;
            if (rate < least) least = rate, n_least = n, k_least = depth;
            free(in[0].data);
            free(in[1].data);
            free(out.data);
        }
        const double count = (double)(HG_COUNT(sizes) * HG_COUNT(sizes));
        printf("%6lld %7.1f%% %7.1f%% %5lld x %4lld %10.1f\n", (long long)rows[i],
               100 * exp(sum / count), 100 * least, (long long)n_least, (long long)k_least,
               1e-9 * bytes / time);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *part = argc < 2 ? "" : argv[1];
    const double peak = bench_peak();
    printf("peak %.1f GFLOP/s\n", peak);
#if defined(__x86_64__)
    const uint32_t wide = hg_cpu_features();
    const char *variant = wide & HG_CPU_AVX512 ? "avx512" : "avx2";
    if (part[0] == 0 || strcmp(part, "f32") == 0)
        bench_packed(hg_kernels_matmul_p16_avx2, variant, wide, peak, HOLO_F32);
    if (part[0] == 0 || strcmp(part, "f16") == 0)
        bench_packed(hg_kernels_matmul_p16_avx2, variant, wide, peak, HOLO_F16);
    if (part[0] == 0 || strcmp(part, "plain") == 0)
        bench_plain(hg_kernels_matmul_avx2, variant, wide, peak);
    if (strcmp(part, "avx2") == 0)
        bench_packed(hg_kernels_matmul_p16_avx2, "avx2", 0, peak, HOLO_F32);
    if (strcmp(part, "grid") == 0) bench_grid(hg_kernels_matmul_p16_avx2, wide);
#endif
    if (strcmp(part, "reference") == 0) {
        bench_packed(hg_kernels_matmul_p16, "reference", 0, peak, HOLO_F32);
        bench_plain(hg_kernels_matmul, "reference", 0, peak);
    }
    return 0;
}
