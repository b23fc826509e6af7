/* text.c - pieces of the text form: names, numbers, quotes, a buffered writer. */
#include "graph/text.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- words --------------------------------------------------------------------- */

bool hg_text_is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

bool hg_text_is_name(hg_str s)
{
    if (s.length == 0 || (s.text[0] >= '0' && s.text[0] <= '9') || s.text[0] == '.') return false;
    for (size_t i = 0; i < s.length; i++)
        if (!hg_text_is_name_char(s.text[i])) return false;
    return !hg_str_is(s, "_");
}

static const char *const text_lane_types[] = {
    [HG_LANE_F32] = "f32", [HG_LANE_F64] = "f64", [HG_LANE_I32] = "i32",
    [HG_LANE_I64] = "i64", [HG_LANE_U64] = "u64",
};

const char *hg_text_lane_type(uint32_t type)
{
    return type < HG_COUNT(text_lane_types) ? text_lane_types[type] : NULL;
}

uint32_t hg_text_lane_type_from(hg_str s)
{
    for (uint32_t i = 1; i < HG_COUNT(text_lane_types); i++)
        if (hg_str_is(s, text_lane_types[i])) return i;
    return 0;
}

/* ---- numbers ------------------------------------------------------------------- */

enum { TEXT_NUMBER = 64 };

/* The C library writes and reads the decimal point of the program's locale; the text form has a
 * ".". */
static void text_replace(char *text, const char *from, const char *to)
{
    char copy[TEXT_NUMBER];
    const char *at = strstr(text, from);
    if (at == NULL || strcmp(from, to) == 0) return;
    snprintf(copy, sizeof copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    snprintf(text, TEXT_NUMBER, "%s", copy);
}

bool hg_text_to_float(hg_str s, double *out)
{
    char text[TEXT_NUMBER], *end;
    if (s.length == 0 || s.length >= sizeof text - 8) return false;
    memcpy(text, s.text, s.length);
    text[s.length] = 0;
    text_replace(text, ".", localeconv()->decimal_point);
    *out = strtod(text, &end);
    return *end == 0;
}

void hg_text_float(hg_text *t, double value, bool is_single)
{
    char text[TEXT_NUMBER];
    if (isnan(value) || isinf(value)) {
        hg_text_add(t, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = is_single ? 6 : 15; digits <= (is_single ? 9 : 17); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (is_single ? (float)back == (float)value : back == value) break;
    }
    text_replace(text, localeconv()->decimal_point, ".");
    if (strpbrk(text, ".e") == NULL) memcpy(text + strlen(text), ".0", 3);
    hg_text_add(t, text);
}

/* ---- writer -------------------------------------------------------------------- */

bool hg_text_flush(hg_text *t)
{
    if (!t->failed && t->used != 0) t->failed = !t->sink(t->user, t->buffer, t->used);
    t->used = 0;
    return !t->failed;
}

void hg_text_put(hg_text *t, const char *text, size_t length)
{
    while (length > 0 && !t->failed) {
        size_t room = sizeof t->buffer - t->used, part = length < room ? length : room;
        memcpy(t->buffer + t->used, text, part);
        t->used += part;
        text += part;
        length -= part;
        if (t->used == sizeof t->buffer) hg_text_flush(t);
    }
}

void hg_text_add(hg_text *t, const char *text)
{
    hg_text_put(t, text, strlen(text));
}

void hg_text_format(hg_text *t, const char *format, ...)
{
    char text[201];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hg_text_add(t, text);
}

void hg_text_indent(hg_text *t, uint32_t depth)
{
    while (depth-- > 0)
        hg_text_put(t, "  ", 2);
}

void hg_text_quote(hg_text *t, hg_str s)
{
    bool is_text = hg_str_is_text(s);
    hg_text_add(t, "\"");
    for (size_t i = 0; i < s.length; i++) {
        uint8_t c = (uint8_t)s.text[i];
        if (c == '"' || c == '\\')
            hg_text_format(t, "\\%c", c);
        else if (c == '\n')
            hg_text_add(t, "\\n");
        else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !is_text))
            hg_text_format(t, "\\x%02x", c);
        else
            hg_text_put(t, &s.text[i], 1);
    }
    hg_text_add(t, "\"");
}
