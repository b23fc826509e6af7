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
__attribute__((target("avx2,fma"))) static double peak_fused(peak_work *w)
{
    const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
    __m256 a = _mm256_set1_ps(w->keep), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a,
           j = a, k = a, l = a;
    for (int n = 0; n < PEAK_ROUNDS; n++) {
        a = _mm256_fmadd_ps(a, x, y);
        b = _mm256_fmadd_ps(b, x, y);
        c = _mm256_fmadd_ps(c, x, y);
        d = _mm256_fmadd_ps(d, x, y);
        e = _mm256_fmadd_ps(e, x, y);
        f = _mm256_fmadd_ps(f, x, y);
        g = _mm256_fmadd_ps(g, x, y);
        h = _mm256_fmadd_ps(h, x, y);
        i = _mm256_fmadd_ps(i, x, y);
        j = _mm256_fmadd_ps(j, x, y);
        k = _mm256_fmadd_ps(k, x, y);
        l = _mm256_fmadd_ps(l, x, y);
        /* or the equal chains become one */
        __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f));
        __asm__ volatile("" : "+x"(g), "+x"(h), "+x"(i), "+x"(j), "+x"(k), "+x"(l));
    }
    a = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
    e = _mm256_add_ps(_mm256_add_ps(e, f), _mm256_add_ps(g, h));
    i = _mm256_add_ps(_mm256_add_ps(i, j), _mm256_add_ps(k, l));
    w->keep = _mm256_cvtss_f32(_mm256_add_ps(_mm256_add_ps(a, e), i));
    return 16.0 * PEAK_CHAINS * PEAK_ROUNDS;
}
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
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_fused;
#endif
    return peak_plain;
}

hg_cli_peak hg_cli_peak_measure(int threads)
{
    peak_work work[PEAK_THREADS];
    hg_cli_peak peak = {0};
    if (threads < 1) threads = 1;
    const int used = threads < PEAK_THREADS ? threads : PEAK_THREADS;
    uint64_t *memory = malloc(PEAK_BYTES);
    for (int i = 0; i < used; i++)
        work[i] = (peak_work){.run = peak_arithmetic()};
    peak.flops = peak_rate(work, used) * threads / used;
    if (memory == NULL) return peak;
    memset(memory, 1, PEAK_BYTES);
    const size_t words = PEAK_BYTES / sizeof *memory / (size_t)used;
    for (int i = 0; i < used; i++)
        work[i] =
            (peak_work){.run = peak_read, .memory = memory + (size_t)i * words, .words = words};
    peak.bytes = peak_rate(work, used);
    free(memory);
    return peak;
}
