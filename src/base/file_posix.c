/* file_posix.c - files on POSIX systems: mmap, openat and rename. */
#include "base/clock.h"
#include "base/writer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_READ_STEP = 1 << 30, /* Linux transfers at most 2 GiB a call */
    FILE_TEMPORARY_TRIES = 100
};

/* ---- sentences ------------------------------------------------------------------------------- */

/* strerror_r returns text with glibc and a number elsewhere. */
static const char *file_pick_text(char *text, const char *buffer)
{
    (void)buffer;
    return text;
}

static const char *file_pick_buffer(int failed, const char *buffer)
{
    return failed ? "unknown error" : buffer;
}

static const char *file_errno_text(int number, char *buffer, size_t size)
{
    return _Generic(strerror_r(number, buffer, size), char * : file_pick_text, int : file_pick_buffer)(
        strerror_r(number, buffer, size), buffer);
}

static holo_status file_fail(holo_error *error, const char *verb, hg_str path, int number)
{
    char buffer[128];
    return hg_fail(error, HOLO_E_IO, "cannot %s '%.*s': %s", verb, HG_STR_ARG(path),
                   file_errno_text(number, buffer, sizeof buffer));
}

static const char *file_kind_text(mode_t mode)
{
    if (S_ISREG(mode)) return "a regular file";
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
    if (S_ISSOCK(mode)) return "a socket";
    return "not a file";
}

/* ---- open and map ---------------------------------------------------------------------------- */

/* A part of an open file, checked against the size it has now. */
typedef struct file_part {
    int fd;
    hg_str name; /* for sentences */
    uint64_t offset, size;
    uint64_t device, inode;
} file_part;

/* O_NONBLOCK: opening a pipe without a writer must not wait. */
static holo_status file_open(const char *path, int *fd, holo_error *error)
{
    if (path == NULL || path[0] == 0)
        return hg_fail(error, HOLO_E_IO, "the path of a file is empty");
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return *fd < 0 ? file_fail(error, "open", hg_str_from(path), errno) : HOLO_OK;
}

static holo_status file_check(int fd, hg_str name, uint64_t offset, uint64_t size, file_part *out,
                              holo_error *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return file_fail(error, "open", name, errno);
    if (!S_ISREG(info.st_mode))
        return hg_fail(error, HOLO_E_IO, "'%.*s' is %s, expected a regular file", HG_STR_ARG(name),
                       file_kind_text(info.st_mode));
    uint64_t whole = info.st_size < 0 ? 0 : (uint64_t)info.st_size;
    if (offset > whole || size > whole - offset)
        return hg_fail(error, HOLO_E_ARG,
                       "'%.*s' has %" PRIu64 " bytes, but %" PRIu64 " at %" PRIu64 " are wanted",
                       HG_STR_ARG(name), whole, size, offset);
    if (size == 0) size = whole - offset;
    if (size > SIZE_MAX / 2 - HG_ALIGN)
        return hg_fail(error, HOLO_E_IO, "'%.*s' has %" PRIu64 " bytes, more than can be mapped",
                       HG_STR_ARG(name), size);
    *out = (file_part){.fd = fd,
                       .name = name,
                       .offset = offset,
                       .size = size,
                       .device = (uint64_t)info.st_dev,
                       .inode = (uint64_t)info.st_ino};
    return HOLO_OK;
}

static size_t file_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (size_t)page : 4096;
}

static holo_status file_map_part(const file_part *part, hg_file *out, holo_error *error)
{
    hg_file file = {.device = part->device, .inode = part->inode};
    if (part->size > 0) {
        size_t before = (size_t)(part->offset % file_page());
        file.base_size = (size_t)part->size + before;
        file.base = mmap(NULL, file.base_size, PROT_READ, MAP_PRIVATE, part->fd,
                         (off_t)(part->offset - before));
        if (file.base == MAP_FAILED) return file_fail(error, "map", part->name, errno);
        file.data = (const uint8_t *)file.base + before;
        file.size = (size_t)part->size;
    }
    *out = file;
    return HOLO_OK;
}

static holo_status file_read_bytes(const file_part *part, uint8_t *to, holo_error *error)
{
    for (size_t done = 0; done < part->size;) {
        size_t want = (size_t)part->size - done;
        if (want > FILE_READ_STEP) want = FILE_READ_STEP;
        ssize_t got = pread(part->fd, to + done, want, (off_t)(part->offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return file_fail(error, "read", part->name, errno);
        if (got == 0)
            return hg_fail(error, HOLO_E_IO, "'%.*s' became shorter while it was read",
                           HG_STR_ARG(part->name));
        done += (size_t)got;
    }
    return HOLO_OK;
}

static holo_status file_read_part(const file_part *part, uint64_t limit,
                                  const holo_allocator *allocator, hg_file *out, holo_error *error)
{
    hg_file file = {.device = part->device,
                    .inode = part->inode,
                    .alloc = hg_allocator_or_libc(allocator),
                    .is_copy = true};
    if (limit != 0 && part->size > limit)
        return hg_fail(error, HOLO_E_LIMIT,
                       "'%.*s' has %" PRIu64 " bytes, at most %" PRIu64 " are allowed",
                       HG_STR_ARG(part->name), part->size, limit);
    if (part->size > 0) {
        uint8_t *data = hg_alloc_aligned(&file.alloc, (size_t)part->size, &file.base);
        if (data == NULL) return hg_fail_nomem(error, (size_t)part->size);
        file.base_size = (size_t)part->size + HG_ALIGN;
        holo_status status = file_read_bytes(part, data, error);
        if (status != HOLO_OK) {
            hg_free(&file.alloc, file.base, file.base_size);
            return status;
        }
        file.data = data;
        file.size = (size_t)part->size;
    }
    *out = file;
    return HOLO_OK;
}

holo_status hg_file_map(const char *path, hg_file *out, holo_error *error)
{
    int fd = -1;
    file_part part = {0};
    HG_TRY(file_open(path, &fd, error));
    holo_status status = file_check(fd, hg_str_from(path), 0, 0, &part, error);
    if (status == HOLO_OK) status = file_map_part(&part, out, error);
    close(fd);
    return status;
}

holo_status hg_file_read(const char *path, uint64_t limit, const holo_allocator *allocator,
                         hg_file *out, holo_error *error)
{
    int fd = -1;
    file_part part = {0};
    HG_TRY(file_open(path, &fd, error));
    holo_status status = file_check(fd, hg_str_from(path), 0, 0, &part, error);
    if (status == HOLO_OK) status = file_read_part(&part, limit, allocator, out, error);
    close(fd);
    return status;
}

/* A name for a descriptor, for sentences. */
static hg_str file_fd_name(int fd, char *buffer, size_t size)
{
    snprintf(buffer, size, "file descriptor %d", fd);
    return hg_str_from(buffer);
}

holo_status hg_file_map_fd(int fd, uint64_t offset, uint64_t size, hg_file *out, holo_error *error)
{
    char buffer[40];
    file_part part = {0};
    HG_TRY(file_check(fd, file_fd_name(fd, buffer, sizeof buffer), offset, size, &part, error));
    return file_map_part(&part, out, error);
}

holo_status hg_file_read_fd(int fd, uint64_t offset, uint64_t size, uint64_t limit,
                            const holo_allocator *allocator, hg_file *out, holo_error *error)
{
    char buffer[40];
    file_part part = {0};
    HG_TRY(file_check(fd, file_fd_name(fd, buffer, sizeof buffer), offset, size, &part, error));
    return file_read_part(&part, limit, allocator, out, error);
}

/* ---- untrusted paths ------------------------------------------------------------------------- */

/* The next part of a path; false at its end. Empty parts and "." are passed over. */
static bool file_next_part(hg_str *rest, hg_str *part)
{
    while (rest->length > 0) {
        const char *slash = memchr(rest->text, '/', rest->length);
        size_t length = slash == NULL ? rest->length : (size_t)(slash - rest->text);
        size_t step = slash == NULL ? length : length + 1;
        *part = (hg_str){rest->text, length};
        *rest = (hg_str){rest->text + step, rest->length - step};
        if (length != 0 && !hg_str_is(*part, ".")) return true;
    }
    return false;
}

static holo_status file_check_path(hg_str path, holo_error *error)
{
    hg_str rest = path, part;
    const char *why = NULL;
    if (path.length == 0)
        why = "it is empty";
    else if (!hg_str_is_text(path))
        why = "it is not text";
    else if (path.text[0] == '/')
        why = "it is absolute";
    else if (path.text[path.length - 1] == '/')
        why = "it names a folder";
    else if (memchr(path.text, '\\', path.length) != NULL)
        why = "it holds a backslash";
    while (why == NULL && file_next_part(&rest, &part)) {
        if (hg_str_is(part, "..")) why = "it leaves the folder of the model";
        if (part.length > 255) why = "a part of it is longer than 255 bytes";
    }
    if (why == NULL) return HOLO_OK;
    return hg_fail(error, HOLO_E_IO, "the path '%.*s' is refused: %s",
                   HG_STR_ARG(hg_str_is_text(path) ? path : hg_str_from("?")), why);
}

/* Opens one part below *fd, closes that and puts the new descriptor in its place (-1 on failure).
 */
static holo_status file_step(int *fd, hg_str part, int flags, hg_str path, holo_error *error)
{
    char name[256];
    memcpy(name, part.text, part.length);
    name[part.length] = 0;
    int next = openat(*fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | flags);
    int number = errno;
    struct stat info;
    bool is_link =
        next < 0 && fstatat(*fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
    close(*fd);
    *fd = next;
    if (is_link)
        return hg_fail(error, HOLO_E_IO, "the path '%.*s' is refused: '%.*s' is a symbolic link",
                       HG_STR_ARG(path), HG_STR_ARG(part));
    return next < 0 ? file_fail(error, "open", path, number) : HOLO_OK;
}

static holo_status file_open_beneath(const char *folder, hg_str path, int *out, holo_error *error)
{
    hg_str rest = path, part, next;
    HG_TRY(file_check_path(path, error));
    if (folder == NULL || folder[0] == 0) folder = "."; /* and never the root */
    int fd = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (fd < 0) return file_fail(error, "open", hg_str_from(folder), errno);
    bool has_part = file_next_part(&rest, &part);
    holo_status status = HOLO_OK;
    while (has_part && status == HOLO_OK) {
        bool has_next = file_next_part(&rest, &next);
        status = file_step(&fd, part, has_next ? O_DIRECTORY : O_NONBLOCK, path, error);
        has_part = has_next;
        part = next;
    }
    if (status == HOLO_OK) *out = fd;
    return status;
}

holo_status hg_file_map_beneath(const char *folder, hg_str path, hg_file *out, holo_error *error)
{
    int fd = -1;
    file_part part = {0};
    HG_TRY(file_open_beneath(folder, path, &fd, error));
    holo_status status = file_check(fd, path, 0, 0, &part, error);
    if (status == HOLO_OK) status = file_map_part(&part, out, error);
    close(fd);
    return status;
}

/* ---- a mapped file --------------------------------------------------------------------------- */

void hg_file_unmap(hg_file *file)
{
    if (file->base != NULL) {
        if (file->is_copy)
            hg_free(&file->alloc, file->base, file->base_size);
        else
            munmap(file->base, file->base_size);
    }
    *file = (hg_file){0};
}

void hg_file_prefault(const hg_file *file)
{
    if (file->base == NULL || file->is_copy) return;
    size_t page = file_page();
    (void)posix_madvise(file->base, file->base_size, POSIX_MADV_WILLNEED);
    const volatile uint8_t *data = file->data;
    for (size_t i = 0; i < file->size; i += page)
        (void)data[i];
    (void)data[file->size - 1];
}

/* 1 instead of 2 us a page (Linux 6.18 in a virtual machine). */
void hg_pages_take(void *memory, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    const size_t page = file_page(), from = hg_align_up((size_t)(uintptr_t)memory, page);
    const size_t end = ((size_t)(uintptr_t)memory + bytes) / page * page;
    if (from < end) (void)madvise((void *)(uintptr_t)from, end - from, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

/* The first write to a page takes about 2 us (Linux 6.18 in a virtual machine), to a large page
 * 170: a sixth of what the 512 pages it replaces take. A machine that must first be given the
 * memory itself takes 5,000, one large page after another, where small ones are at hand: so each is
 * asked for alone, and after the first slow one the rest stays as it was. */
void hg_pages_large(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const double slow = 1e-3;
    uint8_t *page = (uint8_t *)hg_align_up((size_t)(uintptr_t)memory, HG_LARGE_PAGE);
    const size_t end = ((size_t)(uintptr_t)memory + bytes) / HG_LARGE_PAGE * HG_LARGE_PAGE;
    double last = hg_clock_seconds(), now = last;
    for (; (size_t)(uintptr_t)page < end && now - last < slow; page += HG_LARGE_PAGE) {
        last = now;
        if (madvise(page, HG_LARGE_PAGE, MADV_HUGEPAGE) != 0) return;
        *(volatile uint8_t *)page = 0;
        now = hg_clock_seconds();
    }
#else
    (void)memory;
    (void)bytes;
#endif
}

void hg_file_forget(const hg_file *file, const void *data, size_t size)
{
    if (file->base == NULL || file->is_copy) return;
    const uint8_t *base = file->base, *from = data;
    size_t page = file_page();
    if (from < file->data || size > file->size || (size_t)(from - file->data) > file->size - size)
        return;
    size_t begin = hg_align_up((size_t)(from - base), page);
    size_t end = (size_t)(from - base + (ptrdiff_t)size) / page * page;
    /* Private and never written: pages that are dropped are read from the file again. */
    if (begin < end) (void)madvise((uint8_t *)file->base + begin, end - begin, MADV_DONTNEED);
}

bool hg_file_is_same(const hg_file *a, const hg_file *b)
{
    return (a->device != 0 || a->inode != 0) && a->device == b->device && a->inode == b->inode;
}

/* ---- the file of a writer -------------------------------------------------------------------- */

static holo_status file_writer_fail(const hg_writer *w, int number, holo_error *error)
{
    return file_fail(error, "write", hg_str_from(w->path), number);
}

/* A new file beside the target, whose own name may leave no room for more. Permissions come from
 * the umask, as for any new file. */
static int file_make_temporary(hg_writer *w)
{
    const char *slash = strrchr(w->path, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash - w->path) + 1;
    memcpy(w->temporary, w->path, folder);
    for (int i = 0; i < FILE_TEMPORARY_TRIES; i++) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(w->temporary + folder, w->path_size - folder, "hologram-%lx%lx.tmp",
                 (long)getpid(), (long)now.tv_nsec + i);
        int fd = open(w->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

holo_status hg_writer_file_check(const char *path, holo_error *error)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return hg_fail(error, HOLO_E_IO, "cannot write '%.*s': it is %s, expected a regular file",
                       HG_STR_ARG(hg_str_from(path)), file_kind_text(info.st_mode));
    return HOLO_OK;
}

holo_status hg_writer_file_open(hg_writer *w, holo_error *error)
{
    w->fd = file_make_temporary(w);
    return w->fd < 0 ? file_writer_fail(w, errno, error) : HOLO_OK;
}

holo_status hg_writer_file_write(hg_writer *w, uint64_t offset, const uint8_t *bytes, size_t size,
                                 holo_error *error)
{
    while (size > 0) {
        ssize_t done =
            pwrite(w->fd, bytes, size < FILE_READ_STEP ? size : FILE_READ_STEP, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return file_writer_fail(w, done < 0 ? errno : ENOSPC, error);
        bytes += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return HOLO_OK;
}

holo_status hg_writer_file_rename(hg_writer *w, holo_error *error)
{
    int fd = w->fd;
    w->fd = -1;
    if (close(fd) != 0) return file_writer_fail(w, errno, error);
    if (rename(w->temporary, w->path) != 0) return file_writer_fail(w, errno, error);
    return HOLO_OK;
}

void hg_writer_file_remove(hg_writer *w)
{
    if (w->fd >= 0) close(w->fd);
    if (w->temporary != NULL) unlink(w->temporary);
    w->fd = -1;
}
