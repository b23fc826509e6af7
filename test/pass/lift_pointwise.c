/* lift_pointwise.c - activations behind a Conv whose result changes places, and those that stay
 * where they are. */
#include "rewrite.h"
#include "test.h"

#include <stdio.h>

static void lift_over_moves(void)
{
    CHECK_PASS("lift_pointwise",
               "graph g(%a: float32[n,4,6], %b: float32[6,8]) {\n"
               "  %p = MatMul(%a, %b)\n"
               "  %t = Transpose(%p) {perm=[0,2,1]}\n"
               "  %y = Relu(%t)\n"
               "  return %y\n"
               "}\n",
               "graph g(%a: float32[n,4,6], %b: float32[6,8]) {\n"
               "  %p = MatMul(%a, %b)\n"
               "  %1 = Relu(%p)\n"
               "  %y = Transpose(%1) {perm=[0,2,1]}\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("lift_pointwise",
               "graph g(%a: float32[n,4,6], %b: float32[6,8], %c: float32[8]) {\n"
               "  %p = MatMul(%a, %b)\n"
               "  %q = Add(%p, %c)\n"
               "  %t = Transpose(%q) {perm=[0,2,1]}\n"
               "  %f = Flatten(%t) {axis=2}\n"
               "  %y = LeakyRelu(%f) {alpha=0.5}\n"
               "  return %y\n"
               "}\n",
               "graph g(%a: float32[n,4,6], %b: float32[6,8], %c: float32[8]) {\n"
               "  %p = MatMul(%a, %b)\n"
               "  %q = Add(%p, %c)\n"
               "  %1 = LeakyRelu(%q) {alpha=0.5}\n"
               "  %2 = Transpose(%1) {perm=[0,2,1]}\n"
               "  %y = Flatten(%2) {axis=2}\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("lift_pointwise",
               "graph g(%a: float32[n,8,5,4], %b: float32[4,6]) {\n"
               "  %p = MatMul(%a, %b)\n"
               "  %d = DepthToSpace(%p) {blocksize=2}\n"
               "  %l = const float32[] {0.0}\n"
               "  %y = Clip(%d, %l)\n"
               "  return %y\n"
               "}\n",
               "graph g(%a: float32[n,8,5,4], %b: float32[4,6]) {\n"
               "  %p = MatMul(%a, %b)\n"
               "  %l = const float32[] {0.0}\n"
               "  %1 = Clip(%p, %l)\n"
               "  %y = DepthToSpace(%1) {blocksize=2}\n"
               "  return %y\n"
               "}\n");
}

/* The graph stays as it is. */
static void lift_stays(const char *body)
{
    char text[512];
    snprintf(text, sizeof text, "graph g(%%a: float32[n,4,6], %%b: float32[6,8]) {\n%s}\n", body);
    CHECK_PASS("lift_pointwise", text, text);
}

static void lift_not(void)
{
    lift_stays("  %p = MatMul(%a, %b)\n" /* another reader */
               "  %t = Transpose(%p) {perm=[0,2,1]}\n"
               "  %y = Relu(%t)\n  %z = Neg(%t)\n  return %y, %z\n");
    lift_stays("  %p = MatMul(%a, %b)\n" /* two values */
               "  %t = Transpose(%p) {perm=[0,2,1]}\n"
               "  %y = Mul(%t, %t)\n  return %y\n");
    lift_stays("  %p = MatMul(%a, %b)\n" /* nothing changes places */
               "  %f = Flatten(%p) {axis=2}\n"
               "  %y = Relu(%f)\n  return %y\n");
    lift_stays("  %t = Transpose(%a) {perm=[0,2,1]}\n" /* nothing has an epilogue */
               "  %y = Relu(%t)\n  return %y\n");
}

const hg_test_case hg_tests_pass_lift_pointwise[] = {
    {"over_moves", lift_over_moves},
    {"not", lift_not},
    {0},
};
