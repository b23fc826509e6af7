/* cut.c - parts of a number: nothing left out, nothing twice, of nearly the same size. */
#include "base/base.h"
#include "test.h"

static void cut_check(int64_t total, int64_t most, int64_t step)
{
    const hg_cut c = hg_cut_of(total, most, step);
    int64_t least = total, largest = 0;
    CHECK(c.count >= 1 && c.count <= hg_ceil_div(total, most));
    CHECK_EQ_INT(hg_cut_at(&c, 0), 0);
    CHECK_EQ_INT(hg_cut_at(&c, c.count), total);
    for (int64_t i = 0; i < c.count; i++) {
        const int64_t begin = hg_cut_at(&c, i), size = hg_cut_at(&c, i + 1) - begin;
        CHECK(size > 0);
        CHECK_EQ_INT(begin % step, 0);
        largest = hg_max(largest, size);
        if (i + 1 < c.count) least = hg_min(least, size);
    }
    CHECK(largest <= c.size && c.size <= hg_ceil_div(most, step) * step);
    CHECK(c.count == 1 || largest - least <= step);
}

static void cut_covers_all(void)
{
    for (int64_t total = 1; total <= 300; total++)
        for (int64_t most = 1; most <= 100; most += 7)
            for (int64_t step = 1; step <= 24; step += 3)
                cut_check(total, most, step);
}

static void cut_into_a_number_of_parts(void)
{
    const hg_cut even = hg_cut_into(196, 2, 8);
    CHECK_EQ_INT(hg_cut_at(&even, 1), 96);
    CHECK_EQ_INT(even.size, 104);
    CHECK_EQ_INT(hg_cut_into(20, 9, 8).count, 3);
    CHECK_EQ_INT(hg_cut_into(20, 1, 8).size, 20);
}

static void cut_of_large_numbers(void)
{
    const int64_t total = (INT64_C(1) << 36) + 1;
    const hg_cut c = hg_cut_of(total, 96, 8);
    CHECK_EQ_INT(hg_cut_at(&c, c.count), total);
    CHECK(hg_cut_at(&c, c.count - 1) < total && hg_cut_at(&c, c.count - 1) + c.size >= total);
}

const hg_test_case hg_tests_base_cut[] = {
    {"covers_all", cut_covers_all},
    {"into_a_number_of_parts", cut_into_a_number_of_parts},
    {"of_large_numbers", cut_of_large_numbers},
    {0},
};
