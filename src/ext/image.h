/* image.h - pictures in file formats: what a file says about itself, and where decoded rows go.
 *
 * A format is recognised and measured by code of ours (image_head.c), so that sizes are known and
 * held against the limit before any library sees the file. Its codec, which decodes, is one file
 * per library, image_<stem>.c; a build without the library lacks the codec and says so. */
#ifndef HG_EXT_IMAGE_H
#define HG_EXT_IMAGE_H

#include "base/base.h"

/* Pixels of one picture; a few thousand bytes of a file can stand for any number. */
enum { HG_IMAGE_MAX_PIXELS = 1 << 28 };

typedef enum hg_pixels { HG_PIXELS_RGB = 0, HG_PIXELS_BGR = 1, HG_PIXELS_GRAY = 2 } hg_pixels;

typedef struct hg_image_format hg_image_format;

typedef struct hg_image {
    const uint8_t *data; /* the file */
    size_t size;
    const hg_image_format *format; /* NULL: none that is known */
    int64_t width, height;         /* above 0, at most HG_IMAGE_MAX_PIXELS together */
} hg_image;

struct hg_image_format {
    const char *name;    /* "JPEG" */
    const char *library; /* that has the codec, and how to get it; NULL: ours */
    bool (*is)(const hg_image *im);
    /* Fills in width and height; false when the header is broken. */
    bool (*measure)(hg_image *im);
};

/* Recognises and measures a picture. */
HG_MUST_CHECK holo_status hg_image_head(const uint8_t *data, int64_t size, hg_image *im,
                                        holo_error *e);

/* Where rows go. */
typedef struct hg_image_sink {
    uint8_t *data; /* height rows of width pixels, 3 bytes each or, for gray, 1 */
    int64_t width, height;
    hg_pixels pixels;
} hg_image_sink;

/* Row `y` from red, green, blue bytes. Gray is 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601),
 * rounded. */
void hg_image_put(const hg_image_sink *sink, int64_t y, const uint8_t *rgb);

typedef struct hg_image_codec {
    const char *name; /* of the format */
    /* Bytes of scratch that decode needs. */
    size_t (*scratch)(const hg_image *im);
    /* Gives every row to the sink; false when the file is broken. */
    bool (*decode)(const hg_image *im, const hg_image_sink *sink, void *scratch);
} hg_image_codec;

/* Formats that need no library: their own files read the header too. */
bool hg_image_is_bmp(const hg_image *im);
bool hg_image_measure_bmp(hg_image *im);
bool hg_image_is_pnm(const hg_image *im);
bool hg_image_measure_pnm(hg_image *im);

/* ---- small things that readers share -----------------------------------------------------------
 */

/* A number of `bytes` bytes at `at`, which lie in the file: see hg_image_holds. */
static inline uint64_t hg_image_little(const hg_image *im, size_t at, int bytes)
{
    uint64_t n = 0;
    for (int i = bytes - 1; i >= 0; i--)
        n = n << 8 | im->data[at + (size_t)i];
    return n;
}

static inline uint64_t hg_image_big(const hg_image *im, size_t at, int bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | im->data[at + (size_t)i];
    return n;
}

/* `bytes` bytes from `at` on lie in the file. */
static inline bool hg_image_holds(const hg_image *im, size_t at, size_t bytes)
{
    return at <= im->size && bytes <= im->size - at;
}

/* A sample of which `most` (1 to 2^32 - 1) is the largest, as a byte; rounded to the nearest. */
static inline uint8_t hg_image_byte(uint64_t sample, uint64_t most)
{
    return (uint8_t)(sample >= most ? 255 : (sample * 255 + most / 2) / most);
}

/* Four inks as red, green, blue. */
static inline void hg_image_inks(const uint8_t *cmyk, uint8_t *rgb)
{
    for (int k = 0; k < 3; k++)
        rgb[k] = hg_image_byte((uint64_t)(255 - cmyk[k]) * (uint64_t)(255 - cmyk[3]), 255 * 255);
}

#endif
