/* wire.c - tests of import/onnx/wire.h: every way bytes can fail to be a message (attack 24). */
#include "import/onnx/wire.h"
#include "test.h"

#include <string.h>

/* Reads all fields; the fault, or NULL. */
static const char *wire_read_all(const void *bytes, size_t size, size_t *count)
{
    hg_wire w = {bytes, (const uint8_t *)bytes + size};
    hg_wire_field field;
    const char *fault;
    size_t n = 0;
    while (hg_wire_next(&w, &field, &fault))
        n++;
    if (count != NULL) *count = n;
    return fault;
}

static void wire_reads_every_type(void)
{
    static const uint8_t bytes[] = {0x08, 0x96, 0x01,                           /* 1: varint 150 */
                                    0x11, 1,    2,    3,    4,    5,   6, 7, 8, /* 2: fixed64 */
                                    0x1a, 3,    'a',  'b',  'c',                /* 3: bytes */
                                    0x25, 1,    0,    0,    0x80,               /* 4: fixed32 */
                                    0xf8, 0xff, 0xff, 0xff, 0x0f, 0x00};        /* 2^29 - 1 */
    hg_wire w = {bytes, bytes + sizeof bytes};
    hg_wire_field f;
    const char *fault;
    CHECK(hg_wire_next(&w, &f, &fault));
    CHECK_EQ_INT(f.number, 1);
    CHECK_EQ_INT(f.value, 150);
    CHECK_EQ_INT(hg_wire_size(f.whole), 3);
    CHECK(hg_wire_next(&w, &f, &fault));
    CHECK_EQ_INT(f.value, INT64_C(0x0807060504030201));
    CHECK(hg_wire_next(&w, &f, &fault));
    CHECK_EQ_INT(hg_wire_size(f.bytes), 3);
    CHECK_MEM(f.bytes.at, "abc", 3);
    CHECK(hg_wire_next(&w, &f, &fault));
    CHECK_EQ_INT(f.value, INT64_C(0x80000001));
    CHECK(hg_wire_next(&w, &f, &fault));
    CHECK_EQ_INT(f.number, (1 << 29) - 1);
    CHECK(!hg_wire_next(&w, &f, &fault));
    CHECK(fault == NULL);
}

static void wire_reads_largest_varint(void)
{
    static const uint8_t bytes[] = {0x08, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0x01};
    hg_wire w = {bytes, bytes + sizeof bytes};
    hg_wire_field f;
    const char *fault;
    CHECK(hg_wire_next(&w, &f, &fault));
    CHECK_EQ_INT((int64_t)f.value, -1);
}

static void wire_refuses_malformed(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *fault;
    } bad[] = {
        {"\x08", 1, "cut off"},
        {"\x08\x80", 2, "cut off"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "more than 64 bits"},
        {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, "more than 64 bits"},
        {"\x0d\x01\x02\x03", 4, "cut off"},
        {"\x09\x01\x02\x03\x04\x05\x06\x07", 8, "cut off"},
        {"\x0a\x01", 2, "beyond the end"},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "beyond the end"},
        {"\x0a\xff\xff\xff\xff\x0f", 6, "beyond the end"},
        {"\x00\x00", 2, "out of range"},
        {"\x80\x80\x80\x80\x10\x00", 6, "out of range"},
        {"\x0e", 1, "unknown wire type"},
        {"\x0f", 1, "unknown wire type"},
        {"\x0c", 1, "unknown wire type"}, /* a group ends that did not begin */
        {"\x0b", 1, "cut off"},
        {"\x0b\x14", 2, "did not begin"},
    };
    for (size_t i = 0; i < HG_COUNT(bad); i++) {
        const char *fault = wire_read_all(bad[i].bytes, bad[i].size, NULL);
        if (CHECK(fault != NULL)) CHECK_HAS(fault, bad[i].fault);
    }
}

static void wire_skips_groups(void)
{
    /* 1: group { 2: group { 3: varint } 4: bytes }, then 5: varint. */
    static const uint8_t bytes[] = {0x0b, 0x13, 0x18, 0x07, 0x14, 0x22, 1, 'x', 0x0c, 0x28, 0x2a};
    hg_wire w = {bytes, bytes + sizeof bytes};
    hg_wire_field f;
    const char *fault;
    CHECK(hg_wire_next(&w, &f, &fault));
    CHECK_EQ_INT(f.number, 5);
    CHECK_EQ_INT(f.value, 42);
    uint8_t deep[200];
    memset(deep, 0x0b, 64);
    memset(deep + 64, 0x0c, 64);
    CHECK(wire_read_all(deep, 128, NULL) == NULL);
    memset(deep, 0x0b, 100);
    CHECK_HAS(wire_read_all(deep, 100, NULL), "deeper than 64");
}

static void wire_reads_empty(void)
{
    size_t count = 9;
    CHECK(wire_read_all("", 0, &count) == NULL);
    CHECK_EQ_INT(count, 0);
}

/* Adds every field number 1 of a message. */
static const char *wire_numbers_of(const void *bytes, size_t size, hg_wire_type type,
                                   hg_wire_numbers *out)
{
    hg_wire w = {bytes, (const uint8_t *)bytes + size};
    hg_wire_field f;
    const char *fault;
    *out = (hg_wire_numbers){0};
    while (hg_wire_next(&w, &f, &fault)) {
        if (f.number == 1) fault = hg_wire_numbers_add(out, type, &f);
        if (fault != NULL) return fault;
    }
    return fault;
}

static void wire_numbers_packed_and_not(void)
{
    /* one by one, an unrelated field, packed, an empty run, one more */
    static const uint8_t bytes[] = {0x08, 1,    0x08, 2,    0x10, 99,   0x0a, 3,
                                    3,    0xac, 0x02, 0x0a, 0,    0x08, 5};
    static const uint64_t expected[] = {1, 2, 3, 300, 5};
    hg_wire_numbers n;
    uint64_t value;
    size_t i = 0;
    CHECK(wire_numbers_of(bytes, sizeof bytes, HG_WIRE_VARINT, &n) == NULL);
    CHECK_EQ_INT(n.count, 5);
    for (; hg_wire_numbers_next(&n, &value); i++)
        if (i < HG_COUNT(expected)) CHECK_EQ_INT(value, expected[i]);
    CHECK_EQ_INT(i, 5);
}

static void wire_numbers_fixed(void)
{
    static const uint8_t packed[] = {0x0a, 8, 1, 0, 0, 0, 2, 0, 0, 0};
    static const uint8_t single[] = {0x0d, 1, 0, 0, 0};
    hg_wire_numbers n;
    hg_wire run;
    uint64_t value;
    CHECK(wire_numbers_of(packed, sizeof packed, HG_WIRE_FIXED32, &n) == NULL);
    CHECK_EQ_INT(n.count, 2);
    CHECK(hg_wire_numbers_bytes(&n, &run));
    CHECK(run.at == packed + 2);
    CHECK(hg_wire_numbers_next(&n, &value));
    CHECK_EQ_INT(value, 1);
    CHECK(wire_numbers_of(single, sizeof single, HG_WIRE_FIXED32, &n) == NULL);
    CHECK_EQ_INT(n.count, 1);
    CHECK(!hg_wire_numbers_bytes(&n, &run));
}

static void wire_numbers_refuse(void)
{
    hg_wire_numbers n;
    CHECK_HAS(wire_numbers_of("\x0a\x03\x01\x02\x03", 5, HG_WIRE_FIXED32, &n), "cut off");
    CHECK_HAS(wire_numbers_of("\x0a\x02\x01\x80", 4, HG_WIRE_VARINT, &n), "cut off");
    CHECK_HAS(wire_numbers_of("\x0d\x01\x02\x03\x04", 5, HG_WIRE_VARINT, &n), "wrong wire type");
    CHECK_HAS(wire_numbers_of("\x08\x01", 2, HG_WIRE_FIXED64, &n), "wrong wire type");
}

static void wire_lists_pass_over_others(void)
{
    static const uint8_t bytes[] = {0x10, 1, 0x0a, 1, 'a', 0x10, 2, 0x0a, 0, 0x10, 3, 0x0a, 1, 'c'};
    hg_wire w = {bytes, bytes + sizeof bytes}, item;
    hg_wire_list list = {0};
    hg_wire_field f;
    const char *fault;
    while (hg_wire_next(&w, &f, &fault))
        if (f.number == 1) hg_wire_list_add(&list, &f);
    CHECK_EQ_INT(list.count, 3);
    CHECK(hg_wire_list_next(&list, &item) && hg_wire_size(item) == 1 && item.at[0] == 'a');
    CHECK(hg_wire_list_next(&list, &item) && hg_wire_size(item) == 0);
    CHECK(hg_wire_list_next(&list, &item) && item.at[0] == 'c');
    CHECK(!hg_wire_list_next(&list, &item));
    hg_wire_list empty = {0};
    CHECK(!hg_wire_list_next(&empty, &item));
}

const hg_test_case hg_tests_import_wire[] = {
    {"reads_every_type", wire_reads_every_type},
    {"reads_largest_varint", wire_reads_largest_varint},
    {"refuses_malformed", wire_refuses_malformed},
    {"skips_groups", wire_skips_groups},
    {"reads_empty", wire_reads_empty},
    {"numbers_packed_and_not", wire_numbers_packed_and_not},
    {"numbers_fixed", wire_numbers_fixed},
    {"numbers_refuse", wire_numbers_refuse},
    {"lists_pass_over_others", wire_lists_pass_over_others},
    {0},
};
