/* file_wasm.c - there are no files in WebAssembly: models come from memory, where the page put
 * them.
 */
#include "base/writer_file.h"

static holo_status file_fail(holo_error *error)
{
    return hg_fail(error, HOLO_E_IO, "there are no files in WebAssembly: pass the bytes instead");
}

holo_status hg_file_map(const char *path, hg_file *out, holo_error *error)
{
    (void)path, (void)out;
    return file_fail(error);
}

holo_status hg_file_map_fd(int fd, uint64_t offset, uint64_t size, hg_file *out, holo_error *error)
{
    (void)fd, (void)offset, (void)size, (void)out;
    return file_fail(error);
}

holo_status hg_file_map_beneath(const char *folder, hg_str path, hg_file *out, holo_error *error)
{
    (void)folder, (void)path, (void)out;
    return file_fail(error);
}

holo_status hg_file_read(const char *path, uint64_t limit, const holo_allocator *allocator,
                         hg_file *out, holo_error *error)
{
    (void)path, (void)limit, (void)allocator, (void)out;
    return file_fail(error);
}

holo_status hg_file_read_fd(int fd, uint64_t offset, uint64_t size, uint64_t limit,
                            const holo_allocator *allocator, hg_file *out, holo_error *error)
{
    (void)fd, (void)offset, (void)size, (void)limit, (void)allocator, (void)out;
    return file_fail(error);
}

/* Memory that some other function allocated as a file's; nothing here does. */
void hg_file_unmap(hg_file *file)
{
    if (file->is_copy) hg_free(&file->alloc, file->base, file->base_size);
    *file = (hg_file){0};
}

void hg_pages_take(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

void hg_pages_large(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

void hg_file_prefault(const hg_file *file)
{
    (void)file;
}

void hg_file_forget(const hg_file *file, const void *data, size_t size)
{
    (void)file, (void)data, (void)size;
}

bool hg_file_is_same(const hg_file *a, const hg_file *b)
{
    (void)a, (void)b;
    return false;
}

holo_status hg_writer_file_check(const char *path, holo_error *error)
{
    (void)path;
    return file_fail(error);
}

holo_status hg_writer_file_open(hg_writer *w, holo_error *error)
{
    (void)w;
    return file_fail(error);
}

holo_status hg_writer_file_write(hg_writer *w, uint64_t offset, const uint8_t *bytes, size_t size,
                                 holo_error *error)
{
    (void)w, (void)offset, (void)bytes, (void)size;
    return file_fail(error);
}

holo_status hg_writer_file_rename(hg_writer *w, holo_error *error)
{
    (void)w;
    return file_fail(error);
}

void hg_writer_file_remove(hg_writer *w)
{
    (void)w;
}
