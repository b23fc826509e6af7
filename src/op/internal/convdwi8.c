/* convdwi8.c - holo:ConvDwI8: exact depthwise 2-D convolution of 8-bit codes, channels last. */
#include "op/op_matmul.h"
#include "op/op_nhwc.h"

#include "kernel/igemm.h"

static holo_status convdwi8_infer(hg_infer *n)
{
    hg_window w;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_infer_rank(n, 1, 2, 2));
    HG_TRY(hg_nhwc_infer(n, HG_WINDOW_FLOOR, n->in[0]->dim[3], &w));
    HG_TRY(hg_epilogue_type(n, HG_IGEMM_FIRST_EXTRA, &n->out[0].dtype));
    if (hg_node_attr(n->node, "types") == NULL) n->out[0].dtype = HOLO_I32;
    return HOLO_OK;
}

const hg_op hg_op_internal_convdwi8 = {
    .name = "ConvDwI8",
    .domain = "holo",
    .brief = "exact depthwise 2-D convolution of 8-bit codes, channels last, with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_IGEMM_CODES,
    .flags = HG_OP_INTERNAL,
    .infer = convdwi8_infer,
    .kernel = "conv.dw.i8",
    .emit = hg_nhwc_conv_params,
};
