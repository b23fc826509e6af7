/* matmul.c - MatMul, Gemm, Einsum and the integer products: shapes and small products. */
#include "op/rule.h"

static void matmul_types(void)
{
    static const rule table[] = {
        {"%a: float32[batch,12,seq,64], %b: float32[batch,12,64,seq]", "%y = MatMul(%a, %b)",
         "float32[batch,12,seq,seq]"},
        {"%a: float32[n,3,4], %b: float32[4,5]", "%y = MatMul(%a, %b)", "float32[n,3,5]"},
        {"%a: float32[4], %b: float32[n,4,5]", "%y = MatMul(%a, %b)", "float32[n,5]"},
        {"%a: float32[n,5,4], %b: float32[4]", "%y = MatMul(%a, %b)", "float32[n,5]"},
        {"%a: float64[4], %b: float64[4]", "%y = MatMul(%a, %b)", "float64[]"},
        {"%a: float32[3,4], %b: float32[5,6]", "%y = MatMul(%a, %b)", "!has 4 columns but"},
        {"%a: float32[3,4], %b: float64[4,6]", "%y = MatMul(%a, %b)", "!they must agree"},
        {"%a: float32[], %b: float32[4,6]", "%y = MatMul(%a, %b)", "!ranks 0 and 2"},
        {"%a: float32[2,3,4], %b: float32[3,4,5]", "%y = MatMul(%a, %b)", "!do not broadcast"},
        {"%a: int8[3,4], %b: int8[4,5]", "%y = MatMul(%a, %b)", "!element type int8"},
        {"%a: float32[k,m], %b: float32[n,k], %c: float32[n]",
         "%y = Gemm(%a, %b, %c) {transA=1, transB=1}", "float32[m,n]"},
        {"%a: float32[2,3], %b: float32[3,4], %c: float32[5]", "%y = Gemm(%a, %b, %c)",
         "!dimension 0 of C does not broadcast"},
        {"%a: float32[2,3], %b: float32[3,4], %c: float32[1,2,4]", "%y = Gemm(%a, %b, %c)",
         "!input 2 has rank 3"},
        {"%a: float32[2,3,4], %b: float32[3,4]", "%y = Gemm(%a, %b)", "!input 0 has rank 3"},
        {"%a: float32[2,3], %b: float32[3,4]", "%y = Gemm(%a, %b) {alpha=1}", "!attribute 'alpha'"},
        {"%a: uint8[m,3], %b: int8[3,4]", "%y = MatMulInteger(%a, %b)", "int32[m,4]"},
        {"%a: uint8[m,3], %b: int8[3,4], %z: int8[]", "%y = MatMulInteger(%a, %b, %z)",
         "!input 0 is uint8 but input 2 is int8"},
        {"%a: uint8[m,3], %b: float32[3,4]", "%y = MatMulInteger(%a, %b)", "!element type float32"},
    };
    RULES(table);
}

static void matmul_values(void)
{
    static const rule_value table[] = {
        {"%a = const float32[2,2] {1, 2, 3, 4} %b = const float32[2] {1, -1} %y = MatMul(%a, %b)",
         "float32[2] {-1.0, -1.0}"},
        {"%a = const float32[2] {1, -1} %b = const float32[2,2] {1, 2, 3, 4} %y = MatMul(%a, %b)",
         "float32[2] {-2.0, -2.0}"},
        {"%a = const int64[2] {3, 4} %b = const int64[2] {3, 4} %y = MatMul(%a, %b)",
         "int64[] {25}"},
        {"%a = const float32[2,1] {1, 2} %b = const float32[2,2] {1, 2, 3, 4} %c = const "
         "float32[2] {10, 20} %y = Gemm(%a, %b, %c) {transA=1, transB=1, alpha=2.0, beta=0.5}",
         "float32[1,2] {15.0, 32.0}"},
        {"%a = const int32[1,2] {1, 2} %b = const int32[2,1] {3, 4} %c = const int32[] {5} %y = "
         "Gemm(%a, %b, %c) {alpha=0.5}",
         "int32[1,1] {10}"},
        {"%a = const float32[1,0] {} %b = const float32[0,2] {} %y = MatMul(%a, %b)",
         "float32[1,2] {0.0, 0.0}"},
        {"%a = const uint8[2,2] {1, 2, 3, 4} %b = const int8[2,1] {5, -6} %z = const uint8[2] {1, "
         "2} %w = const int8[] {1} %y = MatMulInteger(%a, %b, %z, %w)",
         "int32[2,1] {-7, -10}"},
    };
    RULE_VALUES(table);
}

static void matmul_einsum_types(void)
{
    static const rule table[] = {
        {"%a: float32[b,i,j], %b: float32[b,j,k]",
         "%y = Einsum(%a, %b) {equation=\"bij, bjk -> bik\"}", "float32[b,i,k]"},
        {"%a: float32[n,i,j]", "%y = Einsum(%a) {equation=\"...ij->...ji\"}", "float32[n,j,i]"},
        {"%a: float32[p,q], %b: float32[q,r]", "%y = Einsum(%a, %b) {equation=\"ba,ac\"}",
         "float32[p,r]"},
        {"%a: float32[i,i]", "%y = Einsum(%a) {equation=\"ii\"}", "float32[]"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"ii->i\"}", "!does not agree"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"ij->iij\"}", "!'i' occurs twice"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"ij->k\"}", "!'k' occurs in the result"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"ijk->i\"}", "!input 0 has rank 2"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"ij,jk->ik\"}", "!more terms than"},
        {"%a: float32[2,3], %b: float32[3]", "%y = Einsum(%a, %b) {equation=\"ij->i\"}",
         "!input 1 has rank 1"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"i1->i\"}", "!unexpected character"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"ij-i\"}", "!'-' without '>'"},
        {"%a: float32[2,3]", "%y = Einsum(%a) {equation=\"..ij->ij\"}", "!unexpected character"},
    };
    RULES(table);
}

static void matmul_einsum_values(void)
{
    static const rule_value table[] = {
        {"%a = const int32[2,2] {1, 2, 3, 4} %y = Einsum(%a) {equation=\"ij->ji\"}",
         "int32[2,2] {1, 3, 2, 4}"},
        {"%a = const int32[2,2] {1, 2, 3, 4} %y = Einsum(%a) {equation=\"ij->\"}", "int32[] {10}"},
        {"%a = const int32[2,2] {1, 2, 3, 4} %y = Einsum(%a) {equation=\"ii->i\"}",
         "int32[2] {1, 4}"},
        {"%a = const int32[2,2,2] {1, 2, 3, 4, 5, 6, 7, 8} %y = Einsum(%a) {equation=\"iii\"}",
         "int32[] {9}"},
        {"%a = const int32[2,2] {1, 2, 3, 4} %b = const int32[2,2] {5, 6, 7, 8} %y = Einsum(%a, "
         "%b) "
         "{equation=\"ij,ij->i\"}",
         "int32[2] {17, 53}"},
        {"%a = const int32[2] {1, 2} %b = const int32[3] {3, 4, 5} %y = Einsum(%a, %b) "
         "{equation=\"i,j->ji\"}",
         "int32[3,2] {3, 6, 4, 8, 5, 10}"},
        {"%a = const int32[2] {1, 2} %b = const int32[2] {3, 4} %c = const int32[2] {5, 6} %y = "
         "Einsum(%a, %b, %c) {equation=\"i,j,i->j\"}",
         "int32[2] {51, 68}"},
        {"%a = const int32[1,2] {1, 2} %b = const int32[3,2] {1, 2, 3, 4, 5, 6} %y = Einsum(%a, "
         "%b) "
         "{equation=\"...i,...i->...\"}",
         "int32[3] {5, 11, 17}"},
        {"%a = const int8[2] {100, 100} %b = const int8[2] {2, 1} %y = Einsum(%a, %b) "
         "{equation=\"i,i\"}",
         "int8[] {44}"},
    };
    RULE_VALUES(table);
}

static void matmul_internal(void)
{
    static const rule table[] = {
        {"%w: float32[768,3072]", "%y = holo:PackP16(%w)", "float32[192,768,16]"},
        {"%w: float16[50,768]", "%y = holo:PackP16(%w) {trans=1}", "float16[4,768,16]"},
        {"%w: float32[8,20], %v: float32[8,30]", "%y = holo:PackP16(%w, %v)", "float32[4,8,16]"},
        {"%w: float32[8,20], %v: float32[8,30]", "%y = holo:PackP16(%w, %v) {columns=[5,16]}",
         "float32[1,8,16]"},
        {"%w: float32[8,20]", "%y = holo:PackP16(%w) {columns=[5]}", "!columns has 1 entries"},
        {"%w: float32[8,20], %v: float16[8,30]", "%y = holo:PackP16(%w, %v)", "!they must agree"},
        {"%a: float32[n,s,768], %w: float32[192,768,16]", "%y = holo:MatMulP16(%a, %w) {n=3072}",
         "float32[n,s,3072]"},
        {"%a: float32[n,s,768], %w: float32[192,700,16]", "%y = holo:MatMulP16(%a, %w) {n=3072}",
         "!does not have as many rows"},
        {"%a: float32[n,768], %w: float32[192,768,16]", "%y = holo:MatMulP16(%a, %w)",
         "!attribute 'n' is not a dimension"},
        {"%a: float32[n,768], %w: float32[192,768,16], %b: float32[3072]",
         "%y = holo:MatMulP16(%a, %w, %b) {n=3072}", "!but no 'code'"},
        {"%a: float32[n,4,3], %b: float32[n,5,4]",
         "%y = holo:MatMul(%a, %b) {trans_a=1, trans_b=1}", "float32[n,3,5]"},
        {"%w: float32[32,3,3,3]", "%y = holo:PackConv(%w)", "float32[1,2,27,16]"},
        {"%w: float32[32,4,3,3]", "%y = holo:PackConv(%w) {group=4}", "float32[4,1,36,16]"},
        {"%w: float32[32,4,3,3]", "%y = holo:PackConv(%w) {group=0}", "!group is 0"},
        {"%w: float32[32,1,3,5]", "%y = holo:PackDw(%w)", "float32[15,32]"},
        {"%x: float32[n,h,w,3], %w: float32[1,2,27,16]",
         "%y = holo:ConvNhwc(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1], out_channels=32}",
         "float32[n,h,w,32]"},
        {"%x: float32[n,8,8,32], %w: float32[9,32]",
         "%y = holo:ConvDw(%x, %w) {kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]}",
         "float32[n,4,4,32]"},
        {"%x: float32[n,8,8,32], %w: float32[9,32]", "%y = holo:ConvDw(%x, %w)",
         "!attribute kernel_shape is missing"},
        {"%x: float32[n,8,8,4], %w: float32[1,2,4,16], %v: float32[9,32], %b: float32[32]",
         "%y = holo:ConvPwDw(%x, %w, %v, %b) {kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]}",
         "float32[n,4,4,32]"},
        {"%x: float32[n,8,8,4], %w: float32[1,2,4,16], %v: float32[32], %b: float32[32]",
         "%y = holo:ConvPwDw(%x, %w, %v, %b) {kernel_shape=[3,3]}", "!rank"},
        {"%x: float32[n,8,8,32], %w: float32[9,32]",
         "%z, %y = holo:ConvDw(%x, %w) {kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]}",
         "float32[n,4,4,32], float32[n,4,1,32]"},
        {"%x: float32[n,8,8,4], %w: float32[1,2,4,16], %g: float32[n,1,1,4]",
         "%y = holo:ConvGated(%x, %w, %g) {out_channels=32}", "float32[n,8,8,32]"},
        {"%x: float32[n,8,8,4], %w: float32[1,2,4,16], %g: float32[4]",
         "%y = holo:ConvGated(%x, %w, %g) {out_channels=32}", "!rank"},
        {"%x: float32[n,8,9,32]",
         "%y = holo:PoolNhwc(%x) {kernel_shape=[2,2], strides=[2,2], ceil_mode=1}",
         "float32[n,4,5,32]"},
        {"%x: float32[n,8,9,32]", "%y = holo:PoolNhwc(%x) {kernel_shape=[2,2], mode=4}",
         "!mode is 4"},
        {"%x: float32[n,8,8,32], %s: float32[32]",
         "%y = holo:GroupNorm(%x, %s) {groups=4, channels_last=1}", "float32[n,8,8,32]"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_matmul[] = {
    {"types", matmul_types},
    {"values", matmul_values},
    {"einsum_types", matmul_einsum_types},
    {"einsum_values", matmul_einsum_values},
    {"internal", matmul_internal},
    {0},
};
