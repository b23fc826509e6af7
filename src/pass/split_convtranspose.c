/* split_convtranspose.c - a ConvTranspose of stride s is a Conv of stride 1 with s times as many
 * output channels along each axis: output position j * s + p takes taps p, p + s, ... of the
 * kernel, which meet inputs j, j - 1, ... So channels (p, o) of position j are the outputs j * s +
 * p. With channels last these already lie in their place along the last axis; phases of the axes
 * before change places with what follows. */
#include "op/op_conv.h"
#include "pass/pass.h"
#include "pass/widen_half.h"

enum { SPLIT_AXES = 3, SPLIT_PLACES = 2 }; /* spatial axes at most; the first of them */

/* An axis: its size in the kernel and the number of taps of the Conv. */
typedef struct split_axis {
    int64_t kernel, stride, taps;
} split_axis;

typedef struct split_form {
    int64_t channels, outputs, phases, taps; /* phases and taps of all axes */
    int32_t rank;                            /* axes */
    split_axis axis[SPLIT_AXES];
    bool is_cut; /* the Conv makes more positions than are wanted */
} split_form;

static bool split_constant(const hg_graph *g, hg_value_id v)
{
    return v != 0 && hg_graph_is_const(g, v) && hg_graph_value(g, v)->type.dtype == HOLO_F32;
}

/* Positions that the Conv makes along an axis. */
static hg_dim split_made(hg_dims *d, const split_axis *a, hg_dim size)
{
    return hg_dim_mul(d, hg_dim_add(d, size, hg_dim_const(d, a->taps - 1)),
                      hg_dim_const(d, a->stride));
}

/* Everything but the size is constant, and the positions the Conv makes contain the output. */
static bool split_read_axis(hg_dims *d, const hg_conv *c, const hg_infer *reader, int32_t i,
                            split_form *f)
{
    split_axis *a = &f->axis[i];
    const hg_dim size = reader->in[0]->dim[SPLIT_PLACES + i];
    int64_t dilation, pad, spare;
    if (!hg_dim_is_const(d, reader->in[1]->dim[SPLIT_PLACES + i], &a->kernel) ||
        !hg_dim_is_const(d, c->window.stride[i], &a->stride) ||
        !hg_dim_is_const(d, c->window.dilation[i], &dilation) ||
        !hg_dim_is_const(d, c->window.pad_begin[i], &pad))
        return false;
    if (dilation != 1 || pad < 0 || a->stride < 1 || a->kernel < 1) return false;
    if (hg_dim_is(d, size, 0)) return false; /* a Conv needs a place to stand */
    a->taps = hg_ceil_div(a->kernel, a->stride);
    /* the last one wanted lies at pad + out - 1 */
    const hg_dim last = hg_dim_add(d, c->window.out[i], c->window.pad_begin[i]);
    if (!hg_dim_is_const(d, hg_dim_sub(d, split_made(d, a, size), last), &spare) || spare < 0)
        return false;
    f->is_cut |= pad != 0 || spare != 0;
    return true;
}

static bool split_read(hg_graph *g, hg_build *b, hg_conv *c, split_form *f)
{
    hg_infer reader;
    const hg_dims *d = &g->dims;
    int64_t kernel = 1;
    b->status = hg_build_reader(b, &reader);
    if (b->status != HOLO_OK) return false;
    b->status = hg_conv_read(&reader, HG_CONV_TRANSPOSED, reader.in[0], reader.in[1], c);
    if (b->status != HOLO_OK) return false;
    const hg_type *w = reader.in[1];
    *f = (split_form){.rank = w->rank - SPLIT_PLACES, .phases = 1, .taps = 1};
    if (c->groups != 1 || !hg_dim_is_const(d, w->dim[0], &f->channels) ||
        !hg_dim_is_const(d, w->dim[1], &f->outputs) || f->channels < 1 || f->outputs < 1)
        return false;
    for (int32_t i = 0; i < f->rank; i++) {
        if (!split_read_axis(&g->dims, c, &reader, i, f)) return false;
        f->phases *= f->axis[i].stride;
        f->taps *= f->axis[i].taps;
        kernel *= f->axis[i].kernel;
    }
    /* With one axis half of the weights may be zeros: nothing is copied but what is cut off. With
     * more the kernel of ConvTranspose is faster than a Conv that multiplies by zeros, unless that
     * has so few channels that it would anyway. */
    return f->phases > 1 &&
           (f->rank == 1 ? f->taps * f->phases <= 2 * kernel
                         : f->taps * f->phases == kernel ||
                               hg_conv_phases_are_one(f->outputs, f->phases, f->taps, kernel));
}

/* Where tap `tap` of the Conv for a phase lies in a kernel [k ..]; -1 behind its end. */
static int64_t split_tap(const split_form *f, int64_t tap, int64_t phase)
{
    int64_t at = 0, step = 1;
    for (int32_t i = f->rank - 1; i >= 0; i--) {
        const split_axis *a = &f->axis[i];
        const int64_t k = (a->taps - 1 - tap % a->taps) * a->stride + phase % a->stride;
        if (k >= a->kernel) return -1;
        at += k * step;
        step *= a->kernel;
        tap /= a->taps;
        phase /= a->stride;
    }
    return at;
}

/* Element `at` of W [c, o, k ..] as [(p .., o), c, u ..]: taps (taps - 1 - u) * s + p of the
 * kernel, or zero behind its end. */
static int64_t split_from(const void *how, int64_t at)
{
    const split_form *f = how;
    const int64_t c = at / f->taps % f->channels, row = at / f->taps / f->channels;
    const int64_t k = split_tap(f, at % f->taps, row / f->outputs);
    int64_t kernel = 1;
    for (int32_t i = 0; i < f->rank; i++)
        kernel *= f->axis[i].kernel;
    return k < 0 ? -1 : (c * f->outputs + row % f->outputs) * kernel + k;
}

static hg_value_id split_weights(hg_build *b, const split_form *f)
{
    const int64_t rows = f->phases * f->outputs;
    hg_dims *d = &b->g->dims;
    hg_weights w;
    hg_type type = {.rank = SPLIT_PLACES + f->rank,
                    .dim = {hg_dim_const(d, rows), hg_dim_const(d, f->channels)}};
    for (int32_t i = 0; i < f->rank; i++)
        type.dim[SPLIT_PLACES + i] = hg_dim_const(d, f->axis[i].taps);
    if (!hg_weights_read(b->g, hg_build_in(b, 1), &w)) return 0;
    return hg_weights_pick(b, &w, type, rows * f->channels * f->taps, split_from, f);
}

/* The bias of each phase. */
static hg_value_id split_bias(hg_build *b, const split_form *f)
{
    const float *bias = hg_graph_value(b->g, hg_build_in(b, 2))->constant->data;
    const int64_t rows = f->phases * f->outputs;
    const hg_type type = {.dtype = HOLO_F32, .rank = 1, .dim = {hg_dim_const(&b->g->dims, rows)}};
    float *to;
    b->status = HG_NEW(b->ctx, (size_t)rows, &to);
    for (int64_t row = 0; b->status == HOLO_OK && row < rows; row++)
        to[row] = bias[row % f->outputs];
    return hg_build_const(b, type, to, (size_t)rows * sizeof *to);
}

static hg_value_id split_turn(hg_build *b, hg_value_id y, const int64_t *perm, uint32_t rank)
{
    const hg_attr attr = hg_attr_make_ints(b, "perm", perm, rank);
    return hg_build_op(b, "Transpose", &y, 1, &attr, 1);
}

/* The Conv's result with channels last as [n, positions .., o]. */
static hg_value_id split_places(hg_build *b, hg_value_id y, const split_form *f, const hg_type *x)
{
    hg_dims *d = &b->g->dims;
    const int32_t rank = f->rank;
    hg_dim dim[SPLIT_PLACES + SPLIT_AXES] = {x->dim[0]};
    hg_dim phases[2 * SPLIT_AXES + 1] = {x->dim[0]}; /* n, places .., phases .., the last's and o */
    int64_t perm[2 * SPLIT_AXES + 1] = {0};
    for (int32_t i = 0; i < rank; i++) {
        const split_axis *a = &f->axis[i];
        const hg_dim size = x->dim[SPLIT_PLACES + i];
        dim[1 + i] = split_made(d, a, size);
        phases[1 + i] = hg_dim_add(d, size, hg_dim_const(d, a->taps - 1));
        phases[1 + rank + i] = hg_dim_const(d, a->stride * (i + 1 == rank ? f->outputs : 1));
        perm[1 + 2 * i] = 1 + i;
        perm[2 + 2 * i] = 1 + rank + i;
    }
    dim[1 + rank] = hg_dim_const(d, f->outputs);
    if (rank > 1) {
        y = hg_build_reshape(b, y, phases, (uint32_t)(2 * rank + 1));
        y = split_turn(b, y, perm, (uint32_t)(2 * rank + 1));
    }
    return hg_build_reshape(b, y, dim, (uint32_t)(2 + rank));
}

/* The positions that are wanted. */
static hg_value_id split_cut(hg_build *b, hg_value_id y, const split_form *f, const hg_window *w)
{
    hg_dim end[SPLIT_AXES];
    int64_t axes[SPLIT_AXES];
    const uint32_t rank = (uint32_t)f->rank;
    for (uint32_t i = 0; i < rank; i++) {
        end[i] = hg_dim_add(&b->g->dims, w->pad_begin[i], w->out[i]);
        axes[i] = 1 + (int64_t)i;
    }
    const hg_value_id in[] = {y, hg_build_dims(b, w->pad_begin, rank), hg_build_dims(b, end, rank),
                              hg_build_ints(b, axes, rank)};
    return hg_build_op(b, "Slice", in, HG_COUNT(in), NULL, 0);
}

static holo_status split_node(hg_graph *g, hg_node_id id, bool *changed)
{
    static const int64_t last[][5] = {{0, 2, 1}, {0, 2, 3, 1}, {0, 2, 3, 4, 1}};
    static const int64_t first[][5] = {{0, 2, 1}, {0, 3, 1, 2}, {0, 4, 1, 2, 3}};
    hg_build b;
    hg_conv c = {0};
    split_form f;
    hg_build_init(&b, g, id);
    if (!split_read(g, &b, &c, &f)) return b.status;
    const uint32_t rank = (uint32_t)f.rank;
    const hg_type x = *hg_build_type(&b, hg_build_in(&b, 0));
    hg_value_id in[3] = {hg_build_in(&b, 0), split_weights(&b, &f), 0};
    if (hg_build_in(&b, 2) != 0) in[2] = split_bias(&b, &f);
    int64_t pads[2 * SPLIT_AXES];
    for (uint32_t i = 0; i < 2 * rank; i++)
        pads[i] = f.axis[i % rank].taps - 1;
    const hg_attr attr = hg_attr_make_ints(&b, "pads", pads, 2 * rank);
    hg_value_id y = hg_build_op(&b, "Conv", in, in[2] != 0 ? 3 : 2, &attr, 1);
    y = split_turn(&b, y, last[rank - 1], rank + 2);
    y = split_places(&b, y, &f, &x);
    if (f.is_cut) y = split_cut(&b, y, &f, &c.window);
    hg_build_replace(&b, 0, split_turn(&b, y, first[rank - 1], rank + 2));
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
        const int32_t axes = hg_op_is(n, "ConvTranspose")
                                 ? hg_graph_value(g, n->out[0])->type.rank - SPLIT_PLACES
                                 : 0;
        hg_weights weights;
        if (axes >= 1 && axes <= SPLIT_AXES && hg_weights_read(g, hg_node_in(g, n, 1), &weights) &&
            (bias == 0 || split_constant(g, bias)))
            HG_TRY(split_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_split_convtranspose = {
    .name = "split_convtranspose",
    .brief = "a ConvTranspose becomes a Conv with channels for each phase",
    .run = split_run,
};
