/* linear.c - LinearRegressor and LinearClassifier against sums in f64: all types, transforms and
 * label rules. */
#include "op/ml/ml.h"

static const holo_dtype linear_types[] = {HOLO_F32, HOLO_F64, HOLO_I64, HOLO_I32};

/* s[r] = x . w[r] + b[r], for one row. */
static void linear_row(const double *x, const double *w, const double *b, int rows, double *s)
{
    for (int r = 0; r < rows; r++) {
        s[r] = b[r];
        for (int k = 0; k < ML_FEATURES; k++)
            s[r] += x[k] * w[r * ML_FEATURES + k];
    }
}

/* Scores that PROBIT can take: between 0 and 1. */
static void linear_soften(double *x)
{
    for (int i = 0; i < ML_ROWS * ML_FEATURES; i++)
        x[i] = trunc(fabs(x[i])) / 32;
}

static void linear_regressor(void)
{
    for (int which = 0; which < 5; which++)
        for (size_t d = 0; d < 4; d++)
            for (int targets = 1; targets < 4; targets += 2) {
                double x[ML_ROWS * ML_FEATURES], w[12], b[3], y[3 * ML_ROWS];
                control f;
                char inputs[64];
                if (which == 4 && d > 1) continue;
                snprintf(inputs, sizeof inputs, "%%x: %s[n,c]", holo_dtype_text(linear_types[d]));
                if (!ml_open(&f, inputs, "%y",
                             "%%y = ai.onnx.ml:LinearRegressor(%%x) {coefficients=%s, "
                             "intercepts=%s, targets=%d, post_transform=\"%s\"}",
                             ml_numbers(targets * ML_FEATURES, 3, w), ml_numbers(targets, 24, b),
                             targets, ml_transforms[which]))
                    return;
                ml_features(x, linear_types[d]);
                if (which == 4) linear_soften(x);
                for (int r = 0; r < ML_ROWS; r++) {
                    linear_row(x + r * ML_FEATURES, w, b, targets, y + r * targets);
                    ml_transform(which, y + r * targets, targets);
                }
                holo_tensor t = ml_tensor(linear_types[d], 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
                ml_set(&f, 0, &t);
                if (control_run(&f)) ml_is(&f, 0, y, ML_ROWS * targets);
                control_close(&f);
            }
}

/* A vector is one row; other numbers of features are refused when they come. */
static void linear_regressor_shapes(void)
{
    control f;
    const double x[6] = {1, 2, 3, 4, 5, 6};
    if (!ml_open(&f, "%x: float32[c]", "%y",
                 "%%y = ai.onnx.ml:LinearRegressor(%%x) {coefficients=[1.0,2.0,0.5]}"))
        return;
    holo_tensor t = ml_tensor(HOLO_F32, 1, ML_DIMS(3), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) {
        ml_is(&f, 0, (const double[]){6.5}, 1);
        CHECK_EQ_INT(control_out(&f, 0).rank, 2);
    }
    t.dim[0] = 4;
    ml_set(&f, 0, &t);
    CHECK(holo_session_run(f.session, &f.error) != HOLO_OK);
    control_close(&f);
    ml_refuses("%x: float32[n,4]", "LinearRegressor(%x) {coefficients=[1.0,2.0,0.5]}",
               "input 0 has 4 features, expected 3");
    ml_refuses("%x: float32[n,3]", "LinearRegressor(%x) {coefficients=[1.0,2.0,0.5], targets=2}",
               "coefficients has 3 entries, expected a multiple of 2");
    ml_refuses("%x: float32[n,3]", "LinearRegressor(%x)", "coefficients has 0 entries");
    ml_refuses("%x: float32[n,3]", "LinearRegressor(%x) {coefficients=[1.0], targets=0}",
               "targets is 0");
    ml_refuses("%x: float32[n,1]", "LinearRegressor(%x) {coefficients=[1.0], intercepts=[1.0,2.0]}",
               "intercepts has 2 entries, expected 1");
    ml_refuses("%x: float32[n,1]",
               "LinearRegressor(%x) {coefficients=[1.0], post_transform=\"TANH\"}",
               "post_transform is \"TANH\"");
    ml_refuses("%x: float32[2,3,4]", "LinearRegressor(%x) {coefficients=[1.0]}", "rank 3");
}

/* ---- classifier
 * -------------------------------------------------------------------------------------------- */

static void linear_classifier_several(void)
{
    static const double label[3] = {30, -10, 20};
    for (int which = 0; which < 5; which++)
        for (size_t d = 0; d < 4; d++) {
            double x[ML_ROWS * ML_FEATURES], w[12], b[3], z[3 * ML_ROWS], y[ML_ROWS];
            control f;
            char inputs[64];
            if (which == 4 && d > 1) continue;
            snprintf(inputs, sizeof inputs, "%%x: %s[n,4]", holo_dtype_text(linear_types[d]));
            if (!ml_open(&f, inputs, "%y, %z",
                         "%%y, %%z = ai.onnx.ml:LinearClassifier(%%x) {coefficients=%s, "
                         "intercepts=%s, classlabels_ints=[30,-10,20], post_transform=\"%s\"}",
                         ml_numbers(12, 5, w), ml_numbers(3, 24, b), ml_transforms[which]))
                return;
            ml_features(x, linear_types[d]);
            if (which == 4) linear_soften(x);
            for (int r = 0; r < ML_ROWS; r++) {
                linear_row(x + r * ML_FEATURES, w, b, 3, z + 3 * r);
                y[r] = label[ml_largest(z + 3 * r, 3)];
                ml_transform(which, z + 3 * r, 3);
            }
            holo_tensor t = ml_tensor(linear_types[d], 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
            ml_set(&f, 0, &t);
            if (control_run(&f)) {
                ml_is(&f, 0, y, ML_ROWS);
                ml_is(&f, 1, z, 3 * ML_ROWS);
            }
            control_close(&f);
        }
}

/* One row of coefficients, two labels: scores -s and s. */
static void linear_classifier_two(void)
{
    for (int which = 0; which < 4; which++) {
        double x[ML_ROWS * ML_FEATURES], w[4], z[2 * ML_ROWS], s;
        control f;
        if (!ml_open(&f, "%x: float32[n,4]", "%y, %z",
                     "%%y, %%z = ai.onnx.ml:LinearClassifier(%%x) {coefficients=%s, "
                     "intercepts=[0.25], classlabels_strings=[\"no\",\"yes\"], "
                     "post_transform=\"%s\"}",
                     ml_numbers(4, 5, w), ml_transforms[which]))
            return;
        ml_features(x, HOLO_F32);
        holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
        ml_set(&f, 0, &t);
        if (!control_run(&f)) return;
        for (int r = 0; r < ML_ROWS; r++) {
            linear_row(x + r * ML_FEATURES, w, (const double[]){0.25}, 1, &s);
            ml_text_is(&f, 0, r, s > 0 ? "yes" : "no");
            z[2 * r] = -s;
            z[2 * r + 1] = s;
            ml_transform(which, z + 2 * r, 2);
        }
        ml_is(&f, 1, z, 2 * ML_ROWS);
        control_close(&f);
    }
}

/* One row, one label or none. Without intercepts the features say how many rows there are. */
static void linear_classifier_one(void)
{
    static const char *const labels[3] = {"classlabels_ints=[7]", "classlabels_strings=[\"on\"]",
                                          "multi_class=1"};
    for (int k = 0; k < 3; k++)
        for (int which = 0; which < 3; which += 2) {
            const double x[4] = {0.5, -1, 2, 1};
            control f;
            if (!ml_open(&f, "%x: float64[2,2]", "%y, %z",
                         "%%y, %%z = ai.onnx.ml:LinearClassifier(%%x) {coefficients=[1.0,1.0], %s, "
                         "post_transform=\"%s\"}",
                         labels[k], ml_transforms[which]))
                return;
            holo_tensor t = ml_tensor(HOLO_F64, 2, ML_DIMS(2, 2), x);
            double z[2] = {-0.5, 3};
            ml_transform(which, &z[0], 1);
            ml_transform(which, &z[1], 1);
            ml_set(&f, 0, &t);
            if (!control_run(&f)) return;
            ml_is(&f, 1, z, 2);
            if (k == 1) {
                ml_text_is(&f, 0, 0, "");
                ml_text_is(&f, 0, 1, "on");
            } else {
                ml_is(&f, 0, (const double[]){0, k == 0 ? 7 : 1}, 2);
            }
            control_close(&f);
        }
}

/* Scores so high that LOGISTIC makes them equal: the label is still that of the highest. */
static void linear_classifier_saturated(void)
{
    const double x[1] = {1};
    control f;
    if (!ml_open(&f, "%x: float32[1,1]", "%y",
                 "%%y, %%z = ai.onnx.ml:LinearClassifier(%%x) {coefficients=[50.0,70.0], "
                 "intercepts=[0.0,0.0], classlabels_ints=[3,4], post_transform=\"LOGISTIC\"}"))
        return;
    holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(1, 1), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) ml_is(&f, 0, (const double[]){4}, 1);
    control_close(&f);
}

static void linear_classifier_refuses(void)
{
    ml_refuses("%x: float32[n,2]",
               "LinearClassifier(%x) {coefficients=[1.0,2.0], intercepts=[1.0,2.0,3.0]}",
               "coefficients has 2 entries, expected a multiple of 3");
    ml_refuses("%x: float32[n,2]",
               "LinearClassifier(%x) {coefficients=[1.0,2.0,3.0,4.0], intercepts=[1.0,2.0], "
               "classlabels_ints=[1]}",
               "1 labels for 2 rows of coefficients");
    ml_refuses("%x: float32[n,2]",
               "LinearClassifier(%x) {coefficients=[1.0,2.0], classlabels_ints=[1,2], "
               "classlabels_strings=[\"a\"]}",
               "expected only one of them");
    ml_refuses("%x: float32[n,3]",
               "LinearClassifier(%x) {coefficients=[1.0,2.0], intercepts=[1.0], "
               "classlabels_ints=[1,2]}",
               "input 0 has 3 features, expected 2");
    ml_refuses("%x: float32[n,2]", "LinearClassifier(%x) {coefficients=[1,2]}",
               "attribute 'coefficients' is integers, expected floats");
}

const hg_test_case hg_tests_op_ml_linear[] = {
    {"regressor", linear_regressor},
    {"regressor_shapes", linear_regressor_shapes},
    {"classifier_several", linear_classifier_several},
    {"classifier_two", linear_classifier_two},
    {"classifier_one", linear_classifier_one},
    {"classifier_saturated", linear_classifier_saturated},
    {"classifier_refuses", linear_classifier_refuses},
    {0},
};
