/* older.c - older versions of operators, whose attributes and meaning were others: broadcasting by
 * axis, shapes and limits as attributes, sizes as floats, softmax of rows that are flattened. */
#include "oracle/oracle.h"

#include <stdio.h>

enum { OLDER_PARAMS = 1, OLDER_SIZED = 2, OLDER_IN = 5, OLDER_OUT = 2 };

typedef struct older_tensor {
    holo_dtype type; /* 0: none */
    const char *dims, *values;
} older_tensor;

typedef struct older {
    const char *op;
    int opset;
    const char *attrs;
    double error;
    older_tensor in[OLDER_IN], out[OLDER_OUT];
    unsigned flags;
} older;

static const older older_nodes[] = {
#include "oracle/older.inc"
};

static void older_check(const older *o)
{
    ora_case c = {.op = o->op, .attrs = o->attrs, .opset = o->opset};
    for (int i = 0; i < OLDER_IN && o->in[i].type != 0; i++) {
        ora *t = ora_of(o->in[i].type, o->in[i].dims, o->in[i].values);
        if (i > 0 && (o->flags & OLDER_PARAMS) != 0) t = ora_param(t);
        if (o->flags & OLDER_SIZED) t = ora_sized(t);
        c.in[c.n_in++] = t;
    }
    for (int i = 0; i < OLDER_OUT && o->out[i].type != 0; i++) {
        ora *t = ora_of(o->out[i].type, o->out[i].dims, o->out[i].values);
        for (int64_t k = 0; k < t->count; k++)
            t->v[k].tol = (long double)o->error * fmaxl(1, fabsl(t->v[k].re));
        c.out[c.n_out++] = t;
    }
    ora_check(&c);
}

bool ora_has_older(const char *op, int from, int end)
{
    for (size_t i = 0; i < sizeof older_nodes / sizeof *older_nodes; i++)
        if (strcmp(older_nodes[i].op, op) == 0 && older_nodes[i].opset >= from &&
            older_nodes[i].opset < end)
            return true;
    return false;
}

static void older_all(void)
{
    for (size_t i = 0; i < sizeof older_nodes / sizeof *older_nodes; i++)
        older_check(&older_nodes[i]);
}

/* Older versions of ai.onnx.ml; those of ai.onnx are in versions.inc. */
static const struct {
    const char *op;
    int from, end;
} older_ml[] = {
    {"ai.onnx.ml:LabelEncoder", 1, 2},           {"ai.onnx.ml:LabelEncoder", 2, 4},
    {"ai.onnx.ml:TreeEnsembleClassifier", 1, 3}, {"ai.onnx.ml:TreeEnsembleClassifier", 3, 5},
    {"ai.onnx.ml:TreeEnsembleRegressor", 1, 3},  {"ai.onnx.ml:TreeEnsembleRegressor", 3, 5}};

/* The rows of the other files fail when a version of their operators has no case; what is said here
 * is how many there are. */
static void older_pairs(void)
{
    size_t newest, before;
    const size_t ml = sizeof older_ml / sizeof *older_ml;
    ora_pairs(&newest, &before);
    for (size_t i = 0; i < ml; i++)
        if (!ora_has_older(older_ml[i].op, older_ml[i].from, older_ml[i].end))
            hg_test_fail(HG_TEST_HERE, "%s-%d: no row", older_ml[i].op, older_ml[i].from);
    printf("%zu operators and %zu older versions of them, each with a case\n", newest, before + ml);
}

const hg_test_case hg_tests_oracle_older[] = {{"nodes", older_all}, {"pairs", older_pairs}, {0}};
