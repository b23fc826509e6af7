/* settle.c - sizes that are found during a run: a kernel or body says how large its results are,
 * then symbols, dims and memory follow. */
#include "runtime/settle.h"

#include "isa/deep.h"

holo_status hg_settle_prefix(const holo_session *s, uint32_t i, holo_status status, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    if (e == NULL || strncmp(e->message, "node ", 5) == 0 || status == HOLO_E_CANCELLED)
        return status;
    return hg_model_blame(p, i, status, e);
}

holo_status hg_settle_take(holo_session *s, size_t bytes, uint32_t now, uint32_t last, void **out,
                           holo_error *e)
{
    void *p = hg_late_take(&s->late, bytes, now, last);
    if (p == NULL && (s->flags & HOLO_SESSION_GROW) != 0) {
        size_t grow = bytes > s->late.bytes ? bytes : s->late.bytes;
        if (grow > SIZE_MAX / 4) return hg_fail_nomem(e, grow);
        HG_TRY(hg_session_account(s, 0, grow, e));
        HG_TRY(hg_late_add(&s->late, &s->alloc, grow, e));
        p = hg_late_take(&s->late, bytes, now, last);
    }
    if (p == NULL)
        return hg_fail(e, HOLO_E_SPACE,
                       "data-dependent results need %zu bytes more than the %zu reserved; raise "
                       "late_bytes or set HOLO_SESSION_GROW",
                       bytes, s->late.bytes);
    *out = p;
    return HOLO_OK;
}

holo_status hg_settle_value(holo_session *s, uint32_t v, holo_error *e)
{
    if (s->graph->value_ready[v] == 0 || s->graph->program.value[v].storage != HG_STORAGE_ALIAS)
        return HOLO_OK;
    HG_TRY(hg_session_shape_value(s, v, e));
    return hg_session_address_value(s, v, e);
}

holo_status hg_settle_inputs(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    for (uint32_t k = 0; k < r->n_in; k++)
        HG_TRY(hg_settle_value(s, p->list[r->in + k], e));
    return HOLO_OK;
}

/* Numbers that were found for the sizes of output k become symbols. */
static holo_status settle_symbols(holo_session *s, uint32_t v, const holo_tensor *found, uint32_t k,
                                  holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *rec = &p->value[v];
    if (rec->rank < 0) {
        *hg_session_tensor(s, v) = *found;
        return HOLO_OK;
    }
    if (found->rank != rec->rank)
        return hg_fail(e, HOLO_E_SHAPE, "output %u has rank %d, expected %d", k, found->rank,
                       rec->rank);
    for (int32_t axis = 0; axis < rec->rank; axis++) {
        const hg_dim_rec *d = &p->dim[p->list[rec->dims + (uint32_t)axis]];
        if (d->op == HG_DIM_SYMBOL && p->symbol[d->value].kind == HG_SYMBOL_SIZE &&
            p->symbol[d->value].value == v)
            s->symbol[d->value] = found->dim[axis];
    }
    return HOLO_OK;
}

holo_status hg_settle_dims(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    for (uint32_t k = g->late_first[i]; k < g->late_first[i + 1]; k++)
        HG_TRY(hg_session_eval(s, g->late_dim[k], e));
    return HOLO_OK;
}

/* Memory for the late ones among the outputs, with what lies behind their elements. */
static holo_status settle_memory(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    const hg_step_rec *r = &g->program.step[i];
    for (uint32_t k = 0; k < r->n_out; k++) {
        uint32_t v = g->program.list[r->out + k];
        if (v == 0 || g->value_ready[v] == 0) continue;
        HG_TRY(hg_session_shape_value(s, v, e));
        size_t bytes = holo_tensor_bytes(hg_session_tensor(s, v)), extra = s->extra[k];
        if (bytes > s->limits.tensor_bytes || extra > s->limits.tensor_bytes)
            return hg_fail(e, HOLO_E_LIMIT, "output %u would have more than %llu bytes", k,
                           (unsigned long long)s->limits.tensor_bytes);
        if (extra != 0 && !hg_add_size(hg_align_up(bytes, HG_ALIGN), extra, &bytes))
            return hg_fail_nomem(e, SIZE_MAX);
        uint32_t last = g->buffer_last[g->value_buffer[v] - 1];
        HG_TRY(hg_settle_take(s, bytes, i, last, &hg_session_tensor(s, v)->data, e));
    }
    return HOLO_OK;
}

holo_status hg_settle_outputs(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    for (uint32_t k = 0; k < r->n_out; k++) {
        uint32_t v = p->list[r->out + k];
        if (v != 0) HG_TRY(settle_symbols(s, v, &hg_step_out(&s->step[i])[k], k, e));
    }
    HG_TRY(hg_settle_dims(s, i, e));
    HG_TRY(settle_memory(s, i, e));
    return hg_session_bind_step(s, i, HG_BIND_ALL, e);
}

holo_status hg_settle_step(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_step_rec *r = &s->graph->program.step[i];
    const hg_kernel *sizer = r->op == HG_STEP_KERNEL ? s->graph->reference[r->kernel] : NULL;
    HG_TRY(hg_settle_inputs(s, i, e));
    memset(s->extra, 0, s->graph->max_out * sizeof *s->extra);
    if (sizer == NULL || sizer->size == NULL) {
        HG_TRY(settle_memory(s, i, e));
        if (s->graph->has_parts) HG_TRY(hg_session_check_parts(s, i, e));
        return hg_session_bind_step(s, i, HG_BIND_ALL, e);
    }
    HG_TRY(hg_session_bind_step(s, i, HG_BIND_SIZE, e));
    const hg_args a = hg_session_args(s, &s->step[i]);
    HG_TRY(sizer->size(&a, e));
    return hg_settle_outputs(s, i, e);
}
