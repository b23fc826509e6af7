/* range.c - range: start, start + delta, start + 2 delta, ... before limit.
 *
 *   in      start, limit, delta: one element each, of the type of the output
 *   out[0]  one dimension, max(0, ceil((limit - start) / delta)) elements
 *
 * f16 and bf16 are computed in f32 and rounded once; integers wrap. range.late finds the number of
 * elements in data; range has it from the planner and needs in[1] not at all. */
#include "kernel/elem.h"

#include <math.h>

enum { RANGE_BLOCK = 4096 };

#define RANGE_TYPES                                                                                \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64))

static holo_status range_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 3, 3, 1, 0));
    for (uint32_t i = 0; i < 3; i++) {
        HG_TRY(hg_check_in_type(a, e, i, RANGE_TYPES));
        HG_TRY(hg_check_same_type(&a->in[i], &a->in[0], e, "input"));
        HG_REQUIRE(e, holo_tensor_count(&a->in[i]) == 1, HOLO_E_SHAPE,
                   "input %u has %lld elements, expected 1", i,
                   (long long)holo_tensor_count(&a->in[i]));
    }
    return HOLO_OK;
}

static holo_status range_check(const hg_args *a, holo_error *e)
{
    HG_TRY(range_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, RANGE_TYPES));
    HG_TRY(hg_check_same_type(&a->out[0], &a->in[0], e, "output"));
    return hg_check_rank(&a->out[0], e, "output", 1, 1);
}

static double range_number(const holo_tensor *t)
{
    switch ((int)t->dtype) {
    case HOLO_F64: return *(const double *)t->data;
    case HOLO_F32: return (double)*(const float *)t->data;
    case HOLO_F16: return (double)hg_f16_to_f32(*(const uint16_t *)t->data);
    default: return (double)hg_bf16_to_f32(*(const uint16_t *)t->data);
    }
}

/* ceil((limit - start) / delta) of integers without overflow. */
static uint64_t range_int_count(int64_t start, int64_t limit, int64_t delta)
{
    if (delta > 0 ? limit <= start : limit >= start) return 0;
    uint64_t way =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    return (way - 1) / step + 1;
}

static holo_status range_size(const hg_args *a, holo_error *e)
{
    HG_TRY(range_check_in(a, e));
    int64_t count;
    if (hg_dtype_in(a->in[0].dtype, HG_TYPES_INT)) {
        int64_t delta = hg_elem_to_int(&a->in[2], 0);
        HG_REQUIRE(e, delta != 0, HOLO_E_DATA, "delta is 0");
        uint64_t n =
            range_int_count(hg_elem_to_int(&a->in[0], 0), hg_elem_to_int(&a->in[1], 0), delta);
        HG_REQUIRE(e, n <= INT64_MAX / 16, HOLO_E_DATA, "too many elements");
        count = (int64_t)n;
    } else {
        double n =
            ceil((range_number(&a->in[1]) - range_number(&a->in[0])) / range_number(&a->in[2]));
        HG_REQUIRE(e, n <= 0x1p58, HOLO_E_DATA, "(limit - start) / delta is %g", n);
        count = n > 0 ? (int64_t)n : 0;
    }
    a->out[0].rank = 1;
    a->out[0].dim[0] = count;
    return HOLO_OK;
}

static int64_t range_units(const hg_args *a)
{
    return hg_ceil_div(a->out[0].dim[0], RANGE_BLOCK);
}

#define RANGE_RUN(T, compute, name, load, store)                                                   \
    static void range_##name(const hg_args *a, int64_t begin, int64_t end)                         \
    {                                                                                              \
        const compute start = load(*(const T *)a->in[0].data);                                     \
        const compute delta = load(*(const T *)a->in[2].data);                                     \
        for (int64_t i = begin; i < end; i++)                                                      \
            ((T *)a->out[0].data)[i] = store(start + (compute)i * delta);                          \
    }
RANGE_RUN(float, float, f32, (float), (float))
RANGE_RUN(double, double, f64, (double), (double))
RANGE_RUN(uint16_t, float, f16, hg_f16_to_f32, hg_f32_to_f16)
RANGE_RUN(uint16_t, float, bf16, hg_bf16_to_f32, hg_f32_to_bf16)
RANGE_RUN(uint16_t, uint64_t, i16, (uint64_t), (uint16_t))
RANGE_RUN(uint32_t, uint64_t, i32, (uint64_t), (uint32_t))
RANGE_RUN(uint64_t, uint64_t, i64, (uint64_t), (uint64_t))
#undef RANGE_RUN

static void range_run(const hg_args *a, hg_range r)
{
    const int64_t begin = r.begin * RANGE_BLOCK;
    const int64_t end = hg_min(r.end * RANGE_BLOCK, a->out[0].dim[0]);
    switch ((int)a->out[0].dtype) {
    case HOLO_F32: range_f32(a, begin, end); break;
    case HOLO_F64: range_f64(a, begin, end); break;
    case HOLO_F16: range_f16(a, begin, end); break;
    case HOLO_BF16: range_bf16(a, begin, end); break;
    case HOLO_I16: range_i16(a, begin, end); break;
    case HOLO_I32: range_i32(a, begin, end); break;
    default: range_i64(a, begin, end); break;
    }
}

const hg_kernel hg_kernels_range[] = {
    {.name = "range", .check = range_check, .units = range_units, .run = range_run},
    {.name = "range.late",
     .flags = HG_KERNEL_LATE,
     .check = range_check,
     .size = range_size,
     .units = range_units,
     .run = range_run},
    {0},
};
