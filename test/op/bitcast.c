/* bitcast.c - BitCast: bits stay, widths must agree. */
#include "op/rule.h"

static void bitcast_rules(void)
{
    static const rule table[] = {
        {"%x: float32[b,3]", "%y = BitCast(%x) {to=6}", "int32[b,3]"},
        {"%x: complex64[2]", "%y = BitCast(%x) {to=7}", "int64[2]"},
        {"%x: bool[]", "%y = BitCast(%x) {to=2}", "uint8[]"},
        {"%x: int4[3]", "%y = BitCast(%x) {to=23}", "float4e2m1[3]"},
        {"%x: uint2[5]", "%y = BitCast(%x) {to=26}", "int2[5]"},
        {"%x: float32[3]", "%y = BitCast(%x) {to=7}", "!'to' is int64 of 64 bits, expected 32"},
        {"%x: int4[4]", "%y = BitCast(%x) {to=3}", "!'to' is int8 of 8 bits, expected 4"},
        {"%x: float32[3]", "%y = BitCast(%x)", "!'to' is 0"},
        {"%x: complex128[3]", "%y = BitCast(%x) {to=8}", "!'to' is 8"},
        {"%x: string[3]", "%y = BitCast(%x) {to=15}", "!input 0 has element type string"},
        {"%x: float32[3]", "%y = BitCast(%x) {to=99}", "!'to' is 99"},
    };
    RULES(table);
}

static void bitcast_values(void)
{
    static const rule_value table[] = {
        {"%x = const float32[2] {1, -0.0} %y = BitCast(%x) {to=6}",
         "int32[2] {1065353216, -2147483648}"},
        {"%x = const int16[2] {15360, -17408} %y = BitCast(%x) {to=10}", "float16[2] {1.0, -1.0}"},
        {"%x = const uint8[3] {1, 128, 255} %y = BitCast(%x) {to=3}", "int8[3] {1, -128, -1}"},
        {"%x = const uint4[3] {7, 8, 15} %y = BitCast(%x) {to=22}", "int4[3] {7, -8, -1}"},
        {"%x = const float64[0] {} %y = BitCast(%x) {to=13}", "uint64[0] {}"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_bitcast[] = {
    {"rules", bitcast_rules},
    {"values", bitcast_values},
    {0},
};
