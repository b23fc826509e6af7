/* str.c - string views: copies, formats, what is text. */
#include "base/str.h"
#include "test.h"

static void str_compares(void)
{
    CHECK(hg_str_equal(hg_str_from("ab"), (hg_str){"abc", 2}));
    CHECK(!hg_str_equal(hg_str_from("ab"), hg_str_from("abc")));
    CHECK(!hg_str_equal(hg_str_from("ab"), hg_str_from("ac")));
    CHECK(hg_str_equal((hg_str){0}, hg_str_from("")));
    CHECK(hg_str_is(hg_str_from("x"), "x"));
    CHECK_EQ_INT(hg_str_from(NULL).length, 0);
}

static void str_copies(void)
{
    hg_arena arena;
    hg_arena_init(&arena, NULL, 100);
    char text[] = "hello";
    hg_str copy = hg_str_copy(&arena, (hg_str){text, 4});
    text[0] = 'j';
    CHECK_STR(copy.text, "hell");
    CHECK_STR(hg_str_copy(&arena, (hg_str){0}).text, "");
    CHECK(hg_str_copy(&arena, (hg_str){text, SIZE_MAX}).text == NULL);
    CHECK(hg_str_format(&arena, "%200d", 7).text == NULL); /* above the limit */
    hg_str made = hg_str_format(&arena, "%s_%d", "a", 42);
    CHECK_STR(made.text, "a_42");
    CHECK_EQ_INT(made.length, 4);
    hg_arena_deinit(&arena);
}

static void str_arguments_are_cut(void)
{
    hg_arena arena;
    char text[300];
    hg_arena_init(&arena, NULL, 0);
    memset(text, 'x', sizeof text);
    hg_str longer = {text, sizeof text}, nothing = {0};
    CHECK_EQ_INT(hg_str_format(&arena, "%.*s", HG_STR_ARG(longer)).length, 120);
    CHECK_EQ_INT(hg_str_format(&arena, "%.*s", HG_STR_ARG(nothing)).length, 0);
    hg_arena_deinit(&arena);
}

static void str_text(void)
{
    static const char *const good[] = {"",
                                       "abc",
                                       "\xc3\xa9",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x99\x82",
                                       "\xed\x9f\xbf",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\n",
                                      "\x7f",
                                      "\x80",
                                      "\xc3",
                                      "\xc0\x80",
                                      "\xe2\x82",
                                      "\xe0\x80\x80",
                                      "\xff",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "a\x01",
                                      "\xc3\x28"};
    for (size_t i = 0; i < HG_COUNT(good); i++)
        CHECK(hg_str_is_text(hg_str_from(good[i])));
    for (size_t i = 0; i < HG_COUNT(bad); i++)
        if (hg_str_is_text(hg_str_from(bad[i])))
            hg_test_fail(HG_TEST_HERE, "bad text %zu passes", i);
    CHECK(!hg_str_is_text((hg_str){"a\0b", 3}));
    CHECK(!hg_str_is_text((hg_str){"\xe2\x82\xac", 2}));
}

const hg_test_case hg_tests_base_str[] = {
    {"compares", str_compares},
    {"copies", str_copies},
    {"arguments_are_cut", str_arguments_are_cut},
    {"text", str_text},
    {0},
};
