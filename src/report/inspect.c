/* inspect.c - holo_model_inspect: a model described in one of four forms. */
#include "report/facts.h"

#include <inttypes.h>
#include <stdio.h>

static holo_status inspect_program(const holo_model *model, holo_sink_fn sink, void *user)
{
    for (uint32_t i = 0; i < model->n_program; i++) {
        char title[32];
        /* IF and LOOP name their bodies by number. */
        int n =
            model->n_program == model->n_graph
                ? snprintf(title, sizeof title, i == 0 ? "" : "\n")
                : snprintf(title, sizeof title, "%sprogram %" PRIu32 "\n", i == 0 ? "" : "\n", i);
        if (n > 0 && !sink(user, title, (size_t)n)) return HOLO_E_IO;
        HG_TRY(hg_program_dump(&model->graph[i].program, sink, user));
    }
    return HOLO_OK;
}

static holo_status inspect_report(const holo_model *model,
                                  void (*report)(const hg_facts *f, hg_print *o), holo_sink_fn sink,
                                  void *user, holo_error *e)
{
    hg_facts facts;
    hg_print out = {.sink = sink, .user = user};
    holo_status status = hg_facts_init(&facts, model, e);
    if (status == HOLO_OK) {
        report(&facts, &out);
        if (!hg_print_flush(&out))
            status = hg_fail(e, HOLO_E_IO, "the report could not be written");
    }
    hg_facts_deinit(&facts);
    return status;
}

holo_status holo_model_inspect(const holo_model *model, holo_inspect_form form, holo_sink_fn sink,
                               void *user, holo_error *error)
{
    if (model == NULL || sink == NULL)
        return hg_fail(error, HOLO_E_ARG, "model and sink must not be NULL");
    switch (form) {
    case HOLO_INSPECT_TEXT: return inspect_report(model, hg_report_text, sink, user, error);
    case HOLO_INSPECT_JSON: return inspect_report(model, hg_report_json, sink, user, error);
    case HOLO_INSPECT_HTML: return inspect_report(model, hg_report_html, sink, user, error);
    case HOLO_INSPECT_PROGRAM: {
        holo_status status = inspect_program(model, sink, user);
        if (status == HOLO_E_NOMEM) return hg_fail(error, status, "out of memory");
        if (status != HOLO_OK)
            return hg_fail(error, status, "the disassembly could not be written");
        return HOLO_OK;
    }
    }
    return hg_fail(error, HOLO_E_ARG, "there is no form number %d", (int)form);
}
