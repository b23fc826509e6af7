/* cmd_bench.c - hologram bench: how long opening, preparing and running take. */
#include "cli/caches.h"
#include "cli/commands.h"
#include "cli/model.h"
#include "cli/profile.h"
#include "cli/same.h"

#include "io/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BENCH_OPENS = 9, BENCH_MIN_RUNS = 3, BENCH_MAX_RUNS = 100000, BENCH_PROFILE_RUNS = 5 };

typedef struct bench_args {
    hg_cli_input_options in;
    hg_cli_list cache;
    uint64_t threads, same;
    double budget_ms;
    bool cold, profile, json, reference, no_avx512, no_optimize;
} bench_args;

static const bench_args bench_defaults = {
    .in = {.seed = HG_FILL_SEED}, .threads = 1, .budget_ms = 1500};

/* Seconds, unless the name says otherwise. */
typedef struct bench_result {
    double open, session, pool, prepare, first, median, least;
    uint64_t n;
    holo_session_stats stats;
    double peak_rss_mb;
} bench_result;

typedef struct bench {
    const hg_cli *cli;
    const bench_args *args;
    hg_cli_model model;
    hg_cli_inputs inputs;
    hg_cli_caches caches;
    holo_pool *pool;
    holo_session *session;
    bench_result result;
} bench;

static int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What Linux says of this program; getrusage would count the program that started it too. */
static double bench_peak_rss_mb(void)
{
    struct rusage usage;
    char line[128];
    unsigned long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && kib == 0 && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) kib = strtoul(line + 6, NULL, 10);
    if (status != NULL) (void)fclose(status);
    if (kib != 0) return (double)kib / 1024.0;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (double)usage.ru_maxrss / 1024.0; /* KiB on Linux */
}

/* The median of some openings: the first one also pays for touching code pages. */
static int bench_open(bench *b, const hg_cli_model_options *how)
{
    double seconds[BENCH_OPENS];
    for (int i = 0; i < BENCH_OPENS; i++) {
        holo_model *model;
        holo_error error = {0};
        double start = hg_cli_now();
        if (hg_cli_model_reopen(&b->model, how, &model, &error) != HOLO_OK)
            return hg_cli_fail(b->cli, &error);
        seconds[i] = hg_cli_now() - start;
        holo_model_free(model);
    }
    qsort(seconds, BENCH_OPENS, sizeof *seconds, bench_by_value);
    b->result.open = seconds[BENCH_OPENS / 2];
    return HG_CLI_OK;
}

static int bench_session_new(bench *b, holo_trace_fn trace, void *trace_user, holo_session **out)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_error error = {0};
    options.flags = HOLO_SESSION_GROW;
    options.graph = b->model.graph;
    options.pool = b->pool;
    options.trace = trace;
    options.trace_user = trace_user;
    if (holo_session_new(b->model.model, &options, out, &error) != HOLO_OK)
        return hg_cli_fail(b->cli, &error);
    return HG_CLI_OK;
}

static int bench_bind(const bench *b, holo_session *session)
{
    const int code = hg_cli_inputs_bind(b->cli, &b->inputs, session);
    return code == HG_CLI_OK ? hg_cli_caches_bind(b->cli, &b->caches, session) : code;
}

static int bench_first(bench *b, holo_session *session)
{
    holo_error error = {0};
    const double start = hg_cli_now();
    if (holo_session_run(session, &error) != HOLO_OK) return hg_cli_fail(b->cli, &error);
    b->result.first = hg_cli_now() - start;
    return HG_CLI_OK;
}

static int bench_runs(bench *b, holo_session *session)
{
    holo_error error = {0};
    double *seconds = malloc(BENCH_MAX_RUNS * sizeof *seconds), begin = hg_cli_now();
    if (seconds == NULL) return hg_cli_error(b->cli, "out of memory");
    int code = HG_CLI_OK;
    uint64_t n = 0;
    while (code == HG_CLI_OK && n < BENCH_MAX_RUNS &&
           (n < BENCH_MIN_RUNS || (hg_cli_now() - begin) * 1e3 < b->args->budget_ms)) {
        const double start = hg_cli_now();
        /* A signal during the last step finds nothing left to cancel, so it is looked at as well.
         */
        if (holo_session_run(session, &error) != HOLO_OK || hg_cli_interrupted() != 0)
            code = hg_cli_fail(b->cli, &error);
        seconds[n++] = hg_cli_now() - start;
    }
    if (code == HG_CLI_OK) {
        qsort(seconds, n, sizeof *seconds, bench_by_value);
        b->result.n = n;
        b->result.median = seconds[n / 2];
        b->result.least = seconds[0];
    }
    free(seconds);
    return code;
}

/* The session stays until the caller has said what was found: giving memory back takes time. */
static int bench_measure(bench *b)
{
    holo_error error = {0};
    double start = hg_cli_now();
    int code = hg_cli_pool_new(b->cli, b->args->threads, &b->pool);
    if (code != HG_CLI_OK) return code;
    b->result.pool = hg_cli_now() - start;
    start = hg_cli_now();
    code = bench_session_new(b, NULL, NULL, &b->session);
    if (code != HG_CLI_OK) return code;
    b->result.session = hg_cli_now() - start;
    code = bench_bind(b, b->session);
    start = hg_cli_now();
    if (code == HG_CLI_OK && holo_session_prepare(b->session, &error) != HOLO_OK)
        code = hg_cli_fail(b->cli, &error);
    b->result.prepare = hg_cli_now() - start;
    hg_cli_watch(b->session);
    if (code == HG_CLI_OK) code = bench_first(b, b->session);
    if (code == HG_CLI_OK && !b->args->cold) code = bench_runs(b, b->session);
    hg_cli_watch(NULL);
    holo_session_get_stats(b->session, &b->result.stats);
    b->result.peak_rss_mb = bench_peak_rss_mb();
    return code;
}

static int bench_profile(bench *b)
{
    hg_cli_profile profile = {0};
    holo_session *session;
    holo_error error = {0};
    int code = bench_session_new(b, hg_cli_profile_trace, &profile, &session);
    if (code != HG_CLI_OK) return code;
    code = bench_bind(b, session);
    hg_cli_watch(session);
    for (int i = 0; code == HG_CLI_OK && i <= BENCH_PROFILE_RUNS; i++) {
        if (i == 1) hg_cli_profile_free(&profile); /* the first run pays for page faults */
        if (holo_session_run(session, &error) != HOLO_OK || hg_cli_interrupted() != 0)
            code = hg_cli_fail(b->cli, &error);
    }
    hg_cli_watch(NULL);
    profile.runs = BENCH_PROFILE_RUNS;
    if (code == HG_CLI_OK) profile.peak = hg_cli_peak_measure((int)b->args->threads);
    if (code == HG_CLI_OK && profile.failed) code = hg_cli_error(b->cli, "out of memory");
    /* One object and nothing else on standard output with --json. */
    if (code == HG_CLI_OK) hg_cli_profile_print(b->args->json ? stderr : stdout, &profile);
    hg_cli_profile_free(&profile);
    holo_session_free(session);
    return code;
}

static void bench_print_json(const bench_result *r)
{
    hg_io_json json = {.out = stdout};
    const struct {
        const char *key;
        double value;
        int decimals;
        bool repeated; /* --cold does not measure it */
    } fields[] = {
        {"open_us", r->open * 1e6, 2, true},
        {"session_us", r->session * 1e6, 2, false},
        {"pool_us", r->pool * 1e6, 2, false},
        {"prepare_us", r->prepare * 1e6, 2, false},
        {"first_ms", r->first * 1e3, 4, false},
        {"median_ms", r->median * 1e3, 4, true},
        {"min_ms", r->least * 1e3, 4, true},
        {"n", (double)r->n, 0, true},
        {"arena_bytes", (double)r->stats.arena_bytes, 0, false},
        {"weight_bytes", (double)r->stats.weight_bytes, 0, false},
        {"peak_rss_mb", r->peak_rss_mb, 1, false},
        {"threads", (double)r->stats.threads, 0, false},
        {"steps", (double)r->stats.steps, 0, false},
    };
    hg_io_json_object(&json);
    for (size_t i = 0; i < HG_COUNT(fields); i++) {
        if (fields[i].repeated && r->n == 0) continue;
        hg_io_json_key(&json, fields[i].key);
        hg_io_json_number(&json, fields[i].value, fields[i].decimals);
    }
    hg_io_json_close(&json, '}');
    putchar('\n');
}

static void bench_print_time(const char *label, double seconds)
{
    char text[32];
    printf("%-9s %s\n", label, hg_cli_time_text(seconds, text, sizeof text));
}

static void bench_print_size(const char *label, uint64_t bytes)
{
    char text[32];
    printf("%-9s %s\n", label, hg_cli_size_text(bytes, text, sizeof text));
}

static void bench_print_text(const bench_result *r)
{
    if (r->n != 0) bench_print_time("open", r->open);
    bench_print_time("session", r->session);
    bench_print_time("pool", r->pool);
    bench_print_time("prepare", r->prepare);
    bench_print_time("first", r->first);
    if (r->n != 0) {
        bench_print_time("median", r->median);
        bench_print_time("min", r->least);
        printf("%-9s %" PRIu64 "\n", "runs", r->n);
    }
    bench_print_size("arena", r->stats.arena_bytes);
    bench_print_size("bound", r->stats.arena_bound);
    bench_print_size("late", r->stats.late_bytes);
    bench_print_size("scratch", r->stats.scratch_bytes);
    bench_print_size("weights", r->stats.weight_bytes);
    bench_print_size("peak rss", (uint64_t)(r->peak_rss_mb * 1048576));
    printf("%-9s %u\n%-9s %u\n", "threads", r->stats.threads, "steps", r->stats.steps);
}

static int bench_all(bench *b, const hg_cli_model_options *how)
{
    if (b->args->same != 0) return hg_cli_same(b->cli, &b->model, &b->inputs, b->args->same);
    int code = hg_cli_caches_make(b->cli, b->model.model, b->model.graph, &b->args->cache,
                                  &b->inputs, &b->caches);
    if (code == HG_CLI_OK && !b->args->cold) code = bench_open(b, how);
    if (code == HG_CLI_OK) code = bench_measure(b);
    if (code == HG_CLI_OK && b->args->json)
        bench_print_json(&b->result);
    else if (code == HG_CLI_OK)
        bench_print_text(&b->result);
    (void)fflush(stdout); /* whoever times --cold waits for it, not for the end of the process */
    holo_session_free(b->session);
    if (code == HG_CLI_OK && b->args->profile) code = bench_profile(b);
    return code;
}

static int bench_run(const hg_cli *cli, const void *args)
{
    bench b = {.cli = cli, .args = args};
    hg_cli_model_options how = {0};
    if (b.args->same != 0 && b.args->cache.count != 0)
        return hg_cli_usage(cli, "bench", "--same takes no --cache");
    if (b.args->cold && (b.args->same != 0 || b.args->profile))
        return hg_cli_usage(cli, "bench", "--cold takes neither --same nor --profile");
    if (b.args->reference) how.open_flags |= HOLO_OPEN_REFERENCE;
    if (b.args->no_avx512) how.open_flags |= HOLO_OPEN_NO_AVX512;
    if (b.args->no_optimize) how.compile_flags |= HOLO_COMPILE_NO_OPTIMIZE;
    int code = hg_cli_model_open(cli, cli->operand[0], &how, &b.model);
    if (code != HG_CLI_OK) return code;
    code = hg_cli_inputs_make(cli, b.model.model, b.model.graph, &b.args->in, &b.inputs);
    if (code == HG_CLI_OK) code = bench_all(&b, &how);
    if (b.pool != NULL) holo_pool_free(b.pool);
    hg_cli_caches_free(&b.caches);
    hg_cli_inputs_free(&b.inputs);
    hg_cli_model_close(&b.model);
    return code;
}

/* clang-format off */
static const hg_cli_option bench_options[] = {
    {"inputs", 0, HG_CLI_TEXT, "'name:dtype:dims:fill;...'", "all inputs (random without)", offsetof(bench_args, in.inputs)},
    {"dim", 0, HG_CLI_LIST, "NAME=4", "size of a symbolic dimension of random inputs (1)", offsetof(bench_args, in.dim)},
    {"shape", 0, HG_CLI_LIST, "NAME=1x3", "shape of a random input", offsetof(bench_args, in.shape)},
    {"seed", 0, HG_CLI_COUNT, "N", "of random inputs (12345)", offsetof(bench_args, in.seed)},
    {"cache", 0, HG_CLI_LIST, "PAST=PRESENT", "input and the output that continues it as one buffer; * is any text", offsetof(bench_args, cache)},
    {"threads", 0, HG_CLI_COUNT, "N", "threads (1)", offsetof(bench_args, threads)},
    {"budget-ms", 0, HG_CLI_NUMBER, "N", "measure for so long, at least 3 runs (1500)", offsetof(bench_args, budget_ms)},
    {"cold", 0, HG_CLI_FLAG, NULL, "stop after the first run: the whole process can be timed from outside", offsetof(bench_args, cold)},
    {"profile", 0, HG_CLI_FLAG, NULL, "print time and share of peak, per step and per kernel", offsetof(bench_args, profile)},
    {"same", 0, HG_CLI_COUNT, "N", "instead: N runs each with 1, 2 and 4 threads give the same bits", offsetof(bench_args, same)},
    {"json", 0, HG_CLI_FLAG, NULL, "print one JSON object", offsetof(bench_args, json)},
    {"no-optimize", 0, HG_CLI_FLAG, NULL, "compile an .onnx file without optimising", offsetof(bench_args, no_optimize)},
    {"reference", 0, HG_CLI_FLAG, NULL, "use the portable kernels only", offsetof(bench_args, reference)},
    {"no-avx512", 0, HG_CLI_FLAG, NULL, "use kernels for AVX2 where AVX-512 is there too", offsetof(bench_args, no_avx512)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_bench = {
    .name = "bench",
    .operands = "FILE[:GRAPH]",
    .least = 1,
    .most = 1,
    .brief = "Measure opening, preparing and running a model.",
    .details = "open is the median of nine openings with the file in the page cache; session, "
               "pool, prepare and "
               "the first run are shown apart. Inputs are written name:dtype:dims:fill, joined by "
               "';': dims are "
               "comma separated, - is a scalar; fills are rand, rand01, int=N, const=V, iota, "
               "halfmask, piper. "
               "For an .onnx file, which is compiled first, peak memory includes compiling. With "
               "--cache 'past_key_values.*=present.*' a decoder's keys and values grow in place: "
               "each run writes its new rows behind those of the past, which stay where they are.",
    .example = "hologram bench minilm.holo --inputs "
               "'input_ids:int64:1,128:int=30522;attention_mask:int64:1,128:const=1' --threads 2 "
               "--profile",
    .files = "holo onnx",
    .options = bench_options,
    .args_size = sizeof(bench_args),
    .defaults = &bench_defaults,
    .run = bench_run,
};
