/* cast.c - Cast: x converted to another element type. */
#include "op/op.h"
#include "op/op_formula.h"

#define CAST_TYPES (HG_TYPES_ANY & ~HG_TYPES_COMPLEX)

/* Cast-1: the type is a text, "FLOAT". */
static holo_status cast_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    static const char *const name[] = {"",        "FLOAT",  "UINT8",  "INT8",   "UINT16",
                                       "INT16",   "INT32",  "INT64",  "STRING", "BOOL",
                                       "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
    const hg_attr *to = hg_node_attr(hg_graph_node(g, id), "to");
    if (opset >= 6 || to == NULL || to->kind != HG_ATTR_STRING) return HOLO_OK;
    for (uint32_t i = 1; i < HG_COUNT(name); i++)
        if (hg_str_is(to->s, name[i])) return hg_graph_set_attr(g, id, hg_attr_make_int("to", i));
    return HOLO_OK; /* infer complains that it is no integer */
}

static holo_status cast_infer(hg_infer *n)
{
    int64_t to, saturate;
    hg_str mode;
    HG_TRY(hg_attr_int(n, "to", 0, &to));
    HG_TRY(hg_attr_int(n, "saturate", 1, &saturate));
    HG_TRY(hg_attr_string(n, "round_mode", "up", &mode));
    if (to <= 0 || to >= HOLO_SEQUENCE || !hg_dtype_is_valid((uint32_t)to))
        return hg_infer_fail(n, HOLO_E_MODEL, "'to' is %lld, which is no element type",
                             (long long)to);
    if (!hg_dtype_in((holo_dtype)to, CAST_TYPES))
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "conversion to %s is not supported",
                             holo_dtype_text((holo_dtype)to));
    if (!hg_str_is(mode, "up") && !hg_str_is(mode, "down") && !hg_str_is(mode, "nearest"))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "round_mode is \"%.*s\", expected up, down or nearest",
                             HG_STR_ARG(mode));
    n->out[0] = *n->in[0];
    n->out[0].dtype = (holo_dtype)to;
    return HOLO_OK;
}

/* A power of two: narrowing gives the next one above; the one below may be meant. */
static hg_lane_id cast_power(hg_formula *f, hg_lane_id x, bool saturate)
{
    hg_str mode = hg_node_string(f->node, "round_mode", "up");
    if (hg_str_is(mode, "up")) return hg_lane_narrow(f->b, x, HOLO_F8E8M0, saturate);
    bool down = hg_str_is(mode, "down");
    hg_lane_id high = hg_lane_narrow(f->b, x, HOLO_F8E8M0, true);
    hg_lane_id low = hg_lane_2(f->b, HG_LANE_MUL, high, hg_formula_number(f, x, 0.5));
    hg_lane_id limit = hg_formula_number(f, x, down ? 1.0 : 0.75);
    limit = hg_lane_2(f->b, HG_LANE_MUL, high, limit);
    hg_lane_id y = hg_lane_select(f->b, hg_lane_2(f->b, HG_LANE_LT, x, limit), low, high);
    if (!saturate && !down) {
        hg_lane_id top = hg_formula_number(f, x, 0x1.8p127);
        hg_lane_id twice = hg_lane_2(f->b, HG_LANE_ADD, x, x);
        y = hg_lane_select(f->b, hg_lane_2(f->b, HG_LANE_LE, top, x), twice, y);
    }
    return hg_lane_narrow(f->b, y, HOLO_F8E8M0, saturate);
}

/* Bits of a large integer that f64 has no room for show in the last one that it has. */
static hg_lane_id cast_sticky(hg_formula *f, hg_lane_id x)
{
    const hg_lane_type type = hg_lane_typeof(f->b, x);
    const int64_t large = INT64_C(1) << 52;
    hg_lane_id zero = hg_lane_const_i(f->b, type, 0), bit = hg_lane_const_i(f->b, type, 2048);
    hg_lane_id low = hg_lane_2(f->b, HG_LANE_AND, x, hg_lane_const_i(f->b, type, 2047));
    hg_lane_id high = hg_lane_2(f->b, HG_LANE_AND, x, hg_lane_const_i(f->b, type, -2048));
    bit = hg_lane_select(f->b, hg_lane_2(f->b, HG_LANE_EQ, low, zero), zero, bit);
    hg_lane_id y = hg_lane_2(f->b, HG_LANE_OR, high, bit);
    hg_lane_id is_small = hg_lane_2(f->b, HG_LANE_LT, x, hg_lane_const_i(f->b, type, large));
    if (type == HG_LANE_I64) {
        hg_lane_id least = hg_lane_const_i(f->b, type, -large);
        is_small = hg_lane_2(f->b, HG_LANE_AND, is_small, hg_lane_2(f->b, HG_LANE_LT, least, x));
    }
    return hg_lane_select(f->b, is_small, x, y);
}

/* Floats narrower than f32 are rounded from f32: a number that f32 does not hold becomes odd in it
 * first, and so is not rounded twice. */
static hg_lane_id cast_odd(hg_formula *f, hg_lane_id x)
{
    const hg_lane_type from = hg_lane_typeof(f->b, x);
    const bool is_narrow = hg_lane_type_of(f->out_dtype) == HG_LANE_F32 && f->out_dtype != HOLO_F32;
    const bool fits = from == HG_LANE_F32 || hg_dtype_bits(f->in_dtype[0]) <= 16;
    if (!is_narrow || fits) return x;
    if (from == HG_LANE_I64 || from == HG_LANE_U64) x = cast_sticky(f, x);
    return hg_lane_1(f->b, HG_LANE_ODD, hg_lane_cast(f->b, x, HG_LANE_F64));
}

static hg_lane_id cast_lane(hg_formula *f, const hg_lane_id *in)
{
    bool saturate = hg_node_int(f->node, "saturate", 1) != 0;
    hg_lane_id x = hg_formula_convert(f, cast_odd(f, in[0]), f->out_dtype);
    if (f->out_dtype == HOLO_F8E8M0) return cast_power(f, x, saturate);
    if (f->out_dtype == HOLO_F4E2M1) { /* has no NaN: -0 stands for it */
        hg_lane_id nan = hg_lane_1(f->b, HG_LANE_ISNAN, x);
        return hg_lane_select(f->b, nan, hg_formula_number(f, x, -0.0), x);
    }
    if (hg_dtype_in(f->out_dtype, HG_TYPES_FLOAT8))
        return hg_lane_narrow(f->b, x, f->out_dtype, saturate);
    return x;
}

/* A type that numbers of this type become exactly, and that text is made from or read as. */
static holo_dtype cast_wide(holo_dtype dtype)
{
    if (dtype == HOLO_F64 || dtype == HOLO_BOOL) return dtype;
    if (hg_dtype_is_float(dtype)) return HOLO_F32;
    return hg_dtype_is_unsigned_int(dtype) ? HOLO_U64 : HOLO_I64;
}

/* Text needs kernels of its own. */
static holo_status cast_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    holo_dtype from = hg_build_type(b, x)->dtype, to = (holo_dtype)hg_node_int(b->node, "to", 0);
    if ((from == HOLO_STRING) == (to == HOLO_STRING)) {
        if (from == HOLO_STRING) hg_build_replace(b, 0, x);
        return b->status;
    }
    if (to == HOLO_STRING) {
        hg_build_replace(b, 0,
                         hg_build_1(b, "holo:FormatNumber", hg_build_cast(b, x, cast_wide(from))));
        return b->status;
    }
    holo_dtype wide = to == HOLO_BOOL ? HOLO_I64 : cast_wide(to);
    if (wide == HOLO_F32 && to != HOLO_F32) wide = HOLO_F64; /* narrowed once, not by way of f32 */
    hg_attr attr = hg_attr_make_int("to", wide);
    hg_build_replace(b, 0,
                     hg_build_cast(b, hg_build_op(b, "holo:ParseNumber", &x, 1, &attr, 1), to));
    return b->status;
}

const hg_op hg_op_cast = {
    .name = "Cast",
    .brief = "x converted to another element type",
    .since = 1,
    .version = 25,
    .in = {1, 1},
    .out = {1, 1},
    .types = CAST_TYPES,
    .upgrade = cast_upgrade,
    .infer = cast_infer,
    .lane = cast_lane,
    .lower = cast_lower,
};
