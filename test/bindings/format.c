/* format.c - snprintf of the WebAssembly modules (bindings/js/src/format.c) against the C
 * library's: every conversion that the library uses, with widths, precisions, and numbers of all
 * magnitudes. */
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The file under test defines these names. */
int format_test_vsnprintf(char *text, size_t size, const char *format, va_list args);
int format_test_snprintf(char *text, size_t size, const char *format, ...);
#undef snprintf
#undef vsnprintf
#define snprintf format_test_snprintf
#define vsnprintf format_test_vsnprintf
#include "bindings/js/src/format.c"
#undef snprintf
#undef vsnprintf

enum { FORMAT_TEST_SIZE = 1200, FORMAT_TEST_ROUNDS = 4000 };

/* Both texts and both lengths, for a buffer of `size` bytes. */
#define FORMAT_SAME(size, format, ...)                                                             \
    do {                                                                                           \
        char ours[FORMAT_TEST_SIZE] = "", theirs[FORMAT_TEST_SIZE] = "";                           \
        const int n = format_test_snprintf(ours, (size), format, __VA_ARGS__);                     \
        const int expected = snprintf(theirs, (size), format, __VA_ARGS__);                        \
        CHECK_EQ_INT(n, expected);                                                                 \
        CHECK_STR(ours, theirs);                                                                   \
    } while (0)

#define FORMAT_BOTH(format, ...) FORMAT_SAME((size_t)FORMAT_TEST_SIZE, format, __VA_ARGS__)

static uint64_t format_test_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void format_test_double(double x, int precision)
{
    FORMAT_BOTH("%g", x);
    FORMAT_BOTH("%e", x);
    FORMAT_BOTH("%.17g|%.9g|%.0e", x, x, x);
    FORMAT_BOTH("%*.*g|%-*.*e", 30, precision, x, 28, precision, x);
    FORMAT_BOTH("%024.*e|%012g", precision, x, x);
}

/* Every pattern of bits is as likely as another: subnormals, infinities and NaNs of one sign too.
 */
static void format_of_random_doubles(void)
{
    uint64_t state = 1;
    for (int i = 0; i < FORMAT_TEST_ROUNDS; i++) {
        const uint64_t bits = format_test_next(&state);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (x == x) format_test_double(x, (int)(format_test_next(&state) % 40));
    }
}

/* Near 1 and with few digits, where rounding ties and the choice of %g between its forms lie. */
static void format_of_short_decimals(void)
{
    uint64_t state = 2;
    for (int i = 0; i < FORMAT_TEST_ROUNDS; i++) {
        const double digits = (double)(int64_t)(format_test_next(&state) % 20001) - 10000;
        const int scale = (int)(format_test_next(&state) % 21) - 10;
        format_test_double(digits * pow(10, scale), (int)(format_test_next(&state) % 8));
        format_test_double(ldexp(digits, scale), (int)(format_test_next(&state) % 8));
    }
}

static void format_of_special_doubles(void)
{
    const double list[] = {0.0,       -0.0,        1,           -1,       9.5,      0.5,
                           1.5,       2.5,         9.99999,     999999.5, 1e5,      1e6,
                           0.0001,    0.00001,     1e22,        1e23,     DBL_MAX,  DBL_MIN,
                           0x1p-1074, 0x1.8p-1074, DBL_EPSILON, HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int precision = 0; precision < 25; precision++)
            format_test_double(list[i], precision);
    FORMAT_BOTH("%.800e", 0x1.fffffffffffffp-1022); /* all of its 767 digits, then zeros */
    FORMAT_BOTH("%.766g", 0x1p-1074);
}

static void format_of_integers(void)
{
    uint64_t state = 3;
    for (int i = 0; i < FORMAT_TEST_ROUNDS; i++) {
        const uint64_t x = format_test_next(&state) >> format_test_next(&state) % 64;
        const int width = (int)(format_test_next(&state) % 26);
        FORMAT_BOTH("%lld|%llu|%llx", (long long)x, (unsigned long long)x, (unsigned long long)x);
        FORMAT_BOTH("%d|%u|%x|%i", (int)x, (unsigned)x, (unsigned)x, -(int)(x & INT32_MAX));
        FORMAT_BOTH("%*lld|%-*d|%0*x", width, -(long long)(x >> 1), width, (int)x, width,
                    (unsigned)x);
    }
    FORMAT_BOTH("%lld %lld %d %d", (long long)INT64_MIN, (long long)INT64_MAX, INT32_MIN,
                INT32_MAX);
    FORMAT_BOTH("%016llx|%08x|%02x|%5u", 0xabcdefULL, 0x12u, 7u, 123456u);
}

static void format_of_texts(void)
{
    FORMAT_BOTH("%s and %c%%", "a name", 'x');
    FORMAT_BOTH("%10s|%-10s|%.3s|%-8.2s|%*.*s", "right", "left", "cutoff", "both", 7, 4, "stars");
    FORMAT_BOTH("%.*s", 2, "ab"); /* no zero is read behind the two */
    FORMAT_BOTH("%s%s", "", "empty before");
    FORMAT_BOTH("%3c|%-3c|", 'r', 'l');
}

/* What does not fit is counted, and nothing is written behind the end. */
static void format_into_small_buffers(void)
{
    for (size_t size = 1; size < 40; size++) {
        FORMAT_SAME(size, "%s = %lld (%g)", "value", (long long)-123456789, 0.125);
        char text[64];
        memset(text, '#', sizeof text);
        (void)format_test_snprintf(text, size, "%s", "0123456789012345678901234567890123456789");
        CHECK_EQ_INT(text[size - 1], 0);
        CHECK_EQ_INT(text[size], '#');
    }
    CHECK_EQ_INT(format_test_snprintf(NULL, 0, "%d", 12345), 5);
}

const hg_test_case hg_tests_bindings_format[] = {
    {"random doubles", format_of_random_doubles},
    {"short decimals", format_of_short_decimals},
    {"special doubles", format_of_special_doubles},
    {"integers", format_of_integers},
    {"texts", format_of_texts},
    {"small buffers", format_into_small_buffers},
    {0},
};
