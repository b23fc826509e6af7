/* fuse_planes.c - the first convolution of a picture reads its planes: the pass over it that makes
 * them pixels is part of the convolution, which keeps only the lines that it reads. Tuned kernels
 * fuse multiply-adds, so exact numerics keep what is there. */
#include "op/op_window.h"
#include "pass/pass.h"

enum {
    PLANES_MOST = 4,    /* planes that become pixels in registers */
    PLANES_DEPTH = 256, /* more weights than that for each output are read in blocks elsewhere */
    PLANES_FEW = 4      /* fewer outputs are dot products elsewhere */
};

/* [n, h, w, c] made of [n, c, h, w], of few planes: these, or 0. */
static hg_value_id planes_of(const hg_graph *g, hg_value_id pixels, hg_node_id reader)
{
    static const int64_t order[4] = {0, 2, 3, 1};
    size_t count;
    int64_t planes;
    const hg_value *v = hg_graph_value(g, pixels);
    if (v->node == 0 || hg_graph_only_user(g, pixels) != reader || v->type.rank != 4 ||
        v->type.dtype != HOLO_F32 || !hg_dim_is_const(&g->dims, v->type.dim[3], &planes) ||
        planes < 1 || planes > PLANES_MOST)
        return 0;
    const hg_node *n = hg_graph_node(g, v->node);
    if (!hg_op_is(n, "Transpose")) return 0;
    const int64_t *perm = hg_node_ints(n, "perm", &count);
    return perm != NULL && count == 4 && memcmp(perm, order, sizeof order) == 0
               ? hg_node_in(g, n, 0)
               : 0;
}

/* All entries of an attribute are `value`, or there are none. */
static bool planes_all(const hg_node *n, const char *name, int64_t value)
{
    size_t count;
    const int64_t *v = hg_node_ints(n, name, &count);
    for (size_t i = 0; v != NULL && i < count; i++)
        if (v[i] != value) return false;
    return true;
}

static bool planes_suits(const hg_graph *g, const hg_node *n)
{
    size_t axes;
    int64_t depth, outputs;
    const int64_t *kernel = hg_node_ints(n, "kernel_shape", &axes);
    const hg_type *w = &hg_graph_value(g, hg_node_in(g, n, 1))->type;
    const hg_type *y = &hg_graph_value(g, n->out[0])->type;
    return kernel != NULL && axes == 2 && kernel[1] > 1 && planes_all(n, "dilations", 1) &&
           hg_node_int(n, "group", 1) == 1 && hg_dim_is_const(&g->dims, w->dim[2], &depth) &&
           depth <= PLANES_DEPTH && hg_dim_is_const(&g->dims, y->dim[3], &outputs) &&
           outputs > PLANES_FEW;
}

static holo_status planes_fuse(hg_graph *g, hg_node_id id, hg_value_id planes)
{
    hg_build b;
    hg_value_id *in;
    hg_build_init(&b, g, id);
    const uint32_t n_in = hg_graph_node(g, id)->n_in;
    HG_TRY(HG_NEW(g->ctx, n_in, &in));
    const hg_node *n = hg_graph_node(g, id);
    in[0] = planes;
    for (uint32_t i = 1; i < n_in; i++)
        in[i] = hg_node_in(g, n, i);
    const hg_node_id made = hg_build_node(&b, "holo:ConvNchw", in, n_in, n->attr, n->n_attr, 1);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status planes_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        const bool suits = hg_op_is(n, "holo:ConvNhwc") && planes_suits(g, n);
        const hg_value_id planes = suits ? planes_of(g, hg_node_in(g, n, 0), id) : 0;
        if (planes != 0) HG_TRY(planes_fuse(g, id, planes));
        *changed |= planes != 0;
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_planes = {
    .name = "fuse_planes",
    .brief = "the first convolution of a picture reads its planes",
    .flags = HG_PASS_TUNED,
    .run = planes_run,
};
