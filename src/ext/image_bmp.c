/* image_bmp.c - Windows and OS/2 bitmaps: 1 to 32 bits per pixel, palettes, bit masks, run lengths.
 *
 *   file header   14 bytes: "BM", size, offset of the pixels
 *   info header   12 bytes (OS/2) or 16 to 124: size, width, height, planes, bits, compression ...
 *   masks         of compression 3 and 6, in or behind a header of 40 bytes
 *   palette       blue, green, red (and a byte more behind longer headers)
 *   rows          from the bottom, or from the top when the height is negative; padded to 4 bytes
 *
 * Where compressed rows leave pixels out, colour 0 shows. */
#include "ext/image.h"

#include <string.h>

enum { BMP_PLAIN = 0, BMP_RLE8 = 1, BMP_RLE4 = 2, BMP_MASKS = 3, BMP_ALPHA_MASKS = 6 };

typedef struct bmp_info {
    uint32_t bits, compression, mask[3];
    size_t palette, pixels; /* where they begin */
    uint32_t colors, color_bytes;
    bool from_top;
} bmp_info;

bool hg_image_is_bmp(const hg_image *im)
{
    return im->size >= 2 && im->data[0] == 'B' && im->data[1] == 'M';
}

static uint32_t bmp_word(const hg_image *im, size_t at)
{
    return (uint32_t)hg_image_little(im, at, 4);
}

static bool bmp_read_small(hg_image *im, bmp_info *b)
{
    im->width = (int64_t)hg_image_little(im, 18, 2);
    im->height = (int64_t)hg_image_little(im, 20, 2);
    b->bits = (uint32_t)hg_image_little(im, 24, 2);
    b->palette = 26;
    b->color_bytes = 3;
    return im->width > 0 && im->height > 0;
}

static bool bmp_read_masks(const hg_image *im, uint32_t header, bmp_info *b)
{
    bool given = b->compression == BMP_MASKS || b->compression == BMP_ALPHA_MASKS;
    if (given && !hg_image_holds(im, 54, 12)) return false;
    for (int k = 0; k < 3; k++) {
        uint32_t standard = b->bits == 16 ? UINT32_C(0x7c00) >> 5 * k : UINT32_C(0xff0000) >> 8 * k;
        b->mask[k] = given ? bmp_word(im, 54 + 4 * (size_t)k) : standard;
    }
    if (given && header == 40) b->palette += b->compression == BMP_MASKS ? 12 : 16;
    return true;
}

static bool bmp_read_large(hg_image *im, uint32_t header, bmp_info *b)
{
    if (header < 16 || header > 1 << 16 || !hg_image_holds(im, 14, header)) return false;
    int64_t width = (int32_t)bmp_word(im, 18), height = (int32_t)bmp_word(im, 22);
    b->from_top = height < 0;
    im->width = width;
    im->height = height < 0 ? -height : height;
    b->bits = (uint32_t)hg_image_little(im, 28, 2);
    b->compression = header >= 20 ? bmp_word(im, 30) : BMP_PLAIN;
    b->colors = header >= 36 ? bmp_word(im, 46) : 0;
    b->palette = 14 + (size_t)header;
    b->color_bytes = 4;
    return width > 0 && height != 0 && bmp_read_masks(im, header, b);
}

static bool bmp_fits(const bmp_info *b)
{
    bool masks = b->bits == 16 || b->bits == 32;
    switch (b->compression) {
    case BMP_PLAIN:
        return masks || b->bits == 1 || b->bits == 2 || b->bits == 4 || b->bits == 8 ||
               b->bits == 24;
    case BMP_RLE8: return b->bits == 8;
    case BMP_RLE4: return b->bits == 4;
    case BMP_MASKS:
    case BMP_ALPHA_MASKS: return masks;
    default: return false;
    }
}

static bool bmp_read(hg_image *im, bmp_info *b)
{
    *b = (bmp_info){0};
    if (!hg_image_holds(im, 0, 26)) return false;
    uint32_t header = bmp_word(im, 14);
    b->pixels = bmp_word(im, 10);
    if (!(header == 12 ? bmp_read_small(im, b) : bmp_read_large(im, header, b))) return false;
    if (!bmp_fits(b)) return false;
    if (b->bits <= 8) {
        uint32_t most = UINT32_C(1) << b->bits;
        if (b->colors == 0 || b->colors > most) b->colors = most;
        /* A palette may be cut short by the pixels. */
        size_t end = b->pixels > b->palette && b->pixels < im->size ? b->pixels : im->size;
        size_t room = end > b->palette ? (end - b->palette) / b->color_bytes : 0;
        if (room < b->colors) b->colors = (uint32_t)room;
    }
    return b->pixels <= im->size;
}

bool hg_image_measure_bmp(hg_image *im)
{
    bmp_info b;
    return bmp_read(im, &b);
}

/* ---- colours -----------------------------------------------------------------------------------
 */

static void bmp_color(const hg_image *im, const bmp_info *b, uint32_t index, uint8_t *rgb)
{
    const uint8_t *p = im->data + b->palette + (size_t)index * b->color_bytes;
    bool known = index < b->colors;
    for (int k = 0; k < 3; k++)
        rgb[k] = known ? p[2 - k] : 0;
}

/* The bits of a mask as a byte. */
static uint8_t bmp_masked(uint32_t pixel, uint32_t mask)
{
    if (mask == 0) return 0;
    while ((mask & 1) == 0) {
        mask >>= 1;
        pixel >>= 1;
    }
    return hg_image_byte(pixel & mask, mask);
}

static void bmp_pixel(const hg_image *im, const bmp_info *b, const uint8_t *row, int64_t x,
                      uint8_t *rgb)
{
    if (b->bits <= 8) {
        uint32_t bit = (uint32_t)((uint64_t)x * b->bits % 8), shift = 8 - b->bits - bit;
        uint32_t byte = row[(uint64_t)x * b->bits / 8];
        bmp_color(im, b, byte >> shift & ((1U << b->bits) - 1), rgb);
        return;
    }
    const uint8_t *p = row + x * (b->bits / 8);
    if (b->bits == 24) {
        rgb[0] = p[2], rgb[1] = p[1], rgb[2] = p[0];
        return;
    }
    uint32_t pixel = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    if (b->bits == 32) pixel |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    for (int k = 0; k < 3; k++)
        rgb[k] = bmp_masked(pixel, b->mask[k]);
}

static bool bmp_plain(const hg_image *im, const bmp_info *b, const hg_image_sink *sink,
                      uint8_t *rgb)
{
    size_t pitch = ((size_t)im->width * b->bits + 31) / 32 * 4;
    size_t used = ((size_t)im->width * b->bits + 7) / 8;
    for (int64_t i = 0; i < im->height; i++) {
        size_t at = b->pixels + (size_t)i * pitch;
        if (!hg_image_holds(im, at, used)) return false;
        for (int64_t x = 0; x < im->width; x++)
            bmp_pixel(im, b, im->data + at, x, rgb + x * 3);
        hg_image_put(sink, b->from_top ? i : im->height - 1 - i, rgb);
    }
    return true;
}

/* ---- run lengths -------------------------------------------------------------------------------
 */

typedef struct bmp_runs {
    const hg_image *im;
    size_t at;
    int64_t x, y; /* y from the bottom */
    uint8_t *index;
} bmp_runs;

/* Runs that leave the picture are cut, as every reader does. */
static void bmp_run_put(bmp_runs *r, uint32_t color)
{
    if (r->x < r->im->width && r->y < r->im->height)
        r->index[r->y * r->im->width + r->x] = (uint8_t)color;
    r->x++;
}

/* Pixels as they stand, two or one to a byte, padded to 2 bytes. */
static bool bmp_run_literal(bmp_runs *r, uint32_t bits, uint32_t count)
{
    size_t bytes = bits == 8 ? count : (count + 1) / 2;
    if (!hg_image_holds(r->im, r->at, bytes)) return false;
    const uint8_t *p = r->im->data + r->at;
    for (uint32_t i = 0; i < count; i++)
        bmp_run_put(r, bits == 8 ? p[i] : (uint32_t)p[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15U);
    r->at += (bytes + 1) & ~(size_t)1;
    return true;
}

/* One code; *end at the end of the picture. */
static bool bmp_run(bmp_runs *r, uint32_t bits, bool *end)
{
    if (!hg_image_holds(r->im, r->at, 2)) return false;
    uint32_t count = r->im->data[r->at], value = r->im->data[r->at + 1];
    r->at += 2;
    for (uint32_t i = 0; i < count; i++)
        bmp_run_put(r, bits == 8 ? value : value >> (i % 2 == 0 ? 4 : 0) & 15U);
    if (count != 0) return true;
    if (value > 2) return bmp_run_literal(r, bits, value);
    *end = value == 1;
    if (value == 0) r->x = 0, r->y++;
    if (value != 2) return true;
    if (!hg_image_holds(r->im, r->at, 2)) return false;
    r->x += r->im->data[r->at];
    r->y += r->im->data[r->at + 1];
    r->at += 2;
    return true;
}

static bool bmp_packed(const hg_image *im, const bmp_info *b, const hg_image_sink *sink,
                       uint8_t *rgb)
{
    bmp_runs r = {.im = im, .at = b->pixels, .index = rgb + im->width * 3};
    bool end = false;
    memset(r.index, 0, (size_t)(im->width * im->height));
    while (!end && r.y < im->height)
        if (!bmp_run(&r, b->bits, &end)) return false;
    for (int64_t y = 0; y < im->height; y++) {
        for (int64_t x = 0; x < im->width; x++)
            bmp_color(im, b, r.index[y * im->width + x], rgb + x * 3);
        hg_image_put(sink, b->from_top ? y : im->height - 1 - y, rgb);
    }
    return true;
}

static bool bmp_is_packed(const bmp_info *b)
{
    return b->compression == BMP_RLE8 || b->compression == BMP_RLE4;
}

static size_t bmp_scratch(const hg_image *im)
{
    hg_image copy = *im;
    bmp_info b;
    if (!bmp_read(&copy, &b)) return 0;
    return (size_t)im->width * 3 + (bmp_is_packed(&b) ? (size_t)(im->width * im->height) : 0);
}

static bool bmp_decode(const hg_image *im, const hg_image_sink *sink, void *scratch)
{
    hg_image copy = *im;
    bmp_info b;
    if (!bmp_read(&copy, &b)) return false;
    return bmp_is_packed(&b) ? bmp_packed(im, &b, sink, scratch) : bmp_plain(im, &b, sink, scratch);
}

const hg_image_codec hg_image_bmp = {"BMP", bmp_scratch, bmp_decode};
