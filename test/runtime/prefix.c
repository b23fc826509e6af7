/* prefix.c - parts of a run that are known: random graphs give the bits of a session without a
 * memo, whatever is hit, missed, evicted or cut short. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX_WIDE = 96, PREFIX_ROWS = 8, PREFIX_INPUTS = 4, PREFIX_KINDS = 3, PREFIX_VALUES = 40 };

typedef struct prefix_fixture {
    void *data;
    size_t size;
    holo_model *model;
    holo_memo *memo;
    holo_session *session, *plain;
    uint32_t n_in, n_out;
    holo_error error;
} prefix_fixture;

static uint32_t prefix_random(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static holo_value_id prefix_node(holo_graph *g, const char *op, holo_value_id a, holo_value_id b,
                                 const holo_attr *attr)
{
    holo_value_id in[2] = {a, b}, out = 0;
    holo_graph_node(g, op, in, b == 0 ? 1 : 2, attr, attr == NULL ? 0 : 1, &out, 1);
    return out;
}

static holo_value_id prefix_ints(holo_graph *g, int64_t a, int64_t b)
{
    const int64_t both[2] = {a, b};
    const holo_tensor t = {
        .data = (void *)(uintptr_t)both, .dim = {2}, .rank = 1, .dtype = HOLO_I64};
    return holo_graph_constant(g, &t);
}

static holo_value_id prefix_product(holo_graph *g, holo_value_id x, uint32_t *state)
{
    static float w[PREFIX_WIDE * PREFIX_WIDE];
    const holo_tensor t = {
        .data = w, .dim = {PREFIX_WIDE, PREFIX_WIDE}, .rank = 2, .dtype = HOLO_F32};
    for (int i = 0; i < PREFIX_WIDE * PREFIX_WIDE; i++)
        w[i] = ((float)prefix_random(state, 201) - 100) / 1000;
    return prefix_node(g, "MatMul", x, holo_graph_constant(g, &t), NULL);
}

/* The two halves of every row change places: views, where that is possible. */
static holo_value_id prefix_swap(holo_graph *g, holo_value_id x)
{
    const holo_attr axis = {.name = "axis", .kind = HOLO_ATTR_INT, .i = 1};
    holo_value_id half[2] = {0, 0}, y;
    const int64_t n[2] = {PREFIX_WIDE / 2, PREFIX_WIDE / 2};
    const holo_tensor t = {.data = (void *)(uintptr_t)n, .dim = {2}, .rank = 1, .dtype = HOLO_I64};
    holo_graph_node(g, "Split", (holo_value_id[]){x, holo_graph_constant(g, &t)}, 2, &axis, 1, half,
                    2);
    holo_graph_node(g, "Concat", (holo_value_id[]){half[1], half[0]}, 2, &axis, 1, &y, 1);
    return y;
}

/* Rows seen as two each, changed, and seen as before. */
static holo_value_id prefix_reshape(holo_graph *g, holo_value_id x)
{
    const holo_value_id seen =
        prefix_node(g, "Reshape", x, prefix_ints(g, -1, PREFIX_WIDE / 2), NULL);
    const holo_value_id y = prefix_node(g, "Tanh", seen, 0, NULL);
    return prefix_node(g, "Reshape", y, prefix_ints(g, -1, PREFIX_WIDE), NULL);
}

static holo_value_id prefix_any(holo_graph *g, const holo_value_id *v, uint32_t n, uint32_t *state)
{
    const holo_value_id a = v[prefix_random(state, n)], b = v[prefix_random(state, n)];
    switch (prefix_random(state, 8)) {
    case 0: return prefix_node(g, "Add", a, b, NULL);
    case 1: return prefix_node(g, "Mul", a, b, NULL);
    case 2: return prefix_node(g, "Tanh", a, 0, NULL);
    case 3: return prefix_reshape(g, a);
    case 4: return prefix_swap(g, a);
    default: return prefix_product(g, a, state);
    }
}

/* Up to four inputs [n, 96], each with its own dim or a shared one, mixed at random. */
static holo_graph *prefix_graph(uint32_t n_in, uint32_t *state)
{
    holo_graph *g = NULL;
    holo_error e;
    holo_value_id v[PREFIX_VALUES];
    char name[16];
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    for (uint32_t i = 0; i < n_in; i++) {
        snprintf(name, sizeof name, "x%u", i);
        v[i] = holo_graph_input(g, name, HOLO_F32, "n,96");
    }
    const uint32_t n = n_in + 6 + prefix_random(state, PREFIX_VALUES - PREFIX_INPUTS - 6);
    for (uint32_t i = n_in; i < n; i++)
        v[i] = prefix_any(g, v, i, state);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "y%u", i);
        holo_graph_output(g, prefix_node(g, "Relu", v[n - 1 - prefix_random(state, 6)], 0, NULL),
                          name);
    }
    return g;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool prefix_open(prefix_fixture *f, holo_graph *g, size_t bytes, uint32_t flags)
{
    holo_compile_options compile = HOLO_COMPILE_OPTIONS_INIT;
    holo_memo_options memo = HOLO_MEMO_OPTIONS_INIT;
    holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
    *f = (prefix_fixture){0};
    bool ok =
        CHECK_OK(holo_compile_graph(g, &compile, &f->data, &f->size, NULL, &f->error), &f->error);
    holo_graph_free(g);
    memo.memory_bytes = bytes;
    memo.flags = flags;
    session.flags = HOLO_SESSION_POISON;
    ok = ok &&
         CHECK_OK(holo_model_open_memory(f->data, f->size, holo_kernels_all(), NULL, &f->model,
                                         &f->error),
                  &f->error) &&
         CHECK_OK(holo_memo_new(f->model, &memo, &f->memo, &f->error), &f->error) &&
         CHECK_OK(holo_session_new(f->model, &session, &f->plain, &f->error), &f->error);
    session.memo = f->memo;
    ok = ok && CHECK_OK(holo_session_new(f->model, &session, &f->session, &f->error), &f->error);
    if (!ok) return false;
    f->n_in = holo_model_input_count(f->model, 0);
    f->n_out = holo_model_output_count(f->model, 0);
    return true;
}

static void prefix_close(prefix_fixture *f)
{
    holo_session_free(f->session);
    holo_session_free(f->plain);
    holo_memo_free(f->memo);
    holo_model_free(f->model);
    holo_buffer_free(NULL, f->data, f->size);
}

/* Runs both sessions; kind[i] says which numbers input i has. */
static bool prefix_run(prefix_fixture *f, const uint32_t *kind, int64_t rows)
{
    static float x[PREFIX_INPUTS][PREFIX_ROWS * PREFIX_WIDE];
    bool same = true;
    for (uint32_t i = 0; i < f->n_in; i++) {
        uint32_t state = kind[i] + 1;
        for (int64_t k = 0; k < rows * PREFIX_WIDE; k++)
            x[i][k] = ((float)prefix_random(&state, 2001) - 1000) / 500;
        const holo_tensor t = {
            .data = x[i], .dim = {rows, PREFIX_WIDE}, .rank = 2, .dtype = HOLO_F32};
        CHECK_OK(holo_session_set_input(f->session, i, &t, &f->error), &f->error);
        CHECK_OK(holo_session_set_input(f->plain, i, &t, &f->error), &f->error);
    }
    if (!CHECK_OK(holo_session_run(f->session, &f->error), &f->error) ||
        !CHECK_OK(holo_session_run(f->plain, &f->error), &f->error))
        return false;
    for (uint32_t i = 0; i < f->n_out; i++) {
        holo_tensor a, b;
        CHECK_OK(holo_session_output(f->session, i, &a, &f->error), &f->error);
        CHECK_OK(holo_session_output(f->plain, i, &b, &f->error), &f->error);
        same = same && CHECK_EQ_INT(holo_tensor_bytes(&a), holo_tensor_bytes(&b)) &&
               CHECK_MEM(a.data, b.data, holo_tensor_bytes(&b));
    }
    return same;
}

static holo_memo_stats prefix_stats(const prefix_fixture *f)
{
    holo_memo_stats stats;
    holo_memo_get_stats(f->memo, &stats);
    return stats;
}

static void prefix_random_graphs(void)
{
    uint32_t state = 7;
    uint64_t hits = 0, misses = 0, evicted = 0;
    for (int i = 0; i < 200; i++) {
        static const size_t room[] = {24 << 10, 48 << 10, 200 << 10, 4 << 20};
        prefix_fixture f;
        const uint32_t n_in = 1 + prefix_random(&state, PREFIX_INPUTS);
        bool ok = prefix_open(&f, prefix_graph(n_in, &state), room[prefix_random(&state, 4)], 0);
        for (int run = 0; run < 25 && ok; run++) {
            uint32_t kind[PREFIX_INPUTS];
            for (uint32_t k = 0; k < n_in; k++)
                kind[k] = prefix_random(&state, PREFIX_KINDS);
            ok = prefix_run(&f, kind, prefix_random(&state, 5) == 0 ? 3 : PREFIX_ROWS);
        }
        if (ok) {
            const holo_memo_stats stats = prefix_stats(&f);
            hits += stats.prefix_hits;
            misses += stats.prefix_misses;
            evicted += stats.evicted;
        }
        prefix_close(&f);
        if (!CHECK(ok)) {
            fprintf(stderr, "graph %d\n", i);
            break;
        }
    }
    CHECK(hits > 500 && misses > 500 && evicted > 500);
}

/* ---- one graph that is known ------------------------------------------------------------------
 */

/* y = tanh(deep(x0)) * x1, z = deep(x0): a part that reads x0 alone and gives two results. */
static holo_graph *prefix_encoder(void)
{
    holo_graph *g = NULL;
    holo_error e;
    uint32_t state = 3;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    const holo_value_id a = holo_graph_input(g, "x0", HOLO_F32, "n,96");
    const holo_value_id b = holo_graph_input(g, "x1", HOLO_F32, "n,96");
    holo_value_id deep = a;
    for (int i = 0; i < 4; i++)
        deep = prefix_product(g, deep, &state);
    const holo_value_id y = prefix_node(g, "Mul", prefix_node(g, "Tanh", deep, 0, NULL), b, NULL);
    holo_graph_output(g, y, "y");
    holo_graph_output(g, prefix_node(g, "Neg", deep, 0, NULL), "z");
    return g;
}

static void prefix_counts(const prefix_fixture *f, int whole, int hits, int misses)
{
    const holo_memo_stats stats = prefix_stats(f);
    CHECK_EQ_INT(stats.hits, whole);
    CHECK_EQ_INT(stats.prefix_hits, hits);
    CHECK_EQ_INT(stats.prefix_misses, misses);
}

static void prefix_encodes_once(void)
{
    prefix_fixture f;
    if (prefix_open(&f, prefix_encoder(), 1 << 20, 0)) {
        prefix_run(&f, (uint32_t[]){0, 0}, 8);
        prefix_counts(&f, 0, 0, 1);
        CHECK_EQ_INT(prefix_stats(&f).prefixes, 1);
        for (uint32_t i = 1; i < 6; i++)
            prefix_run(&f, (uint32_t[]){0, i}, 8);
        prefix_counts(&f, 0, 5, 1);
        prefix_run(&f, (uint32_t[]){0, 3}, 8); /* all of it is known */
        prefix_counts(&f, 1, 5, 1);
        prefix_run(&f, (uint32_t[]){1, 3}, 8);
        prefix_run(&f, (uint32_t[]){1, 4}, 7); /* other sizes are other keys */
        prefix_counts(&f, 1, 5, 3);
    }
    prefix_close(&f);
    if (prefix_open(&f, prefix_encoder(), 1 << 20, HOLO_MEMO_WHOLE)) {
        for (uint32_t i = 0; i < 3; i++)
            prefix_run(&f, (uint32_t[]){0, i}, 8);
        prefix_counts(&f, 0, 0, 0);
    }
    prefix_close(&f);
}

/* Too few steps for what they give, or no memory for answers: no parts. */
static void prefix_pays(void)
{
    prefix_fixture f;
    if (prefix_open(&f, prefix_encoder(), 4096, 0)) {
        for (uint32_t i = 0; i < 3; i++)
            prefix_run(&f, (uint32_t[]){0, i}, 8);
        prefix_counts(&f, 0, 0, 0);
    }
    prefix_close(&f);
    holo_graph *g = NULL;
    holo_error e;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return;
    const holo_value_id a = holo_graph_input(g, "x0", HOLO_F32, "n,96");
    const holo_value_id b = holo_graph_input(g, "x1", HOLO_F32, "n,96");
    const holo_value_id swapped = prefix_swap(g, a);
    holo_graph_output(
        g, prefix_node(g, "MatMul", swapped, prefix_node(g, "Transpose", b, 0, NULL), NULL), "y");
    if (prefix_open(&f, g, 1 << 20, 0)) {
        for (uint32_t i = 0; i < 3; i++)
            prefix_run(&f, (uint32_t[]){0, i}, 8);
        prefix_counts(&f, 0, 0, 0);
    }
    prefix_close(&f);
}

/* ---- runs that end early ----------------------------------------------------------------------
 */

/* y = Gather(deep(x), index): an index out of range stops the run after deep(x). */
static void prefix_fault_is_forgotten(void)
{
    holo_graph *g = NULL;
    holo_error e;
    uint32_t state = 5;
    prefix_fixture f;
    float x[2][PREFIX_WIDE];
    int64_t index = 7;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return;
    const holo_value_id a = holo_graph_input(g, "x", HOLO_F32, "2,96");
    const holo_value_id i = holo_graph_input(g, "i", HOLO_I64, "1");
    holo_value_id deep = a;
    for (int k = 0; k < 4; k++)
        deep = prefix_product(g, deep, &state);
    holo_graph_output(g, prefix_node(g, "Gather", deep, i, NULL), "y");
    if (!prefix_open(&f, g, 1 << 20, 0)) return prefix_close(&f);
    for (int k = 0; k < 2 * PREFIX_WIDE; k++)
        x[0][k % PREFIX_WIDE] = x[1][k % PREFIX_WIDE] = (float)k;
    const holo_tensor in = {.data = x, .dim = {2, PREFIX_WIDE}, .rank = 2, .dtype = HOLO_F32},
                      at = {.data = &index, .dim = {1}, .rank = 1, .dtype = HOLO_I64};
    CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
    CHECK_OK(holo_session_set_input(f.session, 1, &at, &f.error), &f.error);
    CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
    CHECK_EQ_INT(prefix_stats(&f).entries, 0);
    prefix_counts(&f, 0, 0, 1);
    for (index = 0; index < 2; index++)
        CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
    prefix_counts(&f, 0, 1, 2);
    index = -9; /* a run that fails keeps what it has found */
    CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
    CHECK_EQ_INT(prefix_stats(&f).entries, 3);
    prefix_close(&f);
}

/* ---- sizes ------------------------------------------------------------------------------------
 */

/* What is computed of x alone but is as large as y is a part of both. */
static void prefix_sizes_are_keys(void)
{
    holo_graph *g = NULL;
    holo_error e;
    uint32_t state = 9;
    prefix_fixture f;
    static float x[PREFIX_WIDE], y[3 * PREFIX_WIDE];
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return;
    const holo_value_id a = holo_graph_input(g, "x", HOLO_F32, "1,96");
    const holo_value_id b = holo_graph_input(g, "y", HOLO_F32, "m,96");
    const holo_value_id c = holo_graph_input(g, "z", HOLO_F32, "1,96");
    holo_value_id deep = prefix_node(g, "Expand", a, prefix_node(g, "Shape", b, 0, NULL), NULL);
    for (int k = 0; k < 4; k++)
        deep = prefix_node(g, "Tanh", prefix_product(g, deep, &state), 0, NULL);
    holo_graph_output(g, prefix_node(g, "Mul", deep, c, NULL), "o");
    if (!prefix_open(&f, g, 1 << 20, 0)) return prefix_close(&f);
    for (int k = 0; k < 12; k++) {
        static float z[PREFIX_WIDE];
        holo_tensor out[2];
        z[0] = (float)(k + 1);
        const holo_tensor t[3] = {
            {.data = x, .dim = {1, PREFIX_WIDE}, .rank = 2, .dtype = HOLO_F32},
            {.data = y, .dim = {1 + k % 3, PREFIX_WIDE}, .rank = 2, .dtype = HOLO_F32},
            {.data = z, .dim = {1, PREFIX_WIDE}, .rank = 2, .dtype = HOLO_F32}};
        x[1] = (float)(k / 6);
        for (int side = 0; side < 2; side++) {
            holo_session *s = side == 0 ? f.session : f.plain;
            for (uint32_t i = 0; i < 3; i++)
                CHECK_OK(holo_session_set_input(s, i, &t[i], &f.error), &f.error);
            CHECK_OK(holo_session_run(s, &f.error), &f.error);
            CHECK_OK(holo_session_output(s, 0, &out[side], &f.error), &f.error);
        }
        CHECK_EQ_INT(out[0].dim[0], 1 + k % 3);
        CHECK_MEM(out[0].data, out[1].data, holo_tensor_bytes(&out[1]));
    }
    prefix_counts(&f, 0, 6, 6);
    prefix_close(&f);
}

const hg_test_case hg_tests_runtime_prefix[] = {
    {"random_graphs", prefix_random_graphs},
    {"encodes_once", prefix_encodes_once},
    {"pays", prefix_pays},
    {"fault_is_forgotten", prefix_fault_is_forgotten},
    {"sizes_are_keys", prefix_sizes_are_keys},
    {0},
};
