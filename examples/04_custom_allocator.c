/* 04_custom_allocator.c - all memory comes from the caller's function, and running takes none.
 *
 *     cc 04_custom_allocator.c -lhologram -o 04_custom_allocator && ./04_custom_allocator
 *
 * The allocator counts its calls and the bytes in use. It aligns to 64 bytes, so that the compiled
 * model can be opened where the compiler put it. */
#include <hologram.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counter {
    size_t calls;
    size_t in_use;
    size_t peak;
} counter;

static void *counter_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    counter *c = user;
    void *moved = NULL;
    c->calls++;
    if (new_size > 0) {
        if (new_size > SIZE_MAX - 63) return NULL;
        moved = aligned_alloc(64, (new_size + 63) / 64 * 64);
        if (moved == NULL) return NULL; /* p stays as it was */
        if (p != NULL) memcpy(moved, p, old_size < new_size ? old_size : new_size);
    }
    c->in_use += new_size - (p == NULL ? 0 : old_size);
    if (c->in_use > c->peak) c->peak = c->in_use;
    free(p);
    return moved;
}

static void counter_print(const counter *c, const char *stage)
{
    printf("%-10s %4zu calls so far, %6zu bytes in use, at most %6zu\n", stage, c->calls, c->in_use,
           c->peak);
}

/* y = Softmax(x) with any number of rows. */
static holo_status compile(const holo_allocator *allocator, void **out, size_t *out_size,
                           holo_error *error)
{
    holo_graph *graph;
    holo_status status = holo_graph_new(0, allocator, &graph, error);
    if (status != HOLO_OK) return status;
    const holo_value_id x = holo_graph_input(graph, "x", HOLO_F32, "rows,4");
    holo_value_id y;
    holo_graph_node(graph, "Softmax", &x, 1, NULL, 0, &y, 1);
    holo_graph_output(graph, y, "y");
    const holo_compile_options options = {.struct_size = sizeof options, .allocator = allocator};
    status = holo_compile_graph(graph, &options, out, out_size, NULL, error);
    holo_graph_free(graph);
    return status;
}

static holo_status run(const holo_model *model, const holo_allocator *allocator, holo_error *error)
{
    counter *c = allocator->user;
    float x[2][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}};
    const holo_tensor input = {.data = x, .dim = {2, 4}, .rank = 2, .dtype = HOLO_F32};
    const holo_session_options options = {.struct_size = sizeof options, .allocator = allocator};
    holo_session *session;
    holo_status status = holo_session_new(model, &options, &session, error);
    if (status != HOLO_OK) return status;
    status = holo_session_set_input(session, 0, &input, error);
    if (status == HOLO_OK) status = holo_session_prepare(session, error);
    counter_print(c, "prepare");
    const size_t before = c->calls;
    for (int i = 0; status == HOLO_OK && i < 1000; i++)
        status = holo_session_run(session, error);
    counter_print(c, "1000 runs");
    if (status == HOLO_OK) printf("running took memory %zu times\n", c->calls - before);
    holo_session_free(session);
    return status;
}

int main(void)
{
    counter c = {0};
    const holo_allocator allocator = {counter_resize, &c};
    const holo_open_options options = {.struct_size = sizeof options, .allocator = &allocator};
    holo_error error = {HOLO_OK, ""};
    holo_model *model = NULL;
    void *bytes = NULL;
    size_t size = 0;
    holo_status status = compile(&allocator, &bytes, &size, &error);
    counter_print(&c, "compile");
    if (status == HOLO_OK)
        status = holo_model_open_memory(bytes, size, holo_kernels_all(), &options, &model, &error);
    counter_print(&c, "open");
    if (status == HOLO_OK) status = run(model, &allocator, &error);
    holo_model_free(model);
    holo_buffer_free(&allocator, bytes, size);
    counter_print(&c, "end");
    if (status == HOLO_OK && c.in_use == 0) return 0;
    fprintf(stderr, "04_custom_allocator: %s\n",
            error.message[0] ? error.message : "some memory was not given back");
    return 1;
}
