/* lookup.c - lookup: what a table says about each element.
 *
 *   in[0]   elements: integers, floats or text
 *   in[1]   keys, in[2] slots: a table (kernel/lookup.h)
 *   in[3]   int64 [keys]: what is said about each key
 *   param   what is said about other elements; 1 when they are an error
 *   out[0]  int64, shape of in[0] */
#include "kernel/lookup.h"
#include "base/hash.h"
#include "kernel/order.h"

#define LOOKUP_INTEGERS (HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64))
#define LOOKUP_FLOATS (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64))

/* ---- tables
 * -------------------------------------------------------------------------------------------- */

holo_status hg_table_check(const hg_args *a, holo_error *e, uint32_t i)
{
    HG_TRY(
        hg_check_in_type(a, e, i, HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_F64)));
    HG_TRY(hg_check_in_type(a, e, i + 1, HG_TYPE_BIT(HOLO_I32)));
    HG_TRY(hg_check_rank(&a->in[i], e, "the list of keys", 1, 1));
    HG_TRY(hg_check_rank(&a->in[i + 1], e, "the list of slots", 1, 1));
    const int64_t slots = a->in[i + 1].dim[0];
    HG_REQUIRE(e, slots >= 1 && (slots & (slots - 1)) == 0, HOLO_E_SHAPE,
               "%lld slots, expected a power of two", (long long)slots);
    return HOLO_OK;
}

HG_INLINE hg_wanted lookup_wanted(const holo_tensor *x, int64_t i, holo_dtype keys)
{
    const void *data = x->data;
    hg_wanted w = {.is_possible = true};
    switch ((int)x->dtype) {
    case HOLO_STRING: w.text = (const holo_string *)data + i; return w;
    case HOLO_I64: w.integer = ((const int64_t *)data)[i]; return w;
    case HOLO_I32: w.integer = ((const int32_t *)data)[i]; return w;
    case HOLO_I16: w.integer = ((const int16_t *)data)[i]; return w;
    case HOLO_F32: w.number = (double)((const float *)data)[i]; break;
    default: w.number = ((const double *)data)[i]; break;
    }
    if (keys == HOLO_F64) return w;
    w.is_possible = w.number >= -0x1p63 && w.number < 0x1p63;
    if (w.is_possible) w.integer = (int64_t)w.number;
    return w;
}

hg_wanted hg_wanted_at(const holo_tensor *x, int64_t i, holo_dtype keys)
{
    return lookup_wanted(x, i, keys);
}

/* Part of the file format: slots are filled when the file is written. */
HG_INLINE uint64_t lookup_hash(const hg_wanted *w, holo_dtype keys)
{
    uint64_t bits = (uint64_t)w->integer;
    if (keys == HOLO_STRING)
        return hg_hash(w->text->length == 0 ? "" : w->text->text, (size_t)w->text->length, 0);
    if (keys == HOLO_F64) {
        const double same = w->number != w->number ? 1e300 : w->number == 0 ? 0.0 : w->number;
        memcpy(&bits, &same, sizeof bits);
    }
    bits *= UINT64_C(0x9e3779b97f4a7c15);
    return bits ^ bits >> 32;
}

HG_INLINE bool lookup_is(const holo_tensor *keys, int64_t k, const hg_wanted *w)
{
    if (keys->dtype == HOLO_STRING)
        return hg_order_string((const holo_string *)keys->data + k, w->text) == 0;
    if (keys->dtype == HOLO_F64)
        return hg_order_f64(((const double *)keys->data)[k], w->number) == 0;
    return ((const int64_t *)keys->data)[k] == w->integer;
}

HG_INLINE int64_t lookup_find(const holo_tensor *keys, const holo_tensor *slots, const hg_wanted *w,
                              int64_t *free)
{
    const uint64_t mask = (uint64_t)slots->dim[0] - 1;
    const int32_t *slot = slots->data;
    uint64_t at = lookup_hash(w, keys->dtype) & mask;
    uint64_t step = 0, most = mask < HG_TABLE_PROBES ? mask : HG_TABLE_PROBES - 1;
    for (; w->is_possible && step <= most; step++, at = (at + 1) & mask) {
        const int64_t k = (int64_t)slot[at] - 1;
        if (k < 0 || k >= keys->dim[0]) break;
        if (lookup_is(keys, k, w)) return k;
    }
    if (free != NULL) *free = step > most ? -1 : (int64_t)at;
    return -1;
}

int64_t hg_table_find(const holo_tensor *keys, const holo_tensor *slots, const hg_wanted *w,
                      int64_t *free)
{
    return lookup_find(keys, slots, w, free);
}

/* ---- lookup
 * -------------------------------------------------------------------------------------------- */

static holo_status lookup_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 4, 4, 1, 2));
    HG_TRY(hg_table_check(a, e, 1));
    const holo_dtype key = a->in[1].dtype;
    HG_TRY(hg_check_in_type(a, e, 0,
                            key == HOLO_STRING ? HG_TYPES_STRING
                            : key == HOLO_F64  ? LOOKUP_FLOATS
                                               : LOOKUP_INTEGERS | LOOKUP_FLOATS));
    HG_TRY(hg_check_in_type(a, e, 3, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_check_same_shape(&a->in[3], &a->in[1], e, "what is said"));
    HG_TRY(hg_check_same_shape(&a->out[0], &a->in[0], e, "the output"));
    return hg_check_param(a, e, 1, "strict", 0, 1);
}

static int64_t lookup_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]);
}

enum { LOOKUP_SPAN = 1024 };

/* Integers that lie near each other, as codes of categories do: a table by the distance from the
 * least of them. A search takes four times as long. */
static bool lookup_near(const hg_args *a, hg_range r)
{
    const int64_t *key = a->in[1].data, *said = a->in[3].data, *x = a->in[0].data;
    const int64_t count = a->in[1].dim[0], elements = r.end - r.begin;
    int64_t *y = a->out[0].data, table[LOOKUP_SPAN];
    if (a->param[1] != 0 || count == 0 || elements < 2 * count) return false;
    int64_t low = key[0], high = key[0];
    for (int64_t k = 1; k < count; k++) {
        low = hg_min(low, key[k]);
        high = hg_max(high, key[k]);
    }
    const uint64_t span = (uint64_t)high - (uint64_t)low; /* one less than places */
    if (span >= LOOKUP_SPAN || (int64_t)span > elements) return false;
    for (uint64_t i = 0; i <= span; i++)
        table[i] = a->param[0];
    for (int64_t k = 0; k < count; k++)
        table[key[k] - low] = said[k];
    for (int64_t i = r.begin; i < r.end; i++) {
        const uint64_t at = (uint64_t)x[i] - (uint64_t)low;
        y[i] = at <= span ? table[at] : a->param[0];
    }
    return true;
}

/* One type of elements and of keys, which the loop need not ask for again. */
HG_INLINE void lookup_all(const hg_args *a, hg_range r, const holo_dtype element,
                          const holo_dtype key)
{
    const int64_t *said = a->in[3].data;
    int64_t *y = a->out[0].data;
    holo_tensor x = a->in[0], keys = a->in[1];
    x.dtype = element;
    keys.dtype = key;
    for (int64_t i = r.begin; i < r.end; i++) {
        const hg_wanted w = lookup_wanted(&x, i, key);
        const int64_t k = lookup_find(&keys, &a->in[2], &w, NULL);
        y[i] = k < 0 ? a->param[0] : said[k];
        if (k < 0 && a->param[1] != 0)
            hg_fault_value(a->fault, "an element is none of the categories", i, w.integer);
    }
}

static void lookup_run(const hg_args *a, hg_range r)
{
    if (a->in[0].dtype == HOLO_I64 && lookup_near(a, r)) return;
    if (a->in[0].dtype == HOLO_I64)
        lookup_all(a, r, HOLO_I64, HOLO_I64);
    else
        lookup_all(a, r, a->in[0].dtype, a->in[1].dtype);
}

const hg_kernel hg_kernels_lookup[] = {
    {.name = "lookup", .check = lookup_check, .units = lookup_units, .run = lookup_run},
    {0},
};
