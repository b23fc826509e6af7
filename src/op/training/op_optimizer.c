/* op_optimizer.c - what the operators that take one step of an optimizer share. */
#include "op/training/op_optimizer.h"

#include "op/op_shape.h"

static holo_status optimizer_scalar(const hg_infer *n, uint32_t i, hg_types types)
{
    HG_TRY(hg_infer_types(n, i, types));
    if (!hg_infer_equal(n, hg_type_count(n->g, n->in[i]), hg_dim_const(n->dims, 1)))
        return hg_infer_fail(n, HOLO_E_SHAPE, "input %u is no scalar", i);
    return HOLO_OK;
}

holo_status hg_optimizer_infer(hg_infer *n, uint32_t n_state)
{
    const hg_types types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64);
    const uint32_t lists = 2 + n_state, count = (n->n_in - HG_OPTIMIZER_FIRST) / lists;
    const uint32_t n_out = count * (1 + n_state);
    HG_TRY(optimizer_scalar(n, HG_OPTIMIZER_RATE, types));
    HG_TRY(optimizer_scalar(n, HG_OPTIMIZER_COUNT, HG_TYPE_BIT(HOLO_I64)));
    if ((n->n_in - HG_OPTIMIZER_FIRST) % lists != 0 || n->n_out > n_out)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "%u inputs and %u outputs, expected 2 and %u for each tensor, and %u",
                             n->n_in, n->n_out, lists, n_out);
    for (uint32_t i = HG_OPTIMIZER_FIRST; i < n->n_in; i++) {
        const uint32_t x = HG_OPTIMIZER_FIRST + (i - HG_OPTIMIZER_FIRST) % count;
        hg_dim fits = hg_dim_const(n->dims, 1);
        HG_TRY(hg_infer_types(n, i, types));
        HG_TRY(hg_infer_same_type(n, i, x));
        HG_TRY(hg_shape_expect(n, i, n->in[x]->dim, n->in[x]->rank, &fits));
    }
    for (uint32_t j = 0; j < n->n_out; j++)
        n->out[j] = *n->in[HG_OPTIMIZER_FIRST + j % count];
    return HOLO_OK;
}

/* Steps are computed in f64 until they meet the tensors: counts may be large. */
static hg_value_id optimizer_read(hg_build *b, uint32_t i)
{
    hg_value_id x = hg_build_2(b, "Reshape", hg_build_in(b, i), hg_build_ints(b, NULL, 0));
    return hg_build_cast(b, x, HOLO_F64);
}

holo_status hg_optimizer_lower(hg_build *b, uint32_t n_state,
                               hg_value_id (*prepare)(hg_build *b, hg_value_id rate,
                                                      hg_value_id count),
                               void (*update)(hg_build *b, hg_optimizer_step *s))
{
    const uint32_t n_out = b->node->n_out;
    const uint32_t count = (b->node->n_in - HG_OPTIMIZER_FIRST) / (2 + n_state);
    const hg_value_id rate =
        prepare(b, optimizer_read(b, HG_OPTIMIZER_RATE), optimizer_read(b, HG_OPTIMIZER_COUNT));
    for (uint32_t i = 0; i < count && b->status == HOLO_OK; i++) {
        const uint32_t at = HG_OPTIMIZER_FIRST + i;
        hg_optimizer_step s = {.x = hg_build_in(b, at), .gradient = hg_build_in(b, at + count)};
        s.dtype = hg_build_type(b, s.x)->dtype;
        s.rate = hg_build_cast(b, rate, s.dtype);
        for (uint32_t k = 0; k < n_state; k++)
            s.state[k] = hg_build_in(b, at + (2 + k) * count);
        update(b, &s);
        if (i < n_out) hg_build_replace(b, i, s.new_x);
        for (uint32_t k = 0; k < n_state; k++)
            if (i + (1 + k) * count < n_out)
                hg_build_replace(b, i + (1 + k) * count, s.new_state[k]);
    }
    return b->status;
}

hg_value_id hg_optimizer_number(hg_build *b, const hg_optimizer_step *s, double value)
{
    return hg_build_scalar(b, s->dtype, value);
}

hg_value_id hg_optimizer_blend(hg_build *b, const hg_optimizer_step *s, double a, hg_value_id x,
                               double c, hg_value_id y)
{
    x = hg_build_2(b, "Mul", hg_optimizer_number(b, s, a), x);
    return hg_build_2(b, "Add", x, hg_build_2(b, "Mul", hg_optimizer_number(b, s, c), y));
}

hg_value_id hg_optimizer_regularized(hg_build *b, const hg_optimizer_step *s)
{
    const double norm = hg_node_float(b->node, "norm_coefficient", 0.0);
    hg_value_id x = hg_build_2(b, "Mul", hg_optimizer_number(b, s, norm), s->x);
    return hg_build_2(b, "Add", x, s->gradient);
}
