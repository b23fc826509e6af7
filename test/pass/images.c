/* images.c - passes on what surrounds convolutions: padding, parts, reshapes, sums. */
#include "rewrite.h"
#include "test.h"

static void images_fold_pad(void)
{
    CHECK_PASS("fold_pad",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %w = const float32[1,1,1,2] {1.0, 2.0}\n"
               "  %p = const int64[8] {0, 0, 1, 2, 0, 0, 3, 4}\n"
               "  %a = Pad(%x, %p)\n"
               "  %y = Conv(%a, %w) {pads=[5,0,0,1]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %w = const float32[1,1,1,2] {1.0, 2.0}\n"
               "  %y = Conv(%x, %w) {pads=[6,2,3,5]}\n"
               "  return %y\n"
               "}\n");
    /* Axes may be named, from the end too; VALID has no padding of its own. */
    CHECK_PASS("fold_pad",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %w = const float32[1,1,1,2] {1.0, 2.0}\n"
               "  %p = const int64[2] {1, 2}\n"
               "  %zero = const float32[] {0.0}\n"
               "  %axis = const int64[1] {-1}\n"
               "  %a = Pad(%x, %p, %zero, %axis)\n"
               "  %y = Conv(%a, %w) {auto_pad=\"VALID\", pads=[9,9,9,9]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %w = const float32[1,1,1,2] {1.0, 2.0}\n"
               "  %y = Conv(%x, %w) {auto_pad=\"NOTSET\", pads=[0,1,0,2]}\n"
               "  return %y\n"
               "}\n");
    /* Other values, channels, what is cut off, a size that counts: none of these is padding. */
    static const char *const kept[] = {
        "graph g(%x: float32[n,1,h]) { %w = const float32[1,1,1] {2.0} %p = const int64[6] {0, 0, "
        "1, 0, 0, 1} %a = Pad(%x, %p) {mode=\"edge\"} %y = Conv(%a, %w) return %y }",
        "graph g(%x: float32[n,1,h]) { %w = const float32[1,1,1] {2.0} %p = const int64[6] {0, 0, "
        "1, 0, 0, 1} %v = const float32[] {1.0} %a = Pad(%x, %p, %v) %y = Conv(%a, %w) return %y }",
        "graph g(%x: float32[n,1,h]) { %w = const float32[1,2,1] {2.0, 1.0} %p = const int64[6] "
        "{0, 1, 0, 0, 0, 0} %a = Pad(%x, %p) %y = Conv(%a, %w) return %y }",
        "graph g(%x: float32[n,1,h]) { %w = const float32[1,1,1] {2.0} %p = const int64[6] {0, 0, "
        "1, 0, 0, -1} %a = Pad(%x, %p) %y = Conv(%a, %w) return %y }",
        "graph g(%x: float32[n,1,h]) { %w = const float32[1,1,1] {2.0} %p = const int64[6] {0, 0, "
        "1, 0, 0, 1} %a = Pad(%x, %p) %y = Conv(%a, %w) {auto_pad=\"SAME_UPPER\", strides=[2]} "
        "return %y }",
        "graph g(%x: float32[n,1,h], %p: int64[6]) { %w = const float32[1,1,1] {2.0} %a = Pad(%x, "
        "%p) %y = Conv(%a, %w) return %y }",
        /* Zero times these is no zero. */
        "graph g(%x: float32[n,1,h]) { %w = const float32[1,1,1] {inf} %p = const int64[6] {0, 0, "
        "1, 0, 0, 1} %a = Pad(%x, %p) %y = Conv(%a, %w) return %y }",
        "graph g(%x: float16[n,1,h]) { %w = const float16[1,1,1] {nan} %p = const int64[6] {0, 0, "
        "1, 0, 0, 1} %a = Pad(%x, %p) %y = Conv(%a, %w) return %y }",
        "graph g(%x: float32[n,1,h], %w: float32[1,1,1]) { %p = const int64[6] {0, 0, 1, 0, 0, 1} "
        "%a = Pad(%x, %p) %y = Conv(%a, %w) return %y }",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("fold_pad", kept[i], kept[i]);
}

/* Sixteen equal numbers. */
#define IMAGES_4(x) x ", " x ", " x ", " x
#define IMAGES_16(x) IMAGES_4(IMAGES_4(x))

/* A Conv of 32 channels over places of one, and its parts. */
#define IMAGES_WHOLE(then)                                                                         \
    "graph g(%x: float32[n,1,h]) { %w = const float32[32,1,1] {" IMAGES_16("1.0") ", " IMAGES_16(  \
        "2.0") "} %b = const float32[32] {" IMAGES_16("3.0") ", " IMAGES_16("4.0") "} " then " }"

#define IMAGES_HALVES(before, of)                                                                  \
    before                                                                                         \
        " %o = const int64[1] {0} %h = const int64[1] {16} %e = const int64[1] {32} %a = const "   \
        "int64[1] {1} %u = Slice(" of ", %o, %h, %a) %v = Slice(" of ", %h, %e, %a) "

static void images_split_conv(void)
{
    static const char parts[] =
        "graph g(%x: float32[n,1,h]) {\n"
        "  %1 = const float32[16,1,1] {" IMAGES_16(
            "1.0") "}\n"
                   "  %2 = const float32[16] {" IMAGES_16(
                       "3.0") "}\n"
                              "  %3 = Conv(%x, %1, %2)\n"
                              "  %4 = const float32[16,1,1] {" IMAGES_16(
                                  "2.0") "}\n"
                                         "  %5 = const float32[16] {" IMAGES_16(
                                             "4.0") "}\n"
                                                    "  %6 = Conv(%x, %4, %5)\n"
                                                    "  %7 = Sigmoid(%3)\n"
                                                    "  %8 = Sigmoid(%6)\n"
                                                    "  %9 = Mul(%3, %7)\n"
                                                    "  %10 = Mul(%6, %8)\n"
                                                    "  return %9, %10\n"
                                                    "}\n";
    CHECK_PASS(
        "split_conv",
        IMAGES_WHOLE("%c = Conv(%x, %w, %b) %s = Sigmoid(%c) %m = Mul(%c, %s) %zero = const "
                     "int64[1] {0} %middle = const int64[1] {-16} %far = const int64[1] {99} "
                     "%axis = const int64[1] {-2} %u = Slice(%m, %zero, %middle, %axis) %v = "
                     "Slice(%m, %middle, %far, %axis) return %u, %v"),
        parts);
    /* The whole is read too, or what is on the way; parts overlap, are narrow, are one; another
     * input has channels. */
    static const char *const kept[] = {
        IMAGES_WHOLE(IMAGES_HALVES("%c = Conv(%x, %w, %b)", "%c") "return %u, %v, %c"),
        IMAGES_WHOLE(
            IMAGES_HALVES("%c = Conv(%x, %w, %b) %s = Sigmoid(%c)", "%s") "return %u, %v, %c"),
        IMAGES_WHOLE(IMAGES_HALVES("%c = Conv(%x, %w, %b) %k = const float32[32,1] {" IMAGES_16(
                                       "1.0") ", " IMAGES_16("2.0") "} %m = Mul(%c, %k)",
                                   "%m") "return %u, %v"),
        IMAGES_WHOLE("%c = Conv(%x, %w, %b) %s = const int64[1] {0} %e = const int64[1] {16} %f = "
                     "const int64[1] {8} %g = const int64[1] {24} %a = const int64[1] {1} %u = "
                     "Slice(%c, %s, %e, %a) %v = Slice(%c, %f, %g, %a) return %u, %v"),
        IMAGES_WHOLE("%c = Conv(%x, %w, %b) %s = const int64[1] {0} %e = const int64[1] {20} %g = "
                     "const int64[1] {32} %a = const int64[1] {1} %u = Slice(%c, %s, %e, %a) %v = "
                     "Slice(%c, %e, %g, %a) return %u, %v"),
        IMAGES_WHOLE("%c = Conv(%x, %w, %b) %s = const int64[1] {0} %e = const int64[1] {16} %a = "
                     "const int64[1] {1} %u = Slice(%c, %s, %e, %a) return %u"),
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("split_conv", kept[i], kept[i]);
}

static void images_identity(void)
{
    CHECK_PASS("remove_identity",
               "graph g(%x: float32[n,4]) {\n"
               "  %zero = const int64[1] {0}\n"
               "  %far = const int64[1] {9}\n"
               "  %one = const int64[1] {1}\n"
               "  %a = Slice(%x, %zero, %far, %one)\n"
               "  %b = Slice(%a, %zero, %far, %one, %one)\n"
               "  %p = const int64[4] {0, 0, 0, 0}\n"
               "  %c = Pad(%b, %p)\n"
               "  %y = Relu(%c)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,4]) { %y = Relu(%x) return %y }");
    /* As large, but turned round; as large, but moved. */
    static const char *const kept[] = {
        "graph g(%x: float32[n,4]) { %s = const int64[1] {3} %e = const int64[1] {-9} %a = const "
        "int64[1] {1} %t = const int64[1] {-1} %y = Slice(%x, %s, %e, %a, %t) return %y }",
        "graph g(%x: float32[n,4]) { %p = const int64[4] {0, 1, 0, -1} %y = Pad(%x, %p) return %y "
        "}",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("remove_identity", kept[i], kept[i]);
}

static void images_push_part(void)
{
    CHECK_PASS("push_transpose",
               "graph g(%x: float32[n,h,w,8]) {\n"
               "  %a = Transpose(%x) {perm=[0,3,1,2]}\n"
               "  %zero = const int64[1] {0}\n"
               "  %four = const int64[1] {4}\n"
               "  %axis = const int64[1] {-3}\n"
               "  %b = Slice(%a, %zero, %four, %axis)\n"
               "  %c = Relu(%b)\n"
               "  %y = Transpose(%c) {perm=[0,2,3,1]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,h,w,8]) {\n"
               "  %zero = const int64[1] {0}\n"
               "  %four = const int64[1] {4}\n"
               "  %1 = const int64[1] {3}\n"
               "  %2 = Slice(%x, %zero, %four, %1)\n"
               "  %y = Relu(%2)\n"
               "  return %y\n"
               "}\n");
    CHECK_PASS("push_transpose",
               "graph g(%x: float32[n,h,w,8]) {\n"
               "  %a = Transpose(%x) {perm=[0,3,1,2]}\n"
               "  %p = const int64[8] {0, 0, 1, 2, 0, 0, 3, 4}\n"
               "  %b = Pad(%a, %p) {mode=\"reflect\"}\n"
               "  %y = Transpose(%b) {perm=[0,2,3,1]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,h,w,8]) {\n"
               "  %p = const int64[8] {0, 0, 1, 2, 0, 0, 3, 4}\n"
               "  %1 = const int64[4] {0, 3, 1, 2}\n"
               "  %y = Pad(%x, %p, _, %1) {mode=\"reflect\"}\n"
               "  return %y\n"
               "}\n");
    /* Nobody turns the dims again: in front of the part they are turned while it is made. */
    const char *kept = "graph g(%x: float32[n,h,w,8]) {\n"
                       "  %a = Transpose(%x) {perm=[0,3,1,2]}\n"
                       "  %zero = const int64[1] {0}\n"
                       "  %four = const int64[1] {4}\n"
                       "  %axis = const int64[1] {1}\n"
                       "  %y = Slice(%a, %zero, %four, %axis)\n"
                       "  return %y\n"
                       "}\n";
    CHECK_PASS("push_transpose", kept, kept);
}

#define SINK_HEAD                                                                                  \
    "graph g(%x: float32[n,1,l,4], %w: float32[1,1,4,16], %r: float32[n,l,8]) {\n"                 \
    "  %a = holo:ConvNhwc(%x, %w) {kernel_shape=[1,1], out_channels=8}\n"

static void images_sink_reshape(void)
{
    CHECK_PASS("sink_reshape",
               SINK_HEAD "  %axis = const int64[1] {1}\n"
                         "  %b = Squeeze(%a, %axis)\n"
                         "  %bias = const float32[1,1,8] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}\n"
                         "  %c = Add(%b, %bias)\n"
                         "  %d = Add(%c, %r)\n"
                         "  %y = Unsqueeze(%d, %axis)\n"
                         "  return %y\n"
                         "}\n",
               SINK_HEAD "  %bias = const float32[1,1,8] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}\n"
                         "  %1 = holo:Dims() {dims=dims[8]}\n"
                         "  %2 = Reshape(%bias, %1) {allowzero=1}\n"
                         "  %3 = Add(%a, %2)\n"
                         "  %4 = holo:Dims() {dims=dims[n,1,l,8]}\n"
                         "  %5 = Reshape(%r, %4) {allowzero=1}\n"
                         "  %y = Add(%3, %5)\n"
                         "  return %y\n"
                         "}\n");
    /* An operand that is broadcast along rows has no place among other rows; other columns. */
    static const char *const kept[] = {
        "graph g(%x: float32[n,1,l,4], %w: float32[1,1,4,16], %r: float32[l,1]) {\n"
        "  %a = holo:ConvNhwc(%x, %w) {kernel_shape=[1,1], out_channels=8}\n"
        "  %axis = const int64[1] {1}\n"
        "  %b = Squeeze(%a, %axis)\n"
        "  %y = Add(%b, %r)\n"
        "  return %y\n"
        "}\n",
        SINK_HEAD "  %s = const int64[3] {0, -1, 4}\n"
                  "  %b = Reshape(%a, %s)\n"
                  "  %y = Relu(%b)\n"
                  "  return %y, %r\n"
                  "}\n",
    };
    /* The sum is an epilogue of the product already. */
    const char *product = "graph g(%x: float32[n,1,l,4], %w: float32[1,1,4,16], %r: "
                          "float32[n,l,3], %p: float32[1,3,16]) {\n"
                          "  %a = holo:ConvNhwc(%x, %w) {kernel_shape=[1,1], out_channels=8}\n"
                          "  %axis = const int64[1] {1}\n"
                          "  %b = Squeeze(%a, %axis)\n"
                          "  %c = holo:MatMulP16(%r, %p) {n=dims[8], alpha=1.0}\n"
                          "  %y = Add(%b, %c)\n"
                          "  return %y\n"
                          "}\n";
    CHECK_PASS("sink_reshape", product, product);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("sink_reshape", kept[i], kept[i]);
}

/* The first sum stays the epilogue of the first product; the second takes the rest. */
static void images_sum_of_products(void)
{
    CHECK_PASS(
        "fuse_pointwise",
        "graph g(%x: float32[n,4], %p: float32[1,4,16], %q: float32[1,4,16], %r: float32[n,3]) {\n"
        "  %a = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
        "  %b = Add(%a, %r)\n"
        "  %c = holo:MatMulP16(%x, %q) {n=dims[3], alpha=1.0}\n"
        "  %d = Add(%b, %c)\n"
        "  %y = Neg(%d)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: float32[n,4], %p: float32[1,4,16], %q: float32[1,4,16], %r: float32[n,3]) {\n"
        "  %a = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
        "  %b = Add(%a, %r)\n"
        "  %c = holo:MatMulP16(%x, %q) {n=dims[3], alpha=1.0}\n"
        "  %y = holo:Lane(%b, %c) {code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 r1; "
        "r3 = neg f32 r2; out r3 f32}, types=[1]}\n"
        "  return %y\n"
        "}\n");
}

/* What two operators of one body read joins it after one of them did. */
static void images_gate_of_product(void)
{
    CHECK_PASS("fuse_pointwise",
               "graph g(%x: float32[n,4], %p: float32[1,4,16], %b: float32[3]) {\n"
               "  %a = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
               "  %c = Add(%a, %b)\n"
               "  %d = Neg(%c)\n"
               "  %y = Mul(%c, %d)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,4], %p: float32[1,4,16], %b: float32[3]) {\n"
               "  %a = holo:MatMulP16(%x, %p) {n=dims[3], alpha=1.0}\n"
               "  %y = holo:Lane(%a, %b) {code={r0 = load f32 0; r1 = load f32 1; r2 = add f32 r0 "
               "r1; r3 = neg f32 r2; r4 = mul f32 r2 r3; out r4 f32}, types=[1]}\n"
               "  return %y\n"
               "}\n");
}

/* Rows have one tap for each phase, columns two; columns lose one on both sides. */
static void images_split_convtranspose(void)
{
    CHECK_PASS("split_convtranspose",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %w = const float32[1,1,2,4] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}\n"
               "  %y = ConvTranspose(%x, %w) {strides=[2,2], pads=[0,1,0,1]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %1 = const float32[4,1,1,2] {3.0, 1.0, 4.0, 2.0, 7.0, 5.0, 8.0, 6.0}\n"
               "  %2 = Conv(%x, %1) {pads=[0,1,0,1]}\n"
               "  %3 = Transpose(%2) {perm=[0,2,3,1]}\n"
               "  %4 = holo:Dims() {dims=dims[n,h,w+1,2,2]}\n"
               "  %5 = Reshape(%3, %4) {allowzero=1}\n"
               "  %6 = Transpose(%5) {perm=[0,1,3,2,4]}\n"
               "  %7 = holo:Dims() {dims=dims[n,h*2,w*2+2,1]}\n"
               "  %8 = Reshape(%6, %7) {allowzero=1}\n"
               "  %9 = holo:Dims() {dims=dims[0,1]}\n"
               "  %10 = holo:Dims() {dims=dims[h*2,w*2+1]}\n"
               "  %11 = const int64[2] {1, 2}\n"
               "  %12 = Slice(%8, %9, %10, %11)\n"
               "  %y = Transpose(%12) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
    /* Weights that are zeros, in channels that a Conv computes anyway. */
    CHECK_PASS("split_convtranspose",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %w = const float32[1,1,1,3] {1.0, 2.0, 3.0}\n"
               "  %y = ConvTranspose(%x, %w) {strides=[1,2]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,h,w]) {\n"
               "  %1 = const float32[2,1,1,2] {3.0, 1.0, 0.0, 2.0}\n"
               "  %2 = Conv(%x, %1) {pads=[0,1,0,1]}\n"
               "  %3 = Transpose(%2) {perm=[0,2,3,1]}\n"
               "  %4 = holo:Dims() {dims=dims[n,h,w+1,1,2]}\n"
               "  %5 = Reshape(%3, %4) {allowzero=1}\n"
               "  %6 = Transpose(%5) {perm=[0,1,3,2,4]}\n"
               "  %7 = holo:Dims() {dims=dims[n,h,w*2+2,1]}\n"
               "  %8 = Reshape(%6, %7) {allowzero=1}\n"
               "  %9 = holo:Dims() {dims=dims[0,0]}\n"
               "  %10 = holo:Dims() {dims=dims[h,w*2+1]}\n"
               "  %11 = const int64[2] {1, 2}\n"
               "  %12 = Slice(%8, %9, %10, %11)\n"
               "  %y = Transpose(%12) {perm=[0,3,1,2]}\n"
               "  return %y\n"
               "}\n");
    /* Weights that would be zeros, no phases, groups. */
    static const char *const kept[] = {
        "graph g(%x: float32[n,1,h,w]) { %w = const float32[1,8,1,3] {1, 2, 3, 4, 5, 6, 7, 8, 9, "
        "10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24} %y = "
        "ConvTranspose(%x, %w) {strides=[1,2]} return %y }",
        "graph g(%x: float32[n,1,h,w]) { %w = const float32[1,1,1,2] {1.0, 2.0} %y = "
        "ConvTranspose(%x, %w) return %y }",
        "graph g(%x: float32[n,2,h,w]) { %w = const float32[2,1,1,2] {1.0, 2.0, 3.0, 4.0} %y = "
        "ConvTranspose(%x, %w) {strides=[1,2], group=2} return %y }",
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("split_convtranspose", kept[i], kept[i]);
    /* Three axes: phases of planes and rows lie before those of columns. */
    CHECK_PASS("split_convtranspose",
               "graph g(%x: float32[n,1,d,h,w]) {\n"
               "  %w = const float32[1,1,2,1,2] {1.0, 2.0, 3.0, 4.0}\n"
               "  %y = ConvTranspose(%x, %w) {strides=[2,1,2]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,d,h,w]) {\n"
               "  %1 = const float32[4,1,1,1,1] {1.0, 2.0, 3.0, 4.0}\n"
               "  %2 = Conv(%x, %1) {pads=[0,0,0,0,0,0]}\n"
               "  %3 = Transpose(%2) {perm=[0,2,3,4,1]}\n"
               "  %4 = holo:Dims() {dims=dims[n,d,h,w,2,1,2]}\n"
               "  %5 = Reshape(%3, %4) {allowzero=1}\n"
               "  %6 = Transpose(%5) {perm=[0,1,4,2,5,3,6]}\n"
               "  %7 = holo:Dims() {dims=dims[n,d*2,h,w*2,1]}\n"
               "  %8 = Reshape(%6, %7) {allowzero=1}\n"
               "  %y = Transpose(%8) {perm=[0,4,1,2,3]}\n"
               "  return %y\n"
               "}\n");
}

/* Weights [c, o, k]: the factor belongs to the second dimension. */
static void images_fold_batchnorm(void)
{
    CHECK_PASS("fold_batchnorm",
               "graph g(%x: float32[n,2,l]) {\n"
               "  %w = const float32[2,2,2] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}\n"
               "  %f = const float32[2,1] {2.0, 10.0}\n"
               "  %s = const float32[2,1] {0.5, 0.25}\n"
               "  %a = ConvTranspose(%x, %w)\n"
               "  %b = Mul(%a, %f)\n"
               "  %y = Add(%b, %s)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2,l]) {\n"
               "  %w = const float32[2,2,2] {2.0, 4.0, 30.0, 40.0, 10.0, 12.0, 70.0, 80.0}\n"
               "  %1 = const float32[2] {0.5, 0.25}\n"
               "  %a = ConvTranspose(%x, %w, %1)\n"
               "  return %a\n"
               "}\n");
    /* The constant may come first; weights of groups lie otherwise. */
    CHECK_PASS("fold_batchnorm",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %w = const float32[2,1,1] {1.0, 2.0}\n"
               "  %f = const float32[2,1] {2.0, 10.0}\n"
               "  %a = Conv(%x, %w)\n"
               "  %y = Mul(%f, %a)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,1,l]) {\n"
               "  %w = const float32[2,1,1] {2.0, 20.0}\n"
               "  %1 = const float32[2] {0.0, 0.0}\n"
               "  %a = Conv(%x, %w, %1)\n"
               "  return %a\n"
               "}\n");
    static const char groups[] = "graph g(%x: float32[n,2,l]) {\n"
                                 "  %w = const float32[2,1,2] {1.0, 2.0, 3.0, 4.0}\n"
                                 "  %f = const float32[2,1] {2.0, 10.0}\n"
                                 "  %a = ConvTranspose(%x, %w) {group=2}\n"
                                 "  %y = Mul(%a, %f)\n"
                                 "  return %y\n"
                                 "}\n";
    CHECK_PASS("fold_batchnorm", groups, groups);
}

/* The taps of the smaller kernel are some of the larger one's; channels with a factor are its
 * diagonal. */
static void images_merge_branches(void)
{
    CHECK_PASS(
        "merge_branches",
        "graph g(%x: float32[n,2,l]) {\n"
        "  %w = const float32[2,2,3] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, "
        "12.0}\n"
        "  %p = const float32[2,2,1] {100.0, 200.0, 300.0, 400.0}\n"
        "  %b = const float32[2] {0.5, 0.25}\n"
        "  %f = const float32[2,1] {1000.0, 2000.0}\n"
        "  %s = const float32[2,1] {1.0, 2.0}\n"
        "  %three = Conv(%x, %w, %b) {pads=[1,1]}\n"
        "  %one = Conv(%x, %p)\n"
        "  %both = Add(%one, %three)\n"
        "  %product = Mul(%x, %f)\n"
        "  %own = Add(%product, %s)\n"
        "  %y = Add(%both, %own)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: float32[n,2,l]) {\n"
        "  %0 = const float32[2,2,3] {1.0, 1102.0, 3.0, 4.0, 205.0, 6.0, 7.0, 308.0, 9.0, "
        "10.0, 2411.0, 12.0}\n"
        "  %1 = const float32[2] {1.5, 2.25}\n"
        "  %y = Conv(%x, %0, %1) {pads=[1,1]}\n"
        "  return %y\n"
        "}\n");
    /* Depthwise: each row of weights has one channel. */
    CHECK_PASS("merge_branches",
               "graph g(%x: float32[n,2,l]) {\n"
               "  %w = const float32[2,1,3] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}\n"
               "  %f = const float32[2,1] {10.0, 20.0}\n"
               "  %three = Conv(%x, %w) {dilations=[2], group=2, pads=[2,2]}\n"
               "  %own = Mul(%f, %x)\n"
               "  %y = Add(%three, %own)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: float32[n,2,l]) {\n"
               "  %0 = const float32[2,1,3] {1.0, 12.0, 3.0, 4.0, 25.0, 6.0}\n"
               "  %1 = const float32[2] {0.0, 0.0}\n"
               "  %y = Conv(%x, %0, %1) {dilations=[2], group=2, pads=[2,2]}\n"
               "  return %y\n"
               "}\n");
}

#define IMAGES_BRANCHES(one, sum, three)                                                           \
    "graph g(%x: float32[n,2,l], %z: float32[n,2,l]) {\n"                                          \
    "  %w = const float32[2,2,3] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, "       \
    "12.0}\n"                                                                                      \
    "  %p = const float32[2,2,2] {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}\n"                       \
    "  %d = const float32[2,1,1] {1.0, 2.0}\n"                                                     \
    "  %f = const float32[2,1] {10.0, 20.0}\n"                                                     \
    "  %three = Conv(%x, %w) {" three "}\n"                                                        \
    "  %one = " one "\n"                                                                           \
    "  %y = Add(%three, %one)\n"                                                                   \
    "  return " sum "\n"                                                                           \
    "}\n"

/* Another input, other groups, taps between or beyond those of the other, a result that
 * somebody else reads, an input as it is. */
static void images_keep_branches(void)
{
    static const char *const kept[] = {
        IMAGES_BRANCHES("Mul(%z, %f)", "%y", "pads=[1,1]"),
        IMAGES_BRANCHES("Conv(%x, %d) {group=2}", "%y", "pads=[1,1]"),
        IMAGES_BRANCHES("Conv(%x, %p) {pads=[1,0]}", "%y", "dilations=[2], pads=[2,2]"),
        IMAGES_BRANCHES("Conv(%x, %p) {dilations=[4], pads=[2,2]}", "%y", "pads=[1,1]"),
        IMAGES_BRANCHES("Conv(%z, %w) {pads=[1,1]}", "%y", "pads=[1,1]"),
        IMAGES_BRANCHES("Conv(%x, %w) {pads=[1,1]}", "%y, %one", "pads=[1,1]"),
        IMAGES_BRANCHES("Identity(%x)", "%y", "pads=[1,1]"),
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK_PASS("merge_branches", kept[i], kept[i]);
}

const hg_test_case hg_tests_pass_images[] = {
    {"merge_branches", images_merge_branches},
    {"keep_branches", images_keep_branches},
    {"fold_pad", images_fold_pad},
    {"split_conv", images_split_conv},
    {"identity", images_identity},
    {"push_part", images_push_part},
    {"sink_reshape", images_sink_reshape},
    {"sum_of_products", images_sum_of_products},
    {"gate_of_product", images_gate_of_product},
    {"split_convtranspose", images_split_convtranspose},
    {"fold_batchnorm", images_fold_batchnorm},
    {0},
};
