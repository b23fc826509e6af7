/* image_webp.c - WebP by libwebp; of an animation, the first picture. The library has no hook for
 * its memory. */
#include "ext/image.h"

#include <string.h>

#include <webp/decode.h>

/* A bitstream and its place in the picture. */
typedef struct webp_frame {
    const uint8_t *data;
    size_t size;
    int64_t x, y, width, height;
} webp_frame;

/* A chunk at `at`: four letters, length, payload padded to 2 bytes. */
static bool webp_chunk(const hg_image *im, size_t at, size_t end, size_t *length)
{
    if (at > end || end - at < 8) return false;
    *length = (size_t)hg_image_little(im, at + 4, 4);
    return *length <= end - at - 8;
}

/* The bitstream among the chunks of a frame, without its alpha. */
static bool webp_stream(const hg_image *im, size_t at, size_t end, webp_frame *f)
{
    size_t length;
    for (; webp_chunk(im, at, end, &length); at += 8 + length + length % 2) {
        if (memcmp(im->data + at, "VP8 ", 4) != 0 && memcmp(im->data + at, "VP8L", 4) != 0)
            continue;
        f->data = im->data + at + 8;
        f->size = length;
        return true;
    }
    return false;
}

/* The first frame of an animation. */
static bool webp_animated(const hg_image *im, webp_frame *f)
{
    size_t at = 12, length;
    for (; webp_chunk(im, at, im->size, &length); at += 8 + length + length % 2) {
        if (memcmp(im->data + at, "ANMF", 4) != 0) continue;
        if (length < 16) return false;
        f->x = (int64_t)hg_image_little(im, at + 8, 3) * 2;
        f->y = (int64_t)hg_image_little(im, at + 11, 3) * 2;
        f->width = (int64_t)hg_image_little(im, at + 14, 3) + 1;
        f->height = (int64_t)hg_image_little(im, at + 17, 3) + 1;
        return webp_stream(im, at + 24, at + 8 + length, f);
    }
    return false;
}

static bool webp_is_animated(const hg_image *im)
{
    return memcmp(im->data + 12, "VP8X", 4) == 0 && (im->data[20] & 2) != 0;
}

static size_t webp_scratch(const hg_image *im)
{
    return (size_t)im->width * (size_t)im->height * 3;
}

static bool webp_decode(const hg_image *im, const hg_image_sink *sink, void *scratch)
{
    webp_frame f = {im->data, im->size, 0, 0, im->width, im->height};
    uint8_t *rgb = scratch;
    const size_t pitch = (size_t)im->width * 3;
    int width, height;
    if (webp_is_animated(im)) {
        if (!webp_animated(im, &f)) return false;
        memset(rgb, 0, pitch * (size_t)im->height);
    }
    if (!WebPGetInfo(f.data, f.size, &width, &height) || width != f.width || height != f.height)
        return false;
    if (f.width > im->width - f.x || f.height > im->height - f.y) return false;
    size_t at = (size_t)f.y * pitch + (size_t)f.x * 3;
    if (WebPDecodeRGBInto(f.data, f.size, rgb + at, pitch * (size_t)im->height - at, (int)pitch) ==
        NULL)
        return false;
    for (int64_t y = 0; y < im->height; y++)
        hg_image_put(sink, y, rgb + (size_t)y * pitch);
    return true;
}

const hg_image_codec hg_image_webp = {"WebP", webp_scratch, webp_decode};
