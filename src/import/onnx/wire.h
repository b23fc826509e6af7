/* wire.h - protobuf wire reader over a byte span: no copies, no allocation, no trust.
 *
 * A message is a span of fields; a field has a number and a value: an integer, 4 or 8 bytes, or a
 * span (text, bytes, a message, or numbers packed together). Repeated fields are iterated where
 * they lie. */
#ifndef HG_IMPORT_WIRE_H
#define HG_IMPORT_WIRE_H

#include "base/base.h"

typedef struct hg_wire {
    const uint8_t *at, *end;
} hg_wire;

typedef enum hg_wire_type {
    HG_WIRE_VARINT = 0,
    HG_WIRE_FIXED64 = 1,
    HG_WIRE_BYTES = 2,
    HG_WIRE_FIXED32 = 5
} hg_wire_type;

typedef struct hg_wire_field {
    uint32_t number;
    hg_wire_type type;
    uint64_t value; /* VARINT, FIXED32, FIXED64 */
    hg_wire bytes;  /* BYTES */
    hg_wire whole;  /* with its tag */
} hg_wire_field;

static inline size_t hg_wire_size(hg_wire w)
{
    return w.at == NULL ? 0 : (size_t)(w.end - w.at);
}

/* Reads the next field; groups, which no message of ONNX uses, are passed over. False at the end of
 * the message, and with *fault set to static text when the bytes are no field. */
bool hg_wire_next(hg_wire *w, hg_wire_field *out, const char **fault);

/* The occurrences of a repeated field whose values are spans. Iterate over a copy. */
typedef struct hg_wire_list {
    hg_wire range; /* from the first to the last occurrence; other fields may lie between */
    uint32_t number;
    size_t count;
} hg_wire_list;

void hg_wire_list_add(hg_wire_list *list, const hg_wire_field *field);
bool hg_wire_list_next(hg_wire_list *list, hg_wire *item);

/* The same for numbers, packed, one by one, or mixed. */
typedef struct hg_wire_numbers {
    hg_wire range;
    hg_wire run; /* packed numbers under iteration */
    uint32_t number;
    hg_wire_type type; /* of one number */
    size_t count;
    size_t occurrences; /* of the field */
} hg_wire_numbers;

/* Checks the field's numbers and counts them; static text when they are malformed, else NULL. */
const char *hg_wire_numbers_add(hg_wire_numbers *numbers, hg_wire_type type,
                                const hg_wire_field *field);
bool hg_wire_numbers_next(hg_wire_numbers *numbers, uint64_t *value);
/* Their bytes, when they are fixed-size and lie in one packed run. */
bool hg_wire_numbers_bytes(const hg_wire_numbers *numbers, hg_wire *bytes);

#endif
