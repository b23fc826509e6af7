/* squeeze.c - Squeeze and Unsqueeze: known axes, and axes that are inputs. */
#include "op/rule.h"

static void squeeze_types(void)
{
    static const rule table[] = {
        {"%x: float32[1,3,1,5]", "%y = Squeeze(%x)", "float32[3,5]"},
        {"%x: float32[1,3,1,5]", "%a = const int64[1] {0} %y = Squeeze(%x, %a)", "float32[3,1,5]"},
        {"%x: float32[1,3,1,5]", "%a = const int64[2] {-2, 0} %y = Squeeze(%x, %a)",
         "float32[3,5]"},
        {"%x: float32[n,1,m]", "%a = const int64[1] {1} %y = Squeeze(%x, %a)", "float32[n,m]"},
        {"%x: float32[n,m]", "%a = const int64[1] {1} %y = Squeeze(%x, %a)",
         "float32[select(eq(1,m),n,-1)]"},
        {"%x: float32[1]", "%y = Squeeze(%x)", "float32[]"},
        {"%x: float32[]", "%y = Squeeze(%x)", "float32[]"},
        {"%x: float32[n,1]", "%y = Squeeze(%x)", "float32[select(1-eq(1,n),n,-1)]"},
        {"%x: float32[1,3]", "%a = const int64[1] {1} %y = Squeeze(%x, %a)",
         "!dimension 1 is 3, expected 1"},
        {"%x: float32[1,3]", "%a = const int64[1] {2} %y = Squeeze(%x, %a)",
         "!axis is 2, expected -2 to 1"},
        {"%x: float32[1,3]", "%a = const int64[1] {-3} %y = Squeeze(%x, %a)", "!axis is -3"},
        {"%x: float32[1,1]", "%a = const int64[2] {0, -2} %y = Squeeze(%x, %a)",
         "!axes 0 and 1 are the same"},
        {"%x: float32[1]", "%a = const int64[2] {0, 0} %y = Squeeze(%x, %a)",
         "!names 2 axes, expected at most 1"},
    };
    RULES(table);
}

static void squeeze_unsqueeze_types(void)
{
    static const rule table[] = {
        {"%x: float32[3,4]", "%a = const int64[1] {0} %y = Unsqueeze(%x, %a)", "float32[1,3,4]"},
        {"%x: float32[3,n]", "%a = const int64[2] {-1, 1} %y = Unsqueeze(%x, %a)",
         "float32[3,1,n,1]"},
        {"%x: float32[]", "%a = const int64[2] {0, 1} %y = Unsqueeze(%x, %a)", "float32[1,1]"},
        {"%x: float32[3]", "%a = const int64[1] {2} %y = Unsqueeze(%x, %a)",
         "!axis is 2, expected -2 to 1"},
        {"%x: float32[3]", "%a = const int64[2] {0, 0} %y = Unsqueeze(%x, %a)", "!are the same"},
        {"%x: float32[1,1,1,1,1,1,1,1]", "%a = const int64[1] {0} %y = Unsqueeze(%x, %a)",
         "!the new rank is 9"},
    };
    RULES(table);
}

/* Dims of %y for given numbers in the one input that is unknown. */
static void squeeze_with(fixture *f, const int64_t *axes, size_t count, const int64_t *expected)
{
    const hg_node *n = hg_graph_node(&f->g, hg_graph_region(&f->g, HG_REGION_MAIN)->first);
    const hg_type type = hg_graph_value(&f->g, n->out[0])->type;
    hg_dim to[4];
    for (size_t i = 0; i < count; i++)
        to[i] = hg_dim_const(&f->g.dims, axes[i]);
    for (int32_t k = 0; k < type.rank; k++) {
        int64_t value = -99;
        CHECK(hg_dim_is_const(&f->g.dims, hg_dim_substitute(&f->g.dims, type.dim[k], to, count),
                              &value));
        CHECK_EQ_INT(value, expected[k]);
    }
}

static void squeeze_run_time(void)
{
    fixture *f = rule_parse("%x: float32[1,3,1,5], %a: int64[2]", "%y = Squeeze(%x, %a)");
    CHECK_OK(rule_infer(f), &f->error);
    squeeze_with(f, (const int64_t[]){0, 2}, 2, (const int64_t[]){3, 5});
    squeeze_with(f, (const int64_t[]){-2, 0}, 2, (const int64_t[]){3, 5});
    squeeze_with(f, (const int64_t[]){0, 1}, 2, (const int64_t[]){-1, 5}); /* 3 is not 1 */
    squeeze_with(f, (const int64_t[]){0, 0}, 2, (const int64_t[]){-1, 1}); /* refused: -1 */
    squeeze_with(f, (const int64_t[]){0, 4}, 2, (const int64_t[]){-1, 1});
    squeeze_with(f, (const int64_t[]){0, INT64_MIN}, 2, (const int64_t[]){-1, 1});
    fixture_free(f);
}

static void squeeze_unsqueeze_run_time(void)
{
    fixture *f = rule_parse("%x: float32[3,4], %a: int64[2]", "%y = Unsqueeze(%x, %a)");
    CHECK_OK(rule_infer(f), &f->error);
    squeeze_with(f, (const int64_t[]){0, 1}, 2, (const int64_t[]){1, 1, 3, 4});
    squeeze_with(f, (const int64_t[]){-1, 1}, 2, (const int64_t[]){3, 1, 4, 1});
    squeeze_with(f, (const int64_t[]){4, 1}, 2, (const int64_t[]){-1, 1, 4, -1});
    squeeze_with(f, (const int64_t[]){INT64_MAX, 0}, 2, (const int64_t[]){-1, 3, 4, -1});
    fixture_free(f);
}

const hg_test_case hg_tests_op_squeeze[] = {
    {"types", squeeze_types},
    {"unsqueeze_types", squeeze_unsqueeze_types},
    {"run_time", squeeze_run_time},
    {"unsqueeze_run_time", squeeze_unsqueeze_run_time},
    {0},
};
