/* oom.c - the n-th allocation fails, n = 1 .. until nothing fails: no leak, a clean status, no
 * file. */
#include "fault/memory.h"
#include "fault/small.h"
#include "import/make.h"

#include <unistd.h>

typedef struct oom_job {
    const holo_allocator *alloc;
    const void *data;
    size_t size;
    const char *in, *out;
    holo_error error;
} oom_job;

typedef holo_status (*oom_fn)(oom_job *job);

/* Every call from the n-th on fails; then only the n-th would be a weaker test of cleaning up. */
static void oom_each(oom_job *job, oom_fn work)
{
    size_t n = 1;
    for (; n < 100000; n++) {
        fault_memory m = {.fail_at = n};
        holo_allocator alloc = fault_memory_allocator(&m);
        job->alloc = &alloc;
        job->error = (holo_error){0};
        holo_status status = work(job);
        if (m.live != 0) hg_test_fail(HG_TEST_HERE, "call %zu fails: %zu bytes leak", n, m.live);
        if (status == HOLO_OK) break;
        if (status != HOLO_E_NOMEM) {
            hg_test_fail(HG_TEST_HERE, "call %zu fails: %s", n, job->error.message);
            break;
        }
        CHECK_HAS(job->error.message, "memory");
        if (job->out != NULL) CHECK(access(job->out, F_OK) != 0);
    }
    CHECK(n > 3 && n < 100000);
}

static holo_status oom_compile_text(oom_job *job)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    void *out = NULL;
    size_t size = 0;
    options.allocator = job->alloc;
    holo_status status = fault_compile(job->data, &options, &out, &size, &job->error);
    holo_buffer_free(job->alloc, out, size);
    return status;
}

/* Tables with rows, with a narrowed range, and their certificates. */
#define OOM_TABLES                                                                                 \
    "graph tables(%x: uint8[1000,3], %i: int32[1000,3]) {\n"                                       \
    "  %s = const float32[] {0.05} %z = const uint8[] {100}\n"                                     \
    "  %k = const float32[3] {1.0,2.0,3.0} %a = DequantizeLinear(%x, %s, %z)\n"                    \
    "  %b = Sigmoid(%a) %c = Mul(%b, %k) %y = QuantizeLinear(%c, %s, %z)\n"                        \
    "  %low = const int32[] {3} %high = const int32[] {50} %m = Max(%i, %low)\n"                   \
    "  %n = Min(%m, %high) %u = Cast(%n) {to=2} %f = Cast(%u) {to=1} %e = Exp(%f)\n"               \
    "  %w = QuantizeLinear(%e, %s, %z) return %y, %w }"

static void oom_compiles_graph(void)
{
    oom_job job = {.data = FAULT_SMALL};
    oom_each(&job, oom_compile_text);
    job.data = FAULT_LATE;
    oom_each(&job, oom_compile_text);
    job.data = OOM_TABLES;
    oom_each(&job, oom_compile_text);
}

static make oom_onnx(make_fixture *f)
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

static holo_status oom_compile_onnx(oom_job *job)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    void *out = NULL;
    size_t size = 0;
    options.allocator = job->alloc;
    holo_status status =
        holo_compile_memory(job->data, job->size, &options, &out, &size, NULL, &job->error);
    holo_buffer_free(job->alloc, out, size);
    return status;
}

static void oom_compiles_memory(void)
{
    make_fixture f;
    make model = oom_onnx(&f);
    oom_job job = {.data = model.data, .size = model.size};
    oom_each(&job, oom_compile_onnx);
    make_deinit(&f);
}

static bool oom_sink(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return true;
}

/* Quantised after samples, written as ONNX too, with the answers of the samples. */
static holo_status oom_compile_all(oom_job *job)
{
    float x[6] = {1, 2, 3, 4, 5, 6};
    holo_tensor t = {.data = x, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32};
    const holo_sample sample = {.tensor = &t, .count = 1};
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    void *out = NULL;
    size_t size = 0, written = 0;
    options.allocator = job->alloc;
    options.quantize = HOLO_QUANTIZE_INT8;
    options.calibrate = options.precompute = &sample;
    options.n_calibrate = options.n_precompute = 1;
    options.emit = oom_sink;
    options.emit_user = &written;
    holo_status status =
        holo_compile_memory(job->data, job->size, &options, &out, &size, NULL, &job->error);
    if (status == HOLO_OK) CHECK(written > 0);
    holo_buffer_free(job->alloc, out, size);
    return status;
}

static void oom_quantizes(void)
{
    make_fixture f;
    make model = oom_onnx(&f);
    oom_job job = {.data = model.data, .size = model.size};
    oom_each(&job, oom_compile_all);
    make_deinit(&f);
}

static holo_status oom_emit_c(oom_job *job)
{
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    size_t written = 0;
    options.allocator = job->alloc;
    holo_status status = holo_model_open_memory(job->data, job->size, holo_kernels_all(), &options,
                                                &model, &job->error);
    if (status == HOLO_OK)
        status = holo_model_emit_c(model, 0, "f", oom_sink, &written, &job->error);
    holo_model_free(model);
    return status;
}

static void oom_emits_c(void)
{
    static const char *const text =
        "graph(%x: float32[2,3]) { %w = const float32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}"
        " %y = MatMul(%x, %w) %z = Relu(%y) return %z as \"z\" }";
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    oom_job job = {0};
    void *data = NULL;
    options.flags = HOLO_COMPILE_PLAIN; /* tuned kernels have no C */
    CHECK_OK(fault_compile(text, &options, &data, &job.size, &job.error), &job.error);
    job.data = data;
    oom_each(&job, oom_emit_c);
    holo_buffer_free(NULL, data, job.size);
}

static holo_status oom_compile_file(oom_job *job)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.allocator = job->alloc;
    return holo_compile_files(&job->in, 1, job->out, &options, NULL, &job->error);
}

static void oom_compiles_file(void)
{
    make_fixture f;
    make model = oom_onnx(&f);
    char in[2048], out[2048];
    snprintf(in, sizeof in, "%s", hg_test_temp("in.onnx"));
    snprintf(out, sizeof out, "%s", hg_test_temp("out.holo"));
    fault_write(in, model.data, model.size);
    oom_job job = {.in = in, .out = out};
    oom_each(&job, oom_compile_file);
    CHECK_EQ_INT(access(out, F_OK), 0);
    make_deinit(&f);
}

static holo_status oom_open(oom_job *job)
{
    holo_open_options options = HOLO_OPEN_OPTIONS_INIT;
    holo_model *model = NULL;
    options.allocator = job->alloc;
    options.flags = HOLO_OPEN_COPY;
    holo_status status = holo_model_open_memory(job->data, job->size, holo_kernels_all(), &options,
                                                &model, &job->error);
    holo_model_free(model);
    return status;
}

static void oom_opens(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    oom_job job = {.data = b.data, .size = b.size};
    oom_each(&job, oom_open);
    free(b.data);
}

#define OOM_BODIES                                                                                 \
    "graph(%x: float32[n,3]) { %m = const int64[] {3} %k = const int64[] {1} %y = Loop(%m, _, %x)" \
    " body(%i: int64[], %c: bool[], %a: float32[n,3]) { %t = Less(%i, %k) %z = If(%t)"             \
    " body() { %p = Exp(%a) return %p } body() { %q = Neg(%a) return %q } return %c, %z }"         \
    " return %y as \"y\" }"

/* Session, prepare and run at two sizes, with a memo where there can be one; the model has memory
 * enough. */
static holo_status oom_session(oom_job *job)
{
    float x[15] = {1, 0, 3, 0, 5, 0, 7, 0, 9, 0, 11, 0, 13, 0, 15};
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_memo_options memo = HOLO_MEMO_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    options.allocator = job->alloc;
    options.flags = HOLO_SESSION_GROW;
    options.late_bytes = 16;
    holo_status status =
        holo_model_open_memory(job->data, job->size, holo_kernels_all(), NULL, &model, &job->error);
    memo.allocator = job->alloc;
    memo.memory_bytes = 1 << 14;
    if (status == HOLO_OK) status = holo_memo_new(model, &memo, &options.memo, &job->error);
    if (status == HOLO_E_UNSUPPORTED) status = HOLO_OK; /* results whose size data decide */
    if (status == HOLO_OK) status = holo_session_new(model, &options, &session, &job->error);
    for (int64_t n = 1; status == HOLO_OK && n <= 5; n += 4) {
        holo_tensor t = {.data = x, .dim = {n, 3}, .rank = 2, .dtype = HOLO_F32};
        status = holo_session_set_input(session, 0, &t, &job->error);
        if (status == HOLO_OK) status = holo_session_run(session, &job->error);
    }
    holo_session_free(session);
    holo_memo_free(options.memo);
    holo_model_free(model);
    return status;
}

static void oom_runs(void)
{
    const char *text[] = {FAULT_SMALL, FAULT_LATE, OOM_BODIES};
    for (size_t i = 0; i < HG_COUNT(text); i++) {
        fault_bytes b = fault_holo(text[i]);
        oom_job job = {.data = b.data, .size = b.size};
        oom_each(&job, oom_session);
        free(b.data);
    }
}

/* A failed prepare leaves a session that works once there is memory. */
static void oom_session_recovers(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    float x[15] = {1, 1, 1};
    fault_memory m = {0};
    holo_allocator alloc = fault_memory_allocator(&m);
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    options.allocator = &alloc;
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
    holo_tensor t = {.data = x, .dim = {5, 3}, .rank = 2, .dtype = HOLO_F32}, out;
    CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
    m.fail_at = 1;
    m.calls = 1;
    CHECK_STATUS(holo_session_run(session, &e), HOLO_E_NOMEM);
    m.fail_at = 0;
    CHECK_OK(holo_session_run(session, &e), &e);
    CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
    CHECK_NEAR(((float *)out.data)[1], 13, 0);
    holo_session_free(session);
    holo_model_free(model);
    CHECK_EQ_INT(m.live, 0);
    free(b.data);
}

const hg_test_case hg_tests_fault_oom[] = {
    {"compiles_graph", oom_compiles_graph},
    {"compiles_memory", oom_compiles_memory},
    {"compiles_file", oom_compiles_file},
    {"quantizes", oom_quantizes},
    {"emits_c", oom_emits_c},
    {"opens", oom_opens},
    {"runs", oom_runs},
    {"session_recovers", oom_session_recovers},
    {0},
};
