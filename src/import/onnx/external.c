/* external.c - tensor data that lies in files beside the model. */
#include "import/onnx/external.h"

#include <inttypes.h>

void hg_external_init(hg_external *x, const holo_allocator *allocator)
{
    *x = (hg_external){.alloc = hg_allocator_or_libc(allocator)};
    hg_arena_init(&x->arena, &x->alloc, 0);
    hg_map_init(&x->known, &x->arena);
}

void hg_external_deinit(hg_external *x)
{
    for (size_t i = 0; i < x->n_file; i++)
        hg_file_unmap(&x->file[i]);
    hg_arena_deinit(&x->arena);
    *x = (hg_external){0};
}

/* ---- the entries of a tensor ----------------------------------------------------------------- */

static holo_status external_number(const hg_onnx_source *s, hg_onnx_entry entry, uint64_t *out)
{
    uint64_t value = 0;
    bool is_number = entry.value.length > 0;
    for (size_t i = 0; i < entry.value.length && is_number; i++) {
        const uint8_t digit = (uint8_t)(entry.value.text[i] - '0');
        is_number = digit <= 9 && value <= (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    if (!is_number)
        return hg_fail(s->error, HOLO_E_MODEL, "external data: %.*s is '%.*s', expected a number",
                       HG_STR_ARG(entry.key),
                       HG_STR_ARG(hg_str_is_text(entry.value) ? entry.value : hg_str_from("?")));
    *out = value;
    return HOLO_OK;
}

holo_status hg_external_read_place(const hg_onnx_source *s, hg_wire_list entries,
                                   hg_external_place *out)
{
    hg_external_place place = {0};
    hg_wire item;
    while (hg_wire_list_next(&entries, &item)) {
        hg_onnx_entry entry;
        HG_TRY(hg_onnx_read_entry(s, item, &entry));
        if (hg_str_is(entry.key, "location")) place.location = entry.value;
        if (hg_str_is(entry.key, "offset")) HG_TRY(external_number(s, entry, &place.offset));
        if (hg_str_is(entry.key, "length")) {
            HG_TRY(external_number(s, entry, &place.length));
            place.has_length = true;
        }
    }
    if (place.location.text == NULL)
        return hg_fail(s->error, HOLO_E_MODEL, "external data without a location");
    *out = place;
    return HOLO_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The place of a file that is already mapped under another spelling of its path, plus 1; or 0. */
static uint32_t external_find_same(const hg_external *x, const hg_file *file)
{
    for (size_t i = 0; i < x->n_file; i++)
        if (hg_file_is_same(&x->file[i], file)) return (uint32_t)i + 1;
    return 0;
}

static holo_status external_keep(hg_external *x, hg_str location, hg_file *file, uint32_t *place,
                                 holo_error *error)
{
    *place = external_find_same(x, file);
    if (*place != 0) {
        hg_file_unmap(file);
    } else {
        hg_file *grown = hg_arena_grow(&x->arena, x->file, x->n_file, &x->capacity, sizeof *grown);
        if (grown == NULL) {
            hg_file_unmap(file);
            return hg_fail_nomem(error, sizeof *grown);
        }
        x->file = grown;
        x->file[x->n_file++] = *file;
        *place = (uint32_t)x->n_file;
    }
    location = hg_str_copy(&x->arena, location); /* the model's bytes may go first */
    if (location.text == NULL || !hg_map_set(&x->known, location, *place))
        return hg_fail_nomem(error, location.length);
    return HOLO_OK;
}

static holo_status external_open(hg_external *x, const char *base_dir, const hg_file *model,
                                 hg_str location, uint32_t *place, holo_error *error)
{
    hg_file file;
    *place = hg_map_get(&x->known, location);
    if (*place != 0) return HOLO_OK;
    HG_TRY(hg_file_map_beneath(base_dir, location, &file, error));
    if (model != NULL && hg_file_is_same(model, &file)) {
        hg_file_unmap(&file);
        return hg_fail(error, HOLO_E_MODEL, "external data '%.*s' is the model file itself",
                       HG_STR_ARG(location));
    }
    return external_keep(x, location, &file, place, error);
}

holo_status hg_external_map(hg_external *x, const char *base_dir, const hg_file *model,
                            const hg_external_place *place, size_t bytes, const uint8_t **data,
                            const hg_file **file, holo_error *error)
{
    uint32_t at;
    HG_TRY(external_open(x, base_dir, model, place->location, &at, error));
    if (place->has_length && place->length != bytes)
        return hg_fail(error, HOLO_E_MODEL,
                       "external data '%.*s' has length %" PRIu64 ", expected %zu bytes",
                       HG_STR_ARG(place->location), place->length, bytes);
    const hg_file *f = &x->file[at - 1];
    if (place->offset > f->size || bytes > f->size - place->offset)
        return hg_fail(error, HOLO_E_MODEL,
                       "external data '%.*s' has %zu bytes, but %zu at offset %" PRIu64
                       " are wanted",
                       HG_STR_ARG(place->location), f->size, bytes, place->offset);
    *data = f->data == NULL ? NULL : f->data + place->offset;
    *file = f;
    return HOLO_OK;
}
