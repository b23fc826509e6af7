/* collapse.c - tables in place of chains. Backwards, values that something outside a chain needs
 * are tried: each is a table of its origin's codes where that costs less, and then nothing between
 * is needed for it. Several results of one origin are several tables. Forwards, the tables become
 * nodes; movement between is done on the codes, a Concat on what was looked up. */
#include "table/cert.h"
#include "table/table.h"

/* A table to come: the codes are `from` where `place` has them. */
typedef struct collapse_leaf {
    hg_chain_span span;
    hg_origin origin;
    hg_entries table;
    hg_alphabet range; /* what the codes can be, and the text that shows it */
    hg_str producer;
    hg_str proof; /* text of the certificate */
    bool is_identity;
} collapse_leaf;

enum { COLLAPSE_LEAVES = 64 };

/* How value `to` is looked up; several tables behind a Concat. */
typedef struct collapse_plan {
    collapse_leaf *leaf;
    uint32_t n_leaf;
} collapse_plan;

typedef struct collapse {
    hg_graph *g;
    hg_origins origins;
    bool *absorbed;      /* by value: nobody needs it beside tables */
    collapse_plan *plan; /* by value */
    hg_value_id *moved;  /* by place: the codes there */
    hg_value_id *now;    /* by value: the table that has taken its place, or 0 */
    bool always;
    bool *changed;
} collapse;

/* ---- which values are needed -----------------------------------------------------------------
 */

/* The node that uses a value gets along without it: what it makes is looked up or not needed. */
static bool collapse_absorbs(const collapse *c, hg_node_id id)
{
    const hg_node *n = hg_graph_node(c->g, id);
    for (uint32_t j = 0; j < n->n_out; j++) {
        hg_value_id out = n->out[j];
        if (out == 0) continue;
        if (c->origins.made[out].from == 0) return false;
        if (!c->absorbed[out] && c->plan[out].n_leaf == 0) return false;
    }
    return true;
}

static bool collapse_is_needed(const collapse *c, hg_value_id value)
{
    if (hg_graph_is_measured(c->g, value)) return true;
    /* readers that take the value itself as codes need it */
    if (c->origins.seen[value].from == value && !c->origins.seen[value].joins) return true;
    for (uint32_t slot = hg_graph_value(c->g, value)->first_use; slot != 0;
         slot = c->g->use[slot - 1].next) {
        const hg_use *use = &c->g->use[slot - 1];
        if (use->node == 0 || !collapse_absorbs(c, use->node)) return true;
    }
    return hg_graph_value(c->g, value)->n_uses == 0;
}

/* ---- tables ----------------------------------------------------------------------------------
 */

/* A chain that cannot be looked up is left as it is; a bug or lack of memory is an error. */
static holo_status collapse_settle(collapse *c, const hg_chain *chain, holo_status status,
                                   hg_value_id value)
{
    if (status != HOLO_E_BUG && status != HOLO_E_NOMEM) return HOLO_OK;
    char label[64];
    hg_str name = hg_node_label(c->g, hg_graph_value(c->g, value)->node, label, sizeof label);
    return hg_fail(c->g->ctx->error, status, "node '%.*s' (%s): %s", HG_STR_ARG(name),
                   hg_graph_node(c->g, hg_graph_value(c->g, value)->node)->op->name,
                   chain->error.message);
}

/* Elements behind dimension `first` - 1; a size that is not known counts as large. */
static double collapse_count(const collapse *c, hg_value_id value, int32_t first)
{
    const hg_type *t = &hg_graph_value(c->g, value)->type;
    double count = 1;
    int64_t dim;
    for (int32_t k = first; k < t->rank; k++)
        count *= hg_dim_is_const(&c->g->dims, t->dim[k], &dim) ? (double)dim : 1 << 10;
    return count;
}

/* What a table alone costs more than lane code that joins its neighbours. */
static double collapse_alone(const collapse *c, const collapse_leaf *leaf)
{
    const hg_value *from = hg_graph_value(c->g, leaf->origin.from);
    const hg_value *to = hg_graph_value(c->g, leaf->span.to);
    double cost = 0;
    if (from->node != 0 && hg_graph_node(c->g, from->node)->op->lane != NULL)
        cost += hg_cost_bytes(hg_dtype_bits(from->type.dtype));
    hg_node_id user = hg_graph_only_user(c->g, leaf->span.to);
    if (user != 0 && hg_graph_node(c->g, user)->op->lane != NULL)
        cost += hg_cost_bytes(hg_dtype_bits(to->type.dtype));
    return cost;
}

static bool collapse_pays(const collapse *c, const collapse_leaf *leaf, const hg_chain *chain,
                          const hg_lane_code *code)
{
    if (c->always) return true;
    const double lane = hg_cost_lane(code, chain->from, chain->to);
    const double inner = collapse_count(c, leaf->origin.place, leaf->origin.axis + 1);
    const double table =
        hg_cost_table(chain->from, chain->to, &leaf->table, inner) + collapse_alone(c, leaf);
    return (lane - table) * collapse_count(c, leaf->span.to, 0) > hg_cost_cold(&leaf->table);
}

/* The table as it will be stored, in memory that stays. */
static holo_status collapse_keep(collapse *c, hg_chain *chain, const hg_entries *whole,
                                 collapse_leaf *leaf)
{
    leaf->table = *whole;
    leaf->table.data = hg_arena_alloc(&c->g->ctx->arena, whole->bytes);
    if (leaf->table.data == NULL) return hg_fail_nomem(&chain->error, whole->bytes);
    memcpy(leaf->table.data, whole->data, whole->bytes);
    hg_narrow_rows(&leaf->table);
    hg_narrow_classes(&leaf->table);
    leaf->is_identity = hg_narrow_is_identity(chain->from, chain->to, &leaf->table);
    return HOLO_OK;
}

static holo_status collapse_prove(collapse *c, hg_chain *chain, hg_str text, collapse_leaf *leaf)
{
    return hg_cert_table_text(&c->g->ctx->arena, chain, &leaf->table, text, leaf->range,
                              leaf->producer, &leaf->proof);
}

/* Tables on the way are looked up by the reference kernel itself: what they give is not checked
 * again. */
static holo_status collapse_try_tables(collapse *c, hg_chain *chain, collapse_leaf *leaf,
                                       bool *fits)
{
    hg_entries whole;
    hg_str text;
    HG_TRY(hg_chain_text(chain, &text));
    HG_TRY(hg_entries_step(chain, &whole));
    HG_TRY(collapse_keep(c, chain, &whole, leaf));
    *fits = true;
    return collapse_prove(c, chain, text, leaf);
}

static holo_status collapse_try_chain(collapse *c, hg_chain *chain, collapse_leaf *leaf, bool *fits)
{
    hg_lane_code code;
    hg_value_id *operand;
    hg_entries whole;
    hg_str text;
    bool faults;
    if (chain->has_table) return collapse_try_tables(c, chain, leaf, fits);
    HG_TRY(hg_chain_code(chain, &code, &operand));
    for (uint32_t i = 0; i < code.n_op; i++)
        if (code.op[i].op == HG_LANE_INDEX) return HOLO_OK;
    /* 65,536 codes take milliseconds: only where the table would pay */
    leaf->table = (hg_entries){.rows = chain->rows, .count = chain->codes.count};
    leaf->table.bytes = (size_t)(chain->rows * chain->codes.count) * (hg_dtype_bits(chain->to) / 8);
    if (hg_domain_bits(chain->from) == 16 && !collapse_pays(c, leaf, chain, &code)) return HOLO_OK;
    HG_TRY(hg_entries_make(chain, &code, operand, &whole, &faults));
    if (faults) return HOLO_OK;
    HG_TRY(collapse_keep(c, chain, &whole, leaf));
    if (!leaf->is_identity && !collapse_pays(c, leaf, chain, &code)) return HOLO_OK;
    HG_TRY(hg_chain_text(chain, &text));
    HG_TRY(collapse_prove(c, chain, text, leaf));
    HG_TRY(hg_entries_check(chain, &whole));
    *fits = true;
    return HOLO_OK;
}

static holo_status collapse_try_leaf(collapse *c, collapse_leaf *leaf, bool *fits)
{
    hg_chain chain;
    *fits = false;
    HG_TRY(hg_range_find(c->g, leaf->span.from, &c->g->ctx->arena, &leaf->range, &leaf->producer));
    leaf->span.codes = hg_narrow_codes(
        leaf->range, hg_domain_all(hg_graph_value(c->g, leaf->span.from)->type.dtype));
    holo_status status = hg_chain_init(&chain, c->g, &leaf->span);
    if (status == HOLO_OK) status = collapse_try_chain(c, &chain, leaf, fits);
    status = collapse_settle(c, &chain, status, leaf->span.to);
    hg_chain_deinit(&chain);
    return status;
}

/* The inputs of a Concat have the rows of what follows it: not when it joins along them, and not
 * when elements move behind it. */
static bool collapse_can_split(const collapse *c, const hg_origin *o, const collapse_leaf *so_far)
{
    const hg_node *join = hg_graph_node(c->g, hg_graph_value(c->g, o->from)->node);
    const int32_t rank = hg_graph_value(c->g, o->from)->type.rank;
    const int64_t axis = hg_node_int(join, "axis", 0);
    if (so_far->span.n_pick == HG_CHAIN_PICKS) return false;
    if (so_far->origin.axis < 0) return true;
    return o->place == o->from && so_far->origin.axis != (axis < 0 ? axis + rank : axis);
}

/* One leaf, or those of all inputs of a Concat; false when there are too many. so_far has the axis
 * of the rows. */
static bool collapse_leaves(const collapse *c, const hg_origin *o, const collapse_leaf *so_far,
                            collapse_leaf *out, uint32_t *n)
{
    collapse_leaf next = *so_far;
    if (!o->joins) {
        if (*n == COLLAPSE_LEAVES) return false;
        next.span.from = o->from;
        next.origin = *o;
        next.origin.axis = so_far->origin.axis;
        out[(*n)++] = next;
        return true;
    }
    if (!collapse_can_split(c, o, so_far)) return false;
    const hg_node *join = hg_graph_node(c->g, hg_graph_value(c->g, o->from)->node);
    const uint32_t pick = next.span.n_pick++;
    for (uint32_t i = 0; i < join->n_in; i++) {
        next.span.pick[pick] = (hg_chain_pick){o->from, i};
        if (!collapse_leaves(c, &c->origins.seen[hg_node_in(c->g, join, i)], &next, out, n))
            return false;
    }
    return true;
}

static holo_status collapse_try(collapse *c, hg_value_id value)
{
    const hg_origin *o = &c->origins.made[value];
    const hg_node *n = hg_graph_node(c->g, hg_graph_value(c->g, value)->node);
    if (o->from == 0 || o->from == value || !hg_chain_is_pointwise(c->g, n)) return HOLO_OK;
    const hg_value *v = hg_graph_value(c->g, value);
    if (!hg_domain_is_entry(v->type.dtype) || v->content != NULL ||
        hg_graph_is_measured(c->g, value))
        return HOLO_OK;
    collapse_leaf *leaf, start = {.span = {.to = value, .rows = o->rows}, .origin = *o};
    uint32_t n_leaf = 0;
    HG_TRY(HG_NEW(c->g->ctx, COLLAPSE_LEAVES, &leaf));
    if (!collapse_leaves(c, o, &start, leaf, &n_leaf)) return HOLO_OK;
    for (uint32_t i = 0; i < n_leaf; i++) {
        bool fits;
        HG_TRY(collapse_try_leaf(c, &leaf[i], &fits));
        if (!fits) return HOLO_OK;
    }
    c->plan[value] = (collapse_plan){leaf, n_leaf};
    return HOLO_OK;
}

static holo_status collapse_decide(collapse *c)
{
    for (hg_node_id id = hg_graph_region(c->g, HG_REGION_MAIN)->last; id != 0;
         id = hg_graph_node(c->g, id)->prev) {
        const hg_node *n = hg_graph_node(c->g, id);
        for (uint32_t j = 0; j < n->n_out; j++) {
            hg_value_id out = n->out[j];
            if (out == 0 || c->origins.made[out].from == 0) continue;
            c->absorbed[out] = !collapse_is_needed(c, out);
            if (!c->absorbed[out]) HG_TRY(collapse_try(c, out));
        }
    }
    return HOLO_OK;
}

/* ---- nodes -----------------------------------------------------------------------------------
 */

/* Movement number `place` again, of other data. */
static hg_value_id collapse_move(collapse *c, hg_build *b, hg_value_id place, hg_value_id data)
{
    const hg_value *v = hg_graph_value(c->g, place);
    const hg_node *n = hg_graph_node(c->g, v->node);
    const uint32_t index = v->index, n_in = n->n_in;
    hg_value_id *in = hg_arena_array(&c->g->ctx->arena, n_in, sizeof *in);
    if (in == NULL) b->status = hg_fail_nomem(c->g->ctx->error, n_in * sizeof *in);
    if (in == NULL || data == 0) return 0;
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = i == 0 ? data : hg_node_in(c->g, n, i);
    hg_node_id made = hg_build_copy(b, v->node, in, n_in);
    return made == 0 ? 0 : hg_graph_node(c->g, made)->out[index];
}

/* The codes of an origin where its place has them. */
static hg_value_id collapse_codes(collapse *c, hg_build *b, const hg_origin *o)
{
    if (o->place == o->from) return c->now[o->from] != 0 ? c->now[o->from] : o->from;
    if (c->moved[o->place] != 0) return c->moved[o->place];
    const hg_value_id *in = c->origins.in[hg_graph_value(c->g, o->place)->node];
    hg_value_id codes = collapse_codes(c, b, &c->origins.seen[in[0]]);
    return c->moved[o->place] = collapse_move(c, b, o->place, codes);
}

static hg_value_id collapse_lookup(collapse *c, hg_build *b, const collapse_leaf *leaf)
{
    const hg_entries *t = &leaf->table;
    hg_dims *d = &c->g->dims;
    const holo_dtype to = hg_graph_value(c->g, leaf->span.to)->type.dtype;
    hg_type type = {.dtype = to, .rank = 1, .dim = {hg_dim_const(d, t->count)}};
    if (t->rows > 1)
        type = (hg_type){
            .dtype = to, .rank = 2, .dim = {hg_dim_const(d, t->rows), hg_dim_const(d, t->count)}};
    hg_value_id in[2] = {collapse_codes(c, b, &leaf->origin), 0};
    if (in[0] == 0 || leaf->is_identity) return in[0];
    in[1] = hg_build_const(b, type, t->data, t->bytes);
    if (in[1] == 0) return 0;
    b->status = hg_cert_add_table(c->g, in[1], b->id, leaf->proof);
    if (b->status != HOLO_OK) return 0;
    const hg_attr attr[3] = {hg_attr_make_int("axis", hg_max(leaf->origin.axis, 0)),
                             hg_attr_make_int("base", t->base),
                             hg_attr_make_int("classes", t->classes)};
    return hg_build_op(b, "holo:Table", in, 2, attr, 3);
}

/* What a plan gives at the place of an origin: one table, or a Concat of several. */
static hg_value_id collapse_place(collapse *c, hg_build *b, const hg_origin *o,
                                  const collapse_leaf **leaf)
{
    if (!o->joins) return collapse_lookup(c, b, (*leaf)++);
    const hg_node_id id = hg_graph_value(c->g, o->place)->node;
    const hg_value_id *from = c->origins.in[id];
    if (o->place != o->from) {
        hg_value_id data = collapse_place(c, b, &c->origins.seen[from[0]], leaf);
        return collapse_move(c, b, o->place, data);
    }
    const uint32_t n_in = hg_graph_node(c->g, id)->n_in;
    hg_value_id *in = hg_arena_array(&c->g->ctx->arena, n_in, sizeof *in);
    if (in == NULL) {
        b->status = hg_fail_nomem(c->g->ctx->error, n_in * sizeof *in);
        return 0;
    }
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = collapse_place(c, b, &c->origins.seen[from[i]], leaf);
    if (b->status != HOLO_OK) return 0;
    hg_node_id made = hg_build_copy(b, id, in, n_in);
    return made == 0 ? 0 : hg_graph_node(c->g, made)->out[0];
}

static holo_status collapse_replace(collapse *c, hg_node_id id, const collapse_plan *plan)
{
    hg_build b;
    hg_build_init(&b, c->g, id);
    hg_value_id old = hg_graph_node(c->g, id)->out[0];
    const hg_origin o = c->origins.made[old];
    const collapse_leaf *leaf = plan->leaf;
    hg_value_id made = collapse_place(c, &b, &o, &leaf);
    HG_TRY(b.status);
    if (made == 0 ||
        !hg_type_equal(&hg_graph_value(c->g, made)->type, &hg_graph_value(c->g, old)->type))
        return HOLO_OK; /* a size that is written in another way: the chain stays */
    hg_build_replace(&b, 0, made);
    hg_graph_remove_node(c->g, id);
    c->now[old] = made;
    *c->changed = true;
    return b.status;
}

holo_status hg_table_collapse(hg_graph *g, bool always, bool *changed)
{
    collapse c = {.g = g, .always = always, .changed = changed};
    const size_t n_value = g->n_value;
    HG_TRY(hg_origins_find(g, &c.origins));
    HG_TRY(HG_NEW(g->ctx, n_value, &c.absorbed));
    HG_TRY(HG_NEW(g->ctx, n_value, &c.plan));
    HG_TRY(HG_NEW(g->ctx, n_value, &c.moved));
    HG_TRY(HG_NEW(g->ctx, n_value, &c.now));
    HG_TRY(collapse_decide(&c));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        hg_node_id next = n->next;
        if (n->n_out == 1 && n->out[0] != 0 && n->out[0] < n_value && c.plan[n->out[0]].n_leaf != 0)
            HG_TRY(collapse_replace(&c, id, &c.plan[n->out[0]]));
        id = next;
    }
    return HOLO_OK;
}
