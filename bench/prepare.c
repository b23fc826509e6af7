/* prepare.c - what settling new sizes costs.
 *
 *     prepare FILE.holo NAME=LOW..HIGH [NAME=SIZE]...
 *
 * Gives the first dimension every size from LOW to HIGH, one after the other, as a text generator
 * or a reader of lines of text would, then each of the last few once more. Prints the number of
 * steps, with those of bodies, and nanoseconds per step: preparing for the first size, minimum and
 * median of the new ones, minimum and median of the ones seen before. Nothing is run. */
#include "runtime/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PREPARE_ROUNDS = 21, PREPARE_AGAIN = 4, PREPARE_MOST = 1 << 16 };

typedef struct setting {
    const char *name;
    size_t length;
    int64_t low, high;
} setting;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void stop(const char *sentence)
{
    fprintf(stderr, "prepare: %s\n", sentence);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static setting parse(const char *text)
{
    const char *equal = strrchr(text, '=');
    if (equal == NULL) stop("a size is written NAME=SIZE or NAME=LOW..HIGH");
    setting s = {.name = text, .length = (size_t)(equal - text), .low = atoll(equal + 1)};
    const char *dots = strstr(equal, "..");
    s.high = dots == NULL ? s.low : atoll(dots + 2);
    return s;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Symbols as set, 1 where nothing is said; the first setting has `size`. */
static void symbols(const hg_program *p, const setting *set, int n_set, int64_t size, int64_t *out)
{
    for (uint32_t i = 0; i < p->head.n_symbol; i++) {
        const char *name = p->text + p->symbol[i].name;
        out[i] = 1;
        for (int k = 0; k < n_set; k++)
            if (strlen(name) == set[k].length && memcmp(name, set[k].name, set[k].length) == 0)
                out[i] = k == 0 ? size : set[k].low;
    }
}

static void bind(holo_session *s, const int64_t *symbol, int64_t *dim, void *data)
{
    const hg_program *p = &s->graph->program;
    holo_error e = {0};
    for (uint32_t d = 1; d < p->head.n_dim; d++) {
        const hg_dim_rec *r = &p->dim[d];
        if (r->op == HG_DIM_CONST)
            dim[d] = r->value;
        else if (r->op == HG_DIM_SYMBOL)
            dim[d] = symbol[r->value];
        else if (!hg_dim_eval_op((hg_dim_op)r->op, dim[r->a], dim[r->b], dim[r->c], &dim[d]))
            dim[d] = 0;
    }
    for (uint32_t i = 0; i < p->head.n_in; i++) {
        const hg_value_rec *v = &p->value[p->in[i].value];
        holo_tensor t = {.data = data, .rank = v->rank, .dtype = (holo_dtype)v->dtype};
        for (int32_t k = 0; k < v->rank; k++)
            t.dim[k] = dim[p->list[v->dims + (uint32_t)k]];
        if (holo_session_set_input(s, i, &t, &e) != HOLO_OK) stop(e.message);
    }
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct bench {
    holo_session *session;
    const setting *set;
    int n_set;
    int64_t *symbol, *dim;
    void *data;
} bench;

static double prepare(bench *b, int64_t size)
{
    holo_error e = {0};
    symbols(&b->session->graph->program, b->set, b->n_set, size, b->symbol);
    bind(b->session, b->symbol, b->dim, b->data);
    const double start = now_ns();
    if (holo_session_prepare(b->session, &e) != HOLO_OK) stop(e.message);
    return now_ns() - start;
}

static void print(double *ns, size_t n, double steps)
{
    qsort(ns, n, sizeof *ns, compare);
    printf(" %.1f %.1f", ns[0] / steps, ns[n / 2] / steps);
}

/* One session: the first size, all others, some of them again. Returns their numbers. */
static void round_trip(bench *b, const holo_model *model, double *first, double *fresh,
                       double *again)
{
    const holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_error e = {0};
    const setting *vary = &b->set[0];
    if (holo_session_new(model, &options, &b->session, &e) != HOLO_OK) stop(e.message);
    *first = prepare(b, vary->low);
    for (int64_t size = vary->low + 1; size <= vary->high; size++)
        fresh[size - vary->low - 1] = prepare(b, size);
    for (int k = 0; k < PREPARE_AGAIN; k++)
        again[k] = prepare(b, vary->high - 1 - (k + 1) % 2);
    holo_session_free(b->session);
}

int main(int argc, char **argv)
{
    static double first[PREPARE_ROUNDS], again[PREPARE_ROUNDS * PREPARE_AGAIN];
    setting set[16];
    holo_error e = {0};
    holo_model *model;
    if (argc < 3 || argc > 17) stop("give a file and NAME=LOW..HIGH");
    for (int i = 2; i < argc; i++)
        set[i - 2] = parse(argv[i]);
    const int64_t n = set[0].high - set[0].low;
    if (n < 3 || n > PREPARE_MOST) stop("LOW..HIGH is 4 sizes or more");
    if (holo_model_open_file(argv[1], holo_kernels_all(), NULL, &model, &e) != HOLO_OK)
        stop(e.message);
    const hg_program *p = &model->graph[0].program;
    double *fresh = malloc((size_t)n * PREPARE_ROUNDS * sizeof *fresh);
    bench b = {.set = set,
               .n_set = argc - 2,
               .symbol = calloc(p->head.n_symbol + 1, sizeof *b.symbol),
               .dim = calloc(p->head.n_dim + 1, sizeof *b.dim),
               .data = &b}; /* only its address is looked at */
    if (fresh == NULL || b.symbol == NULL || b.dim == NULL) stop("out of memory");
    for (int r = 0; r < PREPARE_ROUNDS; r++)
        round_trip(&b, model, &first[r], fresh + (size_t)r * (size_t)n, again + r * PREPARE_AGAIN);
    printf("%llu", (unsigned long long)model->n_step);
    print(first, PREPARE_ROUNDS, (double)model->n_step);
    print(fresh, (size_t)n * PREPARE_ROUNDS, (double)model->n_step);
    print(again, PREPARE_ROUNDS * PREPARE_AGAIN, (double)model->n_step);
    printf("\n");
    holo_model_free(model);
    free(fresh);
    free(b.symbol);
    free(b.dim);
    return 0;
}
