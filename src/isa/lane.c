/* lane.c - lane code: pairs of operations, facts about opcodes, verification. */
#include "isa/lane.h"

#include "isa/kernel.h"
#include "isa/lane_io.h"
#include "isa/lane_ops.h"

#include <string.h>

/* ---- pairs of operations
 * ------------------------------------------------------------------------- */

/* Nothing after operation `second` reads what operation `first` gives. */
static bool lane_is_dead(const hg_lane_code *code, uint32_t first, uint32_t second)
{
    const uint16_t reg = code->op[first].dst;
    if (code->op[second].dst == reg) return true;
    for (uint32_t k = second + 1; k < code->n_op; k++) {
        const hg_lane_op *op = &code->op[k];
        const int n = hg_lane_operands(op->op);
        if ((n > 0 && op->a == reg) || (n > 1 && op->b == reg) || (n > 2 && op->c == reg))
            return false;
        if (op->dst == reg) return true;
    }
    for (uint32_t k = 0; k < code->n_out; k++)
        if (code->out[k].reg == reg) return false;
    return true;
}

/* Makes arrays of the constants among registers that are one value; false: one is no constant. */
static bool lane_spread_ones(const hg_lane_code *code, bool *one, const uint16_t *reg)
{
    bool fits[3] = {!one[reg[0]], !one[reg[1]], !one[reg[2]]};
    for (uint32_t i = 0; i < code->n_op; i++)
        for (int k = 0; k < 3 && code->op[i].op == HG_LANE_CONST; k++)
            fits[k] = fits[k] || code->op[i].dst == reg[k];
    if (!fits[0] || !fits[1] || !fits[2]) return false;
    one[reg[0]] = one[reg[1]] = one[reg[2]] = false;
    return true;
}

/* One loop for both operations, or NULL. Sums and products take their operands in any order. */
static hg_lane_fn lane_pair_of_two(const hg_lane_code *code, hg_lane_pick pick, bool *one,
                                   uint32_t first, uint32_t second, bool *has_spread)
{
    const hg_lane_op *x = &code->op[first], *y = &code->op[second];
    const bool is_first = y->a == x->dst, is_second = y->b == x->dst;
    if (x->type != HG_LANE_F32 || y->type != HG_LANE_F32 || is_first == is_second) return NULL;
    if (is_second && y->op != HG_LANE_ADD && y->op != HG_LANE_MUL) return NULL;
    const uint16_t reg[3] = {x->a, x->b, is_first ? y->b : y->a};
    const uint32_t ones =
        (one[reg[0]] || one[reg[1]] ? HG_LANE_ONE : 0) | (one[reg[2]] ? HG_LANE_ONE_THEN : 0);
    const uint32_t both = x->op + HG_LANE_THEN * (uint32_t)y->op;
    hg_lane_fn fn = pick(both, HG_LANE_F32, ones);
    const bool spreads = fn == NULL && ones != 0;
    if (spreads) fn = pick(both, HG_LANE_F32, 0);
    if (fn == NULL || !lane_is_dead(code, first, second)) return NULL;
    if (spreads && !lane_spread_ones(code, one, reg)) return NULL;
    *has_spread = *has_spread || spreads;
    return fn;
}

/* The operation after i is a load or a constant for the one behind it: it can come before i. */
static bool lane_can_wait(const hg_lane_code *code, uint32_t i)
{
    const hg_lane_op *x = &code->op[i], *load = x + 1;
    return i + 2 < code->n_op && hg_lane_operands(load->op) == 0 && load->dst != x->a &&
           load->dst != x->b && load->dst != x->dst;
}

/* True when a constant became an array: pairs found before may take it as one value. */
static bool lane_find_pairs(const hg_lane_code *code, hg_lane_pick pick, bool *one,
                            hg_lane_fn *pair)
{
    bool has_spread = false;
    memset(pair, 0, code->n_op * sizeof *pair);
    for (uint32_t i = 0; i + 1 < code->n_op; i++) {
        if (code->op[i].op < HG_LANE_ADD || code->op[i].op > HG_LANE_MAX) continue;
        const uint32_t second = lane_can_wait(code, i) ? i + 2 : i + 1;
        pair[i] = lane_pair_of_two(code, pick, one, i, second, &has_spread);
        if (pair[i] != NULL) i = second;
    }
    return has_spread;
}

void hg_lane_find_pairs(const hg_lane_code *code, hg_lane_pick pick, bool *one, hg_lane_fn *pair)
{
    if (pick == NULL || code->n_op > HG_LANE_PAIRS)
        memset(pair, 0, (size_t)hg_min(code->n_op, HG_LANE_PAIRS) * sizeof *pair);
    else
        while (lane_find_pairs(code, pick, one, pair))
            continue;
}

/* ---- opcodes and types --------------------------------------------------------------------------
 */

enum {
    LANE_FLOATS = 1 << HG_LANE_F32 | 1 << HG_LANE_F64,
    LANE_INTS = 1 << HG_LANE_I32 | 1 << HG_LANE_I64 | 1 << HG_LANE_U64,
    LANE_TRUTH = 1 << 6, /* the result is a bool */
    LANE_KNOWN = 1 << 7,
    LANE_SPECIAL = 1 << 8,
    LANE_OPERANDS = 9 /* where their number begins */
};

/* Types by the first letter of the meaning, a bool where it ends in "> b"; see lane.def. */
#define LANE_TYPES(number, meaning)                                                                \
    ((number) == HG_LANE_INDEX ? 1 << HG_LANE_I64                                                  \
     : (meaning)[0] == 'f'     ? LANE_FLOATS                                                       \
     : (meaning)[0] == 'i'     ? LANE_INTS                                                         \
                               : LANE_FLOATS | LANE_INTS)
#define LANE_RESULT(meaning)                                                                       \
    ((meaning)[sizeof(meaning) - 4] == '>' && (meaning)[sizeof(meaning) - 2] == 'b' ? LANE_TRUTH   \
                                                                                    : 0)

/* What verification asks of an opcode, in one number: compilers make the switch a table, and the
 * time of opening a file of fused steps is mostly spent here. 0: unknown. */
static uint32_t lane_fact_of(uint32_t op)
{
    switch (op) {
#define X(number, name, operands, text, meaning)                                                   \
    case number:                                                                                   \
        return LANE_TYPES(number, meaning) | LANE_RESULT(meaning) | LANE_KNOWN |                   \
               ((number) < HG_LANE_ADD ? LANE_SPECIAL : 0) | (operands) << LANE_OPERANDS;
#include "isa/lane.def"
#undef X
    default: return 0;
    }
}

const char *hg_lane_op_text(uint32_t op)
{
    switch (op) {
#define X(number, name, operands, text, meaning)                                                   \
    case number:                                                                                   \
        return text;
#include "isa/lane.def"
#undef X
    default: return "unknown";
    }
}

int hg_lane_operands(uint32_t op)
{
    const uint32_t fact = lane_fact_of(op);
    return fact == 0 ? -1 : (int)(fact >> LANE_OPERANDS);
}

hg_lane_type hg_lane_type_of(holo_dtype dtype)
{
    switch (dtype) {
    case HOLO_F32:
    case HOLO_F16:
    case HOLO_BF16:
    case HOLO_F8E4M3FN:
    case HOLO_F8E4M3FNUZ:
    case HOLO_F8E5M2:
    case HOLO_F8E5M2FNUZ:
    case HOLO_F8E8M0:
    case HOLO_F4E2M1: return HG_LANE_F32;
    case HOLO_F64: return HG_LANE_F64;
    case HOLO_BOOL:
    case HOLO_U2:
    case HOLO_I2:
    case HOLO_U4:
    case HOLO_I4:
    case HOLO_U8:
    case HOLO_I8:
    case HOLO_U16:
    case HOLO_I16:
    case HOLO_I32: return HG_LANE_I32;
    case HOLO_I64: return HG_LANE_I64;
    case HOLO_U32:
    case HOLO_U64: return HG_LANE_U64;
    case HOLO_NONE:
    case HOLO_STRING:
    case HOLO_C64:
    case HOLO_C128:
    case HOLO_SEQUENCE:
    case HOLO_OPTIONAL:
    case HOLO_MAP: break;
    }
    return (hg_lane_type)0;
}

static const char *lane_type_text(uint32_t type)
{
    static const char *const text[] = {"none", "f32", "f64", "i32", "i64", "u64"};
    return type < HG_COUNT(text) ? text[type] : "unknown";
}

static bool lane_accepts(uint32_t fact, uint32_t type)
{
    return type <= HG_LANE_U64 && (fact >> type & 1) != 0;
}

bool hg_lane_op_accepts(uint32_t op, uint32_t type)
{
    return lane_accepts(lane_fact_of(op), type);
}

static hg_lane_type lane_result(uint32_t fact, uint32_t type)
{
    return (fact & LANE_TRUTH) != 0 ? HG_LANE_I32 : (hg_lane_type)type;
}

hg_lane_type hg_lane_op_result(uint32_t op, uint32_t type)
{
    return lane_result(lane_fact_of(op), type);
}

/* ---- verification --------------------------------------------------------------------------- */

/* Operations that are no function of their operands alone: index and imm have a meaning. */
static holo_status lane_verify_special(const hg_lane_code *code, uint32_t at, holo_error *e)
{
    const hg_lane_op *op = &code->op[at];
    uint64_t imm_max = op->op == HG_LANE_NARROW ? 1 : 0;
    if (op->op == HG_LANE_CONST) imm_max = hg_lane_width(op->type) == 4 ? UINT32_MAX : UINT64_MAX;
    HG_REQUIRE(e, op->imm <= imm_max, HOLO_E_FORMAT,
               "lane operation %u, %s, has the immediate %llu, expected at most %llu", at,
               hg_lane_op_text(op->op), (unsigned long long)op->imm, (unsigned long long)imm_max);
    if (op->op == HG_LANE_LOAD) {
        HG_REQUIRE(e, op->index < code->n_in, HOLO_E_FORMAT,
                   "lane operation %u loads operand %u of %u", at, op->index, code->n_in);
    } else if (op->op == HG_LANE_CAST) {
        HG_REQUIRE(e, hg_lane_op_accepts(HG_LANE_CAST, op->index), HOLO_E_FORMAT,
                   "lane operation %u casts from unknown type %u", at, op->index);
    } else if (op->op == HG_LANE_NARROW) {
        HG_REQUIRE(e, hg_lane_type_of((holo_dtype)op->index) == op->type, HOLO_E_FORMAT,
                   "lane operation %u narrows %s to element type %u", at, lane_type_text(op->type),
                   op->index);
    } else {
        HG_REQUIRE(e, op->index == 0, HOLO_E_FORMAT, "lane operation %u, %s, has index %u, not 0",
                   at, hg_lane_op_text(op->op), op->index);
    }
    return HOLO_OK;
}

/* A runtime for one model has the loops of that model alone. */
static holo_status lane_verify_linked(const hg_lane_op *op, holo_error *e)
{
    if (hg_lane_reference_fn(op->op, op->type, op->index) != NULL) return HOLO_OK;
    return hg_fail(e, HOLO_E_KERNEL, "this runtime was made without the lane operation %s on %s",
                   hg_lane_op_text(op->op), lane_type_text(op->type));
}

/* Operands are registers that hold what the operation wants; those it does not have are 0. */
static holo_status lane_verify_reads(const hg_lane_code *code, uint32_t at, uint32_t operands,
                                     const uint8_t *held, holo_error *e)
{
    const hg_lane_op *op = &code->op[at];
    const uint32_t reg[3] = {op->a, op->b, op->c};
    uint32_t type = op->type;
    if (op->op == HG_LANE_CAST) type = op->index;
    if (op->op == HG_LANE_SELECT) type = HG_LANE_I32;
    for (uint32_t i = 0; i < operands; i++, type = op->type) {
        HG_REQUIRE(e, reg[i] < code->n_reg, HOLO_E_FORMAT,
                   "lane operation %u, %s, reads register %u of %u", at, hg_lane_op_text(op->op),
                   reg[i], code->n_reg);
        HG_REQUIRE(e, held[reg[i]] != 0, HOLO_E_FORMAT,
                   "lane operation %u, %s, reads register %u before it is written", at,
                   hg_lane_op_text(op->op), reg[i]);
        HG_REQUIRE(e, held[reg[i]] == type, HOLO_E_FORMAT,
                   "lane operation %u, %s, wants %s and register %u holds %s", at,
                   hg_lane_op_text(op->op), lane_type_text(type), reg[i],
                   lane_type_text(held[reg[i]]));
    }
    HG_REQUIRE(e, operands == 3 || (op->c == 0 && (operands == 2 || op->b == 0)), HOLO_E_FORMAT,
               "lane operation %u, %s, has more than %u operands", at, hg_lane_op_text(op->op),
               operands);
    return HOLO_OK;
}

static holo_status lane_verify_op(const hg_lane_code *code, uint32_t at, uint8_t *held,
                                  holo_error *e)
{
    const hg_lane_op *op = &code->op[at];
    const uint32_t fact = lane_fact_of(op->op), operands = fact >> LANE_OPERANDS;
    HG_REQUIRE(e, fact != 0, HOLO_E_FORMAT, "lane operation %u has unknown opcode %u", at, op->op);
    HG_REQUIRE(e, lane_accepts(fact, op->type), HOLO_E_FORMAT,
               "lane operation %u, %s, cannot have type %s", at, hg_lane_op_text(op->op),
               lane_type_text(op->type));
    HG_REQUIRE(e, op->zero == 0, HOLO_E_FORMAT, "lane operation %u has %u in a field that is 0", at,
               op->zero);
    HG_REQUIRE(e, op->dst < code->n_reg, HOLO_E_FORMAT,
               "lane operation %u writes register %u of %u", at, op->dst, code->n_reg);
    if ((fact & LANE_SPECIAL) != 0) {
        HG_TRY(lane_verify_special(code, at, e));
    } else {
        HG_REQUIRE(e, op->index == 0 && op->imm == 0, HOLO_E_FORMAT,
                   "lane operation %u, %s, has index %u and immediate %llu, not 0", at,
                   hg_lane_op_text(op->op), op->index, (unsigned long long)op->imm);
    }
    if (operands == 0)
        HG_REQUIRE(e, op->a == 0 && op->b == 0 && op->c == 0, HOLO_E_FORMAT,
                   "lane operation %u, %s, has operands and takes none", at,
                   hg_lane_op_text(op->op));
    else
        HG_TRY(lane_verify_reads(code, at, operands, held, e));
    held[op->dst] = (uint8_t)lane_result(fact, op->type);
    const bool is_linked = op->op != HG_LANE_NARROW || HG_IS_LINKED(op->index);
    if ((fact & LANE_SPECIAL) != 0 && is_linked &&
        (op->op != HG_LANE_CAST || op->index == op->type))
        return HOLO_OK;
    return lane_verify_linked(op, e);
}

holo_status hg_lane_verify(const hg_lane_code *code, holo_error *e)
{
    HG_REQUIRE(e, code->n_op <= HG_LANE_MAX_OP, HOLO_E_LIMIT,
               "lane code has %u operations, expected at most %d", code->n_op, HG_LANE_MAX_OP);
    HG_REQUIRE(e, code->n_reg <= HG_LANE_MAX_REG, HOLO_E_LIMIT,
               "lane code has %u registers, expected at most %d", code->n_reg, HG_LANE_MAX_REG);
    HG_REQUIRE(e, code->n_in <= HG_LANE_MAX_IO, HOLO_E_LIMIT,
               "lane code has %u operands, expected at most %d", code->n_in, HG_LANE_MAX_IO);
    HG_REQUIRE(e, code->n_out >= 1 && code->n_out <= HG_LANE_MAX_IO, HOLO_E_LIMIT,
               "lane code has %u results, expected 1 to %d", code->n_out, HG_LANE_MAX_IO);
    uint8_t held[HG_LANE_MAX_REG] = {0}; /* hg_lane_type of each register, 0 before it is written */
    for (uint32_t i = 0; i < code->n_op; i++)
        HG_TRY(lane_verify_op(code, i, held, e));
    for (uint32_t i = 0; i < code->n_out; i++) {
        const hg_lane_out *out = &code->out[i];
        HG_REQUIRE(e, out->reg < code->n_reg && held[out->reg] != 0, HOLO_E_FORMAT,
                   "lane result %u is register %u, which is never written", i, out->reg);
        HG_REQUIRE(e, held[out->reg] == out->type, HOLO_E_FORMAT,
                   "lane result %u wants %s and register %u holds %s", i, lane_type_text(out->type),
                   out->reg, lane_type_text(held[out->reg]));
        HG_REQUIRE(e, out->saturate <= 1, HOLO_E_FORMAT, "lane result %u has the flag %u", i,
                   out->saturate);
    }
    return HOLO_OK;
}

bool hg_lane_is_alike(const hg_lane_code *code, const hg_lane_code *right)
{
    if (code->n_op != right->n_op || code->n_in != right->n_in || code->n_out != right->n_out ||
        code->n_reg != right->n_reg ||
        memcmp(code->out, right->out, code->n_out * sizeof *code->out) != 0)
        return false;
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *a = &code->op[i], *b = &right->op[i];
        if (memcmp(a, b, offsetof(hg_lane_op, imm)) != 0) return false;
        if (a->imm != b->imm && (a->op != HG_LANE_CONST || a->imm > UINT32_MAX)) return false;
    }
    return true;
}

holo_status hg_lane_check_types(const hg_lane_code *code, const holo_dtype *in,
                                const holo_dtype *out, holo_error *e)
{
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        if (op->op != HG_LANE_LOAD) continue;
        holo_dtype dtype = in[op->index];
        HG_REQUIRE(e, hg_lane_type_of(dtype) == op->type, HOLO_E_TYPE,
                   "lane operand %u has type %s, which does not load as %s", op->index,
                   holo_dtype_text(dtype), lane_type_text(op->type));
    }
    for (uint32_t i = 0; i < code->n_out; i++)
        HG_REQUIRE(e, hg_lane_type_of(out[i]) == code->out[i].type, HOLO_E_TYPE,
                   "lane result %u has type %s, which does not store %s", i,
                   holo_dtype_text(out[i]), lane_type_text(code->out[i].type));
    return HOLO_OK;
}
