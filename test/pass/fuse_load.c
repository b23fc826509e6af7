/* fuse_load.c - tables whose codes a step copies anyway: which are taken along and which are not,
 * the same bits as two steps give, and proofs of what the steps read. */
#include "rewrite.h"
#include "test.h"

#include "fault/small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A graph with a table of 256 entries, %t, behind which `rest` goes on; entry k is 7 k + 3. */
static const char *load_text(const char *inputs, const char *rest)
{
    static char text[2][1 << 13];
    static int which;
    char *to = text[which ^= 1];
    size_t n =
        (size_t)snprintf(to, sizeof text[0], "graph g(%s) {\n  %%t = const uint8[256] {", inputs);
    for (int i = 0; i < 256; i++)
        n += (size_t)snprintf(to + n, sizeof text[0] - n, "%s%d", i == 0 ? "" : ",",
                              (i * 7 + 3) % 256);
    snprintf(to + n, sizeof text[0] - n, "}\n%s  return %%y\n}\n", rest);
    return to;
}

static void load_rewrites(const char *inputs, const char *before, const char *after)
{
    CHECK_PASS("fuse_load", load_text(inputs, before), load_text(inputs, after));
}

#define LOAD_TABLE(to, from) "  " to " = holo:Table(" from ", %t) {axis=0, base=0, classes=0}\n"

static void load_products(void)
{
    static const char *const w = "%x: uint8[n,8], %w: int8[2,3,64]";
    load_rewrites(w,
                  LOAD_TABLE("%a", "%x") "  %y = holo:MatMulP16I8(%a, %w) {n=dims[20], pairs=1}\n",
                  "  %y = holo:MatMulP16I8(%x, %w, _, _, %t) {n=dims[20], pairs=1, load=1}\n");
    /* windows of 1 x 1, and windows side by side */
    static const char *const v = "%x: uint8[1,8,8,4], %w: int8[1,1,2,64], %v: int8[1,1,5,64]";
    load_rewrites(v,
                  LOAD_TABLE("%a", "%x") "  %y = holo:ConvNhwcI8(%a, %w) {out_channels=dims[16],"
                                         " kernel_shape=[1,1]}\n",
                  "  %y = holo:ConvNhwcI8(%x, %w, _, _, %t) {out_channels=dims[16],"
                  " kernel_shape=[1,1], load=1}\n");
    load_rewrites(v,
                  LOAD_TABLE("%a", "%x") "  %y = holo:ConvNhwcI8(%a, %v) {out_channels=dims[16],"
                                         " kernel_shape=[2,2], strides=[2,2]}\n",
                  "  %y = holo:ConvNhwcI8(%x, %v, _, _, %t) {out_channels=dims[16],"
                  " kernel_shape=[2,2], strides=[2,2], load=1}\n");
}

static void load_products_not(void)
{
    static const char *const v = "%x: uint8[1,8,8,4], %w: int8[1,1,2,64], %v: int8[1,1,5,64]";
    /* windows that overlap, padding, a second reader */
    static const char *const same[] = {
        LOAD_TABLE("%a", "%x") "  %y = holo:ConvNhwcI8(%a, %v) {out_channels=dims[16],"
                               " kernel_shape=[2,2]}\n",
        LOAD_TABLE("%a", "%x") "  %y = holo:ConvNhwcI8(%a, %w) {out_channels=dims[16],"
                               " kernel_shape=[1,1], pads=[1,1,1,1]}\n",
        LOAD_TABLE("%a", "%x") "  %b = holo:ConvNhwcI8(%a, %w) {out_channels=dims[4],"
                               " kernel_shape=[1,1]}\n  %c = Cast(%a) {to=6}\n  %y = Add(%b, %c)\n",
    };
    for (size_t i = 0; i < HG_COUNT(same); i++)
        load_rewrites(v, same[i], same[i]);
}

/* Pixels to planes and back, the table before or behind; other transpositions stay. */
static void load_moves(void)
{
    load_rewrites("%x: uint8[n,40,3]",
                  "  %a = Transpose(%x) {perm=[0,2,1]}\n" LOAD_TABLE("%y", "%a"),
                  "  %y = holo:TableCopy(%x, %t) {axis=0, base=0, classes=0,"
                  " copy=dims[0,n,120,3,1,40,3], shape=dims[n,3,40]}\n");
    load_rewrites("%x: uint8[n,3,40]",
                  LOAD_TABLE("%a", "%x") "  %y = Transpose(%a) {perm=[0,2,1]}\n",
                  "  %y = holo:TableCopy(%x, %t) {axis=0, base=0, classes=0,"
                  " copy=dims[0,n,120,40,1,3,40], shape=dims[n,40,3]}\n");
    static const char *const same = "  %a = Transpose(%x) {perm=[0,2,1]}\n" LOAD_TABLE("%y", "%a");
    load_rewrites("%x: uint8[n,40,16]", same, same);
    load_rewrites("%x: uint8[9,40,3]", same, same); /* stays in the caches */
}

/* ---- the whole way ------------------------------------------------------------------------ */

/* y = what a chain of int8 or uint8 codes gives, moved or multiplied. */
static const char *const load_models[] = {
    "graph g(%x: uint8[2,500,370,3]) { %s = const float32[] {0.02} %z = const uint8[] {120}\n"
    " %d = DequantizeLinear(%x, %s, %z) %e = Tanh(%d) %q = QuantizeLinear(%e, %s, %z)\n"
    " %y = Transpose(%q) {perm=[0,3,1,2]} return %y }",
    "graph g(%x: uint8[2,3,500,370]) { %s = const float32[] {0.02} %z = const uint8[] {120}\n"
    " %m = const float32[3,1,1] {0.5,1.0,2.0} %d = DequantizeLinear(%x, %s, %z) %f = Mul(%d, %m)\n"
    " %e = Tanh(%f) %q = QuantizeLinear(%e, %s, %z)\n"
    " %y = Transpose(%q) {perm=[0,2,3,1]} return %y }",
    "graph g(%x: uint8[2,500,370,3]) { %s = const float32[] {0.02} %z = const uint8[] {120}\n"
    " %m = const float32[3] {0.5,1.0,2.0} %d = DequantizeLinear(%x, %s, %z) %f = Mul(%d, %m)\n"
    " %e = Tanh(%f) %q = QuantizeLinear(%e, %s, %z)\n"
    " %y = Transpose(%q) {perm=[0,3,1,2]} return %y }",
    "graph g(%x: int8[300,12]) { %s = const float32[] {0.02} %z = const int8[] {-3}\n"
    " %d = DequantizeLinear(%x, %s, %z) %e = Tanh(%d) %q = QuantizeLinear(%e, %s, %z)\n"
    " %w = const int8[12,2] "
    "{1,2,3,4,5,6,7,8,9,10,11,12,-13,-14,-15,-16,-17,-18,-19,-20,-21,-22,-23,"
    "-24}\n %y = MatMulInteger(%q, %w, %z) return %y }",
    "graph g(%x: uint8[300,13]) { %s = const float32[] {0.02} %z = const uint8[] {120}\n"
    " %d = DequantizeLinear(%x, %s, %z) %e = Tanh(%d) %q = QuantizeLinear(%e, %s, %z)\n"
    " %w = const int8[13,2] "
    "{1,2,3,4,5,6,7,8,9,10,11,12,-13,-14,-15,-16,-17,-18,-19,-20,-21,-22,-23,"
    "-24,100,-100}\n %y = MatMulInteger(%q, %w, %z) return %y }",
};

static void load_compile(const char *text, bool fused, fault_bytes *out)
{
    static const char *const disable[] = {"fuse_load"};
    holo_compile_options o = HOLO_COMPILE_OPTIONS_INIT;
    void *data = NULL;
    holo_error e = {0};
    o.disable = disable;
    o.n_disable = fused ? 0 : 1;
    CHECK_OK(fault_compile(text, &o, &data, &out->size, &e), &e);
    out->data = data;
}

/* The result of some input; its size in *bytes. */
static void *load_run(const fault_bytes *b, uint32_t seed, size_t *bytes)
{
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_tensor in, out;
    holo_error e = {0};
    void *result = NULL;
    if (!CHECK_OK(holo_model_open_memory(b->data, b->size, holo_kernels_all(), NULL, &model, &e),
                  &e) ||
        !CHECK_OK(holo_session_new(model, NULL, &session, &e), &e))
        return NULL;
    holo_port port;
    CHECK_OK(holo_model_input(model, 0, 0, &port), NULL);
    in = (holo_tensor){.rank = port.rank, .dtype = port.dtype};
    memcpy(in.dim, port.dim, sizeof in.dim);
    const size_t count = (size_t)holo_tensor_count(&in);
    uint8_t *x = malloc(count);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = (uint8_t)(seed >> 24);
    }
    in.data = x;
    if (CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e) &&
        CHECK_OK(holo_session_run(session, &e), &e) &&
        CHECK_OK(holo_session_output(session, 0, &out, &e), &e)) {
        *bytes = holo_tensor_bytes(&out);
        result = malloc(*bytes);
        memcpy(result, out.data, *bytes);
    }
    free(x);
    holo_session_free(session);
    holo_model_free(model);
    return result;
}

static bool load_has_kernel(const fault_bytes *b, const char *name)
{
    for (size_t i = 0; i + strlen(name) + 1 < b->size; i++)
        if (memcmp(b->data + i, name, strlen(name) + 1) == 0) return true;
    return false;
}

static void load_same_bits(void)
{
    for (size_t i = 0; i < HG_COUNT(load_models); i++) {
        fault_bytes one, two;
        load_compile(load_models[i], true, &one);
        load_compile(load_models[i], false, &two);
        CHECK(load_has_kernel(&two, "table"));
        if (load_has_kernel(&one, "table"))
            hg_test_fail(HG_TEST_HERE, "model %zu has a step for its table", i);
        for (uint32_t seed = 0; seed < 5; seed++) {
            size_t n = 0, m = 0;
            void *a = load_run(&one, seed, &n), *b = load_run(&two, seed, &m);
            if (CHECK(a != NULL && b != NULL && n == m)) CHECK_MEM(a, b, n);
            free(a);
            free(b);
        }
        holo_prove_report r = fault_prove(one);
        CHECK(r.proved >= 1);
        CHECK_EQ_INT(r.failed, 0);
        fault_section(one, HG_SECTION_CERTS)->kind = 99;
        CHECK(fault_prove(one).failed >= 1);
        holo_buffer_free(NULL, one.data, one.size);
        holo_buffer_free(NULL, two.data, two.size);
    }
}

const hg_test_case hg_tests_pass_fuse_load[] = {
    {"products", load_products},
    {"products_not", load_products_not},
    {"moves", load_moves},
    {"same_bits", load_same_bits},
    {0},
};
