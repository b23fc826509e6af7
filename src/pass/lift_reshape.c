/* lift_reshape.c - a Reshape behind a product with packed weights that keeps the columns moves in
 * front of the product, whose rows may have any leading dimensions:
 *
 *     Reshape(MatMulP16(a, w), [d .., n])  ->  MatMulP16(Reshape(a, [d .., k]), w)
 *
 * Exporters that flatten rows for Gemm put such a Reshape between the product and its residual or
 * activation; in front it often meets its inverse, and the point-wise work becomes an epilogue. */
#include "pass/pass.h"
#include "pass/regroup.h"

/* The product whose result only the Reshape `n` reads and whose columns it keeps; 0: none. */
static hg_node_id lift_product(const hg_graph *g, const hg_node *n)
{
    const hg_value_id y = hg_node_in(g, n, 0);
    const hg_node_id id = y == 0 ? 0 : hg_graph_value(g, y)->node;
    if (id == 0 || !hg_op_is(hg_graph_node(g, id), "holo:MatMulP16")) return 0;
    if (hg_graph_only_user(g, y) == 0 || hg_graph_node(g, id)->n_in != 2) return 0;
    const hg_type *from = &hg_graph_value(g, y)->type, *to = &hg_graph_value(g, n->out[0])->type;
    int64_t columns;
    if (to->rank < 1 || to->dim[to->rank - 1] != from->dim[from->rank - 1]) return 0;
    /* without columns the rows are not determined */
    if (!hg_dim_is_const(&g->dims, to->dim[to->rank - 1], &columns) || columns == 0) return 0;
    return id;
}

/* a with the leading dims of `to`. */
static hg_value_id lift_rows(hg_build *b, hg_value_id a, const hg_type *to)
{
    const hg_type *from = hg_build_type(b, a);
    hg_type wanted = *to;
    wanted.dtype = from->dtype;
    wanted.dim[to->rank - 1] = from->dim[from->rank - 1];
    for (int depth = 0; depth < 4; depth++) {
        if (hg_type_equal(hg_build_type(b, a), &wanted)) return a;
        const hg_node_id id = hg_graph_value(b->g, a)->node;
        if (id == 0 || !hg_regroup_is_reshape(hg_graph_node(b->g, id))) break;
        a = hg_node_in(b->g, hg_graph_node(b->g, id), 0);
    }
    hg_attr zero = hg_attr_make_int("allowzero", 1);
    hg_value_id in[2] = {a, hg_build_dims(b, wanted.dim, (uint32_t)wanted.rank)};
    return hg_build_op(b, "Reshape", in, 2, &zero, 1);
}

static holo_status lift_node(hg_graph *g, hg_node_id id, hg_node_id product)
{
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_type to = hg_graph_value(g, hg_graph_node(g, id)->out[0])->type;
    const hg_node *p = hg_graph_node(g, product);
    hg_attr attr[2] = {hg_attr_make_dims(&b, "n", &to.dim[to.rank - 1], 1),
                       hg_attr_make_float("alpha", hg_node_float(p, "alpha", 1.0))};
    hg_value_id in[2] = {hg_node_in(g, p, 0), hg_node_in(g, p, 1)};
    in[0] = lift_rows(&b, in[0], &to);
    const hg_node_id made = hg_build_node(&b, "holo:MatMulP16", in, 2, attr, 2, 1);
    return hg_build_fused(&b, made, product);
}

static holo_status lift_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id product = hg_regroup_is_reshape(n) ? lift_product(g, n) : 0;
        if (product != 0) {
            HG_TRY(lift_node(g, id, product));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_lift_reshape = {
    .name = "lift_reshape",
    .brief = "a Reshape of the rows of a packed product moves in front of it",
    .flags = HG_PASS_TUNED,
    .run = lift_run,
};
