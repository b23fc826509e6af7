/* image.c - an RGB canvas that pictures are laid on, and its PNG file.
 *
 * libpng's simple interface needs no setjmp but writes no notes, so the file is made in memory and
 * the notes are put in as iTXt chunks behind the first chunk:
 *
 *     signature 8 | IHDR 25 | iTXt ... | the rest
 *     chunk = size of data (4 bytes, big-endian), kind (4), data, CRC-32 of kind and data (4) */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "image.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IMAGE_HEAD_BYTES = 8 + 25, IMAGE_CHUNK_BYTES = 12, IMAGE_NOTE_ZEROS = 5 };

holo_status image_init(image *out, uint32_t width, uint32_t height, holo_error *error)
{
    uint8_t *rgb = calloc((size_t)width * height, 3);
    if (rgb == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the picture");
    *out = (image){.rgb = rgb, .width = width, .height = height};
    return HOLO_OK;
}

void image_deinit(image *canvas)
{
    free(canvas->rgb);
    canvas->rgb = NULL;
}

static uint8_t image_byte(float value)
{
    const float byte = nearbyintf((value + 1) * 127.5F);
    if (!(byte > 0)) return 0; /* NaN too */
    return byte < 255 ? (uint8_t)byte : 255;
}

void image_put(image *canvas, const float *picture, uint32_t size, uint32_t x, uint32_t y)
{
    const size_t plane = (size_t)size * size;
    for (size_t row = 0; row < size; row++) {
        uint8_t *out = canvas->rgb + ((y + row) * canvas->width + x) * 3;
        for (size_t i = 0; i < (size_t)size * 3; i++)
            out[i] = image_byte(picture[i % 3 * plane + row * size + i / 3]);
    }
}

static void image_big_endian(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t image_crc(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xFFFFFFFFU;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
    }
    return ~crc;
}

static size_t image_note_bytes(const image_note *note)
{
    return IMAGE_CHUNK_BYTES + strlen(note->key) + IMAGE_NOTE_ZEROS + strlen(note->text);
}

/* An iTXt chunk: key, then 0, "not compressed" 0 0, no language 0, no translated key 0, then text.
 */
static uint8_t *image_put_note(uint8_t *out, const image_note *note)
{
    const size_t key = strlen(note->key);
    const size_t size = image_note_bytes(note) - IMAGE_CHUNK_BYTES;
    image_big_endian(out, (uint32_t)size);
    memcpy(out + 4, "iTXt", 4);
    memcpy(out + 8, note->key, key);
    memset(out + 8 + key, 0, IMAGE_NOTE_ZEROS);
    memcpy(out + 8 + key + IMAGE_NOTE_ZEROS, note->text, strlen(note->text));
    image_big_endian(out + 8 + size, image_crc(out + 4, size + 4));
    return out + size + IMAGE_CHUNK_BYTES;
}

/* The whole PNG file in new memory. */
static holo_status image_encode(const image *canvas, const image_note *notes, size_t n_notes,
                                uint8_t **out, size_t *out_size, holo_error *error)
{
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = canvas->width,
                     .height = canvas->height,
                     .format = PNG_FORMAT_RGB};
    size_t extra = 0;
    for (size_t i = 0; i < n_notes; i++)
        extra += image_note_bytes(&notes[i]);
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
    uint8_t *bytes = malloc(size + extra);
    if (bytes == NULL) return fail(error, HOLO_E_NOMEM, "no memory for the picture");
    if (png_image_write_to_memory(&png, bytes + extra, &size, 0, canvas->rgb, 0, NULL) == 0) {
        free(bytes);
        return fail(error, HOLO_E_IO, "the picture cannot be encoded: %s", png.message);
    }
    memmove(bytes, bytes + extra, IMAGE_HEAD_BYTES);
    uint8_t *at = bytes + IMAGE_HEAD_BYTES;
    for (size_t i = 0; i < n_notes; i++)
        at = image_put_note(at, &notes[i]);
    *out = bytes;
    *out_size = size + extra;
    return HOLO_OK;
}

/* Length of the folder part of path: 0 when there is none. */
static size_t image_folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

holo_status image_check_path(const char *path, holo_error *error)
{
    struct stat found;
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return fail(error, HOLO_E_IO, "cannot write %s: it exists and is not an ordinary file",
                    path);
    const size_t size = image_folder_size(path);
    if (path[size] == '\0')
        return fail(error, HOLO_E_IO, "cannot write \"%s\": no file name", path);
    char *folder = malloc(size + 2);
    if (folder == NULL) return fail(error, HOLO_E_NOMEM, "no memory for a path");
    memcpy(folder, path, size);
    memcpy(folder + size, ".", 2);
    const bool is_writable = access(folder, W_OK) == 0;
    const int why = errno;
    free(folder);
    if (!is_writable) return fail(error, HOLO_E_IO, "cannot write %s: %s", path, strerror(why));
    return HOLO_OK;
}

/* Everything to a new file, or false with errno; nothing is left behind on failure. */
static bool image_save(const char *path, const uint8_t *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) return false;
    size_t done = 0;
    bool is_good = true;
    while (is_good && done < size) {
        const ssize_t wrote = write(fd, bytes + done, size - done);
        if (wrote > 0)
            done += (size_t)wrote;
        else
            is_good = wrote < 0 && errno == EINTR;
    }
    int why = errno;
    if (close(fd) != 0 && is_good) {
        is_good = false;
        why = errno;
    }
    if (!is_good) unlink(path);
    errno = why;
    return is_good;
}

static holo_status image_replace(const char *path, const uint8_t *bytes, size_t size,
                                 holo_error *error)
{
    const size_t room = strlen(path) + 32;
    char *beside = malloc(room);
    if (beside == NULL) return fail(error, HOLO_E_NOMEM, "no memory for a path");
    snprintf(beside, room, "%s.%jd.tmp", path, (intmax_t)getpid());
    bool is_good = image_save(beside, bytes, size);
    if (is_good && rename(beside, path) != 0) {
        const int why = errno;
        is_good = false;
        unlink(beside);
        errno = why;
    }
    free(beside);
    return is_good ? HOLO_OK : fail(error, HOLO_E_IO, "cannot write %s: %s", path, strerror(errno));
}

holo_status image_write(const image *canvas, const char *path, const image_note *notes,
                        size_t n_notes, holo_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    holo_status status = image_check_path(path, error);
    if (status == HOLO_OK) status = image_encode(canvas, notes, n_notes, &bytes, &size, error);
    if (status != HOLO_OK) return status;
    status = image_replace(path, bytes, size, error);
    free(bytes);
    return status;
}
