/* sheet.c - the report as text, a page for a person. */
#include "report/facts.h"

#include <inttypes.h>
#include <stdio.h>

enum { SHEET_WEIGHTS = 20 };

typedef struct sheet {
    const hg_facts *f;
    hg_print *o;
} sheet;

static void sheet_label(const sheet *s, const char *label)
{
    hg_print_format(s->o, "  %-10s ", label);
}

static void sheet_bytes(const sheet *s, double bytes)
{
    char text[24];
    hg_print_text(s->o, hg_facts_bytes(bytes, text));
}

static void sheet_ports(const sheet *s, const hg_facts_graph *g, const char *label,
                        const hg_port_rec *port, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sheet_label(s, i == 0 ? label : "");
        hg_print_quote(s->o, g->p->text + port[i].name);
        hg_print_text(s->o, " ");
        hg_print_type(s->o, g->p, &g->dims, port[i].value);
        hg_print_text(s->o, "\n");
    }
}

static void sheet_symbols(const sheet *s, const hg_facts_graph *g)
{
    for (uint32_t i = 0; i < g->p->head.n_symbol; i++) {
        const hg_symbol_rec *y = &g->p->symbol[i];
        sheet_label(s, i == 0 ? "dims" : "");
        hg_print_symbol(s->o, &g->dims, i);
        if (y->at_most >= 0) hg_print_format(s->o, " <= %" PRId64, y->at_most);
        hg_print_text(s->o, y->kind == HG_SYMBOL_INPUT ? ", from the inputs\n"
                                                       : ", found during the run\n");
    }
}

/* " at batch=1, sequence=64" for graphs with open sizes. */
static void sheet_sizes(const sheet *s, const hg_facts_graph *g)
{
    bool any = false;
    for (uint32_t i = 0; i < g->p->head.n_symbol; i++) {
        if (g->p->symbol[i].kind != HG_SYMBOL_INPUT) continue;
        hg_print_text(s->o, any ? ", " : " at ");
        hg_print_symbol(s->o, &g->dims, i);
        hg_print_format(s->o, "=%" PRId64, g->size[i]);
        any = true;
    }
}

static void sheet_memory(const sheet *s, const hg_facts_graph *g)
{
    sheet_label(s, "memory");
    if (g->session == NULL) {
        hg_print_text(s->o, "not known: ");
        hg_print_quote(s->o, g->why);
        hg_print_text(s->o, "\n");
        return;
    }
    hg_print_text(s->o, "arena ");
    sheet_bytes(s, (double)g->session->arena_bytes);
    hg_print_text(s->o, ", lower bound ");
    sheet_bytes(s, (double)g->session->arena_bound);
    hg_print_text(s->o, ", scratch per thread ");
    sheet_bytes(s, (double)g->session->scratch_bytes);
    sheet_sizes(s, g);
    if (g->g->has_late) hg_print_text(s->o, "; some sizes depend on data and come on top");
    hg_print_text(s->o, "\n");
}

static void sheet_kernels(const sheet *s, const hg_facts_graph *g)
{
    for (uint32_t i = 0; i < g->n_kernel; i++) {
        const hg_facts_kernel *k = &g->kernel[i];
        sheet_label(s, i == 0 ? "kernels" : "");
        hg_print_format(s->o, "%5" PRIu32 "  %-20s %-10s", k->steps, k->name, k->variant);
        char work[24];
        if (k->flops > 0) hg_print_format(s->o, " %12s", hg_facts_flops(k->flops, work));
        hg_print_text(s->o, "\n");
    }
}

static void sheet_before(const sheet *s, const hg_facts_graph *g)
{
    for (uint32_t i = 0; i < g->n_before; i++) {
        sheet_label(s, i == 0 ? "before" : "");
        hg_print_format(s->o, "%5" PRIu32 "  ", g->before[i].count);
        hg_print_put(s->o, g->before[i].name.text, g->before[i].name.length);
        hg_print_text(s->o, "\n");
    }
}

static void sheet_graph(const sheet *s, const hg_facts_graph *g)
{
    const hg_program_head *h = &g->p->head;
    if (g->is_body)
        hg_print_format(s->o, "\nbody, program %" PRIu32 " ", g->number);
    else
        hg_print_text(s->o, "\ngraph ");
    hg_print_quote(s->o, g->p->text + h->name);
    hg_print_text(s->o, "\n");
    sheet_label(s, "program");
    hg_print_format(s->o, "%" PRIu32 " nodes became %" PRIu32 ", %" PRIu32 " steps, numerics %s\n",
                    h->nodes_before, h->nodes_after, h->n_step,
                    h->numerics == HOLO_EXACT ? "exact" : "fast");
    sheet_ports(s, g, "inputs", g->p->in, h->n_in);
    sheet_ports(s, g, "outputs", g->p->out, h->n_out);
    sheet_symbols(s, g);
    sheet_memory(s, g);
    sheet_before(s, g);
    sheet_kernels(s, g);
}

static void sheet_weights(const sheet *s)
{
    const hg_facts *f = s->f;
    hg_print_text(s->o, "\nweights ");
    sheet_bytes(s, (double)f->model->weight_bytes);
    hg_print_format(s->o, " in %zu tensors\n", f->n_weight);
    for (size_t i = 0; i < f->n_weight && i < SHEET_WEIGHTS; i++) {
        const hg_facts_weight *w = &f->weight[i];
        const hg_facts_graph *g = &f->graph[w->graph];
        char text[24];
        hg_print_format(s->o, "  %10s  ", hg_facts_bytes((double)w->bytes, text));
        hg_print_type(s->o, g->p, &g->dims, w->value);
        bool is_node;
        hg_name room;
        const char *name = hg_facts_weight_name(f, w, &room, &is_node);
        hg_print_text(s->o, is_node ? " for " : " ");
        hg_print_quote(s->o, name);
        if (w->uses > 1) hg_print_format(s->o, ", used %" PRIu32 " times", w->uses);
        hg_print_text(s->o, "\n");
    }
    if (f->n_weight > SHEET_WEIGHTS)
        hg_print_format(s->o, "  and %zu smaller ones\n", f->n_weight - SHEET_WEIGHTS);
}

static void sheet_meta(const sheet *s)
{
    if (s->f->n_meta != 0) hg_print_text(s->o, "\nmetadata\n");
    for (size_t i = 0; i < s->f->n_meta; i++) {
        hg_print_text(s->o, "  ");
        hg_print_quote(s->o, s->f->meta[i].key);
        hg_print_text(s->o, " = ");
        hg_print_quote(s->o, s->f->meta[i].value);
        hg_print_text(s->o, "\n");
    }
}

static void sheet_sections(const sheet *s)
{
    hg_print_format(s->o, "\nfile version %" PRIu32 ", %" PRIu64 " bytes\n", s->f->head.version,
                    s->f->head.size);
    for (uint32_t i = 0; i < s->f->head.n_section; i++) {
        const hg_holo_section *t = &s->f->section[i];
        hg_print_format(s->o,
                        "  %-10s at %-12" PRIu64 " %12" PRIu64 " bytes  hash %016" PRIx64 "\n",
                        hg_facts_section_text(t->kind), t->offset, t->size, t->hash);
    }
}

void hg_report_text(const hg_facts *f, hg_print *o)
{
    const sheet s = {f, o};
    hg_print_format(o, "%" PRIu32 " graph%s, ", f->model->n_graph,
                    f->model->n_graph == 1 ? "" : "s");
    sheet_bytes(&s, (double)f->head.size);
    hg_print_text(o, "\n");
    for (uint32_t i = 0; i < f->n_graph; i++)
        sheet_graph(&s, &f->graph[i]);
    sheet_weights(&s);
    sheet_meta(&s);
    sheet_sections(&s);
}
