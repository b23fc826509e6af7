/* lane.h - running lane code over whole tensors: what the kernel "lane" and kernels with an
 * epilogue share. */
#ifndef HG_KERNEL_LANE_H
#define HG_KERNEL_LANE_H

#include "isa/kernel.h"

/* The iteration space of a body: the outputs' shape with dims merged where every operand allows it.
 * Lives in scratch, before the interpreter's own. */
typedef struct hg_lane_operand {
    void *data;
    holo_dtype dtype;
    int64_t stride[HG_MAX_RANK];
    int64_t origin; /* number of the element that data points to: not 0 for a window */
} hg_lane_operand;

typedef struct hg_lane_space {
    const hg_lane_code *code;
    int64_t dim[HG_MAX_RANK];
    int rank; /* at least 1; the last two are the rows and columns of a tile */
    int64_t count;
    hg_lane_operand *operand; /* operands, then results */
    hg_lane_view *view;       /* of the current tile */
} hg_lane_space;

/* Scratch for a space and one interpreter. */
size_t hg_lane_space_scratch(const hg_lane_code *code);
/* in[] broadcast to the common shape of out[]; operand 0 is `result` instead of in[0] when not
 * NULL. */
hg_lane_space *hg_lane_space_init(void *scratch, const hg_lane_code *code,
                                  const holo_tensor *result, const holo_tensor *in,
                                  const holo_tensor *out);
/* Elements [begin, end) of the space in row-major order. */
void hg_lane_space_run(hg_lane_space *space, int64_t begin, int64_t end, hg_fault *fault,
                       hg_lane_run_fn run);

/* The kernel "lane", for tuned variants: they differ in the interpreter alone. */
holo_status hg_kernel_lane_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_lane_units(const hg_args *a);
size_t hg_kernel_lane_scratch(const hg_args *a);
void hg_kernel_lane_cost(const hg_args *a, hg_cost *cost);
void hg_kernel_lane_run(const hg_args *a, hg_range r, hg_lane_run_fn run);

/* Checks code and operands of a body: in[] broadcasts to out[0], all out[] have its shape, types
 * fit. Operand 0 is `result` instead of in[0] when not NULL. The types of in[] and out[] have been
 * checked. */
holo_status hg_kernel_lane_check_body(const hg_args *a, const holo_tensor *result, holo_error *e);

#endif
