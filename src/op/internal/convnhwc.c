/* convnhwc.c - holo:ConvNhwc: convolution over two or three axes, channels last, packed weights,
 * with an epilogue. With `maps` above 1 that many inputs, the first and those behind the weights,
 * are what Concat would put side by side. */
#include "kernel/conv_nhwc.h"
#include "op/op_matmul.h"
#include "op/op_nhwc.h"

_Static_assert((int)HG_NHWC_MAPS == (int)HG_CONV_MAPS, "what the kernel takes");

static holo_status convnhwc_infer(hg_infer *n)
{
    hg_window w;
    int64_t groups, maps;
    hg_dim channels;
    HG_TRY(hg_infer_rank(n, 0, 4, 5));
    HG_TRY(hg_infer_rank(n, 1, 4, 4));
    HG_TRY(hg_attr_int(n, "group", 1, &groups));
    HG_TRY(hg_attr_int(n, "maps", 1, &maps));
    if (maps < 1 || maps > HG_NHWC_MAPS || 1 + maps > n->n_in || (maps > 1 && groups != 1))
        return hg_infer_fail(n, HOLO_E_MODEL, "%lld maps in %lld groups of %u inputs",
                             (long long)maps, (long long)groups, n->n_in);
    HG_TRY(hg_attr_dim(n, "out_channels", &channels));
    HG_TRY(hg_nhwc_infer(n, HG_WINDOW_FLOOR, channels, &w));
    return hg_epilogue_type(n, 1 + (uint32_t)maps, &n->out[0].dtype);
}

/* Channels from which Winograd's algorithm may pay: on all pixels, and on grids of a dilated
 * kernel, where narrow layers gain nothing but errors (u2netp: 1.04e-4 of its outputs, 0.85e-4
 * without). */
enum { CONVNHWC_WINOGRAD = 12, CONVNHWC_WINOGRAD_GRIDS = 128 };

static bool convnhwc_is(hg_emit *e, const hg_dim *dims, int64_t value)
{
    return hg_dim_is(&e->g->dims, dims[0], value) && hg_dim_is(&e->g->dims, dims[1], value);
}

/* Channels of all maps. */
static bool convnhwc_channels(hg_emit *e, int64_t *channels)
{
    const int64_t maps = hg_node_int(e->node, "maps", 1);
    *channels = 0;
    for (int64_t i = 0; i < maps; i++) {
        int64_t c;
        const hg_type *x = hg_emit_type(e, i == 0 ? 0 : (uint32_t)i + 1);
        if (!hg_dim_is_const(&e->g->dims, x->dim[x->rank - 1], &c)) return false;
        *channels += c;
    }
    return true;
}

/* 3x3 in the last two axes, stride 1, enough channels; the kernel looks at the sizes. */
static bool convnhwc_suits_winograd(hg_emit *e, const hg_window *w)
{
    int64_t in, out;
    const int64_t groups = hg_node_int(e->node, "group", 1);
    const hg_type *y = hg_emit_out_type(e, 0);
    const int32_t at = w->rank - 2;
    const int64_t least =
        convnhwc_is(e, w->dilation + at, 1) ? CONVNHWC_WINOGRAD : CONVNHWC_WINOGRAD_GRIDS;
    return convnhwc_is(e, w->kernel + at, 3) && convnhwc_is(e, w->stride + at, 1) &&
           hg_dim_is(&e->g->dims, w->stride[0], 1) && y->dtype == HOLO_F32 &&
           convnhwc_channels(e, &in) && hg_dim_is_const(&e->g->dims, y->dim[y->rank - 1], &out) &&
           in >= least * groups && out >= least * groups;
}

static holo_status convnhwc_emit(hg_emit *e)
{
    hg_window w;
    HG_TRY(hg_nhwc_window(e, HG_WINDOW_FLOOR, &w));
    if (convnhwc_suits_winograd(e, &w)) e->kernel = "conv.winograd";
    HG_TRY(hg_nhwc_conv_params(e));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "group", 1)));
    const int64_t maps = hg_node_int(e->node, "maps", 1);
    return maps == 1 ? HOLO_OK : hg_emit_int(e, maps);
}

const hg_op hg_op_internal_convnhwc = {
    .name = "ConvNhwc",
    .domain = "holo",
    .brief = "convolution over two or three axes, channels last, packed weights, with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = convnhwc_infer,
    .kernel = "conv.nhwc",
    .emit = convnhwc_emit,
};
