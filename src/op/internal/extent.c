/* extent.c - holo:Extent: lowest and highest element of each block, 0 included. */
#include "op/op.h"

#include "kernel/quantize_dynamic.h"

static holo_status extent_infer(hg_infer *n)
{
    hg_dims *d = n->dims;
    const hg_dim count = hg_type_count(n->g, n->in[0]);
    n->out[0] = (hg_type){
        .dtype = HOLO_F32,
        .rank = 2,
        .dim = {hg_dim_ceildiv(d, count, hg_dim_const(d, HG_EXTENT_BLOCK)), hg_dim_const(d, 2)}};
    return HOLO_OK;
}

const hg_op hg_op_internal_extent = {
    .name = "Extent",
    .domain = "holo",
    .brief = "lowest and highest element of each block, 0 included",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = extent_infer,
    .kernel = "quantize.extent",
};
