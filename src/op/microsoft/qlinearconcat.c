/* qlinearconcat.c - com.microsoft:QLinearConcat: Concat of 8-bit codes that have different scales.
 * Inputs: scale and zero point of the result, then tensor, scale and zero point of each part. */
#include "op/op_qlinear.h"

enum { QLINEARCONCAT_SCALE, QLINEARCONCAT_ZERO, QLINEARCONCAT_FIRST };

static holo_status qlinearconcat_infer(hg_infer *n)
{
    int32_t axis;
    const uint32_t parts = (n->n_in - QLINEARCONCAT_FIRST) / 3;
    const holo_dtype dtype = n->in[QLINEARCONCAT_ZERO]->dtype;
    HG_TRY(hg_infer_types(n, QLINEARCONCAT_ZERO, HG_QLINEAR_TYPES));
    HG_TRY(hg_qlinear_check(n, QLINEARCONCAT_SCALE, dtype));
    if ((n->n_in - QLINEARCONCAT_FIRST) % 3 != 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "has %u inputs, expected 2 and three for each tensor",
                             n->n_in);
    const hg_type **in;
    HG_TRY(HG_NEW(n->ctx, parts, &in));
    for (uint32_t k = 0; k < parts; k++) {
        const uint32_t i = QLINEARCONCAT_FIRST + 3 * k;
        HG_TRY(hg_infer_types(n, i, HG_TYPE_BIT(dtype)));
        HG_TRY(hg_qlinear_check(n, i + 1, dtype));
        in[k] = n->in[i];
    }
    HG_TRY(hg_attr_axis(n, "axis", 0, in[0]->rank, &axis));
    hg_infer tensors = *n;
    tensors.in = in;
    tensors.n_in = parts;
    return hg_op_get("Concat")->infer(&tensors);
}

static holo_status qlinearconcat_lower(hg_build *b)
{
    const uint32_t parts = (b->node->n_in - QLINEARCONCAT_FIRST) / 3;
    const holo_dtype dtype = hg_build_type(b, hg_build_in(b, QLINEARCONCAT_ZERO))->dtype;
    hg_attr axis = hg_attr_make_int("axis", hg_node_int(b->node, "axis", 0));
    hg_value_id *in;
    HG_TRY(HG_NEW(b->ctx, parts, &in));
    for (uint32_t k = 0; k < parts; k++)
        in[k] = hg_build_quantized(b, hg_build_dequantized(b, QLINEARCONCAT_FIRST + 3 * k),
                                   QLINEARCONCAT_SCALE, dtype);
    hg_build_replace(b, 0, hg_build_op(b, "Concat", in, parts, &axis, 1));
    return b->status;
}

const hg_op hg_op_microsoft_qlinearconcat = {
    .name = "QLinearConcat",
    .domain = "com.microsoft",
    .brief = "Concat of 8-bit codes that have different scales",
    .since = 1,
    .in = {5, -1},
    .out = {1, 1},
    .infer = qlinearconcat_infer,
    .lower = qlinearconcat_lower,
};
