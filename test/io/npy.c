/* npy.c - .npy files: round trips, byte order, Fortran order, hostile headers. */
#include "test.h"

#include "io/elem.h"
#include "io/npy.h"
#include "io/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a version 1 file with this header text and data. */
static const char *npy_file(const char *header, const void *data, size_t size)
{
    const char *path = hg_test_temp("made.npy");
    FILE *f = fopen(path, "wb");
    if (!CHECK(f != NULL)) return path;
    size_t n = strlen(header);
    uint8_t start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)n, (uint8_t)(n >> 8)};
    fwrite(start, 1, sizeof start, f);
    fwrite(header, 1, n, f);
    if (size > 0) fwrite(data, 1, size, f);
    fclose(f);
    return path;
}

static void npy_expect(const char *header, const void *data, size_t size, const char *sentence)
{
    holo_tensor t;
    holo_error error = {0};
    CHECK(hg_npy_read(npy_file(header, data, size), &t, &error) != HOLO_OK);
    CHECK_HAS(error.message, sentence);
}

static void npy_roundtrip(void)
{
#define X(name, number, text, bits) HOLO_##name,
    static const holo_dtype types[] = { HOLO_DTYPE_MAP(X) };
#undef X
    for (size_t i = 0; i < HG_COUNT(types); i++) {
        if (types[i] == HOLO_STRING || hg_elem_bits(types[i]) == 0) continue;
        int64_t dim[3] = {2, 3, 5};
        holo_error error = {0};
        holo_tensor a, b;
        if (!CHECK_OK(hg_io_tensor_new(types[i], dim, 3, &a, &error), &error)) return;
        int64_t n = holo_tensor_count(&a) * hg_elem_parts(a.dtype);
        for (int64_t j = 0; j < n; j++)
            hg_elem_set(&a, j, (double)(j % 5 - 1));
        const char *path = hg_test_temp("round.npy");
        CHECK_OK(hg_npy_write(path, &a, &error), &error);
        if (!CHECK_OK(hg_npy_read(path, &b, &error), &error)) return;
        CHECK_OK(hg_npy_adapt(&b, types[i], &error), &error);
        CHECK_EQ_INT(b.dtype, a.dtype);
        CHECK_EQ_INT(b.rank, 3);
        CHECK_MEM(b.dim, a.dim, 3 * sizeof(int64_t));
        CHECK_MEM(b.data, a.data, holo_tensor_bytes(&a));
        hg_io_tensor_free(&a);
        hg_io_tensor_free(&b);
    }
}

static void npy_scalar_and_empty(void)
{
    double value = 2.5;
    holo_tensor scalar = {.data = &value, .dtype = HOLO_F64};
    holo_tensor empty = {.data = &value, .dim = {3, 0}, .rank = 2, .dtype = HOLO_F32}, back;
    holo_error error = {0};
    const char *path = hg_test_temp("small.npy");
    CHECK_OK(hg_npy_write(path, &scalar, &error), &error);
    if (!CHECK_OK(hg_npy_read(path, &back, &error), &error)) return;
    CHECK_EQ_INT(back.rank, 0);
    CHECK_NEAR(*(double *)back.data, 2.5, 0);
    hg_io_tensor_free(&back);
    CHECK_OK(hg_npy_write(path, &empty, &error), &error);
    if (!CHECK_OK(hg_npy_read(path, &back, &error), &error)) return;
    CHECK_EQ_INT(back.rank, 2);
    CHECK_EQ_INT(back.dim[0], 3);
    CHECK_EQ_INT(back.dim[1], 0);
    hg_io_tensor_free(&back);
}

static void npy_strings(void)
{
    static const holo_string texts[] = {
        {"", 0}, {"abc", 3}, {"gr\xc3\xbc\xc3\x9f", 6}, {"\xf0\x9f\x98\x80", 4}};
    int64_t dim[2] = {2, 2};
    holo_tensor a, b;
    holo_error error = {0};
    if (!CHECK_OK(hg_io_tensor_strings(texts, 4, dim, 2, &a, &error), &error)) return;
    const char *path = hg_test_temp("text.npy");
    CHECK_OK(hg_npy_write(path, &a, &error), &error);
    if (!CHECK_OK(hg_npy_read(path, &b, &error), &error)) return;
    CHECK_EQ_INT(b.dtype, HOLO_STRING);
    for (size_t i = 0; i < 4; i++) {
        const holo_string *s = (const holo_string *)b.data + i;
        CHECK_EQ_INT(s->length, texts[i].length);
        CHECK_MEM(s->text, texts[i].text, (size_t)s->length);
    }
    hg_io_tensor_free(&a);
    hg_io_tensor_free(&b);
}

static void npy_big_endian(void)
{
    holo_tensor t;
    holo_error error = {0};
    const char *path = npy_file("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }\n",
                                "\0\0\1\2\xff\xff\xff\xfe", 8);
    if (!CHECK_OK(hg_npy_read(path, &t, &error), &error)) return;
    CHECK_EQ_INT(((int32_t *)t.data)[0], 258);
    CHECK_EQ_INT(((int32_t *)t.data)[1], -2);
    hg_io_tensor_free(&t);
}

static void npy_fortran(void)
{
    holo_tensor t;
    holo_error error = {0};
    /* [2, 3, 2], element (i, j, k) is 100 i + 10 j + k, first index fastest */
    static const uint8_t data[] = {0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121};
    const char *path = npy_file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }",
                                data, sizeof data);
    if (!CHECK_OK(hg_npy_read(path, &t, &error), &error)) return;
    for (int i = 0; i < 12; i++)
        CHECK_EQ_INT(((uint8_t *)t.data)[i], 100 * (i / 6) + 10 * (i / 2 % 3) + i % 2);
    hg_io_tensor_free(&t);
}

static void npy_hostile(void)
{
    npy_expect("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678", 8,
               "cut short");
    npy_expect("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", "", 0,
               "cut short");
    npy_expect("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "",
               0, "cannot be represented");
    npy_expect("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "",
               0, "too large");
    npy_expect("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "1234",
               4, "dimensions");
    npy_expect("{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", "1234", 4, "'<f3'");
    npy_expect("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "1234", 4, "number");
    npy_expect("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234", 4,
               "structured");
    npy_expect("{'descr': '|S0', 'fortran_order': False, 'shape': (99999999999,), }", "", 0,
               "empty texts");
    npy_expect("{'descr': '<U4294967295', 'fortran_order': False, 'shape': (4294967295,9), }", "",
               0, "represented");
    npy_expect("{'descr': '<f4', 'shape': (1,), }", "1234", 4, "lacks");
    npy_expect("{'descr': '<f4", "", 0, "unterminated");
    npy_expect("{'descr': '<f4', 'fortran_order': False, 'shape': (3", "", 0, "number");
    npy_expect("", "", 0, "dictionary");
}

/* Every cut of a good file is refused. */
static void npy_truncated(void)
{
    float data[4] = {1, 2, 3, 4};
    holo_tensor a = {.data = data, .dim = {4}, .rank = 1, .dtype = HOLO_F32}, b;
    holo_error error = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    CHECK_OK(hg_npy_write_stream(f, &a, &error), &error);
    fclose(f);
    for (size_t n = 1; n < size; n++) {
        FILE *cut = fmemopen(text, n, "rb");
        CHECK(hg_npy_read_stream(cut, "cut", &b, &error) != HOLO_OK);
        fclose(cut);
    }
    free(text);
}

static void npy_stream_of_arrays(void)
{
    float data[2] = {1, 2};
    holo_tensor a = {.data = data, .dim = {2}, .rank = 1, .dtype = HOLO_F32}, b;
    holo_error error = {0};
    FILE *f = tmpfile();
    CHECK_OK(hg_npy_write_stream(f, &a, &error), &error);
    data[0] = 7;
    CHECK_OK(hg_npy_write_stream(f, &a, &error), &error);
    rewind(f);
    for (int i = 0; i < 2; i++) {
        if (!CHECK_OK(hg_npy_read_stream(f, "pair", &b, &error), &error)) break;
        CHECK_NEAR(*(float *)b.data, i == 0 ? 1 : 7, 0);
        hg_io_tensor_free(&b);
    }
    fclose(f);
}

static void npy_unwritable(void)
{
    float data[1] = {1};
    holo_tensor a = {.data = data, .dim = {1}, .rank = 1, .dtype = HOLO_F32};
    holo_error error = {0};
    CHECK_STATUS(hg_npy_write("/nowhere/at/all/x.npy", &a, &error), HOLO_E_IO);
    CHECK_HAS(error.message, "/nowhere/at/all/x.npy");
    CHECK_STATUS(hg_npy_write("/dev/full", &a, &error), HOLO_E_IO);
    holo_tensor list = {.dim = {0}, .rank = 1, .dtype = HOLO_SEQUENCE};
    CHECK_STATUS(hg_npy_write(hg_test_temp("list.npy"), &list, &error), HOLO_E_TYPE);
    CHECK(fopen(hg_test_temp("list.npy"), "rb") == NULL);
}

static void npy_adapt_refuses(void)
{
    int8_t data[3] = {-8, 7, 8};
    holo_tensor t = {.data = data, .dim = {3}, .rank = 1, .dtype = HOLO_I8};
    holo_error error = {0};
    CHECK_STATUS(hg_npy_adapt(&t, HOLO_I4, &error), HOLO_E_DATA);
    CHECK_HAS(error.message, "element 2 is 8");
    t.dim[0] = 2;
    CHECK_OK(hg_npy_adapt(&t, HOLO_I4, &error), &error);
    CHECK_EQ_INT((uint8_t)data[0], 0x78);
}

const hg_test_case hg_tests_io_npy[] = {
    {"roundtrip", npy_roundtrip},
    {"scalar_and_empty", npy_scalar_and_empty},
    {"strings", npy_strings},
    {"big_endian", npy_big_endian},
    {"fortran", npy_fortran},
    {"hostile", npy_hostile},
    {"truncated", npy_truncated},
    {"stream_of_arrays", npy_stream_of_arrays},
    {"unwritable", npy_unwritable},
    {"adapt_refuses", npy_adapt_refuses},
    {0},
};
