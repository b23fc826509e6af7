/* holo.h - the .holo container: on-disk structs, little-endian, and the policy in words.
 *
 *   0                 hg_holo_head      64 bytes
 *   64                hg_holo_section   one per section, sorted by offset
 *   aligned to 64     program sections  one per graph, small: copied and verified at open
 *   aligned to 64     names             of values and nodes, for people: read in place when needed
 *   aligned to 64     metadata          pairs of zero-terminated texts: key, value, key, value ...
 *   aligned to 64     memo              optional, one per graph that has any (memo.h): read in
 *                                       place
 *   aligned to 64     places            optional, one per graph: hg_holo_places, then count pairs
 *                                       of a buffer and what it lies on (isa/offsets.h); what is
 *                                       left of the section is zero
 *   aligned to 4096   weights           mapped, read in place, never copied
 *
 * Sections do not overlap and lie inside the file; between them are zero bytes. The head's hash
 * covers head and section table, each section's its bytes. Those of program, metadata and places
 * are checked at open, those of names and weights on request. Version policy: readers accept every
 * version from 1 to their own. A section with HG_SECTION_REQUIRED whose kind is unknown is refused,
 * others are skipped; so additions need no new version. */
#ifndef HG_ARCHIVE_HOLO_H
#define HG_ARCHIVE_HOLO_H

#include "base/base.h"

enum { HG_HOLO_VERSION = 1, HG_HOLO_PAGE = 4096, HG_HOLO_MAX_SECTION = 4096 };

/* The first bytes catch text-mode transfers and cut files, like PNG's. */
#define HG_HOLO_MAGIC "HOLO\r\n\x1a\n"

typedef enum hg_section_kind {
    HG_SECTION_PROGRAM = 1,
    HG_SECTION_WEIGHTS = 2,
    HG_SECTION_META = 3,
    HG_SECTION_NAMES = 4,
    HG_SECTION_CERTS = 5, /* optional: what was proved, as text (table/cert.h) */
    HG_SECTION_MEMO = 6,  /* optional: answers for known inputs (memo.h) */
    HG_SECTION_PLACES = 8 /* optional: buffers of a graph and what each lies on; 7: unused */
} hg_section_kind;

enum { HG_SECTION_REQUIRED = 1 };

typedef struct hg_holo_head {
    uint8_t magic[8];
    uint32_t version;
    uint32_t order; /* 0x01020304 as the writer's CPU stores it: little-endian only */
    uint64_t size;  /* of the whole file */
    uint32_t n_section;
    uint32_t zero;
    uint64_t hash; /* of this head with hash = 0, then the section table */
    uint8_t reserved[24];
} hg_holo_head;

typedef struct hg_holo_section {
    uint32_t kind;
    uint32_t flags;
    uint64_t offset;
    uint64_t size;
    uint64_t hash;
} hg_holo_section;

typedef struct hg_holo_places {
    uint32_t graph; /* number of its program */
    uint32_t count;
} hg_holo_places;

_Static_assert(sizeof(hg_holo_places) == 8, "places layout");
_Static_assert(sizeof(hg_holo_head) == 64, "head layout");
_Static_assert(offsetof(hg_holo_head, size) == 16, "head layout");
_Static_assert(offsetof(hg_holo_head, hash) == 32, "head layout");
_Static_assert(sizeof(hg_holo_section) == 32, "section layout");

#endif
