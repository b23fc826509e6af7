/* string_case.c - case of letters by the tables of Unicode (string_case.inc): ranges where the two
 * cases lie a fixed distance apart, letters that become several, and rules for a few. */
#include "kernel/string_case.h"

#include <string.h>

enum { CASE_BYTE = 1U << 31 };

uint32_t hg_utf8_next(const char *text, uint64_t length, uint64_t *at)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)text + *at;
    uint64_t left = length - *at;
    uint32_t n = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
    uint32_t code = n == 1 ? p[0] : n == 0 ? 0 : p[0] & (0x7fU >> n);
    bool good = n != 0 && p[0] < 0xf8 && n <= left;
    for (uint32_t k = 1; good && k < n; k++) {
        good = (p[k] & 0xc0) == 0x80;
        code = code << 6 | (p[k] & 0x3f);
    }
    if (!good || code < least[n] || code > 0x10ffff) {
        *at += 1;
        return p[0] | (uint32_t)CASE_BYTE;
    }
    *at += n;
    return code;
}

uint64_t hg_utf8_put(uint32_t code, char *text)
{
    static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (code >= (uint32_t)CASE_BYTE || code < 0x80) {
        text[0] = (char)(uint8_t)code;
        return 1;
    }
    uint32_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (uint32_t k = n - 1; k > 0; k--, code >>= 6)
        text[k] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(lead[n] | code);
    return n;
}

/* ---- tables ------------------------------------------------------------------------------------
 */

/* Every step-th code point from first to last; the other case is `distance` away. */
typedef struct case_range {
    uint32_t first, last;
    int32_t distance;
    uint32_t step;
} case_range;

/* A letter that becomes several; unused places are 0. */
typedef struct case_special {
    uint32_t from, to[3];
} case_special;

typedef struct case_set {
    uint32_t first, last;
} case_set;

#include "kernel/string_case.inc"

/* Every entry begins with its first code point: the last one that is not above `code`, or NULL. */
static const void *case_find(const void *table, size_t count, size_t bytes, uint32_t code)
{
    const uint8_t *low = table, *found = NULL;
    while (count > 0) {
        const uint8_t *middle = low + count / 2 * bytes;
        uint32_t first;
        memcpy(&first, middle, sizeof first);
        if (first <= code) {
            found = middle;
            low = middle + bytes;
            count -= count / 2 + 1;
        } else {
            count /= 2;
        }
    }
    return found;
}

#define CASE_FIND(table, code) case_find(table, HG_COUNT(table), sizeof(table)[0], code)

static bool case_in(const case_set *found, uint32_t code)
{
    return found != NULL && code <= found->last;
}

static bool case_is_cased(uint32_t code)
{
    return case_in(CASE_FIND(case_cased, code), code);
}

static bool case_is_ignorable(uint32_t code)
{
    return case_in(CASE_FIND(case_ignorable, code), code);
}

bool hg_utf8_is_space(uint32_t code)
{
    return case_in(CASE_FIND(case_space, code), code);
}

static uint32_t case_simple(uint32_t code, hg_case to)
{
    const case_range *r = to == HG_CASE_LOWER   ? CASE_FIND(case_lower, code)
                          : to == HG_CASE_UPPER ? CASE_FIND(case_upper, code)
                                                : CASE_FIND(case_fold, code);
    if (r == NULL || code > r->last || (code - r->first) % r->step != 0) return code;
    return (uint32_t)((int64_t)code + r->distance);
}

/* ---- what depends on more than the letter ------------------------------------------------------
 */

enum {
    CASE_SIGMA = 0x3a3,
    CASE_FINAL_SIGMA = 0x3c2,
    CASE_DOTLESS = 0x131,
    CASE_DOTTED = 0x130,
    CASE_DOT = 0x307
};

/* A letter with cases follows, perhaps behind marks. */
static bool case_goes_on(const hg_case_walk *w)
{
    for (uint64_t at = w->at; at < w->length;) {
        uint32_t code = hg_utf8_next(w->text, w->length, &at);
        if (case_is_cased(code)) return true;
        if (!case_is_ignorable(code)) return false;
    }
    return false;
}

/* The Turkic i, and 0 for every other letter. I with a dot behind it is an i, and the dot goes. */
static uint32_t case_turkic(hg_case_walk *w, uint32_t code)
{
    if (w->rules != HG_CASE_TURKIC) return 0;
    if (w->to == HG_CASE_UPPER) return code == 'i' ? (uint32_t)CASE_DOTTED : 0;
    if (code == CASE_DOTTED) return 'i';
    if (code != 'I') return 0;
    uint64_t at = w->at;
    if (at == w->length || hg_utf8_next(w->text, w->length, &at) != CASE_DOT)
        return (uint32_t)CASE_DOTLESS;
    w->at = at;
    return 'i';
}

static void case_give(hg_case_walk *w, uint32_t code)
{
    const case_special *s = w->to == HG_CASE_LOWER   ? CASE_FIND(case_lower_special, code)
                            : w->to == HG_CASE_UPPER ? CASE_FIND(case_upper_special, code)
                                                     : CASE_FIND(case_fold_special, code);
    uint32_t turkic = case_turkic(w, code);
    w->next = 0;
    w->n_code = 1;
    if (turkic != 0) {
        w->code[0] = turkic;
    } else if (w->to == HG_CASE_LOWER && code == CASE_SIGMA && w->in_word && !case_goes_on(w)) {
        w->code[0] = CASE_FINAL_SIGMA;
    } else if (s != NULL && s->from == code) {
        memcpy(w->code, s->to, sizeof s->to);
        w->n_code = s->to[2] == 0 ? 2 : 3;
    } else {
        w->code[0] = case_simple(code, w->to);
    }
}

bool hg_case_next(hg_case_walk *w, uint32_t *code)
{
    if (w->next == w->n_code) {
        if (w->at == w->length) return false;
        uint32_t from = hg_utf8_next(w->text, w->length, &w->at);
        if (w->to == HG_CASE_NONE || from >= (uint32_t)CASE_BYTE) {
            w->code[0] = from;
            w->n_code = 1;
            w->next = 0;
        } else {
            case_give(w, from);
        }
        if (w->to == HG_CASE_LOWER && (case_is_cased(from) || !case_is_ignorable(from)))
            w->in_word = case_is_cased(from);
    }
    *code = w->code[w->next++];
    return true;
}

uint64_t hg_case_text(const holo_string *s, hg_case to, hg_case_rules rules, char *out)
{
    hg_case_walk w = {.text = s->text, .length = s->length, .to = to, .rules = rules};
    uint64_t length = 0;
    for (uint32_t code; hg_case_next(&w, &code);) {
        char one[4];
        uint64_t n = hg_utf8_put(code, one);
        if (out != NULL) memcpy(out + length, one, (size_t)n);
        length += n;
    }
    return length;
}

bool hg_case_same(const holo_string *a, const holo_string *b, hg_case_rules rules)
{
    hg_case_walk p = {.text = a->text, .length = a->length, .to = HG_CASE_FOLD, .rules = rules};
    hg_case_walk q = {.text = b->text, .length = b->length, .to = HG_CASE_FOLD, .rules = rules};
    for (;;) {
        uint32_t x = 0, y = 0;
        bool more = hg_case_next(&p, &x);
        if (more != hg_case_next(&q, &y) || x != y) return false;
        if (!more) return true;
    }
}
