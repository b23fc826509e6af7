/* tensor.c - TensorProto and SparseTensorProto become constants.
 *
 * Bytes stay where they are when they are aligned for their elements; protobuf puts them anywhere,
 * so most large tensors have to be copied once, and then their pages in the model file are let go.
 */
#include "import/onnx/importer.h"

#include <inttypes.h>

enum { TENSOR_FORGET_BYTES = 1 << 16 };

/* A tensor whose claims about itself have been checked. */
typedef struct tensor_view {
    hg_onnx_tensor onnx;
    holo_dtype dtype;
    int32_t rank;
    int64_t dim[HG_MAX_RANK];
    int64_t count; /* elements */
    size_t bytes;
    const void *data;
} tensor_view;

/* ---- shape ----------------------------------------------------------------------------------- */

static holo_status tensor_read_dims(hg_importer *im, hg_wire_numbers dims, tensor_view *t)
{
    uint64_t value;
    bool fits = true;
    const uint32_t most = hg_limit_most(im->ctx->limits.rank, HG_LIMIT_RANK);
    if (dims.count > most)
        return hg_import_fail(im, most < HG_LIMIT_RANK ? HOLO_E_LIMIT : HOLO_E_UNSUPPORTED,
                              "rank %zu, at most %u is supported", dims.count, most);
    t->rank = (int32_t)dims.count;
    t->count = 1;
    for (int32_t i = 0; hg_wire_numbers_next(&dims, &value); i++) {
        t->dim[i] = (int64_t)value;
        if (t->dim[i] < 0)
            return hg_import_fail(im, HOLO_E_MODEL,
                                  "dimension %d is %" PRId64 ", expected at least 0", i, t->dim[i]);
        /* A zero anywhere makes it empty, but the others must not be absurd. */
        fits = fits && hg_mul_i64(t->count, t->dim[i], &t->count);
    }
    const uint64_t limit = hg_limit(im->ctx->limits.tensor_bytes, HG_LIMIT_TENSOR_BYTES);
    const uint64_t elements = hg_limit(im->ctx->limits.tensor_elements, HG_LIMIT_TENSOR_ELEMENTS);
    fits = fits && hg_dtype_bytes(t->dtype, t->count, &t->bytes) && t->bytes <= limit;
    if (!fits)
        return hg_import_fail(im, HOLO_E_LIMIT,
                              "its dimensions ask for more than %" PRIu64 " bytes", limit);
    if ((uint64_t)t->count > elements)
        return hg_import_fail(im, HOLO_E_LIMIT,
                              "it has %" PRId64 " elements, at most %" PRIu64 " are allowed",
                              t->count, elements);
    return HOLO_OK;
}

static holo_status tensor_read(hg_importer *im, hg_wire message, tensor_view *t)
{
    *t = (tensor_view){0};
    HG_TRY(hg_onnx_read_tensor(&im->source, message, &t->onnx));
    if (t->onnx.data_type < 1 || t->onnx.data_type > 63 ||
        !hg_dtype_in((holo_dtype)t->onnx.data_type, HG_TYPES_ANY))
        return hg_import_fail(im, HOLO_E_UNSUPPORTED, "element type %" PRId64 " is not known",
                              t->onnx.data_type);
    t->dtype = (holo_dtype)t->onnx.data_type;
    if (hg_onnx_has(t->onnx.has, HG_ONNX_TENSOR_SEGMENT))
        return hg_import_fail(im, HOLO_E_UNSUPPORTED, "tensors in segments are not supported");
    return tensor_read_dims(im, t->onnx.dims, t);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Bytes of the number an element is made of: complex ones have two. */
static size_t tensor_unit(holo_dtype dtype)
{
    const uint32_t bits = hg_dtype_bits(dtype);
    if (hg_dtype_in(dtype, HG_TYPES_COMPLEX)) return bits / 16;
    return bits < 8 ? 1 : bits / 8;
}

static holo_status tensor_alloc(const hg_importer *im, size_t bytes, uint8_t **out)
{
    return HG_NEW(im->ctx, bytes == 0 ? 1 : bytes, out);
}

static holo_status tensor_check_bools(const hg_importer *im, const tensor_view *t)
{
    const uint8_t *bytes = t->data;
    for (size_t i = 0; t->dtype == HOLO_BOOL && i < t->bytes; i++)
        if (bytes[i] > 1)
            return hg_import_fail(im, HOLO_E_MODEL,
                                  "element %zu of a bool tensor is %d, expected 0 or 1", i,
                                  bytes[i]);
    return HOLO_OK;
}

/* Bytes in their final form: a view when they are aligned. `file` may be NULL. */
static holo_status tensor_take_bytes(hg_importer *im, const uint8_t *bytes, const hg_file *file,
                                     tensor_view *t)
{
    size_t align = tensor_unit(t->dtype);
    if (align > 8) align = 8;
    t->data = bytes;
    if (t->bytes == 0 || (uintptr_t)bytes % align != 0) {
        uint8_t *copy;
        HG_TRY(tensor_alloc(im, t->bytes, &copy));
        if (t->bytes != 0) memcpy(copy, bytes, t->bytes);
        if (file != NULL && t->bytes >= TENSOR_FORGET_BYTES) hg_file_forget(file, bytes, t->bytes);
        t->data = copy;
    }
    return tensor_check_bools(im, t);
}

static holo_status tensor_from_raw(hg_importer *im, tensor_view *t)
{
    const size_t size = hg_wire_size(t->onnx.raw_data);
    if (t->dtype == HOLO_STRING)
        return hg_import_fail(im, HOLO_E_MODEL, "strings in raw_data, expected string_data");
    if (size != t->bytes)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "raw_data has %zu bytes, expected %zu for %" PRId64 " elements of %s",
                              size, t->bytes, t->count, holo_dtype_text(t->dtype));
    return tensor_take_bytes(im, t->onnx.raw_data.at, im->options->file, t);
}

static holo_status tensor_from_external(hg_importer *im, tensor_view *t)
{
    const hg_import_options *o = im->options;
    hg_external_place place;
    const uint8_t *data;
    const hg_file *file;
    if (t->dtype == HOLO_STRING)
        return hg_import_fail(im, HOLO_E_MODEL, "strings cannot be external data");
    if (o->base_dir == NULL || o->external == NULL)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "its data is in another file, which a model in memory cannot have");
    holo_status status = hg_external_read_place(&im->source, t->onnx.external_data, &place);
    if (status == HOLO_OK)
        status = hg_external_map(o->external, o->base_dir, o->file, &place, t->bytes, &data, &file,
                                 im->ctx->error);
    if (status != HOLO_OK)
        return hg_fail_prefix(im->ctx->error, status,
                              "%s '%.*s': ", im->where == NULL ? "tensor" : im->where,
                              HG_STR_ARG(hg_import_shown(im->where_name)));
    return tensor_take_bytes(im, data, file, t);
}

/* ---- typed fields ---------------------------------------------------------------------------- */

/* The field that holds the elements of a type; NULL for strings. */
static const hg_wire_numbers *tensor_field(const hg_onnx_tensor *t, holo_dtype dtype,
                                           const char **name)
{
    if (dtype == HOLO_F32 || dtype == HOLO_C64) {
        *name = "float_data";
        return &t->float_data;
    }
    if (dtype == HOLO_F64 || dtype == HOLO_C128) {
        *name = "double_data";
        return &t->double_data;
    }
    if (dtype == HOLO_I64) {
        *name = "int64_data";
        return &t->int64_data;
    }
    if (dtype == HOLO_U32 || dtype == HOLO_U64) {
        *name = "uint64_data";
        return &t->uint64_data;
    }
    *name = dtype == HOLO_STRING ? "string_data" : "int32_data";
    return dtype == HOLO_STRING ? NULL : &t->int32_data;
}

/* Numbers in any typed field. */
static size_t tensor_typed_count(const hg_onnx_tensor *t)
{
    return t->float_data.count + t->int32_data.count + t->int64_data.count + t->double_data.count +
           t->uint64_data.count + t->string_data.count;
}

/* Whether a number fits an element: as signed or as unsigned, exporters do both. */
static bool tensor_fits(uint64_t value, size_t unit, holo_dtype dtype)
{
    if (dtype == HOLO_BOOL) return value <= 1;
    if (unit >= 8 || hg_dtype_in(dtype, HG_TYPE_BIT(HOLO_F32) | HG_TYPES_COMPLEX)) return true;
    const int64_t number = (int64_t)value, high = (int64_t)1 << (8 * unit);
    return number >= -high / 2 && number < high;
}

static holo_status tensor_from_numbers(hg_importer *im, hg_wire_numbers numbers, tensor_view *t)
{
    const size_t unit = tensor_unit(t->dtype);
    hg_wire run;
    uint64_t value;
    uint8_t *to;
    if (hg_wire_numbers_bytes(&numbers, &run))
        return tensor_take_bytes(im, run.at, im->options->file, t);
    HG_TRY(tensor_alloc(im, t->bytes, &to));
    t->data = to;
    for (size_t i = 0; hg_wire_numbers_next(&numbers, &value); i++) {
        if (!tensor_fits(value, unit, t->dtype))
            return hg_import_fail(im, HOLO_E_MODEL, "element %zu is %" PRId64 ", which is no %s", i,
                                  (int64_t)value, holo_dtype_text(t->dtype));
        for (size_t k = 0; k < unit; k++)
            *to++ = (uint8_t)(value >> (8 * k));
    }
    return HOLO_OK;
}

static holo_status tensor_from_strings(hg_importer *im, hg_wire_list strings, tensor_view *t)
{
    holo_string *to;
    hg_wire item;
    HG_TRY(HG_NEW(im->ctx, strings.count + 1, &to));
    t->data = to;
    while (hg_wire_list_next(&strings, &item)) {
        HG_TRY(hg_import_check_string(im, hg_wire_size(item)));
        *to++ = (holo_string){(const char *)item.at, hg_wire_size(item)};
    }
    return HOLO_OK;
}

static holo_status tensor_from_typed(hg_importer *im, tensor_view *t)
{
    const char *name;
    const hg_wire_numbers *numbers = tensor_field(&t->onnx, t->dtype, &name);
    const size_t all = tensor_typed_count(&t->onnx);
    const size_t count = numbers == NULL ? t->onnx.string_data.count : numbers->count;
    const size_t wanted = numbers == NULL ? (size_t)t->count : t->bytes / tensor_unit(t->dtype);
    if (all != count)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "data of another type, expected %s for a tensor of %s", name,
                              holo_dtype_text(t->dtype));
    if (count != wanted)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "%s has %zu entries, expected %zu for %" PRId64 " elements of %s",
                              name, count, wanted, t->count, holo_dtype_text(t->dtype));
    return numbers == NULL ? tensor_from_strings(im, t->onnx.string_data, t)
                           : tensor_from_numbers(im, *numbers, t);
}

static holo_status tensor_load(hg_importer *im, hg_wire message, tensor_view *t)
{
    HG_TRY(tensor_read(im, message, t));
    const bool has_raw = hg_wire_size(t->onnx.raw_data) != 0;
    const bool has_typed = tensor_typed_count(&t->onnx) != 0;
    const bool is_external = t->onnx.data_location == HG_ONNX_EXTERNAL;
    if (has_raw + has_typed + is_external > 1)
        return hg_import_fail(im, HOLO_E_MODEL, "its data is there twice, in %s and in %s",
                              has_raw ? "raw_data" : "a typed field",
                              is_external ? "another file" : "a typed field");
    if (is_external) return tensor_from_external(im, t);
    if (has_raw || (hg_onnx_has(t->onnx.has, HG_ONNX_TENSOR_RAW_DATA) && !has_typed))
        return tensor_from_raw(im, t);
    return tensor_from_typed(im, t);
}

/* ---- constants ------------------------------------------------------------------------------- */

static holo_status tensor_add(hg_importer *im, const tensor_view *t, hg_str name, hg_value_id *out)
{
    hg_type type = {.dtype = t->dtype, .rank = t->rank};
    for (int32_t i = 0; i < t->rank; i++)
        type.dim[i] = hg_dim_const(&im->g->dims, t->dim[i]);
    return hg_graph_add_const(im->g, name, type, t->data, t->bytes, out);
}

holo_status hg_import_tensor(hg_importer *im, hg_wire tensor, hg_str name, hg_value_id *out)
{
    tensor_view t;
    HG_TRY(tensor_load(im, tensor, &t));
    return tensor_add(im, &t, name, out);
}

/* ---- sparse tensors -------------------------------------------------------------------------- */

/* Place of entry i in the dense tensor, from a linear index or from coordinates. */
static holo_status tensor_sparse_place(hg_importer *im, const tensor_view *indices,
                                       const tensor_view *dense, int64_t i, int64_t *out)
{
    const int64_t *index = indices->data;
    int64_t place = 0;
    if (indices->rank == 1) {
        place = index[i];
        if (place < 0 || place >= dense->count)
            return hg_import_fail(im, HOLO_E_MODEL,
                                  "sparse index %" PRId64 ", expected 0 to %" PRId64, place,
                                  dense->count - 1);
        *out = place;
        return HOLO_OK;
    }
    for (int32_t k = 0; k < dense->rank; k++) {
        const int64_t at = index[i * dense->rank + k];
        if (at < 0 || at >= dense->dim[k])
            return hg_import_fail(im, HOLO_E_MODEL,
                                  "sparse index %" PRId64
                                  " in dimension %d, expected 0 to %" PRId64,
                                  at, k, dense->dim[k] - 1);
        place = place * dense->dim[k] + at;
    }
    *out = place;
    return HOLO_OK;
}

static holo_status tensor_check_sparse(hg_importer *im, const tensor_view *values,
                                       const tensor_view *indices, const tensor_view *dense)
{
    if (hg_dtype_bits(values->dtype) < 8)
        return hg_import_fail(im, HOLO_E_UNSUPPORTED, "sparse tensors of %s are not supported",
                              holo_dtype_text(values->dtype));
    if (values->rank != 1)
        return hg_import_fail(im, HOLO_E_MODEL, "sparse values of rank %d, expected 1",
                              values->rank);
    if (indices->dtype != HOLO_I64)
        return hg_import_fail(im, HOLO_E_MODEL, "sparse indices of %s, expected int64",
                              holo_dtype_text(indices->dtype));
    const bool is_linear = indices->rank == 1 && indices->dim[0] == values->count;
    const bool is_coordinates =
        indices->rank == 2 && indices->dim[0] == values->count && indices->dim[1] == dense->rank;
    if (!is_linear && !is_coordinates)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "sparse indices fit neither [%" PRId64 "] nor [%" PRId64 ", %d]",
                              values->count, values->count, dense->rank);
    return HOLO_OK;
}

static holo_status tensor_scatter(hg_importer *im, const tensor_view *values,
                                  const tensor_view *indices, tensor_view *dense)
{
    const size_t size = hg_dtype_bits(dense->dtype) / 8;
    const uint8_t *from = values->data;
    int64_t last = -1, place = 0;
    uint8_t *to;
    HG_TRY(tensor_alloc(im, dense->bytes, &to));
    for (int64_t i = 0; i < values->count; i++) {
        HG_TRY(tensor_sparse_place(im, indices, dense, i, &place));
        if (place <= last)
            return hg_import_fail(im, HOLO_E_MODEL, "sparse indices are not in ascending order");
        memcpy(to + (size_t)place * size, from + (size_t)i * size, size);
        last = place;
    }
    dense->data = to;
    return HOLO_OK;
}

holo_status hg_import_sparse(hg_importer *im, hg_wire sparse, hg_str name, hg_value_id *out)
{
    hg_onnx_sparse view;
    tensor_view values, indices, dense = {0};
    HG_TRY(hg_onnx_read_sparse(&im->source, sparse, &view));
    if (!hg_onnx_has(view.has, HG_ONNX_SPARSE_VALUES) ||
        !hg_onnx_has(view.has, HG_ONNX_SPARSE_INDICES))
        return hg_import_fail(im, HOLO_E_MODEL, "a sparse tensor without values or indices");
    HG_TRY(tensor_load(im, view.values, &values));
    HG_TRY(tensor_load(im, view.indices, &indices));
    dense.dtype = values.dtype;
    HG_TRY(tensor_read_dims(im, view.dims, &dense));
    HG_TRY(tensor_check_sparse(im, &values, &indices, &dense));
    HG_TRY(tensor_scatter(im, &values, &indices, &dense));
    return tensor_add(im, &dense, name, out);
}
