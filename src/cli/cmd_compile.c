/* cmd_compile.c - hologram compile: model files to one .holo file. */
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/model.h"
#include "cli/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct compile_args {
    const char *output, *emit_c;
    hg_cli_list shape, dim, disable;
    int numerics;
    bool no_optimize, check, palettes;
    const char *dump_after, *report, *precompute, *calibrate, *emit_onnx;
    int quantize;
    double percentile, max_error;
    uint64_t max_memory, max_time;
} compile_args;

/* What the options point to while the library works. */
typedef struct compile_lists {
    holo_dim_setting *dim;
    holo_shape_setting *shape;
    int64_t (*shape_dim)[HOLO_MAX_RANK];
    char **text; /* cut copies of the names */
    size_t n_text;
    hg_cli_samples precompute, calibrate;
    hg_io_writer onnx; /* no file: none */
} compile_lists;

static void compile_lists_free(compile_lists *lists)
{
    for (size_t i = 0; i < lists->n_text; i++)
        free(lists->text[i]);
    free(lists->text);
    free(lists->dim);
    free(lists->shape);
    free(lists->shape_dim);
    hg_cli_samples_free(&lists->precompute);
    hg_cli_samples_free(&lists->calibrate);
    if (lists->onnx.file != NULL) hg_io_writer_abort(&lists->onnx);
}

/* NAME=4 or NAME<=4; the last separator counts, as names may hold '='. */
static int compile_parse_dim(const hg_cli *cli, char *text, const char *whole,
                             holo_dim_setting *out)
{
    char *equals = strrchr(text, '='), *end = NULL;
    int64_t value[HOLO_MAX_RANK];
    int32_t rank = 0;
    bool ok = equals != NULL && equals[1] != '\0' && hg_cli_parse_shape(equals + 1, value, &rank) &&
              rank == 1;
    bool at_most = ok && equals > text && equals[-1] == '<';
    if (ok) {
        end = at_most ? equals - 1 : equals;
        *end = '\0';
    }
    if (!ok || text[0] == '\0')
        return hg_cli_usage(cli, "compile", "--dim %s: expected for instance batch=1 or past<=2048",
                            whole);
    *out = (holo_dim_setting){text, value[0], at_most};
    return HG_CLI_OK;
}

static int compile_parse_shape(const hg_cli *cli, char *text, const char *whole, int64_t *dim,
                               holo_shape_setting *out)
{
    char *equals = strrchr(text, '=');
    int32_t rank = 0;
    if (equals == NULL || equals == text || !hg_cli_parse_shape(equals + 1, dim, &rank))
        return hg_cli_usage(cli, "compile", "--shape %s: expected for instance x=1x3x224x224",
                            whole);
    *equals = '\0';
    *out = (holo_shape_setting){text, dim, rank};
    return HG_CLI_OK;
}

static int compile_parse_lists(const hg_cli *cli, const compile_args *a, compile_lists *lists)
{
    size_t n = a->dim.count + a->shape.count;
    lists->dim = calloc(a->dim.count + 1, sizeof *lists->dim);
    lists->shape = calloc(a->shape.count + 1, sizeof *lists->shape);
    lists->shape_dim = calloc(a->shape.count + 1, sizeof *lists->shape_dim);
    lists->text = calloc(n + 1, sizeof *lists->text);
    if (lists->dim == NULL || lists->shape == NULL || lists->shape_dim == NULL ||
        lists->text == NULL)
        return hg_cli_error(cli, "out of memory");
    for (size_t i = 0; i < n; i++) {
        bool is_dim = i < a->dim.count;
        size_t k = is_dim ? i : i - a->dim.count;
        const char *whole = is_dim ? a->dim.item[k] : a->shape.item[k];
        char *text = strdup(whole);
        if (text == NULL) return hg_cli_error(cli, "out of memory");
        lists->text[lists->n_text++] = text;
        int code =
            is_dim ? compile_parse_dim(cli, text, whole, &lists->dim[k])
                   : compile_parse_shape(cli, text, whole, lists->shape_dim[k], &lists->shape[k]);
        if (code != HG_CLI_OK) return code;
    }
    int code = HG_CLI_OK;
    holo_error error = {0};
    if (a->precompute != NULL) code = hg_cli_samples_read(cli, a->precompute, &lists->precompute);
    if (code == HG_CLI_OK && a->calibrate != NULL)
        code = hg_cli_samples_read(cli, a->calibrate, &lists->calibrate);
    if (code == HG_CLI_OK && a->emit_onnx != NULL &&
        hg_io_writer_open(a->emit_onnx, &lists->onnx, &error) != HOLO_OK)
        code = hg_cli_fail(cli, &error);
    return code;
}

/* Where the table of errors goes, and how many layers it has. */
typedef struct compile_layers {
    FILE *out;
    uint64_t count, floats, measured; /* layers of codes, others; outputs */
} compile_layers;

/* A line of the table of errors; names of layers are cut in front, where they differ least. */
static void compile_layer(void *user, const holo_layer_report *l)
{
    compile_layers *layers = user;
    FILE *out = layers->out;
    layers->count += l->node != NULL && l->weights != 0;
    layers->floats += l->node != NULL && l->weights == 0;
    layers->measured += l->node == NULL && l->is_measured;
    const char *text = l->node != NULL ? l->node : l->name;
    char name[256];
    hg_cli_clean(text, name, sizeof name);
    const size_t n = strlen(name), cut = n > 44 ? n - 44 : 0;
    if (l->node != NULL)
        fprintf(out, "  %-44s %-7s %-15s %9" PRIu64 " %9.2e", name + cut, l->op, l->form,
                l->weights, l->weight_error);
    else
        fprintf(out, "  %-44s %-7s %-15s %9s %9s", name + cut, "output", "", "", "");
    if (l->is_measured && l->node == NULL)
        fprintf(out, " %9.2e %9.2e %9.2e, of the 5 largest %.2e\n", l->mean, l->max, l->relative,
                l->top);
    else if (l->is_measured)
        fprintf(out, " %9.2e %9.2e %9.2e\n", l->mean, l->max, l->relative);
    else
        fprintf(out, "         -         -         -\n");
}

static void compile_layer_head(FILE *out)
{
    fprintf(out, "  %-44s %-7s %-15s %9s %9s %9s %9s %9s\n", "layer", "", "form", "weights",
            "error", "mean", "max", "relative");
}

static void compile_layer_end(const compile_layers *layers, bool is_random)
{
    if (layers->count != 0 && is_random && layers->measured != 0)
        fprintf(layers->out, "  measured with one random input\n");
    if (layers->count == 0 && layers->floats != 0)
        fprintf(layers->out, "  nothing is quantised: convolutions stay floats in this mode\n");
    else if (layers->count == 0)
        fprintf(layers->out,
                "  nothing is quantised: no MatMul, Gemm or Conv has finite constant weights of "
                "float32, or of 16-bit floats with --numerics fast; codes stay what they are\n");
}

static bool compile_dump(void *user, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, user) == size;
}

static void compile_moved(FILE *out, const holo_compile_report *r)
{
    char before[32], after[32];
    if (r->moved_before == 0 && r->moved_after == 0)
        fprintf(out, "  moved    depends on data\n");
    else
        fprintf(out, "  moved    %s -> %s%s\n",
                hg_cli_size_text(r->moved_before, before, sizeof before),
                hg_cli_size_text(r->moved_after, after, sizeof after),
                r->arena_bound == 0 ? " (open sizes taken as 64)" : "");
    if (r->layers != 0)
        fprintf(out, "  layers   %" PRIu64 " times %" PRIu64 " nodes\n", r->layers, r->layer_nodes);
}

static void compile_print(FILE *out, const char *path, const holo_compile_report *r, double seconds)
{
    char text[32], bound[32];
    fprintf(out, "%s  %s\n", path, hg_cli_size_text(r->file_bytes, text, sizeof text));
    fprintf(out, "  nodes    %" PRIu64 " -> %" PRIu64 "\n", r->nodes_before, r->nodes_after);
    fprintf(out, "  steps    %" PRIu64 "\n", r->steps);
    fprintf(out, "  weights  %s, %" PRIu64 " tensors\n",
            hg_cli_size_text(r->weight_bytes, text, sizeof text), r->weight_tensors);
    fprintf(out, "  values   %" PRIu64 ", %" PRIu64 " distinct within their tensors\n",
            r->weight_values, r->distinct_values);
    if (r->arena_bytes == 0 && r->arena_bound == 0)
        fprintf(out, "  arena    depends on the sizes of the inputs\n");
    else
        fprintf(out, "  arena    %s (at least %s)\n",
                hg_cli_size_text(r->arena_bytes, text, sizeof text),
                hg_cli_size_text(r->arena_bound, bound, sizeof bound));
    compile_moved(out, r);
    fprintf(out, "  tables   %" PRIu64 "\n", r->tables);
    if (r->memo_entries != 0) fprintf(out, "  memo     %" PRIu64 " answers\n", r->memo_entries);
    fprintf(out, "  time     %s\n", hg_cli_time_text(seconds, text, sizeof text));
}

static int compile_write_report(const hg_cli *cli, const char *model_path, const char *path)
{
    holo_model *model;
    hg_io_writer writer;
    holo_error error = {0};
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    open.extra = hg_cli_extra();
    if (holo_model_open_file(model_path, holo_kernels_all(), &open, &model, &error) != HOLO_OK)
        return hg_cli_fail(cli, &error);
    holo_status status = hg_io_writer_open(path, &writer, &error);
    if (status == HOLO_OK) {
        status = holo_model_inspect(model, HOLO_INSPECT_HTML, hg_io_writer_sink, &writer, &error);
        status = hg_io_writer_why(&writer, status, &error);
        if (status == HOLO_OK)
            status = hg_io_writer_commit(&writer, &error);
        else
            hg_io_writer_abort(&writer);
    }
    holo_model_free(model);
    return status == HOLO_OK ? HG_CLI_OK : hg_cli_fail(cli, &error);
}

/* The model as C, from a compile of its own: tuned kernels have no C. */
static holo_status compile_emit_c(const hg_cli *cli, const char *path,
                                  holo_compile_options *options, holo_error *error)
{
    holo_model *model = NULL;
    hg_io_writer writer;
    void *data = NULL;
    size_t size = 0;
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    char *symbol = hg_cli_symbol(path);
    if (symbol == NULL) return HOLO_E_NOMEM;
    options->flags |= HOLO_COMPILE_PLAIN;
    open.extra = options->extra;
    holo_status status =
        holo_compile_file_to_memory(cli->operand[0], options, &data, &size, NULL, error);
    if (status == HOLO_OK)
        status = holo_model_open_memory(data, size, holo_kernels_all(), &open, &model, error);
    if (status == HOLO_OK) status = hg_io_writer_open(path, &writer, error);
    if (status == HOLO_OK) {
        status = holo_model_emit_c(model, 0, symbol, hg_io_writer_sink, &writer, error);
        status = hg_io_writer_why(&writer, status, error);
        if (status == HOLO_OK)
            status = hg_io_writer_commit(&writer, error);
        else
            hg_io_writer_abort(&writer);
    }
    holo_model_free(model);
    holo_buffer_free(options->allocator, data, size);
    free(symbol);
    return status;
}

/* Without -o, for --check and --dump-after alone: nothing is written. */
static holo_status compile_to_nothing(const hg_cli *cli, holo_compile_options *options,
                                      holo_compile_report *report, holo_error *error)
{
    for (size_t i = 0; i < cli->n_operand; i++) {
        void *data = NULL;
        size_t size = 0;
        holo_status status =
            holo_compile_file_to_memory(cli->operand[i], options, &data, &size, report, error);
        if (data != NULL) holo_buffer_free(options->allocator, data, size);
        if (status != HOLO_OK) return status;
    }
    return HOLO_OK;
}

static holo_status compile_all(const hg_cli *cli, const compile_args *a,
                               holo_compile_options *options, holo_compile_report *report,
                               holo_error *error)
{
    holo_status status = HOLO_OK;
    if (a->check || (a->output == NULL && a->emit_c == NULL))
        return compile_to_nothing(cli, options, report, error);
    if (a->output != NULL)
        status =
            holo_compile_files(cli->operand, cli->n_operand, a->output, options, report, error);
    if (status != HOLO_OK || a->emit_c == NULL) return status;
    if (a->output != NULL) { /* it has said and written everything */
        options->log = NULL;
        options->layer = NULL;
        options->emit = NULL;
    }
    return compile_emit_c(cli, a->emit_c, options, error);
}

static int compile_check_usage(const hg_cli *cli, const compile_args *a)
{
    if (a->output == NULL && !a->check && a->dump_after == NULL && a->emit_c == NULL &&
        a->emit_onnx == NULL)
        return hg_cli_usage(cli, "compile", "compile needs -o OUT.holo");
    if (a->emit_c != NULL && cli->n_operand != 1)
        return hg_cli_usage(cli, "compile", "--emit-c writes one model, %zu were given",
                            cli->n_operand);
    const char *const made[] = {a->output, a->emit_c, a->emit_onnx, a->report};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        for (size_t k = 0; made[i] != NULL && k < cli->n_operand; k++)
            if (hg_io_is_same_file(made[i], cli->operand[k]))
                return hg_cli_usage(cli, "compile", "%s is the model itself: write to another file",
                                    made[i]);
    if (a->report != NULL && (a->output == NULL || a->check))
        return hg_cli_usage(cli, "compile",
                            "--report needs a compiled file: give -o and leave out --check");
    return HG_CLI_OK;
}

static int compile_finish(const hg_cli *cli, const compile_args *a,
                          const holo_compile_report *report, double seconds)
{
    if (a->check) {
        if (!cli->quiet) puts("every operator and type is supported");
        return HG_CLI_OK;
    }
    if (a->output == NULL) return HG_CLI_OK;
    if (!cli->quiet)
        compile_print(a->dump_after != NULL ? stderr : stdout, a->output, report, seconds);
    return a->report != NULL ? compile_write_report(cli, a->output, a->report) : HG_CLI_OK;
}

static int compile_run(const hg_cli *cli, const void *args)
{
    const compile_args *a = args;
    compile_lists lists = {0};
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_compile_report report = {0};
    holo_error error = {0};
    int code = compile_check_usage(cli, a);
    if (code == HG_CLI_OK) code = compile_parse_lists(cli, a, &lists);
    if (code != HG_CLI_OK) {
        compile_lists_free(&lists);
        return code;
    }
    hg_cli_progress progress = hg_cli_progress_start(cli);
    hg_cli_log log = {.cli = cli, .is_immediate = a->check};
    options.flags = (a->no_optimize ? (uint32_t)HOLO_COMPILE_NO_OPTIMIZE : 0) |
                    (a->palettes ? (uint32_t)HOLO_COMPILE_PALETTES : 0) |
                    (a->check ? (uint32_t)HOLO_COMPILE_CHECK_ONLY : 0);
    options.numerics = a->numerics == 0 ? HOLO_FAST : HOLO_EXACT;
    options.dims = lists.dim;
    options.n_dims = a->dim.count;
    options.shapes = lists.shape;
    options.n_shapes = a->shape.count;
    options.disable = a->disable.item;
    options.n_disable = a->disable.count;
    options.dump_after = a->dump_after;
    options.dump = a->dump_after != NULL ? compile_dump : NULL;
    options.dump_user = stdout;
    options.log = hg_cli_log_add;
    options.log_user = &log;
    options.progress = hg_cli_progress_step;
    options.progress_user = &progress;
    options.limits.memory_bytes = a->max_memory;
    options.limits.run_ms = a->max_time;
    options.extra = hg_cli_extra();
    options.precompute = lists.precompute.sample;
    options.n_precompute = lists.precompute.count;
    options.quantize = (holo_quantize)a->quantize;
    options.calibrate = lists.calibrate.sample;
    options.n_calibrate = lists.calibrate.count;
    options.percentile = a->percentile;
    options.max_error = a->max_error;
    options.layer = cli->quiet ? NULL : compile_layer;
    compile_layers layers = {.out = a->dump_after != NULL ? stderr : stdout};
    options.layer_user = &layers;
    options.emit = a->emit_onnx != NULL ? hg_io_writer_sink : NULL;
    options.emit_user = &lists.onnx;
    if (options.layer != NULL && a->quantize != 0) compile_layer_head(layers.out);
    double start = hg_cli_now();
    holo_status status = compile_all(cli, a, &options, &report, &error);
    double seconds = hg_cli_now() - start;
    hg_cli_progress_end(&progress);
    if (status == HOLO_OK && options.layer != NULL && a->quantize != 0)
        compile_layer_end(&layers, a->calibrate == NULL);
    if (a->emit_onnx != NULL) status = hg_io_writer_why(&lists.onnx, status, &error);
    if (status == HOLO_OK && a->emit_onnx != NULL) {
        status = hg_io_writer_commit(&lists.onnx, &error);
        lists.onnx.file = NULL;
    }
    compile_lists_free(&lists);
    if (status != HOLO_OK) return hg_cli_fail(cli, &error);
    hg_cli_log_flush(&log);
    return compile_finish(cli, a, &report, seconds);
}

/* clang-format off */
static const hg_cli_option compile_options[] = {
    {"output", 'o', HG_CLI_TEXT, "OUT.holo", "the file to write", offsetof(compile_args, output)},
    {"shape", 0, HG_CLI_LIST, "NAME=1x3x224x224", "fix the shape of an input", offsetof(compile_args, shape)},
    {"dim", 0, HG_CLI_LIST, "batch=1|past<=2048", "fix or bound a symbolic dimension", offsetof(compile_args, dim)},
    {"numerics", 0, HG_CLI_CHOICE, "fast|exact", "exact: the same bits on every machine", offsetof(compile_args, numerics)},
    {"no-optimize", 0, HG_CLI_FLAG, NULL, "only what is needed to run", offsetof(compile_args, no_optimize)},
    {"disable", 0, HG_CLI_LIST, "PASS", "leave out a pass (see: hologram passes)", offsetof(compile_args, disable)},
    {"dump-after", 0, HG_CLI_TEXT, "PASS", "print the graph after a pass, import or all", offsetof(compile_args, dump_after)},
    {"check", 0, HG_CLI_FLAG, NULL, "write nothing, list everything unsupported", offsetof(compile_args, check)},
    {"max-memory", 0, HG_CLI_SIZE, "SIZE", "stop above this much memory, for instance 2G", offsetof(compile_args, max_memory)},
    {"emit-c", 0, HG_CLI_TEXT, "OUT.c", "write the model as one C file without dependencies", offsetof(compile_args, emit_c)},
    {"max-time", 0, HG_CLI_COUNT, "MS", "stop after so many milliseconds", offsetof(compile_args, max_time)},
    {"quantize", 0, HG_CLI_CHOICE, "none|int8|int4|int2|ternary|q96|int3|binary|nf4|mxfp4|palette", "weights as codes; prints what it costs", offsetof(compile_args, quantize)},
    {"calibrate", 0, HG_CLI_TEXT, "DIR", "inputs that show the ranges: activations as codes too", offsetof(compile_args, calibrate)},
    {"percentile", 0, HG_CLI_NUMBER, "P", "of values that a range must hold (those with the least error)", offsetof(compile_args, percentile)},
    {"max-error", 0, HG_CLI_NUMBER, "E", "of outputs, relative: sensitive layers are finer or floats (0.01)", offsetof(compile_args, max_error)},
    {"emit-onnx", 0, HG_CLI_TEXT, "FILE.onnx", "write the quantised graph as ONNX too", offsetof(compile_args, emit_onnx)},
    {"palettes", 0, HG_CLI_FLAG, NULL, "weights of few different values as these and codes: smaller, slower", offsetof(compile_args, palettes)},
    {"precompute", 0, HG_CLI_TEXT, "DIR", "run these inputs now and store the answers", offsetof(compile_args, precompute)},
    {"report", 0, HG_CLI_TEXT, "FILE.html", "write a page about the result", offsetof(compile_args, report)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_compile = {
    .name = "compile",
    .operands = "MODEL.onnx...",
    .least = 1,
    .most = UINT32_MAX,
    .brief = "Compile models into one .holo file.",
    .details =
        "Several models become several graphs of one file and share equal weights; "
        "'hologram run FILE:GRAPH' picks one, named after its model. The same input and options "
        "give the same bytes.",
    .example = "hologram compile resnet50.onnx -o resnet50.holo --dim N=1\n"
               "hologram compile model.onnx --check\n"
               "hologram compile digits.onnx --dim N=1 --emit-c digits.c",
    .files = "onnx",
    .options = compile_options,
    .args_size = sizeof(compile_args),
    .run = compile_run,
};
