/* reduce.h - what the reference and tuned variants of the kernel "reduce" share. */
#ifndef HG_KERNEL_REDUCE_H
#define HG_KERNEL_REDUCE_H

#include "isa/kernel.h"

/* Parameter 0; the numbers are part of the file format. */
typedef enum hg_reduce_op {
    HG_REDUCE_SUM = 0,
    HG_REDUCE_MEAN = 1,
    HG_REDUCE_MAX = 2,
    HG_REDUCE_MIN = 3,
    HG_REDUCE_PROD = 4,
    HG_REDUCE_SUM_SQUARE = 5,
    HG_REDUCE_L1 = 6,
    HG_REDUCE_LOG_SUM_EXP = 7,
    HG_REDUCE_ARG_MAX = 8,
    HG_REDUCE_ARG_MIN = 9,
    HG_REDUCE_L2 = 10,
    HG_REDUCE_LOG_SUM = 11
} hg_reduce_op;

holo_status hg_kernel_reduce_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_reduce_units(const hg_args *a);
size_t hg_kernel_reduce_scratch(const hg_args *a);
void hg_kernel_reduce_cost(const hg_args *a, hg_cost *cost);

/* The input seen as alternating groups of kept and reduced dims. The last kept group, when nothing
 * is reduced after it, are the columns; the reduced group before them are the rows:
 *
 *     element = kept index, reduced index, row * cols + col
 *
 * so that rows x cols elements lie side by side. */
typedef struct hg_reduce_shape {
    int64_t cols, rows;
    int64_t steps; /* reduced elements of one output: rows * product of reduced groups */
    int n_kept, n_reduced;
    int64_t kept_dim[HG_MAX_RANK], kept_stride[HG_MAX_RANK];       /* without cols; last first */
    int64_t reduced_dim[HG_MAX_RANK], reduced_stride[HG_MAX_RANK]; /* without rows; last first */
} hg_reduce_shape;

void hg_reduce_shape_init(hg_reduce_shape *s, const holo_tensor *in, int64_t axes);

/* Type the results are computed in, and the element type that is this type. */
holo_dtype hg_reduce_result_type(hg_reduce_op op, holo_dtype in);

#endif
