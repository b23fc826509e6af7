/* scan.c - reading the text form piece by piece. */
#include "graph/text.h"

#include <stdarg.h>
#include <stdio.h>

holo_status hg_scan_fail(const hg_scan *s, const char *format, ...)
{
    size_t line = 1, column = 1;
    char sentence[400];
    for (const char *p = s->start; p < s->token; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return hg_fail(s->error, HOLO_E_MODEL, "line %zu, column %zu: %s", line, column, sentence);
}

static bool scan_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Skips spaces and comments. */
static void scan_skip(hg_scan *s)
{
    while (s->at < s->end) {
        if (scan_is_space(*s->at)) {
            s->at++;
        } else if (s->end - s->at > 1 && s->at[0] == '/' && s->at[1] == '/') {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        } else {
            break;
        }
    }
    s->token = s->at;
}

bool hg_scan_sees(hg_scan *s, const char *text)
{
    size_t length = strlen(text);
    scan_skip(s);
    return (size_t)(s->end - s->at) >= length && memcmp(s->at, text, length) == 0;
}

bool hg_scan_take(hg_scan *s, const char *text)
{
    if (!hg_scan_sees(s, text)) return false;
    s->at += strlen(text);
    return true;
}

holo_status hg_scan_expect(hg_scan *s, const char *text)
{
    if (hg_scan_take(s, text)) return HOLO_OK;
    if (s->at == s->end) return hg_scan_fail(s, "the text ends, expected '%s'", text);
    hg_str found = {s->at, 1};
    while (s->at + found.length < s->end && found.length < 20 &&
           hg_text_is_name_char(s->at[found.length]))
        found.length++;
    return hg_scan_fail(s, "expected '%s', found '%.*s'", text, HG_STR_ARG(found));
}

hg_str hg_scan_word(hg_scan *s)
{
    scan_skip(s);
    hg_str word = {s->at, 0};
    for (; s->at < s->end && hg_text_is_name_char(*s->at); s->at++)
        word.length++;
    return word;
}

hg_str hg_scan_number(hg_scan *s)
{
    scan_skip(s);
    hg_str word = {s->at, 0};
    for (; s->at < s->end && (hg_text_is_name_char(*s->at) || *s->at == '+' || *s->at == '-');
         s->at++)
        word.length++;
    return word;
}

static int scan_hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind a backslash. */
static bool scan_escape(hg_scan *s, char *out)
{
    if (s->at == s->end) return false;
    char c = *s->at++;
    *out = c;
    if (c == 'n') *out = '\n';
    if (c == '"' || c == '\\' || c == 'n') return true;
    if (c != 'x' || s->end - s->at < 2) return false;
    int high = scan_hex(s->at[0]), low = scan_hex(s->at[1]);
    *out = (char)(uint8_t)(high * 16 + low);
    s->at += 2;
    return high >= 0 && low >= 0;
}

holo_status hg_scan_string(hg_scan *s, hg_str *out)
{
    HG_TRY(hg_scan_expect(s, "\""));
    const char *begin = s->at, *p = begin;
    while (p < s->end && *p != '"')
        p += *p == '\\' && s->end - p > 1 ? 2 : 1;
    if (p >= s->end) return hg_scan_fail(s, "a string without end");
    char *text = hg_arena_alloc(s->arena, (size_t)(p - begin) + 1);
    size_t length = 0;
    if (text == NULL) return hg_fail_nomem(s->error, (size_t)(p - begin) + 1);
    while (s->at < p) {
        char c = *s->at++;
        if (c == '\\' && !scan_escape(s, &c))
            return hg_scan_fail(s, "an escape other than \\\" \\\\ \\n and \\xNN");
        text[length++] = c;
    }
    s->at = p + 1;
    *out = (hg_str){text, length};
    return HOLO_OK;
}

holo_status hg_scan_name(hg_scan *s, hg_str *out)
{
    if (hg_scan_sees(s, "\"")) return hg_scan_string(s, out);
    hg_str word = hg_scan_word(s);
    if (!hg_text_is_name(word)) return hg_scan_fail(s, "expected a name");
    *out = hg_str_copy(s->arena, word);
    return out->text != NULL ? HOLO_OK : hg_fail_nomem(s->error, word.length);
}

holo_status hg_scan_int(hg_scan *s, int64_t *out)
{
    hg_str word = hg_scan_number(s);
    bool negative = word.length != 0 && word.text[0] == '-';
    uint64_t value = 0, limit = (uint64_t)INT64_MAX + negative;
    if (word.length == (negative ? 1 : 0)) return hg_scan_fail(s, "expected a number");
    for (size_t i = negative; i < word.length; i++) {
        uint64_t digit = (uint64_t)(uint8_t)word.text[i] - '0';
        if (digit > 9 || value > (limit - digit) / 10)
            return hg_scan_fail(s, "'%.*s' is no 64-bit integer", HG_STR_ARG(word));
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return HOLO_OK;
}

holo_status hg_scan_u32(hg_scan *s, uint32_t *out)
{
    int64_t value = 0;
    HG_TRY(hg_scan_int(s, &value));
    if (value < 0 || value > UINT32_MAX) return hg_scan_fail(s, "a number out of range");
    *out = (uint32_t)value;
    return HOLO_OK;
}

holo_status hg_scan_more(hg_scan *s, const char *close, bool *first, bool *more)
{
    *more = !hg_scan_take(s, close);
    if (*more && !*first) HG_TRY(hg_scan_expect(s, ","));
    *first = false;
    return HOLO_OK;
}
