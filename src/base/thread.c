/* thread.c - the pool, with C11 atomics on what thread_os.h asks of the system.
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

#include "base/thread_os.h"

#include <string.h>

enum { THREAD_SPIN_NS = 30000, THREAD_SPIN_STEP = 64, THREAD_CLOSED = 1 << 30 };

typedef struct thread_worker {
    holo_pool *pool;
    uint32_t index;
    hg_os_thread thread;
    /* its own tasks are [next, end) at first; on a line of its own: others may help with the rest
     */
    _Alignas(HG_ALIGN) _Atomic int64_t next;
    int64_t end;
} thread_worker;

struct holo_pool {
    /* the job */
    hg_pool_fn fn;
    void *user;
    /* each on a line of its own: all threads hammer them */
    _Alignas(HG_ALIGN) _Atomic uint32_t gate; /* THREAD_CLOSED + number of workers inside */
    _Alignas(HG_ALIGN) _Atomic uint32_t epoch;
    _Atomic uint32_t is_stopping;

    _Alignas(HG_ALIGN) hg_os os;
    thread_worker *worker; /* worker[0] is whoever calls */
    uint32_t n_threads, n_started;
    int64_t owner;  /* the process whose threads they are */
    bool is_orphan; /* this is another one */
    int64_t spin_ns;
    holo_allocator alloc;
    void *base;
    size_t bytes;
};

/* ---- waiting ------------------------------------------------------------------------------------
 */

/* Spins while *word is `same`; false when it still is after the pool's patience. */
static bool thread_spin(const holo_pool *pool, _Atomic uint32_t *word, uint32_t same)
{
    if (atomic_load(word) != same) return true;
    if (pool->spin_ns == 0) return false;
    for (int64_t end = hg_os_now() + pool->spin_ns;;) {
        for (int i = 0; i < THREAD_SPIN_STEP; i++) {
            if (atomic_load_explicit(word, memory_order_relaxed) != same) return true;
            hg_os_pause();
        }
        if (hg_os_now() > end) return false;
    }
}

static void thread_wait_for_epoch(holo_pool *pool, uint32_t seen)
{
    if (!thread_spin(pool, &pool->epoch, seen)) hg_os_sleep(&pool->os, &pool->epoch, seen);
}

static void thread_wake(holo_pool *pool)
{
    atomic_fetch_add(&pool->epoch, 1);
    hg_os_wake(&pool->os, &pool->epoch);
}

/* ---- working --------------------------------------------------------------------------------- */

static void thread_take_from(holo_pool *pool, thread_worker *owner, uint32_t worker)
{
    while (atomic_load_explicit(&owner->next, memory_order_relaxed) < owner->end) {
        int64_t task = atomic_fetch_add_explicit(&owner->next, 1, memory_order_relaxed);
        if (task < owner->end) pool->fn(pool->user, task, worker);
    }
}

/* First those of its own part: neighbours in one job as a rule write what neighbours in the next
 * one read, and what a thread wrote lies in its own cache. Then what others have left. */
static void thread_take_tasks(holo_pool *pool, uint32_t worker)
{
    const uint32_t n = pool->n_started;
    for (uint32_t i = 0; i < n; i++)
        thread_take_from(pool, &pool->worker[(worker + i) % n], worker);
}

static void thread_deal(holo_pool *pool, int64_t n_tasks)
{
    const int64_t n = pool->n_started, each = n_tasks / n, more = n_tasks % n;
    for (int64_t i = 0, begin = 0; i < n; i++) {
        thread_worker *w = &pool->worker[i];
        w->end = begin + each + (i < more);
        atomic_store_explicit(&w->next, begin, memory_order_relaxed);
        begin = w->end;
    }
}

/* The caller sleeps on the gate until the last worker has left; in between it may change unseen. */
static void thread_leave(holo_pool *pool)
{
    if (atomic_fetch_sub(&pool->gate, 1) == THREAD_CLOSED + 1) hg_os_wake(&pool->os, &pool->gate);
}

static void thread_main(void *user)
{
    const thread_worker *worker = user;
    holo_pool *pool = worker->pool;
    hg_os_set_self(&pool->os, worker);
    for (uint32_t seen = 0;;) {
        thread_wait_for_epoch(pool, seen);
        seen = atomic_load(&pool->epoch);
        if (atomic_load(&pool->is_stopping)) return;
        if ((atomic_fetch_add(&pool->gate, 1) & THREAD_CLOSED) == 0)
            thread_take_tasks(pool, worker->index);
        thread_leave(pool);
    }
}

/* Closes the gate and waits until nobody is inside. */
static void thread_join_workers(holo_pool *pool)
{
    uint32_t inside = atomic_fetch_or(&pool->gate, THREAD_CLOSED) | THREAD_CLOSED;
    while (inside != THREAD_CLOSED) {
        if (!thread_spin(pool, &pool->gate, inside)) hg_os_sleep(&pool->os, &pool->gate, inside);
        inside = atomic_load(&pool->gate);
    }
}

static void thread_start(holo_pool *pool)
{
    pool->owner = hg_os_process();
    for (; pool->n_started < pool->n_threads; pool->n_started++) {
        thread_worker *worker = &pool->worker[pool->n_started];
        if (!hg_os_start(&worker->thread, thread_main, worker)) break;
    }
    /* What could not be started once is not tried again. */
    pool->n_threads = pool->n_started;
}

#if defined(__wasm__)
void hg_pool_serve(holo_pool *pool, uint32_t index)
{
    if (index > 0 && index < pool->n_threads) hg_os_serve(&pool->worker[index].thread);
}

uint32_t hg_pool_ready(holo_pool *pool)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < pool->n_threads; i++)
        count += hg_os_is_ready(&pool->worker[i].thread);
    return count;
}
#endif

static void thread_run_here(int64_t n_tasks, hg_pool_fn fn, void *user, uint32_t worker)
{
    for (int64_t i = 0; i < n_tasks; i++)
        fn(user, i, worker);
}

void hg_pool_run(holo_pool *pool, int64_t n_tasks, hg_pool_fn fn, void *user)
{
    const thread_worker *self = pool == NULL ? NULL : hg_os_self(&pool->os);
    if (pool == NULL || self != NULL) {
        thread_run_here(n_tasks, fn, user, self == NULL ? 0 : self->index);
        return;
    }
    hg_os_lock(&pool->os);
    hg_os_set_self(&pool->os, &pool->worker[0]);
    if (n_tasks > 1 && pool->n_started < pool->n_threads) thread_start(pool);
    if (n_tasks <= 1 || pool->n_started == 1) {
        thread_run_here(n_tasks, fn, user, 0);
    } else {
        pool->fn = fn;
        pool->user = user;
        thread_deal(pool, n_tasks);
        atomic_fetch_and(&pool->gate, ~(uint32_t)THREAD_CLOSED);
        thread_wake(pool);
        thread_take_tasks(pool, 0);
        thread_join_workers(pool);
    }
    hg_os_set_self(&pool->os, NULL);
    hg_os_unlock(&pool->os);
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
    pool->spin_ns = threads <= hg_os_processors() ? THREAD_SPIN_NS : 0;
    atomic_init(&pool->gate, THREAD_CLOSED);
    atomic_init(&pool->epoch, 0);
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
    if (!hg_os_init(&pool->os)) {
        hg_free(&pool->alloc, pool->base, pool->bytes);
        return hg_fail(error, HOLO_E_LIMIT, "too many pools: the system has no thread key left");
    }
    *out = pool;
    return HOLO_OK;
}

/* In a process that was forked off, the threads are not there. */
static bool thread_is_orphan(const holo_pool *pool)
{
    return pool->n_started > 1 && pool->owner != hg_os_process();
}

void hg_pool_settle(holo_pool *pool)
{
    if (pool == NULL || !thread_is_orphan(pool)) return;
    pool->n_threads = pool->n_started = 1;
    pool->is_orphan = true;
}

void hg_pool_free(holo_pool *pool)
{
    if (pool == NULL) return;
    if (!pool->is_orphan && !thread_is_orphan(pool)) { /* others' locks may be held for ever */
        atomic_store(&pool->is_stopping, 1);
        thread_wake(pool);
        for (uint32_t i = 1; i < pool->n_started; i++)
            hg_os_join(&pool->worker[i].thread);
        hg_os_end(&pool->os);
    }
    const holo_allocator alloc = pool->alloc;
    hg_free(&alloc, pool->base, pool->bytes);
}

uint32_t hg_pool_threads(const holo_pool *pool)
{
    return pool == NULL ? 1 : pool->n_threads;
}

uint32_t hg_pool_swift(const holo_pool *pool)
{
    return pool == NULL || pool->spin_ns == 0 ? 1 : pool->n_threads;
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
