/* einsum.c - Einsum: sums of products over named dimensions. Operands are combined from left to
 * right, each pair by one MatMul (what is summed now) or one Mul (when nothing is):
 *
 *     kept     in both, needed later       batch dimensions
 *     left     in the left operand alone   rows
 *     right    in the right operand alone  columns
 *     summed   in both, not needed later   the inner dimension
 *
 * What one operand alone has and nobody needs is summed first; a label that an operand has twice
 * becomes its diagonal. */
#include "op/op_einsum.h"

typedef struct einsum_value {
    hg_value_id id;
    hg_einsum_term term;
} einsum_value;

static holo_status einsum_infer(hg_infer *n)
{
    hg_einsum *e;
    HG_TRY(HG_NEW(n->ctx, 1, &e));
    for (uint32_t i = 1; i < n->n_in; i++)
        HG_TRY(hg_infer_same_type(n, 0, i));
    HG_TRY(hg_einsum_read(n, n->in, n->n_in, e));
    n->out[0] = (hg_type){.dtype = n->in[0]->dtype, .rank = e->out.rank};
    for (int32_t k = 0; k < e->out.rank; k++)
        n->out[0].dim[k] = e->size[e->out.label[k]];
    return HOLO_OK;
}

/* The dimensions in the order of `to`, whose labels are those of v. */
static void einsum_transpose(hg_build *b, einsum_value *v, const hg_einsum_term *to)
{
    int64_t perm[HG_MAX_RANK] = {0};
    bool moves = false;
    for (int32_t k = 0; k < to->rank; k++) {
        perm[k] = hg_einsum_find(&v->term, to->label[k]);
        moves = moves || perm[k] != k;
    }
    hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)to->rank);
    if (moves) v->id = hg_build_op(b, "Transpose", &v->id, 1, &attr, 1);
    v->term = *to;
}

/* Every second element of [..., d * d] at step d + 1: the diagonal of the last two dimensions. */
static void einsum_last_diagonal(hg_build *b, einsum_value *v)
{
    hg_dims *d = &b->g->dims;
    int32_t rank = v->term.rank;
    hg_type type = *hg_build_type(b, v->id);
    hg_dim size = type.dim[rank - 1], one = hg_dim_const(d, 1);
    type.dim[rank - 2] = hg_dim_mul(d, size, size);
    v->id = hg_build_reshape(b, v->id, type.dim, (uint32_t)rank - 1);
    hg_dim bound[] = {hg_dim_const(d, 0), type.dim[rank - 2], hg_dim_add(d, size, one)};
    hg_value_id range[3];
    for (uint32_t i = 0; i < 3; i++) {
        hg_value_id list = hg_build_dims(b, &bound[i], 1);
        range[i] = hg_build_2(b, "Squeeze", list, hg_build_ints(b, (int64_t[]){0}, 1));
    }
    hg_attr axis = hg_attr_make_int("axis", rank - 2);
    hg_value_id in[] = {v->id, hg_build_op(b, "Range", range, 3, NULL, 0)};
    v->id = hg_build_op(b, "Gather", in, 2, &axis, 1);
    v->term.rank--;
}

/* Moves the first label that occurs twice to the end, both times, and takes the diagonal. */
static bool einsum_take_diagonal(hg_build *b, einsum_value *v)
{
    int32_t first = -1, second = -1;
    for (int32_t k = 0; k < v->term.rank && second < 0; k++) {
        int32_t at = hg_einsum_find(&v->term, v->term.label[k]);
        if (at != k) first = at, second = k;
    }
    if (second < 0) return false;
    int64_t perm[HG_MAX_RANK];
    hg_einsum_term to = {0};
    for (int32_t k = 0; k < v->term.rank; k++) {
        if (k == first || k == second) continue;
        perm[to.rank] = k;
        to.label[to.rank++] = v->term.label[k];
    }
    perm[to.rank] = first;
    perm[to.rank + 1] = second;
    to.label[to.rank] = to.label[to.rank + 1] = v->term.label[first];
    to.rank += 2;
    hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)to.rank);
    v->id = hg_build_op(b, "Transpose", &v->id, 1, &attr, 1);
    v->term = to;
    if (b->status != HOLO_OK) return false;
    einsum_last_diagonal(b, v);
    return b->status == HOLO_OK;
}

/* Some later operand or the result has the label. */
static bool einsum_is_needed(const hg_einsum *e, uint32_t next, uint8_t label)
{
    for (uint32_t i = next; i < e->n_in; i++)
        if (hg_einsum_find(&e->in[i], label) >= 0) return true;
    return hg_einsum_find(&e->out, label) >= 0;
}

/* Sums what v alone has; `other` may be NULL. */
static void einsum_sum(hg_build *b, const hg_einsum *e, einsum_value *v, const einsum_value *other,
                       uint32_t next)
{
    int64_t axes[HG_MAX_RANK];
    uint32_t count = 0;
    hg_einsum_term rest = {0};
    for (int32_t k = 0; k < v->term.rank; k++) {
        uint8_t label = v->term.label[k];
        bool shared = other != NULL && hg_einsum_find(&other->term, label) >= 0;
        if (shared || einsum_is_needed(e, next, label))
            rest.label[rest.rank++] = label;
        else
            axes[count++] = k;
    }
    if (count == 0) return;
    hg_attr keep = hg_attr_make_int("keepdims", 0);
    hg_value_id in[] = {v->id, hg_build_ints(b, axes, count)};
    v->id = hg_build_op(b, "ReduceSum", in, 2, &keep, 1);
    v->term = rest;
}

/* Labels of v that are in `other` (or not) and needed later (or not), appended to t. */
static void einsum_pick(const hg_einsum *e, const einsum_value *v, const einsum_value *other,
                        bool shared, bool needed, uint32_t next, hg_einsum_term *t)
{
    for (int32_t k = 0; k < v->term.rank; k++) {
        uint8_t label = v->term.label[k];
        bool is_shared = hg_einsum_find(&other->term, label) >= 0;
        if (is_shared == shared && (!shared || einsum_is_needed(e, next, label) == needed))
            t->label[t->rank++] = label;
    }
}

static hg_dim einsum_product(const hg_einsum *e, hg_dims *d, const hg_einsum_term *t)
{
    hg_dim product = hg_dim_const(d, 1);
    for (int32_t k = 0; k < t->rank; k++)
        product = hg_dim_mul(d, product, e->size[t->label[k]]);
    return product;
}

/* v as [kept..., first, second], where first and second are products of sizes. */
static hg_value_id einsum_matrix(hg_build *b, const hg_einsum *e, einsum_value *v,
                                 const hg_einsum_term *kept, const hg_einsum_term *first,
                                 const hg_einsum_term *second)
{
    hg_einsum_term order = *kept;
    for (int32_t k = 0; k < first->rank; k++)
        order.label[order.rank++] = first->label[k];
    for (int32_t k = 0; k < second->rank; k++)
        order.label[order.rank++] = second->label[k];
    einsum_transpose(b, v, &order);
    if (b->status != HOLO_OK) return 0;
    /* Own sizes: those of an ellipsis may be 1 here. */
    hg_type type = *hg_build_type(b, v->id);
    type.dim[kept->rank] = einsum_product(e, &b->g->dims, first);
    type.dim[kept->rank + 1] = einsum_product(e, &b->g->dims, second);
    return hg_build_reshape(b, v->id, type.dim, (uint32_t)kept->rank + 2);
}

static void einsum_multiply(hg_build *b, const hg_einsum *e, einsum_value *x, einsum_value *y,
                            uint32_t next)
{
    hg_einsum_term kept = {0}, left = {0}, right = {0}, summed = {0};
    einsum_pick(e, x, y, true, true, next, &kept);
    einsum_pick(e, x, y, true, false, next, &summed);
    einsum_pick(e, x, y, false, true, next, &left);
    einsum_pick(e, y, x, false, true, next, &right);
    if (kept.rank + left.rank + right.rank > HG_MAX_RANK || kept.rank + 2 > HG_MAX_RANK) {
        hg_build_fail(b, HOLO_E_UNSUPPORTED, "an intermediate product has more than %d dimensions",
                      HG_MAX_RANK);
        return;
    }
    hg_value_id p = einsum_matrix(b, e, x, &kept, &left, &summed);
    hg_value_id q = einsum_matrix(b, e, y, &kept, &summed, &right);
    hg_value_id product = hg_build_2(b, summed.rank == 0 ? "Mul" : "MatMul", p, q);
    if (b->status != HOLO_OK) return;
    hg_type type = *hg_build_type(b, product);
    x->term = kept;
    for (int32_t k = 0; k < left.rank + right.rank; k++)
        x->term.label[x->term.rank++] = k < left.rank ? left.label[k] : right.label[k - left.rank];
    for (int32_t k = kept.rank; k < x->term.rank; k++)
        type.dim[k] = e->size[x->term.label[k]];
    x->id = hg_build_reshape(b, product, type.dim, (uint32_t)x->term.rank);
}

/* MatMul takes no narrow integers; they wrap all the same when computed in 32 bits. */
static holo_dtype einsum_compute_type(holo_dtype dtype)
{
    return hg_dtype_is_float(dtype) || hg_dtype_bits(dtype) >= 32 ? dtype : HOLO_I32;
}

static einsum_value einsum_operand(hg_build *b, const hg_einsum *e, uint32_t i, holo_dtype compute)
{
    einsum_value v = {hg_build_cast(b, hg_build_in(b, i), compute), e->in[i]};
    while (einsum_take_diagonal(b, &v)) {}
    return v;
}

static holo_status einsum_lower(hg_build *b)
{
    hg_einsum *e;
    const hg_type *in[HG_EINSUM_MAX_TERMS] = {0};
    uint32_t n_in = b->node->n_in;
    hg_infer n = {.g = b->g, .ctx = b->ctx, .dims = &b->g->dims, .id = b->id, .node = b->node};
    for (uint32_t i = 0; i < n_in && i < HG_EINSUM_MAX_TERMS; i++)
        in[i] = hg_build_type(b, hg_build_in(b, i));
    HG_TRY(HG_NEW(b->ctx, 1, &e));
    HG_TRY(hg_einsum_read(&n, in, n_in, e));
    holo_dtype dtype = in[0]->dtype, compute = einsum_compute_type(dtype);
    einsum_value x = einsum_operand(b, e, 0, compute);
    einsum_sum(b, e, &x, NULL, 1);
    for (uint32_t i = 1; i < n_in && b->status == HOLO_OK; i++) {
        einsum_value y = einsum_operand(b, e, i, compute);
        einsum_sum(b, e, &y, &x, i + 1);
        einsum_sum(b, e, &x, &y, i + 1);
        if (b->status == HOLO_OK) einsum_multiply(b, e, &x, &y, i + 1);
    }
    if (b->status == HOLO_OK) einsum_transpose(b, &x, &e->out);
    hg_build_replace(b, 0, hg_build_cast(b, x.id, dtype));
    return b->status;
}

const hg_op hg_op_einsum = {
    .name = "Einsum",
    .brief = "sums of products over named dimensions",
    .since = 12,
    .in = {1, -1},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = einsum_infer,
    .lower = einsum_lower,
};
