/* recognize_norm.c - normalisations that exporters write out as arithmetic become one node again.
 *
 *     d = x - mean(x);  d / sqrt(mean(d * d) + eps) [* scale] [+ bias]          LayerNormalization
 *     the same over the channels of an image            LayerNormalization between two Transposes
 *     x / sqrt(mean(x * x) + eps) [* scale], or times the reciprocal              RMSNormalization
 *     Reshape(GroupNorm(Reshape(x, [n, g, -1])), shape of x) [* scale] [+ bias]  holo:GroupNorm */
#include "pass/pass.h"

enum { NORM_CHANNELS = 1 }; /* their dimension */

/* ReduceMean over one dimension, kept: the last, or that of channels. */
static hg_value_id norm_mean_of(hg_graph *g, hg_value_id v, bool channels)
{
    const hg_node *n = hg_op_producer(g, v, "ReduceMean");
    if (n == NULL || hg_node_int(n, "keepdims", 1) == 0) return 0;
    int32_t rank = hg_graph_value(g, hg_node_in(g, n, 0))->type.rank;
    size_t count;
    const int64_t *axes = hg_node_ints(n, "axes", &count);
    if (axes == NULL &&
        (hg_node_in(g, n, 1) == 0 || !hg_graph_const_ints(g, hg_node_in(g, n, 1), &axes, &count)))
        return 0;
    const int64_t wanted = channels ? NORM_CHANNELS : rank - 1;
    return count == 1 && (axes[0] == wanted || axes[0] + rank == wanted) ? hg_node_in(g, n, 0) : 0;
}

/* The value whose square v is. */
static hg_value_id norm_square_of(const hg_graph *g, hg_value_id v)
{
    const hg_node *power = hg_op_producer(g, v, "Pow"), *product = hg_op_producer(g, v, "Mul");
    double exponent;
    if (power != NULL && hg_graph_const_scalar(g, hg_node_in(g, power, 1), &exponent) &&
        exponent == 2.0)
        return hg_node_in(g, power, 0);
    if (product != NULL && hg_node_in(g, product, 0) == hg_node_in(g, product, 1))
        return hg_node_in(g, product, 0);
    return 0;
}

typedef struct norm_match {
    hg_value_id x;
    double epsilon;
    bool is_rms;   /* nothing is subtracted */
    bool channels; /* over dimension 1, not the last */
} norm_match;

/* v = sqrt(mean(d^2) + eps) */
static bool norm_deviation(hg_graph *g, hg_value_id v, hg_value_id d, norm_match *m)
{
    const hg_node *root = hg_op_producer(g, v, "Sqrt");
    const hg_node *sum = root == NULL ? NULL : hg_op_producer(g, hg_node_in(g, root, 0), "Add");
    if (sum == NULL) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (hg_graph_const_scalar(g, hg_node_in(g, sum, i), &m->epsilon))
            return norm_square_of(g, norm_mean_of(g, hg_node_in(g, sum, 1 - i), m->channels)) == d;
    return false;
}

/* The value that v is one over: Reciprocal, 1 / v. */
static hg_value_id norm_inverse_of(const hg_graph *g, hg_value_id v)
{
    const hg_node *reciprocal = hg_op_producer(g, v, "Reciprocal");
    const hg_node *quotient = hg_op_producer(g, v, "Div");
    double one;
    if (reciprocal != NULL) return hg_node_in(g, reciprocal, 0);
    if (quotient != NULL && hg_graph_const_scalar(g, hg_node_in(g, quotient, 0), &one) && one == 1)
        return hg_node_in(g, quotient, 1);
    return 0;
}

/* d over its deviation, d a difference from the mean or not. */
static bool norm_match_quotient(hg_graph *g, hg_value_id d, hg_value_id deviation, norm_match *out)
{
    if (hg_graph_value(g, d)->type.dtype != HOLO_F32 || !norm_deviation(g, deviation, d, out))
        return false;
    const hg_node *difference = hg_op_producer(g, d, "Sub");
    out->is_rms = difference == NULL || norm_mean_of(g, hg_node_in(g, difference, 1),
                                                     out->channels) != hg_node_in(g, difference, 0);
    out->x = out->is_rms ? d : hg_node_in(g, difference, 0);
    return true;
}

static bool norm_match_layer(hg_graph *g, const hg_node *n, norm_match *out)
{
    if (hg_op_is(n, "Div"))
        return norm_match_quotient(g, hg_node_in(g, n, 0), hg_node_in(g, n, 1), out);
    if (!hg_op_is(n, "Mul")) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const hg_value_id deviation = norm_inverse_of(g, hg_node_in(g, n, i));
        if (deviation != 0 && norm_match_quotient(g, hg_node_in(g, n, 1 - i), deviation, out))
            return true;
    }
    return false;
}

/* The only reader of value when it is `op` with a constant on the other side that fits: *other is
 * it. */
static hg_node_id norm_follower(const hg_graph *g, hg_value_id value, const char *op,
                                bool (*fits)(const hg_graph *g, hg_value_id value, hg_value_id c),
                                hg_value_id *other)
{
    hg_node_id id = hg_graph_only_user(g, value);
    if (id == 0 || !hg_op_is(hg_graph_node(g, id), op)) return 0;
    const hg_node *n = hg_graph_node(g, id);
    *other = hg_node_in(g, n, hg_node_in(g, n, 0) == value ? 1 : 0);
    return *other != 0 && hg_graph_is_const(g, *other) && fits(g, value, *other) ? id : 0;
}

/* [n] against [..., n] */
static bool norm_fits_last(const hg_graph *g, hg_value_id value, hg_value_id c)
{
    const hg_type *t = &hg_graph_value(g, value)->type, *s = &hg_graph_value(g, c)->type;
    return s->rank == 1 && s->dim[0] == t->dim[t->rank - 1];
}

/* [c, 1, 1] or [1, c, 1, 1] against [n, c, h, w] */
static bool norm_fits_channels(const hg_graph *g, hg_value_id value, hg_value_id c)
{
    const hg_type *t = &hg_graph_value(g, value)->type, *s = &hg_graph_value(g, c)->type;
    int32_t shift = t->rank - s->rank;
    if (shift < 0 || shift > 1 || s->dtype != t->dtype) return false;
    for (int32_t k = 0; k < s->rank; k++)
        if (k + shift == 1 ? s->dim[k] != t->dim[1] : !hg_dim_is(&g->dims, s->dim[k], 1))
            return false;
    return true;
}

/* Scale and, if wanted, bias that follow `value`; *last is the node whose result the whole gives.
 */
static void norm_affine(const hg_graph *g, hg_value_id value,
                        bool (*fits)(const hg_graph *g, hg_value_id value, hg_value_id c),
                        bool with_bias, hg_value_id *scale, hg_value_id *bias, hg_node_id *last)
{
    hg_node_id id = norm_follower(g, value, "Mul", fits, scale);
    if (id == 0) {
        *scale = 0;
        return;
    }
    *last = id;
    if (!with_bias) return;
    id = norm_follower(g, hg_graph_node(g, id)->out[0], "Add", fits, bias);
    if (id == 0)
        *bias = 0;
    else
        *last = id;
}

static hg_value_id norm_flat(hg_build *b, hg_value_id c)
{
    return c == 0 ? 0 : hg_build_2(b, "Reshape", c, hg_build_ints(b, (int64_t[]){-1}, 1));
}

/* Channels move to the end, or back. */
static hg_value_id norm_turn(hg_build *b, hg_value_id x, bool to_last)
{
    int64_t perm[HG_MAX_RANK];
    const int32_t rank = hg_build_type(b, x)->rank;
    for (int32_t k = 0; k < rank; k++) {
        const int32_t at = k < NORM_CHANNELS ? k : k == rank - 1 ? NORM_CHANNELS : k + 1;
        perm[to_last ? k : at] = to_last ? at : k;
    }
    const hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)rank);
    return hg_build_op(b, "Transpose", &x, 1, &attr, 1);
}

/* Images whose channels lie last once layouts are chosen: the norm is one over the last dimension
 * then. */
static holo_status norm_channels(hg_graph *g, hg_node_id id, const norm_match *m)
{
    hg_value_id scale = 0, bias = 0;
    hg_node_id last = id;
    norm_affine(g, hg_graph_node(g, id)->out[0], norm_fits_channels, true, &scale, &bias, &last);
    hg_build b;
    hg_build_init(&b, g, last);
    hg_attr attr[2] = {hg_attr_make_int("axis", -1), hg_attr_make_float("epsilon", m->epsilon)};
    hg_value_id in[3] = {norm_turn(&b, m->x, true), 0, 0};
    in[1] = scale == 0 ? hg_build_scalar(&b, HOLO_F32, 1.0) : norm_flat(&b, scale);
    in[2] = norm_flat(&b, bias);
    const hg_value_id made = hg_build_op(&b, "LayerNormalization", in, bias == 0 ? 2 : 3, attr, 2);
    hg_build_replace(&b, 0, made == 0 ? 0 : norm_turn(&b, made, false));
    return b.status;
}

static holo_status norm_layer(hg_graph *g, hg_node_id id, const norm_match *m)
{
    hg_value_id scale = 0, bias = 0;
    hg_node_id last = id;
    norm_affine(g, hg_graph_node(g, id)->out[0], norm_fits_last, !m->is_rms, &scale, &bias, &last);
    hg_build b;
    hg_build_init(&b, g, last);
    hg_attr attr[2] = {hg_attr_make_int("axis", -1), hg_attr_make_float("epsilon", m->epsilon)};
    if (scale == 0) scale = hg_build_scalar(&b, HOLO_F32, 1.0);
    hg_value_id in[3] = {m->x, scale, bias};
    const hg_value_id made = hg_build_op(&b, m->is_rms ? "RMSNormalization" : "LayerNormalization",
                                         in, bias == 0 ? 2 : 3, attr, 2);
    hg_build_replace(&b, 0, made);
    return b.status;
}

/* ---- groups
 * ------------------------------------------------------------------------------------------------
 */

/* Reshape(GroupNorm(Reshape(x))) where the inner shape is [n, groups, rest] and the outer is x's.
 */
static bool norm_match_group(const hg_graph *g, const hg_node *n, hg_value_id *x,
                             const hg_node **norm)
{
    if (!hg_op_is(n, "Reshape")) return false;
    *norm = hg_op_producer(g, hg_node_in(g, n, 0), "holo:GroupNorm");
    if (*norm == NULL || hg_graph_only_user(g, hg_node_in(g, n, 0)) == 0) return false;
    const hg_node *inner = hg_op_producer(g, hg_node_in(g, *norm, 0), "Reshape");
    if (inner == NULL || hg_node_int(*norm, "channels_last", 0) != 0) return false;
    *x = hg_node_in(g, inner, 0);
    const hg_type *t = &hg_graph_value(g, *x)->type;
    const hg_type *seen = &hg_graph_value(g, hg_node_in(g, *norm, 0))->type;
    const hg_attr *groups = hg_node_attr(*norm, "groups");
    return hg_type_equal(t, &hg_graph_value(g, n->out[0])->type) && t->rank >= 3 &&
           seen->rank >= 2 && seen->dim[0] == t->dim[0] && groups != NULL &&
           groups->kind == HG_ATTR_DIMS && groups->dims[0] == seen->dim[1];
}

/* Constants that are all `value`: the scale and bias of an instance norm that a group norm was made
 * of. */
static bool norm_is_filled(const hg_graph *g, hg_value_id c, float value)
{
    if (c == 0) return true;
    const hg_value *v = hg_graph_value(g, c);
    if (v->constant == NULL || v->type.dtype != HOLO_F32) return false;
    const float *x = v->constant->data;
    for (size_t i = 0; i < v->constant->bytes / sizeof *x; i++)
        if (x[i] != value) return false;
    return true;
}

static holo_status norm_group(hg_graph *g, hg_node_id id, hg_value_id x, const hg_node *norm)
{
    hg_value_id scale = 0, bias = 0;
    hg_node_id last = id;
    norm_affine(g, hg_graph_node(g, id)->out[0], norm_fits_channels, true, &scale, &bias, &last);
    hg_attr attr[2] = {*hg_node_attr(norm, "groups"),
                       hg_attr_make_float("epsilon", hg_node_float(norm, "epsilon", 1e-5))};
    hg_build b;
    hg_build_init(&b, g, last);
    hg_value_id in[3] = {x, norm_flat(&b, scale), norm_flat(&b, bias)};
    uint32_t n_in = bias != 0 ? 3 : scale != 0 ? 2 : 1;
    hg_build_replace(&b, 0, hg_build_op(&b, "holo:GroupNorm", in, n_in, attr, 2));
    return b.status;
}

/* An image beside convolutions, whose kernels have channels last; sums in another order. */
static bool norm_match_channels(hg_graph *g, const hg_node *n, bool has_conv, norm_match *out)
{
    *out = (norm_match){.channels = true};
    return has_conv && g->ctx->numerics != HOLO_EXACT && norm_match_layer(g, n, out) &&
           !out->is_rms && hg_graph_value(g, out->x)->type.rank == 4;
}

static bool norm_has_conv(const hg_graph *g)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next)
        if (hg_op_is(hg_graph_node(g, id), "Conv")) return true;
    return false;
}

static holo_status norm_run(hg_graph *g, bool *changed)
{
    const bool has_conv = norm_has_conv(g);
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id), *norm;
        hg_node_id next = n->next;
        norm_match layer = {0};
        hg_value_id x;
        if (norm_match_layer(g, n, &layer)) {
            HG_TRY(norm_layer(g, id, &layer));
            *changed = true;
        } else if (norm_match_channels(g, n, has_conv, &layer)) {
            HG_TRY(norm_channels(g, id, &layer));
            *changed = true;
        } else if (norm_match_group(g, n, &x, &norm) &&
                   norm_is_filled(g, hg_node_in(g, norm, 1), 1) &&
                   norm_is_filled(g, hg_node_in(g, norm, 2), 0)) {
            HG_TRY(norm_group(g, id, x, norm));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_recognize_norm = {
    .name = "recognize_norm",
    .brief = "layer, RMS and group normalisation written out as arithmetic become one node",
    .run = norm_run,
};
