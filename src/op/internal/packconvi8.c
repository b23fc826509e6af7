/* packconvi8.c - holo:PackConvI8: convolution weights of 8-bit codes as conv.nhwc.i8 reads them. */
#include "op/op.h"

#include "kernel/igemm.h"
#include "kernel/pack.h"

static holo_status packconvi8_infer(hg_infer *n)
{
    int64_t groups;
    hg_dims *d = n->dims;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_attr_int(n, "group", 1, &groups));
    if (groups < 1 || groups > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "group is %lld, expected at least 1",
                             (long long)groups);
    const hg_dim *w = n->in[0]->dim, count = hg_dim_const(d, groups);
    const hg_dim depth = hg_dim_mul(d, w[1], hg_dim_mul(d, w[2], w[3]));
    const hg_dim quads = hg_dim_ceildiv(d, depth, hg_dim_const(d, HG_QUAD));
    n->out[0] = (hg_type){
        .dtype = HOLO_I8,
        .rank = 4,
        .dim = {count,
                hg_dim_ceildiv(d, hg_dim_floordiv(d, w[0], count), hg_dim_const(d, HG_PANEL)),
                hg_dim_add(d, quads, hg_dim_const(d, 1)), hg_dim_const(d, HG_QUAD_BYTES)}};
    return HOLO_OK;
}

static holo_status packconvi8_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "group", 1));
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
    .emit = packconvi8_emit,
};
