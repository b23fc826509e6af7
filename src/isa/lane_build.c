/* lane_build.c - builds lane code: SSA with common subexpressions and constants folded, then
 * registers.
 *
 * Values live in one array in the order of their creation, which is an order they can be computed
 * in. A value equal to an earlier one is that one. An operation on constants is run by the
 * reference interpreter at once, so that folding and running can never disagree. */
#include "isa/kernel.h"
#include "isa/lane_io.h"

typedef struct lane_value {
    hg_lane_op op; /* a, b, c are unused here; dst is the register, once assigned */
    hg_lane_id in[3];
    uint32_t last_use; /* number of the last value that reads it; UINT32_MAX for results */
    bool is_live, is_placed;
} lane_value;

struct hg_lane {
    hg_arena *arena;
    lane_value *value; /* value[0] is no value */
    size_t count, capacity;
    uint32_t *bucket; /* hash table of ids, 0 empty; a power of two of slots, at most half full */
    size_t buckets;
    void *scratch; /* for folding */
    holo_status status;
    holo_error error; /* of the first misuse */
};

/* ---- values --------------------------------------------------------------------------------- */

hg_lane *hg_lane_new(hg_arena *arena)
{
    hg_lane *b = hg_arena_alloc(arena, sizeof *b);
    if (b == NULL) return NULL;
    b->arena = arena;
    b->capacity = 32;
    b->buckets = 64;
    b->value = hg_arena_array(arena, b->capacity, sizeof *b->value);
    b->bucket = hg_arena_array(arena, b->buckets, sizeof *b->bucket);
    if (b->value == NULL || b->bucket == NULL) return NULL;
    b->count = 1;
    return b;
}

static hg_lane_id build_fail(hg_lane *b, holo_status status, const char *text, uint32_t op)
{
    if (b == NULL || b->status != HOLO_OK) return 0;
    b->status = hg_fail(&b->error, status, "lane code: %s in %s", text, hg_lane_op_text(op));
    return 0;
}

static uint64_t build_hash(const lane_value *v)
{
    const uint64_t words[] = {(uint64_t)v->op.op << 40 | (uint64_t)v->op.type << 32 | v->op.index,
                              v->op.imm, v->in[0], v->in[1], v->in[2]};
    uint64_t h = 0;
    for (size_t i = 0; i < HG_COUNT(words); i++) {
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static bool build_equal(const lane_value *a, const lane_value *b)
{
    return a->op.op == b->op.op && a->op.type == b->op.type && a->op.index == b->op.index &&
           a->op.imm == b->op.imm && a->in[0] == b->in[0] && a->in[1] == b->in[1] &&
           a->in[2] == b->in[2];
}

static bool build_rehash(hg_lane *b)
{
    size_t buckets = b->buckets * 2;
    uint32_t *bucket = hg_arena_array(b->arena, buckets, sizeof *bucket);
    if (bucket == NULL) return false;
    for (size_t id = 1; id < b->count; id++) {
        size_t at = build_hash(&b->value[id]) & (buckets - 1);
        while (bucket[at] != 0)
            at = (at + 1) & (buckets - 1);
        bucket[at] = (uint32_t)id;
    }
    b->bucket = bucket;
    b->buckets = buckets;
    return true;
}

/* The value itself or an equal earlier one. */
static hg_lane_id build_add(hg_lane *b, const lane_value *v)
{
    size_t at = build_hash(v) & (b->buckets - 1);
    for (; b->bucket[at] != 0; at = (at + 1) & (b->buckets - 1))
        if (build_equal(&b->value[b->bucket[at]], v)) return b->bucket[at];
    /* One operation becomes one value; what finish cannot place is refused there. */
    if (b->count > (size_t)4 * HG_LANE_MAX_OP)
        return build_fail(b, HOLO_E_LIMIT, "too many operations", v->op.op);
    if (b->count == b->capacity) {
        lane_value *value =
            hg_arena_grow(b->arena, b->value, b->count, &b->capacity, sizeof *b->value);
        if (value == NULL) return build_fail(b, HOLO_E_NOMEM, "out of memory", v->op.op);
        b->value = value;
    }
    hg_lane_id id = (hg_lane_id)b->count++;
    b->value[id] = *v;
    b->bucket[at] = id;
    if (b->count * 2 > b->buckets && !build_rehash(b))
        return build_fail(b, HOLO_E_NOMEM, "out of memory", v->op.op);
    return id;
}

static bool build_is_value(const hg_lane *b, hg_lane_id id)
{
    return b != NULL && b->status == HOLO_OK && id > 0 && id < b->count;
}

hg_lane_type hg_lane_typeof(const hg_lane *b, hg_lane_id a)
{
    if (!build_is_value(b, a)) return (hg_lane_type)0;
    return hg_lane_op_result(b->value[a].op.op, b->value[a].op.type);
}

/* ---- folding -------------------------------------------------------------------------------- */

static bool build_is_const(const hg_lane *b, hg_lane_id id)
{
    return b->value[id].op.op == HG_LANE_CONST;
}

/* The constant has exactly this value; -0.0 and 0.0 differ. */
static bool build_is(const hg_lane *b, hg_lane_id id, int value)
{
    if (id == 0 || !build_is_const(b, id)) return false;
    const hg_lane_op *op = &b->value[id].op;
    float f32 = (float)value;
    double f64 = value;
    int64_t i64 = value;
    uint64_t bits = 0;
    switch ((hg_lane_type)op->type) {
    case HG_LANE_F32: memcpy(&bits, &f32, sizeof f32); break;
    case HG_LANE_F64: memcpy(&bits, &f64, sizeof f64); break;
    case HG_LANE_I32: bits = (uint32_t)value; break;
    case HG_LANE_I64:
    case HG_LANE_U64: memcpy(&bits, &i64, sizeof i64); break;
    }
    return op->imm == bits;
}

/* Runs an operation whose operands are constants on one element. */
static hg_lane_id build_run(hg_lane *b, const lane_value *v)
{
    hg_lane_op op[4];
    int operands = hg_lane_operands(v->op.op);
    for (int i = 0; i < operands; i++) {
        op[i] = b->value[v->in[i]].op;
        op[i].dst = (uint16_t)i;
    }
    op[operands] = v->op;
    op[operands].dst = 3;
    op[operands].a = 0;
    op[operands].b = operands > 1 ? 1 : 0;
    op[operands].c = operands > 2 ? 2 : 0;
    hg_lane_type type = hg_lane_op_result(v->op.op, v->op.type);
    static const holo_dtype dtypes[] = {HOLO_NONE, HOLO_F32, HOLO_F64,
                                        HOLO_I32,  HOLO_I64, HOLO_U64};
    hg_lane_out out = {3, (uint8_t)type, 0};
    hg_lane_code code = {op, &out, (uint32_t)operands + 1, 0, 1, 4};
    if (b->scratch == NULL) b->scratch = hg_arena_alloc(b->arena, hg_lane_scratch(&code));
    if (b->scratch == NULL) return build_fail(b, HOLO_E_NOMEM, "out of memory", v->op.op);
    uint64_t result = 0;
    hg_lane_view view = {&result, 0, 1, dtypes[type], 0};
    hg_lane_tile tile = {
        .out = &view, .rows = 1, .cols = 1, .row_elements = 1, .scratch = b->scratch};
    hg_lane_run(&code, &tile);
    if (hg_lane_width(type) == 4) { /* the four bytes written, as a number on any machine */
        uint32_t low;
        memcpy(&low, &result, sizeof low);
        result = low;
    }
    lane_value folded = {.op = {.op = HG_LANE_CONST, .type = (uint8_t)type, .imm = result}};
    return build_add(b, &folded);
}

/* x + -0, x - 0, x * 1, x / 1 and the like, which hold for every x; 0 when there is none. */
static hg_lane_id build_identity(const hg_lane *b, const lane_value *v)
{
    hg_lane_id x = v->in[0], y = v->in[1];
    bool is_float = v->op.type == HG_LANE_F32 || v->op.type == HG_LANE_F64;
    switch (v->op.op) {
    case HG_LANE_ADD:
        if (!is_float && build_is(b, y, 0)) return x;
        return !is_float && build_is(b, x, 0) ? y : 0;
    case HG_LANE_OR:
    case HG_LANE_XOR:
        if (build_is(b, y, 0)) return x;
        return build_is(b, x, 0) ? y : 0;
    case HG_LANE_SUB:
    case HG_LANE_SHL:
    case HG_LANE_SHR: return build_is(b, y, 0) ? x : 0;
    case HG_LANE_MUL:
        if (build_is(b, y, 1)) return x;
        return build_is(b, x, 1) ? y : 0;
    case HG_LANE_DIV: return build_is(b, y, 1) ? x : 0;
    case HG_LANE_AND: return x == y ? x : 0;
    case HG_LANE_NEG:
    case HG_LANE_NOT: return b->value[x].op.op == v->op.op ? b->value[x].in[0] : 0;
    case HG_LANE_ABS:
    case HG_LANE_FLOOR:
    case HG_LANE_CEIL:
    case HG_LANE_ROUND:
    case HG_LANE_TRUNC: return b->value[x].op.op == v->op.op ? x : 0;
    case HG_LANE_NARROW: { /* of what is narrow already; saturating later may still clamp an
                              infinity */
        const hg_lane_op *inner = &b->value[x].op;
        bool is_same = inner->op == HG_LANE_NARROW && inner->index == v->op.index;
        return is_same && v->op.imm <= inner->imm ? x : 0;
    }
    case HG_LANE_SELECT:
        if (v->in[1] == v->in[2]) return v->in[1];
        if (!build_is_const(b, x)) return 0;
        return b->value[x].op.imm != 0 ? v->in[1] : v->in[2];
    default: return 0;
    }
}

/* Integer division by a constant zero stays: it must fault when it runs. */
static bool build_can_fold(const hg_lane *b, const lane_value *v)
{
    int operands = hg_lane_operands(v->op.op);
    if (operands == 0) return false;
    for (int i = 0; i < operands; i++)
        if (!build_is_const(b, v->in[i])) return false;
    bool divides = v->op.op == HG_LANE_DIV || v->op.op == HG_LANE_MOD || v->op.op == HG_LANE_REM;
    bool is_float = v->op.type == HG_LANE_F32 || v->op.type == HG_LANE_F64;
    return !divides || is_float || !build_is(b, v->in[1], 0);
}

static hg_lane_id build_op(hg_lane *b, const lane_value *v)
{
    if (!hg_lane_op_accepts(v->op.op, v->op.type))
        return build_fail(b, HOLO_E_TYPE, "a type it does not take", v->op.op);
    hg_lane_id same = build_identity(b, v);
    if (same != 0) return same;
    return build_can_fold(b, v) ? build_run(b, v) : build_add(b, v);
}

/* ---- operations ----------------------------------------------------------------------------- */

hg_lane_id hg_lane_load(hg_lane *b, uint32_t operand, hg_lane_type type)
{
    if (b == NULL || b->status != HOLO_OK) return 0;
    if (!hg_lane_op_accepts(HG_LANE_LOAD, type) || operand >= HG_LANE_MAX_IO)
        return build_fail(b, HOLO_E_TYPE, "a type or operand it does not have", HG_LANE_LOAD);
    lane_value v = {.op = {.op = HG_LANE_LOAD, .type = (uint8_t)type, .index = operand}};
    return build_add(b, &v);
}

static hg_lane_id build_const(hg_lane *b, hg_lane_type type, uint64_t bits)
{
    lane_value v = {.op = {.op = HG_LANE_CONST, .type = (uint8_t)type, .imm = bits}};
    return build_add(b, &v);
}

hg_lane_id hg_lane_const_f(hg_lane *b, hg_lane_type type, double value)
{
    if (b == NULL || b->status != HOLO_OK) return 0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hg_lane_cast(b, build_const(b, HG_LANE_F64, bits), type);
}

hg_lane_id hg_lane_const_i(hg_lane *b, hg_lane_type type, int64_t value)
{
    if (b == NULL || b->status != HOLO_OK) return 0;
    return hg_lane_cast(b, build_const(b, HG_LANE_I64, (uint64_t)value), type);
}

hg_lane_id hg_lane_index(hg_lane *b)
{
    if (b == NULL || b->status != HOLO_OK) return 0;
    lane_value v = {.op = {.op = HG_LANE_INDEX, .type = HG_LANE_I64}};
    return build_add(b, &v);
}

hg_lane_id hg_lane_cast(hg_lane *b, hg_lane_id a, hg_lane_type to)
{
    hg_lane_type from = hg_lane_typeof(b, a);
    if (from == 0) return build_fail(b, HOLO_E_BUG, "a missing operand", HG_LANE_CAST);
    if (from == to) return a;
    lane_value v = {.op = {.op = HG_LANE_CAST, .type = (uint8_t)to, .index = from}, .in = {a}};
    return build_op(b, &v);
}

hg_lane_id hg_lane_1(hg_lane *b, hg_lane_opcode op, hg_lane_id a)
{
    hg_lane_type type = hg_lane_typeof(b, a);
    if (type == 0) return build_fail(b, HOLO_E_BUG, "a missing operand", op);
    if (hg_lane_operands(op) != 1 || op == HG_LANE_CAST || op == HG_LANE_NARROW)
        return build_fail(b, HOLO_E_BUG, "one operand", op);
    lane_value v = {.op = {.op = (uint8_t)op, .type = (uint8_t)type}, .in = {a}};
    return build_op(b, &v);
}

hg_lane_id hg_lane_2(hg_lane *b, hg_lane_opcode op, hg_lane_id a, hg_lane_id c)
{
    hg_lane_type type = hg_lane_typeof(b, a);
    if (type == 0 || hg_lane_typeof(b, c) == 0)
        return build_fail(b, HOLO_E_BUG, "a missing operand", op);
    if (hg_lane_operands(op) != 2) return build_fail(b, HOLO_E_BUG, "two operands", op);
    if (hg_lane_typeof(b, c) != type)
        return build_fail(b, HOLO_E_TYPE, "operands of different types", op);
    lane_value v = {.op = {.op = (uint8_t)op, .type = (uint8_t)type}, .in = {a, c}};
    return build_op(b, &v);
}

hg_lane_id hg_lane_select(hg_lane *b, hg_lane_id condition, hg_lane_id yes, hg_lane_id no)
{
    hg_lane_type type = hg_lane_typeof(b, yes);
    if (type == 0 || hg_lane_typeof(b, no) == 0 || hg_lane_typeof(b, condition) == 0)
        return build_fail(b, HOLO_E_BUG, "a missing operand", HG_LANE_SELECT);
    if (hg_lane_typeof(b, condition) != HG_LANE_I32 || hg_lane_typeof(b, no) != type)
        return build_fail(b, HOLO_E_TYPE, "operands of different types", HG_LANE_SELECT);
    lane_value v = {.op = {.op = HG_LANE_SELECT, .type = (uint8_t)type},
                    .in = {condition, yes, no}};
    return build_op(b, &v);
}

hg_lane_id hg_lane_narrow(hg_lane *b, hg_lane_id a, holo_dtype dtype, bool saturate)
{
    hg_lane_type type = hg_lane_typeof(b, a);
    if (type == 0) return build_fail(b, HOLO_E_BUG, "a missing operand", HG_LANE_NARROW);
    if (hg_lane_type_of(dtype) != type)
        return build_fail(b, HOLO_E_TYPE, "a type that is not computed so", HG_LANE_NARROW);
    if (hg_lane_is_native(dtype)) return a;
    lane_value v = {.op = {.op = HG_LANE_NARROW,
                           .type = (uint8_t)type,
                           .index = (uint32_t)dtype,
                           .imm = saturate ? 1 : 0},
                    .in = {a}};
    return build_op(b, &v);
}

bool hg_lane_replay(hg_lane *b, const hg_lane_code *code, const hg_lane_id *in, hg_lane_id *each)
{
    if (b == NULL || b->status != HOLO_OK) return false;
    hg_lane_id *reg = hg_arena_array(b->arena, HG_LANE_MAX_REG, sizeof *reg);
    if (reg == NULL) return build_fail(b, HOLO_E_NOMEM, "out of memory", HG_LANE_LOAD) != 0;
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        hg_lane_id id;
        if (op->op == HG_LANE_LOAD) {
            id = in[op->index];
            if (hg_lane_typeof(b, id) != op->type)
                return build_fail(b, HOLO_E_TYPE, "an operand of another type", op->op) != 0;
        } else {
            lane_value v = {.op = *op, .in = {reg[op->a], reg[op->b], reg[op->c]}};
            int operands = hg_lane_operands(op->op);
            for (int k = operands; k < 3; k++)
                v.in[k] = 0;
            v.op.dst = v.op.a = v.op.b = v.op.c = 0;
            id = operands == 0 ? build_add(b, &v) : build_op(b, &v);
        }
        if (id == 0) return false;
        each[i] = reg[op->dst] = id;
    }
    return true;
}

bool hg_lane_inline(hg_lane *b, const hg_lane_code *code, const hg_lane_id *in, hg_lane_id *out)
{
    if (b == NULL || b->status != HOLO_OK) return false;
    hg_lane_id *each = hg_arena_array(b->arena, (size_t)code->n_op + 1, sizeof *each);
    if (each == NULL) return build_fail(b, HOLO_E_NOMEM, "out of memory", HG_LANE_LOAD) != 0;
    if (!hg_lane_replay(b, code, in, each)) return false;
    for (uint32_t i = 0; i < code->n_out; i++)
        for (uint32_t k = 0; k < code->n_op; k++)
            if (code->op[k].dst == code->out[i].reg) out[i] = each[k]; /* the last one stays */
    return true;
}

/* ---- finish --------------------------------------------------------------------------------- */

typedef struct build_regs {
    bool is_used[HG_LANE_MAX_REG];
    uint32_t count; /* registers ever used */
} build_regs;

static bool build_reg_take(build_regs *regs, lane_value *v)
{
    uint32_t i = 0;
    while (i < HG_LANE_MAX_REG && regs->is_used[i])
        i++;
    if (i == HG_LANE_MAX_REG) return false;
    regs->is_used[i] = true;
    regs->count = (uint32_t)hg_max(regs->count, i + 1);
    v->op.dst = (uint16_t)i;
    return true;
}

/* Marks what the results need, and who reads each value last. */
static uint32_t build_mark(hg_lane *b, const hg_lane_id *out, uint32_t n_out)
{
    uint32_t live = 0;
    for (size_t id = 1; id < b->count; id++) {
        b->value[id].is_live = false;
        b->value[id].last_use = 0;
    }
    for (uint32_t i = 0; i < n_out; i++) {
        b->value[out[i]].is_live = true;
        b->value[out[i]].last_use = UINT32_MAX;
    }
    for (size_t id = b->count - 1; id > 0; id--) {
        lane_value *v = &b->value[id];
        if (!v->is_live) continue;
        live++;
        for (int i = 0; i < 3; i++) {
            lane_value *x = &b->value[v->in[i]];
            if (v->in[i] == 0) continue;
            x->is_live = true;
            if (x->last_use == 0) x->last_use = (uint32_t)id;
        }
    }
    return live;
}

static bool build_place(hg_lane *b, build_regs *regs, hg_lane_id id, hg_lane_op *op, uint32_t *n_op)
{
    lane_value *v = &b->value[id];
    if (v->is_placed) return true;
    if (!build_reg_take(regs, v)) return false;
    v->is_placed = true;
    hg_lane_op *to = &op[(*n_op)++];
    *to = v->op;
    to->a = v->in[0] != 0 ? b->value[v->in[0]].op.dst : 0;
    to->b = v->in[1] != 0 ? b->value[v->in[1]].op.dst : 0;
    to->c = v->in[2] != 0 ? b->value[v->in[2]].op.dst : 0;
    return true;
}

/* Constants first; each load right before its first use; everything else in the order of creation.
 * With `keeps`, constants and loads have registers of their own, which the interpreter fills once
 * per run where the value is the same for every tile. */
static bool build_emit(hg_lane *b, bool keeps, build_regs *regs, hg_lane_op *op, uint32_t *n_op)
{
    *regs = (build_regs){0};
    *n_op = 0;
    for (uint32_t id = 1; id < b->count; id++)
        b->value[id].is_placed = false;
    for (uint32_t id = 1; id < b->count; id++)
        if (b->value[id].is_live && build_is_const(b, id) && !build_place(b, regs, id, op, n_op))
            return false;
    for (uint32_t id = 1; id < b->count; id++) {
        lane_value *v = &b->value[id];
        if (!v->is_live || (v->op.op == HG_LANE_LOAD && v->last_use != UINT32_MAX)) continue;
        for (int i = 0; i < 3; i++)
            if (v->in[i] != 0 && !build_place(b, regs, v->in[i], op, n_op)) return false;
        if (!build_place(b, regs, id, op, n_op)) return false;
        for (int i = 0; i < 3; i++) {
            lane_value *x = &b->value[v->in[i]];
            bool is_kept = keeps && (x->op.op == HG_LANE_CONST || x->op.op == HG_LANE_LOAD);
            if (v->in[i] != 0 && x->last_use == id && !is_kept) regs->is_used[x->op.dst] = false;
        }
    }
    return true;
}

static holo_status build_check_outs(const hg_lane *b, const hg_lane_id *out,
                                    const hg_lane_out *out_kind, uint32_t n_out, holo_error *e)
{
    if (b->status != HOLO_OK) return hg_fail(e, b->status, "%s", b->error.message);
    HG_REQUIRE(e, n_out >= 1 && n_out <= HG_LANE_MAX_IO, HOLO_E_LIMIT,
               "lane code: %u results, expected 1 to %d", n_out, HG_LANE_MAX_IO);
    for (uint32_t i = 0; i < n_out; i++) {
        HG_REQUIRE(e, hg_lane_typeof(b, out[i]) != 0, HOLO_E_BUG, "lane code: result %u is missing",
                   i);
        HG_REQUIRE(e, out_kind[i].type == 0 || out_kind[i].type == hg_lane_typeof(b, out[i]),
                   HOLO_E_TYPE, "lane code: result %u has another type than asked for", i);
    }
    return HOLO_OK;
}

holo_status hg_lane_finish(hg_lane *b, uint32_t n_in, const hg_lane_id *out,
                           const hg_lane_out *out_kind, uint32_t n_out, hg_lane_code *code,
                           holo_error *e)
{
    if (b == NULL) return hg_fail_nomem(e, sizeof *b);
    HG_TRY(build_check_outs(b, out, out_kind, n_out, e));
    uint32_t live = build_mark(b, out, n_out);
    HG_REQUIRE(e, live <= HG_LANE_MAX_OP, HOLO_E_LIMIT,
               "lane code: %u operations, expected at most %d", live, HG_LANE_MAX_OP);
    hg_lane_op *op = hg_arena_array(b->arena, live, sizeof *op);
    hg_lane_out *outs = hg_arena_array(b->arena, n_out, sizeof *outs);
    build_regs *regs = hg_arena_alloc(b->arena, sizeof *regs);
    if (op == NULL || outs == NULL || regs == NULL) return hg_fail_nomem(e, live * sizeof *op);
    uint32_t n_op = 0;
    HG_REQUIRE(e, build_emit(b, true, regs, op, &n_op) || build_emit(b, false, regs, op, &n_op),
               HOLO_E_LIMIT, "lane code: more than %d values are alive at once", HG_LANE_MAX_REG);
    for (uint32_t i = 0; i < n_out; i++) {
        outs[i] = out_kind[i];
        outs[i].reg = b->value[out[i]].op.dst;
        outs[i].type = (uint8_t)hg_lane_typeof(b, out[i]);
    }
    *code = (hg_lane_code){op, outs, n_op, n_in, n_out, regs->count};
    return hg_lane_verify(code, e);
}
