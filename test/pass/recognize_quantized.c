/* recognize_quantized.c - products with weights that alone are codes: MatMulNBits gives what the
 * codes say, however the matrix lies. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHTS_K = 130, WEIGHTS_N = 37, WEIGHTS_M = 2 };

typedef struct weights_text {
    char text[1 << 16];
    size_t size;
} weights_text;

static bool weights_sink(void *user, const void *bytes, size_t size)
{
    weights_text *t = user;
    if (t->size + size >= sizeof t->text) return false;
    memcpy(t->text + t->size, bytes, size);
    t->size += size;
    return true;
}

/* How a case writes its matrix. */
typedef struct weights_case {
    bool is_signed, by_column, has_zero;
    int turn; /* 1: codes are [n, k] and transposed, 2: what they stand for is */
} weights_case;

static holo_value_id weights_transpose(holo_graph *g, holo_value_id v)
{
    static const int64_t perm[] = {1, 0};
    const holo_attr attr = {.name = "perm", .kind = HOLO_ATTR_INTS, .ints = perm, .count = 2};
    holo_value_id y;
    holo_graph_node(g, "Transpose", &v, 1, &attr, 1, &y, 1);
    return y;
}

static holo_graph *weights_graph(const weights_case *c, uint8_t *codes, float *scale, uint8_t *zero)
{
    holo_graph *g = NULL;
    holo_error e;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    const holo_dtype type = c->is_signed ? HOLO_I8 : HOLO_U8;
    holo_tensor w = {.data = codes, .dim = {WEIGHTS_K, WEIGHTS_N}, .rank = 2, .dtype = type};
    if (c->turn != 0) w.dim[0] = WEIGHTS_N, w.dim[1] = WEIGHTS_K;
    holo_tensor s = {.data = scale, .dim = {WEIGHTS_N}, .rank = c->by_column, .dtype = HOLO_F32};
    holo_tensor z = {.data = zero, .dim = {WEIGHTS_N}, .rank = c->by_column, .dtype = type};
    const holo_attr axis = {.name = "axis", .kind = HOLO_ATTR_INT, .i = c->turn == 2 ? 0 : 1};
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "rows,130"), y, v;
    holo_value_id in[3] = {holo_graph_constant(g, &w), holo_graph_constant(g, &s), 0};
    if (c->has_zero) in[2] = holo_graph_constant(g, &z);
    if (c->turn == 1) in[0] = weights_transpose(g, in[0]);
    holo_graph_node(g, "DequantizeLinear", in, c->has_zero ? 3 : 2, &axis, 1, &v, 1);
    if (c->turn == 2) v = weights_transpose(g, v);
    holo_graph_node(g, "MatMul", (holo_value_id[]){x, v}, 2, NULL, 0, &y, 1);
    holo_graph_output(g, y, "y");
    return g;
}

static bool weights_run(const holo_graph *g, holo_tensor *x, float *y)
{
    static weights_text text;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_tensor out;
    holo_error e;
    void *data = NULL;
    size_t size = 0;
    const bool ok =
        CHECK_OK(holo_compile_graph(g, NULL, &data, &size, NULL, &e), &e) &&
        CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e), &e) &&
        CHECK_OK(holo_session_new(model, NULL, &session, &e), &e) &&
        CHECK_OK(holo_session_set_input(session, 0, x, &e), &e) &&
        CHECK_OK(holo_session_run(session, &e), &e) &&
        CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
    if (ok) {
        memcpy(y, out.data, holo_tensor_bytes(&out));
        text = (weights_text){.size = 0};
        CHECK_OK(holo_model_inspect(model, HOLO_INSPECT_PROGRAM, weights_sink, &text, &e), &e);
        CHECK_HAS(text.text, "matmul.nbits");
    }
    holo_session_free(session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
    return ok;
}

static double weights_expected(const weights_case *c, const uint8_t *codes, const float *scale,
                               const uint8_t *zero, const float *x, int column)
{
    double sum = 0;
    for (int k = 0; k < WEIGHTS_K; k++) {
        const int at = c->turn != 0 ? column * WEIGHTS_K + k : k * WEIGHTS_N + column;
        const int z = !c->has_zero ? 0 : zero[c->by_column ? column : 0];
        const int code = c->is_signed ? (int8_t)codes[at] - (int8_t)z : codes[at] - z;
        sum += (double)x[k] * code * (double)scale[c->by_column ? column : 0];
    }
    return sum;
}

static void weights_agree(void)
{
    static uint8_t codes[WEIGHTS_K * WEIGHTS_N], zero[WEIGHTS_N];
    static float scale[WEIGHTS_N], x[WEIGHTS_M * WEIGHTS_K], y[WEIGHTS_M * WEIGHTS_N];
    uint32_t state = 5;
    for (int i = 0; i < WEIGHTS_K * WEIGHTS_N; i++) {
        state = state * 1664525u + 1013904223u;
        codes[i] = (uint8_t)(state >> 24);
    }
    for (int i = 0; i < WEIGHTS_N; i++) {
        zero[i] = (uint8_t)(37 * i + 11);
        scale[i] = 0.01f * (float)(1 + i % 7);
    }
    for (int i = 0; i < WEIGHTS_M * WEIGHTS_K; i++)
        x[i] = sinf((float)i);
    for (int v = 0; v < 24; v++) {
        const weights_case c = {.is_signed = (v & 1) != 0,
                                .by_column = (v & 2) != 0,
                                .has_zero = (v & 4) != 0,
                                .turn = v / 8};
        for (int m = 1; m <= WEIGHTS_M; m++) {
            holo_tensor in = {.data = x, .dim = {m, WEIGHTS_K}, .rank = 2, .dtype = HOLO_F32};
            holo_graph *g = weights_graph(&c, codes, scale, zero);
            if (g != NULL && weights_run(g, &in, y))
                for (int i = 0; i < m * WEIGHTS_N; i++)
                    CHECK_NEAR(y[i],
                               weights_expected(&c, codes, scale, zero,
                                                x + i / WEIGHTS_N * WEIGHTS_K, i % WEIGHTS_N),
                               2e-3);
            holo_graph_free(g);
        }
    }
}

const hg_test_case hg_tests_pass_recognize_quantized[] = {
    {"weights", weights_agree},
    {0},
};
