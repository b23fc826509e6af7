/* col2im.c - Col2Im: sums columns of blocks back into a picture. */
#include "op/op_window.h"

static holo_status col2im_read(const hg_infer *n, hg_window *w, const hg_dim **image)
{
    const hg_dim *block;
    uint32_t count, n_block;
    HG_TRY(hg_infer_need_content(n, 1, image, &count));
    HG_TRY(hg_infer_need_content(n, 2, &block, &n_block));
    if (count != n_block)
        return hg_infer_fail(n, HOLO_E_SHAPE, "image_shape has %u elements but block_shape %u",
                             count, n_block);
    return hg_window_read(n, HG_WINDOW_FLOOR, (int32_t)count, *image, block, w);
}

static holo_status col2im_infer(hg_infer *n)
{
    hg_window w = {0};
    const hg_dim *image = NULL;
    hg_dims *d = n->dims;
    HG_TRY(hg_infer_rank(n, 0, 3, 3));
    HG_TRY(col2im_read(n, &w, &image));
    hg_dim taps = hg_dim_const(d, 1);
    for (int32_t i = 0; i < w.rank; i++)
        taps = hg_dim_mul(d, taps, w.kernel[i]);
    hg_type *out = &n->out[0];
    *out = (hg_type){.dtype = n->in[0]->dtype, .rank = w.rank + 2};
    out->dim[0] = n->in[0]->dim[0];
    out->dim[1] = hg_dim_floordiv(d, n->in[0]->dim[1], taps);
    memcpy(out->dim + 2, image, (size_t)w.rank * sizeof image[0]);
    return HOLO_OK;
}

static holo_status col2im_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    hg_window w = {0};
    const hg_dim *image = NULL;
    HG_TRY(col2im_read(&n, &w, &image));
    e->n_in = 1;
    HG_TRY(hg_emit_int(e, w.rank));
    HG_TRY(hg_window_emit(e, w.kernel, w.rank));
    HG_TRY(hg_window_emit(e, w.stride, w.rank));
    HG_TRY(hg_window_emit(e, w.pad_begin, w.rank));
    HG_TRY(hg_window_emit(e, w.dilation, w.rank));
    return hg_window_emit(e, w.out, w.rank);
}

const hg_op hg_op_col2im = {
    .name = "Col2Im",
    .brief = "sums columns of blocks back into a picture",
    .since = 18,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_COMPLEX,
    .infer = col2im_infer,
    .kernel = "col2im",
    .emit = col2im_emit,
};
