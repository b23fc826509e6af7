/* gradient.c - Gradient: derivatives of one value with respect to others.
 *
 *   in   values for xs, then for zs; behind them, put there at import, the values that xs, zs and y
 *        name
 *   out  dy/dx for each of xs; y is summed up when it has several elements
 *
 * It is expanded while compiling. The nodes between the variables and y are walked backwards, each
 * adding to the gradients of its inputs by the rule of its operator. Where other values are given
 * than those that are named, the nodes that depend on them are computed once more first. */
#include "op/op_gradient.h"

typedef struct gradient_walk {
    hg_build *b;
    uint32_t n_x, n_variable; /* xs; with zs */
    hg_value_id y;
    uint8_t *mark;    /* by value */
    hg_value_id *now; /* by value: what stands for it with the values that are given; 0: itself */
    hg_value_id *result; /* by value: its gradient, 0: none */
    size_t n_value;
    hg_node_id *node; /* between the variables and y, the last one first */
    uint32_t n_node;
} gradient_walk;

static uint32_t gradient_names(const hg_node *n, const char *name)
{
    const hg_attr *a = hg_node_attr(n, name);
    return a != NULL && a->kind == HG_ATTR_STRINGS ? (uint32_t)a->count : 0;
}

static holo_status gradient_infer(hg_infer *n)
{
    const uint32_t n_x = gradient_names(n->node, "xs"), count = n_x + gradient_names(n->node, "zs");
    hg_str y;
    HG_TRY(hg_attr_string(n, "y", "", &y));
    if (n_x == 0) return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'xs' names nothing");
    if (n->n_in != 2 * count + 1 || n->n_out > n_x)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "%u inputs and %u outputs, expected %u and at most %u as xs and zs "
                             "have names, and a y",
                             n->n_in > count + 1 ? n->n_in - count - 1 : 0, n->n_out, count, n_x);
    for (uint32_t i = 0; i < count; i++) {
        if (!hg_infer_has(n, i)) return hg_infer_fail(n, HOLO_E_MODEL, "input %u is missing", i);
        HG_TRY(hg_infer_same_type(n, i, count + i));
        HG_TRY(hg_infer_rank(n, i, n->in[count + i]->rank, n->in[count + i]->rank));
    }
    HG_TRY(hg_infer_types(n, 2 * count, HG_TYPES_FLOAT));
    for (uint32_t j = 0; j < n_x; j++)
        HG_TRY(hg_infer_types(n, j, HG_TYPES_FLOAT));
    for (uint32_t j = 0; j < n->n_out; j++)
        n->out[j] = *n->in[j];
    return HOLO_OK;
}

/* ---- what lies between ----------------------------------------------------------------------- */

/* A body sees only what is inside: what comes from outside may depend on the variables. */
static holo_status gradient_need(gradient_walk *w, hg_value_id value)
{
    const hg_value *v = hg_graph_value(w->b->g, value);
    w->mark[value] |= HG_GRADIENT_NEEDED;
    if (!w->b->g->is_body || v->node != 0 || v->constant != NULL ||
        (w->mark[value] & HG_GRADIENT_VARIABLE) != 0)
        return HOLO_OK;
    return hg_build_fail(w->b, HOLO_E_UNSUPPORTED,
                         "y depends on '%.*s', which is computed outside of this body",
                         HG_STR_ARG(v->name));
}

/* Nodes that y needs and that depend on a variable, from the last one back. */
static holo_status gradient_collect(gradient_walk *w)
{
    hg_graph *g = w->b->g;
    HG_TRY(HG_NEW(w->b->ctx, g->n_node + 1, &w->node));
    HG_TRY(gradient_need(w, w->y));
    for (hg_node_id id = hg_graph_node(g, w->b->id)->prev; id != 0;
         id = hg_graph_node(g, id)->prev) {
        const hg_node *n = hg_graph_node(g, id);
        bool needed = false;
        for (uint32_t j = 0; j < n->n_out; j++)
            needed |= n->out[j] != 0 &&
                      (w->mark[n->out[j]] & (HG_GRADIENT_NEEDED | HG_GRADIENT_VARIABLE)) ==
                          HG_GRADIENT_NEEDED;
        if (!needed) continue;
        w->node[w->n_node++] = id;
        for (uint32_t i = 0; i < n->n_in; i++)
            if (hg_node_in(g, n, i) != 0) HG_TRY(gradient_need(w, hg_node_in(g, n, i)));
    }
    return HOLO_OK;
}

/* Other values for the variables: what depends on them is computed again. Each is a value of its
 * own, since one may be given for two. */
static holo_status gradient_replay(gradient_walk *w)
{
    hg_build *b = w->b;
    hg_graph *g = b->g;
    for (uint32_t i = 0; i < w->n_variable; i++) {
        const hg_value_id given = hg_build_in(b, i), named = hg_build_in(b, w->n_variable + i);
        if (given != named) w->now[named] = hg_build_1(b, "Identity", given);
    }
    for (uint32_t k = w->n_node; k-- > 0 && b->status == HOLO_OK;) {
        const hg_node_id id = w->node[k];
        const uint32_t n_in = hg_graph_node(g, id)->n_in;
        bool changed = false;
        hg_value_id *in;
        HG_TRY(HG_NEW(b->ctx, n_in + 1, &in));
        for (uint32_t i = 0; i < n_in; i++) {
            in[i] = hg_node_in(g, hg_graph_node(g, id), i);
            if (in[i] == 0 || w->now[in[i]] == 0) continue;
            in[i] = w->now[in[i]];
            changed = true;
        }
        if (!changed) continue;
        if (hg_node_attr(hg_graph_node(g, id), "bodies") != NULL)
            return hg_build_fail(b, HOLO_E_UNSUPPORTED,
                                 "y depends on control flow, which cannot be computed again with "
                                 "other values");
        const hg_node_id made = hg_build_copy(b, id, in, n_in);
        if (made == 0) return b->status;
        for (uint32_t j = 0; j < hg_graph_node(g, id)->n_out; j++)
            if (hg_graph_node(g, id)->out[j] != 0)
                w->now[hg_graph_node(g, id)->out[j]] = hg_graph_node(g, made)->out[j];
        w->node[k] = made;
    }
    return b->status;
}

static hg_value_id gradient_now(const gradient_walk *w, hg_value_id value)
{
    return w->now[value] == 0 ? value : w->now[value];
}

/* ---- backwards ------------------------------------------------------------------------------- */

static holo_status gradient_backwards(gradient_walk *w)
{
    const hg_value_id y = gradient_now(w, w->y);
    const hg_type type = *hg_build_type(w->b, y);
    w->result[y] = hg_build_full(w->b, &type, 1.0);
    const hg_gradient_walk walk = {w->b, w->mark, w->result, w->node, w->n_node};
    return hg_gradient_backwards(&walk);
}

/* ---- the operator ---------------------------------------------------------------------------- */

/* The variables are marked as they are named and as they are given. */
static void gradient_mark(gradient_walk *w, bool given)
{
    for (uint32_t i = 0; i < w->n_variable; i++) {
        hg_value_id v = hg_build_in(w->b, w->n_variable + i);
        if (given) v = gradient_now(w, v);
        w->mark[v] |= HG_GRADIENT_VARIABLE;
        if (given && i < w->n_x) w->mark[v] |= HG_GRADIENT_ACTIVE;
    }
}

/* Values by number, with room for those that are computed again. */
static holo_status gradient_room(gradient_walk *w)
{
    const size_t n = w->b->g->n_value + 1;
    uint8_t *mark;
    hg_value_id *now;
    HG_TRY(HG_NEW(w->b->ctx, n, &mark));
    HG_TRY(HG_NEW(w->b->ctx, n, &now));
    if (w->n_value != 0) memcpy(now, w->now, w->n_value * sizeof *now);
    w->mark = mark;
    w->now = now;
    w->n_value = w->b->g->n_value;
    return HG_NEW(w->b->ctx, n, &w->result);
}

static holo_status gradient_lower(hg_build *b)
{
    const uint32_t n_x = gradient_names(b->node, "xs"), n_out = b->node->n_out;
    gradient_walk w = {.b = b, .n_x = n_x, .n_variable = n_x + gradient_names(b->node, "zs")};
    w.y = hg_build_in(b, 2 * w.n_variable);
    HG_TRY(gradient_room(&w));
    gradient_mark(&w, false);
    HG_TRY(gradient_collect(&w));
    HG_TRY(gradient_replay(&w));
    HG_TRY(gradient_room(&w));
    gradient_mark(&w, true);
    HG_TRY(gradient_backwards(&w));
    for (uint32_t j = 0; j < n_out; j++) {
        const hg_value_id x = gradient_now(&w, hg_build_in(b, w.n_variable + j));
        const hg_type type = *hg_build_type(b, x);
        hg_build_replace(b, j, w.result[x] != 0 ? w.result[x] : hg_build_full(b, &type, 0.0));
    }
    return b->status;
}

const hg_op hg_op_training_gradient = {
    .name = "Gradient",
    .domain = "ai.onnx.preview.training",
    .brief = "derivatives of one value with respect to others",
    .since = 1,
    .in = {1, -1},
    .out = {1, -1},
    .named = {"xs", "zs", "y"},
    .infer = gradient_infer,
    .lower = gradient_lower,
};
