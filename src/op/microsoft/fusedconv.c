/* fusedconv.c - com.microsoft:FusedConv: Conv, the sum with one more tensor, and an activation. */
#include "op/op_activation.h"

enum { FUSEDCONV_SUM = 3 };

static holo_status fusedconv_check_activation(const hg_infer *n)
{
    hg_str name;
    HG_TRY(hg_attr_string(n, "activation", "", &name));
    const hg_activation *a = hg_activation_find(name);
    if (a == NULL)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "activation is \"%.*s\", which is not known",
                             HG_STR_ARG(name));
    const hg_attr *numbers = hg_node_attr(n->node, "activation_params");
    size_t wanted = 0, stated = 0;
    while (wanted < HG_ACTIVATION_NUMBERS && a->attr[wanted] != NULL)
        wanted++;
    if (numbers != NULL && numbers->kind == HG_ATTR_FLOATS) stated = numbers->count;
    if (stated == wanted || wanted == 0) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL, "activation_params has %zu numbers, expected %zu floats",
                         stated, wanted);
}

static holo_status fusedconv_infer(hg_infer *n)
{
    HG_TRY(fusedconv_check_activation(n));
    HG_TRY(hg_op_get("Conv")->infer(n));
    if (!hg_infer_has(n, FUSEDCONV_SUM)) return HOLO_OK;
    const hg_type *z = n->in[FUSEDCONV_SUM], *out = &n->out[0];
    HG_TRY(hg_infer_same_type(n, 0, FUSEDCONV_SUM));
    HG_TRY(hg_infer_rank(n, FUSEDCONV_SUM, out->rank, out->rank));
    for (int32_t i = 0; i < z->rank; i++)
        if (!hg_infer_equal(n, z->dim[i], out->dim[i]))
            return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %d of Z differs from the result's", i);
    return HOLO_OK;
}

static holo_status fusedconv_lower(hg_build *b)
{
    const hg_activation *a = hg_activation_find(hg_node_string(b->node, "activation", ""));
    const hg_attr *numbers = hg_node_attr(b->node, "activation_params");
    hg_attr number[HG_ACTIVATION_NUMBERS];
    uint32_t count = 0;
    for (; count < HG_ACTIVATION_NUMBERS && a->attr[count] != NULL; count++)
        number[count] = hg_attr_make_float(a->attr[count], (double)numbers->floats[count]);
    hg_value_id in[] = {hg_build_in(b, 0), hg_build_in(b, 1), hg_build_in(b, 2)};
    hg_value_id z = hg_build_in(b, FUSEDCONV_SUM);
    hg_value_id y = hg_build_renamed(b, "Conv", in, HG_COUNT(in), "activation");
    if (z != 0) y = hg_build_2(b, "Add", y, z);
    hg_build_replace(b, 0, hg_build_activation(b, a, y, number, count));
    return b->status;
}

const hg_op hg_op_microsoft_fusedconv = {
    .name = "FusedConv",
    .domain = "com.microsoft",
    .brief = "Conv, the sum with one more tensor, and an activation",
    .since = 1,
    .in = {2, 4},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = fusedconv_infer,
    .lower = fusedconv_lower,
};
