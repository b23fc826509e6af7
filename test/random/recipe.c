/* recipe.c - a node by the recipe of its operator: inputs first, then attributes that may speak of
 * them. */
#include "io/elem.h"
#include "random/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { RECIPE_TRIES = 6, RECIPE_TEXT = 400 };

/* ---- types ----------------------------------------------------------------------------------- */

static hg_types recipe_named_types(const char *name, size_t length)
{
    static const struct {
        const char *name;
        hg_types types;
    } set[] = {
        {"f32", HG_TYPE_BIT(HOLO_F32)},
        {"f64", HG_TYPE_BIT(HOLO_F64)},
        {"f16", HG_TYPE_BIT(HOLO_F16)},
        {"bf16", HG_TYPE_BIT(HOLO_BF16)},
        {"i8", HG_TYPE_BIT(HOLO_I8)},
        {"u8", HG_TYPE_BIT(HOLO_U8)},
        {"i16", HG_TYPE_BIT(HOLO_I16)},
        {"u16", HG_TYPE_BIT(HOLO_U16)},
        {"i32", HG_TYPE_BIT(HOLO_I32)},
        {"i64", HG_TYPE_BIT(HOLO_I64)},
        {"bool", HG_TYPES_BOOL},
        {"string", HG_TYPES_STRING},
        {"flt", HG_TYPES_FLOAT},
        {"int", HG_TYPES_INT},
        {"num", HG_TYPES_NUMBER},
        {"any", HG_TYPES_NUMBER | HG_TYPES_BOOL},
        {"seq", RND_SEQUENCE},
        {"opt", RND_OPTIONAL},
        {"map", RND_MAP},
        {"i4", HG_TYPE_BIT(HOLO_I4)},
        {"u4", HG_TYPE_BIT(HOLO_U4)},
        {"f8", HG_TYPE_BIT(HOLO_F8E4M3FN)},
    };
    for (size_t i = 0; i < HG_COUNT(set); i++)
        if (strlen(set[i].name) == length && memcmp(set[i].name, name, length) == 0)
            return set[i].types;
    return 0;
}

hg_types rnd_types(const char *text, size_t length)
{
    hg_types types = 0;
    while (length > 0) {
        const char *bar = memchr(text, '|', length);
        size_t word = bar == NULL ? length : (size_t)(bar - text);
        types |= recipe_named_types(text, word);
        length -= word;
        text += word;
        if (length > 0) {
            text++;
            length--;
        }
    }
    return types;
}

/* Of "T", "U{f32|i8}" or "f32|i8": *variable is 0 for the last. Types of the operator for a T that
 * stands alone. */
static hg_types recipe_input_types(const rnd_bind *b, const hg_op *op, const char *text,
                                   size_t length, unsigned char *variable)
{
    *variable = 0;
    if (length == 1 || text[1] == '{') *variable = (unsigned char)text[0];
    if (*variable == 0) return rnd_types(text, length);
    if (b->type[*variable] == HOLO_SEQUENCE) return RND_SEQUENCE;
    if (b->type[*variable] == HOLO_OPTIONAL) return RND_OPTIONAL;
    if (b->type[*variable] == HOLO_MAP) return RND_MAP;
    if (b->type[*variable] != HOLO_NONE) return HG_TYPE_BIT(b->type[*variable]);
    if (length > 3) return rnd_types(text + 2, length - 3);
    return op->types != 0 ? op->types : HG_TYPES_NUMBER | HG_TYPES_BOOL;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* A target of Reshape: the factors of the count in another order, perhaps with a -1. */
static int32_t recipe_shape(rnd_gen *n, const rnd_bind *b)
{
    int64_t dim[HG_MAX_RANK] = {0}, rest = b->letter['@'];
    int32_t rank = 0;
    while (rank < 4 && rest > 1) {
        int64_t factor = 1 + rnd_below(n->source, 4);
        if (rest % factor != 0) continue;
        dim[rank++] = factor;
        rest /= factor;
    }
    if (rest != 1 || rnd_chance(n->source, 30)) dim[rank++] = rest;
    if (rank > 0 && b->letter['@'] > 0 && rnd_chance(n->source, 40))
        dim[rnd_below(n->source, (uint32_t)rank)] = -1;
    return rnd_ints(n, dim, rank);
}

/* A picture in a file: PNM, up to 4 x 4 pixels. */
static int32_t recipe_picture(rnd_gen *n)
{
    char head[32];
    const uint32_t width = 1 + rnd_below(n->source, 4), height = 1 + rnd_below(n->source, 4);
    const int length = snprintf(head, sizeof head, "P6 %u %u 255\n", width, height);
    const int64_t size = length + (int64_t)width * height * 3;
    holo_tensor t = rnd_tensor(&n->g->arena, HOLO_U8, 1, &size);
    memcpy(t.data, head, (size_t)length);
    for (int64_t i = length; i < size; i++)
        ((uint8_t *)t.data)[i] = (uint8_t)rnd_below(n->source, 256);
    return rnd_add_value(n, t, rnd_chance(n->source, 50));
}

static void recipe_first(rnd_gen *n, rnd_bind *b, int32_t value)
{
    const holo_tensor *t = &n->g->value[value].t;
    if (b->first_rank >= 0) return;
    b->first_rank = t->rank;
    memcpy(b->first, t->dim, sizeof t->dim);
    if (t->dtype >= HOLO_SEQUENCE && t->dim[0] > 0) t = t->data;
    b->letter['#'] = t->rank;
    b->letter['@'] = holo_tensor_count(t);
}

static bool recipe_decides_shape(const char *fill)
{
    static const char *const word[] = {"vec", "lit", "axes", "axis", "ints", "set"};
    for (size_t i = 0; i < HG_COUNT(word); i++)
        if (strncmp(fill, word[i], strlen(word[i])) == 0) return true;
    return false;
}

/* One input, "?U{i64|i32}:N,*:idx(A)". */
static bool recipe_input(rnd_gen *n, rnd_bind *b, rnd_node *node, char *spec)
{
    int32_t *in = &node->in[node->n_in];
    unsigned char variable;
    *in = RND_NONE;
    if (spec[0] == '_') return true;
    if (spec[0] == '?' && rnd_chance(n->source, 40)) return true;
    if (spec[0] == '?') spec++;
    char *dims = strchr(spec, ':'), *fill = dims == NULL ? NULL : strchr(dims + 1, ':');
    if (dims != NULL) *dims++ = 0;
    if (fill != NULL) *fill++ = 0;
    rnd_want want = {.dims = dims == NULL ? "*" : dims, .fill = fill == NULL ? "" : fill};
    want.types = recipe_input_types(b, node->op, spec, strlen(spec), &variable);
    want.is_content = recipe_decides_shape(want.fill);
    if (strcmp(want.fill, "shape") == 0)
        *in = recipe_shape(n, b);
    else if (strcmp(want.fill, "picture") == 0)
        *in = recipe_picture(n);
    else
        *in = rnd_find(n, &want, b);
    if (*in == RND_NONE) return false;
    if (variable != 0) b->type[variable] = n->g->value[*in].t.dtype;
    recipe_first(n, b, *in);
    return true;
}

static bool recipe_inputs(rnd_gen *n, rnd_bind *b, rnd_node *node, const char *specs)
{
    char text[RECIPE_TEXT], *rest = text;
    snprintf(text, sizeof text, "%s", specs);
    while (*rest != 0) {
        char *spec = rest, *space = strchr(rest, ' ');
        rest = space == NULL ? rest + strlen(rest) : space + 1;
        if (space != NULL) *space = 0;
        if (node->n_in == RND_MAX_IN || !recipe_input(n, b, node, spec)) return false;
        node->n_in++;
    }
    while (node->n_in > 0 && node->in[node->n_in - 1] == RND_NONE)
        node->n_in--;
    return true;
}

/* Any number of tensors of one type that broadcast: right for most operators. */
static bool recipe_plain_inputs(rnd_gen *n, rnd_bind *b, rnd_node *node)
{
    const hg_arity in = node->op->in;
    int32_t most = in.max < 0 ? in.min + 2 : in.max;
    if (most > 4) most = in.min > 4 ? in.min : 4;
    int32_t count = in.min + (int32_t)rnd_below(n->source, (uint32_t)(most - in.min + 1));
    if (count == 0 && most > 0) count = 1;
    for (int32_t i = 0; i < count; i++)
        if (!recipe_inputs(n, b, node, i == 0 ? "T:*" : "T:~")) return false;
    return true;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static hg_attr recipe_ints(rnd_gen *n, const int64_t *value, uint32_t count)
{
    int64_t *copy = hg_arena_alloc(&n->g->arena, (count + 1) * sizeof *copy);
    if (count > 0) memcpy(copy, value, count * sizeof *value);
    return (hg_attr){.kind = HG_ATTR_INTS, .ints = copy, .count = count};
}

static hg_attr recipe_axes(rnd_gen *n, const rnd_bind *b, bool is_perm)
{
    int64_t axis[HG_MAX_RANK];
    const uint32_t rank = (uint32_t)hg_min(b->letter['#'], HG_MAX_RANK);
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t k = rnd_below(n->source, i + 1);
        axis[i] = axis[k];
        axis[k] = i;
    }
    return recipe_ints(n, axis, is_perm ? rank : rnd_below(n->source, rank + 1));
}

static hg_attr recipe_special(rnd_gen *n, rnd_bind *b, const char *text)
{
    const int64_t rank = b->letter['#'];
    if (strcmp(text, "@axis") == 0)
        return rnd_attr_int("", (int64_t)rnd_below(n->source, (uint32_t)(2 * rank)) - rank);
    if (strcmp(text, "@axes") == 0) return recipe_axes(n, b, false);
    if (strcmp(text, "@perm") == 0) return recipe_axes(n, b, true);
    if (strncmp(text, "@type(", 6) == 0) {
        const hg_types types = rnd_types(text + 6, strlen(text) - 7);
        uint32_t type;
        do
            type = 1 + rnd_below(n->source, 25);
        while ((types >> type & 1) == 0);
        return rnd_attr_int("", type);
    }
    const int64_t one = 1; /* @scalar */
    holo_tensor t =
        rnd_tensor(&n->g->arena, rnd_chance(n->source, 50) ? HOLO_F32 : HOLO_I64, 1, &one);
    rnd_fill(n->source, b, "", &t);
    return (hg_attr){.kind = HG_ATTR_TENSOR, .tensor = (hg_value_id)rnd_add_value(n, t, true)};
}

/* Behind the opening bracket. */
static hg_attr recipe_list(rnd_gen *n, rnd_bind *b, const char *text, char kind)
{
    int64_t ints[16];
    hg_attr a = {.kind = kind == 'f' ? HG_ATTR_FLOATS : HG_ATTR_STRINGS};
    float *floats = hg_arena_alloc(&n->g->arena, 32 * sizeof *floats);
    hg_str *strings = hg_arena_alloc(&n->g->arena, 32 * sizeof *strings);
    while (*text != 0 && *text != ']' && a.count < 16) {
        size_t length = strcspn(text, ",]");
        const char *at = text;
        if (kind == 0) ints[a.count] = rnd_eval(n->source, b, &at);
        if (kind == 'f') floats[a.count] = strtof(text, NULL);
        if (kind == 's') strings[a.count] = hg_str_copy(&n->g->arena, (hg_str){text, length});
        a.count++;
        text += length + (text[length] == ',');
    }
    a.floats = floats;
    a.strings = strings;
    return kind == 0 ? recipe_ints(n, ints, (uint32_t)a.count) : a;
}

/* "T[0.5,1]": a tensor of the type of the first input; "u8[1,2]": of a type that has a name. */
static hg_attr recipe_tensor(rnd_gen *n, rnd_bind *b, const char *text)
{
    const char *open = strchr(text, '[');
    const hg_types named = rnd_types(text, (size_t)(open - text));
    const hg_attr list = recipe_list(n, b, open + 1, 'f');
    holo_dtype dtype = b->type['T'];
    for (uint32_t t = 1; t < 61 && named != 0; t++)
        if ((named >> t & 1) != 0) dtype = (holo_dtype)t;
    const int64_t count = (int64_t)list.count;
    holo_tensor t = rnd_tensor(&n->g->arena, dtype, 1, &count);
    for (int64_t i = 0; i < count; i++)
        hg_elem_set(&t, i, (double)list.floats[i]);
    return (hg_attr){.kind = HG_ATTR_TENSOR, .tensor = (hg_value_id)rnd_add_value(n, t, true)};
}

static hg_attr recipe_attr(rnd_gen *n, rnd_bind *b, const char *text)
{
    if (text[0] == '@') return recipe_special(n, b, text);
    if (text[0] == '[') return recipe_list(n, b, text + 1, 0);
    if ((text[0] == 'f' || text[0] == 's') && text[1] == '[')
        return recipe_list(n, b, text + 2, text[0]);
    if (text[0] != '\'' && strchr(text, '[') != NULL) return recipe_tensor(n, b, text);
    if (text[0] == '\'')
        return (hg_attr){.kind = HG_ATTR_STRING,
                         .s = hg_str_copy(&n->g->arena, hg_str_from(text + 1))};
    if (strchr(text, '.') != NULL) return (hg_attr){.kind = HG_ATTR_FLOAT, .f = strtof(text, NULL)};
    return rnd_attr_int("", rnd_eval(n->source, b, &text));
}

/* One of the texts between bars. */
static char *recipe_choose(rnd_gen *n, char *text)
{
    uint32_t count = 1;
    for (const char *at = text; *at != 0; at++)
        count += *at == '|';
    for (uint32_t skip = rnd_below(n->source, count); skip > 0; skip--)
        text = strchr(text, '|') + 1;
    if (text[0] != '@') text[strcspn(text, "|")] = 0;
    return text;
}

static void recipe_attrs(rnd_gen *n, rnd_bind *b, rnd_node *node, const char *specs)
{
    char text[RECIPE_TEXT], *rest = text;
    snprintf(text, sizeof text, "%s", specs);
    node->attr = hg_arena_alloc(&n->g->arena, 32 * sizeof *node->attr);
    while (*rest != 0 && node->n_attr < 32) {
        char *spec = rest, *space = strchr(rest, ' ');
        rest = space == NULL ? rest + strlen(rest) : space + 1;
        if (space != NULL) *space = 0;
        if (spec[0] == '?' && rnd_chance(n->source, 50)) continue;
        if (spec[0] == '?') spec++;
        char *value = strchr(spec, '=');
        *value++ = 0;
        hg_attr a = recipe_attr(n, b, value[0] == '@' ? value : recipe_choose(n, value));
        a.name = hg_str_copy(&n->g->arena, hg_str_from(spec));
        node->attr[node->n_attr++] = a;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t recipe_outputs(rnd_gen *n, const hg_op *op, const rnd_recipe *r)
{
    if (r != NULL && r->n_out > 0) return (uint32_t)r->n_out;
    int32_t least = op->out.min < 1 ? 1 : op->out.min;
    int32_t most = op->out.max < 0 ? least : (int32_t)hg_min(op->out.max, RND_MAX_OUT);
    if (most <= least || rnd_chance(n->source, 70)) return (uint32_t)least;
    return (uint32_t)least + rnd_below(n->source, (uint32_t)(most - least + 1));
}

static bool recipe_try(rnd_gen *n, const hg_op *op)
{
    const uint32_t count = rnd_recipe_count(op);
    const rnd_recipe *r = count == 0 ? NULL : rnd_recipe_get(op, rnd_below(n->source, count));
    rnd_node node = {.op = op, .n_out = recipe_outputs(n, op, r)};
    rnd_bind b;
    rnd_bind_init(&b);
    b.letter['#'] = 0;
    if (r == NULL || r->in == NULL ? !recipe_plain_inputs(n, &b, &node)
                                   : !recipe_inputs(n, &b, &node, r->in))
        return false;
    if (r != NULL && r->attr != NULL) recipe_attrs(n, &b, &node, r->attr);
    for (; node.n_child < op->n_body; node.n_child++) { /* bodies that may be absent are */
        if (n->g->n_body + 1 >= RND_MAX_BODY) return false;
        node.child[node.n_child] = ++n->g->n_body;
        n->g->body[n->g->n_body] = (rnd_body){0};
    }
    return rnd_add_node(n, &node);
}

int32_t rnd_make(rnd_gen *n, const hg_op *op)
{
    if (op->n_body != 0 && rnd_recipe_count(op) == 0) return rnd_make_control(n, op);
    for (int i = 0; i < RECIPE_TRIES; i++) {
        n->used = false;
        if (!recipe_try(n, op)) continue;
        const rnd_node *node = &n->g->node[n->g->n_node - 1];
        return node->out[rnd_below(n->source, node->n_out)];
    }
    return RND_NONE;
}
