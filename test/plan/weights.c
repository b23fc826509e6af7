/* weights.c - equal bytes are stored once, whatever their types and dimensions. */
#include "fault/small.h"

typedef struct weights_case {
    const char *name, *text;
    uint32_t stored; /* parts of the section */
} weights_case;

/* Rows picked from two tables, of which the second varies. */
#define WEIGHTS_PAIR(type, values)                                                                 \
    "graph(%x: float32[n,4], %i: int64[1]) { %a = const float32[2,2] {1.0,2.0,3.0,4.0}"            \
    " %b = const " type " {" values "} %c = Gather(%a, %i) {axis=0} %d = Gather(%b, %i) {axis=0}"  \
    " return %x as \"x\", %c as \"c\", %d as \"d\" }"

static const weights_case weights_cases[] = {
    {"the same", WEIGHTS_PAIR("float32[2,2]", "1.0,2.0,3.0,4.0"), 1},
    {"another shape", WEIGHTS_PAIR("float32[2,1,2]", "1.0,2.0,3.0,4.0"), 1},
    {"fewer dimensions", WEIGHTS_PAIR("float32[4]", "1.0,2.0,3.0,4.0"), 1},
    {"another type", WEIGHTS_PAIR("int32[2,2]", "1065353216,1073741824,1077936128,1082130432"), 1},
    {"another value", WEIGHTS_PAIR("float32[2,1,2]", "1.0,2.0,3.0,5.0"), 2},
    {"its beginning", WEIGHTS_PAIR("float32[3]", "1.0,2.0,3.0"), 2},
};

static void weights_once(void)
{
    for (size_t i = 0; i < HG_COUNT(weights_cases); i++) {
        fault_bytes b = fault_holo(weights_cases[i].text);
        const hg_program p = fault_program_of(b);
        uint32_t parts = 0;
        for (uint32_t w = 0; w < p.head.n_weight; w++) {
            uint32_t before = 0;
            while (before < w && p.weight[before].offset != p.weight[w].offset)
                before++;
            parts += before == w;
        }
        if (!CHECK_EQ_INT(parts, weights_cases[i].stored))
            fprintf(stderr, "in '%s'\n", weights_cases[i].name);
        free(b.data);
    }
}

const hg_test_case hg_tests_plan_weights[] = {
    {"once", weights_once},
    {0},
};
