/* lowbit.c - low-bit matrix-vector products on one core: each width of matmul.bits beside
 * matmul.nbits; `./dev bench lowbit` runs it.
 *
 *     lowbit [N K GROUP]
 *     lowbit emit FILE.onnx BITS N K GROUP    a MatMulNBits for the peer, with 8-bit activations
 *
 * GB/s counts codes and scales, GMAC/s multiplications. Rounds of all widths are interleaved. */
#include "op/bench.h"

#include "kernel/matmul_bits.h"

#include <string.h>

extern const hg_kernel hg_kernels_matmul_bits[];
extern const hg_kernel hg_kernels_matmul_nbits[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_matmul_bits_avx2[];
extern const hg_kernel hg_kernels_matmul_nbits_avx2[];
#endif

enum { LOWBIT_ROUNDS = 40, LOWBIT_CASES = HG_BITS_KINDS + 3 };

typedef struct lowbit_case {
    const char *name;
    const hg_kernel *kernel;
    holo_tensor in[4], out;
    int64_t param[2];
    uint32_t n_in;
    void *scratch;
    double seconds[LOWBIT_ROUNDS], bytes;
} lowbit_case;

static hg_args lowbit_args(lowbit_case *c)
{
    return (hg_args){
        .in = c->in, .out = &c->out, .param = c->param, .n_in = c->n_in, .n_out = 1, .n_param = 2};
}

static void lowbit_finish(lowbit_case *c)
{
    const hg_args a = lowbit_args(c);
    holo_error e;
    if (c->kernel->check(&a, &e) != HOLO_OK) {
        fprintf(stderr, "%s: %s\n", c->name, e.message);
        exit(1);
    }
    c->bytes = (double)(holo_tensor_bytes(&c->in[1]) + holo_tensor_bytes(&c->in[2]));
    c->scratch = c->kernel->scratch == NULL
                     ? NULL
                     : aligned_alloc(64, (c->kernel->scratch(&a) + 127) / 64 * 64);
}

static void lowbit_bits(lowbit_case *c, const hg_kernel *kernel, hg_bits_kind kind, int64_t n,
                        int64_t k, int64_t group)
{
    static const char *const names[HG_BITS_KINDS] = {
        "1 bit, looked up", "ternary, looked up", "2 bits", "3 bits",
        "4 bits",           "4 bits, book",       "8 bits"};
    c->name = names[kind];
    c->kernel = kernel;
    c->param[0] = kind;
    c->param[1] = group;
    c->n_in = kind == HG_BITS_BOOK ? 4 : 3;
    c->in[0] = bench_tensor(HOLO_F32, 2, (int64_t[]){1, k});
    c->in[1] = bench_tensor(HOLO_U8, 1, (int64_t[]){(int64_t)hg_bits_bytes(kind, n, k, group)});
    c->in[2] = bench_tensor(HOLO_F32, 3, (int64_t[]){(n + 31) / 32, (k + group - 1) / group, 32});
    c->in[3] = bench_tensor(HOLO_I8, 1, (int64_t[]){16});
    c->out = bench_tensor(HOLO_F32, 2, (int64_t[]){1, n});
    lowbit_finish(c);
}

static void lowbit_nbits(lowbit_case *c, const hg_kernel *kernel, int64_t bits, int64_t n,
                         int64_t k, int64_t group)
{
    c->name = bits == 2   ? "MatMulNBits 2, f32 activations"
              : bits == 4 ? "MatMulNBits 4, f32 activations"
                          : "MatMulNBits 8, f32 activations";
    c->kernel = kernel;
    c->param[0] = bits;
    c->param[1] = group;
    c->n_in = 3;
    c->in[0] = bench_tensor(HOLO_F32, 2, (int64_t[]){1, k});
    c->in[1] = bench_tensor(HOLO_U8, 3, (int64_t[]){n, k / group, group * bits / 8});
    c->in[2] = bench_tensor(HOLO_F32, 2, (int64_t[]){n, k / group});
    c->out = bench_tensor(HOLO_F32, 2, (int64_t[]){1, n});
    lowbit_finish(c);
}

static bool lowbit_sink(void *user, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, user) == size;
}

static int lowbit_emit(const char *path, int64_t bits, int64_t n, int64_t k, int64_t group)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_graph *g = NULL;
    holo_error e = {0};
    char dims[32];
    void *data = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "wb");
    if (file == NULL || holo_graph_new(0, NULL, &g, &e) != HOLO_OK) return 1;
    holo_tensor codes = bench_tensor(HOLO_U8, 3, (int64_t[]){n, k / group, group * bits / 8});
    holo_tensor scales = bench_tensor(HOLO_F32, 2, (int64_t[]){n, k / group});
    const holo_attr attr[] = {{.name = "K", .kind = HOLO_ATTR_INT, .i = k},
                              {.name = "N", .kind = HOLO_ATTR_INT, .i = n},
                              {.name = "bits", .kind = HOLO_ATTR_INT, .i = bits},
                              {.name = "block_size", .kind = HOLO_ATTR_INT, .i = group},
                              {.name = "accuracy_level", .kind = HOLO_ATTR_INT, .i = 4}};
    snprintf(dims, sizeof dims, "1,%lld", (long long)k);
    holo_value_id in[3] = {holo_graph_input(g, "x", HOLO_F32, dims), holo_graph_constant(g, &codes),
                           holo_graph_constant(g, &scales)};
    holo_value_id y;
    holo_graph_node(g, "com.microsoft:MatMulNBits", in, 3, attr, HG_COUNT(attr), &y, 1);
    holo_graph_output(g, y, "y");
    options.emit = lowbit_sink;
    options.emit_user = file;
    const holo_status status = holo_compile_graph(g, &options, &data, &size, NULL, &e);
    if (status != HOLO_OK) fprintf(stderr, "lowbit: %s\n", e.message);
    return fclose(file) != 0 || status != HOLO_OK;
}

static int lowbit_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "emit") == 0)
        return lowbit_emit(argv[2], atoll(argv[3]), atoll(argv[4]), atoll(argv[5]), atoll(argv[6]));
    const int64_t n = argc > 3 ? atoll(argv[1]) : 4096, k = argc > 3 ? atoll(argv[2]) : 4096;
    const int64_t group = argc > 3 ? atoll(argv[3]) : 128;
    static lowbit_case c[LOWBIT_CASES];
#if defined(__x86_64__)
    const hg_kernel *bits = hg_kernels_matmul_bits_avx2, *nbits = hg_kernels_matmul_nbits_avx2;
    const int rounds = LOWBIT_ROUNDS;
#else
    const hg_kernel *bits = hg_kernels_matmul_bits, *nbits = hg_kernels_matmul_nbits;
    const int rounds = 3;
#endif
    for (int i = 0; i < HG_BITS_KINDS; i++)
        lowbit_bits(&c[i], bits, (hg_bits_kind)i, n, k, group);
    for (int i = 0; i < 3; i++)
        lowbit_nbits(&c[HG_BITS_KINDS + i], nbits, (int64_t)2 << i, n, k, group);
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < LOWBIT_CASES; i++) {
            const hg_args a = lowbit_args(&c[i]);
            const hg_range all = {0, c[i].kernel->units(&a), c[i].scratch};
            const double start = bench_now();
            c[i].kernel->run(&a, all);
            c[i].seconds[r] = bench_now() - start;
        }
    }
    printf("%lld x %lld, groups of %lld, one row, one core\n", (long long)k, (long long)n,
           (long long)group);
    printf("%-32s %10s %10s %8s %8s\n", "", "min us", "median us", "GB/s", "GMAC/s");
    for (int i = 0; i < LOWBIT_CASES; i++) {
        qsort(c[i].seconds, (size_t)rounds, sizeof(double), lowbit_by_value);
        const double least = c[i].seconds[0];
        printf("%-32s %10.1f %10.1f %8.2f %8.2f\n", c[i].name, least * 1e6,
               c[i].seconds[rounds / 2] * 1e6, c[i].bytes / least * 1e-9,
               (double)n * (double)k / least * 1e-9);
    }
    return 0;
}
