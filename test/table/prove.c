/* prove.c - a certificate holds for what was compiled, and for nothing else: tables, bounds, chains
 * and files that were changed in one place are found out. */
#include "whole.h"

#include "../test.h"
#include "fault/small.h"
#include "table/cert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- certificates alone ----------------------------------------------------------------------
 */

#define PROVE_HEAD "certificate \"y\"\nat 0 256 hash 0\n"
#define PROVE_CLAIM "table uint8 -> uint8 base 0 entries 256 rows 1 classes 0\n"
#define PROVE_CHAIN                                                                                \
    "graph chain(%codes: uint8[1,256]) {\n"                                                        \
    "  %1 = const uint8[] {15}\n"                                                                  \
    "  %2 = BitwiseXor(%codes, %1) : uint8[1,256]\n"                                               \
    "  return %2 as \"entries\"\n}\n"

static holo_status prove_text(const char *text, const uint8_t *bytes, uint64_t n, holo_error *e)
{
    hg_str rest = hg_str_from(text);
    hg_cert_view v;
    bool more;
    *e = (holo_error){0};
    HG_TRY(hg_cert_next(&rest, &v, &more, e));
    return hg_cert_prove(&v, bytes, n, e);
}

static void prove_table(void)
{
    uint8_t entry[256];
    holo_error e;
    for (int i = 0; i < 256; i++)
        entry[i] = (uint8_t)(i ^ 15);
    CHECK_OK(prove_text(PROVE_HEAD PROVE_CLAIM PROVE_CHAIN "end\n", entry, 256, &e), &e);
    for (int i = 0; i < 256; i++) {
        entry[i] ^= 1;
        CHECK_STATUS(prove_text(PROVE_HEAD PROVE_CLAIM PROVE_CHAIN "end\n", entry, 256, &e),
                     HOLO_E_DATA);
        entry[i] ^= 1;
    }
    CHECK_HAS(e.message, "for code 255");
    CHECK_STATUS(prove_text(PROVE_HEAD PROVE_CLAIM PROVE_CHAIN "end\n", entry, 255, &e),
                 HOLO_E_DATA);
    CHECK_STATUS(prove_text("certificate \"y\"\nat 0 256 hash 1\n" PROVE_CLAIM PROVE_CHAIN "end\n",
                            entry, 256, &e),
                 HOLO_E_DATA);
}

/* Claims that do not fit the chain or the bytes. */
static void prove_claims(void)
{
    static const char *const claims[] = {
        "table uint8 -> uint8 base 1 entries 256 rows 1 classes 0\n",
        "table uint8 -> uint8 base 0 entries 128 rows 2 classes 0\n",
        "table uint8 -> uint8 base 0 entries 256 rows 1 classes 1\n",
        "table uint8 -> int8 base 0 entries 256 rows 1 classes 0\n",
        "table int8 -> uint8 base 0 entries 256 rows 1 classes 0\n",
        "table float32 -> uint8 base 0 entries 256 rows 1 classes 0\n",
        "table uint8 -> float64 base 0 entries 256 rows 1 classes 0\n",
        "table uint8 -> uint8 base 0 entries 0 rows 1 classes 0\n",
    };
    uint8_t entry[256];
    char text[1024];
    holo_error e;
    for (int i = 0; i < 256; i++)
        entry[i] = (uint8_t)(i ^ 15);
    for (size_t i = 0; i < HG_COUNT(claims); i++) {
        snprintf(text, sizeof text, "%s%s%send\n", PROVE_HEAD, claims[i], PROVE_CHAIN);
        CHECK_STATUS(prove_text(text, entry, 256, &e), HOLO_E_DATA);
    }
}

/* The same chain as a program: max, then exclusive or. */
static void prove_programs(void)
{
    static const char *const claims[] = {
        "program uint8 -> uint8 base 0 entries 256 rows 2 classes 0\n",
        "program uint8 -> uint8 base 0 entries 96 rows 1 classes 1\n",
        "program uint4 -> uint8 base 0 entries 16 rows 1 classes 0\n",
        "program uint8 -> float16 base 0 entries 256 rows 1 classes 0\n",
        "program uint8 -> uint8 base 1 entries 255 rows 1 classes 0\n",
    };
    uint8_t code[5] = {2, 11, 0, 3, 15};
    char text[1024];
    holo_error e;
    const char *format = "certificate \"y\"\nat 0 5 hash 0\n%s%send\n";
    snprintf(text, sizeof text, format,
             "program uint8 -> uint8 base 0 entries 256 rows 1 classes 0\n", PROVE_CHAIN);
    CHECK_OK(prove_text(text, code, 5, &e), &e);
    for (int i = 0; i < 5; i++) {
        const uint8_t was = code[i];
        code[i] = i == 1 ? 7 : was + 1; /* of operation 1 to one that also takes 0 for nothing */
        if (i == 1) code[2] = 1;
        CHECK_STATUS(prove_text(text, code, 5, &e), HOLO_E_DATA);
        code[i] = was;
        code[2] = 0;
    }
    CHECK_STATUS(prove_text(text, code, 4, &e), HOLO_E_DATA);
    for (size_t i = 0; i < HG_COUNT(claims); i++) {
        snprintf(text, sizeof text, format, claims[i], PROVE_CHAIN);
        CHECK_STATUS(prove_text(text, code, 5, &e), HOLO_E_DATA);
    }
}

/* Texts that are no chain. */
static void prove_hostile(void)
{
    static const char *const chains[] = {
        "",
        "graph",
        "graph chain(%codes: uint8[1,256]) { return %codes, %codes }\n",
        "graph chain(%codes: uint8[1,256], %b: uint8[1,256]) { return %codes }\n",
        "graph chain(%codes: uint8[1,256]) { %y = Transpose(%codes) return %y }\n",
        "graph chain(%codes: uint8[1,n]) { %y = Abs(%codes) return %y }\n",
        "graph chain(%codes: uint8[1,256]) { %y = RandomNormalLike(%codes) return %y }\n",
    };
    static const char *const texts[] = {
        "x",
        "certificate \"",
        "certificate \"y\"\nat 0\n",
        PROVE_HEAD,
        PROVE_HEAD PROVE_CLAIM,
        PROVE_HEAD "product k 1\nend\n",
        PROVE_HEAD "table uint8 ->\nend\n",
    };
    const uint8_t entry[256] = {0};
    char text[1024];
    holo_error e;
    for (size_t i = 0; i < HG_COUNT(chains); i++) {
        snprintf(text, sizeof text, "%s%s%send\n", PROVE_HEAD, PROVE_CLAIM, chains[i]);
        CHECK(prove_text(text, entry, 256, &e) != HOLO_OK);
        CHECK(e.message[0] != 0);
    }
    for (size_t i = 0; i < HG_COUNT(texts); i++)
        CHECK_STATUS(prove_text(texts[i], entry, 256, &e), HOLO_E_FORMAT);
}

/* 7-bit weights and 8-bit inputs: pairs fit 16 bits; and where they do not. */
static void prove_products(void)
{
    uint8_t w[256];
    holo_error e;
    for (int i = 0; i < 256; i++)
        w[i] = (uint8_t)(i % 127 - 63);
    CHECK_OK(
        prove_text(PROVE_HEAD
                   "product k 1000 input_max 255 weight_max 64 pair_max 126 panel 0 used 0\nend\n",
                   w, 256, &e),
        &e);
    CHECK_STATUS(
        prove_text(PROVE_HEAD
                   "product k 1000 input_max 255 weight_max 62 pair_max 0 panel 0 used 0\nend\n",
                   w, 256, &e),
        HOLO_E_DATA);
    CHECK_STATUS(
        prove_text(PROVE_HEAD
                   "product k 1000 input_max 255 weight_max 64 pair_max 90 panel 0 used 0\nend\n",
                   w, 256, &e),
        HOLO_E_DATA);
    CHECK_STATUS(
        prove_text(PROVE_HEAD
                   "product k 1000 input_max 255 weight_max 64 pair_max 129 panel 0 used 0\nend\n",
                   w, 256, &e),
        HOLO_E_DATA);
    CHECK_STATUS(
        prove_text(PROVE_HEAD
                   "product k 140000 input_max 255 weight_max 64 pair_max 0 panel 0 used 0\nend\n",
                   w, 256, &e),
        HOLO_E_DATA);
}

/* Sums of a column's sizes: 16 columns, 4 of k in a row of a panel, and one row of sums. */
static void prove_columns(void)
{
    static uint8_t w[256];
    holo_error e = {0};
    memset(w, 127, sizeof w); /* two panels of a row and its sums */
    w[0] = 128;
#define PROVE_COLUMNS(most, panel)                                                                 \
    PROVE_HEAD "product k 4 input_max 32768 weight_max 128 pair_max 0 panel " panel                \
               " used 64 column_max " most "\nend\n"
    CHECK_OK(prove_text(PROVE_COLUMNS("509", "128"), w, 256, &e), &e);
    CHECK_STATUS(prove_text(PROVE_COLUMNS("508", "128"), w, 256, &e), HOLO_E_DATA);
    CHECK(strstr(e.message, "column 0 add up to 509") != NULL);
    CHECK_STATUS(prove_text(PROVE_COLUMNS("65536", "128"), w, 256, &e), HOLO_E_DATA);
    CHECK_STATUS(prove_text(PROVE_COLUMNS("509", "192"), w, 256, &e), HOLO_E_DATA);
    CHECK_STATUS(prove_text(PROVE_COLUMNS("x", "128"), w, 256, &e), HOLO_E_FORMAT);
#undef PROVE_COLUMNS
}

/* As a pass states it: sums of columns behind the weights of a panel do not count. */
static void prove_panels(void)
{
    whole w;
    holo_error e = {0};
    hg_value_id value;
    hg_str stored;
    uint8_t packed[24] = {1, 255, 2, 254, 3, 253, 4, 252, 127, 127, 127, 127,
                          1, 255, 2, 254, 3, 253, 4, 252, 127, 127, 127, 127};
    hg_cert_bound bound = {
        .k = 4, .input_max = 255, .weight_max = 4, .pair_max = 8, .panel = 12, .used = 8};
    if (!CHECK_OK(whole_read(&w, "graph g(%x: int8[4]) { %y = Relu(%x) return %y }", NULL, false),
                  &w.error))
        return;
    const hg_type type = {.dtype = HOLO_I8, .rank = 1, .dim = {hg_dim_const(&w.g.dims, 24)}};
    CHECK_OK(hg_graph_add_const(&w.g, (hg_str){0}, type, packed, 24, &value), &w.error);
    for (int i = 0; i < 3; i++) {
        bound.used = i == 1 ? 12 : 8;
        if (i == 2) bound.panel = 11;
        w.g.n_cert = 0;
        CHECK_OK(
            hg_cert_add_product(&w.g, value, hg_graph_region(&w.g, HG_REGION_MAIN)->first, &bound),
            &w.error);
        CHECK_OK(hg_cert_store(&w.ctx, &w.g.cert[0], 0, 24, 0, &stored), &w.error);
        CHECK_STATUS(prove_text(stored.text, packed, 24, &e), i == 0 ? HOLO_OK : HOLO_E_DATA);
    }
    whole_free(&w);
}

/* ---- files -----------------------------------------------------------------------------------
 */

#define PROVE_MODEL                                                                                \
    "graph g(%x: uint8[1000]) {\n"                                                                 \
    "  %s = const float32[] {0.05}\n"                                                              \
    "  %z = const uint8[] {100}\n"                                                                 \
    "  %a = DequantizeLinear(%x, %s, %z)\n"                                                        \
    "  %b = Sigmoid(%a)\n"                                                                         \
    "  %y = QuantizeLinear(%b, %s, %z)\n"                                                          \
    "  return %y\n}\n"

static void prove_files(void)
{
    fault_bytes b = fault_holo(PROVE_MODEL);
    holo_prove_report r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 1);
    CHECK_EQ_INT(r.failed, 0);
    uint8_t *weights = b.data + fault_section(b, HG_SECTION_WEIGHTS)->offset;
    weights[77] ^= 4;
    r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 0);
    CHECK_EQ_INT(r.failed, 2); /* the certificate, and the step that now has none */
    weights[77] ^= 4;
    fault_section(b, HG_SECTION_CERTS)->kind = 99; /* skipped, as in an older library */
    r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 0);
    CHECK_EQ_INT(r.failed, 1);
    free(b.data);
}

/* A chain that has become a program: its bytes, and the codes the step takes. */
static void prove_program_files(void)
{
    fault_bytes b = fault_holo("graph g(%x: int8[1000]) { %y = Relu(%x) return %y }");
    holo_prove_report r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 1);
    CHECK_EQ_INT(r.failed, 0);
    uint8_t *weights = b.data + fault_section(b, HG_SECTION_WEIGHTS)->offset;
    CHECK_EQ_INT(weights[0], 1);
    weights[2] ^= 1;
    r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 0);
    CHECK_EQ_INT(r.failed, 2);
    weights[2] ^= 1;
    fault_section(b, HG_SECTION_CERTS)->kind = 99;
    r = fault_prove(b);
    CHECK_EQ_INT(r.failed, 1);
    free(b.data);
}

/* The bound of an integer product, for the weights as they are packed. */
static void prove_matmul(void)
{
    fault_bytes b = fault_holo("graph g(%x: uint8[3,4]) {\n"
                               "  %w = const int8[4,2] {1,-2,3,4,-5,6,7,8}\n"
                               "  %y = MatMulInteger(%x, %w)\n"
                               "  return %y\n}\n");
    holo_prove_report r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 1);
    CHECK_EQ_INT(r.failed, 0);
    uint8_t *weights = b.data + fault_section(b, HG_SECTION_WEIGHTS)->offset;
    weights[4] = weights[5] = 100; /* side by side for the second column */
    r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 0);
    CHECK_EQ_INT(r.failed, 2); /* the certificate, and the step that now has none */
    free(b.data);
}

/* A text of a file's certificates becomes another of the same length. */
static void prove_exchange(fault_bytes b, const char *from, const char *to)
{
    const hg_holo_section *s = fault_section(b, HG_SECTION_CERTS);
    uint8_t *text = b.data + s->offset;
    const size_t n = strlen(from);
    CHECK_EQ_INT(strlen(to), n);
    for (size_t i = 0; i + n <= s->size; i++)
        if (memcmp(text + i, from, n) == 0) {
            memcpy(text + i, to, n);
            return;
        }
    hg_test_fail(HG_TEST_HERE, "the certificates do not say '%s'", from);
}

/* A product in pairs without a certificate for its own weights fails: one that was taken out, that
 * says less, or is about other bytes. */
static void prove_missing(void)
{
    static const struct {
        const char *from, *to;
        int proved, failed;
    } changes[] = {
        {"pair_max 128", "pair_max 000", 1, 1}, /* holds, but says nothing about pairs */
        {"input_max 255", "input_max 100", 1, 1},
        {"panel 128 used 64", "panel 128 used 00", 1, 1}, /* about none of the weights */
        {"at 0 128 hash", "at 0 112 hash", 1, 1},         /* about some of them */
    };
    static const char *const models[] = {"graph g(%x: uint8[3,4]) {\n"
                                         "  %w = const int8[4,2] {1,-2,3,4,-5,6,7,8}\n"
                                         "  %y = MatMulInteger(%x, %w)\n"
                                         "  return %y\n}\n",
                                         "graph g(%x: uint8[1,2,5,5]) {\n"
                                         "  %w = const int8[2,2,1,1] {1,-2,3,4}\n"
                                         "  %y = ConvInteger(%x, %w)\n"
                                         "  return %y\n}\n"};
    for (size_t m = 0; m < HG_COUNT(models); m++) {
        for (size_t i = 0; i < HG_COUNT(changes); i++) {
            fault_bytes b = fault_holo(models[m]);
            prove_exchange(b, changes[i].from, changes[i].to);
            const holo_prove_report r = fault_prove(b);
            CHECK_EQ_INT(r.proved, changes[i].proved);
            CHECK_EQ_INT(r.failed, changes[i].failed);
            free(b.data);
        }
        fault_bytes b = fault_holo(models[m]);
        fault_section(b, HG_SECTION_CERTS)->kind = 99;
        const holo_prove_report r = fault_prove(b);
        CHECK_EQ_INT(r.proved, 0);
        CHECK_EQ_INT(r.failed, 1);
        free(b.data);
    }
}

/* The same of convolutions, one with all channels and one with each alone. */
static void prove_conv(void)
{
    fault_bytes b = fault_holo("graph g(%x: uint8[1,2,5,5]) {\n"
                               "  %w = const int8[2,2,1,1] {1,-2,3,4}\n"
                               "  %y = ConvInteger(%x, %w)\n"
                               "  return %y\n}\n");
    holo_prove_report r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 1);
    CHECK_EQ_INT(r.failed, 0);
    uint8_t *weights = b.data + fault_section(b, HG_SECTION_WEIGHTS)->offset;
    weights[0] = weights[1] = 100; /* the two channels of an output */
    r = fault_prove(b);
    CHECK_EQ_INT(r.failed, 2);
    free(b.data);
    b = fault_holo("graph g(%x: uint8[1,16,5,5]) {\n"
                   "  %w = const int8[16,1,1,2] {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,"
                   "-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12,-13,-14,-15,-128}\n"
                   "  %y = ConvInteger(%x, %w) {group=16}\n"
                   "  return %y\n}\n");
    r = fault_prove(b);
    CHECK_EQ_INT(r.proved, 1);
    CHECK_EQ_INT(r.failed, 0);
    free(b.data);
}

/* ---- the check while compiling ---------------------------------------------------------------
 */

static void prove_compiler_bug(void)
{
    whole w;
    const char *text = "graph g(%x: int8[256]) { %y = Relu(%x) return %y }";
    if (!CHECK_OK(whole_read(&w, text, NULL, false), &w.error)) return;
    const hg_region *main = hg_graph_region(&w.g, HG_REGION_MAIN);
    const hg_chain_span span = {.from = main->in[0],
                                .to = hg_region_out(&w.g, HG_REGION_MAIN, 0),
                                .rows = 1,
                                .codes = hg_domain_all(HOLO_I8)};
    for (int flip = 0; flip < 2; flip++) {
        hg_chain c;
        hg_lane_code code;
        hg_value_id *operand;
        hg_entries t;
        bool faults;
        CHECK_OK(hg_chain_init(&c, &w.g, &span), &c.error);
        CHECK_OK(hg_chain_code(&c, &code, &operand), &c.error);
        CHECK_OK(hg_entries_make(&c, &code, operand, &t, &faults), &c.error);
        if (flip != 0) ((uint8_t *)t.data)[200] ^= 1;
        CHECK_STATUS(hg_entries_check(&c, &t), flip == 0 ? HOLO_OK : HOLO_E_BUG);
        if (flip != 0)
            CHECK_HAS(c.error.message,
                      "compiler bug: the table differs from its chain at code 200");
        hg_chain_deinit(&c);
    }
    whole_free(&w);
}

const hg_test_case hg_tests_table_prove[] = {
    {"table", prove_table},
    {"claims", prove_claims},
    {"programs", prove_programs},
    {"hostile", prove_hostile},
    {"products", prove_products},
    {"columns", prove_columns},
    {"panels", prove_panels},
    {"files", prove_files},
    {"program_files", prove_program_files},
    {"matmul", prove_matmul},
    {"conv", prove_conv},
    {"missing", prove_missing},
    {"compiler_bug", prove_compiler_bug},
    {0},
};
