/* ports.c - what a model says about itself: graphs, inputs, outputs, metadata. */
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "runtime/model.h"

/* ---- names, checked at open ------------------------------------------------------------------ */

/* Names are text and no two are the same; slot: n_slot zeros, a power of two above n. */
static holo_status ports_check(const holo_model *m, const hg_program *p, const hg_port_rec *port,
                               uint32_t n, const char *what, uint32_t *slot, size_t n_slot,
                               holo_error *e)
{
    const uint32_t most = hg_limit_most(m->limits.name_bytes, HG_LIMIT_NAME_BYTES);
    const int32_t rank = (int32_t)hg_limit_most(m->limits.rank, HG_LIMIT_RANK);
    for (uint32_t i = 0; i < n; i++) {
        hg_str name = hg_str_from(p->text + port[i].name);
        HG_REQUIRE(e, name.length <= most, HOLO_E_LIMIT,
                   "the name of %s %u has %zu bytes, its limit is %u", what, i, name.length, most);
        HG_REQUIRE(e, hg_str_is_text(name), HOLO_E_FORMAT, "the name of %s %u is not text", what,
                   i);
        HG_REQUIRE(e, p->value[port[i].value].rank <= rank, HOLO_E_LIMIT,
                   "%s '%s' has rank %d, its limit is %d", what, name.text,
                   p->value[port[i].value].rank, rank);
        if (name.length == 0) continue; /* found by its number only */
        size_t at = (size_t)hg_hash(name.text, name.length, 0) & (n_slot - 1);
        for (; slot[at] != 0; at = (at + 1) & (n_slot - 1))
            HG_REQUIRE(e, strcmp(p->text + port[slot[at] - 1].name, name.text) != 0, HOLO_E_FORMAT,
                       "%ss %u and %u have the same name '%s'", what, slot[at] - 1, i, name.text);
        slot[at] = i + 1;
    }
    return HOLO_OK;
}

holo_status hg_model_check_ports(holo_model *m, const hg_program *p, holo_error *e)
{
    HG_REQUIRE(e, hg_str_is_text(hg_str_from(p->text + p->head.name)), HOLO_E_FORMAT,
               "the name of the graph is not text");
    size_t n_slot = 16, most = p->head.n_in > p->head.n_out ? p->head.n_in : p->head.n_out;
    while (n_slot < 2 * most)
        n_slot *= 2;
    uint32_t *slot = hg_arena_array(&m->arena, n_slot, 2 * sizeof *slot);
    if (slot == NULL) return hg_fail_nomem(e, n_slot * 2 * sizeof *slot);
    HG_TRY(ports_check(m, p, p->in, p->head.n_in, "input", slot, n_slot, e));
    HG_TRY(ports_check(m, p, p->out, p->head.n_out, "output", slot + n_slot, n_slot, e));
    return HOLO_OK;
}

/* ---- what callers ask -------------------------------------------------------------------------
 */

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
