/* op_gradient_walk.c - derivatives of a list of nodes, from the last one back. */
#include "op/op_gradient.h"

static bool walk_is_active(const hg_gradient_walk *w, hg_value_id value)
{
    return value != 0 && (w->mark[value] & HG_GRADIENT_ACTIVE) != 0;
}

static bool walk_is_float(const hg_gradient_walk *w, hg_value_id value)
{
    return value != 0 && hg_dtype_in(hg_build_type(w->b, value)->dtype, HG_TYPES_FLOAT);
}

/* Whatever depends on an active value, and is not whole numbers. */
static void walk_activate(const hg_gradient_walk *w)
{
    const hg_graph *g = w->b->g;
    for (uint32_t k = w->n_node; k-- > 0;) {
        const hg_node *n = hg_graph_node(g, w->node[k]);
        bool active = false;
        for (uint32_t i = 0; i < n->n_in; i++)
            active |= walk_is_active(w, hg_node_in(g, n, i));
        for (uint32_t j = 0; active && j < n->n_out; j++)
            if (walk_is_float(w, n->out[j])) w->mark[n->out[j]] |= HG_GRADIENT_ACTIVE;
    }
}

static holo_status walk_apply(hg_gradient *d)
{
    const hg_op *op = hg_gradient_node(d)->op;
    if (op->gradient != NULL) return op->gradient(d);
    return hg_gradient_lane(d); /* says when there is no formula */
}

static holo_status walk_add(const hg_gradient_walk *w, hg_value_id value, hg_value_id more)
{
    hg_build *b = w->b;
    const hg_type type = *hg_build_type(b, value);
    more = hg_build_cast(b, hg_build_fit(b, more, &type), type.dtype);
    hg_value_id *sum = &w->result[value];
    *sum = *sum == 0 ? more : hg_build_2(b, "Add", *sum, more);
    return b->status;
}

static holo_status walk_node(const hg_gradient_walk *w, hg_node_id id)
{
    hg_graph *g = w->b->g;
    const uint32_t n_in = hg_graph_node(g, id)->n_in, n_out = hg_graph_node(g, id)->n_out;
    hg_value_id *in, *out;
    bool *wanted, arrives = false, leaves = false;
    HG_TRY(HG_NEW(w->b->ctx, n_in + 1, &in));
    HG_TRY(HG_NEW(w->b->ctx, n_in + 1, &wanted));
    HG_TRY(HG_NEW(w->b->ctx, n_out + 1, &out));
    for (uint32_t j = 0; j < n_out; j++) {
        const hg_value_id v = hg_graph_node(g, id)->out[j];
        out[j] = v == 0 || (w->mark[v] & HG_GRADIENT_VARIABLE) != 0 ? 0 : w->result[v];
        arrives |= out[j] != 0;
    }
    for (uint32_t i = 0; i < n_in; i++) {
        const hg_value_id v = hg_node_in(g, hg_graph_node(g, id), i);
        wanted[i] = walk_is_float(w, v) && walk_is_active(w, v);
        leaves |= wanted[i];
    }
    if (!arrives || !leaves) return HOLO_OK;
    hg_gradient d = {.b = w->b, .id = id, .out = out, .in = in, .wanted = wanted};
    HG_TRY(walk_apply(&d));
    for (uint32_t i = 0; i < n_in; i++)
        if (wanted[i] && in[i] != 0)
            HG_TRY(walk_add(w, hg_node_in(g, hg_graph_node(g, id), i), in[i]));
    return HOLO_OK;
}

holo_status hg_gradient_backwards(const hg_gradient_walk *w)
{
    walk_activate(w);
    for (uint32_t k = 0; k < w->n_node; k++)
        HG_TRY(walk_node(w, w->node[k]));
    return w->b->status;
}

/* ---- by other nodes --------------------------------------------------------------------------
 */

hg_node_id hg_gradient_begin(const hg_gradient *d)
{
    return hg_graph_node(d->b->g, d->b->before)->prev;
}

static holo_status walk_collect(hg_gradient_walk *w, hg_node_id begin)
{
    const hg_graph *g = w->b->g;
    const hg_node_id last = hg_graph_node(g, w->b->before)->prev;
    hg_node_id *node;
    HG_TRY(HG_NEW(w->b->ctx, g->n_node + 1, &node));
    for (hg_node_id id = last; id != begin && id != 0; id = hg_graph_node(g, id)->prev)
        node[w->n_node++] = id;
    w->node = node;
    return HOLO_OK;
}

holo_status hg_gradient_through(hg_gradient *d, hg_node_id begin, const hg_value_id *out)
{
    hg_graph *g = d->b->g;
    hg_gradient_walk w = {.b = d->b};
    const uint32_t n_in = hg_gradient_node(d)->n_in, n_out = hg_gradient_node(d)->n_out;
    HG_TRY(d->b->status);
    HG_TRY(HG_NEW(d->b->ctx, g->n_value + 1, &w.mark));
    HG_TRY(HG_NEW(d->b->ctx, g->n_value + 1, &w.result));
    HG_TRY(walk_collect(&w, begin));
    for (uint32_t i = 0; i < n_in; i++)
        if (d->wanted[i]) w.mark[hg_gradient_input(d, i)] |= HG_GRADIENT_ACTIVE;
    for (uint32_t j = 0; j < n_out; j++)
        if (d->out[j] != 0 && out[j] != 0) HG_TRY(walk_add(&w, out[j], d->out[j]));
    HG_TRY(hg_gradient_backwards(&w));
    for (uint32_t i = 0; i < n_in; i++) {
        const hg_value_id v = hg_gradient_input(d, i);
        if (!d->wanted[i]) continue;
        d->in[i] = w.result[v];
        w.result[v] = 0; /* a value that is two inputs is counted once */
    }
    return d->b->status;
}
