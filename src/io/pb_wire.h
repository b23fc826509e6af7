/* pb_wire.h - protobuf fields of a byte span, one after the other, without allocation. */
#ifndef HG_IO_PB_WIRE_H
#define HG_IO_PB_WIRE_H

#include "base/base.h"

typedef struct hg_pb_span {
    const uint8_t *at, *end;
} hg_pb_span;

enum { HG_PB_VARINT = 0, HG_PB_FIXED64 = 1, HG_PB_BYTES = 2, HG_PB_FIXED32 = 5 };

typedef struct hg_pb_field {
    uint32_t number;
    uint32_t wire;    /* one of the above */
    uint64_t value;   /* of a number */
    hg_pb_span bytes; /* of HG_PB_BYTES */
} hg_pb_field;

typedef enum hg_pb_step { HG_PB_END, HG_PB_FIELD, HG_PB_BAD } hg_pb_step;

/* Reads the next field. BAD: a varint over 10 bytes, a length beyond the rest, a group, number 0.
 */
hg_pb_step hg_pb_next(hg_pb_span *span, hg_pb_field *out);

/* The numbers of a field that may be packed or single; wire is that of a single one. Set `rest` to
 * {field->bytes} and call until END; for a single number call once. */
hg_pb_step hg_pb_number(hg_pb_span *rest, uint32_t wire, uint64_t *out);

static inline size_t hg_pb_size(hg_pb_span span)
{
    return (size_t)(span.end - span.at);
}

#endif
