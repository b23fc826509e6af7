/* emit.c - graph to program.
 *
 * First every node is turned into a kernel call or a view, then the calls that no output needs are
 * dropped (shape arithmetic that ended up in dimension expressions has no reader left), then
 * values, dims and symbols that are still referred to are numbered and the tables written. */
#include "base/limits.h"
#include "op/op_body.h"
#include "plan/join.h"
#include "plan/plan.h"

enum { EMIT_TEXT_MAX = 65535 };

typedef struct emitter {
    hg_graph *g;
    hg_ctx *ctx;
    hg_weights *weights;
    hg_texts *names; /* of values and nodes, for people: shared by all graphs of the file */
    hg_texts texts;  /* of this program: kernels, symbols, inputs, outputs */
    hg_call *call;
    size_t n_call;
    hg_dim *value_offset; /* per value that is a view: from the first of its views on; 0: none */
    hg_place *place;      /* per value */
    bool *value_needed;
    bool *dim_needed;
    uint32_t *value_number;
    uint32_t *dim_number;
    uint32_t *symbol_number;
    uint32_t *content_first; /* per value: a symbol that is an element of it, plus 1 */
    uint32_t *content_next;  /* per symbol: the next one of the same value, plus 1 */
    hg_dim *dim_stack;
    hg_map kernels, lists, codes;
    hg_program p;
    size_t value_capacity, step_capacity, weight_capacity, code_capacity, lane_op_capacity,
        lane_out_capacity, list_capacity, kernel_capacity;
} emitter;

/* Appends one entry to a table of the program. */
#define EMIT_PUSH(m, table, counter, capacity, entry)                                              \
    (((m)->p.table = emit_push((m)->ctx, (m)->p.table, &(m)->p.head.counter, &(m)->capacity,       \
                               &(entry), sizeof(entry))) != NULL                                   \
         ? HOLO_OK                                                                                 \
         : hg_fail(m->ctx->error, HOLO_E_NOMEM,                                                    \
                   "out of memory or too many entries: the program is "                            \
                   "too large"))

static void *emit_push(hg_ctx *ctx, const void *table, uint32_t *count, size_t *capacity,
                       const void *entry, size_t size)
{
    uint8_t *items = hg_arena_grow(&ctx->arena, (void *)(uintptr_t)table, *count, capacity, size);
    if (items == NULL || *count == UINT32_MAX / 2) return NULL;
    memcpy(items + (size_t)*count * size, entry, size);
    ++*count;
    return items;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A view of a view is a view of the first, so that addresses are one addition away. */
static void emit_join_views(emitter *m, hg_call *c)
{
    const hg_dim before = m->value_offset[c->e.in[0]], own = c->e.view_offset;
    if (before != 0) c->e.view_offset = own == 0 ? before : hg_dim_add(&m->g->dims, before, own);
    m->value_offset[hg_graph_node(m->g, c->node)->out[0]] = c->e.view_offset;
}

static holo_status emit_calls(emitter *m)
{
    hg_graph *g = m->g;
    size_t count = 0;
    HG_TRY(HG_NEW(m->ctx, g->n_node + 1, &m->call));
    HG_TRY(HG_NEW(m->ctx, g->n_value + 1, &m->value_offset));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        hg_call *c = &m->call[count++];
        c->node = id;
        /* Packings of constants are weights, computed when the file is written. */
        if ((hg_graph_node(g, id)->op->flags & HG_OP_AT_WRITE) != 0 && hg_eval_can(g, id)) {
            c->node = 0;
            continue;
        }
        HG_TRY(hg_op_emit(g, id, &c->e));
        if (c->e.is_view) emit_join_views(m, c);
    }
    m->n_call = count;
    return g->dims.failed ? hg_fail_nomem(m->ctx->error, sizeof(hg_dim_rec)) : HOLO_OK;
}

/* ---- what is needed -------------------------------------------------------------------------- */

/* Marks a dim, its operands, and the values its symbols are read from. */
static void emit_need_dim(emitter *m, hg_dim dim)
{
    size_t depth = 0;
    if (dim == 0 || m->dim_needed[dim]) return;
    m->dim_needed[dim] = true;
    m->dim_stack[depth++] = dim;
    while (depth > 0) {
        const hg_dim_rec *r = &m->g->dims.rec[m->dim_stack[--depth]];
        if (r->op == HG_DIM_CONST) continue;
        if (r->op == HG_DIM_SYMBOL) {
            const hg_symbol *y = &m->g->dims.symbol[r->value];
            if (y->kind != HG_SYMBOL_INPUT) m->value_needed[y->value] = true;
            continue;
        }
        const hg_dim operand[3] = {r->a, r->b, r->op == HG_DIM_SELECT ? r->c : 0};
        for (int k = 0; k < 3; k++) {
            if (operand[k] == 0 || m->dim_needed[operand[k]]) continue;
            m->dim_needed[operand[k]] = true;
            m->dim_stack[depth++] = operand[k];
        }
    }
}

static void emit_need_value(emitter *m, hg_value_id v)
{
    if (v == 0) return;
    m->value_needed[v] = true;
    const hg_type *t = &hg_graph_value(m->g, v)->type;
    for (int32_t k = 0; k < t->rank; k++)
        emit_need_dim(m, t->dim[k]);
}

static void emit_need_call(emitter *m, hg_call *c)
{
    const hg_node *n = hg_graph_node(m->g, c->node);
    for (uint32_t j = 0; j < n->n_out; j++)
        c->needed |= n->out[j] != 0 && m->value_needed[n->out[j]];
    if (!c->needed) return;
    for (uint32_t j = 0; j < n->n_out; j++) {
        emit_need_value(m, n->out[j]);
        if (m->place != NULL) emit_need_dim(m, m->place[n->out[j]].offset);
    }
    emit_need_dim(m, c->offset);
    if (c->e.is_view) {
        emit_need_value(m, c->e.in[0]);
        emit_need_dim(m, c->e.view_offset);
        return;
    }
    for (uint32_t i = 0; i < c->e.n_in; i++)
        emit_need_value(m, c->e.in[i]);
    for (uint32_t i = 0; i < c->e.n_param; i++)
        emit_need_dim(m, c->e.param[i]);
}

static void emit_mark(emitter *m)
{
    const hg_region *main_region = hg_graph_region(m->g, HG_REGION_MAIN);
    for (uint32_t i = 0; i < main_region->n_out; i++)
        emit_need_value(m, hg_region_out(m->g, HG_REGION_MAIN, i));
    for (uint32_t i = 0; i < main_region->n_in; i++)
        emit_need_value(m, main_region->in[i]);
    for (size_t i = 0; i < m->g->n_demand; i++) {
        emit_need_dim(m, m->g->demand[i].actual);
        emit_need_dim(m, m->g->demand[i].expected);
    }
    for (size_t i = m->n_call; i-- > 0;)
        if (m->call[i].node != 0) emit_need_call(m, &m->call[i]);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Remembers where bytes that may come again were put; `at` is their position or number. */
static holo_status emit_remember(emitter *m, hg_map *map, hg_str bytes, uint32_t at)
{
    hg_str key = hg_str_copy(&m->ctx->arena, bytes);
    if (key.text == NULL || !hg_map_set(map, key, at + 1))
        return hg_fail_nomem(m->ctx->error, bytes.length);
    return HOLO_OK;
}

/* Layers repeat: shapes and parameters of most steps are in the list already. */
static holo_status emit_list(emitter *m, const uint32_t *number, uint32_t count, uint32_t *first)
{
    hg_str key = {(const char *)number, count * sizeof *number};
    uint32_t known = hg_map_get(&m->lists, key);
    *first = known != 0 ? known - 1 : m->p.head.n_list;
    if (known != 0 || count == 0) return HOLO_OK;
    for (uint32_t i = 0; i < count; i++)
        HG_TRY(EMIT_PUSH(m, list, n_list, list_capacity, number[i]));
    return emit_remember(m, &m->lists, key, *first);
}

static holo_status emit_dims(emitter *m)
{
    const hg_dims *d = &m->g->dims;
    hg_dim_rec *rec;
    hg_symbol_rec *symbol;
    HG_TRY(HG_NEW(m->ctx, d->count + 1, &rec));
    HG_TRY(HG_NEW(m->ctx, d->n_symbol + 1, &symbol));
    m->p.dim = rec;
    m->p.symbol = symbol;
    m->p.head.n_dim = 1;
    for (uint32_t i = 1; i < d->count; i++) {
        if (!m->dim_needed[i]) continue;
        hg_dim_rec r = d->rec[i];
        if (r.op == HG_DIM_SYMBOL) {
            if (m->symbol_number[r.value] == 0) m->symbol_number[r.value] = ++m->p.head.n_symbol;
            r.value = m->symbol_number[r.value] - 1;
        } else if (r.op != HG_DIM_CONST) {
            r.a = m->dim_number[r.a];
            r.b = m->dim_number[r.b];
            r.c = r.op == HG_DIM_SELECT ? m->dim_number[r.c] : 0;
        }
        m->dim_number[i] = m->p.head.n_dim;
        rec[m->p.head.n_dim++] = r;
    }
    return HOLO_OK;
}

/* After values are numbered. */
static holo_status emit_symbols(emitter *m)
{
    const hg_dims *d = &m->g->dims;
    hg_symbol_rec *out = (hg_symbol_rec *)(uintptr_t)m->p.symbol;
    for (size_t i = 0; i < d->n_symbol; i++) {
        if (m->symbol_number[i] == 0) continue;
        const hg_symbol *y = &d->symbol[i];
        hg_symbol_rec r = {.kind = (uint32_t)y->kind, .index = y->index, .at_most = y->at_most};
        if (y->kind != HG_SYMBOL_INPUT) r.value = m->value_number[y->value];
        HG_TRY(hg_texts_add(&m->texts, y->name, &r.name));
        out[m->symbol_number[i] - 1] = r;
    }
    return HOLO_OK;
}

/* A record for the type and name of value `id`; the next number is its. */
static holo_status emit_value_like(emitter *m, hg_value_id id, hg_value_rec rec)
{
    const hg_value *v = hg_graph_value(m->g, id);
    rec.dtype = (uint8_t)v->type.dtype;
    rec.rank = (int8_t)v->type.rank;
    HG_TRY(hg_texts_add(m->names, v->name, &rec.name));
    uint32_t dim[HG_MAX_RANK];
    for (int32_t k = 0; k < v->type.rank; k++) {
        if (v->type.dim[k] == 0)
            return hg_fail(m->ctx->error, HOLO_E_BUG,
                           "value %%%u '%.*s' has an unknown dimension %d", id, HG_STR_ARG(v->name),
                           k);
        dim[k] = m->dim_number[v->type.dim[k]];
    }
    HG_TRY(emit_list(m, dim, v->type.rank < 0 ? 0 : (uint32_t)v->type.rank, &rec.dims));
    return EMIT_PUSH(m, value, n_value, value_capacity, rec);
}

static holo_status emit_value(emitter *m, hg_value_id id, hg_value_rec rec)
{
    m->value_number[id] = m->p.head.n_value;
    return emit_value_like(m, id, rec);
}

/* The record of a part; what it is a part of gets its number before. */
static holo_status emit_part(emitter *m, hg_value_id whole, hg_dim offset, hg_value_rec *rec)
{
    const hg_value_rec own = {.storage = HG_STORAGE_ARENA};
    if (m->value_number[whole] == 0) HG_TRY(emit_value(m, whole, own));
    *rec = (hg_value_rec){.storage = HG_STORAGE_ALIAS, .ref = m->value_number[whole]};
    if (offset != 0) rec->offset = m->dim_number[offset];
    return HOLO_OK;
}

/* The result of a step, wherever it lies. */
static holo_status emit_result(emitter *m, hg_value_id id)
{
    hg_value_rec rec = {.storage = HG_STORAGE_ARENA};
    if (m->place[id].whole != 0)
        HG_TRY(emit_part(m, m->place[id].whole, m->place[id].offset, &rec));
    return emit_value(m, id, rec);
}

static holo_status emit_weight(emitter *m, hg_value_id id)
{
    uint32_t index;
    HG_TRY(hg_weights_add(m->weights, m->g, id, &index));
    hg_weight_rec rec = {.offset = m->weights->item[index].offset,
                         .bytes = m->weights->item[index].bytes};
    hg_value_rec value = {.storage = HG_STORAGE_WEIGHT, .ref = m->p.head.n_weight};
    HG_TRY(EMIT_PUSH(m, weight, n_weight, weight_capacity, rec));
    return emit_value(m, id, value);
}

/* Number of an operand; constants and packed constants get theirs at the first use. */
static holo_status emit_operand(emitter *m, hg_value_id id, uint32_t *number)
{
    *number = 0;
    if (id == 0) return HOLO_OK;
    if (m->value_number[id] == 0) {
        const hg_value *v = hg_graph_value(m->g, id);
        bool packed =
            v->node != 0 && (hg_graph_node(m->g, v->node)->op->flags & HG_OP_AT_WRITE) != 0;
        if (v->constant == NULL && !packed)
            return hg_fail(m->ctx->error, HOLO_E_BUG,
                           "value %%%u '%.*s' is used before it is computed", id,
                           HG_STR_ARG(v->name));
        HG_TRY(emit_weight(m, id));
    }
    *number = m->value_number[id];
    return HOLO_OK;
}

static holo_status emit_kernel(emitter *m, const char *name, uint32_t *number)
{
    uint32_t known = hg_map_get(&m->kernels, hg_str_from(name)), text;
    if (known != 0) {
        *number = known - 1;
        return HOLO_OK;
    }
    *number = m->p.head.n_kernel;
    HG_TRY(hg_texts_add(&m->texts, hg_str_from(name), &text));
    HG_TRY(EMIT_PUSH(m, kernel, n_kernel, kernel_capacity, text));
    if (!hg_map_set(&m->kernels, hg_str_from(name), *number + 1))
        return hg_fail_nomem(m->ctx->error, sizeof(hg_map_slot));
    return HOLO_OK;
}

/* Everything that makes two lane codes the same. */
static holo_status emit_code_key(emitter *m, const hg_lane_code *code, hg_str *key)
{
    size_t ops = code->n_op * sizeof *code->op, outs = code->n_out * sizeof *code->out;
    const uint32_t counts[4] = {code->n_op, code->n_out, code->n_in, code->n_reg};
    char *bytes;
    HG_TRY(HG_NEW(m->ctx, ops + outs + sizeof counts, &bytes));
    memcpy(bytes, counts, sizeof counts);
    memcpy(bytes + sizeof counts, code->op, ops);
    memcpy(bytes + sizeof counts + ops, code->out, outs);
    *key = (hg_str){bytes, sizeof counts + ops + outs};
    return HOLO_OK;
}

static holo_status emit_code(emitter *m, const hg_lane_code *code, uint32_t *number)
{
    hg_str key;
    HG_TRY(emit_code_key(m, code, &key));
    *number = hg_map_get(&m->codes, key);
    if (*number != 0) return HOLO_OK;
    hg_code_rec rec = {.first_op = m->p.head.n_lane_op,
                       .n_op = code->n_op,
                       .first_out = m->p.head.n_lane_out,
                       .n_out = code->n_out,
                       .n_in = code->n_in,
                       .n_reg = code->n_reg};
    for (uint32_t i = 0; i < code->n_op; i++)
        HG_TRY(EMIT_PUSH(m, lane_op, n_lane_op, lane_op_capacity, code->op[i]));
    for (uint32_t i = 0; i < code->n_out; i++)
        HG_TRY(EMIT_PUSH(m, lane_out, n_lane_out, lane_out_capacity, code->out[i]));
    HG_TRY(EMIT_PUSH(m, code_rec, n_code, code_capacity, rec));
    *number = m->p.head.n_code;
    return emit_remember(m, &m->codes, key, *number - 1);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static holo_status emit_push_step(emitter *m, hg_step_rec step)
{
    const uint64_t most = hg_limit(m->ctx->limits.steps, HG_LIMIT_STEPS);
    if (m->ctx->steps++ >= most)
        return hg_fail(m->ctx->error, HOLO_E_LIMIT,
                       "the program has more than %llu steps, which is its limit",
                       (unsigned long long)most);
    return EMIT_PUSH(m, step, n_step, step_capacity, step);
}

/* Symbols that are elements of this value get their numbers right after it is computed. */
static holo_status emit_bind(emitter *m, hg_value_id id)
{
    uint32_t count = 0, *number;
    for (uint32_t y = m->content_first[id]; y != 0; y = m->content_next[y - 1])
        count += m->symbol_number[y - 1] != 0;
    if (count == 0) return HOLO_OK;
    if (count > HG_MAX_PARAM)
        return hg_fail(m->ctx->error, HOLO_E_LIMIT,
                       "sizes depend on %u elements of '%.*s', at most %d can be", count,
                       HG_STR_ARG(hg_graph_value(m->g, id)->name), HG_MAX_PARAM);
    HG_TRY(HG_NEW(m->ctx, count, &number));
    hg_step_rec step = {.op = HG_STEP_BIND, .n_in = 1};
    for (uint32_t y = m->content_first[id]; y != 0; y = m->content_next[y - 1])
        if (m->symbol_number[y - 1] != 0) number[step.n_param++] = m->symbol_number[y - 1] - 1;
    HG_TRY(emit_list(m, number, step.n_param, &step.param));
    HG_TRY(emit_list(m, &m->value_number[id], 1, &step.in));
    HG_TRY(hg_texts_add(m->names, hg_graph_value(m->g, id)->name, &step.name));
    return emit_push_step(m, step);
}

static holo_status emit_view(emitter *m, const hg_call *c)
{
    uint32_t from;
    HG_TRY(emit_operand(m, c->e.in[0], &from));
    hg_value_rec rec = {.storage = HG_STORAGE_ALIAS, .ref = from};
    if (c->e.view_offset != 0) rec.offset = m->dim_number[c->e.view_offset];
    if (m->p.value[from].storage == HG_STORAGE_ALIAS) rec.ref = m->p.value[from].ref;
    hg_value_id out = hg_graph_node(m->g, c->node)->out[0];
    HG_TRY(emit_value(m, out, rec));
    return emit_bind(m, out);
}

/* Operations that are no kernels go by names of their own. */
static holo_status emit_operation(emitter *m, const hg_call *c, hg_step_rec *step)
{
    const hg_node *n = hg_graph_node(m->g, c->node);
    if (strcmp(c->e.kernel, "dims") == 0) {
        step->op = HG_STEP_DIMS;
        return HOLO_OK;
    }
    if (strcmp(c->e.kernel, "if") != 0 && strcmp(c->e.kernel, "loop") != 0)
        return emit_kernel(m, c->e.kernel, &step->kernel);
    step->op = c->e.kernel[0] == 'i' ? HG_STEP_IF : HG_STEP_LOOP;
    step->a = hg_body_graph(m->g, n, 0)->number;
    if (step->op == HG_STEP_IF) step->b = hg_body_graph(m->g, n, 1)->number;
    return HOLO_OK;
}

/* Inputs first: weights are numbered at their first use, so before the results. */
static holo_status emit_operands(emitter *m, const hg_call *c, hg_step_rec *step)
{
    const hg_node *n = hg_graph_node(m->g, c->node);
    if (c->e.n_in > HG_MAX_IN || n->n_out > HG_MAX_OUT || c->e.n_param > HG_MAX_PARAM)
        return hg_emit_fail(
            &c->e, HOLO_E_LIMIT,
            "%u inputs, %u outputs and %u parameters, at most %d, %d and %d are possible",
            c->e.n_in, n->n_out, c->e.n_param, HG_MAX_IN, HG_MAX_OUT, HG_MAX_PARAM);
    step->n_in = (uint16_t)c->e.n_in;
    step->n_out = (uint16_t)n->n_out;
    step->n_param = (uint16_t)c->e.n_param;
    uint32_t *number;
    HG_TRY(HG_NEW(m->ctx, (size_t)c->e.n_in + n->n_out + c->e.n_param + 1, &number));
    for (uint32_t i = 0; i < c->e.n_in; i++)
        HG_TRY(emit_operand(m, c->e.in[i], &number[i]));
    HG_TRY(emit_list(m, number, c->e.n_in, &step->in));
    for (uint32_t j = 0; j < n->n_out; j++) {
        number[j] = 0;
        if (n->out[j] == 0) continue;
        HG_TRY(emit_result(m, n->out[j]));
        number[j] = m->value_number[n->out[j]];
    }
    HG_TRY(emit_list(m, number, n->n_out, &step->out));
    for (uint32_t i = 0; i < c->e.n_param; i++)
        number[i] = m->dim_number[c->e.param[i]];
    return emit_list(m, number, c->e.n_param, &step->param);
}

/* What people know a step by: the model's operator, if it is one, and the name of its node. */
static holo_status emit_step_name(emitter *m, hg_str op, hg_str node, uint32_t *at)
{
    if (op.length == 0) return hg_texts_add(m->names, node, at);
    hg_str both = hg_str_format(&m->ctx->arena, "%.*s%c%.*s", HG_STR_ARG(op), HG_NAME_AFTER_OP,
                                HG_STR_ARG(node));
    if (both.text == NULL) return hg_fail_nomem(m->ctx->error, node.length);
    return hg_texts_add(m->names, both, at);
}

static holo_status emit_call_name(emitter *m, const hg_call *c, uint32_t *at)
{
    const hg_node *n = hg_graph_node(m->g, c->node);
    char buffer[64];
    hg_str label = hg_node_label(m->g, c->node, buffer, sizeof buffer);
    const bool is_ours = (n->origin->flags & HG_OP_INTERNAL) != 0; /* then the kernel says more */
    return emit_step_name(m, hg_str_from(is_ours ? "" : n->origin->name), label, at);
}

static holo_status emit_step(emitter *m, const hg_call *c)
{
    const hg_node *n = hg_graph_node(m->g, c->node);
    hg_step_rec step = {.op = HG_STEP_KERNEL};
    HG_TRY(emit_operation(m, c, &step));
    HG_TRY(emit_call_name(m, c, &step.name));
    HG_TRY(emit_operands(m, c, &step));
    if (c->e.code != NULL) HG_TRY(emit_code(m, c->e.code, &step.code));
    HG_TRY(emit_push_step(m, step));
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0) HG_TRY(emit_bind(m, n->out[j]));
    return HOLO_OK;
}

/* A Concat whose parts are in place; the one that is not is copied. */
static holo_status emit_join(emitter *m, const hg_call *c)
{
    const hg_value_id out = hg_graph_node(m->g, c->node)->out[0];
    if (c->copied != 0) {
        hg_step_rec step = {.op = HG_STEP_KERNEL, .n_in = 1, .n_out = 1, .n_param = 1};
        const hg_value_id part = c->e.in[c->copied - 1];
        uint32_t from, to;
        hg_value_rec rec;
        HG_TRY(emit_operand(m, part, &from));
        HG_TRY(emit_part(m, m->place[out].whole != 0 ? m->place[out].whole : out, c->offset, &rec));
        to = m->p.head.n_value;
        HG_TRY(emit_value_like(m, part, rec));
        HG_TRY(emit_kernel(m, c->e.kernel, &step.kernel));
        HG_TRY(emit_call_name(m, c, &step.name));
        HG_TRY(emit_list(m, &from, 1, &step.in));
        HG_TRY(emit_list(m, &to, 1, &step.out));
        HG_TRY(emit_list(m, &m->dim_number[c->e.param[0]], 1, &step.param));
        HG_TRY(emit_push_step(m, step));
    }
    if (m->value_number[out] == 0) HG_TRY(emit_result(m, out));
    return emit_bind(m, out);
}

/* ---- demands --------------------------------------------------------------------------------- */

/* Per dim: how many calls must be done before it is known. */
static holo_status emit_dim_calls(const emitter *m, size_t **out)
{
    const hg_dims *d = &m->g->dims;
    size_t *of_value, *of_dim;
    HG_TRY(HG_NEW(m->ctx, m->g->n_value + 1, &of_value));
    HG_TRY(HG_NEW(m->ctx, d->count + 1, &of_dim));
    for (size_t i = 0; i < m->n_call; i++) {
        const hg_node *n = m->call[i].node == 0 ? NULL : hg_graph_node(m->g, m->call[i].node);
        for (uint32_t j = 0; n != NULL && j < n->n_out; j++)
            of_value[n->out[j]] = i + 1;
    }
    for (uint32_t i = 1; i < d->count; i++) {
        const hg_dim_rec *r = &d->rec[i];
        if (r->op == HG_DIM_CONST) continue;
        if (r->op == HG_DIM_SYMBOL) {
            const hg_symbol *y = &d->symbol[r->value];
            of_dim[i] = y->kind == HG_SYMBOL_INPUT ? 0 : of_value[y->value];
            continue;
        }
        const hg_dim operand[3] = {r->a, r->b, r->op == HG_DIM_SELECT ? r->c : 0};
        for (int k = 0; k < 3; k++)
            if (of_dim[operand[k]] > of_dim[i]) of_dim[i] = of_dim[operand[k]];
    }
    *out = of_dim;
    return HOLO_OK;
}

static holo_status emit_demand(emitter *m, const hg_demand *d)
{
    int64_t is, should;
    if (d->actual == d->expected) return HOLO_OK;
    if (hg_dim_is_const(&m->g->dims, d->actual, &is) &&
        hg_dim_is_const(&m->g->dims, d->expected, &should))
        return hg_fail(m->ctx->error, HOLO_E_SHAPE,
                       "node '%.*s' (%.*s): the size is %lld, expected %lld", HG_STR_ARG(d->node),
                       HG_STR_ARG(d->what), (long long)is, (long long)should);
    const uint32_t param[2] = {m->dim_number[d->actual], m->dim_number[d->expected]};
    hg_step_rec step = {.op = HG_STEP_KERNEL, .n_param = 2};
    HG_TRY(emit_kernel(m, "sizes", &step.kernel));
    HG_TRY(emit_step_name(m, d->what, d->node, &step.name));
    HG_TRY(emit_list(m, param, 2, &step.param));
    return emit_push_step(m, step);
}

/* Demands by the number of calls after which their sizes are known: chains through next. */
typedef struct emit_waiting {
    size_t *first, *next; /* demand + 1 */
} emit_waiting;

static holo_status emit_wait(emitter *m, emit_waiting *w)
{
    const hg_graph *g = m->g;
    size_t *calls;
    HG_TRY(emit_dim_calls(m, &calls));
    HG_TRY(HG_NEW(m->ctx, m->n_call + 1, &w->first));
    HG_TRY(HG_NEW(m->ctx, g->n_demand + 1, &w->next));
    for (size_t i = g->n_demand; i-- > 0;) {
        size_t a = calls[g->demand[i].actual], b = calls[g->demand[i].expected];
        size_t *first = &w->first[a > b ? a : b];
        w->next[i] = *first;
        *first = i + 1;
    }
    return HOLO_OK;
}

/* Those that wait for call number `done`. */
static holo_status emit_demands(emitter *m, const emit_waiting *w, size_t done)
{
    for (size_t i = w->first[done]; i != 0; i = w->next[i - 1])
        HG_TRY(emit_demand(m, &m->g->demand[i - 1]));
    return HOLO_OK;
}

static holo_status emit_steps(emitter *m)
{
    emit_waiting waiting;
    HG_TRY(emit_wait(m, &waiting));
    HG_TRY(emit_demands(m, &waiting, 0));
    for (size_t i = 0; i < m->n_call; i++) {
        const hg_call *c = &m->call[i];
        if (c->node != 0 && c->needed)
            HG_TRY(c->e.is_view ? emit_view(m, c) : c->is_join ? emit_join(m, c) : emit_step(m, c));
        HG_TRY(emit_demands(m, &waiting, i + 1));
    }
    return HOLO_OK;
}

/* ---- ports ----------------------------------------------------------------------------------- */

static holo_status emit_ports(emitter *m)
{
    const hg_region *r = hg_graph_region(m->g, HG_REGION_MAIN);
    hg_port_rec *in, *out;
    HG_TRY(HG_NEW(m->ctx, r->n_in + 1, &in));
    HG_TRY(HG_NEW(m->ctx, r->n_out + 1, &out));
    m->p.in = in;
    m->p.out = out;
    for (uint32_t i = 0; i < r->n_in; i++) {
        hg_value_rec rec = {.storage = HG_STORAGE_INPUT, .ref = i};
        HG_TRY(emit_value(m, r->in[i], rec));
        in[i].value = m->value_number[r->in[i]];
        HG_TRY(hg_texts_add(&m->texts, hg_graph_value(m->g, r->in[i])->name, &in[i].name));
    }
    m->p.head.n_in = r->n_in;
    for (uint32_t i = 0; i < r->n_in; i++)
        HG_TRY(emit_bind(m, r->in[i]));
    return HOLO_OK;
}

static holo_status emit_outputs(emitter *m)
{
    const hg_region *r = hg_graph_region(m->g, HG_REGION_MAIN);
    hg_port_rec *out = (hg_port_rec *)(uintptr_t)m->p.out;
    for (uint32_t i = 0; i < r->n_out; i++) {
        HG_TRY(emit_operand(m, hg_region_out(m->g, HG_REGION_MAIN, i), &out[i].value));
        HG_TRY(hg_texts_add(&m->texts, r->out_name[i], &out[i].name));
    }
    m->p.head.n_out = r->n_out;
    return HOLO_OK;
}

static holo_status emit_size_dims(emitter *m)
{
    const size_t count = m->g->dims.count + 1;
    HG_TRY(HG_NEW(m->ctx, count, &m->dim_needed));
    HG_TRY(HG_NEW(m->ctx, count, &m->dim_number));
    return HG_NEW(m->ctx, count, &m->dim_stack);
}

static holo_status emit_init(emitter *m)
{
    const hg_graph *g = m->g;
    HG_TRY(hg_texts_init(&m->texts, m->ctx, EMIT_TEXT_MAX));
    hg_map_init(&m->kernels, &m->ctx->arena);
    hg_map_init(&m->lists, &m->ctx->arena);
    hg_map_init(&m->codes, &m->ctx->arena);
    HG_TRY(HG_NEW(m->ctx, g->n_value + 1, &m->value_needed));
    HG_TRY(HG_NEW(m->ctx, g->n_value + 1, &m->value_number));
    HG_TRY(HG_NEW(m->ctx, g->dims.n_symbol + 1, &m->symbol_number));
    HG_TRY(HG_NEW(m->ctx, g->n_value + 1, &m->content_first));
    HG_TRY(HG_NEW(m->ctx, g->dims.n_symbol + 1, &m->content_next));
    for (uint32_t i = (uint32_t)g->dims.n_symbol; i-- > 0;) {
        const hg_symbol *y = &g->dims.symbol[i];
        if (y->kind != HG_SYMBOL_CONTENT) continue;
        m->content_next[i] = m->content_first[y->value];
        m->content_first[y->value] = i + 1;
    }
    hg_value_rec none = {0};
    return EMIT_PUSH(m, value, n_value, value_capacity, none);
}

static holo_status emit_begin(emitter *m)
{
    HG_TRY(emit_calls(m)); /* may still make dims: before the tables are sized */
    HG_TRY(emit_init(m));
    HG_TRY(emit_size_dims(m));
    emit_mark(m);
    return HOLO_OK;
}

/* What the report of the compile wants to know. */
static holo_status emit_at_rest(emitter *m)
{
    uint32_t *at_rest;
    HG_TRY(HG_NEW(m->ctx, m->g->n_node + 1, &at_rest));
    for (size_t i = 0; i < m->n_call; i++) {
        const hg_call *c = &m->call[i];
        if (c->node != 0 && (c->e.is_view || c->is_join)) at_rest[c->node] = 1 + c->copied;
    }
    m->g->at_rest = at_rest;
    return HOLO_OK;
}

/* Looking for joins makes new dims, also where none are found. */
static holo_status emit_joins(emitter *m)
{
    HG_TRY(hg_join_find(m->g, m->call, m->n_call, &m->place));
    HG_TRY(emit_at_rest(m));
    HG_TRY(emit_size_dims(m));
    emit_mark(m);
    return HOLO_OK;
}

holo_status hg_plan_needed(hg_graph *g, const bool **out)
{
    emitter m = {.g = g, .ctx = g->ctx};
    bool *needed;
    HG_TRY(emit_begin(&m));
    HG_TRY(HG_NEW(g->ctx, g->n_node + 1, &needed));
    for (size_t i = 0; i < m.n_call; i++)
        needed[m.call[i].node] = m.call[i].needed;
    *out = needed;
    return HOLO_OK;
}

holo_status hg_plan_graph(hg_graph *g, hg_weights *weights, hg_texts *names, uint32_t nodes_before,
                          hg_program *out)
{
    emitter m = {.g = g, .ctx = g->ctx, .weights = weights, .names = names};
    HG_TRY(emit_begin(&m));
    HG_TRY(emit_joins(&m));
    HG_TRY(emit_dims(&m));
    HG_TRY(emit_ports(&m));
    HG_TRY(emit_steps(&m));
    HG_TRY(emit_outputs(&m));
    HG_TRY(emit_symbols(&m));
    HG_TRY(hg_texts_add(&m.texts, g->name, &m.p.head.name));
    m.p.text = m.texts.text;
    m.p.head.n_text = (uint32_t)m.texts.size;
    m.p.head.numerics = (uint32_t)g->ctx->numerics;
    m.p.head.is_body = g->is_body;
    m.p.head.nodes_before = nodes_before;
    m.p.head.nodes_after = (uint32_t)hg_graph_count_nodes(g);
    *out = m.p;
    return HOLO_OK;
}
