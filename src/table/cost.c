/* cost.c - what lane code and tables cost, in nanoseconds an element: AVX2 with data in the caches,
 * one core. Only the sign of a difference matters.
 *
 * Against `hologram bench` of 786,432 elements as lane code (--disable collapse_tables): SiLU of
 * dequantised bytes, quantised again, 2.2 ns (1.9 by this model); Relu of int8 0.36 (0.31); GELU of
 * float16 2.1 (2.3). Lookups are those of AVX2: with AVX-512 VBMI they are faster, and nothing that
 * pays here stops paying there. One of 65,536 entries takes 0.28 to 0.56, and 0.82 with entries of
 * four bytes from memory, by how much of it is used. */
#include "table/table.h"

/* Loads, stores and the narrowing between operators by type. */
static double cost_convert(holo_dtype dtype)
{
    switch (hg_dtype_bits(dtype)) {
    case 32:
    case 64: return 0.05;
    case 16: return dtype == HOLO_BF16 ? 0.2 : 0.12;
    case 8: return hg_dtype_is_float(dtype) ? 3.0 : 0.12;
    default: return 3.0; /* element by element */
    }
}

/* Operations that are not one instruction or two, on 32 bits and on 64. */
typedef struct cost_fact {
    hg_lane_opcode op;
    double narrow, wide;
} cost_fact;

/* clang-format off */
static const cost_fact cost_facts[] = {
    {HG_LANE_EXP, 0.5, 2}, {HG_LANE_LOG, 0.5, 2}, {HG_LANE_SIGMOID, 0.8, 3},
    {HG_LANE_TANH, 0.8, 3}, {HG_LANE_ERF, 0.8, 3},
    {HG_LANE_SIN, 3, 3}, {HG_LANE_COS, 3, 3}, {HG_LANE_TAN, 3, 3}, {HG_LANE_ASIN, 3, 3},
    {HG_LANE_ACOS, 3, 3}, {HG_LANE_ATAN, 3, 3}, {HG_LANE_SINH, 3, 3}, {HG_LANE_COSH, 3, 3},
    {HG_LANE_ASINH, 3, 3}, {HG_LANE_ACOSH, 3, 3}, {HG_LANE_ATANH, 3, 3}, {HG_LANE_EXPM1, 3, 3},
    {HG_LANE_LOG1P, 3, 3}, {HG_LANE_POW, 8, 8}, {HG_LANE_ATAN2, 8, 8},
    {HG_LANE_DIV, 0.2, 1}, {HG_LANE_REM, 2, 2}, {HG_LANE_MOD, 2, 2}, {HG_LANE_SQRT, 0.2, 0.4},
    {HG_LANE_RECIP, 0.2, 0.4},
};
/* clang-format on */

static double cost_op(const hg_lane_op *op)
{
    const bool is_narrow = op->type == HG_LANE_F32 || op->type == HG_LANE_I32;
    if (op->op == HG_LANE_LOAD || op->op == HG_LANE_CONST) return 0;
    if (op->op == HG_LANE_NARROW) return 2 * cost_convert((holo_dtype)op->index);
    for (size_t i = 0; i < HG_COUNT(cost_facts); i++)
        if (cost_facts[i].op == (hg_lane_opcode)op->op)
            return is_narrow ? cost_facts[i].narrow : cost_facts[i].wide;
    return is_narrow ? 0.07 : 0.14;
}

double hg_cost_lane(const hg_lane_code *code, holo_dtype from, holo_dtype to)
{
    double cost = cost_convert(from) + cost_convert(to);
    for (uint32_t i = 0; i < code->n_op; i++)
        cost += cost_op(&code->op[i]);
    return cost;
}

/* 1 / (10^9 codes a second) of bench/run.sh tables, AVX2 on Zen 4, codes in L1; by entries of a
 * row: up to 16, 32, 64, 96, 128, and more. */
static const double cost_entries[3][6] = {
    {0.013, 0.019, 0.032, 0.048, 0.068, 0.107}, /* of one byte */
    {0.033, 0.16, 0.16, 0.16, 0.16, 0.25},      /* two */
    {0.065, 0.36, 0.36, 0.36, 0.36, 0.4},       /* four */
};

/* A table of several rows: `inner` codes in turn belong to one. Rows of many codes are prepared
 * once each, pixels have a loop of their own; otherwise it is one code at a time. */
static double cost_rows(const hg_entries *table, double each, bool is_byte, double inner)
{
    if (is_byte && inner >= 64) return each + 25 / inner;
    if (!is_byte && inner >= 1024) return each + 100 / inner;
    return is_byte && inner == 1 && table->rows == 3 ? 0.14 : 0.65;
}

double hg_cost_table(holo_dtype from, holo_dtype to, const hg_entries *table, double inner)
{
    static const int64_t most[] = {16, 32, 64, 96, 128};
    const uint32_t bits = hg_domain_bits(from), wide = hg_dtype_bits(to);
    if (bits == 16) return table->rows > 1 && inner < 32 ? 0.8 : wide == 32 ? 0.6 : 0.45;
    if (bits < 8 && table->rows == 1) return wide == 8 ? 0.025 : 0.085;
    size_t k = 0;
    while (k < HG_COUNT(most) && table->count > most[k])
        k++;
    double each = cost_entries[wide == 8 ? 0 : wide == 16 ? 1 : 2][k];
    if (table->classes && wide == 8) each = 0.061;
    return table->rows == 1 ? each : cost_rows(table, each, wide == 8, inner);
}

/* 55.5, 47.3, 35.8 and 26.8 GB/s for 1, 2, 4 and 6 operations, 38.2 for 2 with the check. */
double hg_cost_program(uint32_t weight, bool checks)
{
    return 0.0145 + 0.0037 * weight + (checks ? 0.005 : 0);
}

double hg_cost_bytes(uint32_t bits)
{
    return 0.03 * 2 * bits / 8;
}

double hg_cost_cold(const hg_entries *table)
{
    return 0.1 * (double)table->bytes;
}
