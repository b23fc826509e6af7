/* tensor.c - tensors that tools own. */
#include "io/tensor.h"

#include "base/error.h"
#include "base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *hg_io_alloc(size_t size)
{
    void *p = NULL;
    const bool is_large = size >= HG_LARGE_PAGE;
    /* The size is not rounded up, so that a sanitizer sees a write one byte behind a tensor. */
    if (posix_memalign(&p, is_large ? HG_LARGE_PAGE : HG_ALIGN, size == 0 ? 1 : size) != 0)
        return NULL;
    if (is_large) hg_pages_large(p, size);
    return p;
}

bool hg_io_is_container(holo_dtype dtype)
{
    return dtype == HOLO_SEQUENCE || dtype == HOLO_OPTIONAL || dtype == HOLO_MAP;
}

static holo_status tensor_shape(holo_dtype dtype, const int64_t *dim, int32_t rank,
                                holo_tensor *out, holo_error *error)
{
    if (rank < 0 || rank > HOLO_MAX_RANK)
        return hg_fail(error, HOLO_E_LIMIT, "a tensor has rank %d, the limit is %d", rank,
                       HOLO_MAX_RANK);
    *out = (holo_tensor){.rank = rank, .dtype = dtype};
    for (int32_t i = 0; i < rank; i++)
        out->dim[i] = dim[i];
    return HOLO_OK;
}

holo_status hg_io_tensor_new(holo_dtype dtype, const int64_t *dim, int32_t rank, holo_tensor *out,
                             holo_error *error)
{
    holo_tensor t;
    HG_TRY(tensor_shape(dtype, dim, rank, &t, error));
    size_t size = holo_tensor_bytes(&t);
    if (size == SIZE_MAX)
        return hg_fail(error, HOLO_E_LIMIT, "a %s tensor has dimensions that cannot be represented",
                       holo_dtype_text(dtype));
    t.data = hg_io_alloc(size);
    if (t.data == NULL) return hg_fail_nomem(error, size);
    memset(t.data, 0, size);
    *out = t;
    return HOLO_OK;
}

holo_status hg_io_tensor_strings(const holo_string *texts, size_t n, const int64_t *dim,
                                 int32_t rank, holo_tensor *out, holo_error *error)
{
    holo_tensor t;
    HG_TRY(tensor_shape(HOLO_STRING, dim, rank, &t, error));
    int64_t count = holo_tensor_count(&t);
    if (count < 0 || (uint64_t)count != n)
        return hg_fail(error, HOLO_E_SHAPE,
                       "%zu strings do not fill a shape of %" PRId64 " elements", n, count);
    size_t size;
    if (!hg_mul_size(n, sizeof(holo_string), &size)) return hg_fail_nomem(error, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        if (!hg_add_size(size, (size_t)texts[i].length, &size))
            return hg_fail_nomem(error, SIZE_MAX);
    holo_string *item = hg_io_alloc(size);
    if (item == NULL) return hg_fail_nomem(error, size);
    char *text = (char *)(item + n);
    for (size_t i = 0; i < n; i++) {
        if (texts[i].length > 0) memcpy(text, texts[i].text, (size_t)texts[i].length);
        item[i] = (holo_string){text, texts[i].length};
        text += texts[i].length;
    }
    t.data = item;
    *out = t;
    return HOLO_OK;
}

holo_status hg_io_tensor_container(holo_dtype dtype, int64_t n, holo_tensor *out, holo_error *error)
{
    size_t size;
    if (n < 0 || !hg_mul_size((size_t)n, sizeof(holo_tensor), &size))
        return hg_fail_nomem(error, SIZE_MAX);
    void *items = hg_io_alloc(size);
    if (items == NULL) return hg_fail_nomem(error, size);
    memset(items, 0, size);
    *out = (holo_tensor){.data = items, .dim = {n}, .rank = 1, .dtype = dtype};
    return HOLO_OK;
}

holo_status hg_io_tensor_copy(const holo_tensor *tensor, holo_tensor *out, holo_error *error)
{
    if (tensor->dtype == HOLO_NONE) {
        *out = *tensor;
        return HOLO_OK;
    }
    if (tensor->dtype == HOLO_STRING) {
        int64_t count = holo_tensor_count(tensor);
        return hg_io_tensor_strings(tensor->data, count < 0 ? 0 : (size_t)count, tensor->dim,
                                    tensor->rank, out, error);
    }
    holo_tensor t = {0};
    if (!hg_io_is_container(tensor->dtype)) {
        HG_TRY(hg_io_tensor_new(tensor->dtype, tensor->dim, tensor->rank, &t, error));
        size_t size = holo_tensor_bytes(&t);
        if (t.data != NULL && size > 0) memcpy(t.data, tensor->data, size);
        *out = t;
        return HOLO_OK;
    }
    HG_TRY(hg_io_tensor_container(tensor->dtype, tensor->dim[0], &t, error));
    const holo_tensor *from = tensor->data;
    holo_tensor *to = t.data;
    for (int64_t i = 0; i < t.dim[0]; i++) {
        holo_status status = hg_io_tensor_copy(&from[i], &to[i], error);
        if (status != HOLO_OK) {
            hg_io_tensor_free(&t);
            return status;
        }
    }
    *out = t;
    return HOLO_OK;
}

/* The depth is that of a type, which the readers bound. */
void hg_io_tensor_free(holo_tensor *tensor)
{
    if (tensor->data != NULL && hg_io_is_container(tensor->dtype)) {
        holo_tensor *items = tensor->data;
        for (int64_t i = 0; i < tensor->dim[0]; i++)
            hg_io_tensor_free(&items[i]);
    }
    free(tensor->data);
    *tensor = (holo_tensor){0};
}

static size_t tensor_put(char *text, size_t size, size_t at, const char *format, int64_t value)
{
    if (at >= size) return at;
    int n = snprintf(text + at, size - at, format, value);
    return n < 0 ? at : at + (size_t)n;
}

const char *hg_io_tensor_text(const holo_tensor *tensor, char *text, size_t size)
{
    int n = snprintf(text, size, "%s", holo_dtype_text(tensor->dtype));
    size_t at = n < 0 ? 0 : (size_t)n;
    if (tensor->dtype == HOLO_SEQUENCE || tensor->dtype == HOLO_OPTIONAL) {
        tensor_put(text, size, at, " of %" PRId64, tensor->dim[0]);
    } else if (tensor->dtype != HOLO_MAP && tensor->dtype != HOLO_NONE) {
        at = tensor_put(text, size, at, tensor->rank == 0 ? " []" : " [", 0);
        for (int32_t i = 0; i < tensor->rank; i++)
            at = tensor_put(text, size, at, i + 1 < tensor->rank ? "%" PRId64 ", " : "%" PRId64 "]",
                            tensor->dim[i]);
    }
    return text;
}
