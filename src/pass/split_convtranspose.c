/* split_convtranspose.c - a 1-D ConvTranspose of stride s is a Conv of stride 1 with s times as
 * many output channels: output position j * s + p takes taps p, p + s, ... of the kernel, which
 * meet inputs j, j - 1, ... So channels (p, o) of position j are the outputs j * s + p, and with
 * channels last these already lie in their place: the result is a view. */
#include "op/op_conv.h"
#include "pass/pass.h"

typedef struct split_form {
    int64_t channels, outputs, kernel, stride, taps; /* taps of the Conv */
} split_form;

static bool split_constant(const hg_graph *g, hg_value_id v)
{
    return v != 0 && hg_graph_is_const(g, v) && hg_graph_value(g, v)->type.dtype == HOLO_F32;
}

/* Everything but the length is constant, and the positions the Conv makes contain the output. */
static bool split_read(hg_graph *g, hg_build *b, hg_conv *c, split_form *f)
{
    hg_infer reader;
    const hg_dims *d = &g->dims;
    int64_t dilation, pad;
    b->status = hg_build_reader(b, &reader);
    if (b->status != HOLO_OK) return false;
    b->status = hg_conv_read(&reader, HG_CONV_TRANSPOSED, reader.in[0], reader.in[1], c);
    if (b->status != HOLO_OK) return false;
    const hg_type *w = reader.in[1];
    if (c->groups != 1 || !hg_dim_is_const(d, w->dim[0], &f->channels) ||
        !hg_dim_is_const(d, w->dim[1], &f->outputs) || !hg_dim_is_const(d, w->dim[2], &f->kernel) ||
        !hg_dim_is_const(d, c->window.stride[0], &f->stride) ||
        !hg_dim_is_const(d, c->window.dilation[0], &dilation) ||
        !hg_dim_is_const(d, c->window.pad_begin[0], &pad))
        return false;
    if (dilation != 1 || pad < 0 || f->stride < 2 || f->kernel < 1 || f->channels < 1 ||
        f->outputs < 1)
        return false;
    if (hg_dim_is(d, reader.in[0]->dim[2], 0)) return false; /* a Conv needs a place to stand */
    f->taps = hg_ceil_div(f->kernel, f->stride);
    if (f->taps * f->stride > 2 * f->kernel) return false; /* most weights would be zeros */
    /* made (length + taps - 1) * stride positions; the last one wanted lies at pad + out - 1 */
    const hg_dim made = hg_dim_mul(
        &g->dims, hg_dim_add(&g->dims, reader.in[0]->dim[2], hg_dim_const(&g->dims, f->taps - 1)),
        hg_dim_const(&g->dims, f->stride));
    const hg_dim last = hg_dim_add(&g->dims, c->window.out[0], c->window.pad_begin[0]);
    int64_t spare;
    return hg_dim_is_const(d, hg_dim_sub(&g->dims, made, last), &spare) && spare >= 0;
}

/* W [c, o, k] as [(p, o), c, u], tap (taps - 1 - u) * s + p of the kernel, or zero behind its end.
 */
static hg_value_id split_weights(hg_build *b, const split_form *f)
{
    const float *w = hg_graph_value(b->g, hg_build_in(b, 1))->constant->data;
    const int64_t rows = f->stride * f->outputs;
    const hg_type type = {.dtype = HOLO_F32,
                          .rank = 3,
                          .dim = {hg_dim_const(&b->g->dims, rows),
                                  hg_dim_const(&b->g->dims, f->channels),
                                  hg_dim_const(&b->g->dims, f->taps)}};
    float *to;
    b->status = HG_NEW(b->ctx, (size_t)(rows * f->channels * f->taps), &to);
    for (int64_t row = 0; b->status == HOLO_OK && row < rows; row++)
        for (int64_t c = 0; c < f->channels; c++)
            for (int64_t u = 0; u < f->taps; u++) {
                const int64_t tap = (f->taps - 1 - u) * f->stride + row / f->outputs;
                to[(row * f->channels + c) * f->taps + u] =
                    tap < f->kernel ? w[(c * f->outputs + row % f->outputs) * f->kernel + tap] : 0;
            }
    return hg_build_const(b, type, to, (size_t)(rows * f->channels * f->taps) * sizeof *to);
}

/* The bias of each phase. */
static hg_value_id split_bias(hg_build *b, const split_form *f)
{
    const float *bias = hg_graph_value(b->g, hg_build_in(b, 2))->constant->data;
    const int64_t rows = f->stride * f->outputs;
    const hg_type type = {.dtype = HOLO_F32, .rank = 1, .dim = {hg_dim_const(&b->g->dims, rows)}};
    float *to;
    b->status = HG_NEW(b->ctx, (size_t)rows, &to);
    for (int64_t row = 0; b->status == HOLO_OK && row < rows; row++)
        to[row] = bias[row % f->outputs];
    return hg_build_const(b, type, to, (size_t)rows * sizeof *to);
}

static holo_status split_node(hg_graph *g, hg_node_id id, bool *changed)
{
    hg_build b;
    hg_conv c = {0};
    split_form f;
    hg_build_init(&b, g, id);
    if (!split_read(g, &b, &c, &f)) return b.status;
    hg_dims *d = &g->dims;
    const hg_value_id x = hg_build_in(&b, 0);
    const hg_dim batch = hg_build_type(&b, x)->dim[0], length = hg_build_type(&b, x)->dim[2];
    hg_value_id in[3] = {x, split_weights(&b, &f), 0};
    if (hg_build_in(&b, 2) != 0) in[2] = split_bias(&b, &f);
    const int64_t pads[] = {f.taps - 1, f.taps - 1};
    const hg_attr attr = hg_attr_make_ints(&b, "pads", pads, 2);
    hg_value_id y = hg_build_op(&b, "Conv", in, in[2] != 0 ? 3 : 2, &attr, 1);
    const hg_attr perm = hg_attr_make_ints(&b, "perm", (int64_t[]){0, 2, 1}, 3);
    y = hg_build_op(&b, "Transpose", &y, 1, &perm, 1);
    const hg_dim made = hg_dim_mul(d, hg_dim_add(d, length, hg_dim_const(d, f.taps - 1)),
                                   hg_dim_const(d, f.stride));
    y = hg_build_reshape(&b, y, (hg_dim[]){batch, made, hg_dim_const(d, f.outputs)}, 3);
    const hg_dim end = hg_dim_add(d, c.window.pad_begin[0], c.window.out[0]);
    const hg_value_id slice[] = {y, hg_build_dims(&b, c.window.pad_begin, 1),
                                 hg_build_dims(&b, &end, 1), hg_build_ints(&b, (int64_t[]){1}, 1)};
    y = hg_build_op(&b, "Slice", slice, 4, NULL, 0);
    hg_build_replace(&b, 0, hg_build_op(&b, "Transpose", &y, 1, &perm, 1));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

static holo_status split_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT) return HOLO_OK; /* another order of the sums */
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next, bias = hg_node_in(g, n, 2);
        if (hg_op_is(n, "ConvTranspose") && hg_graph_value(g, n->out[0])->type.rank == 3 &&
            split_constant(g, hg_node_in(g, n, 1)) && (bias == 0 || split_constant(g, bias)))
            HG_TRY(split_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_split_convtranspose = {
    .name = "split_convtranspose",
    .brief = "a 1-D ConvTranspose becomes a Conv with a channel for each phase",
    .run = split_run,
};
