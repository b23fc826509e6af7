/* function.c - tests of import/onnx/function.c: functions of a model, inlined (attack 27). */
#include "import/make.h"

#include <stdio.h>

/* FunctionProto of domain "local"; nodes are added by the caller (field 7). */
static make function_new(make_fixture *f, const char *name, const char *in, const char *out)
{
    make m = make_new(&f->arena), opset = m;
    const make lists =
        make_node(f, "", "", in, out); /* inputs are field 1 there, outputs field 2 */
    hg_wire w = {lists.data, lists.data + lists.size};
    hg_wire_field field;
    const char *fault;
    make_text(&m, 1, name);
    make_text(&m, 10, "local");
    while (hg_wire_next(&w, &field, &fault))
        if (field.number <= 2)
            make_bytes(&m, field.number == 1 ? 4 : 5, field.bytes.at, hg_wire_size(field.bytes));
    make_int(&opset, 2, 13);
    make_in(&m, 9, &opset);
    return m;
}

static make function_call(make_fixture *f, const char *name, const char *op, const char *in,
                          const char *out)
{
    make n = make_node(f, name, op, in, out);
    make_text(&n, 7, "local");
    return n;
}

/* x -> call -> y, with up to three functions. */
static make function_model(make_fixture *f, const make *call, const make *functions, size_t count)
{
    make g = make_graph_xy(f), local = make_new(&f->arena);
    make_in(&g, GRAPH_NODE, call);
    make m = make_model(f, &g, 13);
    make_text(&local, 1, "local");
    make_int(&local, 2, 1);
    make_in(&m, 8, &local);
    for (size_t i = 0; i < count; i++)
        make_in(&m, 25, &functions[i]);
    return m;
}

static void function_inlines(void)
{
    make_fixture f;
    make_init(&f);
    make twice = function_new(&f, "Twice", "a", "b");
    const make n1 = make_node(&f, "n1", "Relu", "a", "t"),
               n2 = make_node(&f, "n2", "Neg", "t", "b");
    make_in(&twice, 7, &n1);
    make_in(&twice, 7, &n2);
    const make call = function_call(&f, "layer", "Twice", "x", "y");
    const make m = function_model(&f, &call, &twice, 1);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const char *text = make_dump(&f);
        CHECK_HAS(text, "%\"layer/t\" = Relu(%x)");
        CHECK_HAS(text, "\"layer/n1\"");
        CHECK_HAS(text, "%y = Neg(%\"layer/t\")");
    }
    make_deinit(&f);
}

static void function_nested_twice(void)
{
    make_fixture f;
    make_init(&f);
    make fs[2] = {function_new(&f, "Outer", "a", "b"), function_new(&f, "Inner", "a", "b")};
    const make c1 = function_call(&f, "c1", "Inner", "a", "t");
    const make c2 = function_call(&f, "c2", "Inner", "t", "b");
    const make relu = make_node(&f, "r", "Relu", "a", "b");
    make_in(&fs[0], 7, &c2); /* and not in order */
    make_in(&fs[0], 7, &c1);
    make_in(&fs[1], 7, &relu);
    const make call = function_call(&f, "top", "Outer", "x", "y");
    const make m = function_model(&f, &call, fs, 2);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const char *text = make_dump(&f);
        CHECK_HAS(text, "%\"top/t\" = Relu(%x)");
        CHECK_HAS(text, "\"top/c1/r\"");
        CHECK_HAS(text, "%y = Relu(%\"top/t\")");
    }
    make_deinit(&f);
}

/* LeakyRelu(alpha = @slope), which the call may give; and a default. */
static void function_attribute_references(void)
{
    for (int kind = 0; kind < 3; kind++) { /* given, default, neither */
        make_fixture f;
        make_init(&f);
        make fs[2] = {function_new(&f, "Outer", "a", "b"), function_new(&f, "Leaky", "a", "b")};
        make leaky = make_node(&f, "n", "LeakyRelu", "a", "b"), ref = make_new(&f.arena);
        make_text(&ref, 1, "alpha");
        make_text(&ref, 21, "slope");
        make_int(&ref, 20, 1);
        make_in(&leaky, 5, &ref);
        make_in(&fs[1], 7, &leaky);
        make standard = make_attr(&f, "slope", 1);
        make_float(&standard, 2, 0.25f);
        if (kind < 2) make_in(&fs[1], 11, &standard);
        /* the outer function hands its own attribute on */
        make inner = function_call(&f, "i", "Leaky", "a", "b"), on = make_new(&f.arena);
        make_text(&on, 1, "slope");
        make_text(&on, 21, "outer_slope");
        make_int(&on, 20, 1);
        if (kind == 0) make_in(&inner, 5, &on);
        make_in(&fs[0], 7, &inner);
        make call = function_call(&f, "c", "Outer", "x", "y"),
             given = make_attr(&f, "outer_slope", 1);
        make_float(&given, 2, 0.5f);
        if (kind == 0) make_in(&call, 5, &given);
        const make m = function_model(&f, &call, fs, 2);
        if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
            const hg_node *n =
                hg_graph_node(&f.graph, hg_graph_region(&f.graph, HG_REGION_MAIN)->first);
            const hg_attr *a = hg_node_attr(n, "alpha");
            CHECK_EQ_INT(a != NULL, kind < 2);
            if (a != NULL) CHECK_NEAR(a->f, kind == 0 ? 0.5 : 0.25, 0);
        }
        make_deinit(&f);
    }
}

static void function_constant_by_reference(void)
{
    make_fixture f;
    make_init(&f);
    make fn = function_new(&f, "AddN", "a", "b"), k = make_node(&f, "k", "Constant", "", "n");
    make ref = make_new(&f.arena), call = function_call(&f, "c", "AddN", "x", "y");
    make_text(&ref, 1, "value_float");
    make_text(&ref, 21, "n");
    make_in(&k, 5, &ref);
    const make add = make_node(&f, "a", "Add", "a,n", "b");
    make_in(&fn, 7, &k);
    make_in(&fn, 7, &add);
    make given = make_attr(&f, "n", 1);
    make_float(&given, 2, 7.0f);
    make_in(&call, 5, &given);
    const make m = function_model(&f, &call, &fn, 1);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error))
        CHECK_HAS(make_dump(&f), "%\"c/n\" = const float32[] {7.0}");
    make_deinit(&f);
}

static void function_optional_inputs(void)
{
    make_fixture f;
    make_init(&f);
    make fn = function_new(&f, "MyClip", "a,low,high", "b");
    const make clip = make_node(&f, "", "Clip", "a,low,high", "b");
    make_in(&fn, 7, &clip);
    const make call = function_call(&f, "c", "MyClip", "x", "y");
    const make m = function_model(&f, &call, &fn, 1);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const hg_node *n =
            hg_graph_node(&f.graph, hg_graph_region(&f.graph, HG_REGION_MAIN)->first);
        CHECK_EQ_INT(hg_node_in(&f.graph, n, 1), 0);
        CHECK_EQ_INT(hg_node_in(&f.graph, n, 2), 0);
    }
    make_deinit(&f);
}

/* A function whose output is its input: the caller's value keeps its name. */
static void function_passes_through(void)
{
    make_fixture f;
    make_init(&f);
    const make fn = function_new(&f, "Same", "a", "a");
    const make call = function_call(&f, "c", "Same", "x", "y");
    const make m = function_model(&f, &call, &fn, 1);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error))
        CHECK_HAS(make_dump(&f), "return %x as \"y\"");
    make_deinit(&f);
}

static void function_hides_the_caller(void)
{
    make_fixture f;
    make_init(&f);
    make fn = function_new(&f, "Leak", "a", "b");
    const make relu = make_node(&f, "n", "Relu", "x", "b"); /* x is the caller's */
    make_in(&fn, 7, &relu);
    const make call = function_call(&f, "c", "Leak", "x", "y");
    const make m = function_model(&f, &call, &fn, 1);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "node 'n' (Relu): input 0, 'x', is defined by no node");
    make_deinit(&f);
}

static void function_comes_before_operator(void)
{
    make_fixture f;
    make_init(&f);
    make fn = make_new(&f.arena), opset = fn;
    make_text(&fn, 1, "Relu");
    make_text(&fn, 4, "a");
    make_text(&fn, 5, "b");
    const make neg = make_node(&f, "n", "Neg", "a", "b");
    make_in(&fn, 7, &neg);
    make_int(&opset, 2, 13);
    make_in(&fn, 9, &opset);
    const make call = make_node(&f, "c", "Relu", "x", "y");
    const make m = function_model(&f, &call, &fn, 1);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) CHECK_HAS(make_dump(&f), "%y = Neg(%x)");
    make_deinit(&f);
}

static void function_refuses_recursion(void)
{
    make_fixture f;
    make_init(&f);
    make fs[2] = {function_new(&f, "F", "a", "b"), function_new(&f, "G", "a", "b")};
    const make fg = function_call(&f, "to_g", "G", "a", "b");
    const make gf = function_call(&f, "to_f", "F", "a", "b");
    make_in(&fs[0], 7, &fg);
    make_in(&fs[1], 7, &gf);
    const make call = function_call(&f, "c", "F", "x", "y");
    const make m = function_model(&f, &call, fs, 2);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "node 'to_f' (F): function 'F' calls itself");
    make_deinit(&f);
}

static void function_refuses(void)
{
    make_fixture f;
    make_init(&f);
    make fn = function_new(&f, "F", "a", "b");
    const make relu = make_node(&f, "n", "Relu", "a", "c");
    make_in(&fn, 7, &relu);
    make call = function_call(&f, "c", "F", "x", "y");
    make m = function_model(&f, &call, &fn, 1);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "does not define its output 'b'");
    call = function_call(&f, "c", "F", "x,x", "y");
    m = function_model(&f, &call, &fn, 1);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "node 'c' (F): 2 inputs, expected at most 1");
    call = function_call(&f, "c", "F", "x", "y,z");
    m = function_model(&f, &call, &fn, 1);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "2 outputs, expected at most 1");
    call = function_call(&f, "c", "F", "nowhere", "y");
    m = function_model(&f, &call, &fn, 1);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "input 0, 'nowhere'");
    call = function_call(&f, "c", "Undefined", "x", "y");
    m = function_model(&f, &call, &fn, 1);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_UNSUPPORTED);
    CHECK_HAS(f.error.message, "local:Undefined (1 node, first 'c')");
    const make same[2] = {fn, fn};
    m = function_model(&f, &call, same, 2);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "function 'F': it is defined twice");
    make twice = function_new(&f, "F", "a,a", "b");
    call = function_call(&f, "c", "F", "x,x", "y");
    m = function_model(&f, &call, &twice, 1);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "'a' is defined twice");
    make_deinit(&f);
}

static void function_reference_outside(void)
{
    make_fixture f;
    make_init(&f);
    make n = make_node(&f, "n", "LeakyRelu", "x", "y"), ref = make_new(&f.arena);
    make_text(&ref, 1, "alpha");
    make_text(&ref, 21, "slope");
    make_in(&n, 5, &ref);
    const make m = function_model(&f, &n, NULL, 0);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "refers to 'slope', but no function has it");
    /* A default that refers to itself. */
    make fn = function_new(&f, "F", "a", "b"), self = make_new(&f.arena);
    const make leaky = make_node(&f, "l", "LeakyRelu", "a", "b");
    make body = leaky;
    make_in(&body, 5, &ref);
    make_in(&fn, 7, &body);
    make_text(&self, 1, "slope");
    make_text(&self, 21, "slope");
    make_in(&fn, 11, &self);
    const make call = function_call(&f, "c", "F", "x", "y");
    const make loop = function_model(&f, &call, &fn, 1);
    CHECK_STATUS(make_import(&f, &loop, NULL), HOLO_E_MODEL);
    make_deinit(&f);
}

/* Function i calls function i + 1 twice: 2^n nodes from a few bytes. */
static make function_bomb(make_fixture *f, int levels)
{
    make g = make_graph_xy(f), local = make_new(&f->arena);
    const make call = function_call(f, "c", "F0", "x", "y");
    make_in(&g, GRAPH_NODE, &call);
    make m = make_model(f, &g, 13);
    make_text(&local, 1, "local");
    make_int(&local, 2, 1);
    make_in(&m, 8, &local);
    for (int i = 0; i < levels; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        make fn = function_new(f, name, "a", "b");
        const bool is_last = i == levels - 1;
        const make one =
            is_last ? make_node(f, "", "Relu", "a", "t") : function_call(f, "", next, "a", "t");
        const make two =
            is_last ? make_node(f, "", "Relu", "t", "b") : function_call(f, "", next, "t", "b");
        make_in(&fn, 7, &one);
        make_in(&fn, 7, &two);
        make_in(&m, 25, &fn);
    }
    return m;
}

static void function_bombs(void)
{
    make_fixture f;
    make_init(&f);
    const make small = function_bomb(&f, 5), deep = function_bomb(&f, 70);
    CHECK_OK(make_import(&f, &small, NULL), &f.error);
    CHECK_EQ_INT(hg_graph_count_nodes(&f.graph), 32);
    CHECK_STATUS(make_import(&f, &deep, NULL), HOLO_E_LIMIT);
    CHECK_HAS(f.error.message, "nested deeper than 64");
    make_deinit(&f);
    make_init(&f);
    const make wide = function_bomb(&f, 40);
    hg_arena_deinit(&f.ctx.arena);
    hg_arena_init(&f.ctx.arena, NULL, 64 << 20);
    hg_arena_init(&f.ctx.scratch, NULL, 64 << 20);
    const holo_status status = make_import(&f, &wide, NULL);
    CHECK(status == HOLO_E_NOMEM || status == HOLO_E_LIMIT);
    make_deinit(&f);
}

const hg_test_case hg_tests_import_function[] = {
    {"inlines", function_inlines},
    {"nested_twice", function_nested_twice},
    {"attribute_references", function_attribute_references},
    {"constant_by_reference", function_constant_by_reference},
    {"optional_inputs", function_optional_inputs},
    {"passes_through", function_passes_through},
    {"hides_the_caller", function_hides_the_caller},
    {"comes_before_operator", function_comes_before_operator},
    {"refuses_recursion", function_refuses_recursion},
    {"refuses", function_refuses},
    {"reference_outside", function_reference_outside},
    {"bombs", function_bombs},
    {0},
};
