/* packconvi8.c - holo:PackConvI8: convolution weights of 8-bit codes as conv.nhwc.i8 reads them. */
#include "op/op_conv.h"

#include "kernel/igemm.h"
#include "kernel/pack.h"

static holo_status packconvi8_infer(hg_infer *n)
{
    hg_conv_panels p;
    hg_dims *d = n->dims;
    HG_TRY(hg_infer_conv_panels(n, 4, &p));
    const hg_dim quads = hg_dim_ceildiv(d, p.depth, hg_dim_const(d, HG_QUAD));
    n->out[0] = (hg_type){.dtype = HOLO_I8,
                          .rank = 4,
                          .dim = {p.groups, p.panels, hg_dim_add(d, quads, hg_dim_const(d, 1)),
                                  hg_dim_const(d, HG_QUAD_BYTES)}};
    return HOLO_OK;
}

const hg_op hg_op_internal_packconvi8 = {
    .name = "PackConvI8",
    .domain = "holo",
    .brief = "convolution weights of 8-bit codes in panels of 16 outputs and 4 of k",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_IGEMM_CODES,
    .flags = HG_OP_INTERNAL | HG_OP_AT_WRITE,
    .infer = packconvi8_infer,
    .kernel = "pack.convi8",
    .emit = hg_emit_conv_panels,
};
