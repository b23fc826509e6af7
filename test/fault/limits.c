/* limits.c - each field of holo_limits: what is above it is refused with a sentence before memory
 * is taken, what is at it passes, and the session goes on. */
#include "fault/memory.h"
#include "fault/small.h"
#include "import/make.h"

/* ---- open and run ---------------------------------------------------------------------------- */

typedef struct limits_run {
    const char *text;
    holo_limits open, session;
    int64_t rows; /* of input 0, [n,3] or [n] */
    holo_status status;
    const char *part;
} limits_run;

/* Opens, binds `rows` and runs; with `fits` the same session again with one row. */
static void limits_try(const limits_run *c)
{
    static float x[4096];
    static holo_string word[2] = {{"abcdefgh", 8}, {"", 0}};
    fault_bytes b = fault_holo(c->text);
    holo_open_options open = HOLO_OPEN_OPTIONS_INIT;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    open.limits = c->open;
    options.limits = c->session;
    options.flags = HOLO_SESSION_GROW;
    holo_status status =
        holo_model_open_memory(b.data, b.size, holo_kernels_all(), &open, &model, &e);
    if (status == HOLO_OK) status = holo_session_new(model, &options, &session, &e);
    for (int turn = 0; session != NULL && turn < 2; turn++) {
        holo_port port;
        CHECK_STATUS(holo_model_input(model, 0, 0, &port), HOLO_OK);
        holo_tensor t = {.data = x, .rank = port.rank, .dtype = port.dtype};
        if (port.dtype == HOLO_STRING) t.data = &word[turn];
        for (int32_t k = 0; k < port.rank; k++)
            t.dim[k] = port.dim[k] >= 0 ? port.dim[k] : turn == 0 ? c->rows : 1;
        holo_status done = holo_session_set_input(session, 0, &t, &e);
        if (done == HOLO_OK) done = holo_session_run(session, &e);
        if (turn == 0)
            status = done;
        else if (c->rows != 1)
            CHECK_OK(done, &e); /* the session goes on */
    }
    CHECK_STATUS(status, c->status);
    if (c->status != HOLO_OK && !CHECK_HAS(e.message, c->part) && session == NULL)
        printf("  %s\n", c->text);
    holo_session_free(session);
    holo_model_free(model);
    free(b.data);
}

#define LIMITS_ADD "graph(%x: float32[n,3]) { %y = Exp(%x) return %y as \"y\" }"
#define LIMITS_TEXT "graph(%x: string[n]) { %y = Identity(%x) return %y as \"y\" }"
#define LIMITS_DEEP                                                                                \
    "graph(%x: float32[n,3]) { %r = const int64[3] {1,-1,3} %a = Reshape(%x, %r) %y = Exp(%a)"     \
    " return %y as \"y\" }"
#define LIMITS_TWO                                                                                 \
    "graph(%x: float32[n,3]) { %k = const int64[1] {1} %v, %i = TopK(%x, %k) %y = NonZero(%i)"     \
    " return %v as \"v\", %y as \"y\" }"
#define LIMITS_BODY                                                                                \
    "graph(%x: float32[n,3]) { %m = const int64[] {5} %y = Loop(%m, _, %x)"                        \
    " body(%i: int64[], %c: bool[], %a: float32[n,3]) { %z = Loop(%m, _, %a)"                      \
    " body(%j: int64[], %d: bool[], %b: float32[n,3]) { %e = Exp(%b) return %d, %e }"              \
    " return %c, %z } return %y as \"y\" }"

/* The first run is above the limit; where there is a second of one row, it is not. */
static void limits_runs(void)
{
    static const limits_run list[] = {
        {LIMITS_ADD, {0}, {.tensor_bytes = 120}, 10, HOLO_OK, ""},
        {LIMITS_ADD,
         {0},
         {.tensor_bytes = 119},
         10,
         HOLO_E_LIMIT,
         "would have 120 bytes, its limit is 119"},
        {LIMITS_ADD,
         {.tensor_bytes = 119},
         {0},
         10,
         HOLO_E_LIMIT,
         "would have 120 bytes, its limit is 119"},
        {LIMITS_ADD, {0}, {.tensor_elements = 30}, 10, HOLO_OK, ""},
        {LIMITS_ADD,
         {0},
         {.tensor_elements = 29},
         10,
         HOLO_E_LIMIT,
         "30 elements, its limit is 29"},
        {LIMITS_ADD, {0}, {.memory_bytes = 40000}, 1365, HOLO_E_LIMIT, "its limit is 40000"},
        {LIMITS_TEXT, {0}, {.string_bytes = 8}, 1, HOLO_OK, ""},
        {LIMITS_TEXT, {0}, {.string_bytes = 7}, 1, HOLO_E_LIMIT, "string 0 has 8 bytes"},
        {LIMITS_DEEP, {.rank = 3}, {.rank = 3}, 10, HOLO_OK, ""},
        {LIMITS_DEEP, {.rank = 2}, {0}, 10, HOLO_E_LIMIT, "has rank 3, its limit is 2"},
        {LIMITS_TWO, {.steps = 2}, {0}, 10, HOLO_OK, ""},
        {LIMITS_TWO, {.steps = 1}, {0}, 10, HOLO_E_LIMIT, "has 2 steps, its limit is 1"},
        {LIMITS_BODY, {.nesting = 2}, {0}, 10, HOLO_OK, ""},
        {LIMITS_BODY, {.nesting = 1}, {0}, 10, HOLO_E_LIMIT, "nested deeper than 1"},
        {LIMITS_BODY, {0}, {.loop_iterations = 30}, 1, HOLO_OK, ""},
        {LIMITS_BODY, {0}, {.loop_iterations = 29}, 1, HOLO_E_LIMIT, "29"},
        {LIMITS_ADD, {.name_bytes = 1}, {0}, 10, HOLO_OK, ""},
        {"graph(%long: float32[n,3]) { %y = Exp(%long) return %y as \"y\" }",
         {.name_bytes = 3},
         {0},
         10,
         HOLO_E_LIMIT,
         "name of input 0 has 4 bytes"},
        {FAULT_SMALL, {.memory_bytes = 256}, {0}, 10, HOLO_E_NOMEM, "memory"},
    };
    for (size_t i = 0; i < HG_COUNT(list); i++)
        limits_try(&list[i]);
}

/* An endless loop ends when its time is over, and so does one long step. */
static void limits_time(void)
{
    static const char *const text[] = {
        "graph(%x: float32[n,3]) { %t = const bool[] {true} %y = Loop(_, %t, %x)"
        " body(%i: int64[], %c: bool[], %a: float32[n,3]) { %b = Neg(%a) return %c, %b }"
        " return %y as \"y\" }",
        "graph(%x: float32[n,3]) { %r = const int64[2] {3000,400} %a = Tile(%x, %r)"
        " %b = Transpose(%a) %y = MatMul(%a, %b) %s = ReduceMax(%y) return %s as \"s\" }",
        "graph(%x: float32[n,3]) { %r = const int64[2] {3000,400} %a = Tile(%x, %r)"
        " %y = Einsum(%a, %a) {equation=\"ij,kj->ik\"} %s = ReduceMax(%y) return %s as \"s\" }",
        "graph(%x: float32[n,3]) { %r = const int64[2] {600,400} %a = Tile(%x, %r)"
        " %d = const int64[4] {1,1,600,1200} %b = Reshape(%a, %d)"
        " %f = const int64[4] {64,1,31,31} %w = ConstantOfShape(%f)"
        " %y = Conv(%b, %w) {strides=[4,4]} %s = ReduceMax(%y) return %s as \"s\" }",
    };
    for (size_t i = 0; i < HG_COUNT(text); i++) {
        const limits_run c = {text[i], {0}, {.run_ms = 20}, 1, HOLO_E_LIMIT, "longer than 20 ms"};
        limits_try(&c);
    }
}

/* ---- compile --------------------------------------------------------------------------------- */

typedef struct limits_compile {
    const char *text;
    holo_limits limits;
    const char *part; /* NULL: passes */
} limits_compile;

static void limits_compiles(void)
{
    static const limits_compile list[] = {
        {LIMITS_TWO, {.steps = 2}, NULL},
        {LIMITS_TWO, {.steps = 1}, "more than 1 steps"},
        {LIMITS_BODY, {.steps = 3}, NULL},
        {LIMITS_BODY, {.steps = 2}, "more than 2 steps"},
        {LIMITS_DEEP, {.rank = 3}, NULL},
        {LIMITS_DEEP, {.rank = 2}, "output 'a' has rank 3, at most 2 is allowed"},
        {"graph() { %s = const int64[2] {100,100} %y = ConstantOfShape(%s) return %y as \"y\" }",
         {.tensor_elements = 10000},
         NULL},
        {"graph() { %s = const int64[2] {100,100} %y = ConstantOfShape(%s) return %y as \"y\" }",
         {.tensor_elements = 9999},
         "too large"},
        {"graph() { %s = const int64[2] {100,100} %y = ConstantOfShape(%s) return %y as \"y\" }",
         {.tensor_bytes = 39999},
         "too large"},
        {FAULT_SMALL, {.memory_bytes = 1024}, "memory"},
    };
    for (size_t i = 0; i < HG_COUNT(list); i++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        holo_error e = {0};
        void *data = NULL;
        size_t size = 0;
        options.limits = list[i].limits;
        holo_status status = fault_compile(list[i].text, &options, &data, &size, &e);
        if (list[i].part == NULL)
            CHECK_OK(status, &e);
        else if (!CHECK(status == HOLO_E_LIMIT || status == HOLO_E_NOMEM) ||
                 !CHECK_HAS(e.message, list[i].part))
            printf("  %s\n", list[i].text);
        holo_buffer_free(NULL, data, size);
    }
}

/* A hundred thousand nodes are not compiled within a millisecond. */
static void limits_compile_time(void)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_graph *g = NULL;
    holo_error e = {0};
    void *data = NULL;
    size_t size = 0;
    CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e);
    holo_value_id v = holo_graph_input(g, "x", HOLO_F32, "n");
    for (int i = 0; i < 100000; i++) {
        const holo_value_id in = v;
        if (!holo_graph_node(g, "Neg", &in, 1, NULL, 0, &v, 1)) break;
    }
    CHECK(holo_graph_output(g, v, "y"));
    options.limits.run_ms = 1;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_LIMIT);
    CHECK_HAS(e.message, "the compile took longer than 1 ms");
    CHECK(data == NULL);
    holo_graph_free(g);
}

/* Names, strings, ranks and elements of an ONNX file. */
static void limits_imports(void)
{
    static const struct {
        holo_limits limits;
        const char *part;
    } list[] = {
        {{0}, NULL},
        {{.name_bytes = 11, .string_bytes = 4, .rank = 2, .tensor_elements = 48}, NULL},
        {{.name_bytes = 6}, "has 7 bytes, at most 6 are allowed"},
        {{.string_bytes = 3}, "a string has 4 bytes, at most 3 are allowed"},
        {{.rank = 1}, "rank 2, at most 1 is supported"},
        {{.tensor_elements = 5}, "it has 6 elements, at most 5 are allowed"},
    };
    static const float w[6] = {1, 2, 3, 4, 5, 6};
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f);
    make node = make_node(&f, "product", "MatMul", "x,w", "p");
    make gelu = make_node(&f, "", "Gelu", "p", "y");
    make attr = make_attr(&f, "approximate", 3);
    make weight = make_tensor(&f, "w", ELEM_F32, "3,2", w, 6);
    make_text(&attr, 4, "tanh");
    make_in(&gelu, 5, &attr);
    make_in(&g, GRAPH_NODE, &node);
    make_in(&g, GRAPH_NODE, &gelu);
    make_in(&g, GRAPH_INITIALIZER, &weight);
    make model = make_model(&f, &g, 21);
    for (size_t i = 0; i < HG_COUNT(list); i++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        holo_error e = {0};
        void *data = NULL;
        size_t size = 0;
        options.limits = list[i].limits;
        holo_status status =
            holo_compile_memory(model.data, model.size, &options, &data, &size, NULL, &e);
        if (list[i].part == NULL)
            CHECK_OK(status, &e);
        else
            CHECK_HAS(e.message, list[i].part);
        holo_buffer_free(NULL, data, size);
    }
    make_deinit(&f);
}

/* Nothing is taken for what is refused: the caller's allocator is asked for less than a page. */
static void limits_before_memory(void)
{
    fault_bytes b = fault_holo(LIMITS_ADD);
    fault_memory memory = {0};
    holo_allocator allocator = fault_memory_allocator(&memory);
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    float x[3] = {0};
    options.allocator = &allocator;
    options.limits.memory_bytes = 1 << 20;
    CHECK_OK(holo_model_open_memory(b.data, b.size, holo_kernels_all(), NULL, &model, &e), &e);
    CHECK_OK(holo_session_new(model, &options, &session, &e), &e);
    size_t before = memory.live;
    holo_tensor t = {.data = x, .dim = {INT64_C(1) << 30, 3}, .rank = 2, .dtype = HOLO_F32};
    CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
    CHECK_STATUS(holo_session_run(session, &e), HOLO_E_LIMIT);
    CHECK_EQ_INT(memory.live, before);
    t.dim[0] = 1;
    CHECK_OK(holo_session_set_input(session, 0, &t, &e), &e);
    CHECK_OK(holo_session_run(session, &e), &e);
    holo_session_free(session);
    holo_model_free(model);
    free(b.data);
}

const hg_test_case hg_tests_fault_limits[] = {
    {"runs", limits_runs},
    {"time", limits_time},
    {"compiles", limits_compiles},
    {"compile_time", limits_compile_time},
    {"imports", limits_imports},
    {"before_memory", limits_before_memory},
    {0},
};
