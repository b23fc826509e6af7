/* convnhwc.c - holo:ConvNhwc: 2-D convolution, channels last, packed weights, with an epilogue. */
#include "op/op_matmul.h"
#include "op/op_nhwc.h"

static holo_status convnhwc_infer(hg_infer *n)
{
    hg_window w;
    int64_t groups;
    hg_dim channels;
    HG_TRY(hg_infer_rank(n, 1, 4, 4));
    HG_TRY(hg_attr_int(n, "group", 1, &groups));
    HG_TRY(hg_attr_dim(n, "out_channels", &channels));
    HG_TRY(hg_nhwc_infer(n, HG_WINDOW_FLOOR, channels, &w));
    return hg_epilogue_type(n, 2, &n->out[0].dtype);
}

static holo_status convnhwc_emit(hg_emit *e)
{
    HG_TRY(hg_nhwc_conv_params(e));
    return hg_emit_int(e, hg_node_int(e->node, "group", 1));
}

const hg_op hg_op_internal_convnhwc = {
    .name = "ConvNhwc",
    .domain = "holo",
    .brief = "2-D convolution, channels last, packed weights, with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = convnhwc_infer,
    .kernel = "conv.nhwc",
    .emit = convnhwc_emit,
};
