/* fuse_pointwise.c - chains of point-wise operators become one body: one pass over memory instead
 * of one per operator. A node joins its reader when every use of its result is in that reader and
 * the shapes are the same, so nothing is computed twice; and when it is not the natural epilogue of
 * one product while its reader is that of a later one: a sum of many convolutions grows in their
 * epilogues, and each of them is stored once. Sizes that only a run knows may be the same, as those
 * of the levels of a pyramid are; a few sums and products join their reader then, too, at the price
 * of being computed again in the rare case that a size is 1 and is repeated. */
#include "pass/lane_body.h"
#include "pass/pass.h"

enum { FUSE_MAX_IN = 24, FUSE_MAX_OP = 160, FUSE_CHEAP_OP = 12 };

/* Every use of value is an input of node `user`. */
static bool fuse_only_in(const hg_graph *g, hg_value_id value, hg_node_id user)
{
    if (hg_graph_is_output(g, value)) return false;
    for (uint32_t slot = hg_graph_value(g, value)->first_use; slot != 0;
         slot = g->use[slot - 1].next)
        if (g->use[slot - 1].node != user) return false;
    return !hg_graph_is_measured(g, value);
}

static bool fuse_same_shape(const hg_type *a, const hg_type *b)
{
    if (a->rank != b->rank) return false;
    for (int32_t k = 0; k < a->rank; k++)
        if (a->dim[k] != b->dim[k]) return false;
    return true;
}

/* A size that broadcasts to one that is never 1, and is no number: it is the same wherever the
 * model works at all, unless it is 1. */
static bool fuse_may_be_same(hg_graph *g, hg_dim from, hg_dim to)
{
    int64_t unused;
    return from == to ||
           (!hg_dim_is_const(&g->dims, from, &unused) && !hg_dim_is_const(&g->dims, to, &unused) &&
            hg_dim_is_never(&g->dims, to, 1));
}

static bool fuse_may_have_shape(hg_graph *g, const hg_type *from, const hg_type *to)
{
    if (from->rank != to->rank) return false;
    for (int32_t k = 0; k < from->rank; k++)
        if (!fuse_may_be_same(g, from->dim[k], to->dim[k])) return false;
    return true;
}

/* Sums and products that may be computed more than once. */
static bool fuse_is_cheap(const hg_lane_code *code)
{
    for (uint32_t i = 0; i < code->n_op; i++)
        switch (code->op[i].op) {
        case HG_LANE_LOAD:
        case HG_LANE_CONST:
        case HG_LANE_ADD:
        case HG_LANE_SUB:
        case HG_LANE_MUL:
        case HG_LANE_MIN:
        case HG_LANE_MAX:
        case HG_LANE_NEG:
        case HG_LANE_ABS: break;
        default: return false;
        }
    return code->n_op <= FUSE_CHEAP_OP;
}

/* The producer of input i when it can be computed inside node id, else 0. */
static hg_node_id fuse_candidate(hg_graph *g, hg_node_id id, uint32_t i)
{
    hg_value_id value = hg_node_in(g, hg_graph_node(g, id), i);
    if (value == 0) return 0;
    hg_node_id producer = hg_graph_value(g, value)->node;
    if (producer == 0 || !hg_lane_body_is(g, producer)) return 0;
    const hg_node *p = hg_graph_node(g, producer), *n = hg_graph_node(g, id);
    if (p->n_out != 1 || p->region != n->region) return 0;
    if (!fuse_may_have_shape(g, &hg_graph_value(g, value)->type,
                             &hg_graph_value(g, n->out[0])->type))
        return 0;
    return fuse_only_in(g, value, id) ? producer : 0;
}

/* The product whose epilogue node id can become: its result is read here alone and has the shape of
 * the node; of several the one made last. 0: none. */
static hg_node_id fuse_product(const hg_graph *g, hg_node_id id, const uint32_t *position)
{
    const hg_node *n = hg_graph_node(g, id);
    const hg_type *to = &hg_graph_value(g, n->out[0])->type;
    hg_node_id last = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const hg_value_id v = hg_node_in(g, n, i);
        const hg_node_id p = v == 0 ? 0 : hg_graph_value(g, v)->node;
        if (p == 0 || (last != 0 && position[p] <= position[last])) continue;
        if (hg_epilogue_takes(g, p) && fuse_only_in(g, v, id) &&
            fuse_same_shape(&hg_graph_value(g, v)->type, to))
            last = p;
    }
    return last;
}

/* The last product that node id could follow, itself or with the producers that could join it. */
static hg_node_id fuse_last_product(hg_graph *g, hg_node_id id, const uint32_t *position)
{
    hg_node_id last = fuse_product(g, id, position);
    for (uint32_t i = 0; i < hg_graph_node(g, id)->n_in; i++) {
        const hg_node_id p = fuse_candidate(g, id, i);
        const hg_node_id other = p == 0 ? 0 : fuse_product(g, p, position);
        if (other != 0 && (last == 0 || position[other] > position[last])) last = other;
    }
    return last;
}

/* One body for producer and node; *out is 0 when it would be too large. */
static holo_status fuse_pair(hg_graph *g, hg_node_id producer, hg_node_id id, hg_node_id *out)
{
    hg_lane_body inner, outer;
    HG_TRY(hg_lane_body_read(g, producer, &inner));
    HG_TRY(hg_lane_body_read(g, id, &outer));
    const hg_value_id result = hg_graph_node(g, producer)->out[0];
    const bool is_same = fuse_same_shape(&hg_graph_value(g, result)->type,
                                         &hg_graph_value(g, hg_graph_node(g, id)->out[0])->type);
    *out = 0;
    if (inner.n_in + outer.n_in > FUSE_MAX_IN || inner.code.n_op + outer.code.n_op > FUSE_MAX_OP ||
        (!is_same && !fuse_is_cheap(&inner.code)))
        return HOLO_OK;
    hg_lane_body joined;
    HG_TRY(hg_lane_body_join(g, &inner, result, &outer, &joined));
    return hg_lane_body_replace(g, id, &joined, out);
}

static holo_status fuse_node(hg_graph *g, hg_node_id *id, uint32_t *position, bool *changed)
{
    const uint32_t at = position[*id];
    for (uint32_t i = 0; i < hg_graph_node(g, *id)->n_in;) {
        hg_node_id producer = fuse_candidate(g, *id, i), made = 0;
        const hg_node_id own = producer == 0 ? 0 : fuse_product(g, producer, position);
        if (producer != 0 && (own == 0 || own == fuse_last_product(g, *id, position)))
            HG_TRY(fuse_pair(g, producer, *id, &made));
        if (made == 0) {
            i++;
            continue;
        }
        hg_graph_remove_node(g, producer);
        *id = made;
        position[made] = at;
        *changed = true;
        i = 0; /* the new node has other inputs */
    }
    return HOLO_OK;
}

static holo_status fuse_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    uint32_t *position, at = 0;
    HG_TRY(HG_NEW(g->ctx, g->n_node * 2 + 1, &position)); /* each fusion removes one, adds one */
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        position[id] = ++at;
        if (hg_lane_body_is(g, id)) HG_TRY(fuse_node(g, &id, position, changed));
        id = hg_graph_node(g, id)->next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_pointwise = {
    .name = "fuse_pointwise",
    .brief = "chains of point-wise operators become one body",
    .run = fuse_run,
};
