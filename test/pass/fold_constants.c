/* fold_constants.c - which results are numbers in the file: those of about the size of what they
 * are computed from, and weights of recurrent layers and codes of convolutions whatever their size.
 */
#include "op/rule.h"

/* A scalar spread over 100 kB, behind a node more, and who reads it. */
#define FOLD_SPREAD(shape)                                                                         \
    "%s = const float32[1] {0.5} %to = const int64[3] " shape " %e = Expand(%s, %to) "             \
    "%w = Neg(%e) "

/* Whether operator `op` is left. */
static void fold_check_op(const char *op, const char *inputs, const char *body, bool stays)
{
    fixture *f = rule_parse(inputs, body);
    bool changed;
    if (CHECK_OK(hg_pass_find("infer_shapes")->run(&f->g, &changed), &f->error) &&
        CHECK_OK(hg_pass_find("fold_constants")->run(&f->g, &changed), &f->error))
        CHECK((strstr(fixture_dump(f), op) != NULL) == stays);
    fixture_free(f);
}

static void fold_check(const char *inputs, const char *body, bool stays)
{
    fold_check_op("Expand", inputs, body, stays);
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

/* 128 x 100 x 3 weights of a type, spread out so that they are a constant as small as this, as
 * numbers. */
#define FOLD_CODES(type, shape)                                                                    \
    "%s = const " type "[1] {3} %to = const int64[3] " shape " %q = Expand(%s, %to) "              \
    "%c = Cast(%q) {to=1} %f = const float32[] {0.5} %w = Mul(%c, %f) "

static void fold_wide_codes(void)
{
    static const char x[] = "%x: float32[1,100,9]", y[] = "%x: float32[1,128,9]";
    fold_check_op("Cast", x, FOLD_CODES("uint8", "{128,100,3}") "%y = Conv(%x, %w)", false);
    fold_check_op("Cast", y, FOLD_CODES("int8", "{128,100,3}") "%y = ConvTranspose(%x, %w)", false);
    /* what is convolved, a product */
    fold_check_op("Cast", "%v: float32[4,100,3]",
                  FOLD_CODES("uint8", "{128,100,3}") "%y = Conv(%w, %v)", true);
    fold_check_op("Cast", "%x: float32[1,5,100]",
                  FOLD_CODES("uint8", "{128,100,3}") "%y = MatMul(%x, %w)", true);
}

const hg_test_case hg_tests_pass_fold_constants[] = {
    {"wide_weights", fold_wide_weights},
    {"wide_codes", fold_wide_codes},
    {0},
};
