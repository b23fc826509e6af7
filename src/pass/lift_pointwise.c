/* lift_pointwise.c - an activation behind elements that change places moves in front of them, to
 * the convolution or product that made them, whose epilogue it becomes:
 *
 *     Relu(Reshape(Transpose(Reshape(Conv(x)))))  ->  Reshape(Transpose(Reshape(Relu(Conv(x)))))
 *
 * A ConvTranspose ends like that once it is a Conv, and so does one that pixels are shuffled
 * behind. Where whole pixels change places, so does what works on each pixel: a 1x1 convolution,
 * which leaves fewer channels to move, and its bias. Each element is computed as before. */
#include "op/op_nhwc.h"
#include "pass/pass.h"
#include "pass/regroup.h"

enum { LIFT_DEPTH = 8, LIFT_INPUTS = 4, LIFT_CONV_INPUTS = 2 };

static int64_t lift_last(const hg_graph *g, hg_value_id v)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    int64_t size;
    return t->rank > 0 && hg_dim_is_const(&g->dims, t->dim[t->rank - 1], &size) ? size : 0;
}

/* A 1x1 convolution that leaves no more channels than it reads, before its bias is its epilogue.
 * One channel makes no pixel that would have to stay together. */
static bool lift_is_conv(const hg_graph *g, const hg_node *n)
{
    if (!hg_nhwc_is_pointwise(n) || n->n_in != LIFT_CONV_INPUTS) return false;
    const int64_t from = lift_last(g, hg_node_in(g, n, 0)), to = lift_last(g, n->out[0]);
    return from > 1 && to > 0 && to <= from;
}

/* How many elements side by side a node works on: 1 for one input and numbers, those of a pixel
 * when some are vectors or when it is a convolution; 0: it stays where it is. */
static int64_t lift_block(const hg_graph *g, const hg_node *n)
{
    if (lift_is_conv(g, n)) return lift_last(g, hg_node_in(g, n, 0));
    int64_t block = 1;
    if (n->op->lane == NULL || n->n_out != 1 || n->n_in == 0 || n->n_in > LIFT_INPUTS) return 0;
    for (uint32_t i = 1; i < n->n_in; i++) {
        const hg_value_id v = hg_node_in(g, n, i);
        if (v == 0) continue;
        const int32_t rank = hg_graph_value(g, v)->type.rank;
        if (!hg_graph_is_const(g, v) || rank > 1) return 0;
        if (rank == 1) block = lift_last(g, n->out[0]);
        if (rank == 1 && lift_last(g, v) != block) return 0;
    }
    const hg_value_id x = hg_node_in(g, n, 0);
    const bool is_float = x != 0 && hg_graph_value(g, x)->type.dtype == HOLO_F32 &&
                          hg_graph_value(g, n->out[0])->type.dtype == HOLO_F32;
    return is_float ? block : 0;
}

/* Blocks of that many elements stay together. */
static bool lift_keeps(const hg_graph *g, const hg_node *move, int64_t block)
{
    size_t rank;
    if (block == 1) return true;
    const int64_t *perm = hg_node_ints(move, "perm", &rank);
    const bool is_kept = hg_op_is(move, "Transpose")
                             ? perm != NULL && rank > 0 && perm[rank - 1] == (int64_t)rank - 1
                             : hg_regroup_is_reshape(move);
    const int64_t from = lift_last(g, hg_node_in(g, move, 0)), to = lift_last(g, move->out[0]);
    return is_kept && from != 0 && to != 0 && from % block == 0 && to % block == 0;
}

/* Where the moves begin, node n finds what it works on: pixels of a map, or, for a bias, pixels of
 * as many channels. */
static bool lift_fits(const hg_graph *g, const hg_node *n, hg_value_id from, int64_t block)
{
    return block == 1 || (lift_is_conv(g, n) ? hg_graph_value(g, from)->type.rank == 4
                                             : lift_last(g, from) == block);
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
static uint32_t lift_moves(const hg_graph *g, hg_node_id id, int64_t block, hg_node_id *move)
{
    bool moves = false;
    for (uint32_t count = 0; count <= LIFT_DEPTH; count++) {
        const hg_node_id reader = count == 0 ? id : move[count - 1];
        const hg_value_id v = hg_node_in(g, hg_graph_node(g, reader), 0);
        const hg_node_id maker = v == 0 ? 0 : hg_graph_value(g, v)->node;
        if (maker == 0 || hg_graph_only_user(g, v) != reader) return 0;
        const hg_node *n = hg_graph_node(g, maker);
        if (!lift_is_move(n)) {
            moves = moves && lift_is_product(g, n);
            return moves && lift_fits(g, hg_graph_node(g, id), v, block) ? count : 0;
        }
        if (!lift_keeps(g, n, block)) return 0;
        moves |= !hg_regroup_is_reshape(n);
        if (count < LIFT_DEPTH) move[count] = maker;
    }
    return 0;
}

/* `value` is what node `id` gave; it and the moves that led to it are gone. */
static holo_status lift_replace(hg_build *b, hg_node_id id, const hg_node_id *move, uint32_t count,
                                hg_value_id value)
{
    hg_build_replace(b, 0, value);
    if (b->status != HOLO_OK) return b->status;
    hg_graph_remove_node(b->g, id);
    for (uint32_t k = 0; k < count; k++)
        hg_graph_remove_node(b->g, move[k]);
    return HOLO_OK;
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
    return lift_replace(&b, id, move, count, hg_graph_node(g, made)->out[0]);
}

/* The dims of a value whose pixels have `to` channels instead of `from`. */
static uint32_t lift_dims(hg_graph *g, hg_value_id v, int64_t from, int64_t to, hg_dim *dim)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    const int64_t last = lift_last(g, v) / from * to;
    for (int32_t k = 0; k < t->rank; k++)
        dim[k] = t->dim[k];
    dim[t->rank - 1] = hg_dim_const(&g->dims, last);
    return (uint32_t)t->rank;
}

/* The convolution on the pixels that the moves begin with, several of which lie side by side there,
 * and the moves with its channels. */
static holo_status lift_conv(hg_graph *g, hg_node_id id, const hg_node_id *move, uint32_t count)
{
    hg_build b;
    hg_dim dim[HG_MAX_RANK];
    hg_build_init(&b, g, id);
    const hg_value_id source = hg_node_in(g, hg_graph_node(g, move[count - 1]), 0);
    const hg_value_id x = hg_build_in(&b, 0), weights = hg_build_in(&b, 1);
    const int64_t from = lift_last(g, x), to = lift_last(g, b.node->out[0]);
    uint32_t rank = lift_dims(g, source, from, from, dim);
    const int64_t beside = lift_last(g, source) / from;
    dim[rank - 2] = hg_dim_mul(&g->dims, dim[rank - 2], hg_dim_const(&g->dims, beside));
    dim[rank - 1] = hg_dim_const(&g->dims, from);
    hg_value_id in[LIFT_CONV_INPUTS] = {hg_build_reshape(&b, source, dim, rank), weights};
    const hg_node_id made = hg_build_clone(&b, in, LIFT_CONV_INPUTS);
    if (made == 0) return b.status;
    rank = lift_dims(g, source, from, to, dim);
    in[0] = hg_build_reshape(&b, hg_graph_node(g, made)->out[0], dim, rank);
    for (uint32_t k = count; k-- > 0 && in[0] != 0;) {
        if (hg_op_is(hg_graph_node(g, move[k]), "Transpose")) {
            const hg_node_id moved = hg_build_copy(&b, move[k], in, 1);
            in[0] = moved == 0 ? 0 : hg_graph_node(g, moved)->out[0];
            continue;
        }
        rank = lift_dims(g, hg_graph_node(g, move[k])->out[0], from, to, dim);
        in[0] = hg_build_reshape(&b, in[0], dim, rank);
    }
    return in[0] == 0 ? b.status : lift_replace(&b, id, move, count, in[0]);
}

static holo_status lift_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        hg_node_id move[LIFT_DEPTH];
        const int64_t block = lift_block(g, n);
        const uint32_t count = block != 0 ? lift_moves(g, id, block, move) : 0;
        if (count != 0)
            HG_TRY(lift_is_conv(g, n) ? lift_conv(g, id, move, count)
                                      : lift_node(g, id, move, count));
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
