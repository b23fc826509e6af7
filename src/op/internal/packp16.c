/* packp16.c - holo:PackP16: a matrix in panels of 16 columns, as matmul.p16 reads it. */
#include "op/op_matmul.h"

#include "kernel/pack.h"

static holo_status packp16_infer(hg_infer *n)
{
    int64_t trans;
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    HG_TRY(hg_attr_int(n, "trans", 0, &trans));
    hg_dim panel = hg_dim_const(n->dims, HG_PANEL);
    hg_dim rows = n->in[0]->dim[trans != 0], columns = n->in[0]->dim[trans == 0];
    n->out[0] = (hg_type){.dtype = n->in[0]->dtype,
                          .rank = 3,
                          .dim = {hg_dim_ceildiv(n->dims, columns, panel), rows, panel}};
    return HOLO_OK;
}

static holo_status packp16_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "trans", 0) != 0);
}

const hg_op hg_op_internal_packp16 = {
    .name = "PackP16",
    .domain = "holo",
    .brief = "a matrix in panels of 16 columns",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_INTERNAL | HG_OP_AT_WRITE,
    .infer = packp16_infer,
    .kernel = "pack.p16",
    .emit = packp16_emit,
};
