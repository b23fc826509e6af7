/* adam.c - Adam: a step along running means of the gradient and of its square. */
#include "op/training/op_optimizer.h"

static holo_status adam_infer(hg_infer *n)
{
    double number;
    HG_TRY(hg_attr_float(n, "alpha", 0.9, &number));
    HG_TRY(hg_attr_float(n, "beta", 0.999, &number));
    HG_TRY(hg_attr_float(n, "epsilon", 0.0, &number));
    HG_TRY(hg_attr_float(n, "norm_coefficient", 0.0, &number));
    HG_TRY(hg_attr_float(n, "norm_coefficient_post", 0.0, &number));
    return hg_optimizer_infer(n, 2);
}

/* 1 - base^T */
static hg_value_id adam_weight(hg_build *b, double base, hg_value_id count)
{
    hg_value_id power = hg_build_2(b, "Pow", hg_build_scalar(b, HOLO_F64, base), count);
    return hg_build_2(b, "Sub", hg_build_scalar(b, HOLO_F64, 1.0), power);
}

/* T > 0 ? R sqrt(1 - beta^T) / (1 - alpha^T) : R */
static hg_value_id adam_rate(hg_build *b, hg_value_id rate, hg_value_id count)
{
    const double alpha = hg_node_float(b->node, "alpha", 0.9);
    const double beta = hg_node_float(b->node, "beta", 0.999);
    hg_value_id root = hg_build_1(b, "Sqrt", adam_weight(b, beta, count));
    hg_value_id full =
        hg_build_2(b, "Div", hg_build_2(b, "Mul", rate, root), adam_weight(b, alpha, count));
    hg_value_id later = hg_build_2(b, "Greater", count, hg_build_scalar(b, HOLO_F64, 0.0));
    return hg_build_3(b, "Where", later, full, rate);
}

static void adam_update(hg_build *b, hg_optimizer_step *s)
{
    const double alpha = hg_node_float(b->node, "alpha", 0.9);
    const double beta = hg_node_float(b->node, "beta", 0.999);
    const double post = hg_node_float(b->node, "norm_coefficient_post", 0.0);
    const double epsilon = hg_node_float(b->node, "epsilon", 0.0);
    hg_value_id g = hg_optimizer_regularized(b, s);
    s->new_state[0] = hg_optimizer_blend(b, s, alpha, s->state[0], 1 - alpha, g);
    s->new_state[1] =
        hg_optimizer_blend(b, s, beta, s->state[1], 1 - beta, hg_build_2(b, "Mul", g, g));
    hg_value_id size = hg_build_2(b, "Add", hg_build_1(b, "Sqrt", s->new_state[1]),
                                  hg_optimizer_number(b, s, epsilon));
    hg_value_id way = hg_build_2(b, "Div", hg_build_2(b, "Mul", s->rate, s->new_state[0]), size);
    hg_value_id x = hg_build_2(b, "Sub", s->x, way);
    s->new_x = hg_build_2(b, "Mul", hg_optimizer_number(b, s, 1 - post), x);
}

static holo_status adam_lower(hg_build *b)
{
    return hg_optimizer_lower(b, 2, adam_rate, adam_update);
}

const hg_op hg_op_training_adam = {
    .name = "Adam",
    .domain = "ai.onnx.preview.training",
    .brief = "a step along running means of the gradient and of its square",
    .since = 1,
    .in = {6, -1},
    .out = {1, -1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64),
    .infer = adam_infer,
    .lower = adam_lower,
};
