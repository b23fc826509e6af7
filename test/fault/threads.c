/* threads.c - one model, many threads and processes; a run that another thread stops. */
#include "fault/memory.h"
#include "fault/small.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_COUNT = 16, THREADS_RUNS = 50, THREADS_ROWS = 64, THREADS_CYCLES = 1000 };

/* `./dev test load` asks for a longer test than the fixed number of runs. */
static double threads_deadline(void)
{
    struct timespec t;
    const char *seconds = getenv("HOLO_LOAD_SECONDS");
    if (seconds == NULL || clock_gettime(CLOCK_MONOTONIC, &t) != 0) return 0;
    return (double)t.tv_sec + strtod(seconds, NULL);
}

static bool threads_goes_on(int runs, double deadline)
{
    struct timespec t;
    if (runs < THREADS_RUNS) return true;
    return deadline != 0 && clock_gettime(CLOCK_MONOTONIC, &t) == 0 && (double)t.tv_sec < deadline;
}

/* Resident kilobytes of this process, 0 where that cannot be known. */
static long threads_resident(void)
{
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

typedef struct threads_job {
    const holo_model *model;
    holo_pool *pool;
    float x[THREADS_ROWS * 3], y[THREADS_ROWS * 2];
    double deadline;
    int64_t runs;
    bool same, failed;
} threads_job;

static holo_status threads_once(threads_job *job, holo_session *session)
{
    holo_error e;
    holo_tensor t = {.data = job->x, .dim = {THREADS_ROWS, 3}, .rank = 2, .dtype = HOLO_F32};
    holo_status status = holo_session_set_input(session, 0, &t, &e);
    if (status == HOLO_OK) status = holo_session_set_output(session, 0, job->y, sizeof job->y, &e);
    return status == HOLO_OK ? holo_session_run(session, &e) : status;
}

/* Runs in any thread: no CHECK here. */
static void *threads_main(void *user)
{
    threads_job *job = user;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session *session = NULL;
    float first[THREADS_ROWS * 2];
    options.pool = job->pool;
    job->same = true;
    job->failed = holo_session_new(job->model, &options, &session, NULL) != HOLO_OK;
    for (int i = 0; threads_goes_on(i, job->deadline) && !job->failed; i++, job->runs++) {
        memset(job->y, 0, sizeof job->y);
        job->failed = threads_once(job, session) != HOLO_OK;
        if (i == 0) memcpy(first, job->y, sizeof first);
        job->same = job->same && memcmp(first, job->y, sizeof first) == 0;
    }
    holo_session_free(session);
    return NULL;
}

static void threads_fill(threads_job *job, const holo_model *model, holo_pool *pool)
{
    *job = (threads_job){.model = model, .pool = pool, .deadline = threads_deadline()};
    for (int i = 0; i < THREADS_ROWS * 3; i++)
        job->x[i] = (float)(i % 17) * 0.37F - 2.0F;
}

static void threads_share_model(void)
{
    static threads_job job[THREADS_COUNT];
    fault_bytes b = fault_holo(FAULT_SMALL);
    pthread_t thread[THREADS_COUNT];
    holo_model *model = NULL;
    holo_pool *pool = NULL;
    holo_error e = {0};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_pool_new(2, NULL, &pool, &e), &e);
    for (int i = 0; i < THREADS_COUNT; i++) {
        threads_fill(&job[i], model, i % 2 == 0 ? pool : NULL);
        CHECK_EQ_INT(pthread_create(&thread[i], NULL, threads_main, &job[i]), 0);
    }
    long before = 0;
    if (job[0].deadline != 0 && sleep(1) == 0) before = threads_resident();
    int64_t runs = 0;
    for (int i = 0; i < THREADS_COUNT; i++) {
        pthread_join(thread[i], NULL);
        CHECK(!job[i].failed && job[i].same);
        CHECK_MEM(job[i].y, job[0].y, sizeof job[0].y);
        runs += job[i].runs;
    }
    if (job[0].deadline != 0)
        printf("%lld runs in %d threads, resident memory %ld kB, after the first second %ld kB\n",
               (long long)runs, THREADS_COUNT, threads_resident(), before);
    CHECK(threads_resident() <= before + 4096 || job[0].deadline == 0);
    holo_pool_free(pool);
    holo_model_free(model);
    free(b.data);
}

/* Opening, running and closing a thousand times: everything is given back each time, and every time
 * asks for the same. */
static void threads_open_close(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    fault_memory memory = {0};
    holo_allocator allocator = fault_memory_allocator(&memory);
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    options.allocator = &allocator;
    size_t calls = 0;
    for (int i = 0; i < THREADS_CYCLES; i++) {
        threads_job job;
        holo_model *model = NULL;
        holo_session *session = NULL;
        holo_error e = {0};
        memory.calls = 0;
        CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), &options, &model, &e),
                 &e);
        CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
        threads_fill(&job, model, NULL);
        CHECK_STATUS(threads_once(&job, session), HOLO_OK);
        holo_session_free(session);
        holo_model_free(model);
        if (i == 0) calls = memory.calls;
        if (!CHECK_EQ_INT(memory.live, 0) || !CHECK_EQ_INT(memory.calls, calls)) break;
    }
    free(b.data);
}

static void *threads_cancel_main(void *user)
{
    holo_session_cancel(user);
    return NULL;
}

typedef struct threads_stop {
    holo_session *session;
    int steps;
} threads_stop;

/* Another thread cancels while the first step ends. */
static void threads_trace(void *user, const holo_step_info *step)
{
    threads_stop *stop = user;
    pthread_t thread;
    (void)step;
    if (stop->steps++ != 0) return;
    if (pthread_create(&thread, NULL, threads_cancel_main, stop->session) == 0)
        pthread_join(thread, NULL);
}

static void threads_cancelled(void)
{
    static threads_job job;
    fault_bytes b = fault_holo("graph(%x: float32[n,3]) { %a = NonZero(%x) %b = Transpose(%a)"
                               " %w = const float32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}"
                               " %c = MatMul(%x, %w) return %c as \"c\", %b as \"b\" }");
    threads_stop stop = {0};
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_error e = {0};
    options.trace = threads_trace;
    options.trace_user = &stop;
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, &options, &stop.session, &e), &e);
    threads_fill(&job, model, NULL);
    CHECK_STATUS(threads_once(&job, stop.session), HOLO_E_CANCELLED);
    CHECK_EQ_INT(stop.steps, 1);
    CHECK_STATUS(threads_once(&job, stop.session), HOLO_OK); /* usable again */
    holo_session_cancel(stop.session);
    CHECK_STATUS(threads_once(&job, stop.session), HOLO_E_CANCELLED);
    holo_session_free(stop.session);
    holo_model_free(model);
    free(b.data);
}

/* A child process goes on with the session that its parent made. */
static void threads_forked(void)
{
    static threads_job job;
    fault_bytes b = fault_holo(FAULT_SMALL);
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    float expected[THREADS_ROWS * 2];
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    threads_fill(&job, model, NULL);
    CHECK_STATUS(threads_once(&job, session), HOLO_OK);
    memcpy(expected, job.y, sizeof expected);
    memset(job.y, 0, sizeof job.y);
    pid_t child = fork();
    if (child == 0) {
        bool same =
            threads_once(&job, session) == HOLO_OK && memcmp(expected, job.y, sizeof expected) == 0;
        _exit(same ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ_INT(status, 0);
    CHECK_STATUS(threads_once(&job, session), HOLO_OK);
    CHECK_MEM(job.y, expected, sizeof expected);
    holo_session_free(session);
    holo_model_free(model);
    free(b.data);
}

/* One session goes while another still uses the model. */
static void threads_session_leaves(void)
{
    static threads_job job;
    fault_bytes b = fault_holo(FAULT_SMALL);
    holo_model *model = NULL;
    holo_session *a = NULL, *c = NULL;
    holo_error e = {0};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, NULL, &a, &e), &e);
    CHECK_OK(holo_session_new(model, NULL, &c, &e), &e);
    threads_fill(&job, model, NULL);
    CHECK_STATUS(threads_once(&job, a), HOLO_OK);
    holo_session_free(a);
    CHECK_STATUS(threads_once(&job, c), HOLO_OK);
    holo_session_free(c);
    holo_model_free(model);
    free(b.data);
}

const hg_test_case hg_tests_fault_threads[] = {
    {"share_model", threads_share_model},       {"open_close", threads_open_close},
    {"cancelled", threads_cancelled},           {"forked", threads_forked},
    {"session_leaves", threads_session_leaves}, {0},
};
