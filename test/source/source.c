/* source.c - holo_model_emit_c: the C that comes out compiles without a warning and gives the bits
 * of the interpreter; what has no C is refused with a sentence. */
#include "hologram.h"

#include "test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs -----------------------------------------------------------------------------------
 */

typedef struct source_graph {
    holo_graph *g;
    uint32_t state;
} source_graph;

static float source_random(source_graph *b)
{
    b->state = b->state * 1664525u + 1013904223u;
    return (float)(b->state >> 8) / 8388608.0f - 1.0f;
}

static holo_value_id source_weight(source_graph *b, int32_t rank, const int64_t *dim)
{
    float data[4096];
    holo_tensor t = {.data = data, .rank = rank, .dtype = HOLO_F32};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        data[i] = source_random(b);
    return holo_graph_constant(b->g, &t);
}

static holo_value_id source_ints(source_graph *b, const int64_t *data, int64_t n)
{
    int64_t copy[16];
    memcpy(copy, data, (size_t)n * sizeof *data);
    holo_tensor t = {.data = copy, .dim = {n}, .rank = 1, .dtype = HOLO_I64};
    return holo_graph_constant(b->g, &t);
}

static holo_value_id source_node(source_graph *b, const char *op, const holo_value_id *in,
                                 size_t n_in, const holo_attr *attr, size_t n_attr)
{
    holo_value_id out = 0;
    holo_graph_node(b->g, op, in, n_in, attr, n_attr, &out, 1);
    return out;
}

static holo_value_id source_one(source_graph *b, const char *op, holo_value_id x)
{
    return source_node(b, op, &x, 1, NULL, 0);
}

#define SOURCE_INTS(attribute, ...)                                                                \
    {                                                                                              \
        .name = attribute, .kind = HOLO_ATTR_INTS, .ints = (const int64_t[]){__VA_ARGS__},         \
        .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                          \
    }

/* Convolutions with padding, strides, groups and a transposed one, pools, a dense layer. */
static holo_value_id source_picture(source_graph *b, holo_value_id x)
{
    const holo_attr same[] = {SOURCE_INTS("pads", 1, 1, 1, 1)};
    const holo_attr groups[] = {SOURCE_INTS("strides", 2, 1),
                                {.name = "group", .kind = HOLO_ATTR_INT, .i = 2}};
    const holo_attr wide[] = {SOURCE_INTS("strides", 2, 2), SOURCE_INTS("pads", 1, 0, 0, 1)};
    const holo_attr window[] = {SOURCE_INTS("kernel_shape", 3, 2), SOURCE_INTS("pads", 1, 0, 1, 1)};
    holo_value_id w = source_weight(b, 4, (const int64_t[]){4, 3, 3, 3});
    holo_value_id bias = source_weight(b, 1, (const int64_t[]){4});
    x = source_node(b, "Conv", (holo_value_id[]){x, w, bias}, 3, same, 1);
    x = source_one(b, "Relu", x);
    w = source_weight(b, 4, (const int64_t[]){6, 2, 2, 3});
    x = source_node(b, "Conv", (holo_value_id[]){x, w}, 2, groups, 2);
    x = source_one(b, "Sigmoid", x);
    w = source_weight(b, 4, (const int64_t[]){6, 5, 2, 2});
    x = source_node(b, "ConvTranspose", (holo_value_id[]){x, w}, 2, wide, 2);
    x = source_node(b, "MaxPool", &x, 1, window, 2);
    x = source_node(b, "AveragePool", &x, 1, window, 2);
    x = source_one(b, "Flatten", x);
    return x;
}

static void source_build_net(source_graph *b)
{
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "2,3,8,7");
    const holo_value_id y = source_picture(b, x);
    const holo_value_id scaled = source_one(b, "Softmax", source_one(b, "Tanh", y));
    holo_graph_output(b->g, scaled, "probabilities");
    holo_graph_output(b->g, source_one(b, "LogSoftmax", y), "logarithms");
}

/* A dense layer with bias, normalised, attention-like products, reductions. */
static void source_build_dense(source_graph *b)
{
    const holo_attr swap[] = {SOURCE_INTS("perm", 0, 2, 1)};
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "3,5,12");
    const holo_value_id w = source_weight(b, 2, (const int64_t[]){12, 20});
    const holo_value_id bias = source_weight(b, 1, (const int64_t[]){20});
    const holo_value_id scale = source_weight(b, 1, (const int64_t[]){20});
    holo_value_id y = source_node(b, "MatMul", (holo_value_id[]){x, w}, 2, NULL, 0);
    y = source_node(b, "Add", (holo_value_id[]){y, bias}, 2, NULL, 0);
    y = source_node(b, "LayerNormalization", (holo_value_id[]){y, scale, bias}, 3, NULL, 0);
    const holo_value_id turned = source_node(b, "Transpose", &y, 1, swap, 1);
    holo_value_id scores = source_node(b, "MatMul", (holo_value_id[]){y, turned}, 2, NULL, 0);
    scores = source_one(b, "Softmax", scores);
    y = source_node(b, "MatMul", (holo_value_id[]){scores, y}, 2, NULL, 0);
    holo_graph_output(b->g, source_one(b, "Erf", y), "erf");
    holo_graph_output(b->g, source_one(b, "ReduceMean", y), "mean");
    holo_graph_output(b->g, source_one(b, "ReduceLogSumExp", y), "logsumexp");
    holo_graph_output(b->g, source_one(b, "ArgMax", y), "best");
}

/* Moving elements: slices, borders of each kind, concatenation, gathering, resizing. */
static void source_build_move(source_graph *b)
{
    const holo_attr axis[] = {{.name = "axis", .kind = HOLO_ATTR_INT, .i = 2}};
    const holo_attr reflect[] = {{.name = "mode", .kind = HOLO_ATTR_STRING, .s = "reflect"}};
    const holo_attr linear[] = {{.name = "mode", .kind = HOLO_ATTR_STRING, .s = "linear"}};
    const int64_t pads[] = {0, 1, 2, 0, 2, 1}, sizes[] = {2, 9, 13}, pick[] = {1, -1, 0};
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "2,4,6");
    const holo_value_id by = source_ints(b, pads, 6), to = source_ints(b, sizes, 3);
    const holo_value_id zero = source_node(b, "Pad", (holo_value_id[]){x, by}, 2, NULL, 0);
    const holo_value_id mirror = source_node(b, "Pad", (holo_value_id[]){x, by}, 2, reflect, 1);
    const holo_value_id both =
        source_node(b, "Concat", (holo_value_id[]){zero, mirror}, 2, axis, 1);
    holo_graph_output(b->g, both, "padded");
    const holo_value_id index = source_ints(b, pick, 3);
    holo_graph_output(b->g, source_node(b, "Gather", (holo_value_id[]){x, index}, 2, axis, 1),
                      "gathered");
    holo_graph_output(b->g, source_node(b, "Resize", (holo_value_id[]){x, 0, 0, to}, 4, linear, 1),
                      "smooth");
    holo_graph_output(b->g, source_node(b, "Resize", (holo_value_id[]){x, 0, 0, to}, 4, NULL, 0),
                      "blocks");
    holo_graph_output(b->g, x, "same");
}

/* One node on one value, for every function that has helpers of its own. */
static void source_build_functions(source_graph *b)
{
    static const char *const ops[] = {"Exp",   "Log",  "Sin",  "Cos",   "Tan",   "Asin",    "Acos",
                                      "Atan",  "Sinh", "Cosh", "Asinh", "Atanh", "Floor",   "Ceil",
                                      "Round", "Sqrt", "Sign", "Neg",   "Abs",   "Softplus"};
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "37");
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        holo_graph_output(b->g, source_one(b, ops[i], x), ops[i]);
}

static holo_value_id source_bytes(source_graph *b, holo_dtype dtype, int32_t rank,
                                  const int64_t *dim)
{
    uint8_t data[1024];
    holo_tensor t = {.data = data, .rank = rank, .dtype = dtype};
    if (rank > 0) memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        data[i] = (uint8_t)(int)(source_random(b) * 100 + 128);
    return holo_graph_constant(b->g, &t);
}

static holo_value_id source_scale(source_graph *b, float value)
{
    holo_tensor t = {.data = &value, .rank = 0, .dtype = HOLO_F32};
    return holo_graph_constant(b->g, &t);
}

/* Integer products with zero points, and a chain over bytes that becomes a table. */
static void source_build_codes(source_graph *b)
{
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "1,4,6,5");
    const holo_value_id step = source_scale(b, 0.02f), small = source_scale(b, 0.004f);
    const holo_value_id zero = source_bytes(b, HOLO_U8, 0, NULL);
    const holo_value_id codes =
        source_node(b, "QuantizeLinear", (holo_value_id[]){x, step, zero}, 3, NULL, 0);
    const holo_value_id w = source_bytes(b, HOLO_I8, 4, (const int64_t[]){3, 4, 2, 2});
    const holo_value_id w_zero = source_bytes(b, HOLO_I8, 1, (const int64_t[]){3});
    const holo_value_id sums =
        source_node(b, "ConvInteger", (holo_value_id[]){codes, w, zero, w_zero}, 4, NULL, 0);
    holo_graph_output(b->g, sums, "sums");
    const holo_value_id m = source_bytes(b, HOLO_U8, 2, (const int64_t[]){5, 7});
    holo_graph_output(
        b->g, source_node(b, "MatMulInteger", (holo_value_id[]){codes, m, zero}, 3, NULL, 0),
        "products");
    holo_value_id y =
        source_node(b, "DequantizeLinear", (holo_value_id[]){codes, step, zero}, 3, NULL, 0);
    y = source_one(b, "Sigmoid", source_one(b, "Tanh", y));
    y = source_node(b, "QuantizeLinear", (holo_value_id[]){y, small, zero}, 3, NULL, 0);
    holo_graph_output(b->g, y, "looked_up");
    const int64_t pick[] = {1, 0};
    holo_graph_output(b->g, source_ints(b, pick, 2), "constant");
}

#define SOURCE_INT(attribute, value)                                                               \
    {                                                                                              \
        .name = attribute, .kind = HOLO_ATTR_INT, .i = (value)                                     \
    }
#define SOURCE_STRING(attribute, value)                                                            \
    {                                                                                              \
        .name = attribute, .kind = HOLO_ATTR_STRING, .s = (value)                                  \
    }

static holo_value_id source_lengths(source_graph *b, int32_t first, int32_t second)
{
    int32_t data[2] = {first, second};
    holo_tensor t = {.data = data, .rank = 1, .dim = {2}, .dtype = HOLO_I32};
    return holo_graph_constant(b->g, &t);
}

/* A layer of 3 hidden numbers on 5 inputs; its outputs become the graph's. */
static void source_layer(source_graph *b, const char *op, holo_value_id x, int64_t gates,
                         int64_t directions, const holo_value_id *more, size_t n_more,
                         const holo_attr *attr, size_t n_attr)
{
    const int64_t rows = 3 * gates;
    holo_value_id in[8] = {x}, out[3] = {0};
    const size_t n_out = strcmp(op, "LSTM") == 0 ? 3 : 2;
    in[1] = source_weight(b, 3, (const int64_t[]){directions, rows, 5});
    in[2] = source_weight(b, 3, (const int64_t[]){directions, rows, 3});
    in[3] = source_weight(b, 2, (const int64_t[]){directions, 2 * rows});
    if (n_more > 0) memcpy(in + 4, more, n_more * sizeof *more);
    holo_graph_node(b->g, op, in, 4 + n_more, attr, n_attr, out, n_out);
    for (size_t i = 0; i < n_out; i++)
        holo_graph_output(b->g, out[i], NULL);
}

/* Lengths, initial states, peepholes, limits, both directions and other functions. */
static void source_build_recurrent(source_graph *b)
{
    static const char *const functions[] = {"HardSigmoid", "Softsign", "Elu",
                                            "Sigmoid",     "Tanh",     "Softplus"};
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "6,2,5");
    const holo_value_id lengths = source_lengths(b, 4, 6);
    const holo_value_id h = source_weight(b, 3, (const int64_t[]){2, 2, 3});
    const holo_value_id c = source_weight(b, 3, (const int64_t[]){2, 2, 3});
    const holo_value_id p = source_weight(b, 2, (const int64_t[]){2, 9});
    const holo_attr both[] = {
        SOURCE_INT("hidden_size", 3),
        SOURCE_STRING("direction", "bidirectional"),
        {.name = "clip", .kind = HOLO_ATTR_FLOAT, .f = 0.9f},
        {.name = "activations", .kind = HOLO_ATTR_STRINGS, .strings = functions, .count = 6}};
    const holo_attr plain[] = {SOURCE_INT("hidden_size", 3), SOURCE_INT("input_forget", 1)};
    const holo_attr linear[] = {SOURCE_INT("hidden_size", 3), SOURCE_INT("linear_before_reset", 1),
                                SOURCE_STRING("direction", "reverse")};
    source_layer(b, "LSTM", x, 4, 2, (holo_value_id[]){lengths, h, c, p}, 4, both, 4);
    source_layer(b, "LSTM", x, 4, 1, NULL, 0, plain, 2);
    source_layer(b, "GRU", x, 3, 1, (holo_value_id[]){lengths}, 1, linear, 3);
    source_layer(b, "GRU", x, 3, 1, NULL, 0, plain, 1);
    source_layer(b, "RNN", x, 1, 1, NULL, 0, plain, 1);
}

static holo_value_id source_table(source_graph *b, int32_t rank, const int64_t *dim,
                                  const int64_t *data)
{
    int64_t copy[64];
    holo_tensor t = {.data = copy, .rank = rank, .dtype = HOLO_I64};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    memcpy(copy, data, (size_t)holo_tensor_count(&t) * sizeof *data);
    return holo_graph_constant(b->g, &t);
}

static void source_best(source_graph *b, holo_value_id x, int64_t k, int64_t axis, int64_t largest)
{
    const holo_attr attr[] = {SOURCE_INT("axis", axis), SOURCE_INT("largest", largest)};
    holo_value_id out[2] = {0};
    holo_graph_node(b->g, "TopK", (holo_value_id[]){x, source_ints(b, &k, 1)}, 2, attr, 2, out, 2);
    holo_graph_output(b->g, out[0], NULL);
    holo_graph_output(b->g, out[1], NULL);
}

/* Updates of places that repeat and count from the end, replaced or combined. */
static void source_scatters(source_graph *b, holo_value_id x)
{
    const holo_value_id places = source_table(
        b, 3, (const int64_t[]){2, 3, 4}, (const int64_t[]){0, 1, 2,  3, -1, 1, 2, 0, 0, 0, 0, 0,
                                                            3, 2, -4, 1, 1,  1, 1, 1, 0, 1, 2, 3});
    const holo_value_id tuples =
        source_table(b, 2, (const int64_t[]){3, 2}, (const int64_t[]){0, 1, 2, -1, 0, 1});
    const holo_value_id some = source_weight(b, 3, (const int64_t[]){2, 3, 4});
    const holo_value_id rows = source_weight(b, 2, (const int64_t[]){3, 5});
    const char *const kinds[] = {"none", "add", "mul", "max"};
    for (int i = 0; i < 4; i++) {
        const holo_attr attr[] = {SOURCE_STRING("reduction", kinds[i]), SOURCE_INT("axis", 1)};
        holo_graph_output(
            b->g, source_node(b, "ScatterElements", (holo_value_id[]){x, places, some}, 3, attr, 2),
            NULL);
        holo_graph_output(
            b->g, source_node(b, "ScatterND", (holo_value_id[]){x, tuples, rows}, 3, attr, 1),
            NULL);
    }
    holo_graph_output(b->g, source_node(b, "GatherND", (holo_value_id[]){x, tuples}, 2, NULL, 0),
                      NULL);
}

static void source_build_places(source_graph *b)
{
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "3,4,5");
    source_best(b, x, 2, 1, 1);
    source_best(b, x, 5, 2, 0);
    source_scatters(b, x);
}

static void source_build_picks(source_graph *b)
{
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "3,4,5");
    for (int64_t p = 1; p <= 3; p++) {
        const holo_attr norm[] = {SOURCE_INTS("kernel_shape", 2), SOURCE_INT("p", p)};
        holo_graph_output(b->g, source_node(b, "LpPool", &x, 1, norm, 2), NULL);
    }
    const int64_t one = 1, depth = 4, low = -1;
    const holo_attr upper[] = {SOURCE_INT("upper", 0)};
    const holo_attr back[] = {SOURCE_INT("exclusive", 1), SOURCE_INT("reverse", 1)};
    const holo_attr first[] = {SOURCE_INT("batch_axis", 1), SOURCE_INT("time_axis", 0)};
    const holo_value_id axis = source_ints(b, &one, 1), diagonal = source_ints(b, &low, 1);
    const holo_value_id scaled =
        source_node(b, "Mul", (holo_value_id[]){x, source_scale(b, 4.0f)}, 2, NULL, 0);
    const holo_value_id values = source_weight(b, 1, (const int64_t[]){2});
    const holo_value_id lengths =
        source_table(b, 1, (const int64_t[]){4}, (const int64_t[]){3, 1, 0, 2});
    const holo_value_id list[] = {
        source_node(b, "Trilu", (holo_value_id[]){x, diagonal}, 2, upper, 1),
        source_one(b, "Trilu", x),
        source_node(b, "CumSum", (holo_value_id[]){x, axis}, 2, back, 2),
        source_node(b, "CumSum", (holo_value_id[]){x, axis}, 2, NULL, 0),
        source_node(b, "OneHot", (holo_value_id[]){scaled, source_ints(b, &depth, 1), values}, 3,
                    NULL, 0),
        source_node(b, "ReverseSequence", (holo_value_id[]){x, lengths}, 2, first, 2),
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        holo_graph_output(b->g, list[i], NULL);
    holo_value_id codes[3] = {0};
    holo_graph_node(b->g, "DynamicQuantizeLinear", &x, 1, NULL, 0, codes, 3);
    for (int i = 0; i < 3; i++)
        holo_graph_output(b->g, codes[i], NULL);
    for (int64_t type = 17; type <= 20; type++) { /* the four of float8 */
        const holo_attr to[] = {SOURCE_INT("to", type)};
        holo_graph_output(b->g, source_node(b, "Cast", &x, 1, to, 1), NULL);
    }
}

/* ---- compile, write, run ----------------------------------------------------------------------
 */

static bool source_open(void (*build)(source_graph *b), uint32_t flags, holo_numerics numerics,
                        void **bytes, size_t *size, holo_model **model)
{
    holo_error e = {0};
    source_graph b = {.state = 7};
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    options.flags = flags;
    options.numerics = numerics;
    if (!CHECK_OK(holo_graph_new(0, NULL, &b.g, &e), &e)) return false;
    build(&b);
    bool ok = CHECK_OK(holo_compile_graph(b.g, &options, bytes, size, NULL, &e), &e);
    holo_graph_free(b.g);
    return ok &&
           CHECK_OK(holo_model_open_memory(*bytes, *size, holo_kernels_all(), NULL, model, &e), &e);
}

static bool source_sink(void *user, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, user) == size;
}

static bool source_has_cc(void)
{
    return system("cc --version >/dev/null 2>&1") == 0;
}

/* The emitted function, in a library of its own. */
static void *source_load(const holo_model *model, const char *c_path, const char *so_path)
{
    char command[1024];
    holo_error e = {0};
    FILE *f = fopen(c_path, "w");
    if (!CHECK(f != NULL)) return NULL;
    bool ok = CHECK_OK(holo_model_emit_c(model, 0, "net", source_sink, f, &e), &e);
    ok = fclose(f) == 0 && ok;
    snprintf(command, sizeof command,
             "cc -std=c99 -O2 -Wall -Wextra -Werror -shared -fPIC '%s' -o '%s' -lm", c_path,
             so_path);
    if (!ok || !CHECK_EQ_INT(system(command), 0)) return NULL;
    void *library = dlopen(so_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    return library;
}

enum { SOURCE_MAX_OUT = 20, SOURCE_ROOM = 1 << 16 };

/* Calls a function of one input and up to twenty outputs: more arguments than it takes are not read
 * by it on any machine that passes them as the caller's. */
static int source_call(void *library, const float *x, uint8_t (*y)[SOURCE_ROOM], uint32_t n_out)
{
    void *symbol = dlsym(library, "net");
    if (!CHECK(symbol != NULL)) return -1;
#define Y(i) y[i]
    if (n_out == 2) {
        int (*net)(const void *, void *, void *);
        memcpy(&net, &symbol, sizeof net);
        return net(x, Y(0), Y(1));
    }
    if (n_out == 4) {
        int (*net)(const void *, void *, void *, void *, void *);
        memcpy(&net, &symbol, sizeof net);
        return net(x, Y(0), Y(1), Y(2), Y(3));
    }
    if (n_out == 5) {
        int (*net)(const void *, void *, void *, void *, void *, void *);
        memcpy(&net, &symbol, sizeof net);
        return net(x, Y(0), Y(1), Y(2), Y(3), Y(4));
    }
    int (*net)(const void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
               void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
               void *);
    memcpy(&net, &symbol, sizeof net);
    return net(x, Y(0), Y(1), Y(2), Y(3), Y(4), Y(5), Y(6), Y(7), Y(8), Y(9), Y(10), Y(11), Y(12),
               Y(13), Y(14), Y(15), Y(16), Y(17), Y(18), Y(19));
#undef Y
}

static bool source_interpret(const holo_model *model, const holo_tensor *x, holo_session **session)
{
    holo_error e = {0};
    return CHECK_OK(holo_session_new(model, NULL, session, &e), &e) &&
           CHECK_OK(holo_session_set_input(*session, 0, x, &e), &e) &&
           CHECK_OK(holo_session_run(*session, &e), &e);
}

/* Same bits, or within `bound` for floats under fast numerics. */
static void source_compare(const holo_tensor *want, const uint8_t *got, double bound)
{
    if (bound == 0 || want->dtype != HOLO_F32) {
        CHECK_MEM(got, want->data, holo_tensor_bytes(want));
        return;
    }
    for (int64_t i = 0; i < holo_tensor_count(want); i++)
        CHECK_NEAR(((const float *)(const void *)got)[i], ((const float *)want->data)[i], bound);
}

static void source_check(void (*build)(source_graph *b), holo_numerics numerics, double bound)
{
    static _Alignas(64) uint8_t y[SOURCE_MAX_OUT][SOURCE_ROOM];
    float data[1024];
    void *bytes[2] = {NULL, NULL};
    size_t size[2];
    holo_model *tuned = NULL, *plain = NULL;
    holo_session *session = NULL;
    holo_port port;
    if (!source_has_cc()) SKIP("there is no cc");
    /* The interpreter runs what a user would have: packed weights, layouts and all. */
    if (!source_open(build, 0, numerics, &bytes[0], &size[0], &tuned) ||
        !source_open(build, HOLO_COMPILE_PLAIN, numerics, &bytes[1], &size[1], &plain))
        return;
    source_graph random = {.state = 99};
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++)
        data[i] = source_random(&random);
    holo_error e = {0};
    CHECK_OK(holo_model_input(tuned, 0, 0, &port), &e);
    holo_tensor x = {.data = data, .rank = port.rank, .dtype = HOLO_F32};
    memcpy(x.dim, port.dim, sizeof x.dim);
    void *library = source_load(plain, hg_test_temp("net.c"), hg_test_temp("net.so"));
    const uint32_t n_out = holo_model_output_count(tuned, 0);
    if (library != NULL && source_interpret(tuned, &x, &session) &&
        CHECK_EQ_INT(source_call(library, data, y, n_out), 0))
        for (uint32_t i = 0; i < n_out; i++) {
            holo_tensor want;
            if (CHECK_OK(holo_session_output(session, i, &want, &e), &e))
                source_compare(&want, y[i], bound);
        }
    if (library != NULL) dlclose(library);
    holo_session_free(session);
    holo_model_free(tuned);
    holo_model_free(plain);
    holo_buffer_free(NULL, bytes[0], size[0]);
    holo_buffer_free(NULL, bytes[1], size[1]);
}

static void source_net(void)
{
    source_check(source_build_net, HOLO_EXACT, 0);
}

static void source_dense(void)
{
    source_check(source_build_dense, HOLO_EXACT, 0);
}

static void source_move(void)
{
    source_check(source_build_move, HOLO_EXACT, 0);
}

static void source_functions(void)
{
    source_check(source_build_functions, HOLO_EXACT, 0);
}

static void source_codes(void)
{
    source_check(source_build_codes, HOLO_EXACT, 0);
}

static void source_recurrent(void)
{
    source_check(source_build_recurrent, HOLO_EXACT, 0);
}

static void source_places(void)
{
    source_check(source_build_places, HOLO_EXACT, 0);
}

static void source_picks(void)
{
    source_check(source_build_picks, HOLO_EXACT, 0);
}

/* Fast kernels may fuse and reorder: products of at most 60 terms below 1 stay this close. */
static void source_fast_net(void)
{
    source_check(source_build_net, HOLO_FAST, 1e-5);
}

static void source_fast_dense(void)
{
    source_check(source_build_dense, HOLO_FAST, 1e-4);
}

/* ---- what it refuses --------------------------------------------------------------------------
 */

static void source_build_open(source_graph *b)
{
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "batch,3");
    holo_graph_output(b->g, source_one(b, "Relu", x), "y");
}

static void source_build_late(source_graph *b)
{
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "4,3");
    holo_graph_output(b->g, source_one(b, "Relu", x), "y");
    holo_graph_output(b->g, source_one(b, "NonZero", x), "places");
}

static void source_build_unknown(source_graph *b)
{
    const holo_value_id x = holo_graph_input(b->g, "x", HOLO_F32, "4,4");
    holo_value_id y = source_one(b, "Det", x);
    holo_graph_output(b->g, source_one(b, "Relu", y), "y");
}

static bool source_count(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return true;
}

static bool source_deny(void *user, const void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return false;
}

static void source_expect(void (*build)(source_graph *b), holo_status status, const char *part)
{
    holo_error e = {0};
    void *bytes = NULL;
    size_t size = 0, written = 0;
    holo_model *model = NULL;
    if (!source_open(build, HOLO_COMPILE_PLAIN, HOLO_FAST, &bytes, &size, &model)) return;
    CHECK_STATUS(holo_model_emit_c(model, 0, "net", source_count, &written, &e), status);
    CHECK_HAS(e.message, part);
    CHECK_EQ_INT(written, 0);
    holo_model_free(model);
    holo_buffer_free(NULL, bytes, size);
}

static void source_refuses(void)
{
    source_expect(source_build_open, HOLO_E_SHAPE, "dimension 0 of input 'x' is 'batch'");
    source_expect(source_build_late, HOLO_E_UNSUPPORTED, "depend on data");
    source_expect(source_build_unknown, HOLO_E_UNSUPPORTED, "det: no C for it");
}

static void source_arguments(void)
{
    holo_error e = {0};
    void *bytes = NULL;
    size_t size = 0, written = 0;
    holo_model *model = NULL;
    if (!source_open(source_build_functions, HOLO_COMPILE_PLAIN, HOLO_FAST, &bytes, &size, &model))
        return;
    CHECK_STATUS(holo_model_emit_c(NULL, 0, "net", source_count, &written, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_model_emit_c(model, 0, NULL, source_count, &written, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_model_emit_c(model, 0, "net", NULL, NULL, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_model_emit_c(model, 0, "4net", source_count, &written, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_model_emit_c(model, 0, "a b", source_count, &written, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_model_emit_c(model, 0, "", source_count, &written, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_model_emit_c(model, 3, "net", source_count, &written, &e), HOLO_E_ARG);
    CHECK_EQ_INT(written, 0);
    CHECK_STATUS(holo_model_emit_c(model, 0, "net", source_deny, NULL, &e), HOLO_E_IO);
    holo_model_free(model);
    holo_buffer_free(NULL, bytes, size);
}

const hg_test_case hg_tests_source_source[] = {
    {"net", source_net},
    {"dense", source_dense},
    {"move", source_move},
    {"functions", source_functions},
    {"codes", source_codes},
    {"recurrent", source_recurrent},
    {"places", source_places},
    {"picks", source_picks},
    {"fast_net", source_fast_net},
    {"fast_dense", source_fast_dense},
    {"refuses", source_refuses},
    {"arguments", source_arguments},
    {0},
};
