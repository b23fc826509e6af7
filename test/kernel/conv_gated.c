/* conv_gated.c - conv.gated against a double-precision oracle, every variant. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv_gated[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_gated)[];
#endif

typedef struct gated_sizes {
    int64_t n, h, w, c, o, gates;
} gated_sizes;

static void gated_make(gemm_call *c, const gated_sizes *s, holo_dtype weights, holo_dtype result,
                       uint32_t extra)
{
    memset(c, 0, sizeof *c);
    c->in[0] = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->h, s->w, s->c}, 1);
    c->in[1] = gemm_tensor(weights, 4, (int64_t[]){1, (s->o + 15) / 16, s->c, 16}, 2);
    c->in[2] = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->gates, 1, 1, s->c}, 3);
    for (uint32_t i = 0; i < extra; i++)
        c->in[3 + i] = i == 0
                           ? gemm_tensor(HOLO_F32, 1, (int64_t[]){s->o}, 4)
                           : gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->h, s->w, s->o}, 4 + i);
    c->out = gemm_tensor(result, 4, (int64_t[]){s->n, s->h, s->w, s->o}, 8);
    gemm_connect(c, 3 + extra, 0);
}

static bool gated_near(const gemm_call *c, const gated_sizes *s, const char *what, int64_t element,
                       uint32_t extra)
{
    const int64_t pixel = element / s->o, col = element % s->o;
    const int64_t gate = s->gates == 1 ? 0 : pixel / (s->h * s->w) * s->c;
    double sum = 0, sum_abs = 0;
    for (int64_t k = 0; k < s->c; k++) {
        const double p = gemm_get(&c->in[0], pixel * s->c + k) * gemm_get(&c->in[2], gate + k) *
                         gemm_get(&c->in[1], (col / 16 * s->c + k) * 16 + col % 16);
        sum += p;
        sum_abs += fabs(p);
    }
    for (uint32_t i = 0; i < extra; i++) {
        const double more = gemm_get(&c->in[3 + i], i == 0 ? col : element);
        sum += more;
        sum_abs += fabs(more);
    }
    if (extra > 0 && sum < 0) sum = 0;
    return gemm_near(what, &c->out, element, s->c + 4, sum, sum_abs);
}

static void gated_try(const hg_kernel *k, const char *what, const gated_sizes *s, int way)
{
    const uint32_t extra = way < 2 ? 0 : (uint32_t)way - 1; /* 1: bias, 2: residual, 3: lane code */
    gemm_call c;
    gemm_code code;
    gated_make(&c, s, way % 2 ? HOLO_F16 : HOLO_F32, way == 5 ? HOLO_F16 : HOLO_F32, extra);
    gemm_code_sum(&code, extra);
    if (extra > 0) c.args.code = &code.code;
    const bool ran = gemm_run(k, &c);
    const int64_t count = holo_tensor_count(&c.out);
    for (int64_t e = 0; ran && e < count; e++)
        if (!gated_near(&c, s, what, e, extra)) break;
    gemm_free(&c);
}

/* clang-format off */
static const gated_sizes gated_table[] = {
    /* n  h   w    c    o gates */
    {1,  7,  7,  40,  24, 1},
    {2,  7,  9,  33,  40, 2}, /* blocks of pixels end with the image */
    {3,  5,  5,   8,  17, 1}, /* one gate for all images */
    {1, 14, 15, 500,  20, 1}, /* several blocks of k */
    {1,  9,  9, 769,  72, 1}, /* of which the last is smaller; an odd number of panels */
    {2, 11, 18,  12,   5, 2},
    {1,  1,  1,   3,   1, 1},
    {1, 30, 31,   4,  16, 1},
    {1,  4,  4,   0,   8, 1},
    {1,  4,  4,   5,   0, 1},
    {0,  4,  4,   5,   8, 0},
    {1,  0,  4,   5,   8, 1},
};
/* clang-format on */

static void gated_table_on(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(gated_table); i++)
        for (int way = 0; way < 6; way++) {
            char what[60];
            snprintf(what, sizeof what, "case %zu, way %d", i, way);
            gated_try(k, what, &gated_table[i], way);
        }
}

static void gated_matches_oracle(void)
{
    gated_table_on(hg_kernels_conv_gated);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double gated_space[512];

static void gated_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){gated_space, {2, 5, 6, 4}, 4, HOLO_F32};
    c->in[1] = (holo_tensor){gated_space, {1, 2, 4, 16}, 4, HOLO_F32};
    c->in[2] = (holo_tensor){gated_space, {2, 1, 1, 4}, 4, HOLO_F32};
    c->out = (holo_tensor){gated_space, {2, 5, 6, 20}, 4, HOLO_F32};
    gemm_connect(c, 3, 0);
}

#define GATED_SPOIL(name, ...)                                                                     \
    static void gated_spoil_##name(gemm_call *c)                                                   \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
GATED_SPOIL(inputs, c->args.n_in = 2)
GATED_SPOIL(type_x, c->in[0].dtype = HOLO_F64)
GATED_SPOIL(type_w, c->in[1].dtype = HOLO_BF16)
GATED_SPOIL(type_g, c->in[2].dtype = HOLO_F16)
GATED_SPOIL(type_y, c->out.dtype = HOLO_STRING)
GATED_SPOIL(rank_x, c->in[0].rank = 3)
GATED_SPOIL(rank_w, c->in[1].rank = 3)
GATED_SPOIL(rank_g, c->in[2].rank = 3)
GATED_SPOIL(rank_y, c->out.rank = 3)
GATED_SPOIL(images, c->out.dim[0] = 3)
GATED_SPOIL(high, c->out.dim[1] = 6)
GATED_SPOIL(wide, c->out.dim[2] = 7)
GATED_SPOIL(groups, c->in[1].dim[0] = 2)
GATED_SPOIL(panels, c->in[1].dim[1] = 1)
GATED_SPOIL(depth, c->in[1].dim[2] = 5)
GATED_SPOIL(width, c->in[1].dim[3] = 8)
GATED_SPOIL(gates, c->in[2].dim[0] = 3)
GATED_SPOIL(gate_h, c->in[2].dim[1] = 5)
GATED_SPOIL(gate_w, c->in[2].dim[2] = 6)
GATED_SPOIL(gate_c, c->in[2].dim[3] = 5)
GATED_SPOIL(extra, c->args.n_in = 4)
#undef GATED_SPOIL

static const gemm_bad gated_bad[] = {
    {"inputs, expected at least 3", gated_spoil_inputs, HOLO_E_FORMAT},
    {"input 0 has type", gated_spoil_type_x, HOLO_E_TYPE},
    {"input 1 has type", gated_spoil_type_w, HOLO_E_TYPE},
    {"input 2 has type", gated_spoil_type_g, HOLO_E_TYPE},
    {"output 0 has type", gated_spoil_type_y, HOLO_E_TYPE},
    {"input has rank", gated_spoil_rank_x, HOLO_E_SHAPE},
    {"packed weights has rank", gated_spoil_rank_w, HOLO_E_SHAPE},
    {"gate has rank", gated_spoil_rank_g, HOLO_E_SHAPE},
    {"output has rank", gated_spoil_rank_y, HOLO_E_SHAPE},
    {"dimension 0 of the output", gated_spoil_images, HOLO_E_SHAPE},
    {"dimension 1 of the output", gated_spoil_high, HOLO_E_SHAPE},
    {"dimension 2 of the output", gated_spoil_wide, HOLO_E_SHAPE},
    {"dimension 0 of the packed weights", gated_spoil_groups, HOLO_E_SHAPE},
    {"dimension 1 of the packed weights", gated_spoil_panels, HOLO_E_SHAPE},
    {"dimension 2 of the packed weights", gated_spoil_depth, HOLO_E_SHAPE},
    {"dimension 3 of the packed weights", gated_spoil_width, HOLO_E_SHAPE},
    {"gate has 3 images", gated_spoil_gates, HOLO_E_SHAPE},
    {"dimension 1 of the gate", gated_spoil_gate_h, HOLO_E_SHAPE},
    {"dimension 2 of the gate", gated_spoil_gate_w, HOLO_E_SHAPE},
    {"dimension 3 of the gate", gated_spoil_gate_c, HOLO_E_SHAPE},
    {"inputs, expected at most 3", gated_spoil_extra, HOLO_E_FORMAT},
};

static void gated_refuses(void)
{
    gemm_refuse(hg_kernels_conv_gated, gated_good, gated_bad, HG_COUNT(gated_bad));
}

static void gated_cost_counts(void)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    gated_good(&c);
    hg_cost cost = {0};
    hg_kernels_conv_gated->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 2 * 5 * 6 * 20 * 4, 0);
}

#if defined(TUNED)
static void gated_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    gated_table_on(TUNED(conv_gated));
    uint32_t seed = 3;
    for (int i = 0; i < 200; i++) {
        gated_sizes s = {.n = gemm_size(&seed, 1, 3), .h = gemm_size(&seed, 1, 14)};
        s.w = gemm_size(&seed, 1, 14);
        s.c = gemm_size(&seed, 1, i % 10 == 0 ? 900 : 40);
        s.o = gemm_size(&seed, 1, 50);
        s.gates = i % 4 == 0 ? 1 : s.n;
        char what[40];
        snprintf(what, sizeof what, "random %d", i);
        gated_try(TUNED(conv_gated), what, &s, i % 6);
    }
}
#endif

const hg_test_case hg_tests_kernel_conv_gated[] = {
    {"matches_oracle", gated_matches_oracle},
    {"refuses", gated_refuses},
    {"cost", gated_cost_counts},
#if defined(TUNED)
    {"tuned", gated_tuned},
#endif
    {0},
};
