/* pb.c - values in ONNX messages: tensors and the containers around them.
 *
 * Field numbers are those of onnx.proto. */
#include "io/pb.h"

#include "base/error.h"
#include "io/elem.h"
#include "io/file.h"
#include "io/pb_wire.h"
#include "io/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PB_MAX_DEPTH = 8 };

/* TensorProto */
enum {
    PB_DIMS = 1,
    PB_TYPE = 2,
    PB_FLOATS = 4,
    PB_INT32S = 5,
    PB_STRINGS = 6,
    PB_INT64S = 7,
    PB_RAW = 9,
    PB_DOUBLES = 10,
    PB_UINT64S = 11,
    PB_EXTERNAL = 13,
    PB_LOCATION = 14
};

/* What the first pass over a TensorProto finds. */
typedef struct pb_tensor {
    hg_pb_span all;
    holo_tensor shape;
    hg_pb_span raw;
    bool has_raw;
    uint64_t type;
} pb_tensor;

static holo_status pb_bad(holo_error *error, const char *message)
{
    return hg_fail(error, HOLO_E_MODEL, "%s is malformed or cut short", message);
}

/* The field that holds the data of a type when raw_data does not, and how one number lies in it. */
static uint32_t pb_data_field(holo_dtype dtype, uint32_t *wire)
{
    *wire = HG_PB_VARINT;
    if (dtype == HOLO_F32 || dtype == HOLO_C64) {
        *wire = HG_PB_FIXED32;
        return PB_FLOATS;
    }
    if (dtype == HOLO_F64 || dtype == HOLO_C128) {
        *wire = HG_PB_FIXED64;
        return PB_DOUBLES;
    }
    if (dtype == HOLO_I64) return PB_INT64S;
    if (dtype == HOLO_U32 || dtype == HOLO_U64) return PB_UINT64S;
    return dtype == HOLO_STRING ? PB_STRINGS : PB_INT32S;
}

static holo_status pb_dims(const hg_pb_field *f, holo_tensor *shape, holo_error *error)
{
    hg_pb_span rest = f->bytes;
    uint64_t dim = f->value;
    for (;;) {
        if (f->wire == HG_PB_BYTES) {
            hg_pb_step step = hg_pb_number(&rest, HG_PB_VARINT, &dim);
            if (step == HG_PB_END) return HOLO_OK;
            if (step == HG_PB_BAD) return pb_bad(error, "a tensor's dims");
        }
        if (shape->rank == HOLO_MAX_RANK)
            return hg_fail(error, HOLO_E_LIMIT, "a tensor has more than %d dimensions",
                           HOLO_MAX_RANK);
        if (dim > INT64_MAX)
            return hg_fail(error, HOLO_E_MODEL, "a tensor has the negative dimension %" PRId64,
                           (int64_t)dim);
        shape->dim[shape->rank++] = (int64_t)dim;
        if (f->wire != HG_PB_BYTES) return HOLO_OK;
    }
}

static holo_status pb_scan(hg_pb_span all, pb_tensor *t, holo_error *error)
{
    *t = (pb_tensor){.all = all};
    hg_pb_field f;
    hg_pb_step step;
    while ((step = hg_pb_next(&all, &f)) == HG_PB_FIELD) {
        if (f.number == PB_DIMS) HG_TRY(pb_dims(&f, &t->shape, error));
        if (f.number == PB_TYPE && f.wire == HG_PB_VARINT) t->type = f.value;
        if (f.number == PB_RAW && f.wire == HG_PB_BYTES) {
            t->raw = f.bytes;
            t->has_raw = true;
        }
        if (f.number == PB_EXTERNAL || (f.number == PB_LOCATION && f.value == 1))
            return hg_fail(error, HOLO_E_UNSUPPORTED,
                           "a tensor whose data lies in another file cannot be read here");
    }
    if (step == HG_PB_BAD) return pb_bad(error, "a TensorProto");
    if (t->type == 0) return hg_fail(error, HOLO_E_MODEL, "a tensor has no element type");
    t->shape.dtype = (holo_dtype)t->type;
    if (t->type >= HOLO_SEQUENCE || hg_elem_bits(t->shape.dtype) == 0)
        return hg_fail(error, HOLO_E_TYPE,
                       "a tensor has element type %" PRIu64 ", which is not known", t->type);
    return HOLO_OK;
}

/* Stores the low bytes of a number, as int32_data and its kin hold all narrower types. */
static void pb_store(uint8_t *to, size_t width, uint64_t value)
{
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    if (width == 1) *to = (uint8_t)value;
    if (width == 2) memcpy(to, &two, 2);
    if (width == 4) memcpy(to, &four, 4);
    if (width == 8) memcpy(to, &value, 8);
}

/* Walks the numbers of one field; stores them when `to` is not NULL. Returns false when malformed.
 */
static bool pb_numbers(hg_pb_span all, uint32_t number, uint32_t wire, uint8_t *to, size_t width,
                       size_t limit, size_t *count)
{
    hg_pb_field f;
    size_t n = 0;
    while (hg_pb_next(&all, &f) == HG_PB_FIELD) {
        if (f.number != number) continue;
        if (f.wire != HG_PB_BYTES && f.wire != wire) return false;
        hg_pb_span rest = f.bytes;
        uint64_t value = f.value;
        hg_pb_step step = HG_PB_FIELD;
        while (f.wire != HG_PB_BYTES || (step = hg_pb_number(&rest, wire, &value)) == HG_PB_FIELD) {
            if (n == limit) return false;
            if (to != NULL) pb_store(to + n * width, width, value);
            n++;
            if (f.wire != HG_PB_BYTES) break;
        }
        if (step == HG_PB_BAD) return false;
    }
    *count = n;
    return true;
}

static holo_status pb_wrong_count(const holo_tensor *shape, const char *unit, size_t have,
                                  size_t expected, holo_error *error)
{
    char text[160];
    return hg_fail(error, HOLO_E_MODEL, "a tensor %s has %zu %s of data, expected %zu",
                   hg_io_tensor_text(shape, text, sizeof text), have, unit, expected);
}

static holo_status pb_strings(const pb_tensor *t, size_t expected, holo_tensor *out,
                              holo_error *error)
{
    hg_pb_span all = t->all;
    hg_pb_field f;
    size_t n = 0;
    while (hg_pb_next(&all, &f) == HG_PB_FIELD)
        n += f.number == PB_STRINGS && f.wire == HG_PB_BYTES;
    if (n != expected) return pb_wrong_count(&t->shape, "strings", n, expected, error);
    holo_string *text = calloc(n + 1, sizeof *text);
    if (text == NULL) return hg_fail_nomem(error, n * sizeof *text);
    all = t->all;
    n = 0;
    while (hg_pb_next(&all, &f) == HG_PB_FIELD)
        if (f.number == PB_STRINGS && f.wire == HG_PB_BYTES)
            text[n++] = (holo_string){(const char *)f.bytes.at, hg_pb_size(f.bytes)};
    holo_status status = hg_io_tensor_strings(text, n, t->shape.dim, t->shape.rank, out, error);
    free(text);
    return status;
}

static holo_status pb_raw(const pb_tensor *t, size_t size, holo_tensor *out, holo_error *error)
{
    size_t have = hg_pb_size(t->raw);
    if (have != size) return pb_wrong_count(&t->shape, "bytes", have, size, error);
    HG_TRY(hg_io_tensor_new(t->shape.dtype, t->shape.dim, t->shape.rank, out, error));
    if (size > 0) memcpy(out->data, t->raw.at, size);
    size_t width = hg_elem_bits(out->dtype) / 8 / hg_elem_parts(out->dtype);
    if (hg_elem_host_is_big() && width > 1) hg_elem_swap(out->data, size / width, width);
    return HOLO_OK;
}

static holo_status pb_typed(const pb_tensor *t, size_t size, holo_tensor *out, holo_error *error)
{
    uint32_t wire, number = pb_data_field(t->shape.dtype, &wire);
    uint32_t bits = hg_elem_bits(t->shape.dtype) / hg_elem_parts(t->shape.dtype);
    size_t width = bits < 8 ? 1 : bits / 8, expected = size / width, have;
    if (!pb_numbers(t->all, number, wire, NULL, width, SIZE_MAX, &have))
        return pb_bad(error, "a tensor's data");
    if (have != expected) return pb_wrong_count(&t->shape, "numbers", have, expected, error);
    HG_TRY(hg_io_tensor_new(t->shape.dtype, t->shape.dim, t->shape.rank, out, error));
    /* The same walk succeeded just now; the limit keeps the writes inside in any case. */
    if (!pb_numbers(t->all, number, wire, out->data, width, expected, &have)) {
        hg_io_tensor_free(out);
        return pb_bad(error, "a tensor's data");
    }
    return HOLO_OK;
}

static bool pb_has_typed_data(hg_pb_span all)
{
    hg_pb_field f;
    while (hg_pb_next(&all, &f) == HG_PB_FIELD)
        if ((f.number >= PB_FLOATS && f.number <= PB_INT64S) || f.number == PB_DOUBLES ||
            f.number == PB_UINT64S) {
            if (f.wire != HG_PB_BYTES || hg_pb_size(f.bytes) > 0) return true;
        }
    return false;
}

static holo_status pb_read_tensor(hg_pb_span all, holo_tensor *out, holo_error *error)
{
    pb_tensor t;
    HG_TRY(pb_scan(all, &t, error));
    int64_t count = holo_tensor_count(&t.shape);
    size_t size = holo_tensor_bytes(&t.shape);
    if (count < 0 || size == SIZE_MAX)
        return hg_fail(error, HOLO_E_LIMIT, "a tensor's dimensions cannot be represented");
    if (t.shape.dtype == HOLO_STRING) return pb_strings(&t, (size_t)count, out, error);
    if (t.has_raw && hg_pb_size(t.raw) > 0 && pb_has_typed_data(all))
        return hg_fail(error, HOLO_E_MODEL, "a tensor has both raw data and typed data");
    holo_tensor value = {0};
    HG_TRY(t.has_raw && !pb_has_typed_data(all) ? pb_raw(&t, size, &value, error)
                                                : pb_typed(&t, size, &value, error));
    uint8_t *truth = value.dtype == HOLO_BOOL ? value.data : NULL;
    for (size_t i = 0; truth != NULL && i < size; i++)
        truth[i] = truth[i] != 0; /* any other byte would be a value that no kernel expects */
    *out = value;
    return HOLO_OK;
}

/* ---- containers ------------------------------------------------------------------------------ */

static holo_status pb_read_value(hg_pb_span all, holo_dtype kind, int depth, holo_tensor *out,
                                 holo_error *error);

/* SequenceProto and OptionalProto agree: field 3 tensor, 5 sequence, 6 map, 7 optional, 4 sparse.
 */
static holo_dtype pb_item_kind(uint32_t number)
{
    static const holo_dtype kinds[] = {HOLO_F32, HOLO_NONE, HOLO_SEQUENCE, HOLO_MAP, HOLO_OPTIONAL};
    return number >= 3 && number <= 7 ? kinds[number - 3] : HOLO_NONE;
}

static holo_status pb_read_items(hg_pb_span all, holo_dtype kind, int depth, holo_tensor *out,
                                 holo_error *error)
{
    const char *message = kind == HOLO_SEQUENCE ? "a SequenceProto" : "an OptionalProto";
    hg_pb_span rest = all;
    hg_pb_field f;
    hg_pb_step step;
    int64_t n = 0;
    while ((step = hg_pb_next(&rest, &f)) == HG_PB_FIELD) {
        if (f.number == 4)
            return hg_fail(error, HOLO_E_UNSUPPORTED,
                           "%s holds a sparse tensor, which is not supported", message);
        n += f.wire == HG_PB_BYTES && pb_item_kind(f.number) != HOLO_NONE;
    }
    if (step == HG_PB_BAD) return pb_bad(error, message);
    if (kind == HOLO_OPTIONAL && n > 1)
        return hg_fail(error, HOLO_E_MODEL, "an OptionalProto holds %" PRId64 " values", n);
    holo_tensor list;
    HG_TRY(hg_io_tensor_container(kind, n, &list, error));
    holo_tensor *item = list.data;
    holo_status status = HOLO_OK;
    rest = all;
    while (status == HOLO_OK && hg_pb_next(&rest, &f) == HG_PB_FIELD) {
        holo_dtype item_kind = pb_item_kind(f.number);
        if (f.wire == HG_PB_BYTES && item_kind != HOLO_NONE)
            status = pb_read_value(f.bytes, item_kind, depth + 1, item++, error);
    }
    if (status != HOLO_OK) {
        hg_io_tensor_free(&list);
        return status;
    }
    *out = list;
    return HOLO_OK;
}

/* Keys of a MapProto: int64 of any integer key type in field 3, strings in field 4. */
static holo_status pb_map_keys(hg_pb_span all, holo_dtype type, holo_tensor *out, holo_error *error)
{
    pb_tensor t = {.all = all, .shape = {.rank = 1, .dtype = type}};
    if (type != HOLO_STRING) {
        size_t n, width = hg_elem_bits(type) / 8;
        if (width == 0 || hg_elem_classify(type) != HG_ELEM_INTEGER)
            return hg_fail(error, HOLO_E_TYPE, "a map has keys of type %s", holo_dtype_text(type));
        if (!pb_numbers(all, 3, HG_PB_VARINT, NULL, width, SIZE_MAX, &n))
            return pb_bad(error, "a map's keys");
        int64_t dim = (int64_t)n;
        HG_TRY(hg_io_tensor_new(type, &dim, 1, out, error));
        return pb_numbers(all, 3, HG_PB_VARINT, out->data, width, n, &n)
                   ? HOLO_OK
                   : pb_bad(error, "a map's keys");
    }
    hg_pb_field f;
    while (hg_pb_next(&all, &f) == HG_PB_FIELD)
        t.shape.dim[0] += f.number == 4 && f.wire == HG_PB_BYTES;
    holo_string *text = calloc((size_t)t.shape.dim[0] + 1, sizeof *text);
    if (text == NULL) return hg_fail_nomem(error, (size_t)t.shape.dim[0] * sizeof *text);
    size_t n = 0;
    for (all = t.all; hg_pb_next(&all, &f) == HG_PB_FIELD;)
        if (f.number == 4 && f.wire == HG_PB_BYTES)
            text[n++] = (holo_string){(const char *)f.bytes.at, hg_pb_size(f.bytes)};
    holo_status status = hg_io_tensor_strings(text, n, t.shape.dim, 1, out, error);
    free(text);
    return status;
}

/* Scalars of one type become one tensor, which is what operators on maps work with. */
static holo_status pb_join_scalars(holo_tensor *values, holo_error *error)
{
    const holo_tensor *item = values->data;
    int64_t n = values->dim[0];
    for (int64_t i = 0; i < n; i++)
        if (item[i].dtype != item[0].dtype || holo_tensor_count(&item[i]) != 1 ||
            hg_elem_bits(item[i].dtype) < 8)
            return HOLO_OK;
    if (n == 0) return HOLO_OK;
    holo_tensor joined;
    size_t width = hg_elem_bits(item[0].dtype) / 8;
    if (item[0].dtype == HOLO_STRING) {
        holo_string *text = calloc((size_t)n, sizeof *text);
        if (text == NULL) return hg_fail_nomem(error, (size_t)n * sizeof *text);
        for (int64_t i = 0; i < n; i++)
            text[i] = *(const holo_string *)item[i].data;
        holo_status status = hg_io_tensor_strings(text, (size_t)n, &n, 1, &joined, error);
        free(text);
        HG_TRY(status);
    } else {
        HG_TRY(hg_io_tensor_new(item[0].dtype, &n, 1, &joined, error));
        for (int64_t i = 0; i < n; i++)
            memcpy((uint8_t *)joined.data + (size_t)i * width, item[i].data, width);
    }
    hg_io_tensor_free(values);
    *values = joined;
    return HOLO_OK;
}

static holo_status pb_read_map(hg_pb_span all, int depth, holo_tensor *out, holo_error *error)
{
    hg_pb_span rest = all, values = {0};
    hg_pb_field f;
    hg_pb_step step;
    uint64_t type = 0;
    while ((step = hg_pb_next(&rest, &f)) == HG_PB_FIELD) {
        if (f.number == 2 && f.wire == HG_PB_VARINT) type = f.value;
        if (f.number == 5 && f.wire == HG_PB_BYTES) values = f.bytes;
    }
    if (step == HG_PB_BAD) return pb_bad(error, "a MapProto");
    if (type > HOLO_I2) return hg_fail(error, HOLO_E_TYPE, "a map has keys of an unknown type");
    holo_tensor map;
    HG_TRY(hg_io_tensor_container(HOLO_MAP, 2, &map, error));
    holo_tensor *item = map.data;
    holo_status status = pb_map_keys(all, (holo_dtype)type, &item[0], error);
    if (status == HOLO_OK)
        status = pb_read_value(values, HOLO_SEQUENCE, depth + 1, &item[1], error);
    if (status == HOLO_OK && item[1].dim[0] != item[0].dim[0])
        status = hg_fail(error, HOLO_E_MODEL, "a map has %" PRId64 " keys and %" PRId64 " values",
                         item[0].dim[0], item[1].dim[0]);
    if (status == HOLO_OK) status = pb_join_scalars(&item[1], error);
    if (status != HOLO_OK) {
        hg_io_tensor_free(&map);
        return status;
    }
    *out = map;
    return HOLO_OK;
}

static holo_status pb_read_value(hg_pb_span all, holo_dtype kind, int depth, holo_tensor *out,
                                 holo_error *error)
{
    if (depth > PB_MAX_DEPTH)
        return hg_fail(error, HOLO_E_LIMIT, "values are nested more than %d deep", PB_MAX_DEPTH);
    if (kind == HOLO_MAP) return pb_read_map(all, depth, out, error);
    if (kind == HOLO_SEQUENCE || kind == HOLO_OPTIONAL)
        return pb_read_items(all, kind, depth, out, error);
    return pb_read_tensor(all, out, error);
}

holo_status hg_pb_read(const void *data, size_t size, holo_dtype kind, holo_tensor *out,
                       holo_error *error)
{
    static const uint8_t nothing[1];
    const uint8_t *start = data == NULL ? nothing : data;
    holo_tensor t;
    HG_TRY(pb_read_value((hg_pb_span){start, start + size}, kind, 0, &t, error));
    *out = t;
    return HOLO_OK;
}

holo_status hg_pb_read_file(const char *path, holo_dtype kind, holo_tensor *out, holo_error *error)
{
    hg_io_bytes bytes;
    HG_TRY(hg_io_read_file(path, &bytes, error));
    holo_status status = hg_pb_read(bytes.data, bytes.size, kind, out, error);
    hg_io_bytes_free(&bytes);
    return status == HOLO_OK ? HOLO_OK : hg_fail_prefix(error, status, "%s: ", path);
}
