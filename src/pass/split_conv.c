/* split_conv.c - a Conv whose channels are taken apart becomes one Conv for each part, so that no
 * part is copied out of a whole: each writes its own result, and what follows it joins it.
 *
 *     Slice(f(Conv(x, w))), Slice(f(Conv(x, w)))  ->  f(Conv(x, w[part 0])), f(Conv(x, w[part 1]))
 *
 * f is point-wise and depends on nothing else. A Split is such slices by now. Channels that nobody
 * takes are not computed. */
#include "pass/pass.h"

enum {
    SPLIT_CONV_PARTS = 8,
    SPLIT_CONV_CHAIN = 8, /* nodes between */
    SPLIT_CONV_AXIS = 1,
    SPLIT_CONV_WIDTH = 8, /* a part is whole vectors, */
    SPLIT_CONV_LEAST = 16 /* and one panel of weights at least */
};

/* Channels [begin, begin + size) are `value`. */
typedef struct split_conv_part {
    hg_value_id value;
    int64_t begin, size;
} split_conv_part;

typedef struct split_conv {
    hg_graph *g;
    hg_node_id conv;
    hg_node_id chain[SPLIT_CONV_CHAIN]; /* what comes behind it, in order */
    uint32_t n_chain;
    split_conv_part part[SPLIT_CONV_PARTS];
    uint32_t n_part;
} split_conv;

static const hg_type *split_conv_type(const hg_graph *g, hg_value_id v)
{
    return &hg_graph_value(g, v)->type;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* In order. Parts that overlap would be computed twice. */
static bool split_conv_add(split_conv *s, hg_value_id value, int64_t begin, int64_t size)
{
    if (s->n_part == SPLIT_CONV_PARTS || begin < 0 || size < SPLIT_CONV_LEAST ||
        size % SPLIT_CONV_WIDTH != 0)
        return false;
    for (uint32_t i = 0; i < s->n_part; i++)
        if (s->part[i].begin < begin + size && begin < s->part[i].begin + s->part[i].size)
            return false;
    uint32_t at = s->n_part++;
    for (; at > 0 && s->part[at - 1].begin > begin; at--)
        s->part[at] = s->part[at - 1];
    s->part[at] = (split_conv_part){value, begin, size};
    return true;
}

/* One constant range of channels, one by one. */
static bool split_conv_slice(split_conv *s, const hg_node *n, int64_t channels)
{
    const int64_t *start, *axis, *step;
    size_t n_start, n_axis, n_step = 1;
    int64_t size;
    hg_graph *g = s->g;
    const hg_value_id axes = hg_node_in(g, n, 3), steps = hg_node_in(g, n, 4);
    const hg_type *to = split_conv_type(g, n->out[0]);
    if (axes == 0 || !hg_graph_const_ints(g, axes, &axis, &n_axis) ||
        !hg_graph_const_ints(g, hg_node_in(g, n, 1), &start, &n_start) || n_axis != 1 ||
        n_start != 1 || (*axis != SPLIT_CONV_AXIS && *axis + to->rank != SPLIT_CONV_AXIS))
        return false;
    if (steps != 0 && (!hg_graph_const_ints(g, steps, &step, &n_step) || n_step != 1 || *step != 1))
        return false;
    return hg_dim_is_const(&g->dims, to->dim[SPLIT_CONV_AXIS], &size) &&
           split_conv_add(s, n->out[0], *start < 0 ? *start + channels : *start, size);
}

/* Everybody who reads v takes some of its channels. */
static bool split_conv_parts(split_conv *s, hg_value_id v, int64_t channels)
{
    const hg_graph *g = s->g;
    for (uint32_t slot = hg_graph_value(g, v)->first_use; slot != 0; slot = g->use[slot - 1].next) {
        const hg_node_id id = g->use[slot - 1].node;
        if (id == 0 || g->use[slot - 1].index != 0) return false;
        const hg_node *n = hg_graph_node(g, id);
        if (n->region != HG_REGION_MAIN) return false;
        if (!hg_op_is(n, "Slice") || !split_conv_slice(s, n, channels)) return false;
    }
    return s->n_part > 1 && !hg_graph_is_measured(g, v);
}

/* ---- what is taken apart --------------------------------------------------------------------- */

static bool split_conv_has(const split_conv *s, hg_node_id id)
{
    for (uint32_t i = 0; i < s->n_chain; i++)
        if (s->chain[i] == id) return true;
    return false;
}

/* v is the Conv's result or made of it alone, point by point. */
static bool split_conv_collect(split_conv *s, hg_value_id v, int depth)
{
    const hg_graph *g = s->g;
    const hg_node_id id = hg_graph_value(g, v)->node;
    double unused;
    if (id == 0 || depth > SPLIT_CONV_CHAIN) return false;
    const hg_node *n = hg_graph_node(g, id);
    if (hg_op_is(n, "Conv")) {
        const bool is_same = s->conv == 0 || s->conv == id;
        s->conv = id;
        return is_same;
    }
    if (split_conv_has(s, id)) return true;
    if (n->op->lane == NULL || n->n_out != 1) return false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const hg_value_id in = hg_node_in(g, n, i);
        if (in != 0 && !hg_graph_const_scalar(g, in, &unused) &&
            !split_conv_collect(s, in, depth + 1))
            return false;
    }
    if (s->n_chain == SPLIT_CONV_CHAIN) return false;
    s->chain[s->n_chain++] = id;
    return true;
}

/* Nobody else reads what is computed on the way to v. */
static bool split_conv_is_closed(const split_conv *s, hg_value_id v)
{
    const hg_graph *g = s->g;
    for (uint32_t i = 0; i <= s->n_chain; i++) {
        const hg_value_id made = hg_graph_node(g, i == s->n_chain ? s->conv : s->chain[i])->out[0];
        if (made == v) continue;
        if (hg_graph_is_measured(g, made)) return false;
        for (uint32_t slot = hg_graph_value(g, made)->first_use; slot != 0;
             slot = g->use[slot - 1].next)
            if (g->use[slot - 1].node == 0 || !split_conv_has(s, g->use[slot - 1].node))
                return false;
    }
    return true;
}

/* The algorithm for 3 x 3 kernels transforms its input, which several would do again. */
static bool split_conv_transforms(const hg_graph *g, const hg_node *conv, const hg_type *w)
{
    size_t count = 0;
    const int64_t *stride = hg_node_ints(conv, "strides", &count);
    bool is_one = true;
    for (size_t i = 0; stride != NULL && i < count; i++)
        is_one = is_one && stride[i] == 1;
    return is_one && w->rank >= 4 && hg_dim_is(&g->dims, w->dim[w->rank - 1], 3) &&
           hg_dim_is(&g->dims, w->dim[w->rank - 2], 3);
}

/* Constant weights of one group; reading the input again costs no more than copying the output,
 * which is read and written. */
static bool split_conv_pays(const split_conv *s)
{
    const hg_graph *g = s->g;
    const hg_node *n = hg_graph_node(g, s->conv);
    const hg_value *w = hg_graph_value(g, hg_node_in(g, n, 1));
    const hg_value_id bias = hg_node_in(g, n, 2);
    int64_t in, out;
    if (w->constant == NULL || w->type.dtype != HOLO_F32 || w->constant->bytes == 0 ||
        hg_node_int(n, "group", 1) != 1 || (bias != 0 && !hg_graph_is_const(g, bias)) ||
        !hg_dim_is_const(&g->dims, w->type.dim[1], &in) ||
        !hg_dim_is_const(&g->dims, w->type.dim[0], &out))
        return false;
    return !split_conv_transforms(g, n, &w->type) && (s->n_part - 1) * in <= 2 * out;
}

/* ---- the parts by themselves ----------------------------------------------------------------- */

/* Rows [begin, begin + size) of a constant, where they are. */
static hg_value_id split_conv_rows(hg_build *b, hg_value_id constant, const split_conv_part *part)
{
    if (constant == 0 || b->status != HOLO_OK) return 0;
    const hg_value v = *hg_graph_value(b->g, constant);
    hg_type type = v.type;
    int64_t rows = 1;
    hg_value_id made = 0;
    (void)hg_dim_is_const(&b->g->dims, type.dim[0], &rows);
    const size_t row = v.constant->bytes / (size_t)rows;
    type.dim[0] = hg_dim_const(&b->g->dims, part->size);
    b->status = hg_graph_add_const(b->g, (hg_str){0}, type,
                                   (const char *)v.constant->data + (size_t)part->begin * row,
                                   (size_t)part->size * row, &made);
    return made;
}

/* The Conv with some of its rows, then the chain with that in place of the whole. */
static holo_status split_conv_build(split_conv *s, const split_conv_part *part)
{
    hg_graph *g = s->g;
    hg_value_id old[SPLIT_CONV_CHAIN + 1], made[SPLIT_CONV_CHAIN + 1], in[HG_MAX_RANK];
    hg_build b;
    hg_build_init(&b, g, s->conv);
    in[0] = hg_build_in(&b, 0);
    in[1] = split_conv_rows(&b, hg_build_in(&b, 1), part);
    in[2] = split_conv_rows(&b, hg_build_in(&b, 2), part);
    hg_node_id node = hg_build_clone(&b, in, hg_graph_node(g, s->conv)->n_in);
    if (node == 0) return b.status;
    old[0] = hg_graph_node(g, s->conv)->out[0];
    made[0] = hg_graph_node(g, node)->out[0];
    for (uint32_t i = 0; i < s->n_chain; i++) {
        hg_build_init(&b, g, s->chain[i]);
        const uint32_t n_in = hg_graph_node(g, s->chain[i])->n_in;
        for (uint32_t k = 0; k < n_in; k++) {
            in[k] = hg_build_in(&b, k);
            for (uint32_t j = 0; j <= i; j++)
                if (in[k] == old[j]) in[k] = made[j];
        }
        node = hg_build_clone(&b, in, n_in);
        if (node == 0) return b.status;
        old[i + 1] = hg_graph_node(g, s->chain[i])->out[0];
        made[i + 1] = hg_graph_node(g, node)->out[0];
    }
    hg_graph_replace_uses(g, part->value, made[s->n_chain]);
    return HOLO_OK;
}

static bool split_conv_fits(const split_conv *s)
{
    for (uint32_t i = 0; i < s->n_chain; i++)
        if (hg_graph_node(s->g, s->chain[i])->n_in > HG_MAX_RANK) return false;
    return s->conv != 0 && hg_graph_node(s->g, s->conv)->n_in <= 3;
}

static holo_status split_conv_node(hg_graph *g, hg_node_id id, bool *changed)
{
    split_conv s = {.g = g};
    const hg_value_id v = hg_node_in(g, hg_graph_node(g, id), 0);
    int64_t channels;
    if (v == 0 || split_conv_type(g, v)->rank < 3 ||
        !hg_dim_is_const(&g->dims, split_conv_type(g, v)->dim[SPLIT_CONV_AXIS], &channels) ||
        !split_conv_collect(&s, v, 0) || !split_conv_fits(&s) || !split_conv_is_closed(&s, v) ||
        !split_conv_parts(&s, v, channels) || !split_conv_pays(&s))
        return HOLO_OK;
    for (uint32_t i = 0; i < s.n_part; i++)
        HG_TRY(split_conv_build(&s, &s.part[i]));
    *changed = true;
    return HOLO_OK;
}

static holo_status split_conv_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;
         id = hg_graph_node(g, id)->next) {
        const hg_node *n = hg_graph_node(g, id);
        /* parts of what was taken apart already have no readers left */
        if (hg_op_is(n, "Slice") && hg_graph_value(g, n->out[0])->first_use != 0)
            HG_TRY(split_conv_node(g, id, changed));
    }
    return HOLO_OK;
}

const hg_pass hg_pass_split_conv = {
    .name = "split_conv",
    .brief = "a Conv whose channels are taken apart becomes one for each part",
    .flags = HG_PASS_TUNED,
    .run = split_conv_run,
};
