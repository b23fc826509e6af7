/* qlinearconv.c - QLinearConv: convolution of quantised tensors, exact until the result is rounded.
 */
#include "op/op_conv.h"
#include "op/op_requantize.h"

enum {
    QLINEARCONV_X,
    QLINEARCONV_W = 3,
    QLINEARCONV_Y_SCALE = 6,
    QLINEARCONV_Y_ZERO,
    QLINEARCONV_BIAS
};

static holo_status qlinearconv_infer(hg_infer *n)
{
    hg_conv c;
    hg_types bytes = HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8);
    HG_TRY(hg_infer_types(n, QLINEARCONV_W, bytes));
    HG_TRY(hg_infer_types(n, QLINEARCONV_Y_ZERO, bytes));
    HG_TRY(hg_infer_same_type(n, QLINEARCONV_X, QLINEARCONV_X + 2));
    HG_TRY(hg_infer_same_type(n, QLINEARCONV_W, QLINEARCONV_W + 2));
    HG_TRY(hg_conv_read(n, HG_CONV_FORWARD, n->in[QLINEARCONV_X], n->in[QLINEARCONV_W], &c));
    HG_TRY(hg_conv_bias(n, QLINEARCONV_BIAS, c.channels_out));
    if (hg_infer_has(n, QLINEARCONV_BIAS))
        HG_TRY(hg_infer_types(n, QLINEARCONV_BIAS, HG_TYPE_BIT(HOLO_I32)));
    n->out[0] = hg_conv_type(&c, n->in[QLINEARCONV_X], n->in[QLINEARCONV_Y_ZERO]->dtype);
    return HOLO_OK;
}

/* A value by output channel as [O, 1, 1 ...]; scalars stay. */
static hg_value_id qlinearconv_channel(hg_build *b, hg_value_id v, int32_t rank)
{
    int64_t axes[HG_MAX_RANK];
    if (hg_build_type(b, v)->rank != 1) return v;
    for (int32_t i = 1; i < rank - 1; i++)
        axes[i - 1] = i;
    return hg_build_2(b, "Unsqueeze", v, hg_build_ints(b, axes, (uint32_t)(rank - 2)));
}

static holo_status qlinearconv_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, QLINEARCONV_X), w = hg_build_in(b, QLINEARCONV_W);
    hg_value_id bias = hg_build_in(b, QLINEARCONV_BIAS);
    int32_t rank = hg_build_type(b, x)->rank;
    hg_value_id in[] = {x, w, hg_build_in(b, QLINEARCONV_X + 2), hg_build_in(b, QLINEARCONV_W + 2)};
    hg_value_id sum =
        hg_build_op(b, "ConvInteger", in, HG_COUNT(in), b->node->attr, b->node->n_attr);
    if (bias != 0) sum = hg_build_2(b, "Add", sum, qlinearconv_channel(b, bias, rank));
    hg_requantize r = {
        .sum = sum,
        .a_scale = hg_build_in(b, QLINEARCONV_X + 1),
        .b_scale = qlinearconv_channel(b, hg_build_in(b, QLINEARCONV_W + 1), rank),
        .y_scale = hg_build_in(b, QLINEARCONV_Y_SCALE),
        .y_zero = hg_build_in(b, QLINEARCONV_Y_ZERO),
    };
    hg_build_replace(b, 0, hg_build_requantize(b, &r));
    return b->status;
}

const hg_op hg_op_qlinearconv = {
    .name = "QLinearConv",
    .brief = "convolution of quantised tensors, exact until the result is rounded",
    .since = 10,
    .in = {8, 9},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8),
    .infer = qlinearconv_infer,
    .lower = qlinearconv_lower,
};
