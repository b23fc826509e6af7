/* dynamicquantizelinear.c - DynamicQuantizeLinear: to 8 bits, with a scale that fits the data. */
#include "op/op_reduce.h"

static holo_status dynamicquantizelinear_infer(hg_infer *n)
{
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_U8;
    if (n->n_out > 1) n->out[1] = (hg_type){.dtype = HOLO_F32};
    if (n->n_out > 2) n->out[2] = (hg_type){.dtype = HOLO_U8};
    return HOLO_OK;
}

/* Smallest or largest element, 0 included. */
static hg_value_id dynamicquantizelinear_bound(hg_build *b, const char *reduce,
                                               const char *with_zero)
{
    hg_attr keep = hg_attr_make_int("keepdims", 0);
    hg_value_id x = hg_build_in(b, 0);
    hg_value_id bound = hg_build_op(b, reduce, &x, 1, &keep, 1);
    return hg_build_2(b, with_zero, bound, hg_build_scalar(b, HOLO_F32, 0.0));
}

static holo_status dynamicquantizelinear_lower(hg_build *b)
{
    hg_value_id low = dynamicquantizelinear_bound(b, "ReduceMin", "Min");
    hg_value_id high = dynamicquantizelinear_bound(b, "ReduceMax", "Max");
    hg_value_id top = hg_build_scalar(b, HOLO_F32, 255.0), none = hg_build_scalar(b, HOLO_F32, 0.0);
    hg_value_id scale = hg_build_2(b, "Div", hg_build_2(b, "Sub", high, low), top);
    /* All elements 0: any scale will do, but not 0. */
    hg_value_id is_flat = hg_build_2(b, "Equal", scale, none);
    hg_value_id divisor = hg_build_3(b, "Where", is_flat, hg_build_scalar(b, HOLO_F32, 1.0), scale);
    hg_value_id zero = hg_build_1(b, "Neg", hg_build_2(b, "Div", low, divisor));
    zero = hg_build_1(b, "Round", hg_build_3(b, "Clip", zero, none, top));
    zero = hg_build_cast(b, zero, HOLO_U8);
    hg_value_id y = hg_build_3(b, "QuantizeLinear", hg_build_in(b, 0), divisor, zero);
    hg_build_replace(b, 0, y);
    if (b->status == HOLO_OK && b->node->n_out > 1) hg_build_replace(b, 1, scale);
    if (b->status == HOLO_OK && b->node->n_out > 2) hg_build_replace(b, 2, zero);
    return b->status;
}

const hg_op hg_op_dynamicquantizelinear = {
    .name = "DynamicQuantizeLinear",
    .brief = "to 8 bits, with a scale that fits the data",
    .since = 11,
    .in = {1, 1},
    .out = {1, 3},
    .types = HG_TYPE_BIT(HOLO_F32),
    .infer = dynamicquantizelinear_infer,
    .lower = dynamicquantizelinear_lower,
};
