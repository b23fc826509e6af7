/* binarizer.c - Binarizer: 1 where x is above a threshold, else 0. */
#include "op/op_ml.h"

#include <math.h>

static holo_status binarizer_infer(hg_infer *n)
{
    double threshold;
    HG_TRY(hg_attr_float(n, "threshold", 0.0, &threshold));
    return hg_infer_same_as_input(n);
}

static hg_value_id binarizer_integer(hg_build *b, holo_dtype dtype, int64_t value)
{
    const int32_t narrow = (int32_t)value;
    const hg_type type = {.dtype = dtype};
    return dtype == HOLO_I64 ? hg_build_const(b, type, &value, sizeof value)
                             : hg_build_const(b, type, &narrow, sizeof narrow);
}

/* Integers are compared as integers: x > t is x >= floor(t) + 1, which float32 may not hold. */
static hg_value_id binarizer_above(hg_build *b, hg_value_id x, holo_dtype dtype, double t)
{
    const int64_t least = dtype == HOLO_I64 ? INT64_MIN : INT32_MIN;
    const int64_t most = dtype == HOLO_I64 ? INT64_MAX : INT32_MAX;
    const double limit = dtype == HOLO_I64 ? 0x1p63 : 0x1p31;
    if (!(t < limit - 1)) return hg_build_2(b, "Greater", x, binarizer_integer(b, dtype, most));
    const int64_t first = t < -limit ? least : (int64_t)floor(t) + 1;
    return hg_build_2(b, "GreaterOrEqual", x, binarizer_integer(b, dtype, first));
}

static holo_status binarizer_lower(hg_build *b)
{
    const double t = hg_node_float(b->node, "threshold", 0.0);
    hg_value_id x = hg_build_in(b, 0);
    const holo_dtype dtype = hg_build_type(b, x)->dtype;
    hg_value_id above = hg_dtype_is_float(dtype)
                            ? hg_build_2(b, "Greater", x, hg_build_scalar(b, dtype, t))
                            : binarizer_above(b, x, dtype, t);
    hg_build_replace(b, 0, hg_build_cast(b, above, dtype));
    return b->status;
}

const hg_op hg_op_ml_binarizer = {
    .name = "Binarizer",
    .domain = "ai.onnx.ml",
    .brief = "1 where x is above a threshold, else 0",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = binarizer_infer,
    .lower = binarizer_lower,
};
