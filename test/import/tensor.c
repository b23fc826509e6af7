/* tensor.c - tests of import/onnx/tensor.c: constants from every kind of tensor (attack 25). */
#include "import/make.h"

#include <stdlib.h>

/* Model whose only output is constant "w", an initializer made by the caller. */
static make tensor_model(make_fixture *f, uint32_t field, const make *tensor)
{
    make g = make_new(&f->arena);
    const make w = make_value(f, "w", ELEM_F32, NULL);
    make_in(&g, GRAPH_OUTPUT, &w);
    make_in(&g, field, tensor);
    return make_model(f, &g, 13);
}

/* The constant after an import; NULL when it failed. */
static const hg_value *tensor_import(make_fixture *f, const make *tensor)
{
    const make m = tensor_model(f, GRAPH_INITIALIZER, tensor);
    if (make_import(f, &m, NULL) != HOLO_OK) return NULL;
    return hg_graph_value(&f->graph, hg_region_out(&f->graph, HG_REGION_MAIN, 0));
}

static void tensor_typed_fields(void)
{
    /* One row per type: the field, numbers in it as varints or fixed, expected bytes. */
    static const struct {
        int64_t elem;
        const char *dims;
        uint32_t field;
        const char *numbers;
        size_t size;
        const char *bytes;
        size_t n_bytes;
    } good[] = {
        {1, "1", 4, "\x00\x00\x80\x3f", 4, "\x00\x00\x80\x3f", 4},
        {2, "3", 5, "\x00\x01\xff\x01", 4, "\x00\x01\xff", 3},
        {3, "2", 5, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x7f", 11, "\xff\x7f", 2},
        {3, "1", 5, "\xff\x01", 2, "\xff", 1}, /* -1 written as 255 */
        {4, "1", 5, "\xff\xff\x03", 3, "\xff\xff", 2},
        {5, "1", 5, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "\xfe\xff", 2},
        {6, "1", 5, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "\xfe\xff\xff\xff", 4},
        {7, "1", 7, "\x80\x01", 2, "\x80\0\0\0\0\0\0\0", 8},
        {9, "2", 5, "\x00\x01", 2, "\x00\x01", 2},
        {10, "1", 5, "\x80\x78", 2, "\x00\x3c", 2},
        {11, "1", 10, "\0\0\0\0\0\0\xf0\x3f", 8, "\0\0\0\0\0\0\xf0\x3f", 8},
        {12, "1", 11, "\xff\xff\xff\xff\x0f", 5, "\xff\xff\xff\xff", 4},
        {13, "1", 11, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10,
         "\xff\xff\xff\xff\xff\xff\xff\xff", 8},
        {14, "1", 4, "\0\0\x80\x3f\0\0\0\x40", 8, "\0\0\x80\x3f\0\0\0\x40", 8},
        {16, "1", 5, "\x80\x7f", 2, "\x80\x3f", 2},
        {17, "1", 5, "\x38", 1, "\x38", 1},
        {21, "3", 5, "\x21\x03", 2, "\x21\x03", 2}, /* packed, first in the low bits */
        {22, "2", 5, "\xf8\x01", 2, "\xf8", 1},
        {25, "5", 5, "\x1b\x01", 2, "\x1b\x01", 2},
        {7, "0,5", 7, "", 0, "", 0},
        {1, "", 4, "\x00\x00\x80\x3f", 4, "\x00\x00\x80\x3f", 4},
    };
    for (size_t i = 0; i < HG_COUNT(good); i++) {
        make_fixture f;
        make_init(&f);
        make t = make_tensor(&f, "w", good[i].elem, good[i].dims, NULL, 0);
        make_bytes(&t, good[i].field, good[i].numbers, good[i].size);
        const hg_value *v = tensor_import(&f, &t);
        if (!CHECK(v != NULL)) hg_test_fail(HG_TEST_HERE, "row %zu: %s", i, f.error.message);
        if (v != NULL) {
            CHECK_EQ_INT(v->type.dtype, good[i].elem);
            CHECK_EQ_INT(v->constant->bytes, good[i].n_bytes);
            CHECK_MEM(v->constant->data, good[i].bytes, good[i].n_bytes);
        }
        make_deinit(&f);
    }
}

static void tensor_raw_data(void)
{
    static const float values[] = {1, 2, 3, 4, 5, 6};
    for (size_t shift = 0; shift < 8; shift++) { /* every alignment */
        make_fixture f;
        make_init(&f);
        make t = make_tensor(&f, "w", ELEM_F32, "2,3", NULL, 0);
        make_bytes(&t, 12, "........", shift);
        make_bytes(&t, 9, values, sizeof values);
        const hg_value *v = tensor_import(&f, &t);
        if (CHECK(v != NULL)) {
            CHECK_EQ_INT((uintptr_t)v->constant->data % sizeof(float), 0);
            CHECK_MEM(v->constant->data, values, sizeof values);
            CHECK(hg_dim_is(&f.graph.dims, v->type.dim[1], 3));
        }
        make_deinit(&f);
    }
}

static void tensor_views_aligned_bytes(void)
{
    make_fixture f;
    make_init(&f);
    make t = make_tensor(&f, "w", ELEM_U8, "3", NULL, 0);
    make_bytes(&t, 9, "abc", 3);
    const hg_value *v = tensor_import(&f, &t);
    if (CHECK(v != NULL)) CHECK_MEM(v->constant->data, "abc", 3);
    make e = make_tensor(&f, "w", ELEM_F32, "0", NULL, 0);
    make_bytes(&e, 9, "", 0);
    v = tensor_import(&f, &e);
    if (CHECK(v != NULL)) CHECK_EQ_INT(v->constant->bytes, 0);
    make_deinit(&f);
}

static void tensor_strings(void)
{
    make_fixture f;
    make_init(&f);
    make t = make_tensor(&f, "w", ELEM_STRING, "2", NULL, 0);
    make_text(&t, 6, "first");
    make_bytes(&t, 6, "a\0\xff", 3);
    const hg_value *v = tensor_import(&f, &t);
    if (CHECK(v != NULL)) {
        const holo_string *s = v->constant->data;
        CHECK_EQ_INT(v->constant->bytes, 2 * sizeof *s);
        CHECK_EQ_INT(s[0].length, 5);
        CHECK_MEM(s[0].text, "first", 5);
        CHECK_MEM(s[1].text, "a\0\xff", 3);
    }
    make_deinit(&f);
}

static void tensor_refuses(void)
{
    static const struct {
        int64_t elem;
        const char *dims;
        uint32_t field;
        const char *bytes;
        size_t size;
        const char *text;
    } bad[] = {
        {0, "1", 9, "x", 1, "element type 0"},
        {64, "1", 9, "x", 1, "element type 64"},
        {-5, "1", 9, "x", 1, "element type -5"},
        {27, "1", 9, "x", 1, "element type 27"},
        {1, "2", 9, "1234", 4, "raw_data has 4 bytes, expected 8 for 2 elements of float32"},
        {1, "2", 9, "123456789", 9, "raw_data has 9 bytes, expected 8"},
        {1, "2", 9, "", 0, "raw_data has 0 bytes, expected 8"},
        {1, "0", 9, "1234", 4, "raw_data has 4 bytes, expected 0"},
        {21, "3", 9, "x", 1, "raw_data has 1 bytes, expected 2"},
        {9, "2", 9, "\x01\x02", 2, "element 1 of a bool tensor is 2"},
        {9, "1", 5, "\x02", 1, "element 0 is 2, which is no bool"},
        {2, "1", 5, "\x80\x02", 2, "element 0 is 256, which is no uint8"},
        {3, "1", 5, "\xff\xfe\xff\xff\xff\xff\xff\xff\xff\x01", 10, "which is no int8"},
        {12, "1", 11, "\x80\x80\x80\x80\x10", 5, "which is no uint32"},
        {8, "1", 9, "x", 1, "strings in raw_data"},
        {1, "2", 4, "1234", 4, "float_data has 1 entries, expected 2"},
        {7, "1", 5, "\x01", 1, "another type, expected int64_data"},
        {6, "1", 7, "\x01", 1, "another type, expected int32_data"},
        {8, "2", 6, "one", 3, "string_data has 1 entries, expected 2"},
        {14, "1", 4, "1234", 4, "float_data has 1 entries, expected 2"},
        {21, "3", 5, "\x01", 1, "int32_data has 1 entries, expected 2"},
        {1, "-1", 9, "1234", 4, "dimension 0 is -1"},
        {1, "1,1,1,1,1,1,1,1,1", 9, "1234", 4, "rank 9"},
        {1, "4611686018427387904,4", 9, "1234", 4, "more than 68719476736 bytes"},
        {1, "9223372036854775807", 9, "1234", 4, "more than"},
        {1, "9223372036854775807,9223372036854775807,0", 9, "1234", 4, "more than"},
        {1, "1000000000000", 9, "1234", 4, "more than"},
        {1, "2", 12, "a doc", 5, "float_data has 0 entries, expected 2"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        make_fixture f;
        make_init(&f);
        make t = make_tensor(&f, "w", bad[i].elem, bad[i].dims, NULL, 0);
        make_bytes(&t, bad[i].field, bad[i].bytes, bad[i].size);
        if (!CHECK(tensor_import(&f, &t) == NULL)) hg_test_fail(HG_TEST_HERE, "row %zu", i);
        CHECK_HAS(f.error.message, "initializer 'w': ");
        CHECK_HAS(f.error.message, bad[i].text);
        make_deinit(&f);
    }
}

static void tensor_refuses_both_kinds_of_data(void)
{
    make_fixture f;
    make_init(&f);
    static const float one[] = {1};
    make t = make_tensor(&f, "w", ELEM_F32, "1", one, 1);
    make_bytes(&t, 9, one, 4);
    CHECK(tensor_import(&f, &t) == NULL);
    CHECK_HAS(f.error.message, "there twice, in raw_data and in a typed field");
    make s = make_tensor(&f, "w", ELEM_F32, "1", one, 1), segment = make_new(&f.arena);
    make_in(&s, 3, &segment);
    CHECK(tensor_import(&f, &s) == NULL);
    CHECK_HAS(f.error.message, "segments");
    make e = make_tensor(&f, "w", ELEM_F32, "1", one, 1);
    make_int(&e, 14, 1);
    CHECK(tensor_import(&f, &e) == NULL);
    CHECK_HAS(f.error.message, "there twice, in a typed field and in another file");
    make nameless = make_tensor(&f, "", ELEM_F32, "1", one, 1);
    CHECK(tensor_import(&f, &nameless) == NULL);
    CHECK_HAS(f.error.message, "no name");
    make_deinit(&f);
}

static void tensor_refuses_two_initializers(void)
{
    make_fixture f;
    make_init(&f);
    static const float one[] = {1};
    const make t = make_tensor(&f, "w", ELEM_F32, "1", one, 1);
    make g = make_new(&f.arena);
    const make w = make_value(&f, "w", ELEM_F32, NULL);
    make_in(&g, GRAPH_OUTPUT, &w);
    make_in(&g, GRAPH_INITIALIZER, &t);
    make_in(&g, GRAPH_INITIALIZER, &t);
    const make m = make_model(&f, &g, 13);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "'w' is defined twice");
    make_deinit(&f);
}

static void tensor_limit(void)
{
    make_fixture f;
    make_init(&f);
    static const float values[] = {1, 2};
    const make t = make_tensor(&f, "w", ELEM_F32, "2", values, 2);
    f.ctx.limits.tensor_bytes = 8;
    CHECK(tensor_import(&f, &t) != NULL);
    f.ctx.limits.tensor_bytes = 7;
    CHECK(tensor_import(&f, &t) == NULL);
    CHECK_EQ_INT(f.error.status, HOLO_E_LIMIT);
    make_deinit(&f);
}

/* ---- sparse ---------------------------------------------------------------------------------- */

static make tensor_sparse(make_fixture *f, const char *dims, const char *index_dims,
                          const int64_t *index, size_t n_index)
{
    static const float values[] = {10, 20};
    make s = make_new(&f->arena);
    const make v = make_tensor(f, "w", ELEM_F32, "2", values, 2);
    make i = make_tensor(f, "", ELEM_I64, index_dims, NULL, 0);
    const make shape = make_tensor(f, "", 0, dims, NULL, 0); /* dims are field 1 there */
    make_bytes(&i, 9, index, n_index * sizeof *index);
    make_in(&s, 1, &v);
    make_in(&s, 2, &i);
    hg_wire w = {shape.data, shape.data + shape.size};
    hg_wire_field field;
    const char *fault;
    while (hg_wire_next(&w, &field, &fault))
        if (field.number == 1) make_int(&s, 3, (int64_t)field.value);
    return s;
}

static void tensor_sparse_linear_and_coordinates(void)
{
    static const int64_t linear[] = {1, 5}, coordinates[] = {0, 1, 1, 2};
    static const float expected[] = {0, 10, 0, 0, 0, 20};
    for (int kind = 0; kind < 2; kind++) {
        make_fixture f;
        make_init(&f);
        const make s = kind == 0 ? tensor_sparse(&f, "2,3", "2", linear, 2)
                                 : tensor_sparse(&f, "2,3", "2,2", coordinates, 4);
        const make m = tensor_model(&f, 15, &s);
        if (CHECK_OK(make_import(&f, &m, NULL), &f.error)) {
            const hg_value *v =
                hg_graph_value(&f.graph, hg_region_out(&f.graph, HG_REGION_MAIN, 0));
            CHECK_EQ_INT(v->type.rank, 2);
            CHECK_MEM(v->constant->data, expected, sizeof expected);
        }
        make_deinit(&f);
    }
}

static void tensor_sparse_refuses(void)
{
    static const int64_t high[] = {1, 6}, low[] = {-1, 1}, same[] = {3, 3}, down[] = {3, 1};
    static const int64_t outside[] = {0, 1, 1, 3}, three[] = {0, 1, 2};
    static const struct {
        const char *dims, *index_dims;
        const int64_t *index;
        size_t n;
        const char *text;
    } bad[] = {
        {"2,3", "2", high, 2, "sparse index 6, expected 0 to 5"},
        {"2,3", "2", low, 2, "sparse index -1"},
        {"2,3", "2", same, 2, "ascending"},
        {"2,3", "2", down, 2, "ascending"},
        {"2,3", "2,2", outside, 4, "sparse index 3 in dimension 1, expected 0 to 2"},
        {"2,3", "3", three, 3, "fit neither [2] nor [2, 2]"},
        {"2,3", "1,2", high, 2, "fit neither"},
        {"1000000,1000000,1000000", "2", high, 2, "more than"},
        {"0,3", "2", high, 2, "sparse index 1, expected 0 to -1"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        make_fixture f;
        make_init(&f);
        const make s = tensor_sparse(&f, bad[i].dims, bad[i].index_dims, bad[i].index, bad[i].n);
        const make m = tensor_model(&f, 15, &s);
        CHECK(make_import(&f, &m, NULL) != HOLO_OK);
        CHECK_HAS(f.error.message, bad[i].text);
        make_deinit(&f);
    }
}

/* ---- Constant -------------------------------------------------------------------------------- */

/* Model whose output w is a Constant node with the attribute given. */
static holo_status tensor_constant(make_fixture *f, const make *attribute)
{
    make n = make_node(f, "k", "Constant", "", "w");
    if (attribute != NULL) make_in(&n, 5, attribute);
    const make m = tensor_model(f, GRAPH_NODE, &n);
    return make_import(f, &m, NULL);
}

static void tensor_constant_nodes(void)
{
    make_fixture f;
    make_init(&f);
    static const float one[] = {1.5f};
    static const int64_t place[] = {1, 5};
    make a = make_attr(&f, "value_int", 2);
    make_int(&a, 3, -4);
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "%w = const int64[] {-4}");
    a = make_attr(&f, "value_ints", 7);
    make_int(&a, 8, 1);
    make_int(&a, 8, 2);
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "const int64[2] {1, 2}");
    a = make_attr(&f, "value_float", 1);
    make_float(&a, 2, 0.5f);
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "const float32[] {0.5}");
    a = make_attr(&f, "value_floats", 6);
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "const float32[0]");
    a = make_attr(&f, "value_string", 3);
    make_text(&a, 4, "s");
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "const string[]");
    a = make_attr(&f, "value_strings", 8);
    make_text(&a, 9, "s");
    make_text(&a, 9, "t");
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "const string[2]");
    a = make_attr(&f, "value", 4);
    const make t = make_tensor(&f, "", ELEM_F32, "1", one, 1);
    make_in(&a, 5, &t);
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "%w = const float32[1] {1.5}");
    a = make_attr(&f, "sparse_value", 11);
    const make s = tensor_sparse(&f, "2,3", "2", place, 2);
    make_in(&a, 22, &s);
    CHECK_OK(tensor_constant(&f, &a), &f.error);
    CHECK_HAS(make_dump(&f), "%w = const float32[2,3]");
    make_deinit(&f);
}

static void tensor_constant_refuses(void)
{
    make_fixture f;
    make_init(&f);
    CHECK_STATUS(tensor_constant(&f, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "node 'k' (Constant): it has no value");
    make a = make_attr(&f, "bogus", 2);
    CHECK_STATUS(tensor_constant(&f, &a), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "'bogus' is not known");
    a = make_attr(&f, "value_int", 13);
    CHECK(tensor_constant(&f, &a) != HOLO_OK);
    make n = make_node(&f, "k", "Constant", "", "w");
    make_attr_int(&n, "value_int", 1);
    make_attr_int(&n, "value_int", 2);
    const make m = tensor_model(&f, GRAPH_NODE, &n);
    CHECK_STATUS(make_import(&f, &m, NULL), HOLO_E_MODEL);
    CHECK_HAS(f.error.message, "second value");
    make i = make_node(&f, "k", "Constant", "w", "w,v");
    const make many = tensor_model(&f, GRAPH_NODE, &i);
    CHECK_STATUS(make_import(&f, &many, NULL), HOLO_E_MODEL);
    make_deinit(&f);
}

const hg_test_case hg_tests_import_tensor[] = {
    {"typed_fields", tensor_typed_fields},
    {"raw_data", tensor_raw_data},
    {"views_aligned_bytes", tensor_views_aligned_bytes},
    {"strings", tensor_strings},
    {"refuses", tensor_refuses},
    {"refuses_both_kinds_of_data", tensor_refuses_both_kinds_of_data},
    {"refuses_two_initializers", tensor_refuses_two_initializers},
    {"limit", tensor_limit},
    {"sparse_linear_and_coordinates", tensor_sparse_linear_and_coordinates},
    {"sparse_refuses", tensor_sparse_refuses},
    {"constant_nodes", tensor_constant_nodes},
    {"constant_refuses", tensor_constant_refuses},
    {0},
};
