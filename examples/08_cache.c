/* 08_cache.c - keys and values of a decoder grow in place.
 *
 *     cc 08_cache.c -lhologram -o 08_cache && ./08_cache
 *
 * One buffer is the input "past" and the output "present": each run writes one more row into it and
 * copies nothing else. */
#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, CAPACITY = 8, SIZE = 4 };

/* mixed = softmax(x present') present, where present = past and one more row, x itself. */
static holo_status compile(void **out, size_t *out_size, holo_error *error)
{
    static const int64_t turn[] = {0, 1, 3, 2};
    const holo_attr axis = {.name = "axis", .kind = HOLO_ATTR_INT, .i = 2};
    const holo_attr perm = {.name = "perm", .kind = HOLO_ATTR_INTS, .ints = turn, .count = 4};
    holo_graph *graph;
    holo_status status = holo_graph_new(0, NULL, &graph, error);
    if (status != HOLO_OK) return status;
    const holo_value_id x = holo_graph_input(graph, "x", HOLO_F32, "1,2,1,4");
    const holo_value_id past = holo_graph_input(graph, "past", HOLO_F32, "1,2,p,4");
    holo_value_id present, turned, scores, weights, mixed;
    holo_graph_node(graph, "Concat", (holo_value_id[]){past, x}, 2, &axis, 1, &present, 1);
    holo_graph_node(graph, "Transpose", &present, 1, &perm, 1, &turned, 1);
    holo_graph_node(graph, "MatMul", (holo_value_id[]){x, turned}, 2, NULL, 0, &scores, 1);
    holo_graph_node(graph, "Softmax", &scores, 1, NULL, 0, &weights, 1);
    holo_graph_node(graph, "MatMul", (holo_value_id[]){weights, present}, 2, NULL, 0, &mixed, 1);
    holo_graph_output(graph, mixed, "mixed");
    holo_graph_output(graph, present, "present");
    status = holo_compile_graph(graph, NULL, out, out_size, NULL, error);
    holo_graph_free(graph);
    return status;
}

static holo_status generate(holo_session *session, holo_error *error)
{
    static float cache[HEADS * CAPACITY * SIZE];
    float x[HEADS * SIZE];
    const holo_tensor row = {.data = x, .dim = {1, HEADS, 1, SIZE}, .rank = 4, .dtype = HOLO_F32};
    const holo_tensor buffer = {
        .data = cache, .dim = {1, HEADS, CAPACITY, SIZE}, .rank = 4, .dtype = HOLO_F32};
    const uint32_t past = (uint32_t)holo_session_find_input(session, "past");
    const uint32_t present = (uint32_t)holo_session_find_output(session, "present");
    holo_status status = holo_session_set_input(session, 0, &row, error);
    for (int64_t length = 0; status == HOLO_OK && length < CAPACITY;) {
        for (int i = 0; i < HEADS * SIZE; i++)
            x[i] = (float)((i * 5 + length * 3) % 7) / 4;
        status = holo_session_set_cache(session, past, present, &buffer, 2, length, error);
        if (status == HOLO_OK) status = holo_session_run(session, error);
        if (status != HOLO_OK) break;
        length = holo_session_cache_length(session, present);
        holo_tensor mixed;
        status = holo_session_output(session, 0, &mixed, error);
        if (status == HOLO_OK)
            printf("%d rows: %.4f\n", (int)length, (double)((const float *)mixed.data)[0]);
    }
    return status;
}

int main(void)
{
    holo_error error = {HOLO_OK, ""};
    void *data = NULL;
    size_t size = 0;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_status status = compile(&data, &size, &error);
    void *aligned = status == HOLO_OK ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
    if (status == HOLO_OK && aligned == NULL) status = HOLO_E_NOMEM;
    if (aligned != NULL) {
        memcpy(aligned, data, size);
        status = holo_model_open_memory(aligned, size, holo_kernels_all(), NULL, &model, &error);
        if (status == HOLO_OK) status = holo_session_new(model, NULL, &session, &error);
        if (status == HOLO_OK) status = generate(session, &error);
    }
    if (status != HOLO_OK)
        fprintf(stderr, "08_cache: %s\n",
                error.message[0] ? error.message : holo_status_text(status));
    holo_session_free(session);
    holo_model_free(model);
    free(aligned);
    holo_buffer_free(NULL, data, size);
    return status == HOLO_OK ? 0 : 1;
}
