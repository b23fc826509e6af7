/* matmulbits.c - holo:MatMulBits: a product with weights of 1 to 8 bits in panels and activations
 * rounded to 8 bits. */
#include "op/op_bits.h"

static holo_status matmulbits_infer(hg_infer *n)
{
    int64_t columns, kind, group;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_infer_rank(n, 2, 3, 3));
    if (hg_infer_has(n, 4)) HG_TRY(hg_infer_rank(n, 4, 3, 3));
    HG_TRY(hg_attr_int(n, "n", 0, &columns));
    HG_TRY(hg_attr_int(n, "kind", 0, &kind));
    HG_TRY(hg_attr_int(n, "group", 0, &group));
    n->out[0] = *n->in[0];
    n->out[0].dim[n->out[0].rank - 1] = hg_dim_const(n->dims, columns);
    return HOLO_OK;
}

static holo_status matmulbits_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "kind", 0)));
    return hg_emit_int(e, hg_node_int(e->node, "group", 0));
}

const hg_op hg_op_internal_matmulbits = {
    .name = "MatMulBits",
    .domain = "holo",
    .brief = "a product with weights of 1 to 8 bits in panels, activations of 8 bits",
    .since = 1,
    .in = {3, 5},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = matmulbits_infer,
    .kernel = "matmul.bits",
    .emit = matmulbits_emit,
};
