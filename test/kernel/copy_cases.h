/* copy_cases.h - calls of kernels that move elements with strides. */
#ifndef HG_TEST_KERNEL_COPY_CASES_H
#define HG_TEST_KERNEL_COPY_CASES_H

#include "kernel/move.h"

typedef struct copy_case {
    const char *name;
    int64_t size, offset; /* of the input */
    int loops;
    int64_t extent[8], stride[8];
} copy_case;

static const copy_case copy_table[] = {
    {"one element", 5, 3, 0, {0}, {0}},
    {"a row", 100, 7, 1, {90}, {1}},
    {"rows of a slice", 1000, 33, 3, {4, 5, 6}, {200, 20, 1}},
    {"neighbours that join", 6000, 0, 3, {10, 20, 30}, {600, 30, 1}},
    {"every third, backwards", 100, 98, 1, {33}, {-3}},
    {"rows backwards", 60, 50, 2, {6, 10}, {-10, 1}},
    {"repeat one", 10, 4, 1, {50}, {0}},
    {"repeat rows", 12, 0, 3, {3, 4, 3}, {0, 3, 1}},
    {"repeat elements", 12, 0, 2, {12, 5}, {1, 0}},
    {"transpose", 77 * 35, 0, 2, {35, 77}, {1, 35}},
    {"transpose large", 300 * 270, 0, 2, {270, 300}, {1, 270}},
    {"transpose batches", 3 * 20 * 17, 0, 3, {3, 17, 20}, {340, 1, 17}},
    {"transpose around a middle", 7 * 5 * 19, 0, 3, {19, 5, 7}, {1, 19, 95}},
    {"channels last, three of them", 40 * 3, 0, 2, {3, 40}, {1, 3}},
    {"channels first, three of them", 40 * 3, 0, 2, {40, 3}, {1, 40}},
    {"pixels to planes", 2 * 700 * 3, 0, 3, {2, 3, 700}, {2100, 1, 3}},
    {"pixels to planes, in several units", 9000 * 3, 0, 2, {3, 9000}, {1, 3}},
    {"planes to pixels", 2 * 700 * 3, 0, 3, {2, 700, 3}, {2100, 1, 700}},
    {"planes to pixels, in several units", 9000 * 3, 0, 2, {9000, 3}, {1, 9000}},
    {"two planes to pixels", 101 * 2, 0, 2, {101, 2}, {1, 101}},
    {"four planes to pixels, of two pictures", 2 * 33 * 4, 0, 3, {2, 33, 4}, {132, 1, 33}},
    {"planes to nine pixels", 9 * 3, 0, 2, {9, 3}, {1, 9}},
    {"planes backwards to pixels", 50 * 3, 100, 2, {50, 3}, {1, -50}},
    {"planes to pixels that do not follow each other", 80 * 3, 0, 3, {40, 2, 3}, {1, 40, 80}},
    {"planes to pixels, part of four", 100 * 4, 0, 2, {100, 3}, {1, 100}},
    {"part of pixels of four", 100 * 4, 0, 2, {3, 100}, {1, 4}},
    {"few columns", 5 * 4000, 0, 2, {4000, 5}, {1, 4000}},
    {"few rows", 5 * 4000, 0, 2, {5, 4000}, {1, 5}},
    {"eight by nine", 8 * 9, 0, 2, {9, 8}, {1, 9}},
    {"nine by eight", 8 * 9, 0, 2, {8, 9}, {1, 8}},
    {"seven by forty", 7 * 40, 0, 2, {40, 7}, {1, 40}},
    {"fifteen of seventeen columns", 17 * 30, 17, 2, {15, 29}, {1, 17}},
    {"columns backwards", 33 * 40, 33 * 39, 2, {33, 40}, {1, -33}},
    {"columns backwards, part", 33 * 40, 33 * 39 + 2, 2, {30, 25}, {1, -33}},
    {"one row left of a tile", 65 * 300, 0, 2, {65, 300}, {1, 65}},
    {"two rows left of a tile", 66 * 300, 0, 2, {66, 300}, {1, 66}},
    {"three rows left of a tile", 67 * 300, 0, 2, {67, 300}, {1, 67}},
    {"three rows of four, backwards", 4 * 50, 4 * 49, 2, {3, 50}, {1, -4}},
    {"three rows that overlap", 2 * 50 + 1, 0, 2, {3, 50}, {1, 2}},
    {"seven rows", 7 * 50, 0, 2, {7, 50}, {1, 7}},
    {"sixteen columns", 16 * 2000, 0, 2, {2000, 16}, {1, 2000}},
    {"heads", 2 * 9 * 4 * 8, 0, 4, {2, 4, 9, 8}, {288, 8, 32, 1}},
    {"blocks to space", 2 * 2 * 3 * 4 * 5, 0, 5, {3, 4, 2, 5, 2}, {20, 5, 120, 1, 60}},
    {"long rows in several units", 50000, 1, 2, {2, 20000}, {25000, 1}},
    {"nothing", 10, 0, 2, {3, 0}, {1, 1}},
    {"nothing from nowhere", 0, 99, 1, {0}, {7}},
};

/* Where element i of the output comes from. */
static inline int64_t copy_from(const copy_case *t, int64_t i)
{
    int64_t from = t->offset;
    for (int k = t->loops - 1; k >= 0; k--) {
        from += i % t->extent[k] * t->stride[k];
        i /= t->extent[k];
    }
    return from;
}

#endif
