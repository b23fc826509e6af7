/* merge_branches.c - convolutions of one value that are added become one, with the sum of their
 * weights; a convolution takes up its own input, too, where that has a factor per channel. Networks
 * whose branches were not joined after training have these. Rounding differs slightly, so
 * --numerics exact leaves it out.
 *
 *     Conv(x, A) + Conv(x, B)   ->  Conv(x, A + B)        taps of B are some of A's
 *     Conv(x, A) + (x * f + s)  ->  Conv(x, A + diag(f)) + s */
#include "pass/pass.h"

enum { BRANCH_SPATIAL = HG_MAX_RANK - 2 };

typedef struct branch {
    hg_node_id id; /* 0: factor and summand of a channel */
    hg_value_id x, weights, bias;
    int32_t rank; /* spatial axes */
    int64_t outputs, depth, groups;
    int64_t kernel[BRANCH_SPATIAL], stride[BRANCH_SPATIAL];
    int64_t dilation[BRANCH_SPATIAL], pad[BRANCH_SPATIAL];
} branch;

static int64_t branch_number(const hg_node *n, const char *name, int32_t i, int64_t otherwise)
{
    size_t count = 0;
    const int64_t *list = hg_node_ints(n, name, &count);
    return list != NULL && (size_t)i < count ? list[i] : otherwise;
}

static const float *branch_data(const hg_graph *g, hg_value_id v)
{
    return v == 0 ? NULL : hg_graph_value(g, v)->constant->data;
}

/* v is a Conv with constants that nobody else reads. SAME pads by sizes. */
static bool branch_conv(const hg_graph *g, hg_value_id v, branch *b)
{
    const hg_node *n = hg_op_producer(g, v, "Conv");
    if (n == NULL || hg_graph_only_user(g, v) == 0) return false;
    const hg_str how = hg_node_string(n, "auto_pad", "NOTSET");
    *b = (branch){.id = hg_graph_value(g, v)->node,
                  .x = hg_node_in(g, n, 0),
                  .weights = hg_node_in(g, n, 1),
                  .bias = hg_node_in(g, n, 2),
                  .groups = hg_node_int(n, "group", 1)};
    const hg_type *w = &hg_graph_value(g, b->weights)->type;
    b->rank = w->rank - 2;
    if (!hg_graph_is_const(g, b->weights) || w->dtype != HOLO_F32 ||
        (b->bias != 0 && !hg_graph_is_const(g, b->bias)) ||
        !(hg_str_is(how, "NOTSET") || hg_str_is(how, "VALID")) ||
        !hg_dim_is_const(&g->dims, w->dim[0], &b->outputs) ||
        !hg_dim_is_const(&g->dims, w->dim[1], &b->depth))
        return false;
    for (int32_t i = 0; i < b->rank; i++) {
        if (!hg_dim_is_const(&g->dims, w->dim[2 + i], &b->kernel[i])) return false;
        b->stride[i] = branch_number(n, "strides", i, 1);
        b->dilation[i] = branch_number(n, "dilations", i, 1);
        b->pad[i] = hg_str_is(how, "VALID") ? 0 : branch_number(n, "pads", i, 0);
    }
    return true;
}

/* The operand of `v = op(operand, constant per channel)` that is no constant; 0: it is not that. */
static hg_value_id branch_channel(const hg_graph *g, hg_value_id v, const char *op, hg_value_id *c)
{
    const hg_node *n = hg_op_producer(g, v, op);
    if (n == NULL || hg_graph_only_user(g, v) == 0) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        *c = hg_node_in(g, n, i);
        if (hg_is_channel_const(g, *c, &hg_graph_value(g, v)->type)) return hg_node_in(g, n, 1 - i);
    }
    *c = 0;
    return 0;
}

/* v = x * weights + bias, as a Conv with one tap for each channel alone. */
static bool branch_scaled(const hg_graph *g, hg_value_id v, const branch *a, branch *b)
{
    *b = *a;
    b->id = 0;
    const hg_value_id product = branch_channel(g, v, "Add", &b->bias);
    b->x = branch_channel(g, product == 0 ? v : product, "Mul", &b->weights);
    if (b->x == 0 || a->outputs != a->depth * a->groups) return false;
    for (int32_t i = 0; i < b->rank; i++) {
        if (a->stride[i] != 1) return false;
        b->kernel[i] = 1;
        b->pad[i] = 0;
    }
    return true;
}

/* Where tap t of b is among those of a along an axis; -1: nowhere. */
static int64_t branch_tap(const branch *a, const branch *b, int32_t i, int64_t t)
{
    const int64_t place = a->pad[i] - b->pad[i] + t * b->dilation[i];
    const int64_t tap = place / a->dilation[i];
    return place >= 0 && place % a->dilation[i] == 0 && tap < a->kernel[i] ? tap : -1;
}

static bool branch_fits(const branch *a, const branch *b)
{
    if (a->x != b->x || a->rank != b->rank || a->groups != b->groups || a->outputs != b->outputs)
        return false;
    for (int32_t i = 0; i < a->rank; i++) {
        if (a->stride[i] != b->stride[i]) return false;
        for (int64_t t = 0; t < b->kernel[i]; t++)
            if (branch_tap(a, b, i, t) < 0) return false;
    }
    return true;
}

/* Weights of a, those of b added where they belong. */
static void branch_add(const hg_graph *g, const branch *a, const branch *b, float *to)
{
    const float *from = branch_data(g, b->weights);
    int64_t taps = 1, own = 1;
    for (int32_t i = 0; i < a->rank; i++) {
        taps *= a->kernel[i];
        own *= b->kernel[i];
    }
    for (int64_t tap = 0; tap < own; tap++) {
        int64_t at = 0, rest = tap, step = 1;
        for (int32_t i = a->rank - 1; i >= 0; i--) {
            at += branch_tap(a, b, i, rest % b->kernel[i]) * step;
            step *= a->kernel[i];
            rest /= b->kernel[i];
        }
        for (int64_t row = 0; row < a->outputs * a->depth; row++) {
            if (b->id != 0)
                to[row * taps + at] += from[row * own + tap];
            else if (row / a->depth % a->depth == row % a->depth)
                to[row * taps + at] += from[row / a->depth];
        }
    }
}

/* Both in place of the sum `id`. */
static holo_status branch_merge(hg_graph *g, hg_node_id id, const branch *a, const branch *b)
{
    const hg_value *old = hg_graph_value(g, a->weights);
    const hg_type type = old->type;
    const hg_type line = {.dtype = HOLO_F32, .rank = 1, .dim = {type.dim[0]}};
    const size_t bytes = old->constant->bytes;
    const float *bias[2] = {branch_data(g, a->bias), branch_data(g, b->bias)};
    float *weights, *sum;
    HG_TRY(HG_NEW(g->ctx, bytes / sizeof *weights + 1, &weights));
    HG_TRY(HG_NEW(g->ctx, (size_t)a->outputs + 1, &sum));
    memcpy(weights, old->constant->data, bytes);
    branch_add(g, a, b, weights);
    for (int64_t i = 0; i < a->outputs; i++)
        sum[i] = (bias[0] == NULL ? 0 : bias[0][i]) + (bias[1] == NULL ? 0 : bias[1][i]);
    hg_build build;
    hg_build_init(&build, g, id);
    const hg_value_id in[3] = {a->x, hg_build_const(&build, type, weights, bytes),
                               hg_build_const(&build, line, sum, (size_t)a->outputs * sizeof *sum)};
    const hg_node_id made = hg_build_copy(&build, a->id, in, 3);
    if (made == 0) return build.status;
    hg_build_replace(&build, 0, hg_graph_node(g, made)->out[0]);
    if (build.status == HOLO_OK) hg_graph_remove_node(g, id);
    return build.status;
}

static holo_status branch_sum(hg_graph *g, hg_node_id id, bool *changed)
{
    const hg_node *n = hg_graph_node(g, id);
    const hg_value_id in[2] = {hg_node_in(g, n, 0), hg_node_in(g, n, 1)};
    const hg_type *type[2] = {&hg_graph_value(g, in[0])->type, &hg_graph_value(g, in[1])->type};
    if (!hg_type_equal(type[0], type[1])) return HOLO_OK;
    for (int i = 0; i < 2; i++) {
        branch a, b;
        if (!branch_conv(g, in[i], &a)) continue;
        if (!branch_conv(g, in[1 - i], &b) && !branch_scaled(g, in[1 - i], &a, &b)) continue;
        if (!branch_fits(&a, &b)) continue;
        *changed = true;
        return branch_merge(g, id, &a, &b);
    }
    return HOLO_OK;
}

static holo_status branches_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        if (hg_op_is(hg_graph_node(g, id), "Add")) HG_TRY(branch_sum(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_merge_branches = {
    .name = "merge_branches",
    .brief = "convolutions of one value that are added become one",
    .run = branches_run,
};
