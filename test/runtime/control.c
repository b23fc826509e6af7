/* control.c - If and Loop, run: results, sizes that change, limits, cancelling, memory. */
#include "base/clock.h"
#include "control_text.h"

#include <stdlib.h>

/* ---- If ---------------------------------------------------------------------------------------
 */

static const char *const control_if = "graph(%c: bool[], %x: float32[n]) {\n"
                                      "  %two = const float32[] {2.0}\n"
                                      "  %y = If(%c) then() {\n"
                                      "    %a = Add(%x, %x)\n"
                                      "    return %a\n"
                                      "  } else() {\n"
                                      "    %b = Sub(%x, %two)\n"
                                      "    return %b\n"
                                      "  }\n"
                                      "  %z = Neg(%y)\n"
                                      "  return %z\n"
                                      "}\n";

static void control_if_with(uint32_t flags)
{
    control f;
    float x[4] = {1, 2, 3, 4};
    if (control_open(&f, control_if, flags, NULL)) {
        for (int64_t n = 4; n >= 0; n -= 2) {
            for (int c = 0; c < 2; c++) {
                bool condition = c == 1;
                const float yes[4] = {-2, -4, -6, -8}, no[4] = {1, 0, -1, -2};
                control_scalar(&f, 0, HOLO_BOOL, &condition);
                control_set(&f, 1, HOLO_F32, x, 1, n);
                if (control_run(&f)) control_is(&f, 0, condition ? yes : no, n);
            }
        }
        CHECK_EQ_INT(holo_model_graph_count(f.model), 1);
    }
    control_close(&f);
}

static void control_if_branches(void)
{
    control_if_with(0);
}

static void control_if_unoptimized(void)
{
    control_if_with(HOLO_COMPILE_NO_OPTIMIZE);
}

/* A condition that is known leaves no branch. */
static void control_if_decided(void)
{
    control f;
    float x[2] = {1, 2};
    if (control_open(&f,
                     "graph(%x: float32[2]) {\n"
                     "  %c = const bool[] {true}\n"
                     "  %y = If(%c) then() { %a = Abs(%x) return %a }\n"
                     "    else() { %b = Neg(%x) return %b }\n"
                     "  return %y\n}\n",
                     0, NULL)) {
        holo_session_stats stats;
        control_set(&f, 0, HOLO_F32, x, 1, 2);
        if (control_run(&f)) control_is(&f, 0, (const float[]){1, 2}, 2);
        holo_session_get_stats(f.session, &stats);
        CHECK_EQ_INT(stats.steps, 1);
    }
    control_close(&f);
}

/* Branches of different size, and a branch inside a branch. */
static void control_if_sizes(void)
{
    control f;
    float x[3] = {1, 2, 3};
    bool c = true, d = false;
    if (control_open(&f,
                     "graph(%c: bool[], %d: bool[], %x: float32[n]) {\n"
                     "  %y = If(%c) then() {\n"
                     "    %p = If(%d) then() { %a = Concat(%x, %x) {axis=0} return %a }\n"
                     "      else() { %b = Neg(%x) return %b }\n"
                     "    return %p\n"
                     "  } else() { %q = Concat(%x, %x, %x) {axis=0} return %q }\n"
                     "  %z = Relu(%y)\n"
                     "  return %z, %y\n}\n",
                     0, NULL)) {
        control_scalar(&f, 0, HOLO_BOOL, &c);
        control_scalar(&f, 1, HOLO_BOOL, &d);
        control_set(&f, 2, HOLO_F32, x, 1, 2);
        if (control_run(&f)) control_is(&f, 1, (const float[]){-1, -2}, 2);
        d = true;
        if (control_run(&f)) control_is(&f, 0, (const float[]){1, 2, 1, 2}, 4);
        c = false;
        if (control_run(&f)) control_is(&f, 0, (const float[]){1, 2, 1, 2, 1, 2}, 6);
    }
    control_close(&f);
}

/* Where branches differ in rank, what depends on them is in both. */
static void control_if_ranks(void)
{
    control f;
    float x[3] = {3, 5, 7};
    bool c = true;
    if (control_open(&f,
                     "graph(%c: bool[], %x: float32[1,n]) {\n"
                     "  %zero = const int64[1] {0}\n"
                     "  %y = If(%c) then() { %a = Squeeze(%x, %zero) return %a }\n"
                     "    else() { %b = Identity(%x) return %b }\n"
                     "  %s = Neg(%x)\n"
                     "  %r = ReduceMax(%y) {keepdims=0}\n"
                     "  %t = Add(%r, %s)\n"
                     "  return %t\n}\n",
                     0, NULL)) {
        for (int k = 0; k < 2; k++) {
            holo_tensor t = {.data = x, .dim = {1, 3}, .rank = 2, .dtype = HOLO_F32};
            c = k == 0;
            control_scalar(&f, 0, HOLO_BOOL, &c);
            CHECK_OK(holo_session_set_input(f.session, 1, &t, &f.error), &f.error);
            if (control_run(&f)) control_is(&f, 0, (const float[]){4, 2, 0}, 3);
        }
    }
    control_close(&f);
}

/* ---- Loop -------------------------------------------------------------------------------------
 */

/* s += x, collecting s * i; ends before its time when s is above the limit. */
static const char *const control_sum =
    "graph(%m: int64[], %s0: float32[], %x: float32[], %limit: float32[]) {\n"
    "  %true = const bool[] {true}\n"
    "  %s, %all = Loop(%m, %true, %s0) body(%i: int64[], %c: bool[], %s1: float32[]) {\n"
    "    %s2 = Add(%s1, %x)\n"
    "    %go = Less(%s2, %limit)\n"
    "    %f = Cast(%i) {to=1}\n"
    "    %p = Mul(%s2, %f)\n"
    "    return %go, %s2, %p\n"
    "  }\n"
    "  return %s, %all\n}\n";

static void control_loop_with(uint32_t flags)
{
    control f;
    int64_t m = 4;
    float s0 = 10, x = 1, limit = 100;
    if (control_open(&f, control_sum, flags, NULL)) {
        control_scalar(&f, 0, HOLO_I64, &m);
        control_scalar(&f, 1, HOLO_F32, &s0);
        control_scalar(&f, 2, HOLO_F32, &x);
        control_scalar(&f, 3, HOLO_F32, &limit);
        if (control_run(&f)) {
            control_is(&f, 0, (const float[]){14}, 1);
            control_is(&f, 1, (const float[]){0, 12, 26, 42}, 4);
        }
        limit = 12;
        if (control_run(&f)) {
            control_is(&f, 0, (const float[]){12}, 1);
            control_is(&f, 1, (const float[]){0, 12}, 2);
        }
        m = 0;
        if (control_run(&f)) {
            control_is(&f, 0, (const float[]){10}, 1);
            control_is(&f, 1, NULL, 0);
        }
        m = -3;
        if (control_run(&f)) control_is(&f, 0, (const float[]){10}, 1);
    }
    control_close(&f);
}

static void control_loop_results(void)
{
    control_loop_with(0);
}

static void control_loop_unoptimized(void)
{
    control_loop_with(HOLO_COMPILE_NO_OPTIMIZE);
}

/* Two values that change places: one must not overwrite the other. */
static void control_loop_swaps(void)
{
    control f;
    float a[2] = {1, 2}, b[2] = {3, 4};
    if (control_open(&f,
                     "graph(%a: float32[n], %b: float32[n]) {\n"
                     "  %m = const int64[] {3}\n"
                     "  %p, %q = Loop(%m, _, %a, %b) "
                     "body(%i: int64[], %c: bool[], %a1: float32[n], %b1: float32[n]) {\n"
                     "    return %c, %b1, %a1\n  }\n"
                     "  return %p, %q\n}\n",
                     0, NULL)) {
        control_set(&f, 0, HOLO_F32, a, 1, 2);
        control_set(&f, 1, HOLO_F32, b, 1, 2);
        if (control_run(&f)) {
            control_is(&f, 0, b, 2);
            control_is(&f, 1, a, 2);
        }
    }
    control_close(&f);
}

/* A carried value that grows; its size decides about what comes later. */
static void control_loop_grows(void)
{
    control f;
    int64_t m;
    float x[2] = {1, 2};
    if (control_open(&f,
                     "graph(%m: int64[], %x: float32[n]) {\n"
                     "  %y = Loop(%m, _, %x) body(%i: int64[], %c: bool[], %v: float32[n]) {\n"
                     "    %w = Concat(%v, %x) {axis=0}\n"
                     "    return %c, %w\n  }\n"
                     "  %z = Neg(%y)\n"
                     "  return %z\n}\n",
                     0, NULL)) {
        control_set(&f, 1, HOLO_F32, x, 1, 2);
        control_scalar(&f, 0, HOLO_I64, &m);
        for (m = 3; m >= 0; m--)
            if (control_run(&f))
                control_is(&f, 0, (const float[]){-1, -2, -1, -2, -1, -2, -1, -2}, 2 * (m + 1));
    }
    control_close(&f);
}

/* A loop in a loop: the inner one counts with the outer one's counter. */
static void control_loop_nested(void)
{
    control f;
    int64_t m = 5;
    float zero = 0;
    if (control_open(&f,
                     "graph(%m: int64[], %x: float32[]) {\n"
                     "  %one = const float32[] {1.0}\n"
                     "  %y = Loop(%m, _, %x) body(%i: int64[], %c: bool[], %v: float32[]) {\n"
                     "    %w = Loop(%i, _, %v) body(%j: int64[], %d: bool[], %u: float32[]) {\n"
                     "      %t = Add(%u, %one)\n"
                     "      return %d, %t\n    }\n"
                     "    return %c, %w\n  }\n"
                     "  return %y\n}\n",
                     0, NULL)) {
        control_scalar(&f, 0, HOLO_I64, &m);
        control_scalar(&f, 1, HOLO_F32, &zero);
        if (control_run(&f)) control_is(&f, 0, (const float[]){10}, 1);
    }
    control_close(&f);
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static const char *const control_endless =
    "graph(%x: float32[]) {\n"
    "  %true = const bool[] {true}\n"
    "  %y = Loop(_, %true, %x) body(%i: int64[], %c: bool[], %v: float32[]) {\n"
    "    %w = Add(%v, %x)\n"
    "    return %c, %w\n  }\n"
    "  return %y\n}\n";

static void control_fails(control *f, holo_status expected, const char *part)
{
    CHECK_STATUS(holo_session_run(f->session, &f->error), expected);
    CHECK_HAS(f->error.message, part);
}

static void control_limit_iterations(void)
{
    control f;
    float x = 1;
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    o.limits.loop_iterations = 1000;
    if (control_open(&f, control_endless, 0, &o)) {
        control_scalar(&f, 0, HOLO_F32, &x);
        control_fails(&f, HOLO_E_LIMIT, "more than 1000 times");
        control_fails(&f, HOLO_E_LIMIT, "more than 1000 times");
    }
    control_close(&f);
}

static void control_limit_time(void)
{
    control f;
    float x = 1;
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    o.limits.run_ms = 30;
    if (control_open(&f, control_endless, 0, &o)) {
        control_scalar(&f, 0, HOLO_F32, &x);
        control_fails(&f, HOLO_E_LIMIT, "longer than 30 ms");
    }
    control_close(&f);
}

typedef struct control_watch {
    holo_session *session;
    int64_t steps, cancel_at;
} control_watch;

static void control_trace(void *user, const holo_step_info *step)
{
    control_watch *w = user;
    CHECK(step->node != NULL && step->kernel != NULL);
    if (++w->steps == w->cancel_at) holo_session_cancel(w->session);
}

static void control_cancel_inside(void)
{
    control f;
    float x = 1;
    control_watch w = {.cancel_at = 50};
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    o.trace = control_trace;
    o.trace_user = &w;
    o.limits.loop_iterations = 200;
    if (control_open(&f, control_endless, 0, &o)) {
        w.session = f.session;
        control_scalar(&f, 0, HOLO_F32, &x);
        control_fails(&f, HOLO_E_CANCELLED, "cancelled");
        CHECK_EQ_INT(w.steps, 50);
        control_fails(&f, HOLO_E_LIMIT, "more than 200 times");
    }
    control_close(&f);
}

/* A cancel that comes during the last step is not lost: it stops the next run. */
static void control_cancel_late(void)
{
    control f;
    float x[2] = {1, 2};
    control_watch w = {.cancel_at = 1};
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    o.trace = control_trace;
    o.trace_user = &w;
    if (control_open(&f, "graph(%x: float32[2]) { %y = Neg(%x) return %y }\n", 0, &o)) {
        w.session = f.session;
        control_set(&f, 0, HOLO_F32, x, 1, 2);
        control_run(&f);
        control_fails(&f, HOLO_E_CANCELLED, "cancelled");
        control_run(&f);
    }
    control_close(&f);
}

static void control_trace_seconds(void *user, const holo_step_info *step)
{
    *(double *)user += step->seconds;
}

/* A loop is not charged with the time of its body's steps: all steps together take no longer than
 * the run. */
static void control_seconds(void)
{
    control f;
    float x[2] = {1, 2};
    double steps = 0;
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    o.trace = control_trace_seconds;
    o.trace_user = &steps;
    if (control_open(&f,
                     "graph(%x: float32[2]) { %m = const int64[] {500} %y = Loop(%m, _, %x)"
                     " body(%i: int64[], %c: bool[], %a: float32[2]) { %b = Softmax(%a)"
                     " return %c, %b } return %y }\n",
                     0, &o)) {
        control_set(&f, 0, HOLO_F32, x, 1, 2);
        const double start = hg_clock_seconds();
        control_run(&f);
        CHECK(steps > 0 && steps <= hg_clock_seconds() - start);
    }
    control_close(&f);
}

/* What goes wrong inside a body is told by the node inside. */
static void control_fault_inside(void)
{
    control f;
    float x[3] = {1, 2, 3};
    int64_t m = 5;
    if (control_open(&f,
                     "graph(%m: int64[], %x: float32[3]) {\n"
                     "  %all = Loop(%m, _) body(%i: int64[], %c: bool[]) {\n"
                     "    %w = Gather(%x, %i) {axis=0} \"inner\"\n"
                     "    return %c, %w\n  }\n"
                     "  return %all\n}\n",
                     0, NULL)) {
        control_scalar(&f, 0, HOLO_I64, &m);
        control_set(&f, 1, HOLO_F32, x, 1, 3);
        control_fails(&f, HOLO_E_DATA, "node 'inner' (Gather");
        m = 3;
        if (control_run(&f)) control_is(&f, 0, x, 3);
    }
    control_close(&f);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

static void *control_count(void *user, void *p, size_t old_size, size_t new_size)
{
    if (new_size != 0) ++*(int64_t *)user;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    (void)old_size;
    return realloc(p, new_size);
}

/* Sizes are known: the second run takes no memory, the first neither once prepared. */
static void control_no_allocation(void)
{
    control f;
    int64_t count = 0;
    bool c = true;
    float x[4] = {1, 2, 3, 4};
    holo_allocator counter = {control_count, &count};
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    o.allocator = &counter;
    if (control_open(&f,
                     "graph(%c: bool[], %x: float32[4]) {\n"
                     "  %m = const int64[] {6}\n"
                     "  %y, %all = Loop(%m, _, %x) "
                     "body(%i: int64[], %d: bool[], %v: float32[4]) {\n"
                     "    %w = If(%c) then() { %p = Add(%v, %x) return %p }\n"
                     "      else() { %q = Sub(%v, %x) return %q }\n"
                     "    %s = ReduceMax(%w) {keepdims=0}\n"
                     "    return %d, %w, %s\n  }\n"
                     "  return %y, %all\n}\n",
                     0, &o)) {
        control_scalar(&f, 0, HOLO_BOOL, &c);
        control_set(&f, 1, HOLO_F32, x, 1, 4);
        CHECK_OK(holo_session_prepare(f.session, &f.error), &f.error);
        int64_t before = count;
        if (control_run(&f)) control_is(&f, 1, (const float[]){8, 12, 16, 20, 24, 28}, 6);
        CHECK_EQ_INT(count, before);
        c = false;
        if (control_run(&f)) control_is(&f, 0, (const float[]){-5, -10, -15, -20}, 4);
        CHECK_EQ_INT(count, before);
    }
    control_close(&f);
}

typedef struct control_memory {
    int64_t calls, fail_at, live;
} control_memory;

static void *control_fail(void *user, void *p, size_t old_size, size_t new_size)
{
    control_memory *m = user;
    if (new_size != 0 && ++m->calls >= m->fail_at) return NULL;
    m->live += (int64_t)new_size - (p == NULL ? 0 : (int64_t)old_size);
    if (new_size != 0) return realloc(p, new_size);
    free(p);
    return NULL;
}

/* From some allocation on there is no memory: an error each time, and nothing is lost. */
static void control_out_of_memory(void)
{
    control f = {0};
    int64_t m = 40000, n = 1;
    float x = 1, limit = 1e30f;
    if (control_open(&f, control_sum, 0, NULL)) {
        holo_session_free(f.session);
        for (f.session = NULL; n < 1000; n++) {
            control_memory memory = {.fail_at = n};
            holo_allocator alloc = {control_fail, &memory};
            holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
            o.allocator = &alloc;
            o.flags = HOLO_SESSION_GROW;
            o.late_bytes = 64;
            holo_status status = holo_session_new(f.model, &o, &f.session, &f.error);
            if (status == HOLO_OK) {
                control_scalar(&f, 0, HOLO_I64, &m);
                control_scalar(&f, 1, HOLO_F32, &x);
                control_scalar(&f, 2, HOLO_F32, &x);
                control_scalar(&f, 3, HOLO_F32, &limit);
                status = holo_session_run(f.session, &f.error);
                holo_session_free(f.session);
                f.session = NULL;
            }
            CHECK_EQ_INT(memory.live, 0);
            if (status == HOLO_OK || !CHECK_STATUS(status, HOLO_E_NOMEM)) break;
        }
        CHECK(n > 8 && n < 1000);
    }
    control_close(&f);
}

/* All sessions of a run share one budget. */
static void control_memory_limit(void)
{
    control f;
    int64_t m = 1 << 20;
    float x = 1;
    holo_session_options o = HOLO_SESSION_OPTIONS_INIT;
    o.flags = HOLO_SESSION_GROW;
    o.limits.memory_bytes = 3 << 20;
    if (control_open(&f, control_sum, 0, &o)) {
        float limit = 1e30f;
        control_scalar(&f, 0, HOLO_I64, &m);
        control_scalar(&f, 1, HOLO_F32, &x);
        control_scalar(&f, 2, HOLO_F32, &x);
        control_scalar(&f, 3, HOLO_F32, &limit);
        control_fails(&f, HOLO_E_LIMIT, "its limit is 3145728");
        m = 1000;
        control_run(&f);
        CHECK_EQ_INT(control_out(&f, 1).dim[0], 1000);
    }
    control_close(&f);
}

static void control_space(void)
{
    control f;
    int64_t m = 1 << 20;
    float x = 1, limit = 1e30f;
    if (control_open(&f, control_sum, 0, NULL)) {
        control_scalar(&f, 0, HOLO_I64, &m);
        control_scalar(&f, 1, HOLO_F32, &x);
        control_scalar(&f, 2, HOLO_F32, &x);
        control_scalar(&f, 3, HOLO_F32, &limit);
        control_fails(&f, HOLO_E_SPACE, "HOLO_SESSION_GROW");
    }
    control_close(&f);
}

/* Equal nodes that find a size become one; both names of the size mean it. */
static void control_same_late_size(void)
{
    control f;
    float x[4] = {1, 0, 2, 3};
    if (control_open(&f,
                     "graph(%x: float32[4]) {\n"
                     "  %a = NonZero(%x)\n  %b = NonZero(%x)\n  %c = Cast(%b) {to=1}\n"
                     "  return %a, %c\n}\n",
                     0, NULL)) {
        control_set(&f, 0, HOLO_F32, x, 1, 4);
        if (control_run(&f)) control_is(&f, 1, (const float[]){0, 2, 3}, 3);
    }
    control_close(&f);
}

const hg_test_case hg_tests_runtime_control[] = {
    {"if_branches", control_if_branches},
    {"if_unoptimized", control_if_unoptimized},
    {"if_decided", control_if_decided},
    {"if_sizes", control_if_sizes},
    {"if_ranks", control_if_ranks},
    {"loop_results", control_loop_results},
    {"loop_unoptimized", control_loop_unoptimized},
    {"loop_swaps", control_loop_swaps},
    {"loop_grows", control_loop_grows},
    {"loop_nested", control_loop_nested},
    {"limit_iterations", control_limit_iterations},
    {"limit_time", control_limit_time},
    {"cancel_inside", control_cancel_inside},
    {"cancel_late", control_cancel_late},
    {"seconds", control_seconds},
    {"fault_inside", control_fault_inside},
    {"no_allocation", control_no_allocation},
    {"out_of_memory", control_out_of_memory},
    {"memory_limit", control_memory_limit},
    {"space", control_space},
    {"same_late_size", control_same_late_size},
    {0},
};
