/* settle_inputs.c - sizes of inputs that a shape rule leaves only one number for, and those that it
 * leaves open. */
#include "op/rule.h"

/* The type of %y after the pass. */
static void settle_is(const char *inputs, const char *body, const char *type)
{
    fixture *f = rule_parse(inputs, body);
    bool changed;
    CHECK_OK(hg_pass_find("infer_shapes")->run(&f->g, &changed), &f->error);
    CHECK_OK(hg_pass_find("settle_inputs")->run(&f->g, &changed), &f->error);
    rule_type_is(f, type);
    fixture_free(f);
}

static void settle_batch(void)
{
    settle_is("%x: float32[batch,sequence,64], %z: float32[batch,3]",
              "%s = const int64[4] {1, -1, 4, 16} %r = Reshape(%x, %s) "
              "%y = Concat(%z, %z) {axis=1}",
              "float32[batch,6]"); /* -1 takes it all */
    settle_is("%x: float32[batch,12], %z: float32[batch,3]",
              "%s = const int64[2] {4, 6} %r = Reshape(%x, %s) %y = Concat(%z, %z) {axis=1}",
              "float32[2,6]");
}

static void settle_leaves_open(void)
{
    settle_is("%x: float32[batch,12], %z: float32[batch,3]",
              "%s = const int64[2] {-1, 6} %r = Reshape(%x, %s) %y = Concat(%z, %z) {axis=1}",
              "float32[batch,6]");
    settle_is("%x: float32[n,m], %z: float32[n,3]", /* many pairs of numbers */
              "%s = const int64[2] {4, 6} %r = Reshape(%x, %s) %y = Concat(%z, %z) {axis=1}",
              "float32[n,6]");
    settle_is("%x: float32[n,7], %z: float32[n,3]", /* no number fits: every run says so */
              "%s = const int64[2] {4, 6} %r = Reshape(%x, %s) %y = Concat(%z, %z) {axis=1}",
              "float32[n,6]");
    settle_is("%x: float32[batch,sequence,64], %z: float32[batch,3]", /* of nothing any number */
              "%h = Shape(%x) {start=1, end=2} %a = const int64[1] {1} %b = const int64[2] {4, 16} "
              "%s = Concat(%a, %h, %b) {axis=0} %r = Reshape(%x, %s) "
              "%y = Concat(%z, %z) {axis=1}",
              "float32[batch,6]");
}

/* What a branch demands holds only where it is taken. */
static void settle_branch(void)
{
    settle_is("%c: bool[], %x: float32[n,12], %z: float32[n,3]",
              "%i = If(%c) body() { %s = const int64[2] {4, 6} %r = Reshape(%x, %s) return %r } "
              "body() { %t = const float32[] {1.0} %u = const int64[2] {4, 6} "
              "%e = Expand(%t, %u) return %e } "
              "%w = Neg(%i) %v = ReduceSum(%w) {keepdims=0} %a = Add(%z, %v) "
              "%y = Concat(%a, %z) {axis=1}",
              "float32[n,6]");
}

const hg_test_case hg_tests_pass_settle_inputs[] = {
    {"batch", settle_batch},
    {"leaves_open", settle_leaves_open},
    {"branch", settle_branch},
    {0},
};
