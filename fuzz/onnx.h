/* onnx.h - changes ONNX models as what they are: messages in messages. A field somewhere inside is
 * changed, doubled or taken out, and the lengths around it are made right again, so that mutants
 * get behind the wire reader. */
#ifndef HG_FUZZ_ONNX_H
#define HG_FUZZ_ONNX_H

#include "../test/fault/fault.h"
#include "import/onnx/wire.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

enum { ONNX_FIELDS = 256, ONNX_DEPTH = 12 };

/* One field: its tag begins at `begin`, its payload (of messages, text and bytes) at `at`. */
typedef struct onnx_field {
    size_t begin, at, end;
    bool is_long;
} onnx_field;

static inline size_t onnx_fields(const uint8_t *data, size_t size, onnx_field *field)
{
    hg_wire w = {data, data + size};
    hg_wire_field f;
    const char *fault = NULL;
    size_t count = 0, before = 0;
    while (count < ONNX_FIELDS && hg_wire_next(&w, &f, &fault)) {
        const size_t end = (size_t)(w.at - data);
        const bool is_long = f.type == HG_WIRE_BYTES;
        const size_t at = is_long ? end - hg_wire_size(f.bytes) : end;
        field[count++] = (onnx_field){before, at, end, is_long};
        before = end;
    }
    return fault == NULL ? count : 0;
}

static inline size_t onnx_varint(uint8_t *to, size_t value)
{
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        to[n++] = (uint8_t)(value | 128);
    to[n++] = (uint8_t)value;
    return n;
}

/* The size of the changed message in `to`, which has room for `max` bytes; 0: it did not fit. */
static inline size_t onnx_change(const uint8_t *data, size_t size, uint8_t *to, size_t max,
                                 uint64_t *state, int depth)
{
    onnx_field *field = malloc(ONNX_FIELDS * sizeof *field);
    size_t count = field == NULL ? 0 : onnx_fields(data, size, field), made = 0;
    if (size > max || field == NULL) {
        free(field);
        return 0;
    }
    if (count == 0 || depth == ONNX_DEPTH || fault_below(state, 6) == 0) {
        memcpy(to, data, size);
        made = LLVMFuzzerMutate(to, size, max);
        free(field);
        return made;
    }
    const onnx_field f = field[fault_below(state, (uint32_t)count)];
    const uint32_t what = fault_below(state, 8);
    free(field);
    memcpy(to, data, f.begin);
    if (what == 0) /* gone */
        memcpy(to + f.begin, data + f.end, made = size - f.end);
    if (what == 0) return f.begin + made;
    if (what == 1 && size + (f.end - f.begin) <= max) { /* twice */
        memcpy(to + f.begin, data + f.begin, f.end - f.begin);
        memcpy(to + f.end, data + f.begin, size - f.begin);
        return size + (f.end - f.begin);
    }
    if (!f.is_long || max < size + 16) {
        memcpy(to, data, size);
        return LLVMFuzzerMutate(to, size, max);
    }
    uint8_t *inner = malloc(max);
    size_t room = max - (size - (f.end - f.at)) - 10;
    made =
        inner == NULL ? 0 : onnx_change(data + f.at, f.end - f.at, inner, room, state, depth + 1);
    size_t tag = f.begin; /* the tag ends before the old length */
    while ((data[tag++] & 128) != 0) {}
    memcpy(to, data, tag);
    size_t at = tag + onnx_varint(to + tag, made);
    if (made != 0) memcpy(to + at, inner, made);
    memcpy(to + at + made, data + f.end, size - f.end);
    free(inner);
    return at + made + size - f.end;
}

#ifdef HG_FUZZ
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    uint64_t state = seed;
    uint8_t *to = malloc(max_size + 16);
    size_t made = to == NULL ? 0 : onnx_change(data, size, to, max_size, &state, 0);
    if (made != 0 && made <= max_size) memcpy(data, to, made);
    free(to);
    return made != 0 && made <= max_size ? made : LLVMFuzzerMutate(data, size, max_size);
}
#endif

#endif
