/* fold_batchnorm.c - a convolution followed by a factor and a summand per channel (what
 * BatchNormalization is at inference), or by the same for all channels, gets other weights instead.
 * Rounding differs slightly, so --numerics exact leaves it out. */
#include "pass/pass.h"

bool hg_is_channel_const(const hg_graph *g, hg_value_id c, const hg_type *out)
{
    if (c == 0 || !hg_graph_is_const(g, c)) return false;
    const hg_type *t = &hg_graph_value(g, c)->type;
    int32_t shift = out->rank - t->rank;
    if (t->dtype != HOLO_F32 || shift < 0 || shift > 1) return false;
    for (int32_t k = 0; k < t->rank; k++)
        if (k + shift == 1 ? t->dim[k] != out->dim[1] : !hg_dim_is(&g->dims, t->dim[k], 1))
            return false;
    return true;
}

/* The same number for all channels, of which there are some. Weights that are computed would be
 * multiplied with it at every run: an epilogue does that as well. */
static bool batchnorm_is_scalar(const hg_graph *g, hg_value_id conv, hg_value_id c)
{
    const hg_value *out = hg_graph_value(g, conv);
    const hg_node *n = hg_graph_node(g, out->node);
    double number;
    int64_t channels;
    return hg_graph_const_scalar(g, c, &number) && hg_graph_value(g, c)->type.dtype == HOLO_F32 &&
           hg_graph_value(g, c)->type.rank <= out->type.rank &&
           hg_dim_is_const(&g->dims, out->type.dim[1], &channels) && channels > 0 &&
           hg_graph_is_const(g, hg_node_in(g, n, 1));
}

/* It as one for each channel. */
static holo_status batchnorm_spread(hg_graph *g, const hg_type *out, hg_value_id *c)
{
    double number;
    int64_t channels;
    float *each;
    hg_type type = {.dtype = HOLO_F32, .rank = out->rank - 1};
    if (hg_is_channel_const(g, *c, out)) return HOLO_OK;
    if (!hg_graph_const_scalar(g, *c, &number) ||
        !hg_dim_is_const(&g->dims, out->dim[1], &channels))
        return HOLO_OK;
    type.dim[0] = out->dim[1];
    for (int32_t i = 1; i < type.rank; i++)
        type.dim[i] = hg_dim_const(&g->dims, 1);
    HG_TRY(HG_NEW(g->ctx, (size_t)channels, &each));
    for (int64_t i = 0; i < channels; i++)
        each[i] = (float)number;
    return hg_graph_add_const(g, (hg_str){0}, type, each, (size_t)channels * sizeof *each, c);
}

/* The only reader of the convolution's result, when it is `op` with such a constant. */
static hg_node_id batchnorm_next(const hg_graph *g, hg_value_id value, const char *op,
                                 hg_value_id *c)
{
    hg_node_id id = hg_graph_only_user(g, value);
    if (id == 0 || !hg_op_is(hg_graph_node(g, id), op)) return 0;
    const hg_node *n = hg_graph_node(g, id);
    *c = hg_node_in(g, n, hg_node_in(g, n, 0) == value ? 1 : 0);
    return hg_is_channel_const(g, *c, &hg_graph_value(g, value)->type) ||
                   batchnorm_is_scalar(g, value, *c)
               ? id
               : 0;
}

static const float *batchnorm_data(const hg_graph *g, hg_value_id v)
{
    return v == 0 ? NULL : hg_graph_value(g, v)->constant->data;
}

/* Weights [o, ...] that are computed, times factor[o]: before node `conv`. */
static holo_status batchnorm_scale_computed(hg_graph *g, hg_node_id conv, hg_value_id factor)
{
    hg_build build;
    hg_build_init(&build, g, conv);
    const hg_value_id weights = hg_build_in(&build, 1);
    hg_type type = *hg_build_type(&build, weights);
    for (int32_t i = 1; i < type.rank; i++)
        type.dim[i] = hg_dim_const(&g->dims, 1);
    const hg_const *c = hg_graph_value(g, factor)->constant;
    const hg_value_id f = hg_build_const(&build, type, c->data, c->bytes);
    const hg_value_id made = hg_build_2(&build, "Mul", weights, f);
    if (build.status == HOLO_OK) hg_graph_set_input(g, conv, 1, made);
    return build.status;
}

/* Weights [o, ...] times factor[o], of a ConvTranspose [c, o, ...]; bias times factor plus summand.
 * NULL: 1 or 0. */
static holo_status batchnorm_apply(hg_graph *g, hg_node_id conv, hg_value_id factor,
                                   hg_value_id summand)
{
    const hg_node *n = hg_graph_node(g, conv);
    hg_value_id weights = hg_node_in(g, n, 1), bias = hg_node_in(g, n, 2), made;
    hg_type wt = hg_graph_value(g, weights)->type, bt = {.dtype = HOLO_F32, .rank = 1};
    const bool is_const = hg_graph_is_const(g, weights);
    size_t bytes = is_const ? hg_graph_value(g, weights)->constant->bytes : 0, o = 0;
    int64_t channels = 0, outer = 1;
    const bool is_turned = hg_op_is(n, "ConvTranspose");
    bt.dim[0] = wt.dim[is_turned ? 1 : 0];
    (void)hg_dim_is_const(&g->dims, bt.dim[0], &channels);
    if (is_turned) (void)hg_dim_is_const(&g->dims, wt.dim[0], &outer);
    o = (size_t)channels;
    const float *f = batchnorm_data(g, factor), *s = batchnorm_data(g, summand),
                *b = batchnorm_data(g, bias), *w = is_const ? batchnorm_data(g, weights) : NULL;
    float *new_bias;
    HG_TRY(HG_NEW(g->ctx, o + 1, &new_bias));
    for (size_t i = 0; i < o; i++)
        new_bias[i] =
            (b == NULL ? 0.0f : b[i]) * (f == NULL ? 1.0f : f[i]) + (s == NULL ? 0.0f : s[i]);
    if (f != NULL && !is_const) HG_TRY(batchnorm_scale_computed(g, conv, factor));
    if (f != NULL && is_const) {
        size_t count = bytes / sizeof(float), each = count == 0 ? 1 : count / o / (size_t)outer;
        float *scaled;
        HG_TRY(HG_NEW(g->ctx, count + 1, &scaled));
        for (size_t i = 0; i < count; i++)
            scaled[i] = w[i] * f[i / each % o];
        HG_TRY(hg_graph_add_const(g, hg_graph_value(g, weights)->name, wt, scaled, bytes, &made));
        hg_graph_set_input(g, conv, 1, made);
    }
    HG_TRY(hg_graph_add_const(g, (hg_str){0}, bt, new_bias, o * sizeof(float), &made));
    hg_build build;
    hg_build_init(&build, g, conv);
    hg_value_id in[3] = {hg_build_in(&build, 0), hg_build_in(&build, 1), made};
    hg_node_id clone = hg_build_clone(&build, in, 3);
    if (clone == 0) return build.status;
    hg_build_replace(&build, 0, hg_graph_node(g, clone)->out[0]);
    hg_graph_remove_node(g, conv);
    return build.status;
}

/* Weights that are computed are multiplied whenever the model runs: they are known to be fewer than
 * results, or these are unknown. */
static bool batchnorm_pays(hg_graph *g, const hg_node *n)
{
    int64_t weights, results;
    const hg_dim own = hg_type_count(g, &hg_graph_value(g, hg_node_in(g, n, 1))->type);
    const hg_dim all = hg_type_count(g, &hg_graph_value(g, n->out[0])->type);
    if (!hg_dim_is_const(&g->dims, own, &weights)) return false;
    return !hg_dim_is_const(&g->dims, all, &results) || weights <= results;
}

static bool batchnorm_is_conv(hg_graph *g, const hg_node *n)
{
    const bool is_turned = hg_op_is(n, "ConvTranspose") && hg_node_int(n, "group", 1) == 1;
    if (!hg_op_is(n, "Conv") && !is_turned) return false;
    hg_value_id w = hg_node_in(g, n, 1), b = hg_node_in(g, n, 2);
    return (hg_graph_is_const(g, w) || (!is_turned && batchnorm_pays(g, n))) &&
           hg_graph_value(g, w)->type.dtype == HOLO_F32 && (b == 0 || hg_graph_is_const(g, b));
}

/* As many factors and summands as follow, in any order. */
static holo_status batchnorm_node(hg_graph *g, hg_node_id id, bool *changed)
{
    static const char *const follower[2] = {"Mul", "Add"};
    for (int k = 0; k < 2;) {
        hg_value_id c = 0, result = hg_graph_node(g, id)->out[0];
        hg_node_id next = batchnorm_next(g, result, follower[k], &c);
        if (next == 0) {
            k++;
            continue;
        }
        const hg_type type = hg_graph_value(g, result)->type;
        HG_TRY(batchnorm_spread(g, &type, &c));
        hg_node_id before = hg_graph_node(g, id)->prev;
        hg_graph_replace_uses(g, hg_graph_node(g, next)->out[0], result);
        hg_graph_remove_node(g, next);
        HG_TRY(batchnorm_apply(g, id, k == 0 ? c : 0, k == 0 ? 0 : c));
        id = before == 0 ? hg_graph_region(g, HG_REGION_MAIN)->first
                         : hg_graph_node(g, before)->next;
        *changed = true;
        k = 0;
    }
    return HOLO_OK;
}

static holo_status batchnorm_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT || (g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0)
        return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        hg_node_id prev = hg_graph_node(g, id)->prev;
        if (batchnorm_is_conv(g, hg_graph_node(g, id))) HG_TRY(batchnorm_node(g, id, changed));
        id = prev == 0 ? hg_graph_region(g, HG_REGION_MAIN)->first : hg_graph_node(g, prev)->next;
        id = hg_graph_node(g, id)->next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fold_batchnorm = {
    .name = "fold_batchnorm",
    .brief = "factors and summands per channel move into the convolution before them",
    .run = batchnorm_run,
};
