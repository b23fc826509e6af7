/* svm.c - svm.near.t, svm.sum, svm.vote and svm.probability against their definitions; what they
 * refuse. */
#include "kernel/svm.h"
#include "kernel/value.h"
#include "kernel/variants.h"

#include <math.h>

extern const hg_kernel hg_kernels_svm[];
#if defined(TUNED)
extern const hg_kernel TUNED(svm)[];
#endif
static const hg_kernel *const svm_probability = &hg_kernels_svm[1];
static const hg_kernel *const svm_sum = &hg_kernels_svm[2];
static const hg_kernel *const svm_vote = &hg_kernels_svm[3];

/* ---- near
 * -------------------------------------------------------------------------------------------- */

static const double svm_params[3] = {0.3, 0.7, 3.0}; /* gamma, c, degree */
enum { NEAR_ROWS = 71, SUM_ROWS = 7 }; /* more than tuned kernels take at once, and some */

static void near_make_call(move_call *c, holo_dtype dtype, int64_t kind, int64_t vectors)
{
    value_in(c, dtype, 2, MOVE_DIMS(NEAR_ROWS, 5), 1);
    value_in(c, HOLO_F32, 2, MOVE_DIMS(5, vectors), 2);
    move_out(c, HOLO_F64, 2, MOVE_DIMS(NEAR_ROWS, vectors));
    move_param(c, kind);
    for (int i = 0; i < 3; i++)
        value_param_f64(c, svm_params[i]);
}

static double near_expected(const move_call *c, int64_t row, int64_t vector, int64_t kind)
{
    double dot = 0, distance = 0;
    for (int64_t i = 0; i < 5; i++) {
        const double x = value_get(&c->in[0], row * 5 + i),
                     v = value_get(&c->in[1], i * c->in[1].dim[1] + vector);
        dot += x * v;
        distance += pow(x - v, 2);
    }
    if (kind == HG_SVM_POLY) return pow(0.3 * dot + 0.7, 3);
    if (kind == HG_SVM_RBF) return exp(-0.3 * distance);
    return kind == HG_SVM_SIGMOID ? tanh(0.3 * dot + 0.7) : dot;
}

static void svm_near(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64};
    for (size_t d = 0; d < HG_COUNT(types); d++)
        for (int64_t kind = 0; kind < HG_SVM_KINDS; kind++)
            for (int64_t vectors = 0; vectors < 40; vectors += 3) {
                move_call c = {0};
                near_make_call(&c, types[d], kind, vectors);
                if (move_run(hg_kernels_svm, &c))
                    for (int64_t i = 0; i < NEAR_ROWS * vectors; i++)
                        CHECK_NEAR(value_get(&c.out[0], i),
                                   near_expected(&c, i / vectors, i % vectors, kind), 1e-12);
                move_free(&c);
            }
}

/* Whole degrees, by products and as a power, and others. */
static void svm_near_degrees(void)
{
    static const double degrees[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 2.5, -2};
    for (size_t d = 0; d < HG_COUNT(degrees); d++) {
        move_call c = {0};
        near_make_call(&c, HOLO_F32, HG_SVM_POLY, 9);
        memcpy(&c.param[3], &degrees[d], sizeof degrees[d]);
        if (move_run(hg_kernels_svm, &c))
            for (int64_t i = 0; i < NEAR_ROWS * 9; i++) {
                const double cube = near_expected(&c, i / 9, i % 9, HG_SVM_POLY);
                const double expected = pow(cbrt(cube), degrees[d]), got = value_get(&c.out[0], i);
                CHECK(isnan(expected) ? isnan(got)
                                      : fabs(got - expected) <= 1e-12 * fabs(expected));
            }
        move_free(&c);
    }
}

static void sum_make(move_call *c)
{
    value_in(c, HOLO_F64, 2, MOVE_DIMS(SUM_ROWS, 11), 1);
    value_in(c, HOLO_F32, 1, MOVE_DIMS(11), 2);
    move_out(c, HOLO_F64, 2, MOVE_DIMS(SUM_ROWS, 1));
}

static void svm_sums(void)
{
    move_call c = {0};
    sum_make(&c);
    if (move_run(svm_sum, &c))
        for (int64_t row = 0; row < SUM_ROWS; row++) {
            double sum = 0;
            for (int64_t k = 0; k < 11; k++)
                sum += value_get(&c.in[0], row * 11 + k) * value_get(&c.in[1], k);
            CHECK_NEAR(value_get(&c.out[0], row), sum, 1e-12);
        }
    move_free(&c);
}

#if defined(TUNED)
static void svm_tuned_sum(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    move_call tuned = {0}, plain = {0};
    sum_make(&tuned);
    sum_make(&plain);
    if (move_run(&TUNED(svm)[1], &tuned) && move_run(svm_sum, &plain))
        CHECK_MEM(tuned.out[0].data, plain.out[0].data, holo_tensor_bytes(&plain.out[0]));
    move_free(&tuned);
    move_free(&plain);
}

static void svm_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    for (int64_t k = 0; k < 2 * HG_SVM_KINDS * 40; k++) {
        move_call tuned = {0}, plain = {0};
        const holo_dtype dtype = k % 2 == 0 ? HOLO_F32 : HOLO_F64;
        near_make_call(&tuned, dtype, k / 2 % HG_SVM_KINDS, k / 2 / HG_SVM_KINDS);
        near_make_call(&plain, dtype, k / 2 % HG_SVM_KINDS, k / 2 / HG_SVM_KINDS);
        if (move_run(TUNED(svm), &tuned) && move_run(hg_kernels_svm, &plain))
            CHECK_MEM(tuned.out[0].data, plain.out[0].data, holo_tensor_bytes(&plain.out[0]));
        move_free(&tuned);
        move_free(&plain);
    }
}
#endif

static void near_make(move_call *c)
{
    near_make_call(c, HOLO_F32, HG_SVM_RBF, 4);
}

/* ---- vote
 * -------------------------------------------------------------------------------------------- */

enum { SVM_CLASSES = 4, SVM_PAIRS = 6, SVM_VECTORS = 9, SVM_ROWS = 8 };
static const int64_t svm_per_class[SVM_CLASSES] = {2, 0, 4, 3};

static void vote_make(move_call *c)
{
    value_in(c, HOLO_F64, 2, MOVE_DIMS(SVM_ROWS, SVM_VECTORS), 5);
    value_in(c, HOLO_F32, 2, MOVE_DIMS(SVM_CLASSES - 1, SVM_VECTORS), 6);
    move_ints(c, 1, MOVE_DIMS(SVM_CLASSES), svm_per_class);
    value_in(c, HOLO_F32, 1, MOVE_DIMS(SVM_PAIRS), 7);
    move_out(c, HOLO_F64, 2, MOVE_DIMS(SVM_ROWS, SVM_PAIRS));
    move_out(c, HOLO_I64, 1, MOVE_DIMS(SVM_ROWS));
}

/* Class of a vector. */
static int64_t vote_class(int64_t vector)
{
    int64_t c = 0;
    while (vector >= svm_per_class[c])
        vector -= svm_per_class[c++];
    return c;
}

static void svm_votes(void)
{
    move_call c = {0};
    vote_make(&c);
    if (move_run(svm_vote, &c))
        for (int64_t row = 0; row < SVM_ROWS; row++) {
            int64_t wins[SVM_CLASSES] = {0}, best = 0, pair = 0;
            for (int64_t i = 0; i < SVM_CLASSES; i++)
                for (int64_t j = i + 1; j < SVM_CLASSES; j++, pair++) {
                    double s = value_get(&c.in[3], pair);
                    for (int64_t v = 0; v < SVM_VECTORS; v++) {
                        const int64_t of = vote_class(v), line = of == i ? j - 1 : i;
                        if (of == i || of == j)
                            s += value_get(&c.in[1], line * SVM_VECTORS + v) *
                                 value_get(&c.in[0], row * SVM_VECTORS + v);
                    }
                    CHECK_NEAR(value_get(&c.out[0], row * SVM_PAIRS + pair), s, 1e-12);
                    wins[s > 0 ? i : j]++;
                }
            for (int64_t k = 1; k < SVM_CLASSES; k++)
                if (wins[k] > wins[best]) best = k;
            CHECK_EQ_INT(((const int64_t *)c.out[1].data)[row], best);
        }
    move_free(&c);
}

static void svm_vote_damaged(void)
{
    static const int64_t bad[] = {-1, 10, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        move_call c = {0};
        vote_make(&c);
        ((int64_t *)c.in[2].data)[1] = bad[i];
        move_run(svm_vote, &c);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.element, 1);
        move_free(&c);
    }
}

/* ---- probability
 * -------------------------------------------------------------------------------------------- */

static void probability_make(move_call *c)
{
    value_in(c, HOLO_F64, 2, MOVE_DIMS(SVM_ROWS, SVM_PAIRS), 8);
    value_in(c, HOLO_F32, 1, MOVE_DIMS(SVM_PAIRS), 9);
    value_in(c, HOLO_F32, 1, MOVE_DIMS(SVM_PAIRS), 10);
    move_out(c, HOLO_F64, 2, MOVE_DIMS(SVM_ROWS, SVM_CLASSES));
}

/* The method minimises sum over pairs of (r_ji p_i - r_ij p_j)^2 with sum 1: the solution of a
 * linear system, by Gauss elimination. */
static void probability_solve(const double r[SVM_CLASSES][SVM_CLASSES], double *p)
{
    enum { N = SVM_CLASSES + 1 };
    double m[N][N + 1] = {{0}};
    for (int i = 0; i < SVM_CLASSES; i++) {
        for (int j = 0; j < SVM_CLASSES; j++)
            if (i != j) m[i][i] += r[j][i] * r[j][i], m[i][j] = -r[j][i] * r[i][j];
        m[i][SVM_CLASSES] = m[SVM_CLASSES][i] = 1;
    }
    m[SVM_CLASSES][N] = 1;
    for (int k = 0; k < N; k++) {
        int top = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(m[i][k]) > fabs(m[top][k])) top = i;
        for (int j = 0; j <= N; j++) {
            const double other = m[k][j];
            m[k][j] = m[top][j];
            m[top][j] = other;
        }
        for (int i = 0; i < N; i++)
            for (int j = N; i != k && j >= k; j--)
                m[i][j] -= m[k][j] * m[i][k] / m[k][k];
    }
    for (int i = 0; i < SVM_CLASSES; i++)
        p[i] = m[i][N] / m[i][i];
}

static void svm_probabilities(void)
{
    move_call c = {0};
    probability_make(&c);
    if (move_run(svm_probability, &c))
        for (int64_t row = 0; row < SVM_ROWS; row++) {
            double r[SVM_CLASSES][SVM_CLASSES] = {{0}}, p[SVM_CLASSES], sum = 0;
            for (int64_t i = 0, k = 0; i < SVM_CLASSES; i++)
                for (int64_t j = i + 1; j < SVM_CLASSES; j++, k++) {
                    r[i][j] =
                        1 /
                        (1 + exp(value_get(&c.in[0], row * SVM_PAIRS + k) * value_get(&c.in[1], k) +
                                 value_get(&c.in[2], k)));
                    r[j][i] = 1 - r[i][j];
                }
            probability_solve(r, p);
            for (int64_t i = 0; i < SVM_CLASSES; i++) {
                /* it stops when it is near enough */
                CHECK_NEAR(value_get(&c.out[0], row * SVM_CLASSES + i), p[i], 0.02);
                sum += value_get(&c.out[0], row * SVM_CLASSES + i);
            }
            CHECK_NEAR(sum, 1, 1e-9);
        }
    move_free(&c);
}

static void svm_probability_of_two(void)
{
    move_call c = {0};
    move_in(&c, HOLO_F64, 2, MOVE_DIMS(3, 1));
    *(float *)move_in(&c, HOLO_F32, 1, MOVE_DIMS(1))->data = -2;
    *(float *)move_in(&c, HOLO_F32, 1, MOVE_DIMS(1))->data = 0.5;
    memcpy(c.in[0].data, (const double[]){0.25, 1e6, NAN}, 24);
    move_out(&c, HOLO_F64, 2, MOVE_DIMS(3, 2));
    if (move_run(svm_probability, &c)) {
        const double *p = c.out[0].data;
        CHECK_NEAR(p[0], 0.5, 0.01);
        CHECK_NEAR(p[2], 1, 0.01);
        CHECK(isnan(p[4]) && isnan(p[5]));
    }
    move_free(&c);
}

static void svm_refuses(void)
{
    static const move_bad near[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_N_PARAM, 0, 0, 3, "3 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I64, "input 0 has type int64"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "input 1 has type float64"},
        {MOVE_IN_RANK, 0, 0, 1, "an input has rank 1"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output 0 has type float32"},
        {MOVE_OUT_RANK, 0, 0, 1, "the output has rank 1"},
        {MOVE_OUT_DIM, 0, 0, 4, "71 rows, the output has 4"},
        {MOVE_IN_DIM, 1, 0, 4, "rows have 5 features, support vectors 4"},
        {MOVE_OUT_DIM, 0, 1, 5, "4 support vectors, the output has 5 columns"},
        {MOVE_PARAM, 0, 0, 4, "the kind is 4"},
    };
    static const move_bad sum[] = {
        {MOVE_N_IN, 0, 0, 1, "1 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "input 1 has type float64"},
        {MOVE_IN_DIM, 1, 0, 10, "10 coefficients for 11 vectors"},
        {MOVE_OUT_DIM, 0, 0, 4, "7 rows, the output has 4"},
        {MOVE_OUT_DIM, 0, 1, 2, "the output has 2 columns"},
    };
    static const move_bad vote[] = {
        {MOVE_N_OUT, 0, 0, 1, "1 outputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "input 1 has type float64"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F64, "input 2 has type float64"},
        {MOVE_IN_TYPE, 3, 0, HOLO_F64, "input 3 has type float64"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F32, "output 0 has type float32"},
        {MOVE_OUT_TYPE, 1, 0, HOLO_F64, "output 1 has type float64"},
        {MOVE_OUT_RANK, 1, 0, 2, "the list of winners has rank 2"},
        {MOVE_IN_DIM, 2, 0, 5, "6 pairs of 5 classes"},
        {MOVE_IN_DIM, 3, 0, 5, "5 pairs of 4 classes"},
        {MOVE_OUT_DIM, 0, 1, 7, "6 pairs, the output has 7 columns"},
        {MOVE_OUT_DIM, 1, 0, 7, "8 rows, 7 winners"},
        {MOVE_IN_DIM, 1, 0, 4, "coefficients are [4,9]"},
        {MOVE_IN_DIM, 1, 1, 8, "coefficients are [3,8]"},
    };
    static const move_bad probability[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_IN_TYPE, 0, 0, HOLO_F32, "input 0 has type float32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F64, "input 2 has type float64"},
        {MOVE_IN_DIM, 1, 0, 5, "6 pairs, but 5 of their numbers"},
        {MOVE_OUT_DIM, 0, 0, 7, "8 rows, the output has 7"},
        {MOVE_OUT_DIM, 0, 1, 3, "6 pairs of 3 classes"},
    };
    MOVE_REFUSES(hg_kernels_svm, near_make, near);
    MOVE_REFUSES(svm_sum, sum_make, sum);
    MOVE_REFUSES(svm_vote, vote_make, vote);
    MOVE_REFUSES(svm_probability, probability_make, probability);
}

const hg_test_case hg_tests_kernel_svm[] = {
    {"near", svm_near},
    {"near_degrees", svm_near_degrees},
    {"sums", svm_sums},
#if defined(TUNED)
    {"tuned", svm_tuned},
    {"tuned_sum", svm_tuned_sum},
#endif
    {"votes", svm_votes},
    {"vote_damaged", svm_vote_damaged},
    {"probabilities", svm_probabilities},
    {"probability_of_two", svm_probability_of_two},
    {"refuses", svm_refuses},
    {0},
};
