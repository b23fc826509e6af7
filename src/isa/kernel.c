/* kernel.c - tables of kernels, faults, and the checks that kernels share. */
#define HG_RULES_INSIDE /* the checks themselves */
#include "isa/kernel.h"

#include <stdatomic.h>

const hg_kernel *hg_kernel_lookup(const holo_kernels *kernels, const char *name)
{
    for (size_t i = 0; kernels != NULL && i < kernels->count; i++)
        for (const hg_kernel *k = kernels->list[i]; k->name != NULL; k++)
            if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

/* ---- faults ------------------------------------------------------------------------------------
 */

/* The lock is held for a few stores, and faults end a run: spinning is simpler than anything else.
 */
static volatile atomic_int *kernel_fault_lock(hg_fault *fault)
{
    static_assert(sizeof(atomic_int) == sizeof fault->lock, "the lock is a plain word");
    return (volatile atomic_int *)&fault->lock;
}

static void kernel_fault_record(hg_fault *fault, hg_fault entry)
{
    if (fault == NULL) return;
    while (atomic_exchange_explicit(kernel_fault_lock(fault), 1, memory_order_acquire) != 0) {}
    if (fault->kind == HG_FAULT_NONE || entry.element < fault->element) {
        fault->kind = entry.kind;
        fault->what = entry.what;
        fault->element = entry.element;
        fault->value = entry.value;
        fault->low = entry.low;
        fault->high = entry.high;
    }
    atomic_store_explicit(kernel_fault_lock(fault), 0, memory_order_release);
}

void hg_fault_range(hg_fault *fault, const char *what, int64_t element, int64_t value, int64_t low,
                    int64_t high)
{
    kernel_fault_record(fault, (hg_fault){.kind = HG_FAULT_RANGE,
                                          .what = what,
                                          .element = element,
                                          .value = value,
                                          .low = low,
                                          .high = high});
}

void hg_fault_divide(hg_fault *fault, int64_t element)
{
    kernel_fault_record(fault,
                        (hg_fault){.kind = HG_FAULT_DIVIDE, .what = "divisor", .element = element});
}

void hg_fault_value(hg_fault *fault, const char *what, int64_t element, int64_t value)
{
    kernel_fault_record(
        fault,
        (hg_fault){.kind = HG_FAULT_VALUE, .what = what, .element = element, .value = value});
}

holo_status hg_fault_fail(const hg_fault *fault, holo_error *e)
{
    switch (fault->kind) {
    case HG_FAULT_RANGE:
        return hg_fail(e, HOLO_E_DATA, "%s %lld at element %lld is outside %lld to %lld",
                       fault->what, (long long)fault->value, (long long)fault->element,
                       (long long)fault->low, (long long)fault->high);
    case HG_FAULT_DIVIDE:
        return hg_fail(e, HOLO_E_DATA, "integer division by zero at element %lld",
                       (long long)fault->element);
    case HG_FAULT_VALUE:
        return hg_fail(e, HOLO_E_DATA, "%s (%lld) at element %lld", fault->what,
                       (long long)fault->value, (long long)fault->element);
    case HG_FAULT_NONE: break;
    }
    return HOLO_OK;
}

/* ---- checks ------------------------------------------------------------------------------------
 */

holo_status hg_check_counts(const hg_args *a, holo_error *e, int in_min, int in_max, int n_out,
                            int n_param)
{
    HG_REQUIRE(e, a->n_in >= (uint32_t)in_min, HOLO_E_FORMAT, "%u inputs, expected at least %d",
               a->n_in, in_min);
    HG_REQUIRE(e, in_max < 0 || a->n_in <= (uint32_t)in_max, HOLO_E_FORMAT,
               "%u inputs, expected at most %d", a->n_in, in_max);
    HG_REQUIRE(e, a->n_out == (uint32_t)n_out, HOLO_E_FORMAT, "%u outputs, expected %d", a->n_out,
               n_out);
    HG_REQUIRE(e, a->n_param == (uint32_t)n_param, HOLO_E_FORMAT, "%u parameters, expected %d",
               a->n_param, n_param);
    return HOLO_OK;
}

/* No product of some of the dims, in bytes, overflows: also not when another dim is 0. */
static bool kernel_check_dims(const holo_tensor *t)
{
    int64_t bytes = 16;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] < 0 || !hg_mul_i64(bytes, hg_max(t->dim[i], 1), &bytes)) return false;
    return true;
}

static holo_status kernel_check_type(const holo_tensor *t, holo_error *e, const char *side,
                                     uint32_t i, hg_types types)
{
    HG_REQUIRE(e, t->dtype != HOLO_NONE, HOLO_E_FORMAT, "%s %u is missing", side, i);
    HG_REQUIRE(e, hg_dtype_in(t->dtype, types), HOLO_E_TYPE, "%s %u has type %s", side, i,
               holo_dtype_text(t->dtype));
    HG_REQUIRE(e, t->rank >= 0 && t->rank <= HG_MAX_RANK, HOLO_E_SHAPE,
               "%s %u has rank %d, expected 0 to %d", side, i, t->rank, HG_MAX_RANK);
    HG_REQUIRE(e, kernel_check_dims(t), HOLO_E_SHAPE,
               "%s %u has a negative dimension or too many elements", side, i);
    return HOLO_OK;
}

holo_status hg_check_in_type(const hg_args *a, holo_error *e, uint32_t i, hg_types types)
{
    HG_REQUIRE(e, i < a->n_in, HOLO_E_FORMAT, "input %u is missing", i);
    return kernel_check_type(&a->in[i], e, "input", i, types);
}

holo_status hg_check_out_type(const hg_args *a, holo_error *e, uint32_t i, hg_types types)
{
    HG_REQUIRE(e, i < a->n_out, HOLO_E_FORMAT, "output %u is missing", i);
    return kernel_check_type(&a->out[i], e, "output", i, types);
}

holo_status hg_check_rank(const holo_tensor *t, holo_error *e, const char *what, int rank_min,
                          int rank_max)
{
    HG_REQUIRE(e, t->rank >= rank_min && t->rank <= rank_max, HOLO_E_SHAPE,
               "%s has rank %d, expected %d to %d", what, t->rank, rank_min, rank_max);
    return HOLO_OK;
}

holo_status hg_check_same_shape(const holo_tensor *a, const holo_tensor *b, holo_error *e,
                                const char *what)
{
    HG_REQUIRE(e, a->rank == b->rank, HOLO_E_SHAPE, "%s has rank %d, expected %d", what, a->rank,
               b->rank);
    for (int i = 0; i < a->rank; i++)
        HG_REQUIRE(e, a->dim[i] == b->dim[i], HOLO_E_SHAPE,
                   "%s: dimension %d is %lld, expected %lld", what, i, (long long)a->dim[i],
                   (long long)b->dim[i]);
    return HOLO_OK;
}

holo_status hg_check_same_type(const holo_tensor *a, const holo_tensor *b, holo_error *e,
                               const char *what)
{
    HG_REQUIRE(e, a->dtype == b->dtype, HOLO_E_TYPE, "%s has type %s, expected %s", what,
               holo_dtype_text(a->dtype), holo_dtype_text(b->dtype));
    return HOLO_OK;
}

holo_status hg_check_rows(const holo_tensor *x, const holo_tensor *out, holo_error *e)
{
    HG_TRY(hg_check_rank(x, e, "A", 1, HG_MAX_RANK));
    HG_REQUIRE(e, out->rank == x->rank, HOLO_E_SHAPE, "output has rank %d, expected %d", out->rank,
               x->rank);
    for (int d = 0; d < x->rank - 1; d++)
        HG_REQUIRE(e, out->dim[d] == x->dim[d], HOLO_E_SHAPE,
                   "output dimension %d is %lld, expected %lld", d, (long long)out->dim[d],
                   (long long)x->dim[d]);
    return HOLO_OK;
}

holo_status hg_check_param(const hg_args *a, holo_error *e, uint32_t i, const char *what,
                           int64_t low, int64_t high)
{
    HG_REQUIRE(e, i < a->n_param, HOLO_E_FORMAT, "parameter %u, %s, is missing", i, what);
    HG_REQUIRE(e, a->param[i] >= low && a->param[i] <= high, HOLO_E_ARG,
               "%s is %lld, expected %lld to %lld", what, (long long)a->param[i], (long long)low,
               (long long)high);
    return HOLO_OK;
}

holo_status hg_check_broadcast(const holo_tensor *from, const holo_tensor *to, holo_error *e,
                               const char *what)
{
    HG_REQUIRE(e, from->rank <= to->rank, HOLO_E_SHAPE,
               "%s has rank %d, which does not broadcast to rank %d", what, from->rank, to->rank);
    int lead = to->rank - from->rank;
    for (int i = 0; i < from->rank; i++)
        HG_REQUIRE(e, from->dim[i] == 1 || from->dim[i] == to->dim[lead + i], HOLO_E_SHAPE,
                   "%s: dimension %d is %lld, which does not broadcast to %lld", what, i,
                   (long long)from->dim[i], (long long)to->dim[lead + i]);
    return HOLO_OK;
}

void hg_broadcast_strides(const holo_tensor *from, const holo_tensor *to, int64_t *stride)
{
    int lead = to->rank - from->rank;
    int64_t step = 1;
    for (int i = to->rank - 1; i >= 0; i--) {
        bool repeats = i < lead || from->dim[i - lead] == 1;
        stride[i] = repeats ? 0 : step;
        if (i >= lead) step *= from->dim[i - lead];
    }
}
