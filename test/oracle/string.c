/* string.c - operators on text. */
#include "oracle/oracle.h"

#include <stdio.h>

/* Texts separated by '|'. */
static ora *string_of(const char *dims, const char *texts)
{
    ora *t = ora_shape(HOLO_STRING, dims);
    for (int64_t k = 0; k < t->count; k++) {
        const size_t n = strcspn(texts, "|");
        t->v[k].s = (holo_string){texts, n};
        texts += n + (texts[n] == '|' ? 1 : 0);
    }
    return t;
}

static void string_concat_check(ora *a, ora *b)
{
    ora *y = ora_broadcast_new(HOLO_STRING, 2, (ora *const[]){a, b});
    for (int64_t k = 0; k < y->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(y, k, at);
        const holo_string p = ora_broadcast_at(a, y->rank, at)->s,
                          q = ora_broadcast_at(b, y->rank, at)->s;
        char *text = ora_alloc((size_t)(p.length + q.length) + 1);
        snprintf(text, (size_t)(p.length + q.length) + 1, "%.*s%.*s", (int)p.length, p.text,
                 (int)q.length, q.text);
        y->v[k].s = (holo_string){text, p.length + q.length};
    }
    ORA_CHECK("StringConcat", NULL, ORA_IN(a, b), ORA_OUT(y));
}

static void string_concat(const ora_row *row)
{
    (void)row;
    string_concat_check(string_of("3", "a||c d"), string_of("3", "x|y|"));
    string_concat_check(string_of("2,1", "a|\xc3\xa9"), string_of("3", "x|y|\xe2\x82\xac"));
    string_concat_check(string_of("", "a"), string_of("2,2", "1|2|3|4"));
    string_concat_check(string_of("0", ""), string_of("1", "1"));
    string_concat_check(string_of("", "left"), string_of("", "right"));
}

static void string_normalizer(const ora_row *row)
{
    static const char *const days = "monday|Tuesday|MONDAY|wednesday";
    const ora *x = string_of("4", days), *wide_x = string_of("1,4", days);
    ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(x));
    ORA_CHECK(row->op, "case_change_action=\"UPPER\"", ORA_IN(x),
              ORA_OUT(string_of("4", "MONDAY|TUESDAY|MONDAY|WEDNESDAY")));
    ORA_CHECK(row->op, "case_change_action=\"LOWER\" stopwords=[\"monday\"] is_case_sensitive=1",
              ORA_IN(x), ORA_OUT(string_of("3", "tuesday|monday|wednesday")));
    ORA_CHECK(row->op, "stopwords=[\"Monday\"] is_case_sensitive=0", ORA_IN(wide_x),
              ORA_OUT(string_of("1,2", "Tuesday|wednesday")));
    ORA_CHECK(row->op, "stopwords=[\"monday\",\"tuesday\",\"wednesday\"]", ORA_IN(x),
              ORA_OUT(string_of("1", "")));
    ORA_CHECK(row->op, "stopwords=[\"monday\",\"tuesday\",\"wednesday\"]", ORA_IN(wide_x),
              ORA_OUT(string_of("1,1", "")));
}

static void string_split(const ora_row *row)
{
    const ora *x = string_of("2,2", "a,b,c||,d|e");
    ORA_CHECK(row->op, "delimiter=\",\"", ORA_IN(x),
              ORA_OUT(string_of("2,2,3", "a|b|c|||||d||e||"), ora_of(HOLO_I64, "2,2", "3 1 2 1")));
    ORA_CHECK(row->op, "delimiter=\",\" maxsplit=1", ORA_IN(x),
              ORA_OUT(string_of("2,2,2", "a|b,c||||d|e|"), ora_of(HOLO_I64, "2,2", "2 1 2 1")));
    const ora *words = string_of("3", "  two  words |one|");
    ORA_CHECK(row->op, NULL, ORA_IN(words),
              ORA_OUT(string_of("3,2", "two|words|one|||"), ora_of(HOLO_I64, "3", "2 1 0")));
    ORA_CHECK(row->op, "delimiter=\"\"", ORA_IN(words),
              ORA_OUT(string_of("3,2", "two|words|one|||"), ora_of(HOLO_I64, "3", "2 1 0")));
    const ora *one = string_of("", "a--b---c");
    ORA_CHECK(row->op, "delimiter=\"--\"", ORA_IN(one),
              ORA_OUT(string_of("3", "a|b|-c"), ora_of(HOLO_I64, "", "3")));
}

/* Which of the texts, '1' or '0' for each, the pattern describes as a whole. */
static void string_regex_check(const char *pattern, const char *dims, const char *texts,
                               const char *which)
{
    char attrs[100];
    const ora *x = string_of(dims, texts);
    ora *y = ora_like(x, HOLO_BOOL);
    for (int64_t k = 0; k < y->count; k++)
        y->v[k].i = which[k] == '1';
    snprintf(attrs, sizeof attrs, "pattern=\"%s\"", pattern);
    ORA_CHECK("RegexFullMatch", attrs, ORA_IN(x), ORA_OUT(y));
}

static void string_regex(const ora_row *row)
{
    string_regex_check("abc", "4", "abc|abcd|xabc|", "1000");
    string_regex_check("a*", "2,2", "|a|aaaa|ab", "1110");
    string_regex_check("a|ab", "3", "a|ab|abb", "110");
    string_regex_check("(cat|dog)s?", "5", "cat|dogs|cats|catdog|s", "11100");
    string_regex_check("[a-c0-2]{2,3}", "5", "a0|abc|a|abcc|ad", "11000");
    string_regex_check("[^x]+", "3", "abc|axc|", "100");
    string_regex_check("\\d+\\.\\d*", "4", "1.5|12.|.5|a.5", "1100");
    string_regex_check("\\w+@\\w+", "3", "me@here|@|a b@c", "100");
    string_regex_check("(?i)hello", "3", "HELLO|Hello|hell", "110");
    string_regex_check(".", "4", "a|\xc3\xa9|ab|", "1100");
    string_regex_check("^ab$", "2", "ab|abab", "10");
    string_regex_check("", "2", "|a", "10");
    string_regex_check("x", "0", "", "");
    string_regex_check("x", "", "x", "1");
    ORA_REFUSE("pattern", row->op, "pattern=\"(a\"", ORA_IN(string_of("1", "a")),
               ORA_OUT(ora_shape(HOLO_BOOL, "1")));
}

/* Grams of one and two in a pool: "7", "9" and "7 9", "9 7". */
static void string_tfidf_check(const ora_row *row, const ora *x, const char *attrs,
                               const char *values)
{
    char *all = ora_alloc(300);
    const char *pool = x->type == HOLO_STRING ? "pool_strings=[\"7\",\"9\",\"7\",\"9\",\"9\",\"7\"]"
                                              : "pool_int64s=[7,9,7,9,9,7]";
    snprintf(all, 300, "%s ngram_counts=[0,2] ngram_indexes=[0,2,1,4] %s", pool, attrs);
    const bool rows = x->rank == 2;
    ORA_CHECK(row->op, all, ORA_IN(x), ORA_OUT(ora_of(HOLO_F32, rows ? "2,5" : "5", values)));
}

static void string_tfidf(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        const ora *x = ora_of(type, "6", "7 9 7 7 3 9"), *two = ora_of(type, "2,3", "7 9 7 7 3 9");
        string_tfidf_check(row, x,
                           "mode=\"TF\" min_gram_length=1 max_gram_length=2 max_skip_count=0",
                           "3 1 2 0 1");
        string_tfidf_check(row, x,
                           "mode=\"TF\" min_gram_length=2 max_gram_length=2 max_skip_count=0",
                           "0 1 0 0 1");
        string_tfidf_check(row, two,
                           "mode=\"TF\" min_gram_length=1 max_gram_length=2 max_skip_count=0",
                           "2 1 1 0 1 1 0 1 0 0");
        string_tfidf_check(row, x,
                           "mode=\"IDF\" min_gram_length=1 max_gram_length=1 max_skip_count=0 "
                           "weights=[0.5,2.0,3.0,4.0]",
                           "0.5 0 2 0 0");
        string_tfidf_check(row, x,
                           "mode=\"TFIDF\" min_gram_length=1 max_gram_length=1 max_skip_count=0 "
                           "weights=[0.5,2.0,3.0,4.0]",
                           "1.5 0 4 0 0");
        /* With one token between: 7 _ 7, 9 _ 7, 7 _ 3, 7 _ 9. */
        string_tfidf_check(row, x,
                           "mode=\"TF\" min_gram_length=2 max_gram_length=2 max_skip_count=1",
                           "0 2 0 0 2");
    }
}

const ora_row ora_rows_string[] = {
    {"RegexFullMatch", string_regex, NULL},        {"StringConcat", string_concat, NULL},
    {"StringNormalizer", string_normalizer, NULL}, {"StringSplit", string_split, NULL},
    {"TfIdfVectorizer", string_tfidf, NULL},       {NULL, NULL, NULL},
};

static void string_rows(void)
{
    ora_run(ora_rows_string);
}

const hg_test_case hg_tests_oracle_string[] = {{"rows", string_rows}, {0}};
