/* matmul_p16i8.c - matmul.p16i8 against sums of 64-bit products, every variant. */
#include "kernel/codes.h"

#include "kernel/igemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul_p16i8[];
extern const hg_kernel hg_kernels_pack_i8[];
#if defined(TUNED)
extern const hg_kernel TUNED(matmul_p16i8)[], TUNED_DOT(matmul_p16i8)[];
#endif

typedef struct p16i8_case {
    int64_t m, n, k;
    holo_dtype a, b;
    int zero_a; /* 0 absent, 1 one, 2 one for each row */
    bool zero_b, trans;
    codes_fill fill;
} p16i8_case;

/* B, unpacked; kept beside the call for the oracle. */
typedef struct p16i8_made {
    gemm_call call;
    holo_tensor b;
    int32_t zero_b[512];
} p16i8_made;

static const hg_kernel *p16i8_pack(void)
{
    for (const hg_kernel *k = hg_kernels_pack_i8; k->name != NULL; k++)
        if (strcmp(k->name, "pack.p16i8") == 0) return k;
    abort();
}

static void p16i8_make(p16i8_made *d, const p16i8_case *p)
{
    gemm_call pack, *c = &d->call;
    const int64_t quads = (p->k + 3) / 4;
    memset(&pack, 0, sizeof pack);
    memset(d, 0, sizeof *d);
    d->b = codes_tensor(p->b, 2, (int64_t[]){p->trans ? p->n : p->k, p->trans ? p->k : p->n},
                        p->fill, 7);
    pack.in[0] = d->b;
    pack.out = codes_tensor(HOLO_I8, 3, (int64_t[]){(p->n + 15) / 16, quads + 1, 64}, 0, 1);
    pack.param[0] = p->trans;
    gemm_connect(&pack, 1, 1);
    CHECK(gemm_run(p16i8_pack(), &pack));
    c->in[0] = codes_tensor(p->a, 3, (int64_t[]){1, p->m, p->k},
                            p->fill >= CODES_SMALL ? CODES_EXTREME : p->fill, 3);
    c->in[1] = pack.out;
    if (p->zero_a != 0)
        c->in[2] =
            codes_tensor(p->a, 2, (int64_t[]){p->zero_a == 2 ? p->m : 1, 1}, CODES_RANDOM, 5);
    if (p->zero_b) {
        c->in[3] = (holo_tensor){
            .data = gemm_alloc((size_t)p->n * 4), .rank = 1, .dim = {p->n}, .dtype = HOLO_I32};
        for (int64_t j = 0; j < p->n; j++)
            ((int32_t *)c->in[3].data)[j] = d->zero_b[j] = (int32_t)(j * 37 % 256) - 128;
    }
    c->out = gemm_tensor(HOLO_I32, 3, (int64_t[]){1, p->m, p->n}, 9);
    c->param[0] = p->fill == CODES_SMALL;
    gemm_connect(c, 4, 1);
}

static void p16i8_free(p16i8_made *d)
{
    free(d->b.data);
    gemm_free(&d->call);
}

static int32_t p16i8_oracle(const p16i8_made *d, const p16i8_case *p, int64_t i, int64_t j)
{
    const holo_tensor *in = d->call.in;
    const int64_t lift = p->b == HOLO_U8 ? 128 : 0;
    const int64_t zero = p->zero_a == 0 ? 0 : codes_get(&in[2], p->zero_a == 2 ? i : 0);
    int64_t sum = 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += (codes_get(&in[0], i * p->k + k) - zero) *
               (codes_get(&d->b, p->trans ? j * p->k + k : k * p->n + j) - lift - d->zero_b[j]);
    return codes_wrap(sum);
}

static void p16i8_try(const hg_kernel *k, const p16i8_case *p)
{
    p16i8_made d;
    p16i8_make(&d, p);
    const bool ran = gemm_run(k, &d.call);
    for (int64_t e = 0; ran && e < p->m * p->n; e++)
        if (!CHECK_EQ_INT(((int32_t *)d.call.out.data)[e], p16i8_oracle(&d, p, e / p->n, e % p->n)))
            break;
    p16i8_free(&d);
}

static const struct {
    int64_t m, n, k;
} p16i8_sizes[] = {
    {1, 1, 1},  {1, 16, 4},  {1, 70, 9},  {1, 200, 64}, {2, 33, 7},    {3, 20, 130}, {4, 48, 16},
    {5, 17, 3}, {6, 64, 32}, {7, 80, 20}, {13, 40, 19}, {49, 130, 11}, {97, 70, 40}, {30, 20, 400},
    {2, 20, 0}, {0, 5, 6},   {5, 0, 6},   {3, 15, 515}, {8, 97, 1026}, {100, 16, 5},
};

static void p16i8_all(const hg_kernel *k)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_I8};
    for (size_t i = 0; i < HG_COUNT(p16i8_sizes); i++)
        for (int v = 0; v < 16; v++) {
            const p16i8_case p = {.m = p16i8_sizes[i].m,
                                  .n = p16i8_sizes[i].n,
                                  .k = p16i8_sizes[i].k,
                                  .a = types[v & 1],
                                  .b = types[v >> 1 & 1],
                                  .zero_a = (int)((size_t)v + i) % 3,
                                  .zero_b = (v >> 2 & 1) != 0,
                                  .trans = (v >> 3 & 1) != 0,
                                  .fill = (codes_fill)(((size_t)v + i / 3) % 4)};
            p16i8_try(k, &p);
        }
}

static void p16i8_matches_oracle(void)
{
    p16i8_all(hg_kernels_matmul_p16i8);
}

/* 255 * 127 and -128 * -128, which saturate in 16 bits when two of them are added. */
static void p16i8_extremes_on(const hg_kernel *k)
{
    for (int v = 0; v < 4; v++)
        p16i8_try(k, &(p16i8_case){.m = 5,
                                   .n = 18,
                                   .k = 4096,
                                   .a = v & 1 ? HOLO_I8 : HOLO_U8,
                                   .b = v & 2 ? HOLO_I8 : HOLO_U8,
                                   .fill = v == 3 ? CODES_EXTREME : CODES_LARGEST});
    /* the same here and there, at the ends too, among pairs that do not */
    for (int v = 0; v < 60; v++)
        p16i8_try(k, &(p16i8_case){.m = 3 + v % 7,
                                   .n = 100,
                                   .k = 60 + v * v,
                                   .a = v & 1 ? HOLO_I8 : HOLO_U8,
                                   .b = v & 2 ? HOLO_I8 : HOLO_U8,
                                   .zero_a = v % 3,
                                   .zero_b = v % 5 == 0,
                                   .fill = CODES_RARE});
}

static void p16i8_epilogue_on(const hg_kernel *k, int64_t m, int64_t n)
{
    const p16i8_case p = {
        .m = m, .n = n, .k = 37, .a = HOLO_U8, .b = HOLO_I8, .zero_a = 1, .zero_b = true};
    p16i8_made d;
    gemm_code code;
    p16i8_make(&d, &p);
    d.call.in[4] = gemm_tensor(HOLO_I32, 1, (int64_t[]){n}, 21);
    d.call.in[5] = gemm_tensor(HOLO_F32, 1, (int64_t[]){n}, 22);
    d.call.out.dtype = HOLO_F32;
    gemm_connect(&d.call, 6, 1);
    codes_code_scale(&code);
    d.call.args.code = &code.code;
    const bool ran = gemm_run(k, &d.call);
    for (int64_t e = 0; ran && e < m * n; e++) {
        const int32_t sum = p16i8_oracle(&d, &p, e / n, e % n);
        const float expected = (float)(sum + ((const int32_t *)d.call.in[4].data)[e % n]) *
                               ((const float *)d.call.in[5].data)[e % n];
        if (!CHECK(((const float *)d.call.out.data)[e] == expected)) break;
    }
    p16i8_free(&d);
}

/* The same product with a table behind it: what the table says of each code, `first`. */
static void p16i8_look_up(const hg_kernel *k, gemm_call *c, uint8_t *first, int64_t count)
{
    const uint32_t last = c->args.n_in;
    c->in[last] = codes_tensor(c->out.dtype, 1, (int64_t[]){256}, CODES_RANDOM, 31);
    for (int64_t i = 0; i < count; i++)
        first[i] = ((const uint8_t *)c->in[last].data)[first[i]];
    const hg_lane_code *code = c->args.code;
    c->param[0] = HG_IGEMM_LOOKUP;
    gemm_connect(c, last + 1, 1);
    c->args.code = code;
    if (gemm_run(k, c)) CHECK_MEM(c->out.data, first, (size_t)count);
}

/* The same product of codes that are looked up as they are read: what it makes of the codes that
 * the table says. */
static void p16i8_load_on(const hg_kernel *k, const p16i8_case *p)
{
    p16i8_made d;
    p16i8_make(&d, p);
    gemm_call *c = &d.call;
    c->in[4] = codes_tensor(c->in[0].dtype, 1, (int64_t[]){256}, CODES_RANDOM, 41);
    c->param[0] |= HG_IGEMM_LOAD;
    gemm_connect(c, 5, 1);
    const bool ran = gemm_run(k, c);
    uint8_t *x = c->in[0].data;
    for (int64_t i = 0; i < p->m * p->k; i++)
        x[i] = ((const uint8_t *)c->in[4].data)[x[i]];
    for (int64_t e = 0; ran && e < p->m * p->n; e++)
        if (!CHECK_EQ_INT(((const int32_t *)c->out.data)[e],
                          p16i8_oracle(&d, p, e / p->n, e % p->n)))
            break;
    p16i8_free(&d);
}

/* Rows that lie side by side and rows that end inside a quad. */
static void p16i8_loads_on(const hg_kernel *k)
{
    for (int v = 0; v < 8; v++)
        p16i8_load_on(k, &(p16i8_case){.m = v & 4 ? 1 : 53,
                                       .n = 37,
                                       .k = v & 2 ? 64 : 37,
                                       .a = v & 1 ? HOLO_I8 : HOLO_U8,
                                       .b = HOLO_I8,
                                       .zero_a = 1,
                                       .zero_b = (v & 2) != 0});
}

static void p16i8_loads(void)
{
    p16i8_loads_on(hg_kernels_matmul_p16i8);
}

/* Quantised ends: the bits of the reference kernel, which interprets the lane code. */
static void p16i8_quant_on(const hg_kernel *k, int64_t m, int64_t n, int v)
{
    const p16i8_case p = {.m = m, .n = n, .k = 37, .a = HOLO_U8, .b = HOLO_I8, .zero_a = 1};
    p16i8_made d;
    gemm_code code;
    const bool side = (v & 1) != 0, is_signed = (v & 2) != 0;
    p16i8_make(&d, &p);
    d.call.in[4] = gemm_tensor(HOLO_F32, 1, (int64_t[]){n}, 22);
    for (int64_t j = 0; j < n; j++)
        ((float *)d.call.in[4].data)[j] *= j == 3 ? NAN : j == 5 ? 1e30f : 0.01f;
    for (int64_t j = 0; (v & 4) != 0 && j < n; j++) /* quotients at a half, or a step beside it */
        ((float *)d.call.in[4].data)[j] =
            0.37f * (j % 4 < 2 ? 0.5f : 0.00390625f) * (1 + (float)(j % 5 - 2) * 1.2e-7f);
    if (side) d.call.in[5] = codes_tensor(HOLO_U8, 3, (int64_t[]){1, m, n}, CODES_RANDOM, 23);
    free(d.call.out.data);
    d.call.out = codes_tensor(is_signed ? HOLO_I8 : HOLO_U8, 3, (int64_t[]){1, m, n}, 0, 1);
    gemm_connect(&d.call, side ? 6 : 5, 1);
    codes_code_quant(&code, side, is_signed);
    d.call.args.code = &code.code;
    uint8_t *first = gemm_alloc((size_t)(m * n));
    if (gemm_run(hg_kernels_matmul_p16i8, &d.call)) {
        memcpy(first, d.call.out.data, (size_t)(m * n));
        if (gemm_run(k, &d.call)) CHECK_MEM(d.call.out.data, first, (size_t)(m * n));
        p16i8_look_up(k, &d.call, first, m * n);
    }
    free(first);
    p16i8_free(&d);
}

/* Ends of gated layers, v sigmoid(v) times another operand: the bits of the reference kernel. */
static void p16i8_gate_on(const hg_kernel *k, int64_t m, int64_t n)
{
    const p16i8_case p = {
        .m = m, .n = n, .k = 37, .a = HOLO_U8, .b = HOLO_I8, .zero_a = 1, .zero_b = true};
    p16i8_made d;
    gemm_code code = {
        .op = {{.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0},
               {.op = HG_LANE_CAST, .type = HG_LANE_F32, .dst = 1, .a = 0, .index = HG_LANE_I32},
               {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 2, .index = 1},
               {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 3, .a = 1, .b = 2},
               {.op = HG_LANE_SIGMOID, .type = HG_LANE_F32, .dst = 1, .a = 3},
               {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 4, .a = 3, .b = 1},
               {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 2, .index = 2},
               {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 1, .a = 2, .b = 4}},
        .out = {.reg = 1, .type = HG_LANE_F32}};
    code.code = (hg_lane_code){
        .op = code.op, .out = &code.out, .n_op = 8, .n_in = 3, .n_out = 1, .n_reg = 5};
    p16i8_make(&d, &p);
    d.call.in[4] = gemm_tensor(HOLO_F32, 1, (int64_t[]){n}, 22);
    for (int64_t j = 0; j < n; j++)
        ((float *)d.call.in[4].data)[j] *= j % 5 == 0 ? 0.5f : 0.0005f;
    d.call.in[5] = gemm_tensor(HOLO_F32, 3, (int64_t[]){1, m, n}, 23);
    d.call.out.dtype = HOLO_F32;
    gemm_connect(&d.call, 6, 1);
    d.call.args.code = &code.code;
    float *first = gemm_alloc((size_t)(m * n) * sizeof *first);
    if (gemm_run(hg_kernels_matmul_p16i8, &d.call)) {
        memcpy(first, d.call.out.data, (size_t)(m * n) * sizeof *first);
        if (gemm_run(k, &d.call))
            CHECK_MEM(d.call.out.data, first, (size_t)(m * n) * sizeof *first);
    }
    free(first);
    p16i8_free(&d);
}

/* Codes that the kernel makes of its sums at once. */
static void p16i8_requant_on(const hg_kernel *k, const p16i8_case *p, const codes_requant *how,
                             bool is_large)
{
    p16i8_made d;
    gemm_code code;
    p16i8_make(&d, p);
    const int64_t n = p->n, count = p->m * n;
    holo_tensor *in = d.call.in;
    codes_requant_columns(&in[4], &in[5], n);
    if (is_large) ((float *)in[5].data)[n / 2] = 3; /* factors above a half go another way */
    if (how->side) in[6] = codes_tensor(HOLO_U8, 3, (int64_t[]){1, p->m, n}, CODES_RANDOM, 23);
    free(d.call.out.data);
    d.call.out = codes_tensor(how->is_signed ? HOLO_I8 : HOLO_U8, 3, (int64_t[]){1, p->m, n}, 0, 1);
    gemm_connect(&d.call, how->side ? 7 : 6, 1);
    codes_code_requant(&code, how);
    d.call.args.code = &code.code;
    const bool ran = gemm_run(k, &d.call);
    for (int64_t e = 0; ran && e < count; e++) {
        const int expected = codes_requant_one(
            how, p16i8_oracle(&d, p, e / n, e % n), ((const int32_t *)in[4].data)[e % n],
            ((const float *)in[5].data)[e % n], how->side ? (int)codes_get(&in[6], e) : 0);
        if (!CHECK_EQ_INT(codes_get(&d.call.out, e), expected)) break;
    }
    uint8_t *first = gemm_alloc((size_t)count + 1);
    memcpy(first, d.call.out.data, (size_t)count);
    if (ran) p16i8_look_up(k, &d.call, first, count);
    free(first);
    p16i8_free(&d);
}

static void p16i8_requants_on(const hg_kernel *k)
{
    static const int64_t sizes[][3] = {{1, 40, 37}, {3, 16, 5},   {7, 33, 64},  {8, 64, 20},
                                       {13, 21, 9}, {60, 77, 37}, {101, 48, 16}};
    for (size_t i = 0; i < HG_COUNT(sizes); i++)
        for (int v = 0; v < 16; v++) {
            const codes_requant how = {(v & 1) != 0, (v & 2) != 0, (v & 4) != 0};
            p16i8_requant_on(k,
                             &(p16i8_case){.m = sizes[i][0],
                                           .n = sizes[i][1],
                                           .k = sizes[i][2],
                                           .a = v & 8 ? HOLO_I8 : HOLO_U8,
                                           .b = HOLO_I8,
                                           .zero_a = 1 + (v == 5),
                                           .zero_b = v == 6,
                                           .fill = v & 1 ? CODES_SMALL : CODES_RANDOM},
                             &how, v >= 12);
        }
}

static void p16i8_requants(void)
{
    p16i8_requants_on(hg_kernels_matmul_p16i8);
}

static void p16i8_extremes(void)
{
    p16i8_extremes_on(hg_kernels_matmul_p16i8);
}

static void p16i8_epilogue(void)
{
    for (int v = 0; v < 4; v++)
        p16i8_quant_on(hg_kernels_matmul_p16i8, 7, 21, v);
    p16i8_epilogue_on(hg_kernels_matmul_p16i8, 1, 40);
    p16i8_epilogue_on(hg_kernels_matmul_p16i8, 60, 77);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static int32_t p16i8_space[256];

static void p16i8_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){p16i8_space, {2, 3, 5}, 3, HOLO_U8};
    c->in[1] = (holo_tensor){p16i8_space, {2, 3, 64}, 3, HOLO_I8};
    c->in[2] = (holo_tensor){p16i8_space, {6}, 1, HOLO_U8};
    c->in[3] = (holo_tensor){p16i8_space, {20}, 1, HOLO_I32};
    c->out = (holo_tensor){p16i8_space, {2, 3, 20}, 3, HOLO_I32};
    gemm_connect(c, 4, 1);
}

static gemm_code p16i8_code;

#define P16I8_SPOIL(name, ...)                                                                     \
    static void p16i8_spoil_##name(gemm_call *c)                                                   \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
P16I8_SPOIL(inputs, c->args.n_in = 1)
P16I8_SPOIL(type_a, c->in[0].dtype = HOLO_F32)
P16I8_SPOIL(type_b, c->in[1].dtype = HOLO_U8)
P16I8_SPOIL(out_string, c->out.dtype = HOLO_STRING)
P16I8_SPOIL(form, c->param[0] = 8)
P16I8_SPOIL(no_table, c->param[0] = HG_IGEMM_LOAD)
P16I8_SPOIL(no_codes, c->param[0] = HG_IGEMM_LOOKUP)
P16I8_SPOIL(rank_a, c->in[0].rank = 0)
P16I8_SPOIL(rank_b, c->in[1].rank = 2)
P16I8_SPOIL(rank_out, c->out.rank = 2)
P16I8_SPOIL(rows, c->out.dim[1] = 4)
P16I8_SPOIL(panels, c->in[1].dim[0] = 1)
P16I8_SPOIL(quads, c->in[1].dim[1] = 2)
P16I8_SPOIL(bytes, c->in[1].dim[2] = 16)
P16I8_SPOIL(zero_type, c->in[2].dtype = HOLO_I8)
P16I8_SPOIL(zero_count, c->in[2].dim[0] = 5)
P16I8_SPOIL(zero_b_type, c->in[3].dtype = HOLO_I8)
P16I8_SPOIL(zero_b_count, c->in[3].dim[0] = 19)
P16I8_SPOIL(type_out, c->out.dtype = HOLO_F32)
P16I8_SPOIL(code, codes_code_scale(&p16i8_code); c->args.code = &p16i8_code.code)
#undef P16I8_SPOIL

static const gemm_bad p16i8_bad[] = {
    {"inputs, expected at least 2", p16i8_spoil_inputs, HOLO_E_FORMAT},
    {"input 0 has type", p16i8_spoil_type_a, HOLO_E_TYPE},
    {"input 1 has type", p16i8_spoil_type_b, HOLO_E_TYPE},
    {"output 0 has type", p16i8_spoil_out_string, HOLO_E_TYPE},
    {"form is 8", p16i8_spoil_form, HOLO_E_ARG},
    {"4 inputs, expected a table", p16i8_spoil_no_table, HOLO_E_FORMAT},
    {"a table without codes", p16i8_spoil_no_codes, HOLO_E_FORMAT},
    {"A has rank", p16i8_spoil_rank_a, HOLO_E_SHAPE},
    {"packed B has rank", p16i8_spoil_rank_b, HOLO_E_SHAPE},
    {"output has rank", p16i8_spoil_rank_out, HOLO_E_SHAPE},
    {"output dimension 1 is 4", p16i8_spoil_rows, HOLO_E_SHAPE},
    {"dimension 0 of the packed codes is 1", p16i8_spoil_panels, HOLO_E_SHAPE},
    {"dimension 1 of the packed codes is 2", p16i8_spoil_quads, HOLO_E_SHAPE},
    {"dimension 2 of the packed codes is 16", p16i8_spoil_bytes, HOLO_E_SHAPE},
    {"zero point has type", p16i8_spoil_zero_type, HOLO_E_TYPE},
    {"5 zero points for 6 rows", p16i8_spoil_zero_count, HOLO_E_SHAPE},
    {"input 3 has type", p16i8_spoil_zero_b_type, HOLO_E_TYPE},
    {"19 zero points for 20 columns", p16i8_spoil_zero_b_count, HOLO_E_SHAPE},
    {"without an epilogue", p16i8_spoil_type_out, HOLO_E_TYPE},
    {"inputs for the epilogue", p16i8_spoil_code, HOLO_E_FORMAT},
};

/* With a table behind codes. */
static void p16i8_good_table(gemm_call *c)
{
    p16i8_good(c);
    codes_code_quant(&p16i8_code, false, false);
    c->in[4] = (holo_tensor){p16i8_space, {20}, 1, HOLO_F32};
    c->in[5] = (holo_tensor){p16i8_space, {256}, 1, HOLO_U8};
    c->out.dtype = HOLO_U8;
    c->param[0] = HG_IGEMM_LOOKUP | HG_IGEMM_PAIRS;
    gemm_connect(c, 6, 1);
    c->args.code = &p16i8_code.code;
}

#define P16I8_TABLE(name, ...)                                                                     \
    static void p16i8_table_##name(gemm_call *c)                                                   \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
P16I8_TABLE(type, c->in[5].dtype = HOLO_F32)
P16I8_TABLE(other, c->in[5].dtype = HOLO_I8)
P16I8_TABLE(rank, c->in[5].rank = 2; c->in[5].dim[1] = 1)
P16I8_TABLE(entries, c->in[5].dim[0] = 255)
P16I8_TABLE(operand, c->in[4].dim[0] = 19)
#undef P16I8_TABLE

static const gemm_bad p16i8_bad_table[] = {
    {"input 5 has type", p16i8_table_type, HOLO_E_TYPE},
    {"table has type", p16i8_table_other, HOLO_E_TYPE},
    {"table has rank", p16i8_table_rank, HOLO_E_SHAPE},
    {"table has 255 entries", p16i8_table_entries, HOLO_E_SHAPE},
    {"does not broadcast", p16i8_table_operand, HOLO_E_SHAPE},
};

static void p16i8_refuses(void)
{
    gemm_refuse(hg_kernels_matmul_p16i8, p16i8_good, p16i8_bad, HG_COUNT(p16i8_bad));
    gemm_refuse(hg_kernels_matmul_p16i8, p16i8_good_table, p16i8_bad_table,
                HG_COUNT(p16i8_bad_table));
    gemm_call c = {0};
    hg_cost cost = {0};
    p16i8_good(&c);
    hg_kernels_matmul_p16i8->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 6 * 5 * 20, 0);
}

/* ---- tuned variants ----------------------------------------------------------------------- */

#if defined(TUNED)
static void p16i8_variant(const hg_kernel *k)
{
    p16i8_all(k);
    p16i8_loads_on(k);
    p16i8_extremes_on(k);
    p16i8_epilogue_on(k, 1, 40);
    p16i8_epilogue_on(k, 60, 77);
    p16i8_gate_on(k, 1, 40);
    p16i8_gate_on(k, 60, 139);
    for (int v = 0; v < 8; v++) {
        p16i8_quant_on(k, 1, 40, v);
        p16i8_quant_on(k, 60, 77, v);
    }
    p16i8_requants_on(k);
}

static void p16i8_tuned(void)
{
    if (!tuned_runs()) SKIP("not for this CPU");
    p16i8_variant(TUNED(matmul_p16i8));
}

static void p16i8_tuned_dot(void)
{
    if (!tuned_dot_runs()) SKIP("not for this CPU");
    p16i8_variant(TUNED_DOT(matmul_p16i8));
}
#endif

const hg_test_case hg_tests_kernel_matmul_p16i8[] = {
    {"matches_oracle", p16i8_matches_oracle},
    {"looks_up_loads", p16i8_loads},
    {"extremes", p16i8_extremes},
    {"epilogue", p16i8_epilogue},
    {"requants", p16i8_requants},
    {"refuses", p16i8_refuses},
#if defined(TUNED)
    {"tuned", p16i8_tuned},
    {"tuned_dot", p16i8_tuned_dot},
#endif
    {0},
};
