/* atlas.c - the public functions of Atlas: classes, maps, Q96, addresses, rings. */
#include "base/atlas.h"

#include <math.h>
#include <string.h>

enum { ATLAS_SUBS = 65536, ATLAS_BYTES = 256 };

/* ---- classes ----------------------------------------------------------------------------- */

uint8_t holo_atlas_class(uint8_t byte)
{
    return hg_atlas_class(byte);
}

uint8_t holo_atlas_residual(uint8_t byte)
{
    return (uint8_t)((byte & 1) | ((byte & 0x30) == 0x30 ? 2 : 0));
}

uint8_t holo_atlas_byte(uint8_t number, uint8_t residual)
{
    const uint8_t byte = hg_atlas_byte(number % HG_ATLAS_CLASSES);
    const bool both = (residual & 2) != 0 && (byte & 0x30) == 0;
    return (uint8_t)(byte | (residual & 1) | (both ? 0x30 : 0));
}

void holo_atlas_coordinates(uint8_t number, uint8_t *h2, uint8_t *d, uint8_t *l)
{
    const uint32_t c = number % HG_ATLAS_CLASSES;
    *h2 = (uint8_t)(c / 24);
    *d = (uint8_t)(c % 24 / 8);
    *l = (uint8_t)(c % 8);
}

/* ---- maps -------------------------------------------------------------------------------- */

static uint8_t atlas_number(uint32_t h2, uint32_t d, uint32_t l)
{
    return (uint8_t)(24 * (h2 % 4) + 8 * (d % 3) + l % 8);
}

static uint8_t atlas_step(char letter, uint8_t number)
{
    uint8_t h2, d, l;
    holo_atlas_coordinates(number, &h2, &d, &l);
    if (letter == 'R') h2++;
    if (letter == 'D') d++;
    if (letter == 'T') l++;
    if (letter == 'M') d = (uint8_t)(3 - d);
    return atlas_number(h2, d, l);
}

bool holo_atlas_map(const char *word, uint8_t map[96])
{
    const size_t length = strlen(word);
    if (strspn(word, "RDTM") != length) return false;
    for (uint32_t i = 0; i < HG_ATLAS_CLASSES; i++) {
        uint8_t c = (uint8_t)i;
        for (size_t k = length; k-- > 0;)
            c = atlas_step(word[k], c);
        map[i] = c;
    }
    return true;
}

static bool atlas_is_map(const uint8_t *map)
{
    for (uint32_t i = 0; i < HG_ATLAS_CLASSES; i++)
        if (map[i] >= HG_ATLAS_CLASSES) return false;
    return true;
}

bool holo_atlas_compose(const uint8_t *g, const uint8_t *f, uint8_t *out)
{
    uint8_t both[HG_ATLAS_CLASSES];
    if (!atlas_is_map(g) || !atlas_is_map(f)) return false;
    for (uint32_t i = 0; i < HG_ATLAS_CLASSES; i++)
        both[i] = g[f[i]];
    memcpy(out, both, sizeof both);
    return true;
}

/* A word is known by where it takes classes 0 and 8, (0, 0, 0) and (0, 1, 0): M moves the second
 * against D. */
bool holo_atlas_word(const uint8_t map[96], char word[16])
{
    uint8_t turn[3], next[3], check[HG_ATLAS_CLASSES];
    char text[16];
    size_t n = 0;
    if (!atlas_is_map(map)) return false;
    holo_atlas_coordinates(map[0], &turn[0], &turn[1], &turn[2]);
    holo_atlas_coordinates(map[8], &next[0], &next[1], &next[2]);
    for (int k = 0; k < 3; k++)
        for (uint8_t i = 0; i < turn[k]; i++)
            text[n++] = "RDT"[k];
    if (next[1] != (turn[1] + 1) % 3) text[n++] = 'M';
    text[n] = '\0';
    holo_atlas_map(text, check);
    if (memcmp(check, map, sizeof check) != 0) return false;
    memcpy(word, text, n + 1);
    return true;
}

bool holo_atlas_factors(const uint8_t function[256], uint8_t map[96])
{
    for (uint32_t b = 0; b < 256; b++)
        if (function[b] != function[hg_atlas_byte(hg_atlas_class((uint8_t)b))]) return false;
    for (uint32_t c = 0; c < HG_ATLAS_CLASSES; c++)
        map[c] = function[hg_atlas_byte((uint8_t)c)];
    return true;
}

/* ---- Q96 --------------------------------------------------------------------------------- */

holo_q96 holo_q96_make(float low, float high)
{
    return (holo_q96){.low = low, .step = (high - low) / (float)(HG_ATLAS_CLASSES - 1)};
}

uint8_t holo_q96_code(const holo_q96 *q, float x)
{
    const float level = rintf((x - q->low) / q->step);
    if (!(level > 0)) return 0; /* also NaN */
    return level < (float)(HG_ATLAS_CLASSES - 1) ? (uint8_t)level : HG_ATLAS_CLASSES - 1;
}

float holo_q96_value(const holo_q96 *q, uint8_t code)
{
    return q->low + (float)(code % HG_ATLAS_CLASSES) * q->step;
}

/* ---- addresses --------------------------------------------------------------------------- */

uint64_t holo_atlas_cell(uint16_t page, uint8_t byte)
{
    return page < HOLO_ATLAS_PAGES ? (uint64_t)page * ATLAS_BYTES + byte : UINT64_MAX;
}

uint64_t holo_atlas_class_cell(uint8_t number, uint16_t page, uint8_t byte)
{
    if (number >= HG_ATLAS_CLASSES || page >= HOLO_ATLAS_PAGES) return UINT64_MAX;
    return (uint64_t)number * HOLO_ATLAS_PAGES * ATLAS_BYTES + holo_atlas_cell(page, byte);
}

uint64_t holo_atlas_address_number(const holo_atlas_address *a)
{
    if (a->number >= HG_ATLAS_CLASSES || a->page >= HOLO_ATLAS_WIDE_PAGES) return UINT64_MAX;
    const uint64_t page = (uint64_t)a->number * HOLO_ATLAS_WIDE_PAGES + a->page;
    return (page * ATLAS_BYTES + a->byte) * ATLAS_SUBS + a->sub;
}

bool holo_atlas_address_of(uint64_t number, holo_atlas_address *out)
{
    const uint64_t byte = number / ATLAS_SUBS, page = byte / ATLAS_BYTES;
    if (page >= (uint64_t)HG_ATLAS_CLASSES * HOLO_ATLAS_WIDE_PAGES) return false;
    *out = (holo_atlas_address){.number = (uint8_t)(page / HOLO_ATLAS_WIDE_PAGES),
                                .page = (uint16_t)(page % HOLO_ATLAS_WIDE_PAGES),
                                .byte = (uint8_t)(byte % ATLAS_BYTES),
                                .sub = (uint16_t)(number % ATLAS_SUBS)};
    return true;
}

uint32_t holo_atlas_slot(uint64_t hash, uint32_t slots)
{
    return (uint32_t)((hash >> 32) * slots >> 32);
}

/* ---- rings ------------------------------------------------------------------------------- */

uint32_t holo_ring_add(uint32_t modulus, uint32_t a, uint32_t b)
{
    return modulus == 0 ? 0 : (uint32_t)(((uint64_t)a + b) % modulus);
}

uint32_t holo_ring_multiply(uint32_t modulus, uint32_t a, uint32_t b)
{
    return modulus == 0 ? 0 : (uint32_t)((uint64_t)a * b % modulus);
}

uint32_t holo_ring_times(uint32_t modulus, int64_t n, uint32_t a)
{
    if (modulus == 0) return 0;
    const int64_t turns = n % (int64_t)modulus;
    return holo_ring_multiply(modulus, (uint32_t)(turns < 0 ? turns + modulus : turns), a);
}
