/* reshape.c - Reshape: the same elements under other dimensions. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

/* Reshape-1: the shape is an attribute. */
static holo_status reshape_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 5) return HOLO_OK;
    return hg_upgrade_ints_to_inputs(g, id, 1, (const char *const[]){"shape"}, 1);
}

static holo_status reshape_check(const hg_infer *n, const hg_dim *shape, uint32_t count, bool zero)
{
    int inferred = 0;
    if (count > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "the new rank is %u, expected at most %d",
                             count, HG_MAX_RANK);
    for (uint32_t k = 0; k < count; k++) {
        int64_t value;
        if (!hg_dim_is_const(n->dims, shape[k], &value)) continue;
        inferred += value == -1;
        if (value < -1 || inferred > 1)
            return hg_infer_fail(n, HOLO_E_SHAPE, "the shape holds %s at place %u",
                                 value == -1 ? "a second -1" : "a number below -1", k);
        if (value == 0 && !zero && (int32_t)k >= n->in[0]->rank)
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "place %u of the shape is 0, but the input has rank %d", k,
                                 n->in[0]->rank);
    }
    return HOLO_OK;
}

/* Element k of the shape with 0 replaced by the input's dimension. A size that is 0 at run time
 * means 0: that differs from the standard only where the input's dimension is another one. */
static hg_dim reshape_copied(const hg_infer *n, const hg_dim *shape, uint32_t k, bool zero)
{
    hg_dims *d = n->dims;
    hg_dim dim = shape[k], none = hg_dim_const(d, 0);
    if (zero || (int32_t)k >= n->in[0]->rank) return dim;
    if (hg_dim_is_nonnegative(d, dim) && !hg_dim_is(d, dim, 0)) return dim;
    return hg_dim_select(d, hg_dim_eq(d, dim, none), n->in[0]->dim[k], dim);
}

/* Is not -1: known to be so, or a size of the input, which would not exist otherwise. */
static bool reshape_is_size(const hg_infer *n, hg_dim dim)
{
    bool is_size = hg_dim_is_nonnegative(n->dims, dim);
    for (int32_t k = 0; !is_size && k < n->in[0]->rank; k++)
        is_size = n->in[0]->dim[k] == dim;
    return is_size;
}

/* The dimension, or `other` where it is -1. */
static hg_dim reshape_unless(const hg_infer *n, hg_dim dim, hg_dim other)
{
    if (reshape_is_size(n, dim)) return dim;
    return hg_dim_select(n->dims, hg_dim_eq(n->dims, dim, hg_dim_const(n->dims, -1)), other, dim);
}

/* The dimension that -1 stands for: what is left of all elements. */
static hg_dim reshape_rest(const hg_infer *n, const hg_dim *dim, uint32_t count)
{
    hg_dims *d = n->dims;
    hg_dim one = hg_dim_const(d, 1), known = one;
    bool certain = false; /* there is a -1 */
    for (uint32_t k = 0; k < count; k++) {
        certain = certain || hg_dim_is(d, dim[k], -1);
        known = hg_dim_mul(d, known, reshape_unless(n, dim[k], one));
    }
    if (!certain) known = hg_dim_max(d, known, one); /* evaluated also where it is not used */
    return hg_dim_floordiv(d, hg_shape_product(d, n->in[0], 0, n->in[0]->rank), known);
}

/* As many elements as before: known to be so, known not to be, or to be found out by the runtime.
 */
static holo_status reshape_guard(const hg_infer *n, hg_type *out)
{
    hg_dim from = hg_shape_product(n->dims, n->in[0], 0, n->in[0]->rank);
    hg_dim to = hg_shape_product(n->dims, out, 0, out->rank);
    int64_t before, after;
    if (hg_dim_is_const(n->dims, from, &before) && hg_dim_is_const(n->dims, to, &after) &&
        before != after)
        return hg_infer_fail(n, HOLO_E_SHAPE, "the input has %lld elements, the new shape %lld",
                             (long long)before, (long long)after);
    hg_shape_require(n->dims, hg_dim_eq(n->dims, from, to), out);
    return HOLO_OK;
}

static holo_status reshape_infer(hg_infer *n)
{
    const hg_dim *shape;
    uint32_t count;
    int64_t zero;
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_infer_need_content(n, 1, &shape, &count));
    HG_TRY(hg_attr_int(n, "allowzero", 0, &zero));
    HG_TRY(reshape_check(n, shape, count, zero != 0));
    hg_type *out = &n->out[0];
    *out = (hg_type){.dtype = n->in[0]->dtype, .rank = (int32_t)count};
    for (uint32_t k = 0; k < count; k++)
        out->dim[k] = reshape_copied(n, shape, k, zero != 0);
    bool open = false;
    for (uint32_t k = 0; k < count; k++)
        open = open || !reshape_is_size(n, out->dim[k]);
    if (open) {
        const hg_dim rest = reshape_rest(n, out->dim, count);
        for (uint32_t k = 0; k < count; k++)
            out->dim[k] = reshape_unless(n, out->dim[k], rest);
    }
    hg_shape_keep_content(n);
    return reshape_guard(n, out);
}

const hg_op hg_op_reshape = {
    .name = "Reshape",
    .brief = "the same elements under other dimensions; 0 keeps one, -1 takes what is left",
    .since = 1,
    .version = 25,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .upgrade = reshape_upgrade,
    .infer = reshape_infer,
    .emit = hg_emit_same_elements,
    .gradient = hg_gradient_same_elements,
};
