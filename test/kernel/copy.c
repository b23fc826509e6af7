/* copy.c - copy.strided, copy.bytes, copy.halves and copy.words against a plain loop, for every
 * element size and way. */
#include "kernel/copy_cases.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_copy[], hg_kernels_copy_bytes[], hg_kernels_copy_halves[],
    hg_kernels_copy_words[];
#if defined(TUNED)
extern const hg_kernel TUNED(copy_words)[];
#endif
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_copy_bytes_avx2[], hg_kernels_copy_halves_avx2[];
#endif

static const holo_dtype copy_types[] = {HOLO_U8,     HOLO_F16, HOLO_F32, HOLO_I64,
                                        HOLO_STRING, HOLO_I4,  HOLO_U2};

static void copy_make(move_call *c, const copy_case *t, holo_dtype dtype)
{
    int64_t count = 1;
    move_in(c, dtype, 1, &t->size);
    move_param(c, t->offset);
    for (int i = 0; i < t->loops; i++) {
        count *= t->extent[i];
        move_param(c, t->extent[i]);
        move_param(c, t->stride[i]);
    }
    move_out(c, dtype, 1, &count);
}

static void copy_compare(const copy_case *t, const move_call *c)
{
    for (int64_t i = 0; i < c->out[0].dim[0]; i++) {
        if (move_same(&c->out[0], i, &c->in[0], copy_from(t, i))) continue;
        hg_test_fail(HG_TEST_HERE, "%s, %s: element %lld is wrong", t->name,
                     holo_dtype_text(c->in[0].dtype), (long long)i);
        return;
    }
}

static void copy_matches(const hg_kernel *k, const holo_dtype *types, size_t n)
{
    for (size_t i = 0; i < HG_COUNT(copy_table); i++)
        for (size_t t = 0; t < n; t++) {
            move_call c = {0};
            copy_make(&c, &copy_table[i], types[t]);
            if (move_run(k, &c)) copy_compare(&copy_table[i], &c);
            move_free(&c);
        }
}

static void copy_matches_loop(void)
{
    static const holo_dtype bytes[] = {HOLO_U8, HOLO_BOOL}, words[] = {HOLO_F32, HOLO_I32};
    static const holo_dtype halves[] = {HOLO_F16, HOLO_I16};
    copy_matches(hg_kernels_copy, copy_types, HG_COUNT(copy_types));
    copy_matches(hg_kernels_copy_bytes, bytes, HG_COUNT(bytes));
    copy_matches(hg_kernels_copy_halves, halves, HG_COUNT(halves));
    copy_matches(hg_kernels_copy_words, words, HG_COUNT(words));
#if defined(TUNED)
    if (tuned_runs()) copy_matches(TUNED(copy_words), words, HG_COUNT(words));
#endif
#if defined(__x86_64__)
    if (tuned_runs()) copy_matches(hg_kernels_copy_bytes_avx2, bytes, HG_COUNT(bytes));
    if (tuned_runs()) copy_matches(hg_kernels_copy_halves_avx2, halves, HG_COUNT(halves));
#endif
}

static void copy_make_good(move_call *c)
{
    copy_make(c, &(copy_case){"", 60, 10, 2, {4, 5}, {-3, 10}}, HOLO_F32);
}

static void copy_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_IN, 0, 0, 0, "0 inputs"},
        {MOVE_N_OUT, 0, 0, 2, "2 outputs"},
        {MOVE_N_PARAM, 0, 0, 4, "4 parameters"},
        {MOVE_N_PARAM, 0, 0, 35, "35 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_NONE, "input 0 is missing"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I64, "output has type float32, expected the width of int64"},
        {MOVE_IN_TYPE, 0, 0, HOLO_SEQUENCE, "input 0 has type sequence"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_IN_DIM, 0, 0, INT64_MAX, "too many elements"},
        {MOVE_OUT_DIM, 0, 0, -1, "output 0 has a negative dimension"},
        {MOVE_OUT_DIM, 0, 0, 21, "output has 21 elements"},
        {MOVE_PARAM, 1, 0, -4, "-4 turns"},
        {MOVE_PARAM, 1, 0, INT64_MAX, "too many elements"},
        {MOVE_PARAM, 0, 0, 8, "elements -1 to 48"},
        {MOVE_PARAM, 0, 0, 20, "elements 11 to 60"},
        {MOVE_PARAM, 2, 0, INT64_MIN, "too large"},
        {MOVE_PARAM, 0, 0, INT64_MAX, "too large"},
        {MOVE_PARAM, 4, 0, 13, "elements 1 to 62"},
    };
    MOVE_REFUSES(hg_kernels_copy, copy_make_good, bad);
    move_call c = {0};
    holo_error e = {0};
    copy_make_good(&c);
    move_connect(&c);
    CHECK_STATUS(hg_kernels_copy_bytes->check(&c.args, &e), HOLO_E_TYPE);
    CHECK_HAS(e.message, "elements of float32, expected such of 8 bits");
    c.args.n_in = 2;
    CHECK_STATUS(hg_kernels_copy_bytes->check(&c.args, &e), HOLO_E_FORMAT);
    CHECK_STATUS(hg_kernels_copy_halves->check(&c.args, &e), HOLO_E_FORMAT);
    CHECK_STATUS(hg_kernels_copy_words->check(&c.args, &e), HOLO_E_FORMAT);
    move_free(&c);
    copy_make(&c, &(copy_case){"", 60, 10, 2, {4, 5}, {-3, 10}}, HOLO_U8);
    move_connect(&c);
    CHECK_STATUS(hg_kernels_copy_words->check(&c.args, &e), HOLO_E_TYPE);
    CHECK_HAS(e.message, "elements of uint8, expected such of 32 bits");
    CHECK_STATUS(hg_kernels_copy_halves->check(&c.args, &e), HOLO_E_TYPE);
    CHECK_HAS(e.message, "elements of uint8, expected such of 16 bits");
    move_free(&c);
}

/* Bits of one type are elements of another as wide; text is not in its elements. */
static void copy_changes_type(void)
{
    const copy_case all = {"", 5, 0, 1, {5}, {1}};
    move_call c = {0};
    holo_error e = {0};
    copy_make(&c, &all, HOLO_I4);
    c.out[0].dtype = HOLO_F4E2M1;
    if (move_run(hg_kernels_copy, &c)) CHECK_MEM(c.out[0].data, c.in[0].data, 3);
    move_free(&c);
    copy_make(&c, &all, HOLO_STRING);
    c.out[0].dtype = HOLO_C128;
    move_connect(&c);
    CHECK_STATUS(hg_kernels_copy->check(&c.args, &e), HOLO_E_TYPE);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_copy[] = {
    {"matches_loop", copy_matches_loop},
    {"refuses", copy_refuses},
    {"changes_type", copy_changes_type},
    {0},
};
