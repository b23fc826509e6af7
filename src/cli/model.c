/* model.c - FILE[:GRAPH] of the command line as an open model. */
#include "cli/model.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool hg_cli_is_onnx(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && strcasecmp(path + n - 5, ".onnx") == 0;
}

static int model_compile(const hg_cli *cli, const hg_cli_model_options *options, hg_cli_model *m)
{
    holo_compile_options compile = HOLO_COMPILE_OPTIONS_INIT;
    holo_error error = {0};
    hg_cli_progress progress = hg_cli_progress_start(cli);
    hg_cli_log log = {.cli = cli};
    void *data = NULL;
    size_t size = 0;
    compile.flags = options->compile_flags;
    compile.numerics = options->numerics;
    compile.limits = options->limits;
    compile.log = hg_cli_log_add;
    compile.log_user = &log;
    compile.extra = hg_cli_extra();
    compile.progress = hg_cli_progress_step;
    compile.progress_user = &progress;
    holo_status status = holo_compile_file_to_memory(m->path, &compile, &data, &size, NULL, &error);
    hg_cli_progress_end(&progress);
    if (status != HOLO_OK) return hg_cli_fail(cli, &error);
    hg_cli_log_flush(&log);
    m->compiled = data;
    m->compiled_bytes = size;
    return HG_CLI_OK;
}

static holo_status model_map(const hg_cli_model *m, const holo_open_options *open, holo_model **out,
                             holo_error *error)
{
    if (m->compiled != NULL)
        return holo_model_open_memory(m->compiled, m->compiled_bytes, holo_kernels_all(), open, out,
                                      error);
    return holo_model_open_file(m->path, holo_kernels_all(), open, out, error);
}

holo_status hg_cli_model_reopen(const hg_cli_model *m, const hg_cli_model_options *options,
                                holo_model **out, holo_error *error)
{
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    open.flags = options->open_flags;
    open.limits = options->limits;
    holo_status status = model_map(m, &open, out, error);
    if (status != HOLO_E_KERNEL) return status;
    open.extra = hg_cli_extra();
    status = model_map(m, &open, out, error);
    if (status == HOLO_E_KERNEL && open.extra == NULL)
        snprintf(error->message + strlen(error->message),
                 sizeof error->message - strlen(error->message),
                 "; libhologram_ext is not installed beside hologram");
    return status;
}

/* "a, b, c" of the graphs, for the sentence. */
static void model_graph_names(const holo_model *model, char *out, size_t size)
{
    uint32_t n = holo_model_graph_count(model);
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < n && at < size; i++) {
        int written = snprintf(out + at, size - at, "%s%s", i > 0 ? ", " : "",
                               holo_model_graph_name(model, i));
        at += written > 0 ? (size_t)written : 0;
    }
}

static int model_pick(const hg_cli *cli, hg_cli_model *m, const char *graph)
{
    char names[400];
    uint32_t n = holo_model_graph_count(m->model);
    for (uint32_t i = 0; i < n; i++) {
        m->graph = i;
        if (graph != NULL && strcmp(graph, holo_model_graph_name(m->model, i)) == 0)
            return HG_CLI_OK;
    }
    if (n == 1 && graph == NULL) return HG_CLI_OK;
    model_graph_names(m->model, names, sizeof names);
    if (graph != NULL)
        return hg_cli_error(cli, "%s has no graph '%s'; it has %s", m->path, graph, names);
    return hg_cli_error(cli, "%s holds %u graphs; pick one as %s:GRAPH: %s", m->path, n, m->path,
                        names);
}

static int model_open(const hg_cli *cli, const hg_cli_model_options *options, hg_cli_model *out)
{
    holo_error error = {0};
    int code = hg_cli_is_onnx(out->path) ? model_compile(cli, options, out) : HG_CLI_OK;
    if (code == HG_CLI_OK && hg_cli_model_reopen(out, options, &out->model, &error) != HOLO_OK)
        code = hg_cli_fail(cli, &error);
    return code;
}

int hg_cli_model_open_any(const hg_cli *cli, const char *file, const hg_cli_model_options *options,
                          hg_cli_model *out)
{
    *out = (hg_cli_model){.path = strdup(file)};
    if (out->path == NULL) return hg_cli_error(cli, "out of memory");
    int code = model_open(cli, options, out);
    if (code != HG_CLI_OK) hg_cli_model_close(out);
    return code;
}

int hg_cli_model_open(const hg_cli *cli, const char *file, const hg_cli_model_options *options,
                      hg_cli_model *out)
{
    *out = (hg_cli_model){.path = strdup(file)};
    if (out->path == NULL) return hg_cli_error(cli, "out of memory");
    /* A path may hold colons, so the last one splits only when the whole names no file. */
    char *colon = strrchr(out->path, ':'), *graph = NULL;
    if (colon != NULL && access(out->path, F_OK) != 0) {
        *colon = '\0';
        graph = colon + 1;
    }
    int code = model_open(cli, options, out);
    if (code == HG_CLI_OK) code = model_pick(cli, out, graph);
    if (code != HG_CLI_OK) hg_cli_model_close(out);
    return code;
}

void hg_cli_model_close(hg_cli_model *m)
{
    if (m->model != NULL) holo_model_free(m->model);
    if (m->compiled != NULL) holo_buffer_free(NULL, m->compiled, m->compiled_bytes);
    free(m->path);
    *m = (hg_cli_model){0};
}

char *hg_cli_symbol(const char *path)
{
    const char *base = strrchr(path, '/');
    char *symbol = strdup(base != NULL ? base + 1 : path);
    if (symbol == NULL) return NULL;
    char *dot = strrchr(symbol, '.');
    if (dot != NULL && dot != symbol) *dot = '\0';
    for (char *p = symbol; *p != '\0'; p++) {
        bool fits = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
                    (*p >= '0' && *p <= '9' && p != symbol);
        if (!fits) *p = '_';
    }
    return symbol;
}

int hg_cli_pool_new(const hg_cli *cli, uint64_t threads, holo_pool **out)
{
    holo_error error = {0};
    *out = NULL;
    if (threads <= 1) return HG_CLI_OK;
    if (threads > 1024)
        return hg_cli_error(cli, "%llu threads are too many", (unsigned long long)threads);
    if (holo_pool_new((uint32_t)threads, NULL, out, &error) != HOLO_OK)
        return hg_cli_fail(cli, &error);
    return HG_CLI_OK;
}
