/* flexattention.c - FlexAttention: what its graphs change, and what is refused. */
#include "op/rule.h"

#define FLEX "ai.onnx.preview:FlexAttention"

static void flexattention_rules(void)
{
    static const char in[] = "%q: float16[b,8,s,64], %k: float16[b,2,t,64], %v: float16[b,2,t,32]";
    static const rule table[] = {
        {in, "%y = " FLEX "(%q, %k, %v)", "float16[b,8,s,32]"},
        {in, "%y = " FLEX "(%q, %k, %v) {softmax_precision=6}", "!softmax_precision is 6"},
        {in, "%y = " FLEX "(%q, %k, %k)", "float16[b,8,s,64]"},
        {in, "%y = " FLEX "(%q, %v, %v)", "!dimension 3 of input 1 is 32, expected 64"},
        {"%q: float32[1,8,2,4], %k: float32[1,3,2,4]", "%y = " FLEX "(%q, %k, %k)",
         "!8 heads of queries and 3 of keys do not fit"},
        {"%q: float32[1,8,2,4], %k: float32[1,8,2,4], %v: float32[1,4,2,4]",
         "%y = " FLEX "(%q, %k, %v)", "!dimension 1 of input 2 is 4, expected 8"},
        {"%q: float32[1,8,2,4], %k: float64[1,8,2,4]", "%y = " FLEX "(%q, %k, %k)",
         "!they must agree"},
        {"%q: float32[8,2,4]", "%y = " FLEX "(%q, %q, %q)", "!input 0 has rank 3"},
    };
    RULES(table);
}

/* Two queries that like both of the two keys equally, until a graph says otherwise. */
#define FLEX_IN                                                                                    \
    "%q = const float32[1,2,1,1] {0, 0} %k = const float32[1,1,2,1] {1, 2} "                       \
    "%v = const float32[1,1,2,1] {2, 6} %m = const float32[2] {0, -inf} "                          \
    "%h = const float32[1,2,1,1] {2, 3} "

static void flexattention_values(void)
{
    static const rule_value table[] = {
        {FLEX_IN "%y = " FLEX "(%q, %k, %v)", "float32[1,2,1,1] {4.0, 4.0}"},
        {FLEX_IN "%y = " FLEX "(%q, %k, %v) body(%s: float32) { %t = Add(%s, %m) return %t }",
         "float32[1,2,1,1] {2.0, 2.0}"},
        {FLEX_IN "%y = " FLEX "(%q, %k, %v) body(%s: float32) { return %s } "
                 "body(%p: float32) { %t = Mul(%p, %h) return %t }",
         "float32[1,2,1,1] {8.0, 12.0}"},
        {FLEX_IN "%y = " FLEX "(%q, %k, %v) body(%s: float32) { %t = Add(%s, %m) return %t } "
                 "body(%p: float32) { %u = Mul(%p, %h) return %u }",
         "float32[1,2,1,1] {4.0, 6.0}"},
        {FLEX_IN "%d = Cast(%q) {to=11} %e = Cast(%k) {to=11} %f = Cast(%v) {to=11} "
                 "%y = " FLEX "(%d, %e, %f)",
         "float64[1,2,1,1] {4.0, 4.0}"},
        {FLEX_IN "%d = Cast(%q) {to=10} %e = Cast(%k) {to=10} %f = Cast(%v) {to=10} "
                 "%y = " FLEX "(%d, %e, %f) body(%s: float32) { %t = Add(%s, %m) return %t }",
         "float16[1,2,1,1] {2.0, 2.0}"},
        {"%q = const float32[1,1,1,1] {1} %k = const float32[1,1,2,1] {0, 1} "
         "%v = const float32[1,1,2,1] {0, 1} %y = " FLEX "(%q, %k, %v) {scale=200.0}",
         "float32[1,1,1,1] {1.0}"},
        {FLEX_IN "%y = " FLEX "(%q, %k, %v) body(%s: float32) { %t = Cast(%s) {to=10} return %t }",
         "!score_mod gives float16, expected float32"},
        {FLEX_IN "%y = " FLEX "(%q, %k, %v) body(%s: float32) { %t = Flatten(%s) return %t }",
         "!input 2 has rank 2, expected 4"},
        {FLEX_IN "%y = " FLEX "(%q, %k, %v) body(%s: float32) { return %s } "
                 "body(%p: float32) { %t = Transpose(%p) {perm=[0,2,1,3]} return %t }",
         "!dimension 1 of input 2 is 1, expected 2"},
        {FLEX_IN "%y = " FLEX "(%q, %k, %v) body(%s: float32, %z: float32) { return %s }",
         "!its graph 'score_mod' has 2 inputs and 1 outputs, expected 1 and 1"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_flexattention[] = {
    {"rules", flexattention_rules},
    {"values", flexattention_values},
    {0},
};
