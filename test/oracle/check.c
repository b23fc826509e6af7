/* check.c - runs a case in every mode and compares; runs the rows of a family. */
#include "oracle/oracle.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHECK_MESSAGES = 8 }; /* failures shown for each operator */

static int check_failures;

static const char *check_mode_text(ora_mode mode, bool reference)
{
    static const char *const names[][2] = {{"constants", "constants, reference"},
                                           {"fixed", "fixed, reference"},
                                           {"symbolic", "symbolic, reference"},
                                           {"late", "late, reference"}};
    return names[mode][reference];
}

/* "Add(float32[2,3], -) axis=1". */
static const char *check_text(const ora_case *c)
{
    char *text = ora_alloc(512);
    size_t used = (size_t)snprintf(text, 512, "%s(", c->op);
    for (size_t k = 0; k < c->n_in && used < 400; k++)
        used += c->in[k] == NULL
                    ? (size_t)snprintf(text + used, 512 - used, "%s-", k ? ", " : "")
                    : (size_t)snprintf(text + used, 512 - used, "%s%s[%s]", k ? ", " : "",
                                       holo_dtype_text(c->in[k]->type), ora_dims_text(c->in[k]));
    used += (size_t)snprintf(text + used, 512 - used, ") %.80s", c->attrs == NULL ? "" : c->attrs);
    if (c->opset != 0) snprintf(text + used, 512 - used, ", opset %d", c->opset);
    return text;
}

static void check_fail(const ora_case *c, ora_mode mode, bool reference, const char *sentence)
{
    if (++check_failures <= CHECK_MESSAGES)
        hg_test_fail(HG_TEST_HERE, "%s, %s: %s", check_text(c), check_mode_text(mode, reference),
                     sentence);
}

/* ---- running -----------------------------------------------------------------------------------
 */

static holo_tensor check_bind(const ora *t)
{
    holo_tensor h = {.rank = t->rank, .dtype = t->type};
    for (int d = 0; d < t->rank; d++)
        h.dim[d] = t->dim[d];
    if (t->type >= HOLO_SEQUENCE) {
        holo_tensor *items = ora_alloc((t->n_item + 1) * sizeof *items);
        for (size_t k = 0; k < t->n_item; k++)
            items[k] = check_bind(t->item[k]);
        h.data = items;
    } else {
        h.data = ora_alloc(ora_bytes(t->type, t->count) + 16);
        ora_pack(t, h.data);
    }
    return h;
}

static holo_status check_inputs(const ora_case *c, ora_mode mode, holo_session *s,
                                holo_error *error)
{
    uint32_t index = 0;
    for (size_t k = 0; k < c->n_in; k++) {
        if (c->in[k] == NULL || !ora_is_input(c->in[k], mode)) continue;
        const holo_tensor t = check_bind(c->in[k]);
        const holo_status status = holo_session_set_input(s, index++, &t, error);
        if (status != HOLO_OK) return status;
    }
    return HOLO_OK;
}

static bool check_outputs(const ora_case *c, const holo_session *s, char *why, size_t size)
{
    uint32_t index = 0;
    holo_tensor got[ORA_MAX_OUT] = {{0}};
    for (size_t k = 0; k < c->n_out; k++) {
        char text[400];
        holo_error error;
        if (c->out[k] == NULL) continue;
        if (holo_session_output(s, index++, &got[k], &error) != HOLO_OK) {
            snprintf(why, size, "%s", error.message);
            return false;
        }
        if (c->judge == NULL && !ora_matches(c->out[k], &got[k], text, sizeof text)) {
            snprintf(why, size, "output %zu: %s", k, text);
            return false;
        }
    }
    return c->judge == NULL || c->judge(c, got, why, size);
}

/* HOLO_OK: ran; *same says whether it gave what was expected, else the sentence how not. */
static holo_status check_run(const ora_case *c, ora_mode mode, const void *holo, size_t size,
                             bool reference, bool *same, holo_error *error)
{
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    open.flags = reference ? HOLO_OPEN_REFERENCE : 0;
    open.extra = holo_kernels_ext();
    options.flags = HOLO_SESSION_GROW | HOLO_SESSION_POISON;
    *same = true;
    holo_status status =
        holo_model_open_memory(holo, size, holo_kernels_all(), &open, &model, error);
    if (status == HOLO_OK) status = holo_session_new(model, &options, &session, error);
    if (status == HOLO_OK) status = check_inputs(c, mode, session, error);
    if (status == HOLO_OK) status = holo_session_run(session, error);
    if (status == HOLO_OK) *same = check_outputs(c, session, error->message, sizeof error->message);
    holo_session_free(session);
    holo_model_free(model);
    return status;
}

static holo_status check_compile(const ora_message *model, void **holo, size_t *size,
                                 holo_error *error)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.extra = holo_kernels_ext();
    return holo_compile_memory(model->data, model->size, &options, holo, size, NULL, error);
}

static bool check_mode(const ora_case *c, ora_mode mode)
{
    ora_message model;
    void *holo = NULL;
    size_t size = 0;
    holo_error error = {0};
    bool good = true;
    if (!ora_model(c, mode, &model)) return true;
    const holo_status status = check_compile(&model, &holo, &size, &error);
    /* A library that kernels may need is not on every machine. */
    if (status != HOLO_OK && strstr(error.message, "libhologram_ext built with") != NULL)
        return true;
    if (status != HOLO_OK) {
        check_fail(c, mode, false, error.message);
        return false;
    }
    for (int reference = 0; reference < 2 && good; reference++) {
        if (mode == ORA_CONSTANTS && reference) break;
        bool same;
        if (check_run(c, mode, holo, size, reference, &same, &error) != HOLO_OK || !same) {
            check_fail(c, mode, reference, error.message);
            good = false;
        }
    }
    holo_buffer_free(NULL, holo, size);
    return good;
}

void ora_check(const ora_case *c)
{
    ora_note(c);
    for (ora_mode mode = ORA_CONSTANTS; mode < ORA_MODES; mode = (ora_mode)(mode + 1))
        if (!check_mode(c, mode)) return;
    ora_case older;
    size_t k = 0;
    while (c->opset == 0 && ora_older(c, &k, &older))
        if (!check_mode(&older, ORA_CONSTANTS) || !check_mode(&older, ORA_FIXED)) return;
}

void ora_refuse(const ora_case *c, const char *part)
{
    for (ora_mode mode = ORA_CONSTANTS; mode < ORA_MODES; mode = (ora_mode)(mode + 1)) {
        ora_message model;
        void *holo = NULL;
        size_t size = 0;
        holo_error error = {0};
        if (!ora_model(c, mode, &model)) continue;
        holo_status status = check_compile(&model, &holo, &size, &error);
        bool same;
        if (status == HOLO_OK) status = check_run(c, mode, holo, size, false, &same, &error);
        if (status == HOLO_OK)
            check_fail(c, mode, false, "accepted, expected a refusal");
        else if (status == HOLO_E_BUG || strstr(error.message, part) == NULL) {
            char text[700];
            snprintf(text, sizeof text, "refused, but without \"%s\": %s", part, error.message);
            check_fail(c, mode, false, text);
        }
        holo_buffer_free(NULL, holo, size);
    }
}

/* ---- rows --------------------------------------------------------------------------------------
 */

void ora_run(const ora_row *rows)
{
    const char *only = getenv("HG_ORACLE"); /* one operator alone, for a debugger */
    for (; rows->op != NULL; rows++) {
        if (only != NULL && strcmp(only, rows->op) != 0) continue;
        check_failures = 0;
        ora_note_begin(rows->op);
        rows->run(rows);
        ora_note_end();
        if (check_failures > CHECK_MESSAGES)
            hg_test_fail(HG_TEST_HERE, "%s: %d more failures", rows->op,
                         check_failures - CHECK_MESSAGES);
    }
}
