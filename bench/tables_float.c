/* tables_float.c - the chains of bench/tables.py as one loop of hand-written AVX2 float code each,
 * beside the table that replaces them: what fused arithmetic costs at its best.
 *
 * 32 codes at a time are widened, dequantised, taken through all operations in registers, quantised
 * and packed: nothing goes to memory between. Functions are vector polynomials, those of the
 * kernels. Each result is compared with the chain in double. Prints a JSON array. */
#include "op/bench.h"

#include "backend/cpu/avx2/math8.h"
#include "base/cpu.h"
#include "kernel/table.h"

#include <math.h>

extern const hg_kernel hg_kernels_table_avx2[];

enum { IN_L1 = 12288, IN_MEMORY = 48 << 20, ROUNDS = 9 };

/* log(x) for normal x > 0, within 2 units: x = m 2^e with m in [sqrt(1/2), sqrt(2)), then a
 * polynomial in m - 1. */
HG_INLINE __m256 float_log8(__m256 x)
{
    static const float c[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                              -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                              2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i shift = _mm256_sub_epi32(bits, _mm256_set1_epi32(0x3f3504f3));
    const __m256i power = _mm256_srai_epi32(shift, 23);
    const __m256 e = _mm256_cvtepi32_ps(power);
    const __m256 m =
        _mm256_sub_ps(_mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(power, 23))),
                      _mm256_set1_ps(1));
    const __m256 z = _mm256_mul_ps(m, m);
    __m256 p = _mm256_set1_ps(c[0]);
    for (int i = 1; i < 9; i++)
        p = _mm256_fmadd_ps(p, m, _mm256_set1_ps(c[i]));
    p = _mm256_mul_ps(p, _mm256_mul_ps(m, z));
    p = _mm256_fmadd_ps(e, _mm256_set1_ps(-2.12194440e-4f), p);
    p = _mm256_fnmadd_ps(z, _mm256_set1_ps(0.5f), p);
    return _mm256_fmadd_ps(e, _mm256_set1_ps(0.693359375f), _mm256_add_ps(m, p));
}

HG_INLINE __m256 float_sigmoid(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1);
    return _mm256_div_ps(one, _mm256_add_ps(one, hg_exp8(_mm256_sub_ps(_mm256_setzero_ps(), x))));
}

/* An operation on four vectors, which do not wait for each other; on one after the other they
 * would, since a chain is longer than what a processor looks ahead. */
#define FLOAT_EACH(operation) _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++) v[k] = operation

/* The first `length` operations, as STEPS of tables.py has them. */
HG_INLINE void float_steps(__m256 *v, const int length)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    if (length >= 1) FLOAT_EACH(float_sigmoid(v[k]));
    if (length == 2) FLOAT_EACH(_mm256_mul_ps(v[k], _mm256_set1_ps(6)));
    if (length >= 3) FLOAT_EACH(_mm256_fmadd_ps(v[k], _mm256_set1_ps(6), _mm256_set1_ps(-3)));
    if (length >= 4) FLOAT_EACH(hg_tanh8(v[k]));
    if (length >= 5) FLOAT_EACH(hg_exp8(v[k]));
    if (length >= 6) FLOAT_EACH(_mm256_mul_ps(v[k], _mm256_set1_ps(1.2f)));
    if (length >= 7) FLOAT_EACH(_mm256_sqrt_ps(v[k]));
    if (length >= 8) FLOAT_EACH(float_log8(v[k]));
    if (length == 9) FLOAT_EACH(_mm256_mul_ps(v[k], _mm256_set1_ps(2)));
    if (length >= 10) FLOAT_EACH(_mm256_fmadd_ps(v[k], _mm256_set1_ps(2), _mm256_set1_ps(0.9f)));
    if (length >= 11) FLOAT_EACH(_mm256_andnot_ps(sign, v[k]));
    if (length >= 12) FLOAT_EACH(hg_tanh8(v[k]));
}

HG_INLINE __m256 float_take(const uint8_t *x)
{
    const __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)x);
    const __m256i wide = _mm256_sub_epi32(_mm256_cvtepu8_epi32(codes), _mm256_set1_epi32(128));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(wide), _mm256_set1_ps(0.031f));
}

HG_INLINE __m256i float_code(__m256 v)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(v, _mm256_set1_ps(1 / 0.011f)));
}

HG_INLINE void float_chain(const uint8_t *x, uint8_t *y, int64_t n, const int length)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (int64_t i = 0; i < n; i += 32) {
        __m256 v[4];
        FLOAT_EACH(float_take(x + i + 8 * k));
        float_steps(v, length);
        const __m256i low = _mm256_packs_epi32(float_code(v[0]), float_code(v[1]));
        const __m256i high = _mm256_packs_epi32(float_code(v[2]), float_code(v[3]));
        _mm256_storeu_si256((__m256i *)(void *)(y + i),
                            _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order));
    }
}

typedef void float_run(const uint8_t *x, uint8_t *y, int64_t n);
#define FLOAT_CHAINS(X)                                                                            \
    X(1)                                                                                           \
    X(2)                                                                                           \
    X(3)                                                                                           \
    X(4)                                                                                           \
    X(6)                                                                                           \
    X(8)                                                                                           \
    X(10)                                                                                          \
    X(12)
#define X(length)                                                                                  \
    static void float_chain_##length(const uint8_t *x, uint8_t *y, int64_t n)                      \
    {                                                                                              \
        float_chain(x, y, n, length);                                                              \
    }
FLOAT_CHAINS(X)
#undef X

static const struct {
    int length;
    float_run *run;
} chains[] = {
#define X(length) {length, float_chain_##length},
    FLOAT_CHAINS(X)
#undef X
};

/* The chain of one code in double. */
static double float_exact(int code, int length)
{
    double v = (code - 128) * (double)0.031f;
    if (length >= 1) v = 1 / (1 + exp(-v));
    if (length >= 2) v *= 6;
    if (length >= 3) v -= 3;
    if (length >= 4) v = tanh(v);
    if (length >= 5) v = exp(v);
    if (length >= 6) v *= (double)1.2f;
    if (length >= 7) v = sqrt(v);
    if (length >= 8) v = log(v);
    if (length >= 9) v *= 2;
    if (length >= 10) v += (double)0.9f;
    if (length >= 11) v = fabs(v);
    if (length >= 12) v = tanh(v);
    v /= (double)0.011f;
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

static void float_check(const uint8_t *x, const uint8_t *y, int64_t n, int length)
{
    for (int64_t i = 0; i < n; i++)
        if (fabs(y[i] - float_exact(x[i], length)) > 0.51) {
            fprintf(stderr, "%d operations on code %d give %d, expected %g\n", length, x[i], y[i],
                    float_exact(x[i], length));
            exit(1);
        }
}

static void float_table(const uint8_t *table, uint8_t *x, uint8_t *y, int64_t n)
{
    const holo_tensor in[2] = {
        {.data = x, .dim = {n}, .rank = 1, .dtype = HOLO_U8},
        {.data = (void *)(uintptr_t)table, .dim = {256}, .rank = 1, .dtype = HOLO_U8}};
    holo_tensor out = {.data = y, .dim = {n}, .rank = 1, .dtype = HOLO_U8};
    const int64_t param[HG_TABLE_PARAMS] = {0};
    hg_fault fault = {0};
    const hg_args a = {.in = in,
                       .out = &out,
                       .param = param,
                       .fault = &fault,
                       .n_in = 2,
                       .n_out = 1,
                       .n_param = HG_TABLE_PARAMS};
    hg_kernels_table_avx2->run(&a, (hg_range){0, hg_kernels_table_avx2->units(&a), NULL});
}

/* Both in turn. */
static void float_measure(size_t c, uint8_t *x, uint8_t *y, int64_t n, const char *where)
{
    static bool more;
    const int turns = n > 1 << 20 ? 1 : 50;
    uint8_t table[256];
    double taken[2][ROUNDS];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)lrint(float_exact(i, chains[c].length));
    for (int r = 0; r < ROUNDS; r++)
        for (int way = 0; way < 2; way++) {
            const double start = bench_now();
            for (int t = 0; t < turns; t++) {
                if (way == 0)
                    float_table(table, x, y, n);
                else
                    chains[c].run(x, y, n);
                __asm__ volatile("" : : "r"(y) : "memory");
            }
            taken[way][r] = (bench_now() - start) / turns;
            float_check(x, y, n < 65536 ? n : 65536, chains[c].length);
        }
    for (int way = 0; way < 2; way++)
        qsort(taken[way], ROUNDS, sizeof(double), bench_compare);
    printf("%s\n{\"operations\": %d, \"where\": \"%s\", \"table_gcodes\": %.3f, "
           "\"float_gcodes\": %.3f, \"table_median_gcodes\": %.3f, \"float_median_gcodes\": %.3f}",
           more ? "," : "", chains[c].length, where, (double)n / taken[0][0] / 1e9,
           (double)n / taken[1][0] / 1e9, (double)n / taken[0][ROUNDS / 2] / 1e9,
           (double)n / taken[1][ROUNDS / 2] / 1e9);
    more = true;
}

int main(void)
{
    static const struct {
        const char *name;
        int64_t codes;
    } where[] = {{"L1", IN_L1}, {"memory", IN_MEMORY}};
    if ((hg_cpu_features() & HG_CPU_AVX2) == 0) return printf("[]\n") < 0;
    printf("[");
    for (size_t w = 0; w < HG_COUNT(where); w++) {
        uint8_t *x = bench_alloc((size_t)where[w].codes);
        uint8_t *y = (uint8_t *)bench_alloc((size_t)where[w].codes + 4096) + 2048;
        for (int64_t i = 0; i < where[w].codes; i++)
            x[i] = (uint8_t)(i * 91 + i / 256);
        for (size_t c = 0; c < HG_COUNT(chains); c++)
            float_measure(c, x, y, where[w].codes, where[w].name);
        free(x);
        free(y - 2048);
    }
    printf("\n]\n");
    return 0;
}
