/* compile.c - the text form of a graph, compiled. */
#include "compile/compile.h"
#include "fault/programs.h"

holo_status fault_compile(const char *text, const holo_compile_options *options, void **data,
                          size_t *size, holo_error *error)
{
    hg_compile c;
    holo_status status = hg_compile_init(&c, options, 1, error);
    if (status == HOLO_OK) status = hg_graph_init(&c.model[0].graph, &c.ctx);
    if (status == HOLO_OK) status = hg_graph_parse(&c.model[0].graph, hg_str_from(text), error);
    if (status == HOLO_OK) status = hg_compile_model_run(&c, &c.model[0]);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, data, size);
    hg_compile_deinit(&c);
    return status;
}
