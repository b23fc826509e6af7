/* regex_syntax.c - RE2's syntax, checked and rewritten for PCRE2: one pass from left to right. */
#include "kernel/regex_syntax.h"

#include "kernel/string_case.h"

#include <string.h>

/* What stands before a place: a repeat needs something to repeat and is not repeated itself. */
typedef enum regex_last { REGEX_NOTHING, REGEX_ITEM, REGEX_REPEAT } regex_last;

typedef struct regex_scan {
    const char *text;
    uint64_t length, at;
    char *out;
    size_t room, used;
    regex_last last;
    uint32_t depth;
    uint32_t times;                    /* most copies of anything in the item that was just read */
    uint16_t most[HG_REGEX_DEPTH + 1]; /* the same for what each open group holds so far */
    hg_regex_flaw flaw;
} regex_scan;

static bool regex_fail(regex_scan *s, uint64_t at, const char *what)
{
    if (s->flaw.what == NULL) s->flaw = (hg_regex_flaw){what, (size_t)at};
    return false;
}

static void regex_put(regex_scan *s, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++, s->used++)
        if (s->used < s->room) s->out[s->used] = text[i];
}

static void regex_say(regex_scan *s, const char *text)
{
    regex_put(s, text, strlen(text));
}

/* The byte `ahead` places on, or 0 at the end. */
static char regex_peek(const regex_scan *s, uint64_t ahead)
{
    return ahead < s->length - s->at ? s->text[s->at + ahead] : 0;
}

static bool regex_takes(regex_scan *s, char c)
{
    if (s->at == s->length || s->text[s->at] != c) return false;
    s->at++;
    return true;
}

static bool regex_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool regex_is_word(char c)
{
    return regex_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int regex_hex(char c)
{
    if (regex_is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* ---- characters --------------------------------------------------------------------------------
 */

static void regex_put_code(regex_scan *s, uint32_t code)
{
    static const char digits[] = "0123456789abcdef";
    char text[8];
    if (code >= 0x80 || regex_is_word((char)code)) {
        regex_put(s, text, (size_t)hg_utf8_put(code, text));
        return;
    }
    regex_say(s, "\\x{");
    text[0] = digits[code >> 4];
    text[1] = digits[code & 15];
    regex_put(s, text, 2);
    regex_say(s, "}");
}

static bool regex_is_code(uint32_t code)
{
    return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

static bool regex_plain(regex_scan *s, uint32_t *code)
{
    uint64_t at = s->at;
    *code = hg_utf8_next(s->text, s->length, &s->at);
    return regex_is_code(*code) || regex_fail(s, at, "this is no UTF-8");
}

/* \x7f or \x{10ffff}; behind the x. */
static bool regex_hex_code(regex_scan *s, uint32_t *code)
{
    uint64_t at = s->at;
    bool braces = regex_takes(s, '{');
    int n = 0;
    for (*code = 0; n < (braces ? 8 : 2) && regex_hex(regex_peek(s, 0)) >= 0; n++, s->at++)
        *code = *code << 4 | (uint32_t)regex_hex(s->text[s->at]);
    bool good = braces ? n > 0 && regex_takes(s, '}') : n == 2;
    return (good && regex_is_code(*code)) ||
           regex_fail(s, at, "no number of a character after \\x");
}

/* \0, \12 or \123; a single digit other than 0 would be a backreference. */
static bool regex_octal_code(regex_scan *s, char first, uint32_t *code)
{
    char next = regex_peek(s, 0);
    if (first > '7' || (first != '0' && (next < '0' || next > '7')))
        return regex_fail(s, s->at - 1, "backreferences are not part of RE2's syntax");
    *code = (uint32_t)(first - '0');
    for (int n = 1; n < 3 && regex_peek(s, 0) >= '0' && regex_peek(s, 0) <= '7'; n++, s->at++)
        *code = *code * 8 + (uint32_t)(s->text[s->at] - '0');
    return true;
}

/* A single character behind a backslash. */
static bool regex_escaped(regex_scan *s, uint32_t *code)
{
    static const char letters[] = "afnrtv", codes[] = "\a\f\n\r\t\v";
    if (s->at == s->length) return regex_fail(s, s->at, "nothing follows the backslash");
    char c = s->text[s->at++];
    const char *known = c == 0 ? NULL : strchr(letters, c);
    if (known != NULL) {
        *code = (uint32_t)codes[known - letters];
        return true;
    }
    if (c == 'x') return regex_hex_code(s, code);
    if (regex_is_digit(c)) return regex_octal_code(s, c, code);
    *code = (uint8_t)c;
    if ((uint8_t)c < 0x80 && (!regex_is_word(c) || c == '_')) return true;
    return regex_fail(s, s->at - 1,
                      c == 'C' ? "single bytes (\\C) are not supported"
                               : "this escape is not part of RE2's syntax");
}

/* ---- kinds of characters -----------------------------------------------------------------------
 */

/* \pL, \p{Lu}, \p{^Greek}, \P{Any}; at the p. RE2's scripts are PCRE2's sc:, not its default. */
static bool regex_property(regex_scan *s)
{
    uint64_t at = s->at;
    bool negative = s->text[s->at++] == 'P', braces = regex_takes(s, '{');
    if (braces && regex_takes(s, '^')) negative = !negative;
    uint64_t first = s->at;
    while (regex_is_word(regex_peek(s, 0)) && (braces || s->at == first))
        s->at++;
    size_t n = (size_t)(s->at - first);
    if (n == 0 || (braces && !regex_takes(s, '}')))
        return regex_fail(s, at, "a kind of characters is expected, as in \\p{Greek}");
    bool general = n <= 2 || (n == 3 && memcmp(s->text + first, "Any", 3) == 0);
    regex_say(s, negative ? "\\P{" : "\\p{");
    if (!general) regex_say(s, "sc:");
    regex_put(s, s->text + first, n);
    regex_say(s, "}");
    return true;
}

/* What \d, \s and \w are inside brackets; RE2's white space lacks the vertical tab. */
static const char *regex_kind(char c)
{
    switch (c) {
    case 'd': return "0-9";
    case 'D': return "\\D";
    case 's': return "\\x{09}\\x{0a}\\x{0c}\\x{0d}\\x{20}";
    case 'S': return "\\S\\x{0b}";
    case 'w': return "0-9A-Za-z_";
    case 'W': return "\\W";
    default: return NULL;
    }
}

/* [:alpha:] or [:^alpha:]; true when there is one. Without an end it is an ordinary bracket. */
static bool regex_posix(regex_scan *s, bool *failed)
{
    static const char *const names[] = {"alnum", "alpha", "ascii", "blank", "cntrl",
                                        "digit", "graph", "lower", "print", "punct",
                                        "space", "upper", "word",  "xdigit"};
    uint64_t n = 2;
    if (regex_peek(s, 0) != '[' || regex_peek(s, 1) != ':') return false;
    while (n < s->length - s->at && regex_peek(s, n) != ':' && regex_peek(s, n) != ']')
        n++;
    if (regex_peek(s, n) != ':' || regex_peek(s, n + 1) != ']') return false;
    uint64_t first = s->at + 2 + (regex_peek(s, 2) == '^'), length = s->at + n - first;
    for (size_t i = 0; i < HG_COUNT(names); i++) {
        if (strlen(names[i]) != length || memcmp(names[i], s->text + first, (size_t)length) != 0)
            continue;
        regex_put(s, s->text + s->at, (size_t)n + 2);
        s->at += n + 2;
        return true;
    }
    *failed = !regex_fail(s, s->at, "no such class of characters");
    return true;
}

/* A character of a class. */
static bool regex_class_code(regex_scan *s, uint32_t *code)
{
    return regex_takes(s, '\\') ? regex_escaped(s, code) : regex_plain(s, code);
}

static bool regex_class_item(regex_scan *s)
{
    bool failed = false;
    uint32_t low, high;
    if (regex_posix(s, &failed)) return !failed;
    if (regex_peek(s, 0) == '\\') {
        char c = regex_peek(s, 1);
        const char *kind = regex_kind(c);
        if (kind != NULL || c == 'p' || c == 'P') {
            s->at += kind != NULL ? 2 : 1;
            if (kind == NULL) return regex_property(s);
            regex_say(s, kind);
            return true;
        }
    }
    uint64_t at = s->at;
    if (!regex_class_code(s, &low)) return false;
    regex_put_code(s, low);
    if (regex_peek(s, 0) != '-' || regex_peek(s, 1) == ']' || s->length - s->at < 2) return true;
    s->at++;
    if (regex_peek(s, 0) == '\\' && regex_kind(regex_peek(s, 1)) != NULL)
        return regex_fail(s, at, "this range of characters has no end");
    if (!regex_class_code(s, &high)) return false;
    if (high < low) return regex_fail(s, at, "this range of characters runs backwards");
    regex_say(s, "-");
    regex_put_code(s, high);
    return true;
}

static bool regex_class(regex_scan *s)
{
    uint64_t at = s->at - 1;
    regex_say(s, "[");
    if (regex_takes(s, '^')) regex_say(s, "^");
    for (bool first = true; first || regex_peek(s, 0) != ']'; first = false) {
        if (s->at == s->length) return regex_fail(s, at, "the bracket is not closed");
        if (!regex_class_item(s)) return false;
    }
    s->at++;
    regex_say(s, "]");
    return true;
}

/* ---- repeats -----------------------------------------------------------------------------------
 */

static uint32_t regex_number(const regex_scan *s, uint64_t *ahead)
{
    uint32_t n = 0;
    for (; regex_is_digit(regex_peek(s, *ahead)); ++*ahead)
        if (n <= HG_REGEX_REPEAT) n = n * 10 + (uint32_t)(regex_peek(s, *ahead) - '0');
    return n;
}

/* {n}, {n,} or {n,m} at the brace: its length, or 0 when the brace is an ordinary character. */
static uint64_t regex_braces(const regex_scan *s, uint32_t *low, uint32_t *high)
{
    uint64_t n = 1;
    if (!regex_is_digit(regex_peek(s, n))) return 0;
    *low = *high = regex_number(s, &n);
    if (regex_peek(s, n) == ',') {
        n++;
        *high = *low;
        if (regex_is_digit(regex_peek(s, n))) *high = regex_number(s, &n);
    }
    return regex_peek(s, n) == '}' ? n + 1 : 0;
}

static bool regex_repeat(regex_scan *s, uint64_t length, uint32_t low, uint32_t high)
{
    uint64_t at = s->at;
    if (s->last == REGEX_NOTHING) return regex_fail(s, at, "there is nothing to repeat");
    if (s->last == REGEX_REPEAT)
        return regex_fail(s, at,
                          "a repeat of a repeat; possessive repeats are not part of RE2's "
                          "syntax");
    if (high < low) return regex_fail(s, at, "the repeat runs backwards");
    uint32_t times = high > 1 ? high : 1;
    if (times > HG_REGEX_REPEAT || times * s->times > HG_REGEX_REPEAT)
        return regex_fail(s, at, "more than 1000 copies of something");
    times *= s->times;
    if (s->most[s->depth] < times) s->most[s->depth] = (uint16_t)times;
    regex_put(s, s->text + s->at, (size_t)length);
    s->at += length;
    if (regex_takes(s, '?')) regex_say(s, "?");
    s->last = REGEX_REPEAT;
    return true;
}

/* ---- groups ------------------------------------------------------------------------------------
 */

/* (?P<name> or (?<name>, behind the bracket. */
static bool regex_name(regex_scan *s, uint64_t at)
{
    uint64_t first = s->at;
    while (regex_is_word(regex_peek(s, 0)))
        s->at++;
    return (s->at > first && regex_takes(s, '>')) || regex_fail(s, at, "this name is no word");
}

/* (?flags) or (?flags: behind the question mark; *opens when a group begins. */
static bool regex_flags(regex_scan *s, uint64_t at, bool *opens)
{
    uint64_t first = s->at;
    bool minus = false, any = false;
    for (;; s->at++) {
        char c = regex_peek(s, 0);
        if (c == '-' && !minus) {
            minus = true;
            any = false;
            continue;
        }
        if (c == 0 || strchr("imsU", c) == NULL) break;
        any = true;
    }
    *opens = regex_peek(s, 0) == ':';
    if ((!*opens && (regex_peek(s, 0) != ')' || !any)) || (minus && !any))
        return regex_fail(s, at, "this kind of group is not part of RE2's syntax");
    s->at++;
    regex_say(s, "(?");
    regex_put(s, s->text + first, (size_t)(s->at - first));
    return true;
}

static bool regex_open(regex_scan *s)
{
    uint64_t at = s->at - 1;
    bool opens = true;
    char c = regex_peek(s, 1), d = regex_peek(s, 2);
    if (!regex_takes(s, '?')) {
        regex_say(s, "(?:");
    } else if (c == '=' || c == '!' || (c == '<' && (d == '=' || d == '!'))) {
        return regex_fail(s, at, "looking ahead or behind is not part of RE2's syntax");
    } else if (c == '<' || (c == 'P' && d == '<')) {
        s->at += c == '<' ? 1 : 2;
        if (!regex_name(s, at)) return false;
        regex_say(s, "(?:");
    } else if (!regex_flags(s, at, &opens)) {
        return false;
    }
    s->last = REGEX_NOTHING;
    if (!opens) return true;
    if (s->depth == HG_REGEX_DEPTH) return regex_fail(s, at, "too many groups inside each other");
    s->most[++s->depth] = 1;
    return true;
}

static bool regex_close(regex_scan *s)
{
    if (s->depth == 0) return regex_fail(s, s->at - 1, "nothing is open here");
    s->times = s->most[s->depth--];
    if (s->most[s->depth] < s->times) s->most[s->depth] = (uint16_t)s->times;
    regex_say(s, ")");
    s->last = REGEX_ITEM;
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* \Q...\E: as it stands. */
static bool regex_quoted(regex_scan *s)
{
    while (s->at < s->length && !(regex_peek(s, 0) == '\\' && regex_peek(s, 1) == 'E')) {
        uint32_t code;
        if (!regex_plain(s, &code)) return false;
        regex_put_code(s, code);
        s->last = REGEX_ITEM;
    }
    s->at += s->length - s->at < 2 ? s->length - s->at : 2;
    return true;
}

static bool regex_backslash(regex_scan *s)
{
    char c = regex_peek(s, 0);
    const char *kind = regex_kind(c);
    uint32_t code;
    if (c == 'Q') {
        s->at++;
        return regex_quoted(s);
    }
    s->last = REGEX_ITEM;
    if (c == 'p' || c == 'P') return regex_property(s);
    if (kind != NULL) {
        s->at++;
        regex_say(s, c == 'S' ? "[^" : "[");
        regex_say(s, c == 'S' ? regex_kind('s') : kind);
        regex_say(s, "]");
        return true;
    }
    if (c != 0 && strchr("AzbB", c) != NULL) {
        s->at++;
        regex_say(s, "(?:\\");
        regex_put(s, &c, 1);
        regex_say(s, ")");
        return true;
    }
    if (!regex_escaped(s, &code)) return false;
    regex_put_code(s, code);
    return true;
}

static bool regex_char(regex_scan *s)
{
    uint32_t code;
    if (!regex_plain(s, &code)) return false;
    s->last = REGEX_ITEM;
    /* Places in a text may be repeated in RE2 but only as groups in PCRE2. */
    if (code == '^' || code == '$')
        regex_say(s, code == '^' ? "(?:^)" : "(?:$)");
    else if (code == '.')
        regex_say(s, ".");
    else
        regex_put_code(s, code);
    return true;
}

static bool regex_step(regex_scan *s)
{
    uint32_t low = 0, high = 1;
    uint64_t length;
    char c = regex_peek(s, 0);
    if (c == '*' || c == '+' || c == '?') return regex_repeat(s, 1, low, high);
    if (c == '{' && (length = regex_braces(s, &low, &high)) != 0)
        return regex_repeat(s, length, low, high);
    s->times = 1;
    if (regex_takes(s, '(')) return regex_open(s);
    if (regex_takes(s, ')')) return regex_close(s);
    if (regex_takes(s, '|')) {
        regex_say(s, "|");
        s->last = REGEX_NOTHING;
        return true;
    }
    if (regex_takes(s, '[')) {
        s->last = REGEX_ITEM;
        return regex_class(s);
    }
    return regex_takes(s, '\\') ? regex_backslash(s) : regex_char(s);
}

size_t hg_regex_translate(const char *pattern, size_t length, char *out, size_t room,
                          hg_regex_flaw *flaw)
{
    regex_scan s = {
        .text = pattern, .length = length, .out = out, .room = room, .times = 1, .most = {1}};
    while (s.at < s.length && regex_step(&s)) {}
    if (s.flaw.what == NULL && s.depth != 0)
        (void)regex_fail(&s, s.length, "a group is not closed");
    *flaw = s.flaw;
    return s.used;
}
