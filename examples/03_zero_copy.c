/* 03_zero_copy.c - the model reads and writes the caller's own memory.
 *
 *     cc 03_zero_copy.c -lhologram -o 03_zero_copy && ./03_zero_copy
 *
 * Buffers are bound once. Between runs only their contents change: no copy, no allocation. */
#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4 };

/* y = Relu(x + x), compiled to memory. A model in memory starts at an address divisible by 64. */
static holo_status compile(void **out, size_t *out_size, holo_error *error)
{
    holo_graph *graph;
    holo_status status = holo_graph_new(0, NULL, &graph, error);
    if (status != HOLO_OK) return status;
    const holo_value_id x = holo_graph_input(graph, "x", HOLO_F32, "n");
    holo_value_id sum;
    holo_value_id y;
    holo_graph_node(graph, "Add", (holo_value_id[]){x, x}, 2, NULL, 0, &sum, 1);
    holo_graph_node(graph, "Relu", &sum, 1, NULL, 0, &y, 1);
    holo_graph_output(graph, y, "y");

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
    holo_session *session;
    holo_status status = holo_session_new(model, NULL, &session, error);
    if (status != HOLO_OK) return status;

    float x[COUNT];
    float y[COUNT];
    const holo_tensor input = {.data = x, .dim = {COUNT}, .rank = 1, .dtype = HOLO_F32};
    status = holo_session_set_input(session, 0, &input, error);
    if (status == HOLO_OK) status = holo_session_set_output(session, 0, y, sizeof y, error);
    for (int turn = 0; status == HOLO_OK && turn < 3; turn++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = (float)(turn * (i - 1));
        status = holo_session_run(session, error);
        if (status == HOLO_OK)
            printf("%g %g %g %g\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3]);
    }
    holo_tensor output;
    if (status == HOLO_OK) status = holo_session_output(session, 0, &output, error);
    if (status == HOLO_OK)
        printf("the result %s in the caller's array\n", output.data == y ? "is" : "is not");
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
    fprintf(stderr, "03_zero_copy: %s\n",
            error.message[0] ? error.message : holo_status_text(status));
    return 1;
}
