/* string_number.c - numbers as text and back.
 *
 *   string.format  in[0]: float32, float64, int64, uint64 or bool; out[0]: text of the same shape.
 * Floats get as few digits as read back the same; nan, inf, -inf, True, False string.parse   in[0]:
 * text; out[0]: float32, float64, int64 or uint64 of the same shape. inf and nan in any case;
 * anything that is no number is a fault */
#include "kernel/container.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBER_TEXT = 64 /* bytes that the text of any number needs at most */ };

/* ---- format -----------------------------------------------------------------------------------
 */

#define FORMAT_TYPES                                                                               \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_I64) |                       \
     HG_TYPE_BIT(HOLO_U64) | HG_TYPES_BOOL)

/* Significant digits without zeros at the end, and the power of ten of the first. */
typedef struct format_digits {
    char digit[20];
    int count, power;
} format_digits;

static format_digits format_read(const char *text)
{
    format_digits d = {.power = 0};
    const char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9' && d.count < (int)sizeof d.digit) d.digit[d.count++] = *p;
    while (d.count > 1 && d.digit[d.count - 1] == '0')
        d.count--;
    d.power = (int)strtol(e + 1, NULL, 10);
    return d;
}

/* The shortest that reads back the same; the decimal point of the locale does not matter. */
static format_digits format_shortest(double x, bool single)
{
    char text[NUMBER_TEXT];
    for (int digits = 0; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, x);
        if (single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x) break;
    }
    return format_read(text);
}

static size_t format_float(double x, bool single, char *text)
{
    if (isnan(x)) return (size_t)snprintf(text, NUMBER_TEXT, "nan");
    if (isinf(x)) return (size_t)snprintf(text, NUMBER_TEXT, x < 0 ? "-inf" : "inf");
    format_digits d = format_shortest(fabs(x), single);
    size_t at = 0;
    if (signbit(x)) text[at++] = '-';
    bool plain = x == 0 || (fabs(x) >= 1e-4 && fabs(x) < 1e16);
    if (!plain) {
        text[at++] = d.digit[0];
        if (d.count > 1) text[at++] = '.';
        for (int i = 1; i < d.count; i++)
            text[at++] = d.digit[i];
        return at + (size_t)snprintf(text + at, NUMBER_TEXT - at, "e%c%02d",
                                     d.power < 0 ? '-' : '+', abs(d.power));
    }
    for (int place = d.power > 0 ? d.power : 0; place >= 0 || place > d.power - d.count; place--) {
        int i = d.power - place;
        text[at++] = i >= 0 && i < d.count ? d.digit[i] : '0';
        if (place == 0) text[at++] = '.';
    }
    if (text[at - 1] == '.') text[at++] = '0';
    return at;
}

static size_t format_number(const holo_tensor *t, int64_t i, char *text)
{
    switch ((int)t->dtype) {
    case HOLO_F32: return format_float((double)((const float *)t->data)[i], true, text);
    case HOLO_F64: return format_float(((const double *)t->data)[i], false, text);
    case HOLO_I64:
        return (size_t)snprintf(text, NUMBER_TEXT, "%lld",
                                (long long)((const int64_t *)t->data)[i]);
    case HOLO_U64:
        return (size_t)snprintf(text, NUMBER_TEXT, "%llu",
                                (unsigned long long)((const uint64_t *)t->data)[i]);
    default:
        return (size_t)snprintf(text, NUMBER_TEXT, "%s",
                                ((const uint8_t *)t->data)[i] != 0 ? "True" : "False");
    }
}

static holo_status format_check_in(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 0));
    return hg_check_in_type(a, e, 0, FORMAT_TYPES);
}

static holo_status format_check(const hg_args *a, holo_error *e)
{
    HG_TRY(format_check_in(a, e));
    HG_TRY(hg_check_out_type(a, e, 0, HG_TYPES_STRING));
    return hg_check_same_shape(&a->out[0], &a->in[0], e, "the output");
}

static holo_status format_size(const hg_args *a, holo_error *e)
{
    HG_TRY(format_check_in(a, e));
    if (!hg_mul_size((size_t)holo_tensor_count(&a->in[0]), NUMBER_TEXT, &a->extra[0]))
        return hg_fail_nomem(e, SIZE_MAX);
    a->out[0].rank = a->in[0].rank;
    memcpy(a->out[0].dim, a->in[0].dim, sizeof a->in[0].dim);
    return HOLO_OK;
}

static void format_run(const hg_args *a, hg_range r)
{
    hg_room room = hg_room_behind(a);
    holo_string *y = a->out[0].data;
    (void)r;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]); i++) {
        char *text = hg_room_take(&room, NUMBER_TEXT);
        y[i] = (holo_string){"", 0};
        if (text != NULL) y[i] = (holo_string){text, format_number(&a->in[0], i, text)};
    }
}

/* ---- parse ------------------------------------------------------------------------------------
 */

#define PARSE_TYPES                                                                                \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_U64))

/* The C library reads numbers with the decimal point of the locale. */
static bool parse_text(const holo_string *s, bool is_float, char *text)
{
    const char point = *localeconv()->decimal_point;
    if (s->length == 0 || s->length >= NUMBER_TEXT) return false;
    for (uint64_t i = 0; i < s->length; i++) {
        char c = s->text[i];
        bool digit = (c >= '0' && c <= '9') || c == '+' || c == '-';
        bool letter = is_float && (c == '.' || strchr("eEinfINFatyATY", c) != NULL);
        if (c == 0 || !(digit || letter)) return false;
        text[i] = c == '.' ? point : c;
    }
    text[s->length] = 0;
    return true;
}

static bool parse_number(const holo_string *s, const holo_tensor *out, int64_t i)
{
    char text[NUMBER_TEXT + 1], *end = text;
    bool is_float = out->dtype == HOLO_F32 || out->dtype == HOLO_F64;
    if (!parse_text(s, is_float, text)) return false;
    errno = 0;
    switch ((int)out->dtype) {
    case HOLO_F32: ((float *)out->data)[i] = strtof(text, &end); break;
    case HOLO_F64: ((double *)out->data)[i] = strtod(text, &end); break;
    case HOLO_I64: ((int64_t *)out->data)[i] = strtoll(text, &end, 10); break;
    default: ((uint64_t *)out->data)[i] = text[0] == '-' ? 1 : strtoull(text, &end, 10); break;
    }
    return *end == 0 && end != text && (is_float || errno == 0);
}

static holo_status parse_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 1, 1, 1, 0));
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_STRING));
    HG_TRY(hg_check_out_type(a, e, 0, PARSE_TYPES));
    return hg_check_same_shape(&a->out[0], &a->in[0], e, "the output");
}

static void parse_run(const hg_args *a, hg_range r)
{
    const holo_string *s = a->in[0].data;
    (void)r;
    for (int64_t i = 0; i < holo_tensor_count(&a->in[0]); i++)
        if (!parse_number(&s[i], &a->out[0], i))
            hg_fault_value(a->fault, "the text is no number that fits; its length", i,
                           (int64_t)s[i].length);
}

const hg_kernel hg_kernels_string_number[] = {
    {.name = "string.format",
     .flags = HG_KERNEL_LATE,
     .check = format_check,
     .size = format_size,
     .units = hg_one_unit,
     .run = format_run},
    {.name = "string.parse", .check = parse_check, .units = hg_one_unit, .run = parse_run},
    {0},
};
