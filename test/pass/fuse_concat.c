/* fuse_concat.c - convolutions that read what a Concat would put side by side. */
#include "rewrite.h"
#include "test.h"

#define CONCAT_HEAD                                                                                \
    "graph g(%a: float32[n,h,w,16], %b: float32[n,h,w,32], %p: float32[1,1,48,16], "               \
    "%q: float32[1,1,432,16], %r: float32[1,1,64,16], %s: float32[16]) {\n"

static void concat_fuses(void)
{
    CHECK_PASS(
        "fuse_concat",
        CONCAT_HEAD
        "  %c = Concat(%a, %b) {axis=3}\n"
        "  %y = holo:ConvNhwc(%c, %p, %s) {kernel_shape=[1,1], out_channels=16, "
        "code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, types=[1]}\n"
        "  %z = holo:ConvNhwc(%c, %q) {kernel_shape=[3,3], pads=[1,1,1,1], out_channels=9}\n"
        "  return %y, %z\n}\n",
        CONCAT_HEAD
        "  %c = Concat(%a, %b) {axis=3}\n"
        "  %y = holo:ConvNhwc(%a, %p, %b, %s) {kernel_shape=[1,1], out_channels=16, "
        "code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, types=[1], "
        "maps=2}\n"
        "  %z = holo:ConvNhwc(%a, %q, %b) {kernel_shape=[3,3], pads=[1,1,1,1], "
        "out_channels=9, maps=2}\n"
        "  return %y, %z\n}\n");
    /* A Concat of a Concat, which nothing else needs as a whole either. */
    CHECK_PASS(
        "fuse_concat",
        CONCAT_HEAD "  %c = Concat(%a, %b) {axis=-1}\n"
                    "  %d = Concat(%c, %a) {axis=3}\n"
                    "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
                    "  %z = holo:ConvNhwc(%d, %r) {kernel_shape=[1,1], out_channels=16}\n"
                    "  return %y, %z\n}\n",
        CONCAT_HEAD
        "  %c = Concat(%a, %b) {axis=-1}\n"
        "  %d = Concat(%c, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%a, %p, %b) {kernel_shape=[1,1], out_channels=16, maps=2}\n"
        "  %z = holo:ConvNhwc(%a, %r, %b, %a) {kernel_shape=[1,1], out_channels=16, maps=3}\n"
        "  return %y, %z\n}\n");
}

/* What somebody reads as a whole stays whole, for all. */
static void concat_keeps(void)
{
    static const char *const kept[] = {
        /* an output of the graph, also by way of another Concat; a reader of another kind */
        CONCAT_HEAD "  %c = Concat(%a, %b) {axis=3}\n"
                    "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
                    "  return %y, %c\n}\n",
        CONCAT_HEAD "  %c = Concat(%a, %b) {axis=3}\n"
                    "  %d = Concat(%c, %a) {axis=3}\n"
                    "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
                    "  return %y, %d\n}\n",
        CONCAT_HEAD "  %c = Concat(%a, %b) {axis=3}\n"
                    "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
                    "  %z = Relu(%c)\n"
                    "  return %y, %z\n}\n",
        /* a residual */
        "graph g(%a: float32[n,h,w,16], %p: float32[1,2,32,16]) {\n"
        "  %c = Concat(%a, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%c, %p, %c) {kernel_shape=[1,1], out_channels=32, code={r0 = load "
        "f32 0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, types=[1]}\n"
        "  return %y\n}\n",
        /* rows, few channels, 24 of them under a 3x3 kernel, one pixel */
        "graph g(%a: float32[n,h,w,48], %p: float32[1,1,48,16]) {\n"
        "  %c = Concat(%a, %a) {axis=1}\n"
        "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
        "  return %y\n}\n",
        "graph g(%a: float32[n,h,w,8], %p: float32[1,1,16,16]) {\n"
        "  %c = Concat(%a, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
        "  return %y\n}\n",
        "graph g(%a: float32[n,h,w,24], %p: float32[1,1,432,16]) {\n"
        "  %c = Concat(%a, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[3,3], out_channels=16}\n"
        "  return %y\n}\n",
        "graph g(%a: float32[1,1,1,16], %p: float32[1,1,32,16]) {\n"
        "  %c = Concat(%a, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
        "  return %y\n}\n",
        /* groups, channels that only a run knows, more maps than a step takes */
        "graph g(%a: float32[n,h,w,16], %p: float32[2,1,16,16]) {\n"
        "  %c = Concat(%a, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], group=2, out_channels=16}\n"
        "  return %y\n}\n",
        "graph g(%a: float32[n,h,w,c], %p: float32[1,1,k,16]) {\n"
        "  %c = Concat(%a, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%c, %p) {kernel_shape=[1,1], out_channels=16}\n"
        "  return %y\n}\n",
        "graph g(%a: float32[n,h,w,16], %p: float32[1,1,272,16]) {\n"
        "  %c = Concat(%a, %a, %a, %a, %a, %a, %a, %a, %a) {axis=3}\n"
        "  %d = Concat(%c, %a, %a, %a, %a, %a, %a, %a, %a) {axis=3}\n"
        "  %y = holo:ConvNhwc(%d, %p) {kernel_shape=[1,1], out_channels=16}\n"
        "  return %y\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fuse_concat", kept[i], kept[i]);
}

const hg_test_case hg_tests_pass_fuse_concat[] = {
    {"fuses", concat_fuses},
    {"keeps", concat_keeps},
    {0},
};
