/* pad.c - pad: a tensor with a border added or cut off.
 *
 *   in[0]   data, in[1] the value of a constant border (one element, same type; absent: zero bits)
 *   param   mode, then for each dim how many elements come before data (negative: how many are cut
 * off) out[0]  its dims say what comes behind
 *
 * mode 0 is a constant; 1 reflects without repeating the edge; 2 repeats the edge; 3 wraps around.
 * What is cut off is gone before the border is made: it is neither reflected nor wrapped. */
#include "kernel/pad.h"

#include "kernel/elem.h"

enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };

/* The elements of dimension d that are not cut off: the first one and how many. */
static int64_t pad_kept(const hg_args *a, int d, int64_t *first)
{
    const int64_t before = a->param[1 + d], size = a->in[0].dim[d];
    const int64_t behind = a->out[0].dim[d] - size - before;
    *first = before < 0 ? -before : 0;
    return size - *first + hg_min(behind, 0);
}

/* Sums of this and a dimension do not overflow. */
#define PAD_MOST (INT64_C(1) << 60)

static holo_status pad_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, (int)a->n_param));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_ANY));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    HG_TRY(hg_check_same_type(out, in, e, "output"));
    HG_TRY(hg_check_rank(out, e, "output", in->rank, in->rank));
    HG_TRY(hg_check_counts(a, e, 1, 2, 1, 1 + in->rank));
    HG_TRY(hg_check_param(a, e, 0, "mode", PAD_CONSTANT, PAD_WRAP));
    if (hg_args_has(a, 1)) {
        HG_TRY(hg_check_in_type(a, e, 1, HG_TYPES_ANY));
        HG_TRY(hg_check_same_type(&a->in[1], in, e, "value"));
        HG_REQUIRE(e, holo_tensor_count(&a->in[1]) == 1, HOLO_E_SHAPE,
                   "the value has %lld elements, expected 1",
                   (long long)holo_tensor_count(&a->in[1]));
    }
    const bool empty = holo_tensor_count(out) == 0;
    for (int i = 0; i < in->rank; i++) {
        HG_TRY(hg_check_param(a, e, 1 + (uint32_t)i, "padding", -PAD_MOST, PAD_MOST));
        int64_t first;
        HG_REQUIRE(e, a->param[0] == PAD_CONSTANT || empty || pad_kept(a, i, &first) > 0,
                   HOLO_E_SHAPE, "nothing of dimension %d is left to pad with", i);
    }
    return HOLO_OK;
}

static int64_t pad_rows(const hg_args *a)
{
    const int rank = a->out[0].rank;
    return rank == 0 ? 1 : hg_dims_product(&a->out[0], 0, rank - 1);
}

static int64_t pad_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_elem_is_packed(&a->in[0]) ? 1 : pad_rows(a);
}

int64_t hg_pad_source(const hg_args *a, int d, int64_t i)
{
    const int64_t mode = a->param[0], before = a->param[1 + d];
    int64_t first;
    const int64_t size = pad_kept(a, d, &first);
    i -= hg_max(before, 0);
    if (i >= 0 && i < size) return first + i;
    if (mode == PAD_CONSTANT) return -1;
    if (mode == PAD_EDGE) return first + (i < 0 ? 0 : size - 1);
    const int64_t period = mode == PAD_WRAP ? size : hg_max(2 * (size - 1), 1);
    const int64_t turn = i - hg_floor_div(i, period) * period;
    return first + (mode == PAD_WRAP || turn < size ? turn : period - turn);
}

static void pad_fill(const hg_args *a, int64_t at, int64_t n)
{
    const uint32_t bits = hg_dtype_bits(a->out[0].dtype);
    static const uint64_t zero[2] = {0};
    const void *value = hg_args_has(a, 1) ? a->in[1].data : zero;
    for (int64_t i = 0; i < n; i++)
        hg_elem_copy(a->out[0].data, at + i, value, 0, 1, bits);
}

/* One row of the output that starts at element `at`, from the row of data that starts at `from`. */
static void pad_row(const hg_args *a, int64_t at, int64_t from)
{
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    const int last = in->rank - 1;
    const int64_t cols = out->dim[last], size = in->dim[last], before = a->param[1 + last];
    const uint32_t bits = hg_dtype_bits(in->dtype);
    const int64_t first = hg_max(before, 0), middle = hg_min(cols, before + size);
    for (int64_t i = 0; i < cols; i++) {
        if (i == first && middle > first) {
            hg_elem_copy(out->data, at + i, in->data, from + first - before, middle - first, bits);
            i = middle - 1;
            continue;
        }
        int64_t source = hg_pad_source(a, last, i);
        if (source < 0)
            pad_fill(a, at + i, 1);
        else
            hg_elem_copy(out->data, at + i, in->data, from + source, 1, bits);
    }
}

/* A unit is a row along the last dimension. */
static void pad_run(const hg_args *a, hg_range r)
{
    const holo_tensor *in = &a->in[0], *out = &a->out[0];
    const uint32_t bits = hg_dtype_bits(in->dtype);
    if (bits < 8) r.end = r.begin < r.end ? pad_rows(a) : 0;
    if (in->rank == 0) {
        if (r.begin < r.end) hg_elem_copy(out->data, 0, in->data, 0, 1, bits);
        return;
    }
    const int64_t cols = out->dim[out->rank - 1];
    for (int64_t row = r.begin; row < r.end; row++) {
        int64_t from = 0, stride = in->dim[in->rank - 1], rest = row;
        for (int i = in->rank - 2; i >= 0 && from >= 0; i--) {
            int64_t source = hg_pad_source(a, i, rest % out->dim[i]);
            from = source < 0 ? -1 : from + source * stride;
            rest /= out->dim[i];
            stride *= in->dim[i];
        }
        if (from < 0)
            pad_fill(a, row * cols, cols);
        else
            pad_row(a, row * cols, from);
    }
}

const hg_kernel hg_kernels_pad[] = {
    {.name = "pad", .check = pad_check, .units = pad_units, .run = pad_run},
    {0},
};
