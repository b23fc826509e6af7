/* graph.c - making and editing the graph: arrays of values, nodes, uses and regions; use lists. */
#include "graph/graph.h"

#include <stdio.h>

/* ---- growth -------------------------------------------------------------------- */

/* Room for one more item in an id-indexed array; NULL after an error. Ids stay below 2^32 - 1
 * because use lists store slot + 1. */
static void *graph_grow(hg_graph *g, void *items, size_t n, size_t *capacity, size_t size)
{
    void *grown =
        n < UINT32_MAX - 1 ? hg_arena_grow(&g->ctx->arena, items, n, capacity, size) : NULL;
    if (grown == NULL) (void)hg_fail_nomem(g->ctx->error, size);
    return grown;
}

static holo_status graph_new_value(hg_graph *g, hg_value_id *out)
{
    hg_value *grown = graph_grow(g, g->value, g->n_value, &g->value_capacity, sizeof *grown);
    if (grown == NULL) return HOLO_E_NOMEM;
    g->value = grown;
    grown[g->n_value] = (hg_value){0};
    *out = (hg_value_id)g->n_value++;
    return HOLO_OK;
}

/* count empty slots in a row. */
static holo_status graph_new_slots(hg_graph *g, uint32_t count, uint32_t *first)
{
    size_t start = g->n_use;
    for (uint32_t i = 0; i < count; i++) {
        hg_use *grown = graph_grow(g, g->use, g->n_use, &g->use_capacity, sizeof *grown);
        if (grown == NULL) {
            g->n_use = start;
            return HOLO_E_NOMEM;
        }
        g->use = grown;
        grown[g->n_use++] = (hg_use){0};
    }
    *first = (uint32_t)start;
    return HOLO_OK;
}

/* A list without a capacity field has room up to the next power of two. Returns NULL after an
 * error. */
static void *graph_append(hg_graph *g, void *items, uint32_t n, size_t size)
{
    size_t capacity = n;
    if (n >= 4 ? (n & (n - 1)) != 0 : n != 0) return items;
    if (n == 0) {
        void *first = hg_arena_array(&g->ctx->arena, 4, size);
        if (first == NULL) (void)hg_fail_nomem(g->ctx->error, 4 * size);
        return first;
    }
    void *grown = hg_arena_grow(&g->ctx->arena, items, n, &capacity, size);
    if (grown == NULL) (void)hg_fail_nomem(g->ctx->error, 2 * (size_t)n * size);
    return grown;
}

holo_status hg_graph_init(hg_graph *g, hg_ctx *ctx)
{
    hg_value_id no_value;
    hg_region_id main_region;
    uint32_t no_slot;
    *g = (hg_graph){.ctx = ctx};
    hg_dims_init(&g->dims, &ctx->arena);
    HG_TRY(graph_new_value(g, &no_value));
    HG_TRY(graph_new_slots(g, 1, &no_slot));
    g->node = graph_grow(g, NULL, 0, &g->node_capacity, sizeof *g->node);
    g->region = graph_grow(g, NULL, 0, &g->region_capacity, sizeof *g->region);
    if (g->node == NULL || g->region == NULL) return HOLO_E_NOMEM;
    g->n_node = g->n_region = 1;
    return hg_graph_add_region(g, 0, &main_region);
}

/* ---- use lists ----------------------------------------------------------------- */

static void graph_link_use(hg_graph *g, uint32_t slot, hg_value_id value)
{
    hg_use *u = &g->use[slot];
    u->value = value;
    u->prev = u->next = 0;
    if (value == 0) return;
    hg_value *v = hg_graph_value(g, value);
    u->next = v->first_use;
    if (v->first_use != 0) g->use[v->first_use - 1].prev = slot + 1;
    v->first_use = slot + 1;
    v->n_uses++;
}

static void graph_unlink_use(hg_graph *g, uint32_t slot)
{
    hg_use *u = &g->use[slot];
    if (u->value == 0) return;
    hg_value *v = hg_graph_value(g, u->value);
    if (u->prev != 0)
        g->use[u->prev - 1].next = u->next;
    else
        v->first_use = u->next;
    if (u->next != 0) g->use[u->next - 1].prev = u->prev;
    v->n_uses--;
    u->value = u->prev = u->next = 0;
}

static void graph_drop_slots(hg_graph *g, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        graph_unlink_use(g, first + i);
        g->use[first + i] = (hg_use){0};
    }
}

/* ---- create -------------------------------------------------------------------- */

holo_status hg_graph_add_region(hg_graph *g, hg_node_id owner, hg_region_id *out)
{
    hg_region *grown = graph_grow(g, g->region, g->n_region, &g->region_capacity, sizeof *grown);
    if (grown == NULL) return HOLO_E_NOMEM;
    g->region = grown;
    grown[g->n_region] = (hg_region){.owner = owner};
    *out = (hg_region_id)g->n_region++;
    return HOLO_OK;
}

holo_status hg_graph_add_value(hg_graph *g, hg_str name, hg_type type, hg_value_id *out)
{
    hg_value_id id;
    HG_TRY(graph_new_value(g, &id));
    g->value[id].name = name;
    g->value[id].type = type;
    *out = id;
    return HOLO_OK;
}

holo_status hg_graph_add_const(hg_graph *g, hg_str name, hg_type type, const void *data,
                               size_t bytes, hg_value_id *out)
{
    hg_const *constant;
    hg_value_id id;
    HG_TRY(HG_NEW(g->ctx, 1, &constant));
    *constant = (hg_const){.data = data, .bytes = bytes};
    HG_TRY(hg_graph_add_value(g, name, type, &id));
    g->value[id].constant = constant;
    *out = id;
    return HOLO_OK;
}

holo_status hg_graph_add_region_input(hg_graph *g, hg_region_id region, hg_str name, hg_type type,
                                      hg_value_id *out)
{
    hg_region *r = hg_graph_region(g, region);
    hg_value_id id;
    hg_value_id *in = graph_append(g, r->in, r->n_in, sizeof *in);
    if (in == NULL) return HOLO_E_NOMEM;
    r->in = in;
    HG_TRY(hg_graph_add_value(g, name, type, &id));
    g->value[id].region = region;
    g->value[id].index = r->n_in;
    in[r->n_in++] = id;
    *out = id;
    return HOLO_OK;
}

holo_status hg_graph_add_region_output(hg_graph *g, hg_region_id region, hg_str name,
                                       hg_value_id value)
{
    hg_region *r = hg_graph_region(g, region);
    uint32_t first = r->first_slot, old = r->first_slot;
    hg_str *names = graph_append(g, r->out_name, r->n_out, sizeof *names);
    if (names == NULL) return HOLO_E_NOMEM;
    r->out_name = names;
    if (r->n_out != 0 && old + r->n_out == g->n_use) {
        uint32_t last; /* the outputs are the newest slots: one more fits behind them */
        HG_TRY(graph_new_slots(g, 1, &last));
    } else {
        HG_TRY(graph_new_slots(g, r->n_out + 1, &first));
        for (uint32_t i = 0; i < r->n_out; i++) {
            hg_value_id moved = g->use[old + i].value;
            graph_drop_slots(g, old + i, 1);
            g->use[first + i] = (hg_use){.region = region, .index = i};
            graph_link_use(g, first + i, moved);
        }
    }
    r->first_slot = first;
    g->use[first + r->n_out] = (hg_use){.region = region, .index = r->n_out};
    graph_link_use(g, first + r->n_out, value);
    names[r->n_out++] = name;
    return HOLO_OK;
}

static void graph_link_node(hg_graph *g, hg_node_id id, hg_region_id region, hg_node_id before)
{
    hg_node *n = hg_graph_node(g, id);
    hg_region *r = hg_graph_region(g, region);
    assert(before == 0 || hg_graph_node(g, before)->region == region);
    n->region = region;
    n->next = before;
    n->prev = before != 0 ? g->node[before].prev : r->last;
    if (n->prev != 0)
        g->node[n->prev].next = id;
    else
        r->first = id;
    if (before != 0)
        g->node[before].prev = id;
    else
        r->last = id;
}

static void graph_unlink_node(hg_graph *g, hg_node_id id)
{
    hg_node *n = hg_graph_node(g, id);
    hg_region *r = hg_graph_region(g, n->region);
    if (n->prev != 0)
        g->node[n->prev].next = n->next;
    else
        r->first = n->next;
    if (n->next != 0)
        g->node[n->next].prev = n->prev;
    else
        r->last = n->prev;
    n->region = n->prev = n->next = 0;
}

/* The parts of a node that are new: outputs and bodies. */
static holo_status graph_make_results(hg_graph *g, hg_node *n)
{
    if (n->n_out != 0) HG_TRY(HG_NEW(g->ctx, n->n_out, &n->out));
    if (n->n_body != 0) HG_TRY(HG_NEW(g->ctx, n->n_body, &n->body));
    for (uint32_t i = 0; i < n->n_out; i++) {
        HG_TRY(graph_new_value(g, &n->out[i]));
        g->value[n->out[i]].type.rank = HG_RANK_UNKNOWN;
    }
    for (uint32_t i = 0; i < n->n_body; i++)
        HG_TRY(hg_graph_add_region(g, 0, &n->body[i]));
    return HOLO_OK;
}

holo_status hg_graph_add_cert(hg_graph *g, hg_cert cert)
{
    hg_cert *grown =
        hg_arena_grow(&g->ctx->arena, g->cert, g->n_cert, &g->cert_capacity, sizeof *grown);
    if (grown == NULL) return hg_fail_nomem(g->ctx->error, sizeof *grown);
    g->cert = grown;
    g->cert[g->n_cert++] = cert;
    return HOLO_OK;
}

holo_status hg_graph_add_node(hg_graph *g, hg_region_id region, hg_node_id before,
                              const hg_node_spec *spec, hg_node_id *out)
{
    hg_node_id id = (hg_node_id)g->n_node;
    hg_node n = {.op = spec->op,
                 .origin = spec->origin != NULL ? spec->origin : spec->op,
                 .name = spec->name,
                 .n_in = spec->n_in,
                 .n_out = spec->n_out,
                 .attr = spec->attr,
                 .n_attr = spec->n_attr,
                 .n_body = spec->n_body};
    hg_node *grown = graph_grow(g, g->node, g->n_node, &g->node_capacity, sizeof *grown);
    if (grown == NULL) return HOLO_E_NOMEM;
    g->node = grown;
    HG_TRY(graph_make_results(g, &n));
    HG_TRY(graph_new_slots(g, n.n_in, &n.first_slot));
    /* Nothing fails from here on; before, nothing refers to a node that does not come to be. */
    for (uint32_t i = 0; i < n.n_in; i++) {
        g->use[n.first_slot + i] = (hg_use){.node = id, .index = i};
        graph_link_use(g, n.first_slot + i, spec->in[i]);
    }
    for (uint32_t i = 0; i < n.n_out; i++) {
        g->value[n.out[i]].node = id;
        g->value[n.out[i]].index = i;
    }
    for (uint32_t i = 0; i < n.n_body; i++)
        g->region[n.body[i]].owner = id;
    g->node[id] = n;
    g->n_node++;
    graph_link_node(g, id, region, before);
    *out = id;
    return HOLO_OK;
}

/* ---- look ---------------------------------------------------------------------- */

hg_value_id hg_node_in(const hg_graph *g, const hg_node *n, uint32_t i)
{
    return i < n->n_in ? g->use[n->first_slot + i].value : 0;
}

hg_value_id hg_region_out(const hg_graph *g, hg_region_id region, uint32_t i)
{
    const hg_region *r = hg_graph_region(g, region);
    return i < r->n_out ? g->use[r->first_slot + i].value : 0;
}

bool hg_graph_is_measured(const hg_graph *g, hg_value_id value)
{
    for (size_t i = 0; i < g->dims.n_symbol; i++)
        if (g->dims.symbol[i].kind != HG_SYMBOL_INPUT && g->dims.symbol[i].value == value)
            return true;
    return false;
}

hg_node_id hg_graph_only_user(const hg_graph *g, hg_value_id value)
{
    const hg_value *v = hg_graph_value(g, value);
    if (v->n_uses != 1 || hg_graph_is_measured(g, value)) return 0;
    return g->use[v->first_use - 1].node;
}

bool hg_graph_is_output(const hg_graph *g, hg_value_id value)
{
    for (uint32_t at = hg_graph_value(g, value)->first_use; at != 0; at = g->use[at - 1].next)
        if (g->use[at - 1].node == 0) return true;
    return false;
}

bool hg_graph_is_const(const hg_graph *g, hg_value_id value)
{
    return value != 0 && hg_graph_value(g, value)->constant != NULL;
}

const hg_attr *hg_node_attr(const hg_node *n, const char *name)
{
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (hg_str_is(n->attr[i].name, name)) return &n->attr[i];
    return NULL;
}

hg_str hg_node_label(const hg_graph *g, hg_node_id id, char *buffer, size_t size)
{
    const hg_node *n = hg_graph_node(g, id);
    if (n->name.length != 0) return n->name;
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != 0 && g->value[n->out[i]].name.length != 0) return g->value[n->out[i]].name;
    snprintf(buffer, size, "#%u", (unsigned int)id);
    return hg_str_from(buffer);
}

hg_dim hg_type_count(hg_graph *g, const hg_type *type)
{
    if (type->rank < 0) return 0;
    hg_dim count = hg_dim_const(&g->dims, 1);
    for (int32_t i = 0; i < type->rank; i++)
        count = hg_dim_mul(&g->dims, count, type->dim[i]);
    return count;
}

/* Everything but the items of containers. */
static bool graph_type_equal_head(const hg_type *a, const hg_type *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank || a->key != b->key) return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dim[i] == 0 || a->dim[i] != b->dim[i]) return false;
    return true;
}

bool hg_type_equal(const hg_type *a, const hg_type *b)
{
    while (graph_type_equal_head(a, b)) {
        if (a->item == NULL || b->item == NULL) return a->item == b->item;
        a = a->item;
        b = b->item;
    }
    return false;
}

size_t hg_graph_count_nodes(const hg_graph *g)
{
    size_t count = 0;
    for (size_t i = 1; i < g->n_node; i++)
        count += g->node[i].region != 0;
    return count;
}

/* ---- edit ---------------------------------------------------------------------- */

void hg_graph_set_input(hg_graph *g, hg_node_id node, uint32_t index, hg_value_id value)
{
    const hg_node *n = hg_graph_node(g, node);
    assert(index < n->n_in);
    graph_unlink_use(g, n->first_slot + index);
    graph_link_use(g, n->first_slot + index, value);
}

/* Sizes that are read from the old value are read from the new one. */
static void graph_move_symbols(hg_graph *g, hg_value_id old, hg_value_id replacement)
{
    for (size_t i = 0; i < g->dims.n_symbol; i++)
        if (g->dims.symbol[i].kind != HG_SYMBOL_INPUT && g->dims.symbol[i].value == old)
            g->dims.symbol[i].value = replacement;
}

void hg_graph_replace_uses(hg_graph *g, hg_value_id old, hg_value_id replacement)
{
    if (old == replacement) return;
    hg_value *from = hg_graph_value(g, old), *to = hg_graph_value(g, replacement);
    graph_move_symbols(g, old, replacement);
    if (to->content == NULL && to->constant == NULL) {
        to->content = from->content;
        to->n_content = from->n_content;
    }
    uint32_t last = 0;
    for (uint32_t at = from->first_use; at != 0; at = g->use[at - 1].next) {
        g->use[at - 1].value = replacement;
        last = at;
    }
    if (last == 0) return;
    g->use[last - 1].next = to->first_use;
    if (to->first_use != 0) g->use[to->first_use - 1].prev = last;
    to->first_use = from->first_use;
    to->n_uses += from->n_uses;
    from->first_use = from->n_uses = 0;
}

/* Takes out one node whose bodies hold no nodes any more. */
static void graph_release_node(hg_graph *g, hg_node_id id)
{
    hg_node *n = hg_graph_node(g, id);
    for (uint32_t i = 0; i < n->n_body; i++) {
        hg_region *r = hg_graph_region(g, n->body[i]);
        graph_drop_slots(g, r->first_slot, r->n_out);
        r->n_out = 0;
    }
    graph_drop_slots(g, n->first_slot, n->n_in);
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != 0) g->value[n->out[i]].node = 0;
    graph_unlink_node(g, id);
}

/* A node in one of the bodies, 0 when they are empty. */
static hg_node_id graph_inner_node(const hg_graph *g, const hg_node *n)
{
    for (uint32_t i = 0; i < n->n_body; i++)
        if (g->region[n->body[i]].last != 0) return g->region[n->body[i]].last;
    return 0;
}

void hg_graph_remove_node(hg_graph *g, hg_node_id node)
{
    hg_node_id at = node;
    /* Bodies may be nested to any depth: innermost nodes go first, then their owners. */
    for (;;) {
        const hg_node *n = hg_graph_node(g, at);
        hg_node_id inner = graph_inner_node(g, n);
        if (inner != 0) {
            at = inner;
            continue;
        }
        const hg_region *r = hg_graph_region(g, n->region);
        graph_release_node(g, at);
        if (at == node) return;
        at = r->last != 0 ? r->last : r->owner;
    }
}

void hg_graph_move_node(hg_graph *g, hg_node_id node, hg_node_id before)
{
    hg_region_id region = hg_graph_node(g, node)->region;
    if (node == before) return;
    graph_unlink_node(g, node);
    graph_link_node(g, node, region, before);
}

void hg_graph_splice(hg_graph *g, hg_region_id body, hg_node_id before)
{
    const hg_region_id to = hg_graph_node(g, before)->region;
    for (hg_node_id id = hg_graph_region(g, body)->first; id != 0;
         id = hg_graph_region(g, body)->first) {
        graph_unlink_node(g, id);
        graph_link_node(g, id, to, before);
    }
}

void hg_graph_swap_bodies(hg_graph *g, hg_node_id a, uint32_t i, hg_node_id b, uint32_t j)
{
    hg_region_id *left = &hg_graph_node(g, a)->body[i], *right = &hg_graph_node(g, b)->body[j];
    const hg_region_id kept = *left;
    *left = *right;
    *right = kept;
    hg_graph_region(g, *left)->owner = a;
    hg_graph_region(g, *right)->owner = b;
}

holo_status hg_graph_set_attr(hg_graph *g, hg_node_id node, hg_attr attr)
{
    hg_node *n = hg_graph_node(g, node);
    hg_attr *copy;
    uint32_t at = 0;
    while (at < n->n_attr && !hg_str_equal(n->attr[at].name, attr.name))
        at++;
    HG_TRY(HG_NEW(g->ctx, (size_t)n->n_attr + 1, &copy));
    if (n->n_attr != 0) memcpy(copy, n->attr, n->n_attr * sizeof *copy);
    copy[at] = attr;
    if (at == n->n_attr) n->n_attr++;
    n->attr = copy;
    return HOLO_OK;
}
