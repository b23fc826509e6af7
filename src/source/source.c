/* source.c - holo_model_emit_c: a model as one C file. */
#include "source/source.h"

#include <inttypes.h>
#include <stdio.h>

#define X(stem) extern const hg_source_kernel hg_source_kernels_##stem[];
#include "source_list.inc"
#undef X

static const hg_source_kernel *const source_all[] = {
#define X(stem) hg_source_kernels_##stem,
#include "source_list.inc"
#undef X
};

/* As text, four times as much: beyond this nobody reads or compiles it, and `hologram embed` does
 * the same job. */
static const uint64_t source_most_bytes = (uint64_t)64 << 20;

static const hg_source_kernel *source_find(const char *name)
{
    for (size_t i = 0; i < HG_COUNT(source_all); i++)
        for (const hg_source_kernel *k = source_all[i]; k->name != NULL; k++)
            if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* A name without what could end a comment. */
static void source_comment(hg_ctext *out, const char *name)
{
    size_t at = strlen(out->text);
    for (size_t i = 0; name[i] != '\0' && i < 80; i++) {
        char c = name[i];
        bool is_plain = hg_source_is_word(c) || strchr(" .:-[]", c) != NULL;
        out->text[at++] = is_plain ? c : '_';
    }
    out->text[at] = '\0';
}

static void source_step_title(hg_source *s)
{
    const hg_program *p = &s->graph->program;
    hg_name room;
    hg_ctext line = {{0}};
    hg_ctext_set(&line, "/* ");
    source_comment(&line, hg_program_step_name(p, s->step, &room));
    hg_ctext_add(&line, " (%s):", hg_model_step_kernel(p, s->step));
    for (uint32_t i = 0; i < s->args->n_in && strlen(line.text) < 300; i++) {
        hg_ctext_add(&line, i == 0 ? " " : ", ");
        hg_source_shape(&line, &s->args->in[i]);
    }
    for (uint32_t i = 0; i < s->args->n_out && strlen(line.text) < 400; i++) {
        hg_ctext_add(&line, i == 0 ? " -> " : ", ");
        hg_source_shape(&line, &s->args->out[i]);
    }
    hg_source_line(s, "%s */", line.text);
}

static void source_step_head(hg_source *s)
{
    const char *between = "";
    hg_print_format(&s->out, "static %s step_%" PRIu32 "(",
                    s->faults[s->step] != 0 ? "int" : "void", s->step + 1);
    for (uint32_t i = 0; i < s->args->n_in; i++) {
        if (s->args->in[i].dtype == HOLO_NONE) continue;
        hg_print_format(&s->out, "%sconst %s *a%" PRIu32, between,
                        hg_source_ctype(s->args->in[i].dtype), i);
        between = ", ";
    }
    for (uint32_t i = 0; i < s->args->n_out; i++) {
        if (s->args->out[i].dtype == HOLO_NONE) continue;
        hg_print_format(&s->out, "%s%s *y%" PRIu32, between, hg_source_ctype(s->args->out[i].dtype),
                        i);
        between = ", ";
    }
    hg_print_text(&s->out, ")\n{\n");
}

static bool source_check_types(hg_source *s)
{
    for (uint32_t i = 0; i < s->args->n_in + s->args->n_out; i++) {
        const holo_tensor *t =
            i < s->args->n_in ? &s->args->in[i] : &s->args->out[i - s->args->n_in];
        if (t->dtype != HOLO_NONE && hg_source_ctype(t->dtype) == NULL)
            return hg_source_refuse(s, "type %s", holo_dtype_text(t->dtype));
    }
    return true;
}

static bool source_is_empty(const hg_args *a)
{
    for (uint32_t i = 0; i < a->n_out; i++)
        if (a->out[i].dtype != HOLO_NONE && holo_tensor_count(&a->out[i]) != 0) return false;
    return true;
}

static bool source_dims(hg_source *s)
{
    for (uint32_t i = 0; i < s->args->n_param; i++)
        hg_source_line(s, "y0[%" PRIu32 "] = INT64_C(%" PRId64 ");", i, s->args->param[i]);
    return true;
}

static bool source_body(hg_source *s)
{
    if (s->graph->program.step[s->step].op == HG_STEP_DIMS) return source_dims(s);
    const hg_source_kernel *k = source_find(hg_model_step_kernel(&s->graph->program, s->step));
    if (k == NULL) return hg_source_refuse(s, "no C for it");
    return k->write(s, s->args);
}

static bool source_step(hg_source *s)
{
    s->why[0] = '\0';
    if (s->graph->step_late[s->step] != 0)
        return hg_source_refuse(s, "its sizes or parameters depend on data");
    if (!source_check_types(s)) return false;
    s->is_used = hg_arena_array(s->arena, s->args->n_in + 1, sizeof *s->is_used);
    if (s->is_used == NULL) return hg_source_refuse(s, "out of memory");
    source_step_title(s);
    source_step_head(s);
    s->depth = 1;
    s->is_cut = false;
    if (!source_is_empty(s->args) && !source_body(s)) return false;
    if (s->is_cut) return hg_source_refuse(s, "its loops are too long to write");
    for (uint32_t i = 0; i < s->args->n_in; i++)
        if (s->args->in[i].dtype != HOLO_NONE && !s->is_used[i])
            hg_source_line(s, "(void)a%" PRIu32 ";", i);
    for (uint32_t i = 0; source_is_empty(s->args) && i < s->args->n_out; i++)
        if (s->args->out[i].dtype != HOLO_NONE) hg_source_line(s, "(void)y%" PRIu32 ";", i);
    if (s->faults[s->step] != 0) hg_source_line(s, "return 0;");
    s->depth = 0;
    hg_print_text(&s->out, "}\n\n");
    return true;
}

/* ---- the function of the model ----------------------------------------------------------------
 */

static void source_note(hg_source *s, uint32_t v)
{
    const hg_program *p = &s->graph->program;
    const uint32_t base = hg_program_root(p, v);
    s->is_read[v] = true;
    if (p->value[base].storage == HG_STORAGE_INPUT) s->is_read[base] = true;
    if (p->value[base].storage == HG_STORAGE_ARENA && hg_source_direct(s, base) < 0)
        s->members |= HG_TYPE_BIT(hg_source_plain((holo_dtype)p->value[v].dtype));
}

static void source_call(hg_source *s)
{
    const hg_program *p = &s->graph->program;
    const hg_step_rec *r = &p->step[s->step];
    const char *between = "";
    bool faults = s->faults[s->step] != 0;
    hg_print_format(&s->out, faults ? "    if (step_%" PRIu32 "(" : "    step_%" PRIu32 "(",
                    s->step + 1);
    for (uint32_t i = 0; i < (uint32_t)r->n_in + r->n_out; i++) {
        uint32_t v = i < r->n_in ? p->list[r->in + i] : p->list[r->out + i - r->n_in];
        hg_ctext value;
        if (v == 0) continue;
        source_note(s, v);
        hg_source_value(s, &value, v);
        hg_print_text(&s->out, between);
        hg_print_text(&s->out, value.text);
        between = ", ";
    }
    if (faults)
        hg_print_format(&s->out, ") != 0) return %" PRIu32 ";\n", s->step + 1);
    else
        hg_print_text(&s->out, ");\n");
}

/* Outputs that are no step's own memory: inputs, weights, views, or given out twice. */
static void source_copy_outputs(hg_source *s)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t i = 0; i < p->head.n_out; i++) {
        uint32_t v = p->out[i].value;
        size_t bytes = holo_tensor_bytes(hg_session_tensor(s->session, v));
        hg_ctext to, from;
        if (hg_source_direct(s, v) == (int64_t)i || bytes == 0) continue;
        source_note(s, v);
        hg_source_port(s, &to, true, i);
        hg_source_value(s, &from, v);
        hg_print_text(&s->out, "    memcpy(");
        hg_print_text(&s->out, to.text);
        hg_print_text(&s->out, ", ");
        hg_print_text(&s->out, from.text);
        hg_print_format(&s->out, ", %zu);\n", bytes);
    }
}

static void source_prototype(hg_source *s, const char *end)
{
    const hg_program *p = &s->graph->program;
    hg_print_format(&s->out, "int %s(", s->name);
    for (uint32_t i = 0; i < p->head.n_in + p->head.n_out; i++) {
        bool is_output = i >= p->head.n_in;
        uint32_t k = is_output ? i - p->head.n_in : i;
        uint32_t v = is_output ? p->out[k].value : p->in[k].value;
        const holo_tensor *t = hg_session_tensor(s->session, v);
        int64_t n = holo_tensor_count(t);
        hg_ctext name;
        hg_source_port(s, &name, is_output, k);
        hg_print_format(&s->out, "%s%s%s ", i == 0 ? "" : ", ", is_output ? "" : "const ",
                        hg_source_ctype(t->dtype));
        hg_print_text(&s->out, name.text);
        hg_print_format(&s->out, "[%" PRId64 "]", n == 0 ? 1 : n);
    }
    hg_print_text(&s->out, end);
}

static void source_function(hg_source *s)
{
    const hg_program *p = &s->graph->program;
    source_prototype(s, ");\n\n"); /* a declaration too, so that no warning asks for one */
    source_prototype(s, ")\n{\n");
    for (s->step = 0; s->step < p->head.n_step; s->step++)
        source_call(s);
    source_copy_outputs(s);
    s->depth = 1;
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        hg_ctext name;
        hg_source_port(s, &name, false, i);
        if (!s->is_read[p->in[i].value]) hg_source_line(s, "(void)%s;", name.text);
    }
    s->depth = 0;
    hg_print_text(&s->out, "    return 0;\n}\n");
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static const char source_includes[] =
    "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n\n"
    "/* Products are rounded before their sums, so that every compiler gives the same bits. */\n"
    "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n"
    "#elif defined(__GNUC__)\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n\n";

static void source_title(hg_source *s)
{
    const hg_program *p = &s->graph->program;
    hg_source_line(s, "/* %s.c - a model as C, written by Hologram %s.", s->name,
                   HOLO_VERSION_TEXT);
    hg_source_line(s, " *");
    for (uint32_t i = 0; i < p->head.n_in + p->head.n_out; i++) {
        bool is_output = i >= p->head.n_in;
        uint32_t k = is_output ? i - p->head.n_in : i;
        hg_ctext line, name;
        hg_source_port(s, &name, is_output, k);
        hg_ctext_set(&line, " *   %s  ", name.text);
        hg_source_shape(
            &line, hg_session_tensor(s->session, is_output ? p->out[k].value : p->in[k].value));
        hg_source_line(s, "%s", line.text);
    }
    hg_source_line(s, " *");
    hg_source_line(s, " * Returns 0, or the number of the step that met data it cannot take: an "
                      "index out of range,");
    hg_source_line(s,
                   " * an integer divided by zero. Memory is static, %zu bytes, and nothing is "
                   "allocated: one call at a time.",
                   s->session->arena_bytes);
    hg_source_line(s, " *     cc -std=c99 -O2 -c %s.c        (needs libm) */", s->name);
}

/* One round; false when a step has no C, and then `refused` has been called for each. */
static bool source_write(hg_source *s, void (*refused)(void *user, const hg_source *s), void *user)
{
    const hg_program *p = &s->graph->program;
    bool ok = true;
    source_title(s);
    hg_print_text(&s->out, source_includes);
    hg_source_helpers(s);
    hg_source_weights(s);
    hg_source_memory(s);
    for (s->step = 0; s->step < p->head.n_step; s->step++) {
        const hg_args args = hg_session_args(s->session, &s->session->step[s->step]);
        s->args = &args;
        if (source_step(s)) continue;
        s->depth = 0;
        ok = false;
        if (refused != NULL) refused(user, s);
    }
    if (ok) source_function(s);
    return ok;
}

/* ---- what cannot be written -------------------------------------------------------------------
 */

/* "topk: no C for it (3 steps, first 'TopK_7')", once for each kernel and reason. */
typedef struct source_refusal {
    const char *kernel;
    char why[160], node[64];
    uint32_t steps;
} source_refusal;

typedef struct source_refusals {
    source_refusal item[8];
    uint32_t n, steps;
} source_refusals;

static void source_refused(void *user, const hg_source *s)
{
    source_refusals *all = user;
    const char *kernel = hg_model_step_kernel(&s->graph->program, s->step);
    hg_name room;
    all->steps++;
    for (uint32_t i = 0; i < all->n; i++)
        if (strcmp(all->item[i].kernel, kernel) == 0 && strcmp(all->item[i].why, s->why) == 0) {
            all->item[i].steps++;
            return;
        }
    if (all->n == HG_COUNT(all->item)) return;
    source_refusal *item = &all->item[all->n++];
    item->kernel = kernel;
    item->steps = 1;
    snprintf(item->why, sizeof item->why, "%s", s->why);
    snprintf(item->node, sizeof item->node, "%s",
             hg_program_step_name(&s->graph->program, s->step, &room));
}

static holo_status source_fail(const source_refusals *all, holo_error *e)
{
    hg_ctext text = {{0}};
    uint32_t listed = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        const source_refusal *item = &all->item[i];
        if (strlen(text.text) > 300) break;
        hg_ctext_add(&text, "%s%s: %s (", i == 0 ? "" : "; ", item->kernel, item->why);
        if (item->steps > 1) hg_ctext_add(&text, "%" PRIu32 " steps, first ", item->steps);
        hg_ctext_add(&text, "node '%s')", item->node);
        listed += item->steps;
    }
    if (listed < all->steps) hg_ctext_add(&text, "; and %" PRIu32 " more", all->steps - listed);
    return hg_fail(e, HOLO_E_UNSUPPORTED, "%" PRIu32 " steps cannot be written as C: %s",
                   all->steps, text.text);
}

/* ---- sizes ------------------------------------------------------------------------------------
 */

/* Every input of a fixed shape and a type that C has. */
static holo_status source_bind(const holo_model *model, uint32_t graph, holo_session *session,
                               holo_error *e)
{
    for (uint32_t i = 0; i < holo_model_input_count(model, graph); i++) {
        holo_port port;
        HG_TRY(holo_model_input(model, graph, i, &port));
        if (hg_source_ctype(port.dtype) == NULL)
            return hg_fail(e, HOLO_E_UNSUPPORTED, "input '%.100s' is %s, which C has no type for",
                           port.name, holo_dtype_text(port.dtype));
        holo_tensor t = {.data = session, .rank = port.rank, .dtype = port.dtype};
        for (int32_t k = 0; k < port.rank; k++) {
            t.dim[k] = port.dim[k];
            if (port.dim[k] >= 0) continue;
            return hg_fail(e, HOLO_E_SHAPE,
                           "dimension %d of input '%.100s' is '%.60s', expected a number: "
                           "fix it with --dim or --shape",
                           k, port.name, port.dim_name[k]);
        }
        if (port.rank < 0)
            return hg_fail(e, HOLO_E_SHAPE,
                           "the rank of input '%.100s' is open: fix its shape with --shape",
                           port.name);
        HG_TRY(holo_session_set_input(session, i, &t, e));
    }
    return holo_session_prepare(session, e);
}

static holo_status source_check_outputs(const hg_source *s, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    for (uint32_t i = 0; i < p->head.n_out; i++) {
        const uint32_t v = p->out[i].value;
        const holo_dtype dtype = (holo_dtype)p->value[v].dtype;
        if (hg_source_ctype(dtype) == NULL)
            return hg_fail(e, HOLO_E_UNSUPPORTED, "output '%.100s' is %s, which C has no type for",
                           p->text + p->out[i].name, holo_dtype_text(dtype));
        if (s->graph->value_ready[v] != 0)
            return hg_fail(e, HOLO_E_UNSUPPORTED,
                           "the sizes of output '%.100s' depend on data, expected fixed ones",
                           p->text + p->out[i].name);
    }
    return HOLO_OK;
}

/* Results that go straight to the caller need no place in memory. */
static holo_status source_layout(const hg_source *s, holo_session *session, holo_error *e)
{
    const hg_model_graph *g = s->graph;
    const uint32_t n_step = g->program.head.n_step;
    uint8_t *is_needed = hg_arena_array(s->arena, g->n_buffer + 1, 1);
    /* not the session's own room, where its parameters are by now */
    uint32_t *room = hg_arena_array(s->arena, HG_OFFSETS_ROOM(g->n_buffer, n_step), sizeof *room);
    size_t *live = hg_arena_array(s->arena, (size_t)n_step + 2, sizeof *live);
    if (is_needed == NULL || room == NULL || live == NULL) return hg_fail_nomem(e, g->n_buffer);
    for (uint32_t v = 1; v < g->program.head.n_value; v++) {
        const hg_value_rec *r = &g->program.value[v];
        if (r->storage == HG_STORAGE_ARENA && hg_source_direct(s, v) < 0)
            is_needed[g->value_buffer[v]] = 1;
    }
    for (uint32_t b = 0; b < g->n_buffer; b++)
        if (is_needed[b + 1] == 0) session->span[b].bytes = 0;
    uint32_t peak;
    const size_t bound = hg_offsets_bound(session->span, g->n_buffer, n_step, live, &peak);
    session->arena_bytes =
        hg_offsets_assign(session->span, g->n_buffer, n_step, bound, peak, g->places, room);
    return HOLO_OK;
}

static holo_status source_init(hg_source *s, holo_session *session, holo_error *e)
{
    const hg_program *p = &s->graph->program;
    s->session = session;
    s->faults = hg_arena_array(s->arena, p->head.n_step + 1, 1);
    s->is_read = hg_arena_array(s->arena, p->head.n_value + 1, sizeof *s->is_read);
    if (s->faults == NULL || s->is_read == NULL || !hg_source_helpers_init(s))
        return hg_fail_nomem(e, p->head.n_value);
    return source_layout(s, session, e);
}

static bool source_nowhere(void *user, const void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return true;
}

static holo_status source_run(hg_source *s, holo_session *session, holo_sink_fn sink, void *user,
                              holo_error *e)
{
    source_refusals refusals = {0};
    HG_TRY(source_init(s, session, e));
    HG_TRY(source_check_outputs(s, e));
    s->out = (hg_print){.sink = source_nowhere};
    if (!source_write(s, source_refused, &refusals)) return source_fail(&refusals, e);
    s->out = (hg_print){.sink = sink, .user = user};
    source_write(s, NULL, NULL);
    if (!hg_print_flush(&s->out)) return hg_fail(e, HOLO_E_IO, "the C file could not be written");
    return HOLO_OK;
}

static bool source_is_name(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if (!hg_source_is_word(*c)) return false;
    return name[0] != '\0' && !(name[0] >= '0' && name[0] <= '9') && strlen(name) <= 60;
}

holo_status holo_model_emit_c(const holo_model *model, uint32_t graph, const char *name,
                              holo_sink_fn sink, void *user, holo_error *error)
{
    if (model == NULL || name == NULL || sink == NULL)
        return hg_fail(error, HOLO_E_ARG, "model, name and sink must not be NULL");
    if (!source_is_name(name)) return hg_fail(error, HOLO_E_ARG, "'%s' is no name in C", name);
    if (model->weight_bytes > source_most_bytes)
        return hg_fail(error, HOLO_E_LIMIT,
                       "%llu bytes of weights are too many for C text, at most %llu; "
                       "'hologram embed' puts such a model into a program",
                       (unsigned long long)model->weight_bytes,
                       (unsigned long long)source_most_bytes);
    holo_session *session;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    options.graph = graph;
    HG_TRY(holo_session_new(model, &options, &session, error));
    hg_arena arena;
    hg_arena_init(&arena, &model->alloc, 0);
    hg_source s = {.model = model, .graph = &model->graph[graph], .arena = &arena, .name = name};
    holo_status status = source_bind(model, graph, session, error);
    if (status == HOLO_OK) status = source_run(&s, session, sink, user, error);
    hg_arena_deinit(&arena);
    holo_session_free(session);
    return status;
}
