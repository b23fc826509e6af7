/* settle_inputs.c - a size of an input that only one number fits is that number: what a Reshape to
 * [1, 3, 64, 64] reads has one item, whatever the model calls its batch. What is behind it need not
 * work for any batch then, and other inputs are refused by their size instead of somewhere inside.
 * Where the rest of the product may be 0, any number would fit. */
#include "pass/pass.h"

typedef struct settle_state {
    hg_graph *g;
    hg_dim *one, *to; /* by symbol: all 0 but for the one that is tried; what is known */
    size_t n_symbol;
    bool *met; /* by dim: many values have the same */
    size_t n_met;
    bool found;
} settle_state;

/* p is symbol i times something and q a number times that: the number, or 0. */
static int64_t settle_ratio(const settle_state *s, size_t i, hg_dim p, hg_dim q)
{
    hg_dims *d = &s->g->dims;
    int64_t number;
    s->one[i] = hg_dim_const(d, 1);
    const hg_dim rest = hg_dim_substitute(d, p, s->one, s->n_symbol);
    const bool has_it = hg_dim_substitute(d, q, s->one, s->n_symbol) != q;
    s->one[i] = 0;
    if (rest == p || has_it || !hg_dim_is_positive(d, rest) ||
        hg_dim_mul(d, hg_dim_named(d, d->symbol[i].name), rest) != p)
        return 0;
    if (rest == q) return 1;
    const hg_dim ratio = hg_dim_floordiv(d, q, rest);
    return hg_dim_is_const(d, ratio, &number) && number > 0 && hg_dim_mul(d, ratio, rest) == q
               ? number
               : 0;
}

/* p and q are equal whenever the model runs. */
static void settle_equal(settle_state *s, hg_dim p, hg_dim q)
{
    hg_dims *d = &s->g->dims;
    for (size_t i = 0; i < s->n_symbol; i++) {
        const hg_symbol *y = &d->symbol[i];
        if (y->kind != HG_SYMBOL_INPUT || s->to[i] != 0) continue;
        int64_t number = settle_ratio(s, i, p, q);
        if (number == 0) number = settle_ratio(s, i, q, p);
        if (number == 0 || (y->at_most >= 0 && number > y->at_most)) continue;
        s->to[i] = hg_dim_const(d, number);
        s->found = true;
    }
}

/* The condition is not 0 whenever the model runs. */
static void settle_holds(settle_state *s, hg_dim condition)
{
    const hg_dims *d = &s->g->dims;
    for (; d->rec[condition].op == HG_DIM_MUL; condition = d->rec[condition].a) {
        const hg_dim_rec r = d->rec[d->rec[condition].b];
        if (r.op == HG_DIM_EQ) settle_equal(s, r.a, r.b);
    }
    const hg_dim_rec r = d->rec[condition];
    if (r.op == HG_DIM_EQ) settle_equal(s, r.a, r.b);
}

/* A size that is -1 where a condition does not hold is how shape rules demand it. */
static void settle_size(settle_state *s, hg_dim dim)
{
    const hg_dims *d = &s->g->dims;
    while (dim < s->n_met && !s->met[dim] && d->rec[dim].op == HG_DIM_SELECT &&
           hg_dim_is(d, d->rec[dim].c, -1)) {
        const hg_dim_rec r = d->rec[dim];
        s->met[dim] = true;
        settle_holds(s, r.a);
        dim = r.b;
    }
}

/* Only what every run computes: bodies of branches may not be. */
static void settle_value(settle_state *s, hg_value_id v)
{
    const hg_value *value = hg_graph_value(s->g, v);
    if (value->node == 0 || hg_graph_node(s->g, value->node)->region != HG_REGION_MAIN) return;
    for (int32_t k = 0; k < value->type.rank; k++)
        settle_size(s, value->type.dim[k]);
}

static holo_status settle_run(hg_graph *g, bool *changed)
{
    settle_state s = {.g = g, .n_symbol = g->dims.n_symbol, .n_met = g->dims.count};
    if (g->is_body) return HOLO_OK;
    HG_TRY(HG_NEW(g->ctx, s.n_symbol + 1, &s.one));
    HG_TRY(HG_NEW(g->ctx, s.n_symbol + 1, &s.to));
    HG_TRY(HG_NEW(g->ctx, s.n_met + 1, &s.met));
    for (hg_value_id v = 1; v < g->n_value; v++)
        settle_value(&s, v);
    for (size_t i = 0; i < g->n_demand; i++)
        settle_equal(&s, g->demand[i].actual, g->demand[i].expected);
    if (!s.found) return HOLO_OK;
    *changed = true;
    return hg_resolve_symbols(g, s.to);
}

const hg_pass hg_pass_settle_inputs = {
    .name = "settle_inputs",
    .brief = "a size of an input that only one number fits is that number",
    .run = settle_run,
};
