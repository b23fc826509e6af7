/* fuse_gate.c - gates that go into weights. */
#include "rewrite.h"
#include "test.h"

#define GATE_HEAD                                                                                  \
    "graph g(%x: float32[n,h,w,24], %g: float32[n,1,1,24], %v: float32[1,1,24,16], "               \
    "%b: float32[16]) {\n"

static void gate_weights(void)
{
    CHECK_PASS("fuse_gate",
               GATE_HEAD "  %m = Mul(%g, %x)\n"
                         "  %y = holo:ConvNhwc(%m, %v, %b) {kernel_shape=[1,1], out_channels=16, "
                         "code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, "
                         "types=[1]}\n"
                         "  return %y\n}\n",
               GATE_HEAD "  %y = holo:ConvGated(%x, %v, %g, %b) {out_channels=16, "
                         "code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, "
                         "types=[1]}\n"
                         "  return %y\n}\n");
    CHECK_PASS("fuse_gate",
               "graph g(%x: float32[n,5,5,24], %g: float32[1,1,1,24], %v: float32[1,1,24,16]) {\n"
               "  %m = Mul(%x, %g)\n"
               "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], out_channels=16}\n"
               "  return %y\n}\n",
               "graph g(%x: float32[n,5,5,24], %g: float32[1,1,1,24], %v: float32[1,1,24,16]) {\n"
               "  %y = holo:ConvGated(%x, %v, %g) {out_channels=16}\n"
               "  return %y\n}\n");
    /* A map that others read too, a stride, a gate for each pixel, few pixels, many outputs. */
    static const char *const kept[] = {
        GATE_HEAD "  %m = Mul(%g, %x)\n"
                  "  %y = holo:ConvNhwc(%m, %v) {kernel_shape=[1,1], out_channels=16}\n"
                  "  return %y, %m\n}\n",
        GATE_HEAD "  %m = Mul(%g, %x)\n"
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
        CHECK_PASS("fuse_gate", kept[i], kept[i]);
}

const hg_test_case hg_tests_pass_fuse_gate[] = {
    {"weights", gate_weights},
    {0},
};
