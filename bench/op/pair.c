/* pair.c - how near two processors are to each other: the time of a word there and back, and how
 * fast one reads what the other has just written. In a virtual machine both change when it is moved
 * to other processors, and times with two threads change with them: run it beside what you measure.
 */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { PAIR_WORDS = 20000, PAIR_ROUNDS = 64, PAIR_BYTES = 256 << 10, PAIR_PIECE = 4096 };

static _Alignas(64) atomic_int pair_turn; /* odd: the other thread's */
static char *pair_block;

static void pair_stay_on(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0) return;
    fprintf(stderr, "pair: processor %d is not there, expected two that this process may use\n",
            processor);
    exit(1);
}

static void pair_wait(int turn)
{
    while (atomic_load_explicit(&pair_turn, memory_order_acquire) != turn) {}
}

static void pair_pass(int turn)
{
    atomic_store_explicit(&pair_turn, turn, memory_order_release);
}

static void *pair_other(void *user)
{
    char piece[PAIR_PIECE];
    volatile char seen;
    pair_stay_on(1);
    for (int i = 0; i < PAIR_WORDS + PAIR_ROUNDS; i++) {
        pair_wait(2 * i + 1);
        for (int at = 0; i >= PAIR_WORDS && at < PAIR_BYTES; at += PAIR_PIECE) {
            memcpy(piece, pair_block + at, sizeof piece);
            seen = piece[at / PAIR_PIECE];
        }
        pair_pass(2 * i + 2);
    }
    (void)seen;
    return user;
}

int main(void)
{
    pthread_t other;
    double best = 1e9;
    pair_block = bench_alloc(PAIR_BYTES);
    pair_stay_on(0);
    if (pthread_create(&other, NULL, pair_other, NULL) != 0) return 1;
    const double begin = bench_now();
    for (int i = 0; i < PAIR_WORDS; i++) {
        pair_pass(2 * i + 1);
        pair_wait(2 * i + 2);
    }
    const double words = bench_now() - begin;
    for (int i = PAIR_WORDS; i < PAIR_WORDS + PAIR_ROUNDS; i++) {
        memset(pair_block, i, PAIR_BYTES);
        const double start = bench_now();
        pair_pass(2 * i + 1);
        pair_wait(2 * i + 2);
        const double took = bench_now() - start;
        best = took < best ? took : best;
    }
    pthread_join(other, NULL);
    printf("a word there and back  %.0f ns\n", words / PAIR_WORDS * 1e9);
    printf("%d kB from the other  %.1f us, %.1f GB/s\n", PAIR_BYTES >> 10, best * 1e6,
           PAIR_BYTES / best / 1e9);
    free(pair_block);
    return 0;
}
