/* fusedgemm.c - com.microsoft:FusedGemm: Gemm and an activation. */
#include "op/op_activation.h"

/* Numbers of the activation that the node states: activation_alpha is its alpha. */
static uint32_t fusedgemm_numbers(const hg_node *node, const hg_activation *a, hg_attr *number)
{
    char name[32] = "activation_";
    uint32_t count = 0;
    for (uint32_t i = 0; i < HG_ACTIVATION_NUMBERS && a->attr[i] != NULL; i++) {
        strcpy(name + strlen("activation_"), a->attr[i]);
        const hg_attr *attr = hg_node_attr(node, name);
        if (attr != NULL) number[count++] = hg_attr_make_float(a->attr[i], (double)attr->f);
    }
    return count;
}

static holo_status fusedgemm_infer(hg_infer *n)
{
    hg_str name;
    double number;
    HG_TRY(hg_attr_string(n, "activation", "", &name));
    HG_TRY(hg_attr_float(n, "activation_alpha", 0.0, &number));
    HG_TRY(hg_attr_float(n, "activation_beta", 0.0, &number));
    HG_TRY(hg_attr_float(n, "activation_gamma", 0.0, &number));
    if (hg_activation_find(name) == NULL)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "activation is \"%.*s\", which is not known",
                             HG_STR_ARG(name));
    return hg_op_get("Gemm")->infer(n);
}

static holo_status fusedgemm_lower(hg_build *b)
{
    const hg_activation *a = hg_activation_find(hg_node_string(b->node, "activation", ""));
    hg_attr number[HG_ACTIVATION_NUMBERS];
    uint32_t count = fusedgemm_numbers(b->node, a, number);
    hg_value_id in[] = {hg_build_in(b, 0), hg_build_in(b, 1), hg_build_in(b, 2)};
    hg_value_id y = hg_build_renamed(b, "Gemm", in, HG_COUNT(in), "activation");
    hg_build_replace(b, 0, hg_build_activation(b, a, y, number, count));
    return b->status;
}

const hg_op hg_op_microsoft_fusedgemm = {
    .name = "FusedGemm",
    .domain = "com.microsoft",
    .brief = "Gemm and an activation",
    .since = 1,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = fusedgemm_infer,
    .lower = fusedgemm_lower,
};
