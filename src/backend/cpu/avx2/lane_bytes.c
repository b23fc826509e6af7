/* lane_bytes.c - kernel "lane.bytes" on AVX2: registers are arrays of bytes, 32 of which are a
 * vector, where those of "lane" have four bytes for each value. Only operands of comparisons are
 * wider. The bits are the same. */
#include "kernel/lane_bytes.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_io.h"
#include "isa/lane_ops.h"

/* Elements of a vector: loops have no remainders. Rows below so many are not worth a call each. */
enum { BYTES_GROUP = 32, BYTES_ROW = 64 };

/* ---- loops ----------------------------------------------------------------------------------- */

#define BYTES_2(name, T, expression)                                                               \
    static void bytes_##name(uint8_t *HG_RESTRICT d, const void *HG_RESTRICT a_,                   \
                             const void *HG_RESTRICT b_, const void *HG_RESTRICT c_, int64_t n)    \
    {                                                                                              \
        const T *HG_RESTRICT a = a_, *HG_RESTRICT b = b_;                                          \
        (void)c_;                                                                                  \
        n &= -BYTES_GROUP; /* it is so already: tells the compiler */                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i], y = b[i];                                                            \
            d[i] = (uint8_t)(expression);                                                          \
        }                                                                                          \
    }
#define BYTES_COMPARE(T, s)                                                                        \
    BYTES_2(eq_##s, T, x == y)                                                                     \
    BYTES_2(lt_##s, T, x < y)                                                                      \
    BYTES_2(le_##s, T, x <= y)
BYTES_COMPARE(float, f32)
BYTES_COMPARE(int32_t, i32)
BYTES_COMPARE(int64_t, i64)
BYTES_COMPARE(uint8_t, u8)
BYTES_2(lt_i8, int8_t, x < y)
BYTES_2(le_i8, int8_t, x <= y)
BYTES_2(min_u8, uint8_t, x < y ? x : y)
BYTES_2(max_u8, uint8_t, x > y ? x : y)
BYTES_2(min_i8, int8_t, x < y ? x : y)
BYTES_2(max_i8, int8_t, x > y ? x : y)
BYTES_2(and, uint8_t, x &y)
BYTES_2(or, uint8_t, x | y)
BYTES_2(xor, uint8_t, x ^ y)
#undef BYTES_COMPARE
#undef BYTES_2

/* The second operand is one number. */
#define BYTES_ONE(name, sign)                                                                      \
    static void bytes_##name##_one(uint8_t *HG_RESTRICT d, const void *HG_RESTRICT a_,             \
                                   const void *HG_RESTRICT b_, const void *HG_RESTRICT c_,         \
                                   int64_t n)                                                      \
    {                                                                                              \
        const float *HG_RESTRICT a = a_;                                                           \
        const float y = *(const float *)b_;                                                        \
        (void)c_;                                                                                  \
        n &= -BYTES_GROUP;                                                                         \
        for (int64_t i = 0; i < n; i++)                                                            \
            d[i] = a[i] sign y;                                                                    \
    }
BYTES_ONE(eq, ==)
BYTES_ONE(lt, <)
BYTES_ONE(le, <=)
#undef BYTES_ONE

static void bytes_select(uint8_t *HG_RESTRICT d, const void *HG_RESTRICT a_,
                         const void *HG_RESTRICT b_, const void *HG_RESTRICT c_, int64_t n)
{
    const uint8_t *HG_RESTRICT a = a_, *HG_RESTRICT b = b_, *HG_RESTRICT c = c_;
    n &= -BYTES_GROUP;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t y = b[i], z = c[i];
        d[i] = a[i] != 0 ? y : z;
    }
}

/* 0 stays, all others become 1. */
static void bytes_truth(uint8_t *HG_RESTRICT d, const uint8_t *HG_RESTRICT a, int64_t n)
{
    n &= -BYTES_GROUP;
    for (int64_t i = 0; i < n; i++)
        d[i] = a[i] < 1 ? a[i] : 1;
}

typedef void (*bytes_fn)(uint8_t *HG_RESTRICT d, const void *HG_RESTRICT a,
                         const void *HG_RESTRICT b, const void *HG_RESTRICT c, int64_t n);

/* Of bytes, or of the wider values that a comparison takes; is_one: b repeats. */
static bytes_fn bytes_fn_of(const hg_lane_op *op, bool is_wide, bool is_one, bool is_signed)
{
    const bool f32 = op->type == HG_LANE_F32, i64 = op->type == HG_LANE_I64;
    if (f32 && is_one)
        return op->op == HG_LANE_EQ   ? bytes_eq_one
               : op->op == HG_LANE_LT ? bytes_lt_one
                                      : bytes_le_one;
    switch (op->op) {
    case HG_LANE_EQ:
        return !is_wide ? bytes_eq_u8 : f32 ? bytes_eq_f32 : i64 ? bytes_eq_i64 : bytes_eq_i32;
    case HG_LANE_LT:
        if (!is_wide) return is_signed ? bytes_lt_i8 : bytes_lt_u8;
        return f32 ? bytes_lt_f32 : i64 ? bytes_lt_i64 : bytes_lt_i32;
    case HG_LANE_LE:
        if (!is_wide) return is_signed ? bytes_le_i8 : bytes_le_u8;
        return f32 ? bytes_le_f32 : i64 ? bytes_le_i64 : bytes_le_i32;
    case HG_LANE_MIN: return is_signed ? bytes_min_i8 : bytes_min_u8;
    case HG_LANE_MAX: return is_signed ? bytes_max_i8 : bytes_max_u8;
    case HG_LANE_AND: return bytes_and;
    case HG_LANE_OR: return bytes_or;
    case HG_LANE_XOR: return bytes_xor;
    default: return bytes_select;
    }
}

/* ---- a row of a tile --------------------------------------------------------------------------
 */

typedef struct bytes_state {
    const hg_lane_code *code;
    const hg_lane_tile *tile;
    hg_lane_bytes known;
    int64_t most;                     /* elements of a block, whole groups */
    int64_t row, col, n;              /* the current block */
    int64_t filled;                   /* row of the block before, -1: there was none */
    bool is_direct;                   /* the last operation may write straight into the output */
    uint8_t *spare;                   /* the slot that belongs to no register */
    uint8_t *own[HG_LANE_MAX_REG];    /* the slot that belongs to the register */
    const void *at[HG_LANE_MAX_REG];  /* its current value */
    bool is_wide[HG_LANE_MAX_REG];    /* which has 4 or 8 bytes for each element */
    bool is_one[HG_LANE_MAX_REG];     /* which repeats */
    uint8_t writers[HG_LANE_MAX_REG]; /* operations that write it: 0, 1, 2 or more */
} bytes_state;

static int64_t bytes_padded(int64_t n)
{
    return (n + BYTES_GROUP - 1) & -BYTES_GROUP;
}

/* Copies of one value, the same one in each row or not, unless they are there already. */
static const void *bytes_fill(const bytes_state *s, const hg_lane_op *op, const void *value,
                              size_t width, bool is_same)
{
    uint8_t *d = s->own[op->dst];
    if (s->writers[op->dst] == 1 && (is_same ? s->filled >= 0 : s->filled == s->row)) return d;
    if (width == 1)
        memset(d, *(const uint8_t *)value, (size_t)s->most);
    else
        hg_lane_splat(d, value, width, s->most);
    return d;
}

/* Elements of an operand: where they lie, or in a slot if they repeat, or are too few for a vector,
 * or may be other truths than 0 and 1. */
static const void *bytes_load(const bytes_state *s, const hg_lane_op *op)
{
    const hg_lane_view *v = &s->tile->in[op->index];
    const size_t width = hg_dtype_bits(v->dtype) / 8;
    const uint8_t *from =
        (const uint8_t *)v->data + (v->first + s->row * v->row + s->col * v->col) * (int64_t)width;
    uint8_t *d = s->own[op->dst];
    if (v->col == 0) {
        const uint8_t truth = *from != 0;
        return bytes_fill(s, op, v->dtype == HOLO_BOOL ? &truth : from, width, v->row == 0);
    }
    const bool is_part = s->n % BYTES_GROUP != 0, is_bool = v->dtype == HOLO_BOOL;
    if (is_part) from = memcpy(is_bool ? s->spare : d, from, (size_t)s->n * width);
    if (!is_bool) return from;
    bytes_truth(d, from, bytes_padded(s->n));
    return d;
}

static const void *bytes_const(const bytes_state *s, const hg_lane_op *op, bool is_wide)
{
    const uint32_t low = (uint32_t)op->imm;
    const uint8_t byte = (uint8_t)low;
    if (!is_wide) return bytes_fill(s, op, &byte, 1, true);
    if (hg_lane_width(op->type) == 4) return bytes_fill(s, op, &low, 4, true);
    return bytes_fill(s, op, &op->imm, 8, true);
}

/* Operation i; direct: where its bytes go, NULL: into a slot. */
static void bytes_step(bytes_state *s, uint32_t i, uint8_t *direct)
{
    const hg_lane_op *op = &s->code->op[i];
    const bool is_wide = (s->known.wide >> i & 1) != 0;
    if (op->op == HG_LANE_LOAD) {
        s->at[op->dst] = bytes_load(s, op);
    } else if (op->op == HG_LANE_CONST) {
        s->at[op->dst] = bytes_const(s, op, is_wide);
    } else {
        uint8_t *d = direct != NULL ? direct : s->spare;
        bytes_fn_of(op, s->is_wide[op->a], s->is_one[op->b], s->known.is_signed)(
            d, s->at[op->a], s->at[op->b], s->at[op->c], bytes_padded(s->n));
        s->at[op->dst] = d;
        if (d == s->spare) {
            s->spare = s->own[op->dst];
            s->own[op->dst] = d;
        }
    }
    s->is_wide[op->dst] = is_wide;
    s->is_one[op->dst] =
        op->op == HG_LANE_CONST || (op->op == HG_LANE_LOAD && s->tile->in[op->index].col == 0);
}

static void bytes_block(bytes_state *s)
{
    const hg_lane_code *code = s->code;
    const hg_lane_view *v = s->tile->out;
    const uint32_t last = code->n_op - 1;
    const uint16_t reg = code->out[0].reg;
    uint8_t *out = (uint8_t *)v->data + v->first + s->row * v->row + s->col;
    const bool is_direct = s->is_direct && s->n % BYTES_GROUP == 0 && code->op[last].dst == reg;
    for (uint32_t i = 0; i < last; i++)
        bytes_step(s, i, NULL);
    bytes_step(s, last, is_direct ? out : NULL);
    const uint8_t *from = s->at[reg];
    if (from == out) return;
    if (s->known.wants_bool) {
        bytes_truth(s->spare, from, bytes_padded(s->n));
        from = s->spare;
    }
    memcpy(out, from, (size_t)s->n);
}

static void bytes_begin(bytes_state *s, const hg_lane_code *code, const hg_lane_tile *tile)
{
    const hg_lane_slot room = hg_lane_slot_of(code);
    uint8_t *slot = tile->scratch;
    s->code = code;
    s->tile = tile;
    s->most = hg_min(room.elements, bytes_padded(tile->cols));
    s->filled = -1;
    s->is_direct = !s->known.wants_bool;
    for (uint32_t i = 0; i < code->n_in; i++)
        s->is_direct = s->is_direct && tile->in[i].data != tile->out[0].data;
    for (uint32_t i = 0; i < code->n_reg; i++, slot += room.bytes) {
        s->own[i] = slot;
        s->at[i] = slot;
        s->writers[i] = 0;
    }
    s->spare = slot;
    for (uint32_t i = 0; i < code->n_op; i++) {
        uint8_t *writers = &s->writers[code->op[i].dst];
        *writers = *writers == 0 ? 1 : 2;
    }
}

/* Every operand lies side by side or repeats, as broadcast ones do; rows are worth a call each. */
static bool bytes_fits(const hg_lane_code *code, const hg_lane_tile *tile, hg_lane_bytes *known)
{
    holo_dtype in[HG_LANE_MAX_IO];
    if ((tile->rows > 1 && tile->cols < BYTES_ROW) || tile->out[0].col != 1) return false;
    for (uint32_t i = 0; i < code->n_in; i++) {
        in[i] = tile->in[i].dtype;
        if (tile->in[i].col != 0 && tile->in[i].col != 1) return false;
    }
    return hg_lane_bytes_read(code, in, &tile->out[0].dtype, known);
}

static void bytes_tile(const hg_lane_code *code, const hg_lane_tile *tile)
{
    bytes_state s;
    if (!bytes_fits(code, tile, &s.known)) {
        hg_lane_run_avx2(code, tile);
        return;
    }
    bytes_begin(&s, code, tile);
    for (s.row = 0; s.row < tile->rows; s.row++)
        for (s.col = 0; s.col < tile->cols; s.col += s.n) {
            s.n = hg_min(s.most, tile->cols - s.col);
            if (s.n >= BYTES_GROUP) s.n &= -BYTES_GROUP;
            bytes_block(&s);
            s.filled = s.row;
        }
}

static void bytes_run(const hg_args *a, hg_range r)
{
    hg_kernel_lane_run(a, r, bytes_tile);
}

const hg_kernel hg_kernels_lane_bytes_avx2[] = {
    {
        .name = "lane.bytes",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_lane_check,
        .units = hg_kernel_lane_units,
        .scratch = hg_kernel_lane_scratch,
        .cost = hg_kernel_lane_bytes_cost,
        .run = bytes_run,
    },
    {0},
};
