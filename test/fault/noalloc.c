/* noalloc.c - a prepared run asks for no memory, and nothing grows over a thousand cycles. */
#include "fault/memory.h"
#include "fault/small.h"

enum { NOALLOC_BYTES = 1 << 17 };

typedef struct noalloc_fixture {
    fault_bytes bytes;
    fault_memory memory;
    holo_allocator alloc;
    holo_model *model;
    holo_session *session;
    holo_error error;
} noalloc_fixture;

static bool noalloc_open(noalloc_fixture *f)
{
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    f->alloc = fault_memory_allocator(&f->memory);
    open.allocator = &f->alloc;
    options.allocator = &f->alloc;
    return CHECK_OK(holo_model_open_memory(f->bytes.data, f->bytes.size, holo_kernels_all(), &open,
                                           &f->model, &f->error),
                    &f->error) &&
           CHECK_OK(holo_session_new(f->model, &options, &f->session, &f->error), &f->error);
}

static void noalloc_close(noalloc_fixture *f)
{
    holo_session_free(f->session);
    holo_model_free(f->model);
    f->session = NULL;
    f->model = NULL;
}

static void noalloc_bind(noalloc_fixture *f, float *x, int64_t n)
{
    holo_tensor t = {.data = x, .dim = {n, 3}, .rank = 2, .dtype = HOLO_F32};
    CHECK_OK(holo_session_set_input(f->session, 0, &t, &f->error), &f->error);
}

static void noalloc_runs(const char *text)
{
    float x[15] = {1, 0, 3, 0, 5, 0, 7, 0, 9, 0, 11, 0, 13, 0, 15};
    noalloc_fixture f = {.bytes = fault_holo(text)};
    if (noalloc_open(&f)) {
        noalloc_bind(&f, x, 5);
        CHECK_OK(holo_session_prepare(f.session, &f.error), &f.error);
        size_t before = f.memory.calls, live = f.memory.live;
        for (int i = 0; i < 3; i++)
            CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
        /* Smaller sizes fit the memory that is there. */
        for (int64_t n = 4; n >= 0; n--) {
            noalloc_bind(&f, x, n);
            CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
        }
        noalloc_bind(&f, x, 5);
        CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
        CHECK_EQ_INT(f.memory.calls, before);
        CHECK_EQ_INT(f.memory.live, live);
    }
    noalloc_close(&f);
    CHECK_EQ_INT(f.memory.live, 0);
    free(f.bytes.data);
}

static void noalloc_planned(void)
{
    noalloc_runs(FAULT_SMALL);
}

static void noalloc_late(void)
{
    noalloc_runs(FAULT_LATE);
}

static void noalloc_cycles(void)
{
    float x[6] = {1, 2, 3, 4, 5, 6};
    noalloc_fixture f = {.bytes = fault_holo(FAULT_SMALL)};
    size_t per_cycle = 0;
    for (int i = 0; i < 1000; i++) {
        size_t before = f.memory.calls;
        if (!noalloc_open(&f)) break;
        noalloc_bind(&f, x, 2);
        CHECK_OK(holo_session_run(f.session, &f.error), &f.error);
        noalloc_close(&f);
        if (i == 0) per_cycle = f.memory.calls - before;
        if (!CHECK_EQ_INT(f.memory.live, 0)) break;
        if (!CHECK_EQ_INT(f.memory.calls - before, per_cycle)) break;
    }
    free(f.bytes.data);
}

/* Memory that the caller gives is all that is used. */
static void noalloc_callers_memory(void)
{
    fault_bytes b = fault_holo(FAULT_SMALL);
    float x[6] = {1, 1, 1, 2, 2, 2};
    static const uint8_t zeros[NOALLOC_BYTES];
    uint8_t *memory = fault_copy(zeros, NOALLOC_BYTES);
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    options.memory = memory;
    options.memory_bytes = 64;
    holo_tensor t = {.data = x, .dim = {2, 3}, .rank = 2, .dtype = HOLO_F32}, out;
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
        CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
        if (i == 0) {
            t.dim[0] = 200;
            float *large = calloc(600, sizeof *large);
            t.data = large;
            CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
            CHECK_STATUS(holo_session_run(session, &e), HOLO_E_NOMEM);
            CHECK_HAS(e.message, "it was given 64");
            free(large);
            t.dim[0] = 2;
            t.data = x;
            options.memory_bytes = NOALLOC_BYTES;
        } else {
            CHECK_OK(holo_session_run(session, &e), &e);
            CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
            CHECK((uint8_t *)out.data >= memory && (uint8_t *)out.data < memory + NOALLOC_BYTES);
        }
        holo_session_free(session);
    }
    holo_model_free(model);
    free(memory);
    free(b.data);
}

/* y = 2^5 (x W + 1), by a loop whose body has a product and a branch. */
#define NOALLOC_BODIES                                                                             \
    "graph(%x: float32[n,3]) { %w = const float32[3,3] {1.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,1.0}"      \
    " %m = const int64[] {5} %k = const int64[] {9} %one = const float32[] {1.0}"                  \
    " %v = Add(%x, %one) %y = Loop(%m, _, %v)"                                                     \
    " body(%i: int64[], %c: bool[], %a: float32[n,3]) { %t = Less(%i, %k) %p = MatMul(%a, %w)"     \
    " %z = If(%t) body() { %s = Add(%p, %a) return %s } body() { %r = MatMul(%p, %w) return %r }"  \
    " return %c, %z } return %y as \"y\" }"

static uint64_t noalloc_measure(const holo_model *model, const holo_tensor *t)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session_stats stats = {0};
    holo_session *session = NULL;
    holo_error e = {0};
    options.flags = HOLO_SESSION_MEASURE;
    CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
    CHECK_OK(holo_session_set_input(session, 0, t, &e), &e);
    CHECK_OK(holo_session_prepare(session, &e), &e);
    holo_session_get_stats(session, &stats);
    holo_session_free(session);
    return stats.arena_bytes + stats.scratch_bytes;
}

static void noalloc_bodies_run(holo_session *session, holo_tensor *t, int64_t n,
                               const uint8_t *memory, size_t bytes)
{
    holo_error e = {0};
    holo_tensor out;
    t->dim[0] = n;
    CHECK_OK(holo_session_set_input(session, 0, t, &e), &e);
    CHECK_OK(holo_session_run(session, &e), &e);
    CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
    for (int64_t i = 0; i < 3 * n; i++)
        CHECK(((const float *)out.data)[i] == 32 * (((const float *)t->data)[i] + 1));
    CHECK((const uint8_t *)out.data >= memory && (const uint8_t *)out.data < memory + bytes);
}

/* Bodies, too, live in the memory that the caller gives: exactly what was measured is enough, less
 * is an error that says how much, and the allocator is never asked. */
static void noalloc_bodies(void)
{
    fault_bytes b = fault_holo(NOALLOC_BODIES);
    float x[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
    holo_tensor t = {.data = x, .dim = {6, 3}, .rank = 2, .dtype = HOLO_F32};
    fault_memory counts = {0};
    holo_allocator alloc = fault_memory_allocator(&counts);
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    static const uint8_t zeros[NOALLOC_BYTES];
    const size_t bytes = (size_t)noalloc_measure(model, &t);
    CHECK(bytes > 0 && bytes < NOALLOC_BYTES);
    uint8_t *memory = fault_copy(zeros, bytes); /* ends where its memory ends */
    options.memory = memory;
    options.memory_bytes = bytes;
    options.allocator = &alloc;
    CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
    const size_t calls = counts.calls;
    static const int64_t rows[] = {6, 1, 6, 2, 5, 6};
    for (size_t i = 0; i < HG_COUNT(rows); i++)
        noalloc_bodies_run(session, &t, rows[i], memory, bytes);
    CHECK_EQ_INT(counts.calls, calls);
    holo_session_free(session);
    t.dim[0] = 1;
    options.memory_bytes = (size_t)noalloc_measure(model, &t);
    CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
    t.dim[0] = 6;
    CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
    CHECK_STATUS(holo_session_run(session, &e), HOLO_E_NOMEM);
    CHECK_HAS(e.message, "it was given");
    noalloc_bodies_run(session, &t, 1, memory, bytes); /* the session goes on */
    holo_session_free(session);
    holo_model_free(model);
    CHECK_EQ_INT(counts.live, 0);
    free(memory);
    free(b.data);
}

const hg_test_case hg_tests_fault_noalloc[] = {
    {"planned", noalloc_planned}, {"late", noalloc_late},
    {"cycles", noalloc_cycles},   {"callers_memory", noalloc_callers_memory},
    {"bodies", noalloc_bodies},   {0},
};
