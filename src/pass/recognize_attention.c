/* recognize_attention.c - attention written out becomes one node:
 *
 *     MatMul(Softmax(scale * MatMul(q, k') + bias), v)
 *
 * with a bias or a Where in front of the softmax, rows without keys set to 0 behind it, and scales
 * anywhere. Copies that split and merge heads, repeat keys or transpose them become strides. The
 * matrix of scores is then never stored. Rounding differs, so exact numerics keep what is there. */
#include "op/op_attention.h"
#include "pass/pass.h"
#include "pass/view.h"

#include <math.h>

typedef struct attention_match {
    hg_value_id q, k, v; /* operands of the products */
    bool k_is_turned;    /* [.., keys, size] */
    hg_value_id bias, keep;
    double scale, fill;
    int64_t drops, empty;
    hg_type scores;
    hg_node_id last; /* gives the result */
    bool by_row;     /* last is a Transpose that merges heads */
} attention_match;

/* The producer of v when it is `op` and nothing else reads v. */
static const hg_node *attention_only(const hg_graph *g, hg_value_id v, const char *op)
{
    const hg_node *n = hg_op_producer(g, v, op);
    return n != NULL && hg_graph_only_user(g, v) != 0 ? n : NULL;
}

static bool attention_is_scalar(const hg_graph *g, hg_value_id v, double *out)
{
    return hg_graph_is_const(g, v) && hg_graph_const_scalar(g, v, out);
}

/* ---- before the softmax ---------------------------------------------------------------------- */

/* scores = scale * MatMul(q, k) */
static bool attention_product(const hg_graph *g, hg_value_id v, attention_match *m)
{
    m->scale = 1;
    for (int depth = 0; depth < 4; depth++) {
        const hg_node_id id = hg_graph_value(g, v)->node;
        if (id == 0 || hg_graph_only_user(g, v) == 0) return false;
        const hg_node *n = hg_graph_node(g, id);
        const bool fused = hg_op_is(n, "holo:MatMul");
        double by;
        hg_value_id from = hg_view_factor(g, n, &by);
        if (from == 0) {
            if (!fused && !hg_op_is(n, "MatMul")) return false;
            if (n->n_in != 2 || hg_node_attr(n, "code") != NULL) return false;
            if (fused && hg_node_int(n, "trans_a", 0) != 0) return false;
            m->q = hg_node_in(g, n, 0);
            m->k = hg_node_in(g, n, 1);
            m->k_is_turned = fused && hg_node_int(n, "trans_b", 0) != 0;
            if (fused) m->scale *= hg_node_float(n, "alpha", 1.0);
            return true;
        }
        m->scale *= by;
        v = from;
    }
    return false;
}

/* The same, with some replaced by a constant. */
static bool attention_kept(const hg_graph *g, hg_value_id v, attention_match *m)
{
    const hg_node *n = attention_only(g, v, "Where");
    m->keep = 0;
    if (n == NULL) return attention_product(g, v, m);
    for (uint32_t i = 1; i < 3; i++) {
        const hg_value_id scores = hg_node_in(g, n, i);
        if (!attention_is_scalar(g, hg_node_in(g, n, 3 - i), &m->fill)) continue;
        if (!hg_type_equal(&hg_graph_value(g, scores)->type, &m->scores)) continue;
        m->keep = hg_node_in(g, n, 0);
        m->drops = i == 2;
        return attention_product(g, scores, m);
    }
    return false;
}

static bool attention_scores(const hg_graph *g, hg_value_id v, attention_match *m)
{
    m->scores = hg_graph_value(g, v)->type;
    m->bias = 0;
    const hg_node *n = attention_only(g, v, "Add");
    for (uint32_t i = 0; n != NULL && i < 2; i++) {
        const hg_value_id scores = hg_node_in(g, n, i);
        if (!hg_type_equal(&hg_graph_value(g, scores)->type, &m->scores)) continue;
        m->bias = hg_node_in(g, n, 1 - i);
        if (attention_kept(g, scores, m)) return true;
    }
    m->bias = 0;
    return attention_kept(g, v, m);
}

/* ---- behind it ------------------------------------------------------------------------------- */

/* Where(IsNaN(p), 0, p), or Where(Equal(ReduceMax(bias), -inf), 0, p): p is *inner. */
static int64_t attention_empty(hg_graph *g, hg_value_id v, hg_value_id *inner, hg_value_id *bias)
{
    const hg_node *n = attention_only(g, v, "Where");
    double zero;
    *inner = v;
    if (n == NULL || !attention_is_scalar(g, hg_node_in(g, n, 1), &zero) || zero != 0)
        return HG_ATTENTION_NAN;
    const hg_value_id p = hg_node_in(g, n, 2);
    const hg_node *nan = attention_only(g, hg_node_in(g, n, 0), "IsNaN");
    if (nan != NULL && hg_node_in(g, nan, 0) == p && hg_graph_value(g, p)->n_uses == 2 &&
        !hg_graph_is_output(g, p)) {
        *inner = p;
        return HG_ATTENTION_ZERO;
    }
    const hg_node *equal = attention_only(g, hg_node_in(g, n, 0), "Equal");
    const hg_node *most =
        equal == NULL ? NULL : attention_only(g, hg_node_in(g, equal, 0), "ReduceMax");
    const int64_t *axes;
    size_t count;
    double none;
    if (most == NULL || hg_graph_only_user(g, p) == 0 || hg_node_int(most, "keepdims", 1) == 0 ||
        !attention_is_scalar(g, hg_node_in(g, equal, 1), &none) || none != -(double)INFINITY ||
        hg_node_in(g, most, 1) == 0 ||
        !hg_graph_const_ints(g, hg_node_in(g, most, 1), &axes, &count) || count != 1 ||
        axes[0] != -1)
        return HG_ATTENTION_NAN;
    *inner = p;
    *bias = hg_node_in(g, most, 0);
    return HG_ATTENTION_ZERO_MASKED;
}

/* The Transpose that puts heads behind rows, if that is all that reads the result. */
static void attention_last(const hg_graph *g, hg_node_id id, int32_t rank, attention_match *m)
{
    static const int64_t by_row[2][4] = {{1, 0, 2}, {0, 2, 1, 3}};
    m->last = id;
    const hg_node_id user = hg_graph_only_user(g, hg_graph_node(g, id)->out[0]);
    size_t count;
    if (rank < 3 || user == 0 || !hg_op_is(hg_graph_node(g, user), "Transpose")) return;
    const int64_t *perm = hg_node_ints(hg_graph_node(g, user), "perm", &count);
    for (int32_t i = 0; i < rank; i++)
        if (perm == NULL || perm[i] != by_row[rank - 3][i]) return;
    m->last = user;
    m->by_row = true;
}

static bool attention_find(hg_graph *g, hg_node_id id, attention_match *m)
{
    const hg_node *n = hg_graph_node(g, id);
    *m = (attention_match){0};
    if (!hg_op_is(n, "MatMul") || n->n_in != 2) return false;
    hg_value_id p = hg_node_in(g, n, 0), inner, bias = 0;
    const hg_type *t = &hg_graph_value(g, p)->type;
    m->v = hg_node_in(g, n, 1);
    m->empty = attention_empty(g, p, &inner, &bias);
    const hg_node_id made = hg_graph_value(g, inner)->node;
    const hg_node *softmax = made == 0 ? NULL : hg_graph_node(g, made);
    if (softmax == NULL || !hg_op_is(softmax, "Softmax") || t->dtype != HOLO_F32) return false;
    if (m->empty == HG_ATTENTION_NAN && hg_graph_only_user(g, inner) == 0) return false;
    const int64_t axis = hg_node_int(softmax, "axis", -1);
    if ((axis != -1 && axis != t->rank - 1) || t->rank < 2 || t->rank > 4) return false;
    if (!attention_scores(g, hg_node_in(g, softmax, 0), m)) return false;
    if (m->empty == HG_ATTENTION_ZERO_MASKED && bias != m->bias) return false;
    attention_last(g, id, t->rank, m);
    return true;
}

/* ---- operands as views ----------------------------------------------------------------------- */

/* Strides over batch, head, row and column of an operand whose last two dims are these. False when
 * it does not fit the scores. */
static bool attention_strides(hg_graph *g, const attention_match *m, const hg_view *v, int32_t row,
                              hg_dim *out)
{
    hg_dims *d = &g->dims;
    const int32_t rank = m->scores.rank;
    if (v->rank != rank) return false;
    out[0] = v->offset;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t at = i + rank - 4;
        out[1 + i] = hg_dim_const(d, 0);
        if (at < 0 || hg_dim_is(d, v->dim[at], 1)) continue;
        if (v->dim[at] != m->scores.dim[at]) return false;
        out[1 + i] = v->stride[at];
    }
    out[3] = v->stride[row];
    out[4] = v->stride[2 * rank - 3 - row];
    return true;
}

/* Only heads may be repeated, and of queries not even those. */
static bool attention_repeat(const hg_view *v, int32_t head, hg_dim *repeat)
{
    for (int32_t i = 0; i < v->rank; i++)
        if (v->repeat[i] != 0 && i != head) return false;
    *repeat = head < 0 ? 0 : v->repeat[head];
    return true;
}

static void attention_views(hg_graph *g, const attention_match *m, hg_view *view, hg_dim *repeat)
{
    const hg_value_id from[3] = {m->q, m->k, m->v};
    const int32_t head = m->scores.rank - 3;
    hg_dim own[3] = {0};
    for (int i = 0; i < 3; i++) {
        hg_view_find(g, from[i], i < 2, &view[i]);
        if (!attention_repeat(&view[i], i == 0 ? -1 : head, &own[i]))
            hg_view_of(g, from[i], &view[i]);
    }
    if (own[1] != own[2]) {
        hg_view_of(g, m->k, &view[1]);
        hg_view_of(g, m->v, &view[2]);
        own[1] = 0;
    }
    *repeat = own[1] != 0 ? own[1] : hg_dim_const(&g->dims, 1);
}

static bool attention_spec(hg_graph *g, const attention_match *m, hg_attention_spec *s)
{
    hg_dims *d = &g->dims;
    hg_view view[3];
    const int32_t rank = m->scores.rank,
                  row[3] = {rank - 2, rank - (m->k_is_turned ? 2 : 1), rank - 2};
    const hg_dim one = hg_dim_const(d, 1);
    *s = (hg_attention_spec){.in = {0, 0, 0, m->bias, m->keep},
                             .scale = m->scale,
                             .fill = m->fill,
                             .drops = m->drops,
                             .empty = m->empty,
                             .by_row = m->by_row};
    attention_views(g, m, view, &s->size[HG_ATTENTION_REPEAT]);
    for (int i = 0; i < 3; i++) {
        s->in[i] = view[i].base;
        s->scale *= view[i].scale;
        if (!attention_strides(g, m, &view[i], row[i], s->view[i])) return false;
    }
    s->size[HG_ATTENTION_BATCH] = rank < 4 ? one : m->scores.dim[0];
    s->size[HG_ATTENTION_HEADS] = rank < 3 ? one : m->scores.dim[rank - 3];
    s->size[HG_ATTENTION_QUERIES] = m->scores.dim[rank - 2];
    s->size[HG_ATTENTION_KEYS] = m->scores.dim[rank - 1];
    s->size[HG_ATTENTION_SIZE] = view[0].dim[rank - 1];
    s->size[HG_ATTENTION_WIDTH] = view[2].dim[rank - 1];
    return isfinite(s->scale) && isfinite((float)s->scale) &&
           (m->bias == 0 || hg_graph_value(g, m->bias)->type.rank <= rank) &&
           (m->keep == 0 || hg_graph_value(g, m->keep)->type.rank <= rank);
}

static holo_status attention_replace(hg_graph *g, const attention_match *m,
                                     const hg_attention_spec *s)
{
    hg_build b;
    hg_build_init(&b, g, m->last);
    hg_value_id made = hg_build_attention(&b, s);
    const hg_type *to = &hg_graph_value(g, hg_graph_node(g, m->last)->out[0])->type;
    if (to->rank != 4) {
        hg_attr zero = hg_attr_make_int("allowzero", 1);
        hg_value_id in[2] = {made, hg_build_dims(&b, to->dim, (uint32_t)to->rank)};
        made = hg_build_op(&b, "Reshape", in, 2, &zero, 1);
    }
    hg_build_replace(&b, 0, made);
    return b.status;
}

static holo_status attention_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        attention_match m;
        hg_attention_spec s;
        if (!attention_find(g, id, &m) || !attention_spec(g, &m, &s)) continue;
        HG_TRY(attention_replace(g, &m, &s));
        *changed = true;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_recognize_attention = {
    .name = "recognize_attention",
    .brief = "attention written out becomes one node that reads heads by strides",
    .flags = HG_PASS_TUNED,
    .run = attention_run,
};
