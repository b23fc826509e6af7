/* thread_wasm.c - threads of WebAssembly: workers that the page started on the same memory. Each
 * calls hg_os_serve and waits there until a pool takes it. Without shared memory there are none,
 * and a pool works alone. */
#include "base/clock.h"
#include "base/thread_os.h"

enum { THREAD_ABSENT, THREAD_READY, THREAD_STARTED, THREAD_ENDED };

/* A global of the module, not a place in memory: each thread has an instance, and so one, of its
 * own. */
static __attribute__((address_space(1))) uintptr_t thread_mark;

bool hg_os_init(hg_os *os)
{
    (void)os;
    return true;
}

void hg_os_end(hg_os *os)
{
    (void)os;
}

/* Only one thread calls the library. */
void hg_os_lock(hg_os *os)
{
    (void)os;
}

void hg_os_unlock(hg_os *os)
{
    (void)os;
}

void hg_os_set_self(hg_os *os, const void *mark)
{
    (void)os;
    thread_mark = (uintptr_t)mark;
}

const void *hg_os_self(hg_os *os)
{
    (void)os;
    return (const void *)thread_mark;
}

static void thread_sleep(_Atomic uint32_t *word, uint32_t same)
{
    while (atomic_load(word) == same)
        (void)__builtin_wasm_memory_atomic_wait32((int *)(void *)word, (int)same, -1);
}

static void thread_wake(_Atomic uint32_t *word)
{
    (void)__builtin_wasm_memory_atomic_notify((int *)(void *)word, UINT32_MAX);
}

void hg_os_serve(hg_os_thread *thread)
{
    atomic_store(&thread->state, THREAD_READY);
    thread_sleep(&thread->state, THREAD_READY);
    thread->main(thread->user);
    atomic_store(&thread->state, THREAD_ENDED);
    thread_wake(&thread->state);
}

bool hg_os_is_ready(hg_os_thread *thread)
{
    return atomic_load(&thread->state) == THREAD_READY;
}

bool hg_os_start(hg_os_thread *thread, hg_os_main main, void *user)
{
    if (!hg_os_is_ready(thread)) return false;
    thread->main = main;
    thread->user = user;
    atomic_store(&thread->state, THREAD_STARTED);
    thread_wake(&thread->state);
    return true;
}

void hg_os_join(hg_os_thread *thread)
{
    thread_sleep(&thread->state, THREAD_STARTED);
}

void hg_os_sleep(hg_os *os, _Atomic uint32_t *word, uint32_t same)
{
    (void)os;
    thread_sleep(word, same);
}

void hg_os_wake(hg_os *os, _Atomic uint32_t *word)
{
    (void)os;
    thread_wake(word);
}

int64_t hg_os_now(void)
{
    return (int64_t)(hg_clock_seconds() * 1e9);
}

/* The page knows how many there are and asks for no more threads. */
uint32_t hg_os_processors(void)
{
    return UINT32_MAX;
}

int64_t hg_os_process(void)
{
    return 0;
}
