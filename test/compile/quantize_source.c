/* quantize_source.c - a dear function between two products becomes a table: what it reads are codes
 * of 16 bits, unless something else reads that too. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCE_ROWS = 8, SOURCE_K = 32, SOURCE_WIDE = 64, SOURCE_SAMPLES = 4 };

static float source_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)*state / 2147483648.0f - 1;
}

static holo_value_id source_constant(holo_graph *g, uint32_t *state, int32_t rank, int64_t rows,
                                     int64_t columns)
{
    static float data[SOURCE_K * SOURCE_WIDE];
    const holo_tensor t = {.data = data,
                           .rank = rank,
                           .dim = {rank == 2 ? rows : columns, columns},
                           .dtype = HOLO_F32};
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        data[i] = 0.3f * source_next(state);
    return holo_graph_constant(g, &t);
}

static holo_value_id source_node(holo_graph *g, const char *op, holo_value_id a, holo_value_id b)
{
    holo_value_id y = 0;
    holo_graph_node(g, op, (holo_value_id[]){a, b}, b == 0 ? 1 : 2, NULL, 0, &y, 1);
    return y;
}

static holo_value_id source_number(holo_graph *g, float x)
{
    const holo_tensor t = {.data = &x, .dtype = HOLO_F32};
    return holo_graph_constant(g, &t);
}

/* What the function between the products is, and who reads it. */
typedef enum source_case {
    SOURCE_ALONE,
    SOURCE_BEGINNING_READ, /* the sums are an output too, */
    SOURCE_MIDDLE_READ,    /* or a value inside the function */
    SOURCE_CHEAP,          /* a maximum in place of erf */
    SOURCE_OF_INPUT,       /* no product in front of it */
    SOURCE_OF_TWO,         /* of sums of two products */
    SOURCE_LONG            /* more nodes than are looked at */
} source_case;

static holo_value_id source_sums(holo_graph *g, holo_value_id x, uint32_t *state)
{
    const holo_value_id w = source_constant(g, state, 2, SOURCE_K, SOURCE_WIDE);
    return source_node(g, "Add", source_node(g, "MatMul", x, w),
                       source_constant(g, state, 1, 1, SOURCE_WIDE));
}

/* x w + b -> s (1 + erf(s / 1.4)) / 2 -> times w. */
static holo_graph *source_net(source_case how)
{
    holo_graph *g = NULL;
    holo_error e;
    uint32_t state = 11;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    const int64_t rows = how == SOURCE_OF_INPUT ? SOURCE_K : SOURCE_WIDE;
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "8,32");
    holo_value_id s = how == SOURCE_OF_INPUT ? x : source_sums(g, x, &state);
    holo_value_id of = how == SOURCE_OF_TWO ? source_sums(g, x, &state) : s;
    of = source_node(g, "Div", of, source_number(g, 1.4142135f));
    for (int i = 0; how == SOURCE_LONG && i < 16; i++)
        of = source_node(g, "Abs", source_node(g, "Neg", of, 0), 0);
    holo_value_id f = how == SOURCE_CHEAP ? source_node(g, "Max", of, source_number(g, 0))
                                          : source_node(g, "Erf", of, 0);
    if (how == SOURCE_MIDDLE_READ) holo_graph_output(g, f, "f");
    f = source_node(g, "Mul", s, source_node(g, "Add", f, source_number(g, 1)));
    f = source_node(g, "Mul", f, source_number(g, 0.5f));
    holo_value_id y = source_node(g, "MatMul", f, source_constant(g, &state, 2, rows, SOURCE_K));
    holo_graph_output(g, y, "y");
    if (how == SOURCE_BEGINNING_READ) holo_graph_output(g, s, "s");
    return g;
}

typedef struct source_seen {
    int quantize; /* nodes QuantizeLinear of the file */
    double relative;
} source_seen;

static bool source_sink(void *user, const void *bytes, size_t size)
{
    static const char name[] = "QuantizeLinear";
    source_seen *s = user;
    const size_t length = sizeof name - 1;
    for (size_t i = 0; i + length <= size; i++)
        s->quantize += memcmp((const char *)bytes + i, name, length) == 0;
    return true;
}

static void source_see(void *user, const holo_layer_report *l)
{
    source_seen *s = user;
    if (l->node == NULL && strcmp(l->name, "y") == 0) s->relative = l->relative;
}

static source_seen source_compile(source_case how)
{
    static float x[SOURCE_SAMPLES][SOURCE_ROWS * SOURCE_K];
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_tensor tensor[SOURCE_SAMPLES];
    holo_sample sample[SOURCE_SAMPLES];
    source_seen seen = {0};
    uint32_t state = 5;
    holo_graph *g = source_net(how);
    void *data = NULL;
    size_t size = 0;
    holo_error e;
    for (int k = 0; k < SOURCE_SAMPLES; k++) {
        for (int i = 0; i < SOURCE_ROWS * SOURCE_K; i++)
            x[k][i] = source_next(&state);
        tensor[k] = (holo_tensor){
            .data = x[k], .dim = {SOURCE_ROWS, SOURCE_K}, .rank = 2, .dtype = HOLO_F32};
        sample[k] = (holo_sample){.tensor = &tensor[k], .count = 1};
    }
    options.quantize = HOLO_QUANTIZE_INT8;
    options.calibrate = sample;
    options.n_calibrate = SOURCE_SAMPLES;
    options.emit = source_sink;
    options.emit_user = &seen;
    options.layer = source_see;
    options.layer_user = &seen;
    CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
    holo_buffer_free(NULL, data, size);
    holo_graph_free(g);
    return seen;
}

static void source_tables(void)
{
    const source_seen alone = source_compile(SOURCE_ALONE);
    CHECK_EQ_INT(alone.quantize, 3); /* inputs of both products, and of the function */
    /* 16 bits there add next to nothing */
    const source_seen read = source_compile(SOURCE_BEGINNING_READ);
    CHECK(alone.relative > 0 && alone.relative < 1.02 * read.relative);
}

static void source_none(void)
{
    CHECK_EQ_INT(source_compile(SOURCE_BEGINNING_READ).quantize, 2);
    CHECK_EQ_INT(source_compile(SOURCE_MIDDLE_READ).quantize, 2);
    CHECK_EQ_INT(source_compile(SOURCE_CHEAP).quantize, 2);
    CHECK_EQ_INT(source_compile(SOURCE_OF_TWO).quantize, 2);
    CHECK_EQ_INT(source_compile(SOURCE_LONG).quantize, 2);
    CHECK_EQ_INT(source_compile(SOURCE_OF_INPUT).quantize, 1);
}

const hg_test_case hg_tests_compile_quantize_source[] = {
    {"tables", source_tables},
    {"none", source_none},
    {0},
};
