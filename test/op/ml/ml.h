/* ml.h - operators of ai.onnx.ml, compiled and run: graphs with one input, rows of features. */
#ifndef HG_TEST_OP_ML_ML_H
#define HG_TEST_OP_ML_ML_H

#include "base/half.h"
#include "runtime/control_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ML_ROWS = 6, ML_FEATURES = 4 };

/* "graph(<inputs>) { %y... = <body> return <outputs> }"; %d and the like may stand in the body. */
static inline bool ml_open(control *f, const char *inputs, const char *outputs, const char *format,
                           ...)
{
    static char text[20000];
    int n = snprintf(text, sizeof text, "graph(%s) {\n", inputs);
    va_list args;
    va_start(args, format);
    n += vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    snprintf(text + n, sizeof text - (size_t)n, "\nreturn %s\n}\n", outputs);
    return control_open(f, text, 0, NULL);
}

/* What the compiler says about such a graph, which it refuses. */
static inline void ml_refuses(const char *inputs, const char *body, const char *sentence)
{
    hg_compile c;
    holo_error error = {0};
    char text[4096];
    holo_compile_options options = HOLO_COMPILE_OPTIONS_INIT;
    snprintf(text, sizeof text, "graph(%s) {\n%%y = ai.onnx.ml:%s\nreturn %%y\n}\n", inputs, body);
    holo_status status = hg_compile_init(&c, &options, 1, &error);
    if (status == HOLO_OK) status = hg_graph_init(&c.model[0].graph, &c.ctx);
    if (status == HOLO_OK) status = hg_graph_parse(&c.model[0].graph, hg_str_from(text), &error);
    CHECK_OK(status, &error);
    if (status == HOLO_OK) status = hg_compile_model_run(&c, &c.model[0]);
    hg_compile_deinit(&c);
    if (status == HOLO_OK)
        hg_test_fail(HG_TEST_HERE, "accepted, expected '%s': %s", sentence, body);
    else
        CHECK_HAS(error.message, sentence);
}

/* Numbers as a tensor of that type, in memory of the test. */
static inline holo_tensor ml_tensor(holo_dtype dtype, int32_t rank, const int64_t *dim,
                                    const double *x)
{
    static _Alignas(64) uint8_t memory[4][8192];
    static int next;
    holo_tensor t = {.data = memory[next++ % 4], .rank = rank, .dtype = dtype};
    for (int32_t i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    for (int64_t i = 0; i < holo_tensor_count(&t); i++) {
        if (dtype == HOLO_F32) ((float *)t.data)[i] = (float)x[i];
        if (dtype == HOLO_F64) ((double *)t.data)[i] = x[i];
        if (dtype == HOLO_F16) ((uint16_t *)t.data)[i] = hg_f32_to_f16((float)x[i]);
        if (dtype == HOLO_I64) ((int64_t *)t.data)[i] = (int64_t)x[i];
        if (dtype == HOLO_I32) ((int32_t *)t.data)[i] = (int32_t)x[i];
        if (dtype == HOLO_I16) ((int16_t *)t.data)[i] = (int16_t)x[i];
    }
    return t;
}

static inline void ml_set(control *f, uint32_t i, const holo_tensor *t)
{
    CHECK_OK(holo_session_set_input(f->session, i, t, &f->error), &f->error);
}

static inline double ml_get(const holo_tensor *t, int64_t i)
{
    if (t->dtype == HOLO_F32) return (double)((const float *)t->data)[i];
    if (t->dtype == HOLO_F64) return ((const double *)t->data)[i];
    if (t->dtype == HOLO_F16) return (double)hg_f16_to_f32(((const uint16_t *)t->data)[i]);
    if (t->dtype == HOLO_I32) return (double)((const int32_t *)t->data)[i];
    if (t->dtype == HOLO_I16) return (double)((const int16_t *)t->data)[i];
    return (double)((const int64_t *)t->data)[i];
}

/* Output i has these elements, as near as 1e-5 of their size. */
static inline void ml_is(control *f, uint32_t i, const double *expected, int64_t count)
{
    const holo_tensor t = control_out(f, i);
    if (!CHECK_EQ_INT(holo_tensor_count(&t), count)) return;
    for (int64_t k = 0; k < count; k++) {
        const double size = fabs(expected[k]) > 1 && isfinite(expected[k]) ? fabs(expected[k]) : 1;
        if (!CHECK_NEAR(ml_get(&t, k), expected[k], 1e-5 * size)) return;
    }
}

static inline void ml_text_is(control *f, uint32_t i, int64_t k, const char *expected)
{
    const holo_tensor t = control_out(f, i);
    if (!CHECK_EQ_INT(t.dtype, HOLO_STRING) || !CHECK(k < holo_tensor_count(&t))) return;
    const holo_string *s = (const holo_string *)t.data + k;
    if (CHECK_EQ_INT(s->length, strlen(expected))) CHECK_MEM(s->text, expected, (size_t)s->length);
}

/* Rows of numbers in steps of 1/8: every type with a fraction holds them. */
static inline void ml_features(double x[ML_ROWS * ML_FEATURES], holo_dtype dtype)
{
    for (int i = 0; i < ML_ROWS * ML_FEATURES; i++) {
        x[i] = (double)(i * 37 % 23 - 11) / 8;
        if (dtype == HOLO_I32 || dtype == HOLO_I64) x[i] = (double)(i * 37 % 23 - 11);
    }
}

/* A list of numbers in steps of 1/16, as text and as numbers. */
static inline const char *ml_numbers(int count, int seed, double *out)
{
    static char text[4][2048];
    static int next;
    char *t = text[next++ % 4];
    int n = snprintf(t, sizeof text[0], "[");
    for (int i = 0; i < count; i++) {
        out[i] = (double)((i + seed) * 29 % 31 - 15) / 16;
        n += snprintf(t + n, sizeof text[0] - (size_t)n, "%s%.4f", i == 0 ? "" : ",", out[i]);
    }
    snprintf(t + n, sizeof text[0] - (size_t)n, "]");
    return t;
}

/* ---- transforms by their definitions
 * -------------------------------------------------------------------------------------------- */

static const char *const ml_transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                            "PROBIT"};

static inline double ml_probit(double p)
{
    const double x = 2 * p - 1, u = log(1 - x * x), v = 2 / (acos(-1.0) * 0.147) + u / 2;
    return sqrt(2) * (x < 0 ? -1 : 1) * sqrt(sqrt(v * v - u / 0.147) - v);
}

static inline void ml_transform(int which, double *s, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += which == 3 && s[i] == 0 ? 0 : exp(s[i]);
    for (int i = 0; i < n; i++) {
        if (which == 1) s[i] = exp(s[i]) / sum;
        if (which == 2) s[i] = 1 / (1 + exp(-s[i]));
        if (which == 3) s[i] = sum == 0 ? 0.5 : s[i] == 0 ? 0 : exp(s[i]) / sum;
        if (which == 4) s[i] = ml_probit(s[i]);
    }
}

static inline int ml_largest(const double *s, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (s[i] > s[best]) best = i;
    return best;
}

#define ML_DIMS(...)                                                                               \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#endif
