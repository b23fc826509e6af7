/* unique.c - unique.order and unique: the distinct slices of a tensor along an axis, in two steps.
 *
 * unique.order
 *   in[0]   data
 *   param   axis, or -1: data is seen as one row of elements
 *   out[0]  int64 [n]: numbers of the slices in ascending order; equal ones in the order they have
 *
 * unique
 *   in[0]   data, in[1] their order
 *   param   axis or -1; sorted: 1 gives ascending slices, 0 those that come first first
 *   out     distinct slices; where each occurs first; which distinct slice each slice is; how often
 * each occurs. The last three are int64 and may be unwanted.
 *
 * Slices are compared element by element; NaN is above all numbers and equal to itself.
 * Complex numbers go by their real parts, then by the imaginary ones. */
#include "kernel/elem.h"
#include "kernel/order.h"

#define UNIQUE_TYPES (HG_TYPES_ANY & ~HG_TYPES_NARROW)
#define UNIQUE_KEYS (HG_TYPES_NUMBER | HG_TYPES_BOOL)

typedef struct unique_slices {
    int64_t n, inner, outer;
    bool has_keys; /* slices are numbers */
} unique_slices;

static unique_slices unique_shape(const hg_args *a)
{
    const holo_tensor *in = &a->in[0];
    const int axis = (int)a->param[0];
    unique_slices s = {.n = holo_tensor_count(in), .inner = 1, .outer = 1};
    if (axis >= 0)
        s = (unique_slices){.n = in->dim[axis],
                            .inner = hg_dims_product(in, axis + 1, in->rank),
                            .outer = hg_dims_product(in, 0, axis)};
    s.has_keys = s.inner == 1 && s.outer == 1 && hg_dtype_in(in->dtype, UNIQUE_KEYS);
    return s;
}

/* ---- comparing
 * ------------------------------------------------------------------------------------ */

#define UNIQUE_ORDER(T)                                                                            \
    (((const T *)t->data)[i] > ((const T *)t->data)[j]) -                                          \
        (((const T *)t->data)[i] < ((const T *)t->data)[j])

static double unique_float(const holo_tensor *t, int64_t i)
{
    switch ((int)t->dtype) {
    case HOLO_F64: return ((const double *)t->data)[i];
    case HOLO_F32: return (double)((const float *)t->data)[i];
    case HOLO_F16: return (double)hg_f16_to_f32(((const uint16_t *)t->data)[i]);
    default: return (double)hg_bf16_to_f32(((const uint16_t *)t->data)[i]);
    }
}

/* Complex numbers as pairs. */
static int unique_compare_c64(const float *x, const float *y)
{
    const int order = hg_order_f64((double)x[0], (double)y[0]);
    return order != 0 ? order : hg_order_f64((double)x[1], (double)y[1]);
}

static int unique_compare_c128(const double *x, const double *y)
{
    const int order = hg_order_f64(x[0], y[0]);
    return order != 0 ? order : hg_order_f64(x[1], y[1]);
}

static int unique_compare_elements(const holo_tensor *t, int64_t i, int64_t j)
{
    switch ((int)t->dtype) {
    case HOLO_BOOL:
    case HOLO_U8: return UNIQUE_ORDER(uint8_t);
    case HOLO_I8: return UNIQUE_ORDER(int8_t);
    case HOLO_U16: return UNIQUE_ORDER(uint16_t);
    case HOLO_I16: return UNIQUE_ORDER(int16_t);
    case HOLO_U32: return UNIQUE_ORDER(uint32_t);
    case HOLO_I32: return UNIQUE_ORDER(int32_t);
    case HOLO_U64: return UNIQUE_ORDER(uint64_t);
    case HOLO_I64: return UNIQUE_ORDER(int64_t);
    case HOLO_STRING:
        return hg_order_string((const holo_string *)t->data + i, (const holo_string *)t->data + j);
    case HOLO_C64:
        return unique_compare_c64((const float *)t->data + 2 * i, (const float *)t->data + 2 * j);
    case HOLO_C128:
        return unique_compare_c128((const double *)t->data + 2 * i,
                                   (const double *)t->data + 2 * j);
    default: return hg_order_f64(unique_float(t, i), unique_float(t, j));
    }
}
#undef UNIQUE_ORDER

/* Keys are in the order of the elements, and equal where these are. */
static uint64_t unique_key(const holo_tensor *t, int64_t i)
{
    const uint64_t sign = UINT64_C(1) << 63;
    if (!hg_dtype_in(t->dtype, HG_TYPES_FLOAT)) {
        const uint64_t bits = (uint64_t)hg_elem_to_int(t, i);
        return hg_dtype_is_signed_int(t->dtype) ? bits ^ sign : bits;
    }
    const double x = unique_float(t, i) + 0.0; /* no -0.0 */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x != x) return UINT64_MAX;
    return bits >= sign ? ~bits : bits | sign;
}

static int unique_compare(const hg_args *a, const unique_slices *s, int64_t x, int64_t y)
{
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = 0; i < s->inner; i++) {
            int order = unique_compare_elements(&a->in[0], (o * s->n + x) * s->inner + i,
                                                (o * s->n + y) * s->inner + i);
            if (order != 0) return order;
        }
    return 0;
}

/* ---- unique.order
 * ------------------------------------------------------------------------------------ */

static holo_status unique_check_data(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_in_type(a, e, 0, UNIQUE_TYPES));
    return hg_check_param(a, e, 0, "axis", -1, (int64_t)a->in[0].rank - 1);
}

static holo_status unique_check_list(const holo_tensor *t, int64_t n, holo_error *e,
                                     const char *what)
{
    HG_REQUIRE(e, t->dtype == HOLO_I64, HOLO_E_TYPE, "%s has type %s, expected int64", what,
               holo_dtype_text(t->dtype));
    HG_TRY(hg_check_rank(t, e, what, 1, 1));
    HG_REQUIRE(e, t->dim[0] == n, HOLO_E_SHAPE, "%s has %lld elements, expected %lld", what,
               (long long)t->dim[0], (long long)n);
    return HOLO_OK;
}

static holo_status unique_order_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 1));
    HG_TRY(unique_check_data(a, e));
    return unique_check_list(&a->out[0], unique_shape(a).n, e, "output");
}

enum { UNIQUE_ASK = 1 << 12 }; /* slices between two looks at the clock */

static int64_t unique_order_units(const hg_args *a)
{
    return unique_shape(a).n == 0 ? 0 : 1;
}

/* Numbers of slices; of keys too, and keys twice. */
static size_t unique_order_scratch(const hg_args *a)
{
    const unique_slices s = unique_shape(a);
    return (size_t)s.n * sizeof(int64_t) * (s.has_keys ? 3 : 1);
}

/* Digit by digit of the keys, from the lowest one on, but for digits that all have in common. */
static void unique_order_keys(const hg_args *a, int64_t n, void *scratch)
{
    int64_t *from = a->out[0].data, *to = scratch;
    uint64_t *key = (uint64_t *)scratch + n, *moved = key + n, differs = 0;
    for (int64_t i = 0; i < n; i++) {
        from[i] = i;
        key[i] = unique_key(&a->in[0], i);
        differs |= key[i] ^ key[0];
    }
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t place[256] = {0}, sum = 0;
        if ((differs >> shift & 255) == 0) continue;
        for (int64_t i = 0; i < n; i++)
            place[key[i] >> shift & 255]++;
        for (int k = 0; k < 256; k++) {
            const int64_t count = place[k];
            place[k] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) {
            if (i % UNIQUE_ASK == UNIQUE_ASK - 1 && hg_args_stopped(a)) return;
            const int64_t at = place[key[i] >> shift & 255]++;
            to[at] = from[i];
            moved[at] = key[i];
        }
        int64_t *const numbers = from;
        uint64_t *const keys = key;
        from = to;
        to = numbers;
        key = moved;
        moved = keys;
    }
    if (from != a->out[0].data) memcpy(a->out[0].data, from, (size_t)n * sizeof *from);
}

/* Merge sort from the bottom up; equal slices keep their order. */
static void unique_order_run(const hg_args *a, hg_range r)
{
    const unique_slices s = unique_shape(a);
    if (r.begin >= r.end) return;
    if (s.has_keys) {
        unique_order_keys(a, s.n, r.scratch);
        return;
    }
    int64_t *from = a->out[0].data, *to = r.scratch;
    for (int64_t i = 0; i < s.n; i++)
        from[i] = i;
    for (int64_t width = 1; width < s.n; width *= 2) {
        for (int64_t left = 0; left < s.n; left += 2 * width) {
            const int64_t middle = hg_min(left + width, s.n), end = hg_min(left + 2 * width, s.n);
            int64_t i = left, j = middle;
            for (int64_t k = left; k < end; k++) {
                if (k % UNIQUE_ASK == UNIQUE_ASK - 1 && hg_args_stopped(a)) return;
                bool first =
                    j >= end || (i < middle && unique_compare(a, &s, from[i], from[j]) <= 0);
                to[k] = first ? from[i++] : from[j++];
            }
        }
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != a->out[0].data) memcpy(a->out[0].data, from, (size_t)s.n * sizeof *from);
}

/* ---- unique
 * -------------------------------------------------------------------------------------------- */

static holo_status unique_check_in(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_out >= 1 && a->n_out <= 4, HOLO_E_FORMAT, "%u outputs, expected 1 to 4",
               a->n_out);
    HG_TRY(hg_check_counts(a, e, 2, 2, (int)a->n_out, 2));
    HG_TRY(unique_check_data(a, e));
    HG_TRY(hg_check_param(a, e, 1, "sorted", 0, 1));
    return unique_check_list(&a->in[1], unique_shape(a).n, e, "order");
}

static bool unique_wants(const hg_args *a, uint32_t j)
{
    return j < a->n_out && a->out[j].dtype != HOLO_NONE;
}

static holo_status unique_check(const hg_args *a, holo_error *e)
{
    HG_TRY(unique_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, UNIQUE_TYPES));
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    const int axis = (int)a->param[0], rank = axis < 0 ? 1 : in->rank;
    HG_TRY(hg_check_same_type(out, in, e, "output"));
    HG_TRY(hg_check_rank(out, e, "output", rank, rank));
    for (int i = 0; axis >= 0 && i < rank; i++)
        HG_REQUIRE(e, i == axis || out->dim[i] == in->dim[i], HOLO_E_SHAPE,
                   "dimension %d of the output is %lld, expected %lld", i, (long long)out->dim[i],
                   (long long)in->dim[i]);
    const int64_t n = unique_shape(a).n, distinct = out->dim[axis < 0 ? 0 : axis];
    HG_REQUIRE(e, distinct <= n, HOLO_E_SHAPE, "%lld distinct slices, but there are only %lld",
               (long long)distinct, (long long)n);
    if (unique_wants(a, 1)) HG_TRY(unique_check_list(&a->out[1], distinct, e, "indices"));
    if (unique_wants(a, 2)) HG_TRY(unique_check_list(&a->out[2], n, e, "inverse"));
    if (unique_wants(a, 3)) HG_TRY(unique_check_list(&a->out[3], distinct, e, "counts"));
    return HOLO_OK;
}

/* Slice number k of the order; a wrong one, which only a damaged program has, is slice 0. */
static int64_t unique_slice(const hg_args *a, const unique_slices *s, int64_t k)
{
    int64_t slice = ((const int64_t *)a->in[1].data)[k];
    return slice >= 0 && slice < s->n ? slice : 0;
}

static bool unique_starts_group(const hg_args *a, const unique_slices *s, int64_t k)
{
    if (k == 0) return true;
    const int64_t before = unique_slice(a, s, k - 1), slice = unique_slice(a, s, k);
    if (s->has_keys) return unique_key(&a->in[0], before) != unique_key(&a->in[0], slice);
    return unique_compare(a, s, before, slice) != 0;
}

static holo_status unique_size(const hg_args *a, holo_error *e)
{
    HG_TRY(unique_check_in(a, e));
    const unique_slices s = unique_shape(a);
    int64_t distinct = 0;
    for (int64_t k = 0; k < s.n; k++)
        distinct += unique_starts_group(a, &s, k);
    for (uint32_t j = 0; j < a->n_out; j++) {
        a->out[j].rank = 1;
        a->out[j].dim[0] = j == 2 ? s.n : distinct;
    }
    if (a->param[0] < 0) return HOLO_OK;
    a->out[0].rank = a->in[0].rank;
    memcpy(a->out[0].dim, a->in[0].dim, sizeof a->out[0].dim);
    a->out[0].dim[a->param[0]] = distinct;
    return HOLO_OK;
}

static int64_t unique_units(const hg_args *a)
{
    return unique_shape(a).n == 0 ? 0 : 1;
}

/* For each slice that is the first of its group, the number of the group in the output. */
static size_t unique_scratch(const hg_args *a)
{
    return (size_t)unique_shape(a).n * sizeof(int64_t);
}

/* Numbers the groups, ascending or by where they occur first. */
static void unique_number_groups(const hg_args *a, const unique_slices *s, int64_t *number)
{
    int64_t next = 0;
    for (int64_t i = 0; i < s->n; i++)
        number[i] = -1;
    for (int64_t k = 0; k < s->n; k++)
        if (unique_starts_group(a, s, k)) number[unique_slice(a, s, k)] = next++;
    if (a->param[1] != 0) return;
    next = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (number[i] >= 0) number[i] = next++;
}

static void unique_store_slice(const hg_args *a, const unique_slices *s, int64_t to, int64_t from)
{
    const int64_t distinct = a->out[0].dim[hg_max(a->param[0], 0)];
    for (int64_t o = 0; o < s->outer; o++)
        hg_elem_copy(a->out[0].data, (o * distinct + to) * s->inner, a->in[0].data,
                     (o * s->n + from) * s->inner, s->inner, hg_dtype_bits(a->in[0].dtype));
}

static void unique_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const unique_slices s = unique_shape(a);
    const int64_t distinct = a->out[0].dim[hg_max(a->param[0], 0)];
    int64_t *number = r.scratch, group = 0;
    int64_t *index = unique_wants(a, 1) ? a->out[1].data : NULL;
    int64_t *inverse = unique_wants(a, 2) ? a->out[2].data : NULL;
    int64_t *count = unique_wants(a, 3) ? a->out[3].data : NULL;
    unique_number_groups(a, &s, number);
    for (int64_t k = 0; k < s.n; k++) {
        const int64_t slice = unique_slice(a, &s, k);
        const bool first = number[slice] >= 0;
        if (first) group = number[slice];
        if (inverse != NULL) inverse[slice] = group;
        if (group < 0 || group >= distinct) continue; /* the data changed between the two calls */
        if (first) unique_store_slice(a, &s, group, slice);
        if (first && index != NULL) index[group] = slice;
        if (count != NULL) count[group] = first ? 1 : count[group] + 1;
    }
}

const hg_kernel hg_kernels_unique[] = {
    {.name = "unique",
     .flags = HG_KERNEL_LATE,
     .check = unique_check,
     .size = unique_size,
     .units = unique_units,
     .scratch = unique_scratch,
     .run = unique_run},
    {.name = "unique.order",
     .check = unique_order_check,
     .units = unique_order_units,
     .scratch = unique_order_scratch,
     .run = unique_order_run},
    {0},
};
