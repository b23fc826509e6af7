/* concat.c - concat: inputs side by side along one axis.
 *
 *   in[i]   tensors of one type that agree in all dims but `axis`
 *   param   axis
 *   out[0]  its dim `axis` is the sum of theirs */
#include "kernel/elem.h"

enum { CONCAT_BLOCK = 16384 }; /* elements of a unit; packed elements of two units share no byte */

static holo_status concat_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, -1, 1, 1));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_ANY));
    const holo_tensor *out = &a->out[0];
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, (int64_t)out->rank - 1));
    int64_t sum = 0;
    const int axis = (int)a->param[0];
    for (uint32_t i = 0; i < a->n_in; i++) {
        const holo_tensor *in = &a->in[i];
        HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_ANY));
        HG_TRY(hg_check_same_type(in, out, e, "input"));
        HG_TRY(hg_check_rank(in, e, "input", out->rank, out->rank));
        for (int k = 0; k < out->rank; k++)
            HG_REQUIRE(e, k == axis || in->dim[k] == out->dim[k], HOLO_E_SHAPE,
                       "dimension %d of input %u is %lld, expected %lld", k, i,
                       (long long)in->dim[k], (long long)out->dim[k]);
        HG_REQUIRE(e, hg_add_i64(sum, in->dim[axis], &sum), HOLO_E_SHAPE, "too many elements");
    }
    HG_REQUIRE(e, out->dim[axis] == sum, HOLO_E_SHAPE,
               "dimension %d of the output is %lld, expected %lld", axis, (long long)out->dim[axis],
               (long long)sum);
    return HOLO_OK;
}

static int64_t concat_units(const hg_args *a)
{
    return hg_ceil_div(holo_tensor_count(&a->out[0]), CONCAT_BLOCK);
}

/* What a piece of the output comes from. */
typedef struct concat_walk {
    const hg_args *a;
    int axis;
    int64_t inner, row; /* elements behind the axis, of a row of the output */
    uint32_t bits;
} concat_walk;

/* Elements [at, end) of the output, one part of a row after the other. */
static void concat_parts(const concat_walk *w, int64_t at, int64_t end)
{
    const hg_args *a = w->a;
    if (at >= end) return;
    int64_t outer = at / w->row, within = at % w->row;
    uint32_t i = 0;
    while (at < end) {
        const int64_t part = a->in[i].dim[w->axis] * w->inner;
        if (within < part) {
            int64_t n = hg_min(part - within, end - at);
            hg_elem_copy(a->out[0].data, at, a->in[i].data, outer * part + within, n, w->bits);
            at += n;
            within = part;
        }
        within -= part;
        i++;
        if (i == a->n_in) {
            i = 0;
            outer++;
        }
    }
}

enum { CONCAT_SHORT = 32 }; /* bytes of a part that is copied in two moves */

/* `size` bytes, at least `half` and at most twice that, for `rows` rows. */
HG_INLINE void concat_two_moves(const size_t half, const char *from, char *to, int64_t rows,
                                int64_t size, int64_t step)
{
    for (int64_t r = 0; r < rows; r++, from += size, to += step) {
        char low[CONCAT_SHORT / 2], high[CONCAT_SHORT / 2];
        memcpy(low, from, half);
        memcpy(high, from + size - (int64_t)half, half);
        memcpy(to, low, half);
        memcpy(to + size - (int64_t)half, high, half);
    }
}

/* All rows of a short part: a call of memcpy for each takes three times as long. */
static void concat_column(const char *from, char *to, int64_t rows, int64_t size, int64_t step)
{
    if (size >= 16)
        concat_two_moves(16, from, to, rows, size, step);
    else if (size >= 8)
        concat_two_moves(8, from, to, rows, size, step);
    else if (size >= 4)
        concat_two_moves(4, from, to, rows, size, step);
    else if (size >= 2)
        concat_two_moves(2, from, to, rows, size, step);
    else if (size == 1)
        concat_two_moves(1, from, to, rows, size, step);
}

/* Rows [first, last) of the output, input after input. */
static void concat_columns(const concat_walk *w, int64_t first, int64_t last)
{
    const hg_args *a = w->a;
    const int64_t bytes = w->bits / 8, step = w->row * bytes;
    char *to = (char *)a->out[0].data + first * step;
    for (uint32_t i = 0; i < a->n_in; i++) {
        const int64_t size = a->in[i].dim[w->axis] * w->inner * bytes;
        concat_column((const char *)a->in[i].data + first * size, to, last - first, size, step);
        to += size;
    }
}

static bool concat_is_short(const concat_walk *w)
{
    for (uint32_t i = 0; i < w->a->n_in; i++)
        if (w->a->in[i].dim[w->axis] * w->inner > CONCAT_SHORT * 8 / w->bits) return false;
    return w->bits >= 8;
}

static void concat_run(const hg_args *a, hg_range r)
{
    const holo_tensor *out = &a->out[0];
    concat_walk w = {.a = a, .axis = (int)a->param[0], .bits = hg_dtype_bits(out->dtype)};
    w.inner = hg_dims_product(out, w.axis + 1, out->rank);
    w.row = out->dim[w.axis] * w.inner;
    const int64_t at = r.begin * CONCAT_BLOCK;
    const int64_t end = hg_min(r.end * CONCAT_BLOCK, holo_tensor_count(out));
    if (at >= end) return;
    const int64_t first = hg_ceil_div(at, w.row), last = end / w.row;
    if (first >= last || !concat_is_short(&w)) {
        concat_parts(&w, at, end);
        return;
    }
    concat_parts(&w, at, first * w.row);
    concat_columns(&w, first, last);
    concat_parts(&w, last * w.row, end);
}

const hg_kernel hg_kernels_concat[] = {
    {.name = "concat",
     .flags = HG_KERNEL_APPEND,
     .check = concat_check,
     .units = concat_units,
     .run = concat_run},
    {0},
};
