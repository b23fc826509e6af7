/* sequenceempty.c - SequenceEmpty: a sequence without items. */
#include "op/op_body.h"

static holo_status sequenceempty_infer(hg_infer *n)
{
    int64_t dtype;
    HG_TRY(hg_attr_int(n, "dtype", HOLO_F32, &dtype));
    if (dtype <= 0 || dtype >= HOLO_SEQUENCE || !hg_dtype_is_valid((uint32_t)dtype))
        return hg_infer_fail(n, HOLO_E_MODEL, "dtype is %lld, expected an element type",
                             (long long)dtype);
    hg_type item = {.dtype = (holo_dtype)dtype, .rank = HG_RANK_UNKNOWN};
    HG_TRY(hg_infer_container(n, 0, HOLO_SEQUENCE, &item));
    n->out[0].dim[0] = hg_dim_const(n->dims, 0);
    return HOLO_OK;
}

const hg_op hg_op_sequenceempty = {
    .name = "SequenceEmpty",
    .brief = "a sequence without items",
    .since = 11,
    .in = {0, 0},
    .out = {1, 1},
    .infer = sequenceempty_infer,
    .kernel = "sequence.construct",
};
