/* op_infer.c - what shape rules share: attributes, axes, contents, broadcasting; and the rules of
 * whole families. */
#include "op/op.h"

bool hg_infer_has(const hg_infer *n, uint32_t i)
{
    return i < n->n_in && n->in[i]->dtype != HOLO_NONE;
}

holo_status hg_infer_rank(const hg_infer *n, uint32_t i, int low, int high)
{
    int rank = n->in[i]->rank;
    if (rank >= low && rank <= high) return HOLO_OK;
    if (low == high)
        return hg_infer_fail(n, HOLO_E_SHAPE, "input %u has rank %d, expected %d", i, rank, low);
    return hg_infer_fail(n, HOLO_E_SHAPE, "input %u has rank %d, expected %d to %d", i, rank, low,
                         high);
}

holo_status hg_infer_types(const hg_infer *n, uint32_t i, hg_types types)
{
    if (hg_dtype_in(n->in[i]->dtype, types)) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                         "input %u has element type %s, which this operator does not take", i,
                         holo_dtype_text(n->in[i]->dtype));
}

holo_status hg_infer_same_type(const hg_infer *n, uint32_t i, uint32_t j)
{
    if (n->in[i]->dtype == n->in[j]->dtype) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_TYPE, "input %u is %s but input %u is %s; they must agree", i,
                         holo_dtype_text(n->in[i]->dtype), j, holo_dtype_text(n->in[j]->dtype));
}

/* ---- contents
 * ------------------------------------------------------------------------------------------- */

/* A constant's integers as constant expressions, remembered on the value. */
static bool infer_const_content(hg_graph *g, hg_value_id id)
{
    const int64_t *ints;
    size_t count;
    hg_dim *content;
    if (!hg_graph_const_ints(g, id, &ints, &count) || count > HG_MAX_CONTENT) return false;
    if (HG_NEW(g->ctx, count + 1, &content) != HOLO_OK) {
        g->dims.failed = true; /* so that nobody takes it for contents that are not known */
        return false;
    }
    for (size_t k = 0; k < count; k++)
        content[k] = hg_dim_const(&g->dims, ints[k]);
    hg_graph_value(g, id)->content = content;
    hg_graph_value(g, id)->n_content = (uint32_t)count;
    return true;
}

bool hg_value_content(hg_graph *g, hg_value_id id, const hg_dim **content, uint32_t *count)
{
    if (id == 0) return false;
    const hg_value *v = hg_graph_value(g, id);
    if (v->content == NULL) {
        if (v->constant == NULL || !infer_const_content(g, id)) return false;
        v = hg_graph_value(g, id);
    }
    *content = v->content;
    *count = v->n_content;
    return true;
}

bool hg_infer_content(const hg_infer *n, uint32_t i, const hg_dim **content, uint32_t *count)
{
    return hg_value_content(n->g, hg_node_in(n->g, n->node, i), content, count);
}

holo_status hg_infer_need_content(const hg_infer *n, uint32_t i, const hg_dim **content,
                                  uint32_t *count)
{
    hg_value_id id = hg_node_in(n->g, n->node, i);
    if (id == 0) return hg_infer_fail(n, HOLO_E_MODEL, "input %u is missing", i);
    if (hg_value_content(n->g, id, content, count)) return HOLO_OK;
    const hg_type *type = &hg_graph_value(n->g, id)->type;
    if (!hg_dtype_in(type->dtype, HG_TYPES_INT | HG_TYPES_BOOL))
        return hg_infer_fail(n, HOLO_E_TYPE, "input %u is %s, expected integers", i,
                             holo_dtype_text(type->dtype));
    int64_t elements;
    if (!hg_dim_is_const(n->dims, hg_type_count(n->g, type), &elements) || elements < 0 ||
        elements > HG_MAX_CONTENT)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "input %u decides a shape, but how many numbers it holds is not known "
                             "at compile time or above %d",
                             i, HG_MAX_CONTENT);
    hg_dim *made;
    HG_TRY(HG_NEW(n->ctx, (size_t)elements + 1, &made));
    for (uint32_t k = 0; k < (uint32_t)elements; k++) {
        hg_str name = hg_str_format(&n->ctx->arena, "%.*s[%u]",
                                    HG_STR_ARG(hg_graph_value(n->g, id)->name), k);
        made[k] = hg_dim_symbol(
            n->dims,
            (hg_symbol){
                .name = name, .kind = HG_SYMBOL_CONTENT, .value = id, .index = k, .at_most = -1});
    }
    hg_graph_value(n->g, id)->content = made;
    hg_graph_value(n->g, id)->n_content = (uint32_t)elements;
    *content = made;
    *count = (uint32_t)elements;
    return HOLO_OK;
}

/* The symbol an earlier inference made for this size, or 0. */
static hg_dim infer_made_dim(const hg_infer *n, hg_value_id id, uint32_t axis)
{
    const hg_type *type = id == 0 ? NULL : &hg_graph_value(n->g, id)->type;
    if (type == NULL || (int64_t)axis >= type->rank || type->dim[axis] == 0) return 0;
    int64_t symbol = hg_dim_symbol_of(n->dims, type->dim[axis]);
    if (symbol < 0) return 0;
    const hg_symbol *y = &n->dims->symbol[symbol];
    bool is_same = y->kind == HG_SYMBOL_SIZE && y->value == id && y->index == axis;
    return is_same ? type->dim[axis] : 0;
}

hg_dim hg_infer_late_dim(const hg_infer *n, uint32_t j, uint32_t axis)
{
    hg_value_id id = n->node->out[j];
    hg_dim made = infer_made_dim(n, id, axis);
    if (made != 0) return made;
    hg_str name = id == 0 ? hg_str_from("late") : hg_graph_value(n->g, id)->name;
    name = hg_str_format(&n->ctx->arena, "%.*s.dim%u", HG_STR_ARG(name), axis);
    return hg_dim_symbol(
        n->dims,
        (hg_symbol){
            .name = name, .kind = HG_SYMBOL_SIZE, .value = id, .index = axis, .at_most = -1});
}

bool hg_infer_may_equal(const hg_infer *n, hg_dim a, hg_dim b)
{
    int64_t x, y;
    if (a == b || a == 0 || b == 0) return true;
    if (hg_dim_is_const(n->dims, a, &x) && hg_dim_is_const(n->dims, b, &y)) return x == y;
    return !hg_dim_is(n->dims, hg_dim_eq(n->dims, a, b), 0);
}

bool hg_infer_equal(const hg_infer *n, hg_dim actual, hg_dim expected)
{
    if (!hg_infer_may_equal(n, actual, expected)) return false;
    if (actual == 0 || expected == 0) return true;
    if (!hg_dim_is(n->dims, hg_dim_eq(n->dims, actual, expected), 1))
        hg_graph_demand(n->g, n->id, HG_DEMAND_ALL, actual, expected);
    return true;
}

bool hg_infer_equal_or_1(const hg_infer *n, hg_dim actual, hg_dim expected)
{
    hg_dim one = hg_dim_const(n->dims, 1);
    if (!hg_infer_may_equal(n, actual, one)) return hg_infer_equal(n, actual, expected);
    hg_dim is_one = hg_dim_eq(n->dims, actual, one);
    return hg_infer_equal(n, actual, hg_dim_select(n->dims, is_one, one, expected));
}

void hg_infer_at_least(const hg_infer *n, hg_dim actual, hg_dim least)
{
    hg_dim smaller = hg_dim_min(n->dims, actual, least);
    if (smaller != least) hg_graph_demand(n->g, n->id, HG_DEMAND_LASTING, smaller, least);
}

/* Whether a and b broadcast to a whenever they broadcast: b is a with an upper bound of at least 1,
 * as places in a table of fixed size have, or b is a where a condition holds and no size elsewhere
 * (hg_shape_guard). Shorter expressions keep what is equal equal. */
static bool infer_is_wider(const hg_dims *d, hg_dim a, hg_dim b)
{
    const hg_dim_rec *r = &d->rec[b];
    if (r->op == HG_DIM_SELECT) return r->b == a && hg_dim_is(d, r->c, -1);
    if (r->op != HG_DIM_MIN || (r->a != a && r->b != a)) return false;
    return hg_dim_is_positive(d, r->a == a ? r->b : r->a);
}

/* The number a dim is wherever it is a size at all. */
static bool infer_only_size(const hg_dims *d, hg_dim a, int64_t *value)
{
    while (d->rec[a].op == HG_DIM_SELECT && hg_dim_is(d, d->rec[a].c, -1))
        a = d->rec[a].b;
    return hg_dim_is_const(d, a, value) && *value != 1;
}

/* Sizes that are neither equal nor 1 become unequal ones. */
static void infer_demand_broadcast(const hg_infer *n, hg_dim a, hg_dim b)
{
    const hg_dim one = hg_dim_const(n->dims, 1);
    const hg_dim p = hg_dim_select(n->dims, hg_dim_eq(n->dims, a, one), b, a);
    const hg_dim q = hg_dim_select(n->dims, hg_dim_eq(n->dims, b, one), a, b);
    if (!hg_dim_is(n->dims, hg_dim_eq(n->dims, p, q), 1))
        hg_graph_demand(n->g, n->id, HG_DEMAND_SHAPE, p, q);
}

holo_status hg_infer_broadcast_dim(const hg_infer *n, hg_dim a, hg_dim b, hg_dim *out)
{
    int64_t x, y;
    if (n->g->demand_level == HG_DEMAND_SHAPE) infer_demand_broadcast(n, a, b);
    bool a_known = hg_dim_is_const(n->dims, a, &x), b_known = hg_dim_is_const(n->dims, b, &y);
    if (a == b || (b_known && y == 1)) {
        *out = a;
    } else if (a_known && x == 1) {
        *out = b;
    } else if (infer_only_size(n->dims, a, &x) && infer_only_size(n->dims, b, &y) && x != y) {
        return hg_infer_fail(n, HOLO_E_SHAPE, "dimensions %lld and %lld do not broadcast",
                             (long long)x, (long long)y);
    } else if (a_known || b_known) {
        *out = a_known ? a : b;
    } else if (infer_is_wider(n->dims, a, b)) {
        *out = a;
    } else if (infer_is_wider(n->dims, b, a)) {
        *out = b;
    } else if (hg_dim_is_never(n->dims, a, 1)) { /* b is the same, or 1 */
        *out = a;
    } else if (hg_dim_is_never(n->dims, b, 1)) {
        *out = b;
    } else {
        /* By the order of the terms, so that a + b and b + a have the same shape. */
        const hg_dim_info *info = n->dims->info;
        hg_dim p = info[a].key < info[b].key ? a : b, q = p == a ? b : a;
        *out = hg_dim_select(n->dims, hg_dim_eq(n->dims, p, hg_dim_const(n->dims, 1)), q, p);
    }
    return HOLO_OK;
}

/* ---- attributes
 * ------------------------------------------------------------------------------------------- */

holo_status hg_attr_find(const hg_infer *n, const char *name, hg_attr_kind kind,
                         const hg_attr **out)
{
    static const char *const kinds[] = {"nothing",  "an integer", "a float", "a string",
                                        "integers", "floats",     "strings", "a tensor",
                                        "dims",     "code",       "a type"};
    *out = hg_node_attr(n->node, name);
    if (*out == NULL || (*out)->kind == kind) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL, "attribute '%s' is %s, expected %s", name,
                         kinds[(*out)->kind], kinds[kind]);
}

holo_status hg_attr_int(const hg_infer *n, const char *name, int64_t standard, int64_t *out)
{
    const hg_attr *a;
    HG_TRY(hg_attr_find(n, name, HG_ATTR_INT, &a));
    *out = a == NULL ? standard : a->i;
    return HOLO_OK;
}

holo_status hg_attr_float(const hg_infer *n, const char *name, double standard, double *out)
{
    const hg_attr *a;
    HG_TRY(hg_attr_find(n, name, HG_ATTR_FLOAT, &a));
    *out = (double)(a == NULL ? (float)standard : a->f);
    return HOLO_OK;
}

holo_status hg_attr_string(const hg_infer *n, const char *name, const char *standard, hg_str *out)
{
    const hg_attr *a;
    HG_TRY(hg_attr_find(n, name, HG_ATTR_STRING, &a));
    *out = a == NULL ? hg_str_from(standard) : a->s;
    return HOLO_OK;
}

holo_status hg_attr_ints(const hg_infer *n, const char *name, const int64_t **out, size_t *count)
{
    const hg_attr *a;
    HG_TRY(hg_attr_find(n, name, HG_ATTR_INTS, &a));
    *out = a == NULL ? NULL : a->ints;
    *count = a == NULL ? 0 : a->count;
    return HOLO_OK;
}

holo_status hg_axis_normalize(const hg_infer *n, int64_t axis, int32_t rank, int32_t *out)
{
    if (axis < -rank || axis >= rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "axis is %lld, expected %d to %d", (long long)axis,
                             -rank, rank - 1);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return HOLO_OK;
}

holo_status hg_attr_axis(const hg_infer *n, const char *name, int64_t standard, int32_t rank,
                         int32_t *out)
{
    int64_t axis;
    HG_TRY(hg_attr_int(n, name, standard, &axis));
    return hg_axis_normalize(n, axis, rank, out);
}

int64_t hg_node_int(const hg_node *n, const char *name, int64_t standard)
{
    const hg_attr *a = hg_node_attr(n, name);
    return a != NULL && a->kind == HG_ATTR_INT ? a->i : standard;
}

double hg_node_float(const hg_node *n, const char *name, double standard)
{
    const hg_attr *a = hg_node_attr(n, name);
    return (double)(a != NULL && a->kind == HG_ATTR_FLOAT ? a->f : (float)standard);
}

hg_str hg_node_string(const hg_node *n, const char *name, const char *standard)
{
    const hg_attr *a = hg_node_attr(n, name);
    return a != NULL && a->kind == HG_ATTR_STRING ? a->s : hg_str_from(standard);
}

const int64_t *hg_node_ints(const hg_node *n, const char *name, size_t *count)
{
    const hg_attr *a = hg_node_attr(n, name);
    bool present = a != NULL && a->kind == HG_ATTR_INTS;
    *count = present ? a->count : 0;
    return present ? a->ints : NULL;
}

/* ---- families
 * -----------------------------------------------------------------------------------------------
 */

holo_status hg_infer_same_as_input(hg_infer *n)
{
    n->out[0] = *n->in[0];
    return HOLO_OK;
}

holo_status hg_infer_same_shape_bool(hg_infer *n)
{
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_BOOL;
    return HOLO_OK;
}

holo_status hg_infer_broadcast_shape(hg_infer *n)
{
    hg_type *out = &n->out[0];
    *out = *n->in[0];
    for (uint32_t i = 1; i < n->n_in; i++) {
        const hg_type *in = n->in[i];
        if (in->dtype == HOLO_NONE) continue;
        int32_t rank = out->rank > in->rank ? out->rank : in->rank;
        hg_dim one = hg_dim_const(n->dims, 1), dim[HG_MAX_RANK];
        for (int32_t k = 0; k < rank; k++) {
            int32_t a = k - (rank - out->rank), b = k - (rank - in->rank);
            HG_TRY(hg_infer_broadcast_dim(n, a < 0 ? one : out->dim[a], b < 0 ? one : in->dim[b],
                                          &dim[k]));
        }
        out->rank = rank;
        memcpy(out->dim, dim, (size_t)rank * sizeof dim[0]);
    }
    return HOLO_OK;
}

holo_status hg_infer_broadcast(hg_infer *n)
{
    for (uint32_t i = 1; i < n->n_in; i++)
        if (hg_infer_has(n, i)) HG_TRY(hg_infer_same_type(n, 0, i));
    return hg_infer_broadcast_shape(n);
}

holo_status hg_infer_broadcast_bool(hg_infer *n)
{
    HG_TRY(hg_infer_broadcast(n));
    n->out[0].dtype = HOLO_BOOL;
    return HOLO_OK;
}
