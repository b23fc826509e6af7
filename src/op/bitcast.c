/* bitcast.c - BitCast: the same bits as another element type of the same width. */
#include "op/op.h"
#include "op/op_copy.h"

#define BITCAST_TYPES (HG_TYPES_ANY & ~HG_TYPES_STRING)

static holo_status bitcast_infer(hg_infer *n)
{
    int64_t to;
    HG_TRY(hg_attr_int(n, "to", 0, &to));
    if (to <= 0 || to >= HOLO_SEQUENCE || !hg_dtype_is_valid((uint32_t)to) ||
        !hg_dtype_in((holo_dtype)to, BITCAST_TYPES))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "'to' is %lld, expected an element type other than string",
                             (long long)to);
    const holo_dtype from = n->in[0]->dtype;
    if (hg_dtype_bits(from) != hg_dtype_bits((holo_dtype)to))
        return hg_infer_fail(n, HOLO_E_TYPE, "'to' is %s of %u bits, expected %u as in %s",
                             holo_dtype_text((holo_dtype)to), hg_dtype_bits((holo_dtype)to),
                             hg_dtype_bits(from), holo_dtype_text(from));
    n->out[0] = *n->in[0];
    n->out[0].dtype = (holo_dtype)to;
    return HOLO_OK;
}

const hg_op hg_op_bitcast = {
    .name = "BitCast",
    .brief = "the same bits as another element type of the same width",
    .since = 26,
    .in = {1, 1},
    .out = {1, 1},
    .types = BITCAST_TYPES,
    .infer = bitcast_infer,
    .emit = hg_emit_same_elements,
};
