/* chain.c - the nodes between two values, as a graph of their own on all codes. Per-channel
 * constants become a column, one row of the result a channel. */
#include "table/table.h"

bool hg_chain_is_table(const hg_graph *g, const hg_node *n)
{
    if (!hg_op_is(n, "holo:Table") || n->n_in != 2 || hg_node_in(g, n, 1) == 0) return false;
    return hg_graph_value(g, hg_node_in(g, n, 1))->type.rank == 1;
}

bool hg_chain_is_pointwise(const hg_graph *g, const hg_node *n)
{
    if (n->n_out != 1 || n->out[0] == 0 || n->n_in == 0) return false;
    if (hg_chain_is_table(g, n)) return true;
    if (n->op->lane == NULL && !hg_op_is(n, "holo:Lane")) return false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        if (v != 0 && hg_lane_type_of(hg_graph_value(g, v)->type.dtype) == 0) return false;
    }
    return hg_lane_type_of(hg_graph_value(g, n->out[0])->type.dtype) != 0;
}

/* A Resize that only picks elements: none are new. */
static bool chain_is_nearest(const hg_node *n)
{
    const hg_str places = hg_node_string(n, "coordinate_transformation_mode", "half_pixel");
    return hg_op_is(n, "Resize") && hg_str_is(hg_node_string(n, "mode", "nearest"), "nearest") &&
           !hg_str_is(places, "tf_crop_and_resize");
}

bool hg_chain_is_move(const hg_node *n)
{
    static const char *const names[] = {
        "Reshape",         "Transpose", "Squeeze",   "Unsqueeze",      "Flatten",      "Slice",
        "Split",           "Gather",    "GatherND",  "GatherElements", "Expand",       "Tile",
        "ReverseSequence", "Identity",  "holo:Part", "DepthToSpace",   "SpaceToDepth",
    };
    for (size_t i = 0; i < HG_COUNT(names); i++)
        if (hg_op_is(n, names[i])) return true;
    return chain_is_nearest(n);
}

/* ---- extraction ------------------------------------------------------------------------------
 */

typedef struct chain_walk {
    const hg_graph *from;
    const hg_chain_span *span;
    hg_chain *to;
    hg_value_id *seen, *made; /* pairs: a value of `from` and what it is in the chain */
    size_t n_seen;
} chain_walk;

static holo_status chain_give_up(const chain_walk *w, const char *why)
{
    return hg_fail(w->to->ctx.error, HOLO_E_LIMIT, "the chain %s", why);
}

static holo_status chain_remember(chain_walk *w, hg_value_id value, hg_value_id made)
{
    if (w->n_seen == 2 * HG_CHAIN_MAX) return chain_give_up(w, "is too long");
    w->seen[w->n_seen] = value;
    w->made[w->n_seen++] = made;
    return HOLO_OK;
}

static hg_type chain_type(hg_chain *c, holo_dtype dtype, int64_t rows, int64_t cols)
{
    return (hg_type){.dtype = dtype,
                     .rank = 2,
                     .dim = {hg_dim_const(&c->g.dims, rows), hg_dim_const(&c->g.dims, cols)}};
}

/* A scalar, or a column with one element for each row. */
static holo_status chain_const(chain_walk *w, hg_value_id value, hg_value_id *out)
{
    const hg_value *v = hg_graph_value(w->from, value);
    hg_type type = {.dtype = v->type.dtype};
    int64_t count = 1, dim;
    for (int32_t k = 0; k < v->type.rank; k++) {
        if (!hg_dim_is_const(&w->from->dims, v->type.dim[k], &dim) || (dim != 1 && count != 1))
            return chain_give_up(w, "has a constant that differs along several dimensions");
        if (dim != 1) count = dim;
    }
    if (count != 1 && count != w->span->rows)
        return chain_give_up(w, "has a constant that is not one number a channel");
    if (count != 1) type = chain_type(w->to, v->type.dtype, count, 1);
    HG_TRY(hg_graph_add_const(&w->to->g, (hg_str){0}, type, v->constant->data, v->constant->bytes,
                              out));
    return chain_remember(w, value, *out);
}

/* The entries of a table on the way, as they are. */
static holo_status chain_table(chain_walk *w, hg_value_id value, hg_value_id *out)
{
    const hg_value *v = hg_graph_value(w->from, value);
    int64_t count;
    if (v->constant == NULL || !hg_dim_is_const(&w->from->dims, v->type.dim[0], &count))
        return chain_give_up(w, "has a table that is no constant");
    const hg_type type = {
        .dtype = v->type.dtype, .rank = 1, .dim = {hg_dim_const(&w->to->g.dims, count)}};
    return hg_graph_add_const(&w->to->g, (hg_str){0}, type, v->constant->data, v->constant->bytes,
                              out);
}

static holo_status chain_value(chain_walk *w, hg_value_id value, hg_value_id *out);

static holo_status chain_node(chain_walk *w, const hg_node *n, hg_value_id value, hg_value_id *out)
{
    hg_value_id *in;
    hg_node_id made;
    if (!hg_chain_is_pointwise(w->from, n)) return chain_give_up(w, "has another operator");
    HG_TRY(HG_NEW(&w->to->ctx, n->n_in, &in));
    const bool is_table = hg_chain_is_table(w->from, n);
    w->to->has_table |= is_table;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(w->from, n, i);
        if (is_table && i == 1)
            HG_TRY(chain_table(w, v, &in[i]));
        else if (v != 0)
            HG_TRY(chain_value(w, v, &in[i]));
    }
    const hg_node_spec spec = {
        .op = n->op, .in = in, .n_in = n->n_in, .attr = n->attr, .n_attr = n->n_attr, .n_out = 1};
    HG_TRY(hg_graph_add_node(&w->to->g, HG_REGION_MAIN, 0, &spec, &made));
    HG_TRY(hg_op_infer(&w->to->g, made));
    *out = hg_graph_node(&w->to->g, made)->out[0];
    if (hg_graph_value(&w->to->g, *out)->type.dtype != hg_graph_value(w->from, value)->type.dtype)
        return chain_give_up(w, "has another type alone");
    return chain_remember(w, value, *out);
}

/* The depth of the recursion is bounded by what origins allow, HG_CHAIN_MAX. */
static holo_status chain_value(chain_walk *w, hg_value_id value, hg_value_id *out)
{
    for (size_t i = 0; i < w->n_seen; i++)
        if (w->seen[i] == value) {
            *out = w->made[i];
            return HOLO_OK;
        }
    const hg_value *v = hg_graph_value(w->from, value);
    if (v->constant != NULL) return chain_const(w, value, out);
    if (v->node == 0) return chain_give_up(w, "begins elsewhere");
    const hg_node *n = hg_graph_node(w->from, v->node);
    for (uint32_t i = 0; i < w->span->n_pick; i++)
        if (w->span->pick[i].joined == value)
            return chain_value(w, hg_node_in(w->from, n, w->span->pick[i].input), out);
    if (hg_chain_is_move(n)) return chain_value(w, hg_node_in(w->from, n, 0), out);
    return chain_node(w, n, value, out);
}

static holo_status chain_fill(hg_chain *c, const hg_graph *g, const hg_chain_span *span)
{
    chain_walk w = {.from = g, .span = span, .to = c};
    hg_value_id result;
    c->from = hg_graph_value(g, span->from)->type.dtype;
    c->to = hg_graph_value(g, span->to)->type.dtype;
    HG_TRY(hg_graph_init(&c->g, &c->ctx));
    c->g.name = hg_str_from("chain");
    HG_TRY(HG_NEW(&c->ctx, 2 * HG_CHAIN_MAX, &w.seen));
    HG_TRY(HG_NEW(&c->ctx, 2 * HG_CHAIN_MAX, &w.made));
    HG_TRY(hg_graph_add_region_input(&c->g, HG_REGION_MAIN, hg_str_from("codes"),
                                     chain_type(c, c->from, span->rows, span->codes.count),
                                     &c->in));
    HG_TRY(chain_remember(&w, span->from, c->in));
    HG_TRY(chain_value(&w, span->to, &result));
    HG_TRY(hg_graph_add_region_output(&c->g, HG_REGION_MAIN, hg_str_from("entries"), result));
    const hg_type whole = chain_type(c, c->to, span->rows, span->codes.count);
    if (!hg_type_equal(&whole, &hg_graph_value(&c->g, result)->type))
        return chain_give_up(&w, "has another shape alone");
    return HOLO_OK;
}

void hg_chain_open(hg_chain *c, const hg_graph *g)
{
    *c = (hg_chain){.ctx = *g->ctx};
    c->ctx.error = &c->error;
    hg_arena_init(&c->ctx.arena, &g->ctx->arena.alloc, g->ctx->arena.limit);
    hg_arena_init(&c->ctx.scratch, &g->ctx->arena.alloc, g->ctx->arena.limit);
}

holo_status hg_chain_init(hg_chain *c, const hg_graph *g, const hg_chain_span *span)
{
    hg_chain_open(c, g);
    c->rows = span->rows;
    c->codes = span->codes;
    return chain_fill(c, g, span);
}

void hg_chain_deinit(hg_chain *c)
{
    hg_arena_deinit(&c->ctx.scratch);
    hg_arena_deinit(&c->ctx.arena);
}

hg_value_id hg_chain_result(const hg_chain *c)
{
    return hg_region_out(&c->g, HG_REGION_MAIN, 0);
}

/* ---- as one body -----------------------------------------------------------------------------
 */

holo_status hg_chain_node_code(hg_graph *g, hg_node_id id, hg_lane_code *code)
{
    const hg_node *n = hg_graph_node(g, id);
    if (n->op->lane != NULL) return hg_op_code(g, id, code);
    const hg_attr *attr = hg_node_attr(n, "code");
    if (attr == NULL || attr->kind != HG_ATTR_CODE)
        return hg_fail(g->ctx->error, HOLO_E_LIMIT, "a node has no lane code");
    *code = *attr->code;
    return HOLO_OK;
}

typedef struct chain_join {
    hg_chain *c;
    hg_lane *b;
    hg_lane_id *of; /* by value of the chain */
    hg_value_id *operand;
    uint32_t n_operand;
} chain_join;

/* One number is an immediate; a column is an operand. */
static hg_lane_id chain_join_const(chain_join *j, hg_value_id value)
{
    const hg_type *t = &hg_graph_value(&j->c->g, value)->type;
    const hg_lane_type type = hg_lane_type_of(t->dtype);
    double x;
    const int64_t *ints;
    size_t count;
    if (hg_dtype_is_float(t->dtype) && hg_graph_const_scalar(&j->c->g, value, &x))
        return hg_lane_const_f(j->b, type, x);
    if (!hg_dtype_is_float(t->dtype) && hg_graph_const_ints(&j->c->g, value, &ints, &count) &&
        count == 1)
        return hg_lane_const_i(j->b, type, ints[0]);
    if (j->n_operand + 1 == HG_LANE_MAX_IO) return 0;
    j->operand[j->n_operand++] = value;
    return hg_lane_load(j->b, j->n_operand, type);
}

static holo_status chain_join_node(chain_join *j, hg_node_id id)
{
    hg_graph *g = &j->c->g;
    const hg_node *n = hg_graph_node(g, id);
    hg_lane_code code;
    hg_lane_id *in;
    HG_TRY(HG_NEW(&j->c->ctx, n->n_in, &in));
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        if (v == 0) continue;
        if (j->of[v] == 0) j->of[v] = chain_join_const(j, v);
        in[i] = j->of[v];
    }
    HG_TRY(hg_chain_node_code(g, id, &code));
    n = hg_graph_node(g, id);
    if (!hg_lane_inline(j->b, &code, in, &j->of[n->out[0]]))
        return hg_fail(&j->c->error, HOLO_E_LIMIT, "the chain does not fit one body");
    /* the last one is narrowed by the store */
    if (n->out[0] != hg_chain_result(j->c))
        j->of[n->out[0]] =
            hg_lane_narrow(j->b, j->of[n->out[0]], hg_graph_value(g, n->out[0])->type.dtype,
                           code.out[0].saturate != 0);
    return HOLO_OK;
}

/* How the node that makes the result stores it. */
static hg_lane_out chain_store(const hg_chain *c)
{
    const hg_value *v = hg_graph_value(&c->g, hg_chain_result(c));
    const hg_attr *code = v->node == 0 ? NULL : hg_node_attr(hg_graph_node(&c->g, v->node), "code");
    return code != NULL ? code->code->out[0] : (hg_lane_out){0};
}

holo_status hg_chain_code(hg_chain *c, hg_lane_code *code, hg_value_id **operand)
{
    chain_join j = {.c = c, .b = hg_lane_new(&c->ctx.arena)};
    if (j.b == NULL) return hg_fail_nomem(&c->error, sizeof(hg_lane_op));
    HG_TRY(HG_NEW(&c->ctx, c->g.n_value, &j.of));
    HG_TRY(HG_NEW(&c->ctx, HG_LANE_MAX_IO, &j.operand));
    j.of[c->in] = hg_lane_load(j.b, 0, hg_lane_type_of(c->from));
    for (hg_node_id id = hg_graph_region(&c->g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(&c->g, id)->next)
        HG_TRY(chain_join_node(&j, id));
    *operand = j.operand;
    const hg_lane_out kind = {.saturate = chain_store(c).saturate};
    return hg_lane_finish(j.b, 1 + j.n_operand, &j.of[hg_chain_result(c)], &kind, 1, code,
                          &c->error);
}

/* ---- as text ---------------------------------------------------------------------------------
 */

typedef struct chain_text {
    hg_arena *arena;
    char *text;
    size_t size, capacity;
} chain_text;

static bool chain_sink(void *user, const void *bytes, size_t size)
{
    chain_text *t = user;
    if (t->size + size + 1 > t->capacity) {
        const size_t capacity = 2 * (t->size + size) + 256;
        char *grown = hg_arena_alloc(t->arena, capacity);
        if (grown == NULL) return false;
        if (t->size != 0) memcpy(grown, t->text, t->size);
        t->text = grown;
        t->capacity = capacity;
    }
    memcpy(t->text + t->size, bytes, size);
    t->size += size;
    return true;
}

holo_status hg_chain_text(hg_chain *c, hg_str *out)
{
    chain_text t = {.arena = &c->ctx.arena};
    HG_TRY(hg_graph_dump_whole(&c->g, chain_sink, &t));
    *out = (hg_str){t.text, t.size};
    return HOLO_OK;
}
