/* gridsample.c - GridSample: an input sampled at the places of a grid. */
#include "op/op_gridsample.h"

/* GridSample-16 says bilinear and bicubic. */
static const char *const gridsample_modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const gridsample_old_modes[] = {"nearest", "bilinear", "bicubic", NULL};
static const char *const gridsample_paddings[] = {"zeros", "border", "reflection", NULL};

static holo_status gridsample_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 20) return HOLO_OK;
    hg_str mode = hg_node_string(hg_graph_node(g, id), "mode", "bilinear");
    for (int i = 0; gridsample_old_modes[i] != NULL; i++)
        if (hg_str_is(mode, gridsample_old_modes[i]))
            return hg_graph_set_attr(g, id, hg_attr_make_string("mode", gridsample_modes[i]));
    return HOLO_OK;
}

static int64_t gridsample_find(hg_str text, const char *const *words)
{
    for (int64_t i = 0; words[i] != NULL; i++)
        if (hg_str_is(text, words[i])) return i;
    return -1;
}

static holo_status gridsample_infer(hg_infer *n)
{
    hg_str mode, padding;
    int64_t align;
    const hg_type *x = n->in[0], *grid = n->in[1];
    HG_TRY(hg_infer_rank(n, 0, 3, HG_MAX_RANK));
    HG_TRY(hg_infer_rank(n, 1, x->rank, x->rank));
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_FLOAT));
    HG_TRY(hg_attr_int(n, "align_corners", 0, &align));
    HG_TRY(hg_attr_string(n, "mode", "linear", &mode));
    HG_TRY(hg_attr_string(n, "padding_mode", "zeros", &padding));
    int64_t kind = gridsample_find(mode, gridsample_modes);
    if (kind < 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "mode is \"%.*s\", expected nearest, linear or cubic",
                             HG_STR_ARG(mode));
    if (kind > 0 && !hg_dtype_in(x->dtype, HG_TYPES_NUMBER))
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "%s cannot be interpolated",
                             holo_dtype_text(x->dtype));
    if (gridsample_find(padding, gridsample_paddings) < 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "padding_mode is \"%.*s\", expected zeros, border or reflection",
                             HG_STR_ARG(padding));
    n->out[0] = *x;
    for (int32_t i = 2; i < x->rank; i++)
        n->out[0].dim[i] = grid->dim[i - 1];
    return HOLO_OK;
}

static holo_status gridsample_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(
        e, gridsample_find(hg_node_string(e->node, "mode", "linear"), gridsample_modes)));
    HG_TRY(hg_emit_int(
        e, gridsample_find(hg_node_string(e->node, "padding_mode", "zeros"), gridsample_paddings)));
    return hg_emit_int(e, hg_node_int(e->node, "align_corners", 0) != 0);
}

const hg_op hg_op_gridsample = {
    .name = "GridSample",
    .brief = "an input sampled at the places of a grid",
    .since = 16,
    .version = 22,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .upgrade = gridsample_upgrade,
    .infer = gridsample_infer,
    .kernel = "gridsample",
    .emit = gridsample_emit,
    .gradient = hg_gridsample_gradient,
};
