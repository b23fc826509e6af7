/* lane.c - lane code as statements of C, one for each operation: what a kernel does to an element.
 * The expressions are those of isa/lane_ops.inc. */
#include "source/source.h"

#include <inttypes.h>

/* The C of an operation on x and y (and z); T is the type, U the unsigned one as wide. "$" in front
 * of a function needs a helper. */
typedef struct lane_form {
    uint8_t op;
    const char *on_float, *on_int;
    const char *on_u64; /* where it differs from on_int */
} lane_form;

/* clang-format off */
static const lane_form lane_forms[] = {
    {HG_LANE_ADD, "x + y", "(T)((U)x + (U)y)", NULL},
    {HG_LANE_SUB, "x - y", "(T)((U)x - (U)y)", NULL},
    {HG_LANE_MUL, "x * y", "(T)((U)x * (U)y)", NULL},
    {HG_LANE_DIV, "x / y", "y == -1 ? (T)(0 - (U)x) : x / y", "x / y"},
    {HG_LANE_MOD, NULL, "y == -1 ? 0 : x % y + (x % y != 0 && (x ^ y) < 0 ? y : 0)", "x % y"},
    {HG_LANE_REM, "$fmod(x, y)", "y == -1 ? 0 : x % y", "x % y"},
    {HG_LANE_MIN, "x != x ? x : (x < y ? x : y)", "x < y ? x : y", NULL},
    {HG_LANE_MAX, "x != x ? x : (x > y ? x : y)", "x > y ? x : y", NULL},
    {HG_LANE_POW, "$pow(x, y)", "$pow(x, y)", NULL},
    {HG_LANE_ATAN2, "$atan2(x, y)", NULL, NULL},
    {HG_LANE_NEG, "-x", "(T)(0 - (U)x)", NULL},
    {HG_LANE_ABS, "$abs(x)", "(T)(x < 0 ? 0 - (U)x : (U)x)", "x"},
    {HG_LANE_SIGN, "x > 0 ? 1 : (x < 0 ? -1 : (x == 0 ? 0 : x))", "(x > 0) - (x < 0)", "x != 0"},
    {HG_LANE_FLOOR, "$floor(x)", NULL, NULL},
    {HG_LANE_CEIL, "$ceil(x)", NULL, NULL},
    {HG_LANE_ROUND, "$round(x)", NULL, NULL},
    {HG_LANE_TRUNC, "$trunc(x)", NULL, NULL},
    {HG_LANE_SQRT, "$sqrt(x)", NULL, NULL},
    {HG_LANE_RECIP, "1 / x", NULL, NULL},
    {HG_LANE_EXP, "$exp(x)", NULL, NULL},
    {HG_LANE_LOG, "$log(x)", NULL, NULL},
    {HG_LANE_SIN, "$sin(x)", NULL, NULL},
    {HG_LANE_COS, "$cos(x)", NULL, NULL},
    {HG_LANE_TAN, "$tan(x)", NULL, NULL},
    {HG_LANE_ASIN, "$asin(x)", NULL, NULL},
    {HG_LANE_ACOS, "$acos(x)", NULL, NULL},
    {HG_LANE_ATAN, "$atan(x)", NULL, NULL},
    {HG_LANE_SINH, "$sinh(x)", NULL, NULL},
    {HG_LANE_COSH, "$cosh(x)", NULL, NULL},
    {HG_LANE_TANH, "$tanh(x)", NULL, NULL},
    {HG_LANE_ASINH, "$asinh(x)", NULL, NULL},
    {HG_LANE_ACOSH, "$acosh(x)", NULL, NULL},
    {HG_LANE_ATANH, "$atanh(x)", NULL, NULL},
    {HG_LANE_ERF, "$erf(x)", NULL, NULL},
    {HG_LANE_SIGMOID, "$sigmoid(x)", NULL, NULL},
    {HG_LANE_EXPM1, "$expm1(x)", NULL, NULL},
    {HG_LANE_LOG1P, "$log1p(x)", NULL, NULL},
    {HG_LANE_ISNAN, "x != x", NULL, NULL},
    {HG_LANE_ISINF, "$abs(x) == (T)INFINITY", NULL, NULL},
    {HG_LANE_EQ, "x == y", "x == y", NULL},
    {HG_LANE_LT, "x < y", "x < y", NULL},
    {HG_LANE_LE, "x <= y", "x <= y", NULL},
    {HG_LANE_AND, NULL, "x & y", NULL},
    {HG_LANE_OR, NULL, "x | y", NULL},
    {HG_LANE_XOR, NULL, "x ^ y", NULL},
    {HG_LANE_NOT, NULL, "~x", NULL},
    {HG_LANE_SHL, NULL, "(U)y < W ? (T)((U)x << ((U)y & (W - 1))) : 0", NULL},
    {HG_LANE_SHR, NULL, "x >> ((U)y < W ? (U)y : W - 1)", "y < 64 ? x >> (y & 63) : 0"},
    {HG_LANE_SELECT, "x != 0 ? y : z", "x != 0 ? y : z", NULL},
};

/* Conversions from floats; all others are plain casts. */
static const char *const lane_to_int[6][3] = {
    [HG_LANE_I32] = {NULL, "x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN",
                     "x > -0x1.00000002p31 && x < 0x1p31 ? (int32_t)x : INT32_MIN"},
    [HG_LANE_I64] = {NULL, "x >= -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN",
                     "x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN"},
    [HG_LANE_U64] = {NULL, "x > -1 && x < 0x1p64f ? (uint64_t)x : 0",
                     "x > -1 && x < 0x1p64 ? (uint64_t)x : 0"},
};
/* clang-format on */

/* On float these are the functions on double, rounded. */
static bool lane_is_rounded(uint8_t op)
{
    return (op >= HG_LANE_ASIN && op <= HG_LANE_COSH) ||
           (op >= HG_LANE_ASINH && op <= HG_LANE_ATANH) || op == HG_LANE_ATAN2 || op == HG_LANE_REM;
}

static const lane_form *lane_find(uint8_t op)
{
    for (size_t i = 0; i < HG_COUNT(lane_forms); i++)
        if (lane_forms[i].op == op) return &lane_forms[i];
    return NULL;
}

static bool lane_is_float(uint32_t type)
{
    return type == HG_LANE_F32 || type == HG_LANE_F64;
}

/* "$exp" as "hg_exp_f32", and it is needed; how many letters of the form it took. */
static size_t lane_function(hg_source *s, hg_ctext *out, const char *form, uint8_t op,
                            uint32_t type)
{
    static const char *const suffix[] = {"", "f32", "f64", "i32", "i64", "u64"};
    size_t n = 1;
    while (hg_source_is_word(form[n]))
        n++;
    bool is_rounded = type == HG_LANE_F32 && lane_is_rounded(op);
    hg_ctext name;
    hg_ctext_set(&name, "hg_%.*s_%s", (int)n - 1, form + 1, is_rounded ? "f64" : suffix[type]);
    hg_source_need(s, name.text);
    hg_ctext_add(out, "%s%s", is_rounded ? "(float)" : "", name.text);
    return n;
}

/* A form with its letters replaced: x, y, z are variables, T, U types, W the width. */
static void lane_expand(hg_source *s, hg_ctext *out, const char *form, const hg_lane_op *op,
                        const hg_ctext operand[3])
{
    bool is_wide = op->type == HG_LANE_I64 || op->type == HG_LANE_U64;
    bool after_word = false;
    out->text[0] = '\0';
    for (const char *c = form; *c != '\0'; c++) {
        bool is_alone = !after_word && !hg_source_is_word(c[1]);
        after_word = hg_source_is_word(*c);
        if (*c == '$')
            c += lane_function(s, out, c, op->op, op->type) - 1;
        else if (is_alone && *c >= 'x' && *c <= 'z')
            hg_ctext_add(out, "%s", operand[*c - 'x'].text);
        else if (is_alone && *c == 'T')
            hg_ctext_add(out, "%s", hg_source_lane_ctype(op->type));
        else if (is_alone && *c == 'U')
            hg_ctext_add(out, "%s", is_wide ? "uint64_t" : "uint32_t");
        else if (is_alone && *c == 'W')
            hg_ctext_add(out, "%s", is_wide ? "64" : "32");
        else
            hg_ctext_add(out, "%c", *c);
    }
}

static void lane_const(hg_ctext *out, const hg_lane_op *op)
{
    if (op->type == HG_LANE_F32) {
        float f32;
        uint32_t low = (uint32_t)op->imm;
        memcpy(&f32, &low, sizeof f32);
        hg_source_f32(out, f32);
    } else if (op->type == HG_LANE_F64) {
        double f64;
        memcpy(&f64, &op->imm, sizeof f64);
        hg_source_f64(out, f64);
    } else {
        hg_source_int(out, op->type, op->imm);
    }
}

static bool lane_narrow(hg_source *s, hg_ctext *out, const hg_lane_op *op, const char *value)
{
    hg_ctext narrow;
    holo_dtype dtype = (holo_dtype)op->index;
    if (hg_source_ctype(dtype) == NULL)
        return hg_source_refuse(s, "type %s", holo_dtype_text(dtype));
    hg_source_narrow(s, &narrow, dtype, value, op->imm != 0);
    hg_source_widen(s, out, dtype, narrow.text);
    if (dtype == HOLO_BOOL) hg_ctext_set(out, "%s", narrow.text);
    return true;
}

/* Where the code stands: which variable holds each register. */
typedef struct lane_state {
    const char *pair[2]; /* operands of hg_source_combine, or NULL */
    const char *result;  /* operand 0, or NULL */
    uint32_t first;      /* in[first] is operand 1, or operand 0 without a result */
    uint32_t variable[HG_LANE_MAX_REG];
} lane_state;

static void lane_load(hg_source *s, const lane_state *l, uint32_t operand, hg_ctext *out)
{
    hg_ctext index;
    if (l->pair[0] != NULL) {
        hg_ctext_set(out, "%s", l->pair[operand]);
        return;
    }
    if (l->result != NULL && operand == 0) {
        hg_ctext_set(out, "%s", l->result);
        return;
    }
    uint32_t i = l->first + operand - (l->result != NULL ? 1 : 0);
    hg_source_at(&index, &s->args->in[i], &s->args->out[0]);
    hg_source_load(s, out, i, index.text);
}

static void lane_index(hg_source *s, hg_ctext *out)
{
    hg_ctext index;
    hg_source_at(&index, &s->args->out[0], &s->args->out[0]);
    hg_ctext_set(out, "(int64_t)(%s)", index.text);
}

/* The expression of one operation. */
static bool lane_value(hg_source *s, const lane_state *l, const hg_lane_op *op, hg_ctext *out)
{
    hg_ctext operand[3];
    const uint16_t reg[3] = {op->a, op->b, op->c};
    for (int k = 0; k < 3; k++)
        hg_ctext_set(&operand[k], "t%" PRIu32, l->variable[reg[k]]);
    switch (op->op) {
    case HG_LANE_LOAD: lane_load(s, l, op->index, out); return true;
    case HG_LANE_CONST: lane_const(out, op); return true;
    case HG_LANE_INDEX: lane_index(s, out); return true;
    case HG_LANE_NARROW: return lane_narrow(s, out, op, operand[0].text);
    case HG_LANE_ODD:
        hg_ctext_set(out, op->type == HG_LANE_F64 ? "(double)hg_f64_to_f32_odd(%s)" : "%s",
                     operand[0].text);
        if (op->type == HG_LANE_F64) hg_source_need(s, "hg_f64_to_f32_odd");
        return true;
    case HG_LANE_CAST:
        if (lane_is_float(op->index) && !lane_is_float(op->type))
            lane_expand(s, out, lane_to_int[op->type][op->index], op, operand);
        else
            hg_ctext_set(out, "(%s)%s", hg_source_lane_ctype(op->type), operand[0].text);
        return true;
    default: break;
    }
    const lane_form *form = lane_find(op->op);
    const char *text = form == NULL                                      ? NULL
                       : lane_is_float(op->type)                         ? form->on_float
                       : op->type == HG_LANE_U64 && form->on_u64 != NULL ? form->on_u64
                                                                         : form->on_int;
    if (text == NULL) return hg_source_refuse(s, "lane operation %s", hg_lane_op_text(op->op));
    lane_expand(s, out, text, op, operand);
    return true;
}

static bool lane_divides(const hg_lane_op *op)
{
    return !lane_is_float(op->type) &&
           (op->op == HG_LANE_DIV || op->op == HG_LANE_MOD || op->op == HG_LANE_REM);
}

/* The statements, and the stores to element `index`. */
static bool lane_statements(hg_source *s, lane_state *l, const char *index)
{
    const hg_lane_code *code = s->args->code;
    hg_ctext value;
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        uint32_t type = hg_lane_op_result(op->op, op->type);
        if (lane_divides(op)) {
            s->faults[s->step] = 1;
            hg_source_line(s, "if (t%" PRIu32 " == 0) return 1;", l->variable[op->b]);
        }
        if (!lane_value(s, l, op, &value)) return false;
        hg_source_line(s, "const %s t%" PRIu32 " = %s;", hg_source_lane_ctype(type), i, value.text);
        l->variable[op->dst] = i;
    }
    for (uint32_t i = 0; i < code->n_out; i++) {
        hg_ctext_set(&value, "t%" PRIu32, l->variable[code->out[i].reg]);
        hg_source_store(s, i, index, value.text, code->out[i].saturate != 0);
    }
    return true;
}

bool hg_source_lane(hg_source *s, const char *result, uint32_t first)
{
    lane_state l = {.result = result, .first = first};
    hg_ctext index;
    hg_source_at(&index, &s->args->out[0], &s->args->out[0]);
    return lane_statements(s, &l, index.text);
}

bool hg_source_combine(hg_source *s, const char *old, const char *update, const char *index)
{
    lane_state l = {.pair = {old, update}};
    return lane_statements(s, &l, index);
}

bool hg_source_finish(hg_source *s, const char *result, uint32_t first_extra)
{
    hg_ctext index;
    if (s->args->code != NULL) return hg_source_lane(s, result, first_extra);
    hg_source_at(&index, &s->args->out[0], &s->args->out[0]);
    hg_source_store(s, 0, index.text, result, false);
    return true;
}

static bool lane_write(hg_source *s, const hg_args *a)
{
    int levels = hg_source_for_dims(s, &a->out[0], 0, a->out[0].rank);
    bool ok = hg_source_lane(s, NULL, 0);
    hg_source_close(s, levels);
    return ok;
}

const hg_source_kernel hg_source_kernels_lane[] = {
    {"lane", lane_write},
    {"lane.bytes", lane_write},
    {0},
};
