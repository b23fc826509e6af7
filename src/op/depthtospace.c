/* depthtospace.c - DepthToSpace: channels become blocks of pixels. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

static holo_status depthtospace_infer(hg_infer *n)
{
    int64_t block, channels;
    hg_str mode;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_attr_int(n, "blocksize", 0, &block));
    HG_TRY(hg_attr_string(n, "mode", "DCR", &mode));
    if (block < 1 || block > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "blocksize is %lld, expected 1 or more",
                             (long long)block);
    if (!hg_str_is(mode, "DCR") && !hg_str_is(mode, "CRD"))
        return hg_infer_fail(n, HOLO_E_MODEL, "mode is \"%.*s\", expected DCR or CRD",
                             HG_STR_ARG(mode));
    const int64_t square = block * block;
    if (hg_dim_is_const(n->dims, n->in[0]->dim[1], &channels) && channels % square != 0)
        return hg_infer_fail(n, HOLO_E_SHAPE, "%lld channels, expected a multiple of %lld",
                             (long long)channels, (long long)square);
    hg_dim size = hg_dim_const(n->dims, block);
    n->out[0] = *n->in[0];
    hg_dim *dim = n->out[0].dim;
    dim[1] = hg_shape_divide(n->dims, dim[1], square);
    dim[2] = hg_dim_mul(n->dims, dim[2], size);
    dim[3] = hg_dim_mul(n->dims, dim[3], size);
    return HOLO_OK;
}

/* The output's [n, c, h, i, w, j] from the input's [n, i, j, c, h, w] (DCR) or [n, c, i, j, h, w]
 * (CRD). */
static holo_status depthtospace_emit(hg_emit *e)
{
    hg_dims *d = &e->g->dims;
    const hg_type *in = hg_emit_type(e, 0), *out = hg_emit_out_type(e, 0);
    hg_dim stride[HG_MAX_RANK], size = hg_dim_const(d, hg_node_int(e->node, "blocksize", 1));
    hg_shape_strides(d, in, stride);
    bool dcr = hg_str_is(hg_node_string(e->node, "mode", "DCR"), "DCR");
    hg_dim plane = stride[1], channels = out->dim[1];
    hg_dim step_c = dcr ? plane : hg_dim_mul(d, plane, hg_dim_mul(d, size, size));
    hg_dim step_j = dcr ? hg_dim_mul(d, plane, channels) : plane;
    hg_copy copy = {0};
    hg_copy_loop(&copy, in->dim[0], stride[0]);
    hg_copy_loop(&copy, channels, step_c);
    hg_copy_loop(&copy, in->dim[2], stride[2]);
    hg_copy_loop(&copy, size, hg_dim_mul(d, step_j, size));
    hg_copy_loop(&copy, in->dim[3], stride[3]);
    hg_copy_loop(&copy, size, step_j);
    return hg_emit_copy(e, &copy);
}

const hg_op hg_op_depthtospace = {
    .name = "DepthToSpace",
    .brief = "channels become blocks of pixels",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = depthtospace_infer,
    .kernel = "copy.strided",
    .emit = depthtospace_emit,
    .gradient = hg_gradient_pick,
};
