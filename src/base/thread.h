/* thread.h - fork-join pool: the calling thread and a few others work through numbered tasks
 * together.
 *
 * The public holo_pool is this object. Threads start at the first run that has use for them, wait
 * by spinning for some ten microseconds and then sleep. */
#ifndef HG_BASE_THREAD_H
#define HG_BASE_THREAD_H

#include "base/alloc.h"
#include "base/error.h"

enum { HG_POOL_MAX_THREADS = 1024 };

/* Does task number `task`. `worker` is below the number of threads and differs between calls that
 * run at the same time: it picks private scratch memory. */
typedef void (*hg_pool_fn)(void *user, int64_t task, uint32_t worker);

/* A pool of the calling thread and threads - 1 others. Status: E_ARG, E_LIMIT, E_NOMEM. */
HG_MUST_CHECK holo_status hg_pool_new(uint32_t threads, const holo_allocator *allocator,
                                      holo_pool **out, holo_error *error);
/* Waits for its threads to end. NULL is fine. */
void hg_pool_free(holo_pool *pool);
/* 1 for NULL. */
uint32_t hg_pool_threads(const holo_pool *pool);
/* Those that answer within a microsecond: 1 where threads would have to be woken for each run. */
uint32_t hg_pool_swift(const holo_pool *pool);
/* Asked before each run: a process that was forked off goes on without the threads. */
void hg_pool_settle(holo_pool *pool);
/* Calls fn once for every task in [0, n_tasks) and returns when all are done. Thread t begins with
 * the t-th part of them, in order, then helps others with theirs; what tasks wrote is then visible
 * to the caller. NULL pool: the calling thread alone, worker 0. A call from another thread waits; a
 * call from inside a task runs its tasks on that thread alone, under its worker number. Threads
 * that cannot be started are done without. */
void hg_pool_run(holo_pool *pool, int64_t n_tasks, hg_pool_fn fn, void *user);
#if defined(__wasm__)
/* Called by a thread that the page started, after hg_pool_new and before the first run: it is
 * worker `index`, 1 to threads - 1, until the pool is freed. */
void hg_pool_serve(holo_pool *pool, uint32_t index);
/* How many of them wait for the first run. */
uint32_t hg_pool_ready(holo_pool *pool);
#endif

#endif
