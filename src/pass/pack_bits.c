/* pack_bits.c - MatMulNBits that allows activations of 8 bits (accuracy_level 4) reads its weights
 * from panels: codes of 2, 4 or 8 bits with the usual zero points, or 2 bits around 1. Other zero
 * points are offsets of their block: s (q - z) = s (q - usual) + s (usual - z). */
#include "op/op_bits.h"
#include "op/op_nbits.h"
#include "pass/pass.h"

typedef struct pack_nbits {
    int64_t n, k, bits, block, blocks;
    const uint8_t *codes;
    holo_tensor scales;   /* type and data alone */
    const uint8_t *zeros; /* packed, of a column `zero_row` bytes; NULL: the usual ones */
    int64_t zero_row;
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

static uint32_t pack_zero(const pack_nbits *p, int64_t column, int64_t block)
{
    return hg_nbits_code(p->zeros + column * p->zero_row, (uint32_t)p->bits, block);
}

/* Every zero point is this one. */
static bool pack_zeros_are(const pack_nbits *p, uint32_t zero)
{
    for (int64_t i = 0; i < p->n * p->blocks; i++)
        if (pack_zero(p, i / p->blocks, i % p->blocks) != zero) return false;
    return true;
}

/* Which codes the zero points make, and whether panels can have them. */
static bool pack_read_zeros(const hg_graph *g, const hg_node *n, pack_nbits *p)
{
    p->kind = p->bits == 2 ? HG_BITS_2 : p->bits == 4 ? HG_BITS_4 : HG_BITS_8;
    if (hg_node_in(g, n, 3) == 0) return true;
    p->zero_row = hg_ceil_div(p->blocks * p->bits, 8);
    p->zeros = pack_constant(g, n, 3, HOLO_U8, (size_t)(p->n * p->zero_row));
    if (p->zeros == NULL) return false;
    const bool is_ternary = p->bits == 2 && pack_zeros_are(p, 1); /* codes 0 to 3 are -1 to 2 */
    if (is_ternary) p->kind = HG_BITS_TERNARY;
    if (is_ternary || pack_zeros_are(p, 1u << (p->bits - 1))) p->zeros = NULL;
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
    p.scales.dtype = hg_graph_value(g, hg_node_in(g, n, 2))->type.dtype;
    const size_t bytes = (size_t)(p.n * p.blocks) * hg_dtype_bits(p.scales.dtype) / 8;
    const void *scales = pack_constant(g, n, 2, p.scales.dtype, bytes);
    if (p.codes == NULL || scales == NULL) return false;
    p.scales.data = (void *)(uintptr_t)scales; /* only read */
    if (!pack_read_zeros(g, n, &p)) return false;
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
            const uint32_t code = hg_nbits_code(p->codes + c * row, (uint32_t)p->bits, i);
            (*out)[c * p->k + i] = (uint8_t)(p->bits == 8 ? code - 128 : code);
        }
    }
    return HOLO_OK;
}

/* Scales of all blocks, and what zero points that are not the usual ones add to weights. */
static holo_status pack_tables(hg_ctx *ctx, const pack_nbits *p, float **scales, float **offsets)
{
    const int64_t count = p->n * p->blocks;
    const float usual = (float)(1u << (p->bits - 1));
    *offsets = NULL;
    HG_TRY(HG_NEW(ctx, (size_t)count, scales));
    if (p->zeros != NULL) HG_TRY(HG_NEW(ctx, (size_t)count, offsets));
    for (int64_t i = 0; i < count; i++) {
        (*scales)[i] = hg_nbits_load(&p->scales, i);
        if (p->zeros == NULL) continue;
        (*offsets)[i] = (*scales)[i] * (usual - (float)pack_zero(p, i / p->blocks, i % p->blocks));
    }
    return HOLO_OK;
}

static holo_status pack_node(hg_graph *g, hg_node_id id, const pack_nbits *p)
{
    uint8_t *codes;
    float *scales, *offsets;
    hg_build b;
    HG_TRY(pack_unpack(g->ctx, p, &codes));
    HG_TRY(pack_tables(g->ctx, p, &scales, &offsets));
    hg_build_init(&b, g, id);
    const hg_bits_matrix w = {.kind = p->kind,
                              .n = p->n,
                              .k = p->k,
                              .group = p->block,
                              .codes = codes,
                              .scales = scales,
                              .offsets = offsets};
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
