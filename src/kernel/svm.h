/* svm.h - numbers that the SVM kernels and the operators that use them agree on. */
#ifndef HG_KERNEL_SVM_H
#define HG_KERNEL_SVM_H

/* How near a row is to a support vector: x.v, (gamma x.v + c)^degree, exp(-gamma |x - v|^2),
 * tanh(gamma x.v + c). */
typedef enum hg_svm_kind {
    HG_SVM_LINEAR,
    HG_SVM_POLY,
    HG_SVM_RBF,
    HG_SVM_SIGMOID,
    HG_SVM_KINDS
} hg_svm_kind;

#endif
