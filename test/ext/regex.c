/* regex.c - regex.match: full matches in RE2's meaning, text of any kind, patterns that would take
 * for ever. */
#include "kernel/move.h"

#ifdef HG_WITHOUT_REGEX

static void regex_skipped(void)
{
    SKIP("this build has no PCRE2");
}

#else

extern const hg_kernel hg_kernels_regex[];

static bool regex_matches(const char *pattern, size_t pattern_length, const char *text,
                          size_t length, hg_fault *fault)
{
    move_call c = {0};
    *(holo_string *)move_in(&c, HOLO_STRING, 0, NULL)->data = (holo_string){text, length};
    *(holo_string *)move_in(&c, HOLO_STRING, 1, MOVE_DIMS(1))->data =
        (holo_string){pattern, pattern_length};
    move_out(&c, HOLO_BOOL, 0, NULL);
    move_run(hg_kernels_regex, &c);
    bool result = *(const bool *)c.out[0].data;
    *fault = c.fault;
    move_free(&c);
    return result;
}

/* The text between the quotes, which may hold NUL. */
#define REGEX_IS(pattern, text, expected)                                                          \
    regex_is(__LINE__, pattern, sizeof(pattern) - 1, text, sizeof(text) - 1, expected)

static void regex_is(int line, const char *pattern, size_t pattern_length, const char *text,
                     size_t length, bool expected)
{
    hg_fault fault;
    bool is = regex_matches(pattern, pattern_length, text, length, &fault);
    if (is != expected || fault.kind != HG_FAULT_NONE)
        hg_test_fail(__FILE__, line, "%s on %s: %d, fault %d (%s)", pattern, text, is,
                     (int)fault.kind, fault.what == NULL ? "" : fault.what);
}

static void regex_whole(void)
{
    REGEX_IS("", "", true);
    REGEX_IS("", "a", false);
    REGEX_IS("abc", "abc", true);
    REGEX_IS("abc", "xabc", false);
    REGEX_IS("abc", "abcx", false);
    REGEX_IS("a|ab", "ab", true); /* the first way that matches is not the whole */
    REGEX_IS("a|b", "ab", false);
    REGEX_IS("(a*)(ab)*b*", "aaabb", true);
    REGEX_IS("a*?", "aaa", true);
    REGEX_IS("^a$", "a", true);
    REGEX_IS("^a$", "a\n", false); /* $ is the very end */
    REGEX_IS("\\Aa\\z", "a", true);
    REGEX_IS(".*", "a\nb", false);
    REGEX_IS("(?s).*", "a\nb", true);
    REGEX_IS("a[^b]c", "a\nc", true);
    REGEX_IS("(?m)a$\\n^b", "a\nb", true);
    REGEX_IS("(?m)a\\n^", "a\n", true);
    REGEX_IS("(?:^)*a", "a", true);
    REGEX_IS("^*a$+", "a", true);
    REGEX_IS("a\0b", "a\0b", true);
    REGEX_IS(".{3}", "a\0b", true);
}

static void regex_characters(void)
{
    REGEX_IS("\\d+", "0123", true);
    REGEX_IS("\\d+", "\xd9\xa3", false); /* an Arabic digit: \d is ASCII */
    REGEX_IS("\\s", "\v", false);
    REGEX_IS("[\\s]", "\v", false);
    REGEX_IS("\\S", "\v", true);
    REGEX_IS("[\\S]", "\v", true);
    REGEX_IS("[[:space:]]", "\v", true);
    REGEX_IS("\\v", "\v", true);
    REGEX_IS("\\v", "\n", false);
    REGEX_IS("\\a\\f\\n\\r\\t", "\a\f\n\r\t", true);
    REGEX_IS("\\x41\\x{e9}\\101",
             "A\xc3\xa9"
             "A",
             true);
    REGEX_IS("[[:^alpha:]\\d]", "5", true);
    REGEX_IS("[]-a]", "_", true);
    REGEX_IS("[a-]+", "a-a", true);
    REGEX_IS("[[=]", "[", true);
    REGEX_IS("\\Qa.b*\\E+", "a.b**", true);
    REGEX_IS("a{,2}", "a{,2}", true);
    REGEX_IS("a{2}", "aa", true);
    REGEX_IS("a{2,}", "aaaa", true);
    REGEX_IS("{", "{", true);
    REGEX_IS("#\\_ ]}", "#_ ]}", true);
}

static void regex_unicode(void)
{
    REGEX_IS(".", "\xe2\x82\xac", true); /* one character */
    REGEX_IS("...", "\xe2\x82\xac", false);
    REGEX_IS("(?i)\xc3\x89t\xc3\xa9", "\xc3\xa9T\xc3\x89", true);
    REGEX_IS("\\p{Greek}+", "\xce\xb1\xce\xb2", true);
    REGEX_IS("\\p{Greek}", "a", false);
    REGEX_IS("\\PL\\pL\\p{^Lu}", "1aa", true);
    REGEX_IS("[\\p{Lu}\\d]+", "A1\xc3\x89", true);
    REGEX_IS("[\xc3\xa0-\xc3\xa9]", "\xc3\xa5", true);
    REGEX_IS(".*", "\xff", false); /* no UTF-8 matches nothing */
    REGEX_IS(".*", "a\xed\xa0\x80", false);
}

/* What would take 2^30 steps and more. */
static void regex_slow(void)
{
    static char text[500];
    hg_fault fault;
    memset(text, 'a', sizeof text);
    REGEX_IS("(a+)+b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false);
    REGEX_IS("(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false);
    REGEX_IS("(a*)*b|a*", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true);
    REGEX_IS("(x+x+)+y", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
             false);
    CHECK(!regex_matches("(a+)+b", 6, text, sizeof text, &fault));
    CHECK_EQ_INT(fault.kind, HG_FAULT_NONE);
    CHECK(regex_matches("(a+)+", 5, text, sizeof text, &fault));
    CHECK_EQ_INT(fault.kind, HG_FAULT_NONE);
}

/* Too long to follow all ways in: an error, in bounded time. */
static void regex_gives_up(void)
{
    const size_t length = 100000;
    char *text = malloc(length);
    hg_fault fault;
    memset(text, 'a', length);
    CHECK(!regex_matches("(a+)+b", 6, text, length, &fault));
    CHECK_EQ_INT(fault.kind, HG_FAULT_VALUE);
    CHECK_HAS(fault.what, "takes too long");
    free(text);
}

static void regex_bad_pattern(void)
{
    hg_fault fault;
    char pattern[8193];
    regex_matches("(a)\\1", 5, "aa", 2, &fault);
    CHECK_HAS(fault.what, "not RE2's syntax");
    CHECK_EQ_INT(fault.value, 4);
    regex_matches("\\p{Nowhere}", 11, "aa", 2, &fault);
    CHECK_HAS(fault.what, "PCRE2 refuses");
    memset(pattern, '.', sizeof pattern);
    regex_matches(pattern, sizeof pattern, "aa", 2, &fault);
    CHECK_EQ_INT(fault.kind, HG_FAULT_NONE);
    memset(pattern, '-', sizeof pattern);
    regex_matches(pattern, sizeof pattern, "aa", 2, &fault);
    CHECK_EQ_INT(fault.kind, HG_FAULT_NONE);
}

static void regex_make_good(move_call *c)
{
    static const holo_string text[2] = {{"ab", 2}, {"", 0}};
    memcpy(move_in(c, HOLO_STRING, 1, MOVE_DIMS(2))->data, text, sizeof text);
    memcpy(move_in(c, HOLO_STRING, 1, MOVE_DIMS(1))->data, text, sizeof text[0]);
    move_out(c, HOLO_BOOL, 1, MOVE_DIMS(2));
}

static void regex_checks(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},       {MOVE_IN_TYPE, 0, 0, HOLO_I8, "int8"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I8, "int8"},  {MOVE_IN_DIM, 1, 0, 0, "0 patterns, expected 1"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I8, "int8"}, {MOVE_OUT_DIM, 0, 0, 3, "the output"},
    };
    move_refuses(hg_kernels_regex, regex_make_good, bad, HG_COUNT(bad));
    move_call c = {0};
    regex_make_good(&c);
    if (move_run(hg_kernels_regex, &c)) CHECK_MEM(c.out[0].data, "\1\0", 2);
    move_free(&c);
}

#endif

const hg_test_case hg_tests_ext_regex[] = {
#ifdef HG_WITHOUT_REGEX
    {"skipped", regex_skipped},
#else
    {"whole", regex_whole},
    {"characters", regex_characters},
    {"unicode", regex_unicode},
    {"slow", regex_slow},
    {"gives_up", regex_gives_up},
    {"bad_pattern", regex_bad_pattern},
    {"checks", regex_checks},
#endif
    {0},
};
