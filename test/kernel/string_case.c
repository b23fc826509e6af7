/* string_case.c - case of letters: simple ones, those that become several, sigma, the Turkic i. */
#include "kernel/string_case.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

typedef struct string_case_fact {
    const char *text, *expected;
    hg_case to;
    hg_case_rules rules;
} string_case_fact;

static void string_case_is(const string_case_fact *f)
{
    const holo_string s = {f->text, strlen(f->text)};
    const uint64_t length = hg_case_text(&s, f->to, f->rules, NULL);
    char *text = calloc(1, (size_t)length + 1);
    CHECK_EQ_INT(hg_case_text(&s, f->to, f->rules, text), length);
    CHECK_STR(text, f->expected);
    free(text);
}

/* Facts of the Unicode Character Database. */
static void string_case_letters(void)
{
    static const string_case_fact facts[] = {
        {"Hello, World 1", "hello, world 1", HG_CASE_LOWER, HG_CASE_COMMON},
        {"Hello, World 1", "HELLO, WORLD 1", HG_CASE_UPPER, HG_CASE_COMMON},
        {"Hello, World 1", "Hello, World 1", HG_CASE_NONE, HG_CASE_COMMON},
        {"àéîõüÿ", "ÀÉÎÕÜŸ", HG_CASE_UPPER, HG_CASE_COMMON},
        {"ÀÉÎÕÜŸ", "àéîõüÿ", HG_CASE_LOWER, HG_CASE_COMMON},
        {"ĀāĹĺŹźſ", "ĀĀĹĹŹŹS", HG_CASE_UPPER, HG_CASE_COMMON},
        {"ПриветЁ", "ПРИВЕТЁ", HG_CASE_UPPER, HG_CASE_COMMON},
        {"ПриветЁ", "приветё", HG_CASE_LOWER, HG_CASE_COMMON},
        {"Ա Ⴀ Ა Ꭰ", "ա ⴀ ა ꭰ", HG_CASE_LOWER, HG_CASE_COMMON},
        {"ⱥ", "Ⱥ", HG_CASE_UPPER, HG_CASE_COMMON}, /* 3 bytes to 2 */
        {"Ⱥ", "ⱥ", HG_CASE_LOWER, HG_CASE_COMMON}, /* 2 bytes to 3 */
        {"ǆ ǅ Ǆ", "Ǆ Ǆ Ǆ", HG_CASE_UPPER, HG_CASE_COMMON},
        {"𐐀𞤀", "𐐨𞤢", HG_CASE_LOWER, HG_CASE_COMMON}, /* beyond 16 bits */
        {"日本 ١٢ 😀", "日本 ١٢ 😀", HG_CASE_UPPER, HG_CASE_COMMON},
        {"K Å Ω", "k å ω", HG_CASE_LOWER, HG_CASE_COMMON}, /* signs with letters */
        {"ꭰ", "Ꭰ", HG_CASE_FOLD, HG_CASE_COMMON},        /* Cherokee folds up */
    };
    for (size_t i = 0; i < HG_COUNT(facts); i++)
        string_case_is(&facts[i]);
}

static void string_case_several(void)
{
    static const string_case_fact facts[] = {
        {"Straße", "STRASSE", HG_CASE_UPPER, HG_CASE_COMMON},
        {"Straße", "straße", HG_CASE_LOWER, HG_CASE_COMMON},
        {"Straße", "strasse", HG_CASE_FOLD, HG_CASE_COMMON},
        {"ẞ", "ß", HG_CASE_LOWER, HG_CASE_COMMON},
        {"ﬁ ﬃ", "FI FFI", HG_CASE_UPPER, HG_CASE_COMMON},
        {"ΐ", "\xce\x99\xcc\x88\xcc\x81", HG_CASE_UPPER, HG_CASE_COMMON}, /* one becomes three */
        {"ŉ", "ʼN", HG_CASE_UPPER, HG_CASE_COMMON},
        {"ᾳ", "ΑΙ", HG_CASE_UPPER, HG_CASE_COMMON},
        {"İ", "i\xcc\x87", HG_CASE_LOWER, HG_CASE_COMMON},
        {"և", "ԵՒ", HG_CASE_UPPER, HG_CASE_COMMON},
    };
    for (size_t i = 0; i < HG_COUNT(facts); i++)
        string_case_is(&facts[i]);
}

static void string_case_sigma(void)
{
    static const string_case_fact facts[] = {
        {"ΟΔΥΣΣΕΥΣ", "οδυσσευς", HG_CASE_LOWER, HG_CASE_COMMON},
        {"Σ", "σ", HG_CASE_LOWER, HG_CASE_COMMON},
        {"ΑΣ ΣΑ", "ας σα", HG_CASE_LOWER, HG_CASE_COMMON},
        {"ΑΣ.", "ας.", HG_CASE_LOWER, HG_CASE_COMMON},
        {"ΑΣ.Α", "ασ.α", HG_CASE_LOWER, HG_CASE_COMMON}, /* a full stop may stand in a word */
        {"Α\xcc\x81Σ", "α\xcc\x81ς", HG_CASE_LOWER, HG_CASE_COMMON},
        {"1Σ", "1σ", HG_CASE_LOWER, HG_CASE_COMMON},
        {"ς", "Σ", HG_CASE_UPPER, HG_CASE_COMMON},
        {"ς", "σ", HG_CASE_FOLD, HG_CASE_COMMON},
    };
    for (size_t i = 0; i < HG_COUNT(facts); i++)
        string_case_is(&facts[i]);
}

static void string_case_turkic(void)
{
    static const string_case_fact facts[] = {
        {"Iİ", "ıi", HG_CASE_LOWER, HG_CASE_TURKIC},
        {"ıi", "Iİ", HG_CASE_UPPER, HG_CASE_TURKIC},
        {"I\xcc\x87z", "iz", HG_CASE_LOWER, HG_CASE_TURKIC},
        {"DİYARBAKIR", "diyarbakır", HG_CASE_LOWER, HG_CASE_TURKIC},
        {"ıi", "II", HG_CASE_UPPER, HG_CASE_COMMON},
        {"Iİ", "ıi", HG_CASE_FOLD, HG_CASE_TURKIC},
    };
    for (size_t i = 0; i < HG_COUNT(facts); i++)
        string_case_is(&facts[i]);
}

static void string_case_compare(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } facts[] = {
        {"", "", true},          {"a", "", false},           {"Straße", "STRASSE", true},
        {"ΣΑΣ", "σας", true},    {"ﬀ", "FF", true},          {"a", "à", false},
        {"MASSE", "Maße", true}, {"Привет", "ПРИВЕТ", true}, {"abc", "abcd", false},
    };
    for (size_t i = 0; i < HG_COUNT(facts); i++) {
        const holo_string a = {facts[i].a, strlen(facts[i].a)},
                          b = {facts[i].b, strlen(facts[i].b)};
        CHECK_EQ_INT(hg_case_same(&a, &b, HG_CASE_COMMON), facts[i].same);
        CHECK_EQ_INT(hg_case_same(&b, &a, HG_CASE_COMMON), facts[i].same);
    }
}

/* Bytes that are no UTF-8 stay; nothing behind the end is read. */
static void string_case_broken(void)
{
    static const char text[] = "A\xff"
                               "B\xc3\xa9\xe2\x82\xf0\x9f\x98\xed\xa0\x80\xc0\x80\xce\xa3";
    for (size_t n = 0; n < sizeof text; n++) {
        char *copy = malloc(n + (n == 0)), out[64];
        memcpy(copy, text, n);
        const holo_string s = {copy, n};
        for (int to = HG_CASE_NONE; to <= HG_CASE_FOLD; to++) {
            const uint64_t length = hg_case_text(&s, (hg_case)to, HG_CASE_TURKIC, out);
            CHECK_EQ_INT(length, n);
            if (to == HG_CASE_NONE) CHECK_MEM(out, text, n);
        }
        free(copy);
    }
}

/* Every code point: mapping twice is mapping once, and what is written reads back. */
static void string_case_all(void)
{
    uint64_t changed = 0;
    for (uint32_t code = 1; code < 0x110000; code++) {
        char text[4], once[16], twice[16];
        if (code >= 0xd800 && code < 0xe000) continue;
        const holo_string s = {text, hg_utf8_put(code, text)};
        uint64_t at = 0;
        if (hg_utf8_next(text, s.length, &at) != code || at != s.length) {
            CHECK_EQ_INT(hg_utf8_next(text, s.length, &(uint64_t){0}), code);
            return;
        }
        for (int to = HG_CASE_LOWER; to <= HG_CASE_FOLD; to++) {
            const holo_string first = {once, hg_case_text(&s, (hg_case)to, HG_CASE_COMMON, once)};
            const uint64_t n = hg_case_text(&first, (hg_case)to, HG_CASE_COMMON, twice);
            if (n != first.length || memcmp(once, twice, (size_t)n) != 0)
                hg_test_fail(HG_TEST_HERE, "U+%04X: case %d changes again", code, to);
            changed += n != s.length || memcmp(text, once, (size_t)n) != 0;
        }
    }
    CHECK(changed > 4000); /* Unicode 15: 1433 lower, 1525 upper, 1530 folded */
}

const hg_test_case hg_tests_kernel_string_case[] = {
    {"letters", string_case_letters}, {"several", string_case_several},
    {"sigma", string_case_sigma},     {"turkic", string_case_turkic},
    {"compare", string_case_compare}, {"broken", string_case_broken},
    {"all", string_case_all},         {0},
};
