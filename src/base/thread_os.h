/* thread_os.h - what the pool asks of the system: threads, a lock, a mark on the current thread,
 * and sleeping on a word until somebody who changed it wakes the sleepers. Defined by
 * thread_posix.c and its likes. */
#ifndef HG_BASE_THREAD_OS_H
#define HG_BASE_THREAD_OS_H

#include "base/base.h"

#include <stdatomic.h>

typedef void (*hg_os_main)(void *user);

#if defined(__wasm__)
typedef struct hg_os_thread {
    hg_os_main main;
    void *user;
    _Atomic uint32_t state;
} hg_os_thread;
typedef struct hg_os {
    char none;
} hg_os;
/* A thread that the page started offers itself as `thread`; returns when the pool has ended. */
void hg_os_serve(hg_os_thread *thread);
bool hg_os_is_ready(hg_os_thread *thread);
#else
#include <pthread.h>
typedef struct hg_os_thread {
    hg_os_main main;
    void *user;
    pthread_t thread;
} hg_os_thread;
typedef struct hg_os {
    pthread_mutex_t run_lock, sleep_lock;
    pthread_cond_t changed[2];    /* of neighbouring words, so that only those concerned wake up */
    _Atomic uint32_t sleeping[2]; /* threads asleep or about to be */
    pthread_key_t self;
} hg_os;
#endif

/* False when the system has no thread key left. */
bool hg_os_init(hg_os *os);
void hg_os_end(hg_os *os);
/* One run at a time. */
void hg_os_lock(hg_os *os);
void hg_os_unlock(hg_os *os);
/* A mark on the current thread; NULL when it has none. */
void hg_os_set_self(hg_os *os, const void *mark);
const void *hg_os_self(hg_os *os);
/* Calls main(user) on a new thread; false when there is none to be had. */
bool hg_os_start(hg_os_thread *thread, hg_os_main main, void *user);
void hg_os_join(hg_os_thread *thread);
/* Sleeps while *word is `same`. */
void hg_os_sleep(hg_os *os, _Atomic uint32_t *word, uint32_t same);
/* Wakes whoever sleeps on the word, which the caller has changed before. */
void hg_os_wake(hg_os *os, _Atomic uint32_t *word);
/* Nanoseconds since some fixed moment. */
int64_t hg_os_now(void);
uint32_t hg_os_processors(void);
/* Number of this process: another one in a child that was forked off. */
int64_t hg_os_process(void);

/* Inside a loop that waits for another processor. */
static inline void hg_os_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
