/* memo.c - answers that are known: those of the file, then those of earlier runs. A hit costs the
 * hash of the inputs, a comparison with them and a copy of the outputs. */
#include "runtime/memo.h"

#include "isa/deep.h"
#include "runtime/model.h"

/* ---- running --------------------------------------------------------------------------------- */

/* Where output i of a prepared session lies, with its form. */
static holo_status memo_output(const holo_session *s, uint32_t i, holo_tensor *out, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    *out = hg_session_result(s, i);
    const size_t bytes = holo_tensor_bytes(out);
    if (s->output[i].data != NULL && bytes > s->output[i].bytes)
        return hg_fail(e, HOLO_E_ARG, "output '%s' has %zu bytes, the buffer bound to it has %zu",
                       p->text + p->out[i].name, bytes, s->output[i].bytes);
    return HOLO_OK;
}

/* Outputs that are inputs or weights seen again hold their values already. */
static bool memo_writes(const holo_session *s, uint32_t i)
{
    return s->output[i].data != NULL || s->graph->value_buffer[s->graph->program.out[i].value] != 0;
}

/* Two turns: first every form is compared, then every output is written. */
static holo_status memo_stored(holo_session *s, const uint8_t *at, uint64_t left, bool *hit,
                               holo_error *e)
{
    const uint32_t n = s->graph->program.head.n_out;
    for (int turn = 0; turn < 2; turn++) {
        const uint8_t *from = at, *data;
        uint64_t rest = left;
        for (uint32_t i = 0; i < n; i++) {
            holo_tensor t;
            HG_TRY(memo_output(s, i, &t, e));
            if (!hg_memo_take(&from, &rest, &t, &data)) return HOLO_OK;
            const size_t bytes = holo_tensor_bytes(&t);
            if (turn == 1 && bytes != 0 && memo_writes(s, i)) memcpy(t.data, data, bytes);
        }
        if (rest != 0) return HOLO_OK;
    }
    *hit = true;
    return HOLO_OK;
}

static holo_status memo_grown(holo_memo *m, holo_session *s, uint32_t item, bool *hit,
                              holo_error *e)
{
    const uint32_t n = s->graph->program.head.n_out;
    const hg_memo_cursor start = hg_memo_store_value(&m->store, item);
    for (int turn = 0; turn < 2; turn++) {
        hg_memo_cursor c = start;
        for (uint32_t i = 0; i < n; i++) {
            holo_tensor t;
            HG_TRY(memo_output(s, i, &t, e));
            if (!hg_memo_store_is_form(&m->store, c, &t)) return HOLO_OK;
            if (turn == 1 && memo_writes(s, i))
                hg_memo_store_get(&m->store, &c, &t);
            else
                hg_memo_store_skip(&m->store, &c, hg_memo_bytes(&t, 1));
        }
    }
    *hit = true;
    return HOLO_OK;
}

static holo_status memo_find(holo_memo *m, holo_session *s, const hg_memo_key *key, bool *hit,
                             holo_error *e)
{
    uint64_t bytes = 0;
    const uint8_t *answer = m->stored.data == NULL
                                ? NULL
                                : hg_memo_find(&m->stored, key->tensor, key->n, key->hash, &bytes);
    if (answer != NULL) HG_TRY(memo_stored(s, answer, bytes, hit, e));
    if (*hit) return HOLO_OK;
    const uint32_t item = hg_memo_store_find(&m->store, key);
    return item == 0 ? HOLO_OK : memo_grown(m, s, item, hit, e);
}

static void memo_keep(holo_memo *m, const holo_session *s, const hg_memo_key *key)
{
    const uint32_t n = s->graph->program.head.n_out;
    size_t value_bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const holo_tensor t = hg_session_result(s, i);
        if (!hg_add_size(value_bytes, hg_memo_bytes(&t, 1), &value_bytes)) return;
    }
    const uint32_t item = hg_memo_store_add(&m->store, key, value_bytes);
    if (item == 0) {
        m->stats.too_large++;
        return;
    }
    hg_memo_cursor c = hg_memo_store_value(&m->store, item);
    for (uint32_t i = 0; i < n; i++) {
        const holo_tensor t = hg_session_result(s, i);
        hg_memo_store_put(&m->store, &c, &t);
    }
    m->stats.stored++;
}

/* What the whole inputs do not answer, a part of them may. */
static holo_status memo_compute(holo_memo *m, holo_session *s, holo_error *e)
{
    if (m->prefix.n_set == 0) return hg_session_run(s, e);
    hg_prefix_begin(&m->prefix, s);
    const holo_status status = hg_session_run(s, e);
    hg_prefix_end(&m->prefix, s, status == HOLO_OK);
    return status;
}

static holo_status memo_run(holo_memo *m, holo_session *s, holo_error *e)
{
    bool hit = false;
    HG_TRY(holo_session_prepare(s, e)); /* outputs have sizes and places */
    HG_TRY(hg_session_check(s, e));
    const uint32_t n = s->graph->program.head.n_in;
    const hg_memo_key key = {.hash = hg_memo_hash(s->input, n, m->stored.head.seed),
                             .set = HG_MEMO_WHOLE,
                             .tensor = s->input,
                             .n = n};
    HG_TRY(memo_find(m, s, &key, &hit, e));
    if (hit) {
        m->stats.hits++;
        s->has_run = true;
        return HOLO_OK;
    }
    m->stats.misses++;
    HG_TRY(memo_compute(m, s, e));
    if (m->store.count != 0) memo_keep(m, s, &key);
    return HOLO_OK;
}

/* ---- making one ------------------------------------------------------------------------------ */

/* Sizes of outputs are known before a run and all is numbers. */
static holo_status memo_check_graph(const hg_model_graph *g, holo_error *e)
{
    const hg_program *p = &g->program;
    for (uint32_t i = 0; i < p->head.n_in + p->head.n_out; i++) {
        const bool is_in = i < p->head.n_in;
        const hg_port_rec *port = is_in ? &p->in[i] : &p->out[i - p->head.n_in];
        const holo_dtype dtype = (holo_dtype)p->value[port->value].dtype;
        if (hg_is_deep(dtype))
            return hg_fail(e, HOLO_E_UNSUPPORTED, "%s '%s' is %s, a memo holds numbers only",
                           is_in ? "input" : "output", p->text + port->name,
                           holo_dtype_text(dtype));
        if (g->value_ready[port->value] != 0)
            return hg_fail(e, HOLO_E_UNSUPPORTED,
                           "the size of output '%s' depends on data, a memo needs it before a run",
                           p->text + port->name);
    }
    return HOLO_OK;
}

static holo_status memo_open_stored(holo_memo *m, holo_error *e)
{
    for (uint32_t i = 0; i < m->model->n_section; i++) {
        const hg_holo_section *section = &m->model->section[i];
        hg_memo_view view;
        if (section->kind != HG_SECTION_MEMO) continue;
        HG_TRY(hg_memo_open(m->model->data + section->offset, section->size, &view, e));
        if (view.head.graph == m->graph) m->stored = view;
    }
    return HOLO_OK;
}

static holo_status memo_memory(const holo_memo_options *o, holo_memo **out, holo_error *e)
{
    const holo_allocator alloc = hg_allocator_or_libc(o->allocator);
    const size_t own = hg_align_up(sizeof **out, HG_ALIGN);
    size_t bytes = o->memory_bytes;
    void *base = NULL;
    if (o->memory != NULL && (uintptr_t)o->memory % HG_ALIGN != 0)
        return hg_fail(e, HOLO_E_ARG, "the memo's memory is not aligned to %d bytes", HG_ALIGN);
    if (o->memory != NULL && bytes < own)
        return hg_fail(e, HOLO_E_NOMEM, "a memo needs at least %zu bytes, it was given %zu", own,
                       bytes);
    if (o->memory == NULL && bytes < own) bytes = own;
    holo_memo *m = o->memory;
    if (m == NULL && bytes < SIZE_MAX - HG_ALIGN) m = hg_alloc_aligned(&alloc, bytes, &base);
    if (m == NULL) return hg_fail_nomem(e, bytes);
    *m = (holo_memo){.run = memo_run, .alloc = alloc, .base = base, .base_bytes = bytes + HG_ALIGN};
    *out = m;
    return HOLO_OK;
}

/* The memo, what finds its parts, then answers. */
static void memo_lay_out(holo_memo *m, const holo_memo_options *o)
{
    const size_t own = hg_align_up(sizeof *m, HG_ALIGN);
    uint8_t *at = (uint8_t *)m + own;
    size_t left = m->base_bytes - HG_ALIGN - own;
    if ((o->flags & HOLO_MEMO_WHOLE) == 0) {
        const size_t parts =
            hg_prefix_init(&m->prefix, &m->model->graph[m->graph], at, left, &m->store);
        at += parts;
        left -= parts;
    }
    hg_memo_store_init(&m->store, at, left);
}

holo_status holo_memo_new(const holo_model *model, const holo_memo_options *options,
                          holo_memo **out, holo_error *error)
{
    static const holo_memo_options standard = HOLO_MEMO_OPTIONS_INIT;
    holo_memo *m = NULL;
    if (model == NULL || out == NULL)
        return hg_fail(error, HOLO_E_ARG, "model and out must not be NULL");
    if (options == NULL) options = &standard;
    if (options->struct_size != sizeof *options)
        return hg_fail(error, HOLO_E_ARG, "holo_memo_options.struct_size is %zu, expected %zu",
                       options->struct_size, sizeof *options);
    if (options->graph >= model->n_graph)
        return hg_fail(error, HOLO_E_ARG, "graph %u was asked for, the model has %u",
                       options->graph, model->n_graph);
    HG_TRY(memo_check_graph(&model->graph[options->graph], error));
    HG_TRY(memo_memory(options, &m, error));
    m->model = model;
    m->graph = options->graph;
    memo_lay_out(m, options);
    holo_status status = memo_open_stored(m, error);
    if (status != HOLO_OK) {
        holo_memo_free(m);
        return status;
    }
    *out = m;
    return HOLO_OK;
}

void holo_memo_free(holo_memo *memo)
{
    if (memo == NULL || memo->base == NULL) return;
    holo_allocator alloc = memo->alloc;
    hg_free(&alloc, memo->base, memo->base_bytes);
}

void holo_memo_get_stats(const holo_memo *memo, holo_memo_stats *out)
{
    *out = memo->stats;
    out->precomputed = memo->stored.head.n_entry;
    out->prefix_hits = memo->prefix.hits;
    out->prefix_misses = memo->prefix.misses;
    out->prefixes = memo->prefix.n_part;
    out->entries = memo->store.n_item;
    out->evicted = memo->store.evicted;
    out->bytes = (uint64_t)(memo->store.count - memo->store.n_free) * HG_MEMO_CHUNK;
    out->capacity = (uint64_t)memo->store.count * HG_MEMO_CHUNK;
}
