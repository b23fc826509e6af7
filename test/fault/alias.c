/* alias.c - attack 16: memory that is read and written at once, asked for by a file or a caller. */
#include "fault/small.h"

enum { ALIAS_ROWS = 8 };

/* y = x @ w, w a permutation: an output that went straight into its input would give other numbers.
 */
#define ALIAS_TURN                                                                                 \
    "graph(%x: float32[n,3]) { %w = const float32[3,3] {0.0,1.0,0.0,0.0,0.0,1.0,1.0,0.0,0.0}"      \
    " %y = MatMul(%x, %w) %z = Neg(%y) return %y as \"y\", %z as \"z\" }"

static void alias_input_is_output(void)
{
    for (size_t shift = 0; shift < 3; shift++) {
        fault_bytes b = fault_holo(ALIAS_TURN);
        float room[(ALIAS_ROWS + 2) * 3], expected[ALIAS_ROWS * 3];
        float *x = room + 3, *y = room + 3 * shift; /* before, at and behind the input */
        holo_model *model = NULL;
        holo_session *session = NULL;
        holo_error e = {0};
        for (int i = 0; i < ALIAS_ROWS; i++)
            for (int k = 0; k < 3; k++) {
                x[i * 3 + k] = (float)(i * 3 + k);
                expected[i * 3 + (k + 1) % 3] = (float)(i * 3 + k);
            }
        holo_tensor t = {.data = x, .dim = {ALIAS_ROWS, 3}, .rank = 2, .dtype = HOLO_F32};
        CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
        CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
        CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
        CHECK_OK(holo_session_set_output(session, 0, y, sizeof expected, &e), &e);
        CHECK_OK(holo_session_run(session, &e), &e);
        CHECK_MEM(y, expected, sizeof expected);
        holo_session_free(session);
        holo_model_free(model);
        free(b.data);
    }
}

static void alias_two_outputs(void)
{
    fault_bytes b = fault_holo(ALIAS_TURN);
    float x[ALIAS_ROWS * 3] = {0}, y[ALIAS_ROWS * 3 + 1], z[ALIAS_ROWS * 3];
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    holo_tensor t = {.data = x, .dim = {ALIAS_ROWS, 3}, .rank = 2, .dtype = HOLO_F32};
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
    CHECK_OK(holo_session_set_output(session, 0, y, sizeof x, &e), &e);
    CHECK_OK(holo_session_set_output(session, 1, y + 1, sizeof x, &e), &e);
    CHECK_STATUS(holo_session_run(session, &e), HOLO_E_ARG);
    CHECK_HAS(e.message, "outputs 'y' and 'z' are bound to buffers that overlap");
    CHECK_OK(holo_session_set_output(session, 1, z, sizeof z, &e), &e);
    CHECK_OK(holo_session_run(session, &e), &e); /* the session goes on */
    holo_session_free(session);
    holo_model_free(model);
    free(b.data);
}

/* A file cannot say where results lie: a step that would write an input, a weight, a view of these
 * or what another step has written is refused. A view of a result is written where no step computes
 * that result: then it is a part of it (test/plan/join.c). */
static void alias_in_file(void)
{
    static const char text[] =
        "graph(%x: float32[n,4]) { %w = const float32[4,4] "
        "{1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,"
        "1.0,0.0,0.0,0.0,0.0,1.0} %a = MatMul(%x, %w) %s = const int64[2] {-1,2}"
        " %b = Reshape(%a, %s) %c = Softmax(%b) return %c as \"c\", %a as \"a\" }";
    fault_bytes b = fault_holo(text);
    hg_program p = fault_program_of(b);
    uint32_t refused = 0, tried = 0;
    for (uint32_t i = 0; i < p.head.n_step; i++) {
        uint32_t *out = (uint32_t *)(uintptr_t)&p.list[p.step[i].out];
        const uint32_t before = *out;
        for (uint32_t v = 1; p.step[i].n_out > 0 && v < p.head.n_value; v++) {
            holo_model *model = NULL;
            holo_error e = {0};
            if (v == before) continue;
            *out = v;
            fault_seal(b.data, b.size);
            tried++;
            refused += holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model,
                                              &e) == HOLO_E_FORMAT;
            holo_model_free(model);
        }
        *out = before;
    }
    CHECK(tried > 4);
    CHECK_EQ_INT(refused, tried - 1); /* the first step may write %b, which makes it a part of %a */
    free(b.data);
}

const hg_test_case hg_tests_fault_alias[] = {
    {"input_is_output", alias_input_is_output},
    {"two_outputs", alias_two_outputs},
    {"in_file", alias_in_file},
    {0},
};
