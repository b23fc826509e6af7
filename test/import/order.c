/* order.c - tests of import/onnx/order.c: nodes out of order, cycles, a million nodes (attacks 27,
 * 28). */
#include "import/make.h"

#include <stdio.h>
#include <time.h>

/* x -> n relus -> y; node i is written at place order(i). */
static make order_chain(make_fixture *f, int n, const int *order)
{
    make g = make_graph_xy(f);
    for (int i = 0; i < n; i++) {
        const int k = order == NULL ? i : order[i];
        char in[16], out[16], name[16];
        snprintf(in, sizeof in, k == 0 ? "x" : "v%d", k - 1);
        snprintf(out, sizeof out, k == n - 1 ? "y" : "v%d", k);
        snprintf(name, sizeof name, "n%d", k);
        const make node = make_node(f, name, "Relu", in, out);
        make_in(&g, GRAPH_NODE, &node);
    }
    return make_model(f, &g, 14);
}

static void order_check_chain(make_fixture *f, int n)
{
    char expected[16];
    const hg_region *r = hg_graph_region(&f->graph, HG_REGION_MAIN);
    hg_node_id id = r->first;
    for (int i = 0; i < n && id != 0; i++, id = hg_graph_node(&f->graph, id)->next) {
        snprintf(expected, sizeof expected, "n%d", i);
        if (!hg_str_is(hg_graph_node(&f->graph, id)->name, expected)) {
            hg_test_fail(HG_TEST_HERE, "node %d is not %s", i, expected);
            return;
        }
    }
    CHECK_EQ_INT(id, 0);
}

static void order_sorts(void)
{
    static const int orders[][5] = {
        {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}, {1, 0, 3, 2, 4}};
    for (size_t i = 0; i < HG_COUNT(orders); i++) {
        make_fixture f;
        make_init(&f);
        const make m = order_chain(&f, 5, orders[i]);
        if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) order_check_chain(&f, 5);
        make_deinit(&f);
    }
}

/* Independent nodes stay in the order of the file. */
static void order_is_stable(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f);
    static const char *const nodes[][3] = {{"n3", "n2_out", "y"},
                                           {"n4", "x", "p"},
                                           {"n2", "n0_out", "n2_out"},
                                           {"n0", "x", "n0_out"},
                                           {"n5", "p", "q"}};
    for (size_t i = 0; i < HG_COUNT(nodes); i++) {
        const make n = make_node(&f, nodes[i][0], "Relu", nodes[i][1], nodes[i][2]);
        make_in(&g, GRAPH_NODE, &n);
    }
    const make m = make_model(&f, &g, 14);
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        static const char *const expected[] = {"n0", "n2", "n3", "n4", "n5"};
        hg_node_id id = hg_graph_region(&f.graph, HG_REGION_MAIN)->first;
        for (size_t i = 0; i < HG_COUNT(expected); i++, id = hg_graph_node(&f.graph, id)->next)
            if (!CHECK(id != 0 && hg_str_is(hg_graph_node(&f.graph, id)->name, expected[i]))) break;
    }
    make_deinit(&f);
}

static void order_refuses_cycles(void)
{
    static const char *const cycles[][3][2] = {
        {{"a", "a"}, {"x", "y"}, {"x", "z"}},
        {{"b", "a"}, {"a", "b"}, {"b", "y"}},
        {{"c", "a"}, {"a", "b"}, {"b", "c"}},
    };
    for (size_t i = 0; i < HG_COUNT(cycles); i++) {
        make_fixture f;
        make_init(&f);
        make g = make_graph_xy(&f);
        for (int k = 0; k < 3; k++) {
            const make n = make_node(&f, "n", "Relu", cycles[i][k][0], cycles[i][k][1]);
            make_in(&g, GRAPH_NODE, &n);
        }
        const make m = make_model(&f, &g, 14);
        CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
        CHECK_HAS(f.error.message, "cycle through node 'n' (Relu)");
        make_deinit(&f);
    }
}

/* A body uses "late", which a later node makes: the node with the body has to wait. */
static void order_counts_bodies(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f), body = make_new(&f.arena);
    const make inner = make_node(&f, "", "Relu", "late", "r"), r = make_value(&f, "r", 1, NULL);
    make_in(&body, GRAPH_NODE, &inner);
    make_in(&body, GRAPH_OUTPUT, &r);
    make n = make_node(&f, "wrap", "Wrap", "", "y"), a = make_attr(&f, "body", 5);
    make_in(&a, 6, &body);
    make_in(&n, 5, &a);
    const make late = make_node(&f, "l", "Relu", "x", "late");
    make_in(&g, GRAPH_NODE, &n);
    make_in(&g, GRAPH_NODE, &late);
    const make m = make_model(&f, &g, 14);
    /* Not E_MODEL: the name was found. */
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_UNSUPPORTED);
    CHECK_HAS(f.error.message, "Wrap (1 node, first 'wrap')");
    make_deinit(&f);
}

/* The body's own "late" is another one: no cycle. */
static void order_knows_names_of_bodies(void)
{
    make_fixture f;
    make_init(&f);
    make g = make_graph_xy(&f), body = make_new(&f.arena);
    const make own = make_node(&f, "", "Relu", "x", "late");
    const make inner = make_node(&f, "", "Relu", "late", "r"), r = make_value(&f, "r", 1, NULL);
    make_in(&body, GRAPH_NODE, &own);
    make_in(&body, GRAPH_NODE, &inner);
    make_in(&body, GRAPH_OUTPUT, &r);
    make n = make_node(&f, "wrap", "Wrap", "", "y"), a = make_attr(&f, "body", 5);
    make_in(&a, 6, &body);
    make_in(&n, 5, &a);
    const make late = make_node(&f, "l", "Relu", "y", "late");
    make_in(&g, GRAPH_NODE, &n);
    make_in(&g, GRAPH_NODE, &late);
    const make m = make_model(&f, &g, 14);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_UNSUPPORTED);
    make_deinit(&f);
}

static double order_seconds(make_fixture *f, int n, const int *order)
{
    const make m = order_chain(f, n, order);
    struct timespec a, b;
    CHECK_OK(hg_graph_init(&f->graph, &f->ctx), &f->error);
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK_OK(hg_import_onnx(&f->graph, m.data, m.size, NULL), &f->error);
    clock_gettime(CLOCK_MONOTONIC, &b);
    CHECK_EQ_INT(hg_graph_count_nodes(&f->graph), n);
    return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/* Ten times the nodes may take at most 40 times as long: a quadratic step would take 100. */
static void order_million_nodes(void)
{
    enum { MANY = 1000000 };
    make_fixture f;
    make_init(&f);
    const double some = order_seconds(&f, MANY / 10, NULL);
    make_deinit(&f);
    make_init(&f);
    const double all = order_seconds(&f, MANY, NULL);
    CHECK(all < 40 * some + 0.5);
    make_deinit(&f);
    make_init(&f);
    int *backwards = hg_arena_array(&f.arena, MANY / 10, sizeof *backwards);
    for (int i = 0; i < MANY / 10; i++)
        backwards[i] = MANY / 10 - 1 - i;
    const double sorted = order_seconds(&f, MANY / 10, backwards);
    CHECK(sorted < 20 * some + 0.5);
    order_check_chain(&f, MANY / 10);
    make_deinit(&f);
}

/* A Gradient of `of` with respect to x, before the node that gives v. */
static make order_gradient(make_fixture *f, const char *of)
{
    static const char domain[] = "ai.onnx.preview.training";
    make g = make_graph_xy(f), n = make_node(f, "gradient", "Gradient", "x", "y");
    make xs = make_attr(f, "xs", 8), y = make_attr(f, "y", 3), training = make_new(&f->arena);
    const make relu = make_node(f, "relu", "Relu", "x", "v");
    make_text(&n, 7, domain);
    make_text(&xs, 9, "x");
    make_text(&y, 4, of);
    make_in(&n, 5, &y);
    make_in(&n, 5, &xs);
    make_in(&g, GRAPH_NODE, &n);
    make_in(&g, GRAPH_NODE, &relu);
    make m = make_model(f, &g, 14);
    make_text(&training, 1, domain);
    make_int(&training, 2, 1);
    make_in(&m, 8, &training);
    return m;
}

/* Values that attributes name are inputs: their nodes come first. */
static void order_counts_named(void)
{
    make_fixture f;
    make_init(&f);
    const make m = order_gradient(&f, "v"), missing = order_gradient(&f, "nowhere");
    if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
        const hg_region *r = hg_graph_region(&f.graph, HG_REGION_MAIN);
        const hg_node *relu = hg_graph_node(&f.graph, r->first);
        const hg_node *last = hg_graph_node(&f.graph, r->last);
        CHECK(hg_str_is(relu->name, "relu"));
        CHECK_EQ_INT(last->n_in, 3); /* given, named in xs, y; whatever the order of attributes */
        CHECK_EQ_INT(hg_node_in(&f.graph, last, 1), r->in[0]);
        CHECK_EQ_INT(hg_node_in(&f.graph, last, 2), relu->out[0]);
    }
    CHECK_STATUS(make_import(&f, &missing, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "attribute 'y' names 'nowhere'");
    make_deinit(&f);
}

const hg_test_case hg_tests_import_order[] = {
    {"sorts", order_sorts},
    {"is_stable", order_is_stable},
    {"refuses_cycles", order_refuses_cycles},
    {"counts_bodies", order_counts_bodies},
    {"knows_names_of_bodies", order_knows_names_of_bodies},
    {"counts_named", order_counts_named},
    {"million_nodes", order_million_nodes},
    {0},
};
