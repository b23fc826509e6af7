/* palette.c - constants with few different elements as palette and codes, exact: elements are bits,
 * so NaN and signed zeros are what they were. Decoding is a lookup (holo:Table), done where the
 * constant is read. */
#include "table/palette.h"

#include "base/hash.h"
#include "eval/eval.h"
#include "table/cert.h"

#include <stdlib.h>

/* Smaller constants are not worth a step of their own. */
enum { PALETTE_LEAST = 1 << 14, PALETTE_MOST = 1 << 16, PALETTE_SLOTS = 1 << 18 };

/* ---- one tensor ------------------------------------------------------------------------------
 */

static uint32_t palette_bits(const uint8_t *data, int64_t i, uint32_t size)
{
    uint32_t bits = 0;
    memcpy(&bits, data + (size_t)i * size, size);
    return bits;
}

/* The slot of the bits: where they are, or the empty one where they belong. */
static uint32_t *palette_slot(const uint32_t *value, uint32_t *slot, uint32_t bits)
{
    uint32_t at = (uint32_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 46) % PALETTE_SLOTS;
    while (slot[at] != 0 && value[slot[at] - 1] != bits)
        at = (at + 1) % PALETTE_SLOTS;
    return &slot[at];
}

static int palette_compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Different elements, at most one more than codes can tell apart. */
static int64_t palette_collect(const uint8_t *data, int64_t count, uint32_t size, uint32_t *value,
                               uint32_t *slot)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count && n <= PALETTE_MOST; i++) {
        const uint32_t bits = palette_bits(data, i, size);
        uint32_t *at = palette_slot(value, slot, bits);
        if (*at != 0) continue;
        value[n++] = bits;
        *at = (uint32_t)n;
    }
    return n;
}

uint64_t hg_palette_bytes(const hg_palette *p)
{
    return (uint64_t)p->count * p->code_size + (uint64_t)p->distinct * p->size;
}

/* Numbers in rising order of the bits: the same elements always have the same palette. */
static holo_status palette_encode(hg_ctx *ctx, const uint8_t *data, uint32_t *value, uint32_t *slot,
                                  hg_palette *p)
{
    uint8_t *kept = hg_arena_array(&ctx->arena, (size_t)p->distinct, p->size);
    uint8_t *code = hg_arena_array(&ctx->arena, (size_t)p->count, p->code_size);
    if (kept == NULL || code == NULL) return hg_fail_nomem(ctx->error, (size_t)p->count);
    qsort(value, (size_t)p->distinct, sizeof *value, palette_compare);
    memset(slot, 0, PALETTE_SLOTS * sizeof *slot);
    for (int64_t k = 0; k < p->distinct; k++) {
        memcpy(kept + (size_t)k * p->size, &value[k], p->size);
        *palette_slot(value, slot, value[k]) = (uint32_t)k + 1;
    }
    for (int64_t i = 0; i < p->count; i++) {
        const uint32_t k = *palette_slot(value, slot, palette_bits(data, i, p->size)) - 1;
        memcpy(code + (size_t)i * p->code_size, &k, p->code_size);
    }
    p->value = kept;
    p->code = code;
    return HOLO_OK;
}

holo_status hg_palette_make(hg_ctx *ctx, const void *data, int64_t count, uint32_t size,
                            hg_palette *out, bool *pays)
{
    uint32_t *value, *slot;
    HG_TRY(HG_NEW(ctx, PALETTE_MOST + 1, &value));
    HG_TRY(HG_NEW(ctx, PALETTE_SLOTS, &slot));
    *out = (hg_palette){.count = count, .size = size};
    out->distinct = palette_collect(data, count, size, value, slot);
    out->code_size = out->distinct <= 256 ? 1 : 2;
    *pays = out->distinct <= PALETTE_MOST &&
            hg_palette_bytes(out) <= (uint64_t)count * size / 4 * 3; /* decoding takes time */
    return *pays ? palette_encode(ctx, data, value, slot, out) : HOLO_OK;
}

/* ---- graphs ----------------------------------------------------------------------------------
 */

typedef struct palette_value {
    bool is_tried;
    hg_value_id codes, values; /* 0: it stays as it is */
} palette_value;

typedef struct palettes {
    hg_graph *g;
    palette_value *of; /* by value */
    size_t n_value;
} palettes;

/* A constant, or one that is packed when the file is written: its bytes. */
static holo_status palette_data(hg_graph *g, hg_value_id id, const void **data, size_t *bytes)
{
    const hg_value *v = hg_graph_value(g, id);
    if (v->constant != NULL) {
        *data = v->constant->data;
        *bytes = v->constant->bytes;
        return HOLO_OK;
    }
    HG_TRY(hg_eval_bytes(g, v->node, v->index, bytes));
    void *out[1] = {hg_arena_alloc(&g->ctx->arena, *bytes + 1)};
    if (out[0] == NULL) return hg_fail_nomem(g->ctx->error, *bytes);
    *data = out[0];
    return hg_eval_run(g, v->node, out);
}

static bool palette_is_weight(hg_graph *g, hg_value_id id)
{
    const hg_value *v = hg_graph_value(g, id);
    if (v->constant != NULL) return v->constant->bytes >= PALETTE_LEAST;
    if (v->node == 0) return false;
    const hg_node *n = hg_graph_node(g, v->node);
    return (n->op->flags & HG_OP_AT_WRITE) != 0 && n->n_out == 1 && hg_eval_can(g, v->node);
}

static hg_type palette_type(hg_graph *g, holo_dtype dtype, int64_t n)
{
    return (hg_type){.dtype = dtype, .rank = 1, .dim = {hg_dim_const(&g->dims, n)}};
}

static holo_status palette_store(palettes *p, hg_build *b, hg_value_id id, const hg_palette *made,
                                 uint64_t original)
{
    hg_graph *g = p->g;
    palette_value *of = &p->of[id];
    hg_type type = hg_graph_value(g, id)->type;
    const holo_dtype dtype = type.dtype;
    type.dtype = made->code_size == 1 ? HOLO_U8 : HOLO_U16;
    of->codes = hg_build_const(b, type, made->code, (size_t)made->count * made->code_size);
    of->values = hg_build_const(b, palette_type(g, dtype, made->distinct), made->value,
                                (size_t)made->distinct * made->size);
    HG_TRY(b->status);
    const uint64_t before = (uint64_t)made->count * made->size;
    char room[64];
    const hg_str label = hg_node_label(g, b->id, room, sizeof room);
    hg_log(g->ctx, HOLO_LOG_INFO,
           "node '%.*s': %lld different values of %lld, %llu bytes instead of %llu",
           HG_STR_ARG(label), (long long)made->distinct, (long long)made->count,
           (unsigned long long)hg_palette_bytes(made), (unsigned long long)before);
    return hg_cert_add_palette(g, b->id, of->codes, of->values, made->count, original);
}

static uint64_t palette_hash(const uint8_t *data, size_t bytes)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < bytes; at += HG_CERT_PIECE)
        hash = hg_hash(data + at, bytes - at < HG_CERT_PIECE ? bytes - at : HG_CERT_PIECE, hash);
    return hash;
}

/* Palette and codes of a value, made at the first node that reads it. */
static holo_status palette_try(palettes *p, hg_build *b, hg_value_id id)
{
    hg_graph *g = p->g;
    const uint32_t bits = hg_dtype_bits(hg_graph_value(g, id)->type.dtype);
    const void *data = NULL;
    size_t bytes = 0;
    hg_palette made;
    bool pays;
    if (p->of[id].is_tried) return HOLO_OK;
    p->of[id].is_tried = true;
    if ((bits != 16 && bits != 32) || !hg_domain_is_entry(hg_graph_value(g, id)->type.dtype) ||
        !palette_is_weight(g, id))
        return HOLO_OK;
    HG_TRY(palette_data(g, id, &data, &bytes));
    if (bytes < PALETTE_LEAST) return HOLO_OK;
    HG_TRY(hg_palette_make(g->ctx, data, (int64_t)(bytes / (bits / 8)), bits / 8, &made, &pays));
    return pays ? palette_store(p, b, id, &made, palette_hash(data, bytes)) : HOLO_OK;
}

static hg_value_id palette_decode(hg_build *b, hg_value_id codes, hg_value_id values)
{
    const hg_value_id in[2] = {codes, values};
    const hg_attr attr[3] = {hg_attr_make_int("axis", 0), hg_attr_make_int("base", 0),
                             hg_attr_make_int("classes", 0)};
    return codes == 0 ? 0 : hg_build_op(b, "holo:Table", in, 2, attr, 3);
}

/* What a Gather takes of the codes is decoded behind it, which is less. */
static holo_status palette_gather(palettes *p, hg_build *b, hg_node_id id, bool *changed)
{
    hg_graph *g = p->g;
    const palette_value of = p->of[hg_node_in(g, hg_graph_node(g, id), 0)];
    const hg_value_id in[2] = {of.codes, hg_node_in(g, hg_graph_node(g, id), 1)};
    const hg_node_id made = hg_build_copy(b, id, in, 2);
    if (made == 0) return b->status;
    const hg_value_id y = palette_decode(b, hg_graph_node(g, made)->out[0], of.values);
    HG_TRY(b->status);
    hg_build_replace(b, 0, y);
    HG_TRY(b->status);
    hg_graph_remove_node(g, id);
    *changed = true;
    return HOLO_OK;
}

static holo_status palette_node(palettes *p, hg_node_id id, bool *changed)
{
    hg_graph *g = p->g;
    hg_build b;
    const uint32_t n_in = hg_graph_node(g, id)->n_in;
    if ((hg_graph_node(g, id)->op->flags & HG_OP_AT_WRITE) != 0 ||
        hg_op_is(hg_graph_node(g, id), "holo:Table"))
        return HOLO_OK;
    hg_build_init(&b, g, id);
    for (uint32_t i = 0; i < n_in; i++) {
        const hg_value_id value = hg_node_in(g, hg_graph_node(g, id), i);
        if (value == 0 || value >= p->n_value) continue;
        HG_TRY(palette_try(p, &b, value));
        if (p->of[value].codes == 0) continue;
        if (i == 0 && n_in == 2 && hg_op_is(hg_graph_node(g, id), "Gather"))
            return palette_gather(p, &b, id, changed);
        const hg_value_id y = palette_decode(&b, p->of[value].codes, p->of[value].values);
        HG_TRY(b.status);
        hg_graph_set_input(g, id, i, y);
        *changed = true;
    }
    return HOLO_OK;
}

holo_status hg_table_palettes(hg_graph *g, bool *changed)
{
    palettes p = {.g = g, .n_value = g->n_value};
    if (g->is_body) return HOLO_OK; /* it would be decoded in every turn of a loop */
    HG_TRY(HG_NEW(g->ctx, g->n_value, &p.of));
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        HG_TRY(palette_node(&p, id, changed));
        id = next;
    }
    return HOLO_OK;
}
