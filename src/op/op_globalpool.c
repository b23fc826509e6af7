/* op_globalpool.c - what the global pools share. */
#include "op/op_globalpool.h"

holo_status hg_globalpool_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    n->out[0] = *n->in[0];
    for (int32_t i = 2; i < n->out[0].rank; i++)
        n->out[0].dim[i] = hg_dim_const(n->dims, 1);
    return HOLO_OK;
}
