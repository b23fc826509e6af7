/* run.c - end to end on built graphs: one compile, several sizes in one session. */
#include "test.h"

#include <math.h>
#include <string.h>

typedef struct run_fixture {
    void *data;
    size_t size;
    holo_model *model;
    holo_session *session;
    holo_error error;
} run_fixture;

static bool run_open(run_fixture *f, const holo_graph *g, uint32_t compile_flags)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.flags = compile_flags;
    holo_session_options session = HOLO_SESSION_OPTIONS_INIT;
    session.flags = HOLO_SESSION_POISON;
    return CHECK_OK(holo_compile_graph(g, &options, &f->data, &f->size, NULL, &f->error),
                    &f->error) &&
           CHECK_OK(holo_model_open_memory(f->data, f->size, holo_kernels_all(), NULL, &f->model,
                                           &f->error),
                    &f->error) &&
           CHECK_OK(holo_session_new(f->model, &session, &f->session, &f->error), &f->error);
}

static void run_close(run_fixture *f)
{
    holo_session_free(f->session);
    holo_model_free(f->model);
    holo_buffer_free(NULL, f->data, f->size);
}

/* relu(x @ w + b), x [batch, 3], w [3, 2] */
static holo_graph *run_linear(void)
{
    static const float w[6] = {1, 2, 3, 4, 5, 6}, b[2] = {-10, 1};
    holo_graph *g = NULL;
    holo_error e;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    holo_tensor wt = {.data = (void *)(uintptr_t)w, .dim = {3, 2}, .rank = 2, .dtype = HOLO_F32};
    holo_tensor bt = {.data = (void *)(uintptr_t)b, .dim = {2}, .rank = 1, .dtype = HOLO_F32};
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "batch,3"), y, z;
    holo_value_id weights = holo_graph_constant(g, &wt), bias = holo_graph_constant(g, &bt);
    holo_graph_node(g, "MatMul", (holo_value_id[]){x, weights}, 2, NULL, 0, &y, 1);
    holo_graph_node(g, "Add", (holo_value_id[]){y, bias}, 2, NULL, 0, &z, 1);
    holo_graph_node(g, "Relu", &z, 1, NULL, 0, &z, 1); /* the same place for both */
    holo_graph_output(g, z, "y");
    return g;
}

static void run_linear_sizes(uint32_t flags)
{
    run_fixture f = {0};
    holo_graph *g = run_linear();
    static const int64_t sizes[] = {1, 5, 0, 2};
    float x[15];
    for (int i = 0; i < 15; i++)
        x[i] = (float)(i % 7) - 2;
    if (g != NULL && run_open(&f, g, flags)) {
        for (size_t k = 0; k < 4; k++) {
            int64_t n = sizes[k];
            holo_tensor in = {.data = x, .dim = {n, 3}, .rank = 2, .dtype = HOLO_F32}, out;
            CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
            if (!CHECK_OK(holo_session_run(f.session, &f.error), &f.error)) break;
            CHECK_OK(holo_session_output(f.session, 0, &out, &f.error), &f.error);
            CHECK_EQ_INT(out.dim[0], n);
            CHECK_EQ_INT(out.dim[1], 2);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < 2; j++) {
                    double sum = j == 0 ? -10 : 1;
                    for (int64_t c = 0; c < 3; c++)
                        sum += (double)x[i * 3 + c] * (double)(c * 2 + j + 1);
                    CHECK_NEAR(((float *)out.data)[i * 2 + j], fmax(sum, 0), 1e-5);
                }
        }
    }
    run_close(&f);
    holo_graph_free(g);
}

static void run_symbolic_batch(void)
{
    run_linear_sizes(0);
}

static void run_symbolic_batch_unoptimized(void)
{
    run_linear_sizes(HOLO_COMPILE_NO_OPTIMIZE);
}

/* NonZero, then Transpose and Cast of a result whose size only data decide. */
static void run_data_dependent(void)
{
    run_fixture f = {0};
    holo_graph *g = NULL;
    holo_error e;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return;
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "n,m"), nz, t, c;
    int64_t to = HOLO_F32;
    holo_attr cast = {.name = "to", .kind = HOLO_ATTR_INT, .i = to};
    holo_graph_node(g, "NonZero", &x, 1, NULL, 0, &nz, 1);
    holo_graph_node(g, "Transpose", &nz, 1, NULL, 0, &t, 1);
    holo_graph_node(g, "Cast", &t, 1, &cast, 1, &c, 1);
    holo_graph_output(g, c, "coordinates");
    float data[12] = {0, 1, 0, 2, 0, 0, 3, 0, 0, 0, 0, 4};
    static const int64_t shape[3][2] = {{3, 4}, {2, 2}, {1, 1}};
    if (run_open(&f, g, 0)) {
        for (int k = 0; k < 3; k++) {
            int64_t n = shape[k][0], m = shape[k][1], expected = 0;
            holo_tensor in = {.data = data, .dim = {n, m}, .rank = 2, .dtype = HOLO_F32}, out;
            CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
            if (!CHECK_OK(holo_session_run(f.session, &f.error), &f.error)) break;
            CHECK_OK(holo_session_output(f.session, 0, &out, &f.error), &f.error);
            for (int64_t i = 0; i < n * m; i++) {
                if (data[i] == 0) continue;
                CHECK_NEAR(((float *)out.data)[expected * 2], i / m, 0);
                CHECK_NEAR(((float *)out.data)[expected * 2 + 1], i % m, 0);
                expected++;
            }
            CHECK_EQ_INT(out.dim[0], expected);
            CHECK_EQ_INT(out.dim[1], 2);
        }
    }
    run_close(&f);
    holo_graph_free(g);
}

static void run_bad_inputs(void)
{
    run_fixture f = {0};
    holo_graph *g = run_linear();
    float x[6] = {0};
    if (g != NULL && run_open(&f, g, 0)) {
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_STATE);
        CHECK_HAS(f.error.message, "'x' is not bound");
        holo_tensor in = {.data = x, .dim = {2, 4}, .rank = 2, .dtype = HOLO_F32};
        CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_SHAPE);
        CHECK_HAS(f.error.message, "4 in dimension 1, expected 3");
        in.rank = 1;
        CHECK_STATUS(holo_session_set_input(f.session, 0, &in, &f.error), HOLO_E_SHAPE);
        in.dtype = HOLO_F64;
        CHECK_STATUS(holo_session_set_input(f.session, 0, &in, &f.error), HOLO_E_TYPE);
        CHECK_STATUS(holo_session_set_input(f.session, 7, &in, &f.error), HOLO_E_ARG);
        in = (holo_tensor){.data = x, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32};
        CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
        CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
    }
    run_close(&f);
    holo_graph_free(g);
}

static void run_bound_output(void)
{
    run_fixture f = {0};
    holo_graph *g = run_linear();
    float x[6] = {1, 1, 1, 2, 2, 2}, y[4] = {0};
    if (g != NULL && run_open(&f, g, 0)) {
        holo_tensor in = {.data = x, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32}, out;
        CHECK_OK(holo_session_set_input(f.session, 0, &in, &f.error), &f.error);
        CHECK_OK(holo_session_set_output(f.session, 0, y, sizeof y - 1, &f.error), &f.error);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_ARG);
        CHECK_OK(holo_session_set_output(f.session, 0, y, sizeof y, &f.error), &f.error);
        CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
        CHECK_OK(holo_session_output(f.session, 0, &out, &f.error), &f.error);
        CHECK(out.data == y);
        CHECK_NEAR(y[0], 0, 0);
        CHECK_NEAR(y[1], 13, 0);
        CHECK_NEAR(y[2], 8, 0);
        CHECK_NEAR(y[3], 25, 0);
    }
    run_close(&f);
    holo_graph_free(g);
}

/* Strings of the caller are copied with their text: neither is read after the call. */
static void run_string_constant(void)
{
    run_fixture f = {0};
    holo_graph *g = NULL;
    char text[] = "-end";
    holo_string suffix = {text, 4}, word = {"word", 4};
    holo_tensor constant = {.data = &suffix, .rank = 0, .dtype = HOLO_STRING};
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &f.error), &f.error)) return;
    holo_value_id y,
        in[] = {holo_graph_input(g, "x", HOLO_STRING, "n"), holo_graph_constant(g, &constant)};
    holo_graph_node(g, "StringConcat", in, 2, NULL, 0, &y, 1);
    holo_graph_output(g, y, "y");
    memset(text, '?', 4);
    suffix.length = 1;
    if (run_open(&f, g, 0)) {
        holo_tensor x = {.data = &word, .dim = {1}, .rank = 1, .dtype = HOLO_STRING}, out;
        CHECK_OK(holo_session_set_input(f.session, 0, &x, &f.error), &f.error);
        if (CHECK_OK(holo_session_run(f.session, &f.error), &f.error)) {
            CHECK_OK(holo_session_output(f.session, 0, &out, &f.error), &f.error);
            const holo_string *result = out.data;
            CHECK_EQ_INT(result->length, 8);
            CHECK(memcmp(result->text, "word-end", 8) == 0);
        }
    }
    run_close(&f);
    suffix = (holo_string){NULL, 3};
    CHECK(holo_graph_constant(g, &constant) == 0);
    CHECK_STATUS(holo_compile_graph(g, NULL, &f.data, &f.size, NULL, &f.error), HOLO_E_ARG);
    holo_graph_free(g);
}

const hg_test_case hg_tests_runtime_run[] = {
    {"symbolic_batch", run_symbolic_batch},
    {"symbolic_batch_unoptimized", run_symbolic_batch_unoptimized},
    {"data_dependent", run_data_dependent},
    {"bad_inputs", run_bad_inputs},
    {"bound_output", run_bound_output},
    {"string_constant", run_string_constant},
    {0},
};
