/* gather.c - Gather: slices of a tensor along one axis, picked by index. */
#include "op/op.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

#define GATHER_INDEX (HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64))

/* Known contents of a vector at known places. */
static void gather_content(hg_infer *n)
{
    const hg_dim *from, *index;
    uint32_t size, count;
    if (n->in[0]->rank != 1 || !hg_infer_content(n, 0, &from, &size)) return;
    if (!hg_infer_content(n, 1, &index, &count) || count > HG_MAX_CONTENT) return;
    hg_dim *content = hg_arena_array(&n->ctx->arena, (size_t)count + 1, sizeof *content);
    for (uint32_t i = 0; content != NULL && i < count; i++) {
        int64_t place;
        if (!hg_dim_is_const(n->dims, index[i], &place)) return;
        if (place < 0) place += size;
        if (place < 0 || place >= size) return; /* the kernel reports it */
        content[i] = from[place];
    }
    n->out_content[0] = content;
    n->n_out_content[0] = content == NULL ? 0 : count;
}

static holo_status gather_infer(hg_infer *n)
{
    const hg_type *data = n->in[0], *index = n->in[1];
    int32_t axis;
    HG_TRY(hg_infer_types(n, 1, GATHER_INDEX));
    HG_TRY(hg_attr_axis(n, "axis", 0, data->rank, &axis));
    const int32_t rank = data->rank - 1 + index->rank;
    if (rank > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "the result would have rank %d, expected at most %d", rank,
                             HG_MAX_RANK);
    n->out[0] = (hg_type){.dtype = data->dtype, .rank = rank};
    hg_dim *out = n->out[0].dim;
    for (int32_t i = 0; i < axis; i++)
        out[i] = data->dim[i];
    for (int32_t i = 0; i < index->rank; i++)
        out[axis + i] = index->dim[i];
    for (int32_t i = axis + 1; i < data->rank; i++)
        out[i + index->rank - 1] = data->dim[i];
    gather_content(n);
    return HOLO_OK;
}

static holo_status gather_emit(hg_emit *e)
{
    int64_t axis = hg_node_int(e->node, "axis", 0);
    return hg_emit_int(e, axis < 0 ? axis + hg_emit_type(e, 0)->rank : axis);
}

/* Rows of a table are added where they came from. */
static holo_status gather_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    const hg_attr add = hg_attr_make_string("reduction", "add");
    const hg_type type = *hg_gradient_type(d, 0), index = *hg_gradient_type(d, 1);
    if (hg_node_int(hg_gradient_node(d), "axis", 0) != 0) return hg_gradient_pick(d);
    hg_type places = {.rank = 2}, rows = type;
    places.dim[0] = rows.dim[0] = hg_type_count(b->g, &index);
    places.dim[1] = hg_dim_const(&b->g->dims, 1);
    hg_value_id at = hg_build_cast(b, hg_gradient_input(d, 1), HOLO_I64);
    const hg_value_id in[] = {hg_build_full(b, &type, 0.0), hg_build_shaped(b, at, &places),
                              hg_build_shaped(b, d->out[0], &rows)};
    d->in[0] = hg_build_op(b, "ScatterND", in, HG_COUNT(in), &add, 1);
    return b->status;
}

const hg_op hg_op_gather = {
    .name = "Gather",
    .brief = "slices of a tensor along one axis, picked by index",
    .since = 1,
    .version = 13,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = gather_infer,
    .kernel = "gather",
    .emit = gather_emit,
    .gradient = gather_gradient,
};
