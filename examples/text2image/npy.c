/* npy.c - reads arrays that NumPy saved.
 *
 *     "\x93NUMPY"  major  minor  size of the text (2 bytes, or 4 from version 2 on)  text  elements
 *
 * The text is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 24), } */
#include "npy.h"

#include "asset.h"
#include "fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NPY_MAX_TEXT = 4096 };

/* Behind "'key': ", or NULL. */
static const char *npy_value(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (at == NULL) return NULL;
    at = strchr(at, ':');
    return at == NULL ? NULL : at + 1 + strspn(at + 1, " ");
}

static bool npy_has_shape(const char *text, const int64_t *dim, int32_t rank)
{
    const char *at = npy_value(text, "'shape'");
    if (at == NULL || *at++ != '(') return false;
    for (int32_t i = 0; i < rank; i++) {
        char *end;
        if (strtoll(at, &end, 10) != dim[i] || end == at) return false;
        at = end + strspn(end, ", ");
    }
    return *at == ')';
}

static bool npy_has_type(const char *text, holo_dtype dtype)
{
    const char *type = npy_value(text, "'descr'");
    const char *order = npy_value(text, "'fortran_order'");
    const char *expected = dtype == HOLO_I64 ? "'<i8'" : "'<f4'";
    return type != NULL && order != NULL && strncmp(type, expected, strlen(expected)) == 0 &&
           strncmp(order, "False", 5) == 0;
}

static bool npy_read_text(FILE *file, char *text)
{
    uint8_t head[12];
    if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY", 6) != 0) return false;
    size_t size = (size_t)head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) {
        if (fread(head + 10, 1, 2, file) != 2) return false;
        size |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (size >= NPY_MAX_TEXT || fread(text, 1, size, file) != size) return false;
    text[size] = '\0';
    return true;
}

static holo_status npy_read_file(FILE *file, const char *path, holo_tensor *tensor,
                                 holo_error *error)
{
    char text[NPY_MAX_TEXT];
    if (!npy_read_text(file, text))
        return fail(error, HOLO_E_FORMAT, "%s is not a NumPy array file", path);
    if (!npy_has_type(text, tensor->dtype) || !npy_has_shape(text, tensor->dim, tensor->rank))
        return fail(error, HOLO_E_FORMAT, "%s has another type or shape than a reference needs",
                    path);
    const size_t bytes = holo_tensor_bytes(tensor);
    tensor->data = malloc(bytes);
    if (tensor->data == NULL) return fail(error, HOLO_E_NOMEM, "no memory for %s", path);
    if (fread(tensor->data, 1, bytes, file) == bytes) return HOLO_OK;
    free(tensor->data);
    return fail(error, HOLO_E_FORMAT, "%s ends early", path);
}

holo_status npy_read(const char *folder, const char *name, holo_dtype dtype, const int64_t *dim,
                     int32_t rank, holo_tensor *out, holo_error *error)
{
    holo_tensor tensor = {.rank = rank, .dtype = dtype};
    for (int32_t i = 0; i < rank; i++)
        tensor.dim[i] = dim[i];
    char *path = asset_path(folder, name);
    if (path == NULL) return fail(error, HOLO_E_NOMEM, "no memory for %s", name);
    FILE *file = fopen(path, "rb");
    holo_status status;
    if (file == NULL)
        status = fail(error, HOLO_E_IO, "cannot open %s", path);
    else
        status = npy_read_file(file, path, &tensor, error);
    if (file != NULL) fclose(file);
    free(path);
    if (status == HOLO_OK) *out = tensor;
    return status;
}
