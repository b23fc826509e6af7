/* eval.c - runs one node on constants. */
#include "eval/eval.h"

#include "base/limits.h"
#include "kernel/kernels.h"

enum { EVAL_PARTS = 64 };

static bool eval_type_is_fixed(const hg_graph *g, const hg_type *t)
{
    int64_t n;
    if (t->dtype == HOLO_NONE || t->dtype >= HOLO_SEQUENCE || t->rank < 0) return false;
    for (int32_t k = 0; k < t->rank; k++)
        if (!hg_dim_is_const(&g->dims, t->dim[k], &n) || n < 0) return false;
    return true;
}

/* Results of these are as large as data say. */
static bool eval_is_late(const hg_op *op)
{
    const hg_kernel *k = op->kernel == NULL ? NULL : hg_kernel_find(op->kernel);
    return k != NULL && k->size != NULL;
}

bool hg_eval_can(hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    if (n->n_body != 0 || (n->op->flags & HG_OP_EFFECT) != 0 || eval_is_late(n->op)) return false;
    if (n->op->lane == NULL && n->op->kernel == NULL && n->op->emit == NULL) return false;
    if (n->op->library != NULL) return false; /* the compiler does not link it */
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        if (v != 0 && !hg_graph_is_const(g, v)) return false;
    }
    for (uint32_t i = 0; i < n->n_attr; i++)
        for (size_t k = 0; n->attr[i].kind == HG_ATTR_DIMS && k < n->attr[i].count; k++)
            if (!hg_dim_is_const(&g->dims, n->attr[i].dims[k], &(int64_t){0})) return false;
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0 && !eval_type_is_fixed(g, &hg_graph_value(g, n->out[j])->type))
            return false;
    return true;
}

static void eval_tensor(const hg_graph *g, const hg_type *type, const void *data, holo_tensor *t)
{
    *t = (holo_tensor){.data = (void *)(uintptr_t)data, .rank = type->rank, .dtype = type->dtype};
    for (int32_t k = 0; k < type->rank; k++)
        (void)hg_dim_is_const(&g->dims, type->dim[k], &t->dim[k]);
}

holo_status hg_eval_bytes(hg_graph *g, hg_node_id id, uint32_t j, size_t *bytes)
{
    const hg_node *n = hg_graph_node(g, id);
    holo_tensor t;
    eval_tensor(g, &hg_graph_value(g, n->out[j])->type, NULL, &t);
    *bytes = holo_tensor_bytes(&t);
    const uint64_t limit = hg_limit(g->ctx->limits.tensor_bytes, HG_LIMIT_TENSOR_BYTES);
    const uint64_t most = hg_limit(g->ctx->limits.tensor_elements, HG_LIMIT_TENSOR_ELEMENTS);
    if (*bytes <= limit && (uint64_t)holo_tensor_count(&t) <= most) return HOLO_OK;
    char label[64];
    hg_str name = hg_node_label(g, id, label, sizeof label);
    return hg_fail(g->ctx->error, HOLO_E_LIMIT,
                   "node '%.*s' (%s): its constant result would be too large: %zu bytes, at most "
                   "%llu bytes and %llu elements are allowed",
                   HG_STR_ARG(name), n->origin->name, *bytes, (unsigned long long)limit,
                   (unsigned long long)most);
}

static holo_status eval_fail(hg_graph *g, hg_node_id id, holo_status status, const char *what)
{
    char label[64];
    hg_str name = hg_node_label(g, id, label, sizeof label);
    return hg_fail(g->ctx->error, status, "node '%.*s' (%s): %s", HG_STR_ARG(name),
                   hg_graph_node(g, id)->origin->name, what);
}

/* With a time limit in parts, between which the clock is read. */
static holo_status eval_units(const hg_ctx *ctx, const hg_kernel *k, const hg_args *a,
                              int64_t units, void *scratch)
{
    const int64_t part = ctx->limits.run_ms == 0 ? units : hg_max(1, units / EVAL_PARTS);
    for (int64_t i = 0; i < units; i += part) {
        HG_TRY(hg_ctx_check_time(ctx));
        k->run(a, (hg_range){i, hg_min(i + part, units), scratch});
    }
    return hg_ctx_check_time(ctx);
}

static bool eval_stopped(const void *ctx)
{
    return hg_ctx_check_time(ctx) != HOLO_OK;
}

static holo_status eval_kernel(hg_graph *g, hg_node_id id, const hg_kernel *k, hg_args *a)
{
    holo_status status = k->check(a, g->ctx->error);
    char label[64];
    hg_str name = hg_node_label(g, id, label, sizeof label);
    if (status != HOLO_OK)
        return hg_fail_prefix(g->ctx->error, status, "node '%.*s' (%s): ", HG_STR_ARG(name),
                              k->name);
    const hg_work work = hg_kernel_work(k, a);
    void *base = NULL, *scratch = NULL;
    if (work.scratch != 0) {
        scratch = hg_alloc_aligned(&g->ctx->arena.alloc, work.scratch, &base);
        if (scratch == NULL) return hg_fail_nomem(g->ctx->error, work.scratch);
    }
    status = eval_units(g->ctx, k, a, work.units, scratch);
    if (work.scratch != 0) hg_free(&g->ctx->arena.alloc, base, work.scratch + HG_ALIGN);
    if (status != HOLO_OK) return status;
    if (a->fault->kind != HG_FAULT_NONE)
        return hg_fail_prefix(g->ctx->error, hg_fault_fail(a->fault, g->ctx->error),
                              "node '%.*s' (%s): ", HG_STR_ARG(name),
                              hg_graph_node(g, id)->origin->name);
    return HOLO_OK;
}

static holo_status eval_view(hg_graph *g, const hg_emit *e, void *out)
{
    const hg_value *v = hg_graph_value(g, e->in[0]);
    int64_t first = 0;
    size_t offset, bytes;
    if (e->view_offset != 0) (void)hg_dim_is_const(&g->dims, e->view_offset, &first);
    HG_TRY(hg_eval_bytes(g, e->id, 0, &bytes));
    if (first < 0 || !hg_dtype_bytes(v->type.dtype, first, &offset) ||
        offset > v->constant->bytes || bytes > v->constant->bytes - offset)
        return eval_fail(g, e->id, HOLO_E_SHAPE, "the result has more elements than the input");
    if (bytes != 0) memcpy(out, (const uint8_t *)v->constant->data + offset, bytes);
    return HOLO_OK;
}

static holo_status eval_dims(const hg_graph *g, const hg_emit *e, int64_t *out)
{
    for (uint32_t i = 0; i < e->n_param; i++)
        (void)hg_dim_is_const(&g->dims, e->param[i], &out[i]);
    return HOLO_OK;
}

holo_status hg_eval_run(hg_graph *g, hg_node_id id, void *const *out)
{
    hg_emit e;
    HG_TRY(hg_op_emit(g, id, &e));
    const hg_node *n = hg_graph_node(g, id);
    if (e.is_view) return eval_view(g, &e, out[0]);
    int64_t *param;
    HG_TRY(HG_NEW(g->ctx, e.n_param + 1, &param));
    for (uint32_t i = 0; i < e.n_param; i++)
        if (!hg_dim_is_const(&g->dims, e.param[i], &param[i]))
            return eval_fail(g, id, HOLO_E_UNSUPPORTED, "a parameter is not constant");
    if (strcmp(e.kernel, "dims") == 0) return eval_dims(g, &e, out[0]);
    const hg_kernel *k = hg_kernel_find(e.kernel);
    if (k == NULL || k->size != NULL)
        return eval_fail(g, id, HOLO_E_UNSUPPORTED, "cannot be evaluated while compiling");
    holo_tensor *in, *result;
    HG_TRY(HG_NEW(g->ctx, e.n_in + 1, &in));
    HG_TRY(HG_NEW(g->ctx, n->n_out + 1, &result));
    for (uint32_t i = 0; i < e.n_in; i++) {
        if (e.in[i] == 0) continue;
        const hg_value *v = hg_graph_value(g, e.in[i]);
        eval_tensor(g, &v->type, v->constant->data, &in[i]);
    }
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0) eval_tensor(g, &hg_graph_value(g, n->out[j])->type, out[j], &result[j]);
    hg_fault fault = {0};
    hg_args a = {.in = in,
                 .out = result,
                 .param = param,
                 .code = e.code,
                 .fault = &fault,
                 .n_in = e.n_in,
                 .n_out = n->n_out,
                 .n_param = e.n_param,
                 .stop = eval_stopped,
                 .stop_user = g->ctx};
    return eval_kernel(g, id, k, &a);
}
