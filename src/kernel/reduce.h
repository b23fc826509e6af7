/* reduce.h - what the reference and tuned variants of the kernel "reduce" share. */
#ifndef HG_KERNEL_REDUCE_H
#define HG_KERNEL_REDUCE_H

#include "isa/kernel.h"
#include "isa/lane_io.h"

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

/* d[p] = f(d[p], x[p]) for p in [0, width), `count` times over consecutive x. For log-sum-exp x[p]
 * is shifted by shift[p]. */
typedef void (*hg_reduce_fn)(void *HG_RESTRICT d, const void *HG_RESTRICT x,
                             const void *HG_RESTRICT shift, int64_t width, int64_t count);

/* Loops for extremes of integers: name_max and name_min. */
#define HG_REDUCE_EXTREME(T, name, sign)                                                           \
    static void name(void *HG_RESTRICT acc, const void *HG_RESTRICT from,                          \
                     const void *HG_RESTRICT shift, int64_t width, int64_t count)                  \
    {                                                                                              \
        T *HG_RESTRICT d = acc;                                                                    \
        const T *HG_RESTRICT x = from;                                                             \
        (void)shift;                                                                               \
        for (int64_t i = 0; i < count; i++, x += width)                                            \
            for (int64_t p = 0; p < width; p++)                                                    \
                d[p] = d[p] sign x[p] ? d[p] : x[p];                                               \
    }
#define HG_REDUCE_EXTREMES(T, name)                                                                \
    HG_REDUCE_EXTREME(T, name##_max, >)                                                            \
    HG_REDUCE_EXTREME(T, name##_min, <)

/* How elements enter a lane, and how lanes meet. */
typedef struct hg_reduce_step {
    hg_reduce_fn enter, join;
} hg_reduce_step;

/* domain: f32, f64, i32 (extremes only), i64 or u64. */
hg_reduce_step hg_reduce_step_reference(hg_reduce_op op, hg_lane_type domain);

/* `count` outputs at once, each of n neighbours from x + i * stride on; as if by lanes. False: not
 * for this operation. */
typedef bool (*hg_reduce_rows_fn)(hg_reduce_op op, const float *x, int64_t n, int64_t stride,
                                  int64_t count, float *out);

/* out[c] = the n elements x[c], x[c + stride] ... of column c, as if by lanes; sixteen columns or
 * more. False: not for this operation. */
typedef bool (*hg_reduce_cols_fn)(hg_reduce_op op, const float *x, int64_t n, int64_t stride,
                                  int64_t cols, float *out);

/* Columns of `rows` elements whose extreme is wanted. */
typedef struct hg_reduce_arg {
    const float *x;
    int64_t rows, row_stride, cols, col_stride;
    bool is_max, is_last;
} hg_reduce_arg;

/* found[c] = the row of column c with its extreme. False: not for these sizes. */
typedef bool (*hg_reduce_arg_fn)(const hg_reduce_arg *q, int64_t *found);

/* out[i] = the largest or smallest of n > 0 bytes from x + i * stride on, of `count` rows. */
typedef void (*hg_reduce_bytes_fn)(bool is_max, bool is_signed, const uint8_t *x, int64_t n,
                                   int64_t stride, int64_t count, uint8_t *out);

/* What a tuned variant replaces; the bits must be the same. */
typedef struct hg_reduce_loops {
    hg_reduce_step (*step)(hg_reduce_op op, hg_lane_type domain);
    hg_lane_read_fn read;
    hg_lane_write_fn write;
    hg_lane_run_fn lane;
    hg_reduce_rows_fn rows; /* this and what follows may be NULL */
    hg_reduce_cols_fn cols;
    hg_reduce_arg_fn arg;
    hg_reduce_bytes_fn bytes;
} hg_reduce_loops;

void hg_kernel_reduce_run(const hg_args *a, hg_range r, const hg_reduce_loops *loops);

#endif
