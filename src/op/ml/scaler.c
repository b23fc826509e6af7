/* scaler.c - Scaler: (x - offset) scale, as float32; both are one number or one for each column. */
#include "op/op_ml.h"

static holo_status scaler_infer(hg_infer *n)
{
    const hg_attr *list[2];
    const hg_type *x = n->in[0];
    HG_TRY(hg_ml_list(n, "offset", HG_ATTR_FLOATS, &list[0]));
    HG_TRY(hg_ml_list(n, "scale", HG_ATTR_FLOATS, &list[1]));
    if (list[0]->count != list[1]->count && list[0]->count != 0 && list[1]->count != 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "offset has %zu entries and scale %zu, expected as many",
                             list[0]->count, list[1]->count);
    const size_t count = list[0]->count != 0 ? list[0]->count : list[1]->count;
    if (count > 1 && (x->rank == 0 || !hg_infer_equal(n, x->dim[x->rank - 1],
                                                      hg_dim_const(n->dims, (int64_t)count))))
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "offset and scale have %zu entries, which do not fit the last "
                             "dimension of input 0",
                             count);
    HG_TRY(hg_infer_same_as_input(n));
    n->out[0].dtype = HOLO_F32;
    return HOLO_OK;
}

static hg_value_id scaler_step(hg_build *b, const char *op, hg_value_id x, const hg_attr *list)
{
    const holo_dtype dtype = hg_build_type(b, x)->dtype;
    if (list->count == 0) return x;
    if (list->count == 1)
        return hg_build_2(b, op, x, hg_build_scalar(b, dtype, (double)list->floats[0]));
    x = hg_ml_columns(b, x, (int64_t)list->count);
    return hg_build_2(b, op, x, hg_ml_floats(b, list->floats, list->count, dtype));
}

static holo_status scaler_lower(hg_build *b)
{
    const hg_attr *offset = hg_ml_node_list(b->node, "offset");
    const hg_attr *scale = hg_ml_node_list(b->node, "scale");
    hg_value_id x = hg_build_in(b, 0);
    x = hg_build_cast(b, x, hg_build_type(b, x)->dtype == HOLO_F32 ? HOLO_F32 : HOLO_F64);
    x = scaler_step(b, "Mul", scaler_step(b, "Sub", x, offset), scale);
    x = hg_build_cast(b, x, HOLO_F32);
    hg_build_replace(b, 0, x == hg_build_in(b, 0) ? hg_build_1(b, "Identity", x) : x);
    return b->status;
}

const hg_op hg_op_ml_scaler = {
    .name = "Scaler",
    .domain = "ai.onnx.ml",
    .brief = "(x - offset) scale",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = scaler_infer,
    .lower = scaler_lower,
};
