/* distinct.c - counts different elements of stored tensors, as bits: what a palette could save. */
#include "compile/distinct.h"

enum { DISTINCT_MOST = 1 << 16, DISTINCT_SLOTS = 1 << 18 };

typedef struct distinct_set {
    uint64_t *key;
    uint32_t *turn; /* which tensor a slot was filled for: the next one starts empty */
    uint32_t now;
} distinct_set;

/* True when the bits were not there yet. */
static bool distinct_add(distinct_set *s, uint64_t bits)
{
    uint64_t at = bits * UINT64_C(0x9e3779b97f4a7c15) >> 46;
    for (;; at++) {
        const size_t slot = (size_t)(at % DISTINCT_SLOTS);
        if (s->turn[slot] == s->now && s->key[slot] == bits) return false;
        if (s->turn[slot] == s->now) continue;
        s->turn[slot] = s->now;
        s->key[slot] = bits;
        return true;
    }
}

static uint64_t distinct_tensor(distinct_set *s, const uint8_t *data, uint64_t count, size_t size)
{
    uint64_t found = 0;
    s->now++;
    for (uint64_t i = 0; i < count && found < DISTINCT_MOST; i++) {
        uint64_t bits = 0;
        memcpy(&bits, data + i * size, size);
        found += distinct_add(s, bits);
    }
    return found;
}

/* The constant itself, or what a packing reads. */
static const hg_value *distinct_source(const hg_weight *w)
{
    const hg_value *v = hg_graph_value(w->g, w->value);
    if (v->constant != NULL || v->node == 0) return v;
    const hg_value_id in = hg_node_in(w->g, hg_graph_node(w->g, v->node), 0);
    return in == 0 ? v : hg_graph_value(w->g, in);
}

holo_status hg_distinct_count(hg_compile *c)
{
    distinct_set set = {0};
    c->report.weight_tensors = c->report.weight_values = c->report.distinct_values = 0;
    HG_TRY(HG_NEW(&c->ctx, DISTINCT_SLOTS, &set.key));
    HG_TRY(HG_NEW(&c->ctx, DISTINCT_SLOTS, &set.turn));
    for (size_t i = 0; i < c->weights.count; i++) {
        const hg_value *v = distinct_source(&c->weights.item[i]);
        const uint32_t bits = hg_dtype_bits(v->type.dtype);
        if (v->constant == NULL || v->type.dtype == HOLO_STRING || bits < 8 || bits > 64) continue;
        const uint64_t count = v->constant->bytes / (bits / 8);
        c->report.weight_tensors++;
        c->report.weight_values += count;
        c->report.distinct_values += distinct_tensor(&set, v->constant->data, count, bits / 8);
    }
    return HOLO_OK;
}
