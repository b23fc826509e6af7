/* resolve_symbols.c - sizes that were to be read from a tensor at run time are numbers once that
 * tensor has become a constant, or other expressions once its contents are known; sizes that a
 * kernel was to find are others once its inputs are constants or another node computes the same.
 * They are put in everywhere. */
#include "pass/pass.h"

enum { RESOLVE_ROUNDS = 32 }; /* longer chains of sizes are made to take long */

/* Sizes that kernels were to find may be known, since inputs of their nodes are constants now. */
static holo_status resolve_infer(hg_graph *g)
{
    for (size_t i = 0, count = g->dims.n_symbol; i < count; i++) {
        const hg_symbol *y = &g->dims.symbol[i];
        hg_node_id id = y->kind == HG_SYMBOL_SIZE ? hg_graph_value(g, y->value)->node : 0;
        if (id != 0) HG_TRY(hg_op_infer(g, id));
    }
    return HOLO_OK;
}

/* The size that symbol i stands for has another expression: that of an equal node, or what is known
 * now. */
static hg_dim resolve_size(const hg_graph *g, size_t i)
{
    const hg_symbol y = g->dims.symbol[i];
    const hg_value *v = hg_graph_value(g, y.value);
    if (v->node == 0 || (int64_t)y.index >= v->type.rank) return 0;
    hg_dim now = v->type.dim[y.index];
    return hg_dim_symbol_of(&g->dims, now) == (int64_t)i ? 0 : now;
}

/* What element i of a tensor is now, or 0. */
static hg_dim resolve_content(hg_graph *g, size_t i)
{
    const hg_symbol y = g->dims.symbol[i];
    const hg_value *v = hg_graph_value(g, y.value);
    const int64_t *ints;
    size_t count;
    if (v->constant != NULL && hg_graph_const_ints(g, y.value, &ints, &count) && y.index < count)
        return hg_dim_const(&g->dims, ints[y.index]);
    if (v->constant != NULL || v->content == NULL || y.index >= v->n_content) return 0;
    return hg_dim_symbol_of(&g->dims, v->content[y.index]) == (int64_t)i ? 0 : v->content[y.index];
}

/* Same ids for same dims: one substitution per dim of the graph. */
static holo_status resolve_list(hg_graph *g, const hg_dim *to, const hg_dim **list, size_t count)
{
    hg_dim *made;
    HG_TRY(HG_NEW(g->ctx, count + 1, &made));
    for (size_t k = 0; k < count; k++)
        made[k] = hg_dim_substitute(&g->dims, (*list)[k], to, g->dims.n_symbol);
    *list = made;
    return HOLO_OK;
}

static holo_status resolve_values(hg_graph *g, const hg_dim *to)
{
    for (size_t i = 1; i < g->n_value; i++) {
        hg_value *v = &g->value[i];
        for (int32_t k = 0; k < v->type.rank; k++)
            if (v->type.dim[k] != 0)
                v->type.dim[k] = hg_dim_substitute(&g->dims, v->type.dim[k], to, g->dims.n_symbol);
        if (v->content != NULL) HG_TRY(resolve_list(g, to, &v->content, v->n_content));
    }
    return HOLO_OK;
}

static holo_status resolve_attrs(hg_graph *g, const hg_dim *to)
{
    for (hg_node_id id = 1; id < g->n_node; id++) {
        for (uint32_t i = 0; i < g->node[id].n_attr; i++) {
            hg_attr attr = g->node[id].attr[i];
            if (attr.kind != HG_ATTR_DIMS) continue;
            HG_TRY(resolve_list(g, to, &attr.dims, attr.count));
            HG_TRY(hg_graph_set_attr(g, id, attr));
        }
    }
    return HOLO_OK;
}

static void resolve_demands(hg_graph *g, const hg_dim *to)
{
    for (size_t i = 0; i < g->n_demand; i++) {
        hg_demand *d = &g->demand[i];
        d->actual = hg_dim_substitute(&g->dims, d->actual, to, g->dims.n_symbol);
        d->expected = hg_dim_substitute(&g->dims, d->expected, to, g->dims.n_symbol);
    }
}

holo_status hg_resolve_symbols(hg_graph *g, const hg_dim *to)
{
    resolve_demands(g, to);
    HG_TRY(resolve_values(g, to));
    HG_TRY(resolve_attrs(g, to));
    return g->dims.failed ? hg_fail_nomem(g->ctx->error, sizeof(hg_dim_rec)) : HOLO_OK;
}

/* What symbols stand for. */
typedef struct resolve_found {
    hg_dim *to; /* 0: nothing else than themselves */
    size_t count;
} resolve_found;

/* Finds that anew; *changed: it is not what it was. */
static holo_status resolve_find(hg_graph *g, resolve_found *f, bool *changed)
{
    const resolve_found before = *f;
    HG_TRY(resolve_infer(g)); /* may make symbols */
    f->count = g->dims.n_symbol;
    HG_TRY(HG_NEW(g->ctx, f->count + 1, &f->to));
    *changed = false;
    for (size_t i = 0; i < f->count; i++) {
        const hg_symbol_kind kind = g->dims.symbol[i].kind;
        if (kind == HG_SYMBOL_SIZE) f->to[i] = resolve_size(g, i);
        if (kind == HG_SYMBOL_CONTENT) f->to[i] = resolve_content(g, i);
        *changed |= f->to[i] != (before.to != NULL && i < before.count ? before.to[i] : 0);
    }
    return HOLO_OK;
}

/* A size may decide others, node after node: until nothing changes, or symbols are replaced by new
 * ones, as those of bodies are. */
static holo_status resolve_run(hg_graph *g, bool *changed)
{
    resolve_found found = {NULL, g->dims.n_symbol};
    bool is_new = true, has_grown = false;
    for (int round = 0; round < RESOLVE_ROUNDS && is_new && !has_grown; round++) {
        const size_t count = found.count;
        HG_TRY(resolve_find(g, &found, &is_new));
        if (is_new) HG_TRY(hg_resolve_symbols(g, found.to));
        *changed |= is_new;
        has_grown = found.count != count;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_resolve_symbols = {
    .name = "resolve_symbols",
    .brief = "sizes read from tensors become numbers when the tensors do",
    .flags = HG_PASS_ALWAYS,
    .run = resolve_run,
};
