/* str.c - string views. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

hg_str hg_str_copy(hg_arena *arena, hg_str s)
{
    char *copy = s.length == SIZE_MAX ? NULL : hg_arena_alloc(arena, s.length + 1);
    if (copy == NULL) return (hg_str){0};
    if (s.length != 0) memcpy(copy, s.text, s.length);
    return (hg_str){copy, s.length};
}

hg_str hg_str_format(hg_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : hg_arena_alloc(arena, (size_t)length + 1);
    if (text == NULL) return (hg_str){0};
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return (hg_str){text, (size_t)length};
}

/* Length of the UTF-8 sequence at p (of n bytes), or 0 when it is malformed. */
static size_t str_utf8_length(const uint8_t *p, size_t n)
{
    uint32_t code;
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < length) return 0;
    code = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    return length;
}

bool hg_str_is_text(hg_str s)
{
    const uint8_t *p = (const uint8_t *)s.text;
    for (size_t i = 0; i < s.length;) {
        size_t step = str_utf8_length(p + i, s.length - i);
        if (step == 0 || p[i] < 0x20 || p[i] == 0x7f) return false;
        i += step;
    }
    return true;
}
