/* dropout.c - Dropout: y = x; in training, random elements become 0 and the others grow. */
#include "op/op.h"

/* Before Dropout-12, training is what is_test (Dropout-1, -6) denies; a ratio is an attribute. */
static holo_status dropout_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    const hg_node *node = hg_graph_node(g, id);
    if (opset >= 7 || hg_node_int(node, "is_test", 0) != 0) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    return hg_build_fail(&b, HOLO_E_UNSUPPORTED, "trains: is_test is 0; set it to 1");
}

static holo_status dropout_infer(hg_infer *n)
{
    for (uint32_t i = 1; i < n->n_in; i++)
        if (hg_infer_has(n, i))
            HG_TRY(hg_infer_types(n, i, i == 1 ? HG_TYPES_FLOAT : HG_TYPES_BOOL));
    HG_TRY(hg_infer_same_as_input(n));
    if (n->n_out < 2) return HOLO_OK;
    n->out[1] = *n->in[0];
    n->out[1].dtype = HOLO_BOOL;
    return HOLO_OK;
}

/* y = x / (1 - ratio) where the mask holds, in training; x otherwise. */
static hg_value_id dropout_scale(hg_build *b, hg_value_id kept)
{
    hg_value_id ratio = hg_build_in(b, 1), training = hg_build_in(b, 2);
    holo_dtype dtype = hg_build_type(b, kept)->dtype;
    ratio = ratio == 0 ? hg_build_scalar(b, HOLO_F32, 0.5) : hg_build_cast(b, ratio, HOLO_F32);
    hg_value_id one = hg_build_scalar(b, HOLO_F32, 1.0);
    hg_value_id grow = hg_build_1(b, "Reciprocal", hg_build_2(b, "Sub", one, ratio));
    hg_value_id scale = hg_build_3(b, "Where", training, grow, one);
    return hg_build_2(b, "Mul", kept, hg_build_cast(b, scale, dtype));
}

static holo_status dropout_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0), training = hg_build_in(b, 2), mask;
    const hg_type type = *hg_build_type(b, x);
    const bool wants_mask = b->node->n_out > 1 && b->node->out[1] != 0;
    double trains;
    if (training == 0 || (hg_graph_const_scalar(b->g, training, &trains) && trains == 0)) {
        hg_build_replace(b, 0, hg_build_1(b, "Identity", x));
        if (!wants_mask) return b->status;
        mask = hg_build_2(b, "Expand", hg_build_scalar(b, HOLO_BOOL, 1),
                          hg_build_dims(b, type.dim, (uint32_t)type.rank));
    } else {
        hg_value_id in[3] = {x, hg_build_in(b, 1), training};
        hg_attr seed = hg_attr_make_int("seed", hg_node_int(b->node, "seed", 0));
        mask = hg_build_op(b, "holo:DropoutMask", in, 3, &seed, 1);
        hg_value_id kept = hg_build_3(b, "Where", mask, x, hg_build_scalar(b, type.dtype, 0.0));
        hg_build_replace(b, 0, dropout_scale(b, kept));
    }
    if (wants_mask) hg_build_replace(b, 1, mask);
    return b->status;
}

const hg_op hg_op_dropout = {
    .name = "Dropout",
    .brief = "y = x; in training, random elements become 0 and the others grow",
    .since = 1,
    .version = 22,
    .in = {1, 3},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT,
    .upgrade = dropout_upgrade,
    .infer = dropout_infer,
    .lower = dropout_lower,
};
