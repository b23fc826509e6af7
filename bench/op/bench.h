/* bench.h - what the operator benchmarks share: tensors, a clock, the machine's peak, one line a
 * case.
 *
 * Each bench/op/<stem>.c is a program of its own:
 *     cc -O2 -Isrc -Iinclude bench/op/matmul.c src/cli/peak.c build/libhologram.a -lm -lpthread
 * It prints minimum and median time, GFLOP/s and the share of the fused multiply-add peak measured
 * just before, and runs on one thread. */
#ifndef HG_BENCH_OP_BENCH_H
#define HG_BENCH_OP_BENCH_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "cli/peak.h"
#include "isa/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BENCH_SHORT 20e-6 /* seconds */

static inline double bench_now(void)
{
    struct timespec t;
    /* as the peak is measured; the clock of a thread takes half a microsecond to read */
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* GFLOP/s of one core with fused multiply-add, as `hologram bench --profile` has it. */
static inline double bench_peak(void)
{
    return hg_cli_peak_flops(1) / 1e9;
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
    void *scratch = bench_alloc(hg_kernel_work(k, a).scratch);
    const hg_range all = {0, hg_kernel_work(k, a).units, scratch};
    hg_cost cost = {0};
    if (k->cost != NULL) k->cost(a, &cost);
    k->run(a, all);
    const double start = bench_now();
    k->run(a, all);
    /* short runs are timed together */
    const double once = bench_now() - start;
    const int repeat = once > BENCH_SHORT ? 1 : (int)(BENCH_SHORT / (once + 1e-7)) + 1;
    int n = 0;
    while (n < MAX_RUNS && (n < 3 || bench_now() - start < budget)) {
        const double t = bench_now();
        for (int i = 0; i < repeat; i++)
            k->run(a, all);
        time[n++] = (bench_now() - t) / repeat;
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
