/* svm_near.h - the loops of "svm.near.t" and "svm.sum", for every folder that compiles them with
 * its own flags.
 *
 * Sums of HG_SVM_BLOCK vectors grow side by side: their elements are neighbours, so one vector
 * instruction serves several, and each sum still adds in the order of the features. */
#ifndef HG_KERNEL_SVM_NEAR_H
#define HG_KERNEL_SVM_NEAR_H

#include "isa/kernel.h"
#include "isa/lane_math.h"
#include "kernel/svm.h"

enum { HG_SVM_BLOCK = 16 };

holo_status hg_svm_near_check(const hg_args *a, holo_error *e);
holo_status hg_svm_sum_check(const hg_args *a, holo_error *e);
/* The rest: checked arguments only. */
int64_t hg_svm_near_units(const hg_args *a);
void hg_svm_near_cost(const hg_args *a, hg_cost *cost);

/* x.v or, for RBF, |x - v|^2, of `count` vectors; feature i of vector k is v[i * ld + k]. */
#define HG_SVM_SUM(T, suffix)                                                                      \
    HG_INLINE void hg_svm_add_##suffix(const T *x, const float *v, int64_t n, int64_t ld,          \
                                       bool distance, int64_t count, double *to)                   \
    {                                                                                              \
        double sum[HG_SVM_BLOCK] = {0};                                                            \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t k = 0; k < count; k++) {                                                  \
                const double p = (double)x[i], q = (double)v[i * ld + k];                          \
                sum[k] += distance ? (p - q) * (p - q) : p * q;                                    \
            }                                                                                      \
        for (int64_t k = 0; k < count; k++)                                                        \
            to[k] = sum[k];                                                                        \
    }                                                                                              \
    HG_INLINE void hg_svm_sums_##suffix(const T *x, const float *v, int64_t n, int64_t vectors,    \
                                        bool distance, double *to)                                 \
    {                                                                                              \
        int64_t k = 0;                                                                             \
        for (; k + HG_SVM_BLOCK <= vectors; k += HG_SVM_BLOCK)                                     \
            if (distance)                                                                          \
                hg_svm_add_##suffix(x, v + k, n, vectors, true, HG_SVM_BLOCK, to + k);             \
            else                                                                                   \
                hg_svm_add_##suffix(x, v + k, n, vectors, false, HG_SVM_BLOCK, to + k);            \
        if (k < vectors) hg_svm_add_##suffix(x, v + k, n, vectors, distance, vectors - k, to + k); \
    }
HG_SVM_SUM(float, f32)
HG_SVM_SUM(double, f64)
#undef HG_SVM_SUM

/* (gamma x + c)^degree; a small whole degree, which is what people use, by products. */
HG_INLINE void hg_svm_power(double *x, int64_t n, double gamma, double c, double degree)
{
    const bool is_small = degree >= 1 && degree <= 7 && degree == (double)(int64_t)degree;
    const int64_t whole = is_small ? (int64_t)degree : 0;
    const bool once = (whole & 1) != 0, twice = (whole & 2) != 0, four = (whole & 4) != 0;
    for (int64_t k = 0; k < n && is_small; k++) {
        const double p = gamma * x[k] + c, q = p * p;
        x[k] = (once ? p : 1) * (twice ? q : 1) * (four ? q * q : 1);
    }
    for (int64_t k = 0; k < n && !is_small; k++)
        x[k] = hg_pow_f64(gamma * x[k] + c, degree);
}

/* What a kind makes of n sums, in place. */
HG_INLINE void hg_svm_apply(const hg_args *a, double *sum, int64_t n)
{
    const double gamma = hg_param_f64(a, 1), c = hg_param_f64(a, 2), degree = hg_param_f64(a, 3);
    switch ((hg_svm_kind)a->param[0]) {
    case HG_SVM_POLY: hg_svm_power(sum, n, gamma, c, degree); return;
    case HG_SVM_RBF:
        for (int64_t k = 0; k < n; k++)
            sum[k] = hg_exp_f64(-gamma * sum[k]);
        return;
    case HG_SVM_SIGMOID:
        for (int64_t k = 0; k < n; k++)
            sum[k] = hg_tanh_f64(gamma * sum[k] + c);
        return;
    case HG_SVM_LINEAR:
    case HG_SVM_KINDS: return;
    }
}

HG_INLINE void hg_svm_near_rows(const hg_args *a, hg_range r)
{
    const int64_t features = a->in[0].dim[1], vectors = a->in[1].dim[1];
    const bool distance = a->param[0] == HG_SVM_RBF, narrow = a->in[0].dtype == HOLO_F32;
    const float *v = a->in[1].data;
    for (int64_t i = r.begin; i < r.end; i++) {
        double *y = (double *)a->out[0].data + i * vectors;
        if (narrow)
            hg_svm_sums_f32((const float *)a->in[0].data + i * features, v, features, vectors,
                            distance, y);
        else
            hg_svm_sums_f64((const double *)a->in[0].data + i * features, v, features, vectors,
                            distance, y);
        hg_svm_apply(a, y, vectors);
    }
}

/* Coefficients times values [begin, end), in four sums that do not wait for each other. */
HG_INLINE double hg_svm_weigh(const float *coefficient, const double *near, int64_t begin,
                              int64_t end)
{
    double sum[4] = {0};
    int64_t k = begin;
    for (; k + 4 <= end; k += 4)
        for (int64_t i = 0; i < 4; i++)
            sum[i] += (double)coefficient[k + i] * near[k + i];
    for (; k < end; k++)
        sum[0] += (double)coefficient[k] * near[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

HG_INLINE void hg_svm_sum_rows(const hg_args *a, hg_range r)
{
    const int64_t vectors = a->in[0].dim[1];
    for (int64_t row = r.begin; row < r.end; row++)
        ((double *)a->out[0].data)[row] =
            hg_svm_weigh(a->in[1].data, (const double *)a->in[0].data + row * vectors, 0, vectors);
}

#endif
