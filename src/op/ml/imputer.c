/* imputer.c - Imputer: one value, perhaps NaN, is replaced by another, all or one for each column.
 */
#include "op/op_ml.h"

#include <math.h>

static bool imputer_is_float(holo_dtype dtype)
{
    return dtype == HOLO_F32 || dtype == HOLO_F64;
}

static holo_status imputer_check_integers(const hg_infer *n, const hg_attr *list)
{
    for (size_t i = 0; n->in[0]->dtype == HOLO_I32 && i < list->count; i++)
        if (list->ints[i] < INT32_MIN || list->ints[i] > INT32_MAX)
            return hg_infer_fail(n, HOLO_E_MODEL,
                                 "imputed_value_int64s[%zu] is %lld, which int32 cannot hold", i,
                                 (long long)list->ints[i]);
    return HOLO_OK;
}

static holo_status imputer_infer(hg_infer *n)
{
    const hg_attr *floats, *integers, *list;
    int64_t integer;
    double number;
    HG_TRY(hg_ml_list(n, "imputed_value_floats", HG_ATTR_FLOATS, &floats));
    HG_TRY(hg_ml_list(n, "imputed_value_int64s", HG_ATTR_INTS, &integers));
    HG_TRY(hg_attr_float(n, "replaced_value_float", 0.0, &number));
    HG_TRY(hg_attr_int(n, "replaced_value_int64", 0, &integer));
    const hg_type *x = n->in[0];
    list = imputer_is_float(x->dtype) ? floats : integers;
    if (list->count == 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s has no entries, but input 0 is %s",
                             list == floats ? "imputed_value_floats" : "imputed_value_int64s",
                             holo_dtype_text(x->dtype));
    if (list == integers) HG_TRY(imputer_check_integers(n, list));
    if (list->count != 1 &&
        (x->rank == 0 ||
         !hg_infer_equal(n, x->dim[x->rank - 1], hg_dim_const(n->dims, (int64_t)list->count))))
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "%zu imputed values do not fit the last dimension of input 0",
                             list->count);
    return hg_infer_same_as_input(n);
}

/* The values as a constant of x's type: a scalar, or one for each column. */
static hg_value_id imputer_values(hg_build *b, holo_dtype dtype)
{
    const bool is_float = imputer_is_float(dtype);
    const hg_attr *list =
        hg_ml_node_list(b->node, is_float ? "imputed_value_floats" : "imputed_value_int64s");
    hg_value_id v = is_float ? hg_ml_floats(b, list->floats, list->count, dtype)
                             : hg_build_cast(b, hg_ml_constant(b, list), dtype);
    if (list->count != 1) return v;
    return hg_build_2(b, "Reshape", v, hg_build_ints(b, NULL, 0));
}

/* Where x is what must go; 0 when that is nowhere. */
static hg_value_id imputer_where(hg_build *b, hg_value_id x, holo_dtype dtype)
{
    const double number = hg_node_float(b->node, "replaced_value_float", 0.0);
    const int64_t integer = hg_node_int(b->node, "replaced_value_int64", 0);
    const int32_t narrow = (int32_t)integer;
    const hg_type scalar = {.dtype = dtype};
    if (imputer_is_float(dtype) && isnan(number)) return hg_build_1(b, "IsNaN", x);
    if (imputer_is_float(dtype))
        return hg_build_2(b, "Equal", x, hg_build_scalar(b, dtype, number));
    if (dtype == HOLO_I64)
        return hg_build_2(b, "Equal", x, hg_build_const(b, scalar, &integer, sizeof integer));
    if (narrow != integer) return 0;
    return hg_build_2(b, "Equal", x, hg_build_const(b, scalar, &narrow, sizeof narrow));
}

static holo_status imputer_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    const holo_dtype dtype = hg_build_type(b, x)->dtype;
    hg_value_id value = imputer_values(b, dtype);
    const hg_type *type = hg_build_type(b, value);
    int64_t count;
    if (type->rank == 1 && hg_dim_is_const(&b->g->dims, type->dim[0], &count))
        x = hg_ml_columns(b, x, count);
    hg_value_id where = imputer_where(b, x, dtype);
    hg_build_replace(
        b, 0, where == 0 ? hg_build_1(b, "Identity", x) : hg_build_3(b, "Where", where, value, x));
    return b->status;
}

const hg_op hg_op_ml_imputer = {
    .name = "Imputer",
    .domain = "ai.onnx.ml",
    .brief = "one value is replaced by another",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = imputer_infer,
    .lower = imputer_lower,
};
