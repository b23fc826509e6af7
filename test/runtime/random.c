/* random.c - random operators through a model: chances, seeds, the same numbers in every run and
 * for any number of threads. */
#include "control_text.h"

#include <math.h>
#include <stdlib.h>

enum { RANDOM_COUNT = 20000 };

static const float *random_out(control *f, uint32_t i)
{
    return control_out(f, i).data;
}

/* Ones as often as the chance says; never where it is 0, always where it is 1. */
static void random_bernoulli(void)
{
    control f = {0};
    float *p = malloc(RANDOM_COUNT * sizeof *p);
    for (int i = 0; i < RANDOM_COUNT; i++)
        p[i] = (float)(i % 5) / 4;
    if (control_open(&f,
                     "graph(%p: float32[n]) {\n  %a = Bernoulli(%p) {seed=1.0}\n"
                     "  %b = Bernoulli(%p) {seed=1.0}\n  %c = Bernoulli(%p) {seed=2.0}\n"
                     "  %d = Bernoulli(%p)\n  return %a, %b, %c, %d\n}\n",
                     0, NULL)) {
        control_set(&f, 0, HOLO_F32, p, 1, RANDOM_COUNT);
        if (control_run(&f)) {
            const float *y[4];
            int64_t ones[5] = {0}, differ = 0;
            for (uint32_t k = 0; k < 4; k++)
                y[k] = random_out(&f, k);
            for (int i = 0; i < RANDOM_COUNT; i++) {
                if (!CHECK(y[0][i] == 0 || y[0][i] == 1)) break;
                ones[i % 5] += y[0][i] == 1;
                differ += y[0][i] != y[2][i];
            }
            CHECK_MEM(y[0], y[1], RANDOM_COUNT * sizeof(float));
            CHECK(differ > RANDOM_COUNT / 10);
            CHECK(memcmp(y[0], y[3], RANDOM_COUNT * sizeof(float)) != 0);
            for (int k = 0; k < 5; k++) {
                const double n = RANDOM_COUNT / 5, chance = k / 4.0;
                CHECK_NEAR((double)ones[k], n * chance, 5 * sqrt(n * chance * (1 - chance)));
            }
        }
    }
    control_close(&f);
    free(p);
}

/* A model without seeds gives the same numbers in every run, with any number of threads, and other
 * ones in every node. */
static void random_repeats(void)
{
    float *first = malloc(RANDOM_COUNT * sizeof *first);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        control f = {0};
        holo_session_options options = HOLO_SESSION_OPTIONS_INIT;
        CHECK_OK(holo_pool_new(threads, NULL, &options.pool, &f.error), &f.error);
        if (control_open(&f,
                         "graph() {\n  %a = RandomNormal() {shape=[20000]}\n"
                         "  %b = RandomNormal() {shape=[20000]}\n  return %a, %b\n}\n",
                         0, &options)) {
            for (int run = 0; run < 2 && control_run(&f); run++) {
                if (threads == 1 && run == 0)
                    memcpy(first, random_out(&f, 0), RANDOM_COUNT * sizeof *first);
                CHECK_MEM(random_out(&f, 0), first, RANDOM_COUNT * sizeof *first);
                CHECK(memcmp(random_out(&f, 1), first, RANDOM_COUNT * sizeof *first) != 0);
            }
        }
        control_close(&f);
        holo_pool_free(options.pool);
    }
    free(first);
}

/* Every turn of a loop, also of one in another, draws other numbers. */
static void random_loop(void)
{
    control f = {0};
    int64_t trips = 5;
    if (control_open(&f,
                     "graph(%m: int64[]) {\n"
                     "  %a = Loop(%m, _) body(%i: int64[], %c: bool[]) {\n"
                     "    %b = Loop(%m, _) body(%j: int64[], %d: bool[]) {\n"
                     "      %r = RandomUniform() {shape=[100], seed=1.0}\n"
                     "      return %d, %r\n    }\n"
                     "    return %c, %b\n  }\n"
                     "  %z = RandomUniform() {shape=[100], seed=1.0}\n"
                     "  return %a, %z\n}\n",
                     0, NULL)) {
        control_scalar(&f, 0, HOLO_I64, &trips);
        for (int run = 0; run < 2 && control_run(&f); run++) {
            const float *y = random_out(&f, 0), *z = random_out(&f, 1);
            CHECK_EQ_INT(control_out(&f, 0).dim[0], 5);
            for (int i = 0; i < 25; i++) {
                CHECK(memcmp(y + i * 100, z, 100 * sizeof *y) != 0);
                for (int j = 0; j < i; j++)
                    CHECK(memcmp(y + i * 100, y + j * 100, 100 * sizeof *y) != 0);
            }
        }
    }
    control_close(&f);
}

/* What is kept grows by 1 / (1 - ratio); the mask says what is kept. */
static void random_dropout(void)
{
    control f = {0};
    float *x = malloc(RANDOM_COUNT * sizeof *x), ratio = 0.25f;
    bool training = true;
    for (int i = 0; i < RANDOM_COUNT; i++)
        x[i] = (float)(i + 1);
    if (control_open(&f,
                     "graph(%x: float32[n], %r: float32[], %t: bool[]) {\n"
                     "  %y, %m = Dropout(%x, %r, %t) {seed=3}\n  return %y, %m\n}\n",
                     0, NULL)) {
        control_set(&f, 0, HOLO_F32, x, 1, RANDOM_COUNT);
        control_scalar(&f, 1, HOLO_F32, &ratio);
        control_scalar(&f, 2, HOLO_BOOL, &training);
        if (control_run(&f)) {
            const float *y = random_out(&f, 0);
            const uint8_t *mask = control_out(&f, 1).data;
            int64_t kept = 0;
            for (int i = 0; i < RANDOM_COUNT; i++) {
                kept += mask[i];
                if (!CHECK_NEAR(y[i], mask[i] != 0 ? (double)x[i] / 0.75 : 0.0, 0.01)) break;
            }
            CHECK_NEAR((double)kept, RANDOM_COUNT * 0.75, 5 * sqrt(RANDOM_COUNT * 0.75 * 0.25));
        }
        training = false;
        if (control_run(&f)) CHECK_MEM(random_out(&f, 0), x, RANDOM_COUNT * sizeof *x);
    }
    control_close(&f);
    free(x);
}

/* Dropout-6 trains unless told not to, and its mask is of the type of the data. */
static bool random_old_open(control *f, int64_t is_test)
{
    holo_graph *g;
    holo_value_id out[2] = {0};
    const holo_attr attr[2] = {{.name = "ratio", .kind = HOLO_ATTR_FLOAT, .f = 0.5f},
                               {.name = "is_test", .kind = HOLO_ATTR_INT, .i = is_test}};
    CHECK_OK(holo_graph_new(6, NULL, &g, &f->error), &f->error);
    const holo_value_id x = holo_graph_input(g, "x", HOLO_F32, "n");
    holo_graph_node(g, "Dropout", &x, 1, attr, 2, out, 2);
    holo_graph_output(g, out[0], "y");
    holo_graph_output(g, out[1], "mask");
    bool good =
        CHECK_OK(holo_compile_graph(g, NULL, &f->data, &f->size, NULL, &f->error), &f->error) &&
        CHECK_OK(holo_model_open_memory(f->data, f->size, holo_kernels_all(), NULL, &f->model,
                                        &f->error),
                 &f->error) &&
        CHECK_OK(holo_session_new(f->model, NULL, &f->session, &f->error), &f->error);
    holo_graph_free(g);
    return good;
}

static void random_dropout_old(void)
{
    float x[100];
    for (int i = 0; i < 100; i++)
        x[i] = (float)(i + 1);
    for (int is_test = 0; is_test < 2; is_test++) {
        control f = {0};
        if (random_old_open(&f, is_test)) {
            control_set(&f, 0, HOLO_F32, x, 1, 100);
            if (control_run(&f)) {
                const float *y = random_out(&f, 0), *mask = random_out(&f, 1);
                int kept = 0;
                for (int i = 0; i < 100; i++) {
                    kept += mask[i] == 1;
                    CHECK(y[i] == (is_test != 0 ? x[i] : 2 * x[i] * mask[i]));
                }
                CHECK(is_test != 0 ? kept == 100 : kept > 25 && kept < 75);
            }
        }
        control_close(&f);
    }
}

/* 1 becomes 0 or 2, in a type of 8 bits with a ratio of 8 bits. */
static void random_dropout_narrow(void)
{
    control f = {0};
    uint8_t x[64], ratio = 0x30; /* a half */
    bool training = true;
    memset(x, 0x38, sizeof x);
    if (control_open(&f,
                     "graph(%x: float8e4m3fn[64], %r: float8e4m3fn[], %t: bool[]) {\n"
                     "  %y = Dropout(%x, %r, %t)\n  return %y\n}\n",
                     0, NULL)) {
        control_set(&f, 0, HOLO_F8E4M3FN, x, 1, 64);
        control_scalar(&f, 1, HOLO_F8E4M3FN, &ratio);
        control_scalar(&f, 2, HOLO_BOOL, &training);
        if (control_run(&f)) {
            const uint8_t *y = control_out(&f, 0).data;
            int kept = 0;
            for (int i = 0; i < 64; i++) {
                CHECK(y[i] == 0 || y[i] == 0x40);
                kept += y[i] != 0;
            }
            CHECK(kept > 12 && kept < 52);
        }
    }
    control_close(&f);
}

const hg_test_case hg_tests_runtime_random[] = {
    {"bernoulli", random_bernoulli},
    {"repeats", random_repeats},
    {"loop", random_loop},
    {"dropout", random_dropout},
    {"dropout_old", random_dropout_old},
    {"dropout_narrow", random_dropout_narrow},
    {0},
};
