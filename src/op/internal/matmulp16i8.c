/* matmulp16i8.c - holo:MatMulP16I8: the exact product of 8-bit codes, packed, with an epilogue. */
#include "op/op_codes.h"
#include "op/op_matmul.h"

#include "kernel/igemm.h"

static holo_status matmulp16i8_infer(hg_infer *n)
{
    int64_t pairs;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, 3, 3));
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I8)));
    HG_TRY(hg_attr_int(n, "pairs", 0, &pairs));
    hg_type *out = &n->out[0];
    *out = *n->in[0];
    HG_TRY(hg_attr_dim(n, "n", &out->dim[out->rank - 1]));
    HG_TRY(hg_epilogue_type(n, HG_IGEMM_FIRST_EXTRA, &out->dtype));
    if (hg_node_attr(n->node, "types") == NULL) out->dtype = HOLO_I32;
    return hg_infer_lookup(n);
}

static holo_status matmulp16i8_emit(hg_emit *e)
{
    return hg_emit_igemm_form(e);
}

const hg_op hg_op_internal_matmulp16i8 = {
    .name = "MatMulP16I8",
    .domain = "holo",
    .brief = "exact product of 8-bit codes, the right matrix packed, with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_IGEMM_CODES,
    .flags = HG_OP_INTERNAL,
    .infer = matmulp16i8_infer,
    .kernel = "matmul.p16i8",
    .emit = matmulp16i8_emit,
};
