/* pb.c - ONNX value messages: every typed field, containers, hostile bytes, operators of a model.
 */
#include "test.h"

#include "io/elem.h"
#include "io/pb.h"
#include "io/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a literal; sizeof counts the final NUL. */
#define PB_READ(bytes, kind, out, error) hg_pb_read(bytes, sizeof(bytes) - 1, kind, out, error)

static void pb_expect(const char *bytes, size_t size, holo_dtype kind, const char *sentence)
{
    holo_tensor t;
    holo_error error = {0};
    CHECK(hg_pb_read(bytes, size, kind, &t, &error) != HOLO_OK);
    CHECK_HAS(error.message, sentence);
}
#define PB_EXPECT(bytes, kind, sentence) pb_expect(bytes, sizeof(bytes) - 1, kind, sentence)

static void pb_number(const char *bytes, size_t size, holo_dtype dtype, double first, double last)
{
    holo_tensor t;
    holo_error error = {0};
    if (!CHECK_OK(hg_pb_read(bytes, size, HOLO_NONE, &t, &error), &error)) return;
    CHECK_EQ_INT(t.dtype, dtype);
    CHECK_NEAR(hg_elem_get(&t, 0), first, 0);
    CHECK_NEAR(hg_elem_get(&t, holo_tensor_count(&t) * hg_elem_parts(dtype) - 1), last, 0);
    hg_io_tensor_free(&t);
}
#define PB_NUMBER(bytes, dtype, first, last) pb_number(bytes, sizeof(bytes) - 1, dtype, first, last)

static void pb_typed_fields(void)
{
    /* dims 08, data_type 10, then packed or single numbers */
    PB_NUMBER("\x08\x02\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\xc0", HOLO_F32, 1, -2);
    PB_NUMBER("\x08\x02\x10\x01\x25\0\0\x80\x3f\x25\0\0\0\xc0", HOLO_F32, 1, -2);
    PB_NUMBER("\x08\x02\x10\x0a\x2a\x04\x80\x78\x80\x7c", HOLO_F16, 1, 1.5);
    PB_NUMBER("\x08\x01\x10\x10\x28\x80\x7f", HOLO_BF16, 1, 1);
    PB_NUMBER("\x08\x02\x10\x03\x2a\x0b\x05\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", HOLO_I8, 5,
              -2);
    PB_NUMBER("\x08\x02\x10\x09\x2a\x02\x07\x00", HOLO_BOOL, 1, 0);
    PB_NUMBER("\x08\x01\x10\x07\x38\x96\x01", HOLO_I64, 150, 150);
    PB_NUMBER("\x08\x01\x10\x0c\x58\x96\x01", HOLO_U32, 150, 150);
    PB_NUMBER("\x08\x01\x10\x0d\x58\x96\x01", HOLO_U64, 150, 150);
    PB_NUMBER("\x08\x01\x10\x0b\x51\0\0\0\0\0\0\xf0\x3f", HOLO_F64, 1, 1);
    PB_NUMBER("\x08\x01\x10\x0e\x22\x08\0\0\x80\x3f\0\0\0\xc0", HOLO_C64, 1, -2);
    PB_NUMBER("\x08\x03\x10\x16\x2a\x03\x87\x01\x09", HOLO_I4, 7, -7);
    PB_NUMBER("\x08\x05\x10\x19\x2a\x02\x1b\x02", HOLO_U2, 3, 2);
    PB_NUMBER("\x08\x01\x10\x11\x28\x38", HOLO_F8E4M3FN, 1, 1);
    PB_NUMBER("\x10\x06\x4a\x04\x05\0\0\0", HOLO_I32, 5, 5);              /* scalar, raw */
    PB_NUMBER("\x0a\x02\x01\x02\x10\x02\x4a\x02\x05\x06", HOLO_U8, 5, 6); /* packed dims */
}

static void pb_strings(void)
{
    holo_tensor t;
    holo_error error = {0};
    if (!CHECK_OK(PB_READ("\x08\x02\x10\x08\x32\x02hi\x32\x00", HOLO_NONE, &t, &error), &error))
        return;
    const holo_string *s = t.data;
    CHECK_EQ_INT(s[0].length, 2);
    CHECK_MEM(s[0].text, "hi", 2);
    CHECK_EQ_INT(s[1].length, 0);
    hg_io_tensor_free(&t);
}

static void pb_containers(void)
{
    holo_tensor t;
    holo_error error = {0};
    PB_EXPECT("\x10\x01\x1a\x06\x10\x02\x4a\x01\x05", HOLO_SEQUENCE,
              "malformed"); /* length beyond */
    if (!CHECK_OK(PB_READ("\x10\x01\x1a\x05\x10\x02\x4a\x01\x05\x1a\x05\x10\x02\x4a\x01\x06",
                          HOLO_SEQUENCE, &t, &error),
                  &error))
        return;
    CHECK_EQ_INT(t.dtype, HOLO_SEQUENCE);
    CHECK_EQ_INT(t.dim[0], 2);
    CHECK_EQ_INT(hg_elem_get_int((holo_tensor *)t.data + 1, 0), 6);
    holo_tensor copy;
    CHECK_OK(hg_io_tensor_copy(&t, &copy, &error), &error);
    hg_io_tensor_free(&t);
    CHECK_EQ_INT(hg_elem_get_int((holo_tensor *)copy.data + 1, 0), 6);
    hg_io_tensor_free(&copy);

    CHECK_OK(PB_READ("\x0a\x01x\x10\x00", HOLO_OPTIONAL, &t, &error), &error); /* empty */
    CHECK_EQ_INT(t.dim[0], 0);
    hg_io_tensor_free(&t);
    CHECK_OK(
        PB_READ("\x10\x03\x2a\x09\x10\x01\x1a\x05\x10\x02\x4a\x01\x05", HOLO_OPTIONAL, &t, &error),
        &error);
    CHECK_EQ_INT(t.dim[0], 1);
    CHECK_EQ_INT(((holo_tensor *)t.data)->dtype, HOLO_SEQUENCE);
    hg_io_tensor_free(&t);

    /* {1: 5, 2: 6} as int64 -> uint8 */
    CHECK_OK(PB_READ("\x10\x07\x18\x01\x18\x02\x2a\x0e\x1a\x05\x10\x02\x4a\x01\x05\x1a\x05\x10\x02"
                     "\x4a\x01\x06",
                     HOLO_MAP, &t, &error),
             &error);
    const holo_tensor *pair = t.data;
    CHECK_EQ_INT(hg_elem_get_int(&pair[0], 1), 2);
    CHECK_EQ_INT(pair[1].dtype, HOLO_U8);
    CHECK_EQ_INT(hg_elem_get_int(&pair[1], 1), 6);
    hg_io_tensor_free(&t);
}

static void pb_hostile(void)
{
    PB_EXPECT("", HOLO_NONE, "no element type");
    PB_EXPECT("\x08", HOLO_NONE, "malformed");
    PB_EXPECT("\x0b\x01", HOLO_NONE, "malformed"); /* a group */
    PB_EXPECT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10\x01", HOLO_NONE, "malformed");
    PB_EXPECT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01", HOLO_NONE,
              "negative dimension -1");
    PB_EXPECT("\x4a\xff\xff\xff\xff\x0f", HOLO_NONE, "malformed"); /* length beyond */
    PB_EXPECT("\x08\x80\x80\x80\x80\x10\x10\x01\x4a\x04\0\0\0\0", HOLO_NONE, "expected");
    PB_EXPECT("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x08\x10\x10\x01", HOLO_NONE, "represented");
    PB_EXPECT("\x08\x02\x10\x01\x22\x04\0\0\x80\x3f", HOLO_NONE, "1 numbers of data, expected 2");
    PB_EXPECT("\x08\x01\x10\x01\x22\x04\0\0\x80\x3f\x4a\x04\0\0\0\0", HOLO_NONE, "both");
    PB_EXPECT("\x08\x01\x10\x01\x22\x03\0\0\x80", HOLO_NONE, "malformed");
    PB_EXPECT("\x08\x01\x10\x63\x4a\x01\x01", HOLO_NONE, "type 99");
    PB_EXPECT("\x08\x01\x10\x01\x70\x01", HOLO_NONE, "another file");
    PB_EXPECT("\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x10\x01",
              HOLO_NONE, "dimensions");
    PB_EXPECT("\x22\x00", HOLO_SEQUENCE, "sparse");
    PB_EXPECT("\x1a\x00\x1a\x00", HOLO_OPTIONAL, "2 values");
    PB_EXPECT("\x10\x07\x18\x01\x2a\x00", HOLO_MAP, "1 keys and 0 values");
    PB_EXPECT("\x10\x01\x18\x01\x2a\x00", HOLO_MAP, "keys of type float32");
}

/* Sequences inside each other, deeper than any type. */
static void pb_deep(void)
{
    char bytes[80];
    size_t size = 0;
    for (int i = 0; i < 30; i++) { /* wrap: 2a LEN previous */
        memmove(bytes + 2, bytes, size);
        bytes[0] = 0x2a;
        bytes[1] = (char)size;
        size += 2;
    }
    pb_expect(bytes, size, HOLO_SEQUENCE, "deep");
}

/* Cuts and single flips of a good message never crash (the sanitizer watches). */
static void pb_mutations(void)
{
    static const char good[] =
        "\x08\x02\x08\x02\x10\x01\x42\x01x\x22\x10\0\0\x80\x3f\0\0\0\xc0\0\0\0\0\0\0\0\0";
    size_t size = sizeof good - 1;
    for (size_t at = 0; at < size; at++)
        for (int value = 0; value < 256; value++) {
            char copy[sizeof good];
            holo_tensor t = {0};
            memcpy(copy, good, sizeof good);
            copy[at] = (char)value;
            for (size_t n = size - 2; n <= size; n++)
                for (int kind = 0; kind < 4; kind++) {
                    static const holo_dtype kinds[] = {HOLO_NONE, HOLO_SEQUENCE, HOLO_OPTIONAL,
                                                       HOLO_MAP};
                    if (hg_pb_read(copy, n, kinds[kind], &t, NULL) == HOLO_OK)
                        hg_io_tensor_free(&t);
                }
        }
}

static void pb_write_roundtrip(void)
{
    int64_t dim[2] = {2, 3};
    holo_tensor a, b;
    holo_error error = {0};
    if (!CHECK_OK(hg_io_tensor_new(HOLO_I4, dim, 2, &a, &error), &error)) return;
    for (int64_t i = 0; i < 6; i++)
        hg_elem_set(&a, i, (double)(i - 3));
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    CHECK_OK(hg_pb_write_stream(f, "y", &a, &error), &error);
    fclose(f);
    if (CHECK_OK(hg_pb_read(text, size, HOLO_NONE, &b, &error), &error)) {
        CHECK_MEM(b.data, a.data, 3);
        CHECK_MEM(b.dim, a.dim, sizeof dim);
        hg_io_tensor_free(&b);
    }
    free(text);
    hg_io_tensor_free(&a);
}

static void pb_count_node(void *user, const hg_pb_node *node)
{
    int *count = user;
    *count += node->op.length == 2 && memcmp(node->op.text, "If", 2) == 0;
    *count += 10 * (node->op.length == 3 && memcmp(node->op.text, "Abs", 3) == 0);
    *count +=
        100 * (node->n_input == 1 && node->input[0].length == 1 && *node->input[0].text == 'x');
}

static void pb_nodes(void)
{
    /* graph { node { input x, op If, attribute { g { node { op Abs } } } } } functions { node { op
     * If } } */
    static const char model[] =
        "\x3a\x12\x0a\x10\x0a\x01x\x22\x02If\x2a\x07\x32\x05\x0a\x03\x22\x01N"
        "\xca\x01\x07\x3a\x05\x22\x03"
        "Abs";
    int count = 0;
    holo_error error = {0};
    CHECK_OK(hg_pb_visit_nodes(model, sizeof model - 1, pb_count_node, &count, &error), &error);
    CHECK_EQ_INT(count, 111);
    for (size_t n = 0; n < sizeof model - 1; n++)
        (void)!hg_pb_visit_nodes(model, n, pb_count_node, &count, &error);
    CHECK(hg_pb_visit_nodes(model, sizeof model - 3, pb_count_node, &count, &error) != HOLO_OK);
}

const hg_test_case hg_tests_io_pb[] = {
    {"typed_fields", pb_typed_fields},
    {"strings", pb_strings},
    {"containers", pb_containers},
    {"hostile", pb_hostile},
    {"deep", pb_deep},
    {"mutations", pb_mutations},
    {"write_roundtrip", pb_write_roundtrip},
    {"nodes", pb_nodes},
    {0},
};
