/* html.c - the report as one page that needs nothing else: no scripts, no files, no network. Every
 * text that comes from the file passes hg_html_escape. */
#include "report/html.h"

#include <inttypes.h>

enum { HTML_NAME = 120, HTML_META = 2000, HTML_WEIGHTS = 30, HTML_OPERATORS = 24 };

static void html_escape(hg_print *o, const char *text, size_t left)
{
    while (*text != 0 && left > 0) {
        size_t n = hg_print_sequence(text);
        switch (n == 0 ? 0 : *text) {
        case 0: hg_print_text(o, *text == '\n' || *text == '\t' ? " " : "&#xfffd;"); break;
        case '&': hg_print_text(o, "&amp;"); break;
        case '<': hg_print_text(o, "&lt;"); break;
        case '>': hg_print_text(o, "&gt;"); break;
        case '"': hg_print_text(o, "&quot;"); break;
        case '\'': hg_print_text(o, "&#39;"); break;
        default: hg_print_put(o, text, n); break;
        }
        n = n == 0 ? 1 : n;
        text += n;
        left -= n < left ? n : left;
    }
    if (*text != 0) hg_print_text(o, "&hellip;");
}

void hg_html_escape(hg_print *o, const char *text)
{
    html_escape(o, text, HTML_NAME);
}

void hg_html_bytes(hg_print *o, double bytes)
{
    char text[24];
    hg_print_text(o, hg_facts_bytes(bytes, text));
}

/* What isa/print writes goes through the escape too: names of dims are from the file. */
typedef struct html_collector {
    char text[1000];
    size_t used;
} html_collector;

static bool html_collect(void *user, const void *bytes, size_t size)
{
    html_collector *c = user;
    size_t room = sizeof c->text - 1 - c->used, n = size < room ? size : room;
    memcpy(c->text + c->used, bytes, n);
    c->used += n;
    c->text[c->used] = 0;
    return true;
}

void hg_html_type(hg_print *o, const hg_facts_graph *g, uint32_t value)
{
    html_collector c = {.used = 0};
    hg_print inner = {.sink = html_collect, .user = &c};
    hg_print_type(&inner, g->p, &g->dims, value);
    (void)hg_print_flush(&inner);
    html_escape(o, c.text, sizeof c.text);
}

static void html_symbol(hg_print *o, const hg_facts_graph *g, uint32_t symbol)
{
    html_collector c = {.used = 0};
    hg_print inner = {.sink = html_collect, .user = &c};
    hg_print_symbol(&inner, &g->dims, symbol);
    (void)hg_print_flush(&inner);
    hg_html_escape(o, c.text);
}

const char *hg_html_rank_colour(uint32_t rank)
{
    static const char *const names[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"};
    return names[rank < 8 ? rank : 8];
}

const char *hg_html_colour(const hg_facts_graph *g, uint32_t step)
{
    if (step >= g->p->head.n_step || g->p->step[step].op != HG_STEP_KERNEL) return "k8";
    return hg_html_rank_colour(g->kernel_rank[g->p->step[step].kernel]);
}

/* ---- small parts -------------------------------------------------------------------------------
 */

/* A cell with a bar of the given share. */
static void html_bar(hg_print *o, double share, const char *colour)
{
    hg_print_format(
        o,
        "<td class=\"bar\"><svg aria-hidden=\"true\"><rect class=\"%s\" width=\"%.2f%%\" "
        "height=\"12\" rx=\"2\"/></svg></td>",
        colour, share > 0 && share <= 1 ? share * 100 : 0);
}

static void html_card(hg_print *o, const char *label, double bytes, uint64_t count, bool is_bytes)
{
    hg_print_text(o, "<li><b>");
    if (is_bytes)
        hg_html_bytes(o, bytes);
    else
        hg_print_format(o, "%" PRIu64, count);
    hg_print_format(o, "</b><span>%s</span></li>", label);
}

static void html_ports(hg_print *o, const hg_facts_graph *g, const char *what,
                       const hg_port_rec *port, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hg_print_format(o, "<tr><td>%s</td><td class=\"name\"><bdi>", what);
        hg_html_escape(o, g->p->text + port[i].name);
        hg_print_text(o, "</bdi></td><td class=\"code\">");
        hg_html_type(o, g, port[i].value);
        hg_print_text(o, "</td></tr>");
    }
}

static void html_interface(hg_print *o, const hg_facts_graph *g)
{
    hg_print_text(o, "<h3>Inputs and outputs</h3><div class=\"scroll\"><table>");
    html_ports(o, g, "input", g->p->in, g->p->head.n_in);
    html_ports(o, g, "output", g->p->out, g->p->head.n_out);
    hg_print_text(o, "</table></div>");
}

/* ---- before and after --------------------------------------------------------------------------
 */

static void html_operator(hg_print *o, hg_str name, uint32_t count, uint32_t most,
                          const char *colour)
{
    hg_print_text(o, "<tr><td class=\"name code\">");
    hg_print_put(o, name.text, name.length); /* letters, digits and ._:- only, see facts.c */
    hg_print_format(o, "</td><td class=\"number\">%" PRIu32 "</td>", count);
    html_bar(o, (double)count / (double)most, colour);
    hg_print_text(o, "</tr>");
}

static void html_before(hg_print *o, const hg_facts_graph *g)
{
    hg_print_format(o, "<div><h3>Before: %" PRIu32 " nodes</h3><table>", g->p->head.nodes_before);
    for (uint32_t i = 0; i < g->n_before && i < HTML_OPERATORS; i++)
        html_operator(o, g->before[i].name, g->before[i].count, g->before[0].count, "k8");
    hg_print_text(o, "</table>");
    if (g->n_before == 0) hg_print_text(o, "<p class=\"note\">The file does not say which.</p>");
    if (g->n_before > HTML_OPERATORS)
        hg_print_format(o, "<p class=\"note\">and %" PRIu32 " other operators</p>",
                        g->n_before - HTML_OPERATORS);
    hg_print_text(o, "</div>");
}

static void html_after(hg_print *o, const hg_facts_graph *g)
{
    hg_print_format(o, "<div><h3>After: %" PRIu32 " steps</h3><table>", g->p->head.n_step);
    uint32_t most = g->n_before != 0 ? g->before[0].count : 0;
    if (g->n_kernel != 0 && g->kernel[0].steps > most) most = g->kernel[0].steps;
    for (uint32_t i = 0; i < g->n_kernel && i < HTML_OPERATORS; i++)
        html_operator(o, hg_str_from(g->kernel[i].name), g->kernel[i].steps, most,
                      hg_html_rank_colour(i));
    hg_print_text(o, "</table></div>");
}

/* ---- placement ---------------------------------------------------------------------------------
 */

static void html_kernels(hg_print *o, const hg_facts_graph *g)
{
    double most = 0;
    for (uint32_t i = 0; i < g->n_kernel; i++)
        if (g->kernel[i].flops > most) most = g->kernel[i].flops;
    hg_print_text(o,
                  "<h3>Where the work is</h3><div class=\"scroll\"><table><tr><th>kernel</th>"
                  "<th>runs as</th><th class=\"number\">steps</th><th class=\"number\">moves</th>"
                  "<th class=\"number\">work</th><th></th></tr>");
    for (uint32_t i = 0; i < g->n_kernel; i++) {
        const hg_facts_kernel *k = &g->kernel[i];
        hg_print_format(o, "<tr><td class=\"code short\"><span class=\"swatch %s\"></span>",
                        hg_html_rank_colour(i));
        hg_html_escape(o, k->name);
        hg_print_format(o,
                        "</td><td class=\"short\">cpu %s</td><td class=\"number\">%" PRIu32
                        "</td><td class=\"number\">",
                        k->variant, k->steps);
        hg_html_bytes(o, k->bytes);
        char work[24];
        hg_print_format(o, "</td><td class=\"number\">%s</td>", hg_facts_flops(k->flops, work));
        html_bar(o, most > 0 ? k->flops / most : 0, hg_html_rank_colour(i));
        hg_print_text(o, "</tr>");
    }
    hg_print_text(o, "</table></div>");
}

/* "Sizes: batch = 1" when some are open. */
static void html_sizes(hg_print *o, const hg_facts_graph *g)
{
    bool any = false;
    for (uint32_t i = 0; i < g->p->head.n_symbol && g->size != NULL; i++) {
        if (g->p->symbol[i].kind != HG_SYMBOL_INPUT) continue;
        hg_print_text(o, any ? ", " : "<p class=\"note\">Open sizes are taken as ");
        html_symbol(o, g, i);
        hg_print_format(o, " = %" PRId64, g->size[i]);
        any = true;
    }
    if (any) hg_print_text(o, ".</p>");
    if (g->g->has_late)
        hg_print_text(o, "<p class=\"note\">Some sizes depend on data: their memory and work are "
                         "not counted here.</p>");
}

static bool html_memory(hg_print *o, const hg_facts_graph *g, hg_arena *arena)
{
    hg_print_text(o, "<h3>Memory over time</h3>");
    if (g->session == NULL) {
        hg_print_text(o, "<p class=\"note\">Not known: ");
        html_escape(o, g->why, HTML_META);
        hg_print_text(o, "</p>");
        return true;
    }
    hg_print_text(o, "<figure>");
    if (!hg_html_memory(o, g, arena)) return false;
    hg_print_text(o, "<figcaption>Each box is a buffer: wide as long as it lives, high as it is "
                     "large, in the colour of the kernel that fills it. Arena ");
    hg_html_bytes(o, (double)g->session->arena_bytes);
    hg_print_text(o, "; the line is what is in use, at most ");
    hg_html_bytes(o, (double)g->session->arena_bound);
    hg_print_text(o, ".</figcaption></figure>");
    return true;
}

static bool html_graph(hg_print *o, const hg_facts_graph *g, hg_arena *arena)
{
    const hg_program_head *h = &g->p->head;
    hg_print_format(o, "<section id=\"g%" PRIu32 "\"><h2>", g->number);
    if (g->is_body)
        hg_print_format(o, "Body, program %" PRIu32 " <bdi>", g->number);
    else
        hg_print_text(o, "Graph <bdi>");
    hg_html_escape(o, g->p->text + h->name);
    hg_print_text(o, "</bdi></h2><ul class=\"cards\">");
    html_card(o, "nodes in the model", 0, h->nodes_before, false);
    html_card(o, "nodes after the passes", 0, h->nodes_after, false);
    html_card(o, "steps", 0, h->n_step, false);
    if (g->session != NULL) {
        html_card(o, "arena", (double)g->session->arena_bytes, 0, true);
        html_card(o, "its lower bound", (double)g->session->arena_bound, 0, true);
        html_card(o, "scratch per thread", (double)g->session->scratch_bytes, 0, true);
    }
    hg_print_format(o, "<li><b>%s</b><span>numerics</span></li></ul>",
                    h->numerics == HOLO_EXACT ? "exact" : "fast");
    html_sizes(o, g);
    html_interface(o, g);
    hg_print_text(o, "<div class=\"pair\">");
    html_before(o, g);
    html_after(o, g);
    hg_print_text(o, "</div>");
    html_kernels(o, g);
    if (!html_memory(o, g, arena)) return false;
    hg_print_text(o, "<h3>Flow</h3><p class=\"note\">A step a line, with the kernel that runs it. "
                     "Lines join a step to those that read its result.</p>");
    if (!hg_html_flow(o, g, arena)) return false;
    hg_print_text(o, "</section>");
    return true;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static void html_weights(hg_print *o, const hg_facts *f)
{
    hg_print_format(o, "<section id=\"weights\"><h2>Weights</h2><p class=\"note\">%zu tensors, ",
                    f->n_weight);
    hg_html_bytes(o, (double)f->model->weight_bytes);
    hg_print_text(o, "; the largest:</p><div class=\"scroll\"><table>");
    for (size_t i = 0; i < f->n_weight && i < HTML_WEIGHTS; i++) {
        const hg_facts_weight *w = &f->weight[i];
        const hg_facts_graph *g = &f->graph[w->graph];
        bool is_node;
        hg_name room;
        const char *name = hg_facts_weight_name(f, w, &room, &is_node);
        hg_print_format(o, "<tr><td class=\"name\">%s<bdi>", is_node ? "for " : "");
        hg_html_escape(o, name);
        hg_print_text(o, "</bdi></td><td class=\"code\">");
        hg_html_type(o, g, w->value);
        if (w->uses > 1) hg_print_format(o, " &times;%" PRIu32, w->uses);
        hg_print_text(o, "</td><td class=\"number\">");
        hg_html_bytes(o, (double)w->bytes);
        hg_print_text(o, "</td>");
        double most = (double)f->weight[0].bytes;
        html_bar(o, most > 0 ? (double)w->bytes / most : 0, "k0");
        hg_print_text(o, "</tr>");
    }
    hg_print_text(o, "</table></div></section>");
}

static void html_meta(hg_print *o, const hg_facts *f)
{
    if (f->n_meta == 0) return;
    hg_print_text(o, "<section><h2>Metadata</h2><div class=\"scroll\"><table>");
    for (size_t i = 0; i < f->n_meta; i++) {
        hg_print_text(o, "<tr><td><bdi>");
        hg_html_escape(o, f->meta[i].key);
        hg_print_text(o, "</bdi></td><td class=\"name\"><bdi>");
        html_escape(o, f->meta[i].value, HTML_META);
        hg_print_text(o, "</bdi></td></tr>");
    }
    hg_print_text(o, "</table></div></section>");
}

static void html_sections(hg_print *o, const hg_facts *f)
{
    hg_print_format(o,
                    "<section><h2>File</h2><p class=\"note\">Format version %" PRIu32 ", %" PRIu64
                    " bytes.</p><div class=\"scroll\"><table><tr><th>section</th>"
                    "<th class=\"number\">offset</th><th class=\"number\">bytes</th>"
                    "<th>hash</th></tr>",
                    f->head.version, f->head.size);
    for (uint32_t i = 0; i < f->head.n_section; i++)
        hg_print_format(o,
                        "<tr><td>%s</td><td class=\"number\">%" PRIu64
                        "</td><td class=\"number\">%" PRIu64 "</td><td class=\"code\">%016" PRIx64
                        "</td></tr>",
                        hg_facts_section_text(f->section[i].kind), f->section[i].offset,
                        f->section[i].size, f->section[i].hash);
    hg_print_text(o, "</table></div></section>");
}

static void html_head(hg_print *o, const hg_facts *f)
{
    const char *name = f->n_graph > 0 ? f->graph[0].p->text + f->graph[0].p->head.name : "model";
    hg_print_text(o, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                     "<meta name=\"color-scheme\" content=\"light dark\">"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'\"><title>");
    hg_html_escape(o, name);
    hg_print_text(o, " - Hologram</title><style>");
    hg_print_text(o, hg_html_style);
    hg_print_text(o, "</style></head><body><header><h1><bdi>");
    hg_html_escape(o, name);
    hg_print_format(
        o, "</bdi></h1><p class=\"note\">Hologram %s &middot; %" PRIu32 " graph%s &middot; ",
        holo_version(), f->model->n_graph, f->model->n_graph == 1 ? "" : "s");
    hg_html_bytes(o, (double)f->head.size);
    hg_print_text(o, ", of which ");
    hg_html_bytes(o, (double)f->model->weight_bytes);
    hg_print_text(o, " weights</p><nav>");
    for (uint32_t i = 0; i < f->n_graph && f->n_graph > 1; i++) {
        hg_print_format(o, "<a href=\"#g%" PRIu32 "\">", i);
        hg_html_escape(o, f->graph[i].p->text + f->graph[i].p->head.name);
        hg_print_text(o, "</a>");
    }
    hg_print_text(o, "<a href=\"#weights\">Weights</a></nav></header><main>\n");
}

void hg_report_html(const hg_facts *f, hg_print *o)
{
    hg_arena arena;
    bool ok = true;
    hg_arena_init(&arena, &f->model->alloc, 0);
    html_head(o, f);
    for (uint32_t i = 0; ok && i < f->n_graph; i++) {
        ok = html_graph(o, &f->graph[i], &arena);
        hg_arena_reset(&arena);
    }
    html_weights(o, f);
    html_meta(o, f);
    html_sections(o, f);
    hg_print_text(o, "</main></body></html>\n");
    hg_arena_deinit(&arena);
    if (!ok) o->failed = true;
}
