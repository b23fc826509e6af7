/* missized.c - what is refused when sizes are known is refused when they are not: nodes of every
 * operator with one dimension of one input one larger than it should be, compiled for that size and
 * compiled for any. */
#include "random/random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef HG_REDZONE
enum { MISSIZED_TURNS = 1 }; /* nodes of an operator */
#else
enum { MISSIZED_TURNS = 8 };
#endif
enum { MISSIZED_PARTS = 4 };

typedef struct missized {
    rnd_graph *r;
    const rnd_node *node;
    bool keep[RND_MAX_NODE];
    rnd_form form;
    holo_tensor value[RND_MAX_VALUE]; /* with one changed */
    uint64_t refused;
} missized;

/* One more along the axis: the elements there are, from the first on again. */
static holo_tensor missized_grow(hg_arena *arena, const holo_tensor *t, int32_t axis)
{
    int64_t dim[HG_MAX_RANK];
    memcpy(dim, t->dim, sizeof dim);
    dim[axis]++;
    holo_tensor out = rnd_tensor(arena, t->dtype, t->rank, dim);
    const size_t bytes = holo_tensor_bytes(&out), old = holo_tensor_bytes(t);
    for (size_t i = 0; i < bytes && old != 0; i++)
        ((uint8_t *)out.data)[i] = ((const uint8_t *)t->data)[i % old];
    return out;
}

static holo_status missized_try(const missized *m, const rnd_program *p, holo_error *e)
{
    holo_tensor out[RND_MAX_OUT];
    hg_arena arena;
    hg_arena_init(&arena, NULL, 0);
    const rnd_run how = {.open_flags = HOLO_OPEN_REFERENCE, .value = m->value};
    holo_status status = rnd_run_program(m->r, p, &how, &arena, out, m->node->n_out, e);
    hg_arena_deinit(&arena);
    return status;
}

static holo_status missized_compile(missized *m, bool symbolic, rnd_program *p, holo_error *e)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.limits = (holo_limits){.memory_bytes = 64 << 20, .tensor_bytes = 4 << 20};
    m->form.symbolic = symbolic;
    return rnd_compile(m->r, &m->form, &options, p, e);
}

/* Every dimension of every input of the node is a symbol of its own. */
static void missized_symbols(const missized *m)
{
    uint8_t next = 1;
    for (uint32_t i = 0; i < m->node->n_in; i++) {
        if (m->node->in[i] == RND_NONE) continue;
        rnd_value *v = &m->r->value[m->node->in[i]];
        for (int32_t k = 0; k < v->t.rank && next < UINT8_MAX; k++)
            v->symbol[k] = next++;
    }
}

static void missized_one(missized *m, int32_t v, int32_t axis, const rnd_program *any,
                         uint64_t seed)
{
    holo_error fixed_error = {0}, e = {0};
    const holo_tensor old = m->r->value[v].t;
    rnd_program fixed;
    m->r->value[v].t = m->value[v] = missized_grow(&m->r->arena, &old, axis);
    holo_status status = missized_compile(m, false, &fixed, &fixed_error);
    if (status == HOLO_OK) status = missized_try(m, &fixed, &fixed_error);
    rnd_program_free(&fixed);
    m->r->value[v].t = old;
    if (status == HOLO_E_SHAPE && missized_try(m, any, &e) == HOLO_OK) {
        hg_test_fail(HG_TEST_HERE,
                     "seed %llu: %s takes %lld in dimension %d of v%d when it is not known before; "
                     "otherwise: %s",
                     (unsigned long long)seed, m->node->op->name, (long long)old.dim[axis] + 1,
                     axis, v, fixed_error.message);
        rnd_print(m->r, &m->form);
    }
    m->refused += status == HOLO_E_SHAPE;
    m->value[v] = old;
}

static void missized_node(missized *m, uint64_t seed)
{
    holo_error e;
    rnd_program any;
    missized_symbols(m);
    for (int32_t v = 0; v < m->r->n_value; v++)
        m->value[v] = m->r->value[v].t;
    if (missized_compile(m, true, &any, &e) == HOLO_OK) {
        for (uint32_t i = 0; i < m->node->n_in; i++) {
            const int32_t v = m->node->in[i];
            if (v == RND_NONE || m->r->value[v].is_pinned || !rnd_is_plain(&m->r->value[v].t))
                continue;
            for (int32_t k = 0; k < m->r->value[v].t.rank; k++)
                missized_one(m, v, k, &any, seed);
        }
    }
    rnd_program_free(&any);
}

/* The number of refusals. */
static uint64_t missized_seed(uint32_t op, uint64_t seed)
{
    rnd_source source = rnd_from_seed(seed);
    rnd_stats stats = {0};
    missized *m = calloc(1, sizeof *m);
    rnd_graph *r = calloc(1, sizeof *r);
    uint64_t refused = 0;
    if (m != NULL && r != NULL) {
        rnd_gen n = {.g = r, .source = &source, .stats = &stats, .wanted = RND_NONE};
        hg_arena_init(&r->arena, NULL, 0);
        const int32_t out = rnd_make(&n, rnd_op(op));
        const int32_t node = out == RND_NONE ? RND_NONE : r->value[out].node;
        if (node != RND_NONE && r->node[node].op == rnd_op(op) && r->node[node].n_child == 0) {
            m->r = r;
            m->node = &r->node[node];
            m->keep[node] = true;
            m->form = (rnd_form){.constants = RND_NO_CONST,
                                 .keep = m->keep,
                                 .out = m->node->out,
                                 .n_out = m->node->n_out};
            missized_node(m, seed);
            refused = m->refused;
        }
        hg_arena_deinit(&r->arena);
    }
    free(r);
    free(m);
    return refused;
}

static void missized_part(uint32_t part)
{
    uint64_t refused = 0;
    for (uint32_t op = part; op < rnd_op_count(); op += MISSIZED_PARTS)
        for (uint64_t turn = 0; turn < MISSIZED_TURNS; turn++)
            refused += missized_seed(op, op * UINT64_C(7919) + turn * UINT64_C(104729) + 1);
    CHECK(refused > 10);
}

#define MISSIZED_CASE(n)                                                                           \
    static void missized_part_##n(void)                                                            \
    {                                                                                              \
        missized_part(n);                                                                          \
    }
MISSIZED_CASE(0)
MISSIZED_CASE(1)
MISSIZED_CASE(2)
MISSIZED_CASE(3)
#undef MISSIZED_CASE

const hg_test_case hg_tests_random_missized[] = {
    {"part_0", missized_part_0},
    {"part_1", missized_part_1},
    {"part_2", missized_part_2},
    {"part_3", missized_part_3},
    {0},
};
