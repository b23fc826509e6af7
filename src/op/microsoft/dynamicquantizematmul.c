/* dynamicquantizematmul.c - com.microsoft:DynamicQuantizeMatMul: A in 8 bits, with a scale that
 * fits it, times 8-bit weights. */
#include "op/op_matmul.h"

enum { DQMM_A, DQMM_B, DQMM_SCALE, DQMM_ZERO, DQMM_BIAS };

static holo_status dynamicquantizematmul_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, DQMM_B, HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8)));
    HG_TRY(hg_infer_same_type(n, DQMM_A, DQMM_SCALE));
    if (hg_infer_has(n, DQMM_ZERO)) HG_TRY(hg_infer_same_type(n, DQMM_B, DQMM_ZERO));
    if (hg_infer_has(n, DQMM_BIAS)) HG_TRY(hg_infer_same_type(n, DQMM_A, DQMM_BIAS));
    HG_TRY(hg_matmul_infer(n, n->in[DQMM_A], n->in[DQMM_B], &n->out[0]));
    n->out[0].dtype = HOLO_F32;
    return HOLO_OK;
}

static holo_status dynamicquantizematmul_lower(hg_build *b)
{
    hg_value_id a = hg_build_in(b, DQMM_A);
    hg_node_id codes = hg_build_node(b, "DynamicQuantizeLinear", &a, 1, NULL, 0, 3);
    if (codes == 0) return b->status;
    const hg_value_id *made = hg_graph_node(b->g, codes)->out;
    hg_value_id in[] = {made[0],
                        hg_build_in(b, DQMM_B),
                        made[1],
                        hg_build_in(b, DQMM_SCALE),
                        made[2],
                        hg_build_in(b, DQMM_ZERO),
                        hg_build_in(b, DQMM_BIAS)};
    hg_value_id y = hg_build_op(b, "com.microsoft:MatMulIntegerToFloat", in, HG_COUNT(in), NULL, 0);
    hg_build_replace(b, 0, y);
    return b->status;
}

const hg_op hg_op_microsoft_dynamicquantizematmul = {
    .name = "DynamicQuantizeMatMul",
    .domain = "com.microsoft",
    .brief = "A in 8 bits, with a scale that fits it, times 8-bit weights",
    .since = 1,
    .in = {3, 5},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .infer = dynamicquantizematmul_infer,
    .lower = dynamicquantizematmul_lower,
};
