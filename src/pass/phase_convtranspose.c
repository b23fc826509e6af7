/* phase_convtranspose.c - a ConvTranspose of stride s becomes a Conv for each phase of its outputs:
 * output t takes the taps k with k = t + pad (mod s), and nothing is computed that is not wanted or
 * multiplied by zeros. split_convtranspose, which makes one Conv of it, computes taps - 1 positions
 * more along each axis; small images are mostly border. A ConvTranspose over one position is a
 * product: outputs (k, o) are its columns. */
#include "op/op_conv.h"
#include "pass/pass.h"
#include "pass/widen_half.h"

enum {
    PHASE_AXES = 3,
    PHASE_PLACES = 2, /* the first spatial axis */
    PHASE_WORK = 128, /* products for each output that make up for moving it to its place */
    PHASE_SPARE = 20  /* a form that computes a twentieth more is left to split_convtranspose */
};

/* Outputs `first`, first + stride, ... of an axis as those of a Conv: taps p, p + stride, ... of
 * the kernel, last one first. */
typedef struct phase_part {
    int64_t tap, taps, pad_begin, pad_end;
} phase_part;

typedef struct phase_axis {
    int64_t size, kernel, stride, pad, out;
} phase_axis;

typedef struct phase_form {
    int64_t channels, outputs;
    int32_t rank; /* axes */
    phase_axis axis[PHASE_AXES];
} phase_form;

static bool phase_constant(const hg_graph *g, hg_value_id v)
{
    return v != 0 && hg_graph_is_const(g, v) && hg_graph_value(g, v)->type.dtype == HOLO_F32;
}

static bool phase_read_axis(const hg_dims *d, const hg_conv *c, const hg_infer *reader, int32_t i,
                            phase_axis *a)
{
    int64_t dilation;
    return hg_dim_is_const(d, reader->in[0]->dim[PHASE_PLACES + i], &a->size) &&
           hg_dim_is_const(d, reader->in[1]->dim[PHASE_PLACES + i], &a->kernel) &&
           hg_dim_is_const(d, c->window.stride[i], &a->stride) &&
           hg_dim_is_const(d, c->window.dilation[i], &dilation) &&
           hg_dim_is_const(d, c->window.pad_begin[i], &a->pad) &&
           hg_dim_is_const(d, c->window.out[i], &a->out) && dilation == 1 && a->size >= 1 &&
           a->kernel >= 1 && a->stride >= 1 && a->pad >= 0 && a->out >= 1;
}

/* Everything but the number of images is constant. */
static bool phase_read(hg_graph *g, hg_build *b, phase_form *f)
{
    hg_infer reader;
    hg_conv c = {0};
    b->status = hg_build_reader(b, &reader);
    if (b->status != HOLO_OK) return false;
    b->status = hg_conv_read(&reader, HG_CONV_TRANSPOSED, reader.in[0], reader.in[1], &c);
    if (b->status != HOLO_OK) return false;
    const hg_type *w = reader.in[1];
    *f = (phase_form){.rank = w->rank - PHASE_PLACES};
    if (c.groups != 1 || !hg_dim_is_const(&g->dims, w->dim[0], &f->channels) ||
        !hg_dim_is_const(&g->dims, w->dim[1], &f->outputs) || f->channels < 1 || f->outputs < 1)
        return false;
    for (int32_t i = 0; i < f->rank; i++)
        if (!phase_read_axis(&g->dims, &c, &reader, i, &f->axis[i])) return false;
    return true;
}

/* Outputs r, r + stride, ... */
static phase_part phase_part_of(const phase_axis *a, int64_t r)
{
    phase_part p = {.tap = (r + a->pad) % a->stride};
    p.taps = a->kernel <= p.tap ? 0 : hg_ceil_div(a->kernel - p.tap, a->stride);
    p.pad_begin = p.taps - 1 - (r + a->pad - p.tap) / a->stride;
    p.pad_end = a->out / a->stride + p.taps - 1 - a->size - p.pad_begin;
    return p;
}

/* As many outputs for each phase, some tap for each, and only zeros around the image. */
static bool phase_fits(const phase_axis *a)
{
    if (a->out % a->stride != 0 || a->kernel < a->stride) return false;
    for (int64_t r = 0; r < a->stride; r++) {
        const phase_part p = phase_part_of(a, r);
        if (p.pad_begin < 0 || p.pad_end < 0) return false;
    }
    return true;
}

/* Another form multiplies by zeros or computes what is cut off, and there is so much to multiply
 * that copies do not count. */
static bool phase_pays(const phase_form *f)
{
    double work = (double)f->channels, more = 1;
    bool is_even = true;
    int64_t phases = 1, all_taps = 1, kernel = 1;
    for (int32_t i = 0; i < f->rank; i++) {
        const phase_axis *a = &f->axis[i];
        const int64_t taps = hg_ceil_div(a->kernel, a->stride);
        if (!phase_fits(a)) return false;
        work *= (double)a->kernel / (double)a->stride;
        more *= (double)((a->size + taps - 1) * a->stride) / (double)a->out;
        more *= (double)(taps * a->stride) / (double)a->kernel;
        is_even = is_even && a->kernel % a->stride == 0;
        phases *= a->stride;
        all_taps *= taps;
        kernel *= a->kernel;
    }
    more *= (double)hg_conv_columns(f->outputs * phases) /
            (double)(hg_conv_columns(f->outputs) * phases);
    const bool is_one = hg_conv_phases_are_one(f->outputs, phases, all_taps, kernel);
    return phases > 1 && phases <= 64 && work >= PHASE_WORK &&
           ((!is_even && f->rank > 1 && !is_one) || more > 1 + 1.0 / PHASE_SPARE);
}

/* One place, and outputs as wide as the kernel. */
static bool phase_is_product(const phase_form *f)
{
    for (int32_t i = 0; i < f->rank; i++)
        if (f->axis[i].size != 1 || f->axis[i].pad != 0 || f->axis[i].out != f->axis[i].kernel)
            return false;
    return true;
}

/* ---- one place --------------------------------------------------------------------------- */

static hg_value_id phase_turn(hg_build *b, hg_value_id y, bool to_last)
{
    static const int64_t last[][5] = {{0, 2, 1}, {0, 2, 3, 1}, {0, 2, 3, 4, 1}};
    static const int64_t first[][5] = {{0, 2, 1}, {0, 3, 1, 2}, {0, 4, 1, 2, 3}};
    const int32_t rank = hg_build_type(b, y)->rank;
    const int64_t *perm = to_last ? last[rank - 3] : first[rank - 3];
    const hg_attr attr = hg_attr_make_ints(b, "perm", perm, (uint32_t)rank);
    return hg_build_op(b, "Transpose", &y, 1, &attr, 1);
}

/* W [c, o, k ..] as [c, (k .., o)]. */
typedef struct phase_columns {
    const phase_form *f;
    int64_t taps;
} phase_columns;

static int64_t phase_column_from(const void *how, int64_t at)
{
    const phase_columns *c = how;
    const int64_t outputs = c->f->outputs, o = at % outputs, tap = at / outputs % c->taps;
    return (at / outputs / c->taps * outputs + o) * c->taps + tap;
}

static hg_value_id phase_matrix(hg_build *b, const phase_form *f, int64_t taps)
{
    hg_dims *d = &b->g->dims;
    hg_weights w;
    const phase_columns how = {f, taps};
    const hg_type type = {
        .rank = 2, .dim = {hg_dim_const(d, f->channels), hg_dim_const(d, taps * f->outputs)}};
    if (!hg_weights_read(b->g, hg_build_in(b, 1), &w)) return 0;
    return hg_weights_pick(b, &w, type, f->channels * f->outputs * taps, phase_column_from, &how);
}

static hg_value_id phase_product(hg_build *b, const phase_form *f)
{
    hg_dims *d = &b->g->dims;
    const hg_type x = *hg_build_type(b, hg_build_in(b, 0));
    hg_dim dim[PHASE_PLACES + PHASE_AXES] = {x.dim[0], x.dim[1]};
    int64_t taps = 1;
    hg_value_id y = hg_build_reshape(b, hg_build_in(b, 0), dim, 2);
    for (int32_t i = 0; i < f->rank; i++) {
        taps *= f->axis[i].kernel;
        dim[1 + i] = hg_dim_const(d, f->axis[i].kernel);
    }
    dim[1 + f->rank] = hg_dim_const(d, f->outputs);
    y = hg_build_2(b, "MatMul", y, phase_matrix(b, f, taps));
    y = hg_build_reshape(b, y, dim, (uint32_t)(PHASE_PLACES + f->rank));
    if (hg_build_in(b, 2) != 0) y = hg_build_2(b, "Add", y, hg_build_in(b, 2));
    return phase_turn(b, y, false);
}

/* ---- phases ------------------------------------------------------------------------------ */

/* W [c, o, k ..] as [o, c, u ..]. */
typedef struct phase_taps {
    const phase_form *f;
    const phase_part *part;
    int64_t taps, kernel; /* of all axes */
} phase_taps;

static int64_t phase_tap_from(const void *how, int64_t at)
{
    const phase_taps *t = how;
    const phase_form *f = t->f;
    const int64_t c = at / t->taps % f->channels, o = at / t->taps / f->channels;
    int64_t rest = at % t->taps, from = 0, step = 1;
    for (int32_t i = f->rank - 1; i >= 0; i--) {
        const phase_part *p = &t->part[i];
        const int64_t u = rest % p->taps;
        from += (p->tap + (p->taps - 1 - u) * f->axis[i].stride) * step;
        rest /= p->taps;
        step *= f->axis[i].kernel;
    }
    return (c * f->outputs + o) * t->kernel + from;
}

static hg_value_id phase_weights(hg_build *b, const phase_form *f, const phase_part *part)
{
    hg_dims *d = &b->g->dims;
    hg_weights w;
    phase_taps how = {f, part, 1, 1};
    hg_type type = {.rank = PHASE_PLACES + f->rank,
                    .dim = {hg_dim_const(d, f->outputs), hg_dim_const(d, f->channels)}};
    for (int32_t i = 0; i < f->rank; i++) {
        type.dim[PHASE_PLACES + i] = hg_dim_const(d, part[i].taps);
        how.taps *= part[i].taps;
        how.kernel *= f->axis[i].kernel;
    }
    if (!hg_weights_read(b->g, hg_build_in(b, 1), &w)) return 0;
    return hg_weights_pick(b, &w, type, f->outputs * f->channels * how.taps, phase_tap_from, &how);
}

/* The outputs of phases r[0 ..], channels last. */
static hg_value_id phase_conv(hg_build *b, const phase_form *f, const int64_t *r)
{
    phase_part part[PHASE_AXES];
    int64_t pads[2 * PHASE_AXES];
    for (int32_t i = 0; i < f->rank; i++) {
        part[i] = phase_part_of(&f->axis[i], r[i]);
        pads[i] = part[i].pad_begin;
        pads[f->rank + i] = part[i].pad_end;
    }
    const hg_value_id in[3] = {hg_build_in(b, 0), phase_weights(b, f, part), hg_build_in(b, 2)};
    const hg_attr attr = hg_attr_make_ints(b, "pads", pads, 2 * (uint32_t)f->rank);
    const hg_value_id y = hg_build_op(b, "Conv", in, in[2] != 0 ? 3 : 2, &attr, 1);
    return phase_turn(b, y, true);
}

/* Phases of axes [axis, rank) joined, those of the axes before given: [n, places of axes before ..,
 * the others with all outputs as one dim]. */
static hg_value_id phase_join(hg_build *b, const phase_form *f, int32_t axis, int64_t *r)
{
    const phase_axis *a = &f->axis[axis];
    hg_dims *d = &b->g->dims;
    hg_dim dim[PHASE_PLACES + PHASE_AXES] = {hg_build_type(b, hg_build_in(b, 0))->dim[0]};
    int64_t inner = f->outputs;
    for (int32_t i = axis + 1; i < f->rank; i++)
        inner *= f->axis[i].out;
    for (int32_t i = 0; i <= axis; i++)
        dim[1 + i] = hg_dim_const(d, f->axis[i].out / f->axis[i].stride);
    dim[2 + axis] = hg_dim_const(d, inner);
    hg_value_id *part;
    b->status = b->status != HOLO_OK ? b->status : HG_NEW(b->ctx, (size_t)a->stride, &part);
    if (b->status != HOLO_OK) return 0;
    for (r[axis] = 0; r[axis] < a->stride; r[axis]++) {
        hg_value_id y = axis + 1 < f->rank ? phase_join(b, f, axis + 1, r) : phase_conv(b, f, r);
        if (axis + 1 < f->rank) y = hg_build_reshape(b, y, dim, (uint32_t)axis + 3);
        part[r[axis]] = y;
    }
    const hg_attr at = hg_attr_make_int("axis", -1);
    return a->stride == 1 ? part[0] : hg_build_op(b, "Concat", part, (uint32_t)a->stride, &at, 1);
}

static hg_value_id phase_all(hg_build *b, const phase_form *f)
{
    int64_t r[PHASE_AXES];
    hg_dims *d = &b->g->dims;
    hg_dim dim[PHASE_PLACES + PHASE_AXES] = {hg_build_type(b, hg_build_in(b, 0))->dim[0]};
    for (int32_t i = 0; i < f->rank; i++)
        dim[1 + i] = hg_dim_const(d, f->axis[i].out);
    dim[1 + f->rank] = hg_dim_const(d, f->outputs);
    const hg_value_id y = phase_join(b, f, 0, r);
    return phase_turn(b, hg_build_reshape(b, y, dim, (uint32_t)(PHASE_PLACES + f->rank)), false);
}

static holo_status phase_node(hg_graph *g, hg_node_id id, bool *changed)
{
    hg_build b;
    phase_form f;
    hg_build_init(&b, g, id);
    if (!phase_read(g, &b, &f)) return b.status;
    const bool is_product = phase_is_product(&f);
    if (!is_product && !phase_pays(&f)) return HOLO_OK;
    const hg_value_id y = is_product ? phase_product(&b, &f) : phase_all(&b, &f);
    if (b.status == HOLO_OK) hg_build_replace(&b, 0, y);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

static holo_status phase_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT) return HOLO_OK; /* another order of the sums */
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        const hg_node_id next = n->next;
        const hg_value_id bias = hg_node_in(g, n, 2);
        hg_weights weights;
        const int32_t axes = hg_op_is(n, "ConvTranspose")
                                 ? hg_graph_value(g, n->out[0])->type.rank - PHASE_PLACES
                                 : 0;
        if (axes >= 1 && axes <= PHASE_AXES && hg_weights_read(g, hg_node_in(g, n, 1), &weights) &&
            (bias == 0 || phase_constant(g, bias)))
            HG_TRY(phase_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_phase_convtranspose = {
    .name = "phase_convtranspose",
    .brief = "a ConvTranspose becomes a Conv for each phase of its outputs, or a product",
    .run = phase_run,
};
