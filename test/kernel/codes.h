/* codes.h - what the tests of exact 8-bit products share: tensors of codes, filled at random or
 * with extremes, and lane code that turns sums into floats or codes. */
#ifndef HG_TEST_KERNEL_CODES_H
#define HG_TEST_KERNEL_CODES_H

#include "kernel/gemm.h"

typedef enum codes_fill {
    CODES_RANDOM,
    CODES_EXTREME, /* only the smallest and the largest code */
    CODES_LARGEST,
    CODES_SMALL, /* signed: -64 .. 64, so that no pair is above 128 */
    CODES_RARE   /* the same, but one in 4000 is the smallest or largest code */
} codes_fill;

static inline holo_tensor codes_tensor(holo_dtype dtype, int rank, const int64_t *dim,
                                       codes_fill fill, uint32_t seed)
{
    holo_tensor t = {.rank = rank, .dtype = dtype};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    t.data = gemm_alloc(holo_tensor_bytes(&t));
    const uint8_t low = dtype == HOLO_U8 ? 0 : 0x80, high = dtype == HOLO_U8 ? 0xff : 0x7f;
    const uint8_t middle = dtype == HOLO_U8 ? 0x80 : 0;
    for (int64_t i = 0; i < holo_tensor_count(&t); i++) {
        const uint32_t r = gemm_random(&seed);
        ((uint8_t *)t.data)[i] =
            (uint8_t)(fill == CODES_RANDOM                 ? r
                      : fill == CODES_EXTREME              ? (r & 16 ? low : high)
                      : fill == CODES_LARGEST              ? high
                      : fill == CODES_RARE && r % 8000 < 2 ? (r % 8000 ? low : high)
                                                           : middle + r % 129 - 64);
    }
    return t;
}

static inline int64_t codes_get(const holo_tensor *t, int64_t i)
{
    if (t->dtype == HOLO_I32) return ((const int32_t *)t->data)[i];
    return t->dtype == HOLO_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}

/* What a sum is modulo 2^32. */
static inline int32_t codes_wrap(int64_t sum)
{
    const uint32_t low = (uint32_t)(uint64_t)sum;
    int32_t result;
    memcpy(&result, &low, sizeof result);
    return result;
}

/* (float)(x + operand 1) * operand 2: an i32 bias and a scale for each column. */
static inline void codes_code_scale(gemm_code *c)
{
    memset(c, 0, sizeof *c);
    c->op[0] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0, .index = 0};
    c->op[1] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 1, .index = 1};
    c->op[2] = (hg_lane_op){.op = HG_LANE_ADD, .type = HG_LANE_I32, .dst = 2, .a = 0, .b = 1};
    c->op[3] = (hg_lane_op){
        .op = HG_LANE_CAST, .type = HG_LANE_F32, .dst = 3, .a = 2, .index = HG_LANE_I32};
    c->op[4] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 4, .index = 2};
    c->op[5] = (hg_lane_op){.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 5, .a = 3, .b = 4};
    c->out = (hg_lane_out){.reg = 5, .type = HG_LANE_F32};
    c->code =
        (hg_lane_code){.op = c->op, .out = &c->out, .n_op = 6, .n_in = 3, .n_out = 1, .n_reg = 6};
}

/* As a quantised layer ends: limit(round(max(float(x) * operand 1, 0) / 0.37) + 3) as 8 bits; with
 * `side`, that number again as a float plus (operand 2 - 100) * 0.21, quantised once more. */
static inline void codes_code_quant(gemm_code *c, bool side, bool is_signed)
{
    const float low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
    const uint32_t type = is_signed ? HOLO_I8 : HOLO_U8;
    uint32_t n = 0;
    uint16_t reg = 0;
    memset(c, 0, sizeof *c);
#define CODES_OP(...) c->op[n++] = (hg_lane_op){.type = HG_LANE_F32, .dst = reg, __VA_ARGS__}
#define CODES_CONST(x)                                                                             \
    do {                                                                                           \
        const float codes_value = (x);                                                             \
        uint32_t codes_bits;                                                                       \
        memcpy(&codes_bits, &codes_value, sizeof codes_bits);                                      \
        c->op[n++] =                                                                               \
            (hg_lane_op){.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 9, .imm = codes_bits};   \
    } while (0)
#define CODES_WITH(kind, x)                                                                        \
    do {                                                                                           \
        CODES_CONST(x);                                                                            \
        CODES_OP(.op = kind, .a = reg, .b = 9);                                                    \
    } while (0)
    c->op[n++] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 8, .index = 0};
    CODES_OP(.op = HG_LANE_CAST, .a = 8, .index = HG_LANE_I32);
    c->op[n++] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 9, .index = 1};
    CODES_OP(.op = HG_LANE_MUL, .a = reg, .b = 9);
    for (int round = 0; round < (side ? 2 : 1); round++) {
        if (!is_signed) CODES_WITH(HG_LANE_MAX, 0);
        CODES_WITH(HG_LANE_DIV, 0.37f);
        CODES_OP(.op = HG_LANE_ROUND, .a = reg);
        CODES_WITH(HG_LANE_ADD, 3);
        CODES_WITH(HG_LANE_MAX, low);
        CODES_WITH(HG_LANE_MIN, high);
        c->op[n++] = (hg_lane_op){
            .op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 8, .a = reg, .index = HG_LANE_F32};
        if (!side || round == 1) break;
        c->op[n++] = (hg_lane_op){
            .op = HG_LANE_NARROW, .type = HG_LANE_I32, .dst = 8, .a = 8, .index = type};
        CODES_OP(.op = HG_LANE_CAST, .a = 8, .index = HG_LANE_I32);
        c->op[n++] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 8, .index = 2};
        reg = 1;
        CODES_OP(.op = HG_LANE_CAST, .a = 8, .index = HG_LANE_I32);
        CODES_WITH(HG_LANE_SUB, 100);
        CODES_WITH(HG_LANE_MUL, 0.21f);
        reg = 0;
        CODES_OP(.op = HG_LANE_ADD, .a = 1, .b = 0);
    }
#undef CODES_WITH
#undef CODES_CONST
#undef CODES_OP
    c->out = (hg_lane_out){.reg = 8, .type = HG_LANE_I32};
    c->code = (hg_lane_code){
        .op = c->op, .out = &c->out, .n_op = n, .n_in = side ? 3 : 2, .n_out = 1, .n_reg = 10};
}

/* As a layer ends whose scales are one factor: limit(round(float(x + operand 1) * operand 2
 * [+ (operand 3 - 100) * 0.21]) + 3) as 8 bits; `cuts`: limited to [-20, 90] before it is rounded.
 */
typedef struct codes_requant {
    bool side, is_signed, cuts;
} codes_requant;

static inline void codes_code_requant(gemm_code *c, const codes_requant *how)
{
    const float limits[2] = {how->is_signed ? -128 : 0, how->is_signed ? 127 : 255};
    const struct {
        uint16_t op;
        float value;
    } end[] = {{HG_LANE_MAX, -20}, {HG_LANE_MIN, 90},        {HG_LANE_ROUND, 0},
               {HG_LANE_ADD, 3},   {HG_LANE_MAX, limits[0]}, {HG_LANE_MIN, limits[1]}};
    uint32_t n = 6;
    codes_code_scale(c);
    if (how->side) {
        const float zero = 100, scale = 0.21f;
        uint32_t bits[2];
        memcpy(&bits[0], &zero, 4);
        memcpy(&bits[1], &scale, 4);
        c->op[n++] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 8, .index = 3};
        c->op[n++] = (hg_lane_op){
            .op = HG_LANE_CAST, .type = HG_LANE_F32, .dst = 8, .a = 8, .index = HG_LANE_I32};
        for (int k = 0; k < 2; k++) {
            c->op[n++] =
                (hg_lane_op){.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 9, .imm = bits[k]};
            c->op[n++] = (hg_lane_op){.op = k == 0 ? HG_LANE_SUB : HG_LANE_MUL,
                                      .type = HG_LANE_F32,
                                      .dst = 8,
                                      .a = 8,
                                      .b = 9};
        }
        c->op[n++] = (hg_lane_op){.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 5, .a = 8, .b = 5};
    }
    for (size_t k = how->cuts ? 0 : 2; k < HG_COUNT(end); k++) {
        uint32_t bits;
        memcpy(&bits, &end[k].value, sizeof bits);
        if (end[k].op != HG_LANE_ROUND)
            c->op[n++] =
                (hg_lane_op){.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 9, .imm = bits};
        c->op[n++] =
            (hg_lane_op){.op = (uint8_t)end[k].op, .type = HG_LANE_F32, .dst = 5, .a = 5, .b = 9};
    }
    c->op[n++] = (hg_lane_op){
        .op = HG_LANE_CAST, .type = HG_LANE_I32, .dst = 5, .a = 5, .index = HG_LANE_F32};
    c->out = (hg_lane_out){.reg = 5, .type = HG_LANE_I32};
    c->code.n_op = n;
    c->code.n_in = how->side ? 4 : 3;
    c->code.n_reg = 10;
}

/* Biases and factors of n columns, for codes that are not all at their limits. */
static inline void codes_requant_columns(holo_tensor *bias, holo_tensor *scale, int64_t n)
{
    *bias = gemm_tensor(HOLO_I32, 1, &n, 21);
    *scale = gemm_tensor(HOLO_F32, 1, &n, 22);
    for (int64_t j = 0; j < n; j++) {
        ((int32_t *)bias->data)[j] = (int32_t)(j * 977 % 4001) - 2000;
        ((float *)scale->data)[j] *= 0.002f * (float)(1 + j % 5);
    }
}

/* The same for one sum, in C; `code` is of the side. */
static inline int codes_requant_one(const codes_requant *how, int32_t sum, int32_t bias,
                                    float scale, int code)
{
    float x = (float)codes_wrap((int64_t)sum + bias) * scale;
    if (how->side) x = ((float)code - 100) * 0.21f + x;
    if (how->cuts) x = fminf(fmaxf(x, -20), 90);
    x = rintf(x) + 3;
    return (int)fminf(fmaxf(x, how->is_signed ? -128 : 0), how->is_signed ? 127 : 255);
}

#endif
