/* table.c - LabelEncoder of all versions, CategoryMapper and OneHotEncoder: every pair of types,
 * keys that repeat, NaN, and what is refused. */
#include "graph/fixture.h"
#include "op/ml/ml.h"

/* ---- LabelEncoder
 * -------------------------------------------------------------------------------------------- */

typedef struct table_list {
    const char *type, *list, *numbers; /* numbers of keys or values as the attribute's text */
    holo_dtype dtype;
} table_list;

/* Keys 3, -1, 3 and 0 as lists and tensors of all types but text. */
static const table_list table_keys[] = {
    {"int64", "keys_int64s=[3,-1,3,0]", "", HOLO_I64},
    {"float32", "keys_floats=[3.0,-1.0,3.0,0.0]", "", HOLO_F32},
    {"int64", "keys_tensor=const int64[4] {3,-1,3,0}", "", HOLO_I64},
    {"float32", "keys_tensor=const float32[4] {3,-1,3,0}", "", HOLO_F32},
    {"int32", "keys_tensor=const int32[4] {3,-1,3,0}", "", HOLO_I32},
    {"int16", "keys_tensor=const int16[4] {3,-1,3,0}", "", HOLO_I16},
    {"float64", "keys_tensor=const float64[4] {3,-1,3,0}", "", HOLO_F64},
};

/* Values 10, 20, 30, 40; the number for other keys in the third text. */
static const table_list table_values[] = {
    {"int64", "values_int64s=[10,20,30,40]", "-1", HOLO_I64},
    {"int64", "values_int64s=[10,20,30,40], default_int64=7", "7", HOLO_I64},
    {"float32", "values_floats=[10.0,20.0,30.0,40.0]", "0", HOLO_F32},
    {"float32", "values_floats=[10.0,20.0,30.0,40.0], default_float=2.5", "2.5", HOLO_F32},
    {"int16", "values_tensor=const int16[4] {10,20,30,40}", "-1", HOLO_I16},
    {"int32", "values_tensor=const int32[4] {10,20,30,40}, default_tensor=const int32[1] {9}", "9",
     HOLO_I32},
    {"float64", "values_tensor=const float64[4] {10,20,30,40}", "0", HOLO_F64},
    {"int64", "values_tensor=const int64[4] {10,20,30,40}, default_tensor=const int64[1] {9}", "9",
     HOLO_I64},
};

static void table_numbers(void)
{
    const double x[6] = {0, 3, 5, -1, 3, 2};
    for (size_t k = 0; k < sizeof table_keys / sizeof table_keys[0]; k++)
        for (size_t v = 0; v < sizeof table_values / sizeof table_values[0]; v++) {
            const double other = atof(table_values[v].numbers);
            char inputs[64];
            control f;
            snprintf(inputs, sizeof inputs, "%%x: %s[n,3]", table_keys[k].type);
            if (!ml_open(&f, inputs, "%y", "%%y = ai.onnx.ml:LabelEncoder(%%x) {%s, %s}",
                         table_keys[k].list, table_values[v].list))
                return;
            const holo_tensor t = ml_tensor(table_keys[k].dtype, 2, ML_DIMS(2, 3), x);
            ml_set(&f, 0, &t);
            if (control_run(&f)) {
                ml_is(&f, 0, (const double[]){40, 30, other, 20, 30, other}, 6);
                CHECK_EQ_INT(control_out(&f, 0).dtype, table_values[v].dtype);
            }
            control_close(&f);
        }
}

static void table_texts(void)
{
    holo_string text[4] = {{"b", 1}, {"nothing", 7}, {"", 0}, {"a", 1}};
    const holo_tensor x = {.data = text, .dim = {4}, .rank = 1, .dtype = HOLO_STRING};
    control f;
    if (!ml_open(&f, "%x: string[n]", "%y, %z, %w",
                 "%%y = ai.onnx.ml:LabelEncoder(%%x) {keys_strings=[\"a\",\"b\",\"\"], "
                 "values_int64s=[1,2,3]}\n"
                 "%%z = ai.onnx.ml:LabelEncoder(%%x) {keys_tensor=const string[3] "
                 "{\"a\",\"b\",\"\"}, values_strings=[\"A\",\"B\",\"\"]}\n"
                 "%%w = ai.onnx.ml:LabelEncoder(%%x) {keys_strings=[\"a\"], values_tensor=const "
                 "string[1] {\"A\"}, default_tensor=const string[1] {\"-\"}}"))
        return;
    ml_set(&f, 0, &x);
    if (control_run(&f)) {
        ml_is(&f, 0, (const double[]){2, -1, 3, 1}, 4);
        static const char *const z[4] = {"B", "_Unused", "", "A"};
        for (int i = 0; i < 4; i++) {
            ml_text_is(&f, 1, i, z[i]);
            ml_text_is(&f, 2, i, i == 3 ? "A" : "-");
        }
    }
    control_close(&f);
}

static void table_nan(void)
{
    const double x[4] = {NAN, -NAN, -0.0, 1};
    control f;
    if (!ml_open(&f, "%x: float32[4]", "%y",
                 "%%y = ai.onnx.ml:LabelEncoder(%%x) {keys_floats=[nan,0.0], "
                 "values_int64s=[5,6]}"))
        return;
    const holo_tensor t = ml_tensor(HOLO_F32, 1, ML_DIMS(4), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) ml_is(&f, 0, (const double[]){5, 5, 6, -1}, 4);
    control_close(&f);
}

/* Version 1: a list of texts, both ways, by the type of the input. */
static void table_version_1(void)
{
    static const char *const graphs[2] = {
        "graph(%x: string[3]) { %y = ai.onnx.ml:LabelEncoder(%x) {classes_strings=[\"a\",\"b\"], "
        "default_int64=-9} return %y }",
        "graph(%x: int64[3]) { %y = ai.onnx.ml:LabelEncoder(%x) {classes_strings=[\"a\",\"b\"], "
        "default_string=\"no\"} return %y }"};
    static const char *const expected[2][2] = {
        {"keys_strings=[\"a\",\"b\"]", "values_int64s=[0,1]"},
        {"keys_int64s=[0,1]", "values_strings=[\"a\",\"b\"]"}};
    for (int k = 0; k < 2; k++) {
        fixture *f = fixture_parse(graphs[k]);
        const hg_node_id id = hg_graph_region(&f->g, HG_REGION_MAIN)->first;
        CHECK_OK(hg_graph_node(&f->g, id)->op->upgrade(&f->g, id, 1), &f->error);
        CHECK_OK(hg_op_infer(&f->g, id), &f->error);
        CHECK_HAS(fixture_dump(f), expected[k][0]);
        CHECK_HAS(fixture_dump(f), expected[k][1]);
        CHECK_HAS(fixture_dump(f), k == 0 ? ": int64[3]" : ": string[3]");
        fixture_free(f);
    }
}

/* ---- CategoryMapper and OneHotEncoder
 * -------------------------------------------------------------------------------------------- */

static void table_categories(void)
{
    const double x[4] = {2, 7, -5, 2};
    control f;
    if (!ml_open(&f, "%x: int64[2,2]", "%y, %z",
                 "%%y = ai.onnx.ml:CategoryMapper(%%x) {cats_int64s=[2,-5], "
                 "cats_strings=[\"two\",\"minus\"], default_string=\"?\"}\n"
                 "%%z = ai.onnx.ml:CategoryMapper(%%y) {cats_int64s=[20,30], "
                 "cats_strings=[\"minus\",\"?\"]}"))
        return;
    const holo_tensor t = ml_tensor(HOLO_I64, 2, ML_DIMS(2, 2), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) {
        static const char *const y[4] = {"two", "?", "minus", "two"};
        for (int i = 0; i < 4; i++)
            ml_text_is(&f, 0, i, y[i]);
        ml_is(&f, 1, (const double[]){-1, 30, 20, -1}, 4);
    }
    control_close(&f);
}

static void table_one_hot(void)
{
    static const holo_dtype types[] = {HOLO_I64, HOLO_I32, HOLO_F32, HOLO_F64};
    for (size_t d = 0; d < 4; d++)
        for (int32_t rank = 0; rank < 3; rank++) {
            const double x[2] = {4.75, -1}; /* fractions are cut off */
            char inputs[64];
            control f;
            snprintf(inputs, sizeof inputs, "%%x: %s%s", holo_dtype_text(types[d]),
                     rank == 0   ? "[]"
                     : rank == 1 ? "[n]"
                                 : "[n,1]");
            if (!ml_open(&f, inputs, "%y",
                         "%%y = ai.onnx.ml:OneHotEncoder(%%x) {cats_int64s=[7,4,9,4]}"))
                return;
            const holo_tensor t = ml_tensor(types[d], rank, ML_DIMS(2, 1), x);
            ml_set(&f, 0, &t);
            if (control_run(&f)) {
                ml_is(&f, 0, (const double[]){0, 0, 0, 1, 0, 0, 0, 0}, rank == 0 ? 4 : 8);
                CHECK_EQ_INT(control_out(&f, 0).rank, rank + 1);
            }
            control_close(&f);
        }
}

static void table_one_hot_strict(void)
{
    holo_string text[2] = {{"b", 1}, {"a", 1}};
    const holo_tensor x = {.data = text, .dim = {2}, .rank = 1, .dtype = HOLO_STRING};
    control f;
    if (!ml_open(&f, "%x: string[2]", "%y",
                 "%%y = ai.onnx.ml:OneHotEncoder(%%x) {cats_strings=[\"a\",\"b\"], zeros=0}"))
        return;
    ml_set(&f, 0, &x);
    if (control_run(&f)) ml_is(&f, 0, (const double[]){0, 1, 1, 0}, 4);
    text[1].text = "c";
    CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
    CHECK_HAS(f.error.message, "an element is none of the categories");
    control_close(&f);
}

static void table_refuses(void)
{
    static const char *const cases[][2] = {
        {"LabelEncoder(%x) {keys_int64s=[1,2], values_int64s=[1]}", "2 keys for 1 values"},
        {"LabelEncoder(%x) {values_int64s=[1]}", "none of keys_tensor, keys_strings"},
        {"LabelEncoder(%x) {keys_int64s=[1]}", "none of values_tensor, values_strings"},
        {"LabelEncoder(%x) {keys_int64s=[1], keys_floats=[1.0], values_int64s=[1]}",
         "keys_floats is a second list"},
        {"LabelEncoder(%x) {keys_floats=[1.0], values_int64s=[1]}",
         "input 0 is int64, but the keys are float32"},
        {"LabelEncoder(%x) {keys_int64s=[1], values_tensor=const uint8[1] {1}}",
         "values_tensor holds uint8"},
        {"LabelEncoder(%x) {keys_int64s=[1], values_tensor=const int64[1,1] {1}}",
         "attribute 'values_tensor' has rank 2"},
        {"LabelEncoder(%x) {keys_int64s=[1], values_int64s=[1], default_tensor=const int64[2] "
         "{1,2}}",
         "default_tensor is int64 of 2 elements"},
        {"LabelEncoder(%x) {keys_int64s=[1], values_int64s=[1], default_tensor=const int32[1] "
         "{1}}",
         "default_tensor is int32 of 1 elements"},
        {"CategoryMapper(%x) {cats_int64s=[1,2], cats_strings=[\"a\"]}",
         "cats_strings has 1 entries and cats_int64s 2"},
        {"OneHotEncoder(%x)", "cats_int64s has no entries"},
        {"OneHotEncoder(%x) {cats_strings=[\"a\"]}", "cats_int64s has no entries"},
        {"OneHotEncoder(%x) {cats_int64s=[1], cats_strings=[\"a\"]}", "expected only one of them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ml_refuses("%x: int64[n]", cases[i][0], cases[i][1]);
}

const hg_test_case hg_tests_op_ml_table[] = {
    {"numbers", table_numbers},
    {"texts", table_texts},
    {"nan", table_nan},
    {"version_1", table_version_1},
    {"categories", table_categories},
    {"one_hot", table_one_hot},
    {"one_hot_strict", table_one_hot_strict},
    {"refuses", table_refuses},
    {0},
};
