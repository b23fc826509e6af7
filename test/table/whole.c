/* whole.c - reads a graph, collapses it, and runs it node by node. */
#include "whole.h"

#include "eval/eval.h"
#include "pass/pass.h"
#include "table/table.h"

holo_status whole_read(whole *w, const char *text, const char *pass, bool always)
{
    bool changed = false;
    *w = (whole){.ctx = {.error = NULL}};
    w->ctx.error = &w->error;
    hg_arena_init(&w->ctx.arena, NULL, 0);
    hg_arena_init(&w->ctx.scratch, NULL, 0);
    HG_TRY(hg_graph_init(&w->g, &w->ctx));
    HG_TRY(hg_graph_parse(&w->g, hg_str_from(text), &w->error));
    HG_TRY(hg_pass_find("infer_shapes")->run(&w->g, &changed));
    HG_TRY(hg_pass_find("fold_constants")->run(&w->g, &changed));
    HG_TRY(hg_pass_find("drop_dead")->run(&w->g, &changed));
    if (always) HG_TRY(hg_table_collapse(&w->g, true, &changed));
    if (pass != NULL) HG_TRY(hg_pass_find(pass)->run(&w->g, &changed));
    HG_TRY(hg_graph_verify(&w->g, &w->error));
    return hg_pass_find("drop_dead")->run(&w->g, &changed);
}

static holo_status whole_input(whole *w, hg_value_id in, const void *data)
{
    const hg_type type = hg_graph_value(&w->g, in)->type;
    int64_t count = 1, dim;
    size_t bytes;
    hg_value_id made;
    for (int32_t k = 0; k < type.rank; k++)
        count *= hg_dim_is_const(&w->g.dims, type.dim[k], &dim) ? dim : 0;
    if (!hg_dtype_bytes(type.dtype, count, &bytes)) return HOLO_E_LIMIT;
    HG_TRY(hg_graph_add_const(&w->g, (hg_str){0}, type, data, bytes, &made));
    hg_graph_replace_uses(&w->g, in, made);
    return HOLO_OK;
}

static holo_status whole_node(whole *w, hg_node_id id)
{
    void *out[WHOLE_RESULTS] = {NULL};
    size_t bytes[WHOLE_RESULTS] = {0};
    const uint32_t n_out = hg_graph_node(&w->g, id)->n_out;
    if (n_out > WHOLE_RESULTS || !hg_eval_can(&w->g, id))
        return hg_fail(&w->error, HOLO_E_UNSUPPORTED, "node %u cannot be evaluated", id);
    for (uint32_t j = 0; j < n_out; j++) {
        if (hg_graph_node(&w->g, id)->out[j] == 0) continue;
        HG_TRY(hg_eval_bytes(&w->g, id, j, &bytes[j]));
        out[j] = hg_arena_alloc(&w->ctx.arena, bytes[j] + 1);
    }
    HG_TRY(hg_eval_run(&w->g, id, out));
    for (uint32_t j = 0; j < n_out; j++) {
        hg_value_id old = hg_graph_node(&w->g, id)->out[j], made;
        if (old == 0) continue;
        HG_TRY(hg_graph_add_const(&w->g, (hg_str){0}, hg_graph_value(&w->g, old)->type, out[j],
                                  bytes[j], &made));
        hg_graph_replace_uses(&w->g, old, made);
    }
    hg_graph_remove_node(&w->g, id);
    return HOLO_OK;
}

holo_status whole_run(whole *w, const void *const *input)
{
    const hg_region *main = hg_graph_region(&w->g, HG_REGION_MAIN);
    for (uint32_t i = 0; i < main->n_in; i++)
        HG_TRY(whole_input(w, main->in[i], input[i]));
    while (hg_graph_region(&w->g, HG_REGION_MAIN)->first != 0)
        HG_TRY(whole_node(w, hg_graph_region(&w->g, HG_REGION_MAIN)->first));
    w->n_result = hg_graph_region(&w->g, HG_REGION_MAIN)->n_out;
    for (uint32_t i = 0; i < w->n_result && i < WHOLE_RESULTS; i++) {
        const hg_value *v = hg_graph_value(&w->g, hg_region_out(&w->g, HG_REGION_MAIN, i));
        w->result[i] = v->constant;
        w->dtype[i] = v->type.dtype;
    }
    return HOLO_OK;
}

uint32_t whole_count(const whole *w, const char *op)
{
    uint32_t count = 0;
    for (hg_node_id id = hg_graph_region(&w->g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(&w->g, id)->next)
        count += hg_op_is(hg_graph_node(&w->g, id), op);
    return count;
}

void whole_free(whole *w)
{
    hg_arena_deinit(&w->ctx.scratch);
    hg_arena_deinit(&w->ctx.arena);
}
