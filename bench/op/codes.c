/* codes.c - exact products and convolutions of 8-bit codes on the shapes networks use, one thread,
 * alone and with the end of a quantised layer (scale, limit, quantise to 8 bits). */
#include "bench.h"

#include "base/cpu.h"
#include "kernel/igemm.h"
#include "kernel/pack.h"

extern const hg_kernel hg_kernels_matmul_p16i8[], hg_kernels_conv_dw_i8[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_matmul_p16i8_avx2[], hg_kernels_matmul_p16i8_avx512[];
extern const hg_kernel hg_kernels_conv_dw_i8_avx2[];
extern const hg_kernel hg_kernels_matmul_p16i16_avx2[], hg_kernels_matmul_p16i16_avx512[];
#endif

static const struct {
    int64_t m, n, k;
} codes_shapes[] = {
    {1024, 1024, 1024}, {128, 384, 384}, {128, 1536, 384}, {1500, 384, 384},
    {3136, 64, 64},     {3136, 256, 64}, {784, 128, 1152}, {49, 512, 4608},
    {64, 1408, 512},    {64, 512, 1408}, {1, 1536, 384},   {1, 4096, 4096},
};

/* limit(round(max(float(x) * scale, 0) / 0.37) + 3) */
static hg_lane_op codes_op[] = {
    {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0},
    {.op = HG_LANE_CAST, .type = HG_LANE_F32, .dst = 1, .a = 0, .index = HG_LANE_I32},
    {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 2, .index = 1},
    {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
    {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x3ebd70a4},
    {.op = HG_LANE_DIV, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
    {.op = HG_LANE_ROUND, .type = HG_LANE_F32, .dst = 1, .a = 1},
    {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x40400000},
    {.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
    {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0},
    {.op = HG_LANE_MAX, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
    {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x437f0000},
    {.op = HG_LANE_MIN, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
    {.op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 0, .a = 1, .index = HG_LANE_F32},
};
static const hg_lane_out codes_out = {.reg = 0, .type = HG_LANE_I32};
static const hg_lane_code codes_end = {.op = codes_op,
                                       .out = &codes_out,
                                       .n_op = HG_COUNT(codes_op),
                                       .n_in = 2,
                                       .n_out = 1,
                                       .n_reg = 3};

static void codes_product(const hg_kernel *k, const char *variant, double peak, int64_t pairs,
                          bool has_end)
{
    const bool is_wide = strcmp(k->name, "matmul.p16i16") == 0;
    for (size_t i = 0; i < HG_COUNT(codes_shapes); i++) {
        const int64_t m = codes_shapes[i].m, n = codes_shapes[i].n, depth = codes_shapes[i].k;
        holo_tensor in[5] = {
            bench_tensor(is_wide ? HOLO_I16 : HOLO_U8, 2, (int64_t[]){m, depth}),
            bench_tensor(HOLO_I8, 3, (int64_t[]){hg_panels(n), hg_quads(depth) + 1, HG_QUAD_BYTES}),
            bench_tensor(HOLO_U8, 1, (int64_t[]){1}),
            {0},
            bench_tensor(HOLO_F32, 1, (int64_t[]){n}),
        };
        if (is_wide) {
            free(in[2].data);
            in[2] = (holo_tensor){0};
        }
        holo_tensor out = bench_tensor(has_end ? HOLO_U8 : HOLO_I32, 2, (int64_t[]){m, n});
        const hg_args a = {.in = in,
                           .out = &out,
                           .param = &pairs,
                           .code = has_end ? &codes_end : NULL,
                           .n_in = has_end ? 5 : 4,
                           .n_out = 1,
                           .n_param = is_wide ? 0 : 1};
        char name[64];
        snprintf(name, sizeof name, "%s %s%s%s %lldx%lldx%lld", k->name + 7, variant,
                 pairs ? " pairs" : "", has_end ? " end" : "", (long long)m, (long long)n,
                 (long long)depth);
        bench_run(name, k, &a, peak, 0.1);
        for (int t = 0; t < 5; t++)
            free(in[t].data);
        free(out.data);
    }
}

static void codes_depthwise(const hg_kernel *k, const char *variant, double peak)
{
    static const int64_t cases[][2] = {{112, 32}, {56, 144}, {28, 192}, {14, 576}, {7, 960}};
    for (size_t i = 0; i < HG_COUNT(cases); i++) {
        const int64_t size = cases[i][0], c = cases[i][1];
        const int64_t param[8] = {3, 3, 1, 1, 1, 1, 1, 1};
        holo_tensor in[5] = {
            bench_tensor(HOLO_U8, 4, (int64_t[]){1, size, size, c}),
            bench_tensor(HOLO_I8, 2, (int64_t[]){9, c}),
            bench_tensor(HOLO_U8, 1, (int64_t[]){1}),
            {0},
            bench_tensor(HOLO_F32, 1, (int64_t[]){c}),
        };
        holo_tensor out = bench_tensor(HOLO_U8, 4, (int64_t[]){1, size, size, c});
        const hg_args a = {.in = in,
                           .out = &out,
                           .param = param,
                           .code = &codes_end,
                           .n_in = 5,
                           .n_out = 1,
                           .n_param = 8};
        char name[64];
        snprintf(name, sizeof name, "dw.i8 %s end %lldx%lldx%lld", variant, (long long)size,
                 (long long)size, (long long)c);
        bench_run(name, k, &a, peak, 0.1);
        for (int t = 0; t < 5; t++)
            free(in[t].data);
        free(out.data);
    }
}

int main(void)
{
    const double peak = bench_peak();
    printf("peak %.1f GFLOP/s (f32)\n", peak);
    codes_product(hg_kernels_matmul_p16i8, "portable", peak, 0, false);
    codes_depthwise(hg_kernels_conv_dw_i8, "portable", peak);
#if defined(__x86_64__)
    if (hg_cpu_features() & HG_CPU_AVX2) {
        codes_product(hg_kernels_matmul_p16i8_avx2, "avx2", peak, 0, false);
        codes_product(hg_kernels_matmul_p16i8_avx2, "avx2", peak, 1, false);
        codes_product(hg_kernels_matmul_p16i8_avx2, "avx2", peak, 1, true);
        codes_product(hg_kernels_matmul_p16i16_avx2, "avx2", peak, 0, false);
        codes_depthwise(hg_kernels_conv_dw_i8_avx2, "avx2", peak);
    }
    if (hg_cpu_features() & HG_CPU_AVX512) {
        codes_product(hg_kernels_matmul_p16i8_avx512, "avx512", peak, 0, false);
        codes_product(hg_kernels_matmul_p16i8_avx512, "avx512", peak, 0, true);
        codes_product(hg_kernels_matmul_p16i16_avx512, "avx512", peak, 0, false);
    }
#endif
    return 0;
}
