/* narrow.c - fewer entries: codes that cannot come need none, and neither do rows, bytes of one
 * Atlas class or chains that differ in nothing. */
#include "base/atlas.h"
#include "table/table.h"

/* Sizes for which kernels have a faster way. The entries beyond the range hold what the chain says
 * of those codes too. */
hg_alphabet hg_narrow_codes(hg_alphabet range, hg_alphabet all)
{
    static const int64_t sizes[] = {16, 32, 64, 96, 128};
    if (all.count != 256) return range;
    for (size_t i = 0; i < HG_COUNT(sizes); i++) {
        if (range.count > sizes[i]) continue;
        return (hg_alphabet){hg_min(range.base, all.count - sizes[i]), sizes[i]};
    }
    return all;
}

void hg_narrow_rows(hg_entries *t)
{
    const size_t row = t->bytes / (size_t)t->rows;
    for (int64_t r = 1; r < t->rows; r++)
        if (memcmp(t->data, (const uint8_t *)t->data + (size_t)r * row, row) != 0) return;
    t->rows = 1;
    t->bytes = row;
}

bool hg_narrow_is_identity(holo_dtype from, holo_dtype to, const hg_entries *t)
{
    if (from != to || t->rows != 1 || t->classes) return false;
    for (int64_t k = 0; k < t->count; k++) {
        const uint16_t code = (uint16_t)(t->base + k);
        uint16_t entry = 0;
        memcpy(&entry, (const uint8_t *)t->data + (size_t)k * (t->bytes / (size_t)t->count),
               t->bytes / (size_t)t->count);
        if (entry != code) return false;
    }
    return true;
}

void hg_narrow_classes(hg_entries *t)
{
    if (t->rows != 1 || t->count != 256 || t->base != 0) return;
    const size_t size = t->bytes / 256;
    uint8_t *entry = t->data;
    for (size_t code = 0; code < 256; code++) {
        const size_t first = hg_atlas_byte(hg_atlas_class((uint8_t)code));
        if (memcmp(entry + code * size, entry + first * size, size) != 0) return;
    }
    for (size_t k = 0; k < HG_ATLAS_CLASSES; k++) /* representatives rise with the class */
        memmove(entry + k * size, entry + hg_atlas_byte((uint8_t)k) * size, size);
    t->count = HG_ATLAS_CLASSES;
    t->bytes = HG_ATLAS_CLASSES * size;
    t->classes = true;
}
