/* dump.c - the text form of graphs built by hand. */
#include "graph/fixture.h"

#include <math.h>

static const hg_op dump_branch = {.name = "If", .in = {1, 1}, .out = {0, -1}, .n_body = 2};

static hg_attr dump_attr(const char *name, hg_attr_kind kind)
{
    return (hg_attr){.name = hg_str_from(name), .kind = kind};
}

static void dump_names(void)
{
    fixture *f = fixture_graph();
    const hg_op *add = fixture_op("Add");
    hg_value_id a = fixture_input(f, "a"), b = fixture_input(f, "x/y:0"), c = fixture_input(f, "a");
    hg_value_id d = fixture_input(f, ""), e = fixture_input(f, "7"),
                e2 = fixture_input(f, "say \"\n\x01");
    hg_node_id n = fixture_node(f, 1, add, (hg_value_id[]){a, b}, 2, 1);
    (void)fixture_node(f, 1, add, (hg_value_id[]){c, d}, 2, 1);
    hg_node_id last = fixture_node(f, 1, add, (hg_value_id[]){e, e2}, 2, 1);
    hg_graph_node(&f->g, last)->name = hg_str_from("last one");
    hg_graph_value(&f->g, fixture_out(f, n, 0))->name = hg_str_from("sum");
    CHECK_OK(hg_graph_add_region_output(&f->g, 1, hg_str_from("out"), fixture_out(f, n, 0)),
             &f->error);
    CHECK_OK(hg_graph_add_region_output(&f->g, 1, (hg_str){0}, 0), &f->error);
    f->g.name = hg_str_from("main");
    CHECK_STR(fixture_dump(f),
              "graph main(%a: float32[2,3], %\"x/y:0\": float32[2,3], %1: float32[2,3], "
              "%2: float32[2,3], %\"7\": float32[2,3], %\"say \\\"\\n\\x01\": float32[2,3]) {\n"
              "  %sum = Add(%a, %\"x/y:0\") : ?\n"
              "  %3 = Add(%1, %2) : ?\n"
              "  %4 = Add(%\"7\", %\"say \\\"\\n\\x01\") : ? \"last one\"\n"
              "  return %sum as \"out\", _\n"
              "}\n");
    fixture_free(f);
}

static void dump_constants(void)
{
    fixture *f = fixture_graph();
    const float x[5] = {0.5F, 1, -2, 0.1F, 3e30F}, special[4] = {NAN, INFINITY, -INFINITY, -0.0F};
    const uint32_t nan_bits = 0x7fc01234;
    const double third = 1.0 / 3;
    const uint8_t flags[3] = {1, 0, 2}, nibbles[2] = {0x1f, 0x0e};
    const uint64_t most = UINT64_MAX;
    const uint16_t halfs[2] = {0x3555, 0x7c01};
    const float complex[4] = {1, 2, 3, 4};
    holo_string strings[2] = {{"a\"b", 3}, {"\xff", 1}};
    int64_t many[17] = {0};
    hg_value_id in[] = {
        fixture_const(f, HOLO_F32, (const int64_t[]){5, -1}, x, sizeof x),
        fixture_const(f, HOLO_F32, (const int64_t[]){4, -1}, special, sizeof special),
        fixture_const(f, HOLO_F32, (const int64_t[]){-1}, &nan_bits, 4),
        fixture_const(f, HOLO_F64, (const int64_t[]){1, -1}, &third, 8),
        fixture_const(f, HOLO_BOOL, (const int64_t[]){3, -1}, flags, 3),
        fixture_const(f, HOLO_I4, (const int64_t[]){3, -1}, nibbles, 2),
        fixture_const(f, HOLO_U64, (const int64_t[]){-1}, &most, 8),
        fixture_const(f, HOLO_F16, (const int64_t[]){2, -1}, halfs, 4),
        fixture_const(f, HOLO_C64, (const int64_t[]){2, -1}, complex, 16),
        fixture_const(f, HOLO_STRING, (const int64_t[]){2, -1}, strings, sizeof strings),
        fixture_const(f, HOLO_I64, (const int64_t[]){17, -1}, many, sizeof many),
        fixture_const(f, HOLO_I64, (const int64_t[]){0, 3, -1}, many, 0),
    };
    (void)fixture_node(f, 1, fixture_op("Sum"), in, HG_COUNT(in), 1);
    char expected[1024];
    snprintf(expected, sizeof expected,
             "graph() {\n"
             "  %%1 = const float32[5] {0.5, 1.0, -2.0, 0.1, 3e+30}\n"
             "  %%2 = const float32[4] {nan, inf, -inf, -0.0}\n"
             "  %%3 = const float32[] {0x7fc01234}\n"
             "  %%4 = const float64[1] {0.3333333333333333}\n"
             "  %%5 = const bool[3] {true, false, 0x2}\n"
             "  %%6 = const int4[3] {-1, 1, -2}\n"
             "  %%7 = const uint64[] {18446744073709551615}\n"
             "  %%8 = const float16[2] {0.33325195, 0x7c01}\n"
             "  %%9 = const complex64[2] {1.0, 2.0, 3.0, 4.0}\n"
             "  %%10 = const string[2] {\"a\\\"b\", \"\\xff\"}\n"
             "  %%11 = const int64[17] #%016llx\n"
             "  %%12 = const int64[0,3] {}\n"
             "  %%13 = Sum(%%1, %%2, %%3, %%4, %%5, %%6, %%7, %%8, %%9, %%10, %%11, %%12) : ?\n"
             "  return\n"
             "}\n",
             (unsigned long long)hg_graph_const_hash(&f->g, in[10]));
    CHECK_STR(fixture_dump(f), expected);
    fixture_free(f);
}

static void dump_attributes(void)
{
    fixture *f = fixture_graph();
    const int64_t ints[] = {1, -2};
    const float floats[] = {1, 0.25F};
    const hg_str strings[] = {hg_str_from("a"), hg_str_from("b c")};
    const float one = 1;
    hg_dim dims[] = {hg_dim_parse(&f->g.dims, hg_str_from("batch*2")), 0,
                     hg_dim_const(&f->g.dims, 3)};
    hg_type type = fixture_type(f, HOLO_F32, (const int64_t[]){2, -1});
    hg_attr a[11] = {dump_attr("i", HG_ATTR_INT),           dump_attr("f", HG_ATTR_FLOAT),
                     dump_attr("odd name", HG_ATTR_STRING), dump_attr("is", HG_ATTR_INTS),
                     dump_attr("fs", HG_ATTR_FLOATS),       dump_attr("ss", HG_ATTR_STRINGS),
                     dump_attr("none", HG_ATTR_FLOATS),     dump_attr("value", HG_ATTR_TENSOR),
                     dump_attr("to", HG_ATTR_DIMS),         dump_attr("code", HG_ATTR_CODE),
                     dump_attr("t", HG_ATTR_TYPE)};
    const hg_lane_op op[] = {
        {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 1},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 1, .imm = 0x40000000},
        {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 1, .a = 0, .b = 1},
        {.op = HG_LANE_NARROW, .type = HG_LANE_F32, .dst = 1, .a = 1, .index = HOLO_F16, .imm = 1},
        {.op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 2, .a = 1, .index = HG_LANE_F32}};
    const hg_lane_out out[] = {{.reg = 1, .type = HG_LANE_F32},
                               {.reg = 2, .type = HG_LANE_I32, .saturate = 1}};
    hg_lane_code code = {.op = op, .out = out, .n_op = 5, .n_in = 3, .n_out = 2, .n_reg = 3};
    a[0].i = INT64_MIN;
    a[1].f = -3;
    a[2].s = hg_str_from("x");
    a[3].ints = ints;
    a[4].floats = floats;
    a[5].strings = strings;
    a[3].count = a[4].count = a[5].count = 2;
    a[7].tensor = fixture_const(f, HOLO_F32, (const int64_t[]){1, -1}, &one, 4);
    a[8].dims = dims;
    a[8].count = 3;
    a[9].code = &code;
    a[10].type = &type;
    hg_node_id node =
        fixture_node(f, 1, fixture_op("Relu"), (hg_value_id[]){fixture_input(f, "x")}, 1, 1);
    hg_graph_node(&f->g, node)->attr = a;
    hg_graph_node(&f->g, node)->n_attr = HG_COUNT(a);
    CHECK_STR(fixture_dump(f),
              "graph(%x: float32[2,3]) {\n"
              "  %1 = Relu(%x) {i=-9223372036854775808, f=-3.0, \"odd name\"=\"x\", is=[1,-2], "
              "fs=[1.0,0.25], ss=[\"a\",\"b c\"], none=floats[], value=const float32[1] {1.0}, "
              "to=dims[batch*2,?,3], code={in 3; r0 = load f32 1; r1 = const f32 2.0; "
              "r1 = mul f32 r0 r1; r1 = narrow f32 float16 r1 sat; r2 = cast i32 f32 r1; "
              "out r1 f32; out r2 i32 sat}, t=type float32[2]} : ?\n"
              "  return\n"
              "}\n");
    fixture_free(f);
}

static void dump_types(void)
{
    fixture *f = fixture_graph();
    hg_type item = {.dtype = HOLO_F32, .rank = 1},
            list = {.dtype = HOLO_SEQUENCE, .rank = -1, .item = &item};
    hg_type map = {.dtype = HOLO_MAP, .rank = 0, .key = HOLO_I64, .item = &list};
    hg_type bare = {.dtype = HOLO_OPTIONAL, .rank = -1};
    hg_type types[] = {map, bare, {.dtype = HOLO_F32, .rank = -1}, {.rank = -1}, {.rank = 0}};
    for (size_t i = 0; i < HG_COUNT(types); i++) {
        hg_value_id id;
        CHECK_OK(hg_graph_add_region_input(&f->g, 1, (hg_str){0}, types[i], &id), &f->error);
    }
    hg_dim content[2] = {hg_dim_named(&f->g.dims, hg_str_from("n")), hg_dim_const(&f->g.dims, 3)};
    hg_value_id shape;
    hg_type ints = fixture_type(f, HOLO_I64, (const int64_t[]){2, -1});
    CHECK_OK(hg_graph_add_region_input(&f->g, 1, hg_str_from("s"), ints, &shape), &f->error);
    hg_graph_value(&f->g, shape)->content = content;
    hg_graph_value(&f->g, shape)->n_content = 2;
    CHECK_STR(fixture_dump(f),
              "graph(%1: map(int64,sequence(float32[?]))[], %2: optional(), %3: float32, "
              "%4: ?, %5: none[], %s: int64[2] {n,3}) {\n  return\n}\n");
    fixture_free(f);
}

static void dump_regions(void)
{
    fixture *f = fixture_graph();
    hg_graph *g = &f->g;
    hg_value_id c = fixture_input(f, "c"), x;
    hg_node_id branch = fixture_node(f, 1, &dump_branch, &c, 1, 2);
    hg_region_id yes = hg_graph_node(g, branch)->body[0], no = hg_graph_node(g, branch)->body[1];
    CHECK_OK(hg_graph_add_region_input(g, yes, hg_str_from("x"), (hg_type){.rank = -1}, &x),
             &f->error);
    const float two = 2;
    hg_value_id k = fixture_const(f, HOLO_F32, (const int64_t[]){-1}, &two, 4);
    hg_node_id inner = fixture_node(f, yes, fixture_op("Add"), (hg_value_id[]){x, k}, 2, 1);
    CHECK_OK(hg_graph_add_region_output(g, yes, (hg_str){0}, fixture_out(f, inner, 0)), &f->error);
    CHECK_OK(hg_graph_add_region_output(g, no, (hg_str){0}, k), &f->error);
    hg_graph_node(g, branch)->out[1] = 0;
    hg_graph_value(g, fixture_out(f, branch, 0))->name = hg_str_from("r");
    hg_symbol late = {
        .name = hg_str_from("n n"), .kind = HG_SYMBOL_SIZE, .value = c, .index = 1, .at_most = 9};
    CHECK(hg_dim_symbol(&g->dims, late) != 0);
    CHECK_STR(fixture_dump(f), "symbol \"n n\" = size(%c, 1) <= 9\n"
                               "graph(%c: float32[2,3]) {\n"
                               "  %r, _ = If(%c) then(%x: ?) {\n"
                               "    %1 = const float32[] {2.0}\n"
                               "    %2 = Add(%x, %1) : ?\n"
                               "    return %2\n"
                               "  } else() {\n"
                               "    return %1\n"
                               "  } : ?, _\n"
                               "  return\n"
                               "}\n");
    fixture_free(f);
}

static bool dump_refuse(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    size_t *room = user;
    if (size > *room) return false;
    *room -= size;
    return true;
}

static void dump_sink_refuses(void)
{
    fixture *f = fixture_graph();
    hg_value_id a = fixture_input(f, "a");
    for (int i = 0; i < 200; i++)
        (void)fixture_node(f, 1, fixture_op("Relu"), &a, 1, 1);
    for (size_t room = 0; room < 4000; room += 500) {
        size_t left = room;
        CHECK_STATUS(hg_graph_dump(&f->g, dump_refuse, &left), HOLO_E_IO);
    }
    fixture_free(f);
}

const hg_test_case hg_tests_graph_dump[] = {
    {"names", dump_names},
    {"constants", dump_constants},
    {"attributes", dump_attributes},
    {"types", dump_types},
    {"regions", dump_regions},
    {"sink_refuses", dump_sink_refuses},
    {0},
};
