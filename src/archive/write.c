/* write.c - writes a .holo container front to back, then patches head and section table. */
#include "archive/write.h"
#include "base/hash.h"

#include <string.h>

holo_status hg_holo_write_begin(hg_holo_writer *w, hg_writer *out, hg_holo_section *table,
                                uint32_t n_section, holo_error *e)
{
    *w = (hg_holo_writer){.out = out, .table = table, .n_section = n_section};
    memset(table, 0, n_section * sizeof *table);
    hg_holo_head head;
    memset(&head, 0, sizeof head);
    HG_TRY(hg_writer_write(out, &head, sizeof head, e));
    return hg_writer_write(out, table, n_section * sizeof *table, e);
}

holo_status hg_holo_write_open(hg_holo_writer *w, hg_section_kind kind, holo_error *e)
{
    assert(w->at < w->n_section);
    HG_TRY(hg_writer_pad(w->out, kind == HG_SECTION_WEIGHTS ? HG_HOLO_PAGE : HG_ALIGN, e));
    w->table[w->at] = (hg_holo_section){.kind = (uint32_t)kind,
                                        .flags = kind < HG_SECTION_CERTS ? HG_SECTION_REQUIRED : 0,
                                        .offset = w->out->size};
    return HOLO_OK;
}

holo_status hg_holo_write_close(hg_holo_writer *w, uint64_t hash, holo_error *e)
{
    (void)e;
    hg_holo_section *s = &w->table[w->at++];
    s->size = w->out->size - s->offset;
    s->hash = hash;
    return HOLO_OK;
}

holo_status hg_holo_write_section(hg_holo_writer *w, hg_section_kind kind, const void *bytes,
                                  size_t size, holo_error *e)
{
    HG_TRY(hg_holo_write_open(w, kind, e));
    HG_TRY(hg_writer_write(w->out, bytes, size, e));
    return hg_holo_write_close(w, hg_hash_blocks(bytes, size), e);
}

hg_holo_head hg_holo_write_head(const hg_holo_writer *w)
{
    hg_holo_head head = {.version = HG_HOLO_VERSION,
                         .order = UINT32_C(0x01020304),
                         .size = w->size,
                         .n_section = w->n_section};
    memcpy(head.magic, HG_HOLO_MAGIC, sizeof head.magic);
    head.hash = hg_hash(w->table, w->n_section * sizeof *w->table, hg_hash(&head, sizeof head, 0));
    return head;
}

holo_status hg_holo_write_finish(hg_holo_writer *w, holo_error *e)
{
    assert(w->at == w->n_section);
    w->size = w->out->size;
    const hg_holo_head head = hg_holo_write_head(w);
    HG_TRY(hg_writer_patch(w->out, 0, &head, sizeof head, e));
    return hg_writer_patch(w->out, sizeof head, w->table, w->n_section * sizeof *w->table, e);
}
