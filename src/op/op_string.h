/* op_string.h - what operators on strings share. */
#ifndef HG_OP_OP_STRING_H
#define HG_OP_OP_STRING_H

#include "op/op.h"

/* A 1-D constant of strings. Kernels take texts as operands, never as parameters. */
hg_value_id hg_build_strings(hg_build *b, const hg_str *texts, uint32_t count);

#endif
