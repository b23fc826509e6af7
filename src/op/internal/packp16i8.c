/* packp16i8.c - holo:PackP16I8: a matrix of 8-bit codes as matmul.p16i8 reads it. */
#include "op/op_matmul.h"

#include "kernel/igemm.h"
#include "kernel/pack.h"

static holo_status packp16i8_infer(hg_infer *n)
{
    int64_t trans;
    hg_dims *d = n->dims;
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    HG_TRY(hg_attr_int(n, "trans", 0, &trans));
    const hg_dim columns = n->in[0]->dim[trans == 0], k = n->in[0]->dim[trans != 0];
    const hg_dim quads = hg_dim_ceildiv(d, k, hg_dim_const(d, HG_QUAD));
    n->out[0] = (hg_type){.dtype = HOLO_I8,
                          .rank = 3,
                          .dim = {hg_dim_ceildiv(d, columns, hg_dim_const(d, HG_PANEL)),
                                  hg_dim_add(d, quads, hg_dim_const(d, 1)),
                                  hg_dim_const(d, HG_QUAD_BYTES)}};
    return HOLO_OK;
}

static holo_status packp16i8_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "trans", 0) != 0);
}

const hg_op hg_op_internal_packp16i8 = {
    .name = "PackP16I8",
    .domain = "holo",
    .brief = "a matrix of 8-bit codes in panels of 16 columns and 4 of k, with column sums",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_IGEMM_CODES,
    .flags = HG_OP_INTERNAL | HG_OP_AT_WRITE,
    .infer = packp16i8_infer,
    .kernel = "pack.p16i8",
    .emit = packp16i8_emit,
};
