/* quantize_weights.c - weights alone as codes: in bodies of control flow, measured with inputs that
 * mean something, stopped midway. */
#include "import/make.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WEIGHTS_K = 32, WEIGHTS_N = 8, WEIGHTS_ROWS = 50 };

static float weights_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)*state / 2147483648.0f - 1;
}

static void weights_fill(float *w, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++)
        w[i] = weights_next(&seed);
}

typedef struct weights_seen {
    int layers, outputs, measured, measured_layers;
    double relative, worst_weight;
    uint64_t weights;
} weights_seen;

static void weights_see(void *user, const holo_layer_report *l)
{
    weights_seen *s = user;
    if (l->node == NULL) {
        s->outputs++;
        s->measured += l->is_measured;
        s->relative = l->relative;
        return;
    }
    s->layers++;
    s->measured_layers += l->is_measured;
    s->weights += l->weights;
    if (!(l->weight_error <= s->worst_weight)) s->worst_weight = l->weight_error;
}

static holo_compile_options weights_options(holo_quantize mode, weights_seen *seen)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    *seen = (weights_seen){0};
    options.quantize = mode;
    options.layer = weights_see;
    options.layer_user = seen;
    return options;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static make weights_branch(make_fixture *f, const char *weights, const char *out, const float *w)
{
    make g = make_new(&f->arena);
    char in[32];
    snprintf(in, sizeof in, "x,%s", weights);
    const make n = make_node(f, out, "MatMul", in, out), y = make_value(f, out, ELEM_F32, NULL),
               t = make_tensor(f, weights, ELEM_F32, "32,8", w, WEIGHTS_K * WEIGHTS_N);
    make_in(&g, GRAPH_NODE, &n);
    make_in(&g, GRAPH_INITIALIZER, &t);
    make_in(&g, GRAPH_OUTPUT, &y);
    return g;
}

/* If c: x w else x v. */
static make weights_if(make_fixture *f, const float *w, const float *v)
{
    make g = make_new(&f->arena);
    const make x = make_value(f, "x", ELEM_F32, "batch,32"), c = make_value(f, "c", ELEM_BOOL, ""),
               y = make_value(f, "y", ELEM_F32, "batch,8");
    const make then_graph = weights_branch(f, "w", "t", w),
               else_graph = weights_branch(f, "v", "e", v);
    make n = make_node(f, "if", "If", "c", "y");
    make a = make_attr(f, "then_branch", 5);
    make_in(&a, 6, &then_graph);
    make_in(&n, 5, &a);
    a = make_attr(f, "else_branch", 5);
    make_in(&a, 6, &else_graph);
    make_in(&n, 5, &a);
    make_in(&g, GRAPH_INPUT, &x);
    make_in(&g, GRAPH_INPUT, &c);
    make_in(&g, GRAPH_OUTPUT, &y);
    make_in(&g, GRAPH_NODE, &n);
    return make_model(f, &g, 13);
}

/* Relative error of the file against x w in 64 bits. */
static double weights_error(void *data, size_t size, bool condition, const float *w)
{
    float x[WEIGHTS_K];
    weights_fill(x, WEIGHTS_K, 5);
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e;
    double d = 0, all = 0;
    const holo_tensor in[2] = {{.data = x, .dim = {1, WEIGHTS_K}, .rank = 2, .dtype = HOLO_F32},
                               {.data = &condition, .dtype = HOLO_BOOL}};
    holo_tensor out;
    if (!CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e), &e))
        return INFINITY;
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    CHECK_OK(holo_session_set_input(session, 0, &in[0], &e), &e);
    CHECK_OK(holo_session_set_input(session, 1, &in[1], &e), &e);
    CHECK_OK(holo_session_run(session, &e), &e);
    CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
    for (int i = 0; i < WEIGHTS_N; i++) {
        double sum = 0;
        for (int k = 0; k < WEIGHTS_K; k++)
            sum += (double)x[k] * (double)w[k * WEIGHTS_N + i];
        d += pow(sum - (double)((const float *)out.data)[i], 2);
        all += sum * sum;
    }
    holo_session_free(session);
    holo_model_free(model);
    return sqrt(d / all);
}

/* Branches of an If are quantised too: their weights are codes, whichever runs. */
static void weights_bodies(void)
{
    static const double bound[] = {
        [HOLO_QUANTIZE_INT8] = 0.02, [HOLO_QUANTIZE_INT4] = 0.25, [HOLO_QUANTIZE_NF4] = 0.25};
    static const holo_quantize modes[] = {HOLO_QUANTIZE_INT8, HOLO_QUANTIZE_INT4,
                                          HOLO_QUANTIZE_NF4};
    static float w[WEIGHTS_K * WEIGHTS_N], v[WEIGHTS_K * WEIGHTS_N];
    make_fixture f;
    make_init(&f);
    weights_fill(w, WEIGHTS_K * WEIGHTS_N, 1);
    weights_fill(v, WEIGHTS_K * WEIGHTS_N, 2);
    const make m = weights_if(&f, w, v);
    for (size_t i = 0; i < HG_COUNT(modes); i++) {
        weights_seen seen;
        const holo_compile_options options = weights_options(modes[i], &seen);
        holo_error e;
        void *data = NULL;
        size_t size = 0;
        if (!CHECK_OK(holo_compile_memory(m.data, m.size, &options, &data, &size, NULL, &e), &e))
            continue;
        CHECK_EQ_INT(seen.layers, 2);
        CHECK_EQ_INT(seen.measured_layers, 0); /* only outputs of the model can be seen */
        CHECK_EQ_INT(seen.measured, 1);
        CHECK_EQ_INT(seen.weights, 2 * WEIGHTS_K * WEIGHTS_N);
        CHECK(seen.relative > 0 && seen.relative < bound[modes[i]]);
        const double first = weights_error(data, size, true, w),
                     second = weights_error(data, size, false, v);
        CHECK(first > 1e-5 && first < bound[modes[i]]);
        CHECK(second > 1e-5 && second < bound[modes[i]]);
        holo_buffer_free(NULL, data, size);
    }
    make_deinit(&f);
}

/* ---- what errors are measured with ----------------------------------------------------------- */

static holo_value_id weights_constant(holo_graph *g, float *data, int64_t rows, int64_t columns)
{
    const holo_tensor t = {.data = data, .dim = {rows, columns}, .rank = 2, .dtype = HOLO_F32};
    return holo_graph_constant(g, &t);
}

/* Tokens choose from a table whose first two rows are 0; a mask multiplies; a past stands before;
 * `length` rows are added to the sequence. */
static holo_graph *weights_text(int64_t length)
{
    static float table[WEIGHTS_ROWS * WEIGHTS_K], w[WEIGHTS_K * WEIGHTS_N], add[512 * WEIGHTS_K];
    holo_graph *g = NULL;
    holo_error e;
    holo_value_id rows, mask, masked, all, sum, y;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    weights_fill(table, WEIGHTS_ROWS * WEIGHTS_K, 3);
    memset(table, 0, 2 * WEIGHTS_K * sizeof *table);
    weights_fill(w, WEIGHTS_K * WEIGHTS_N, 4);
    const holo_attr to = {.name = "to", .kind = HOLO_ATTR_INT, .i = HOLO_F32},
                    axis = {.name = "axis", .kind = HOLO_ATTR_INT, .i = 1};
    const holo_value_id ids = holo_graph_input(g, "ids", HOLO_I64, "batch,seq"),
                        m = holo_graph_input(g, "mask", HOLO_I64, "batch,seq,1"),
                        past = holo_graph_input(g, "past", HOLO_F32, "batch,past_len,32");
    holo_graph_node(g, "Gather",
                    (holo_value_id[]){weights_constant(g, table, WEIGHTS_ROWS, WEIGHTS_K), ids}, 2,
                    NULL, 0, &rows, 1);
    holo_graph_node(g, "Cast", &m, 1, &to, 1, &mask, 1);
    holo_graph_node(g, "Mul", (holo_value_id[]){rows, mask}, 2, NULL, 0, &masked, 1);
    holo_graph_node(g, "Concat", (holo_value_id[]){past, masked}, 2, &axis, 1, &all, 1);
    holo_graph_node(g, "Add", (holo_value_id[]){all, weights_constant(g, add, length, WEIGHTS_K)},
                    2, NULL, 0, &sum, 1);
    holo_graph_node(g, "MatMul",
                    (holo_value_id[]){sum, weights_constant(g, w, WEIGHTS_K, WEIGHTS_N)}, 2, NULL,
                    0, &y, 1);
    holo_graph_output(g, y, "y");
    return g;
}

/* Sequences of 64, of 512 and of 1 are tried; tokens are rows of their table, masks hide nothing,
 * and a past is empty. */
static void weights_random(void)
{
    static const int64_t lengths[] = {1, 64, 512, 3};
    for (size_t i = 0; i < HG_COUNT(lengths); i++) {
        weights_seen seen;
        const holo_compile_options options = weights_options(HOLO_QUANTIZE_INT4, &seen);
        holo_graph *g = weights_text(lengths[i]);
        void *data = NULL;
        size_t size = 0;
        holo_error e;
        CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
        CHECK_EQ_INT(seen.layers, 1);
        CHECK_EQ_INT(seen.measured_layers, 1);
        CHECK(seen.relative > 0.01 && seen.relative < 0.25); /* rows 0 and 1 would show nothing */
        holo_buffer_free(NULL, data, size);
        holo_graph_free(g);
    }
}

/* ---- odd weights, samples, a user who stops -------------------------------------------------- */

static holo_graph *weights_product(float *w)
{
    holo_graph *g = NULL;
    holo_error e;
    holo_value_id y;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    const holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "2,32");
    holo_graph_node(g, "MatMul", (holo_value_id[]){x, weights_constant(g, w, WEIGHTS_K, WEIGHTS_N)},
                    2, NULL, 0, &y, 1);
    holo_graph_output(g, y, "y");
    return g;
}

/* Weights whose scale is no float any more, 0 alone, and the largest floats. */
static void weights_extremes(void)
{
    static const float sizes[] = {1e-45f, 1e-38f, 0, 1e30f};
    static float w[WEIGHTS_K * WEIGHTS_N];
    for (size_t i = 0; i < HG_COUNT(sizes); i++)
        for (int mode = HOLO_QUANTIZE_INT8; mode <= HOLO_QUANTIZE_PALETTE; mode++) {
            weights_seen seen;
            const holo_compile_options options = weights_options((holo_quantize)mode, &seen);
            void *data = NULL;
            size_t size = 0;
            holo_error e;
            for (int k = 0; k < WEIGHTS_K * WEIGHTS_N; k++)
                w[k] = sizes[i] * (float)(k % 5 - 2);
            holo_graph *g = weights_product(w);
            CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
            CHECK_EQ_INT(seen.layers, 1);
            CHECK(seen.worst_weight >= 0 && seen.worst_weight <= 1);
            holo_buffer_free(NULL, data, size);
            holo_graph_free(g);
        }
}

/* Modes for weights alone are measured with the samples that are given. */
static void weights_samples(void)
{
    static float w[WEIGHTS_K * WEIGHTS_N],
        x[2 * WEIGHTS_K]; /* zeros, for which every product is right */
    weights_fill(w, WEIGHTS_K * WEIGHTS_N, 1);
    holo_tensor t = {.data = x, .dim = {2, WEIGHTS_K}, .rank = 2, .dtype = HOLO_F32};
    const holo_sample sample = {.tensor = &t, .count = 1};
    weights_seen seen;
    holo_compile_options options = weights_options(HOLO_QUANTIZE_NF4, &seen);
    options.calibrate = &sample;
    options.n_calibrate = 1;
    holo_graph *g = weights_product(w);
    void *data = NULL;
    size_t size = 0;
    holo_error e;
    CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
    CHECK_EQ_INT(seen.measured, 1);
    CHECK(seen.worst_weight > 0.05);
    CHECK(seen.relative == 0);
    holo_buffer_free(NULL, data, size);
    holo_graph_free(g);
}

typedef struct weights_stop {
    int calls, last;
    bool beside; /* heard of a model that is only measured */
} weights_stop;

static bool weights_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    weights_stop *s = user;
    CHECK(done <= total);
    s->beside |= strncmp(stage, "measuring", 9) == 0;
    return s->calls++ != s->last;
}

/* Who asked hears of every model that is compiled, and stops any of them. */
static void weights_stops(void)
{
    static float w[WEIGHTS_K * WEIGHTS_N];
    weights_fill(w, WEIGHTS_K * WEIGHTS_N, 1);
    holo_graph *g = weights_product(w);
    int all = 1;
    for (int last = -1; last < all; last++) {
        weights_seen seen;
        weights_stop stop = {.last = last};
        holo_compile_options options = weights_options(HOLO_QUANTIZE_INT4, &seen);
        options.progress = weights_progress;
        options.progress_user = &stop;
        void *data = NULL;
        size_t size = 0;
        holo_error e;
        const holo_status status = holo_compile_graph(g, &options, &data, &size, NULL, &e);
        CHECK_EQ_INT(status, last < 0 ? HOLO_OK : HOLO_E_CANCELLED);
        if (last < 0) {
            CHECK(stop.beside);
            all = stop.calls;
            holo_buffer_free(NULL, data, size);
        }
    }
    holo_graph_free(g);
}

const hg_test_case hg_tests_compile_quantize_weights[] = {
    {"bodies", weights_bodies},   {"random", weights_random}, {"extremes", weights_extremes},
    {"samples", weights_samples}, {"stops", weights_stops},   {0},
};
