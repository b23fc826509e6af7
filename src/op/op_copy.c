/* op_copy.c - operators that only move elements evenly become one kernel call, or a view. */
#include "op/op_copy.h"

void hg_copy_loop(hg_copy *c, hg_dim extent, hg_dim stride)
{
    c->extent[c->loops] = extent;
    c->stride[c->loops] = stride;
    c->loops++;
}

/* Every loop goes on where the one inside it ends. */
static bool copy_is_view(hg_dims *d, const hg_copy *c)
{
    hg_dim step = hg_dim_const(d, 1);
    for (uint32_t i = c->loops; i-- > 0;) {
        if (hg_dim_is(d, c->extent[i], 1)) continue;
        if (c->stride[i] != step) return false;
        step = hg_dim_mul(d, step, c->extent[i]);
    }
    return true;
}

static bool copy_is_packed(const hg_emit *e)
{
    uint32_t bits = hg_dtype_bits(hg_emit_type(e, 0)->dtype);
    return bits != 0 && bits < 8;
}

/* The innermost loop that turns has another stride than 1, which some loop around it has. */
static bool copy_turns(hg_dims *d, const hg_copy *c)
{
    uint32_t last = c->loops;
    while (last > 0 && hg_dim_is(d, c->extent[last - 1], 1))
        last--;
    if (last == 0 || hg_dim_is(d, c->stride[last - 1], 1)) return false;
    for (uint32_t i = 0; i + 1 < last; i++)
        if (hg_dim_is(d, c->stride[i], 1) && !hg_dim_is(d, c->extent[i], 1)) return true;
    return false;
}

/* Kernels with tuned code for one width. */
static const char *copy_kernel(hg_emit *e, const hg_copy *c)
{
    const uint32_t bits = hg_dtype_bits(hg_emit_type(e, 0)->dtype);
    if (!copy_turns(&e->g->dims, c)) return "copy.strided";
    return bits == 8    ? "copy.bytes"
           : bits == 16 ? "copy.halves"
           : bits == 32 ? "copy.words"
                        : "copy.strided";
}

holo_status hg_emit_copy(hg_emit *e, const hg_copy *c)
{
    hg_dims *d = &e->g->dims;
    e->n_in = 1;
    if (copy_is_view(d, c) && !copy_is_packed(e)) {
        bool moved = c->offset != 0 && !hg_dim_is(d, c->offset, 0);
        e->view_offset = moved ? c->offset : 0;
        return hg_emit_view(e);
    }
    e->kernel = copy_kernel(e, c);
    HG_TRY(hg_emit_dim(e, c->offset == 0 ? hg_dim_const(d, 0) : c->offset));
    for (uint32_t i = 0; i < c->loops; i++) {
        HG_TRY(hg_emit_dim(e, c->extent[i]));
        HG_TRY(hg_emit_dim(e, c->stride[i]));
    }
    return HOLO_OK;
}

holo_status hg_emit_same_elements(hg_emit *e)
{
    if (!copy_is_packed(e)) return hg_emit_view(e);
    hg_copy all = {0};
    hg_copy_loop(&all, hg_type_count(e->g, hg_emit_type(e, 0)), hg_dim_const(&e->g->dims, 1));
    return hg_emit_copy(e, &all);
}
