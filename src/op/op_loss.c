/* op_loss.c - what the losses over classes share. */
#include "op/op_loss.h"

holo_status hg_loss_infer(hg_infer *n)
{
    hg_str reduction;
    int64_t ignored;
    const hg_type *x = n->in[0], *target = n->in[1];
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, x->rank - 1, x->rank - 1));
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_attr_string(n, "reduction", "mean", &reduction));
    HG_TRY(hg_attr_int(n, "ignore_index", 0, &ignored));
    for (int32_t i = 0; i < target->rank; i++)
        if (!hg_infer_equal(n, target->dim[i], x->dim[i == 0 ? 0 : i + 1]))
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "dimension %d of input 1 does not agree with input 0", i);
    if (hg_infer_has(n, 2)) {
        HG_TRY(hg_infer_same_type(n, 0, 2));
        HG_TRY(hg_infer_rank(n, 2, 1, 1));
        if (!hg_infer_equal(n, n->in[2]->dim[0], x->dim[1]))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input 2 does not have one weight a class");
    }
    n->out[0] = *target;
    n->out[0].dtype = x->dtype;
    if (hg_str_is(reduction, "none")) return HOLO_OK;
    if (!hg_str_is(reduction, "mean") && !hg_str_is(reduction, "sum"))
        return hg_infer_fail(n, HOLO_E_MODEL, "reduction is \"%.*s\", expected none, sum or mean",
                             HG_STR_ARG(reduction));
    n->out[0] = (hg_type){.dtype = x->dtype};
    return HOLO_OK;
}

static hg_value_id loss_reduce(hg_build *b, const char *op, hg_value_id x)
{
    hg_attr keep = hg_attr_make_int("keepdims", 0);
    return hg_build_op(b, op, &x, 1, &keep, 1);
}

/* Scores of the classes `index`, [N, d...]. */
static hg_value_id loss_pick(hg_build *b, hg_value_id scores, hg_value_id index)
{
    hg_value_id axes = hg_build_ints(b, (int64_t[]){1}, 1);
    hg_attr attr[] = {hg_attr_make_int("axis", 1), hg_attr_make_int("labels", 1)};
    hg_value_id in[] = {scores, hg_build_2(b, "Unsqueeze", index, axes)};
    hg_value_id picked = hg_build_op(b, "GatherElements", in, 2, attr, 2);
    return hg_build_2(b, "Squeeze", picked, axes);
}

static hg_value_id loss_label(hg_build *b, int64_t label)
{
    return hg_build_const(b, (hg_type){.dtype = HOLO_I64}, &label, sizeof label);
}

hg_value_id hg_build_loss(hg_build *b, hg_value_id scores)
{
    /* As int64, which holds every ignore_index. */
    hg_value_id target = hg_build_cast(b, hg_build_in(b, 1), HOLO_I64);
    hg_value_id weights = hg_build_in(b, 2), valid = 0, weight = 0;
    holo_dtype dtype = hg_build_type(b, scores)->dtype;
    hg_str reduction = hg_node_string(b->node, "reduction", "mean");
    const hg_attr *ignored = hg_node_attr(b->node, "ignore_index");
    hg_value_id zero = hg_build_scalar(b, dtype, 0.0);
    if (ignored != NULL) {
        hg_value_id none = loss_label(b, ignored->i);
        valid = hg_build_1(b, "Not", hg_build_2(b, "Equal", target, none));
        target = hg_build_3(b, "Where", valid, target, loss_label(b, 0));
    }
    hg_value_id loss = hg_build_1(b, "Neg", loss_pick(b, scores, target));
    if (weights != 0) weight = hg_build_2(b, "Gather", weights, target);
    if (weights != 0) loss = hg_build_2(b, "Mul", loss, weight);
    if (valid != 0) {
        hg_value_id one = weight != 0 ? weight : hg_build_scalar(b, dtype, 1.0);
        weight = hg_build_3(b, "Where", valid, one, zero);
        loss = hg_build_3(b, "Where", valid, loss, zero);
    }
    if (hg_str_is(reduction, "none")) return loss;
    if (hg_str_is(reduction, "sum")) return loss_reduce(b, "ReduceSum", loss);
    if (weight == 0) return loss_reduce(b, "ReduceMean", loss);
    return hg_build_2(b, "Div", loss_reduce(b, "ReduceSum", loss),
                      loss_reduce(b, "ReduceSum", weight));
}
