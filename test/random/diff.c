/* diff.c - one graph in many ways: each must give what its nodes gave alone.
 *
 * With --numerics exact the bits are the same, whatever is optimised, constant, symbolic or split.
 * With --numerics fast the bits do not depend on threads and on what memory held before; against
 * the exact results an error is allowed that is measured: the exact graph is run with its inputs
 * moved by a few units of rounding, and what moves by as much or less is right (shake.c). */
#include "io/elem.h"
#include "random/random.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { DIFF_FACTOR = 64 };

/* What was moved to see how far outputs move. The second takes longer and is asked where the first
 * does not explain a difference: a result on an edge (equal numbers subtracted, then cast to bool)
 * moves only with the rounding in between. */
typedef enum diff_moved { DIFF_INPUTS, DIFF_NODES, DIFF_N_MOVED } diff_moved;

typedef struct diff {
    const rnd_graph *r;
    const rnd_form *form;
    rnd_stats *stats;
    rnd_failure *failure;
    hg_arena arena;
    double *moved[DIFF_N_MOVED]; /* by output: how far it moves; NULL until needed */
} diff;

typedef struct diff_way {
    const char *name;
    holo_numerics numerics;
    uint32_t flags;
    rnd_constants constants;
    bool symbolic;
    uint8_t ways; /* made only for graphs with one of these bits; 0: always */
} diff_way;

static const diff_way diff_ways[] = {
    {"exact, not optimised", HOLO_EXACT, HOLO_COMPILE_NO_OPTIMIZE, RND_AS_IS, false, 0},
    {"exact", HOLO_EXACT, 0, RND_AS_IS, false, 0},
    {"exact, symbolic", HOLO_EXACT, 0, RND_AS_IS, true, 0},
    {"exact, symbolic, not optimised", HOLO_EXACT, HOLO_COMPILE_NO_OPTIMIZE, RND_AS_IS, true, 1},
    {"exact, no constants", HOLO_EXACT, 0, RND_NO_CONST, false, 2 | 4},
    {"exact, no constants, symbolic", HOLO_EXACT, 0, RND_NO_CONST, true, 4 | 8},
    {"exact, all constant", HOLO_EXACT, 0, RND_ALL_CONST, false, 2 | 8},
    {"exact, all values kept", HOLO_EXACT, HOLO_COMPILE_KEEP_VALUES, RND_AS_IS, false, 16},
    {"fast", HOLO_FAST, 0, RND_AS_IS, false, 0},
    {"fast, symbolic", HOLO_FAST, 0, RND_AS_IS, true, 32},
    {"fast, no constants", HOLO_FAST, 0, RND_NO_CONST, false, 64},
    {"fast, all constant", HOLO_FAST, 0, RND_ALL_CONST, false, 128},
};

static void diff_fail(diff *d, const char *check, const char *format, ...) HG_PRINTF(3, 4);
static void diff_fail(diff *d, const char *check, const char *format, ...)
{
    va_list args;
    if (d->failure->check != NULL) return;
    d->failure->check = check;
    for (size_t i = 0; i < HG_COUNT(diff_ways); i++) {
        if (strcmp(check, diff_ways[i].name) != 0) continue;
        d->failure->constants = diff_ways[i].constants;
        d->failure->symbolic = diff_ways[i].symbolic;
    }
    va_start(args, format);
    vsnprintf(d->failure->why, sizeof d->failure->why, format, args);
    va_end(args);
}

/* How far an output may be from what the nodes gave alone. */
static double diff_allowed(diff *d, diff_moved kind, uint32_t j)
{
    const double size = rnd_magnitude(&d->r->value[d->form->out[j]].t);
    if (d->moved[kind] == NULL) {
        d->moved[kind] = hg_arena_alloc(&d->arena, (d->form->n_out + 1) * sizeof(double));
        if (kind == DIFF_INPUTS)
            rnd_shake_inputs(d->r, d->form, &d->arena, d->moved[kind]);
        else
            rnd_shake_nodes(d->r, d->form, &d->arena, d->moved[kind]);
    }
    return DIFF_FACTOR * (d->moved[kind][j] + rnd_coarsest_unit(d->r) * size) + 0x1p-100;
}

static void diff_near(diff *d, const char *check, uint32_t j, const holo_tensor *actual)
{
    const holo_tensor *expected = &d->r->value[d->form->out[j]].t;
    char why[300];
    if (rnd_same(actual, expected, why, sizeof why)) return;
    const double apart = rnd_distance(actual, expected);
    double allowed = diff_allowed(d, DIFF_INPUTS, j);
    if (!(apart <= allowed)) allowed = diff_allowed(d, DIFF_NODES, j);
    if (!isfinite(allowed))
        d->stats->not_compared++;
    else if (!(apart <= allowed))
        diff_fail(d, check, "%%v%d differs by %g, %g is allowed: %s", d->form->out[j], apart,
                  allowed, why);
}

static bool diff_has_rounder(const diff *d)
{
    for (int32_t i = 0; i < d->r->n_node; i++)
        if (rnd_rounds_by_size(d->r->node[i].op)) return true;
    return false;
}

/* ---- runs --------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    rnd_run how;
    bool same_bits; /* as the first run, with either numerics */
} diff_runs[] = {
    {"memory poisoned", {.session_flags = HOLO_SESSION_POISON}, true},
    {"two threads",
     {.session_flags = HOLO_SESSION_POISON | HOLO_SESSION_SPLIT, .two_threads = true},
     true},
    {"memory not poisoned", {0}, true},
    {"reference kernels",
     {.open_flags = HOLO_OPEN_REFERENCE, .session_flags = HOLO_SESSION_POISON},
     false},
};

static void diff_compare(diff *d, const diff_way *way, size_t run, const holo_tensor *out,
                         const holo_tensor *first)
{
    char why[300];
    for (uint32_t j = 0; j < d->form->n_out; j++) {
        const holo_tensor *expected = &d->r->value[d->form->out[j]].t;
        if (run > 0 && diff_runs[run].same_bits) {
            if (!rnd_same(&out[j], &first[j], why, sizeof why))
                diff_fail(d, way->name, "%s: %%v%d: %s", diff_runs[run].name, d->form->out[j], why);
        } else if (way->numerics == HOLO_FAST || diff_has_rounder(d)) {
            diff_near(d, way->name, j, &out[j]);
        } else if (!rnd_same(&out[j], expected, why, sizeof why)) {
            diff_fail(d, way->name, "%s: %%v%d: %s", diff_runs[run].name, d->form->out[j], why);
        }
    }
}

static void diff_run(diff *d, const diff_way *way, const rnd_program *p)
{
    holo_tensor *first = NULL;
    holo_error e;
    for (size_t k = 0; k < HG_COUNT(diff_runs); k++) {
        holo_tensor *out = hg_arena_alloc(&d->arena, RND_MAX_VALUE * sizeof *out);
        d->stats->runs++;
        holo_status status =
            rnd_run_program(d->r, p, &diff_runs[k].how, &d->arena, out, d->form->n_out, &e);
        if (status != HOLO_OK) {
            diff_fail(d, way->name, "%s: it does not run: %s", diff_runs[k].name, e.message);
            return;
        }
        if (k == 0) first = out;
        diff_compare(d, way, k, out, first);
    }
}

/* ---- other sizes -------------------------------------------------------------------------------
 */

/* The value as if its symbols had other sizes: its elements again, or fewer of them. */
static void diff_stretch(diff *d, rnd_graph *r, int32_t v, const int64_t *size)
{
    rnd_value *value = &r->value[v];
    holo_tensor old = value->t;
    int64_t dim[HG_MAX_RANK];
    bool changed = false;
    for (int32_t k = 0; k < old.rank; k++) {
        dim[k] = value->symbol[k] == 0 ? old.dim[k] : size[value->symbol[k]];
        changed |= dim[k] != old.dim[k];
    }
    if (!changed || old.dtype >= HOLO_SEQUENCE) return;
    value->t = rnd_tensor(&d->arena, old.dtype, old.rank, dim);
    const int64_t count = holo_tensor_count(&value->t), have = holo_tensor_count(&old);
    for (int64_t i = 0; i < count; i++) {
        if (old.dtype == HOLO_STRING)
            ((holo_string *)value->t.data)[i] =
                have == 0 ? (holo_string){"", 0} : ((holo_string *)old.data)[i % have];
        else
            hg_elem_set(&value->t, i, have == 0 ? 1 : hg_elem_get(&old, i % have));
    }
}

static holo_status diff_resized_run(diff *d, const rnd_graph *r, bool symbolic, holo_tensor *out,
                                    holo_error *e)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    rnd_form form = *d->form;
    rnd_program p;
    const rnd_run how = {.session_flags = HOLO_SESSION_POISON, .before = symbolic ? d->r : NULL};
    options.numerics = HOLO_EXACT;
    form.symbolic = symbolic;
    holo_status status = rnd_compile(symbolic ? d->r : r, &form, &options, &p, e);
    if (status == HOLO_OK) status = rnd_run_program(r, &p, &how, &d->arena, out, form.n_out, e);
    rnd_program_free(&p);
    return status;
}

/* A symbolic program, compiled for no sizes in particular, at other sizes than it just had; and one
 * compiled for these. Where the second runs, the first does, too, and gives the same. */
static void diff_resized(diff *d)
{
    static const char *const check = "other sizes";
    rnd_source s = rnd_from_seed(d->r->ways);
    rnd_graph *r = hg_arena_alloc(&d->arena, sizeof *r);
    int64_t size[256];
    holo_error fixed = {0}, free_size = {0};
    holo_tensor *a = hg_arena_alloc(&d->arena, RND_MAX_VALUE * sizeof *a);
    holo_tensor *b = hg_arena_alloc(&d->arena, RND_MAX_VALUE * sizeof *b);
    char why[300];
    *r = *d->r;
    for (size_t i = 0; i < HG_COUNT(size); i++)
        size[i] = rnd_size(&s);
    for (int32_t v = 0; v < r->n_value; v++)
        if (!r->value[v].is_const) diff_stretch(d, r, v, size);
    holo_status x = diff_resized_run(d, r, false, a, &fixed);
    holo_status y = diff_resized_run(d, r, true, b, &free_size);
    if (y == HOLO_E_UNSUPPORTED || diff_has_rounder(d)) return;
    /* The other way round is no fault: what a size does not fit may have been rewritten, or have
     * no reader left, before anybody knows the size. */
    if (x == HOLO_OK && y != HOLO_OK)
        diff_fail(d, check, "compiled for the sizes it runs; symbolic: %s", free_size.message);
    for (uint32_t j = 0; x == HOLO_OK && y == HOLO_OK && j < d->form->n_out; j++)
        if (!rnd_same(&b[j], &a[j], why, sizeof why))
            diff_fail(d, check, "%%v%d: %s", d->form->out[j], why);
}

/* ------------------------------------------------------------------------------------------------
 */

static void diff_way_run(diff *d, const diff_way *way)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    rnd_form form = *d->form;
    rnd_program p;
    holo_error e = {0};
    form.constants = way->constants;
    form.symbolic = way->symbolic;
    options.flags = way->flags;
    options.numerics = way->numerics;
    d->stats->programs++;
    holo_status status = rnd_compile(d->r, &form, &options, &p, &e);
    if (status == HOLO_OK)
        diff_run(d, way, &p);
    else if (status == HOLO_E_UNSUPPORTED)
        d->stats->declined++; /* how many numbers decide a shape may be known for the nodes alone */
    else
        diff_fail(d, way->name, "it does not compile: %s", e.message);
    rnd_program_free(&p);
}

void rnd_diff(const rnd_graph *r, const rnd_form *form, const char *only, rnd_stats *stats,
              rnd_failure *out)
{
    diff d = {.r = r, .form = form, .stats = stats, .failure = out};
    *out = (rnd_failure){0};
    hg_arena_init(&d.arena, NULL, 0);
    for (size_t i = 0; i < HG_COUNT(diff_ways) && out->check == NULL; i++) {
        const diff_way *way = &diff_ways[i];
        if (only != NULL ? strcmp(only, way->name) == 0
                         : way->ways == 0 || (way->ways & r->ways) != 0)
            diff_way_run(&d, way);
    }
    if (out->check == NULL && (only != NULL ? strcmp(only, "other sizes") == 0 : r->ways % 4 == 0))
        diff_resized(&d);
    hg_arena_deinit(&d.arena);
}
