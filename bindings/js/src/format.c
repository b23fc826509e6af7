/* format.c - snprintf and vsnprintf of the runtime's modules: what sentences and numbers as text
 * need (%c %d %s %u %x %e %g), in a fraction of the C library's code. Numbers are exact: all digits
 * of a double are made before some are rounded away. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT_LIMB = 1000000000, FORMAT_LIMBS = 90, FORMAT_DIGITS = FORMAT_LIMBS * 9 };

typedef struct format_out {
    char *text;
    size_t size, length; /* length of the whole text, also of what does not fit */
} format_out;

typedef struct format_spec {
    bool is_left, has_zeros, has_precision;
    int width, precision;
    int longs; /* 2: 64 bits */
} format_spec;

static void format_put(format_out *o, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++, o->length++)
        if (o->length + 1 < o->size) o->text[o->length] = text[i];
}

static void format_repeat(format_out *o, char c, int n)
{
    for (int i = 0; i < n; i++)
        format_put(o, &c, 1);
}

/* A sign and a body, padded to the width. */
static void format_padded(format_out *o, const format_spec *f, const char *sign, const char *body,
                          size_t n)
{
    const int pad = f->width - (int)(strlen(sign) + n);
    if (!f->is_left && !f->has_zeros) format_repeat(o, ' ', pad);
    format_put(o, sign, strlen(sign));
    if (!f->is_left && f->has_zeros) format_repeat(o, '0', pad);
    format_put(o, body, n);
    if (f->is_left) format_repeat(o, ' ', pad);
}

static char *format_digits_of(uint64_t x, uint32_t base, char *end)
{
    do
        *--end = "0123456789abcdef"[x % base];
    while ((x /= base) != 0);
    return end;
}

static void format_integer(format_out *o, const format_spec *f, uint64_t x, bool is_negative,
                           uint32_t base)
{
    char text[24], *end = text + sizeof text, *at = format_digits_of(x, base, end);
    format_padded(o, f, is_negative ? "-" : "", at, (size_t)(end - at));
}

/* ---- floats ---------------------------------------------------------------------------------- */

typedef struct format_number {
    uint32_t limb[FORMAT_LIMBS]; /* base 10^9, lowest first */
    int n_limb;
    char digit[FORMAT_DIGITS + 1]; /* '0' to '9', the first is not '0' */
    int n_digit;
    int exponent; /* of the first digit */
} format_number;

static void format_multiply(format_number *n, uint32_t by)
{
    uint64_t carry = 0;
    for (int i = 0; i < n->n_limb; i++) {
        carry += (uint64_t)n->limb[i] * by;
        n->limb[i] = (uint32_t)(carry % FORMAT_LIMB);
        carry /= FORMAT_LIMB;
    }
    if (carry != 0) n->limb[n->n_limb++] = (uint32_t)carry;
}

/* All digits of a finite x > 0: m 2^e, or m 5^-e 10^e, is an integer in base 10. */
static void format_expand(format_number *n, uint64_t bits)
{
    const int field = (int)(bits >> 52 & 0x7ff);
    const uint64_t m = (bits & UINT64_C(0xfffffffffffff)) | (uint64_t)(field != 0) << 52;
    const int e = (field == 0 ? 1 : field) - 1075;
    n->n_limb = 2;
    n->limb[0] = (uint32_t)(m % FORMAT_LIMB);
    n->limb[1] = (uint32_t)(m / FORMAT_LIMB);
    for (int i = 0; i < e; i++)
        format_multiply(n, 2);
    for (int i = 0; i < -e; i++)
        format_multiply(n, 5);
    n->n_digit = 0;
    for (int i = n->n_limb - 1; i >= 0; i--) {
        char text[9];
        memset(text, '0', sizeof text);
        (void)format_digits_of(n->limb[i], 10, text + sizeof text);
        for (size_t k = 0; k < sizeof text; k++)
            if (n->n_digit > 0 || text[k] != '0') n->digit[n->n_digit++] = text[k];
    }
    n->exponent = n->n_digit - 1 + (e < 0 ? e : 0);
}

/* Keeps `count` digits, to nearest, ties to even. */
static void format_round(format_number *n, int count)
{
    while (n->n_digit < count)
        n->digit[n->n_digit++] = '0';
    bool is_half = n->n_digit > count && n->digit[count] == '5';
    bool is_up = n->n_digit > count && n->digit[count] >= '5';
    for (int i = count + 1; i < n->n_digit; i++)
        if (n->digit[i] != '0') is_half = false;
    if (is_half && (n->digit[count - 1] - '0') % 2 == 0) is_up = false;
    n->n_digit = count;
    int i = count - 1;
    for (; is_up && i >= 0 && n->digit[i] == '9'; i--)
        n->digit[i] = '0';
    if (!is_up) return;
    if (i >= 0) {
        n->digit[i]++;
    } else {
        n->digit[0] = '1'; /* all were nines */
        n->exponent++;
    }
}

/* d.ddd and the exponent with at least two digits. */
static size_t format_scientific(const format_number *n, char *text)
{
    size_t at = 0;
    text[at++] = n->digit[0];
    if (n->n_digit > 1) text[at++] = '.';
    memcpy(text + at, n->digit + 1, (size_t)n->n_digit - 1);
    at += (size_t)n->n_digit - 1;
    text[at++] = 'e';
    text[at++] = n->exponent < 0 ? '-' : '+';
    const uint64_t size = (uint64_t)(n->exponent < 0 ? -n->exponent : n->exponent);
    if (size < 10) text[at++] = '0';
    char digits[8], *end = digits + sizeof digits, *first = format_digits_of(size, 10, end);
    memcpy(text + at, first, (size_t)(end - first));
    return at + (size_t)(end - first);
}

static size_t format_plain(const format_number *n, char *text)
{
    size_t at = 0;
    const int last = n->n_digit > n->exponent ? n->n_digit - 1 : n->exponent;
    for (int i = n->exponent < 0 ? n->exponent : 0; i <= last; i++) {
        if (i == n->exponent + 1) text[at++] = '.';
        text[at++] = i >= 0 && i < n->n_digit ? n->digit[i] : '0';
    }
    return at;
}

static void format_float(format_out *o, const format_spec *f, double x, bool is_general)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const char *sign = bits >> 63 != 0 ? "-" : "";
    bits &= INT64_MAX;
    char text[FORMAT_DIGITS + 16];
    format_number n = {.digit = "0", .n_digit = 1};
    if (bits >> 52 == 0x7ff) {
        const format_spec spaces = {.is_left = f->is_left, .width = f->width};
        format_padded(o, &spaces, sign, (bits << 12) != 0 ? "nan" : "inf", 3);
        return;
    }
    if (bits != 0) format_expand(&n, bits);
    const int precision = f->has_precision ? (int)hg_min(f->precision, FORMAT_DIGITS - 1) : 6;
    const int count = precision + (is_general && precision > 0 ? 0 : 1); /* %.0g has one digit */
    format_round(&n, count);
    while (is_general && n.n_digit > 1 && n.digit[n.n_digit - 1] == '0')
        n.n_digit--;
    const bool is_plain = is_general && n.exponent >= -4 && n.exponent < count;
    const size_t length = is_plain ? format_plain(&n, text) : format_scientific(&n, text);
    format_padded(o, f, sign, text, length);
}

/* ---- formats --------------------------------------------------------------------------------- */

static int format_number_of(const char **at, va_list *args)
{
    int n = 0;
    if (**at == '*') {
        (*at)++;
        return va_arg(*args, int);
    }
    for (; **at >= '0' && **at <= '9'; (*at)++)
        n = n * 10 + (**at - '0');
    return n;
}

static const char *format_read_spec(const char *at, va_list *args, format_spec *f)
{
    *f = (format_spec){0};
    for (; *at == '-' || *at == '0'; at++) {
        if (*at == '-') f->is_left = true;
        if (*at == '0') f->has_zeros = true;
    }
    f->width = format_number_of(&at, args);
    if (*at == '.') {
        at++;
        f->precision = format_number_of(&at, args);
        f->has_precision = f->precision >= 0;
    }
    for (; *at == 'l' || *at == 'z' || *at == 'h'; at++)
        f->longs += *at == 'l';
    return at;
}

static void format_text(format_out *o, const format_spec *f, const char *text)
{
    if (text == NULL) text = "(null)";
    size_t n = 0;
    while ((!f->has_precision || n < (size_t)f->precision) && text[n] != 0)
        n++;
    format_padded(o, f, "", text, n);
}

static void format_one(format_out *o, const format_spec *f, char kind, va_list *args)
{
    if (kind == 's') {
        format_text(o, f, va_arg(*args, const char *));
    } else if (kind == 'c') {
        const char c = (char)va_arg(*args, int);
        format_padded(o, f, "", &c, 1);
    } else if (kind == 'd' || kind == 'i') {
        const int64_t x = f->longs == 2 ? va_arg(*args, int64_t) : va_arg(*args, int32_t);
        format_integer(o, f, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0, 10);
    } else if (kind == 'u' || kind == 'x') {
        const uint64_t x = f->longs == 2 ? va_arg(*args, uint64_t) : va_arg(*args, uint32_t);
        format_integer(o, f, x, false, kind == 'x' ? 16 : 10);
    } else if (kind == 'e' || kind == 'g') {
        format_float(o, f, va_arg(*args, double), kind == 'g');
    } else {
        format_put(o, &kind, 1); /* %% */
    }
}

int vsnprintf(char *text, size_t size, const char *format, va_list given)
{
    format_out o = {.text = text, .size = size};
    va_list args;
    va_copy(args, given);
    for (const char *at = format; *at != 0; at++) {
        if (*at != '%') {
            format_put(&o, at, 1);
            continue;
        }
        format_spec f;
        at = format_read_spec(at + 1, &args, &f);
        if (*at == 0) break;
        format_one(&o, &f, *at, &args);
    }
    va_end(args);
    if (size > 0) text[o.length < size ? o.length : size - 1] = 0;
    return (int)o.length;
}

int snprintf(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, size, format, args);
    va_end(args);
    return length;
}
