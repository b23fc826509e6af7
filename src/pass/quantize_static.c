/* quantize_static.c - a product or convolution of codes: weights, bias and what rounding shifts. */
#include "pass/quantize_state.h"

#include <math.h>

hg_quantize_weights hg_quantize_read(const hg_quantize_state *s, uint32_t i)
{
    const hg_graph *g = s->g;
    const hg_node *n = hg_graph_node(g, s->layer[i]);
    const hg_value *v = hg_graph_value(g, hg_node_in(g, n, 1));
    hg_quantize_weights w = {.data = v->constant->data, .type = v->type, .alpha = 1};
    int64_t dim[2] = {0, 0}, count = (int64_t)(v->constant->bytes / sizeof(float));
    for (int k = 0; k < 2; k++)
        (void)hg_dim_is_const(&g->dims, v->type.dim[k], &dim[k]);
    const bool by_row = s->kind[i] == HG_QUANTIZE_CONV || hg_node_int(n, "trans_b", 0) != 0;
    w.channels = by_row ? dim[0] : dim[1];
    w.each = count / w.channels;
    w.channel = by_row ? w.each : 1;
    w.step = by_row ? 1 : dim[1];
    if (s->kind[i] == HG_QUANTIZE_MATMUL) w.alpha = (float)hg_node_float(n, "alpha", 1.0);
    return w;
}
/* Relative error of codes[c][i] * scale[c]. */
double hg_quantize_error(const hg_quantize_weights *w, const int8_t *codes, const float *scale)
{
    double difference = 0, size = 0;
    for (int64_t c = 0; c < w->channels; c++) {
        for (int64_t i = 0; i < w->each; i++) {
            const double x = (double)w->data[c * w->channel + i * w->step];
            const double d = x - (double)codes[c * w->channel + i * w->step] * (double)scale[c];
            difference += d * d;
            size += x * x;
        }
    }
    return size == 0 ? 0 : sqrt(difference / size);
}

/* Weights that are all rounded the same way shift the average of a channel: by the average input
 * times the rounding. What a bias can take back, it does. NULL: nothing is known. */
static holo_status static_shift(const hg_quantize_state *s, uint32_t i, uint32_t activation,
                                const hg_quantize_weights *w, const int8_t *codes,
                                const float *scale, float **out)
{
    const hg_quantize_channels *m = &s->q->channel[activation];
    const float *smooth = s->activation[activation].smooth;
    const hg_node *n = hg_graph_node(s->g, s->layer[i]);
    const bool is_conv = s->kind[i] == HG_QUANTIZE_CONV;
    const int64_t groups = is_conv ? hg_node_int(n, "group", 1) : 1;
    *out = NULL;
    if (m->sum == NULL || m->count == 0 || groups < 1 || m->is_last == is_conv) return HOLO_OK;
    const int64_t per_group = m->channels / groups,
                  spread = w->each / (per_group == 0 ? 1 : per_group);
    if (per_group == 0 || spread * per_group != w->each || w->channels % groups != 0)
        return HOLO_OK;
    HG_TRY(HG_NEW(s->g->ctx, (size_t)w->channels, out));
    for (int64_t c = 0; c < w->channels; c++) {
        const double *mean = m->sum + c / (w->channels / groups) * per_group;
        double sum = 0;
        for (int64_t k = 0; k < w->each; k++) {
            const int64_t at = c * w->channel + k * w->step;
            const double x = smooth == NULL ? mean[k / spread] : mean[k] / (double)smooth[k];
            sum += x * ((double)w->data[at] - (double)codes[at] * (double)scale[c]);
        }
        (*out)[c] = (float)(sum / (double)m->count) * w->alpha;
    }
    return HOLO_OK;
}

/* A vector [n] plus the shift; `bias` 0: the shift itself. */
static hg_value_id static_shifted(hg_build *b, hg_value_id bias, const float *shift, int64_t n)
{
    hg_type type = {.dtype = HOLO_F32, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, n);
    if (shift == NULL) return bias;
    float *sum = hg_arena_array(&b->ctx->arena, (size_t)n, sizeof *sum);
    if (sum == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)n * sizeof *sum);
        return 0;
    }
    const float *old = bias == 0 ? NULL : hg_graph_value(b->g, bias)->constant->data;
    for (int64_t c = 0; c < n; c++)
        sum[c] = (old == NULL ? 0 : old[c]) + shift[c];
    return hg_build_const(b, type, sum, (size_t)n * sizeof *sum);
}

/* The bias of a product is an Add behind it that alone reads it. */
static void static_shift_add(hg_quantize_state *s, hg_build *b, uint32_t i, const float *shift,
                             int64_t n)
{
    hg_node_id id = hg_graph_only_user(s->g, hg_graph_node(s->g, s->layer[i])->out[0]);
    if (shift == NULL || id == 0 || !hg_op_is(hg_graph_node(s->g, id), "Add")) return;
    for (uint32_t k = 0; k < 2; k++) {
        hg_value_id bias = hg_node_in(s->g, hg_graph_node(s->g, id), k);
        if (!hg_quantize_is_weight(s->g, bias, 1, 1) ||
            !hg_dim_is(&s->g->dims, hg_graph_value(s->g, bias)->type.dim[0], n))
            continue;
        bias = static_shifted(b, bias, shift, n);
        if (bias != 0) hg_graph_set_input(s->g, id, k, bias);
        return;
    }
}

/* int32 codes of the bias, with the scale of the sums. */
static hg_value_id static_bias(hg_build *b, hg_value_id bias, float scale, const float *weight,
                               int64_t channels)
{
    const float *from = hg_graph_value(b->g, bias)->constant->data;
    const hg_type type = hg_graph_value(b->g, bias)->type;
    int32_t *codes = hg_arena_array(&b->ctx->arena, (size_t)channels, sizeof *codes);
    float *scales = hg_arena_array(&b->ctx->arena, (size_t)channels, sizeof *scales);
    if (codes == NULL || scales == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)channels * 4);
        return 0;
    }
    for (int64_t c = 0; c < channels; c++) {
        scales[c] = scale * weight[c];
        const double code = nearbyint((double)from[c] / (double)scales[c]);
        codes[c] = (int32_t)(code > INT32_MAX ? INT32_MAX : code < INT32_MIN ? INT32_MIN : code);
    }
    hg_type t = type;
    t.dtype = HOLO_I32;
    const size_t bytes = (size_t)channels * 4;
    hg_value_id in[2] = {hg_build_const(b, t, codes, bytes),
                         hg_build_const(b, type, scales, bytes)};
    hg_attr axis = hg_attr_make_int("axis", 0);
    return hg_build_op(b, "DequantizeLinear", in, 2, &axis, 1);
}

/* A bias far above the weights of its channel would leave int32: such a channel gets a larger
 * scale. */
static float static_least(const hg_graph *g, hg_value_id bias, int64_t c, float scale)
{
    if (bias == 0) return 0;
    const float *b = hg_graph_value(g, bias)->constant->data;
    return fabsf(b[c]) / scale / 1073741824.0f;
}

/* The same for sums with inputs of 16 bits. */
static float static_column(const hg_quantize_weights *w, int64_t c)
{
    double sum = 0;
    for (int64_t k = 0; k < w->each; k++)
        sum += fabs((double)w->data[c * w->channel + k * w->step]);
    return (float)(sum / HG_QUANTIZE_COLUMN);
}

/* Numbers of a window; 0: pairs are not limited, or kernels multiply 16-bit numbers, as those of a
 * depthwise convolution do. */
static int64_t static_taps(const hg_quantize_state *s, uint32_t i, const hg_quantize_weights *w)
{
    int64_t channels;
    if (s->q->any_pair) return 0;
    if (s->kind[i] != HG_QUANTIZE_CONV) return hg_quantize_digits(s, s->reads[i]) == 2 ? 0 : 1;
    if (!hg_dim_is_const(&s->g->dims, w->type.dim[1], &channels) || channels < 1) return 1;
    return channels == 1 && hg_node_int(hg_graph_node(s->g, s->layer[i]), "group", 1) > 1
               ? 0
               : w->each / channels;
}

holo_status hg_quantize_round(const hg_quantize_state *s, uint32_t i, float x_scale,
                              const hg_quantize_weights *w, int8_t **codes, float **scale)
{
    hg_graph *g = s->g;
    const hg_node *n = hg_graph_node(g, s->layer[i]);
    hg_value_id bias = s->kind[i] == HG_QUANTIZE_CONV ? hg_node_in(g, n, 2) : 0;
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * w->each), codes));
    HG_TRY(HG_NEW(g->ctx, (size_t)w->channels, scale));
    bool done = false;
    if (s->q->activations) HG_TRY(hg_quantize_solve(s, i, w, x_scale, *codes, *scale, &done));
    const bool is_two = hg_quantize_digits(s, s->reads[i]) == 2;
    for (int64_t c = 0; c < w->channels && !done; c++) {
        const float least = is_two ? static_column(w, c) : static_least(g, bias, c, x_scale);
        (*scale)[c] = hg_quantize_channel(s->q->mode, w->data + c * w->channel, w->each, w->step,
                                          static_taps(s, i, w), least, *codes + c * w->channel);
    }
    return HOLO_OK;
}

/* DQ(codes): axis is that of the output channels. A product's matrix is [k, n] from now on. */
static hg_value_id static_dequantized(hg_build *b, const hg_quantize_weights *w, bool is_conv,
                                      int8_t *codes, float *scale)
{
    hg_type type = w->type, line = {.dtype = HOLO_F32, .rank = 1};
    const size_t count = (size_t)(w->channels * w->each);
    type.dtype = HOLO_I8;
    line.dim[0] = hg_dim_const(&b->g->dims, w->channels);
    if (!is_conv && w->step == 1) {
        int8_t *turned = hg_arena_array(&b->ctx->arena, count, 1);
        if (turned == NULL) {
            b->status = hg_fail_nomem(b->ctx->error, count);
            return 0;
        }
        for (int64_t c = 0; c < w->channels; c++)
            for (int64_t i = 0; i < w->each; i++)
                turned[i * w->channels + c] = codes[c * w->each + i];
        codes = turned;
        type.dim[0] = w->type.dim[1];
        type.dim[1] = w->type.dim[0];
    }
    for (int64_t c = 0; c < w->channels; c++)
        scale[c] *= w->alpha;
    hg_value_id in[2] = {hg_build_const(b, type, codes, count),
                         hg_build_const(b, line, scale, (size_t)w->channels * sizeof *scale)};
    hg_attr axis = hg_attr_make_int("axis", is_conv ? 0 : 1);
    return hg_build_op(b, "DequantizeLinear", in, 2, &axis, 1);
}

void hg_quantize_replace(hg_quantize_state *s, uint32_t i, hg_build *b, hg_value_id made)
{
    if (b->status != HOLO_OK) return;
    hg_value *old = hg_graph_value(s->g, hg_graph_node(s->g, s->layer[i])->out[0]);
    hg_graph_value(s->g, made)->name = old->name;
    hg_build_replace(b, 0, made);
    hg_graph_remove_node(s->g, s->layer[i]);
    s->layer[i] = hg_graph_value(s->g, made)->node;
}

/* Weights times what their inputs have been divided by. */
static holo_status static_stretch(const hg_quantize_state *s, uint32_t activation,
                                  hg_quantize_weights *w)
{
    const float *smooth = s->activation[activation].smooth;
    float *to;
    if (smooth == NULL) return HOLO_OK;
    HG_TRY(HG_NEW(s->g->ctx, (size_t)(w->channels * w->each), &to));
    for (int64_t c = 0; c < w->channels; c++) {
        for (int64_t k = 0; k < w->each; k++) {
            const int64_t at = c * w->channel + k * w->step;
            to[at] = w->data[at] * smooth[k];
        }
    }
    w->data = to;
    return HOLO_OK;
}

/* Codes and scales, of which those that took long are found once. */
static holo_status static_round(const hg_quantize_state *s, uint32_t i, float step,
                                const hg_quantize_weights *w, int8_t **codes, float **scale)
{
    const size_t count = (size_t)(w->channels * w->each), lines = (size_t)w->channels;
    hg_quantize_found *f =
        s->q->found == NULL ? NULL : &s->q->found[2 * i + hg_quantize_digits(s, s->reads[i]) - 1];
    if (f == NULL || f->codes == NULL) HG_TRY(hg_quantize_round(s, i, step, w, codes, scale));
    if (f == NULL || s->q->channel[s->reads[i]].square == NULL) return HOLO_OK;
    if (f->codes == NULL) {
        HG_TRY(HG_NEW(s->q->ctx, count, &f->codes));
        HG_TRY(HG_NEW(s->q->ctx, lines, &f->scale));
        memcpy(f->codes, *codes, count);
        memcpy(f->scale, *scale, lines * sizeof **scale);
        return HOLO_OK;
    }
    *codes = f->codes;
    HG_TRY(HG_NEW(s->g->ctx, lines, scale));
    memcpy(*scale, f->scale, lines * sizeof **scale);
    return HOLO_OK;
}

holo_status hg_quantize_static(hg_quantize_state *s, uint32_t i)
{
    const bool is_conv = s->kind[i] == HG_QUANTIZE_CONV;
    hg_quantize_weights w = hg_quantize_read(s, i);
    hg_quantize_layer *layer = &s->q->layer[i];
    hg_quantize_code code;
    int8_t *codes;
    float *scale, *shift;
    hg_build b;
    hg_build_init(&b, s->g, s->layer[i]);
    hg_value_id dq = hg_build_in(&b, 0), bias = is_conv ? hg_build_in(&b, 2) : 0;
    const uint32_t activation = s->reads[i];
    HG_TRY(hg_quantize_scale(s, activation, &code));
    HG_TRY(static_stretch(s, activation, &w));
    HG_TRY(static_round(s, i, code.scale, &w, &codes, &scale));
    HG_TRY(static_shift(s, i, activation, &w, codes, scale, &shift));
    if (is_conv) bias = static_shifted(&b, bias, shift, w.channels);
    if (!is_conv) static_shift_add(s, &b, i, shift, w.channels);
    HG_TRY(b.status);
    layer->weight_error = hg_quantize_error(&w, codes, scale);
    layer->weights = (uint64_t)(w.channels * w.each);
    layer->form = hg_quantize_digits(s, activation) == 2 ? "static, 16 bits" : "static";
    hg_value_id in[3] = {dq, 0, 0}, made;
    if (bias != 0) in[2] = static_bias(&b, bias, code.scale, scale, w.channels);
    in[1] = static_dequantized(&b, &w, is_conv, codes, scale);
    if (is_conv) {
        hg_node_id clone = hg_build_clone(&b, in, bias != 0 ? 3 : 2);
        if (clone == 0) return b.status;
        made = hg_graph_node(s->g, clone)->out[0];
    } else {
        made = hg_build_2(&b, "MatMul", in[0], in[1]);
    }
    hg_quantize_replace(s, i, &b, made);
    return b.status;
}
