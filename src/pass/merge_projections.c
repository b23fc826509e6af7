/* merge_projections.c - queries, keys and values of an attention that are products of one value
 * with different weights become one product with the weights side by side; the attention reads its
 * parts by strides. Likewise keys and values of another sequence.
 *
 *     attention(x A, x B, x C)  ->  p = x [A B C];  attention(p[..], p[..], p[..]) */
#include "op/op_attention.h"
#include "pass/pass.h"

enum { MERGE_VIEW = 5 };

/* One projection: packed weights of `columns` columns, perhaps with a bias. */
typedef struct merge_part {
    hg_value_id x, weights, bias; /* weights: the constant; bias: [columns], or 0 */
    int64_t columns, trans;
} merge_part;

static const hg_node *merge_only(const hg_graph *g, hg_value_id v, const char *op)
{
    return hg_graph_only_user(g, v) != 0 ? hg_op_producer(g, v, op) : NULL;
}

/* v = MatMulP16(x, PackP16(constant)) without anything else */
static bool merge_product(const hg_graph *g, hg_value_id v, merge_part *p)
{
    const hg_node *n = merge_only(g, v, "holo:MatMulP16");
    if (n == NULL || n->n_in != 2 || hg_node_float(n, "alpha", 1.0) != 1) return false;
    const hg_node *pack = merge_only(g, hg_node_in(g, n, 1), "holo:PackP16");
    if (pack == NULL || pack->n_in != 1 || hg_node_attr(pack, "columns") != NULL) return false;
    const hg_type *t = &hg_graph_value(g, v)->type;
    p->x = hg_node_in(g, n, 0);
    p->weights = hg_node_in(g, pack, 0);
    p->trans = hg_node_int(pack, "trans", 0) != 0;
    return hg_graph_is_const(g, p->weights) &&
           hg_dim_is_const(&g->dims, t->dim[t->rank - 1], &p->columns) && p->columns > 0;
}

static bool merge_find(const hg_graph *g, hg_value_id v, merge_part *p)
{
    const hg_node *sum = merge_only(g, v, "Add");
    *p = (merge_part){0};
    if (hg_graph_only_user(g, v) == 0) return false;
    if (sum == NULL) return merge_product(g, v, p);
    for (uint32_t i = 0; i < 2; i++) {
        const hg_value *c = hg_graph_value(g, hg_node_in(g, sum, i));
        if (c->constant == NULL || c->type.rank != 1 || c->type.dtype != HOLO_F32) continue;
        p->bias = hg_node_in(g, sum, i);
        return merge_product(g, hg_node_in(g, sum, 1 - i), p) &&
               hg_dim_is(&g->dims, c->type.dim[0], p->columns);
    }
    return false;
}

static bool merge_fits(const hg_graph *g, const merge_part *a, const merge_part *b)
{
    return a->x == b->x && a->trans == b->trans && a->weights != b->weights &&
           hg_graph_value(g, a->weights)->type.dtype == hg_graph_value(g, b->weights)->type.dtype;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* A view of [.., columns] as one of the same columns inside [.., total], from column `at` on. A
 * stride of whole rows grows; the others must stay inside a row. */
static bool merge_view(hg_dims *d, const merge_part *p, int64_t total, int64_t at,
                       const hg_dim *extent, hg_dim *view)
{
    const hg_dim columns = hg_dim_const(d, p->columns);
    int64_t reach;
    if (!hg_dim_is_const(d, view[0], &reach)) return false;
    for (int i = 0; i < MERGE_VIEW - 1; i++) {
        int64_t stride, count;
        hg_dim *s = &view[1 + i];
        if (hg_dim_is(d, extent[i], 1)) continue;
        if (hg_dim_is(d, hg_dim_mod(d, *s, columns), 0)) {
            *s = hg_dim_mul(d, hg_dim_floordiv(d, *s, columns), hg_dim_const(d, total));
            continue;
        }
        if (!hg_dim_is_const(d, *s, &stride) || !hg_dim_is_const(d, extent[i], &count) ||
            stride >= p->columns || count > p->columns)
            return false;
        reach += stride * (count - 1);
    }
    view[0] = hg_dim_add(d, view[0], hg_dim_const(d, at));
    return reach < p->columns;
}

static void merge_extents(hg_dims *d, const hg_dim *size, int operand, hg_dim *extent)
{
    const bool is_q = operand == HG_ATTENTION_Q;
    extent[0] = size[HG_ATTENTION_BATCH];
    extent[1] = size[HG_ATTENTION_HEADS];
    if (!is_q) extent[1] = hg_dim_floordiv(d, extent[1], size[HG_ATTENTION_REPEAT]);
    extent[2] = size[is_q ? HG_ATTENTION_QUERIES : HG_ATTENTION_KEYS];
    extent[3] = size[operand == HG_ATTENTION_V ? HG_ATTENTION_WIDTH : HG_ATTENTION_SIZE];
}

/* ---- the product ----------------------------------------------------------------------------- */

/* Biases side by side, zeros where there is none; 0 when there is none at all. */
static hg_value_id merge_bias(hg_build *b, const merge_part *part, int count, int64_t total)
{
    float *all;
    int64_t at = 0;
    hg_value_id out = 0;
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= part[i].bias != 0;
    if (!any || b->status != HOLO_OK) return 0;
    b->status = HG_NEW(b->ctx, (size_t)total, &all);
    if (b->status != HOLO_OK) return 0;
    for (int i = 0; i < count; at += part[i++].columns)
        if (part[i].bias != 0)
            memcpy(all + at, hg_graph_value(b->g, part[i].bias)->constant->data,
                   (size_t)part[i].columns * sizeof *all);
    const hg_type type = {.dtype = HOLO_F32, .rank = 1, .dim = {hg_dim_const(&b->g->dims, total)}};
    b->status = hg_graph_add_const(b->g, (hg_str){0}, type, all, (size_t)total * sizeof *all, &out);
    return out;
}

static hg_value_id merge_build(hg_build *b, const merge_part *part, int count, int64_t total)
{
    hg_value_id weights[3];
    for (int i = 0; i < count; i++)
        weights[i] = part[i].weights;
    const hg_dim columns = hg_dim_const(&b->g->dims, total);
    const hg_attr trans = hg_attr_make_int("trans", part[0].trans);
    const hg_attr attr[2] = {hg_attr_make_dims(b, "n", &columns, 1),
                             hg_attr_make_float("alpha", 1.0)};
    const hg_value_id in[2] = {part[0].x,
                               hg_build_op(b, "holo:PackP16", weights, (uint32_t)count, &trans, 1)};
    const hg_value_id product = hg_build_op(b, "holo:MatMulP16", in, 2, attr, 2);
    const hg_value_id bias = merge_bias(b, part, count, total);
    return bias == 0 ? product : hg_build_2(b, "Add", product, bias);
}

/* Operands of the attention that are parts of one product: their numbers, how many. */
static int merge_operands(const hg_graph *g, const hg_node *n, int *operand, merge_part *part)
{
    merge_part own[3];
    bool is_part[3];
    for (uint32_t i = 0; i < 3; i++)
        is_part[i] = merge_find(g, hg_node_in(g, n, i), &own[i]);
    for (int first = 0; first < 2; first++) {
        int count = 0;
        for (int i = first; i < 3; i++) {
            if (!is_part[first] || !is_part[i] ||
                (i > first && !merge_fits(g, &own[first], &own[i])))
                continue;
            operand[count] = i;
            part[count++] = own[i];
        }
        if (count > 1) return count;
    }
    return 0;
}

static holo_status merge_node(hg_graph *g, hg_node_id id, bool *changed)
{
    static const char *const names[] = {"q", "k", "v"};
    hg_node *n = hg_graph_node(g, id);
    const hg_attr *size = hg_node_attr(n, "sizes");
    merge_part part[3];
    int operand[3];
    hg_dim view[3][MERGE_VIEW], extent[MERGE_VIEW - 1];
    const int count = merge_operands(g, n, operand, part);
    int64_t total = 0, at = 0;
    for (int i = 0; i < count; i++)
        total += part[i].columns;
    for (int i = 0; i < count; at += part[i++].columns) {
        memcpy(view[i], hg_node_attr(n, names[operand[i]])->dims, sizeof view[i]);
        merge_extents(&g->dims, size->dims, operand[i], extent);
        if (!merge_view(&g->dims, &part[i], total, at, extent, view[i])) return HOLO_OK;
    }
    if (count == 0) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_value_id all = merge_build(&b, part, count, total);
    if (b.status != HOLO_OK) return b.status;
    for (int i = 0; i < count; i++) {
        hg_graph_set_input(g, id, (uint32_t)operand[i], all);
        HG_TRY(hg_graph_set_attr(g, id,
                                 hg_attr_make_dims(&b, names[operand[i]], view[i], MERGE_VIEW)));
    }
    *changed = true;
    return b.status;
}

static holo_status merge_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next)
        if (hg_op_is(hg_graph_node(g, id), "holo:Attention")) HG_TRY(merge_node(g, id, changed));
    return HOLO_OK;
}

const hg_pass hg_pass_merge_projections = {
    .name = "merge_projections",
    .brief = "queries, keys and values made of one value become one product",
    .flags = HG_PASS_TUNED,
    .run = merge_run,
};
