/* reshape.c - Reshape: 0, -1, allowzero and sizes that are known later. */
#include "op/rule.h"

static void reshape_types(void)
{
    static const rule table[] = {
        {"%x: float32[2,3,4]", "%s = const int64[2] {6, 4} %y = Reshape(%x, %s)", "float32[6,4]"},
        {"%x: float32[2,3,4]", "%s = const int64[2] {-1, 8} %y = Reshape(%x, %s)", "float32[3,8]"},
        {"%x: float32[2,3,4]", "%s = const int64[3] {0, -1, 2} %y = Reshape(%x, %s)",
         "float32[2,6,2]"},
        {"%x: float32[1]", "%s = const int64[0] {} %y = Reshape(%x, %s)", "float32[]"},
        {"%x: float32[]", "%s = const int64[2] {1, 1} %y = Reshape(%x, %s)", "float32[1,1]"},
        {"%x: float32[0,3]", "%s = const int64[2] {3, 0} %y = Reshape(%x, %s) {allowzero=1}",
         "float32[3,0]"},
        {"%x: float32[0,3]", "%s = const int64[2] {0, 5} %y = Reshape(%x, %s)", "float32[0,5]"},
        {"%x: float32[batch,12,64]", "%s = const int64[2] {0, -1} %y = Reshape(%x, %s)",
         "float32[batch,768]"},
        {"%x: float32[batch,768]", "%s = const int64[3] {0, 12, -1} %y = Reshape(%x, %s)",
         "float32[batch,12,64]"},
        {"%x: float32[batch,seq,768]",
         "%s = Shape(%x) {end=2} %h = const int64[2] {12, 64} %t = Concat(%s, %h) {axis=0} %y = "
         "Reshape(%x, %t)",
         "float32[batch,seq,12,64]"},
        /* sizes of the input are sizes, whatever they are computed from */
        {"%x: float32[1,n-4,8]",
         "%s = holo:Dims() {dims=dims[n-4,1,8]} %y = Reshape(%x, %s) {allowzero=1}",
         "float32[n-4,1,8]"},
        {"%x: float32[n-4,8]", "%s = holo:Dims() {dims=dims[n-4,-1,2]} %y = Reshape(%x, %s)",
         "float32[n-4,4,2]"},
        {"%x: int4[4,2]", "%s = const int64[1] {-1} %y = Reshape(%x, %s)", "int4[8]"},
        {"%x: float32[2,3]", "%s = const int64[2] {-1, -1} %y = Reshape(%x, %s)",
         "!a second -1 at place 1"},
        {"%x: float32[2,3]", "%s = const int64[2] {-2, 3} %y = Reshape(%x, %s)",
         "!below -1 at place 0"},
        {"%x: float32[2,3]", "%s = const int64[2] {4, 2} %y = Reshape(%x, %s)",
         "!6 elements, the new shape 8"},
        {"%x: float32[2,3]", "%s = const int64[3] {2, 3, 0} %y = Reshape(%x, %s)",
         "!place 2 of the shape is 0"},
        {"%x: float32[2,3]", "%s = const int64[9] {1,1,1,1,1,1,1,1,1} %y = Reshape(%x, %s)",
         "!the new rank is 9"},
        {"%x: float32[2,3], %s: int64[1,1]", "%y = Reshape(%x, %s)", "!input 1 has rank 2"},
        {"%x: float32[2,3], %s: int64[n]", "%y = Reshape(%x, %s)",
         "!how many numbers it holds is not known"},
        /* What has 45 elements or none at all is 5 rows, whatever n is. */
        {"%x: float32[n], %z: float32[3,9]",
         "%s = const int64[2] {5, 9} %r = Reshape(%x, %s) %y = Min(%r, %z)",
         "!dimensions 5 and 3 do not broadcast"},
    };
    RULES(table);
}

/* A shape that is an input: every case is in the expression. */
static void reshape_run_time(void)
{
    static const struct {
        int64_t shape[2], expected[2];
    } table[] = {{{6, 4}, {6, 4}},   {{0, 12}, {2, 12}},   {{-1, 8}, {3, 8}},
                 {{0, -1}, {2, 12}}, {{24, 1}, {24, 1}},   {{5, 5}, {-1, 5}},
                 {{-1, 7}, {-1, 7}}, {{-1, -1}, {-1, 24}}, {{4, 5}, {-1, 5}}};
    fixture *f = rule_parse("%x: float32[2,3,4], %s: int64[2]", "%y = Reshape(%x, %s)");
    CHECK_OK(rule_infer(f), &f->error);
    const hg_node *n = hg_graph_node(&f->g, hg_graph_region(&f->g, HG_REGION_MAIN)->first);
    const hg_type type = hg_graph_value(&f->g, n->out[0])->type;
    for (size_t i = 0; i < HG_COUNT(table); i++)
        for (int k = 0; k < 2; k++) {
            hg_dim to[2] = {hg_dim_const(&f->g.dims, table[i].shape[0]),
                            hg_dim_const(&f->g.dims, table[i].shape[1])};
            hg_dim dim = hg_dim_substitute(&f->g.dims, type.dim[k], to, 2);
            int64_t value = -99;
            CHECK(hg_dim_is_const(&f->g.dims, dim, &value));
            CHECK_EQ_INT(value, table[i].expected[k]);
        }
    fixture_free(f);
}

static void reshape_values(void)
{
    static const rule_value table[] = {
        {"%x = const int32[2,2] {1, 2, 3, 4} %s = const int64[1] {-1} %y = Reshape(%x, %s)",
         "int32[4] {1, 2, 3, 4}"},
        {"%x = const int4[2,2] {1, -2, 3, -4} %s = const int64[1] {-1} %y = Reshape(%x, %s)",
         "int4[4] {1, -2, 3, -4}"},
        {"%x = const int32[2,2] {1, 2, 3, 4} %y = Flatten(%x) {axis=0}", "int32[1,4] {1, 2, 3, 4}"},
    };
    RULE_VALUES(table);
}

const hg_test_case hg_tests_op_reshape[] = {
    {"types", reshape_types},
    {"run_time", reshape_run_time},
    {"values", reshape_values},
    {0},
};
