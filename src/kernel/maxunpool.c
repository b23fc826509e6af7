/* maxunpool.c - maxunpool: puts elements where MaxPool found them; everything else is 0.
 *
 *   in[0]   X, f32, f64, f16 or bf16
 *   in[1]   places, int64, X's shape: flat indices into a tensor of the sizes in param
 *   param   one size for each dimension of the output
 *   out[0]  Y, X's type; a place outside Y is an error
 *
 * Of two elements for one place the last wins. */
#include "isa/kernel.h"

static holo_status maxunpool_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_FLOAT));
    const holo_tensor *x = &a->in[0];
    HG_TRY(hg_check_counts(a, e, 2, 2, 1, x->rank));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_same_shape(&a->in[1], x, e, "indices"));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(&a->out[0], x, e, "output"));
    HG_TRY(hg_check_rank(&a->out[0], e, "output", x->rank, x->rank));
    int64_t count = 1;
    for (int d = 0; d < x->rank; d++) {
        HG_TRY(hg_check_param(a, e, (uint32_t)d, "size", 0, INT64_MAX));
        HG_REQUIRE(e, hg_mul_i64(count, hg_max(a->param[d], 1), &count), HOLO_E_SHAPE,
                   "the sizes of the places are too large");
    }
    return HOLO_OK;
}

static int64_t maxunpool_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : 1;
}

/* Where the sizes of the places are those of the output, a place is the number of an element. */
static bool maxunpool_is_plain(const hg_args *a)
{
    bool is_plain = true;
    for (int d = 0; d < a->in[0].rank; d++)
        is_plain = is_plain && a->param[d] == a->out[0].dim[d];
    return is_plain;
}

/* Element of the output for a place, or -1. */
static int64_t maxunpool_find(const hg_args *a, int64_t place, int64_t count)
{
    const holo_tensor *y = &a->out[0];
    int64_t at = 0, stride = 1;
    if (place < 0 || place >= count) return -1;
    for (int d = y->rank - 1; d >= 0; d--) {
        if (place % a->param[d] >= y->dim[d]) return -1;
        at += place % a->param[d] * stride;
        place /= a->param[d];
        stride *= y->dim[d];
    }
    return at;
}

#define MAXUNPOOL(T, bits)                                                                         \
    static void maxunpool_##bits(const hg_args *a, const T *x, T *y, int64_t count)                \
    {                                                                                              \
        const int64_t *place = a->in[1].data, n = holo_tensor_count(&a->in[0]);                    \
        const bool is_plain = maxunpool_is_plain(a);                                               \
        const int64_t limit = is_plain ? count : INT64_MAX;                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            int64_t at = place[i];                                                                 \
            if (!is_plain) at = maxunpool_find(a, at, count);                                      \
            if (HG_LIKELY(at >= 0 && at < limit))                                                  \
                y[at] = x[i];                                                                      \
            else                                                                                   \
                hg_fault_range(a->fault, "index", i, place[i], 0, count - 1);                      \
        }                                                                                          \
    }
MAXUNPOOL(uint16_t, 16)
MAXUNPOOL(uint32_t, 32)
MAXUNPOOL(uint64_t, 64)
#undef MAXUNPOOL

static void maxunpool_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const holo_tensor *x = &a->in[0], *y = &a->out[0];
    const uint32_t bits = hg_dtype_bits(x->dtype);
    int64_t count = 1;
    for (int d = 0; d < x->rank; d++)
        count *= a->param[d];
    memset(y->data, 0, holo_tensor_bytes(y));
    if (bits == 16) maxunpool_16(a, x->data, y->data, count);
    if (bits == 32) maxunpool_32(a, x->data, y->data, count);
    if (bits == 64) maxunpool_64(a, x->data, y->data, count);
}

const hg_kernel hg_kernels_maxunpool[] = {
    {.name = "maxunpool", .check = maxunpool_check, .units = maxunpool_units, .run = maxunpool_run},
    {0},
};
