/* tensor.c - tensors with contents: made, copied, compared. */
#include "io/elem.h"
#include "random/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

holo_tensor rnd_tensor(hg_arena *arena, holo_dtype dtype, int32_t rank, const int64_t *dim)
{
    holo_tensor t = {.dtype = dtype, .rank = rank};
    for (int32_t k = 0; k < rank; k++)
        t.dim[k] = dim[k];
    size_t bytes = dtype >= HOLO_SEQUENCE ? (size_t)dim[0] * sizeof t : holo_tensor_bytes(&t);
    t.data = hg_arena_alloc(arena, bytes + 64);
    return t;
}

holo_tensor rnd_copy(hg_arena *arena, const holo_tensor *t)
{
    holo_tensor copy = rnd_tensor(arena, t->dtype, t->rank, t->dim);
    int64_t count = holo_tensor_count(t);
    if (t->dtype >= HOLO_SEQUENCE) {
        for (int64_t i = 0; i < t->dim[0]; i++)
            ((holo_tensor *)copy.data)[i] = rnd_copy(arena, &((const holo_tensor *)t->data)[i]);
    } else if (t->dtype == HOLO_STRING) {
        for (int64_t i = 0; i < count; i++) {
            const holo_string *from = &((const holo_string *)t->data)[i];
            hg_str text = hg_str_copy(arena, (hg_str){from->text, (size_t)from->length});
            ((holo_string *)copy.data)[i] = (holo_string){text.text, text.length};
        }
    } else if (count > 0) {
        memcpy(copy.data, t->data, holo_tensor_bytes(t));
    }
    return copy;
}

bool rnd_is_plain(const holo_tensor *t)
{
    return t->dtype != HOLO_STRING && t->dtype < HOLO_SEQUENCE;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool tensor_differs(char *why, size_t size, const char *format, ...) HG_PRINTF(3, 4);
static bool tensor_differs(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return false;
}

static bool tensor_same_shape(const holo_tensor *a, const holo_tensor *b)
{
    if (a->rank != b->rank) return false;
    for (int32_t k = 0; k < a->rank; k++)
        if (a->dim[k] != b->dim[k]) return false;
    return true;
}

static void tensor_shape_text(const holo_tensor *t, char *text, size_t size)
{
    int at = snprintf(text, size, "%s[", holo_dtype_text(t->dtype));
    for (int32_t k = 0; k < t->rank && at > 0 && (size_t)at < size; k++)
        at += snprintf(text + at, size - (size_t)at, "%s%" PRId64, k == 0 ? "" : ",", t->dim[k]);
    if (at > 0 && (size_t)at < size) snprintf(text + at, size - (size_t)at, "]");
}

/* Bits of number i; the parts of complex numbers count alone. */
static uint64_t tensor_bits(const holo_tensor *t, int64_t i)
{
    uint32_t bits = hg_elem_bits(t->dtype) / hg_elem_parts(t->dtype);
    const uint8_t *p = t->data;
    uint64_t value = 0;
    if (bits < 8) return (uint64_t)(p[i * bits / 8] >> (i * bits % 8)) & ((1U << bits) - 1U);
    memcpy(&value, p + i * (int64_t)(bits / 8), bits / 8);
    return value;
}

static int64_t tensor_parts(const holo_tensor *t)
{
    return holo_tensor_count(t) * hg_elem_parts(t->dtype);
}

static bool tensor_same_numbers(const holo_tensor *a, const holo_tensor *e, char *why, size_t size)
{
    bool is_float = hg_elem_classify(a->dtype) == HG_ELEM_FLOAT;
    for (int64_t i = 0; i < tensor_parts(a); i++) {
        uint64_t x = tensor_bits(a, i), y = tensor_bits(e, i);
        if (x == y) continue;
        if (is_float && isnan(hg_elem_get(a, i)) && isnan(hg_elem_get(e, i))) continue;
        char text[96];
        tensor_shape_text(a, text, sizeof text);
        return tensor_differs(why, size,
                              "%s element %" PRId64 " is %.17g (0x%" PRIx64
                              "), expected %.17g (0x%" PRIx64 ")",
                              text, i, hg_elem_get(a, i), x, hg_elem_get(e, i), y);
    }
    return true;
}

static bool tensor_same_texts(const holo_tensor *a, const holo_tensor *e, char *why, size_t size)
{
    for (int64_t i = 0; i < holo_tensor_count(a); i++) {
        const holo_string *x = &((const holo_string *)a->data)[i];
        const holo_string *y = &((const holo_string *)e->data)[i];
        if (x->length == y->length && (x->length == 0 || memcmp(x->text, y->text, x->length) == 0))
            continue;
        return tensor_differs(why, size, "text %" PRId64 " is '%.*s', expected '%.*s'", i,
                              (int)x->length, x->text, (int)y->length, y->text);
    }
    return true;
}

bool rnd_same(const holo_tensor *actual, const holo_tensor *expected, char *why, size_t size)
{
    if (actual->dtype != expected->dtype || !tensor_same_shape(actual, expected)) {
        char a[96], e[96];
        tensor_shape_text(actual, a, sizeof a);
        tensor_shape_text(expected, e, sizeof e);
        return tensor_differs(why, size, "it is %s, expected %s", a, e);
    }
    if (actual->dtype == HOLO_STRING) return tensor_same_texts(actual, expected, why, size);
    if (actual->dtype < HOLO_SEQUENCE) return tensor_same_numbers(actual, expected, why, size);
    for (int64_t i = 0; i < actual->dim[0]; i++)
        if (!rnd_same((const holo_tensor *)actual->data + i,
                      (const holo_tensor *)expected->data + i, why, size))
            return false;
    return true;
}

static double tensor_apart(double x, double y)
{
    if (isnan(x) && isnan(y)) return 0;
    if (x == y) return 0;
    return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

double rnd_distance(const holo_tensor *a, const holo_tensor *b)
{
    char why[64];
    double most = 0;
    if (a->dtype != b->dtype || !tensor_same_shape(a, b)) return INFINITY;
    if (a->dtype >= HOLO_SEQUENCE) {
        for (int64_t i = 0; i < a->dim[0]; i++)
            most = fmax(most, rnd_distance((const holo_tensor *)a->data + i,
                                           (const holo_tensor *)b->data + i));
        return most;
    }
    if (hg_elem_classify(a->dtype) != HG_ELEM_FLOAT)
        return rnd_same(a, b, why, sizeof why) ? 0 : INFINITY;
    for (int64_t i = 0; i < tensor_parts(a); i++)
        most = fmax(most, tensor_apart(hg_elem_get(a, i), hg_elem_get(b, i)));
    return most;
}

double rnd_magnitude(const holo_tensor *t)
{
    double most = 0;
    if (t->dtype == HOLO_STRING) return 0;
    if (t->dtype >= HOLO_SEQUENCE) {
        for (int64_t i = 0; i < t->dim[0]; i++)
            most = fmax(most, rnd_magnitude((const holo_tensor *)t->data + i));
        return most;
    }
    for (int64_t i = 0; i < tensor_parts(t); i++) {
        double x = fabs(hg_elem_get(t, i));
        if (isfinite(x)) most = fmax(most, x);
    }
    return most;
}

bool rnd_is_wild(const holo_tensor *t)
{
    if (!rnd_is_plain(t)) return false;
    if (rnd_magnitude(t) > 1e4) return true;
    for (int64_t i = 0; i < tensor_parts(t); i++)
        if (!isfinite(hg_elem_get(t, i))) return true;
    return false;
}

double rnd_unit(holo_dtype dtype)
{
    switch ((int)dtype) {
    case HOLO_F64:
    case HOLO_C128: return 0x1p-53;
    case HOLO_F32:
    case HOLO_C64: return 0x1p-24;
    case HOLO_F16: return 0x1p-11;
    case HOLO_BF16: return 0x1p-8;
    case HOLO_F8E4M3FN:
    case HOLO_F8E4M3FNUZ: return 0x1p-4;
    case HOLO_F8E5M2:
    case HOLO_F8E5M2FNUZ: return 0x1p-3;
    case HOLO_F8E8M0:
    case HOLO_F4E2M1: return 0.5;
    default: return 0;
    }
}

void rnd_item_type(hg_dims *dims, hg_arena *arena, const holo_tensor *t, hg_type *out)
{
    const holo_tensor *item = t->data;
    if (t->dtype == HOLO_MAP) {
        hg_type *value = hg_arena_alloc(arena, sizeof *value);
        *value = (hg_type){.dtype = item[1].dtype};
        *out = (hg_type){
            .dtype = HOLO_MAP, .rank = HG_RANK_UNKNOWN, .item = value, .key = item[0].dtype};
        return;
    }
    hg_type type = {.dtype = HOLO_F32, .rank = HG_RANK_UNKNOWN};
    if (t->dim[0] > 0) {
        type = (hg_type){.dtype = item->dtype, .rank = item->rank};
        for (int32_t k = 0; k < item->rank && item->dtype < HOLO_SEQUENCE; k++)
            type.dim[k] = hg_dim_const(dims, item->dim[k]);
        if (item->dtype >= HOLO_SEQUENCE) rnd_item_type(dims, arena, item, &type);
    }
    for (int64_t i = 1; i < t->dim[0] && type.item == NULL; i++) {
        if (item[i].rank != type.rank) type.rank = HG_RANK_UNKNOWN;
        for (int32_t k = 0; k < type.rank; k++)
            if (item[i].dim[k] != item[0].dim[k]) type.dim[k] = 0;
    }
    hg_type *copy = hg_arena_alloc(arena, sizeof *copy);
    *copy = type;
    *out = (hg_type){.dtype = t->dtype, .rank = HG_RANK_UNKNOWN, .item = copy};
}
