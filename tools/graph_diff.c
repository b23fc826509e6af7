/* graph_diff.c - random graphs by seed, for as long as one likes:
 *
 *     graph_diff [FIRST [COUNT]]
 *
 * Seeds FIRST, FIRST + 1, ... (COUNT 0: without end), each in a process of its own, so that a crash
 * is one more failure. Ends with how many operators were in a graph, and which were not. */
#include "random/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRAPH_DIFF_BATCH = 50, GRAPH_DIFF_SECONDS = 120 };

/* What the processes count together. */
typedef struct graph_diff {
    rnd_stats stats;
    uint64_t failures, first, next;
    uint64_t seen[];
} graph_diff;

static void graph_diff_seeds(graph_diff *shared, uint64_t end)
{
    for (uint64_t seed = shared->next; seed < end; seed++) {
        char title[64];
        snprintf(title, sizeof title, "seed %" PRIu64, seed);
        shared->next = seed;
        alarm(GRAPH_DIFF_SECONDS);
        if (!rnd_try(rnd_from_seed(seed), shared->seen, &shared->stats, title)) shared->failures++;
        fflush(stdout);
    }
    shared->next = end;
}

static void graph_diff_batch(graph_diff *shared, uint64_t end)
{
    while (shared->next < end) {
        int status = 0;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            graph_diff_seeds(shared, end);
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid) exit(EXIT_FAILURE);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        printf("seed %" PRIu64 ": crashed with status %d\n", shared->next++, status);
        shared->failures++;
    }
}

static void graph_diff_report(const graph_diff *shared)
{
    const rnd_stats *s = &shared->stats;
    uint32_t n_ops = rnd_op_count(), n_seen = 0;
    for (uint32_t i = 0; i < n_ops; i++)
        n_seen += shared->seen[i] != 0;
    printf("%" PRIu64 " graphs of %" PRIu64 " nodes, %" PRIu64 " programs (%" PRIu64
           " declined), %" PRIu64 " runs, %" PRIu64 " outputs too sensitive to compare; %u of %u "
           "operators",
           s->graphs, s->nodes, s->programs, s->declined, s->runs, s->not_compared, n_seen, n_ops);
    for (uint32_t i = 0, n = 0; i < n_ops && n_ops - n_seen < 30; i++)
        if (shared->seen[i] == 0) printf("%s%s", n++ == 0 ? ", not " : " ", rnd_op(i)->name);
    printf("\n%" PRIu64 " passed, %" PRIu64 " failed\n",
           shared->next - shared->first - shared->failures, shared->failures);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const size_t bytes = sizeof(graph_diff) + rnd_op_count() * sizeof(uint64_t);
    graph_diff *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return EXIT_FAILURE;
    shared->first = shared->next = first;
    for (uint64_t turn = 0; count == 0 || shared->next < first + count; turn++) {
        uint64_t end = shared->next + GRAPH_DIFF_BATCH;
        if (count != 0 && end > first + count) end = first + count;
        graph_diff_batch(shared, end);
        if (turn % 200 == 199) graph_diff_report(shared);
    }
    graph_diff_report(shared);
    return shared->failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
