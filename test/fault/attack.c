/* attack.c - models whose attributes, sizes or data are outside of what the standard allows: a
 * sentence from the compiler or the run, within small limits. */
#include "fault/small.h"

typedef struct attack_case {
    const char *text;
    const char *part; /* of the sentence; NULL: it may also run */
} attack_case;

enum { ATTACK_INPUTS = 4 };

/* Inputs are bound with all symbols 2; elements from `fill` on: 0, 1, 2 ... times it. */
static holo_status attack_run(holo_model *model, double fill, holo_error *e)
{
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_session *session = NULL;
    holo_tensor input[ATTACK_INPUTS] = {{0}};
    uint32_t count = holo_model_input_count(model, 0);
    options.flags = HOLO_SESSION_GROW | HOLO_SESSION_POISON;
    options.limits = (holo_limits){
        .memory_bytes = UINT64_C(64) << 20, .tensor_bytes = 1 << 20, .loop_iterations = 1000};
    holo_status status = holo_session_new(model, &options, &session, e);
    for (uint32_t i = 0; status == HOLO_OK && i < count && i < ATTACK_INPUTS; i++) {
        holo_port port;
        status = holo_model_input(model, 0, i, &port);
        holo_tensor *t = &input[i];
        *t = (holo_tensor){.dtype = port.dtype, .rank = port.rank};
        for (int32_t k = 0; k < port.rank; k++)
            t->dim[k] = port.dim[k] < 0 ? 2 : port.dim[k];
        t->data = calloc(1, holo_tensor_bytes(t) + 1);
        for (int64_t k = 0; k < holo_tensor_count(t); k++) {
            if (t->dtype == HOLO_F32) ((float *)t->data)[k] = (float)fill;
            if (t->dtype == HOLO_I64) ((int64_t *)t->data)[k] = (int64_t)fill;
            if (t->dtype == HOLO_BOOL) ((uint8_t *)t->data)[k] = 1;
        }
        if (status == HOLO_OK) status = holo_session_set_input(session, i, t, e);
    }
    if (status == HOLO_OK) status = holo_session_run(session, e);
    holo_session_free(session);
    for (int i = 0; i < ATTACK_INPUTS; i++)
        free(input[i].data);
    return status;
}

static void attack_one(const attack_case *c, double fill)
{
    for (uint32_t flags = 0; flags <= HOLO_COMPILE_NO_OPTIMIZE; flags += HOLO_COMPILE_NO_OPTIMIZE) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        holo_model *model = NULL;
        holo_error e = {0};
        void *data = NULL;
        size_t size = 0;
        options.flags = flags;
        options.limits =
            (holo_limits){.memory_bytes = UINT64_C(64) << 20, .tensor_bytes = UINT64_C(16) << 20};
        holo_status status = fault_compile(c->text, &options, &data, &size, &e);
        if (status == HOLO_OK)
            status = holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e);
        if (status == HOLO_OK) status = attack_run(model, fill, &e);
        if (status == HOLO_OK && c->part != NULL)
            hg_test_fail(HG_TEST_HERE, "%s\n  is accepted", c->text);
        if (status != HOLO_OK && c->part != NULL && !CHECK_HAS(e.message, c->part))
            printf("  %s\n", c->text);
        CHECK(status != HOLO_E_BUG);
        holo_model_free(model);
        holo_buffer_free(NULL, data, size);
    }
}

static void attack_all(const attack_case *list, size_t n, double fill)
{
    for (size_t i = 0; i < n; i++)
        attack_one(&list[i], fill);
}

static void attack_attributes(void)
{
    static const attack_case bad[] = {
        {"graph(%x: float32[n,3]) { %y = Softmax(%x) {axis=2} return %y as \"y\" }", "axis"},
        {"graph(%x: float32[n,3]) { %y = Softmax(%x) {axis=-3} return %y as \"y\" }", "axis"},
        {"graph(%x: float32[n,3]) { %y = Concat(%x, %x) {axis=9} return %y as \"y\" }", "axis"},
        {"graph(%x: float32[n,3]) { %y = Transpose(%x) {perm=[0,0]} return %y as \"y\" }", "perm"},
        {"graph(%x: float32[n,3]) { %y = Transpose(%x) {perm=[0,2]} return %y as \"y\" }",
         "axis is 2"},
        {"graph(%x: float32[n,3]) { %y = Transpose(%x) {perm=[0]} return %y as \"y\" }", "perm"},
        {"graph(%x: float32[n,3]) { %s = const int64[2] {2,2} %a, %b = Split(%x, %s) {axis=1}"
         " return %a as \"a\", %b as \"b\" }",
         ""},
        {"graph(%x: float32[n,3]) { %s = const int64[2] {-1,4} %a, %b = Split(%x, %s) {axis=1}"
         " return %a as \"a\", %b as \"b\" }",
         ""},
        {"graph(%x: float32[n,2,5,5], %w: float32[2,2,3,3]) { %y = Conv(%x, %w) {dilations=[0,1]}"
         " return %y as \"y\" }",
         "dilation"},
        {"graph(%x: float32[n,2,5,5], %w: float32[2,2,3,3]) { %y = Conv(%x, %w) {strides=[0,1]}"
         " return %y as \"y\" }",
         "stride"},
        {"graph(%x: float32[n,2,5,5], %w: float32[2,2,3,3]) { %y = Conv(%x, %w) {group=0}"
         " return %y as \"y\" }",
         "group"},
        {"graph(%x: float32[n,2,5,5], %w: float32[2,2,3,3]) { %y = Conv(%x, %w) {group=-1}"
         " return %y as \"y\" }",
         "group"},
        {"graph(%x: float32[n,2,5,5], %w: float32[2,2,3,3]) { %y = Conv(%x, %w) {pads=[-9,0,0,0]}"
         " return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,2,2,2], %w: float32[2,2,3,3]) { %y = Conv(%x, %w)"
         " return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,2,5,5], %w: float32[2,2,3,3]) { %y = Conv(%x, %w)"
         " {pads=[9223372036854775807,0,0,1]} return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,2,5,5]) { %y = MaxPool(%x) {kernel_shape=[0,2]} return %y as \"y\" }",
         "kernel"},
        {"graph(%x: float32[n,2,5,5]) { %y = AveragePool(%x) {kernel_shape=[9,9]}"
         " return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,2,5,5]) { %y = DepthToSpace(%x) {blocksize=0} return %y as \"y\" }",
         "blocksize"},
        {"graph(%x: float32[n,4], %s: float32[4], %b: float32[4]) {"
         " %y = GroupNormalization(%x, %s, %b) {num_groups=0} return %y as \"y\" }",
         "group"},
    };
    attack_all(bad, HG_COUNT(bad), 1);
}

static void attack_shapes(void)
{
    static const attack_case bad[] = {
        {"graph(%x: float32[n,4]) { %s = const int64[2] {-1,-1} %y = Reshape(%x, %s)"
         " return %y as \"y\" }",
         "-1"},
        {"graph(%x: float32[n,4]) { %s = const int64[1] {-2} %y = Reshape(%x, %s)"
         " return %y as \"y\" }",
         "below -1"},
        {"graph(%x: float32[n,4]) { %s = const int64[2] {3,3} %y = Reshape(%x, %s)"
         " return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n], %s: int64[2]) { %y = Reshape(%x, %s) return %y as \"y\" }", ""},
        {"graph(%x: float32[1,1,4,4]) { %s = const float32[4] {1.0,1.0,0.0,2.0}"
         " %y = Resize(%x, _, %s) return %y as \"y\" }",
         "scale"},
        {"graph(%x: float32[1,1,4,4]) { %s = const float32[4] {1.0,1.0,nan,2.0}"
         " %y = Resize(%x, _, %s) return %y as \"y\" }",
         "scale"},
        {"graph(%x: float32[1,1,4,4]) { %s = const float32[4] {1.0,1.0,inf,2.0}"
         " %y = Resize(%x, _, %s) return %y as \"y\" }",
         "scale"},
        {"graph(%x: float32[n,4]) { %k = const int64[1] {5} %v, %i = TopK(%x, %k)"
         " return %v as \"v\" }",
         ""},
        {"graph(%x: float32[n,4]) { %k = const int64[1] {-1} %v, %i = TopK(%x, %k)"
         " return %v as \"v\" }",
         ""},
        {"graph(%x: float32[n,4]) { %a = const int64[1] {0} %b = const int64[1] {3}"
         " %o = const int64[1] {1} %s = const int64[1] {0} %y = Slice(%x, %a, %b, %o, %s)"
         " return %y as \"y\" }",
         "step"},
        {"graph(%x: float32[n,4]) { %a = const int64[1] {3} %b = const int64[1]"
         " {-9223372036854775808} %o = const int64[1] {1} %s = const int64[1]"
         " {-9223372036854775808} %y = Slice(%x, %a, %b, %o, %s) return %y as \"y\" }",
         NULL},
        {"graph(%x: float32[n,4], %y: float32[3]) { %z = Add(%x, %y) return %z as \"z\" }", ""},
        {"graph(%x: float32[n,4], %y: float32[5,2]) { %z = MatMul(%x, %y) return %z as \"z\" }",
         ""},
    };
    attack_all(bad, HG_COUNT(bad), 3);
}

static void attack_bombs(void)
{
    static const attack_case bad[] = {
        {"graph(%x: float32[n,4]) { %p = const int64[4] {0,1000000000000,0,0} %y = Pad(%x, %p)"
         " return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,4]) { %r = const int64[2] {1000000000,1000000000}"
         " %y = Tile(%x, %r) return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,1]) { %s = const int64[2] {1,4000000000000000000} %y = Expand(%x, %s)"
         " return %y as \"y\" }",
         ""},
        {"graph() { %s = const int64[2] {4611686018427387904,4} %y = ConstantOfShape(%s)"
         " return %y as \"y\" }",
         ""},
        {"graph() { %s = const int64[3] {65536,65536,65536} %y = ConstantOfShape(%s)"
         " return %y as \"y\" }",
         ""},
        {"graph(%s: int64[3]) { %y = ConstantOfShape(%s) return %y as \"y\" }", ""},
        {"graph(%e: int64[]) { %b = const int64[] {0} %d = const int64[] {1} %y = Range(%b, %e, %d)"
         " return %y as \"y\" }",
         ""},
        {"graph() { %b = const int64[] {-9223372036854775808} %e = const int64[]"
         " {9223372036854775807} %d = const int64[] {1} %y = Range(%b, %e, %d)"
         " return %y as \"y\" }",
         ""},
        {"graph(%i: int64[n]) { %d = const int64[] {1000000000000} %v = const float32[2] {0.0,1.0}"
         " %y = OneHot(%i, %d, %v) return %y as \"y\" }",
         ""},
        {"graph(%x: float32[1,1,4,4]) { %s = const float32[4] {1.0,1.0,1e8,1e8}"
         " %y = Resize(%x, _, %s) return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,1000], %y: float32[n,1000]) { %a = Unsqueeze(%x, %o)"
         " %o = const int64[1] {2} return %x as \"x\" }",
         NULL},
        {"graph(%m: int64[], %c: bool[], %x: float32[n]) { %y = Loop(%m, %c, %x)"
         " body(%i: int64[], %k: bool[], %a: float32[n]) { %b = Neg(%a) return %k, %b }"
         " return %y as \"y\" }",
         "1000"},
        {"graph(%c: bool[], %x: float32[n]) { %y = Loop(_, %c, %x)"
         " body(%i: int64[], %k: bool[], %a: float32[n]) { %b = Neg(%a) return %k, %b }"
         " return %y as \"y\" }",
         "1000"},
    };
    attack_all(bad, HG_COUNT(bad), 1e9);
}

static void attack_indices(void)
{
    static const attack_case bad[] = {
        {"graph(%x: float32[n,3], %i: int64[k]) { %y = Gather(%x, %i) return %y as \"y\" }",
         "outside -2 to 1"},
        {"graph(%x: float32[n,3], %i: int64[n,3]) { %y = GatherElements(%x, %i)"
         " return %y as \"y\" }",
         "outside -2 to 1"},
        {"graph(%x: float32[n,3], %i: int64[k,1]) { %y = GatherND(%x, %i) return %y as \"y\" }",
         "outside -2 to 1"},
        {"graph(%x: float32[n,3], %i: int64[k,3], %u: float32[k,3]) {"
         " %y = ScatterElements(%x, %i, %u) return %y as \"y\" }",
         "outside -2 to 1"},
        {"graph(%x: float32[n,3], %i: int64[k,1], %u: float32[k,3]) { %y = ScatterND(%x, %i, %u)"
         " return %y as \"y\" }",
         "outside -2 to 1"},
        {"graph(%x: int64[n], %y: int64[n]) { %s = Sub(%y, %y) %z = Div(%x, %s)"
         " return %z as \"z\" }",
         "division by zero"},
        {"graph(%x: float32[4,n], %l: int64[n]) { %y = ReverseSequence(%x, %l)"
         " {batch_axis=1, time_axis=0} return %y as \"y\" }",
         ""},
        {"graph(%x: float32[n,3], %i: int64[1]) { %y = ReduceSum(%x, %i) return %y as \"y\" }", ""},
    };
    static const double fill[] = {7, -7, 9.0e18, -9.2e18};
    for (size_t k = 0; k < HG_COUNT(fill); k++)
        attack_all(bad, HG_COUNT(bad), fill[k]);
}

/* Scales that are zero, infinite or no number: results are open, but defined. */
static void attack_scales(void)
{
    static const attack_case odd[] = {
        {"graph(%x: float32[n,4], %s: float32[]) { %z = const uint8[] {255}"
         " %y = QuantizeLinear(%x, %s, %z) %w = DequantizeLinear(%y, %s, %z) return %w as \"w\" }",
         NULL},
        {"graph(%x: float32[n,4], %s: float32[4]) { %z = const int8[4] {-128,127,0,1}"
         " %y = QuantizeLinear(%x, %s, %z) {axis=1} return %y as \"y\" }",
         NULL},
        {"graph(%x: float32[n,4]) { %a, %s, %z = DynamicQuantizeLinear(%x) return %a as \"a\" }",
         NULL},
        {"graph(%x: float32[n,4]) { %y = Cast(%x) {to=3} %z = Cast(%x) {to=7} %u = Cast(%x) {to=13}"
         " return %y as \"y\", %z as \"z\", %u as \"u\" }",
         NULL},
    };
    static const double fill[] = {0, -0.0, 1e-45, 1e308, -1e308, 3e38};
    for (size_t k = 0; k < HG_COUNT(fill); k++)
        attack_all(odd, HG_COUNT(odd), fill[k] > 3e38 ? 1e300 * 1e300 : fill[k]);
    attack_all(odd, HG_COUNT(odd), strtod("nan", NULL));
}

/* Keys of a LabelEncoder that were made to have the same place in its hash table: multiples of one
 * number minus the way the hash goes. */
static void attack_collisions(void)
{
    enum { ATTACK_KEYS = 5000 };
    static int64_t key[ATTACK_KEYS], value[ATTACK_KEYS];
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t inverse = factor; /* by Newton: each step doubles the bits that are right */
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    for (uint64_t i = 0; i < ATTACK_KEYS; i++)
        key[i] = (int64_t)((i << 40 | (i << 8 & 0xffff)) * inverse);
    holo_attr attr[] = {
        {.name = "keys_int64s", .kind = HOLO_ATTR_INTS, .ints = key, .count = ATTACK_KEYS},
        {.name = "values_int64s", .kind = HOLO_ATTR_INTS, .ints = value, .count = ATTACK_KEYS}};
    for (int honest = 0; honest < 2; honest++) {
        holo_graph *g = NULL;
        holo_error e = {0};
        void *data = NULL;
        size_t size = 0;
        CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e);
        holo_value_id x = holo_graph_input(g, "x", HOLO_I64, "n"), y = 0;
        CHECK(holo_graph_node(g, "ai.onnx.ml:LabelEncoder", &x, 1, attr, 2, &y, 1));
        CHECK(holo_graph_output(g, y, "y"));
        holo_status status = holo_compile_graph(g, NULL, &data, &size, NULL, &e);
        if (honest != 0)
            CHECK_OK(status, &e);
        else if (CHECK_STATUS(status, HOLO_E_LIMIT))
            CHECK_HAS(e.message, "one of more than 1024 with the same place");
        for (uint64_t i = 0; i < ATTACK_KEYS; i++)
            key[i] = (int64_t)(i * 4096);
        holo_buffer_free(NULL, data, size);
        holo_graph_free(g);
    }
}

const hg_test_case hg_tests_fault_attack[] = {
    {"attributes", attack_attributes},
    {"shapes", attack_shapes},
    {"bombs", attack_bombs},
    {"collisions", attack_collisions},
    {"indices", attack_indices},
    {"scales", attack_scales},
    {0},
};
