/* facts.c - gathers what the reports say. Sizes, memory and work come from a session that is
 * prepared but never run: the same code decides them for a real run. */
#include "report/facts.h"

#include "archive/read.h"
#include "report/assume.h"

#include <stdio.h>
#include <stdlib.h>

#define FACTS_NEW(f, count, out, e)                                                                \
    ((*(out) = hg_arena_array(&(f)->arena, (size_t)(count) + 1, sizeof **(out))) != NULL           \
         ? HOLO_OK                                                                                 \
         : hg_fail_nomem((e), sizeof **(out)))

/* ---- words -------------------------------------------------------------------------------------
 */

const char *hg_facts_step_kernel(const hg_facts_graph *g, uint32_t step)
{
    const hg_step_rec *s = &g->p->step[step];
    switch ((hg_opcode)s->op) {
    case HG_STEP_KERNEL: return g->p->text + g->p->kernel[s->kernel];
    case HG_STEP_BIND: return "bind";
    case HG_STEP_DIMS: return "dims";
    case HG_STEP_IF: return "if";
    case HG_STEP_LOOP: return "loop";
    }
    return "";
}

static const char *facts_variant(const hg_kernel *kernel)
{
    if (kernel == NULL) return "missing"; /* imported but called by no step */
    if ((kernel->cpu & HG_CPU_AVX512) != 0) return "avx512";
    if ((kernel->cpu & HG_CPU_AVX2) != 0) return "avx2";
    if ((kernel->cpu & HG_CPU_DOTPROD) != 0) return "dotprod";
    if ((kernel->cpu & HG_CPU_NEON) != 0) return "neon";
    if ((kernel->cpu & HG_CPU_WASM) != 0) return "wasm";
    return kernel->cpu == 0 ? "reference" : "tuned";
}

const char *hg_facts_step_variant(const hg_facts_graph *g, uint32_t step)
{
    const hg_step_rec *s = &g->p->step[step];
    return s->op == HG_STEP_KERNEL ? facts_variant(g->g->kernel[s->kernel]) : "";
}

const char *hg_facts_section_text(uint32_t kind)
{
    switch (kind) {
    case HG_SECTION_PROGRAM: return "program";
    case HG_SECTION_WEIGHTS: return "weights";
    case HG_SECTION_META: return "metadata";
    case HG_SECTION_NAMES: return "names";
    case HG_SECTION_CERTS: return "proofs";
    case HG_SECTION_MEMO: return "memo";
    case HG_SECTION_PLACES: return "places";
    default: return "unknown";
    }
}

static const char *facts_quantity(double value, const char *unit, char *text)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    size_t i = 0;
    for (; value >= 1000 && i + 1 < HG_COUNT(prefix); i++)
        value /= 1000;
    snprintf(text, 24, i == 0 ? "%.0f %s%s" : "%.2f %s%s", value, prefix[i], unit);
    return text;
}

const char *hg_facts_bytes(double bytes, char *text)
{
    return facts_quantity(bytes, "B", text);
}

const char *hg_facts_flops(double flops, char *text)
{
    return facts_quantity(flops, "FLOP", text);
}

const char *hg_facts_weight_name(const hg_facts *f, const hg_facts_weight *w, hg_name *room,
                                 bool *is_node)
{
    const hg_facts_graph *g = &f->graph[w->graph];
    const char *name = hg_program_name(g->p, g->p->value[w->value].name, room);
    *is_node = name[0] == 0 && g->reader[w->value] != 0;
    return *is_node ? hg_program_step_name(g->p, g->reader[w->value] - 1, room) : name;
}

/* ---- file and metadata -------------------------------------------------------------------------
 */

static holo_status facts_sections(hg_facts *f, holo_error *e)
{
    const holo_model *m = f->model;
    memcpy(&f->head, m->data, sizeof f->head);
    /* Memory of the caller does not change; a mapped file may, and then its size is what bounds us.
     */
    size_t size = m->file.data != NULL ? m->file.size : (size_t)f->head.size;
    HG_TRY(hg_holo_head_read(m->data, size, &f->head, e));
    HG_TRY(FACTS_NEW(f, f->head.n_section, &f->section, e));
    memcpy(f->section, m->data + sizeof f->head, f->head.n_section * sizeof *f->section);
    return hg_holo_check(&f->head, f->section, size, e);
}

static bool facts_is_before(const char *key)
{
    return strcmp(key, "holo.before") == 0;
}

static void facts_meta_count(void *user, const char *key, const char *value)
{
    size_t *n = user;
    (void)key;
    (void)value;
    ++*n;
}

static void facts_meta_take(void *user, const char *key, const char *value)
{
    hg_facts *f = user;
    if (!facts_is_before(key)) f->meta[f->n_meta++] = (hg_facts_pair){key, value};
}

static int facts_by_count(const void *a, const void *b)
{
    const hg_facts_operator *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x->name.text < y->name.text ? -1 : 1;
}

/* Operators have plain names, "Conv" or "com.microsoft:Gelu"; a file may say anything. */
static bool facts_is_operator(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && strchr("._:-", c) == NULL) return false;
    }
    return length > 0 && length <= 100;
}

/* "Conv 53,Relu 49" as a list; what has another form is left out. */
static holo_status facts_parse_before(hg_facts *f, hg_facts_graph *g, const char *text,
                                      holo_error *e)
{
    size_t n = 1;
    for (const char *c = text; *c != 0; c++)
        n += *c == ',';
    HG_TRY(FACTS_NEW(f, n, &g->before, e));
    while (*text != 0) {
        size_t length = strcspn(text, ","), space = length;
        while (space > 0 && text[space - 1] != ' ')
            space--;
        uint32_t count = 0;
        for (size_t i = space; i < length && count < 100000000; i++)
            count = text[i] >= '0' && text[i] <= '9' ? count * 10 + (uint32_t)(text[i] - '0') : 0;
        if (space > 1 && count != 0 && facts_is_operator(text, space - 1))
            g->before[g->n_before++] = (hg_facts_operator){{text, space - 1}, count};
        text += length + (text[length] == ',');
    }
    if (g->n_before > 1) qsort(g->before, g->n_before, sizeof *g->before, facts_by_count);
    return HOLO_OK;
}

/* Each graph has its own entry, in the order of the graphs. */
typedef struct facts_before {
    hg_facts *f;
    holo_error *e;
    holo_status status;
    uint32_t graph;
} facts_before;

static void facts_before_take(void *user, const char *key, const char *value)
{
    facts_before *b = user;
    if (!facts_is_before(key) || b->graph >= b->f->model->n_graph || b->status != HOLO_OK) return;
    b->status = facts_parse_before(b->f, &b->f->graph[b->graph++], value, b->e);
}

static holo_status facts_meta(hg_facts *f, holo_error *e)
{
    size_t n = 0;
    facts_before before = {.f = f, .e = e};
    holo_model_metadata(f->model, facts_meta_count, &n);
    HG_TRY(FACTS_NEW(f, n, &f->meta, e));
    holo_model_metadata(f->model, facts_meta_take, f);
    holo_model_metadata(f->model, facts_before_take, &before);
    return before.status;
}

/* ---- weights -----------------------------------------------------------------------------------
 */

static int facts_by_offset(const void *a, const void *b)
{
    const hg_facts_weight *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->graph != y->graph) return x->graph < y->graph ? -1 : 1;
    return x->value < y->value ? -1 : 1;
}

static int facts_by_size(const void *a, const void *b)
{
    const hg_facts_weight *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Values that share a place in the section are one weight. */
static void facts_merge_weights(hg_facts *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->n_weight; i++) {
        hg_facts_weight *w = &f->weight[i], *last = kept == 0 ? NULL : &f->weight[kept - 1];
        if (last != NULL && last->offset == w->offset && last->bytes == w->bytes)
            last->uses++;
        else
            f->weight[kept++] = *w;
    }
    f->n_weight = kept;
}

static holo_status facts_weights(hg_facts *f, holo_error *e)
{
    size_t n = 0;
    for (uint32_t i = 0; i < f->n_graph; i++)
        n += f->graph[i].p->head.n_value;
    HG_TRY(FACTS_NEW(f, n, &f->weight, e));
    for (uint32_t i = 0; i < f->n_graph; i++) {
        const hg_program *p = f->graph[i].p;
        for (uint32_t v = 1; v < p->head.n_value; v++) {
            if (p->value[v].storage != HG_STORAGE_WEIGHT) continue;
            const hg_weight_rec *w = &p->weight[p->value[v].ref];
            f->weight[f->n_weight++] = (hg_facts_weight){i, v, 1, w->offset, w->bytes};
        }
    }
    if (f->n_weight > 1) qsort(f->weight, f->n_weight, sizeof *f->weight, facts_by_offset);
    facts_merge_weights(f);
    if (f->n_weight > 1) qsort(f->weight, f->n_weight, sizeof *f->weight, facts_by_size);
    return HOLO_OK;
}

/* ---- sizes -------------------------------------------------------------------------------------
 */

/* A picture network refuses 1 x 1, so some sizes are tried. A model whose sizes cannot be settled
 * here is still worth a report: the sentence becomes part of it. */
static holo_status facts_settle(hg_facts *f, hg_facts_graph *g, uint32_t number, holo_error *e)
{
    static const int64_t sizes[] = {1, 32, 64, 256};
    holo_error own = {0};
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    options.graph = number;
    hg_assumed assumed;
    HG_TRY(FACTS_NEW(f, g->p->head.n_dim, &assumed.dim, e));
    HG_TRY(FACTS_NEW(f, g->p->head.n_symbol, &assumed.size, e));
    g->size = assumed.size;
    holo_status status = holo_session_new(f->model, &options, &g->session, &own);
    for (size_t i = 0; i < HG_COUNT(sizes) && status == HOLO_OK; i++) {
        status = hg_assume(g->session, sizes[i], &assumed, &own);
        g->is_fixed = assumed.is_fixed;
        if (status == HOLO_OK) return HOLO_OK;
        if (!g->is_fixed) status = HOLO_OK; /* another size may do */
    }
    holo_session_free(g->session);
    g->session = NULL;
    g->why = hg_str_copy(&f->arena, hg_str_from(own.message)).text;
    return g->why != NULL ? HOLO_OK : hg_fail_nomem(e, sizeof own.message);
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static int facts_by_steps(const void *a, const void *b)
{
    const hg_facts_kernel *x = a, *y = b;
    if (x->steps != y->steps) return x->steps < y->steps ? 1 : -1;
    return x->import < y->import ? -1 : 1;
}

static holo_status facts_kernels(hg_facts *f, hg_facts_graph *g, holo_error *e)
{
    const hg_program *p = g->p;
    g->n_kernel = p->head.n_kernel;
    HG_TRY(FACTS_NEW(f, g->n_kernel, &g->kernel, e));
    HG_TRY(FACTS_NEW(f, g->n_kernel, &g->kernel_rank, e));
    for (uint32_t i = 0; i < g->n_kernel; i++) {
        g->kernel[i].name = p->text + p->kernel[i];
        g->kernel[i].variant = facts_variant(g->g->kernel[i]);
        g->kernel[i].import = i;
    }
    for (uint32_t s = 0; s < p->head.n_step; s++) {
        if (p->step[s].op != HG_STEP_KERNEL) continue;
        hg_facts_kernel *k = &g->kernel[p->step[s].kernel];
        k->steps++;
        if (g->session == NULL || g->g->step_late[s]) continue;
        const hg_cost cost = hg_session_cost(g->session, &g->session->step[s]);
        k->flops += cost.flops;
        k->bytes += cost.bytes;
    }
    if (g->n_kernel > 1) qsort(g->kernel, g->n_kernel, sizeof *g->kernel, facts_by_steps);
    for (uint32_t i = 0; i < g->n_kernel; i++)
        g->kernel_rank[g->kernel[i].import] = i;
    return HOLO_OK;
}

static holo_status facts_producers(hg_facts *f, hg_facts_graph *g, holo_error *e)
{
    HG_TRY(FACTS_NEW(f, g->p->head.n_value, &g->producer, e));
    HG_TRY(FACTS_NEW(f, g->p->head.n_value, &g->reader, e));
    for (uint32_t s = 0; s < g->p->head.n_step; s++) {
        const hg_step_rec *r = &g->p->step[s];
        for (uint32_t k = 0; k < r->n_out; k++)
            g->producer[g->p->list[r->out + k]] = s + 1;
        for (uint32_t k = 0; k < r->n_in; k++) {
            uint32_t *reader = &g->reader[g->p->list[r->in + k]];
            if (*reader == 0) *reader = s + 1;
        }
    }
    g->producer[0] = 0;
    return HOLO_OK;
}

static holo_status facts_graph(hg_facts *f, uint32_t i, holo_error *e)
{
    hg_facts_graph *g = &f->graph[i];
    g->g = &f->model->graph[i];
    g->p = &g->g->program;
    g->number = i;
    g->is_body = i >= f->model->n_graph;
    if (!hg_print_dims_init(g->p, &f->arena, &g->dims)) return hg_fail_nomem(e, sizeof g->dims);
    g->why = "the sizes of a body are known when it runs";
    if (!g->is_body) HG_TRY(facts_settle(f, g, i, e));
    HG_TRY(facts_kernels(f, g, e));
    return facts_producers(f, g, e);
}

holo_status hg_facts_init(hg_facts *f, const holo_model *model, holo_error *e)
{
    *f = (hg_facts){.model = model};
    hg_arena_init(&f->arena, &model->alloc, 0);
    HG_TRY(facts_sections(f, e));
    HG_TRY(FACTS_NEW(f, model->n_program, &f->graph, e));
    for (; f->n_graph < model->n_program; f->n_graph++)
        HG_TRY(facts_graph(f, f->n_graph, e));
    HG_TRY(facts_weights(f, e));
    return facts_meta(f, e);
}

void hg_facts_deinit(hg_facts *f)
{
    for (uint32_t i = 0; f->graph != NULL && i < f->model->n_program; i++)
        holo_session_free(f->graph[i].session);
    hg_arena_deinit(&f->arena);
}
