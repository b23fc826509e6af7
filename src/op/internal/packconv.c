/* packconv.c - holo:PackConv: convolution weights in panels of 16 outputs, as conv.nhwc reads them.
 */
#include "op/op_conv.h"

#include "kernel/pack.h"

static holo_status packconv_infer(hg_infer *n)
{
    hg_conv_panels p;
    HG_TRY(hg_infer_conv_panels(n, 5, &p));
    const hg_dim panel = hg_dim_const(n->dims, HG_PANEL);
    n->out[0] =
        (hg_type){.dtype = n->in[0]->dtype, .rank = 4, .dim = {p.groups, p.panels, p.depth, panel}};
    return HOLO_OK;
}

const hg_op hg_op_internal_packconv = {
    .name = "PackConv",
    .domain = "holo",
    .brief = "convolution weights in panels of 16 outputs",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16),
    .flags = HG_OP_INTERNAL | HG_OP_AT_WRITE,
    .infer = packconv_infer,
    .kernel = "pack.conv",
    .emit = hg_emit_conv_panels,
};
