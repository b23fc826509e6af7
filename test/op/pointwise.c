/* pointwise.c - element-wise operators: integers of every width, special floats, mixed types. */
#include "op/rule.h"

static void pointwise_integers(void)
{
    static const rule_value table[] = {
        {"%a = const int8[4] {-128, 127, -7, 7} %b = const int8[4] {-1, 1, 2, -2} %y = Add(%a, %b)",
         "int8[4] {127, -128, -5, 5}"},
        {"%a = const int8[3] {-7, 7, -128} %b = const int8[3] {2, -2, -1} %y = Div(%a, %b)",
         "int8[3] {-3, -3, -128}"},
        {"%a = const int32[2] {-7, -2147483648} %b = const int32[2] {2, -1} %y = Div(%a, %b)",
         "int32[2] {-3, -2147483648}"},
        {"%a = const int64[1] {-9223372036854775808} %b = const int64[1] {-1} %y = Div(%a, %b)",
         "int64[1] {-9223372036854775808}"},
        {"%a = const int32[1] {1} %b = const int32[1] {0} %y = Div(%a, %b)",
         "!integer division by zero at element 0"},
        {"%a = const uint32[2] {4000000000, 5} %b = const uint32[2] {3, 6} %y = Mul(%a, %b)",
         "uint32[2] {3410065408, 30}"},
        {"%a = const uint32[1] {3} %b = const uint32[1] {5} %y = Sub(%a, %b)",
         "uint32[1] {4294967294}"},
        {"%a = const uint64[2] {18446744073709551615, 7} %b = const uint64[2] {2, 2} %y = Div(%a, "
         "%b)",
         "uint64[2] {9223372036854775807, 3}"},
        {"%a = const int16[4] {-7, 7, -7, 7} %b = const int16[4] {3, -3, -3, 3} %y = Mod(%a, %b)",
         "int16[4] {2, -2, -1, 1}"},
        {"%a = const int16[4] {-7, 7, -7, 7} %b = const int16[4] {3, -3, -3, 3} %y = Mod(%a, %b) "
         "{fmod=1}",
         "int16[4] {-1, 1, -1, 1}"},
        {"%a = const float32[2] {-7.5, 7.5} %b = const float32[2] {2.0, -2.0} %y = Mod(%a, %b) "
         "{fmod=1}",
         "float32[2] {-1.5, 1.5}"},
        {"%a = const float32[1] {1.0} %y = Mod(%a, %a)", "!fmod is 0, expected 1 for float32"},
        {"%a = const int8[2] {-128, -5} %y = Abs(%a)", "int8[2] {-128, 5}"},
        {"%a = const uint8[2] {200, 0} %y = Abs(%a)", "uint8[2] {200, 0}"},
        {"%a = const int8[2] {-128, 5} %y = Neg(%a)", "int8[2] {-128, -5}"},
        {"%a = const uint64[3] {18446744073709551615, 0, 1} %y = Sign(%a)", "uint64[3] {1, 0, 1}"},
        {"%a = const int32[3] {-5, 0, 9} %y = Relu(%a)", "int32[3] {0, 0, 9}"},
        {"%a = const int32[3] {2, -3, 2} %b = const int32[3] {10, 3, 0} %y = Pow(%a, %b)",
         "int32[3] {1024, -27, 1}"},
        {"%a = const int32[2] {4, 9} %b = const float32[2] {0.5, 1.5} %y = Pow(%a, %b)",
         "int32[2] {2, 27}"},
        {"%a = const float32[2] {4.0, 2.0} %b = const int64[2] {2, -1} %y = Pow(%a, %b)",
         "float32[2] {16.0, 0.5}"},
        {"%a = const uint8[3] {1, 200, 255} %b = const uint8[3] {8, 1, 3} %y = BitShift(%a, %b) "
         "{direction=\"LEFT\"}",
         "uint8[3] {0, 144, 248}"},
        {"%a = const uint64[2] {18446744073709551615, 1} %b = const uint64[2] {63, 64} %y = "
         "BitShift(%a, %b) {direction=\"RIGHT\"}",
         "uint64[2] {1, 0}"},
        {"%a = const uint8[1] {1} %y = BitShift(%a, %a) {direction=\"UP\"}",
         "!direction is \"UP\""},
        {"%a = const uint16[1] {255} %y = BitwiseNot(%a)", "uint16[1] {65280}"},
        {"%a = const int8[2] {-4, 6} %b = const int8[2] {6, 3} %y = BitwiseXor(%a, %b)",
         "int8[2] {-6, 5}"},
        {"%a = const int64[2] {1, -9} %b = const int64[1] {-2} %c = const int64[] {0} %y = Max(%a, "
         "%b, %c)",
         "int64[2] {1, 0}"},
        {"%a = const uint8[2] {1, 250} %b = const uint8[2] {9, 9} %y = Min(%a, %b)",
         "uint8[2] {1, 9}"},
        {"%a = const int8[3] {-5, 0, 5} %l = const int8[] {-1} %h = const int8[] {2} %y = Clip(%a, "
         "%l, %h)",
         "int8[3] {-1, 0, 2}"},
        {"%a = const int8[3] {-5, 0, 5} %h = const int8[] {2} %y = Clip(%a, _, %h)",
         "int8[3] {-5, 0, 2}"},
        {"%a = const int8[1] {-5} %y = Clip(%a)", "int8[1] {-5}"},
        {"%a = const int8[3] {-5, 0, 5} %l = const int8[] {3} %h = const int8[] {1} %y = Clip(%a, "
         "%l, %h)",
         "int8[3] {1, 1, 1}"},
        {"%a = const int32[3] {-4, 1, 4} %y = Shrink(%a) {lambd=1.5, bias=1.0}",
         "int32[3] {-3, 0, 3}"},
        {"%a = const int32[2] {-4, 4} %b = const int32[1] {3} %y = PRelu(%a, %b)",
         "int32[2] {-12, 4}"},
    };
    RULE_VALUES(table);
}

static void pointwise_special_floats(void)
{
    static const rule_value table[] = {
        {"%a = const float32[2] {nan, -1.0} %y = Relu(%a)", "float32[2] {nan, 0.0}"},
        {"%a = const float32[2] {nan, 1.0} %b = const float32[2] {1.0, nan} %y = Max(%a, %b)",
         "float32[2] {nan, nan}"},
        {"%a = const float32[3] {inf, -inf, nan} %y = IsInf(%a) {detect_negative=0}",
         "bool[3] {true, false, false}"},
        {"%a = const float32[3] {inf, -inf, nan} %y = IsInf(%a) {detect_positive=0}",
         "bool[3] {false, true, false}"},
        {"%a = const float16[3] {inf, 1.0, nan} %y = IsNaN(%a)", "bool[3] {false, false, true}"},
        {"%a = const float32[4] {0.5, 1.5, -0.5, 2.5} %y = Round(%a)",
         "float32[4] {0.0, 2.0, -0.0, 2.0}"},
        {"%a = const float32[3] {0.0, -0.0, nan} %y = Sign(%a)", "float32[3] {0.0, 0.0, nan}"},
        {"%a = const float32[2] {1000.0, -1000.0} %y = Softplus(%a)", "float32[2] {1000.0, 0.0}"},
        {"%a = const float32[2] {1000.0, -1000.0} %y = Mish(%a)", "float32[2] {1000.0, -0.0}"},
        {"%a = const float32[2] {1000.0, -1000.0} %y = Elu(%a) {alpha=2.0}",
         "float32[2] {1000.0, -2.0}"},
        {"%a = const float32[2] {1000.0, -1000.0} %y = Celu(%a) {alpha=2.0}",
         "float32[2] {1000.0, -2.0}"},
        {"%a = const float32[2] {1000.0, -1000.0} %y = Sigmoid(%a)", "float32[2] {1.0, 0.0}"},
        {"%a = const float32[2] {-1.0, 1.0} %b = const float32[2] {0.0, 0.0} %y = Div(%a, %b)",
         "float32[2] {-inf, inf}"},
        {"%a = const float32[2] {nan, 1.0} %y = Equal(%a, %a)", "bool[2] {false, true}"},
        {"%a = const float32[3] {nan, 1.0, 2.0} %b = const float32[] {1.0} %y = GreaterOrEqual(%a, "
         "%b)",
         "bool[3] {false, true, true}"},
        {"%a = const float32[3] {-4.0, 0.0, 4.0} %y = HardSigmoid(%a)",
         "float32[3] {0.0, 0.5, 1.0}"},
        {"%a = const float32[3] {-4.0, 0.0, 4.0} %y = HardSwish(%a)",
         "float32[3] {-0.0, 0.0, 4.0}"},
        {"%a = const float64[2] {-2.0, 3.0} %y = ThresholdedRelu(%a) {alpha=2.0}",
         "float64[2] {0.0, 3.0}"},
        {"%a = const float32[2] {1.0, 3.0} %b = const float32[2] {3.0, 5.0} %y = Mean(%a, %b)",
         "float32[2] {2.0, 4.0}"},
        {"%a = const float32[1] {2.0} %y = Gelu(%a) {approximate=\"fast\"}",
         "!approximate is \"fast\""},
    };
    RULE_VALUES(table);
}

static void pointwise_cast(void)
{
    static const rule_value table[] = {
        {"%a = const int32[4] {200, -1, 256, 128} %y = Cast(%a) {to=3}",
         "int8[4] {-56, -1, 0, -128}"},
        {"%a = const int16[2] {-1, 300} %y = Cast(%a) {to=2}", "uint8[2] {255, 44}"},
        {"%a = const int64[2] {-1, 4294967297} %y = Cast(%a) {to=12}", "uint32[2] {4294967295, 1}"},
        {"%a = const int64[1] {-1} %y = Cast(%a) {to=13}", "uint64[1] {18446744073709551615}"},
        {"%a = const float32[4] {-1.9, 1.9, 300.7, -0.5} %y = Cast(%a) {to=6}",
         "int32[4] {-1, 1, 300, 0}"},
        {"%a = const float32[2] {-1.0, 3.0} %y = Cast(%a) {to=12}", "uint32[2] {4294967295, 3}"},
        {"%a = const float32[4] {0.0, -0.0, 0.1, nan} %y = Cast(%a) {to=9}",
         "bool[4] {false, false, true, true}"},
        {"%a = const int64[2] {0, -5} %y = Cast(%a) {to=9}", "bool[2] {false, true}"},
        {"%a = const bool[2] {true, false} %y = Cast(%a) {to=1}", "float32[2] {1.0, 0.0}"},
        {"%a = const float64[2] {0.1, 1e300} %y = Cast(%a) {to=1}", "float32[2] {0.1, inf}"},
        {"%a = const float32[3] {70000.0, 0.33325195, nan} %y = Cast(%a) {to=10}",
         "float16[3] {inf, 0.33325195, nan}"},
        {"%a = const float32[3] {1e6, -1e6, nan} %y = Cast(%a) {to=17}",
         "float8e4m3fn[3] {448.0, -448.0, nan}"},
        {"%a = const float32[1] {1e6} %y = Cast(%a) {to=19, saturate=0}", "float8e5m2[1] {inf}"},
        {"%a = const float32[4] {3.0, 3.0, 1.5, 1.4} %y = Cast(%a) {to=24}",
         "float8e8m0[4] {4.0, 4.0, 2.0, 2.0}"},
        {"%a = const float32[4] {3.0, 2.9, 1.5, 1.4} %y = Cast(%a) {to=24, round_mode=\"down\"}",
         "float8e8m0[4] {2.0, 2.0, 1.0, 1.0}"},
        {"%a = const float32[4] {3.0, 2.9, 1.5, 1.4} %y = Cast(%a) {to=24, round_mode=\"nearest\"}",
         "float8e8m0[4] {4.0, 2.0, 2.0, 1.0}"},
        {"%a = const int32[3] {-8, 7, 9} %y = Cast(%a) {to=22}", "int4[3] {-8, 7, -7}"},
        {"%a = const uint2[3] {3, 0, 2} %y = Cast(%a) {to=7}", "int64[3] {3, 0, 2}"},
        {"%a = const int32[1] {1} %y = Cast(%a)", "!'to' is 0, which is no element type"},
        {"%a = const int32[1] {1} %y = Cast(%a) {to=64}", "!'to' is 64"},
        {"%a = const int32[1] {1} %y = Cast(%a) {to=24, round_mode=\"odd\"}",
         "!round_mode is \"odd\""},
        {"%a = const int32[1] {1} %b = const float32[9] {0.,0.,0.,0.,0.,0.,0.,0.,0.} %y = "
         "CastLike(%a, %b)",
         "float32[1] {1.0}"},
    };
    RULE_VALUES(table);
}

static void pointwise_shapes(void)
{
    static const rule table[] = {
        {"%a: float32[n,1,3], %b: float32[4,1]", "%y = Add(%a, %b)", "float32[n,4,3]"},
        {"%a: float32[], %b: float32[]", "%y = Mul(%a, %b)", "float32[]"},
        {"%a: float32[0,3], %b: float32[1,3]", "%y = Sub(%a, %b)", "float32[0,3]"},
        {"%a: float32[n,s], %b: float32[1,min(512,s)]", "%y = Add(%a, %b)", "float32[n,s]"},
        {"%a: float32[1,min(512,s)], %b: float32[n,s]", "%y = Add(%a, %b)", "float32[n,s]"},
        {"%a: float32[n,s], %b: float32[select(t,n,-1),s]", "%y = Add(%a, %b)", "float32[n,s]"},
        {"%a: float32[2], %b: float32[3]", "%y = Add(%a, %b)",
         "!dimensions 2 and 3 do not broadcast"},
        {"%a: float32[2], %b: int32[2]", "%y = Add(%a, %b)",
         "!input 0 is float32 but input 1 is int32"},
        {"%a: bool[2], %b: bool[2]", "%y = Add(%a, %b)", "!element type bool"},
        {"%c: bool[n,1], %a: int64[3], %b: int64[]", "%y = Where(%c, %a, %b)", "int64[n,3]"},
        {"%c: bool[2], %a: int64[2], %b: int32[2]", "%y = Where(%c, %a, %b)",
         "!input 1 is int64 but input 2 is int32"},
        {"%c: int32[2], %a: int64[2], %b: int64[2]", "%y = Where(%c, %a, %b)",
         "!element type int32"},
        {"%a: float32[2,3], %s: float32[2,2,3]", "%y = PRelu(%a, %s)", "!input 1 has rank 3"},
        {"%a: float32[n], %l: float32[2]", "%y = Clip(%a, %l)", "!more than one element"},
        {"%a: int64[2] {n,3}", "%c = const int64[1] {2} %y = Mul(%a, %c)", "int64[2] {n*2,6}"},
        {"%a: int64[2] {n,-1}",
         "%c = const int64[1] {-1} %e = Equal(%a, %c) %d = const int64[1] {7} %y = Where(%e, %d, "
         "%a)",
         "int64[2] {n,7}"},
        {"%a: int64[1] {n}", "%b = Cast(%a) {to=6} %y = Cast(%b) {to=7}", "int64[1] {n}"},
    };
    RULES(table);
}

static void pointwise_quantize(void)
{
    static const rule_value table[] = {
        {"%x = const float32[4] {-1.0, 0.25, 0.75, 1000.0} %s = const float32[] {0.5} %z = const "
         "uint8[] {1} %y = QuantizeLinear(%x, %s, %z)",
         "uint8[4] {0, 1, 3, 255}"},
        {"%x = const float32[2,2] {1.0, 1.0, -9.0, 9.0} %s = const float32[2] {1.0, 0.5} %z = "
         "const int4[2] {0, 0} %y = QuantizeLinear(%x, %s, %z) {axis=0}",
         "int4[2,2] {1, 1, -8, 7}"},
        {"%x = const float32[4] {1.0, 2.0, 3.0, 4.0} %s = const float32[2] {1.0, 2.0} %y = "
         "QuantizeLinear(%x, %s) {axis=0, block_size=2}",
         "uint8[4] {1, 2, 2, 2}"},
        {"%x = const float32[3] {1.0, 2.0, 3.0} %s = const float32[2] {1.0, 3.0} %y = "
         "QuantizeLinear(%x, %s) {axis=0, block_size=2, output_dtype=3}",
         "int8[3] {1, 2, 1}"},
        {"%x = const uint8[2,2] {1, 2, 3, 4} %s = const float32[2] {2.0, 3.0} %z = const uint8[2] "
         "{1, 1} %y = DequantizeLinear(%x, %s, %z)",
         "float32[2,2] {0.0, 3.0, 4.0, 9.0}"},
        {"%x = const int8[2] {-3, 4} %s = const float16[1] {0.5} %y = DequantizeLinear(%x, %s)",
         "float16[2] {-1.5, 2.0}"},
        {"%x = const int8[3] {1, 2, 3} %s = const float32[2] {1.0, 1.0} %y = DequantizeLinear(%x, "
         "%s)",
         "!the scale does not have the size of dimension 0"},
        {"%x = const int8[2] {1, 2} %s = const float32[] {1.0} %z = const uint8[] {1} %y = "
         "DequantizeLinear(%x, %s, %z)",
         "!input 0 is int8 but input 2 is uint8"},
        {"%x = const float32[1] {1.0} %s = const float32[] {1.0} %y = QuantizeLinear(%x, %s) "
         "{output_dtype=7}",
         "!not one of the quantized types"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_pointwise[] = {
    {"integers", pointwise_integers}, {"special_floats", pointwise_special_floats},
    {"cast", pointwise_cast},         {"shapes", pointwise_shapes},
    {"quantize", pointwise_quantize}, {0},
};
