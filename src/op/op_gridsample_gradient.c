/* op_gridsample_gradient.c - derivative of GridSample: every neighbour of a place is gathered and
 * weighed, by operators whose derivatives are known. */
#include "op/op_attention.h"
#include "op/op_gradient.h"
#include "op/op_gridsample.h"
#include "op/op_shape.h"

enum { GRIDSAMPLE_MAX_TAPS = 4 };

/* Places along one axis, all [N, points]. */
typedef struct gridsample_axis {
    hg_value_id length; /* scalar */
    hg_value_id index[GRIDSAMPLE_MAX_TAPS], weight[GRIDSAMPLE_MAX_TAPS];
} gridsample_axis;

typedef struct gridsample_case {
    hg_build *b;
    holo_dtype dtype;
    bool nearest, cubic, border, reflects, aligned;
} gridsample_case;

static hg_value_id gridsample_number(const gridsample_case *c, double x)
{
    return hg_build_scalar(c->b, c->dtype, x);
}

static hg_value_id gridsample_2(const gridsample_case *c, const char *op, hg_value_id x, double y)
{
    return hg_build_2(c->b, op, x, gridsample_number(c, y));
}

/* Within 0 and the last place. */
static hg_value_id gridsample_clamp(const gridsample_case *c, hg_value_id x, hg_value_id length)
{
    x = hg_build_2(c->b, "Min", x, gridsample_2(c, "Sub", length, 1.0));
    return gridsample_2(c, "Max", x, 0.0);
}

/* Beyond the ends, which are places, or halves beyond them. */
static hg_value_id gridsample_outside(const gridsample_case *c, hg_value_id x, hg_value_id length)
{
    hg_value_id high = gridsample_2(c, "Sub", length, c->aligned ? 1.0 : 0.5);
    return hg_build_2(c->b, "Or", gridsample_2(c, "Less", x, c->aligned ? 0.0 : -0.5),
                      hg_build_2(c->b, "Greater", x, high));
}

/* Thrown back at both ends until it is inside. */
static hg_value_id gridsample_reflect(const gridsample_case *c, hg_value_id x, hg_value_id length)
{
    hg_build *b = c->b;
    hg_value_id low = gridsample_number(c, c->aligned ? 0.0 : -0.5);
    hg_value_id high = gridsample_2(c, "Sub", length, c->aligned ? 1.0 : 0.5);
    hg_value_id range = hg_build_2(b, "Sub", high, low), below = hg_build_2(b, "Less", x, low);
    hg_value_id beyond =
        hg_build_3(b, "Where", below, hg_build_2(b, "Sub", low, x), hg_build_2(b, "Sub", x, high));
    hg_value_id times = hg_build_1(b, "Floor", hg_build_2(b, "Div", beyond, range));
    hg_value_id rest = hg_build_2(b, "Sub", beyond, hg_build_2(b, "Mul", times, range));
    hg_value_id pairs = hg_build_1(b, "Floor", gridsample_2(c, "Mul", times, 0.5));
    hg_value_id odd = gridsample_2(
        c, "Greater", hg_build_2(b, "Sub", times, gridsample_2(c, "Mul", pairs, 2.0)), 0.5);
    hg_value_id inside =
        hg_build_3(b, "Where", hg_build_2(b, "Xor", below, odd), hg_build_2(b, "Add", low, rest),
                   hg_build_2(b, "Sub", high, rest));
    return hg_build_3(b, "Where", gridsample_outside(c, x, length), inside, x);
}

/* Keys' cubic at distance t of less than 1, or from 1 to 2. */
static hg_value_id gridsample_cubic(const gridsample_case *c, hg_value_id t, bool is_far)
{
    const double a = -0.75;
    const double k[2][4] = {{a + 2, -(a + 3), 0, 1}, {a, -5 * a, 8 * a, -4 * a}};
    hg_value_id y = gridsample_number(c, k[is_far][0]);
    for (int i = 1; i < 4; i++)
        y = gridsample_2(c, "Add", hg_build_2(c->b, "Mul", y, t), k[is_far][i]);
    return y;
}

/* Where tap k is, with what is done outside, and its weight there. */
static void gridsample_tap(const gridsample_case *c, gridsample_axis *axis, int k,
                           hg_value_id place, hg_value_id weight)
{
    hg_build *b = c->b;
    hg_value_id inside =
        hg_build_2(b, "And", gridsample_2(c, "Greater", place, -0.5),
                   hg_build_2(b, "Less", place, gridsample_2(c, "Sub", axis->length, 0.5)));
    if (c->reflects) place = gridsample_reflect(c, place, axis->length);
    if (!c->reflects && !c->border)
        weight = hg_build_3(b, "Where", inside, weight, gridsample_number(c, 0.0));
    place = hg_build_1(b, "Round", gridsample_clamp(c, place, axis->length));
    axis->index[k] = hg_build_cast(b, place, HOLO_I64);
    axis->weight[k] = weight;
}

/* Taps of coordinates in [-1, 1]; their number. */
static int gridsample_taps(const gridsample_case *c, gridsample_axis *axis, hg_value_id g)
{
    hg_build *b = c->b;
    hg_value_id x = gridsample_2(c, "Add", g, 1.0), one = gridsample_number(c, 1.0);
    x = hg_build_2(b, "Mul", x,
                   c->aligned ? gridsample_2(c, "Sub", axis->length, 1.0) : axis->length);
    x = gridsample_2(c, "Mul", c->aligned ? x : gridsample_2(c, "Sub", x, 1.0), 0.5);
    if (c->nearest) x = hg_build_1(b, "Round", x);
    if (c->border)
        x = hg_build_3(b, "Where", gridsample_outside(c, x, axis->length),
                       gridsample_clamp(c, x, axis->length), x);
    if (c->reflects) x = gridsample_reflect(c, x, axis->length);
    if (c->nearest) {
        gridsample_tap(c, axis, 0, x, one);
        return 1;
    }
    hg_value_id base = hg_build_1(b, "Floor", x), t = hg_build_2(b, "Sub", x, base);
    hg_value_id s = hg_build_2(b, "Sub", one, t);
    if (!c->cubic) {
        gridsample_tap(c, axis, 0, base, s);
        gridsample_tap(c, axis, 1, gridsample_2(c, "Add", base, 1.0), t);
        return 2;
    }
    for (int k = 0; k < 4; k++) {
        const bool is_far = k == 0 || k == 3;
        hg_value_id from = k < 2 ? t : s;
        if (is_far) from = hg_build_2(b, "Add", from, one);
        gridsample_tap(c, axis, k, gridsample_2(c, "Add", base, k - 1.0),
                       gridsample_cubic(c, from, is_far));
    }
    return 4;
}

/* ---- all axes ---------------------------------------------------------------------------------
 */

typedef struct gridsample_sum {
    hg_value_id flat; /* [N, C, elements] */
    hg_type picked;   /* [N, C, points] */
    hg_value_id y;
} gridsample_sum;

/* One neighbour: elements at `index` times `weight`, both [N, points]. */
static void gridsample_add(hg_build *b, gridsample_sum *s, hg_value_id index, hg_value_id weight)
{
    const hg_attr last = hg_attr_make_int("axis", 2);
    hg_value_id axis = hg_build_ints(b, (int64_t[]){1}, 1);
    index = hg_build_2(b, "Unsqueeze", index, axis);
    index = hg_build_2(b, "Expand", index, hg_build_dims(b, s->picked.dim, 3));
    hg_value_id x = hg_build_op(b, "GatherElements", (hg_value_id[]){s->flat, index}, 2, &last, 1);
    if (b->status != HOLO_OK) return;
    if (hg_build_type(b, weight)->rank != 0) weight = hg_build_2(b, "Unsqueeze", weight, axis);
    x = hg_build_2(b, "Mul", x, weight);
    s->y = s->y == 0 ? x : hg_build_2(b, "Add", s->y, x);
}

/* Every choice of one tap along each axis. */
static void gridsample_all(hg_build *b, gridsample_sum *s, const gridsample_axis *axis,
                           const hg_value_id *stride, int32_t rank, int taps)
{
    int count = 1;
    for (int32_t i = 0; i < rank; i++)
        count *= taps;
    for (int k = 0; k < count && b->status == HOLO_OK; k++) {
        hg_value_id index = 0, weight = 0;
        for (int32_t i = 0, at = k; i < rank; i++, at /= taps) {
            hg_value_id step = hg_build_2(b, "Mul", axis[i].index[at % taps], stride[i]);
            index = index == 0 ? step : hg_build_2(b, "Add", index, step);
            const hg_value_id w = axis[i].weight[at % taps];
            weight = weight == 0 ? w : hg_build_2(b, "Mul", weight, w);
        }
        gridsample_add(b, s, index, weight);
    }
}

holo_status hg_gridsample_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    hg_dims *dims = &b->g->dims;
    const hg_node *n = hg_gradient_node(d);
    const hg_str mode = hg_node_string(n, "mode", "linear"),
                 padding = hg_node_string(n, "padding_mode", "zeros");
    const hg_type x = *hg_gradient_type(d, 0), grid = *hg_gradient_type(d, 1);
    const gridsample_case c = {.b = b,
                               .dtype = x.dtype,
                               .nearest = hg_str_is(mode, "nearest"),
                               .cubic = hg_str_is(mode, "cubic"),
                               .border = hg_str_is(padding, "border"),
                               .reflects = hg_str_is(padding, "reflection"),
                               .aligned = hg_node_int(n, "align_corners", 0) != 0};
    const int32_t rank = x.rank - 2;
    if (rank > (c.cubic ? 3 : 6) || x.dtype != grid.dtype)
        return hg_gradient_fail(d, "the grid has another type than the input, or too many axes");
    const hg_node_id begin = hg_gradient_begin(d);
    hg_type out = x, cells = {.dtype = x.dtype, .rank = 3, .dim = {x.dim[0], x.dim[1]}};
    hg_type rows = {.dtype = x.dtype, .rank = 3, .dim = {x.dim[0], 0, grid.dim[x.rank - 1]}};
    gridsample_sum s = {.picked = cells};
    cells.dim[2] = hg_shape_product(dims, &x, 2, x.rank);
    rows.dim[1] = s.picked.dim[2] = hg_shape_product(dims, &grid, 1, x.rank - 1);
    s.flat = hg_build_shaped(b, hg_gradient_input(d, 0), &cells);
    hg_value_id places = hg_build_shaped(b, hg_gradient_input(d, 1), &rows);
    gridsample_axis axis[HG_MAX_RANK];
    hg_value_id stride[HG_MAX_RANK];
    const hg_attr last = hg_attr_make_int("axis", 2);
    int taps = 1;
    for (int32_t i = 0; i < rank; i++) {
        hg_value_id in[] = {places, hg_build_scalar(b, HOLO_I64, rank - 1 - i)};
        axis[i].length = hg_build_cast(b, hg_build_dim(b, x.dim[2 + i]), x.dtype);
        taps = gridsample_taps(&c, &axis[i], hg_build_op(b, "Gather", in, 2, &last, 1));
        stride[i] = hg_build_dim(b, hg_shape_product(dims, &x, 3 + i, x.rank));
        out.dim[2 + i] = grid.dim[1 + i];
    }
    gridsample_all(b, &s, axis, stride, rank, taps);
    const hg_value_id y = hg_build_shaped(b, s.y, &out);
    return hg_gradient_through(d, begin, &y);
}
