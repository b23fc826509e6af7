/* cmd_verify.c - hologram verify: official test cases, judged one line each. */
#include "cli/commands.h"
#include "cli/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct verify_args {
    bool strip_shapes, no_optimize, poison, reference, no_avx512, skip_unsupported;
    uint64_t threads, jobs, max_memory, max_time;
    const char *filter, *list;
} verify_args;

static const verify_args verify_defaults = {
    .threads = 1, .jobs = 1, .max_memory = (uint64_t)8 << 30, .max_time = 60};

typedef struct verify_totals {
    const hg_cli *cli;
    uint64_t count[4]; /* by outcome */
} verify_totals;

static void verify_done(void *user, const hg_verify_case *c, hg_verify_outcome outcome,
                        const char *note, double seconds)
{
    static const char *const words[] = {"PASS", "FAIL", "SKIP", "PASS"};
    static const char *const colors[] = {"\033[32m", "\033[31m", "\033[33m", "\033[32m"};
    verify_totals *t = user;
    char name[200], reason[700], time[40];
    bool color = t->cli->color_out;
    t->count[outcome]++;
    if (t->cli->quiet && outcome != HG_VERIFY_FAIL) return;
    printf("%s%s%s %s%s%s", color ? colors[outcome] : "", words[outcome], color ? "\033[0m" : "",
           hg_cli_clean(c->name, name, sizeof name), note[0] != '\0' ? ": " : "",
           hg_cli_clean(note, reason, sizeof reason));
    if (t->cli->verbose) printf(" (%s)", hg_cli_time_text(seconds, time, sizeof time));
    putchar('\n');
    fflush(stdout);
}

/* The words of a list file, one case a line; # starts a comment. */
static bool verify_listed(const char *list, size_t size, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = 0; at < size;) {
        size_t start = at, end;
        while (at < size && list[at] != '\n')
            at++;
        end = at++;
        for (size_t i = start; i < end; i++)
            if (list[i] == '#') end = i;
        while (start < end && (list[start] == ' ' || list[start] == '\t'))
            start++;
        while (end > start &&
               (list[end - 1] == ' ' || list[end - 1] == '\t' || list[end - 1] == '\r'))
            end--;
        if (end - start == n && memcmp(list + start, name, n) == 0) return true;
    }
    return false;
}

/* Drops the cases that --filter and --list leave out. */
static int verify_choose(const hg_cli *cli, const verify_args *a, hg_verify_cases *cases)
{
    hg_io_bytes list = {0};
    holo_error error = {0};
    if (a->list != NULL && hg_io_read_file(a->list, &list, &error) != HOLO_OK)
        return hg_cli_fail(cli, &error);
    size_t kept = 0;
    for (size_t i = 0; i < cases->count; i++) {
        hg_verify_case c = cases->item[i];
        bool wanted =
            (a->filter == NULL || strstr(c.name, a->filter) != NULL) &&
            (a->list == NULL || verify_listed((const char *)list.data, list.size, c.name));
        if (!wanted) continue;
        cases->item[i] = cases->item[kept];
        cases->item[kept++] = c;
    }
    if (a->list != NULL) hg_io_bytes_free(&list);
    for (size_t i = kept; i < cases->count; i++) {
        hg_verify_case *c = &cases->item[i];
        free(c->name);
        free(c->model);
        free(c->folder);
        free(c->outputs);
    }
    cases->count = kept;
    return HG_CLI_OK;
}

/* Random cases are no proof of values; they are named only when there are any. */
static void verify_print(const verify_totals *t)
{
    printf("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped", t->count[HG_VERIFY_PASS],
           t->count[HG_VERIFY_FAIL], t->count[HG_VERIFY_SKIP]);
    if (t->count[HG_VERIFY_RANDOM] > 0) printf(", %" PRIu64 " random", t->count[HG_VERIFY_RANDOM]);
    putchar('\n');
}

static int verify_run(const hg_cli *cli, const void *args)
{
    const verify_args *a = args;
    hg_verify_cases cases = {0};
    verify_totals totals = {.cli = cli};
    hg_verify_options options = {.threads = a->threads,
                                 .max_memory = a->max_memory,
                                 .max_seconds = a->max_time,
                                 .jobs = a->jobs,
                                 .skip_unsupported = a->skip_unsupported};
    if (a->strip_shapes) options.compile_flags |= HOLO_COMPILE_STRIP_SHAPES;
    if (a->no_optimize) options.compile_flags |= HOLO_COMPILE_NO_OPTIMIZE;
    if (a->reference) options.open_flags |= HOLO_OPEN_REFERENCE;
    if (a->no_avx512) options.open_flags |= HOLO_OPEN_NO_AVX512;
    if (a->poison) options.session_flags |= HOLO_SESSION_POISON;
    int code = HG_CLI_OK;
    for (size_t i = 0; i < cli->n_operand && code == HG_CLI_OK; i++)
        code = hg_verify_find(cli, cli->operand[i], &cases);
    if (code == HG_CLI_OK) code = verify_choose(cli, a, &cases);
    if (code == HG_CLI_OK && cases.count == 0)
        code = hg_cli_error(cli, "no test cases in %s", cli->operand[0]);
    if (code == HG_CLI_OK) code = hg_verify_run_all(cli, &cases, &options, verify_done, &totals);
    if (code == HG_CLI_OK) verify_print(&totals);
    if (code == HG_CLI_OK && totals.count[HG_VERIFY_FAIL] > 0) code = HG_CLI_FAULT;
    hg_verify_cases_free(&cases);
    return code;
}

/* clang-format off */
static const hg_cli_option verify_options[] = {
    {"strip-shapes", 0, HG_CLI_FLAG, NULL, "forget declared shapes of outputs and values", offsetof(verify_args, strip_shapes)},
    {"no-optimize", 0, HG_CLI_FLAG, NULL, "compile without optimising", offsetof(verify_args, no_optimize)},
    {"threads", 0, HG_CLI_COUNT, "N", "threads of each run (1)", offsetof(verify_args, threads)},
    {"poison", 0, HG_CLI_FLAG, NULL, "fill memory with NaN-like bytes before each run", offsetof(verify_args, poison)},
    {"reference", 0, HG_CLI_FLAG, NULL, "use the portable kernels only", offsetof(verify_args, reference)},
    {"no-avx512", 0, HG_CLI_FLAG, NULL, "use kernels for AVX2 where AVX-512 is there too", offsetof(verify_args, no_avx512)},
    {"filter", 0, HG_CLI_TEXT, "TEXT", "only cases whose name holds this text", offsetof(verify_args, filter)},
    {"list", 0, HG_CLI_TEXT, "FILE", "only cases named in a file, one a line", offsetof(verify_args, list)},
    {"skip-unsupported", 0, HG_CLI_FLAG, NULL, "skip instead of fail what the compiler lacks", offsetof(verify_args, skip_unsupported)},
    {"jobs", 'j', HG_CLI_COUNT, "N", "cases at a time (1)", offsetof(verify_args, jobs)},
    {"max-time", 0, HG_CLI_COUNT, "SECONDS", "time limit of a case (60)", offsetof(verify_args, max_time)},
    {"max-memory", 0, HG_CLI_SIZE, "SIZE", "memory limit of a case (8G)", offsetof(verify_args, max_memory)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_verify = {
    .name = "verify",
    .operands = "DIR...",
    .least = 1,
    .most = UINT32_MAX,
    .brief = "Run test cases of the ONNX backend suite.",
    .details = "Below each DIR, a case is a folder with model.onnx and test_data_set_*/input_N.pb, "
               "output_N.pb, or "
               "NAME.onnx with NAME_output_0.pb beside it. Every case runs in a process of its "
               "own. Types and "
               "shapes must be equal, integers and text exact, floats within rtol 1e-3 and atol "
               "1e-7; random "
               "operators may give other values of the same distribution. With --threads above 1 "
               "or --poison, a case also runs with one thread on clean memory and must give the "
               "same bits. The last line is 'N "
               "passed, N failed, N skipped' and, where there are any, 'N random'; the exit code "
               "is 1 when any failed.",
    .example = "hologram verify onnx/backend/test/data/node --filter conv --jobs 2",
    .files = "/",
    .options = verify_options,
    .args_size = sizeof(verify_args),
    .defaults = &verify_defaults,
    .run = verify_run,
};
