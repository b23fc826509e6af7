/* pack.c - weight layouts: every element where the layout says, zeros beyond the last column. */
#include "kernel/gemm.h"

extern const hg_kernel hg_kernels_pack[];

static const hg_kernel *pack_find(const char *name)
{
    for (const hg_kernel *k = hg_kernels_pack; k->name != NULL; k++)
        if (strcmp(k->name, name) == 0) return k;
    abort();
}

static void pack_p16_on(int64_t k, int64_t n, int trans, holo_dtype dtype)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    c.in[0] = gemm_tensor(dtype, 2, (int64_t[]){trans ? n : k, trans ? k : n}, 1);
    c.out = gemm_tensor(dtype, 3, (int64_t[]){(n + 15) / 16, k, 16}, 2);
    c.param[0] = trans;
    c.param[2] = n;
    gemm_connect(&c, 1, 3);
    const bool ran = gemm_run(pack_find("pack.p16"), &c);
    for (int64_t i = 0; ran && i < holo_tensor_count(&c.out); i++) {
        const int64_t depth = k == 0 ? 1 : k;
        const int64_t j = i / 16 / depth * 16 + i % 16, row = i / 16 % depth;
        const double expected = j >= n ? 0 : gemm_get(&c.in[0], trans ? j * k + row : row * n + j);
        if (!CHECK_NEAR(gemm_get(&c.out, i), expected, 0)) break;
    }
    gemm_free(&c);
}

static void pack_p16(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F16, HOLO_BF16, HOLO_F64};
    for (size_t t = 0; t < HG_COUNT(types); t++)
        for (int trans = 0; trans < 2; trans++) {
            pack_p16_on(1, 1, trans, types[t]);
            pack_p16_on(5, 16, trans, types[t]);
            pack_p16_on(7, 37, trans, types[t]);
            pack_p16_on(0, 37, trans, types[t]);
            pack_p16_on(3, 0, trans, types[t]);
        }
}

/* Columns [first, first + count) of three matrices side by side. */
static void pack_p16_window(int64_t first, int64_t count, int trans)
{
    static const int64_t columns[3] = {20, 5, 30};
    enum { ROWS = 3 };
    gemm_call c;
    memset(&c, 0, sizeof c);
    for (int i = 0; i < 3; i++)
        c.in[i] = gemm_tensor(HOLO_F32, 2,
                              (int64_t[]){trans ? columns[i] : ROWS, trans ? ROWS : columns[i]},
                              (uint32_t)i + 1);
    c.out = gemm_tensor(HOLO_F32, 3, (int64_t[]){(count + 15) / 16, ROWS, 16}, 9);
    c.param[0] = trans;
    c.param[1] = first;
    c.param[2] = count;
    gemm_connect(&c, 3, 3);
    const bool ran = gemm_run(pack_find("pack.p16"), &c);
    for (int64_t i = 0; ran && i < holo_tensor_count(&c.out); i++) {
        const int64_t place = i / 16 / ROWS * 16 + i % 16, row = i / 16 % ROWS;
        int64_t j = first + place;
        int m = 0;
        while (m < 2 && j >= columns[m])
            j -= columns[m++];
        const double expected =
            place >= count ? 0 : gemm_get(&c.in[m], trans ? j * ROWS + row : row * columns[m] + j);
        if (!CHECK_NEAR(gemm_get(&c.out, i), expected, 0)) break;
    }
    gemm_free(&c);
}

static void pack_p16_windows(void)
{
    for (int trans = 0; trans < 2; trans++) {
        pack_p16_window(0, 55, trans);
        pack_p16_window(16, 32, trans);
        pack_p16_window(19, 7, trans);
        pack_p16_window(55, 0, trans);
        pack_p16_window(25, 30, trans);
    }
}

static void pack_conv_on(int64_t o, int64_t c_group, int64_t kh, int64_t kw, int64_t groups,
                         holo_dtype dtype)
{
    const int64_t group_o = o / groups, panels = (group_o + 15) / 16, k = kh * kw * c_group;
    const int64_t depth = k == 0 ? 1 : k, columns = panels == 0 ? 1 : panels;
    gemm_call c;
    memset(&c, 0, sizeof c);
    c.in[0] = gemm_tensor(dtype, 4, (int64_t[]){o, c_group, kh, kw}, 1);
    c.out = gemm_tensor(dtype, 4, (int64_t[]){groups, panels, k, 16}, 2);
    c.param[0] = groups;
    gemm_connect(&c, 1, 1);
    const bool ran = gemm_run(pack_find("pack.conv"), &c);
    for (int64_t i = 0; ran && i < holo_tensor_count(&c.out); i++) {
        const int64_t row = i / 16 % depth, panel = i / 16 / depth % columns;
        const int64_t group = i / 16 / depth / columns;
        const int64_t j = panel * 16 + i % 16, width = c_group == 0 ? 1 : c_group;
        const int64_t channel = row % width, tap = row / width;
        const int64_t at = ((group * group_o + j) * c_group + channel) * kh * kw + tap;
        const double expected = j >= group_o ? 0 : gemm_get(&c.in[0], at);
        if (!CHECK_NEAR(gemm_get(&c.out, i), expected, 0)) break;
    }
    gemm_free(&c);
}

/* Three axes: W [o, c, kd, kh, kw] is W [o, c, kd * kh, kw] to it. */
static void pack_conv_planes(void)
{
    gemm_call c;
    float w[2 * 3 * 2 * 2 * 2], flat[16 * 3 * 8], deep[16 * 3 * 8];
    for (int i = 0; i < 48; i++)
        w[i] = (float)i;
    memset(&c, 0, sizeof c);
    c.in[0] = (holo_tensor){w, {2, 3, 4, 2}, 4, HOLO_F32};
    c.out = (holo_tensor){flat, {1, 1, 24, 16}, 4, HOLO_F32};
    c.param[0] = 1;
    gemm_connect(&c, 1, 1);
    CHECK(gemm_run(pack_find("pack.conv"), &c));
    c.in[0] = (holo_tensor){w, {2, 3, 2, 2, 2}, 5, HOLO_F32};
    c.out.data = deep;
    CHECK(gemm_run(pack_find("pack.conv"), &c));
    CHECK(memcmp(flat, deep, sizeof flat) == 0);
}

static void pack_conv(void)
{
    pack_conv_on(5, 3, 2, 4, 1, HOLO_F32);
    pack_conv_on(40, 7, 3, 3, 2, HOLO_F32);
    pack_conv_on(36, 4, 1, 1, 3, HOLO_F16);
    pack_conv_on(16, 0, 3, 3, 1, HOLO_F16);
    pack_conv_on(0, 3, 3, 3, 1, HOLO_F32);
    pack_conv_planes();
}

static void pack_dw_on(int64_t channels, int64_t kh, int64_t kw, holo_dtype dtype)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    c.in[0] = gemm_tensor(dtype, 4, (int64_t[]){channels, 1, kh, kw}, 1);
    c.out = gemm_tensor(dtype, 2, (int64_t[]){kh * kw, channels}, 2);
    gemm_connect(&c, 1, 0);
    const bool ran = gemm_run(pack_find("pack.dw"), &c);
    for (int64_t i = 0; ran && i < holo_tensor_count(&c.out); i++) {
        const int64_t width = channels == 0 ? 1 : channels;
        const int64_t at = i % width * kh * kw + i / width;
        if (!CHECK_NEAR(gemm_get(&c.out, i), gemm_get(&c.in[0], at), 0)) break;
    }
    gemm_free(&c);
}

static void pack_dw(void)
{
    pack_dw_on(1, 1, 1, HOLO_F32);
    pack_dw_on(37, 3, 5, HOLO_F32);
    pack_dw_on(8, 3, 3, HOLO_F16);
    pack_dw_on(0, 3, 3, HOLO_F16);
}

/* An empty result asks for no work, however large its other dims are. */
static void pack_empty_is_fast(void)
{
    const int64_t huge = INT64_C(1) << 40;
    gemm_call c;
    memset(&c, 0, sizeof c);
    c.in[0] = (holo_tensor){NULL, {0, 1, huge, 1}, 4, HOLO_F32};
    c.out = (holo_tensor){NULL, {huge, 0}, 2, HOLO_F32};
    gemm_connect(&c, 1, 0);
    CHECK_STATUS(pack_find("pack.dw")->check(&c.args, NULL), HOLO_OK);
    CHECK_EQ_INT(pack_find("pack.dw")->units(&c.args), 0);
    c.in[0] = (holo_tensor){NULL, {huge, 0, 1, 1}, 4, HOLO_F32};
    c.out = (holo_tensor){NULL, {1, huge / 16, 0, 16}, 4, HOLO_F32};
    c.param[0] = 1;
    gemm_connect(&c, 1, 1);
    CHECK_STATUS(pack_find("pack.conv")->check(&c.args, NULL), HOLO_OK);
    CHECK_EQ_INT(pack_find("pack.conv")->units(&c.args), 0);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double pack_space[512];

static void pack_good_p16(gemm_call *c)
{
    c->in[0] = (holo_tensor){pack_space, {4, 20}, 2, HOLO_F32};
    c->in[1] = (holo_tensor){pack_space, {4, 30}, 2, HOLO_F32};
    c->out = (holo_tensor){pack_space, {2, 4, 16}, 3, HOLO_F32};
    c->param[1] = 5;
    c->param[2] = 20;
    gemm_connect(c, 2, 3);
}

static void pack_good_conv(gemm_call *c)
{
    c->in[0] = (holo_tensor){pack_space, {6, 2, 3, 1}, 4, HOLO_F32};
    c->out = (holo_tensor){pack_space, {2, 1, 6, 16}, 4, HOLO_F32};
    c->param[0] = 2;
    gemm_connect(c, 1, 1);
}

static void pack_good_dw(gemm_call *c)
{
    c->in[0] = (holo_tensor){pack_space, {6, 1, 3, 2}, 4, HOLO_F32};
    c->out = (holo_tensor){pack_space, {6, 6}, 2, HOLO_F32};
    gemm_connect(c, 1, 0);
}

#define PACK_SPOIL(name, ...)                                                                      \
    static void pack_spoil_##name(gemm_call *c)                                                    \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
PACK_SPOIL(none, c->args.n_in = 0)
PACK_SPOIL(two, c->args.n_in = 2)
PACK_SPOIL(params, c->args.n_param = 2)
PACK_SPOIL(type, c->in[0].dtype = c->out.dtype = HOLO_I32)
PACK_SPOIL(types, c->out.dtype = HOLO_F16)
PACK_SPOIL(rank, c->in[0].rank = 1)
PACK_SPOIL(rank_out, c->out.rank = 1)
PACK_SPOIL(dims, c->out.rank = 9)
PACK_SPOIL(trans, c->param[0] = 2)
PACK_SPOIL(more_type, c->in[1].dtype = HOLO_I32)
PACK_SPOIL(more_types, c->in[1].dtype = HOLO_F16)
PACK_SPOIL(more_rank, c->in[1].rank = 1)
PACK_SPOIL(rows, c->in[1].dim[0] = 5)
PACK_SPOIL(first, c->param[1] = 51)
PACK_SPOIL(count, c->param[2] = 46)
PACK_SPOIL(groups, c->param[0] = 0)
PACK_SPOIL(divide, c->in[0].dim[0] = 7)
PACK_SPOIL(dim_0, c->out.dim[0]++)
PACK_SPOIL(dim_1, c->out.dim[1]++)
PACK_SPOIL(dim_2, c->out.dim[2]++)
PACK_SPOIL(dim_3, c->out.dim[3]++)
PACK_SPOIL(multiplier, c->in[0].dim[1] = 2)
#undef PACK_SPOIL

static const gemm_bad pack_bad_p16[] = {
    {"inputs, expected at least 1", pack_spoil_none, HOLO_E_FORMAT},
    {"parameters", pack_spoil_params, HOLO_E_FORMAT},
    {"input 0 has type", pack_spoil_type, HOLO_E_TYPE},
    {"packed tensor has type", pack_spoil_types, HOLO_E_TYPE},
    {"input has rank", pack_spoil_rank, HOLO_E_SHAPE},
    {"packed tensor has rank", pack_spoil_rank_out, HOLO_E_SHAPE},
    {"output 0 has rank", pack_spoil_dims, HOLO_E_SHAPE},
    {"trans is 2", pack_spoil_trans, HOLO_E_ARG},
    {"input 1 has type", pack_spoil_more_type, HOLO_E_TYPE},
    {"matrix has type", pack_spoil_more_types, HOLO_E_TYPE},
    {"matrix has rank", pack_spoil_more_rank, HOLO_E_SHAPE},
    {"matrix 1 has 5 rows", pack_spoil_rows, HOLO_E_SHAPE},
    {"first is 51", pack_spoil_first, HOLO_E_ARG},
    {"count is 46", pack_spoil_count, HOLO_E_ARG},
    {"packed dimension 0", pack_spoil_dim_0, HOLO_E_SHAPE},
    {"packed dimension 1", pack_spoil_dim_1, HOLO_E_SHAPE},
    {"packed dimension 2", pack_spoil_dim_2, HOLO_E_SHAPE},
};

static const gemm_bad pack_bad_conv[] = {
    {"inputs, expected at most 1", pack_spoil_two, HOLO_E_FORMAT},
    {"groups is 0", pack_spoil_groups, HOLO_E_ARG},
    {"do not divide 7", pack_spoil_divide, HOLO_E_SHAPE},
    {"packed dimension 0", pack_spoil_dim_0, HOLO_E_SHAPE},
    {"packed dimension 1", pack_spoil_dim_1, HOLO_E_SHAPE},
    {"packed dimension 2", pack_spoil_dim_2, HOLO_E_SHAPE},
    {"packed dimension 3", pack_spoil_dim_3, HOLO_E_SHAPE},
};

static const gemm_bad pack_bad_dw[] = {
    {"2 channels a group", pack_spoil_multiplier, HOLO_E_SHAPE},
    {"packed dimension 0", pack_spoil_dim_0, HOLO_E_SHAPE},
    {"packed dimension 1", pack_spoil_dim_1, HOLO_E_SHAPE},
};

static void pack_refuses(void)
{
    gemm_refuse(pack_find("pack.p16"), pack_good_p16, pack_bad_p16, HG_COUNT(pack_bad_p16));
    gemm_refuse(pack_find("pack.conv"), pack_good_conv, pack_bad_conv, HG_COUNT(pack_bad_conv));
    gemm_refuse(pack_find("pack.dw"), pack_good_dw, pack_bad_dw, HG_COUNT(pack_bad_dw));
}

const hg_test_case hg_tests_kernel_pack[] = {
    {"p16", pack_p16},
    {"p16_windows", pack_p16_windows},
    {"conv", pack_conv},
    {"dw", pack_dw},
    {"empty_is_fast", pack_empty_is_fast},
    {"refuses", pack_refuses},
    {0},
};
