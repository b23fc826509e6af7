/* tensor.c - tensors of wide values: making, filling and indexing them. */
#include "oracle/oracle.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Everything is kept until the process of the test case ends; the chunks are chained, so that a
 * leak checker finds them. */
void *ora_alloc(size_t bytes)
{
    static char *chunk;
    static size_t used, size;
    bytes = (bytes + 15) / 16 * 16;
    if (chunk == NULL || bytes > size - used) {
        size = bytes + (1u << 20);
        char *next = calloc(1, size);
        if (next == NULL) exit(3);
        memcpy(next, &chunk, sizeof chunk);
        chunk = next;
        used = 16;
    }
    void *p = chunk + used;
    used += bytes;
    return p;
}

ora *ora_new(holo_dtype type, int rank, const int64_t *dim)
{
    ora *t = ora_alloc(sizeof *t);
    t->type = type;
    t->rank = rank;
    t->count = 1;
    for (int d = 0; d < rank; d++) {
        t->dim[d] = dim[d];
        t->count *= dim[d];
    }
    t->v = ora_alloc((size_t)t->count * sizeof *t->v);
    return t;
}

ora *ora_shape(holo_dtype type, const char *dims)
{
    int64_t dim[HOLO_MAX_RANK];
    int rank = 0;
    for (char *end; *dims != '\0'; dims = *end == ',' ? end + 1 : end)
        dim[rank++] = strtoll(dims, &end, 10);
    return ora_new(type, rank, dim);
}

ora *ora_like(const ora *t, holo_dtype type)
{
    return ora_new(type, t->rank, t->dim);
}

ora *ora_scalar(holo_dtype type, long double value)
{
    ora *t = ora_shape(type, "");
    t->v[0] = ora_wide(type, value);
    return t;
}

ora *ora_ints(holo_dtype type, int count, const int64_t *values)
{
    ora *t = ora_new(type, 1, (int64_t[]){count});
    for (int k = 0; k < count; k++)
        t->v[k] = ora_wide(type, (long double)values[k]);
    return t;
}

ora *ora_param(ora *t)
{
    t->parameter = true;
    return t;
}

ora *ora_sized(ora *t)
{
    t->sized = true;
    return t;
}

ora *ora_box(holo_dtype container, holo_dtype elem, size_t count, ora *const *items)
{
    ora *t = ora_alloc(sizeof *t);
    t->type = container;
    t->rank = 1;
    t->dim[0] = (int64_t)count;
    t->n_item = count;
    t->elem = elem;
    t->item = ora_alloc((count + 1) * sizeof *t->item);
    for (size_t k = 0; k < count; k++)
        t->item[k] = items[k];
    return t;
}

ora *ora_of(holo_dtype type, const char *dims, const char *values)
{
    ora *t = ora_shape(type, dims);
    for (int64_t k = 0; k < t->count; k++) {
        char *end;
        while (*values == ' ')
            values++;
        if (type == HOLO_STRING) {
            end = (char *)values + strcspn(values, " ");
            const size_t length = values[0] == '_' ? 0 : (size_t)(end - values);
            t->v[k].s = (holo_string){values, length};
        } else if (ora_is_signed(type)) {
            t->v[k].i = (uint64_t)strtoll(values, &end, 10);
        } else if (ora_is_int(type) || type == HOLO_BOOL) {
            t->v[k].i = strtoull(values, &end, 10);
        } else {
            t->v[k].re = strtold(values, &end);
        }
        values = end;
    }
    return t;
}

/* ---- values ------------------------------------------------------------------------------------
 */

uint32_t ora_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static wide tensor_string(uint32_t r)
{
    static const char *const texts[] = {"a", "", "Beta", "\xc3\xa9t\xc3\xa9", "a longer text, 1",
                                        "b"};
    const char *text = texts[r % 6];
    return (wide){.s = {text, strlen(text)}};
}

static wide tensor_small(holo_dtype type, uint32_t r)
{
    if (type == HOLO_STRING) return tensor_string(r);
    if (type == HOLO_BOOL) return ora_wide(type, r % 2);
    if (type == HOLO_F8E8M0) return ora_wide(type, ldexpl(1, (int)(r % 9) - 4));
    if (type == HOLO_F4E2M1) {
        wide w = ora_decode(type, r % 16);
        return w;
    }
    if (type == HOLO_U2) return ora_wide(type, r % 4);
    if (type == HOLO_I2) return ora_wide(type, (int)(r % 4) - 2);
    if (ora_is_signed(type)) return ora_wide(type, (int)(r % 13) - 6);
    if (ora_is_int(type)) return ora_wide(type, r % 13);
    wide w = ora_wide(type, ((int)(r % 25) - 12) / 4.0L);
    if (ora_bits(type) == 8) w.re = ora_round(type, w.re);
    if (ora_is_complex(type)) w.im = ((int)(r / 25 % 25) - 12) / 4.0L;
    return w;
}

static wide tensor_edge_float(holo_dtype type, uint32_t r)
{
    static const long double values[] = {0, -0.0L, 1, -1, 0.5L, 1.5L, 2.5L, -2.5L, 3.7L, -1e-3L};
    if (ora_bits(type) <= 8) return ora_decode(type, r & ((1u << ora_bits(type)) - 1));
    const uint32_t k = r % 16;
    const long double largest = ora_max_finite(type);
    wide w = {0};
    if (k < 10) w.re = ora_round(type, values[k]);
    if (k == 10) w.re = NAN;
    if (k == 11) w.re = INFINITY;
    if (k == 12) w.re = -INFINITY;
    if (k == 13) w.re = largest;
    if (k == 14) w.re = -largest;
    if (k == 15) w.re = ora_ulp(type, 0);
    return w;
}

static wide tensor_edge(holo_dtype type, uint32_t r)
{
    if (ora_is_float(type)) return tensor_edge_float(type, r);
    if (ora_is_complex(type)) {
        const holo_dtype part = type == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        wide w = tensor_edge_float(part, r);
        w.im = tensor_edge_float(part, r / 16).re;
        return w;
    }
    if (ora_is_int(type)) {
        const uint64_t low = (uint64_t)ora_int_min(type), high = ora_int_max(type);
        const uint64_t values[] = {low,
                                   high,
                                   0,
                                   1,
                                   low + 1,
                                   high - 1,
                                   2,
                                   ora_wrap(type, (uint64_t)-1),
                                   ora_wrap(type, (uint64_t)-2),
                                   3};
        return (wide){.i = ora_wrap(type, values[r % 10])};
    }
    return tensor_small(type, r);
}

static wide tensor_unit(holo_dtype type, uint32_t r)
{
    wide w = {0};
    if (ora_is_float(type) || ora_is_complex(type)) {
        w.re = ((long double)(int)(r & 0xffff) - 32768 + 0.5L) / 32768;
        w.im = ora_is_complex(type) ? ((long double)(int)(r >> 8 & 0xffff) - 32768) / 32768 : 0;
        if (!ora_is_complex(type)) w.re = ora_round(type, w.re);
        return w;
    }
    return tensor_small(type, r);
}

ora *ora_make(holo_dtype type, const char *dims, ora_fill fill, uint32_t seed)
{
    ora *t = ora_shape(type, dims);
    uint32_t state = seed * 2654435761u + 12345;
    for (int64_t k = 0; k < t->count; k++) {
        const uint32_t r = ora_random(&state);
        if (fill == ORA_SMALL) t->v[k] = tensor_small(type, r >> 5);
        if (fill == ORA_EDGE) t->v[k] = tensor_edge(type, (uint32_t)k + seed);
        if (fill == ORA_UNIT) t->v[k] = tensor_unit(type, r);
    }
    return t;
}

/* ---- indices -----------------------------------------------------------------------------------
 */

void ora_unravel(const ora *t, int64_t at, int64_t *index)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = at % t->dim[d];
        at /= t->dim[d];
    }
}

int64_t ora_ravel(const ora *t, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < t->rank; d++)
        at = at * t->dim[d] + index[d];
    return at;
}

const wide *ora_broadcast_at(const ora *t, int rank, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < t->rank; d++)
        at = at * t->dim[d] + (t->dim[d] == 1 ? 0 : index[d + rank - t->rank]);
    return &t->v[at];
}

ora *ora_broadcast_new(holo_dtype type, size_t n, ora *const *in)
{
    int rank = 0;
    int64_t dim[HOLO_MAX_RANK];
    for (size_t k = 0; k < n; k++)
        if (in[k]->rank > rank) rank = in[k]->rank;
    for (int d = 0; d < rank; d++) {
        dim[d] = 1;
        for (size_t k = 0; k < n; k++) {
            const int from = d - rank + in[k]->rank;
            if (from >= 0 && in[k]->dim[from] != 1) dim[d] = in[k]->dim[from];
        }
    }
    return ora_new(type, rank, dim);
}

const char *ora_dims_text(const ora *t)
{
    char *text = ora_alloc(128);
    size_t used = 0;
    for (int d = 0; d < t->rank; d++)
        used +=
            (size_t)snprintf(text + used, 128 - used, "%s%lld", d ? "," : "", (long long)t->dim[d]);
    return text;
}
