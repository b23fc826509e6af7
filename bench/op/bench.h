/* bench.h - what the operator benchmarks share: tensors, a clock, the machine's peak, one line a
 * case.
 *
 * Each bench/op/<stem>.c is a program of its own:
 *     cc -O2 -Isrc -Iinclude bench/op/matmul.c build/libhologram.a -lm -lpthread
 * It prints minimum and median time, GFLOP/s and the share of the fused multiply-add peak measured
 * just before, and runs on one thread. */
#ifndef HG_BENCH_OP_BENCH_H
#define HG_BENCH_OP_BENCH_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "isa/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline double bench_now(void)
{
    struct timespec t;
    /* time of this thread: other work on the machine counts less */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static inline double bench_peak_once(void)
{
    __m256 sum[12];
    volatile float start_value = 0; /* hidden, or compilers fold a chain away */
    for (int i = 0; i < 12; i++)
        sum[i] = _mm256_set1_ps(start_value);
    const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
    const int rounds = 300000;
    const double start = bench_now();
    for (int n = 0; n < rounds; n++) {
        sum[0] = _mm256_fmadd_ps(sum[0], x, y);
        sum[1] = _mm256_fmadd_ps(sum[1], x, y);
        sum[2] = _mm256_fmadd_ps(sum[2], x, y);
        sum[3] = _mm256_fmadd_ps(sum[3], x, y);
        sum[4] = _mm256_fmadd_ps(sum[4], x, y);
        sum[5] = _mm256_fmadd_ps(sum[5], x, y);
        sum[6] = _mm256_fmadd_ps(sum[6], x, y);
        sum[7] = _mm256_fmadd_ps(sum[7], x, y);
        sum[8] = _mm256_fmadd_ps(sum[8], x, y);
        sum[9] = _mm256_fmadd_ps(sum[9], x, y);
        sum[10] = _mm256_fmadd_ps(sum[10], x, y);
        sum[11] = _mm256_fmadd_ps(sum[11], x, y);
    }
    const double seconds = bench_now() - start;
    float all = 0;
    for (int i = 0; i < 12; i++)
        all += _mm256_cvtss_f32(sum[i]);
    volatile float keep = all;
    (void)keep;
    return rounds * 12 * 16.0 / seconds / 1e9;
}
#else
static inline double bench_peak_once(void)
{
    return 0;
}
#endif

/* GFLOP/s of one core with 256-bit fused multiply-add. */
static inline double bench_peak(void)
{
    double best = 0;
    for (int i = 0; i < 20; i++) {
        const double peak = bench_peak_once();
        if (peak > best) best = peak;
    }
    return best;
}

static inline void *bench_alloc(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes + 64) != 0) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

static inline holo_tensor bench_tensor(holo_dtype dtype, int rank, const int64_t *dim)
{
    holo_tensor t = {.rank = rank, .dtype = dtype};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    t.data = bench_alloc(holo_tensor_bytes(&t));
    if (dtype == HOLO_F32) {
        uint32_t seed = 1;
        for (int64_t i = 0; i < holo_tensor_count(&t); i++) {
            seed = seed * 1664525 + 1013904223;
            ((float *)t.data)[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
        }
    }
    return t;
}

static inline int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The kernel of that name in a table that ends with {0}. */
static inline const hg_kernel *bench_find(const hg_kernel *k, const char *name)
{
    while (k->name != NULL && strcmp(k->name, name) != 0)
        k++;
    return k;
}

/* Runs the kernel for about `budget` seconds on one thread, prints one line if it has a name, and
 * returns the shortest time. */
static inline double bench_run(const char *name, const hg_kernel *k, const hg_args *a, double peak,
                               double budget)
{
    holo_error e = {0};
    if (k->check(a, &e) != HOLO_OK) {
        printf("%-34s refused: %s\n", name, e.message);
        return 0;
    }
    enum { MAX_RUNS = 2000 };
    static double time[MAX_RUNS];
    void *scratch = bench_alloc(k->scratch == NULL ? 0 : k->scratch(a));
    const hg_range all = {0, k->units(a), scratch};
    hg_cost cost = {0};
    if (k->cost != NULL) k->cost(a, &cost);
    const double start = bench_now();
    int n = 0;
    while (n < MAX_RUNS && (n < 3 || bench_now() - start < budget)) {
        const double t = bench_now();
        k->run(a, all);
        time[n++] = bench_now() - t;
    }
    qsort(time, (size_t)n, sizeof time[0], bench_compare);
    free(scratch);
    if (name == NULL) return time[0];
    const double best = cost.flops / time[0] / 1e9, median = cost.flops / time[n / 2] / 1e9;
    printf("%-34s %9.4f ms min %9.4f ms median %7.1f GFLOP/s (%5.1f %%) median %7.1f\n", name,
           time[0] * 1e3, time[n / 2] * 1e3, best, peak > 0 ? 100 * best / peak : 0, median);
    fflush(stdout);
    return time[0];
}

#endif
