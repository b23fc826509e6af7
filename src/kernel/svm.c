/* svm.c - support vector machines.
 *
 *   svm.near.t       in: rows, float32 or float64 [n,f]; support vectors, float32 [f,v]
 *                    param: hg_svm_kind, gamma, c, degree (floats)
 *                    out[0]: float64 [n,v]
 *   svm.vote         every pair of classes is told apart
 *                    in: what svm.near.t gives, [n,v]; coefficients, float32 [classes - 1, v];
 *                    vectors of each class, int64 [classes]; offsets, float32 [pairs]
 *                    out[0]: float64 [n,pairs], above 0 for the first of the two
 *                    out[1]: int64 [n], the class that wins most pairs, the first of equals
 *   svm.sum          in: what svm.near.t gives, [n,v]; coefficients, float32 [v]
 *                    out[0]: float64 [n,1]
 *   svm.probability  in: float64 [n,pairs]; a and b, float32 [pairs]
 *                    out[0]: float64 [n,classes]
 *
 * Pairs are (0,1), (0,2) ... (1,2) ... Probabilities of pairs, 1 / (1 + exp(a s + b)), become
 * probabilities of classes by the second method of Wu, Lin and Weng, as libsvm has it: at most
 * max(100, classes) rounds, until no probability is more than 0.005 / classes off. */
#include "kernel/svm_near.h"

#define SVM_FLOATS (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64))

int64_t hg_svm_near_units(const hg_args *a)
{
    return a->out[0].dim[0];
}

static holo_status svm_check_in(const hg_args *a, holo_error *e, uint32_t i, hg_types types,
                                int rank)
{
    HG_TRY(hg_check_in_type(a, e, i, types));
    return hg_check_rank(&a->in[i], e, "an input", rank, rank);
}

static holo_status svm_check_out(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_F64)));
    HG_TRY(hg_check_rank(&a->out[0], e, "the output", 2, 2));
    HG_REQUIRE(e, a->out[0].dim[0] == a->in[0].dim[0], HOLO_E_SHAPE,
               "%lld rows, the output has %lld", (long long)a->in[0].dim[0],
               (long long)a->out[0].dim[0]);
    return HOLO_OK;
}

/* ---- near
 * -------------------------------------------------------------------------------------------- */

holo_status hg_svm_near_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 4));
    HG_TRY(svm_check_in(a, e, 0, SVM_FLOATS, 2));
    HG_TRY(svm_check_in(a, e, 1, HG_TYPE_BIT(HOLO_F32), 2));
    HG_TRY(svm_check_out(a, e));
    HG_REQUIRE(e, a->in[0].dim[1] == a->in[1].dim[0], HOLO_E_SHAPE,
               "rows have %lld features, support vectors %lld", (long long)a->in[0].dim[1],
               (long long)a->in[1].dim[0]);
    HG_REQUIRE(e, a->out[0].dim[1] == a->in[1].dim[1], HOLO_E_SHAPE,
               "%lld support vectors, the output has %lld columns", (long long)a->in[1].dim[1],
               (long long)a->out[0].dim[1]);
    return hg_check_param(a, e, 0, "the kind", 0, HG_SVM_KINDS - 1);
}

static void near_run(const hg_args *a, hg_range r)
{
    hg_svm_near_rows(a, r);
}

void hg_svm_near_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 3.0 * (double)a->in[0].dim[0] * (double)a->in[0].dim[1] * (double)a->in[1].dim[0];
}

/* ---- vote
 * -------------------------------------------------------------------------------------------- */

static holo_status svm_check_pairs(holo_error *e, int64_t classes, int64_t pairs)
{
    HG_REQUIRE(e, classes >= 1 && classes <= 65535 && pairs == classes * (classes - 1) / 2,
               HOLO_E_SHAPE, "%lld pairs of %lld classes", (long long)pairs, (long long)classes);
    return HOLO_OK;
}

static holo_status vote_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 4, 4, 2, 0));
    HG_TRY(svm_check_in(a, e, 0, HG_TYPE_BIT(HOLO_F64), 2));
    HG_TRY(svm_check_in(a, e, 1, HG_TYPE_BIT(HOLO_F32), 2));
    HG_TRY(svm_check_in(a, e, 2, HG_TYPE_BIT(HOLO_I64), 1));
    HG_TRY(svm_check_in(a, e, 3, HG_TYPE_BIT(HOLO_F32), 1));
    HG_TRY(svm_check_out(a, e));
    HG_TRY(hg_check_out_type(a, e, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_rank(&a->out[1], e, "the list of winners", 1, 1));
    const int64_t classes = a->in[2].dim[0], vectors = a->in[0].dim[1];
    HG_TRY(svm_check_pairs(e, classes, a->in[3].dim[0]));
    HG_REQUIRE(e, a->out[0].dim[1] == a->in[3].dim[0], HOLO_E_SHAPE,
               "%lld pairs, the output has %lld columns", (long long)a->in[3].dim[0],
               (long long)a->out[0].dim[1]);
    HG_REQUIRE(e, a->out[1].dim[0] == a->in[0].dim[0], HOLO_E_SHAPE, "%lld rows, %lld winners",
               (long long)a->in[0].dim[0], (long long)a->out[1].dim[0]);
    HG_REQUIRE(e, a->in[1].dim[0] == classes - 1 && a->in[1].dim[1] == vectors, HOLO_E_SHAPE,
               "coefficients are [%lld,%lld] for %lld classes and %lld vectors",
               (long long)a->in[1].dim[0], (long long)a->in[1].dim[1], (long long)classes,
               (long long)vectors);
    return HOLO_OK;
}

/* Where the vectors of each class begin, then the votes for each. */
static size_t vote_scratch(const hg_args *a)
{
    return 2 * ((size_t)a->in[2].dim[0] + 1) * sizeof(int64_t);
}

/* False when the classes do not have as many vectors as there are. */
static bool vote_start(const hg_args *a, int64_t *start)
{
    const int64_t *count = a->in[2].data, classes = a->in[2].dim[0], vectors = a->in[0].dim[1];
    start[0] = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (count[c] < 0 || count[c] > vectors - start[c]) {
            hg_fault_range(a->fault, "the number of vectors of a class", c, count[c], 0,
                           vectors - start[c]);
            return false;
        }
        start[c + 1] = start[c] + count[c];
    }
    return true;
}

static void vote_row(const hg_args *a, int64_t row, const int64_t *start, int64_t *votes)
{
    const int64_t classes = a->in[2].dim[0], vectors = a->in[0].dim[1];
    const double *near = (const double *)a->in[0].data + row * vectors;
    const float *c = a->in[1].data, *offset = a->in[3].data;
    double *score = (double *)a->out[0].data + row * a->out[0].dim[1];
    int64_t winner = 0;
    for (int64_t i = 0; i < classes; i++)
        votes[i] = 0;
    for (int64_t i = 0, pair = 0; i < classes; i++)
        for (int64_t j = i + 1; j < classes; j++, pair++) {
            score[pair] = hg_svm_weigh(c + (j - 1) * vectors, near, start[i], start[i + 1]) +
                          hg_svm_weigh(c + i * vectors, near, start[j], start[j + 1]) +
                          (double)offset[pair];
            votes[score[pair] > 0 ? i : j]++;
        }
    for (int64_t i = 1; i < classes; i++)
        if (votes[i] > votes[winner]) winner = i;
    ((int64_t *)a->out[1].data)[row] = winner;
}

static void vote_run(const hg_args *a, hg_range r)
{
    int64_t *start = r.scratch;
    if (!vote_start(a, start)) return;
    for (int64_t row = r.begin; row < r.end; row++)
        vote_row(a, row, start, start + a->in[2].dim[0] + 1);
}

/* ---- sum
 * -------------------------------------------------------------------------------------------- */

holo_status hg_svm_sum_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, 0));
    HG_TRY(svm_check_in(a, e, 0, HG_TYPE_BIT(HOLO_F64), 2));
    HG_TRY(svm_check_in(a, e, 1, HG_TYPE_BIT(HOLO_F32), 1));
    HG_TRY(svm_check_out(a, e));
    HG_REQUIRE(e, a->in[1].dim[0] == a->in[0].dim[1] && a->out[0].dim[1] == 1, HOLO_E_SHAPE,
               "%lld coefficients for %lld vectors, the output has %lld columns",
               (long long)a->in[1].dim[0], (long long)a->in[0].dim[1], (long long)a->out[0].dim[1]);
    return HOLO_OK;
}

static void sum_run(const hg_args *a, hg_range r)
{
    hg_svm_sum_rows(a, r);
}

/* ---- probability
 * -------------------------------------------------------------------------------------------- */

static holo_status probability_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 0));
    HG_TRY(svm_check_in(a, e, 0, HG_TYPE_BIT(HOLO_F64), 2));
    for (uint32_t i = 1; i < 3; i++) {
        HG_TRY(svm_check_in(a, e, i, HG_TYPE_BIT(HOLO_F32), 1));
        HG_REQUIRE(e, a->in[i].dim[0] == a->in[0].dim[1], HOLO_E_SHAPE,
                   "%lld pairs, but %lld of their numbers", (long long)a->in[0].dim[1],
                   (long long)a->in[i].dim[0]);
    }
    HG_TRY(svm_check_out(a, e));
    return svm_check_pairs(e, a->out[0].dim[1], a->in[0].dim[1]);
}

/* q, [classes,classes], and its product with p. */
static size_t probability_scratch(const hg_args *a)
{
    const size_t classes = (size_t)a->out[0].dim[1];
    return a->out[0].dim[0] == 0 ? 0 : (classes * classes + classes) * sizeof(double);
}

/* q[t][t] = sum of r[j][t]^2, q[t][j] = -r[j][t] r[t][j], where r[i][j] is the probability of i
 * against j. */
static void probability_fill(const hg_args *a, const double *score, double *q)
{
    const int64_t n = a->out[0].dim[1];
    const float *pa = a->in[1].data, *pb = a->in[2].data;
    for (int64_t i = 0; i < n; i++)
        q[i * n + i] = 0;
    for (int64_t i = 0, pair = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++, pair++) {
            double r = 1 - hg_sigmoid_f64(score[pair] * (double)pa[pair] + (double)pb[pair]);
            r = r < 1e-7 ? 1e-7 : r > 1 - 1e-7 ? 1 - 1e-7 : r;
            q[j * n + j] += r * r;
            q[i * n + i] += (1 - r) * (1 - r);
            q[i * n + j] = q[j * n + i] = -r * (1 - r);
        }
}

/* Qp and p'Qp; true when p is good enough. */
static bool probability_measure(const double *q, const double *p, int64_t n, double *qp,
                                double *total)
{
    double worst = 0;
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        qp[i] = 0;
        for (int64_t j = 0; j < n; j++)
            qp[i] += q[i * n + j] * p[j];
        *total += p[i] * qp[i];
    }
    for (int64_t i = 0; i < n; i++) {
        const double off = hg_abs_f64(qp[i] - *total);
        if (!(off <= worst)) worst = off; /* also NaN */
    }
    return worst < 0.005 / (double)n;
}

static void probability_row(const double *q, int64_t n, double *p, double *qp)
{
    double total;
    for (int64_t i = 0; i < n; i++)
        p[i] = 1.0 / (double)n;
    for (int64_t round = 0; round < (n > 100 ? n : 100); round++) {
        if (probability_measure(q, p, n, qp, &total)) return;
        for (int64_t i = 0; i < n; i++) {
            const double diff = (total - qp[i]) / q[i * n + i], by = 1 + diff;
            p[i] += diff;
            total = (total + diff * (diff * q[i * n + i] + 2 * qp[i])) / (by * by);
            for (int64_t j = 0; j < n; j++) {
                qp[j] = (qp[j] + diff * q[i * n + j]) / by;
                p[j] /= by;
            }
        }
    }
}

static void probability_run(const hg_args *a, hg_range r)
{
    const int64_t n = a->out[0].dim[1], pairs = a->in[0].dim[1];
    double *q = r.scratch, *qp = q + n * n;
    for (int64_t row = r.begin; row < r.end; row++) {
        probability_fill(a, (const double *)a->in[0].data + row * pairs, q);
        probability_row(q, n, (double *)a->out[0].data + row * n, qp);
    }
}

const hg_kernel hg_kernels_svm[] = {
    {.name = "svm.near.t",
     .check = hg_svm_near_check,
     .units = hg_svm_near_units,
     .cost = hg_svm_near_cost,
     .run = near_run},
    {.name = "svm.probability",
     .check = probability_check,
     .units = hg_svm_near_units,
     .scratch = probability_scratch,
     .run = probability_run},
    {.name = "svm.sum", .check = hg_svm_sum_check, .units = hg_svm_near_units, .run = sum_run},
    {.name = "svm.vote",
     .check = vote_check,
     .units = hg_svm_near_units,
     .scratch = vote_scratch,
     .run = vote_run},
    {0},
};
