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

const hg_test_case hg_tests_runtime_random[] = {
    {"bernoulli", random_bernoulli},
    {"repeats", random_repeats},
    {"dropout", random_dropout},
    {0},
};
