/* layout.c - passes that move data or recognise patterns: transposes, norms, batch norm, packing,
 * fusion. */
#include "rewrite.h"
#include "test.h"

#include <stdio.h>

static void layout_push_transpose(void)
{
    /* Two that are inverse meet behind an operator that does not care. */
    CHECK_PASS("push_transpose",
               "graph g(%x: float32[n,4,5,6]) {\n"
               "  %a = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %b = Relu(%a)\n"
               "  %y = Transpose(%b) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,4,5,6]) { %y = Relu(%x) return %y }");
    CHECK_PASS("push_transpose",
               "graph g(%x: float32[n,5,6,4], %z: float32[n,5,6,4]) {\n"
               "  %a = Transpose(%x) {perm=[0,3,1,2]}\n"
               "  %b = Transpose(%z) {perm=[0,3,1,2]}\n"
               "  %y = Concat(%a, %b) {axis=1}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,5,6,4], %z: float32[n,5,6,4]) {\n"
               "  %1 = Concat(%x, %z) {axis=3}\n"
               "  %y = Transpose(%1) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
}

/* A table that is packed anyway is stored in panels alone; one that is read as it is stays. */
static void layout_share_panels(void)
{
    CHECK_PASS("share_panels",
               "graph g(%i: int64[n], %x: float32[m,2]) {\n"
               "  %w = const float32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}\n"
               "  %a = Gather(%w, %i)\n"
               "  %p = holo:PackP16(%w) {trans=1}\n"
               "  %b = holo:MatMulP16(%x, %p) {n=dims[3]}\n"
               "  return %a, %b\n"
               "}\n",
               "graph g(%i: int64[n], %x: float32[m,2]) {\n"
               "  %w = const float32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}\n"
               "  %1 = holo:PackP16(%w) {trans=1}\n"
               "  %a = holo:GatherP16(%1, %i) {n=dims[3]}\n"
               "  %p = holo:PackP16(%w) {trans=1}\n"
               "  %b = holo:MatMulP16(%x, %p) {n=dims[3]}\n"
               "  return %a, %b\n"
               "}\n");
    const char *kept = "graph g(%i: int64[n], %x: float32[m,2]) {\n"
                       "  %w = const float32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}\n"
                       "  %a = Gather(%w, %i)\n"
                       "  %p = holo:PackP16(%w) {trans=1}\n"
                       "  %b = holo:MatMulP16(%x, %p) {n=dims[3]}\n"
                       "  %c = Neg(%w)\n"
                       "  return %a, %b, %c\n"
                       "}\n";
    CHECK_PASS("share_panels", kept, kept);
}

static void layout_push_reshape(void)
{
    /* Image to tokens: nothing moves. */
    CHECK_PASS("push_transpose",
               "graph g(%x: float32[n,h,w,4]) {\n"
               "  %a = Transpose(%x) {perm=[0,3,1,2]}\n"
               "  %s = holo:Dims() {dims=dims[n,4,h*w]}\n"
               "  %b = Reshape(%a, %s)\n"
               "  %y = Transpose(%b) {perm=[0,2,1]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,h,w,4]) {\n"
               "  %1 = holo:Dims() {dims=dims[n,h*w,4]}\n"
               "  %y = Reshape(%x, %1) {allowzero=1}\n"
               "  return %y\n"
               "}\n");
    /* Dims of size 1 come and go. */
    CHECK_PASS("push_transpose",
               "graph g(%x: float32[n,6,1,4]) {\n"
               "  %a = Transpose(%x) {perm=[3,2,1,0]}\n"
               "  %s = const int64[5] {1,4,2,3,-1}\n"
               "  %y = Reshape(%a, %s)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,6,1,4]) {\n"
               "  %1 = holo:Dims() {dims=dims[1,n,2,3,4]}\n"
               "  %2 = Reshape(%x, %1) {allowzero=1}\n"
               "  %y = Transpose(%2) {perm=[0,4,2,3,1]}\n"
               "  return %y\n"
               "}\n");
    /* Dims that are merged must lie together. */
    static const char apart[] = "graph g(%x: float32[n,5,6,4]) {\n"
                                "  %a = Transpose(%x) {perm=[0,3,1,2]}\n"
                                "  %s = const int64[2] {0, 120}\n"
                                "  %y = Reshape(%a, %s)\n"
                                "  return %y\n"
                                "}\n";
    CHECK_PASS("push_transpose", apart, apart);
}

static void layout_push_reduce(void)
{
    CHECK_PASS("push_transpose",
               "graph g(%x: float32[n,5,6,4]) {\n"
               "  %a = Transpose(%x) {perm=[0,3,1,2]}\n"
               "  %axes = const int64[2] {2, 3}\n"
               "  %y = ReduceMean(%a, %axes) {keepdims=0}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,5,6,4]) {\n"
               "  %1 = const int64[2] {1, 2}\n"
               "  %y = ReduceMean(%x, %1) {keepdims=0}\n"
               "  return %y\n"
               "}\n");
}

static void layout_recognize_layer_norm(void)
{
    CHECK_PASS("recognize_norm",
               "graph g(%x: float32[n,4]) {\n"
               "  %axes = const int64[1] {-1}\n"
               "  %m = ReduceMean(%x, %axes)\n"
               "  %d = Sub(%x, %m)\n"
               "  %q = Mul(%d, %d)\n"
               "  %v = ReduceMean(%q, %axes)\n"
               "  %e = const float32[] {0.5}\n"
               "  %s = Add(%v, %e)\n"
               "  %r = Sqrt(%s)\n"
               "  %u = Div(%d, %r)\n"
               "  %g = const float32[4] {1.0, 2.0, 3.0, 4.0}\n"
               "  %w = Mul(%u, %g)\n"
               "  %b = const float32[4] {0.0, 1.0, 0.0, 1.0}\n"
               "  %y = Add(%w, %b)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,4]) {\n"
               "  %g = const float32[4] {1.0, 2.0, 3.0, 4.0}\n"
               "  %b = const float32[4] {0.0, 1.0, 0.0, 1.0}\n"
               "  %y = LayerNormalization(%x, %g, %b) {axis=-1, epsilon=0.5}\n"
               "  return %y\n"
               "}\n");
}

/* Over channels, beside a convolution: between Transposes that others take away. */
static void layout_recognize_channel_norm(void)
{
    CHECK_PASS("recognize_norm",
               "graph g(%x: float32[n,2,h,w]) {\n"
               "  %k = const float32[2,2,1,1] {1.0, 2.0, 3.0, 4.0}\n"
               "  %c = Conv(%x, %k)\n"
               "  %axis = const int64[1] {-3}\n"
               "  %m = ReduceMean(%c, %axis)\n"
               "  %d = Sub(%c, %m)\n"
               "  %q = Mul(%d, %d)\n"
               "  %v = ReduceMean(%q, %axis)\n"
               "  %e = const float32[] {0.001}\n"
               "  %ve = Add(%v, %e)\n"
               "  %s = Sqrt(%ve)\n"
               "  %r = Div(%d, %s)\n"
               "  %f = const float32[2,1,1] {5.0, 6.0}\n"
               "  %rf = Mul(%r, %f)\n"
               "  %b = const float32[1,2,1,1] {7.0, 8.0}\n"
               "  %y = Add(%rf, %b)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2,h,w]) {\n"
               "  %k = const float32[2,2,1,1] {1.0, 2.0, 3.0, 4.0}\n"
               "  %c = Conv(%x, %k)\n"
               "  %1 = Transpose(%c) {perm=[0,2,3,1]}\n"
               "  %f = const float32[2,1,1] {5.0, 6.0}\n"
               "  %2 = const int64[1] {-1}\n"
               "  %3 = Reshape(%f, %2)\n"
               "  %b = const float32[1,2,1,1] {7.0, 8.0}\n"
               "  %4 = const int64[1] {-1}\n"
               "  %5 = Reshape(%b, %4)\n"
               "  %6 = LayerNormalization(%1, %3, %5) {axis=-1, epsilon=0.001}\n"
               "  %y = Transpose(%6) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
    /* Without a convolution channels stay where they are. */
    static const char alone[] =
        "graph g(%x: float32[n,2,h,w]) { %axis = const int64[1] {1} %m = ReduceMean(%x, %axis) %d "
        "= "
        "Sub(%x, %m) %q = Mul(%d, %d) %v = ReduceMean(%q, %axis) %e = const float32[] {0.5} %s = "
        "Add(%v, %e) %r = Sqrt(%s) %y = Div(%d, %r) return %y }";
    CHECK_PASS("recognize_norm", alone, alone);
}

#define LAYOUT_SQUARES                                                                             \
    "graph g(%x: float32[n,4]) {\n"                                                                \
    "  %axes = const int64[1] {-1}\n"                                                              \
    "  %two = const float32[] {2.0}\n"                                                             \
    "  %q = Pow(%x, %two)\n"                                                                       \
    "  %v = ReduceMean(%q, %axes)\n"                                                               \
    "  %e = const float32[] {0.5}\n"                                                               \
    "  %s = Add(%v, %e)\n"                                                                         \
    "  %r = Sqrt(%s)\n"

/* Times the reciprocal and over the root; a factor per place belongs to it, a summand does not. */
static void layout_recognize_rms_norm(void)
{
    CHECK_PASS("recognize_norm",
               LAYOUT_SQUARES "  %i = Reciprocal(%r)\n"
                              "  %u = Mul(%x, %i)\n"
                              "  %g = const float32[4] {1.0, 2.0, 3.0, 4.0}\n"
                              "  %w = Mul(%g, %u)\n"
                              "  %y = Add(%w, %g)\n"
                              "  return %y\n"
                              "}\n",
               "graph g(%x: float32[n,4]) {\n"
               "  %g = const float32[4] {1.0, 2.0, 3.0, 4.0}\n"
               "  %w = RMSNormalization(%x, %g) {axis=-1, epsilon=0.5}\n"
               "  %y = Add(%w, %g)\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("recognize_norm",
               LAYOUT_SQUARES "  %one = const float32[] {1.0}\n"
                              "  %i = Div(%one, %r)\n"
                              "  %y = Mul(%i, %x)\n"
                              "  return %y\n"
                              "}\n",
               "graph g(%x: float32[n,4]) {\n"
               "  %1 = const float32[] {1.0}\n"
               "  %y = RMSNormalization(%x, %1) {axis=-1, epsilon=0.5}\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("recognize_norm",
               LAYOUT_SQUARES "  %y = Div(%x, %r)\n"
                              "  return %y\n"
                              "}\n",
               "graph g(%x: float32[n,4]) {\n"
               "  %1 = const float32[] {1.0}\n"
               "  %y = RMSNormalization(%x, %1) {axis=-1, epsilon=0.5}\n"
               "  return %y\n"
               "}\n");
}

#define LAYOUT_TURN(x, first)                                                                      \
    "  %z = const int64[1] {" first "}\n"                                                          \
    "  %h = const int64[1] {2}\n"                                                                  \
    "  %f = const int64[1] {9223372036854775807}\n"                                                \
    "  %k = const int64[1] {-1}\n"                                                                 \
    "  %a = Slice(" x ", %z, %h, %k)\n"                                                            \
    "  %b = Slice(" x ", %h, %f, %k)\n"                                                            \
    "  %m = Neg(%b)\n"                                                                             \
    "  %t = Concat(%m, %a) {axis=-1}\n"                                                            \
    "  %u = Mul(%t, %s)\n"                                                                         \
    "  %v = Mul(" x ", %c)\n"                                                                      \
    "  %y = Add(%v, %u)\n"                                                                         \
    "  return %y\n"                                                                                \
    "}\n"

static void layout_recognize_rotary(void)
{
    CHECK_PASS("recognize_rotary",
               "graph g(%x: float32[b,n,4], %c: float32[n,4], %s: float32[1,n,4]) {\n" LAYOUT_TURN(
                   "%x", "0"),
               "graph g(%x: float32[b,n,4], %c: float32[n,4], %s: float32[1,n,4]) {\n"
               "  %y = holo:Rotary(%x, %c, %s)\n"
               "  return %y\n"
               "}\n");
    /* Floats of 16 bits round once. */
    CHECK_PASS("recognize_rotary",
               "graph g(%x: float16[b,n,4], %c: float16[n,4], %s: float16[1,n,4]) {\n" LAYOUT_TURN(
                   "%x", "0"),
               "graph g(%x: float16[b,n,4], %c: float16[n,4], %s: float16[1,n,4]) {\n"
               "  %1 = Cast(%x) {to=1}\n"
               "  %2 = Cast(%c) {to=1}\n"
               "  %3 = Cast(%s) {to=1}\n"
               "  %4 = holo:Rotary(%1, %2, %3)\n"
               "  %y = Cast(%4) {to=10}\n"
               "  return %y\n"
               "}\n");
    /* Heads: the Transpose goes behind. */
    CHECK_PASS("recognize_rotary",
               "graph g(%w: float32[b,n,3,4], %c: float32[n,4], %s: float32[b,1,n,4]) {\n"
               "  %x = Transpose(%w) {perm=[0,2,1,3]}\n" LAYOUT_TURN("%x", "0"),
               "graph g(%w: float32[b,n,3,4], %c: float32[n,4], %s: float32[b,1,n,4]) {\n"
               "  %1 = const int64[2] {0,1}\n"
               "  %2 = Unsqueeze(%c, %1)\n"
               "  %3 = Transpose(%2) {perm=[0,2,1,3]}\n"
               "  %4 = Transpose(%s) {perm=[0,2,1,3]}\n"
               "  %5 = holo:Rotary(%w, %3, %4)\n"
               "  %y = Transpose(%5) {perm=[0,2,1,3]}\n"
               "  return %y\n"
               "}\n");
}

/* Angles that make more of x than it is, or are one for a whole row, are left alone. */
static void layout_leaves_other_turns(void)
{
    static const char *const text[] = {
        "graph g(%x: float32[1,n,4], %c: float32[b,n,4], %s: float32[1,n,4]) {\n" LAYOUT_TURN("%x",
                                                                                              "0"),
        "graph g(%x: float32[b,n,4], %c: float32[n,1], %s: float32[1,n,4]) {\n" LAYOUT_TURN("%x",
                                                                                            "0"),
        "graph g(%x: bfloat16[b,n,4], %c: bfloat16[n,4], %s: bfloat16[n,4]) {\n" LAYOUT_TURN("%x",
                                                                                             "0")};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        CHECK_PASS("recognize_rotary", text[i], text[i]);
}

static void layout_fold_batchnorm(void)
{
    CHECK_PASS("fold_batchnorm",
               "graph g(%x: float32[n,1,3,3]) {\n"
               "  %w = const float32[2,1,1,1] {1.0, 2.0}\n"
               "  %c = Conv(%x, %w)\n"
               "  %f = const float32[2,1,1] {3.0, 4.0}\n"
               "  %m = Mul(%c, %f)\n"
               "  %s = const float32[2,1,1] {5.0, 6.0}\n"
               "  %y = Add(%m, %s)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,3,3]) {\n"
               "  %w = const float32[2,1,1,1] {3.0, 8.0}\n"
               "  %1 = const float32[2] {5.0, 6.0}\n"
               "  %c = Conv(%x, %w, %1)\n"
               "  return %c\n"
               "}\n");
}

/* One number for all channels, of either rank; of computed weights it stays where it is. */
static void layout_fold_scalar(void)
{
    CHECK_PASS("fold_batchnorm",
               "graph g(%x: float32[n,1,3,3]) {\n"
               "  %w = const float32[2,1,1,1] {1.0, 2.0}\n"
               "  %b = const float32[2] {1.0, -1.0}\n"
               "  %c = Conv(%x, %w, %b)\n"
               "  %f = const float32[] {3.0}\n"
               "  %m = Mul(%f, %c)\n"
               "  %s = const float32[1,1,1,1] {5.0}\n"
               "  %y = Add(%m, %s)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,3,3]) {\n"
               "  %w = const float32[2,1,1,1] {3.0, 6.0}\n"
               "  %1 = const float32[2] {8.0, 2.0}\n"
               "  %c = Conv(%x, %w, %1)\n"
               "  return %c\n"
               "}\n");
    /* As many as follow, in any order. */
    CHECK_PASS("fold_batchnorm",
               "graph g(%x: float32[n,1,3,3]) {\n"
               "  %w = const float32[2,1,1,1] {1.0, 2.0}\n"
               "  %b = const float32[2] {1.0, -1.0}\n"
               "  %c = Conv(%x, %w, %b)\n"
               "  %s = const float32[] {5.0}\n"
               "  %a = Add(%c, %s)\n"
               "  %f = const float32[2,1,1] {3.0, 4.0}\n"
               "  %m = Mul(%a, %f)\n"
               "  %y = Add(%m, %s)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,3,3]) {\n"
               "  %w = const float32[2,1,1,1] {3.0, 8.0}\n"
               "  %1 = const float32[2] {23.0, 21.0}\n"
               "  %c = Conv(%x, %w, %1)\n"
               "  return %c\n"
               "}\n");
    static const char *const kept[] = {"graph g(%x: float32[1,1,3,3], %w: float32[2,1,1,1]) {\n"
                                       "  %c = Conv(%x, %w)\n"
                                       "  %f = const float32[] {3.0}\n"
                                       "  %y = Mul(%c, %f)\n"
                                       "  return %y\n"
                                       "}\n",
                                       /* the product has a rank more */
                                       "graph g(%x: float32[1,1,3,3]) {\n"
                                       "  %w = const float32[2,1,1,1] {1.0, 2.0}\n"
                                       "  %c = Conv(%x, %w)\n"
                                       "  %f = const float32[1,1,1,1,1] {3.0}\n"
                                       "  %y = Mul(%c, %f)\n"
                                       "  return %y\n"
                                       "}\n"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fold_batchnorm", kept[i], kept[i]);
}

/* Weights that are computed get their factor when the model runs, unless they are more than there
 * are results. */
static void layout_fold_computed(void)
{
    CHECK_PASS("fold_batchnorm",
               "graph g(%x: float32[1,1,3,3], %w: float32[2,1,1,1]) {\n"
               "  %c = Conv(%x, %w)\n"
               "  %f = const float32[2,1,1] {3.0, 4.0}\n"
               "  %y = Mul(%c, %f)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,1,3,3], %w: float32[2,1,1,1]) {\n"
               "  %1 = const float32[2,1,1,1] {3.0, 4.0}\n"
               "  %2 = Mul(%w, %1)\n"
               "  %3 = const float32[2] {0.0, 0.0}\n"
               "  %c = Conv(%x, %2, %3)\n"
               "  return %c\n"
               "}\n");
    static const char many[] = "graph g(%x: float32[1,1,3,3], %w: float32[2,1,3,3]) {\n"
                               "  %c = Conv(%x, %w)\n"
                               "  %f = const float32[2,1,1] {3.0, 4.0}\n"
                               "  %y = Mul(%c, %f)\n"
                               "  return %y\n"
                               "}\n";
    CHECK_PASS("fold_batchnorm", many, many);
}

/* They are packed when the model runs, too, for a map of some size. */
static void layout_computed_weights(void)
{
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[1,8,12,12], %w: float32[8,1,3,3]) {\n"
               "  %y = Conv(%x, %w) {group=8}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,8,12,12], %w: float32[8,1,3,3]) {\n"
               "  %1 = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %2 = holo:PackDw(%w)\n"
               "  %3 = holo:ConvDw(%1, %2) {group=8, kernel_shape=[3,3]}\n"
               "  %y = Transpose(%3) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[1,8,l], %w: float32[8,8,3]) {\n"
               "  %y = Conv(%x, %w)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,8,l], %w: float32[8,8,3]) {\n"
               "  %1 = const int64[1] {2}\n"
               "  %2 = Unsqueeze(%w, %1)\n"
               "  %3 = const int64[1] {2}\n"
               "  %4 = Unsqueeze(%x, %3)\n"
               "  %5 = Transpose(%4) {perm=[0,2,3,1]}\n"
               "  %6 = holo:PackConv(%2) {group=1}\n"
               "  %7 = holo:ConvNhwc(%5, %6) {kernel_shape=[1,3], out_channels=dims[8]}\n"
               "  %8 = Transpose(%7) {perm=[0,3,1,2]}\n"
               "  %9 = const int64[1] {2}\n"
               "  %y = Squeeze(%8, %9)\n"
               "  return %y\n"
               "}\n");
    static const char small[] = "graph g(%x: float32[1,8,9,9], %w: float32[8,1,3,3]) {\n"
                                "  %y = Conv(%x, %w) {group=8}\n"
                                "  return %y\n"
                                "}\n";
    CHECK_PASS("choose_layout", small, small);
    static const char open[] = "graph g(%x: float32[1,8,l], %w: float32[8,8,k]) {\n"
                               "  %y = Conv(%x, %w)\n"
                               "  return %y\n"
                               "}\n";
    CHECK_PASS("choose_layout", open, open);
}

/* Channels that fill no vector: one dense convolution, and pools of planes. */
static void layout_thin(void)
{
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[1,2,6,6]) {\n"
               "  %w = const float32[2,1,1,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %y = Conv(%x, %w) {group=2}\n"
               "  %z = MaxPool(%y) {kernel_shape=[2,2]}\n"
               "  return %z\n"
               "}\n",
               "graph g(%x: float32[1,2,6,6]) {\n"
               "  %1 = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %2 = const float32[2,2,1,2] {1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0}\n"
               "  %3 = holo:PackConv(%2) {group=1}\n"
               "  %4 = holo:ConvNhwc(%1, %3) {group=1, kernel_shape=[1,2], out_channels=dims[2]}\n"
               "  %y = Transpose(%4) {perm=[0,3,1,2]}\n"
               "  %z = MaxPool(%y) {kernel_shape=[2,2]}\n"
               "  return %z\n"
               "}\n");
}

static void layout_pack_weights(void)
{
    /* A Transpose of the weights is read through. */
    CHECK_PASS("pack_weights",
               "graph g(%x: float32[n,2]) {\n"
               "  %w = const float32[2,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %t = Transpose(%w) {perm=[1,0]}\n"
               "  %y = MatMul(%x, %t)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2]) {\n"
               "  %w = const float32[2,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %1 = holo:PackP16(%w) {trans=1}\n"
               "  %y = holo:MatMulP16(%x, %1) {n=dims[2], alpha=1.0}\n"
               "  return %y\n"
               "}\n");
    /* A column lies as kernels read it. */
    static const char column[] = "graph g(%x: float32[n,2]) {\n"
                                 "  %w = const float32[2,1] {1.0, 2.0}\n"
                                 "  %y = MatMul(%x, %w)\n"
                                 "  return %y\n"
                                 "}\n";
    CHECK_PASS("pack_weights", column, column);
    /* What constants alone decide is left to fold_constants, through as many nodes as it takes. */
    static const char fixed[] = "graph g() {\n"
                                "  %x = const float32[1,2] {3.0, 4.0}\n"
                                "  %w = const float32[2,1] {1.0, 2.0}\n"
                                "  %a = Sqrt(%x)\n"
                                "  %y = MatMul(%a, %w)\n"
                                "  return %y\n"
                                "}\n";
    CHECK_PASS("pack_weights", fixed, fixed);
}

/* Biases of one place meet; that of gru's h waits for the reset when it is linear. */
static void layout_split_recurrent(void)
{
    CHECK_PASS("split_recurrent",
               "graph g(%x: float32[t,n,1], %h: float32[1,n,1]) {\n"
               "  %w = const float32[1,3,1] {1.0, 2.0, 3.0}\n"
               "  %r = const float32[1,3,1] {4.0, 5.0, 6.0}\n"
               "  %b = const float32[1,6] {1.0, 2.0, 3.0, 10.0, 20.0, 30.0}\n"
               "  %y, %z = GRU(%x, %w, %r, %b, _, %h) {hidden_size=1, linear_before_reset=1}\n"
               "  return %y, %z\n"
               "}\n",
               "graph g(%x: float32[t,n,1], %h: float32[1,n,1]) {\n"
               "  %w = const float32[3,1] {1.0, 2.0, 3.0}\n"
               "  %r = const float32[3,1] {4.0, 5.0, 6.0}\n"
               "  %1 = const float32[3] {11.0, 22.0, 3.0}\n"
               "  %2 = holo:PackP16(%w) {trans=1}\n"
               "  %3 = holo:MatMulP16(%x, %2) {n=dims[3]}\n"
               "  %4 = Add(%3, %1)\n"
               "  %5 = holo:PackP16(%r) {trans=1}\n"
               "  %6 = const float32[1,1] {30.0}\n"
               "  %y, %z = holo:Recur(%4, %5, %6, _, %h) {hidden_size=1, linear_before_reset=1,"
               " kind=1}\n"
               "  return %y, %z\n"
               "}\n");
    /* Functions that tuned kernels do not have, and panels that would hold both directions. */
    static const char other[] = "graph g(%x: float32[t,n,1]) {\n"
                                "  %w = const float32[1,1,1] {1.0}\n"
                                "  %y = RNN(%x, %w, %w) {hidden_size=1, activations=[\"Elu\"]}\n"
                                "  return %y\n"
                                "}\n";
    static const char both[] =
        "graph g(%x: float32[t,n,1]) {\n"
        "  %w = const float32[2,1,1] {1.0, 2.0}\n"
        "  %y = RNN(%x, %w, %w) {hidden_size=1, direction=\"bidirectional\"}\n"
        "  return %y\n"
        "}\n";
    CHECK_PASS("split_recurrent", other, other);
    CHECK_PASS("split_recurrent", both, both);
}

static void layout_gather_narrow(void)
{
    CHECK_PASS("gather_narrow",
               "graph g(%i: int64[n]) {\n"
               "  %t = const float16[2,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %w = Cast(%t) {to=1}\n"
               "  %y = Gather(%w, %i)\n"
               "  return %y\n"
               "}\n",
               "graph g(%i: int64[n]) {\n"
               "  %t = const float16[2,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %1 = Gather(%t, %i)\n"
               "  %y = Cast(%1) {to=1}\n"
               "  return %y\n"
               "}\n");
    /* A table of codes with a scale for each row: both are gathered, the zero point stays. */
    CHECK_PASS("gather_narrow",
               "graph g(%i: int64[n]) {\n"
               "  %t = const uint8[3,2] {1, 2, 3, 4, 5, 6}\n"
               "  %z = const float32[] {2.0}\n"
               "  %s = const float32[3,1] {0.5, 0.25, 1.0}\n"
               "  %w = Cast(%t) {to=1}\n"
               "  %d = Sub(%w, %z)\n"
               "  %m = Mul(%d, %s)\n"
               "  %y = Gather(%m, %i)\n"
               "  return %y\n"
               "}\n",
               "graph g(%i: int64[n]) {\n"
               "  %s = const float32[3,1] {0.5, 0.25, 1.0}\n"
               "  %1 = Gather(%s, %i)\n"
               "  %t = const uint8[3,2] {1, 2, 3, 4, 5, 6}\n"
               "  %2 = Gather(%t, %i)\n"
               "  %3 = Cast(%2) {to=1}\n"
               "  %z = const float32[] {2.0}\n"
               "  %4 = Sub(%3, %z)\n"
               "  %y = Mul(%4, %1)\n"
               "  return %y\n"
               "}\n");
    /* Zero points of rows that stay narrow in the file. */
    CHECK_PASS("gather_narrow",
               "graph g(%i: int64[n]) {\n"
               "  %t = const uint8[3,2] {1, 2, 3, 4, 5, 6}\n"
               "  %z = const uint8[3] {1, 2, 3}\n"
               "  %c = Cast(%z) {to=1}\n"
               "  %1 = const int64[1] {1}\n"
               "  %u = Unsqueeze(%c, %1)\n"
               "  %w = Cast(%t) {to=1}\n"
               "  %d = Sub(%w, %u)\n"
               "  %y = Gather(%d, %i)\n"
               "  return %y\n"
               "}\n",
               "graph g(%i: int64[n]) {\n"
               "  %z = const uint8[3] {1, 2, 3}\n"
               "  %c = Cast(%z) {to=1}\n"
               "  %1 = const int64[1] {1}\n"
               "  %u = Unsqueeze(%c, %1)\n"
               "  %2 = Gather(%u, %i)\n"
               "  %t = const uint8[3,2] {1, 2, 3, 4, 5, 6}\n"
               "  %3 = Gather(%t, %i)\n"
               "  %4 = Cast(%3) {to=1}\n"
               "  %y = Sub(%4, %2)\n"
               "  return %y\n"
               "}\n");
    /* Columns are not rows. */
    static const char across[] = "graph g(%i: int64[n]) {\n"
                                 "  %t = const uint8[3,2] {1, 2, 3, 4, 5, 6}\n"
                                 "  %s = const float32[2] {0.5, 0.25}\n"
                                 "  %w = Cast(%t) {to=1}\n"
                                 "  %m = Mul(%w, %s)\n"
                                 "  %y = Gather(%m, %i) {axis=1}\n"
                                 "  return %y\n"
                                 "}\n";
    CHECK_PASS("gather_narrow", across, across);
    /* One row has no dimension for rows any more; codes of less than a byte lie side by side. */
    static const char one[] = "graph g(%i: int64[]) {\n"
                              "  %t = const uint8[3,2] {1, 2, 3, 4, 5, 6}\n"
                              "  %s = const float32[1,2] {0.5, 0.25}\n"
                              "  %w = Cast(%t) {to=1}\n"
                              "  %m = Mul(%w, %s)\n"
                              "  %y = Gather(%m, %i)\n"
                              "  return %y\n"
                              "}\n";
    CHECK_PASS("gather_narrow", one, one);
    static const char small[] = "graph g(%i: int64[n]) {\n"
                                "  %t = const int4[3,2] {1, 2, 3, 4, 5, 6}\n"
                                "  %w = Cast(%t) {to=1}\n"
                                "  %y = Gather(%w, %i)\n"
                                "  return %y\n"
                                "}\n";
    CHECK_PASS("gather_narrow", small, small);
}

/* Two groups of one channel and two outputs: one of two, half of whose weights are zeros. */
static void layout_few_in_a_group(void)
{
    CHECK_PASS("choose_layout",
               "graph g(%x: float32[1,2,5,5]) {\n"
               "  %w = const float32[4,1,1,1] {1, 2, 3, 4}\n"
               "  %y = Conv(%x, %w) {group=2}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,2,5,5]) {\n"
               "  %1 = Transpose(%x) {perm=[0,2,3,1]}\n"
               "  %2 = const float32[4,2,1,1] {1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 4.0}\n"
               "  %3 = holo:PackConv(%2) {group=1}\n"
               "  %4 = holo:ConvNhwc(%1, %3) {group=1, kernel_shape=[1,1], out_channels=dims[4]}\n"
               "  %y = Transpose(%4) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
}

/* Weights of more than 64 kB stay short: the Cast is the kernel's. */
static void layout_widen_large(void)
{
    enum { K = 1 << 15 };
    static char weights[8 * K], in[9 * K], out[9 * K];
    size_t n = 0;
    for (int i = 0; i <= K; i++)
        n += (size_t)snprintf(weights + n, sizeof weights - n, "%s1.0", i == 0 ? "" : ",");
    snprintf(in, sizeof in,
             "graph g(%%x: float16[n,%d]) { %%w = const float16[%d,1] {%s}\n"
             "  %%y = MatMul(%%x, %%w) return %%y }",
             K + 1, K + 1, weights);
    snprintf(out, sizeof out,
             "graph g(%%x: float16[n,%d]) { %%w = const float16[%d,1] {%s}\n"
             "  %%1 = Cast(%%x) {to=1} %%2 = Cast(%%w) {to=1}\n"
             "  %%3 = MatMul(%%1, %%2) %%y = Cast(%%3) {to=10} return %%y }",
             K + 1, K + 1, weights);
    CHECK_PASS("widen_half", in, out);
}

static void layout_widen_half(void)
{
    /* One region: it is widened where it begins and rounded where it ends, unless it ends in
     * float32. */
    CHECK_PASS("widen_half",
               "graph g(%x: float16[n,2], %b: float16[n,1]) {\n"
               "  %w = const float16[2,1] {1.0, 2.0}\n"
               "  %a = Relu(%x)\n"
               "  %c = MatMul(%a, %w)\n"
               "  %d = Add(%c, %b)\n"
               "  %y = Sigmoid(%d)\n"
               "  %z = Cast(%y) {to=1}\n"
               "  return %y, %z\n"
               "}\n",
               "graph g(%x: float16[n,2], %b: float16[n,1]) {\n"
               "  %a = Relu(%x)\n"
               "  %1 = Cast(%a) {to=1}\n"
               "  %2 = const float32[2,1] {1.0, 2.0}\n"
               "  %3 = MatMul(%1, %2)\n"
               "  %4 = Cast(%b) {to=1}\n"
               "  %5 = Add(%3, %4)\n"
               "  %z = Sigmoid(%5)\n"
               "  %y = Cast(%z) {to=10}\n"
               "  return %y, %z\n"
               "}\n");
    /* The model's Cast to 16 bits rounds; those that a normalisation became do not. */
    CHECK_PASS("widen_half",
               "graph g(%x: float32[1,1], %w: float16[1,1], %s: float16[1]) {\n"
               "  %h = Cast(%x) {to=10}\n"
               "  %c = MatMul(%h, %w)\n"
               "  %n = BatchNormalization(%c, %s, %s, %s, %s)\n"
               "  %y = Relu(%n)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[1,1], %w: float16[1,1], %s: float16[1]) {\n"
               "  %h = Cast(%x) {to=10}\n"
               "  %1 = Cast(%h) {to=1}\n"
               "  %2 = Cast(%w) {to=1}\n"
               "  %3 = MatMul(%1, %2)\n"
               "  %4 = Cast(%s) {to=1}\n"
               "  %5 = Cast(%s) {to=1}\n"
               "  %6 = Cast(%s) {to=1}\n"
               "  %7 = Cast(%s) {to=1}\n"
               "  %8 = const float32[] {1e-05}\n"
               "  %9 = Add(%5, %8)\n"
               "  %10 = Sqrt(%9)\n"
               "  %11 = Div(%6, %10)\n"
               "  %12 = Mul(%4, %11)\n"
               "  %13 = Sub(%7, %12)\n"
               "  %14 = Mul(%3, %11)\n"
               "  %15 = Add(%14, %13)\n"
               "  %16 = Relu(%15)\n"
               "  %y = Cast(%16) {to=10}\n"
               "  return %y\n"
               "}\n");
    layout_widen_large();
    /* Recurrent layers and transforms are heavy too. */
    CHECK_PASS("widen_half",
               "graph g(%x: float16[n,1,1], %r: float16[1,1,1]) {\n"
               "  %y = RNN(%x, %r, %r) {hidden_size=1}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float16[n,1,1], %r: float16[1,1,1]) {\n"
               "  %1 = Cast(%x) {to=1}\n"
               "  %2 = Cast(%r) {to=1}\n"
               "  %3 = Cast(%r) {to=1}\n"
               "  %4 = RNN(%1, %2, %3) {hidden_size=1}\n"
               "  %y = Cast(%4) {to=10}\n"
               "  return %y\n"
               "}\n");
    /* What is no float stays what it is. */
    CHECK_PASS("widen_half",
               "graph g(%x: float16[n,4], %k: int64[1]) {\n"
               "  %y, %i = TopK(%x, %k)\n"
               "  return %y, %i\n"
               "}\n",
               "graph g(%x: float16[n,4], %k: int64[1]) {\n"
               "  %1 = Cast(%x) {to=1}\n"
               "  %2, %i = TopK(%1, %k)\n"
               "  %y = Cast(%2) {to=10}\n"
               "  return %y, %i\n"
               "}\n");
    /* Without heavy work nothing is gained. */
    CHECK_PASS("widen_half", "graph g(%x: bfloat16[n]) { %y = Relu(%x) return %y }",
               "graph g(%x: bfloat16[n]) { %y = Relu(%x) return %y }");
}

static void layout_split_convtranspose(void)
{
    /* Kernel 3, stride 2: phase 0 has taps 0 and 2, phase 1 has tap 1 and a zero. */
    /* Weights of 16 bits stay such. */
    CHECK_PASS("split_convtranspose",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %h = const float16[1,1,2] {1.0, 2.0}\n"
               "  %w = Cast(%h) {to=1}\n"
               "  %y = ConvTranspose(%x, %w) {strides=[2]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %1 = const float16[2,1,1] {1.0, 2.0}\n"
               "  %2 = Cast(%1) {to=1}\n"
               "  %3 = Conv(%x, %2) {pads=[0,0]}\n"
               "  %4 = Transpose(%3) {perm=[0,2,1]}\n"
               "  %5 = holo:Dims() {dims=dims[n,l*2,1]}\n"
               "  %6 = Reshape(%4, %5) {allowzero=1}\n"
               "  %y = Transpose(%6) {perm=[0,2,1]}\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("split_convtranspose",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %w = const float32[1,1,3] {1.0, 2.0, 3.0}\n"
               "  %y = ConvTranspose(%x, %w) {strides=[2], pads=[1,0]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %1 = const float32[2,1,2] {3.0, 1.0, 0.0, 2.0}\n"
               "  %2 = Conv(%x, %1) {pads=[1,1]}\n"
               "  %3 = Transpose(%2) {perm=[0,2,1]}\n"
               "  %4 = holo:Dims() {dims=dims[n,l*2+2,1]}\n"
               "  %5 = Reshape(%3, %4) {allowzero=1}\n"
               "  %6 = holo:Dims() {dims=dims[1]}\n"
               "  %7 = holo:Dims() {dims=dims[l*2+1]}\n"
               "  %8 = const int64[1] {1}\n"
               "  %9 = Slice(%5, %6, %7, %8)\n"
               "  %y = Transpose(%9) {perm=[0,2,1]}\n"
               "  return %y\n"
               "}\n");
    /* Nothing to convolve: ConvTranspose of nothing is nothing, a Conv would not fit. */
    const char *empty = "graph g(%x: float32[3,1,0]) {\n"
                        "  %w = const float32[1,1,2] {2.0, 1.0}\n"
                        "  %y = ConvTranspose(%x, %w) {strides=[2]}\n"
                        "  return %y\n"
                        "}\n";
    CHECK_PASS("split_convtranspose", empty, empty);
    /* Mostly zeros would be multiplied. */
    CHECK_PASS("split_convtranspose",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %w = const float32[1,1,1] {2.0}\n"
               "  %y = ConvTranspose(%x, %w) {strides=[3]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %w = const float32[1,1,1] {2.0}\n"
               "  %y = ConvTranspose(%x, %w) {strides=[3]}\n"
               "  return %y\n"
               "}\n");
}

static void layout_fuse_pointwise(void)
{
    CHECK_PASS(
        "fuse_pointwise",
        "graph g(%x: float32[n,4], %b: float32[4]) {\n"
        "  %a = Add(%x, %b)\n"
        "  %y = Neg(%a)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: float32[n,4], %b: float32[4]) {\n"
        "  %y = holo:Lane(%x, %b) {code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; "
        "r3 = neg f32 r2; out r3 f32}, types=[1]}\n"
        "  return %y\n"
        "}\n");
    /* A result that others read too is not computed twice. */
    CHECK_PASS("fuse_pointwise",
               "graph g(%x: float32[n]) { %a = Exp(%x) %y = Neg(%a) return %y, %a }",
               "graph g(%x: float32[n]) { %a = Exp(%x) %y = Neg(%a) return %y, %a }");
}

#define EXPANSION_HEAD                                                                             \
    "graph g(%x: float32[n,h,w,4], %v: float32[1,2,4,16], %d: float32[9,24], %b: float32[24]) {\n"

static void layout_fuse_expansion(void)
{
    CHECK_PASS(
        "fuse_expansion",
        EXPANSION_HEAD
        "  %a = holo:ConvNhwc(%x, %v, %b) {kernel_shape=[1,1], out_channels=24, code={r0 = load "
        "f32 "
        "0; r1 = load f32 1; r2 = add f32 r0 r1; r3 = const f32 0x0; r4 = max f32 r2 r3; r5 = "
        "const f32 0x40c00000; r6 = min f32 r4 r5; out r6 f32}, types=[1]}\n"
        "  %y = holo:ConvDw(%a, %d) {kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]}\n"
        "  return %y\n"
        "}\n",
        EXPANSION_HEAD
        "  %y = holo:ConvPwDw(%x, %v, %d, %b, _, _, _) {kernel_shape=[3,3], pads=[1,1,1,1], "
        "strides=[2,2], activation=1, low=0.0, high=6.0, gate_scale=0.0, gate_shift=0.0, "
        "scale=1.0, shift=0.0, factor=1.0, offset=0.0}\n"
        "  return %y\n"
        "}\n");
    /* A factor for each channel, numbers before and behind the activation, an epilogue. */
    CHECK_PASS(
        "fuse_expansion",
        EXPANSION_HEAD
        "  %a = holo:ConvNhwc(%x, %v, %b) {kernel_shape=[1,1], out_channels=24, code={r0 = load "
        "f32 0; r1 = const f32 0x40000000; r2 = mul f32 r0 r1; r3 = tanh f32 r2; r4 = load f32 1; "
        "r5 = mul f32 r3 r4; out r5 f32}, types=[1]}\n"
        "  %y = holo:ConvDw(%a, %d, %b) {kernel_shape=[3,3], code={r0 = load f32 0; r1 = load f32 "
        "1; r2 = add f32 r0 r1; out r2 f32}, types=[1]}\n"
        "  return %y\n"
        "}\n",
        EXPANSION_HEAD
        "  %y = holo:ConvPwDw(%x, %v, %d, _, _, %b, _, %b) {kernel_shape=[3,3], code={r0 = load "
        "f32 "
        "0; r1 = load f32 1; r2 = add f32 r0 r1; out r2 f32}, types=[1], activation=7, "
        "low=0.0, high=0.0, gate_scale=0.0, gate_shift=0.0, scale=2.0, shift=0.0, factor=1.0, "
        "offset=0.0}\n"
        "  return %y\n"
        "}\n");
    /* A map that others read too, one the kernel does not activate, a stride, a small one, panels
     * that are too long. */
    static const char *const kept[] = {
        EXPANSION_HEAD "  %a = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], out_channels=24}\n"
                       "  %y = holo:ConvDw(%a, %d) {kernel_shape=[3,3]}\n"
                       "  return %y, %a\n}\n",
        EXPANSION_HEAD "  %a = holo:ConvNhwc(%x, %v, %b) {kernel_shape=[1,1], out_channels=24, "
                       "code={r0 = load f32 0; r1 = load f32 1; r2 = div f32 r0 r1; out r2 f32}, "
                       "types=[1]}\n"
                       "  %y = holo:ConvDw(%a, %d) {kernel_shape=[3,3]}\n"
                       "  return %y\n}\n",
        EXPANSION_HEAD "  %a = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], strides=[1,2], "
                       "out_channels=24}\n"
                       "  %y = holo:ConvDw(%a, %d) {kernel_shape=[3,3]}\n"
                       "  return %y\n}\n",
        "graph g(%x: float32[n,9,9,4], %v: float32[1,2,4,16], %d: float32[9,24]) {\n"
        "  %a = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], out_channels=24}\n"
        "  %y = holo:ConvDw(%a, %d) {kernel_shape=[3,3]}\n"
        "  return %y\n}\n",
        "graph g(%x: float32[n,h,w,513], %v: float32[1,2,513,16], %d: float32[9,24]) {\n"
        "  %a = holo:ConvNhwc(%x, %v) {kernel_shape=[1,1], out_channels=24}\n"
        "  %y = holo:ConvDw(%a, %d) {kernel_shape=[3,3]}\n"
        "  return %y\n}\n",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fuse_expansion", kept[i], kept[i]);
}

const hg_test_case hg_tests_pass_layout[] = {
    {"push_transpose", layout_push_transpose},
    {"share_panels", layout_share_panels},
    {"push_reshape", layout_push_reshape},
    {"push_reduce", layout_push_reduce},
    {"recognize_layer_norm", layout_recognize_layer_norm},
    {"recognize_channel_norm", layout_recognize_channel_norm},
    {"recognize_rms_norm", layout_recognize_rms_norm},
    {"recognize_rotary", layout_recognize_rotary},
    {"leaves_other_turns", layout_leaves_other_turns},
    {"fold_batchnorm", layout_fold_batchnorm},
    {"fold_scalar", layout_fold_scalar},
    {"fold_computed", layout_fold_computed},
    {"computed_weights", layout_computed_weights},
    {"thin", layout_thin},
    {"pack_weights", layout_pack_weights},
    {"split_recurrent", layout_split_recurrent},
    {"gather_narrow", layout_gather_narrow},
    {"few_in_a_group", layout_few_in_a_group},
    {"widen_half", layout_widen_half},
    {"split_convtranspose", layout_split_convtranspose},
    {"fuse_pointwise", layout_fuse_pointwise},
    {"fuse_expansion", layout_fuse_expansion},
    {0},
};
