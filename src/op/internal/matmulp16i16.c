/* matmulp16i16.c - holo:MatMulP16I16: the exact product of 16-bit codes and packed 8-bit ones, with
 * an epilogue. */
#include "op/op_matmul.h"

#include "kernel/igemm.h"

static holo_status matmulp16i16_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 3, 3));
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I8)));
    hg_type *out = &n->out[0];
    *out = *n->in[0];
    HG_TRY(hg_attr_dim(n, "n", &out->dim[out->rank - 1]));
    HG_TRY(hg_epilogue_type(n, HG_IGEMM_FIRST_EXTRA, &out->dtype));
    if (hg_node_attr(n->node, "types") == NULL) out->dtype = HOLO_I32;
    return HOLO_OK;
}

const hg_op hg_op_internal_matmulp16i16 = {
    .name = "MatMulP16I16",
    .domain = "holo",
    .brief = "exact product of 16-bit codes and packed 8-bit ones, with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I16),
    .flags = HG_OP_INTERNAL,
    .infer = matmulp16i16_infer,
    .kernel = "matmul.p16i16",
};
