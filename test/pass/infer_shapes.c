/* infer_shapes.c - integers that come from constants are numbers before the next node asks. */
#include "op/rule.h"

/* Pads as exporters write them: a list of pairs, reversed, transposed and flattened. */
#define INFER_PADS                                                                                 \
    "%p = const int64[8] {2, 1, 1, 3, 0, 0, 0, 0} %two = const int64[2] {-1, 2} "                  \
    "%pairs = Reshape(%p, %two) %from = const int64[1] {-1} "                                      \
    "%to = const int64[1] {-9223372036854775807} %axis = const int64[1] {0} "                      \
    "%back = Slice(%pairs, %from, %to, %axis, %from) %turned = Transpose(%back) {perm=[1,0]} "     \
    "%flat = const int64[1] {-1} %pads = Reshape(%turned, %flat) "

static void infer_check(const char *inputs, const char *body, const char *type)
{
    fixture *f = rule_parse(inputs, body);
    bool changed;
    if (CHECK_OK(hg_pass_find("infer_shapes")->run(&f->g, &changed), &f->error))
        rule_type_is(f, type);
    fixture_free(f);
}

static void infer_lists(void)
{
    infer_check("%x: float32[1,1,h,w]", INFER_PADS "%y = Pad(%x, %pads)", "float32[1,1,h+4,w+3]");
    /* even ranks depend on it */
    infer_check("%x: float32[1,1,5,6]", INFER_PADS "%z = Pad(%x, %pads) %y = Squeeze(%z)",
                "float32[9,9]");
}

const hg_test_case hg_tests_pass_infer_shapes[] = {
    {"lists", infer_lists},
    {0},
};
