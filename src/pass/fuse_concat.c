/* fuse_concat.c - convolutions read the maps that a Concat would put side by side, which is then no
 * step: a copy of all maps less, and their memory. Products are added in the same order. */
#include "op/op_nhwc.h"
#include "pass/pass.h"

enum {
    CONCAT_PIECE = 16, /* channels that go into every map: fewer make the inner loop short */
    CONCAT_VECTOR = 16 /* Winograd's transform of a vector takes as long as one of a part of it:
                          four maps of 24 channels gained less than that (ppocrv4-det) */
};

/* Maps that are channels of one map. */
typedef struct concat_maps {
    hg_value_id map[HG_NHWC_MAPS];
    uint32_t n;
    int64_t piece; /* the greatest number of channels that goes into each */
} concat_maps;

/* A Concat of channels; a map of one pixel is whole as it is computed (plan/join.c). */
static const hg_node *concat_of(const hg_graph *g, hg_value_id v)
{
    const hg_value *x = hg_graph_value(g, v);
    if (x->node == 0 || x->type.rank != 4 || x->type.dtype != HOLO_F32) return NULL;
    const hg_node *n = hg_graph_node(g, x->node);
    const int64_t axis = hg_node_int(n, "axis", 0);
    const bool is_pixel = hg_dim_is(&g->dims, x->type.dim[0], 1) &&
                          hg_dim_is(&g->dims, x->type.dim[1], 1) &&
                          hg_dim_is(&g->dims, x->type.dim[2], 1);
    return hg_op_is(n, "Concat") && (axis == 3 || axis == -1) && !is_pixel ? n : NULL;
}

/* Adds value v, or what it is a Concat of; false when there are too many maps. */
static bool concat_collect(const hg_graph *g, hg_value_id v, concat_maps *m)
{
    const hg_node *n = concat_of(g, v);
    int64_t channels;
    if (n == NULL) {
        const hg_type *t = &hg_graph_value(g, v)->type;
        if (m->n == HG_NHWC_MAPS || !hg_dim_is_const(&g->dims, t->dim[3], &channels) ||
            channels < 1)
            return false;
        m->piece = hg_gcd(m->piece, channels);
        m->map[m->n++] = v;
        return true;
    }
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!concat_collect(g, hg_node_in(g, n, i), m)) return false;
    return true;
}

/* A convolution that can read maps with `piece` channels, or a multiple of that, side by side. */
static bool concat_suits(const hg_node *n, int64_t piece)
{
    size_t axes;
    const int64_t *kernel = hg_node_ints(n, "kernel_shape", &axes);
    if (!hg_op_is(n, "holo:ConvNhwc") || kernel == NULL || axes != 2 ||
        hg_node_int(n, "group", 1) != 1 || hg_node_int(n, "maps", 1) != 1)
        return false;
    return kernel[0] == 3 && kernel[1] == 3 ? piece % CONCAT_VECTOR == 0 : piece >= CONCAT_PIECE;
}

/* Nobody needs the Concat as a whole: convolutions read it, or another one that nobody needs. */
static bool concat_is_needless(const hg_graph *g, hg_value_id v)
{
    concat_maps maps = {.n = 0};
    if (hg_graph_is_output(g, v) || !concat_collect(g, v, &maps) || maps.n < 2) return false;
    for (uint32_t u = hg_graph_value(g, v)->first_use; u != 0; u = g->use[u - 1].next) {
        const hg_use *use = &g->use[u - 1];
        if (use->node == 0) return false;
        const hg_node *n = hg_graph_node(g, use->node);
        const bool is_concat = hg_op_is(n, "Concat");
        if (is_concat ? concat_of(g, n->out[0]) == NULL || !concat_is_needless(g, n->out[0])
                      : use->index != 0 || !concat_suits(n, maps.piece))
            return false;
    }
    return true;
}

static holo_status concat_fuse(hg_graph *g, hg_node_id id, const concat_maps *m)
{
    hg_build b;
    hg_value_id *in;
    hg_attr *attr;
    hg_build_init(&b, g, id);
    const uint32_t n_in = hg_graph_node(g, id)->n_in, n_attr = hg_graph_node(g, id)->n_attr;
    HG_TRY(HG_NEW(g->ctx, n_in + m->n, &in));
    HG_TRY(HG_NEW(g->ctx, n_attr + 1, &attr));
    const hg_node *n = hg_graph_node(g, id);
    uint32_t at = 0;
    in[at++] = m->map[0];
    in[at++] = hg_node_in(g, n, 1);
    for (uint32_t i = 1; i < m->n; i++)
        in[at++] = m->map[i];
    for (uint32_t i = 2; i < n_in; i++)
        in[at++] = hg_node_in(g, n, i);
    memcpy(attr, n->attr, n_attr * sizeof *attr);
    attr[n_attr] = hg_attr_make_int("maps", m->n);
    const hg_node_id made = hg_build_node(&b, "holo:ConvNhwc", in, at, attr, n_attr + 1, 1);
    if (made == 0) return b.status;
    hg_build_replace(&b, 0, hg_graph_node(g, made)->out[0]);
    hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status concat_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        concat_maps maps = {.n = 0};
        const hg_value_id x = n->n_in == 0 ? 0 : hg_node_in(g, n, 0);
        const bool suits = hg_op_is(n, "holo:ConvNhwc") && concat_of(g, x) != NULL &&
                           concat_is_needless(g, x) && concat_collect(g, x, &maps) &&
                           concat_suits(n, maps.piece);
        if (suits) HG_TRY(concat_fuse(g, id, &maps));
        *changed |= suits;
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fuse_concat = {
    .name = "fuse_concat",
    .brief = "convolutions read the maps that a Concat would put side by side",
    .flags = HG_PASS_TUNED,
    .run = concat_run,
};
