/* npy_adapt.c - stand-in types of .npy files back to what a graph wants. */
#include "io/npy.h"

#include "base/error.h"
#include "io/elem.h"

#include <inttypes.h>

static bool npy_adapt_can(holo_dtype have, holo_dtype wanted)
{
    switch (wanted) {
    case HOLO_BF16:
    case HOLO_F16: return have == HOLO_U16;
    case HOLO_F8E4M3FN:
    case HOLO_F8E4M3FNUZ:
    case HOLO_F8E5M2:
    case HOLO_F8E5M2FNUZ:
    case HOLO_F8E8M0:
    case HOLO_F4E2M1:
    case HOLO_U4:
    case HOLO_U2:
    case HOLO_BOOL: return have == HOLO_U8;
    case HOLO_I4:
    case HOLO_I2: return have == HOLO_I8;
    case HOLO_NONE:
    case HOLO_F32:
    case HOLO_U8:
    case HOLO_I8:
    case HOLO_U16:
    case HOLO_I16:
    case HOLO_I32:
    case HOLO_I64:
    case HOLO_STRING:
    case HOLO_F64:
    case HOLO_U32:
    case HOLO_U64:
    case HOLO_C64:
    case HOLO_C128:
    case HOLO_SEQUENCE:
    case HOLO_OPTIONAL:
    case HOLO_MAP: return false;
    }
    return false;
}

/* Packs in place: the code of element i is never written behind the byte it is read from. */
static holo_status npy_adapt_pack(holo_tensor *tensor, holo_dtype wanted, holo_error *error)
{
    uint8_t *data = tensor->data;
    int64_t count = holo_tensor_count(tensor);
    int bits = (int)hg_elem_bits(wanted), per_byte = 8 / bits, range = 1 << bits;
    int low = wanted == HOLO_I4 || wanted == HOLO_I2 ? -range / 2 : 0;
    for (int64_t i = 0; i < count; i++) {
        int value = tensor->dtype == HOLO_I8 ? ((const int8_t *)data)[i] : data[i];
        if (value < low || value >= low + range)
            return hg_fail(error, HOLO_E_DATA, "element %" PRId64 " is %d, which does not fit %s",
                           i, value, holo_dtype_text(wanted));
    }
    for (int64_t i = 0; i < count; i++) {
        int shift = (int)(i % per_byte) * bits, code = data[i] & (range - 1);
        uint8_t *to = &data[i / per_byte];
        *to = (uint8_t)((shift == 0 ? 0 : *to) | code << shift);
    }
    return HOLO_OK;
}

holo_status hg_npy_adapt(holo_tensor *tensor, holo_dtype wanted, holo_error *error)
{
    if (!npy_adapt_can(tensor->dtype, wanted)) return HOLO_OK;
    if (hg_elem_bits(wanted) < 8) HG_TRY(npy_adapt_pack(tensor, wanted, error));
    if (wanted == HOLO_BOOL) {
        uint8_t *data = tensor->data;
        for (int64_t i = 0, n = holo_tensor_count(tensor); i < n; i++)
            data[i] = data[i] != 0;
    }
    tensor->dtype = wanted;
    return HOLO_OK;
}
