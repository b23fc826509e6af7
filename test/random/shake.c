/* shake.c - how far rounding can move the outputs of a graph: it is run again with its inputs moved
 * by a few units, and, where that does not explain a difference, with what every node gives moved.
 * Always by reference kernels, nothing optimised. */
#include "io/elem.h"
#include "random/random.h"

#include <math.h>

enum { SHAKE_ROUNDS = 4, SHAKE_UNITS = 8 };

typedef struct shake {
    const rnd_graph *r;
    const rnd_form *form;
    hg_arena *arena;
    rnd_source source;
    holo_tensor *value; /* by number of value: as moved */
    double *moved;      /* by output */
} shake;

static void shake_init(shake *s, const rnd_graph *r, const rnd_form *form, hg_arena *arena,
                       double *moved)
{
    *s = (shake){
        .r = r, .form = form, .arena = arena, .source = rnd_from_seed(r->ways), .moved = moved};
    s->value = hg_arena_alloc(arena, RND_MAX_VALUE * sizeof *s->value);
}

/* Every float of every value one to eight units up or down. */
static void shake_values(shake *s)
{
    for (int32_t v = 0; v < s->r->n_value; v++) {
        s->value[v] = s->r->value[v].t;
        const double unit = fmax(rnd_unit(s->value[v].dtype), 0x1p-22);
        if (rnd_unit(s->value[v].dtype) == 0 || !rnd_is_plain(&s->value[v])) continue;
        s->value[v] = rnd_copy(s->arena, &s->value[v]);
        const int64_t parts = holo_tensor_count(&s->value[v]) * hg_elem_parts(s->value[v].dtype);
        for (int64_t i = 0; i < parts; i++) {
            const double by = 1 + rnd_below(&s->source, SHAKE_UNITS);
            const double x = hg_elem_get(&s->value[v], i);
            hg_elem_set(&s->value[v], i, x * (1 + (rnd_chance(&s->source, 50) ? by : -by) * unit));
        }
    }
}

/* Runs the part of the graph that a form names on the values as they are moved. */
static holo_status shake_run(const shake *s, rnd_form form, holo_tensor *out)
{
    const rnd_run how = {.open_flags = HOLO_OPEN_REFERENCE, .value = s->value};
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    rnd_program p;
    holo_error e;
    options.flags = HOLO_COMPILE_NO_OPTIMIZE;
    options.numerics = HOLO_EXACT;
    form.constants = RND_NO_CONST;
    form.symbolic = false;
    holo_status status = rnd_compile(s->r, &form, &options, &p, &e);
    if (status == HOLO_OK) status = rnd_run_program(s->r, &p, &how, s->arena, out, form.n_out, &e);
    rnd_program_free(&p);
    return status;
}

static void shake_note(const shake *s, uint32_t j, holo_status status, const holo_tensor *out)
{
    const holo_tensor *still = &s->r->value[s->form->out[j]].t;
    s->moved[j] = fmax(s->moved[j], status == HOLO_OK ? rnd_distance(out, still) : INFINITY);
}

void rnd_shake_inputs(const rnd_graph *r, const rnd_form *form, hg_arena *arena, double *moved)
{
    shake s;
    shake_init(&s, r, form, arena, moved);
    holo_tensor *out = hg_arena_alloc(arena, RND_MAX_VALUE * sizeof *out);
    for (int i = 0; i < SHAKE_ROUNDS; i++) {
        shake_values(&s);
        const holo_status status = shake_run(&s, *form, out);
        for (uint32_t j = 0; j < form->n_out; j++)
            shake_note(&s, j, status, &out[j]);
    }
}

/* ---- rounding in every node --------------------------------------------------------------------
 */

double rnd_coarsest_unit(const rnd_graph *r)
{
    double unit = 0x1p-24;
    for (int32_t v = 0; v < r->n_value; v++)
        unit = fmax(unit, rnd_unit(r->value[v].t.dtype));
    return unit;
}

/* The largest finite number that the node read. */
static double shake_largest(const shake *s, const rnd_node *n)
{
    double large = 0;
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != RND_NONE) large = fmax(large, rnd_magnitude(&s->value[n->in[k]]));
    return large;
}

/* Moved by units of the largest number that the node read or gave: others may have cancelled. What
 * is close to nothing for a sum of products of such numbers may become nothing. */
static void shake_results(shake *s, const rnd_node *n)
{
    const double large = shake_largest(s, n);
    for (uint32_t j = 0; j < n->n_out; j++) {
        holo_tensor *t = &s->value[n->out[j]];
        if (!rnd_is_plain(t) || rnd_unit(t->dtype) == 0) continue;
        const double step = rnd_coarsest_unit(s->r) * fmax(large, rnd_magnitude(t));
        const int64_t parts = holo_tensor_count(t) * hg_elem_parts(t->dtype);
        for (int64_t i = 0; i < parts; i++) {
            const double by = (double)rnd_below(&s->source, 2 * SHAKE_UNITS + 1) - SHAKE_UNITS;
            const double x = hg_elem_get(t, i);
            const bool is_lost =
                fabs(x) <= SHAKE_UNITS * step * fmax(1, large) && rnd_chance(&s->source, 25);
            hg_elem_set(t, i, is_lost ? 0 : x + step * by);
        }
    }
}

static bool shake_has(const shake *s, int32_t node)
{
    return s->form->keep == NULL || s->form->keep[node];
}

/* One node, with its bodies, on what the nodes before it gave. */
static holo_status shake_node(shake *s, int32_t number)
{
    const rnd_node *n = &s->r->node[number];
    bool keep[RND_MAX_NODE];
    holo_tensor out[RND_MAX_OUT];
    /* Whether products of such numbers, added in some order, are infinite or no number at all
     * depends on the order. */
    if (shake_largest(s, n) > 0x1p60) return HOLO_E_LIMIT;
    for (int32_t i = 0; i < s->r->n_node; i++)
        keep[i] = i == number || (s->r->node[i].body != 0 && shake_has(s, i));
    const rnd_form alone = {.keep = keep, .out = n->out, .n_out = n->n_out};
    HG_TRY(shake_run(s, alone, out));
    for (uint32_t j = 0; j < n->n_out; j++)
        s->value[n->out[j]] = out[j];
    shake_results(s, n);
    return HOLO_OK;
}

void rnd_shake_nodes(const rnd_graph *r, const rnd_form *form, hg_arena *arena, double *moved)
{
    shake s;
    shake_init(&s, r, form, arena, moved);
    for (int i = 0; i < SHAKE_ROUNDS; i++) {
        holo_status status = HOLO_OK;
        shake_values(&s);
        for (int32_t k = 0; status == HOLO_OK && k < r->n_node; k++)
            if (r->node[k].body == form->body && shake_has(&s, k)) status = shake_node(&s, k);
        for (uint32_t j = 0; j < form->n_out; j++)
            shake_note(&s, j, status, &s.value[form->out[j]]);
    }
}
