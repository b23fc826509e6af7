/* fold_scales.c - scales of codes move into factors before them, and where they must not. */
#include "rewrite.h"
#include "test.h"

#include "pass/quantize.h"

/* Scales go into the factors of a product of codes, through what lies between. */
static void scales_sums(void)
{
    CHECK_PASS("fold_scales",
               "graph g(%x: int32[n,2], %c: uint8[n,2]) {\n"
               "  %s = const float32[2] {0.5, 3}\n"
               "  %t = const float32[] {0.25}\n"
               "  %z = const float32[] {7}\n"
               "  %u = const float32[] {2}\n"
               "  %a = Cast(%x) {to=1}\n"
               "  %b = Mul(%a, %s)\n"
               "  %d = Cast(%c) {to=1}\n"
               "  %e = Sub(%d, %z)\n"
               "  %f = Mul(%e, %u)\n"
               "  %h = Add(%b, %f)\n"
               "  %i = Relu(%h)\n"
               "  %j = Div(%i, %t)\n"
               "  %y = Round(%j)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: int32[n,2], %c: uint8[n,2]) {\n"
               "  %z = const float32[] {7}\n"
               "  %1 = const float32[2] {2, 12}\n"
               "  %3 = const float32[] {8}\n"
               "  %a = Cast(%x) {to=1}\n"
               "  %d = Cast(%c) {to=1}\n"
               "  %e = Sub(%d, %z)\n"
               "  %2 = Mul(%a, %1)\n"
               "  %4 = Mul(%e, %3)\n"
               "  %5 = Add(%2, %4)\n"
               "  %j = Relu(%5)\n"
               "  %y = Round(%j)\n"
               "  return %y\n"
               "}\n");
    /* a factor may come first; codes are dequantised once more for another reader */
    CHECK_PASS("fold_scales",
               "graph g(%x: int32[n,2], %c: uint8[n,2]) {\n"
               "  %s = const float32[2] {0.5, 3}\n"
               "  %t = const float32[] {0.25}\n"
               "  %u = const float32[] {2}\n"
               "  %a = Cast(%x) {to=1}\n"
               "  %b = Mul(%s, %a)\n"
               "  %d = Cast(%c) {to=1}\n"
               "  %f = Mul(%d, %u)\n"
               "  %h = Add(%b, %f)\n"
               "  %j = Div(%h, %t)\n"
               "  %y = Round(%j)\n"
               "  return %y, %f\n"
               "}\n",
               "graph g(%x: int32[n,2], %c: uint8[n,2]) {\n"
               "  %u = const float32[] {2}\n"
               "  %1 = const float32[2] {2, 12}\n"
               "  %3 = const float32[] {8}\n"
               "  %a = Cast(%x) {to=1}\n"
               "  %d = Cast(%c) {to=1}\n"
               "  %f = Mul(%d, %u)\n"
               "  %2 = Mul(%1, %a)\n"
               "  %4 = Mul(%d, %3)\n"
               "  %j = Add(%2, %4)\n"
               "  %y = Round(%j)\n"
               "  return %y, %f\n"
               "}\n");
    /* bounds are divided too */
    CHECK_PASS("fold_scales",
               "graph g(%x: int32[n]) {\n"
               "  %s = const float32[] {3}\n"
               "  %t = const float32[] {0.5}\n"
               "  %l = const float32[] {-1}\n"
               "  %m = const float32[] {6}\n"
               "  %a = Cast(%x) {to=1}\n"
               "  %b = Mul(%a, %s)\n"
               "  %h = Clip(%b, %l, %m)\n"
               "  %j = Div(%h, %t)\n"
               "  %y = Round(%j)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: int32[n]) {\n"
               "  %1 = const float32[] {6}\n"
               "  %3 = const float32[] {-2}\n"
               "  %4 = const float32[] {12}\n"
               "  %a = Cast(%x) {to=1}\n"
               "  %2 = Mul(%a, %1)\n"
               "  %j = Clip(%2, %3, %4)\n"
               "  %y = Round(%j)\n"
               "  return %y\n"
               "}\n");
}

static void scales_floats(void)
{
    /* into the weights of a convolution of floats, if codes are made */
    CHECK_PASS("fold_scales",
               "graph g(%x: float32[1,1,4,4]) {\n"
               "  %w = const float32[1,1,1,1] {3}\n"
               "  %b = const float32[1] {1}\n"
               "  %t = const float32[] {0.5}\n"
               "  %a = Conv(%x, %w, %b)\n"
               "  %q = Div(%a, %t)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,1,4,4]) {\n"
               "  %1 = const float32[1,1,1,1] {6}\n"
               "  %2 = const float32[1] {2}\n"
               "  %q = Conv(%x, %1, %2)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n");
    /* into the factors of what becomes codes, or one factor of its own */
    CHECK_PASS("fold_scales",
               "graph g(%x: float32[n,2]) {\n"
               "  %h = const float32[] {0.5}\n"
               "  %s = const float32[2] {3, 5}\n"
               "  %t = const float32[] {0.25}\n"
               "  %a = Mul(%x, %h)\n"
               "  %b = Mul(%a, %s)\n"
               "  %q = Div(%b, %t)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2]) {\n"
               "  %1 = const float32[2] {6, 10}\n"
               "  %q = Mul(%x, %1)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("fold_scales",
               "graph g(%x: float32[n]) {\n"
               "  %t = const float32[] {0.25}\n"
               "  %q = Div(%x, %t)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n]) {\n"
               "  %1 = const float32[] {4}\n"
               "  %q = Mul(%x, %1)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n");
    /* not into weights alone where the bias is not constant */
    CHECK_PASS("fold_scales",
               "graph g(%x: float32[1,1,4,4], %b: float32[1]) {\n"
               "  %w = const float32[1,1,1,1] {3}\n"
               "  %t = const float32[] {0.5}\n"
               "  %a = Conv(%x, %w, %b)\n"
               "  %q = Div(%a, %t)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,1,4,4], %b: float32[1]) {\n"
               "  %w = const float32[1,1,1,1] {3}\n"
               "  %1 = const float32[] {2}\n"
               "  %a = Conv(%x, %w, %b)\n"
               "  %q = Mul(%a, %1)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n");
    /* factors may be negative, and leave the rank */
    CHECK_PASS("fold_scales",
               "graph g(%x: float32[n]) {\n"
               "  %h = const float32[] {-0.5}\n"
               "  %t = const float32[] {0.25}\n"
               "  %a = Mul(%x, %h)\n"
               "  %b = Relu(%a)\n"
               "  %c = Mul(%b, %h)\n"
               "  %q = Div(%c, %t)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n]) {\n"
               "  %h = const float32[] {-0.5}\n"
               "  %1 = const float32[] {-2}\n"
               "  %a = Mul(%x, %h)\n"
               "  %b = Relu(%a)\n"
               "  %q = Mul(%b, %1)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("fold_scales",
               "graph g(%x: float32[n]) {\n"
               "  %h = const float32[1,1] {0.5}\n"
               "  %t = const float32[] {0.25}\n"
               "  %a = Mul(%x, %h)\n"
               "  %q = Div(%a, %t)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n]) {\n"
               "  %1 = const float32[1,1] {2}\n"
               "  %q = Mul(%x, %1)\n"
               "  %y = Round(%q)\n"
               "  return %y\n"
               "}\n");
}

/* Nothing moves. */
static void scales_not(void)
{
    static const char *const same[] = {
        /* no product of codes */
        "graph g(%x: uint8[n]) {\n"
        "  %s = const float32[] {0.5}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %y = Div(%b, %s)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: float32[1,1,4,4]) {\n"
        "  %w = const float32[1,1,1,1] {3}\n"
        "  %t = const float32[] {0.5}\n"
        "  %a = Conv(%x, %w)\n"
        "  %y = Div(%a, %t)\n"
        "  return %y\n"
        "}\n",
        /* another reader, a divisor that varies, a quotient out of range */
        "graph g(%x: int32[n]) {\n"
        "  %s = const float32[] {0.5}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %y = Div(%b, %s)\n"
        "  return %y, %b\n"
        "}\n",
        "graph g(%x: int32[n,2]) {\n"
        "  %s = const float32[2] {0.5, 1}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %y = Div(%b, %s)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: int32[n]) {\n"
        "  %s = const float32[] {1e20}\n"
        "  %t = const float32[] {1e-20}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %y = Div(%b, %t)\n"
        "  return %y\n"
        "}\n",
        /* a negative divisor, under which bounds would turn around; one that is no single number */
        "graph g(%x: int32[n]) {\n"
        "  %s = const float32[] {3}\n"
        "  %t = const float32[] {-0.5}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %c = Relu(%b)\n"
        "  %q = Div(%c, %t)\n"
        "  %y = Round(%q)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: int32[n]) {\n"
        "  %s = const float32[] {3}\n"
        "  %t = const float32[1] {0.5}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %q = Div(%b, %t)\n"
        "  return %q\n"
        "}\n",
        /* another reader behind the product; something that is no factor on the way */
        "graph g(%x: int32[n]) {\n"
        "  %s = const float32[] {3}\n"
        "  %t = const float32[] {0.5}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %c = Relu(%b)\n"
        "  %q = Div(%c, %t)\n"
        "  return %q, %c\n"
        "}\n",
        "graph g(%x: int32[n]) {\n"
        "  %s = const float32[] {3}\n"
        "  %t = const float32[] {0.5}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %s)\n"
        "  %c = Pow(%b, %s)\n"
        "  %q = Div(%c, %t)\n"
        "  return %q\n"
        "}\n",
        /* codes alone: one, two, moved, a mean of them; they lie half way between others often */
        "graph g(%x: uint8[n,2], %z: uint8[]) {\n"
        "  %s = const float32[] {0.05}\n"
        "  %t = const float32[] {0.02}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Cast(%z) {to=1, saturate=1}\n"
        "  %c = Sub(%a, %b)\n"
        "  %d = Mul(%c, %s)\n"
        "  %e = Transpose(%d) {perm=[1,0]}\n"
        "  %q = Div(%e, %t)\n"
        "  %y = Round(%q)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: int8[1,2,4,4]) {\n"
        "  %t = const float32[] {7}\n"
        "  %a = Cast(%x) {to=1, saturate=1}\n"
        "  %b = Mul(%a, %t)\n"
        "  %c = AveragePool(%b) {kernel_shape=[2,2]}\n"
        "  %q = Div(%c, %t)\n"
        "  %y = Round(%q)\n"
        "  return %y\n"
        "}\n",
        /* 64-bit numbers */
        "graph g(%x: float64[n]) {\n"
        "  %t = const float64[] {0.5}\n"
        "  %q = Div(%x, %t)\n"
        "  %y = Round(%q)\n"
        "  return %y\n"
        "}\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK_PASS("fold_scales", same[i], same[i]);
}

/* Exact numerics and debugging keep every quotient, models that only show errors those of floats.
 */
static void scales_settings(void)
{
    static const char floats[] = "graph g(%x: float32[n]) {\n"
                                 "  %t = const float32[] {0.25}\n"
                                 "  %q = Div(%x, %t)\n"
                                 "  %y = Round(%q)\n"
                                 "  return %y\n"
                                 "}\n";
    hg_quantize q = {.observe = true};
    const hg_ctx exact = {.numerics = HOLO_EXACT}, kept = {.flags = HOLO_COMPILE_KEEP_VALUES},
                 shown = {.quantize = &q};
    CHECK_PASS_WITH(&exact, "fold_scales", floats, floats);
    CHECK_PASS_WITH(&kept, "fold_scales", floats, floats);
    CHECK_PASS_WITH(&shown, "fold_scales", floats, floats);
}

const hg_test_case hg_tests_pass_fold_scales[] = {
    {"sums", scales_sums},
    {"floats", scales_floats},
    {"not", scales_not},
    {"settings", scales_settings},
    {0},
};
