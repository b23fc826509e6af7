/* unicode.c - what a byte-level tokenizer must know about characters, without a locale. */
#include "unicode.h"

typedef struct unicode_range {
    uint32_t first;
    uint32_t last;
} unicode_range;

typedef struct unicode_run {
    uint32_t first;
    uint32_t last;
    uint32_t step;
    int32_t delta;
} unicode_run;

#include "unicode_tables.inc"

#define UNICODE_COUNT(table) (sizeof(table) / sizeof(table)[0])

bool unicode_decode(const char *text, size_t size, size_t *at, uint32_t *out)
{
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000}; /* by continuation bytes */
    if (*at >= size) return false;
    const uint8_t head = (uint8_t)text[*at];
    const size_t more = head < 0x80 ? 0 : head >= 0xF0 ? 3 : head >= 0xE0 ? 2 : 1;
    if ((head >= 0x80 && head < 0xC0) || head >= 0xF8 || size - *at <= more) return false;
    uint32_t code = more == 0 ? head : head & (0x3FU >> more);
    for (size_t i = 1; i <= more; i++) {
        const uint8_t next = (uint8_t)text[*at + i];
        if ((next & 0xC0) != 0x80) return false;
        code = code << 6 | (next & 0x3FU);
    }
    if (code < smallest[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    *at += more + 1;
    *out = code;
    return true;
}

size_t unicode_encode(uint32_t code, uint8_t out[4])
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    const size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t head[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (uint8_t)(head[more] | code >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (uint8_t)(0x80 | (code >> (6 * (more - i)) & 0x3F));
    return more + 1;
}

static bool unicode_contains(const unicode_range *table, size_t count, uint32_t code)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && table[low].first <= code;
}

/* Unicode's White_Space. */
static bool unicode_is_space(uint32_t code)
{
    return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

unicode_class unicode_class_of(uint32_t code)
{
    if (unicode_is_space(code)) return UNICODE_SPACE;
    if (unicode_contains(unicode_letters, UNICODE_COUNT(unicode_letters), code))
        return UNICODE_LETTER;
    if (unicode_contains(unicode_numbers, UNICODE_COUNT(unicode_numbers), code))
        return UNICODE_NUMBER;
    return UNICODE_OTHER;
}

size_t unicode_lower(uint32_t code, uint32_t out[2])
{
    out[0] = code;
    if (code == 0x130) { /* capital I with dot: the only one that becomes two */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    for (size_t i = 0; i < UNICODE_COUNT(unicode_upper); i++) {
        const unicode_run *run = &unicode_upper[i];
        if (code < run->first) break;
        if (code > run->last || (code - run->first) % run->step != 0) continue;
        out[0] = (uint32_t)((int32_t)code + run->delta);
        break;
    }
    return 1;
}
