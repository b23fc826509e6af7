/* simplify.c - algebra: x * 1, x / 1, x - 0, x ^ 1, x ^ 2 = x * x, double negation, Where with a
 * constant condition, two reshapes in a row, all exact; x ^ 3 = x * x * x, which rounds once more,
 * unless numerics are exact. x + 0 is not here: it turns -0 into 0. */
#include "pass/pass.h"

static bool simplify_is(const hg_graph *g, hg_value_id v, double wanted)
{
    double x;
    return v != 0 && hg_graph_const_scalar(g, v, &x) && x == wanted;
}

/* The input that the node gives back unchanged, or 0. Integers may also lose + 0. */
static hg_value_id simplify_same(const hg_graph *g, const hg_node *n)
{
    hg_value_id a = hg_node_in(g, n, 0), b = hg_node_in(g, n, 1);
    if (hg_op_is(n, "Mul")) return simplify_is(g, b, 1) ? a : simplify_is(g, a, 1) ? b : 0;
    if (hg_op_is(n, "Div") || hg_op_is(n, "Pow")) return simplify_is(g, b, 1) ? a : 0;
    if (hg_op_is(n, "Sub")) return simplify_is(g, b, 0) ? a : 0;
    if (hg_op_is(n, "Add") && !hg_dtype_is_float(hg_graph_value(g, a)->type.dtype))
        return simplify_is(g, b, 0) ? a : simplify_is(g, a, 0) ? b : 0;
    if (hg_op_is(n, "Neg")) {
        hg_node_id inner = hg_graph_value(g, a)->node;
        if (inner != 0 && hg_op_is(hg_graph_node(g, inner), "Neg"))
            return hg_node_in(g, hg_graph_node(g, inner), 0);
    }
    if (hg_op_is(n, "Where"))
        return simplify_is(g, a, 1) ? b : simplify_is(g, a, 0) ? hg_node_in(g, n, 2) : 0;
    return 0;
}

/* Reshape(Reshape(x)) reads x; what the middle shape was does not matter. */
static holo_status simplify_reshape(hg_graph *g, hg_node_id id, bool *done)
{
    const hg_node *n = hg_graph_node(g, id);
    static const char *const views[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
    hg_node_id inner = hg_graph_value(g, hg_node_in(g, n, 0))->node;
    const hg_type *type = &hg_graph_value(g, n->out[0])->type;
    if (!hg_op_is(n, "Reshape") || inner == 0) return HOLO_OK;
    /* A 0 in the shape means "as in the input": only when the result is known by itself. */
    const hg_dim *content = NULL;
    uint32_t count = 0;
    hg_value_id shape = hg_node_in(g, n, 1);
    content = hg_graph_value(g, shape)->content;
    count = hg_graph_value(g, shape)->n_content;
    if (content == NULL || count != (uint32_t)type->rank) return HOLO_OK;
    bool has_zero = false;
    for (uint32_t k = 0; k < count; k++) {
        if (content[k] != type->dim[k]) return HOLO_OK;
        has_zero |= hg_dim_is(&g->dims, content[k], 0);
    }
    for (size_t i = 0; i < HG_COUNT(views); i++) {
        if (!hg_op_is(hg_graph_node(g, inner), views[i])) continue;
        hg_graph_set_input(g, id, 0, hg_node_in(g, hg_graph_node(g, inner), 0));
        *done = true;
        return has_zero ? hg_graph_set_attr(g, id, hg_attr_make_int("allowzero", 1)) : HOLO_OK;
    }
    return HOLO_OK;
}

/* 2 for a square, which a product gives exactly; 3 for a cube where one more rounding is allowed
 * and the type is not narrow; 0 otherwise. */
static int simplify_power(const hg_graph *g, const hg_node *n)
{
    if (!hg_op_is(n, "Pow") || !hg_type_equal(&hg_graph_value(g, hg_node_in(g, n, 0))->type,
                                              &hg_graph_value(g, n->out[0])->type))
        return 0;
    if (simplify_is(g, hg_node_in(g, n, 1), 2)) return 2;
    const holo_dtype dtype = hg_graph_value(g, n->out[0])->type.dtype;
    const bool may_round =
        g->ctx->numerics != HOLO_EXACT && (dtype == HOLO_F32 || dtype == HOLO_F64);
    return may_round && simplify_is(g, hg_node_in(g, n, 1), 3) ? 3 : 0;
}

static holo_status simplify_multiply(hg_graph *g, hg_node_id id, int power)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id x = hg_build_in(&b, 0), product = hg_build_2(&b, "Mul", x, x);
    if (power == 3) product = hg_build_2(&b, "Mul", product, x);
    hg_build_replace(&b, 0, product);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status simplify_node(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    if (n->n_out != 1 || n->out[0] == 0 || n->n_in == 0 || hg_node_in(g, n, 0) == 0) return HOLO_OK;
    hg_value_id same = simplify_same(g, n);
    if (same != 0 &&
        hg_type_equal(&hg_graph_value(g, same)->type, &hg_graph_value(g, n->out[0])->type)) {
        hg_graph_replace_uses(g, n->out[0], same);
        hg_graph_remove_node(g, id);
        *changed = true;
        return HOLO_OK;
    }
    const int power = simplify_power(g, n);
    if (power != 0) {
        *changed = true;
        return simplify_multiply(g, id, power);
    }
    return simplify_reshape(g, id, changed);
}

static holo_status simplify_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        hg_node_id next = hg_graph_node(g, id)->next;
        HG_TRY(simplify_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_simplify = {
    .name = "simplify",
    .brief = "algebra: neutral elements, squares and cubes, reshapes in a row",
    .run = simplify_run,
};
