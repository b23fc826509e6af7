/* 02_compile.c - compiles an ONNX model to a .holo file, with progress, log and report.
 *
 *     cc 02_compile.c -lhologram -o 02_compile && ./02_compile model.onnx model.holo
 *     ./02_compile model.onnx model.holo batch=1      # settle a dimension for good */
#include <hologram.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool on_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    (void)user;
    if (done == total) printf("done: %s\n", stage);
    return true; /* false would stop the compile and leave nothing on disk */
}

static void on_log(void *user, holo_log_level level, const char *sentence)
{
    (void)user;
    printf("%s%s\n", level == HOLO_LOG_WARNING ? "warning: " : "", sentence);
}

/* "batch=1" -> {"batch", 1}; name is cut out of `text`. */
static bool parse_dim(char *text, holo_dim_setting *out)
{
    char *equals = strchr(text, '=');
    if (equals == NULL) return false;
    char *end;
    *equals = '\0';
    *out = (holo_dim_setting){.name = text, .value = strtoll(equals + 1, &end, 10)};
    return end != equals + 1 && *end == '\0' && out->value >= 0;
}

int main(int argc, char **argv)
{
    holo_dim_setting dim = {0};
    if (argc < 3 || argc > 4 || (argc == 4 && !parse_dim(argv[3], &dim))) {
        fprintf(stderr, "usage: 02_compile MODEL.onnx OUT.holo [DIM=N]\n");
        return 2;
    }
    const holo_compile_options options = {.struct_size = sizeof options,
                                          .dims = &dim,
                                          .n_dims = argc == 4 ? 1 : 0,
                                          .progress = on_progress,
                                          .log = on_log};
    const char *const paths[] = {argv[1]};
    holo_compile_report report;
    holo_error error;
    if (holo_compile_files(paths, 1, argv[2], &options, &report, &error) != HOLO_OK) {
        fprintf(stderr, "02_compile: %s\n", error.message);
        return 1;
    }
    printf("%" PRIu64 " nodes became %" PRIu64 " steps, %" PRIu64 " bytes of weights, %" PRIu64
           " bytes on disk\n",
           report.nodes_before, report.steps, report.weight_bytes, report.file_bytes);
    return 0;
}
