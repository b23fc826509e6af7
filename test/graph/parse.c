/* parse.c - the text form read back: fixed points, mistakes, random graphs, memory. */
#include "graph/fixture.h"

/* The text is a fixed point: what it parses to prints as the same text. */
static void parse_same(const char *text)
{
    fixture *f = fixture_parse(text);
    CHECK_STR(fixture_dump(f), text);
    CHECK_OK(hg_graph_verify(&f->g, &f->error), &f->error);
    fixture_free(f);
}

static void parse_plain(void)
{
    parse_same("graph main(%input: float32[batch,3,224,224], %mask: bool[]) {\n"
               "  %1 = const float32[3] {0.5, 1.0, -2.0}\n"
               "  %conv1 = Conv(%input, %1, _) {strides=[2,2], group=1, auto_pad=\"SAME\"} : "
               "float32[batch,64,(batch+1)//2,'odd name'*2] \"node name\"\n"
               "  %a, _, %2 = Split(%conv1) {axis=1} : float32, _, ?\n"
               "  %\"x/y:0\" = Add(%a, %2) : float32[?,3]\n"
               "  return %conv1 as \"output\", %\"x/y:0\", _ as \"nothing\"\n"
               "}\n");
    parse_same("graph() {\n  return\n}\n");
}

static void parse_every_piece(void)
{
    parse_same(
        "symbol \"n n\" = size(%1, 1) <= 9\n"
        "symbol c = content(_, 0)\n"
        "symbol past <= 2048\n"
        "meta \"author\" = \"a \\\"b\\\"\\n\"\n"
        "graph \"two words\"(%1: float32['n n',past,c+1], %s: int64[2] {past,?}, %empty: int64[0] "
        "{}) {\n"
        "  %2 = const float32[4] {nan, inf, -inf, -0.0}\n"
        "  %3 = const float32[] {0x7fc01234}\n"
        "  %4 = const float64[1] {0.3333333333333333}\n"
        "  %5 = const bool[3] {true, false, 0x2}\n"
        "  %6 = const int4[3] {-8, 7, -2}\n"
        "  %7 = const uint64[2] {18446744073709551615, 0}\n"
        "  %8 = const float16[2] {0.33325195, 0x7c01}\n"
        "  %9 = const complex64[1] {1.0, 2.0}\n"
        "  %10 = const complex128[1] {1.0, 0.1}\n"
        "  %11 = const string[2] {\"a\\\"b\", \"\\xff\"}\n"
        "  %12 = const int64[2] {-9223372036854775808, 9223372036854775807}\n"
        "  %13 = const int64[0,3] {}\n"
        "  %14 = const float8e4m3fn[2] {448.0, nan}\n"
        "  %15 = Sum(%2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14) "
        "{i=-1, f=-3.0, g=1e+30, h=nan, \"odd name\"=\"\", is=[1,-2], fs=[1.0,inf], ss=[\"a\",\"b "
        "c\"], "
        "none=ints[], nof=floats[], nos=strings[], value=const float32[1] {1.0}, "
        "to=dims[past*2,?,max(c,past)], nod=dims[], t=type map(int64,sequence(float32[?]))[]} : "
        "optional()\n"
        "  %16, %17 = Split(%1) : sequence(?)[3], map(string,float32[])\n"
        "  return\n"
        "}\n");
}

static void parse_lane_code(void)
{
    if (hg_op_find(hg_str_from("holo"), hg_str_from("Lane")) == NULL) SKIP("no lane operator");
    parse_same(
        "graph(%a: float32[n], %b: float32[n]) {\n"
        "  %c, %d = holo:Lane(%a, %b) {code={in 3; reg 9; r0 = load f32 1; r1 = const f32 0.1; "
        "r1 = mul f32 r0 r1; r1 = narrow f32 float16 r1 sat; r2 = cast i32 f32 r1; "
        "r3 = const i32 -5; r4 = lt i32 r2 r3; r5 = select f32 r4 r0 r1; r6 = index i64; "
        "out r5 f32; out r2 i32 sat}} : float32[n], int8[n]\n"
        "  return %c as \"c\"\n"
        "}\n");
}

static void parse_regions(void)
{
    if (hg_op_find((hg_str){0}, hg_str_from("If")) == NULL) SKIP("If is not there yet");
    parse_same("graph(%c: bool[], %x: float32[n]) {\n"
               "  %r = If(%c) {note=1} then() {\n"
               "    %1 = Relu(%x) : float32[n]\n"
               "    %r2 = If(%c) then() {\n"
               "      return %1\n"
               "    } else() {\n"
               "      %2 = const float32[1] {1.0}\n"
               "      return %2\n"
               "    } : float32\n"
               "    return %r2 as \"inner\"\n"
               "  } else() {\n"
               "    return %x\n"
               "  } : float32[n] \"choice\"\n"
               "  return %r as \"y\"\n"
               "}\n");
}

static void parse_is_lenient(void)
{
    fixture *f =
        fixture_parse("// a comment\n graph ( %a:float32[ 2 , n * 2 ] ) // more\n{ %9=Relu(%a)"
                      "%7 =Add( %9,%a ):float32 return %7 as \"y\" }  // end");
    CHECK_STR(fixture_dump(f), "graph(%a: float32[2,n*2]) {\n"
                               "  %1 = Relu(%a) : ?\n"
                               "  %2 = Add(%1, %a) : float32\n"
                               "  return %2 as \"y\"\n"
                               "}\n");
    fixture_free(f);
}

static void parse_refuses(const char *text, const char *sentence)
{
    fixture *f = fixture_graph();
    holo_status status = hg_graph_parse(&f->g, hg_str_from(text), &f->error);
    if (status != HOLO_E_MODEL)
        hg_test_fail(HG_TEST_HERE, "'%s' gives status %d", text, (int)status);
    else
        CHECK_HAS(f->error.message, sentence);
    CHECK_STATUS(f->error.status, HOLO_E_MODEL);
    fixture_free(f);
}

static void parse_mistakes(void)
{
    parse_refuses("", "line 1, column 1: the text ends, expected 'graph'");
    parse_refuses("graph(", "expected '%'");
    parse_refuses("graph(%a: floaty[2]) { return }",
                  "line 1, column 11: 'floaty' is no element type");
    parse_refuses("graph(%a: float32[2) { return }", "is no dimension");
    parse_refuses("graph(%a: float32[1,1,1,1,1,1,1,1,1]) { return }", "a rank of 9");
    parse_refuses("graph(%a: float32(int8)) { return }", "float32 has no items");
    parse_refuses("graph(%a: float32, %a: float32) { return }", "value %a is defined twice");
    parse_refuses("graph(%a: float32) {\n  %b = Relu(%c)\n  return }",
                  "line 2, column 14: value %c is not");
    parse_refuses("graph(%a: float32) { %b = Nonsense(%a) return }",
                  "operator 'Nonsense' is unknown");
    parse_refuses("graph(%a: float32) { %b = my:Relu(%a) return }",
                  "operator 'my:Relu' is unknown");
    parse_refuses("graph(%a: float32) { %b = Relu(%a, %a) return }",
                  "does not take this number of inputs");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) }", "a region ends with return");
    parse_refuses("graph(%a: float32) { return %a } x", "text behind the end");
    parse_refuses("graph() { %w = const float32[99] #0123456789abcdef return }", "only the hash");
    parse_refuses("graph() { %w = const float32[2] {1.0} return }", "2 elements are expected");
    parse_refuses("graph() { %w = const float32[1] {1.0, 2.0} return }", "1 elements are expected");
    parse_refuses("graph() { %w = const float32[9999999999] {} return }", "9999999999 elements");
    parse_refuses("graph() { %w = const float32[4294967296,4294967296] {} return }",
                  "dimensions are numbers");
    parse_refuses("graph() { %w = const float32[n] {} return }", "dimensions are numbers");
    parse_refuses("graph() { %w = const float32 {} return }", "needs an element type and a shape");
    parse_refuses("graph() { %w = const int8[1] {128} return }", "'128' is no int8");
    parse_refuses("graph() { %w = const uint8[1] {-1} return }", "'-1' is no uint8");
    parse_refuses("graph() { %w = const uint8[1] {0x100} return }", "'0x100' is no uint8");
    parse_refuses("graph() { %w = const bool[1] {yes} return }", "'yes' is no bool");
    parse_refuses("graph() { %w = const float32[1] {1,5} return }", "1 elements are expected");
    parse_refuses("graph() { %v, %w = const float32[] {1.0} return }", "a constant needs one name");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x=[]} return }", "an empty list is");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x=[1,\"a\"]} return }", "expected a number");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x=99999999999999999999} return }",
                  "64-bit integer");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x=\"a} return }", "a string without end");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x=\"\\q\"} return }",
                  "an escape other than");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x={r0 = fly f32}} return }",
                  "'fly' is no lane operation");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x={r0 = neg f32 r1; out r0 f32}} return }",
                  "line 1");
    parse_refuses("graph(%a: float32) { %b = Relu(%a) {x={jump 3}} return }",
                  "begins no lane statement");
    parse_refuses("symbol n symbol n graph() { return }", "declared twice");
    parse_refuses("symbol n = size(%x, 0) graph() { return }",
                  "value %x of a symbol is not defined");
    parse_refuses("symbol n = shape(%x, 0) graph() { return }", "expected 'size', found 'shape'");
}

static void parse_nesting(void)
{
    char text[4096] = "graph(%a: ";
    for (int i = 0; i < 100; i++)
        strcat(text, "optional(");
    parse_refuses(text, "types nested deeper than 64");
    if (hg_op_find((hg_str){0}, hg_str_from("If")) == NULL) SKIP("If is not there yet");
    snprintf(text, sizeof text, "graph(%%c: bool[]) {");
    for (int i = 0; i < 70; i++)
        strcat(text, "If(%c) then() {");
    parse_refuses(text, "regions nested deeper than 64");
    parse_refuses("graph(%c: bool[], %x: float32) { %r = If(%c) then() { %a = Relu(%x) return %a } "
                  "else() { return %a } return %r }",
                  "cannot see it");
}

/* ---- random graphs ------------------------------------------------------------------- */

static uint64_t parse_seed;

static uint32_t parse_random(uint32_t below)
{
    parse_seed = parse_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(parse_seed >> 33) % below;
}

static hg_dim parse_random_dim(hg_dims *d)
{
    static const char *const names[] = {"n", "m", "batch size", "a'b"};
    hg_dim a = hg_dim_named(d, hg_str_from(names[parse_random(4)])),
           b = hg_dim_const(d, parse_random(9));
    hg_dim c = hg_dim_named(d, hg_str_from(names[parse_random(4)]));
    hg_dim_op op = (hg_dim_op)(HG_DIM_ADD + (int)parse_random(HG_DIM_TRUNCDIV - HG_DIM_ADD + 1));
    hg_dim_op second =
        (hg_dim_op)(HG_DIM_ADD + (int)parse_random(HG_DIM_TRUNCDIV - HG_DIM_ADD + 1));
    return parse_random(6) == 0 ? 0 : hg_dim_make(d, second, hg_dim_make(d, op, a, b, c), c, a);
}

static hg_type parse_random_type(fixture *f)
{
    hg_type type = {.dtype = (holo_dtype)(1 + parse_random(26)),
                    .rank = (int32_t)parse_random(5) - 1};
    for (int32_t i = 0; i < type.rank; i++)
        type.dim[i] = parse_random_dim(&f->g.dims);
    return type;
}

static hg_str parse_random_name(fixture *f)
{
    static const char odd[] = "ab1._/: \"\\\n\x7f\xc3";
    char text[8];
    size_t n = parse_random(sizeof text);
    for (size_t i = 0; i < n; i++)
        text[i] = odd[parse_random(sizeof odd - 1)];
    return hg_str_copy(&f->ctx.arena, (hg_str){text, n});
}

static hg_value_id parse_random_const(fixture *f)
{
    hg_type type = {.dtype = (holo_dtype)(1 + parse_random(26)), .rank = 1};
    int64_t count = parse_random(5);
    size_t bytes;
    hg_value_id id = 0;
    if (type.dtype == HOLO_STRING) type.dtype = HOLO_I64;
    type.dim[0] = hg_dim_const(&f->g.dims, count);
    CHECK(hg_dtype_bytes(type.dtype, count, &bytes));
    uint8_t *data = hg_arena_alloc(&f->ctx.arena, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)parse_random(256);
    if (count != 0 && hg_dtype_bits(type.dtype) * (uint64_t)count % 8 != 0) data[bytes - 1] &= 3;
    CHECK_OK(hg_graph_add_const(&f->g, parse_random_name(f), type, data, bytes, &id), &f->error);
    return id;
}

static hg_attr parse_random_attr(fixture *f)
{
    static const hg_attr_kind kinds[] = {HG_ATTR_INT,  HG_ATTR_FLOAT,  HG_ATTR_STRING,
                                         HG_ATTR_INTS, HG_ATTR_FLOATS, HG_ATTR_TENSOR,
                                         HG_ATTR_DIMS, HG_ATTR_TYPE};
    hg_attr a = {.name = parse_random_name(f), .kind = kinds[parse_random(HG_COUNT(kinds))]};
    int64_t *ints = hg_arena_array(&f->ctx.arena, 4, sizeof *ints);
    float *floats = hg_arena_array(&f->ctx.arena, 4, sizeof *floats);
    hg_dim *dims = hg_arena_array(&f->ctx.arena, 4, sizeof *dims);
    hg_type *type = hg_arena_alloc(&f->ctx.arena, sizeof *type);
    for (size_t i = 0; i < 4; i++) {
        ints[i] = (int64_t)(parse_random(2000) - UINT64_C(1000));
        floats[i] = (float)parse_random(1000000) / 977.0F;
        dims[i] = parse_random_dim(&f->g.dims);
    }
    *type = parse_random_type(f);
    a.i = ints[0];
    a.f = floats[0];
    a.s = parse_random_name(f);
    a.ints = ints;
    a.floats = floats;
    a.dims = dims;
    a.type = type;
    a.count = parse_random(5);
    if (a.kind == HG_ATTR_TENSOR) a.tensor = parse_random_const(f);
    return a;
}

static void parse_random_graph(fixture *f)
{
    hg_value_id pool[64] = {0};
    uint32_t n = 1 + parse_random(4);
    const hg_op *sum = fixture_op("Sum"), *split = fixture_op("Split");
    for (uint32_t i = 0; i < n; i++)
        CHECK_OK(hg_graph_add_region_input(&f->g, 1, parse_random_name(f), parse_random_type(f),
                                           &pool[i]),
                 &f->error);
    for (uint32_t i = parse_random(4); i > 0; i--)
        pool[n++] = parse_random_const(f);
    for (uint32_t k = parse_random(12); k > 0; k--) {
        hg_value_id in[4];
        uint32_t n_in = 1 + parse_random(4), n_out = 1 + parse_random(3);
        for (uint32_t i = 0; i < n_in; i++)
            in[i] = parse_random(8) == 0 ? 0 : pool[parse_random(n)];
        hg_node_id node = n_out > 1 ? fixture_node(f, 1, split, in, n_in > 2 ? 2 : n_in, n_out)
                                    : fixture_node(f, 1, sum, in, n_in, 1);
        hg_graph_node(&f->g, node)->name = parse_random_name(f);
        for (uint32_t i = parse_random(3); i > 0; i--)
            CHECK_OK(hg_graph_set_attr(&f->g, node, parse_random_attr(f)), &f->error);
        for (uint32_t i = 0; i < n_out; i++) {
            hg_value *v = hg_graph_value(&f->g, fixture_out(f, node, i));
            v->name = parse_random_name(f);
            v->type = parse_random_type(f);
            pool[n++] = fixture_out(f, node, i);
        }
    }
    for (uint32_t i = parse_random(4); i > 0; i--)
        CHECK_OK(hg_graph_add_region_output(&f->g, 1, parse_random_name(f), pool[parse_random(n)]),
                 &f->error);
}

static void parse_random_round(void)
{
    fixture *first = fixture_graph();
    parse_random_graph(first);
    CHECK_OK(hg_graph_verify(&first->g, &first->error), &first->error);
    const char *text = fixture_dump(first);
    fixture *second = fixture_parse(text);
    if (!CHECK_STR(fixture_dump(second), text)) printf("%s", text);
    CHECK_EQ_INT(hg_graph_count_nodes(&second->g), hg_graph_count_nodes(&first->g));
    fixture_free(first);
    fixture_free(second);
}

static void parse_random_graphs(void)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        parse_seed = seed;
        parse_random_round();
    }
}

/* Texts with a few bytes changed: an error or a graph that verify accepts, never a crash. */
static void parse_damaged(void)
{
    static const char alphabet[] = "%{}[]()=,:;\"'\\_ 019.-+*/eabgnr#\n";
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        parse_seed = seed;
        fixture *first = fixture_graph(), *second = fixture_graph();
        parse_random_graph(first);
        (void)fixture_dump(first);
        for (uint32_t i = 1 + parse_random(3); i > 0; i--)
            first->text[parse_random((uint32_t)first->length)] =
                alphabet[parse_random(sizeof alphabet - 1)];
        hg_str text = {first->text, parse_random(4) == 0 ? parse_random((uint32_t)first->length)
                                                         : first->length};
        holo_status status = hg_graph_parse(&second->g, text, &second->error);
        if (status == HOLO_OK)
            CHECK_OK(hg_graph_verify(&second->g, &second->error), &second->error);
        else
            CHECK_STATUS(status, HOLO_E_MODEL);
        fixture_free(first);
        fixture_free(second);
    }
}

static void parse_out_of_memory(void)
{
    const char *text =
        "symbol c = content(%b, 0)\nmeta \"k\" = \"v\"\n"
        "graph(%a: sequence(float32[n*2+m,c])) { %w = const string[1] {\"x\"} "
        "%b = Sum(%a, %w) {x=[1,2], y=dims[n//3], z=type int8, s=[\"q\"]} : int8[n] {m,n} "
        "return %b as \"y\" }";
    holo_status status = HOLO_E_NOMEM;
    for (size_t limit = 1; status != HOLO_OK && limit < 1 << 20; limit += 16) {
        fixture *f = fixture_new(-1);
        f->ctx.arena.limit = limit;
        status = hg_graph_init(&f->g, &f->ctx);
        if (status == HOLO_OK) status = hg_graph_parse(&f->g, hg_str_from(text), &f->error);
        if (status != HOLO_OK) CHECK_STATUS(status, HOLO_E_NOMEM);
        CHECK_STATUS(f->error.status, status);
        fixture_free(f);
    }
    CHECK_STATUS(status, HOLO_OK);
    status = HOLO_E_NOMEM;
    for (int allowed = 0; status != HOLO_OK && allowed < 100; allowed++) {
        fixture *f = fixture_new(allowed);
        status = hg_graph_init(&f->g, &f->ctx);
        if (status == HOLO_OK) status = hg_graph_parse(&f->g, hg_str_from(text), &f->error);
        if (status == HOLO_OK) status = hg_graph_dump(&f->g, fixture_sink, f);
        if (status != HOLO_OK) CHECK_STATUS(status, HOLO_E_NOMEM);
        fixture_free(f);
    }
    CHECK_STATUS(status, HOLO_OK);
}

const hg_test_case hg_tests_graph_parse[] = {
    {"plain", parse_plain},
    {"every_piece", parse_every_piece},
    {"lane_code", parse_lane_code},
    {"regions", parse_regions},
    {"is_lenient", parse_is_lenient},
    {"mistakes", parse_mistakes},
    {"nesting", parse_nesting},
    {"random_graphs", parse_random_graphs},
    {"damaged", parse_damaged},
    {"out_of_memory", parse_out_of_memory},
    {0},
};
