/* convdw.c - holo:ConvDw: depthwise convolution over two or three axes, channels last, with an
 * epilogue. */
#include "op/op_matmul.h"
#include "op/op_nhwc.h"

static holo_status convdw_infer(hg_infer *n)
{
    hg_window w;
    HG_TRY(hg_infer_rank(n, 0, 4, n->n_out > 1 ? 4 : 5));
    HG_TRY(hg_infer_rank(n, 1, 2, 2));
    HG_TRY(hg_nhwc_infer(n, HG_WINDOW_FLOOR, n->in[0]->dim[n->in[0]->rank - 1], &w));
    hg_nhwc_infer_means(n);
    return hg_epilogue_type(n, 2, &n->out[0].dtype);
}

const hg_op hg_op_internal_convdw = {
    .name = "ConvDw",
    .domain = "holo",
    .brief = "depthwise convolution over two or three axes, channels last, with an epilogue, and "
             "means of its rows",
    .since = 1,
    .in = {2, -1},
    .out = {1, 2},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = convdw_infer,
    .kernel = "conv.dw",
    .emit = hg_nhwc_conv_params,
};
