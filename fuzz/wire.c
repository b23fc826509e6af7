/* wire.c - any bytes through the protobuf wire reader, fields inside fields. */
#include "import/onnx/wire.h"
#include "fuzz.h"

static size_t wire_walk(hg_wire w, int depth)
{
    hg_wire_list list = {0};
    hg_wire_numbers varints = {0};
    hg_wire_field field;
    const char *fault = NULL;
    const uint8_t *end = w.end;
    size_t fields = 0;
    while (hg_wire_next(&w, &field, &fault)) {
        fields++;
        FUZZ_REQUIRE(w.at <= end && field.whole.end <= end);
        if (field.type == HG_WIRE_BYTES) FUZZ_REQUIRE(field.bytes.end <= end);
        if (field.number == 1 && field.type == HG_WIRE_BYTES) hg_wire_list_add(&list, &field);
        if (field.number == 2 && fault == NULL)
            fault = hg_wire_numbers_add(&varints, HG_WIRE_VARINT, &field);
        if (fault != NULL) break;
        if (field.type == HG_WIRE_BYTES && depth < 8) fields += wire_walk(field.bytes, depth + 1);
    }
    hg_wire item;
    size_t items = 0;
    while (hg_wire_list_next(&list, &item))
        items++;
    uint64_t number;
    size_t numbers = 0;
    while (fault == NULL && hg_wire_numbers_next(&varints, &number))
        numbers++;
    FUZZ_REQUIRE(fault != NULL || numbers == varints.count);
    return fields + items;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)wire_walk((hg_wire){data, data + size}, 0);
    return 0;
}
