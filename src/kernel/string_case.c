/* string_case.c - case of letters by rule: ranges where the two cases lie a fixed distance apart,
 * and ranges where they alternate. */
#include "kernel/string_case.h"

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

/* Upper-case letters [first, last]; the lower-case one is `distance` behind, or, when that is 0,
 * next to it: the upper-case one has the parity of `first`. */
typedef struct case_range {
    uint32_t first, last, distance;
} case_range;

static const case_range case_ranges[] = {
    {'A', 'Z', 32},       {0xc0, 0xd6, 32},   {0xd8, 0xde, 32},    {0x100, 0x12e, 0},
    {0x132, 0x136, 0},    {0x139, 0x147, 0},  {0x14a, 0x176, 0},   {0x179, 0x17d, 0},
    {0x1cd, 0x1db, 0},    {0x1de, 0x1ee, 0},  {0x1f8, 0x21e, 0},   {0x222, 0x232, 0},
    {0x388, 0x38a, 37},   {0x391, 0x3a1, 32}, {0x3a3, 0x3ab, 32},  {0x400, 0x40f, 80},
    {0x410, 0x42f, 32},   {0x460, 0x480, 0},  {0x48a, 0x4be, 0},   {0x4c1, 0x4cd, 0},
    {0x4d0, 0x52e, 0},    {0x531, 0x556, 48}, {0x1e00, 0x1e94, 0}, {0x1ea0, 0x1efe, 0},
    {0xff21, 0xff3a, 32},
};

uint32_t hg_case_change(uint32_t code, hg_case to)
{
    if (to == HG_CASE_UPPER && code == 0x3c2) return 0x3a3; /* final sigma */
    if (to == HG_CASE_UPPER && code == 0xff) return 0x178;
    if (to == HG_CASE_LOWER && code == 0x178) return 0xff;
    if (to == HG_CASE_UPPER && code == 0x3ac) return 0x386;
    if (to == HG_CASE_LOWER && code == 0x386) return 0x3ac;
    for (size_t i = 0; to != HG_CASE_NONE && i < HG_COUNT(case_ranges); i++) {
        const case_range *r = &case_ranges[i];
        uint32_t distance = r->distance == 0 ? 1 : r->distance;
        uint32_t upper = to == HG_CASE_UPPER ? code - distance : code;
        if (upper < r->first || upper > r->last) continue;
        if (r->distance == 0 && (upper - r->first) % 2 != 0) continue;
        return to == HG_CASE_UPPER ? upper : upper + distance;
    }
    return code;
}
