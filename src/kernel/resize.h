/* resize.h - parameters of the kernels "resize" and "resize.scales". */
#ifndef HG_KERNEL_RESIZE_H
#define HG_KERNEL_RESIZE_H

#include "isa/kernel.h"

typedef enum hg_resize_mode {
    HG_RESIZE_NEAREST = 0,
    HG_RESIZE_LINEAR = 1,
    HG_RESIZE_CUBIC = 2
} hg_resize_mode;

/* How a place in the output becomes one in the input. */
typedef enum hg_resize_coordinate {
    HG_RESIZE_HALF_PIXEL = 0,
    HG_RESIZE_HALF_PIXEL_SYMMETRIC = 1,
    HG_RESIZE_PYTORCH_HALF_PIXEL = 2,
    HG_RESIZE_ALIGN_CORNERS = 3,
    HG_RESIZE_ASYMMETRIC = 4,
    HG_RESIZE_CROP = 5,         /* tf_crop_and_resize */
    HG_RESIZE_TF_HALF_PIXEL = 6 /* tf_half_pixel_for_nn, Resize-11 */
} hg_resize_coordinate;

typedef enum hg_resize_nearest {
    HG_RESIZE_ROUND_FLOOR = 0, /* a half goes down */
    HG_RESIZE_ROUND_CEIL = 1,  /* a half goes up */
    HG_RESIZE_FLOOR = 2,
    HG_RESIZE_CEIL = 3
} hg_resize_nearest;

/* Places of the parameters. */
enum {
    HG_RESIZE_PARAM_MODE,
    HG_RESIZE_PARAM_COORDINATE,
    HG_RESIZE_PARAM_NEAREST,
    HG_RESIZE_PARAM_ANTIALIAS,
    HG_RESIZE_PARAM_EXCLUDE,
    HG_RESIZE_PARAM_CUBIC_A,       /* f64 */
    HG_RESIZE_PARAM_EXTRAPOLATION, /* f64 */
    HG_RESIZE_PARAM_COUNT,         /* length of the lists roi (half of it) and scales */
    HG_RESIZE_PARAM_DIMS           /* then three for each dimension: */
};
/* place in the lists or -1: this dimension is not resized; numerator and denominator of the scale,
 * or its bits as f64 and 0. "resize.scales" reads the scale from in[2] instead. */
enum {
    HG_RESIZE_DIM_PLACE,
    HG_RESIZE_DIM_NUMERATOR,
    HG_RESIZE_DIM_DENOMINATOR,
    HG_RESIZE_DIM_PARAMS
};

/* An input element along one axis that an output is made of. */
typedef struct hg_resize_tap {
    int64_t index;
    double weight;
} hg_resize_tap;

/* Checked arguments without a region of interest. Room that the taps of dimension d need; 0: it is
 * not resized. */
int64_t hg_resize_most_taps(const hg_args *a, int d);
/* Those of output o, in order; how many. */
int64_t hg_resize_taps_of(const hg_args *a, int d, int64_t o, hg_resize_tap *tap);

#endif
