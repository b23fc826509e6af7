/* cumsum.c - cumsum: running sums along one axis.
 *
 *   in[0]   [outer..., axis, inner...], floats or integers of 32 or 64 bits
 *   param   axis, exclusive (an element's own value is left out), reverse (sums run from the end)
 *   out[0]  same type and dims
 *
 * Elements are added in the order of the axis; integers wrap, f16 and bf16 round after each sum. */
#include "kernel/elem.h"

#define CUMSUM_TYPES                                                                               \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_U32) |      \
     HG_TYPE_BIT(HOLO_U64))

static holo_status cumsum_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 3));
    HG_TRY(hg_check_in_type(a, e, 0, CUMSUM_TYPES));
    HG_TRY(hg_check_out_type(a, e, 0, CUMSUM_TYPES));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, (int64_t)a->in[0].rank - 1));
    HG_TRY(hg_check_param(a, e, 1, "exclusive", 0, 1));
    return hg_check_param(a, e, 2, "reverse", 0, 1);
}

static int64_t cumsum_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_dims_product(&a->in[0], 0, (int)a->param[0]);
}

/* A slab of n rows of `inner` sums that run side by side, from element `at` on; `step` is the way
 * from row to row. */
typedef struct cumsum_slab {
    int64_t at, n, inner, step;
    bool own;
} cumsum_slab;

#define CUMSUM_SLAB(T, name, load, store)                                                          \
    static void cumsum_##name(const void *in, void *out, cumsum_slab s)                            \
    {                                                                                              \
        const T *x = (const T *)in + s.at;                                                         \
        T *y = (T *)out + s.at;                                                                    \
        for (int64_t i = 0; i < s.inner; i++)                                                      \
            y[i] = s.own ? x[i] : 0;                                                               \
        for (int64_t row = 1; row < s.n; row++, x += s.step, y += s.step)                          \
            for (int64_t i = 0; i < s.inner; i++)                                                  \
                y[s.step + i] = store(load(y[i]) + load(x[s.own ? s.step + i : i]));               \
    }
CUMSUM_SLAB(float, f32, (float), (float))
CUMSUM_SLAB(double, f64, (double), (double))
CUMSUM_SLAB(uint16_t, f16, hg_f16_to_f32, hg_f32_to_f16)
CUMSUM_SLAB(uint16_t, bf16, hg_bf16_to_f32, hg_f32_to_bf16)
CUMSUM_SLAB(uint32_t, i32, (uint32_t), (uint32_t))
CUMSUM_SLAB(uint64_t, i64, (uint64_t), (uint64_t))
#undef CUMSUM_SLAB

/* A unit is a slab: one place before the axis. */
static void cumsum_run(const hg_args *a, hg_range r)
{
    const holo_tensor *in = &a->in[0];
    const int axis = (int)a->param[0];
    cumsum_slab s = {.n = in->dim[axis],
                     .inner = hg_dims_product(in, axis + 1, in->rank),
                     .own = a->param[1] == 0};
    const bool reverse = a->param[2] != 0;
    s.step = reverse ? -s.inner : s.inner;
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        s.at = (unit * s.n + (reverse ? s.n - 1 : 0)) * s.inner;
        switch ((int)in->dtype) {
        case HOLO_F32: cumsum_f32(in->data, a->out[0].data, s); break;
        case HOLO_F64: cumsum_f64(in->data, a->out[0].data, s); break;
        case HOLO_F16: cumsum_f16(in->data, a->out[0].data, s); break;
        case HOLO_BF16: cumsum_bf16(in->data, a->out[0].data, s); break;
        case HOLO_I32:
        case HOLO_U32: cumsum_i32(in->data, a->out[0].data, s); break;
        default: cumsum_i64(in->data, a->out[0].data, s); break;
        }
    }
}

const hg_kernel hg_kernels_cumsum[] = {
    {.name = "cumsum", .check = cumsum_check, .units = cumsum_units, .run = cumsum_run},
    {0},
};
