/* html_picture.c - pictures of a graph as SVG: memory over time, and the flow of its steps. */
#include "report/html.h"

#include <inttypes.h>

/* More would be no picture any more, and a small file may ask for very many. */
enum { PICTURE_BUFFERS = 6000, PICTURE_STEPS = 3000, PICTURE_EDGES = 30000 };

/* ---- memory over time: x is the step, y the offset in the arena --------------------------------
 */

/* The first value of each buffer, by which it is called. */
static uint32_t *picture_first_values(const hg_facts_graph *g, hg_arena *arena)
{
    uint32_t *first = hg_arena_array(arena, (size_t)g->g->n_buffer + 1, sizeof *first);
    if (first == NULL) return NULL;
    for (uint32_t v = 1; v < g->p->head.n_value; v++) {
        uint32_t buffer = g->g->value_buffer[v];
        if (buffer != 0 && first[buffer - 1] == 0) first[buffer - 1] = v;
    }
    return first;
}

static void picture_buffer(hg_print *o, const hg_facts_graph *g, uint32_t buffer, uint32_t value)
{
    const hg_span *s = &g->session->span[buffer];
    double scale = 1000.0 / (double)g->session->arena_bytes;
    double height = (double)s->bytes * scale, top = 1000 - (double)s->offset * scale - height;
    uint32_t last = s->last, step = s->first;
    hg_print_format(o,
                    "<rect class=\"%s\" x=\"%" PRIu32 "\" y=\"%.2f\" width=\"%" PRIu32
                    "\" height=\"%.2f\"><title>",
                    hg_html_colour(g, step), step, top, last - step + 1, height);
    hg_name room;
    hg_html_escape(o, hg_program_name(g->p, g->p->value[value].name, &room));
    hg_print_text(o, ": ");
    hg_html_bytes(o, (double)s->bytes);
    hg_print_format(o, " at %zu, steps %" PRIu32 " to %" PRIu32 "</title></rect>", s->offset, step,
                    last);
}

/* Bytes in use at each step; the highest point is what no layout can go below. */
static void picture_live(hg_print *o, const hg_facts_graph *g)
{
    size_t live = 0;
    uint32_t peak;
    (void)hg_offsets_bound(g->session->span, g->session->graph->n_buffer, g->p->head.n_step,
                           g->session->live, &peak);
    hg_print_text(o, "<path d=\"M0 1000");
    for (uint32_t i = 0; i <= g->p->head.n_step; i++) {
        live += g->session->live[i]; /* differences */
        double y = 1000 - 1000.0 * (double)live / (double)g->session->arena_bytes;
        hg_print_format(o, "V%.1fH%" PRIu32, y, i + 1);
    }
    hg_print_text(o, "\"/>");
}

bool hg_html_memory(hg_print *o, const hg_facts_graph *g, hg_arena *arena)
{
    if (g->session == NULL || g->session->arena_bytes == 0) return true;
    uint32_t *first = picture_first_values(g, arena), drawn = 0;
    if (first == NULL) return false;
    hg_print_format(o,
                    "<svg class=\"map\" role=\"img\" aria-label=\"memory over time\" viewBox=\"0 0 "
                    "%" PRIu64 " 1000\" preserveAspectRatio=\"none\">",
                    (uint64_t)g->p->head.n_step + 1);
    for (uint32_t i = 0; i < g->g->n_buffer && drawn < PICTURE_BUFFERS; i++) {
        if (g->g->buffer_late[i] || g->session->span[i].bytes == 0) continue;
        picture_buffer(o, g, i, first[i]);
        drawn++;
    }
    picture_live(o, g);
    hg_print_format(
        o, "</svg><div class=\"axis\"><span>step 0</span><span>step %" PRIu32 "</span></div>",
        g->p->head.n_step);
    return true;
}

/* ---- the flow: a ladder of steps; a value used later than by the next step goes round in a lane
 * ------ */

enum {
    PICTURE_ROW = 24,
    PICTURE_LANES = 8,
    PICTURE_LANE = 7,
    PICTURE_X = 74, /* of the steps; lanes are left of it */
};

typedef struct picture_flow {
    const hg_facts_graph *g;
    hg_print *o;
    uint32_t n_step, n_edge;
    uint32_t *last_use;           /* per value: the last step that reads it */
    uint8_t *lane;                /* per value */
    uint32_t busy[PICTURE_LANES]; /* per lane: the step up to which it is taken, + 1 */
} picture_flow;

static void picture_uses(picture_flow *f)
{
    const hg_program *p = f->g->p;
    for (uint32_t s = 0; s < f->n_step; s++)
        for (uint32_t k = 0; k < p->step[s].n_in; k++)
            f->last_use[hg_program_root(p, p->list[p->step[s].in + k])] = s;
}

static void picture_edge(picture_flow *f, uint32_t from, uint32_t to, uint32_t lane)
{
    uint32_t y0 = from * PICTURE_ROW + PICTURE_ROW / 2, y1 = to * PICTURE_ROW + PICTURE_ROW / 2;
    if (to == from + 1) {
        hg_print_format(f->o, "<path d=\"M%d %" PRIu32 "V%" PRIu32 "\"/>", PICTURE_X, y0, y1);
        return;
    }
    int x = PICTURE_X - 12 - (int)lane * PICTURE_LANE;
    hg_print_format(f->o,
                    "<path d=\"M%d %" PRIu32 "Q%d %" PRIu32 " %d %" PRIu32 "V%" PRIu32
                    "Q%d %" PRIu32 " %d %" PRIu32 "\"/>",
                    PICTURE_X, y0, x, y0, x, y0 + 10, y1 - 10, x, y1, PICTURE_X, y1);
}

static void picture_inputs(picture_flow *f, uint32_t step)
{
    const hg_program *p = f->g->p;
    const hg_step_rec *s = &p->step[step];
    for (uint32_t k = 0; k < s->n_in; k++) {
        uint32_t value = hg_program_root(p, p->list[s->in + k]);
        uint32_t from = f->g->producer[value];
        if (from == 0 || from > step || f->n_edge++ > PICTURE_EDGES) continue;
        picture_edge(f, from - 1, step, f->lane[value]);
    }
}

/* The lowest lane that is free; the last one is shared when all are taken. */
static void picture_outputs(picture_flow *f, uint32_t step)
{
    const hg_program *p = f->g->p;
    const hg_step_rec *s = &p->step[step];
    for (uint32_t k = 0; k < s->n_out; k++) {
        uint32_t value = p->list[s->out + k], lane = 0;
        if (value == 0 || f->last_use[value] <= step + 1) continue;
        while (lane + 1 < PICTURE_LANES && f->busy[lane] > step)
            lane++;
        f->busy[lane] = f->last_use[value] + 1;
        f->lane[value] = (uint8_t)lane;
    }
}

static void picture_row(picture_flow *f, uint32_t i)
{
    const hg_facts_graph *g = f->g;
    const hg_step_rec *s = &g->p->step[i];
    hg_print_format(f->o, "<li><span class=\"at\">%" PRIu32 "</span><span class=\"what mono\">", i);
    hg_html_escape(f->o, hg_facts_step_kernel(g, i));
    hg_print_text(f->o, "</span><span class=\"where\">cpu ");
    hg_print_text(f->o, hg_facts_step_variant(g, i));
    hg_print_text(f->o, "</span><bdi class=\"node\" title=\"");
    hg_name room;
    hg_html_escape(f->o, hg_program_step_name(g->p, i, &room));
    hg_print_text(f->o, "\">");
    hg_html_escape(f->o, room.text);
    hg_print_text(f->o, "</bdi><span class=\"type mono\">");
    if (s->n_out != 0 && g->p->list[s->out] != 0) hg_html_type(f->o, g, g->p->list[s->out]);
    hg_print_text(f->o, "</span></li>");
}

bool hg_html_flow(hg_print *o, const hg_facts_graph *g, hg_arena *arena)
{
    picture_flow f = {.g = g, .o = o, .n_step = g->p->head.n_step};
    if (f.n_step > PICTURE_STEPS) f.n_step = PICTURE_STEPS;
    f.last_use = hg_arena_array(arena, g->p->head.n_value, sizeof *f.last_use);
    f.lane = hg_arena_array(arena, g->p->head.n_value, sizeof *f.lane);
    if (f.last_use == NULL || f.lane == NULL) return false;
    picture_uses(&f);
    hg_print_format(o,
                    "<div class=\"ladder\"><svg role=\"img\" aria-label=\"flow of the steps\" "
                    "width=\"84\" height=\"%" PRIu32 "\">",
                    f.n_step * PICTURE_ROW);
    for (uint32_t i = 0; i < f.n_step && !o->failed; i++) {
        picture_inputs(&f, i);
        picture_outputs(&f, i);
    }
    for (uint32_t i = 0; i < f.n_step && !o->failed; i++)
        hg_print_format(o, "<circle class=\"%s\" cx=\"%d\" cy=\"%" PRIu32 "\" r=\"4.5\"/>",
                        hg_html_colour(g, i), PICTURE_X, i * PICTURE_ROW + PICTURE_ROW / 2);
    hg_print_text(o, "</svg><ol>");
    for (uint32_t i = 0; i < f.n_step && !o->failed; i++)
        picture_row(&f, i);
    hg_print_text(o, "</ol></div>");
    if (f.n_step < g->p->head.n_step)
        hg_print_format(o,
                        "<p class=\"note\">%" PRIu32
                        " more steps: hologram inspect --program shows all.</p>",
                        g->p->head.n_step - f.n_step);
    return true;
}
