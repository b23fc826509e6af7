/* deformconv.c - DeformConv: convolution whose taps are moved by offsets. */
#include "op/op_conv.h"

static holo_status deformconv_read(const hg_infer *n, const hg_type *x, const hg_type *w,
                                   hg_conv *c, int64_t *offset_groups)
{
    HG_TRY(hg_attr_int(n, "offset_group", 1, offset_groups));
    if (*offset_groups < 1 || *offset_groups > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "offset_group is %lld, expected at least 1",
                             (long long)*offset_groups);
    return hg_conv_read(n, HG_CONV_FORWARD, x, w, c);
}

static holo_status deformconv_infer(hg_infer *n)
{
    hg_conv c = {0};
    int64_t offset_groups = 1;
    for (uint32_t i = 1; i < n->n_in; i++)
        if (hg_infer_has(n, i)) HG_TRY(hg_infer_same_type(n, 0, i));
    HG_TRY(deformconv_read(n, n->in[0], n->in[1], &c, &offset_groups));
    HG_TRY(hg_conv_bias(n, 3, c.channels_out));
    HG_TRY(hg_infer_rank(n, 2, n->in[0]->rank, n->in[0]->rank));
    if (hg_infer_has(n, 4)) HG_TRY(hg_infer_rank(n, 4, n->in[0]->rank, n->in[0]->rank));
    n->out[0] = hg_conv_type(&c, n->in[0], n->in[0]->dtype);
    return HOLO_OK;
}

static holo_status deformconv_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    hg_conv c = {0};
    int64_t offset_groups = 1;
    HG_TRY(deformconv_read(&n, hg_emit_type(e, 0), hg_emit_type(e, 1), &c, &offset_groups));
    HG_TRY(hg_emit_int(e, c.window.rank));
    HG_TRY(hg_emit_int(e, c.groups));
    HG_TRY(hg_emit_int(e, offset_groups));
    HG_TRY(hg_window_emit(e, c.window.stride, c.window.rank));
    HG_TRY(hg_window_emit(e, c.window.pad_begin, c.window.rank));
    return hg_window_emit(e, c.window.dilation, c.window.rank);
}

const hg_op hg_op_deformconv = {
    .name = "DeformConv",
    .brief = "convolution whose taps are moved by offsets",
    .since = 19,
    .version = 22,
    .in = {3, 5},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = deformconv_infer,
    .kernel = "deformconv",
    .emit = deformconv_emit,
};
