/* op_gradient.c - what the derivatives of operators share. */
#include "op/op_gradient.h"

#include "op/op_reduce.h"
#include "op/op_shape.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the node -------------------------------------------------------------------------------- */

const hg_node *hg_gradient_node(const hg_gradient *d)
{
    return hg_graph_node(d->b->g, d->id);
}

hg_value_id hg_gradient_input(const hg_gradient *d, uint32_t i)
{
    return hg_node_in(d->b->g, hg_gradient_node(d), i);
}

hg_value_id hg_gradient_output(const hg_gradient *d, uint32_t j)
{
    return hg_gradient_node(d)->out[j];
}

const hg_type *hg_gradient_type(const hg_gradient *d, uint32_t i)
{
    return hg_build_type(d->b, hg_gradient_input(d, i));
}

hg_infer hg_gradient_reader(const hg_gradient *d)
{
    const hg_node *node = hg_gradient_node(d);
    hg_infer n = {
        .g = d->b->g, .ctx = d->b->ctx, .dims = &d->b->g->dims, .id = d->id, .node = node};
    hg_type *in = hg_arena_array(&n.ctx->arena, node->n_in + 1, sizeof *in);
    const hg_type **list = hg_arena_array(&n.ctx->arena, node->n_in + 1, sizeof *list);
    if (in == NULL || list == NULL) return n; /* shape rules find no input */
    for (uint32_t i = 0; i < node->n_in; i++) {
        in[i] = *hg_gradient_type(d, i); /* copies: building moves the values */
        list[i] = &in[i];
    }
    n.in = list;
    n.n_in = node->n_in;
    return n;
}

holo_status hg_gradient_fail(hg_gradient *d, const char *format, ...)
{
    char sentence[256], label[64];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    hg_str name = hg_node_label(d->b->g, d->id, label, sizeof label);
    return hg_build_fail(d->b, HOLO_E_UNSUPPORTED,
                         "the derivative of node '%.*s' (%s) is not known: %s", HG_STR_ARG(name),
                         hg_gradient_node(d)->op->name, sentence);
}

/* ---- building -------------------------------------------------------------------------------- */

hg_value_id hg_build_shaped(hg_build *b, hg_value_id x, const hg_type *type)
{
    if (b->status != HOLO_OK) return 0;
    const hg_type *from = hg_build_type(b, x);
    if (from->rank == type->rank &&
        memcmp(from->dim, type->dim, (size_t)type->rank * sizeof type->dim[0]) == 0)
        return x;
    return hg_build_2(b, "Reshape", x, hg_build_dims(b, type->dim, (uint32_t)type->rank));
}

hg_value_id hg_build_full(hg_build *b, const hg_type *type, double value)
{
    hg_value_id x = hg_build_scalar(b, type->dtype, value);
    if (type->rank == 0) return x;
    return hg_build_2(b, "Expand", x, hg_build_dims(b, type->dim, (uint32_t)type->rank));
}

/* Sums along the axes that are certain to be broadcast: those in front, and those of 1. */
static hg_value_id gradient_sum_known(hg_build *b, hg_value_id x, const hg_type *type)
{
    const hg_type from = *hg_build_type(b, x);
    const int32_t lead = from.rank - type->rank;
    int64_t axes[HG_MAX_RANK];
    uint32_t count = 0;
    for (int32_t i = 0; i < from.rank; i++) {
        if (hg_dim_is(&b->g->dims, from.dim[i], 1)) continue;
        if (i < lead || hg_dim_is(&b->g->dims, type->dim[i - lead], 1)) axes[count++] = i;
    }
    if (count != 0) x = hg_build_reduce(b, "ReduceSum", x, axes, count);
    if (lead <= 0 || b->status != HOLO_OK) return x;
    hg_type cut = *hg_build_type(b, x);
    cut.rank = type->rank;
    memmove(cut.dim, cut.dim + lead, (size_t)type->rank * sizeof cut.dim[0]);
    return hg_build_shaped(b, x, &cut);
}

hg_value_id hg_build_fold(hg_build *b, hg_value_id x, int32_t axis, hg_dim size)
{
    hg_dims *d = &b->g->dims;
    if (b->status != HOLO_OK) return 0;
    hg_type type = *hg_build_type(b, x);
    if (type.dim[axis] == size) return x;
    hg_dim some = hg_dim_max(d, size, hg_dim_const(d, 1));
    hg_dim apart[] = {hg_shape_product(d, &type, 0, axis), hg_dim_floordiv(d, type.dim[axis], some),
                      size, hg_shape_product(d, &type, axis + 1, type.rank)};
    x = hg_build_2(b, "Reshape", x, hg_build_dims(b, apart, HG_COUNT(apart)));
    x = hg_build_reduce(b, "ReduceSum", x, (const int64_t[]){1}, 1);
    type.dim[axis] = size;
    return hg_build_shaped(b, x, &type);
}

hg_value_id hg_build_pad(hg_build *b, hg_value_id x, const hg_dim *before, const hg_dim *after,
                         int32_t rank)
{
    hg_dim pads[2 * HG_MAX_RANK];
    bool any = false;
    for (int32_t i = 0; i < rank; i++) {
        pads[i] = before[i];
        pads[rank + i] = after[i];
        any |= !hg_dim_is(&b->g->dims, before[i], 0) || !hg_dim_is(&b->g->dims, after[i], 0);
    }
    return any ? hg_build_2(b, "Pad", x, hg_build_dims(b, pads, 2 * (uint32_t)rank)) : x;
}

hg_value_id hg_build_fit(hg_build *b, hg_value_id x, const hg_type *type)
{
    if (b->status != HOLO_OK) return 0;
    x = gradient_sum_known(b, x, type);
    bool narrow = b->status == HOLO_OK && hg_build_type(b, x)->rank < type->rank;
    for (int32_t i = 0; b->status == HOLO_OK && i < hg_build_type(b, x)->rank; i++) {
        const hg_type *from = hg_build_type(b, x);
        const hg_dim want = type->dim[type->rank - from->rank + i];
        int64_t known;
        if (from->dim[i] == want) continue;
        if (hg_dim_is(&b->g->dims, from->dim[i], 1))
            narrow = true;
        else if (!hg_dim_is_const(&b->g->dims, want, &known))
            /* n elements were perhaps broadcast from m, which is n or 1: right in both cases */
            x = hg_build_fold(b, x, i, want);
    }
    if (!narrow) return x;
    return hg_build_2(b, "Expand", x, hg_build_dims(b, type->dim, (uint32_t)type->rank));
}

hg_value_id hg_build_scatter(hg_build *b, const hg_type *type, hg_value_id index, hg_value_id y,
                             int64_t axis)
{
    const hg_attr attr[] = {hg_attr_make_int("axis", axis),
                            hg_attr_make_string("reduction", "add")};
    const hg_value_id in[] = {hg_build_full(b, type, 0.0), index, y};
    return hg_build_op(b, "ScatterElements", in, HG_COUNT(in), attr, HG_COUNT(attr));
}

hg_value_id hg_build_places(hg_build *b, const hg_type *type)
{
    hg_dim count = hg_type_count(b->g, type);
    hg_value_id scalar = hg_build_ints(b, NULL, 0);
    hg_value_id end = hg_build_2(b, "Reshape", hg_build_dims(b, &count, 1), scalar);
    hg_value_id x = hg_build_3(b, "Range", hg_build_scalar(b, HOLO_I64, 0.0), end,
                               hg_build_scalar(b, HOLO_I64, 1.0));
    return hg_build_shaped(b, x, type);
}

/* ---- rules ----------------------------------------------------------------------------------- */

holo_status hg_gradient_same_elements(hg_gradient *d)
{
    const hg_type type = *hg_gradient_type(d, 0);
    d->in[0] = hg_build_shaped(d->b, d->out[0], &type);
    return d->b->status;
}

holo_status hg_gradient_pick(hg_gradient *d)
{
    hg_build *b = d->b;
    const hg_type type = *hg_gradient_type(d, 0);
    hg_type flat = {.dtype = type.dtype, .rank = 1}, list = flat;
    const uint32_t n_in = hg_gradient_node(d)->n_in;
    hg_value_id *in;
    HG_TRY(HG_NEW(b->ctx, n_in + 1, &in));
    for (uint32_t i = 1; i < n_in; i++)
        in[i] = hg_gradient_input(d, i);
    in[0] = hg_build_places(b, &type);
    const hg_node_id id = hg_build_copy(b, d->id, in, n_in);
    if (id == 0) return b->status;
    const hg_value_id places = hg_graph_node(b->g, id)->out[0];
    flat.dim[0] = hg_type_count(b->g, &type);
    list.dim[0] = hg_type_count(b->g, hg_build_type(b, places));
    hg_value_id x = hg_build_scatter(b, &flat, hg_build_shaped(b, places, &list),
                                     hg_build_shaped(b, d->out[0], &list), 0);
    d->in[0] = hg_build_shaped(b, x, &type);
    return b->status;
}
