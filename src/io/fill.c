/* fill.c - deterministic inputs for measuring and comparing. */
#include "io/fill.h"

#include "base/error.h"
#include "io/elem.h"
#include "io/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_MAX_INPUTS = 4096 };

/* One input above 64 GiB is a slip of the pen, and memory is committed while it is filled. */
#define FILL_MAX_BYTES ((size_t)1 << 36)

double hg_rng_uniform(hg_rng *rng)
{
    rng->state = rng->state * 1664525u + 1013904223u;
    return (double)rng->state / 4294967296.0;
}

holo_dtype hg_dtype_named(const char *name)
{
#define X(label, number, text, bits)                                                               \
    if (strcmp(name, text) == 0) return HOLO_##label;
    HOLO_DTYPE_MAP(X)
#undef X
    return HOLO_NONE;
}

static bool fill_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0;
}

holo_status hg_fill_parse(const char *text, hg_fill *out, holo_error *error)
{
    static const struct {
        const char *name;
        hg_fill_kind kind;
    } forms[] = {
        {"rand", HG_FILL_RAND}, {"rand01", HG_FILL_RAND01},     {"random", HG_FILL_RAND},
        {"iota", HG_FILL_IOTA}, {"halfmask", HG_FILL_HALFMASK}, {"piper", HG_FILL_PIPER},
    };
    for (size_t i = 0; i < HG_COUNT(forms); i++)
        if (strcmp(text, forms[i].name) == 0) {
            *out = (hg_fill){forms[i].kind, 0};
            return HOLO_OK;
        }
    hg_fill fill = {HG_FILL_INT, 0};
    if (strncmp(text, "int=", 4) == 0 && fill_number(text + 4, &fill.value) && fill.value >= 1) {
        *out = fill;
        return HOLO_OK;
    }
    fill.kind = HG_FILL_CONST;
    if (strncmp(text, "const=", 6) == 0 && fill_number(text + 6, &fill.value)) {
        *out = fill;
        return HOLO_OK;
    }
    return hg_fail(error, HOLO_E_ARG,
                   "unknown fill '%s' (rand, rand01, int=N, const=V, iota, halfmask, piper)", text);
}

hg_fill hg_fill_default(holo_dtype dtype)
{
    if (dtype == HOLO_U8 || dtype == HOLO_U4)
        return (hg_fill){HG_FILL_INT, dtype == HOLO_U8 ? 256 : 16};
    if (hg_elem_classify(dtype) == HG_ELEM_INTEGER) return (hg_fill){HG_FILL_INT, 2};
    if (dtype == HOLO_STRING) return (hg_fill){HG_FILL_INT, 10};
    return (hg_fill){HG_FILL_RAND, 0};
}

static double fill_value(const hg_fill *fill, hg_rng *rng, int64_t i)
{
    static const double piper[3] = {0.667, 1.0, 0.8};
    switch (fill->kind) {
    case HG_FILL_RAND: return hg_rng_uniform(rng) * 2 - 1;
    case HG_FILL_RAND01: return hg_rng_uniform(rng);
    case HG_FILL_INT: return floor(hg_rng_uniform(rng) * fill->value);
    case HG_FILL_CONST: return fill->value;
    case HG_FILL_IOTA: return (double)i;
    case HG_FILL_HALFMASK: return i % 512 < 200 ? 0 : 255;
    case HG_FILL_PIPER: return piper[i % 3];
    }
    return 0;
}

void hg_fill_tensor(const hg_fill *fill, hg_rng *rng, holo_tensor *tensor)
{
    static const char digits[] = "0123456789";
    int64_t n = holo_tensor_count(tensor) * hg_elem_parts(tensor->dtype);
    holo_string *text = tensor->data;
    float *number = tensor->data;
    for (int64_t i = 0; i < n; i++) {
        double value = fill_value(fill, rng, i);
        if (tensor->dtype == HOLO_F32)
            number[i] = (float)value;
        else if (tensor->dtype == HOLO_STRING)
            text[i] = (holo_string){&digits[(size_t)fabs(fmod(value, 10))], 1};
        else
            hg_elem_set(tensor, i, value);
    }
}

static holo_status fill_dims(const char *name, const char *text, holo_tensor *shape,
                             holo_error *error)
{
    const char *p = text;
    if (strcmp(text, "-") == 0 || *text == '\0') return HOLO_OK;
    for (;;) {
        char *end;
        errno = 0;
        long long dim = strtoll(p, &end, 10);
        if (end == p || dim < 0 || errno != 0 || (*end != '\0' && *end != ','))
            return hg_fail(error, HOLO_E_ARG,
                           "input '%s': bad dims '%s', expected for instance 1,3,224,224", name,
                           text);
        if (shape->rank == HOLO_MAX_RANK)
            return hg_fail(error, HOLO_E_LIMIT, "input '%s': more than %d dims", name,
                           HOLO_MAX_RANK);
        shape->dim[shape->rank++] = dim;
        if (*end == '\0') return HOLO_OK;
        p = end + 1;
    }
}

/* Cuts the text after the last ':' off: a name may hold colons, the other parts never do. */
static char *fill_cut(char *text)
{
    char *colon = strrchr(text, ':');
    if (colon == NULL) return NULL;
    *colon = '\0';
    return colon + 1;
}

/* NAME:DTYPE:DIMS:FILL, cut apart in place; the name stays at the start of text. */
static holo_status fill_one(char *text, const char *whole, hg_rng *rng, holo_tensor *out,
                            holo_error *error)
{
    char *how = fill_cut(text), *dims = how ? fill_cut(text) : NULL;
    char *type = dims ? fill_cut(text) : NULL;
    if (type == NULL)
        return hg_fail(error, HOLO_E_ARG, "input '%s': expected NAME:DTYPE:DIMS:FILL", whole);
    holo_tensor shape = {.dtype = hg_dtype_named(type)};
    if (hg_elem_bits(shape.dtype) == 0)
        return hg_fail(error, HOLO_E_ARG, "input '%s': unknown type '%s'", text, type);
    HG_TRY(fill_dims(text, dims, &shape, error));
    hg_fill fill = {0};
    holo_status status = hg_fill_parse(how, &fill, error);
    if (status != HOLO_OK) return hg_fail_prefix(error, status, "input '%s': ", text);
    if (holo_tensor_bytes(&shape) > FILL_MAX_BYTES)
        return hg_fail(error, HOLO_E_LIMIT, "input '%s': dims %s are too large", text, dims);
    HG_TRY(hg_io_tensor_new(shape.dtype, shape.dim, shape.rank, out, error));
    hg_fill_tensor(&fill, rng, out);
    return HOLO_OK;
}

/* `whole` is a copy for sentences: parsing cuts the other one. */
static holo_status fill_append(const char *whole, hg_rng *rng, hg_fill_inputs *list,
                               holo_error *error)
{
    hg_fill_input *item = &list->item[list->count];
    item->name = strdup(whole);
    if (item->name == NULL) return hg_fail_nomem(error, strlen(whole));
    list->count++; /* from here on the list owns the name */
    return fill_one(item->name, whole, rng, &item->tensor, error);
}

holo_status hg_fill_inputs_parse(const char *text, hg_rng *rng, hg_fill_inputs *out,
                                 holo_error *error)
{
    size_t most = 1;
    for (const char *p = text; *p != '\0'; p++)
        most += *p == ';';
    if (most > FILL_MAX_INPUTS)
        return hg_fail(error, HOLO_E_LIMIT, "more than %d inputs", FILL_MAX_INPUTS);
    hg_fill_inputs list = {calloc(most, sizeof(hg_fill_input)), 0};
    char *copy = strdup(text);
    holo_status status = HOLO_OK;
    if (list.item == NULL || copy == NULL) {
        hg_fail_nomem(error, most * sizeof(hg_fill_input));
        status = HOLO_E_NOMEM;
    }
    for (char *part = copy, *end; status == HOLO_OK && *part != '\0'; part = end) {
        end = part + strcspn(part, ";");
        if (*end == ';') *end++ = '\0';
        if (*part != '\0') status = fill_append(part, rng, &list, error);
    }
    free(copy);
    if (status != HOLO_OK) {
        hg_fill_inputs_free(&list);
        return status;
    }
    *out = list;
    return HOLO_OK;
}

void hg_fill_inputs_free(hg_fill_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        hg_io_tensor_free(&inputs->item[i].tensor);
        free(inputs->item[i].name);
    }
    free(inputs->item);
    *inputs = (hg_fill_inputs){0};
}
