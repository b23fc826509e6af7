/* collapse.c - which chains become tables, and where these stand. */
#include "whole.h"

#include "../test.h"
#include "op/op.h"

#include <stdio.h>
#include <string.h>

/* Numbers of tables and of the nodes beside them after collapsing whatever it costs. */
static void collapse_expect(const char *file, int line, const char *text, uint32_t tables,
                            uint32_t others)
{
    whole w;
    if (whole_read(&w, text, NULL, true) != HOLO_OK) {
        hg_test_fail(file, line, "%s", w.error.message);
    } else {
        const uint32_t found = whole_count(&w, "holo:Table");
        const uint32_t rest = (uint32_t)hg_graph_count_nodes(&w.g) - found;
        if (found != tables || rest != others)
            hg_test_fail(file, line, "%u tables and %u other nodes, expected %u and %u of\n%s",
                         found, rest, tables, others, text);
    }
    whole_free(&w);
}

#define EXPECT(text, tables, others) collapse_expect(HG_TEST_HERE, text, tables, others)
#define QUANTIZED                                                                                  \
    "  %s = const float32[] {0.05}\n"                                                              \
    "  %z = const uint8[] {100}\n"                                                                 \
    "  %a = DequantizeLinear(%x, %s, %z)\n"

static void collapse_quantized(void)
{
    EXPECT("graph g(%x: uint8[n,4]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
           "  %c = Mul(%a, %b)\n"
           "  %y = QuantizeLinear(%c, %s, %z)\n"
           "  return %y\n}\n",
           1, 0);
    /* codes in the middle of floats */
    EXPECT("graph g(%f: float32[n,4]) {\n"
           "  %s = const float32[] {0.05}\n"
           "  %z = const uint8[] {100}\n"
           "  %x = QuantizeLinear(%f, %s, %z)\n"
           "  %a = DequantizeLinear(%x, %s, %z)\n"
           "  %y = Sigmoid(%a)\n"
           "  return %y\n}\n",
           1, 6);
    /* another value that is not constant: nothing is looked up */
    EXPECT("graph g(%x: uint8[n], %b: float32[n]) {\n" QUANTIZED "  %y = Mul(%a, %b)\n"
           "  return %y\n}\n",
           1, 1);
}

static void collapse_channels(void)
{
    EXPECT("graph g(%x: uint8[n,3,4]) {\n"
           "  %k = const float32[3,1] {1.0, 2.0, 3.0}\n"
           "  %a = Cast(%x) {to=1}\n"
           "  %b = Mul(%a, %k)\n"
           "  %y = Cast(%b) {to=2}\n"
           "  return %y\n}\n",
           1, 0);
    /* channels along two dimensions have no rows */
    EXPECT("graph g(%x: uint8[n,3,2]) {\n"
           "  %k = const float32[3,1] {1.0, 2.0, 3.0}\n"
           "  %l = const float32[2] {1.0, 2.0}\n"
           "  %a = Cast(%x) {to=1}\n"
           "  %b = Mul(%a, %k)\n"
           "  %c = Mul(%b, %l)\n"
           "  return %c\n}\n",
           1, 1);
}

static void collapse_moved(void)
{
    EXPECT("graph g(%x: uint8[n,4]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
           "  %t = Transpose(%b)\n"
           "  %y = QuantizeLinear(%t, %s, %z)\n"
           "  return %y\n}\n",
           1, 1);
    EXPECT("graph g(%x: uint8[n,4], %i: int64[m]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
           "  %t = Gather(%b, %i)\n"
           "  %y = QuantizeLinear(%t, %s, %z)\n"
           "  return %y\n}\n",
           1, 1);
    EXPECT("graph g(%x: uint8[8,4]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
           "  %shape = const int64[1] {32}\n"
           "  %t = Reshape(%b, %shape)\n"
           "  %y = QuantizeLinear(%t, %s, %z)\n"
           "  return %y\n}\n",
           1, 1);
    /* what moved and what did not are two things, even where the shapes agree */
    EXPECT("graph g(%x: uint8[4,4]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
           "  %t = Transpose(%b)\n"
           "  %y = Mul(%t, %b)\n"
           "  return %y\n}\n",
           1, 2);
}

static void collapse_joined(void)
{
    EXPECT("graph g(%x: uint8[n,4], %x2: int8[n,4]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
           "  %a2 = Cast(%x2) {to=1}\n"
           "  %b2 = Tanh(%a2)\n"
           "  %t = Concat(%b, %b2) {axis=1}\n"
           "  %y = QuantizeLinear(%t, %s, %z)\n"
           "  return %y\n}\n",
           2, 1);
}

static void collapse_fans_out(void)
{
    /* a shared beginning costs nothing: two tables of the same codes */
    EXPECT("graph g(%x: uint8[n,4]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
           "  %c = Mul(%b, %a)\n"
           "  %y = QuantizeLinear(%c, %s, %z)\n"
           "  %d = Tanh(%b)\n"
           "  %y2 = QuantizeLinear(%d, %s, %z)\n"
           "  return %y, %y2\n}\n",
           2, 0);
    /* the middle is needed too */
    EXPECT("graph g(%x: uint8[n,4]) {\n" QUANTIZED "  %b = QuantizeLinear(%a, %s, %z)\n"
           "  %c = DequantizeLinear(%b, %s, %z)\n"
           "  %y = Exp(%c)\n"
           "  return %y, %a\n}\n",
           2, 0);
}

/* Of two kinds of codes on the way the smaller alphabet is looked up. */
static void collapse_prefers_few_codes(void)
{
    whole w;
    const char *text = "graph g(%x: float16[n]) {\n"
                       "  %u = Cast(%x) {to=2}\n"
                       "  %f = Cast(%u) {to=1}\n"
                       "  %y = Exp(%f)\n"
                       "  return %y\n}\n";
    if (CHECK_OK(whole_read(&w, text, NULL, true), &w.error)) {
        const hg_node *n = NULL;
        for (hg_node_id id = hg_graph_region(&w.g, HG_REGION_MAIN)->first; id != 0;
             id = hg_graph_node(&w.g, id)->next)
            n = hg_graph_node(&w.g, id);
        if (CHECK(n != NULL && hg_op_is(n, "holo:Table")))
            CHECK_EQ_INT(hg_graph_value(&w.g, hg_node_in(&w.g, n, 1))->constant->bytes, 256 * 4);
    }
    whole_free(&w);
}

/* NaN, infinities and signed zeros of 16-bit floats, against rules written down here. */
static void collapse_halves(void)
{
    whole w;
    static const uint16_t codes[8] = {0x0000, 0x8000, 0x7c00, 0xfc00,
                                      0x7e00, 0xfe01, 0x3c00, 0xbc00};
    const uint16_t expected[8] = {0x8000, 0x0000, 0xfc00, 0x7c00, 0, 0, 0xbc00, 0x3c00};
    const void *input[1] = {codes};
    const char *text = "graph g(%x: float16[8]) {\n"
                       "  %one = const float16[] {1.0}\n"
                       "  %a = Mul(%x, %one)\n"
                       "  %y = Neg(%a)\n"
                       "  return %y\n}\n";
    if (CHECK_OK(whole_read(&w, text, NULL, true), &w.error)) {
        CHECK_EQ_INT(whole_count(&w, "holo:Table"), 1);
        if (CHECK_OK(whole_run(&w, input), &w.error)) {
            const uint16_t *y = w.result[0]->data;
            for (int i = 0; i < 8; i++) {
                if (i == 4 || i == 5)
                    CHECK((y[i] & 0x7c00) == 0x7c00 && (y[i] & 0x3ff) != 0);
                else
                    CHECK_EQ_INT(y[i], expected[i]);
            }
        }
    }
    whole_free(&w);
}

/* A code that would stop a run must still do so: such a chain stays. */
static void collapse_keeps_faults(void)
{
    EXPECT("graph g(%x: int8[n]) {\n"
           "  %seven = const int32[] {7}\n"
           "  %a = Cast(%x) {to=6}\n"
           "  %b = Div(%seven, %a)\n"
           "  %y = Cast(%b) {to=3}\n"
           "  return %y\n}\n",
           1, 2);
}

/* By cost alone: one Cast to float is no table, a function is. */
static void collapse_by_cost(void)
{
    whole w;
    if (CHECK_OK(whole_read(&w, "graph g(%x: uint8[n,4]) { %y = Cast(%x) {to=1} return %y }",
                            "collapse_tables", false),
                 &w.error))
        CHECK_EQ_INT(whole_count(&w, "holo:Table"), 0);
    whole_free(&w);
    if (CHECK_OK(whole_read(&w,
                            "graph g(%x: uint8[n,1000]) {\n" QUANTIZED "  %b = Sigmoid(%a)\n"
                            "  %y = QuantizeLinear(%b, %s, %z)\n"
                            "  return %y\n}\n",
                            "collapse_tables", false),
                 &w.error))
        CHECK_EQ_INT(whole_count(&w, "holo:Table"), 1);
    whole_free(&w);
    /* Rows of many codes are cheap to look up, rows that change with every code are not. */
    static const char *const rows[] = {
        "graph g(%x: uint8[1,3,256,256]) { %c = const uint8[3,1,1] {10, 20, 30}\n"
        "  %y = Max(%x, %c) return %y }",
        "graph g(%x: uint8[1,256,256,7]) { %c = const uint8[7] {1, 2, 3, 4, 5, 6, 7}\n"
        "  %y = Max(%x, %c) return %y }"};
    for (int i = 0; i < 2; i++) {
        if (CHECK_OK(whole_read(&w, rows[i], "collapse_tables", false), &w.error))
            CHECK_EQ_INT(whole_count(&w, "holo:Table"), i == 0);
        whole_free(&w);
    }
}

const hg_test_case hg_tests_table_collapse[] = {
    {"quantized", collapse_quantized}, {"channels", collapse_channels},
    {"moved", collapse_moved},         {"joined", collapse_joined},
    {"fans_out", collapse_fans_out},   {"prefers_few_codes", collapse_prefers_few_codes},
    {"halves", collapse_halves},       {"keeps_faults", collapse_keeps_faults},
    {"by_cost", collapse_by_cost},     {0},
};
