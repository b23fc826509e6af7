/* older.c - older versions of operators, whose attributes and meaning were others: broadcasting by
 * axis, shapes and limits as attributes, sizes as floats, softmax of rows that are flattened. */
#include "oracle/oracle.h"

enum { OLDER_PARAMS = 1, OLDER_NEVER_LATE = 2, OLDER_SIZED = 4, OLDER_IN = 5, OLDER_OUT = 2 };

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
    if (o->flags & OLDER_NEVER_LATE) c.skip = 1U << ORA_LATE;
    ora_check(&c);
}

static void older_all(void)
{
    for (size_t i = 0; i < sizeof older_nodes / sizeof *older_nodes; i++)
        older_check(&older_nodes[i]);
}

const hg_test_case hg_tests_oracle_older[] = {{"nodes", older_all}, {0}};
