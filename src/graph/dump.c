/* dump.c - the graph as text; text.h describes the form. */
#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/text.h"
#include "graph/walk.h"

#include <inttypes.h>

typedef struct dump {
    const hg_graph *g;
    hg_text text;
    hg_arena memory;   /* of this dump */
    uint32_t *number;  /* per value; 0: printed by its own name */
    uint8_t *is_named; /* per value: number or name is settled */
    uint8_t *is_shown; /* per constant: printed already */
    hg_map names;
    uint32_t last_number;
} dump;

/* ---- names --------------------------------------------------------------------- */

/* The first value of a name keeps it, others and those without one are numbered in the order in
 * which the text mentions them. */
static bool dump_settle_name(dump *d, hg_value_id id)
{
    if (id == 0 || d->is_named[id]) return true;
    hg_str name = d->g->value[id].name;
    d->is_named[id] = 1;
    if (name.length == 0 || hg_map_get(&d->names, name) != 0) {
        d->number[id] = ++d->last_number;
        return true;
    }
    return hg_map_set(&d->names, name, 1);
}

/* Constants come before what uses them. */
static bool dump_settle_const(dump *d, hg_value_id id)
{
    return !hg_graph_is_const(d->g, id) || dump_settle_name(d, id);
}

static bool dump_settle_event(dump *d, const hg_walk *w)
{
    const hg_graph *g = d->g;
    const hg_region *r = hg_graph_region(g, w->region);
    const hg_node *n = w->node != 0 ? hg_graph_node(g, w->node) : NULL;
    bool ok = true;
    switch (w->event) {
    case HG_WALK_REGION:
        for (uint32_t i = 0; ok && i < r->n_in; i++)
            ok = dump_settle_name(d, r->in[i]);
        break;
    case HG_WALK_NODE:
        for (uint32_t i = 0; ok && n != NULL && i < n->n_in; i++)
            ok = dump_settle_const(d, hg_node_in(g, n, i));
        for (uint32_t i = 0; ok && n != NULL && i < n->n_out; i++)
            ok = dump_settle_name(d, n->out[i]);
        break;
    case HG_WALK_NODE_END: break;
    case HG_WALK_REGION_END:
        for (uint32_t i = 0; ok && i < r->n_out; i++)
            ok = dump_settle_const(d, hg_region_out(g, w->region, i));
        break;
    }
    return ok;
}

static bool dump_settle_names(dump *d)
{
    size_t n = d->g->n_value;
    d->number = hg_arena_array(&d->memory, n, sizeof *d->number);
    d->is_named = hg_arena_array(&d->memory, n, 1);
    d->is_shown = hg_arena_array(&d->memory, n, 1);
    if (d->number == NULL || d->is_named == NULL || d->is_shown == NULL) return false;
    for (hg_walk w = hg_walk_start(d->g); hg_walk_next(&w);)
        if (!dump_settle_event(d, &w)) return false;
    return true;
}

static void dump_value(dump *d, hg_value_id id)
{
    hg_text *t = &d->text;
    if (id == 0 || !d->is_named[id]) {
        hg_text_add(t, "_");
        return;
    }
    hg_str name = d->g->value[id].name;
    hg_text_add(t, "%");
    if (d->number[id] != 0)
        hg_text_format(t, "%" PRIu32, d->number[id]);
    else if (hg_text_is_name(name))
        hg_text_put(t, name.text, name.length);
    else
        hg_text_quote(t, name);
}

/* ---- statements ---------------------------------------------------------------- */

/* Type and known contents of a value. */
static void dump_fact(dump *d, hg_value_id id)
{
    if (id == 0) {
        hg_text_add(&d->text, "_");
        return;
    }
    const hg_value *v = hg_graph_value(d->g, id);
    hg_dump_type(&d->text, d->g, &d->memory, &v->type);
    if (v->content == NULL) return;
    hg_text_add(&d->text, " {");
    for (uint32_t i = 0; i < v->n_content; i++) {
        if (i != 0) hg_text_add(&d->text, ",");
        hg_dump_dim(&d->text, d->g, &d->memory, v->content[i]);
    }
    hg_text_add(&d->text, "}");
}

static void dump_const_once(dump *d, hg_value_id id, uint32_t depth)
{
    if (!hg_graph_is_const(d->g, id) || d->is_shown[id]) return;
    d->is_shown[id] = 1;
    hg_text_indent(&d->text, depth);
    dump_value(d, id);
    hg_text_add(&d->text, " = ");
    hg_dump_const(&d->text, d->g, &d->memory, id);
    hg_text_add(&d->text, "\n");
}

static void dump_inputs(dump *d, const hg_region *r)
{
    hg_text_add(&d->text, "(");
    for (uint32_t i = 0; i < r->n_in; i++) {
        if (i != 0) hg_text_add(&d->text, ", ");
        dump_value(d, r->in[i]);
        hg_text_add(&d->text, ": ");
        dump_fact(d, r->in[i]);
    }
    hg_text_add(&d->text, ") {\n");
}

static void dump_node(dump *d, hg_node_id id, uint32_t depth)
{
    const hg_node *n = hg_graph_node(d->g, id);
    hg_text *t = &d->text;
    for (uint32_t i = 0; i < n->n_in; i++)
        dump_const_once(d, hg_node_in(d->g, n, i), depth);
    hg_text_indent(t, depth);
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (i != 0) hg_text_add(t, ", ");
        dump_value(d, n->out[i]);
    }
    if (n->n_out != 0) hg_text_add(t, " = ");
    if (n->op != NULL && n->op->domain != NULL) {
        hg_text_add(t, n->op->domain);
        hg_text_add(t, ":");
    }
    hg_text_add(t, n->op != NULL ? n->op->name : "?");
    hg_text_add(t, "(");
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (i != 0) hg_text_add(t, ", ");
        dump_value(d, hg_node_in(d->g, n, i));
    }
    hg_text_add(t, ")");
    hg_dump_attrs(t, d->g, &d->memory, n);
}

static void dump_node_end(dump *d, hg_node_id id)
{
    const hg_node *n = hg_graph_node(d->g, id);
    for (uint32_t i = 0; i < n->n_out; i++) {
        hg_text_add(&d->text, i == 0 ? " : " : ", ");
        dump_fact(d, n->out[i]);
    }
    if (n->name.length != 0) {
        hg_text_add(&d->text, " ");
        hg_text_quote(&d->text, n->name);
    }
    hg_text_add(&d->text, "\n");
}

static void dump_region(dump *d, const hg_walk *w)
{
    const hg_region *r = hg_graph_region(d->g, w->region);
    if (r->owner != 0) {
        const hg_op *op = hg_graph_node(d->g, r->owner)->op;
        bool is_if = op != NULL && strcmp(op->name, "If") == 0;
        hg_text_add(&d->text, !is_if ? " body" : w->body == 0 ? " then" : " else");
    }
    dump_inputs(d, r);
}

static void dump_region_end(dump *d, const hg_walk *w)
{
    const hg_region *r = hg_graph_region(d->g, w->region);
    hg_text *t = &d->text;
    for (uint32_t i = 0; i < r->n_out; i++)
        dump_const_once(d, hg_region_out(d->g, w->region, i), w->depth);
    hg_text_indent(t, w->depth);
    hg_text_add(t, "return");
    for (uint32_t i = 0; i < r->n_out; i++) {
        hg_text_add(t, i == 0 ? " " : ", ");
        dump_value(d, hg_region_out(d->g, w->region, i));
        if (r->out_name[i].length == 0) continue;
        hg_text_add(t, " as ");
        hg_text_quote(t, r->out_name[i]);
    }
    hg_text_add(t, "\n");
    hg_text_indent(t, w->depth - 1);
    hg_text_add(t, r->owner != 0 ? "}" : "}\n");
}

/* What cannot be told from the dimensions alone: where a symbol's number comes from, its bound; and
 * meta data. */
static void dump_header(dump *d)
{
    const hg_dims *dims = &d->g->dims;
    hg_text *t = &d->text;
    for (size_t i = 0; i < dims->n_symbol; i++) {
        const hg_symbol *s = &dims->symbol[i];
        if (s->kind == HG_SYMBOL_INPUT && s->at_most < 0) continue;
        hg_text_add(t, "symbol ");
        if (hg_text_is_name(s->name))
            hg_text_put(t, s->name.text, s->name.length);
        else
            hg_text_quote(t, s->name);
        if (s->kind != HG_SYMBOL_INPUT) {
            hg_text_add(t, s->kind == HG_SYMBOL_CONTENT ? " = content(" : " = size(");
            dump_value(d, s->value < d->g->n_value ? s->value : 0);
            hg_text_format(t, ", %" PRIu32 ")", s->index);
        }
        if (s->at_most >= 0) hg_text_format(t, " <= %" PRId64, s->at_most);
        hg_text_add(t, "\n");
    }
    for (size_t i = 0; i < d->g->n_meta; i++) {
        hg_text_add(t, "meta ");
        hg_text_quote(t, d->g->meta[i].key);
        hg_text_add(t, " = ");
        hg_text_quote(t, d->g->meta[i].value);
        hg_text_add(t, "\n");
    }
}

static holo_status dump_graph(dump *d)
{
    hg_text *t = &d->text;
    if (!dump_settle_names(d)) return hg_fail_nomem(d->g->ctx->error, d->g->n_value);
    dump_header(d);
    hg_text_add(t, "graph");
    if (d->g->name.length != 0) {
        hg_text_add(t, " ");
        if (hg_text_is_name(d->g->name))
            hg_text_put(t, d->g->name.text, d->g->name.length);
        else
            hg_text_quote(t, d->g->name);
    }
    for (hg_walk w = hg_walk_start(d->g); !t->failed && hg_walk_next(&w);) {
        switch (w.event) {
        case HG_WALK_REGION: dump_region(d, &w); break;
        case HG_WALK_NODE: dump_node(d, w.node, w.depth); break;
        case HG_WALK_NODE_END: dump_node_end(d, w.node); break;
        case HG_WALK_REGION_END: dump_region_end(d, &w); break;
        }
    }
    if (!hg_text_flush(t))
        return hg_fail(d->g->ctx->error, HOLO_E_IO, "the text of the graph could not be written");
    return HOLO_OK;
}

static holo_status dump_to(const hg_graph *g, bool is_whole, holo_sink_fn sink, void *user)
{
    dump d = {.g = g, .text = {.sink = sink, .user = user, .is_whole = is_whole}};
    hg_arena_init(&d.memory, &g->ctx->arena.alloc, 0);
    hg_map_init(&d.names, &d.memory);
    holo_status status = dump_graph(&d);
    hg_arena_deinit(&d.memory);
    return status;
}

holo_status hg_graph_dump(const hg_graph *g, holo_sink_fn sink, void *user)
{
    return dump_to(g, false, sink, user);
}

holo_status hg_graph_dump_whole(const hg_graph *g, holo_sink_fn sink, void *user)
{
    return dump_to(g, true, sink, user);
}
