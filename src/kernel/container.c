/* container.c - what kernels on sequences, optionals and strings share. */
#include "kernel/container.h"

holo_status hg_check_container(const hg_args *a, holo_error *e, uint32_t i, holo_dtype one,
                               holo_dtype other)
{
    HG_REQUIRE(e, i < a->n_in && a->in[i].dtype != HOLO_NONE, HOLO_E_FORMAT, "input %u is missing",
               i);
    const holo_tensor *t = &a->in[i];
    HG_REQUIRE(e, t->dtype == one || t->dtype == other, HOLO_E_TYPE, "input %u is %s", i,
               holo_dtype_text(t->dtype));
    HG_REQUIRE(e, t->rank == 1 && t->dim[0] >= 0, HOLO_E_SHAPE, "input %u has rank %d", i, t->rank);
    return HOLO_OK;
}

holo_status hg_check_value(const hg_args *a, holo_error *e, uint32_t i)
{
    HG_REQUIRE(e, i < a->n_in && a->in[i].dtype != HOLO_NONE, HOLO_E_FORMAT, "input %u is missing",
               i);
    if (hg_is_container(a->in[i].dtype))
        return hg_check_container(a, e, i, a->in[i].dtype, a->in[i].dtype);
    return hg_check_in_type(a, e, i, HG_TYPES_ANY);
}

holo_status hg_check_result(const hg_args *a, holo_error *e, const holo_tensor *expected)
{
    HG_REQUIRE(e, a->out[0].dtype == expected->dtype, HOLO_E_TYPE, "the result is %s, expected %s",
               holo_dtype_text(expected->dtype), holo_dtype_text(a->out[0].dtype));
    return hg_check_same_shape(&a->out[0], expected, e, "the result");
}

int64_t hg_read_integer(const holo_tensor *t, int64_t k)
{
    return t->dtype == HOLO_I32 ? ((const int32_t *)t->data)[k] : ((const int64_t *)t->data)[k];
}

holo_status hg_read_position(const hg_args *a, holo_error *e, uint32_t i, int64_t count,
                             int64_t last, int64_t standard, int64_t *out)
{
    *out = standard;
    if (!hg_args_has(a, i)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, i, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_REQUIRE(e, holo_tensor_count(&a->in[i]) == 1, HOLO_E_SHAPE,
               "the position has %lld elements, expected 1",
               (long long)holo_tensor_count(&a->in[i]));
    int64_t at = hg_read_integer(&a->in[i], 0);
    HG_REQUIRE(e, at >= -count && at <= last, HOLO_E_DATA, "position %lld is outside %lld to %lld",
               (long long)at, (long long)-count, (long long)last);
    *out = at < 0 ? at + count : at;
    return HOLO_OK;
}

int64_t hg_one_unit(const hg_args *a)
{
    (void)a;
    return 1;
}

hg_room hg_room_behind(const hg_args *a)
{
    return (hg_room){hg_deep_behind(&a->out[0]), a->extra == NULL ? 0 : a->extra[0]};
}
