/* convnhwci8.c - holo:ConvNhwcI8: exact 2-D convolution of 8-bit codes, channels last, packed. */
#include "op/op_codes.h"
#include "op/op_matmul.h"
#include "op/op_nhwc.h"

#include "kernel/igemm.h"

static holo_status convnhwci8_infer(hg_infer *n)
{
    hg_window w;
    int64_t groups, pairs;
    hg_dim channels;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_infer_rank(n, 1, 4, 4));
    HG_TRY(hg_attr_int(n, "group", 1, &groups));
    HG_TRY(hg_attr_int(n, "pairs", 0, &pairs));
    HG_TRY(hg_attr_dim(n, "out_channels", &channels));
    HG_TRY(hg_nhwc_infer(n, HG_WINDOW_FLOOR, channels, &w));
    HG_TRY(hg_epilogue_type(n, HG_IGEMM_FIRST_EXTRA, &n->out[0].dtype));
    if (hg_node_attr(n->node, "types") == NULL) n->out[0].dtype = HOLO_I32;
    return hg_infer_lookup(n);
}

static holo_status convnhwci8_emit(hg_emit *e)
{
    HG_TRY(hg_nhwc_conv_params(e));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "group", 1)));
    return hg_emit_igemm_form(e);
}

const hg_op hg_op_internal_convnhwci8 = {
    .name = "ConvNhwcI8",
    .domain = "holo",
    .brief =
        "exact 2-D convolution of 8-bit codes, channels last, packed weights, with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_IGEMM_CODES,
    .flags = HG_OP_INTERNAL,
    .infer = convnhwci8_infer,
    .kernel = "conv.nhwc.i8",
    .emit = convnhwci8_emit,
};
