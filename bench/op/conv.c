/* conv.c - conv.nhwc, conv.nchw, conv.winograd, conv.dw, conv.pwdw, conv.gated and convtranspose
 * on the shapes networks use, one thread. Argument: a part; with
 * AVX-512 and then without. */
#include "bench.h"

#include "base/cpu.h"
#include "kernel/conv_pwdw.h"
#include "kernel/pack.h"

extern const hg_kernel hg_kernels_conv_nhwc[], hg_kernels_conv_dw[], hg_kernels_conv[];
extern const hg_kernel hg_kernels_conv_gated[], hg_kernels_conv_winograd[];
extern const hg_kernel hg_kernels_conv_pwdw[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_conv_nhwc_avx2[], hg_kernels_conv_dw_avx2[];
extern const hg_kernel hg_kernels_conv_nchw_avx2[];
extern const hg_kernel hg_kernels_conv_avx2[], hg_kernels_conv_gated_avx2[];
extern const hg_kernel hg_kernels_conv_winograd_avx2[], hg_kernels_conv_pwdw_avx2[];
#endif

/* Square kernel, image and stride; padding keeps the size at stride 1. */
typedef struct shape {
    int64_t size, c, o, kernel, stride, groups;
} shape;

static const shape dense_shapes[] = {
    {224, 3, 64, 7, 2, 1},    {224, 3, 32, 3, 2, 1},    {640, 3, 16, 3, 2, 1},
    {56, 64, 64, 3, 1, 1},    {56, 64, 64, 1, 1, 1},    {56, 64, 256, 1, 1, 1},
    {56, 256, 64, 1, 1, 1},   {28, 128, 128, 3, 1, 1},  {56, 128, 128, 3, 2, 1},
    {14, 256, 256, 3, 1, 1},  {7, 512, 512, 3, 1, 1},   {7, 2048, 512, 1, 1, 1},
    {112, 16, 96, 1, 1, 1},   {80, 32, 32, 3, 1, 1},    {160, 16, 16, 3, 1, 1},
    {320, 8, 8, 3, 1, 1},     {56, 128, 128, 3, 1, 32}, {64, 320, 320, 3, 1, 1},
    {256, 128, 3, 3, 1, 1},   {512, 32, 1, 3, 1, 1},    {56, 128, 128, 3, 1, 8},
    {20, 256, 256, 3, 1, 16}, {10, 512, 512, 3, 1, 32},
};

/* Of planes, in front of which conv.nhwc needs a copy. */
static const shape first_shapes[] = {
    {224, 3, 64, 7, 2, 1}, {224, 3, 32, 3, 2, 1}, {224, 3, 48, 3, 2, 1}, {224, 3, 64, 3, 1, 1},
    {640, 3, 16, 3, 2, 1}, {640, 3, 8, 3, 2, 1},  {224, 3, 96, 4, 4, 1}, {28, 1, 32, 3, 1, 1},
};

static const shape depth_shapes[] = {
    {112, 32, 32, 3, 1, 0},  {112, 96, 96, 3, 2, 0},   {56, 144, 144, 3, 1, 0},
    {28, 192, 192, 3, 1, 0}, {14, 576, 576, 3, 1, 0},  {14, 576, 576, 3, 2, 0},
    {7, 960, 960, 3, 1, 0},  {28, 240, 240, 5, 1, 0},  {14, 672, 672, 5, 1, 0},
    {14, 672, 672, 5, 2, 0}, {7, 1152, 1152, 5, 1, 0}, {56, 96, 96, 7, 1, 0},
    {28, 192, 192, 7, 1, 0}, {14, 384, 384, 7, 1, 0},  {7, 768, 768, 7, 1, 0},
    {16, 576, 576, 9, 1, 0}, {32, 256, 256, 9, 1, 0},  {28, 128, 128, 31, 1, 0},
    {160, 30, 30, 3, 1, 0},
};

/* c channels become o of them, which the depthwise part keeps; groups says what is between them:
 * 0 a clamp, 1 SiLU. */
static const shape expanded_shapes[] = {
    {112, 16, 96, 3, 2, 0},  {56, 24, 144, 3, 1, 0},  {28, 32, 192, 3, 1, 0},
    {14, 64, 384, 3, 1, 0},  {14, 96, 576, 3, 1, 0},  {112, 16, 96, 3, 2, 1},
    {56, 24, 144, 5, 2, 1},  {28, 40, 240, 5, 1, 1},  {14, 80, 480, 3, 1, 1},
    {14, 112, 672, 5, 1, 1}, {14, 512, 512, 3, 1, 0}, {28, 256, 256, 3, 2, 0},
};

static const shape winograd_shapes[] = {
    {56, 64, 64, 3, 1, 1},    {28, 128, 128, 3, 1, 1},  {14, 256, 256, 3, 1, 1},
    {80, 32, 32, 3, 1, 1},    {160, 16, 16, 3, 1, 1},   {160, 64, 16, 3, 1, 1},
    {320, 16, 64, 3, 1, 1},   {64, 64, 32, 3, 1, 1},    {64, 160, 32, 3, 1, 1},
    {64, 192, 64, 3, 1, 1},   {64, 320, 320, 3, 1, 1},  {10, 1280, 640, 3, 1, 1},
    {128, 128, 128, 3, 1, 1}, {64, 20, 40, 3, 1, 1},    {64, 48, 48, 3, 1, 1},
    {56, 128, 128, 3, 1, 8},  {20, 256, 256, 3, 1, 16}, {10, 512, 512, 3, 1, 32},
};

/* Eight planes; kernels are as deep as they are wide. */
static const shape plane_shapes[] = {
    {56, 3, 32, 3, 1, 1},
    {56, 32, 32, 3, 1, 1},
    {28, 64, 64, 3, 1, 1},
    {14, 128, 128, 3, 1, 1},
};

static const shape gated_shapes[] = {
    {112, 32, 16, 1, 1, 1},  {56, 96, 24, 1, 1, 1},   {28, 240, 40, 1, 1, 1},
    {14, 672, 112, 1, 1, 1}, {7, 1152, 320, 1, 1, 1},
};

static const shape transposed_shapes[] = {
    {160, 24, 24, 2, 2, 1},
    {320, 24, 1, 2, 2, 1},
    {32, 256, 128, 4, 2, 1},
    {64, 64, 32, 3, 2, 1},
};

static void bench_dense(const hg_kernel *k, const char *variant, uint32_t cpu, double peak,
                        holo_dtype dtype, const shape *shapes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const shape s = shapes[i];
        const int64_t pad = s.kernel / 2, size = (s.size + 2 * pad - s.kernel) / s.stride + 1;
        const int64_t k_size = s.kernel * s.kernel * s.c / s.groups;
        const bool is_first = strcmp(k->name, "conv.nchw") == 0;
        const int64_t last[4] = {1, s.size, s.size, s.c}, first[4] = {1, s.c, s.size, s.size};
        holo_tensor in[2] = {
            bench_tensor(HOLO_F32, 4, is_first ? first : last),
            bench_tensor(dtype, 4,
                         (int64_t[]){s.groups, hg_panels(s.o / s.groups), k_size, HG_PANEL}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 4, (int64_t[]){1, size, size, s.o});
        const int64_t param[9] = {s.kernel, s.kernel, s.stride, s.stride, pad, pad, 1, 1, s.groups};
        const hg_args a = {.in = in,
                           .out = &out,
                           .param = param,
                           .n_in = 2,
                           .n_out = 1,
                           .n_param = is_first ? 8 : 9,
                           .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "%s %s %s %lld %lld>%lld k%lld s%lld g%lld", k->name + 5,
                 variant, dtype == HOLO_F16 ? "f16" : "f32", (long long)s.size, (long long)s.c,
                 (long long)s.o, (long long)s.kernel, (long long)s.stride, (long long)s.groups);
        bench_run(name, k, &a, peak, 0.2);
        free(in[0].data);
        free(in[1].data);
        free(out.data);
    }
}

static void bench_planes(const hg_kernel *k, const char *variant, uint32_t cpu, double peak)
{
    enum { PLANES = 8 };
    for (size_t i = 0; i < HG_COUNT(plane_shapes); i++) {
        const shape s = plane_shapes[i];
        const int64_t size[] = {1, PLANES, s.size, s.size, s.c}, pad = s.kernel / 2;
        const int64_t out_size[] = {1, PLANES, s.size, s.size, s.o};
        const int64_t k_size = s.kernel * s.kernel * s.kernel * s.c;
        holo_tensor in[2] = {
            bench_tensor(HOLO_F32, 5, size),
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, hg_panels(s.o), k_size, HG_PANEL}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 5, out_size);
        const int64_t param[13] = {s.kernel, s.kernel, s.kernel, 1, 1, 1, pad,
                                   pad,      pad,      1,        1, 1, 1};
        const hg_args a = {.in = in,
                           .out = &out,
                           .param = param,
                           .n_in = 2,
                           .n_out = 1,
                           .n_param = 13,
                           .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "%s %s 8x%lld %lld>%lld k%lld", k->name, variant,
                 (long long)s.size, (long long)s.c, (long long)s.o, (long long)s.kernel);
        bench_run(name, k, &a, peak, 0.2);
        free(in[0].data);
        free(in[1].data);
        free(out.data);
    }
}

static void bench_depthwise(const hg_kernel *k, const char *variant, uint32_t cpu, double peak)
{
    for (size_t i = 0; i < HG_COUNT(depth_shapes); i++) {
        const shape s = depth_shapes[i];
        const int64_t pad = s.kernel / 2, size = (s.size + 2 * pad - s.kernel) / s.stride + 1;
        holo_tensor in[2] = {
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, s.size, s.size, s.c}),
            bench_tensor(HOLO_F32, 2, (int64_t[]){s.kernel * s.kernel, s.c}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 4, (int64_t[]){1, size, size, s.c});
        const int64_t param[8] = {s.kernel, s.kernel, s.stride, s.stride, pad, pad, 1, 1};
        const hg_args a = {
            .in = in, .out = &out, .param = param, .n_in = 2, .n_out = 1, .n_param = 8, .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "dw %s %lld %lld k%lld s%lld", variant, (long long)s.size,
                 (long long)s.c, (long long)s.kernel, (long long)s.stride);
        bench_run(name, k, &a, peak, 0.2);
        free(in[0].data);
        free(in[1].data);
        free(out.data);
    }
}

static void bench_expanded(const hg_kernel *k, const char *variant, uint32_t cpu, double peak)
{
    for (size_t i = 0; i < HG_COUNT(expanded_shapes); i++) {
        const shape s = expanded_shapes[i];
        const int64_t pad = s.kernel / 2, size = (s.size + 2 * pad - s.kernel) / s.stride + 1;
        holo_tensor in[4] = {
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, s.size, s.size, s.c}),
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, hg_panels(s.o), s.c, HG_PANEL}),
            bench_tensor(HOLO_F32, 2, (int64_t[]){s.kernel * s.kernel, s.o}),
            bench_tensor(HOLO_F32, 1, (int64_t[]){s.o}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 4, (int64_t[]){1, size, size, s.o});
        int64_t param[HG_CONV_PWDW_PARAMS] = {s.kernel, s.kernel, s.stride, s.stride,
                                              pad,      pad,      1,        1};
        param[HG_CONV_PWDW_ACT] = s.groups == 0 ? HG_EPILOGUE_CLAMP : HG_EPILOGUE_SILU;
        const double numbers[] = {0, 6, 0, 0, 1, 0, 1, 0};
        memcpy(param + HG_CONV_PWDW_ACT + 1, numbers, sizeof numbers);
        const hg_args a = {.in = in,
                           .out = &out,
                           .param = param,
                           .n_in = 4,
                           .n_out = 1,
                           .n_param = HG_CONV_PWDW_PARAMS,
                           .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "pwdw %s %lld %lld>%lld k%lld s%lld %s", variant,
                 (long long)s.size, (long long)s.c, (long long)s.o, (long long)s.kernel,
                 (long long)s.stride, s.groups == 0 ? "clamp" : "silu");
        bench_run(name, k, &a, peak, 0.2);
        for (size_t j = 0; j < HG_COUNT(in); j++)
            free(in[j].data);
        free(out.data);
    }
}

static void bench_gated(const hg_kernel *k, const char *variant, uint32_t cpu, double peak)
{
    for (size_t i = 0; i < HG_COUNT(gated_shapes); i++) {
        const shape s = gated_shapes[i];
        holo_tensor in[3] = {
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, s.size, s.size, s.c}),
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, hg_panels(s.o), s.c, HG_PANEL}),
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, 1, 1, s.c}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 4, (int64_t[]){1, s.size, s.size, s.o});
        const hg_args a = {.in = in, .out = &out, .n_in = 3, .n_out = 1, .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "gated %s %lld %lld>%lld", variant, (long long)s.size,
                 (long long)s.c, (long long)s.o);
        bench_run(name, k, &a, peak, 0.2);
        for (size_t j = 0; j < HG_COUNT(in); j++)
            free(in[j].data);
        free(out.data);
    }
}

static void bench_transposed(const hg_kernel *k, const char *variant, uint32_t cpu, double peak)
{
    for (size_t i = 0; i < HG_COUNT(transposed_shapes); i++) {
        const shape s = transposed_shapes[i];
        const int64_t size = (s.size - 1) * s.stride + s.kernel;
        holo_tensor in[2] = {
            bench_tensor(HOLO_F32, 4, (int64_t[]){1, s.c, s.size, s.size}),
            bench_tensor(HOLO_F32, 4, (int64_t[]){s.c, s.o, s.kernel, s.kernel}),
        };
        holo_tensor out = bench_tensor(HOLO_F32, 4, (int64_t[]){1, s.o, size, size});
        const int64_t param[8] = {2, 1, s.stride, s.stride, 0, 0, 1, 1};
        const hg_args a = {
            .in = in, .out = &out, .param = param, .n_in = 2, .n_out = 1, .n_param = 8, .cpu = cpu};
        char name[64];
        snprintf(name, sizeof name, "transposed %s %lld %lld>%lld k%lld s%lld", variant,
                 (long long)s.size, (long long)s.c, (long long)s.o, (long long)s.kernel,
                 (long long)s.stride);
        bench_run(name, k, &a, peak, 0.2);
        free(in[0].data);
        free(in[1].data);
        free(out.data);
    }
}

#if defined(__x86_64__)
/* The kernels of AVX2, with what else the processor has. */
static void bench_tuned(const char *only, const char *variant, uint32_t cpu, double peak)
{
    if (only == NULL || strcmp(only, "nhwc") == 0)
        bench_dense(hg_kernels_conv_nhwc_avx2, variant, cpu, peak, HOLO_F32, dense_shapes,
                    HG_COUNT(dense_shapes));
    if (only == NULL || strcmp(only, "nchw") == 0)
        bench_dense(hg_kernels_conv_nchw_avx2, variant, cpu, peak, HOLO_F32, first_shapes,
                    HG_COUNT(first_shapes));
    if (only == NULL || strcmp(only, "f16") == 0)
        bench_dense(hg_kernels_conv_nhwc_avx2, variant, cpu, peak, HOLO_F16, dense_shapes,
                    HG_COUNT(dense_shapes));
    if (only == NULL || strcmp(only, "winograd") == 0)
        bench_dense(hg_kernels_conv_winograd_avx2, variant, cpu, peak, HOLO_F32, winograd_shapes,
                    HG_COUNT(winograd_shapes));
    if (only == NULL || strcmp(only, "planes") == 0) {
        bench_planes(hg_kernels_conv_nhwc_avx2, variant, cpu, peak);
        bench_planes(hg_kernels_conv_winograd_avx2, variant, cpu, peak);
    }
    if (only == NULL || strcmp(only, "dw") == 0)
        bench_depthwise(hg_kernels_conv_dw_avx2, variant, cpu, peak);
    if (only == NULL || strcmp(only, "pwdw") == 0)
        bench_expanded(hg_kernels_conv_pwdw_avx2, variant, cpu, peak);
    if (only == NULL || strcmp(only, "gated") == 0)
        bench_gated(hg_kernels_conv_gated_avx2, variant, cpu, peak);
    if (only == NULL || strcmp(only, "transposed") == 0)
        bench_transposed(bench_find(hg_kernels_conv_avx2, "convtranspose"), variant, cpu, peak);
}
#endif

int main(int argc, char **argv)
{
    const double peak = bench_peak();
    const char *only = argc > 1 ? argv[1] : NULL;
    printf("peak %.1f GFLOP/s\n", peak);
#if defined(__x86_64__)
    const uint32_t wide = hg_cpu_features();
    bench_tuned(only, wide & HG_CPU_AVX512 ? "avx512" : "avx2", wide, peak);
    if (wide & HG_CPU_AVX512) bench_tuned(only, "avx2", 0, peak);
#endif
    if (only != NULL && strcmp(only, "reference") == 0) {
        bench_dense(hg_kernels_conv_nhwc, "reference", 0, peak, HOLO_F32, dense_shapes,
                    HG_COUNT(dense_shapes));
        bench_planes(hg_kernels_conv_winograd, "reference", 0, peak);
        bench_depthwise(hg_kernels_conv_dw, "reference", 0, peak);
        bench_expanded(hg_kernels_conv_pwdw, "reference", 0, peak);
        bench_gated(hg_kernels_conv_gated, "reference", 0, peak);
        bench_transposed(bench_find(hg_kernels_conv, "convtranspose"), "reference", 0, peak);
    }
    return 0;
}
