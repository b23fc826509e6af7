/* conv.h - geometry of convolutions: what the reference and the tuned kernels share. */
#ifndef HG_KERNEL_CONV_H
#define HG_KERNEL_CONV_H

#include "isa/kernel.h"

/* Output pixel (y, x) and tap (i, j) read input pixel
 * (y * stride_h + i * dil_h - pad_top, x * stride_w + j * dil_w - pad_left), or zero outside. */
typedef struct hg_conv2d {
    int64_t n, h, w, c;
    int64_t oh, ow, o;
    int64_t kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w;
} hg_conv2d;

/* in[0] is [n, h, w, c] of one of the types and out[0] [n, oh, ow, o]; param 0..7 are kernel,
 * stride, padding and dilation. No coordinate above can overflow. */
holo_status hg_conv2d_check(const hg_args *a, holo_error *e, hg_types types);
/* The same with 2 or 3 spatial axes, as the rank of in[0] has it; `more` parameters follow. */
holo_status hg_conv_last_check(const hg_args *a, holo_error *e, hg_types types, uint32_t more);
/* Checked arguments only; of three axes the last two. */
HG_INLINE hg_conv2d hg_conv2d_of(const hg_args *a)
{
    const int axes = a->in[0].rank - 2;
    const int64_t *x = a->in[0].dim + axes, *y = a->out[0].dim + axes, *p = a->param + axes - 2;
    return (hg_conv2d){.n = a->in[0].dim[0],
                       .h = x[-1],
                       .w = x[0],
                       .c = x[1],
                       .oh = y[-1],
                       .ow = y[0],
                       .o = y[1],
                       .kh = p[0],
                       .kw = p[1],
                       .stride_h = p[axes],
                       .stride_w = p[axes + 1],
                       .pad_top = p[2 * axes],
                       .pad_left = p[2 * axes + 1],
                       .dil_h = p[3 * axes],
                       .dil_w = p[3 * axes + 1]};
}

/* The third spatial axis, the first of a tensor: planes of pictures. */
typedef struct hg_conv_planes {
    int64_t in, out, kernel, stride, pad, dil;
} hg_conv_planes;

/* Checked arguments only; one plane where there are two axes. */
HG_INLINE hg_conv_planes hg_conv_planes_of(const hg_args *a)
{
    if (a->in[0].rank == 4) return (hg_conv_planes){1, 1, 1, 1, 0, 1};
    return (hg_conv_planes){.in = a->in[0].dim[1],
                            .out = a->out[0].dim[1],
                            .kernel = a->param[0],
                            .stride = a->param[3],
                            .pad = a->param[6],
                            .dil = a->param[9]};
}

/* Where plane `tap` of the kernel meets the input for a picture of the output, numbered through all
 * of the input; -1 in the padding. */
static inline int64_t hg_conv_plane(const hg_conv_planes *p, int64_t picture, int64_t tap)
{
    const int64_t z = picture % p->out * p->stride + tap * p->dil - p->pad;
    return z < 0 || z >= p->in ? -1 : picture / p->out * p->in + z;
}

/* "conv" and "convtranspose": channels first, any number of spatial dims. */
typedef struct hg_conv_shape {
    const int64_t *in, *out, *kernel, *stride, *pad, *dil; /* `rank` spatial entries each */
    int rank;
    int64_t groups, group_c, group_o;
    int64_t in_count, out_count, taps; /* spatial products */
    int64_t w_channel, w_output;       /* strides of W over input channel and output in a group */
    bool transposed;
} hg_conv_shape;

/* Checked arguments only. */
hg_conv_shape hg_conv_shape_of(const hg_args *a, bool transposed);
holo_status hg_conv_check(const hg_args *a, holo_error *e);
void hg_conv_cost(const hg_args *a, hg_cost *cost);
holo_status hg_convtranspose_check(const hg_args *a, holo_error *e);
void hg_convtranspose_cost(const hg_args *a, hg_cost *cost);

/* Where one tap of one output row reads: sum[begin + i * step] += x[at + i * x_step] * w, with x
 * the spatial elements of a channel. */
typedef struct hg_conv_line {
    int64_t begin, count, step;
    int64_t at, x_step;
} hg_conv_line;

/* `row` numbers the output rows (all spatial dims but the last) of one channel; false when the tap
 * touches none of it. */
bool hg_conv_find_line(const hg_conv_shape *s, int64_t row, int64_t tap, hg_conv_line *line);

/* First and one past the last output position along one axis for which a tap lies inside. */
static inline void hg_conv_inside(int64_t in, int64_t out, int64_t stride, int64_t pad,
                                  int64_t shift, int64_t *begin, int64_t *end)
{
    const int64_t low = hg_max(0, hg_ceil_div(pad - shift, stride));
    const int64_t high = hg_min(out, hg_floor_div(in - 1 + pad - shift, stride) + 1);
    *begin = hg_min(low, out);
    *end = hg_max(*begin, high);
}

#endif
