/* pad.c - Pad: a tensor with a border added or cut off. */
#include "op/op.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

/* Pad-1, Pad-2: pads (once called paddings) and value are attributes. */
static holo_status pad_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 11) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    size_t count;
    const int64_t *pads = hg_node_ints(b.node, "pads", &count);
    if (pads == NULL) pads = hg_node_ints(b.node, "paddings", &count);
    if (pads == NULL) return hg_build_fail(&b, HOLO_E_MODEL, "attribute 'pads' is missing");
    hg_value_id in[3] = {hg_build_in(&b, 0)};
    holo_dtype dtype = hg_build_type(&b, in[0])->dtype;
    in[1] = hg_build_ints(&b, pads, (uint32_t)count);
    in[2] = hg_build_scalar(&b, dtype, hg_node_float(b.node, "value", 0.0));
    hg_str name = hg_str_from("mode");
    hg_attr mode = {
        .name = name, .kind = HG_ATTR_STRING, .s = hg_node_string(b.node, "mode", "constant")};
    return hg_upgrade_replace(&b, "Pad", in, 3, &mode, 1);
}

static int64_t pad_mode(hg_str mode)
{
    static const char *const name[] = {"constant", "reflect", "edge", "wrap"};
    for (int64_t i = 0; i < (int64_t)HG_COUNT(name); i++)
        if (hg_str_is(mode, name[i])) return i;
    return -1;
}

/* Elements before and behind, by axis. */
typedef struct pad_inputs {
    const hg_dim *before, *after;
    hg_axes axes;
} pad_inputs;

static holo_status pad_read(const hg_infer *n, int32_t rank, pad_inputs *p)
{
    const hg_dim *pads, *axes = NULL;
    uint32_t n_pads, n_axes = (uint32_t)rank;
    HG_TRY(hg_infer_need_content(n, 1, &pads, &n_pads));
    if (hg_node_in(n->g, n->node, 3) != 0) HG_TRY(hg_infer_need_content(n, 3, &axes, &n_axes));
    if (n_pads != 2 * n_axes)
        return hg_infer_fail(n, HOLO_E_SHAPE, "pads has %u elements, expected %u", n_pads,
                             2 * n_axes);
    p->before = pads;
    p->after = pads + n_axes;
    return hg_shape_axes(n, axes, n_axes, rank, &p->axes);
}

static holo_status pad_infer(hg_infer *n)
{
    hg_dims *d = n->dims;
    const hg_type *in = n->in[0];
    hg_str mode;
    pad_inputs p = {0};
    HG_TRY(hg_attr_string(n, "mode", "constant", &mode));
    if (pad_mode(mode) < 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "mode is \"%.*s\", expected constant, reflect, edge or wrap",
                             HG_STR_ARG(mode));
    if (hg_infer_has(n, 2)) HG_TRY(hg_infer_same_type(n, 0, 2));
    HG_TRY(pad_read(n, in->rank, &p));
    n->out[0] = *in;
    hg_dim none = hg_dim_const(d, 0);
    for (int32_t i = 0; i < in->rank; i++) {
        hg_dim border = hg_dim_add(d, hg_shape_pick(d, &p.axes, p.before, i, none),
                                   hg_shape_pick(d, &p.axes, p.after, i, none));
        n->out[0].dim[i] = hg_dim_add(d, in->dim[i], border);
        int64_t size;
        if (hg_dim_is_const(d, n->out[0].dim[i], &size) && size < 0)
            return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %d would be %lld", i, (long long)size);
    }
    hg_shape_require(d, p.axes.valid, &n->out[0]);
    return HOLO_OK;
}

static holo_status pad_emit(hg_emit *e)
{
    hg_dims *d = &e->g->dims;
    const int32_t rank = hg_emit_type(e, 0)->rank;
    const hg_infer n = hg_shape_from_emit(e);
    pad_inputs p = {0};
    HG_TRY(pad_read(&n, rank, &p));
    e->in[1] = hg_node_in(e->g, e->node, 2);
    e->n_in = e->in[1] == 0 ? 1 : 2;
    HG_TRY(hg_emit_int(e, pad_mode(hg_node_string(e->node, "mode", "constant"))));
    for (int32_t i = 0; i < rank; i++)
        HG_TRY(hg_emit_dim(e, hg_shape_pick(d, &p.axes, p.before, i, hg_dim_const(d, 0))));
    return HOLO_OK;
}

/* What was added is cut off, what was cut off is 0. */
static holo_status pad_gradient(hg_gradient *d)
{
    hg_dims *dims = &d->b->g->dims;
    const hg_infer n = hg_gradient_reader(d);
    const int32_t rank = hg_gradient_type(d, 0)->rank;
    hg_dim before[HG_MAX_RANK], after[HG_MAX_RANK], none = hg_dim_const(dims, 0);
    pad_inputs p = {0};
    if (pad_mode(hg_node_string(hg_gradient_node(d), "mode", "constant")) != 0)
        return hg_gradient_pick(d);
    if (hg_gradient_input(d, 2) != 0 && d->wanted[2])
        return hg_gradient_fail(d, "its constant value is a variable");
    HG_TRY(pad_read(&n, rank, &p));
    for (int32_t i = 0; i < rank; i++) {
        before[i] = hg_dim_sub(dims, none, hg_shape_pick(dims, &p.axes, p.before, i, none));
        after[i] = hg_dim_sub(dims, none, hg_shape_pick(dims, &p.axes, p.after, i, none));
    }
    d->in[0] = hg_build_pad(d->b, d->out[0], before, after, rank);
    return d->b->status;
}

const hg_op hg_op_pad = {
    .name = "Pad",
    .brief = "a tensor with a border added or cut off",
    .since = 1,
    .version = 25,
    .in = {1, 4},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .upgrade = pad_upgrade,
    .infer = pad_infer,
    .kernel = "pad",
    .emit = pad_emit,
    .gradient = pad_gradient,
};
