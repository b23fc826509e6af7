/* op.c - the table of operators and inference of one node. */
#include "op/op.h"

#include "base/limits.h"
#include "op/op_content.h"

#include <stdarg.h>
#include <stdio.h>

#define X(stem) extern const hg_op hg_op_##stem;
#include "op_list.inc"
#undef X

static const hg_op *const op_table[] = {
#define X(stem) &hg_op_##stem,
#include "op_list.inc"
#undef X
    NULL,
};

static const hg_type op_absent;

const hg_op *const *hg_ops(void)
{
    return op_table;
}

static bool op_in_domain(const hg_op *op, hg_str domain)
{
    if (op->domain == NULL) return domain.length == 0 || hg_str_is(domain, "ai.onnx");
    return hg_str_is(domain, op->domain);
}

const hg_op *hg_op_find(hg_str domain, hg_str name)
{
    for (const hg_op *const *op = op_table; *op != NULL; op++)
        if (hg_str_is(name, (*op)->name) && op_in_domain(*op, domain)) return *op;
    return NULL;
}

const hg_op *hg_op_get(const char *name)
{
    const char *colon = strchr(name, ':');
    hg_str domain = {name, colon == NULL ? 0 : (size_t)(colon - name)};
    const hg_op *op = hg_op_find(domain, hg_str_from(colon == NULL ? name : colon + 1));
    assert(op != NULL);
    return op;
}

bool hg_op_is(const hg_node *n, const char *name)
{
    const char *colon = strchr(name, ':');
    if (strcmp(n->op->name, colon == NULL ? name : colon + 1) != 0) return false;
    return op_in_domain(n->op, (hg_str){name, colon == NULL ? 0 : (size_t)(colon - name)});
}

const hg_node *hg_op_producer(const hg_graph *g, hg_value_id v, const char *name)
{
    const hg_node_id id = v == 0 ? 0 : hg_graph_value(g, v)->node;
    if (id == 0) return NULL;
    const hg_node *n = hg_graph_node(g, id);
    return name == NULL || hg_op_is(n, name) ? n : NULL;
}

/* ---- inference
 * --------------------------------------------------------------------------------------- */

holo_status hg_infer_fail(const hg_infer *n, holo_status status, const char *format, ...)
{
    char sentence[512], label[64];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    hg_str name = hg_node_label(n->g, n->id, label, sizeof label);
    return hg_fail(n->ctx->error, status, "node '%.*s' (%s): %s", HG_STR_ARG(name),
                   n->node->origin->name, sentence);
}

static holo_status op_check_arity(const hg_infer *n)
{
    const hg_op *op = n->node->op;
    int64_t present = 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (hg_node_in(n->g, n->node, i) != 0) present = (int64_t)i + 1;
    if (present < op->in.min || (op->in.max >= 0 && present > op->in.max))
        return hg_infer_fail(n, HOLO_E_MODEL, "has %lld inputs, expected %d to %d",
                             (long long)present, op->in.min, op->in.max);
    if ((int64_t)n->n_out < op->out.min || (op->out.max >= 0 && (int64_t)n->n_out > op->out.max))
        return hg_infer_fail(n, HOLO_E_MODEL, "has %u outputs, expected %d to %d", n->n_out,
                             op->out.min, op->out.max);
    if (op->types != 0 && n->n_in > 0 && n->in[0]->dtype != HOLO_NONE)
        HG_TRY(hg_infer_types(n, 0, op->types));
    return HOLO_OK;
}

static holo_status op_collect_inputs(hg_infer *n, const hg_type **in)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id id = hg_node_in(n->g, n->node, i);
        in[i] = id == 0 ? &op_absent : &hg_graph_value(n->g, id)->type;
        if (id == 0) continue;
        hg_str name = hg_graph_value(n->g, id)->name;
        if (in[i]->dtype == HOLO_NONE)
            return hg_infer_fail(n, HOLO_E_TYPE, "the type of input %u ('%.*s') is not known", i,
                                 HG_STR_ARG(name));
        if (in[i]->rank == HG_RANK_UNKNOWN && in[i]->dtype < HOLO_SEQUENCE)
            return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                                 "the rank of input %u ('%.*s') is not known at compile time", i,
                                 HG_STR_ARG(name));
    }
    n->in = in;
    return HOLO_OK;
}

/* The contents are symbols that a reader asked for: they are the value's own, whatever infer finds.
 */
static bool op_content_is_own(const hg_infer *n, hg_value_id id)
{
    const hg_value *v = hg_graph_value(n->g, id);
    if (v->content == NULL || v->n_content == 0) return false;
    const int64_t symbol = hg_dim_symbol_of(n->dims, v->content[0]);
    return symbol >= 0 && n->dims->symbol[symbol].kind == HG_SYMBOL_CONTENT &&
           n->dims->symbol[symbol].value == id;
}

/* What infer found against what the model declares: element types must agree; shapes found win,
 * since declared ones are often stale. */
static holo_status op_store_type(const hg_infer *n, uint32_t j)
{
    hg_value *v = hg_graph_value(n->g, n->node->out[j]);
    if (v->type.dtype != HOLO_NONE && v->type.dtype != n->out[j].dtype)
        return hg_infer_fail(n, HOLO_E_TYPE, "output '%.*s' is declared %s but is %s",
                             HG_STR_ARG(v->name), holo_dtype_text(v->type.dtype),
                             holo_dtype_text(n->out[j].dtype));
    const uint32_t most = hg_limit_most(n->ctx->limits.rank, HG_LIMIT_RANK);
    const bool is_internal = (n->node->op->flags & HG_OP_INTERNAL) != 0; /* packed: one more */
    if (n->out[j].rank > (int32_t)most && !is_internal)
        return hg_infer_fail(n, HOLO_E_LIMIT, "output '%.*s' has rank %d, at most %u is allowed",
                             HG_STR_ARG(v->name), n->out[j].rank, most);
    v->type = n->out[j];
    if (n->out_content[j] == NULL && op_content_is_own(n, n->node->out[j])) return HOLO_OK;
    v->content = n->out_content[j];
    v->n_content = n->n_out_content[j];
    return HOLO_OK;
}

holo_status hg_op_infer(hg_graph *g, hg_node_id id)
{
    const hg_node *node = hg_graph_node(g, id);
    hg_infer n = {.g = g,
                  .ctx = g->ctx,
                  .dims = &g->dims,
                  .id = id,
                  .node = node,
                  .n_in = node->n_in,
                  .n_out = node->n_out};
    const hg_type **in;
    HG_TRY(HG_NEW(g->ctx, node->n_in + 1, &in));
    HG_TRY(HG_NEW(g->ctx, node->n_out + 1, &n.out));
    HG_TRY(HG_NEW(g->ctx, node->n_out + 1, &n.out_content));
    HG_TRY(HG_NEW(g->ctx, node->n_out + 1, &n.n_out_content));
    HG_TRY(op_collect_inputs(&n, in));
    HG_TRY(op_check_arity(&n));
    if (node->op->infer == NULL) return hg_infer_fail(&n, HOLO_E_BUG, "has no shape rule");
    HG_TRY(node->op->infer(&n));
    if (g->dims.failed) return hg_fail_nomem(g->ctx->error, sizeof(hg_dim_rec));
    node = n.node = hg_graph_node(g, id); /* the array may have moved */
    for (uint32_t j = 0; j < node->n_out; j++)
        if (node->out[j] != 0) HG_TRY(op_store_type(&n, j));
    if (node->op->lane != NULL) HG_TRY(hg_op_lane_content(g, id));
    return HOLO_OK;
}

holo_status hg_op_demand(hg_graph *g, hg_node_id id)
{
    const size_t first = g->n_demand;
    const hg_infer n = {.g = g, .ctx = g->ctx, .dims = &g->dims, .id = id};
    g->demand_level = HG_DEMAND_SHAPE;
    const holo_status status = hg_op_infer(g, id);
    for (uint32_t j = 0; status == HOLO_OK && j < hg_graph_node(g, id)->n_out; j++) {
        const hg_value_id out = hg_graph_node(g, id)->out[j];
        const hg_type type = out == 0 ? (hg_type){0} : hg_graph_value(g, out)->type;
        for (int32_t i = 0; i < type.rank; i++)
            hg_infer_at_least(&n, type.dim[i], hg_dim_const(&g->dims, 0));
    }
    g->demand_level = HG_DEMAND_NONE;
    HG_TRY(status);
    return hg_graph_keep_demands(g, first, HG_DEMAND_SHAPE);
}

/* ---- public listing
 * ------------------------------------------------------------------------------------- */

static void op_types_text(hg_types types, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (uint32_t t = 1; t < 64; t++) {
        if ((types & HG_TYPE_BIT(t)) == 0) continue;
        int n = snprintf(text + at, size - at, "%s%s", at == 0 ? "" : " ",
                         holo_dtype_text((holo_dtype)t));
        if (n < 0 || (size_t)n >= size - at) return;
        at += (size_t)n;
    }
}

static const char *op_tier(const hg_op *op)
{
    if (op->lower != NULL) return "composite";
    if (op->n_body != 0) return "control";
    if (op->lane != NULL) return "lane";
    return op->kernel != NULL ? "kernel" : "view";
}

void holo_ops_visit(void (*visit)(void *user, const holo_op_info *op), void *user)
{
    for (const hg_op *const *p = op_table; *p != NULL; p++) {
        const hg_op *op = *p;
        if ((op->flags & HG_OP_INTERNAL) != 0) continue;
        char types[512];
        op_types_text(op->types, types, sizeof types);
        visit(user, &(holo_op_info){.domain = op->domain == NULL ? "" : op->domain,
                                    .name = op->name,
                                    .brief = op->brief,
                                    .types = types,
                                    .tier = op_tier(op),
                                    .since = op->since,
                                    .version = op->version == 0 ? op->since : op->version});
    }
}
