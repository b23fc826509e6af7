/* fold_pad.c - zeros that a Pad puts around the places of an image become padding of the Conv that
 * reads it, which never stores them. */
#include "pass/pass.h"

enum { FOLD_PAD_PLACES = 2 }; /* the first dimension of them, behind images and channels */

/* The Pad in front of Conv `n`, when it adds zeros whose number is known; 0: none. */
static hg_node_id fold_pad_before(const hg_graph *g, const hg_node *n)
{
    const hg_value_id x = hg_node_in(g, n, 0);
    const hg_node_id id = x == 0 ? 0 : hg_graph_value(g, x)->node;
    if (id == 0 || !hg_op_is(hg_graph_node(g, id), "Pad")) return 0;
    const hg_node *pad = hg_graph_node(g, id);
    const hg_value_id fill = hg_node_in(g, pad, 2);
    double value = 0;
    if (!hg_str_is(hg_node_string(pad, "mode", "constant"), "constant")) return 0;
    if (fill != 0 && (!hg_graph_const_scalar(g, fill, &value) || value != 0)) return 0;
    return id;
}

/* What the Pad adds before and behind each dimension; false when that is unknown, negative, or not
 * among the places. */
static bool fold_pad_read(hg_graph *g, const hg_node *pad, int64_t amount[2][HG_MAX_RANK])
{
    const int32_t rank = hg_graph_value(g, pad->out[0])->type.rank;
    const int64_t *pads, *axes = NULL;
    size_t count, n_axes = (size_t)rank;
    const hg_value_id from = hg_node_in(g, pad, 3);
    if (!hg_graph_const_ints(g, hg_node_in(g, pad, 1), &pads, &count)) return false;
    if (from != 0 && !hg_graph_const_ints(g, from, &axes, &n_axes)) return false;
    if (count != 2 * n_axes) return false;
    memset(amount, 0, 2 * sizeof amount[0]);
    for (size_t i = 0; i < n_axes; i++) {
        int64_t axis = axes == NULL ? (int64_t)i : axes[i];
        if (axis < 0) axis += rank;
        if (axis < 0 || axis >= rank) return false;
        for (int side = 0; side < 2; side++) {
            const int64_t add = pads[i + (size_t)side * n_axes];
            if (add < 0 || add > INT32_MAX || (add > 0 && axis < FOLD_PAD_PLACES)) return false;
            amount[side][axis] = add;
        }
    }
    return true;
}

/* The Conv with the padding of both; reads what the Pad reads. */
static holo_status fold_pad_into(hg_graph *g, hg_node_id id, const hg_node *pad,
                                 int64_t amount[2][HG_MAX_RANK])
{
    hg_build b;
    hg_build_init(&b, g, id);
    size_t count = 0;
    const bool is_valid = hg_str_is(hg_node_string(b.node, "auto_pad", "NOTSET"), "VALID");
    const int32_t places = hg_graph_value(g, pad->out[0])->type.rank - FOLD_PAD_PLACES;
    const int64_t *own = hg_node_ints(b.node, "pads", &count);
    int64_t pads[2 * HG_MAX_RANK];
    for (int32_t i = 0; i < 2 * places; i++)
        pads[i] = (own != NULL && (size_t)i < count && !is_valid ? own[i] : 0) +
                  amount[i / places][FOLD_PAD_PLACES + i % places];
    hg_value_id in[3] = {hg_node_in(g, pad, 0), hg_build_in(&b, 1), hg_build_in(&b, 2)};
    HG_TRY(hg_graph_set_attr(g, id, hg_attr_make_ints(&b, "pads", pads, (uint32_t)(2 * places))));
    if (is_valid) HG_TRY(hg_graph_set_attr(g, id, hg_attr_make_string("auto_pad", "NOTSET")));
    const hg_node_id made = hg_build_clone(&b, in, b.node->n_in);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

/* SAME pads by the size it sees. */
static bool fold_pad_is_conv(const hg_node *n)
{
    const hg_str how = hg_node_string(n, "auto_pad", "NOTSET");
    return hg_op_is(n, "Conv") && (hg_str_is(how, "NOTSET") || hg_str_is(how, "VALID"));
}

static holo_status fold_pad_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        int64_t amount[2][HG_MAX_RANK];
        const hg_node_id pad = fold_pad_is_conv(n) ? fold_pad_before(g, n) : 0;
        /* Zeros that are stored are multiplied, those of padding are not: the same for finite
         * weights alone. */
        if (pad != 0 && fold_pad_read(g, hg_graph_node(g, pad), amount) &&
            hg_graph_const_is_finite(g, hg_node_in(g, n, 1))) {
            HG_TRY(fold_pad_into(g, id, hg_graph_node(g, pad), amount));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fold_pad = {
    .name = "fold_pad",
    .brief = "zeros that a Pad adds around an image become padding of the Conv that reads it",
    .run = fold_pad_run,
};
