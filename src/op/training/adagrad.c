/* adagrad.c - Adagrad: a step whose rate falls with the squares of all gradients so far. */
#include "op/training/op_optimizer.h"

static holo_status adagrad_infer(hg_infer *n)
{
    double number;
    HG_TRY(hg_attr_float(n, "decay_factor", 0.0, &number));
    HG_TRY(hg_attr_float(n, "epsilon", 0.0, &number));
    HG_TRY(hg_attr_float(n, "norm_coefficient", 0.0, &number));
    return hg_optimizer_infer(n, 1);
}

/* R / (1 + T decay_factor) */
static hg_value_id adagrad_rate(hg_build *b, hg_value_id rate, hg_value_id count)
{
    const double decay = hg_node_float(b->node, "decay_factor", 0.0);
    hg_value_id fall = hg_build_2(b, "Mul", count, hg_build_scalar(b, HOLO_F64, decay));
    return hg_build_2(b, "Div", rate,
                      hg_build_2(b, "Add", fall, hg_build_scalar(b, HOLO_F64, 1.0)));
}

static void adagrad_update(hg_build *b, hg_optimizer_step *s)
{
    const double epsilon = hg_node_float(b->node, "epsilon", 0.0);
    hg_value_id g = hg_optimizer_regularized(b, s);
    s->new_state[0] = hg_build_2(b, "Add", s->state[0], hg_build_2(b, "Mul", g, g));
    hg_value_id size = hg_build_2(b, "Add", hg_build_1(b, "Sqrt", s->new_state[0]),
                                  hg_optimizer_number(b, s, epsilon));
    hg_value_id way = hg_build_2(b, "Div", hg_build_2(b, "Mul", s->rate, g), size);
    s->new_x = hg_build_2(b, "Sub", s->x, way);
}

static holo_status adagrad_lower(hg_build *b)
{
    return hg_optimizer_lower(b, 1, adagrad_rate, adagrad_update);
}

const hg_op hg_op_training_adagrad = {
    .name = "Adagrad",
    .domain = "ai.onnx.preview.training",
    .brief = "a step whose rate falls with the squares of all gradients so far",
    .since = 1,
    .in = {5, -1},
    .out = {1, -1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64),
    .infer = adagrad_infer,
    .lower = adagrad_lower,
};
