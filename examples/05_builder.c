/* 05_builder.c - makes a graph of operators without a model file, compiles it and runs it.
 *
 *     cc 05_builder.c -lhologram -o 05_builder && ./05_builder
 *
 * A small network that computes "exclusive or" of two numbers, for any batch:
 *
 *     x [batch, 2] -> Gemm -> Relu -> Gemm -> y [batch, 1] */
#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static holo_value_id constant(holo_graph *graph, float *values, int64_t rows, int64_t columns)
{
    const holo_tensor tensor = {
        .data = values, .dim = {rows, columns}, .rank = 2, .dtype = HOLO_F32};
    return holo_graph_constant(graph, &tensor); /* copied */
}

/* x * weight + bias */
static holo_value_id dense(holo_graph *graph, holo_value_id x, holo_value_id weight,
                           holo_value_id bias)
{
    const holo_attr alpha = {.name = "alpha", .kind = HOLO_ATTR_FLOAT, .f = 1};
    const holo_value_id in[] = {x, weight, bias};
    holo_value_id out = 0;
    holo_graph_node(graph, "Gemm", in, 3, &alpha, 1, &out, 1);
    return out;
}

/* Calls need no checks: the first error is kept and holo_compile_graph reports it. */
static void build(holo_graph *graph)
{
    float weight_1[] = {1, 1, 1, 1}; /* [2, 2]: both sums are a + b */
    float bias_1[] = {0, -1};        /* [1, 2] */
    float weight_2[] = {1, -2};      /* [2, 1]: (a + b) - 2 * max(a + b - 1, 0) */
    float bias_2[] = {0};            /* [1, 1] */
    const holo_value_id x = holo_graph_input(graph, "x", HOLO_F32, "batch,2");
    const holo_value_id sums =
        dense(graph, x, constant(graph, weight_1, 2, 2), constant(graph, bias_1, 1, 2));
    holo_value_id hidden = 0;
    holo_graph_node(graph, "Relu", &sums, 1, NULL, 0, &hidden, 1);
    const holo_value_id y =
        dense(graph, hidden, constant(graph, weight_2, 2, 1), constant(graph, bias_2, 1, 1));
    holo_graph_output(graph, y, "y");
}

/* The model in memory that starts at an address divisible by 64, as opening asks. */
static holo_status compile(void **out, size_t *out_size, holo_error *error)
{
    holo_graph *graph;
    holo_status status = holo_graph_new(0, NULL, &graph, error);
    if (status != HOLO_OK) return status;
    build(graph);
    void *bytes;
    size_t size;
    status = holo_compile_graph(graph, NULL, &bytes, &size, NULL, error);
    holo_graph_free(graph);
    if (status != HOLO_OK) return status;
    void *aligned = aligned_alloc(64, (size + 63) / 64 * 64);
    if (aligned != NULL) memcpy(aligned, bytes, size);
    holo_buffer_free(NULL, bytes, size);
    if (aligned == NULL) return HOLO_E_NOMEM;
    *out = aligned;
    *out_size = size;
    return HOLO_OK;
}

static holo_status run(const holo_model *model, holo_error *error)
{
    float x[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    holo_session *session;
    holo_status status = holo_session_new(model, NULL, &session, error);
    if (status != HOLO_OK) return status;
    for (int64_t batch = 1; status == HOLO_OK && batch <= 4; batch += 3) {
        const holo_tensor input = {.data = x, .dim = {batch, 2}, .rank = 2, .dtype = HOLO_F32};
        holo_tensor output;
        status = holo_session_set_input(session, 0, &input, error);
        if (status == HOLO_OK) status = holo_session_run(session, error);
        if (status == HOLO_OK) status = holo_session_output(session, 0, &output, error);
        const float *y = status == HOLO_OK ? output.data : NULL;
        for (int64_t i = 0; status == HOLO_OK && i < batch; i++)
            printf("%g xor %g = %g\n", (double)x[i][0], (double)x[i][1], (double)y[i]);
    }
    holo_session_free(session);
    return status;
}

int main(void)
{
    holo_error error = {HOLO_OK, ""};
    holo_model *model = NULL;
    void *bytes = NULL;
    size_t size = 0;
    holo_status status = compile(&bytes, &size, &error);
    if (status == HOLO_OK)
        status = holo_model_open_memory(bytes, size, holo_kernels_all(), NULL, &model, &error);
    if (status == HOLO_OK) status = run(model, &error);
    holo_model_free(model);
    free(bytes); /* after the model, which borrows it */
    if (status == HOLO_OK) return 0;
    fprintf(stderr, "05_builder: %s\n",
            error.message[0] ? error.message : holo_status_text(status));
    return 1;
}
