/* assume.c - see assume.h. */
#include "report/assume.h"

#include "isa/deep.h"

static void assume_sizes(const hg_program *p, int64_t other, hg_assumed *a)
{
    a->is_fixed = true;
    for (uint32_t i = 0; i < p->head.n_symbol; i++)
        a->size[i] = other;
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        const hg_value_rec *v = &p->value[p->in[i].value];
        for (int32_t k = 0; k < v->rank; k++) {
            const hg_dim_rec *r = &p->dim[p->list[v->dims + (uint32_t)k]];
            if (r->op != HG_DIM_CONST) a->is_fixed = false;
            if (r->op == HG_DIM_SYMBOL && k == 0) a->size[r->value] = 1;
        }
    }
    for (uint32_t i = 0; i < p->head.n_symbol; i++)
        if (p->symbol[i].at_most >= 0) a->size[i] = p->symbol[i].at_most;
}

/* Dims that only inputs decide. */
static bool assume_dims(const hg_model_graph *g, hg_assumed *a)
{
    const hg_program *p = &g->program;
    for (uint32_t i = 1; i < p->head.n_dim; i++) {
        const hg_dim_rec *r = &p->dim[i];
        if (g->dim_ready[i] != 0) continue;
        if (r->op == HG_DIM_CONST)
            a->dim[i] = r->value;
        else if (r->op == HG_DIM_SYMBOL)
            a->dim[i] = a->size[r->value];
        else if (!hg_dim_eval_op((hg_dim_op)r->op, a->dim[r->a], a->dim[r->b], a->dim[r->c],
                                 &a->dim[i]))
            return false;
    }
    return true;
}

uint32_t hg_assume_cannot(const hg_program *p)
{
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        const hg_value_rec *v = &p->value[p->in[i].value];
        if (v->rank < 0 || hg_is_deep((holo_dtype)v->dtype)) return i;
    }
    return UINT32_MAX;
}

holo_status hg_assume(holo_session *s, int64_t other, hg_assumed *a, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const uint32_t cannot = hg_assume_cannot(p);
    assume_sizes(p, other, a);
    if (cannot != UINT32_MAX)
        return hg_fail(e, HOLO_E_SHAPE, "the size of input '%s' is known only at run time",
                       p->text + p->in[cannot].name);
    if (!assume_dims(s->graph, a))
        return hg_fail(e, HOLO_E_SHAPE, "a size overflows or divides by zero");
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        const hg_value_rec *v = &p->value[p->in[i].value];
        /* Prepare reads no data; any address will do. */
        holo_tensor t = {.data = s, .rank = v->rank, .dtype = (holo_dtype)v->dtype};
        for (int32_t k = 0; k < v->rank; k++)
            t.dim[k] = a->dim[p->list[v->dims + (uint32_t)k]];
        HG_TRY(holo_session_set_input(s, i, &t, e));
    }
    return holo_session_prepare(s, e);
}
