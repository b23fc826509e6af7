/* optimizer.c - Adagrad, Adam and Momentum on numbers that are exact. */
#include "op/rule.h"

#define TRAINING "ai.onnx.preview.training:"

static void optimizer_values(void)
{
    static const rule_value table[] = {
        /* rate 1 / (1 + 1), gradient 1 + 3, sum of squares 16 */
        {"%r = const float32[] {1} %t = const int64[] {1} %x = const float32[1] {2} "
         "%g = const float32[1] {3} %h = const float32[1] {0} %y = " TRAINING
         "Adagrad(%r, %t, %x, %g, %h) {norm_coefficient=0.5, decay_factor=1.0}",
         "float32[1] {1.5}"},
        {"%r = const float32[1] {1} %t = const int64[1] {0} %x = const float64[] {2} "
         "%g = const float64[] {4} %h = const float64[] {9} %a, %z = " TRAINING
         "Adagrad(%r, %t, %x, %g, %h) %y = Sqrt(%z)",
         "float64[] {5.0}"},
        {"%r = const float64[] {1} %t = const int64[] {0} %x = const float32[2] {2, 6} "
         "%g = const float32[2] {4, 0} %h = const float32[2] {9, 0} %y = " TRAINING
         "Adagrad(%r, %t, %x, %g, %h) {epsilon=3.0}",
         "float32[2] {1.5, 6.0}"},
        /* rate sqrt(1 - 0.75) / (1 - 0.5) */
        {"%r = const float32[] {1} %t = const int64[] {1} %x = const float32[1] {3} "
         "%g = const float32[1] {2} %v = const float32[1] {2} %h = const float32[1] {4} "
         "%y = " TRAINING "Adam(%r, %t, %x, %g, %v, %h) {alpha=0.5, beta=0.75}",
         "float32[1] {2.0}"},
        {"%r = const float32[] {1} %t = const int64[] {0} %x = const float32[1] {3} "
         "%g = const float32[1] {2} %v = const float32[1] {2} %h = const float32[1] {4} "
         "%y = " TRAINING
         "Adam(%r, %t, %x, %g, %v, %h) {alpha=0.5, beta=0.75, norm_coefficient_post=0.5}",
         "float32[1] {1.0}"},
        {"%r = const float32[] {1} %t = const int64[] {0} %x = const float32[1] {3} "
         "%z = const float64[2] {1, 1} %g = const float32[1] {2} %k = const float64[2] {4, 8} "
         "%v = const float32[1] {2} %w = const float64[2] {0, 8} %h = const float32[1] {4} "
         "%i = const float64[2] {16, 64} %a, %y = " TRAINING
         "Adam(%r, %t, %x, %z, %g, %k, %v, %w, %h, %i) {alpha=0.75, beta=0.5}",
         "float64[2] {0.75, 0.0}"},
        {"%r = const float32[] {0.25} %t = const int64[] {0} %x = const float32[1] {4} "
         "%g = const float32[1] {1} %v = const float32[1] {2} %y = " TRAINING
         "Momentum(%r, %t, %x, %g, %v) {alpha=0.5, beta=2.0, norm_coefficient=0.5, "
         "mode=\"standard\"}",
         "float32[1] {3.0}"},
        {"%r = const float32[] {0.25} %t = const int64[] {1} %x = const float32[1] {4} "
         "%g = const float32[1] {1} %v = const float32[1] {2} %y = " TRAINING
         "Momentum(%r, %t, %x, %g, %v) {alpha=0.5, beta=2.0, norm_coefficient=0.5, "
         "mode=\"standard\"}",
         "float32[1] {2.25}"},
        {"%r = const float32[] {0.25} %t = const int64[] {1} %x = const float32[1] {4} "
         "%g = const float32[1] {1} %v = const float32[1] {2} %y = " TRAINING
         "Momentum(%r, %t, %x, %g, %v) {alpha=0.5, beta=2.0, norm_coefficient=0.5, "
         "mode=\"nesterov\"}",
         "float32[1] {2.375}"},
    };
    RULE_VALUES(table);
}

static void optimizer_rules(void)
{
    static const char in[] = "%r: float32[], %t: int64[], %x: float32[b,2], %z: float64[3]";
    static const rule table[] = {
        {in, "%y, %b, %c, %d = " TRAINING "Adagrad(%r, %t, %x, %z, %x, %z, %x, %z)",
         "float32[b,2], float64[3], float32[b,2], float64[3]"},
        {in, "%y = " TRAINING "Adam(%r, %t, %x, %x, %x, %x)", "float32[b,2]"},
        {in, "%y = " TRAINING "Adagrad(%r, %t, %x, %x, %x, %x)", "!6 inputs and 1 outputs"},
        {in, "%y = " TRAINING "Adam(%r, %t, %x, %x, %z, %x)", "!they must agree"},
        {in, "%y = " TRAINING "Adagrad(%x, %t, %x, %x, %x)", "!input 0 is no scalar"},
        {"%r: float32[k], %t: int64[], %x: float32[b,2]",
         "%y = " TRAINING "Adagrad(%r, %t, %x, %x, %x)", "float32[b,2]"}, /* k may be 1 */
        {in, "%y = " TRAINING "Adagrad(%z, %t, %x, %x, %x)", "!input 0 is no scalar"},
        {in, "%y = " TRAINING "Adagrad(%r, %r, %x, %x, %x)", "!input 1 has element type float32"},
        {in, "%y = " TRAINING "Momentum(%r, %t, %x, %x, %x)", "!attribute 'alpha' is missing"},
        {in,
         "%y = " TRAINING
         "Momentum(%r, %t, %x, %x, %x) {alpha=1.0, beta=1.0, norm_coefficient=0.0, mode=\"odd\"}",
         "!mode is \"odd\""},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_optimizer[] = {
    {"values", optimizer_values},
    {"rules", optimizer_rules},
    {0},
};
