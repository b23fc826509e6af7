/* join.c - results that are put side by side are computed where they end up.
 *
 *     c = Concat(a, b)        every dimension before the axis is 1: a and b lie one behind the
 * other
 *
 * The steps that compute a and b write into c at once, and Concat is no step. What cannot be moved
 * is copied there: an input of the graph, a constant, a result that is needed as a whole elsewhere
 * (the graph gives it back, or it lies in another Concat already). Two such parts are as much work
 * as Concat itself, so there may be one. Readers of a and b read parts of c; c lives from its first
 * part to the last use of any. */
#include "plan/join.h"

#include "isa/deep.h"
#include "kernel/kernels.h"

typedef struct join {
    hg_graph *g;
    hg_call *call;
    size_t n_call;
    size_t *maker;     /* by value: the call that computes it, plus 1 */
    hg_value_id *base; /* by value: what it is a view of, itself for others */
    bool *is_odd;      /* by value: cannot be moved */
    bool *is_late;     /* by dim: a run finds it */
    hg_place *place;
} join;

static const hg_type *join_type(const join *j, hg_value_id v)
{
    return &hg_graph_value(j->g, v)->type;
}

/* Views follow their base. A view of another type could count its offset in other units. */
static void join_survey(join *j)
{
    const hg_region *r = hg_graph_region(j->g, HG_REGION_MAIN);
    for (hg_value_id v = 1; v < j->g->n_value; v++)
        j->base[v] = v;
    for (size_t i = 0; i < j->n_call; i++) {
        const hg_call *c = &j->call[i];
        if (c->node == 0) continue;
        const hg_node *n = hg_graph_node(j->g, c->node);
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k] != 0) j->maker[n->out[k]] = i + 1;
        if (!c->e.is_view) continue;
        const hg_value_id base = j->base[c->e.in[0]];
        j->base[n->out[0]] = base;
        if (join_type(j, base)->dtype != join_type(j, n->out[0])->dtype) j->is_odd[base] = true;
    }
    for (uint32_t i = 0; i < r->n_out; i++) /* goes straight to the caller's buffer */
        j->is_odd[hg_region_out(j->g, HG_REGION_MAIN, i)] = true;
}

/* Operands have smaller numbers than what is made of them. */
static void join_find_late(join *j)
{
    const hg_dims *d = &j->g->dims;
    for (size_t i = 1; i < d->count; i++) {
        const hg_dim_rec *r = &d->rec[i];
        if (r->op == HG_DIM_SYMBOL) j->is_late[i] = d->symbol[r->value].kind != HG_SYMBOL_INPUT;
        if (r->op == HG_DIM_SYMBOL || r->op == HG_DIM_CONST) continue;
        j->is_late[i] =
            j->is_late[r->a] || j->is_late[r->b] || (r->op == HG_DIM_SELECT && j->is_late[r->c]);
    }
}

/* No size of it has to be found by a run: places are given out before. */
static bool join_is_known(const join *j, const hg_type *t)
{
    for (int32_t k = 0; k < t->rank; k++)
        if (j->is_late[t->dim[k]]) return false;
    return t->rank >= 0;
}

/* A Concat along `axis` whose inputs lie one behind the other. The kernel would compare sizes that
 * only a run knows; here they must be the same. */
static bool join_is_candidate(const join *j, const hg_call *c, int64_t *axis)
{
    if (c->node == 0 || !c->needed || c->e.is_view || strcmp(c->e.kernel, "concat") != 0)
        return false;
    const hg_type *whole = join_type(j, hg_graph_node(j->g, c->node)->out[0]);
    if (hg_is_deep(whole->dtype) || hg_dtype_bits(whole->dtype) % 8 != 0) return false;
    if (!join_is_known(j, whole) || !hg_dim_is_const(&j->g->dims, c->e.param[0], axis))
        return false;
    for (int32_t k = 0; k < *axis; k++)
        if (!hg_dim_is(&j->g->dims, whole->dim[k], 1)) return false;
    for (uint32_t i = 0; i < c->e.n_in; i++)
        for (int32_t k = 0; k < whole->rank; k++)
            if (k != *axis && join_type(j, c->e.in[i])->dim[k] != whole->dim[k]) return false;
    return true;
}

/* What came before grows by one row or so: such a cache is kept by the caller, who may let it grow
 * in place. */
static bool join_is_cache(const join *j, const hg_call *c)
{
    const hg_value *past = hg_graph_value(j->g, j->base[c->e.in[0]]);
    const bool is_input = past->node == 0 && past->constant == NULL;
    return is_input && c->e.n_in == 2 &&
           hg_graph_is_output(j->g, hg_graph_node(j->g, c->node)->out[0]);
}

/* The result that input v of a Concat is all of, if it can be computed elsewhere; else 0. */
static hg_value_id join_movable(const join *j, hg_value_id v)
{
    const hg_value_id base = j->base[v];
    const hg_type *t = join_type(j, base);
    if (j->maker[base] == 0 || j->is_odd[base] || j->place[base].whole != 0) return 0;
    const hg_call *c = &j->call[j->maker[base] - 1];
    const hg_kernel *k = c->e.kernel == NULL ? NULL : hg_kernel_find(c->e.kernel);
    if (k == NULL || k->size != NULL || !join_is_known(j, t)) return 0;
    return hg_type_count(j->g, t) == hg_type_count(j->g, join_type(j, v)) ? base : 0;
}

/* Inputs that would have to be copied; each result counts once. */
static uint32_t join_copies(const join *j, const hg_call *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->e.n_in; i++) {
        const hg_value_id base = join_movable(j, c->e.in[i]);
        bool is_copied = base == 0;
        for (uint32_t k = 0; k < i; k++)
            is_copied |= j->base[c->e.in[k]] == base;
        count += is_copied;
    }
    return count;
}

static hg_dim join_add(hg_dims *d, hg_dim a, hg_dim b)
{
    return a == 0 ? b : b == 0 ? a : hg_dim_add(d, a, b);
}

static void join_place(join *j, hg_call *c)
{
    hg_dims *d = &j->g->dims;
    const hg_value_id out = hg_graph_node(j->g, c->node)->out[0];
    const hg_place outer = j->place[out];
    hg_dim offset = 0;
    for (uint32_t i = 0; i < c->e.n_in; i++) {
        const hg_value_id base = join_movable(j, c->e.in[i]);
        const hg_dim at = join_add(d, outer.offset, offset);
        if (base == 0) {
            c->copied = i + 1;
            c->offset = at;
        } else {
            j->place[base] =
                (hg_place){.whole = outer.whole != 0 ? outer.whole : out, .offset = at};
        }
        offset = join_add(d, offset, hg_type_count(j->g, join_type(j, c->e.in[i])));
    }
    c->is_join = true;
}

static void join_move_views(join *j)
{
    for (size_t i = 0; i < j->n_call; i++) {
        hg_emit *e = &j->call[i].e;
        if (j->call[i].node == 0 || !e->is_view) continue;
        e->view_offset = join_add(&j->g->dims, e->view_offset, j->place[j->base[e->in[0]]].offset);
    }
}

holo_status hg_join_find(hg_graph *g, hg_call *call, size_t n_call, hg_place **place)
{
    join j = {.g = g, .call = call, .n_call = n_call};
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &j.maker));
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &j.base));
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &j.is_odd));
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &j.place));
    HG_TRY(HG_NEW(g->ctx, g->dims.count + 1, &j.is_late));
    join_survey(&j);
    join_find_late(&j);
    bool any = false;
    for (size_t i = n_call; i-- > 0;) { /* the last first: a Concat may be a part of another one */
        int64_t axis;
        if (!join_is_candidate(&j, &call[i], &axis) || join_is_cache(&j, &call[i]) ||
            join_copies(&j, &call[i]) > 1)
            continue;
        join_place(&j, &call[i]);
        any = true;
    }
    if (any) join_move_views(&j);
    *place = j.place;
    return g->dims.failed ? hg_fail_nomem(g->ctx->error, sizeof(hg_dim_rec)) : HOLO_OK;
}
