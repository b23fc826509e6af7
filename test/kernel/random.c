/* random.c - random and multinomial: known answers of the generator, and distributions. */
#include "kernel/random.h"

#include "kernel/value.h"

extern const hg_kernel hg_kernels_random[];

enum { MULTINOMIAL, RANDOM }; /* places in the table */
enum { COUNT = 100000 };

/* Known answers of Philox 4x32-10 as its authors publish them: counter and key 0, and the digits of
 * pi's counter halves where the upper half is 0. */
static void random_known(void)
{
    uint32_t bits[4];
    static const uint32_t zero[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    hg_random_bits(0, 0, 0, bits);
    CHECK_MEM(bits, zero, sizeof zero);
    CHECK(hg_random_unit(0, 0) == 0.0);
    CHECK(hg_random_unit(UINT32_MAX, UINT32_MAX) < 1.0);
}

static void random_make(move_call *c, holo_dtype dtype, int64_t count, int64_t seed, int64_t kind,
                        double p, double q)
{
    move_out(c, dtype, 1, &count);
    move_param(c, seed);
    move_param(c, kind);
    value_param_f64(c, p);
    value_param_f64(c, q);
}

/* Mean, variance and how often each tenth of the range (in units of probability) is hit. */
static void random_uniform(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t t = 0; t < HG_COUNT(types); t++) {
        move_call c = {0};
        double sum = 0, squares = 0;
        int64_t bin[10] = {0};
        random_make(&c, types[t], COUNT, 42, HG_RANDOM_UNIFORM, -1.0, 4.0);
        if (!move_run(&hg_kernels_random[RANDOM], &c)) return;
        for (int64_t i = 0; i < COUNT; i++) {
            const double v = value_get(&c.out[0], i);
            if (!CHECK(v >= -1.0 && v < 4.0)) return;
            sum += v;
            squares += v * v;
            bin[(int)((v + 1.0) * 2.0)]++;
        }
        const double mean = sum / COUNT;
        CHECK_NEAR(mean, 1.5, 0.03);
        CHECK_NEAR(squares / COUNT - mean * mean, 25.0 / 12.0, 0.05);
        for (int k = 0; k < 10 && t < 2; k++)
            CHECK_NEAR(bin[k], COUNT / 10, 500); /* five standard deviations */
        move_free(&c);
    }
}

static void random_normal(void)
{
    move_call c = {0};
    double sum = 0, squares = 0, cubes = 0, fourths = 0;
    int64_t beyond = 0;
    random_make(&c, HOLO_F64, COUNT, 7, HG_RANDOM_NORMAL, 3.0, 2.0);
    if (!move_run(&hg_kernels_random[RANDOM], &c)) return;
    for (int64_t i = 0; i < COUNT; i++) {
        const double z = (value_get(&c.out[0], i) - 3.0) / 2.0;
        if (!CHECK(isfinite(z))) return;
        sum += z;
        squares += z * z;
        cubes += z * z * z;
        fourths += z * z * z * z;
        beyond += fabs(z) > 1.959964;
    }
    CHECK_NEAR(sum / COUNT, 0.0, 0.02);
    CHECK_NEAR(squares / COUNT, 1.0, 0.025);
    CHECK_NEAR(cubes / COUNT, 0.0, 0.05);
    CHECK_NEAR(fourths / COUNT, 3.0, 0.15);
    CHECK_NEAR((double)beyond / COUNT, 0.05, 0.004);
    move_free(&c);
}

/* Seeds give different numbers, equal seeds the same. */
static void random_seeds(void)
{
    move_call c[3];
    memset(c, 0, sizeof c);
    for (int k = 0; k < 3; k++) {
        random_make(&c[k], HOLO_F32, 100, k / 2, HG_RANDOM_UNIFORM, 0.0, 1.0);
        if (!move_run(&hg_kernels_random[RANDOM], &c[k])) return;
    }
    CHECK(memcmp(c[0].out[0].data, c[1].out[0].data, 400) == 0);
    CHECK(memcmp(c[0].out[0].data, c[2].out[0].data, 400) != 0);
    for (int k = 0; k < 3; k++)
        move_free(&c[k]);
}

static void random_make_multinomial(move_call *c, holo_dtype dtype, int64_t samples)
{
    holo_tensor *x = value_in(c, HOLO_F64, 2, MOVE_DIMS(2, 4), 1);
    const double logs[] = {log(0.1), log(0.2), log(0.3), log(0.4), 1000, 1000, -INFINITY, NAN};
    memcpy(x->data, logs, sizeof logs);
    move_out(c, dtype, 2, MOVE_DIMS(2, samples));
    move_param(c, 5);
}

static void random_multinomial(void)
{
    for (int k = 0; k < 2; k++) {
        move_call c = {0};
        int64_t count[2][4] = {{0}};
        random_make_multinomial(&c, k == 0 ? HOLO_I32 : HOLO_I64, COUNT);
        if (!move_run(&hg_kernels_random[MULTINOMIAL], &c)) return;
        for (int64_t i = 0; i < 2 * COUNT; i++) {
            const int64_t class = (int64_t)value_get(&c.out[0], i);
            if (!CHECK(class >= 0 && class < 4)) return;
            count[i / COUNT][class]++;
        }
        for (int i = 0; i < 4; i++)
            CHECK_NEAR((double)count[0][i] / COUNT, 0.1 * (i + 1), 0.008);
        CHECK_NEAR((double)count[1][0] / COUNT, 0.5, 0.01);
        CHECK_EQ_INT(count[1][2] + count[1][3], 0);
        move_free(&c);
    }
    move_call c = {0}; /* no class is possible */
    random_make_multinomial(&c, HOLO_I32, 3);
    for (int64_t i = 0; i < 8; i++)
        value_set(&c.in[0], i, i < 4 ? -INFINITY : NAN);
    if (move_run(&hg_kernels_random[MULTINOMIAL], &c)) CHECK(value_get(&c.out[0], 0) == 0.0);
    move_free(&c);
}

static void random_make_good(move_call *c)
{
    random_make(c, HOLO_F32, 10, 1, HG_RANDOM_UNIFORM, 0.0, 1.0);
}

static void random_make_multinomial_good(move_call *c)
{
    random_make_multinomial(c, HOLO_I32, 3);
}

static void random_refuses(void)
{
    static const move_bad plain[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_PARAM, 1, 0, 2, "kind is 2"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
    };
    MOVE_REFUSES(&hg_kernels_random[RANDOM], random_make_good, plain);
    static const move_bad multinomial[] = {
        {MOVE_N_PARAM, 0, 0, 2, "2 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output 0 has type float32"},
        {MOVE_IN_RANK, 0, 0, 1, "input has rank 1"},
        {MOVE_OUT_RANK, 0, 0, 1, "output has rank 1"},
        {MOVE_IN_DIM, 0, 0, 3, "output has 2 rows, expected 3"},
        {MOVE_IN_DIM, 0, 1, 0, "0 classes"},
    };
    MOVE_REFUSES(&hg_kernels_random[MULTINOMIAL], random_make_multinomial_good, multinomial);
}

const hg_test_case hg_tests_kernel_random[] = {
    {"known", random_known},
    {"uniform", random_uniform},
    {"normal", random_normal},
    {"seeds", random_seeds},
    {"multinomial", random_multinomial},
    {"refuses", random_refuses},
    {0},
};
