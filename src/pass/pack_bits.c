/* pack_bits.c - MatMulNBits that allows activations of 8 bits (accuracy_level 4) reads its weights
 * from panels: codes of 2, 4 or 8 bits with the usual zero points, or 2 bits around 1. */
#include "op/op_bits.h"
#include "pass/pass.h"

typedef struct pack_nbits {
    int64_t n, k, bits, block, blocks;
    const uint8_t *codes;
    const float *scales;
    hg_bits_kind kind;
} pack_nbits;

static const void *pack_constant(const hg_graph *g, const hg_node *n, uint32_t i, holo_dtype dtype,
                                 size_t bytes)
{
    const hg_value_id v = hg_node_in(g, n, i);
    if (v == 0 || !hg_graph_is_const(g, v)) return NULL;
    const hg_value *value = hg_graph_value(g, v);
    return value->type.dtype == dtype && value->constant->bytes == bytes ? value->constant->data
                                                                         : NULL;
}

/* Every packed zero point is 1: codes 0 to 3 are -1 to 2. */
static bool pack_is_ternary(const hg_graph *g, const hg_node *n, const pack_nbits *p)
{
    const size_t bytes = (size_t)(p->n * hg_ceil_div(p->blocks, 4));
    const uint8_t *zeros = pack_constant(g, n, 3, HOLO_U8, bytes);
    if (p->bits != 2 || zeros == NULL) return false;
    for (size_t i = 0; i < bytes; i++)
        if (zeros[i] != 0x55) return false;
    return true;
}

static bool pack_read(const hg_graph *g, const hg_node *n, pack_nbits *out)
{
    pack_nbits p = {.n = hg_node_int(n, "N", 0),
                    .k = hg_node_int(n, "K", 0),
                    .bits = hg_node_int(n, "bits", 4),
                    .block = hg_node_int(n, "block_size", 0)};
    if (p.n < 1 || p.k < 1 || p.block < HG_BITS_STEP || p.block > 65536 || n->n_in > 4)
        return false;
    p.blocks = hg_ceil_div(p.k, p.block);
    p.codes = pack_constant(g, n, 1, HOLO_U8, (size_t)(p.n * p.blocks * p.block * p.bits / 8));
    p.scales = pack_constant(g, n, 2, HOLO_F32, (size_t)(p.n * p.blocks) * sizeof(float));
    if (p.codes == NULL || p.scales == NULL) return false;
    p.kind = p.bits == 2 ? HG_BITS_2 : p.bits == 4 ? HG_BITS_4 : HG_BITS_8;
    const bool usual = hg_node_in(g, n, 3) == 0;
    if (!usual && !pack_is_ternary(g, n, &p)) return false;
    if (!usual) p.kind = HG_BITS_TERNARY;
    *out = p;
    return true;
}

/* Codes of one byte each; 8-bit ones lose their zero point. */
static holo_status pack_unpack(hg_ctx *ctx, const pack_nbits *p, uint8_t **out)
{
    HG_TRY(HG_NEW(ctx, (size_t)(p->n * p->k), out));
    const int64_t row = p->blocks * p->block * p->bits / 8;
    for (int64_t c = 0; c < p->n; c++) {
        for (int64_t i = 0; i < p->k; i++) {
            const int64_t bit = i * p->bits;
            const uint32_t byte = p->codes[c * row + bit / 8];
            const uint32_t code = byte >> (bit % 8) & ((1u << p->bits) - 1);
            (*out)[c * p->k + i] = (uint8_t)(p->bits == 8 ? code - 128 : code);
        }
    }
    return HOLO_OK;
}

static holo_status pack_node(hg_graph *g, hg_node_id id, const pack_nbits *p)
{
    uint8_t *codes;
    hg_build b;
    HG_TRY(pack_unpack(g->ctx, p, &codes));
    hg_build_init(&b, g, id);
    const hg_bits_matrix w = {.kind = p->kind,
                              .n = p->n,
                              .k = p->k,
                              .group = p->block,
                              .codes = codes,
                              .scales = p->scales};
    hg_build_replace(&b, 0, hg_build_matmul_bits(&b, hg_build_in(&b, 0), &w));
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    return b.status;
}

static holo_status pack_bits_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_PLAIN) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first, next; id != 0; id = next) {
        const hg_node *n = hg_graph_node(g, id);
        pack_nbits p;
        next = n->next;
        if (!hg_op_is(n, "com.microsoft:MatMulNBits") || hg_node_int(n, "accuracy_level", 0) != 4 ||
            hg_graph_value(g, hg_node_in(g, n, 0))->type.dtype != HOLO_F32 || !pack_read(g, n, &p))
            continue;
        HG_TRY(pack_node(g, id, &p));
        *changed = true;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_pack_bits = {
    .name = "pack_bits",
    .brief = "low-bit weights go into panels where activations of 8 bits are allowed",
    .run = pack_bits_run,
};
