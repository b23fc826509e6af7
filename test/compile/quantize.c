/* quantize.c - quantised compiles against the float model, against their own ONNX file, and what is
 * refused. */
#include "test.h"

#include "pass/quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTIZE_IN = 2 * 6 * 6, QUANTIZE_OUT = 5, QUANTIZE_SAMPLES = 4, QUANTIZE_MODES = 10 };

static float quantize_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)*state / 2147483648.0f - 1;
}

static holo_value_id quantize_constant(holo_graph *g, uint32_t *state, float size, int32_t rank,
                                       const int64_t *dim)
{
    holo_tensor t = {.rank = rank, .dtype = HOLO_F32};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    const int64_t n = holo_tensor_count(&t);
    float *data = calloc((size_t)n, sizeof *data);
    for (int64_t i = 0; i < n; i++)
        data[i] = size * quantize_next(state);
    t.data = data;
    holo_value_id v = holo_graph_constant(g, &t);
    free(data);
    return v;
}

/* Conv, Relu, a residual Conv and Add, MaxPool, Flatten, MatMul, Add: x [1, 2, 6, 6] to [1, 5]. */
static holo_graph *quantize_net(void)
{
    holo_graph *g = NULL;
    holo_error e;
    uint32_t state = 7;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    const int64_t pads[] = {1, 1, 1, 1}, window[] = {2, 2};
    holo_attr padded = {.name = "pads", .kind = HOLO_ATTR_INTS, .ints = pads, .count = 4};
    holo_attr pool[] = {
        {.name = "kernel_shape", .kind = HOLO_ATTR_INTS, .ints = window, .count = 2},
        {.name = "strides", .kind = HOLO_ATTR_INTS, .ints = window, .count = 2}};
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "1,2,6,6"), y, r, z, s, m, f, p, out;
    holo_value_id w1 = quantize_constant(g, &state, 0.4f, 4, (int64_t[]){8, 2, 3, 3});
    holo_value_id b1 = quantize_constant(g, &state, 0.2f, 1, (int64_t[]){8});
    holo_value_id w2 = quantize_constant(g, &state, 0.2f, 4, (int64_t[]){8, 8, 3, 3});
    holo_value_id w3 = quantize_constant(g, &state, 0.3f, 2, (int64_t[]){72, QUANTIZE_OUT});
    holo_value_id b3 = quantize_constant(g, &state, 0.3f, 1, (int64_t[]){QUANTIZE_OUT});
    holo_graph_node(g, "Conv", (holo_value_id[]){x, w1, b1}, 3, &padded, 1, &y, 1);
    holo_graph_node(g, "Relu", &y, 1, NULL, 0, &r, 1);
    holo_graph_node(g, "Conv", (holo_value_id[]){r, w2}, 2, &padded, 1, &z, 1);
    holo_graph_node(g, "Add", (holo_value_id[]){z, r}, 2, NULL, 0, &s, 1);
    holo_graph_node(g, "MaxPool", &s, 1, pool, 2, &m, 1);
    holo_graph_node(g, "Flatten", &m, 1, NULL, 0, &f, 1);
    holo_graph_node(g, "MatMul", (holo_value_id[]){f, w3}, 2, NULL, 0, &p, 1);
    holo_graph_node(g, "Add", (holo_value_id[]){p, b3}, 2, NULL, 0, &out, 1);
    holo_graph_output(g, out, "out");
    return g;
}

typedef struct quantize_inputs {
    float x[QUANTIZE_SAMPLES][QUANTIZE_IN];
    holo_tensor tensor[QUANTIZE_SAMPLES];
    holo_sample sample[QUANTIZE_SAMPLES];
} quantize_inputs;

static void quantize_fill(quantize_inputs *in)
{
    uint32_t state = 99;
    for (int k = 0; k < QUANTIZE_SAMPLES; k++) {
        for (int i = 0; i < QUANTIZE_IN; i++)
            in->x[k][i] = quantize_next(&state);
        in->tensor[k] =
            (holo_tensor){.data = in->x[k], .dim = {1, 2, 6, 6}, .rank = 4, .dtype = HOLO_F32};
        in->sample[k] = (holo_sample){.tensor = &in->tensor[k], .count = 1};
    }
}

static void quantize_run(void *data, size_t size, const quantize_inputs *in,
                         float out[QUANTIZE_SAMPLES][QUANTIZE_OUT])
{
    holo_model *model = NULL;
    holo_session *session = NULL;
    holo_error e;
    holo_tensor y;
    if (!CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e), &e) ||
        !CHECK_OK(holo_session_new(model, NULL, &session, &e), &e))
        return;
    for (int k = 0; k < QUANTIZE_SAMPLES; k++) {
        CHECK_OK(holo_session_set_input(session, 0, &in->tensor[k], &e), &e);
        if (!CHECK_OK(holo_session_run(session, &e), &e)) break;
        CHECK_OK(holo_session_output(session, 0, &y, &e), &e);
        memcpy(out[k], y.data, sizeof out[k]);
    }
    holo_session_free(session);
    holo_model_free(model);
}

typedef struct quantize_seen {
    int layers, outputs, measured;
    double worst_weight, relative;
    uint64_t weights;
} quantize_seen;

static void quantize_see(void *user, const holo_layer_report *l)
{
    quantize_seen *s = user;
    s->measured += l->is_measured;
    if (l->node == NULL) {
        s->outputs++;
        s->relative = l->relative;
        CHECK_STR(l->name, "out");
        return;
    }
    s->layers++;
    s->weights += l->weights;
    CHECK(l->mean <= l->max);
    if (l->weight_error > s->worst_weight) s->worst_weight = l->weight_error;
}

static double quantize_distance(float a[QUANTIZE_SAMPLES][QUANTIZE_OUT],
                                float b[QUANTIZE_SAMPLES][QUANTIZE_OUT])
{
    double d = 0, size = 0;
    for (int k = 0; k < QUANTIZE_SAMPLES; k++) {
        for (int i = 0; i < QUANTIZE_OUT; i++) {
            d += pow((double)a[k][i] - (double)b[k][i], 2);
            size += pow((double)a[k][i], 2);
        }
    }
    return sqrt(d / size);
}

/* With and without activations: what the report says is what runs show, and within what the mode
 * can do. */
static void quantize_modes(void)
{
    static const double bound[2][QUANTIZE_MODES] = {
        {0.01, 0.15, 0.7, 0.7, 0.03, 0.3, 0.9, 0.15, 0.2, 0.15},
        {0.05, 0.3, 1, 1, 0.06, 0.5, 0.9, 0.15, 0.2, 0.15}};
    static quantize_inputs in;
    quantize_fill(&in);
    holo_graph *g = quantize_net();
    float plain[QUANTIZE_SAMPLES][QUANTIZE_OUT], coded[QUANTIZE_SAMPLES][QUANTIZE_OUT];
    void *data = NULL;
    size_t size = 0;
    holo_error e;
    CHECK_OK(holo_compile_graph(g, NULL, &data, &size, NULL, &e), &e);
    quantize_run(data, size, &in, plain);
    holo_buffer_free(NULL, data, size);
    for (int kind = 0; kind < 2; kind++) {
        for (int mode = 1; mode <= QUANTIZE_MODES; mode++) {
            holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
            quantize_seen seen = {0};
            options.quantize = (holo_quantize)mode;
            options.layer = quantize_see;
            options.layer_user = &seen;
            options.calibrate = in.sample;
            options.n_calibrate = kind == 0 ? 0 : QUANTIZE_SAMPLES;
            options.max_error = 100;
            if (!CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e)) continue;
            CHECK_EQ_INT(seen.layers, 3);
            CHECK_EQ_INT(seen.outputs, 1);
            CHECK_EQ_INT(seen.measured, 4);
            const bool has_convs = hg_quantize_limit((holo_quantize)mode) != 0;
            const int first = kind == 0 ? 8 * 2 * 9 : 0; /* too short for codes of both sides */
            CHECK_EQ_INT(seen.weights, (has_convs ? first + 8 * 8 * 9 : 0) + 72 * QUANTIZE_OUT);
            quantize_run(data, size, &in, coded);
            const double distance = quantize_distance(plain, coded);
            if (distance > bound[kind][mode - 1])
                hg_test_fail(HG_TEST_HERE, "mode %d: relative error %g", mode, distance);
            if (kind == 1) CHECK_NEAR(distance, seen.relative, 1e-6);
            holo_buffer_free(NULL, data, size);
        }
    }
    holo_graph_free(g);
}

/* ---- the same graph as an ONNX file ---------------------------------------------------------- */

typedef struct quantize_file {
    uint8_t *data;
    size_t size;
    size_t limit; /* refuses to take more; 0: none */
} quantize_file;

static bool quantize_sink(void *user, const void *bytes, size_t size)
{
    quantize_file *f = user;
    if (f->limit != 0 && f->size + size > f->limit) return false;
    f->data = realloc(f->data, f->size + size);
    memcpy(f->data + f->size, bytes, size);
    f->size += size;
    return true;
}

static void quantize_emits(void)
{
    static quantize_inputs in;
    quantize_fill(&in);
    for (int mode = 0; mode <= QUANTIZE_MODES; mode++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        holo_graph *g = quantize_net();
        quantize_file file = {0};
        float a[QUANTIZE_SAMPLES][QUANTIZE_OUT], b[QUANTIZE_SAMPLES][QUANTIZE_OUT];
        void *data = NULL;
        size_t size = 0;
        holo_error e;
        options.emit = quantize_sink;
        options.emit_user = &file;
        options.quantize = (holo_quantize)mode;
        options.calibrate = in.sample;
        options.n_calibrate = mode == 1 ? QUANTIZE_SAMPLES : 0;
        if (mode >= HOLO_QUANTIZE_INT3) {
            CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
            CHECK_HAS(e.message, "no operator in ONNX");
        } else if (CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e)) {
            quantize_run(data, size, &in, a);
            holo_buffer_free(NULL, data, size);
            if (CHECK_OK(holo_compile_memory(file.data, file.size, NULL, &data, &size, NULL, &e),
                         &e)) {
                quantize_run(data, size, &in, b);
                holo_buffer_free(NULL, data, size);
                CHECK_MEM(a, b, sizeof a);
            }
        }
        holo_graph_free(g);
        free(file.data);
    }
}

static void quantize_emit_fails(void)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_graph *g = quantize_net(), *other = NULL;
    quantize_file file = {.limit = 100};
    void *data = NULL;
    size_t size = 0;
    holo_error e;
    holo_value_id y;
    options.emit = quantize_sink;
    options.emit_user = &file;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_IO);
    CHECK_OK(holo_graph_new(0, NULL, &other, &e), &e);
    holo_value_id x = holo_graph_input(other, "x", HOLO_STRING, "2");
    holo_graph_node(other, "Identity", &x, 1, NULL, 0, &y, 1);
    holo_graph_output(other, y, "y");
    CHECK_STATUS(holo_compile_graph(other, &options, &data, &size, NULL, &e), HOLO_E_UNSUPPORTED);
    CHECK_HAS(e.message, "string");
    holo_graph_free(other);
    holo_graph_free(g);
    free(file.data);
}

static void quantize_refuses(void)
{
    static quantize_inputs in;
    quantize_fill(&in);
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    holo_graph *g = quantize_net();
    const char *paths[] = {"a.onnx", "b.onnx"};
    void *data = NULL;
    size_t size = 0;
    holo_error e;
    options.calibrate = in.sample;
    options.n_calibrate = 1;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
    options.quantize = (holo_quantize)(QUANTIZE_MODES + 1);
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
    options.quantize = HOLO_QUANTIZE_INT8;
    options.percentile = 20;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
    options.percentile = NAN;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
    options.percentile = 0;
    options.max_error = -1;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_ARG);
    CHECK_HAS(e.message, "largest error is -1");
    options.max_error = 0;
    in.x[0][3] = NAN;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_DATA);
    CHECK_HAS(e.message, "not finite");
    in.x[0][3] = INFINITY;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_DATA);
    in.tensor[0].dim[1] = 1;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "sample 0");
    CHECK_STATUS(holo_compile_files(paths, 2, "c.holo", &options, NULL, &e), HOLO_E_IO);
    holo_graph_free(g);
}

typedef struct quantize_kept {
    int kept, coded;
    double relative, top;
} quantize_kept;

static void quantize_see_kept(void *user, const holo_layer_report *l)
{
    quantize_kept *k = user;
    if (l->node == NULL) {
        k->relative = l->relative;
        k->top = l->top;
        return;
    }
    k->kept += strcmp(l->form, "float") == 0;
    k->coded += strcmp(l->form, "static") == 0;
}

/* Layers get finer inputs or stay floats until the error is as small as asked for: of this net
 * first the product, and always the first convolution. What is reported is what runs show. */
static void quantize_keeps(void)
{
    static quantize_inputs in;
    static const double most[] = {1, 0.016, 1e-9};
    static const int kept[] = {1, 1, 3}, coded_layers[] = {2, 1, 0};
    float plain[QUANTIZE_SAMPLES][QUANTIZE_OUT], coded[QUANTIZE_SAMPLES][QUANTIZE_OUT];
    double relative[3] = {0, 0, 0};
    holo_error e;
    void *data = NULL;
    size_t size = 0;
    quantize_fill(&in);
    holo_graph *g = quantize_net();
    if (CHECK_OK(holo_compile_graph(g, NULL, &data, &size, NULL, &e), &e))
        quantize_run(data, size, &in, plain);
    holo_buffer_free(NULL, data, size);
    for (int k = 0; k < 3; k++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        quantize_kept seen = {0};
        options.quantize = HOLO_QUANTIZE_INT8;
        options.calibrate = in.sample;
        options.n_calibrate = QUANTIZE_SAMPLES;
        options.max_error = most[k];
        options.layer = quantize_see_kept;
        options.layer_user = &seen;
        if (!CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e)) break;
        quantize_run(data, size, &in, coded);
        holo_buffer_free(NULL, data, size);
        CHECK_EQ_INT(seen.kept, kept[k]);
        CHECK_EQ_INT(seen.coded, coded_layers[k]);
        relative[k] = quantize_distance(plain, coded);
        CHECK(fabs(relative[k] - seen.relative) < 1e-6);
        CHECK(k == 2 ? seen.top == 0 : seen.top > 0 && seen.top < 0.1);
    }
    CHECK(relative[1] < relative[0] && relative[2] < 1e-6);
    holo_graph_free(g);
}

/* x -> Conv -> Max 0 -> Min 6 -> Conv. */
static holo_graph *quantize_bounded(float high)
{
    holo_graph *g = NULL;
    holo_error e;
    uint32_t state = 5;
    const float low = 0;
    holo_tensor limit = {.data = (void *)&low, .dtype = HOLO_F32};
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "1,2,6,6"), y, c, z, m, in[3];
    holo_value_id w1 = quantize_constant(g, &state, 0.9f, 4, (int64_t[]){8, 2, 3, 3});
    holo_value_id w2 = quantize_constant(g, &state, 0.5f, 4, (int64_t[]){QUANTIZE_OUT, 8, 4, 4});
    holo_graph_node(g, "Conv", (holo_value_id[]){x, w1}, 2, NULL, 0, &y, 1);
    in[0] = y;
    in[1] = holo_graph_constant(g, &limit);
    limit.data = &high;
    in[2] = holo_graph_constant(g, &limit);
    holo_graph_node(g, "Clip", in, 3, NULL, 0, &c, 1);
    holo_graph_node(g, "Conv", (holo_value_id[]){c, w2}, 2, NULL, 0, &z, 1);
    holo_graph_node(g, "Flatten", &z, 1, NULL, 0, &m, 1);
    holo_graph_output(g, m, "out");
    return g;
}

static bool quantize_holds(const quantize_file *f, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= f->size; i++)
        if (memcmp(f->data + i, text, n) == 0) return true;
    return false;
}

/* Bounds go with the convolution into codes; those that the codes have anyway are not computed. */
static void quantize_bounds(void)
{
    static quantize_inputs in;
    static const float high[] = {6, 0.25f};
    quantize_fill(&in);
    for (int k = 0; k < 2; k++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        float plain[QUANTIZE_SAMPLES][QUANTIZE_OUT], coded[QUANTIZE_SAMPLES][QUANTIZE_OUT];
        holo_graph *g = quantize_bounded(high[k]);
        quantize_file file = {0};
        holo_error e;
        void *data = NULL;
        size_t size = 0;
        if (CHECK_OK(holo_compile_graph(g, NULL, &data, &size, NULL, &e), &e))
            quantize_run(data, size, &in, plain);
        holo_buffer_free(NULL, data, size);
        options.quantize = HOLO_QUANTIZE_INT8;
        options.calibrate = in.sample;
        options.n_calibrate = QUANTIZE_SAMPLES;
        options.max_error = 1;
        options.emit = quantize_sink;
        options.emit_user = &file;
        if (CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e)) {
            quantize_run(data, size, &in, coded);
            CHECK(quantize_distance(plain, coded) < 0.03);
            CHECK(!quantize_holds(&file, "Max"));
            CHECK(!quantize_holds(&file, "Min"));
        }
        holo_buffer_free(NULL, data, size);
        holo_graph_free(g);
        free(file.data);
    }
}

static void quantize_percentile(void)
{
    static quantize_inputs in;
    quantize_fill(&in);
    in.x[0][0] = 1000; /* one number far outside */
    holo_graph *g = quantize_net();
    double relative[2];
    for (int k = 0; k < 2; k++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        quantize_seen seen = {0};
        void *data = NULL;
        size_t size = 0;
        holo_error e;
        options.quantize = HOLO_QUANTIZE_INT8;
        options.calibrate = in.sample;
        options.n_calibrate = QUANTIZE_SAMPLES;
        options.percentile = k == 0 ? 0 : 98;
        options.max_error = 100;
        options.layer = quantize_see;
        options.layer_user = &seen;
        CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
        relative[k] = seen.relative;
        holo_buffer_free(NULL, data, size);
    }
    CHECK(relative[0] != relative[1]);
    holo_graph_free(g);
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* Pairs may be cut off, but all 32 numbers (as taps of [16][2]) err no more together than with a
 * scale that leaves every pair whole. */
static void quantize_check_cut(const float *w, const int8_t *channel, float scale)
{
    double pair = 0, most = 0, cut = 0, whole = 0;
    for (int i = 0; i < 32; i++) {
        const int beside = i ^ 2; /* in turn: 0 2 | 4 6 | ... then 1 3 | 5 7 | ... */
        pair = fmax(pair, fabs((double)w[2 * i]) + fabs((double)w[2 * beside]));
        most = fmax(most, fabs((double)w[2 * i]));
    }
    const double coarse = fmax(most / HG_QUANTIZE_MAX_WEIGHT, pair / (HG_QUANTIZE_PAIR - 1));
    for (int i = 0; i < 32 && coarse > 0; i++) {
        const double x = (double)w[2 * i];
        cut += pow(x - (double)channel[2 * i] * (double)scale, 2);
        whole += pow(x - nearbyint(x / coarse) * coarse, 2);
    }
    CHECK(cut <= whole * 1.001);
}

static void quantize_codes(void)
{
    double far[32];
    uint32_t state = 3;
    float w[64];
    uint8_t code[32];
    int8_t channel[64];
    int order[32];
    for (int round = 0; round < 200; round++) {
        const float size = ldexpf(1, round % 40 - 20);
        for (int i = 0; i < 64; i++)
            w[i] = round == 0 ? 0 : size * quantize_next(&state);
        for (int mode = 1; mode <= HOLO_QUANTIZE_INT3; mode++) {
            const uint32_t bits = hg_quantize_bits((holo_quantize)mode);
            const hg_quantize_code q = hg_quantize_group((holo_quantize)mode, w, 32, 2, code);
            const int32_t limit = hg_quantize_limit((holo_quantize)mode);
            const float scale = hg_quantize_channel((holo_quantize)mode, w, 32, 2, 2, 0, channel);
            CHECK(q.scale != 0 && isfinite(q.scale) && scale > 0 && isfinite(scale));
            CHECK(limit <= HG_QUANTIZE_MAX_WEIGHT);
            for (int i = 0; i < 32; i++) {
                const double back = ((double)code[i] - (double)q.zero) * (double)q.scale;
                const double by_channel = (double)channel[2 * i] * (double)scale;
                CHECK(code[i] < (mode == HOLO_QUANTIZE_Q96       ? 96u
                                 : mode == HOLO_QUANTIZE_TERNARY ? 3u
                                                                 : 1u << bits));
                CHECK(abs(channel[2 * i]) <= limit);
                const int k = i % 2 == 0 ? i / 2 : 16 + i / 2; /* taps of [16][2] in turn */
                order[k] = abs(channel[2 * i]);
                if (mode == HOLO_QUANTIZE_INT8 || mode == HOLO_QUANTIZE_Q96)
                    CHECK_NEAR(back, w[2 * i], fabs((double)q.scale) * 0.5000001);
                far[k] = fabs(by_channel - (double)w[2 * i]) / (double)scale;
            }
            for (int i = 0; i < 32; i += 2) {
                CHECK(order[i] + order[i + 1] <= HG_QUANTIZE_PAIR);
                if (mode == HOLO_QUANTIZE_INT8 && order[i] + order[i + 1] < HG_QUANTIZE_PAIR)
                    CHECK(far[i] <= 0.5000001 && far[i + 1] <= 0.5000001);
            }
            if (mode == HOLO_QUANTIZE_INT8) quantize_check_cut(w, channel, scale);
        }
    }
    w[0] = 1;
    CHECK(hg_quantize_channel(HOLO_QUANTIZE_INT8, w, 1, 1, 1, 5, channel) == 5);
}

/* ---- books ----------------------------------------------------------------------------------- */

enum { QUANTIZE_K = 64, QUANTIZE_N = 3 };

/* y = x W with x the rows of a unit matrix: y is W as its codes say. */
static bool quantize_weights_back(holo_quantize mode, const float *w, float *back, double *error)
{
    static float eye[QUANTIZE_K * QUANTIZE_K];
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    quantize_seen seen = {0};
    holo_graph *g = NULL;
    holo_model *model = NULL;
    holo_session *session = NULL;
    void *data = NULL;
    size_t size = 0;
    holo_error e;
    holo_value_id y;
    holo_tensor in = {.data = eye, .dim = {QUANTIZE_K, QUANTIZE_K}, .rank = 2, .dtype = HOLO_F32};
    holo_tensor t = in, out;
    t.data = (void *)(uintptr_t)w;
    t.dim[1] = QUANTIZE_N;
    for (int i = 0; i < QUANTIZE_K; i++)
        eye[i * QUANTIZE_K + i] = 1;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return false;
    holo_value_id both[2] = {holo_graph_input(g, "x", HOLO_F32, "64,64"),
                             holo_graph_constant(g, &t)};
    holo_graph_node(g, "MatMul", both, 2, NULL, 0, &y, 1);
    holo_graph_output(g, y, "out");
    options.quantize = mode;
    options.layer = quantize_see;
    options.layer_user = &seen;
    bool ok =
        CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e) &&
        CHECK_OK(holo_model_open_memory(data, size, holo_kernels_all(), NULL, &model, &e), &e) &&
        CHECK_OK(holo_session_new(model, NULL, &session, &e), &e) &&
        CHECK_OK(holo_session_set_input(session, 0, &in, &e), &e) &&
        CHECK_OK(holo_session_run(session, &e), &e) &&
        CHECK_OK(holo_session_output(session, 0, &out, &e), &e);
    if (ok) memcpy(back, out.data, QUANTIZE_K * QUANTIZE_N * sizeof *back);
    *error = seen.worst_weight;
    holo_session_free(session);
    holo_model_free(model);
    holo_buffer_free(NULL, data, size);
    holo_graph_free(g);
    return ok;
}

static double quantize_relative(const float *w, const float *back)
{
    double d = 0, size = 0;
    for (int i = 0; i < QUANTIZE_K * QUANTIZE_N; i++) {
        d += pow((double)w[i] - (double)back[i], 2);
        size += pow((double)w[i], 2);
    }
    return sqrt(d / size);
}

/* Numbers that a mode can hold come back as they are; the report's error is that of the numbers. */
static void quantize_books(void)
{
    static const float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    static float w[QUANTIZE_K * QUANTIZE_N], back[QUANTIZE_K * QUANTIZE_N];
    uint32_t state = 21;
    double error, random[QUANTIZE_MODES + 1];
    for (int i = 0; i < QUANTIZE_K * QUANTIZE_N; i++) {
        const float sign = quantize_next(&state) < 0 ? -1.0f : 1.0f;
        w[i] = sign * ldexpf(e2m1[(i / QUANTIZE_N) % 8], i % QUANTIZE_N - 3);
    }
    if (quantize_weights_back(HOLO_QUANTIZE_MXFP4, w, back, &error))
        CHECK(error == 0 && quantize_relative(w, back) < 1e-6);
    for (int i = 0; i < QUANTIZE_K * QUANTIZE_N; i++)
        w[i] = quantize_next(&state) < 0 ? -0.375f : 0.375f;
    for (int mode = HOLO_QUANTIZE_INT3; mode <= HOLO_QUANTIZE_PALETTE; mode++)
        if (mode != HOLO_QUANTIZE_INT3 &&
            quantize_weights_back((holo_quantize)mode, w, back, &error))
            CHECK(error < 1e-6 && quantize_relative(w, back) < 1e-6);
    for (int i = 0; i < QUANTIZE_K * QUANTIZE_N; i++) /* nearly normal, one block of zeros */
        w[i] = i / QUANTIZE_N >= 32 && i % QUANTIZE_N == 1
                   ? 0
                   : quantize_next(&state) + quantize_next(&state) + quantize_next(&state);
    for (int mode = 1; mode <= QUANTIZE_MODES; mode++) {
        if (!quantize_weights_back((holo_quantize)mode, w, back, &random[mode])) return;
        CHECK_NEAR(quantize_relative(w, back), random[mode], 1e-5);
    }
    CHECK(random[HOLO_QUANTIZE_PALETTE] < random[HOLO_QUANTIZE_NF4]);
    CHECK(random[HOLO_QUANTIZE_INT4] < random[HOLO_QUANTIZE_INT3]);
    CHECK(random[HOLO_QUANTIZE_INT3] < random[HOLO_QUANTIZE_INT2]);
    CHECK(random[HOLO_QUANTIZE_INT2] < random[HOLO_QUANTIZE_BINARY]);
}

/* The model is run to see how far its outputs move; that run has the compile's limits. */
static void quantize_limits(void)
{
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    int64_t rows[] = {1 << 20, 4};
    uint32_t state = 3;
    holo_graph *g = NULL;
    void *data = NULL;
    size_t size = 0;
    holo_error e;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return;
    const holo_tensor shape = {.data = rows, .rank = 1, .dtype = HOLO_I64, .dim = {2}};
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "1,4"), wide, y;
    holo_value_id w = quantize_constant(g, &state, 1, 2, (int64_t[]){4, 8});
    holo_graph_node(g, "Expand", (holo_value_id[]){x, holo_graph_constant(g, &shape)}, 2, NULL, 0,
                    &wide, 1);
    holo_graph_node(g, "MatMul", (holo_value_id[]){wide, w}, 2, NULL, 0, &y, 1);
    holo_graph_output(g, y, "y");
    float numbers[4] = {1, 2, 3, 4};
    const holo_tensor input = {.data = numbers, .rank = 2, .dtype = HOLO_F32, .dim = {1, 4}};
    const holo_sample sample = {NULL, &input, 1};
    options.quantize = HOLO_QUANTIZE_INT8;
    options.calibrate = &sample;
    options.n_calibrate = 1;
    options.limits.memory_bytes = 16 << 20;
    CHECK_STATUS(holo_compile_graph(g, &options, &data, &size, NULL, &e), HOLO_E_LIMIT);
    CHECK_HAS(e.message, "sample 0: ");
    CHECK_HAS(e.message, "limits.memory_bytes");
    options.limits.memory_bytes = 0;
    CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
    holo_buffer_free(NULL, data, size);
    holo_graph_free(g);
}

/* ---- finer ----------------------------------------------------------------------------------- */

enum { FINER_ROWS = 16, FINER_K = 64, FINER_SAMPLES = 12, FINER_LAYERS = 4 };

/* Rows that few numbers decide, and a channel far larger than the others. */
static void quantize_fill_finer(float *x, uint32_t *state)
{
    for (int row = 0; row < FINER_ROWS; row++) {
        float base[4];
        for (int k = 0; k < 4; k++)
            base[k] = quantize_next(state);
        for (int k = 0; k < FINER_K; k++)
            x[row * FINER_K + k] = base[k % 4] * (k == 5 ? 30.0f : 1) + 0.1f * quantize_next(state);
    }
}

static holo_graph *quantize_finer_net(void)
{
    holo_graph *g = NULL;
    holo_error e;
    uint32_t state = 5;
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return NULL;
    holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "16,64");
    for (int i = 0; i < FINER_LAYERS; i++) {
        holo_value_id w = quantize_constant(g, &state, 0.3f, 2, (int64_t[]){FINER_K, FINER_K}), y;
        holo_graph_node(g, "MatMul", (holo_value_id[]){x, w}, 2, NULL, 0, &y, 1);
        if (i + 1 == FINER_LAYERS)
            x = y;
        else
            holo_graph_node(g, "Relu", &y, 1, NULL, 0, &x, 1);
    }
    holo_graph_output(g, x, "out");
    return g;
}

typedef struct quantize_finer_seen {
    int two, coded, kept;
    double relative;
} quantize_finer_seen;

static void quantize_see_finer(void *user, const holo_layer_report *l)
{
    quantize_finer_seen *s = user;
    if (l->node == NULL) s->relative = l->relative;
    if (l->node == NULL) return;
    s->two += strcmp(l->form, "static, 16 bits") == 0;
    s->coded += strcmp(l->form, "static") == 0;
    s->kept += strcmp(l->form, "float") == 0;
}

/* Where more is asked for than codes give, weights are rounded with regard to inputs and products
 * get inputs of 16 bits: all of them, for a quarter of the time that floats take. Floats are for
 * what that does not reach. */
static void quantize_finer(void)
{
    static float x[FINER_SAMPLES][FINER_ROWS * FINER_K];
    static const double most[] = {100, 0.001, 1e-9};
    holo_tensor tensor[FINER_SAMPLES];
    holo_sample sample[FINER_SAMPLES];
    quantize_finer_seen seen[3] = {0};
    uint32_t state = 77;
    holo_error e;
    holo_graph *g = quantize_finer_net();
    for (int k = 0; k < FINER_SAMPLES; k++) {
        quantize_fill_finer(x[k], &state);
        tensor[k] =
            (holo_tensor){.data = x[k], .dim = {FINER_ROWS, FINER_K}, .rank = 2, .dtype = HOLO_F32};
        sample[k] = (holo_sample){.tensor = &tensor[k], .count = 1};
    }
    for (int k = 0; k < 3; k++) {
        holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
        void *data = NULL;
        size_t size = 0;
        options.quantize = HOLO_QUANTIZE_INT8;
        options.calibrate = sample;
        options.n_calibrate = FINER_SAMPLES;
        options.max_error = most[k];
        options.layer = quantize_see_finer;
        options.layer_user = &seen[k];
        CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
        holo_buffer_free(NULL, data, size);
    }
    CHECK_EQ_INT(seen[0].coded, FINER_LAYERS);
    CHECK_EQ_INT(seen[1].two, FINER_LAYERS);
    CHECK_EQ_INT(seen[1].coded, 0);
    CHECK_EQ_INT(seen[1].kept, 0);
    CHECK_EQ_INT(seen[2].kept, FINER_LAYERS);
    CHECK(seen[0].relative > 0 && seen[1].relative < 0.5 * seen[0].relative);
    holo_graph_free(g);
}

/* Blocks divide the channels; where no large one does there is none. */
static void quantize_square_blocks(void)
{
    CHECK_EQ_INT(hg_quantize_square_block(1), 1);
    CHECK_EQ_INT(hg_quantize_square_block(384), 384);
    CHECK_EQ_INT(hg_quantize_square_block(1536), 1536);
    CHECK_EQ_INT(hg_quantize_square_block(3072), 1536);
    CHECK_EQ_INT(hg_quantize_square_block(1543), 0); /* a prime */
}

/* ---- 16-bit floats --------------------------------------------------------------------------- */

enum { HALF_K = 64 };

typedef struct quantize_half_seen {
    int blocks, measured;
    double relative;
} quantize_half_seen;

static void quantize_see_half(void *user, const holo_layer_report *l)
{
    quantize_half_seen *s = user;
    s->measured += l->is_measured;
    if (l->node == NULL) s->relative = l->relative;
    if (l->node != NULL) s->blocks += strcmp(l->form, "blocks of 32") == 0;
}

/* Weights of float16 become codes as others do, and outputs of float16 are compared. */
static void quantize_half(void)
{
    static uint16_t w[HALF_K * HALF_K];
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    quantize_half_seen seen = {0};
    holo_graph *g = NULL;
    holo_error e;
    void *data = NULL;
    size_t size = 0;
    for (uint32_t i = 0; i < HALF_K * HALF_K; i++) /* 1 to 2, of both signs */
        w[i] = (uint16_t)(0x3c00 + i * 7919 % 1024 + (i % 3 == 0 ? 0x8000 : 0));
    if (!CHECK_OK(holo_graph_new(0, NULL, &g, &e), &e)) return;
    const holo_tensor t = {.data = w, .dim = {HALF_K, HALF_K}, .rank = 2, .dtype = HOLO_F16};
    holo_value_id in[2] = {holo_graph_input(g, "x", HOLO_F16, "4,64"), holo_graph_constant(g, &t)},
                  y;
    holo_graph_node(g, "MatMul", in, 2, NULL, 0, &y, 1);
    holo_graph_output(g, y, "y");
    options.quantize = HOLO_QUANTIZE_INT4;
    options.layer = quantize_see_half;
    options.layer_user = &seen;
    CHECK_OK(holo_compile_graph(g, &options, &data, &size, NULL, &e), &e);
    CHECK_EQ_INT(seen.blocks, 1);
    CHECK_EQ_INT(seen.measured, 2);
    CHECK(seen.relative > 0.01 && seen.relative < 0.2);
    holo_buffer_free(NULL, data, size);
    holo_graph_free(g);
}

const hg_test_case hg_tests_compile_quantize[] = {
    {"modes", quantize_modes},
    {"emits", quantize_emits},
    {"emit_fails", quantize_emit_fails},
    {"refuses", quantize_refuses},
    {"percentile", quantize_percentile},
    {"codes", quantize_codes},
    {"books", quantize_books},
    {"limits", quantize_limits},
    {"keeps", quantize_keeps},
    {"bounds", quantize_bounds},
    {"finer", quantize_finer},
    {"half", quantize_half},
    {"square_blocks", quantize_square_blocks},
    {0},
};
