/* compile.c - the stages in order: import, passes, plan, write; then the result is opened once, so
 * that a file that the runtime would refuse is a compile error. */
#include "compile/compile.h"

#include "archive/write.h"
#include "base/clock.h"
#include "base/hash.h"
#include "compile/distinct.h"
#include "compile/places.h"
#include "compile/precompute.h"
#include "compile/quantize.h"
#include "compile/traffic.h"
#include "import/onnx/export.h"
#include "import/onnx/import.h"
#include "op/op.h"
#include "op/op_body.h"
#include "pass/pass.h"
#include "report/assume.h"

/* What a compile may take without being told: this, and a few times each model's size. Honest
 * models need a fraction of it; one that is built to explode gets a sentence while the machine
 * still has memory. */
static const size_t compile_base_memory = (size_t)1 << 30;

static void compile_allow(hg_compile *c, size_t model_bytes)
{
    if (c->options->limits.memory_bytes != 0 || model_bytes > SIZE_MAX / 16) return;
    c->ctx.arena.limit += 4 * model_bytes;
    c->ctx.scratch.limit += 4 * model_bytes;
}

holo_status hg_compile_init(hg_compile *c, const holo_compile_options *options, size_t n_model,
                            holo_error *e)
{
    static const holo_compile_options standard = HOLO_COMPILE_OPTIONS_INIT;
    if (options == NULL) options = &standard;
    *c = (hg_compile){.options = options};
    c->ctx = (hg_ctx){.error = e,
                      .log = options->log,
                      .log_user = options->log_user,
                      .limits = options->limits,
                      .numerics = options->numerics,
                      .flags = options->flags};
    if (options->limits.run_ms != 0) c->ctx.start = hg_clock_seconds();
    size_t limit = options->limits.memory_bytes != 0 ? (size_t)options->limits.memory_bytes
                                                     : compile_base_memory;
    hg_arena_init(&c->ctx.arena, options->allocator, limit);
    hg_arena_init(&c->ctx.scratch, options->allocator, limit);
    if (options->struct_size != sizeof *options)
        return hg_fail(e, HOLO_E_ARG, "holo_compile_options.struct_size is %zu, expected %zu",
                       options->struct_size, sizeof *options);
    HG_TRY(HG_NEW(&c->ctx, n_model + 1, &c->model));
    HG_TRY(HG_NEW(&c->ctx, options->n_dims + 1, &c->dim_is_used));
    HG_TRY(HG_NEW(&c->ctx, options->n_shapes + 1, &c->shape_is_used));
    for (size_t i = 0; i < n_model; i++)
        hg_external_init(&c->model[i].external, options->allocator);
    c->weights.ctx = &c->ctx;
    c->n_model = n_model;
    return hg_texts_init(&c->names, &c->ctx, HG_NAME_MAX);
}

void hg_compile_deinit(hg_compile *c)
{
    for (size_t i = 0; c->model != NULL && i < c->n_model; i++) {
        hg_external_deinit(&c->model[i].external);
        hg_file_unmap(&c->model[i].file);
    }
    hg_arena_deinit(&c->ctx.scratch);
    hg_arena_deinit(&c->ctx.arena);
}

/* ---- one model ------------------------------------------------------------------------------- */

static bool compile_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    const hg_compile *c = user;
    if (c->options->progress == NULL) return true;
    return c->options->progress(c->options->progress_user, stage, c->at * total + done,
                                c->n_model * total * 2);
}

/* Called for models only: bodies are inferred and counted with the graph around them. */
static holo_status compile_before(void *user, const hg_graph *g)
{
    hg_compile *c = user;
    hg_traffic traffic;
    c->ctx.kept = NULL; /* all shapes fit */
    HG_TRY(hg_traffic_count(g, &traffic));
    c->report.moved_before += traffic.bytes;
    return HOLO_OK;
}

static holo_status compile_after(hg_compile *c, const hg_graph *g)
{
    hg_traffic traffic;
    hg_repeat repeat;
    HG_TRY(hg_traffic_count(g, &traffic));
    HG_TRY(hg_repeat_find(g, &repeat));
    c->report.moved_after += traffic.bytes;
    c->moves_by_data |= traffic.depends_on_data;
    if (repeat.count * repeat.nodes > c->report.layers * c->report.layer_nodes) {
        c->report.layers = repeat.count;
        c->report.layer_nodes = repeat.nodes;
    }
    return HOLO_OK;
}

static holo_status compile_body(hg_compile *c, hg_graph *body);

/* Kernels that live in other libraries must be in the table the caller passed along. */
static holo_status compile_check_library(const hg_compile *c, hg_graph *g, hg_node_id id)
{
    const hg_op *op = hg_graph_node(g, id)->op;
    char label[64];
    if (op->library == NULL || hg_kernel_lookup(c->options->extra, op->kernel) != NULL)
        return HOLO_OK;
    hg_str name = hg_node_label(g, id, label, sizeof label);
    return hg_fail(c->ctx.error, HOLO_E_UNSUPPORTED, "node '%.*s' (%s): needs kernel '%s' of %s",
                   HG_STR_ARG(name), op->name, op->kernel, op->library);
}

/* Steps that look up, and those that do the same by byte operations. */
static uint64_t compile_count_tables(const hg_program *p)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->head.n_step; i++) {
        if (p->step[i].op != HG_STEP_KERNEL) continue;
        const char *kernel = p->text + p->kernel[p->step[i].kernel];
        count += strcmp(kernel, "table") == 0 || strcmp(kernel, "table.copy") == 0 ||
                 strcmp(kernel, "byteops") == 0;
    }
    return count;
}

/* Passes, bodies, plan. A body comes behind the program that runs it. */
static holo_status compile_graph(hg_compile *c, hg_graph *g, uint32_t nodes_before, hg_program *out)
{
    const holo_compile_options *o = c->options;
    hg_pipeline_options pipeline = {.disable = o->disable,
                                    .n_disable = o->n_disable,
                                    .dump_after = o->dump_after,
                                    .dump = o->dump,
                                    .dump_user = o->dump_user,
                                    .progress = compile_progress,
                                    .inferred = compile_before,
                                    .user = c,
                                    .is_inferred = g->is_body};
    if (c->ctx.quantize != NULL && (!g->is_body || o->emit == NULL)) { /* as what is emitted */
        HG_TRY(hg_pipeline_quantize(g, &pipeline));
        if (o->emit != NULL) HG_TRY(hg_export_onnx(g, o->emit, o->emit_user));
    }
    HG_TRY(hg_pipeline_run(g, &pipeline));
    const bool *needed = NULL; /* a body that no step runs is none of the file's */
    if (g->n_child != 0) HG_TRY(hg_plan_needed(g, &needed));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        size_t n_body;
        HG_TRY(compile_check_library(c, g, id));
        if (hg_node_ints(hg_graph_node(g, id), "bodies", &n_body) == NULL || !needed[id]) continue;
        for (uint32_t k = 0; k < n_body; k++) {
            HG_TRY(hg_outline_settle(g, id, k));
            HG_TRY(compile_body(c, hg_body_graph(g, hg_graph_node(g, id), k)));
        }
    }
    HG_TRY(hg_plan_graph(g, &c->weights, &c->names, nodes_before, out));
    HG_TRY(hg_compile_certs(c, g));
    c->report.nodes_before += nodes_before;
    c->report.nodes_after += out->head.nodes_after;
    c->report.steps += out->head.n_step;
    c->report.tables += compile_count_tables(out);
    return HOLO_OK;
}

/* Bodies are nested no deeper than the import allows. */
static holo_status compile_body(hg_compile *c, hg_graph *body)
{
    hg_program *grown =
        hg_arena_grow(&c->ctx.arena, c->body, c->n_body, &c->body_capacity, sizeof *grown);
    hg_program program;
    if (grown == NULL) return hg_fail_nomem(c->ctx.error, sizeof *grown);
    c->body = grown;
    body->number = (uint32_t)(c->n_model + c->n_body);
    size_t at = c->n_body++;
    HG_TRY(compile_graph(c, body, 0, &program));
    c->body[at] = program;
    return HOLO_OK;
}

/* "Conv 53,Relu 49,...": what the model looked like, kept in the metadata for reports. */
static holo_status compile_remember(hg_compile *c, hg_graph *g)
{
    hg_map numbers;
    const hg_op **op;
    uint32_t *count, n_op = 0;
    HG_TRY(HG_NEW(&c->ctx, g->n_node + 1, &op));
    HG_TRY(HG_NEW(&c->ctx, g->n_node + 1, &count));
    hg_map_init(&numbers, &c->ctx.arena);
    for (hg_node_id id = 1; id < g->n_node; id++) {
        const hg_node *n = hg_graph_node(g, id);
        if (n->region == 0) continue;
        uint32_t at = hg_map_get(&numbers, hg_str_from(n->op->name));
        if (at == 0) {
            op[n_op++] = n->op;
            at = n_op;
            if (!hg_map_set(&numbers, hg_str_from(n->op->name), at))
                return hg_fail_nomem(c->ctx.error, sizeof(hg_map_slot));
        }
        count[at - 1]++;
    }
    hg_str text = {"", 0};
    for (uint32_t i = 0; i < n_op; i++) {
        text = hg_str_format(&c->ctx.arena, "%.*s%s%s %u", (int)text.length, text.text,
                             i == 0 ? "" : ",", op[i]->name, count[i]);
        if (text.text == NULL) return hg_fail_nomem(c->ctx.error, 64);
    }
    hg_meta *meta =
        hg_arena_grow(&c->ctx.arena, g->meta, g->n_meta, &g->meta_capacity, sizeof *meta);
    if (meta == NULL) return hg_fail_nomem(c->ctx.error, sizeof *meta);
    g->meta = meta;
    g->meta[g->n_meta++] = (hg_meta){hg_str_from("holo.before"), text};
    return HOLO_OK;
}

holo_status hg_compile_model_run(hg_compile *c, hg_compile_model *m)
{
    m->nodes_before = (uint32_t)hg_graph_count_nodes(&m->graph);
    HG_TRY(compile_remember(c, &m->graph));
    HG_TRY(hg_quantize_begin(c));
    HG_TRY(compile_graph(c, &m->graph, m->nodes_before, &m->program));
    HG_TRY(compile_after(c, &m->graph));
    return hg_quantize_end(c, &m->graph);
}

static holo_status compile_import(hg_compile *c, hg_compile_model *m, const void *data, size_t size,
                                  const char *base_dir)
{
    holo_dim_setting *dims;
    compile_allow(c, size);
    HG_TRY(HG_NEW(&c->ctx, c->options->n_dims + 1, &dims));
    for (size_t i = 0; i < c->options->n_dims; i++)
        dims[i] = c->options->dims[i];
    if (m->single != NULL) dims[c->options->n_dims] = (holo_dim_setting){m->single, 1, false};
    HG_TRY(hg_graph_init(&m->graph, &c->ctx));
    hg_import_options import = {.base_dir = base_dir,
                                .external = &m->external,
                                .file = m->file.data == data ? &m->file : NULL,
                                .dims = dims,
                                .n_dims = c->options->n_dims + (m->single != NULL),
                                .shapes = c->options->shapes,
                                .n_shapes = c->options->n_shapes,
                                .dim_is_used = c->dim_is_used,
                                .shape_is_used = c->shape_is_used};
    return hg_import_onnx(&m->graph, data, size, &import);
}

static holo_status compile_once(hg_compile *c, hg_compile_model *m, const void *data, size_t size,
                                const char *base_dir, hg_str name)
{
    const holo_status status = compile_import(c, m, data, size, base_dir);
    m->graph.name = name;
    return status == HOLO_OK ? hg_compile_model_run(c, m) : status;
}

/* A size that was taken not to be 1 may have been: when shapes do not fit they may fit so. What
 * runs checks its inputs. The first complaint is the one to tell. */
static holo_status compile_model(hg_compile *c, hg_compile_model *m, const void *data, size_t size,
                                 const char *base_dir, hg_str name)
{
    const holo_status status = compile_once(c, m, data, size, base_dir, name);
    if (status == HOLO_OK || c->ctx.kept == NULL) return status;
    holo_error *complaint = c->ctx.error, unused = {0};
    m->single = c->ctx.kept;
    c->ctx.error = &unused;
    const holo_status again = compile_once(c, m, data, size, base_dir, name);
    c->ctx.error = complaint;
    if (again != HOLO_OK) return status;
    if (complaint != NULL) *complaint = (holo_error){0};
    hg_log(&c->ctx, HOLO_LOG_WARNING,
           "%s is taken to be 1: a Squeeze without axes leaves a shape that fits nothing else",
           m->single);
    return HOLO_OK;
}

/* "models/unet.onnx" gives "unet" and "models". */
static holo_status compile_split_path(hg_compile *c, const char *path, hg_str *stem,
                                      const char **folder)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');
    size_t length = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
    hg_str text = {name, length};
    if (!hg_str_is_text(text)) text = hg_str_from("model"); /* names in a .holo are text */
    *stem = hg_str_copy(&c->ctx.arena, text);
    hg_str dir = slash == NULL   ? hg_str_from(".")
                 : slash == path ? hg_str_from("/")
                                 : (hg_str){path, (size_t)(slash - path)};
    dir = hg_str_copy(&c->ctx.arena, dir);
    *folder = dir.text;
    if (stem->text == NULL || dir.text == NULL) return hg_fail_nomem(c->ctx.error, strlen(path));
    return HOLO_OK;
}

static holo_status compile_file(hg_compile *c, size_t i, const char *path)
{
    hg_compile_model *m = &c->model[i];
    hg_str stem;
    const char *folder;
    c->at = i;
    HG_TRY(compile_split_path(c, path, &stem, &folder));
    for (size_t k = 0; k < i; k++)
        if (hg_str_equal(c->model[k].graph.name, stem))
            return hg_fail(c->ctx.error, HOLO_E_ARG, "%s: two models would be named '%.*s'", path,
                           HG_STR_ARG(stem));
    HG_TRY(hg_file_map(path, &m->file, c->ctx.error));
    holo_status status = compile_model(c, m, m->file.data, m->file.size, folder, stem);
    if (status != HOLO_OK && status != HOLO_E_ARG)
        return hg_fail_prefix(c->ctx.error, status, "%s: ", path);
    return status;
}

/* Settings that named nothing in any model are mistakes of the caller. */
static holo_status compile_check_settings(const hg_compile *c)
{
    for (size_t i = 0; i < c->options->n_dims; i++)
        if (!c->dim_is_used[i])
            return hg_fail(c->ctx.error, HOLO_E_ARG, "no model has a dimension named '%s'",
                           c->options->dims[i].name);
    for (size_t i = 0; i < c->options->n_shapes; i++)
        if (!c->shape_is_used[i])
            return hg_fail(c->ctx.error, HOLO_E_ARG, "no model has an input named '%s'",
                           c->options->shapes[i].input);
    return HOLO_OK;
}

static holo_status compile_files(hg_compile *c, const hg_source *s)
{
    for (size_t i = 0; i < s->n_paths; i++)
        HG_TRY(compile_file(c, i, s->paths[i]));
    return compile_check_settings(c);
}

static holo_status compile_bytes(hg_compile *c, const hg_source *s)
{
    HG_TRY(compile_model(c, &c->model[0], s->data, s->size, NULL, hg_str_from("model")));
    return compile_check_settings(c);
}

holo_status hg_compile_fill(hg_compile *c, const hg_source *source)
{
    c->source = source;
    holo_status status = source->fill(c, source);
    if (status == HOLO_E_NOMEM && (c->ctx.arena.is_full || c->ctx.scratch.is_full))
        return hg_fail(c->ctx.error, HOLO_E_LIMIT,
                       "the compile would need more than %zu bytes, which is its limit "
                       "(limits.memory_bytes)",
                       c->ctx.arena.limit);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool compile_weights_progress(void *user, uint64_t done, uint64_t total)
{
    const hg_compile *c = user;
    if (c->options->progress == NULL) return true;
    return c->options->progress(c->options->progress_user, "write", total + done, total * 2);
}

/* Pairs of texts of all graphs; a key that an earlier graph has with the same value is not
 * repeated. */
static holo_status compile_meta(hg_compile *c, hg_str *out)
{
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < c->n_model; i++)
        for (size_t k = 0; k < c->model[i].graph.n_meta; k++)
            bytes +=
                c->model[i].graph.meta[k].key.length + c->model[i].graph.meta[k].value.length + 2;
    char *text;
    HG_TRY(HG_NEW(&c->ctx, bytes + 1, &text));
    for (size_t i = 0; i < c->n_model; i++) {
        for (size_t k = 0; k < c->model[i].graph.n_meta; k++) {
            const hg_str pair[2] = {c->model[i].graph.meta[k].key, c->model[i].graph.meta[k].value};
            for (int side = 0; side < 2; side++) {
                for (size_t b = 0; b < pair[side].length; b++)
                    text[at++] = pair[side].text[b] == 0 ? ' ' : pair[side].text[b];
                text[at++] = 0;
            }
        }
    }
    *out = (hg_str){text, at};
    return HOLO_OK;
}

static holo_status compile_write_program(hg_compile *c, hg_holo_writer *w, const hg_program *p)
{
    size_t bytes = hg_program_bytes(&p->head);
    void *section = bytes == 0 ? NULL : hg_arena_alloc(&c->ctx.arena, bytes);
    if (section == NULL) return hg_fail_nomem(c->ctx.error, bytes);
    hg_program_store(p, section);
    return hg_holo_write_section(w, HG_SECTION_PROGRAM, section, bytes, c->ctx.error);
}

holo_status hg_compile_write(hg_compile *c, hg_writer *out)
{
    hg_holo_writer *w = &c->holo;
    hg_holo_section *table;
    hg_str meta;
    uint64_t hash;
    HG_TRY(compile_meta(c, &meta));
    size_t n_section = c->n_model + c->n_body + 3 + (c->n_certs != 0) + (c->memo != NULL);
    HG_TRY(HG_NEW(&c->ctx, c->n_model, &c->places));
    for (uint32_t i = 0; i < c->n_model; i++) {
        HG_TRY(hg_places_room(c, i));
        n_section += c->places[i].section != NULL;
    }
    if (n_section > HG_HOLO_MAX_SECTION)
        return hg_fail(c->ctx.error, HOLO_E_LIMIT,
                       "%zu graphs and bodies are more than a file holds", n_section);
    HG_TRY(HG_NEW(&c->ctx, n_section, &table));
    HG_TRY(hg_holo_write_begin(w, out, table, (uint32_t)n_section, c->ctx.error));
    for (size_t i = 0; i < c->n_model; i++)
        HG_TRY(compile_write_program(c, w, &c->model[i].program));
    for (size_t i = 0; i < c->n_body; i++)
        HG_TRY(compile_write_program(c, w, &c->body[i]));
    HG_TRY(hg_holo_write_section(w, HG_SECTION_NAMES, c->names.text, c->names.size, c->ctx.error));
    HG_TRY(hg_holo_write_section(w, HG_SECTION_META, meta.text, meta.length, c->ctx.error));
    if (c->n_certs != 0)
        HG_TRY(hg_holo_write_section(w, HG_SECTION_CERTS, c->certs, c->n_certs, c->ctx.error));
    if (c->memo != NULL)
        HG_TRY(hg_holo_write_section(w, HG_SECTION_MEMO, c->memo, c->memo_bytes, c->ctx.error));
    for (size_t i = 0; i < c->n_model; i++) {
        hg_compile_places *places = &c->places[i];
        places->at = w->at;
        if (places->section != NULL)
            HG_TRY(hg_holo_write_section(w, HG_SECTION_PLACES, places->section, places->bytes,
                                         c->ctx.error));
    }
    HG_TRY(hg_holo_write_open(w, HG_SECTION_WEIGHTS, c->ctx.error));
    HG_TRY(hg_weights_write(&c->weights, out, compile_weights_progress, c, &hash));
    HG_TRY(hg_holo_write_close(w, hash, c->ctx.error));
    HG_TRY(hg_holo_write_finish(w, c->ctx.error));
    HG_TRY(hg_distinct_count(c));
    if (c->moves_by_data) c->report.moved_before = c->report.moved_after = 0;
    c->report.weight_bytes = c->weights.bytes;
    c->report.file_bytes = out->size;
    return HOLO_OK;
}

/* ---- the result, opened once ----------------------------------------------------------------- */

/* Places that serve for some open sizes do for most; those that don't for others, much smaller or
 * larger, would cost a session time. */
static holo_status compile_check_places(hg_compile *c, holo_session *session, uint32_t graph,
                                        hg_assumed *assumed)
{
    static const int64_t sizes[] = {24, 640};
    holo_error own = {0};
    for (size_t i = 0; i < HG_COUNT(sizes); i++)
        if (hg_assume(session, sizes[i], assumed, &own) == HOLO_OK)
            HG_TRY(hg_places_check(c, session, graph));
    return HOLO_OK;
}

/* Sizes settled without data. Those that are open are made up: errors are of no interest then, and
 * the sizes of memory neither, but an order of buffers that is good for some is good for most. */
static holo_status compile_settle(hg_compile *c, holo_session *session, uint32_t graph)
{
    static const int64_t sizes[] = {256, 64, 1}; /* of pictures and texts alike */
    const hg_program_head *h = &session->graph->program.head;
    hg_assumed assumed;
    size_t arena;
    holo_error own = {0};
    holo_status status = HOLO_E_SHAPE;
    HG_TRY(HG_NEW(&c->ctx, h->n_dim, &assumed.dim));
    HG_TRY(HG_NEW(&c->ctx, h->n_symbol, &assumed.size));
    for (size_t i = 0; status != HOLO_OK && i < HG_COUNT(sizes); i++) {
        status = hg_assume(session, sizes[i], &assumed, &own);
        if (assumed.is_fixed) break;
    }
    if (status != HOLO_OK && !assumed.is_fixed) return HOLO_OK;
    if (status != HOLO_OK) return hg_fail(c->ctx.error, status, "%s", own.message);
    HG_TRY(hg_places_find(c, session, graph, &arena));
    if (!assumed.is_fixed) return compile_check_places(c, session, graph, &assumed);
    c->report.arena_bytes += arena;
    c->report.arena_bound += session->arena_bound;
    return HOLO_OK;
}

static holo_status compile_measure(hg_compile *c, const holo_model *model, uint32_t graph)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    options.graph = graph;
    options.flags = HOLO_SESSION_MEASURE;
    if (hg_assume_cannot(&model->graph[graph].program) != UINT32_MAX) return HOLO_OK;
    holo_session *session;
    HG_TRY(holo_session_new(model, &options, &session, c->ctx.error));
    const holo_status status = compile_settle(c, session, graph);
    holo_session_free(session);
    return status;
}

static holo_status compile_check_model(hg_compile *c, holo_model *model)
{
    holo_status status = HOLO_OK;
    c->report.arena_bytes = c->report.arena_bound = 0;
    for (uint32_t i = 0; status == HOLO_OK && i < holo_model_graph_count(model); i++)
        status = compile_measure(c, model, i);
    holo_model_free(model);
    return status;
}

static holo_status compile_check_file(hg_compile *c, const char *path)
{
    holo_model *model;
    const holo_open_options open = {.struct_size = sizeof open, .extra = c->options->extra};
    HG_TRY(holo_model_open_file(path, holo_kernels_all(), &open, &model, c->ctx.error));
    return compile_check_model(c, model);
}

/* ---- public ---------------------------------------------------------------------------------- */

/* Free space before the bytes remembers where the allocation starts. */
enum { COMPILE_BUFFER_ROOM = 2 * HG_ALIGN };

holo_status hg_compile_bytes(hg_compile *c, void **out_data, size_t *out_size)
{
    hg_writer w;
    void *bytes = NULL;
    size_t size = 0;
    hg_writer_init_memory(&w, &c->ctx.arena.alloc);
    holo_status status = hg_compile_write(c, &w);
    if (status == HOLO_OK) status = hg_writer_take(&w, &bytes, &size, c->ctx.error);
    hg_writer_abort(&w);
    HG_TRY(status);
    uint8_t *base = hg_alloc(&c->ctx.arena.alloc, size + COMPILE_BUFFER_ROOM);
    uint8_t *aligned = NULL;
    if (base != NULL) {
        aligned = (uint8_t *)hg_align_up((uintptr_t)base + sizeof base, HG_ALIGN);
        memcpy(aligned - sizeof base, &base, sizeof base);
        memcpy(aligned, bytes, size);
    }
    hg_free(&c->ctx.arena.alloc, bytes, size);
    if (base == NULL) return hg_fail_nomem(c->ctx.error, size + COMPILE_BUFFER_ROOM);
    *out_data = aligned;
    *out_size = size;
    return HOLO_OK;
}

holo_status hg_compile_to_memory(hg_compile *c, void **out_data, size_t *out_size)
{
    void *data;
    size_t size;
    holo_model *model;
    HG_TRY(hg_precompute(c));
    HG_TRY(hg_compile_bytes(c, &data, &size));
    const holo_open_options open = {.struct_size = sizeof open, .extra = c->options->extra};
    holo_status status =
        holo_model_open_memory(data, size, holo_kernels_all(), &open, &model, c->ctx.error);
    if (status == HOLO_OK) status = compile_check_model(c, model);
    if (status == HOLO_OK) status = hg_places_seal(c, NULL, data);
    if (status != HOLO_OK) {
        holo_buffer_free(&c->ctx.arena.alloc, data, size);
        return status;
    }
    *out_data = data;
    *out_size = size;
    return HOLO_OK;
}

void holo_buffer_free(const holo_allocator *allocator, void *data, size_t size)
{
    if (data == NULL) return;
    holo_allocator alloc = hg_allocator_or_libc(allocator);
    uint8_t *base;
    memcpy(&base, (uint8_t *)data - sizeof base, sizeof base);
    hg_free(&alloc, base, size + COMPILE_BUFFER_ROOM);
}

/* What is read must not be replaced by what is made of it. */
static holo_status compile_check_target(const hg_compile *c, const char *out_path)
{
    hg_file there = {0};
    bool is_source = false;
    if (hg_file_map(out_path, &there, NULL) != HOLO_OK) return HOLO_OK;
    for (size_t i = 0; i < c->n_model; i++) {
        const hg_compile_model *m = &c->model[i];
        is_source = is_source || hg_file_is_same(&there, &m->file);
        for (size_t k = 0; k < m->external.n_file; k++)
            is_source = is_source || hg_file_is_same(&there, &m->external.file[k]);
    }
    hg_file_unmap(&there);
    if (!is_source) return HOLO_OK;
    return hg_fail(c->ctx.error, HOLO_E_ARG,
                   "'%s' is the model itself or holds its weights: write to another file",
                   out_path);
}

static holo_status compile_to_file(hg_compile *c, const char *out_path)
{
    hg_writer w;
    HG_TRY(compile_check_target(c, out_path));
    HG_TRY(hg_precompute(c));
    HG_TRY(hg_writer_init_file(&w, out_path, &c->ctx.arena.alloc, c->ctx.error));
    holo_status status = hg_compile_write(c, &w);
    if (status == HOLO_OK) status = hg_writer_flush(&w, c->ctx.error);
    /* Checked under its temporary name: what appears at out_path has been opened once. */
    if (status == HOLO_OK) status = compile_check_file(c, w.temporary);
    if (status == HOLO_OK) status = hg_places_seal(c, &w, NULL);
    if (status == HOLO_OK) status = hg_writer_commit(&w, c->ctx.error);
    hg_writer_abort(&w);
    return status;
}

holo_status holo_compile_files(const char *const *paths, size_t n_paths, const char *out_path,
                               const holo_compile_options *options, holo_compile_report *report,
                               holo_error *error)
{
    hg_compile c;
    const hg_source source = {.fill = compile_files, .paths = paths, .n_paths = n_paths};
    if (paths == NULL || n_paths == 0) return hg_fail(error, HOLO_E_ARG, "no model file was given");
    holo_status status = hg_compile_init(&c, options, n_paths, error);
    bool check_only = status == HOLO_OK && (c.options->flags & HOLO_COMPILE_CHECK_ONLY) != 0;
    if (status == HOLO_OK && !check_only && out_path == NULL)
        status = hg_fail(error, HOLO_E_ARG, "no output path was given");
    if (status == HOLO_OK) status = hg_compile_fill(&c, &source);
    if (status == HOLO_OK && !check_only) status = compile_to_file(&c, out_path);
    if (status == HOLO_OK && report != NULL) *report = c.report;
    hg_compile_deinit(&c);
    return status;
}

holo_status holo_compile_memory(const void *data, size_t size, const holo_compile_options *options,
                                void **out_data, size_t *out_size, holo_compile_report *report,
                                holo_error *error)
{
    hg_compile c;
    const hg_source source = {.fill = compile_bytes, .data = data, .size = size};
    holo_status status = hg_compile_init(&c, options, 1, error);
    if (status == HOLO_OK) status = hg_compile_fill(&c, &source);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, out_data, out_size);
    if (status == HOLO_OK && report != NULL) *report = c.report;
    hg_compile_deinit(&c);
    return status;
}

holo_status holo_compile_file_to_memory(const char *path, const holo_compile_options *options,
                                        void **out_data, size_t *out_size,
                                        holo_compile_report *report, holo_error *error)
{
    hg_compile c;
    const hg_source source = {.fill = compile_files, .paths = &path, .n_paths = 1};
    holo_status status = hg_compile_init(&c, options, 1, error);
    if (status == HOLO_OK) status = hg_compile_fill(&c, &source);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, out_data, out_size);
    if (status == HOLO_OK && report != NULL) *report = c.report;
    hg_compile_deinit(&c);
    return status;
}
