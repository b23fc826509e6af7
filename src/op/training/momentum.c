/* momentum.c - Momentum: a step along a running sum of gradients. */
#include "op/training/op_optimizer.h"

static holo_status momentum_infer(hg_infer *n)
{
    static const char *const numbers[] = {"alpha", "beta", "norm_coefficient"};
    hg_str mode;
    for (size_t i = 0; i < HG_COUNT(numbers); i++) {
        double number;
        if (hg_node_attr(n->node, numbers[i]) == NULL)
            return hg_infer_fail(n, HOLO_E_MODEL, "attribute '%s' is missing", numbers[i]);
        HG_TRY(hg_attr_float(n, numbers[i], 0.0, &number));
    }
    HG_TRY(hg_attr_string(n, "mode", "", &mode));
    if (!hg_str_is(mode, "standard") && !hg_str_is(mode, "nesterov"))
        return hg_infer_fail(n, HOLO_E_MODEL, "mode is \"%.*s\", expected standard or nesterov",
                             HG_STR_ARG(mode));
    return hg_optimizer_infer(n, 1);
}

static hg_value_id momentum_rate(hg_build *b, hg_value_id rate, hg_value_id count)
{
    (void)b, (void)count;
    return rate;
}

/* T > 0 ? beta : 1, for the share of the gradient */
static hg_value_id momentum_share(hg_build *b, const hg_optimizer_step *s)
{
    const double beta = hg_node_float(b->node, "beta", 0.0);
    hg_value_id count =
        hg_build_2(b, "Reshape", hg_build_in(b, HG_OPTIMIZER_COUNT), hg_build_ints(b, NULL, 0));
    hg_value_id later = hg_build_2(b, "Greater", count, hg_build_scalar(b, HOLO_I64, 0.0));
    return hg_build_3(b, "Where", later, hg_optimizer_number(b, s, beta),
                      hg_optimizer_number(b, s, 1.0));
}

static void momentum_update(hg_build *b, hg_optimizer_step *s)
{
    const double alpha = hg_node_float(b->node, "alpha", 0.0);
    const bool is_plain = hg_str_is(hg_node_string(b->node, "mode", ""), "standard");
    hg_value_id g = hg_optimizer_regularized(b, s);
    hg_value_id kept = hg_build_2(b, "Mul", hg_optimizer_number(b, s, alpha), s->state[0]);
    s->new_state[0] = hg_build_2(b, "Add", kept, hg_build_2(b, "Mul", momentum_share(b, s), g));
    hg_value_id way = s->new_state[0];
    if (!is_plain) way = hg_optimizer_blend(b, s, 1.0, g, alpha, way);
    s->new_x = hg_build_2(b, "Sub", s->x, hg_build_2(b, "Mul", s->rate, way));
}

static holo_status momentum_lower(hg_build *b)
{
    return hg_optimizer_lower(b, 1, momentum_rate, momentum_update);
}

const hg_op hg_op_training_momentum = {
    .name = "Momentum",
    .domain = "ai.onnx.preview.training",
    .brief = "a step along a running sum of gradients",
    .since = 1,
    .in = {5, -1},
    .out = {1, -1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64),
    .infer = momentum_infer,
    .lower = momentum_lower,
};
