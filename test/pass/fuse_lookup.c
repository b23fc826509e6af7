/* fuse_lookup.c - tables behind 8-bit products: the codes are those of sums and squares computed
 * here, the file is proved, and no changed table or certificate is. */
#include "test.h"

#include "fault/small.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKUP_ROWS = 36, LOOKUP_K = 8, LOOKUP_N = 37 };

/* Scales are powers of two, so that everything between the roundings is exact:
 * y = quantize(square(dequantize(quantize(product)))). */
static const char *lookup_text(bool is_conv)
{
    static char text[1 << 14];
    size_t n =
        (size_t)snprintf(text, sizeof text,
                         "graph g(%%x: uint8%s) {\n"
                         "  %%s = const float32[] {0.03125}\n  %%z = const uint8[] {128}\n"
                         "  %%v = const float32[] {0.015625}\n  %%u = const float32[] {0.0625}\n"
                         "  %%o = const uint8[] {3}\n"
                         "  %%a = DequantizeLinear(%%x, %%s, %%z)\n  %%w = const int8%s {",
                         is_conv ? "[1,8,6,6]" : "[36,8]", is_conv ? "[37,8,1,1]" : "[8,37]");
    for (int i = 0; i < LOOKUP_K * LOOKUP_N; i++) {
        const int at = is_conv ? i : i % LOOKUP_N * LOOKUP_K + i / LOOKUP_N;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", i == 0 ? "" : ",",
                              at * 37 % 101 - 50);
    }
    snprintf(text + n, sizeof text - n,
             "}\n  %%b = DequantizeLinear(%%w, %%v)\n  %%p = %s(%%a, %%b)\n"
             "  %%q = QuantizeLinear(%%p, %%s, %%z)\n  %%d = DequantizeLinear(%%q, %%s, %%z)\n"
             "  %%e = Mul(%%d, %%d)\n  %%y = QuantizeLinear(%%e, %%u, %%o)\n  return %%y\n}\n",
             is_conv ? "Conv" : "MatMul");
    return text;
}

static uint8_t lookup_code(double x, double zero)
{
    const double code = nearbyint(x) + zero;
    return (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
}

/* Element k of row r, as it lies in the input. */
static int lookup_at(bool is_conv, int r, int k)
{
    return is_conv ? k * LOOKUP_ROWS + r : r * LOOKUP_K + k;
}

static uint8_t lookup_expected(bool is_conv, const uint8_t *x, int r, int c)
{
    int32_t sum = 0;
    for (int k = 0; k < LOOKUP_K; k++)
        sum += (x[lookup_at(is_conv, r, k)] - 128) * ((c * LOOKUP_K + k) * 37 % 101 - 50);
    const double codes = lookup_code(sum * 0.015625, 128) - 128.0, value = codes * 0.03125;
    return lookup_code(value * value / 0.0625, 3);
}

typedef struct lookup_dump {
    char text[1 << 16];
    size_t size;
} lookup_dump;

static bool lookup_sink(void *user, const void *bytes, size_t size)
{
    lookup_dump *d = user;
    if (d->size + size >= sizeof d->text) return false;
    memcpy(d->text + d->size, bytes, size);
    d->size += size;
    return true;
}

static void lookup_run(bool is_conv, const fault_bytes *b)
{
    static uint8_t x[LOOKUP_ROWS * LOOKUP_K];
    static lookup_dump dump;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_tensor in = {.data = x, .rank = 2, .dim = {LOOKUP_ROWS, LOOKUP_K}, .dtype = HOLO_U8}, out;
    holo_error e;
    if (is_conv)
        in = (holo_tensor){.data = x, .rank = 4, .dim = {1, LOOKUP_K, 6, 6}, .dtype = HOLO_U8};
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (uint8_t)(i * 73 + 11);
    const bool ok =
        CHECK_OK(holo_model_open_memory(b->data, b->size, holo_kernels_all(), NULL, &model, &e),
                 &e) &&
        CHECK_OK(holo_session_new(model, NULL, &session, &e), &e) &&
        CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e) &&
        CHECK_OK(holo_session_run(session, &e), &e) &&
        CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
    for (int r = 0; ok && r < LOOKUP_ROWS; r++)
        for (int c = 0; c < LOOKUP_N; c++)
            CHECK_EQ_INT(((uint8_t *)out.data)[is_conv ? c * LOOKUP_ROWS + r : r * LOOKUP_N + c],
                         lookup_expected(is_conv, x, r, c));
    dump.size = 0;
    if (ok &&
        CHECK_OK(holo_model_inspect(model, HOLO_INSPECT_PROGRAM, lookup_sink, &dump, &e), &e)) {
        dump.text[dump.size] = 0;
        CHECK_HAS(dump.text, is_conv ? "conv.nhwc.i8" : "matmul.p16i8");
        CHECK(strstr(dump.text, " table") == NULL); /* no step of its own */
    }
    holo_session_free(session);
    holo_model_free(model);
}

/* The table of the model: squares, which nothing else in the weights looks like. */
static uint8_t *lookup_table(fault_bytes b)
{
    const hg_holo_section *s = fault_section(b, HG_SECTION_WEIGHTS);
    uint8_t *weights = b.data + s->offset, table[256];
    for (int i = 0; i < 256; i++)
        table[i] = lookup_code((i - 128) * 0.03125 * ((i - 128) * 0.03125) / 0.0625, 3);
    for (uint64_t i = 0; i + 256 <= s->size; i++)
        if (memcmp(weights + i, table, 256) == 0) return weights + i;
    return NULL;
}

static void lookup_all(bool is_conv)
{
    fault_bytes b = fault_holo(lookup_text(is_conv));
    lookup_run(is_conv, &b);
    holo_prove_report r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 2); /* the table and the bound of the product */
    CHECK_EQ_INT(r.failed, 0);
    uint8_t *table = lookup_table(b);
    for (int i = 0; CHECK(table != NULL) && i < 256; i += 15) {
        table[i] ^= 1;
        r = fault_prove(b);
        CHECK_EQ_INT(r.proved, 1);
        CHECK_EQ_INT(r.failed, 2); /* the certificate, and the step that now has none */
        table[i] ^= 1;
    }
    fault_section(b, HG_SECTION_CERTS)->kind = 99;
    r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 0);
    CHECK_EQ_INT(r.failed, 1);
    free(b.data);
}

static void lookup_matmul(void)
{
    lookup_all(false);
}

static void lookup_conv(void)
{
    lookup_all(true);
}

const hg_test_case hg_tests_pass_fuse_lookup[] = {
    {"matmul", lookup_matmul},
    {"conv", lookup_conv},
    {0},
};
