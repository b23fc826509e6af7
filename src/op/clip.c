/* clip.c - Clip: y = min(max, max(min, x)). */
#include "op/op.h"
#include "op/op_upgrade.h"

/* Clip-6: the bounds are attributes. */
static holo_status clip_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 11) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id in[3] = {hg_build_in(&b, 0)};
    holo_dtype dtype = hg_build_type(&b, in[0])->dtype;
    static const char *const name[] = {"min", "max"};
    uint32_t n_in = 1;
    for (uint32_t i = 0; i < 2; i++) {
        if (hg_node_attr(b.node, name[i]) == NULL) continue;
        in[1 + i] = hg_build_scalar(&b, dtype, hg_node_float(b.node, name[i], 0.0));
        n_in = 2 + i;
    }
    return hg_upgrade_replace(&b, "Clip", in, n_in, NULL, 0);
}

static holo_status clip_infer(hg_infer *n)
{
    for (uint32_t i = 1; i < n->n_in; i++) {
        if (!hg_infer_has(n, i)) continue;
        HG_TRY(hg_infer_same_type(n, 0, i));
        HG_TRY(hg_infer_rank(n, i, 0, n->in[0]->rank < 1 ? 0 : 1));
        if (n->in[i]->rank == 1 && !hg_infer_equal(n, n->in[i]->dim[0], hg_dim_const(n->dims, 1)))
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "input %u has more than one element, expected a scalar", i);
    }
    return hg_infer_same_as_input(n);
}

static holo_status clip_lower(hg_build *b)
{
    hg_value_id y = hg_build_in(b, 0), low = hg_build_in(b, 1), high = hg_build_in(b, 2);
    if (low != 0) y = hg_build_2(b, "Max", y, low);
    if (high != 0) y = hg_build_2(b, "Min", y, high);
    if (low == 0 && high == 0) y = hg_build_1(b, "Identity", y);
    hg_build_replace(b, 0, y);
    return b->status;
}

const hg_op hg_op_clip = {
    .name = "Clip",
    .brief = "y = min(max, max(min, x))",
    .since = 1,
    .version = 13,
    .in = {1, 3},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .upgrade = clip_upgrade,
    .infer = clip_infer,
    .lower = clip_lower,
};
