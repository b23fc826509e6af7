/* stdio.c - files that the C library could write to and a page does not have. Its printf names
 * standard error in a branch that nothing here reaches (long double); these keep it from importing
 * a system for that. */
#include <stdint.h>

enum { STDIO_ENOSYS = 52 };

#define STDIO_STUB(name) __imported_wasi_snapshot_preview1_##name

int32_t STDIO_STUB(fd_close)(int32_t fd);
int32_t STDIO_STUB(fd_seek)(int32_t fd, int64_t offset, int32_t whence, int32_t out);
int32_t STDIO_STUB(fd_write)(int32_t fd, int32_t parts, int32_t count, int32_t out);

int32_t STDIO_STUB(fd_close)(int32_t fd)
{
    (void)fd;
    return STDIO_ENOSYS;
}

int32_t STDIO_STUB(fd_seek)(int32_t fd, int64_t offset, int32_t whence, int32_t out)
{
    (void)fd, (void)offset, (void)whence, (void)out;
    return STDIO_ENOSYS;
}

int32_t STDIO_STUB(fd_write)(int32_t fd, int32_t parts, int32_t count, int32_t out)
{
    (void)fd, (void)parts, (void)count, (void)out;
    return STDIO_ENOSYS;
}
