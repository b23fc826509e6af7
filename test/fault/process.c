/* process.c - signals, forks and several processes around one model; files that shrink. */
#include "fault/small.h"
#include "import/make.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESS_ROWS = 64, PROCESS_CHILDREN = 2, PROCESS_RUNS = 40 };

typedef struct process_job {
    const holo_model *model;
    holo_pool *pool;
    float x[PROCESS_ROWS * 3], y[PROCESS_ROWS * 2];
} process_job;

static void process_fill(process_job *job)
{
    for (int i = 0; i < PROCESS_ROWS * 3; i++)
        job->x[i] = (float)(i % 13) * 0.5F - 3.0F;
}

/* A session of its own for each run: in any thread or process, so no CHECK here. */
static bool process_run(process_job *job)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session *session = NULL;
    holo_tensor t = {.data = job->x, .dim = {PROCESS_ROWS, 3}, .rank = 2, .dtype = HOLO_F32};
    options.pool = job->pool;
    options.flags = HOLO_SESSION_SPLIT;
    memset(job->y, 0, sizeof job->y);
    bool done = holo_session_new(job->model, &options, &session, NULL) == HOLO_OK &&
                holo_session_set_input(session, 0, &t, NULL) == HOLO_OK &&
                holo_session_set_output(session, 0, job->y, sizeof job->y, NULL) == HOLO_OK &&
                holo_session_run(session, NULL) == HOLO_OK;
    holo_session_free(session);
    return done;
}

/* y = relu(x w + b), computed here. */
static bool process_is_right(const process_job *job)
{
    static const float w[6] = {1, 2, 3, 4, 5, 6}, b[2] = {-10, 1};
    for (int i = 0; i < PROCESS_ROWS; i++)
        for (int k = 0; k < 2; k++) {
            double sum = (double)b[k];
            for (int j = 0; j < 3; j++)
                sum += (double)job->x[i * 3 + j] * (double)w[j * 2 + k];
            if ((double)job->y[i * 2 + k] != (sum < 0 ? 0 : sum)) return false;
        }
    return true;
}

static int process_wait(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

/* attack 11: with the copy flag a file may shrink; mapped, the documented SIGBUS ends the process,
 * or the pages are still there. Never a wrong answer. */
static int process_shrinks(const char *path, uint32_t flags)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    fault_write(path, b.data, b.size);
    free(b.data);
    pid_t child = fork();
    if (child == 0) {
        process_job job = {0};
        holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
        holo_model *model = NULL;
        options.flags = flags;
        process_fill(&job);
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(2);
        if (holo_model_open_file(path, holo_kernels_all(), &options, &model, NULL) != HOLO_OK)
            _exit(2);
        if (truncate(path, 0) != 0) _exit(2);
        job.model = model;
        _exit(process_run(&job) && process_is_right(&job) ? 0 : 3);
    }
    return process_wait(child);
}

static void process_file_shrinks(void)
{
    const char *path = hg_test_temp("m.holo");
    CHECK_EQ_INT(process_shrinks(path, HOLO_OPEN_COPY), 0);
    int status = process_shrinks(path, 0);
    CHECK(!WIFEXITED(status) || (WEXITSTATUS(status) != 3 && WEXITSTATUS(status) != 2));
}

/* Two processes run one file at the same time. */
static void process_two(void)
{
    const char *path = hg_test_temp("m.holo");
    fault_bytes b = fault_holo(FAULT_SMALL);
    pid_t child[PROCESS_CHILDREN];
    fault_write(path, b.data, b.size);
    for (int i = 0; i < PROCESS_CHILDREN; i++) {
        child[i] = fork();
        if (child[i] != 0) continue;
        process_job job = {0};
        holo_model *model = NULL;
        process_fill(&job);
        bool right = holo_model_open_file(path, holo_kernels_all(), NULL, &model, NULL) == HOLO_OK;
        job.model = model;
        for (int k = 0; k < PROCESS_RUNS && right; k++)
            right = process_run(&job) && process_is_right(&job);
        holo_model_free(model);
        _exit(right ? 0 : 1);
    }
    for (int i = 0; i < PROCESS_CHILDREN; i++)
        CHECK_EQ_INT(process_wait(child[i]), 0);
    free(b.data);
}

/* A child does not have the threads of its parent's pool: it runs alone, with the same numbers. */
static void process_forks_with_pool(void)
{
    static process_job job;
    fault_bytes b = fault_holo(FAULT_SMALL);
    holo_model *model = NULL;
    holo_error e = {0};
    process_fill(&job);
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_pool_new(3, NULL, &job.pool, &e), &e);
    job.model = model;
    CHECK(process_run(&job) && process_is_right(&job)); /* the threads are there now */
    pid_t child = fork();
    if (child == 0) {
        bool right = process_run(&job) && process_is_right(&job);
        holo_pool_free(job.pool);
        _exit(right ? 0 : 1);
    }
    CHECK_EQ_INT(process_wait(child), 0);
    CHECK(process_run(&job) && process_is_right(&job));
    holo_pool_free(job.pool);
    holo_model_free(model);
    free(b.data);
}

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t process_signals;

static void process_on_signal(int number)
{
    (void)number;
    process_signals++;
}

/* A signal every 200 us, without SA_RESTART: calls of the system are interrupted all the time. */
static void process_interrupt(bool on)
{
    struct itimerval timer = {{0, on ? 200 : 0}, {0, on ? 200 : 0}};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = process_on_signal;
    CHECK_EQ_INT(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQ_INT(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static make process_onnx(make_fixture *f)
{
    static const float w[6] = {1, 2, 3, 4, 5, 6};
    make_init(f);
    make g = make_graph_xy(f);
    make node = make_node(f, "product", "MatMul", "x,w", "y");
    make weight = make_tensor(f, "w", ELEM_F32, "3,2", w, 6);
    make_in(&g, GRAPH_NODE, &node);
    make_in(&g, GRAPH_INITIALIZER, &weight);
    return make_model(f, &g, 21);
}

static void process_signalled(void)
{
    static process_job job;
    fault_bytes b = fault_holo(FAULT_SMALL);
    make_fixture f;
    make onnx = process_onnx(&f);
    char in[2048], out[2048];
    const char *path = in;
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_error e = {0};
    snprintf(in, sizeof in, "%s", hg_test_temp("in.onnx"));
    snprintf(out, sizeof out, "%s", hg_test_temp("out.holo"));
    fault_write(in, onnx.data, onnx.size);
    process_fill(&job);
    options.flags = HOLO_OPEN_COPY;
    CHECK_OK(holo_pool_new(3, NULL, &job.pool, &e), &e);
    process_interrupt(true);
    for (int i = 0; i < PROCESS_RUNS || process_signals < 10; i++) {
        CHECK_OK(holo_compile_files(&path, 1, out, NULL, NULL, &e), &e);
        CHECK_OK(holo_model_open_file(out, holo_kernels_all(), &options, &model, &e), &e);
        holo_model_free(model);
        CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
        job.model = model;
        CHECK(process_run(&job) && process_is_right(&job));
        holo_model_free(model);
        if (i > 100000) break;
    }
    process_interrupt(false);
    CHECK(process_signals >= 10);
    holo_pool_free(job.pool);
    make_deinit(&f);
    free(b.data);
}

/* ---- disk ------------------------------------------------------------------------------------ */

/* Writes that stop at any byte, the last one short: a sentence, the old file stays, nothing else is
 * left. */
static void process_short_writes(void)
{
    make_fixture f;
    make onnx = process_onnx(&f);
    char in[2048], out[2048];
    const char *path = in;
    holo_error e = {0};
    snprintf(in, sizeof in, "%s", hg_test_temp("in.onnx"));
    snprintf(out, sizeof out, "%s", hg_test_temp("out.holo"));
    fault_write(in, onnx.data, onnx.size);
    CHECK_OK(holo_compile_files(&path, 1, out, NULL, NULL, &e), &e);
    CHECK_STATUS(holo_compile_files(&path, 1, in, NULL, NULL, &e), HOLO_E_ARG);
    CHECK_HAS(e.message, "is the model itself");
    holo_model *model = NULL;
    struct rlimit before;
    CHECK_EQ_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (rlim_t most = 0; most < 4096; most += most < 128 ? 1 : 61) {
        struct rlimit limit = {most, before.rlim_max};
        CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
        holo_status status = holo_compile_files(&path, 1, out, NULL, NULL, &e);
        CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
        if (!CHECK_STATUS(status, HOLO_E_IO)) break;
        CHECK_HAS(e.message, "out.holo");
        if (!CHECK_OK(holo_model_open_file(out, holo_kernels_all(), NULL, &model, &e), &e)) break;
        holo_model_free(model);
    }
    make_deinit(&f);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Sessions come and go in each thread while others run on the same model. */
static void *process_come_and_go(void *user)
{
    process_job *job = user;
    for (int i = 0; i < PROCESS_RUNS; i++)
        if (!process_run(job) || !process_is_right(job)) return user;
    return NULL;
}

static void process_sessions_leave(void)
{
    static process_job job[16];
    fault_bytes b = fault_holo(FAULT_SMALL);
    pthread_t thread[16];
    holo_model *model = NULL;
    holo_error e = {0};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    for (int i = 0; i < 16; i++) {
        process_fill(&job[i]);
        job[i].model = model;
        CHECK_EQ_INT(pthread_create(&thread[i], NULL, process_come_and_go, &job[i]), 0);
    }
    for (int i = 0; i < 16; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        CHECK(failed == NULL);
    }
    holo_model_free(model);
    free(b.data);
}

const hg_test_case hg_tests_fault_process[] = {
    {"file_shrinks", process_file_shrinks},
    {"two", process_two},
    {"forks_with_pool", process_forks_with_pool},
    {"signalled", process_signalled},
    {"short_writes", process_short_writes},
    {"sessions_leave", process_sessions_leave},
    {0},
};
