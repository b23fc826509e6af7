/* writer.c - hg_writer: to memory, or through a buffer to a file of the system. */
#include "base/writer_file.h"

#include <inttypes.h>

enum { WRITER_BUFFER = 1 << 18 }; /* of a writer to a file */

static void writer_free_names(hg_writer *w)
{
    hg_free(&w->alloc, w->path, w->path_size);
    hg_free(&w->alloc, w->temporary, w->path_size);
    w->path = w->temporary = NULL;
}

static holo_status writer_names(hg_writer *w, const char *path, holo_error *error)
{
    w->path_size = strlen(path) + 64;
    w->path = hg_alloc_zero(&w->alloc, w->path_size);
    w->temporary = hg_alloc_zero(&w->alloc, w->path_size);
    w->buffer = hg_alloc(&w->alloc, WRITER_BUFFER);
    w->capacity = WRITER_BUFFER;
    if (w->path == NULL || w->temporary == NULL || w->buffer == NULL)
        return hg_fail_nomem(error, WRITER_BUFFER);
    memcpy(w->path, path, strlen(path));
    return HOLO_OK;
}

static void writer_free(hg_writer *w)
{
    writer_free_names(w);
    hg_free(&w->alloc, w->buffer, w->capacity);
    w->buffer = NULL;
    w->used = w->capacity = 0;
    w->is_open = false;
}

holo_status hg_writer_init_file(hg_writer *w, const char *path, const holo_allocator *allocator,
                                holo_error *error)
{
    *w = (hg_writer){.alloc = hg_allocator_or_libc(allocator), .fd = -1};
    if (path == NULL || path[0] == 0)
        return hg_fail(error, HOLO_E_IO, "the path of the file to write is empty");
    HG_TRY(hg_writer_file_check(path, error));
    holo_status status = writer_names(w, path, error);
    if (status == HOLO_OK) status = hg_writer_file_open(w, error);
    if (status != HOLO_OK) {
        writer_free(w);
        return status;
    }
    w->is_open = true;
    return HOLO_OK;
}

void hg_writer_init_memory(hg_writer *w, const holo_allocator *allocator)
{
    *w = (hg_writer){.alloc = hg_allocator_or_libc(allocator), .fd = -1, .is_open = true};
}

static holo_status writer_write_at(hg_writer *w, uint64_t offset, const void *bytes, size_t size,
                                   holo_error *error)
{
    const holo_status status = hg_writer_file_write(w, offset, bytes, size, error);
    if (status != HOLO_OK) w->has_failed = true;
    return status;
}

/* Bytes [size - used, size) are in the buffer of a file writer. */
holo_status hg_writer_flush(hg_writer *w, holo_error *error)
{
    HG_TRY(writer_write_at(w, w->size - w->used, w->buffer, w->used, error));
    w->used = 0;
    return HOLO_OK;
}

static holo_status writer_ready(const hg_writer *w, holo_error *error)
{
    if (w->is_open && !w->has_failed) return HOLO_OK;
    return hg_fail(error, w->has_failed ? HOLO_E_IO : HOLO_E_STATE,
                   w->has_failed ? "an earlier write failed" : "the writer is not open");
}

static holo_status writer_grow(hg_writer *w, size_t size, holo_error *error)
{
    size_t wanted, capacity = w->capacity < 4096 ? 4096 : w->capacity;
    if (!hg_add_size(w->used, size, &wanted) || wanted > SIZE_MAX / 2)
        return hg_fail_nomem(error, SIZE_MAX);
    if (wanted <= w->capacity) return HOLO_OK;
    while (capacity < wanted)
        capacity += capacity / 2;
    uint8_t *bigger = w->alloc.resize(w->alloc.user, w->buffer, w->capacity, capacity);
    if (bigger == NULL) {
        w->has_failed = true;
        return hg_fail_nomem(error, capacity);
    }
    w->buffer = bigger;
    w->capacity = capacity;
    return HOLO_OK;
}

holo_status hg_writer_write(hg_writer *w, const void *bytes, size_t size, holo_error *error)
{
    HG_TRY(writer_ready(w, error));
    if (size == 0) return HOLO_OK;
    if (w->path == NULL) HG_TRY(writer_grow(w, size, error));
    if (w->path != NULL && size > w->capacity - w->used) {
        HG_TRY(hg_writer_flush(w, error));
        if (size >= w->capacity) { /* large pieces need no buffer */
            HG_TRY(writer_write_at(w, w->size, bytes, size, error));
            w->size += size;
            return HOLO_OK;
        }
    }
    memcpy(w->buffer + w->used, bytes, size);
    w->used += size;
    w->size += size;
    return HOLO_OK;
}

holo_status hg_writer_pad(hg_writer *w, size_t align, holo_error *error)
{
    static const uint8_t zeros[4096];
    size_t left = (size_t)(-w->size & (align - 1));
    while (left > 0) {
        size_t step = left < sizeof zeros ? left : sizeof zeros;
        HG_TRY(hg_writer_write(w, zeros, step, error));
        left -= step;
    }
    return HOLO_OK;
}

holo_status hg_writer_patch(hg_writer *w, uint64_t offset, const void *bytes, size_t size,
                            holo_error *error)
{
    HG_TRY(writer_ready(w, error));
    if (offset > w->size || size > w->size - offset)
        return hg_fail(error, HOLO_E_ARG,
                       "a patch of %zu bytes at %" PRIu64 " leaves the %" PRIu64 " bytes written",
                       size, offset, w->size);
    if (size == 0) return HOLO_OK;
    if (w->path == NULL) {
        memcpy(w->buffer + offset, bytes, size);
        return HOLO_OK;
    }
    HG_TRY(hg_writer_flush(w, error));
    return writer_write_at(w, offset, bytes, size, error);
}

holo_status hg_writer_commit(hg_writer *w, holo_error *error)
{
    HG_TRY(writer_ready(w, error));
    if (w->path == NULL) return hg_fail(error, HOLO_E_STATE, "a writer to memory is taken from");
    HG_TRY(hg_writer_flush(w, error));
    const holo_status status = hg_writer_file_rename(w, error);
    w->has_failed = status != HOLO_OK;
    if (status == HOLO_OK) writer_free(w);
    return status;
}

holo_status hg_writer_take(hg_writer *w, void **data, size_t *size, holo_error *error)
{
    HG_TRY(writer_ready(w, error));
    if (w->path != NULL) return hg_fail(error, HOLO_E_STATE, "a writer to a file is committed");
    if (w->used > 0 && w->used < w->capacity) {
        uint8_t *exact = w->alloc.resize(w->alloc.user, w->buffer, w->capacity, w->used);
        if (exact == NULL) return hg_fail_nomem(error, w->used);
        w->buffer = exact;
        w->capacity = w->used;
    }
    *data = w->buffer;
    *size = w->used;
    w->buffer = NULL;
    writer_free(w);
    return HOLO_OK;
}

void hg_writer_abort(hg_writer *w)
{
    if (!w->is_open) return;
    if (w->path != NULL) hg_writer_file_remove(w);
    writer_free(w);
}
