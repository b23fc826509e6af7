/* prepare.c - new sizes: bind symbols, evaluate dims, assign offsets, bind and check every step
 * that is not late. The only place where a session's memory grows.
 *
 * That is done in full for the first sizes. Offsets stay as long as every buffer fits into the room
 * it has, and room is made for the bounds of dims that have bounds, so that a text generator does
 * not lay out memory again for each token: then only what moves is done again (moves.c). */
#include "base/file.h"
#include "isa/deep.h"
#include "runtime/bind.h"
#include "runtime/control.h"
#include "runtime/moves.h"
#include "runtime/redzone.h"

#include <stdio.h>

static const char *prepare_text(const holo_session *s, uint32_t text)
{
    return s->graph->program.text + text;
}

/* ---- dims ------------------------------------------------------------------------------------ */

static bool prepare_has(const hg_program *p, uint32_t list, uint32_t count, uint32_t v)
{
    for (uint32_t j = 0; j < count; j++)
        if (p->list[list + j] == v) return true;
    return false;
}

/* The step that makes a value is what people can look up, or the first that reads it: a view is
 * made by none. */
static holo_status prepare_blame(const hg_program *p, uint32_t v, holo_status status, holo_error *e)
{
    for (uint32_t i = 0; status != HOLO_OK && i < p->head.n_step; i++)
        if (prepare_has(p, p->step[i].out, p->step[i].n_out, v))
            return hg_model_blame(p, i, status, e);
    for (uint32_t i = 0; status != HOLO_OK && i < p->head.n_step; i++)
        if (prepare_has(p, p->step[i].in, p->step[i].n_in, v))
            return hg_model_blame(p, i, status, e);
    return status;
}

/* Step i makes a value with the dimension, or has it as a parameter. */
static bool prepare_uses(const hg_program *p, uint32_t i, uint32_t dim)
{
    const hg_step_rec *r = &p->step[i];
    const bool has_dims = r->op == HG_STEP_KERNEL || r->op == HG_STEP_DIMS;
    for (uint32_t j = 0; has_dims && j < r->n_param; j++)
        if (p->list[r->param + j] == dim) return true;
    for (uint32_t j = 0; j < r->n_out; j++) {
        const hg_value_rec *v = &p->value[p->list[r->out + j]];
        for (int32_t k = 0; k < v->rank; k++)
            if (p->list[v->dims + (uint32_t)k] == dim) return true;
    }
    return false;
}

/* The same for a dimension: the first step that uses it, or one that is computed from it. */
static holo_status prepare_blame_dim(const hg_program *p, uint32_t dim, holo_status status,
                                     holo_error *e)
{
    for (uint32_t d = dim; d < p->head.n_dim; d++) {
        const hg_dim_rec *r = &p->dim[d];
        const bool is_op = r->op != HG_DIM_CONST && r->op != HG_DIM_SYMBOL;
        if (d != dim && !(is_op && (r->a == dim || r->b == dim || r->c == dim))) continue;
        dim = d;
        for (uint32_t i = 0; i < p->head.n_step; i++)
            if (prepare_uses(p, i, d)) return hg_model_blame(p, i, status, e);
    }
    return status;
}

holo_status hg_session_eval(holo_session *s, uint32_t dim, holo_error *e)
{
    const hg_dim_rec *r = &s->graph->program.dim[dim];
    if (r->op == HG_DIM_CONST) {
        s->dim[dim] = r->value;
    } else if (r->op == HG_DIM_SYMBOL) {
        s->dim[dim] = s->symbol[r->value];
    } else if (!hg_dim_eval_op((hg_dim_op)r->op, s->dim[r->a], s->dim[r->b], s->dim[r->c],
                               &s->dim[dim])) {
        static const char sign[] = {[HG_DIM_ADD] = '+', [HG_DIM_SUB] = '-', [HG_DIM_MUL] = '*'};
        holo_status status =
            hg_fail(e, HOLO_E_SHAPE,
                    "a size cannot be computed: %lld %c %lld overflows or divides by zero; a "
                    "number that decides a shape is too large, or 0",
                    (long long)s->dim[r->a], r->op < sizeof sign ? sign[r->op] : '/',
                    (long long)s->dim[r->b]);
        return e == NULL ? status : prepare_blame_dim(&s->graph->program, dim, status, e);
    }
    return HOLO_OK;
}

static holo_status prepare_bind_symbol(holo_session *s, uint32_t symbol, int64_t value,
                                       const char *input, int axis, holo_error *e)
{
    const hg_symbol_rec *y = &s->graph->program.symbol[symbol];
    if (y->at_most >= 0 && value > y->at_most)
        return hg_fail(e, HOLO_E_SHAPE,
                       "input '%s' has %lld in dimension %d ('%s'), compiled for at most %lld",
                       input, (long long)value, axis, prepare_text(s, y->name),
                       (long long)y->at_most);
    if (s->symbol_known[symbol] && s->symbol[symbol] != value)
        return hg_fail(
            e, HOLO_E_SHAPE,
            "input '%s' has %lld in dimension %d ('%s'), but another input has %lld there", input,
            (long long)value, axis, prepare_text(s, y->name), (long long)s->symbol[symbol]);
    s->symbol[symbol] = value;
    s->symbol_known[symbol] = 1;
    return HOLO_OK;
}

static holo_status prepare_bind_input(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *v = &p->value[p->in[i].value];
    const char *name = prepare_text(s, p->in[i].name);
    if (!s->input_set[i]) return hg_fail(e, HOLO_E_STATE, "input '%s' is not bound", name);
    const holo_tensor *t = &s->input[i];
    for (int32_t k = 0; k < v->rank; k++) {
        uint32_t d = p->list[v->dims + (uint32_t)k];
        if (p->dim[d].op == HG_DIM_SYMBOL)
            HG_TRY(prepare_bind_symbol(s, (uint32_t)p->dim[d].value, t->dim[k], name, k, e));
    }
    return HOLO_OK;
}

/* Fixed dims and expressions of them. */
static holo_status prepare_check_input(holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *v = &p->value[p->in[i].value];
    for (int32_t k = 0; k < v->rank; k++) {
        int64_t expected = s->dim[p->list[v->dims + (uint32_t)k]];
        if (s->input[i].dim[k] != expected)
            return hg_fail(e, HOLO_E_SHAPE, "input '%s' has %lld in dimension %d, expected %lld",
                           prepare_text(s, p->in[i].name), (long long)s->input[i].dim[k], k,
                           (long long)expected);
    }
    return HOLO_OK;
}

static holo_status prepare_symbols(holo_session *s, holo_error *e)
{
    const hg_program_head *h = &s->graph->program.head;
    memset(s->symbol_known, 0, h->n_symbol);
    for (uint32_t i = 0; i < h->n_in; i++)
        HG_TRY(prepare_bind_input(s, i, e));
    return HOLO_OK;
}

static holo_status prepare_dims(holo_session *s, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    for (uint32_t d = 1; d < g->program.head.n_dim; d++)
        if (g->dim_ready[d] == 0) HG_TRY(hg_session_eval(s, d, e));
    for (uint32_t i = 0; i < g->program.head.n_in; i++)
        HG_TRY(prepare_check_input(s, i, e));
    return HOLO_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* x = 1, beside another comparison: what broadcasts. */
static bool prepare_is_single(const holo_session *s, uint32_t dim)
{
    const hg_dim_rec *all = s->graph->program.dim, *r = &all[dim];
    return r->op == HG_DIM_EQ && ((all[r->a].op == HG_DIM_CONST && s->dim[r->a] == 1) ||
                                  (all[r->b].op == HG_DIM_CONST && s->dim[r->b] == 1));
}

/* The comparison that made a shape rule say no, or 0: conditions are products, of which one is 0,
 * and one minus what may not be. */
static uint32_t prepare_condition(const holo_session *s, uint32_t dim)
{
    const hg_dim_rec *all = s->graph->program.dim, *r = &all[dim];
    bool is_condition = false;
    for (; r->op != HG_DIM_EQ && r->op != HG_DIM_LT; r = &all[dim]) {
        if (r->op == HG_DIM_SELECT && !is_condition) {
            is_condition = s->dim[r->a] == 0 && all[r->c].op == HG_DIM_CONST;
            dim = is_condition ? r->a : s->dim[r->a] != 0 ? r->b : r->c;
        } else if (is_condition && r->op == HG_DIM_MUL) {
            dim = s->dim[r->a] == 0 ? r->a : r->b;
        } else if (is_condition && r->op == HG_DIM_MAX) {
            dim = prepare_is_single(s, r->a) ? r->b : r->a;
        } else if (is_condition && r->op == HG_DIM_SUB) {
            dim = r->b;
        } else {
            return 0;
        }
    }
    return is_condition ? dim : 0;
}

/* A size below zero is a shape rule's way to say no, too. */
static holo_status prepare_fail_size(const holo_session *s, uint32_t v, int32_t k, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const uint32_t d = prepare_condition(s, p->list[p->value[v].dims + (uint32_t)k]);
    const long long size = hg_session_tensor(s, v)->dim[k], a = s->dim[p->dim[d].a],
                    b = s->dim[p->dim[d].b];
    hg_name room;
    const char *name = hg_program_value_name(p, v, &room);
    holo_status status = HOLO_E_SHAPE;
    if (d == 0)
        status = hg_fail(e, status,
                         "dimension %d of value '%s' would be %lld, expected 0 or more: the shapes "
                         "or the sizes it is computed from do not fit",
                         k, name, size);
    else if (s->dim[d] != 0)
        status = hg_fail(e, status,
                         "the shape of value '%s' does not fit: a size it depends on is %lld, "
                         "which changes the rank; fix that size when compiling",
                         name, a);
    else
        status = hg_fail(e, status, "the shape of value '%s' does not fit: %lld is %s %lld", name,
                         a, p->dim[d].op == HG_DIM_EQ ? "not" : "not below", b);
    return prepare_blame(p, v, status, e);
}

holo_status hg_session_shape_value(holo_session *s, uint32_t v, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *r = &p->value[v];
    holo_tensor *t = hg_session_tensor(s, v);
    hg_name room;
    t->dtype = (holo_dtype)r->dtype;
    if (r->rank < 0) return HOLO_OK; /* set by its kernel */
    t->rank = r->rank;
    for (int32_t k = 0; k < r->rank; k++) {
        t->dim[k] = s->dim[p->list[r->dims + (uint32_t)k]];
        if (t->dim[k] < 0) return prepare_fail_size(s, v, k, e);
    }
    const int64_t count = holo_tensor_count(t);
    size_t bytes;
    if (HG_UNLIKELY(!hg_dtype_bytes(t->dtype, count, &bytes) || bytes > s->limits.tensor_bytes ||
                    (uint64_t)count > s->limits.tensor_elements))
        return prepare_blame(p, v,
                             hg_session_check_size(s, t, hg_program_value_name(p, v, &room), e), e);
    const hg_model_strings *strings = r->storage == HG_STORAGE_WEIGHT && t->dtype == HOLO_STRING
                                          ? &s->graph->strings[r->ref]
                                          : NULL;
    if (strings != NULL && (uint64_t)count > strings->count)
        return hg_fail(e, HOLO_E_FORMAT, "weight '%s' has %llu strings, its shape needs %lld",
                       hg_program_name(p, r->name, &room), (unsigned long long)strings->count,
                       (long long)count);
    if (strings != NULL) return HOLO_OK;
    if (r->storage == HG_STORAGE_WEIGHT && bytes > p->weight[r->ref].bytes)
        return hg_fail(e, HOLO_E_FORMAT, "weight '%s' has %llu bytes, its shape needs %zu",
                       hg_program_name(p, r->name, &room),
                       (unsigned long long)p->weight[r->ref].bytes, bytes);
    return HOLO_OK;
}

/* A view lies inside what it is a view of. */
static holo_status prepare_address_alias(holo_session *s, uint32_t v, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *r = &p->value[v];
    hg_name room, other;
    const holo_tensor *t = hg_session_tensor(s, v), *from = hg_session_tensor(s, r->ref);
    size_t bytes = holo_tensor_bytes(t), whole = holo_tensor_bytes(from), offset = 0;
    int64_t first = r->offset == 0 ? 0 : s->dim[r->offset];
    if (first < 0 || !hg_dtype_bytes(t->dtype, first, &offset) || offset > whole ||
        bytes > whole - offset)
        return hg_fail(
            e, HOLO_E_SHAPE,
            "value '%s' is a view of %zu bytes at element %lld of '%s', which has %zu bytes",
            hg_program_value_name(p, v, &room), bytes, (long long)first,
            hg_program_value_name(p, r->ref, &other), whole);
    hg_session_tensor(s, v)->data = from->data == NULL ? NULL : (uint8_t *)from->data + offset;
    return HOLO_OK;
}

holo_status hg_session_address_value(holo_session *s, uint32_t v, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    const hg_value_rec *r = &g->program.value[v];
    switch ((hg_storage)r->storage) {
    case HG_STORAGE_INPUT: hg_session_tensor(s, v)->data = s->input[r->ref].data; return HOLO_OK;
    case HG_STORAGE_WEIGHT:
        if (r->dtype == HOLO_STRING) {
            hg_session_tensor(s, v)->data = (void *)(uintptr_t)g->strings[r->ref].item;
            return HOLO_OK;
        }
        /* The mapping is read-only; no kernel writes to its inputs. */
        hg_session_tensor(s, v)->data =
            (void *)(uintptr_t)(s->model->weights + g->program.weight[r->ref].offset);
        return HOLO_OK;
    case HG_STORAGE_ARENA: {
        uint32_t b = g->value_buffer[v]; /* 0: no step computes it */
        if (b != 0 && !g->buffer_late[b - 1] && s->slab.data != NULL)
            hg_session_tensor(s, v)->data = (uint8_t *)s->slab.data + s->span[b - 1].offset;
        return HOLO_OK;
    }
    case HG_STORAGE_ALIAS: return prepare_address_alias(s, v, e);
    }
    return HOLO_OK;
}

hg_span *hg_session_span(holo_session *s, uint32_t v)
{
    const hg_model_graph *g = s->graph;
    uint32_t b = g->value_buffer[v];
    if (b == 0 || g->value_ready[v] != 0 || g->program.value[v].storage != HG_STORAGE_ARENA)
        return NULL;
    if (s->cache != NULL && s->cache->of[v] != 0) return NULL;
    return &s->span[b - 1];
}

/* Equal lists of dims are one list in a program, and many values have the same: of those met last
 * one is looked up. */
enum { PREPARE_KNOWN = 64 };

typedef struct prepare_known {
    uint32_t value[PREPARE_KNOWN]; /* 0: none */
    size_t bytes[PREPARE_KNOWN];
} prepare_known;

/* Value v has the type and dims of value `like`, which are as they should be, and lies where that
 * many bytes are no question. */
static bool prepare_is_like(const hg_program *p, uint32_t v, uint32_t like, size_t bytes)
{
    const hg_value_rec *r = &p->value[v], *known = &p->value[like];
    if (r->dims != known->dims || r->rank != known->rank || r->dtype != known->dtype) return false;
    return r->storage != HG_STORAGE_WEIGHT ||
           (r->dtype != HOLO_STRING && bytes <= p->weight[r->ref].bytes);
}

/* Gives value v its shape and says how many bytes that is. */
static holo_status prepare_shape(holo_session *s, uint32_t v, prepare_known *known, size_t *bytes,
                                 holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const uint32_t i = (p->value[v].dims * UINT32_C(0x9e3779b1)) >> 26;
    holo_tensor *t = hg_session_tensor(s, v);
    if (known->value[i] != 0 && prepare_is_like(p, v, known->value[i], known->bytes[i])) {
        void *data = t->data;
        *t = *hg_session_tensor(s, known->value[i]);
        t->data = data;
        *bytes = known->bytes[i];
        return HOLO_OK;
    }
    HG_TRY(hg_session_shape_value(s, v, e));
    *bytes = holo_tensor_bytes(t);
    if (p->value[v].rank <= 0) return HOLO_OK;
    known->value[i] = v;
    known->bytes[i] = *bytes;
    return HOLO_OK;
}

/* Shapes of all values. `fits`: buffers have room for them; with `all` they are given it. */
static holo_status prepare_shapes(holo_session *s, bool all, bool *fits, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    prepare_known known = {.value = {0}};
    size_t bytes;
    *fits = !all;
    for (uint32_t b = 0; all && b < g->n_buffer; b++)
        s->span[b] = (hg_span){.first = g->buffer_first[b], .last = g->buffer_last[b]};
    for (uint32_t v = 1; v < g->program.head.n_value; v++) {
        if (g->value_ready[v] != 0) continue;
        HG_TRY(prepare_shape(s, v, &known, &bytes, e));
        hg_span *span = hg_session_span(s, v);
        if (span == NULL) continue;
        if (bytes != 0) bytes += HG_REDZONE_BYTES;
        if (bytes <= span->bytes) continue;
        *fits = false;
        if (all) span->bytes = bytes;
    }
    return HOLO_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

holo_status hg_session_account(holo_session *s, size_t before, size_t now, holo_error *e)
{
    hg_shared *h = s->shared;
    uint64_t all = h->memory - before + now;
    if (h->memory_limit != 0 && all > h->memory_limit)
        return hg_fail(e, HOLO_E_LIMIT,
                       "the session would need %llu bytes, its limit is %llu (limits.memory_bytes)",
                       (unsigned long long)all, (unsigned long long)h->memory_limit);
    h->memory = all;
    return HOLO_OK;
}

/* From the caller's memory, one after the other; the last one can grow. */
static holo_status prepare_carve(hg_shared *h, hg_slab *slab, size_t bytes, holo_error *e)
{
    const bool is_last =
        slab->data != NULL && (uint8_t *)slab->data + slab->bytes == h->room + h->room_used;
    const size_t start = is_last ? h->room_used - slab->bytes : h->room_used;
    bytes = hg_align_up(bytes, HG_ALIGN);
    if (bytes > h->room_bytes - start)
        return hg_fail(e, HOLO_E_NOMEM, "the session needs %zu bytes, it was given %zu",
                       start + bytes, h->room_bytes);
    *slab = (hg_slab){.data = h->room + start, .bytes = bytes};
    h->room_used = start + bytes;
    return HOLO_OK;
}

void hg_session_release(holo_session *s, hg_slab *slab)
{
    hg_free(&s->alloc, slab->base, slab->taken);
    *slab = (hg_slab){0};
}

/* On large pages where a run will fill them. */
static bool prepare_take(holo_session *s, hg_slab *slab, size_t bytes)
{
    const bool is_large = bytes >= HG_LARGE_PAGE && !s->is_ahead && hg_allocator_is_libc(&s->alloc);
    const size_t align = is_large ? HG_LARGE_PAGE : HG_ALIGN;
    void *base = bytes > SIZE_MAX - align ? NULL : hg_alloc(&s->alloc, bytes + align);
    if (base == NULL) return false;
    *slab = (hg_slab){.data = (void *)hg_align_up((size_t)(uintptr_t)base, align),
                      .base = base,
                      .bytes = bytes,
                      .taken = bytes + align,
                      .wants_large = is_large};
    return true;
}

holo_status hg_session_reserve(holo_session *s, hg_slab *slab, size_t bytes, holo_error *e)
{
    if (bytes <= slab->bytes) return HOLO_OK;
    if (s->shared->room != NULL) return prepare_carve(s->shared, slab, bytes, e);
    HG_TRY(hg_session_account(s, slab->bytes, bytes, e));
    hg_session_release(s, slab);
    if (prepare_take(s, slab, bytes)) return HOLO_OK;
    s->shared->memory -= bytes;
    return hg_fail_nomem(e, bytes);
}

/* New sizes lay the caller's memory out anew, that of bodies too. */
static void prepare_forget(holo_session *s)
{
    s->slab = (hg_slab){0};
    s->shapes_changed = true;
    for (uint32_t i = 0; i < s->n_control; i++) {
        s->control[i]->block = (hg_slab){0};
        for (uint32_t k = 0; k < 2; k++)
            if (s->control[i]->body[k] != NULL) prepare_forget(s->control[i]->body[k]);
    }
}

/* Bytes of value v with other dims than its own; 0 where that makes no sense. */
static size_t prepare_bytes_at(const holo_session *s, uint32_t v, const int64_t *dim)
{
    const hg_program *p = &s->graph->program;
    const hg_value_rec *r = &p->value[v];
    holo_tensor t = {.rank = r->rank, .dtype = (holo_dtype)r->dtype};
    for (int32_t k = 0; k < r->rank; k++)
        t.dim[k] = dim[p->list[r->dims + (uint32_t)k]];
    size_t bytes = r->rank < 0 ? SIZE_MAX : holo_tensor_bytes(&t);
    return bytes > s->limits.tensor_bytes ? 0 : bytes;
}

/* Buffers get room for every value with these dims. */
static void prepare_widen(holo_session *s, const int64_t *dim)
{
    for (uint32_t v = 1; v < s->graph->program.head.n_value; v++) {
        hg_span *span = hg_session_span(s, v);
        size_t bytes = span == NULL ? 0 : prepare_bytes_at(s, v, dim);
        if (bytes != 0 && bytes + HG_REDZONE_BYTES > span->bytes)
            span->bytes = bytes + HG_REDZONE_BYTES;
    }
}

/* A bound that nobody means is no reason to take all memory. */
static const size_t prepare_most_ahead = (size_t)1 << 28;

static void prepare_exact(holo_session *s)
{
    for (uint32_t b = 0; b < s->graph->n_buffer; b++)
        s->span[b].bytes = 0;
    prepare_widen(s, s->dim);
}

/* Room for the largest sizes of dims that have a bound; true when there are some. Dims are put
 * back. */
static bool prepare_bounds(holo_session *s)
{
    const hg_model_graph *g = s->graph;
    const hg_program *p = &g->program;
    bool is_bounded = false;
    for (uint32_t i = 0; i < p->head.n_symbol; i++)
        is_bounded |= p->symbol[i].kind == HG_SYMBOL_INPUT && p->symbol[i].at_most > s->symbol[i];
    if (!is_bounded) return false;
    for (uint32_t d = 1; d < p->head.n_dim; d++) {
        const hg_dim_rec *r = &p->dim[d];
        if (g->dim_ready[d] != 0) continue;
        if (r->op == HG_DIM_SYMBOL)
            s->dim[d] = hg_max(s->dim[d], p->symbol[r->value].at_most);
        else if (r->op != HG_DIM_CONST && !hg_dim_eval_op((hg_dim_op)r->op, s->dim[r->a],
                                                          s->dim[r->b], s->dim[r->c], &s->dim[d]))
            s->dim[d] = 0;
    }
    prepare_widen(s, s->dim);
    for (uint32_t d = 1; d < p->head.n_dim; d++)
        if (g->dim_ready[d] == 0) (void)!hg_session_eval(s, d, NULL); /* it could before */
    size_t all = 0;
    for (uint32_t b = 0; b < g->n_buffer && all <= prepare_most_ahead; b++)
        all += s->span[b].bytes;
    if (all > prepare_most_ahead) prepare_exact(s);
    return all <= prepare_most_ahead;
}

/* Nobody says how much memory there is: some may be taken ahead. */
static bool prepare_is_free(const holo_session *s)
{
    return s->shared->room == NULL && s->shared->memory_limit == 0 &&
           (s->flags & HOLO_SESSION_MEASURE) == 0;
}

/* Sizes that have grown once will grow again: a 32nd more, and each time twice that until it is a
 * quarter, spares most of the next layouts. */
static void prepare_grow(holo_session *s)
{
    const bool is_free = prepare_is_free(s);
    prepare_exact(s);
    for (uint32_t b = 0; is_free && b < s->graph->n_buffer; b++)
        s->span[b].bytes += s->span[b].bytes >> (5 - s->n_grown);
    if (s->n_grown < 3) s->n_grown++;
}

static holo_status prepare_layout(holo_session *s, bool all, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    if (!all) prepare_grow(s);
    hg_moves_widened(s);
    s->is_ahead = prepare_is_free(s) && prepare_bounds(s);
    const uint32_t n_step = g->program.head.n_step;
    uint32_t peak;
    s->arena_bound = hg_offsets_bound(s->span, g->n_buffer, n_step, s->live, &peak);
    s->arena_bytes =
        hg_offsets_assign(s->span, g->n_buffer, n_step, s->arena_bound, peak, g->places, s->room);
    if (s->arena_bytes == SIZE_MAX)
        return hg_fail(e, HOLO_E_LIMIT,
                       "the sizes of this model add up to more than memory can hold");
    return HOLO_OK;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static bool prepare_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes != 0 && b_bytes != 0 && (x < y ? y - x < a_bytes : x - y < b_bytes);
}

/* Two results cannot have one place. */
static holo_status prepare_output_places(const holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    const hg_bound_output *o = s->output;
    for (uint32_t k = 0; k < i; k++)
        if (o[k].data != NULL && prepare_overlap(o[k].data, o[k].bytes, o[i].data, o[i].bytes))
            return hg_fail(e, HOLO_E_ARG, "outputs '%s' and '%s' are bound to buffers that overlap",
                           prepare_text(s, p->out[k].name), prepare_text(s, p->out[i].name));
    return HOLO_OK;
}

/* A result that would overwrite what steps still read is computed elsewhere and copied. */
static bool prepare_is_read(const holo_session *s, uint32_t i, size_t bytes)
{
    for (uint32_t k = 0; k < s->graph->program.head.n_in; k++)
        if (prepare_overlap(s->input[k].data, holo_tensor_bytes(&s->input[k]), s->output[i].data,
                            bytes))
            return true;
    return false;
}

/* A cache is written before everything has been read: nothing else may lie in its buffer. */
static holo_status prepare_check_cache(const holo_session *s, uint32_t i, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t k = 0; k < p->head.n_in; k++)
        if (k != s->cache->port[i].input &&
            prepare_overlap(s->input[k].data, holo_tensor_bytes(&s->input[k]), s->output[i].data,
                            s->output[i].bytes))
            return hg_fail(e, HOLO_E_ARG, "input '%s' lies in the cache of output '%s'",
                           prepare_text(s, p->in[k].name), prepare_text(s, p->out[i].name));
    return HOLO_OK;
}

/* Results go straight to the caller's buffer when they are big enough for it. */
static holo_status prepare_outputs(holo_session *s, holo_error *e)
{
    const bool is_graph = s->shared == &s->own; /* what bodies are given is planned */
    const hg_model_graph *g = s->graph;
    for (uint32_t i = 0; i < g->program.head.n_out; i++) {
        uint32_t v = g->program.out[i].value;
        if (s->output[i].data == NULL) continue;
        if (is_graph) HG_TRY(prepare_output_places(s, i, e));
        if (g->value_ready[v] != 0 || hg_is_deep(hg_session_tensor(s, v)->dtype)) continue;
        size_t bytes = holo_tensor_bytes(hg_session_tensor(s, v));
        if (bytes > s->output[i].bytes)
            return hg_fail(e, HOLO_E_ARG,
                           "output '%s' has %zu bytes, the buffer bound to it has %zu",
                           prepare_text(s, g->program.out[i].name), bytes, s->output[i].bytes);
        if (s->output[i].is_cache) HG_TRY(prepare_check_cache(s, i, e));
        if (g->program.value[v].storage == HG_STORAGE_ARENA &&
            (s->output[i].is_cache || !(is_graph && prepare_is_read(s, i, bytes))))
            hg_session_tensor(s, v)->data = s->output[i].data;
    }
    return HOLO_OK;
}

/* Whether a result may come to lie elsewhere because sizes have changed. */
static bool prepare_may_switch(const holo_session *s)
{
    bool may = false;
    for (uint32_t i = 0; i < s->graph->program.head.n_out; i++)
        may |= s->output[i].data != NULL && !s->output[i].is_cache;
    return may;
}

/* Addresses of values, views last: they follow what they are views of. */
static holo_status prepare_addresses(holo_session *s, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    const hg_value_rec *rec = g->program.value;
    for (uint32_t v = 1; v < g->program.head.n_value; v++)
        if (g->value_ready[v] == 0 && rec[v].storage != HG_STORAGE_ALIAS)
            HG_TRY(hg_session_address_value(s, v, e));
    HG_TRY(prepare_outputs(s, e));
    for (uint32_t v = 1; v < g->program.head.n_value; v++)
        if (g->value_ready[v] == 0 && rec[v].storage == HG_STORAGE_ALIAS)
            HG_TRY(hg_session_address_value(s, v, e));
    return HOLO_OK;
}

holo_status hg_session_rebind(holo_session *s, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    HG_TRY(prepare_addresses(s, e));
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        if (s->graph->step_late[i]) continue;
        const hg_step_rec *r = &p->step[i];
        holo_tensor *in = s->step[i].in;
        for (uint32_t k = 0; k < r->n_in; k++)
            if (p->list[r->in + k] != 0)
                in[k].data = hg_session_tensor(s, p->list[r->in + k])->data;
        for (uint32_t k = 0; k < r->n_out; k++)
            if (p->list[r->out + k] != 0)
                hg_step_out(&s->step[i])[k].data = hg_session_tensor(s, p->list[r->out + k])->data;
    }
    s->pointers_changed = false;
    return HOLO_OK;
}

/* Room for `bytes`, and for the lists of what moves where nobody says how much there is. */
static holo_status prepare_slab(holo_session *s, size_t bytes, holo_error *e)
{
    const size_t lists = prepare_is_free(s) ? hg_moves_bytes(s->graph) : 0;
    if (bytes + lists <= s->slab.bytes) return HOLO_OK;
    if (s->slab.data != NULL && prepare_is_free(s)) bytes += bytes / 4;
    bytes = hg_align_up(bytes, HG_ALIGN);
    HG_TRY(hg_session_reserve(s, &s->slab, bytes + lists, e));
    hg_moves_new_room(s, lists == 0 ? NULL : (uint8_t *)s->slab.data + bytes);
    return HOLO_OK;
}

/* `same`: buffers and views lie where they did in the slab. */
static holo_status prepare_memory(holo_session *s, bool same, holo_error *e)
{
    const void *before = s->slab.data;
    size_t bytes;
    if (!hg_mul_size(s->scratch_bytes, s->threads, &bytes) ||
        !hg_add_size(s->arena_bytes, bytes, &bytes) || bytes > SIZE_MAX / 2)
        return hg_fail_nomem(e, s->scratch_bytes);
    HG_TRY(prepare_slab(s, bytes, e));
    same = same && s->slab.data == before && !s->pointers_changed && !prepare_may_switch(s);
    HG_TRY(same ? prepare_outputs(s, e) : hg_session_rebind(s, e));
    for (uint32_t i = 0; s->graph->has_parts && i < s->graph->program.head.n_step; i++)
        if (!s->graph->step_late[i]) HG_TRY(hg_session_check_parts(s, i, e));
    if (s->graph->has_late && s->late.n_chunk == 0) {
        HG_TRY(hg_session_account(s, 0, (size_t)1 << 20, e));
        HG_TRY(hg_late_add(&s->late, &s->alloc, (size_t)1 << 20, e));
    }
    return HOLO_OK;
}

/* Everything anew; with `all` even where buffers lie. */
static holo_status prepare_all(holo_session *s, bool all, holo_error *e)
{
    bool fits;
    if (all) {
        s->scratch_bytes = 0;
        hg_session_find_alike(s);
        hg_moves_forget(s);
    }
    HG_TRY(prepare_dims(s, e));
    HG_TRY(prepare_shapes(s, all, &fits, e));
    if (!fits) HG_TRY(prepare_layout(s, all, e));
    return hg_session_bind_steps(s, e);
}

holo_status hg_session_prepare(holo_session *s, holo_error *e)
{
    /* What the caller gives or asks to be measured is laid out for these sizes alone. */
    const bool all =
        !s->is_bound || s->shared->room != NULL || (s->flags & HOLO_SESSION_MEASURE) != 0;
    s->shapes_changed = true; /* until everything below has worked */
    s->has_run = s->is_bound = false;
    if (s->own.room != NULL) {
        prepare_forget(s);
        s->own.room_used = 0;
    }
    HG_TRY(prepare_symbols(s, e));
    const bool same = !all && hg_moves_apply(s);
    if (!same) HG_TRY(prepare_all(s, all, e));
    if ((s->flags & HOLO_SESSION_MEASURE) == 0) HG_TRY(prepare_memory(s, same, e));
    for (uint32_t i = 0; s->n_control != 0 && i < s->graph->program.head.n_step; i++)
        if (s->step[i].control != NULL && !s->graph->step_late[i])
            HG_TRY(hg_control_prepare(s, i, e));
    s->shapes_changed = false;
    s->is_bound = true;
    return HOLO_OK;
}
