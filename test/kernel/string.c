/* string.c - checks of the kernels on strings: each rule has a call that breaks it alone. What they
 * compute is tested through models in test/op. */
#include "kernel/move.h"

extern const hg_kernel hg_kernels_string[], hg_kernels_string_normalize[],
    hg_kernels_string_number[], hg_kernels_tfidf[];

static const int64_t string_huge = INT64_C(1) << 57;

/* Empty strings: checks may read them. */
static void string_in(move_call *c, int rank, const int64_t *dim)
{
    holo_tensor *t = move_in(c, HOLO_STRING, rank, dim);
    if (holo_tensor_bytes(t) != 0) memset(t->data, 0, holo_tensor_bytes(t));
}

static void string_make_concat(move_call *c)
{
    string_in(c, 2, MOVE_DIMS(3, 1));
    string_in(c, 1, MOVE_DIMS(16));
    move_out(c, HOLO_STRING, 2, MOVE_DIMS(3, 16));
}

static const move_bad string_bad_concat[] = {
    {MOVE_N_IN, 0, 0, 1, "1 inputs"},
    {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
    {MOVE_IN_DIM, 0, 1, 2, "input 1: dimension 0 is 16"},
    {MOVE_IN_DIM, 0, 0, -1, "input 0"},
    {MOVE_OUT_DIM, 0, 1, 15, "the result"},
    {MOVE_IN_DIM, 0, 0, string_huge, "the result is too large"},
};

static void string_make_split(move_call *c)
{
    string_in(c, 1, MOVE_DIMS(3));
    string_in(c, 1, MOVE_DIMS(1));
    move_out(c, HOLO_STRING, 2, MOVE_DIMS(3, 4));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(3));
    move_param(c, -1);
}

static const move_bad string_bad_split[] = {
    {MOVE_N_PARAM, 0, 0, 0, "0 parameters"},
    {MOVE_IN_TYPE, 0, 0, HOLO_I64, "input 0 has type int64"},
    {MOVE_IN_RANK, 0, 0, HG_MAX_RANK, "the strings has rank 8"},
    {MOVE_IN_DIM, 1, 0, 2, "2 delimiters, expected 1"},
    {MOVE_PARAM, 0, 0, -2, "the number of cuts is -2"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_I64, "output 0 has type int64"},
    {MOVE_OUT_TYPE, 1, 0, HOLO_I32, "output 1 has type int32"},
    {MOVE_OUT_DIM, 1, 0, 4, "the counts"},
    {MOVE_OUT_RANK, 0, 0, 1, "the parts have rank 1, expected 2"},
    {MOVE_OUT_DIM, 0, 0, 2, "the parts"},
};

static void string_make_normalize(move_call *c)
{
    string_in(c, 2, MOVE_DIMS(1, 3));
    string_in(c, 1, MOVE_DIMS(0));
    move_out(c, HOLO_STRING, 2, MOVE_DIMS(1, 3));
    move_param(c, 0);
    move_param(c, 1);
    move_param(c, 0);
}

static const move_bad string_bad_normalize[] = {
    {MOVE_N_IN, 0, 0, 3, "3 inputs"},
    {MOVE_IN_TYPE, 1, 0, HOLO_U8, "input 1 has type uint8"},
    {MOVE_IN_RANK, 0, 0, 3, "the words has rank 3"},
    {MOVE_IN_DIM, 0, 0, 2, "the words have 2 rows, expected 1"},
    {MOVE_PARAM, 0, 0, 3, "the case is 3"},
    {MOVE_PARAM, 1, 0, 2, "case sensitivity is 2"},
    {MOVE_PARAM, 2, 0, 2, "the rules of case is 2"},
};

static void string_make_format(move_call *c)
{
    move_in(c, HOLO_F32, 1, MOVE_DIMS(3));
    move_out(c, HOLO_STRING, 1, MOVE_DIMS(3));
}

static const move_bad string_bad_format[] = {
    {MOVE_N_OUT, 0, 0, 2, "2 outputs"},
    {MOVE_IN_TYPE, 0, 0, HOLO_C64, "input 0 has type complex64"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output 0 has type float32"},
    {MOVE_OUT_DIM, 0, 0, 4, "the output"},
};

static void string_make_parse(move_call *c)
{
    string_in(c, 1, MOVE_DIMS(3));
    move_out(c, HOLO_F32, 1, MOVE_DIMS(3));
}

static const move_bad string_bad_parse[] = {
    {MOVE_N_IN, 0, 0, 2, "2 inputs"},
    {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_STRING, "output 0 has type string"},
    {MOVE_OUT_DIM, 0, 0, 4, "the output"},
};

static void string_make_tfidf(move_call *c)
{
    string_in(c, 2, MOVE_DIMS(2, 3));
    string_in(c, 1, MOVE_DIMS(1));
    move_in(c, HOLO_I64, 1, MOVE_DIMS(1));
    move_in(c, HOLO_I64, 1, MOVE_DIMS(1));
    move_in(c, HOLO_F32, 1, MOVE_DIMS(1));
    move_out(c, HOLO_F32, 2, MOVE_DIMS(2, 5));
    for (int i = 0; i < 4; i++)
        move_param(c, i == 1 || i == 2);
}

static const move_bad string_bad_tfidf[] = {
    {MOVE_N_IN, 0, 0, 3, "3 inputs"},
    {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
    {MOVE_IN_TYPE, 1, 0, HOLO_F32, "input 1 has type float32"},
    {MOVE_IN_TYPE, 1, 0, HOLO_I64, "the n-grams has type int64"},
    {MOVE_IN_TYPE, 2, 0, HOLO_I32, "input 2 has type int32"},
    {MOVE_IN_TYPE, 3, 0, HOLO_I32, "input 3 has type int32"},
    {MOVE_IN_TYPE, 4, 0, HOLO_F64, "input 4 has type float64"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output 0 has type float64"},
    {MOVE_IN_RANK, 0, 0, 3, "the words has rank 3"},
    {MOVE_OUT_RANK, 0, 0, 1, "the output has rank 1"},
    {MOVE_OUT_DIM, 0, 0, 3, "2 rows of words, the output has 3"},
    {MOVE_IN_RANK, 2, 0, 2, "a list has rank 2"},
    {MOVE_IN_DIM, 4, 0, 2, "the weights"},
    {MOVE_PARAM, 0, 0, 3, "the mode is 3"},
    {MOVE_PARAM, 1, 0, 0, "the least length is 0"},
    {MOVE_PARAM, 2, 0, 0, "the largest length is 0"},
    {MOVE_PARAM, 3, 0, -1, "the number of skipped words is -1"},
};

static const hg_kernel *string_find(const char *name)
{
    static const hg_kernel *const lists[] = {hg_kernels_string, hg_kernels_string_number};
    for (size_t i = 0; i < HG_COUNT(lists); i++)
        for (const hg_kernel *k = lists[i]; k->name != NULL; k++)
            if (strcmp(k->name, name) == 0) return k;
    abort();
}

static void string_refuses(void)
{
    MOVE_REFUSES(string_find("string.concat"), string_make_concat, string_bad_concat);
    MOVE_REFUSES(string_find("string.split"), string_make_split, string_bad_split);
    MOVE_REFUSES(string_find("string.format"), string_make_format, string_bad_format);
    MOVE_REFUSES(string_find("string.parse"), string_make_parse, string_bad_parse);
    MOVE_REFUSES(hg_kernels_string_normalize, string_make_normalize, string_bad_normalize);
    MOVE_REFUSES(hg_kernels_tfidf, string_make_tfidf, string_bad_tfidf);
}

const hg_test_case hg_tests_kernel_string[] = {
    {"refuses", string_refuses},
    {0},
};
