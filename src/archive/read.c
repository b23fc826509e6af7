/* read.c - checks a .holo container; nothing in it is trusted before. */
#include "archive/read.h"
#include "base/hash.h"

#include <string.h>

holo_status hg_holo_head_read(const void *data, size_t size, hg_holo_head *head, holo_error *e)
{
    hg_holo_head h;
    if (size < sizeof h)
        return hg_fail(e, HOLO_E_FORMAT, "%zu bytes are too few for a .holo file (at least %zu)",
                       size, sizeof h);
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, HG_HOLO_MAGIC, sizeof h.magic) != 0)
        return hg_fail(e, HOLO_E_FORMAT,
                       "this is not a .holo file: it starts with other bytes than \"HOLO\"");
    if (h.order != UINT32_C(0x01020304))
        return hg_fail(e, HOLO_E_FORMAT, "the byte order mark is %08x, expected 01020304", h.order);
    if (h.version == 0) return hg_fail(e, HOLO_E_FORMAT, "format version 0 does not exist");
    if (h.version > HG_HOLO_VERSION)
        return hg_fail(
            e, HOLO_E_VERSION,
            "the file has format version %u; this library reads up to %d: use a newer one",
            h.version, HG_HOLO_VERSION);
    if (h.size != size)
        return hg_fail(e, HOLO_E_FORMAT,
                       "the file has %zu bytes but says %llu: it is cut or extended", size,
                       (unsigned long long)h.size);
    if (h.n_section == 0 || h.n_section > HG_HOLO_MAX_SECTION)
        return hg_fail(e, HOLO_E_FORMAT, "the file says it has %u sections, expected 1 to %d",
                       h.n_section, HG_HOLO_MAX_SECTION);
    if (h.n_section * sizeof(hg_holo_section) > size - sizeof h)
        return hg_fail(e, HOLO_E_FORMAT, "the section table lies outside the file");
    for (size_t i = 0; i < sizeof h.reserved; i++)
        if (h.reserved[i] != 0 || h.zero != 0)
            return hg_fail(e, HOLO_E_FORMAT, "reserved bytes of the head are not zero");
    *head = h;
    return HOLO_OK;
}

static holo_status read_check_section(const hg_holo_section *s, uint32_t i, uint64_t earliest,
                                      uint64_t size, holo_error *e)
{
    uint64_t align = s->kind == HG_SECTION_WEIGHTS ? HG_HOLO_PAGE : HG_ALIGN;
    if (s->offset < earliest || s->offset > size || s->size > size - s->offset)
        return hg_fail(e, HOLO_E_FORMAT,
                       "section %u (bytes %llu + %llu) overlaps another or leaves the file", i,
                       (unsigned long long)s->offset, (unsigned long long)s->size);
    if (s->offset - earliest >= HG_HOLO_PAGE)
        return hg_fail(e, HOLO_E_FORMAT, "section %u starts %llu bytes behind the one before it", i,
                       (unsigned long long)(s->offset - earliest));
    if (s->offset % align != 0)
        return hg_fail(e, HOLO_E_FORMAT, "section %u starts at %llu, expected a multiple of %llu",
                       i, (unsigned long long)s->offset, (unsigned long long)align);
    bool known = s->kind >= HG_SECTION_PROGRAM && s->kind <= HG_SECTION_NAMES;
    if (!known && (s->flags & HG_SECTION_REQUIRED) != 0)
        return hg_fail(e, HOLO_E_VERSION,
                       "section %u has kind %u, which this library does not know", i, s->kind);
    return HOLO_OK;
}

holo_status hg_holo_check(const hg_holo_head *head, const hg_holo_section *table, uint64_t size,
                          holo_error *e)
{
    hg_holo_head bare = *head;
    bare.hash = 0;
    uint64_t hash = hg_hash(table, head->n_section * sizeof *table, hg_hash(&bare, sizeof bare, 0));
    if (hash != head->hash)
        return hg_fail(e, HOLO_E_FORMAT,
                       "the hash of the head is %016llx, expected %016llx: the file is damaged",
                       (unsigned long long)hash, (unsigned long long)head->hash);
    uint64_t end = sizeof *head + head->n_section * sizeof *table;
    uint32_t n_program = 0, n_weights = 0, n_meta = 0, n_names = 0;
    for (uint32_t i = 0; i < head->n_section; i++) {
        HG_TRY(read_check_section(&table[i], i, end, size, e));
        end = table[i].offset + table[i].size;
        n_program += table[i].kind == HG_SECTION_PROGRAM;
        n_weights += table[i].kind == HG_SECTION_WEIGHTS;
        n_meta += table[i].kind == HG_SECTION_META;
        n_names += table[i].kind == HG_SECTION_NAMES;
    }
    if (end != size)
        return hg_fail(e, HOLO_E_FORMAT, "%llu bytes follow the last section",
                       (unsigned long long)(size - end));
    if (n_program == 0 || n_weights > 1 || n_meta > 1 || n_names > 1)
        return hg_fail(e, HOLO_E_FORMAT,
                       "the file has %u programs and %u weight, %u metadata and %u name sections; "
                       "expected at least 1 program, at most 1 of the others",
                       n_program, n_weights, n_meta, n_names);
    return HOLO_OK;
}

holo_status hg_holo_check_gaps(const hg_holo_head *head, const hg_holo_section *table,
                               const uint8_t *data, holo_error *e)
{
    uint64_t at = sizeof *head + head->n_section * sizeof *table;
    for (uint32_t i = 0; i < head->n_section; i++) {
        for (; at < table[i].offset; at++)
            if (data[at] != 0)
                return hg_fail(e, HOLO_E_FORMAT,
                               "byte %llu, between sections, is %u; expected 0 there",
                               (unsigned long long)at, data[at]);
        at = table[i].offset + table[i].size;
    }
    return HOLO_OK;
}

holo_status hg_holo_check_hash(const hg_holo_section *section, const void *copy, const char *what,
                               holo_error *e)
{
    uint64_t hash = hg_hash_blocks(copy, (size_t)section->size);
    if (hash == section->hash) return HOLO_OK;
    return hg_fail(e, HOLO_E_FORMAT,
                   "the hash of the %s is %016llx, expected %016llx: the file is damaged", what,
                   (unsigned long long)hash, (unsigned long long)section->hash);
}
