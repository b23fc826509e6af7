/* image_head.c - recognises pictures by their first bytes and reads their size. */
#include "ext/image.h"

#include "base/error.h"

#include <string.h>

static bool head_starts(const hg_image *im, const char *text, size_t length)
{
    return im->size >= length && memcmp(im->data, text, length) == 0;
}

static bool head_size(hg_image *im, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0 || width > UINT32_MAX || height > UINT32_MAX) return false;
    im->width = (int64_t)width;
    im->height = (int64_t)height;
    return true;
}

/* ---- JPEG: markers up to the one that starts a frame -------------------------------------------
 */

static bool head_is_jpeg(const hg_image *im)
{
    return head_starts(im, "\xff\xd8\xff", 3);
}

static bool head_measure_jpeg(hg_image *im)
{
    size_t at = 2;
    while (hg_image_holds(im, at, 4)) {
        if (im->data[at] != 0xff) return false;
        uint8_t mark = im->data[at + 1];
        if (mark == 0xff) {
            at++; /* filling */
            continue;
        }
        bool frame = mark >= 0xc0 && mark <= 0xcf && mark != 0xc4 && mark != 0xc8 && mark != 0xcc;
        if (frame)
            return hg_image_holds(im, at, 9) &&
                   head_size(im, hg_image_big(im, at + 7, 2), hg_image_big(im, at + 5, 2));
        if (mark == 0xda || mark == 0xd9) return false;
        bool alone = mark == 0x01 || (mark >= 0xd0 && mark <= 0xd8);
        at += alone ? 2 : 2 + (size_t)hg_image_big(im, at + 2, 2);
    }
    return false;
}

/* ---- PNG: the first chunk ----------------------------------------------------------------------
 */

static bool head_is_png(const hg_image *im)
{
    return head_starts(im, "\x89PNG\r\n\x1a\n", 8);
}

static bool head_measure_png(hg_image *im)
{
    if (!hg_image_holds(im, 8, 25) || memcmp(im->data + 12, "IHDR", 4) != 0) return false;
    return head_size(im, hg_image_big(im, 16, 4), hg_image_big(im, 20, 4));
}

/* ---- WebP: one of three first chunks -----------------------------------------------------------
 */

static bool head_is_webp(const hg_image *im)
{
    return head_starts(im, "RIFF", 4) && im->size >= 12 && memcmp(im->data + 8, "WEBP", 4) == 0;
}

static bool head_measure_webp(hg_image *im)
{
    if (!hg_image_holds(im, 12, 18)) return false;
    const uint8_t *chunk = im->data + 12;
    if (memcmp(chunk, "VP8X", 4) == 0)
        return head_size(im, hg_image_little(im, 24, 3) + 1, hg_image_little(im, 27, 3) + 1);
    if (memcmp(chunk, "VP8L", 4) == 0) {
        uint64_t bits = hg_image_little(im, 21, 4);
        return im->data[20] == 0x2f &&
               head_size(im, (bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
    }
    if (memcmp(chunk, "VP8 ", 4) != 0 || memcmp(chunk + 11, "\x9d\x01\x2a", 3) != 0) return false;
    return head_size(im, hg_image_little(im, 26, 2) & 0x3fff, hg_image_little(im, 28, 2) & 0x3fff);
}

/* ---- TIFF: entries of the first directory ------------------------------------------------------
 */

static bool head_is_tiff(const hg_image *im)
{
    return head_starts(im, "II*\0", 4) || head_starts(im, "MM\0*", 4) ||
           head_starts(im, "II+\0", 4) || head_starts(im, "MM\0+", 4);
}

static uint64_t head_tiff_number(const hg_image *im, size_t at, int bytes)
{
    return im->data[0] == 'I' ? hg_image_little(im, at, bytes) : hg_image_big(im, at, bytes);
}

/* The value of an entry of type 3 (16 bits), 4 (32 bits) or 16 (64 bits), 0 for anything else. */
static uint64_t head_tiff_value(const hg_image *im, size_t entry, size_t value)
{
    switch (head_tiff_number(im, entry + 2, 2)) {
    case 3: return head_tiff_number(im, value, 2);
    case 4: return head_tiff_number(im, value, 4);
    case 16: return value - entry == 12 ? head_tiff_number(im, value, 8) : 0;
    default: return 0;
    }
}

static bool head_measure_tiff(hg_image *im)
{
    if (im->size < 16) return false;
    bool is_big = im->data[2] + im->data[3] == 43;
    uint64_t first = head_tiff_number(im, is_big ? 8 : 4, is_big ? 8 : 4), size[2] = {0, 0};
    size_t bytes = is_big ? 8 : 2, entry = is_big ? 20 : 12, value = is_big ? 12 : 8;
    if (first > im->size || !hg_image_holds(im, (size_t)first, bytes)) return false;
    uint64_t count = head_tiff_number(im, (size_t)first, (int)bytes);
    size_t at = (size_t)first + bytes;
    for (uint64_t i = 0; i < count && hg_image_holds(im, at, entry); i++, at += entry) {
        uint64_t tag = head_tiff_number(im, at, 2);
        if (tag == 256 || tag == 257) size[tag - 256] = head_tiff_value(im, at, at + value);
    }
    return head_size(im, size[0], size[1]);
}

/* ---- JPEG 2000: the codestream, in boxes or bare -----------------------------------------------
 */

static bool head_is_jp2(const hg_image *im)
{
    return head_starts(im, "\0\0\0\x0cjP  \r\n\x87\n", 12) ||
           head_starts(im, "\xff\x4f\xff\x51", 4);
}

/* Where the codestream begins; the end of the file when there is none. */
static size_t head_codestream(const hg_image *im)
{
    size_t at = 0;
    if (im->data[0] == 0xff) return 0;
    while (hg_image_holds(im, at, 16)) {
        uint64_t length = hg_image_big(im, at, 4);
        size_t head = length == 1 ? 16 : 8;
        if (length == 1) length = hg_image_big(im, at + 8, 8);
        if (memcmp(im->data + at + 4, "jp2c", 4) == 0) return at + head;
        if (length < head || length > im->size - at) break;
        at += (size_t)length;
    }
    return im->size;
}

static bool head_measure_jp2(hg_image *im)
{
    size_t at = head_codestream(im);
    if (!hg_image_holds(im, at, 42) || hg_image_big(im, at, 4) != 0xff4fff51) return false;
    uint64_t right = hg_image_big(im, at + 8, 4), below = hg_image_big(im, at + 12, 4);
    uint64_t left = hg_image_big(im, at + 16, 4), above = hg_image_big(im, at + 20, 4);
    /* Every component is a plane of its own; pictures have few, bombs thousands. */
    if (hg_image_big(im, at + 40, 2) > 8 || left >= right || above >= below) return false;
    return head_size(im, right - left, below - above);
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static const hg_image_format head_formats[] = {
    {"JPEG", "libjpeg-turbo (Debian: libjpeg-dev)", head_is_jpeg, head_measure_jpeg},
    {"PNG", "libpng (Debian: libpng-dev)", head_is_png, head_measure_png},
    {"WebP", "libwebp (Debian: libwebp-dev)", head_is_webp, head_measure_webp},
    {"TIFF", "libtiff 4.5 (Debian: libtiff-dev)", head_is_tiff, head_measure_tiff},
    {"JPEG 2000", "openjpeg 2.5 (Debian: libopenjp2-7-dev)", head_is_jp2, head_measure_jp2},
    {"BMP", NULL, hg_image_is_bmp, hg_image_measure_bmp},
    {"PNM", NULL, hg_image_is_pnm, hg_image_measure_pnm},
};

holo_status hg_image_head(const uint8_t *data, int64_t size, hg_image *im, holo_error *e)
{
    *im = (hg_image){.data = data, .size = (size_t)size};
    for (size_t i = 0; i < HG_COUNT(head_formats) && im->format == NULL; i++)
        if (head_formats[i].is(im)) im->format = &head_formats[i];
    if (im->format == NULL)
        return hg_fail(e, HOLO_E_DATA,
                       "%lld bytes that are no JPEG, PNG, WebP, TIFF, JPEG 2000, BMP or PNM",
                       (long long)size);
    if (!im->format->measure(im))
        return hg_fail(e, HOLO_E_DATA, "a %s of %lld bytes whose header is broken",
                       im->format->name, (long long)size);
    if (im->width > HG_IMAGE_MAX_PIXELS / im->height)
        return hg_fail(e, HOLO_E_LIMIT, "a %s of %lld x %lld pixels, the limit is %d",
                       im->format->name, (long long)im->width, (long long)im->height,
                       HG_IMAGE_MAX_PIXELS);
    return HOLO_OK;
}
