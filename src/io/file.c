/* file.c - whole files in, whole files out. */
#include "io/file.h"

#include "base/error.h"
#include "io/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_CHUNK = 1 << 20, FILE_STREAM_LIMIT = 1 << 30 };

static holo_status file_read_unsized(int fd, const char *path, hg_io_bytes *out, holo_error *error)
{
    size_t size = 0, capacity = FILE_CHUNK;
    uint8_t *data = malloc(capacity);
    for (;;) {
        if (data == NULL) return hg_fail_nomem(error, capacity);
        ssize_t n = read(fd, data + size, capacity - size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            free(data);
            return hg_fail(error, HOLO_E_IO, "cannot read %s: %s", path, strerror(errno));
        }
        if (n == 0) break;
        size += (size_t)n;
        if (size < capacity) continue;
        if (capacity >= FILE_STREAM_LIMIT) {
            free(data);
            return hg_fail(error, HOLO_E_LIMIT,
                           "%s is not a regular file and gives more than 1 GiB", path);
        }
        capacity *= 2;
        uint8_t *grown = realloc(data, capacity);
        if (grown == NULL) free(data);
        data = grown;
    }
    *out = (hg_io_bytes){data, size, false};
    return HOLO_OK;
}

static holo_status file_map(int fd, const char *path, uint64_t size, hg_io_bytes *out,
                            holo_error *error)
{
    if (size > SIZE_MAX)
        return hg_fail(error, HOLO_E_LIMIT, "%s does not fit the address space", path);
    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return hg_fail(error, HOLO_E_IO, "cannot map %s: %s", path, strerror(errno));
    *out = (hg_io_bytes){data, (size_t)size, true};
    return HOLO_OK;
}

holo_status hg_io_read_file(const char *path, hg_io_bytes *out, holo_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return hg_fail(error, HOLO_E_IO, "cannot open %s: %s", path, strerror(errno));
    holo_status status;
    struct stat info;
    if (fstat(fd, &info) != 0)
        status = hg_fail(error, HOLO_E_IO, "cannot read %s: %s", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        status = hg_fail(error, HOLO_E_IO, "%s is a folder, not a file", path);
    else if (S_ISREG(info.st_mode) && info.st_size > 0)
        status = file_map(fd, path, (uint64_t)info.st_size, out, error);
    else
        status = file_read_unsized(fd, path, out, error);
    close(fd);
    return status;
}

void hg_io_bytes_free(hg_io_bytes *bytes)
{
    if (bytes->is_mapped)
        munmap(bytes->data, bytes->size);
    else
        free(bytes->data);
    *bytes = (hg_io_bytes){0};
}

/* Bytes that a regular file still has after the current position; SIZE_MAX when it cannot be told.
 */
static size_t file_rest(FILE *stream)
{
    struct stat info;
    if (fstat(fileno(stream), &info) != 0 || !S_ISREG(info.st_mode)) return SIZE_MAX;
    off_t at = ftello(stream);
    return at < 0 || at > info.st_size ? 0 : (size_t)(info.st_size - at);
}

holo_status hg_io_read_stream(FILE *stream, const char *name, size_t size, void **out,
                              holo_error *error)
{
    size_t rest = file_rest(stream), have = 0;
    if (rest != SIZE_MAX && rest < size)
        return hg_fail(error, HOLO_E_IO, "%s is cut short: %zu bytes of data needed, %zu there",
                       name, size, rest);
    size_t capacity = rest != SIZE_MAX || size < FILE_CHUNK ? size : FILE_CHUNK;
    uint8_t *data = hg_io_alloc(capacity);
    if (data == NULL) return hg_fail_nomem(error, capacity);
    for (;;) {
        size_t n = fread(data + have, 1, capacity - have, stream);
        have += n;
        if (have == size) break;
        if (have < capacity) {
            free(data);
            return hg_fail(error, HOLO_E_IO, "%s is cut short: %zu bytes of data needed, %zu there",
                           name, size, have);
        }
        size_t larger = capacity > size / 2 ? size : capacity * 2;
        uint8_t *grown = hg_io_alloc(larger);
        if (grown != NULL) memcpy(grown, data, have);
        free(data);
        if (grown == NULL) return hg_fail_nomem(error, larger);
        data = grown;
        capacity = larger;
    }
    *out = data;
    return HOLO_OK;
}

bool hg_io_is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
           S_ISREG(x.st_mode);
}

/* A device or pipe must not be replaced by a file: `-o /dev/null` is an honest wish. */
static bool file_is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static holo_status file_open_temporary(hg_io_writer *w, holo_error *error)
{
    size_t size = strlen(w->path) + 32;
    w->temporary = malloc(size);
    if (w->temporary == NULL) return hg_fail_nomem(error, size);
    snprintf(w->temporary, size, "%s.%ld.tmp", w->path, (long)getpid());
    int fd = open(w->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0) w->file = fdopen(fd, "wb");
    if (w->file != NULL) return HOLO_OK;
    hg_fail(error, HOLO_E_IO, "cannot write %s: %s", w->path, strerror(errno));
    if (fd >= 0) close(fd);
    return HOLO_E_IO;
}

holo_status hg_io_writer_open(const char *path, hg_io_writer *out, holo_error *error)
{
    hg_io_writer w = {0};
    if (strcmp(path, "-") == 0) {
        out->file = stdout;
        out->path = out->temporary = NULL;
        out->failed = 0;
        return HOLO_OK;
    }
    w.path = strdup(path);
    if (w.path == NULL) return hg_fail_nomem(error, strlen(path));
    holo_status status = HOLO_OK;
    if (file_is_special(path)) {
        w.file = fopen(path, "wb");
        if (w.file == NULL)
            status = hg_fail(error, HOLO_E_IO, "cannot write %s: %s", path, strerror(errno));
    } else {
        status = file_open_temporary(&w, error);
    }
    if (status != HOLO_OK) {
        free(w.temporary);
        free(w.path);
        return status;
    }
    *out = w;
    return HOLO_OK;
}

static void file_release(hg_io_writer *w)
{
    free(w->temporary);
    free(w->path);
    *w = (hg_io_writer){0};
}

holo_status hg_io_writer_commit(hg_io_writer *w, holo_error *error)
{
    if (w->path == NULL) {
        bool failed = fflush(w->file) != 0 || ferror(w->file);
        *w = (hg_io_writer){0};
        if (failed)
            return hg_fail(error, HOLO_E_IO, "cannot write standard output: %s", strerror(errno));
        return HOLO_OK;
    }
    bool failed = ferror(w->file) != 0;
    failed = fclose(w->file) != 0 || failed;
    if (!failed && w->temporary != NULL) failed = rename(w->temporary, w->path) != 0;
    holo_status status = HOLO_OK;
    if (failed) {
        status = hg_fail(error, HOLO_E_IO, "cannot write %s: %s", w->path, strerror(errno));
        if (w->temporary != NULL) unlink(w->temporary);
    }
    file_release(w);
    return status;
}

holo_status hg_io_writer_why(const hg_io_writer *w, holo_status status, holo_error *error)
{
    if (w->failed == 0) return status;
    return hg_fail(error, HOLO_E_IO, "cannot write %s: %s",
                   w->path == NULL ? "standard output" : w->path, strerror(w->failed));
}

void hg_io_writer_abort(hg_io_writer *w)
{
    if (w->file != NULL && w->path != NULL) fclose(w->file);
    if (w->temporary != NULL) unlink(w->temporary);
    file_release(w);
}

bool hg_io_writer_sink(void *writer, const void *bytes, size_t size)
{
    hg_io_writer *w = writer;
    if (fwrite(bytes, 1, size, w->file) == size) return true;
    if (w->failed == 0) w->failed = errno;
    return false;
}

holo_status hg_io_make_folder(const char *path, holo_error *error)
{
    char *copy = strdup(path);
    if (copy == NULL) return hg_fail_nomem(error, strlen(path));
    int failed = 0;
    for (char *p = copy + 1; *copy != '\0' && *p != '\0'; p++) {
        if (*p != '/') continue;
        *p = '\0';
        mkdir(copy, 0777); /* a parent that cannot be made shows in the last call */
        *p = '/';
    }
    struct stat info;
    if (mkdir(copy, 0777) != 0) failed = errno;
    if (failed == EEXIST && stat(copy, &info) == 0 && S_ISDIR(info.st_mode)) failed = 0;
    free(copy);
    if (failed != 0)
        return hg_fail(error, HOLO_E_IO, "cannot make the folder %s: %s", path, strerror(failed));
    return HOLO_OK;
}
