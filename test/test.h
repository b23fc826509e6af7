/* test.h - the test runner: a test file defines a table of cases, and that is its registration.
 *
 *     static void arena_grows(void) { CHECK_EQ_INT(hg_align(3, 4), 4); }
 *
 *     const hg_test_case hg_tests_base_arena[] = {
 *         {"grows", arena_grows},
 *         {0},
 *     };
 *
 * The table is named after the path, test/base/arena.c. Every case runs in a process of its own
 * with a time limit. A failed CHECK prints file, line and values and fails the case, which goes on;
 * each CHECK is also an expression, so `if (!CHECK(p != NULL)) return;` stops where going on makes
 * no sense. */
#ifndef HG_TEST_TEST_H
#define HG_TEST_TEST_H

#include "hologram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hg_test_case {
    const char *name;
    void (*run)(void);
} hg_test_case;

#define HG_TEST_HERE __FILE__, __LINE__

/* True when the condition holds. */
#define CHECK(condition) hg_test_true(HG_TEST_HERE, #condition, (condition) ? true : false)

/* Integers of any type up to 64 bits; enumerators and bools too. */
#define CHECK_EQ_INT(actual, expected)                                                             \
    hg_test_int(HG_TEST_HERE, #actual, (int64_t)(actual), (int64_t)(expected))

/* Texts; NULL equals only NULL. */
#define CHECK_STR(actual, expected) hg_test_str(HG_TEST_HERE, #actual, actual, expected)

/* `part` occurs in `text`: for sentences of errors. */
#define CHECK_HAS(text, part) hg_test_has(HG_TEST_HERE, #text, text, part)

/* The first `size` bytes are the same. */
#define CHECK_MEM(actual, expected, size) hg_test_mem(HG_TEST_HERE, #actual, actual, expected, size)

/* |actual - expected| <= absolute; NaN equals NaN, an infinity equals itself. */
#define CHECK_NEAR(actual, expected, absolute)                                                     \
    hg_test_near(HG_TEST_HERE, #actual, (double)(actual), (double)(expected), (double)(absolute))

/* At most `ulp` representable values apart; NaN equals NaN. For float, and for double with 64. */
#define CHECK_ULP(actual, expected, ulp) hg_test_ulp32(HG_TEST_HERE, #actual, actual, expected, ulp)
#define CHECK_ULP64(actual, expected, ulp)                                                         \
    hg_test_ulp64(HG_TEST_HERE, #actual, actual, expected, ulp)

/* A status, for instance CHECK_STATUS(hg_read(...), HOLO_E_FORMAT). */
#define CHECK_STATUS(actual, expected) hg_test_status(HG_TEST_HERE, #actual, actual, expected, NULL)

/* HOLO_OK; on failure the sentence in `error` (const holo_error *) is printed. */
#define CHECK_OK(actual, error) hg_test_status(HG_TEST_HERE, #actual, actual, HOLO_OK, error)

/* Leaves the function and counts the case as skipped, for instance when the CPU lacks an
 * instruction. */
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        hg_test_skip(HG_TEST_HERE, reason);                                                        \
        return;                                                                                    \
    } while (0)

/* A path for a file named `name` in a folder of this case alone, removed after the run. The text is
 * valid until the second next call. */
const char *hg_test_temp(const char *name);

/* Fails the case with a sentence. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void hg_test_fail(const char *file, int line, const char *format, ...);

void hg_test_skip(const char *file, int line, const char *reason);
bool hg_test_true(const char *file, int line, const char *text, bool condition);
bool hg_test_int(const char *file, int line, const char *text, int64_t actual, int64_t expected);
bool hg_test_str(const char *file, int line, const char *text, const char *actual,
                 const char *expected);
bool hg_test_has(const char *file, int line, const char *text, const char *actual,
                 const char *part);
bool hg_test_mem(const char *file, int line, const char *text, const void *actual,
                 const void *expected, size_t size);
bool hg_test_near(const char *file, int line, const char *text, double actual, double expected,
                  double absolute);
bool hg_test_ulp32(const char *file, int line, const char *text, float actual, float expected,
                   int64_t ulp);
bool hg_test_ulp64(const char *file, int line, const char *text, double actual, double expected,
                   int64_t ulp);
bool hg_test_status(const char *file, int line, const char *text, holo_status actual,
                    holo_status expected, const holo_error *error);

#endif
