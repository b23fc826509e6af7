/* test.c - hologram_tests: runs every case of every table in a process of its own.
 *
 *     hologram_tests [FILTER] [--list] [-j N] [--no-fork]
 *
 * FILTER is a part of "layer_stem/name". A crash, a time-out or a leak found by a sanitizer at exit
 * is a failure that names the case. --no-fork runs the cases in this process, for a debugger. */
#include "test.h"

#include "fault/checks.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_SECONDS 600 /* only what hangs takes as long: sanitizers on a busy machine do not */
#define TEST_JOBS_MAX 64
#define TEST_EXIT_SKIP 77
#define TEST_PATH_MAX 1024

#define X(id) extern const hg_test_case hg_tests_##id[];
#include "test_list.inc"
#undef X

typedef struct test_table {
    const char *id;
    const hg_test_case *cases;
} test_table;

static const test_table test_tables[] = {
#define X(id) {#id, hg_tests_##id},
#include "test_list.inc"
#undef X
    {0},
};

typedef struct test_options {
    const char *filter;
    int jobs;
    bool list;
    bool no_fork;
} test_options;

typedef struct test_job {
    pid_t pid; /* 0: free */
    const char *table;
    const hg_test_case *test;
    FILE *output;
} test_job;

typedef struct test_run {
    test_options options;
    test_job jobs[TEST_JOBS_MAX];
    int running;
    int passed, failed, skipped;
} test_run;

/* What the case now running in this process has done. */
static int test_failures;
static bool test_skipped;
static char test_folder[TEST_PATH_MAX];      /* of the whole run */
static char test_case_folder[TEST_PATH_MAX]; /* of the case, made on first use */

/* ---- checks ---------------------------------------------------------------------------------- */

void hg_test_fail(const char *file, int line, const char *format, ...)
{
    test_failures++;
    printf("%s:%d: ", file, line);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

void hg_test_skip(const char *file, int line, const char *reason)
{
    test_skipped = true;
    printf("%s:%d: skipped: %s\n", file, line, reason);
}

bool hg_test_true(const char *file, int line, const char *text, bool condition)
{
    if (!condition) hg_test_fail(file, line, "not true: %s", text);
    return condition;
}

bool hg_test_int(const char *file, int line, const char *text, int64_t actual, int64_t expected)
{
    if (actual == expected) return true;
    hg_test_fail(file, line, "%s is %" PRId64 ", expected %" PRId64, text, actual, expected);
    return false;
}

bool hg_test_str(const char *file, int line, const char *text, const char *actual,
                 const char *expected)
{
    if (actual == expected) return true;
    if (actual != NULL && expected != NULL && strcmp(actual, expected) == 0) return true;
    hg_test_fail(file, line, "%s is\n  \"%s\", expected\n  \"%s\"", text,
                 actual ? actual : "(null)", expected ? expected : "(null)");
    return false;
}

bool hg_test_has(const char *file, int line, const char *text, const char *actual, const char *part)
{
    if (actual != NULL && strstr(actual, part) != NULL) return true;
    hg_test_fail(file, line, "%s is\n  \"%s\", which lacks\n  \"%s\"", text,
                 actual ? actual : "(null)", part);
    return false;
}

bool hg_test_mem(const char *file, int line, const char *text, const void *actual,
                 const void *expected, size_t size)
{
    const unsigned char *a = actual, *e = expected;
    for (size_t i = 0; i < size; i++) {
        if (a[i] == e[i]) continue;
        hg_test_fail(file, line, "%s: byte %zu of %zu is 0x%02x, expected 0x%02x", text, i, size,
                     a[i], e[i]);
        return false;
    }
    return true;
}

bool hg_test_near(const char *file, int line, const char *text, double actual, double expected,
                  double absolute)
{
    if (isnan(actual) && isnan(expected)) return true;
    if (actual == expected || fabs(actual - expected) <= absolute) return true;
    hg_test_fail(file, line, "%s is %.9g, expected %.9g within %.3g (off by %.3g)", text, actual,
                 expected, absolute, fabs(actual - expected));
    return false;
}

/* Places the floats on a line of integers: neighbours differ by 1, -0 and +0 coincide. */
static int64_t test_order32(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

static int64_t test_order64(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static bool test_ulp(const char *file, int line, const char *text, double actual, double expected,
                     uint64_t distance, int64_t ulp)
{
    if (isnan(actual) || isnan(expected)) {
        if (isnan(actual) && isnan(expected)) return true;
    } else if (distance <= (uint64_t)ulp) {
        return true;
    }
    hg_test_fail(file, line,
                 "%s is %.17g, expected %.17g within %" PRId64 " ulp (off by %" PRIu64 ")", text,
                 actual, expected, ulp, distance);
    return false;
}

bool hg_test_ulp32(const char *file, int line, const char *text, float actual, float expected,
                   int64_t ulp)
{
    const int64_t a = test_order32(actual), e = test_order32(expected);
    return test_ulp(file, line, text, (double)actual, (double)expected,
                    (uint64_t)(a > e ? a - e : e - a), ulp);
}

bool hg_test_ulp64(const char *file, int line, const char *text, double actual, double expected,
                   int64_t ulp)
{
    /* Unsigned: the distance between numbers of opposite sign does not fit int64_t. */
    const int64_t a = test_order64(actual), e = test_order64(expected);
    const uint64_t distance = a > e ? (uint64_t)a - (uint64_t)e : (uint64_t)e - (uint64_t)a;
    return test_ulp(file, line, text, actual, expected, distance, ulp);
}

static const char *test_status_name(holo_status status)
{
#define X(name, number, text)                                                                      \
    if (status == HOLO_##name) return "HOLO_" #name;
    HOLO_STATUS_MAP(X)
#undef X
    return "unknown status";
}

bool hg_test_status(const char *file, int line, const char *text, holo_status actual,
                    holo_status expected, const holo_error *error)
{
    if (actual == expected) return true;
    hg_test_fail(file, line, "%s is %s, expected %s%s%s", text, test_status_name(actual),
                 test_status_name(expected), error ? ": " : "", error ? error->message : "");
    return false;
}

/* ---- temporary files ---------------------------------------------------------------------------
 */

static void test_folder_make(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/hologram_tests.XXXXXX",
             base && base[0] ? base : P_tmpdir);
    if (mkdtemp(test_folder) == NULL) test_folder[0] = 0;
}

static int test_remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static void test_folder_remove(void)
{
    if (test_folder[0]) nftw(test_folder, test_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *hg_test_temp(const char *name)
{
    static char paths[2][2 * TEST_PATH_MAX];
    static int turn;
    if (test_case_folder[0] == 0) {
        snprintf(test_case_folder, sizeof test_case_folder, "%.900s/XXXXXX", test_folder);
        if (mkdtemp(test_case_folder) == NULL) hg_test_fail(HG_TEST_HERE, "cannot make a folder");
    }
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", test_case_folder, name);
    return paths[turn];
}

/* ---- running -----------------------------------------------------------------------------------
 */

static int test_run_case(const hg_test_case *test)
{
    test_failures = 0;
    test_skipped = false;
    test_case_folder[0] = 0;
    test->run();
    hg_checks_collect();
    if (test_failures > 0) return EXIT_FAILURE;
    return test_skipped ? TEST_EXIT_SKIP : EXIT_SUCCESS;
}

static void test_print_output(FILE *output)
{
    char text[4096];
    size_t size;
    rewind(output);
    while ((size = fread(text, 1, sizeof text, output)) > 0)
        fwrite(text, 1, size, stdout);
}

static void test_count(test_run *run, const test_job *job, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) {
        run->passed++;
        return;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_EXIT_SKIP) {
        run->skipped++;
        return;
    }
    run->failed++;
    if (job->output != NULL) test_print_output(job->output);
    printf("FAIL %s/%s", job->table, job->test->name);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf(": still running after %d s", TEST_SECONDS);
    else if (WIFSIGNALED(status))
        printf(": crashed (%s)", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != EXIT_FAILURE)
        printf(": exit status %d", WEXITSTATUS(status));
    printf("\n");
}

static void test_wait(test_run *run)
{
    int status;
    const pid_t pid = waitpid(-1, &status, 0);
    for (int i = 0; i < run->options.jobs; i++) {
        test_job *job = &run->jobs[i];
        if (pid <= 0 || job->pid != pid) continue;
        test_count(run, job, status);
        if (job->output != NULL) fclose(job->output);
        job->pid = 0;
        run->running--;
    }
}

static void test_child(const test_job *job)
{
    if (job->output != NULL) {
        dup2(fileno(job->output), STDOUT_FILENO);
        dup2(fileno(job->output), STDERR_FILENO);
    }
    alarm(TEST_SECONDS);
    exit(test_run_case(job->test)); /* not _exit: sanitizers look for leaks at exit */
}

static void test_start(test_run *run, const char *table, const hg_test_case *test)
{
    if (run->running == run->options.jobs) test_wait(run);
    test_job *job = run->jobs;
    while (job->pid != 0)
        job++;
    *job = (test_job){.table = table, .test = test, .output = tmpfile()};
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0) test_child(job);
    if (job->pid < 0) {
        perror("hologram_tests: fork");
        exit(EXIT_FAILURE);
    }
    run->running++;
}

static void test_here(test_run *run, const char *table, const hg_test_case *test)
{
    const test_job job = {.table = table, .test = test};
    test_count(run, &job, test_run_case(test) << 8); /* as wait() encodes an exit status */
}

static void test_each(test_run *run)
{
    for (const test_table *table = test_tables; table->id != NULL; table++) {
        for (const hg_test_case *test = table->cases; test->name != NULL; test++) {
            char name[256];
            snprintf(name, sizeof name, "%s/%s", table->id, test->name);
            if (run->options.filter != NULL && strstr(name, run->options.filter) == NULL) continue;
            if (run->options.list)
                printf("%s\n", name);
            else if (run->options.no_fork)
                test_here(run, table->id, test);
            else
                test_start(run, table->id, test);
        }
    }
    while (run->running > 0)
        test_wait(run);
}

static bool test_parse(int argc, char **argv, test_options *options)
{
    *options = (test_options){.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            options->list = true;
        else if (strcmp(argv[i], "--no-fork") == 0)
            options->no_fork = true;
        else if (strcmp(argv[i], "-j") == 0 && i + 1 < argc)
            options->jobs = atoi(argv[++i]);
        else if (argv[i][0] != '-' && options->filter == NULL)
            options->filter = argv[i];
        else
            return false;
    }
    if (options->jobs < 1) options->jobs = 1;
    if (options->jobs > TEST_JOBS_MAX) options->jobs = TEST_JOBS_MAX;
    return true;
}

int main(int argc, char **argv)
{
    test_run run = {0};
    if (!test_parse(argc, argv, &run.options)) {
        fprintf(stderr, "usage: hologram_tests [FILTER] [--list] [-j N] [--no-fork]\n");
        return 2;
    }
    test_folder_make();
    hg_checks_begin();
    test_each(&run);
    test_folder_remove();
    if (run.options.list) return EXIT_SUCCESS;
    if (run.options.filter == NULL) *(hg_checks_complete() ? &run.passed : &run.failed) += 1;
    if (run.skipped > 0) printf("%d skipped\n", run.skipped);
    printf("%d passed, %d failed\n", run.passed, run.failed);
    return run.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
