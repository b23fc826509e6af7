/* lane_code.h - operations of lane code, for tables of tests. */
#ifndef HG_TEST_KERNEL_LANE_CODE_H
#define HG_TEST_KERNEL_LANE_CODE_H

#include "isa/lane.h"

#define LOAD(T, to, from)                                                                          \
    {                                                                                              \
        .op = HG_LANE_LOAD, .type = HG_LANE_##T, .dst = to, .index = from                          \
    }
#define NUMBER(to, bits)                                                                           \
    {                                                                                              \
        .op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = to, .imm = bits                           \
    }
#define STEP(NAME, T, to, x, y)                                                                    \
    {                                                                                              \
        .op = HG_LANE_##NAME, .type = HG_LANE_##T, .dst = to, .a = x, .b = y                       \
    }

#endif
