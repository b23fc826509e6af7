/* program.c - names of a program: bounded by their section, whatever it holds. */
#include "isa/program.h"
#include "test.h"

static void program_name_is_bounded(void)
{
    static const char text[] = {0, 'a', 'b', 0, 'c', 'd'}; /* the last one has no end */
    hg_program p = {.names = text, .n_names = sizeof text};
    hg_name room;
    CHECK_STR(hg_program_name(&p, 0, &room), "");
    CHECK_STR(hg_program_name(&p, 1, &room), "ab");
    CHECK_STR(hg_program_name(&p, 4, &room), "cd");
    const hg_value_rec value[] = {{.name = 0}, {.name = 1}, {.name = 0}};
    p.value = value;
    CHECK_STR(hg_program_value_name(&p, 1, &room), "ab");
    CHECK_STR(hg_program_value_name(&p, 2, &room), "%2");
    CHECK_STR(hg_program_name(&p, 6, &room), "");
    CHECK_STR(hg_program_name(&p, UINT32_MAX, &room), "");
    p = (hg_program){.names = NULL};
    CHECK_STR(hg_program_name(&p, 1, &room), "");
}

static void program_name_is_cut(void)
{
    static char text[1000];
    memset(text, 'x', sizeof text);
    hg_program p = {.names = text, .n_names = sizeof text};
    hg_name room;
    CHECK_EQ_INT((int64_t)strlen(hg_program_name(&p, 3, &room)), HG_NAME_MAX);
}

const hg_test_case hg_tests_isa_program[] = {
    {"name_is_bounded", program_name_is_bounded},
    {"name_is_cut", program_name_is_cut},
    {0},
};
