/* pack_bits.c - MatMulNBits with 8-bit activations: the panels give what the codes say. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PACK_N = 37, PACK_K = 70, PACK_BLOCK = 32, PACK_BLOCKS = 3, PACK_WHOLE = 96 };

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

typedef struct pack_case {
    int64_t bits, k;
    bool ternary;  /* zero points are 1, and there is no code 3 */
    int64_t zeros; /* bytes of zero points of a column; with 4 bits and 3 of them they are floats */
    uint8_t zero, odd; /* those bytes, and one of them */
    bool half;         /* scales are float16 */
} pack_case;

/* y = x W with W in codes */
static holo_graph *pack_graph(const pack_case *p, int64_t level, uint8_t *codes, float *scales)
{
    static uint8_t zeros[PACK_N * PACK_BLOCKS];
    static uint16_t halves[PACK_N * PACK_BLOCKS];
    const int64_t bits = p->bits;
    const bool ternary = p->ternary;
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
    for (int i = 0; i < PACK_N * PACK_BLOCKS; i++)
        halves[i] = (uint16_t)(0x2000 + (i % 7 << 7)); /* (1 + i % 7 / 8) / 128 */
    memset(zeros, p->zero, sizeof zeros);
    zeros[3] = p->odd;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    holo_tensor b = {.data = codes,
                     .dim = {PACK_N, PACK_BLOCKS, PACK_BLOCK * bits / 8},
                     .rank = 3,
                     .dtype = HOLO_U8};
    holo_tensor s = {.data = p->half ? (void *)halves : scales,
                     .dim = {PACK_N, PACK_BLOCKS},
                     .rank = 2,
                     .dtype = p->half ? HOLO_F16 : HOLO_F32};
    const bool is_float = bits == 4 && p->zeros == PACK_BLOCKS;
    holo_tensor z = {.data = is_float ? (void *)scales : zeros,
                     .dim = {PACK_N, p->zeros},
                     .rank = 2,
                     .dtype = is_float ? HOLO_F32 : HOLO_U8};
    const holo_attr attr[] = {{.name = "K", .kind = HOLO_ATTR_INT, .i = p->k},
                              {.name = "N", .kind = HOLO_ATTR_INT, .i = PACK_N},
                              {.name = "bits", .kind = HOLO_ATTR_INT, .i = bits},
                              {.name = "block_size", .kind = HOLO_ATTR_INT, .i = PACK_BLOCK},
                              {.name = "accuracy_level", .kind = HOLO_ATTR_INT, .i = level}};
    holo_value_id in[4] = {
        holo_graph_input(g, "x", HOLO_F32, p->k == PACK_K ? "rows,70" : "rows,96"),
        holo_graph_constant(g, &b), holo_graph_constant(g, &s), 0};
    holo_value_id y;
    if (p->zeros != 0) in[3] = holo_graph_constant(g, &z);
    holo_graph_node(g, "com.microsoft:MatMulNBits", in, p->zeros != 0 ? 4 : 3, attr, 5, &y, 1);
    holo_graph_output(g, y, "y");
    return g;
}

static bool pack_run(const holo_graph *g, int64_t k, float *y, bool *packed)
{
    void *data = NULL;
    size_t size = 0;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e;
    static pack_text text;
    float x[2 * PACK_BLOCKS * PACK_BLOCK];
    for (int64_t i = 0; i < 2 * k; i++)
        x[i] = 1 + sinf((float)i); /* sums are large: a wrong zero point shows */
    holo_tensor in = {.data = x, .dim = {2, k}, .rank = 2, .dtype = HOLO_F32}, out;
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
    /* zero points: none, all 1, the usual ones given, others in every byte */
    static const pack_case cases[] = {
        {.bits = 4, .k = PACK_K},
        {.bits = 2, .k = PACK_K},
        {.bits = 8, .k = PACK_K},
        {.bits = 2, .k = PACK_K, .ternary = true, .zeros = 1, .zero = 0x55, .odd = 0x55},
        {.bits = 4, .k = PACK_K, .zeros = 2, .zero = 0x88, .odd = 0x88},
        {.bits = 4, .k = PACK_K, .zeros = 2, .zero = 0x7a, .odd = 0xf0, .half = true},
        {.bits = 2, .k = PACK_WHOLE, .zeros = 1, .zero = 0x1b, .odd = 0xe4},
        {.bits = 8, .k = PACK_K, .zeros = 3, .zero = 0x75, .odd = 0xff},
    };
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        const pack_case *p = &cases[t];
        bool packed[2] = {false, false};
        for (int level = 0; level < 2; level++) {
            holo_graph *g = pack_graph(p, 4 * level, codes, scales);
            if (g == NULL || !pack_run(g, p->k, y[level], &packed[level]))
                return holo_graph_free(g);
            holo_graph_free(g);
        }
        CHECK(!packed[0] && packed[1]);
        const double most = (double)(1 << p->bits) * 0.07;
        for (int i = 0; i < 2 * PACK_N; i++) /* each input is off by at most 2/254 */
            CHECK_NEAR(y[1][i], y[0][i], most * (double)p->k / 127);
    }
}

/* Zero points that are numbers, not codes, leave the node as it is. */
static void pack_leaves(void)
{
    static uint8_t codes[PACK_N * PACK_BLOCKS * PACK_BLOCK];
    static float scales[PACK_N * PACK_BLOCKS], y[2 * PACK_N];
    static const pack_case numbers = {.bits = 4, .k = PACK_K, .zeros = PACK_BLOCKS};
    bool packed = true;
    holo_graph *g = pack_graph(&numbers, 4, codes, scales);
    if (g != NULL && pack_run(g, numbers.k, y, &packed)) CHECK(!packed);
    holo_graph_free(g);
}

const hg_test_case hg_tests_pass_pack_bits[] = {
    {"agrees", pack_agrees},
    {"leaves", pack_leaves},
    {0},
};
