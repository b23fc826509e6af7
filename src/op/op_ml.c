/* op_ml.c - what the operators of ai.onnx.ml share: lists, labels, linear scores, transforms. */
#include "op/op_ml.h"
#include "op/op_reduce.h"
#include "op/op_string.h"

hg_infer hg_ml_infer(const hg_build *b)
{
    return (hg_infer){.g = b->g, .ctx = b->ctx, .dims = &b->g->dims, .id = b->id, .node = b->node};
}

/* ---- lists
 * ---------------------------------------------------------------------------------------------- */

static const hg_attr ml_empty = {.kind = HG_ATTR_INTS};

holo_status hg_ml_list(const hg_infer *n, const char *name, hg_attr_kind kind, const hg_attr **out)
{
    HG_TRY(hg_attr_find(n, name, kind, out));
    if (*out == NULL) *out = &ml_empty;
    return HOLO_OK;
}

const hg_attr *hg_ml_node_list(const hg_node *n, const char *name)
{
    const hg_attr *a = hg_node_attr(n, name);
    return a == NULL ? &ml_empty : a;
}

holo_status hg_ml_labels(const hg_infer *n, const char *ints, const char *strings,
                         const hg_attr **out)
{
    const hg_attr *numbers, *texts;
    HG_TRY(hg_ml_list(n, ints, HG_ATTR_INTS, &numbers));
    HG_TRY(hg_ml_list(n, strings, HG_ATTR_STRINGS, &texts));
    if (numbers->count != 0 && texts->count != 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "%s has %zu entries and %s %zu, expected only one of them", ints,
                             numbers->count, strings, texts->count);
    *out = texts->count != 0 ? texts : numbers;
    return HOLO_OK;
}

const hg_attr *hg_ml_node_labels(const hg_node *n, const char *ints, const char *strings)
{
    const hg_attr *texts = hg_ml_node_list(n, strings);
    return texts->count != 0 ? texts : hg_ml_node_list(n, ints);
}

static hg_type ml_vector(hg_build *b, holo_dtype dtype, size_t count)
{
    hg_type type = {.dtype = dtype, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, (int64_t)count);
    return type;
}

hg_value_id hg_ml_constant(hg_build *b, const hg_attr *list)
{
    if (list->kind == HG_ATTR_STRINGS)
        return hg_build_strings(b, list->strings, (uint32_t)list->count);
    if (list->kind == HG_ATTR_FLOATS) return hg_ml_floats(b, list->floats, list->count, HOLO_F32);
    return hg_build_const(b, ml_vector(b, HOLO_I64, list->count), list->ints,
                          list->count * sizeof *list->ints);
}

hg_value_id hg_ml_floats(hg_build *b, const float *values, size_t count, holo_dtype dtype)
{
    const hg_type type = ml_vector(b, dtype, count);
    double *wide = NULL;
    if (dtype == HOLO_F32) return hg_build_const(b, type, values, count * sizeof *values);
    if (b->status == HOLO_OK) b->status = HG_NEW(b->ctx, count + 1, &wide);
    if (b->status != HOLO_OK) return 0;
    for (size_t i = 0; i < count; i++)
        wide[i] = (double)values[i];
    return hg_build_const(b, type, wide, count * sizeof *wide);
}

hg_value_id hg_ml_pick(hg_build *b, const hg_attr *list, hg_value_id index)
{
    return hg_build_2(b, "Gather", hg_ml_constant(b, list), index);
}

/* ---- rows
 * ---------------------------------------------------------------------------------------------- */

holo_status hg_ml_features(const hg_infer *n, int64_t count)
{
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    const hg_dim columns = n->in[0]->dim[n->in[0]->rank - 1];
    int64_t actual = -1;
    if (count < 0 || hg_infer_equal(n, columns, hg_dim_const(n->dims, count))) return HOLO_OK;
    (void)hg_dim_is_const(n->dims, columns, &actual);
    return hg_infer_fail(n, HOLO_E_SHAPE, "input 0 has %lld features, expected %lld",
                         (long long)actual, (long long)count);
}

hg_dim hg_ml_rows(const hg_infer *n)
{
    return n->in[0]->rank == 2 ? n->in[0]->dim[0] : hg_dim_const(n->dims, 1);
}

hg_value_id hg_ml_matrix(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    const hg_type *type = hg_build_type(b, x);
    const holo_dtype compute = type->dtype == HOLO_F32 ? HOLO_F32 : HOLO_F64;
    if (type->rank == 1) x = hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){0}, 1));
    return hg_build_cast(b, x, compute);
}

void hg_ml_infer_classes(hg_infer *n, const hg_attr *labels, int64_t columns)
{
    hg_type *out = n->out;
    out[0] =
        (hg_type){.rank = 1, .dtype = labels->kind == HG_ATTR_STRINGS ? HOLO_STRING : HOLO_I64};
    out[0].dim[0] = hg_ml_rows(n);
    if (n->n_out < 2) return;
    out[1] = (hg_type){.rank = 2, .dtype = HOLO_F32};
    out[1].dim[0] = out[0].dim[0];
    out[1].dim[1] = hg_dim_const(n->dims, columns);
}

hg_value_id hg_ml_columns(hg_build *b, hg_value_id x, int64_t count)
{
    hg_type type = *hg_build_type(b, x);
    if (b->status != HOLO_OK || hg_dim_is(&b->g->dims, type.dim[type.rank - 1], count)) return x;
    /* A view with as many columns: other numbers of them do not have as many elements. */
    type.dim[type.rank - 1] = hg_dim_const(&b->g->dims, count);
    return hg_build_2(b, "Reshape", x, hg_build_dims(b, type.dim, (uint32_t)type.rank));
}

/* [rows,columns] as [columns,rows]. */
static holo_status ml_transpose(hg_ctx *ctx, const float *from, size_t rows, size_t columns,
                                float **out)
{
    HG_TRY(HG_NEW(ctx, rows * columns + 1, out));
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            (*out)[c * rows + r] = from[r * columns + c];
    return HOLO_OK;
}

hg_value_id hg_ml_linear(hg_build *b, hg_value_id x, const hg_attr *coefficients, int64_t rows,
                         const float *intercepts, size_t n_intercepts)
{
    const holo_dtype dtype = hg_build_type(b, x)->dtype;
    const size_t columns = coefficients->count / (size_t)rows;
    float *turned;
    if (b->status == HOLO_OK)
        b->status = ml_transpose(b->ctx, coefficients->floats, (size_t)rows, columns, &turned);
    if (b->status != HOLO_OK) return 0;
    hg_value_id w = hg_ml_floats(b, turned, coefficients->count, dtype);
    w = hg_build_2(b, "Reshape", w, hg_build_ints(b, (int64_t[]){(int64_t)columns, rows}, 2));
    hg_value_id y = hg_build_2(b, "MatMul", x, w);
    if (n_intercepts == 0) return y;
    return hg_build_2(b, "Add", y, hg_ml_floats(b, intercepts, n_intercepts, dtype));
}

/* ---- scores
 * -------------------------------------------------------------------------------------------- */

static const char *const ml_transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                            "PROBIT"};

static bool ml_find_transform(hg_str name, hg_ml_transform *out)
{
    for (size_t i = 0; i < HG_COUNT(ml_transforms); i++) {
        *out = (hg_ml_transform)i;
        if (hg_str_is(name, ml_transforms[i])) return true;
    }
    return false;
}

holo_status hg_ml_transform_of(const hg_infer *n, hg_ml_transform *out)
{
    hg_str name;
    HG_TRY(hg_attr_string(n, "post_transform", "NONE", &name));
    if (ml_find_transform(name, out)) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL,
                         "post_transform is \"%.*s\", expected NONE, SOFTMAX, LOGISTIC, "
                         "SOFTMAX_ZERO or PROBIT",
                         HG_STR_ARG(name));
}

hg_ml_transform hg_ml_node_transform(const hg_node *n)
{
    hg_ml_transform t;
    return ml_find_transform(hg_node_string(n, "post_transform", "NONE"), &t) ? t : HG_ML_NONE;
}

static hg_value_id ml_scale(hg_build *b, hg_value_id x, double factor)
{
    return hg_build_2(b, "Mul", x, hg_build_scalar(b, hg_build_type(b, x)->dtype, factor));
}

/* Scores of nothing (within 1e-7) stay nothing; the others share 1. When there is nothing else,
 * each gets a half. */
static hg_value_id ml_softmax_zero(hg_build *b, hg_value_id s)
{
    const holo_dtype dtype = hg_build_type(b, s)->dtype;
    hg_value_id most = hg_build_reduce_range(b, "ReduceMax", s, 1, 2);
    hg_value_id is_zero =
        hg_build_2(b, "LessOrEqual", hg_build_1(b, "Abs", s), hg_build_scalar(b, dtype, 1e-7));
    hg_value_id zero = hg_build_2(b, "Mul", s, hg_build_1(b, "Exp", hg_build_1(b, "Neg", most)));
    hg_value_id e = hg_build_1(b, "Exp", hg_build_2(b, "Sub", s, most));
    e = hg_build_3(b, "Where", is_zero, zero, e);
    hg_value_id sum = hg_build_reduce_range(b, "ReduceSum", e, 1, 2);
    hg_value_id none = hg_build_2(b, "Equal", sum, hg_build_scalar(b, dtype, 0.0));
    return hg_build_3(b, "Where", none, hg_build_scalar(b, dtype, 0.5),
                      hg_build_2(b, "Div", e, sum));
}

/* sqrt(2) erfinv(2 s - 1) by Winitzki's formula, which is what this transform stands for wherever
 * it is implemented; it is within 0.002 of the inverse it approximates, relatively. With
 * u = log(1 - x^2) and v = 2 / (pi a) + u / 2: erfinv(x) = sign(x) sqrt(sqrt(v^2 - u / a) - v).
 * In float64: near x = 0 the roots cancel. */
static hg_value_id ml_probit(hg_build *b, hg_value_id s)
{
    const double a = 0.147, pi = 3.14159265358979323846;
    const holo_dtype dtype = hg_build_type(b, s)->dtype;
    hg_value_id one = hg_build_scalar(b, HOLO_F64, 1.0);
    s = hg_build_cast(b, s, HOLO_F64);
    hg_value_id x = hg_build_2(b, "Sub", ml_scale(b, s, 2.0), one);
    hg_value_id u = hg_build_1(
        b, "Log", hg_build_2(b, "Mul", hg_build_2(b, "Sub", one, x), hg_build_2(b, "Add", one, x)));
    hg_value_id v =
        hg_build_2(b, "Add", ml_scale(b, u, 0.5), hg_build_scalar(b, HOLO_F64, 2.0 / (pi * a)));
    hg_value_id root = hg_build_2(b, "Sub", hg_build_2(b, "Mul", v, v), ml_scale(b, u, 1.0 / a));
    root = hg_build_1(b, "Sqrt", hg_build_2(b, "Sub", hg_build_1(b, "Sqrt", root), v));
    return hg_build_cast(
        b, ml_scale(b, hg_build_2(b, "Mul", hg_build_1(b, "Sign", x), root), 1.4142135623730951),
        dtype);
}

hg_value_id hg_ml_transformed(hg_build *b, hg_value_id scores, hg_ml_transform transform)
{
    const hg_attr axis = hg_attr_make_int("axis", -1);
    switch (transform) {
    case HG_ML_NONE: return scores;
    case HG_ML_SOFTMAX: return hg_build_op(b, "Softmax", &scores, 1, &axis, 1);
    case HG_ML_LOGISTIC: return hg_build_1(b, "Sigmoid", scores);
    case HG_ML_SOFTMAX_ZERO: return ml_softmax_zero(b, scores);
    case HG_ML_PROBIT: return ml_probit(b, scores);
    }
    return 0;
}

hg_value_id hg_ml_winner(hg_build *b, hg_value_id scores, hg_value_id transformed,
                         hg_ml_transform transform)
{
    const bool keeps_order = transform != HG_ML_SOFTMAX_ZERO && transform != HG_ML_PROBIT;
    const hg_attr attr[] = {hg_attr_make_int("axis", 1), hg_attr_make_int("keepdims", 0)};
    return hg_build_op(b, "ArgMax", keeps_order ? &scores : &transformed, 1, attr, 2);
}

hg_value_id hg_ml_pair(hg_build *b, hg_value_id first, hg_value_id second)
{
    const hg_attr axis = hg_attr_make_int("axis", 1);
    return hg_build_op(b, "Concat", (hg_value_id[]){first, second}, 2, &axis, 1);
}

holo_status hg_ml_label_or_none(hg_ctx *ctx, const hg_attr *labels, hg_attr *out)
{
    hg_str *texts;
    int64_t *numbers;
    *out = *labels;
    if (labels->count > 1) return HOLO_OK;
    HG_TRY(HG_NEW(ctx, 2, &texts));
    HG_TRY(HG_NEW(ctx, 2, &numbers));
    if (labels->kind == HG_ATTR_STRINGS) texts[1] = labels->strings[0];
    if (labels->kind == HG_ATTR_INTS) numbers[1] = labels->count == 0 ? 1 : labels->ints[0];
    *out = (hg_attr){.kind = labels->kind, .ints = numbers, .strings = texts, .count = 2};
    return HOLO_OK;
}

holo_status hg_ml_classify(hg_build *b, const hg_attr *labels, hg_value_id scores,
                           hg_ml_transform transform)
{
    const uint32_t n_out = b->node->n_out;
    hg_value_id z = hg_ml_transformed(b, scores, transform);
    hg_build_replace(b, 0, hg_ml_pick(b, labels, hg_ml_winner(b, scores, z, transform)));
    if (n_out > 1) hg_build_replace(b, 1, hg_build_cast(b, z, HOLO_F32));
    return b->status;
}

holo_status hg_ml_regress(hg_build *b, hg_value_id scores, hg_ml_transform transform)
{
    hg_build_replace(b, 0, hg_build_cast(b, hg_ml_transformed(b, scores, transform), HOLO_F32));
    return b->status;
}
