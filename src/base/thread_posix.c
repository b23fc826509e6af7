/* thread_posix.c - the pool with pthreads and C11 atomics.
 *
 *   caller                         worker
 *   write the job                  wait until epoch changes (spin, then sleep)
 *   open the gate                  step through the gate: +1, unless it is closed
 *   epoch + 1, wake sleepers       take tasks
 *   take tasks                     leave: -1
 *   close the gate, wait for 0
 *
 * A worker that comes late finds the gate closed and goes back to waiting, so a run never waits for
 * a thread that has not woken up yet. The job is only read between the two steps through the gate,
 * and only written while it is closed and empty. */
#include "base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREAD_SPIN_NS = 30000, THREAD_SPIN_STEP = 64, THREAD_CLOSED = 1 << 30 };

typedef struct thread_worker {
    holo_pool *pool;
    uint32_t index;
    pthread_t thread;
} thread_worker;

struct holo_pool {
    /* the job */
    hg_pool_fn fn;
    void *user;
    int64_t n_tasks;
    /* each on a line of its own: all threads hammer them */
    _Alignas(HG_ALIGN) _Atomic int64_t next;
    _Alignas(HG_ALIGN) _Atomic uint32_t gate; /* THREAD_CLOSED + number of workers inside */
    _Alignas(HG_ALIGN) _Atomic uint32_t epoch;
    _Atomic uint32_t sleeping;   /* workers asleep or about to be */
    _Atomic uint32_t is_waiting; /* the caller is asleep or about to be */
    _Atomic uint32_t is_stopping;

    _Alignas(HG_ALIGN) pthread_mutex_t run_lock; /* one run at a time */
    pthread_mutex_t sleep_lock;
    pthread_cond_t wake;   /* for workers */
    pthread_cond_t left;   /* for the caller */
    pthread_key_t self;    /* the thread_worker of a thread that runs a task */
    thread_worker *worker; /* worker[0] is whoever calls */
    uint32_t n_threads, n_started;
    int64_t spin_ns;
    holo_allocator alloc;
    void *base;
    size_t bytes;
};

/* ---- waiting ------------------------------------------------------------------------------------
 */

static void thread_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t thread_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Spins while *word is `same`; false when it still is after the pool's patience. */
static bool thread_spin(const holo_pool *pool, _Atomic uint32_t *word, uint32_t same)
{
    if (atomic_load(word) != same) return true;
    if (pool->spin_ns == 0) return false;
    for (int64_t end = thread_now() + pool->spin_ns;;) {
        for (int i = 0; i < THREAD_SPIN_STEP; i++) {
            if (atomic_load_explicit(word, memory_order_relaxed) != same) return true;
            thread_pause();
        }
        if (thread_now() > end) return false;
    }
}

static void thread_wait_for_epoch(holo_pool *pool, uint32_t seen)
{
    if (thread_spin(pool, &pool->epoch, seen)) return;
    pthread_mutex_lock(&pool->sleep_lock);
    /* Sequentially consistent, as the caller's epoch + 1 and look at `sleeping` are: one sees the
     * other. */
    atomic_fetch_add(&pool->sleeping, 1);
    while (atomic_load(&pool->epoch) == seen)
        pthread_cond_wait(&pool->wake, &pool->sleep_lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->sleep_lock);
}

static void thread_wake(holo_pool *pool)
{
    atomic_fetch_add(&pool->epoch, 1);
    if (atomic_load(&pool->sleeping) == 0) return;
    pthread_mutex_lock(&pool->sleep_lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->sleep_lock);
}

/* ---- working --------------------------------------------------------------------------------- */

static void thread_take_tasks(holo_pool *pool, uint32_t worker)
{
    for (;;) {
        int64_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (task >= pool->n_tasks) return;
        pool->fn(pool->user, task, worker);
    }
}

static void thread_leave(holo_pool *pool)
{
    if (atomic_fetch_sub(&pool->gate, 1) != THREAD_CLOSED + 1) return;
    if (atomic_load(&pool->is_waiting) == 0) return;
    pthread_mutex_lock(&pool->sleep_lock);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->sleep_lock);
}

static void *thread_main(void *user)
{
    const thread_worker *worker = user;
    holo_pool *pool = worker->pool;
    pthread_setspecific(pool->self, worker);
    for (uint32_t seen = 0;;) {
        thread_wait_for_epoch(pool, seen);
        seen = atomic_load(&pool->epoch);
        if (atomic_load(&pool->is_stopping)) return NULL;
        if ((atomic_fetch_add(&pool->gate, 1) & THREAD_CLOSED) == 0)
            thread_take_tasks(pool, worker->index);
        thread_leave(pool);
    }
}

/* Closes the gate and waits until nobody is inside. */
static void thread_join_workers(holo_pool *pool)
{
    uint32_t inside = atomic_fetch_or(&pool->gate, THREAD_CLOSED);
    while (inside != 0 && thread_spin(pool, &pool->gate, inside | THREAD_CLOSED))
        inside = atomic_load(&pool->gate) & ~(uint32_t)THREAD_CLOSED;
    if (inside == 0) return;
    pthread_mutex_lock(&pool->sleep_lock);
    atomic_store(&pool->is_waiting, 1);
    while (atomic_load(&pool->gate) != THREAD_CLOSED)
        pthread_cond_wait(&pool->left, &pool->sleep_lock);
    atomic_store(&pool->is_waiting, 0);
    pthread_mutex_unlock(&pool->sleep_lock);
}

/* Signals are for the program's own threads. */
static void thread_start(holo_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; pool->n_started < pool->n_threads; pool->n_started++) {
        thread_worker *worker = &pool->worker[pool->n_started];
        if (pthread_create(&worker->thread, NULL, thread_main, worker) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* What could not be started once is not tried again. */
    pool->n_threads = pool->n_started;
}

static void thread_run_here(int64_t n_tasks, hg_pool_fn fn, void *user, uint32_t worker)
{
    for (int64_t i = 0; i < n_tasks; i++)
        fn(user, i, worker);
}

void hg_pool_run(holo_pool *pool, int64_t n_tasks, hg_pool_fn fn, void *user)
{
    const thread_worker *self = pool == NULL ? NULL : pthread_getspecific(pool->self);
    if (pool == NULL || self != NULL) {
        thread_run_here(n_tasks, fn, user, self == NULL ? 0 : self->index);
        return;
    }
    pthread_mutex_lock(&pool->run_lock);
    pthread_setspecific(pool->self, &pool->worker[0]);
    if (n_tasks > 1 && pool->n_started < pool->n_threads) thread_start(pool);
    if (n_tasks <= 1 || pool->n_started == 1) {
        thread_run_here(n_tasks, fn, user, 0);
    } else {
        pool->fn = fn;
        pool->user = user;
        pool->n_tasks = n_tasks;
        atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
        atomic_fetch_and(&pool->gate, ~(uint32_t)THREAD_CLOSED);
        thread_wake(pool);
        thread_take_tasks(pool, 0);
        thread_join_workers(pool);
    }
    pthread_setspecific(pool->self, NULL);
    pthread_mutex_unlock(&pool->run_lock);
}

/* ---- life ------------------------------------------------------------------------------------ */

static holo_pool *thread_alloc(uint32_t threads, const holo_allocator *allocator)
{
    const holo_allocator alloc = hg_allocator_or_libc(allocator);
    const size_t bytes = sizeof(holo_pool) + threads * sizeof(thread_worker);
    void *base;
    holo_pool *pool = hg_alloc_aligned(&alloc, bytes, &base);
    if (pool == NULL) return NULL;
    memset(pool, 0, bytes);
    pool->alloc = alloc;
    pool->base = base;
    pool->bytes = bytes + HG_ALIGN;
    pool->worker = (thread_worker *)(pool + 1);
    for (uint32_t i = 0; i < threads; i++)
        pool->worker[i] = (thread_worker){.pool = pool, .index = i};
    pool->n_threads = threads;
    pool->n_started = 1;
    /* With more threads than processors a spinning one keeps another from its work. */
    pool->spin_ns = (long)threads <= sysconf(_SC_NPROCESSORS_ONLN) ? THREAD_SPIN_NS : 0;
    atomic_init(&pool->next, 0);
    atomic_init(&pool->gate, THREAD_CLOSED);
    atomic_init(&pool->epoch, 0);
    atomic_init(&pool->sleeping, 0);
    atomic_init(&pool->is_waiting, 0);
    atomic_init(&pool->is_stopping, 0);
    return pool;
}

holo_status hg_pool_new(uint32_t threads, const holo_allocator *allocator, holo_pool **out,
                        holo_error *error)
{
    if (threads == 0) return hg_fail(error, HOLO_E_ARG, "a pool of 0 threads, expected at least 1");
    if (threads > HG_POOL_MAX_THREADS)
        return hg_fail(error, HOLO_E_LIMIT, "a pool of %u threads, at most %d are allowed", threads,
                       (int)HG_POOL_MAX_THREADS);
    holo_pool *pool = thread_alloc(threads, allocator);
    if (pool == NULL) return hg_fail_nomem(error, sizeof *pool);
    if (pthread_key_create(&pool->self, NULL) != 0) {
        hg_free(&pool->alloc, pool->base, pool->bytes);
        return hg_fail(error, HOLO_E_LIMIT, "too many pools: the system has no thread key left");
    }
    pthread_mutex_init(&pool->run_lock, NULL);
    pthread_mutex_init(&pool->sleep_lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->left, NULL);
    *out = pool;
    return HOLO_OK;
}

void hg_pool_free(holo_pool *pool)
{
    if (pool == NULL) return;
    atomic_store(&pool->is_stopping, 1);
    thread_wake(pool);
    for (uint32_t i = 1; i < pool->n_started; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->sleep_lock);
    pthread_mutex_destroy(&pool->run_lock);
    pthread_key_delete(pool->self);
    const holo_allocator alloc = pool->alloc;
    hg_free(&alloc, pool->base, pool->bytes);
}

uint32_t hg_pool_threads(const holo_pool *pool)
{
    return pool == NULL ? 1 : pool->n_threads;
}

holo_status holo_pool_new(uint32_t threads, const holo_allocator *allocator, holo_pool **out,
                          holo_error *error)
{
    if (out == NULL) return hg_fail(error, HOLO_E_ARG, "holo_pool_new: out is NULL");
    return hg_pool_new(threads, allocator, out, error);
}

void holo_pool_free(holo_pool *pool)
{
    hg_pool_free(pool);
}
