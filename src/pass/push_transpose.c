/* push_transpose.c - moves Transpose towards the outputs, past everything that does not care about
 * the order of dimensions, until it meets its inverse. Convolution networks keep none between their
 * convolutions.
 *
 *     op(T(a), T(b))  ->  T(op(a, b))          T(T'(a))  ->  a  when T and T' are inverse */
#include "pass/pass.h"
#include "pass/regroup.h"

typedef struct push_perm {
    int32_t rank;
    int32_t to[HG_MAX_RANK]; /* dimension k of the result is dimension to[k] of the input */
} push_perm;

/* The order of a Transpose that produces value; rank 0 when it is no Transpose. */
static push_perm push_read(const hg_graph *g, hg_value_id value)
{
    push_perm p = {0};
    hg_node_id id = value == 0 ? 0 : hg_graph_value(g, value)->node;
    if (id == 0 || !hg_op_is(hg_graph_node(g, id), "Transpose")) return p;
    size_t count;
    const int64_t *perm = hg_node_ints(hg_graph_node(g, id), "perm", &count);
    p.rank = hg_graph_value(g, value)->type.rank;
    for (int32_t k = 0; k < p.rank; k++) {
        int64_t to = perm == NULL ? p.rank - 1 - k : perm[k];
        p.to[k] = (int32_t)(to < 0 ? to + p.rank : to);
    }
    return p;
}

static push_perm push_inverse(const push_perm *p)
{
    push_perm r = {.rank = p->rank};
    for (int32_t k = 0; k < p->rank; k++)
        r.to[p->to[k]] = k;
    return r;
}

static bool push_equal(const push_perm *a, const push_perm *b)
{
    return a->rank == b->rank && memcmp(a->to, b->to, sizeof a->to) == 0;
}

static bool push_is_identity(const push_perm *p)
{
    for (int32_t k = 0; k < p->rank; k++)
        if (p->to[k] != k) return false;
    return true;
}

static hg_value_id push_source(const hg_graph *g, hg_value_id transposed)
{
    return hg_node_in(g, hg_graph_node(g, hg_graph_value(g, transposed)->node), 0);
}

static hg_value_id push_transpose(hg_build *b, hg_value_id x, const push_perm *p)
{
    int64_t perm[HG_MAX_RANK];
    for (int32_t k = 0; k < p->rank; k++)
        perm[k] = p->to[k];
    hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)p->rank);
    return hg_build_op(b, "Transpose", &x, 1, &attr, 1);
}

/* ---- two in a row
 * ------------------------------------------------------------------------------------------ */

static holo_status push_compose(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    push_perm outer = push_read(g, n->out[0]), inner = push_read(g, hg_node_in(g, n, 0));
    if (push_is_identity(&outer)) {
        hg_graph_replace_uses(g, n->out[0], hg_node_in(g, n, 0));
        hg_graph_remove_node(g, id);
        *changed = true;
        return HOLO_OK;
    }
    if (inner.rank != outer.rank) return HOLO_OK;
    push_perm both = {.rank = outer.rank};
    for (int32_t k = 0; k < outer.rank; k++)
        both.to[k] = inner.to[outer.to[k]];
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id x = push_source(g, hg_node_in(g, n, 0));
    hg_build_replace(&b, 0, push_is_identity(&both) ? x : push_transpose(&b, x, &both));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

/* ---- operators that do not care
 * ------------------------------------------------------------------------------ */

static bool push_is_single(const hg_graph *g, hg_value_id v)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    for (int32_t k = 0; k < t->rank; k++)
        if (!hg_dim_is(&g->dims, t->dim[k], 1)) return false;
    return true;
}

/* The order that pays to move past node n: some input has it, and no more full-size inputs lack it.
 */
static bool push_wanted(const hg_graph *g, const hg_node *n, push_perm *out)
{
    uint32_t with = 0, without = 0;
    out->rank = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        if (v == 0 || hg_graph_is_const(g, v) || push_is_single(g, v)) continue;
        push_perm p = push_read(g, v);
        if (p.rank == 0)
            without++;
        else if (out->rank == 0 || push_equal(&p, out))
            *out = p, with++;
        else
            without++;
    }
    return with > 0 && with >= without;
}

/* Some full-size input lacks the order and the result is an output, which must keep its own: a
 * cache would be transposed only to be transposed back. */
static bool push_is_forced(const hg_graph *g, const hg_node *n, const push_perm *p)
{
    for (uint32_t i = 0; i < n->n_in && n->n_out == 1; i++) {
        const push_perm own = push_read(g, hg_node_in(g, n, i));
        if (!push_equal(&own, p) && !hg_graph_is_const(g, hg_node_in(g, n, i)) &&
            hg_graph_is_output(g, n->out[0]))
            return true;
    }
    return false;
}

/* Input v as it looks before the Transpose p: its source, or transposed back (constants fold
 * later). */
static hg_value_id push_before(hg_build *b, hg_value_id v, const push_perm *p)
{
    if (v == 0) return 0;
    push_perm own = push_read(b->g, v), inverse = push_inverse(p);
    if (own.rank != 0 && push_equal(&own, p)) return push_source(b->g, v);
    int32_t rank = hg_build_type(b, v)->rank;
    if (rank == 0) return v;
    if (rank < p->rank) {
        int64_t axes[HG_MAX_RANK];
        for (int32_t k = 0; k < p->rank - rank; k++)
            axes[k] = k;
        v = hg_build_2(b, "Unsqueeze", v, hg_build_ints(b, axes, (uint32_t)(p->rank - rank)));
    }
    return push_transpose(b, v, &inverse);
}

static holo_status push_pointwise(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    push_perm p;
    if (n->n_out != 1 || !push_wanted(g, n, &p)) return HOLO_OK;
    if (hg_graph_value(g, n->out[0])->type.rank != p.rank) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id *in;
    uint32_t n_in = n->n_in;
    HG_TRY(HG_NEW(g->ctx, n_in + 1, &in));
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = push_before(&b, hg_build_in(&b, i), &p);
    hg_node_id made = hg_build_clone(&b, in, n_in);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, push_transpose(&b, hg_graph_node(g, made)->out[0], &p));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

/* Concat, Split, Softmax ...: the attribute "axis" names another dimension. */
static holo_status push_axis(hg_graph *g, hg_node_id id, uint32_t n_data, int64_t standard,
                             bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    hg_node view = *n;
    if (n_data < view.n_in) view.n_in = n_data;
    push_perm p;
    if (!push_wanted(g, &view, &p) || push_is_forced(g, &view, &p) ||
        p.rank != hg_graph_value(g, hg_node_in(g, n, 0))->type.rank)
        return HOLO_OK;
    int64_t axis = hg_node_int(n, "axis", standard);
    if (axis < 0) axis += p.rank;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id *in;
    uint32_t n_in = n->n_in, n_out = n->n_out;
    HG_TRY(HG_NEW(g->ctx, n_in + 1, &in));
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = i < n_data ? push_before(&b, hg_build_in(&b, i), &p) : hg_build_in(&b, i);
    HG_TRY(hg_graph_set_attr(g, id, hg_attr_make_int("axis", p.to[axis])));
    hg_node_id made = hg_build_clone(&b, in, n_in);
    if (made == 0) return b.status;
    for (uint32_t j = 0; j < n_out; j++)
        if (hg_graph_node(g, made)->out[j] != 0)
            hg_build_replace(&b, j, push_transpose(&b, hg_graph_node(g, made)->out[j], &p));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

/* The elements that are summed come in the same order; largest and smallest need none. */
static bool push_keeps_order(const hg_node *n, const push_perm *p, const bool *reduced)
{
    int64_t last = -1;
    if (hg_op_is(n, "ReduceMax") || hg_op_is(n, "ReduceMin")) return true;
    for (int32_t k = 0; k < p->rank; k++) {
        if (!reduced[p->to[k]]) continue;
        if (p->to[k] < last) return false;
        last = p->to[k];
    }
    return true;
}

/* ReduceMean and the like: constant axes are renamed. */
static holo_status push_reduce(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    push_perm p = push_read(g, hg_node_in(g, n, 0));
    size_t count;
    const int64_t *axes = hg_node_ints(n, "axes", &count);
    hg_value_id from = hg_node_in(g, n, 1);
    bool is_attr = axes != NULL;
    if (p.rank == 0 || (!is_attr && (from == 0 || !hg_graph_const_ints(g, from, &axes, &count))) ||
        count == 0 || count > HG_MAX_RANK)
        return HOLO_OK;
    int64_t renamed[HG_MAX_RANK];
    bool reduced[HG_MAX_RANK] = {false}, keep = hg_node_int(n, "keepdims", 1) != 0;
    for (size_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + p.rank : axes[i];
        renamed[i] = p.to[axis];
        reduced[p.to[axis]] = true;
    }
    if (g->ctx->numerics == HOLO_EXACT && !push_keeps_order(n, &p, reduced)) return HOLO_OK;
    /* Dimensions that stay, in the result's order, as places among those that stay in the source's.
     */
    push_perm kept = {0};
    for (int32_t k = 0; k < p.rank; k++) {
        if (reduced[p.to[k]]) continue;
        int32_t place = 0;
        for (int32_t d = 0; d < p.to[k]; d++)
            place += !reduced[d];
        kept.to[kept.rank++] = place;
    }
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id in[2] = {push_source(g, hg_build_in(&b, 0)), 0};
    if (is_attr)
        HG_TRY(hg_graph_set_attr(g, id, hg_attr_make_ints(&b, "axes", renamed, (uint32_t)count)));
    else
        in[1] = hg_build_ints(&b, renamed, (uint32_t)count);
    hg_node_id made = hg_build_clone(&b, in, is_attr ? 1 : 2);
    if (made == 0) return b.status;
    hg_value_id out = hg_graph_node(g, made)->out[0];
    if (keep)
        out = push_transpose(&b, out, &p);
    else if (!push_is_identity(&kept))
        out = push_transpose(&b, out, &kept);
    hg_build_replace(&b, 0, out);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

/* holo:GroupNorm has a form for channels last, which sums in another order. */
static holo_status push_group(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    push_perm p = push_read(g, hg_node_in(g, n, 0));
    if (p.rank < 3 || hg_node_int(n, "channels_last", 0) != 0) return HOLO_OK;
    if (g->ctx->numerics == HOLO_EXACT) return HOLO_OK;
    for (int32_t k = 0; k < p.rank; k++)
        if (p.to[k] != (k == 0 ? 0 : k == 1 ? p.rank - 1 : k - 1)) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id in[3] = {push_source(g, hg_build_in(&b, 0)), hg_build_in(&b, 1),
                         hg_build_in(&b, 2)};
    HG_TRY(hg_graph_set_attr(g, id, hg_attr_make_int("channels_last", 1)));
    hg_node_id made = hg_build_clone(&b, in, n->n_in);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, push_transpose(&b, hg_graph_node(g, made)->out[0], &p));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

/* Runs of a Reshape in the order in which the source of the Transpose p has them: at[k] is the
 * place of output dim k then, dims what the shape is. False when the dims of a run do not lie
 * together. */
static bool push_regroup(hg_dims *d, const push_perm *p, const hg_type *from, const hg_type *to,
                         push_perm *at, hg_dim *dims)
{
    hg_regroup runs;
    int32_t place[2 * HG_MAX_RANK], next = 0;
    if (!hg_regroup_find(d, from, to, &runs)) return false;
    for (int32_t r = 0; r < runs.count; r++) {
        const hg_regroup_run *run = &runs.run[r];
        for (int32_t i = 1; i < run->n_from; i++)
            if (p->to[run->from + i] != p->to[run->from] + i) return false;
        /* a new dim of size 1 follows the run before it */
        place[r] = run->n_from > 0 ? p->to[run->from] : r > 0 ? place[r - 1] : -1;
    }
    *at = (push_perm){.rank = to->rank};
    for (int32_t source = -1; source < p->rank; source++)
        for (int32_t r = 0; r < runs.count; r++)
            for (int32_t i = 0; place[r] == source && i < runs.run[r].n_to; i++) {
                at->to[runs.run[r].to + i] = next;
                dims[next++] = to->dim[runs.run[r].to + i];
            }
    return true;
}

static holo_status push_reshape(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    push_perm p = push_read(g, hg_node_in(g, n, 0)), at;
    hg_dim dims[HG_MAX_RANK];
    if (p.rank == 0 || !push_regroup(&g->dims, &p, &hg_graph_value(g, hg_node_in(g, n, 0))->type,
                                     &hg_graph_value(g, n->out[0])->type, &at, dims))
        return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_attr zero = hg_attr_make_int("allowzero", 1);
    hg_value_id in[2] = {push_source(g, hg_build_in(&b, 0)),
                         hg_build_dims(&b, dims, (uint32_t)at.rank)};
    hg_value_id out = hg_build_op(&b, "Reshape", in, 2, &zero, 1);
    hg_build_replace(&b, 0, push_is_identity(&at) ? out : push_transpose(&b, out, &at));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

/* ---- parts and borders ------------------------------------------------------------------------
 */

enum { PUSH_AHEAD = 4 };

/* Some reader, or what follows it, turns the dims again: a Transpose on the way may vanish. */
static bool push_meets(const hg_graph *g, hg_value_id v, int depth)
{
    for (uint32_t slot = hg_graph_value(g, v)->first_use; slot != 0; slot = g->use[slot - 1].next) {
        const hg_node_id id = g->use[slot - 1].node;
        if (id == 0) continue; /* an output */
        const hg_node *n = hg_graph_node(g, id);
        if (hg_op_is(n, "Transpose")) return true;
        const bool passes = n->op->lane != NULL || hg_op_is(n, "Concat") || hg_op_is(n, "Slice") ||
                            hg_op_is(n, "Pad") || hg_op_is(n, "Unsqueeze");
        if (passes && n->out[0] != 0 && depth < PUSH_AHEAD && push_meets(g, n->out[0], depth + 1))
            return true;
    }
    return false;
}

/* Constant axes of an input, or 0 to count - 1 without one; false when they are not known. */
static bool push_axes(hg_graph *g, hg_value_id from, size_t count, int32_t rank, int64_t *axes)
{
    const int64_t *given = NULL;
    size_t n_given = count;
    if (count > (size_t)rank) return false;
    if (from != 0 && (!hg_graph_const_ints(g, from, &given, &n_given) || n_given != count))
        return false;
    for (size_t i = 0; i < count; i++) {
        axes[i] = given == NULL ? (int64_t)i : given[i] < 0 ? given[i] + rank : given[i];
        if (axes[i] < 0 || axes[i] >= rank) return false;
    }
    return true;
}

/* What is known to be one-dimensional: its number of elements. */
static bool push_count(const hg_graph *g, hg_value_id v, int64_t *count)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    return t->rank == 1 && hg_dim_is_const(&g->dims, t->dim[0], count) && *count <= 2 * HG_MAX_RANK;
}

/* The node with its data and its axes as they are before the Transpose p; `in` has its other
 * inputs. */
static holo_status push_renamed(hg_build *b, const push_perm *p, hg_value_id *in, uint32_t n_in,
                                uint32_t at, const int64_t *axes, uint32_t count)
{
    int64_t renamed[HG_MAX_RANK];
    for (uint32_t i = 0; i < count; i++)
        renamed[i] = p->to[axes[i]];
    in[0] = push_source(b->g, hg_build_in(b, 0));
    in[at] = hg_build_ints(b, renamed, count);
    const hg_node_id made = b->status == HOLO_OK ? hg_build_clone(b, in, n_in) : 0;
    if (made == 0) return b->status;
    hg_build_replace(b, 0, push_transpose(b, hg_graph_node(b->g, made)->out[0], p));
    if (b->status == HOLO_OK) hg_graph_remove_node(b->g, b->id);
    return b->status;
}

/* Slice and Pad name their axes in input `at`, the values of which input 1 has `per` for each. A
 * part of channels lies together in front of a Transpose to channels last and not behind it, so
 * that it pays only if the Transpose vanishes later. */
static holo_status push_part(hg_graph *g, hg_node_id id, uint32_t at, int64_t per, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    const push_perm p = push_read(g, hg_node_in(g, n, 0));
    int64_t count, axes[HG_MAX_RANK];
    if (p.rank == 0 || !push_count(g, hg_node_in(g, n, 1), &count) || count % per != 0 ||
        !push_axes(g, hg_node_in(g, n, at), (size_t)(count / per), p.rank, axes) ||
        !push_meets(g, n->out[0], 0))
        return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id in[5] = {0};
    const uint32_t n_in = n->n_in > at ? n->n_in : at + 1;
    for (uint32_t i = 1; i < n->n_in && i < HG_COUNT(in); i++)
        in[i] = hg_build_in(&b, i);
    *changed = true;
    return push_renamed(&b, &p, in, n_in, at, axes, (uint32_t)(count / per));
}

static bool push_is_reduce(const hg_node *n)
{
    static const char *const names[] = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin",
                                        "ReduceProd", "ReduceL2",  "ReduceL1",  "ReduceSumSquare"};
    for (size_t i = 0; i < HG_COUNT(names); i++)
        if (hg_op_is(n, names[i])) return true;
    return false;
}

static holo_status push_node(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    if (hg_op_is(n, "Transpose")) return push_compose(g, id, changed);
    if (n->op->lane != NULL || hg_op_is(n, "holo:Lane")) return push_pointwise(g, id, changed);
    if (hg_op_is(n, "Concat")) return push_axis(g, id, UINT32_MAX, 0, changed);
    if (hg_op_is(n, "Split") || hg_op_is(n, "holo:Part")) return push_axis(g, id, 1, 0, changed);
    if (hg_op_is(n, "Softmax") || hg_op_is(n, "LogSoftmax"))
        return push_axis(g, id, 1, -1, changed);
    if (hg_op_is(n, "holo:GroupNorm")) return push_group(g, id, changed);
    if (push_is_reduce(n)) return push_reduce(g, id, changed);
    if (hg_op_is(n, "Slice")) return push_part(g, id, 3, 1, changed);
    if (hg_op_is(n, "Pad")) return push_part(g, id, 3, 2, changed);
    if (hg_regroup_is_reshape(n)) return push_reshape(g, id, changed);
    return HOLO_OK;
}

static holo_status push_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        hg_node_id next = hg_graph_node(g, id)->next;
        HG_TRY(push_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_push_transpose = {
    .name = "push_transpose",
    .brief = "Transpose moves towards the outputs until it meets its inverse",
    .run = push_run,
};
