/* write.c - a random graph as a graph of the compiler, in one of its forms; and as text. */
#include "compile/compile.h"
#include "io/elem.h"
#include "random/random.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct writer {
    const rnd_graph *r;
    const rnd_form *form;
    hg_graph *g;
    hg_value_id id[RND_MAX_VALUE]; /* 0: not there yet */
    bool live[RND_MAX_NODE];       /* an output needs it */
    int32_t *port;
    uint32_t n_port;
} writer;

static hg_str write_name(const writer *w, int32_t value)
{
    return hg_str_format(&w->g->ctx->arena, "v%d", value);
}

static hg_type write_type(const writer *w, const rnd_value *v, bool symbolic)
{
    hg_type type = {.dtype = v->t.dtype, .rank = v->t.rank};
    if (v->t.dtype >= HOLO_SEQUENCE) {
        rnd_item_type(&w->g->dims, &w->g->ctx->arena, &v->t, &type);
        return type;
    }
    for (int32_t k = 0; k < v->t.rank; k++) {
        if (symbolic && v->symbol[k] != 0)
            type.dim[k] =
                hg_dim_named(&w->g->dims, hg_str_format(&w->g->ctx->arena, "s%d", v->symbol[k]));
        else
            type.dim[k] = hg_dim_const(&w->g->dims, v->t.dim[k]);
    }
    return type;
}

static bool write_as_const(const writer *w, const rnd_value *v)
{
    if (v->t.dtype >= HOLO_SEQUENCE) return false;
    if (v->is_pinned) return true;
    if (w->form->constants == RND_AS_IS) return v->is_const;
    return w->form->constants == RND_ALL_CONST;
}

/* The graph's name for a value; what no node gives becomes an input or a constant now. */
static holo_status write_value(writer *w, int32_t value, hg_value_id *out)
{
    *out = 0;
    if (value == RND_NONE) return HOLO_OK;
    const rnd_value *v = &w->r->value[value];
    if (w->id[value] == 0) {
        hg_str name = write_name(w, value);
        if (write_as_const(w, v)) {
            HG_TRY(hg_graph_add_const(w->g, name, write_type(w, v, false), v->t.data,
                                      holo_tensor_bytes(&v->t), &w->id[value]));
        } else {
            HG_TRY(hg_graph_add_region_input(w->g, HG_REGION_MAIN, name,
                                             write_type(w, v, w->form->symbolic), &w->id[value]));
            w->port[w->n_port++] = value;
        }
    }
    *out = w->id[value];
    return HOLO_OK;
}

static holo_status write_attrs(writer *w, const rnd_node *n, hg_attr **out)
{
    HG_TRY(HG_NEW(w->g->ctx, n->n_attr + 1, out));
    for (uint32_t i = 0; i < n->n_attr; i++) {
        (*out)[i] = n->attr[i];
        if (n->attr[i].kind != HG_ATTR_TENSOR) continue;
        const rnd_value *v = &w->r->value[n->attr[i].tensor];
        HG_TRY(hg_graph_add_const(w->g, (hg_str){0}, write_type(w, v, false), v->t.data,
                                  holo_tensor_bytes(&v->t), &(*out)[i].tensor));
    }
    return HOLO_OK;
}

static holo_status write_nodes(writer *w, int32_t body, hg_region_id region);

static holo_status write_body(writer *w, int32_t body, hg_region_id region)
{
    const rnd_body *b = &w->r->body[body];
    for (uint32_t i = 0; i < b->n_in; i++) {
        const rnd_value *v = &w->r->value[b->in[i]];
        /* Sizes may change from turn to turn: only the element type is declared. */
        hg_type type = {.dtype = v->t.dtype, .rank = HG_RANK_UNKNOWN};
        if (v->t.dtype >= HOLO_SEQUENCE) type = write_type(w, v, false);
        HG_TRY(hg_graph_add_region_input(w->g, region, write_name(w, b->in[i]), type,
                                         &w->id[b->in[i]]));
    }
    HG_TRY(write_nodes(w, body, region));
    for (uint32_t j = 0; j < b->n_out; j++) {
        hg_value_id id;
        HG_TRY(write_value(w, b->out[j], &id));
        HG_TRY(hg_graph_add_region_output(w->g, region, write_name(w, b->out[j]), id));
    }
    return HOLO_OK;
}

static holo_status write_node(writer *w, int32_t number, hg_region_id region)
{
    const rnd_node *n = &w->r->node[number];
    hg_value_id in[RND_MAX_IN];
    hg_attr *attr;
    hg_node_id id;
    for (uint32_t i = 0; i < n->n_in; i++)
        HG_TRY(write_value(w, n->in[i], &in[i]));
    HG_TRY(write_attrs(w, n, &attr));
    hg_node_spec spec = {.op = n->op,
                         .name = hg_str_format(&w->g->ctx->arena, "n%d", number),
                         .in = in,
                         .n_in = n->n_in,
                         .attr = attr,
                         .n_attr = n->n_attr,
                         .n_out = n->n_out,
                         .n_body = n->n_child};
    HG_TRY(hg_graph_add_node(w->g, region, 0, &spec, &id));
    for (uint32_t j = 0; j < n->n_out; j++) {
        hg_value_id out = hg_graph_node(w->g, id)->out[j];
        hg_graph_value(w->g, out)->name = write_name(w, n->out[j]);
        w->id[n->out[j]] = out;
    }
    for (uint32_t k = 0; k < n->n_child; k++)
        HG_TRY(write_body(w, n->child[k], hg_graph_node(w->g, id)->body[k]));
    return HOLO_OK;
}

static holo_status write_nodes(writer *w, int32_t body, hg_region_id region)
{
    for (int32_t i = 0; i < w->r->n_node; i++)
        if (w->r->node[i].body == body && w->live[i]) HG_TRY(write_node(w, i, region));
    return HOLO_OK;
}

/* Nodes that nothing needs are left out: what is wrong with them is nobody's business. */
static void write_need(writer *w, int32_t value)
{
    const int32_t i = value == RND_NONE ? RND_NONE : w->r->value[value].node;
    if (i == RND_NONE || w->live[i] || (w->form->keep != NULL && !w->form->keep[i])) return;
    const rnd_node *n = &w->r->node[i];
    w->live[i] = true;
    for (uint32_t k = 0; k < n->n_in; k++)
        write_need(w, n->in[k]);
    for (uint32_t k = 0; k < n->n_child; k++)
        for (uint32_t j = 0; j < w->r->body[n->child[k]].n_out; j++)
            write_need(w, w->r->body[n->child[k]].out[j]);
}

holo_status rnd_write(const rnd_graph *r, const rnd_form *form, hg_graph *g, int32_t *port,
                      uint32_t *n_port)
{
    writer w = {.r = r, .form = form, .g = g, .port = port};
    g->name = hg_str_from("g");
    for (uint32_t j = 0; j < form->n_out; j++)
        write_need(&w, form->out[j]);
    HG_TRY(write_nodes(&w, form->body, HG_REGION_MAIN));
    for (uint32_t j = 0; j < form->n_out; j++) {
        hg_value_id id;
        HG_TRY(write_value(&w, form->out[j], &id));
        HG_TRY(hg_graph_add_region_output(g, HG_REGION_MAIN,
                                          hg_str_format(&g->ctx->arena, "y%d", form->out[j]), id));
    }
    *n_port = w.n_port;
    return HOLO_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool write_sink(void *user, const void *bytes, size_t size)
{
    (void)user;
    return fwrite(bytes, 1, size, stdout) == size;
}

static void write_contents(const rnd_graph *r, int32_t value)
{
    const holo_tensor *t = &r->value[value].t;
    int64_t count = rnd_is_plain(t) ? holo_tensor_count(t) * hg_elem_parts(t->dtype) : 0;
    printf("// %%v%d = %s[", value, holo_dtype_text(t->dtype));
    for (int32_t k = 0; k < t->rank; k++)
        printf("%s%" PRId64, k == 0 ? "" : ",", t->dim[k]);
    printf("] {");
    for (int64_t i = 0; i < count && i < 48; i++)
        printf("%s%.9g", i == 0 ? "" : ", ", hg_elem_get(t, i));
    printf("%s}\n", count > 48 ? ", ..." : "");
}

void rnd_print(const rnd_graph *r, const rnd_form *form)
{
    hg_compile c;
    holo_error e = {0};
    int32_t port[RND_MAX_VALUE];
    uint32_t n_port = 0;
    if (hg_compile_init(&c, NULL, 1, &e) != HOLO_OK ||
        hg_graph_init(&c.model[0].graph, &c.ctx) != HOLO_OK ||
        rnd_write(r, form, &c.model[0].graph, port, &n_port) != HOLO_OK ||
        hg_graph_dump(&c.model[0].graph, write_sink, NULL) != HOLO_OK)
        printf("(not printed: %s)\n", e.message);
    for (uint32_t i = 0; i < n_port; i++)
        write_contents(r, port[i]);
    hg_compile_deinit(&c);
    fflush(stdout);
}
