/* cache.c - caches that grow in place: the same numbers as with copies, and what is refused. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_HEADS = 3, CACHE_SIZE = 4, CACHE_MOST = 9 };

typedef struct cache_fixture {
    void *data;
    size_t size;
    holo_model *model;
    holo_session *session;
    holo_error error;
} cache_fixture;

/* What else reads the keys that came before, or all of them. */
typedef enum cache_kind {
    CACHE_PLAIN,
    CACHE_READS_PAST,
    CACHE_READS_PRESENT,
    CACHE_SWAPPED
} cache_kind;

static holo_value_id cache_node(holo_graph *g, const char *op, holo_value_id a, holo_value_id b,
                                const holo_attr *attr, size_t n_attr)
{
    holo_value_id in[2] = {a, b}, out = 0;
    holo_graph_node(g, op, in, b == 0 ? 1 : 2, attr, n_attr, &out, 1);
    return out;
}

/* y = softmax(q K') V, K and V continued by k and v. */
static holo_graph *cache_graph(cache_kind kind)
{
    holo_graph *g = NULL;
    holo_error e;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    const holo_value_id q = holo_graph_input(g, "q", HOLO_F32, "b,3,n,4");
    const holo_value_id k = holo_graph_input(g, "k", HOLO_F32, "b,3,n,4");
    const holo_value_id v = holo_graph_input(g, "v", HOLO_F32, "b,3,n,4");
    const holo_value_id old_k = holo_graph_input(g, "old_k", HOLO_F32, "b,3,p,4");
    const holo_value_id old_v = holo_graph_input(g, "old_v", HOLO_F32, "b,3,p,4");
    const int64_t order[4] = {0, 1, 3, 2};
    const holo_attr axis = {.name = "axis", .kind = HOLO_ATTR_INT, .i = 2},
                    perm = {.name = "perm", .kind = HOLO_ATTR_INTS, .ints = order, .count = 4};
    const holo_value_id all_k = kind == CACHE_SWAPPED ? cache_node(g, "Concat", k, old_k, &axis, 1)
                                                      : cache_node(g, "Concat", old_k, k, &axis, 1);
    const holo_value_id all_v = cache_node(g, "Concat", old_v, v, &axis, 1);
    const holo_value_id turned = cache_node(g, "Transpose", all_k, 0, &perm, 1);
    const holo_value_id scores = cache_node(g, "MatMul", q, turned, NULL, 0);
    const holo_value_id weights = cache_node(g, "Softmax", scores, 0, NULL, 0);
    holo_graph_output(g, cache_node(g, "MatMul", weights, all_v, NULL, 0), "y");
    holo_graph_output(g, all_k, "new_k");
    holo_graph_output(g, all_v, "new_v");
    if (kind == CACHE_READS_PAST)
        holo_graph_output(g, cache_node(g, "Exp", old_k, 0, NULL, 0), "z");
    if (kind == CACHE_READS_PRESENT)
        holo_graph_output(g, cache_node(g, "Exp", all_k, 0, NULL, 0), "z");
    return g;
}

static bool cache_open(cache_fixture *f, cache_kind kind)
{
    holo_compile_options compile = HOLO_COMPILE_OPTIONS_INIT;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    memset(f, 0, sizeof *f);
    holo_graph *g = cache_graph(kind);
    const bool ok =
        CHECK_OK(holo_compile_graph(g, &compile, &f->data, &f->size, NULL, &f->error), &f->error);
    holo_graph_free(g);
    options.flags = HOLO_SESSION_POISON;
    return ok &&
           CHECK_OK(holo_model_open_memory(f->data, f->size, holo_kernels_all(), NULL, &f->model,
                                           &f->error),
                    &f->error) &&
           CHECK_OK(holo_session_new(f->model, &options, &f->session, &f->error), &f->error);
}

static void cache_close(cache_fixture *f)
{
    holo_session_free(f->session);
    holo_model_free(f->model);
    holo_buffer_free(NULL, f->data, f->size);
}

static holo_tensor cache_tensor(float *data, int64_t batch, int64_t rows)
{
    return (holo_tensor){
        .data = data, .dim = {batch, CACHE_HEADS, rows, CACHE_SIZE}, .rank = 4, .dtype = HOLO_F32};
}

static float cache_number(int i)
{
    return (float)((i * 37 + 11) % 64) / 16 - 2;
}

/* Row `row` of a head, as every test gives it. */
static void cache_fill(float *to, int which, int64_t batch, int64_t first, int64_t rows)
{
    for (int64_t o = 0; o < batch * CACHE_HEADS; o++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < CACHE_SIZE; c++)
                to[(o * rows + r) * CACHE_SIZE + c] =
                    cache_number((int)(((o * 64 + first + r) * CACHE_SIZE + c) * 3 + which));
}

/* One row of y in double. */
static void cache_expect(int64_t head, int64_t row, int64_t keys, double *y)
{
    double sum = 0, score[CACHE_MOST];
    for (int64_t c = 0; c < CACHE_SIZE; c++)
        y[c] = 0;
    for (int64_t j = 0; j < keys; j++) {
        score[j] = 0;
        for (int64_t c = 0; c < CACHE_SIZE; c++)
            score[j] += (double)cache_number((int)(((head * 64 + row) * CACHE_SIZE + c) * 3)) *
                        (double)cache_number((int)(((head * 64 + j) * CACHE_SIZE + c) * 3 + 1));
        sum += score[j] = exp(score[j]);
    }
    for (int64_t j = 0; j < keys; j++)
        for (int64_t c = 0; c < CACHE_SIZE; c++)
            y[c] += score[j] / sum *
                    (double)cache_number((int)(((head * 64 + j) * CACHE_SIZE + c) * 3 + 2));
}

typedef struct cache_state {
    float q[2 * CACHE_HEADS * CACHE_MOST * CACHE_SIZE],
        k[2 * CACHE_HEADS * CACHE_MOST * CACHE_SIZE], v[2 * CACHE_HEADS * CACHE_MOST * CACHE_SIZE];
    float keys[2 * CACHE_HEADS * CACHE_MOST * CACHE_SIZE],
        values[2 * CACHE_HEADS * CACHE_MOST * CACHE_SIZE];
} cache_state;

/* Gives rows [length, length + rows) and the caches. */
static bool cache_bind(cache_fixture *f, cache_state *s, int64_t batch, int64_t length,
                       int64_t rows, int64_t capacity)
{
    float *const part[3] = {s->q, s->k, s->v};
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        cache_fill(part[i], i, batch, length, rows);
        const holo_tensor t = cache_tensor(part[i], batch, rows);
        ok = ok &&
             CHECK_OK(holo_session_set_input(f->session, (uint32_t)i, &t, &f->error), &f->error);
    }
    const holo_tensor keys = cache_tensor(s->keys, batch, capacity),
                      values = cache_tensor(s->values, batch, capacity);
    return ok &&
           CHECK_OK(holo_session_set_cache(f->session, 3, 1, &keys, 2, length, &f->error),
                    &f->error) &&
           CHECK_OK(holo_session_set_cache(f->session, 4, 2, &values, 2, length, &f->error),
                    &f->error);
}

static void cache_check_rows(const cache_fixture *f, int64_t batch, int64_t length, int64_t rows)
{
    holo_tensor y;
    holo_error e;
    if (!CHECK_OK(holo_session_output(f->session, 0, &y, &e), &e)) return;
    for (int64_t o = 0; o < batch * CACHE_HEADS; o++)
        for (int64_t r = 0; r < rows; r++) {
            double expected[CACHE_SIZE];
            cache_expect(o, length + r, length + rows, expected);
            for (int64_t c = 0; c < CACHE_SIZE; c++)
                CHECK_NEAR(((const float *)y.data)[(o * rows + r) * CACHE_SIZE + c], expected[c],
                           2e-6);
        }
}

/* Batches, first lengths, rows at a time, capacities. */
static void cache_grows(void)
{
    static const int64_t cases[][4] = {{1, 0, 1, 9}, {1, 0, 3, 9}, {2, 0, 1, 5}, {1, 0, 5, 5},
                                       {2, 0, 2, 8}, {1, 0, 9, 9}, {2, 0, 7, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t batch = cases[i][0], rows = cases[i][2], capacity = cases[i][3];
        cache_fixture f;
        cache_state *s = calloc(1, sizeof *s);
        if (s == NULL || !cache_open(&f, CACHE_PLAIN)) return;
        for (int64_t length = 0; length + rows <= capacity; length += rows) {
            if (!cache_bind(&f, s, batch, length, rows, capacity)) break;
            if (!CHECK_OK(holo_session_run(f.session, &f.error), &f.error)) break;
            cache_check_rows(&f, batch, length, rows);
            holo_tensor keys;
            CHECK_OK(holo_session_output(f.session, 1, &keys, &f.error), &f.error);
            CHECK(keys.data == s->keys && keys.dim[2] == capacity);
            CHECK_EQ_INT(holo_session_cache_length(f.session, 1), length + rows);
            CHECK_EQ_INT(holo_session_cache_length(f.session, 0), -1);
        }
        cache_close(&f);
        free(s);
    }
}

static void cache_says(holo_status status, holo_status wanted, const holo_error *e,
                       const char *sentence)
{
    CHECK_EQ_INT(status, wanted);
    if (strstr(e->message, sentence) == NULL) CHECK_STR(e->message, sentence);
}

static void cache_refuses(void)
{
    static const struct {
        cache_kind kind;
        const char *sentence;
    } cases[] = {{CACHE_READS_PAST, "output 'new_k' cannot grow in place"},
                 {CACHE_READS_PRESENT, "output 'new_k' cannot grow in place"},
                 {CACHE_SWAPPED, "output 'new_k' cannot grow in place"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cache_fixture f;
        cache_state *s = calloc(1, sizeof *s);
        if (s == NULL || !cache_open(&f, cases[i].kind)) return;
        if (cache_bind(&f, s, 1, 2, 1, 9))
            cache_says(holo_session_run(f.session, &f.error), HOLO_E_UNSUPPORTED, &f.error,
                       cases[i].sentence);
        cache_close(&f);
        free(s);
    }
}

static void cache_arguments(void)
{
    cache_fixture f;
    cache_state *s = calloc(1, sizeof *s);
    if (s == NULL || !cache_open(&f, CACHE_PLAIN)) return;
    holo_tensor t = cache_tensor(s->keys, 1, 9);
    holo_error *e = &f.error;
    cache_says(holo_session_set_cache(f.session, 9, 1, &t, 2, 0, e), HOLO_E_ARG, e, "input 9");
    cache_says(holo_session_set_cache(f.session, 3, 9, &t, 2, 0, e), HOLO_E_ARG, e, "output 9");
    cache_says(holo_session_set_cache(f.session, 3, 1, &t, 4, 0, e), HOLO_E_ARG, e, "dimension 4");
    cache_says(holo_session_set_cache(f.session, 3, 1, &t, -1, 0, e), HOLO_E_ARG, e,
               "dimension -1");
    cache_says(holo_session_set_cache(f.session, 3, 1, &t, 2, 10, e), HOLO_E_SHAPE, e,
               "10 rows, expected 0 to its 9");
    cache_says(holo_session_set_cache(f.session, 3, 1, &t, 2, -1, e), HOLO_E_SHAPE, e,
               "-1 rows, expected 0 to its 9");
    t.rank = 3;
    cache_says(holo_session_set_cache(f.session, 3, 1, &t, 2, 0, e), HOLO_E_TYPE, e, "rank 3");
    t = cache_tensor(s->keys, 1, 9);
    t.dtype = HOLO_F64;
    cache_says(holo_session_set_cache(f.session, 3, 1, &t, 2, 0, e), HOLO_E_TYPE, e, "float64");
    /* four rows and two new ones in a cache of five */
    if (cache_bind(&f, s, 1, 4, 2, 5))
        cache_says(holo_session_run(f.session, e), HOLO_E_SHAPE, e, "its cache has 5");
    /* along another dimension than Concat's: heads */
    t = cache_tensor(s->keys, 1, 4);
    if (cache_bind(&f, s, 1, 4, 2, 9) &&
        CHECK_OK(holo_session_set_cache(f.session, 3, 1, &t, 1, CACHE_HEADS, e), e))
        cache_says(holo_session_run(f.session, e), HOLO_E_UNSUPPORTED, e, "cannot grow in place");
    /* the values read from the buffer of the keys */
    t = cache_tensor(s->keys, 1, 4);
    if (cache_bind(&f, s, 1, 4, 2, 9) && CHECK_OK(holo_session_set_input(f.session, 4, &t, e), e))
        cache_says(holo_session_run(f.session, e), HOLO_E_ARG, e, "lies in the cache");
    /* two caches in one buffer */
    t = cache_tensor(s->keys, 1, 9);
    if (cache_bind(&f, s, 1, 4, 2, 9) &&
        CHECK_OK(holo_session_set_cache(f.session, 4, 2, &t, 2, 4, e), e))
        cache_says(holo_session_run(f.session, e), HOLO_E_ARG, e, "lies in the cache");
    cache_close(&f);
    free(s);
}

/* A cache becomes an ordinary pair again, and back. */
static void cache_ends(void)
{
    cache_fixture f;
    cache_state *s = calloc(1, sizeof *s);
    float dense[2][CACHE_HEADS * CACHE_MOST * CACHE_SIZE];
    if (s == NULL || !cache_open(&f, CACHE_PLAIN)) return;
    if (cache_bind(&f, s, 1, 0, 4, 9) &&
        CHECK_OK(holo_session_run(f.session, &f.error), &f.error)) {
        cache_check_rows(&f, 1, 0, 4);
        for (int i = 0; i < 3; i++)
            cache_fill(i == 0 ? s->q : i == 1 ? s->k : s->v, i, 1, 4, 4);
        for (int i = 0; i < 2; i++) {
            cache_fill(dense[i], i + 1, 1, 0, 4);
            const holo_tensor t = cache_tensor(dense[i], 1, 4);
            CHECK_OK(holo_session_set_input(f.session, (uint32_t)i + 3, &t, &f.error), &f.error);
        }
        if (CHECK_OK(holo_session_run(f.session, &f.error), &f.error)) {
            holo_tensor keys;
            cache_check_rows(&f, 1, 4, 4);
            CHECK_OK(holo_session_output(f.session, 1, &keys, &f.error), &f.error);
            CHECK(keys.dim[2] == 8 && keys.data != s->keys);
        }
        if (cache_bind(&f, s, 1, 4, 4, 9) &&
            CHECK_OK(holo_session_run(f.session, &f.error), &f.error))
            cache_check_rows(&f, 1, 4, 4);
        CHECK_OK(holo_session_set_output(f.session, 1, NULL, 0, &f.error), &f.error);
        CHECK_EQ_INT(holo_session_prepare(f.session, &f.error), HOLO_OK);
    }
    cache_close(&f);
    free(s);
}

const hg_test_case hg_tests_runtime_cache[] = {
    {"grows", cache_grows},
    {"refuses", cache_refuses},
    {"arguments", cache_arguments},
    {"ends", cache_ends},
    {0},
};
