/* map.c - maps as inputs, outputs and inside sequences: ZipMap, DictVectorizer and CastMap. */
#include "op/ml/ml.h"

/* A map of n keys and values that belong to the caller. */
static holo_tensor map_make(holo_tensor pair[2], holo_dtype key, void *keys, holo_dtype value,
                            void *values, int64_t n)
{
    pair[0] = (holo_tensor){.data = keys, .dim = {n}, .rank = 1, .dtype = key};
    pair[1] = (holo_tensor){.data = values, .dim = {n}, .rank = 1, .dtype = value};
    return (holo_tensor){.data = pair, .dim = {2}, .rank = 1, .dtype = HOLO_MAP};
}

static holo_string map_texts[] = {{"q", 1}, {"p", 1}, {"other", 5}};
static int64_t map_integers[] = {4, -7, 2};

/* ---- DictVectorizer
 * -------------------------------------------------------------------------------------------- */

static void map_vectorizer(void)
{
    float floats[] = {1, 2, 3};
    double doubles[] = {1, 2, 3};
    int64_t integers[] = {1, 2, 3};
    static const char *const types[] = {"float32", "float64", "int64"};
    static const holo_dtype values[] = {HOLO_F32, HOLO_F64, HOLO_I64};
    void *data[] = {floats, doubles, integers};
    for (int text = 0; text < 2; text++)
        for (int v = 0; v < 3; v++) {
            holo_tensor pair[2], map = map_make(pair, text ? HOLO_STRING : HOLO_I64,
                                                text ? (void *)map_texts : (void *)map_integers,
                                                values[v], data[v], 3);
            char inputs[64];
            control f;
            snprintf(inputs, sizeof inputs, "%%m: map(%s,%s)", text ? "string" : "int64", types[v]);
            if (!ml_open(&f, inputs, "%y", "%%y = ai.onnx.ml:DictVectorizer(%%m) {%s}",
                         text ? "string_vocabulary=[\"p\",\"none\",\"q\",\"p\"]"
                              : "int64_vocabulary=[-7,0,4,-7]"))
                return;
            ml_set(&f, 0, &map);
            if (control_run(&f)) {
                ml_is(&f, 0, (const double[]){2, 0, 1, 2}, 4);
                CHECK_EQ_INT(control_out(&f, 0).dtype, values[v]);
                CHECK_EQ_INT(control_out(&f, 0).dim[0], 1);
            }
            control_close(&f);
        }
}

static void map_vectorizer_texts(void)
{
    holo_string value[3] = {{"four", 4}, {"minus", 5}, {"two", 3}};
    holo_tensor pair[2], map = map_make(pair, HOLO_I64, map_integers, HOLO_STRING, value, 3);
    control f;
    if (!ml_open(&f, "%m: map(int64,string)", "%y",
                 "%%y = ai.onnx.ml:DictVectorizer(%%m) {int64_vocabulary=[2,3,4]}"))
        return;
    ml_set(&f, 0, &map);
    if (control_run(&f)) {
        ml_text_is(&f, 0, 0, "two");
        ml_text_is(&f, 0, 1, "");
        ml_text_is(&f, 0, 2, "four");
    }
    pair[0].dim[0] = pair[1].dim[0] = 0; /* an empty map */
    ml_set(&f, 0, &map);
    if (control_run(&f)) ml_text_is(&f, 0, 0, "");
    pair[0].dim[0] = pair[1].dim[0] = 3;
    pair[0].dtype = HOLO_F64; /* not what the model takes */
    ml_set(&f, 0, &map);
    CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_TYPE);
    CHECK_HAS(f.error.message, "the keys of a map are float64");
    control_close(&f);
}

/* ---- CastMap
 * -------------------------------------------------------------------------------------------- */

static void map_cast(void)
{
    float value[3] = {1.75f, -2.25f, 3};
    holo_tensor pair[2], map = map_make(pair, HOLO_I64, map_integers, HOLO_F32, value, 3);
    control f;
    if (!ml_open(&f, "%m: map(int64,float32)", "%y, %z, %w",
                 "%%y = ai.onnx.ml:CastMap(%%m)\n"
                 "%%z = ai.onnx.ml:CastMap(%%m) {cast_to=\"TO_INT64\"}\n"
                 "%%w = ai.onnx.ml:CastMap(%%m) {cast_to=\"TO_STRING\"}"))
        return;
    ml_set(&f, 0, &map);
    if (control_run(&f)) {
        ml_is(&f, 0, (const double[]){-2.25, 3, 1.75}, 3);
        ml_is(&f, 1, (const double[]){-2, 3, 1}, 3);
        ml_text_is(&f, 2, 0, "-2.25");
    }
    map_integers[2] = 4; /* a key twice */
    CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
    CHECK_HAS(f.error.message, "a key is twice in a map");
    map_integers[2] = 2;
    control_close(&f);
}

static void map_cast_sparse(void)
{
    int64_t key[2] = {3, 0};
    holo_string value[2] = {{"1.5", 3}, {"-2", 2}};
    holo_tensor pair[2], map = map_make(pair, HOLO_I64, key, HOLO_STRING, value, 2);
    control f;
    if (!ml_open(&f, "%m: map(int64,string)", "%y, %w",
                 "%%y = ai.onnx.ml:CastMap(%%m) {map_form=\"SPARSE\", max_map=4}\n"
                 "%%w = ai.onnx.ml:CastMap(%%m) {map_form=\"SPARSE\", max_map=4, "
                 "cast_to=\"TO_STRING\"}"))
        return;
    ml_set(&f, 0, &map);
    if (control_run(&f)) {
        ml_is(&f, 0, (const double[]){-2, 0, 0, 1.5}, 4);
        ml_text_is(&f, 1, 1, "");
        ml_text_is(&f, 1, 3, "1.5");
    }
    key[0] = 4;
    CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
    CHECK_HAS(f.error.message, "the place of a key");
    key[0] = -1;
    CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
    control_close(&f);
}

/* ---- ZipMap
 * -------------------------------------------------------------------------------------------- */

static void map_zip_is(const holo_tensor *sequence, int64_t rows, const char *const *keys)
{
    const holo_tensor *map = sequence->data;
    if (!CHECK_EQ_INT(sequence->dtype, HOLO_SEQUENCE) || !CHECK_EQ_INT(sequence->dim[0], rows))
        return;
    for (int64_t i = 0; i < rows; i++) {
        if (!CHECK_EQ_INT(map[i].dtype, HOLO_MAP)) return;
        const holo_tensor *pair = map[i].data;
        for (int64_t k = 0; k < 2; k++) {
            const holo_string *s = (const holo_string *)pair[0].data + k;
            if (CHECK_EQ_INT(s->length, strlen(keys[k]))) CHECK_MEM(s->text, keys[k], s->length);
            CHECK_NEAR(((const float *)pair[1].data)[k], (double)(2 * i + k), 0);
        }
    }
}

/* Computed, not an input: what the maps hold outlives the tensor it came from. */
static void map_zip(void)
{
    static const char *const keys[2] = {"x", "yz"};
    static _Alignas(64) uint8_t buffer[4096];
    const double x[6] = {0, -1, -2, -3, -4, -5};
    control f;
    if (!ml_open(
            &f, "%x: float32[n,2]", "%z, %w",
            "%%y = Neg(%%x)\n%%z = ai.onnx.ml:ZipMap(%%y) {classlabels_strings=[\"x\",\"yz\"]}\n"
            "%%u = Softmax(%%x)\n%%t = Transpose(%%u)\n%%w = MatMul(%%u, %%t)"))
        return;
    const holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(3, 2), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) {
        const holo_tensor z = control_out(&f, 0);
        map_zip_is(&z, 3, keys);
    }
    CHECK_OK(holo_session_set_output(f.session, 0, buffer, sizeof buffer, &f.error), &f.error);
    if (control_run(&f)) {
        const holo_tensor z = control_out(&f, 0);
        CHECK(z.data == buffer);
        map_zip_is(&z, 3, keys);
    }
    control_close(&f);
}

/* Through a sequence and back. */
static void map_zip_and_back(void)
{
    const double x[4] = {1, 2, 3, 4};
    control f;
    if (!ml_open(&f, "%x: float32[n,2], %i: int64[]", "%y, %n",
                 "%%s = ai.onnx.ml:ZipMap(%%x) {classlabels_int64s=[9,-9]}\n"
                 "%%m = SequenceAt(%%s, %%i)\n%%y = ai.onnx.ml:CastMap(%%m)\n"
                 "%%n = SequenceLength(%%s)"))
        return;
    const holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(2, 2), x);
    int64_t at = 1;
    ml_set(&f, 0, &t);
    control_scalar(&f, 1, HOLO_I64, &at);
    if (control_run(&f)) {
        ml_is(&f, 0, (const double[]){4, 3}, 2);
        ml_is(&f, 1, (const double[]){2}, 1);
    }
    control_close(&f);
}

static void map_refuses(void)
{
    static const char *const cases[][3] = {
        {"%x: float32[n,2]", "ZipMap(%x)", "classlabels_int64s and classlabels_strings have no"},
        {"%x: float32[n,3]", "ZipMap(%x) {classlabels_int64s=[1,2]}",
         "input 0 has 3 features, expected 2"},
        {"%x: float32[n,3]", "ZipMap(%x) {classlabels_int64s=[1,2,1]}", "labels 0 and 2 are equal"},
        {"%x: float32[n,2]", "CastMap(%x)", "input 0 is float32, expected a map"},
        {"%x: map(string,float32)", "CastMap(%x)", "a map from string to float32"},
        {"%x: map(int64,float32)", "CastMap(%x) {cast_to=\"TO_BOOL\"}", "cast_to is \"TO_BOOL\""},
        {"%x: map(int64,float32)", "CastMap(%x) {map_form=\"THIN\"}", "map_form is \"THIN\""},
        {"%x: map(int64,float32)", "CastMap(%x) {map_form=\"SPARSE\", max_map=0}", "max_map is 0"},
        {"%x: map(int64,float32)", "DictVectorizer(%x) {string_vocabulary=[\"a\"]}",
         "int64_vocabulary has no entries, but the keys are int64"},
        {"%x: map(int64,bool)", "DictVectorizer(%x) {int64_vocabulary=[1]}",
         "a map from int64 to bool is not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ml_refuses(cases[i][0], cases[i][1], cases[i][2]);
}

const hg_test_case hg_tests_op_ml_map[] = {
    {"vectorizer", map_vectorizer},
    {"vectorizer_texts", map_vectorizer_texts},
    {"cast", map_cast},
    {"cast_sparse", map_cast_sparse},
    {"zip", map_zip},
    {"zip_and_back", map_zip_and_back},
    {"refuses", map_refuses},
    {0},
};
