/* parse_attr.c - reads dimensions, types, constants and attributes. */
#include "graph/elem.h"
#include "graph/text.h"

/* Room for one more item in an array in the arena. */
#define PARSE_GROW(s, items, count, capacity)                                                      \
    (((items) = hg_arena_grow((s)->arena, (items), (count), (capacity), sizeof *(items))) != NULL  \
         ? HOLO_OK                                                                                 \
         : hg_fail_nomem((s)->error, sizeof *(items)))

/* ---- dimensions and types ------------------------------------------------------------ */

/* The expression up to a comma or the closing text outside of parentheses and quotes. */
static hg_str parse_dim_text(hg_scan *s, const char *close)
{
    hg_str text = {s->at, 0};
    int depth = 0;
    bool quoted = false;
    for (; s->at < s->end; s->at++, text.length++) {
        char c = *s->at;
        if (c == '\'') quoted = !quoted;
        if (quoted && c == '\\' && s->end - s->at > 1) {
            s->at++;
            text.length++;
        }
        if (quoted) continue;
        if (depth == 0 && (c == ',' || c == *close)) break;
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    return text;
}

static holo_status parse_dim(hg_scan *s, hg_graph *g, const char *close, hg_dim *out)
{
    *out = 0;
    if (hg_scan_take(s, "?")) return HOLO_OK;
    hg_str text = parse_dim_text(s, close);
    *out = hg_dim_parse(&g->dims, text);
    if (g->dims.failed) return hg_fail_nomem(s->error, sizeof(hg_dim_rec));
    if (*out == 0) return hg_scan_fail(s, "'%.*s' is no dimension", HG_STR_ARG(text));
    return HOLO_OK;
}

holo_status hg_parse_dims(hg_scan *s, hg_graph *g, const char *close, hg_dim **out, uint32_t *count)
{
    hg_dim *dims = NULL;
    uint32_t n = 0;
    size_t capacity = 0;
    bool first = true, more;
    for (;;) {
        HG_TRY(hg_scan_more(s, close, &first, &more));
        if (!more) break;
        HG_TRY(PARSE_GROW(s, dims, n, &capacity));
        HG_TRY(parse_dim(s, g, close, &dims[n]));
        n++;
    }
    *out = dims;
    *count = n;
    return HOLO_OK;
}

static holo_status parse_dtype(hg_scan *s, holo_dtype *out)
{
    hg_str word = hg_scan_word(s);
    *out = hg_dtype_from_text(word.text, word.length);
    if (*out == HOLO_NONE && !hg_str_is(word, "none"))
        return hg_scan_fail(s, "'%.*s' is no element type", HG_STR_ARG(word));
    return HOLO_OK;
}

static holo_status parse_shape(hg_scan *s, hg_graph *g, hg_type *type)
{
    hg_dim *dims;
    uint32_t n;
    type->rank = HG_RANK_UNKNOWN;
    if (!hg_scan_take(s, "[")) return HOLO_OK;
    HG_TRY(hg_parse_dims(s, g, "]", &dims, &n));
    if (n > HG_MAX_RANK)
        return hg_scan_fail(s, "a rank of %u, at most %d is allowed", n, HG_MAX_RANK);
    type->rank = (int32_t)n;
    if (n != 0) memcpy(type->dim, dims, n * sizeof *dims);
    return HOLO_OK;
}

/* Behind the "(" of a container: the key of a map, and whether an item follows. */
static holo_status parse_container(hg_scan *s, hg_type *type, bool *has_item)
{
    if (hg_dtype_bits(type->dtype) != 0 || type->dtype == HOLO_NONE)
        return hg_scan_fail(s, "%s has no items", holo_dtype_text(type->dtype));
    if (type->dtype == HOLO_MAP) {
        HG_TRY(parse_dtype(s, &type->key));
        HG_TRY(hg_scan_expect(s, ","));
    }
    *has_item = !hg_scan_sees(s, ")");
    return HOLO_OK;
}

holo_status hg_parse_type(hg_scan *s, hg_graph *g, hg_type *out)
{
    hg_type *level[HG_TEXT_DEPTH], *type = out;
    bool is_open[HG_TEXT_DEPTH], has_item = true;
    uint32_t n = 0;
    for (; has_item; n++) {
        if (n == HG_TEXT_DEPTH)
            return hg_scan_fail(s, "types nested deeper than %d", HG_TEXT_DEPTH);
        level[n] = type;
        *type = (hg_type){.rank = HG_RANK_UNKNOWN};
        if (!hg_scan_take(s, "?")) HG_TRY(parse_dtype(s, &type->dtype));
        is_open[n] = hg_scan_take(s, "(");
        has_item = false;
        if (is_open[n]) HG_TRY(parse_container(s, type, &has_item));
        if (!has_item) continue;
        hg_type *item = hg_arena_alloc(s->arena, sizeof *item);
        if (item == NULL) return hg_fail_nomem(s->error, sizeof *item);
        type->item = item;
        type = item;
    }
    while (n-- > 0) {
        if (is_open[n]) HG_TRY(hg_scan_expect(s, ")"));
        HG_TRY(parse_shape(s, g, level[n]));
    }
    return HOLO_OK;
}

/* ---- constants ----------------------------------------------------------------------- */

static holo_status parse_count(hg_scan *s, const hg_graph *g, const hg_type *type, int64_t *count)
{
    int64_t dim;
    *count = 1;
    if (type->rank < 0 || hg_dtype_bits(type->dtype) == 0)
        return hg_scan_fail(s, "a constant needs an element type and a shape");
    for (int32_t i = 0; i < type->rank; i++)
        if (!hg_dim_is_const(&g->dims, type->dim[i], &dim) || dim < 0 ||
            !hg_mul_i64(*count, dim, count))
            return hg_scan_fail(s, "a constant's dimensions are numbers");
    /* Every element takes a character at least: no memory for what is not there. */
    if (*count > s->end - s->at)
        return hg_scan_fail(s, "%lld elements are expected", (long long)*count);
    return HOLO_OK;
}

static holo_status parse_elements(hg_scan *s, holo_dtype dtype, void *data, int64_t count)
{
    bool first = true, more;
    holo_string *strings = data;
    HG_TRY(hg_scan_expect(s, "{"));
    for (int64_t i = 0;; i++) {
        HG_TRY(hg_scan_more(s, "}", &first, &more));
        if (more != (i < count))
            return hg_scan_fail(s, "%lld elements are expected", (long long)count);
        if (!more) return HOLO_OK;
        if (dtype == HOLO_STRING) {
            hg_str text;
            HG_TRY(hg_scan_string(s, &text));
            strings[i] = (holo_string){text.text, text.length};
        } else {
            HG_TRY(hg_parse_element(s, dtype, data, i));
        }
    }
}

holo_status hg_parse_const(hg_scan *s, hg_graph *g, hg_str name, hg_value_id *out)
{
    hg_type type;
    int64_t count;
    size_t bytes;
    HG_TRY(hg_parse_type(s, g, &type));
    if (hg_scan_sees(s, "#")) return hg_scan_fail(s, "only the hash of this constant was printed");
    HG_TRY(parse_count(s, g, &type, &count));
    if (!hg_dtype_bytes(type.dtype, count, &bytes)) return hg_scan_fail(s, "a constant too large");
    void *data = hg_arena_alloc(s->arena, bytes == 0 ? 1 : bytes);
    if (data == NULL) return hg_fail_nomem(s->error, bytes);
    bool is_complex = type.dtype == HOLO_C64 || type.dtype == HOLO_C128;
    holo_dtype part = type.dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
    HG_TRY(parse_elements(s, is_complex ? part : type.dtype, data, is_complex ? 2 * count : count));
    if (hg_graph_add_const(g, name, type, data, bytes, out) != HOLO_OK)
        return hg_fail_nomem(s->error, sizeof(hg_value));
    return HOLO_OK;
}

/* ---- attributes ---------------------------------------------------------------------- */

static bool parse_is_float(hg_str word)
{
    for (size_t i = 0; i < word.length; i++)
        if (word.text[i] == '.' || word.text[i] == 'e' || word.text[i] == 'n') return true;
    return false; /* nan, inf and -inf have an n */
}

static holo_status parse_float(hg_scan *s, float *out)
{
    hg_str word = hg_scan_number(s);
    double value;
    if (!hg_text_to_float(word, &value))
        return hg_scan_fail(s, "'%.*s' is no number", HG_STR_ARG(word));
    *out = (float)value;
    return HOLO_OK;
}

/* What comes next, by its first characters. */
static hg_attr_kind parse_scalar_kind(hg_scan *s)
{
    hg_scan ahead = *s;
    if (hg_scan_sees(s, "\"")) return HG_ATTR_STRING;
    return parse_is_float(hg_scan_number(&ahead)) ? HG_ATTR_FLOAT : HG_ATTR_INT;
}

static holo_status parse_scalar(hg_scan *s, hg_attr *a)
{
    a->kind = parse_scalar_kind(s);
    if (a->kind == HG_ATTR_STRING) return hg_scan_string(s, &a->s);
    return a->kind == HG_ATTR_FLOAT ? parse_float(s, &a->f) : hg_scan_int(s, &a->i);
}

/* Behind "[": at least one item; the first decides about the kind. */
static holo_status parse_list(hg_scan *s, hg_attr *a)
{
    hg_attr_kind kind = parse_scalar_kind(s);
    int64_t *ints = NULL;
    float *floats = NULL;
    hg_str *strings = NULL;
    size_t capacity = 0;
    bool first = true, more;
    for (;; a->count++) {
        HG_TRY(hg_scan_more(s, "]", &first, &more));
        if (!more) break;
        if (kind == HG_ATTR_STRING) {
            HG_TRY(PARSE_GROW(s, strings, a->count, &capacity));
            HG_TRY(hg_scan_string(s, &strings[a->count]));
        } else if (kind == HG_ATTR_FLOAT) {
            HG_TRY(PARSE_GROW(s, floats, a->count, &capacity));
            HG_TRY(parse_float(s, &floats[a->count]));
        } else {
            HG_TRY(PARSE_GROW(s, ints, a->count, &capacity));
            HG_TRY(hg_scan_int(s, &ints[a->count]));
        }
    }
    if (a->count == 0) return hg_scan_fail(s, "an empty list is ints[], floats[] or strings[]");
    a->kind = kind == HG_ATTR_STRING  ? HG_ATTR_STRINGS
              : kind == HG_ATTR_FLOAT ? HG_ATTR_FLOATS
                                      : HG_ATTR_INTS;
    a->ints = ints;
    a->floats = floats;
    a->strings = strings;
    return HOLO_OK;
}

static holo_status parse_dims_attr(hg_scan *s, hg_graph *g, hg_attr *a)
{
    hg_dim *dims;
    uint32_t n;
    HG_TRY(hg_parse_dims(s, g, "]", &dims, &n));
    a->kind = HG_ATTR_DIMS;
    a->dims = dims;
    a->count = n;
    return HOLO_OK;
}

static holo_status parse_type_attr(hg_scan *s, hg_graph *g, hg_attr *a)
{
    hg_type *type = hg_arena_alloc(s->arena, sizeof *type);
    if (type == NULL) return hg_fail_nomem(s->error, sizeof *type);
    HG_TRY(hg_parse_type(s, g, type));
    a->kind = HG_ATTR_TYPE;
    a->type = type;
    return HOLO_OK;
}

static holo_status parse_code_attr(hg_scan *s, hg_attr *a)
{
    hg_lane_code *code;
    HG_TRY(hg_parse_code(s, &code));
    a->kind = HG_ATTR_CODE;
    a->code = code;
    return HOLO_OK;
}

static holo_status parse_attr(hg_scan *s, hg_graph *g, hg_attr *a)
{
    static const struct {
        const char *text;
        hg_attr_kind kind;
    } empty[] = {
        {"ints[]", HG_ATTR_INTS}, {"floats[]", HG_ATTR_FLOATS}, {"strings[]", HG_ATTR_STRINGS}};
    for (size_t i = 0; i < HG_COUNT(empty); i++) {
        if (!hg_scan_take(s, empty[i].text)) continue;
        a->kind = empty[i].kind;
        return HOLO_OK;
    }
    if (hg_scan_take(s, "[")) return parse_list(s, a);
    if (hg_scan_take(s, "{")) return parse_code_attr(s, a);
    if (hg_scan_take(s, "dims[")) return parse_dims_attr(s, g, a);
    if (hg_scan_take(s, "type ")) return parse_type_attr(s, g, a);
    if (!hg_scan_take(s, "const ")) return parse_scalar(s, a);
    a->kind = HG_ATTR_TENSOR;
    return hg_parse_const(s, g, (hg_str){0}, &a->tensor);
}

holo_status hg_parse_attrs(hg_scan *s, hg_graph *g, hg_attr **out, uint32_t *count)
{
    hg_attr *attrs = NULL;
    uint32_t n = 0;
    size_t capacity = 0;
    bool first = true, more;
    for (;; n++) {
        HG_TRY(hg_scan_more(s, "}", &first, &more));
        if (!more) break;
        hg_attr a = {0};
        HG_TRY(hg_scan_name(s, &a.name));
        HG_TRY(hg_scan_expect(s, "="));
        HG_TRY(parse_attr(s, g, &a));
        HG_TRY(PARSE_GROW(s, attrs, n, &capacity));
        attrs[n] = a;
    }
    *out = attrs;
    *count = n;
    return HOLO_OK;
}
