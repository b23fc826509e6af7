/* loss.c - losses of classifiers. */
#include "oracle/oracle.h"

#include <stdio.h>

typedef struct loss_case {
    const char *dims, *reduction;
    int64_t ignore;
    bool weighted, ignored; /* ignored: ignore_index is given */
} loss_case;

/* Scores of element k of the labels: class c of x. */
static const wide *loss_score(const ora *x, const ora *labels, int64_t k, int64_t c)
{
    int64_t at[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
    ora_unravel(labels, k, at);
    from[0] = at[0];
    from[1] = c;
    for (int d = 2; d < x->rank; d++)
        from[d] = at[d - 1];
    return &x->v[ora_ravel(x, from)];
}

static void loss_log_softmax(const ora *x, const ora *labels, ora *out)
{
    for (int64_t k = 0; k < labels->count; k++) {
        long double sum = 0;
        for (int64_t c = 0; c < x->dim[1]; c++)
            sum += expl(loss_score(x, labels, k, c)->re);
        for (int64_t c = 0; c < x->dim[1]; c++) {
            const wide *from = loss_score(x, labels, k, c);
            out->v[from - x->v] =
                ora_near(x->type, from->re - logl(sum), 4, (long double)x->dim[1] + 16);
        }
    }
}

/* Losses by the labels, from log probabilities; what they are divided by in the mean. */
static long double loss_each(const ora *logs, const ora *labels, const ora *weights,
                             const loss_case *c, ora *out)
{
    long double total = 0;
    for (int64_t k = 0; k < labels->count; k++) {
        const int64_t label = (int64_t)labels->v[k].i;
        out->v[k] = (wide){.tol = 0};
        if (c->ignored && label == c->ignore) continue;
        const long double w = weights == NULL ? 1 : weights->v[label].re;
        out->v[k] = ora_near(logs->type, -loss_score(logs, labels, k, label)->re * w, 4,
                             (long double)logs->dim[1] + 24);
        total += w;
    }
    return total;
}

static const ora *loss_reduce(const ora *each, const char *reduction, long double total)
{
    if (strcmp(reduction, "none") == 0) return each;
    long double sum = 0, size = 0;
    for (int64_t k = 0; k < each->count; k++) {
        sum += each->v[k].re;
        size += fabsl(each->v[k].re) + 1;
    }
    const long double by = strcmp(reduction, "mean") == 0 ? total : 1;
    ora *y = ora_shape(each->type, "");
    y->v[0] = ora_near(each->type, sum / by, size / fabsl(by), (long double)each->count + 32);
    return y;
}

static ora *loss_labels(const ora *x, holo_dtype type, const loss_case *c)
{
    int64_t dim[HOLO_MAX_RANK];
    uint32_t state = 5;
    dim[0] = x->dim[0];
    for (int d = 2; d < x->rank; d++)
        dim[d - 1] = x->dim[d];
    ora *labels = ora_new(type, x->rank - 1, dim);
    for (int64_t k = 0; k < labels->count; k++)
        labels->v[k].i = c->ignored && k % 3 == 1 ? ora_wrap(type, (uint64_t)c->ignore)
                                                  : ora_random(&state) % (uint32_t)x->dim[1];
    return labels;
}

static void loss_check(const ora_row *row, holo_dtype type, holo_dtype index, const loss_case *c)
{
    const ora *x = ora_make(type, c->dims, ORA_UNIT, 1);
    const bool softmax = row->data != NULL;
    ora *labels = loss_labels(x, index, c), *each = ora_like(labels, type), *weights = NULL;
    const ora *logs = x;
    if (c->weighted) {
        weights = ora_new(type, 1, &x->dim[1]);
        for (int64_t k = 0; k < weights->count; k++)
            weights->v[k].re = 0.5L + (long double)(k % 4) / 4;
    }
    if (softmax) {
        ora *y = ora_like(x, type);
        loss_log_softmax(x, labels, y);
        logs = y;
    }
    const long double total = loss_each(logs, labels, weights, c, each);
    const ora *y = loss_reduce(each, c->reduction, total);
    char attrs[80];
    int used = snprintf(attrs, sizeof attrs, "reduction=\"%s\"", c->reduction);
    if (c->ignored)
        snprintf(attrs + used, sizeof attrs - (size_t)used, " ignore_index=%lld",
                 (long long)c->ignore);
    if (softmax) ORA_CHECK(row->op, attrs, ORA_IN(x, labels, weights), ORA_OUT(y, logs));
    ORA_CHECK(row->op, attrs, ORA_IN(x, labels, weights), ORA_OUT(y));
}

static void loss_row(const ora_row *row)
{
    static const char *const reductions[] = {"none", "sum", "mean"};
    static const char *const shapes[] = {"5,4", "3,5,6", "2,3,2,4", "2,3,2,1,3", "1,1"};
    static const int64_t ignores[] = {0, 2, -1, 255, -100};
    ORA_EACH_TYPE(type, row->op, "T")
    ORA_EACH_TYPE(index, row->op, "Tind")
    for (size_t k = 0; k < 5 * 3 * 4; k++) {
        const loss_case c = {.dims = shapes[k % 5],
                             .reduction = reductions[k / 5 % 3],
                             .ignore = ignores[k % 5],
                             .weighted = k / 15 % 2,
                             .ignored = k / 30 % 2};
        if (index == HOLO_I32 && k % 2) continue;
        if (c.ignored && k % 5 == 4) continue; /* one label */
        loss_check(row, type, index, &c);
    }
    loss_check(row, HOLO_F32, HOLO_I64, &(loss_case){.dims = "0,4", .reduction = "none"});
    loss_check(row, HOLO_F32, HOLO_I64, &(loss_case){.dims = "0,4", .reduction = "sum"});
    loss_check(row, HOLO_F32, HOLO_I64, &(loss_case){.dims = "2,3,0", .reduction = "none"});
    const ora *x = ora_make(HOLO_F32, "2,3", ORA_UNIT, 1);
    static const char *const wrong[] = {"0 3", "0 -1", "-3 1", "1 99"};
    ORA_EACH_TYPE(index, row->op, "Tind")
    for (size_t k = 0; k < 4; k++)
        ORA_REFUSE("", row->op, NULL, ORA_IN(x, ora_of(index, "2", wrong[k])),
                   ORA_OUT(ora_shape(HOLO_F32, "")));
    /* No int32 label is 2^32 + 1. */
    const ora *y = ora_of(HOLO_F32, "2", "-1 -2");
    if (row->data != NULL) return;
    ORA_CHECK(row->op, "reduction=\"none\" ignore_index=4294967297",
              ORA_IN(ora_of(HOLO_F32, "2,2", "1 1 2 2"), ora_of(HOLO_I32, "2", "1 1")), ORA_OUT(y));
}

const ora_row ora_rows_loss[] = {
    {"NegativeLogLikelihoodLoss", loss_row, NULL},
    {"SoftmaxCrossEntropyLoss", loss_row, "softmax"},
    {NULL, NULL, NULL},
};

static void loss_rows(void)
{
    ora_run(ora_rows_loss);
}

const hg_test_case hg_tests_oracle_loss[] = {{"rows", loss_rows}, {0}};
