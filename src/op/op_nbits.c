/* op_nbits.c - codes of 2, 4 or 8 bits that lie side by side in bytes, the first in the low bits.
 */
#include "op/op_nbits.h"

holo_status hg_nbits_check(const hg_infer *n, int64_t bits, int64_t block)
{
    if (bits != 2 && bits != 4 && bits != 8)
        return hg_infer_fail(n, HOLO_E_MODEL, "bits is %lld, expected 2, 4 or 8", (long long)bits);
    if (block < 16 || block > INT32_MAX || (block & (block - 1)) != 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "block_size is %lld, expected a power of two of at least 16",
                             (long long)block);
    return HOLO_OK;
}

/* 0, bits, 2 bits .. as u8 [8 / bits] */
static hg_value_id nbits_shifts(hg_build *b, int64_t bits)
{
    int64_t shift[4];
    uint32_t count = (uint32_t)(8 / bits);
    for (uint32_t i = 0; i < count; i++)
        shift[i] = bits * (int64_t)i;
    return hg_build_cast(b, hg_build_ints(b, shift, count), HOLO_U8);
}

hg_value_id hg_build_unpacked(hg_build *b, hg_value_id bytes, int64_t bits, hg_dim count)
{
    if (b->status != HOLO_OK || bits == 8) return bytes;
    hg_dims *d = &b->g->dims;
    hg_type type = *hg_build_type(b, bytes);
    hg_attr right = hg_attr_make_string("direction", "RIGHT");
    hg_value_id in[] = {hg_build_2(b, "Unsqueeze", bytes, hg_build_ints(b, (int64_t[]){-1}, 1)),
                        nbits_shifts(b, bits)};
    hg_value_id y = hg_build_op(b, "BitShift", in, 2, &right, 1);
    y = hg_build_2(b, "BitwiseAnd", y, hg_build_scalar(b, HOLO_U8, (double)((1 << bits) - 1)));
    hg_dim *last = &type.dim[type.rank - 1];
    *last = hg_dim_mul(d, *last, hg_dim_const(d, 8 / bits));
    y = hg_build_reshape(b, y, type.dim, (uint32_t)type.rank);
    if (*last == count) return y;
    hg_value_id cut[] = {y, hg_build_ints(b, (int64_t[]){0}, 1), hg_build_dims(b, &count, 1),
                         hg_build_ints(b, (int64_t[]){-1}, 1)};
    return hg_build_op(b, "Slice", cut, HG_COUNT(cut), NULL, 0);
}
