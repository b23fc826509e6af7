/* verify_case.c - runs one case: compiles the model, feeds the inputs, judges the outputs.
 *
 * The tolerance is the suite's own, rtol 1e-3 and atol 1e-7. A model with a random operator may
 * give other values; its outputs are then compared by type, shape and distribution, and the case is
 * counted apart. */
#include "cli/verify.h"

#include "cli/model.h"
#include "cli/values.h"
#include "io/elem.h"
#include "io/pb.h"
#include "io/tensor.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct verify_case {
    const hg_verify_case *c;
    const hg_verify_options *options;
    holo_model *model;
    holo_pool *pool;
    holo_session *session;
    holo_session *plain; /* one thread, clean memory: must give the same bits; may be NULL */
    void *program;
    size_t program_bytes;
    holo_tensor *input;
    uint32_t n_input;
    bool is_random;
    bool has_training; /* a Dropout that may be in training mode */
    holo_string training;
    holo_string ratio;
    hg_cli_tolerance tolerance;
    bool draws;           /* in this data set, values are random */
    bool is_other_values; /* some were other ones than expected */
    char *note;
    size_t note_size;
} verify_case;

static hg_verify_outcome verify_case_fail(verify_case *v, const char *what, const char *why)
{
    snprintf(v->note, v->note_size, "%s%s%s", what, what[0] != '\0' ? ": " : "", why);
    return HG_VERIFY_FAIL;
}

static bool verify_case_is(holo_string text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.text, word, (size_t)text.length) == 0;
}

/* Dropout draws only when its third input says so, which the data decides; see below. */
static void verify_case_node(void *user, const hg_pb_node *node)
{
    static const char *const random[] = {"Bernoulli",     "Multinomial",      "RandomNormal",
                                         "RandomUniform", "RandomNormalLike", "RandomUniformLike"};
    verify_case *v = user;
    for (size_t i = 0; i < HG_COUNT(random); i++)
        if (verify_case_is(node->op, random[i])) v->is_random = true;
    if (verify_case_is(node->op, "Dropout") && node->n_input > 2 && node->input[2].length > 0) {
        v->has_training = true;
        v->training = node->input[2];
        v->ratio = node->input[1];
    }
}

/* True when the named graph input holds a number other than zero. */
static bool verify_case_input_is_set(const verify_case *v, holo_string name, bool otherwise)
{
    for (uint32_t i = 0; i < v->n_input; i++) {
        holo_port port;
        if (holo_model_input(v->model, 0, i, &port) != HOLO_OK || !verify_case_is(name, port.name))
            continue;
        const holo_tensor *t = &v->input[i];
        if (hg_elem_classify(t->dtype) == HG_ELEM_OTHER || holo_tensor_count(t) != 1)
            return otherwise;
        return hg_elem_get(t, 0) != 0;
    }
    return otherwise;
}

static bool verify_case_draws(const verify_case *v)
{
    return v->is_random || (v->has_training && verify_case_input_is_set(v, v->training, true) &&
                            verify_case_input_is_set(v, v->ratio, true));
}

static hg_verify_outcome verify_case_open(verify_case *v, hg_io_bytes *bytes)
{
    holo_compile_options compile = HOLO_COMPILE_OPTIONS_INIT;
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
    holo_error error = {0};
    compile.flags = v->options->compile_flags;
    compile.limits.memory_bytes = v->options->max_memory;
    compile.extra = hg_cli_extra();
    if (hg_io_read_file(v->c->model, bytes, &error) != HOLO_OK ||
        hg_pb_visit_nodes(bytes->data, bytes->size, verify_case_node, v, &error) != HOLO_OK)
        return verify_case_fail(v, "model", error.message);
    holo_status status = holo_compile_file_to_memory(v->c->model, &compile, &v->program,
                                                     &v->program_bytes, NULL, &error);
    if (status != HOLO_OK) {
        verify_case_fail(v, "compile", error.message);
        return status == HOLO_E_UNSUPPORTED && v->options->skip_unsupported ? HG_VERIFY_SKIP
                                                                            : HG_VERIFY_FAIL;
    }
    open.flags = v->options->open_flags;
    open.extra = hg_cli_extra();
    if (holo_model_open_memory(v->program, v->program_bytes, holo_kernels_all(), &open, &v->model,
                               &error) != HOLO_OK)
        return verify_case_fail(v, "open", error.message);
    if (v->options->threads > 1 &&
        holo_pool_new((uint32_t)v->options->threads, NULL, &v->pool, &error) != HOLO_OK)
        return verify_case_fail(v, "threads", error.message);
    session.flags = v->options->session_flags | HOLO_SESSION_GROW;
    session.pool = v->pool;
    session.limits.memory_bytes = v->options->max_memory;
    if (holo_session_new(v->model, &session, &v->session, &error) != HOLO_OK)
        return verify_case_fail(v, "session", error.message);
    session.flags = HOLO_SESSION_GROW;
    session.pool = NULL;
    if ((v->pool != NULL || v->options->session_flags != 0) &&
        holo_session_new(v->model, &session, &v->plain, &error) != HOLO_OK)
        return verify_case_fail(v, "session", error.message);
    v->n_input = holo_model_input_count(v->model, 0);
    v->input = calloc((size_t)v->n_input + 1, sizeof *v->input);
    return v->input == NULL ? verify_case_fail(v, "", "out of memory") : HG_VERIFY_PASS;
}

static void verify_case_free_inputs(verify_case *v)
{
    for (uint32_t i = 0; v->input != NULL && i < v->n_input; i++)
        hg_io_tensor_free(&v->input[i]);
}

static void verify_case_close(verify_case *v)
{
    if (v->plain != NULL) holo_session_free(v->plain);
    if (v->session != NULL) holo_session_free(v->session);
    if (v->pool != NULL) holo_pool_free(v->pool);
    if (v->model != NULL) holo_model_free(v->model);
    verify_case_free_inputs(v);
    free(v->input);
    if (v->program != NULL) holo_buffer_free(NULL, v->program, v->program_bytes);
}

/* The k-th file of a kind, as FOLDER/input_K.pb; NULL when there is none. */
static bool verify_case_path(const char *folder, const char *kind, uint32_t k, char *path,
                             size_t size)
{
    int n = snprintf(path, size, "%s%s%u.pb", folder, kind, k);
    return n > 0 && (size_t)n < size && access(path, F_OK) == 0;
}

static hg_verify_outcome verify_case_load(verify_case *v, const char *folder)
{
    char path[4096], what[64];
    holo_error error = {0};
    for (uint32_t i = 0; i < v->n_input; i++) {
        holo_port port;
        snprintf(what, sizeof what, "input %u", i);
        if (!verify_case_path(folder, "/input_", i, path, sizeof path))
            return verify_case_fail(v, what, "the data set has no file for it");
        if (holo_model_input(v->model, 0, i, &port) != HOLO_OK ||
            hg_pb_read_file(path, port.dtype, &v->input[i], &error) != HOLO_OK)
            return verify_case_fail(v, what, error.message);
    }
    if (verify_case_path(folder, "/input_", v->n_input, path, sizeof path)) {
        snprintf(what, sizeof what, "the data set has more inputs than the model's %u", v->n_input);
        return verify_case_fail(v, "", what);
    }
    return HG_VERIFY_PASS;
}

/* light/: x[i] = i / n as float32, for inputs of fixed shape. */
static hg_verify_outcome verify_case_ramp(verify_case *v)
{
    holo_error error = {0};
    for (uint32_t i = 0; i < v->n_input; i++) {
        holo_port port;
        if (holo_model_input(v->model, 0, i, &port) != HOLO_OK || port.rank < 0 ||
            port.dtype != HOLO_F32)
            return verify_case_fail(v, "", "an input is not float32 of known rank");
        for (int32_t k = 0; k < port.rank; k++)
            if (port.dim[k] < 0) port.dim[k] = 1;
        if (hg_io_tensor_new(HOLO_F32, port.dim, port.rank, &v->input[i], &error) != HOLO_OK)
            return verify_case_fail(v, "", error.message);
        float *x = v->input[i].data;
        int64_t n = holo_tensor_count(&v->input[i]);
        for (int64_t k = 0; k < n; k++)
            x[k] = (float)k / (float)n;
    }
    return HG_VERIFY_PASS;
}

static hg_verify_outcome verify_case_judge(verify_case *v, const char *prefix)
{
    char path[4096], what[64], why[400];
    uint32_t n = holo_model_output_count(v->model, 0), i = 0;
    for (; verify_case_path(prefix, "", i, path, sizeof path); i++) {
        holo_port port;
        holo_tensor actual, expected;
        holo_error error = {0};
        snprintf(what, sizeof what, "output %u", i);
        if (i >= n) {
            snprintf(why, sizeof why, "the model has only %u outputs", n);
            return verify_case_fail(v, what, why);
        }
        if (holo_model_output(v->model, 0, i, &port) != HOLO_OK ||
            holo_session_output(v->session, i, &actual, &error) != HOLO_OK ||
            hg_pb_read_file(path, actual.dtype, &expected, &error) != HOLO_OK)
            return verify_case_fail(v, what, error.message);
        bool agree = hg_cli_values_agree(&actual, &expected, &v->tolerance, why, sizeof why);
        if (!agree && v->draws) {
            const holo_tensor *chances = v->n_input > 0 ? &v->input[0] : NULL;
            agree = hg_verify_same_distribution(&actual, &expected, chances, why, sizeof why);
            v->is_other_values = true;
        }
        hg_io_tensor_free(&expected);
        if (!agree) return verify_case_fail(v, what, why);
    }
    if (i == 0) return verify_case_fail(v, "", "the data set has no outputs");
    return HG_VERIFY_PASS;
}

static hg_verify_outcome verify_case_execute(verify_case *v, holo_session *session)
{
    holo_error error = {0};
    for (uint32_t i = 0; i < v->n_input; i++)
        if (holo_session_set_input(session, i, &v->input[i], &error) != HOLO_OK)
            return verify_case_fail(v, "input", error.message);
    if (holo_session_run(session, &error) != HOLO_OK)
        return verify_case_fail(v, "run", error.message);
    return HG_VERIFY_PASS;
}

/* Threads and what memory held before a run must not show in the outputs. */
static hg_verify_outcome verify_case_repeat(verify_case *v)
{
    const hg_cli_tolerance same = {.same_bits = true};
    char what[64], why[400];
    if (v->plain == NULL) return HG_VERIFY_PASS;
    hg_verify_outcome outcome = verify_case_execute(v, v->plain);
    if (outcome != HG_VERIFY_PASS) return outcome;
    for (uint32_t i = 0; i < holo_model_output_count(v->model, 0); i++) {
        holo_tensor actual, expected;
        holo_error error = {0};
        snprintf(what, sizeof what, "output %u against one thread on clean memory", i);
        if (holo_session_output(v->session, i, &actual, &error) != HOLO_OK ||
            holo_session_output(v->plain, i, &expected, &error) != HOLO_OK)
            return verify_case_fail(v, what, error.message);
        if (!hg_cli_values_agree(&actual, &expected, &same, why, sizeof why))
            return verify_case_fail(v, what, why);
    }
    return HG_VERIFY_PASS;
}

static hg_verify_outcome verify_case_set(verify_case *v, const char *folder, const char *outputs)
{
    verify_case_free_inputs(v);
    hg_verify_outcome outcome = folder != NULL ? verify_case_load(v, folder) : verify_case_ramp(v);
    if (outcome != HG_VERIFY_PASS) return outcome;
    v->draws = verify_case_draws(v);
    outcome = verify_case_execute(v, v->session);
    if (outcome == HG_VERIFY_PASS) outcome = verify_case_judge(v, outputs);
    return outcome == HG_VERIFY_PASS ? verify_case_repeat(v) : outcome;
}

/* test_data_set_0, 1, ... of a case, by number: the folders are few and without gaps. */
static hg_verify_outcome verify_case_sets(verify_case *v)
{
    char folder[4096], outputs[4096 + 16];
    for (uint32_t k = 0;; k++) {
        int n = snprintf(folder, sizeof folder, "%s/test_data_set_%u", v->c->folder, k);
        bool there = n > 0 && (size_t)n < sizeof folder && access(folder, F_OK) == 0;
        if (!there && k > 0) return HG_VERIFY_PASS;
        if (!there) {
            snprintf(v->note, v->note_size, "there is no test_data_set_0");
            return HG_VERIFY_SKIP;
        }
        snprintf(outputs, sizeof outputs, "%s/output_", folder);
        hg_verify_outcome outcome = verify_case_set(v, folder, outputs);
        if (outcome != HG_VERIFY_PASS) return outcome;
    }
}

hg_verify_outcome hg_verify_run_case(const hg_verify_case *c, const hg_verify_options *options,
                                     char *note, size_t size)
{
    verify_case v = {.c = c, .options = options, .note = note, .note_size = size};
    hg_io_bytes bytes = {0};
    note[0] = '\0';
    /* DenseNet's expected values come from another summation order; the suite allows it 2e-3. */
    bool is_light = c->folder == NULL,
         is_loose = is_light && strstr(c->name, "densenet121") != NULL;
    v.tolerance = (hg_cli_tolerance){.rtol = is_loose ? 2e-3 : 1e-3, .atol = 1e-7};
    hg_verify_outcome outcome = verify_case_open(&v, &bytes);
    if (outcome == HG_VERIFY_PASS)
        outcome = is_light ? verify_case_set(&v, NULL, c->outputs) : verify_case_sets(&v);
    if (outcome == HG_VERIFY_PASS && v.is_other_values) {
        snprintf(note, size, "random, compared by type, shape and distribution");
        outcome = HG_VERIFY_RANDOM;
    }
    verify_case_close(&v);
    if (bytes.data != NULL) hg_io_bytes_free(&bytes);
    return outcome;
}
