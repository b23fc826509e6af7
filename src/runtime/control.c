/* control.c - IF, and what IF and LOOP share. */
#include "runtime/control.h"

#include "isa/deep.h"
#include "runtime/settle.h"

/* ---- making ---------------------------------------------------------------------------------- */

static holo_status control_bodies(holo_session *s, const hg_step_rec *r,
                                  const holo_session_options *o, hg_control *c, holo_error *e)
{
    holo_session_options inner = *o;
    inner.memory = NULL;
    inner.memory_bytes = 0;
    inner.allocator = &s->alloc;
    HG_TRY(hg_session_make(s->model, r->a, &inner, s->shared, &c->body[0], e));
    if (r->op == HG_STEP_IF)
        HG_TRY(hg_session_make(s->model, r->b, &inner, s->shared, &c->body[1], e));
    return HOLO_OK;
}

holo_status hg_control_new(holo_session *s, uint32_t i, const holo_session_options *options,
                           hg_control **out, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    size_t head = hg_align_up(sizeof(hg_control), 16);
    size_t found = hg_align_up(r->n_out * sizeof(holo_tensor), 16);
    size_t bytes = head + found + r->n_out * sizeof(hg_loop_value);
    hg_control *c = hg_alloc_zero(&s->alloc, bytes);
    if (c == NULL) return hg_fail_nomem(e, bytes);
    c->bytes = bytes;
    c->found = (holo_tensor *)(void *)((uint8_t *)c + head);
    c->value = (hg_loop_value *)(void *)((uint8_t *)c + head + found);
    if (r->op == HG_STEP_LOOP) c->n_carried = hg_program_n_carried(p, r);
    holo_status status = control_bodies(s, r, options, c, e);
    if (status != HOLO_OK) {
        hg_control_free(s, c);
        return status;
    }
    *out = c;
    return HOLO_OK;
}

void hg_control_free(holo_session *s, hg_control *c)
{
    if (c == NULL) return;
    holo_session_free(c->body[0]);
    holo_session_free(c->body[1]);
    hg_session_release(s, &c->block);
    hg_free(&s->alloc, c, c->bytes);
}

/* ---- IF -------------------------------------------------------------------------------------- */

/* Inputs by address; results of known size are computed in place. */
static holo_status control_bind(holo_session *s, uint32_t i, uint32_t branch, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    const hg_control *c = s->step[i].control;
    holo_session *body = c->body[branch];
    uint32_t first = branch == 0 ? 1 : 1 + c->body[0]->graph->program.head.n_in;
    for (uint32_t k = 0; k < body->graph->program.head.n_in; k++)
        HG_TRY(hg_session_bind_input(body, k, &s->step[i].in[first + k], e));
    for (uint32_t k = 0; k < r->n_out; k++) {
        uint32_t v = p->list[r->out + k];
        bool planned = v != 0 && s->graph->value_ready[v] == 0;
        hg_session_bind_output(body, k, planned ? hg_session_tensor(s, v)->data : NULL,
                               planned ? holo_tensor_bytes(hg_session_tensor(s, v)) : 0);
    }
    return HOLO_OK;
}

static holo_status control_run_if(holo_session *s, uint32_t i, holo_error *e)
{
    hg_control *c = s->step[i].control;
    const holo_tensor *condition = &s->step[i].in[0];
    if (condition->dtype != HOLO_BOOL || holo_tensor_count(condition) != 1)
        return hg_fail(e, HOLO_E_SHAPE, "the condition is %s with %lld elements, expected one bool",
                       holo_dtype_text(condition->dtype), (long long)holo_tensor_count(condition));
    uint32_t branch = *(const uint8_t *)condition->data != 0 ? 0 : 1;
    HG_TRY(control_bind(s, i, branch, e));
    c->body[branch]->turn = s->turn;
    HG_TRY(hg_session_run(c->body[branch], e));
    for (uint32_t k = 0; k < s->graph->program.step[i].n_out; k++)
        c->found[k] = hg_session_result(c->body[branch], k);
    return HOLO_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

holo_status hg_control_prepare(holo_session *s, uint32_t i, holo_error *e)
{
    if (s->graph->program.step[i].op == HG_STEP_LOOP) return hg_loop_prepare(s, i, e);
    for (uint32_t branch = 0; branch < 2; branch++)
        if (control_bind(s, i, branch, NULL) == HOLO_OK)
            (void)!holo_session_prepare(s->step[i].control->body[branch], NULL);
    return HOLO_OK;
}

static bool control_same_shape(const holo_tensor *a, const holo_tensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (int32_t k = 0; k < a->rank; k++)
        if (a->dim[k] != b->dim[k]) return false;
    return true;
}

static holo_status control_copy(holo_session *s, uint32_t v, const holo_tensor *found, size_t extra,
                                holo_error *e)
{
    holo_tensor to = *hg_session_tensor(s, v);
    hg_name name;
    if (!control_same_shape(&to, found))
        return hg_fail(e, HOLO_E_SHAPE, "'%s' has another shape than the model says",
                       hg_program_value_name(&s->graph->program, v, &name));
    if (to.data == found->data) return HOLO_OK;
    hg_room room = {NULL, 0};
    if (hg_is_deep(to.dtype)) room = (hg_room){hg_deep_behind(&to), extra};
    if (!hg_deep_copy(found, &to, &room))
        return hg_fail(e, HOLO_E_BUG, "a result changed while it was copied");
    return HOLO_OK;
}

/* What was found becomes the step's outputs. */
static holo_status control_deliver(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    const hg_control *c = s->step[i].control;
    if (s->graph->step_late[i]) {
        for (uint32_t k = 0; k < r->n_out; k++) {
            if (p->list[r->out + k] == 0) continue;
            hg_step_out(&s->step[i])[k] = c->found[k];
            s->extra[k] = hg_deep_extra(&c->found[k]);
        }
        HG_TRY(hg_settle_outputs(s, i, e));
    }
    for (uint32_t k = 0; k < r->n_out; k++)
        if (p->list[r->out + k] != 0)
            HG_TRY(control_copy(s, p->list[r->out + k], &c->found[k], s->extra[k], e));
    return HOLO_OK;
}

static holo_status control_run(holo_session *s, uint32_t i, holo_error *e)
{
    if (s->graph->step_late[i]) {
        HG_TRY(hg_settle_inputs(s, i, e));
        HG_TRY(hg_session_bind_step(s, i, HG_BIND_SIZE, e));
    }
    memset(s->extra, 0, s->graph->max_out * sizeof *s->extra);
    HG_TRY(s->graph->program.step[i].op == HG_STEP_IF ? control_run_if(s, i, e)
                                                      : hg_loop_run(s, i, e));
    return control_deliver(s, i, e);
}

holo_status hg_control_run(holo_session *s, uint32_t i, holo_error *e)
{
    holo_status status = control_run(s, i, e);
    return status == HOLO_OK ? HOLO_OK : hg_settle_prefix(s, i, status, e);
}
