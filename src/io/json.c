/* json.c - writes JSON to a stream. */
#include "io/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void json_value(hg_io_json *json)
{
    bool *is_started = &json->is_started[json->depth];
    if (!json->after_key && *is_started) putc(',', json->out);
    *is_started = true;
    json->after_key = false;
}

static void json_open(hg_io_json *json, char bracket)
{
    json_value(json);
    putc(bracket, json->out);
    assert(json->depth + 1 < HG_IO_JSON_DEPTH);
    json->is_started[++json->depth] = false;
}

void hg_io_json_object(hg_io_json *json)
{
    json_open(json, '{');
}

void hg_io_json_array(hg_io_json *json)
{
    json_open(json, '[');
}

void hg_io_json_close(hg_io_json *json, char bracket)
{
    assert(json->depth > 0);
    json->depth--;
    putc(bracket, json->out);
}

/* Length of the UTF-8 sequence at s, 0 when it is none. */
static size_t json_sequence(const char *s)
{
    const uint8_t *p = (const uint8_t *)s;
    size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if (p[i] >> 6 != 2) return 0;
    /* Overlong forms, surrogates and what lies above U+10FFFF. */
    if (n == 2 && p[0] < 0xc2) return 0;
    if (n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) return 0;
    if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || p[0] > 0xf4 || (p[0] == 0xf4 && p[1] > 0x8f)))
        return 0;
    return n;
}

static void json_escape(FILE *out, const char *text)
{
    putc('"', out);
    while (*text != '\0') {
        size_t n = json_sequence(text);
        uint8_t c = (uint8_t)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", out);
        else if (c < 0x20 || c == 0x7f)
            fprintf(out, "\\u%04x", c);
        else if (n == 0)
            fputs("\\ufffd", out);
        else
            fwrite(text, 1, n, out);
        text += n == 0 ? 1 : n;
    }
    putc('"', out);
}

void hg_io_json_key(hg_io_json *json, const char *key)
{
    json_value(json);
    json_escape(json->out, key);
    putc(':', json->out);
    json->after_key = true;
}

void hg_io_json_text(hg_io_json *json, const char *text)
{
    json_value(json);
    if (text == NULL)
        fputs("null", json->out);
    else
        json_escape(json->out, text);
}

void hg_io_json_number(hg_io_json *json, double value, int decimals)
{
    char text[400];
    json_value(json);
    if (!isfinite(value)) {
        fputs("null", json->out);
        return;
    }
    snprintf(text, sizeof text, "%.*f", decimals, value);
    if (strchr(text, '.') != NULL) {
        size_t n = strlen(text);
        while (text[n - 1] == '0')
            n--;
        text[text[n - 1] == '.' ? n - 1 : n] = '\0';
    }
    fputs(strcmp(text, "-0") == 0 ? "0" : text, json->out);
}

void hg_io_json_int(hg_io_json *json, int64_t value)
{
    json_value(json);
    fprintf(json->out, "%" PRId64, value);
}

void hg_io_json_bool(hg_io_json *json, bool value)
{
    json_value(json);
    fputs(value ? "true" : "false", json->out);
}
