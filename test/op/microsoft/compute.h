/* compute.h - one node of constants against formulas of its own: numbers go in as doubles, results
 * come out as doubles. */
#ifndef HG_TEST_OP_MICROSOFT_COMPUTE_H
#define HG_TEST_OP_MICROSOFT_COMPUTE_H

#include "base/half.h"
#include "op/rule.h"

#include <math.h>

enum { COMPUTE_MOST = 4096, COMPUTE_OUTPUTS = 4 };

typedef struct compute {
    char text[1 << 17];
    size_t length;
    uint32_t state;
    fixture *f;
    double out[COMPUTE_OUTPUTS][COMPUTE_MOST];
    int64_t count[COMPUTE_OUTPUTS];
} compute;

static inline compute *compute_new(void)
{
    compute *c = calloc(1, sizeof *c);
    if (c == NULL) abort();
    c->state = 1;
    c->length = (size_t)snprintf(c->text, sizeof c->text, "graph() {\n");
    return c;
}

static inline void compute_free(compute *c)
{
    if (c->f != NULL) fixture_free(c->f);
    free(c);
}

static inline double compute_random(compute *c)
{
    c->state = c->state * 1664525u + 1013904223u;
    return (double)(c->state >> 8) / (1 << 23) - 1.0;
}

/* "%name = const type {v ...}"; integers are printed as such. */
static inline void compute_const(compute *c, const char *name, const char *type, const double *v,
                                 int64_t count)
{
    const bool is_float = strncmp(type, "float", 5) == 0;
    c->length += (size_t)snprintf(c->text + c->length, sizeof c->text - c->length,
                                  "%%%s = const %s {", name, type);
    for (int64_t i = 0; i < count; i++)
        c->length += (size_t)snprintf(c->text + c->length, sizeof c->text - c->length,
                                      is_float ? "%s%.9e" : "%s%.0f", i == 0 ? "" : ", ", v[i]);
    c->length += (size_t)snprintf(c->text + c->length, sizeof c->text - c->length, "}\n");
}

/* Random numbers in [-1, 1) as a constant and in v, rounded to f32. */
static inline void compute_rand(compute *c, const char *name, const char *type, double *v,
                                int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        v[i] = (double)(float)compute_random(c);
    compute_const(c, name, type, v, count);
}

/* Random integers in [low, high). */
static inline void compute_codes(compute *c, const char *name, const char *type, double *v,
                                 int64_t count, int low, int high)
{
    for (int64_t i = 0; i < count; i++)
        v[i] = low + floor((compute_random(c) + 1.0) / 2 * (high - low));
    compute_const(c, name, type, v, count);
}

static inline double compute_load(const hg_value *v, int64_t i)
{
    const void *p = v->constant->data;
    const holo_dtype t = v->type.dtype;
    if (t == HOLO_F32) return (double)((const float *)p)[i];
    if (t == HOLO_F16) return (double)hg_f16_to_f32(((const uint16_t *)p)[i]);
    if (t == HOLO_I32) return (double)((const int32_t *)p)[i];
    if (t == HOLO_U8) return (double)((const uint8_t *)p)[i];
    return t == HOLO_I8 ? (double)((const int8_t *)p)[i] : (double)NAN;
}

/* Computes `node`, which defines %y (and %y1 ... up to n_out - 1); c->out has the results. */
static inline bool compute_run(compute *c, const char *node, uint32_t n_out)
{
    char *end = c->text + c->length;
    size_t room = sizeof c->text - c->length;
    int n = snprintf(end, room, "%s\nreturn %%y as \"y\"", node);
    for (uint32_t j = 1; j < n_out; j++)
        n += snprintf(end + n, room - (size_t)n, ", %%y%u as \"y%u\"", j, j);
    snprintf(end + n, room - (size_t)n, "\n}\n");
    if (c->f != NULL) fixture_free(c->f);
    c->f = fixture_parse(c->text);
    if (!CHECK_OK(rule_compute(c->f), &c->f->error)) return false;
    for (uint32_t j = 0; j < n_out; j++) {
        hg_graph *g = &c->f->g;
        const hg_value *v = hg_graph_value(g, hg_region_out(g, HG_REGION_MAIN, j));
        if (!CHECK(v->constant != NULL)) return false;
        if (!CHECK(hg_dim_is_const(&g->dims, hg_type_count(g, &v->type), &c->count[j])))
            return false;
        if (!CHECK(c->count[j] <= COMPUTE_MOST)) return false;
        for (int64_t i = 0; i < c->count[j]; i++)
            c->out[j][i] = compute_load(v, i);
    }
    return true;
}

/* Output j has `count` elements near those of `expected`. */
static inline void compute_near(const compute *c, uint32_t j, const double *expected, int64_t count,
                                double absolute)
{
    if (!CHECK_EQ_INT(c->count[j], count)) return;
    for (int64_t i = 0; i < count; i++)
        if (!CHECK_NEAR(c->out[j][i], expected[i], absolute)) return;
}

#endif
