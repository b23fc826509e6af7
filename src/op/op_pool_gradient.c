/* op_pool_gradient.c - derivatives of pools. */
#include "op/op_pool_gradient.h"

#include "op/op_conv.h"

hg_value_id hg_build_pool_kernel(hg_build *b, const hg_type *x, const hg_window *w)
{
    hg_type kernel = *x;
    kernel.dim[0] = kernel.dim[1] = hg_dim_const(&b->g->dims, 1);
    for (int32_t i = 0; i < w->rank; i++)
        kernel.dim[2 + i] = w->kernel[i];
    return hg_build_full(b, &kernel, 1.0);
}

hg_value_id hg_build_pool_back(hg_build *b, hg_value_id y, const hg_type *x, const hg_window *w)
{
    const hg_conv c = {.groups = 1, .window = *w};
    hg_type rows = *x;
    rows.dim[1] = hg_dim_const(&b->g->dims, 1);
    rows.dim[0] = hg_dim_mul(&b->g->dims, x->dim[0], x->dim[1]);
    for (int32_t i = 0; i < w->rank; i++)
        rows.dim[2 + i] = w->out[i];
    y = hg_build_shaped(b, y, &rows);
    y = hg_build_conv_back(b, y, hg_build_pool_kernel(b, x, w), &c, x->dim + 2);
    return hg_build_shaped(b, y, x);
}
