/* dim_text.c - dimension expressions as text and back.
 *
 *   sum      product (("+" | "-") product)*
 *   product  atom (("*" | "//" | "%") atom)*
 *   atom     number | -number | name | 'any text' | (sum) | word(sum, ...)
 *   word     ceil trunc min max eq lt select
 *
 * "//" rounds down, ceil(a,b) up, trunc(a,b) to zero; "%" has the sign of the divisor. A name with
 * other characters than letters, digits, "_" and "." is quoted; inside, \\ \' and \xNN are escapes.
 */
#include "isa/dim.h"

#include <inttypes.h>
#include <stdio.h>

enum { DIM_TEXT_DEPTH = 200 };

static const struct {
    const char *word;
    hg_dim_op op;
    int operands;
} dim_text_words[] = {
    {"ceil", HG_DIM_CEILDIV, 2},  {"trunc", HG_DIM_TRUNCDIV, 2}, {"min", HG_DIM_MIN, 2},
    {"max", HG_DIM_MAX, 2},       {"eq", HG_DIM_EQ, 2},          {"lt", HG_DIM_LT, 2},
    {"select", HG_DIM_SELECT, 3},
};

static bool dim_text_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool dim_text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool dim_text_is_word(char c)
{
    return dim_text_is_letter(c) || dim_text_is_digit(c) || c == '.';
}

/* ---- out ----------------------------------------------------------------------- */

typedef struct dim_text_out {
    const hg_dims *d;
    char *text;
    size_t size, length;
} dim_text_out;

static bool dim_text_is_full(const dim_text_out *o)
{
    return o->length + 1 >= o->size;
}

static void dim_text_put(dim_text_out *o, const char *text)
{
    for (; *text != 0 && !dim_text_is_full(o); text++)
        o->text[o->length++] = *text;
}

static void dim_text_put_name(dim_text_out *o, hg_str name)
{
    bool plain = name.length != 0 && dim_text_is_letter(name.text[0]);
    for (size_t i = 0; i < name.length; i++)
        plain = plain && dim_text_is_word(name.text[i]);
    if (!plain) dim_text_put(o, "'");
    for (size_t i = 0; i < name.length && !dim_text_is_full(o); i++) {
        uint8_t c = (uint8_t)name.text[i];
        char piece[8] = {(char)c, 0};
        if (c == '\\' || c == '\'') snprintf(piece, sizeof piece, "\\%c", c);
        if (c < 0x20 || c == 0x7f) snprintf(piece, sizeof piece, "\\x%02x", c);
        dim_text_put(o, piece);
    }
    if (!plain) dim_text_put(o, "'");
}

/* How tightly the outermost operation binds. */
static int dim_text_level(uint32_t op)
{
    if (op == HG_DIM_ADD || op == HG_DIM_SUB) return 1;
    return op == HG_DIM_MUL || op == HG_DIM_FLOORDIV || op == HG_DIM_MOD ? 2 : 3;
}

static void dim_text_put_dim(dim_text_out *o, hg_dim dim, int level, int depth);

static void dim_text_put_call(dim_text_out *o, const hg_dim_rec *r, int depth)
{
    const hg_dim operand[3] = {r->a, r->b, r->c};
    for (size_t i = 0; i < HG_COUNT(dim_text_words); i++) {
        if (dim_text_words[i].op != (hg_dim_op)r->op) continue;
        dim_text_put(o, dim_text_words[i].word);
        for (int k = 0; k < 3 && k < dim_text_words[i].operands; k++) {
            dim_text_put(o, k == 0 ? "(" : ",");
            dim_text_put_dim(o, operand[k], 1, depth);
        }
        dim_text_put(o, ")");
    }
}

static void dim_text_put_infix(dim_text_out *o, const hg_dim_rec *r, const char *sign, int depth)
{
    int level = dim_text_level(r->op);
    dim_text_put_dim(o, r->a, level, depth);
    dim_text_put(o, sign);
    dim_text_put_dim(o, r->b, level + 1, depth);
}

/* In parentheses when the operation binds less tightly than level. Stops when the buffer is full,
 * so that an expression that shares its parts costs no more than the text that fits. */
static void dim_text_put_dim(dim_text_out *o, hg_dim dim, int level, int depth)
{
    if (dim_text_is_full(o)) return;
    if (dim == 0 || depth == 0) {
        dim_text_put(o, "?");
        return;
    }
    const hg_dim_rec *r = &o->d->rec[dim];
    bool paren = dim_text_level(r->op) < level;
    char number[32];
    if (paren) dim_text_put(o, "(");
    switch ((hg_dim_op)r->op) {
    case HG_DIM_CONST:
        snprintf(number, sizeof number, "%" PRId64, r->value);
        dim_text_put(o, number);
        break;
    case HG_DIM_SYMBOL: dim_text_put_name(o, o->d->symbol[r->value].name); break;
    case HG_DIM_ADD: dim_text_put_infix(o, r, "+", depth - 1); break;
    case HG_DIM_SUB: dim_text_put_infix(o, r, "-", depth - 1); break;
    case HG_DIM_MUL: dim_text_put_infix(o, r, "*", depth - 1); break;
    case HG_DIM_FLOORDIV: dim_text_put_infix(o, r, "//", depth - 1); break;
    case HG_DIM_MOD: dim_text_put_infix(o, r, "%", depth - 1); break;
    case HG_DIM_CEILDIV:
    case HG_DIM_TRUNCDIV:
    case HG_DIM_MIN:
    case HG_DIM_MAX:
    case HG_DIM_EQ:
    case HG_DIM_LT:
    case HG_DIM_SELECT: dim_text_put_call(o, r, depth - 1); break;
    }
    if (paren) dim_text_put(o, ")");
}

void hg_dim_print(const hg_dims *d, hg_dim dim, char *text, size_t size)
{
    dim_text_out o = {.d = d, .text = text, .size = size};
    if (size == 0) return;
    dim_text_put_dim(&o, dim, 1, DIM_TEXT_DEPTH);
    text[o.length] = 0;
}

/* ---- in ------------------------------------------------------------------------ */

typedef struct dim_text_in {
    hg_dims *d;
    const char *at, *end;
} dim_text_in;

static bool dim_text_take(dim_text_in *in, const char *text)
{
    while (in->at < in->end && *in->at == ' ')
        in->at++;
    size_t length = strlen(text);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, text, length) != 0) return false;
    in->at += length;
    return true;
}

static hg_dim dim_text_sum(dim_text_in *in, int depth);

static hg_dim dim_text_number(dim_text_in *in, bool negative)
{
    uint64_t value = 0, limit = (uint64_t)INT64_MAX + negative;
    const char *start = in->at;
    for (; in->at < in->end && dim_text_is_digit(*in->at); in->at++) {
        uint64_t digit = (uint64_t)(*in->at - '0');
        if (value > (limit - digit) / 10) return 0;
        value = value * 10 + digit;
    }
    if (in->at == start) return 0;
    return hg_dim_const(in->d, negative ? (int64_t)(0 - value) : (int64_t)value);
}

static int dim_text_hex(char c)
{
    if (dim_text_is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind the opening quote. */
static hg_dim dim_text_quoted(dim_text_in *in)
{
    char *name = hg_arena_alloc(in->d->arena, (size_t)(in->end - in->at) + 1);
    size_t length = 0;
    if (name == NULL) {
        in->d->failed = true;
        return 0;
    }
    while (in->at < in->end && *in->at != '\'') {
        char c = *in->at++;
        if (c == '\\') {
            if (in->at == in->end) return 0;
            c = *in->at++;
            if (c == 'x') {
                if (in->end - in->at < 2) return 0;
                int high = dim_text_hex(in->at[0]), low = dim_text_hex(in->at[1]);
                if (high < 0 || low < 0) return 0;
                c = (char)(high * 16 + low);
                in->at += 2;
            }
        }
        name[length++] = c;
    }
    if (in->at == in->end || length == 0) return 0;
    in->at++;
    return hg_dim_named(in->d, (hg_str){name, length});
}

static hg_dim dim_text_call(dim_text_in *in, hg_str word, int depth)
{
    for (size_t i = 0; i < HG_COUNT(dim_text_words); i++) {
        hg_dim operand[3] = {0};
        if (!hg_str_is(word, dim_text_words[i].word)) continue;
        for (int k = 0; k < dim_text_words[i].operands; k++) {
            if (k != 0 && !dim_text_take(in, ",")) return 0;
            operand[k] = dim_text_sum(in, depth);
            if (operand[k] == 0) return 0;
        }
        if (!dim_text_take(in, ")")) return 0;
        return hg_dim_make(in->d, dim_text_words[i].op, operand[0], operand[1], operand[2]);
    }
    return 0;
}

static hg_dim dim_text_atom(dim_text_in *in, int depth)
{
    if (depth == 0) return 0;
    if (dim_text_take(in, "(")) {
        hg_dim inner = dim_text_sum(in, depth - 1);
        return dim_text_take(in, ")") ? inner : 0;
    }
    if (dim_text_take(in, "'")) return dim_text_quoted(in);
    if (dim_text_take(in, "-")) return dim_text_number(in, true);
    if (in->at == in->end) return 0;
    if (!dim_text_is_letter(*in->at)) return dim_text_number(in, false);
    hg_str word = {in->at, 0};
    for (; in->at < in->end && dim_text_is_word(*in->at); in->at++)
        word.length++;
    if (dim_text_take(in, "(")) return dim_text_call(in, word, depth - 1);
    return hg_dim_named(in->d, word);
}

static hg_dim dim_text_product(dim_text_in *in, int depth)
{
    hg_dim left = dim_text_atom(in, depth);
    while (left != 0) {
        if (dim_text_take(in, "*"))
            left = hg_dim_mul(in->d, left, dim_text_atom(in, depth));
        else if (dim_text_take(in, "//"))
            left = hg_dim_floordiv(in->d, left, dim_text_atom(in, depth));
        else if (dim_text_take(in, "%"))
            left = hg_dim_mod(in->d, left, dim_text_atom(in, depth));
        else
            break;
    }
    return left;
}

static hg_dim dim_text_sum(dim_text_in *in, int depth)
{
    hg_dim left = dim_text_product(in, depth);
    while (left != 0) {
        if (dim_text_take(in, "+"))
            left = hg_dim_add(in->d, left, dim_text_product(in, depth));
        else if (dim_text_take(in, "-"))
            left = hg_dim_sub(in->d, left, dim_text_product(in, depth));
        else
            break;
    }
    return left;
}

hg_dim hg_dim_parse(hg_dims *d, hg_str text)
{
    if (text.length == 0) return 0;
    dim_text_in in = {.d = d, .at = text.text, .end = text.text + text.length};
    hg_dim result = dim_text_sum(&in, DIM_TEXT_DEPTH);
    (void)dim_text_take(&in, ""); /* spaces */
    return in.at == in.end ? result : 0;
}
