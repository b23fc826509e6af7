/* chains.c - ten thousand random chains: what they collapse to equals them on the whole domain.
 *
 * A chain starts with all codes of a type, one row a channel, and goes through casts, quantisation,
 * arithmetic with scalars and per-channel constants, functions, bit operations, movement and joins
 * with its own earlier values; some have two results. Both graphs, as written and collapsed, are
 * run node by node by the reference kernels; of one in eight the tables that byte operations equal
 * have become these. */
#include "whole.h"

#include "../test.h"
#include "table/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CHAIN_VALUES = 24, CHAIN_TEXT = 8192, CHAIN_ROWS = 3 };

typedef struct chain_value {
    holo_dtype dtype;
    int64_t dim[2];
    int32_t place; /* values of one place may be joined */
} chain_value;

typedef struct chain_maker {
    uint64_t seed;
    char text[CHAIN_TEXT];
    size_t used;
    chain_value value[CHAIN_VALUES];
    uint32_t n_value, n_const;
    int32_t n_place;
} chain_maker;

/* ---- drawing ---------------------------------------------------------------------------------
 */

static uint32_t chain_draw(chain_maker *m, uint32_t n)
{
    m->seed ^= m->seed << 13;
    m->seed ^= m->seed >> 7;
    m->seed ^= m->seed << 17;
    return (uint32_t)((m->seed >> 33) % n);
}

static double chain_number(chain_maker *m)
{
    static const double numbers[] = {0.05, 0.5, 1, -1, 2, 0.1, 3.5, 100, -0.25, 0, 7, 1e-3};
    return numbers[chain_draw(m, HG_COUNT(numbers))];
}

static void chain_add(chain_maker *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    m->used += (size_t)vsnprintf(m->text + m->used, CHAIN_TEXT - m->used, format, list);
    va_end(list);
}

static bool chain_is_float(holo_dtype t)
{
    return t == HOLO_F32 || t == HOLO_F16 || t == HOLO_BF16;
}

/* ---- pieces ----------------------------------------------------------------------------------
 */

static uint32_t chain_next(chain_maker *m, const chain_value *like, holo_dtype dtype)
{
    m->value[m->n_value] = *like;
    m->value[m->n_value].dtype = dtype;
    return m->n_value++;
}

/* A constant of the type: one number, or one a channel. */
static uint32_t chain_const(chain_maker *m, const chain_value *v, bool is_small)
{
    const bool is_float = chain_is_float(v->dtype);
    const uint32_t number = m->n_const++;
    const uint32_t count = chain_draw(m, 4) == 0 ? CHAIN_ROWS : 1;
    chain_add(m, "  %%c%u = const %s[", number, holo_dtype_text(v->dtype));
    if (count != 1)
        for (int k = 0; k < 2; k++)
            chain_add(m, "%s%d", k == 0 ? "" : ",", v->dim[k] == CHAIN_ROWS ? CHAIN_ROWS : 1);
    chain_add(m, "] {");
    for (uint32_t i = 0; i < count; i++) {
        chain_add(m, i == 0 ? "" : ", ");
        if (is_float)
            chain_add(m, "%g", chain_number(m) + (is_small ? 0.0 : 0.5));
        else
            chain_add(m, "%u", chain_draw(m, is_small ? 8 : 100));
    }
    chain_add(m, "}\n");
    return number;
}

static void chain_unary(chain_maker *m, uint32_t at)
{
    static const char *const names[] = {
        "Sigmoid", "Tanh",  "Relu",      "Exp",        "Sqrt",     "Abs",       "Neg", "Floor",
        "Ceil",    "Round", "Erf",       "Sin",        "Softplus", "HardSwish", "Elu", "Mish",
        "Log",     "Sign",  "LeakyRelu", "Reciprocal", "Atan",     "Softsign"};
    const chain_value v = m->value[at];
    const char *name = names[chain_draw(m, HG_COUNT(names))];
    chain_add(m, "  %%v%u = %s(%%v%u)\n", chain_next(m, &v, v.dtype), name, at);
}

static void chain_binary(chain_maker *m, uint32_t at)
{
    static const char *const names[] = {"Add", "Sub", "Mul", "Max", "Min", "Div", "Pow"};
    const chain_value v = m->value[at];
    const bool is_float = chain_is_float(v.dtype);
    const char *name = names[chain_draw(m, is_float ? 7 : 5)];
    const uint32_t c = chain_const(m, &v, true);
    const bool flip = chain_draw(m, 4) == 0;
    chain_add(m, flip ? "  %%v%u = %s(%%c%u, %%v%u)\n" : "  %%v%u = %s(%%v%u, %%c%u)\n",
              chain_next(m, &v, v.dtype), name, flip ? c : at, flip ? at : c);
}

static void chain_bits(chain_maker *m, uint32_t at)
{
    static const char *const names[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    const chain_value v = m->value[at];
    const uint32_t c = chain_const(m, &v, false);
    chain_add(m, "  %%v%u = %s(%%v%u, %%c%u)\n", chain_next(m, &v, v.dtype),
              names[chain_draw(m, 3)], at, c);
}

static void chain_cast(chain_maker *m, uint32_t at)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F32, HOLO_F16,  HOLO_BF16, HOLO_U8,
                                       HOLO_I8,  HOLO_I32, HOLO_BOOL, HOLO_I16,  HOLO_U4};
    const chain_value v = m->value[at];
    const holo_dtype to = types[chain_draw(m, chain_is_float(v.dtype) ? HG_COUNT(types) : 4)];
    chain_add(m, "  %%v%u = Cast(%%v%u) {to=%d}\n", chain_next(m, &v, to), at, (int)to);
}

static void chain_quantize(chain_maker *m, uint32_t at)
{
    const chain_value v = m->value[at];
    const bool back = !chain_is_float(v.dtype);
    const holo_dtype to = back ? HOLO_F32 : chain_draw(m, 2) != 0 ? HOLO_U8 : HOLO_I8;
    const holo_dtype codes = back ? v.dtype : to;
    const uint32_t c = m->n_const;
    m->n_const += 2;
    chain_add(m, "  %%c%u = const %s[] {%g}\n", c, holo_dtype_text(back ? HOLO_F32 : v.dtype),
              0.01 + 0.01 * chain_draw(m, 20));
    chain_add(m, "  %%c%u = const %s[] {%u}\n", c + 1, holo_dtype_text(codes), chain_draw(m, 120));
    chain_add(m, "  %%v%u = %s(%%v%u, %%c%u, %%c%u)\n", chain_next(m, &v, to),
              back ? "DequantizeLinear" : "QuantizeLinear", at, c, c + 1);
}

static void chain_move(chain_maker *m, uint32_t at)
{
    chain_value v = m->value[at];
    const uint32_t kind = chain_draw(m, 3);
    v.place = ++m->n_place;
    if (kind == 0) {
        v.dim[0] = m->value[at].dim[1];
        v.dim[1] = m->value[at].dim[0];
        chain_add(m, "  %%v%u = Transpose(%%v%u) {perm=[1,0]}\n", chain_next(m, &v, v.dtype), at);
    } else if (kind == 1) {
        const uint32_t c = m->n_const++;
        chain_add(m, "  %%c%u = const int64[3] {2,0,2}\n", c);
        chain_add(m, "  %%v%u = Gather(%%v%u, %%c%u) {axis=%d}\n", chain_next(m, &v, v.dtype), at,
                  c, v.dim[0] == CHAIN_ROWS ? 0 : 1);
    } else {
        const int axis = v.dim[0] == CHAIN_ROWS ? 1 : 0;
        v.dim[axis] *= 2;
        chain_add(m, "  %%v%u = Concat(%%v%u, %%v%u) {axis=%d}\n", chain_next(m, &v, v.dtype), at,
                  at, axis);
    }
}

/* Two values that come from the same codes meet. */
static bool chain_meet(chain_maker *m, uint32_t at)
{
    static const char *const names[] = {"Add", "Mul", "Max", "Sub"};
    const chain_value v = m->value[at];
    const uint32_t other = chain_draw(m, at + 1);
    if (m->value[other].dtype != v.dtype || m->value[other].place != v.place) return false;
    if (!chain_is_float(v.dtype) && v.dtype != HOLO_U8 && v.dtype != HOLO_I8) return false;
    chain_add(m, "  %%v%u = %s(%%v%u, %%v%u)\n", chain_next(m, &v, v.dtype),
              names[chain_draw(m, 4)], at, other);
    return true;
}

static void chain_step(chain_maker *m)
{
    const uint32_t at = m->n_value - 1, kind = chain_draw(m, 12);
    const holo_dtype dtype = m->value[at].dtype;
    if (kind == 0 && m->n_place < 3) {
        chain_move(m, at);
    } else if (kind == 1 && chain_meet(m, at)) {
    } else if (chain_is_float(dtype)) {
        kind < 6    ? chain_unary(m, at)
        : kind < 9  ? chain_binary(m, at)
        : kind < 11 ? chain_quantize(m, at)
                    : chain_cast(m, at);
    } else if (dtype == HOLO_U8 || dtype == HOLO_I8) {
        kind < 5   ? chain_quantize(m, at)
        : kind < 7 ? chain_cast(m, at)
        : kind < 9 ? chain_bits(m, at)
                   : chain_binary(m, at);
    } else {
        chain_cast(m, at);
    }
}

static void chain_make(chain_maker *m, uint64_t seed, holo_dtype dtype)
{
    const int64_t codes = INT64_C(1) << hg_domain_bits(dtype);
    *m = (chain_maker){.seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    m->value[m->n_value++] = (chain_value){.dtype = dtype, .dim = {CHAIN_ROWS, codes}};
    chain_add(m, "graph g(%%v0: %s[%d,%lld]) {\n", holo_dtype_text(dtype), CHAIN_ROWS,
              (long long)codes);
    for (uint32_t steps = 1 + chain_draw(m, 20); steps > 0; steps--)
        chain_step(m);
    const uint32_t last = m->n_value - 1, other = 1 + chain_draw(m, last);
    chain_add(m, "  return %%v%u", last);
    if (other != last && chain_draw(m, 3) == 0) chain_add(m, ", %%v%u", other);
    chain_add(m, "\n}\n");
}

/* ---- comparing -------------------------------------------------------------------------------
 */

static bool chain_equal(const whole *a, const whole *b)
{
    int64_t where;
    if (a->n_result != b->n_result) return false;
    for (uint32_t i = 0; i < a->n_result; i++) {
        const size_t size = hg_dtype_bits(a->dtype[i]) / 8, bytes = a->result[i]->bytes;
        if (a->dtype[i] != b->dtype[i] || bytes != b->result[i]->bytes) return false;
        const bool same =
            size == 0 ? memcmp(a->result[i]->data, b->result[i]->data, bytes) == 0
                      : hg_entries_equal(a->dtype[i], a->result[i]->data, b->result[i]->data,
                                         (int64_t)(bytes / size), &where);
        if (!same) return false;
    }
    return true;
}

/* Number of tables, -1 when the two differ. */
static int32_t chain_check(const chain_maker *m, const void *codes)
{
    whole plain, collapsed;
    int32_t tables = -1;
    const void *input[1] = {codes};
    holo_status a = whole_read(&plain, m->text, NULL, false);
    holo_status b = whole_read(&collapsed, m->text, NULL, true);
    const uint32_t found = b == HOLO_OK ? whole_count(&collapsed, "holo:Table") : 0;
    bool changed;
    if (b == HOLO_OK && m->seed % 8 == 0) b = hg_table_synthesize(&collapsed.g, true, &changed);
    if (a == HOLO_OK) a = whole_run(&plain, input);
    if (b == HOLO_OK) b = whole_run(&collapsed, input);
    if (a != HOLO_OK || b != HOLO_OK)
        hg_test_fail(HG_TEST_HERE, "%s%s\n%s", plain.error.message, collapsed.error.message,
                     m->text);
    else if (!chain_equal(&plain, &collapsed))
        hg_test_fail(HG_TEST_HERE, "the tables differ from\n%s", m->text);
    else
        tables = (int32_t)found;
    whole_free(&plain);
    whole_free(&collapsed);
    return tables;
}

static void chain_many(uint64_t first, uint64_t count, const holo_dtype *types, size_t n_type)
{
    static uint8_t codes[CHAIN_ROWS * 65536 * 2];
    uint64_t collapsed = 0;
    for (uint64_t i = first; i < first + count; i++) {
        chain_maker m;
        const holo_dtype dtype = types[i % n_type];
        chain_make(&m, i, dtype);
        hg_domain_fill(dtype, hg_domain_all(dtype), CHAIN_ROWS, codes);
        const int32_t tables = chain_check(&m, codes);
        if (tables < 0) return;
        collapsed += tables > 0;
    }
    /* others give back their codes, a type without tables, or a number a row and column */
    CHECK(collapsed * 10 >= count * 8);
}

static void chain_bytes(uint64_t first)
{
    static const holo_dtype types[] = {HOLO_U8, HOLO_I8,       HOLO_U8, HOLO_I8, HOLO_BOOL,
                                       HOLO_U4, HOLO_F8E4M3FN, HOLO_I4, HOLO_U8, HOLO_F8E5M2};
    chain_many(first, 2485, types, HG_COUNT(types));
}

static void chain_bytes_1(void)
{
    chain_bytes(0);
}

static void chain_bytes_2(void)
{
    chain_bytes(2485);
}

static void chain_bytes_3(void)
{
    chain_bytes(4970);
}

static void chain_bytes_4(void)
{
    chain_bytes(7455);
}

static void chain_halves(void)
{
    static const holo_dtype types[] = {HOLO_F16, HOLO_BF16, HOLO_I16, HOLO_U16};
    chain_many(9940, 60, types, HG_COUNT(types));
}

const hg_test_case hg_tests_table_chains[] = {
    {"bytes_1", chain_bytes_1}, {"bytes_2", chain_bytes_2}, {"bytes_3", chain_bytes_3},
    {"bytes_4", chain_bytes_4}, {"halves", chain_halves},   {0},
};
