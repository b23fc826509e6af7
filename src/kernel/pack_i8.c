/* pack_i8.c - rearranges 8-bit weights into the panels of igemm.h. Runs at compile time.
 *
 *   pack.p16i8   B [K, N] (trans 0) or [N, K] (trans 1)  ->  [P, Q + 1, 64] i8      param trans
 *   pack.convi8  W [O, C/G, KH, KW]                      ->  [G, P, Q + 1, 64] i8   param groups
 *
 * P = ceil(columns of a group / 16), Q = ceil(K / 4); for convolutions k runs over (kh, kw, c).
 * Unsigned codes become signed ones by taking 128 away. Byte 4 j + i of row q is column j, k =
 * 4 q + i; row Q holds the column sums. What lies beyond the last column or k is zero. */
#include "kernel/igemm.h"
#include "kernel/pack.h"

static holo_status pack_i8_check(const hg_args *a, holo_error *e, int rank_in, int rank_out)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_IGEMM_CODES));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I8)));
    HG_TRY(hg_check_rank(&a->in[0], e, "input", rank_in, rank_in));
    return hg_check_rank(&a->out[0], e, "packed tensor", rank_out, rank_out);
}

static holo_status pack_i8_check_dims(const hg_args *a, holo_error *e, int64_t groups,
                                      int64_t columns, int64_t k)
{
    const holo_tensor *out = &a->out[0];
    const int64_t expected[4] = {groups, hg_panels(columns), hg_quads(k) + 1, HG_QUAD_BYTES};
    for (int d = 0; d < out->rank; d++)
        HG_REQUIRE(e, out->dim[d] == expected[4 - out->rank + d], HOLO_E_SHAPE,
                   "packed dimension %d is %lld, expected %lld", d, (long long)out->dim[d],
                   (long long)expected[4 - out->rank + d]);
    return HOLO_OK;
}

/* No unit when there is no panel. */
static int64_t pack_i8_units(const hg_args *a)
{
    const holo_tensor *out = &a->out[0];
    return holo_tensor_count(out) == 0 ? 0 : hg_dims_product(out, 0, out->rank - 2);
}

/* Where element (k, column) of a source lies: k = tap * channels + channel. */
typedef struct pack_i8_source {
    const uint8_t *data;
    uint8_t flip;
    int64_t k, channels, channel_step, tap_step, column_step;
} pack_i8_source;

static void pack_i8_panel(const pack_i8_source *s, int64_t cols, int8_t *to)
{
    const int64_t quads = hg_quads(s->k);
    uint32_t sum[HG_PANEL] = {0};
    memset(to, 0, (size_t)hg_igemm_panel_bytes(quads));
    for (int64_t k = 0; k < s->k; k++) {
        const uint8_t *from =
            s->data + k % s->channels * s->channel_step + k / s->channels * s->tap_step;
        int8_t *row = to + k / HG_QUAD * HG_QUAD_BYTES + k % HG_QUAD;
        for (int64_t j = 0; j < cols; j++) {
            const uint8_t code = from[j * s->column_step] ^ s->flip;
            const int32_t value = code < 128 ? code : code - 256;
            row[j * HG_QUAD] = (int8_t)value;
            sum[j] += (uint32_t)value;
        }
    }
    memcpy(to + quads * HG_QUAD_BYTES, sum, sizeof sum);
}

static uint8_t pack_i8_flip(const hg_args *a)
{
    return a->in[0].dtype == HOLO_U8 ? HG_CODE_LIFT : 0;
}

static holo_status pack_p16i8_check(const hg_args *a, holo_error *e)
{
    HG_TRY(pack_i8_check(a, e, 2, 3));
    HG_TRY(hg_check_param(a, e, 0, "trans", 0, 1));
    const int trans = (int)a->param[0];
    return pack_i8_check_dims(a, e, 1, a->in[0].dim[1 - trans], a->in[0].dim[trans]);
}

static void pack_p16i8_run(const hg_args *a, hg_range r)
{
    const int trans = (int)a->param[0];
    const int64_t k = a->in[0].dim[trans], n = a->in[0].dim[1 - trans];
    pack_i8_source s = {.flip = pack_i8_flip(a),
                        .k = k,
                        .channels = hg_max(1, k),
                        .channel_step = trans ? 1 : n,
                        .column_step = trans ? k : 1};
    for (int64_t p = r.begin; p < r.end; p++) {
        s.data = (const uint8_t *)a->in[0].data + p * HG_PANEL * s.column_step;
        pack_i8_panel(&s, hg_min(HG_PANEL, n - p * HG_PANEL),
                      (int8_t *)a->out[0].data + p * hg_igemm_panel_bytes(hg_quads(k)));
    }
}

static holo_status pack_convi8_check(const hg_args *a, holo_error *e)
{
    HG_TRY(pack_i8_check(a, e, 4, 4));
    HG_TRY(hg_check_param(a, e, 0, "groups", 1, INT32_MAX));
    const holo_tensor *w = &a->in[0];
    HG_REQUIRE(e, w->dim[0] % a->param[0] == 0, HOLO_E_SHAPE,
               "%lld groups do not divide %lld output channels", (long long)a->param[0],
               (long long)w->dim[0]);
    return pack_i8_check_dims(a, e, a->param[0], w->dim[0] / a->param[0], hg_dims_product(w, 1, 4));
}

static void pack_convi8_run(const hg_args *a, hg_range r)
{
    const holo_tensor *w = &a->in[0], *out = &a->out[0];
    const int64_t outputs = w->dim[0] / a->param[0], taps = w->dim[2] * w->dim[3];
    pack_i8_source s = {.flip = pack_i8_flip(a),
                        .k = taps * w->dim[1],
                        .channels = hg_max(1, w->dim[1]),
                        .channel_step = taps,
                        .tap_step = 1,
                        .column_step = taps * w->dim[1]};
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t p = u % out->dim[1], first = u / out->dim[1] * outputs + p * HG_PANEL;
        s.data = (const uint8_t *)w->data + first * s.column_step;
        pack_i8_panel(&s, hg_min(HG_PANEL, outputs - p * HG_PANEL),
                      (int8_t *)out->data + u * hg_igemm_panel_bytes(hg_quads(s.k)));
    }
}

const hg_kernel hg_kernels_pack_i8[] = {
    {.name = "pack.convi8",
     .check = pack_convi8_check,
     .units = pack_i8_units,
     .run = pack_convi8_run},
    {.name = "pack.p16i8",
     .check = pack_p16i8_check,
     .units = pack_i8_units,
     .run = pack_p16i8_run},
    {0},
};
