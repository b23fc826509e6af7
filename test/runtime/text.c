/* text.c - operators on text through a model: words in, words or numbers out. */
#include "control_text.h"

#include <stdio.h>

/* A node on "one|two|three", its first output as such a text; behind a ! part of the error of the
 * compiler. */
typedef struct text_fact {
    const char *node, *words, *expected;
} text_fact;

enum { TEXT_WORDS = 32 };

static int64_t text_cut(const char *text, holo_string *word)
{
    int64_t n = 0;
    for (const char *end; n < TEXT_WORDS; text = end + 1) {
        end = strchr(text, '|');
        if (end == NULL) end = text + strlen(text);
        word[n++] = (holo_string){text, (uint64_t)(end - text)};
        if (*end == 0) break;
    }
    return n;
}

static void text_join(const holo_tensor *t, char *out, size_t room)
{
    size_t at = 0;
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        const holo_string *s = (const holo_string *)t->data + i;
        if (!CHECK(at + (size_t)s->length + 2 < room)) break;
        if (i > 0) out[at++] = '|';
        if (s->length != 0) memcpy(out + at, s->text, (size_t)s->length);
        at += (size_t)s->length;
    }
    out[at] = 0;
}

static void text_fact_is(const text_fact *fact)
{
    control f = {0};
    char graph[1024], found[512];
    holo_string word[TEXT_WORDS];
    holo_tensor x = {.data = word, .rank = 1, .dtype = HOLO_STRING};
    snprintf(graph, sizeof graph, "graph(%%x: string[n]) {\n  %s\n  return %%y\n}\n", fact->node);
    x.dim[0] = text_cut(fact->words, word);
    if (control_open(&f, graph, 0, NULL)) {
        CHECK_OK(holo_session_set_input(f.session, 0, &x, &f.error), &f.error);
        if (control_run(&f)) {
            const holo_tensor y = control_out(&f, 0);
            text_join(&y, found, sizeof found);
            CHECK_STR(found, fact->expected);
        }
    }
    control_close(&f);
}

static void text_split(void)
{
    static const text_fact facts[] = {
        {"%y, %n = StringSplit(%x)", " a  b |c", "a|b|c|"},
        {"%y, %n = StringSplit(%x)",
         "\xc2\xa0"
         "a\xe3\x80\x80\xe2\x80\x83"
         "b\xc2\x85",
         "a|b"},
        {"%y, %n = StringSplit(%x) {maxsplit=1}", "a  b  c  ", "a|b  c"},
        {"%y, %n = StringSplit(%x) {maxsplit=0}", "  a b", "a b"},
        {"%y, %n = StringSplit(%x) {maxsplit=-5}", "a b c", "a|b|c"},
        {"%y, %n = StringSplit(%x) {delimiter=\"-\"}", "-a--b", "|a||b"},
        {"%y, %n = StringSplit(%x) {delimiter=\"--\"}", "a---b", "a|-b"},
        {"%y, %n = StringSplit(%x) {delimiter=\" \"}", " a", "|a"},
        {"%y, %n = StringSplit(%x) {delimiter=\"-\"}", "", ""}, /* one empty part */
        {"%y, %n = StringSplit(%x) {delimiter=\"\xc3\xa9\"}",
         "a\xc3\xa9"
         "b",
         "a|b"},
        {"%y, %n = StringSplit(%x) {delimiter=\"longer than all\"}", "a|b", "a|b"},
    };
    for (size_t i = 0; i < HG_COUNT(facts); i++)
        text_fact_is(&facts[i]);
}

/* How many parts: n delimiters make n + 1, white space makes none. */
static void text_split_counts(void)
{
    control f = {0};
    holo_string word[3] = {{"", 0}, {"a-b", 3}, {"-", 1}};
    holo_tensor x = {.data = word, .dim = {3}, .rank = 1, .dtype = HOLO_STRING};
    if (control_open(&f,
                     "graph(%x: string[n]) {\n  %y, %n = StringSplit(%x) {delimiter=\"-\"}\n"
                     "  %z, %m = StringSplit(%x)\n  return %n, %m, %y\n}\n",
                     0, NULL)) {
        CHECK_OK(holo_session_set_input(f.session, 0, &x, &f.error), &f.error);
        if (control_run(&f)) {
            CHECK_MEM(control_out(&f, 0).data, ((int64_t[]){1, 2, 2}), 24);
            CHECK_MEM(control_out(&f, 1).data, ((int64_t[]){0, 1, 1}), 24);
            CHECK_EQ_INT(control_out(&f, 2).dim[1], 2);
        }
        x.dim[0] = 0;
        CHECK_OK(holo_session_set_input(f.session, 0, &x, &f.error), &f.error);
        if (control_run(&f)) CHECK_EQ_INT(control_out(&f, 2).dim[1], 0);
    }
    control_close(&f);
}

static void text_normalize(void)
{
    static const text_fact facts[] = {
        {"%y = StringNormalizer(%x)", "a|B", "a|B"},
        {"%y = StringNormalizer(%x) {case_change_action=\"UPPER\"}",
         "stra\xc3\x9f"
         "e|b",
         "STRASSE|B"},
        {"%y = StringNormalizer(%x) {case_change_action=\"LOWER\", locale=\"tr_TR.UTF-8\"}", "I",
         "\xc4\xb1"},
        {"%y = StringNormalizer(%x) {case_change_action=\"UPPER\", locale=\"az\"}", "i",
         "\xc4\xb0"},
        {"%y = StringNormalizer(%x) {case_change_action=\"LOWER\", locale=\"en_US\"}", "I", "i"},
        {"%y = StringNormalizer(%x) {stopwords=[\"STRASSE\"]}",
         "a|stra\xc3\x9f"
         "e",
         "a"},
        {"%y = StringNormalizer(%x) {stopwords=[\"A\"], is_case_sensitive=1}", "a|A|b", "a|b"},
        {"%y = StringNormalizer(%x) {stopwords=[\"A\"], case_change_action=\"UPPER\"}", "a|A|b",
         "B"},
        {"%y = StringNormalizer(%x) {stopwords=[\"a\"]}", "a|A", ""},
        {"%y = StringNormalizer(%x) {stopwords=[\"\"]}", "|b", "b"},
    };
    for (size_t i = 0; i < HG_COUNT(facts); i++)
        text_fact_is(&facts[i]);
}

/* Rows of numbers, n-grams with gaps, in all three modes. */
static void text_tfidf(void)
{
    static const struct {
        const char *attributes;
        float expected[4];
    } facts[] = {
        /* pool: 1-grams 7 and 8, 2-grams (7, 8) and (8, 7), in columns 3, 0, 1, 2 */
        {"mode=\"TF\", min_gram_length=1, max_gram_length=2, max_skip_count=0", {2, 1, 2, 3}},
        {"mode=\"TF\", min_gram_length=2, max_gram_length=2, max_skip_count=0", {0, 1, 2, 0}},
        {"mode=\"TF\", min_gram_length=2, max_gram_length=2, max_skip_count=2", {0, 2, 3, 0}},
        {"mode=\"IDF\", min_gram_length=1, max_gram_length=2, max_skip_count=0", {3, 5, 7, 2}},
        {"mode=\"TFIDF\", min_gram_length=1, max_gram_length=2, max_skip_count=0", {6, 5, 14, 6}},
    };
    int64_t x[5] = {8, 7, 7, 8, 7};
    for (size_t i = 0; i < HG_COUNT(facts); i++) {
        control f = {0};
        char graph[512];
        snprintf(graph, sizeof graph,
                 "graph(%%x: int64[n]) {\n  %%y = TfIdfVectorizer(%%x) {%s, ngram_counts=[0, 2],"
                 " ngram_indexes=[3, 0, 1, 2], pool_int64s=[7, 8, 7, 8, 8, 7],"
                 " weights=[2.0, 3.0, 5.0, 7.0]}\n  return %%y\n}\n",
                 facts[i].attributes);
        if (control_open(&f, graph, 0, NULL)) {
            control_set(&f, 0, HOLO_I64, x, 1, 5);
            if (control_run(&f)) control_is(&f, 0, facts[i].expected, 4);
            control_set(&f, 0, HOLO_I64, x, 1, 0);
            if (control_run(&f)) control_is(&f, 0, (const float[4]){0}, 4);
        }
        control_close(&f);
    }
}

const hg_test_case hg_tests_runtime_text[] = {
    {"split", text_split},
    {"split_counts", text_split_counts},
    {"normalize", text_normalize},
    {"tfidf", text_tfidf},
    {0},
};
