/* attention.c - attention on the shapes networks use, one thread, against what it replaces: heads
 * split by copies, scores, softmax, their product with the values, heads merged by a copy. */
#include "bench.h"

#include "base/cpu.h"
#include "kernel/attention.h"

extern const hg_kernel hg_kernels_copy[];
extern const hg_kernel hg_kernels_attention_avx2[], hg_kernels_matmul_avx2[],
    hg_kernels_softmax_avx2[];

typedef struct shape {
    int64_t batch, heads, queries, keys, size;
} shape;

static const shape shapes[] = {
    {2, 3, 256, 256, 32},  {2, 3, 256, 24, 32},   {2, 5, 64, 64, 32},    {2, 5, 64, 24, 32},
    {2, 8, 16, 16, 32},    {1, 4, 24, 24, 64},    {1, 12, 64, 64, 32},   {1, 12, 128, 128, 32},
    {1, 12, 128, 128, 64}, {1, 12, 197, 197, 64}, {1, 12, 512, 512, 64}, {1, 6, 1500, 1500, 64},
    {1, 1, 256, 256, 128}, {1, 12, 8, 8, 64},     {1, 12, 1, 1500, 64},  {1, 12, 1, 64, 64},
    {1, 12, 4, 256, 64},
};

static uint32_t cpu; /* what the kernels may use beside AVX2 */

static int64_t bits(double x)
{
    int64_t i;
    memcpy(&i, &x, sizeof i);
    return i;
}

static double fused(const shape *s, const char *name, double peak)
{
    const int64_t width = 3 * s->heads * s->size;
    holo_tensor in[3] = {
        bench_tensor(HOLO_F32, 3, (int64_t[]){s->batch, s->queries, width}),
        bench_tensor(HOLO_F32, 3, (int64_t[]){s->batch, s->keys, width}),
        bench_tensor(HOLO_F32, 3, (int64_t[]){s->batch, s->keys, width}),
    };
    holo_tensor out =
        bench_tensor(HOLO_F32, 4, (int64_t[]){s->batch, s->queries, s->heads, s->size});
    int64_t param[HG_ATTENTION_PARAMS] = {s->batch, s->heads, s->queries, s->keys,
                                          s->size,  s->size,  1};
    for (int i = 0; i < 3; i++) {
        int64_t *v = param + HG_ATTENTION_VIEWS + 5 * i;
        v[1] = (i == 0 ? s->queries : s->keys) * width;
        v[2] = s->size;
        v[3] = width;
        v[4] = 1;
    }
    param[HG_ATTENTION_LAYOUT] = HG_ATTENTION_BY_ROW;
    param[HG_ATTENTION_SCALE] = bits(0.125);
    const hg_args a = {.in = in,
                       .out = &out,
                       .param = param,
                       .n_in = 3,
                       .n_out = 1,
                       .n_param = HG_ATTENTION_PARAMS,
                       .cpu = cpu};
    const double time = bench_run(name, hg_kernels_attention_avx2, &a, peak, 0.2);
    for (int i = 0; i < 3; i++)
        free(in[i].data);
    free(out.data);
    return time;
}

/* [batch, rows, heads, size] to [batch, heads, rows, size], or with the last two turned. */
static double split(const shape *s, int64_t rows, bool turned)
{
    holo_tensor in = bench_tensor(HOLO_F32, 4, (int64_t[]){s->batch, rows, s->heads, s->size});
    holo_tensor out = bench_tensor(
        HOLO_F32, 4,
        (int64_t[]){s->batch, s->heads, turned ? s->size : rows, turned ? rows : s->size});
    const int64_t row = s->heads * s->size;
    const int64_t param[] = {0,
                             s->batch,
                             rows * row,
                             s->heads,
                             s->size,
                             turned ? s->size : rows,
                             turned ? 1 : row,
                             turned ? rows : s->size,
                             turned ? row : 1};
    const hg_args a = {.in = &in, .out = &out, .param = param, .n_in = 1, .n_out = 1, .n_param = 9};
    const double time = bench_run(NULL, bench_find(hg_kernels_copy, "copy.strided"), &a, 0, 0.05);
    free(in.data);
    free(out.data);
    return time;
}

static double product(const shape *s, int64_t m, int64_t n, int64_t k)
{
    holo_tensor in[2] = {bench_tensor(HOLO_F32, 3, (int64_t[]){s->batch * s->heads, m, k}),
                         bench_tensor(HOLO_F32, 3, (int64_t[]){s->batch * s->heads, k, n})};
    holo_tensor out = bench_tensor(HOLO_F32, 3, (int64_t[]){s->batch * s->heads, m, n});
    const int64_t param[] = {0, 0, bits(1)};
    const hg_args a = {
        .in = in, .out = &out, .param = param, .n_in = 2, .n_out = 1, .n_param = 3, .cpu = cpu};
    const double time = bench_run(NULL, hg_kernels_matmul_avx2, &a, 0, 0.1);
    free(in[0].data);
    free(in[1].data);
    free(out.data);
    return time;
}

static double softmax(const shape *s)
{
    holo_tensor x =
        bench_tensor(HOLO_F32, 3, (int64_t[]){s->batch * s->heads, s->queries, s->keys});
    const int64_t param[] = {2, 0};
    const hg_args a = {
        .in = &x, .out = &x, .param = param, .n_in = 1, .n_out = 1, .n_param = 2, .cpu = cpu};
    const double time = bench_run(NULL, hg_kernels_softmax_avx2, &a, 0, 0.1);
    free(x.data);
    return time;
}

/* With the argument avx2: no AVX-512. */
int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "avx2") != 0) cpu = hg_cpu_features();
    const double peak = bench_peak();
    printf("peak %.1f GFLOP/s\n", peak);
    for (size_t i = 0; i < HG_COUNT(shapes); i++) {
        const shape *s = &shapes[i];
        char name[64];
        snprintf(name, sizeof name, "%lldx%lld %lldx%lld %lld", (long long)s->batch,
                 (long long)s->heads, (long long)s->queries, (long long)s->keys,
                 (long long)s->size);
        const double one = fused(s, name, peak);
        const double copies =
            2 * split(s, s->queries, false) + split(s, s->keys, false) + split(s, s->keys, true);
        const double products =
            product(s, s->queries, s->keys, s->size) + product(s, s->queries, s->size, s->keys);
        const double middle = softmax(s);
        printf("    apart %.4f ms: copies %.4f, products %.4f, softmax %.4f; %.2f times as fast\n",
               1e3 * (copies + products + middle), 1e3 * copies, 1e3 * products, 1e3 * middle,
               (copies + products + middle) / one);
    }
    return 0;
}
