/* random.c - random: numbers from a distribution; multinomial: classes by their probabilities.
 *
 *   random       param  seed, kind (0 uniform in [a, b), 1 normal with mean a and deviation b),
 *                       a (f64), b (f64)
 *                out[0] f32, f64, f16 or bf16
 *   multinomial  in[0]  X [N, C] floats: logarithms of weights
 *                param  seed
 *                out[0] [N, samples] int32 or int64
 *
 * See random.h for the generator. A uniform number that rounds to b in a narrow type becomes a. A
 * row of multinomial without a positive finite weight gives class 0. */
#include "kernel/random.h"

#include "isa/lane_math.h"
#include "kernel/number.h"

enum { RANDOM_UNIT = 1024 };

static holo_status random_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 0, 0, 1, 4));
    HG_TRY(hg_check_param(a, e, 1, "kind", HG_RANDOM_UNIFORM, HG_RANDOM_NORMAL));
    return hg_check_out_type(a, e, 0, HG_TYPES_FLOAT);
}

static uint64_t random_turn(const hg_args *a)
{
    return a->turn == NULL ? 0 : *a->turn;
}

static int64_t random_units(const hg_args *a)
{
    return hg_ceil_div(holo_tensor_count(&a->out[0]), RANDOM_UNIT);
}

static double random_uniform(const uint32_t bits[4], double low, double high)
{
    return low + (high - low) * hg_random_unit(bits[0], bits[1]);
}

/* Box and Muller. */
static double random_normal(const uint32_t bits[4], double mean, double scale)
{
    const double u = 1.0 - hg_random_unit(bits[0], bits[1]), v = hg_random_unit(bits[2], bits[3]);
    const double radius = hg_sqrt_f64(-2.0 * hg_log_f64(u));
    return mean + scale * radius * hg_cos_f64(6.28318530717958647692 * v);
}

static void random_run(const hg_args *a, hg_range r)
{
    const holo_tensor *y = &a->out[0];
    const int64_t end = hg_min(r.end * RANDOM_UNIT, holo_tensor_count(y));
    const double p = hg_param_f64(a, 2), q = hg_param_f64(a, 3);
    for (int64_t i = r.begin * RANDOM_UNIT; i < end; i++) {
        uint32_t bits[4];
        hg_random_bits((uint64_t)a->param[0], random_turn(a), (uint64_t)i, bits);
        if (a->param[1] == HG_RANDOM_NORMAL) {
            hg_number_store(y, i, random_normal(bits, p, q));
            continue;
        }
        hg_number_store(y, i, random_uniform(bits, p, q));
        if (p < q && hg_number_load(y, i) >= q) hg_number_store(y, i, p);
    }
}

/* ---- multinomial ---------------------------------------------------------------------------- */

static holo_status random_multinomial_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 1));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    HG_TRY(hg_check_rank(x, e, "input", 2, 2));
    HG_TRY(hg_check_rank(y, e, "output", 2, 2));
    HG_REQUIRE(e, x->dim[0] == y->dim[0], HOLO_E_SHAPE, "output has %lld rows, expected %lld",
               (long long)y->dim[0], (long long)x->dim[0]);
    HG_REQUIRE(e, x->dim[1] > 0 && x->dim[1] <= INT32_MAX, HOLO_E_SHAPE,
               "%lld classes, expected 1 to 2^31 - 1", (long long)x->dim[1]);
    return HOLO_OK;
}

static int64_t random_multinomial_units(const hg_args *a)
{
    return a->out[0].dim[0];
}

static size_t random_multinomial_scratch(const hg_args *a)
{
    return a->out[0].dim[0] == 0 ? 0 : (size_t)a->in[0].dim[1] * sizeof(double);
}

/* Sums of weights up to each class; weights are relative to the largest, so that none overflows. */
static double random_sums(const holo_tensor *x, int64_t row, double *sum)
{
    const int64_t n = x->dim[1];
    double largest = -HG_INFINITY, total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double v = hg_number_load(x, row * n + i);
        if (v > largest && v < HG_INFINITY) largest = v;
    }
    for (int64_t i = 0; i < n; i++) {
        const double v = hg_number_load(x, row * n + i);
        if (v > -HG_INFINITY && v < HG_INFINITY) total += hg_exp_f64(v - largest);
        sum[i] = total;
    }
    return total;
}

/* The first class whose sum is above `place`. */
static int64_t random_find(const double *sum, int64_t n, double place)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sum[middle] > place)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void random_multinomial_run(const hg_args *a, hg_range r)
{
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const int64_t n = x->dim[1], samples = y->dim[1];
    double *sum = r.scratch;
    for (int64_t u = r.begin; u < r.end; u++) {
        const double total = random_sums(x, u, sum);
        for (int64_t i = 0; i < samples; i++) {
            uint32_t bits[4];
            hg_random_bits((uint64_t)a->param[0], random_turn(a), (uint64_t)(u * samples + i),
                           bits);
            const double place = hg_random_unit(bits[0], bits[1]) * total;
            const int64_t class = total > 0.0 ? random_find(sum, n, place) : 0;
            hg_number_store(y, u * samples + i, (double)class);
        }
    }
}

const hg_kernel hg_kernels_random[] = {
    {.name = "multinomial",
     .check = random_multinomial_check,
     .units = random_multinomial_units,
     .scratch = random_multinomial_scratch,
     .run = random_multinomial_run},
    {.name = "random", .check = random_check, .units = random_units, .run = random_run},
    {0},
};
