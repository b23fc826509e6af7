/* fuse_squeeze.c - means made by depthwise convolutions, gates that go into weights. */
#include "rewrite.h"
#include "test.h"

#define SQUEEZE_MEAN "graph g(%x: float32[n,h,9,24], %d: float32[9,24]) {\n"

static void squeeze_means(void)
{
    CHECK_PASS("fuse_squeeze",
               SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3], pads=[1,1,1,1]}\n"
                            "  %s = const int64[2] {2, 1}\n"
                            "  %m = ReduceMean(%a, %s)\n"
                            "  return %a, %m\n}\n",
               SQUEEZE_MEAN "  %a, %1 = holo:ConvDw(%x, %d) {kernel_shape=[3,3], pads=[1,1,1,1]}\n"
                            "  %s = const int64[2] {2, 1}\n"
                            "  %m = ReduceMean(%1, %s)\n"
                            "  return %a, %m\n}\n");
    /* Two that read the same map, one without kept dimensions. */
    CHECK_PASS("fuse_squeeze",
               SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                            "  %s = const int64[2] {1, 2}\n"
                            "  %m = ReduceMean(%a, %s) {keepdims=0}\n"
                            "  %k = ReduceMean(%a, %s)\n"
                            "  return %a, %m, %k\n}\n",
               SQUEEZE_MEAN "  %a, %1 = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                            "  %s = const int64[2] {1, 2}\n"
                            "  %m = ReduceMean(%1, %s) {keepdims=0}\n"
                            "  %k = ReduceMean(%1, %s)\n"
                            "  return %a, %m, %k\n}\n");
    /* Other axes, another operator, rows that may have no pixels. */
    static const char *const kept[] = {
        SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                     "  %s = const int64[2] {2, 3}\n"
                     "  %m = ReduceMean(%a, %s)\n"
                     "  return %a, %m\n}\n",
        SQUEEZE_MEAN "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
                     "  %s = const int64[2] {1, 2}\n"
                     "  %m = ReduceMax(%a, %s)\n"
                     "  return %a, %m\n}\n",
        "graph g(%x: float32[n,8,w,24], %d: float32[9,24]) {\n"
        "  %a = holo:ConvDw(%x, %d) {kernel_shape=[3,3]}\n"
        "  %s = const int64[2] {1, 2}\n"
        "  %m = ReduceMean(%a, %s)\n"
        "  return %a, %m\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fuse_squeeze", kept[i], kept[i]);
}

#define SQUEEZE_GATE                                                                               \
    "graph g(%x: float32[n,h,w,24], %g: float32[n,1,1,24], %v: float32[1,1,24,16], "               \
    "%b: float32[16]) {\n"

static void squeeze_gates(void)
{
    CHECK_PASS(
        "fuse_squeeze",
        SQUEEZE_GATE "  %m = Mul(%g, %x)\n"
                     "  %y = holo:ConvNhwc(%m, %v, %b) {kernel_shape=[1,1], out_channels=16, "
                     "code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, "
                     "types=[1]}\n"
                     "  return %y\n}\n",
        SQUEEZE_GATE "  %y = holo:ConvGated(%x, %v, %g, %b) {out_channels=16, "
                     "code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, "
                     "types=[1]}\n"
                     "  return %y\n}\n");
    CHECK_PASS("fuse_squeeze",
               "graph g(%x: float32[n,5,5,24], %g: float32[1,1,1,24], %v: float32[1,1,24,16]) {\n"
               "  %m = Mul(%x, %g)\n"
               "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], out_channels=16}\n"
               "  return %y\n}\n",
               "graph g(%x: float32[n,5,5,24], %g: float32[1,1,1,24], %v: float32[1,1,24,16]) {\n"
               "  %y = holo:ConvGated(%x, %v, %g) {out_channels=16}\n"
               "  return %y\n}\n");
    /* A map that others read too, a stride, a gate for each pixel, few pixels, many outputs. */
    static const char *const kept[] = {
        SQUEEZE_GATE "  %m = Mul(%g, %x)\n"
                     "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], out_channels=16}\n"
                     "  return %y, %m\n}\n",
        SQUEEZE_GATE "  %m = Mul(%g, %x)\n"
                     "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], strides=[2,2], "
                     "out_channels=16}\n"
                     "  return %y\n}\n",
        "graph g(%x: float32[n,h,w,24], %g: float32[n,h,w,1], %v: float32[1,1,24,16]) {\n"
        "  %m = Mul(%g, %x)\n"
        "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], out_channels=16}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,4,4,24], %g: float32[n,1,1,24], %v: float32[1,1,24,16]) {\n"
        "  %m = Mul(%g, %x)\n"
        "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], out_channels=16}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,h,w,24], %g: float32[n,1,1,24], %v: float32[1,64,24,16]) {\n"
        "  %m = Mul(%g, %x)\n"
        "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], out_channels=1024}\n"
        "  return %y\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fuse_squeeze", kept[i], kept[i]);
}

const hg_test_case hg_tests_pass_fuse_squeeze[] = {
    {"means", squeeze_means},
    {"gates", squeeze_gates},
    {0},
};
