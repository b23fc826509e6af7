/* norm.c - what the kernels "layernorm" and "groupnorm" share. */
#include "kernel/norm.h"

/* x's dims from axis on: what is normalised together, and what scale and bias broadcast to. */
holo_tensor hg_norm_tail(const holo_tensor *x, int axis)
{
    holo_tensor tail = {.rank = x->rank - axis, .dtype = x->dtype};
    memcpy(tail.dim, x->dim + axis, (size_t)tail.rank * sizeof tail.dim[0]);
    return tail;
}

/* Scale or bias in the compute type, repeated to the shape `tail`: in place, or in `to`. */
const void *hg_norm_expand(const hg_args *a, uint32_t i, const holo_tensor *tail, void *to,
                           hg_lane_read_fn read)
{
    if (!hg_args_has(a, i)) return NULL;
    const holo_tensor *t = &a->in[i];
    int64_t n = hg_dims_product(tail, 0, tail->rank), stride[HG_MAX_RANK];
    bool is_dense = hg_dims_product(t, 0, t->rank) == n;
    if (is_dense && hg_lane_is_native(t->dtype)) return t->data;
    if (is_dense) {
        read(t->dtype, to, t->data, 0, 1, n);
        return to;
    }
    size_t width = hg_lane_width(hg_lane_type_of(t->dtype));
    hg_broadcast_strides(t, tail, stride);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0, rest = k;
        for (int d = tail->rank - 1; d >= 0; d--) {
            at += rest % tail->dim[d] * stride[d];
            rest /= tail->dim[d];
        }
        read(t->dtype, (uint8_t *)to + (size_t)k * width, t->data, at, 1, 1);
    }
    return to;
}

hg_norm *hg_norm_init(const hg_args *a, void *scratch, uint8_t **work)
{
    hg_norm *s = scratch;
    *s = (hg_norm){.x = &a->in[0],
                   .out = a->out,
                   .dtype = a->in[0].dtype,
                   .is_native = hg_lane_is_native(a->in[0].dtype),
                   .epsilon = hg_param_f64(a, 1)};
    *work = (uint8_t *)scratch + hg_align_up(sizeof *s, HG_ALIGN);
    return s;
}

void hg_kernel_norm_cost(const hg_args *a, hg_cost *cost)
{
    /* Sum, deviation, square, sum; deviation, inverse, scale, bias. */
    cost->flops = 8 * (double)hg_dims_product(&a->in[0], 0, a->in[0].rank);
}
