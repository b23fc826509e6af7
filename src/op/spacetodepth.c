/* spacetodepth.c - SpaceToDepth: blocks of pixels become channels. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

static holo_status spacetodepth_infer(hg_infer *n)
{
    int64_t block;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_attr_int(n, "blocksize", 0, &block));
    if (block < 1 || block > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "blocksize is %lld, expected 1 or more",
                             (long long)block);
    n->out[0] = *n->in[0];
    hg_dim *dim = n->out[0].dim;
    for (int32_t i = 2; i < 4; i++) {
        int64_t pixels;
        if (hg_dim_is_const(n->dims, dim[i], &pixels) && pixels % block != 0)
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "dimension %d is %lld, expected a multiple of %lld", i,
                                 (long long)pixels, (long long)block);
        dim[i] = hg_shape_divide(n->dims, dim[i], block);
    }
    dim[1] = hg_dim_mul(n->dims, dim[1], hg_dim_const(n->dims, block * block));
    return HOLO_OK;
}

/* The output's [n, i, j, c, h, w] from the input's [n, c, h, i, w, j]. */
static holo_status spacetodepth_emit(hg_emit *e)
{
    hg_dims *d = &e->g->dims;
    const hg_type *in = hg_emit_type(e, 0), *out = hg_emit_out_type(e, 0);
    hg_dim stride[HG_MAX_RANK], size = hg_dim_const(d, hg_node_int(e->node, "blocksize", 1));
    hg_shape_strides(d, in, stride);
    hg_copy copy = {0};
    hg_copy_loop(&copy, in->dim[0], stride[0]);
    hg_copy_loop(&copy, size, stride[2]);
    hg_copy_loop(&copy, size, stride[3]);
    hg_copy_loop(&copy, in->dim[1], stride[1]);
    hg_copy_loop(&copy, out->dim[2], hg_dim_mul(d, size, stride[2]));
    hg_copy_loop(&copy, out->dim[3], hg_dim_mul(d, size, stride[3]));
    return hg_emit_copy(e, &copy);
}

const hg_op hg_op_spacetodepth = {
    .name = "SpaceToDepth",
    .brief = "blocks of pixels become channels",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = spacetodepth_infer,
    .kernel = "copy.strided",
    .emit = spacetodepth_emit,
    .gradient = hg_gradient_pick,
};
