/* pb_wire.c - protobuf fields of a byte span. */
#include "io/pb_wire.h"

static bool pb_wire_varint(hg_pb_span *s, uint64_t *out)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 70 && s->at < s->end; shift += 7) {
        uint8_t byte = *s->at++;
        if (shift == 63 && byte > 1) return false;
        value |= (uint64_t)(byte & 127u) << shift;
        if (byte < 128) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool pb_wire_fixed(hg_pb_span *s, size_t bytes, uint64_t *out)
{
    if (hg_pb_size(*s) < bytes) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)s->at[i] << (8 * i);
    s->at += bytes;
    *out = value;
    return true;
}

hg_pb_step hg_pb_number(hg_pb_span *rest, uint32_t wire, uint64_t *out)
{
    if (rest->at == rest->end) return HG_PB_END;
    bool ok = wire == HG_PB_VARINT    ? pb_wire_varint(rest, out)
              : wire == HG_PB_FIXED32 ? pb_wire_fixed(rest, 4, out)
                                      : pb_wire_fixed(rest, 8, out);
    return ok ? HG_PB_FIELD : HG_PB_BAD;
}

hg_pb_step hg_pb_next(hg_pb_span *span, hg_pb_field *out)
{
    if (span->at == span->end) return HG_PB_END;
    uint64_t key, size;
    if (!pb_wire_varint(span, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX) return HG_PB_BAD;
    *out = (hg_pb_field){.number = (uint32_t)(key >> 3), .wire = (uint32_t)(key & 7)};
    switch (out->wire) {
    case HG_PB_VARINT: return pb_wire_varint(span, &out->value) ? HG_PB_FIELD : HG_PB_BAD;
    case HG_PB_FIXED64: return pb_wire_fixed(span, 8, &out->value) ? HG_PB_FIELD : HG_PB_BAD;
    case HG_PB_FIXED32: return pb_wire_fixed(span, 4, &out->value) ? HG_PB_FIELD : HG_PB_BAD;
    case HG_PB_BYTES:
        if (!pb_wire_varint(span, &size) || size > hg_pb_size(*span)) return HG_PB_BAD;
        out->bytes = (hg_pb_span){span->at, span->at + size};
        span->at += size;
        return HG_PB_FIELD;
    default: return HG_PB_BAD;
    }
}
