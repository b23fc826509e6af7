/* json.c - the report as one JSON object: everything the others show and the whole program. */
#include "report/facts.h"

#include <inttypes.h>

/* A writer that knows where commas go: `comma` holds one bit per depth. */
typedef struct json {
    hg_print *o;
    uint32_t depth;
    uint64_t comma;
    bool after_key;
} json;

static void json_next(json *j)
{
    uint64_t bit = UINT64_C(1) << j->depth;
    if (!j->after_key && (j->comma & bit) != 0) hg_print_text(j->o, ",");
    j->comma |= bit;
    j->after_key = false;
}

static void json_open(json *j, const char *bracket)
{
    json_next(j);
    hg_print_text(j->o, bracket);
    j->depth++;
    j->comma &= ~(UINT64_C(1) << j->depth);
}

static void json_close(json *j, const char *bracket)
{
    j->depth--;
    hg_print_text(j->o, bracket);
}

static void json_escape(hg_print *o, const char *text)
{
    hg_print_text(o, "\"");
    while (*text != 0) {
        size_t n = hg_print_sequence(text);
        if (n == 0 && (uint8_t)*text < 0x80)
            hg_print_format(o, "\\u%04x", (uint8_t)*text);
        else if (n == 0)
            hg_print_text(o, "\\ufffd");
        else if (*text == '"' || *text == '\\')
            hg_print_format(o, "\\%c", *text);
        else
            hg_print_put(o, text, n);
        text += n == 0 ? 1 : n;
    }
    hg_print_text(o, "\"");
}

static void json_key(json *j, const char *key)
{
    json_next(j);
    json_escape(j->o, key);
    hg_print_text(j->o, ":");
    j->after_key = true;
}

static void json_text(json *j, const char *key, const char *text)
{
    if (key != NULL) json_key(j, key);
    json_next(j);
    json_escape(j->o, text);
}

static void json_uint(json *j, const char *key, uint64_t number)
{
    if (key != NULL) json_key(j, key);
    json_next(j);
    hg_print_format(j->o, "%" PRIu64, number);
}

static void json_int(json *j, const char *key, int64_t number)
{
    if (key != NULL) json_key(j, key);
    json_next(j);
    hg_print_format(j->o, "%" PRId64, number);
}

static void json_bool(json *j, const char *key, bool truth)
{
    json_key(j, key);
    json_next(j);
    hg_print_text(j->o, truth ? "true" : "false");
}

/* Counts of operations; whole numbers far below 2^53 in practice. */
static void json_count(json *j, const char *key, double number)
{
    json_key(j, key);
    json_next(j);
    hg_print_format(j->o, "%.0f", number >= 0 && number < 1e18 ? number : 0);
}

static void json_hash(json *j, const char *key, uint64_t hash)
{
    json_key(j, key);
    json_next(j);
    hg_print_format(j->o, "\"%016" PRIx64 "\"", hash);
}

/* Text that isa/print makes, as a JSON text: collected, then escaped. */
typedef struct json_collector {
    hg_arena *arena;
    char *text;
    size_t used, capacity;
} json_collector;

static bool json_collect(void *user, const void *bytes, size_t size)
{
    json_collector *c = user;
    if (c->used + size + 1 > c->capacity) {
        size_t capacity = (c->used + size + 1) * 2;
        char *grown = hg_arena_alloc(c->arena, capacity);
        if (grown == NULL) return false;
        if (c->used != 0) memcpy(grown, c->text, c->used);
        c->text = grown;
        c->capacity = capacity;
    }
    memcpy(c->text + c->used, bytes, size);
    c->used += size;
    c->text[c->used] = 0;
    return true;
}

static void json_collected(json *j, hg_print *inner, const json_collector *c)
{
    if (!hg_print_flush(inner)) j->o->failed = true;
    json_text(j, NULL, c->text == NULL ? "" : c->text);
}

/* A number when it is one, otherwise the expression. */
static void json_dim(json *j, const hg_facts_graph *g, uint32_t dim, json_collector *c)
{
    if (g->p->dim[dim].op == HG_DIM_CONST) {
        json_int(j, NULL, g->p->dim[dim].value);
        return;
    }
    hg_print inner = {.sink = json_collect, .user = c};
    c->used = 0;
    hg_print_dim(&inner, &g->dims, dim);
    json_collected(j, &inner, c);
}

static void json_dims(json *j, const char *key, const hg_facts_graph *g, uint32_t first, uint32_t n,
                      json_collector *c)
{
    json_key(j, key);
    json_open(j, "[");
    for (uint32_t k = 0; k < n; k++)
        json_dim(j, g, g->p->list[first + k], c);
    json_close(j, "]");
}

static void json_type(json *j, const hg_facts_graph *g, uint32_t value, json_collector *c)
{
    const hg_value_rec *v = &g->p->value[value];
    json_text(j, "dtype", holo_dtype_text((holo_dtype)v->dtype));
    if (v->rank >= 0) {
        json_dims(j, "dims", g, v->dims, (uint32_t)v->rank, c);
        return;
    }
    json_key(j, "dims");
    json_next(j);
    hg_print_text(j->o, "null");
}

/* ---- graphs ------------------------------------------------------------------------------------
 */

static void json_ports(json *j, const char *key, const hg_facts_graph *g, const hg_port_rec *port,
                       uint32_t n, json_collector *c)
{
    json_key(j, key);
    json_open(j, "[");
    for (uint32_t i = 0; i < n; i++) {
        json_open(j, "{");
        json_text(j, "name", g->p->text + port[i].name);
        json_uint(j, "value", port[i].value);
        json_type(j, g, port[i].value, c);
        json_close(j, "}");
    }
    json_close(j, "]");
}

static void json_symbols(json *j, const hg_facts_graph *g)
{
    static const char *const kinds[] = {"", "input", "content", "size"};
    json_key(j, "symbols");
    json_open(j, "[");
    for (uint32_t i = 0; i < g->p->head.n_symbol; i++) {
        const hg_symbol_rec *y = &g->p->symbol[i];
        json_open(j, "{");
        json_text(j, "name", g->p->text + y->name);
        json_text(j, "kind", kinds[y->kind < HG_COUNT(kinds) ? y->kind : 0]);
        if (y->kind != HG_SYMBOL_INPUT) {
            json_uint(j, "value", y->value);
            json_uint(j, "index", y->index);
        }
        if (y->at_most >= 0) json_int(j, "at_most", y->at_most);
        json_close(j, "}");
    }
    json_close(j, "]");
}

static void json_buffers(json *j, const hg_facts_graph *g)
{
    json_key(j, "buffers");
    json_open(j, "[");
    for (uint32_t i = 0; i < g->g->n_buffer; i++) {
        const hg_span *s = &g->session->span[i];
        if (g->g->buffer_late[i]) continue;
        json_open(j, "{");
        json_uint(j, "first", s->first);
        json_uint(j, "last", s->last);
        json_uint(j, "bytes", s->bytes);
        json_uint(j, "offset", s->bytes == 0 ? 0 : s->offset);
        json_close(j, "}");
    }
    json_close(j, "]");
}

static void json_memory(json *j, const hg_facts_graph *g)
{
    json_key(j, "memory");
    json_open(j, "{");
    json_bool(j, "fixed", g->is_fixed);
    json_bool(j, "late", g->g->has_late);
    json_key(j, "sizes");
    json_open(j, "{");
    for (uint32_t i = 0; i < g->p->head.n_symbol && g->size != NULL; i++)
        if (g->p->symbol[i].kind == HG_SYMBOL_INPUT)
            json_int(j, g->p->text + g->p->symbol[i].name, g->size[i]);
    json_close(j, "}");
    if (g->session == NULL) {
        json_text(j, "unknown", g->why);
    } else {
        json_uint(j, "arena_bytes", g->session->arena_bytes);
        json_uint(j, "arena_bound", g->session->arena_bound);
        json_uint(j, "scratch_bytes", g->session->scratch_bytes);
        json_buffers(j, g);
    }
    json_close(j, "}");
}

static void json_kernels(json *j, const hg_facts_graph *g)
{
    json_key(j, "kernels");
    json_open(j, "[");
    for (uint32_t i = 0; i < g->n_kernel; i++) {
        json_open(j, "{");
        json_text(j, "name", g->kernel[i].name);
        json_text(j, "variant", g->kernel[i].variant);
        json_uint(j, "steps", g->kernel[i].steps);
        json_count(j, "flops", g->kernel[i].flops);
        json_count(j, "bytes", g->kernel[i].bytes);
        json_close(j, "}");
    }
    json_close(j, "]");
}

static void json_before(json *j, const hg_facts_graph *g)
{
    json_key(j, "operators_before");
    json_open(j, "[");
    for (uint32_t i = 0; i < g->n_before; i++) {
        char name[104] = {0};
        memcpy(name, g->before[i].name.text, g->before[i].name.length);
        json_open(j, "{");
        json_text(j, "name", name);
        json_uint(j, "count", g->before[i].count);
        json_close(j, "}");
    }
    json_close(j, "]");
}

static void json_values(json *j, const hg_facts_graph *g, json_collector *c)
{
    static const char *const places[] = {"", "input", "weight", "arena", "view"};
    json_key(j, "values");
    json_open(j, "[");
    for (uint32_t v = 1; v < g->p->head.n_value && !j->o->failed; v++) {
        const hg_value_rec *r = &g->p->value[v];
        json_open(j, "{");
        json_uint(j, "number", v);
        hg_name room;
        json_text(j, "name", hg_program_name(g->p, r->name, &room));
        json_type(j, g, v, c);
        json_text(j, "storage", places[r->storage < HG_COUNT(places) ? r->storage : 0]);
        if (r->storage != HG_STORAGE_ARENA) json_uint(j, "ref", r->ref);
        if (r->storage == HG_STORAGE_ALIAS && r->offset != 0) {
            json_key(j, "offset");
            json_dim(j, g, r->offset, c);
        }
        if (g->g->value_buffer[v] != 0) json_uint(j, "buffer", g->g->value_buffer[v] - 1);
        json_close(j, "}");
    }
    json_close(j, "]");
}

static void json_list(json *j, const char *key, const uint32_t *item, uint32_t n)
{
    json_key(j, key);
    json_open(j, "[");
    for (uint32_t k = 0; k < n; k++)
        json_uint(j, NULL, item[k]);
    json_close(j, "]");
}

static void json_step(json *j, const hg_facts_graph *g, uint32_t i, json_collector *c)
{
    const hg_step_rec *s = &g->p->step[i];
    json_open(j, "{");
    json_uint(j, "step", i);
    json_text(j, "kernel", hg_facts_step_kernel(g, i));
    if (s->op == HG_STEP_KERNEL) json_text(j, "variant", hg_facts_step_variant(g, i));
    if (s->op == HG_STEP_IF || s->op == HG_STEP_LOOP)
        json_list(j, "programs", (const uint32_t[]){s->a, s->b}, s->op == HG_STEP_IF ? 2 : 1);
    json_text(j, "device", "cpu");
    hg_name room;
    json_text(j, "node", hg_program_step_name(g->p, i, &room));
    json_list(j, "in", g->p->list + s->in, s->n_in);
    json_list(j, "out", g->p->list + s->out, s->n_out);
    if (s->op == HG_STEP_BIND)
        json_list(j, "symbols", g->p->list + s->param, s->n_param);
    else if (s->n_param != 0)
        json_dims(j, "params", g, s->param, s->n_param, c);
    if (s->code != 0) {
        hg_print inner = {.sink = json_collect, .user = c};
        c->used = 0;
        hg_print_code(&inner, g->p, s->code - 1);
        json_key(j, "code");
        json_collected(j, &inner, c);
    }
    if (g->session != NULL && s->op == HG_STEP_KERNEL && !g->g->step_late[i]) {
        const hg_cost cost = hg_session_cost(g->session, &g->session->step[i]);
        json_count(j, "flops", cost.flops);
        json_count(j, "bytes", cost.bytes);
        json_int(j, "units", g->session->step[i].units);
    }
    json_close(j, "}");
}

static void json_graph(json *j, const hg_facts_graph *g, json_collector *c)
{
    const hg_program_head *h = &g->p->head;
    json_open(j, "{");
    json_text(j, "name", g->p->text + h->name);
    json_uint(j, "program", g->number);
    json_text(j, "numerics", h->numerics == HOLO_EXACT ? "exact" : "fast");
    json_uint(j, "nodes_before", h->nodes_before);
    json_uint(j, "nodes_after", h->nodes_after);
    json_ports(j, "inputs", g, g->p->in, h->n_in, c);
    json_ports(j, "outputs", g, g->p->out, h->n_out, c);
    json_symbols(j, g);
    json_memory(j, g);
    json_before(j, g);
    json_kernels(j, g);
    json_values(j, g, c);
    json_key(j, "steps");
    json_open(j, "[");
    for (uint32_t i = 0; i < h->n_step && !j->o->failed; i++)
        json_step(j, g, i, c);
    json_close(j, "]");
    json_close(j, "}");
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static void json_weights(json *j, const hg_facts *f, json_collector *c)
{
    json_uint(j, "weight_bytes", f->model->weight_bytes);
    json_key(j, "weights");
    json_open(j, "[");
    for (size_t i = 0; i < f->n_weight && !j->o->failed; i++) {
        const hg_facts_weight *w = &f->weight[i];
        const hg_facts_graph *g = &f->graph[w->graph];
        json_open(j, "{");
        bool is_node;
        hg_name room;
        const char *name = hg_facts_weight_name(f, w, &room, &is_node);
        json_text(j, is_node ? "node" : "name", name);
        json_type(j, g, w->value, c);
        json_uint(j, "bytes", w->bytes);
        json_uint(j, "offset", w->offset);
        json_uint(j, "uses", w->uses);
        json_close(j, "}");
    }
    json_close(j, "]");
}

static void json_file(json *j, const hg_facts *f)
{
    json_text(j, "hologram", holo_version());
    json_uint(j, "version", f->head.version);
    json_uint(j, "file_bytes", f->head.size);
    json_key(j, "sections");
    json_open(j, "[");
    for (uint32_t i = 0; i < f->head.n_section; i++) {
        json_open(j, "{");
        json_text(j, "kind", hg_facts_section_text(f->section[i].kind));
        json_uint(j, "offset", f->section[i].offset);
        json_uint(j, "bytes", f->section[i].size);
        json_hash(j, "hash", f->section[i].hash);
        json_close(j, "}");
    }
    json_close(j, "]");
    json_key(j, "metadata");
    json_open(j, "[");
    for (size_t i = 0; i < f->n_meta; i++) {
        json_open(j, "{");
        json_text(j, "key", f->meta[i].key);
        json_text(j, "value", f->meta[i].value);
        json_close(j, "}");
    }
    json_close(j, "]");
}

void hg_report_json(const hg_facts *f, hg_print *o)
{
    json j = {.o = o};
    hg_arena arena;
    hg_arena_init(&arena, &f->model->alloc, 0);
    json_collector c = {.arena = &arena};
    json_open(&j, "{");
    json_file(&j, f);
    json_weights(&j, f, &c);
    json_key(&j, "graphs");
    json_open(&j, "[");
    for (uint32_t i = 0; i < f->model->n_graph; i++)
        json_graph(&j, &f->graph[i], &c);
    json_close(&j, "]");
    json_key(&j, "bodies");
    json_open(&j, "[");
    for (uint32_t i = f->model->n_graph; i < f->n_graph; i++)
        json_graph(&j, &f->graph[i], &c);
    json_close(&j, "]");
    json_close(&j, "}");
    hg_print_text(o, "\n");
    hg_arena_deinit(&arena);
}
