/* fuse_planes.c - the first convolution of a picture reads its planes. */
#include "rewrite.h"
#include "test.h"

#define PLANES_HEAD "graph g(%x: float32[n,3,h,w], %v: float32[1,2,27,16], %b: float32[20]) {\n"

static void planes_fuse_first(void)
{
    CHECK_PASS("fuse_planes",
               PLANES_HEAD
               "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %y = holo:ConvNhwc(%t, %v, %b) {kernel_shape=[3,3], strides=[2,2], "
               "pads=[1,1,1,1], out_channels=20, code={r0 = load f32 0; r1 = load f32 1; r2 = add "
               "f32 r0 r1; out r2 f32}, types=[1]}\n"
               "  return %y\n}\n",
               PLANES_HEAD
               "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %y = holo:ConvNchw(%x, %v, %b) {kernel_shape=[3,3], strides=[2,2], "
               "pads=[1,1,1,1], out_channels=20, code={r0 = load f32 0; r1 = load f32 1; r2 = add "
               "f32 r0 r1; out r2 f32}, types=[1]}\n"
               "  return %y\n}\n");
    /* Pixels that others read too, another order, a dilated kernel, one that is a pixel wide, many
     * planes, few outputs, groups. */
    static const char *const kept[] = {
        PLANES_HEAD "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
                    "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[3,3], out_channels=20}\n"
                    "  return %y, %t\n}\n",
        "graph g(%x: float32[n,h,3,w], %v: float32[1,2,27,16]) {\n"
        "  %t = Transpose(%x) {perm=[0,1,3,2]}\n"
        "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[3,3], out_channels=20}\n"
        "  return %y\n}\n",
        PLANES_HEAD
        "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
        "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[3,3], dilations=[2,2], out_channels=20}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,3,h,w], %v: float32[1,2,9,16]) {\n"
        "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
        "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[3,1], out_channels=20}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,5,h,w], %v: float32[1,2,45,16]) {\n"
        "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
        "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[3,3], out_channels=20}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,3,h,w], %v: float32[1,1,27,16]) {\n"
        "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
        "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[3,3], out_channels=4}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,2,h,w], %v: float32[2,1,9,16]) {\n"
        "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
        "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[3,3], group=2, out_channels=20}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,3,h,w], %v: float32[1,2,768,16]) {\n"
        "  %t = Transpose(%x) {perm=[0,2,3,1]}\n"
        "  %y = holo:ConvNhwc(%t, %v) {kernel_shape=[16,16], strides=[16,16], "
        "out_channels=20}\n"
        "  return %y\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fuse_planes", kept[i], kept[i]);
}

const hg_test_case hg_tests_pass_fuse_planes[] = {
    {"first", planes_fuse_first},
    {0},
};
