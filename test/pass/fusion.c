/* fusion.c - layout of convolutions and what runs on their tiles. */
#include "rewrite.h"
#include "test.h"

/* Weights of eight outputs. */
#define FUSION_8 "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0"
#define FUSION_16 FUSION_8 ", " FUSION_8

static void fusion_choose_layout(void)
{
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[n,2,5,5]) {\n"
               "  %w = const float32[1,2,1,1] {1.0, 2.0}\n"
               "  %y = Conv(%x, %w)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2,5,5]) {\n"
               "  %1 = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %w = const float32[1,2,1,1] {1.0, 2.0}\n"
               "  %2 = holo:PackConv(%w) {group=1}\n"
               "  %3 = holo:ConvNhwc(%1, %2) {kernel_shape=[1,1], out_channels=dims[1]}\n"
               "  %y = Transpose(%3) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
    /* Three axes, and a pool behind them. */
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[n,2,5,5,6]) {\n"
               "  %w = const float32[8,2,1,1,1] {" FUSION_16 "}\n"
               "  %y = Conv(%x, %w) {strides=[1,2,2]}\n"
               "  %z = MaxPool(%y) {kernel_shape=[2,2,2]}\n"
               "  return %z\n"
               "}\n",
               "graph g(%x: float32[n,2,5,5,6]) {\n"
               "  %1 = Transpose(%x) {perm=[0,2,3,4,1]}\n"
               "  %w = const float32[8,2,1,1,1] {" FUSION_16 "}\n"
               "  %2 = holo:PackConv(%w) {group=1}\n"
               "  %3 = holo:ConvNhwc(%1, %2) {strides=[1,2,2], kernel_shape=[1,1,1], "
               "out_channels=dims[8]}\n"
               "  %y = Transpose(%3) {perm=[0,4,1,2,3]}\n"
               "  %4 = Transpose(%y) {perm=[0,2,3,4,1]}\n"
               "  %5 = holo:PoolNhwc(%4) {kernel_shape=[2,2,2], mode=0}\n"
               "  %z = Transpose(%5) {perm=[0,4,1,2,3]}\n"
               "  return %z\n"
               "}\n");
    /* One axis: a first one of size 1 goes before it. */
    CHECK_PASS(
        "choose_layout",
        "graph g(%x: float32[n,2,5]) {\n"
        "  %w = const float32[8,2,1] {" FUSION_16 "}\n"
        "  %y = Conv(%x, %w)\n"
        "  %z = AveragePool(%y) {kernel_shape=[2], pads=[1,0], strides=[2]}\n"
        "  return %z\n"
        "}\n",
        "graph g(%x: float32[n,2,5]) {\n"
        "  %1 = const int64[1] {2}\n"
        "  %2 = Unsqueeze(%x, %1)\n"
        "  %3 = Transpose(%2) {perm=[0,2,3,1]}\n"
        "  %w = const float32[8,2,1,1] {" FUSION_16 "}\n"
        "  %4 = holo:PackConv(%w) {group=1}\n"
        "  %5 = holo:ConvNhwc(%3, %4) {kernel_shape=[1,1], out_channels=dims[8]}\n"
        "  %6 = Transpose(%5) {perm=[0,3,1,2]}\n"
        "  %7 = const int64[1] {2}\n"
        "  %y = Squeeze(%6, %7)\n"
        "  %8 = const int64[1] {2}\n"
        "  %9 = Unsqueeze(%y, %8)\n"
        "  %10 = Transpose(%9) {perm=[0,2,3,1]}\n"
        "  %11 = holo:PoolNhwc(%10) {kernel_shape=[1,2], pads=[0,1,0,0], strides=[1,2], mode=1}\n"
        "  %12 = Transpose(%11) {perm=[0,3,1,2]}\n"
        "  %13 = const int64[1] {2}\n"
        "  %z = Squeeze(%12, %13)\n"
        "  return %z\n"
        "}\n");
    /* Nothing to pack, nothing to win. */
    const char *by_input =
        "graph g(%x: float32[n,2,5,5], %w: float32[1,2,1,1]) { %y = Conv(%x, %w) "
        "return %y }";
    CHECK_PASS("choose_layout", by_input, by_input);
}

static void fusion_choose_layout_depthwise(void)
{
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[1,8,3,3]) {\n"
               "  %w = const float32[8,1,1,1] {" FUSION_8 "}\n"
               "  %y = Conv(%x, %w) {group=8}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,8,3,3]) {\n"
               "  %1 = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %w = const float32[8,1,1,1] {" FUSION_8 "}\n"
               "  %2 = holo:PackDw(%w)\n"
               "  %3 = holo:ConvDw(%1, %2) {group=8, kernel_shape=[1,1]}\n"
               "  %y = Transpose(%3) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[1,8,3,3,3]) {\n"
               "  %w = const float32[8,1,1,1,1] {" FUSION_8 "}\n"
               "  %y = Conv(%x, %w) {group=8}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,8,3,3,3]) {\n"
               "  %1 = Transpose(%x) {perm=[0,2,3,4,1]}\n"
               "  %w = const float32[8,1,1,1,1] {" FUSION_8 "}\n"
               "  %2 = holo:PackDw(%w)\n"
               "  %3 = holo:ConvDw(%1, %2) {group=8, kernel_shape=[1,1,1]}\n"
               "  %y = Transpose(%3) {perm=[0,4,1,2,3]}\n"
               "  return %y\n"
               "}\n");
}

static void fusion_epilogue(void)
{
    CHECK_PASS(
        "fuse_epilogue",
        "graph g(%x: float32[n,4], %p: float32[1,4,16], %b: float32[3]) {\n"
        "  %m = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
        "  %y = holo:Lane(%m, %b) {code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; "
        "out r2 f32}, types=[1]}\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: float32[n,4], %p: float32[1,4,16], %b: float32[3]) {\n"
        "  %y = holo:MatMulP16(%x, %p, %b) {n=dims[3], alpha=1.0, code={r0 = load f32 0; "
        "r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, types=[1]}\n"
        "  return %y\n"
        "}\n");
    /* Another producer comes later: the product moves behind it. */
    CHECK_PASS(
        "fuse_epilogue",
        "graph g(%x: float32[n,4], %p: float32[1,4,16], %b: float32[n,2]) {\n"
        "  %m = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
        "  %one = const int64[4] {0, 0, 0, 1}\n"
        "  %r = Pad(%b, %one)\n"
        "  %y = holo:Lane(%m, %r) {code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; "
        "out r2 f32}, types=[1]}\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: float32[n,4], %p: float32[1,4,16], %b: float32[n,2]) {\n"
        "  %one = const int64[4] {0, 0, 0, 1}\n"
        "  %r = Pad(%b, %one)\n"
        "  %y = holo:MatMulP16(%x, %p, %r) {n=dims[3], alpha=1.0, code={r0 = load f32 0; "
        "r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, types=[1]}\n"
        "  return %y\n"
        "}\n");
    /* The product itself is asked for too: it has to be stored. */
    const char *shared =
        "graph g(%x: float32[n,4], %p: float32[1,4,16]) {\n"
        "  %m = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
        "  %y = holo:Lane(%m) {code={r0 = load f32 0; r1 = neg f32 r0; out r1 f32}, "
        "types=[1]}\n"
        "  return %y, %m\n"
        "}\n";
    CHECK_PASS("fuse_epilogue", shared, shared);
    /* The body's result has more rows than the product: a tile is not enough. */
    const char *wider = "graph g(%x: float32[1,4], %p: float32[1,4,16], %b: float32[7,3]) {\n"
                        "  %m = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
                        "  %y = holo:Lane(%m, %b) {code={r0 = load f32 0; r1 = load f32 1; "
                        "r2 = add f32 r0 r1; out r2 f32}, types=[1]}\n"
                        "  return %y\n"
                        "}\n";
    CHECK_PASS("fuse_epilogue", wider, wider);
}

const hg_test_case hg_tests_pass_fusion[] = {
    {"choose_layout", fusion_choose_layout},
    {"choose_layout_depthwise", fusion_choose_layout_depthwise},
    {"fuse_epilogue", fusion_epilogue},
    {0},
};
