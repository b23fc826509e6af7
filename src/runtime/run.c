/* run.c - the step loop: no allocation (but for late results of sessions that may grow), no locks, no
 * logging. The fault word is tested after each step. */
#include "base/clock.h"
#include "runtime/session.h"

typedef struct run_job {
    const hg_step_run *step;
    uint8_t *scratch;
    size_t scratch_bytes;
    int64_t units;
    uint32_t tasks;
} run_job;

static void run_task(void *user, int64_t task, uint32_t worker)
{
    const run_job *job = user;
    hg_range r = {.begin = job->units / job->tasks * task + hg_min(task, job->units % job->tasks),
                  .scratch = job->scratch + job->scratch_bytes * worker};
    r.end = r.begin + job->units / job->tasks + (task < job->units % job->tasks);
    if (r.begin < r.end) job->step->kernel->run(&job->step->args, r);
}

/* ---- late steps ------------------------------------------------------------------------------------------- */

static holo_status run_prefix(const holo_session *s, uint32_t i, holo_status status, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    return hg_fail_prefix(e, status, "node '%s' (%s): ", hg_model_step_name(p, i),
                          hg_model_step_kernel(p, i));
}

static holo_status run_late_take(holo_session *s, size_t bytes, uint32_t now, uint32_t last, void **out,
                                 holo_error *e)
{
    void *p = hg_late_take(&s->late, bytes, now, last);
    if (p == NULL && (s->flags & HOLO_SESSION_GROW) != 0) {
        size_t grow = bytes > s->late.bytes ? bytes : s->late.bytes;
        if (s->memory_limit != 0 &&
            (s->late.bytes > s->memory_limit || grow > s->memory_limit - s->late.bytes))
            return hg_fail(e, HOLO_E_LIMIT,
                           "data-dependent results need %zu bytes beside %zu, above the limit of %llu",
                           bytes, s->late.bytes, (unsigned long long)s->memory_limit);
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

/* Shape and address of a late operand that is a view. */
static holo_status run_late_value(holo_session *s, uint32_t v, holo_error *e)
{
    if (s->graph->value_ready[v] == 0 || s->graph->program.value[v].storage != HG_STORAGE_ALIAS)
        return HOLO_OK;
    HG_TRY(hg_session_shape_value(s, v, e));
    return hg_session_address_value(s, v, e);
}

/* Numbers that a kernel found for its outputs' sizes become symbols, dims and shapes. */
static holo_status run_late_sizes(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    const hg_step_run *run = &s->step[i];
    for (uint32_t k = 0; k < r->n_out; k++) {
        uint32_t v = p->list[r->out + k];
        if (v == 0) continue;
        const hg_value_rec *rec = &p->value[v];
        const holo_tensor *found = &run->args.out[k];
        if (rec->rank < 0) {
            s->tensor[v] = *found;
            continue;
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
    }
    return HOLO_OK;
}

static holo_status run_eval_dims(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    for (uint32_t k = g->late_first[i]; k < g->late_first[i + 1]; k++)
        HG_TRY(hg_session_eval(s, g->late_dim[k], e));
    return HOLO_OK;
}

static holo_status run_late_outputs(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    const hg_step_rec *r = &g->program.step[i];
    for (uint32_t k = 0; k < r->n_out; k++) {
        uint32_t v = g->program.list[r->out + k];
        if (v == 0 || g->value_ready[v] == 0) continue;
        HG_TRY(hg_session_shape_value(s, v, e));
        uint32_t last = g->buffer_last[g->value_buffer[v] - 1];
        HG_TRY(run_late_take(s, holo_tensor_bytes(&s->tensor[v]), i, last, &s->tensor[v].data, e));
    }
    return HOLO_OK;
}

/* Binds a step whose sizes are known only now; *scratch is enough for one thread. */
static holo_status run_late_bind(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    const hg_step_run *run = &s->step[i];
    for (uint32_t k = 0; k < r->n_in; k++)
        HG_TRY(run_late_value(s, p->list[r->in + k], e));
    const hg_kernel *sizer =
        r->op == HG_STEP_KERNEL ? s->graph->reference[r->kernel] : NULL;
    if (sizer != NULL && sizer->size != NULL) {
        HG_TRY(hg_session_bind_step(s, i, HG_BIND_SIZE, e));
        HG_TRY(sizer->size(&run->args, e));
        HG_TRY(run_late_sizes(s, i, e));
        HG_TRY(run_eval_dims(s, i, e));
    }
    HG_TRY(run_late_outputs(s, i, e));
    return hg_session_bind_step(s, i, HG_BIND_ALL, e);
}

/* ---- steps ------------------------------------------------------------------------------------------------- */

static holo_status run_fault(const holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_fault *f = &s->fault;
    const char *node = hg_model_step_name(p, i), *kernel = hg_model_step_kernel(p, i);
    switch (f->kind) {
    case HG_FAULT_RANGE:
        return hg_fail(e, HOLO_E_DATA, "node '%s' (%s): %s %lld at element %lld is outside %lld to %lld",
                       node, kernel, f->what, (long long)f->value, (long long)f->element,
                       (long long)f->low, (long long)f->high);
    case HG_FAULT_DIVIDE:
        return hg_fail(e, HOLO_E_DATA, "node '%s' (%s): integer division by zero at element %lld", node,
                       kernel, (long long)f->element);
    case HG_FAULT_VALUE:
        return hg_fail(e, HOLO_E_DATA, "node '%s' (%s): %s (%lld) at element %lld", node, kernel, f->what,
                       (long long)f->value, (long long)f->element);
    case HG_FAULT_NONE: break;
    }
    return HOLO_OK;
}

static holo_status run_kernel(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_step_run *step = &s->step[i];
    run_job job = {.step = step,
                   .scratch = (uint8_t *)s->slab + s->arena_bytes,
                   .scratch_bytes = s->scratch_bytes,
                   .units = step->units,
                   .tasks = step->tasks};
    if (s->graph->step_late[i] && step->kernel->scratch != NULL) {
        size_t bytes = hg_align_up(step->kernel->scratch(&step->args), HG_ALIGN), all;
        if (!hg_mul_size(bytes, s->threads, &all)) return hg_fail_nomem(e, bytes);
        void *scratch;
        HG_TRY(run_late_take(s, all, i, i, &scratch, e));
        job.scratch = scratch;
        job.scratch_bytes = bytes;
    }
    if (job.tasks <= 1) {
        if (job.units > 0)
            step->kernel->run(&step->args, (hg_range){0, job.units, job.scratch});
    } else {
        hg_pool_run(s->pool, job.tasks, run_task, &job);
    }
    return s->fault.kind == HG_FAULT_NONE ? HOLO_OK : run_fault(s, i, e);
}

/* Integers of any width; numbers above INT64_MAX saturate. */
static int64_t run_read_int(const holo_tensor *t, uint32_t i)
{
    switch ((int)t->dtype) {
    case HOLO_I64: return ((const int64_t *)t->data)[i];
    case HOLO_I32: return ((const int32_t *)t->data)[i];
    case HOLO_I16: return ((const int16_t *)t->data)[i];
    case HOLO_I8: return ((const int8_t *)t->data)[i];
    case HOLO_U64: {
        uint64_t x = ((const uint64_t *)t->data)[i];
        return x > INT64_MAX ? INT64_MAX : (int64_t)x;
    }
    case HOLO_U32: return ((const uint32_t *)t->data)[i];
    case HOLO_U16: return ((const uint16_t *)t->data)[i];
    default: return ((const uint8_t *)t->data)[i];
    }
}

static holo_status run_bind(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    const holo_tensor *t = &s->step[i].args.in[0];
    int64_t count = holo_tensor_count(t);
    if (!hg_dtype_in(t->dtype, HG_TYPES_INT | HG_TYPES_BOOL))
        return hg_fail(e, HOLO_E_TYPE, "sizes are read from a %s tensor", holo_dtype_text(t->dtype));
    for (uint32_t k = 0; k < r->n_param; k++) {
        uint32_t symbol = p->list[r->param + k];
        uint32_t index = p->symbol[symbol].index;
        if ((int64_t)index >= count)
            return hg_fail(e, HOLO_E_SHAPE, "element %u of a tensor with %lld elements decides a size",
                           index, (long long)count);
        s->symbol[symbol] = run_read_int(t, index);
    }
    return run_eval_dims(s, i, e);
}

static holo_status run_dims(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_args *a = &s->step[i].args;
    if (a->out[0].dtype != HOLO_I64 || holo_tensor_count(&a->out[0]) != (int64_t)a->n_param)
        return hg_fail(e, HOLO_E_FORMAT, "%u sizes are stored into %lld elements of %s", a->n_param,
                       (long long)holo_tensor_count(&a->out[0]), holo_dtype_text(a->out[0].dtype));
    if (a->n_param != 0) memcpy(a->out[0].data, a->param, a->n_param * sizeof *a->param);
    return HOLO_OK;
}

static holo_status run_step(holo_session *s, uint32_t i, holo_error *e)
{
    if (s->graph->step_late[i]) {
        holo_status status = run_late_bind(s, i, e);
        if (status != HOLO_OK)
            return e != NULL && strncmp(e->message, "node ", 5) == 0 ? status
                                                                     : run_prefix(s, i, status, e);
    }
    switch ((hg_opcode)s->graph->program.step[i].op) {
    case HG_STEP_KERNEL: return run_kernel(s, i, e);
    case HG_STEP_BIND: return run_bind(s, i, e);
    case HG_STEP_DIMS: return run_dims(s, i, e);
    case HG_STEP_IF:
    case HG_STEP_LOOP: break;
    }
    return hg_fail(e, HOLO_E_BUG, "step %u cannot be run", i);
}

static void run_trace(holo_session *s, uint32_t i, double seconds)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    const hg_step_run *run = &s->step[i];
    for (uint32_t k = 0; k < r->n_out; k++)
        s->output_name[k] = p->text + p->value[p->list[r->out + k]].name;
    holo_step_info info = {.index = i,
                           .node = hg_model_step_name(p, i),
                           .kernel = hg_model_step_kernel(p, i),
                           .seconds = seconds,
                           .flops = run->cost.flops,
                           .bytes = run->cost.bytes,
                           .outputs = run->args.out,
                           .output_names = s->output_name,
                           .n_outputs = r->n_out};
    s->trace(s->trace_user, &info);
}

static holo_status run_steps(holo_session *s, holo_error *e)
{
    uint32_t n = s->graph->program.head.n_step;
    bool timed = s->trace != NULL || s->run_ms != 0;
    double start = timed ? hg_clock_seconds() : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (HG_UNLIKELY(atomic_load_explicit(&s->cancelled, memory_order_relaxed)))
            return hg_fail(e, HOLO_E_CANCELLED, "the run was cancelled before step %u of %u", i, n);
        double before = timed ? hg_clock_seconds() : 0;
        if (s->run_ms != 0 && (before - start) * 1e3 > (double)s->run_ms)
            return hg_fail(e, HOLO_E_LIMIT, "the run took longer than %llu ms; stopped before step %u of %u",
                           (unsigned long long)s->run_ms, i, n);
        HG_TRY(run_step(s, i, e));
        if (s->trace != NULL) run_trace(s, i, hg_clock_seconds() - before);
    }
    return HOLO_OK;
}

/* Late outputs get their final shape; results that could not be computed in place are copied. */
static holo_status run_outputs(holo_session *s, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t i = 0; i < p->head.n_out; i++) {
        uint32_t v = p->out[i].value;
        HG_TRY(run_late_value(s, v, e));
        void *bound = s->output[i].data;
        if (bound == NULL || bound == s->tensor[v].data) continue;
        size_t bytes = holo_tensor_bytes(&s->tensor[v]);
        if (bytes > s->output[i].bytes)
            return hg_fail(e, HOLO_E_ARG, "output '%s' has %zu bytes, the buffer bound to it has %zu",
                           p->text + p->out[i].name, bytes, s->output[i].bytes);
        if (bytes != 0) memcpy(bound, s->tensor[v].data, bytes);
    }
    return HOLO_OK;
}

static void run_poison(holo_session *s)
{
    size_t bytes = s->arena_bytes + s->scratch_bytes * s->threads;
    if (bytes != 0) memset(s->slab, 0xff, bytes);
    for (uint32_t i = 0; i < s->late.n_chunk; i++)
        memset(s->late.chunk[i].data, 0xff, s->late.chunk[i].bytes);
}

holo_status holo_session_run(holo_session *session, holo_error *error)
{
    HG_TRY(holo_session_prepare(session, error));
    session->fault = (hg_fault){0};
    hg_late_reset(&session->late);
    session->has_run = false;
    if ((session->flags & HOLO_SESSION_POISON) != 0) run_poison(session);
    holo_status status = run_steps(session, error);
    if (status == HOLO_OK) status = run_outputs(session, error);
    atomic_store(&session->cancelled, false);
    session->has_run = status == HOLO_OK;
    return status;
}
