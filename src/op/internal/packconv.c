/* packconv.c - holo:PackConv: convolution weights in panels of 16 outputs, as conv.nhwc reads them.
 */
#include "op/op_matmul.h"

#include "kernel/pack.h"

static holo_status packconv_infer(hg_infer *n)
{
    int64_t groups;
    hg_dims *d = n->dims;
    HG_TRY(hg_infer_rank(n, 0, 4, 5));
    HG_TRY(hg_attr_int(n, "group", 1, &groups));
    if (groups < 1 || groups > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "group is %lld, expected at least 1",
                             (long long)groups);
    const hg_dim *w = n->in[0]->dim, count = hg_dim_const(d, groups),
                 panel = hg_dim_const(d, HG_PANEL);
    hg_dim panels = hg_dim_ceildiv(d, hg_dim_floordiv(d, w[0], count), panel);
    hg_dim depth = w[1];
    for (int32_t k = 2; k < n->in[0]->rank; k++)
        depth = hg_dim_mul(d, depth, w[k]);
    n->out[0] =
        (hg_type){.dtype = n->in[0]->dtype, .rank = 4, .dim = {count, panels, depth, panel}};
    return HOLO_OK;
}

static holo_status packconv_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "group", 1));
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
    .emit = packconv_emit,
};
