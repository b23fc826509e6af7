/* if_gradient.c - Gradient through If, whose condition is known at run time: both branches against
 * central differences in f64; what is refused. */
#include "fault/small.h"

#include <math.h>

#define GRADIENT "ai.onnx.preview.training:Gradient"

enum { IF_MOST = 8 };

typedef struct if_run {
    holo_session *session;
    double x[2][IF_MOST];
    int64_t rows[2]; /* of %a and %b: [n,2] and [n] */
    bool condition;
} if_run;

/* Outputs: %f, a scalar, and its derivatives by %a and %b. */
static bool if_compute(if_run *r, double out[3][IF_MOST])
{
    holo_error e = {0};
    const holo_tensor in[] = {
        {.data = &r->condition, .dtype = HOLO_BOOL},
        {.data = r->x[0], .rank = 2, .dim = {r->rows[0], 2}, .dtype = HOLO_F64},
        {.data = r->x[1], .rank = 1, .dim = {2}, .dtype = HOLO_F64},
    };
    for (uint32_t i = 0; i < HG_COUNT(in); i++)
        if (!CHECK_OK(holo_session_set_input(r->session, i, &in[i], &e), &e)) return false;
    if (!CHECK_OK(holo_session_run(r->session, &e), &e)) return false;
    for (uint32_t j = 0; j < 3; j++) {
        holo_tensor t;
        if (!CHECK_OK(holo_session_output(r->session, j, &t, &e), &e)) return false;
        const int64_t count = j == 0 ? 1 : j == 1 ? 2 * r->rows[0] : 2;
        memcpy(out[j], t.data, (size_t)count * sizeof(double));
    }
    return true;
}

static void if_differences(if_run *r)
{
    double found[3][IF_MOST] = {{0}}, up[3][IF_MOST] = {{0}}, down[3][IF_MOST] = {{0}};
    const double step = 1e-5;
    if (!if_compute(r, found)) return;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < (k == 0 ? 2 * r->rows[0] : 2); i++) {
            const double x = r->x[k][i];
            r->x[k][i] = x + step;
            if (!if_compute(r, up)) return;
            r->x[k][i] = x - step;
            if (!if_compute(r, down)) return;
            r->x[k][i] = x;
            const double expected = (up[0][0] - down[0][0]) / (2 * step);
            CHECK_NEAR(found[1 + k][i], expected, 1e-6 * (1 + fabs(expected)));
        }
}

static void if_case(const char *body)
{
    char text[2048];
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_session_options grow = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_error e = {0};
    void *data = NULL;
    size_t size = 0;
    if_run r = {.x = {{0.3, -1.2, 0.7, 1.9, -0.4, 0.8}, {1.1, -0.6}}, .rows = {3, 2}};
    grow.flags = HOLO_SESSION_GROW;
    snprintf(text, sizeof text,
             "graph(%%c: bool[], %%a: float64[n,2], %%b: float64[2]) { %s %%f = ReduceSum(%%s) "
             "{keepdims=0} %%da, %%db = " GRADIENT "(%%a, %%b, %%a, %%b, %%f) {xs=[\"a\", \"b\"], "
             "y=\"f\"} return %%f as \"f\", %%da as \"da\", %%db as \"db\" }",
             body);
    if (CHECK_OK(fault_compile(text, &options, &data, &size, &e), &e) &&
        CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e), &e) &&
        CHECK_OK(holo_session_new(model, &grow, &r.session, &e), &e))
        for (int yes = 0; yes < 2; yes++) {
            r.condition = yes != 0;
            if_differences(&r);
        }
    holo_session_free(r.session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
}

static void if_branches(void)
{
    static const char *const bodies[] = {
        /* both read both */
        "%s = If(%c) body() { %t = Mul(%a, %b) %u = Sin(%t) return %u } "
        "body() { %v = Exp(%a) %w = Sub(%v, %b) return %w }",
        /* one of them each, constants, and what was computed before and is used behind */
        "%p = Tanh(%a) %q = If(%c) body() { %k = const float64[] {2.5} %t = Mul(%p, %k) "
        "%u = Mul(%t, %t) return %u } body() { %v = Softmax(%b) {axis=0} %z = Shape(%a) "
        "%w = Expand(%v, %z) return %w } %r = Mul(%q, %p) %s = Mul(%r, %b)",
        /* two results, of which one is a mean of all rows */
        "%q, %r = If(%c) body() { %m = ReduceMean(%a) {keepdims=0} %t = Neg(%b) return %m, %t } "
        "body() { %u = MatMul(%a, %b) %v = ReduceMax(%u) {keepdims=0} return %v, %b } "
        "%s = Mul(%q, %r)",
        /* nothing of what is asked for */
        "%q = If(%c) body() { %t = const float64[] {3} return %t } body() { %u = ReduceSum(%a) "
        "{keepdims=0} return %u } %s = Mul(%q, %b)",
    };
    for (size_t i = 0; i < HG_COUNT(bodies); i++)
        if_case(bodies[i]);
}

static void if_refused(void)
{
    static const struct {
        const char *text, *part;
    } table[] = {
        {"graph(%c: bool[], %d: bool[], %a: float32[2]) { %s = If(%c) body() { %t = If(%d) body() "
         "{ %u = Neg(%a) return %u } body() { return %a } return %t } body() { return %a } : ? "
         "\"choose\" %y = " GRADIENT "(%a, %a, %s) {xs=[\"a\"], y=\"s\"} return %y as \"y\" }",
         "the derivative of node 'choose' (If) is not known: a branch has control flow of its own"},
        {"graph(%c: int64[], %a: float32[2]) { %s = Loop(%c, _, %a) body(%i: int64[], %q: bool[], "
         "%v: float32[2]) { %w = Neg(%v) return %q, %w } : ? \"again\" %y = " GRADIENT
         "(%a, %a, %s) {xs=[\"a\"], y=\"s\"} return %y as \"y\" }",
         "the derivative of node 'again' (Loop) is not known: it repeats a body"},
    };
    for (size_t i = 0; i < HG_COUNT(table); i++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        holo_error e = {0};
        void *data = NULL;
        size_t size = 0;
        CHECK_STATUS(fault_compile(table[i].text, &options, &data, &size, &e), HOLO_E_UNSUPPORTED);
        CHECK_HAS(e.message, table[i].part);
    }
}

const hg_test_case hg_tests_op_if_gradient[] = {
    {"branches", if_branches}, {"refused", if_refused}, {0}};
