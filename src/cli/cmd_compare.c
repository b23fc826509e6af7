/* cmd_compare.c - hologram compare: where two files depart on the same inputs.
 *
 * The first file runs with a trace that keeps every named value in a temporary file; the second
 * one's trace looks each of its values up by name and occurrence (a loop makes a name many times).
 */
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/model.h"
#include "cli/values.h"

#include "io/tensor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_args {
    hg_cli_input_options in;
    uint64_t threads;
    double tolerance;
    bool reference;
} compare_args;

static const compare_args compare_defaults = {
    .in = {.seed = HG_FILL_SEED}, .threads = 1, .tolerance = 1e-4};

/* A value of the first file. */
typedef struct compare_value {
    char *name;
    uint32_t occurrence;
    uint32_t made, met; /* in the first occurrence: how often each file made the name */
    holo_tensor form;   /* without data */
    off_t offset;       /* of the data in the spill file */
} compare_value;

typedef struct compare {
    const hg_cli *cli;
    const compare_args *args;
    FILE *spill;
    compare_value *value;
    size_t n_value, capacity;
    uint32_t *slot; /* open hash of value indices + 1 */
    size_t n_slot;
    const char *failure; /* what the trace could not do */
    uint64_t matched, departed;
    char first[700]; /* the first departure, as a sentence */
    holo_tensor *output;
    uint32_t n_output;
} compare;

/* ---- values by name -------------------------------------------------------------------------- */

static size_t compare_hash(const char *name, uint32_t occurrence)
{
    uint64_t h = 14695981039346656037u ^ occurrence;
    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

static compare_value *compare_find(const compare *c, const char *name, uint32_t occurrence)
{
    if (c->n_slot == 0) return NULL;
    for (size_t i = compare_hash(name, occurrence);; i++) {
        uint32_t at = c->slot[i & (c->n_slot - 1)];
        if (at == 0) return NULL;
        compare_value *v = &c->value[at - 1];
        if (v->occurrence == occurrence && strcmp(v->name, name) == 0) return v;
    }
}

static bool compare_rehash(compare *c, size_t n)
{
    uint32_t *slot = calloc(n, sizeof *slot);
    if (slot == NULL) return false;
    for (size_t k = 0; k < c->n_value; k++) {
        size_t i = compare_hash(c->value[k].name, c->value[k].occurrence);
        while (slot[i & (n - 1)] != 0)
            i++;
        slot[i & (n - 1)] = (uint32_t)k + 1;
    }
    free(c->slot);
    c->slot = slot;
    c->n_slot = n;
    return true;
}

/* Takes over the name on success. */
static bool compare_add(compare *c, const compare_value *value)
{
    if (c->n_value == c->capacity) {
        size_t capacity = c->capacity == 0 ? 64 : c->capacity * 2;
        compare_value *grown = realloc(c->value, capacity * sizeof *grown);
        if (grown == NULL) return false;
        c->value = grown;
        c->capacity = capacity;
    }
    if ((c->n_value + 1) * 2 > c->n_slot &&
        !compare_rehash(c, c->n_slot == 0 ? 256 : c->n_slot * 2))
        return false;
    size_t i = compare_hash(value->name, value->occurrence);
    while (c->slot[i & (c->n_slot - 1)] != 0)
        i++;
    c->value[c->n_value++] = *value;
    c->slot[i & (c->n_slot - 1)] = (uint32_t)c->n_value;
    return true;
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void compare_keep(compare *c, const char *name, const holo_tensor *tensor)
{
    /* Containers and texts are compared as outputs only: their data is not one block. */
    if (hg_io_is_container(tensor->dtype) || tensor->dtype == HOLO_STRING ||
        tensor->dtype == HOLO_NONE)
        return;
    size_t size = holo_tensor_bytes(tensor);
    compare_value *head = compare_find(c, name, 0);
    compare_value v = {.name = strdup(name), .form = *tensor, .offset = ftello(c->spill)};
    v.form.data = NULL;
    if (head != NULL) v.occurrence = ++head->made;
    bool kept = v.name != NULL && size != SIZE_MAX &&
                (size == 0 || fwrite(tensor->data, 1, size, c->spill) == size) &&
                compare_add(c, &v);
    if (kept) return;
    free(v.name);
    c->failure =
        "cannot keep the values of the first file: no space in the temporary folder or memory";
}

static void compare_trace_first(void *user, const holo_step_info *step)
{
    compare *c = user;
    for (uint32_t i = 0; i < step->n_outputs && c->failure == NULL; i++)
        if (step->output_names[i] != NULL && step->output_names[i][0] != '\0')
            compare_keep(c, step->output_names[i], &step->outputs[i]);
}

static void compare_describe(const hg_cli_difference *d, char *out, size_t size)
{
    if (!d->same_form)
        snprintf(out, size, "type or shape");
    else
        snprintf(out, size, "%.3g, %.3g of the largest value %.3g", d->largest, d->relative,
                 d->scale);
}

static void compare_check(compare *c, const holo_step_info *step, uint32_t i,
                          const compare_value *v)
{
    holo_tensor kept;
    holo_error error = {0};
    char how[200], form[160];
    if (hg_io_tensor_new(v->form.dtype, v->form.dim, v->form.rank, &kept, &error) != HOLO_OK) {
        c->failure = "out of memory";
        return;
    }
    size_t size = holo_tensor_bytes(&kept);
    if (fseeko(c->spill, v->offset, SEEK_SET) != 0 || fread(kept.data, 1, size, c->spill) != size)
        c->failure = "cannot read the values of the first file back";
    hg_cli_difference d = hg_cli_values_differ(&kept, &step->outputs[i]);
    c->matched++;
    if (!d.same_form || d.relative > c->args->tolerance) {
        compare_describe(&d, how, sizeof how);
        if (c->departed++ == 0)
            snprintf(c->first, sizeof c->first,
                     "node '%.150s' (%.80s), value '%.150s' %s departs by %s", step->node,
                     step->kernel, v->name, hg_io_tensor_text(&kept, form, sizeof form), how);
    }
    hg_io_tensor_free(&kept);
}

static void compare_trace_second(void *user, const holo_step_info *step)
{
    compare *c = user;
    for (uint32_t i = 0; i < step->n_outputs && c->failure == NULL; i++) {
        const char *name = step->output_names[i];
        compare_value *head = name != NULL ? compare_find(c, name, 0) : NULL;
        if (head == NULL) continue;
        const compare_value *v = compare_find(c, name, head->met++);
        if (v != NULL) compare_check(c, step, i, v);
    }
}

/* ---- the two runs ---------------------------------------------------------------------------- */

static int compare_outputs(compare *c, const hg_cli_model *m, const holo_session *session,
                           bool is_second)
{
    holo_error error = {0};
    uint32_t n = holo_model_output_count(m->model, m->graph);
    int code = HG_CLI_OK;
    if (!is_second) {
        c->output = calloc((size_t)n + 1, sizeof *c->output);
        if (c->output == NULL) return hg_cli_error(c->cli, "out of memory");
        c->n_output = n;
    }
    for (uint32_t i = 0; i < n && i < c->n_output; i++) {
        holo_tensor value;
        holo_port port;
        char how[200], name[200];
        if (holo_session_output(session, i, &value, &error) != HOLO_OK ||
            (!is_second && hg_io_tensor_copy(&value, &c->output[i], &error) != HOLO_OK))
            return hg_cli_fail(c->cli, &error);
        if (!is_second) continue;
        hg_cli_difference d = hg_cli_values_differ(&c->output[i], &value);
        bool ok = d.same_form && d.relative <= c->args->tolerance;
        compare_describe(&d, how, sizeof how);
        const char *label =
            holo_model_output(m->model, m->graph, i, &port) == HOLO_OK ? port.name : "?";
        printf("output %s: %s %s\n", hg_cli_clean(label, name, sizeof name),
               ok ? "agrees within" : "departs by", how);
        if (!ok) code = HG_CLI_FAULT;
    }
    return code;
}

/* The inputs were made for the first file; the second may list them in another order. */
static int compare_bind(compare *c, const hg_cli_model *first, const hg_cli_inputs *inputs,
                        holo_session *session)
{
    holo_error error = {0};
    for (uint32_t i = 0; i < inputs->count; i++) {
        holo_port port;
        if (holo_model_input(first->model, first->graph, i, &port) != HOLO_OK) continue;
        int32_t index = holo_session_find_input(session, port.name);
        if (holo_session_set_input(session, index < 0 ? i : (uint32_t)index, &inputs->tensor[i],
                                   &error) != HOLO_OK)
            return hg_cli_fail(c->cli, &error);
    }
    return HG_CLI_OK;
}

static int compare_side(compare *c, const hg_cli_model *both, const hg_cli_inputs *inputs,
                        bool is_second)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session *session;
    holo_error error = {0};
    const hg_cli_model *m = &both[is_second];
    holo_pool *pool;
    int code = hg_cli_pool_new(c->cli, c->args->threads, &pool);
    if (code != HG_CLI_OK) return code;
    options.flags = HOLO_SESSION_GROW;
    options.graph = m->graph;
    options.pool = pool;
    options.trace = is_second ? compare_trace_second : compare_trace_first;
    options.trace_user = c;
    if (holo_session_new(m->model, &options, &session, &error) != HOLO_OK) {
        code = hg_cli_fail(c->cli, &error);
    } else {
        code = compare_bind(c, &both[0], inputs, session);
        hg_cli_watch(session);
        if (code == HG_CLI_OK && holo_session_run(session, &error) != HOLO_OK)
            code = hg_cli_error(c->cli, "%s: %s", m->path, error.message);
        if (code == HG_CLI_OK && hg_cli_interrupted() != 0) code = hg_cli_fail(c->cli, &error);
        hg_cli_watch(NULL);
        if (code == HG_CLI_OK && c->failure != NULL) code = hg_cli_error(c->cli, "%s", c->failure);
        if (code == HG_CLI_OK) code = compare_outputs(c, m, session, is_second);
        holo_session_free(session);
    }
    if (pool != NULL) holo_pool_free(pool);
    return code;
}

static int compare_report(const compare *c, int code)
{
    char text[sizeof c->first];
    if (c->matched == 0)
        hg_cli_note(
            c->cli,
            "no values with the same names inside; compare .onnx files, which keep all names");
    else
        printf("%" PRIu64 " values compared, %" PRIu64 " depart\n", c->matched, c->departed);
    if (c->departed > 0) printf("first departure: %s\n", hg_cli_clean(c->first, text, sizeof text));
    return code;
}

static int compare_both(compare *c, hg_cli_model m[2])
{
    hg_cli_inputs inputs = {0};
    uint32_t n[2];
    for (int i = 0; i < 2; i++)
        n[i] = holo_model_output_count(m[i].model, m[i].graph);
    if (n[0] != n[1])
        return hg_cli_error(c->cli, "%s has %u outputs, %s has %u", m[0].path, n[0], m[1].path,
                            n[1]);
    c->spill = tmpfile();
    if (c->spill == NULL)
        return hg_cli_error(c->cli, "cannot make a temporary file: %s", strerror(errno));
    int code = hg_cli_inputs_make(c->cli, m[0].model, m[0].graph, &c->args->in, &inputs);
    if (code == HG_CLI_OK) code = compare_side(c, m, &inputs, false);
    if (code == HG_CLI_OK) {
        code = compare_side(c, m, &inputs, true);
        if (c->failure == NULL) code = compare_report(c, code);
    }
    hg_cli_inputs_free(&inputs);
    fclose(c->spill);
    for (size_t i = 0; i < c->n_value; i++)
        free(c->value[i].name);
    for (uint32_t i = 0; c->output != NULL && i < c->n_output; i++)
        hg_io_tensor_free(&c->output[i]);
    free(c->output);
    free(c->value);
    free(c->slot);
    return code;
}

static int compare_run(const hg_cli *cli, const void *args)
{
    compare c = {.cli = cli, .args = args};
    hg_cli_model m[2] = {{0}, {0}};
    hg_cli_model_options how = {.compile_flags =
                                    HOLO_COMPILE_KEEP_VALUES | HOLO_COMPILE_NO_OPTIMIZE};
    int code = hg_cli_model_open(cli, cli->operand[0], &how, &m[0]);
    if (c.args->reference) how.open_flags |= HOLO_OPEN_REFERENCE;
    if (code == HG_CLI_OK) code = hg_cli_model_open(cli, cli->operand[1], &how, &m[1]);
    if (code == HG_CLI_OK) code = compare_both(&c, m);
    hg_cli_model_close(&m[0]);
    hg_cli_model_close(&m[1]);
    return code;
}

/* clang-format off */
static const hg_cli_option compare_options[] = {
    {"inputs", 0, HG_CLI_TEXT, "'name:dtype:dims:fill;...'", "all inputs (random without)", offsetof(compare_args, in.inputs)},
    {"input", 0, HG_CLI_LIST, "NAME=FILE|random", "an input: .npy, .pb, .png, - or a fill", offsetof(compare_args, in.input)},
    {"dim", 0, HG_CLI_LIST, "NAME=4", "size of a symbolic dimension of random inputs (1)", offsetof(compare_args, in.dim)},
    {"shape", 0, HG_CLI_LIST, "NAME=1x3", "shape of a random input", offsetof(compare_args, in.shape)},
    {"seed", 0, HG_CLI_COUNT, "N", "of random inputs (12345)", offsetof(compare_args, in.seed)},
    {"threads", 0, HG_CLI_COUNT, "N", "threads (1)", offsetof(compare_args, threads)},
    {"tolerance", 0, HG_CLI_NUMBER, "X", "allowed difference, relative to the largest value (1e-4)", offsetof(compare_args, tolerance)},
    {"reference", 0, HG_CLI_FLAG, NULL, "run the second file with the portable kernels", offsetof(compare_args, reference)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_compare = {
    .name = "compare",
    .operands = "A[:GRAPH] B[:GRAPH]",
    .least = 2,
    .most = 2,
    .brief = "Run two files on the same inputs and show where they depart.",
    .details = "Outputs are compared by position, values inside by name; the first node whose "
               "value departs is "
               "shown with how far. An .onnx file is compiled without optimising and keeps all its "
               "values, so it "
               "serves as the reference for what was compiled from it. Exit code 1 means that "
               "outputs depart.",
    .example = "hologram compare model.onnx model.holo\n"
               "hologram compare fast.holo exact.holo --tolerance 1e-5",
    .files = "holo onnx",
    .options = compare_options,
    .args_size = sizeof(compare_args),
    .defaults = &compare_defaults,
    .run = compare_run,
};
