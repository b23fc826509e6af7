/* pack.c - rearranges weights into the layouts the CPU kernels read. Runs at compile time, in
 * a session for weights that are computed only; moves elements by size and never looks at their
 * values.
 *
 *   pack.p16   B [K, N] (trans 0) or [N, K] (trans 1)  ->  [P, K, 16]
 *              param trans, first, count: columns [first, first + count) of all inputs side by side
 *   pack.conv  W [O, C/G, KH, KW]  ->  [G, P, KH*KW*C/G, 16], param groups
 *              W [O, C/G, KD, KH, KW] likewise
 *   pack.dw    W [C, 1, KH, KW]  ->  [KH*KW, C]; W [C, 1, KD, KH, KW] likewise
 *
 * P = ceil(columns / 16); columns beyond the last are zero. k runs over (kd, kh, kw, c). */
#include "kernel/pack.h"

#define PACK_TYPES_HALF (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16))

static holo_status pack_check_dim(const holo_tensor *t, holo_error *e, int d, int64_t expected)
{
    HG_REQUIRE(e, t->dim[d] == expected, HOLO_E_SHAPE, "packed dimension %d is %lld, expected %lld",
               d, (long long)t->dim[d], (long long)expected);
    return HOLO_OK;
}

/* `n_in` inputs at most. */
static holo_status pack_check_common(const hg_args *a, holo_error *e, hg_types types, int n_in,
                                     int n_param, int rank_in, int rank_out)
{
    HG_TRY(hg_check_counts(a, e, 1, n_in, 1, n_param));
    HG_TRY(hg_check_in_type(a, e, 0, types));
    HG_TRY(hg_check_same_type(&a->in[0], &a->out[0], e, "packed tensor"));
    HG_TRY(hg_check_out_type(a, e, 0, types));
    HG_TRY(hg_check_rank(&a->in[0], e, "input", rank_in, rank_in));
    return hg_check_rank(&a->out[0], e, "packed tensor", rank_out, rank_out);
}

/* No unit when there is nothing to write: the dims that remain may be as large as they like. */
static int64_t pack_units(const hg_args *a, int dims)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : hg_dims_product(&a->out[0], 0, dims);
}

static size_t pack_size(const hg_args *a)
{
    return hg_dtype_bits(a->in[0].dtype) / 8;
}

/* dst[i] = src[i * stride], elements of `size` bytes. */
static void pack_gather(char *dst, const char *src, int64_t count, int64_t stride, size_t size)
{
    for (int64_t i = 0; size == sizeof(uint32_t) && i < count; i++)
        memcpy(dst + (size_t)i * sizeof(uint32_t), src + (size_t)(i * stride) * sizeof(uint32_t),
               sizeof(uint32_t));
    for (int64_t i = 0; size != sizeof(uint32_t) && i < count; i++)
        memcpy(dst + (size_t)i * size, src + (size_t)(i * stride) * size, size);
}

/* One row of a panel: `count` columns, then zeros. */
static void pack_row(char *dst, const char *src, int64_t count, int64_t stride, size_t size)
{
    pack_gather(dst, src, count, stride, size);
    memset(dst + (size_t)count * size, 0, (size_t)(HG_PANEL - count) * size);
}

static holo_status pack_p16_check(const hg_args *a, holo_error *e)
{
    int64_t columns = 0; /* so few dims never overflow */
    HG_TRY(pack_check_common(a, e, HG_TYPES_FLOAT, HG_PACK_MATRICES, 3, 2, 3));
    HG_TRY(hg_check_param(a, e, 0, "trans", 0, 1));
    const int trans = (int)a->param[0];
    for (uint32_t i = 0; i < a->n_in; i++) {
        const holo_tensor *t = &a->in[i];
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(t, &a->in[0], e, "matrix"));
        HG_TRY(hg_check_rank(t, e, "matrix", 2, 2));
        HG_REQUIRE(e, t->dim[trans] == a->in[0].dim[trans], HOLO_E_SHAPE,
                   "matrix %u has %lld rows, expected %lld", i, (long long)t->dim[trans],
                   (long long)a->in[0].dim[trans]);
        columns += t->dim[1 - trans];
    }
    HG_TRY(hg_check_param(a, e, 1, "first", 0, columns));
    HG_TRY(hg_check_param(a, e, 2, "count", 0, columns - a->param[1]));
    HG_TRY(pack_check_dim(&a->out[0], e, 0, hg_panels(a->param[2])));
    HG_TRY(pack_check_dim(&a->out[0], e, 1, a->in[0].dim[trans]));
    return pack_check_dim(&a->out[0], e, 2, HG_PANEL);
}

static int64_t pack_p16_units(const hg_args *a)
{
    return pack_units(a, 1);
}

/* Columns [first, first + count) of one matrix, into part of a panel. */
static void pack_p16_part(const holo_tensor *in, int trans, int64_t first, int64_t count, char *dst)
{
    const int64_t k = in->dim[trans], n = in->dim[1 - trans];
    const int64_t k_stride = trans ? 1 : n, n_stride = trans ? k : 1;
    const size_t size = hg_dtype_bits(in->dtype) / 8;
    const char *src = (const char *)in->data + (size_t)(first * n_stride) * size;
    for (int64_t i = 0; i < k; i++)
        pack_gather(dst + (size_t)(i * HG_PANEL) * size, src + (size_t)(i * k_stride) * size, count,
                    n_stride, size);
}

static void pack_p16_run(const hg_args *a, hg_range r)
{
    const int trans = (int)a->param[0];
    const int64_t k = a->in[0].dim[trans];
    const size_t size = pack_size(a), bytes = (size_t)(k * HG_PANEL) * size;
    for (int64_t p = r.begin; p < r.end; p++) {
        char *dst = (char *)a->out[0].data + (size_t)p * bytes;
        const int64_t first = a->param[1] + p * HG_PANEL;
        const int64_t end = hg_min(first + HG_PANEL, a->param[1] + a->param[2]);
        if (end - first < HG_PANEL) memset(dst, 0, bytes);
        int64_t at = 0; /* columns of the inputs before */
        for (uint32_t i = 0; i < a->n_in; i++) {
            const int64_t n = a->in[i].dim[1 - trans];
            const int64_t low = hg_max(first, at), high = hg_min(end, at + n);
            if (low < high)
                pack_p16_part(&a->in[i], trans, low - at, high - low,
                              dst + (size_t)(low - first) * size);
            at += n;
        }
    }
}

/* Weights of a convolution over two or three axes. */
static int pack_rank(const hg_args *a)
{
    return a->n_in > 0 && a->in[0].rank == 5 ? 5 : 4;
}

static holo_status pack_conv_check(const hg_args *a, holo_error *e)
{
    const holo_tensor *w = &a->in[0];
    const int rank = pack_rank(a);
    HG_TRY(pack_check_common(a, e, PACK_TYPES_HALF, 1, 1, rank, 4));
    HG_TRY(hg_check_param(a, e, 0, "groups", 1, INT32_MAX));
    const int64_t groups = a->param[0];
    HG_REQUIRE(e, w->dim[0] % groups == 0, HOLO_E_SHAPE,
               "%lld groups do not divide %lld output channels", (long long)groups,
               (long long)w->dim[0]);
    HG_TRY(pack_check_dim(&a->out[0], e, 0, groups));
    HG_TRY(pack_check_dim(&a->out[0], e, 1, hg_panels(w->dim[0] / groups)));
    HG_TRY(pack_check_dim(&a->out[0], e, 2, hg_dims_product(w, 1, rank)));
    return pack_check_dim(&a->out[0], e, 3, HG_PANEL);
}

static int64_t pack_conv_units(const hg_args *a)
{
    return pack_units(a, 2);
}

static void pack_conv_run(const hg_args *a, hg_range r)
{
    const holo_tensor *w = &a->in[0], *out = &a->out[0];
    const int64_t outputs = w->dim[0] / a->param[0], channels = w->dim[1];
    const int64_t taps = hg_dims_product(w, 2, w->rank), k = out->dim[2];
    const size_t size = pack_size(a);
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t group = u / out->dim[1], p = u % out->dim[1];
        const int64_t first = group * outputs + p * HG_PANEL;
        const int64_t cols = hg_min(HG_PANEL, outputs - p * HG_PANEL);
        char *dst = (char *)out->data + (size_t)(u * k * HG_PANEL) * size;
        for (int64_t tap = 0; tap < taps; tap++)
            for (int64_t c = 0; c < channels; c++) {
                const int64_t at = (first * channels + c) * taps + tap;
                pack_row(dst, (const char *)w->data + (size_t)at * size, cols, k, size);
                dst += HG_PANEL * size;
            }
    }
}

static holo_status pack_dw_check(const hg_args *a, holo_error *e)
{
    const holo_tensor *w = &a->in[0];
    const int rank = pack_rank(a);
    HG_TRY(pack_check_common(a, e, PACK_TYPES_HALF | HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8), 1,
                             0, rank, 2));
    HG_REQUIRE(e, w->dim[1] == 1, HOLO_E_SHAPE, "weights have %lld channels a group, expected 1",
               (long long)w->dim[1]);
    HG_TRY(pack_check_dim(&a->out[0], e, 0, hg_dims_product(w, 2, rank)));
    return pack_check_dim(&a->out[0], e, 1, w->dim[0]);
}

static int64_t pack_dw_units(const hg_args *a)
{
    return pack_units(a, 1);
}

static void pack_dw_run(const hg_args *a, hg_range r)
{
    const size_t size = pack_size(a);
    const int64_t taps = a->out[0].dim[0], channels = a->out[0].dim[1];
    for (int64_t tap = r.begin; tap < r.end; tap++)
        pack_gather((char *)a->out[0].data + (size_t)(tap * channels) * size,
                    (const char *)a->in[0].data + (size_t)tap * size, channels, taps, size);
}

const hg_kernel hg_kernels_pack[] = {
    {.name = "pack.conv", .check = pack_conv_check, .units = pack_conv_units, .run = pack_conv_run},
    {.name = "pack.dw", .check = pack_dw_check, .units = pack_dw_units, .run = pack_dw_run},
    {.name = "pack.p16", .check = pack_p16_check, .units = pack_p16_units, .run = pack_p16_run},
    {0},
};
