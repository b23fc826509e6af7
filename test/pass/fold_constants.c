/* fold_constants.c - which results are numbers in the file: those of about the size of what they
 * are computed from, and weights of recurrent layers whatever their size. */
#include "op/rule.h"

/* A scalar spread over 100 kB, behind a node more, and who reads it. */
#define FOLD_SPREAD(shape)                                                                         \
    "%s = const float32[1] {0.5} %to = const int64[3] " shape " %e = Expand(%s, %to) "             \
    "%w = Neg(%e) "

static void fold_check(const char *inputs, const char *body, bool stays)
{
    fixture *f = rule_parse(inputs, body);
    bool changed;
    if (CHECK_OK(hg_pass_find("infer_shapes")->run(&f->g, &changed), &f->error) &&
        CHECK_OK(hg_pass_find("fold_constants")->run(&f->g, &changed), &f->error))
        CHECK((strstr(fixture_dump(f), "Expand") != NULL) == stays);
    fixture_free(f);
}

static void fold_wide_weights(void)
{
    fold_check("%x: float32[5,1,200], %r: float32[1,128,32]",
               FOLD_SPREAD("{1,128,200}") "%y = LSTM(%x, %w, %r) {hidden_size=32}", false);
    /* somebody else reads it, or reads it too */
    fold_check("%x: float32[1,5,128]", FOLD_SPREAD("{1,128,200}") "%y = MatMul(%x, %w)", true);
    fold_check("%x: float32[5,1,200], %r: float32[1,128,32]",
               FOLD_SPREAD("{1,128,200}") "%l = LSTM(%x, %w, %r) {hidden_size=32} "
                                          "%m = ReduceMax(%l) {keepdims=0} %y = Add(%w, %m)",
               true);
}

const hg_test_case hg_tests_pass_fold_constants[] = {
    {"wide_weights", fold_wide_weights},
    {0},
};
