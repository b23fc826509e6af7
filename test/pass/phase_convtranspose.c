/* phase_convtranspose.c - ConvTranspose as a Conv for each phase, or a product: texts, and answers
 * against the definition. */
#include "fault/small.h"
#include "rewrite.h"

/* A product where there is one place; else a Conv for each phase, if there is enough to multiply.
 */
static void phase_text(void)
{
    CHECK_PASS("phase_convtranspose",
               "graph g(%x: float32[n,2,1,1]) {\n"
               "  %w = const float32[2,2,1,2] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}\n"
               "  %b = const float32[2] {0.5, 0.25}\n"
               "  %y = ConvTranspose(%x, %w, %b)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2,1,1]) {\n"
               "  %b = const float32[2] {0.5, 0.25}\n"
               "  %1 = holo:Dims() {dims=dims[n,2]}\n"
               "  %2 = Reshape(%x, %1) {allowzero=1}\n"
               "  %3 = const float32[2,4] {1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0}\n"
               "  %4 = MatMul(%2, %3)\n"
               "  %5 = holo:Dims() {dims=dims[n,1,2,2]}\n"
               "  %6 = Reshape(%4, %5) {allowzero=1}\n"
               "  %7 = Add(%6, %b)\n"
               "  %y = Transpose(%7) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
    /* Weights of 16 bits stay such. */
    CHECK_PASS("phase_convtranspose",
               "graph g(%x: float32[n,2,1]) {\n"
               "  %h = const float16[2,1,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %w = Cast(%h) {to=1}\n"
               "  %y = ConvTranspose(%x, %w)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2,1]) {\n"
               "  %1 = holo:Dims() {dims=dims[n,2]}\n"
               "  %2 = Reshape(%x, %1) {allowzero=1}\n"
               "  %3 = const float16[2,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %4 = Cast(%3) {to=1}\n"
               "  %5 = MatMul(%2, %4)\n"
               "  %6 = holo:Dims() {dims=dims[n,2,1]}\n"
               "  %7 = Reshape(%5, %6) {allowzero=1}\n"
               "  %y = Transpose(%7) {perm=[0,2,1]}\n"
               "  return %y\n"
               "}\n");
    /* Little to multiply, sizes that are not known, outputs that do not divide. */
    static const char *const kept[] = {
        "graph g(%x: float32[1,1,4,4]) { %w = const float32[1,1,1,3] {1.0, 2.0, 3.0} %y = "
        "ConvTranspose(%x, %w) {strides=[1,2], pads=[0,1,0,0]} return %y }",
        "graph g(%x: float32[1,1,h,4]) { %w = const float32[1,1,1,3] {1.0, 2.0, 3.0} %y = "
        "ConvTranspose(%x, %w) {strides=[1,2]} return %y }",
        "graph g(%x: float32[1,1,4,4]) { %w = const float32[1,1,1,3] {1.0, 2.0, 3.0} %y = "
        "ConvTranspose(%x, %w) {strides=[1,2]} return %y }",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("phase_convtranspose", kept[i], kept[i]);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

enum { PHASE_TEXT = 1 << 14, PHASE_MOST = 1 << 14 };

typedef struct phase_case {
    int rank;
    int64_t n, c, o, size[3], kernel[3], stride[3], pad[3], spare[3], out[3];
    bool has_bias;
    const char *with; /* an operator that the program has to have */
} phase_case;

static const phase_case phase_cases[] = {
    {2, 2, 64, 3, {3, 4, 1}, {4, 4, 1}, {2, 2, 1}, {1, 1, 0}, {0}, {6, 8, 1}, true, "conv.nhwc"},
    {2,
     1,
     128,
     2,
     {4, 3, 1},
     {3, 5, 1},
     {2, 3, 1},
     {1, 1, 0},
     {1, 0, 0},
     {8, 9, 1},
     true,
     "conv.nhwc"},
    {3,
     1,
     64,
     3,
     {2, 3, 2},
     {3, 3, 2},
     {2, 2, 1},
     {1, 1, 0},
     {1, 1, 0},
     {4, 6, 3},
     false,
     "conv.nhwc"},
    {1, 2, 100, 5, {4, 1, 1}, {4, 1, 1}, {2, 1, 1}, {1, 0, 0}, {0}, {8, 1, 1}, true, "conv.nhwc"},
    {3, 2, 5, 3, {1, 1, 1}, {2, 1, 3}, {2, 1, 2}, {0, 0, 0}, {0}, {2, 1, 3}, true, "matmul.p16"},
    {3, 1, 3, 2, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {0}, {4, 4, 4}, true, "conv.nhwc"},
};

/* Small integers: no order of the sums rounds. */
static float phase_weight(int64_t c, int64_t at)
{
    return (float)(c % 3 + 1) * (float)(at % 7 - 3);
}

static float phase_input(int64_t at)
{
    return (float)(at * 5 % 11 - 5);
}

static int64_t phase_product(const int64_t *list)
{
    return list[0] * list[1] * list[2];
}

/* Output `at` of [n, o, out ..]: t = i * stride + k - pad along each axis. */
static double phase_expected(const phase_case *p, int64_t at)
{
    const int64_t places = phase_product(p->out), taps = phase_product(p->kernel);
    const int64_t inputs = phase_product(p->size), o = at / places % p->o, n = at / places / p->o;
    double sum = p->has_bias ? (double)o + 1 : 0;
    for (int64_t i = 0; i < inputs * taps; i++) {
        int64_t place = i / taps, tap = i % taps, t = at % places;
        bool meets = true;
        for (int d = 2; d >= 0; d--) {
            meets = meets && place % p->size[d] * p->stride[d] + tap % p->kernel[d] - p->pad[d] ==
                                 t % p->out[d];
            place /= p->size[d];
            tap /= p->kernel[d];
            t /= p->out[d];
        }
        for (int64_t c = 0; meets && c < p->c; c++)
            sum += (double)phase_input((n * p->c + c) * inputs + i / taps) *
                   (double)phase_weight(c, o * taps + i % taps);
    }
    return sum;
}

static int phase_list(char *text, int at, const char *name, const int64_t *values, int rank,
                      bool twice)
{
    at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "%s=[", name);
    for (int i = 0; i < (twice ? 2 : 1) * rank; i++)
        at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "%s%lld", i == 0 ? "" : ",",
                       (long long)values[i % rank]);
    return at + snprintf(text + at, (size_t)(PHASE_TEXT - at), "]");
}

/* [a, b, list ..] or [a, 1, 1 ..]. */
static int phase_type(char *text, int at, int64_t a, int64_t b, const int64_t *list, int rank)
{
    at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "float32[%lld,%lld", (long long)a,
                   (long long)b);
    for (int i = 0; i < rank; i++)
        at += snprintf(text + at, (size_t)(PHASE_TEXT - at), ",%lld",
                       list == NULL ? 1LL : (long long)list[i]);
    return at + snprintf(text + at, (size_t)(PHASE_TEXT - at), "]");
}

/* Weights are a product of what channel and what output and tap give. */
static void phase_write(const phase_case *p, char *text)
{
    int at = snprintf(text, PHASE_TEXT, "graph(%%x: ");
    at = phase_type(text, at, p->n, p->c, p->size, p->rank);
    at += snprintf(text + at, (size_t)(PHASE_TEXT - at), ") { %%f = const ");
    at = phase_type(text, at, p->c, 1, NULL, p->rank);
    for (int64_t c = 0; c < p->c; c++)
        at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "%s%lld.0", c == 0 ? " {" : ",",
                       (long long)(c % 3 + 1));
    at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "} %%r = const ");
    at = phase_type(text, at, 1, p->o, p->kernel, p->rank);
    for (int64_t i = 0; i < p->o * phase_product(p->kernel); i++)
        at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "%s%lld.0", i == 0 ? " {" : ",",
                       (long long)(i % 7 - 3));
    at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "} %%w = Mul(%%f, %%r)");
    if (p->has_bias) {
        at += snprintf(text + at, (size_t)(PHASE_TEXT - at), " %%b = const float32[%lld]",
                       (long long)p->o);
        for (int64_t i = 0; i < p->o; i++)
            at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "%s%lld.0", i == 0 ? " {" : ",",
                           (long long)i + 1);
        at += snprintf(text + at, (size_t)(PHASE_TEXT - at), "}");
    }
    at += snprintf(text + at, (size_t)(PHASE_TEXT - at), " %%y = ConvTranspose(%%x, %%w%s) {",
                   p->has_bias ? ", %b" : "");
    at = phase_list(text, at, "strides", p->stride, p->rank, false);
    at = phase_list(text, at, ", pads", p->pad, p->rank, true);
    at = phase_list(text, at, ", output_padding", p->spare, p->rank, false);
    (void)snprintf(text + at, (size_t)(PHASE_TEXT - at), "} return %%y as \"y\" }");
}

static bool phase_has(fault_bytes b, const char *kernel)
{
    const hg_program p = fault_program_of(b);
    for (uint32_t i = 0; i < p.head.n_step; i++)
        if (p.step[i].op == HG_STEP_KERNEL &&
            strcmp(p.text + p.kernel[p.step[i].kernel], kernel) == 0)
            return true;
    return false;
}

static void phase_try(const phase_case *p)
{
    char text[PHASE_TEXT];
    float x[PHASE_MOST];
    holo_tensor in = {.data = x, .dim = {p->n, p->c}, .rank = 2 + p->rank, .dtype = HOLO_F32}, out;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    phase_write(p, text);
    fault_bytes b = fault_holo(text);
    CHECK(phase_has(b, p->with));
    CHECK(!phase_has(b, "convtranspose"));
    for (int i = 0; i < p->rank; i++)
        in.dim[2 + i] = p->size[i];
    for (int64_t i = 0; i < holo_tensor_count(&in); i++)
        x[i] = phase_input(i);
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e);
    if (CHECK_OK(holo_session_run(session, &e), &e)) {
        CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
        CHECK_EQ_INT(holo_tensor_count(&out), p->n * p->o * phase_product(p->out));
        for (int64_t i = 0; i < holo_tensor_count(&out); i++)
            if (!CHECK_NEAR(((const float *)out.data)[i], phase_expected(p, i), 0)) break;
    }
    holo_session_free(session);
    holo_model_free(model);
    free(b.data);
}

static void phase_answers(void)
{
    for (size_t i = 0; i < HG_COUNT(phase_cases); i++)
        phase_try(&phase_cases[i]);
}

const hg_test_case hg_tests_pass_phase_convtranspose[] = {
    {"text", phase_text},
    {"answers", phase_answers},
    {0},
};
