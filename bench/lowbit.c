/* lowbit.c - low-bit matrix-vector products on one core: each width of matmul.bits beside
 * matmul.nbits; `./dev bench lowbit` runs it.
 *
 *     lowbit [N K GROUP]
 *     lowbit emit FILE.onnx BITS N K GROUP LEVEL    a MatMulNBits for the peer; level 4 allows
 *                                                   activations of 8 bits, 0 does not
 *
 * GB/s counts codes and scales, GMAC/s multiplications. "Again" runs one width over and over, as
 * the peer's loop does: weights that fit the last-level cache stay there. "Cold" takes turns with
 * all other widths, which together do not fit: weights come from memory. */
#include "op/bench.h"

#include "base/cpu.h"
#include "kernel/matmul_bits.h"

#include <string.h>

extern const hg_kernel hg_kernels_matmul_bits[];
extern const hg_kernel hg_kernels_matmul_nbits[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_matmul_bits_avx2[];
extern const hg_kernel hg_kernels_matmul_bits_avx512[];
extern const hg_kernel hg_kernels_matmul_nbits_avx2[];
extern const hg_kernel hg_kernels_matmul_nbits_avx512[];
#endif

enum { LOWBIT_ROUNDS = 40, LOWBIT_AGAIN = 8, LOWBIT_CASES = 2 * (HG_BITS_KINDS + 3) };

typedef struct lowbit_case {
    const char *name;
    const hg_kernel *kernel;
    holo_tensor in[4], out;
    int64_t param[2];
    uint32_t n_in;
    void *scratch;
    double again[LOWBIT_ROUNDS], cold[LOWBIT_ROUNDS], bytes;
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
                     : aligned_alloc(64, (hg_kernel_work(c->kernel, &a).scratch + 127) / 64 * 64);
}

static void lowbit_bits(lowbit_case *c, const hg_kernel *kernel, hg_bits_kind kind, int64_t n,
                        int64_t k, int64_t group)
{
    static const char *const names[HG_BITS_KINDS] = {
        "1 bit, looked up", "ternary, 2 bits", "2 bits", "3 bits",
        "4 bits",           "4 bits, book",    "8 bits"};
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

static int lowbit_emit(const char *path, int64_t bits, int64_t n, int64_t k, int64_t group,
                       int64_t level)
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
                              {.name = "accuracy_level", .kind = HOLO_ATTR_INT, .i = level}};
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

/* Runs a case once; seconds. */
static double lowbit_run(lowbit_case *c)
{
    const hg_args a = lowbit_args(c);
    const hg_range all = {0, hg_kernel_work(c->kernel, &a).units, c->scratch};
    const double start = bench_now();
    c->kernel->run(&a, all);
    return bench_now() - start;
}

static void lowbit_measure(lowbit_case *c, int cases, int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < cases; i++)
            c[i].cold[r] = lowbit_run(&c[i]);
    for (int r = 0; r < rounds; r += LOWBIT_AGAIN)
        for (int i = 0; i < cases; i++) {
            (void)lowbit_run(&c[i]); /* into the cache */
            for (int k = r; k < r + LOWBIT_AGAIN && k < rounds; k++)
                c[i].again[k] = lowbit_run(&c[i]);
        }
}

static void lowbit_print(lowbit_case *c, int rounds, double macs)
{
    qsort(c->again, (size_t)rounds, sizeof(double), bench_compare);
    qsort(c->cold, (size_t)rounds, sizeof(double), bench_compare);
    printf("%-32s %-8s %8.1f %8.1f %7.1f %7.1f %8.1f %8.1f %7.1f\n", c->name,
           (c->kernel->cpu & HG_CPU_AVX512) != 0 ? "avx512"
           : c->kernel->cpu == HG_CPU_AVX2       ? "avx2"
                                                 : "plain",
           c->again[0] * 1e6, c->again[rounds / 2] * 1e6, c->bytes / c->again[0] * 1e-9,
           macs / c->again[0] * 1e-9, c->cold[0] * 1e6, c->cold[rounds / 2] * 1e6,
           c->bytes / c->cold[0] * 1e-9);
}

/* A sum over numbers that lie side by side: what reading alone costs. */
static void lowbit_bound(size_t bytes)
{
    const size_t n = bytes / 8;
    uint64_t *x = bench_alloc(bytes), sum = 0;
    double best = 1e9;
    for (int r = 0; r < LOWBIT_ROUNDS; r++) {
        const double start = bench_now();
        for (size_t i = 0; i + 8 <= n; i += 8)
            sum += x[i]; /* one number of each line */
        const double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    volatile uint64_t keep = sum;
    (void)keep;
    printf("reading %5.1f MB again and again: %.1f us, %.1f GB/s\n", (double)bytes * 1e-6,
           best * 1e6, (double)bytes / best * 1e-9);
    free(x);
}

static int lowbit_cases(lowbit_case *c, const hg_kernel *bits, const hg_kernel *nbits, int64_t n,
                        int64_t k, int64_t group)
{
    int cases = 0;
    for (int i = 0; i < HG_BITS_KINDS; i++)
        lowbit_bits(&c[cases++], bits, (hg_bits_kind)i, n, k, group);
    for (int64_t width = 2; nbits != NULL && width <= 8; width *= 2)
        lowbit_nbits(&c[cases++], nbits, width, n, k, group);
    return cases;
}

int main(int argc, char **argv)
{
    if (argc == 8 && strcmp(argv[1], "emit") == 0)
        return lowbit_emit(argv[2], atoll(argv[3]), atoll(argv[4]), atoll(argv[5]), atoll(argv[6]),
                           atoll(argv[7]));
    const int64_t n = argc > 3 ? atoll(argv[1]) : 4096, k = argc > 3 ? atoll(argv[2]) : 4096;
    const int64_t group = argc > 3 ? atoll(argv[3]) : 128;
    static lowbit_case c[LOWBIT_CASES];
    int cases = 0, rounds = LOWBIT_ROUNDS;
#if defined(__x86_64__)
    cases +=
        lowbit_cases(c, hg_kernels_matmul_bits_avx2, hg_kernels_matmul_nbits_avx2, n, k, group);
    if ((hg_cpu_features() & HG_CPU_AVX512) != 0)
        cases += lowbit_cases(c + cases, hg_kernels_matmul_bits_avx512,
                              hg_kernels_matmul_nbits_avx512, n, k, group);
#else
    rounds = 3;
    cases += lowbit_cases(c, hg_kernels_matmul_bits, hg_kernels_matmul_nbits, n, k, group);
#endif
    for (int64_t bits = 1; bits <= 8; bits *= 2)
        lowbit_bound((size_t)(n * k * bits / 8));
    lowbit_measure(c, cases, rounds);
    printf("%lld x %lld, groups of %lld, one row, one core\n", (long long)k, (long long)n,
           (long long)group);
    printf("%-32s %-8s %8s %8s %7s %7s %8s %8s %7s\n", "", "", "again us", "median", "GB/s",
           "GMAC/s", "cold us", "median", "GB/s");
    for (int i = 0; i < cases; i++)
        lowbit_print(&c[i], rounds, (double)n * (double)k);
    return 0;
}
