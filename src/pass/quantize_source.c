/* quantize_source.c - where the function that makes an activation begins: x (1 + erf(x / s)) / 2 is
 * a function of x alone, and a table of 65536 entries once x is a code of 16 bits.
 *
 * A product makes x in registers, and codes are half as long as floats; the table costs two thirds
 * less than Erf and what goes with it. Rounding to 16 bits adds next to nothing to the error. */
#include "pass/quantize_state.h"

enum { SOURCE_NODES = 16 };

/* Nodes of the function, and the one value that they read. */
typedef struct source_function {
    const hg_graph *g;
    hg_node_id node[SOURCE_NODES];
    uint32_t n_node;
    hg_value_id from; /* 0: not known yet */
    bool is_dear;     /* more than a few instructions */
} source_function;

static bool source_is_in(const source_function *f, hg_node_id id)
{
    for (uint32_t i = 0; i < f->n_node; i++)
        if (f->node[i] == id) return true;
    return false;
}

static bool source_is_dear(const hg_node *n)
{
    static const char *const names[] = {"Erf", "Tanh", "Sigmoid", "Exp", "Gelu"};
    for (size_t i = 0; i < HG_COUNT(names); i++)
        if (hg_op_is(n, names[i])) return true;
    return false;
}

/* Point-wise, and all it reads but constants of one number is one value or two. */
static bool source_is_step(const hg_graph *g, const hg_node *n)
{
    double number;
    uint32_t values = 0;
    if (n->op->lane == NULL || n->n_out != 1) return false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const hg_value_id v = hg_node_in(g, n, i);
        if (v == 0 || hg_graph_const_scalar(g, v, &number)) continue;
        if (hg_graph_is_const(g, v) || hg_graph_value(g, v)->type.dtype != HOLO_F32) return false;
        values++;
    }
    return values != 0;
}

/* Adds what makes v; false: there are two values that it begins with, or too many nodes. */
static bool source_walk(source_function *f, hg_value_id v)
{
    double number;
    const hg_node_id id = hg_graph_value(f->g, v)->node;
    if (v == f->from || source_is_in(f, id) || hg_graph_const_scalar(f->g, v, &number)) return true;
    const hg_node *n = id == 0 ? NULL : hg_graph_node(f->g, id);
    if (n == NULL || n->region != HG_REGION_MAIN || !source_is_step(f->g, n)) {
        if (f->from != 0) return false;
        f->from = v;
        return true;
    }
    if (f->n_node == SOURCE_NODES) return false;
    f->node[f->n_node++] = id;
    f->is_dear |= source_is_dear(n);
    for (uint32_t i = 0; i < n->n_in; i++)
        if (hg_node_in(f->g, n, i) != 0 && !source_walk(f, hg_node_in(f->g, n, i))) return false;
    return true;
}

/* Nothing else reads v. */
static bool source_is_inside(const source_function *f, hg_value_id v)
{
    for (uint32_t slot = hg_graph_value(f->g, v)->first_use; slot != 0;
         slot = f->g->use[slot - 1].next)
        if (!source_is_in(f, f->g->use[slot - 1].node)) return false;
    return true;
}

/* The sum of a product and its bias. */
static bool source_is_product(const hg_graph *g, hg_value_id v)
{
    const hg_node *n = hg_op_producer(g, v, "Add");
    for (uint32_t i = 0; n != NULL && i < 2; i++) {
        const hg_value_id x = hg_node_in(g, n, i);
        if (hg_op_producer(g, x, "MatMul") != NULL || hg_op_producer(g, x, "holo:MatMul") != NULL)
            return true;
    }
    return false;
}

hg_value_id hg_quantize_source(const hg_graph *g, hg_value_id v)
{
    source_function f = {.g = g};
    if (!source_walk(&f, v) || !f.is_dear || f.from == 0 || !source_is_product(g, f.from)) return 0;
    for (uint32_t i = 0; i < f.n_node; i++) {
        const hg_value_id made = hg_graph_node(g, f.node[i])->out[0];
        if (made != v && !source_is_inside(&f, made)) return 0;
    }
    return source_is_inside(&f, f.from) ? f.from : 0;
}
