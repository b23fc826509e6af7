/* file.h - whole files in, whole files out.
 *
 * A file is mapped, so a claim in its header can be checked against its size before anything is
 * allocated. Writing goes to a temporary file beside the target, renamed at the end: a reader never
 * sees half a file, and a failure leaves what was there before. */
#ifndef HG_IO_FILE_H
#define HG_IO_FILE_H

#include "base/base.h"

#include <stdio.h>

typedef struct hg_io_bytes {
    uint8_t *data; /* to be read only: it may be mapped */
    size_t size;
    bool is_mapped;
} hg_io_bytes;

/* The whole file: mapped when it is a regular file, otherwise read up to a limit of 1 GiB. Status:
 * E_IO, E_LIMIT, E_NOMEM. */
HG_MUST_CHECK holo_status hg_io_read_file(const char *path, hg_io_bytes *out, holo_error *error);
void hg_io_bytes_free(hg_io_bytes *bytes);

/* Exactly `size` bytes from a stream into memory of hg_io_alloc. Memory grows with what arrives, so
 * that a false size costs nothing. `name` is for the sentence. */
HG_MUST_CHECK holo_status hg_io_read_stream(FILE *stream, const char *name, size_t size, void **out,
                                            holo_error *error);

typedef struct hg_io_writer {
    FILE *file;
    char *path;      /* NULL: standard output */
    char *temporary; /* NULL: path is a device or pipe and written directly */
    int failed;      /* errno of the first write that did not succeed */
} hg_io_writer;

/* "-" is standard output. After success, end with commit or abort. */
HG_MUST_CHECK holo_status hg_io_writer_open(const char *path, hg_io_writer *out, holo_error *error);
/* Flushes and renames; on failure nothing is left behind. */
HG_MUST_CHECK holo_status hg_io_writer_commit(hg_io_writer *writer, holo_error *error);
void hg_io_writer_abort(hg_io_writer *writer);
/* Of what failed while it wrote: names the file and the reason when that was it. Before abort. */
holo_status hg_io_writer_why(const hg_io_writer *writer, holo_status status, holo_error *error);
/* A holo_sink_fn; user is the hg_io_writer. */
bool hg_io_writer_sink(void *writer, const void *bytes, size_t size);

/* Both paths lead to one file, which is there. */
bool hg_io_is_same_file(const char *a, const char *b);

/* Makes a folder and its parents; an existing folder is fine. */
HG_MUST_CHECK holo_status hg_io_make_folder(const char *path, holo_error *error);

#endif
