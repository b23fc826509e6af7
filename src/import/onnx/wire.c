/* wire.c - protobuf wire reader over a byte span. */
#include "import/onnx/wire.h"

enum {
    WIRE_GROUP_BEGIN = 3,
    WIRE_GROUP_END = 4,
    WIRE_MAX_DEPTH = 64,
    WIRE_MAX_NUMBER = (1 << 29) - 1
};

static const char *wire_varint(hg_wire *w, uint64_t *out)
{
    uint64_t value = 0;
    const uint8_t *at = w->at;
    for (uint32_t shift = 0; shift < 70; shift += 7) {
        if (at == w->end) return "a number is cut off";
        const uint8_t byte = *at++;
        if (shift == 63 && byte > 1) return "a number has more than 64 bits";
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            w->at = at;
            *out = value;
            return NULL;
        }
    }
    return "a number is longer than 10 bytes";
}

static const char *wire_fixed(hg_wire *w, size_t size, uint64_t *out)
{
    if (hg_wire_size(*w) < size) return "a number is cut off";
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)w->at[i] << (8 * i);
    w->at += size;
    *out = value;
    return NULL;
}

static const char *wire_bytes(hg_wire *w, hg_wire *out)
{
    uint64_t size;
    const char *fault = wire_varint(w, &size);
    if (fault != NULL) return fault;
    if (size > hg_wire_size(*w)) return "a length goes beyond the end of its message";
    *out = (hg_wire){w->at, w->at + size};
    w->at += size;
    return NULL;
}

/* Number of the field and how it is stored, which may be a group. */
static const char *wire_tag(hg_wire *w, uint32_t *number, uint32_t *type)
{
    uint64_t tag;
    const char *fault = wire_varint(w, &tag);
    if (fault != NULL) return fault;
    if (tag >> 3 == 0 || tag >> 3 > WIRE_MAX_NUMBER) return "a field number is out of range";
    *number = (uint32_t)(tag >> 3);
    *type = (uint32_t)(tag & 7);
    return NULL;
}

static const char *wire_value(hg_wire *w, uint32_t type, hg_wire_field *out)
{
    switch (type) {
    case HG_WIRE_VARINT: return wire_varint(w, &out->value);
    case HG_WIRE_FIXED64: return wire_fixed(w, 8, &out->value);
    case HG_WIRE_BYTES: return wire_bytes(w, &out->bytes);
    case HG_WIRE_FIXED32: return wire_fixed(w, 4, &out->value);
    default: return "a field has an unknown wire type";
    }
}

/* Passes over a group that has just begun. */
static const char *wire_skip_group(hg_wire *w, uint32_t number)
{
    uint32_t open[WIRE_MAX_DEPTH] = {number}, type;
    hg_wire_field ignored;
    for (size_t depth = 1; depth > 0;) {
        const char *fault = wire_tag(w, &number, &type);
        if (fault != NULL) return fault;
        if (type == WIRE_GROUP_BEGIN) {
            if (depth == WIRE_MAX_DEPTH) return "groups are nested deeper than 64";
            open[depth++] = number;
        } else if (type == WIRE_GROUP_END) {
            if (open[--depth] != number) return "a group ends that did not begin";
        } else {
            fault = wire_value(w, type, &ignored);
            if (fault != NULL) return fault;
        }
    }
    return NULL;
}

bool hg_wire_next(hg_wire *w, hg_wire_field *out, const char **fault)
{
    *fault = NULL;
    while (hg_wire_size(*w) > 0) {
        hg_wire_field field = {.whole.at = w->at};
        uint32_t type;
        *fault = wire_tag(w, &field.number, &type);
        if (*fault != NULL) return false;
        if (type == WIRE_GROUP_BEGIN) {
            *fault = wire_skip_group(w, field.number);
            if (*fault != NULL) return false;
            continue;
        }
        *fault = wire_value(w, type, &field);
        if (*fault != NULL) return false;
        field.type = (hg_wire_type)type;
        field.whole.end = w->at;
        *out = field;
        return true;
    }
    return false;
}

/* ---- repeated fields ------------------------------------------------------------------------- */

void hg_wire_list_add(hg_wire_list *list, const hg_wire_field *field)
{
    if (list->count++ == 0) *list = (hg_wire_list){field->whole, field->number, 1};
    list->range.end = field->whole.end;
}

bool hg_wire_list_next(hg_wire_list *list, hg_wire *item)
{
    const char *fault;
    hg_wire_field field;
    while (hg_wire_next(&list->range, &field, &fault))
        if (field.number == list->number) {
            *item = field.bytes;
            return true;
        }
    return false;
}

static const char *wire_count_run(hg_wire run, hg_wire_type type, size_t *count)
{
    const size_t size = hg_wire_size(run), width = type == HG_WIRE_FIXED32 ? 4 : 8;
    uint64_t ignored;
    if (type != HG_WIRE_VARINT) {
        *count += size / width;
        return size % width == 0 ? NULL : "packed numbers are cut off";
    }
    while (run.at != run.end) {
        const char *fault = wire_varint(&run, &ignored);
        if (fault != NULL) return fault;
        ++*count;
    }
    return NULL;
}

const char *hg_wire_numbers_add(hg_wire_numbers *numbers, hg_wire_type type,
                                const hg_wire_field *field)
{
    if (numbers->occurrences++ == 0) {
        numbers->range = field->whole;
        numbers->number = field->number;
        numbers->type = type;
    }
    numbers->range.end = field->whole.end;
    if (field->type == HG_WIRE_BYTES) return wire_count_run(field->bytes, type, &numbers->count);
    if (field->type != type) return "a list of numbers has the wrong wire type";
    numbers->count++;
    return NULL;
}

bool hg_wire_numbers_next(hg_wire_numbers *numbers, uint64_t *value)
{
    const char *fault;
    hg_wire_field field = {0};
    while (hg_wire_size(numbers->run) == 0) {
        if (!hg_wire_next(&numbers->range, &field, &fault)) return false;
        if (field.number != numbers->number) continue;
        if (field.type != HG_WIRE_BYTES) {
            *value = field.value;
            return true;
        }
        numbers->run = field.bytes;
    }
    if (wire_value(&numbers->run, numbers->type, &field) != NULL) return false;
    *value = field.value;
    return true;
}

bool hg_wire_numbers_bytes(const hg_wire_numbers *numbers, hg_wire *bytes)
{
    const char *fault;
    hg_wire_field field;
    hg_wire range = numbers->range;
    if (numbers->occurrences != 1 || numbers->type == HG_WIRE_VARINT) return false;
    if (!hg_wire_next(&range, &field, &fault) || field.type != HG_WIRE_BYTES) return false;
    *bytes = field.bytes;
    return true;
}
