/* standard.c - what the standard allows (standard.inc, versions.inc), and whether the rows used all
 * of it. A case of the newest version whose words an older version has too is one of that version
 * as well. */
#include "oracle/oracle.h"

#include <stdio.h>

typedef struct standard_op {
    const char *name, *slots, *types;
    int version;
    const char *attrs; /* of an older version: their names; NULL: it has rows of its own */
} standard_op;

static const standard_op standard_ops[] = {
#define GROUP(name, types)
#define OPERATOR(name, version, slots, types) {name, slots, types, version, NULL},
#include "oracle/standard.inc"
#undef GROUP
#undef OPERATOR
};

/* Versions of an operator lie side by side, in their order. */
static const standard_op standard_older[] = {
#define GROUP(name, types)
#define DEFAULTS(name, attrs)
#define VERSION(name, version, slots, types, attrs) {name, slots, types, version, attrs},
#include "oracle/versions.inc"
#undef GROUP
#undef DEFAULTS
#undef VERSION
};
enum { STANDARD_OLDER = sizeof standard_older / sizeof *standard_older };

/* Attributes that came later, with the value that means what was meant before. */
static const struct {
    const char *name, *attrs;
} standard_defaults[] = {
#define GROUP(name, types)
#define DEFAULTS(name, attrs) {name, attrs},
#define VERSION(name, version, slots, types, attrs)
#include "oracle/versions.inc"
#undef GROUP
#undef DEFAULTS
#undef VERSION
};

static const struct {
    const char *name, *types;
} standard_groups[] = {
#define GROUP(name, types) {name, types},
#define OPERATOR(name, version, slots, types)
#define DEFAULTS(name, attrs)
#define VERSION(name, version, slots, types, attrs)
#include "oracle/standard.inc"
#include "oracle/versions.inc"
#undef GROUP
#undef OPERATOR
#undef DEFAULTS
#undef VERSION
};

/* Types of tensors and of the containers of them. */
enum { KIND_TENSOR, KIND_SEQUENCE, KIND_OPTIONAL, KIND_OPTIONAL_SEQUENCE, KINDS };

typedef struct standard_set {
    uint32_t bits[KINDS];
} standard_set;

static const char *const standard_prefix[KINDS] = {"", "seq.", "opt.", "opt.seq."};

static const standard_op *standard_find(const char *op)
{
    for (size_t k = 0; k < sizeof standard_ops / sizeof *standard_ops; k++)
        if (strcmp(standard_ops[k].name, op) == 0) return &standard_ops[k];
    return NULL;
}

bool ora_standard_has(const char *op)
{
    return standard_find(op) != NULL;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static const char *const standard_short[] = {
    [HOLO_F32] = "f32",         [HOLO_U8] = "u8",
    [HOLO_I8] = "i8",           [HOLO_U16] = "u16",
    [HOLO_I16] = "i16",         [HOLO_I32] = "i32",
    [HOLO_I64] = "i64",         [HOLO_STRING] = "str",
    [HOLO_BOOL] = "bool",       [HOLO_F16] = "f16",
    [HOLO_F64] = "f64",         [HOLO_U32] = "u32",
    [HOLO_U64] = "u64",         [HOLO_C64] = "c64",
    [HOLO_C128] = "c128",       [HOLO_BF16] = "bf16",
    [HOLO_F8E4M3FN] = "e4m3fn", [HOLO_F8E4M3FNUZ] = "e4m3fnuz",
    [HOLO_F8E5M2] = "e5m2",     [HOLO_F8E5M2FNUZ] = "e5m2fnuz",
    [HOLO_U4] = "u4",           [HOLO_I4] = "i4",
    [HOLO_F4E2M1] = "f4",       [HOLO_F8E8M0] = "e8m0",
    [HOLO_U2] = "u2",           [HOLO_I2] = "i2"};
enum { STANDARD_TYPES = sizeof standard_short / sizeof *standard_short };

/* Words of a group, separated by ' ', or one name. */
static uint32_t standard_word(const char *word, size_t length)
{
    for (size_t k = 0; k < sizeof standard_groups / sizeof *standard_groups; k++) {
        uint32_t bits = 0;
        const char *at = standard_groups[k].types;
        if (strlen(standard_groups[k].name) != length ||
            memcmp(standard_groups[k].name, word, length) != 0)
            continue;
        while (*at != '\0') {
            const size_t n = strcspn(at, " ");
            bits |= standard_word(at, n);
            at += n + (at[n] == ' ' ? 1 : 0);
        }
        return bits;
    }
    for (int k = 1; k < STANDARD_TYPES; k++)
        if (strlen(standard_short[k]) == length && memcmp(standard_short[k], word, length) == 0)
            return 1u << k;
    hg_test_fail(HG_TEST_HERE, "standard.inc: no type is called %.*s", (int)length, word);
    return 0;
}

/* "float", "opt.seq.f32,i8|i64" up to a space. */
static standard_set standard_parse(const char *text)
{
    standard_set set = {{0}};
    while (*text != '\0' && *text != ' ') {
        const size_t length = strcspn(text, ",| ");
        size_t skip = 0;
        int kind = KIND_TENSOR;
        for (int k = KINDS - 1; k > 0 && kind == KIND_TENSOR; k--)
            if (strncmp(text, standard_prefix[k], strlen(standard_prefix[k])) == 0) kind = k;
        skip = strlen(standard_prefix[kind]);
        set.bits[kind] |= standard_word(text + skip, length - skip);
        text += length;
        if (*text == ',' || *text == '|') text++;
    }
    return set;
}

/* Types of the name (a constraint, or "=i64"), of `length` characters. */
static standard_set standard_types(const standard_op *op, const char *name, size_t length)
{
    if (name[0] == '=') return standard_parse(name + 1);
    for (const char *at = op->types; *at != '\0';) {
        const size_t n = strcspn(at, "=");
        if (n == length && memcmp(at, name, n) == 0) return standard_parse(at + n + 1);
        at += strcspn(at, " ");
        if (*at == ' ') at++;
    }
    hg_test_fail(HG_TEST_HERE, "standard.inc: %s has no types called %.*s", op->name, (int)length,
                 name);
    return (standard_set){{0}};
}

uint32_t ora_types(const char *op, const char *name)
{
    const standard_op *o = standard_find(op);
    if (o != NULL) return standard_types(o, name, strlen(name)).bits[KIND_TENSOR];
    hg_test_fail(HG_TEST_HERE, "standard.inc has no operator %s", op);
    return 0;
}

/* ---- what occurred -----------------------------------------------------------------------------
 */

enum { STANDARD_SLOTS = 24, STANDARD_VERSIONS = 16 };

/* Inputs, then outputs, as in the text. */
typedef struct standard_seen {
    standard_set slot[STANDARD_SLOTS];
    bool any;
} standard_seen;

static const standard_op *standard_now;
static standard_seen standard_newest;
static size_t standard_first, standard_versions; /* older versions of the operator */
static standard_seen standard_by_version[STANDARD_VERSIONS];
static struct {
    const char *name;
    standard_set types;
} standard_excused;

void ora_note_begin(const char *op)
{
    standard_now = standard_find(op);
    memset(&standard_newest, 0, sizeof standard_newest);
    memset(standard_by_version, 0, sizeof standard_by_version);
    memset(&standard_excused, 0, sizeof standard_excused);
    standard_excused.name = "";
    standard_first = standard_versions = 0;
    while (standard_first < STANDARD_OLDER && strcmp(standard_older[standard_first].name, op) != 0)
        standard_first++;
    while (standard_first + standard_versions < STANDARD_OLDER &&
           strcmp(standard_older[standard_first + standard_versions].name, op) == 0)
        standard_versions++;
}

void ora_excuse(const char *name, uint32_t types)
{
    standard_excused.name = name;
    standard_excused.types.bits[KIND_TENSOR] = types;
}

void ora_excuse_containers(const char *name, uint32_t types)
{
    standard_excused.name = name;
    for (int kind = KIND_SEQUENCE; kind < KINDS; kind++)
        standard_excused.types.bits[kind] = types;
}

static int standard_kind(const ora *t, holo_dtype *elem)
{
    if (t->type != HOLO_SEQUENCE && t->type != HOLO_OPTIONAL) {
        *elem = t->type;
        return KIND_TENSOR;
    }
    int inner = t->middle == HOLO_SEQUENCE ? KIND_SEQUENCE : KIND_TENSOR;
    *elem = t->elem;
    if (t->n_item > 0) inner = standard_kind(t->item[0], elem);
    if (t->type == HOLO_SEQUENCE) return KIND_SEQUENCE;
    return inner == KIND_SEQUENCE ? KIND_OPTIONAL_SEQUENCE : KIND_OPTIONAL;
}

static int standard_count(const char *from, const char *to)
{
    int count = 0;
    while (from < to) {
        while (from < to && *from == ' ')
            from++;
        if (from < to) count++;
        while (from < to && *from != ' ')
            from++;
    }
    return count;
}

/* Slot of value k among the words from `first` to `last`; the last one may be variadic. */
static int standard_slot(int first, int last, size_t k)
{
    return first + (int)k < last ? first + (int)k : last - 1;
}

static void standard_mark(standard_seen *seen, int first, int last, size_t k, const ora *t)
{
    holo_dtype elem = HOLO_NONE;
    if (t == NULL || last <= first) return;
    const int kind = standard_kind(t, &elem);
    seen->slot[standard_slot(first, last, k)].bits[kind] |= 1u << elem;
}

static void standard_note(const standard_op *op, standard_seen *seen, const ora_case *c)
{
    const char *slots = op->slots, *arrow = strstr(slots, "> ");
    const int n_in = standard_count(slots, arrow);
    const int n_out = standard_count(arrow + 2, slots + strlen(slots));
    seen->any = true;
    for (size_t k = 0; k < c->n_in - c->n_outer; k++)
        standard_mark(seen, 0, n_in, k, c->in[k]);
    for (size_t k = 0; k < c->n_out; k++)
        standard_mark(seen, n_in, n_in + n_out, k, c->out[k]);
}

static bool standard_is_now(const ora_case *c)
{
    return standard_now != NULL && strcmp(standard_now->name, c->op) == 0;
}

/* The opset after the last one of older version k. */
static int standard_end(size_t k)
{
    return k + 1 < standard_versions ? standard_older[standard_first + k + 1].version
                                     : standard_now->version;
}

void ora_note(const ora_case *c)
{
    if (!standard_is_now(c)) return;
    if (c->opset == 0 || c->opset >= standard_now->version)
        standard_note(standard_now, &standard_newest, c);
    for (size_t k = 0; k < standard_versions; k++)
        if (c->opset >= standard_older[standard_first + k].version && c->opset < standard_end(k))
            standard_note(&standard_older[standard_first + k], &standard_by_version[k], c);
}

/* ---- older versions ----------------------------------------------------------------------------
 */

static bool standard_has_word(const char *words, const char *word, size_t length)
{
    while (*words != '\0') {
        const size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0) return true;
        words += n + (words[n] == ' ' ? 1 : 0);
    }
    return false;
}

static const char *standard_later(const char *op)
{
    for (size_t k = 0; k < sizeof standard_defaults / sizeof *standard_defaults; k++)
        if (strcmp(standard_defaults[k].name, op) == 0) return standard_defaults[k].attrs;
    return "";
}

/* The attributes of the case as the version knows them; NULL when they say more than it can. */
static const char *standard_attrs(const standard_op *op, const ora_case *c)
{
    const char *at = c->attrs == NULL ? "" : c->attrs, *is;
    static char text[1024]; /* until the next version */
    char *to = text;
    if (strlen(at) + 2 > sizeof text) return NULL;
    if (c->tensor_name != NULL &&
        !standard_has_word(op->attrs, c->tensor_name, strlen(c->tensor_name)))
        return NULL;
    while (at += strspn(at, " "), (is = strchr(at, '=')) != NULL) {
        const char *end = is[1] == '"'   ? strchr(is + 2, '"') + 1
                          : is[1] == '[' ? strchr(is, ']') + 1
                                         : is + strcspn(is, " ");
        if (standard_has_word(op->attrs, at, (size_t)(is - at))) {
            memcpy(to, at, (size_t)(end - at));
            to += end - at;
            *to++ = ' ';
        } else if (!standard_has_word(standard_later(op->name), at, (size_t)(end - at))) {
            return NULL;
        }
        at = end;
    }
    *to = '\0';
    return text;
}

/* The types of the word in place `slot` of the text. */
static standard_set standard_at(const standard_op *op, int slot, bool *is_variadic)
{
    const char *s = op->slots;
    for (;; s += strcspn(s, " ")) {
        s += strspn(s, " ");
        if (*s == '>') continue;
        if (slot-- == 0 || *s == '\0') break;
    }
    size_t n = strcspn(s, " ");
    *is_variadic = n > 3 && memcmp(s + n - 3, "...", 3) == 0;
    return *s == '\0' ? (standard_set){{0}} : standard_types(op, s, *is_variadic ? n - 3 : n);
}

/* Whether the values fit into the slots from `first` to `last`. */
static bool standard_fits(const standard_op *op, int first, int last, const ora *const *t, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        holo_dtype elem = HOLO_NONE;
        bool is_variadic;
        if (t[k] == NULL) continue;
        if (last <= first) return false;
        const standard_set types = standard_at(op, standard_slot(first, last, k), &is_variadic);
        if (first + (int)k >= last && !is_variadic) return false;
        const int kind = standard_kind(t[k], &elem);
        if ((types.bits[kind] >> elem & 1) == 0) return false;
    }
    return true;
}

bool ora_older(const ora_case *c, size_t *k, ora_case *out)
{
    while (standard_is_now(c) && *k < standard_versions) {
        const standard_op *op = &standard_older[standard_first + *k];
        standard_seen *seen = &standard_by_version[(*k)++], before = *seen;
        const char *arrow = strstr(op->slots, "> ");
        const int n_in = standard_count(op->slots, arrow);
        const int n_out = standard_count(arrow + 2, op->slots + strlen(op->slots));
        *out = *c;
        out->opset = op->version;
        if (op->attrs == NULL || (out->attrs = standard_attrs(op, c)) == NULL ||
            !standard_fits(op, 0, n_in, c->in, c->n_in - c->n_outer) ||
            !standard_fits(op, n_in, n_in + n_out, c->out, c->n_out))
            continue;
        standard_note(op, seen, c);
        if (memcmp(seen, &before, sizeof before) != 0) return true;
    }
    return false;
}

/* ---- what is missing ---------------------------------------------------------------------------
 */

static void standard_complain(const standard_op *op, const char *name, size_t length,
                              const standard_set *missing)
{
    char text[700];
    size_t used = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 1; k < STANDARD_TYPES; k++)
            if (missing->bits[kind] >> k & 1)
                used += (size_t)snprintf(text + used, sizeof text - used, " %s%s",
                                         standard_prefix[kind], standard_short[k]);
    if (used > 0)
        hg_test_fail(HG_TEST_HERE, "%s-%d: no case has %.*s of type%s", op->name, op->version,
                     (int)length, name, text);
}

/* Every name's types must have occurred in the slots that bear it, taken together. */
static void standard_missing(const standard_op *op, const standard_seen *seen)
{
    for (const char *at = op->types; *at != '\0';) {
        const size_t length = strcspn(at, "=");
        standard_set missing = standard_types(op, at, length);
        int slot = 0;
        for (const char *s = op->slots; *s != '\0';) {
            size_t n = strcspn(s, " ");
            const size_t whole = n;
            if (n > 3 && memcmp(s + n - 3, "...", 3) == 0) n -= 3;
            if (n > 0 && s[0] != '>') {
                if (n == length && memcmp(s, at, n) == 0)
                    for (int kind = 0; kind < KINDS; kind++)
                        missing.bits[kind] &= ~seen->slot[slot].bits[kind];
                slot++;
            }
            s += whole + (s[whole] == ' ' ? 1 : 0);
        }
        if (strlen(standard_excused.name) == length &&
            memcmp(standard_excused.name, at, length) == 0)
            for (int kind = 0; kind < KINDS; kind++)
                missing.bits[kind] &= ~standard_excused.types.bits[kind];
        standard_complain(op, at, length, &missing);
        at += strcspn(at, " ");
        if (*at == ' ') at++;
    }
}

void ora_note_end(void)
{
    if (standard_now == NULL) return;
    standard_missing(standard_now, &standard_newest);
    for (size_t k = 0; k < standard_versions; k++) {
        const standard_op *op = &standard_older[standard_first + k];
        if (op->attrs != NULL)
            standard_missing(op, &standard_by_version[k]);
        else if (!standard_by_version[k].any &&
                 !ora_has_older(op->name, op->version, standard_end(k)))
            hg_test_fail(HG_TEST_HERE, "%s-%d: no row of its own", op->name, op->version);
    }
    standard_now = NULL;
}

void ora_pairs(size_t *newest, size_t *older)
{
    *newest = sizeof standard_ops / sizeof *standard_ops;
    *older = STANDARD_OLDER;
}
