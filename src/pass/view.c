/* view.c - follows a value back through operators that only move elements evenly. From the first of
 * them on, each turns strides into strides; one that cannot becomes the new base. */
#include "pass/view.h"

#include "op/op_shape.h"
#include "pass/regroup.h"

#include <math.h>

enum { VIEW_DEPTH = 16 };

void hg_view_of(hg_graph *g, hg_value_id value, hg_view *v)
{
    const hg_type *t = &hg_graph_value(g, value)->type;
    *v = (hg_view){.base = value, .offset = hg_dim_const(&g->dims, 0), .rank = t->rank, .scale = 1};
    memcpy(v->dim, t->dim, sizeof v->dim);
    hg_shape_strides(&g->dims, t, v->stride);
}

/* ---- one operator ---------------------------------------------------------------------------- */

static bool view_transpose(const hg_node *n, hg_view *v)
{
    size_t count;
    const int64_t *perm = hg_node_ints(n, "perm", &count);
    const hg_view from = *v;
    for (int32_t i = 0; i < v->rank; i++) {
        int64_t at = perm == NULL ? v->rank - 1 - i : perm[i];
        if (at < 0) at += v->rank;
        v->dim[i] = from.dim[at];
        v->stride[i] = from.stride[at];
        v->repeat[i] = from.repeat[at];
    }
    return true;
}

/* Stride of a run of dims seen as one; 0 when they do not follow each other evenly. */
static hg_dim view_merged(hg_dims *d, const hg_view *v, const hg_regroup_run *run)
{
    hg_dim stride = 0, next = 0;
    for (int32_t i = run->from + run->n_from - 1; i >= run->from; i--) {
        if (hg_dim_is(d, v->dim[i], 1)) continue;
        if (v->repeat[i] != 0 || (stride != 0 && v->stride[i] != next)) return 0;
        if (stride == 0) stride = v->stride[i];
        next = hg_dim_mul(d, v->stride[i], v->dim[i]);
    }
    return stride == 0 ? hg_dim_const(d, 1) : stride;
}

/* Two dims of which the second has stride 0 become one: each element comes several times. */
static bool view_repeats(const hg_dims *d, const hg_view *v, const hg_regroup_run *run)
{
    return run->n_from == 2 && run->n_to == 1 && hg_dim_is(d, v->stride[run->from + 1], 0) &&
           v->repeat[run->from] == 0 && v->repeat[run->from + 1] == 0;
}

static bool view_reshape_run(hg_dims *d, const hg_view *from, const hg_regroup_run *run,
                             hg_view *to)
{
    const bool is_same = run->n_from == 1 && run->n_to == 1, repeats = view_repeats(d, from, run);
    if (is_same || repeats) {
        to->stride[run->to] = from->stride[run->from];
        to->repeat[run->to] = repeats ? from->dim[run->from + 1] : from->repeat[run->from];
        return true;
    }
    hg_dim stride = view_merged(d, from, run);
    if (stride == 0) return false;
    for (int32_t i = run->to + run->n_to - 1; i >= run->to; i--) {
        to->stride[i] = stride;
        to->repeat[i] = 0;
        stride = hg_dim_mul(d, stride, to->dim[i]);
    }
    return true;
}

static bool view_reshape(hg_graph *g, const hg_node *n, hg_view *v)
{
    hg_regroup runs;
    hg_type from = {.rank = v->rank};
    const hg_type *to = &hg_graph_value(g, n->out[0])->type;
    const hg_view old = *v;
    memcpy(from.dim, v->dim, sizeof from.dim);
    if (!hg_regroup_find(&g->dims, &from, to, &runs)) return false;
    v->rank = to->rank;
    memcpy(v->dim, to->dim, sizeof v->dim);
    for (int32_t r = 0; r < runs.count; r++)
        if (!view_reshape_run(&g->dims, &old, &runs.run[r], v)) return false;
    return true;
}

/* Constant starts that need no clamping, steps of 1. */
static bool view_slice(hg_graph *g, const hg_node *n, hg_view *v)
{
    const int64_t *start, *axis = NULL, *step = NULL;
    size_t count, other;
    hg_dims *d = &g->dims;
    hg_value_id axes = hg_node_in(g, n, 3), steps = hg_node_in(g, n, 4);
    if (!hg_graph_const_ints(g, hg_node_in(g, n, 1), &start, &count)) return false;
    if (axes != 0 && !hg_graph_const_ints(g, axes, &axis, &other)) return false;
    if (steps != 0 && !hg_graph_const_ints(g, steps, &step, &other)) return false;
    for (size_t i = 0; i < count; i++) {
        int64_t at = axis == NULL ? (int64_t)i : axis[i], size;
        if (at < 0) at += v->rank;
        if ((step != NULL && step[i] != 1) || v->repeat[at] != 0 ||
            !hg_dim_is_const(d, v->dim[at], &size) || start[i] < 0 || start[i] > size)
            return false;
        v->offset =
            hg_dim_add(d, v->offset, hg_dim_mul(d, hg_dim_const(d, start[i]), v->stride[at]));
    }
    memcpy(v->dim, hg_graph_value(g, n->out[0])->type.dim, sizeof v->dim);
    return true;
}

/* Element `index` along a dimension, which goes. */
static bool view_gather(hg_graph *g, const hg_node *n, hg_view *v)
{
    const int64_t *index;
    size_t count;
    hg_dims *d = &g->dims;
    int64_t axis = hg_node_int(n, "axis", 0), size;
    if (axis < 0) axis += v->rank;
    if (hg_graph_value(g, hg_node_in(g, n, 1))->type.rank != 0 || v->repeat[axis] != 0 ||
        !hg_graph_const_ints(g, hg_node_in(g, n, 1), &index, &count) ||
        !hg_dim_is_const(d, v->dim[axis], &size) || *index < -size || *index >= size)
        return false;
    const int64_t at = *index < 0 ? *index + size : *index;
    v->offset = hg_dim_add(d, v->offset, hg_dim_mul(d, hg_dim_const(d, at), v->stride[axis]));
    v->rank--;
    for (int64_t i = axis; i < v->rank; i++) {
        v->dim[i] = v->dim[i + 1];
        v->stride[i] = v->stride[i + 1];
        v->repeat[i] = v->repeat[i + 1];
    }
    return true;
}

/* Dimensions that grow are constants; others stay for certain. */
static bool view_expand(hg_graph *g, const hg_node *n, hg_view *v)
{
    hg_dims *d = &g->dims;
    const hg_type *to = &hg_graph_value(g, n->out[0])->type;
    const hg_view from = *v;
    const int32_t more = to->rank - from.rank;
    for (int32_t i = 0; i < to->rank; i++) {
        const bool is_new = i < more || hg_dim_is(d, from.dim[i - more], 1);
        if (!is_new && from.dim[i - more] != to->dim[i]) return false;
        v->stride[i] = is_new ? hg_dim_const(d, 0) : from.stride[i - more];
        v->repeat[i] = is_new ? 0 : from.repeat[i - more];
        v->dim[i] = to->dim[i];
    }
    v->rank = to->rank;
    return true;
}

hg_value_id hg_view_factor(const hg_graph *g, const hg_node *n, double *by)
{
    const bool divides = hg_op_is(n, "Div");
    if (!divides && !hg_op_is(n, "Mul")) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        const hg_value_id c = hg_node_in(g, n, i), x = hg_node_in(g, n, 1 - i);
        if ((divides && i == 0) || !hg_graph_const_scalar(g, c, by)) continue;
        if (divides) *by = 1 / *by;
        const hg_type *from = &hg_graph_value(g, x)->type;
        return isfinite(*by) && hg_type_equal(from, &hg_graph_value(g, n->out[0])->type) ? x : 0;
    }
    return 0;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* The input that node n moves or scales, 0 when it does something else. */
static hg_value_id view_source(const hg_graph *g, const hg_node *n, bool scales)
{
    double by;
    if (hg_op_is(n, "Transpose") || hg_regroup_is_reshape(n) || hg_op_is(n, "Slice") ||
        hg_op_is(n, "Expand") || hg_op_is(n, "Gather"))
        return hg_node_in(g, n, 0);
    return scales ? hg_view_factor(g, n, &by) : 0;
}

static bool view_apply(hg_graph *g, const hg_node *n, hg_view *v)
{
    double by = 1;
    if (hg_op_is(n, "Transpose")) return view_transpose(n, v);
    if (hg_op_is(n, "Slice")) return view_slice(g, n, v);
    if (hg_op_is(n, "Expand")) return view_expand(g, n, v);
    if (hg_op_is(n, "Gather")) return view_gather(g, n, v);
    if (hg_regroup_is_reshape(n)) return view_reshape(g, n, v);
    if (hg_view_factor(g, n, &by) == 0) return false;
    v->scale *= by;
    return true;
}

void hg_view_find(hg_graph *g, hg_value_id value, bool scales, hg_view *out)
{
    hg_node_id chain[VIEW_DEPTH];
    int depth = 0;
    hg_value_id at = value;
    while (depth < VIEW_DEPTH) {
        const hg_node_id id = hg_graph_value(g, at)->node;
        const hg_value_id from = id == 0 ? 0 : view_source(g, hg_graph_node(g, id), scales);
        if (from == 0) break;
        chain[depth++] = id;
        at = from;
    }
    hg_view_of(g, at, out);
    while (depth-- > 0) {
        const hg_node *n = hg_graph_node(g, chain[depth]);
        hg_view next = *out;
        if (!view_apply(g, n, &next)) hg_view_of(g, n->out[0], &next);
        *out = next;
    }
}
