/* pool.c - pooling of pictures with channels last, one thread: the reference and the tuned kernel.
 */
#include "bench.h"

#include "kernel/pool.h"

extern const hg_kernel hg_kernels_pool[], hg_kernels_pool_avx2[];

typedef struct shape {
    const char *name;
    int64_t mode, size, channels, kernel, stride, pad;
} shape;

static const shape shapes[] = {
    {"max 3x3/2 [113,113,64]", HG_POOL_MAX, 113, 64, 3, 2, 0},
    {"max 3x3/2 [55,55,128]", HG_POOL_MAX, 55, 128, 3, 2, 0},
    {"max 5x5/1 [20,20,128]", HG_POOL_MAX, 20, 128, 5, 1, 2},
    {"average 2x2/2 [56,56,256]", HG_POOL_AVERAGE, 56, 256, 2, 2, 0},
    {"average 3x3/1 [35,35,192]", HG_POOL_AVERAGE_PADDED, 35, 192, 3, 1, 1},
};

int main(void)
{
    const double peak = bench_peak();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape *s = &shapes[i];
        const int64_t out = (s->size + 2 * s->pad - s->kernel) / s->stride + 1;
        holo_tensor x = bench_tensor(HOLO_F32, 4, (int64_t[]){1, s->size, s->size, s->channels});
        holo_tensor y = bench_tensor(HOLO_F32, 4, (int64_t[]){1, out, out, s->channels});
        const int64_t param[] = {s->mode,   HG_POOL_NHWC, 2,         2,         0,
                                 s->kernel, s->kernel,    s->stride, s->stride, s->pad,
                                 s->pad,    s->pad,       s->pad,    1,         1};
        const hg_args a = {
            .in = &x, .out = &y, .param = param, .n_in = 1, .n_out = 1, .n_param = 15};
        const double slow = bench_run(s->name, hg_kernels_pool, &a, peak, 0.2);
        const double fast = bench_run("  tuned", hg_kernels_pool_avx2, &a, peak, 0.2);
        printf("  reference / tuned %.1f\n", slow / fast);
        free(x.data);
        free(y.data);
    }
    return 0;
}
