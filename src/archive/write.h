/* write.h - sections in, a .holo file out. */
#ifndef HG_ARCHIVE_WRITE_H
#define HG_ARCHIVE_WRITE_H

#include "archive/holo.h"
#include "base/file.h"

/* Order of calls: begin, section bytes ..., end for each section, finish. Head and table are
 * patched in at the end, so everything streams. */
typedef struct hg_holo_writer {
    hg_writer *out;
    hg_holo_section *table; /* room for n_section */
    uint32_t n_section, at;
    uint64_t size; /* of the file, once it is finished */
} hg_holo_writer;

/* Writes room for head and table of n_section sections. */
HG_MUST_CHECK holo_status hg_holo_write_begin(hg_holo_writer *w, hg_writer *out,
                                              hg_holo_section *table, uint32_t n_section,
                                              holo_error *e);
/* A whole section from memory. */
HG_MUST_CHECK holo_status hg_holo_write_section(hg_holo_writer *w, hg_section_kind kind,
                                                const void *bytes, size_t size, holo_error *e);
/* A section whose bytes the caller streams to w->out in between; its hash is given at the end. */
HG_MUST_CHECK holo_status hg_holo_write_open(hg_holo_writer *w, hg_section_kind kind,
                                             holo_error *e);
HG_MUST_CHECK holo_status hg_holo_write_close(hg_holo_writer *w, uint64_t hash, holo_error *e);
HG_MUST_CHECK holo_status hg_holo_write_finish(hg_holo_writer *w, holo_error *e);
/* The head that finish writes, for who changes a section afterwards. */
hg_holo_head hg_holo_write_head(const hg_holo_writer *w);

#endif
