/* op_resize.c - what Resize, Upsample and the channels-last Resize share. */
#include "op/op_resize.h"

#include "op/op_gradient.h"
#include "op/op_window.h"

typedef struct resize_plan {
    int64_t mode, coordinate, nearest;
    uint32_t count;                  /* resized axes */
    int32_t place[HG_MAX_RANK];      /* of a dimension in the list of axes, or -1 */
    hg_dim numerator[HG_MAX_RANK];   /* of the scale ... */
    hg_dim denominator[HG_MAX_RANK]; /* ... or 0 when it is a float */
    double scale[HG_MAX_RANK];
    hg_dim out[HG_MAX_RANK];
    bool is_late; /* the scales are known once they have been computed */
} resize_plan;

/* ---- attributes ----------------------------------------------------------------------------- */

static const char *const resize_modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const resize_coordinates[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",   "align_corners",
    "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn", NULL};
static const char *const resize_nearests[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                              "ceil", NULL};

static holo_status resize_word(const hg_infer *n, const char *name, const char *standard,
                               const char *const *words, int64_t *out)
{
    hg_str text;
    HG_TRY(hg_attr_string(n, name, standard, &text));
    for (*out = 0; words[*out] != NULL; ++*out)
        if (hg_str_is(text, words[*out])) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL, "%s is \"%.*s\", expected one like \"%s\"", name,
                         HG_STR_ARG(text), words[0]);
}

/* Dimension of X that the standard calls `axis`. */
static int32_t resize_dim_of(const hg_resize_form *form, int32_t axis, int32_t rank)
{
    if (!form->is_nhwc || axis == 0) return axis;
    return axis == 1 ? rank - 1 : axis - 1;
}

static holo_status resize_axes(const hg_infer *n, const hg_resize_form *form, int32_t rank,
                               resize_plan *p)
{
    const int64_t *axes;
    size_t count;
    HG_TRY(hg_attr_ints(n, "axes", &axes, &count));
    p->count = hg_node_attr(n->node, "axes") == NULL ? (uint32_t)rank : (uint32_t)count;
    if (count > (size_t)rank)
        return hg_infer_fail(n, HOLO_E_MODEL, "axes has %zu entries, expected at most %d", count,
                             rank);
    for (int32_t i = 0; i < rank; i++)
        p->place[i] = -1;
    for (uint32_t i = 0; i < p->count; i++) {
        int32_t axis;
        HG_TRY(hg_axis_normalize(n, axes == NULL ? (int64_t)i : axes[i], rank, &axis));
        int32_t dim = resize_dim_of(form, axis, rank);
        if (p->place[dim] >= 0)
            return hg_infer_fail(n, HOLO_E_MODEL, "axes names axis %d twice", axis);
        p->place[dim] = (int32_t)i;
    }
    return HOLO_OK;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* One scale for all axes: the smallest (or largest) of size / in, and sizes rounded to nearest. */
static void resize_keep_ratio(const hg_infer *n, const hg_type *x, bool larger, resize_plan *p)
{
    hg_dims *d = n->dims;
    hg_dim size = 0, in = 0, two = hg_dim_const(d, 2);
    for (int32_t i = 0; i < x->rank; i++) {
        if (p->place[i] < 0) continue;
        if (size == 0) {
            size = p->out[i];
            in = x->dim[i];
            continue;
        }
        hg_dim here = hg_dim_mul(d, p->out[i], in), best = hg_dim_mul(d, size, x->dim[i]);
        hg_dim better = larger ? hg_dim_lt(d, best, here) : hg_dim_lt(d, here, best);
        size = hg_dim_select(d, better, p->out[i], size);
        in = hg_dim_select(d, better, x->dim[i], in);
    }
    for (int32_t i = 0; i < x->rank; i++) {
        if (p->place[i] < 0) continue;
        hg_dim twice = hg_dim_mul(d, two, hg_dim_mul(d, size, x->dim[i]));
        p->out[i] = hg_dim_floordiv(d, hg_dim_add(d, twice, in), hg_dim_mul(d, two, in));
        p->numerator[i] = size;
        p->denominator[i] = in;
    }
}

static holo_status resize_from_sizes(const hg_infer *n, const hg_type *x, uint32_t input,
                                     resize_plan *p)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
    const hg_dim *sizes;
    uint32_t count;
    int64_t policy;
    HG_TRY(resize_word(n, "keep_aspect_ratio_policy", "stretch", policies, &policy));
    HG_TRY(hg_infer_need_content(n, input, &sizes, &count));
    if (count != p->count)
        return hg_infer_fail(n, HOLO_E_SHAPE, "sizes has %u elements, expected %u", count,
                             p->count);
    for (int32_t i = 0; i < x->rank; i++) {
        int64_t size;
        if (p->place[i] < 0) continue;
        p->out[i] = sizes[p->place[i]];
        if (hg_dim_is_const(n->dims, p->out[i], &size) && size < 0)
            return hg_infer_fail(n, HOLO_E_SHAPE, "sizes[%d] is %lld, expected at least 0",
                                 p->place[i], (long long)size);
        p->numerator[i] = p->out[i];
        p->denominator[i] = x->dim[i];
    }
    if (policy != 0) resize_keep_ratio(n, x, policy == 2, p);
    return HOLO_OK;
}

/* floor(in * scale): a float is an integer times a power of two, so this is exact. */
static holo_status resize_scaled(const hg_infer *n, hg_dim in, float scale, uint32_t i, hg_dim *out)
{
    if (!(scale > 0.0f && scale < 1e9f))
        return hg_infer_fail(n, HOLO_E_MODEL, "scales[%u] is %g, expected a positive number", i,
                             (double)scale);
    int64_t divisor = 1;
    double factor = (double)scale;
    while (factor != (double)(int64_t)factor && divisor < INT64_C(1) << 38) {
        factor *= 2.0;
        divisor *= 2;
    }
    hg_dim product = hg_dim_mul(n->dims, in, hg_dim_const(n->dims, (int64_t)factor));
    *out = hg_dim_floordiv(n->dims, product, hg_dim_const(n->dims, divisor));
    return HOLO_OK;
}

static holo_status resize_from_scales(const hg_infer *n, const hg_type *x, const float *scales,
                                      resize_plan *p)
{
    p->is_late = scales == NULL || p->coordinate == HG_RESIZE_CROP;
    if (p->is_late) return HOLO_OK;
    for (int32_t i = 0; i < x->rank; i++) {
        if (p->place[i] < 0) continue;
        uint32_t at = (uint32_t)p->place[i];
        HG_TRY(resize_scaled(n, x->dim[i], scales[at], at, &p->out[i]));
        p->scale[i] = (double)scales[at];
    }
    return HOLO_OK;
}

/* The input is there and is not the empty tensor that Resize-11 uses for an absent one. */
static bool resize_has(const hg_infer *n, uint32_t input, hg_dim *count)
{
    hg_value_id id = input == 0 ? 0 : hg_node_in(n->g, n->node, input);
    if (id == 0) return false;
    *count = hg_type_count(n->g, &hg_graph_value(n->g, id)->type);
    return !hg_dim_is(n->dims, *count, 0);
}

static holo_status resize_read(const hg_infer *n, const hg_type *x, const hg_resize_form *form,
                               resize_plan *p)
{
    *p = (resize_plan){0};
    HG_TRY(resize_word(n, "mode", "nearest", resize_modes, &p->mode));
    HG_TRY(resize_word(n, "coordinate_transformation_mode", form->coordinate, resize_coordinates,
                       &p->coordinate));
    HG_TRY(resize_word(n, "nearest_mode", form->nearest, resize_nearests, &p->nearest));
    HG_TRY(resize_axes(n, form, x->rank, p));
    memcpy(p->out, x->dim, sizeof p->out);
    hg_dim count;
    if (resize_has(n, form->sizes, &count)) return resize_from_sizes(n, x, form->sizes, p);
    const hg_attr *attr = hg_node_attr(n->node, "scales");
    const float *scales = NULL;
    if (attr != NULL && attr->kind == HG_ATTR_FLOATS) { /* Upsample-7 */
        scales = attr->floats;
        count = hg_dim_const(n->dims, (int64_t)attr->count);
    } else if (resize_has(n, form->scales, &count)) {
        const hg_value *v = hg_graph_value(n->g, hg_node_in(n->g, n->node, form->scales));
        if (v->type.dtype != HOLO_F32)
            return hg_infer_fail(n, HOLO_E_TYPE, "scales is %s, expected float32",
                                 holo_dtype_text(v->type.dtype));
        if (v->constant != NULL) scales = v->constant->data;
    } else {
        return hg_infer_fail(n, HOLO_E_MODEL, "has neither scales nor sizes");
    }
    if (!hg_infer_equal(n, count, hg_dim_const(n->dims, p->count)))
        return hg_infer_fail(n, HOLO_E_SHAPE, "scales does not have %u elements, one for each axis",
                             p->count);
    return resize_from_scales(n, x, scales, p);
}

/* ---- for operators -------------------------------------------------------------------------- */

holo_status hg_resize_infer(hg_infer *n, const hg_resize_form *form)
{
    const hg_type *x = n->in[0];
    resize_plan p;
    int64_t flag;
    double number;
    HG_TRY(hg_attr_int(n, "antialias", 0, &flag));
    HG_TRY(hg_attr_int(n, "exclude_outside", 0, &flag));
    HG_TRY(hg_attr_float(n, "cubic_coeff_a", -0.75, &number));
    HG_TRY(hg_attr_float(n, "extrapolation_value", 0.0, &number));
    HG_TRY(resize_read(n, x, form, &p));
    if (p.coordinate == HG_RESIZE_CROP) {
        hg_dim count, expected = hg_dim_const(n->dims, 2 * (int64_t)p.count);
        if (!resize_has(n, form->roi, &count) || !hg_infer_equal(n, count, expected))
            return hg_infer_fail(n, HOLO_E_MODEL, "tf_crop_and_resize needs a roi of %u elements",
                                 2 * p.count);
    }
    if (p.mode != HG_RESIZE_NEAREST && !hg_dtype_in(x->dtype, HG_TYPES_NUMBER))
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "%s cannot be interpolated",
                             holo_dtype_text(x->dtype));
    n->out[0] = *x;
    for (int32_t i = 0; i < x->rank; i++)
        n->out[0].dim[i] =
            p.is_late && p.place[i] >= 0 ? hg_infer_late_dim(n, 0, (uint32_t)i) : p.out[i];
    return HOLO_OK;
}

static holo_status resize_emit_dim(hg_emit *e, const resize_plan *p, int32_t i)
{
    HG_TRY(hg_emit_int(e, p->place[i]));
    if (p->numerator[i] == 0) {
        HG_TRY(hg_emit_float(e, p->place[i] < 0 || p->is_late ? 1.0 : p->scale[i]));
        return hg_emit_int(e, 0);
    }
    HG_TRY(hg_emit_dim(e, p->numerator[i]));
    return hg_emit_dim(e, p->denominator[i]);
}

holo_status hg_resize_emit(hg_emit *e, const hg_resize_form *form)
{
    hg_infer n = hg_emit_reader(e);
    const hg_type *x = hg_emit_type(e, 0);
    resize_plan p;
    HG_TRY(resize_read(&n, x, form, &p));
    HG_TRY(hg_emit_int(e, p.mode));
    HG_TRY(hg_emit_int(e, p.coordinate));
    HG_TRY(hg_emit_int(e, p.nearest));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "antialias", 0) != 0));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "exclude_outside", 0) != 0));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, "cubic_coeff_a", -0.75)));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, "extrapolation_value", 0.0)));
    HG_TRY(hg_emit_int(e, p.count));
    for (int32_t i = 0; i < x->rank; i++)
        HG_TRY(resize_emit_dim(e, &p, i));
    bool crops = p.coordinate == HG_RESIZE_CROP;
    hg_value_id roi = crops ? hg_node_in(e->g, e->node, form->roi) : 0;
    hg_value_id scales = p.is_late ? hg_node_in(e->g, e->node, form->scales) : 0;
    e->in[1] = roi;
    e->in[2] = scales;
    e->n_in = p.is_late ? 3 : crops ? 2 : 1;
    if (p.is_late) e->kernel = "resize.scales";
    return HOLO_OK;
}

/* ---- derivative -------------------------------------------------------------------------------
 */

/* One number of input i for each of `count` lists of p->count: those of the axis. */
static hg_value_id resize_part(hg_gradient *d, uint32_t i, const resize_plan *p, int32_t axis,
                               uint32_t lists)
{
    hg_build *b = d->b;
    hg_dims *dims = &b->g->dims;
    hg_attr join = hg_attr_make_int("axis", 0);
    hg_value_id part[2];
    for (uint32_t k = 0; k < lists; k++) {
        const int64_t at = (int64_t)(k * p->count) + p->place[axis];
        part[k] = hg_build_part(b, hg_gradient_input(d, i), 0, hg_dim_const(dims, at),
                                hg_dim_const(dims, at + 1));
    }
    return lists == 1 ? part[0] : hg_build_op(b, "Concat", part, 2, &join, 1);
}

/* What each element along the axis gives to each of the result: the unit vectors, resized. */
static hg_value_id resize_matrix(hg_gradient *d, const hg_resize_form *form, const resize_plan *p,
                                 int32_t axis)
{
    hg_build *b = d->b;
    const hg_node *n = hg_gradient_node(d);
    const hg_type x = *hg_gradient_type(d, 0);
    hg_type square = {.dtype = x.dtype, .rank = 2, .dim = {x.dim[axis], x.dim[axis]}};
    hg_type one = {.dtype = HOLO_F32, .rank = 1, .dim = {hg_dim_const(&b->g->dims, 1)}};
    const hg_attr attr[] = {
        hg_attr_make_ints(b, "axes", (int64_t[]){1}, 1),
        {.name = hg_str_from("mode"),
         .kind = HG_ATTR_STRING,
         .s = hg_node_string(n, "mode", "nearest")},
        hg_attr_make_string("coordinate_transformation_mode", resize_coordinates[p->coordinate]),
        hg_attr_make_string("nearest_mode", resize_nearests[p->nearest]),
        hg_attr_make_int("antialias", hg_node_int(n, "antialias", 0)),
        hg_attr_make_int("exclude_outside", hg_node_int(n, "exclude_outside", 0)),
        hg_attr_make_float("cubic_coeff_a", hg_node_float(n, "cubic_coeff_a", -0.75)),
    };
    hg_value_id in[4] = {hg_build_1(b, "EyeLike", hg_build_full(b, &square, 0.0))};
    if (p->coordinate == HG_RESIZE_CROP) in[1] = resize_part(d, form->roi, p, axis, 2);
    if (p->numerator[axis] != 0)
        in[3] = hg_build_dims(b, &p->out[axis], 1);
    else if (p->is_late)
        in[2] = resize_part(d, form->scales, p, axis, 1);
    else
        in[2] = hg_build_full(b, &one, p->scale[axis]);
    return hg_build_op(b, "Resize", in, in[3] != 0 ? 4 : 3, attr, HG_COUNT(attr));
}

/* Axis by axis, times the transposed matrix. */
holo_status hg_resize_gradient(hg_gradient *d, const hg_resize_form *form)
{
    hg_build *b = d->b;
    const hg_infer n = hg_gradient_reader(d);
    const hg_type x = *hg_gradient_type(d, 0);
    resize_plan p;
    HG_TRY(resize_read(&n, &x, form, &p));
    if (!hg_str_is(hg_node_string(hg_gradient_node(d), "keep_aspect_ratio_policy", "stretch"),
                   "stretch"))
        return hg_gradient_fail(d, "keep_aspect_ratio_policy is not \"stretch\"");
    hg_value_id g = d->out[0];
    for (int32_t axis = 0; axis < x.rank; axis++) {
        int64_t order[HG_MAX_RANK];
        if (p.place[axis] < 0 || (!p.is_late && p.out[axis] == x.dim[axis])) continue;
        for (int32_t i = 0; i < x.rank; i++)
            order[i] = i == axis ? x.rank - 1 : i == x.rank - 1 ? axis : i;
        const hg_attr perm = hg_attr_make_ints(b, "perm", order, (uint32_t)x.rank);
        const hg_attr swap = hg_attr_make_ints(b, "perm", (int64_t[]){1, 0}, 2);
        hg_value_id matrix = resize_matrix(d, form, &p, axis);
        matrix = hg_build_op(b, "Transpose", &matrix, 1, &swap, 1);
        g = hg_build_2(b, "MatMul", hg_build_op(b, "Transpose", &g, 1, &perm, 1), matrix);
        g = hg_build_op(b, "Transpose", &g, 1, &perm, 1);
    }
    d->in[0] = hg_build_shaped(b, g, &x);
    return b->status;
}
