/* writer_file.h - what writer.c asks of the system: one new file, written at offsets, then renamed.
 * Defined by file_posix.c and its likes; every sentence names the path. */
#ifndef HG_BASE_WRITER_FILE_H
#define HG_BASE_WRITER_FILE_H

#include "base/file.h"

/* Refuses a path that names something that is no regular file. */
HG_MUST_CHECK holo_status hg_writer_file_check(const char *path, holo_error *error);
/* Makes the file under construction beside w->path: sets w->temporary and w->fd. */
HG_MUST_CHECK holo_status hg_writer_file_open(hg_writer *w, holo_error *error);
HG_MUST_CHECK holo_status hg_writer_file_write(hg_writer *w, uint64_t offset, const uint8_t *bytes,
                                               size_t size, holo_error *error);
/* Closes it and gives it its name. */
HG_MUST_CHECK holo_status hg_writer_file_rename(hg_writer *w, holo_error *error);
/* Closes and removes it. */
void hg_writer_file_remove(hg_writer *w);

#endif
