/* dropout.c - Dropout: y = x; in training, random elements become 0 and the others grow. */
#include "op/op.h"

#define DROPOUT_TYPES (HG_TYPES_FLOAT | HG_TYPES_FLOAT8)

/* Dropout-1 and -6 train unless is_test says otherwise, with the ratio of an attribute; before
 * Dropout-10 the mask has the type of the data. Dropout-7 and -10 do not train. */
static holo_status dropout_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    hg_build b;
    if (opset >= 10) return HOLO_OK;
    hg_build_init(&b, g, id);
    hg_value_id in[3] = {hg_build_in(&b, 0)};
    const holo_dtype dtype = hg_build_type(&b, in[0])->dtype;
    const bool trains = opset < 7 && hg_node_int(b.node, "is_test", 0) == 0;
    const bool wants_mask = b.node->n_out > 1 && b.node->out[1] != 0;
    if (trains) {
        in[1] = hg_build_scalar(&b, HOLO_F32, hg_node_float(b.node, "ratio", 0.5));
        in[2] = hg_build_scalar(&b, HOLO_BOOL, 1);
    }
    hg_node_id made = hg_build_node(&b, "Dropout", in, trains ? 3 : 1, NULL, 0, wants_mask ? 2 : 1);
    if (made == 0) return b.status;
    hg_value_id mask = wants_mask ? hg_graph_node(g, made)->out[1] : 0;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    if (wants_mask) hg_build_replace(&b, 1, hg_build_cast(&b, mask, dtype));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status dropout_infer(hg_infer *n)
{
    for (uint32_t i = 1; i < n->n_in; i++)
        if (hg_infer_has(n, i))
            HG_TRY(hg_infer_types(n, i, i == 1 ? DROPOUT_TYPES : HG_TYPES_BOOL));
    HG_TRY(hg_infer_same_as_input(n));
    if (n->n_out < 2) return HOLO_OK;
    n->out[1] = *n->in[0];
    n->out[1].dtype = HOLO_BOOL;
    return HOLO_OK;
}

/* Floats of 8 bits are computed as f32. */
static hg_value_id dropout_wide(hg_build *b, hg_value_id x)
{
    if (x == 0 || !hg_dtype_in(hg_build_type(b, x)->dtype, HG_TYPES_FLOAT8)) return x;
    return hg_build_cast(b, x, HOLO_F32);
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
        hg_value_id in[3] = {x, dropout_wide(b, hg_build_in(b, 1)), training};
        hg_attr seed = hg_attr_make_int("seed", hg_node_int(b->node, "seed", 0));
        mask = hg_build_op(b, "holo:DropoutMask", in, 3, &seed, 1);
        x = dropout_wide(b, x);
        hg_value_id zero = hg_build_scalar(b, hg_build_type(b, x)->dtype, 0.0);
        hg_value_id y = dropout_scale(b, hg_build_3(b, "Where", mask, x, zero));
        hg_build_replace(b, 0, hg_build_cast(b, y, type.dtype));
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
    .types = DROPOUT_TYPES,
    .upgrade = dropout_upgrade,
    .infer = dropout_infer,
    .lower = dropout_lower,
};
