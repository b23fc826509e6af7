/* regex_syntax.c - patterns in RE2's syntax: what they become for PCRE2, and what is refused. */
#include "kernel/regex_syntax.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

static void regex_syntax_writes(void)
{
    static const struct {
        const char *pattern, *expected;
    } table[] = {
        {"", ""},
        {"a|b*c+d?", "a|b*c+d?"},
        {"a*?b{2,3}?", "a*?b{2,3}?"},
        {"(a)(?:b)(?P<n>c)(?<m>d)", "(?:a)(?:b)(?:c)(?:d)"},
        {"(?i)a(?s-m:b)(?U)c", "(?i)a(?s-m:b)(?U)c"},
        {"^.$", "(?:^).(?:$)"},
        {"\\s", "[\\x{09}\\x{0a}\\x{0c}\\x{0d}\\x{20}]"},
        {"[^\\d\\w]", "[^0-90-9A-Za-z_]"},
        {"\\p{Greek}\\PN\\p{^Lu}\\P{^Any}", "\\p{sc:Greek}\\P{N}\\P{Lu}\\p{Any}"},
        {"[[:alpha:][:^digit:]x-z]", "[[:alpha:][:^digit:]x-z]"},
        {"\\.\\-", "\\x{2e}\\x{2d}"},
        {"x{,3}", "x\\x{7b}\\x{2c}3\\x{7d}"},
        {"\\Q(*\\Ea", "\\x{28}\\x{2a}a"},
        {"\xc3\xa9+", "\xc3\xa9+"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char out[256] = {0};
        hg_regex_flaw flaw;
        const size_t length = strlen(table[i].pattern);
        const size_t n = hg_regex_translate(table[i].pattern, length, out, sizeof out - 1, &flaw);
        CHECK(flaw.what == NULL);
        CHECK_STR(out, table[i].expected);
        CHECK_EQ_INT(n, strlen(table[i].expected));
        /* No room, the same length. */
        CHECK_EQ_INT(hg_regex_translate(table[i].pattern, length, NULL, 0, &flaw), n);
    }
}

static void regex_syntax_refuses(void)
{
    static const struct {
        const char *pattern;
        size_t at;
        const char *sentence;
    } table[] = {
        {"(a)\\1", 4, "backreferences"},
        {"\\8", 1, "backreferences"},
        {"(?=a)", 0, "looking ahead"},
        {"a(?!b)", 1, "looking ahead"},
        {"(?<=a)b", 0, "looking ahead or behind"},
        {"(?<!a)b", 0, "looking ahead or behind"},
        {"(?>a)", 0, "this kind of group"},
        {"(?#a)", 0, "this kind of group"},
        {"(?R)", 0, "this kind of group"},
        {"(?x)a", 0, "this kind of group"},
        {"(?i-)a", 0, "this kind of group"},
        {"(?)", 0, "this kind of group"},
        {"(?P=n)", 0, "this kind of group"},
        {"(?P<>a)", 0, "no word"},
        {"(?P<n", 0, "no word"},
        {"(*ACCEPT)", 1, "nothing to repeat"},
        {"a*+", 2, "possessive"},
        {"a**", 2, "a repeat of a repeat"},
        {"a{2}{3}", 4, "a repeat of a repeat"},
        {"*a", 0, "nothing to repeat"},
        {"a|*", 2, "nothing to repeat"},
        {"a{3,2}", 1, "runs backwards"},
        {"a{1001}", 1, "more than 1000"},
        {"a{99999999999999999999}", 1, "more than 1000"},
        {"(a{100}){11}", 8, "more than 1000"},
        {"((a{100}|b)c){11}", 13, "more than 1000"},
        {"(a", 2, "not closed"},
        {"a)", 1, "nothing is open"},
        {"[a", 0, "not closed"},
        {"[]", 0, "not closed"},
        {"[b-a]", 1, "runs backwards"},
        {"[a-\\d]", 1, "no end"},
        {"[[:what:]]", 1, "no such class"},
        {"\\C", 1, "single bytes"},
        {"\\K", 1, "this escape"},
        {"\\Z", 1, "this escape"},
        {"\\G", 1, "this escape"},
        {"\\", 1, "nothing follows"},
        {"\\x4", 2, "no number"},
        {"\\x{110000}", 2, "no number"},
        {"\\x{d800}", 2, "no number"},
        {"\\p{", 1, "a kind of characters"},
        {"\\pé", 1, "a kind of characters"},
        {"a\xff", 1, "no UTF-8"},
        {"[\xed\xa0\x80]", 1, "no UTF-8"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        hg_regex_flaw flaw;
        (void)hg_regex_translate(table[i].pattern, strlen(table[i].pattern), NULL, 0, &flaw);
        if (flaw.what == NULL) {
            hg_test_fail(HG_TEST_HERE, "%s is accepted", table[i].pattern);
            continue;
        }
        CHECK_HAS(flaw.what, table[i].sentence);
        if (flaw.at != table[i].at)
            hg_test_fail(HG_TEST_HERE, "%s: at %zu, expected %zu", table[i].pattern, flaw.at,
                         table[i].at);
    }
}

static void regex_syntax_deep(void)
{
    char *pattern = malloc(4 * HG_REGEX_DEPTH);
    hg_regex_flaw flaw;
    memset(pattern, '(', HG_REGEX_DEPTH + 1);
    memset(pattern + HG_REGEX_DEPTH + 1, ')', HG_REGEX_DEPTH + 1);
    (void)hg_regex_translate(pattern, 2 * HG_REGEX_DEPTH + 2, NULL, 0, &flaw);
    CHECK_HAS(flaw.what, "too many groups");
    (void)hg_regex_translate(pattern + 1, 2 * HG_REGEX_DEPTH, NULL, 0, &flaw);
    CHECK(flaw.what == NULL);
    free(pattern);
}

/* Every cut of a pattern, with nothing behind it. */
static void regex_syntax_cut(void)
{
    static const char pattern[] =
        "(?P<n>a|[^\\d[:alpha:]\\x{41}-z]){2,3}?\\p{Greek}\\Q..\\E\\123(?i-s:x)\\$";
    for (size_t n = 0; n < sizeof pattern; n++) {
        char *copy = malloc(n + (n == 0));
        hg_regex_flaw flaw;
        memcpy(copy, pattern, n);
        (void)hg_regex_translate(copy, n, NULL, 0, &flaw);
        CHECK(flaw.what == NULL || flaw.at <= n);
        free(copy);
    }
}

const hg_test_case hg_tests_kernel_regex_syntax[] = {
    {"writes", regex_syntax_writes},
    {"refuses", regex_syntax_refuses},
    {"deep", regex_syntax_deep},
    {"cut", regex_syntax_cut},
    {0},
};
