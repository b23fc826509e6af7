/* castlike.c - CastLike: x converted to the element type of another tensor. */
#include "op/op.h"
#include "op/op_upgrade.h"

static holo_status castlike_infer(hg_infer *n)
{
    n->out[0] = *n->in[0];
    n->out[0].dtype = n->in[1]->dtype;
    return HOLO_OK;
}

static holo_status castlike_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    hg_str mode = hg_node_string(b->node, "round_mode", "up");
    hg_attr attr[] = {
        hg_attr_make_int("to", (int64_t)hg_build_type(b, hg_build_in(b, 1))->dtype),
        hg_attr_make_int("saturate", hg_node_int(b->node, "saturate", 1)),
        {.name = hg_str_from("round_mode"), .kind = HG_ATTR_STRING, .s = mode},
    };
    return hg_rewrite_as(b, "Cast", &x, 1, attr, HG_COUNT(attr));
}

const hg_op hg_op_castlike = {
    .name = "CastLike",
    .brief = "x converted to the element type of another tensor",
    .since = 15,
    .version = 25,
    .in = {2, 2},
    .out = {1, 1},
    .infer = castlike_infer,
    .lower = castlike_lower,
};
