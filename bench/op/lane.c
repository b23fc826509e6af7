/* lane.c - point-wise bodies, reductions, softmax and norms: GElem/s of the reference and the tuned
 * kernels on one thread, and of those that may round otherwise, with all that the processor has. */
#include "bench.h"

#include "base/cpu.h"

extern const hg_kernel hg_kernels_lane[], hg_kernels_reduce[], hg_kernels_softmax[],
    hg_kernels_layernorm[], hg_kernels_groupnorm[];
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_lane_avx2[], hg_kernels_reduce_avx2[], hg_kernels_softmax_avx2[],
    hg_kernels_layernorm_avx2[], hg_kernels_groupnorm_avx2[];
#define TUNED(name) name##_avx2
#else
#define TUNED(name) name
#endif

/* Elements a second of the fastest run. */
static double bench_rate(const hg_kernel *k, const hg_args *a, double elements)
{
    holo_error e = {0};
    if (k->check(a, &e) != HOLO_OK) {
        printf("refused: %s\n", e.message);
        exit(1);
    }
    void *scratch = bench_alloc(hg_kernel_work(k, a).scratch);
    double best = 1e9;
    for (int round = 0; round < 15; round++) {
        int runs = 0;
        const double start = bench_now();
        do {
            k->run(a, (hg_range){0, hg_kernel_work(k, a).units, scratch});
            runs++;
        } while (bench_now() - start < 0.01);
        const double each = (bench_now() - start) / runs;
        if (each < best) best = each;
    }
    free(scratch);
    return elements / best;
}

static void bench_both(const char *name, const hg_kernel *reference, const hg_kernel *tuned,
                       const hg_args *a)
{
    const double n = (double)holo_tensor_count(&a->in[0]);
    const double x = bench_rate(reference, a, n) * 1e-9, y = bench_rate(tuned, a, n) * 1e-9;
    printf("%-36s reference %7.3f  tuned %7.3f GElem/s  x %.2f", name, x, y, y / x);
    if (tuned != reference && tuned[1].name != NULL) {
        hg_args wide = *a;
        wide.cpu = hg_cpu_features();
        printf("  fast %7.3f", bench_rate(tuned + 1, a, n) * 1e-9);
        printf("  with all %7.3f", bench_rate(tuned + 1, &wide, n) * 1e-9);
    }
    printf("\n");
    fflush(stdout);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static hg_lane_id bench_gelu(hg_lane *b)
{
    hg_lane_id x = hg_lane_load(b, 0, HG_LANE_F32);
    hg_lane_id r =
        hg_lane_2(b, HG_LANE_MUL, x, hg_lane_const_f(b, HG_LANE_F32, 0.7071067811865476));
    r = hg_lane_2(b, HG_LANE_ADD, hg_lane_1(b, HG_LANE_ERF, r), hg_lane_const_f(b, HG_LANE_F32, 1));
    r = hg_lane_2(b, HG_LANE_MUL, r, x);
    return hg_lane_2(b, HG_LANE_MUL, r, hg_lane_const_f(b, HG_LANE_F32, 0.5));
}

static hg_lane_id bench_silu(hg_lane *b)
{
    hg_lane_id x = hg_lane_load(b, 0, HG_LANE_F32);
    return hg_lane_2(b, HG_LANE_MUL, x, hg_lane_1(b, HG_LANE_SIGMOID, x));
}

static hg_lane_id bench_snake(hg_lane *b)
{
    hg_lane_id x = hg_lane_load(b, 0, HG_LANE_F32), s = hg_lane_1(b, HG_LANE_SIN, x);
    return hg_lane_2(b, HG_LANE_ADD, x, hg_lane_2(b, HG_LANE_MUL, s, s));
}

static hg_lane_id bench_add(hg_lane *b)
{
    return hg_lane_2(b, HG_LANE_ADD, hg_lane_load(b, 0, HG_LANE_F32),
                     hg_lane_load(b, 1, HG_LANE_F32));
}

static hg_lane_id bench_chain(hg_lane *b)
{
    hg_lane_id r = hg_lane_load(b, 0, HG_LANE_F32), y = hg_lane_load(b, 1, HG_LANE_F32);
    for (int i = 0; i < 8; i++)
        r = hg_lane_2(b, i % 2 == 0 ? HG_LANE_ADD : HG_LANE_MUL, r, y);
    return r;
}

typedef struct bench_body {
    const char *name;
    hg_lane_id (*build)(hg_lane *b);
    uint32_t n_in;
    holo_dtype dtype;
    int rank, operand_rank;
    int64_t dim[3], operand[3];
} bench_body;

static const bench_body bench_bodies[] = {
    {"add 64K", bench_add, 2, HOLO_F32, 1, 1, {65536}, {65536}},
    {"add 16M", bench_add, 2, HOLO_F32, 1, 1, {16777216}, {16777216}},
    {"eight operations 64K", bench_chain, 2, HOLO_F32, 1, 1, {65536}, {65536}},
    {"gelu with erf 64K", bench_gelu, 1, HOLO_F32, 1, 0, {65536}, {0}},
    {"x + sin(x)^2 64K", bench_snake, 1, HOLO_F32, 1, 0, {65536}, {0}},
    {"silu 64K", bench_silu, 1, HOLO_F32, 1, 0, {65536}, {0}},
    {"add float16 64K", bench_add, 2, HOLO_F16, 1, 1, {65536}, {65536}},
    {"add [1024,64] + [64]", bench_add, 2, HOLO_F32, 2, 1, {1024, 64}, {64}},
    {"add [64,32,32] + [64,1,1]", bench_add, 2, HOLO_F32, 3, 3, {64, 32, 32}, {64, 1, 1}},
    {"add [21845,3] + [3]", bench_add, 2, HOLO_F32, 2, 1, {21845, 3}, {3}},
    {"add [200,300] + [200,1]", bench_add, 2, HOLO_F32, 2, 2, {200, 300}, {200, 1}},
    {"add [1024,7,7] + [1024,1,1]", bench_add, 2, HOLO_F32, 3, 3, {1024, 7, 7}, {1024, 1, 1}},
};

static void bench_lane(void)
{
    for (size_t i = 0; i < HG_COUNT(bench_bodies); i++) {
        const bench_body *body = &bench_bodies[i];
        hg_arena arena;
        hg_arena_init(&arena, NULL, 0);
        hg_lane *b = hg_lane_new(&arena);
        hg_lane_id result = body->build(b);
        hg_lane_out kind = {0};
        hg_lane_code code;
        if (hg_lane_finish(b, body->n_in, &result, &kind, 1, &code, NULL) != HOLO_OK) exit(1);
        holo_tensor in[2] = {bench_tensor(body->dtype, body->rank, body->dim),
                             bench_tensor(body->dtype, body->operand_rank, body->operand)};
        holo_tensor out = bench_tensor(body->dtype, body->rank, body->dim);
        const hg_args a = {.in = in, .out = &out, .code = &code, .n_in = body->n_in, .n_out = 1};
        bench_both(body->name, hg_kernels_lane, TUNED(hg_kernels_lane), &a);
        free(in[0].data);
        free(in[1].data);
        free(out.data);
        hg_arena_deinit(&arena);
    }
}

/* ---- kernels with parameters ----------------------------------------------------------------- */

typedef struct bench_case {
    const char *name;
    const hg_kernel *reference, *tuned;
    int rank, out_rank;
    int64_t dim[4], out[4];
    uint32_t n_in, n_param;
    int64_t channels; /* of scale and bias */
    int64_t param[4];
    int epsilon; /* number of the parameter that is 1e-5, or 0 */
} bench_case;

static void bench_cases(void)
{
    const hg_kernel *softmax = hg_kernels_softmax, *softmax_tuned = TUNED(hg_kernels_softmax);
    const hg_kernel *layer = hg_kernels_layernorm, *layer_tuned = TUNED(hg_kernels_layernorm);
    const hg_kernel *group = hg_kernels_groupnorm, *group_tuned = TUNED(hg_kernels_groupnorm);
    const hg_kernel *reduce = hg_kernels_reduce, *reduce_tuned = TUNED(hg_kernels_reduce);
    const bench_case cases[] = {
        {"softmax [128,768]",
         softmax,
         softmax_tuned,
         2,
         2,
         {128, 768},
         {128, 768},
         1,
         2,
         1,
         {1},
         0},
        {"softmax [128,197]",
         softmax,
         softmax_tuned,
         2,
         2,
         {128, 197},
         {128, 197},
         1,
         2,
         1,
         {1},
         0},
        {"softmax axis 1 of [2,64,768]",
         softmax,
         softmax_tuned,
         3,
         3,
         {2, 64, 768},
         {2, 64, 768},
         1,
         2,
         1,
         {1},
         0},
        {"layernorm [128,768]",
         layer,
         layer_tuned,
         2,
         2,
         {128, 768},
         {128, 768},
         3,
         4,
         768,
         {1, 0, 0, HOLO_F32},
         1},
        {"RMS norm [128,768]",
         layer,
         layer_tuned,
         2,
         2,
         {128, 768},
         {128, 768},
         2,
         4,
         768,
         {1, 0, 1, HOLO_F32},
         1},
        {"groupnorm [1,320,32,32]",
         group,
         group_tuned,
         4,
         4,
         {1, 320, 32, 32},
         {1, 320, 32, 32},
         3,
         3,
         320,
         {32, 0, 0},
         1},
        {"groupnorm [1,32,32,320] last",
         group,
         group_tuned,
         4,
         4,
         {1, 32, 32, 320},
         {1, 32, 32, 320},
         3,
         3,
         320,
         {32, 0, 1},
         1},
        {"sum of rows [128,768]",
         reduce,
         reduce_tuned,
         2,
         1,
         {128, 768},
         {128},
         1,
         3,
         1,
         {0, 2, 0},
         0},
        {"max of rows [128,768]",
         reduce,
         reduce_tuned,
         2,
         1,
         {128, 768},
         {128},
         1,
         3,
         1,
         {2, 2, 0},
         0},
        {"sum of columns [128,768]",
         reduce,
         reduce_tuned,
         2,
         1,
         {128, 768},
         {768},
         1,
         3,
         1,
         {0, 1, 0},
         0},
        {"log-sum-exp of rows [128,768]",
         reduce,
         reduce_tuned,
         2,
         1,
         {128, 768},
         {128},
         1,
         3,
         1,
         {7, 2, 0},
         0},
        {"sum 0,2,3 of [4,64,16,16]",
         reduce,
         reduce_tuned,
         4,
         1,
         {4, 64, 16, 16},
         {64},
         1,
         3,
         1,
         {0, 13, 0},
         0},
        {"sum of rows [21845,3]",
         reduce,
         reduce_tuned,
         2,
         1,
         {21845, 3},
         {21845},
         1,
         3,
         1,
         {0, 2, 0},
         0},
    };
    for (size_t i = 0; i < HG_COUNT(cases); i++) {
        bench_case c = cases[i];
        const double epsilon = 1e-5;
        if (c.epsilon != 0) memcpy(&c.param[c.epsilon], &epsilon, sizeof epsilon);
        holo_tensor in[3] = {bench_tensor(HOLO_F32, c.rank, c.dim),
                             bench_tensor(HOLO_F32, 1, &c.channels),
                             bench_tensor(HOLO_F32, 1, &c.channels)};
        holo_tensor out = bench_tensor(HOLO_F32, c.out_rank, c.out);
        const hg_args a = {.in = in,
                           .out = &out,
                           .param = c.param,
                           .n_in = c.n_in,
                           .n_out = 1,
                           .n_param = c.n_param};
        bench_both(c.name, c.reference, c.tuned, &a);
        for (int k = 0; k < 3; k++)
            free(in[k].data);
        free(out.data);
    }
}

int main(void)
{
    bench_lane();
    bench_cases();
    return 0;
}
