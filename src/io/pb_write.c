/* pb_write.c - writes a tensor as ONNX TensorProto. */
#include "io/elem.h"
#include "io/pb.h"
#include "io/tensor.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool pb_write_varint(FILE *stream, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        if (putc((int)(128 | (value & 127)), stream) == EOF) return false;
    return putc((int)value, stream) != EOF;
}

static bool pb_write_number(FILE *stream, uint32_t field, uint64_t value)
{
    return pb_write_varint(stream, field << 3) && pb_write_varint(stream, value);
}

static bool pb_write_bytes(FILE *stream, uint32_t field, const void *data, size_t size)
{
    return pb_write_varint(stream, field << 3 | 2) && pb_write_varint(stream, size) &&
           (size == 0 || fwrite(data, 1, size, stream) == size);
}

static bool pb_write_data(FILE *stream, const holo_tensor *tensor)
{
    if (tensor->dtype == HOLO_STRING) {
        const holo_string *item = tensor->data;
        for (int64_t i = 0, n = holo_tensor_count(tensor); i < n; i++)
            if (!pb_write_bytes(stream, 6, item[i].text, (size_t)item[i].length)) return false;
        return true;
    }
    size_t size = holo_tensor_bytes(tensor);
    size_t width = hg_elem_bits(tensor->dtype) / 8 / hg_elem_parts(tensor->dtype);
    if (!hg_elem_host_is_big() || width < 2) return pb_write_bytes(stream, 9, tensor->data, size);
    uint8_t *copy = hg_io_alloc(size);
    if (copy == NULL) return false;
    memcpy(copy, tensor->data, size);
    hg_elem_swap(copy, size / width, width);
    bool ok = pb_write_bytes(stream, 9, copy, size);
    free(copy);
    return ok;
}

holo_status hg_pb_write_stream(FILE *stream, const char *name, const holo_tensor *tensor,
                               holo_error *error)
{
    if (hg_elem_bits(tensor->dtype) == 0 || holo_tensor_bytes(tensor) == SIZE_MAX)
        return hg_fail(error, HOLO_E_TYPE, "a value of type %s cannot be written as TensorProto",
                       holo_dtype_text(tensor->dtype));
    bool ok = true;
    for (int32_t i = 0; ok && i < tensor->rank; i++)
        ok = pb_write_number(stream, 1, (uint64_t)tensor->dim[i]);
    ok = ok && pb_write_number(stream, 2, (uint64_t)tensor->dtype);
    if (name != NULL) ok = ok && pb_write_bytes(stream, 8, name, strlen(name));
    ok = ok && pb_write_data(stream, tensor);
    if (!ok) return hg_fail(error, HOLO_E_IO, "writing failed: %s", strerror(errno));
    return HOLO_OK;
}
