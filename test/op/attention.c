/* attention.c - Attention and holo:Attention: types, small values, what is refused. */
#include "op/rule.h"

static void attention_rules(void)
{
    static const rule table[] = {
        {"%q: float32[b,8,s,64], %k: float32[b,2,t,64], %v: float32[b,2,t,32]",
         "%y = Attention(%q, %k, %v)", "float32[b,8,s,32]"},
        {"%q: float32[b,s,512], %k: float32[b,t,128], %v: float32[b,t,64]",
         "%y = Attention(%q, %k, %v) {q_num_heads=8, kv_num_heads=2}", "float32[b,s,256]"},
        {"%q: float32[1,8,2,4], %k: float32[1,3,2,4]", "%y = Attention(%q, %k, %k)",
         "!8 heads of queries and 3 of keys do not fit"},
    };
    RULES(table);
}

#define ATTENTION_VIEWS                                                                            \
    "sizes=dims[b,2,s,t,8,4,1], q=dims[0,s*16,8,16,1], k=dims[0,t*16,8,16,1], "                    \
    "v=dims[0,t*8,4,8,1]"

static void attention_internal(void)
{
    static const char in[] = "%q: float32[b,s,16], %k: float32[b,t,16], %v: float32[b,t,8], "
                             "%m: bool[s,t], %h: float16[b,t,8]";
    static const rule table[] = {
        {in, "%y = holo:Attention(%q, %k, %v) {" ATTENTION_VIEWS "}", "float32[b,2,s,4]"},
        {in, "%y = holo:Attention(%q, %k, %v, _, %m) {" ATTENTION_VIEWS ", by_row=1}",
         "float32[b,s,2,4]"},
        {in, "%y = holo:Attention(%q, %k, %v, %m) {" ATTENTION_VIEWS "}", "!input 3"},
        {in, "%y = holo:Attention(%q, %k, %v, _, %v) {" ATTENTION_VIEWS "}", "!input 4"},
        {in, "%y = holo:Attention(%q, %k, %h) {" ATTENTION_VIEWS "}", "!input 2"},
        {in, "%y = holo:Attention(%q, %k, %v)", "!attribute 'sizes' is not 7 dimensions"},
        {in, "%y = holo:Attention(%q, %k, %v) {sizes=dims[b,2,s,t,8,4,1], q=dims[0]}",
         "!attribute 'q' is not 5 dimensions"},
    };
    RULES(table);
}

/* Queries that like all keys equally: the result is the mean of the values they see. */
#define ATTENTION_IN                                                                               \
    "%q = const float32[1,2,2,1] {0, 0, 0, 0} %k = const float32[1,1,4,1] {1, 2, 3, 4} "           \
    "%v = const float32[1,1,4,2] {2, 20, 6, 60, 10, 100, 14, 140} "
#define ATTENTION_FLAT                                                                             \
    "%q = const float32[1,1,4] {0, 0, 0, 0} %k = const float32[1,2,4] {1, 2, 3, 4, 5, 6, 7, 8} "   \
    "%v = const float32[1,2,2] {1, 10, 3, 30} "

static void attention_values(void)
{
    static const rule_value table[] = {
        {ATTENTION_IN "%y = Attention(%q, %k, %v)",
         "float32[1,2,2,2] {8.0, 80.0, 8.0, 80.0, 8.0, 80.0, 8.0, 80.0}"},
        /* the last rows of a mask that has no place for a key are 0 */
        {ATTENTION_IN "%m = const bool[2,4] {true, true, false, false, false, false, false, false} "
                      "%y = Attention(%q, %k, %v, %m)",
         "float32[1,2,2,2] {4.0, 40.0, 0.0, 0.0, 4.0, 40.0, 0.0, 0.0}"},
        {ATTENTION_IN "%y = Attention(%q, %k, %v) {is_causal=1}",
         "float32[1,2,2,2] {2.0, 20.0, 4.0, 40.0, 2.0, 20.0, 4.0, 40.0}"},
        {ATTENTION_FLAT "%y = Attention(%q, %k, %v) {q_num_heads=2, kv_num_heads=2}",
         "float32[1,1,2] {2.0, 20.0}"},
        /* what the kernel does not do stays apart */
        {ATTENTION_FLAT "%y = Attention(%q, %k, %v) {q_num_heads=2, kv_num_heads=2, softcap=2.0}",
         "float32[1,1,2] {2.0, 20.0}"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_attention[] = {
    {"rules", attention_rules},
    {"internal", attention_internal},
    {"values", attention_values},
    {0},
};
