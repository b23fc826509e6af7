/* linear.c - operators whose work grows with their input alone, on about a million elements. One
 * that takes more than a second does something else: it is marked, and the program fails. */
#include "bench.h"

#include "hologram.h"

#include <string.h>

enum { LINEAR_IN = 3 };

typedef struct linear_case {
    const char *op;
    const char *in[LINEAR_IN]; /* type and dimensions: "f1000,1000"; "=0,1": int64 constants */
    const char *attr;
    int64_t value;
} linear_case;

#define UNARY(op)                                                                                  \
    {                                                                                              \
        op, {"f1000,1000"}, NULL, 0                                                                \
    }
#define BINARY(op)                                                                                 \
    {                                                                                              \
        op, {"f1000,1000", "f1000,1"}, NULL, 0                                                     \
    }
#define REDUCE(op)                                                                                 \
    {op, {"f1000,1000", "=1"}, NULL, 0},                                                           \
    {                                                                                              \
        op, {"f1000,1000", "=0"}, NULL, 0                                                          \
    }
#define AXIS(op)                                                                                   \
    {op, {"f1000,1000"}, "axis", 1},                                                               \
    {                                                                                              \
        op, {"f1000,1000"}, "axis", 0                                                              \
    }

static const linear_case cases[] = {
    UNARY("Abs"),
    UNARY("Acos"),
    UNARY("Asinh"),
    UNARY("Atan"),
    UNARY("Ceil"),
    UNARY("Cos"),
    UNARY("Elu"),
    UNARY("Erf"),
    UNARY("Exp"),
    UNARY("Gelu"),
    UNARY("HardSwish"),
    UNARY("IsNaN"),
    UNARY("Log"),
    UNARY("Mish"),
    UNARY("Relu"),
    UNARY("Round"),
    UNARY("Sigmoid"),
    UNARY("Sin"),
    UNARY("Softplus"),
    UNARY("Sqrt"),
    UNARY("Tan"),
    UNARY("Tanh"),
    UNARY("Identity"),
    BINARY("Add"),
    BINARY("Div"),
    BINARY("Less"),
    BINARY("Max"),
    BINARY("Mul"),
    BINARY("Pow"),
    BINARY("PRelu"),
    BINARY("Sub"),
    REDUCE("ReduceL2"),
    REDUCE("ReduceLogSumExp"),
    REDUCE("ReduceMax"),
    REDUCE("ReduceMean"),
    REDUCE("ReduceProd"),
    REDUCE("ReduceSum"),
    AXIS("ArgMax"),
    AXIS("Hardmax"),
    AXIS("LogSoftmax"),
    AXIS("LpNormalization"),
    AXIS("Softmax"),
    {"BitwiseNot", {"i1000,1000"}, NULL, 0},
    {"Cast", {"f1000,1000"}, "to", HOLO_I64},
    {"Concat", {"f1000,500", "f1000,500"}, "axis", 1},
    {"CumSum", {"f1000,1000", "=1"}, NULL, 0},
    {"DepthToSpace", {"f1,64,125,125"}, "blocksize", 4},
    {"Expand", {"f1000,1", "=1000,1000"}, NULL, 0},
    {"Flatten", {"f100,100,100"}, "axis", 1},
    {"Gather", {"f1000,1000", "i1000"}, "axis", 0},
    {"GatherElements", {"f1000,1000", "i1000,1000"}, "axis", 1},
    {"GatherND", {"f1000,1000", "i1000,1"}, NULL, 0},
    {"GlobalAveragePool", {"f1,64,125,125"}, NULL, 0},
    {"InstanceNormalization", {"f1,64,125,125", "f64", "f64"}, NULL, 0},
    {"LayerNormalization", {"f1000,1000", "f1000"}, NULL, 0},
    {"LRN", {"f1,64,125,125"}, "size", 5},
    {"NonZero", {"f1000,1000"}, NULL, 0},
    {"Pad", {"f1000,1000", "=1,1,1,1"}, NULL, 0},
    {"Reshape", {"f1000,1000", "=100,-1"}, NULL, 0},
    {"ScatterElements", {"f1000,1000", "i1000,1000", "f1000,1000"}, "axis", 1},
    {"SpaceToDepth", {"f1,4,500,500"}, "blocksize", 4},
    {"Split", {"f1000,1000"}, "num_outputs", 1},
    {"Tile", {"f100,100", "=10,10"}, NULL, 0},
    {"TopK", {"f1000,1000", "=10"}, NULL, 0},
    {"Transpose", {"f1000,1000"}, NULL, 0},
    {"Trilu", {"f1000,1000"}, NULL, 0},
    {"Unique", {"f1000000"}, NULL, 0},
    {"Where", {"b1000,1000", "f1000,1000", "f1000,1"}, NULL, 0},
};

static holo_dtype linear_type(char letter)
{
    return letter == 'f' ? HOLO_F32 : letter == 'b' ? HOLO_BOOL : HOLO_I64;
}

/* CumSum reads its axis from a scalar, the others lists. */
static holo_value_id linear_constant(holo_graph *g, const char *text, bool scalar)
{
    int64_t values[8];
    holo_tensor t = {.dtype = HOLO_I64, .data = values};
    int64_t n = 0;
    for (char *end; *text != '\0' && n < 8; text = *end == ',' ? end + 1 : end)
        values[n++] = strtoll(text, &end, 10);
    t.rank = scalar ? 0 : 1;
    t.dim[0] = n;
    return holo_graph_constant(g, &t);
}

static holo_status linear_compile(const linear_case *c, void **data, size_t *size,
                                  holo_error *error)
{
    holo_graph *g = NULL;
    holo_value_id in[LINEAR_IN] = {0}, out = 0;
    size_t n = 0;
    const holo_attr attr = {.name = c->attr, .kind = HOLO_ATTR_INT, .i = c->value};
    holo_status status = holo_graph_new(0, NULL, &g, error);
    if (status != HOLO_OK) return status;
    for (; n < LINEAR_IN && c->in[n] != NULL; n++) {
        const char name[] = {'x', (char)('0' + n), '\0'};
        const char *text = c->in[n];
        in[n] = text[0] == '=' ? linear_constant(g, text + 1, strcmp(c->op, "CumSum") == 0)
                               : holo_graph_input(g, name, linear_type(text[0]), text + 1);
    }
    holo_graph_node(g, c->op, in, n, &attr, c->attr != NULL, &out, 1);
    holo_graph_output(g, out, "y");
    status = holo_compile_graph(g, NULL, data, size, NULL, error);
    holo_graph_free(g);
    return status;
}

/* Numbers in (0.1, 0.9), true and false in turn, the index 0. */
static holo_tensor linear_input(const char *text)
{
    int64_t dim[HOLO_MAX_RANK], count = 1;
    int rank = 0;
    const holo_dtype type = linear_type(*text++);
    for (char *end; *text != '\0'; text = *end == ',' ? end + 1 : end)
        count *= dim[rank++] = strtoll(text, &end, 10);
    holo_tensor t = {.dtype = type, .rank = rank, .data = calloc((size_t)count, 8)};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    for (int64_t k = 0; t.data != NULL && k < count; k++) {
        if (type == HOLO_F32)
            ((float *)t.data)[k] = 0.1f + 0.8f * (float)(k * 7919 % 10007) / 10007;
        if (type == HOLO_BOOL) ((uint8_t *)t.data)[k] = k % 2 != 0;
    }
    return t;
}

/* Seconds of the second run. */
static holo_status linear_run(const linear_case *c, double *seconds, holo_error *error)
{
    void *data = NULL;
    size_t size = 0;
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
    holo_tensor in[LINEAR_IN] = {{0}};
    uint32_t index = 0;
    options.flags = HOLO_SESSION_GROW; /* results whose size the data decides */
    holo_status status = linear_compile(c, &data, &size, error);
    if (status == HOLO_OK)
        status = holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, error);
    if (status == HOLO_OK) status = holo_session_new(model, &options, &session, error);
    for (int k = 0; status == HOLO_OK && k < LINEAR_IN && c->in[k] != NULL; k++) {
        if (c->in[k][0] == '=') continue;
        in[k] = linear_input(c->in[k]);
        status = holo_session_set_input(session, index++, &in[k], error);
    }
    if (status == HOLO_OK) status = holo_session_run(session, error);
    const double start = bench_now();
    if (status == HOLO_OK) status = holo_session_run(session, error);
    *seconds = bench_now() - start;
    for (int k = 0; k < LINEAR_IN; k++)
        free(in[k].data);
    holo_session_free(session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
    return status;
}

int main(void)
{
    int bad = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const linear_case *c = &cases[k];
        double seconds = 0;
        holo_error error = {0};
        const bool ok = linear_run(c, &seconds, &error) == HOLO_OK;
        if (ok)
            printf("%-24s %-16s %9.3f ms%s\n", c->op, c->in[0] + 1, seconds * 1e3,
                   seconds > 1 ? "  SLOW" : "");
        else
            printf("%-24s %-16s FAILED: %s\n", c->op, c->in[0] + 1, error.message);
        bad += !ok || seconds > 1;
    }
    return bad != 0;
}
