/* op_scalar.c - integer inputs with one element: sizes, axes, counts. */
#include "op/op_scalar.h"

holo_status hg_infer_scalar(const hg_infer *n, uint32_t i, hg_dim *out)
{
    const hg_dim *content;
    uint32_t count;
    HG_TRY(hg_infer_need_content(n, i, &content, &count));
    if (count != 1)
        return hg_infer_fail(n, HOLO_E_SHAPE, "input %u has %u elements, expected 1", i, count);
    *out = content[0];
    return HOLO_OK;
}
