/* pack_bits.c - MatMulNBits with 8-bit activations: the panels give what the codes say. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PACK_N = 37, PACK_K = 70, PACK_BLOCK = 32, PACK_BLOCKS = 3 };

typedef struct pack_text {
    char text[1 << 16];
    size_t size;
} pack_text;

static bool pack_sink(void *user, const void *bytes, size_t size)
{
    pack_text *t = user;
    if (t->size + size >= sizeof t->text) return false;
    memcpy(t->text + t->size, bytes, size);
    t->size += size;
    return true;
}

/* y = x W with W in codes; ternary has zero points of 1 and no code 3. */
static holo_graph *pack_graph(int64_t bits, bool ternary, bool odd_zero, int64_t level,
                              uint8_t *codes, float *scales)
{
    static uint8_t zeros[PACK_N];
    holo_graph *g = NULL;
    holo_error e;
    const int64_t row = PACK_BLOCKS * PACK_BLOCK * bits / 8;
    uint32_t state = 11;
    for (int64_t i = 0; i < PACK_N * row; i++) {
        state = state * 1664525u + 1013904223u;
        codes[i] = (uint8_t)(state >> 24);
        if (ternary) codes[i] = (uint8_t)(codes[i] & ~(codes[i] >> 1 & 0x55));
    }
    for (int i = 0; i < PACK_N * PACK_BLOCKS; i++)
        scales[i] = 0.01f * (float)(1 + i % 7);
    memset(zeros, 0x55, sizeof zeros);
    if (odd_zero) zeros[3] = 0x54;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    holo_tensor b = {.data = codes,
                     .dim = {PACK_N, PACK_BLOCKS, PACK_BLOCK * bits / 8},
                     .rank = 3,
                     .dtype = HOLO_U8};
    holo_tensor s = {.data = scales, .dim = {PACK_N, PACK_BLOCKS}, .rank = 2, .dtype = HOLO_F32};
    holo_tensor z = {.data = zeros, .dim = {PACK_N, 1}, .rank = 2, .dtype = HOLO_U8};
    const holo_attr attr[] = {{.name = "K", .kind = HOLO_ATTR_INT, .i = PACK_K},
                              {.name = "N", .kind = HOLO_ATTR_INT, .i = PACK_N},
                              {.name = "bits", .kind = HOLO_ATTR_INT, .i = bits},
                              {.name = "block_size", .kind = HOLO_ATTR_INT, .i = PACK_BLOCK},
                              {.name = "accuracy_level", .kind = HOLO_ATTR_INT, .i = level}};
    holo_value_id in[4] = {holo_graph_input(g, "x", HOLO_F32, "rows,70"),
                           holo_graph_constant(g, &b), holo_graph_constant(g, &s), 0};
    holo_value_id y;
    if (ternary) in[3] = holo_graph_constant(g, &z);
    holo_graph_node(g, "com.microsoft:MatMulNBits", in, ternary ? 4 : 3, attr, 5, &y, 1);
    holo_graph_output(g, y, "y");
    return g;
}

static bool pack_run(const holo_graph *g, float *y, bool *packed)
{
    void *data = NULL;
    size_t size = 0;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e;
    static pack_text text;
    float x[2 * PACK_K];
    for (int i = 0; i < 2 * PACK_K; i++)
        x[i] = sinf((float)i);
    holo_tensor in = {.data = x, .dim = {2, PACK_K}, .rank = 2, .dtype = HOLO_F32}, out;
    bool ok =
        CHECK_OK(holo_compile_graph(g, NULL, &data, &size, NULL, &e), &e) &&
        CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e), &e) &&
        CHECK_OK(holo_session_new(model, NULL, &session, &e), &e) &&
        CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e) &&
        CHECK_OK(holo_session_run(session, &e), &e) &&
        CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
    if (ok) {
        memcpy(y, out.data, 2 * PACK_N * sizeof *y);
        text = (pack_text){.size = 0};
        CHECK_OK(holo_model_inspect(model, HOLO_INSPECT_PROGRAM, pack_sink, &text, &e), &e);
        *packed = strstr(text.text, "matmul.bits") != NULL;
    }
    holo_session_free(session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
    return ok;
}

static void pack_agrees(void)
{
    static uint8_t codes[PACK_N * PACK_BLOCKS * PACK_BLOCK];
    static float scales[PACK_N * PACK_BLOCKS], y[2][2 * PACK_N];
    static const struct {
        int64_t bits;
        bool ternary;
    } cases[] = {{4, false}, {2, false}, {8, false}, {2, true}};
    for (size_t t = 0; t < 4; t++) {
        bool packed[2] = {false, false};
        for (int level = 0; level < 2; level++) {
            holo_graph *g =
                pack_graph(cases[t].bits, cases[t].ternary, false, 4 * level, codes, scales);
            if (g == NULL || !pack_run(g, y[level], &packed[level])) return holo_graph_free(g);
            holo_graph_free(g);
        }
        CHECK(!packed[0] && packed[1]);
        const double most = (double)(1 << cases[t].bits) * 0.07;
        for (int i = 0; i < 2 * PACK_N; i++) /* each input is off by at most 1/254 */
            CHECK_NEAR(y[1][i], y[0][i], most * PACK_K / 254);
    }
}

/* Zero points that panels have no place for leave the node as it is. */
static void pack_leaves(void)
{
    static uint8_t codes[PACK_N * PACK_BLOCKS * PACK_BLOCK];
    static float scales[PACK_N * PACK_BLOCKS], y[2 * PACK_N];
    bool packed = true;
    holo_graph *g = pack_graph(2, true, true, 4, codes, scales);
    if (g != NULL && pack_run(g, y, &packed)) CHECK(!packed);
    holo_graph_free(g);
}

const hg_test_case hg_tests_pass_pack_bits[] = {
    {"agrees", pack_agrees},
    {"leaves", pack_leaves},
    {0},
};
