/* convpwdw.c - holo:ConvPwDw: 1x1 convolution, activation, depthwise 2-D convolution in one. */
#include "op/op_bias_act.h"
#include "op/op_matmul.h"
#include "op/op_nhwc.h"

#include "kernel/conv_pwdw.h"

static holo_status convpwdw_infer(hg_infer *n)
{
    hg_window w;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_infer_rank(n, 1, 4, 4));
    HG_TRY(hg_infer_rank(n, 2, 2, 2));
    HG_TRY(hg_nhwc_infer(n, HG_WINDOW_FLOOR, n->in[2]->dim[1], &w));
    hg_nhwc_infer_means(n);
    return hg_epilogue_type(n, HG_CONV_PWDW_FIRST_EXTRA, &n->out[0].dtype);
}

static holo_status convpwdw_emit(hg_emit *e)
{
    HG_TRY(hg_nhwc_conv_params(e));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "activation", HG_EPILOGUE_LINEAR)));
    for (size_t i = 0; i < HG_BIAS_ACT_NUMBERS; i++)
        HG_TRY(hg_emit_float(
            e, hg_node_float(e->node, hg_bias_act_number[i].name, hg_bias_act_number[i].usual)));
    return HOLO_OK;
}

const hg_op hg_op_internal_convpwdw = {
    .name = "ConvPwDw",
    .domain = "holo",
    .brief = "1x1 convolution, activation and depthwise convolution in one, channels last",
    .since = 1,
    .in = {3, -1},
    .out = {1, 2},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = convpwdw_infer,
    .kernel = "conv.pwdw",
    .emit = convpwdw_emit,
};
