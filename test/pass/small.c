/* small.c - passes whose whole idea fits a few lines of text: identity, duplicates, algebra, dead
 * code, constants, shapes. */
#include "rewrite.h"
#include "test.h"

static void small_remove_identity(void)
{
    CHECK_PASS("remove_identity",
               "graph g(%x: float32[n,4]) {\n"
               "  %a = Identity(%x)\n"
               "  %b = Cast(%a) {to=1}\n"
               "  %s = const int64[2] {0, 4}\n"
               "  %c = Reshape(%b, %s)\n"
               "  %y = Relu(%c)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,4]) {\n"
               "  %y = Relu(%x)\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("remove_identity", "graph g(%x: float32[n,4]) { %a = Cast(%x) {to=11} return %a }",
               "graph g(%x: float32[n,4]) { %a = Cast(%x) {to=11} return %a }");
}

static void small_merge_duplicates(void)
{
    CHECK_PASS("merge_duplicates",
               "graph g(%x: float32[n]) {\n"
               "  %a = Exp(%x)\n"
               "  %b = Exp(%x)\n"
               "  %c = Log(%x)\n"
               "  %y = Add(%a, %b)\n"
               "  %z = Add(%y, %c)\n"
               "  return %z\n"
               "}\n",
               "graph g(%x: float32[n]) {\n"
               "  %a = Exp(%x)\n"
               "  %c = Log(%x)\n"
               "  %y = Add(%a, %a)\n"
               "  %z = Add(%y, %c)\n"
               "  return %z\n"
               "}\n");
    /* Attributes count. */
    CHECK_PASS(
        "merge_duplicates",
        "graph g(%x: float32[n]) { %a = LeakyRelu(%x) {alpha=0.1} %b = LeakyRelu(%x) {alpha=0.2} "
        "%y = Add(%a, %b) return %y }",
        "graph g(%x: float32[n]) { %a = LeakyRelu(%x) {alpha=0.1} %b = LeakyRelu(%x) {alpha=0.2} "
        "%y = Add(%a, %b) return %y }");
}

static void small_simplify(void)
{
    CHECK_PASS("simplify",
               "graph g(%x: float32[n]) {\n"
               "  %one = const float32[] {1.0}\n"
               "  %two = const float32[] {2.0}\n"
               "  %a = Mul(%x, %one)\n"
               "  %b = Div(%a, %one)\n"
               "  %c = Pow(%b, %two)\n"
               "  %d = Neg(%c)\n"
               "  %y = Neg(%d)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n]) { %c = Mul(%x, %x) return %c }");
    /* -0 + 0 is 0: not the identity. A factor that widens the shape stays. */
    CHECK_PASS(
        "simplify",
        "graph g(%x: float32[n]) { %zero = const float32[] {0.0} %y = Add(%x, %zero) return %y }",
        "graph g(%x: float32[n]) { %zero = const float32[] {0.0} %y = Add(%x, %zero) return %y }");
    CHECK_PASS(
        "simplify",
        "graph g(%x: float32[3]) { %one = const float32[1,1] {1.0} %y = Mul(%x, %one) return %y }",
        "graph g(%x: float32[3]) { %one = const float32[1,1] {1.0} %y = Mul(%x, %one) return %y }");
    CHECK_PASS("simplify",
               "graph g(%x: float32[n]) {\n"
               "  %three = const float32[] {3.0}\n"
               "  %y = Pow(%x, %three)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n]) { %1 = Mul(%x, %x) %y = Mul(%1, %x) return %y }");
    CHECK_PASS("simplify",
               "graph g(%x: float16[n]) {\n"
               "  %three = const float16[] {3.0}\n"
               "  %y = Pow(%x, %three)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float16[n]) {\n"
               "  %three = const float16[] {3.0}\n"
               "  %y = Pow(%x, %three)\n"
               "  return %y\n"
               "}\n");
    static const char cube[] =
        "graph g(%x: float32[n]) { %t = const float32[] {3.0} %y = Pow(%x, %t) return %y }";
    const hg_ctx exact = {.numerics = HOLO_EXACT};
    CHECK_PASS_WITH(&exact, "simplify", cube, cube);
}

static void small_fold_constants(void)
{
    CHECK_PASS(
        "fold_constants",
        "graph g(%x: float32[2]) {\n"
        "  %a = const float32[2] {1.0, 2.0}\n"
        "  %b = const float32[2] {3.0, 5.0}\n"
        "  %c = Mul(%a, %b)\n"
        "  %y = Add(%x, %c)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: float32[2]) { %c = const float32[2] {3.0, 10.0} %y = Add(%x, %c) return %y }");
}

static void small_fold_shapes(void)
{
    CHECK_PASS("fold_shapes",
               "graph g(%x: float32[batch,3,8]) {\n"
               "  %s = Shape(%x)\n"
               "  %i = const int64[1] {0}\n"
               "  %b = Gather(%s, %i)\n"
               "  %k = const int64[1] {24}\n"
               "  %t = Concat(%b, %k) {axis=0}\n"
               "  %y = Reshape(%x, %t)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[batch,3,8]) {\n"
               "  %t = holo:Dims() {dims=dims[batch,24]}\n"
               "  %y = Reshape(%x, %t)\n"
               "  return %y\n"
               "}\n");
}

/* Rows flattened for a product and unflattened behind it; columns that change stay where they are.
 */
static void small_lift_reshape(void)
{
    CHECK_PASS("lift_reshape",
               "graph g(%x: float32[b,m,1]) {\n"
               "  %w = const float32[1,2] {1.0, 2.0}\n"
               "  %p = holo:PackP16(%w)\n"
               "  %s = holo:Dims() {dims=dims[b*m,1]}\n"
               "  %f = Reshape(%x, %s)\n"
               "  %c = holo:MatMulP16(%f, %p) {n=2}\n"
               "  %t = holo:Dims() {dims=dims[b,m,2]}\n"
               "  %y = Reshape(%c, %t)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[b,m,1]) {\n"
               "  %w = const float32[1,2] {1.0, 2.0}\n"
               "  %p = holo:PackP16(%w)\n"
               "  %y = holo:MatMulP16(%x, %p) {n=dims[2], alpha=1.0}\n"
               "  return %y\n"
               "}\n");
    static const char heads[] = "graph g(%x: float32[m,1]) {\n"
                                "  %w = const float32[1,4] {1.0, 2.0, 3.0, 4.0}\n"
                                "  %p = holo:PackP16(%w)\n"
                                "  %c = holo:MatMulP16(%x, %p) {n=4}\n"
                                "  %t = holo:Dims() {dims=dims[m,2,2]}\n"
                                "  %y = Reshape(%c, %t)\n"
                                "  return %y\n"
                                "}\n";
    CHECK_PASS("lift_reshape", heads, heads);
    CHECK_PASS("lift_reshape",
               "graph g(%x: float32[b*m,1], %y: float32[b,m,2]) {\n"
               "  %w = const float32[1,2] {1.0, 2.0}\n"
               "  %p = holo:PackP16(%w)\n"
               "  %c = holo:MatMulP16(%x, %p) {n=2, alpha=0.5}\n"
               "  %t = holo:Dims() {dims=dims[b,m,2]}\n"
               "  %z = Reshape(%c, %t)\n"
               "  return %z\n"
               "}\n",
               "graph g(%x: float32[b*m,1], %y: float32[b,m,2]) {\n"
               "  %w = const float32[1,2] {1.0, 2.0}\n"
               "  %p = holo:PackP16(%w)\n"
               "  %1 = holo:Dims() {dims=dims[b,m,1]}\n"
               "  %2 = Reshape(%x, %1) {allowzero=1}\n"
               "  %z = holo:MatMulP16(%2, %p) {n=dims[2], alpha=0.5}\n"
               "  return %z\n"
               "}\n");
}

static void small_drop_dead(void)
{
    CHECK_PASS("drop_dead",
               "graph g(%x: float32[n]) { %a = Exp(%x) %b = Log(%a) %y = Relu(%x) return %y }",
               "graph g(%x: float32[n]) { %y = Relu(%x) return %y }");
}

const hg_test_case hg_tests_pass_small[] = {
    {"remove_identity", small_remove_identity},
    {"merge_duplicates", small_merge_duplicates},
    {"simplify", small_simplify},
    {"fold_constants", small_fold_constants},
    {"fold_shapes", small_fold_shapes},
    {"lift_reshape", small_lift_reshape},
    {"drop_dead", small_drop_dead},
    {0},
};
