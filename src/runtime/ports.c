/* ports.c - what a model says about itself: graphs, inputs, outputs, metadata. */
#include "runtime/model.h"

uint32_t holo_model_graph_count(const holo_model *model)
{
    return model->n_graph;
}

const char *holo_model_graph_name(const holo_model *model, uint32_t graph)
{
    if (graph >= model->n_graph) return NULL;
    const hg_program *p = &model->graph[graph].program;
    return p->text + p->head.name;
}

uint32_t holo_model_input_count(const holo_model *model, uint32_t graph)
{
    return graph < model->n_graph ? model->graph[graph].program.head.n_in : 0;
}

uint32_t holo_model_output_count(const holo_model *model, uint32_t graph)
{
    return graph < model->n_graph ? model->graph[graph].program.head.n_out : 0;
}

static void ports_describe(const hg_program *p, const hg_port_rec *port, holo_port *out)
{
    const hg_value_rec *v = &p->value[port->value];
    *out =
        (holo_port){.name = p->text + port->name, .dtype = (holo_dtype)v->dtype, .rank = v->rank};
    for (int32_t k = 0; k < HOLO_MAX_RANK; k++)
        out->dim_name[k] = "";
    for (int32_t k = 0; k < v->rank; k++) {
        const hg_dim_rec *d = &p->dim[p->list[v->dims + (uint32_t)k]];
        out->dim[k] = d->op == HG_DIM_CONST ? d->value : -1;
        if (d->op == HG_DIM_SYMBOL) out->dim_name[k] = p->text + p->symbol[d->value].name;
    }
}

holo_status holo_model_input(const holo_model *model, uint32_t graph, uint32_t index,
                             holo_port *out)
{
    if (index >= holo_model_input_count(model, graph)) return HOLO_E_ARG;
    const hg_program *p = &model->graph[graph].program;
    ports_describe(p, &p->in[index], out);
    return HOLO_OK;
}

holo_status holo_model_output(const holo_model *model, uint32_t graph, uint32_t index,
                              holo_port *out)
{
    if (index >= holo_model_output_count(model, graph)) return HOLO_E_ARG;
    const hg_program *p = &model->graph[graph].program;
    ports_describe(p, &p->out[index], out);
    return HOLO_OK;
}

void holo_model_metadata(const holo_model *model,
                         void (*visit)(void *user, const char *key, const char *value), void *user)
{
    for (size_t at = 0; at < model->meta_bytes;) {
        const char *key = model->meta + at, *value = key + strlen(key) + 1;
        visit(user, key, value);
        at = (size_t)(value + strlen(value) + 1 - model->meta);
    }
}
