/* const.c - reading constants: as integers, as a scalar, as a hash. */
#include "base/hash.h"
#include "graph/elem.h"
#include "graph/graph.h"

#include <math.h>

/* Number of elements of a constant whose bytes are all there; -1 otherwise. */
static int64_t const_count(const hg_graph *g, const hg_value *v)
{
    int64_t count = 1, dim;
    size_t bytes;
    if (v->constant == NULL || v->type.rank < 0) return -1;
    for (int32_t i = 0; i < v->type.rank; i++)
        if (!hg_dim_is_const(&g->dims, v->type.dim[i], &dim) || dim < 0 ||
            !hg_mul_i64(count, dim, &count))
            return -1;
    if (!hg_dtype_bytes(v->type.dtype, count, &bytes) || v->constant->bytes < bytes) return -1;
    return count;
}

/* Little-endian int64 that an int64_t pointer may read. */
static bool const_is_native(const hg_value *v)
{
    const uint16_t one = 1;
    uint8_t low;
    memcpy(&low, &one, 1);
    return low == 1 && v->type.dtype == HOLO_I64 && (uintptr_t)v->constant->data % 8 == 0;
}

bool hg_graph_const_ints(hg_graph *g, hg_value_id value, const int64_t **out, size_t *count)
{
    if (value == 0) return false;
    const hg_value *v = hg_graph_value(g, value);
    hg_elem_kind kind = hg_elem_kind_of(v->type.dtype);
    int64_t n = const_count(g, v);
    if (n < 0 || (kind != HG_ELEM_INT && kind != HG_ELEM_UINT)) return false;
    if (const_is_native(v)) {
        *out = v->constant->data;
        *count = (size_t)n;
        return true;
    }
    int64_t *ints = hg_arena_array(&g->ctx->arena, n == 0 ? 1 : (size_t)n, sizeof *ints);
    if (ints == NULL) return false;
    for (int64_t i = 0; i < n; i++) {
        hg_elem e = hg_elem_read(v->type.dtype, v->constant->data, i);
        if (kind == HG_ELEM_UINT && e.u > INT64_MAX) return false;
        ints[i] = kind == HG_ELEM_UINT ? (int64_t)e.u : e.i;
    }
    *out = ints;
    *count = (size_t)n;
    return true;
}

bool hg_graph_const_scalar(const hg_graph *g, hg_value_id value, double *out)
{
    if (value == 0) return false;
    const hg_value *v = hg_graph_value(g, value);
    if (const_count(g, v) != 1) return false;
    hg_elem e = hg_elem_read(v->type.dtype, v->constant->data, 0);
    switch (e.kind) {
    case HG_ELEM_NONE: return false;
    case HG_ELEM_INT: *out = (double)e.i; return true;
    case HG_ELEM_UINT: *out = (double)e.u; return true;
    case HG_ELEM_FLOAT: *out = e.f; return true;
    }
    return false;
}

/* Strings lie behind pointers, which say nothing about their text. */
static uint64_t const_hash_strings(const hg_const *c, uint64_t hash)
{
    const holo_string *s = c->data;
    for (size_t i = 0; i < c->bytes / sizeof *s; i++)
        hash = hg_hash(s[i].text, (size_t)s[i].length, hash);
    return hash;
}

uint64_t hg_graph_const_content(hg_graph *g, hg_value_id value)
{
    const hg_value *v = hg_graph_value(g, value);
    const hg_const *c = v->constant;
    if (c == NULL) return 0;
    if (c->hash != 0) return c->hash;
    const uint64_t hash =
        v->type.dtype == HOLO_STRING ? const_hash_strings(c, 1) : hg_hash(c->data, c->bytes, 0);
    /* The record is const for readers; filling in the hash that it lacks changes nothing they see.
     */
    ((hg_const *)c)->hash = hash == 0 ? 1 : hash;
    return c->hash;
}

uint64_t hg_graph_const_hash(hg_graph *g, hg_value_id value)
{
    const hg_value *v = hg_graph_value(g, value);
    if (v->constant == NULL) return 0;
    uint64_t hash = hg_hash("const", 5, (uint64_t)v->type.dtype);
    for (int32_t i = -1; i < v->type.rank; i++) {
        int64_t number = -1;
        uint8_t bytes[8];
        if (i < 0)
            number = (int64_t)hg_graph_const_content(g, value);
        else
            (void)hg_dim_is_const(&g->dims, v->type.dim[i], &number);
        for (int b = 0; b < 8; b++)
            bytes[b] = (uint8_t)((uint64_t)number >> (8 * b));
        hash = hg_hash(bytes, sizeof bytes, hash);
    }
    return hash;
}

bool hg_graph_const_is_finite(const hg_graph *g, hg_value_id value)
{
    const hg_value *v = hg_graph_value(g, value);
    const hg_const *c = v->constant;
    const holo_dtype type = v->type.dtype;
    const bool is_half = type == HOLO_F16 || type == HOLO_BF16;
    if (c == NULL || (!is_half && type != HOLO_F32)) return false;
    const uint16_t *half = c->data, top = type == HOLO_F16 ? 0x7c00 : 0x7f80;
    const float *single = c->data;
    for (size_t i = 0; is_half && i < c->bytes / sizeof *half; i++)
        if ((half[i] & top) == top) return false;
    for (size_t i = 0; !is_half && i < c->bytes / sizeof *single; i++)
        if (!isfinite(single[i])) return false;
    return true;
}

bool hg_graph_const_is_zero(const hg_graph *g, hg_value_id value)
{
    const hg_const *c = hg_graph_value(g, value)->constant;
    for (size_t i = 0; c != NULL && i < c->bytes; i++)
        if (((const uint8_t *)c->data)[i] != 0) return false;
    return c != NULL;
}
