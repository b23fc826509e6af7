/* cases.c - a fixed number of random graphs, every operator in some of them. */
#include "random/random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef HG_REDZONE
enum { CASES_SEEDS = 2 }; /* per operator; the sanitizers make each ten times slower */
#else
enum { CASES_SEEDS = 12 };
#endif
enum { CASES_PARTS = 4, CASES_MOST = 24 };

/* The low part chooses the first operator, the rest everything else. */
static uint64_t cases_seed(uint32_t op, uint32_t turn)
{
    return op + rnd_op_count() * (uint64_t)(turn * 7919U + op * 104729U + 1U);
}

/* Some operators are refused by most seeds. */
static bool cases_goes_on(uint32_t turn, bool seen)
{
    return turn < CASES_SEEDS || (!seen && turn < CASES_MOST);
}

/* Every fourth operator. A crash loses the output of the case but for this line. */
static void cases_part(uint32_t part)
{
    const uint32_t n_ops = rnd_op_count();
    uint64_t *seen = calloc(n_ops, sizeof *seen);
    rnd_stats stats = {0};
    for (uint32_t op = part; seen != NULL && op < n_ops; op += CASES_PARTS) {
        for (uint32_t turn = 0; cases_goes_on(turn, seen[op] != 0); turn++) {
            char title[64];
            const uint64_t seed = cases_seed(op, turn);
            snprintf(title, sizeof title, "seed %llu", (unsigned long long)seed);
            if (!rnd_try(rnd_from_seed(seed), seen, &stats, title))
                hg_test_fail(HG_TEST_HERE, "%s: build/release/graph_diff %llu 1", title,
                             (unsigned long long)seed);
        }
        /* Built without a library that the operator needs. */
        const bool lacks = strstr(stats.refused, "of libhologram_ext built with") != NULL;
        if (seen[op] == 0 && !lacks)
            hg_test_fail(HG_TEST_HERE,
                         "no graph has %s:%s (%s): give it a line in test/random/recipes.c",
                         rnd_op(op)->domain == NULL ? "" : rnd_op(op)->domain, rnd_op(op)->name,
                         stats.refused);
    }
    CHECK(stats.graphs > 0);
    free(seen);
}

static void cases_first(void)
{
    cases_part(0);
}

static void cases_second(void)
{
    cases_part(1);
}

static void cases_third(void)
{
    cases_part(2);
}

static void cases_fourth(void)
{
    cases_part(3);
}

const hg_test_case hg_tests_random_cases[] = {
    {"first", cases_first},
    {"second", cases_second},
    {"third", cases_third},
    {"fourth", cases_fourth},
    {0},
};
