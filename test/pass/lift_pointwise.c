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

#define LIFT_PIXELS                                                                                \
    "graph g(%x: float32[n,5,w,6], %v: float32[1,2,6,16], %u: float32[1,1,8,16], "                 \
    "%b: float32[3]) {\n"                                                                          \
    "  %p = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], out_channels=32}\n"                         \
    "  %s = holo:Dims() {dims=dims[n,5,w,2,16]}\n"                                                 \
    "  %q = Reshape(%p, %s)\n"                                                                     \
    "  %t = Transpose(%q) {perm=[0,1,3,2,4]}\n"                                                    \
    "  %z = holo:Dims() {dims=dims[n,10,w*2,8]}\n"                                                 \
    "  %r = Reshape(%t, %z)\n"

/* Pixels of 8 channels are shuffled: a 1x1 convolution of them, and its bias. */
static void lift_pixels(void)
{
    CHECK_PASS("lift_pointwise",
               LIFT_PIXELS "  %c = holo:ConvNhwc(%r, %u) {kernel_shape=[1,1], out_channels=3}\n"
                           "  %k = const float32[3] {1.0, 2.0, 3.0}\n"
                           "  %d = Add(%c, %k)\n"
                           "  %y = Sigmoid(%d)\n"
                           "  return %y\n}\n",
               "graph g(%x: float32[n,5,w,6], %v: float32[1,2,6,16], %u: float32[1,1,8,16], "
               "%b: float32[3]) {\n"
               "  %p = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], out_channels=32}\n"
               "  %1 = holo:Dims() {dims=dims[n,5,w*4,8]}\n"
               "  %2 = Reshape(%p, %1) {allowzero=1}\n"
               "  %3 = holo:ConvNhwc(%2, %u) {kernel_shape=[1,1], out_channels=3}\n"
               "  %4 = holo:Dims() {dims=dims[n,5,w,12]}\n"
               "  %8 = holo:Dims() {dims=dims[n,5,w,2,6]}\n"
               "  %11 = holo:Dims() {dims=dims[n,10,w*2,3]}\n"
               "  %k = const float32[3] {1.0, 2.0, 3.0}\n"
               "  %5 = Add(%3, %k)\n"
               "  %6 = Sigmoid(%5)\n"
               "  %7 = Reshape(%6, %4) {allowzero=1}\n"
               "  %9 = Reshape(%7, %8) {allowzero=1}\n"
               "  %10 = Transpose(%9) {perm=[0,1,3,2,4]}\n"
               "  %y = Reshape(%10, %11) {allowzero=1}\n"
               "  return %y\n}\n");
    static const char *const kept[] = {
        /* a bias that only a run knows, or of other columns; more channels than before */
        LIFT_PIXELS "  %k = const float32[8] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}\n"
                    "  %y = Add(%r, %k)\n  return %y\n}\n",
        LIFT_PIXELS "  %c = holo:ConvNhwc(%r, %u) {kernel_shape=[1,1], out_channels=16}\n"
                    "  return %c\n}\n",
        /* one channel, which any move keeps together */
        "graph g(%x: float32[n,4,6], %v: float32[6,8], %u: float32[1,1,1,16]) {\n"
        "  %p = MatMul(%x, %v)\n"
        "  %t = Transpose(%p) {perm=[0,2,1]}\n"
        "  %s = holo:Dims() {dims=dims[n,8,4,1]}\n"
        "  %r = Reshape(%t, %s)\n"
        "  %c = holo:ConvNhwc(%r, %u) {kernel_shape=[1,1], out_channels=1}\n"
        "  return %c\n}\n",
        /* a kernel that meets neighbours */
        LIFT_PIXELS "  %c = holo:ConvNhwc(%r, %u) {kernel_shape=[1,1], strides=[2,2], "
                    "out_channels=3}\n  return %c\n}\n",
        /* channels change places, too; pixels of 32 channels that become two of 16, of 24 one */
        "graph g(%x: float32[n,8,6,6], %v: float32[1,1,6,16], %u: float32[1,1,8,16]) {\n"
        "  %p = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], out_channels=8}\n"
        "  %t = Transpose(%p) {perm=[0,3,2,1]}\n"
        "  %c = holo:ConvNhwc(%t, %u) {kernel_shape=[1,1], out_channels=3}\n"
        "  return %c\n}\n",
        "graph g(%x: float32[n,4,4,6], %v: float32[1,1,6,16], %u: float32[1,1,8,16]) {\n"
        "  %p = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], out_channels=12}\n"
        "  %t = Transpose(%p) {perm=[0,2,1,3]}\n"
        "  %s = holo:Dims() {dims=dims[n,2,12,8]}\n"
        "  %r = Reshape(%t, %s)\n"
        "  %c = holo:ConvNhwc(%r, %u) {kernel_shape=[1,1], out_channels=3}\n"
        "  return %c\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("lift_pointwise", kept[i], kept[i]);
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
    {"pixels", lift_pixels},
    {"not", lift_not},
    {0},
};
