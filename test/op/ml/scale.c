/* scale.c - Scaler, Normalizer, Imputer, Binarizer, ArrayFeatureExtractor and FeatureVectorizer. */
#include "op/ml/ml.h"

static const holo_dtype scale_types[] = {HOLO_F32, HOLO_F64, HOLO_I64, HOLO_I32};

/* Opens a graph of one node on rows of that type and runs it on the usual features. */
static bool scale_run(control *f, holo_dtype dtype, const char *shape, const char *body, double *x)
{
    char inputs[64];
    snprintf(inputs, sizeof inputs, "%%x: %s%s", holo_dtype_text(dtype), shape);
    if (!ml_open(f, inputs, "%y", "%%y = ai.onnx.ml:%s", body)) return false;
    const holo_tensor t = ml_tensor(dtype, 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
    ml_set(f, 0, &t);
    return control_run(f);
}

static void scale_scaler(void)
{
    static const double offset[4] = {0.5, -1, 2, 0}, scale[4] = {2, 0.25, -1, 8};
    static const char *const bodies[4] = {
        "Scaler(%x) {offset=[0.5,-1.0,2.0,0.0], scale=[2.0,0.25,-1.0,8.0]}",
        "Scaler(%x) {offset=[0.5], scale=[2.0]}", "Scaler(%x) {scale=[2.0,0.25,-1.0,8.0]}",
        "Scaler(%x)"};
    for (int k = 0; k < 4; k++)
        for (size_t d = 0; d < 4; d++)
            for (int symbolic = 0; symbolic < 2; symbolic++) {
                double x[ML_ROWS * ML_FEATURES], y[ML_ROWS * ML_FEATURES];
                control f;
                ml_features(x, scale_types[d]);
                for (int i = 0; i < ML_ROWS * ML_FEATURES; i++) {
                    const int c = k == 1 ? 0 : i % ML_FEATURES;
                    y[i] = (x[i] - (k < 2 ? offset[c] : 0)) * (k < 3 ? scale[c] : 1);
                }
                if (scale_run(&f, scale_types[d], symbolic ? "[n,c]" : "[n,4]", bodies[k], x))
                    ml_is(&f, 0, y, ML_ROWS * ML_FEATURES);
                CHECK_EQ_INT(control_out(&f, 0).dtype, HOLO_F32);
                control_close(&f);
            }
    ml_refuses("%x: float32[n,3]", "Scaler(%x) {offset=[1.0,2.0], scale=[1.0,2.0]}",
               "offset and scale have 2 entries");
    ml_refuses("%x: float32[n,3]", "Scaler(%x) {offset=[1.0,2.0], scale=[1.0]}",
               "offset has 2 entries and scale 1");
}

/* Another number of columns than the model has, found at run time; one is not repeated. */
static void scale_columns(void)
{
    static const char *const bodies[2] = {"Scaler(%x) {offset=[0.5,1.0,2.0], scale=[1.0,1.0,1.0]}",
                                          "Imputer(%x) {imputed_value_floats=[1.0,2.0,3.0]}"};
    for (int k = 0; k < 2; k++)
        for (int64_t columns = 1; columns < 7; columns++) {
            double x[12] = {0};
            control f;
            if (!ml_open(&f, "%x: float32[n,c]", "%y", "%%y = ai.onnx.ml:%s", bodies[k])) return;
            const holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(2, columns), x);
            ml_set(&f, 0, &t);
            const holo_status status = holo_session_run(f.session, &f.error);
            CHECK((status == HOLO_OK) == (columns == 3));
            control_close(&f);
        }
}

static void scale_normalizer(void)
{
    static const char *const names[3] = {"MAX", "L1", "L2"};
    for (int k = 0; k < 3; k++)
        for (size_t d = 0; d < 4; d++) {
            double x[ML_ROWS * ML_FEATURES], y[ML_ROWS * ML_FEATURES];
            char body[64];
            control f;
            ml_features(x, scale_types[d]);
            for (int i = 0; i < ML_FEATURES; i++)
                x[i] = 0; /* stays as it is */
            for (int r = 0; r < ML_ROWS; r++) {
                double most = -INFINITY, sum = 0, squares = 0;
                for (int i = r * ML_FEATURES; i < (r + 1) * ML_FEATURES; i++) {
                    most = fmax(most, x[i]);
                    sum += fabs(x[i]);
                    squares += x[i] * x[i];
                }
                const double by = k == 0 ? most : k == 1 ? sum : sqrt(squares);
                for (int i = r * ML_FEATURES; i < (r + 1) * ML_FEATURES; i++)
                    y[i] = by == 0 ? x[i] : x[i] / by;
            }
            snprintf(body, sizeof body, "Normalizer(%%x) {norm=\"%s\"}", names[k]);
            if (scale_run(&f, scale_types[d], "[n,c]", body, x))
                ml_is(&f, 0, y, ML_ROWS * ML_FEATURES);
            control_close(&f);
        }
    control f;
    if (!ml_open(&f, "%x: float32[c]", "%y", "%%y = ai.onnx.ml:Normalizer(%%x)")) return;
    const holo_tensor t = ml_tensor(HOLO_F32, 1, ML_DIMS(3), (const double[]){-4, 2, 1});
    ml_set(&f, 0, &t);
    if (control_run(&f)) ml_is(&f, 0, (const double[]){-2, 1, 0.5}, 3);
    control_close(&f);
    ml_refuses("%x: float32[n,3]", "Normalizer(%x) {norm=\"L3\"}", "norm is \"L3\"");
    ml_refuses("%x: float32[]", "Normalizer(%x)", "rank 0");
}

static void scale_imputer(void)
{
    for (size_t d = 0; d < 4; d++)
        for (int each = 0; each < 2; each++) {
            const bool floats = d < 2;
            const double gone = floats ? 0.125 : 1, value[4] = {9, 8, 7, 6};
            double x[ML_ROWS * ML_FEATURES], y[ML_ROWS * ML_FEATURES];
            control f;
            ml_features(x, scale_types[d]);
            for (int i = 0; i < ML_ROWS * ML_FEATURES; i++)
                y[i] = x[i] == gone ? value[each ? i % 4 : 0] : x[i];
            if (scale_run(&f, scale_types[d], "[n,4]",
                          floats ? each ? "Imputer(%x) {imputed_value_floats=[9.0,8.0,7.0,6.0], "
                                          "replaced_value_float=0.125}"
                                        : "Imputer(%x) {imputed_value_floats=[9.0], "
                                          "replaced_value_float=0.125}"
                          : each ? "Imputer(%x) {imputed_value_int64s=[9,8,7,6], "
                                   "replaced_value_int64=1}"
                                 : "Imputer(%x) {imputed_value_int64s=[9], "
                                   "replaced_value_int64=1}",
                          x))
                ml_is(&f, 0, y, ML_ROWS * ML_FEATURES);
            CHECK_EQ_INT(control_out(&f, 0).dtype, scale_types[d]);
            control_close(&f);
        }
}

static void scale_imputer_edges(void)
{
    control f;
    if (!ml_open(&f, "%x: float32[3], %k: int32[2]", "%y, %z",
                 "%%y = ai.onnx.ml:Imputer(%%x) {imputed_value_floats=[5.0], "
                 "replaced_value_float=nan}\n"
                 "%%z = ai.onnx.ml:Imputer(%%k) {imputed_value_int64s=[5], "
                 "replaced_value_int64=4294967296}"))
        return;
    const holo_tensor x = ml_tensor(HOLO_F32, 1, ML_DIMS(3), (const double[]){NAN, 1, -NAN});
    const holo_tensor k = ml_tensor(HOLO_I32, 1, ML_DIMS(2), (const double[]){0, 1});
    ml_set(&f, 0, &x);
    ml_set(&f, 1, &k);
    if (control_run(&f)) {
        ml_is(&f, 0, (const double[]){5, 1, 5}, 3);
        ml_is(&f, 1, (const double[]){0, 1}, 2); /* no int32 is 2^32 */
    }
    control_close(&f);
    ml_refuses("%x: float32[n,3]", "Imputer(%x) {imputed_value_int64s=[1]}",
               "imputed_value_floats has no entries, but input 0 is float32");
    ml_refuses("%x: int32[n,3]", "Imputer(%x) {imputed_value_int64s=[1,4294967296,2]}",
               "imputed_value_int64s[1] is 4294967296, which int32 cannot hold");
    ml_refuses("%x: int32[n,3]", "Imputer(%x) {imputed_value_int64s=[1,2]}",
               "2 imputed values do not fit the last dimension");
}

/* ---- Binarizer
 * -------------------------------------------------------------------------------------------- */

static void scale_binarizer(void)
{
    static const double thresholds[] = {0, 0.5, -0.5, -3, 2};
    for (size_t d = 0; d < 4; d++)
        for (int k = 0; k < 5; k++) {
            double x[ML_ROWS * ML_FEATURES], y[ML_ROWS * ML_FEATURES];
            char body[64];
            control f;
            ml_features(x, scale_types[d]);
            for (int i = 0; i < ML_ROWS * ML_FEATURES; i++)
                y[i] = x[i] > thresholds[k];
            snprintf(body, sizeof body, "Binarizer(%%x) {threshold=%.2f}", thresholds[k]);
            if (scale_run(&f, scale_types[d], "[n,c]", body, x))
                ml_is(&f, 0, y, ML_ROWS * ML_FEATURES);
            CHECK_EQ_INT(control_out(&f, 0).dtype, scale_types[d]);
            control_close(&f);
        }
}

/* Thresholds at the ends of the integers and beyond, and NaN. */
static void scale_binarizer_ends(void)
{
    static const struct {
        const char *threshold;
        int y[3]; /* of the least integer, 0, the largest */
    } cases[] = {{"nan", {0, 0, 0}},
                 {"1e30", {0, 0, 0}},
                 {"-1e30", {1, 1, 1}},
                 {"9223372036854775808.0", {0, 0, 0}},
                 {"-9223372036854775808.0", {0, 1, 1}},
                 {"9223371487098961920.0", {0, 0, 1}}};
    int64_t x[3] = {INT64_MIN, 0, INT64_MAX};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        control f;
        if (!ml_open(&f, "%x: int64[3]", "%y", "%%y = ai.onnx.ml:Binarizer(%%x) {threshold=%s}",
                     cases[i].threshold))
            return;
        control_set(&f, 0, HOLO_I64, x, 1, 3);
        if (control_run(&f))
            ml_is(&f, 0, (const double[]){cases[i].y[0], cases[i].y[1], cases[i].y[2]}, 3);
        control_close(&f);
    }
}

/* ---- columns
 * -------------------------------------------------------------------------------------------- */

static void scale_extractor(void)
{
    for (size_t d = 0; d < 4; d++) {
        double x[ML_ROWS * ML_FEATURES], y[3 * ML_ROWS];
        char inputs[64];
        control f;
        ml_features(x, scale_types[d]);
        for (int r = 0; r < ML_ROWS; r++)
            for (int k = 0; k < 3; k++)
                y[3 * r + k] = x[r * ML_FEATURES + (const int[]){3, 0, 3}[k]];
        snprintf(inputs, sizeof inputs, "%%x: %s[n,c], %%i: int64[1,3]",
                 holo_dtype_text(scale_types[d]));
        if (!ml_open(&f, inputs, "%y", "%%y = ai.onnx.ml:ArrayFeatureExtractor(%%x, %%i)")) return;
        const holo_tensor t = ml_tensor(scale_types[d], 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
        const holo_tensor k = ml_tensor(HOLO_I64, 2, ML_DIMS(1, 3), (const double[]){3, 0, 3});
        const holo_tensor bad = ml_tensor(HOLO_I64, 2, ML_DIMS(1, 3), (const double[]){3, 0, 4});
        ml_set(&f, 0, &t);
        ml_set(&f, 1, &k);
        if (control_run(&f)) ml_is(&f, 0, y, 3 * ML_ROWS);
        ml_set(&f, 1, &bad);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
        control_close(&f);
    }
}

/* A vector becomes a matrix of one row. */
static void scale_extractor_vector(void)
{
    holo_string text[3] = {{"a", 1}, {"b", 1}, {"c", 1}};
    const holo_tensor x = {.data = text, .dim = {3}, .rank = 1, .dtype = HOLO_STRING};
    control f;
    if (!ml_open(&f, "%x: string[c], %i: int64[2]", "%y",
                 "%%y = ai.onnx.ml:ArrayFeatureExtractor(%%x, %%i)"))
        return;
    const holo_tensor k = ml_tensor(HOLO_I64, 1, ML_DIMS(2), (const double[]){2, 1});
    ml_set(&f, 0, &x);
    ml_set(&f, 1, &k);
    if (control_run(&f)) {
        ml_text_is(&f, 0, 0, "c");
        ml_text_is(&f, 0, 1, "b");
        CHECK_EQ_INT(control_out(&f, 0).rank, 2);
        CHECK_EQ_INT(control_out(&f, 0).dim[0], 1);
    }
    control_close(&f);
}

/* The first input is cut to 2 columns, the second filled up to 6. */
static void scale_vectorizer(void)
{
    for (size_t d = 0; d < 4; d++)
        for (int symbolic = 0; symbolic < 2; symbolic++) {
            double x[ML_ROWS * ML_FEATURES], y[8 * ML_ROWS];
            const char *name = holo_dtype_text(scale_types[d]);
            const char *shape = symbolic ? "[n,c]" : "[n,4]";
            char inputs[64];
            control f;
            ml_features(x, scale_types[d]);
            for (int i = 0; i < 8 * ML_ROWS; i++)
                y[i] = i % 8 < 2   ? x[i / 8 * ML_FEATURES + i % 8]
                       : i % 8 < 6 ? x[i / 8 * ML_FEATURES + i % 8 - 2]
                                   : 0;
            snprintf(inputs, sizeof inputs, "%%x: %s%s, %%z: %s%s", name, shape, name, shape);
            if (!ml_open(&f, inputs, "%y",
                         "%%y = ai.onnx.ml:FeatureVectorizer(%%x, %%z) {inputdimensions=[2,6]}"))
                return;
            const holo_tensor t = ml_tensor(scale_types[d], 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
            ml_set(&f, 0, &t);
            ml_set(&f, 1, &t);
            if (control_run(&f)) ml_is(&f, 0, y, 8 * ML_ROWS);
            control_close(&f);
        }
    control f;
    if (!ml_open(&f, "%x: float32[2], %z: float32[1,1]", "%y",
                 "%%y = ai.onnx.ml:FeatureVectorizer(%%x, %%z)"))
        return;
    const holo_tensor x = ml_tensor(HOLO_F32, 1, ML_DIMS(2), (const double[]){1, 2});
    const holo_tensor z = ml_tensor(HOLO_F32, 2, ML_DIMS(1, 1), (const double[]){3});
    ml_set(&f, 0, &x);
    ml_set(&f, 1, &z);
    if (control_run(&f)) ml_is(&f, 0, (const double[]){1, 2, 3}, 3);
    control_close(&f);
    ml_refuses("%x: float32[n,2]", "FeatureVectorizer(%x) {inputdimensions=[1,2]}",
               "inputdimensions has 2 entries for 1 inputs");
    ml_refuses("%x: float32[n,2]", "FeatureVectorizer(%x) {inputdimensions=[-1]}",
               "inputdimensions[0] is -1");
    ml_refuses("%x: float32[n,2], %z: int64[n,2]", "FeatureVectorizer(%x, %z)", "int64");
}

const hg_test_case hg_tests_op_ml_scale[] = {
    {"scaler", scale_scaler},
    {"columns", scale_columns},
    {"normalizer", scale_normalizer},
    {"imputer", scale_imputer},
    {"imputer_edges", scale_imputer_edges},
    {"binarizer", scale_binarizer},
    {"binarizer_ends", scale_binarizer_ends},
    {"extractor", scale_extractor},
    {"extractor_vector", scale_extractor_vector},
    {"vectorizer", scale_vectorizer},
    {0},
};
