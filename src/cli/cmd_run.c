/* cmd_run.c - hologram run: one model, given or random inputs, a summary and files of the outputs.
 */
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/model.h"
#include "cli/values.h"

#include "io/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_args {
    hg_cli_input_options in;
    const char *output_dir, *dump_values;
    uint64_t threads, repeat, max_memory, max_time, memo;
    bool reference, no_avx512, no_optimize, no_memo;
} run_args;

static const run_args run_defaults = {.in = {.seed = HG_FILL_SEED}, .threads = 1, .repeat = 1};

/* Values seen by the trace are written at once; the first failure is kept for the end. */
typedef struct run_dump {
    const hg_cli *cli;
    const char *folder;
    uint64_t count;
    int code;
} run_dump;

static void run_trace(void *user, const holo_step_info *step)
{
    run_dump *d = user;
    for (uint32_t i = 0; i < step->n_outputs && d->code == HG_CLI_OK; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "%05" PRIu64, d->count++);
        const char *name = step->output_names[i];
        if (name == NULL || name[0] == '\0') name = step->node != NULL ? step->node : "";
        d->code = hg_cli_write_value(d->cli, d->folder, prefix, name, &step->outputs[i]);
    }
}

static int run_outputs(const hg_cli *cli, const run_args *a, const hg_cli_model *m,
                       const holo_session *session)
{
    holo_error error = {0};
    bool piped = a->output_dir != NULL && strcmp(a->output_dir, "-") == 0;
    uint32_t n = holo_model_output_count(m->model, m->graph);
    for (uint32_t i = 0; i < n; i++) {
        holo_port port;
        holo_tensor value;
        char prefix[16];
        if (holo_model_output(m->model, m->graph, i, &port) != HOLO_OK)
            return hg_cli_error(cli, "output %u cannot be described", i);
        if (holo_session_output(session, i, &value, &error) != HOLO_OK)
            return hg_cli_fail(cli, &error);
        if (!(piped && cli->quiet)) hg_cli_print_value(piped ? stderr : stdout, port.name, &value);
        snprintf(prefix, sizeof prefix, "%u", i);
        if (a->output_dir == NULL) continue;
        int code = hg_cli_write_value(cli, a->output_dir, prefix, port.name, &value);
        if (code != HG_CLI_OK) return code;
    }
    return HG_CLI_OK;
}

static int run_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int run_times(const hg_cli *cli, const run_args *a, const hg_cli_model *m,
                     hg_cli_inputs *inputs, holo_session *session)
{
    holo_error error = {0};
    uint64_t n = a->repeat == 0 ? 1 : a->repeat;
    double *seconds = n > 1000000 ? NULL : calloc(n, sizeof *seconds);
    char least[32], middle[32];
    if (seconds == NULL) return hg_cli_error(cli, "--repeat %" PRIu64 " is too many", n);
    int code = HG_CLI_OK;
    for (uint64_t i = 0; i < n && code == HG_CLI_OK; i++) {
        code = hg_cli_inputs_vary(cli, m->model, m->graph, &a->in, i, inputs);
        if (code != HG_CLI_OK) break;
        double start = hg_cli_now();
        /* A signal during the last step finds nothing left to cancel, so it is looked at as well.
         */
        if (holo_session_run(session, &error) != HOLO_OK || hg_cli_interrupted() != 0)
            code = hg_cli_fail(cli, &error);
        seconds[i] = hg_cli_now() - start;
    }
    if (code == HG_CLI_OK && (n > 1 || cli->verbose)) {
        qsort(seconds, n, sizeof *seconds, run_by_value);
        hg_cli_note(cli, "%" PRIu64 " runs, min %s, median %s", n,
                    hg_cli_time_text(seconds[0], least, sizeof least),
                    hg_cli_time_text(seconds[n / 2], middle, sizeof middle));
    }
    free(seconds);
    return code;
}

/* A memo that was asked for, or that the file carries. Values of a run that is answered by one
 * cannot be dumped. */
static int run_memo(const hg_cli *cli, const run_args *a, const hg_cli_model *m, holo_memo **out)
{
    holo_memo_options options = HOLO_MEMO_OPTIONS_INIT;
    holo_memo_stats stats = {0};
    holo_error error = {0};
    *out = NULL;
    if (a->no_memo || a->dump_values != NULL) return HG_CLI_OK;
    options.graph = m->graph;
    options.memory_bytes = (size_t)a->memo;
    if (holo_memo_new(m->model, &options, out, &error) != HOLO_OK)
        return a->memo == 0 ? HG_CLI_OK : hg_cli_fail(cli, &error);
    holo_memo_get_stats(*out, &stats);
    if (a->memo == 0 && stats.precomputed == 0) {
        holo_memo_free(*out);
        *out = NULL;
    }
    return HG_CLI_OK;
}

static void run_memo_end(const hg_cli *cli, holo_memo *memo)
{
    holo_memo_stats s;
    char used[32], all[32];
    if (memo == NULL) return;
    holo_memo_get_stats(memo, &s);
    hg_cli_note(cli,
                "memo: %" PRIu64 " hits, %" PRIu64 " misses; %" PRIu64 " precomputed, %" PRIu64
                " kept (%" PRIu64 " evicted, %" PRIu64 " too large), %s of %s",
                s.hits, s.misses, s.precomputed, s.entries, s.evicted, s.too_large,
                hg_cli_size_text(s.bytes, used, sizeof used),
                hg_cli_size_text(s.capacity, all, sizeof all));
    if (s.prefix_hits + s.prefix_misses != 0)
        hg_cli_note(cli,
                    "memo of prefixes: %" PRIu64 " hits, %" PRIu64 " misses; %" PRIu64
                    " parts of a run depend on some inputs only and pay",
                    s.prefix_hits, s.prefix_misses, s.prefixes);
    holo_memo_free(memo);
}

static int run_session(const hg_cli *cli, const run_args *a, const hg_cli_model *m,
                       hg_cli_inputs *inputs, holo_pool *pool)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session *session;
    holo_error error = {0};
    run_dump dump = {cli, a->dump_values, 0, HG_CLI_OK};
    options.flags = HOLO_SESSION_GROW;
    options.graph = m->graph;
    options.pool = pool;
    options.limits.memory_bytes = a->max_memory;
    options.limits.run_ms = a->max_time;
    if (a->dump_values != NULL) {
        options.trace = run_trace;
        options.trace_user = &dump;
    }
    int code = run_memo(cli, a, m, &options.memo);
    if (code != HG_CLI_OK) return code;
    if (holo_session_new(m->model, &options, &session, &error) != HOLO_OK) {
        holo_memo_free(options.memo);
        return hg_cli_fail(cli, &error);
    }
    code = hg_cli_inputs_bind(cli, inputs, session);
    hg_cli_watch(session);
    if (code == HG_CLI_OK) code = run_times(cli, a, m, inputs, session);
    hg_cli_watch(NULL);
    if (code == HG_CLI_OK) code = dump.code;
    if (code == HG_CLI_OK && a->dump_values != NULL)
        hg_cli_note(cli, "%" PRIu64 " values in %s", dump.count, a->dump_values);
    if (code == HG_CLI_OK) code = run_outputs(cli, a, m, session);
    holo_session_free(session);
    run_memo_end(cli, options.memo);
    return code;
}

static int run_folders(const hg_cli *cli, const run_args *a)
{
    holo_error error = {0};
    if (a->output_dir != NULL && strcmp(a->output_dir, "-") != 0 &&
        hg_io_make_folder(a->output_dir, &error) != HOLO_OK)
        return hg_cli_fail(cli, &error);
    if (a->dump_values != NULL && hg_io_make_folder(a->dump_values, &error) != HOLO_OK)
        return hg_cli_fail(cli, &error);
    return HG_CLI_OK;
}

static int run_run(const hg_cli *cli, const void *args)
{
    const run_args *a = args;
    hg_cli_model_options how = {.limits = {.memory_bytes = a->max_memory, .run_ms = a->max_time}};
    hg_cli_model m;
    hg_cli_inputs inputs = {0};
    holo_pool *pool = NULL;
    if (a->dump_values != NULL && a->repeat > 1)
        return hg_cli_usage(cli, "run", "--dump-values and --repeat do not go together");
    if (a->dump_values != NULL) how.compile_flags |= HOLO_COMPILE_KEEP_VALUES;
    if (a->no_optimize) how.compile_flags |= HOLO_COMPILE_NO_OPTIMIZE;
    if (a->reference) how.open_flags |= HOLO_OPEN_REFERENCE;
    if (a->no_avx512) how.open_flags |= HOLO_OPEN_NO_AVX512;
    int code = hg_cli_model_open(cli, cli->operand[0], &how, &m);
    if (code != HG_CLI_OK) return code;
    code = hg_cli_inputs_make(cli, m.model, m.graph, &a->in, &inputs);
    if (code == HG_CLI_OK) code = run_folders(cli, a);
    if (code == HG_CLI_OK) code = hg_cli_pool_new(cli, a->threads, &pool);
    if (code == HG_CLI_OK) code = run_session(cli, a, &m, &inputs, pool);
    if (pool != NULL) holo_pool_free(pool);
    hg_cli_inputs_free(&inputs);
    hg_cli_model_close(&m);
    return code;
}

/* clang-format off */
static const hg_cli_option run_options[] = {
    {"input", 0, HG_CLI_LIST, "NAME=FILE|random", "an input: .npy, .pb, .png, - or a fill", offsetof(run_args, in.input)},
    {"vary", 0, HG_CLI_LIST, "NAME=FILL|random", "an input with other numbers in each run of --repeat", offsetof(run_args, in.vary)},
    {"mean", 0, HG_CLI_TEXT, "R,G,B", "of a .png: (value / 255 - mean) / scale", offsetof(run_args, in.mean)},
    {"scale", 0, HG_CLI_TEXT, "R,G,B", "of a .png, see --mean", offsetof(run_args, in.scale)},
    {"seed", 0, HG_CLI_COUNT, "N", "of random inputs (12345)", offsetof(run_args, in.seed)},
    {"dim", 0, HG_CLI_LIST, "NAME=4", "size of a symbolic dimension of random inputs (1)", offsetof(run_args, in.dim)},
    {"shape", 0, HG_CLI_LIST, "NAME=1x3", "shape of a random input", offsetof(run_args, in.shape)},
    {"output-dir", 0, HG_CLI_TEXT, "DIR", "write outputs as DIR/<index>_<name>.npy; - for stdout", offsetof(run_args, output_dir)},
    {"threads", 0, HG_CLI_COUNT, "N", "threads (1)", offsetof(run_args, threads)},
    {"repeat", 0, HG_CLI_COUNT, "N", "run N times and print the times", offsetof(run_args, repeat)},
    {"dump-values", 0, HG_CLI_TEXT, "DIR", "write every intermediate value as .npy", offsetof(run_args, dump_values)},
    {"no-optimize", 0, HG_CLI_FLAG, NULL, "compile an .onnx file without optimising", offsetof(run_args, no_optimize)},
    {"reference", 0, HG_CLI_FLAG, NULL, "use the portable kernels only", offsetof(run_args, reference)},
    {"no-avx512", 0, HG_CLI_FLAG, NULL, "use kernels for AVX2 where AVX-512 is there too", offsetof(run_args, no_avx512)},
    {"max-memory", 0, HG_CLI_SIZE, "SIZE", "stop above this much memory", offsetof(run_args, max_memory)},
    {"memo", 0, HG_CLI_SIZE, "SIZE", "keep answers of runs in this much memory", offsetof(run_args, memo)},
    {"no-memo", 0, HG_CLI_FLAG, NULL, "compute even what the file carries", offsetof(run_args, no_memo)},
    {"max-time", 0, HG_CLI_COUNT, "MS", "stop a compile or a run after so many milliseconds", offsetof(run_args, max_time)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_run = {
    .name = "run",
    .operands = "FILE[:GRAPH]",
    .least = 1,
    .most = 1,
    .brief = "Run a model once and print its outputs.",
    .details =
        "FILE is a .holo file, or an .onnx file that is compiled in memory. Inputs that are not "
        "given "
        "are random: floats in [-1, 1), bytes over their range, other integers 0 or 1; symbolic "
        "dimensions are 1. A fill is random, rand, rand01, int=N, const=V or iota. A picture "
        "becomes "
        "float [1, 3, H, W], or [1, H, W, 3] where the input's last dimension is 3.",
    .example = "hologram run resnet50.holo --input data=cat.png --mean 0.485,0.456,0.406 "
               "--scale 0.229,0.224,0.225 --output-dir out\n"
               "hologram run model.onnx --dim batch=4",
    .files = "holo onnx",
    .options = run_options,
    .args_size = sizeof(run_args),
    .defaults = &run_defaults,
    .run = run_run,
};
