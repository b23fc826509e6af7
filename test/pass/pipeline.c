/* pipeline.c - what the passes do in their order, seen in the steps of the program. */
#include "fault/small.h"

static int pipeline_count(const char *text, const char *kernel)
{
    const fault_bytes b = fault_holo(text);
    const hg_program p = fault_program_of(b);
    int count = 0;
    for (uint32_t i = 0; i < p.head.n_step; i++)
        count += p.step[i].op == HG_STEP_KERNEL &&
                 strcmp(p.text + p.kernel[p.step[i].kernel], kernel) == 0;
    free(b.data);
    return count;
}

/* Convolutions want pixels: planes that two of them read are turned once, and what they make is
 * turned back once. */
static void pipeline_turns_once(void)
{
    const char *text = "graph g(%x: float32[1,8,6,6]) {\n"
                       "  %k = const float32[1] {0.5}\n"
                       "  %s = const int64[4] {8,8,1,1}\n"
                       "  %t = const int64[4] {8,8,3,3}\n"
                       "  %v = Expand(%k, %s)\n"
                       "  %w = Expand(%k, %t)\n"
                       "  %a = Conv(%x, %v)\n"
                       "  %b = Conv(%x, %w) {pads=[1,1,1,1]}\n"
                       "  %c = Sigmoid(%a)\n"
                       "  %y = Mul(%c, %b)\n"
                       "  return %y as \"y\"\n"
                       "}\n";
    CHECK_EQ_INT(pipeline_count(text, "conv.nhwc"), 2);
    CHECK_EQ_INT(pipeline_count(text, "copy.words"), 2);
}

const hg_test_case hg_tests_pass_pipeline[] = {
    {"turns_once", pipeline_turns_once},
    {0},
};
