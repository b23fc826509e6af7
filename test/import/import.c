/* import.c - tests of import/onnx/import.h: versions, inputs, settings, names, metadata, bodies. */
#include "import/make.h"
#include "op/op.h"

#include <stdio.h>
#include <stdlib.h>

/* x -> Relu -> y */
static make import_relu(make_fixture *f)
{
    make g = make_graph_xy(f);
    const make relu = make_node(f, "r", "Relu", "x", "y");
    make_in(&g, GRAPH_NODE, &relu);
    return g;
}

static void import_smallest_model(void)
{
    make_fixture f;
    make_init(&f);
    const make g = import_relu(&f), m = make_model(&f, &g, 13);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const char *text = make_dump(&f);
        CHECK_HAS(text, "graph tiny(%x: float32[batch,3])");
        CHECK_HAS(text, "%y = Relu(%x)");
        CHECK_HAS(text, "\"r\"");
    }
    make_deinit(&f);
}

static void import_refuses_versions(void)
{
    static const struct {
        int64_t ir, opset;
        holo_status status;
        const char *text;
    } bad[] = {
        {0, 13, HOLO_E_MODEL, "no IR version"},
        {-1, 13, HOLO_E_MODEL, "no IR version"},
        {15, 13, HOLO_E_UNSUPPORTED, "IR version 15"},
        {8, 0, HOLO_E_MODEL, "opset version 0"},
        {8, -3, HOLO_E_MODEL, "opset version -3"},
        {8, 29, HOLO_E_UNSUPPORTED, "opset version 29"},
        {8, INT64_MAX, HOLO_E_MODEL, "opset version 9223372036854775807"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        make_fixture f;
        make_init(&f);
        const make g = import_relu(&f);
        make m = make_model(&f, &g, bad[i].opset);
        make_int(&m, 1, bad[i].ir);
        CHECK_STATUS(make_import(&f, &m, NULL), bad[i].status);
        CHECK_HAS(f.error.message, bad[i].text);
        make_deinit(&f);
    }
}

static void import_refuses_what_is_no_model(void)
{
    make_fixture f;
    make_init(&f);
    make m = make_new(&f.arena);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "empty");
    make_text(&m, 2, "a producer");
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    make_int(&m, 1, 8);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "no graph");
    make text = make_new(&f.arena);
    make_raw(&text, "this is some text", 17);
    CHECK_STATUS(make_import(&f, &text, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "ModelProto");
    /* A graph that is there twice could mean two things. */
    const make g = import_relu(&f);
    make twice = make_model(&f, &g, 13);
    make_in(&twice, 7, &g);
    CHECK_STATUS(make_import(&f, &twice, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "appears twice");
    make_deinit(&f);
}

static void import_old_model_without_opset(void)
{
    make_fixture f;
    make_init(&f);
    const make g = import_relu(&f);
    make m = make_new(&f.arena);
    make_int(&m, 1, 2);
    make_in(&m, 7, &g);
    CHECK_OK(make_import(&f, &m, NULL), &f.error);
    make_int(&m, 1, 3);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "no opset");
    make_deinit(&f);
}

static void import_skips_unknown_fields(void)
{
    make_fixture f;
    make_init(&f);
    make g = import_relu(&f);
    for (int i = 0; i < 1000; i++) {
        make_int(&g, 900, i);
        make_text(&g, 901, "?");
        make_float(&g, 902, 1.0f);
    }
    make m = make_model(&f, &g, 13);
    make_text(&m, 500, "unknown");
    CHECK_OK(make_import(&f, &m, NULL), &f.error);
    make_deinit(&f);
}

/* ---- inputs and settings --------------------------------------------------------------------- */

static make import_two_inputs(make_fixture *f, const char *a, const char *b)
{
    make g = make_new(&f->arena);
    const make x = make_value(f, "a", ELEM_F32, a), y = make_value(f, "b", ELEM_F32, b);
    const make z = make_value(f, "z", ELEM_F32, NULL), add = make_node(f, "", "Add", "a,b", "z");
    make_in(&g, GRAPH_INPUT, &x);
    make_in(&g, GRAPH_INPUT, &y);
    make_in(&g, GRAPH_OUTPUT, &z);
    make_in(&g, GRAPH_NODE, &add);
    return make_model(f, &g, 13);
}

static void import_symbolic_dims(void)
{
    make_fixture f;
    make_init(&f);
    const make m = import_two_inputs(&f, "batch,?,4,-1,0", "batch,seq");
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const char *text = make_dump(&f);
        CHECK_HAS(text, "a.1");
        CHECK_HAS(text, "a.3");
        CHECK_HAS(text, ",4,");
        CHECK_HAS(text, ",0]");
        const hg_region *r = hg_graph_region(&f.graph, HG_REGION_MAIN);
        const hg_type *a = &hg_graph_value(&f.graph, r->in[0])->type;
        const hg_type *b = &hg_graph_value(&f.graph, r->in[1])->type;
        CHECK_EQ_INT(a->dim[0], b->dim[0]);
        CHECK(a->dim[1] != a->dim[3]);
        const int64_t symbol = hg_dim_symbol_of(&f.graph.dims, b->dim[1]);
        if (CHECK(symbol >= 0)) {
            CHECK_EQ_INT(f.graph.dims.symbol[symbol].value, r->in[1]);
            CHECK_EQ_INT(f.graph.dims.symbol[symbol].index, 1);
        }
    }
    make_deinit(&f);
}

static void import_unranked_input(void)
{
    make_fixture f;
    make_init(&f);
    const make m = import_two_inputs(&f, NULL, "batch");
    static const int64_t dim[] = {2, -1};
    const holo_shape_setting shape = {"a", dim, 2};
    const hg_import_options o = {.shapes = &shape, .n_shapes = 1};
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const hg_region *r = hg_graph_region(&f.graph, HG_REGION_MAIN);
        CHECK_EQ_INT(hg_graph_value(&f.graph, r->in[0])->type.rank, HG_RANK_UNKNOWN);
    }
    if (CHECK_OK(make_import(&f, &m, &o), &f.error)) CHECK_HAS(make_dump(&f), "float32[2,");
    make_deinit(&f);
}

static void import_dim_settings(void)
{
    make_fixture f;
    make_init(&f);
    const make m = import_two_inputs(&f, "batch,past,?", "batch,past,5");
    const holo_dim_setting dims[] = {{"batch", 2, false}, {"past", 64, true}, {"a.2", 5, false}};
    hg_import_options o = {.dims = dims, .n_dims = 3};
    if (CHECK_OK(make_import(&f, &m, &o), &f.error)) {
        const char *text = make_dump(&f);
        CHECK_HAS(text, "%a: float32[2,past,5]");
        CHECK_HAS(text, "%b: float32[2,past,5]");
        const hg_region *r = hg_graph_region(&f.graph, HG_REGION_MAIN);
        const hg_dim past = hg_graph_value(&f.graph, r->in[0])->type.dim[1];
        CHECK_EQ_INT(f.graph.dims.symbol[hg_dim_symbol_of(&f.graph.dims, past)].at_most, 64);
    }
    static const struct {
        holo_dim_setting dim[2];
        size_t n;
        holo_status status;
        const char *text;
    } bad[] = {
        {{{"btach", 2, false}}, 1, HOLO_E_ARG, "no dimension is called 'btach'"},
        {{{"batch", -2, false}}, 1, HOLO_E_ARG, "-2"},
        {{{"", 2, false}}, 1, HOLO_E_ARG, "expected a name"},
        {{{NULL, 2, false}}, 1, HOLO_E_ARG, "expected a name"},
        {{{"batch", 2, false}, {"batch", 3, false}}, 2, HOLO_E_SHAPE, "2 and to 3"},
        {{{"batch", 2, true}, {"batch", 3, false}}, 2, HOLO_E_SHAPE, "at most 2"},
        {{{"batch", 3, false}, {"batch", 2, true}}, 2, HOLO_E_SHAPE, "at most 2"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        o = (hg_import_options){.dims = bad[i].dim, .n_dims = bad[i].n};
        CHECK_STATUS(make_import(&f, &m, &o), bad[i].status);
        CHECK_HAS(f.error.message, bad[i].text);
    }
    make_deinit(&f);
}

static void import_shape_settings(void)
{
    make_fixture f;
    make_init(&f);
    const make m = import_two_inputs(&f, "batch,3,?", "batch,1,7");
    static const int64_t fits[] = {4, 3, 7}, keeps[] = {-1, 3, -1}, clash[] = {4, 2, 7};
    static const int64_t other[] = {5, 1, 7};
    holo_shape_setting s[] = {{"a", fits, 3}, {"b", other, 3}};
    hg_import_options o = {.shapes = s, .n_shapes = 1};
    if (CHECK_OK(make_import(&f, &m, &o), &f.error)) {
        const char *text = make_dump(&f); /* the other input's batch is fixed too */
        CHECK_HAS(text, "%a: float32[4,3,7]");
        CHECK_HAS(text, "%b: float32[4,1,7]");
    }
    s[0].dim = keeps;
    if (CHECK_OK(make_import(&f, &m, &o), &f.error)) CHECK_HAS(make_dump(&f), "float32[batch,3,");
    s[0].dim = clash;
    CHECK_STATUS(make_import(&f, &m, &o), HOLO_E_SHAPE);
    CHECK_HAS(f.error.message, "input 'a': dimension 1 is set to 2, the model says 3");
    s[0].dim = fits;
    o.n_shapes = 2;
    CHECK_STATUS(make_import(&f, &m, &o), HOLO_E_SHAPE);
    CHECK_HAS(f.error.message, "'batch' is set to 4 and to 5");
    o.n_shapes = 1;
    s[0].rank = 2;
    CHECK_STATUS(make_import(&f, &m, &o), HOLO_E_SHAPE);
    CHECK_HAS(f.error.message, "rank 2 is set, the model says 3");
    s[0].rank = 9;
    CHECK_STATUS(make_import(&f, &m, &o), HOLO_E_ARG);
    s[0] = (holo_shape_setting){"nobody", fits, 3};
    CHECK_STATUS(make_import(&f, &m, &o), HOLO_E_ARG);
    CHECK_HAS(f.error.message, "'nobody', which is no input");
    s[1] = s[0];
    o.n_shapes = 2;
    CHECK_STATUS(make_import(&f, &m, &o), HOLO_E_ARG);
    CHECK_HAS(f.error.message, "set twice");
    make_deinit(&f);
}

static void import_settings_flags(void)
{
    make_fixture f;
    make_init(&f);
    const make m = import_two_inputs(&f, "batch", "batch");
    static const int64_t dim[] = {2};
    const holo_dim_setting dims[] = {{"batch", 2, false}, {"elsewhere", 3, false}};
    const holo_shape_setting shapes[] = {{"nobody", dim, 1}, {"b", dim, 1}};
    bool dim_is_used[2] = {false, false}, shape_is_used[2] = {false, false};
    const hg_import_options o = {.dims = dims,
                                 .n_dims = 2,
                                 .shapes = shapes,
                                 .n_shapes = 2,
                                 .dim_is_used = dim_is_used,
                                 .shape_is_used = shape_is_used};
    CHECK_OK(make_import(&f, &m, &o), &f.error);
    CHECK(dim_is_used[0] && !dim_is_used[1]);
    CHECK(!shape_is_used[0] && shape_is_used[1]);
    make_deinit(&f);
}

static void import_refuses_inputs(void)
{
    static const struct {
        const char *name;
        int64_t elem;
        const char *dims;
        const char *text;
    } bad[] = {
        {"", 1, "2", "has no name"},       {"x", 0, "2", "element type 0"},
        {"x", 27, "2", "element type 27"}, {"x", -1, "2", "element type -1"},
        {"x", 64, "2", "element type 64"}, {"x", 1, "1,1,1,1,1,1,1,1,1", "rank 9"},
        {"x\n", 1, "2", "not UTF-8"},      {"x\xff", 1, "2", "not UTF-8"},
        {"x", 1, "b\xff", "not UTF-8"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        make_fixture f;
        make_init(&f);
        make g = make_new(&f.arena);
        const make x = make_value(&f, bad[i].name, bad[i].elem, bad[i].dims);
        const make y = make_value(&f, bad[i].name, ELEM_F32, NULL);
        make_in(&g, GRAPH_INPUT, &x);
        make_in(&g, GRAPH_OUTPUT, &y);
        const make m = make_model(&f, &g, 13);
        CHECK(make_import(&f, &m, NULL) != HOLO_OK);
        CHECK_HAS(f.error.message, bad[i].text);
        make_deinit(&f);
    }
}

/* TypeProto of a sequence of optionals of tensors, nested `depth` deep. */
static make import_container(make_fixture *f, int depth)
{
    make type = make_new(&f->arena), tensor = type;
    make_int(&tensor, 1, ELEM_I64);
    make_in(&type, 1, &tensor);
    for (int i = 0; i < depth; i++) {
        make outer = make_new(&f->arena), item = outer;
        make_in(&item, 1, &type);
        make_in(&outer, i % 2 == 0 ? 9 : 4, &item);
        type = outer;
    }
    return type;
}

static void import_container_inputs(void)
{
    make_fixture f;
    make_init(&f);
    for (int depth = 1; depth < 40; depth++) {
        make g = make_new(&f.arena), x = g;
        const make type = import_container(&f, depth);
        make_text(&x, 1, "x");
        make_in(&x, 2, &type);
        make_in(&g, GRAPH_INPUT, &x);
        make_in(&g, GRAPH_OUTPUT, &x);
        const make m = make_model(&f, &g, 13);
        const holo_status status = make_import(&f, &m, NULL);
        CHECK_EQ_INT(status, depth < 16 ? HOLO_OK : HOLO_E_UNSUPPORTED);
        if (depth != 2 || status != HOLO_OK) continue;
        const hg_region *r = hg_graph_region(&f.graph, HG_REGION_MAIN);
        const hg_type *t = &hg_graph_value(&f.graph, r->in[0])->type;
        CHECK_EQ_INT(t->dtype, HOLO_SEQUENCE);
        CHECK_EQ_INT(t->item->dtype, HOLO_OPTIONAL);
        CHECK_EQ_INT(t->item->item->dtype, HOLO_I64);
    }
    make_deinit(&f);
}

static void import_initializer_hides_input(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_new(&f.arena);
    static const float one[] = {1, 2, 3};
    const make x = make_value(&f, "x", ELEM_F32, "3"), w = make_value(&f, "w", ELEM_F32, "3");
    const make y = make_value(&f, "y", ELEM_F32, "3");
    const make t = make_tensor(&f, "w", ELEM_F32, "3", one, 3);
    const make add = make_node(&f, "", "Add", "x,w", "y");
    make_in(&g, GRAPH_INPUT, &x);
    make_in(&g, GRAPH_INPUT, &w);
    make_in(&g, GRAPH_OUTPUT, &y);
    make_in(&g, GRAPH_INITIALIZER, &t);
    make_in(&g, GRAPH_NODE, &add);
    const make m = make_model(&f, &g, 13);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        CHECK_HAS(make_dump(&f), "(%x: float32[3])");
        CHECK_HAS(make_dump(&f), "{1.0, 2.0, 3.0}");
    }
    make_deinit(&f);
}

/* ---- declared types -------------------------------------------------------------------------- */

static void import_hints(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f);
    const make a = make_node(&f, "", "Relu", "x", "h"), b = make_node(&f, "", "Relu", "h", "y");
    const make info = make_value(&f, "h", ELEM_F32, "batch,3,unheard,?");
    make_in(&g, GRAPH_NODE, &a);
    make_in(&g, GRAPH_NODE, &b);
    make_in(&g, GRAPH_INFO, &info);
    const make m = make_model(&f, &g, 13);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const hg_type *t = NULL;
        for (hg_value_id v = 1; v < f.graph.n_value; v++)
            if (hg_str_is(f.graph.value[v].name, "h")) t = &f.graph.value[v].type;
        if (CHECK(t != NULL)) {
            CHECK_EQ_INT(t->rank, 4);
            CHECK_EQ_INT(t->dim[0], hg_dim_named(&f.graph.dims, hg_str_from("batch")));
            CHECK(hg_dim_is(&f.graph.dims, t->dim[1], 3));
            CHECK_EQ_INT(t->dim[2], 0); /* a symbol that no input binds says nothing */
            CHECK_EQ_INT(t->dim[3], 0);
        }
    }
    f.ctx.flags = HOLO_COMPILE_STRIP_SHAPES;
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error))
        for (hg_value_id v = 1; v < f.graph.n_value; v++)
            if (hg_str_is(f.graph.value[v].name, "h"))
                CHECK_EQ_INT(f.graph.value[v].type.dtype, HOLO_NONE);
    make_deinit(&f);
}

/* ---- nodes and names ------------------------------------------------------------------------- */

static void import_optional_values(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f);
    static const float one[] = {1};
    const make t = make_tensor(&f, "max", ELEM_F32, "", one, 1);
    const make clip = make_node(&f, "c", "Clip", "x,,max", "y");
    const make drop = make_node(&f, "", "Relu", "x,,,", "z,,");
    make_in(&g, GRAPH_INITIALIZER, &t);
    make_in(&g, GRAPH_NODE, &clip);
    make_in(&g, GRAPH_NODE, &drop);
    const make m = make_model(&f, &g, 13);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const hg_region *r = hg_graph_region(&f.graph, HG_REGION_MAIN);
        const hg_node *n = hg_graph_node(&f.graph, r->first);
        CHECK_EQ_INT(n->n_in, 3);
        CHECK_EQ_INT(hg_node_in(&f.graph, n, 1), 0);
        CHECK(hg_node_in(&f.graph, n, 2) != 0);
        const hg_node *last = hg_graph_node(&f.graph, r->last);
        CHECK_EQ_INT(last->n_in, 1);
        CHECK_EQ_INT(last->n_out, 1);
    }
    make_deinit(&f);
}

/* Each case is a graph x -> y with the nodes of a list "name op in>out;...". */
static void import_nodes(make_fixture *f, make *g, const char *list)
{
    char copy[1024], *rest = copy, *save;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *item; (item = strtok_r(rest, ";", &save)) != NULL; rest = NULL) {
        char name[64] = "", op[64] = "", in[64] = "", out[64] = "";
        CHECK_EQ_INT(sscanf(item, "%63s %63s %63[^>]>%63s", name, op, in, out) >= 3, 1);
        const make n = make_node(f, name, op, strcmp(in, "-") == 0 ? "" : in, out);
        make_in(g, GRAPH_NODE, &n);
    }
}

static void import_refuses_names(void)
{
    static const struct {
        const char *nodes, *text;
    } bad[] = {
        {"r Relu missing>y", "node 'r' (Relu): input 0, 'missing', is defined by no node"},
        {"r Relu x>z", "output 'y' is defined by no node"},
        {"r Relu x>y;s Relu x>y", "node 's' (Relu): 'y' is defined twice"},
        {"r Relu x>x", "node 'r' (Relu): 'x' is defined twice"},
        {"r Relu x>y;s Relu y>x", "'x' is defined twice"},
        {"r Relu x>y,z", "node 'r' (Relu): it has 2 outputs, expected at least 1 and at most 1"},
        {"r Relu x,x>y", "node 'r' (Relu): it has 2 inputs"},
        {"r Relu ->y", "node 'r' (Relu): it has 0 inputs"},
        {"r Relu x>y\n", NULL},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        make_fixture f;
        make_init(&f);
        make g = make_graph_xy(&f);
        import_nodes(&f, &g, bad[i].nodes);
        const make m = make_model(&f, &g, 13);
        const holo_status status = make_import(&f, &m, NULL);
        CHECK_EQ_INT(status, bad[i].text == NULL ? HOLO_OK : HOLO_E_MODEL);
        if (bad[i].text != NULL) CHECK_HAS(f.error.message, bad[i].text);
        make_deinit(&f);
    }
}

static void import_refuses_long_names(void)
{
    make_fixture f;
    make_init(&f);
    for (size_t length = 65536; length <= 65537; length++) {
        make g = make_graph_xy(&f), node = make_new(&f.arena);
        char *name = hg_arena_alloc(&f.arena, length);
        memset(name, 'a', length);
        const make relu = make_node(&f, "", "Relu", "x", "y");
        make_text(&node, 1, "x");
        make_bytes(&node, 2, name, length);
        make_text(&node, 4, "Relu");
        make_in(&g, GRAPH_NODE, &node);
        make_in(&g, GRAPH_NODE, &relu);
        const make m = make_model(&f, &g, 13);
        CHECK_EQ_INT(make_import(&f, &m, NULL), length == 65536 ? HOLO_OK : HOLO_E_MODEL);
    }
    CHECK_HAS(f.error.message, "65537 bytes, at most 65536");
    make_deinit(&f);
}

static void import_refuses_outputs(void)
{
    make_fixture f;
    make_init(&f);
    make g = import_relu(&f);
    const make y = make_value(&f, "y", ELEM_F32, NULL);
    make_in(&g, GRAPH_OUTPUT, &y);
    const make twice = make_model(&f, &g, 13);
    CHECK_STATUS(make_import(&f, &twice, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "output 'y' is there twice");
    make none = make_new(&f.arena);
    const make x = make_value(&f, "x", ELEM_F32, NULL);
    make_in(&none, GRAPH_INPUT, &x);
    const make m = make_model(&f, &none, 13);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "no outputs");
    make_deinit(&f);
}

static void import_output_is_input(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_new(&f.arena);
    const make x = make_value(&f, "x", ELEM_F32, "2");
    make_in(&g, GRAPH_INPUT, &x);
    make_in(&g, GRAPH_OUTPUT, &x);
    const make m = make_model(&f, &g, 13);
    CHECK_OK(make_import(&f, &m, NULL), &f.error);
    make_deinit(&f);
}

static void import_lists_unknown_operators(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f);
    import_nodes(&f, &g, "a Frobnicate x>p;b Frobnicate p>q;c Relu q>r;d Twist r>s,t;e Relu t>y");
    const make m = make_model(&f, &g, 13);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_UNSUPPORTED);
    CHECK_STR(f.error.message, "2 operators are not supported: Frobnicate (2 nodes, first 'a'), "
                               "Twist (1 node, first 'd')");
    CHECK_HAS(f.log, "operator Frobnicate is not supported: 2 nodes, first 'a'\n");
    CHECK_HAS(f.log, "operator Twist is not supported: 1 node, first 'd'\n");
    make_deinit(&f);
}

static void import_lists_many_unknown_operators(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f);
    char op[64], out[64];
    for (int i = 0; i < 200; i++) {
        snprintf(op, sizeof op, "UnknownOperatorNumber%d", i);
        snprintf(out, sizeof out, i == 199 ? "y" : "v%d", i);
        const make n = make_node(&f, "", op, "x", out);
        make_in(&g, GRAPH_NODE, &n);
    }
    const make m = make_model(&f, &g, 13);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_UNSUPPORTED);
    CHECK_HAS(f.error.message, "200 operators are not supported");
    CHECK_HAS(f.error.message, "...");
    make_deinit(&f);
}

static void import_refuses_internal_operators(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f);
    make n = make_node(&f, "n", "Lane", "x", "y");
    make_text(&n, 7, "holo");
    make_in(&g, GRAPH_NODE, &n);
    const make m = make_model(&f, &g, 13);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_UNSUPPORTED);
    CHECK_HAS(f.error.message, "holo:Lane");
    make_deinit(&f);
}

/* What people try instead: the sentence says what it is. */
static void import_names_other_formats(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } files[] = {
        {"\x18\0\0\0ORTM\0\0\0\0", 12,
         "not an ONNX model but one in ONNX Runtime's own format (.ort)"},
        {"HOLO\r\n\x1a\n", 8, "not an ONNX model but a .holo file"},
        {"GGUF\3\0\0\0", 8, "not an ONNX model but a GGUF file"},
        {"<!DOCTYPE html>", 15, "not an ONNX model but a page"},
        {"OR", 2, "malformed ModelProto"},
    };
    for (size_t i = 0; i < HG_COUNT(files); i++) {
        make_fixture f;
        make_init(&f);
        make m = make_new(&f.arena);
        make_raw(&m, files[i].bytes, files[i].size);
        CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
        CHECK_HAS(f.error.message, files[i].says);
        make_deinit(&f);
    }
}

static void import_refuses_nodes(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f), h = g;
    const make no_op = make_node(&f, "n", "", "x", "y");
    make_in(&g, GRAPH_NODE, &no_op);
    const make m = make_model(&f, &g, 13);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "node 'n': it has no operator");
    make old = make_node(&f, "n", "Gelu", "x", "y");
    h = make_graph_xy(&f);
    make_in(&h, GRAPH_NODE, &old);
    const make early = make_model(&f, &h, 7);
    CHECK_STATUS(make_import(&f, &early, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "opset 7 has no such operator");
    /* ONNX Runtime's optimiser writes this one under any opset. */
    make layer = make_node(&f, "n", "LayerNormalization", "x,x", "y");
    h = make_graph_xy(&f);
    make_in(&h, GRAPH_NODE, &layer);
    const make fused = make_model(&f, &h, 11);
    CHECK_STATUS(make_import(&f, &fused, NULL), HOLO_OK);
    make_deinit(&f);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void import_attributes(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f), n = make_node(&f, "n", "Relu", "x", "y");
    make_attr_int(&n, "i", -7);
    make a = make_attr(&f, "f", 1);
    make_float(&a, 2, 0.5f);
    make_in(&n, 5, &a);
    a = make_attr(&f, "s", 3);
    make_text(&a, 4, "text");
    make_in(&n, 5, &a);
    a = make_attr(&f, "fs", 6);
    make_float(&a, 7, 1.0f);
    make_float(&a, 7, 2.0f);
    make_in(&n, 5, &a);
    a = make_attr(&f, "is", 7);
    make_bytes(&a, 8, "\x01\x02", 2);
    make_int(&a, 8, -1);
    make_in(&n, 5, &a);
    a = make_attr(&f, "ss", 8);
    make_text(&a, 9, "p");
    make_text(&a, 9, "");
    make_in(&n, 5, &a);
    a = make_attr(&f, "none", 7);
    make_in(&n, 5, &a);
    a = make_new(&f.arena); /* as the first models did: no type */
    make_text(&a, 1, "untyped");
    make_int(&a, 3, 3);
    make_in(&n, 5, &a);
    make_in(&g, GRAPH_NODE, &n);
    const make m = make_model(&f, &g, 13);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const hg_node *node =
            hg_graph_node(&f.graph, hg_graph_region(&f.graph, HG_REGION_MAIN)->first);
        CHECK_EQ_INT(node->n_attr, 8);
        CHECK_EQ_INT(hg_node_attr(node, "i")->i, -7);
        CHECK_EQ_INT(hg_node_attr(node, "untyped")->i, 3);
        CHECK_NEAR(hg_node_attr(node, "f")->f, 0.5, 0);
        CHECK(hg_str_is(hg_node_attr(node, "s")->s, "text"));
        CHECK_NEAR(hg_node_attr(node, "fs")->floats[1], 2, 0);
        CHECK_EQ_INT(hg_node_attr(node, "is")->count, 3);
        CHECK_EQ_INT(hg_node_attr(node, "is")->ints[2], -1);
        CHECK_EQ_INT(hg_node_attr(node, "ss")->count, 2);
        CHECK_EQ_INT(hg_node_attr(node, "none")->kind, HG_ATTR_INTS);
        CHECK_EQ_INT(hg_node_attr(node, "none")->count, 0);
    }
    make_deinit(&f);
}

static void import_refuses_attributes(void)
{
    make_fixture f;
    make_init(&f);
    static const struct {
        int64_t type;
        const char *text;
    } bad[] = {{9, "kind 9"},
               {10, "kind 10"},
               {12, "kind 12"},
               {14, "kind 14"},
               {99, "kind 99"},
               {0, "kind 0"},
               {5, "no graph of that name"}};
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        make g = make_graph_xy(&f), n = make_node(&f, "n", "Relu", "x", "y");
        const make a = make_attr(&f, "a", bad[i].type);
        make_in(&n, 5, &a);
        make_in(&g, GRAPH_NODE, &n);
        const make m = make_model(&f, &g, 13);
        CHECK(make_import(&f, &m, NULL) != HOLO_OK);
        CHECK_HAS(f.error.message, "node 'n' (Relu): attribute 'a'");
        CHECK_HAS(f.error.message, bad[i].text);
    }
    make g = make_graph_xy(&f), n = make_node(&f, "n", "Relu", "x", "y");
    make_attr_int(&n, "a", 1);
    make_attr_int(&n, "a", 2);
    make_in(&g, GRAPH_NODE, &n);
    const make m = make_model(&f, &g, 13);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "attribute 'a' is there twice");
    make big = make_graph_xy(&f), many = make_node(&f, "n", "Relu", "x", "y");
    for (int i = 0; i < 129; i++)
        make_attr_int(&many, "a", i);
    make_in(&big, GRAPH_NODE, &many);
    const make too_many = make_model(&f, &big, 13);
    CHECK_STATUS(make_import(&f, &too_many, NULL), HOLO_E_LIMIT);
    make_deinit(&f);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static void import_metadata_kept(void)
{
    make_fixture f;
    make_init(&f);
    const make g = import_relu(&f);
    make m = make_model(&f, &g, 13), entry = make_new(&f.arena), bad = entry;
    make_text(&m, 2, "exporter");
    make_text(&m, 3, "1.5");
    make_text(&m, 4, "org.example");
    make_int(&m, 5, 42);
    make_text(&m, 6, "two\nlines");
    make_text(&entry, 1, "license");
    make_text(&entry, 2, "MIT");
    make_in(&m, 14, &entry);
    make_text(&bad, 1, "binary");
    make_text(&bad, 2, "\xff\x01");
    make_in(&m, 14, &bad);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        static const char *const expected[][2] = {{"producer", "exporter 1.5"},
                                                  {"domain", "org.example"},
                                                  {"version", "42"},
                                                  {"doc", "two\nlines"},
                                                  {"license", "MIT"}};
        CHECK_EQ_INT(f.graph.n_meta, 5);
        for (size_t i = 0; i < 5 && i < f.graph.n_meta; i++) {
            CHECK(hg_str_is(f.graph.meta[i].key, expected[i][0]));
            CHECK(hg_str_is(f.graph.meta[i].value, expected[i][1]));
        }
        CHECK_HAS(f.log, "metadata 'binary' is left out");
    }
    make_deinit(&f);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* If c: y = relu(`name`) else y = x, as a model. */
static make import_if(make_fixture *f, const char *name, const char *output)
{
    make g = make_graph_xy(f), then_graph = make_new(&f->arena), else_graph = then_graph;
    const make c = make_value(f, "c", ELEM_BOOL, "");
    const make relu = make_node(f, "inner", "Relu", name, "t"), t = make_value(f, output, 1, NULL);
    const make x = make_value(f, "x", ELEM_F32, NULL);
    make n = make_node(f, "if", "If", "c", "y");
    make_in(&g, GRAPH_INPUT, &c);
    make_in(&then_graph, GRAPH_NODE, &relu);
    make_in(&then_graph, GRAPH_OUTPUT, &t);
    make_in(&else_graph, GRAPH_OUTPUT, &x);
    make a = make_attr(f, "else_branch", 5);
    make_in(&a, 6, &else_graph);
    make_in(&n, 5, &a);
    a = make_attr(f, "then_branch", 5);
    make_in(&a, 6, &then_graph);
    make_in(&n, 5, &a);
    make_in(&g, GRAPH_NODE, &n);
    return make_model(f, &g, 13);
}

static void import_bodies_see_outside(void)
{
    make_fixture f;
    make_init(&f);
    const make m = import_if(&f, "x", "t");
    const hg_op *op = hg_op_find((hg_str){"", 0}, hg_str_from("If"));
    const holo_status status = make_import(&f, &m, NULL);
    CHECK_EQ_INT(status, op == NULL ? HOLO_E_UNSUPPORTED : HOLO_OK);
    if (status == HOLO_OK) {
        const hg_region *r = hg_graph_region(&f.graph, HG_REGION_MAIN);
        const hg_node *n = hg_graph_node(&f.graph, r->first);
        CHECK_EQ_INT(n->n_body, 2);
        CHECK(hg_graph_region(&f.graph, n->body[0])->first != 0); /* then comes first */
        CHECK_EQ_INT(hg_graph_region(&f.graph, n->body[1])->first, 0);
        CHECK_EQ_INT(hg_region_out(&f.graph, n->body[1], 0), r->in[0]);
    }
    make_deinit(&f);
}

/* A body need not say what its inputs are, and still has nodes of an old opset: they are put right
 * without the types, which the loop gives later. */
static void import_bodies_without_types(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f), body = make_new(&f.arena);
    static const char *const in[] = {"i", "c", "v"};
    for (int k = 0; k < 3; k++) {
        const make input = make_value(&f, in[k], k == 0 ? ELEM_I64 : k == 1 ? ELEM_BOOL : 1, NULL);
        make_in(&body, GRAPH_INPUT, &input);
    }
    make unsqueeze = make_node(&f, "old", "Unsqueeze", "i", "u"), a = make_attr(&f, "axes", 7);
    make_int(&a, 8, 0);
    make_in(&unsqueeze, 5, &a);
    make_in(&body, GRAPH_NODE, &unsqueeze);
    static const char *const out[] = {"c", "v", "u"};
    for (int k = 0; k < 3; k++) {
        const make output = make_value(&f, out[k],
                                       k == 0   ? ELEM_BOOL
                                       : k == 1 ? 1
                                                : ELEM_I64,
                                       NULL);
        make_in(&body, GRAPH_OUTPUT, &output);
    }
    make n = make_node(&f, "loop", "Loop", ",,x", "y,z");
    a = make_attr(&f, "body", 5);
    make_in(&a, 6, &body);
    make_in(&n, 5, &a);
    make_in(&g, GRAPH_NODE, &n);
    const make m = make_model(&f, &g, 11);
    CHECK_OK(make_import(&f, &m, NULL), &f.error);
    make_deinit(&f);
}

static void import_bodies_refuse_names(void)
{
    make_fixture f;
    make_init(&f);
    const make missing = import_if(&f, "nowhere", "t"), no_output = import_if(&f, "x", "u");
    CHECK_STATUS(make_import(&f, &missing, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "node 'inner' (Relu): input 0, 'nowhere'");
    CHECK_STATUS(make_import(&f, &no_output, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "output 'u' is defined by no node");
    make_deinit(&f);
}

static void import_bodies_too_deep(void)
{
    make_fixture f;
    make_init(&f);
    make body = make_new(&f.arena);
    const make out = make_value(&f, "y", ELEM_F32, NULL);
    const make relu = make_node(&f, "", "Relu", "x", "y");
    make_in(&body, GRAPH_NODE, &relu);
    make_in(&body, GRAPH_OUTPUT, &out);
    for (int depth = 1; depth < 200; depth++) {
        make n = make_node(&f, "", "Wrap", "", "y"), a = make_attr(&f, "body", 5);
        make_in(&a, 6, &body);
        make_in(&n, 5, &a);
        body = make_new(&f.arena);
        make_in(&body, GRAPH_NODE, &n);
        make_in(&body, GRAPH_OUTPUT, &out);
        if (depth != 64 && depth != 65 && depth != 199) continue;
        make g = body;
        const make x = make_value(&f, "x", ELEM_F32, "3");
        make_in(&g, GRAPH_INPUT, &x);
        const make m = make_model(&f, &g, 13);
        CHECK_EQ_INT(make_import(&f, &m, NULL), depth > 64 ? HOLO_E_LIMIT : HOLO_E_UNSUPPORTED);
    }
    make_deinit(&f);
}

const hg_test_case hg_tests_import_import[] = {
    {"smallest_model", import_smallest_model},
    {"refuses_versions", import_refuses_versions},
    {"refuses_what_is_no_model", import_refuses_what_is_no_model},
    {"old_model_without_opset", import_old_model_without_opset},
    {"skips_unknown_fields", import_skips_unknown_fields},
    {"symbolic_dims", import_symbolic_dims},
    {"unranked_input", import_unranked_input},
    {"dim_settings", import_dim_settings},
    {"shape_settings", import_shape_settings},
    {"settings_flags", import_settings_flags},
    {"refuses_inputs", import_refuses_inputs},
    {"container_inputs", import_container_inputs},
    {"initializer_hides_input", import_initializer_hides_input},
    {"hints", import_hints},
    {"optional_values", import_optional_values},
    {"refuses_names", import_refuses_names},
    {"refuses_long_names", import_refuses_long_names},
    {"refuses_outputs", import_refuses_outputs},
    {"output_is_input", import_output_is_input},
    {"lists_unknown_operators", import_lists_unknown_operators},
    {"lists_many_unknown_operators", import_lists_many_unknown_operators},
    {"refuses_internal_operators", import_refuses_internal_operators},
    {"refuses_nodes", import_refuses_nodes},
    {"names_other_formats", import_names_other_formats},
    {"attributes", import_attributes},
    {"refuses_attributes", import_refuses_attributes},
    {"metadata_kept", import_metadata_kept},
    {"bodies_see_outside", import_bodies_see_outside},
    {"bodies_without_types", import_bodies_without_types},
    {"bodies_refuse_names", import_bodies_refuse_names},
    {"bodies_too_deep", import_bodies_too_deep},
    {0},
};
