/* peak.c - arithmetic peak and memory bandwidth, measured by loops that do nothing else. */
#include "cli/peak.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    PEAK_THREADS = 64,    /* more are counted by multiplying */
    PEAK_REPEATS = 7,     /* the best of them counts */
    PEAK_CHAINS = 12,     /* independent sums: enough to fill two units of latency 4 or 5 */
    PEAK_ROUNDS = 200000, /* about 1.5 ms */
    PEAK_BYTES = 64 << 20 /* of all threads together: larger than the caches near a core */
};

typedef struct peak_work {
    double (*run)(struct peak_work *w); /* amount of work done */
    const uint64_t *memory;
    size_t words;
    volatile float keep;
    double amount;
} peak_work;

static double peak_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the two loops --------------------------------------------------------------------------- */

typedef float peak_vector __attribute__((vector_size(32)));

/* Without fused multiply-add a product and a sum are two operations too. */
static double peak_plain(peak_work *w)
{
    peak_vector sum[PEAK_CHAINS] = {{0}};
    const float start = w->keep;
    for (int i = 0; i < PEAK_CHAINS; i++)
        sum[i] += start;
    for (int n = 0; n < PEAK_ROUNDS; n++)
        for (int i = 0; i < PEAK_CHAINS; i++)
            sum[i] = sum[i] * 0.999f + 0.001f;
    for (int i = 0; i < PEAK_CHAINS; i++)
        w->keep = sum[i][0];
    return 16.0 * PEAK_CHAINS * PEAK_ROUNDS;
}

#if defined(__x86_64__)
/* The volatile statement keeps equal chains from becoming one. */
#define PEAK_FUSED(name, features, vector, set1, fused)                                            \
    __attribute__((target(features))) static double name(peak_work *w)                             \
    {                                                                                              \
        const vector x = set1(0.999f), y = set1(0.001f);                                           \
        vector sum[PEAK_CHAINS];                                                                   \
        PEAK_UNROLL                                                                                \
        for (int i = 0; i < PEAK_CHAINS; i++)                                                      \
            sum[i] = set1(w->keep);                                                                \
        for (int n = 0; n < PEAK_ROUNDS; n++) {                                                    \
            PEAK_UNROLL                                                                            \
            for (int i = 0; i < PEAK_CHAINS; i++) {                                                \
                sum[i] = fused(sum[i], x, y);                                                      \
                __asm__ volatile("" : "+v"(sum[i]));                                               \
            }                                                                                      \
        }                                                                                          \
        PEAK_UNROLL                                                                                \
        for (int i = 0; i < PEAK_CHAINS; i++)                                                      \
            w->keep = w->keep + sum[i][0];                                                         \
        return 2.0 * (double)(sizeof(vector) / sizeof(float)) * PEAK_CHAINS * PEAK_ROUNDS;         \
    }
#if defined(__clang__)
#define PEAK_UNROLL
#else
#define PEAK_UNROLL _Pragma("GCC unroll 12")
#endif
PEAK_FUSED(peak_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
PEAK_FUSED(peak_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
#undef PEAK_FUSED
#endif

static double peak_read(peak_work *w)
{
    uint64_t sum[4] = {0};
    for (size_t i = 0; i + 4 <= w->words; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += w->memory[i + (size_t)k];
    w->keep = (float)(sum[0] ^ sum[1] ^ sum[2] ^ sum[3]);
    return (double)(w->words * sizeof *w->memory);
}

/* ---- on all threads at once ------------------------------------------------------------------ */

static void *peak_thread(void *user)
{
    peak_work *w = user;
    w->amount = w->run(w);
    return NULL;
}

static double peak_rate(peak_work *work, int threads)
{
    pthread_t thread[PEAK_THREADS];
    double best = 0;
    for (int r = 0; r < PEAK_REPEATS; r++) {
        int started = 1;
        double amount = 0;
        const double start = peak_now();
        while (started < threads &&
               pthread_create(&thread[started], NULL, peak_thread, &work[started]) == 0)
            started++;
        peak_thread(&work[0]);
        for (int i = 1; i < started; i++)
            (void)pthread_join(thread[i], NULL);
        const double seconds = peak_now() - start;
        for (int i = 0; i < started; i++)
            amount += work[i].amount;
        if (seconds > 0 && amount / seconds > best) best = amount / seconds;
    }
    return best;
}

static double (*peak_arithmetic(void))(peak_work *)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return peak_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_avx2;
#endif
    return peak_plain;
}

static int peak_threads(int threads)
{
    return threads < 1 ? 1 : threads < PEAK_THREADS ? threads : PEAK_THREADS;
}

double hg_cli_peak_flops(int threads)
{
    peak_work work[PEAK_THREADS];
    const int used = peak_threads(threads);
    for (int i = 0; i < used; i++)
        work[i] = (peak_work){.run = peak_arithmetic()};
    return peak_rate(work, used) * (threads < 1 ? 1 : threads) / used;
}

static double peak_bytes(int threads)
{
    peak_work work[PEAK_THREADS];
    const int used = peak_threads(threads);
    uint64_t *memory = malloc(PEAK_BYTES);
    if (memory == NULL) return 0;
    memset(memory, 1, PEAK_BYTES);
    const size_t words = PEAK_BYTES / sizeof *memory / (size_t)used;
    for (int i = 0; i < used; i++)
        work[i] =
            (peak_work){.run = peak_read, .memory = memory + (size_t)i * words, .words = words};
    const double rate = peak_rate(work, used);
    free(memory);
    return rate;
}

hg_cli_peak hg_cli_peak_measure(int threads)
{
    return (hg_cli_peak){.flops = hg_cli_peak_flops(threads), .bytes = peak_bytes(threads)};
}
