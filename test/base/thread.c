/* thread.c - tests of base/thread.h, and of the bits of base/cpu.h that pick what threads run. */
#include "base/thread.h"
#include "base/cpu.h"
#include "isa/kernel.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREAD_TASKS = 1000 };

typedef struct thread_count {
    int done[THREAD_TASKS]; /* not atomic: a task run twice at once is for the thread sanitizer to
                               find */
    int by_worker[64];
    holo_pool *pool;
    _Atomic int64_t nested;
} thread_count;

static void thread_mark(void *user, int64_t task, uint32_t worker)
{
    thread_count *c = user;
    c->done[task]++;
    c->by_worker[worker]++;
}

static void thread_check_once(thread_count *c, int times)
{
    int total = 0;
    for (int i = 0; i < THREAD_TASKS; i++)
        if (c->done[i] != times) {
            hg_test_fail(HG_TEST_HERE, "task %d ran %d times, expected %d", i, c->done[i], times);
            return;
        }
    for (size_t i = 0; i < HG_COUNT(c->by_worker); i++)
        total += c->by_worker[i];
    CHECK_EQ_INT(total, times * THREAD_TASKS);
}

static void thread_runs_every_task_once(void)
{
    static const uint32_t threads[] = {1, 2, 3, 8, 33};
    for (size_t i = 0; i < HG_COUNT(threads); i++) {
        holo_error e = {0};
        holo_pool *pool;
        thread_count *c = calloc(1, sizeof *c);
        if (CHECK_OK(hg_pool_new(threads[i], NULL, &pool, &e), &e)) {
            CHECK_EQ_INT(hg_pool_threads(pool), threads[i]);
            CHECK(hg_pool_swift(pool) == 1 || hg_pool_swift(pool) == threads[i]);
            for (int run = 0; run < 200; run++)
                hg_pool_run(pool, THREAD_TASKS, thread_mark, c);
            thread_check_once(c, 200);
            for (size_t k = threads[i]; k < HG_COUNT(c->by_worker); k++)
                CHECK_EQ_INT(c->by_worker[k], 0);
            hg_pool_free(pool);
        }
        free(c);
    }
}

static void thread_runs_after_sleep(void)
{
    holo_error e = {0};
    holo_pool *pool;
    thread_count *c = calloc(1, sizeof *c);
    if (CHECK_OK(hg_pool_new(4, NULL, &pool, &e), &e)) {
        for (int run = 0; run < 20; run++) {
            hg_pool_run(pool, THREAD_TASKS, thread_mark, c);
            usleep(1000); /* beyond the patience of a spinning worker */
        }
        thread_check_once(c, 20);
        hg_pool_free(pool);
    }
    free(c);
}

static void thread_slow_task(void *user, int64_t task, uint32_t worker)
{
    (void)worker;
    if (task == 0) usleep(2000);
    atomic_fetch_add((_Atomic int64_t *)user, 1);
}

/* The caller has to sleep until a worker is done. */
static void thread_waits_for_slow_tasks(void)
{
    holo_error e = {0};
    holo_pool *pool;
    if (!CHECK_OK(hg_pool_new(3, NULL, &pool, &e), &e)) return;
    for (int run = 0; run < 50; run++) {
        _Atomic int64_t done = 0;
        hg_pool_run(pool, 4, thread_slow_task, &done);
        CHECK_EQ_INT(atomic_load(&done), 4);
    }
    hg_pool_free(pool);
}

static void thread_runs_without_pool(void)
{
    thread_count *c = calloc(1, sizeof *c);
    hg_pool_run(NULL, THREAD_TASKS, thread_mark, c);
    thread_check_once(c, 1);
    CHECK_EQ_INT(c->by_worker[0], THREAD_TASKS);
    CHECK_EQ_INT(hg_pool_threads(NULL), 1);
    CHECK_EQ_INT(hg_pool_swift(NULL), 1);
    free(c);
}

static void thread_few_tasks(void)
{
    holo_error e = {0};
    holo_pool *pool;
    thread_count *c = calloc(1, sizeof *c);
    if (CHECK_OK(hg_pool_new(4, NULL, &pool, &e), &e)) {
        hg_pool_run(pool, 0, thread_mark, c);
        hg_pool_run(pool, -1, thread_mark, c);
        hg_pool_run(pool, 1, thread_mark, c);
        hg_pool_run(pool, 2, thread_mark, c);
        CHECK_EQ_INT(c->done[0], 2);
        CHECK_EQ_INT(c->done[1], 1);
        hg_pool_free(pool);
    }
    free(c);
}

static void thread_inner(void *user, int64_t task, uint32_t worker)
{
    (void)task;
    (void)worker;
    atomic_fetch_add(&((thread_count *)user)->nested, 1);
}

static void thread_outer(void *user, int64_t task, uint32_t worker)
{
    thread_count *c = user;
    (void)task;
    (void)worker;
    hg_pool_run(c->pool, 10, thread_inner, c);
}

static void thread_nested_runs(void)
{
    holo_error e = {0};
    thread_count *c = calloc(1, sizeof *c);
    if (CHECK_OK(hg_pool_new(4, NULL, &c->pool, &e), &e)) {
        hg_pool_run(c->pool, 100, thread_outer, c);
        CHECK_EQ_INT(atomic_load(&c->nested), 1000);
        hg_pool_free(c->pool);
    }
    free(c);
}

static void *thread_other_caller(void *user)
{
    thread_count *c = user;
    for (int i = 0; i < 50; i++)
        hg_pool_run(c->pool, 20, thread_inner, c);
    return NULL;
}

static void thread_concurrent_runs(void)
{
    holo_error e = {0};
    pthread_t caller[4];
    thread_count *c = calloc(1, sizeof *c);
    if (CHECK_OK(hg_pool_new(3, NULL, &c->pool, &e), &e)) {
        for (size_t i = 0; i < HG_COUNT(caller); i++)
            pthread_create(&caller[i], NULL, thread_other_caller, c);
        for (size_t i = 0; i < HG_COUNT(caller); i++)
            pthread_join(caller[i], NULL);
        CHECK_EQ_INT(atomic_load(&c->nested), 4 * 50 * 20);
        hg_pool_free(c->pool);
    }
    free(c);
}

static void thread_refuses(void)
{
    holo_error e = {0};
    holo_pool *pool;
    CHECK_STATUS(holo_pool_new(0, NULL, &pool, &e), HOLO_E_ARG);
    CHECK_STATUS(holo_pool_new(HG_POOL_MAX_THREADS + 1, NULL, &pool, &e), HOLO_E_LIMIT);
    CHECK_HAS(e.message, "1025 threads, at most 1024");
    CHECK_STATUS(holo_pool_new(1, NULL, NULL, &e), HOLO_E_ARG);
    if (CHECK_OK(holo_pool_new(2, NULL, &pool, &e), &e)) holo_pool_free(pool);
    holo_pool_free(NULL);
}

static void *thread_no_memory(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user, (void)p, (void)old_size, (void)new_size;
    return NULL;
}

static void thread_survives_lack_of_memory(void)
{
    const holo_allocator none = {thread_no_memory, NULL};
    holo_error e = {0};
    holo_pool *pool;
    CHECK_STATUS(holo_pool_new(4, &none, &pool, &e), HOLO_E_NOMEM);
}

static void thread_cpu_bits_are_those_of_kernels(void)
{
    const uint32_t known = HG_CPU_AVX2 | HG_CPU_AVX512 | HG_CPU_NEON | HG_CPU_WASM | HG_CPU_VNNI |
                           HG_CPU_DOTPROD | HG_CPU_WIDE;
    const uint32_t features = hg_cpu_features();
    CHECK_EQ_INT(features & ~known, 0);
    CHECK_EQ_INT(features, hg_cpu_features());
#if defined(__x86_64__)
    CHECK_EQ_INT(features & (HG_CPU_NEON | HG_CPU_DOTPROD | HG_CPU_WASM), 0);
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi2");
    CHECK_EQ_INT((features & HG_CPU_AVX2) != 0, has_avx2);
    CHECK_EQ_INT((features & HG_CPU_VNNI) != 0, __builtin_cpu_supports("avx512vnni") != 0);
    if (features & HG_CPU_AVX512) CHECK(features & HG_CPU_AVX2);
    if (features & HG_CPU_WIDE) CHECK(features & HG_CPU_AVX512);
    if (features & HG_CPU_AVX512) CHECK(__builtin_cpu_supports("avx512vbmi"));
#elif defined(__aarch64__)
    CHECK_EQ_INT(features & ~(uint32_t)HG_CPU_DOTPROD, HG_CPU_NEON);
#endif
}

const hg_test_case hg_tests_base_thread[] = {
    {"runs_every_task_once", thread_runs_every_task_once},
    {"runs_after_sleep", thread_runs_after_sleep},
    {"waits_for_slow_tasks", thread_waits_for_slow_tasks},
    {"runs_without_pool", thread_runs_without_pool},
    {"few_tasks", thread_few_tasks},
    {"nested_runs", thread_nested_runs},
    {"concurrent_runs", thread_concurrent_runs},
    {"refuses", thread_refuses},
    {"survives_lack_of_memory", thread_survives_lack_of_memory},
    {"cpu_bits_are_those_of_kernels", thread_cpu_bits_are_those_of_kernels},
    {0},
};
