/* outline_copy.c - copies a body into a graph of its own: nodes, constants, and inputs for what it
 * captures. */
#include "pass/outline.h"

enum { OUTLINE_MAX_NODES = 1 << 22 };

holo_status hg_outline_begin(hg_outline *o, hg_graph *g, hg_node_id owner, const char *what)
{
    char label[64];
    *o = (hg_outline){.g = g, .owner = owner, .n_inner = g->n_value};
    size_t bytes = o->n_inner * sizeof *o->inner;
    /* Not from the arena: a graph may have many bodies. */
    o->inner = hg_alloc_zero(&g->ctx->arena.alloc, bytes);
    if (o->inner == NULL) return hg_fail_nomem(g->ctx->error, bytes);
    HG_TRY(HG_NEW(g->ctx, 1, &o->child));
    HG_TRY(hg_graph_init(o->child, g->ctx));
    hg_str name = hg_node_label(g, owner, label, sizeof label);
    o->child->is_body = true;
    o->child->name =
        hg_str_format(&g->ctx->arena, "%.*s/%.*s/%s", HG_STR_ARG(g->name), HG_STR_ARG(name), what);
    if (o->child->name.text == NULL) return hg_fail_nomem(g->ctx->error, name.length);
    return HOLO_OK;
}

void hg_outline_end(hg_outline *o)
{
    hg_free(&o->g->ctx->arena.alloc, o->inner, o->n_inner * sizeof *o->inner);
    o->inner = NULL;
}

/* ---- dims and types -------------------------------------------------------------------------- */

/* Symbol number n of the child is `dim` outside. */
static holo_status outline_note(hg_outline *o, int64_t n, hg_dim dim)
{
    while (o->n_outer <= (size_t)n) {
        hg_dim *grown = hg_arena_grow(&o->g->ctx->arena, o->outer, o->n_outer, &o->outer_capacity,
                                      sizeof *grown);
        if (grown == NULL) return hg_fail_nomem(o->g->ctx->error, sizeof *grown);
        o->outer = grown;
        o->outer[o->n_outer++] = 0;
    }
    o->outer[n] = dim;
    return HOLO_OK;
}

static holo_status outline_symbol(hg_outline *o, hg_symbol symbol, hg_dim dim, hg_dim *out)
{
    *out = hg_dim_symbol(&o->child->dims, symbol);
    if (*out == 0) return hg_fail_nomem(o->g->ctx->error, sizeof symbol);
    return outline_note(o, hg_dim_symbol_of(&o->child->dims, *out), dim);
}

/* A dim that the child knows under another name already. */
static bool outline_known(const hg_outline *o, hg_dim dim, hg_dim *out)
{
    for (hg_dim i = 1; i < o->child->dims.count; i++) {
        int64_t n = hg_dim_symbol_of(&o->child->dims, i);
        if (n < 0 || (size_t)n >= o->n_outer || o->outer[n] != dim) continue;
        if (o->child->dims.symbol[n].kind != HG_SYMBOL_INPUT) continue;
        *out = i;
        return true;
    }
    return false;
}

holo_status hg_outline_dim(hg_outline *o, hg_dim dim, hg_dim *out)
{
    int64_t value;
    char text[128];
    if (hg_dim_is_const(&o->g->dims, dim, &value)) {
        *out = hg_dim_const(&o->child->dims, value);
        return *out == 0 ? hg_fail_nomem(o->g->ctx->error, sizeof dim) : HOLO_OK;
    }
    if (outline_known(o, dim, out)) return HOLO_OK;
    hg_dim_print(&o->g->dims, dim, text, sizeof text);
    return outline_symbol(
        o, (hg_symbol){.name = hg_str_from(text), .kind = HG_SYMBOL_INPUT, .at_most = -1}, dim,
        out);
}

holo_status hg_outline_item(const hg_graph *from, hg_graph *to, const hg_type *type,
                            const hg_type **out)
{
    *out = NULL;
    for (; type != NULL; type = type->item) {
        hg_type *copy;
        HG_TRY(HG_NEW(to->ctx, 1, &copy));
        *copy = *type;
        copy->item = NULL;
        for (int32_t axis = 0; axis < type->rank; axis++) {
            int64_t value;
            copy->dim[axis] = hg_dim_is_const(&from->dims, type->dim[axis], &value)
                                  ? hg_dim_const(&to->dims, value)
                                  : 0;
        }
        *out = copy;
        out = &copy->item;
    }
    return HOLO_OK;
}

holo_status hg_outline_type(hg_outline *o, const hg_type *type, uint32_t free, hg_type *out)
{
    *out = *type;
    out->item = NULL;
    for (int32_t axis = 0; axis < type->rank; axis++) {
        bool is_free = (free >> axis & 1) != 0 || type->dim[axis] == 0;
        hg_symbol fresh = {.name = hg_str_from("size"), .kind = HG_SYMBOL_INPUT, .at_most = -1};
        HG_TRY(is_free ? outline_symbol(o, fresh, 0, &out->dim[axis])
                       : hg_outline_dim(o, type->dim[axis], &out->dim[axis]));
    }
    return hg_outline_item(o->g, o->child, type->item, &out->item);
}

/* ---- values ---------------------------------------------------------------------------------- */

static holo_status outline_constant(hg_outline *o, hg_value_id value, hg_value_id *out)
{
    const hg_value *v = hg_graph_value(o->g, value);
    hg_type type;
    HG_TRY(hg_outline_type(o, &v->type, 0, &type));
    HG_TRY(hg_graph_add_const(o->child, v->name, type, v->constant->data, v->constant->bytes, out));
    ((hg_const *)(uintptr_t)hg_graph_value(o->child, *out)->constant)->hash = v->constant->hash;
    return HOLO_OK;
}

/* Numbers that are known outside, one by one: as sizes that the child knows too, or read from the
 * input. */
static holo_status outline_content(hg_outline *o, const hg_value *v, hg_value_id in)
{
    hg_dim *content;
    if (v->content == NULL) return HOLO_OK;
    HG_TRY(HG_NEW(o->g->ctx, (size_t)v->n_content + 1, &content));
    for (uint32_t k = 0; k < v->n_content; k++) {
        hg_symbol read = {.name =
                              hg_str_format(&o->g->ctx->arena, "%.*s[%u]", HG_STR_ARG(v->name), k),
                          .kind = HG_SYMBOL_CONTENT,
                          .value = in,
                          .index = k,
                          .at_most = -1};
        int64_t value;
        if (hg_dim_is_const(&o->g->dims, v->content[k], &value))
            content[k] = hg_dim_const(&o->child->dims, value);
        else if (!outline_known(o, v->content[k], &content[k]))
            HG_TRY(outline_symbol(o, read, v->content[k], &content[k]));
    }
    hg_graph_value(o->child, in)->content = content;
    hg_graph_value(o->child, in)->n_content = v->n_content;
    return HOLO_OK;
}

static holo_status outline_capture(hg_outline *o, hg_value_id value, hg_value_id *out)
{
    const hg_value *v = hg_graph_value(o->g, value);
    hg_type type;
    if (v->type.dtype == HOLO_NONE || v->type.rank == HG_RANK_UNKNOWN) {
        char label[64];
        hg_str name = hg_node_label(o->g, o->owner, label, sizeof label);
        return hg_fail(o->g->ctx->error, HOLO_E_UNSUPPORTED,
                       "node '%.*s' (%s): the rank of '%.*s', which a body uses, is not known at "
                       "compile time",
                       HG_STR_ARG(name), hg_graph_node(o->g, o->owner)->origin->name,
                       HG_STR_ARG(v->name));
    }
    HG_TRY(hg_outline_type(o, &v->type, 0, &type));
    HG_TRY(hg_graph_add_region_input(o->child, HG_REGION_MAIN, v->name, type, out));
    HG_TRY(outline_content(o, hg_graph_value(o->g, value), *out));
    hg_value_id *grown = hg_arena_grow(&o->g->ctx->arena, o->capture, o->n_capture,
                                       &o->capture_capacity, sizeof *grown);
    if (grown == NULL) return hg_fail_nomem(o->g->ctx->error, sizeof *grown);
    o->capture = grown;
    o->capture[o->n_capture++] = value;
    return HOLO_OK;
}

holo_status hg_outline_value(hg_outline *o, hg_value_id value, hg_value_id *out)
{
    *out = 0;
    if (value == 0) return HOLO_OK;
    if (o->inner[value] == 0)
        HG_TRY(hg_graph_is_const(o->g, value) ? outline_constant(o, value, &o->inner[value])
                                              : outline_capture(o, value, &o->inner[value]));
    *out = o->inner[value];
    return HOLO_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static holo_status outline_attr_dims(hg_outline *o, hg_attr *a)
{
    hg_dim *dims;
    HG_TRY(HG_NEW(o->g->ctx, a->count + 1, &dims));
    for (size_t k = 0; k < a->count; k++)
        if (a->dims[k] != 0) HG_TRY(hg_outline_dim(o, a->dims[k], &dims[k]));
    a->dims = dims;
    return HOLO_OK;
}

static holo_status outline_attrs(hg_outline *o, const hg_node *n, hg_attr **out)
{
    HG_TRY(HG_NEW(o->g->ctx, (size_t)n->n_attr + 1, out));
    for (uint32_t i = 0; i < n->n_attr; i++) {
        hg_attr a = n->attr[i];
        if (a.kind == HG_ATTR_DIMS) HG_TRY(outline_attr_dims(o, &a));
        if (a.kind == HG_ATTR_TENSOR) HG_TRY(hg_outline_value(o, a.tensor, &a.tensor));
        if (a.kind == HG_ATTR_TYPE) HG_TRY(hg_outline_item(o->g, o->child, a.type, &a.type));
        (*out)[i] = a;
    }
    return HOLO_OK;
}

/* What is declared about a value: its element type is checked, its shape is found anew. */
static hg_type outline_declared(const hg_type *type)
{
    return (hg_type){.dtype = type->dtype, .rank = HG_RANK_UNKNOWN};
}

static void outline_results(hg_outline *o, hg_node_id from, hg_node_id to)
{
    const hg_node *n = hg_graph_node(o->g, from), *made = hg_graph_node(o->child, to);
    for (uint32_t j = 0; j < n->n_out; j++) {
        hg_value *v = hg_graph_value(o->child, made->out[j]);
        if (n->out[j] == 0) {
            v->node = 0;
            made->out[j] = 0;
            continue;
        }
        o->inner[n->out[j]] = made->out[j];
        v->name = hg_graph_value(o->g, n->out[j])->name;
        v->type = outline_declared(&hg_graph_value(o->g, n->out[j])->type);
    }
}

static holo_status outline_region(hg_outline *o, hg_region_id body, hg_region_id to);

static holo_status outline_node(hg_outline *o, hg_node_id id, hg_region_id to)
{
    const hg_node *n = hg_graph_node(o->g, id);
    hg_node_spec spec = {.op = n->op,
                         .origin = n->origin,
                         .name = n->name,
                         .n_in = n->n_in,
                         .n_attr = n->n_attr,
                         .n_out = n->n_out,
                         .n_body = n->n_body};
    hg_value_id *in;
    hg_attr *attr;
    hg_node_id made;
    if (++o->g->ctx->outlined > OUTLINE_MAX_NODES)
        return hg_fail(o->g->ctx->error, HOLO_E_LIMIT,
                       "bodies inside each other make more than %d nodes", (int)OUTLINE_MAX_NODES);
    HG_TRY(HG_NEW(o->g->ctx, (size_t)n->n_in + 1, &in));
    for (uint32_t i = 0; i < n->n_in; i++)
        HG_TRY(hg_outline_value(o, hg_node_in(o->g, n, i), &in[i]));
    HG_TRY(outline_attrs(o, n, &attr));
    spec.in = in;
    spec.attr = attr;
    HG_TRY(hg_graph_add_node(o->child, to, 0, &spec, &made));
    for (uint32_t k = 0; k < n->n_body; k++)
        HG_TRY(outline_region(o, n->body[k], hg_graph_node(o->child, made)->body[k]));
    outline_results(o, id, made);
    return HOLO_OK;
}

/* A body inside the body stays one for now; the depth is that of the import, which is bounded. */
static holo_status outline_region(hg_outline *o, hg_region_id body, hg_region_id to)
{
    const hg_region *r = hg_graph_region(o->g, body);
    for (uint32_t i = 0; i < r->n_in; i++) {
        const hg_value *v = hg_graph_value(o->g, r->in[i]);
        HG_TRY(hg_graph_add_region_input(o->child, to, v->name, outline_declared(&v->type),
                                         &o->inner[r->in[i]]));
    }
    for (hg_node_id id = r->first; id != 0; id = hg_graph_node(o->g, id)->next)
        HG_TRY(outline_node(o, id, to));
    for (uint32_t i = 0; i < r->n_out; i++) {
        hg_value_id value;
        HG_TRY(hg_outline_value(o, hg_region_out(o->g, body, i), &value));
        HG_TRY(hg_graph_add_region_output(o->child, to, r->out_name[i], value));
    }
    return HOLO_OK;
}

holo_status hg_outline_copy(hg_outline *o, hg_node_id id)
{
    return outline_node(o, id, HG_REGION_MAIN);
}

holo_status hg_outline_nodes(hg_outline *o, hg_region_id body)
{
    for (hg_node_id id = hg_graph_region(o->g, body)->first; id != 0;
         id = hg_graph_node(o->g, id)->next)
        HG_TRY(outline_node(o, id, HG_REGION_MAIN));
    return HOLO_OK;
}

holo_status hg_outline_outputs(hg_outline *o, hg_region_id body)
{
    const hg_region *r = hg_graph_region(o->g, body);
    for (uint32_t i = 0; i < r->n_out; i++) {
        hg_value_id value;
        HG_TRY(hg_outline_value(o, hg_region_out(o->g, body, i), &value));
        HG_TRY(hg_graph_add_region_output(o->child, HG_REGION_MAIN, r->out_name[i], value));
    }
    return HOLO_OK;
}

holo_status hg_outline_keep(hg_outline *o, int64_t *number)
{
    hg_graph *g = o->g;
    hg_graph **grown =
        hg_arena_grow(&g->ctx->arena, g->child, g->n_child, &g->child_capacity, sizeof *grown);
    if (grown == NULL) return hg_fail_nomem(g->ctx->error, sizeof *grown);
    g->child = grown;
    *number = (int64_t)g->n_child;
    g->child[g->n_child++] = o->child;
    return HOLO_OK;
}
