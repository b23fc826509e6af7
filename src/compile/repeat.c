/* repeat.c - finds the layers of a network: a stretch of nodes that follows itself several times.
 */
#include "base/hash.h"
#include "compile/traffic.h"
#include "op/op.h"

/* The longest layer looked for: keeps the search linear in the nodes. */
enum { REPEAT_LONGEST = 2048, REPEAT_SHORTEST = 3 };

/* Equal for nodes with the same operator on the same types. */
static uint64_t repeat_sign(const hg_graph *g, const hg_node *n)
{
    uint64_t h = hg_hash(n->op->name, strlen(n->op->name), n->n_in);
    for (uint32_t i = 0; i < n->n_in + n->n_out; i++) {
        const hg_value_id id = i < n->n_in ? hg_node_in(g, n, i) : n->out[i - n->n_in];
        if (id == 0) { /* left out */
            h = hg_hash("", 0, h);
            continue;
        }
        const hg_type *t = &hg_graph_value(g, id)->type;
        const uint32_t head[2] = {(uint32_t)t->dtype, (uint32_t)t->rank};
        h = hg_hash(head, sizeof head, h);
        for (int32_t k = 0; k < t->rank; k++)
            h = hg_hash(&t->dim[k], sizeof t->dim[k], h);
    }
    return h;
}

/* The longest stretch in which each node equals the one `nodes` later. */
static hg_repeat repeat_of(const uint64_t *sign, size_t count, size_t nodes)
{
    size_t best = 0, run = 0;
    for (size_t i = 0; i + nodes < count; i++) {
        run = sign[i] == sign[i + nodes] ? run + 1 : 0;
        best = run > best ? run : best;
    }
    return (hg_repeat){best < nodes ? 0 : best / nodes + 1, nodes};
}

holo_status hg_repeat_find(const hg_graph *g, hg_repeat *out)
{
    uint64_t *sign;
    size_t count = 0;
    HG_TRY(HG_NEW(g->ctx, g->n_node + 1, &sign));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next)
        sign[count++] = repeat_sign(g, hg_graph_node(g, id));
    *out = (hg_repeat){0};
    for (size_t nodes = REPEAT_SHORTEST; nodes <= count / 2 && nodes <= REPEAT_LONGEST; nodes++) {
        const hg_repeat found = repeat_of(sign, count, nodes);
        if (found.count * found.nodes > out->count * out->nodes) *out = found;
    }
    return HOLO_OK;
}
