/* pack_i8.c - panels of 8-bit codes: every code where the layout says, column sums behind. */
#include "kernel/codes.h"

extern const hg_kernel hg_kernels_pack_i8[];

static const hg_kernel *pack_i8_find(const char *name)
{
    for (const hg_kernel *k = hg_kernels_pack_i8; k->name != NULL; k++)
        if (strcmp(k->name, name) == 0) return k;
    abort();
}

static int64_t pack_i8_signed(const holo_tensor *t, int64_t i)
{
    return codes_get(t, i) - (t->dtype == HOLO_U8 ? 128 : 0);
}

/* Panel `at` holds columns [first, first + cols) of [columns, k] codes; index gives their place. */
typedef struct pack_i8_view {
    const holo_tensor *in, *out;
    int64_t k, channels, channel_step, tap_step, column_step;
} pack_i8_view;

static void pack_i8_check(const pack_i8_view *v, int64_t at, int64_t first, int64_t cols)
{
    const int64_t quads = (v->k + 3) / 4;
    const int8_t *panel = (const int8_t *)v->out->data + at * (quads + 1) * 64;
    for (int64_t j = 0; j < 16; j++) {
        int64_t sum = 0;
        int32_t stored;
        for (int64_t k = 0; k < quads * 4; k++) {
            int64_t expected = 0;
            if (j < cols && k < v->k)
                expected = pack_i8_signed(v->in, (first + j) * v->column_step +
                                                     k % v->channels * v->channel_step +
                                                     k / v->channels * v->tap_step);
            sum += expected;
            if (!CHECK_EQ_INT(panel[k / 4 * 64 + j * 4 + k % 4], expected)) return;
        }
        memcpy(&stored, panel + quads * 64 + j * 4, sizeof stored);
        CHECK_EQ_INT(stored, sum);
    }
}

static void pack_i8_matrix_on(int64_t k, int64_t n, int trans, holo_dtype dtype)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    c.in[0] = codes_tensor(dtype, 2, (int64_t[]){trans ? n : k, trans ? k : n}, CODES_RANDOM, 1);
    c.out = codes_tensor(HOLO_I8, 3, (int64_t[]){(n + 15) / 16, (k + 3) / 4 + 1, 64}, 0, 2);
    c.param[0] = trans;
    gemm_connect(&c, 1, 1);
    const pack_i8_view v = {.in = &c.in[0],
                            .out = &c.out,
                            .k = k,
                            .channels = k + 1,
                            .channel_step = trans ? 1 : n,
                            .column_step = trans ? k : 1};
    if (gemm_run(pack_i8_find("pack.p16i8"), &c))
        for (int64_t p = 0; p < (n + 15) / 16; p++)
            pack_i8_check(&v, p, p * 16, n - p * 16);
    gemm_free(&c);
}

static void pack_i8_matrix(void)
{
    for (int v = 0; v < 4; v++) {
        const holo_dtype dtype = v & 2 ? HOLO_U8 : HOLO_I8;
        pack_i8_matrix_on(1, 1, v & 1, dtype);
        pack_i8_matrix_on(8, 16, v & 1, dtype);
        pack_i8_matrix_on(7, 37, v & 1, dtype);
        pack_i8_matrix_on(0, 20, v & 1, dtype);
        pack_i8_matrix_on(5, 0, v & 1, dtype);
    }
}

static void pack_i8_conv_on(int64_t groups, int64_t o, int64_t c_in, int64_t kh, int64_t kw)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    const int64_t k = c_in * kh * kw, panels = (o + 15) / 16;
    c.in[0] = codes_tensor(HOLO_U8, 4, (int64_t[]){groups * o, c_in, kh, kw}, CODES_EXTREME, 1);
    c.out = codes_tensor(HOLO_I8, 4, (int64_t[]){groups, panels, (k + 3) / 4 + 1, 64}, 0, 2);
    c.param[0] = groups;
    gemm_connect(&c, 1, 1);
    const pack_i8_view v = {.in = &c.in[0],
                            .out = &c.out,
                            .k = k,
                            .channels = c_in,
                            .channel_step = kh * kw,
                            .tap_step = 1,
                            .column_step = k};
    if (gemm_run(pack_i8_find("pack.convi8"), &c))
        for (int64_t p = 0; p < groups * panels; p++)
            pack_i8_check(&v, p, p / panels * o + p % panels * 16, o - p % panels * 16);
    gemm_free(&c);
}

static void pack_i8_conv(void)
{
    pack_i8_conv_on(1, 20, 3, 3, 3);
    pack_i8_conv_on(2, 5, 4, 1, 1);
    pack_i8_conv_on(3, 18, 2, 1, 3);
}

static int8_t pack_i8_space[1024];

static void pack_i8_good_matrix(gemm_call *c)
{
    c->in[0] = (holo_tensor){pack_i8_space, {5, 7}, 2, HOLO_I8};
    c->out = (holo_tensor){pack_i8_space, {1, 3, 64}, 3, HOLO_I8};
    gemm_connect(c, 1, 1);
}

static void pack_i8_good_conv(gemm_call *c)
{
    c->in[0] = (holo_tensor){pack_i8_space, {6, 2, 1, 2}, 4, HOLO_I8};
    c->out = (holo_tensor){pack_i8_space, {2, 1, 2, 64}, 4, HOLO_I8};
    c->param[0] = 2;
    gemm_connect(c, 1, 1);
}

#define PACK_I8_SPOIL(name, ...)                                                                   \
    static void pack_i8_spoil_##name(gemm_call *c)                                                 \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
PACK_I8_SPOIL(inputs, c->args.n_in = 2)
PACK_I8_SPOIL(type, c->in[0].dtype = HOLO_F32)
PACK_I8_SPOIL(type_out, c->out.dtype = HOLO_U8)
PACK_I8_SPOIL(rank, c->in[0].rank = 1)
PACK_I8_SPOIL(rank_out, c->out.rank = 2)
PACK_I8_SPOIL(trans, c->param[0] = 2)
PACK_I8_SPOIL(groups, c->param[0] = 0)
PACK_I8_SPOIL(divide, c->param[0] = 4)
PACK_I8_SPOIL(dim_0, c->out.dim[0] = 7)
PACK_I8_SPOIL(dim_1, c->out.dim[1] = 7)
PACK_I8_SPOIL(dim_2, c->out.dim[2] = 7)
#undef PACK_I8_SPOIL

static const gemm_bad pack_i8_bad_matrix[] = {
    {"inputs, expected", pack_i8_spoil_inputs, HOLO_E_FORMAT},
    {"input 0 has type", pack_i8_spoil_type, HOLO_E_TYPE},
    {"output 0 has type", pack_i8_spoil_type_out, HOLO_E_TYPE},
    {"input has rank", pack_i8_spoil_rank, HOLO_E_SHAPE},
    {"packed tensor has rank", pack_i8_spoil_rank_out, HOLO_E_SHAPE},
    {"trans is 2", pack_i8_spoil_trans, HOLO_E_ARG},
    {"packed dimension 0", pack_i8_spoil_dim_0, HOLO_E_SHAPE},
    {"packed dimension 1", pack_i8_spoil_dim_1, HOLO_E_SHAPE},
    {"packed dimension 2", pack_i8_spoil_dim_2, HOLO_E_SHAPE},
};

static const gemm_bad pack_i8_bad_conv[] = {
    {"input has rank", pack_i8_spoil_rank, HOLO_E_SHAPE},
    {"groups is 0", pack_i8_spoil_groups, HOLO_E_ARG},
    {"4 groups do not divide 6", pack_i8_spoil_divide, HOLO_E_SHAPE},
    {"packed dimension 0", pack_i8_spoil_dim_0, HOLO_E_SHAPE},
    {"packed dimension 1", pack_i8_spoil_dim_1, HOLO_E_SHAPE},
};

static void pack_i8_refuses(void)
{
    gemm_refuse(pack_i8_find("pack.p16i8"), pack_i8_good_matrix, pack_i8_bad_matrix,
                HG_COUNT(pack_i8_bad_matrix));
    gemm_refuse(pack_i8_find("pack.convi8"), pack_i8_good_conv, pack_i8_bad_conv,
                HG_COUNT(pack_i8_bad_conv));
}

const hg_test_case hg_tests_kernel_pack_i8[] = {
    {"matrix", pack_i8_matrix},
    {"conv", pack_i8_conv},
    {"refuses", pack_i8_refuses},
    {0},
};
