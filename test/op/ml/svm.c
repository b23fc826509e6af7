/* svm.c - SVMClassifier and SVMRegressor against sums in f64. */
#include "op/ml/ml.h"

static const char *const svm_kinds[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

/* With gamma 0.25, c 0.5 and degree 2. */
static double svm_near(int kind, const double *x, const double *v)
{
    double dot = 0, distance = 0;
    for (int i = 0; i < ML_FEATURES; i++) {
        dot += x[i] * v[i];
        distance += (x[i] - v[i]) * (x[i] - v[i]);
    }
    if (kind == 1) return pow(0.25 * dot + 0.5, 2);
    if (kind == 2) return exp(-0.25 * distance);
    return kind == 3 ? tanh(0.25 * dot + 0.5) : dot;
}

/* ---- regressor
 * -------------------------------------------------------------------------------------------- */

static void svm_regressor(void)
{
    enum { VECTORS = 5 };
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_I64, HOLO_I32};
    for (int kind = 0; kind < 4; kind++)
        for (size_t d = 0; d < 4; d++)
            for (int one_class = 0; one_class < 2; one_class++) {
                double x[ML_ROWS * ML_FEATURES], v[VECTORS * ML_FEATURES], w[VECTORS], y[ML_ROWS];
                control f;
                char inputs[64];
                snprintf(inputs, sizeof inputs, "%%x: %s[n,c]", holo_dtype_text(types[d]));
                if (!ml_open(&f, inputs, "%y",
                             "%%y = ai.onnx.ml:SVMRegressor(%%x) {kernel_type=\"%s\", "
                             "kernel_params=[0.25,0.5,2.0], support_vectors=%s, coefficients=%s, "
                             "n_supports=5, rho=[0.125], one_class=%d}",
                             svm_kinds[kind], ml_numbers(VECTORS * ML_FEATURES, 1, v),
                             ml_numbers(VECTORS, 9, w), one_class))
                    return;
                ml_features(x, types[d]);
                for (int r = 0; r < ML_ROWS; r++) {
                    y[r] = 0.125;
                    for (int k = 0; k < VECTORS; k++)
                        y[r] += w[k] * svm_near(kind, x + r * ML_FEATURES, v + k * ML_FEATURES);
                    if (one_class) y[r] = y[r] > 0 ? 1 : -1;
                }
                holo_tensor t = ml_tensor(types[d], 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
                ml_set(&f, 0, &t);
                if (control_run(&f)) ml_is(&f, 0, y, ML_ROWS);
                control_close(&f);
            }
}

static void svm_regressor_linear(void)
{
    const double x[4] = {1, 2, -3, 1};
    control f;
    if (!ml_open(&f, "%x: float32[2,2]", "%y",
                 "%%y = ai.onnx.ml:SVMRegressor(%%x) {coefficients=[0.5,-1.0], rho=[0.25], "
                 "kernel_type=\"RBF\", post_transform=\"LOGISTIC\"}"))
        return;
    double y[2] = {-1.25, -2.25};
    ml_transform(2, &y[0], 1);
    ml_transform(2, &y[1], 1);
    holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(2, 2), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) ml_is(&f, 0, y, 2);
    control_close(&f);
}

/* ---- classifier
 * -------------------------------------------------------------------------------------------- */

enum { SVM_MOST = 3, SVM_VECTORS = 8 };
static const int svm_per_class[2][SVM_MOST] = {{5, 3, 0}, {3, 1, 4}};

/* Score of classes i and j, i < j, by the coefficients [classes - 1, vectors]. */
static double svm_pair(const int *per_class, const double *w, const double *near, int i, int j)
{
    double s = 0;
    for (int k = 0, c = 0, left = per_class[0]; k < SVM_VECTORS; k++, left--) {
        while (left == 0)
            left = per_class[++c];
        if (c == i) s += w[(j - 1) * SVM_VECTORS + k] * near[k];
        if (c == j) s += w[i * SVM_VECTORS + k] * near[k];
    }
    return s;
}

/* Scores of all pairs and the number of the winner. */
static int svm_vote(int classes, const double *w, const double *near, const double *rho, double *s)
{
    double wins[SVM_MOST] = {0};
    int pair = 0;
    for (int i = 0; i < classes; i++)
        for (int j = i + 1; j < classes; j++, pair++) {
            s[pair] = svm_pair(svm_per_class[classes - 2], w, near, i, j) + rho[pair];
            wins[s[pair] > 0 ? i : j]++;
        }
    return ml_largest(wins, classes);
}

static void svm_classifier(void)
{
    static const double label[SVM_MOST] = {4, 9, -2};
    for (int kind = 0; kind < 4; kind++)
        for (int classes = 2; classes < 4; classes++)
            for (int which = 0; which < 4; which++) {
                double x[ML_ROWS * ML_FEATURES], v[SVM_VECTORS * ML_FEATURES], w[2 * SVM_VECTORS];
                double rho[3], y[ML_ROWS], z[3 * ML_ROWS], near[SVM_VECTORS];
                const int pairs = classes * (classes - 1) / 2, columns = classes == 2 ? 2 : pairs;
                control f;
                if (!ml_open(&f, "%x: float32[n,4]", "%y, %z",
                             "%%y, %%z = ai.onnx.ml:SVMClassifier(%%x) {kernel_type=\"%s\", "
                             "kernel_params=[0.25,0.5,2.0], support_vectors=%s, coefficients=%s, "
                             "rho=%s, vectors_per_class=%s, classlabels_ints=%s, "
                             "post_transform=\"%s\"}",
                             svm_kinds[kind], ml_numbers(SVM_VECTORS * ML_FEATURES, 1, v),
                             ml_numbers((classes - 1) * SVM_VECTORS, 9, w),
                             ml_numbers(pairs, 4, rho), classes == 2 ? "[5,3]" : "[3,1,4]",
                             classes == 2 ? "[4,9]" : "[4,9,-2]", ml_transforms[which]))
                    return;
                ml_features(x, HOLO_F32);
                for (int r = 0; r < ML_ROWS; r++) {
                    double *s = z + r * columns;
                    for (int k = 0; k < SVM_VECTORS; k++)
                        near[k] = svm_near(kind, x + r * ML_FEATURES, v + k * ML_FEATURES);
                    y[r] = label[svm_vote(classes, w, near, rho, s)];
                    if (classes == 2) s[1] = s[0], s[0] = -s[1];
                    ml_transform(which, s, columns);
                }
                holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(ML_ROWS, ML_FEATURES), x);
                ml_set(&f, 0, &t);
                if (control_run(&f)) {
                    ml_is(&f, 0, y, ML_ROWS);
                    ml_is(&f, 1, z, ML_ROWS * columns);
                }
                control_close(&f);
            }
}

/* Of two classes the method gives the probability of the pair itself, as near as it stops. */
static void svm_classifier_probability(void)
{
    const double x[2] = {1, -0.5};
    control f;
    if (!ml_open(&f, "%x: float32[2,1]", "%y, %z",
                 "%%y, %%z = ai.onnx.ml:SVMClassifier(%%x) {support_vectors=[1.0,2.0], "
                 "coefficients=[0.5,-1.0], rho=[0.25], vectors_per_class=[1,1], "
                 "classlabels_strings=[\"a\",\"b\"], prob_a=[-3.0], prob_b=[0.5]}"))
        return;
    holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(2, 1), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) {
        const holo_tensor z = control_out(&f, 1);
        for (int r = 0; r < 2; r++) {
            const double s = 0.5 * x[r] - 2 * x[r] + 0.25, p = 1 / (1 + exp(-3 * s + 0.5));
            ml_text_is(&f, 0, r, s > 0 ? "a" : "b");
            CHECK_NEAR(ml_get(&z, 2 * r), p, 0.01);
            CHECK_NEAR(ml_get(&z, 2 * r) + ml_get(&z, 2 * r + 1), 1, 1e-6);
        }
    }
    control_close(&f);
}

/* Without support vectors: one score for each class, the highest decides. */
static void svm_classifier_linear(void)
{
    const double x[4] = {1, 2, -3, 1};
    control f;
    if (!ml_open(
            &f, "%x: float64[2,2]", "%y, %z",
            "%%y, %%z = ai.onnx.ml:SVMClassifier(%%x) {coefficients=[0.5,-1.0,1.0,1.0,2.0,0.5],"
            " rho=[0.25], classlabels_ints=[7,8,9]}"))
        return;
    holo_tensor t = ml_tensor(HOLO_F64, 2, ML_DIMS(2, 2), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) {
        ml_is(&f, 0, (const double[]){8, 8}, 2);
        ml_is(&f, 1, (const double[]){-1.25, 3.25, 3.25, -2.25, -1.75, -5.25}, 6);
    }
    control_close(&f);
}

static void svm_refuses(void)
{
    static const char *const cases[][2] = {
        {"SVMRegressor(%x) {coefficients=[1.0,2.0]}", "rho has 0 entries"},
        {"SVMRegressor(%x) {coefficients=[1.0,2.0], rho=[1.0], kernel_type=\"TREE\"}",
         "kernel_type is \"TREE\""},
        {"SVMRegressor(%x) {coefficients=[1.0,2.0], rho=[1.0], kernel_params=[1.0]}",
         "kernel_params has 1 entries, expected 3"},
        {"SVMRegressor(%x) {coefficients=[1.0,2.0], rho=[1.0], n_supports=3}",
         "coefficients has 2 entries, expected 3"},
        {"SVMRegressor(%x) {coefficients=[1.0,2.0], rho=[1.0], n_supports=2, "
         "support_vectors=[1.0,2.0,3.0]}",
         "support_vectors has 3 entries, expected a multiple of 2"},
        {"SVMRegressor(%x) {coefficients=[1.0,2.0], rho=[1.0], n_supports=-1}", "n_supports is -1"},
        {"SVMRegressor(%x) {coefficients=[1.0,2.0,3.0], rho=[1.0]}",
         "input 0 has 2 features, expected 3"},
        {"SVMClassifier(%x) {coefficients=[1.0,2.0], rho=[1.0]}", "there are 0 labels"},
        {"SVMClassifier(%x) {coefficients=[1.0,2.0], rho=[1.0], classlabels_ints=[1,2,3]}",
         "coefficients has 2 entries, expected a multiple of 3"},
        {"SVMClassifier(%x) {coefficients=[1.0,2.0], rho=[1.0], classlabels_ints=[1,2], "
         "vectors_per_class=[2]}",
         "vectors_per_class has 1 entries for 2 labels"},
        {"SVMClassifier(%x) {coefficients=[1.0,2.0], rho=[1.0], classlabels_ints=[1,2], "
         "vectors_per_class=[2,-1]}",
         "vectors_per_class[1] is -1"},
        {"SVMClassifier(%x) {coefficients=[1.0,2.0], rho=[1.0], classlabels_ints=[1,2], "
         "vectors_per_class=[2,1]}",
         "coefficients has 2 entries, expected 3"},
        {"SVMClassifier(%x) {coefficients=[1.0,2.0], rho=[1.0,2.0], classlabels_ints=[1,2], "
         "vectors_per_class=[1,1]}",
         "rho has 2 entries, expected 1"},
        {"SVMClassifier(%x) {coefficients=[1.0,2.0], rho=[1.0], classlabels_ints=[1,2], "
         "vectors_per_class=[1,1], prob_a=[1.0]}",
         "prob_b has 0 entries, expected 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ml_refuses("%x: float32[n,2]", cases[i][0], cases[i][1]);
}

const hg_test_case hg_tests_op_ml_svm[] = {
    {"regressor", svm_regressor},
    {"regressor_linear", svm_regressor_linear},
    {"classifier", svm_classifier},
    {"classifier_probability", svm_classifier_probability},
    {"classifier_linear", svm_classifier_linear},
    {"refuses", svm_refuses},
    {0},
};
