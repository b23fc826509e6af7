/* tree.c - TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier: one forest in all three
 * forms against a walk by hand; the rules for one class; trees that are refused. */
#include "op/ml/ml.h"

/* The forest, as the deprecated operators list it. Tree 7 asks x[0] <= 0.5, then x[1] > 0 or
 * x[2] == -0.25 (NaN goes the true way there); tree 3 is a leaf. */
#define TREE_NODES                                                                                 \
    "nodes_treeids=[7,7,7,7,7,7,7,3], nodes_nodeids=[0,1,2,10,11,12,13,0], "                       \
    "nodes_featureids=[0,1,2,0,0,0,0,0], nodes_values=[0.5,0.0,-0.25,0.0,0.0,0.0,0.0,0.0], "       \
    "nodes_modes=[\"BRANCH_LEQ\",\"BRANCH_GT\",\"BRANCH_EQ\",\"LEAF\",\"LEAF\",\"LEAF\",\"LEAF\"," \
    "\"LEAF\"], nodes_truenodeids=[1,10,12,0,0,0,0,0], nodes_falsenodeids=[2,11,13,0,0,0,0,0], "   \
    "nodes_missing_value_tracks_true=[0,0,1,0,0,0,0,0]"

/* Leaves 10 to 13 of tree 7. */
static int tree_leaf(const double *x)
{
    if (x[0] <= 0.5) return x[1] > 0 ? 0 : 1;
    return x[2] == -0.25 || isnan(x[2]) ? 2 : 3;
}

enum { TREE_ROWS = 6, TREE_FEATURES = 3 };
static const double tree_rows[TREE_ROWS * TREE_FEATURES] = {
    0.5, 1, 0, 0.5, 0, 0, 0.75, 9, -0.25, 0.75, 9, NAN, 9, 9, 9, NAN, 1, -0.25};

static void tree_set(control *f, holo_dtype dtype)
{
    const holo_tensor t = ml_tensor(dtype, 2, ML_DIMS(TREE_ROWS, TREE_FEATURES), tree_rows);
    ml_set(f, 0, &t);
}

/* ---- regressor
 * -------------------------------------------------------------------------------------------- */

/* Votes of leaf k of tree 7 for targets 0 and 1; tree 3 votes 0.5 for target 1. */
static const double tree_votes[4][2] = {{1, -1}, {2, -2}, {4, -4}, {8, -8}};

static double tree_score(int aggregate, const double *x, int target)
{
    const double own = tree_votes[tree_leaf(x)][target], other = target == 1 ? 0.5 : 0;
    if (aggregate == 0) return (own + other) / 2;
    if (aggregate == 1) return own + other;
    if (target == 0) return own;
    return aggregate == 2 ? fmin(own, other) : fmax(own, other);
}

static void tree_regressor(void)
{
    static const char *const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64};
    for (size_t d = 0; d < 2; d++)
        for (int a = 0; a < 4; a++)
            for (int which = 0; which < 3; which++) {
                double y[2 * TREE_ROWS];
                control f;
                if (!ml_open(&f, d == 0 ? "%x: float32[n,c]" : "%x: float64[n,c]", "%y",
                             "%%y = ai.onnx.ml:TreeEnsembleRegressor(%%x) {" TREE_NODES
                             ", target_treeids=[7,7,7,7,7,7,7,7,3], "
                             "target_nodeids=[13,13,10,10,11,11,12,12,0], "
                             "target_ids=[0,1,0,1,0,1,0,1,1], "
                             "target_weights=[8.0,-8.0,1.0,-1.0,2.0,-2.0,4.0,-4.0,0.5], "
                             "n_targets=2, aggregate_function=\"%s\", base_values=[0.25,-0.5], "
                             "post_transform=\"%s\"}",
                             names[a], ml_transforms[which]))
                    return;
                for (int r = 0; r < TREE_ROWS; r++) {
                    for (int t = 0; t < 2; t++)
                        y[2 * r + t] = tree_score(a, tree_rows + r * TREE_FEATURES, t) +
                                       (t == 0 ? 0.25 : -0.5);
                    ml_transform(which, y + 2 * r, 2);
                }
                tree_set(&f, types[d]);
                if (control_run(&f)) ml_is(&f, 0, y, 2 * TREE_ROWS);
                control_close(&f);
            }
}

/* Doubles that float32 does not hold, integers, and a target that nobody votes for. */
static void tree_regressor_types(void)
{
    control f;
    const double x[2] = {0.1, 0.1 + 1e-12}, k[3] = {-1, 0, 1};
    if (!ml_open(&f, "%x: float64[2,1]", "%y",
                 "%%y = ai.onnx.ml:TreeEnsembleRegressor(%%x) {nodes_treeids=[0,0,0], "
                 "nodes_nodeids=[0,1,2], nodes_featureids=[0,0,0], nodes_values_as_tensor=const "
                 "float64[3] {0.1,0.0,0.0}, nodes_modes=[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\"], "
                 "nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], target_treeids=[0,0], "
                 "target_nodeids=[1,2], target_ids=[0,0], target_weights_as_tensor=const "
                 "float64[2] {1.5,2.5}, base_values_as_tensor=const float64[1] {10.0}}"))
        return;
    holo_tensor t = ml_tensor(HOLO_F64, 2, ML_DIMS(2, 1), x);
    ml_set(&f, 0, &t);
    if (control_run(&f)) ml_is(&f, 0, (const double[]){11.5, 12.5}, 2);
    control_close(&f);
    if (!ml_open(&f, "%x: int64[3,1]", "%y",
                 "%%y = ai.onnx.ml:TreeEnsembleRegressor(%%x) {nodes_treeids=[0,0,0], "
                 "nodes_nodeids=[0,1,2], nodes_featureids=[0,0,0], nodes_values=[0.0,0.0,0.0], "
                 "nodes_modes=[\"BRANCH_NEQ\",\"LEAF\",\"LEAF\"], nodes_truenodeids=[1,0,0], "
                 "nodes_falsenodeids=[2,0,0], target_treeids=[0,0], target_nodeids=[1,2], "
                 "target_ids=[1,1], target_weights=[1.0,2.0], n_targets=2, "
                 "aggregate_function=\"MIN\"}"))
        return;
    t = ml_tensor(HOLO_I64, 2, ML_DIMS(3, 1), k);
    ml_set(&f, 0, &t);
    if (control_run(&f)) {
        const double most = 3.4028234663852886e38;
        ml_is(&f, 0, (const double[]){most, 1, most, 2, most, 1}, 6);
    }
    control_close(&f);
}

/* ---- classifier
 * -------------------------------------------------------------------------------------------- */

static void tree_classifier_several(void)
{
    static const double votes[4][3] = {{0.5, 0.25, 0}, {0, 0.5, 0.25}, {0.125, 0, 0.5}, {0, 0, 0}};
    for (int which = 0; which < 4; which++) {
        double y[TREE_ROWS], z[3 * TREE_ROWS];
        control f;
        if (!ml_open(&f, "%x: float32[n,3]", "%y, %z",
                     "%%y, %%z = ai.onnx.ml:TreeEnsembleClassifier(%%x) {" TREE_NODES
                     ", class_treeids=[7,7,7,7,7,7,3], class_nodeids=[10,10,11,11,12,12,0], "
                     "class_ids=[0,1,1,2,0,2,1], "
                     "class_weights=[0.5,0.25,0.5,0.25,0.125,0.5,0.125], "
                     "classlabels_int64s=[5,6,4], post_transform=\"%s\"}",
                     ml_transforms[which]))
            return;
        for (int r = 0; r < TREE_ROWS; r++) {
            double *s = z + 3 * r;
            memcpy(s, votes[tree_leaf(tree_rows + r * TREE_FEATURES)], sizeof votes[0]);
            s[1] += 0.125;
            ml_transform(which, s, 3);
            y[r] = (const double[]){5, 6, 4}[ml_largest(s, 3)];
        }
        tree_set(&f, HOLO_F32);
        if (control_run(&f)) {
            ml_is(&f, 0, y, TREE_ROWS);
            ml_is(&f, 1, z, 3 * TREE_ROWS);
        }
        control_close(&f);
    }
}

/* All votes for one class: s, and 1 - s or -s. */
static void tree_classifier_one_score(void)
{
    static const double votes[4] = {0.375, 0.75, -0.25, 0.5};
    for (int which = 0; which < 5; which++)
        for (int id = 0; id < 2; id++)
            for (int labels = 1; labels < 3; labels++) {
                double z[2 * TREE_ROWS];
                control f;
                if (id == 1 && labels == 1) continue;
                if (!ml_open(&f, "%x: float32[n,3]", "%y, %z",
                             "%%y, %%z = ai.onnx.ml:TreeEnsembleClassifier(%%x) {" TREE_NODES
                             ", class_treeids=[7,7,7,7], class_nodeids=[10,11,12,13], "
                             "class_ids=[%d,%d,%d,%d], class_weights=[0.375,0.75,-0.25,0.5], "
                             "classlabels_strings=%s, base_values=[0.0625], "
                             "post_transform=\"%s\"}",
                             id, id, id, id, labels == 1 ? "[\"on\"]" : "[\"off\",\"on\"]",
                             ml_transforms[which]))
                    return;
                tree_set(&f, HOLO_F32);
                if (!control_run(&f)) return;
                for (int r = 0; r < TREE_ROWS; r++) {
                    const double s = votes[tree_leaf(tree_rows + r * TREE_FEATURES)] + 0.0625;
                    const bool share = which == 0 || which == 4;
                    z[2 * r] = share ? 1 - s : -s;
                    z[2 * r + 1] = s;
                    const bool on = z[2 * r + 1] > z[2 * r];
                    ml_transform(which, z + 2 * r, 2);
                    if (!isnan(z[2 * r]))
                        ml_text_is(&f, 0, r, on ? "on" : labels == 1 ? "" : "off");
                }
                ml_is(&f, 1, z, 2 * TREE_ROWS);
                control_close(&f);
            }
}

/* ---- TreeEnsemble
 * -------------------------------------------------------------------------------------------- */

static void tree_ensemble(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16};
    for (size_t d = 0; d < 3; d++)
        for (int a = 0; a < 4; a++) {
            double y[2 * TREE_ROWS];
            control f;
            char inputs[64];
            const char *name = holo_dtype_text(types[d]);
            snprintf(inputs, sizeof inputs, "%%x: %s[n,c]", name);
            /* leaves 0 to 3 are of tree 7, one target only; leaf 4 is the other tree */
            if (!ml_open(&f, inputs, "%y",
                         "%%y = ai.onnx.ml:TreeEnsemble(%%x) {tree_roots=[2,3], n_targets=2, "
                         "nodes_splits=const %s[4] {0.0,-0.25,0.5,0.0}, nodes_modes=const uint8[4] "
                         "{3,4,0,0}, nodes_featureids=[1,2,0,0], nodes_trueleafs=[1,1,0,1], "
                         "nodes_truenodeids=[0,2,0,4], nodes_falseleafs=[1,1,0,1], "
                         "nodes_falsenodeids=[1,3,1,4], nodes_missing_value_tracks_true=[0,1,0,0], "
                         "leaf_targetids=[0,0,0,0,1], leaf_weights=const %s[5] {1,2,4,8,0.5}, "
                         "aggregate_function=%d, post_transform=0}",
                         name, name, a))
                return;
            for (int r = 0; r < TREE_ROWS; r++) {
                y[2 * r] =
                    tree_votes[tree_leaf(tree_rows + r * TREE_FEATURES)][0] / (a == 0 ? 2 : 1);
                y[2 * r + 1] = a == 0 ? 0.25 : 0.5;
            }
            tree_set(&f, types[d]);
            if (control_run(&f)) ml_is(&f, 0, y, 2 * TREE_ROWS);
            CHECK_EQ_INT(control_out(&f, 0).dtype, types[d]);
            control_close(&f);
        }
}

/* x in {1, 3, 5, -2} or, where that is false, in {} (nothing but NaN, which goes the true way). */
static void tree_sets(void)
{
    const double x[8] = {1, 2, 3, 5, 6, -2, NAN, 0};
    for (int nan_is_true = 0; nan_is_true < 2; nan_is_true++) {
        control f;
        if (!ml_open(&f, "%x: float32[8,1]", "%y",
                     "%%y = ai.onnx.ml:TreeEnsemble(%%x) {tree_roots=[0], nodes_splits=const "
                     "float32[2] {0.0,0.0}, nodes_modes=const uint8[2] {6,6}, "
                     "nodes_featureids=[0,0], nodes_trueleafs=[1,1], nodes_truenodeids=[0,1], "
                     "nodes_falseleafs=[0,1], nodes_falsenodeids=[1,2], "
                     "nodes_missing_value_tracks_true=[%d,1], membership_values=const float32[7] "
                     "{5.0,1.0,3.0,-2.0,3.0,0x7fc00000,0x7fc00000}, leaf_targetids=[0,0,0], "
                     "leaf_weights=const float32[3] {1,2,3}}",
                     nan_is_true))
            return;
        const holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(8, 1), x);
        ml_set(&f, 0, &t);
        const double y[8] = {1, 3, 1, 1, 3, 1, nan_is_true ? 1 : 2, 3};
        if (control_run(&f)) ml_is(&f, 0, y, 8);
        control_close(&f);
    }
}

/* Two ways into one node: not a tree any more, but every walk ends. */
static void tree_shared_node(void)
{
    const double x[3] = {1, 2, 3};
    control f;
    if (!ml_open(&f, "%x: float32[3,1]", "%y",
                 "%%y = ai.onnx.ml:TreeEnsemble(%%x) {tree_roots=[0,2], nodes_splits=const "
                 "float32[3] {1.0,2.0,3.0}, nodes_modes=const uint8[3] {4,4,4}, "
                 "nodes_featureids=[0,0,0], nodes_trueleafs=[0,0,1], nodes_truenodeids=[2,2,0], "
                 "nodes_falseleafs=[0,1,1], nodes_falsenodeids=[1,2,1], leaf_targetids=[0,0,0], "
                 "leaf_weights=const float32[3] {1,2,4}}"))
        return;
    const holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(3, 1), x);
    ml_set(&f, 0, &t);
    /* tree 0: 1 and 2 lead to "x == 3", 3 to leaf 2; tree 1 is "x == 3" */
    if (control_run(&f)) ml_is(&f, 0, (const double[]){4, 4, 5}, 3);
    control_close(&f);
}

/* A feature that rows turn out not to have, one row and many. */
static void tree_feature_at_run_time(void)
{
    static const char *const modes[] = {"BRANCH_LEQ", "BRANCH_EQ"};
    static const double x[18];
    for (int i = 0; i < 4; i++) {
        control f;
        if (!ml_open(&f, "%x: float32[n,c]", "%y",
                     "%%y = ai.onnx.ml:TreeEnsembleRegressor(%%x) {nodes_treeids=[0,0,0], "
                     "nodes_nodeids=[0,1,2], nodes_featureids=[2,0,0], "
                     "nodes_values=[0.5,0.0,0.0], nodes_modes=[\"%s\",\"LEAF\",\"LEAF\"], "
                     "nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], target_treeids=[0], "
                     "target_nodeids=[1], target_ids=[0], target_weights=[1.0], n_targets=1}",
                     modes[i % 2]))
            return;
        const holo_tensor t = ml_tensor(HOLO_F32, 2, ML_DIMS(i < 2 ? 1 : 9, 2), x);
        ml_set(&f, 0, &t);
        CHECK_STATUS(holo_session_run(f.session, &f.error), HOLO_E_DATA);
        CHECK_HAS(f.error.message, "the number of a feature");
        control_close(&f);
    }
}

/* ---- refusals
 * -------------------------------------------------------------------------------------------- */

#define TREE_SMALL(values, modes, yes, no)                                                         \
    "nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[0,0,0], nodes_values=" values \
    ", nodes_modes=" modes ", nodes_truenodeids=" yes ", nodes_falsenodeids=" no
#define TREE_MODES "[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\"]"
#define TREE_VOTES "target_treeids=[0], target_nodeids=[1], target_ids=[0], target_weights=[1.0]"

static void tree_refuses_listed(void)
{
    static const char *const cases[][2] = {
        {TREE_SMALL("[1.0,1.0]", TREE_MODES, "[1,0,0]", "[2,0,0]") ", " TREE_VOTES,
         "nodes_values has 2 entries, expected 3"},
        {TREE_SMALL("[1.0,1.0,1.0]", "[\"BRANCH_LEQ\",\"LEAF\"]", "[1,0,0]",
                    "[2,0,0]") ", " TREE_VOTES,
         "nodes_modes has 2 entries, expected 3"},
        {TREE_SMALL("[1.0,1.0,1.0]", "[\"BRANCH_LEQ\",\"LEAF\",\"TWIG\"]", "[1,0,0]",
                    "[2,0,0]") ", " TREE_VOTES,
         "nodes_modes[2] is \"TWIG\""},
        {TREE_SMALL("[1.0,1.0,1.0]", TREE_MODES, "[1,0]", "[2,0,0]") ", " TREE_VOTES,
         "nodes_truenodeids has 2 entries, expected 3"},
        {TREE_SMALL("[1.0,1.0,1.0]", TREE_MODES, "[1,0,0]", "[3,0,0]") ", " TREE_VOTES,
         "nodes_falsenodeids[0] is 3, tree 0 has no such node"},
        {TREE_SMALL("[1.0,1.0,1.0]", TREE_MODES, "[0,0,0]", "[2,0,0]") ", " TREE_VOTES,
         "the nodes at 0 and 0 of nodes_* lie on a cycle"},
        {TREE_SMALL("[1.0,1.0,1.0]", "[\"BRANCH_LEQ\",\"BRANCH_EQ\",\"LEAF\"]", "[1,2,0]",
                    "[2,0,0]") ", " TREE_VOTES,
         "the nodes at 0 and 1 of nodes_* lie on a cycle"},
        {TREE_SMALL("[1.0,1.0,1.0]", TREE_MODES, "[1,0,0]",
                    "[2,0,0]") ", target_treeids=[0], target_nodeids=[5], target_ids=[0], "
                               "target_weights=[1.0]",
         "target_nodeids[0] is 5, tree 0 has no such node"},
        {TREE_SMALL("[1.0,1.0,1.0]", TREE_MODES, "[1,0,0]",
                    "[2,0,0]") ", target_treeids=[0], target_nodeids=[1], target_ids=[1], "
                               "target_weights=[1.0]",
         "target_ids[0] is 1, expected 0 to 0"},
        {TREE_SMALL("[1.0,1.0,1.0]", TREE_MODES, "[1,0,0]",
                    "[2,0,0]") ", target_treeids=[0], target_nodeids=[1], target_ids=[0], "
                               "target_weights=[1.0,2.0]",
         "target_treeids has 1 entries, expected 2"},
        {TREE_SMALL("[1.0,1.0,1.0]", TREE_MODES, "[1,0,0]", "[2,0,0]") ", " TREE_VOTES
                                                                       ", base_values=[1.0,2.0]",
         "base_values has 2 entries, expected 1"},
        {"nodes_treeids=[0,0], nodes_nodeids=[0,0], nodes_featureids=[0,0], "
         "nodes_values=[0.0,0.0], nodes_modes=[\"LEAF\",\"LEAF\"], nodes_truenodeids=[0,0], "
         "nodes_falsenodeids=[0,0]",
         "nodes_nodeids[1] is 0, tree 0 has that node already"},
        {"nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[2,0,0], "
         "nodes_values=[0.0,0.0,0.0], nodes_modes=" TREE_MODES ", nodes_truenodeids=[1,0,0], "
         "nodes_falsenodeids=[2,0,0], " TREE_VOTES,
         "nodes_featureids[0] is 2, expected 0 to 1"},
        {"n_targets=0", "n_targets is 0"},
        {"aggregate_function=\"MODE\"", "aggregate_function is \"MODE\""},
        {"n_targets=1", "nodes_nodeids has 0 entries"},
        {TREE_SMALL("[1.0,1.0,1.0], nodes_values_as_tensor=const float64[3] {0,0,0}", TREE_MODES,
                    "[1,0,0]", "[2,0,0]"),
         "nodes_values and nodes_values_as_tensor are both there"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[1024];
        snprintf(body, sizeof body, "TreeEnsembleRegressor(%%x) {%s}", cases[i][0]);
        ml_refuses("%x: float32[n,2]", body, cases[i][1]);
    }
    ml_refuses("%x: float32[n,2]", "TreeEnsembleClassifier(%x) {classlabels_int64s=ints[]}",
               "classlabels_int64s and classlabels_strings have no entries");
}

static void tree_refuses_ensemble(void)
{
    static const struct {
        const char *mode, *yes, *no, *root, *more, *sentence;
    } cases[] = {
        {"7", "0", "1", "0", "", "nodes_modes[0] is 7, expected 0 to 6"},
        {"0", "2", "1", "0", "", "nodes_truenodeids[0] is 2, expected one of 2 leaves"},
        {"0", "0", "-1", "0", "", "nodes_falsenodeids[0] is -1, expected one of 2 leaves"},
        {"0", "0", "1", "1", "", "tree_roots[0] is 1, expected 0 to 0"},
        {"0", "0", "1", "0", ", aggregate_function=4", "aggregate_function is 4"},
        {"0", "0", "1", "0", ", post_transform=5", "post_transform is 5"},
        {"0", "0", "1", "0", ", n_targets=0", "n_targets is 0"},
        {"6", "0", "1", "0", "", "membership_values has no set for the node at 0"},
        {"0", "0", "1", "0", ", membership_values=const float32[1] {1.0}",
         "membership_values has 1 entries"},
        {"6", "0", "1", "0", ", membership_values=const float32[1,1] {1.0}",
         "membership_values is float32 of rank 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "TreeEnsemble(%%x) {nodes_splits=const float32[1] {0.0}, nodes_modes=const "
            "uint8[1] {%s}, nodes_featureids=[0], nodes_trueleafs=[1], nodes_truenodeids=[%s], "
            "nodes_falseleafs=[1], nodes_falsenodeids=[%s], tree_roots=[%s], "
            "leaf_targetids=[0,0], leaf_weights=const float32[2] {1.0,2.0}%s}",
            cases[i].mode, cases[i].yes, cases[i].no, cases[i].root, cases[i].more);
        ml_refuses("%x: float32[n,2]", body, cases[i].sentence);
    }
    ml_refuses("%x: float32[n,2]",
               "TreeEnsemble(%x) {nodes_splits=const float32[1] {0.0}, nodes_modes=const uint8[1] "
               "{0}, nodes_featureids=[0], nodes_trueleafs=[0], nodes_truenodeids=[0], "
               "nodes_falseleafs=[1], nodes_falsenodeids=[0], tree_roots=[0], leaf_targetids=[1], "
               "leaf_weights=const float32[1] {1.0}}",
               "leaf_targetids[0] is 1, expected 0 to 0");
}

const hg_test_case hg_tests_op_ml_tree[] = {
    {"regressor", tree_regressor},
    {"regressor_types", tree_regressor_types},
    {"classifier_several", tree_classifier_several},
    {"classifier_one_score", tree_classifier_one_score},
    {"ensemble", tree_ensemble},
    {"sets", tree_sets},
    {"shared_node", tree_shared_node},
    {"feature_at_run_time", tree_feature_at_run_time},
    {"refuses_listed", tree_refuses_listed},
    {"refuses_ensemble", tree_refuses_ensemble},
    {0},
};
