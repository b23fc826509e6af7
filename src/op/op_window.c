/* op_window.c - sliding windows: what Conv, ConvTranspose and the pools share. */
#include "op/op_window.h"

/* Larger strides, dilations and pads mean nothing and would overflow sizes. */
enum { WINDOW_LIMIT = INT32_MAX };

hg_infer hg_emit_reader(const hg_emit *e)
{
    hg_infer n = {.g = e->g, .ctx = e->ctx, .dims = &e->g->dims, .id = e->id, .node = e->node};
    const hg_type **in = hg_arena_array(&e->ctx->arena, e->node->n_in + 1, sizeof(void *));
    if (in == NULL) return n; /* shape rules that look at n.in find no input */
    for (uint32_t i = 0; i < e->node->n_in; i++)
        in[i] = hg_emit_type(e, i);
    n.in = in;
    n.n_in = e->node->n_in;
    return n;
}

/* One number for each of `count` places, `standard` when the attribute is absent; layout passes
 * give expressions instead of numbers. */
static holo_status window_list(const hg_infer *n, const char *name, size_t count, int64_t standard,
                               int64_t low, hg_dim *out)
{
    const hg_attr *a = hg_node_attr(n->node, name);
    bool is_dims = a != NULL && a->kind == HG_ATTR_DIMS;
    const int64_t *ints = NULL;
    size_t found = 0;
    if (is_dims)
        found = a->count;
    else
        HG_TRY(hg_attr_ints(n, name, &ints, &found));
    if (found != 0 && found != count)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute %s has %zu numbers, expected %zu", name,
                             found, count);
    for (size_t i = 0; i < count; i++) {
        int64_t value = found == 0 || is_dims ? standard : ints[i];
        if (value < low || value > WINDOW_LIMIT)
            return hg_infer_fail(n, HOLO_E_MODEL, "%s[%zu] is %lld, expected %lld to %d", name, i,
                                 (long long)value, (long long)low, WINDOW_LIMIT);
        out[i] = is_dims && found != 0 ? a->dims[i] : hg_dim_const(n->dims, value);
    }
    return HOLO_OK;
}

static holo_status window_kernel(const hg_infer *n, const hg_dim *kernel, hg_window *w)
{
    hg_dim stated[HG_MAX_SPATIAL] = {0};
    bool is_stated = hg_node_attr(n->node, "kernel_shape") != NULL;
    if (!is_stated && kernel == NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute kernel_shape is missing");
    HG_TRY(window_list(n, "kernel_shape", (size_t)w->rank, 1, 1, stated));
    for (int32_t i = 0; i < w->rank; i++) {
        w->kernel[i] = kernel == NULL ? stated[i] : kernel[i];
        if (is_stated && !hg_infer_equal(n, stated[i], w->kernel[i])) {
            char actual[64], expected[64];
            hg_dim_print(n->dims, stated[i], actual, sizeof actual);
            hg_dim_print(n->dims, w->kernel[i], expected, sizeof expected);
            return hg_infer_fail(n, HOLO_E_SHAPE, "kernel_shape[%d] is %s but the weights have %s",
                                 i, actual, expected);
        }
    }
    return HOLO_OK;
}

hg_dim hg_window_span(hg_dims *d, const hg_window *w, int32_t i)
{
    hg_dim one = hg_dim_const(d, 1), steps = hg_dim_sub(d, w->kernel[i], one);
    return hg_dim_add(d, hg_dim_mul(d, steps, w->dilation[i]), one);
}

/* Splits a total between the two ends; an odd one goes to the end when `end_heavy`. */
static void window_split(const hg_infer *n, hg_dim total, bool end_heavy, hg_window *w, int32_t i)
{
    hg_dim half = hg_dim_floordiv(n->dims, total, hg_dim_const(n->dims, 2));
    hg_dim rest = hg_dim_sub(n->dims, total, half);
    w->pad_begin[i] = end_heavy ? half : rest;
    w->pad_end[i] = end_heavy ? rest : half;
}

typedef enum window_auto { WINDOW_NOTSET, WINDOW_VALID, WINDOW_UPPER, WINDOW_LOWER } window_auto;

static holo_status window_auto_pad(const hg_infer *n, window_auto *out)
{
    static const char *const name[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"};
    hg_str text;
    HG_TRY(hg_attr_string(n, "auto_pad", "NOTSET", &text));
    for (int i = 0; i < (int)HG_COUNT(name); i++) {
        if (!hg_str_is(text, name[i])) continue;
        *out = (window_auto)i;
        return HOLO_OK;
    }
    return hg_infer_fail(n, HOLO_E_MODEL,
                         "auto_pad is \"%.*s\", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                         HG_STR_ARG(text));
}

static holo_status window_pads(const hg_infer *n, window_auto pad, hg_window *w)
{
    hg_dim pads[2 * HG_MAX_SPATIAL];
    HG_TRY(window_list(n, "pads", 2 * (size_t)w->rank, 0, -(int64_t)WINDOW_LIMIT, pads));
    for (int32_t i = 0; i < w->rank; i++) {
        w->pad_begin[i] = pad == WINDOW_NOTSET ? pads[i] : hg_dim_const(n->dims, 0);
        w->pad_end[i] = pad == WINDOW_NOTSET ? pads[w->rank + i] : hg_dim_const(n->dims, 0);
    }
    return HOLO_OK;
}

/* out = ceil(in / stride), and as much padding as that needs. */
static void window_same(const hg_infer *n, hg_dim in, bool end_heavy, hg_window *w, int32_t i)
{
    hg_dims *d = n->dims;
    hg_dim zero = hg_dim_const(d, 0), one = hg_dim_const(d, 1);
    w->out[i] = hg_dim_ceildiv(d, in, w->stride[i]);
    hg_dim reach = hg_dim_mul(d, hg_dim_sub(d, w->out[i], one), w->stride[i]);
    hg_dim total = hg_dim_sub(d, hg_dim_add(d, reach, hg_window_span(n->dims, w, i)), in);
    window_split(n, hg_dim_max(d, total, zero), end_heavy, w, i);
}

static holo_status window_slide(const hg_infer *n, hg_window_kind kind, hg_dim in, hg_window *w,
                                int32_t i)
{
    hg_dims *d = n->dims;
    hg_dim one = hg_dim_const(d, 1);
    hg_dim left = hg_dim_add(d, in, w->pad_begin[i]);
    hg_dim padded = hg_dim_add(d, left, w->pad_end[i]), span = hg_window_span(d, w, i);
    hg_dim spare = hg_dim_sub(d, padded, span);
    int64_t room;
    if (hg_dim_is_const(d, spare, &room) && room < 0) {
        char has[64], needs[64];
        hg_dim_print(d, padded, has, sizeof has);
        hg_dim_print(d, span, needs, sizeof needs);
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "the padded input has %s along spatial axis %d, expected at least %s, "
                             "which the kernel spans",
                             has, i, needs);
    }
    hg_infer_at_least(n, padded, span);
    if (kind == HG_WINDOW_FLOOR) {
        w->out[i] = hg_dim_add(d, hg_dim_floordiv(d, spare, w->stride[i]), one);
        return HOLO_OK;
    }
    hg_dim last = hg_dim_ceildiv(d, spare, w->stride[i]); /* number of the last window */
    hg_dim starts_inside = hg_dim_lt(d, hg_dim_mul(d, last, w->stride[i]), left);
    w->out[i] = hg_dim_add(d, last, starts_inside);
    return HOLO_OK;
}

static holo_status window_transpose(const hg_infer *n, window_auto pad, const hg_dim *in,
                                    hg_window *w)
{
    hg_dims *d = n->dims;
    hg_dim extra[HG_MAX_SPATIAL], shape[HG_MAX_SPATIAL];
    size_t n_shape;
    const int64_t *ints;
    HG_TRY(window_list(n, "output_padding", (size_t)w->rank, 0, 0, extra));
    HG_TRY(hg_attr_ints(n, "output_shape", &ints, &n_shape));
    /* Some exporters state batch and channels, too. */
    if (n_shape != 0 && n_shape != (size_t)w->rank && n_shape != (size_t)w->rank + 2)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute output_shape has %zu numbers, expected %d",
                             n_shape, w->rank);
    hg_dim zero = hg_dim_const(d, 0), one = hg_dim_const(d, 1);
    bool same = pad == WINDOW_UPPER || pad == WINDOW_LOWER;
    for (int32_t i = 0; i < w->rank; i++) {
        hg_dim full = hg_dim_mul(d, w->stride[i], hg_dim_sub(d, in[i], one));
        full = hg_dim_add(d, hg_dim_add(d, full, extra[i]), hg_window_span(n->dims, w, i));
        if (n_shape == 0 && !same) {
            w->out[i] = hg_dim_sub(d, hg_dim_sub(d, full, w->pad_begin[i]), w->pad_end[i]);
            continue;
        }
        size_t at = n_shape - (size_t)w->rank + (size_t)i;
        if (n_shape != 0 && (ints[at] < 0 || ints[at] > WINDOW_LIMIT))
            return hg_infer_fail(n, HOLO_E_MODEL, "output_shape[%d] is %lld, expected 0 to %d", i,
                                 (long long)ints[at], WINDOW_LIMIT);
        shape[i] = n_shape != 0 ? hg_dim_const(d, ints[at]) : hg_dim_mul(d, in[i], w->stride[i]);
        w->out[i] = shape[i];
        /* A shape beyond the full result gets zeros at the end, never at the beginning. */
        hg_dim total = hg_dim_max(d, hg_dim_sub(d, full, shape[i]), zero);
        window_split(n, total, pad == WINDOW_UPPER, w, i);
    }
    return HOLO_OK;
}

holo_status hg_window_read(const hg_infer *n, hg_window_kind kind, int32_t rank, const hg_dim *in,
                           const hg_dim *kernel, hg_window *w)
{
    if (rank < 1 || rank > HG_MAX_SPATIAL)
        return hg_infer_fail(n, HOLO_E_SHAPE, "input 0 has rank %d, expected 3 to %d", rank + 2,
                             HG_MAX_RANK);
    window_auto pad = WINDOW_NOTSET;
    *w = (hg_window){.rank = rank};
    HG_TRY(window_kernel(n, kernel, w));
    HG_TRY(window_list(n, "strides", (size_t)rank, 1, 1, w->stride));
    HG_TRY(window_list(n, "dilations", (size_t)rank, 1, 1, w->dilation));
    HG_TRY(window_auto_pad(n, &pad));
    HG_TRY(window_pads(n, pad, w));
    if (kind == HG_WINDOW_TRANSPOSE) return window_transpose(n, pad, in, w);
    for (int32_t i = 0; i < rank; i++) {
        if (pad == WINDOW_UPPER || pad == WINDOW_LOWER)
            window_same(n, in[i], pad == WINDOW_UPPER, w, i);
        else
            /* VALID counts whole windows, also with ceil_mode. */
            HG_TRY(window_slide(n, pad == WINDOW_VALID ? HG_WINDOW_FLOOR : kind, in[i], w, i));
    }
    return HOLO_OK;
}

holo_status hg_window_emit(hg_emit *e, const hg_dim *list, int32_t rank)
{
    for (int32_t i = 0; i < rank; i++)
        HG_TRY(hg_emit_dim(e, list[i]));
    return HOLO_OK;
}
