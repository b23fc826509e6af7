/* place_tables.c - tables beside movements: the same bits wherever they stand, and they stand where
 * there are fewer elements. */
#include "test.h"

#include "fault/small.h"

#include <stdlib.h>
#include <string.h>

#define PLACE_HEAD(shape)                                                                          \
    "graph g(%x: uint8" shape ", %i: int64[6]) { %s = const float32[] {0.02}\n"                    \
    " %z = const uint8[] {120} %d = DequantizeLinear(%x, %s, %z) %t = Tanh(%d)\n"
#define PLACE_CODES " %q = QuantizeLinear(%t, %s, %z)\n"
#define PLACE_LAST(value) " %y = QuantizeLinear(" value ", %s, %z) return %y }"
#define PLACE_SCALES " %k = const float32[4] {1.0,1.0,2.0,3.0} %none = const float32[0] {}\n"

static const struct {
    const char *text;
    const char *table; /* what it gives, or what stays */
} place_models[] = {
    /* fewer before */
    {PLACE_HEAD("[1,2,5,7]") PLACE_SCALES
     " %r = Resize(%t, %none, %k) {mode=\"nearest\"}\n" PLACE_LAST("%r"),
     "uint8[1,2,5,7] = table"},
    {PLACE_HEAD("[4,9]") " %r = Gather(%t, %i) {axis=0}\n" PLACE_LAST("%r"), "uint8[4,9] = table"},
    {PLACE_HEAD("[4,1]") " %e = const int64[2] {4,90} %r = Expand(%t, %e)\n" PLACE_LAST("%r"),
     "uint8[4,1] = table"},
    {PLACE_HEAD("[4,9]") " %e = const int64[2] {3,2} %r = Tile(%t, %e)\n" PLACE_LAST("%r"),
     "uint8[4,9] = table"},
    /* fewer behind */
    {PLACE_HEAD("[40,9]") PLACE_CODES " %y = Gather(%q, %i) {axis=0} return %y }",
     "uint8[6,9] = table"},
    {PLACE_HEAD("[40,90]") PLACE_CODES
     " %a = const int64[2] {3,5} %b = const int64[2] {9,50} %y = Slice(%q, %a, %b) return %y }",
     "uint8[6,45] = table"},
    {PLACE_HEAD("[1,2,10,10]") PLACE_CODES
     " %k = const float32[4] {1.0,1.0,0.5,0.5} %none = const float32[0] {}\n"
     " %y = Resize(%q, %none, %k) {mode=\"nearest\"} return %y }",
     "uint8[1,2,5,5] = table"},
    /* through several */
    {PLACE_HEAD(
         "[2,4]") " %e = const int64[2] {3,1} %f = Tile(%t, %e) %r = Gather(%f, %i) {axis=1}\n"
                  " %h = const int64[2] {2,2} %o = Tile(%r, %h)\n" PLACE_LAST("%o"),
     "uint8[2,4] = table"},
    /* what two read stays, and what is as large on both sides */
    {PLACE_HEAD("[4,9]") PLACE_CODES
     " %e = const int64[2] {3,2} %r = Tile(%q, %e) %u = Gather(%q, %i) {axis=0}\n"
     " return %r, %u }",
     "uint8[4,9] = table"},
    {PLACE_HEAD("[40,9]") PLACE_CODES " %y = Transpose(%q) {perm=[1,0]} return %y }", "= table"},
    /* Linear is no movement: floats in between */
    {PLACE_HEAD("[1,2,5,7]") PLACE_SCALES
     " %r = Resize(%t, %none, %k) {mode=\"linear\"}\n" PLACE_LAST("%r"),
     "float32[1,2,10,21] = resize"},
};

typedef struct place_dump {
    char text[1 << 16];
    size_t size;
} place_dump;

static bool place_sink(void *user, const void *bytes, size_t size)
{
    place_dump *d = user;
    if (d->size + size >= sizeof d->text) return false;
    memcpy(d->text + d->size, bytes, size);
    d->size += size;
    return true;
}

static bool place_open(const char *text, const char *without, fault_bytes *b, holo_model **model)
{
    holo_compile_options o = HOLO_COMPILE_OPTIONS_INIT;
    void *data = NULL;
    holo_error e = {0};
    o.disable = &without;
    o.n_disable = without == NULL ? 0 : 1;
    if (!CHECK_OK(fault_compile(text, &o, &data, &b->size, &e), &e)) return false;
    b->data = data;
    return CHECK_OK(holo_model_open_memory(data, b->size, holo_kernels_all(), NULL, model, &e), &e);
}

/* All results of an input with every code in it, side by side; -1 as an index counts from behind.
 */
static size_t place_run(const holo_model *model, uint8_t *out)
{
    static uint8_t x[4096];
    static int64_t index[6] = {3, 0, -1, 1, 1, 2};
    holo_session *session = NULL;
    holo_error e = {0};
    size_t size = 0;
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (uint8_t)(i * 37);
    CHECK_OK(holo_session_new(model, NULL, &session, &e), &e);
    for (uint32_t i = 0; i < holo_model_input_count(model, 0); i++) {
        holo_port port;
        CHECK_OK(holo_model_input(model, 0, i, &port), NULL);
        holo_tensor t = {.rank = port.rank, .dtype = port.dtype};
        t.data = i == 0 ? (void *)x : (void *)index;
        memcpy(t.dim, port.dim, sizeof t.dim);
        CHECK_OK(holo_session_set_input(session, i, &t, &e), &e);
    }
    CHECK_OK(holo_session_run(session, &e), &e);
    for (uint32_t i = 0; i < holo_model_output_count(model, 0); i++) {
        holo_tensor y;
        CHECK_OK(holo_session_output(session, i, &y, &e), &e);
        memcpy(out + size, y.data, holo_tensor_bytes(&y));
        size += holo_tensor_bytes(&y);
    }
    holo_session_free(session);
    return size;
}

static void place_all(void)
{
    static const char *const without[] = {NULL, "place_tables", "collapse_tables"};
    static uint8_t out[3][1 << 14];
    for (size_t m = 0; m < HG_COUNT(place_models); m++) {
        size_t size[3] = {0};
        for (size_t w = 0; w < HG_COUNT(without); w++) {
            static place_dump dump;
            fault_bytes b;
            holo_model *model = NULL;
            holo_error e;
            if (!place_open(place_models[m].text, without[w], &b, &model)) continue;
            size[w] = place_run(model, out[w]);
            dump.size = 0;
            CHECK_OK(holo_model_inspect(model, HOLO_INSPECT_PROGRAM, place_sink, &dump, &e), &e);
            dump.text[dump.size] = 0;
            if (w == 0) CHECK_HAS(dump.text, place_models[m].table);
            holo_model_free(model);
            if (w == 0) CHECK_EQ_INT(fault_prove(b).failed, 0);
            holo_buffer_free(NULL, b.data, b.size);
        }
        CHECK_EQ_INT(size[0], size[2]);
        CHECK_MEM(out[0], out[1], size[0]);
        CHECK_MEM(out[0], out[2], size[0]); /* computed as it stands */
    }
}

const hg_test_case hg_tests_pass_place_tables[] = {
    {"all", place_all},
    {0},
};
