/* linearattention.c - LinearAttention and CausalConvWithState: shapes, and what is refused. */
#include "op/rule.h"

static void linearattention_rules(void)
{
    static const char in[] = "%q: float32[b,t,32], %k: float32[b,t,16], %v: float32[b,t,10], "
                             "%s: float16[b,2,8,5], %g: float32[b,t,2], %r: float32[b,t,1]";
    static const rule table[] = {
        {in,
         "%y = LinearAttention(%q, %k, %v) {q_num_heads=4, kv_num_heads=2, update_rule=\"linear\"}",
         "float32[b,t,20]"},
        {in, "%o, %y = LinearAttention(%q, %k, %v, %s, %g, %r) {q_num_heads=4, kv_num_heads=2}",
         "float32[b,t,20], float16[b,2,8,5]"},
        {in, "%o, %y = LinearAttention(%q, %k, %v, _, %k, %r) {q_num_heads=4, kv_num_heads=2}",
         "float32[b,t,20], float32[b,2,8,5]"},
        {in, "%y = LinearAttention(%q, %k, %v) {q_num_heads=4, kv_num_heads=2}",
         "!update_rule \"gated_delta\" and a decay that is missing"},
        {in,
         "%y = LinearAttention(%q, %k, %v, _, %g) {q_num_heads=4, kv_num_heads=2, "
         "update_rule=\"delta\"}",
         "!a decay that is present"},
        {in,
         "%y = LinearAttention(%q, %k, %v, _, %g, %r) {q_num_heads=4, kv_num_heads=2, "
         "update_rule=\"gated\"}",
         "!a beta that is present"},
        {in,
         "%y = LinearAttention(%q, %k, %v) {q_num_heads=4, kv_num_heads=2, update_rule=\"odd\"}",
         "!update_rule is \"odd\""},
        {in,
         "%y = LinearAttention(%q, %k, %v) {q_num_heads=4, kv_num_heads=3, update_rule=\"linear\"}",
         "!q_num_heads is 4, expected a multiple of 3"},
        {in, "%y = LinearAttention(%q, %k, %v) {q_num_heads=4, update_rule=\"linear\"}",
         "!kv_num_heads is 0"},
        {in,
         "%y = LinearAttention(%q, %k, %v) {q_num_heads=6, kv_num_heads=2, update_rule=\"linear\"}",
         "!input 0 has 32 elements for 6 heads"},
        {in,
         "%y = LinearAttention(%q, %q, %v) {q_num_heads=4, kv_num_heads=2, update_rule=\"linear\"}",
         "!dimension 2 of input 1 is 32, expected 16"},
        {in, "%y = LinearAttention(%q, %k, %v, %s, %r, %r) {q_num_heads=4, kv_num_heads=2}",
         "!dimension 2 of input 4 is 1, expected 2"},
        {in, "%y = LinearAttention(%q, %k, %v, %k, %g, %r) {q_num_heads=4, kv_num_heads=2}",
         "!input 3 has rank 3"},
    };
    RULES(table);
}

static void linearattention_causal_conv(void)
{
    static const rule table[] = {
        {"%x: float32[b,4,n], %w: float32[4,1,3]", "%y = CausalConvWithState(%x, %w)",
         "float32[b,4,n]"},
        {"%x: float32[b,4,n], %w: float32[4,1,3]", "%o, %y = CausalConvWithState(%x, %w)",
         "float32[b,4,n], float32[b,4,2]"},
        {"%x: float32[b,4,n], %w: float32[5,1,3]", "%y = CausalConvWithState(%x, %w)",
         "!dimension 0 of input 1 is 5, expected 4"},
        {"%x: float32[b,4,n], %w: float32[4,1,0]", "%y = CausalConvWithState(%x, %w)",
         "!the kernel has 0 elements"},
        {"%x: float32[b,4,n], %w: float32[4,1,3]",
         "%y = CausalConvWithState(%x, %w) {activation=\"relu\"}", "!activation is \"relu\""},
        {"%x: float32[b,4,n], %w: float32[4,1,3], %p: float32[b,4,3]",
         "%y = CausalConvWithState(%x, %w, _, %p)", "!dimension 2 of input 3 is 3, expected 2"},
        {"%x: float64[b,4,n], %w: float64[4,1,3]", "%y = CausalConvWithState(%x, %w)",
         "!input 0 has element type float64"},
    };
    RULES(table);
    static const rule_value values[] = {
        {"%x = const float32[1,2,3] {1, 2, 3, 4, 5, 6} %w = const float32[2,1,2] {10, 1, 100, 1} "
         "%y = CausalConvWithState(%x, %w)",
         "float32[1,2,3] {1.0, 12.0, 23.0, 4.0, 405.0, 506.0}"},
        {"%x = const float32[1,1,1] {3} %w = const float32[1,1,4] {1000, 100, 10, 1} "
         "%p = const float32[1,1,3] {7, 8, 9} %b = const float32[1] {0.5} "
         "%y = CausalConvWithState(%x, %w, %b, %p)",
         "float32[1,1,1] {7893.5}"},
        {"%x = const float32[1,1,1] {3} %w = const float32[1,1,4] {1000, 100, 10, 1} "
         "%p = const float32[1,1,3] {7, 8, 9} %o, %y = CausalConvWithState(%x, %w, _, %p)",
         "float32[1,1,3] {8.0, 9.0, 3.0}"},
        {"%x = const float32[1,1,2] {3, 0} %w = const float32[1,1,1] {1} "
         "%o, %y = CausalConvWithState(%x, %w)",
         "float32[1,1,0] {}"},
        {"%x = const float32[1,1,1] {0} %w = const float32[1,1,2] {1, 5} "
         "%y = CausalConvWithState(%x, %w) {activation=\"silu\"}",
         "float32[1,1,1] {0.0}"},
    };
    RULE_VALUES(values);
}

static void linearattention_swiglu(void)
{
    static const rule table[] = {
        {"%a: float16[b,3], %b: float16[b,3]", "%y = SwiGLU(%a, %b) {alpha=2.0}", "float16[b,3]"},
        {"%a: float32[2,3], %b: float32[3]", "%y = SwiGLU(%a, %b)", "!input 1 has rank 1"},
        {"%a: float32[2,3], %b: float32[1,3]", "%y = SwiGLU(%a, %b)",
         "!dimension 0 of input 1 is 1, expected 2"},
        {"%a: float32[2,3], %b: float64[2,3]", "%y = SwiGLU(%a, %b)", "!they must agree"},
    };
    RULES(table);
    static const rule_value values[] = {
        {"%a = const float32[3] {0, 40, inf} %b = const float32[3] {2, 3, 1} %y = SwiGLU(%a, %b)",
         "float32[3] {0.0, 120.0, inf}"},
    };
    RULE_VALUES(values);
}

const hg_test_case hg_tests_op_linearattention[] = {
    {"rules", linearattention_rules},
    {"causal_conv", linearattention_causal_conv},
    {"swiglu", linearattention_swiglu},
    {0},
};
