/* file.h - files: map or read one, and write one so that nobody ever sees half of it.
 *
 * Only regular files are accepted: a pipe, folder or device gets a sentence, as does a size that
 * cannot be mapped. A file that shrinks while it is mapped raises SIGBUS on access; read it instead
 * where that can happen. Every sentence names the path and what the system said. */
#ifndef HG_BASE_FILE_H
#define HG_BASE_FILE_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

/* The bytes of a file or of a part of it. {0} is an empty one. */
typedef struct hg_file {
    const uint8_t *data; /* read-only; aligned to 64 bytes when the part starts at a page */
    size_t size;
    uint64_t device, inode; /* which file it is; both 0 when not known */
    void *base; /* what unmap gives back: a mapping, or memory of `alloc` when is_copy */
    size_t base_size;
    holo_allocator alloc;
    bool is_copy;
} hg_file;

/* Maps a whole file; size 0 is fine. Status: E_IO. Release with hg_file_unmap. */
HG_MUST_CHECK holo_status hg_file_map(const char *path, hg_file *out, holo_error *error);
/* Maps `size` bytes at `offset` of an open file (size 0: to its end), which may be closed
 * afterwards. Status: E_IO, E_ARG when the part leaves the file. */
HG_MUST_CHECK holo_status hg_file_map_fd(int fd, uint64_t offset, uint64_t size, hg_file *out,
                                         holo_error *error);
/* Maps folder/path, where path is untrusted: parts are separated by '/', none is "..", and no part
 * may be a symbolic link. Hard links cannot be told from the file itself and are accepted: whoever
 * can make one in the folder could as well have copied the file. Status: E_IO. */
HG_MUST_CHECK holo_status hg_file_map_beneath(const char *folder, hg_str path, hg_file *out,
                                              holo_error *error);
/* The same as map, but into memory of the allocator (NULL: libc), aligned to 64 bytes. More than
 * `limit` bytes (0: no limit) are refused before they are asked for. Status: E_IO, E_LIMIT,
 * E_NOMEM. */
HG_MUST_CHECK holo_status hg_file_read(const char *path, uint64_t limit,
                                       const holo_allocator *allocator, hg_file *out,
                                       holo_error *error);
HG_MUST_CHECK holo_status hg_file_read_fd(int fd, uint64_t offset, uint64_t size, uint64_t limit,
                                          const holo_allocator *allocator, hg_file *out,
                                          holo_error *error);
/* Gives the memory back, mapped or copied, and clears the struct. */
void hg_file_unmap(hg_file *file);
/* Touches every page so that later reads do not wait for the disk. */
void hg_file_prefault(const hg_file *file);
/* Memory that is about to be written gets its pages at once rather than one by one when they are
 * touched, where the system can do that. */
void hg_pages_take(void *memory, size_t bytes);
/* Memory that will be written as a whole and holds nothing yet gets large pages, as long as the
 * system has them at hand; what lies in parts of such a page stays as it is. */
enum { HG_LARGE_PAGE = 2 << 20 };
void hg_pages_large(void *memory, size_t bytes);
/* The bytes [data, data + size) of the file will not be read soon: their pages may leave memory. */
void hg_file_forget(const hg_file *file, const void *data, size_t size);
/* Both are parts of one file on disk. */
bool hg_file_is_same(const hg_file *a, const hg_file *b);

/* Writes bytes in order, with a way back to fill in what is known only later. The target is a file,
 * made beside the path and renamed on commit, or memory. Calls after a failure fail likewise; every
 * writer ends with one call of hg_writer_abort, which after commit or take does nothing. */
typedef struct hg_writer {
    holo_allocator alloc;
    uint64_t size;    /* bytes written so far */
    char *path;       /* NULL: memory */
    char *temporary;  /* name of the file under construction */
    size_t path_size; /* of both names, as allocated */
    int fd;
    uint8_t *buffer; /* file: bytes not yet written; memory: everything */
    size_t used, capacity;
    bool is_open, has_failed;
} hg_writer;

/* Status: E_IO when the folder cannot be written or path names something that is no regular file.
 * An existing file, or symbolic link, is replaced on commit and untouched before. */
HG_MUST_CHECK holo_status hg_writer_init_file(hg_writer *w, const char *path,
                                              const holo_allocator *allocator, holo_error *error);
void hg_writer_init_memory(hg_writer *w, const holo_allocator *allocator);
/* Appends. Status: E_IO, E_NOMEM. */
HG_MUST_CHECK holo_status hg_writer_write(hg_writer *w, const void *bytes, size_t size,
                                          holo_error *error);
/* Appends zeros until the size is a multiple of `align`, a power of two. */
HG_MUST_CHECK holo_status hg_writer_pad(hg_writer *w, size_t align, holo_error *error);
/* Replaces bytes that were written before. */
HG_MUST_CHECK holo_status hg_writer_patch(hg_writer *w, uint64_t offset, const void *bytes,
                                          size_t size, holo_error *error);
/* File: what was written so far can be read under the temporary name. */
HG_MUST_CHECK holo_status hg_writer_flush(hg_writer *w, holo_error *error);
/* File: the target appears, whole. It is not forced to disk: that protects from a crash of the
 * program, not of the machine. */
HG_MUST_CHECK holo_status hg_writer_commit(hg_writer *w, holo_error *error);
/* Memory: the bytes, exactly *size of them as allocated, now owned by the caller. *data is NULL for
 * 0. */
HG_MUST_CHECK holo_status hg_writer_take(hg_writer *w, void **data, size_t *size,
                                         holo_error *error);
/* Removes the temporary file or frees the memory. */
void hg_writer_abort(hg_writer *w);

#endif
