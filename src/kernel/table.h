/* table.h - what every variant of "table" shares: the parameters, the check, and one call seen as
 * runs of codes that use the same row of the table. */
#ifndef HG_KERNEL_TABLE_H
#define HG_KERNEL_TABLE_H

#include "isa/kernel.h"

enum { HG_TABLE_AXIS, HG_TABLE_BASE, HG_TABLE_CLASSES, HG_TABLE_PARAMS };

/* Elements of a unit: a multiple of 4, so that packed codes of a unit start with a byte. */
enum { HG_TABLE_BLOCK = 16384 };

/* Types whose bits are codes, and types of the entries. */
#define HG_TABLE_CODES_8                                                                           \
    (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8) | HG_TYPES_BOOL | HG_TYPES_FLOAT8 |               \
     HG_TYPE_BIT(HOLO_F8E8M0))
#define HG_TABLE_CODES_16                                                                          \
    (HG_TYPE_BIT(HOLO_U16) | HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))
#define HG_TABLE_CODES (HG_TABLE_CODES_8 | HG_TABLE_CODES_16 | HG_TYPES_NARROW)
#define HG_TABLE_ENTRIES                                                                           \
    (HG_TABLE_CODES_8 | HG_TABLE_CODES_16 | HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_I32) |        \
     HG_TYPE_BIT(HOLO_U32))

typedef struct hg_table {
    const uint8_t *codes;
    const uint8_t *entry;    /* [channels, entries] of `size` bytes */
    uint8_t *out;            /* may be the codes, when sizes match */
    int64_t count;           /* of codes */
    int64_t channels, inner; /* code i uses row i / inner % channels */
    int64_t entries, base;   /* of a row; entry k belongs to code base + k */
    uint32_t bits, size;     /* of a code; bytes of an entry */
    bool by_class;           /* entry k belongs to the bytes of Atlas class k */
    hg_fault *fault;
} hg_table;

holo_status hg_kernel_table_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_table_units(const hg_args *a);
hg_table hg_table_of(const hg_args *a);
/* Code i as an unsigned number. */
uint32_t hg_table_code(const hg_table *t, int64_t i);
/* Codes [begin, end), one at a time; a code outside the table is a fault and is left out. Tuned
 * variants use it for what they do not do themselves. */
void hg_table_each(const hg_table *t, int64_t begin, int64_t end);

#endif
