/* nonzero.c - nonzero: the places of all elements that are not zero.
 *
 *   in[0]   any tensor
 *   out[0]  int64 [rank, n]: column i holds the indices of the i-th such element, in row-major
 * order */
#include "kernel/elem.h"

static holo_status nonzero_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 0));
    return hg_check_in_type(a, e, 0, HG_TYPES_ANY & ~HG_TYPES_NARROW);
}

static holo_status nonzero_check(const hg_args *a, holo_error *e)
{
    HG_TRY(nonzero_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", 2, 2));
    HG_REQUIRE(e, a->out[0].dim[0] == a->in[0].rank, HOLO_E_SHAPE,
               "the output has %lld rows, expected %d", (long long)a->out[0].dim[0], a->in[0].rank);
    return HOLO_OK;
}

enum { NONZERO_BLOCK = 64 };

/* Which of n elements from number `first` on are not zero, and how many. Without branches: what
 * comes next cannot be guessed. */
static int64_t nonzero_find(const holo_tensor *t, int64_t first, int64_t n, uint8_t *place)
{
    const uint32_t bits = hg_dtype_bits(t->dtype);
    const bool is_float = hg_dtype_in(t->dtype, HG_TYPES_FLOAT);
    int64_t found = 0;
#define FIND(is_other)                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                              \
        place[found] = (uint8_t)i;                                                                 \
        found += (is_other);                                                                       \
    }
    if (bits == 8) {
        const uint8_t *x = (const uint8_t *)t->data + first;
        FIND(x[i] != 0)
    } else if (bits == 32) {
        const uint32_t *x = (const uint32_t *)t->data + first;
        const uint32_t mask = is_float ? 0x7fffffff : 0xffffffff; /* -0.0 is zero */
        FIND((x[i] & mask) != 0)
    } else {
        FIND(!hg_elem_is_zero(t, first + i))
    }
#undef FIND
    return found;
}

static holo_status nonzero_size(const hg_args *a, holo_error *e)
{
    HG_TRY(nonzero_check_in(a, e));
    int64_t found = 0;
    uint8_t place[NONZERO_BLOCK];
    const int64_t count = holo_tensor_count(&a->in[0]);
    for (int64_t i = 0; i < count; i += NONZERO_BLOCK)
        found += nonzero_find(&a->in[0], i, hg_min(NONZERO_BLOCK, count - i), place);
    a->out[0].rank = 2;
    a->out[0].dim[0] = a->in[0].rank;
    a->out[0].dim[1] = found;
    return HOLO_OK;
}

static int64_t nonzero_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : 1;
}

static void nonzero_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const holo_tensor *in = &a->in[0];
    const int64_t count = holo_tensor_count(in), cols = a->out[0].dim[1];
    const int64_t row = in->rank == 0 ? 1 : in->dim[in->rank - 1];
    int64_t *y = a->out[0].data, at = 0;
    uint8_t place[NONZERO_BLOCK];
    for (int64_t i = 0, n; i < count; i += n) { /* a part of a row */
        n = hg_min(NONZERO_BLOCK, row - i % row);
        const int64_t found = hg_min(nonzero_find(in, i, n, place), cols - at);
        int64_t rest = i;
        for (int k = in->rank - 1; found > 0 && k >= 0; k--) {
            const int64_t index = rest % in->dim[k];
            for (int64_t j = 0; j < found; j++)
                y[k * cols + at + j] = k == in->rank - 1 ? index + place[j] : index;
            rest /= in->dim[k];
        }
        at += found;
    }
    /* The input changed between the two calls, or a program lied about the size. */
    for (; at < cols; at++)
        for (int k = 0; k < in->rank; k++)
            y[k * cols + at] = 0;
}

const hg_kernel hg_kernels_nonzero[] = {
    {.name = "nonzero",
     .flags = HG_KERNEL_LATE,
     .check = nonzero_check,
     .size = nonzero_size,
     .units = nonzero_units,
     .run = nonzero_run},
    {0},
};
