/* cumulate.c - cumsum, cumprod: running sums and products along one axis.
 *
 *   in[0]   [outer..., axis, inner...], floats or integers of 32 or 64 bits
 *   param   axis, exclusive (an element's own value is left out), reverse (they run from the end)
 *   out[0]  same type and dims
 *
 * Elements are taken in the order of the axis; integers wrap, f16 and bf16 round after each. */
#include "kernel/elem.h"

#define CUMULATE_TYPES                                                                             \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_U32) |      \
     HG_TYPE_BIT(HOLO_U64))

static holo_status cumulate_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 3));
    HG_TRY(hg_check_in_type(a, e, 0, CUMULATE_TYPES));
    HG_TRY(hg_check_out_type(a, e, 0, CUMULATE_TYPES));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "output"));
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, (int64_t)a->in[0].rank - 1));
    HG_TRY(hg_check_param(a, e, 1, "exclusive", 0, 1));
    return hg_check_param(a, e, 2, "reverse", 0, 1);
}

static int64_t cumulate_units(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return 0;
    return hg_dims_product(&a->in[0], 0, (int)a->param[0]);
}

/* A slab of n rows of `inner` results that run side by side, from element `at` on; `step` is the
 * way from row to row. */
typedef struct cumulate_slab {
    int64_t at, n, inner, step;
    bool own;
} cumulate_slab;

typedef void (*cumulate_fn)(const void *in, void *out, cumulate_slab s);

#define CUMULATE_SLAB(T, name, load, store, sign, start)                                           \
    static void cumulate_##name(const void *in, void *out, cumulate_slab s)                        \
    {                                                                                              \
        const T *x = (const T *)in + s.at;                                                         \
        T *y = (T *)out + s.at;                                                                    \
        const T *from = s.own ? x + s.step : x;                                                    \
        T last = s.own ? x[0] : store(start);                                                      \
        if (s.inner == 1) { /* the running result stays in a register */                           \
            y[0] = last;                                                                           \
            for (int64_t row = 1; row < s.n; row++, from += s.step)                                \
                y[row * s.step] = last = store(load(last) sign load(*from));                       \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < s.inner; i++)                                                      \
            y[i] = s.own ? x[i] : store(start);                                                    \
        for (int64_t row = 1; row < s.n; row++, from += s.step, y += s.step)                       \
            for (int64_t i = 0; i < s.inner; i++)                                                  \
                y[s.step + i] = store(load(y[i]) sign load(from[i]));                              \
    }
#define CUMULATE_TYPE(T, name, load, store)                                                        \
    CUMULATE_SLAB(T, sum_##name, load, store, +, 0)                                                \
    CUMULATE_SLAB(T, product_##name, load, store, *, 1)
CUMULATE_TYPE(float, f32, (float), (float))
CUMULATE_TYPE(double, f64, (double), (double))
CUMULATE_TYPE(uint16_t, f16, hg_f16_to_f32, hg_f32_to_f16)
CUMULATE_TYPE(uint16_t, bf16, hg_bf16_to_f32, hg_f32_to_bf16)
CUMULATE_TYPE(uint32_t, i32, (uint32_t), (uint32_t))
CUMULATE_TYPE(uint64_t, i64, (uint64_t), (uint64_t))
#undef CUMULATE_TYPE
#undef CUMULATE_SLAB

static cumulate_fn cumulate_sum(holo_dtype dtype)
{
    switch ((int)dtype) {
    case HOLO_F32: return cumulate_sum_f32;
    case HOLO_F64: return cumulate_sum_f64;
    case HOLO_F16: return cumulate_sum_f16;
    case HOLO_BF16: return cumulate_sum_bf16;
    case HOLO_I32:
    case HOLO_U32: return cumulate_sum_i32;
    default: return cumulate_sum_i64;
    }
}

static cumulate_fn cumulate_product(holo_dtype dtype)
{
    switch ((int)dtype) {
    case HOLO_F32: return cumulate_product_f32;
    case HOLO_F64: return cumulate_product_f64;
    case HOLO_F16: return cumulate_product_f16;
    case HOLO_BF16: return cumulate_product_bf16;
    case HOLO_I32:
    case HOLO_U32: return cumulate_product_i32;
    default: return cumulate_product_i64;
    }
}

/* A unit is a slab: one place before the axis. */
static void cumulate_slabs(const hg_args *a, hg_range r, cumulate_fn run)
{
    const holo_tensor *in = &a->in[0];
    const int axis = (int)a->param[0];
    cumulate_slab s = {.n = in->dim[axis],
                       .inner = hg_dims_product(in, axis + 1, in->rank),
                       .own = a->param[1] == 0};
    const bool reverse = a->param[2] != 0;
    s.step = reverse ? -s.inner : s.inner;
    for (int64_t unit = r.begin; unit < r.end; unit++) {
        s.at = (unit * s.n + (reverse ? s.n - 1 : 0)) * s.inner;
        run(in->data, a->out[0].data, s);
    }
}

static void cumsum_run(const hg_args *a, hg_range r)
{
    cumulate_slabs(a, r, cumulate_sum(a->in[0].dtype));
}

static void cumprod_run(const hg_args *a, hg_range r)
{
    cumulate_slabs(a, r, cumulate_product(a->in[0].dtype));
}

const hg_kernel hg_kernels_cumulate[] = {
    {.name = "cumprod", .check = cumulate_check, .units = cumulate_units, .run = cumprod_run},
    {.name = "cumsum", .check = cumulate_check, .units = cumulate_units, .run = cumsum_run},
    {0},
};
