/* causalconvwithstate.c - CausalConvWithState: each channel convolved with its own kernel over what
 * is now and before; the end of the sequence is the state of the next call.
 *
 * What is before comes in front of the input, as past state or zeros: then it is a depthwise Conv,
 * and the last k - 1 elements are the new state. */
#include "op/op_shape.h"

enum { CAUSAL_X, CAUSAL_W, CAUSAL_BIAS, CAUSAL_PAST, CAUSAL_MAX_TAPS = 64 };

static holo_status causal_check(const hg_infer *n, const hg_type *w, hg_dim before, hg_dim *fits)
{
    const hg_type *x = n->in[CAUSAL_X];
    hg_dim weight[] = {x->dim[1], hg_dim_const(n->dims, 1), w->dim[2]};
    hg_dim state[] = {x->dim[0], x->dim[1], before};
    for (uint32_t i = CAUSAL_W; i <= CAUSAL_PAST; i++)
        if (hg_infer_has(n, i)) HG_TRY(hg_infer_same_type(n, i, CAUSAL_X));
    HG_TRY(hg_shape_expect(n, CAUSAL_W, weight, 3, fits));
    if (hg_infer_has(n, CAUSAL_BIAS)) HG_TRY(hg_shape_expect(n, CAUSAL_BIAS, &x->dim[1], 1, fits));
    if (hg_infer_has(n, CAUSAL_PAST)) HG_TRY(hg_shape_expect(n, CAUSAL_PAST, state, 3, fits));
    return HOLO_OK;
}

static holo_status causal_infer(hg_infer *n)
{
    hg_str activation;
    int64_t size;
    const hg_type *x = n->in[CAUSAL_X], *w = n->in[CAUSAL_W];
    HG_TRY(hg_infer_rank(n, CAUSAL_X, 3, 3));
    HG_TRY(hg_infer_rank(n, CAUSAL_W, 3, 3));
    HG_TRY(hg_attr_string(n, "activation", "none", &activation));
    if (!hg_str_is(activation, "none") && !hg_str_is(activation, "silu") &&
        !hg_str_is(activation, "swish"))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "activation is \"%.*s\", expected none, silu or swish",
                             HG_STR_ARG(activation));
    if (hg_dim_is_const(n->dims, w->dim[2], &size) && size < 1)
        return hg_infer_fail(n, HOLO_E_SHAPE, "the kernel has %lld elements, expected at least 1",
                             (long long)size);
    hg_dim one = hg_dim_const(n->dims, 1),
           fits = hg_dim_lt(n->dims, hg_dim_const(n->dims, 0), w->dim[2]);
    hg_dim before = hg_dim_sub(n->dims, w->dim[2], one);
    HG_TRY(causal_check(n, w, before, &fits));
    n->out[0] = *x;
    hg_shape_require(n->dims, fits, &n->out[0]);
    if (n->n_out == 1) return HOLO_OK;
    n->out[1] = *x;
    n->out[1].dim[2] = before;
    return HOLO_OK;
}

/* The input with the k - 1 elements before it. */
static hg_value_id causal_sequence(hg_build *b, const hg_type *type, hg_dim before)
{
    hg_value_id x = hg_build_in(b, CAUSAL_X), past = hg_build_in(b, CAUSAL_PAST);
    hg_dim zero = hg_dim_const(&b->g->dims, 0);
    hg_dim pads[] = {zero, zero, before, zero, zero, zero};
    hg_dim state[] = {type->dim[0], type->dim[1], before};
    hg_attr axis = hg_attr_make_int("axis", 2);
    if (past == 0) return hg_build_2(b, "Pad", x, hg_build_dims(b, pads, HG_COUNT(pads)));
    /* refuses another size at run time */
    past = hg_build_reshape(b, past, state, HG_COUNT(state));
    return hg_build_op(b, "Concat", (hg_value_id[]){past, x}, 2, &axis, 1);
}

static hg_value_id causal_last(hg_build *b, hg_value_id x, hg_dim from)
{
    hg_value_id in[] = {x, hg_build_dims(b, &from, 1), hg_build_ints(b, &(int64_t){INT64_MAX}, 1),
                        hg_build_ints(b, &(int64_t){2}, 1)};
    return hg_build_op(b, "Slice", in, HG_COUNT(in), NULL, 0);
}

/* However many channels there are: each element of the kernel times the sequence from there on,
 * added to zero in the order of Conv, the bias last. */
static hg_value_id causal_shifted(hg_build *b, const hg_type *x, hg_value_id all, int64_t taps)
{
    hg_dims *d = &b->g->dims;
    hg_value_id w = hg_build_wide(b, hg_build_in(b, CAUSAL_W)), bias = hg_build_in(b, CAUSAL_BIAS);
    hg_value_id last = hg_build_ints(b, (int64_t[]){1}, 1), y = 0;
    all = hg_build_wide(b, all);
    w = hg_build_2(b, "Squeeze", w, last); /* [channels, taps] */
    for (int64_t k = 0; k < taps && b->status == HOLO_OK; k++) {
        const hg_dim at = hg_dim_const(d, k);
        hg_value_id part = hg_build_part(b, all, 2, at, hg_dim_add(d, at, x->dim[2]));
        hg_value_id by = hg_build_part(b, w, 1, at, hg_dim_const(d, k + 1));
        part = hg_build_2(b, "Mul", part, by);
        y = hg_build_2(b, "Add", y == 0 ? hg_build_scalar(b, hg_build_type(b, part)->dtype, 0) : y,
                       part);
    }
    if (bias != 0)
        y = hg_build_2(b, "Add", y, hg_build_2(b, "Unsqueeze", hg_build_wide(b, bias), last));
    return hg_build_cast(b, y, x->dtype);
}

/* As a Conv with a group for each channel where their number is known. */
static hg_value_id causal_convolve(hg_build *b, const hg_type *x, const hg_type *w, hg_value_id all)
{
    hg_dims *d = &b->g->dims;
    int64_t channels, taps;
    if (hg_dim_is_const(d, x->dim[1], &channels) || hg_dim_is_const(d, w->dim[0], &channels)) {
        const hg_attr group = hg_attr_make_int("group", channels);
        hg_value_id in[] = {all, hg_build_in(b, CAUSAL_W), hg_build_in(b, CAUSAL_BIAS)};
        return hg_build_op(b, "Conv", in, in[2] == 0 ? 2 : 3, &group, 1);
    }
    if (hg_dim_is_const(d, w->dim[2], &taps) && taps <= CAUSAL_MAX_TAPS)
        return causal_shifted(b, x, all, taps);
    (void)hg_build_fail(b, HOLO_E_UNSUPPORTED,
                        "neither the number of channels nor a kernel of at most %d elements is "
                        "known at compile time; give the model one of them, or --dim",
                        CAUSAL_MAX_TAPS);
    return 0;
}

static holo_status causal_lower(hg_build *b)
{
    hg_dims *d = &b->g->dims;
    const hg_type x = *hg_build_type(b, hg_build_in(b, CAUSAL_X));
    const hg_type w = *hg_build_type(b, hg_build_in(b, CAUSAL_W));
    const bool is_plain = hg_str_is(hg_node_string(b->node, "activation", "none"), "none");
    const bool wants_state = b->node->n_out > 1;
    hg_value_id all = causal_sequence(b, &x, hg_dim_sub(d, w.dim[2], hg_dim_const(d, 1)));
    hg_value_id y = causal_convolve(b, &x, &w, all);
    if (b->status != HOLO_OK) return b->status;
    hg_build_replace(b, 0, is_plain ? y : hg_build_1(b, "Swish", y));
    if (wants_state) hg_build_replace(b, 1, causal_last(b, all, x.dim[2]));
    return b->status;
}

const hg_op hg_op_causalconvwithstate = {
    .name = "CausalConvWithState",
    .brief = "each channel convolved over what is now and before, with a state",
    .since = 27,
    .in = {2, 4},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT & ~HG_TYPE_BIT(HOLO_F64),
    .infer = causal_infer,
    .lower = causal_lower,
};
