/* graph.c - making and editing graphs, use lists, reading constants. */
#include "graph/fixture.h"

#include <math.h>

static const hg_op graph_any = {.name = "Any", .in = {0, -1}, .out = {0, -1}};
static const hg_op graph_branch = {.name = "If", .in = {1, 1}, .out = {0, -1}, .n_body = 2};

static void graph_verified(fixture *f)
{
    CHECK_OK(hg_graph_verify(&f->g, &f->error), &f->error);
}

static void graph_starts_empty(void)
{
    fixture *f = fixture_graph();
    CHECK_EQ_INT(f->g.n_value, 1);
    CHECK_EQ_INT(f->g.n_node, 1);
    CHECK_EQ_INT(f->g.n_region, 2);
    CHECK_EQ_INT(hg_graph_count_nodes(&f->g), 0);
    graph_verified(f);
    fixture_free(f);
}

static void graph_uses(void)
{
    fixture *f = fixture_graph();
    hg_graph *g = &f->g;
    hg_value_id a = fixture_input(f, "a"), b = fixture_input(f, "b");
    hg_node_id n1 = fixture_node(f, 1, &graph_any, (hg_value_id[]){a, a, 0, b}, 4, 1);
    hg_value_id x = fixture_out(f, n1, 0);
    hg_node_id n2 = fixture_node(f, 1, &graph_any, (hg_value_id[]){x, a}, 2, 2);
    CHECK_EQ_INT(hg_graph_value(g, a)->n_uses, 3);
    CHECK_EQ_INT(hg_graph_value(g, b)->n_uses, 1);
    CHECK_EQ_INT(hg_graph_only_user(g, b), n1);
    CHECK_EQ_INT(hg_graph_only_user(g, a), 0);
    CHECK_EQ_INT(hg_node_in(g, hg_graph_node(g, n1), 3), b);
    CHECK_EQ_INT(hg_node_in(g, hg_graph_node(g, n1), 2), 0);
    CHECK_EQ_INT(hg_node_in(g, hg_graph_node(g, n1), 4), 0);
    CHECK_OK(hg_graph_add_region_output(g, 1, hg_str_from("y"), fixture_out(f, n2, 0)), &f->error);
    CHECK_OK(hg_graph_add_region_output(g, 1, hg_str_from("z"), x), &f->error);
    CHECK(hg_graph_is_output(g, x) && !hg_graph_is_output(g, a));
    CHECK_EQ_INT(hg_region_out(g, 1, 1), x);
    CHECK_EQ_INT(hg_region_out(g, 1, 2), 0);
    graph_verified(f);
    hg_graph_set_input(g, n1, 1, b);
    hg_graph_set_input(g, n1, 2, b);
    CHECK_EQ_INT(hg_graph_value(g, a)->n_uses, 2);
    CHECK_EQ_INT(hg_graph_value(g, b)->n_uses, 3);
    graph_verified(f);
    hg_graph_replace_uses(g, x, a);
    CHECK_EQ_INT(hg_graph_value(g, x)->n_uses, 0);
    CHECK_EQ_INT(hg_region_out(g, 1, 1), a);
    hg_graph_replace_uses(g, x, b);
    hg_graph_replace_uses(g, b, b);
    graph_verified(f);
    hg_graph_remove_node(g, n1);
    CHECK_EQ_INT(hg_graph_value(g, b)->n_uses, 0);
    CHECK_EQ_INT(hg_graph_count_nodes(g), 1);
    graph_verified(f);
    fixture_free(f);
}

static void graph_check_order(const fixture *f, const hg_node_id *expected)
{
    hg_node_id at = f->g.region[1].first, prev = 0;
    for (; at != 0; prev = at, at = f->g.node[at].next) {
        CHECK_EQ_INT(at, *expected++);
        CHECK_EQ_INT(f->g.node[at].prev, prev);
    }
    CHECK_EQ_INT(*expected, 0);
    CHECK_EQ_INT(f->g.region[1].last, prev);
}

static void graph_order(void)
{
    fixture *f = fixture_graph();
    hg_node_id n[4], between;
    for (int i = 0; i < 4; i++)
        n[i] = fixture_node(f, 1, &graph_any, NULL, 0, 1);
    hg_node_spec spec = {.op = &graph_any};
    CHECK_OK(hg_graph_add_node(&f->g, 1, n[0], &spec, &between), &f->error);
    graph_check_order(f, (hg_node_id[]){between, n[0], n[1], n[2], n[3], 0});
    hg_graph_move_node(&f->g, between, 0);
    graph_check_order(f, (hg_node_id[]){n[0], n[1], n[2], n[3], between, 0});
    hg_graph_move_node(&f->g, n[3], n[0]);
    hg_graph_move_node(&f->g, n[1], n[1]);
    graph_check_order(f, (hg_node_id[]){n[3], n[0], n[1], n[2], between, 0});
    hg_graph_remove_node(&f->g, n[0]);
    hg_graph_remove_node(&f->g, n[3]);
    hg_graph_remove_node(&f->g, between);
    graph_check_order(f, (hg_node_id[]){n[1], n[2], 0});
    graph_verified(f);
    fixture_free(f);
}

static void graph_region_outputs_move(void)
{
    fixture *f = fixture_graph();
    hg_value_id a = fixture_input(f, "a");
    for (int i = 0; i < 40; i++) {
        if (i % 3 == 0) (void)fixture_node(f, 1, &graph_any, &a, 1, 1);
        CHECK_OK(hg_graph_add_region_output(&f->g, 1, (hg_str){0}, i % 5 == 0 ? 0 : a), &f->error);
        (void)fixture_input(f, "more");
        graph_verified(f);
    }
    CHECK_EQ_INT(f->g.region[1].n_out, 40);
    CHECK_EQ_INT(f->g.region[1].n_in, 41);
    CHECK_EQ_INT(hg_graph_value(&f->g, a)->n_uses, 14 + 32);
    fixture_free(f);
}

/* A node with bodies nested 1000 deep is removed with everything inside. */
static void graph_removes_bodies(void)
{
    fixture *f = fixture_graph();
    hg_graph *g = &f->g;
    hg_value_id a = fixture_input(f, "a");
    hg_region_id region = 1;
    hg_node_id outer = 0;
    for (int i = 0; i < 1000; i++) {
        hg_node_id branch = fixture_node(f, region, &graph_branch, &a, 1, 1);
        (void)fixture_node(f, region, &graph_any, &a, 1, 0);
        if (outer == 0) outer = branch;
        for (int k = 0; k < 2; k++) {
            region = hg_graph_node(g, branch)->body[k];
            hg_node_id inner = fixture_node(f, region, &graph_any, &a, 1, 1);
            CHECK_OK(hg_graph_add_region_output(g, region, (hg_str){0}, fixture_out(f, inner, 0)),
                     &f->error);
            CHECK_OK(hg_graph_add_region_output(g, region, (hg_str){0}, a), &f->error);
        }
    }
    graph_verified(f);
    CHECK_EQ_INT(hg_graph_count_nodes(g), 4000);
    CHECK_EQ_INT(hg_graph_value(g, a)->n_uses, 6000);
    hg_graph_remove_node(g, outer);
    CHECK_EQ_INT(hg_graph_count_nodes(g), 1);
    CHECK_EQ_INT(hg_graph_value(g, a)->n_uses, 1);
    graph_verified(f);
    fixture_free(f);
}

static void graph_attributes(void)
{
    fixture *f = fixture_graph();
    hg_node_id n = fixture_node(f, 1, &graph_any, NULL, 0, 1);
    hg_attr axis = {.name = hg_str_from("axis"), .kind = HG_ATTR_INT, .i = 1};
    hg_attr keep = {.name = hg_str_from("keepdims"), .kind = HG_ATTR_INT, .i = 0};
    CHECK(hg_node_attr(hg_graph_node(&f->g, n), "axis") == NULL);
    CHECK_OK(hg_graph_set_attr(&f->g, n, axis), &f->error);
    CHECK_OK(hg_graph_set_attr(&f->g, n, keep), &f->error);
    axis.i = 7;
    CHECK_OK(hg_graph_set_attr(&f->g, n, axis), &f->error);
    CHECK_EQ_INT(hg_graph_node(&f->g, n)->n_attr, 2);
    CHECK_EQ_INT(hg_node_attr(hg_graph_node(&f->g, n), "axis")->i, 7);
    CHECK_EQ_INT(hg_node_attr(hg_graph_node(&f->g, n), "keepdims")->i, 0);
    fixture_free(f);
}

static void graph_labels(void)
{
    fixture *f = fixture_graph();
    char buffer[16];
    hg_node_id n = fixture_node(f, 1, &graph_any, NULL, 0, 2);
    CHECK(hg_str_is(hg_node_label(&f->g, n, buffer, sizeof buffer), "#1"));
    hg_graph_value(&f->g, fixture_out(f, n, 1))->name = hg_str_from("out");
    CHECK(hg_str_is(hg_node_label(&f->g, n, buffer, sizeof buffer), "out"));
    hg_graph_node(&f->g, n)->name = hg_str_from("name");
    CHECK(hg_str_is(hg_node_label(&f->g, n, buffer, sizeof buffer), "name"));
    fixture_free(f);
}

static void graph_types(void)
{
    fixture *f = fixture_graph();
    hg_dims *d = &f->g.dims;
    hg_type a = fixture_type(f, HOLO_F32, (const int64_t[]){2, 3, -1}), b = a;
    CHECK(hg_type_equal(&a, &b));
    CHECK_EQ_INT(hg_type_count(&f->g, &a), hg_dim_const(d, 6));
    b.dim[1] = hg_dim_named(d, hg_str_from("n"));
    CHECK(!hg_type_equal(&a, &b));
    CHECK_EQ_INT(hg_type_count(&f->g, &b), hg_dim_mul(d, b.dim[1], b.dim[0]));
    b.dim[1] = 0;
    CHECK(!hg_type_equal(&b, &b));
    CHECK_EQ_INT(hg_type_count(&f->g, &b), 0);
    b.rank = HG_RANK_UNKNOWN;
    CHECK_EQ_INT(hg_type_count(&f->g, &b), 0);
    hg_type scalar = {.dtype = HOLO_F32};
    CHECK_EQ_INT(hg_type_count(&f->g, &scalar), hg_dim_const(d, 1));
    hg_type list = {.dtype = HOLO_SEQUENCE, .item = &a},
            other = {.dtype = HOLO_SEQUENCE, .item = &b};
    CHECK(hg_type_equal(&list, &list) && !hg_type_equal(&list, &other));
    fixture_free(f);
}

static void graph_const_ints(void)
{
    fixture *f = fixture_graph();
    const int64_t *ints;
    size_t count;
    const uint8_t bytes[] = {1, 0xff, 0x80, 0x7f, 0, 0, 0, 0, 0};
    struct {
        holo_dtype dtype;
        int64_t count, expected[4];
    } cases[] = {{HOLO_I8, 4, {1, -1, -128, 127}}, {HOLO_U8, 4, {1, 255, 128, 127}},
                 {HOLO_I16, 2, {-255, 0x7f80}},    {HOLO_U16, 2, {0xff01, 0x7f80}},
                 {HOLO_I32, 1, {0x7f80ff01}},      {HOLO_I64, 1, {0x7f80ff01}},
                 {HOLO_U64, 1, {0x7f80ff01}},      {HOLO_BOOL, 1, {1}},
                 {HOLO_U4, 4, {1, 0, 15, 15}},     {HOLO_I4, 4, {1, 0, -1, -1}},
                 {HOLO_I2, 4, {1, 0, 0, 0}},       {HOLO_I64, 0, {0}}};
    for (size_t i = 0; i < HG_COUNT(cases); i++) {
        size_t size;
        CHECK(hg_dtype_bytes(cases[i].dtype, cases[i].count, &size));
        /* an odd address: constants are views into files */
        uint8_t *copy = hg_arena_alloc(&f->ctx.arena, size + 1);
        memcpy(copy + 1, bytes, size);
        int64_t dims[] = {cases[i].count, -1};
        hg_value_id v = fixture_const(f, cases[i].dtype, dims, copy + 1, size);
        if (!CHECK(hg_graph_const_ints(&f->g, v, &ints, &count))) continue;
        CHECK_EQ_INT(count, cases[i].count);
        for (int64_t k = 0; k < cases[i].count; k++)
            CHECK_EQ_INT(ints[k], cases[i].expected[k]);
    }
    uint64_t big = UINT64_MAX;
    float one = 1;
    const int64_t scalar[] = {-1};
    CHECK(!hg_graph_const_ints(&f->g, fixture_const(f, HOLO_U64, scalar, &big, 8), &ints, &count));
    CHECK(!hg_graph_const_ints(&f->g, fixture_const(f, HOLO_F32, scalar, &one, 4), &ints, &count));
    CHECK(!hg_graph_const_ints(&f->g, fixture_const(f, HOLO_I64, scalar, &big, 7), &ints, &count));
    CHECK(!hg_graph_const_ints(&f->g, fixture_input(f, "x"), &ints, &count));
    CHECK(!hg_graph_const_ints(&f->g, 0, &ints, &count));
    fixture_free(f);
}

static void graph_const_scalar(void)
{
    fixture *f = fixture_graph();
    double value;
    const int64_t scalar[] = {-1}, one[] = {1, 1, -1}, two[] = {2, -1};
    const float x[2] = {-2.5F, 1};
    const uint16_t half = 0x3e00;
    const int32_t minus = -7;
    CHECK(hg_graph_const_scalar(&f->g, fixture_const(f, HOLO_F32, scalar, x, 4), &value) &&
          value == -2.5);
    CHECK(hg_graph_const_scalar(&f->g, fixture_const(f, HOLO_F16, one, &half, 2), &value) &&
          value == 1.5);
    CHECK(hg_graph_const_scalar(&f->g, fixture_const(f, HOLO_I32, one, &minus, 4), &value) &&
          value == -7);
    CHECK(!hg_graph_const_scalar(&f->g, fixture_const(f, HOLO_F32, two, x, 8), &value));
    fixture_free(f);
}

static void graph_const_hash(void)
{
    fixture *f = fixture_graph();
    const int32_t x[4] = {1, 2, 3, 4}, y[4] = {1, 2, 3, 4};
    const int64_t four[] = {4, -1}, square[] = {2, 2, -1};
    uint64_t hash = hg_graph_const_hash(&f->g, fixture_const(f, HOLO_I32, four, x, 16));
    CHECK(hash != 0);
    CHECK(hg_graph_const_hash(&f->g, fixture_const(f, HOLO_I32, four, y, 16)) == hash);
    CHECK(hg_graph_const_hash(&f->g, fixture_const(f, HOLO_I32, square, x, 16)) != hash);
    CHECK(hg_graph_const_hash(&f->g, fixture_const(f, HOLO_F32, four, x, 16)) != hash);
    char one[] = "text", other[] = "text";
    holo_string s = {one, 4}, t = {other, 4};
    const int64_t scalar[] = {-1};
    hash = hg_graph_const_hash(&f->g, fixture_const(f, HOLO_STRING, scalar, &s, sizeof s));
    CHECK(hg_graph_const_hash(&f->g, fixture_const(f, HOLO_STRING, scalar, &t, sizeof t)) == hash);
    CHECK_EQ_INT(hg_graph_const_hash(&f->g, fixture_input(f, "x")), 0);
    fixture_free(f);
}

static holo_status graph_build_much(fixture *f, int nodes)
{
    hg_graph *g = &f->g;
    HG_TRY(hg_graph_init(g, &f->ctx));
    hg_value_id a;
    HG_TRY(hg_graph_add_region_input(g, 1, hg_str_from("a"), (hg_type){.rank = -1}, &a));
    for (int i = 0; i < nodes; i++) {
        hg_node_spec spec = {.op = &graph_branch, .in = &a, .n_in = 1, .n_out = 1, .n_body = 2};
        hg_node_id node;
        hg_value_id input;
        HG_TRY(hg_graph_add_node(g, 1, 0, &spec, &node));
        for (int k = 0; k < 2; k++) {
            hg_region_id body = hg_graph_node(g, node)->body[k];
            HG_TRY(hg_graph_add_region_input(g, body, (hg_str){0}, (hg_type){.rank = -1}, &input));
            HG_TRY(hg_graph_add_region_output(g, body, (hg_str){0}, input));
        }
        HG_TRY(hg_graph_add_region_output(g, 1, (hg_str){0}, fixture_out(f, node, 0)));
        HG_TRY(hg_graph_set_attr(g, node, (hg_attr){.name = hg_str_from("x")}));
    }
    return HOLO_OK;
}

static holo_status graph_build_limited(int allowed, size_t limit, int nodes)
{
    fixture *f = fixture_new(allowed);
    f->ctx.arena.limit = limit;
    holo_status status = graph_build_much(f, nodes);
    if (status != HOLO_OK) {
        CHECK_STATUS(status, HOLO_E_NOMEM);
        CHECK_HAS(f->error.message, "out of memory");
    }
    f->limited = false;
    if (f->g.n_region > HG_REGION_MAIN) graph_verified(f);
    fixture_free(f);
    return status;
}

/* However early memory runs out: a status with a sentence, and what is there stays consistent. */
static void graph_out_of_memory(void)
{
    holo_status status = HOLO_E_NOMEM;
    for (int allowed = 0; status != HOLO_OK && allowed < 1000; allowed++)
        status = graph_build_limited(allowed, 0, 1000);
    CHECK_STATUS(status, HOLO_OK);
    status = HOLO_E_NOMEM;
    for (size_t limit = 1; status != HOLO_OK && limit < 1 << 20; limit += 32)
        status = graph_build_limited(-1, limit, 20);
    CHECK_STATUS(status, HOLO_OK);
}

const hg_test_case hg_tests_graph_graph[] = {
    {"starts_empty", graph_starts_empty},
    {"uses", graph_uses},
    {"order", graph_order},
    {"region_outputs_move", graph_region_outputs_move},
    {"removes_bodies", graph_removes_bodies},
    {"attributes", graph_attributes},
    {"labels", graph_labels},
    {"types", graph_types},
    {"const_ints", graph_const_ints},
    {"const_scalar", graph_const_scalar},
    {"const_hash", graph_const_hash},
    {"out_of_memory", graph_out_of_memory},
    {0},
};
