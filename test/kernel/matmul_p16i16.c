/* matmul_p16i16.c - matmul.p16i16 against sums of 64-bit products, every variant. */
#include "kernel/codes.h"

#include "kernel/igemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul_p16i16[];
extern const hg_kernel hg_kernels_pack_i8[];
#if defined(TUNED)
extern const hg_kernel TUNED(matmul_p16i16)[];
#endif
#if defined(__x86_64__)
extern const hg_kernel TUNED_DOT(matmul_p16i16)[];
#endif

typedef struct p16i16_made {
    gemm_call call;
    holo_tensor b; /* [k, n], unpacked, for the oracle */
} p16i16_made;

static const hg_kernel *p16i16_pack(void)
{
    for (const hg_kernel *k = hg_kernels_pack_i8; k->name != NULL; k++)
        if (strcmp(k->name, "pack.p16i8") == 0) return k;
    abort();
}

/* Sizes of codes: up to INT16_MAX there may be one more below. */
enum { P16I16_ALL = INT16_MAX, P16I16_MOST = INT16_MAX - 128 };

static holo_tensor p16i16_codes(int64_t m, int64_t k, codes_fill fill, int32_t most)
{
    holo_tensor t = {.rank = 3, .dim = {1, m, k}, .dtype = HOLO_I16};
    const int32_t least = most == P16I16_ALL ? INT16_MIN : -most;
    uint32_t seed = 3;
    t.data = gemm_alloc(holo_tensor_bytes(&t));
    for (int64_t i = 0; i < m * k; i++) {
        const uint32_t r = gemm_random(&seed);
        const int32_t any = (int32_t)(r % (uint32_t)(most - least + 1)) + least;
        ((int16_t *)t.data)[i] = (int16_t)(fill == CODES_RANDOM    ? any
                                           : fill == CODES_EXTREME ? (r & 16 ? least : most)
                                                                   : least);
    }
    return t;
}

static void p16i16_make(p16i16_made *d, int64_t m, int64_t n, int64_t k, codes_fill fill,
                        int32_t most)
{
    gemm_call pack;
    memset(&pack, 0, sizeof pack);
    memset(d, 0, sizeof *d);
    d->b = codes_tensor(HOLO_I8, 2, (int64_t[]){k, n}, fill, 7);
    pack.in[0] = d->b;
    pack.out = codes_tensor(HOLO_I8, 3, (int64_t[]){(n + 15) / 16, (k + 3) / 4 + 1, 64}, 0, 1);
    gemm_connect(&pack, 1, 1);
    CHECK(gemm_run(p16i16_pack(), &pack));
    d->call.in[0] = p16i16_codes(m, k, fill, most);
    d->call.in[1] = pack.out;
    d->call.out = gemm_tensor(HOLO_I32, 3, (int64_t[]){1, m, n}, 9);
    gemm_connect(&d->call, 2, 0);
}

static void p16i16_free(p16i16_made *d)
{
    free(d->b.data);
    gemm_free(&d->call);
}

static int32_t p16i16_oracle(const p16i16_made *d, int64_t n, int64_t k, int64_t i, int64_t j)
{
    const int16_t *a = d->call.in[0].data;
    int64_t sum = 0;
    for (int64_t e = 0; e < k; e++)
        sum += (int64_t)a[i * k + e] * codes_get(&d->b, e * n + j);
    return codes_wrap(sum);
}

static void p16i16_try(const hg_kernel *kernel, int64_t m, int64_t n, int64_t k, codes_fill fill,
                       int32_t most)
{
    p16i16_made d;
    p16i16_make(&d, m, n, k, fill, most);
    const bool ran = gemm_run(kernel, &d.call);
    for (int64_t e = 0; ran && e < m * n; e++)
        if (!CHECK_EQ_INT(((int32_t *)d.call.out.data)[e], p16i16_oracle(&d, n, k, e / n, e % n)))
            break;
    p16i16_free(&d);
}

static void p16i16_all(const hg_kernel *kernel)
{
    static const int64_t sizes[][3] = {
        {1, 1, 1},   {1, 70, 9},  {2, 33, 8},   {3, 20, 130},  {4, 48, 16},   {5, 17, 3},
        {6, 64, 32}, {7, 80, 20}, {13, 40, 19}, {49, 130, 11}, {150, 20, 40}, {30, 20, 400},
        {2, 20, 0},  {0, 5, 6},   {5, 0, 6},    {3, 15, 515},  {8, 97, 1026}, {300, 16, 5}};
    for (size_t i = 0; i < HG_COUNT(sizes); i++)
        for (int fill = CODES_RANDOM; fill <= CODES_LARGEST; fill++)
            for (int32_t most = P16I16_MOST; most <= P16I16_ALL; most += P16I16_ALL - P16I16_MOST)
                p16i16_try(kernel, sizes[i][0], sizes[i][1], sizes[i][2], (codes_fill)fill, most);
    p16i16_try(kernel, 5, 18, 4096, CODES_EXTREME, P16I16_ALL); /* wraps, everywhere the same way */
    p16i16_try(kernel, 9, 18, 4096, CODES_EXTREME, P16I16_MOST);
}

static void p16i16_matches_oracle(void)
{
    p16i16_all(hg_kernels_matmul_p16i16);
}

/* x (1 + erf(x / 1.4)) / 2 of the scaled sums, quantised to 16 bits. */
static void p16i16_code_gelu(gemm_code *c)
{
    static const hg_lane_op op[] = {
        {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0},
        {.op = HG_LANE_CAST, .type = HG_LANE_F32, .dst = 1, .a = 0, .index = HG_LANE_I32},
        {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 2, .index = 1},
        {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x3fb504f3},
        {.op = HG_LANE_DIV, .type = HG_LANE_F32, .dst = 3, .a = 1, .b = 2},
        {.op = HG_LANE_ERF, .type = HG_LANE_F32, .dst = 3, .a = 3},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x3f800000},
        {.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 3, .a = 3, .b = 2},
        {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 3},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x38d1b717}, /* 0.0001 */
        {.op = HG_LANE_DIV, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
        {.op = HG_LANE_ROUND, .type = HG_LANE_F32, .dst = 1, .a = 1},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0xc7000000},
        {.op = HG_LANE_MAX, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = 0x46fffe00},
        {.op = HG_LANE_MIN, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
        {.op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 0, .a = 1, .index = HG_LANE_F32},
    };
    memset(c, 0, sizeof *c);
    memcpy(c->op, op, sizeof op);
    c->out = (hg_lane_out){.reg = 0, .type = HG_LANE_I32};
    c->code = (hg_lane_code){
        .op = c->op, .out = &c->out, .n_op = HG_COUNT(op), .n_in = 2, .n_out = 1, .n_reg = 4};
}

/* The bits of the reference kernel, which interprets the lane code. */
static void p16i16_gelu_on(const hg_kernel *k, int64_t m, int64_t n)
{
    p16i16_made d;
    gemm_code code;
    p16i16_make(&d, m, n, 37, CODES_RANDOM, P16I16_MOST);
    d.call.in[4] = gemm_tensor(HOLO_F32, 1, (int64_t[]){n}, 22);
    for (int64_t j = 0; j < n; j++)
        ((float *)d.call.in[4].data)[j] *= j == 3 ? NAN : j == 5 ? 1e30f : 1e-7f;
    free(d.call.out.data);
    d.call.out = p16i16_codes(m, n, CODES_RANDOM, P16I16_ALL);
    gemm_connect(&d.call, 5, 0);
    p16i16_code_gelu(&code);
    d.call.args.code = &code.code;
    int16_t *first = gemm_alloc((size_t)(m * n) * 2);
    if (gemm_run(hg_kernels_matmul_p16i16, &d.call)) {
        memcpy(first, d.call.out.data, (size_t)(m * n) * 2);
        if (gemm_run(k, &d.call)) CHECK_MEM(d.call.out.data, first, (size_t)(m * n) * 2);
    }
    free(first);
    p16i16_free(&d);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static int32_t p16i16_space[256];

static void p16i16_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){p16i16_space, {2, 3, 5}, 3, HOLO_I16};
    c->in[1] = (holo_tensor){p16i16_space, {2, 3, 64}, 3, HOLO_I8};
    c->out = (holo_tensor){p16i16_space, {2, 3, 20}, 3, HOLO_I32};
    gemm_connect(c, 4, 0);
}

#define P16I16_SPOIL(name, ...)                                                                    \
    static void p16i16_spoil_##name(gemm_call *c)                                                  \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
P16I16_SPOIL(inputs, c->args.n_in = 1)
P16I16_SPOIL(type_a, c->in[0].dtype = HOLO_U8)
P16I16_SPOIL(type_b, c->in[1].dtype = HOLO_U8)
P16I16_SPOIL(out_string, c->out.dtype = HOLO_STRING)
P16I16_SPOIL(rank_a, c->in[0].rank = 0)
P16I16_SPOIL(rank_b, c->in[1].rank = 2)
P16I16_SPOIL(rows, c->out.dim[1] = 4)
P16I16_SPOIL(panels, c->in[1].dim[0] = 1)
P16I16_SPOIL(zero, c->in[2] = (holo_tensor){p16i16_space, {1}, 1, HOLO_I16})
P16I16_SPOIL(type_out, c->out.dtype = HOLO_F32)
#undef P16I16_SPOIL

static const gemm_bad p16i16_bad[] = {
    {"inputs, expected at least 2", p16i16_spoil_inputs, HOLO_E_FORMAT},
    {"input 0 has type", p16i16_spoil_type_a, HOLO_E_TYPE},
    {"input 1 has type", p16i16_spoil_type_b, HOLO_E_TYPE},
    {"output 0 has type", p16i16_spoil_out_string, HOLO_E_TYPE},
    {"A has rank", p16i16_spoil_rank_a, HOLO_E_SHAPE},
    {"packed B has rank", p16i16_spoil_rank_b, HOLO_E_SHAPE},
    {"output dimension 1 is 4", p16i16_spoil_rows, HOLO_E_SHAPE},
    {"dimension 0 of the packed codes is 1", p16i16_spoil_panels, HOLO_E_SHAPE},
    {"zero points for codes of 16 bits", p16i16_spoil_zero, HOLO_E_FORMAT},
    {"without an epilogue", p16i16_spoil_type_out, HOLO_E_TYPE},
};

static void p16i16_refuses(void)
{
    gemm_refuse(hg_kernels_matmul_p16i16, p16i16_good, p16i16_bad, HG_COUNT(p16i16_bad));
    gemm_call c = {0};
    hg_cost cost = {0};
    p16i16_good(&c);
    hg_kernels_matmul_p16i16->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 6 * 5 * 20, 0);
}

/* ---- tuned variants ----------------------------------------------------------------------- */

static void p16i16_variant(const hg_kernel *k)
{
    p16i16_all(k);
    p16i16_gelu_on(k, 7, 21);
    p16i16_gelu_on(k, 60, 77);
    p16i16_gelu_on(k, 33, 128);
}

static void p16i16_tuned(void)
{
#if defined(TUNED)
    if (tuned_runs()) p16i16_variant(TUNED(matmul_p16i16));
#endif
#if defined(__x86_64__)
    if (tuned_dot_runs()) p16i16_variant(TUNED_DOT(matmul_p16i16));
#endif
}

const hg_test_case hg_tests_kernel_matmul_p16i16[] = {
    {"oracle", p16i16_matches_oracle},
    {"refuses", p16i16_refuses},
    {"tuned", p16i16_tuned},
    {0},
};
