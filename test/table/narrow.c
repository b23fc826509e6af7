/* narrow.c - ranges of codes, tables of classes, rows that are one, tables that are none. */
#include "whole.h"

#include "../test.h"
#include "base/atlas.h"
#include "op/op.h"
#include "table/cert.h"

#include <stdlib.h>
#include <string.h>

/* The last node when it is a table, otherwise NULL. */
static const hg_node *narrow_table(const whole *w)
{
    const hg_node_id id = hg_graph_region(&w->g, HG_REGION_MAIN)->last;
    const hg_node *n = id == 0 ? NULL : hg_graph_node(&w->g, id);
    return n != NULL && hg_op_is(n, "holo:Table") ? n : NULL;
}

/* Entries, base and rows of the table that a text ends with. */
static void narrow_expect(const char *file, int line, const char *text, int64_t entries,
                          int64_t base)
{
    whole w;
    if (whole_read(&w, text, NULL, true) != HOLO_OK) {
        hg_test_fail(file, line, "%s", w.error.message);
    } else {
        const hg_node *n = narrow_table(&w);
        int64_t found = -1;
        if (n != NULL) {
            const hg_type *t = &hg_graph_value(&w.g, hg_node_in(&w.g, n, 1))->type;
            (void)hg_dim_is_const(&w.g.dims, t->dim[t->rank - 1], &found);
        }
        if (n == NULL || found != entries || hg_node_int(n, "base", 0) != base)
            hg_test_fail(file, line, "%lld entries from %lld on, expected %lld from %lld on",
                         (long long)found, n == NULL ? -1LL : (long long)hg_node_int(n, "base", 0),
                         (long long)entries, (long long)base);
    }
    whole_free(&w);
}

#define EXPECT(text, entries, base) narrow_expect(HG_TEST_HERE, text, entries, base)

static void narrow_ranges(void)
{
    /* a comparison has two codes */
    EXPECT("graph g(%a: float32[n], %b: float32[n]) { %x = Less(%a, %b) %f = Cast(%x) {to=1} "
           "%y = Exp(%f) return %y }",
           16, 0);
    /* a sum of integers, clamped: zero point 128 and no NaN */
    EXPECT("graph g(%a: int32[n], %b: int32[n]) {\n"
           "  %low = const int32[] {128} %high = const int32[] {255}\n"
           "  %s = Add(%a, %b) %l = Max(%s, %low) %h = Min(%l, %high) %x = Cast(%h) {to=2}\n"
           "  %f = Cast(%x) {to=1} %y = Exp(%f)\n"
           "  return %y }",
           128, 128);
    /* a mask */
    EXPECT("graph g(%a: int32[n], %b: int32[n]) {\n"
           "  %m = const int32[] {60}\n"
           "  %s = Add(%a, %b) %k = BitwiseAnd(%s, %m) %x = Cast(%k) {to=2}\n"
           "  %f = Cast(%x) {to=1} %y = Exp(%f)\n"
           "  return %y }",
           64, 0);
    /* negative codes are the upper half */
    EXPECT("graph g(%a: int32[n], %b: int32[n]) {\n"
           "  %low = const int32[] {-20} %high = const int32[] {-5}\n"
           "  %s = Add(%a, %b) %l = Max(%s, %low) %h = Min(%l, %high) %x = Cast(%h) {to=3}\n"
           "  %f = Cast(%x) {to=1} %y = Exp(%f)\n"
           "  return %y }",
           16, 236);
    /* floats from elsewhere may be NaN, which is quantised to the lowest code */
    EXPECT("graph g(%a: float32[n]) {\n"
           "  %s = const float32[] {0.1} %z = const uint8[] {128}\n"
           "  %r = Relu(%a) %x = QuantizeLinear(%r, %s, %z)\n"
           "  %f = Cast(%x) {to=1} %y = Exp(%f)\n"
           "  return %y }",
           256, 0);
    /* integers made floats are none */
    EXPECT("graph g(%i: int32[n]) {\n"
           "  %s = const float32[] {0.1} %z = const uint8[] {128}\n"
           "  %a = Cast(%i) {to=1} %r = Relu(%a) %x = QuantizeLinear(%r, %s, %z)\n"
           "  %f = Cast(%x) {to=1} %y = Exp(%f)\n"
           "  return %y }",
           128, 128);
}

/* What has no entry is a fault, not a number: the range is a promise of the producer alone. */
static void narrow_outside(void)
{
    whole w;
    static const uint8_t inside[4] = {20, 21, 35, 20}, outside[4] = {20, 36, 21, 19};
    const char *text = "graph g(%x: uint8[4]) {\n"
                       "  %t = const uint8[16] {0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}\n"
                       "  %y = holo:Table(%x, %t) {base=20}\n"
                       "  return %y }";
    for (int i = 0; i < 2; i++) {
        const void *input[1] = {i == 0 ? inside : outside};
        if (CHECK_OK(whole_read(&w, text, NULL, false), &w.error))
            CHECK_STATUS(whole_run(&w, input), i == 0 ? HOLO_OK : HOLO_E_DATA);
        if (i == 1) CHECK_HAS(w.error.message, "36");
        whole_free(&w);
    }
}

/* Bits 0, and 5 with 4 when both are set, do not matter: 96 entries say it all. */
static void narrow_classes(void)
{
    uint8_t entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (uint8_t)(200 - hg_atlas_class((uint8_t)i));
    hg_entries t = {.data = entry, .bytes = 256, .rows = 1, .count = 256};
    hg_narrow_classes(&t);
    CHECK(t.classes);
    CHECK_EQ_INT(t.count, 96);
    for (int k = 0; k < 96; k++)
        CHECK_EQ_INT(entry[k], 200 - k);
    for (int changed = 0; changed < 256; changed++) {
        for (int i = 0; i < 256; i++)
            entry[i] = (uint8_t)(200 - hg_atlas_class((uint8_t)i));
        entry[changed] ^= 128;
        t = (hg_entries){.data = entry, .bytes = 256, .rows = 1, .count = 256};
        hg_narrow_classes(&t);
        CHECK(!t.classes); /* every class has at least two bytes */
    }
    EXPECT("graph g(%x: uint8[n]) { %m = const uint8[] {192} %y = BitwiseAnd(%x, %m) return %y }",
           96, 0);
}

static void narrow_canonical(void)
{
    whole w;
    /* H H = I: nothing is left */
    const char *twice = "graph g(%x: uint8[n]) { %m = const uint8[] {255} %a = BitwiseXor(%x, %m) "
                        "%y = BitwiseXor(%a, %m) return %y }";
    if (CHECK_OK(whole_read(&w, twice, NULL, true), &w.error))
        CHECK_EQ_INT(hg_graph_count_nodes(&w.g), 0);
    whole_free(&w);
    /* equal channels are one row */
    const char *rows = "graph g(%x: uint8[2,n]) { %m = const uint8[2,1] {7,7} "
                       "%y = BitwiseXor(%x, %m) return %y }";
    if (CHECK_OK(whole_read(&w, rows, NULL, true), &w.error)) {
        const hg_node *n = narrow_table(&w);
        if (CHECK(n != NULL))
            CHECK_EQ_INT(hg_graph_value(&w.g, hg_node_in(&w.g, n, 1))->type.rank, 1);
    }
    whole_free(&w);
    /* a table behind a table */
    const char *tables = "graph g(%x: uint4[n]) {\n"
                         "  %t = const uint8[16] {3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3}\n"
                         "  %u = const uint8[16] {0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30}\n"
                         "  %a = holo:Table(%x, %t) %y = holo:Table(%a, %u)\n"
                         "  return %y }";
    if (CHECK_OK(whole_read(&w, tables, NULL, true), &w.error)) {
        const hg_node *n = narrow_table(&w);
        static const uint8_t expected[16] = {6,  2, 8,  2,  10, 18, 4,  12,
                                             10, 6, 10, 16, 18, 14, 18, 6};
        CHECK_EQ_INT(whole_count(&w, "holo:Table"), 1);
        if (CHECK(n != NULL))
            CHECK_MEM(hg_graph_value(&w.g, hg_node_in(&w.g, n, 1))->constant->data, expected, 16);
    }
    whole_free(&w);
}

/* A certificate with fewer entries than can come does not hold. */
static void narrow_proofs(void)
{
    whole w;
    holo_error e = {0};
    const char *text = "graph g(%a: int32[n], %b: int32[n]) {\n"
                       "  %m = const int32[] {60}\n"
                       "  %s = Add(%a, %b) %k = BitwiseAnd(%s, %m) %x = Cast(%k) {to=2}\n"
                       "  %f = Cast(%x) {to=1} %g = Exp(%f) %y = Cast(%g) {to=2}\n"
                       "  return %y }";
    if (!CHECK_OK(whole_read(&w, text, NULL, true), &w.error)) return;
    if (CHECK_EQ_INT(w.g.n_cert, 1)) {
        const hg_const *t = hg_graph_value(&w.g, w.g.cert[0].value)->constant;
        hg_str stored, rest;
        hg_cert_view v;
        bool more;
        CHECK_OK(hg_cert_store(&w.ctx, &w.g.cert[0], 0, t->bytes, 0, &stored), &w.error);
        rest = stored;
        CHECK_OK(hg_cert_next(&rest, &v, &more, &e), &e);
        CHECK_OK(hg_cert_prove(&v, t->data, t->bytes, &e), &e);
        /* the mask of the producer, wider by a bit */
        char *mask = strstr((char *)(uintptr_t)stored.text, "{60, 60}");
        if (CHECK(mask != NULL)) memcpy(mask, "{99, 99}", 8);
        CHECK_STATUS(hg_cert_prove(&v, t->data, t->bytes, &e), HOLO_E_DATA);
        CHECK_HAS(e.message, "can come");
        v.producer.length = 0;
        CHECK_STATUS(hg_cert_prove(&v, t->data, t->bytes, &e), HOLO_E_DATA);
        CHECK_HAS(e.message, "nothing shows");
    }
    whole_free(&w);
}

const hg_test_case hg_tests_table_narrow[] = {
    {"ranges", narrow_ranges},       {"outside", narrow_outside}, {"classes", narrow_classes},
    {"canonical", narrow_canonical}, {"proofs", narrow_proofs},   {0},
};
