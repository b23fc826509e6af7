/* deep.c - checking, measuring, copying and moving strings and containers. */
#include "isa/deep.h"

#include <string.h>

/* ---- checking -------------------------------------------------------------------------------- */

static holo_status deep_check_strings(const holo_tensor *t, int64_t count, holo_error *e)
{
    const holo_string *s = t->data;
    for (int64_t i = 0; i < count; i++)
        if (s[i].length > SIZE_MAX / 4 || (s[i].text == NULL && s[i].length != 0))
            return hg_fail(e, HOLO_E_ARG, "string %lld has no text", (long long)i);
    return HOLO_OK;
}

static holo_status deep_check_shape(const holo_tensor *t, int64_t *count, holo_error *e)
{
    if (!hg_dtype_is_valid((uint32_t)t->dtype))
        return hg_fail(e, HOLO_E_TYPE, "a tensor has unknown element type %d", (int)t->dtype);
    if (t->rank < 0 || t->rank > HG_MAX_RANK)
        return hg_fail(e, HOLO_E_SHAPE, "a tensor has rank %d, expected 0 to %d", t->rank,
                       HG_MAX_RANK);
    *count = holo_tensor_count(t);
    if (*count < 0 || holo_tensor_bytes(t) == SIZE_MAX)
        return hg_fail(e, HOLO_E_SHAPE, "a tensor has a negative or too large dimension");
    if (t->data == NULL && *count != 0) return hg_fail(e, HOLO_E_ARG, "a tensor has no data");
    return HOLO_OK;
}

static holo_status deep_check_container(const holo_tensor *t, holo_error *e)
{
    int64_t most = t->dtype == HOLO_OPTIONAL ? 1 : INT64_MAX;
    if (t->rank != 1 || t->dim[0] > most || (t->dtype == HOLO_MAP && t->dim[0] != 2))
        return hg_fail(e, HOLO_E_SHAPE, "a %s has rank %d and %lld items",
                       holo_dtype_text(t->dtype), t->rank, t->rank > 0 ? (long long)t->dim[0] : 1);
    return HOLO_OK;
}

static holo_status deep_check(const holo_tensor *t, int depth, holo_error *e)
{
    int64_t count = 0;
    if (depth > HG_DEEP_MAX)
        return hg_fail(e, HOLO_E_LIMIT, "containers are nested deeper than %d", HG_DEEP_MAX);
    HG_TRY(deep_check_shape(t, &count, e));
    if (t->dtype == HOLO_STRING) return deep_check_strings(t, count, e);
    if (!hg_is_container(t->dtype)) return HOLO_OK;
    HG_TRY(deep_check_container(t, e));
    const holo_tensor *item = t->data;
    for (int64_t i = 0; i < count; i++)
        HG_TRY(deep_check(&item[i], depth + 1, e));
    return HOLO_OK;
}

holo_status hg_deep_check(const holo_tensor *t, holo_error *e)
{
    return deep_check(t, 0, e);
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* SIZE_MAX stays SIZE_MAX. */
static size_t deep_add(size_t a, size_t b)
{
    return a > SIZE_MAX / 2 || b > SIZE_MAX / 2 ? SIZE_MAX : a + b;
}

static size_t deep_round(size_t bytes)
{
    return bytes > SIZE_MAX / 2 ? SIZE_MAX : hg_align_up(bytes, 16);
}

size_t hg_deep_all(const holo_tensor *t)
{
    return deep_add(deep_round(holo_tensor_bytes(t)), hg_deep_extra(t));
}

size_t hg_deep_extra(const holo_tensor *t)
{
    size_t bytes = 0;
    int64_t count = hg_is_deep(t->dtype) ? holo_tensor_count(t) : 0;
    for (int64_t i = 0; i < count; i++)
        bytes = deep_add(bytes, t->dtype == HOLO_STRING
                                    ? deep_round((size_t)((const holo_string *)t->data)[i].length)
                                    : hg_deep_all((const holo_tensor *)t->data + i));
    return bytes;
}

size_t hg_deep_bytes(const holo_tensor *t)
{
    size_t bytes = holo_tensor_bytes(t);
    if (!hg_is_deep(t->dtype)) return bytes;
    return bytes > SIZE_MAX / 2 ? SIZE_MAX
                                : deep_add(hg_align_up(bytes, HG_ALIGN), hg_deep_extra(t));
}

uint8_t *hg_deep_behind(const holo_tensor *t)
{
    size_t elements = hg_align_up(holo_tensor_bytes(t), HG_ALIGN);
    /* An empty value may have no memory at all. */
    return elements == 0 ? t->data : (uint8_t *)t->data + elements;
}

/* ---- copying --------------------------------------------------------------------------------- */

void *hg_room_take(hg_room *room, size_t bytes)
{
    if (bytes > SIZE_MAX / 2 || hg_align_up(bytes, 16) > room->left) return NULL;
    void *p = room->at;
    bytes = hg_align_up(bytes, 16);
    if (bytes != 0) room->at += bytes;
    room->left -= bytes;
    return p;
}

static bool deep_copy_string(const holo_string *from, holo_string *to, hg_room *room)
{
    char *text = hg_room_take(room, (size_t)from->length);
    if (text == NULL && from->length != 0) return false;
    if (from->length != 0) memcpy(text, from->text, (size_t)from->length);
    *to = (holo_string){from->length == 0 ? "" : text, from->length};
    return true;
}

bool hg_deep_copy(const holo_tensor *from, holo_tensor *to, hg_room *room)
{
    void *data = to->data;
    *to = *from;
    to->data = data;
    int64_t count = holo_tensor_count(from);
    if (!hg_is_deep(from->dtype)) {
        size_t bytes = holo_tensor_bytes(from);
        if (bytes != 0 && data != from->data) memcpy(data, from->data, bytes);
        return true;
    }
    bool good = true;
    for (int64_t i = 0; good && i < count; i++)
        good = from->dtype == HOLO_STRING ? deep_copy_string((const holo_string *)from->data + i,
                                                             (holo_string *)data + i, room)
                                          : hg_deep_copy_all((const holo_tensor *)from->data + i,
                                                             (holo_tensor *)data + i, room);
    return good;
}

bool hg_deep_copy_all(const holo_tensor *from, holo_tensor *to, hg_room *room)
{
    size_t bytes = holo_tensor_bytes(from);
    void *data = hg_room_take(room, bytes);
    if (data == NULL && bytes != 0) return false;
    *to = (holo_tensor){.data = data};
    return hg_deep_copy(from, to, room);
}

void hg_deep_move(holo_tensor *t, ptrdiff_t distance)
{
    if (t->data != NULL) t->data = (uint8_t *)t->data + distance;
    int64_t count = hg_is_deep(t->dtype) ? holo_tensor_count(t) : 0;
    for (int64_t i = 0; i < count; i++) {
        if (t->dtype != HOLO_STRING) {
            hg_deep_move((holo_tensor *)t->data + i, distance);
            continue;
        }
        holo_string *s = (holo_string *)t->data + i;
        if (s->length != 0) s->text += distance;
    }
}

/* ---- strings in a file ------------------------------------------------------------------------
 */

enum { DEEP_HEAD = 8 };

size_t hg_strings_bytes(const holo_string *s, size_t count)
{
    size_t bytes;
    if (!hg_mul_size(count, sizeof(hg_stored_string), &bytes)) return SIZE_MAX;
    bytes = deep_add(bytes, DEEP_HEAD);
    for (size_t i = 0; i < count; i++)
        bytes = deep_add(bytes, (size_t)s[i].length);
    return bytes;
}

void hg_strings_store(const holo_string *s, size_t count, void *out)
{
    uint8_t *base = out;
    const uint64_t n = count;
    uint64_t at = DEEP_HEAD + n * sizeof(hg_stored_string);
    memcpy(base, &n, sizeof n);
    for (size_t i = 0; i < count; i++) {
        const hg_stored_string place = {at, s[i].length};
        memcpy(base + DEEP_HEAD + i * sizeof place, &place, sizeof place);
        if (s[i].length != 0) memcpy(base + at, s[i].text, (size_t)s[i].length);
        at += s[i].length;
    }
}

holo_status hg_strings_count(const void *data, uint64_t bytes, uint64_t *count, holo_error *e)
{
    if (bytes >= DEEP_HEAD) memcpy(count, data, DEEP_HEAD);
    if (bytes < DEEP_HEAD || *count > (bytes - DEEP_HEAD) / sizeof(hg_stored_string))
        return hg_fail(e, HOLO_E_FORMAT, "%llu bytes are no strings", (unsigned long long)bytes);
    return HOLO_OK;
}

bool hg_strings_load(const void *data, uint64_t bytes, uint64_t count, holo_string *out)
{
    const uint8_t *base = data;
    for (uint64_t i = 0; i < count; i++) {
        hg_stored_string place;
        memcpy(&place, base + DEEP_HEAD + i * sizeof place, sizeof place);
        if (place.offset > bytes || place.length > bytes - place.offset) return false;
        out[i] = (holo_string){(const char *)base + place.offset, place.length};
    }
    return true;
}
