/* reduce.c - reductions, softmax, normalisation and losses: shapes and small results. */
#include "op/rule.h"

static void reduce_types(void)
{
    static const rule table[] = {
        {"%x: float32[n,3,h,w]", "%a = const int64[2] {2, -1} %y = ReduceMean(%x, %a)",
         "float32[n,3,1,1]"},
        {"%x: float32[n,3,h,w]", "%a = const int64[1] {1} %y = ReduceMax(%x, %a) {keepdims=0}",
         "float32[n,h,w]"},
        {"%x: float32[n,3]", "%y = ReduceSum(%x) {keepdims=0}", "float32[]"},
        {"%x: float32[n,3]", "%y = ReduceSum(%x) {noop_with_empty_axes=1}", "float32[n,3]"},
        {"%x: float32[n,3]", "%y = ReduceProd(%x) {axes=[0]}", "float32[1,3]"},
        {"%x: float32[n,3]", "%a = const int64[1] {2} %y = ReduceL1(%x, %a)", "!axis is 2"},
        {"%x: bool[n,3]", "%y = ReduceMin(%x) {axes=[1]}", "bool[n,1]"},
        {"%x: bool[n,3]", "%y = ReduceSum(%x)", "!element type bool"},
        {"%x: float32[n,3], %a: int64[k]", "%y = ReduceSum(%x, %a) {keepdims=0}",
         "!the number of axes is not known"},
        {"%x: float32[n,3], %a: int64[3]", "%y = ReduceSum(%x, %a)", "!3 axes, expected at most 2"},
        {"%x: float32[n,3]", "%y = ArgMax(%x) {axis=1, keepdims=0}", "int64[n]"},
        {"%x: float32[n,3]", "%y = ArgMin(%x)", "int64[1,3]"},
        {"%x: float32[n,3]", "%y = ArgMin(%x) {axis=2}", "!axis is 2"},
        {"%x: float32[n,3]", "%y = Softmax(%x) {axis=-3}", "!axis is -3"},
        {"%x: float32[n,8], %s: float32[8]", "%y = LayerNormalization(%x, %s)", "float32[n,8]"},
        {"%x: float32[n,8], %s: float32[7]", "%y = LayerNormalization(%x, %s)",
         "!does not broadcast"},
        {"%x: float32[n,8], %s: float32[8]", "%y = LayerNormalization(%x, %s) {stash_type=7}",
         "!stash_type is 7"},
        {"%x: float32[n,8,4], %s: float32[8]", "%y = GroupNormalization(%x, %s, %s) {num_groups=3}",
         "!8 channels cannot be divided into 3"},
        {"%x: float32[n,8,4], %s: float32[8]", "%y = GroupNormalization(%x, %s, %s)",
         "!num_groups is 0"},
        {"%x: float32[n,8,4], %s: float32[7]", "%y = InstanceNormalization(%x, %s, %s)",
         "!one element a channel"},
        {"%x: float32[n,8,4], %s: float32[8]", "%y = BatchNormalization(%x, %s, %s, %s, %s)",
         "float32[n,8,4]"},
        {"%x: float32[n,8,4], %s: float32[8], %t: float32[4]",
         "%y = BatchNormalization(%x, %s, %s, %s, %t)", "!input 4 does not have one element"},
        {"%x: float32[n,5,d], %t: int64[n,d]", "%y = NegativeLogLikelihoodLoss(%x, %t)",
         "float32[]"},
        {"%x: float32[n,5,d], %t: int64[n,d]",
         "%y = SoftmaxCrossEntropyLoss(%x, %t) {reduction=\"none\"}", "float32[n,d]"},
        {"%x: float32[n,5], %t: int64[n]",
         "%y = SoftmaxCrossEntropyLoss(%x, %t) {reduction=\"max\"}", "!reduction is \"max\""},
        {"%x: float32[n,5], %t: int64[n,2]", "%y = SoftmaxCrossEntropyLoss(%x, %t)",
         "!input 1 has rank 2"},
        {"%x: float32[3,4]", "%y = LpNormalization(%x) {p=3}", "!p is 3"},
        {"%x: float32[3,4]", "%y = LRN(%x)", "!size is 0"},
        {"%x: float32[3,4]", "%y = MeanVarianceNormalization(%x)", "!input 0 has rank 2"},
    };
    RULES(table);
}

static void reduce_values(void)
{
    static const rule_value table[] = {
        {"%x = const int32[2,2] {1, 2, 3, 4} %a = const int64[1] {0} %y = ReduceSum(%x, %a)",
         "int32[1,2] {4, 6}"},
        {"%x = const float32[2,2] {3, 4, 6, 8} %y = ReduceL2(%x) {axes=[1], keepdims=0}",
         "float32[2] {5.0, 10.0}"},
        {"%x = const float32[0,2] {} %y = ReduceProd(%x) {axes=[0]}", "float32[1,2] {1.0, 1.0}"},
        {"%x = const float32[2,3] {1, 5, 5, 7, 2, 7} %y = ArgMax(%x) {axis=1, select_last_index=1}",
         "int64[2,1] {2, 2}"},
        {"%x = const float32[2,3] {1, 5, 5, 7, 2, 7} %y = Hardmax(%x)",
         "float32[2,3] {0.0, 1.0, 0.0, 1.0, 0.0, 0.0}"},
        {"%x = const float32[1,2] {0, 0} %y = Softmax(%x)", "float32[1,2] {0.5, 0.5}"},
        {"%x = const float32[1,2] {-1, 1} %s = const float32[2] {2, 3} %b = const float32[2] {10, "
         "20} "
         "%y = LayerNormalization(%x, %s, %b) {epsilon=0.0}",
         "float32[1,2] {8.0, 23.0}"},
        {"%x = const float32[1,2] {-1, 1} %s = const float32[1,1] {2} %y = LayerNormalization(%x, "
         "%s) "
         "{epsilon=0.0}",
         "float32[1,2] {-2.0, 2.0}"},
        {"%x = const float32[1,2] {3, -3} %s = const float32[2] {2, 1} %y = RMSNormalization(%x, "
         "%s) "
         "{epsilon=0.0}",
         "float32[1,2] {2.0, -1.0}"},
        {"%x = const float32[1,2,2] {-1, 1, 3, 5} %s = const float32[2] {1, 2} %b = const "
         "float32[2] "
         "{0, 1} %y = InstanceNormalization(%x, %s, %b) {epsilon=0.0}",
         "float32[1,2,2] {-1.0, 1.0, -1.0, 3.0}"},
        {"%x = const float32[1,2,1] {1, 2} %s = const float32[2] {2, 4} %b = const float32[2] {1, "
         "1} %m "
         "= const float32[2] {0, 1} %v = const float32[2] {4, 16} %y = BatchNormalization(%x, %s, "
         "%b, "
         "%m, %v) {epsilon=0.0}",
         "float32[1,2,1] {2.0, 2.0}"},
        {"%x = const float32[1,2] {0, 0} %y = LpNormalization(%x)", "float32[1,2] {0.0, 0.0}"},
        {"%x = const float32[1,2] {3, 4} %y = LpNormalization(%x)", "float32[1,2] {0.6, 0.8}"},
        {"%x = const float32[2,2] {-1, -2, -3, -4} %t = const int64[2] {1, 7} %y = "
         "NegativeLogLikelihoodLoss(%x, %t) {ignore_index=7}",
         "float32[] {2.0}"},
        {"%x = const float32[2,2] {-1, -2, -3, -4} %t = const int64[2] {1, 0} %w = const "
         "float32[2] {1, "
         "3} %y = NegativeLogLikelihoodLoss(%x, %t, %w)",
         "float32[] {2.25}"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_reduce[] = {
    {"types", reduce_types},
    {"values", reduce_values},
    {0},
};
