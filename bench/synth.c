/* synth.c - writes a .holo file of about a given number of steps and bytes, for measuring what
 * opening costs.
 *
 *     synth STEPS MEGABYTES OUT.holo */
#include <hologram.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Products with square matrices carry the bytes, two kinds of softmax in turn the rest of the
 * steps. */
static void build(holo_graph *graph, int steps, double megabytes)
{
    int64_t side = (int64_t)sqrt(megabytes * 1e6 / 4);
    if (side > 2048) side = 2048;
    if (side < 16) side = 16;
    int matrices = (int)(megabytes * 1e6 / 4 / (double)(side * side) + 0.5);
    char dims[32];
    snprintf(dims, sizeof dims, "1,%lld", (long long)side);
    float *data = calloc((size_t)(side * side), sizeof *data);
    holo_value_id x = holo_graph_input(graph, "x", HOLO_F32, dims);
    for (int i = 0; i < steps && data != NULL; i++) {
        holo_value_id in[2] = {x, 0};
        if (i < matrices) {
            data[0] = (float)i; /* no two are equal, or they would be stored once */
            const holo_tensor t = {.data = data, .dim = {side, side}, .rank = 2, .dtype = HOLO_F32};
            in[1] = holo_graph_constant(graph, &t);
        }
        const char *op = in[1] != 0 ? "MatMul" : i % 2 == 0 ? "Softmax" : "LogSoftmax";
        holo_graph_node(graph, op, in, in[1] != 0 ? 2 : 1, NULL, 0, &x, 1);
    }
    holo_graph_output(graph, x, "y");
    free(data);
}

static int save(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return 1;
    size_t n = fwrite(bytes, 1, size, file);
    return fclose(file) != 0 || n != size;
}

int main(int argc, char **argv)
{
    holo_graph *graph;
    holo_error error = {HOLO_OK, ""};
    void *bytes = NULL;
    size_t size = 0;
    if (argc != 4) {
        fprintf(stderr, "usage: synth STEPS MEGABYTES OUT.holo\n");
        return 2;
    }
    holo_status status = holo_graph_new(0, NULL, &graph, &error);
    if (status == HOLO_OK) {
        build(graph, atoi(argv[1]), atof(argv[2]));
        status = holo_compile_graph(graph, NULL, &bytes, &size, NULL, &error);
        holo_graph_free(graph);
    }
    int failed = status != HOLO_OK || save(argv[3], bytes, size);
    if (failed) fprintf(stderr, "synth: %s\n", error.message[0] ? error.message : "cannot write");
    holo_buffer_free(NULL, bytes, size);
    return failed;
}
