/* thread_posix.c - threads of POSIX: a mutex and a condition stand for sleeping on a word. */
#include "base/thread_os.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

bool hg_os_init(hg_os *os)
{
    if (pthread_key_create(&os->self, NULL) != 0) return false;
    pthread_mutex_init(&os->run_lock, NULL);
    pthread_mutex_init(&os->sleep_lock, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_cond_init(&os->changed[i], NULL);
        atomic_init(&os->sleeping[i], 0);
    }
    return true;
}

void hg_os_end(hg_os *os)
{
    for (int i = 0; i < 2; i++)
        pthread_cond_destroy(&os->changed[i]);
    pthread_mutex_destroy(&os->sleep_lock);
    pthread_mutex_destroy(&os->run_lock);
    pthread_key_delete(os->self);
}

void hg_os_lock(hg_os *os)
{
    pthread_mutex_lock(&os->run_lock);
}

void hg_os_unlock(hg_os *os)
{
    pthread_mutex_unlock(&os->run_lock);
}

void hg_os_set_self(hg_os *os, const void *mark)
{
    pthread_setspecific(os->self, mark);
}

const void *hg_os_self(hg_os *os)
{
    return pthread_getspecific(os->self);
}

static void *thread_enter(void *user)
{
    const hg_os_thread *thread = user;
    thread->main(thread->user);
    return NULL;
}

/* Signals are for the program's own threads. */
bool hg_os_start(hg_os_thread *thread, hg_os_main main, void *user)
{
    sigset_t all, before;
    thread->main = main;
    thread->user = user;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread->thread, NULL, thread_enter, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

void hg_os_join(hg_os_thread *thread)
{
    pthread_join(thread->thread, NULL);
}

/* Words lie on lines of their own. */
static int thread_pick(const _Atomic uint32_t *word)
{
    return (int)((uintptr_t)word / HG_ALIGN % 2);
}

/* Sequentially consistent, as the waker's change of the word and its look at `sleeping` are: one
 * sees the other. */
void hg_os_sleep(hg_os *os, _Atomic uint32_t *word, uint32_t same)
{
    const int i = thread_pick(word);
    pthread_mutex_lock(&os->sleep_lock);
    atomic_fetch_add(&os->sleeping[i], 1);
    while (atomic_load(word) == same)
        pthread_cond_wait(&os->changed[i], &os->sleep_lock);
    atomic_fetch_sub(&os->sleeping[i], 1);
    pthread_mutex_unlock(&os->sleep_lock);
}

void hg_os_wake(hg_os *os, _Atomic uint32_t *word)
{
    const int i = thread_pick(word);
    if (atomic_load(&os->sleeping[i]) == 0) return;
    pthread_mutex_lock(&os->sleep_lock);
    pthread_cond_broadcast(&os->changed[i]);
    pthread_mutex_unlock(&os->sleep_lock);
}

int64_t hg_os_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t hg_os_process(void)
{
    return (int64_t)getpid();
}

uint32_t hg_os_processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}
