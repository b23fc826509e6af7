/* recognize_rotary.c - positions turned into queries and keys, as exporters write it out, become
 * one node.
 *
 *     Add(Mul(x, cos), Mul(Concat(Neg(Slice(x, d/2, d)), Slice(x, 0, d/2)), sin)) -> Rotary(x, cos,
 * sin)
 *
 * Floats of 16 bits are turned as float32 and rounded once.
 * Heads are transposed before; behind it attention reads them by strides, so Transpose goes there.
 */
#include "pass/pass.h"

typedef struct rotary_match {
    hg_value_id x, cosine, sine;
} rotary_match;

/* Element 0 of a constant vector of one. */
static bool rotary_int(hg_graph *g, const hg_node *n, uint32_t i, int64_t *out)
{
    const int64_t *content;
    size_t count;
    const hg_value_id v = hg_node_in(g, n, i);
    if (v == 0 || !hg_graph_const_ints(g, v, &content, &count) || count != 1) return false;
    *out = content[0];
    return true;
}

/* v is one half of the last dimension, which has d elements, of what it gives. */
static hg_value_id rotary_half_of(hg_graph *g, hg_value_id v, int64_t d, bool second)
{
    const hg_node *n = hg_op_producer(g, v, "Slice");
    int64_t start, end, axis, step = 1;
    if (n == NULL || !rotary_int(g, n, 1, &start) || !rotary_int(g, n, 2, &end) ||
        !rotary_int(g, n, 3, &axis) || (hg_node_in(g, n, 4) != 0 && !rotary_int(g, n, 4, &step)))
        return 0;
    const int32_t rank = hg_graph_value(g, v)->type.rank;
    if ((axis != -1 && axis != rank - 1) || step != 1) return 0;
    if (start < 0) start += d;
    if (end < 0) end += d;
    const bool fits = second ? start == d / 2 && end >= d : start == 0 && end == d / 2;
    return fits ? hg_node_in(g, n, 0) : 0;
}

/* The value whose halves v has in turn, the second one with its sign changed; 0: none. */
static hg_value_id rotary_turned(hg_graph *g, hg_value_id v)
{
    const hg_node *n = hg_op_producer(g, v, "Concat");
    const hg_type *t = &hg_graph_value(g, v)->type;
    int64_t d;
    if (n == NULL || n->n_in != 2 || !hg_dim_is_const(&g->dims, t->dim[t->rank - 1], &d) || d % 2)
        return 0;
    const int64_t axis = hg_node_int(n, "axis", 0);
    const hg_node *negative = hg_op_producer(g, hg_node_in(g, n, 0), "Neg");
    if (negative == NULL || (axis != -1 && axis != t->rank - 1)) return 0;
    const hg_value_id x = rotary_half_of(g, hg_node_in(g, negative, 0), d, true);
    return x != 0 && rotary_half_of(g, hg_node_in(g, n, 1), d, false) == x ? x : 0;
}

/* Angles in rows as long as those of x, dimensions that are 1 or x's. */
static bool rotary_is_angle(const hg_graph *g, const hg_type *x, hg_value_id v)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    const int32_t shift = x->rank - t->rank;
    if (t->dtype != x->dtype || t->rank < 1 || shift < 0) return false;
    for (int32_t k = 0; k < t->rank; k++)
        if (t->dim[k] != x->dim[k + shift] &&
            (k == t->rank - 1 || !hg_dim_is(&g->dims, t->dim[k], 1)))
            return false;
    return true;
}

/* In 16 bits each step rounds: what rounds once may be another number. */
static bool rotary_is_type(const hg_graph *g, holo_dtype dtype)
{
    return dtype == HOLO_F32 || (dtype == HOLO_F16 && g->ctx->numerics != HOLO_EXACT);
}

/* Operand 1 - i of a product with v at operand i; 0 when it is no such product. */
static hg_value_id rotary_factor(const hg_graph *g, const hg_node *product, hg_value_id v)
{
    for (uint32_t i = 0; i < 2; i++)
        if (hg_node_in(g, product, i) == v) return hg_node_in(g, product, 1 - i);
    return 0;
}

static bool rotary_find(hg_graph *g, const hg_node *n, rotary_match *m)
{
    for (uint32_t i = 0; i < 4 && hg_op_is(n, "Add"); i++) {
        const hg_node *straight = hg_op_producer(g, hg_node_in(g, n, i & 1), "Mul");
        const hg_node *crossed = hg_op_producer(g, hg_node_in(g, n, 1 - (i & 1)), "Mul");
        if (straight == NULL || crossed == NULL) continue;
        const hg_value_id turned = hg_node_in(g, crossed, i >> 1);
        m->x = rotary_turned(g, turned);
        if (m->x == 0) continue;
        const hg_type *x = &hg_graph_value(g, m->x)->type;
        m->cosine = rotary_factor(g, straight, m->x);
        m->sine = rotary_factor(g, crossed, turned);
        return rotary_is_type(g, x->dtype) && m->cosine != 0 && m->sine != 0 &&
               rotary_is_angle(g, x, m->cosine) && rotary_is_angle(g, x, m->sine) &&
               hg_type_equal(x, &hg_graph_value(g, n->out[0])->type);
    }
    return false;
}

/* ---- the order of dimensions ------------------------------------------------------------------
 */

/* The order of the Transpose that made x, if rows stay rows. */
static bool rotary_order(const hg_graph *g, hg_value_id x, int64_t *perm)
{
    const hg_node *n = hg_op_producer(g, x, "Transpose");
    const int32_t rank = hg_graph_value(g, x)->type.rank;
    size_t count;
    const int64_t *to = n == NULL ? NULL : hg_node_ints(n, "perm", &count);
    if (to == NULL || (int32_t)count != rank) return false;
    for (int32_t k = 0; k < rank; k++)
        perm[k] = to[k] < 0 ? to[k] + rank : to[k];
    return perm[rank - 1] == rank - 1;
}

/* Angles as they meet what the Transpose is given. */
static hg_value_id rotary_before(hg_build *b, hg_value_id v, const int64_t *perm, int32_t rank)
{
    int64_t axes[HG_MAX_RANK], inverse[HG_MAX_RANK];
    const int32_t missing = rank - hg_build_type(b, v)->rank;
    for (int32_t k = 0; k < rank; k++) {
        axes[k] = k;
        inverse[perm[k]] = k;
    }
    if (missing > 0) v = hg_build_2(b, "Unsqueeze", v, hg_build_ints(b, axes, (uint32_t)missing));
    const hg_attr attr = hg_attr_make_ints(b, "perm", inverse, (uint32_t)rank);
    return hg_build_op(b, "Transpose", &v, 1, &attr, 1);
}

static holo_status rotary_replace(hg_graph *g, hg_node_id id, const rotary_match *m)
{
    hg_build b;
    int64_t perm[HG_MAX_RANK];
    const int32_t rank = hg_graph_value(g, m->x)->type.rank;
    hg_value_id in[3] = {m->x, m->cosine, m->sine};
    const bool is_turned = rotary_order(g, m->x, perm);
    hg_build_init(&b, g, id);
    if (is_turned) {
        in[0] = hg_node_in(g, hg_graph_node(g, hg_graph_value(g, m->x)->node), 0);
        for (uint32_t i = 1; i < 3; i++)
            in[i] = rotary_before(&b, in[i], perm, rank);
    }
    const holo_dtype dtype = hg_graph_value(g, m->x)->type.dtype;
    for (uint32_t i = 0; i < 3 && dtype != HOLO_F32; i++)
        in[i] = hg_build_cast(&b, in[i], HOLO_F32);
    hg_value_id made = hg_build_op(&b, "holo:Rotary", in, 3, NULL, 0);
    if (dtype != HOLO_F32) made = hg_build_cast(&b, made, dtype);
    if (is_turned) {
        const hg_attr attr = hg_attr_make_ints(&b, "perm", perm, (uint32_t)rank);
        made = hg_build_op(&b, "Transpose", &made, 1, &attr, 1);
    }
    hg_build_replace(&b, 0, made);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status rotary_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        rotary_match m;
        if (rotary_find(g, n, &m)) {
            HG_TRY(rotary_replace(g, id, &m));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_recognize_rotary = {
    .name = "recognize_rotary",
    .brief = "rotary positions written out as arithmetic become one node",
    .flags = HG_PASS_TUNED,
    .run = rotary_run,
};
