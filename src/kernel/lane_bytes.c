/* lane_bytes.c - kernel "lane.bytes": "lane" for bodies whose values are truths or 8-bit integers,
 * or comparisons of wider numbers that give truths. It has a name of its own so that only programs
 * with such bodies link the tuned code for them; it runs any body, since the constants, which a
 * check does not see, decide whether values fit a byte. */
#include "kernel/lane_bytes.h"

/* ---- which bodies ---------------------------------------------------------------------------- */

/* What a register holds. */
typedef enum bytes_kind {
    BYTES_NONE,
    BYTES_WIDE,
    BYTES_BYTE,
    BYTES_CONST /* an i32, of which nobody has said yet how wide it is */
} bytes_kind;

typedef struct bytes_reader {
    const hg_lane_code *code;
    hg_lane_bytes *out;
    uint8_t kind[HG_LANE_MAX_REG], writer[HG_LANE_MAX_REG];
    bool is_truth[HG_LANE_MAX_REG];
    bool has_u8;
    int64_t low, high; /* of constants that are bytes */
} bytes_reader;

static bool bytes_load(bytes_reader *r, uint32_t i, holo_dtype dtype)
{
    const uint16_t reg = r->code->op[i].dst;
    r->kind[reg] = BYTES_BYTE;
    r->is_truth[reg] = dtype == HOLO_BOOL;
    r->has_u8 |= dtype == HOLO_U8;
    r->out->is_signed |= dtype == HOLO_I8;
    if (hg_dtype_in(dtype, HG_TYPE_BIT(HOLO_BOOL) | HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8)))
        return true;
    r->kind[reg] = BYTES_WIDE;
    r->out->wide |= 1U << i;
    return hg_dtype_in(dtype,
                       HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64));
}

static bool bytes_const(bytes_reader *r, uint32_t i)
{
    const hg_lane_op *op = &r->code->op[i];
    r->kind[op->dst] = op->type == HG_LANE_I32 ? BYTES_CONST : BYTES_WIDE;
    r->is_truth[op->dst] = op->imm <= 1;
    if (op->type != HG_LANE_I32) r->out->wide |= 1U << i;
    return op->type == HG_LANE_I32 || op->type == HG_LANE_F32 || op->type == HG_LANE_I64;
}

/* The register is read as such; false: it is something else. */
static bool bytes_want(bytes_reader *r, uint16_t reg, bytes_kind kind)
{
    if (r->kind[reg] == BYTES_CONST) {
        const uint32_t i = r->writer[reg];
        const int64_t value = (int32_t)(uint32_t)r->code->op[i].imm;
        r->kind[reg] = (uint8_t)kind;
        if (kind == BYTES_WIDE) {
            r->out->wide |= 1U << i;
        } else {
            r->low = hg_min(r->low, value);
            r->high = hg_max(r->high, value);
        }
    }
    return r->kind[reg] == kind;
}

static bool bytes_op(bytes_reader *r, const hg_lane_op *op)
{
    const bool compares = op->op == HG_LANE_EQ || op->op == HG_LANE_LT || op->op == HG_LANE_LE;
    const bool joins = op->op == HG_LANE_AND || op->op == HG_LANE_OR || op->op == HG_LANE_XOR ||
                       op->op == HG_LANE_MIN || op->op == HG_LANE_MAX;
    const bool is_wide = compares && (r->kind[op->a] == BYTES_WIDE || r->kind[op->b] == BYTES_WIDE);
    const bytes_kind kind = is_wide ? BYTES_WIDE : BYTES_BYTE;
    bool truth = r->is_truth[op->a] && r->is_truth[op->b];
    if (!bytes_want(r, op->a, kind) || !bytes_want(r, op->b, kind)) return false;
    if (op->op == HG_LANE_SELECT) {
        if (!bytes_want(r, op->c, BYTES_BYTE)) return false;
        truth = r->is_truth[op->b] && r->is_truth[op->c];
    }
    r->kind[op->dst] = BYTES_BYTE;
    r->is_truth[op->dst] = truth || compares;
    return compares || ((joins || op->op == HG_LANE_SELECT) && op->type == HG_LANE_I32);
}

bool hg_lane_bytes_read(const hg_lane_code *code, const holo_dtype *in, const holo_dtype *out,
                        hg_lane_bytes *bytes)
{
    bytes_reader r = {.code = code, .out = bytes};
    *bytes = (hg_lane_bytes){.wide = 0};
    if (code->n_op > HG_LANE_BYTES_OPS || code->n_out != 1 || code->out[0].saturate != 0)
        return false;
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        const bool fits = op->op == HG_LANE_CONST  ? bytes_const(&r, i)
                          : op->op == HG_LANE_LOAD ? bytes_load(&r, i, in[op->index])
                                                   : bytes_op(&r, op);
        if (!fits) return false;
        r.writer[op->dst] = (uint8_t)i;
    }
    const uint16_t reg = code->out[0].reg;
    bytes->wants_bool = out[0] == HOLO_BOOL && !r.is_truth[reg];
    return r.kind[reg] == BYTES_BYTE && hg_dtype_bits(out[0]) == 8 && !hg_dtype_is_float(out[0]) &&
           !(bytes->is_signed && r.has_u8) && r.low >= (bytes->is_signed ? INT8_MIN : 0) &&
           r.high <= (bytes->is_signed ? INT8_MAX : UINT8_MAX);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* An operation on 32 bytes takes a vector, as one on eight floats does. */
void hg_kernel_lane_bytes_cost(const hg_args *a, hg_cost *cost)
{
    hg_kernel_lane_cost(a, cost);
    cost->flops /= 4;
}

static void lane_bytes_run(const hg_args *a, hg_range r)
{
    hg_kernel_lane_run(a, r, hg_lane_run);
}

const hg_kernel hg_kernels_lane_bytes[] = {
    {
        .name = "lane.bytes",
        .flags = HG_KERNEL_INPLACE,
        .check = hg_kernel_lane_check,
        .units = hg_kernel_lane_units,
        .scratch = hg_kernel_lane_scratch,
        .cost = hg_kernel_lane_bytes_cost,
        .run = lane_bytes_run,
    },
    {0},
};
