/* demand.c - operators that are rewritten refuse sizes that do not fit, also when sizes are known
 * only at run time: node, operator, actual and expected size; the session goes on. */
#include "fault/small.h"

typedef struct demand_case {
    const char *text, *part;
    int64_t size; /* of symbol k; all others are 3 */
} demand_case;

static int64_t demand_ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static holo_status demand_bind(const holo_model *m, holo_session *s, int64_t size, float *room,
                               holo_error *e)
{
    for (uint32_t i = 0; i < holo_model_input_count(m, 0); i++) {
        holo_port port;
        CHECK_STATUS(holo_model_input(m, 0, i, &port), HOLO_OK);
        holo_tensor t = {.data = port.dtype == HOLO_I64 ? (void *)demand_ones : room,
                         .rank = port.rank,
                         .dtype = port.dtype};
        for (int32_t k = 0; k < port.rank; k++)
            t.dim[k] = port.dim[k] >= 0                     ? port.dim[k]
                       : strcmp(port.dim_name[k], "k") == 0 ? size
                                                            : 3;
        holo_status status = holo_session_set_input(s, i, &t, e);
        if (status != HOLO_OK) return status;
    }
    return holo_session_run(s, e);
}

static void demand_one(const demand_case *c, uint32_t flags)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_session_options grow = HOLO_SESSION_OPTIONS_INIT;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e = {0};
    void *data = NULL;
    size_t size = 0;
    float room[512] = {0};
    options.flags = flags;
    grow.flags = HOLO_SESSION_GROW;
    if (CHECK_OK(fault_compile(c->text, &options, &data, &size, &e), &e) &&
        CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e), &e) &&
        CHECK_OK(holo_session_new(model, &grow, &session, &e), &e)) {
        CHECK_STATUS(demand_bind(model, session, c->size, room, &e), HOLO_E_SHAPE);
        if (!CHECK_HAS(e.message, c->part)) printf("  %s\n", c->text);
        CHECK_OK(demand_bind(model, session, 3, room, &e), &e);
    }
    holo_session_free(session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
}

static void demand_each(const demand_case *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        demand_one(&bad[i], 0);
        demand_one(&bad[i], HOLO_COMPILE_NO_OPTIMIZE);
    }
}

static void demand_refused(void)
{
    static const demand_case bad[] = {
        {"graph(%x: float32[n,c], %s: float32[k], %b: float32[c], %m: float32[c], %v: float32[c]) {"
         " %y = BatchNormalization(%x, %s, %b, %m, %v) : ? \"bn\" return %y as \"y\" }",
         "node 'bn' (BatchNormalization: dimension 0 of input 1 against dimension 1 of input 0)"
         ": the size is 5, expected 3",
         5},
        {"graph(%x: float32[n,c], %s: float32[k], %b: float32[c], %m: float32[c], %v: float32[c]) {"
         " %y = BatchNormalization(%x, %s, %b, %m, %v) : ? \"bn\" return %y as \"y\" }",
         "the size is 1, expected 3", 1},
        {"graph(%a: float32[n,m], %b: float32[m,p], %c: float32[k,p]) { %y = Gemm(%a, %b, %c)"
         " : ? \"dense\" return %y as \"y\" }",
         "node 'dense' (Gemm: dimension 0 of input 2", 4},
        {"graph(%x: float32[n,c], %s: float32[k]) { %z = const uint8[] {0} %y = QuantizeLinear(%x, "
         "%s)"
         " {axis=1} : ? \"q\" return %y as \"y\" }",
         "node 'q' (QuantizeLinear: dimension 0 of input 1", 2},
        {"graph(%x: float32[n,c,d], %t: int64[n,k]) { %y = NegativeLogLikelihoodLoss(%x, %t)"
         " : ? \"loss\" return %y as \"y\" }",
         "the size is 2, expected 3", 2},
        {"graph(%x: float32[n,2,k,h], %w: float32[2,2,3,3]) { %y = Conv(%x, %w) : ? \"conv\""
         " return %y as \"y\" }",
         "the size is 2, expected 3", 2},
        /* The size of the scale is known once NonZero has run. */
        {"graph(%x: float32[n,c], %s: float32[k]) { %e = Equal(%s, %s) %i = NonZero(%e)"
         " %j = Transpose(%i) %f = Flatten(%j) {axis=0} %g = Cast(%f) {to=1} "
         " %o = const int64[1] {0} %h = Squeeze(%g, %o) %y = BatchNormalization(%x, %h, %h, %h, "
         "%h) : ? \"bn\""
         " return %y as \"y\" }",
         "the size is 4, expected 3", 4},
    };
    demand_each(bad, HG_COUNT(bad));
}

/* Nothing is read but the shape of what does not fit, through other nodes too. */
static void demand_shapes(void)
{
    static const demand_case bad[] = {
        {"graph(%a: float32[n], %b: float32[k]) { %c = Add(%a, %b) : ? \"add\" %y = Shape(%c)"
         " return %y as \"y\" }",
         "node 'add' (Add: select(eq(1,n),k,n) against select(eq(1,k),n,k)): the size is 3, "
         "expected 4",
         4},
        {"graph(%a: float32[n,m], %b: float32[k,m]) { %c = Min(%a, %b) : ? \"least\""
         " %d = Relu(%c) %e = Transpose(%d) %y = Size(%e) return %y as \"y\" }",
         "node 'least' (Min: ", 2},
        {"graph(%a: float32[n,m], %b: float32[k,p]) { %c = MatMul(%a, %b) : ? \"mm\""
         " %y = Shape(%c) return %y as \"y\" }",
         "node 'mm' (MatMul: dimension 1 of input 0 against dimension 0 of input 1): the "
         "size is 3, expected 2",
         2},
        {"graph(%a: float32[n,m], %b: float32[n,k]) { %c = Concat(%a, %b) {axis=0} : ? \"cat\""
         " %y = Shape(%c) return %y as \"y\" }",
         "node 'cat' (Concat: dimension 1 of input 1 against dimension 1 of input 0): the "
         "size is 5, expected 3",
         5},
        {"graph(%a: float32[n,m], %b: float32[k]) { %s = Shape(%b) %c = Expand(%a, %s)"
         " : ? \"wide\" %y = Shape(%c) return %y as \"y\" }",
         "node 'wide' (Expand: ", 2},
        {"graph(%a: float32[n,m], %b: float32[k]) { %s = Shape(%b) %t = const int64[1] {3}"
         " %u = Concat(%s, %t) {axis=0} %c = Reshape(%a, %u) : ? \"seen\" %y = Shape(%c)"
         " return %y as \"y\" }",
         "'seen' (Reshape: ", 2},
    };
    demand_each(bad, HG_COUNT(bad));
}

/* In a body the sizes are symbols of the body. */
static void demand_in_body(void)
{
    static const demand_case bad = {
        "graph(%m: int64[], %x: float32[n,c], %s: float32[k]) { %y = Loop(%m, _, %x)"
        " body(%i: int64[], %q: bool[], %a: float32[n,c]) {"
        " %b = BatchNormalization(%a, %s, %s, %s, %s) : ? \"bn\" return %q, %b }"
        " return %y as \"y\" }",
        "", 2};
    demand_one(&bad, 0);
}

/* Shape rules that find out at run time: the two numbers, and the step that makes the value or,
 * when it is a view, reads it. */
static void demand_rules(void)
{
    static const demand_case bad[] = {
        {"graph(%x: float32[k,n]) { %s = const int64[2] {3, 3} %t = Reshape(%x, %s)"
         " %y = Softmax(%t) : ? \"soft\" return %y as \"y\" }",
         "node 'soft' (Softmax): the shape of value 't' does not fit: 9 is not 6", 2},
        {"graph(%x: float32[k,n]) { %s = const int64[2] {3, 3} %y = Reshape(%x, %s)"
         " return %y as \"y\" }",
         "the shape of value 'y' does not fit: 9 is not 6", 2},
        {"graph(%x: float32[k,4]) { %s = const int64[2] {3, 4} %y = Expand(%x, %s) : ? \"wide\""
         " return %y as \"y\" }",
         "node 'wide' (Expand): the shape of value 'y' does not fit: 3 is not 2", 2},
        {"graph(%x: float32[k,4], %w: float32[n,4]) { %t = Concat(%x, %w) {axis=0}"
         " %s = const int64[2] {2, 4} %y, %z = Split(%t, %s) {axis=0}"
         " return %y as \"y\", %z as \"z\" }",
         "does not fit: 6 is not 8", 5},
        {"graph(%x: float32[k,n]) { %y = Squeeze(%x) return %y as \"y\" }",
         "depends on is 1, which changes the rank", 1},
    };
    demand_each(bad, HG_COUNT(bad));
}

const hg_test_case hg_tests_graph_demand[] = {{"refused", demand_refused},
                                              {"shapes", demand_shapes},
                                              {"in_body", demand_in_body},
                                              {"rules", demand_rules},
                                              {0}};
