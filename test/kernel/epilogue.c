/* epilogue.c - which lane code a kernel does itself, and that it gives what the interpreter gives.
 */
#include "kernel/epilogue.h"
#if defined(__x86_64__)
#include "backend/cpu/avx2/gemm.h"
#endif
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul[], hg_kernels_matmul_p16[], hg_kernels_conv_nhwc[];
extern const hg_kernel hg_kernels_conv_dw[];
#if defined(TUNED)
extern const hg_kernel TUNED(matmul)[], TUNED(matmul_p16)[];
extern const hg_kernel TUNED(conv_nhwc)[], TUNED(conv_dw)[], TUNED(conv_winograd)[];
#endif

#define LOAD(d, i)                                                                                 \
    {                                                                                              \
        .op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = (d), .index = (i)                          \
    }
#define CONST(d, bits)                                                                             \
    {                                                                                              \
        .op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = (d), .imm = (bits)                        \
    }
#define OP1(name, d, x)                                                                            \
    {                                                                                              \
        .op = HG_LANE_##name, .type = HG_LANE_F32, .dst = (d), .a = (x)                            \
    }
#define OP2(name, d, x, y)                                                                         \
    {                                                                                              \
        .op = HG_LANE_##name, .type = HG_LANE_F32, .dst = (d), .a = (x), .b = (y)                  \
    }
#define OP3(name, d, x, y, z)                                                                      \
    {                                                                                              \
        .op = HG_LANE_##name, .type = HG_LANE_F32, .dst = (d), .a = (x), .b = (y), .c = (z)        \
    }

/* Bits of f32 numbers. */
enum {
    EP_ZERO = 0,
    EP_HALF = 0x3f000000,
    EP_ONE = 0x3f800000,
    EP_SIXTH = 0x3e2aaaab,
    EP_THREE = 0x40400000,
    EP_SIX = 0x40c00000,
    EP_ROOT = 0x3fb504f3, /* of 2 */
    EP_ROOT_INVERSE = 0x3f3504f3,
    EP_CUBIC = 0x3d372713, /* 0.044715 */
    EP_SLOPE = 0x3f4c422a, /* root of 2 / pi */
    EP_NAN = 0x7fc00000
};

/* Simple ones first. Operand 1 is a bias, operands 2 and 3 are residuals, of which residual_last
 * tells the one that is not part of the sum; the result is in the last operation's register. */
typedef struct ep_case {
    const char *name;
    bool is_simple;
    hg_epilogue_act act;
    bool has_bias, has_residual, residual_last;
    uint32_t n_op;
    hg_lane_op op[22];
} ep_case;

/* clang-format off */
static const ep_case ep_cases[] = {
    {"copy", true, HG_EPILOGUE_LINEAR, false, false, false, 1, {LOAD(0, 0)}},
    {"bias", true, HG_EPILOGUE_LINEAR, true, false, false, 3, {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 1, 0)}},
    {"relu", true, HG_EPILOGUE_CLAMP, true, false, false, 5,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_ZERO), OP2(MAX, 4, 2, 3)}},
    {"reused registers", true, HG_EPILOGUE_CLAMP, true, false, false, 5,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 0, 0, 1), CONST(1, EP_ZERO), OP2(MAX, 0, 1, 0)}},
    {"relu6", true, HG_EPILOGUE_CLAMP, true, false, false, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_ZERO), OP2(MAX, 4, 2, 3), CONST(5, EP_SIX), OP2(MIN, 6, 5, 4)}},
    {"min then max", true, HG_EPILOGUE_CLAMP, false, false, false, 5,
     {LOAD(0, 0), CONST(1, EP_ONE), OP2(MIN, 2, 0, 1), CONST(3, EP_ZERO), OP2(MAX, 4, 2, 3)}},
    {"residual", true, HG_EPILOGUE_CLAMP, true, true, false, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), LOAD(3, 2), OP2(ADD, 4, 3, 2), CONST(5, EP_ZERO), OP2(MAX, 6, 4, 5)}},
    {"residual alone", true, HG_EPILOGUE_LINEAR, false, true, false, 3, {LOAD(0, 0), LOAD(1, 2), OP2(ADD, 2, 0, 1)}},
    {"two biases", true, HG_EPILOGUE_LINEAR, true, false, false, 4,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), OP2(ADD, 3, 2, 1)}},
    {"residual with a bias", true, HG_EPILOGUE_CLAMP, true, true, false, 8,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), LOAD(3, 2), OP2(ADD, 4, 3, 1), OP2(ADD, 5, 4, 2), CONST(6, EP_ZERO), OP2(MAX, 7, 5, 6)}},
    {"residual after relu", true, HG_EPILOGUE_CLAMP, true, true, true, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_ZERO), OP2(MAX, 4, 2, 3), LOAD(5, 2), OP2(ADD, 6, 5, 4)}},
    {"two residuals", true, HG_EPILOGUE_CLAMP, true, true, false, 9,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), LOAD(3, 2), OP2(ADD, 4, 3, 2), LOAD(5, 3), OP2(ADD, 6, 4, 5),
      CONST(7, EP_ZERO), OP2(MAX, 8, 6, 7)}},
    {"a sum with two residuals", true, HG_EPILOGUE_LINEAR, true, true, false, 7,
     {LOAD(0, 2), LOAD(1, 3), OP2(ADD, 2, 0, 1), LOAD(3, 0), LOAD(4, 1), OP2(ADD, 5, 3, 4), OP2(ADD, 6, 2, 5)}},
    {"a residual before silu, a factor behind", true, HG_EPILOGUE_SILU, true, true, true, 9,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), LOAD(3, 2), OP2(ADD, 4, 2, 3), OP1(SIGMOID, 5, 4), OP2(MUL, 6, 4, 5),
      LOAD(7, 3), OP2(MUL, 8, 7, 6)}},
    {"sigmoid times one residual, and another", true, HG_EPILOGUE_SIGMOID, true, true, true, 8,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), OP1(SIGMOID, 3, 2), LOAD(4, 3), OP2(MUL, 5, 4, 3), LOAD(6, 2),
      OP2(ADD, 7, 5, 6)}},
    {"relu, two residuals behind", true, HG_EPILOGUE_CLAMP, false, true, true, 7,
     {LOAD(0, 0), CONST(1, EP_ZERO), OP2(MAX, 2, 0, 1), LOAD(3, 2), OP2(ADD, 4, 3, 2), LOAD(5, 3), OP2(ADD, 6, 5, 4)}},
    {"silu", true, HG_EPILOGUE_SILU, true, false, false, 5,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), OP1(SIGMOID, 3, 2), OP2(MUL, 4, 2, 3)}},
    {"silu, residual after", true, HG_EPILOGUE_SILU, true, true, true, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), OP1(SIGMOID, 3, 2), OP2(MUL, 4, 3, 2), LOAD(5, 2), OP2(ADD, 6, 4, 5)}},
    {"hardswish", true, HG_EPILOGUE_HARDSWISH, true, false, false, 12,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 2, 3), CONST(5, EP_HALF), OP2(ADD, 6, 4, 5),
      CONST(7, EP_ZERO), OP2(MAX, 8, 6, 7), CONST(9, EP_ONE), OP2(MIN, 10, 8, 9), OP2(MUL, 11, 2, 10)}},
    {"x relu6(x + 3) / 6", true, HG_EPILOGUE_HARDSWISH, false, false, false, 10,
     {LOAD(0, 0), CONST(1, EP_THREE), OP2(ADD, 2, 0, 1), CONST(3, EP_ZERO), OP2(MAX, 4, 2, 3), CONST(5, EP_SIX), OP2(MIN, 6, 4, 5),
      OP2(MUL, 7, 0, 6), CONST(8, EP_SIX), OP2(DIV, 9, 7, 8)}},
    {"x (relu6(x + 3) / 6)", true, HG_EPILOGUE_HARDSWISH, false, false, false, 10,
     {LOAD(0, 0), CONST(1, EP_THREE), OP2(ADD, 2, 0, 1), CONST(3, EP_ZERO), OP2(MAX, 4, 2, 3), CONST(5, EP_SIX), OP2(MIN, 6, 4, 5),
      CONST(7, EP_SIX), OP2(DIV, 8, 6, 7), OP2(MUL, 9, 8, 0)}},
    {"silu, scaled", true, HG_EPILOGUE_SILU, false, false, false, 5,
     {LOAD(0, 0), OP1(SIGMOID, 1, 0), OP2(MUL, 2, 0, 1), CONST(3, EP_THREE), OP2(MUL, 4, 2, 3)}},
    {"silu of a scaled sum", true, HG_EPILOGUE_SILU, true, false, false, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_HALF), OP2(MUL, 4, 2, 3), OP1(SIGMOID, 5, 4), OP2(MUL, 6, 4, 5)}},
    {"constant", true, HG_EPILOGUE_LINEAR, false, false, false, 3, {LOAD(0, 0), CONST(1, EP_THREE), OP2(ADD, 2, 1, 0)}},
    {"scaled", true, HG_EPILOGUE_LINEAR, true, false, false, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_HALF), OP2(MUL, 4, 3, 2), CONST(5, EP_ONE), OP2(ADD, 6, 4, 5)}},
    {"scaled, residual", true, HG_EPILOGUE_LINEAR, true, true, true, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_HALF), OP2(MUL, 4, 3, 2), LOAD(5, 2), OP2(ADD, 6, 4, 5)}},
    {"hard sigmoid", true, HG_EPILOGUE_CLAMP, true, false, false, 11,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 2, 3), CONST(5, EP_HALF), OP2(ADD, 6, 4, 5),
      CONST(7, EP_ZERO), OP2(MAX, 8, 6, 7), CONST(9, EP_ONE), OP2(MIN, 10, 8, 9)}},
    {"hardswish between scales", true, HG_EPILOGUE_HARDSWISH, true, false, false, 18,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_HALF), OP2(MUL, 4, 3, 2), CONST(5, EP_ONE), OP2(ADD, 6, 4, 5),
      CONST(7, EP_THREE), OP2(ADD, 8, 6, 7), CONST(9, EP_ZERO), OP2(MAX, 10, 8, 9), CONST(11, EP_SIX), OP2(MIN, 12, 10, 11),
      OP2(MUL, 13, 6, 12), OP2(DIV, 14, 13, 11), OP2(MUL, 15, 3, 14), CONST(16, EP_SIXTH), OP2(ADD, 17, 15, 16)}},
    {"gelu", true, HG_EPILOGUE_GELU, true, false, false, 11,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 1, 0), CONST(3, EP_ROOT), OP2(DIV, 4, 2, 3), OP1(ERF, 5, 4), CONST(6, EP_ONE),
      OP2(ADD, 7, 5, 6), OP2(MUL, 8, 2, 7), CONST(9, EP_HALF), OP2(MUL, 10, 8, 9)}},
    {"gelu, half first", true, HG_EPILOGUE_GELU, false, false, false, 9,
     {LOAD(0, 0), CONST(1, EP_ROOT_INVERSE), OP2(MUL, 2, 0, 1), OP1(ERF, 3, 2), CONST(4, EP_ONE), OP2(ADD, 5, 3, 4),
      CONST(6, EP_HALF), OP2(MUL, 7, 0, 6), OP2(MUL, 8, 7, 5)}},
    {"gelu with tanh", true, HG_EPILOGUE_GELU_TANH, true, false, false, 16,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 1, 0), OP2(MUL, 3, 2, 2), OP2(MUL, 4, 3, 2), CONST(5, EP_CUBIC), OP2(MUL, 6, 4, 5),
      OP2(ADD, 7, 2, 6), CONST(8, EP_SLOPE), OP2(MUL, 9, 7, 8), OP1(TANH, 10, 9), CONST(11, EP_ONE), OP2(ADD, 12, 10, 11),
      CONST(13, EP_HALF), OP2(MUL, 14, 2, 13), OP2(MUL, 15, 14, 12)}},
    {"gelu with tanh, as a product", true, HG_EPILOGUE_GELU_TANH, false, false, false, 14,
     {LOAD(0, 0), CONST(1, EP_CUBIC), OP2(MUL, 2, 0, 1), OP2(MUL, 3, 2, 0), CONST(4, EP_ONE), OP2(ADD, 5, 3, 4),
      CONST(6, EP_SLOPE), OP2(MUL, 7, 0, 6), OP2(MUL, 8, 7, 5), OP1(TANH, 9, 8), OP2(ADD, 10, 9, 4), CONST(11, EP_HALF),
      OP2(MUL, 12, 0, 11), OP2(MUL, 13, 12, 10)}},
    {"x sigmoid(3 x)", true, HG_EPILOGUE_GELU_TANH, true, false, false, 7,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 1, 0), CONST(3, EP_THREE), OP2(MUL, 4, 2, 3), OP1(SIGMOID, 5, 4), OP2(MUL, 6, 2, 5)}},
    {"x sigmoid(x / 6), residual after", true, HG_EPILOGUE_GELU_TANH, false, true, true, 7,
     {LOAD(0, 0), CONST(1, EP_SIX), OP2(DIV, 2, 0, 1), OP1(SIGMOID, 3, 2), OP2(MUL, 4, 0, 3), LOAD(5, 2), OP2(ADD, 6, 4, 5)}},
    {"x sigmoid(6 / x)", false, HG_EPILOGUE_LINEAR, false, false, false, 5,
     {LOAD(0, 0), CONST(1, EP_SIX), OP2(DIV, 2, 1, 0), OP1(SIGMOID, 3, 2), OP2(MUL, 4, 0, 3)}},
    {"x sigmoid(x + 3)", false, HG_EPILOGUE_LINEAR, false, false, false, 5,
     {LOAD(0, 0), CONST(1, EP_THREE), OP2(ADD, 2, 1, 0), OP1(SIGMOID, 3, 2), OP2(MUL, 4, 0, 3)}},
    {"x sigmoid of a fourth power", false, HG_EPILOGUE_LINEAR, false, false, false, 6,
     {LOAD(0, 0), OP2(MUL, 1, 0, 0), OP2(MUL, 2, 1, 1), OP2(ADD, 3, 0, 2), OP1(SIGMOID, 4, 3), OP2(MUL, 5, 0, 4)}},
    {"leaky", true, HG_EPILOGUE_LEAKY, true, false, false, 8,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 3, 2), CONST(5, EP_ZERO), OP2(LT, 6, 2, 5),
      OP3(SELECT, 7, 6, 4, 2)}},
    {"leaky as the larger one", true, HG_EPILOGUE_LEAKY, true, false, false, 6,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 3, 2), OP2(MAX, 5, 4, 2)}},
    {"leaky as the larger one, x first, residual after", true, HG_EPILOGUE_LEAKY, false, true, true, 6,
     {LOAD(0, 0), CONST(1, EP_SIXTH), OP2(MUL, 2, 0, 1), OP2(MAX, 3, 0, 2), LOAD(4, 2), OP2(ADD, 5, 3, 4)}},
    {"the larger one of x and 3 x", false, HG_EPILOGUE_LINEAR, false, false, false, 4,
     {LOAD(0, 0), CONST(1, EP_THREE), OP2(MUL, 2, 0, 1), OP2(MAX, 3, 2, 0)}},
    {"the larger one of x and nothing of x", false, HG_EPILOGUE_LINEAR, false, false, false, 4,
     {LOAD(0, 0), CONST(1, EP_ZERO), OP2(MUL, 2, 0, 1), OP2(MAX, 3, 2, 0)}},
    {"the larger one of x and a sixth of another", false, HG_EPILOGUE_LINEAR, false, false, false, 5,
     {LOAD(0, 0), LOAD(1, 1), CONST(2, EP_SIXTH), OP2(MUL, 3, 1, 2), OP2(MAX, 4, 3, 0)}},
    {"gelu through sigmoid", true, HG_EPILOGUE_GELU_TANH, true, false, false, 11,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 1, 0), OP2(MUL, 3, 2, 2), CONST(4, EP_CUBIC), OP2(MUL, 5, 3, 4), CONST(6, EP_ROOT),
      OP2(ADD, 7, 5, 6), OP2(MUL, 8, 7, 2), OP1(SIGMOID, 9, 8), OP2(MUL, 10, 9, 2)}},
    {"gelu through the sigmoid of another", false, HG_EPILOGUE_LINEAR, false, false, false, 10,
     {LOAD(0, 0), LOAD(1, 1), OP2(MUL, 2, 0, 1), CONST(3, EP_CUBIC), OP2(MUL, 4, 2, 3), CONST(5, EP_ROOT), OP2(ADD, 6, 4, 5),
      OP2(MUL, 7, 6, 0), OP1(SIGMOID, 8, 7), OP2(MUL, 9, 8, 0)}},
    {"leaky, residual after", true, HG_EPILOGUE_LEAKY, false, true, true, 8,
     {LOAD(0, 0), CONST(1, EP_SIXTH), OP2(MUL, 2, 0, 1), CONST(3, EP_ZERO), OP2(LT, 4, 0, 3), OP3(SELECT, 5, 4, 2, 0), LOAD(6, 2),
      OP2(ADD, 7, 5, 6)}},
    {"leaky, limited", true, HG_EPILOGUE_LEAKY, true, false, false, 11,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 3, 2), CONST(5, EP_ZERO), OP2(LT, 6, 2, 5),
      OP3(SELECT, 7, 6, 4, 2), CONST(8, EP_HALF), OP2(MIN, 9, 8, 7), OP2(MAX, 10, 9, 5)}},
    {"leaky, times a factor, limited", true, HG_EPILOGUE_LEAKY, true, false, false, 13,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 3, 2), CONST(5, EP_ZERO), OP2(LT, 6, 2, 5),
      OP3(SELECT, 7, 6, 4, 2), CONST(8, EP_THREE), OP2(MUL, 9, 7, 8), CONST(10, EP_HALF), OP2(MIN, 11, 10, 9), OP2(MAX, 12, 11, 5)}},
    {"leaky, times nothing, limited", false, HG_EPILOGUE_LINEAR, true, false, false, 11,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 3, 2), CONST(5, EP_ZERO), OP2(LT, 6, 2, 5),
      OP3(SELECT, 7, 6, 4, 2), OP2(MUL, 8, 7, 5), CONST(9, EP_HALF), OP2(MAX, 10, 9, 8)}},
    {"leaky, a slope for each column, residual after", true, HG_EPILOGUE_LEAKY, true, true, true, 9,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), OP2(MUL, 3, 1, 2), CONST(4, EP_ZERO), OP2(LT, 5, 2, 4), OP3(SELECT, 6, 5, 3, 2),
      LOAD(7, 2), OP2(ADD, 8, 6, 7)}},
    {"leaky by a slope for each output", false, HG_EPILOGUE_LINEAR, false, false, false, 6,
     {LOAD(0, 0), LOAD(1, 2), OP2(MUL, 2, 0, 1), CONST(3, EP_ZERO), OP2(LT, 4, 0, 3), OP3(SELECT, 5, 4, 2, 0)}},
    {"leaky by a slope for each output, first", false, HG_EPILOGUE_LINEAR, false, false, false, 6,
     {LOAD(0, 0), LOAD(1, 2), OP2(MUL, 2, 1, 0), CONST(3, EP_ZERO), OP2(LT, 4, 0, 3), OP3(SELECT, 5, 4, 2, 0)}},
    {"leaky by itself", false, HG_EPILOGUE_LINEAR, false, false, false, 5,
     {LOAD(0, 0), OP2(MUL, 1, 0, 0), CONST(2, EP_ZERO), OP2(LT, 3, 0, 2), OP3(SELECT, 4, 3, 1, 0)}},
    {"tanh", true, HG_EPILOGUE_TANH, false, false, false, 2, {LOAD(0, 0), OP1(TANH, 1, 0)}},
    {"tanh between scales, residual after", true, HG_EPILOGUE_TANH, true, true, true, 10,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), CONST(3, EP_SIXTH), OP2(MUL, 4, 2, 3), OP1(TANH, 5, 4), CONST(6, EP_THREE),
      OP2(MUL, 7, 5, 6), LOAD(8, 2), OP2(ADD, 9, 7, 8)}},
    {"sigmoid", true, HG_EPILOGUE_SIGMOID, true, false, false, 4,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), OP1(SIGMOID, 3, 2)}},
    {"product", true, HG_EPILOGUE_LINEAR, true, true, true, 5,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), LOAD(3, 2), OP2(MUL, 4, 3, 2)}},
    {"sigmoid as a gate", true, HG_EPILOGUE_SIGMOID, false, true, true, 4,
     {LOAD(0, 0), OP1(SIGMOID, 1, 0), LOAD(2, 2), OP2(MUL, 3, 1, 2)}},
    {"gelu, then scaled and moved by columns", true, HG_EPILOGUE_GELU, true, false, false, 13,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 1, 0), CONST(3, EP_ROOT), OP2(DIV, 4, 2, 3), OP1(ERF, 5, 4), CONST(6, EP_ONE),
      OP2(ADD, 7, 5, 6), OP2(MUL, 8, 2, 7), CONST(9, EP_HALF), OP2(MUL, 10, 8, 9), OP2(MUL, 11, 1, 10), OP2(ADD, 12, 11, 1)}},
    {"relu, scaled by columns, residual after", true, HG_EPILOGUE_CLAMP, false, true, true, 7,
     {LOAD(0, 0), CONST(1, EP_ZERO), OP2(MAX, 2, 0, 1), LOAD(3, 1), OP2(MUL, 4, 2, 3), LOAD(5, 2), OP2(ADD, 6, 4, 5)}},
    {"leaky below one", false, HG_EPILOGUE_LINEAR, false, false, false, 6,
     {LOAD(0, 0), CONST(1, EP_SIXTH), OP2(MUL, 2, 0, 1), CONST(3, EP_ONE), OP2(LT, 4, 0, 3), OP3(SELECT, 5, 4, 2, 0)}},
    {"leaky of another", false, HG_EPILOGUE_LINEAR, false, false, false, 7,
     {LOAD(0, 0), LOAD(1, 1), CONST(2, EP_SIXTH), OP2(MUL, 3, 1, 2), CONST(4, EP_ZERO), OP2(LT, 5, 0, 4), OP3(SELECT, 6, 5, 3, 0)}},
    {"where another is below", false, HG_EPILOGUE_LINEAR, false, false, false, 7,
     {LOAD(0, 0), LOAD(1, 1), CONST(2, EP_SIXTH), OP2(MUL, 3, 0, 2), CONST(4, EP_ZERO), OP2(LT, 5, 1, 4), OP3(SELECT, 6, 5, 3, 0)}},
    {"cube of another", false, HG_EPILOGUE_LINEAR, false, false, false, 9,
     {LOAD(0, 0), LOAD(1, 1), OP2(MUL, 2, 0, 0), OP2(MUL, 3, 2, 1), OP2(ADD, 4, 0, 3), OP1(TANH, 5, 4), CONST(6, EP_ONE),
      OP2(ADD, 7, 5, 6), OP2(MUL, 8, 0, 7)}},
    {"tanh of a square", false, HG_EPILOGUE_LINEAR, false, false, false, 7,
     {LOAD(0, 0), OP2(MUL, 1, 0, 0), OP2(ADD, 2, 0, 1), OP1(TANH, 3, 2), CONST(4, EP_ONE), OP2(ADD, 5, 3, 4),
      OP2(MUL, 6, 0, 5)}},
    {"limits crossed", false, HG_EPILOGUE_LINEAR, false, false, false, 5,
     {LOAD(0, 0), CONST(1, EP_ZERO), OP2(MIN, 2, 0, 1), CONST(3, EP_ONE), OP2(MAX, 4, 2, 3)}},
    {"limit NaN", false, HG_EPILOGUE_LINEAR, false, false, false, 3, {LOAD(0, 0), CONST(1, EP_NAN), OP2(MAX, 2, 0, 1)}},
    {"tanh of another", false, HG_EPILOGUE_LINEAR, false, false, false, 4,
     {LOAD(0, 0), LOAD(1, 1), OP1(TANH, 2, 1), OP2(ADD, 3, 0, 2)}},
    {"three biases", false, HG_EPILOGUE_LINEAR, false, false, false, 5,
     {LOAD(0, 0), LOAD(1, 1), OP2(ADD, 2, 0, 1), OP2(ADD, 3, 2, 1), OP2(ADD, 4, 1, 3)}},
    {"three residuals", false, HG_EPILOGUE_LINEAR, false, false, false, 6,
     {LOAD(0, 0), LOAD(1, 2), OP2(ADD, 2, 0, 1), OP2(ADD, 3, 2, 1), LOAD(4, 3), OP2(ADD, 5, 3, 4)}},
    {"the result twice", false, HG_EPILOGUE_LINEAR, false, false, false, 3, {LOAD(0, 0), OP2(ADD, 1, 0, 0), OP2(ADD, 2, 1, 1)}},
    {"square", false, HG_EPILOGUE_LINEAR, false, false, false, 2, {LOAD(0, 0), OP2(MUL, 1, 0, 0)}},
    {"sigmoid of another", false, HG_EPILOGUE_LINEAR, false, false, false, 4,
     {LOAD(0, 0), LOAD(1, 1), OP1(SIGMOID, 2, 1), OP2(MUL, 3, 0, 2)}},
    {"erf of another", false, HG_EPILOGUE_LINEAR, false, false, false, 6,
     {LOAD(0, 0), LOAD(1, 1), OP1(ERF, 2, 1), CONST(3, EP_ONE), OP2(ADD, 4, 2, 3), OP2(MUL, 5, 0, 4)}},
    {"without the result", false, HG_EPILOGUE_LINEAR, false, false, false, 1, {LOAD(0, 2)}},
    {"3 / x", false, HG_EPILOGUE_LINEAR, false, false, false, 3, {LOAD(0, 0), CONST(1, EP_THREE), OP2(DIV, 2, 1, 0)}},
};
/* clang-format on */

enum { EP_KINDS = 3 }; /* of residuals: whole, the first for each row, the second for each row */

/* Gives the call code and operands 1 to 3; `first` is where they go. */
static void ep_attach_kind(gemm_call *c, const ep_case *e, gemm_code *code, uint32_t first,
                           int64_t kind)
{
    memset(code, 0, sizeof *code);
    memcpy(code->op, e->op, e->n_op * sizeof *e->op);
    code->out = (hg_lane_out){.reg = e->op[e->n_op - 1].dst, .type = HG_LANE_F32};
    code->code = (hg_lane_code){
        .op = code->op, .out = &code->out, .n_op = e->n_op, .n_in = 4, .n_out = 1, .n_reg = 24};
    const int64_t cols = c->out.dim[c->out.rank - 1];
    c->in[first] = gemm_tensor(HOLO_F32, 1, &cols, 21);
    for (uint32_t i = 1; i <= HG_EPILOGUE_RESIDUALS; i++) {
        int64_t dim[HG_MAX_RANK];
        memcpy(dim, c->out.dim, sizeof dim);
        if (i == kind) dim[c->out.rank - 1] = 1;
        c->in[first + i] = gemm_tensor(HOLO_F32, c->out.rank, dim, 21 + i);
    }
    gemm_connect(c, first + 3, c->args.n_param);
    c->args.code = &code->code;
}

static void ep_attach(gemm_call *c, const ep_case *e, gemm_code *code, uint32_t first)
{
    ep_attach_kind(c, e, code, first, 0);
}

static bool ep_loads(const ep_case *e, int64_t operand)
{
    for (uint32_t i = 0; i < e->n_op; i++)
        if (e->op[i].op == HG_LANE_LOAD && e->op[i].index == operand) return true;
    return false;
}

static void ep_make_p16(gemm_call *c, int64_t m, int64_t n, int64_t k)
{
    memset(c, 0, sizeof *c);
    c->in[0] = gemm_tensor(HOLO_F32, 2, (int64_t[]){m, k}, 1);
    c->in[1] = gemm_tensor(HOLO_F32, 3, (int64_t[]){(n + 15) / 16, k, 16}, 2);
    c->out = gemm_tensor(HOLO_F32, 2, (int64_t[]){m, n}, 3);
    gemm_set_f64(c, 0, 1);
    gemm_connect(c, 2, 1);
}

static void ep_recognises(void)
{
    for (size_t i = 0; i < EP_KINDS * HG_COUNT(ep_cases); i++) {
        const ep_case *e = &ep_cases[i / EP_KINDS];
        const int64_t kind = (int64_t)i % EP_KINDS;
        gemm_call c;
        gemm_code code;
        holo_error error = {0};
        hg_epilogue_simple s;
        ep_make_p16(&c, 5, 20, 3);
        ep_attach_kind(&c, e, &code, 2, kind);
        CHECK_OK(hg_lane_verify(&code.code, &error), &error);
        const bool is_simple = hg_epilogue_is_simple(&c.args, 2, &s);
        if (is_simple != e->is_simple) hg_test_fail(__FILE__, __LINE__, "%s", e->name);
        if (is_simple && e->is_simple) {
            CHECK_EQ_INT(s.act, e->act);
            CHECK_EQ_INT(s.bias != NULL, e->has_bias);
            CHECK_EQ_INT(hg_epilogue_has_residual(&s), e->has_residual);
            CHECK_EQ_INT(hg_epilogue_has_when(&s, true), e->residual_last);
            CHECK_EQ_INT(hg_epilogue_has_rows(&s), kind != 0 && ep_loads(e, 1 + kind));
        }
        gemm_free(&c);
    }
}

/* Operands of other shapes and types are left to the interpreter. */
static void ep_declines_operands(void)
{
    gemm_call c;
    gemm_code code;
    hg_epilogue_simple s;
    ep_make_p16(&c, 5, 20, 3);
    ep_attach(&c, &ep_cases[1], &code, 2);
    CHECK(hg_epilogue_is_simple(&c.args, 2, &s));
    const holo_tensor bias = c.in[2];
    c.in[2].dtype = HOLO_F16;
    CHECK(!hg_epilogue_is_simple(&c.args, 2, &s));
    c.in[2] = bias;
    c.in[2].dim[0] = 1;
    CHECK(!hg_epilogue_is_simple(&c.args, 2, &s));
    c.in[2] = (holo_tensor){bias.data, {5, 1}, 2, HOLO_F32};
    CHECK(hg_epilogue_is_simple(&c.args, 2, &s) && hg_epilogue_has_rows(&s) && s.bias == NULL);
    c.in[2] = (holo_tensor){bias.data, {5, 1}, 2, HOLO_F64};
    CHECK(!hg_epilogue_is_simple(&c.args, 2, &s));
    c.in[2] = bias;
    c.out.dtype = HOLO_F16;
    CHECK(!hg_epilogue_is_simple(&c.args, 2, &s));
    c.out.dtype = HOLO_F32;
    c.args.code = NULL;
    CHECK(!hg_epilogue_is_simple(&c.args, 2, &s));
    gemm_free(&c);
}

#if defined(TUNED)
/* The tuned kernel against the reference kernel with the interpreter; sums of at most `terms`
 * products of values below 1. */
static void ep_compare(const hg_kernel *tuned, const hg_kernel *reference, gemm_call *c,
                       const char *what, int64_t terms)
{
    if (!gemm_run(reference, c)) return;
    const int64_t count = holo_tensor_count(&c->out);
    float *expected = gemm_alloc((size_t)count * sizeof(float));
    memcpy(expected, c->out.data, (size_t)count * sizeof(float));
    const double bound = (double)(terms + 8) * (double)(terms + 4) * 0x1p-23;
    if (gemm_run(tuned, c))
        for (int64_t i = 0; i < count; i++)
            if (fabs(gemm_get(&c->out, i) - expected[i]) > bound) {
                hg_test_fail(__FILE__, __LINE__, "%s: element %lld is %g, expected %g", what,
                             (long long)i, gemm_get(&c->out, i), expected[i]);
                break;
            }
    free(expected);
}

static void ep_tuned_p16(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    static const int64_t sizes[][3] = {
        {1, 40, 5}, {2, 37, 9}, {5, 16, 7}, {20, 61, 8}, {13, 5, 800}};
    for (size_t i = 0; i < HG_COUNT(ep_cases) && ep_cases[i].is_simple; i++)
        for (size_t j = 0; j < EP_KINDS * HG_COUNT(sizes); j++)
            for (int alpha = 1; alpha <= 2; alpha++) {
                gemm_call c;
                gemm_code code;
                ep_make_p16(&c, sizes[j / EP_KINDS][0], sizes[j / EP_KINDS][1],
                            sizes[j / EP_KINDS][2]);
                gemm_set_f64(&c, 0, alpha);
                ep_attach_kind(&c, &ep_cases[i], &code, 2, (int64_t)j % EP_KINDS);
                ep_compare(TUNED(matmul_p16), hg_kernels_matmul_p16, &c, ep_cases[i].name,
                           alpha * sizes[j / EP_KINDS][2]);
                gemm_free(&c);
            }
}

static void ep_tuned_matmul(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    static const int64_t sizes[][4] = {
        {1, 40, 5, 0}, {2, 37, 9, 1}, {4, 18, 20, 1}, {20, 61, 8, 0}, {30, 21, 500, 1}};
    for (size_t i = 0; i < HG_COUNT(ep_cases) && ep_cases[i].is_simple; i++)
        for (size_t j = 0; j < EP_KINDS * HG_COUNT(sizes); j++) {
            const int64_t m = sizes[j / EP_KINDS][0], n = sizes[j / EP_KINDS][1],
                          k = sizes[j / EP_KINDS][2], trans = sizes[j / EP_KINDS][3];
            gemm_call c;
            gemm_code code;
            memset(&c, 0, sizeof c);
            c.in[0] = gemm_tensor(HOLO_F32, 3, (int64_t[]){2, m, k}, 1);
            c.in[1] = gemm_tensor(HOLO_F32, 3, (int64_t[]){2, trans ? n : k, trans ? k : n}, 2);
            c.out = gemm_tensor(HOLO_F32, 3, (int64_t[]){2, m, n}, 3);
            c.param[1] = trans;
            gemm_set_f64(&c, 2, 1);
            gemm_connect(&c, 2, 3);
            ep_attach_kind(&c, &ep_cases[i], &code, 2, (int64_t)j % EP_KINDS);
            ep_compare(TUNED(matmul), hg_kernels_matmul, &c, ep_cases[i].name, k);
            gemm_free(&c);
        }
}

static void ep_tuned_conv(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    static const int64_t sizes[][3] = {{3, 20, 1},   {24, 7, 1}, {8, 40, 2},
                                       {150, 17, 1}, {24, 1, 1}, {24, 3, 1}};
    for (size_t i = 0; i < HG_COUNT(ep_cases) && ep_cases[i].is_simple; i++)
        for (size_t j = 0; j < EP_KINDS * HG_COUNT(sizes); j++) {
            const int64_t in = sizes[j / EP_KINDS][0], out = sizes[j / EP_KINDS][1],
                          groups = sizes[j / EP_KINDS][2];
            const int64_t param[9] = {3, 3, 1, 1, 1, 1, 1, 1, groups};
            gemm_call c;
            gemm_code code;
            memset(&c, 0, sizeof c);
            c.in[0] = gemm_tensor(HOLO_F32, 4, (int64_t[]){2, 6, 7, in}, 1);
            c.in[1] = gemm_tensor(
                HOLO_F32, 4, (int64_t[]){groups, (out / groups + 15) / 16, 9 * in / groups, 16}, 2);
            c.out = gemm_tensor(HOLO_F32, 4, (int64_t[]){2, 6, 7, out}, 3);
            memcpy(c.param, param, sizeof param);
            gemm_connect(&c, 2, 9);
            ep_attach_kind(&c, &ep_cases[i], &code, 2, (int64_t)j % EP_KINDS);
            ep_compare(TUNED(conv_nhwc), hg_kernels_conv_nhwc, &c, ep_cases[i].name,
                       9 * in / groups);
            gemm_free(&c);
        }
}

/* Pixels that are computed together are neighbours, or lie a dilation apart; what the interpreter
 * does is done to both panels at once. */
static void ep_tuned_winograd(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    for (size_t i = 0; i < HG_COUNT(ep_cases); i++)
        for (int64_t j = 0; j < 3 * EP_KINDS; j++) {
            /* a quotient magnifies what Winograd's algorithm errs near 0 */
            if (strcmp(ep_cases[i].name, "3 / x") == 0) continue;
            const int64_t in = 12, out = 29, dil = 1 + j / EP_KINDS;
            const int64_t param[9] = {3, 3, 1, 1, dil, dil, dil, dil, 1};
            gemm_call c;
            gemm_code code;
            memset(&c, 0, sizeof c);
            c.in[0] = gemm_tensor(HOLO_F32, 4, (int64_t[]){2, 26, 25, in}, 1);
            c.in[1] = gemm_tensor(HOLO_F32, 4, (int64_t[]){1, 2, 9 * in, 16}, 2);
            c.out = gemm_tensor(HOLO_F32, 4, (int64_t[]){2, 26, 25, out}, 3);
            memcpy(c.param, param, sizeof param);
            gemm_connect(&c, 2, 9);
            ep_attach_kind(&c, &ep_cases[i], &code, 2, (int64_t)j % EP_KINDS);
            ep_compare(TUNED(conv_winograd), hg_kernels_conv_nhwc, &c, ep_cases[i].name, 9 * in);
            gemm_free(&c);
        }
}

static void ep_tuned_depthwise(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    static const int64_t sizes[][2] = {{8, 9}, {20, 9}, {5, 9}, {24, 2}, {40, 150}};
    for (size_t i = 0; i < HG_COUNT(ep_cases) && ep_cases[i].is_simple; i++)
        for (size_t j = 0; j < EP_KINDS * HG_COUNT(sizes); j++) {
            const int64_t channels = sizes[j / EP_KINDS][0], width = sizes[j / EP_KINDS][1];
            const int64_t param[8] = {3, 3, 1, 1, 1, 1, 1, 1};
            gemm_call c;
            gemm_code code;
            memset(&c, 0, sizeof c);
            c.in[0] = gemm_tensor(HOLO_F32, 4, (int64_t[]){2, 6, width, channels}, 1);
            c.in[1] = gemm_tensor(HOLO_F32, 2, (int64_t[]){9, channels}, 2);
            c.out = gemm_tensor(HOLO_F32, 4, (int64_t[]){2, 6, width, channels}, 3);
            memcpy(c.param, param, sizeof param);
            gemm_connect(&c, 2, 8);
            ep_attach_kind(&c, &ep_cases[i], &code, 2, (int64_t)j % EP_KINDS);
            ep_compare(TUNED(conv_dw), hg_kernels_conv_dw, &c, ep_cases[i].name, 9);
            gemm_free(&c);
        }
}

enum { EP_COUNT = 4001, EP_MIDDLE = 2000 };

/* Runs a case on multiples of 0.06 and on NaN and infinities; NULL when it did not run. */
static const float *ep_run_values(const char *name, gemm_call *c, gemm_code *code)
{
    const ep_case *e = ep_cases;
    while (strcmp(e->name, name) != 0)
        e++;
    ep_make_p16(c, EP_COUNT, 1, 1);
    ep_attach(c, e, code, 2);
    float *x = c->in[0].data;
    for (int i = 0; i < EP_COUNT; i++)
        x[i] = (float)(i - EP_MIDDLE) * 0.06f;
    x[0] = NAN;
    x[1] = INFINITY;
    x[2] = -INFINITY;
    ((float *)c->in[1].data)[0] = 1;
    ((float *)c->in[2].data)[0] = 0;
    if (!gemm_run(TUNED(matmul_p16), c)) return NULL;
    CHECK(isnan(((const float *)c->out.data)[0]));
    CHECK(((const float *)c->out.data)[1] == INFINITY);
    return c->out.data;
}

/* At most 4 ulp, or 1e-36. */
static void ep_tuned_silu(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    gemm_call c;
    gemm_code code;
    const float *y = ep_run_values("silu", &c, &code), *x = c.in[0].data;
    for (int i = 3; y != NULL && i < EP_COUNT; i++) {
        const double expected = (double)x[i] / (1 + exp(-(double)x[i]));
        if (!CHECK_NEAR(y[i], expected, fabs(expected) * 4 * 0x1p-23 + 1e-36)) break;
    }
    gemm_free(&c);
}

/* At most 5e-7 |x|. */
static void ep_tuned_gelu(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    gemm_call c;
    gemm_code code;
    const float *y = ep_run_values("gelu", &c, &code), *x = c.in[0].data;
    for (int i = 3; y != NULL && i < EP_COUNT; i++) {
        const double expected = 0.5 * (double)x[i] * (1 + erf((double)x[i] / sqrt(2.0)));
        if (!CHECK_NEAR(y[i], expected, fabs((double)x[i]) * 5e-7)) break;
    }
    gemm_free(&c);
}

/* At most 5e-7 |x|. */
static void ep_tuned_gelu_tanh(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    gemm_call c;
    gemm_code code;
    const float *y = ep_run_values("gelu with tanh", &c, &code), *x = c.in[0].data;
    for (int i = 3; y != NULL && i < EP_COUNT; i++) {
        const double v = (double)x[i], u = (double)0.7978846f * (v + (double)0.044715f * v * v * v);
        if (!CHECK_NEAR(y[i], 0.5 * v * (1 + tanh(u)), fabs(v) * 5e-7)) break;
    }
    gemm_free(&c);
}

/* At most 5e-7 |x|. */
static void ep_tuned_scaled_silu(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    gemm_call c;
    gemm_code code;
    const float *y = ep_run_values("x sigmoid(3 x)", &c, &code), *x = c.in[0].data;
    for (int i = 3; y != NULL && i < EP_COUNT; i++) {
        const double v = (double)x[i];
        if (!CHECK_NEAR(y[i], v / (1 + exp(-3 * v)), fabs(v) * 5e-7)) break;
    }
    gemm_free(&c);
}
#endif

#if defined(__x86_64__)
enum { EP_WIDE_COLS = 83, EP_WIDE_ROWS = 34 };

/* Sizes of every kind, now and then NaN, infinities, zeros and subnormal numbers. */
static void ep_fill_wide(float *x, int64_t n, uint32_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 0, 0x1p-140f, -0x1p-130f, 3e38f};
    for (int64_t i = 0; i < n; i++) {
        const uint32_t r = gemm_random(seed);
        x[i] = r % 16 == 0 ? odd[r / 16 % 8]
                           : ldexpf((float)(int32_t)(r % 4001) - 2000, (int)(r / 4096 % 16) - 16);
    }
}

/* The same bits, or NaN both: which of two is kept depends on the compiler. */
static bool ep_same(const float *x, const float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(x + i, y + i, sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i]))) return false;
    return true;
}

/* Which terms there are says `kind`; the bits may not depend on whether AVX-512 is there. */
static void ep_check_wide(hg_epilogue_act act, uint32_t kind, int64_t rows, int64_t cols,
                          uint32_t *seed)
{
    static float x[EP_WIDE_ROWS * EP_WIDE_COLS], y[2][EP_WIDE_ROWS * EP_WIDE_COLS];
    static float residual[HG_EPILOGUE_RESIDUALS][EP_WIDE_ROWS * EP_WIDE_COLS],
        terms[5][EP_WIDE_COLS];
    const int64_t count = rows * EP_WIDE_COLS;
    hg_epilogue_simple e = {.act = act,
                            .is_scaled = (kind & 16) != 0,
                            .is_final = (kind & 32) != 0,
                            .scale = 1.25f,
                            .shift = 0.5f,
                            .factor = 0.75f,
                            .offset = -0.25f,
                            .low = -2,
                            .high = 3,
                            .gate_scale = 0.7f,
                            .gate_shift = 0.3f};
    ep_fill_wide(x, count, seed);
    ep_fill_wide(residual[0], (int64_t)HG_EPILOGUE_RESIDUALS * EP_WIDE_ROWS * EP_WIDE_COLS, seed);
    for (int n = 0; n < HG_EPILOGUE_RESIDUALS; n++) {
        const uint32_t which = gemm_random(seed);
        if (which % 2 == 0) continue;
        e.residual[n] = (hg_epilogue_residual){.data = residual[n],
                                               .per_row = which / 2 % 2 != 0,
                                               .when = (hg_epilogue_when)(which / 4 % 3)};
    }
    ep_fill_wide(terms[0], (int64_t)5 * EP_WIDE_COLS, seed);
    if (!e.is_final) e.gain = terms[2], e.lift = terms[3];
    if (act == HG_EPILOGUE_LEAKY && (kind & 64) != 0) e.slope = terms[4];
    for (int i = 0; i < 2; i++) {
        memcpy(y[i], x, sizeof x);
        e.cpu = i == 0 ? 0 : hg_cpu_features();
        hg_gemm_finish_avx2(
            &e, (kind & 128) != 0 ? terms[0] : NULL, (kind & 384) == 384 ? terms[1] : NULL,
            hg_epilogue_residuals_at(&e, 0, EP_WIDE_COLS), y[i], EP_WIDE_COLS, rows, 0, cols);
    }
    if (!ep_same(y[0], y[1], count))
        hg_test_fail(__FILE__, __LINE__, "activation %d, kind %u, %lld x %lld: other bits",
                     (int)act, (unsigned)kind, (long long)rows, (long long)cols);
}

static void ep_wide(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    uint32_t seed = 5;
    for (int act = HG_EPILOGUE_LINEAR; act <= HG_EPILOGUE_SIGMOID; act++)
        for (int64_t cols = 1; cols <= EP_WIDE_COLS; cols++)
            for (int i = 0; i < 8; i++)
                ep_check_wide((hg_epilogue_act)act, gemm_random(&seed) % 512,
                              gemm_size(&seed, 1, EP_WIDE_ROWS), cols, &seed);
}
#endif

const hg_test_case hg_tests_kernel_epilogue[] = {
    {"recognises", ep_recognises},
    {"declines_operands", ep_declines_operands},
#if defined(TUNED)
    {"tuned_p16", ep_tuned_p16},
    {"tuned_matmul", ep_tuned_matmul},
    {"tuned_conv", ep_tuned_conv},
    {"tuned_winograd", ep_tuned_winograd},
    {"tuned_depthwise", ep_tuned_depthwise},
    {"tuned_silu", ep_tuned_silu},
    {"tuned_gelu", ep_tuned_gelu},
    {"tuned_gelu_tanh", ep_tuned_gelu_tanh},
    {"tuned_scaled_silu", ep_tuned_scaled_silu},
#endif
#if defined(__x86_64__)
    {"wide", ep_wide},
#endif
    {0},
};
