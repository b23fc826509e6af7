/* lift_pointwise.c - an activation behind elements that change places moves in front of them, to
 * the convolution or product that made them, whose epilogue it becomes:
 *
 *     Relu(Reshape(Transpose(Reshape(Conv(x)))))  ->  Reshape(Transpose(Reshape(Relu(Conv(x)))))
 *
 * A ConvTranspose ends like that once it is a Conv, and so does one that pixels are shuffled
 * behind. Each element is computed as before. */
#include "pass/pass.h"
#include "pass/regroup.h"

enum { LIFT_DEPTH = 8, LIFT_INPUTS = 4 };

/* One input and numbers. */
static bool lift_is_unary(const hg_graph *g, const hg_node *n)
{
    if (n->op->lane == NULL || n->n_out != 1 || n->n_in == 0 || n->n_in > LIFT_INPUTS) return false;
    for (uint32_t i = 1; i < n->n_in; i++) {
        const hg_value_id v = hg_node_in(g, n, i);
        if (v != 0 && (!hg_graph_is_const(g, v) || hg_graph_value(g, v)->type.rank != 0))
            return false;
    }
    const hg_value_id x = hg_node_in(g, n, 0);
    return x != 0 && hg_graph_value(g, x)->type.dtype == HOLO_F32 &&
           hg_graph_value(g, n->out[0])->type.dtype == HOLO_F32;
}

/* The same elements, in other places. */
static bool lift_is_move(const hg_node *n)
{
    return n->n_in <= LIFT_INPUTS &&
           (hg_op_is(n, "Transpose") || hg_op_is(n, "DepthToSpace") || hg_regroup_is_reshape(n));
}

/* A product or convolution, or point-wise work on one, as its bias is. */
static bool lift_is_product(const hg_graph *g, const hg_node *n)
{
    static const char *const ops[] = {"holo:ConvNhwc", "holo:ConvDw", "MatMul", "Gemm"};
    for (int depth = 0; depth < LIFT_DEPTH; depth++) {
        for (size_t i = 0; i < HG_COUNT(ops); i++)
            if (hg_op_is(n, ops[i])) return true;
        const hg_value_id x = n->op->lane == NULL ? 0 : hg_node_in(g, n, 0);
        if (x == 0 || hg_graph_value(g, x)->node == 0) return false;
        n = hg_graph_node(g, hg_graph_value(g, x)->node);
    }
    return false;
}

/* The moves between node `id` and what made its input, last one first, if that is a product and
 * nobody else reads any of it; 0 when there is nothing to gain. */
static uint32_t lift_moves(const hg_graph *g, hg_node_id id, hg_node_id *move)
{
    bool moves = false;
    for (uint32_t count = 0; count <= LIFT_DEPTH; count++) {
        const hg_node_id reader = count == 0 ? id : move[count - 1];
        const hg_value_id v = hg_node_in(g, hg_graph_node(g, reader), 0);
        const hg_node_id maker = v == 0 ? 0 : hg_graph_value(g, v)->node;
        if (maker == 0 || hg_graph_only_user(g, v) != reader) return 0;
        const hg_node *n = hg_graph_node(g, maker);
        if (!lift_is_move(n)) return moves && lift_is_product(g, n) ? count : 0;
        moves |= !hg_regroup_is_reshape(n);
        if (count < LIFT_DEPTH) move[count] = maker;
    }
    return 0;
}

static holo_status lift_node(hg_graph *g, hg_node_id id, const hg_node_id *move, uint32_t count)
{
    hg_build b;
    hg_value_id in[LIFT_INPUTS];
    hg_build_init(&b, g, id);
    const uint32_t n_in = b.node->n_in;
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = hg_build_in(&b, i);
    in[0] = hg_node_in(g, hg_graph_node(g, move[count - 1]), 0);
    hg_node_id made = hg_build_clone(&b, in, n_in);
    for (uint32_t k = count; k-- > 0 && made != 0;) {
        const hg_node *n = hg_graph_node(g, move[k]);
        const uint32_t n_move = n->n_in;
        in[0] = hg_graph_node(g, made)->out[0];
        for (uint32_t i = 1; i < n_move; i++)
            in[i] = hg_node_in(g, n, i);
        made = hg_build_copy(&b, move[k], in, n_move);
    }
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    for (uint32_t k = 0; k < count && b.status == HOLO_OK; k++)
        hg_graph_remove_node(g, move[k]);
    return b.status;
}

static holo_status lift_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        hg_node_id move[LIFT_DEPTH];
        const uint32_t count = lift_is_unary(g, n) ? lift_moves(g, id, move) : 0;
        if (count != 0) HG_TRY(lift_node(g, id, move, count));
        *changed |= count != 0;
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_lift_pointwise = {
    .name = "lift_pointwise",
    .brief = "an activation behind elements that change places moves in front of them",
    .flags = HG_PASS_TUNED,
    .run = lift_run,
};
