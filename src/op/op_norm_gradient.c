/* op_norm_gradient.c - derivatives of normalisations. */
#include "op/op_norm.h"

void hg_build_norm_parts(hg_build *b, hg_value_id x, double epsilon, hg_norm_parts *p)
{
    if (p->kind == HG_NORM_LAYER) x = hg_build_2(b, "Sub", x, hg_build_norm_mean(b, x, p->axis));
    if (b->status != HOLO_OK) return;
    p->inverse = hg_build_norm_inverse(b, x, p->axis, epsilon);
    p->unit = hg_build_2(b, "Mul", x, p->inverse);
}

/* (g - mean g - u mean (g u)) / deviation; the mean of g only where one was taken off. */
hg_value_id hg_build_norm_back(hg_build *b, const hg_norm_parts *p, hg_value_id g)
{
    if (b->status != HOLO_OK) return 0;
    hg_value_id along = hg_build_norm_mean(b, hg_build_2(b, "Mul", g, p->unit), p->axis);
    hg_value_id x = hg_build_2(b, "Sub", g, hg_build_2(b, "Mul", p->unit, along));
    if (p->kind == HG_NORM_LAYER) x = hg_build_2(b, "Sub", x, hg_build_norm_mean(b, g, p->axis));
    return hg_build_2(b, "Mul", x, p->inverse);
}

holo_status hg_norm_gradient(hg_gradient *d, hg_norm_kind kind)
{
    hg_build *b = d->b;
    const hg_node *n = hg_gradient_node(d);
    const hg_type *type = hg_gradient_type(d, 0);
    const holo_dtype compute = type->dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    hg_norm_parts p = {.kind = kind, .axis = (int32_t)hg_node_int(n, "axis", -1)};
    if (p.axis < 0) p.axis += type->rank;
    for (uint32_t j = 1; j < n->n_out; j++)
        if (d->out[j] != 0) return hg_gradient_fail(d, "y depends on its statistics");
    hg_value_id x = hg_build_cast(b, hg_gradient_input(d, 0), compute);
    hg_build_norm_parts(b, x, hg_node_float(hg_gradient_node(d), "epsilon", 1e-5), &p);
    hg_value_id dy = hg_build_cast(b, d->out[0], compute);
    hg_value_id scale = hg_build_cast(b, hg_gradient_input(d, 1), compute);
    if (d->wanted[0]) d->in[0] = hg_build_norm_back(b, &p, hg_build_2(b, "Mul", dy, scale));
    if (d->wanted[1]) d->in[1] = hg_build_2(b, "Mul", dy, p.unit);
    if (hg_gradient_input(d, 2) != 0 && d->wanted[2]) d->in[2] = dy;
    return b->status;
}
