/* verify.c - the invariants of the graph; runs after every pass in debug builds.
 *
 * In this order, since each step trusts what the ones before it established: arrays and ids, lists
 * of nodes, definitions, uses, then what needs a walk: visibility and the operators' arities. */
#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/walk.h"

typedef struct verify {
    const hg_graph *g;
    holo_error *e;
    uint8_t *seen;  /* per value: defined and visible here */
    uint8_t *alive; /* per region: reached from the graph */
    size_t uses;    /* slots of nodes and regions that hold a value */
} verify;

/* Complains about a value, a node or a region by number and name. */
static holo_status verify_bad_value(const verify *v, size_t id, const char *what)
{
    hg_str name = v->g->value[id].name;
    return hg_fail(v->e, HOLO_E_BUG, "graph: value %zu '%.*s': %s", id, HG_STR_ARG(name), what);
}

static holo_status verify_bad_node(const verify *v, size_t id, const char *what)
{
    const hg_node *n = &v->g->node[id];
    return hg_fail(v->e, HOLO_E_BUG, "graph: node %zu '%.*s' (%s): %s", id, HG_STR_ARG(n->name),
                   n->op != NULL ? n->op->name : "no operator", what);
}

static holo_status verify_bad_region(const verify *v, size_t id, const char *what)
{
    return hg_fail(v->e, HOLO_E_BUG, "graph: region %zu of node %u: %s", id,
                   (unsigned int)v->g->region[id].owner, what);
}

/* ---- types and constants ------------------------------------------------------- */

static const char *verify_type(const hg_graph *g, const hg_type *type)
{
    for (int depth = 0; type != NULL; type = type->item, depth++) {
        if (depth > 64) return "its type is nested too deeply";
        if (type->dtype != HOLO_NONE && !hg_dtype_is_valid((uint32_t)type->dtype))
            return "its element type is unknown";
        if (type->rank < HG_RANK_UNKNOWN || type->rank > HG_MAX_RANK)
            return "its rank is not valid";
        for (int32_t i = 0; i < type->rank; i++)
            if (type->dim[i] >= g->dims.count) return "a dimension is no expression of this graph";
    }
    return NULL;
}

static const char *verify_const(const hg_graph *g, const hg_value *v)
{
    int64_t count = 1, dim;
    size_t bytes;
    if (v->node != 0 || v->region != 0) return "it is a constant and also defined elsewhere";
    if (v->type.rank < 0) return "a constant without rank";
    for (int32_t i = 0; i < v->type.rank; i++)
        if (!hg_dim_is_const(&g->dims, v->type.dim[i], &dim) || dim < 0 ||
            !hg_mul_i64(count, dim, &count))
            return "a constant whose dimensions are not numbers";
    if (hg_dtype_bits(v->type.dtype) == 0) return "a constant that is no tensor";
    if (!hg_dtype_bytes(v->type.dtype, count, &bytes) || bytes != v->constant->bytes)
        return "a constant whose number of bytes does not fit its type";
    return bytes != 0 && v->constant->data == NULL ? "a constant without data" : NULL;
}

static holo_status verify_values(const verify *v)
{
    const hg_graph *g = v->g;
    for (size_t id = 1; id < g->n_value; id++) {
        const hg_value *value = &g->value[id];
        const char *bad = verify_type(g, &value->type);
        if (value->node >= g->n_node || value->region >= g->n_region ||
            value->first_use > g->n_use || value->first_use == 1)
            bad = "it refers to something outside the graph";
        if (bad == NULL && value->constant != NULL) bad = verify_const(g, value);
        for (uint32_t i = 0; bad == NULL && i < value->n_content; i++)
            if (value->content[i] >= g->dims.count)
                bad = "a content is no expression of this graph";
        if (bad != NULL) return verify_bad_value(v, id, bad);
    }
    return HOLO_OK;
}

/* ---- arrays, ids, lists of nodes ----------------------------------------------- */

static holo_status verify_node_ids(const verify *v)
{
    const hg_graph *g = v->g;
    for (size_t id = 1; id < g->n_node; id++) {
        const hg_node *n = &g->node[id];
        bool good = n->region < g->n_region && n->prev < g->n_node && n->next < g->n_node &&
                    n->first_slot <= g->n_use && n->n_in <= g->n_use - n->first_slot;
        for (uint32_t i = 0; good && i < n->n_out; i++)
            good = n->out[i] < g->n_value;
        for (uint32_t i = 0; good && i < n->n_body; i++)
            good = n->body[i] > HG_REGION_MAIN && n->body[i] < g->n_region &&
                   g->region[n->body[i]].owner == id;
        if (!good) return verify_bad_node(v, id, "it refers to something outside the graph");
        for (uint32_t i = 0; i < n->n_body; i++)
            if (v->alive[n->body[i]]++ != 0) return verify_bad_node(v, id, "it has a body twice");
    }
    memset(v->alive, 0, g->n_region);
    return HOLO_OK;
}

static holo_status verify_region_ids(const verify *v)
{
    const hg_graph *g = v->g;
    for (size_t id = 1; id < g->n_region; id++) {
        const hg_region *r = &g->region[id];
        bool good = r->first < g->n_node && r->last < g->n_node && r->owner < g->n_node &&
                    r->first_slot <= g->n_use && r->n_out <= g->n_use - r->first_slot &&
                    (id != HG_REGION_MAIN || r->owner == 0);
        for (uint32_t i = 0; good && i < r->n_in; i++)
            good = r->in[i] != 0 && r->in[i] < g->n_value;
        if (!good) return verify_bad_region(v, id, "it refers to something outside the graph");
    }
    return HOLO_OK;
}

static holo_status verify_list(const verify *v, hg_region_id region, size_t *total)
{
    const hg_graph *g = v->g;
    const hg_region *r = &g->region[region];
    hg_node_id prev = 0;
    size_t steps = 0;
    for (hg_node_id at = r->first; at != 0; prev = at, at = g->node[at].next) {
        if (g->node[at].region != region || g->node[at].prev != prev || ++steps > g->n_node)
            return verify_bad_node(v, at, "the list of its region's nodes is broken");
    }
    if (r->last != prev) return verify_bad_region(v, region, "its last node is not the last");
    *total += steps;
    return HOLO_OK;
}

/* Every node stands in the list of its region, and every region hangs below the graph. */
static holo_status verify_lists(verify *v)
{
    const hg_graph *g = v->g;
    size_t listed = 0, live = hg_graph_count_nodes(g), reached = 0;
    for (size_t id = 1; id < g->n_region; id++)
        HG_TRY(verify_list(v, (hg_region_id)id, &listed));
    if (listed != live)
        return hg_fail(v->e, HOLO_E_BUG, "graph: %zu nodes stand in a region, %zu in its list",
                       live, listed);
    for (hg_walk w = hg_walk_start(g); hg_walk_next(&w);) {
        v->alive[w.region] = 1;
        if (w.event == HG_WALK_NODE && ++reached > live) break;
    }
    if (reached != live)
        return hg_fail(v->e, HOLO_E_BUG, "graph: %zu nodes are there, a walk meets %zu", live,
                       reached);
    return HOLO_OK;
}

/* ---- definitions --------------------------------------------------------------- */

static holo_status verify_definitions(const verify *v)
{
    const hg_graph *g = v->g;
    for (size_t id = 1; id < g->n_node; id++) {
        const hg_node *n = &g->node[id];
        for (uint32_t i = 0; n->region != 0 && i < n->n_out; i++) {
            const hg_value *value = &g->value[n->out[i]];
            if (n->out[i] != 0 && (value->node != id || value->index != i))
                return verify_bad_value(v, n->out[i], "its node is not the one that defines it");
        }
    }
    for (size_t id = 1; id < g->n_region; id++) {
        const hg_region *r = &g->region[id];
        for (uint32_t i = 0; i < r->n_in; i++)
            if (g->value[r->in[i]].region != id || g->value[r->in[i]].index != i)
                return verify_bad_value(v, r->in[i], "its region is not the one that defines it");
    }
    for (size_t id = 1; id < g->n_value; id++) {
        const hg_value *value = &g->value[id];
        if (value->node != 0) {
            const hg_node *n = &g->node[value->node];
            if (value->region != 0 || n->region == 0 || value->index >= n->n_out ||
                n->out[value->index] != id)
                return verify_bad_value(v, id, "its node does not define it");
        } else if (value->region != 0) {
            const hg_region *r = &g->region[value->region];
            if (value->index >= r->n_in || r->in[value->index] != id)
                return verify_bad_value(v, id, "its region does not define it");
        }
    }
    return HOLO_OK;
}

/* ---- uses
 * ------------------------------------------------------------------------------------------------
 */

/* Slots of a node or of a region's outputs say whose they are. */
static bool verify_slots(verify *v, uint32_t first, uint32_t count, hg_node_id node,
                         hg_region_id region)
{
    for (uint32_t i = 0; i < count; i++) {
        const hg_use *u = &v->g->use[first + i];
        if (u->node != node || u->region != region || u->index != i) return false;
        if (u->value >= v->g->n_value) return false;
        v->uses += u->value != 0;
    }
    return true;
}

static holo_status verify_owned_slots(verify *v)
{
    const hg_graph *g = v->g;
    size_t held = 0;
    for (size_t id = 1; id < g->n_node; id++) {
        const hg_node *n = &g->node[id];
        if (n->region != 0 && !verify_slots(v, n->first_slot, n->n_in, (hg_node_id)id, 0))
            return verify_bad_node(v, id, "its inputs are not recorded as uses");
    }
    for (size_t id = 1; id < g->n_region; id++) {
        const hg_region *r = &g->region[id];
        if (v->alive[id] && !verify_slots(v, r->first_slot, r->n_out, 0, (hg_region_id)id))
            return verify_bad_region(v, id, "its outputs are not recorded as uses");
    }
    for (size_t i = 0; i < g->n_use; i++)
        held += g->use[i].value != 0;
    if (held != v->uses)
        return hg_fail(v->e, HOLO_E_BUG, "graph: %zu uses are recorded, nodes and regions have %zu",
                       held, v->uses);
    return HOLO_OK;
}

static holo_status verify_use_lists(const verify *v)
{
    const hg_graph *g = v->g;
    size_t listed = 0;
    for (size_t id = 1; id < g->n_value; id++) {
        uint32_t prev = 0, count = 0;
        for (uint32_t at = g->value[id].first_use; at != 0; prev = at, at = g->use[at - 1].next) {
            const hg_use *u = &g->use[at - 1];
            if (u->value != id || u->prev != prev || u->next > g->n_use || u->next == 1 ||
                ++count > g->value[id].n_uses)
                return verify_bad_value(v, id, "the list of its uses is broken");
        }
        if (count != g->value[id].n_uses)
            return verify_bad_value(v, id, "the number of its uses is wrong");
        listed += count;
    }
    if (listed != v->uses)
        return hg_fail(v->e, HOLO_E_BUG, "graph: %zu uses are recorded, values list %zu", v->uses,
                       listed);
    return HOLO_OK;
}

/* ---- visibility and operators -------------------------------------------------- */

static bool verify_is_visible(const verify *v, hg_value_id id)
{
    return id == 0 || v->g->value[id].constant != NULL || v->seen[id] != 0;
}

static void verify_mark_outputs(const verify *v, hg_node_id node, uint8_t mark)
{
    const hg_node *n = &v->g->node[node];
    for (uint32_t i = 0; i < n->n_out; i++)
        v->seen[n->out[i]] = mark;
}

static void verify_mark_inputs(const verify *v, hg_region_id region, uint8_t mark)
{
    const hg_region *r = &v->g->region[region];
    for (uint32_t i = 0; i < r->n_in; i++)
        v->seen[r->in[i]] = mark;
}

static bool verify_arity(uint32_t count, hg_arity arity)
{
    return (int64_t)count >= arity.min && (arity.max < 0 || (int64_t)count <= arity.max);
}

static holo_status verify_node(const verify *v, hg_node_id id)
{
    const hg_node *n = &v->g->node[id];
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!verify_is_visible(v, hg_node_in(v->g, n, i)))
            return verify_bad_value(v, hg_node_in(v->g, n, i),
                                    "it is used before or outside the region of its definition");
    if (n->op == NULL) return verify_bad_node(v, id, "it has no operator");
    if (!verify_arity(n->n_in, n->op->in))
        return verify_bad_node(v, id, "the operator does not take this number of inputs");
    if (!verify_arity(n->n_out, n->op->out))
        return verify_bad_node(v, id, "the operator does not have this number of outputs");
    const bool may_lack = (n->op->flags & HG_OP_BODY_OPTIONAL) != 0;
    if (n->n_body > n->op->n_body || (n->n_body < n->op->n_body && !may_lack))
        return verify_bad_node(v, id, "the operator does not have this number of bodies");
    for (uint32_t i = 0; i < n->n_attr; i++) {
        const hg_attr *a = &n->attr[i];
        if (a->kind == HG_ATTR_TENSOR && (a->tensor == 0 || a->tensor >= v->g->n_value ||
                                          v->g->value[a->tensor].constant == NULL))
            return verify_bad_node(v, id, "a tensor attribute is no constant");
        for (size_t k = 0; a->kind == HG_ATTR_DIMS && k < a->count; k++)
            if (a->dims[k] >= v->g->dims.count)
                return verify_bad_node(v, id, "an attribute is no expression of this graph");
    }
    return HOLO_OK;
}

/* Nothing of a region is visible behind its end. */
static holo_status verify_leave(const verify *v, hg_region_id region)
{
    for (uint32_t i = 0; i < v->g->region[region].n_out; i++)
        if (!verify_is_visible(v, hg_region_out(v->g, region, i)))
            return verify_bad_value(v, hg_region_out(v->g, region, i),
                                    "it is returned by a region that cannot see it");
    for (hg_node_id at = v->g->region[region].first; at != 0; at = v->g->node[at].next)
        verify_mark_outputs(v, at, 0);
    verify_mark_inputs(v, region, 0);
    return HOLO_OK;
}

static holo_status verify_walk(const verify *v)
{
    for (hg_walk w = hg_walk_start(v->g); hg_walk_next(&w);) {
        switch (w.event) {
        case HG_WALK_REGION: verify_mark_inputs(v, w.region, 1); break;
        case HG_WALK_NODE: HG_TRY(verify_node(v, w.node)); break;
        case HG_WALK_NODE_END: verify_mark_outputs(v, w.node, 1); break;
        case HG_WALK_REGION_END: HG_TRY(verify_leave(v, w.region)); break;
        }
    }
    return HOLO_OK;
}

static holo_status verify_all(verify *v)
{
    HG_TRY(verify_values(v));
    HG_TRY(verify_node_ids(v));
    HG_TRY(verify_region_ids(v));
    HG_TRY(verify_lists(v));
    HG_TRY(verify_definitions(v));
    HG_TRY(verify_owned_slots(v));
    HG_TRY(verify_use_lists(v));
    return verify_walk(v);
}

holo_status hg_graph_verify(const hg_graph *g, holo_error *e)
{
    const holo_allocator *alloc = &g->ctx->arena.alloc;
    size_t bytes = g->n_value + g->n_region;
    /* Not from an arena: verification runs after every pass and must not add up. */
    uint8_t *marks = hg_alloc_zero(alloc, bytes);
    if (marks == NULL) return hg_fail_nomem(e, bytes);
    verify v = {.g = g, .e = e, .seen = marks, .alive = marks + g->n_value};
    holo_status status = verify_all(&v);
    hg_free(alloc, marks, bytes);
    return status;
}
