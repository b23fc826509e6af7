/* npy_write.c - NumPy's .npy files: writing. */
#include "io/npy.h"

#include "base/error.h"
#include "io/elem.h"
#include "io/file.h"
#include "io/tensor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* NumPy's descriptor without the byte order; types that NumPy lacks appear as what holds their
 * bits. */
static const char *npy_write_descr(holo_dtype dtype)
{
    switch (dtype) {
    case HOLO_F32: return "f4";
    case HOLO_F16: return "f2";
    case HOLO_F64: return "f8";
    case HOLO_C64: return "c8";
    case HOLO_C128: return "c16";
    case HOLO_I8:
    case HOLO_I4:
    case HOLO_I2: return "i1";
    case HOLO_I16: return "i2";
    case HOLO_I32: return "i4";
    case HOLO_I64: return "i8";
    case HOLO_U16:
    case HOLO_BF16: return "u2";
    case HOLO_U32: return "u4";
    case HOLO_U64: return "u8";
    case HOLO_BOOL: return "b1";
    case HOLO_U8:
    case HOLO_F8E4M3FN:
    case HOLO_F8E4M3FNUZ:
    case HOLO_F8E5M2:
    case HOLO_F8E5M2FNUZ:
    case HOLO_F8E8M0:
    case HOLO_F4E2M1:
    case HOLO_U4:
    case HOLO_U2: return "u1";
    case HOLO_STRING: return "U";
    case HOLO_NONE:
    case HOLO_SEQUENCE:
    case HOLO_OPTIONAL:
    case HOLO_MAP: break;
    }
    return NULL;
}

/* One code point of UTF-8; a byte that starts none is U+FFFD. Returns the bytes consumed. */
static size_t npy_write_decode(const uint8_t *text, size_t size, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t first = text[0];
    size_t n = first < 0x80       ? 1
               : first >> 5 == 6  ? 2
               : first >> 4 == 14 ? 3
               : first >> 3 == 30 ? 4
                                  : 0;
    *code = 0xfffd;
    if (n == 0 || n > size) return 1;
    if (n == 1) {
        *code = first;
        return 1;
    }
    uint32_t value = first & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (text[i] >> 6 != 2) return 1;
        value = value << 6 | (text[i] & 63u);
    }
    if (value >= least[n] && value <= 0x10ffff && !(value >= 0xd800 && value < 0xe000))
        *code = value;
    return n;
}

static size_t npy_write_length(const holo_string *s)
{
    size_t n = 0;
    uint32_t code;
    for (size_t at = 0; at < s->length; n++)
        at += npy_write_decode((const uint8_t *)s->text + at, (size_t)s->length - at, &code);
    return n;
}

static size_t npy_write_width(const holo_tensor *tensor)
{
    size_t width = 1; /* NumPy itself never writes width 0 */
    const holo_string *item = tensor->data;
    for (int64_t i = 0, n = holo_tensor_count(tensor); i < n; i++) {
        size_t length = npy_write_length(&item[i]);
        if (length > width) width = length;
    }
    return width;
}

static bool npy_write_strings(FILE *stream, const holo_tensor *tensor, size_t width)
{
    const holo_string *item = tensor->data;
    bool ok = true;
    for (int64_t i = 0, n = holo_tensor_count(tensor); ok && i < n; i++) {
        size_t at = 0;
        for (size_t j = 0; ok && j < width; j++) {
            uint32_t code = 0;
            if (at < item[i].length)
                at += npy_write_decode((const uint8_t *)item[i].text + at,
                                       (size_t)item[i].length - at, &code);
            ok = fwrite(&code, sizeof code, 1, stream) == 1;
        }
    }
    return ok;
}

/* One byte per element for types narrower than a byte. */
static bool npy_write_unpacked(FILE *stream, const holo_tensor *tensor)
{
    uint32_t bits = hg_elem_bits(tensor->dtype), mask = (1u << bits) - 1;
    const uint8_t *data = tensor->data;
    for (int64_t i = 0, n = holo_tensor_count(tensor); i < n; i++) {
        uint64_t at = (uint64_t)i * bits;
        uint32_t code = (uint32_t)(data[at / 8] >> (at % 8)) & mask;
        if (tensor->dtype == HOLO_I4 || tensor->dtype == HOLO_I2)
            code = (uint32_t)hg_elem_get_int(tensor, i) & 255u;
        if (putc((int)code, stream) == EOF) return false;
    }
    return true;
}

static bool npy_write_header(FILE *stream, const holo_tensor *tensor, const char *descr,
                             size_t width)
{
    char type[40], header[512], number[32] = "";
    bool one_byte = strcmp(descr + 1, "1") == 0;
    if (tensor->dtype == HOLO_STRING) snprintf(number, sizeof number, "%zu", width);
    snprintf(type, sizeof type, "%c%s%s",
             one_byte                ? '|'
             : hg_elem_host_is_big() ? '>'
                                     : '<',
             descr, number);
    int at =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int32_t i = 0; i < tensor->rank; i++)
        at += snprintf(header + at, sizeof header - (size_t)at, "%" PRId64 "%s", tensor->dim[i],
                       i + 1 < tensor->rank ? ", "
                       : tensor->rank == 1  ? ","
                                            : "");
    at += snprintf(header + at, sizeof header - (size_t)at, "), }");
    /* The data starts at a multiple of 64; the header ends with a newline. */
    size_t padded = ((size_t)at + 11 + 63) / 64 * 64 - 10;
    uint8_t start[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)padded, (uint8_t)(padded >> 8)};
    return fwrite(start, 1, sizeof start, stream) == sizeof start &&
           fprintf(stream, "%-*s\n", (int)padded - 1, header) == (int)padded;
}

holo_status hg_npy_write_stream(FILE *stream, const holo_tensor *tensor, holo_error *error)
{
    const char *descr = npy_write_descr(tensor->dtype);
    size_t size = holo_tensor_bytes(tensor), width = 0;
    if (descr == NULL)
        return hg_fail(error, HOLO_E_TYPE, "a value of type %s cannot be written as .npy",
                       holo_dtype_text(tensor->dtype));
    if (size == SIZE_MAX || tensor->rank > HOLO_MAX_RANK)
        return hg_fail(error, HOLO_E_SHAPE,
                       "a tensor with impossible dimensions cannot be written");
    if (tensor->dtype == HOLO_STRING) width = npy_write_width(tensor);
    bool ok = npy_write_header(stream, tensor, descr, width);
    if (tensor->dtype == HOLO_STRING)
        ok = ok && npy_write_strings(stream, tensor, width);
    else if (hg_elem_bits(tensor->dtype) < 8)
        ok = ok && npy_write_unpacked(stream, tensor);
    else
        ok = ok && (size == 0 || fwrite(tensor->data, 1, size, stream) == size);
    if (!ok) return hg_fail(error, HOLO_E_IO, "writing failed: %s", strerror(errno));
    return HOLO_OK;
}

holo_status hg_npy_write(const char *path, const holo_tensor *tensor, holo_error *error)
{
    hg_io_writer writer;
    HG_TRY(hg_io_writer_open(path, &writer, error));
    holo_status status = hg_npy_write_stream(writer.file, tensor, error);
    if (status == HOLO_OK) return hg_io_writer_commit(&writer, error);
    hg_io_writer_abort(&writer);
    return hg_fail_prefix(error, status, "%s: ", path);
}
