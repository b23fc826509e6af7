/* merge_duplicates.c - common subexpressions: nodes with the same operator, inputs and attributes
 * are one node; constants with the same bytes are one constant. */
#include "base/hash.h"
#include "pass/pass.h"

static uint64_t merge_duplicates_hash_attr(const hg_attr *a, uint64_t h)
{
    h = hg_hash(a->name.text, a->name.length, h);
    h = hg_hash(&a->i, sizeof a->i, h);
    h = hg_hash(&a->f, sizeof a->f, h);
    h = hg_hash(a->s.text, a->s.length, h);
    if (a->ints != NULL) h = hg_hash(a->ints, a->count * sizeof *a->ints, h);
    if (a->dims != NULL) h = hg_hash(a->dims, a->count * sizeof *a->dims, h);
    return hg_hash(&a->tensor, sizeof a->tensor, h);
}

static uint64_t merge_duplicates_hash(const hg_graph *g, const hg_node *n)
{
    uint64_t h = hg_hash(n->op->name, strlen(n->op->name), n->n_in);
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        h = hg_hash(&v, sizeof v, h);
    }
    for (uint32_t i = 0; i < n->n_attr; i++)
        h = merge_duplicates_hash_attr(&n->attr[i], h);
    return h;
}

static bool merge_duplicates_same_bytes(const void *a, const void *b, size_t size)
{
    return a == b || (a != NULL && b != NULL && (size == 0 || memcmp(a, b, size) == 0));
}

static bool merge_duplicates_equal_attr(const hg_attr *a, const hg_attr *b)
{
    if (a->kind != b->kind || a->count != b->count || !hg_str_equal(a->name, b->name)) return false;
    if (a->kind == HG_ATTR_STRINGS || a->kind == HG_ATTR_TYPE || a->kind == HG_ATTR_CODE)
        return a->strings == b->strings && a->type == b->type && a->code == b->code;
    return a->i == b->i && memcmp(&a->f, &b->f, sizeof a->f) == 0 && hg_str_equal(a->s, b->s) &&
           a->tensor == b->tensor &&
           merge_duplicates_same_bytes(a->ints, b->ints, a->count * sizeof *a->ints) &&
           merge_duplicates_same_bytes(a->floats, b->floats, a->count * sizeof *a->floats) &&
           merge_duplicates_same_bytes(a->dims, b->dims, a->count * sizeof *a->dims);
}

static bool merge_duplicates_equal(const hg_graph *g, const hg_node *a, const hg_node *b)
{
    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out || a->n_attr != b->n_attr)
        return false;
    for (uint32_t i = 0; i < a->n_in; i++)
        if (hg_node_in(g, a, i) != hg_node_in(g, b, i)) return false;
    for (uint32_t i = 0; i < a->n_attr; i++)
        if (!merge_duplicates_equal_attr(&a->attr[i], &b->attr[i])) return false;
    for (uint32_t j = 0; j < a->n_out; j++)
        if ((a->out[j] == 0) != (b->out[j] == 0)) return false;
    return true;
}

/* ---- constants ---------------------------------------------------------------------------------
 */

static bool merge_duplicates_equal_const(const hg_graph *g, hg_value_id a, hg_value_id b)
{
    const hg_value *x = hg_graph_value(g, a), *y = hg_graph_value(g, b);
    return hg_type_equal(&x->type, &y->type) && x->constant->bytes == y->constant->bytes &&
           merge_duplicates_same_bytes(x->constant->data, y->constant->data, x->constant->bytes);
}

/* Hash table of value or node ids, sized once: nothing is added to the graph meanwhile. */
typedef struct merge_duplicates_table {
    uint32_t *slot;
    size_t mask;
} merge_duplicates_table;

static holo_status merge_duplicates_table_new(hg_graph *g, size_t entries,
                                              merge_duplicates_table *t)
{
    size_t n = 64;
    while (n < entries * 2)
        n *= 2;
    t->mask = n - 1;
    return HG_NEW(g->ctx, n, &t->slot);
}

static holo_status merge_duplicates_constants(hg_graph *g, bool *changed)
{
    merge_duplicates_table t;
    HG_TRY(merge_duplicates_table_new(g, g->n_value, &t));
    for (hg_value_id v = 1; v < g->n_value; v++) {
        const hg_value *value = hg_graph_value(g, v);
        /* Strings are pointers, not bytes; large tensors are merged when they are stored. */
        if (value->constant == NULL || value->n_uses == 0 || value->constant->bytes > 4096 ||
            value->type.dtype == HOLO_STRING)
            continue;
        size_t at = hg_graph_const_hash(g, v) & t.mask;
        while (t.slot[at] != 0 && !merge_duplicates_equal_const(g, t.slot[at], v))
            at = (at + 1) & t.mask;
        if (t.slot[at] == 0) {
            t.slot[at] = v;
        } else {
            hg_graph_replace_uses(g, v, t.slot[at]);
            *changed = true;
        }
    }
    return HOLO_OK;
}

static holo_status merge_duplicates_nodes(hg_graph *g, bool *changed)
{
    merge_duplicates_table t;
    HG_TRY(merge_duplicates_table_new(g, g->n_node, &t));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        hg_node_id next = n->next;
        if (n->n_body == 0 && (n->op->flags & HG_OP_EFFECT) == 0) {
            size_t at = merge_duplicates_hash(g, n) & t.mask;
            while (t.slot[at] != 0 && !merge_duplicates_equal(g, hg_graph_node(g, t.slot[at]), n))
                at = (at + 1) & t.mask;
            if (t.slot[at] == 0) {
                t.slot[at] = id;
            } else {
                for (uint32_t j = 0; j < n->n_out; j++)
                    if (n->out[j] != 0)
                        hg_graph_replace_uses(g, n->out[j], hg_graph_node(g, t.slot[at])->out[j]);
                hg_graph_remove_node(g, id);
                *changed = true;
            }
        }
        id = next;
    }
    return HOLO_OK;
}

static holo_status merge_duplicates_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    HG_TRY(merge_duplicates_constants(g, changed));
    return merge_duplicates_nodes(g, changed);
}

const hg_pass hg_pass_merge_duplicates = {
    .name = "merge_duplicates",
    .brief = "equal nodes and equal small constants become one",
    .run = merge_duplicates_run,
};
