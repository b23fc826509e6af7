/* normalizer.c - Normalizer: rows divided by their largest element, by the sum of their magnitudes
 * or by their length, as float32. A row whose divisor is 0 stays as it is. */
#include "op/op_ml.h"
#include "op/op_reduce.h"

static holo_status normalizer_infer(hg_infer *n)
{
    hg_str norm;
    HG_TRY(hg_attr_string(n, "norm", "MAX", &norm));
    if (!hg_str_is(norm, "MAX") && !hg_str_is(norm, "L1") && !hg_str_is(norm, "L2"))
        return hg_infer_fail(n, HOLO_E_MODEL, "norm is \"%.*s\", expected MAX, L1 or L2",
                             HG_STR_ARG(norm));
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    HG_TRY(hg_infer_same_as_input(n));
    n->out[0].dtype = HOLO_F32;
    return HOLO_OK;
}

static holo_status normalizer_lower(hg_build *b)
{
    const hg_str norm = hg_node_string(b->node, "norm", "MAX");
    const char *reduce = hg_str_is(norm, "MAX")  ? "ReduceMax"
                         : hg_str_is(norm, "L1") ? "ReduceL1"
                                                 : "ReduceL2";
    hg_value_id x = hg_build_in(b, 0);
    const hg_type *type = hg_build_type(b, x);
    const int32_t rank = type->rank;
    const holo_dtype dtype = type->dtype == HOLO_F32 ? HOLO_F32 : HOLO_F64;
    x = hg_build_cast(b, x, dtype);
    hg_value_id by = hg_build_reduce_range(b, reduce, x, rank - 1, rank);
    hg_value_id is_zero = hg_build_2(b, "Equal", by, hg_build_scalar(b, dtype, 0.0));
    by = hg_build_3(b, "Where", is_zero, hg_build_scalar(b, dtype, 1.0), by);
    hg_build_replace(b, 0, hg_build_cast(b, hg_build_2(b, "Div", x, by), HOLO_F32));
    return b->status;
}

const hg_op hg_op_ml_normalizer = {
    .name = "Normalizer",
    .domain = "ai.onnx.ml",
    .brief = "rows divided by their norm",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = normalizer_infer,
    .lower = normalizer_lower,
};
