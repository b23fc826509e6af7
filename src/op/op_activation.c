/* op_activation.c - activations that fused operators name in an attribute. */
#include "op/op_activation.h"

const hg_activation *hg_activation_find(hg_str name)
{
    static const hg_activation none, known[] = {
                                         {"Relu", {NULL}},
                                         {"Tanh", {NULL}},
                                         {"Sigmoid", {NULL}},
                                         {"Softplus", {NULL}},
                                         {"Softsign", {NULL}},
                                         {"HardSwish", {NULL}},
                                         {"Celu", {"alpha", NULL}},
                                         {"Elu", {"alpha", NULL}},
                                         {"LeakyRelu", {"alpha", NULL}},
                                         {"ThresholdedRelu", {"alpha", NULL}},
                                         {"HardSigmoid", {"alpha", "beta"}},
                                         {"Selu", {"alpha", "gamma"}},
                                         {"Clip", {"min", "max"}},
                                     };
    if (name.length == 0) return &none;
    for (size_t i = 0; i < HG_COUNT(known); i++)
        if (hg_str_is(name, known[i].op)) return &known[i];
    return NULL;
}

hg_value_id hg_build_activation(hg_build *b, const hg_activation *a, hg_value_id x,
                                const hg_attr *number, uint32_t n_number)
{
    if (a->op == NULL || b->status != HOLO_OK) return x;
    if (strcmp(a->op, "Clip") != 0) return hg_build_op(b, a->op, &x, 1, number, n_number);
    hg_value_id bound[HG_ACTIVATION_NUMBERS] = {0}; /* inputs, not attributes */
    for (uint32_t i = 0; i < n_number; i++)
        bound[hg_str_is(number[i].name, "max")] =
            hg_build_scalar(b, hg_build_type(b, x)->dtype, (double)number[i].f);
    return hg_build_3(b, "Clip", x, bound[0], bound[1]);
}
