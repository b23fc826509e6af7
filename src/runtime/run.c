/* run.c - the step loop: no allocation (but for late results of sessions that may grow), no locks,
 * no logging. The fault word is tested after each step. */
#include "base/clock.h"
#include "base/file.h"
#include "isa/deep.h"
#include "runtime/control.h"
#include "runtime/memo.h"
#include "runtime/redzone.h"
#include "runtime/settle.h"

typedef struct run_job {
    const hg_step_run *step;
    hg_args args;
    uint8_t *scratch;
    size_t scratch_bytes;
    int64_t units;
    uint32_t tasks;
    const holo_session *session;
} run_job;

/* Units left over go to tasks all along, so that no thread's part has them all. */
static int64_t run_begin(const run_job *job, int64_t task)
{
    return job->units / job->tasks * task + job->units % job->tasks * task / job->tasks;
}

static void run_task(void *user, int64_t task, uint32_t worker)
{
    run_job *job = user;
    if (HG_UNLIKELY(hg_session_stopped(job->session))) return;
    hg_range r = {.begin = run_begin(job, task),
                  .end = run_begin(job, task + 1),
                  .scratch =
                      job->scratch_bytes == 0 ? NULL : job->scratch + job->scratch_bytes * worker};
    if (r.begin < r.end) job->step->kernel->run(&job->args, r);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static holo_status run_fault(const holo_session *s, uint32_t i, holo_error *e)
{
    return hg_model_blame(&s->graph->program, i, hg_fault_fail(&s->fault, e), e);
}

/* What a step needs that was not known when memory was laid out. */
static holo_status run_late_scratch(holo_session *s, uint32_t i, run_job *job, holo_error *e)
{
    const size_t bytes =
        hg_align_up(hg_kernel_work(job->step->kernel, &job->args).scratch, HG_ALIGN);
    size_t all;
    void *scratch;
    if (bytes == 0) return HOLO_OK;
    if (!hg_mul_size(bytes, s->threads, &all)) return hg_fail_nomem(e, bytes);
    HG_TRY(hg_settle_take(s, all, i, i, &scratch, e));
    job->scratch = scratch;
    job->scratch_bytes = bytes;
    return HOLO_OK;
}

static holo_status run_kernel(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_step_run *step = &s->step[i];
    run_job job = {.step = step,
                   .args = hg_session_args(s, step),
                   .scratch =
                       s->slab.data == NULL ? NULL : (uint8_t *)s->slab.data + s->arena_bytes,
                   .scratch_bytes = s->scratch_bytes,
                   .units = step->units,
                   .tasks = step->tasks,
                   .session = s};
    if (s->graph->step_late[i]) HG_TRY(run_late_scratch(s, i, &job, e));
    hg_redzone_close(s, i, job.scratch, job.scratch_bytes * s->threads);
    if (job.tasks <= 1) {
        job.args.team = s->pool;
        if (job.units > 0) step->kernel->run(&job.args, (hg_range){0, job.units, job.scratch});
    } else {
        hg_pool_run(s->pool, job.tasks, run_task, &job);
    }
    hg_redzone_open(s);
    if (HG_UNLIKELY(atomic_load_explicit(&s->shared->stopped, memory_order_relaxed)))
        return hg_session_check(s, e);
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
    const holo_tensor *t = &s->step[i].in[0];
    int64_t count = holo_tensor_count(t);
    if (!hg_dtype_in(t->dtype, HG_TYPES_INT | HG_TYPES_BOOL))
        return hg_fail(e, HOLO_E_TYPE, "sizes are read from a %s tensor",
                       holo_dtype_text(t->dtype));
    for (uint32_t k = 0; k < r->n_param; k++) {
        uint32_t symbol = p->list[r->param + k];
        uint32_t index = p->symbol[symbol].index;
        if ((int64_t)index >= count)
            return hg_fail(e, HOLO_E_SHAPE,
                           "element %u of a tensor with %lld elements decides a size", index,
                           (long long)count);
        s->symbol[symbol] = run_read_int(t, index);
    }
    return hg_settle_dims(s, i, e);
}

static holo_status run_dims(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_step_run *r = &s->step[i];
    const holo_tensor *out = hg_step_out(r);
    if (out->dtype != HOLO_I64 || holo_tensor_count(out) != (int64_t)r->n_param)
        return hg_fail(e, HOLO_E_FORMAT, "%u sizes are stored into %lld elements of %s", r->n_param,
                       (long long)holo_tensor_count(out), holo_dtype_text(out->dtype));
    if (r->n_param != 0) memcpy(out->data, r->param, r->n_param * sizeof *r->param);
    return HOLO_OK;
}

static holo_status run_step(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_step_rec *r = &s->graph->program.step[i];
    if (s->step[i].control != NULL) return hg_control_run(s, i, e);
    if (s->graph->step_late[i]) {
        holo_status status = hg_settle_step(s, i, e);
        if (status != HOLO_OK) return hg_settle_prefix(s, i, status, e);
    }
    switch ((hg_opcode)r->op) {
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
    const hg_cost cost = hg_session_cost(s, run);
    for (uint32_t k = 0; k < r->n_out; k++)
        s->output_name[k] =
            hg_program_name(p, p->value[p->list[r->out + k]].name, &s->name_room[k + 1]);
    holo_step_info info = {.index = i,
                           .node = hg_program_step_name(p, i, &s->name_room[0]),
                           .kernel = hg_model_step_kernel(p, i),
                           .seconds = seconds,
                           .flops = cost.flops,
                           .bytes = cost.bytes,
                           .outputs = hg_step_out(run),
                           .output_names = s->output_name,
                           .n_outputs = r->n_out};
    s->trace(s->trace_user, &info);
}

holo_status hg_session_check(const holo_session *s, holo_error *e)
{
    const hg_shared *h = s->shared;
    if (HG_UNLIKELY(atomic_load_explicit(&h->cancelled, memory_order_relaxed)))
        return hg_fail(e, HOLO_E_CANCELLED, "the run was cancelled");
    if (h->run_ms != 0 && (hg_clock_seconds() - h->start) * 1e3 > (double)h->run_ms)
        return hg_fail(e, HOLO_E_LIMIT, "the run took longer than %llu ms (limits.run_ms)",
                       (unsigned long long)h->run_ms);
    return HOLO_OK;
}

bool hg_session_stopped(const void *session)
{
    const holo_session *s = session;
    if (HG_LIKELY(hg_session_check(s, NULL) == HOLO_OK)) return false;
    atomic_store_explicit(&s->shared->stopped, true, memory_order_relaxed);
    return true;
}

static holo_status run_traced(holo_session *s, uint32_t i, holo_error *e)
{
    /* What the steps of its bodies took is theirs. */
    const double before = hg_clock_seconds(), traced = s->shared->traced;
    HG_TRY(run_step(s, i, e));
    const double seconds = hg_clock_seconds() - before;
    run_trace(s, i, seconds - (s->shared->traced - traced));
    s->shared->traced = traced + seconds;
    return HOLO_OK;
}

static holo_status run_steps(holo_session *s, holo_error *e)
{
    uint32_t n = s->graph->program.head.n_step;
    for (uint32_t i = 0; i < n; i++) {
        bool known = false;
        HG_TRY(hg_session_check(s, e));
        if (HG_UNLIKELY(s->prefix != NULL)) HG_TRY(s->prefix->before(s->prefix, s, i, &known, e));
        if (!known) HG_TRY(s->trace == NULL ? run_step(s, i, e) : run_traced(s, i, e));
        if (HG_UNLIKELY(s->prefix != NULL)) s->prefix->after(s->prefix, s, i);
    }
    return HOLO_OK;
}

/* Late outputs get their final shape; results that could not be computed in place are copied. */
static holo_status run_outputs(holo_session *s, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t i = 0; i < p->head.n_out; i++) {
        uint32_t v = p->out[i].value;
        HG_TRY(hg_settle_value(s, v, e));
        void *bound = s->output[i].data;
        if (bound == NULL || bound == hg_session_tensor(s, v)->data) continue;
        size_t bytes = hg_deep_bytes(hg_session_tensor(s, v));
        if (bytes > s->output[i].bytes)
            return hg_fail(e, HOLO_E_ARG,
                           "output '%s' has %zu bytes, the buffer bound to it has %zu",
                           p->text + p->out[i].name, bytes, s->output[i].bytes);
        holo_tensor copy = *hg_session_tensor(s, v);
        copy.data = bound;
        hg_room room = {NULL, 0};
        if (hg_is_deep(copy.dtype))
            room = (hg_room){hg_deep_behind(&copy), hg_deep_extra(hg_session_tensor(s, v))};
        if (!hg_deep_copy(hg_session_tensor(s, v), &copy, &room))
            return hg_fail(e, HOLO_E_BUG, "output '%s' does not fit", p->text + p->out[i].name);
    }
    return HOLO_OK;
}

static void run_poison(holo_session *s)
{
    size_t bytes = s->arena_bytes + s->scratch_bytes * s->threads;
    if (bytes != 0) memset(s->slab.data, 0xff, bytes);
    for (uint32_t i = 0; i < s->late.n_chunk; i++)
        memset(s->late.chunk[i].data, 0xff, s->late.chunk[i].bytes);
}

holo_status hg_session_run(holo_session *s, holo_error *e)
{
    HG_TRY(holo_session_prepare(s, e));
    s->fault = (hg_fault){0};
    hg_late_reset(&s->late);
    s->has_run = false;
    if (s->slab.wants_large) {
        hg_pages_large(s->slab.data, s->slab.bytes);
        s->slab.wants_large = false;
    }
    if ((s->flags & HOLO_SESSION_POISON) != 0) run_poison(s);
    HG_TRY(run_steps(s, e));
    HG_TRY(run_outputs(s, e));
    s->has_run = true;
    return HOLO_OK;
}

holo_status holo_session_run(holo_session *session, holo_error *error)
{
    hg_shared *h = session->shared;
    if ((session->flags & HOLO_SESSION_MEASURE) != 0)
        return hg_fail(error, HOLO_E_STATE, "a session that measures cannot run");
    h->iterations = 0;
    atomic_store_explicit(&h->stopped, false, memory_order_relaxed);
    hg_pool_settle(session->pool);
    if (h->run_ms != 0) h->start = hg_clock_seconds();
    holo_memo *memo = session->memo;
    holo_status status =
        memo == NULL ? hg_session_run(session, error) : memo->run(memo, session, error);
    /* A cancel that came too late for this run is for the next one. */
    if (status == HOLO_E_CANCELLED) atomic_store(&h->cancelled, false);
    return status;
}
