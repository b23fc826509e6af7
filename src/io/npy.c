/* npy.c - NumPy's .npy files: reading. Writing is in npy_write.c. */
#include "io/npy.h"

#include "base/error.h"
#include "io/elem.h"
#include "io/file.h"
#include "io/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NPY_HEADER_LIMIT = 1 << 20 };

/* What the header says. */
typedef struct npy_header {
    holo_dtype dtype;
    char kind; /* NumPy's letter: f i u b c S U V */
    uint64_t width;
    bool swapped; /* elements are in the other byte order */
    bool fortran;
    int32_t rank;
    int64_t dim[HOLO_MAX_RANK];
} npy_header;

/* The header is a Python dict literal; only the few forms that NumPy writes are read. */
typedef struct npy_parser {
    const char *at, *end;
    const char *name;
    holo_error *error;
} npy_parser;

static holo_status npy_bad(const npy_parser *p, const char *what)
{
    return hg_fail(p->error, HOLO_E_FORMAT, "%s is not a valid .npy file: %s", p->name, what);
}

static void npy_space(npy_parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t'))
        p->at++;
}

static bool npy_accept(npy_parser *p, const char *token)
{
    size_t n = strlen(token);
    npy_space(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, token, n) != 0) return false;
    p->at += n;
    return true;
}

static holo_status npy_text(npy_parser *p, holo_string *out)
{
    npy_space(p);
    if (p->at == p->end || (*p->at != '\'' && *p->at != '"'))
        return npy_bad(p, "its header lacks a quoted word");
    char quote = *p->at++;
    const char *start = p->at;
    while (p->at < p->end && *p->at != quote)
        p->at++;
    if (p->at == p->end) return npy_bad(p, "its header has an unterminated word");
    *out = (holo_string){start, (uint64_t)(p->at - start)};
    p->at++;
    return HOLO_OK;
}

static holo_status npy_number(npy_parser *p, uint64_t limit, uint64_t *out)
{
    uint64_t value = 0;
    const char *start = p->at;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        uint64_t digit = (uint64_t)(*p->at - '0');
        if (value > (limit - digit) / 10)
            return npy_bad(p, "its header has a number that is too large");
        value = value * 10 + digit;
    }
    if (p->at == start) return npy_bad(p, "its header lacks a number");
    *out = value;
    return HOLO_OK;
}

/* "(3, 4)", "(3,)", "()" */
static holo_status npy_shape(npy_parser *p, npy_header *h)
{
    if (!npy_accept(p, "(")) return npy_bad(p, "its shape is not a tuple");
    h->rank = 0;
    while (!npy_accept(p, ")")) {
        uint64_t dim;
        if (h->rank == HOLO_MAX_RANK)
            return hg_fail(p->error, HOLO_E_LIMIT, "%s has more than %d dimensions", p->name,
                           HOLO_MAX_RANK);
        HG_TRY(npy_number(p, INT64_MAX, &dim));
        npy_accept(p, "L"); /* Python 2 wrote long integers so */
        h->dim[h->rank++] = (int64_t)dim;
        if (npy_accept(p, ",")) npy_space(p);
    }
    return HOLO_OK;
}

static const struct {
    char kind;
    uint8_t width;
    holo_dtype dtype;
} npy_types[] = {
    {'f', 4, HOLO_F32}, {'f', 2, HOLO_F16},   {'f', 8, HOLO_F64}, {'i', 1, HOLO_I8},
    {'i', 2, HOLO_I16}, {'i', 4, HOLO_I32},   {'i', 8, HOLO_I64}, {'u', 1, HOLO_U8},
    {'u', 2, HOLO_U16}, {'u', 4, HOLO_U32},   {'u', 8, HOLO_U64}, {'b', 1, HOLO_BOOL},
    {'c', 8, HOLO_C64}, {'c', 16, HOLO_C128}, {'V', 1, HOLO_U8},  {'V', 2, HOLO_U16},
};

/* "<f4": byte order, kind, bytes. */
static holo_status npy_descr(npy_parser *p, npy_header *h)
{
    if (npy_accept(p, "[")) return npy_bad(p, "structured types are not supported");
    holo_string text = {0};
    HG_TRY(npy_text(p, &text));
    npy_parser word = *p;
    word.at = text.text;
    word.end = text.text + text.length;
    char order = '=';
    if (text.length > 0) order = text.text[0];
    if (order == '<' || order == '>' || order == '|' || order == '=') word.at++;
    if (word.at == word.end) return npy_bad(p, "its element type is empty");
    h->kind = *word.at++;
    HG_TRY(npy_number(&word, UINT32_MAX, &h->width));
    h->swapped =
        (order == '>' && !hg_elem_host_is_big()) || (order == '<' && hg_elem_host_is_big());
    h->dtype = HOLO_NONE;
    for (size_t i = 0; i < HG_COUNT(npy_types); i++)
        if (npy_types[i].kind == h->kind && npy_types[i].width == h->width)
            h->dtype = npy_types[i].dtype;
    if (h->kind == 'S' || h->kind == 'U') h->dtype = HOLO_STRING;
    if (h->dtype == HOLO_NONE)
        return hg_fail(p->error, HOLO_E_TYPE, "%s has element type '%.*s', which is not supported",
                       p->name, (int)(text.length > 40 ? 40 : text.length), text.text);
    return HOLO_OK;
}

static holo_status npy_dict(npy_parser *p, npy_header *h)
{
    uint32_t seen = 0;
    if (!npy_accept(p, "{")) return npy_bad(p, "its header is not a dictionary");
    while (!npy_accept(p, "}")) {
        holo_string key = {0};
        HG_TRY(npy_text(p, &key));
        if (!npy_accept(p, ":")) return npy_bad(p, "its header lacks a colon");
        if (key.length == 5 && memcmp(key.text, "descr", 5) == 0) {
            HG_TRY(npy_descr(p, h));
            seen |= 1;
        } else if (key.length == 13 && memcmp(key.text, "fortran_order", 13) == 0) {
            h->fortran = npy_accept(p, "True");
            if (!h->fortran && !npy_accept(p, "False"))
                return npy_bad(p, "fortran_order is neither True nor False");
            seen |= 2;
        } else if (key.length == 5 && memcmp(key.text, "shape", 5) == 0) {
            HG_TRY(npy_shape(p, h));
            seen |= 4;
        } else {
            return npy_bad(p, "its header has an unknown key");
        }
        npy_accept(p, ",");
    }
    if (seen != 7) return npy_bad(p, "its header lacks descr, fortran_order or shape");
    return HOLO_OK;
}

static holo_status npy_read_header(FILE *stream, const char *name, npy_header *h, holo_error *error)
{
    npy_parser p = {.name = name, .error = error};
    uint8_t start[12];
    size_t got = fread(start, 1, 10, stream);
    if (got == 0) return hg_fail(error, HOLO_E_FORMAT, "%s is empty", name);
    if (got < 10 || memcmp(start, "\x93NUMPY", 6) != 0)
        return npy_bad(&p, "it does not start with the .npy signature");
    if (start[6] < 1 || start[6] > 3)
        return hg_fail(error, HOLO_E_FORMAT, "%s has .npy version %d, 1 to 3 are known", name,
                       start[6]);
    size_t length = (size_t)start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, stream) != 2) return npy_bad(&p, "it is cut short");
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > NPY_HEADER_LIMIT) return npy_bad(&p, "its header is longer than 1 MiB");
    void *text = NULL;
    HG_TRY(hg_io_read_stream(stream, name, length, &text, error));
    p.at = text;
    p.end = p.at + length;
    holo_status status = npy_dict(&p, h);
    free(text);
    return status;
}

/* Column-major to row-major; index[] counts in row-major order, `from` follows it. */
static holo_status npy_transpose(const npy_header *h, void **data, size_t count, holo_error *error)
{
    size_t width = (size_t)h->width, stride[HOLO_MAX_RANK], step = 1;
    int64_t index[HOLO_MAX_RANK] = {0};
    uint8_t *to = hg_io_alloc(count * width);
    if (to == NULL) return hg_fail_nomem(error, count * width);
    for (int32_t i = 0; i < h->rank; i++) {
        stride[i] = step;
        step *= (size_t)h->dim[i];
    }
    for (size_t i = 0, from = 0; i < count; i++) {
        memcpy(to + i * width, (const uint8_t *)*data + from * width, width);
        for (int32_t axis = h->rank - 1; axis >= 0; axis--) {
            from += stride[axis];
            if (++index[axis] < h->dim[axis]) break;
            from -= stride[axis] * (size_t)h->dim[axis];
            index[axis] = 0;
        }
    }
    free(*data);
    *data = to;
    return HOLO_OK;
}

static size_t npy_utf8(uint32_t code, char *out)
{
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 63));
    out[0] = (char)((0xf0u << (4 - n)) | code);
    return n;
}

/* UTF-32 of fixed width to UTF-8 without the NULs at its end; returns where the next text goes. */
static char *npy_utf32(const uint8_t *from, size_t width, char *to, holo_string *out)
{
    char *end = to;
    *out = (holo_string){to, 0};
    for (size_t i = 0; i < width; i++) {
        uint32_t code;
        memcpy(&code, from + 4 * i, 4);
        end += npy_utf8(code, end);
        if (code != 0) out->length = (uint64_t)(end - to);
    }
    return end;
}

static void npy_split(const npy_header *h, const uint8_t *data, size_t count, char *text,
                      holo_string *item)
{
    size_t width = (size_t)h->width;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *from = data + i * (h->kind == 'U' ? width * 4 : width);
        size_t n = width;
        while (h->kind == 'S' && n > 0 && from[n - 1] == 0)
            n--;
        item[i] = (holo_string){(const char *)from, n};
        if (h->kind == 'U') text = npy_utf32(from, width, text, &item[i]);
    }
}

/* Fixed-width texts, padded with NUL, to a STRING tensor. */
static holo_status npy_strings(const npy_header *h, const uint8_t *data, size_t count,
                               holo_tensor *out, holo_error *error)
{
    /* A UTF-32 character never needs more bytes in UTF-8. */
    size_t size = h->kind == 'U' ? count * (size_t)h->width * 4 + 1 : 1;
    char *text = malloc(size);
    holo_string *item = calloc(count + 1, sizeof *item);
    holo_status status = HOLO_E_NOMEM;
    if (text != NULL && item != NULL) {
        npy_split(h, data, count, text, item);
        status = hg_io_tensor_strings(item, count, h->dim, h->rank, out, error);
    } else {
        hg_fail_nomem(error, size);
    }
    free(text);
    free(item);
    return status;
}

static holo_status npy_finish(const npy_header *h, void *data, size_t count, holo_tensor *out,
                              holo_error *error)
{
    size_t parts = hg_elem_parts(h->dtype);
    if (h->kind == 'U' && h->swapped)
        hg_elem_swap(data, count * (size_t)h->width, 4);
    else if (h->swapped && h->kind != 'S')
        hg_elem_swap(data, count * parts, (size_t)h->width / parts);
    if (h->dtype == HOLO_STRING) {
        holo_status status = npy_strings(h, data, count, out, error);
        free(data);
        return status;
    }
    if (h->dtype == HOLO_BOOL) /* any other byte would be a value that no kernel expects */
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)data)[i] = ((uint8_t *)data)[i] != 0;
    *out = (holo_tensor){.data = data, .rank = h->rank, .dtype = h->dtype};
    memcpy(out->dim, h->dim, sizeof h->dim);
    return HOLO_OK;
}

holo_status hg_npy_read_stream(FILE *stream, const char *name, holo_tensor *out, holo_error *error)
{
    npy_header h = {0};
    HG_TRY(npy_read_header(stream, name, &h, error));
    holo_tensor shape = {.rank = h.rank, .dtype = HOLO_U8};
    memcpy(shape.dim, h.dim, sizeof h.dim);
    size_t count = holo_tensor_bytes(&shape), width = (size_t)h.width * (h.kind == 'U' ? 4 : 1);
    size_t size;
    if (count == SIZE_MAX || !hg_mul_size(count, width, &size) || size > SIZE_MAX / 4)
        return hg_fail(error, HOLO_E_LIMIT, "%s has a shape whose size cannot be represented",
                       name);
    /* Texts of width 0 take no bytes in the file, so the file cannot vouch for their number. */
    if (width == 0 && count > NPY_HEADER_LIMIT)
        return hg_fail(error, HOLO_E_LIMIT, "%s claims %zu empty texts", name, count);
    void *data = NULL;
    HG_TRY(hg_io_read_stream(stream, name, size, &data, error));
    if (h.fortran && h.rank > 1) {
        npy_header wide = h;
        wide.width = width;
        holo_status status = npy_transpose(&wide, &data, count, error);
        if (status != HOLO_OK) {
            free(data);
            return status;
        }
    }
    return npy_finish(&h, data, count, out, error);
}

holo_status hg_npy_read(const char *path, holo_tensor *out, holo_error *error)
{
    if (strcmp(path, "-") == 0) return hg_npy_read_stream(stdin, "standard input", out, error);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return hg_fail(error, HOLO_E_IO, "cannot open %s: %s", path, strerror(errno));
    holo_status status = hg_npy_read_stream(stream, path, out, error);
    fclose(stream);
    return status;
}
