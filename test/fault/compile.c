/* compile.c - the text form of a graph, compiled. */
#include "compile/compile.h"
#include "fault/programs.h"

static holo_status compile_text(hg_compile *c, const hg_source *s)
{
    HG_TRY(hg_graph_init(&c->model[0].graph, &c->ctx));
    HG_TRY(hg_graph_parse(&c->model[0].graph, hg_str_from(s->data), c->ctx.error));
    return hg_compile_model_run(c, &c->model[0]);
}

holo_status fault_compile(const char *text, const holo_compile_options *options, void **data,
                          size_t *size, holo_error *error)
{
    const hg_source source = {.fill = compile_text, .data = text};
    hg_compile c;
    holo_status status = hg_compile_init(&c, options, 1, error);
    if (status == HOLO_OK) status = hg_compile_fill(&c, &source);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, data, size);
    hg_compile_deinit(&c);
    return status;
}
