/* op_bits.c - packs codes for matmul.bits and makes the node that reads them. */
#include "op/op_bits.h"

static void bits_pack_group(hg_bits_kind kind, const uint8_t *codes, int64_t n, int64_t k,
                            int64_t panel, int64_t from, int64_t group, uint8_t *out)
{
    const int64_t columns = hg_min(HG_BITS_COLUMNS, n - panel * HG_BITS_COLUMNS);
    const int64_t count = hg_min(group, k - from);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < count; i++)
            hg_bits_put(kind, out, c, i, codes[(panel * HG_BITS_COLUMNS + c) * k + from + i]);
}

static holo_status bits_pack(hg_ctx *ctx, const hg_bits_matrix *w, uint8_t **packed)
{
    const int64_t panels = hg_ceil_div(w->n, HG_BITS_COLUMNS);
    const int64_t groups = hg_ceil_div(w->k, w->group);
    const size_t each = (size_t)w->group * 4 * hg_bits_width(w->kind);
    HG_TRY(HG_NEW(ctx, hg_bits_bytes(w->kind, w->n, w->k, w->group) + 1, packed));
    for (int64_t p = 0; p < panels; p++)
        for (int64_t g = 0; g < groups; g++)
            bits_pack_group(w->kind, w->codes, w->n, w->k, p, g * w->group, w->group,
                            *packed + (size_t)(p * groups + g) * each);
    return HOLO_OK;
}

/* Numbers [n][groups] as a constant [panels, groups, 32]; none stay none. */
static hg_value_id bits_table(hg_build *b, const hg_bits_matrix *w, const float *numbers)
{
    const int64_t panels = hg_ceil_div(w->n, HG_BITS_COLUMNS);
    const int64_t groups = hg_ceil_div(w->k, w->group);
    const size_t count = (size_t)(panels * groups * HG_BITS_COLUMNS);
    float *table;
    if (b->status != HOLO_OK || numbers == NULL) return 0;
    b->status = HG_NEW(b->ctx, count + 1, &table);
    if (b->status != HOLO_OK) return 0;
    for (int64_t c = 0; c < w->n; c++)
        for (int64_t g = 0; g < groups; g++)
            table[(c / HG_BITS_COLUMNS * groups + g) * HG_BITS_COLUMNS + c % HG_BITS_COLUMNS] =
                numbers[c * groups + g];
    hg_dims *d = &b->g->dims;
    hg_type type = {.dtype = HOLO_F32, .rank = 3};
    type.dim[0] = hg_dim_const(d, panels);
    type.dim[1] = hg_dim_const(d, groups);
    type.dim[2] = hg_dim_const(d, HG_BITS_COLUMNS);
    return hg_build_const(b, type, table, count * sizeof *table);
}

hg_value_id hg_build_matmul_bits(hg_build *b, hg_value_id x, const hg_bits_matrix *w)
{
    uint8_t *packed;
    if (b->status != HOLO_OK) return 0;
    b->status = bits_pack(b->ctx, w, &packed);
    if (b->status != HOLO_OK) return 0;
    hg_dims *d = &b->g->dims;
    hg_type bytes = {.dtype = HOLO_U8, .rank = 1}, book = {.dtype = HOLO_I8, .rank = 1};
    const size_t size = hg_bits_bytes(w->kind, w->n, w->k, w->group);
    bytes.dim[0] = hg_dim_const(d, (int64_t)size);
    book.dim[0] = hg_dim_const(d, 16);
    hg_value_id in[5] = {x, hg_build_const(b, bytes, packed, size), bits_table(b, w, w->scales), 0,
                         bits_table(b, w, w->offsets)};
    if (w->kind == HG_BITS_BOOK) in[3] = hg_build_const(b, book, w->book, 16);
    hg_attr attr[] = {hg_attr_make_int("n", w->n), hg_attr_make_int("kind", w->kind),
                      hg_attr_make_int("group", w->group)};
    const uint32_t n_in = in[4] != 0 ? 5 : in[3] != 0 ? 4 : 3;
    return hg_build_op(b, "holo:MatMulBits", in, n_in, attr, HG_COUNT(attr));
}
