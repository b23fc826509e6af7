/* text.c - operators on text and pictures: shapes and what is refused. */
#include "op/rule.h"

#define TEXT_GRAMS                                                                                 \
    "mode=\"TF\", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0]"

static void text_types(void)
{
    static const rule table[] = {
        {"%x: string[n]", "%y = StringNormalizer(%x) {locale=[1]}", "!locale"},
        {"%x: string[a,b,c]", "%y = StringNormalizer(%x)", "!rank 3"},
        {"%x: string[n]", "%y = RegexFullMatch(%x) {pattern=\"a+\"}", "bool[n]"},
        {"%x: string[]", "%y = RegexFullMatch(%x) {pattern=\"\"}", "bool[]"},
        {"%x: string[n]", "%y = RegexFullMatch(%x)", "!pattern is missing"},
        {"%x: string[n]", "%y = RegexFullMatch(%x) {pattern=\"(a)\\\\1\"}",
         "!byte 4: backreferences are not part of RE2's syntax"},
        {"%x: string[n]", "%y = RegexFullMatch(%x) {pattern=\"a(?=b)\"}", "!byte 1: looking ahead"},
        {"%x: int8[n]", "%y = RegexFullMatch(%x) {pattern=\"a\"}", "!int8"},
        {"%x: uint8[n,m]", "%y = ImageDecoder(%x)", "!rank 2"},
        {"%x: int8[n]", "%y = ImageDecoder(%x)", "!int8"},
        {"%x: uint8[n]", "%y = ImageDecoder(%x) {pixel_format=\"YUV\"}",
         "!pixel_format is \"YUV\""},
        {"%x: int32[n,c]",
         "%y = TfIdfVectorizer(%x) {" TEXT_GRAMS ", ngram_indexes=[4], pool_int64s=[1]}",
         "float32[n,5]"},
        {"%x: int32[n]",
         "%y = TfIdfVectorizer(%x) {" TEXT_GRAMS ", ngram_indexes=[0], pool_strings=[\"a\"]}",
         "!pool_int64s and no other pool is expected"},
        {"%x: string[n]",
         "%y = TfIdfVectorizer(%x) {" TEXT_GRAMS
         ", ngram_indexes=[0], pool_strings=[\"a\"], pool_int64s=[1]}",
         "!pool_strings and no other pool is expected"},
        {"%x: int32[n]",
         "%y = TfIdfVectorizer(%x) {" TEXT_GRAMS
         ", ngram_indexes=[0], pool_int64s=[1], weights=[1.0, 2.0]}",
         "!2 weights for 1 n-grams"},
        {"%x: int32[n]", "%y = TfIdfVectorizer(%x) {mode=\"TF\"}", "!min_gram_length is missing"},
        {"%x: int32[n]",
         "%y = TfIdfVectorizer(%x) {min_gram_length=3, max_gram_length=2, max_skip_count=0}",
         "!max_gram_length is 2, expected 3 to"},
        {"%x: int32[n]",
         "%y = TfIdfVectorizer(%x) {min_gram_length=1, max_gram_length=2, max_skip_count=-1}",
         "!max_skip_count is -1"},
        {"%x: int32[n]",
         "%y = TfIdfVectorizer(%x) {" TEXT_GRAMS ", ngram_indexes=[-1], pool_int64s=[1]}",
         "!ngram_indexes has -1"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_text[] = {
    {"types", text_types},
    {0},
};
