/* cache.c - caches that grow in place: one buffer is an input (what came before) and an output (the
 * same with what this run adds).
 *
 *     present = Concat(past, new)      attention(q, present, present)
 *
 * The buffer has room for more rows along the axis than are used. Concat then only writes the new
 * rows, and attention reads through the strides of the buffer. A graph that reads either tensor in
 * any other way is refused. What is here is linked only into programs that bind a cache: the rest
 * of the runtime reaches it through the session. */
#include "runtime/cache.h"

#include "kernel/attention.h"
#include "kernel/elem.h"
#include "runtime/session.h"

#include <string.h>

/* ---- appending ------------------------------------------------------------------------------- */

/* in[0] the rows before, which lie in out[0]; in[1] new rows; out[0] the buffer; param: axis.
 * cache_bind_append has checked them. */
static holo_status cache_check(const hg_args *a, holo_error *e)
{
    (void)a;
    (void)e;
    return HOLO_OK;
}

static int64_t cache_units(const hg_args *a)
{
    return hg_dims_product(&a->out[0], 0, (int)a->param[0]);
}

/* One unit is all new rows of one index of the dims before the axis. */
static void cache_run(const hg_args *a, hg_range r)
{
    const holo_tensor *out = &a->out[0], *added = &a->in[1];
    const int axis = (int)a->param[0];
    const int64_t inner = hg_dims_product(out, axis + 1, out->rank);
    const int64_t n = added->dim[axis] * inner, room = out->dim[axis] * inner;
    const int64_t at = a->in[0].dim[axis] * inner;
    for (int64_t u = r.begin; u < r.end && n > 0; u++)
        hg_elem_copy(out->data, u * room + at, added->data, u * n, n, hg_dtype_bits(out->dtype));
}

static const hg_kernel cache_append = {
    .name = "concat", .check = cache_check, .units = cache_units, .run = cache_run};

/* ---- reading --------------------------------------------------------------------------------- */

/* Element o of the dense tensor is element o / block * room + o % block of the buffer: block and
 * room are the elements of one index of the dims before the axis. Strides over the one become
 * strides over the other when each steps over whole blocks, or all others together stay inside one.
 */
static bool cache_strides(int64_t *view, const int64_t *extent, int64_t block, int64_t room)
{
    if (block == 0) return true; /* nothing is read */
    int64_t inside = view[0] % block, moved;
    if (!hg_mul_i64(view[0] / block, room, &moved) || !hg_add_i64(moved, inside, &view[0]))
        return false;
    for (int i = 0; i < 4; i++) {
        int64_t *stride = &view[1 + i];
        if (extent[i] <= 1 || *stride == 0) continue;
        if (*stride < 0) return false;
        if (*stride % block == 0) {
            if (!hg_mul_i64(*stride / block, room, stride)) return false;
            continue;
        }
        if (*stride > (block - 1 - inside) / (extent[i] - 1)) return false;
        inside += *stride * (extent[i] - 1);
    }
    return true;
}

/* Operand k of attention step `run` is the buffer. */
static bool cache_read(const holo_session *s, hg_step_run *run, uint32_t k, const hg_cache_port *c)
{
    if ((k != HG_ATTENTION_K && k != HG_ATTENTION_V) || run->n_param != HG_ATTENTION_PARAMS)
        return false;
    const holo_tensor *dense = hg_session_tensor(s, s->graph->program.out[c->output].value);
    int64_t *p = run->param;
    holo_tensor *in = run->in;
    const int64_t repeat = p[HG_ATTENTION_REPEAT];
    const int64_t extent[4] = {
        p[HG_ATTENTION_BATCH], repeat < 1 ? 0 : p[HG_ATTENTION_HEADS] / repeat,
        p[HG_ATTENTION_KEYS], p[k == HG_ATTENTION_K ? HG_ATTENTION_SIZE : HG_ATTENTION_WIDTH]};
    const int64_t inner = hg_dims_product(dense, c->axis + 1, dense->rank);
    if (!cache_strides(p + HG_ATTENTION_VIEWS + (int64_t)5 * k, extent, dense->dim[c->axis] * inner,
                       c->buffer.dim[c->axis] * inner))
        return false;
    const void *data = in[k].data;
    in[k] = c->buffer;
    in[k].data = (void *)(uintptr_t)data;
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static holo_status cache_refuse(const holo_session *s, const hg_cache_port *c, uint32_t i,
                                holo_error *e)
{
    const hg_program *p = &s->graph->program;
    hg_name node, op;
    return hg_fail(e, HOLO_E_UNSUPPORTED,
                   "output '%s' cannot grow in place: node '%s' (%s) reads or makes it, expected "
                   "Concat of the input and new rows, and attention",
                   p->text + p->out[c->output].name, hg_program_step_name(p, i, &node),
                   hg_model_step_op(p, i, &op));
}

static bool cache_step_is(const holo_session *s, const hg_step_rec *r, uint32_t flag)
{
    return r->op == HG_STEP_KERNEL && (s->graph->kernel[r->kernel]->flags & flag) != 0;
}

/* The step that makes the output: of the input and new rows, along the axis. */
static holo_status cache_bind_append(const holo_session *s, uint32_t i, const hg_cache_port *c,
                                     holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    hg_step_run *run = &s->step[i];
    const holo_tensor *dense = hg_session_tensor(s, p->out[c->output].value);
    if (!cache_step_is(s, r, HG_KERNEL_APPEND) || r->n_in != 2 || r->n_out != 1 ||
        r->n_param != 1 || run->param[0] != c->axis || p->list[r->in] != p->in[c->input].value ||
        p->list[r->in + 1] == 0 || s->cache->of[p->list[r->in + 1]] != 0)
        return cache_refuse(s, c, i, e);
    const hg_args a = hg_session_args(s, run);
    HG_TRY(run->kernel->check(&a, e)); /* as if it were copied */
    for (int k = 0; k < dense->rank; k++)
        if (k == c->axis ? dense->dim[k] > c->buffer.dim[k] : dense->dim[k] != c->buffer.dim[k])
            return hg_fail(e, HOLO_E_SHAPE,
                           "output '%s' has %lld in dimension %d, its cache has %lld",
                           p->text + p->out[c->output].name, (long long)dense->dim[k], k,
                           (long long)c->buffer.dim[k]);
    void *data = hg_step_out(run)[0].data;
    hg_step_out(run)[0] = c->buffer;
    hg_step_out(run)[0].data = data;
    run->kernel = &cache_append;
    return HOLO_OK;
}

static holo_status cache_bind_step(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[i];
    for (uint32_t k = 0; k < r->n_out; k++) {
        const uint32_t c = s->cache->of[p->list[r->out + k]];
        if (c != 0) return cache_bind_append(s, i, &s->cache->port[c - 1], e);
    }
    for (uint32_t k = 0; k < r->n_in; k++) {
        const uint32_t v = p->list[r->in + k], c = s->cache->of[v];
        if (c == 0) continue;
        const hg_cache_port *port = &s->cache->port[c - 1];
        const bool is_past = p->value[v].storage == HG_STORAGE_INPUT ||
                             (p->value[v].storage == HG_STORAGE_ALIAS &&
                              p->value[v].ref == p->in[port->input].value);
        if (is_past || !cache_step_is(s, r, HG_KERNEL_KEYS) || !cache_read(s, &s->step[i], k, port))
            return cache_refuse(s, port, i, e);
    }
    return HOLO_OK;
}

/* ---- binding --------------------------------------------------------------------------------- */

static holo_status cache_new(holo_session *s, holo_error *e)
{
    const hg_program_head *h = &s->graph->program.head;
    const size_t ports = hg_align_up(h->n_out * sizeof(hg_cache_port), 16);
    const size_t bytes = sizeof(hg_cache) + ports + h->n_value * sizeof(uint32_t);
    hg_cache *c = hg_alloc_zero(&s->alloc, bytes);
    if (c == NULL) return hg_fail_nomem(e, bytes);
    c->bytes = bytes;
    c->bind_step = cache_bind_step;
    c->port = (hg_cache_port *)(void *)(c + 1);
    c->of = (uint32_t *)(void *)((char *)(c + 1) + ports);
    s->cache = c;
    return HOLO_OK;
}

/* The values of both ports and views of them belong to the cache of output o. */
static void cache_mark(const holo_session *s, uint32_t o)
{
    const hg_program *p = &s->graph->program;
    const uint32_t in = p->in[s->cache->port[o].input].value, out = p->out[o].value;
    for (uint32_t v = 1; v < p->head.n_value; v++) {
        const bool is_view = p->value[v].storage == HG_STORAGE_ALIAS;
        if (v == in || v == out || (is_view && (p->value[v].ref == in || p->value[v].ref == out)))
            s->cache->of[v] = o + 1;
    }
}

static holo_status cache_check_ports(const holo_session *s, uint32_t input, uint32_t output,
                                     const holo_tensor *buffer, int32_t axis, int64_t length,
                                     holo_error *e)
{
    const hg_model_graph *g = s->graph;
    const hg_program *p = &g->program;
    if (input >= p->head.n_in || output >= p->head.n_out)
        return hg_fail(e, HOLO_E_ARG, "input %u and output %u were bound, the graph has %u and %u",
                       input, output, p->head.n_in, p->head.n_out);
    const uint32_t v = p->out[output].value;
    const char *name = p->text + p->out[output].name;
    if (s->memo != NULL)
        return hg_fail(e, HOLO_E_UNSUPPORTED, "a session with a memo cannot grow '%s' in place",
                       name);
    if (buffer->dtype != (holo_dtype)p->value[v].dtype || buffer->rank != p->value[v].rank)
        return hg_fail(e, HOLO_E_TYPE,
                       "the cache of output '%s' is %s of rank %d, expected %s of "
                       "rank %d",
                       name, holo_dtype_text(buffer->dtype), buffer->rank,
                       holo_dtype_text((holo_dtype)p->value[v].dtype), p->value[v].rank);
    if (axis < 0 || axis >= buffer->rank || hg_dtype_bits(buffer->dtype) < 8)
        return hg_fail(e, HOLO_E_ARG,
                       "output '%s' cannot grow along dimension %d of %d with elements of %u bits, "
                       "expected a dimension it has and elements of whole bytes",
                       name, axis, buffer->rank, hg_dtype_bits(buffer->dtype));
    if (holo_tensor_count(buffer) < 0 || length < 0 || length > buffer->dim[axis])
        return hg_fail(e, HOLO_E_SHAPE,
                       "the cache of output '%s' is said to hold %lld rows, expected 0 to its %lld",
                       name, (long long)length, (long long)buffer->dim[axis]);
    if (p->value[v].storage != HG_STORAGE_ARENA || g->value_ready[v] != 0)
        return hg_fail(e, HOLO_E_UNSUPPORTED,
                       "output '%s' cannot grow in place: it is not made by a step of known size",
                       name);
    for (uint32_t o = 0; o < p->head.n_out; o++)
        if (o != output && p->out[o].value == v)
            return hg_fail(e, HOLO_E_UNSUPPORTED, "outputs '%s' and '%s' are the same", name,
                           p->text + p->out[o].name);
    return HOLO_OK;
}

holo_status holo_session_set_cache(holo_session *session, uint32_t input, uint32_t output,
                                   const holo_tensor *buffer, int32_t axis, int64_t length,
                                   holo_error *error)
{
    HG_TRY(cache_check_ports(session, input, output, buffer, axis, length, error));
    holo_tensor past = *buffer;
    past.dim[axis] = length;
    hg_bound_output *o = &session->output[output];
    const hg_cache_port port = {.buffer = *buffer, .input = input, .output = output, .axis = axis};
    const bool is_same = o->is_cache && session->cache->port[output].input == input &&
                         session->cache->port[output].axis == axis &&
                         memcmp(session->cache->port[output].buffer.dim, buffer->dim,
                                (size_t)buffer->rank * sizeof buffer->dim[0]) == 0;
    if (!is_same) {
        /* what set_input and set_output undo */
        HG_TRY(holo_session_set_output(session, output, NULL, 0, error));
        HG_TRY(holo_session_set_input(session, input, &past, error));
        if (session->cache == NULL) HG_TRY(cache_new(session, error));
        session->shapes_changed = true;
        session->is_bound = false;
        session->cache->port[output] = port;
        cache_mark(session, output);
        o->is_cache = true;
        session->cache->count++;
    }
    session->cache->port[output].buffer = *buffer;
    if (o->data != buffer->data) session->pointers_changed = true;
    o->data = buffer->data;
    o->bytes = holo_tensor_bytes(buffer);
    return hg_session_bind_input(session, input, &past, error);
}

int64_t holo_session_cache_length(const holo_session *session, uint32_t output)
{
    const hg_program *p = &session->graph->program;
    if (output >= p->head.n_out || !session->output[output].is_cache || !session->has_run)
        return -1;
    return hg_session_tensor(session, p->out[output].value)->dim[session->cache->port[output].axis];
}
