/* write.c - lines of C, loops, indices and elements. */
#include "isa/lane_io.h"
#include "source/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- text -------------------------------------------------------------------------------------
 */

static void write_format(hg_ctext *t, size_t at, const char *format, va_list args)
{
    int n = vsnprintf(t->text + at, sizeof t->text - at, format, args);
    if (n < 0 || at + (size_t)n >= sizeof t->text) strcpy(t->text, "@");
}

void hg_ctext_set(hg_ctext *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->text[0] = '\0';
    write_format(t, 0, format, args);
    va_end(args);
}

void hg_ctext_add(hg_ctext *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_format(t, strlen(t->text), format, args);
    va_end(args);
}

static void write_indent(hg_source *s)
{
    for (int i = 0; i < s->depth; i++)
        hg_print_text(&s->out, "    ");
}

static void write_line(hg_source *s, const char *format, va_list args, const char *end)
{
    hg_ctext line = {{0}};
    write_format(&line, 0, format, args);
    if (strchr(line.text, '@') != NULL) s->is_cut = true;
    write_indent(s);
    hg_print_text(&s->out, line.text);
    hg_print_text(&s->out, end);
}

void hg_source_line(hg_source *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(s, format, args, "\n");
    va_end(args);
}

void hg_source_open(hg_source *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(s, format, args, " {\n");
    va_end(args);
    s->depth++;
}

void hg_source_close(hg_source *s, int levels)
{
    for (; levels > 0; levels--) {
        s->depth--;
        hg_source_line(s, "}");
    }
}

bool hg_source_refuse(hg_source *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return false;
}

/* ---- loops and indices ------------------------------------------------------------------------
 */

int hg_source_for(hg_source *s, const char *v, int64_t n)
{
    if (n == 1) return 0;
    hg_source_open(s, "for (int32_t %s = 0; %s < %" PRId64 "; %s++)", v, v, n, v);
    return 1;
}

int hg_source_for_dims(hg_source *s, const holo_tensor *t, int begin, int end)
{
    int levels = 0;
    for (int d = begin; d < end; d++) {
        char v[16];
        snprintf(v, sizeof v, "i%d", d);
        levels += hg_source_for(s, v, t->dim[d]);
    }
    return levels;
}

void hg_source_add(hg_ctext *index, const char *v, int64_t n, int64_t stride)
{
    if (n == 1 || stride == 0) return;
    bool is_empty = strcmp(index->text, "0") == 0;
    if (is_empty) index->text[0] = '\0';
    const char *sign = stride < 0 ? (is_empty ? "-" : " - ") : is_empty ? "" : " + ";
    int64_t size = stride < 0 ? -stride : stride;
    if (size == 1)
        hg_ctext_add(index, "%s%s", sign, v);
    else
        hg_ctext_add(index, "%s%s * %" PRId64, sign, v, size);
}

void hg_source_index(hg_ctext *out, const holo_tensor *over, const int64_t *stride)
{
    hg_ctext_set(out, "0");
    for (int d = 0; d < over->rank; d++) {
        char v[16];
        snprintf(v, sizeof v, "i%d", d);
        hg_source_add(out, v, over->dim[d], stride[d]);
    }
}

void hg_source_at(hg_ctext *out, const holo_tensor *t, const holo_tensor *over)
{
    int64_t stride[HG_MAX_RANK] = {0};
    hg_broadcast_strides(t, over, stride);
    hg_source_index(out, over, stride);
}

void hg_source_place(hg_source *s, const char *index, int64_t size)
{
    s->faults[s->step] = 1;
    hg_source_line(s, "const int64_t index = %s, place = index < 0 ? index + %" PRId64 " : index;",
                   index, size);
    hg_source_line(s, "if (place < 0 || place >= %" PRId64 ") return 1;", size);
}

void hg_source_tuple(hg_source *s, int64_t tuples, int64_t count, const int64_t *size,
                     const char *start)
{
    hg_source_line(s, "int64_t at = %s;", start);
    for (int64_t t = 0; t < count; t++) {
        hg_ctext index = {"0"}, load;
        hg_source_add(&index, "i", tuples, count);
        if (t > 0) hg_ctext_add(&index, " + %" PRId64, t);
        hg_source_load(s, &load, 1, index.text);
        hg_source_line(s, "{");
        s->depth++;
        hg_source_place(s, load.text, size[t]);
        hg_source_line(s, "at = at * %" PRId64 " + place;", size[t]);
        hg_source_close(s, 1);
    }
}

void hg_source_tree(hg_source *s, const char *join)
{
    hg_source_line(s, "for (int32_t w = 8; w > 0; w /= 2)");
    hg_source_line(s, "    for (int32_t l = 0; l < w; l++)");
    hg_source_line(s, "        %s", join);
}

/* ---- elements ---------------------------------------------------------------------------------
 */

typedef struct write_type {
    holo_dtype dtype;
    const char *ctype, *suffix;
} write_type;

/* Types with elements of whole bytes that C can hold; f16 and bf16 as their bits. */
static const write_type write_types[] = {
    {HOLO_F32, "float", "f32"},         {HOLO_F64, "double", "f64"},
    {HOLO_F16, "uint16_t", "u16"},      {HOLO_BF16, "uint16_t", "u16"},
    {HOLO_BOOL, "uint8_t", "u8"},       {HOLO_U8, "uint8_t", "u8"},
    {HOLO_I8, "int8_t", "i8"},          {HOLO_U16, "uint16_t", "u16"},
    {HOLO_I16, "int16_t", "i16"},       {HOLO_U32, "uint32_t", "u32"},
    {HOLO_I32, "int32_t", "i32"},       {HOLO_U64, "uint64_t", "u64"},
    {HOLO_I64, "int64_t", "i64"},       {HOLO_F8E4M3FN, "uint8_t", "u8"},
    {HOLO_F8E4M3FNUZ, "uint8_t", "u8"}, {HOLO_F8E5M2, "uint8_t", "u8"},
    {HOLO_F8E5M2FNUZ, "uint8_t", "u8"}, {HOLO_F8E8M0, "uint8_t", "u8"},
};

/* Floats that are stored as codes: the part of the names of their functions in base/half.h. */
static const char *write_code(holo_dtype dtype)
{
    switch ((int)dtype) {
    case HOLO_F16: return "f16";
    case HOLO_BF16: return "bf16";
    case HOLO_F8E4M3FN: return "f8e4m3fn";
    case HOLO_F8E4M3FNUZ: return "f8e4m3fnuz";
    case HOLO_F8E5M2: return "f8e5m2";
    case HOLO_F8E5M2FNUZ: return "f8e5m2fnuz";
    case HOLO_F8E8M0: return "f8e8m0";
    default: return NULL;
    }
}

static const write_type *write_find(holo_dtype dtype)
{
    for (size_t i = 0; i < HG_COUNT(write_types); i++)
        if (write_types[i].dtype == dtype) return &write_types[i];
    return NULL;
}

const char *hg_source_ctype(holo_dtype dtype)
{
    const write_type *t = write_find(dtype);
    return t != NULL ? t->ctype : NULL;
}

const char *hg_source_suffix(holo_dtype dtype)
{
    const write_type *t = write_find(dtype);
    return t != NULL ? t->suffix : "";
}

const char *hg_source_lane_ctype(uint32_t type)
{
    static const char *const name[] = {"", "float", "double", "int32_t", "int64_t", "uint64_t"};
    return name[type];
}

const char *hg_source_in(hg_source *s, uint32_t i, char name[16])
{
    s->is_used[i] = true;
    snprintf(name, 16, "a%" PRIu32, i);
    return name;
}

void hg_source_widen(hg_source *s, hg_ctext *out, holo_dtype dtype, const char *element)
{
    if (write_code(dtype) != NULL) {
        hg_ctext fn;
        hg_ctext_set(&fn, "hg_%s_to_f32", write_code(dtype));
        hg_source_need(s, fn.text);
        hg_ctext_set(out, "%s(%s)", fn.text, element);
    } else if (dtype == HOLO_BOOL) {
        hg_ctext_set(out, "(%s != 0)", element);
    } else if (hg_lane_is_native(dtype)) {
        hg_ctext_set(out, "%s", element);
    } else {
        hg_ctext_set(out, "(%s)%s", hg_source_lane_ctype(hg_lane_type_of(dtype)), element);
    }
}

void hg_source_load(hg_source *s, hg_ctext *out, uint32_t i, const char *index)
{
    char name[16];
    hg_ctext element;
    hg_ctext_set(&element, "%s[%s]", hg_source_in(s, i, name), index);
    hg_source_widen(s, out, s->args->in[i].dtype, element.text);
}

static void write_clamp(hg_ctext *out, const char *value, const char *ctype, int64_t low,
                        int64_t high)
{
    hg_ctext_set(out, "(%s)(%s < %" PRId64 " ? %" PRId64 " : %s > %" PRId64 " ? %" PRId64 " : %s)",
                 ctype, value, low, low, value, high, high, value);
}

void hg_source_narrow(hg_source *s, hg_ctext *out, holo_dtype dtype, const char *value,
                      bool saturate)
{
    const char *ctype = hg_source_ctype(dtype);
    int bits = (int)hg_dtype_bits(dtype);
    bool is_signed = hg_dtype_is_signed_int(dtype);
    if (write_code(dtype) != NULL) {
        const bool is_half = dtype == HOLO_F16 || dtype == HOLO_BF16;
        hg_ctext fn;
        hg_ctext_set(&fn, "hg_f32_to_%s", write_code(dtype));
        hg_source_need(s, fn.text);
        hg_ctext_set(out, "%s(%s%s)", fn.text, value,
                     is_half    ? ""
                     : saturate ? ", true"
                                : ", false");
    } else if (dtype == HOLO_BOOL) {
        hg_ctext_set(out, "%s != 0", value);
    } else if (hg_lane_is_native(dtype)) {
        hg_ctext_set(out, "%s", value);
    } else if (saturate && dtype == HOLO_U32) {
        hg_ctext_set(out, "(uint32_t)(%s > UINT32_MAX ? UINT32_MAX : %s)", value, value);
    } else if (saturate) {
        int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
        write_clamp(out, value, ctype, low, low + (INT64_C(1) << bits) - 1);
    } else {
        hg_ctext_set(out, "(%s)%s", ctype, value);
    }
}

void hg_source_store(hg_source *s, uint32_t i, const char *index, const char *value, bool saturate)
{
    hg_ctext text;
    hg_source_narrow(s, &text, s->args->out[i].dtype, value, saturate);
    hg_source_line(s, "y%" PRIu32 "[%s] = %s;", i, index, text.text);
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* Digits that read back as the same number, with a point. */
static void write_float(hg_ctext *out, double value, int digits, const char *end)
{
    char number[40];
    if (value != value || value - value != 0) {
        hg_ctext_set(out, value != value ? "NAN" : value > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    snprintf(number, sizeof number, "%.*g", digits, value);
    for (char *c = number; *c != '\0'; c++)
        if (*c == ',') *c = '.'; /* some locales */
    bool has_point = strpbrk(number, ".e") != NULL;
    hg_ctext_set(out, "%s%s%s", number, has_point ? "" : ".0", end);
}

void hg_source_f32(hg_ctext *out, float value)
{
    int digits = 6;
    char number[40];
    for (; digits < 9; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, (double)value);
        if (strtof(number, NULL) == value) break;
    }
    write_float(out, (double)value, digits, "f");
}

void hg_source_f64(hg_ctext *out, double value)
{
    write_float(out, value, 17, "");
}

void hg_source_int(hg_ctext *out, uint32_t lane_type, uint64_t bits)
{
    int64_t value = (int64_t)bits;
    if (lane_type == HG_LANE_U64) {
        hg_ctext_set(out, "UINT64_C(%" PRIu64 ")", bits);
    } else if (lane_type == HG_LANE_I32) {
        int32_t narrow = (int32_t)(uint32_t)bits;
        if (narrow == INT32_MIN)
            hg_ctext_set(out, "INT32_MIN");
        else
            hg_ctext_set(out, "%" PRId32, narrow);
    } else if (value == INT64_MIN) {
        hg_ctext_set(out, "INT64_MIN");
    } else {
        hg_ctext_set(out, value < 0 ? "-INT64_C(%" PRIu64 ")" : "INT64_C(%" PRIu64 ")",
                     value < 0 ? 0 - bits : bits);
    }
}

void hg_source_table(hg_source *s, const char *name, const int64_t *value, int64_t n)
{
    hg_ctext line;
    hg_source_line(s, "static const int32_t %s[%" PRId64 "] = {", name, n);
    for (int64_t i = 0; i < n;) {
        hg_ctext_set(&line, "    ");
        for (; i < n && strlen(line.text) < 84; i++)
            hg_ctext_add(&line, "%" PRId64 ",%s", value[i], i + 1 < n ? " " : "");
        hg_source_line(s, "%s", line.text);
    }
    hg_source_line(s, "};");
}
