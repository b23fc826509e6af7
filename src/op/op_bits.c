/* op_bits.c - packs codes for matmul.bits. */
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

holo_status hg_bits_pack(hg_ctx *ctx, hg_bits_kind kind, const uint8_t *codes, const float *scales,
                         int64_t n, int64_t k, int64_t group, uint8_t **packed,
                         float **packed_scales)
{
    const int64_t panels = hg_ceil_div(n, HG_BITS_COLUMNS), groups = hg_ceil_div(k, group);
    const size_t each = (size_t)group * 4 * hg_bits_width(kind);
    HG_TRY(HG_NEW(ctx, hg_bits_bytes(kind, n, k, group) + 1, packed));
    HG_TRY(HG_NEW(ctx, (size_t)(panels * groups * HG_BITS_COLUMNS) + 1, packed_scales));
    for (int64_t p = 0; p < panels; p++)
        for (int64_t g = 0; g < groups; g++)
            bits_pack_group(kind, codes, n, k, p, g * group, group,
                            *packed + (size_t)(p * groups + g) * each);
    for (int64_t c = 0; c < n; c++)
        for (int64_t g = 0; g < groups; g++)
            (*packed_scales)[(c / HG_BITS_COLUMNS * groups + g) * HG_BITS_COLUMNS +
                             c % HG_BITS_COLUMNS] = scales[c * groups + g];
    return HOLO_OK;
}
