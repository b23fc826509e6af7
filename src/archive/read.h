/* read.h - bytes in, validated borrowed views out. */
#ifndef HG_ARCHIVE_READ_H
#define HG_ARCHIVE_READ_H

#include "archive/holo.h"
#include "base/error.h"

/* Copies the head out of the bytes, which may change under us when they are a mapping, and checks
 * what can be checked without the section table. */
HG_MUST_CHECK holo_status hg_holo_head_read(const void *data, size_t size, hg_holo_head *head,
                                            holo_error *e);
/* Hash of head and table, places of the sections. table: a private copy of the section table. */
HG_MUST_CHECK holo_status hg_holo_check(const hg_holo_head *head, const hg_holo_section *table,
                                        uint64_t size, holo_error *e);
/* Nothing hides between the sections: zeros, less than a page of them. */
HG_MUST_CHECK holo_status hg_holo_check_gaps(const hg_holo_head *head, const hg_holo_section *table,
                                             const uint8_t *data, holo_error *e);
/* The copy of a section has the hash that the table says. */
HG_MUST_CHECK holo_status hg_holo_check_hash(const hg_holo_section *section, const void *copy,
                                             const char *what, holo_error *e);

#endif
