/* session.c - makes and frees sessions; binds inputs and outputs. */
#include "base/file.h"
#include "base/limits.h"
#include "isa/deep.h"
#include "runtime/control.h"
#include "runtime/memo.h"
#include "runtime/moves.h"

/* ---- parameters ------------------------------------------------------------------------------ */

/* Equal lists of parameters are one list in a program, and layers repeat: steps that have the same
 * list share its numbers, except those whose kernel a cache gives others. Of all lists that fall
 * into one place the last one is known. */
enum { SESSION_LISTS = 64 };

typedef struct session_params {
    uint32_t first[SESSION_LISTS], count[SESSION_LISTS], at[SESSION_LISTS];
    uint32_t used;
} session_params;

/* Where the parameters of step r lie. */
static uint32_t session_params_of(session_params *known, const hg_model_graph *g,
                                  const hg_step_rec *r)
{
    const uint32_t i = r->param % SESSION_LISTS, at = known->used;
    const bool is_own = r->op == HG_STEP_BIND || /* symbols, no dims */
                        (r->op == HG_STEP_KERNEL &&
                         (g->kernel[r->kernel]->flags & (HG_KERNEL_KEYS | HG_KERNEL_APPEND)) != 0);
    if (!is_own && known->count[i] >= r->n_param && known->first[i] == r->param)
        return known->at[i];
    known->used += r->n_param;
    if (is_own) return at;
    known->first[i] = r->param;
    known->count[i] = r->n_param;
    known->at[i] = at;
    return at;
}

static uint32_t session_params_count(const hg_model_graph *g)
{
    session_params known = {.used = 0};
    for (uint32_t i = 0; i < g->program.head.n_step; i++)
        (void)session_params_of(&known, g, &g->program.step[i]);
    return known.used;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* First pass counts, second pass points. */
static size_t session_arrays(holo_session *s, uint8_t *base)
{
    const hg_model_graph *g = s->graph;
    const hg_program_head *h = &g->program.head;
    size_t used = 0;
    s->dim = hg_carve(base, &used, h->n_dim, sizeof *s->dim);
    s->symbol = hg_carve(base, &used, h->n_symbol, sizeof *s->symbol);
    s->symbol_known = hg_carve(base, &used, h->n_symbol, 1);
    s->step = hg_carve(base, &used, h->n_step, sizeof *s->step);
    s->operand = hg_carve(base, &used, g->n_slot, sizeof *s->operand);
    s->code = hg_carve(base, &used, h->n_code, sizeof *s->code);
    s->span = hg_carve(base, &used, g->n_buffer, sizeof *s->span);
    /* The bound, offsets, alike: all before parameters are bound, in the same place. */
    size_t room = HG_OFFSETS_ROOM(g->n_buffer, h->n_step);
    if (room < 2 * ((size_t)h->n_step + 2)) room = 2 * ((size_t)h->n_step + 2);
    const size_t params = (size_t)session_params_count(g) * sizeof *s->param / sizeof *s->room;
    s->live = hg_carve(base, &used, room < params ? params : room, sizeof *s->room);
    s->room = (uint32_t *)(void *)s->live;
    s->param = (int64_t *)(void *)s->live;
    s->alike = hg_carve(base, &used, h->n_step, sizeof *s->alike);
    s->moves = hg_carve(base, &used, 1, hg_moves_size);
    s->input = hg_carve(base, &used, h->n_in, sizeof *s->input);
    s->input_set = hg_carve(base, &used, h->n_in, sizeof *s->input_set);
    s->output = hg_carve(base, &used, h->n_out, sizeof *s->output);
    s->output_name = hg_carve(base, &used, g->max_out, sizeof *s->output_name);
    s->name_room =
        hg_carve(base, &used, s->trace == NULL ? 0 : g->max_out + 1, sizeof *s->name_room);
    s->extra = hg_carve(base, &used, g->max_out, sizeof *s->extra);
    s->control = hg_carve(base, &used, g->n_control, sizeof(hg_control *));
    /* Results, scratch, and what a loop keeps while it runs. */
    s->late.max_piece = g->has_late ? g->n_buffer + 2 : 0;
    if (g->n_control != 0) s->late.max_piece += 2 * g->max_out + 2;
    s->late.piece = hg_carve(base, &used, s->late.max_piece, sizeof *s->late.piece);
    return used;
}

/* What never changes about a step. */
static void session_link_steps(holo_session *s)
{
    const hg_model_graph *g = s->graph;
    const hg_program *p = &g->program;
    uint32_t slot = 0;
    session_params known = {.used = 0};
    s->common = (hg_args){.fault = &s->fault,
                          .turn = &s->turn,
                          .stop = hg_session_stopped,
                          .stop_user = s,
                          .extra = s->extra,
                          .cpu = s->model->cpu};
    for (uint32_t i = 0; i < p->head.n_code; i++)
        s->code[i] = hg_program_code(p, i);
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        const hg_step_rec *r = &p->step[i];
        hg_step_run *run = &s->step[i];
        if (r->op == HG_STEP_KERNEL) run->kernel = g->reference[r->kernel];
        slot = hg_model_first_slot(g, i, slot);
        run->in = s->operand + slot;
        run->param = s->param + session_params_of(&known, g, r);
        run->n_in = r->n_in;
        run->n_out = r->n_out;
        run->n_param = r->n_param;
        if (r->code != 0) run->code = &s->code[r->code - 1];
        slot += (uint32_t)r->n_in + r->n_out;
    }
}

static holo_status session_memory(holo_session *s, const holo_session_options *o, holo_error *e)
{
    if (o->memory != NULL) {
        if ((uintptr_t)o->memory % HG_ALIGN != 0)
            return hg_fail(e, HOLO_E_ARG, "the session's memory is not aligned to %d bytes",
                           HG_ALIGN);
        s->own.room = o->memory;
        s->own.room_bytes = o->memory_bytes;
    }
    if (s->graph->has_late && o->late_bytes != 0) {
        HG_TRY(hg_session_account(s, 0, o->late_bytes, e));
        HG_TRY(hg_late_add(&s->late, &s->alloc, o->late_bytes, e));
    }
    return HOLO_OK;
}

/* Bodies have sessions of their own: made here, so that a run makes none. */
static holo_status session_controls(holo_session *s, const holo_session_options *o, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        if (p->step[i].op != HG_STEP_IF && p->step[i].op != HG_STEP_LOOP) continue;
        HG_TRY(hg_control_new(s, i, o, &s->step[i].control, e));
        s->control[s->n_control++] = s->step[i].control;
    }
    return HOLO_OK;
}

static holo_status session_init(holo_session *s, const holo_session_options *o, holo_error *e)
{
    s->block_bytes = session_arrays(s, NULL);
    s->block = hg_alloc(&s->alloc, s->block_bytes);
    if (s->block == NULL) return hg_fail_nomem(e, s->block_bytes);
    hg_pages_take(s->block, s->block_bytes);
    memset(s->block, 0, s->block_bytes);
    (void)session_arrays(s, s->block);
    session_link_steps(s);
    HG_TRY(session_memory(s, o, e));
    return session_controls(s, o, e);
}

holo_status hg_session_make(const holo_model *model, uint32_t program,
                            const holo_session_options *options, hg_shared *shared,
                            holo_session **out, holo_error *e)
{
    holo_allocator alloc =
        options->allocator == NULL ? model->alloc : hg_allocator_or_libc(options->allocator);
    holo_session *s = hg_alloc_zero(&alloc, sizeof *s);
    if (s == NULL) return hg_fail_nomem(e, sizeof *s);
    s->model = model;
    s->graph = &model->graph[program];
    s->alloc = alloc;
    s->pool = options->pool;
    s->threads = hg_pool_threads(options->pool);
    s->flags = options->flags;
    s->limits = hg_limits_join(&options->limits, &model->limits);
    s->own.memory_limit = s->limits.memory_bytes;
    s->own.run_ms = s->limits.run_ms;
    s->own.loop_limit = s->limits.loop_iterations;
    atomic_init(&s->own.cancelled, false);
    atomic_init(&s->own.stopped, false);
    s->shared = shared == NULL ? &s->own : shared;
    s->trace = options->trace;
    s->trace_user = options->trace_user;
    s->shapes_changed = true;
    holo_status status = session_init(s, options, e);
    if (status != HOLO_OK) {
        holo_session_free(s);
        return status;
    }
    *out = s;
    return HOLO_OK;
}

holo_status holo_session_new(const holo_model *model, const holo_session_options *options,
                             holo_session **out, holo_error *error)
{
    static const holo_session_options standard = HOLO_SESSION_OPTIONS_INIT;
    if (model == NULL || out == NULL)
        return hg_fail(error, HOLO_E_ARG, "model and out must not be NULL");
    if (options == NULL) options = &standard;
    if (options->struct_size != sizeof *options)
        return hg_fail(error, HOLO_E_ARG, "holo_session_options.struct_size is %zu, expected %zu",
                       options->struct_size, sizeof *options);
    if (options->graph >= model->n_graph)
        return hg_fail(error, HOLO_E_ARG, "graph %u was asked for, the model has %u",
                       options->graph, model->n_graph);
    if (options->memo != NULL &&
        (options->memo->model != model || options->memo->graph != options->graph))
        return hg_fail(error, HOLO_E_ARG, "the memo belongs to another graph or model");
    HG_TRY(hg_session_make(model, options->graph, options, NULL, out, error));
    (*out)->memo = options->memo;
    return HOLO_OK;
}

void holo_session_free(holo_session *session)
{
    if (session == NULL) return;
    holo_allocator alloc = session->alloc;
    for (uint32_t i = 0; i < session->n_control; i++)
        hg_control_free(session, session->control[i]);
    hg_late_free(&session->late, &alloc);
    if (session->cache != NULL) hg_free(&alloc, session->cache, session->cache->bytes);
    hg_session_release(session, &session->slab);
    hg_free(&alloc, session->block, session->block_bytes);
    hg_free(&alloc, session, sizeof *session);
}

static int32_t session_find(const hg_program *p, const hg_port_rec *port, uint32_t n,
                            const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(p->text + port[i].name, name) == 0) return (int32_t)i;
    return -1;
}

int32_t holo_session_find_input(const holo_session *session, const char *name)
{
    const hg_program *p = &session->graph->program;
    return session_find(p, p->in, p->head.n_in, name);
}

int32_t holo_session_find_output(const holo_session *session, const char *name)
{
    const hg_program *p = &session->graph->program;
    return session_find(p, p->out, p->head.n_out, name);
}

holo_status hg_session_check_size(const holo_session *s, const holo_tensor *t, const char *name,
                                  holo_error *e)
{
    const size_t bytes = holo_tensor_bytes(t);
    const unsigned long long most = s->limits.tensor_bytes;
    if (bytes == SIZE_MAX)
        return hg_fail(e, HOLO_E_SHAPE, "value '%s' would have more than %llu bytes", name, most);
    if (bytes > most)
        return hg_fail(e, HOLO_E_LIMIT,
                       "value '%s' would have %zu bytes, its limit is %llu (limits.tensor_bytes)",
                       name, bytes, most);
    if ((uint64_t)holo_tensor_count(t) > s->limits.tensor_elements)
        return hg_fail(
            e, HOLO_E_LIMIT,
            "value '%s' would have %lld elements, its limit is %llu (limits.tensor_elements)", name,
            (long long)holo_tensor_count(t), (unsigned long long)s->limits.tensor_elements);
    if ((uint32_t)t->rank > s->limits.rank)
        return hg_fail(e, HOLO_E_LIMIT, "value '%s' has rank %d, its limit is %u (limits.rank)",
                       name, t->rank, s->limits.rank);
    return HOLO_OK;
}

/* Of a tensor that hg_deep_check has accepted: strings at any depth of containers. */
static holo_status session_check_strings(const holo_session *s, const holo_tensor *t, holo_error *e)
{
    const int64_t count = hg_is_deep(t->dtype) ? holo_tensor_count(t) : 0;
    for (int64_t i = 0; i < count; i++) {
        if (t->dtype != HOLO_STRING) {
            HG_TRY(session_check_strings(s, (const holo_tensor *)t->data + i, e));
            continue;
        }
        const uint64_t length = ((const holo_string *)t->data)[i].length;
        if (length > s->limits.string_bytes)
            return hg_fail(e, HOLO_E_LIMIT, "string %lld has %llu bytes, its limit is %llu",
                           (long long)i, (unsigned long long)length,
                           (unsigned long long)s->limits.string_bytes);
    }
    return HOLO_OK;
}

/* An input or an output that is bound alone is no cache any more. */
static void session_end_cache(holo_session *s, uint32_t input, uint32_t output)
{
    hg_cache *c = s->cache;
    for (uint32_t o = 0; c != NULL && o < s->graph->program.head.n_out; o++) {
        if (!s->output[o].is_cache || (o != output && c->port[o].input != input)) continue;
        s->output[o] = (hg_bound_output){0};
        for (uint32_t v = 0; v < s->graph->program.head.n_value; v++)
            if (c->of[v] == o + 1) c->of[v] = 0;
        c->count--;
        s->shapes_changed = true;
        s->is_bound = false;
    }
}

holo_status holo_session_set_input(holo_session *session, uint32_t index, const holo_tensor *tensor,
                                   holo_error *error)
{
    const hg_program *p = &session->graph->program;
    if (index >= p->head.n_in)
        return hg_fail(error, HOLO_E_ARG, "input %u was bound, the graph has %u inputs", index,
                       p->head.n_in);
    const hg_value_rec *v = &p->value[p->in[index].value];
    const char *name = p->text + p->in[index].name;
    if (tensor->dtype != (holo_dtype)v->dtype)
        return hg_fail(error, HOLO_E_TYPE, "input '%s' is %s, expected %s", name,
                       holo_dtype_text(tensor->dtype), holo_dtype_text((holo_dtype)v->dtype));
    if (v->rank >= 0 && tensor->rank != v->rank)
        return hg_fail(error, HOLO_E_SHAPE, "input '%s' has rank %d, expected %d", name,
                       tensor->rank, v->rank);
    int64_t count = holo_tensor_count(tensor);
    if (count < 0)
        return hg_fail(error, HOLO_E_SHAPE, "input '%s' has a negative or too large dimension",
                       name);
    HG_TRY(hg_session_check_size(session, tensor, name, error));
    if (tensor->data == NULL && count != 0)
        return hg_fail(error, HOLO_E_ARG, "input '%s' has no data", name);
    session_end_cache(session, index, UINT32_MAX);
    if (hg_is_deep(tensor->dtype)) {
        holo_status status = hg_deep_check(tensor, error);
        if (status == HOLO_OK) status = session_check_strings(session, tensor, error);
        if (status != HOLO_OK) return hg_fail_prefix(error, status, "input '%s': ", name);
    }
    return hg_session_bind_input(session, index, tensor, error);
}

holo_status hg_session_bind_input(holo_session *s, uint32_t index, const holo_tensor *tensor,
                                  holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *v = &p->value[p->in[index].value];
    if (tensor->dtype != (holo_dtype)v->dtype || (v->rank >= 0 && tensor->rank != v->rank))
        return hg_fail(e, HOLO_E_SHAPE, "'%s' is %s of rank %d, expected %s of rank %d",
                       p->text + p->in[index].name, holo_dtype_text(tensor->dtype), tensor->rank,
                       holo_dtype_text((holo_dtype)v->dtype), v->rank);
    holo_tensor *old = &s->input[index];
    size_t dims = (size_t)tensor->rank * sizeof tensor->dim[0];
    if (!s->input_set[index] || old->rank != tensor->rank ||
        memcmp(old->dim, tensor->dim, dims) != 0)
        s->shapes_changed = true;
    if (old->data != tensor->data) s->pointers_changed = true;
    *old = *tensor;
    s->input_set[index] = true;
    return HOLO_OK;
}

void hg_session_bind_output(holo_session *s, uint32_t index, void *data, size_t bytes)
{
    hg_bound_output *o = &s->output[index];
    if (o->data == data && o->bytes == bytes) return;
    *o = (hg_bound_output){.data = data, .bytes = data == NULL ? 0 : bytes};
    s->pointers_changed = true;
}

holo_status holo_session_set_output(holo_session *session, uint32_t index, void *data, size_t bytes,
                                    holo_error *error)
{
    if (index >= session->graph->program.head.n_out)
        return hg_fail(error, HOLO_E_ARG, "output %u was bound, the graph has %u outputs", index,
                       session->graph->program.head.n_out);
    session_end_cache(session, UINT32_MAX, index);
    hg_session_bind_output(session, index, data, bytes);
    return HOLO_OK;
}

holo_status holo_session_prepare(holo_session *session, holo_error *error)
{
    if (session->shapes_changed) return hg_session_prepare(session, error);
    return session->pointers_changed ? hg_session_rebind(session, error) : HOLO_OK;
}

holo_status holo_session_output(const holo_session *session, uint32_t index, holo_tensor *out,
                                holo_error *error)
{
    const hg_program *p = &session->graph->program;
    if (index >= p->head.n_out)
        return hg_fail(error, HOLO_E_ARG, "output %u was asked for, the graph has %u outputs",
                       index, p->head.n_out);
    if (!session->has_run) return hg_fail(error, HOLO_E_STATE, "the session has not run yet");
    *out = hg_session_result(session, index);
    return HOLO_OK;
}

holo_tensor hg_session_result(const holo_session *s, uint32_t index)
{
    holo_tensor t = *hg_session_tensor(s, s->graph->program.out[index].value);
    if (s->output[index].data != NULL) t.data = s->output[index].data;
    return s->output[index].is_cache ? s->cache->port[index].buffer : t;
}

void holo_session_cancel(holo_session *session)
{
    atomic_store(&session->shared->cancelled, true);
}

/* Bodies count too; they are nested no deeper than open allows. */
static void session_add_stats(const holo_session *s, holo_session_stats *out)
{
    out->arena_bytes += s->arena_bytes;
    out->arena_bound += s->arena_bound;
    out->late_bytes += s->late.bytes;
    out->scratch_bytes += s->scratch_bytes * s->threads;
    out->steps += s->graph->program.head.n_step;
    for (uint32_t i = 0; i < s->n_control; i++) {
        out->arena_bytes += s->control[i]->block.bytes;
        for (uint32_t k = 0; k < 2; k++)
            if (s->control[i]->body[k] != NULL) session_add_stats(s->control[i]->body[k], out);
    }
}

void holo_session_get_stats(const holo_session *session, holo_session_stats *out)
{
    *out = (holo_session_stats){.weight_bytes = session->model->weight_bytes,
                                .threads = session->threads};
    session_add_stats(session, out);
}
