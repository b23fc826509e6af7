/* op_body.c - types across the border between a body and the graph around it. */
#include "op/op_body.h"

bool hg_type_is_container(const hg_type *type)
{
    return type->dtype >= HOLO_SEQUENCE;
}

hg_graph *hg_body_graph(const hg_graph *g, const hg_node *n, uint32_t k)
{
    size_t count;
    const int64_t *bodies = hg_node_ints(n, "bodies", &count);
    assert(k < count && (uint64_t)bodies[k] < g->n_child);
    return g->child[bodies[k]];
}

bool hg_body_fails(const hg_graph *body)
{
    hg_node_id first = hg_graph_region(body, HG_REGION_MAIN)->first;
    return first != 0 && hg_op_is(hg_graph_node(body, first), "holo:Fail");
}

/* ---- dims ------------------------------------------------------------------------------------ */

/* Marks what the dim is made of. Operands have smaller numbers. */
static void body_reach(const hg_dims *d, hg_dim top, uint8_t *reached)
{
    reached[top] = 1;
    for (hg_dim i = top; i > 0; i--) {
        const hg_dim_rec *r = &d->rec[i];
        if (!reached[i] || r->op == HG_DIM_CONST || r->op == HG_DIM_SYMBOL) continue;
        reached[r->a] = reached[r->b] = 1;
        if (r->op == HG_DIM_SELECT) reached[r->c] = 1;
    }
}

static hg_dim body_convert(hg_dims *to, const hg_dim_rec *r, const hg_dim *made,
                           const hg_attr *outer)
{
    if (r->op == HG_DIM_CONST) return hg_dim_const(to, r->value);
    if (r->op == HG_DIM_SYMBOL)
        return (uint64_t)r->value < outer->count ? outer->dims[r->value] : 0;
    bool select = r->op == HG_DIM_SELECT;
    if (made[r->a] == 0 || made[r->b] == 0 || (select && made[r->c] == 0)) return 0;
    return hg_dim_make(to, (hg_dim_op)r->op, made[r->a], made[r->b], select ? made[r->c] : 0);
}

holo_status hg_body_dim(const hg_infer *n, uint32_t k, hg_dim inner, hg_dim *out)
{
    const hg_dims *d = &hg_body_graph(n->g, n->node, k)->dims;
    const hg_attr *outer = hg_node_attr(n->node, k == 0 ? "dims0" : "dims1");
    const holo_allocator *alloc = &n->ctx->arena.alloc;
    *out = 0;
    if (inner == 0 || outer == NULL) return HOLO_OK;
    size_t bytes = ((size_t)inner + 1) * (sizeof(hg_dim) + 1);
    hg_dim *made = hg_alloc_zero(alloc, bytes);
    if (made == NULL) return hg_fail_nomem(n->ctx->error, bytes);
    uint8_t *reached = (uint8_t *)(made + inner + 1);
    body_reach(d, inner, reached);
    for (hg_dim i = 1; i <= inner; i++)
        if (reached[i]) made[i] = body_convert(n->dims, &d->rec[i], made, outer);
    *out = made[inner];
    hg_free(alloc, made, bytes);
    return HOLO_OK;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Types of containers are a list, whose depth the import bounds. */
holo_status hg_body_type(const hg_infer *n, uint32_t k, const hg_type *inner, hg_type *out)
{
    for (hg_type *to = out;; inner = inner->item) {
        *to = *inner;
        for (int32_t axis = 0; axis < inner->rank; axis++)
            HG_TRY(hg_body_dim(n, k, inner->dim[axis], &to->dim[axis]));
        if (inner->item == NULL) return HOLO_OK;
        hg_type *item;
        HG_TRY(HG_NEW(n->ctx, 1, &item));
        to->item = item;
        to = item;
    }
}

holo_status hg_type_join(hg_ctx *ctx, const hg_type *a, const hg_type *b, hg_type *out,
                         bool *possible)
{
    *possible = true;
    for (hg_type *to = out;; a = a->item, b = b->item) {
        *to = *a;
        /* An item of unknown type is that of a container that is always empty. */
        if (a->dtype == HOLO_NONE || b->dtype == HOLO_NONE) {
            *to = a->dtype == HOLO_NONE ? *b : *a;
            return HOLO_OK;
        }
        if (a->dtype != b->dtype || a->key != b->key) *possible = false;
        if (a->rank != b->rank) to->rank = HG_RANK_UNKNOWN;
        for (int32_t axis = 0; axis < to->rank; axis++)
            if (a->dim[axis] != b->dim[axis]) to->dim[axis] = 0;
        if (a->item == NULL || b->item == NULL || !*possible) return HOLO_OK;
        hg_type *item;
        HG_TRY(HG_NEW(ctx, 1, &item));
        to->item = item;
        to = item;
    }
}

void hg_infer_late_rest(hg_infer *n, uint32_t j)
{
    for (int32_t axis = 0; axis < n->out[j].rank; axis++)
        if (n->out[j].dim[axis] == 0) n->out[j].dim[axis] = hg_infer_late_dim(n, j, (uint32_t)axis);
}

holo_status hg_infer_container(hg_infer *n, uint32_t j, holo_dtype dtype, const hg_type *item)
{
    hg_type *copy;
    HG_TRY(HG_NEW(n->ctx, 1, &copy));
    *copy = *item;
    n->out[j] = (hg_type){.dtype = dtype, .rank = 1, .item = copy};
    n->out[j].dim[0] = hg_infer_late_dim(n, j, 0);
    return HOLO_OK;
}
