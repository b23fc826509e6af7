/* bind.c - steps: operands, parameters, check, units.
 *
 * What check, units, scratch and cost say follows from the kernel, the lane code but for its
 * constants, the parameters and the types and dims of the operands. Layers repeat, and equal lists
 * of dims are one list in a program: steps that have all of these in common are alike, and only the
 * first one of them is asked. */
#include "runtime/bind.h"

/* ---- work ------------------------------------------------------------------------------------ */

/* A step whose tensors lie in the cache: what tuned kernels take for a multiply or an add, and for
 * a byte that is read or written (bench/zoo, one core with AVX2: products of matrices 0.010 to
 * 0.015 ns an operation, point-wise bodies 0.012 to 0.035 ns a byte). Tensors from memory take
 * longer, but they are large. */
static const double bind_flop_ns = 0.0125, bind_byte_ns = 0.025;
/* A kernel that does not say what it costs does more with a byte than to move it (0.1 to 1 ns). */
static const double bind_unknown_byte_ns = 0.1;
/* To hand work to a thread that waits for it and to meet again takes 1.3 us (byteops on 100,000
 * codes: 2.0 us alone, 2.3 by two). Less work than this is not worth sharing. */
static const double bind_min_parallel_ns = 4e3;
/* Longer work is done in parts, between which a run can be stopped. */
static const double bind_long_ns = 2.5e6;
/* A kernel that does not say what it costs may do much with few bytes: so many parts above that. */
static const double bind_unknown_ns = 80e3;
enum { BIND_PARTS = 16 };

static uint32_t bind_tasks(const holo_session *s, const hg_step_run *r, hg_cost cost)
{
    const bool is_known = r->kernel->cost != NULL;
    const double ns =
        cost.flops * bind_flop_ns + cost.bytes * (is_known ? bind_byte_ns : bind_unknown_byte_ns);
    if (r->units <= 1 || (ns < bind_min_parallel_ns && (s->flags & HOLO_SESSION_SPLIT) == 0))
        return 1;
    int64_t tasks = ns < 1e15 ? (int64_t)(ns / bind_long_ns) : 1 << 20;
    if ((r->kernel->flags & HG_KERNEL_ASKS) != 0) tasks = 1;
    bool splits =
        s->threads > 1 && (ns >= bind_min_parallel_ns || (s->flags & HOLO_SESSION_SPLIT) != 0);
    if (!is_known && ns >= bind_unknown_ns) tasks = hg_max(tasks, BIND_PARTS);
    /* Few units are not worth parts that are taken as they come: a thread gets its units in one
     * call, so that they share what a call prepares. */
    const int64_t parts = (int64_t)s->threads * 4;
    if (splits) tasks = hg_max(tasks, r->units <= parts ? s->threads : parts);
    return (uint32_t)hg_max(1, hg_min(tasks, r->units));
}

/* A cost, not a size that memory is taken for: it may wrap. An absent tensor has no bits. */
static double bind_bytes(const holo_tensor *t, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = hg_dtype_bits(t[i].dtype);
        for (int32_t k = 0; k < t[i].rank; k++)
            bits *= (uint64_t)t[i].dim[k];
        sum += bits / 8;
    }
    return (double)sum;
}

static hg_cost bind_cost(const hg_kernel *kernel, const hg_args *a)
{
    hg_cost cost = {0};
    if (kernel->cost != NULL) kernel->cost(a, &cost);
    if (cost.bytes <= 0) cost.bytes = bind_bytes(a->in, a->n_in) + bind_bytes(a->out, a->n_out);
    return cost;
}

hg_cost hg_session_cost(const holo_session *s, const hg_step_run *r)
{
    const hg_args a = hg_session_args(s, r);
    return r->kernel == NULL ? (hg_cost){0} : bind_cost(r->kernel, &a);
}

/* ---- one step -------------------------------------------------------------------------------- */

/* The operand may be the tensor itself. */
static void bind_tensor(holo_tensor *operand, const holo_tensor *t)
{
    if (operand != t) *operand = *t;
}

static void bind_operands(holo_session *s, const hg_step_rec *r, hg_step_run *run, bool outputs)
{
    static const holo_tensor absent;
    const hg_program *p = &s->graph->program;
    holo_tensor *in = run->in;
    for (uint32_t k = 0; k < r->n_in; k++) {
        uint32_t v = p->list[r->in + k];
        bind_tensor(&in[k], v == 0 ? &absent : hg_session_tensor(s, v));
    }
    for (uint32_t k = 0; k < r->n_out; k++) {
        uint32_t v = p->list[r->out + k];
        bind_tensor(&hg_step_out(run)[k], v == 0 ? &absent : hg_session_tensor(s, v));
        if (!outputs && v != 0)
            hg_step_out(run)[k] = (holo_tensor){.dtype = (holo_dtype)p->value[v].dtype, .rank = -1};
    }
}

static void bind_params(holo_session *s, const hg_step_rec *r, hg_step_run *run)
{
    const uint32_t *list = s->graph->program.list + r->param;
    int64_t *param = run->param;
    for (uint32_t k = 0; k < r->n_param && r->op != HG_STEP_BIND; k++)
        param[k] = s->dim[list[k]];
}

static holo_status bind_check(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    hg_step_run *run = &s->step[i];
    const hg_args a = hg_session_args(s, run);
    holo_status status = run->kernel->check(&a, e);
    if (status != HOLO_OK && run->kernel != s->graph->reference[r->kernel]) {
        run->kernel = s->graph->reference[r->kernel];
        status = run->kernel->check(&a, e);
    }
    if (status != HOLO_OK) return hg_model_blame(p, i, status, e);
    const hg_work work = hg_kernel_work(run->kernel, &a);
    run->units = work.units;
    run->tasks = bind_tasks(s, run, bind_cost(run->kernel, &a));
    /* Scratch is for all steps, since one runs at a time; a late one takes its own. */
    if (work.scratch > s->scratch_bytes && !s->graph->step_late[i])
        s->scratch_bytes = hg_align_up(work.scratch, HG_ALIGN);
    return HOLO_OK;
}

holo_status hg_session_bind_step(holo_session *s, uint32_t i, hg_bind_phase phase, holo_error *e)
{
    const hg_step_rec *r = &s->graph->program.step[i];
    hg_step_run *run = &s->step[i];
    bind_operands(s, r, run, phase == HG_BIND_ALL);
    bind_params(s, r, run);
    if (r->op == HG_STEP_KERNEL) run->kernel = s->graph->kernel[r->kernel];
    if (s->cache != NULL && s->cache->count != 0) HG_TRY(s->cache->bind_step(s, i, e));
    if (r->op != HG_STEP_KERNEL || phase == HG_BIND_SIZE) return HOLO_OK;
    return bind_check(s, i, e);
}

/* ---- steps that are alike -------------------------------------------------------------------- */

static uint64_t bind_mix(uint64_t key, uint64_t part)
{
    key = (key ^ part) * UINT64_C(0xd6e8feb86659fd93);
    return key ^ key >> 32;
}

/* The same type and dims, or both absent. */
static bool bind_same_operand(const hg_program *p, uint32_t a, uint32_t b)
{
    const hg_value_rec *x = &p->value[a], *y = &p->value[b];
    return a == b || (a != 0 && b != 0 && x->rank == y->rank && x->dtype == y->dtype &&
                      (x->dims == y->dims || x->rank <= 0));
}

static bool bind_same_operands(const hg_program *p, const uint32_t *a, const uint32_t *b,
                               uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (!bind_same_operand(p, a[k], b[k])) return false;
    return true;
}

/* Of what tells most steps apart: looking at everything costs more than the rest of finding them.
 */
static uint64_t bind_key(const holo_session *s, const hg_step_rec *r)
{
    const hg_program *p = &s->graph->program;
    const uint64_t n_op = r->code == 0 ? 0 : s->code[r->code - 1].n_op;
    uint64_t key = bind_mix(r->kernel, n_op << 32 | (r->n_param == 0 ? 0 : r->param));
    for (uint32_t k = 0; k < 2 && k < r->n_in; k++) {
        const hg_value_rec *v = &p->value[p->list[r->in + k]];
        key = bind_mix(key, v->rank <= 0 ? 0 : v->dims);
    }
    return key;
}

static bool bind_same_code(const holo_session *s, uint32_t a, uint32_t b)
{
    return a == b || (a != 0 && b != 0 && hg_lane_is_alike(&s->code[a - 1], &s->code[b - 1]));
}

static bool bind_is_alike(const holo_session *s, const hg_step_rec *a, const hg_step_rec *b)
{
    const hg_program *p = &s->graph->program;
    return a->kernel == b->kernel && a->n_in == b->n_in && a->n_out == b->n_out &&
           a->n_param == b->n_param && (a->n_param == 0 || a->param == b->param) &&
           bind_same_code(s, a->code, b->code) &&
           bind_same_operands(p, p->list + a->in, p->list + b->in, a->n_in) &&
           bind_same_operands(p, p->list + a->out, p->list + b->out, a->n_out);
}

/* A step that another one cannot answer for: no kernel, or a cache changes its operands. */
static bool bind_is_alone(const holo_session *s, const hg_step_rec *r)
{
    const hg_program *p = &s->graph->program;
    if (r->op != HG_STEP_KERNEL) return true;
    if (s->cache == NULL || s->cache->count == 0) return false;
    for (uint32_t k = 0; k < r->n_in; k++)
        if (s->cache->of[p->list[r->in + k]] != 0) return true;
    for (uint32_t k = 0; k < r->n_out; k++)
        if (s->cache->of[p->list[r->out + k]] != 0) return true;
    return false;
}

void hg_session_find_alike(holo_session *s)
{
    const hg_program *p = &s->graph->program;
    uint32_t n_slot = 1, *slot = s->room;
    while (n_slot <= p->head.n_step)
        n_slot *= 2;
    memset(slot, 0, n_slot * sizeof *slot);
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        const hg_step_rec *r = &p->step[i];
        s->alike[i] = i;
        if (s->graph->step_late[i] || bind_is_alone(s, r)) continue;
        uint32_t at = (uint32_t)bind_key(s, r) & (n_slot - 1);
        while (slot[at] != 0 && !bind_is_alike(s, r, &p->step[slot[at] - 1]))
            at = (at + 1) & (n_slot - 1);
        if (slot[at] == 0) slot[at] = i + 1;
        s->alike[i] = slot[at] - 1;
    }
}

/* ---- all steps ------------------------------------------------------------------------------- */

holo_status hg_session_ask_step(holo_session *s, uint32_t i, holo_error *e)
{
    if (s->cache != NULL && s->cache->count != 0) return hg_session_bind_step(s, i, HG_BIND_ALL, e);
    s->step[i].kernel = s->graph->kernel[s->graph->program.step[i].kernel];
    return bind_check(s, i, e);
}

void hg_session_answer(holo_session *s, uint32_t first, uint32_t i)
{
    const hg_step_run *from = &s->step[first];
    hg_step_run *run = &s->step[i];
    run->kernel = from->kernel;
    run->units = from->units;
    run->tasks = from->tasks;
}

holo_status hg_session_bind_steps(holo_session *s, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    for (uint32_t i = 0; i < g->program.head.n_step; i++) {
        const hg_step_rec *r = &g->program.step[i];
        if (g->step_late[i]) continue;
        if (s->alike[i] != i) {
            bind_operands(s, r, &s->step[i], true);
            if (s->step[i].param != s->step[s->alike[i]].param) bind_params(s, r, &s->step[i]);
            hg_session_answer(s, s->alike[i], i);
            continue;
        }
        HG_TRY(hg_session_bind_step(s, i, HG_BIND_ALL, e));
    }
    return HOLO_OK;
}
