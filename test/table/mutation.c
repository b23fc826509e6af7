/* mutation.c - files whose certificates are changed in one place, for every way in which a table is
 * read: by a step of its own, behind and before products, on the way of a copy, one row a channel,
 * narrowed, of 16 bits; and codes of few bits. Hashes are taken out of the certificates, so that
 * only the proof can tell. */
#include "../test.h"
#include "fault/small.h"
#include "table/cert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATION_TANH                                                                              \
    " %s = const float32[] {0.02} %z = const uint8[] {120}\n"                                      \
    " %d = DequantizeLinear(%x, %s, %z) %e = Tanh(%d) %q = QuantizeLinear(%e, %s, %z)\n"
#define MUTATION_CHANNELS(shape)                                                                   \
    " %s = const float32[] {0.02} %z = const uint8[] {120}\n"                                      \
    " %m = const float32" shape " {0.5,1.0,2.0} %d = DequantizeLinear(%x, %s, %z)\n"               \
    " %f = Mul(%d, %m) %e = Tanh(%f) %q = QuantizeLinear(%e, %s, %z)\n"
#define MUTATION_SQUARE " %b = DequantizeLinear(%w, %v) %p = "
#define MUTATION_BEHIND                                                                            \
    " %q = QuantizeLinear(%p, %s, %z) %d = DequantizeLinear(%q, %s, %z)\n"                         \
    " %e = Mul(%d, %d) %y = QuantizeLinear(%e, %u, %o) return %y }"
#define MUTATION_SCALES                                                                            \
    " %s = const float32[] {0.03125} %z = const uint8[] {128} %v = const float32[] {0.015625}\n"   \
    " %u = const float32[] {0.0625} %o = const uint8[] {3} %a = DequantizeLinear(%x, %s, %z)\n"

static const struct {
    const char *kernel, *text;
} mutation_models[] = {
    {"table", "graph g(%x: uint8[1000]) {" MUTATION_TANH " return %q }"},
    {"table", "graph g(%x: uint8[2,3,400]) {" MUTATION_CHANNELS("[3,1]") " return %q }"},
    {"table", "graph g(%x: uint8[400,3]) {" MUTATION_CHANNELS("[3]") " return %q }"},
    {"table", /* narrowed to 41 codes */
     "graph g(%i: int32[1000]) { %l = const int32[] {0} %h = const int32[] {40}\n"
     " %c = Clip(%i, %l, %h) %x = Cast(%c) {to=2}\n" MUTATION_TANH " return %q }"},
    {"table", "graph g(%x: float16[70000]) { %y = Tanh(%x) %b = Erf(%y) return %b }"},
    {"table.copy", "graph g(%x: uint8[2,500,370,3]) {" MUTATION_TANH
                   " %y = Transpose(%q) {perm=[0,3,1,2]} return %y }"},
    {"table.copy", "graph g(%x: uint8[2,3,500,370]) {" MUTATION_CHANNELS(
                       "[3,1,1]") " %y = Transpose(%q) {perm=[0,2,3,1]} return %y }"},
    {"matmul.p16i8", /* before */
     "graph g(%x: uint8[300,4]) {" MUTATION_TANH " %w = const int8[4,2] {1,2,3,4,5,6,7,8}\n"
     " %y = MatMulInteger(%q, %w, %z) return %y }"},
    {"matmul.p16i8", /* behind */
     "graph g(%x: uint8[36,4]) {" MUTATION_SCALES
     " %w = const int8[4,2] {10,-20,30,40,-50,60,70,-8}\n" MUTATION_SQUARE
     "MatMul(%a, %b)\n" MUTATION_BEHIND},
    {"conv.nhwc.i8", /* behind */
     "graph g(%x: uint8[1,4,6,6]) {" MUTATION_SCALES
     " %w = const int8[2,4,1,1] {10,-20,30,40,-50,60,70,-8}\n" MUTATION_SQUARE
     "Conv(%a, %b)\n" MUTATION_BEHIND},
};

static bool mutation_has_kernel(const fault_bytes *b, const char *name)
{
    for (size_t i = 0; i + strlen(name) + 1 < b->size; i++)
        if (memcmp(b->data + i, name, strlen(name) + 1) == 0) return true;
    return false;
}

/* The certificates with hashes of 0, which mean that none is known. */
static void mutation_forget_hashes(fault_bytes b)
{
    const hg_holo_section *s = fault_section(b, HG_SECTION_CERTS);
    char *text = (char *)b.data + s->offset;
    for (uint64_t i = 0; i + 22 < s->size; i++)
        if (memcmp(text + i, " hash ", 6) == 0) memset(text + i + 6, '0', 16);
}

static hg_str mutation_certs(fault_bytes b)
{
    const hg_holo_section *s = fault_section(b, HG_SECTION_CERTS);
    return (hg_str){(const char *)b.data + s->offset, (size_t)s->size};
}

/* No entry may be another: of long tables some are tried, and of floats the lowest bits that
 * count, which no NaN has in these places. */
static void mutation_entries(fault_bytes b, const hg_cert_view *v, size_t model)
{
    uint8_t *entry = b.data + fault_section(b, HG_SECTION_WEIGHTS)->offset + v->offset;
    const uint64_t end = v->from == HOLO_F16 ? 2 * 0x7c00 : v->bytes;
    for (uint64_t i = 0; i < end; i += end / 24 | 1) {
        entry[i] ^= 1;
        if (fault_prove(b).failed == 0)
            hg_test_fail(HG_TEST_HERE, "model %zu: byte %" PRIu64 " may be anything", model, i);
        entry[i] ^= 1;
    }
}

/* No number of a claim may be another. */
static void mutation_claim(fault_bytes b, const hg_cert_view *v, size_t model)
{
    for (size_t i = 0; i < v->claim.length; i++) {
        char *digit = (char *)(uintptr_t)&v->claim.text[i];
        if (*digit < '0' || *digit > '9' || i == 0 || v->claim.text[i - 1] != ' ') continue;
        const char old = *digit;
        *digit = old == '1' ? '2' : '1';
        if (fault_prove(b).failed == 0)
            hg_test_fail(HG_TEST_HERE, "model %zu: '%.*s' is proved", model, HG_STR_ARG(v->claim));
        *digit = old;
    }
}

/* A narrower range than the codes have. */
static void mutation_range(fault_bytes b, const hg_cert_view *v, size_t model)
{
    if (v->range.length == 0) return;
    char *last = (char *)(uintptr_t)&v->range.text[v->range.length - 1];
    const char old = *last;
    last[-1] = '3';
    *last = '9';
    if (fault_prove(b).failed == 0) hg_test_fail(HG_TEST_HERE, "model %zu: range", model);
    last[-1] = '4';
    *last = old;
}

static void mutation_tables(void)
{
    int narrowed = 0, rows = 0;
    for (size_t m = 0; m < HG_COUNT(mutation_models); m++) {
        fault_bytes b = fault_holo(mutation_models[m].text);
        if (!mutation_has_kernel(&b, mutation_models[m].kernel))
            hg_test_fail(HG_TEST_HERE, "model %zu has no %s", m, mutation_models[m].kernel);
        mutation_forget_hashes(b);
        CHECK_EQ_INT(fault_prove(b).failed, 0);
        hg_str rest = mutation_certs(b);
        for (bool more = true; more;) {
            hg_cert_view v;
            CHECK_OK(hg_cert_next(&rest, &v, &more, NULL), NULL);
            if (!more || !v.is_table) continue;
            narrowed += v.range.length != 0;
            rows += v.rows > 1;
            mutation_entries(b, &v, m);
            mutation_claim(b, &v, m);
            mutation_range(b, &v, m);
        }
        CHECK_EQ_INT(fault_prove(b).failed, 0); /* everything is as it was */
        free(b.data);
    }
    CHECK_EQ_INT(narrowed, 1);
    CHECK_EQ_INT(rows, 3);
}

/* ---- codes of few bits ----------------------------------------------------------------------- */

static fault_bytes mutation_bits(holo_quantize mode)
{
    static float w[64 * 40];
    holo_graph *g = NULL;
    holo_value_id y;
    holo_error e;
    void *data = NULL;
    fault_bytes b = {0};
    for (int i = 0; i < 64 * 40; i++)
        w[i] = (float)(i * 7919 % 1000 - 500) / 500;
    CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e);
    const holo_tensor t = {.data = w, .dim = {64, 40}, .rank = 2, .dtype = HOLO_F32};
    const holo_value_id in[2] = {holo_graph_input(g, "x", HOLO_F32, "2,64"),
                                 holo_graph_constant(g, &t)};
    holo_graph_node(g, "MatMul", in, 2, NULL, 0, &y, 1);
    holo_graph_output(g, y, "y");
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.quantize = mode;
    CHECK_OK(holo_compile_graph(g, &options, &data, &b.size, NULL, &e), &e);
    b.data = fault_copy(data, b.size);
    holo_buffer_free(NULL, data, b.size);
    holo_graph_free(g);
    return b;
}

/* Every product with codes in panels has its bound; none that is another, and none without. */
static void mutation_products(void)
{
    static const holo_quantize modes[] = {
        HOLO_QUANTIZE_INT4,   HOLO_QUANTIZE_INT3, HOLO_QUANTIZE_INT2,    HOLO_QUANTIZE_TERNARY,
        HOLO_QUANTIZE_BINARY, HOLO_QUANTIZE_NF4,  HOLO_QUANTIZE_PALETTE, HOLO_QUANTIZE_MXFP4};
    static const int weight_max[] = {8, 4, 2, 2, 1, 127, 127, 127};
    for (size_t i = 0; i < HG_COUNT(modes); i++) {
        fault_bytes b = mutation_bits(modes[i]);
        holo_prove_report r = fault_prove(b);
        CHECK_EQ_INT(r.proved, 1);
        CHECK_EQ_INT(r.failed, 0);
        hg_str rest = mutation_certs(b);
        hg_cert_view v;
        bool more;
        CHECK_OK(hg_cert_next(&rest, &v, &more, NULL), NULL);
        CHECK(v.is_bits);
        CHECK_EQ_INT(v.bits.group, 32);
        CHECK_EQ_INT(v.bits.weight_max, weight_max[i]);
        /* kind, group and input_max; a larger weight_max only says less */
        for (size_t k = 0, numbers = 0; k < v.claim.length && numbers < 3; k++) {
            char *digit = (char *)(uintptr_t)&v.claim.text[k];
            if (*digit < '0' || *digit > '9' || v.claim.text[k - 1] != ' ') continue;
            const char old = *digit;
            *digit = old == '3' ? '6' : '3';
            numbers++;
            CHECK(fault_prove(b).failed >= 1);
            *digit = old;
        }
        char *last = (char *)(uintptr_t)&v.claim.text[v.claim.length - 1];
        (*last)--;
        CHECK(fault_prove(b).failed >= 1);
        (*last)++;
        CHECK_EQ_INT(fault_prove(b).failed, 0);
        fault_section(b, HG_SECTION_CERTS)->kind = 99;
        CHECK_EQ_INT(fault_prove(b).failed, 1);
        free(b.data);
    }
}

static holo_status mutation_text(const char *claim, const uint8_t *bytes, uint64_t n)
{
    char text[256];
    hg_cert_view v;
    bool more;
    holo_error e;
    snprintf(text, sizeof text, "certificate \"y\"\nat 0 %" PRIu64 " hash 0\n%s\nend\n", n, claim);
    hg_str rest = hg_str_from(text);
    HG_TRY(hg_cert_next(&rest, &v, &more, &e));
    return hg_cert_prove(&v, bytes, n, &e);
}

/* Claims about codes that no kernel reads, and about bytes that are not there. */
static void mutation_claims(void)
{
    static uint8_t codes[4 * 32 * 8];
    const uint64_t n = sizeof codes;
    CHECK_STATUS(mutation_text("bits kind 6 group 32 input_max 127 weight_max 127", codes, n),
                 HOLO_OK);
    CHECK_STATUS(mutation_text("bits kind 6 group 32 input_max 127 weight_max 0", codes, n),
                 HOLO_OK);
    codes[777] = 0x80;
    CHECK_STATUS(mutation_text("bits kind 6 group 32 input_max 127 weight_max 127", codes, n),
                 HOLO_E_DATA);
    CHECK_STATUS(mutation_text("bits kind 6 group 32 input_max 127 weight_max 128", codes, n),
                 HOLO_OK);
    CHECK_STATUS(mutation_text("bits kind 6 group 32 input_max 127 weight_max 130", codes, n),
                 HOLO_E_DATA); /* pairs */
    CHECK_STATUS(mutation_text("bits kind 7 group 32 input_max 127 weight_max 127", codes, n),
                 HOLO_E_DATA);
    CHECK_STATUS(mutation_text("bits kind 4 group 0 input_max 127 weight_max 8", codes, n),
                 HOLO_E_DATA);
    CHECK_STATUS(mutation_text("bits kind 4 group 48 input_max 127 weight_max 8", codes, n),
                 HOLO_E_DATA);
    CHECK_STATUS(mutation_text("bits kind 4 group 65568 input_max 127 weight_max 8", codes, n),
                 HOLO_E_DATA);
    CHECK_STATUS(mutation_text("bits kind 6 group 32 input_max 127 weight_max 127", codes, n - 4),
                 HOLO_E_DATA);
    CHECK_STATUS(mutation_text("bits kind 6 group 32 input_max 127", codes, n), HOLO_E_FORMAT);
}

const hg_test_case hg_tests_table_mutation[] = {
    {"tables", mutation_tables},
    {"products", mutation_products},
    {"claims", mutation_claims},
    {0},
};
